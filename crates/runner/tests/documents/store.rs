//! The job store, alone and shared.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use hdrhistogram::Histogram;
use triphammer_core::event::{Note, Phase};
use triphammer_core::recorder::{Arrived, RecordedInterval, histogram};
use triphammer_document::JobId;
use triphammer_document::parts::Status;
use triphammer_document::result::RunResult;
use triphammer_document::second::Second;
use triphammer_settings::command::JobKind;
use triphammer_store::{
    CheckRow, HistogramRow, JobFilter, JobStatus, ReadAt, Scope, Store, StoreError, TimesKind,
    VERSION,
};

use crate::sample;

/// Variable with the path of the store, for child processes.
const STORE: &str = "TRIPHAMMER_TEST_STORE";

fn fresh() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data/triphammer/jobs.sqlite");
    (folder, path)
}

fn statuses(store: &Store) -> Vec<JobStatus> {
    store.jobs(&JobFilter::default()).unwrap().iter().map(|job| job.status).collect()
}

#[test]
fn a_run_comes_back_as_it_went_in() {
    let (_folder, path) = fresh();
    let store = Store::open(&path).unwrap();
    let job = store.begin(&sample::header()).unwrap();
    let start = [("work_mem".to_owned(), "4MB".to_owned())];
    store.settings(job, ReadAt::Start, &start).unwrap();
    for second in 0..12 {
        store.second(job, &sample::second(second)).unwrap();
    }
    store
        .note(job, &Note::new("live", None, "told at once, and replaced by the result's"))
        .unwrap();
    let running = store.load(job).unwrap();
    assert_eq!((running.row.status, running.notes.len()), (JobStatus::Running, 1));
    assert!(running.result().unwrap().is_none());
    assert!(running.row.ending.is_none());

    let (facts, end) = sample::troubled();
    let result = sample::troubled_result();
    store.finish(job, &result, &sample::facts(), &end).unwrap();
    assert!(result.requirements.iter().any(|judged| !judged.passed));
    let stored = Store::open(&path).unwrap().load(job).unwrap();
    assert_eq!(stored.result().unwrap().unwrap(), result);
    let listed = stored.row.ending.as_ref().unwrap();
    assert_eq!((listed.good, listed.flaw), (false, result.ending.flaw));
    assert_eq!(stored.spec.unwrap(), sample::facts().spec);
    assert_eq!((stored.facts, stored.host), (facts.workload.facts, result.host.clone()));
    assert_eq!((stored.transactions.len(), stored.notes), (5, result.notes.clone()));
    assert_eq!(stored.row.status, JobStatus::Aborted);
    assert_eq!(stored.row.primary_metric_value, Some(result.primary_metric.value));
    assert!(stored.row.ended_at.unwrap() >= stored.row.started_at);
    assert_eq!(store.stored_settings(job, ReadAt::Start).unwrap(), start);
    assert_eq!(store.stored_settings(job, ReadAt::End).unwrap(), []);
    assert!(matches!(store.second(job, &sample::second(12)), Err(StoreError::NotHeld { .. })));
}

#[test]
fn the_series_is_what_the_intervals_were() {
    let (_folder, path) = fresh();
    let store = Store::open(&path).unwrap();
    let job = store.begin(&sample::header()).unwrap();
    let intervals: Vec<RecordedInterval> = (0..7).map(sample::interval).collect();
    for second in 0..7 {
        store.second(job, &sample::second(second)).unwrap();
    }
    assert_eq!(store.seconds(job).unwrap().len(), 5, "written in batches");
    store.flush(job).unwrap();
    let seconds = store.seconds(job).unwrap();
    assert_eq!((seconds.len(), seconds[6].first, seconds[6].values.count("connected")), (7, 6, 16));
    let first = &seconds[0].values;
    assert!((first.get("client_busiest").unwrap() - 0.25).abs() < 1e-9);
    assert_eq!((first.get("lag_p99_us"), first.get("round_trip_us")), (Some(200.0), None));
    assert_eq!(first.get("host_cpu"), Some(0.15));
    assert_eq!((seconds[0].phase, first.get("tpm_server")), (Some(Phase::RampUp), None));
    assert_eq!(seconds[1].values.count("server_count"), 470);
    assert!(first.get("all.p50_us") > Some(1000.0));
    assert!(first.get("all.p50_us") <= first.get("all.max_us"));
    assert_eq!((first.count("cpu_ns"), first.count("wall_ns")), (350_000_000, 2_000_000_000));
    let series = store.series(job).unwrap();
    assert_eq!(series.len(), 7 * 5);
    for row in series {
        let counts = &intervals[usize::try_from(row.first).unwrap()].types[row.transaction].counts;
        let [committed, rolled_back, response_ns, service_ns, p50_us, p99_us, max_us] =
            ["committed", "rolled_back", "response_ns", "service_ns", "p50_us", "p99_us", "max_us"]
                .map(|name| row.values.count(name));
        assert_eq!((committed, rolled_back), (counts.committed, counts.rolled_back));
        assert_eq!((response_ns, service_ns), (counts.response_ns, counts.service_ns));
        assert!(p50_us > 0 && p50_us < p99_us && p99_us <= max_us);
    }
}

#[test]
fn the_seconds_of_a_load_that_waits_are_kept() {
    let (_folder, path) = fresh();
    let store = Store::open(&path).unwrap();
    let job = store.begin(&sample::header()).unwrap();
    let mut waits = sample::interval(1);
    waits.arrived = Some(Arrived { due: 9, started: 4, skipped: 3, given_up: 2 });
    waits.backlog = Some(17);
    waits.pool_wait = waits.types[0].response.clone();
    store.second(job, &sample::second(0)).unwrap();
    store.second(job, &Second::new(waits, Phase::Window, None)).unwrap();
    store.flush(job).unwrap();
    let [closed, open] = store.seconds(job).unwrap().try_into().unwrap();
    let counts = ["arrivals", "skipped", "given_up", "backlog"];
    assert_eq!(counts.map(|name| closed.values.get(name)), [None; 4]);
    assert_eq!(counts.map(|name| open.values.count(name)), [9, 3, 2, 17]);
    let waits = ["p50", "p99", "max"].map(|at| format!("pool_wait_{at}_us"));
    let [p50, p99, max] = waits.map(|name| open.values.count(&name));
    assert!(p50 > 0 && p50 < p99 && p99 <= max);
}

#[test]
fn histograms_come_back_exactly() {
    let (_folder, path) = fresh();
    let store = Store::open(&path).unwrap();
    let job = store.begin(&sample::header()).unwrap();
    let mut odd = sample::interval(1);
    let mut extreme = histogram();
    for us in [1, 999, 1_000_000, 3_600_000_000] {
        extreme.record_n(us, 40_000_000_000).unwrap();
    }
    odd.types[2].failed = Some(extreme.clone());
    odd.types[2].service = odd.types[2].response.clone();
    store.second(job, &sample::second(0)).unwrap();
    store.second(job, &Second::new(odd.clone(), Phase::Window, None)).unwrap();
    store.flush(job).unwrap();
    let rows = store.histograms(job, 1..2).unwrap();
    let find = |transaction, times| {
        rows.iter().find(|row| (row.transaction, row.times) == (transaction, times)).unwrap()
    };
    assert!(find(2, TimesKind::Failed).counts.histogram() == extreme);
    let expected = odd.types[2].response.as_ref().unwrap();
    assert!(find(2, TimesKind::Service).counts.histogram() == *expected);
    let expected = odd.types[1].rolled_back.as_ref().unwrap();
    assert!(find(1, TimesKind::RolledBack).counts.histogram() == *expected);
    assert_eq!(store.histograms(job, 0..9).unwrap().len(), 5 + 2 + rows.len());

    let (facts, end) = (sample::facts(), sample::calm());
    store.finish(job, &RunResult::new(&facts, &end), &facts, &end).unwrap();
    for (scope, types) in [(Scope::Run, &end.run), (Scope::Window, &end.timed)] {
        let totals = store.totals(job, scope).unwrap();
        assert_eq!(totals.len(), 6, "five of committed and one of rolled back");
        for row in totals {
            let seen = &types[row.transaction];
            let expected =
                if row.times == TimesKind::Response { &seen.response } else { &seen.rolled_back };
            assert!(row.histogram == *expected.as_ref().unwrap());
        }
    }
}

#[test]
fn after_the_first_hour_ten_seconds_share_a_histogram() {
    let (_folder, path) = fresh();
    let store = Store::open(&path).unwrap();
    let job = store.begin(&sample::header()).unwrap();
    let mut all: Histogram<u64> = histogram();
    for second in 3598..3624 {
        let interval = sample::interval(second);
        all.add(interval.types[0].response.as_ref().unwrap()).unwrap();
        store.second(job, &sample::second(second)).unwrap();
    }
    let end = sample::calm();
    store.finish(job, &RunResult::new(&sample::facts(), &end), &sample::facts(), &end).unwrap();
    let rows: Vec<HistogramRow> = store
        .histograms(job, 0..u64::MAX)
        .unwrap()
        .into_iter()
        .filter(|row| (row.transaction, row.times) == (0, TimesKind::Response))
        .collect();
    let stretches: Vec<_> = rows.iter().map(|row| (row.first, row.last)).collect();
    let expected = [(3598, 3598), (3599, 3599), (3600, 3609), (3610, 3619), (3620, 3623)];
    assert_eq!(stretches, expected);
    let mut sum: Histogram<u64> = histogram();
    for row in rows {
        row.counts.add_to(&mut sum);
    }
    assert!(sum == all);
    assert_eq!(store.seconds(job).unwrap().len(), 26, "scalars stay by the second");
}

#[test]
fn a_check_keeps_its_rows_and_its_document() {
    let (_folder, path) = fresh();
    let store = Store::open(&path).unwrap();
    let header = triphammer_store::JobHeader {
        kind: JobKind::Check,
        label: Some("nightly".into()),
        spec: None,
        users: None,
        ..sample::header()
    };
    let job = store.begin(&header).unwrap();
    let checks = [
        CheckRow {
            id: "3.3.2.1".into(),
            title: "w_ytd = Σ d_ytd".into(),
            ok: true,
            violations: 0,
            first_key: None,
        },
        CheckRow {
            id: "13".into(),
            title: "x".into(),
            ok: false,
            violations: 7,
            first_key: Some("w 3".into()),
        },
    ];
    store.checks(job, &checks).unwrap();
    let document = serde_json::json!({"holds": false});
    store.finish_with(job, Status::Failed, None, &document).unwrap();
    let stored = store.load(job).unwrap();
    assert_eq!(store.stored_checks(job).unwrap(), checks);
    assert!(stored.result().unwrap().is_none(), "a check has no result of a run");
    assert_eq!((stored.row.status, stored.document), (JobStatus::Failed, Some(document)));
}

#[test]
fn jobs_are_listed_newest_first_and_by_filter() {
    let (_folder, path) = fresh();
    let store = Store::open(&path).unwrap();
    for label in ["a", "b", "a"] {
        let header = triphammer_store::JobHeader { label: Some(label.into()), ..sample::header() };
        let job = store.begin(&header).unwrap();
        store.finish_with(job, Status::Complete, None, &serde_json::Value::Null).unwrap();
    }
    let ids = |filter: JobFilter| -> Vec<i64> {
        store.jobs(&filter).unwrap().iter().map(|job| job.id.0).collect()
    };
    assert_eq!(ids(JobFilter::default()), [3, 2, 1]);
    assert_eq!(ids(JobFilter { limit: Some(2), ..JobFilter::default() }), [3, 2]);
    assert_eq!(ids(JobFilter { label: Some("a".into()), ..JobFilter::default() }), [3, 1]);
    assert_eq!(ids(JobFilter { kind: Some(JobKind::Build), ..JobFilter::default() }), [0; 0]);
    assert_eq!(
        ids(JobFilter { workload: Some("tproc-c".into()), ..JobFilter::default() }).len(),
        3
    );
    let error = store.load(JobId(99)).unwrap_err();
    assert_eq!(error.to_string(), "there is no job 99; `triphammer jobs` lists the jobs");
}

#[test]
fn secrets_do_not_reach_the_file() {
    let (folder, path) = fresh();
    let store = Store::open(&path).unwrap();
    let header = triphammer_store::JobHeader {
        target: triphammer_document::redacted::Redacted::new("mysql://u:hunter2@h/d"),
        ..sample::header()
    };
    let job = store.begin(&header).unwrap();
    let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let settings = [
        setting("primary_conninfo", "host=a password='hunter2' user=b"),
        setting("ssl_passphrase_command", "echo hunter2"),
        setting("password_encryption", "scram-sha-256"),
    ];
    store.settings(job, ReadAt::Start, &settings).unwrap();
    let kept = store.stored_settings(job, ReadAt::Start).unwrap();
    assert!(kept.contains(&setting("password_encryption", "scram-sha-256")), "{kept:?}");
    drop(store);
    for file in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(7).any(|window| window == b"hunter2"));
    }
    drop(folder);
}

#[test]
fn a_new_store_has_todays_tables_and_is_private() {
    let (_folder, path) = fresh();
    drop(Store::open(&path).unwrap());
    let raw = rusqlite::Connection::open(&path).unwrap();
    let number = |sql: &str| raw.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(number("PRAGMA user_version"), i64::from(VERSION));
    assert_eq!(number("SELECT count(*) FROM jobs"), 0);
    let mode: String = raw.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    drop(Store::open(&path).unwrap());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
}

#[test]
fn a_newer_store_is_refused_and_left_alone() {
    let (_folder, path) = fresh();
    drop(Store::open(&path).unwrap());
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.pragma_update(None, "user_version", VERSION + 3).unwrap();
    raw.execute("UPDATE meta SET value = '9.9.0' WHERE key = 'tool_version'", []).unwrap();
    let error = Store::open(&path).unwrap_err().to_string();
    let found = format!("has version {}, written by triphammer 9.9.0", VERSION + 3);
    assert!(error.contains(&found), "{error}");
    assert!(error.contains("use a newer triphammer, or another file"), "{error}");
    let version: u32 = raw.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, VERSION + 3);
}

#[test]
fn a_store_of_before_the_first_release_is_refused_and_left_alone() {
    let (_folder, path) = fresh();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch(
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, workload_version INTEGER, server_product TEXT);
         PRAGMA user_version = 1",
    )
    .unwrap();
    drop(raw);
    let before = std::fs::read(&path).unwrap();
    for opened in [Store::open(&path), Store::open_to_read(&path)] {
        let error = opened.unwrap_err().to_string();
        assert!(error.contains("before its first release"), "{error}");
        assert!(error.contains("move it away, or use another file with --store"), "{error}");
    }
    assert!(std::fs::read(&path).unwrap() == before);
}

#[test]
fn what_is_no_store_is_refused() {
    let (_folder, path) = fresh();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "not a database, but long enough to be read as one".repeat(100)).unwrap();
    assert!(matches!(Store::open(&path).unwrap_err(), StoreError::Damaged { .. }));
    let folder = path.parent().unwrap();
    assert!(matches!(Store::open(folder).unwrap_err(), StoreError::Irregular { .. }));
    let folder_is_file = path.join("below/jobs.sqlite");
    assert!(matches!(Store::open(&folder_is_file).unwrap_err(), StoreError::Create { .. }));
}

/// A whole run, as a program that shares the store with others does it.
fn whole_run(path: &Path) -> JobId {
    let store = Store::open(path).unwrap();
    let job = store.begin(&sample::header()).unwrap();
    for second in 0..23 {
        store.second(job, &sample::second(second)).unwrap();
    }
    let end = sample::calm();
    store.finish(job, &RunResult::new(&sample::facts(), &end), &sample::facts(), &end).unwrap();
    job
}

fn assert_whole_runs(path: &Path, runs: usize) {
    let store = Store::open(path).unwrap();
    assert_eq!(statuses(&store), vec![JobStatus::Complete; runs]);
    for job in store.jobs(&JobFilter::default()).unwrap() {
        assert_eq!(store.seconds(job.id).unwrap().len(), 23);
        assert_eq!(store.series(job.id).unwrap().len(), 23 * 5);
    }
}

#[test]
fn threads_that_make_the_store_at_once_all_write_their_runs() {
    let (_folder, path) = fresh();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| whole_run(&path));
        }
    });
    assert_whole_runs(&path, 6);
}

/// This test program again, doing one of the ignored tests below.
fn child(test: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"])
        .env(STORE, path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn path_from_parent() -> PathBuf {
    std::env::var_os(STORE).expect("only for the tests that start it").into()
}

#[test]
fn processes_that_make_the_store_at_once_all_write_their_runs() {
    let (_folder, path) = fresh();
    let children: Vec<Child> =
        (0..3).map(|_| child("store::child_does_a_whole_run", &path)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_whole_runs(&path, 3);
}

#[test]
#[ignore = "a child process of the test above"]
fn child_does_a_whole_run() {
    whole_run(&path_from_parent());
}

#[test]
fn a_job_whose_process_died_is_lost() {
    let (_folder, path) = fresh();
    let mut child = child("store::child_begins_and_waits", &path);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("has begun")));
    let store = Store::open(&path).unwrap();
    assert_eq!(statuses(&store), [JobStatus::Running]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(statuses(&store), [JobStatus::Lost]);
    assert_eq!(store.load(JobId(1)).unwrap().row.status, JobStatus::Lost);
    assert_eq!(store.seconds(JobId(1)).unwrap().len(), 5, "what was written stays");

    let job = store.begin(&sample::header()).unwrap();
    assert_eq!(statuses(&store), [JobStatus::Running, JobStatus::Lost]);
    let locks = || {
        let files = std::fs::read_dir(path.parent().unwrap()).unwrap();
        files
            .filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|e| e == "lock"))
            .count()
    };
    assert_eq!(locks(), 1, "the lost job's is gone");
    store.finish_with(job, Status::Complete, None, &serde_json::Value::Null).unwrap();
    assert_eq!((locks(), statuses(&store)[0]), (0, JobStatus::Complete));
}

#[test]
#[ignore = "a child process of the test above"]
fn child_begins_and_waits() {
    let store = Store::open(&path_from_parent()).unwrap();
    let job = store.begin(&sample::header()).unwrap();
    for second in 0..5 {
        store.second(job, &sample::second(second)).unwrap();
    }
    println!("job {job} has begun");
    std::io::stdout().flush().unwrap();
    let _ = std::io::stdin().read(&mut [0]);
}

#[test]
fn a_job_that_was_dropped_is_lost() {
    let (_folder, path) = fresh();
    let store = Store::open(&path).unwrap();
    store.begin(&sample::header()).unwrap();
    let other = Store::open(&path).unwrap();
    assert_eq!(statuses(&other), [JobStatus::Running]);
    drop(store);
    assert_eq!(statuses(&other), [JobStatus::Lost]);
}

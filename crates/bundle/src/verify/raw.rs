//! Whether the raw parts of a job agree with each other: what is stored twice must be equal, and
//! what is stored as a sum must be the sum of its parts.
//!
//! ```text
//! ended.json (totals of the engine) = Σ series.csv = Σ histograms.csv = totals.csv
//! facts.json (slices of the window) = Σ series.csv of each slice;  Σ slices = totals of the window
//! seconds.csv, series.csv (percentiles) = those of histograms.csv
//! job.json = document.json;  errors.csv, notes.csv, settings.csv = the lists in the document
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Value, json};
use triphammer_core::event::Phase;
use triphammer_core::histogram::{self, TimeCounts};
use triphammer_core::outcome::Counts;
use triphammer_core::pace::Load;
use triphammer_core::recorder::{self, TypeInterval};
use triphammer_document::doctor::Group;
use triphammer_document::evidence::Evidence;
use triphammer_document::metrics::{OF_TYPE, Values, place_of};
use triphammer_document::parts::SettingChange;
use triphammer_document::result::{ErrorFigure, MeasuredWorkload, RunResult, Slicer};
use triphammer_document::series::{SecondRow, SeriesRow};
use triphammer_document::{Document, JobId};
use triphammer_engine::Offered;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_store::{
    FULL_SECONDS, HistogramRow, JobStatus, MERGED_SECONDS, ReadAt, Scope, Store, StoredJob,
    TimesKind, TotalRow,
};

use super::Findings;
use super::compare::ROUNDING;
use crate::parts::{EVIDENCE, JOB, of_job, table_of};

/// What secrets are replaced by.
const MASK: &str = "***";
/// What agrees where percentiles of seconds are those of their histograms.
const PERCENTILES: &str = "percentiles of seconds";
/// Metrics of a type and second that its times give, and those of all types, with their quantile.
const OF_TIMES: [(&str, &str, f64); 4] = [
    ("p50_us", "all.p50_us", 0.5),
    ("p95_us", "all.p95_us", 0.95),
    ("p99_us", "all.p99_us", 0.99),
    ("max_us", "all.max_us", 1.0),
];

/// The stored seconds of a run.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub seconds: &'a [SecondRow],
    pub series: &'a [SeriesRow],
}

/// Whether the row of a job says what its document says. Returns the document, if it can be read.
pub(super) fn job(stored: &StoredJob, document: &str, findings: &mut Findings) -> Option<Document> {
    let row = &stored.row;
    let part = of_job(row.id, JOB);
    let mut whole = |written: &str, found: &str| {
        findings.differs(document, "the whole part", written, found);
    };
    let read = match stored.read_document() {
        Ok(Some(read)) => read,
        Ok(None) => {
            match &stored.document {
                Some(Value::Object(_)) => {
                    whole("unreadable", &format!("a document of a {}", row.kind.noun()));
                }
                None if row.status == JobStatus::Complete => whole("nothing", "the job's document"),
                _ => {}
            }
            return None;
        }
        Err(error) => {
            whole("unreadable", &error.to_string());
            return None;
        }
    };
    let head = read.head();
    let mut written = json!({
        "kind": row.kind, "status": row.status, "good": row.ending.as_ref().map(|of| of.good),
        "flaw": row.ending.as_ref().and_then(|of| of.flaw),
    });
    let ending = read.ending();
    let mut found = json!({
        "kind": head.kind, "status": head.status, "good": ending.good, "flaw": ending.flaw,
    });
    let mut both = |name: &str, of_row: Value, of_document: Option<Value>| {
        if let Some(value) = of_document {
            written[name] = of_row;
            found[name] = value;
        }
    };
    both("id", json!(row.id.0), head.job.map(Value::from));
    // That of a matrix is its first target, and that of its document the one of its first run.
    if row.kind != JobKind::Matrix {
        both("target", json!(row.target), head.target.map(|target| json!(target)));
    }
    both("label", json!(row.label), head.tool.map(|_| json!(head.label)));
    both("tool_version", json!(row.tool_version), head.tool.map(|tool| json!(tool.version)));
    if let Some(workload) = head.workload {
        both("workload", json!(row.workload), Some(json!(workload.name)));
        both("workload_version", json!(row.workload_version), Some(json!(workload.version)));
        if row.kind.drives() {
            both("scale", json!(row.scale), Some(json!(workload.scale)));
            both("scale_unit", json!(row.scale_unit), Some(json!(workload.scale_unit)));
        }
    }
    both("host", json!(stored.host), head.host.map(|host| json!(host)));
    let metric = read.primary_metric();
    if row.kind.drives() {
        let (name, value) = metric.unzip();
        if let Some(name) = name {
            both("primary_metric_name", json!(row.primary_metric_name), Some(json!(name)));
        }
        both("primary_metric_value", json!(row.primary_metric_value), Some(json!(value)));
    }
    findings.documents("values of the job's row", &part, &written, &found);
    if row.kind == JobKind::Matrix {
        findings.not_recomputed("job.json: the target of a matrix, which may have several");
    }
    findings
        .not_recomputed("job.json: process ID, the times of day of start and end, given settings");
    Some(read)
}

/// Whether the raw parts of a run agree with each other.
pub(super) fn run(
    store: &Store,
    stored: &StoredJob,
    evidence: &Evidence,
    result: &RunResult,
    rows: Rows<'_>,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let job = stored.row.id;
    lists(store, stored, result, findings)?;
    findings.not_recomputed("settings.csv: settings of the server that did not change");
    workload(job, evidence, result, findings);
    durability(store, job, evidence, findings)?;
    if result.queries.is_none() {
        timed_window(job, evidence, rows, findings);
        sums(job, stored, evidence, rows, findings);
        arrivals(job, evidence, rows, findings);
        slices(job, stored, evidence, rows, findings);
        histograms(store, stored, evidence, rows, findings)?;
        seconds(job, evidence, rows, findings);
        observed(store, job, evidence, findings)?;
    }
    findings.not_recomputed(
        "facts.json, ended.json: what was read of hosts, servers and clocks, what `doctor` found, the price \
         list, the server's own count of transactions, and the texts of queries: the document has them as they \
         are",
    );
    findings.not_recomputed(
        "seconds.csv: event-loop lag, round trips, sessions, the CPU of the client and of the host in a second, \
         the server's own count, and of an open load its backlog and its waits for a session",
    );
    findings.not_recomputed("sample_series.csv, sample_chunk.csv: observed values of a second");
    Ok(())
}

/// Whether the counters of the server and the figures of hosts are those of their sampled values, which
/// are stored in steps of their unit.
fn observed(
    store: &Store,
    job: JobId,
    evidence: &Evidence,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let Some(observed) = &evidence.facts.observed else { return Ok(()) };
    if observed.cost.values_lost > 0 {
        findings.not_recomputed("facts.json: observed figures, of which values were lost");
        return Ok(());
    }
    let part = of_job(job, EVIDENCE[0]);
    let window = evidence.end.window.start.second()..evidence.end.window.end.second();
    let lists = [("profile", &observed.profile), ("hosts", &observed.hosts)];
    let figures = lists.into_iter().flat_map(|(list, all)| {
        all.iter().enumerate().map(move |(place, figure)| (format!("{list}[{place}]"), figure))
    });
    for (place, figure) in figures {
        let labels = figure.labels.iter().map(|(name, value)| (&**name, &**value));
        let labels: Vec<(&str, &str)> = labels.collect();
        let series = store.find_series(job, Some(&figure.metric), &labels)?;
        let series = series.iter().find(|of| of.series.labels == figure.labels);
        let [sampled, _] = match series {
            Some(series) => store.means(series, &window, &window)?,
            None => [None; 2],
        };
        let step = 1.0 / f64::from(figure.unit.scale());
        let values =
            sampled.map(|of| [("mean", figure.mean, of.mean), ("max", figure.max, of.max)]);
        let Some(values) = values else {
            let place = format!("observed.{place}");
            findings.differs(&part, &place, &figure.title, "no sampled values in the window");
            continue;
        };
        for (name, written, found) in values {
            match (written - found).abs() <= step + ROUNDING * written.abs() {
                true => findings.agrees("observed figures", 1),
                false => {
                    let place = format!("observed.{place}.{name}");
                    findings.differs(&part, &place, &written.to_string(), &found.to_string());
                }
            }
        }
    }
    Ok(())
}

/// Lists that the store has in tables, and the document, too.
fn lists(
    store: &Store,
    stored: &StoredJob,
    result: &RunResult,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let job = stored.row.id;
    let mut same = |part: String, written: Value, found: Value| {
        findings.documents("values in lists", &part, &written, &found);
    };
    same(table_of(job, "notes"), json!(stored.notes), json!(result.notes));
    let errors = store.export(job, "errors")?.unwrap_or_default();
    same(table_of(job, "errors"), json!(rows_of(&errors)), json!(error_rows(result)));
    let row = of_job(job, JOB);
    // As it is written, not as it is read: a member that is missing may have a default.
    let written = store.export_job(job)?.unwrap_or_default();
    for (name, found) in [
        ("spec", json!(result.spec)),
        ("facts", json!(result.workload.facts)),
        ("host", json!(result.host)),
    ] {
        same(row.clone(), json!({ name: written[name] }), json!({ name: found }));
    }
    let server = json!({ "server_product": stored.row.server_product,
        "server_version": stored.row.server_version, "users": stored.row.users });
    let found = json!({ "server_product": result.server.product,
        "server_version": result.server.version, "users": result.spec.users });
    same(row.clone(), server, found);
    let types: Vec<&str> = result.window.types.iter().map(|of| of.name.as_str()).collect();
    same(row, json!({ "transactions": stored.transactions }), json!({ "transactions": types }));
    let [start, end] = [ReadAt::Start, ReadAt::End].map(|at| store.stored_settings(job, at));
    let (start, end) = (start?, end?);
    if !start.is_empty() && !end.is_empty() {
        let is_shown = |change: &&SettingChange| {
            [&change.start, &change.end].into_iter().flatten().all(|value| !value.contains(MASK))
        };
        let changed = SettingChange::between(&start, &end);
        let written: Vec<_> = changed.iter().filter(is_shown).collect();
        let found: Vec<_> = result.settings_changed.iter().filter(is_shown).collect();
        same(table_of(job, "settings"), json!(written), json!(found));
    }
    Ok(())
}

/// The rows of a table without its header.
fn rows_of(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.records().filter_map(Result::ok);
    rows.map(|row| row.iter().map(str::to_owned).collect()).collect()
}

/// The rows that the errors of a result have in their table.
fn error_rows(result: &RunResult) -> Vec<Vec<String>> {
    let row = |(place, error): (usize, &ErrorFigure)| {
        let (kind, class) = (error.transaction.clone(), error.class.label().to_owned());
        vec![place.to_string(), kind, class, error.message.clone(), error.count.to_string()]
    };
    result.errors.iter().enumerate().map(row).collect()
}

/// Whether the workload is the one that this program has by that name: what its primary metric counts,
/// and in which unit.
fn workload(job: JobId, evidence: &Evidence, result: &RunResult, findings: &mut Findings) {
    let Ok(declared) = triphammer_runner::describe(&result.workload.name) else { return };
    if findings.of_other_version || declared.version != result.workload.version {
        return;
    }
    let described = &evidence.facts.description;
    let again = MeasuredWorkload::of(&declared, &result.spec.load);
    let measured = |of: &MeasuredWorkload| {
        let names = of.transactions.iter().map(|of| json!([of.name, of.title]));
        match declared.is_of_user() {
            // Its types are those of the user's files, which may be elsewhere.
            true => json!({ "primary_metric": { "measure": of.primary_metric.measure } }),
            false => json!({
                "primary_metric": of.primary_metric,
                "transactions": names.collect::<Vec<_>>(),
                "metric_max_per_terminal": of.metric_max_per_terminal,
            }),
        }
    };
    let [written, found] = [described, &again].map(measured);
    let part = of_job(job, EVIDENCE[0]);
    let [written, found] = [written, found].map(|of| json!({ "description": of }));
    findings.documents("values of the workload", &part, &written, &found);
}

/// Whether the examination before the run has the settings of durability as the server had them.
fn durability(
    store: &Store,
    job: JobId,
    evidence: &Evidence,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let setup = &evidence.facts.setup;
    if setup.is_empty() || findings.of_other_version {
        return Ok(());
    }
    let part = of_job(job, EVIDENCE[0]);
    let settings = store.stored_settings(job, ReadAt::Start)?;
    for (check, name) in triphammer_dialects::doctor::of_durability() {
        let Some((_, value)) = settings.iter().find(|(of, _)| of == name) else { continue };
        let place = format!("setup: {check}");
        match setup.iter().find(|line| line.group == Group::Database && line.name == *check) {
            None => findings.differs(&part, &place, "nothing", value),
            Some(line) if switch(&line.value) == switch(value) => {
                findings.agrees("settings of durability", 1);
            }
            Some(line) => findings.differs(&part, &place, &line.value, value),
        }
    }
    Ok(())
}

/// The value of a switch, which servers write in several ways.
fn switch(value: &str) -> String {
    match value.to_ascii_lowercase().as_str() {
        "1" => "on".to_owned(),
        "0" => "off".to_owned(),
        other => other.to_owned(),
    }
}

/// Whether the timed window is where the seconds have it. It may end within a second.
fn timed_window(job: JobId, evidence: &Evidence, rows: Rows<'_>, findings: &mut Findings) {
    let window = evidence.end.window;
    let timed = || rows.seconds.iter().filter(|row| row.phase == Some(Phase::Window));
    let first = timed().next().map_or(window.start.second(), |row| row.first);
    let last = timed().next_back().map_or(window.start.second(), |row| row.last + 1);
    // Hours later, seconds are stored together.
    let longest = rows.seconds.iter().map(|row| row.last - row.first + 1).max().unwrap_or(1);
    let part = of_job(job, EVIDENCE[1]);
    let longest = Duration::from_secs(longest);
    for (place, written, found) in
        [("window.start", window.start, first), ("window.end", window.end, last)]
    {
        let (written, found) = (written.duration(), Duration::from_secs(found));
        match written.abs_diff(found) < longest {
            true => findings.agrees("edges of the window", 1),
            false => findings.differs(&part, place, &shown(written), &shown(found)),
        }
    }
}

/// A time on the run's clock.
fn shown(at: Duration) -> String {
    format!("{} s", at.as_secs_f64())
}

/// Metrics of a second that only an open load has, and the total of each; `None` where it has none.
type ArrivalTotal = (&'static str, fn(&Offered) -> Option<u64>);
const OF_ARRIVALS: [ArrivalTotal; 7] = [
    ("arrivals", |of| Some(of.offered)),
    ("skipped", |of| Some(of.skipped)),
    ("given_up", |_| None),
    ("backlog", |_| None),
    ("pool_wait_p50_us", |_| None),
    ("pool_wait_p99_us", |_| None),
    ("pool_wait_max_us", |_| None),
];

/// Whether the arrivals of the seconds add up to those of the run, and a closed load has none.
fn arrivals(job: JobId, evidence: &Evidence, rows: Rows<'_>, findings: &mut Findings) {
    let part = table_of(job, "seconds");
    let offered = evidence.end.offered.as_ref();
    for (name, total) in OF_ARRIVALS {
        let written = || rows.seconds.iter().filter_map(|row| row.values.get(name));
        match offered.map(total) {
            None if written().next().is_none() => {}
            // Terminals wait for sessions, too.
            None if evidence.facts.spec.load == Load::Keyed => {}
            None => findings.differs(&part, name, "values", "none: the load is closed"),
            Some(None) => {}
            Some(Some(found)) => {
                let written = rows.seconds.iter().map(|row| row.values.count(name)).sum::<u64>();
                let place = format!("sum of {name}");
                let pair = [&*written.to_string(), &found.to_string()];
                findings.equal("sums of seconds", &part, &place, pair);
            }
        }
    }
}

/// Counters that the rows of seconds have, with their names there.
fn counters(counts: &Counts) -> [(&'static str, i128); 8] {
    [
        ("committed", counts.committed.into()),
        ("rolled_back", counts.rolled_back.into()),
        ("failed", counts.failures().into()),
        ("indeterminate", counts.indeterminate.into()),
        ("retries", counts.retries.iter().map(|count| i128::from(*count)).sum()),
        ("counter", counts.counter.into()),
        ("response_ns", counts.response_ns.into()),
        ("service_ns", counts.service_ns.into()),
    ]
}

/// Sums of rows by type, in the order of [`counters`].
type Sums = BTreeMap<usize, [i128; 8]>;

fn sum<'a>(rows: impl Iterator<Item = &'a SeriesRow>) -> Sums {
    let places = counters(&Counts::default()).map(|(name, _)| place_of(OF_TYPE, name));
    let mut sums = Sums::new();
    for row in rows {
        let sums = sums.entry(row.transaction).or_default();
        for (sum, place) in sums.iter_mut().zip(places) {
            #[expect(clippy::cast_possible_truncation, reason = "counts are whole numbers")]
            let value = row.values.at(place).unwrap_or_default() as i128;
            *sum += value;
        }
    }
    sums
}

/// Compares sums of rows with counters.
fn compare_sums(
    (job, types): (JobId, &[String]),
    what: &str,
    sums: &Sums,
    counts: &[&Counts],
    findings: &mut Findings,
) {
    for (place, counts) in counts.iter().enumerate() {
        let sums = sums.get(&place).copied().unwrap_or_default();
        for ((name, found), written) in counters(counts).into_iter().zip(sums) {
            let key = types.get(place).map_or("?", String::as_str);
            findings.equal(
                "sums of seconds",
                &table_of(job, "series"),
                &format!("sum of {name} of {key} {what}"),
                [&written.to_string(), &found.to_string()],
            );
        }
    }
}

/// Whether the seconds add up to the totals, of the run and of its window.
fn sums(
    job: JobId,
    stored: &StoredJob,
    evidence: &Evidence,
    rows: Rows<'_>,
    findings: &mut Findings,
) {
    let end = &evidence.end;
    let counts = |types: &[TypeInterval]| types.iter().map(|of| of.counts.clone()).collect();
    let of_run: Vec<Counts> = counts(&end.run);
    let of_window: Vec<Counts> = counts(&end.timed);
    let types = (job, stored.transactions.as_slice());
    let all = sum(rows.series.iter());
    compare_sums(types, "in the run", &all, &of_run.iter().collect::<Vec<_>>(), findings);
    let (start, stop) = (end.window.start.second(), end.window.end.second());
    let crosses =
        |row: &&SecondRow| [start, stop].iter().any(|edge| row.first < *edge && *edge <= row.last);
    if rows.seconds.iter().any(|row| crosses(&row)) {
        return findings.not_recomputed("sums of a window in whose edge seconds were merged");
    }
    let in_window = window(rows.seconds);
    let timed = rows.series.iter().filter(|row| in_window.contains(&row.first));
    let of_window: Vec<&Counts> = of_window.iter().collect();
    compare_sums(types, "in the window", &sum(timed), &of_window, findings);
}

/// The seconds of the timed window, by their first.
fn window(seconds: &[SecondRow]) -> std::collections::BTreeSet<u64> {
    let timed = seconds.iter().filter(|row| row.phase == Some(Phase::Window));
    timed.map(|row| row.first).collect()
}

/// Whether the slices are what their seconds are, and add up to the window.
fn slices(
    job: JobId,
    stored: &StoredJob,
    evidence: &Evidence,
    rows: Rows<'_>,
    findings: &mut Findings,
) {
    let shape = |of: &Slicer| {
        let slices = of.totals().map(|slice| json!([slice.first, slice.last, slice.arrived]));
        json!({ "slicer": { "width": of.width(), "slices": slices.collect::<Vec<_>>() } })
    };
    let [written, found] = [&evidence.facts.slicer, &evidence.slicer_of(rows.seconds)].map(shape);
    let part = of_job(job, EVIDENCE[0]);
    // A half of a pair is sliced by a length that it does not state.
    if evidence.facts.spec.pacing.half.is_none() {
        findings.documents("values of the slices", &part, &written, &found);
    }
    let types = (job, stored.transactions.as_slice());
    let in_window = window(rows.seconds);
    let mut times: Vec<Option<TimeCounts>> = vec![None; stored.transactions.len()];
    for slice in evidence.facts.slicer.totals() {
        let of_slice = |row: &&SeriesRow| {
            (slice.first..=slice.last).contains(&row.first) && in_window.contains(&row.first)
        };
        let counts: Vec<&Counts> = slice.types.iter().map(|of| &of.counts).collect();
        let what = format!("in the slice of seconds {} to {}", slice.first, slice.last);
        let sums = sum(rows.series.iter().filter(of_slice));
        compare_sums(types, &what, &sums, &counts, findings);
        for (sum, of_type) in times.iter_mut().zip(&slice.types) {
            histogram::merge(sum, of_type.times.as_ref());
        }
    }
    let timed = evidence.end.timed.iter().map(|of| of.response.as_ref().map(TimeCounts::of));
    for ((name, slices), timed) in stored.transactions.iter().zip(times).zip(timed) {
        let place = format!("slicer.slices: times of {name}");
        same_times("sums of slices", &part, &place, [slices, timed], findings);
    }
}

/// Compares the counts of two histograms; one that counts nothing is as good as none.
fn same_times(
    what: &str,
    part: &str,
    place: &str,
    pair: [Option<TimeCounts>; 2],
    findings: &mut Findings,
) {
    let [written, found] = pair.map(Option::unwrap_or_default);
    if written == found {
        return findings.agrees(what, 1);
    }
    let mut texts = [&written, &found].map(|of| format!("{} times", of.total()));
    let mut pairs = written.pairs().iter().zip(found.pairs());
    // A time that only one of them has differs in the time itself.
    if let Some((a, b)) = pairs.find(|(a, b)| a != b) {
        texts = [a, b].map(|(us, count)| format!("{count} times of {us} µs"));
    }
    findings.differs(part, place, &texts[0], &texts[1]);
}

/// Whether the stored histograms are those of the totals and of the seconds.
fn histograms(
    store: &Store,
    stored: &StoredJob,
    evidence: &Evidence,
    rows: Rows<'_>,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let job = stored.row.id;
    let end = &evidence.end;
    for (scope, types) in [(Scope::Run, &end.run), (Scope::Window, &end.timed)] {
        let totals = match store.totals(job, scope) {
            Ok(totals) => totals,
            Err(error) => {
                let (part, reason) = (table_of(job, "totals"), error.to_string());
                findings.differs(&part, "the rows", "unreadable", &reason);
                continue;
            }
        };
        for (place, name) in stored.transactions.iter().enumerate() {
            for times in TimesKind::ALL {
                let of = |row: &&TotalRow| row.transaction == place && row.times == times;
                let written = totals.iter().find(of).map(|row| TimeCounts::of(&row.histogram));
                let found = times.of(&types[place]).map(TimeCounts::of);
                let place = format!("{} times of {name}", times.name());
                let part = table_of(job, "totals");
                same_times("totals of times", &part, &place, [written, found], findings);
            }
        }
        let places = totals.iter().all(|row| row.transaction < stored.transactions.len());
        if !places {
            findings.differs(&table_of(job, "totals"), "type", "another", "one of the job's types");
        }
    }
    of_seconds(store, stored, evidence, rows, findings)
}

/// Reads the histograms of the seconds, some minutes at a time, and compares their sums with the
/// totals and their percentiles with those of the seconds.
fn of_seconds(
    store: &Store,
    stored: &StoredJob,
    evidence: &Evidence,
    rows: Rows<'_>,
    findings: &mut Findings,
) -> Result<(), Failure> {
    /// Seconds whose times are in memory at once.
    const AT_A_TIME: u64 = 300;
    let job = stored.row.id;
    let part = table_of(job, "histograms");
    let mut sums: BTreeMap<(usize, &str), Option<Histogram<u64>>> = BTreeMap::new();
    let last = rows.seconds.last().map_or(0, |row| row.last);
    let mut series = rows.series;
    let mut seconds = rows.seconds;
    for first in (0..=last).step_by(usize::try_from(AT_A_TIME).unwrap_or(1)) {
        let read = match store.histograms(job, first..first + AT_A_TIME) {
            Ok(read) => read,
            Err(error) => {
                findings.differs(&part, "the rows", "unreadable", &error.to_string());
                return Ok(());
            }
        };
        for row in &read {
            of_its_seconds(job, row, rows, findings);
            let sum = sums.entry((row.transaction, row.times.name())).or_default();
            row.counts.add_to(sum.get_or_insert_with(recorder::histogram));
        }
        let of_chunk = series.partition_point(|row| row.first < first + AT_A_TIME);
        let seconds_of = seconds.partition_point(|row| row.first < first + AT_A_TIME);
        let rows = Rows { seconds: &seconds[..seconds_of], series: &series[..of_chunk] };
        percentiles(job, &read, rows, findings);
        (series, seconds) = (&series[of_chunk..], &seconds[seconds_of..]);
    }
    for (place, name) in stored.transactions.iter().enumerate() {
        for times in TimesKind::ALL {
            let written = sums.remove(&(place, times.name())).flatten();
            let written = written.as_ref().map(TimeCounts::of);
            let found = times.of(&evidence.end.run[place]).map(TimeCounts::of);
            let place = format!("sum of {} times of {name}", times.name());
            same_times("sums of histograms", &part, &place, [written, found], findings);
        }
    }
    if let Some(((place, _), _)) = sums.first_key_value() {
        findings.differs(&part, "type", &place.to_string(), "one of the job's types");
    }
    Ok(())
}

/// The seconds, first and last, of which the store has one histogram that begins with this one: a row of
/// seconds, or after the first hour all rows of ten seconds.
fn stored_together(seconds: &[SecondRow], first: u64) -> Option<[u64; 2]> {
    let group = |row: &SecondRow| (row.first >= FULL_SECONDS).then_some(row.last / MERGED_SECONDS);
    let place = seconds.binary_search_by_key(&first, |row| row.first).ok()?;
    let Some(of) = group(&seconds[place]) else { return Some([first, seconds[place].last]) };
    let is_first = place.checked_sub(1).is_none_or(|before| group(&seconds[before]) != Some(of));
    let together = seconds[place..].iter().take_while(|row| group(row) == Some(of));
    together.last().filter(|_| is_first).map(|row| [first, row.last])
}

/// Whether a histogram counts what the seconds that it is of count.
fn of_its_seconds(job: JobId, row: &HistogramRow, rows: Rows<'_>, findings: &mut Findings) {
    let Rows { seconds, series } = rows;
    let names: &[&str] = match row.times {
        TimesKind::Response | TimesKind::Service => &["committed"],
        TimesKind::RolledBack => &["rolled_back"],
        TimesKind::Failed => &["failed", "indeterminate"],
    };
    let from = series.partition_point(|of| of.first < row.first);
    let to = series.partition_point(|of| of.first <= row.last);
    let of_type = series[from..to.max(from)].iter().filter(|of| of.transaction == row.transaction);
    let found: u64 =
        of_type.map(|of| names.iter().map(|name| of.values.count(name)).sum::<u64>()).sum();
    let is_stored = Some([row.first, row.last]) == stored_together(seconds, row.first);
    if is_stored && row.counts.total() == found {
        return findings.agrees("counts of histograms", 1);
    }
    let (kind, HistogramRow { first, last, transaction, .. }) = (row.times.name(), row);
    let place = format!("number of {kind} times of type {transaction}, seconds {first} to {last}");
    let found = match is_stored {
        true => found.to_string(),
        false => "no such seconds".to_owned(),
    };
    let written = row.counts.total().to_string();
    findings.differs(&table_of(job, "histograms"), &place, &written, &found);
}

/// Compares the percentiles of seconds with those of their histograms.
fn percentiles(job: JobId, histograms: &[HistogramRow], rows: Rows<'_>, findings: &mut Findings) {
    // The histograms of several seconds, after the first hour, are those of no row.
    let mut of_seconds: BTreeMap<[u64; 2], Vec<&HistogramRow>> = BTreeMap::new();
    for row in histograms.iter().filter(|row| row.times == TimesKind::Response) {
        let place = rows.seconds.binary_search_by_key(&row.first, |of| of.first);
        if place.is_ok_and(|place| rows.seconds[place].last == row.last) {
            of_seconds.entry([row.first, row.last]).or_default().push(row);
        }
    }
    for row in rows.series {
        let of_second = of_seconds.get(&[row.first, row.last]);
        let mut types = of_second.into_iter().flatten();
        let Some(of) = types.find(|of| of.transaction == row.transaction) else {
            if ended(&row.values) == 0 {
                without_times(job, "series", row.first, &row.values, findings);
            }
            continue;
        };
        for ((name, _, _), found) in OF_TIMES.iter().zip(times_of(&of.counts)) {
            let place = || format!("{name} of type {} in second {}", row.transaction, row.first);
            let pair = [row.values.get(name), Some(found)];
            same_time(job, "series", place, pair, findings);
        }
    }
    for row in rows.seconds {
        let Some(types) = of_seconds.get(&[row.first, row.last]) else {
            let from = rows.series.partition_point(|of| of.first < row.first);
            let types = rows.series[from..].iter().take_while(|of| of.first == row.first);
            if types.map(|of| ended(&of.values)).sum::<u64>() == 0 {
                without_times(job, "seconds", row.first, &row.values, findings);
            }
            continue;
        };
        let all = TimeCounts::merged(types.iter().map(|of| &of.counts));
        for ((_, name, _), found) in OF_TIMES.iter().zip(times_of(&all)) {
            let place = || format!("{name} in second {}", row.first);
            let pair = [row.values.get(name), Some(found)];
            same_time(job, "seconds", place, pair, findings);
        }
    }
}

/// Transactions of a type that ended as they should, in a second.
fn ended(of_type: &Values) -> u64 {
    of_type.count("committed") + of_type.count("rolled_back")
}

/// A second in which nothing was committed has no times.
fn without_times(job: JobId, table: &str, second: u64, values: &Values, findings: &mut Findings) {
    for (of_type, of_second, _) in OF_TIMES {
        let name = if table == "series" { of_type } else { of_second };
        if let Some(written) = values.get(name).filter(|of| *of != 0.0) {
            let place = format!("{name} in second {second}");
            let part = table_of(job, table);
            findings.differs(&part, &place, &written.to_string(), "nothing was committed");
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of a run")]
fn times_of(counts: &TimeCounts) -> [f64; 4] {
    counts.at_quantiles(OF_TIMES.map(|(_, _, quantile)| quantile)).map(|us| us as f64)
}

/// Compares a time of a second with that of its histogram.
fn same_time(
    job: JobId,
    table: &str,
    place: impl Fn() -> String,
    [written, found]: [Option<f64>; 2],
    findings: &mut Findings,
) {
    if written == found {
        return findings.agrees(PERCENTILES, 1);
    }
    let [written, found] = [written, found].map(|value| format!("{value:?}"));
    findings.differs(&table_of(job, table), &place(), &written, &found);
}

/// Whether every second follows the one before it and has each type once, and whether sums over all
/// threads are those of the engine at the end.
fn seconds(job: JobId, evidence: &Evidence, rows: Rows<'_>, findings: &mut Findings) {
    let part = table_of(job, "seconds");
    let mut next = 0;
    let mut types = rows.series;
    for row in rows.seconds {
        if row.first != next || row.last < row.first {
            let written = format!("{} to {}", row.first, row.last);
            findings.differs(&part, "first_second", &written, &format!("from {next} on"));
        }
        next = row.last + 1;
        let (of_second, rest) = types.split_at(types.partition_point(|of| of.first <= row.first));
        types = rest;
        let is_whole = of_second
            .iter()
            .enumerate()
            .all(|(place, of)| (of.first, of.last, of.transaction) == (row.first, row.last, place));
        if is_whole && of_second.len() == evidence.end.run.len() {
            findings.agrees("rows of seconds", 1);
            continue;
        }
        let place = format!("the rows of seconds {} to {}", row.first, row.last);
        let (written, found) = (of_second.len(), evidence.end.run.len());
        let [written, found] = [written, found].map(|count| format!("{count} rows"));
        let found = format!("{found}, one of each type, of these seconds");
        findings.differs(&table_of(job, "series"), &place, &written, &found);
    }
    if let Some(of) = types.first() {
        let written = format!("second {}", of.first);
        findings.differs(&table_of(job, "series"), "last_second", &written, "no such second");
    }
    let sum = |name: &str| rows.seconds.iter().map(|row| row.values.count(name)).sum::<u64>();
    let (lost, reconnected) = evidence.end.sessions;
    for (name, found) in [("sessions_lost", lost), ("sessions_reconnected", reconnected)] {
        let written = sum(name).to_string();
        let place = format!("sum of {name}");
        findings.equal("sums of seconds", &part, &place, [&written, &found.to_string()]);
    }
}

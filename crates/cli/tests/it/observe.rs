//! Observing a database beside a run, on real servers: what sessions wait for and who blocks them,
//! what is hidden, and a monitor whose session is lost.

use std::net::TcpListener;

use serde_json::Value;
use triphammer_testbed::{MariadbOptions, MariadbServer, PostgresOptions, PostgresServer};

use crate::holder::Holder;
use crate::program::{Done, Messages, Program, finish, wait_until};
use crate::servers::{Mariadb, Postgres, Site, name_of};

/// The observed part of a run that succeeded.
pub fn observed(program: &Program, target: &str, more: &[&str]) -> Value {
    let mut args = vec!["run", target];
    args.extend(more);
    let mut document = program.json(&args);
    let seen = document["observed"].take();
    assert!(seen["sessions"].is_object(), "{seen:#}");
    assert_eq!(unread(&seen), Vec::<&str>::new(), "each query suits this server: {seen:#}");
    seen
}

/// Queries of observers that failed.
pub fn unread(seen: &Value) -> Vec<&str> {
    let gaps = seen["gaps"].as_array().unwrap();
    let hides = gaps.iter().map(|gap| gap["hides"].as_str().unwrap());
    hides.filter(|text| text.starts_with("not read")).collect()
}

/// Names of the gaps and how to close them.
pub fn gaps(seen: &Value) -> Vec<(&str, &str)> {
    let gaps = seen["gaps"].as_array().unwrap();
    gaps.iter()
        .map(|gap| (gap["name"].as_str().unwrap(), gap["change"].as_str().unwrap()))
        .collect()
}

/// Share of a class of wait.
fn share(seen: &Value, class: &str) -> f64 {
    let classes = seen["sessions"]["classes"].as_array().unwrap();
    let of = classes.iter().find(|of| of["class"] == class);
    of.map_or(0.0, |of| of["share"].as_f64().unwrap())
}

/// Mean of a metric in the window.
fn mean(seen: &Value, metric: &str) -> Option<f64> {
    let profile = seen["profile"].as_array().unwrap();
    profile.iter().find(|of| of["metric"] == metric)?["mean"].as_f64()
}

/// The same target for another user with the password `r`.
pub fn as_user(target: &str, user: &str) -> String {
    let (scheme, rest) = target.split_once("://").unwrap();
    format!("{scheme}://{user}:r@{}", rest.split_once('@').unwrap().1)
}

/// Six sessions that queue for one row, sleep 0.3 s while they hold it, and then `rest`. At any time
/// one sleeps with the row, and the others wait for it or do the rest: the truth is `waiting` of 6.
fn assert_mix(program: &Program, target: &str, sleep: &str, rest: &str, waiting: f64) {
    let script = format!(
        "BEGIN;\nSELECT id FROM queue WHERE id = 1 FOR UPDATE;\nSELECT {sleep}(0.3);\nCOMMIT;\n{rest}"
    );
    std::fs::write(program.path("queue.sql"), script).unwrap();
    let run = ["-w", "script", "--script", "queue.sql", "--vus", "6"];
    let long = ["--rampup", "1s", "--duration", "6s", "--observe-interval", "20ms"];
    let seen = observed(program, target, &[&run[..], &long[..]].concat());
    let samples = seen["sessions"]["samples"].as_u64().unwrap();
    assert!(samples > 15, "{seen:#}");
    let shares = [share(&seen, "row_lock"), share(&seen, "sleep")];
    assert!((shares[0] - waiting / 6.0).abs() < 0.03, "locks {shares:?}: {seen:#}");
    assert!((shares[1] - (1.0 - waiting / 6.0)).abs() < 0.03, "sleeps {shares:?}: {seen:#}");
    eprintln!("{samples} samples: {shares:?}");
}

#[test]
fn the_shares_of_a_known_mix_of_sleeps_and_locks_are_true_on_postgres() {
    let program = Program::new();
    let server = PostgresServer::shared();
    let target = server.fresh_database("mix").unwrap();
    let table = "CREATE TABLE queue (id int PRIMARY KEY); INSERT INTO queue VALUES (1)";
    server.run(name_of(&target), table).unwrap();
    assert_mix(&program, &target, "pg_sleep", "", 5.0);
    assert_mix(&program, &target, "pg_sleep", "SELECT pg_sleep(0.3);\n", 4.0);
}

#[test]
fn the_shares_of_a_known_mix_of_sleeps_and_locks_are_true_on_mariadb() {
    let program = Program::new();
    let server = MariadbServer::shared();
    let target = server.fresh_database("mix").unwrap();
    for sql in ["CREATE TABLE queue (id int PRIMARY KEY)", "INSERT INTO queue VALUES (1)"] {
        server.run(name_of(&target), sql).unwrap();
    }
    assert_mix(&program, &target, "sleep", "", 5.0);
}

/// A run of ten seconds that the lock of another session stops for half of them.
fn with_lock(program: &Program, site: &'static Site, args: &[&str], lock: &str) -> Done {
    let length = ["--duration", "10s", "--progress", "1s", "--json"];
    let mut run = program.start(&[args, &length].concat());
    let mut told = Messages::by(&mut run);
    told.wait_for("timed");
    let mut holder = Holder::of(site, args[1], lock);
    holder.hold_for(&mut told, 5);
    holder.release();
    finish(run)
}

#[test]
fn row_locks_and_a_foreign_session_that_holds_them_are_named_on_mariadb() {
    let program = Program::new();
    let site = Site::shared(Mariadb);
    let target = Site::built(Mariadb);
    let args = ["run", &target, "--vus", "8", "--mix", "0,100,0,0,0", "--rampup", "0s"];
    let lock = "SELECT w_id FROM warehouse FOR UPDATE";
    let done = with_lock(&program, site, &args, lock);
    assert_eq!(done.code, 0, "{}", done.out);
    let document: Value = serde_json::from_str(&done.out).unwrap();
    let seen = &document["observed"];
    assert_eq!(unread(seen), Vec::<&str>::new(), "{seen:#}");
    assert_eq!(seen["sessions"]["classes"][0]["class"], "row_lock", "{seen:#}");
    let blockers = seen["blockers"].as_array().unwrap();
    let foreign = blockers.iter().find(|of| of["statement"] == "SELECT sleep(600)");
    let foreign = foreign.unwrap_or_else(|| panic!("{blockers:#?}"));
    assert!(foreign["object"].as_str().unwrap().starts_with("warehouse PRIMARY"), "{foreign:#}");
    for metric in ["mysql.commands", "mysql.handlers", "mysql.row_locks", "mysql.log.written"] {
        assert!(mean(seen, metric).is_some(), "{metric}: {seen:#}");
    }
    // MySQL has performance_schema on by default, but not its waits; MariaDB has it off.
    let hidden: &[&str] = match MariadbServer::shared().is_mariadb() {
        true => &["performance_schema", "stages_of_parsing", "stages_of_planning"],
        false => &["events_waits_current", "stages_of_parsing", "stages_of_planning"],
    };
    assert_eq!(gaps(seen).iter().map(|of| of.0).collect::<Vec<_>>(), hidden);
}

/// Makes each Payment hold its warehouse's row for 5 ms, so that the others wait for it on any host.
const HOLDS_WAREHOUSE: &str = "
    CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_sleep(0.005); RETURN NULL; END';
    CREATE TRIGGER hold AFTER UPDATE ON warehouse FOR EACH ROW EXECUTE FUNCTION hold()";

#[test]
fn row_locks_of_one_warehouse_are_named_first_and_the_profile_is_the_servers_on_postgres() {
    let program = Program::new();
    let site = Site::shared(Postgres);
    let target = Site::built(Postgres);
    site.run(name_of(&target), HOLDS_WAREHOUSE);
    let run = ["--vus", "16", "--mix", "0,100,0,0,0", "--rampup", "1s", "--duration", "4s"];
    let seen = observed(&program, &target, &run);
    let first = &seen["sessions"]["classes"][0];
    assert_eq!(first["class"], "row_lock", "{seen:#}");
    assert!(first["share"].as_f64().unwrap() > 0.25, "{seen:#}");
    let average = seen["sessions"]["average"].as_f64().unwrap();
    assert!(average > 1.0 && average <= 16.0, "{average}");
    let statement = &seen["sessions"]["statements"][0];
    assert_eq!(
        (statement["statement"].as_str(), statement["transaction"].as_str()),
        (Some("payment.call"), Some("payment"))
    );
    let blockers = seen["blockers"].as_array().unwrap();
    let own = blockers.iter().find(|of| of["object"] == "warehouse");
    let own = own.unwrap_or_else(|| panic!("{blockers:#?}"));
    assert!(own["session"].is_null(), "{own:#}");
    assert_eq!(own["description"], "sessions of this run");

    for metric in ["postgresql.commits", "postgresql.tup_updated", "postgresql.wal.generated"] {
        assert!(mean(&seen, metric).is_some_and(|mean| mean > 0.0), "{metric}: {seen:#}");
    }
    let profile = seen["profile"].as_array().unwrap();
    let updated = profile.iter().find(|of| of["metric"] == "postgresql.tup_updated").unwrap();
    let per_transaction = updated["per_transaction"].as_f64().unwrap();
    assert!((2.0..4.5).contains(&per_transaction), "a Payment updates three rows: {updated:#}");
    let hosts = seen["hosts"].as_array().unwrap();
    for program in ["postgres", "triphammer"] {
        let used = hosts.iter().find(|of| {
            of["metric"] == "process.cpu.utilization"
                && of["labels"]["process.executable.name"] == program
        });
        let used = used.unwrap_or_else(|| panic!("{program}: {hosts:#?}"));
        assert!(used["mean"].as_f64().unwrap() > 0.0, "{used:#}");
    }
    assert_eq!(mean(&seen, "postgresql.deadlocks"), Some(0.0));
    let names: Vec<&str> = gaps(&seen).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "parsing",
            "pg_stat_statements",
            "track_io_timing",
            "track_planning",
            "track_wal_io_timing"
        ],
        "a superuser"
    );

    // Every second is in the store, with its labels.
    let count = "SELECT count(*) FROM sample_series WHERE metric = 'db.sessions.active'
        AND labels LIKE '%row_lock%'";
    assert!(program.number("jobs.sqlite", count) > 0);
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("row locks") && report.contains("Load profile"), "{report}");
    assert!(report.lines().all(|line| line.chars().count() <= 80), "{report}");
    assert!(program.ok(&["report", "last", "--format", "markdown"]).contains("row locks"));
}

#[test]
fn users_who_wait_for_the_one_writer_are_seen_on_sqlite() {
    let program = Program::new();
    program.ok(&["build", "sqlite:db"]);
    let run = ["run", "sqlite:db", "--vus", "4", "--rampup", "1s", "--duration", "4s"];
    let document = program.json(&run);
    let seen = document["observed"].clone();
    assert!(share(&seen, "lock") > 0.3, "four writers of one file: {:#}", seen["sessions"]);
    let statements = seen["sessions"]["statements"].as_array().unwrap();
    let names: Vec<_> = statements.iter().map(|of| of["statement"].as_str().unwrap()).collect();
    assert!(names.contains(&"begin immediate"), "{names:?}");
    assert!(names.iter().all(|name| !name.contains("triphammer")), "its own session: {names:?}");
    let commits = mean(&seen, "sqlite.commits").unwrap();
    let committed = document["window"]["total"]["committed"].as_f64().unwrap() / 4.0;
    // Seconds of the window that are not whole are not observed.
    assert!((0.5..2.0).contains(&(commits / committed)), "{commits} and {committed} per second");
    assert!(mean(&seen, "sqlite.busy.waits").unwrap() > 0.0);
    assert!(mean(&seen, "sqlite.wal.pages").unwrap() > 0.0);
    let pages = "SELECT CAST(value AS INTEGER) FROM settings
        WHERE name = 'wal_autocheckpoint' AND moment = 'start'";
    assert_eq!(program.number("jobs.sqlite", pages), 1000, "SQLite's default is kept");
}

#[test]
fn the_counters_of_the_server_are_without_the_observers_own_queries_on_postgres() {
    let program = Program::new();
    // The counter is that of the whole server: those of other tests would be in it.
    let server = PostgresServer::start(PostgresOptions::default()).unwrap();
    let target = server.fresh_database("own").unwrap();
    program.ok(&["build", &target]);
    let quiet = ["run", &target, "--vus", "1", "--load", "rate:5/s", "--rampup", "0s"];
    let often = ["--duration", "12s", "--observe-interval", "10ms"];
    let document = program.json(&[&quiet[..], &often[..]].concat());
    let queries = document["observed"]["cost"]["queries"].as_f64().unwrap();
    assert!(queries > 100.0, "{document:#}");
    let [server, client] =
        ["tpm_server", "tpm_client"].map(|name| document[name].as_f64().unwrap());
    // Per minute: a session reports up to a second late at either end of the 12 seconds, and the
    // counter is read once per second.
    let late = queries / 12.0 * 60.0 / 12.0 + 120.0;
    assert!((server - client).abs() < late, "{server} and {client} with {queries} queries");
}

#[test]
fn a_foreign_session_that_holds_a_lock_is_named_on_postgres() {
    let program = Program::new();
    let site = Site::shared(Postgres);
    let target = Site::built(Postgres);
    let args = ["run", &target, "--vus", "4", "--rampup", "0s"];
    let done = with_lock(&program, site, &args, "LOCK TABLE warehouse");
    assert_eq!(done.code, 0, "{}", done.out);
    let document: Value = serde_json::from_str(&done.out).unwrap();
    let blockers = document["observed"]["blockers"].as_array().unwrap();
    let foreign = blockers.iter().find(|of| of["session"].is_string());
    let foreign = foreign.unwrap_or_else(|| panic!("{blockers:#?}"));
    assert!(foreign["statement"].as_str().unwrap().contains("pg_sleep(600)"), "{foreign:#}");
    assert_eq!(foreign["object"], "warehouse");
    assert!(foreign["blocked_max"].as_u64().unwrap() >= 3, "{foreign:#}");
    assert_eq!(document["observed"]["sessions"]["classes"][0]["class"], "lock", "{blockers:#?}");
}

/// A run during which `kill` ends the observer's session, and returns whether it did: the run goes
/// on, and the observer connects again.
fn assert_unharmed(program: &Program, target: &str, kill: impl Fn() -> bool) {
    program.ok(&["build", target, "-w", "tpc-b"]);
    let args = ["run", target, "--vus", "2", "--rampup", "0s", "--duration", "6s", "--json"];
    let mut run = program.start(&args);
    wait_until(&mut run, "the observers' session", kill);
    let done = finish(run);
    assert_eq!(done.code, 0, "{}", done.out);
    let document: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(document["sessions"]["lost"], 0);
    let seen = &document["observed"];
    assert!(seen["cost"]["lost"].as_u64().unwrap() >= 1, "{seen:#}");
    assert!(seen["sessions"]["samples"].as_u64().unwrap() > 10, "it reconnected: {seen:#}");
}

#[test]
fn a_run_is_unharmed_when_its_observers_session_is_killed_on_postgres() {
    let server = PostgresServer::start(PostgresOptions::default()).unwrap();
    let target = server.fresh_database("killed").unwrap();
    // The server shows the first 1,024 bytes of a query, which do not contain its FROM.
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE query LIKE '%backend_type NOT IN%' AND application_name = 'triphammer'";
    assert_unharmed(&Program::new(), &target, || !server.run("postgres", kill).unwrap().is_empty());
}

#[test]
fn a_run_is_unharmed_when_its_observers_session_is_killed_on_mariadb() {
    let server = MariadbServer::start(MariadbOptions::default()).unwrap();
    let target = server.fresh_database("killed").unwrap();
    let name = name_of(&target).to_owned();
    server.run(&name, KILL_OBSERVER).unwrap();
    assert_unharmed(&Program::new(), &target, || {
        let found = server.run(&name, "CALL kill_observer()").unwrap();
        found[0][0].is_some()
    });
}

/// Looks for the observer until it is in the middle of a query: between two of them the server does
/// not show what a session is. Only the observer reads this view.
const KILL_OBSERVER: &str = "DELIMITER |
    CREATE PROCEDURE kill_observer() BEGIN
        DECLARE tries INT DEFAULT 0;
        DECLARE found BIGINT;
        WHILE found IS NULL AND tries < 10000 DO
            SET found = (SELECT MIN(ID) FROM information_schema.PROCESSLIST
                WHERE INFO LIKE '%trx_mysql_thread_id%' AND ID <> CONNECTION_ID());
            SET tries = tries + 1;
        END WHILE;
        IF found IS NOT NULL THEN KILL found; END IF;
        SELECT found;
    END|
DELIMITER ;";

#[test]
fn what_a_missing_privilege_hides_is_reported_with_the_grant_that_shows_it_on_postgres() {
    let program = Program::new();
    let server = PostgresServer::start(PostgresOptions::default()).unwrap();
    let target = server.fresh_database("hidden").unwrap();
    let database = name_of(&target);
    let role = format!(
        "CREATE ROLE plain LOGIN PASSWORD 'r'; ALTER DATABASE \"{database}\" OWNER TO plain"
    );
    server.run("postgres", &role).unwrap();
    server.run(database, "GRANT ALL ON SCHEMA public TO plain").unwrap();
    let plain = as_user(&target, "plain");
    program.ok(&["build", &plain, "-w", "tpc-b"]);
    let short = ["--vus", "2", "--rampup", "0s", "--duration", "3s"];
    let seen = observed(&program, &plain, &short);
    assert!(gaps(&seen).contains(&("pg_monitor", "GRANT pg_monitor TO plain;")), "{seen:#}");
    assert!(seen["sessions"]["average"].as_f64().unwrap() > 0.0, "its own sessions are seen");
    let summary = program.run(&["run", &plain, "--vus", "1", "--rampup", "0s", "--duration", "2s"]);
    assert!(summary.out.contains("Not observed"), "{}", summary.out);
    assert!(summary.out.lines().count() <= 24, "{}", summary.out);
    server.run("postgres", "GRANT pg_monitor TO plain").unwrap();
    let granted = observed(&program, &plain, &short);
    assert!(gaps(&granted).iter().all(|(name, _)| *name != "pg_monitor"), "{granted:#}");
}

#[test]
fn what_a_missing_privilege_hides_is_reported_with_the_grant_that_shows_it_on_mariadb() {
    let program = Program::new();
    let server = MariadbServer::shared();
    let target = server.fresh_database("hidden").unwrap();
    let database = name_of(&target);
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let user = format!("plain{}", std::process::id());
    for sql in [
        format!("CREATE USER '{user}'@'%' IDENTIFIED BY 'r'"),
        format!("GRANT ALL ON `{database}`.* TO '{user}'@'%'"),
    ] {
        server.run(database, &sql).unwrap();
    }
    // The target has no TLS: MySQL's default plugin needs its public key then.
    let key = if server.is_mariadb() { "" } else { "?get-server-public-key=1" };
    let plain = as_user(&target, &user) + key;
    let short = ["--vus", "2", "--rampup", "0s", "--duration", "3s"];
    // Without the privilege, some queries may fail.
    let seen = program.json(&[&["run", &plain][..], &short[..]].concat())["observed"].take();
    let grant = format!("GRANT PROCESS ON *.* TO '{user}'@'%';");
    assert!(gaps(&seen).contains(&("process", grant.as_str())), "{seen:#}");
    assert!(seen["sessions"]["average"].as_f64().unwrap() > 0.0, "its own sessions are seen");
    server.run(database, grant.trim_end_matches(';')).unwrap();
    let granted = program.json(&[&["run", &plain][..], &short[..]].concat())["observed"].take();
    assert!(gaps(&granted).iter().all(|(name, _)| *name != "process"), "{granted:#}");
}

#[test]
fn a_run_without_observers_has_no_such_part_and_a_wrong_interval_is_an_error_on_postgres() {
    let program = Program::new();
    let target = PostgresServer::shared().fresh_database("off").unwrap();
    program.ok(&["build", &target, "-w", "tpc-b"]);
    let run = ["run", &target, "--vus", "1", "--transactions", "20"];
    let document = program.json(&[&run[..], &["--no-observe"]].concat());
    assert!(document["observed"].is_null(), "{document:#}");
    let done = program.run(&[&run[..], &["--observe-interval", "2s"]].concat());
    assert_eq!(done.code, 2);
    assert!(done.err.contains("from 10ms to 1s, got 2s"), "{}", done.err);
}

#[test]
fn a_node_exporter_that_does_not_answer_is_an_error_before_the_run() {
    let program = Program::new();
    let run = ["run", "null:", "--vus", "1", "--transactions", "20"];
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/metrics", closed.local_addr().unwrap());
    drop(closed);
    for (url, message) in [(url.as_str(), "omit --host-metrics"), ("db1:9100", "expected a URL")] {
        let done = program.run(&[&run[..], &["--host-metrics", url]].concat());
        assert_eq!(done.code, 2, "{}", done.err);
        assert!(done.err.contains(message), "{}", done.err);
    }
    assert_eq!(program.ok(&["jobs", "--json"]).trim(), "[]", "nothing is stored");
    program.ok(&[&run[..], &["--host-metrics", &url, "--no-observe"]].concat());
}

/// A process that keeps a CPU busy until it is dropped.
struct Saturated(std::process::Child);

impl Saturated {
    fn begin(cpu: u32) -> Self {
        let cpu = cpu.to_string();
        let endless = ["-c", &cpu, "sh", "-c", "while :; do :; done"];
        Self(std::process::Command::new("taskset").args(endless).spawn().unwrap())
    }
}

impl Drop for Saturated {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_cpu_that_another_process_saturates_is_seen_and_named() {
    let program = Program::new();
    program.ok(&["build", "sqlite:db", "-w", "tpc-b"]);
    let cpu = rustix::thread::sched_getcpu();
    let cpu = u32::try_from(cpu).unwrap();
    let _busy = Saturated::begin(cpu);
    let run = [
        "run",
        "sqlite:db",
        "-w",
        "tpc-b",
        "--load",
        "rate:20/s",
        "--vus",
        "2",
        "--rampup",
        "1s",
        "--duration",
        "8s",
    ];
    let document = program.json(&run);
    let map = &document["observed"]["cores"][0];
    let rows = map["cpus"].as_array().unwrap();
    let busy = |row: &Value| row["busy"].as_f64().unwrap();
    let (own, others): (Vec<&Value>, Vec<&Value>) = rows.iter().partition(|row| row["cpu"] == cpu);
    assert!(busy(own[0]) > 0.9, "{own:#?}");
    assert!(own[0]["columns"]["busy"].as_array().unwrap().len() >= 6, "{own:#?}");
    let is_even_elsewhere = others.iter().all(|row| busy(row) <= 0.6);
    let warnings = document["warnings"].as_array().unwrap();
    let warned = warnings.iter().find(|warning| warning["kind"] == "cores_uneven");
    // Other work of the host may leave no CPU free.
    if !others.is_empty() && is_even_elsewhere {
        let text = warned.unwrap()["text"].as_str().unwrap();
        assert!(text.contains(&format!("CPU {cpu} was ")), "{text}");
        assert_eq!(map["balance"]["cpus"], serde_json::json!([cpu]));
    }
    let report = program.ok(&["report", &document["job"].to_string()]);
    assert!(report.contains("CPUs of this host in the window, busy over time"), "{report}");
    assert!(document["host"]["topology"]["threads"].as_u64().unwrap() >= 1);
}

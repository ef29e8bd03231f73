//! Runs of tproc-h: a time for each query, figures, limits, lost connections, Ctrl-C, comparison.

use serde_json::Value;

use crate::holder::Holder;
use crate::program::{Program, finish, signal, wait_until};
use crate::servers::{Postgres, Site, name_of};

const ANY: [&str; 3] = ["run", "-w", "tproc-h"];
const RUN: [&str; 5] = ["run", "-w", "tproc-h", "--test", "queries"];

/// Runs with further arguments, and gives the document.
fn run(program: &Program, target: &str, more: &[&str]) -> Value {
    program.json(&[&RUN[..], &[target], more].concat())
}

fn steps(document: &Value) -> &Vec<Value> {
    document["queries"]["steps"].as_array().unwrap()
}

fn figure<'a>(document: &'a Value, name: &str) -> &'a Value {
    let figures = document["queries"]["figures"].as_array().unwrap();
    figures.iter().find(|figure| figure["name"] == name).unwrap()
}

/// Queries as (name, outcome), in the order of their names.
fn outcomes(document: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut all: Vec<_> =
        steps(document).iter().map(|step| (text(&step["name"]), text(&step["outcome"]))).collect();
    all.sort();
    all
}

fn geometric_mean_ms(seconds: &[f64]) -> f64 {
    let logarithms: f64 = seconds.iter().map(|seconds| (seconds * 1000.0).ln()).sum();
    (logarithms / seconds.len() as f64).exp()
}

fn seconds(steps: &[Value]) -> Vec<f64> {
    steps.iter().map(|step| step["seconds"].as_f64().unwrap()).collect()
}

fn is_near(a: &Value, b: f64) -> bool {
    (a.as_f64().unwrap() / b - 1.0).abs() < 1e-9
}

/// The default file is built, and its queries are timed; figures are those of the stored times.
#[test]
fn without_a_target_all_queries_run_on_the_default_file() {
    let program = Program::new();
    let said = program.ok(&RUN);
    assert!(said.contains("TPROC-H on SQLite"), "{said}");
    assert!(said.contains("22 of 22 queries answered"), "{said}");
    let again = program.json(&[&RUN[..], &["--repeat", "2", "--streams", "2"]].concat());
    assert_eq!(steps(&again).len(), 88);
    // Each of 44 steps with its repeat, and streams whose parameters happen to be equal.
    assert!(again["queries"]["answers"]["compared"].as_u64().unwrap() >= 44, "{again:#}");
    assert_eq!(again["queries"]["answers"]["differing"], 0);
    let means: Vec<f64> = (1..=2)
        .map(|repeat| {
            let steps = steps(&again).iter().filter(|step| step["repeat"] == repeat);
            geometric_mean_ms(&seconds(&steps.cloned().collect::<Vec<_>>()))
        })
        .collect();
    assert!(is_near(&figure(&again, "geomean_ms")["value"], (means[0] + means[1]) / 2.0));
    assert!(is_near(&again["primary_metric"]["value"], (means[0] + means[1]) / 2.0));
    let reason = "needs --test power or both, and --test queries was run";
    assert_eq!(figure(&again, "power")["reason"], reason);
    assert_eq!(
        (&again["bottleneck"]["kind"], &again["steadiness"]),
        (&"undecided".into(), &Value::Null)
    );

    let listed = program.ok(&["jobs"]);
    assert_eq!(listed.matches("geomean_ms").count(), 2, "{listed}");
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("product type profit measure"), "{report}");
    let markdown = program.ok(&["report", "last", "--format", "markdown"]);
    assert!(markdown.contains("| Q22 | global sales opportunity | 4 of 4 |"), "{markdown}");
    assert!(program.ok(&["report", "last", "--format", "html"]).contains("global sales"));
    let compared = program.json(&["compare", "1", "2"]);
    let figures = compared["figures"].as_array().unwrap();
    assert_eq!((figures.len(), &figures[0]["name"]), (23, &"geomean_ms".into()));
    assert_eq!((&figures[9]["name"], &figures[9]["title"]), (&"q9.time".into(), &"Q9".into()));
    let history = program.json(&["history", "--workload", "tproc-h"]);
    assert_eq!(history["runs"].as_array().unwrap().len(), 2);
}

/// By clause 5.4, recomputed from the stored times; and the refresh functions restore the data.
#[test]
fn power_and_throughput_are_those_of_the_stored_times() {
    let program = Program::new();
    let target = "sqlite:h.sqlite";
    program.ok(&["build", target, "-w", "tproc-h", "--scale", "0.01"]);
    let found = program.json(&[&ANY[..], &[target, "--test", "both"]].concat());
    let of = |test: &str| -> Vec<Value> {
        steps(&found).iter().filter(|step| step["test"] == test).cloned().collect()
    };
    let (power_test, throughput_test) = (of("power"), of("throughput"));
    assert_eq!((power_test.len(), throughput_test.len()), (24, 48));
    let name = |step: &Value| step["name"].as_str().unwrap().to_owned();
    let order: Vec<String> = power_test.iter().map(name).collect();
    assert_eq!((&*order[0], &*order[1], &*order[2], &*order[23]), ("rf1", "q14", "q2", "rf2"));

    let longest = seconds(&power_test[1..23]).into_iter().fold(0.0, f64::max);
    let intervals: Vec<f64> = (power_test.iter())
        .map(|step| (name(step), step["seconds"].as_f64().unwrap()))
        .map(|(name, time)| if name.starts_with('q') { time.max(longest / 1000.0) } else { time })
        .collect();
    let power = 3600.0 * 0.01 / (geometric_mean_ms(&intervals) / 1000.0);
    assert!(is_near(&figure(&found, "power")["value"], power), "{power}: {found:#}");

    let start = |step: &Value| step["start_s"].as_f64().unwrap();
    let begin = throughput_test.iter().map(start).fold(f64::INFINITY, f64::min);
    let end = |step: &Value| start(step) + step["seconds"].as_f64().unwrap();
    let end = throughput_test.iter().map(end).fold(0.0, f64::max);
    let throughput = 2.0 * 22.0 * 3600.0 / (end - begin) * 0.01;
    let stored = figure(&found, "throughput")["value"].as_f64().unwrap();
    assert!((stored / throughput - 1.0).abs() < 1e-6, "{throughput}: {found:#}");
    assert!(is_near(&figure(&found, "composite")["value"], (power * stored).sqrt()));
    assert_eq!(found["primary_metric"]["name"], "composite");

    // An interrupted run left the first order of set 1 behind: the next run deletes it first.
    let file = rusqlite::Connection::open(program.path("h.sqlite")).unwrap();
    let order = "INSERT INTO orders SELECT 9, o_custkey, o_orderstatus, o_totalprice, o_orderdate, \
                 o_orderpriority, o_clerk, o_shippriority, o_comment FROM orders WHERE o_orderkey = 1";
    assert_eq!(file.execute(order, []).unwrap(), 1);
    drop(file);
    let again = program.json(&[&ANY[..], &[target, "--test", "power"]].concat());
    assert_eq!(steps(&again)[0]["outcome"], "answered", "{again:#}");
    assert_eq!(steps(&again)[0]["rows"], power_test[0]["rows"]);

    let checked = program.ok(&["check", target, "-w", "tproc-h"]);
    assert!(checked.contains("all 34 conditions of TPROC-H at 0.01 SF hold"), "{checked}");
}

#[test]
fn some_queries_can_be_chosen_and_required() {
    let program = Program::new();
    let target = "sqlite:h.sqlite";
    program.ok(&["build", target, "-w", "tproc-h", "--scale", "0.01"]);
    let found = run(&program, target, &["--queries", "6,1", "--require", "q6.time < 60s"]);
    assert_eq!(outcomes(&found).iter().map(|(name, _)| name).collect::<Vec<_>>(), ["q1", "q6"]);
    assert_eq!(found["primary_metric"]["name"], "geomean_of_chosen_ms");
    let mean = geometric_mean_ms(&seconds(steps(&found)));
    assert!(is_near(&found["primary_metric"]["value"], mean));
    assert_eq!(figure(&found, "geomean_ms")["value"], Value::Null);
    assert_eq!(found["requirements"][0]["passed"], true);

    for (more, why) in [
        (&["--scale", "1"][..], "the data has 0.01 SF, not 1"),
        (&["--vus", "4"], "--vus is about transactions"),
        (&["--duration", "5s"], "--duration is about transactions"),
        (&["--queries", "0"], "invalid query `0`"),
        (&["--require", "q23.time < 1s"], "unknown metric `q23.time`"),
    ] {
        let done = program.run(&[&RUN[..], &[target], more].concat());
        assert!(done.code == 2 && done.err.contains(why), "{}", done.err);
    }
    let power = ["--test", "power", "--streams", "2"];
    let done = program.run(&[&ANY[..], &[target], &power].concat());
    assert!(done.code == 2 && done.err.contains("the power test has one stream"), "{}", done.err);
    let done = program.run(&["run", target, "-w", "tproc-c", "--test", "power"]);
    assert!(done.code == 2 && done.err.contains("--test is an option of TPROC-H"), "{}", done.err);
    let shown = program.ok(&[&ANY[..], &[target, "--test", "both", "--show-spec"]].concat());
    assert!(shown.contains("test") && shown.contains("streams"), "{shown}");
}

/// A schema on PostgreSQL with a lock that makes some queries wait.
struct Held {
    site: &'static Site,
    target: String,
    holder: Option<Holder>,
}

impl Held {
    fn new(program: &Program) -> Self {
        let site = Site::shared(Postgres);
        let target = site.fresh_database();
        program.ok(&["build", &target, "-w", "tproc-h", "--scale", "0.01"]);
        Self { site, target, holder: None }
    }

    /// Locks the table of Q11, Q2 and others, but not that of Q1 and Q6.
    fn lock(&mut self) {
        self.holder = Some(Holder::of(self.site, &self.target, "LOCK TABLE partsupp"));
    }

    fn release(&mut self) {
        self.holder = None;
    }

    /// Number of sessions in this state.
    fn count(&self, which: &str) -> i64 {
        let sql = format!("SELECT count(*) {}", others(which));
        self.site.run(name_of(&self.target), &sql)[0][0].as_deref().unwrap().parse().unwrap()
    }

    fn terminate(&self, which: &str) {
        let sql = format!("SELECT pg_terminate_backend(pid) {} LIMIT 1", others(which));
        self.site.run(name_of(&self.target), &sql);
    }
}

fn others(which: &str) -> String {
    let own = "pid <> pg_backend_pid()";
    format!("FROM pg_stat_activity WHERE datname = current_database() AND {own} AND {which}")
}

/// Q11, and not the session that looks at the schema.
const WAITS: &str = "wait_event_type = 'Lock' AND query LIKE '%ps_supplycost%'";

#[test]
fn a_query_that_takes_too_long_is_cancelled_in_the_server_and_the_stream_goes_on() {
    let program = Program::new();
    let mut held = Held::new(&program);
    held.lock();
    let limits = ["--queries", "1,6,11", "--query-timeout", "2s", "--json", "--junit", "h.xml"];
    let done = program.run(&[&RUN[..], &[&held.target], &limits].concat());
    assert_eq!(done.code, 1, "{}", done.err);
    assert_eq!(held.count(WAITS), 0, "the server still works on it");
    let found: Value = serde_json::from_str(&done.out).unwrap();
    let expected = [("q1", "answered"), ("q11", "timed_out"), ("q6", "answered")];
    assert_eq!(outcomes(&found), expected.map(|(name, how)| (name.to_owned(), how.to_owned())));
    let late = steps(&found).iter().find(|step| step["name"] == "q11").unwrap();
    assert!(late["seconds"].as_f64().unwrap() >= 2.0, "{late}");
    assert_eq!(found["status"], "complete");
    assert_eq!(found["primary_metric"]["unavailable"], "Q11 of stream 0 timed out");
    assert_eq!(found["sessions"]["lost"], 0);
    let cases = std::fs::read_to_string(program.path("h.xml")).unwrap();
    assert!(
        cases.contains("failures=\"1\"") && cases.contains("Q11 of stream 0 timed out"),
        "{cases}"
    );
    held.release();
    let whole = run(&program, &held.target, &["--query-timeout", "60s"]);
    assert!(outcomes(&whole).iter().all(|(_, how)| how == "answered"));
    let jobs = program.ok(&["jobs"]);
    let words: Vec<_> = jobs.split_whitespace().collect();
    assert!(words.windows(3).any(|part| part == ["run", "complete", "geomean_ms"]), "{jobs}");
    assert!(words.windows(2).any(|part| part == ["run", "unanswered"]), "{jobs}");
}

#[test]
fn a_stream_that_loses_its_connection_reconnects_for_its_next_query() {
    let program = Program::new();
    let mut held = Held::new(&program);
    // With literals in its text, a query shows whose it is: each stream has its own nation.
    let args = ["--streams", "4", "--queries", "1,6,11", "--protocol", "simple"];
    let whole = run(&program, &held.target, &args);
    let nation = |stream: u64| {
        let is_it = |step: &&Value| step["name"] == "q11" && step["stream"] == stream;
        steps(&whole).iter().find(is_it).unwrap()["parameters"][0].as_str().unwrap().to_owned()
    };
    let of_third = format!("{WAITS} AND query LIKE '%''{}''%'", nation(3));
    held.lock();
    let mut child = program.start(&[&RUN[..], &[&held.target, "--json"], &args].concat());
    wait_until(&mut child, "all streams wait for the lock", || held.count(WAITS) == 4);
    assert_eq!(held.count(&of_third), 1);
    held.terminate(&of_third);
    wait_until(&mut child, "it has lost its connection", || held.count(WAITS) == 3);
    held.release();
    let done = finish(child);
    assert_eq!(done.code, 1, "{}", done.err);
    let found: Value = serde_json::from_str(&done.out).unwrap();
    let failed: Vec<_> = steps(&found).iter().filter(|s| s["outcome"] != "answered").collect();
    assert_eq!((steps(&found).len(), failed.len()), (12, 1), "{failed:?}");
    assert_eq!((&failed[0]["name"], &failed[0]["outcome"]), (&"q11".into(), &"failed".into()));
    assert_eq!(failed[0]["stream"], 3);
    assert_eq!(
        (&found["sessions"]["lost"], &found["sessions"]["reconnected"]),
        (&1.into(), &1.into())
    );
    assert_eq!(found["queries"]["answers"]["differing"], 0);
    assert!(found["notes"].to_string().contains("Q11 of stream"), "{}", found["notes"]);
}

#[test]
fn an_interrupt_cancels_the_query_in_the_server_and_keeps_what_was_answered() {
    let program = Program::new();
    let mut held = Held::new(&program);
    held.lock();
    let args = [&RUN[..], &[&held.target, "--queries", "11", "--repeat", "3", "--json"]].concat();
    let mut child = program.start(&args);
    wait_until(&mut child, "it waits for the lock", || held.count(WAITS) == 1);
    signal(&child, "INT");
    let done = finish(child);
    assert_eq!(done.code, 130, "{}", done.err);
    assert_eq!(held.count(WAITS), 0, "the server still works on it");
    let found: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(found["status"], "interrupted");
    let how: Vec<_> = steps(&found).iter().map(|step| step["outcome"].as_str().unwrap()).collect();
    assert_eq!(how, ["cancelled", "not_run", "not_run"]);
    assert!(program.ok(&["jobs"]).contains("interrupted"));
}

/// On SQLite the query runs on the stream's own thread, which cannot look at a clock meanwhile.
#[test]
fn a_query_of_a_database_in_the_process_is_cancelled_too() {
    let program = Program::new();
    let target = "sqlite:h.sqlite";
    program.ok(&["build", target, "-w", "tproc-h", "--scale", "0.01"]);
    let file = rusqlite::Connection::open(program.path("h.sqlite")).unwrap();
    // Q1 becomes one that does not end, on a view with more rows than anybody can count.
    file.execute_batch(
        "ALTER TABLE lineitem RENAME TO lines;
         CREATE VIEW lineitem AS SELECT a.* FROM lines a, lines b, lines c",
    )
    .unwrap();
    let limits = ["--queries", "1,11", "--query-timeout", "300ms", "--json"];
    let done = program.run(&[&RUN[..], &[target], &limits].concat());
    assert_eq!(done.code, 1, "{}", done.err);
    let found: Value = serde_json::from_str(&done.out).unwrap();
    let expected = [("q1", "timed_out"), ("q11", "answered")];
    assert_eq!(outcomes(&found), expected.map(|(name, how)| (name.to_owned(), how.to_owned())));
}

/// What the user typed wrong is reported first: it does not depend on the database.
#[test]
fn an_invalid_option_is_reported_before_a_missing_database() {
    let program = Program::new();
    for target in ["sqlite:absent.sqlite", "postgres://nobody@127.0.0.1:1/none"] {
        for (option, value, why) in [
            ("--queries", "23", "--queries: invalid query `23`"),
            ("--streams", "0", "--streams: invalid value `0`"),
            ("--test", "speed", "--test: unknown value `speed`"),
        ] {
            let done = program.run(&["run", target, "-w", "tproc-h", option, value]);
            assert!(done.code == 2 && done.err.contains(why), "{done:?}");
        }
    }
}

/// Levels are streams, and the figure of each run is its throughput.
#[test]
fn a_profile_varies_the_streams() {
    let program = Program::new();
    let target = "sqlite:h.sqlite";
    program.ok(&["build", target, "-w", "tproc-h", "--scale", "0.01"]);
    let profile = ["profile", target, "-w", "tproc-h", "--cool-down", "0s"];
    for (option, value, why) in [
        ("--test", "power", "--test: a profile over streams runs the throughput test; omit it"),
        ("--queries", "1", "--queries: the throughput test needs all queries; omit it"),
        ("--streams", "2", "is only one level"),
        ("--vus", "1,2", "--vus is about transactions"),
    ] {
        let done = program.run(&[&profile[..], &[option, value]].concat());
        assert!(done.code == 2 && done.err.contains(why), "{done:?}");
    }
    let levels = ["--streams", "1,2,3", "--repeats", "1"];
    let found = program.json(&[&profile[..], &levels].concat());
    assert_eq!(
        (&found["level_unit"], &found["primary_metric"]["name"]),
        (&"streams".into(), &"throughput".into())
    );
    let levels = found["levels"].as_array().unwrap();
    assert_eq!(levels.iter().map(|level| &level["users"]).collect::<Vec<_>>(), [1, 2, 3]);
    let job = found["job"].to_string();
    for level in levels {
        let run = level["runs"][0]["job"].to_string();
        let run = program.ok(&["report", &run, "--format", "json"]);
        let run: Value = serde_json::from_str(&run).unwrap();
        let throughput = figure(&run, "throughput")["value"].as_f64().unwrap();
        assert!(is_near(&level["mean"], throughput), "{level:#}");
        assert_eq!(run["queries"]["streams"], level["users"]);
    }
    let report = program.ok(&["report", &job]);
    assert!(report.contains("  streams  throughput"), "{report}");
    assert!(!report.contains("virtual user") && !report.contains("p95"), "{report}");
}

/// DuckDB is the default for queries where it is installed, unless an SQLite file is there already.
#[test]
fn without_a_target_queries_run_on_duckdb_if_it_is_installed() {
    let program = Program::with_duckdb();
    let run = [&RUN[..], &["--queries", "6"]].concat();
    let first = program.json(&run);
    assert_eq!(
        (&first["server"]["product"], &first["target"]),
        (&"DuckDB".into(), &"duckdb:tproc-h.duckdb".into())
    );
    assert!(program.path("tproc-h.duckdb").exists() && !program.path("tproc-h.sqlite").exists());
    program.ok(&["build", "sqlite:tproc-h.sqlite", "-w", "tproc-h", "--scale", "0.01"]);
    assert_eq!(program.json(&run)["target"], "sqlite:tproc-h.sqlite");
}

/// Names of statements in which sessions were seen.
fn seen_in(document: &Value) -> Vec<&str> {
    let statements = document["observed"]["sessions"]["statements"].as_array().unwrap();
    statements.iter().map(|of| of["statement"].as_str().unwrap()).collect()
}

#[test]
fn queries_are_observed_with_their_cpu_time_and_workers() {
    let program = Program::new();
    let site = Site::shared(Postgres);
    let target = site.fresh_database();
    program.ok(&["build", &target, "-w", "tproc-h", "--scale", "0.01", "--jobs", "2"]);
    let name = name_of(&target);
    for setting in ["min_parallel_table_scan_size", "parallel_setup_cost", "parallel_tuple_cost"] {
        site.run(name, &format!("ALTER DATABASE {name} SET {setting} = 0"));
    }
    let more = ["--queries", "1,18", "--repeat", "5", "--observe-interval", "10ms"];
    let document = run(&program, &target, &more);
    let queries = document["queries"]["queries"].as_array().unwrap();
    let [q1, q18] = &queries[..] else { panic!("{queries:#?}") };
    for query in [q1, q18] {
        // In ticks of 10 ms; other tests may use the server, too.
        assert!(query["usage"]["cpu_s"].as_f64().unwrap() > 0.0, "{query:#}");
    }
    assert_eq!(q1["workers"], 2, "{q1:#}");
    assert_eq!(document["queries"]["usage_of"], "server");
    let phases = document["queries"]["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 5, "{phases:#?}");
    assert!(phases[0]["usage"]["client_cpu_s"].as_f64().unwrap() > 0.0, "{phases:#?}");
    let seen = seen_in(&document);
    assert!(seen.contains(&"q1") && seen.contains(&"q18"), "{seen:?}");
    assert!(!document["observed"]["hosts"].as_array().unwrap().is_empty());
    let report = program.ok(&["report", &document["job"].to_string()]);
    for part in [
        "CPU s",
        "workers",
        "CPU time is that of the server's processes",
        "Active sessions of the run, by statement",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let without = run(&program, &target, &["--queries", "1", "--no-observe"]);
    assert!(
        without["observed"].is_null() && without["queries"]["usage_of"].is_null(),
        "{without:#}"
    );
}

#[test]
fn several_streams_at_once_have_the_cpu_time_of_all_and_an_engine_in_the_process_that_of_both() {
    let program = Program::new();
    program.ok(&["build", "sqlite:db", "-w", "tproc-h", "--scale", "0.01"]);
    let document = run(&program, "sqlite:db", &["--queries", "1,6", "--streams", "2"]);
    let set = &document["queries"];
    assert_eq!(set["usage_of"], "process");
    assert!(
        set["queries"].as_array().unwrap().iter().all(|query| query["usage"].is_null()),
        "{set:#}"
    );
    let [phase] = &set["phases"].as_array().unwrap()[..] else { panic!("{set:#}") };
    assert!(phase["usage"]["cpu_s"].as_f64().unwrap() > 0.0, "{phase:#}");
    assert_eq!(phase["streams"], 2);
    let alone = run(&program, "sqlite:db", &["--queries", "1"]);
    assert!(alone["queries"]["queries"][0]["usage"]["cpu_s"].as_f64().unwrap() > 0.0, "{alone:#}");
}

#[test]
fn a_build_is_observed_with_what_its_phases_used() {
    let program = Program::new();
    let target = Site::shared(Postgres).fresh_database();
    let report = program.json(&["build", &target, "-w", "tproc-h", "--scale", "0.02"]);
    assert_eq!(report["usage_of"], "server");
    let usage = report["usage"].as_array().unwrap();
    let load = usage.iter().find(|of| of["phase"] == "load").unwrap();
    let used = |name: &str| load["usage"][name].as_f64().unwrap();
    assert!(used("cpu_s") > 0.0 && used("client_cpu_s") > 0.0, "{load:#}");
    let seen = &report["observed"];
    assert!(seen["sessions"]["samples"].as_u64().unwrap() > 5, "{seen:#}");
    assert!(!seen["hosts"].as_array().unwrap().is_empty(), "{seen:#}");
    let text = program.ok(&["report", "last"]);
    assert!(text.contains("triphammer") && text.contains("Hosts in the build"), "{text}");
    let target = Site::shared(Postgres).fresh_database();
    let silent = ["build", &target, "-w", "tpc-b", "--host-metrics", "http://127.0.0.1:1/metrics"];
    let refused = program.run(&silent);
    assert_eq!(refused.code, 2, "{}", refused.out);
    assert!(refused.err.contains("no metrics from http://127.0.0.1:1/metrics"), "{}", refused.err);
    let without = program.json(&["build", &target, "-w", "tpc-b", "--no-observe"]);
    assert!(without["observed"].is_null() && without["usage"].as_array().unwrap().is_empty());
}

#[test]
fn two_builds_are_compared_by_their_phases_and_decide_nothing() {
    let program = Program::new();
    for target in ["sqlite:a", "sqlite:b"] {
        program.ok(&["build", target, "-w", "tpc-b"]);
    }
    let compared = program.json(&["compare", "1", "2"]);
    let figures = compared["figures"].as_array().unwrap();
    let of = |name: &str| figures.iter().find(|figure| figure["name"] == name).unwrap();
    assert!(of("rows/s")["a"].as_f64().unwrap() > 0.0 && of("load_s")["b"].as_f64().unwrap() > 0.0);
    assert!(of("load_cpu_s")["a"].as_f64().unwrap() > 0.0, "{figures:#?}");
    assert!(
        compared["words"]
            .as_str()
            .unwrap()
            .starts_with("inconclusive: each build was measured once")
    );
    program.ok(&["build", "sqlite:a", "-w", "tpc-b"]);
    let refused = program.run(&["compare", "1", "3"]);
    assert_eq!(refused.code, 2, "{}", refused.out);
    assert!(refused.err.contains("loaded no rows (already built)"), "{}", refused.err);
    assert!(program.ok(&["jobs"]).contains("took"));
}

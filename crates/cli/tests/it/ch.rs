//! CH-benCHmark: transactions with streams of queries beside them, on PostgreSQL and MariaDB.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::program::{Program, finish, signal, wait_until};
use crate::servers::{Mariadb, Postgres, Product, Site};

const RUN: [&str; 8] = ["-w", "ch", "--vus", "2", "--rampup", "0s", "--duration", "4s"];

/// A database with one warehouse.
struct Built {
    program: Program,
    site: &'static Site,
    target: String,
    name: String,
}

impl Built {
    fn new(product: Product, build: &[&str]) -> Self {
        let (program, site) = (Program::new(), Site::shared(product));
        let target = site.fresh_database();
        let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
        program.ok(&[&["build", &target, "--jobs", "2"], build].concat());
        Self { program, site, target, name }
    }

    fn ok(&self, command: &str, more: &[&str]) -> String {
        self.program.ok(&[&[command, &self.target], more].concat())
    }

    fn json(&self, command: &str, more: &[&str]) -> Value {
        self.program.json(&[&[command, &self.target], more].concat())
    }

    fn sql(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        self.site.run(&self.name, sql)
    }
}

mod postgres {
    #[test]
    #[ignore = "slow: tools/test-matrix.py slow"]
    fn tables_are_added_and_queries_run_beside_the_transactions() {
        super::tables_are_added_and_queries_run_beside_the_transactions(super::Postgres);
    }
}

mod mariadb {
    #[test]
    #[ignore = "slow: tools/test-matrix.py slow"]
    fn tables_are_added_and_queries_run_beside_the_transactions() {
        super::tables_are_added_and_queries_run_beside_the_transactions(super::Mariadb);
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn figure(streams: &Value, name: &str) -> f64 {
    let figures = streams["figures"].as_array().unwrap();
    number(&figures.iter().find(|figure| figure["name"] == name).unwrap()["value"])
}

/// What the document says of the streams agrees with itself.
fn check_streams(result: &Value) {
    let streams = &result["query_streams"];
    let queries = streams["queries"].as_array().unwrap();
    let steps = streams["steps"].as_array().unwrap();
    assert_eq!(streams["steps_omitted"], 0);
    let mut in_window = 0;
    for query in queries {
        let of = |outcome: &str| {
            let mine = steps.iter().filter(|step| step["name"] == query["name"]);
            mine.filter(|step| step["outcome"] == outcome).count() as u64
        };
        for outcome in ["answered", "timed_out", "failed", "cancelled"] {
            assert_eq!(query[outcome].as_u64().unwrap(), of(outcome), "{query}");
        }
        assert!(query["in_window"].as_u64() <= query["answered"].as_u64(), "{query}");
        in_window += query["in_window"].as_u64().unwrap();
    }
    let window = number(&result["durations"]["window_s"]);
    let per_hour = in_window as f64 * 3600.0 / window;
    assert!((figure(streams, "queries_per_hour") - per_hour).abs() < 1e-6, "{streams:#}");
}

fn tables_are_added_and_queries_run_beside_the_transactions(product: Product) {
    let built = Built::new(product, &["--seed", "5", "--foreign-keys"]);
    tables_are_added(&built);
    let seen = built.ok("check", &["-w", "ch"]);
    assert!(seen.contains("all 43 conditions"), "{seen}");
    assert!(built.ok("check", &[]).contains("all 36 conditions"));
    let mixed = queries_run_beside_the_transactions(&built);
    assert!(built.ok("check", &["-w", "ch"]).contains("all 24 conditions"));

    // TPROC-C runs on the same tables; a run without streams is comparable with one that has some.
    let alone = built.json("run", &["--vus", "2", "--transactions", "20"]);
    assert_eq!(alone["query_streams"], Value::Null);
    let without = built.json("run", &[&RUN[..], &["--streams", "0"]].concat());
    assert_eq!(without["query_streams"], Value::Null);
    let jobs = [&without["job"], &mixed].map(Value::to_string);
    let compared = built.program.json(&["compare", &jobs[0], &jobs[1]]);
    assert_eq!(compared["figures"][0]["name"], "nopm", "{compared:#}");
    a_planted_violation_is_found(&built);
    let removed = built.ok("drop", &["--yes"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(removed.contains("supplier, nation, region, new_order"), "{removed}");
}

/// What a build of TPROC-C alone answers, and that `--add` keeps its seed and options.
fn tables_are_added(built: &Built) {
    for command in ["run", "check", "build", "drop"] {
        let mut args = vec![command, &built.target, "-w", "ch"];
        args.extend((command == "drop").then_some("--yes"));
        let done = built.program.run(&args);
        assert_eq!(done.code, 2, "{command}: {}", done.err);
        let hint = "tproc-c is built there without the tables region, nation, supplier";
        assert!(done.err.contains(hint) && done.err.contains("--add"), "{command}: {}", done.err);
    }
    let added = built.json("build", &["-w", "ch", "--add"]);
    assert_eq!((&added["outcome"], &added["rows"]), (&"added".into(), &10_067.into()));
    assert_eq!((&added["seed"], number(&added["scale"])), (&5.into(), 1.0));
    assert!(built.ok("build", &["-w", "ch", "--add"]).contains("already built"));

    // As if it had been killed during the load: only the same build completes it.
    built.sql("DELETE FROM supplier");
    built.sql("DELETE FROM nation");
    built.sql("DELETE FROM region");
    let chunk = "item = 'part/regions, nations and suppliers'";
    built.sql(&format!("DELETE FROM triphammer_build WHERE {chunk}"));
    built.sql("UPDATE triphammer_build SET value = 'building' WHERE item = 'state'");
    let done = built.program.run(&["build", &built.target, "--seed", "5", "--foreign-keys"]);
    assert!(done.code == 2 && done.err.contains("nation, region, supplier"), "{}", done.err);
    assert!(built.ok("build", &["-w", "ch", "--add"]).contains("resumed"));
}

/// Returns the number of the job.
fn queries_run_beside_the_transactions(built: &Built) -> Value {
    let more = ["--streams", "2", "--queries", "1,6,13", "--require", "queries_per_hour > 0"];
    let result = built.json("run", &[&RUN[..], &more, &["--baseline", "3s"]].concat());
    assert!(number(&result["primary_metric"]["value"]) > 0.0);
    assert_eq!(crate::servers::verdict(&result), "verified");
    let streams = &result["query_streams"];
    assert_eq!((&streams["streams"], &streams["away"]), (&2.into(), &0.into()));
    assert_eq!(streams["queries"].as_array().unwrap().len(), 3);
    check_streams(&result);
    let numbers: Vec<_> = (streams["steps"].as_array().unwrap().iter())
        .filter_map(|step| step["stream"].as_u64())
        .collect();
    assert!(numbers.contains(&1) && numbers.contains(&2), "{numbers:?}");
    assert_eq!(result["requirements"][0]["passed"], true);
    assert_eq!(result["violated_identities"], Value::Array(Vec::new()));

    // The baseline is part of the ramp-up: no second of it is in the window.
    assert_eq!(number(&result["durations"]["rampup_s"]), 3.0);
    let baseline = &streams["baseline"];
    let alone = number(&baseline["primary_metric"]);
    let remains = number(&result["primary_metric"]["value"]) / alone;
    assert!(alone > 0.0, "{baseline}");
    assert!((number(&baseline["primary_metric_ratio"]) / remains - 1.0).abs() < 1e-9, "{baseline}");
    let remains = figure(streams, "queries_per_hour") / number(&baseline["queries_per_hour"]);
    assert!((number(&baseline["queries_ratio"]) / remains - 1.0).abs() < 1e-9, "{baseline}");

    let job = result["job"].to_string();
    let report = built.program.ok(&["report", &job]);
    assert!(report.contains("2 virtual users + 2 streams"), "{report}");
    assert!(report.contains("Queries per hour") && report.contains("customers by number of"));
    assert!(report.contains("NOPM alone") && report.contains("remains alongside the"), "{report}");
    let markdown = built.program.ok(&["report", &job, "--format", "markdown"]);
    assert!(markdown.contains("| Q13 | customers by number of orders |"), "{markdown}");
    let page = built.program.ok(&["report", &job, "--format", "html"]);
    assert!(page.contains("customers by number of orders"));
    result["job"].clone()
}

fn a_planted_violation_is_found(built: &Built) {
    built.sql("DELETE FROM supplier WHERE su_suppkey = 17");
    let done = built.program.run(&["check", &built.target, "-w", "ch", "--json"]);
    assert_eq!(done.code, 1, "{}", done.err);
    let found: Value = serde_json::from_str(&done.out).unwrap();
    let violated: BTreeMap<_, _> = (found["checks"].as_array().unwrap().iter())
        .filter(|check| check["violations"] != 0)
        .map(|check| (check["id"].as_str().unwrap(), check["first_key"].as_str().unwrap()))
        .collect();
    let expected = [("ch.stock_supplier", "s_w_id=1 s_i_id=17"), ("ch.supplier", "rows=9999")];
    assert_eq!(violated, expected.into());
}

#[test]
fn what_cannot_be_is_rejected_with_the_reason() {
    let program = Program::new();
    for target in ["sqlite:c.sqlite", "null:", "duckdb:c.duckdb"] {
        for command in ["build", "run"] {
            let done = program.run(&[command, target, "-w", "ch"]);
            assert_eq!(done.code, 2, "{}", done.err);
            assert!(done.err.contains("CH-benCHmark needs a database server"), "{}", done.err);
        }
    }
    let target = Site::shared(Postgres).fresh_database();
    for (args, why) in [
        (&["build", &target, "--add"][..], "TPROC-C extends none"),
        (&["build", &target, "-w", "ch", "--add"], "there is no TPROC-C at"),
        (&["build", &target, "-w", "ch", "--scale", "20001"], "from 1 to 20000 warehouses"),
        (&["run", &target, "-w", "ch", "--streams", "2"], "there is no CH-benCHmark at"),
        (&["run", &target, "--streams", "2"], "--streams is an option of"),
    ] {
        let done = program.run(args);
        assert!(done.code == 2 && done.err.contains(why), "{args:?}: {}", done.err);
    }
    assert!(!program.path("c.sqlite").exists());
}

/// Sessions that wait for the suppliers.
const WAITS: &str = "FROM pg_stat_activity WHERE datname = current_database() \
                     AND wait_event = 'PgSleep' AND query LIKE '%su_suppkey%'";

impl Built {
    fn count(&self, from: &str) -> i64 {
        self.sql(&format!("SELECT count(*) {from}"))[0][0].as_deref().unwrap().parse().unwrap()
    }
}

#[test]
fn queries_that_time_out_or_lose_their_connection_are_reported_and_the_run_goes_on() {
    let built = Built::new(Postgres, &["-w", "ch"]);
    // Q11 reads suppliers, and transactions do not.
    built.sql("ALTER TABLE supplier RENAME TO suppliers");
    built.sql("CREATE VIEW supplier AS SELECT s.* FROM suppliers s, pg_sleep(600)");
    let more = ["--streams", "2", "--queries", "11", "--query-timeout", "2s", "--json"];
    let run = [&["run", &built.target], &RUN[..6], &["--duration", "10m"]].concat();
    let mut child = built.program.start(&[&run[..], &more, &["--progress", "1s"]].concat());
    wait_until(&mut child, "a lost connection", || {
        let killed = built.sql(&format!("SELECT pg_terminate_backend(pid) {WAITS} LIMIT 1"));
        killed.iter().any(|row| row[0].as_deref() == Some("t"))
    });
    let notes = |what: &str| {
        let sql = format!("SELECT count(*) FROM notes WHERE text LIKE '%Q11 of stream%{what}%'");
        built.program.number("jobs.sqlite", &sql)
    };
    wait_until(&mut child, "a query that timed out", || notes("timed out") > 0);
    wait_until(&mut child, "waiting queries", || built.count(WAITS) == 2);
    signal(&child, "INT");
    let done = finish(child);
    assert_eq!(done.code, 130, "{}", done.err);
    // Each second, progress says what runs.
    assert!(done.err.contains("  stream 1: Q11 for "), "{}", done.err);
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(result["status"], "interrupted");
    assert!(number(&result["primary_metric"]["value"]) > 0.0);
    assert_eq!(
        (crate::servers::verdict(&result), &result["sessions"]["lost"]),
        ("verified", &0.into())
    );
    let streams = &result["query_streams"];
    assert_eq!((&streams["sessions"]["lost"], &streams["away"]), (&1.into(), &0.into()));
    let query = &streams["queries"][0];
    assert_eq!((&query["failed"], &query["answered"]), (&1.into(), &0.into()), "{query}");
    assert!(query["timed_out"].as_u64().unwrap() >= 1, "{query}");
    assert_eq!(streams["figures"][1]["value"], Value::Null);
    check_streams(&result);
    let notes = result["notes"].to_string();
    assert!(notes.contains("Q11 of stream") && notes.contains("timed out"), "{notes}");
    let warnings = result["warnings"].to_string();
    assert!(warnings.contains("of the streams timed out or failed"), "{warnings}");

    // Ctrl-C cancels the query in the server, and keeps what was measured.
    let work = ["--vus", "2", "--rampup", "0s", "--duration", "10m", "--queries", "11", "--json"];
    let mut child = built.program.start(&[&["run", &built.target, "-w", "ch"], &work[..]].concat());
    wait_until(&mut child, "a waiting query", || built.count(WAITS) == 1);
    built.program.wait_for_seconds(6, &mut child);
    signal(&child, "INT");
    let done = finish(child);
    assert_eq!(done.code, 130, "{}", done.err);
    assert_eq!(built.count(WAITS), 0, "the server still works on it");
    let result: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(result["query_streams"]["queries"][0]["cancelled"], 1);
    assert_eq!(crate::servers::verdict(&result), "verified");
}

//! Execution plans of runs of tproc-h: equal plans have equal fingerprints, a dropped index is named, and both plans
//! are shown.

use std::collections::BTreeMap;

use serde_json::Value;
use triphammer_duckdb::Library;
use triphammer_testbed::{MariadbServer, PostgresServer};

use crate::program::Program;

/// Builds the smallest tables.
fn build(program: &Program, target: &str) {
    program.ok(&["build", target, "-w", "tproc-h", "--scale", "0.01"]);
}

/// Runs these queries with the literals of a seed.
fn run(program: &Program, target: &str, queries: &str, seed: &str, more: &[&str]) -> Value {
    let run = ["run", target, "-w", "tproc-h", "--test", "queries", "--queries", queries];
    program.json(&[&run[..], &["--seed", seed], more].concat())
}

fn plans(run: &Value) -> &Vec<Value> {
    run["queries"]["plans"].as_array().unwrap()
}

/// Fingerprints by query.
fn fingerprints(run: &Value) -> BTreeMap<String, String> {
    let text = |plan: &Value, name: &str| plan[name].as_str().unwrap().to_owned();
    plans(run).iter().map(|plan| (text(plan, "query"), text(plan, "fingerprint"))).collect()
}

/// The operations of a plan.
fn operations(plan: &Value) -> Vec<&str> {
    let operations = plan["operations"].as_array().unwrap();
    operations.iter().map(|one| one["operation"].as_str().unwrap()).collect()
}

/// Runs as jobs 2 to 4, after the build: with one seed, and with another one after new statistics and without an index: the index must be named.
fn life(program: &Program, target: &str, analyze: impl FnOnce(), drop_index: impl FnOnce()) {
    build(program, target);
    let queries = "1,6,12,17";
    let first = run(program, target, queries, "1", &[]);
    assert_eq!(plans(&first).len(), 4, "{first:#}");
    assert!(first["notes"].as_array().unwrap().iter().all(|note| note["kind"] != "plan"));
    analyze();
    let second = run(program, target, queries, "2", &[]);
    assert_eq!(fingerprints(&first), fingerprints(&second), "{first:#}\n{second:#}");
    drop_index();
    let third = run(program, target, queries, "3", &[]);

    let same = program.ok(&["compare", "2", "3"]);
    assert!(!same.contains("plan of"), "{same}");
    let changed = program.ok(&["compare", "3", "4"]);
    assert!(changed.contains("• the plan of Q17 changed\n"), "{changed}");
    let heading = "The plan of Q17 (small-quantity-order revenue) changed\n  A  fingerprint ";
    assert!(changed.contains(heading), "{changed}");
    let plans = changed.split_once("\nThe plan of Q17").unwrap().1;
    let plans = plans.split("\nWhat differs").next().unwrap();
    let (a, b) = plans.split_once("\n  B  fingerprint ").unwrap();
    assert!(a.contains("\n  - ") && a.contains("lineitem_partsupp"), "{changed}");
    assert!(b.contains("\n  + ") && !b.contains("lineitem_partsupp"), "{changed}");
    let markdown = program.ok(&["compare", "3", "4", "--format", "markdown"]);
    assert!(markdown.contains("## The plan of Q17"), "{markdown}");
    let document = program.json(&["compare", "3", "4"]);
    let changes = document["plans"].as_array().unwrap();
    assert_eq!((changes.len(), &changes[0]["query"]), (1, &"q17".into()), "{document:#}");
    assert!(operations(&changes[0]["a"]).iter().any(|one| one.contains("lineitem_partsupp")));
    assert!(operations(&changes[0]["b"]).iter().all(|one| !one.contains("lineitem_partsupp")));

    let fingerprint = fingerprints(&third)["q17"].clone();
    let report = program.ok(&["report", "4"]);
    assert!(report.contains(&fingerprint[..8]), "{report}");
    let plan = program.ok(&["report", "4", "--plan", "17"]);
    let heading = format!("Plan of Q17 small-quantity-order revenue (fingerprint {fingerprint})\n");
    assert!(plan.starts_with(&heading) && plan.contains("lineitem"), "{plan}");
    let all = program.ok(&["report", "4", "--plan", "all"]);
    assert_eq!(all.matches("Plan of Q").count(), 4, "{all}");
    let unknown = program.run(&["report", "4", "--plan", "9"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert!(unknown.err.contains("expected one of Q1, Q6, Q12, Q17, or all"), "{unknown:?}");

    let history = program.json(&["history", "-w", "tproc-h"]);
    let of: Vec<&Value> = history["runs"].as_array().unwrap().iter().map(|r| &r["plans"]).collect();
    assert!(of[0].is_string() && of[0] == of[1] && of[1] != of[2], "{history:#}");
}

#[test]
fn postgresql_names_the_plan_that_a_dropped_index_changes() {
    let (program, server) = (Program::new(), PostgresServer::shared());
    let target = server.fresh_database("tproc_h_plans").unwrap();
    let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let on_server = |sql: &str| drop(server.run(&name, sql).unwrap());
    life(&program, &target, || on_server("ANALYZE"), || on_server("DROP INDEX lineitem_partsupp"));
}

#[test]
fn sqlite_names_the_plan_that_a_dropped_index_changes() {
    let program = Program::new();
    let on_file = |sql: &str| {
        let file = rusqlite::Connection::open(program.path("h.sqlite")).unwrap();
        file.execute_batch(sql).unwrap();
    };
    let analyze = || on_file("ANALYZE");
    life(&program, "sqlite:h.sqlite", analyze, || on_file("DROP INDEX lineitem_partsupp"));
    let refused = program.run(&["run", "sqlite:h.sqlite", "-w", "tproc-h", "--analyze"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    let reason = "--analyze: sqlite cannot measure the operations of a plan; omit it";
    assert!(refused.err.contains(reason), "{refused:?}");
}

#[test]
fn mariadb_names_the_plan_that_a_dropped_index_changes() {
    let (program, server) = (Program::new(), MariadbServer::shared());
    let target = server.fresh_database("tproc_h_plans").unwrap();
    let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    let on_server = |sql: &str| drop(server.run(&name, sql).unwrap());
    let drop_index = || on_server("DROP INDEX lineitem_partsupp ON lineitem");
    life(&program, &target, || on_server("ANALYZE TABLE lineitem, part"), drop_index);
}

/// What a measured plan must have on every database that measures: the figures of its operations.
fn measures(program: &Program, target: &str, figure: &str) {
    let measured = run(program, target, "6,14", "1", &["--analyze"]);
    let plain = run(program, target, "6,14", "1", &[]);
    assert_eq!(fingerprints(&measured), fingerprints(&plain));
    for plan in plans(&measured) {
        let analyzed = &plan["analyzed"];
        assert!(analyzed["seconds"].as_f64().unwrap() > 0.0, "{plan:#}");
        let operations = analyzed["operations"].as_array().unwrap();
        let has = |one: &Value| one["figures"].as_str().is_some_and(|text| text.contains(figure));
        assert!(operations.iter().any(has), "{plan:#}");
    }
    assert!(plans(&plain).iter().all(|plan| plan["analyzed"].is_null()));
    let shown = program.ok(&["report", "2", "--plan", "6"]);
    assert!(shown.contains("Measured plan of Q6, in a separate execution of "), "{shown}");
}

#[test]
fn a_measured_plan_is_kept_apart_on_postgresql() {
    let (program, server) = (Program::new(), PostgresServer::shared());
    let target = server.fresh_database("tproc_h_analyze").unwrap();
    build(&program, &target);
    measures(&program, &target, "actual rows");
}

#[test]
fn a_measured_plan_is_kept_apart_on_mariadb() {
    let (program, server) = (Program::new(), MariadbServer::shared());
    let target = server.fresh_database("tproc_h_analyze").unwrap();
    build(&program, &target);
    measures(&program, &target, "actual rows");
}

#[test]
fn plans_of_duckdb_do_not_depend_on_literals() {
    let program = Program::with_duckdb();
    let target = "duckdb:h.duckdb";
    build(&program, target);
    measures(&program, target, "actual rows");
    let first = run(&program, target, "1,6,12,17", "1", &[]);
    let file = Library::get().unwrap().connect(&program.path("h.duckdb")).unwrap();
    file.script("ANALYZE").unwrap();
    drop(file);
    let second = run(&program, target, "1,6,12,17", "2", &[]);
    assert_eq!(plans(&first).len(), 4, "{first:#}");
    assert_eq!(fingerprints(&first), fingerprints(&second), "{first:#}\n{second:#}");
}

/// The differences of a kind between two jobs, as (name, A, B).
fn differences(program: &Program, a: &str, b: &str, subject: &str) -> Vec<[String; 3]> {
    let compared = program.json(&["compare", a, b]);
    let all = compared["differences"].as_array().unwrap();
    let of =
        |one: &Value| ["name", "a", "b"].map(|key| one[key].as_str().unwrap_or("-").to_owned());
    all.iter().filter(|one| one["subject"] == subject).map(of).collect()
}

fn texts<const N: usize>(texts: [&str; N]) -> [String; N] {
    texts.map(str::to_owned)
}

#[test]
fn the_degree_of_parallelism_is_that_of_the_plan_on_postgresql() {
    let (program, server) = (Program::new(), PostgresServer::shared());
    let target = server.fresh_database("tproc_h_dop").unwrap();
    let name = target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    build(&program, &target);
    for setting in ["min_parallel_table_scan_size", "parallel_setup_cost", "parallel_tuple_cost"] {
        server.run(&name, &format!("ALTER DATABASE {name} SET {setting} TO 0")).unwrap();
    }
    let serial = run(&program, &target, "6", "1", &["--dop", "1"]);
    let parallel = run(&program, &target, "6", "1", &["--dop", "4"]);
    let gather = |run: &Value| {
        let operations = plans(run)[0]["operations"].as_array().unwrap().clone();
        let gathers = |one: &Value| one["operation"].as_str().unwrap().starts_with("Gather");
        operations.iter().find(|one| gathers(one)).map(|one| one["figures"].to_string())
    };
    assert_eq!(gather(&serial), None, "{serial:#}");
    assert!(gather(&parallel).is_some_and(|figures| figures.contains("workers 3")), "{parallel:#}");
    assert_eq!(differences(&program, "2", "3", "setting"), [texts(["dop", "1", "4"])]);
    assert_eq!(differences(&program, "2", "3", "plan").len(), 1);
    assert!(program.ok(&["report", "3"]).contains("degree of parallelism 4"));
    let wrong = program.run(&["run", &target, "-w", "tproc-h", "--dop", "0"]);
    assert!(wrong.code == 2 && wrong.err.contains("expected a number from 1 to 1024"), "{wrong:?}");
}

#[test]
fn duckdb_keeps_to_its_threads_and_memory() {
    let program = Program::with_duckdb();
    let target = "duckdb:h.duckdb";
    build(&program, target);
    let own = ["--dop", "1", "--engine-memory", "300MiB"];
    let limited = run(&program, target, "1,6", "1", &own);
    run(&program, target, "1,6", "1", &["--dop", "2", "--engine-memory", "1GiB"]);
    let memory = limited["queries"]["engine_memory_bytes"].as_u64().unwrap();
    assert!((1..300 << 20).contains(&memory), "{memory}");
    let given = differences(&program, "2", "3", "setting");
    assert_eq!(given, [texts(["dop", "1", "2"]), texts(["engine-memory", "300MiB", "1GiB"])]);
    let threads = differences(&program, "2", "3", "server_setting");
    assert!(threads.contains(&texts(["threads", "1", "2"])), "{threads:?}");
    assert!(threads.contains(&texts(["memory_limit", "300.0 MiB", "1.0 GiB"])), "{threads:?}");
    let report = program.ok(&["report", "2"]);
    assert!(
        report.contains("engine memory limit 300MiB") && report.contains("engine memory up to")
    );
    let refused = program.run(&["run", "sqlite:h.sqlite", "-w", "tproc-h", "--dop", "2"]);
    let reason = "does not support --dop: SQLite executes a query on one thread";
    assert!(refused.code == 2 && refused.err.contains(reason), "{refused:?}");
}

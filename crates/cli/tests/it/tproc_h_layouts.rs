//! tproc-h with partitioned and with columnar tables: answers, refresh, plans, and what is rejected with the reason.

use serde_json::Value;
use triphammer_testbed::{MariadbServer, PostgresServer};

use crate::program::Program;

const BUILD: [&str; 4] = ["-w", "tproc-h", "--scale", "0.01"];

fn name_of(target: &str) -> String {
    target.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned()
}

/// Builds, runs the power test with its refresh functions, and checks all conditions and answers; gives the document
/// of the run.
fn built_and_run(program: &Program, target: &str, options: &[&str]) -> Value {
    program.ok(&[&["build", target], &BUILD[..], options].concat());
    let again = program.ok(&[&["build", target], &BUILD[..], options].concat());
    assert!(again.contains("already built"), "{again}");
    let ran = program.json(&["run", target, "-w", "tproc-h"]);
    let mut figures = ran["queries"]["figures"].as_array().unwrap().iter();
    let power = figures.find(|figure| figure["name"] == "power").unwrap();
    assert!(power["value"].is_number(), "{power}");
    let checked = program.ok(&["check", target, "-w", "tproc-h"]);
    assert!(checked.contains("all 34 conditions of TPROC-H at 0.01 SF hold"), "{checked}");
    ran
}

/// Rejects a build, and leaves no table behind.
fn rejected(program: &Program, target: &str, options: &[&str], reason: &str) {
    let done = program.run(&[&["build", target], &BUILD[..], options].concat());
    assert!(done.code == 2 && done.err.contains(reason), "{done:?}");
}

/// The operations and figures of the plan of a query, a line for each.
fn plan(run: &Value, query: &str) -> Vec<String> {
    let mut plans = run["queries"]["plans"].as_array().unwrap().iter();
    let plan = plans.find(|plan| plan["query"] == query).unwrap();
    let line = |one: &Value| {
        format!("{} ({})", one["operation"].as_str().unwrap(), one["figures"].as_str().unwrap())
    };
    plan["operations"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn postgresql_partitions_by_month_and_reads_only_the_months_of_a_query() {
    let (program, server) = (Program::new(), PostgresServer::shared());
    let target = server.fresh_database("tproc_h_partition").unwrap();
    let name = name_of(&target);
    let run = built_and_run(&program, &target, &["--partition", "--jobs", "2"]);
    let number = |sql: &str| server.run(&name, sql).unwrap()[0][0].clone().unwrap();
    let of = |table: &str| {
        format!("SELECT count(*) FROM pg_inherits WHERE inhparent = CAST('{table}' AS regclass)")
    };
    assert_eq!((number(&of("orders")), number(&of("lineitem"))), ("84".into(), "84".into()));
    // Q6 reads the lines of a year, Q14 those of a month, Q1 most of them.
    assert!(plan(&run, "q6").iter().any(|line| line.starts_with("Append (inputs 12,")), "{run:#}");
    let month = plan(&run, "q14");
    assert!(
        month.iter().any(|line| line.contains("Seq Scan on lineitem_* lineitem;")),
        "{month:?}"
    );
    assert!(month.iter().all(|line| !line.contains("Append")), "{month:?}");
    let explained = |dates: &str| {
        let sql = format!("EXPLAIN SELECT count(*) FROM lineitem WHERE l_shipdate {dates}");
        let rows = server.run(&name, &sql).unwrap();
        rows.iter().filter(|row| row[0].as_deref().unwrap().contains(" on lineitem_")).count()
    };
    assert_eq!(explained("BETWEEN '1994-02-10' AND '1994-04-20'"), 3);
    assert_eq!(explained("IS NOT NULL"), 84);
    // Partitions are part of their table.
    let schema = run["schema"].as_array().unwrap();
    let facts =
        schema.iter().filter(|fact| fact["table"].as_str().unwrap().starts_with("lineitem"));
    let facts: Vec<(&str, &str)> =
        facts.map(|f| (f["kind"].as_str().unwrap(), f["value"].as_str().unwrap())).collect();
    assert!(facts.contains(&("engine", "partitioned by RANGE (l_shipdate)")), "{facts:?}");
    let bytes = facts.iter().find(|(kind, _)| *kind == "bytes").unwrap().1;
    assert!(facts.len() < 20 && bytes.parse::<u64>().unwrap() > 5_000_000, "{facts:?}");
    // Another seed, other months: the same plans.
    let fingerprint = |seed: &str| {
        let run = ["run", &target, "-w", "tproc-h", "--test", "queries", "--queries", "6,14"];
        let run = program.json(&[&run[..], &["--seed", seed]].concat());
        let plans = run["queries"]["plans"].as_array().unwrap();
        plans.iter().map(|plan| plan["fingerprint"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(fingerprint("5"), fingerprint("6"));
    let other = program.run(&[&["build", &target], &BUILD[..]].concat());
    let why = "partition is true there, but false was requested";
    assert!(other.code == 2 && other.err.contains(why), "{other:?}");
    program.ok(&["drop", &target, "-w", "tproc-h", "--yes"]);
    assert_eq!(number("SELECT count(*) FROM pg_class WHERE relname LIKE 'lineitem%'"), "0");
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn mariadb_partitions_by_month_and_reads_only_the_months_of_a_query() {
    let (program, server) = (Program::new(), MariadbServer::shared());
    let target = server.fresh_database("tproc_h_partition").unwrap();
    let name = name_of(&target);
    let run = built_and_run(&program, &target, &["--partition"]);
    let of = |table: &str| {
        let sql = format!(
            "SELECT COUNT(*) FROM information_schema.partitions \
             WHERE table_schema = DATABASE() AND table_name = '{table}' AND partition_name LIKE 'p199%'"
        );
        server.run(&name, &sql).unwrap()[0][0].clone().unwrap()
    };
    assert_eq!((of("orders"), of("lineitem")), ("84".into(), "84".into()));
    for (query, partitions) in [("q6", "(partitions 12,"), ("q14", "(partitions 1,")] {
        let plan = plan(&run, query);
        let is_pruned =
            |line: &String| line.starts_with("table lineitem;") && line.contains(partitions);
        assert!(plan.iter().any(is_pruned), "{query}: {plan:?}");
    }
    let explained = |dates: &str| {
        let sql =
            format!("EXPLAIN PARTITIONS SELECT COUNT(*) FROM lineitem WHERE l_shipdate {dates}");
        let rows = server.run(&name, &sql).unwrap();
        rows[0][3].as_deref().unwrap().split(',').count()
    };
    assert_eq!(explained("BETWEEN '1994-02-10' AND '1994-04-20'"), 3);
    assert_eq!(explained("IS NOT NULL"), 84);
    // A rebuild goes through a rehearsal with temporary tables.
    program.ok(&[&["build", &target], &BUILD[..], &["--partition", "--replace"]].concat());
    program.ok(&["drop", &target, "-w", "tproc-h", "--yes"]);
    let left = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()";
    assert_eq!(server.run(&name, left).unwrap(), [[Some("0".to_owned())]]);
}

/// Any access method of that name will do: the columns themselves are the extension's own business.
const STAND_IN: &str = "CREATE ACCESS METHOD columnar TYPE TABLE HANDLER heap_tableam_handler";

#[test]
fn postgresql_uses_the_access_method_columnar_where_there_is_one() {
    let (program, server) = (Program::new(), PostgresServer::shared());
    let target = server.fresh_database("tproc_h_columnar").unwrap();
    let name = name_of(&target);
    let lack = "has no table access method `columnar`: install Citus or Hydra";
    rejected(&program, &target, &["--columnar"], lack);
    let tables = "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace \
                  WHERE nspname = 'public'";
    assert_eq!(server.run(&name, tables).unwrap(), [[Some("0".to_owned())]]);
    server.run(&name, STAND_IN).unwrap();
    built_and_run(&program, &target, &["--columnar"]);
    let columnar = "SELECT count(*) FROM pg_class c JOIN pg_am a ON a.oid = relam \
                    WHERE amname = 'columnar' AND relkind = 'r'";
    assert_eq!(server.run(&name, columnar).unwrap(), [[Some("8".to_owned())]]);
}

#[test]
fn layouts_that_cannot_be_are_rejected_with_the_reason_before_anything_is_made() {
    let program = Program::with_duckdb();
    let postgres = PostgresServer::shared().fresh_database("tproc_h_layouts").unwrap();
    let mariadb = MariadbServer::shared().fresh_database("tproc_h_layouts").unwrap();
    for (target, options, reason) in [
        ("sqlite:h.sqlite", &["--partition"][..], "sqlite has no such tables; omit --partition"),
        ("duckdb:h.duckdb", &["--partition"], "duckdb has no such tables; omit --partition"),
        ("duckdb:h.duckdb", &["--columnar"], "DuckDB stores all tables by column anyway; omit"),
        (&postgres, &["--partition", "--foreign-keys"], "so that lineitem cannot refer to it"),
        (&mariadb, &["--partition", "--foreign-keys"], "foreign keys of partitioned tables"),
        (&postgres, &["--columnar", "--partition"], "--columnar and --partition exclude"),
        (&mariadb, &["--columnar"], "has no storage engine ColumnStore: install it"),
        (&mariadb, &["--columnar", "--storage-engine", "RocksDB"], "the engine ColumnStore"),
    ] {
        rejected(&program, target, options, reason);
    }
    assert!(!program.path("h.sqlite").exists() && !program.path("h.duckdb").exists());
}

#[test]
fn a_build_by_a_version_without_an_option_is_one_with_its_default() {
    let program = Program::new();
    let build = [&["build", "sqlite:h.sqlite"], &BUILD[..]].concat();
    program.ok(&build);
    let file = rusqlite::Connection::open(program.path("h.sqlite")).unwrap();
    let forget =
        "DELETE FROM triphammer_build WHERE item IN ('option/partition', 'option/columnar')";
    assert_eq!(file.execute(forget, []).unwrap(), 2);
    drop(file);
    let again = program.ok(&build);
    assert!(again.contains("already built"), "{again}");
}

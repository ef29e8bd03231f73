//! `isolation` on real servers: what each level keeps, what it shows, and that bad input is refused.

use serde_json::Value;
use triphammer_testbed::{Galera, MariadbServer, PostgresOptions, PostgresServer};

use crate::durability::replicated_database;
use crate::program::{Done, Program};

fn document(done: &Done) -> Value {
    serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{}\n{}", done.out, done.err))
}

/// A test of a level, short and with a short control.
fn test(program: &Program, target: &str, more: &[&str]) -> Done {
    let always = ["isolation", target, "--json", "--duration", "4s", "--control", "2s"];
    program.run(&[&always, more].concat())
}

fn kind<'a>(result: &'a Value, level: usize, name: &str) -> &'a Value {
    let kinds = result["levels"][level]["kinds"].as_array().unwrap();
    kinds.iter().find(|kind| kind["kind"] == name).unwrap_or_else(|| panic!("{name}: {result}"))
}

fn verdict<'a>(result: &'a Value, name: &str) -> &'a str {
    kind(result, 0, name)["verdict"].as_str().unwrap()
}

fn postgres() -> String {
    PostgresServer::shared().fresh_database("isolation").unwrap()
}

fn mariadb() -> String {
    MariadbServer::shared().fresh_database("isolation").unwrap()
}

#[test]
fn repeatable_read_of_postgresql_is_snapshot_isolation_and_shows_write_skew() {
    let program = Program::new();
    let done = test(&program, &postgres(), &["--isolation", "repeatable-read"]);
    let result = document(&done);
    assert_eq!(done.code, 0, "{result:#}");
    assert_eq!(result["levels"][0]["promise"], "snapshot-isolation");
    for name in ["lost-update", "G-single", "internal"] {
        assert_eq!(verdict(&result, name), "kept", "{name}");
        assert_eq!(kind(&result, 0, name)["control"], "load", "{name}");
    }
    for name in ["G1a", "G0", "duplicate", "own-write", "incompatible-order", "stale-read"] {
        assert_eq!(verdict(&result, name), "kept", "{name}");
        assert_eq!(kind(&result, 0, name)["control"], "planted", "{name}");
    }
    // Write skew: two transactions, each of which changed what the other had read.
    let skew = kind(&result, 0, "G2-item");
    assert_eq!(skew["verdict"], "allowed");
    let example = &skew["example"];
    let edges: Vec<_> = example["edges"].as_array().unwrap().iter().map(|e| &e["kind"]).collect();
    assert_eq!(edges, ["rw", "rw"]);
    let sql = example["transactions"][0]["statements"][0]["sql"].as_str().unwrap();
    assert!(sql.contains("WHERE id = ") && !sql.contains('$'), "{sql}");
    assert!(result["levels"][0]["price"]["tps"].as_f64().unwrap() > 0.0);
    // What the document says, the report says.
    let report = program.ok(&["report"]);
    assert!(report.contains("kept what it promises (snapshot-isolation)"), "{report}");
    assert!(report.contains("G2-item") && report.contains("-- T1 rw T2"), "{report}");
    let markdown = program.ok(&["report", "--format", "markdown"]);
    assert!(markdown.contains("```sql"), "{markdown}");
}

#[test]
fn read_committed_loses_updates_and_serializable_none() {
    let program = Program::new();
    let target = postgres();
    let expected = ["--isolation", "read-committed", "--expect", "lost-update"];
    let done = test(&program, &target, &expected);
    let result = document(&done);
    assert_eq!(done.code, 0, "{result:#}");
    let lost = kind(&result, 0, "lost-update");
    assert!(lost["count"].as_u64().unwrap() > 0 && lost["verdict"] == "allowed", "{lost}");
    // A reader of the report runs these by hand: two read one version, and both replace it.
    let example = &lost["example"]["transactions"];
    assert_eq!(example.as_array().unwrap().len(), 2);
    let done = test(&program, &target, &["--isolation", "serializable", "--expect", "lost-update"]);
    assert_eq!(
        (done.code, document(&done)["ending"]["flaw"].as_str()),
        (1, Some("not_as_expected"))
    );
    let junit = program.path("isolation.xml");
    let done = test(
        &program,
        &target,
        &["--isolation", "serializable", "--junit", junit.to_str().unwrap()],
    );
    let result = document(&done);
    assert_eq!(done.code, 0, "{result:#}");
    for name in ["lost-update", "G-single", "G2-item", "G2"] {
        assert_eq!(verdict(&result, name), "kept", "{name}: {result:#}");
    }
    let junit = std::fs::read_to_string(junit).unwrap();
    assert!(junit.contains("serializable prevents G2-item"), "{junit}");
    // The tables are the program's own.
    let dropped = program.ok(&["drop", &target, "-w", "isolation", "--yes"]);
    assert!(dropped.contains("triphammer_isolation_list"), "{dropped}");
}

#[test]
fn mariadb_loses_updates_at_its_default_and_says_so_and_none_by_snapshots() {
    let program = Program::new();
    let target = mariadb();
    let done = test(&program, &target, &[]);
    let result = document(&done);
    assert_eq!(done.code, 0, "{result:#}");
    let level = &result["levels"][0];
    assert_eq!(
        (level["level"].as_str(), level["by_name"].as_str()),
        (Some("repeatable-read"), Some("repeatable-read"))
    );
    assert_eq!(level["promise"], "read-committed");
    assert!(kind(&result, 0, "lost-update")["count"].as_u64().unwrap() > 0, "{result:#}");
    let findings = result["findings"].to_string();
    assert!(findings.contains("weaker than its name"), "{findings}");
}

#[test]
fn all_levels_are_compared_and_the_weakest_is_the_control_of_the_others() {
    let program = Program::new();
    let done = test(&program, &postgres(), &["--levels", "all", "--fault", "at=1s terminate"]);
    let result = document(&done);
    assert_eq!(done.code, 0, "{result:#}");
    let mut levels: Vec<_> = result["levels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["level"].as_str().unwrap())
        .collect();
    levels.sort_unstable();
    assert_eq!(levels, ["read-committed", "repeatable-read", "serializable"]);
    assert_eq!(result["control"], Value::Null);
    assert_eq!(result["faults"][0]["succeeded"], true);
    let serializable = (0..3).find(|at| result["levels"][at]["level"] == "serializable").unwrap();
    assert_eq!(kind(&result, serializable, "lost-update")["control"], "load");
}

/// What a replica shows is late, which is measured and no broken promise.
#[test]
fn reads_at_a_replica_are_late_and_their_age_is_measured() {
    let program = Program::new();
    let primary = PostgresServer::start(PostgresOptions::of_primary()).unwrap();
    let standby = PostgresServer::standby(primary.port()).unwrap();
    let target = replicated_database(&primary, &standby, "isolation");
    let nodes = program.path("nodes.toml");
    let file = format!(
        "[[node]]\nname = \"one\"\ntarget = \"{target}\"\n\n\
         [[node]]\nname = \"two\"\nhost = \"127.0.0.1:{}\"\n",
        standby.port()
    );
    std::fs::write(&nodes, file).unwrap();
    // So that the replica is behind whenever something is read there.
    standby.run("postgres", "ALTER SYSTEM SET recovery_min_apply_delay = '200ms'").unwrap();
    standby.run("postgres", "SELECT pg_reload_conf()").unwrap();
    let more = ["--isolation", "repeatable-read", "--nodes", nodes.to_str().unwrap()];
    let done = test(&program, &target, &more);
    let result = document(&done);
    assert_eq!(done.code, 0, "{result:#}");
    let level = &result["levels"][0];
    assert_eq!((verdict(&result, "lost-update"), level["order"].as_str()), ("kept", Some("none")));
    assert_eq!(verdict(&result, "stale-read"), "allowed");
    let staleness = &level["staleness"];
    assert!(staleness["stale"].as_u64() > Some(0), "{staleness}");
    assert!((20.0..60_000.0).contains(&staleness["p50_ms"].as_f64().unwrap()), "{staleness}");
    // A standby cannot be asked for serializable transactions.
    let more = ["--isolation", "serializable", "--nodes", nodes.to_str().unwrap()];
    let done = test(&program, &target, &more);
    assert_eq!(done.code, 2, "{} {}", done.out, done.err);
    assert!(done.err.contains("--route reads=user:primaries"), "{}", done.err);
    let more = [more.as_slice(), &["--route", "reads=user:primaries"]].concat();
    let done = test(&program, &target, &more);
    assert_eq!(done.code, 0, "{} {}", done.out, done.err);
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn a_galera_cluster_loses_updates_and_shows_stale_reads() {
    let program = Program::new();
    let cluster = Galera::start(3).unwrap();
    let target = cluster.nodes[0].fresh_database("isolation").unwrap();
    let nodes = cluster.nodes_file(target.rsplit('/').next().unwrap()).unwrap();
    let done = test(&program, &target, &["--nodes", nodes.to_str().unwrap(), "--rows", "6"]);
    let result = document(&done);
    assert_eq!(done.code, 0, "{result:#}");
    assert!(kind(&result, 0, "lost-update")["count"].as_u64() > Some(0), "{result:#}");
    assert!(result["levels"][0]["staleness"]["stale"].as_u64() > Some(0), "{result:#}");
    assert_eq!(verdict(&result, "duplicate"), "kept");
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn every_level_of_mariadb_keeps_what_it_promises() {
    let program = Program::new();
    let result = document(&test(&program, &mariadb(), &["--levels", "all", "--rows", "6"]));
    assert_eq!(result["ending"]["good"], true, "{result:#}");
    let levels = result["levels"].as_array().unwrap();
    let at = |name: &str| levels.iter().position(|level| level["level"] == name).unwrap();
    let of = at("read-uncommitted");
    assert!(kind(&result, of, "G1a")["count"].as_u64() > Some(0), "{result:#}");
    assert_eq!(kind(&result, of, "monotonic-reads")["count"], 0, "{result:#}");
    assert_eq!(kind(&result, at("read-committed"), "G1a")["verdict"], "kept");
}

#[test]
fn an_embedded_database_keeps_what_it_promises() {
    let program = Program::new();
    let done = test(&program, "sqlite:isolation.sqlite", &[]);
    let result = document(&done);
    assert_eq!(done.code, 0, "{result:#}");
    assert_eq!(result["levels"][0]["promise"], "serializable");
    assert_eq!(verdict(&result, "lost-update"), "kept");
}

#[test]
fn what_cannot_be_tested_is_refused_with_the_reason() {
    let program = Program::new();
    for (args, reason) in [
        (vec!["null:"], "does not store data"),
        (vec!["sqlite:x.sqlite", "--isolation", "read-committed"], "use one of serializable"),
        (vec!["sqlite:x.sqlite", "--levels", "all,snapshot"], "isolation level all"),
        (
            vec!["sqlite:x.sqlite", "--levels", "all", "--isolation", "serializable"],
            "omit --isolation",
        ),
        (vec!["sqlite:x.sqlite", "--expect", "lost-updates"], "unknown anomaly `lost-updates`"),
        (vec!["sqlite:x.sqlite", "--weights", "read"], "expected TYPE=N"),
        (vec!["sqlite:x.sqlite", "--rows", "1"], "from 2 to"),
        (vec![], "a test of isolation needs a database of yours"),
    ] {
        let done = program.run(&[&["isolation"], args.as_slice()].concat());
        assert_eq!(done.code, 2, "{args:?}: {} {}", done.out, done.err);
        assert!(done.err.contains(reason), "{args:?}: {}", done.err);
    }
}

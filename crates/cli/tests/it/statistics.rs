//! `capture` of the statistics that real servers keep about statements.

use serde_json::Value;
use triphammer_testbed::{MariadbOptions, MariadbServer, PostgresOptions, PostgresServer};

use crate::program::Program;
use crate::servers::name_of;

/// Statements that an application sent, one per message: how often, and the SQL for a number.
type Sent = (u32, fn(u32) -> String);

const SENT: [Sent; 7] = [
    (50, |n| format!("SELECT name FROM item WHERE id = {}", n * 7 % 500 + 1)),
    (30, |n| format!("UPDATE item SET price = price + {n}.5 WHERE id = {n}")),
    (20, |n| format!("INSERT INTO sale (id, item, note) VALUES ({}, {n}, 'note {n}')", n + 1000)),
    (15, |n| format!("SELECT count(*) FROM item i WHERE i.id BETWEEN {n} AND {} LIMIT 3", n + 9)),
    (12, |n| format!("SELECT id FROM sale WHERE note = 'note {n}' AND item IN ({n}, 2, 3)")),
    (11, |n| format!("SELECT max(price) FROM item WHERE made >= '2026-01-{:02}'", n % 28 + 1)),
    (10, |n| format!("DELETE FROM sale WHERE id = {}", n + 1000)),
];

/// Sends the statements.
fn send(run: impl Fn(&str)) {
    run("CREATE TABLE item (id int PRIMARY KEY, name varchar(20), price numeric(8, 2), made date)");
    run("CREATE TABLE sale (id bigint PRIMARY KEY, item int, note varchar(30))");
    let rows: Vec<String> = (1..=500)
        .map(|n| format!("({n}, 'item {n}', {n}.25, '2026-01-{:02}')", n % 28 + 1))
        .collect();
    run(&format!("INSERT INTO item VALUES {}", rows.join(", ")));
    run("INSERT INTO sale VALUES (1, 2, 'kept'), (3, 4, 'kept, too')");
    for (times, sql) in SENT {
        (1..=times).for_each(|n| run(&sql(n)));
    }
}

/// Captures from a database that has statistics, and runs what was captured.
fn capture_and_run(target: &str, from: &str, table: &str) {
    let program = Program::new();
    let report = program.json(&["capture", target, "-o", "shop"]);
    assert_eq!(report["from"], from, "{report}");
    let workload = std::fs::read_to_string(program.path("shop/workload.toml")).unwrap();
    let has = |text: &str| assert!(workload.contains(text), "{text}\n{workload}");
    has("each transaction is a single statement");
    has(&format!("id = {{ generator = \"integer\", min = 1, max = 500 }} # guessed: {table}."));
    has("made = { generator = \"date\", min = \"2026-01-01\", max = \"2026-01-28\" } # guessed: ");
    has("new_id = { generator = \"sequence\", after = ");
    if from == "pg_stat_statements" {
        // The rows of the INSERT with two rows have keys of their own; MariaDB keeps the first row only.
        has(", start = 2, step = 2 }");
    }
    has("note = { generator = \"query\", sql = ");
    has("rows = { generator = \"integer\", min = 10, max = 10 } # guessed: a number of rows");
    has("BETWEEN :id AND :id + 99");
    has("weight = 50\n");
    assert!(!workload.contains("note 7"), "values are not in statistics: {workload}");
    let guesses = report["guessed"].as_u64().unwrap();
    assert!(guesses >= 8 && report["distinct_statements"].as_u64() >= Some(7), "{report}");
    let run = ["run", target, "-w", "shop/workload.toml", "--vus", "2", "--transactions", "60"];
    let result = program.json(&run);
    let total = &result["run"]["total"];
    assert_eq!((&total["failed"], &total["committed"]), (&0.into(), &120.into()), "{result}");
    let kinds = |result: &Value| {
        let warnings = result["warnings"].as_array().unwrap();
        warnings.iter().filter(|warning| warning["kind"] == "workload").count()
    };
    assert_eq!(kinds(&result), 1, "{}", result["warnings"]);
    let reviewed: String = workload
        .lines()
        .map(|line| {
            let line = line.split(" # guessed").next().unwrap();
            format!("{line}\n")
        })
        .collect();
    std::fs::write(program.path("reviewed.toml"), reviewed).unwrap();
    let run = ["run", target, "-w", "reviewed.toml", "--vus", "1", "--transactions", "5"];
    assert_eq!(kinds(&program.json(&run)), 0);
    let recording = program.run(&["capture", target, "-o", "a.recording"]);
    assert_eq!(recording.code, 2);
    assert!(recording.err.contains("a recording needs a log"), "{}", recording.err);
}

#[test]
fn the_statistics_of_postgresql_become_a_workload_that_runs() {
    let preload = ("shared_preload_libraries".to_owned(), "pg_stat_statements".to_owned());
    let options = PostgresOptions { settings: vec![preload], ..PostgresOptions::default() };
    let server = PostgresServer::start(options).unwrap();
    let target = server.fresh_database("statistics").unwrap();
    let name = name_of(&target).to_owned();
    let without = Program::new().run(&["capture", &target, "-o", "shop"]);
    assert_eq!(without.code, 2);
    assert!(without.err.contains("CREATE EXTENSION pg_stat_statements"), "{}", without.err);
    server.run(&name, "CREATE EXTENSION pg_stat_statements").unwrap();
    send(|sql| drop(server.run(&name, sql).unwrap()));
    capture_and_run(&target, "pg_stat_statements", "public.item");
}

#[test]
fn the_digests_of_mariadb_become_a_workload_that_runs() {
    let arguments = vec!["--performance-schema=ON".to_owned()];
    let server =
        MariadbServer::start(MariadbOptions { arguments, ..MariadbOptions::default() }).unwrap();
    let target = server.fresh_database("statistics").unwrap();
    let name = name_of(&target).to_owned();
    send(|sql| drop(server.run(&name, sql).unwrap()));
    capture_and_run(&target, "performance_schema", "`item`");
}

#[test]
fn a_database_without_statistics_is_rejected() {
    let program = Program::new();
    for (source, message) in [
        ("sqlite:none.sqlite", "has no statistics of statements that can be captured"),
        ("postgres://nobody@127.0.0.1:1/none", "connecting to"),
        ("nosuch://host/db", "nosuch"),
    ] {
        let done = program.run(&["capture", source, "-o", "shop"]);
        assert_eq!(done.code, 2, "{source}: {}", done.err);
        assert!(done.err.contains(message), "{source}: {}", done.err);
        assert!(!program.path("shop/workload.toml").exists());
    }
    assert!(!program.path("none.sqlite").exists(), "nothing is created");
}

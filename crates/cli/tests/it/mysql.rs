//! Tests specific to MySQL and MariaDB.

use triphammer_testbed::{MariadbOptions, MariadbServer};

use crate::odbc::connection;
use crate::program::Program;

#[test]
fn a_database_is_created_and_tpc_b_runs_in_it() {
    let program = Program::new();
    let server = MariadbServer::shared();
    let target = server.url("made_by_build");
    program.ok(&["build", &target, "-w", "tpc-b", "--create-database"]);
    program.ok(&["run", &target, "-w", "tpc-b", "--vus", "4", "--transactions", "200"]);
    program.ok(&["check", &target, "-w", "tpc-b"]);
    let run = |sql: &str| server.run("made_by_build", sql).unwrap();
    // A drop removes tables of every kind, and does not begin where something else stands for one.
    if server.is_mariadb() {
        run("ALTER TABLE pgbench_accounts ADD SYSTEM VERSIONING");
    }
    run("RENAME TABLE pgbench_tellers TO other; CREATE VIEW pgbench_tellers AS SELECT 1 AS a");
    let refused = program.run(&["drop", &target, "-w", "tpc-b", "--yes"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("nothing was dropped: view pgbench_tellers"), "{}", refused.err);
    run("DROP VIEW pgbench_tellers; RENAME TABLE other TO pgbench_tellers");
    program.ok(&["drop", &target, "-w", "tpc-b", "--yes"]);
    let left =
        run("SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE()");
    assert_eq!(left, [[Some("0".to_owned())]]);
}

#[test]
fn a_build_that_was_interrupted_is_compared_with_what_exists() {
    let program = Program::new();
    let server = MariadbServer::shared();
    let target = server.fresh_database("compared").unwrap();
    let database = target.rsplit('/').next().unwrap();
    program.ok(&["build", &target, "-w", "kv", "--scale", "0.01"]);
    let resume = "UPDATE triphammer_build SET value = 'building' WHERE item = 'state'";
    server.run(database, resume).unwrap();
    program.ok(&["build", &target, "-w", "kv", "--scale", "0.01"]);
    server.run(database, resume).unwrap();
    server.run(database, "ALTER TABLE kv_store DROP PRIMARY KEY").unwrap();
    // However many tables others have there.
    let others: String =
        (0..250).map(|n| format!("CREATE TABLE a{n} (a int) ENGINE = MEMORY;")).collect();
    server.run(database, &others).unwrap();
    let refused = program.run(&["build", &target, "-w", "kv", "--scale", "0.01"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(
        refused.err.contains("the build lacks primary key (id) of kv_store"),
        "{}",
        refused.err
    );
}

#[test]
fn a_build_says_that_the_server_takes_no_rows_of_clients() {
    let options = MariadbOptions { local_infile: false, ..Default::default() };
    let server = MariadbServer::start(options).unwrap();
    // It demands primary keys, too.
    let demand =
        if server.is_mariadb() { "innodb_force_primary_key" } else { "sql_require_primary_key" };
    server.run("mysql", &format!("SET GLOBAL {demand} = ON")).unwrap();
    let program = Program::new();
    let target = server.fresh_database("inserts").unwrap();
    let done = program.run(&["build", &target, "-w", "tpc-b"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("forbids LOAD DATA LOCAL"), "{}", done.err);
    assert!(done.err.contains("keys are created with the tables"), "{}", done.err);
    program.ok(&["run", &target, "-w", "tpc-b", "--vus", "2", "--transactions", "20"]);
    program.ok(&["check", &target, "-w", "tpc-b"]);
}

/// No counter of these servers has reads and single updates in autocommit.
#[test]
fn a_servers_figure_that_lacks_statements_in_autocommit_is_explained() {
    let server = MariadbServer::start(MariadbOptions::default()).unwrap();
    let url = server.fresh_database("counted").unwrap();
    let mut program = Program::new();
    program.set("TRIPHAMMER_PASSWORD", server.password());
    program.ok(&["build", &url, "-w", "kv", "--scale", "0.003"]);
    program.ok(&["build", &url, "-w", "tpc-b"]);
    let warned = |target: &str, load: &[&str]| -> Vec<String> {
        let timed = ["--vus", "2", "--rampup", "0s", "--duration", "2s"];
        let result = program.json(&[&["run", target], load, &timed].concat());
        let of_count =
            |w: &&serde_json::Value| w["kind"].as_str().unwrap().starts_with("server_counter");
        let warnings = result["warnings"].as_array().unwrap().iter().filter(of_count);
        warnings.map(|w| w["text"].as_str().unwrap().to_owned()).collect()
    };
    let mut targets = vec![url.clone()];
    if server.is_mariadb() {
        targets.push(connection("MariaDB Unicode", "Server", &url));
    }
    for target in &targets {
        for mix in ["read=1", "update=1", "read=9,read-modify-write=1"] {
            let texts = warned(target, &["-w", "kv", "--mix", mix]);
            let [text] = &texts[..] else { panic!("{target} {mix}: {texts:?}") };
            assert!(text.starts_with("TPS (server) is too low"), "{text}");
            assert!(text.contains("no statement that commits itself"), "{text}");
        }
        assert_eq!(warned(target, &["-w", "tpc-b"]), [""; 0], "{target}");
    }
}

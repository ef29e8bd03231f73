//! Tests specific to MySQL and MariaDB.

use triphammer_testbed::{MariadbOptions, MariadbServer};

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

//! Tests specific to MySQL and MariaDB.

use triphammer_testbed::{MariadbOptions, MariadbServer};

use crate::program::Program;

#[test]
fn a_database_is_created_and_tpc_b_runs_in_it() {
    let program = Program::new();
    let target = MariadbServer::shared().url("made_by_build");
    program.ok(&["build", &target, "-w", "tpc-b", "--create-database"]);
    program.ok(&["run", &target, "-w", "tpc-b", "--vus", "4", "--transactions", "200"]);
    program.ok(&["check", &target, "-w", "tpc-b"]);
    program.ok(&["drop", &target, "-w", "tpc-b", "--yes"]);
}

#[test]
fn a_build_says_that_the_server_takes_no_rows_of_clients() {
    let options = MariadbOptions { local_infile: false, ..Default::default() };
    let server = MariadbServer::start(options).unwrap();
    let program = Program::new();
    let target = server.fresh_database("inserts").unwrap();
    let done = program.run(&["build", &target, "-w", "tpc-b"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("forbids LOAD DATA LOCAL"), "{}", done.err);
    program.ok(&["check", &target, "-w", "tpc-b"]);
}

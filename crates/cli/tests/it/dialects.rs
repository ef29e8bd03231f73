//! Dialect-specific parts of a build: options, and scripts that were already run.

use triphammer_testbed::{MariadbServer, PostgresServer};

use crate::program::Program;

/// The message of a rejected command.
fn refusal(program: &Program, arguments: &[&str]) -> String {
    let done = program.run(arguments);
    assert_eq!(done.code, 2, "{}", done.err);
    done.err
}

#[test]
fn options_of_a_dialect_are_built_recorded_and_shown() {
    let program = Program::new();
    let server = MariadbServer::shared();
    let target = server.fresh_database("options").unwrap();
    let name = target.rsplit('/').next().unwrap();
    let build = ["build", &target, "--partitions", "4", "--storage-engine=innodb", "--history-key"];
    program.ok(&build);
    let create = server.run(name, "SHOW CREATE TABLE order_line").unwrap()[0][1].clone().unwrap();
    assert!(create.contains("PARTITION BY HASH") && create.contains("PARTITIONS 4"), "{create}");
    let keys = "SHOW KEYS FROM history WHERE Key_name = 'PRIMARY'";
    assert_eq!(server.run(name, keys).unwrap().len(), 1);
    assert!(program.ok(&build).contains("already built"));
    // The engine in the database's own spelling counts as equal.
    program.ok(&["build", &target, "--partitions", "4", "--history-key"]);
    let message = refusal(&program, &["build", &target, "--history-key"]);
    assert!(message.contains("partitions is 4 there, but 1 was requested"), "{message}");
    let run = program.json(&["run", &target, "--vus", "2", "--transactions", "50"]);
    assert_eq!(run["workload"]["facts"]["partitions"], "4");
    assert!(program.ok(&["check", &target]).contains("all 17 conditions"));
}

#[test]
fn options_that_cannot_be_are_refused_before_anything_is_made() {
    let program = Program::new();
    let target = MariadbServer::shared().fresh_database("refused").unwrap();
    let postgres = PostgresServer::shared().fresh_database("refused").unwrap();
    for (target, arguments, message) in [
        (&target, &["--partitions", "0"][..], "from 1 to 1024, got `0`"),
        (&target, &["--storage-engine", "MyISAM"], "one of InnoDB, RocksDB, NDBCluster"),
        (&target, &["--partitions", "2", "--foreign-keys"], "exclude each other"),
        (&postgres, &["--partitions", "2"], "--partitions is an option of mysql, not of postgres"),
    ] {
        let said = refusal(&program, &[&["build", target], arguments].concat());
        assert!(said.contains(message), "{said}");
    }
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn a_build_that_was_killed_after_a_schema_change_and_before_its_record_is_resumed() {
    let program = Program::new();
    let server = MariadbServer::shared();
    let target = server.fresh_database("schema").unwrap();
    let name = target.rsplit('/').next().unwrap();
    let build = ["build", &target, "--foreign-keys", "--history-key"];
    program.ok(&build);
    let forget = "DELETE FROM triphammer_build WHERE item IN ('step/create.item', 'step/key.orders', \
                  'step/history_key.history', 'step/index.customer_name', 'step/procedure.payment', \
                  'step/foreign_key.new_order'); \
                  UPDATE triphammer_build SET value = 'building' WHERE item = 'state'";
    server.run(name, forget).unwrap();
    assert!(program.ok(&build).contains("resumed"));
    assert!(program.ok(&["check", &target]).contains("all 36 conditions"));
}

//! `drop` and `build --replace` take everything or nothing.

use triphammer_core::clock::Clock;

use crate::holder::Holder;
use crate::program::Program;
use crate::servers::{Mariadb, Postgres, Product, Site, name_of};

/// The workload of tests that do not depend on it: its build is small.
const BUILD: [&str; 2] = ["-w", "tpc-b"];

/// A built schema with an obstacle to its removal.
struct Blocked {
    program: Program,
    site: &'static Site,
    target: String,
}

impl Blocked {
    fn new(product: Product, obstacle: &str) -> Self {
        let (program, site) = (Program::new(), Site::shared(product));
        let target = site.fresh_database();
        program.ok(&[&["build", &target], &BUILD[..]].concat());
        site.run(name_of(&target), obstacle);
        Self { program, site, target }
    }

    /// All tables exist with their rows, the record and the procedures.
    fn is_untouched(&self) {
        let checked = self.program.ok(&["check", &self.target]);
        assert!(checked.contains("all 8 conditions"), "{checked}");
    }

    fn refuses(&self, args: &[&str], words: &str) {
        let clock = Clock::start();
        let done = loop {
            let done = self.program.run(&[&[args[0], &self.target], &args[1..]].concat());
            // The server has not noticed yet that the command before has ended.
            if !done.err.contains("is running at") || clock.now().second() > 20 {
                break done;
            }
        };
        assert_eq!(done.code, 2, "{args:?}: {}", done.err);
        assert!(done.err.contains(words), "{args:?}: {}", done.err);
    }

    fn refuses_all(&self, words: &str) {
        self.refuses(&["drop", "--yes"], words);
        self.refuses(&["drop", "--yes", "--force"], words);
        self.refuses(&[&["build", "--replace"], &BUILD[..]].concat(), words);
        self.refuses(&[&["build", "--replace", "--scale", "2"], &BUILD[..]].concat(), words);
        self.is_untouched();
    }

    /// Without the obstacle, everything is dropped.
    fn goes_without(self, removal: &str) {
        self.site.run(name_of(&self.target), removal);
        let run = ["run", &self.target, "--vus", "2", "--transactions", "20", "--rampup", "0s"];
        self.program.ok(&run);
        self.program.ok(&[&["build", &self.target, "--replace"], &BUILD[..]].concat());
        self.is_untouched();
        assert!(self.program.ok(&["drop", &self.target, "--yes"]).contains("dropped"));
    }
}

#[test]
fn a_view_on_postgres_costs_no_table() {
    let blocked = Blocked::new(Postgres, "CREATE VIEW v AS SELECT * FROM pgbench_branches");
    blocked.refuses_all("nothing was dropped");
    blocked.goes_without("DROP VIEW v");
}

#[test]
fn a_foreign_key_on_postgres_costs_no_table() {
    let blocked =
        Blocked::new(Postgres, "CREATE TABLE theirs (i INT REFERENCES pgbench_accounts (aid))");
    blocked.refuses_all("nothing was dropped");
    blocked.goes_without("DROP TABLE theirs");
}

#[test]
fn a_view_a_trigger_or_a_foreign_key_on_mariadb_costs_no_table() {
    let none = "SELECT 1";
    let blocked = Blocked::new(Mariadb, none);
    for (make, words, removal) in [
        ("CREATE VIEW v AS SELECT bid FROM pgbench_branches", "view", "DROP VIEW v"),
        (
            "CREATE TABLE theirs (i INT, FOREIGN KEY theirs_fk (i) REFERENCES pgbench_accounts (aid)) ENGINE=InnoDB",
            "foreign key",
            "DROP TABLE theirs",
        ),
        (
            "CREATE TRIGGER tg AFTER INSERT ON pgbench_history FOR EACH ROW SET @n = 1",
            "trigger tg",
            "DROP TRIGGER tg",
        ),
    ] {
        blocked.site.run(name_of(&blocked.target), make);
        blocked.refuses_all("nothing was dropped");
        blocked.refuses(&["drop", "--yes"], words);
        blocked.site.run(name_of(&blocked.target), removal);
    }
    blocked.goes_without(none);
}

#[test]
#[ignore = "slow: tools/test-matrix.py slow"]
fn packets_too_small_for_a_build_cost_no_table() {
    let mut site = Site::start(Mariadb, 100);
    let program = Program::new();
    let target = site.fresh_database();
    program.ok(&["build", &target]);
    for bytes in ["1024", "65536"] {
        site.run(name_of(&target), &format!("SET GLOBAL max_allowed_packet = {bytes}"));
        let done = program.run(&["build", &target, "--replace"]);
        assert_eq!(done.code, 2, "{}", done.err);
        assert!(done.err.contains("max_allowed_packet"), "{}", done.err);
        site.run(name_of(&target), "SET GLOBAL max_allowed_packet = 16777216");
        assert!(program.ok(&["check", &target]).contains("all 36 conditions"));
    }
    let _ = site.server();
}

/// The client is killed while the server waits for a table in the middle of the drop.
#[test]
fn a_drop_that_is_killed_half_way_costs_no_table() {
    let target = Site::shared(Postgres).fresh_database();
    let program = Program::new();
    program.ok(&[&["build", &target], &BUILD[..]].concat());
    let lock = "LOCK TABLE pgbench_branches IN ACCESS SHARE MODE";
    let mut holder = Holder::of(Site::shared(Postgres), &target, lock);
    let mut dropping = program.start(&["drop", &target, "--yes"]);
    holder.wait_for_waiting(&mut dropping, 1);
    dropping.kill().unwrap();
    dropping.wait().unwrap();
    holder.release();
    holder.wait_for_none_waiting();
    assert!(program.ok(&["check", &target]).contains("all 8 conditions"));
}

#[test]
fn a_sqlite_file_that_somebody_reads_keeps_all_its_tables() {
    let program = Program::new();
    program.ok(&[&["build", "sqlite:db"], &BUILD[..]].concat());
    let reader = rusqlite::Connection::open(program.path("db")).unwrap();
    reader.execute_batch("BEGIN IMMEDIATE").unwrap();
    let again = [&["build", "sqlite:db", "--replace"], &BUILD[..]].concat();
    for args in [&["drop", "sqlite:db", "--yes"][..], &again] {
        assert_eq!(program.run(args).code, 2);
    }
    reader.execute_batch("ROLLBACK").unwrap();
    assert!(program.ok(&["check", "sqlite:db"]).contains("all 8 conditions"));
    program.ok(&again);
    assert!(program.ok(&["check", "sqlite:db"]).contains("all 8 conditions"));
}

//! DuckDB: the transactional workloads from build to drop, and a file that another process has.

use triphammer_duckdb::Library;

use crate::program::Program;

/// They change the same rows, and one of the two fails each time: all succeed by retries.
const TWO_USERS: [&str; 6] = ["--vus", "2", "--retries", "50", "--require", "failures == 0"];

#[test]
fn tproc_c_is_built_run_checked_and_dropped() {
    let program = Program::with_duckdb();
    let target = "duckdb:c.duckdb";
    program.ok(&["build", target, "--scale", "1"]);
    let ran = program.ok(&[&["run", target, "--transactions", "20"], &TWO_USERS[..]].concat());
    assert!(ran.contains("verified: the database counts the same"), "{ran}");
    assert!(program.ok(&["check", target]).contains("all 17 conditions"));
    assert!(program.ok(&["drop", target, "--yes"]).contains("order_line"));
}

#[test]
fn tpc_b_is_built_run_checked_and_dropped() {
    let program = Program::with_duckdb();
    let target = "duckdb:b.duckdb";
    program.ok(&["build", target, "-w", "tpc-b", "--scale", "1"]);
    let run = ["run", target, "-w", "tpc-b", "--transactions", "40"];
    let ran = program.ok(&[&run, &TWO_USERS[..]].concat());
    assert!(ran.contains("verified"), "{ran}");
    let checked = program.ok(&["check", target, "-w", "tpc-b"]);
    assert!(checked.contains("hold"), "{checked}");
    assert!(program.ok(&["drop", target, "-w", "tpc-b", "--yes"]).contains("pgbench_accounts"));
}

#[test]
fn tables_of_another_program_are_used_and_texts_of_its_own_are_recognised() {
    let program = Program::with_duckdb();
    let target = "duckdb:h.duckdb";
    program.ok(&["build", target, "-w", "tproc-h", "--scale", "0.01"]);
    let file = program.path("h.duckdb");
    let change = |sql: &str| Library::get().unwrap().connect(&file).unwrap().script(sql).unwrap();
    change("DROP TABLE triphammer_build");
    let check = ["check", target, "-w", "tproc-h"];
    let checked = program.ok(&check);
    assert!(checked.contains("hold") && !checked.contains("were not compared"), "{checked}");
    let address = |text: &str| {
        change(&format!("UPDATE supplier SET s_address = '{text}' WHERE s_suppkey = 1"));
    };
    // With the other texts of `CALL dbgen`, these answers would be those of DuckDB.
    address("sdrGnXCDRcfriBvY0KL,ipCanOTyK t NN1");
    let checked = program.run(&check);
    let texts = "the texts of the tables are those of DuckDB's `CALL dbgen`: answers that depend";
    assert!(checked.out.contains(texts), "{}", checked.out);
    assert!(checked.out.contains("VIOLATED  Q13 ") && !checked.out.contains("VIOLATED  Q1 "));
    address("elsewhere");
    let checked = program.ok(&check);
    assert!(checked.contains("no answers were compared: the tables have texts of neither"));
    assert!(checked.contains("all 12 conditions of TPROC-H at 0.01 SF hold"), "{checked}");
    let run = ["run", target, "-w", "tproc-h", "--queries", "1,6"];
    assert!(program.ok(&run).contains("Q6"), "queries run on such tables");
}

#[test]
fn a_file_that_another_process_has_open_is_not_available() {
    let program = Program::with_duckdb();
    let _open = Library::get().unwrap().connect(&program.path("a.duckdb")).unwrap();
    let done = program.run(&["check", "duckdb:a.duckdb"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("another process has the database open"), "{}", done.err);
}

#[test]
fn a_missing_library_is_named_with_the_command_that_fetches_it() {
    let mut program = Program::new();
    let done = program.run(&["build", "duckdb:a.duckdb"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("run: npm install --prefix"), "{}", done.err);
    program.set("TRIPHAMMER_DUCKDB", "gone.so");
    let done = program.run(&["build", "duckdb:a.duckdb"]);
    assert!(done.code == 2 && done.err.contains("gone.so"), "{done:?}");
    assert!(!program.path("a.duckdb").exists());
}

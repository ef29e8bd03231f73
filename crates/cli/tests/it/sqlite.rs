//! The default SQLite file, from an empty directory to a report.

use crate::program::{Messages, Program, finish, has_thread, signal, wait_until};

#[test]
fn an_empty_folder_becomes_a_result_and_everything_can_be_asked_again() {
    let program = Program::new();
    let done = program.run(&["run", "--rampup", "1s", "--duration", "2s"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("building TPROC-C with 1 warehouse at sqlite"), "{}", done.err);
    let text = done.out;
    let nopm = text.find("NOPM").unwrap();
    assert!(nopm < text.find("TPM (client)").unwrap(), "NOPM comes first");
    assert!(text.contains("verified: the database counts the same"), "{text}");
    let check = program.ok(&["check"]);
    assert!(check.contains("all 17 conditions"), "{check}");
    let last = text.trim_end().lines().last().unwrap();
    assert!(last.starts_with("Job 1 · triphammer report 1"), "{text}");
    assert!(text.lines().count() <= 23, "it fits a terminal: {text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(program.ok(&["report", "1"]).contains("Whole run"), "report has all of it");
    for next in ["triphammer serve", "build postgres://", "--create-database"] {
        assert!(done.err.contains(next), "{next}: {}", done.err);
    }
    assert!(program.ok(&["report", "1", "--format", "markdown"]).starts_with('#'));
    assert!(program.ok(&["jobs"]).contains("NOPM"));
    let dropped = program.ok(&["drop", "--yes"]);
    assert!(dropped.contains("order_line"), "{dropped}");
    let again = program.run(&["check"]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("build it first"), "{}", again.err);
}

#[test]
fn the_json_of_a_run_is_valid_by_the_published_schema() {
    let program = Program::new();
    let result = program.json(&["run", "null:?service=1ms", "--transactions", "20", "--vus", "2"]);
    crate::schema::valid(&result, "RunResult");
    for figures in ["run", "window"] {
        let types = result[figures]["types"].as_array().unwrap();
        assert_eq!(types.len(), 5, "{figures} by type");
        assert!(types[0]["committed"].as_u64().unwrap() > 0);
    }
}

#[test]
fn a_build_is_not_repeated_and_not_mixed_with_another() {
    let program = Program::new();
    program.ok(&["build", "sqlite:a.db"]);
    assert!(program.ok(&["build", "sqlite:a.db"]).contains("already built"));
    let other = program.run(&["build", "sqlite:a.db", "--scale", "2"]);
    assert_eq!(other.code, 2);
    assert!(other.err.contains("scale is 1 there, but 2 was requested"), "{}", other.err);
    assert!(program.ok(&["build", "sqlite:a.db", "--seed", "2", "--replace"]).starts_with("built"));
    assert!(program.ok(&["check", "sqlite:a.db"]).contains("hold"));
}

#[test]
fn a_build_killed_in_the_middle_is_resumed_to_the_same_rows() {
    let program = Program::new();
    program.ok(&["build", "sqlite:whole.db", "--scale", "2"]);
    let mut child = program.start(&["build", "sqlite:killed.db", "--scale", "2"]);
    let loaded = "SELECT count(*) FROM triphammer_build WHERE item LIKE 'part/warehouse%'";
    wait_until(&mut child, "warehouses", || program.number("killed.db", loaded) > 0);
    signal(&child, "KILL");
    assert!(!child.wait().unwrap().success());
    let run = program.run(&["run", "sqlite:killed.db", "--transactions", "1"]);
    assert!(run.code == 2 && run.err.contains("was interrupted"), "{}", run.err);
    let resumed = program.ok(&["build", "sqlite:killed.db", "--scale", "2"]);
    assert!(!resumed.contains("already built"), "{resumed}");
    assert!(program.ok(&["check", "sqlite:killed.db"]).contains("all 36 conditions"));
    assert_same_rows(&program, "whole.db", "killed.db");
}

/// Compares every table of two databases, row by row.
fn assert_same_rows(program: &Program, one: &str, other: &str) {
    let connection = rusqlite::Connection::open(program.path(one)).unwrap();
    let path = program.path(other);
    connection.execute("ATTACH ?1 AS other", [path.to_str().unwrap()]).unwrap();
    for table in [
        "item",
        "warehouse",
        "district",
        "customer",
        "history",
        "stock",
        "orders",
        "order_line",
        "new_order",
    ] {
        let sql = format!(
            "SELECT (SELECT count(*) FROM main.{table}), (SELECT count(*) FROM other.{table}),
             (SELECT count(*) FROM (SELECT * FROM main.{table} EXCEPT SELECT * FROM other.{table}))"
        );
        let (mine, theirs, differing): (i64, i64, i64) =
            connection.query_row(&sql, [], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?))).unwrap();
        assert_eq!((mine, differing), (theirs, 0), "{table}");
    }
}

#[test]
fn somebody_elses_tables_survive_everything() {
    let program = Program::new();
    let connection = rusqlite::Connection::open(program.path("theirs.db")).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE customer (name TEXT); INSERT INTO customer VALUES ('precious');",
        )
        .unwrap();
    drop(connection);
    for args in [
        &["build", "sqlite:theirs.db"][..],
        &["build", "sqlite:theirs.db", "--replace"],
        &["drop", "sqlite:theirs.db", "--yes"],
        &["run", "sqlite:theirs.db"],
    ] {
        let done = program.run(args);
        assert_eq!(done.code, 2, "{args:?} {}", done.err);
        assert!(done.err.contains("customer"), "{args:?} {}", done.err);
    }
    let connection = rusqlite::Connection::open(program.path("theirs.db")).unwrap();
    let name: String = connection.query_row("SELECT name FROM customer", [], |r| r.get(0)).unwrap();
    assert_eq!(name, "precious");
}

#[test]
fn ctrl_c_drains_stores_and_ends_with_130() {
    let program = Program::new();
    let mut child = program.start(&[
        "run",
        "null:?service=2ms",
        "--rampup",
        "1s",
        "--duration",
        "60s",
        "--vus",
        "2",
    ]);
    program.wait_for_seconds(3, &mut child);
    signal(&child, "INT");
    let done = finish(child);
    assert_eq!(done.code, 130, "{}", done.err);
    assert!(done.out.contains("interrupted"), "{}", done.out);
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("0 in flight"), "{report}");
    assert!(program.ok(&["jobs"]).contains("interrupted"));
}

#[test]
fn ctrl_c_twice_gives_up_what_is_in_flight() {
    let program = Program::new();
    let mut child = program.start(&[
        "run",
        "null:?service=400ms",
        "--rampup",
        "0s",
        "--duration",
        "600s",
        "--vus",
        "3",
        "--connect-timeout",
        "60s",
        // About thirty calls: a transaction of 12 s. To connect takes as many.
        "--mix",
        "1,0,0,0,0",
        "--mode",
        "statements",
        "--progress",
        "1s",
    ]);
    let mut told = Messages::by(&mut child);
    // The users begin with the window; after two seconds each is in its first transaction.
    told.wait_for("progress: 2s");
    signal(&child, "INT");
    told.wait_for("draining");
    signal(&child, "INT");
    let done = finish(child);
    assert_eq!(done.code, 130, "{}", done.err);
    let report = program.ok(&["report", "last"]);
    assert!(report.contains("3 transactions in flight"), "{report}");
    assert!(report.contains("aborted"), "{report}");
}

#[test]
fn ctrl_c_while_users_connect_is_an_interruption_and_no_failure() {
    let program = Program::new();
    // 8 in parallel: half a minute.
    let slow = ["run", "null:?connect=1s", "--vus", "240", "--threads", "1"];
    let mut child = program.start(&slow);
    let process = child.id();
    wait_until(&mut child, "users", || has_thread(process, "worker 0"));
    signal(&child, "INT");
    let done = finish(child);
    assert_eq!(done.code, 130, "{}", done.err);
    assert!(done.err.contains("interrupted while connecting"), "{}", done.err);
    assert!(program.ok(&["jobs"]).contains("interrupted"));
}

#[test]
fn settings_come_from_flags_before_environment_before_job_file_before_defaults() {
    let mut program = Program::new();
    std::fs::write(
        program.path("job.toml"),
        "target = 'null:'\n[run]\nvus = 3\nseed = 9\nretries = 4\n",
    )
    .unwrap();
    program.set("TRIPHAMMER_SEED", "8");
    program.set("TRIPHAMMER_VUS", "5");
    let shown = program.ok(&["run", "-f", "job.toml", "--show-spec", "--vus", "6"]);
    let line = |name: &str| -> Vec<&str> {
        let line = shown.lines().find(|l| l.starts_with(&format!("{name} "))).expect(name);
        line.splitn(3, char::is_whitespace).map(str::trim).collect::<Vec<_>>()
    };
    assert!(line("vus").join(" ").contains("6") && line("vus").join(" ").contains("command line"));
    assert!(line("seed").join(" ").contains("8") && line("seed").join(" ").contains("environment"));
    assert!(line("retries").join(" ").contains("job file job.toml"));
    assert!(line("load").join(" ").contains("default"));
}

#[test]
fn a_read_only_folder_is_said() {
    let program = Program::new();
    if program.run(&["build", "sqlite:/proc/a.db"]).code != 2 {
        panic!("nobody can build in /proc");
    }
    let done = program.run(&["build", "sqlite:/proc/a.db"]);
    assert!(done.err.contains("/proc/a.db"), "{}", done.err);
    assert!(program.folder().exists());
}

#[test]
fn the_list_of_jobs_agrees_with_exit_codes() {
    let program = Program::new();
    let bank = "sqlite:bank.db";
    program.ok(&["build", bank, "-w", "tpc-b"]);
    program.ok(&["run", bank, "--transactions", "5"]);
    let tamper = "UPDATE pgbench_branches SET bbalance = bbalance + 1";
    let bad = [
        (
            &["run", bank, "--transactions", "5", "--require", "tps > 900M"][..],
            "requirements_failed",
        ),
        (&["run", "null:?fail=constraint:100%", "--vus", "1", "--transactions", "5"], ""),
        (
            &["drill", "sqlite:d.db", "--duration", "1s", "--fault", "at=0.2s cmd=false"],
            "fault_missing",
        ),
        (&["check", bank], "conditions_violated"),
    ];
    let mut codes = vec![0, 0];
    for (args, flaw) in bad {
        if args[0] == "check" {
            let file = rusqlite::Connection::open(program.path("bank.db")).unwrap();
            file.execute(tamper, []).unwrap();
        }
        let done = program.run(args);
        assert_eq!(done.code, 1, "{args:?}: {}{}", done.out, done.err);
        codes.push(done.code);
        let jobs = program.json(&["jobs", "--limit", "1"]);
        let ending = &jobs[0]["ending"];
        assert!(flaw.is_empty() || ending["flaw"] == flaw, "{args:?}: {ending}");
        let line = program.ok(&["jobs", "--limit", "1"]);
        assert!(!line.contains("complete"), "{line}");
    }
    let jobs = program.json(&["jobs"]);
    let listed: Vec<bool> =
        jobs.as_array().unwrap().iter().rev().map(|job| job["ending"]["good"] == true).collect();
    assert_eq!(listed, codes.iter().map(|code| *code == 0).collect::<Vec<_>>(), "{jobs}");
}

#[test]
fn the_workload_is_the_one_that_was_built() {
    let program = Program::new();
    let bank = "sqlite:bank.db";
    program.ok(&["build", bank, "-w", "tpc-b"]);
    assert!(program.ok(&["check", bank]).contains("conditions"));
    let run = program.json(&["run", bank, "--transactions", "5"]);
    assert_eq!(run["workload"]["name"], "tpc-b");
    let spec = program.ok(&["run", bank, "--show-spec"]);
    let line = spec.lines().find(|line| line.contains("tpc-b")).unwrap_or_default();
    assert!(line.contains("workload") && line.contains("build record"), "{spec}");
    program.ok(&["build", bank, "-w", "kv", "--scale", "0.001"]);
    let refused = program.run(&["drop", bank, "--yes"]);
    assert_eq!(refused.code, 2, "{}", refused.out);
    assert!(refused.err.contains("kv, tpc-b; choose one of them with -w"), "{}", refused.err);
    program.ok(&["drop", bank, "-w", "kv", "--yes"]);
    assert!(program.ok(&["drop", bank, "--yes"]).contains("pgbench_branches"));
}

#[test]
fn the_last_job_is_the_one_that_the_command_can_use() {
    let program = Program::new();
    for label in ["a", "b"] {
        program.ok(&[
            "run",
            "null:?service=1ms",
            "--vus",
            "1",
            "--transactions",
            "5",
            "--label",
            label,
        ]);
    }
    program.ok(&["build", "sqlite:bank.db", "-w", "tpc-b"]);
    assert!(program.ok(&["report"]).contains("built"), "no argument means the last job");
    let compared = program.json(&["compare", "a", "last"]);
    assert_eq!(compared["b"]["runs"][0]["job"], 2, "{compared}");
}

//! Lost output leads to exit code 2; a run whose terminal hangs up is stored; the file of another
//! program is not used as a job store.

use std::fs::OpenOptions;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::program::{Done, Program, finish, signal};

/// Runs with a stdout that accepts nothing.
fn into_full(program: &Program, args: &[&str]) -> Done {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    finish(program.command(args).stdout(full).spawn().unwrap())
}

/// Runs in a shell that redirects the program's files.
fn by_shell(program: &Program, script: &str, args: &[&str]) -> Child {
    let mut shell = program.command(&[]);
    let path = shell.get_program().to_owned();
    let environment: Vec<_> = shell
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    shell = std::process::Command::new("/bin/sh");
    shell
        .args(["-c", script])
        .arg(path)
        .args(args)
        .current_dir(program.folder())
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    shell.spawn().unwrap()
}

const SHORT: [&str; 6] = ["run", "null:", "--vus", "1", "--transactions", "20"];

#[test]
fn a_result_that_nobody_gets_is_no_success() {
    let program = Program::new();
    program.ok(&["build", "sqlite:db"]);
    for label in ["a", "b"] {
        program.ok(&[&SHORT[..], &["--label", label]].concat());
    }
    let short_json = [&SHORT[..], &["--json"]].concat();
    let profile = [
        "profile",
        "null:?service=1ms",
        "--vus",
        "1,2",
        "--repeats",
        "1",
        "--duration",
        "1s",
        "--rampup",
        "0s",
        "--cool-down",
        "0s",
    ];
    for args in [
        &SHORT[..],
        &short_json,
        &profile,
        &["run", "null:", "--show-spec"],
        &["build", "sqlite:db"],
        &["check", "sqlite:db"],
        &["check", "sqlite:db", "--json"],
        &["jobs"],
        &["jobs", "--json"],
        &["report", "2"],
        &["report", "2", "--format", "csv"],
        &["compare", "2", "3"],
        &["history", "a"],
        &["completions", "bash"],
        &["--help"],
        &["run", "--help"],
        &["--version"],
        &["drop", "sqlite:db", "--yes"],
    ] {
        let done = into_full(&program, args);
        assert_eq!(done.code, 2, "{args:?}: {}", done.err);
        assert!(
            done.err.contains("stdout") || done.err.contains("space"),
            "{args:?}: {}",
            done.err
        );
    }
    // A closed pipe is not an error.
    let done = finish(by_shell(&program, "\"$0\" \"$@\" | true; exit 0", &["jobs"]));
    assert_eq!((done.code, done.err.as_str()), (0, ""));
}

#[test]
fn a_closed_stdout_is_told_before_anything_runs() {
    let program = Program::new();
    for args in [&SHORT[..], &["jobs"], &["build", "sqlite:db"]] {
        let done = finish(by_shell(&program, "exec \"$0\" \"$@\" >&-", args));
        assert_eq!(done.code, 2, "{args:?}: {}", done.err);
        assert!(done.err.contains("stdout is closed"), "{args:?}: {}", done.err);
    }
    assert!(!program.path("db").exists());
    let done = finish(by_shell(&program, "exec \"$0\" \"$@\" >/dev/null", &SHORT));
    assert_eq!(done.code, 0, "{}", done.err);
}

#[test]
fn files_that_cannot_be_written_are_no_success() {
    let program = Program::new();
    program.ok(&SHORT);
    for format in
        ["text", "json", "markdown", "csv", "jsonl", "observed-csv", "hdr", "junit", "html"]
    {
        let done = program.run(&["report", "last", "-o", "/dev/full", "--format", format]);
        assert_eq!(done.code, 2, "{format}: {}", done.err);
    }
    let done = program.run(&[&SHORT[..], &["--junit", "/dev/full"]].concat());
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("/dev/full"), "{}", done.err);
    assert!(done.out.contains("NOPM"), "the result is printed all the same: {}", done.out);
}

const LONG: [&str; 8] =
    ["run", "null:?service=1ms", "--vus", "2", "--rampup", "0s", "--duration", "8s"];

#[test]
fn a_job_whose_store_is_deleted_is_not_pointed_at() {
    for replaced in [false, true] {
        let program = Program::new();
        let mut child = program.start(&[&LONG[..6], &["--duration", "10m"]].concat());
        program.wait_for_seconds(5, &mut child);
        for ending in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(program.path(&format!("jobs.sqlite{ending}")));
        }
        if replaced {
            // Creates a new store, whose first job has the number of the running job.
            program.run(&SHORT);
            assert!(program.path("jobs.sqlite").exists());
        }
        signal(&child, "INT");
        let done = finish(child);
        assert_eq!(done.code, 2, "{}", done.err);
        assert!(done.err.contains("deleted or replaced"), "{}", done.err);
        assert!(
            done.out.contains("NOPM") && !done.out.contains("triphammer report"),
            "{}",
            done.out
        );
    }
}

#[test]
fn a_job_that_the_disk_has_no_room_for_is_not_pointed_at() {
    let program = Program::new();
    program.ok(&SHORT);
    // A file may grow to 64 KiB, so that writes fail as on a full disk, after some seconds.
    let script = "trap '' XFSZ; ulimit -f 128; exec \"$0\" \"$@\"";
    let done = finish(by_shell(&program, script, &LONG));
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("job store"), "{}", done.err);
    assert!(done.out.contains("NOPM") && !done.out.contains("triphammer report"), "{}", done.out);
    // Jobs stored before are still there.
    assert!(program.ok(&["report", "1"]).contains("NOPM"));
}

#[test]
fn a_terminal_that_hangs_up_ends_a_run_in_order() {
    let program = Program::new();
    let mut child = program.start(&[&LONG[..6], &["--duration", "10m"]].concat());
    program.wait_for_seconds(5, &mut child);
    // The signal comes from the shell and from the kernel.
    signal(&child, "HUP");
    signal(&child, "HUP");
    signal(&child, "HUP");
    let done = finish(child);
    assert_eq!(done.code, 130, "{}", done.err);
    let jobs: Value = serde_json::from_str(&program.ok(&["jobs", "--json"])).unwrap();
    assert_eq!(jobs[0]["status"], "interrupted", "{jobs}");
    assert!(program.ok(&["report", "last"]).contains("partial figures"));
}

#[test]
fn under_nohup_nobody_hears_the_terminal_hang_up() {
    let program = Program::new();
    let mut child = by_shell(&program, "trap '' HUP; exec \"$0\" \"$@\"", &LONG);
    program.wait_for_seconds(5, &mut child);
    signal(&child, "HUP");
    let done = finish(child);
    assert_eq!(done.code, 0, "{}", done.err);
}

#[test]
fn another_programs_file_is_left_alone() {
    let program = Program::new();
    for (name, sql) in [
        ("plain", "CREATE TABLE precious (x); INSERT INTO precious VALUES (1)"),
        ("view", "CREATE VIEW v AS SELECT 1"),
        ("numbered", "CREATE TABLE precious (x); PRAGMA user_version = 3"),
        ("newer", "CREATE TABLE precious (x); PRAGMA user_version = 99"),
        ("claimed", "PRAGMA application_id = 7"),
        (
            "namesake",
            "CREATE TABLE jobs (id); CREATE TABLE meta (key, value); PRAGMA user_version = 2",
        ),
    ] {
        let path = program.path(name);
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let before = std::fs::read(&path).unwrap();
        for args in [
            &["jobs"][..],
            &["report", "1"],
            &["history"],
            &["compare", "1", "2"],
            &SHORT,
            &["build", "sqlite:db"],
        ] {
            let done = program.run(&[args, &["--store", name]].concat());
            assert_eq!(done.code, 2, "{name} {args:?}: {}", done.err);
            assert!(done.err.contains("of another program"), "{name} {args:?}: {}", done.err);
        }
        assert!(std::fs::read(&path).unwrap() == before, "{name} was changed");
    }
    assert!(!program.path("db").exists(), "nothing is built for a store that cannot be");
}

#[test]
fn commands_that_read_make_no_store() {
    let program = Program::new();
    assert!(!program.ok(&["jobs"]).contains("error"));
    for args in [&["report", "1"][..], &["history"], &["compare", "1", "2"]] {
        assert_eq!(program.run(args).code, 2, "{args:?}");
    }
    assert!(!program.path("jobs.sqlite").exists());
    std::fs::write(program.path("empty"), "").unwrap();
    program.ok(&["jobs", "--store", "empty"]);
    assert_eq!(std::fs::metadata(program.path("empty")).unwrap().len(), 0);
}

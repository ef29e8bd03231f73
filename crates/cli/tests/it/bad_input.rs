//! Bad input gets exit code 2 and a message that says what, where and what to do next.

use crate::program::Program;

/// Nobody listens there.
const UNREACHABLE: &str = "postgres://nobody@127.0.0.1:1/none";

/// Arguments, and what stderr must hold.
const TABLE: &[(&[&str], &str)] = &[
    (&["run", "--vus", "0", "null:"], "at least one virtual user"),
    // The default file is not built for a run that cannot start.
    (&["run", "--vus", "0"], "at least one virtual user"),
    (
        &["run", "--duration", "-5s", "null:"],
        "--duration from the command line: invalid value `-5s`: must not be negative",
    ),
    (
        &["run", "--vsu", "4", "null:"],
        "unexpected argument '--vsu' found; see triphammer run --help; did you mean `--vus`?",
    ),
    (
        &["run", "-vus", "4", "null:"],
        "unexpected argument '-v' found; see triphammer run --help; did you mean `--vus`?",
    ),
    (&["run", "-w", "tpcb", "null:"], "FILE.toml; did you mean `tpc-b`?"),
    (&["run", "--reconnect", "0", "null:"], "expected every=N with a number from 1"),
    (&["run", "--reconnect", "every=0", "null:"], "expected every=N with a number from 1"),
    (&["run", "--login-rate", "0", "null:"], "expected logins per second, such as 50/s"),
    (&["run", "--login-rate", "fast", "null:"], "invalid rate `fast`"),
    (&["rnu"], "unrecognized subcommand 'rnu'; see triphammer --help; did you mean `run`?"),
    (&["jobs", "--limit", "0"], "--limit must be 1 or more"),
    (&["report", "last"], "jobs.sqlite yet; `triphammer run` stores one"),
    (
        &["run", "--vus", "4294967295", "null:"],
        "--vus from the command line: must be at most 100000, got 4294967295",
    ),
    (&["run", "--vus", "99999999999999999999", "null:"], "must be at most 100000"),
    (&["run", "--vus", "10000000", "null:"], "must be at most 100000, got 10000000"),
    (
        &["run", "--load", "rate:5/s", "--vus", "5000000", "null:"],
        "must be at most 100000, got 5000000",
    ),
    (&["run", "--load", "keyed", "--terminals", "100000000", "null:"], "at most 10000000"),
    (
        &["run", "--load", "keyed", "--terminals", "200000", "--sessions", "own", "null:"],
        "at most 100000",
    ),
    (&["run", "--load", "rate:5/s", "--backlog", "9000000000", "null:"], "at most 1000000000"),
    (&["run", "--threads", "100000", "null:"], "must be at most 1024, got 100000"),
    (&["run", "--retries", "4294967295", "null:"], "at most 1000"),
    (&["run", "--transactions", "18446744073709551615", "null:"], "at most 1000000000000"),
    (&["run", "--duration", "99999999h", "null:"], "must be at most 8784h, got 99999999h"),
    (
        &["run", "--rampup", "18000000000000000000s18000000000000000000s", "null:"],
        "invalid duration",
    ),
    (&["run", "--scale", "4294967295", "null:"], "must be at most 1000000, got 4294967295"),
    (&["build", "--scale", "4294967295", "sqlite:big.db"], "at most 1000000"),
    (&["build", "--jobs", "4294967295", "sqlite:big.db"], "at most 1024"),
    (&["check", "--jobs", "1000000", "sqlite:big.db"], "at most 1024"),
    (&["profile", "null:", "--vus", "1..4294967295"], "must be 1 to 100000"),
    (&["profile", "null:", "--max-vus", "4294967295"], "at most 100000"),
    (&["capacity", "null:", "--limit", "all.p95 < 1s", "--vus", "4294967295"], "at most 100000"),
    (&["run", "--vus", "x", "null:"], "--vus from the command line: invalid value `x`: expected"),
    (&["run", "--duration", "5", "null:"], "invalid duration `5`: expected a number with a unit"),
    (&["run", "--duration", "0s", "null:"], "--duration must be at least 1s"),
    (&["run", "--transactions", "0", "null:"], "--transactions must be 1 or more"),
    (&["run", "--transactions", "5", "--duration", "5s", "null:"], "exclude each other"),
    (&["run", "--load", "rate:0/s", "null:"], "the rate of `rate:0/s` must be above 0"),
    (&["run", "--load", "rate:5/s", "--transactions", "9", "null:"], "use --duration"),
    (
        &["run", "--load", "rate:5/s", "--terminals", "9", "null:"],
        "--terminals applies only to --load keyed",
    ),
    (&["run", "--load", "rate:5/s", "--late", "drop", "null:"], "expected issue or skip:100ms"),
    (&["run", "--load", "rate:5/s", "--backlog", "0", "null:"], "--backlog must be 1 or more"),
    (&["run", "--late", "issue", "null:"], "--late applies only to a load by rate, ramp or steps"),
    (&["run", "--load", "keyed", "--vus", "9", "null:"], "use --terminals and --sessions"),
    (&["run", "--load", "keyed", "--sessions", "all", "null:"], "expected a number or"),
    (&["run", "--load", "keyed", "--sessions", "101", "null:"], "cannot share 101 sessions"),
    (&["run", "-w", "tpc-b", "--load", "keyed", "null:"], "no keying and thinking times"),
    (
        &["run", "--load", "keyed", "--login-delay", "1s", "--rampup", "5s", "null:"],
        "the last of 100 terminals would log in after 1m39s",
    ),
    (&["run", "--load", "steps:missing.csv", "null:"], "cannot read the steps file missing.csv"),
    (
        &["run", "--replay-exemplar", "5", "null:"],
        "a job and the number of an exemplar, as in 12:1",
    ),
    (&["run", "--replay-exemplar", "99:1", "null:"], "there is no job 99"),
    (&["run", "--load", "fast", "null:"], "unknown load model `fast`: expected closed"),
    (&["run", "--isolation", "strict", "null:"], "unknown isolation level `strict`"),
    (&["run", "--mode", "magic", "null:"], "expected procedures or statements"),
    (&["run", "--pipeline", "all", "null:"], "unknown pipelining `all`: expected off, begin or on"),
    (
        &["run", "--pipeline", "on", "null:"],
        "does not support --pipeline on: it has no round trips",
    ),
    (&["run", "--pipeline", "on", "sqlite:a.db"], "run in this process, without round trips"),
    (&["run", "--pipeline", "begin", "mysql://h/d"], "half a transaction could be committed"),
    (
        &["run", "--pipeline", "on", "--protocol", "simple", "postgres://h/d"],
        "--pipeline needs --protocol prepared or extended",
    ),
    (&["run", "--max-failures", "200%", "null:"], "invalid share `200%`"),
    (&["run", "--retries", "0", "null:"], "use 1 for no retry"),
    (&["run", "--mix", "1,2", "null:"], "mix"),
    (&["run", "--mix", "0,0,0,0,0", "null:"], "mix"),
    // Invalid options of every workload are reported before the database is asked for anything.
    (&["run", "--mix", "1,2", UNREACHABLE], "--mix must be five whole numbers"),
    (&["run", "-w", "tpc-b", "--mix", "1,2", UNREACHABLE], "--mix must be a script or three"),
    (&["run", "-w", "tproc-h", "--test", "speed", UNREACHABLE], "expected power, throughput"),
    (&["run", "-w", "ch", "--queries", "23", UNREACHABLE], "--queries: invalid query `23`"),
    (&["run", "-w", "ch", "--streams", "x", UNREACHABLE], "--streams must be a number from 0"),
    (&["run", "-w", "ch", "--baseline", "1", UNREACHABLE], "--baseline: invalid duration `1`"),
    (
        &["build", "-w", "ch", "--add", "--population-time", "noon", UNREACHABLE],
        "--population-time must be in whole seconds",
    ),
    (
        &["profile", "-w", "ch", "--vus", "1,2", "--queries", "23", UNREACHABLE],
        "--queries: invalid query `23`",
    ),
    (&["run", "-w", "ch", "--dop", "0", UNREACHABLE], "--dop from the command line: expected"),
    (&["run", "-w", "tpc-x", "null:"], "unknown workload `tpc-x`: expected one of tproc-c"),
    (&["run", "oracle://x"], "sqlite"),
    (&["run", "null:?service=fast"], "service"),
    (&["run", "null:?nonsense=1"], "nonsense"),
    (&["run", "sqlite:nowhere/file.db"], "nowhere/file.db"),
    (&["check", "sqlite:missing.db"], "missing.db"),
    (&["check", "null:"], "nothing to check"),
    (&["build", "--scale", "0"], "warehouse"),
    (&["build", "--scale", "-1"], "--scale from the command line: invalid value `-1`"),
    (&["run", "--vus", "-1", "null:"], "--vus from the command line: invalid value `-1`"),
    (
        &["run", "--label", "a\u{1b}[2J", "null:"],
        "--label from the command line contains a control",
    ),
    (
        &["run", "--label", "a\u{202e}b", "null:"],
        "--label from the command line contains a control",
    ),
    (&["run", "--nonsense", "null:"], "unexpected argument '--nonsense'"),
    (&["run", "--vus"], "a value is required for '--vus <N>'"),
    (&["run", "--vus"], "none was supplied; see triphammer run --help"),
    (&["run", "--warehouses", "5"], "unexpected argument '--warehouses' found; use --scale; see"),
    (&["report"], "no job is stored in"),
    (&["nonsense"], "unrecognized subcommand 'nonsense'"),
    (&["run", "postgres:/u:hunter2@h/d"], "user and password must follow two slashes"),
    // A target in the wrong place.
    (&["mysql://u:hunter2@h/d"], "unrecognized subcommand 'mysql://u:***@h/d'"),
    (&["run", "null:", "mysql://u:hunter2@h/d"], "unexpected argument 'mysql://u:***@h/d'"),
    (&["report", "mysql://u:hunter2@h/d"], "invalid job number `mysql://u:***@h/d`"),
    // And in another form.
    (&["report", "postgres:u:hunter2@h"], "invalid job number `postgres:u:***@h`"),
    (&["report", "scott/hunter2@db"], "invalid job number `scott/***@db`"),
    (&["report", "odbc:Driver=x;UID=u;PWD=hunter2"], "`odbc:Driver=x;UID=u;PWD=***"),
    (&["why", "//u:hunter2@h/d"], "invalid job number `//u:***@h/d`"),
    (&["compare", "u:hunter2@h", "1"], "u:***@h"),
    (&["jobs", "--parent", "postgres//u:hunter2@h"], "invalid job number `postgres//u:***@h`"),
    (&["profile", "--resume", "u:hunter2@h/d"], "invalid job number `u:***@h/d`"),
    (&["report", "1", "u:hunter2@h"], "unexpected argument 'u:***@h'"),
    (&["scott/hunter2@db"], "unrecognized subcommand 'scott/***@db'"),
    (&["run", "u:hunter2@h/d"], "unknown scheme `u:` in the target"),
    (&["run", "--job-file", "scott/hunter2@db"], "scott/***@db"),
    (&["run", "--password-file", "u:hunter2@h", "null:"], "u:***@h"),
    (&["run", "--series", "u:hunter2@h", "null:"], "`u:***@h` must end in"),
    (
        &["run", "null:", "--vus", "odbc:DSN=a;PWD={x hunter2}"],
        "invalid value `odbc:DSN=a;PWD=***`",
    ),
    (&["run", "-w", "odbc:DSN=a;PWD=hunter2", "null:"], "unknown workload `odbc:DSN=a;PWD=***"),
    (&["run", "sqlite:file:a.db"], "not a file: URI"),
    (&["build", "--jobs", "0"], "--jobs must be 1 or more"),
    (&["build", "--foreign-keys", "sqlite:fk.db"], "cannot add foreign keys"),
    (&["drop", "sqlite:missing.db", "--yes"], "missing.db"),
    (
        &["run", "-w", "tpc-b", "--all-warehouses", "null:"],
        "--all-warehouses is an option of TPROC-C, not of tpc-b",
    ),
    (&["profile", "null:", "--vus", "4"], "is only one level: a profile needs at least two"),
    (&["profile", "null:", "--vus", "many"], "invalid level `many`: expected 1,2,4,8"),
    (&["profile", "null:", "--vus", "8..2"], "empty range `8..2`"),
    (&["profile", "null:", "--repeats", "0"], "must be 1 to 100"),
    (&["profile", "null:", "--max-vus", "1"], "a profile needs two levels"),
    (&["profile", "null:", "--cool-down", "soon"], "invalid duration `soon`"),
    (&["profile", "null:", "--until-ci", "0%"], "must be more than 0 %"),
    (&["profile", "null:", "--duration", "0s", "--vus", "1,2"], "--duration must be at least 1s"),
    (&["profile", "sqlite:a.db", "--vus", "1,100"], "100 virtual users are too many"),
    (&["profile", "--resume", "7"], "there is no job 7"),
    (&["profile", "--resume", "last"], "no profile is stored yet"),
    (&["profile", "--resume", "x"], "invalid job number `x`"),
    (
        &["capacity", "null:"],
        "capacity needs a response time limit, such as --limit 'new_order.p95 < 50ms'",
    ),
    (&["capacity", "null:", "--limit", "fast"], "invalid limit `fast`: expected"),
    (&["capacity", "null:", "--limit", "x.p95 < 1s"], "unknown transaction `x`"),
    (&["capacity", "null:", "--limit", "all.p42 < 1s"], "unknown percentile `p42`; use one of p50"),
    (&["capacity", "null:", "--limit", "all.p95 < 1s", "--max-rate", "0"], "invalid rate `0`"),
    (&["capacity", "null:", "--limit", "all.p95 < 1s", "--precision", "0"], "more than 0 %"),
    (&["run", "null:", "--until-ci", "1%", "--transactions", "5"], "exclude each other"),
    (&["run", "null:", "--until-ci", "1%", "--load", "ramp:1..2/1m"], "give --duration instead"),
    (&["jobs", "--parent", "x"], "invalid job number `x`"),
    (&["jobs", "--limit", "x"], "invalid value `x`: expected a whole number"),
    (&["run", "here.db"], "its kind of database, as in sqlite:FILE"),
    (&["check", UNREACHABLE], "connection refused; check host and port, and that the server is"),
    (
        &["compare", "--ab", "null:", "--a", "vus=x"],
        "--vus as set by compare: invalid value `x`: expected a whole number",
    ),
    (&["report", "99"], "there is no job 99"),
    (&["report", "first"], "invalid job number `first`"),
    (&["run", "--job-file", "missing.toml"], "cannot read the job file missing.toml"),
    (&["run", "--password-file", "missing", "null:"], "cannot read the password file missing"),
    (&["run", "--ask-password", "null:"], "cannot ask for the password without a terminal"),
    (&["run", "--require", "nopn >= 5", "null:"], "unknown metric `nopn`; did you mean `nopm`?"),
    (&["run", "--require", "nopn >= 5", "null:"], "metrics of the run: nopm, tpm, "),
    (&["run", "--require", "nopm >= 5", "--require", "tpm", "null:"], "\n  nopm >= 5, tpm\n"),
    (&["run", "-w", "tpc-b", "--require", "nopm > 5", "null:"], "unknown metric `nopm`"),
    (&["run", "--series", "series.txt", "null:"], "`series.txt` must end in .csv or .jsonl"),
    (&["run", "--series", "nowhere/s.csv", "null:"], "writing to nowhere/s.csv: No such file"),
    (&["run", "--junit", "nowhere/j.xml", "null:"], "writing to nowhere/j.xml: No such file"),
    (&["run", "--metrics-listen", "here", "null:"], "invalid address `here`: expected a port"),
    (&["run", "null:?prepare=off", "--protocol", "prepared"], "use one of extended, simple"),
    (&["run", "--otlp", "ftp://c", "null:"], "expected a URL such as http://localhost:4318"),
    (
        &["run", "--otlp", "http://c", "--otlp-ca", "x", "null:"],
        "give its https:// URL with --otlp",
    ),
    (
        &["run", "--otlp", "https://c", "--otlp-ca", "missing.pem", "null:"],
        "`otlp-ca` missing.pem is not a readable PEM file: I/O error: No such file",
    ),
    (&["run", "--nonsense"], "unexpected argument '--nonsense'"),
    (&["frobnicate"], "unrecognized subcommand 'frobnicate'"),
];

#[test]
fn what_a_server_says_steers_no_terminal_and_is_cut() {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let evil = "\u{1b}[2J\u{9b}31m\u{202e}evil\r\nerror: all is well\0";
            let text = evil.trim_end_matches('\0').repeat(200_000);
            let body = format!("SFATAL\0CXX000\0M{text}\0\0");
            let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
            let _ = stream.write_all(&[b"E", &length[..], body.as_bytes()].concat());
        }
    });
    let program = Program::new();
    let target = format!("postgres://u:p@127.0.0.1:{port}/d?sslmode=disable");
    for command in ["check", "run", "build"] {
        let done = program.run(&[command, &target]);
        assert_eq!(done.code, 2, "{}", done.err);
        let steers = |c: char| c != '\n' && triphammer_core::text::steers(c);
        assert!(!done.err.contains(steers) && done.err.len() < 20_000, "{:?}", done.err);
        assert_eq!(done.err.lines().filter(|line| line.starts_with("error")).count(), 1);
    }
}

#[test]
fn every_bad_input_ends_with_code_2_and_says_why() {
    let program = Program::new();
    for (args, message) in TABLE {
        let done = program.run(args);
        assert_eq!(done.code, 2, "{args:?}\n{}\n{}", done.out, done.err);
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
        assert_eq!(done.out, "", "{args:?}: nothing on stdout");
        assert!(!done.err.contains("hunter2"), "{args:?}: {}", done.err);
        assert!(!done.err.contains("Usage:"), "{args:?}: one line: {}", done.err);
    }
    let left: Vec<_> = program.files().into_iter().map(|(path, _)| path).collect();
    assert!(
        left.iter().all(|path| path
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("jobs.sqlite")),
        "nothing half-done is left: {left:?}"
    );
}

#[test]
fn a_bad_job_file_is_refused_by_file_and_key() {
    let program = Program::new();
    for (text, message) in [
        ("vus = [", "is not valid TOML"),
        ("vuss = 3", "`vuss`; did you mean `vus`?"),
        ("[run]\nscal = 3", "did you mean `scale`?"),
        ("[sprint]\nvus = 3", "unknown table [sprint]"),
        ("password = 'x'", "a job file must not contain a password"),
        ("target = 'postgres://a:hunter2@h/d'", "the target contains a password"),
        ("[run]\nvus = { a = 1 }", "`vus` must be a string, a number"),
        ("[build]\nreplace = true", "`replace` is not allowed in job files"),
    ] {
        std::fs::write(program.path("job.toml"), text).unwrap();
        let done = program.run(&["run", "-f", "job.toml"]);
        assert_eq!(done.code, 2, "{text}: {}", done.err);
        assert!(done.err.contains(message), "{text}: {}", done.err);
        assert!(!done.err.contains("hunter2"), "{}", done.err);
    }
}

#[test]
fn a_store_that_was_named_and_cannot_be_opened_is_an_error() {
    let program = Program::new();
    std::fs::write(program.path("text.sqlite"), "this is no database, but long enough to be read")
        .unwrap();
    let done = program.run(&["jobs", "--store", "text.sqlite"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("text.sqlite"), "{}", done.err);
}

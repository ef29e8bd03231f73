//! Scripts in pgbench's language, run by the program on real databases.

use std::collections::BTreeMap;
use std::process::{Command, Output};
use std::time::Duration;

use triphammer_core::clock::Clock;
use triphammer_testbed::PostgresServer;

use crate::program::Program;
use crate::servers::{Mariadb, Postgres, Site, name_of};

fn write(program: &Program, name: &str, text: &str) {
    std::fs::write(program.path(name), text).unwrap();
}

/// Rows of a query on PostgreSQL: fields joined by bars, rows by spaces.
fn sql(target: &str, sql: &str) -> String {
    let rows = PostgresServer::shared().run(name_of(target), sql).unwrap();
    let row = |row: Vec<Option<String>>| {
        row.into_iter().map(|field| field.unwrap_or("null".into())).collect::<Vec<_>>().join("|")
    };
    rows.into_iter().map(row).collect::<Vec<_>>().join(" ")
}

fn fresh() -> String {
    PostgresServer::shared().fresh_database("scripts").unwrap()
}

/// Runs one transaction of a script, unless `more` says how many.
fn once(program: &Program, target: &str, more: &[&str]) -> crate::program::Done {
    let mut args = vec!["run", target, "-w", "script", "--script", "a.sql"];
    args.extend(more);
    if more.iter().all(|arg| !arg.starts_with("--transactions")) {
        args.push("--transactions=1");
    }
    program.run(&args)
}

#[test]
fn the_language_runs_on_postgres_in_every_protocol() {
    let program = Program::new();
    let target = fresh();
    sql(&target, "CREATE TABLE seen (name text, value text)");
    write(
        &program,
        "a.sql",
        "\\set a 1 + 2
\\set d 0.1 + 0.2
\\set t 1 < 2
\\set n null
INSERT INTO seen VALUES ('expressions', concat_ws(' ', :a::int, :d::float8, :t::bool, \
         :client_id::int, :scale::int, :low::text));
INSERT INTO seen VALUES ('null', coalesce(:n::int, 7)::text);
SELECT 4 AS b, 1.50 AS c, NULL AS e \\gset p_
\\if :p_b = 4 and :p_e is null
INSERT INTO seen VALUES ('gset', :p_c::text);
\\elif true
INSERT INTO seen VALUES ('elif', 'wrong');
\\else
INSERT INTO seen VALUES ('else', 'wrong');
\\endif
SELECT 1 AS f \\; SELECT 2 AS g WHERE false \\; SELECT 8 AS h UNION SELECT 9 ORDER BY 1 \\aset
\\if :f = 1 and :h = 9
INSERT INTO seen VALUES ('aset', 'right');
\\endif
\\sleep 1 ms
CREATE TEMP TABLE own (x int);
INSERT INTO own VALUES (:a);
BEGIN ISOLATION LEVEL SERIALIZABLE;
INSERT INTO seen SELECT 'temporary', x::text FROM own;
COMMIT;
BEGIN;
INSERT INTO seen VALUES ('undone', '');
ROLLBACK;
DROP TABLE own;
",
    );
    for protocol in ["simple", "extended", "prepared"] {
        sql(&target, "TRUNCATE seen");
        let done =
            once(&program, &target, &["--protocol", protocol, "-D", "low=9", "--scale", "3"]);
        assert_eq!(done.code, 0, "{protocol}: {}{}", done.out, done.err);
        assert_eq!(
            sql(&target, "SELECT name, value FROM seen ORDER BY name COLLATE \"C\""),
            "aset|right expressions|3 0.3 t 0 3 9 gset|1.50 null|7 temporary|3",
            "{protocol}"
        );
    }
}

#[test]
fn the_simple_protocol_replaces_text_anywhere() {
    let program = Program::new();
    let target = fresh();
    sql(&target, "CREATE TABLE seen_0 (value text)");
    write(
        &program,
        "a.sql",
        "\\set i 5\nINSERT INTO seen_:client_id VALUES ('v:i :undefined 12:30');\n",
    );
    let done = once(&program, &target, &["--protocol", "simple"]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    assert_eq!(sql(&target, "SELECT value FROM seen_0"), "v5 :undefined 12:30");
}

/// pgbench's default is the simple protocol; its `-M prepared` fails.
#[test]
fn a_variable_in_quotes_gets_the_value_that_pgbench_sends() {
    let program = Program::new();
    let target = fresh();
    sql(&target, "CREATE TABLE seen (a text, b int)");
    let text = "\\set id 7\nINSERT INTO seen VALUES ('user_:id :unknown', :id) \
                RETURNING 'x:id' AS c \\gset\n\
                INSERT INTO \"seen\" VALUES (:c || '!', 0 /* :id */);\n";
    write(&program, "a.sql", text);
    let all = "SELECT a, b FROM seen ORDER BY b, a";
    for protocol in ["simple", "extended", "prepared"] {
        sql(&target, "TRUNCATE seen");
        let text =
            text.replace(":c ||", if protocol == "simple" { "':c' ||" } else { ":c::text ||" });
        write(&program, "a.sql", &text);
        let done = once(&program, &target, &["--protocol", protocol]);
        assert_eq!(done.code, 0, "{protocol}: {}{}", done.out, done.err);
        assert_eq!(sql(&target, all), "x7!|0 user_7 :unknown|7", "{protocol}");
    }
}

#[test]
fn what_pgbench_does_not_capture_is_an_error() {
    let program = Program::new();
    let target = fresh();
    sql(&target, "CREATE TABLE seen (value int)");
    for (text, message) in [
        ("SELECT 1 AS a WHERE false \\gset\n", "a.sql:1: \\gset: expected one row, got 0"),
        ("INSERT INTO seen VALUES (1) \\gset\n", "\\gset: expected one row, got 0"),
        ("SELECT 1 AS a UNION SELECT 2 \\gset\n", "\\gset: expected one row, got 2"),
        ("SELECT 1 AS \"a-b\" \\gset\n", "\\gset: invalid variable name `a-b`"),
        ("SELECT 1 AS \"1x\" \\aset\n", "\\aset: invalid variable name `1x`"),
        ("SELECT 1 \\gset x\n", "\\gset: invalid variable name `x?column?`"),
        ("\\sleep :x ms\n", "a.sql:1: \\sleep: undefined variable: :x"),
    ] {
        write(&program, "a.sql", text);
        for protocol in ["simple", "prepared"] {
            let done = once(&program, &target, &["--protocol", protocol]);
            assert_eq!(done.code, 1, "{text}: {}", done.err);
            assert!(done.err.contains(message), "{text} {protocol}: {}", done.err);
        }
    }
    // Names that are fine with their prefix, an empty answer of `\aset`, and times that do not
    // wait.
    let text = "SELECT 1 AS \"1x\" \\gset p_\n\
                SELECT 1 AS \"a-b\" WHERE false \\aset\n\\sleep -1 s\n\
                \\sleep :low ms\nSELECT :p_1x::int;\n";
    write(&program, "a.sql", text);
    let done = once(&program, &target, &["-D", "low=-1.9"]);
    assert_eq!(done.code, 0, "{}", done.err);
}

#[test]
fn pipelines_run_on_postgres_and_nowhere_else() {
    let program = Program::new();
    let target = fresh();
    sql(&target, "CREATE TABLE seen (value int)");
    write(
        &program,
        "a.sql",
        "\\set i 5
\\startpipeline
BEGIN;
INSERT INTO seen VALUES (:i);
INSERT INTO seen VALUES (:i + 1);
END;
\\syncpipeline
INSERT INTO seen VALUES (7);
SELECT * FROM seen;
\\endpipeline
INSERT INTO seen VALUES (8);
",
    );
    for protocol in ["extended", "prepared"] {
        sql(&target, "TRUNCATE seen");
        let args = ["--protocol", protocol, "--transactions=3", "--json"];
        let done = program
            .run(&[&["run", &target, "-w", "script", "--script", "a.sql"][..], &args].concat());
        assert_eq!(done.code, 0, "{}{}", done.out, done.err);
        let all = "SELECT count(*), sum(value) FROM seen";
        assert_eq!(sql(&target, all), "12|78", "{protocol}");
        let result: serde_json::Value = serde_json::from_str(&done.out).unwrap();
        let trips = result["run"]["round_trips"].as_u64();
        assert!(trips.is_none_or(|trips| trips <= 9), "{trips:?}");
    }
    for (target, protocol) in [(target.as_str(), "simple"), ("null:", "prepared")] {
        let done = once(&program, target, &["--protocol", protocol]);
        assert_eq!(done.code, 2, "{}", done.out);
        assert!(done.err.contains("pipeline"), "{}", done.err);
    }
    // What a script leaves in a pipeline that it does not end, or cannot end, is undone, as in
    // pgbench.
    sql(&target, "TRUNCATE seen");
    for (text, message) in [
        ("\\startpipeline\nINSERT INTO seen VALUES (1);\n", "a.sql:1:1: \\startpipeline: "),
        (
            "\\if true\n\\startpipeline\n\\endif\nINSERT INTO seen VALUES (1);\nSELECT 1;\n",
            "a.sql: the script ended with an open pipeline",
        ),
        (
            "\\startpipeline\nINSERT INTO seen VALUES (1);\n\\set a 1 / 0\n\\endpipeline\n",
            "a.sql:3: division by zero",
        ),
        (
            "\\startpipeline\nINSERT INTO seen VALUES (1);\nSELECT ':client_id';\n\\endpipeline\n",
            "a.sql:1: a statement of a pipeline cannot have a variable in quotes",
        ),
    ] {
        write(&program, "a.sql", text);
        let done = once(&program, &target, &["--transactions=3", "--max-failures=100%"]);
        assert_ne!(done.code, 0, "{text}");
        assert!(done.err.contains(message), "{text}: {}", done.err);
        assert_eq!(sql(&target, "SELECT count(*) FROM seen"), "0", "{text}");
    }
    // An error inside is reported at the end, and the session can be used again.
    write(&program, "a.sql", "\\startpipeline\nSELECT 1;\nSELECT 1/0;\n\\endpipeline\n");
    let done = once(&program, &target, &["--transactions=5", "--max-failures=100%"]);
    assert!(done.err.contains("a.sql:4: division by zero (22012)"), "{}", done.err);
    assert!(!done.err.contains("protocol"), "{}", done.err);
}

/// A script in which a pipeline is rolled back, and how triphammer counts one of its transactions.
/// pgbench counts every script that ended: these, and those that ended with a rollback.
const ROLLED_BACK_IN_PIPELINES: [(&str, &str); 10] = [
    ("\\startpipeline\nBEGIN;\nINSERT INTO seen VALUES (1);\nROLLBACK;\n\\endpipeline\n", "rolled back"),
    (
        "\\startpipeline\nBEGIN;\nINSERT INTO seen VALUES (1);\nrollback;\nINSERT INTO seen VALUES (2);
\\endpipeline\n",
        "committed",
    ),
    // What the pipeline did before it is undone, too: its statements are one transaction.
    (
        "\\startpipeline\nINSERT INTO seen VALUES (1);\nROLLBACK;\nINSERT INTO seen VALUES (2);
\\endpipeline\n",
        "committed",
    ),
    ("\\startpipeline\nINSERT INTO seen VALUES (1);\nROLLBACK;\n\\endpipeline\n", "rolled back"),
    (
        "\\startpipeline\nINSERT INTO seen VALUES (1);\n\\syncpipeline\nROLLBACK;\n\\endpipeline\n",
        "rolled back",
    ),
    // The transaction is older than the pipeline, and longer than a part of it.
    (
        "BEGIN;\nINSERT INTO seen VALUES (1);\n\\startpipeline\nINSERT INTO seen VALUES (2);
\\syncpipeline\nABORT;\nINSERT INTO seen VALUES (4);\n\\endpipeline\n",
        "committed",
    ),
    (
        "BEGIN;\n\\startpipeline\nINSERT INTO seen VALUES (1);\n\\endpipeline\nROLLBACK;\n",
        "rolled back",
    ),
    // Open at the end, or failed: the rollback is not reached.
    ("\\startpipeline\nBEGIN;\nINSERT INTO seen VALUES (1);\n\\endpipeline\n", "failed"),
    (
        "\\startpipeline\nBEGIN;\nINSERT INTO seen VALUES (1);\n\\endpipeline\nSELECT 1 / 0;\n",
        "failed",
    ),
    (
        "\\startpipeline\nBEGIN;\nINSERT INTO seen VALUES (1 / 0);\nROLLBACK;
INSERT INTO seen VALUES (2);\n\\endpipeline\n",
        "failed",
    ),
];

#[test]
fn a_rollback_in_a_pipeline_does_and_counts_what_it_does_in_pgbench() {
    let program = Program::new();
    let target = fresh();
    sql(&target, "CREATE TABLE seen (value int)");
    let sum = || sql(&target, "SELECT count(*), coalesce(sum(value), 0) FROM seen");
    for (text, end) in ROLLED_BACK_IN_PIPELINES {
        write(&program, "a.sql", text);
        for protocol in ["extended", "prepared"] {
            sql(&target, "TRUNCATE seen");
            let theirs = pgbench(&program, &target, &["-M", protocol, "-t", "3", "-f", "a.sql"]);
            let output = String::from_utf8(theirs.stdout).unwrap();
            let processed = output
                .lines()
                .find_map(|line| line.strip_prefix("number of transactions actually processed: "))
                .and_then(|line| line.split('/').next()?.parse::<u64>().ok());
            let rows = sum();
            sql(&target, "TRUNCATE seen");
            let args = ["--protocol", protocol, "--vus=1", "--transactions=3", "--json"];
            let done = once(&program, &target, &[&args[..], &["--max-failures=100%"]].concat());
            let result: serde_json::Value = serde_json::from_str(&done.out).unwrap();
            let total = &result["run"]["total"];
            let ours = |name: &str| total[name].as_u64().unwrap();
            let counted = ours("committed") + ours("rolled_back");
            // pgbench has \syncpipeline since 17.
            let is_known = !String::from_utf8_lossy(&theirs.stderr).contains("invalid command");
            assert_eq!(is_known, processed.is_some(), "{protocol} {text}");
            if is_known {
                assert_eq!(rows, sum(), "{protocol} {text}: {total}");
                // It may count one, whose end it notices with the next.
                let fails = end == "failed";
                assert_eq!(theirs.status.success(), !fails, "{protocol} {text}");
                assert!(fails || processed == Some(counted), "{protocol} {text}: {total}");
            }
            assert_eq!(ours(&end.replace(' ', "_")), 3, "{protocol} {text}: {total}");
        }
    }
}

#[test]
fn built_in_scripts_run_on_the_tables_of_tpc_b() {
    let mut targets = vec!["sqlite:b.db".to_owned()];
    targets.extend([Postgres, Mariadb].map(|product| Site::shared(product).fresh_database()));
    let mix = ["--script", "tpcb-like@2", "--script", "select-only", "--script", "simple-update"];
    for target in &targets {
        let program = Program::new();
        let run = ["run", target, "-w", "script"];
        let refused = program.run(&[&run[..], &mix].concat());
        assert_eq!(refused.code, 2);
        let message =
            if target.starts_with("sqlite") { "no such file" } else { "build them first" };
        assert!(refused.err.contains(message), "{}", refused.err);
        program.ok(&["build", target, "-w", "tpc-b", "--scale", "2"]);
        let result = program.json(&[&run[..], &mix, &["--transactions=60", "--vus=1"]].concat());
        assert_eq!(result["workload"]["scale"], 2.0, "{result}");
        let types = result["window"]["types"].as_array().unwrap();
        let committed = |place: usize| types[place]["committed"].as_u64().unwrap();
        assert_eq!(committed(0) + committed(1) + committed(2), 60, "{types:?}");
        assert!(committed(0) > committed(1) && committed(1) > 0 && committed(2) > 0, "{types:?}");
        assert_eq!(types[0]["title"], "tpcb-like");
        // BEGIN, six statements and END of tpcb-like come first.
        let statements = result["statements"].as_array().unwrap();
        assert_eq!(statements.len(), 7 + 1 + 5, "{statements:?}");
        let first = (&statements[0]["text"], &statements[0]["runs"], &statements[0]["line"]);
        assert_eq!(first, (&"BEGIN".into(), &committed(0).into(), &5.into()));
        assert_eq!(statements[7]["runs"], committed(1));
        assert!(statements[7]["mean_us"].as_f64().unwrap() > 0.0);
        // Balances still agree with the history.
        program.ok(&["check", target, "-w", "tpc-b"]);
    }
}

#[test]
fn one_script_runs_on_every_database() {
    let script = "\\set a random(1, 10) * 0 + 5
\\set d 2.5
INSERT INTO seen (a, d, name) VALUES (:a, :d, :name);
SELECT COUNT(*) AS found, MAX(name) AS last FROM seen \\gset
\\if :found = 1
INSERT INTO seen (a, d, name) VALUES (:found, :a, :last);
\\endif
BEGIN;
UPDATE seen SET a = a + 1;
END;
";
    let table = "CREATE TABLE seen (a int, d double precision, name varchar(20))";
    let (postgres, mariadb) = (Site::shared(Postgres), Site::shared(Mariadb));
    let sums = "SELECT COUNT(*), SUM(a), SUM(d), MIN(name), MAX(name) FROM seen";
    for site in [postgres, mariadb] {
        let program = Program::new();
        let target = site.fresh_database();
        site.run(name_of(&target), table);
        write(&program, "a.sql", script);
        let done = once(&program, &target, &["--define", "name=x, y", "--transactions=2"]);
        assert_eq!(done.code, 0, "{}{}", done.out, done.err);
        let rows = site.run(name_of(&target), sums);
        let fields: Vec<_> = rows[0].iter().map(|field| field.clone().unwrap()).collect();
        assert_eq!(fields, ["3", "16", "10", "x, y", "x, y"]);
    }
    let program = Program::new();
    let file = rusqlite::Connection::open(program.path("a.db")).unwrap();
    file.execute(table, []).unwrap();
    write(&program, "a.sql", script);
    let done = once(&program, "sqlite:a.db", &["--define", "name=x, y", "--transactions=2"]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    let sum: (i64, i64, f64) =
        file.query_row(sums, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    assert_eq!(sum, (3, 16, 10.0));
}

#[test]
fn a_syntax_error_is_reported_before_anything_runs() {
    let program = Program::new();
    // Nobody listens there: the script is read before anyone connects.
    let target = "postgres://nobody@127.0.0.1:1/nowhere";
    for (text, message) in [
        ("SELECT 1;\n\\set a 1 +* 2\n", "a.sql:2:11: syntax error at `*`"),
        (
            "\\setrandom a 1 10\n",
            "a.sql:1:1: \\setrandom does not exist since pgbench 9.6: replace",
        ),
        ("\\shell true\n", "a.sql:1:1: the script runs commands of the operating system"),
        ("SELECT '\0';", "a.sql:1:9: the script contains a NUL character"),
        ("", "a.sql:1:1: the script has no commands"),
    ] {
        write(&program, "a.sql", text);
        let done = once(&program, target, &[]);
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{}", done.err);
        assert!(done.err.contains(message), "{}", done.err);
    }
    write(&program, "a.sql", &format!("SELECT '{}';", "x".repeat(10_000_000)));
    let done = once(&program, target, &[]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("--script a.sql: cannot read the file: longer than 1024 KiB"));
    assert!(!program.path("jobs.sqlite").exists(), "nothing is stored");
}

#[test]
fn what_fails_while_it_runs_names_its_line() {
    let program = Program::new();
    for (text, message) in [
        ("\\set a 0\n\\set b 1 / :a\n", "a.sql:2: division by zero"),
        ("\\set a 9223372036854775807 + 1\n", "a.sql:1: bigint add out of range"),
        ("SELECT 1;\nBEGIN;\nSELECT 1;\n", "a.sql: the script ended without completing"),
        ("\\set a :nowhere\n", "a.sql:1: undefined variable: :nowhere"),
    ] {
        write(&program, "a.sql", text);
        let done = once(&program, "null:", &["--json"]);
        assert_eq!(done.code, 1, "{}", done.err);
        assert!(done.err.contains(message), "{}", done.err);
    }
    // A script without SQL is one that does little.
    write(&program, "a.sql", "\\set a random(1, 10)\n");
    assert_eq!(once(&program, "null:", &["--transactions=1000"]).code, 0);
}

#[test]
fn a_retry_has_the_same_values() {
    let program = Program::new();
    let (quiet, busy) = (fresh(), fresh());
    let script = |update: &str| {
        format!(
            "\\set v random(1, 1000000000)\nBEGIN ISOLATION LEVEL SERIALIZABLE;\n\
             SELECT sum(x) FROM counter;\n{update}INSERT INTO seen VALUES (:v);\nEND;\n"
        )
    };
    let mut retries = 0;
    for (target, update) in [(&quiet, ""), (&busy, "UPDATE counter SET x = x + 1;\n\\sleep 2 ms\n")]
    {
        sql(target, "CREATE TABLE seen (v bigint)");
        sql(target, "CREATE TABLE counter (x int)");
        sql(target, "INSERT INTO counter VALUES (0)");
        write(&program, "a.sql", &script(update));
        let args = ["--vus=4", "--transactions=15", "--seed=7", "--retries=500", "--json"];
        let run = ["run", target, "-w", "script", "--script", "a.sql"];
        let result: serde_json::Value =
            serde_json::from_str(&program.ok(&[&run[..], &args].concat())).unwrap();
        let types = result["window"]["types"].as_array().unwrap();
        retries = types[0]["retried"].as_u64().unwrap();
    }
    let values = "SELECT count(*), string_agg(v::text, ',' ORDER BY v) FROM seen";
    assert_eq!(sql(&busy, values), sql(&quiet, values));
    assert!(sql(&busy, values).starts_with("60|"));
    assert!(retries > 0, "the second run had to retry");
}

#[test]
fn scripts_are_facts_of_the_run() {
    let program = Program::new();
    write(&program, "a.sql", "SELECT 1;\n");
    write(
        &program,
        "job.toml",
        "[run]\nworkload = \"script\"\nscript = [\"a.sql@3\", \
                                 \"select-only\"]\ntransactions = 40\n",
    );
    let first = program.json(&["run", "null:", "--job-file", "job.toml"]);
    let scripts = first["workload"]["scripts"].as_array().unwrap();
    assert_eq!(scripts[0]["text"], "SELECT 1;\n");
    assert_eq!((&scripts[0]["weight"], &scripts[1]["name"]), (&3.into(), &"select-only".into()));
    let sha = "b4e0497804e46e0a0b0b8c31975b062152d551bac49c3c2e80932567b4085dcd";
    assert_eq!(scripts[0]["sha256"], sha);
    write(&program, "a.sql", "SELECT 2;\n");
    program.ok(&["run", "null:", "--job-file", "job.toml"]);
    let text = program.run(&["compare", "1", "2"]).out;
    assert!(text.contains("a.sql@3 (sha256 b4e0497804e4)"), "{text}");
    let replayed = program.ok(&["run", "null:", "--replay-exemplar", "1:1"]);
    assert!(replayed.contains("SELECT 1;") || replayed.contains("pgbench_accounts"), "{replayed}");
    assert!(!replayed.contains("SELECT 2;"), "{replayed}");
}

#[test]
fn the_shell_is_only_for_those_who_ask_for_it() {
    let program = Program::new();
    let text = "\\set a 20\n\\setshell b echo :a\n\\shell test :b -eq 20\n\\shell test :b -eq 21\n";
    write(&program, "a.sql", text);
    let done = once(&program, "null:", &["--allow-shell"]);
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains("a.sql:4: the shell command ended with exit status: 1"));
}

#[test]
fn sleeping_ends_with_the_run() {
    let program = Program::new();
    write(&program, "a.sql", "\\sleep 1000 s\n");
    let clock = Clock::start();
    let args = ["--duration=1s", "--rampup=0s", "--drain-timeout=1s"];
    let run = ["run", "null:", "-w", "script", "--script", "a.sql"];
    let done = program.run(&[&run[..], &args].concat());
    assert_ne!(done.code, 2, "{}", done.err);
    assert!(clock.now().duration() < Duration::from_secs(60));
}

/// Runs pgbench on a target.
fn pgbench(program: &Program, target: &str, args: &[&str]) -> Output {
    let server = PostgresServer::shared();
    let port = server.port().to_string();
    Command::new(PostgresServer::program("pgbench"))
        .env("PGPASSWORD", server.password())
        .args(["-h", "127.0.0.1", "-p", &port, "-U", server.user(), "-n"])
        .args(args)
        .arg(name_of(target))
        .current_dir(program.folder())
        .output()
        .unwrap()
}

/// What `debug` of a script prints when pgbench runs it `times` times.
fn debugged_by_pgbench(program: &Program, target: &str, times: u32) -> Vec<String> {
    let times = times.to_string();
    let args = ["--random-seed=5", "-t", &times, "-f", "a.sql", "-D", "foo=-10.1", "-D", "n=null"];
    let done = pgbench(program, target, &args);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    debugged(&String::from_utf8(done.stderr).unwrap())
}

fn debugged(text: &str) -> Vec<String> {
    text.lines().filter(|line| line.starts_with("debug(")).map(str::to_owned).collect()
}

#[test]
fn expressions_have_the_same_values_in_pgbench() {
    let program = Program::new();
    let target = fresh();
    write(
        &program,
        "a.sql",
        "\\set a debug(17 / (4|1) + ( 4 + (7 >> 2)))
\\set a debug(- (3 * 4 - (-(~ 1) + -(~ 0))) / -1 + 3 % -1)
\\set a debug(64 % (((2 + 1 * 2 + (1 # 2) | 4 * (2 & 11)) - (1 << 2)) + 2))
\\set a debug(-7 / 2 + -7 % 3)
\\set a debug(1 + ~ 0 + 1)
\\set d debug(double(1 + 1) * (-75.0 / :foo))
\\set d debug(pi() * 4.9 + sqrt(2) + ln(3) + exp(1.5) + pow(2, 0.5))
\\set d debug(least(-5.18, .0E0, 1.0/0) * -3.3)
\\set d debug(1e-5)
\\set d debug(123456789012345678.0)
\\set d debug(greatest(1, 2, 3.5))
\\set a debug(int(2.5) + int(3.5))
\\set a debug(case when :n is null then 46 else 0 end)
\\set a debug(not (1 > 2) and (null or true))
\\set a debug(true or 1/0 = 1)
\\set a debug(1 <> 2 and 2 >= 2)
",
    );
    let text = std::fs::read_to_string(program.path("a.sql")).unwrap();
    let more = "\\set a debug(hash(10, 5432) # hash_fnv1a(:a0, 7))
\\set a debug(permute(123456, 1000000, 42))
\\set a debug(permute(-1, 9223372036854775797, 5432))
\\if :a0 = 3
\\set a debug(random(4, 4))
\\else
\\set a debug(0)
\\endif
SELECT 5 AS b, 2.50 AS c \\gset x_
\\set a debug(:x_b + :x_c)
SELECT 1 AS one \\; SELECT 2 AS two \\aset
\\set a debug(:one + :two)
\\set a debug(:random_seed + :scale + :client_id)
";
    write(&program, "a.sql", &format!("\\set a0 3\n{text}{more}"));
    let theirs = debugged_by_pgbench(&program, &target, 1);
    let run = ["-D", "foo=-10.1", "-D", "n=null", "--seed=5"];
    for protocol in ["simple", "prepared"] {
        let done = once(&program, &target, &[&run[..], &["--protocol", protocol]].concat());
        assert_eq!(done.code, 0, "{}", done.err);
        assert_eq!(debugged(&done.err), theirs, "{protocol}");
    }
    assert_eq!(theirs.len(), 23);
}

/// Counts of the values by the command that printed them.
fn counts(lines: &[String]) -> BTreeMap<String, BTreeMap<String, f64>> {
    let mut counts: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
    for line in lines {
        let (command, value) = line.split_once(": ").unwrap();
        *counts.entry(command.into()).or_default().entry(value.into()).or_default() += 1.0;
    }
    counts
}

#[test]
fn distributions_are_those_of_pgbench() {
    const DRAWS: u32 = 20_000;
    let program = Program::new();
    let target = fresh();
    write(
        &program,
        "a.sql",
        "\\set a debug(random(1, 10))
\\set a debug(random_exponential(1, 10, 3.0))
\\set a debug(random_gaussian(1, 10, 2.5))
\\set a debug(random_zipfian(1, 10, 1.2))
\\set a debug(random_zipfian(1, 10, 2.5))
",
    );
    let theirs = counts(&debugged_by_pgbench(&program, &target, DRAWS));
    let done = once(&program, "null:", &[&format!("--transactions={DRAWS}")]);
    assert_eq!(done.code, 0, "{}", &done.err[done.err.len() - 500..]);
    let ours = counts(&debugged(&done.err));
    assert_eq!(theirs.len(), 5);
    for (command, theirs) in &theirs {
        let ours = &ours[command];
        // Two samples of the same size: Σ (a - b)² / (a + b) is χ² with 9 degrees of freedom, which
        // exceeds 45 once in a million times.
        let seen =
            |counts: &BTreeMap<String, f64>, value| counts.get(value).copied().unwrap_or(0.0);
        let distance: f64 = theirs
            .keys()
            .map(|value| {
                let (a, b) = (seen(theirs, value), seen(ours, value));
                (a - b).powi(2) / (a + b)
            })
            .sum();
        assert_eq!(ours.len(), theirs.len(), "{command}");
        assert!(distance < 45.0, "{command}: {distance} {ours:?} {theirs:?}");
    }
}

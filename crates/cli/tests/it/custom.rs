//! Workload files, run by the program on real databases.

use serde_json::Value;
use triphammer_testbed::PostgresServer;

use crate::program::{Done, Program};
use crate::servers::{Mariadb, Postgres, Site, name_of};

fn write(program: &Program, name: &str, text: &str) {
    std::fs::write(program.path(name), text).unwrap();
}

fn fresh() -> String {
    PostgresServer::shared().fresh_database("custom").unwrap()
}

fn sql(target: &str, sql: &str) -> String {
    let rows = PostgresServer::shared().run(name_of(target), sql).unwrap();
    let row = |row: Vec<Option<String>>| {
        row.into_iter().map(|field| field.unwrap_or("null".into())).collect::<Vec<_>>().join("|")
    };
    rows.into_iter().map(row).collect::<Vec<_>>().join(" ")
}

/// Runs transactions of `w.toml`.
fn run(program: &Program, target: &str, count: u32) -> Done {
    let count = format!("--transactions={count}");
    program.run(&["run", target, "-w", "w.toml", "--vus=1", &count])
}

#[test]
fn the_example_runs_as_it_is() {
    let mut targets = vec!["sqlite:b.db".to_owned()];
    targets.extend([Postgres, Mariadb].map(|product| Site::shared(product).fresh_database()));
    for target in &targets {
        let program = Program::new();
        program.ok(&["new", "workload", "bank"]);
        let again = program.run(&["new", "workload", "bank"]);
        assert_eq!(again.code, 2, "{}", again.err);
        let workload = ["-w", "bank/workload.toml"];
        let of = |command: &'static str, more: &[&str]| {
            let args: Vec<String> = [&[command, target.as_str()][..], &workload, more]
                .concat()
                .into_iter()
                .map(str::to_owned)
                .collect();
            args
        };
        let call = |command: &'static str, more: &[&str]| {
            let args = of(command, more);
            program.run(&args.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let unbuilt = call("run", &["--transactions=1"]);
        assert_eq!(unbuilt.code, 2, "{}", unbuilt.out);
        let built = call("build", &["--scale", "2"]);
        assert_eq!(built.code, 0, "{}", built.err);
        // A second run continues the sequence of the first.
        for _ in 0..2 {
            let done = call("run", &["--transactions=60", "--vus=2", "--retries=50", "--json"]);
            assert_eq!(done.code, 0, "{target}\n{}{}", done.out, done.err);
            let result: Value = serde_json::from_str(&done.out).unwrap();
            assert_eq!(result["workload"]["title"], "Bank");
            assert_eq!(result["workload"]["scale"], 2.0);
            let types = result["window"]["types"].as_array().unwrap();
            let committed: u64 = types.iter().map(|t| t["committed"].as_u64().unwrap()).sum();
            assert_eq!(committed, 120, "{types:?}");
            assert_eq!(result["statements"].as_array().unwrap().len(), 6);
            assert!(result["workload"]["scripts"][0]["text"].as_str().unwrap().contains("Bank"));
        }
        let checked = call("check", &[]);
        assert_eq!(checked.code, 0, "{}{}", checked.out, checked.err);
        let replayed = program.run(&["run", target, "--replay-exemplar", "2:1"]);
        assert_eq!(replayed.code, 0, "{}{}", replayed.out, replayed.err);
        let dropped = call("drop", &["--yes"]);
        assert_eq!(dropped.code, 0, "{}", dropped.err);
        assert_eq!(call("run", &["--transactions=1"]).code, 2);
    }
}

const TABLE: &str = "CREATE TABLE seen (i bigint, d numeric(10,2), f float8, t text, u uuid, j jsonb, \
                     day date, at timestamp, s int)";

#[test]
fn parameters_are_bound_with_their_types() {
    let program = Program::new();
    let target = fresh();
    sql(&target, TABLE);
    write(&program, "names.csv", "id,name\n7,\"a'b\"\n");
    write(
        &program,
        "w.toml",
        r#"
[parameters]
i = { generator = "integer", min = 5, max = 5 }
d = { generator = "decimal", min = 1.25, max = 1.25 }
f = { generator = "float", min = 0.5, max = 0.5 }
t = { generator = "csv", file = "names.csv", column = "name" }
u = { generator = "uuid" }
j = { generator = "json", template = '{"n": ":t", "d": ":d"}' }
day = { generator = "date", min = 2026-01-31, max = 2026-01-31 }
at = { generator = "timestamp", min = 2026-01-31 12:00:00, max = 2026-01-31 12:00:00 }
q = { generator = "query", sql = "SELECT 41" }

[[transactions]]
name = "insert"
statements = [
    { sql = "SELECT :q::int + 1 AS answer", keep = ["answer"], rows = 1 },
    "INSERT INTO seen VALUES (:i, :d, :f, :t, :u, :j, :day, :at, :answer)",
    "INSERT INTO seen (i, d, f, day, at) VALUES (:i, :d, :f, :day, :at)",
]
"#,
    );
    for protocol in ["prepared", "extended", "simple"] {
        sql(&target, "TRUNCATE seen");
        let args = ["--protocol", protocol, "--transactions=1", "--vus=1"];
        program.ok(&[&["run", &target, "-w", "w.toml"][..], &args].concat());
        assert_eq!(
            sql(&target, "SELECT i, d, f, t, j, day, at, s FROM seen ORDER BY t"),
            "5|1.25|0.5|a'b|{\"d\": 1.25, \"n\": \"a'b\"}|2026-01-31|2026-01-31 12:00:00|42 \
             5|1.25|0.5|null|null|2026-01-31|2026-01-31 12:00:00|null",
            "{protocol}"
        );
    }
}

#[test]
fn an_unexpected_number_of_rows_fails_and_is_undone() {
    let program = Program::new();
    let target = fresh();
    sql(&target, "CREATE TABLE t (a int)");
    sql(&target, "INSERT INTO t VALUES (1), (2)");
    write(
        &program,
        "w.toml",
        "[[transactions]]\nname = \"every\"\nstatements = [\n{ sql = \"UPDATE t SET a = a + 1\", rows = 1 }]\n",
    );
    let done = run(&program, &target, 2);
    assert_eq!(done.code, 1, "{}", done.err);
    assert!(done.err.contains("w.toml:4:10: expected 1 row, got 2"), "{}", done.err);
    assert_eq!(sql(&target, "SELECT sum(a) FROM t"), "3");
}

#[test]
fn errors_of_the_database_are_reported_together_before_the_run() {
    let program = Program::new();
    let target = fresh();
    let two = "[[transactions]]\nname = \"t\"\nstatements = [\"SELECT * FROM a\",\n\"SELECT * FROM b\"]\n";
    write(&program, "w.toml", two);
    let done = run(&program, &target, 1);
    assert_eq!(done.code, 2, "{}", done.out);
    assert!(
        done.err.contains("w.toml:3:16: ") && done.err.contains("w.toml:4:2: "),
        "{}",
        done.err
    );
    let query = "[parameters]\na = { generator = \"query\", sql = \"SELECT generate_series(1, 1000001)\" }\n\
                 [[transactions]]\nname = \"t\"\nstatements = \"SELECT :a\"\n";
    write(&program, "w.toml", query);
    let done = run(&program, &target, 1);
    assert_eq!(done.code, 2, "{}", done.out);
    assert!(done.err.contains("w.toml:2:35: the query of parameter `a` returned"), "{}", done.err);
    assert!(done.err.contains("add a LIMIT"), "{}", done.err);
}

#[test]
fn a_violated_check_and_a_wrong_audit_are_found() {
    let program = Program::new();
    let target = fresh();
    let file = |sum: &str| {
        format!(
            "[setup]\nsql = \"CREATE TABLE t (a int); INSERT INTO t VALUES (1)\"\n\
             [teardown]\nsql = \"DROP TABLE t\"\n\
             [[transactions]]\nname = \"add\"\nstatements = \"UPDATE t SET a = a + 1\"\n\
             [[checks]]\nname = \"low\"\nsql = \"SELECT a FROM t WHERE a > 3\"\n\
             [[audits]]\nname = \"sum\"\nsql = \"SELECT {sum} FROM t\"\ntransactions = [\"add\"]\n"
        )
    };
    write(&program, "w.toml", &file("SUM(a)"));
    program.ok(&["build", &target, "-w", "w.toml"]);
    program.ok(&["check", &target, "-w", "w.toml"]);
    assert_eq!(run(&program, &target, 3).code, 0);
    let checked = program.run(&["check", &target, "-w", "w.toml"]);
    assert_eq!(checked.code, 1, "{}", checked.err);
    write(&program, "w.toml", &file("SUM(2 * a)"));
    let done = run(&program, &target, 3);
    assert_eq!(done.code, 1, "{}{}", done.out, done.err);
    // Data of another set-up is not used.
    write(&program, "w.toml", &file("SUM(a)").replace("VALUES (1)", "VALUES (2)"));
    let done = run(&program, &target, 1);
    assert_eq!(done.code, 2, "{}", done.out);
    assert!(done.err.contains("another set-up script"), "{}", done.err);
    program.ok(&["build", &target, "-w", "w.toml", "--replace"]);
    assert_eq!(sql(&target, "SELECT a FROM t"), "2");
    program.ok(&["drop", &target, "-w", "w.toml", "--yes"]);
    assert_eq!(sql(&target, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "0");
}

#[test]
fn the_null_database_and_stored_jobs_have_workload_files() {
    let program = Program::new();
    program.ok(&["new", "workload", "."]);
    program.ok(&["run", "null:", "-w", "workload.toml", "--transactions=500"]);
    let text = std::fs::read_to_string(program.path("workload.toml")).unwrap();
    write(&program, "workload.toml", &text.replace("max = 5000", "max = 4000"));
    let job =
        "[run]\nworkload = \"custom\"\nworkload-file = \"workload.toml\"\ntransactions = 500\n";
    write(&program, "job.toml", job);
    program.ok(&["run", "null:", "--job-file", "job.toml"]);
    let compared = program.run(&["compare", "1", "2"]).out;
    assert!(compared.contains("workload.toml (sha256 "), "{compared}");
    let replayed = program.ok(&["run", "null:", "--replay-exemplar", "1:1"]);
    assert!(replayed.contains("bank_accounts"), "{replayed}");
    // The file is that of the job.
    let named = program.run(&["run", "null:", "-w", "workload.toml", "--replay-exemplar", "1:1"]);
    let why = "--replay-exemplar uses the workload file that is stored with job 1; omit -w";
    assert!(named.code == 2 && named.err.contains(why), "{}", named.err);
    let shown = program.ok(&["run", "null:", "-w", "workload.toml", "--show-spec"]);
    let scale = shown.lines().find(|line| line.starts_with("scale ")).unwrap();
    assert_eq!(scale.split_whitespace().nth(1), Some("1"), "{scale}");
}

#[test]
fn a_file_with_errors_is_rejected_before_anyone_connects() {
    let program = Program::new();
    write(&program, "w.toml", "nam = 1\n");
    let done = run(&program, "postgres://nobody@127.0.0.1:1/nowhere", 1);
    assert_eq!((done.code, done.out.as_str()), (2, ""), "{}", done.err);
    assert!(done.err.contains("w.toml:1:1: the workload file has no key `nam`"), "{}", done.err);
    let done = program.run(&["run", "null:", "-w", "nowhere.toml"]);
    assert!(done.err.contains("cannot read nowhere.toml"), "{}", done.err);
    assert!(!program.path("jobs.sqlite").exists(), "nothing is stored");
}

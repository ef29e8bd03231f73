//! `doctor` on real servers and files: what is wrong, what is hidden, and what never answers.

use std::net::TcpListener;

use serde_json::Value;
use triphammer_core::clock::Clock;
use triphammer_testbed::{MariadbOptions, MariadbServer, PostgresOptions, PostgresServer};

use crate::program::{Program, finish, has_thread, signal, wait_until};

/// The document of an examination, with its exit code.
fn examined(program: &Program, target: &str) -> (i32, Value) {
    let done = program.run(&["doctor", target, "--json"]);
    let document = serde_json::from_str(&done.out);
    (done.code, document.unwrap_or_else(|error| panic!("{error}: {}{}", done.out, done.err)))
}

/// Verdict and value of a check.
fn found<'a>(document: &'a Value, name: &str) -> (&'a str, &'a str) {
    let lines = document["lines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["name"] == name);
    let line = line.unwrap_or_else(|| panic!("no line for {name}: {document:#}"));
    (line["verdict"].as_str().unwrap(), line["value"].as_str().unwrap())
}

/// Every check of the database was made: its SQL suits this server.
fn assert_all_read(document: &Value) {
    for unread in document["unread"].as_array().unwrap() {
        assert_eq!(unread["reason"], "this host does not show it", "{document:#}");
    }
}

fn grants(document: &Value) -> Vec<&str> {
    document["hidden"].as_array().unwrap().iter().map(|h| h["grant"].as_str().unwrap()).collect()
}

/// The same target for another user with the password `r`.
fn as_user(target: &str, user: &str) -> String {
    let (scheme, rest) = target.split_once("://").unwrap();
    format!("{scheme}://{user}:r@{}", rest.split_once('@').unwrap().1)
}

#[test]
fn a_postgres_server_without_fsync_is_wrong_and_a_durable_one_is_not() {
    let program = Program::new();
    let server = PostgresServer::start(PostgresOptions { fsync: false, ..Default::default() });
    let server = server.unwrap();
    let target = server.fresh_database("doctor").unwrap();
    program.ok(&["build", &target, "--workload", "tpc-b"]);
    let (code, document) = examined(&program, &target);
    assert_eq!((code, found(&document, "fsync")), (1, ("wrong", "off")));
    assert_eq!(document["verdict"], "wrong");
    assert_eq!((document["host_of_database"].as_bool(), grants(&document)), (Some(true), vec![]));
    assert!(found(&document, "statistics").1.starts_with("0 of "), "{document:#}");
    for line in ["round_trip", "jitter", "download", "upload", "data_file_system"] {
        found(&document, line);
    }
    assert_all_read(&document);
    let text = program.run(&["doctor", &target]);
    assert_eq!(text.code, 1);
    assert!(text.out.lines().all(|line| line.chars().count() <= 80), "{}", text.out);
    assert!(text.out.contains("\nwrong  fsync: off\n"), "{}", text.out);

    let database = target.rsplit('/').next().unwrap().split('?').next().unwrap();
    server.run(database, "CREATE ROLE plain LOGIN PASSWORD 'r'").unwrap();
    let (_, hidden) = examined(&program, &as_user(&target, "plain"));
    assert_eq!(grants(&hidden), ["GRANT pg_monitor TO plain;"], "once: {hidden:#}");
    assert_all_read(&hidden);
    server.run(database, "GRANT pg_monitor TO plain").unwrap();
    let (_, granted) = examined(&program, &as_user(&target, "plain"));
    assert_eq!(grants(&granted), Vec::<&str>::new(), "the grant is the right one");
}

/// The log's size is judged by what the last run at the target wrote.
fn assert_log_against_the_last_run(target: &str, line: &str) {
    let program = Program::new();
    program.ok(&["build", target, "--workload", "tpc-b"]);
    let (_, before) = examined(&program, target);
    assert!(!found(&before, line).1.contains("in the last run"), "{before:#}");
    let load = ["--workload", "tpc-b", "--vus", "2", "--rampup", "0s", "--duration", "3s"];
    program.ok(&[&["run", target][..], &load].concat());
    let (_, after) = examined(&program, target);
    let value = found(&after, line).1;
    assert!(value.contains(" s in the last run"), "{after:#}");
    found(&after, "server_huge_pages");
    assert_all_read(&after);
}

#[test]
fn checkpoints_are_judged_by_what_the_last_run_wrote_on_postgres() {
    let server = PostgresServer::shared();
    assert_log_against_the_last_run(&server.fresh_database("rate").unwrap(), "max_wal_size");
}

#[test]
fn the_redo_log_is_judged_by_what_the_last_run_wrote_on_mariadb() {
    let server = MariadbServer::shared();
    assert_log_against_the_last_run(&server.fresh_database("rate").unwrap(), "redo_log_size");
}

#[test]
fn a_mariadb_server_that_does_not_flush_is_wrong() {
    let program = Program::new();
    let options = MariadbOptions {
        fsync: true,
        arguments: vec!["--innodb-flush-log-at-trx-commit=0".into()],
        ..Default::default()
    };
    let server = MariadbServer::start(options).unwrap();
    let target = server.fresh_database("doctor").unwrap();
    program.ok(&["build", &target, "--workload", "tpc-b"]);
    let (code, document) = examined(&program, &target);
    assert_eq!((code, found(&document, "flush_log_at_trx_commit")), (1, ("wrong", "0")));
    assert!(found(&document, "statistics").1.starts_with("0 of "), "{document:#}");
    assert_eq!(grants(&document), Vec::<&str>::new());
    assert_all_read(&document);
    for line in ["round_trip", "download", "upload", "redo_log_size", "max_connections"] {
        found(&document, line);
    }
    let database = target.rsplit('/').next().unwrap().split('?').next().unwrap();
    let create = format!("CREATE USER plain IDENTIFIED BY 'r'; GRANT ALL ON {database}.* TO plain");
    server.run(database, &create).unwrap();
    let (_, hidden) = examined(&program, &as_user(&target, "plain"));
    let expected = [
        "GRANT SELECT ON mysql.innodb_table_stats TO 'plain'@'%';",
        "GRANT PROCESS ON *.* TO 'plain'@'%';",
    ];
    assert_eq!(grants(&hidden), expected, "{hidden:#}");
    assert_all_read(&hidden);
    server.run(database, &expected.join(" ")).unwrap();
    let (_, granted) = examined(&program, &as_user(&target, "plain"));
    assert_eq!(grants(&granted), Vec::<&str>::new(), "the grants are the right ones");
}

#[test]
fn a_file_without_synchronous_is_wrong_and_none_is_created_or_changed() {
    let program = Program::new();
    let missing = program.run(&["doctor", "sqlite:none.sqlite"]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("none.sqlite: no such file"), "{}", missing.err);
    assert!(!program.path("none.sqlite").exists());
    program.ok(&["build", "sqlite:a.sqlite", "--workload", "tpc-b"]);
    let before = std::fs::read(program.path("a.sqlite")).unwrap();
    let (code, document) = examined(&program, "sqlite:a.sqlite?synchronous=off");
    assert_eq!((code, found(&document, "synchronous")), (1, ("wrong", "off")));
    assert_all_read(&document);
    found(&document, "data_file_system");
    let (code, document) = examined(&program, "sqlite:a.sqlite");
    assert_eq!(found(&document, "synchronous"), ("fine", "full"));
    assert_eq!(code, i32::from(document["verdict"] == "wrong"), "the host may be wrong");
    assert!(before == std::fs::read(program.path("a.sqlite")).unwrap(), "the file changed");
    assert!(!program.ok(&["jobs"]).contains("doctor"), "nothing is stored");
}

#[test]
fn a_duckdb_file_is_examined() {
    let program = Program::with_duckdb();
    program.ok(&["build", "duckdb:a.duckdb", "--workload", "tpc-b"]);
    let (_, document) = examined(&program, "duckdb:a.duckdb");
    assert_eq!(found(&document, "profiling"), ("fine", "off"));
    assert_all_read(&document);
}

#[test]
fn without_a_target_only_the_host_is_examined() {
    let program = Program::new();
    let done = program.run(&["doctor", "--json"]);
    let document: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(done.code, i32::from(document["verdict"] == "wrong"));
    assert!(document["target"].is_null() && document["server"].is_null());
    let lines = document["lines"].as_array().unwrap();
    assert!(!lines.is_empty() && lines.iter().all(|line| line["group"] == "host"));
    assert!(!program.path("tproc-c.sqlite").exists(), "no default file");
}

/// Both tests were made.
fn assert_tested(document: &Value) {
    let cpu = &document["cpu_test"];
    assert_eq!(cpu["result"], "873729.72", "{document:#}");
    assert!(cpu["seconds"].as_f64().unwrap() > 0.0);
    found(document, "single_thread_speed");
    assert_write_tested(document);
}

/// The write test was made: its times fit each other.
fn assert_write_tested(document: &Value) {
    found(document, "commit_latency");
    let test = &document["write_test"];
    let count = test["times"]["count"].as_u64().unwrap();
    let classes = test["histogram"].as_array().unwrap();
    let commits: u64 = classes.iter().map(|class| class["commits"].as_u64().unwrap()).sum();
    assert!(count > 0 && commits == count, "{test:#}");
    let time = |name: &str| test["times"][name].as_u64().unwrap();
    assert!(time("p50_us") <= time("p99_us") && time("p99_us") <= time("max_us"), "{test:#}");
    let lowest = test["times"]["mean_us"].as_f64().unwrap() * count as f64 / 1e6;
    assert!(test["seconds"].as_f64().unwrap() >= lowest * 0.99, "{test:#}");
}

/// What `doctor` left in a database, by a query of its names.
const LEFT_IN_POSTGRES: &str =
    "SELECT relname FROM pg_class WHERE relname LIKE 'triphammer_doctor%'
    UNION ALL SELECT proname FROM pg_proc WHERE proname LIKE 'triphammer_doctor%'";

fn database_of(target: &str) -> &str {
    target.rsplit('/').next().unwrap().split('?').next().unwrap()
}

#[test]
fn postgres_is_tested_and_nothing_remains() {
    let program = Program::new();
    let server = PostgresServer::shared();
    let target = server.fresh_database("doctor").unwrap();
    let tests = ["doctor", &target, "--cpu-test", "--write-test", "--json"];
    let first: Value = serde_json::from_str(&program.run(&tests).out).unwrap();
    assert_tested(&first);
    assert_all_read(&first);
    assert_eq!(first["cpu_test"]["earlier"].as_array().unwrap().len(), 0);
    assert!(server.run(database_of(&target), LEFT_IN_POSTGRES).unwrap().is_empty());
    let text = program.run(&["doctor", &target, "--cpu-test"]).out;
    let time = format!("{:.3} s  PostgreSQL", first["cpu_test"]["seconds"].as_f64().unwrap());
    assert!(text.contains("now, and earlier, from the job store"), "{text}");
    assert!(text.contains(&time), "the stored time `{time}`:\n{text}");
    assert!(!program.ok(&["jobs"]).contains("doctor"), "it is no job");

    let database = database_of(&target);
    server.run(database, "CREATE ROLE doctor_plain LOGIN PASSWORD 'r'").unwrap();
    // Before version 15, everybody may create tables there.
    server.run(database, "REVOKE CREATE ON SCHEMA public FROM PUBLIC").unwrap();
    let plain = as_user(&target, "doctor_plain");
    let refused = program.run(&["doctor", &plain, "--write-test", "--json"]);
    let document: Value = serde_json::from_str(&refused.out).unwrap();
    assert_eq!(refused.code, 1, "a test that was asked for was not made: {}", refused.err);
    assert!(document["write_test"].is_null());
    assert!(
        grants(&document).contains(&"GRANT CREATE ON SCHEMA public TO doctor_plain;"),
        "{document:#}"
    );
}

/// Makes each update of a new table wait or fail.
fn hinder_updates(server: &PostgresServer, database: &str, with: &str) {
    let sql = format!(
        "CREATE FUNCTION hinder() RETURNS trigger LANGUAGE plpgsql AS
             'BEGIN {with}; RETURN NEW; END';
         CREATE FUNCTION hook() RETURNS event_trigger LANGUAGE plpgsql AS $$
         DECLARE made record;
         BEGIN
             FOR made IN SELECT * FROM pg_event_trigger_ddl_commands()
                 WHERE command_tag = 'CREATE TABLE'
             LOOP
                 EXECUTE format('CREATE TRIGGER hinder BEFORE UPDATE ON %s FOR EACH ROW
                     EXECUTE FUNCTION hinder()', made.object_identity);
             END LOOP;
         END $$;
         CREATE EVENT TRIGGER hook ON ddl_command_end EXECUTE FUNCTION hook();"
    );
    server.run(database, &sql).unwrap();
}

#[test]
fn the_table_of_a_write_test_goes_after_ctrl_c_and_after_an_error() {
    let program = Program::new();
    let server = PostgresServer::shared();
    let target = server.fresh_database("doctor").unwrap();
    let database = database_of(&target);
    let left = || server.run(database, LEFT_IN_POSTGRES).unwrap();
    hinder_updates(server, database, "PERFORM pg_sleep(1)");
    let mut child = program.start(&["doctor", &target, "--write-test", "--json"]);
    wait_until(&mut child, "tables", || !left().is_empty());
    signal(&child, "INT");
    let done = finish(child);
    assert_eq!(done.code, 130, "{}", done.err);
    assert!(done.err.contains("removing what the test created"), "{}", done.err);
    let document: Value = serde_json::from_str(&done.out).unwrap();
    let unread = document["unread"].as_array().unwrap();
    assert!(unread.iter().any(|u| u["reason"] == "interrupted"), "{document:#}");
    assert!(left().is_empty(), "{:?}", left());

    // Killed: it remains, and is explained; a table of the user with a similar name is not.
    let mut child = program.start(&["doctor", &target, "--write-test"]);
    wait_until(&mut child, "tables", || !left().is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    let name = left()[0][0].clone().unwrap();
    server.run(database, "CREATE TABLE triphammer_doctors (id int)").unwrap();
    let (_, document) = examined(&program, &target);
    assert_eq!(found(&document, "left_by_doctor"), ("look", name.as_str()));

    server.run(database, &format!("DROP TABLE {name}, triphammer_doctors")).unwrap();
    let other = server.fresh_database("doctor").unwrap();
    hinder_updates(server, database_of(&other), "RAISE EXCEPTION $a$hindered$a$");
    let failed = program.run(&["doctor", &other, "--write-test", "--json"]);
    assert_eq!(failed.code, 1, "{}", failed.err);
    let document: Value = serde_json::from_str(&failed.out).unwrap();
    let mut unread = document["unread"].as_array().unwrap().iter();
    let reason = unread.find(|u| u["checks"][0] == "commit_latency").map(|u| &u["reason"]);
    assert!(reason.unwrap().as_str().unwrap().starts_with("hindered"), "{document:#}");
    assert!(server.run(database_of(&other), LEFT_IN_POSTGRES).unwrap().is_empty());
}

#[test]
fn mariadb_is_tested_and_its_procedure_goes_after_ctrl_c() {
    let program = Program::new();
    let server = MariadbServer::shared();
    let target = server.fresh_database("doctor").unwrap();
    let database = database_of(&target);
    let left = || {
        let sql = format!(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = '{database}'
             UNION ALL SELECT routine_name FROM information_schema.routines
             WHERE routine_schema = '{database}'"
        );
        server.run(database, &sql).unwrap()
    };
    let mut child = program.start(&["doctor", &target, "--cpu-test"]);
    wait_until(&mut child, "procedures", || !left().is_empty());
    signal(&child, "INT");
    let done = finish(child);
    assert_eq!(done.code, 130, "{}", done.err);
    assert!(left().is_empty(), "{:?}", left());
    let tests = ["doctor", &target, "--cpu-test", "--write-test", "--json"];
    assert_tested(&serde_json::from_str(&program.run(&tests).out).unwrap());
    assert!(left().is_empty(), "{:?}", left());
}

#[test]
fn files_are_tested_and_hold_nothing_more_afterwards() {
    let program = Program::with_duckdb();
    for (scheme, file) in [("sqlite", "a.sqlite"), ("duckdb", "a.duckdb")] {
        let target = format!("{scheme}:{file}");
        program.ok(&["build", &target, "--workload", "tpc-b"]);
        let tests = ["doctor", &target, "--write-test", "--json", "--cpu-test"];
        let done = program.run(&tests);
        let document = serde_json::from_str(&done.out);
        let document: Value = document.unwrap_or_else(|error| panic!("{error}: {}", done.err));
        assert_tested(&document);
        let (_, after) = examined(&program, &target);
        let names = after["lines"].as_array().unwrap().iter().map(|line| &line["name"]);
        assert_eq!(names.filter(|name| *name == "left_by_doctor").count(), 0, "{after:#}");
    }
    // A query in this process ends on Ctrl-C, too.
    let mut child = program.start(&["doctor", "sqlite:a.sqlite", "--cpu-test"]);
    let process = child.id();
    wait_until(&mut child, "guards", || has_thread(process, "guard"));
    signal(&child, "INT");
    let done = finish(child);
    assert_eq!(done.code, 130, "{}{}", done.out, done.err);
    let none = program.run(&["doctor", "null:", "--cpu-test"]);
    assert_eq!(none.code, 1, "{}", none.err);
    assert!(none.out.contains("this database has no such test"), "{}", none.out);
}

/// A short run, with what it said on stderr.
fn short_run(program: &Program, target: &str) -> (Value, String) {
    let args = ["run", target, "-w", "tpc-b", "--vus", "1", "--transactions", "20", "--json"];
    let done = program.run(&args);
    (serde_json::from_str(&done.out).unwrap(), done.err)
}

/// Verdict and value of a fact that a run keeps.
fn kept<'a>(result: &'a Value, name: &str) -> Option<(&'a str, &'a str)> {
    let facts = result["setup"].as_array().unwrap();
    let fact = facts.iter().find(|fact| fact["name"] == name)?;
    Some((fact["verdict"].as_str().unwrap(), fact["value"].as_str().unwrap()))
}

/// How a comparison of two runs names a fact.
fn difference(
    program: &Program,
    runs: [&Value; 2],
    subject: &str,
    name: &str,
) -> Option<[String; 2]> {
    let [a, b] = runs.map(|result| result["job"].to_string());
    let found = program.json(&["compare", &a, &b]);
    let all = found["differences"].as_array().unwrap();
    let differs = all.iter().find(|d| d["subject"] == subject && d["name"] == name)?;
    Some(["a", "b"].map(|side| differs[side].as_str().unwrap_or("-").to_owned()))
}

#[test]
fn a_run_without_fsync_is_warned_of_and_a_comparison_names_it() {
    let program = Program::new();
    let [(durable, silent), (fast, warned)] = [true, false].map(|fsync| {
        let server = PostgresServer::start(PostgresOptions { fsync, ..Default::default() });
        let server = server.unwrap();
        let target = server.fresh_database("doctor").unwrap();
        program.ok(&["build", &target, "--workload", "tpc-b"]);
        short_run(&program, &target)
    });
    assert!(!silent.contains("fsync"), "{silent}");
    assert_eq!(kept(&durable, "fsync"), Some(("fine", "on")));
    let line = warned.lines().find(|line| line.contains("fsync is off")).unwrap();
    assert!(line.contains("to change it: ALTER SYSTEM SET fsync = on"), "in one line: {line}");
    assert_eq!(kept(&fast, "fsync"), Some(("wrong", "off")));
    let warnings = fast["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["kind"] == "setup"), "{warnings:?}");
    let named = difference(&program, [&durable, &fast], "server_setting", "fsync");
    assert_eq!(named, Some(["on (default)".to_owned(), "off".to_owned()]));
    // What changes by itself is neither kept nor compared; what the host is set to is kept.
    for momentary in ["active_sessions", "max_connections", "host_load", "steal_time"] {
        assert_eq!(kept(&fast, momentary), None, "{momentary}");
    }
    assert!(kept(&fast, "open_files").is_some() && kept(&fast, "data_file_system").is_some());
    assert_eq!(difference(&program, [&durable, &fast], "host", "open_files"), None);
}

#[test]
fn a_run_on_a_mariadb_that_does_not_flush_is_warned_of_once_per_campaign() {
    let program = Program::new();
    let options = MariadbOptions { fsync: true, ..Default::default() };
    let server = MariadbServer::start(options).unwrap();
    let target = server.fresh_database("doctor").unwrap();
    let name = "flush_log_at_trx_commit";
    program.ok(&["build", &target, "--workload", "tpc-b"]);
    let (durable, silent) = short_run(&program, &target);
    server.run("mysql", "SET GLOBAL innodb_flush_log_at_trx_commit = 0").unwrap();
    let (fast, warned) = short_run(&program, &target);
    let text = "flush_log_at_trx_commit is 0. With 0 or 2, commits do not wait";
    assert!(!silent.contains(text) && warned.contains(text), "{silent}{warned}");
    assert_eq!([&durable, &fast].map(|run| kept(run, name).unwrap().0), ["fine", "wrong"]);
    let setting = "innodb_flush_log_at_trx_commit";
    let named = difference(&program, [&durable, &fast], "server_setting", setting);
    assert_eq!(named, Some(["1 (default)".to_owned(), "0".to_owned()]));
    let pairs = [
        "compare",
        "--ab",
        &target,
        &target,
        "-w",
        "tpc-b",
        "--vus",
        "1",
        "--rampup",
        "0s",
        "--duration",
        "1s",
        "--pairs",
        "2",
        "--cool-down",
        "0s",
    ];
    let done = program.run(&pairs);
    assert_eq!(done.err.matches(text).count(), 1, "{}", done.err);
}

/// A host's `/sys` in which both CPUs have this driver and governor.
fn write_sysfs(program: &Program, driver: &str, governor: &str) {
    for cpu in 0..2 {
        let folder = program.path(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq"));
        std::fs::create_dir_all(&folder).unwrap();
        for (file, text) in [
            ("scaling_driver", driver),
            ("scaling_governor", governor),
            ("cpuinfo_max_freq", "3900000"),
            ("scaling_max_freq", "3900000"),
        ] {
            std::fs::write(folder.join(file), format!("{text}\n")).unwrap();
        }
    }
    let turbo = program.path("sys/devices/system/cpu/intel_pstate");
    std::fs::create_dir_all(&turbo).unwrap();
    std::fs::write(turbo.join("no_turbo"), "0\n").unwrap();
}

#[test]
fn a_run_on_a_slow_governor_is_warned_of_and_one_on_an_active_driver_is_not() {
    let program = Program::new();
    program.ok(&["build", "sqlite:a.sqlite", "--workload", "tpc-b"]);
    let run = |driver: &str| {
        write_sysfs(&program, driver, "powersave");
        let load =
            ["-w", "tpc-b", "--vus", "1", "--transactions", "20", "--json", "--sysfs", "sys"];
        program.run(&[&["run", "sqlite:a.sqlite"][..], &load].concat())
    };
    let slow = run("acpi-cpufreq");
    let line = slow.err.lines().find(|line| line.contains("governor is powersave")).unwrap();
    assert!(line.contains("Measured: 20 to 25 % of the speed"), "{line}");
    assert!(line.contains("to change it: cpupower frequency-set -g performance"), "{line}");
    let result: Value = serde_json::from_str(&slow.out).unwrap();
    assert_eq!(kept(&result, "governor"), Some(("wrong", "powersave")));
    let warnings = result["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning["kind"] == "setup"), "{warnings:?}");
    // The same word, and no loss: the driver's own algorithm follows the load.
    let active = run("intel_pstate");
    assert!(!active.err.contains("governor"), "{}", active.err);
    let result: Value = serde_json::from_str(&active.out).unwrap();
    assert_eq!(kept(&result, "governor"), Some(("look", "powersave")));
    assert_eq!(kept(&result, "turbo"), Some(("look", "on")), "kept, without a warning");
}

#[test]
fn a_host_is_judged_by_one_goal_if_the_user_names_one() {
    let program = Program::new();
    write_sysfs(&program, "intel_pstate", "performance");
    let of = |goal: &[&str]| {
        let done = program.run(&[&["doctor", "--sysfs", "sys", "--json"], goal].concat());
        serde_json::from_str::<Value>(&done.out)
            .unwrap_or_else(|error| panic!("{error}: {}", done.err))
    };
    let both = of(&[]);
    assert_eq!((found(&both, "turbo"), &both["goal"]), (("look", "on"), &Value::Null));
    let turbo = both["lines"].as_array().unwrap().iter().find(|line| line["name"] == "turbo");
    let turbo = turbo.unwrap();
    assert_eq!(turbo["goals"], serde_json::json!(["comparable"]));
    assert!(turbo["cost"]["url"].as_str().unwrap().starts_with("https://"), "{turbo:#}");
    let speed = of(&["--goal", "speed"]);
    assert_eq!((found(&speed, "turbo"), &speed["goal"]), (("fine", "on"), &Value::from("speed")));
    assert_eq!(found(&of(&["--goal", "comparable"]), "turbo"), ("look", "on"));
    let text = program.run(&["doctor", "--sysfs", "sys"]).out;
    assert!(text.contains("For: comparable runs\n"), "{text}");
    assert!(text.contains("Worth: without turbo a PL/SQL loop took 8.89"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// The document of a test of the host, whose file is in `disk`.
fn host_tested(program: &Program) -> Value {
    let done = program.run(&["doctor", "--host-test", "--test-dir", "disk", "--json"]);
    let document: Value = serde_json::from_str(&done.out)
        .unwrap_or_else(|error| panic!("{error}: {}{}", done.out, done.err));
    let test = &document["host_test"];
    assert!(test["seconds"].as_f64().unwrap() < 35.0, "{test:#}");
    assert_eq!(std::fs::read_dir(program.path("disk")).unwrap().count(), 0, "nothing remains");
    document
}

#[test]
fn a_host_is_tested_and_compared_with_itself() {
    let program = Program::new();
    std::fs::create_dir(program.path("disk")).unwrap();
    let first = host_tested(&program);
    let test = &first["host_test"];
    assert_eq!(found(&first, "host_test"), ("fine", "no earlier test of this host"));
    for name in ["cpu_one", "cpu_all", "memory_bandwidth", "memory_latency", "disk_write"]
        .into_iter()
        .chain(["disk_read", "disk_random_read", "disk_random_reads", "disk_random_write"])
        .chain(["disk_sync_p50", "disk_sync_p99"])
    {
        let figures = test["figures"].as_array().unwrap();
        let figure = figures.iter().find(|figure| figure["name"] == name);
        let value = figure.unwrap_or_else(|| panic!("no {name}: {test:#}"))["value"].as_f64();
        assert!(value.unwrap() > 0.0, "{name}: {test:#}");
    }
    assert!(test["disk"]["folder"].as_str().unwrap().ends_with("/disk"), "{test:#}");
    assert_eq!(test["earlier"].as_array().unwrap().len(), 0);
    let second = host_tested(&program);
    assert_eq!(second["host_test"]["earlier"][0]["figures"], test["figures"], "the stored ones");
    assert!(!program.ok(&["jobs"]).contains("doctor"), "it is no job");
}

#[test]
fn a_test_of_the_host_leaves_nothing_after_ctrl_c() {
    let program = Program::new();
    std::fs::create_dir(program.path("disk")).unwrap();
    let child = program.start(&["doctor", "--host-test", "--test-dir", "disk", "--json"]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    signal(&child, "INT");
    let done = finish(child);
    assert_eq!(done.code, 130, "{}", done.err);
    let document: Value = serde_json::from_str(&done.out).unwrap();
    assert!(document["host_test"].is_null(), "{document:#}");
    assert_eq!(std::fs::read_dir(program.path("disk")).unwrap().count(), 0);
}

/// The connection is accepted, and nothing is ever sent.
#[test]
fn a_server_that_never_answers_is_left_in_time() {
    let program = Program::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    for scheme in ["postgres", "mysql"] {
        let target = format!("{scheme}://u:hunter2@127.0.0.1:{port}/d");
        let clock = Clock::start();
        let done = program.run(&["doctor", &target]);
        // Ten seconds are the limit; the kernel's own are minutes.
        assert!(clock.now().second() < 60, "{scheme}: {} s", clock.now().second());
        assert_eq!(done.code, 2, "{scheme}: {}", done.err);
        assert!(done.err.contains("answer within 10 s"), "{scheme}: {}", done.err);
        assert!(!done.err.contains("hunter2"), "{}", done.err);
    }
}

#[test]
fn bad_input_is_refused() {
    let program = Program::new();
    for (args, message) in [
        (&["doctor", "nonsense"][..], "must begin with its kind of database"),
        (&["doctor", "oracle://h/d"], "unknown scheme `oracle:`"),
        (&["doctor", "sqlite:a.db", "--scale", "2"], "--scale"),
        (&["doctor", "a:", "b:"], "unexpected argument"),
        (&["doctor", "null:", "--connect-timeout", "5"], "connect-timeout"),
        (&["doctor", "--write-test"], "--write-test needs the target of a database"),
        (&["doctor", "--goal", "fast"], "unknown goal `fast`: name speed or comparable"),
        (&["doctor", "--sysfs", "nowhere"], "--sysfs nowhere: not a directory"),
        (&["doctor", "--test-dir", "."], "--test-dir is the directory of --host-test"),
    ] {
        let done = program.run(args);
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{args:?}");
        assert!(done.err.contains(message), "{args:?}: {}", done.err);
    }
}

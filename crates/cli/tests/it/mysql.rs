//! The main job on a real MariaDB server, or on MySQL where the matrix puts one in its place.

use std::time::Duration;

use triphammer_testbed::{MariadbOptions, MariadbServer};

use crate::program::{Program, finish};

fn fresh(name: &str) -> String {
    MariadbServer::shared().fresh_database(name).unwrap()
}

fn committed(result: &serde_json::Value) -> i64 {
    result["run"]["types"][0]["committed"].as_i64().unwrap()
}

#[test]
fn both_modes_run_and_leave_data_that_holds() {
    let program = Program::new();
    let server = MariadbServer::shared();
    // The other scheme: the server says what it is.
    let target = fresh("modes").replace("mariadb:", "mysql:");
    program.ok(&["build", &target, "--scale", "2", "--jobs", "2"]);
    assert!(program.ok(&["check", &target]).contains("conditions"));
    for mode in ["procedures", "statements"] {
        let result = program.json(&[
            "run",
            &target,
            "--mode",
            mode,
            "--vus",
            "8",
            "--rampup",
            "1s",
            "--duration",
            "3s",
        ]);
        assert_eq!(result["headline"]["verification"]["verdict"], "verified", "{mode}");
        assert!(committed(&result) > 20, "{mode}");
        let product = if server.is_mariadb() { "MariaDB" } else { "MySQL" };
        assert_eq!(result["server"]["product"], product);
    }
    assert!(program.ok(&["check", &target]).contains("all 17 conditions"));
    assert!(program.ok(&["drop", &target, "--yes"]).contains("dropped"));
    let name = target.rsplit('/').next().unwrap();
    assert_eq!(server.run(name, "SHOW TABLES").unwrap(), Vec::<Vec<_>>::new());
}

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
fn a_server_killed_in_a_run_comes_back_and_the_counts_stay_within_their_bounds() {
    let options = MariadbOptions { fsync: true, ..Default::default() };
    let mut server = MariadbServer::start(options).unwrap();
    let program = Program::new();
    let target = server.fresh_database("killed").unwrap();
    program.ok(&["build", &target]);
    let child = program.start(&[
        "run",
        &target,
        "--vus",
        "8",
        "--rampup",
        "1s",
        "--duration",
        "12s",
        "--max-failures",
        "100%",
        "--json",
    ]);
    std::thread::sleep(Duration::from_secs(4));
    server.kill9();
    std::thread::sleep(Duration::from_secs(1));
    server.restart().unwrap();
    let done = finish(child);
    assert_eq!(done.code, 0, "{}", done.err);
    let result: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let verdict = result["headline"]["verification"]["verdict"].as_str().unwrap();
    assert!(["verified", "within_bounds"].contains(&verdict), "{}", result["headline"]);
    assert!(result["sessions"]["lost"].as_u64().unwrap() >= 8);
    assert!(program.ok(&["check", &target]).contains("all 17 conditions"));
}

#[test]
fn too_many_users_are_refused_with_how_many_connected() {
    let options = MariadbOptions { max_connections: 12, ..Default::default() };
    let server = MariadbServer::start(options).unwrap();
    let program = Program::new();
    let target = server.fresh_database("full").unwrap();
    program.ok(&["build", &target, "--jobs", "1"]);
    let done = program.run(&["run", &target, "--vus", "40", "--duration", "1s", "--rampup", "0s"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("of 40 virtual users"), "{}", done.err);
    assert!(done.err.contains("Too many connections"), "{}", done.err);
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

#[test]
fn no_password_is_found_anywhere() {
    let secret = "p@:/#%'\" wörd";
    let server = MariadbServer::shared();
    let target = fresh("secret");
    let name = target.rsplit('/').next().unwrap();
    let escaped = secret.replace('\'', "''");
    let user = format!("CREATE USER hush IDENTIFIED BY '{escaped}'; GRANT ALL ON *.* TO hush");
    server.run(name, &user).unwrap();
    let mut program = Program::new();
    std::fs::write(program.path("pw"), format!("{secret}\n")).unwrap();
    let target = format!("mysql://hush@127.0.0.1:{}/{name}", server.port());
    let mut said = String::new();
    for args in [
        &["build", &target, "--password-file", "pw"][..],
        &["run", &target, "--password-file", "pw", "--transactions", "5", "--vus", "1"],
        &["run", &target, "--password-file", "pw", "--transactions", "5", "--json"],
        &["run", &target, "--password-file", "pw", "--show-spec"],
        &["check", &target, "--password-file", "pw"],
        &["run", &target.replace("hush", "nobody"), "--password-file", "pw"],
        &["jobs", "--json"],
        &["report", "last"],
    ] {
        let done = program.run(args);
        let expected = if args[1].contains("nobody") { 2 } else { 0 };
        assert_eq!(done.code, expected, "{args:?}: {}", done.err);
        said.push_str(&done.out);
        said.push_str(&done.err);
    }
    std::fs::remove_file(program.path("pw")).unwrap();
    program.set("MYSQL_PWD", "wrong-hunter2");
    let refused = program.run(&["run", &target]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("Access denied for user 'hush'"), "{}", refused.err);
    said.push_str(&refused.err);
    let gone = program.run(&["run", &server.url("gone")]);
    assert_eq!(gone.code, 2);
    assert!(gone.err.contains("Unknown database 'gone'"), "{}", gone.err);
    said.push_str(&gone.err);
    for needle in [secret, "wrong-hunter2", "p@:/", server.password()] {
        assert!(!said.contains(needle), "{needle} is in the output: {said}");
        for (path, bytes) in program.files() {
            let found = bytes.windows(needle.len()).any(|window| window == needle.as_bytes());
            assert!(!found, "{needle} is in {}", path.display());
        }
    }
}

//! Bundles with the real program: files, exit codes, what other programs read of them, and repetitions.

use std::process::Command;

use triphammer_testbed::{MariadbServer, PostgresServer};

use crate::program::Program;

/// A run whose throughput is that of the service time.
const RUN: [&str; 9] =
    ["run", "null:?service=2ms", "-w", "tpc-b", "--vus", "2", "--rampup", "0s", "--duration"];

fn run(program: &Program, more: &[&str]) {
    program.ok(&[&RUN[..], &["1s"], more].concat());
}

#[test]
fn a_bundle_is_read_by_python_verified_and_says_what_it_shows() {
    let program = Program::new();
    run(&program, &["--label", "night"]);
    let out = program.ok(&["bundle", "last", "-o", "a.zip"]);
    assert!(out.contains("labels: night"), "{out}");
    let script = "import zipfile, json, hashlib\n\
                  z = zipfile.ZipFile('a.zip')\n\
                  assert z.testzip() is None\n\
                  for part in json.loads(z.read('manifest.json'))['parts']:\n    \
                  assert hashlib.sha256(z.read(part['name'])).hexdigest() == part['sha256']\n\
                  print(json.loads(z.read('document.json'))['label'])";
    let mut python = Command::new("python3");
    let read = python.args(["-c", script]).current_dir(program.folder()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&read.stdout), "night\n", "{read:?}");
    let out = program.ok(&["verify", "a.zip"]);
    for line in ["Everything agrees.", "Not signed", "It shows: labels night", "Method:"] {
        assert!(out.contains(line), "{line}: {out}");
    }
    let found = program.json(&["verify", "a.zip"]);
    assert!(found["agrees"] == true && found["kind"] == "verify", "{found}");
    program.ok(&["bundle", "last", "--anonymous"]);
    assert!(!program.ok(&["verify", "job-1.zip"]).contains("night"));
}

#[test]
fn exit_codes_tell_an_edit_from_what_is_no_bundle() {
    let program = Program::new();
    assert_eq!(program.run(&["bundle", "last"]).code, 2);
    run(&program, &[]);
    program.ok(&["bundle", "1", "-o", "a.zip"]);
    let bundle = std::fs::read(program.path("a.zip")).unwrap();
    let verified = |content: &[u8]| {
        std::fs::write(program.path("b.zip"), content).unwrap();
        program.run(&["verify", "b.zip"])
    };
    let mut edited = bundle.clone();
    let place = edited.len() / 2;
    edited[place] ^= 1;
    let done = verified(&edited);
    assert!(done.code == 1 && done.out.contains("do"), "{done:?}");
    assert!(done.out.contains("written") && done.out.contains("found"), "{}", done.out);
    for (content, reason) in [(&bundle[..1000], "not a zip archive"), (b"", "not a zip archive")] {
        let done = verified(content);
        assert!(done.code == 2 && done.err.contains(reason), "{done:?}");
    }
    let missing = program.run(&["verify", "nowhere.zip"]);
    assert!(missing.code == 2 && missing.err.contains("nowhere.zip"), "{missing:?}");
    assert!(program.run(&["bundle", "7"]).err.contains("there is no job 7"));
    assert!(program.run(&["bundle", "night"]).err.contains("no complete run has the label"));
    assert_eq!(program.run(&["repeat", "b.zip", "null:"]).code, 2);
}

#[test]
fn a_setting_of_durability_that_the_examination_lost_is_found() {
    let postgres = PostgresServer::shared().fresh_database("bundle_durability").unwrap();
    let mariadb = MariadbServer::shared().fresh_database("bundle_durability").unwrap();
    let checks = [("fsync", postgres), ("flush_log_at_trx_commit", mariadb)];
    for (check, target) in checks {
        let program = Program::new();
        program.ok(&["build", &target, "-w", "tpc-b", "--scale", "1"]);
        program.ok(&[
            "run",
            &target,
            "-w",
            "tpc-b",
            "--vus",
            "1",
            "--rampup",
            "0s",
            "--duration",
            "2s",
        ]);
        program.ok(&["bundle", "last", "-o", "a.zip"]);
        let found = program.json(&["verify", "a.zip"]);
        assert_eq!(found["agrees"], true, "{}", found["disagreements"]);
        let script = "import zipfile, json, sys\n\
                      a, b = zipfile.ZipFile('a.zip'), zipfile.ZipFile('b.zip', 'w', zipfile.ZIP_DEFLATED)\n\
                      for name in a.namelist():\n    \
                      part = a.read(name)\n    \
                      if name.endswith('facts.json'):\n        \
                      facts = json.loads(part)\n        \
                      facts['setup'] = [of for of in facts['setup'] if of['name'] != sys.argv[1]]\n        \
                      part = json.dumps(facts)\n    \
                      b.writestr(name, part)\n\
                      b.close()";
        let mut python = Command::new("python3");
        let edited = python.args(["-c", script, check]).current_dir(program.folder()).output();
        assert!(edited.as_ref().unwrap().status.success(), "{edited:?}");
        let done = program.run(&["verify", "b.zip", "--json"]);
        assert_eq!(done.code, 1, "{done:?}");
        let found: serde_json::Value = serde_json::from_str(&done.out).unwrap();
        let found = found["disagreements"].as_array().unwrap();
        let place = format!("setup: {check}");
        assert!(found.iter().any(|of| of["place"] == *place), "{place}: {found:?}");
    }
}

#[test]
fn what_cannot_be_repeated_is_refused_before_anything_is_built() {
    let program = Program::new();
    let short = ["--rampup", "0s", "--duration", "1s", "--mode", "procedures"];
    program
        .ok(&[&["run", "null:?service=2ms", "-w", "tproc-c", "--scale", "1"], &short[..]].concat());
    program.ok(&["bundle", "1", "-o", "one.zip"]);
    for (given, message) in [
        (&["null:", "--runs", "0"][..], "--runs must be 1 or more"),
        (&[], "name the database to repeat it on"),
        (&["sqlite:x.sqlite"], "procedures"),
    ] {
        let done = program.run(&[&["repeat", "one.zip"], given].concat());
        assert!(done.code == 2 && done.err.contains(message), "{done:?}");
    }
    assert!(!program.path("x.sqlite").exists());
    assert!(!program.ok(&["jobs"]).contains("build"), "no job of a build is left");
}

#[test]
fn one_run_is_repeated_without_a_verdict_and_five_with_one() {
    let program = Program::new();
    (0..5).for_each(|_| run(&program, &["--label", "base"]));
    program.ok(&["bundle", "1", "-o", "one.zip"]);
    let done = program.run(&["repeat", "one.zip", "null:?service=2ms"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(
        done.out.contains("Unknown: TPS is") && done.out.contains("1 of the 5 runs"),
        "{done:?}"
    );
    program.ok(&["bundle", "base", "-o", "five.zip"]);
    // Ten times as slow, whatever else the host does.
    let done = program.run(&["repeat", "five.zip", "null:?service=20ms"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.out.contains("Differs: TPS is"), "{}", done.out);
    let done = program.run(&["repeat", "five.zip", "null:?service=2ms", "--margin", "90%"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("Repeated: TPS is"), "{}", done.out);
}

#[test]
fn a_repetition_builds_the_same_data() {
    let program = Program::new();
    let built = ["-w", "tpc-b", "--scale", "1", "--seed", "5"];
    program.ok(&[&["build", "sqlite:a.sqlite"], &built[..]].concat());
    program.ok(&["run", "sqlite:a.sqlite", "--transactions", "30", "--vus", "1"]);
    program.ok(&["bundle", "last", "-o", "a.zip"]);
    let done = program.run(&["repeat", "a.zip", "sqlite:b.sqlite"]);
    assert!(done.code == 2 && done.out.contains("Unknown: TPS is"), "{done:?}");
    let sum = |file| program.number(file, "SELECT count(*) FROM pgbench_accounts");
    assert!(sum("b.sqlite") == sum("a.sqlite") && sum("a.sqlite") > 0);
    let seed = "SELECT count(*) FROM triphammer_build WHERE value = '5'";
    assert_eq!(program.number("b.sqlite", seed), program.number("a.sqlite", seed));
    program.ok(&["check", "sqlite:b.sqlite"]);
}

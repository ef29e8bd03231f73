//! `doctor --prove`: a setting of this host is changed between runs, and restored however they end. What is
//! really written is swappiness, in a copy of the machine's own files where they cannot be written.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::program::{Done, Program, finish, signal, until};

const FILE: &str = "/proc/sys/vm/swappiness";

/// The file is one for the whole host: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn swappiness() -> String {
    std::fs::read_to_string(FILE).unwrap_or_default().trim().to_owned()
}

/// Whether this host lets the tests change it: root, and not in a container that protects it.
fn may_change() -> bool {
    let may = std::fs::File::options().write(true).open(FILE).is_ok();
    if !may {
        eprintln!("not run: {FILE} is not writable");
    }
    may
}

/// The value before a test, and the right to change it; `None` if this host does not allow it.
fn begin() -> Option<(MutexGuard<'static, ()>, String, Program)> {
    let alone = alone();
    may_change().then(|| (alone, swappiness(), Program::new()))
}

/// Arguments of a short proof on the null database.
fn proof<'a>(check: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let short = ["--duration", "2s", "--rampup", "0s", "--cool-down", "0s", "-w", "tpc-b"];
    [&["doctor", "--prove", check, "null:"], &short[..], more].concat()
}

/// The values of the runs, in the order in which they were made, as the runs themselves read them.
fn seen(program: &Program) -> Vec<String> {
    let jobs: serde_json::Value =
        serde_json::from_str(&program.ok(&["jobs", "--parent", "1", "--json", "--limit", "50"]))
            .unwrap();
    let all = jobs.as_array().or_else(|| jobs["jobs"].as_array()).unwrap();
    let runs = all.iter().filter(|job| job["kind"] == "run").map(|job| job["id"].to_string());
    let value = |id: String| {
        let run: serde_json::Value =
            serde_json::from_str(&program.ok(&["report", &id, "--format", "json"])).unwrap();
        let setup = run["setup"].as_array().unwrap();
        let line = setup.iter().find(|line| line["name"] == "swappiness").unwrap();
        line["value"].as_str().unwrap().split(',').next().unwrap().to_owned()
    };
    runs.map(value).collect()
}

#[test]
fn a_setting_is_changed_between_runs_and_restored() {
    let Some((_alone, before, program)) = begin() else { return };
    let other = if before == "1" { "60" } else { "1" };
    let done = program.run(&proof("swappiness", &["--pairs", "2", "--yes"]));
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    assert!(done.err.contains("swappiness is restored"), "{}", done.err);
    assert_eq!(swappiness(), before);
    let words = format!("swappiness {other} instead of {before} on this host:");
    assert!(done.out.contains(&words), "{}", done.out);
    assert!(done.out.contains(" times the TPS ("), "{}", done.out);
    let mut values = seen(&program);
    values.sort_unstable();
    let mut expected = [before.as_str(), before.as_str(), other, other];
    expected.sort_unstable();
    assert_eq!(values, expected, "two runs of each side");
    let report = program.ok(&["report", "last"]);
    let list = program.ok(&["jobs"]);
    assert!(list.contains("compare"), "{list}{report}");
    let document = program.ok(&["report", "1", "--format", "json"]);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["host_setting"]["check"], "swappiness", "{document:#}");
    let named: Vec<&str> =
        [&document["a"], &document["b"]].map(|side| side["name"].as_str().unwrap()).to_vec();
    assert_eq!(named, [format!("swappiness = {before}"), format!("swappiness = {other}")]);
}

/// Starts a proof whose runs last, and waits until B's value is there.
fn begun(program: &Program, other: &str) -> std::process::Child {
    let long = ["--pairs", "5", "--yes", "--duration", "3s"];
    let child = program.start(
        &["doctor", "--prove", other, "null:", "-w", "tpc-b", "--rampup", "0s"]
            .into_iter()
            .chain(long)
            .collect::<Vec<_>>(),
    );
    let before = swappiness();
    // Each value is tried for a moment before the first run.
    let is_changed = || swappiness() != before;
    until("B has its value during a run", || {
        is_changed() && {
            std::thread::sleep(Duration::from_millis(500));
            is_changed()
        }
    });
    child
}

#[test]
fn an_interrupted_proof_restores_the_setting() {
    let Some((_alone, before, program)) = begin() else { return };
    let child = begun(&program, "swappiness");
    signal(&child, "INT");
    let done = finish(child);
    assert_eq!(done.code, 130, "{}{}", done.out, done.err);
    assert_eq!(swappiness(), before);
    assert!(done.err.contains("swappiness is restored"), "{}", done.err);
}

#[test]
fn a_killed_proof_is_restored_by_its_guard_or_by_the_next_doctor() {
    let Some((_alone, before, program)) = begin() else { return };
    let child = begun(&program, "swappiness");
    signal(&child, "KILL");
    finish(child);
    until("the guard restores it", || swappiness() == before);
    until("the guard ends", || !Path::new("/run/triphammer/host-settings").exists());
    // Another test's doctor may be the first one on this host: then once more.
    until("the next run warns, and the next doctor restores it", || is_left(&program, &before));
    assert_eq!(swappiness(), before);
    let again = program.run(&["doctor", "--restore-host"]);
    assert_eq!((again.code, again.out.as_str()), (0, "no setting of this host is left changed\n"));
}

/// Kills a proof and its guard, as with the whole group of a container; whether the next run warns of
/// what is left, and the next doctor restores it.
fn is_left(program: &Program, before: &str) -> bool {
    let child = begun(program, "swappiness");
    kill_guard(child.id());
    signal(&child, "KILL");
    finish(child);
    let is_changed = swappiness() != before;
    let run = program.run(&["run", "null:", "-w", "tpc-b", "--rampup", "0s", "--duration", "1s"]);
    let restored = program.run(&["doctor"]);
    is_changed
        && run.err.contains("left_by_prove is swappiness was")
        && restored.err.contains("restored a setting of this host: swappiness was")
}

/// Kills the shell that a process started.
fn kill_guard(parent: u32) {
    let processes = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let is_guard = |process: &u32| {
        let of = |file: &str| std::fs::read_to_string(format!("/proc/{process}/{file}"));
        let is_child = of("status").is_ok_and(|text| text.contains(&format!("PPid:\t{parent}\n")));
        is_child && of("cmdline").is_ok_and(|text| text.contains("host-settings"))
    };
    let guards: Vec<u32> = processes.filter(is_guard).collect();
    assert_eq!(guards.len(), 1, "one guard");
    let killed = Command::new("kill").args(["-KILL", &guards[0].to_string()]).status().unwrap();
    assert!(killed.success());
}

#[test]
fn what_cannot_be_proven_is_refused_with_the_reason() {
    let _alone = alone();
    let program = Program::new();
    let refused = |args: &[&str], words: &str| {
        let Done { code, out, err } = program.run(args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(words), "{args:?}: {err}");
    };
    refused(&["doctor", "--prove", "swappines", "null:"], "These can be proven: governor, ");
    refused(&["doctor", "--prove", "somaxconn", "null:"], "cannot be changed between two runs");
    refused(&["doctor", "--prove", "swappiness"], "--prove needs the target of a database");
    refused(&["doctor", "null:", "--pairs", "3"], "--pairs is about the runs of --prove");
    let both = ["doctor", "null:", "--prove", "swappiness", "--cpu-test"];
    refused(&both, "--prove and --cpu-test are two commands");
    // Without a terminal nobody can be asked.
    refused(&proof("swappiness", &[]), "nothing was changed: use --yes");
    refused(&["compare", "--prove", "swappiness", "null:"], "write CHECK=A,B");
    let sides = ["compare", "--prove", "swappiness=60,1", "null:", "--a", "vus=2"];
    refused(&sides, "A and B differ in the setting of the host only");
    let duet = ["compare", "--prove", "swappiness=60,1", "null:", "--duet"];
    refused(&duet, "a host has one value of a setting at a time");
}

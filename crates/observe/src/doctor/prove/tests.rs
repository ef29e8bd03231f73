//! Settings of a host whose files a test writes.

use std::path::Path;

use super::journal::write;
use super::*;

const SWAPPINESS: &str = "proc/sys/vm/swappiness";
const GOVERNOR: &str = "cpufreq/scaling_governor";

/// A folder with a host's files.
fn host(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// A host with two packages whose governors differ, and with two depths of sleep.
fn two_sockets() -> tempfile::TempDir {
    let mut files = vec![(SWAPPINESS.to_owned(), "60\n".to_owned())];
    for cpu in 0..4 {
        let of = |file: &str| format!("sys/devices/system/cpu/cpu{cpu}/{file}");
        files.push((of(GOVERNOR), ["performance\n", "powersave\n"][cpu / 2].to_owned()));
        files.push((of("cpufreq/cpuinfo_max_freq"), format!("{}\n", 3_900_000 + cpu * 100_000)));
        files.push((of("cpufreq/scaling_max_freq"), "2000000\n".to_owned()));
        for (state, latency) in ["2\n", "133\n"].into_iter().enumerate() {
            files.push((of(&format!("cpuidle/state{state}/latency")), latency.to_owned()));
            files.push((of(&format!("cpuidle/state{state}/disable")), "0\n".to_owned()));
        }
    }
    files.push(("sys/devices/system/cpu/intel_pstate/no_turbo".to_owned(), "1\n".to_owned()));
    files.push((
        "sys/kernel/mm/transparent_hugepage/enabled".to_owned(),
        "always [madvise] never\n".to_owned(),
    ));
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    host(&files)
}

fn found(root: &Path, check: &str) -> Found {
    Found::find(&HostFacts::begin(Files::under(root)), check).unwrap()
}

fn proof(text: &str) -> Proof {
    Proof::parse(text).unwrap()
}

/// What a file of each CPU contains.
fn of_cpus(root: &Path, file: &str) -> Vec<String> {
    let read = |cpu: usize| {
        let path = root.join(format!("sys/devices/system/cpu/cpu{cpu}/{file}"));
        std::fs::read_to_string(path).unwrap().trim().to_owned()
    };
    (0..4).map(read).collect()
}

#[test]
fn a_proof_is_a_check_with_two_values() {
    let of = proof(" swappiness = 60 , 1 ");
    assert_eq!((of.check.as_str(), of.to_string().as_str()), ("swappiness", "swappiness=60,1"));
    for (bad, why) in [
        ("swappiness", "write CHECK=A,B"),
        ("swappiness=60", "write CHECK=A,B"),
        ("swappiness=,1", "write CHECK=A,B"),
        ("swappiness=1,1", "both sides have the same value"),
        ("turbos=on,off", "unknown check `turbos`. These can be proven: governor, "),
        ("data_raid=0,1", "cannot be changed between two runs; what changes it: an array of"),
    ] {
        let refused = Proof::parse(bad).unwrap_err();
        assert!(refused.contains(why), "{bad}: {refused}");
    }
}

#[test]
fn values_are_named_as_the_check_names_them() {
    let folder = two_sockets();
    for (check, now) in [
        ("swappiness", &["60"][..]),
        ("governor", &["performance", "powersave"]),
        ("frequency_limit", &["2000000"]),
        ("turbo", &["off"]),
        ("c_states", &["all"]),
        ("transparent_huge_pages", &["madvise"]),
    ] {
        assert_eq!(found(folder.path(), check).now(), now, "{check}");
    }
    let facts = HostFacts::begin(Files::under(folder.path()));
    let Err(hidden) = Found::find(&facts, "smt") else { panic!("there is no such file") };
    assert!(hidden.to_string().contains("/sys/devices/system/cpu/smt/control"), "{hidden}");
}

#[test]
fn a_setting_is_changed_on_every_cpu_and_restored_to_what_each_had() {
    let folder = two_sockets();
    let root = folder.path();
    let before = of_cpus(root, GOVERNOR);
    let change = HostChange::of(&found(root, "governor"), &proof("governor=now,performance"));
    let change = change.unwrap();
    assert_eq!(of_cpus(root, GOVERNOR), before, "A begins");
    change.apply(1).unwrap();
    assert_eq!(of_cpus(root, GOVERNOR), ["performance"; 4]);
    assert_eq!(change.end().unwrap(), "governor is restored");
    assert_eq!(of_cpus(root, GOVERNOR), before);
    assert!(Journal::left(&Files::under(root)).is_none());
    // Each CPU has its own limit, and only deep states are disabled.
    let limits = proof("frequency_limit=now,unlimited");
    let change = HostChange::of(&found(root, "frequency_limit"), &limits).unwrap();
    change.apply(1).unwrap();
    let limits = of_cpus(root, "cpufreq/scaling_max_freq");
    assert_eq!(limits, ["3900000", "4000000", "4100000", "4200000"]);
    drop(change);
    assert_eq!(of_cpus(root, "cpufreq/scaling_max_freq"), ["2000000"; 4]);
    let sleep = proof("c_states=all,shallow");
    let change = HostChange::of(&found(root, "c_states"), &sleep).unwrap();
    change.apply(1).unwrap();
    let disabled = [0, 1].map(|state| of_cpus(root, &format!("cpuidle/state{state}/disable")));
    assert_eq!(disabled, [["0"; 4], ["1"; 4]].map(|all| all.map(str::to_owned).to_vec()));
}

#[test]
fn one_process_at_a_time_changes_a_host() {
    let folder = two_sockets();
    let root = folder.path();
    let first = HostChange::of(&found(root, "swappiness"), &proof("swappiness=60,1")).unwrap();
    let second = HostChange::of(&found(root, "turbo"), &proof("turbo=off,on"));
    let refused = second.map(drop).unwrap_err();
    assert!(refused.contains("another triphammer is changing"), "{refused}");
    assert!(Journal::left(&Files::under(root)).is_none(), "its owner is alive");
    drop(first);
    drop(HostChange::of(&found(root, "turbo"), &proof("turbo=off,on")).unwrap());
}

/// What a killed process leaves, without the shell that would restore it.
fn left(root: &Path, boot: &str, path: &str) {
    let journal = root.join("run/triphammer/host-settings");
    std::fs::create_dir_all(journal.parent().unwrap()).unwrap();
    let at = "2026-11-30T20:15:00Z";
    let text = format!("boot {boot}\ncheck swappiness\nat {at}\n{path}\t60\n");
    std::fs::write(journal, text).unwrap();
}

#[test]
fn what_a_killed_process_left_is_restored_by_the_next_one() {
    let folder = two_sockets();
    let root = folder.path().canonicalize().unwrap();
    let files = Files::under(&root);
    let path = root.join(SWAPPINESS);
    write(&path, "1").unwrap();
    left(&root, "unknown", &path.to_string_lossy());
    let found = Journal::left(&files).unwrap();
    let words = "swappiness was 60 until a triphammer that was killed changed it at \
                 2026-11-30T20:15:00Z";
    assert_eq!(found.words(), words);
    found.restore().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "60\n");
    assert!(Journal::left(&files).is_none());
    // A restart of the host has restored everything.
    left(&root, "another", &path.to_string_lossy());
    assert!(Journal::left(&files).is_none());
    // A file that is no setting is not written.
    let other = root.join("etc-passwd");
    std::fs::write(&other, "root").unwrap();
    left(&root, "unknown", &other.to_string_lossy());
    let refused = Journal::left(&files).unwrap().restore().unwrap_err();
    assert!(refused.contains("is not in this host's /sys or /proc/sys"), "{refused}");
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "root");
}

#[test]
fn a_value_that_the_kernel_does_not_take_changes_nothing() {
    let folder = two_sockets();
    let root = folder.path();
    let path = root.join(SWAPPINESS);
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    let made = HostChange::of(&found(root, "swappiness"), &proof("swappiness=60,1"));
    match made {
        // Root may write to it.
        Ok(change) => drop(change),
        Err(refused) => assert!(refused.contains("run as root"), "{refused}"),
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "60\n");
}

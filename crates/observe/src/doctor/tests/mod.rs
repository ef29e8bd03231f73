//! Hosts whose files a test writes, and networks whose times it knows.

mod of_run;
mod two_sockets;

use std::path::Path;

use triphammer_core::session::ServerProcess;
use triphammer_core::stats::Times;
use triphammer_document::doctor::{
    CpuTest, Goal, Hidden, HostFigure, HostReference, HostTest, HostTestDisk, HostTestMachine,
    LatencyClass, SetupVerdict, StoredCpuTest, StoredHostTest, WriteTest,
};
use triphammer_document::redacted::Redacted;
use triphammer_report as report;
use triphammer_report::Charset;
use triphammer_settings::files::Files;

use super::network::NetworkFacts;
use super::*;

/// A host described by these files, with the data of a database on it.
fn host(files: &[(&str, &str)]) -> (tempfile::TempDir, DoctorResult) {
    let folder = written(files);
    let result = examined(folder.path(), None);
    (folder, result)
}

/// A folder with these files.
fn written(files: &[(impl AsRef<str>, impl AsRef<str>)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path.as_ref());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text.as_ref()).unwrap();
    }
    folder
}

fn examined(root: &Path, goal: Option<Goal>) -> DoctorResult {
    let mut host = HostFacts::begin(Files::under(root));
    host.data = Some("/data/pg".into());
    host.end();
    let mut result = DoctorResult::empty();
    add_host(&mut result, &host, goal);
    result
}

/// All checks that a host without a server's processes may have.
fn all_checks() -> usize {
    host::checks().chain(host::data_checks()).count()
}

fn found<'a>(result: &'a DoctorResult, name: &str) -> (SetupVerdict, &'a str) {
    let line = result.lines.iter().find(|line| line.name == name);
    let line = line.unwrap_or_else(|| panic!("no line for {name}"));
    (line.verdict, &line.value)
}

/// A server for databases as it should be.
const GOOD: &[(&str, &str)] = &[
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
    ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_pstate\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "3900000\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3900000\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference", "performance\n"),
    ("sys/devices/system/cpu/cpu0/power/energy_perf_bias", "0\n"),
    ("sys/devices/system/cpu/intel_pstate/status", "active\n"),
    ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
    ("sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n"),
    ("sys/devices/system/cpu/cpuidle/current_governor", "menu\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state3/name", "C6\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state3/latency", "133\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state3/disable", "1\n"),
    ("sys/devices/system/cpu/cpu1/cpuidle/state3/disable", "1\n"),
    ("sys/devices/system/cpu/smt/active", "1\n"),
    ("sys/devices/system/node/node0/cpulist", "0-1\n"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    (
        "proc/meminfo",
        "MemTotal: 67108864 kB\nMemAvailable: 60000000 kB\nSwapTotal: 8 kB\n\
         HugePages_Total: 16\nHugePages_Free: 0\nHugepagesize: 2048 kB\n",
    ),
    ("sys/class/powercap/intel-rapl:0/name", "package-0\n"),
    ("sys/class/powercap/intel-rapl:0/energy_uj", "1000\n"),
    ("proc/sys/vm/swappiness", "1\n"),
    ("proc/sys/vm/dirty_background_ratio", "1\n"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
    ("run/systemd/timesync/synchronized", ""),
    ("proc/self/limits", "Limit  Soft  Hard\nMax open files            65536  65536  files\n"),
    ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
    ("proc/sys/net/core/somaxconn", "4096\n"),
    ("proc/loadavg", "0.10 0.20 0.30 1/200 4711\n"),
    ("proc/cpuinfo", "processor: 0\nflags\t: fpu sse2\n"),
    ("proc/stat", "cpu  100 0 100 9800 0 0 0 0 0 0\ncpu0 1 2 3\n"),
    (
        "proc/self/mountinfo",
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 259:3 / /data rw,noatime - xfs /dev/nvme0n1 rw\n",
    ),
    ("sys/dev/block/259:3/queue/scheduler", "[none] mq-deadline\n"),
    ("sys/dev/block/259:3/queue/rotational", "0\n"),
    ("sys/dev/block/259:3/queue/write_cache", "write back\n"),
    ("sys/dev/block/259:3/queue/logical_block_size", "512\n"),
    ("sys/dev/block/259:3/queue/physical_block_size", "4096\n"),
    ("sys/dev/block/259:3/queue/optimal_io_size", "0\n"),
];

#[test]
fn a_good_host_is_fine_in_every_line_for_its_goal() {
    let (folder, both) = host(GOOD);
    let comparable = examined(folder.path(), Some(Goal::Comparable));
    for line in &comparable.lines {
        assert_eq!(line.verdict, SetupVerdict::Fine, "{}: {}", line.name, line.value);
    }
    let counts = (comparable.lines.len(), comparable.unread.len());
    assert_eq!(counts, (all_checks(), 0), "{:?}", comparable.unread);
    assert_eq!(found(&both, "c_states").1, "down to POLL, 0 µs", "C6 is disabled");
    assert_eq!(found(&both, "data_file_system").1, "xfs on /data", "the longest mount point");
    assert_eq!(comparable.verdict, SetupVerdict::Fine);
    // Without turbo, runs are alike, and slower.
    let look = both.lines.iter().filter(|line| line.verdict == SetupVerdict::Look);
    let look: Vec<_> = look.map(|line| (line.name.as_str(), line.goals.as_slice())).collect();
    assert_eq!(look, [("turbo", &[Goal::Speed][..])]);
    let text = report::doctor(&comparable, Charset::Unicode);
    assert!(text.contains("The host is judged for comparable runs only."), "{text}");
}

#[test]
fn turbo_and_deep_sleep_serve_one_goal_each() {
    let turbo = "sys/devices/system/cpu/intel_pstate/no_turbo";
    let of = |on: bool, sleeps: bool, goal| {
        let mut files: Vec<_> = GOOD.to_vec();
        let (no_turbo, disabled) = (if on { "0" } else { "1" }, if sleeps { "0" } else { "1" });
        for (path, text) in &mut files {
            match *path {
                path if path == turbo => *text = no_turbo,
                path if path.ends_with("state3/disable") => *text = disabled,
                _ => {}
            }
        }
        let (folder, _) = host(&files);
        let result = examined(folder.path(), goal);
        let line = |name| result.lines.iter().find(|line| line.name == name).unwrap().clone();
        (line("turbo"), line("c_states"))
    };
    use SetupVerdict::{Fine, Look};
    let (fast, slow) = (Some(Goal::Speed), Some(Goal::Comparable));
    for (on, sleeps, goal, verdicts) in [
        (true, true, fast, (Fine, Fine)),
        (true, true, slow, (Look, Look)),
        (true, false, fast, (Fine, Look)),
        (true, false, slow, (Look, Fine)),
        (false, false, fast, (Look, Fine)),
        (false, false, slow, (Fine, Fine)),
        (false, true, fast, (Look, Fine)),
        (false, true, slow, (Fine, Look)),
    ] {
        let (turbo, c_states) = of(on, sleeps, goal);
        assert_eq!((turbo.verdict, c_states.verdict), verdicts, "{on} {sleeps} {goal:?}");
    }
    let (on, deep) = of(true, true, None);
    assert!(on.change.starts_with("echo 1 > ") && on.change.ends_with("it costs speed"), "{on:?}");
    assert!(deep.change.starts_with("cpupower idle-set -D 10"), "{deep:?}");
    let (_, shallow) = of(true, false, None);
    assert_eq!(shallow.value, "down to POLL, 0 µs: C6 is disabled");
    assert_eq!(shallow.change, "cpupower idle-set -E");
    assert_eq!(of(false, true, None).0.change.find("echo 0 > "), Some(0), "turbo off");
}

#[test]
fn huge_pages_of_a_server_are_those_that_its_processes_have() {
    use SetupVerdict::{Fine, Look};
    let status = |huge: u64, shared: u64| {
        format!(
            "Name:\tpostgres\nTgid:\t7\nPPid:\t1\nRssAnon:\t1024 kB\nRssFile:\t1024 kB\n\
             RssShmem:\t{shared} kB\nHugetlbPages:\t{huge} kB\n"
        )
    };
    for (huge, shared, verdict, value) in [
        (8_388_608, 0, Fine, "8.0 GiB"),
        (0, 1_048_576, Fine, "none, and 1.0 GiB in other pages"),
        (0, 9_437_184, Look, "none, and 9.0 GiB in other pages"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("proc/7")).unwrap();
        std::fs::write(folder.path().join("proc/7/status"), status(huge, shared)).unwrap();
        let mut host = HostFacts::begin(Files::under(folder.path()));
        host.find_server(Some(ServerProcess { id: 7, names: &["postgres"] }));
        let mut result = DoctorResult::empty();
        assert_eq!(make(&mut result, host::server_checks(), &host), Vec::<&str>::new());
        assert_eq!(found(&result, "server_huge_pages"), (verdict, value));
    }
}

#[test]
fn a_bad_host_has_a_verdict_for_each_fact() {
    use SetupVerdict::{Fine, Look, Wrong};
    const SECTORS: &str = "512 B logical, 4.0 KiB physical, partition at byte 32256, not aligned";
    let bad = [
        ("scaling_driver", Look, "acpi-cpufreq"),
        ("governor", Wrong, "powersave"),
        ("frequency_limit", Wrong, "1.20 of 3.50 GHz"),
        ("energy_preference", Look, "balance_power"),
        ("energy_bias", Look, "15, power saving"),
        ("turbo", Look, "on"),
        ("idle_driver", Fine, "acpi_idle, ladder: C6 133 µs"),
        ("c_states", Look, "down to C6, 133 µs"),
        ("smt", Look, "off"),
        ("numa", Look, "2 nodes, automatic balancing"),
        ("transparent_huge_pages", Look, "always"),
        ("huge_pages", Look, "1.0 GiB reserved, 1.0 GiB free"),
        ("swappiness", Look, "60"),
        ("memory_available", Look, "0.9 of 16.0 GiB"),
        ("clock_source", Wrong, "hpet"),
        ("time_synchronization", Look, "no program that does this is running"),
        ("open_files", Look, "1024"),
        ("local_ports", Look, "60000 to 60999"),
        ("somaxconn", Look, "128"),
        ("host_load", Look, "3.5 tasks on 1 CPU in the last minute"),
        ("virtualization", Look, "virtual machine (QEMU, Standard PC)"),
        ("steal_time", Wrong, "20.0 % since the start"),
        ("data_file_system", Wrong, "ext4, nobarrier on /"),
        ("data_mount_options", Look, "strictatime, discard"),
        ("data_disk_sectors", Look, SECTORS),
        ("data_raid", Fine, "none of the kernel's"),
        ("data_disk_scheduler", Look, "bfq"),
        ("data_disk_write_cache", Look, "write through"),
    ];
    let (_folder, result) = host(&[
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "acpi-cpufreq\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "1200000\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000\n"),
        ("sys/devices/system/cpu/cpu0/power/energy_perf_bias", "15\n"),
        ("sys/devices/system/cpu/cpuidle/current_driver", "acpi_idle\n"),
        ("sys/devices/system/cpu/cpuidle/current_governor_ro", "ladder\n"),
        ("sys/devices/system/cpu/smt/active", "0\n"),
        ("sys/devices/system/cpu/smt/control", "off\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference", "balance_power\n"),
        ("sys/devices/system/cpu/cpufreq/boost", "1\n"),
        ("sys/devices/system/cpu/cpu0/cpuidle/state3/name", "C6\n"),
        ("sys/devices/system/cpu/cpu0/cpuidle/state3/latency", "133\n"),
        ("sys/devices/system/node/node0/cpulist", "0\n"),
        ("sys/devices/system/node/node1/cpulist", "1\n"),
        ("proc/sys/kernel/numa_balancing", "1\n"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n"),
        (
            "proc/meminfo",
            "MemTotal: 16777216 kB\nMemAvailable: 943718 kB\nSwapTotal: 8 kB\n\
             HugePages_Total: 512\nHugePages_Free: 512\nHugepagesize: 2048 kB\n",
        ),
        ("proc/sys/vm/swappiness", "60\n"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"),
        ("proc/1/comm", "systemd\n"),
        ("proc/self/limits", "Max open files            1024  65536  files\n"),
        ("proc/sys/net/ipv4/ip_local_port_range", "60000\t60999\n"),
        ("proc/sys/net/core/somaxconn", "128\n"),
        ("proc/loadavg", "3.50 0.20 0.30 1/200 4711\n"),
        ("proc/cpuinfo", "flags\t\t: fpu hypervisor sse2\n"),
        ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
        ("sys/class/dmi/id/product_name", "Standard PC\n"),
        ("proc/stat", "cpu  100 0 100 600 0 0 0 200 0 0\n"),
        ("proc/self/mountinfo", "1 0 8:1 / / rw - ext4 /dev/sda1 rw,nobarrier,discard\n"),
        ("sys/dev/block/8:1/partition", "1\n"),
        ("sys/dev/block/8:1/start", "63\n"),
        ("sys/dev/block/8:1/../queue/logical_block_size", "512\n"),
        ("sys/dev/block/8:1/../queue/physical_block_size", "4096\n"),
        ("sys/dev/block/8:1/../queue/scheduler", "none [bfq]\n"),
        ("sys/dev/block/8:1/../queue/rotational", "1\n"),
        ("sys/dev/block/8:1/../queue/write_cache", "write through\n"),
    ]);
    for (name, verdict, value) in bad {
        assert_eq!(found(&result, name), (verdict, value), "{name}");
    }
    assert_eq!(result.verdict, Wrong);
    let text = report::doctor(&result, Charset::Unicode);
    let worst = text.lines().find(|line| line.starts_with("wrong") || line.starts_with("look"));
    assert!(worst.unwrap().starts_with("wrong  governor"), "the worst first:\n{text}");
    let ascii = report::doctor(&result, Charset::Ascii);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(ascii.is_ascii() && ascii.contains("133 us"), "{ascii}");
}

/// A file of nonsense is as good as none, and never a panic.
#[test]
fn a_host_that_shows_nothing_has_no_lines() {
    let (_folder, nothing) = host(&[]);
    assert_eq!((nothing.lines.len(), nothing.verdict), (0, SetupVerdict::Fine));
    assert_eq!(nothing.unread.len(), 1, "one reason");
    assert_eq!(nothing.unread[0].checks.len(), all_checks());
    // What accepts any word shows it, and counters that cannot be read are named.
    let words = [
        "scaling_driver",
        "governor",
        "energy_preference",
        "idle_driver",
        "clock_source",
        "data_disk_write_cache",
    ];
    for nonsense in ["", "x", "-1", "99999999999999999999999", "[", "cpu  1 2 3", "a b c : d - e"] {
        let files: Vec<_> = GOOD.iter().map(|(path, _)| (*path, nonsense)).collect();
        let (_folder, result) = host(&files);
        for line in &result.lines {
            let is_known = words.contains(&line.name.as_str())
                || ["numa", "time_synchronization", "energy_counters", "left_by_prove"]
                    .contains(&line.name.as_str());
            assert!(is_known, "`{nonsense}` gave {}: {}", line.name, line.value);
        }
    }
}

#[test]
fn time_stolen_now_counts_more_than_time_stolen_ever() {
    let folder = tempfile::tempdir().unwrap();
    let stat = folder.path().join("proc/stat");
    std::fs::create_dir_all(stat.parent().unwrap()).unwrap();
    std::fs::write(&stat, "cpu  0 0 0 1000 0 0 0 1000\n").unwrap();
    let mut host = HostFacts::begin(Files::under(folder.path()));
    std::fs::write(&stat, "cpu  0 0 0 1196 0 0 0 1004\n").unwrap();
    host.end();
    let mut result = DoctorResult::empty();
    add_host(&mut result, &host, None);
    assert_eq!(found(&result, "steal_time"), (SetupVerdict::Look, "2.0 % now"));
}

#[test]
fn a_network_is_judged_by_its_median_its_jitter_and_its_bandwidth() {
    let judged = |facts: &NetworkFacts| {
        let mut result = DoctorResult::empty();
        make(&mut result, network::CHECKS, facts);
        result
    };
    let near = NetworkFacts {
        round_trips_us: (0..100).map(|i| 100.0 + f64::from(i % 2) * 10.0).collect(),
        download: Some(1e9),
        upload: Some(50e6),
    };
    let near = judged(&near);
    assert!(near.lines.iter().all(|line| line.verdict == SetupVerdict::Fine), "{near:?}");
    assert_eq!(found(&near, "jitter").1, "0.010 ms");
    assert_eq!(found(&near, "download").1, "1000 MB/s");
    let far = NetworkFacts {
        round_trips_us: vec![1000.0, 5000.0, 1000.0, 5000.0],
        download: Some(1.2e6),
        upload: None,
    };
    let far = judged(&far);
    assert_eq!(found(&far, "round_trip"), (SetupVerdict::Look, "median 5.00 ms, p99 5.00 ms"));
    assert_eq!(found(&far, "jitter").0, SetupVerdict::Look);
    assert_eq!(found(&far, "download"), (SetupVerdict::Look, "1 MB/s"));
    assert_eq!(far.lines.len(), 3);
    assert!(judged(&NetworkFacts::default()).lines.is_empty(), "a database in this process");
    let one = NetworkFacts { round_trips_us: vec![1.0], ..NetworkFacts::default() };
    assert_eq!(judged(&one).lines.len(), 1, "one round trip has no jitter");
}

#[test]
fn a_missing_privilege_is_reported_once_with_its_grant() {
    let mut result = DoctorResult::empty();
    result.target = Some(Redacted::new("postgres://bench@db1/x"));
    result.hide("a", "GRANT pg_monitor TO {user};");
    result.hide("b", "GRANT pg_monitor TO {user};");
    result.fail("c", "no answer within 3 s");
    result.fail("d", "no answer within 3 s");
    let grant = "GRANT pg_monitor TO bench;".to_owned();
    assert_eq!(result.hidden, [Hidden { checks: vec!["a".into(), "b".into()], grant }]);
    assert_eq!(result.unread.len(), 1);
    let text = report::doctor(&result, Charset::Unicode);
    assert!(text.contains("Missing privilege for a, b:\n  GRANT pg_monitor TO bench;"), "{text}");
    assert!(text.contains("2 checks not completed (no answer within 3 s): c, d"), "{text}");
}

/// The declared result is that of the formula: no dialect's spelling of it is the reference.
#[test]
fn the_cpu_tests_result_is_that_of_its_formula() {
    let n = (1..=10_000_000).fold(0.0f64, |n, f| n % 999_999.0 + f64::from(f).sqrt());
    assert_eq!(format!("{n:.2}"), cpu_test::EXPECTED);
}

#[test]
fn tests_are_shown_with_earlier_times_and_a_wrong_number_is_wrong() {
    let earlier = StoredCpuTest {
        at: "2026-11-20T07:29:52Z".into(),
        product: "PostgreSQL".into(),
        version: "15.18".into(),
        cpu: Some("Some CPU @ 2.50GHz".into()),
        seconds: 4.181,
    };
    let test = |result: &str| CpuTest {
        seconds: 4.2,
        result: result.into(),
        earlier: vec![earlier.clone()],
    };
    let line = cpu_test::line(&test("873729.71"));
    assert_eq!(line.verdict, SetupVerdict::Wrong);
    assert_eq!(line.value, "4.200 s, with 873729.71 instead of 873729.72");
    let mut result = DoctorResult::empty();
    let classes = [(128, 10), (256, 1990)];
    result.cpu_test = Some(test(cpu_test::EXPECTED));
    result.write_test = Some(WriteTest {
        seconds: 0.6,
        times: Times { count: 2000, ..Times::default() },
        histogram: classes.map(|(up_to_us, commits)| LatencyClass { up_to_us, commits }).into(),
    });
    let text = report::doctor(&result, Charset::Unicode);
    assert!(text.contains("Single-thread speed: 4.200 s now, and earlier"), "{text}");
    assert!(
        text.contains("2026-11-20    4.181 s  PostgreSQL 15.18 · Some CPU @ 2.50GHz"),
        "{text}"
    );
    assert!(text.contains("Commit latency of 2,000 commits in 600ms"), "{text}");
    assert!(text.contains("  up to  0.256 ms   1,990  ████████████████████"), "{text}");
    let ascii = report::doctor(&result, Charset::Ascii);
    assert!(ascii.is_ascii() && ascii.contains("      10  #\n"), "{ascii}");
}

#[test]
fn a_test_of_the_host_is_shown_beside_earlier_ones_and_other_machines() {
    let figures = |cpu: f64, sync: f64| {
        [("cpu_one", cpu, "M steps/s"), ("disk_sync_p50", sync, "ms")]
            .map(|(name, value, unit)| HostFigure { name: name.into(), value, unit: unit.into() })
            .to_vec()
    };
    let machine = HostTestMachine {
        host: "db1".into(),
        cpu: Some("Some CPU @ 2.50GHz".into()),
        cpus: Some(2),
    };
    let earlier = |day: u32| StoredHostTest {
        at: format!("2026-11-{day}T07:29:52Z"),
        machine: machine.clone(),
        file_system: Some("xfs on /data".into()),
        figures: figures(100.0, 0.5),
    };
    let test = HostTest {
        seconds: 19.5,
        machine: machine.clone(),
        threads: 2,
        array_bytes: 128 << 20,
        cache_bytes: Some(32 << 20),
        disk: Some(HostTestDisk {
            folder: "/data/tmp".into(),
            file_system: "xfs on /data".into(),
            file_bytes: 256 << 20,
            direct: true,
        }),
        figures: figures(50.0, 0.55),
        earlier: (10..15).rev().map(earlier).collect(),
        references: vec![HostReference {
            machine: "another machine".into(),
            figures: figures(60.0, 1.25),
        }],
    };
    let line = host_test::line(&test);
    assert_eq!(line.verdict, SetupVerdict::Look);
    assert_eq!(line.value, "CPU, one thread 50.0 instead of 100 M steps/s");
    let mut result = DoctorResult::empty();
    result.lines.push(line);
    result.host_test = Some(test);
    let text = report::doctor(&result, Charset::Unicode);
    for words in [
        "Test of db1 · Some CPU @ 2.50GHz, in 19.5s",
        "2026-11-14",
        "(A) another machine",
        "The arrays of the triad have 128 MiB each, the caches 32.0 MiB; 2 threads.",
        "A file of 256 MiB in /data/tmp (xfs on /data), past the kernel's cache.",
    ] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    let row = text.lines().find(|line| line.trim_start().starts_with("CPU, one thread  ")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    let expected = ["CPU,", "one", "thread", "50.0", "100", "100", "100", "60.0", "M", "steps/s"];
    assert_eq!(cells, expected, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(report::doctor(&result, Charset::Ascii).is_ascii());
}

//! Hosts whose files a test writes, and the text of an exporter.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;

use super::*;

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn groups() -> Vec<ProcessGroup> {
    vec![ProcessGroup { name: "postgres".into(), process: "100".into() }]
}

const BEFORE: &[(&str, &str)] = &[
    (
        "proc/stat",
        "cpu  9 9 9 9\ncpu0 100 0 50 800 20 5 5 20\ncpu1 0 0 0 1000 0 0 0 0\nctxt 1000\nprocs_running 3\nprocs_blocked 1\n",
    ),
    (
        "proc/pressure/io",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n",
    ),
    (
        "proc/meminfo",
        "MemTotal: 1000 kB\nMemFree: 300 kB\nMemAvailable: 600 kB\nBuffers: 50 kB\nCached: 250 kB\nHugePages_Total: 10\nHugePages_Free: 4\n",
    ),
    (
        "proc/schedstat",
        "version 15\ntimestamp 1\ncpu0 0 0 0 0 0 0 9 1000000 10\ndomain0 3 0\ncpu1 0 0 0 0 0 0 9 1000000 10\n",
    ),
    ("proc/vmstat", "pgmajfault 10\npswpin 1\npswpout 5\nnuma_pages_migrated 1\n"),
    ("proc/101/schedstat", "900 2000000 10\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\n"),
    ("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "1200000\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/name", "C6\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/time", "1000000\n"),
    ("sys/devices/system/cpu/cpu1/cpuidle/state0/name", "C6\n"),
    ("sys/devices/system/cpu/cpu1/cpuidle/state0/time", "1000000\n"),
    (
        "proc/diskstats",
        " 8 0 sda 100 0 800 50 10 0 80 20 0 1000 2000 0 0 0 0 0 0\n 8 1 sda1 100 0 800 50 10 0 80 20 0 1000 2000\n 7 0 loop0 5 0 5 5 5 5 5 5 0 5 5\n 8 16 sdb 0 0 0 0 0 0 0 0 0 0 0\n",
    ),
    ("sys/class/block/sda1/partition", "1\n"),
    (
        "proc/net/dev",
        "Inter-|   Receive\n face |bytes\n  eth0: 1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0\n  unused0: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
    ),
    ("proc/100/stat", "100 (post (gres) S 1 100 100 0 -1 0 0 0 0 0 40 10 0 0\n"),
    (
        "proc/100/status",
        "Name:\tpostgres\nTgid:\t100\nPPid:\t1\nRssAnon: 10 kB\nRssFile: 5 kB\nRssShmem: 100 kB\n",
    ),
    ("proc/100/task/100/children", "101 102 "),
    (
        "proc/101/stat",
        "101 (postgres) S 100 100 100 0 -1 0 0 0 0 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
    ),
    (
        "proc/101/status",
        "Name:\tpostgres\nTgid:\t101\nPPid:\t100\nRssAnon: 20 kB\nRssFile: 0 kB\nRssShmem: 80 kB\n",
    ),
];

const AFTER: &[(&str, &str)] = &[
    (
        "proc/stat",
        "cpu  9 9 9 9\ncpu0 150 0 70 820 30 5 5 20\ncpu1 0 0 0 1100 0 0 0 0\nctxt 4000\nprocs_running 5\nprocs_blocked 0\n",
    ),
    (
        "proc/pressure/io",
        "some avg10=0.00 avg60=0.00 avg300=0.00 total=1400000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=500000\n",
    ),
    (
        "proc/diskstats",
        " 8 0 sda 140 0 1600 90 10 0 80 20 0 1500 4400 0 0 0 0 0 0\n 8 1 sda1 140 0 1600 90 10 0 80 20 0 1500 4400\n",
    ),
    ("sys/devices/system/cpu/cpu1/cpuidle/state0/time", "1500000\n"),
    ("proc/schedstat", "cpu0 0 0 0 0 0 0 9 5000000 20\ncpu1 0 0 0 0 0 0 9 2000000 10\n"),
    ("proc/vmstat", "pgmajfault 12\npswpin 1\npswpout 25\nnuma_pages_migrated 4\n"),
    ("proc/101/schedstat", "900 8000000 13\n"),
    ("proc/net/dev", "  eth0: 5000 30 1 2 0 0 0 0 2000 20 3 4 0 0 0 0\n"),
    ("proc/100/task/100/children", "101 103 "),
    (
        "proc/101/stat",
        "101 (postgres) S 100 100 100 0 -1 0 0 0 0 0 150 10 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0\n",
    ),
    (
        "proc/103/stat",
        "103 (postgres) S 100 100 100 0 -1 0 0 0 0 0 30 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0\n",
    ),
];

/// The value of a metric with these labels.
fn of(values: &[HostValue], metric: &str, labels: &[&str]) -> Option<f64> {
    let mut all = values.iter();
    let found = all.find(|value| value.metric.name == metric && value.labels == labels);
    found.map(|value| (value.value * 1e6).round() / 1e6)
}

/// What was observed between two moments that are a second apart.
fn observed() -> (tempfile::TempDir, Vec<HostValue>, Vec<HostValue>) {
    let folder = tempfile::tempdir().unwrap();
    let files = Files::under(folder.path());
    write(folder.path(), BEFORE);
    let before = linux::read(&files, &groups());
    write(folder.path(), AFTER);
    let now = linux::read(&files, &groups());
    let states = values(None, &before, 0.0);
    (folder, states, values(Some(&before), &now, 1.0))
}

#[test]
fn counters_of_linux_are_rates_and_states_are_values() {
    let (_folder, first, found) = observed();
    // Of 200 ticks of both CPUs, the first used 50 and 20, and waited 10 for its disk.
    assert_eq!(of(&found, "system.cpu.utilization", &["", "user"]), Some(0.25));
    assert_eq!(of(&found, "system.cpu.utilization", &["0", "user"]), Some(0.5));
    assert_eq!(of(&found, "system.cpu.utilization", &["0", "iowait"]), Some(0.1));
    assert_eq!(of(&found, "system.cpu.utilization", &["1", "user"]), None, "it never did");
    assert_eq!(of(&found, "system.process.count", &["running"]), Some(5.0));
    assert_eq!(of(&found, "system.linux.pressure", &["io", "some"]), Some(0.4));
    assert_eq!(of(&found, "system.linux.pressure", &["io", "full"]), Some(0.0));
    assert_eq!(of(&found, "system.linux.pressure", &["cpu", "some"]), None, "not reported");
    assert_eq!(of(&found, "system.memory.usage", &["used"]), Some(400.0 * 1024.0));
    assert_eq!(of(&found, "system.linux.memory.available", &[]), Some(600.0 * 1024.0));
    assert_eq!(of(&found, "system.cpu.frequency", &[""]), Some(1.8e9));
    assert_eq!(of(&found, "system.cpu.frequency", &["1"]), Some(1.2e9));
    assert_eq!(of(&found, "system.linux.cpu.idle_state", &["C6"]), Some(0.25), "of two CPUs");
    assert_eq!(of(&found, "system.memory.linux.hugepages.usage", &["used"]), Some(6.0));
    let read = &["sda", "read"];
    assert_eq!(of(&found, "system.disk.operations", read), Some(40.0));
    assert_eq!(of(&found, "system.disk.io", read), Some(800.0 * 512.0));
    assert_eq!(of(&found, "system.disk.latency", read), Some(1.0));
    assert_eq!(of(&found, "system.disk.latency", &["sda", "write"]), None, "nothing was written");
    assert_eq!(of(&found, "system.disk.io_time", &["sda"]), Some(0.5));
    assert_eq!(of(&found, "system.disk.weighted_io_time", &["sda"]), Some(2.4));
    assert_eq!(of(&found, "system.network.io", &["eth0", "receive"]), Some(4000.0));
    assert_eq!(of(&found, "system.network.errors", &["eth0", "transmit"]), Some(0.0));
    assert_eq!(of(&found, "system.linux.cpu.server_tasks", &["1"]), Some(2.0), "both worked there");
    assert_eq!(of(&found, "system.linux.cpu.server_tasks", &["0"]), Some(0.0));
    assert_eq!(of(&found, "system.linux.context_switches", &[]), Some(3000.0));
    assert_eq!(of(&found, "system.linux.run_queue.latency", &[""]), Some(0.5), "5 ms in 10 times");
    assert_eq!(of(&found, "system.linux.run_queue.latency", &["postgres"]), Some(2.0));
    assert_eq!(of(&found, "process.linux.migrations", &["postgres"]), Some(1.0), "it was on CPU 0");
    assert_eq!(of(&found, "system.paging.faults", &["major"]), Some(2.0));
    assert_eq!(of(&found, "system.paging.operations", &["out"]), Some(20.0));
    assert_eq!(of(&found, "system.linux.numa.pages_migrated", &[]), Some(3.0));
    // A session began, another ended, and the server's first process did nothing.
    assert_eq!(of(&found, "process.cpu.utilization", &["postgres"]), Some(0.9));
    let resident = (10.0 + 5.0 + 20.0 + 100.0) * 1024.0;
    assert_eq!(of(&found, "process.memory.usage", &["postgres"]), Some(resident));
    for name in ["sda1", "loop0", "sdb", "unused0"] {
        let is_of = |value: &HostValue| value.labels.iter().any(|label| label == name);
        assert!(!found.iter().any(is_of), "{name}");
    }
    let rates = ["system.cpu.utilization", "system.disk.io", "process.cpu.utilization"];
    let is_rate = |value: &&HostValue| rates.contains(&value.metric.name);
    assert_eq!(first.iter().find(is_rate), None, "the first reading has no rates");
    assert_eq!(of(&first, "system.process.count", &["blocked"]), Some(1.0));
}

#[test]
fn values_have_the_labels_that_are_declared() {
    let (_folder, _, found) = observed();
    for value in &found {
        assert_eq!(value.labels.len(), value.metric.labels.len(), "{value:?}");
    }
    let declared = |metric: &HostMetric| found.iter().any(|value| value.metric == *metric);
    let missing: Vec<_> = HOST_METRICS.iter().filter(|m| !declared(m)).map(|m| m.name).collect();
    assert_eq!(missing, [POWER.name], "power is read by the meters of energy");
}

#[test]
fn a_host_that_shows_nothing_or_nonsense_has_no_values() {
    for nonsense in ["", "x", "cpu0 1", "cpu0 a b c d e f g h", "some total=", ": : :", "8 0 sda 1"]
    {
        let folder = tempfile::tempdir().unwrap();
        let files: Vec<_> = BEFORE.iter().map(|(path, _)| (*path, nonsense)).collect();
        write(folder.path(), &files);
        let now = linux::read(&Files::under(folder.path()), &groups());
        assert_eq!(now, Snapshot::default(), "{nonsense}");
    }
    // A counter that restarted has no rate.
    let cpu = |ticks: f64| Snapshot { cpus: [(0, [ticks; 8])].into(), ..Snapshot::default() };
    assert_eq!(values(Some(&cpu(5.0)), &cpu(1.0), 1.0), []);
}

const EXPORTED: &str = r#"# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="idle"} 800
node_cpu_seconds_total{cpu="0",mode="irq"} 1
node_cpu_seconds_total{cpu="0",mode="softirq"} 2.5
node_cpu_seconds_total{cpu="0",mode="user"} 1.5e+02 1395066363000
node_cpu_scaling_frequency_hertz{cpu="0"} 2.1e+09
node_memory_HugePages_Total 8
node_memory_HugePages_Free 8
node_context_switches_total 5000
node_schedstat_waiting_seconds_total{cpu="0"} 0.5
node_schedstat_waiting_seconds_total{cpu="1"} 0.25
node_schedstat_timeslices_total{cpu="0"} 100
node_vmstat_pgmajfault 7
node_procs_running 4
node_pressure_io_waiting_seconds_total 1.25
node_memory_MemTotal_bytes 1.024e+06
node_memory_MemFree_bytes 24000
node_memory_MemAvailable_bytes 5e+05
node_disk_reads_completed_total{device="nvme0n1"} 100
node_disk_read_bytes_total{device="nvme0n1"} 4096
node_disk_read_time_seconds_total{device="nvme0n1"} 0.5
node_disk_io_time_seconds_total{device="nvme0n1"} 0.25
node_disk_reads_completed_total{device="loop0"} 9
node_network_receive_bytes_total{device="eth0"} 1234
node_network_receive_packets_total{device="eth0"} 12
node_network_receive_errs_total{device="eth0"} 1
node_network_receive_drop_total{device="eth0"} 2
node_filesystem_size_bytes{device="/dev/sda1",mountpoint="/a } b"} 1
go_goroutines 8
node_procs_blocked NaN
"#;

#[test]
fn the_text_of_a_node_exporter_gives_the_same_counters() {
    let now = node_exporter::parse(EXPORTED);
    assert_eq!(now.cpus[&0], [150.0, 0.0, 0.0, 800.0, 0.0, 1.0, 2.5, 0.0]);
    assert_eq!((now.running, now.blocked), (Some(4.0), None));
    assert_eq!((now.switches, now.paging), (Some(5000.0), [Some(7.0), None, None, None]));
    assert_eq!(now.run_queue, Some(snapshot::Waits { seconds: 0.75, count: 100.0 }));
    assert_eq!(now.pressure[&("io", "some")], 1.25);
    assert_eq!((now.frequencies[&0], now.huge_pages), (2.1e9, Some([0.0, 8.0])));
    assert_eq!((now.available, now.memory["used"]), (Some(5e5), 1e6));
    assert_eq!(now.disks.keys().collect::<Vec<_>>(), ["nvme0n1"]);
    let disk = now.disks["nvme0n1"];
    assert_eq!((disk.operations[0], disk.bytes[0], disk.seconds[0]), (100.0, 4096.0, 0.5));
    let network = now.networks["eth0"];
    assert_eq!((network.bytes[0], network.packets[0], network.errors[0]), (1234.0, 12.0, 3.0));
    assert_eq!(
        node_exporter::parse("<html>no exporter</html>\n{} 1\nnode_ x\n"),
        Snapshot::default()
    );
}

#[test]
fn an_exporter_is_read_over_http_and_its_series_name_its_host() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://127.0.0.1:{}/metrics", listener.local_addr().unwrap().port());
    let server = std::thread::spawn(move || {
        for answer in [EXPORTED, "", EXPORTED] {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap();
            assert!(request[..length].starts_with(b"GET /metrics HTTP/1.1\r\n"));
            let status = if answer.is_empty() { "503 Busy" } else { "200 OK" };
            let length = answer.len();
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n");
            stream.write_all(format!("{head}{answer}").as_bytes()).unwrap();
        }
    });
    let mut host = Host::new(From::Exporter(url.parse().unwrap(), None));
    let sampled = [0, 1, 2].map(|second| host.sample(second));
    server.join().unwrap();
    let named = |index: usize, metric: &str| {
        sampled[index].iter().find(|(series, _)| series.metric == metric)
    };
    let (series, value) = named(0, "system.process.count").unwrap();
    assert!(series.has(&[("process.state", "running"), ("host.name", "127.0.0.1")]), "{series:?}");
    assert_eq!(*value, 4.0);
    assert_eq!(sampled[1].len(), 0, "no answer is a gap");
    let again = named(2, "system.process.count").unwrap();
    assert!(Arc::ptr_eq(series, &again.0), "the same series");
    assert!(named(2, "system.network.io").is_some(), "rates since the last answer");
}

#[test]
fn addresses_of_exporters_are_http_urls() {
    let exporter: Exporter = "http://db1".parse().unwrap();
    assert_eq!(exporter.to_string(), "http://db1/metrics");
    let exporter: Exporter = "http://[::1]:9200/x?collect[]=cpu".parse().unwrap();
    assert_eq!(
        (exporter.host.as_str(), exporter.to_string().as_str()),
        ("::1", "http://[::1]:9200/x?collect[]=cpu")
    );
    for wrong in ["", "db1:9100", "https://db1", "http://", "http://user:secret@db1/"] {
        let error = wrong.parse::<Exporter>().unwrap_err();
        assert!(error.contains("http://db1:9100/metrics") && !error.contains("secret"), "{wrong}");
    }
}

#[test]
fn the_processes_of_a_server_are_found_from_one_of_its_sessions() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), BEFORE);
    let files = Files::under(folder.path());
    let server = |id, names| group_of(&files, ServerProcess { id, names });
    assert_eq!(server(101, &["postgres"]), Some(groups().remove(0)));
    assert_eq!(server(100, &["postgres"]), Some(groups().remove(0)));
    assert_eq!(server(101, &["mariadbd"]), None, "another program has this id");
    assert_eq!(server(999, &["postgres"]), None);
}

#[test]
fn this_host_is_read() {
    let this = ProcessGroup { name: "triphammer".into(), process: "self".into() };
    let mut host = Host::new(From::Files(Files::of_this_host(), vec![this]));
    host.sample(0);
    let found = host.sample(1);
    let has = |metric: &str| found.iter().any(|(series, _)| series.metric == metric);
    assert_eq!(has("system.memory.usage"), cfg!(target_os = "linux"));
    assert_eq!(has("process.memory.usage"), cfg!(target_os = "linux"));
}

/// A host of two packages with two CPUs each. CPU 2 handles the interrupts of the network; CPU 3 runs one thread of a
/// server whose sessions are threads.
fn two_sockets(busy: &str, soft: u32, thread: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let other = "10 0 10 1000 0 0 0 0";
    let stat = format!(
        "cpu0 {other}\ncpu1 {other}\ncpu2 10 0 10 1000 0 {} {soft} 0\ncpu3 {busy}\n",
        soft / 10
    );
    let threads =
        format!("7 (mariadbd) S 1 7 7 0 -1 0 0 0 0 0 {thread} 0 0 0 {}3 0\n", "0 ".repeat(21));
    let idle = threads.replace("7 (", "8 (").replace(&format!("0 {thread} 0 0 0 0"), "0 5 0 0 0 0");
    write(
        folder.path(),
        &[
            ("proc/stat", &stat),
            ("proc/7/stat", &threads),
            ("proc/7/status", "Name:\tmariadbd\nTgid:\t7\nPPid:\t1\nRssAnon: 10 kB\n"),
            ("proc/7/task/7/stat", &threads),
            ("proc/7/task/8/stat", &idle),
        ],
    );
    for cpu in 0..4_u32 {
        let topology = format!("sys/devices/system/cpu/cpu{cpu}/topology");
        write(
            folder.path(),
            &[
                (&format!("{topology}/physical_package_id"), &(cpu / 2).to_string()),
                (&format!("{topology}/core_id"), &(cpu % 2).to_string()),
                (
                    &format!("sys/devices/system/node/node{}/cpulist", cpu / 2),
                    if cpu < 2 { "0-1" } else { "2-3" },
                ),
            ],
        );
    }
    folder
}

#[test]
fn each_cpu_of_two_packages_is_mapped_with_interrupts_and_the_threads_of_the_server() {
    let group = ProcessGroup { name: "mariadbd".into(), process: "7".into() };
    let (before, after) =
        (two_sockets("0 0 0 1000 0 0 0 0", 0, 5), two_sockets("99 0 0 1001 0 0 0 0", 50, 105));
    let [before, now] = [&before, &after]
        .map(|folder| linux::read(&Files::under(folder.path()), std::slice::from_ref(&group)));
    let mut host = Host::new(From::Files(Files::under(after.path()), Vec::new()));
    let found = values(Some(&before), &now, 1.0);
    let measured: Measured = found.iter().map(|value| (host.series(value), value.value)).collect();
    let mut maps = crate::cores::CoreMaps::new(Arc::new(crate::Bounds::whole()));
    (0..5).for_each(|second| maps.put(second, &measured));
    let maps = maps.finish(&crate::topology::places(&Files::under(after.path())));
    let [map] = &maps[..] else { panic!("one host: {maps:#?}") };
    let [_, _, interrupts, saturated] = &map.cpus[..] else { panic!("four CPUs: {map:#?}") };
    let (hard, soft) = (interrupts.hard, interrupts.soft);
    assert!(
        (soft - 50.0 / 55.0).abs() < 1e-9 && (hard - 5.0 / 55.0).abs() < 1e-9,
        "{interrupts:?}"
    );
    assert_eq!((interrupts.package, interrupts.node, interrupts.core), (Some(1), Some(1), Some(0)));
    assert!((saturated.busy - 0.99).abs() < 1e-9, "{saturated:?}");
    assert_eq!(saturated.server_tasks, Some(1.0), "the other thread did nothing");
    assert_eq!(map.cpus[0].columns.busy, [Some(0); 5].to_vec());
    assert_eq!(map.uneven().unwrap().cpus, [2], "interrupts come first: {map:#?}");
}

//! Counters whose files a test writes, and texts as the exporters' documentation has them.

use std::path::Path;

use triphammer_document::energy::EnergySpan;
use triphammer_settings::files::Files;

use super::exporter::{PowerMetric, Wanted, known, readings};
use super::meter::{Domain, Reading, between};
use super::*;

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join("class/powercap").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn zone(root: &Path, zone: &str, name: &str, microjoules: u64, range: u64) {
    write(root, &format!("{zone}/name"), &format!("{name}\n"));
    write(root, &format!("{zone}/energy_uj"), &format!("{microjoules}\n"));
    write(root, &format!("{zone}/max_energy_range_uj"), &format!("{range}\n"));
}

const RANGE: u64 = 262_143_328_850;

/// A host with two packages, their memory, and zones that would count twice.
fn host(root: &Path) -> Powercap {
    zone(root, "intel-rapl:0", "package-0", 1_000_000, RANGE);
    zone(root, "intel-rapl:0:0", "core", 500_000, RANGE);
    zone(root, "intel-rapl:0:1", "dram", 100_000, RANGE);
    zone(root, "intel-rapl:1", "package-1", 2_000_000, RANGE);
    zone(root, "intel-rapl:1:0", "dram", 200_000, RANGE);
    zone(root, "intel-rapl:2", "psys", 9_000_000, RANGE);
    zone(root, "intel-rapl-mmio:0", "package-0", 1_000_000, RANGE);
    std::fs::create_dir_all(root.join("class/powercap/intel-rapl")).unwrap();
    counters(root)
}

/// The counters of a host whose `/sys` is here.
fn counters(sys: &Path) -> Powercap {
    Powercap::in_root(Files::of_this_host().with_sysfs(sys))
}

fn counter(microjoules: u64) -> Reading {
    Reading::Counter { microjoules, range: Some(RANGE) }
}

#[test]
fn packages_and_their_memory_are_read_and_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let read = host(folder.path()).read();
    let names: Vec<&str> = read.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["package-0", "dram-0", "package-1", "dram-1"]);
    assert_eq!(read[3].1, counter(200_000));
    assert!(counters(Path::new("/nowhere")).read().is_empty());
}

#[test]
fn a_counter_that_begins_again_at_0_goes_on() {
    let second = 1_000;
    assert_eq!(between(counter(5_000_000), counter(65_000_000), second), Some(60_000_000));
    assert_eq!(between(counter(RANGE - 10_000_000), counter(50_000_000), second), Some(60_000_000));
    // 300 s at 2 kW could be more than once round, and 2 kW is all that is believed.
    assert_eq!(between(counter(5), counter(60_000_005), 300_000), None);
    assert_eq!(between(counter(RANGE / 2), counter(0), second), None, "a counter that was reset");
    let unknown = |microjoules| Reading::Counter { microjoules, range: None };
    assert_eq!(between(unknown(5), unknown(3), second), None, "an exporter that restarted");
    assert_eq!(between(unknown(3), unknown(5), second), Some(2));
}

#[test]
fn a_power_is_the_mean_of_two_readings_that_are_near() {
    let power = Reading::Power;
    assert_eq!(between(power(40.0), power(60.0), 2_000), Some(100_000_000));
    assert_eq!(between(power(40.0), power(60.0), 11_000), None);
    assert_eq!(between(power(-1.0), power(-1.0), 1_000), None);
    assert_eq!(between(power(1.0), counter(3), 1_000), None);
}

#[test]
fn spans_follow_each_other_and_a_lost_reading_is_bridged() {
    let mut domain = Domain::default();
    for (at, joules) in [(0, 100_u64), (1_000, 160), (3_000, 280)] {
        domain.record(at, counter(joules * 1_000_000), false);
    }
    let span = |from_ms, to_ms, joules: u64| EnergySpan {
        from_ms,
        to_ms,
        microjoules: joules * 1_000_000,
    };
    let [idle, run] = domain.into_spans();
    assert_eq!((idle.len(), run), (0, vec![span(0, 1_000, 60), span(1_000, 3_000, 120)]));
}

#[test]
fn the_idle_host_and_the_run_have_their_own_times() {
    let mut domain = Domain::default();
    assert_eq!(domain.record(0, counter(0), true), None);
    assert_eq!(domain.record(5_000, counter(100_000_000), true), Some(20.0));
    assert_eq!(domain.record(1_000, counter(300_000_000), false), None, "connecting was between");
    assert_eq!(domain.record(2_000, counter(360_000_000), false), Some(60.0));
    let [idle, run] = domain.into_spans();
    assert_eq!((idle.len(), run.len()), (1, 1));
}

#[test]
fn spans_of_a_long_run_are_joined_without_loss() {
    let mut domain = Domain::default();
    for second in 0..=10_000 {
        domain.record(second * 1_000, counter(second * 50_000_000 % RANGE), false);
    }
    let [_, run] = domain.into_spans();
    assert!(run.len() <= 4_096, "{}", run.len());
    assert_eq!(run.iter().map(|span| span.microjoules).sum::<u64>(), 500_000_000_000);
    assert!(run.windows(2).all(|pair| pair[0].to_ms == pair[1].from_ms));
    assert_eq!((run[0].from_ms, run.last().unwrap().to_ms), (0, 10_000_000));
}

#[test]
fn a_zone_that_vanishes_is_missing_from_then_on() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let powercap = host(root);
    let first = powercap.read();
    let clock = Clock::start();
    let meter =
        Meter::new(EnergySourceKind::Rapl, EnergyOf::SharedHost, From::Files(powercap), first);
    assert!(meter.record(0, &clock, false).is_empty());
    zone(root, "intel-rapl:0", "package-0", 31_000_000, RANGE);
    zone(root, "intel-rapl:1", "package-1", 12_000_000, RANGE);
    let power = meter.record(1_000, &clock, false);
    let named = |name: &str| {
        let of = power.iter().find(|(series, _)| series.labels["hw.name"] == name);
        of.map(|(_, watts)| *watts)
    };
    assert_eq!((named("package-0"), named("package-1")), (Some(30.0), Some(10.0)));
    std::fs::remove_dir_all(root.join("class/powercap/intel-rapl:1")).unwrap();
    zone(root, "intel-rapl:0", "package-0", 61_000_000, RANGE);
    meter.record(2_000, &clock, false);
    let read = meter.take_readings();
    let spans: Vec<(&str, usize)> =
        read.domains.iter().map(|of| (of.name.as_str(), of.run.len())).collect();
    assert_eq!(spans, [("dram-0", 2), ("dram-1", 2), ("package-0", 2), ("package-1", 1)]);
}

#[test]
fn counters_that_may_not_be_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "intel-rapl:0/name", "package-0\n");
    let powercap = counters(folder.path());
    let reason = powercap.first().unwrap_err();
    assert!(
        powercap.read().is_empty() && reason.contains("cannot be read: package-0;"),
        "{reason}"
    );
    let nothing = Powercap::in_root(Files::under(folder.path()));
    assert!(nothing.first().unwrap_err().contains("shows no energy counters"));
}

#[test]
fn a_part_of_the_counters_is_not_taken_for_the_host() {
    let folder = tempfile::tempdir().unwrap();
    let powercap = host(folder.path());
    assert_eq!(powercap.first().unwrap().len(), 4);
    let class = folder.path().join("class/powercap");
    std::fs::remove_file(class.join("intel-rapl:1/energy_uj")).unwrap();
    std::fs::remove_file(class.join("intel-rapl:1:0/name")).unwrap();
    let reason = powercap.first().unwrap_err();
    assert!(reason.contains("cannot be read: package-1, intel-rapl:1:0;"), "{reason}");
}

#[cfg(unix)]
#[test]
fn a_counter_that_is_a_pipe_or_a_device_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let powercap = host(folder.path());
    let counter = |zone: &str| folder.path().join("class/powercap").join(zone).join("energy_uj");
    let [pipe, device] = [counter("intel-rapl:0"), counter("intel-rapl:1")];
    std::fs::remove_file(&pipe).unwrap();
    std::fs::remove_file(&device).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
    let reason = powercap.first().unwrap_err();
    assert!(reason.contains("cannot be read: package-0, package-1;"), "{reason}");
}

#[test]
fn series_are_told_apart_or_refused() {
    let metric = Wanted::Metric("power_watts".parse().unwrap());
    let text = "power_watts{instance=\"a\"} 60\npower_watts{instance=\"b\"} 10";
    let read = checked(readings(text, &metric)).unwrap();
    let names: Vec<&str> = read.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["power_watts{instance=a}", "power_watts{instance=b}"]);
    let kepler = "kepler_node_cpu_joules_total{node_name=\"a\",zone=\"package\"} 60
kepler_node_cpu_joules_total{node_name=\"b\",zone=\"package\"} 10";
    let reason = checked(readings(kepler, &Wanted::Kepler)).unwrap_err();
    assert!(reason.contains("it has package more than once"), "{reason}");
    let many: String = (0..65).map(|n| format!("power_watts{{outlet=\"{n}\"}} 1\n")).collect();
    let reason = checked(readings(&many, &metric)).unwrap_err();
    assert!(reason.contains("65 series") && reason.contains("at most 64"), "{reason}");
}

/// What a node exporter writes (collector/rapl_linux.go).
const NODE_EXPORTER: &str = r#"# HELP node_rapl_dram_joules_total Current RAPL dram value in joules
# TYPE node_rapl_dram_joules_total counter
node_rapl_dram_joules_total{index="0",path="/sys/class/powercap/intel-rapl:0:1"} 123.5
node_rapl_core_joules_total{index="0",path="/sys/class/powercap/intel-rapl:0:0"} 7
node_rapl_package_joules_total{index="0",path="/sys/class/powercap/intel-rapl-mmio:0"} 9
node_rapl_package_joules_total{index="0",path="/sys/class/powercap/intel-rapl:0"} 1.000001e+06
node_rapl_psys_joules_total{index="0",path="/sys/class/powercap/intel-rapl:1"} 7
node_cpu_seconds_total{cpu="0",mode="idle"} 5
"#;

fn names(text: &str, wanted: &Wanted) -> Vec<(String, Reading)> {
    assert_eq!(known(text).as_ref(), Some(wanted));
    readings(text, wanted)
}

fn joules(microjoules: u64) -> Reading {
    Reading::Counter { microjoules, range: None }
}

#[test]
fn a_node_exporter_counts_packages_and_memory() {
    let read = names(NODE_EXPORTER, &Wanted::NodeExporter);
    let expected = [
        ("dram-0".to_owned(), joules(123_500_000)),
        ("package-0".to_owned(), joules(1_000_001_000_000)),
    ];
    assert_eq!(read, expected);
    let labelled = r#"node_rapl_joules_total{index="1",path="p",rapl_zone="package"} 2
node_rapl_joules_total{index="0",path="p",rapl_zone="uncore"} 2"#;
    let read = names(labelled, &Wanted::NodeExporter);
    assert_eq!(read, [("package-1".to_owned(), joules(2_000_000))]);
}

#[test]
fn scaphandre_counts_the_host() {
    let text =
        "scaph_host_power_microwatts 4.5e7\nscaph_socket_power_microwatts{socket_id=\"0\"} 1";
    let read = names(text, &Wanted::ScaphandrePower);
    assert_eq!(read, [("host".to_owned(), Reading::Power(45.0))]);
    let text = format!("{text}\nscaph_host_energy_microjoules 123456789");
    let read = names(&text, &Wanted::ScaphandreEnergy);
    assert_eq!(read, [("host".to_owned(), joules(123_456_789))]);
}

#[test]
fn kepler_counts_zones_of_the_node() {
    let text = r#"kepler_node_cpu_joules_total{node_name="n1",path="/sys/0",zone="package"} 10
kepler_node_cpu_joules_total{node_name="n1",path="/sys/1",zone="dram"} 2
kepler_node_cpu_joules_total{node_name="n1",path="/sys/2",zone="core"} 5
kepler_node_cpu_active_joules_total{node_name="n1",path="/sys/0",zone="package"} 6"#;
    let read = names(text, &Wanted::Kepler);
    let expected = [
        ("package{path=/sys/0}".to_owned(), joules(10_000_000)),
        ("dram{path=/sys/1}".to_owned(), joules(2_000_000)),
    ];
    assert_eq!(read, expected);
    let before = r#"kepler_node_package_joules_total{instance="n1",mode="dynamic"} 3
kepler_node_package_joules_total{instance="n1",mode="idle"} 4
kepler_node_platform_joules_total{instance="n1",mode="idle"} 9"#;
    let read = names(before, &Wanted::KeplerBefore);
    let modes: Vec<&str> = read.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(modes, ["package{mode=dynamic}", "package{mode=idle}"]);
}

#[test]
fn a_named_metric_is_a_power_with_its_labels() {
    let text = "power_watts{plug=\"a,b\"} 70\npower_watts{plug=\"c\"} 20\nother_watts 1";
    let of = |text_of: &str| text_of.parse::<PowerMetric>().map(Wanted::Metric);
    let read = readings(text, &of("power_watts{plug=\"a,b\"}").unwrap());
    assert_eq!(read, [("power_watts{plug=a,b}".to_owned(), Reading::Power(70.0))]);
    assert_eq!(readings(text, &of("power_watts").unwrap()).len(), 2);
    assert_eq!(known(text), None);
    for wrong in ["", "7up", "p{", "p{a}", "p q", "p-q", "p{a=b}"] {
        assert!(of(wrong).unwrap_err().contains("metric in watts"), "{wrong}");
    }
}

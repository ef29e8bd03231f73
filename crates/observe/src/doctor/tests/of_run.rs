//! What a run warns of, on hosts that a test describes.

use triphammer_core::session::ServerInfo;

use super::*;

/// What a run on a host with these files warns of.
fn warnings(files: &[(String, String)]) -> Vec<String> {
    let folder = written(files);
    let files = Files::under(folder.path());
    let setup = SetupOfRun::begin(files, &ServerInfo::default(), true).end();
    let wrong = setup.iter().filter(|line| line.verdict == SetupVerdict::Wrong);
    wrong.map(|line| format!("{}; to change it: {}", line.trouble(), line.change)).collect()
}

/// A host of two CPUs with a driver, a governor, and an energy preference if the driver has one.
fn scaled(driver: &str, governor: &str, preference: Option<&str>) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for cpu in 0..2 {
        let mut put = |file: &str, text: &str| {
            let path = format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/{file}");
            files.push((path, format!("{text}\n")));
        };
        put("scaling_driver", driver);
        put("scaling_governor", governor);
        put("cpuinfo_max_freq", "3900000");
        put("scaling_max_freq", "3900000");
        preference.iter().for_each(|hint| put("energy_performance_preference", hint));
    }
    files
}

#[test]
fn a_governor_that_keeps_the_lowest_frequency_is_warned_of_with_its_cost() {
    for driver in ["acpi-cpufreq", "intel_cpufreq", "amd-pstate", "cppc_cpufreq"] {
        let warned = warnings(&scaled(driver, "powersave", None));
        let [warning] = &warned[..] else { panic!("{driver}: {warned:?}") };
        for words in [
            "set-up: governor is powersave. ",
            "Measured: 20 to 25 % of the speed",
            "Glenn Berry",
            "; to change it: cpupower frequency-set -g performance",
        ] {
            assert!(warning.contains(words), "{driver}: {warning}");
        }
    }
}

/// The drivers' own powersave follows the load, and general governors that do so are a matter of
/// taste: neither is a loss of speed for certain.
#[test]
fn a_governor_that_follows_the_load_is_not_warned_of() {
    for (driver, governor, preference) in [
        ("intel_pstate", "powersave", Some("balance_performance")),
        ("intel_pstate", "powersave", Some("power")),
        ("intel_pstate", "powersave", None),
        ("amd-pstate-epp", "powersave", Some("balance_performance")),
        ("amd-pstate", "schedutil", None),
        ("acpi-cpufreq", "ondemand", None),
        ("acpi-cpufreq", "performance", None),
    ] {
        let warned = warnings(&scaled(driver, governor, preference));
        assert_eq!(warned, Vec::<String>::new(), "{driver} {governor}");
    }
    assert_eq!(warnings(&[]), Vec::<String>::new(), "a host that shows nothing");
}

/// Turbo off and a limit near the nominal frequency are what people set for runs that are alike.
#[test]
fn a_limit_of_the_frequency_is_warned_of_if_it_is_far_below() {
    let limited = |khz: &str, no_turbo: &str| {
        let mut files = scaled("intel_pstate", "performance", Some("performance"));
        for (path, text) in &mut files {
            if path.ends_with("cpu1/cpufreq/scaling_max_freq") {
                *text = format!("{khz}\n");
            }
        }
        files.push(("sys/devices/system/cpu/intel_pstate/no_turbo".into(), no_turbo.into()));
        warnings(&files)
    };
    let warned = limited("1200000", "0");
    let [warning] = &warned[..] else { panic!("{warned:?}") };
    assert!(warning.starts_with("set-up: frequency_limit is 1.20 of 3.90 GHz."), "{warning}");
    for (khz, no_turbo) in [("2700000", "1"), ("3900000", "1"), ("3900000", "0"), ("x", "x")] {
        assert_eq!(limited(khz, no_turbo), Vec::<String>::new(), "{khz} {no_turbo}");
    }
}

#[test]
fn a_clock_that_is_slow_to_read_is_warned_of() {
    let of = |source: &str| {
        let path = "sys/devices/system/clocksource/clocksource0/current_clocksource";
        warnings(&[(path.to_owned(), source.to_owned())])
    };
    assert!(of("hpet")[0].contains("723 ns with acpi_pm"), "{:?}", of("hpet"));
    for source in ["tsc", "kvm-clock", "xen", "arch_sys_counter"] {
        assert_eq!(of(source), Vec::<String>::new(), "{source}");
    }
}

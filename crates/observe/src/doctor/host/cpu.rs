//! The checks of the processors: frequency, sleep, and threads that share a core.

use triphammer_document::doctor::Goal::{self, Comparable, Speed};
use triphammer_document::doctor::SetupVerdict::{Fine, Look, Wrong};
use triphammer_settings::files::Files;

use super::{CPU, Check, HostFacts, KnobPlace, Reading, check, opposite};

/// The checks, in the order of the report.
pub(super) const CHECKS: &[Check<HostFacts>] = &[
    check(
        "scaling_driver",
        &[Speed],
        scaling_driver,
        "It sets the frequency. acpi-cpufreq knows a few frequencies, and asks for turbo less often \
         than the processor's own driver.",
        "boot without intel_pstate=disable; on AMD boot with amd_pstate=active",
    ),
    check(
        "governor",
        Goal::BOTH,
        governor,
        "It chooses the frequency. The general powersave keeps the lowest one at any load; \
         intel_pstate and amd-pstate in active mode have another powersave, which follows the load. \
         One that follows the load makes short transactions slow at low load, and results of \
         different loads incomparable.",
        "cpupower frequency-set -g performance",
    )
    .costs(
        "20 to 25 % of the speed of short queries with power management (SQL Server, Xeon 5500 to E7)",
        "Glenn Berry, A SQL Server hardware tidbit a day, day 27",
        "http://www.sqlskills.com/blogs/glenn/a-sql-server-hardware-tidbit-a-day-day-27/",
    )
    .set_in(
        "performance",
        Some("powersave"),
        &[KnobPlace::of("sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")],
    ),
    check(
        "frequency_limit",
        Goal::BOTH,
        frequency_limit,
        "The processors may not reach the frequency that they have. A power profile or a program left \
         the limit, or somebody set it so that runs are more alike.",
        "cpupower frequency-set -u with the frequency of cpuinfo_max_freq",
    )
    .set_in(
        "unlimited",
        None,
        &[KnobPlace::named(
            "sys/devices/system/cpu/cpu*/cpufreq/scaling_max_freq",
            &[("unlimited", "=cpuinfo_max_freq")],
        )],
    ),
    check(
        "energy_preference",
        Goal::BOTH,
        energy_preference,
        "The processor prefers saving energy to speed, and needs time to reach its full frequency.",
        "cpupower set --epp performance",
    )
    .set_in(
        "performance",
        Some("balance_performance"),
        &[KnobPlace::of("sys/devices/system/cpu/cpu*/cpufreq/energy_performance_preference")],
    ),
    check(
        "energy_bias",
        &[Speed],
        energy_bias,
        "The processor gives up some speed to save energy, also outside its cores: 0 is for speed, 6 \
         for a balance, 15 for saving.",
        "cpupower set -b 0",
    )
    .costs(
        "at most 0.8 % from 6 to 7 in browsers (Alder Lake-N); of a database not published",
        "Linux, x86/intel_epb: set Alder Lake N normal EPB",
        "https://github.com/torvalds/linux/commit/7420ae3bb977b46eab082f4964641f3ddc98ebaf",
    )
    .set_in("0", Some("6"), &[KnobPlace::of("sys/devices/system/cpu/cpu*/power/energy_perf_bias")]),
    opposite(
        "turbo",
        turbo,
        "With turbo, the frequency depends on the temperature and on how many cores are busy: few \
         users look faster per core than many, and a long run slows down. Without it every core is \
         slower.",
        "echo 0 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 1 > \
         /sys/devices/system/cpu/cpufreq/boost",
        "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo, or echo 0 > \
         /sys/devices/system/cpu/cpufreq/boost; it costs speed",
    )
    .costs(
        "without turbo a PL/SQL loop took 8.89 instead of 8.21 s (Xeon 5680)",
        "Intel, Testing C-state settings and performance with the Oracle database on Linux",
        "https://itpeernetwork.intel.com/testing-c-state-settings-and-performance-with-the-oracle-database-on-linux/",
    )
    .set_in(
        "on",
        Some("off"),
        &[
            KnobPlace::named(
                "sys/devices/system/cpu/intel_pstate/no_turbo",
                &[("on", "0"), ("off", "1")],
            ),
            KnobPlace::named("sys/devices/system/cpu/cpufreq/boost", BOOST),
            KnobPlace::named("sys/devices/system/cpu/cpu*/cpufreq/boost", BOOST),
        ],
    ),
    check(
        "idle_driver",
        Goal::BOTH,
        idle_driver,
        "The driver and its governor choose how deeply an idle core sleeps, of the states that the \
         driver knows.",
        "boot without idle=poll, intel_idle.max_cstate and processor.max_cstate",
    ),
    opposite(
        "c_states",
        c_states,
        "A core that sleeps deeply needs this time to wake up, which is added to response times at \
         low load. A core that may not sleep leaves less power to the turbo of the others.",
        "cpupower idle-set -E",
        "cpupower idle-set -D 10; it costs turbo",
    )
    .costs(
        "with C1 as the deepest state, two busy cores ran at 3.20 instead of 3.45 GHz (c4.8xlarge)",
        "AWS, Processor state control for your EC2 instance",
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/processor_state_control.html",
    )
    .set_in(
        "all",
        Some("shallow"),
        &[KnobPlace::named(
            "sys/devices/system/cpu/cpu*/cpuidle/state*/disable",
            &[("all", "0"), ("shallow", "1")],
        )
        .only(is_deep)],
    ),
    check(
        "smt",
        &[Speed],
        smt,
        "With it two threads share a core: beyond half of the logical CPUs, throughput grows less. \
         Without it, what the second threads add is lost.",
        "echo on > /sys/devices/system/cpu/smt/control",
    )
    .costs(
        "up to 16 % more TPC-C-like and 26 % more TPC-H-like throughput with it (Pentium 4)",
        "Hassanein et al., Analyzing the effects of hyperthreading (2008)",
        "https://doi.org/10.1007/s10766-007-0066-x",
    )
    .set_in("on", Some("off"), &[KnobPlace::of("sys/devices/system/cpu/smt/control")]),
];

/// What the files named `boost` contain.
const BOOST: &[(&str, &str)] = &[("on", "1"), ("off", "0")];

/// Values of a file of all CPUs, without repetitions.
fn of_cpus(files: &Files, file: &str) -> Vec<String> {
    let cpus = files.numbered(CPU, "cpu");
    let mut values: Vec<_> =
        cpus.iter().filter_map(|cpu| files.text(&format!("{CPU}/cpu{cpu}/{file}"))).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Who sets the frequencies.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Scaling {
    /// The driver: `acpi-cpufreq`, `intel_pstate`, `amd-pstate-epp`.
    driver: String,
    /// The mode of a driver that has several: `active`.
    mode: Option<String>,
}

impl Scaling {
    fn of(files: &Files) -> Option<Self> {
        let driver = of_cpus(files, "cpufreq/scaling_driver").into_iter().next()?;
        let folder = match driver.as_str() {
            "intel_pstate" | "intel_cpufreq" => Some("intel_pstate"),
            name if name.starts_with("amd-pstate") => Some("amd_pstate"),
            _ => None,
        };
        let mode = folder.and_then(|folder| files.text(&format!("{CPU}/{folder}/status")));
        Some(Self { driver, mode })
    }

    /// Whether the driver has algorithms of its own, which are named like general governors:
    /// its `powersave` follows the load (Documentation/admin-guide/pm/intel_pstate.rst).
    fn is_active(&self) -> bool {
        matches!(self.driver.as_str(), "intel_pstate" | "amd-pstate-epp" | "amd_pstate_epp")
    }

    fn words(&self) -> String {
        let mode = self.mode.as_ref().map(|mode| format!(", {mode}")).unwrap_or_default();
        format!("{}{mode}", self.driver)
    }
}

fn scaling_driver(host: &HostFacts) -> Option<Reading> {
    let scaling = Scaling::of(&host.files)?;
    Some(Reading::look_unless(scaling.driver != "acpi-cpufreq", scaling.words()))
}

fn governor(host: &HostFacts) -> Option<Reading> {
    let governors = of_cpus(&host.files, "cpufreq/scaling_governor");
    let is_active = Scaling::of(&host.files).is_some_and(|scaling| scaling.is_active());
    // Where the processor chooses the frequency, its energy preference says how: a check of its own.
    let is_hinted = !of_cpus(&host.files, "cpufreq/energy_performance_preference").is_empty();
    let has = |name: &str| governors.iter().any(|one| one == name);
    let verdict = match governors.as_slice() {
        [] => return None,
        [one] if one == "performance" => Fine,
        _ if is_active && is_hinted => Fine,
        _ if has("powersave") && !is_active => Wrong,
        _ => Look,
    };
    Some(Reading::of(verdict, governors.join(", ")))
}

/// Shares of the maximum frequency that a limit may have: below the first, runs are slow whatever it
/// is for; from the second on, it is rounding.
const LIMITS: [f64; 2] = [0.5, 0.95];

fn frequency_limit(host: &HostFacts) -> Option<Reading> {
    let files = &host.files;
    let khz = |cpu: u32, file: &str| files.number(&format!("{CPU}/cpu{cpu}/cpufreq/{file}"));
    let share = |cpu: u32| {
        let (limit, most) = (khz(cpu, "scaling_max_freq")?, khz(cpu, "cpuinfo_max_freq")?);
        (most > 0).then(|| (limit as f64 / most as f64, limit, most))
    };
    let shares = files.numbered(CPU, "cpu").into_iter().filter_map(share);
    let (share, limit, most) = shares.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let ghz = |khz: u64| khz as f64 / 1e6;
    let value = match share {
        share if share < LIMITS[1] => format!("{:.2} of {:.2} GHz", ghz(limit), ghz(most)),
        _ => format!("{:.2} GHz, not limited", ghz(most)),
    };
    let verdict = match share {
        share if share < LIMITS[0] => Wrong,
        share if share < LIMITS[1] => Look,
        _ => Fine,
    };
    Some(Reading::of(verdict, value))
}

fn energy_preference(host: &HostFacts) -> Option<Reading> {
    let preferences = of_cpus(&host.files, "cpufreq/energy_performance_preference");
    let is_fine = matches!(preferences.as_slice(), [one] if one == "performance" || one == "0");
    (!preferences.is_empty()).then(|| Reading::look_unless(is_fine, preferences.join(", ")))
}

/// Greatest bias, which saves the most energy.
const BIAS_MAX: u64 = 15;

fn energy_bias(host: &HostFacts) -> Option<Reading> {
    let biases = of_cpus(&host.files, "power/energy_perf_bias");
    let numbers: Vec<u64> = biases.iter().filter_map(|bias| bias.parse().ok()).collect();
    let most = numbers.iter().max().filter(|most| **most <= BIAS_MAX)?;
    let words = match most {
        0 => ", performance",
        6 => ", normal",
        15 => ", power saving",
        _ => "",
    };
    Some(Reading::look_unless(*most == 0, format!("{most}{words}")))
}

/// Whether cores may run faster than their nominal frequency; `None` if unknown.
fn has_turbo(files: &Files) -> Option<bool> {
    match files.number(&format!("{CPU}/intel_pstate/no_turbo")) {
        Some(off) => Some(off == 0),
        None => match files.number(&format!("{CPU}/cpufreq/boost")) {
            Some(on) => Some(on != 0),
            // Since Linux 6.11 each CPU may have its own.
            None => {
                let of_each = of_cpus(files, "cpufreq/boost");
                let known = of_each.iter().any(|boost| boost == "1" || boost == "0");
                known.then(|| of_each.iter().any(|boost| boost == "1"))
            }
        },
    }
}

fn turbo(host: &HostFacts) -> Option<Reading> {
    Some(match has_turbo(&host.files)? {
        true => Reading::look_for(Comparable, "on"),
        false => Reading::look_for(Speed, "off"),
    })
}

/// A state in which idle cores sleep.
#[derive(Clone, Debug, PartialEq, Eq)]
struct IdleState {
    name: String,
    /// Time to wake up, in microseconds.
    latency: u64,
    /// Whether some core may sleep like this.
    is_enabled: bool,
}

/// The states of all CPUs, the shallowest first.
fn idle_states(files: &Files) -> Vec<IdleState> {
    let mut cpus = files.numbered(CPU, "cpu");
    cpus.sort_unstable();
    let Some(first) = cpus.first() else { return Vec::new() };
    let folder = format!("{CPU}/cpu{first}/cpuidle");
    let mut numbers = files.numbered(&folder, "state");
    numbers.sort_unstable();
    let state = |number: u32| {
        let of = |file: &str| files.text(&format!("{folder}/state{number}/{file}"));
        let is_disabled = |cpu: &u32| {
            let path = format!("{CPU}/cpu{cpu}/cpuidle/state{number}/disable");
            files.number(&path).is_some_and(|disabled| disabled != 0)
        };
        Some(IdleState {
            name: of("name")?,
            latency: of("latency")?.parse().ok()?,
            is_enabled: !cpus.iter().all(is_disabled),
        })
    };
    numbers.into_iter().filter_map(state).collect()
}

fn idle_driver(host: &HostFacts) -> Option<Reading> {
    let of = |file: &str| host.files.text(&format!("{CPU}/cpuidle/{file}"));
    let driver = of("current_driver")?;
    if driver == "none" {
        return Some(Reading::of(Fine, "none: the hypervisor or the kernel decides"));
    }
    let governor = of("current_governor").or_else(|| of("current_governor_ro"));
    let governor = governor.map(|governor| format!(", {governor}")).unwrap_or_default();
    let states = idle_states(&host.files);
    let names = states.iter().map(|state| match state.is_enabled {
        true => format!("{} {}", state.name, state.latency),
        false => format!("{} {} (disabled)", state.name, state.latency),
    });
    let names: Vec<String> = names.collect();
    let value = match names.is_empty() {
        true => format!("{driver}{governor}"),
        false => format!("{driver}{governor}: {} µs", names.join(", ")),
    };
    Some(Reading::of(Fine, value))
}

/// Longest time to wake up that is not a problem, in microseconds.
const WAKE_UP_US: u64 = 100;

/// Whether the file with the switch of a state is that of one from which a core wakes up slowly.
fn is_deep(files: &Files, disable: &str) -> bool {
    let folder = disable.rsplit_once('/').map_or("", |(folder, _)| folder);
    files.number(&format!("{folder}/latency")).is_some_and(|latency| latency > WAKE_UP_US)
}

fn c_states(host: &HostFacts) -> Option<Reading> {
    let states = idle_states(&host.files);
    let by_latency = |state: &&IdleState| state.latency;
    let deepest = states.iter().filter(|state| state.is_enabled).max_by_key(by_latency)?;
    let possible = states.iter().max_by_key(by_latency)?;
    let value = format!("down to {}, {} µs", deepest.name, deepest.latency);
    if deepest.latency > WAKE_UP_US {
        return Some(Reading::look_for(Comparable, value));
    }
    // Without turbo no core needs the power that others save.
    if possible.latency > WAKE_UP_US && has_turbo(&host.files) == Some(true) {
        return Some(Reading::look_for(Speed, format!("{value}: {} is disabled", possible.name)));
    }
    Some(Reading::of(Fine, value))
}

fn smt(host: &HostFacts) -> Option<Reading> {
    let is_active = host.files.number(&format!("{CPU}/smt/active"))? != 0;
    let control = host.files.text(&format!("{CPU}/smt/control"));
    Some(match (is_active, control.as_deref()) {
        (true, _) => Reading::of(Fine, "on"),
        // The processor has it, and somebody turned it off.
        (false, Some("off" | "forceoff")) => Reading::look_for(Speed, "off"),
        (false, _) => Reading::of(Fine, "off"),
    })
}

//! The speed of the processors: one thread, then one per CPU, with the frequency meanwhile.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{scope, sleep};
use std::time::Duration;

use triphammer_core::clock::Clock;
use triphammer_document::doctor::HostTest;
use triphammer_settings::files::Files;

use super::{Missed, Part, put};

/// Time of each of the two measurements.
const TIME: Duration = Duration::from_millis(1500);
/// Time into a measurement when the frequency is read: it has risen by then.
const RISEN: Duration = Duration::from_millis(1000);
/// Steps between two looks at the end of the time.
const STEPS: u32 = 100_000;

pub(super) fn measure(part: &Part<'_>, threads: u32, test: &mut HostTest) -> Result<(), Missed> {
    for (threads, [rate, ghz]) in
        [(1, ["cpu_one", "cpu_one_ghz"]), (threads, ["cpu_all", "cpu_all_ghz"])]
    {
        part.go_on()?;
        let (steps, frequencies) = work(part.files, threads);
        put(test, rate, steps / 1e6);
        // The thread of one is where the frequency is the highest.
        let highest = frequencies.iter().copied().max_by(f64::total_cmp);
        let mean = frequencies.iter().sum::<f64>() / frequencies.len().max(1) as f64;
        if let Some(highest) = highest {
            put(test, ghz, if threads == 1 { highest } else { mean } / 1e9);
        }
    }
    Ok(())
}

/// Lets threads calculate for a time; returns their steps per second, and the frequencies of all CPUs
/// meanwhile, in hertz.
fn work(files: &Files, threads: u32) -> (f64, Vec<f64>) {
    let stop = AtomicBool::new(false);
    let one = || {
        let clock = Clock::start();
        let (mut done, mut n) = (0.0, 0.0);
        while !stop.load(Ordering::Relaxed) {
            n = triphammer_loops::steps(black_box(n), 1, STEPS);
            done += f64::from(STEPS);
        }
        black_box(n);
        done / clock.now().duration().as_secs_f64().max(1e-9)
    };
    scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        sleep(RISEN);
        let frequencies = frequencies(files);
        sleep(TIME - RISEN);
        stop.store(true, Ordering::Relaxed);
        let rates = workers.into_iter().filter_map(|worker| worker.join().ok());
        (rates.sum(), frequencies)
    })
}

/// The frequencies of the CPUs, in hertz: as the driver says, or as `/proc/cpuinfo` has them, which in
/// a virtual machine is the nominal one.
fn frequencies(files: &Files) -> Vec<f64> {
    let folder = "sys/devices/system/cpu";
    let khz = files
        .numbered(folder, "cpu")
        .into_iter()
        .filter_map(|cpu| files.number(&format!("{folder}/cpu{cpu}/cpufreq/scaling_cur_freq")));
    let found: Vec<f64> = khz.map(|khz| khz as f64 * 1e3).collect();
    if !found.is_empty() {
        return found;
    }
    let text = files.text("proc/cpuinfo").unwrap_or_default();
    let lines = text.lines().filter(|line| line.starts_with("cpu MHz"));
    let mhz = lines.filter_map(|line| line.split_once(':')?.1.trim().parse::<f64>().ok());
    mhz.map(|mhz| mhz * 1e6).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequencies_are_the_drivers_or_those_of_cpuinfo() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::under(folder.path());
        assert_eq!(frequencies(&files), Vec::<f64>::new());
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/cpuinfo", "processor : 0\ncpu MHz\t\t: 2445.406\n\ncpu MHz : x\n");
        assert_eq!(frequencies(&files), [2_445_406_000.0]);
        write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3600000\n");
        assert_eq!(frequencies(&files), [3.6e9]);
    }
}

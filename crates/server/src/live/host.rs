//! Publishes the load of the host while clients are connected.

use std::sync::Arc;
use std::time::Duration;

use super::event::{HostLoad, LiveEvent};
use super::hub::Hub;

/// Time between two readings.
const EVERY: Duration = Duration::from_secs(2);

/// Publishes the load of the host as long as a client reads. Does nothing if the kernel does not
/// report it.
pub async fn tell_host(hub: Arc<Hub>) {
    let mut before = read("/proc/stat").map(|text| ticks(&text)).unwrap_or_default();
    loop {
        tokio::time::sleep(EVERY).await;
        let Some(stat) = read("/proc/stat") else { return };
        let now = ticks(&stat);
        if hub.readers() > 0 {
            let memory = read("/proc/meminfo").unwrap_or_default();
            if let Some(load) = load(&before, &now, &memory) {
                hub.publish(&LiveEvent::Host(load));
            }
        }
        before = now;
    }
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// Busy ticks and all ticks: of all CPUs, then of each CPU.
fn ticks(stat: &str) -> Vec<(u64, u64)> {
    let lines = stat.lines().take_while(|line| line.starts_with("cpu"));
    lines
        .map(|line| {
            // user, nice, system, idle, iowait, irq, softirq, steal; guest time is included in
            // user.
            let fields = line.split_whitespace().skip(1).take(8);
            let ticks: Vec<u64> = fields.filter_map(|field| field.parse().ok()).collect();
            let all: u64 = ticks.iter().sum();
            let idle: u64 = ticks.iter().skip(3).take(2).sum();
            (all - idle, all)
        })
        .collect()
}

fn load(before: &[(u64, u64)], now: &[(u64, u64)], meminfo: &str) -> Option<HostLoad> {
    let share = |((busy, all), (busy_then, all_then)): (&(u64, u64), &(u64, u64))| {
        triphammer_core::stats::share(
            busy.saturating_sub(*busy_then),
            all.saturating_sub(*all_then),
        )
    };
    let mut shares = now.iter().zip(before).map(share);
    let busy = shares.next()?;
    let bytes = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib * 1024)
    };
    let memory_bytes = bytes("MemTotal:");
    let available = bytes("MemAvailable:");
    Some(HostLoad {
        busy,
        cores: shares.collect(),
        memory_used_bytes: memory_bytes.zip(available).map(|(all, free)| all.saturating_sub(free)),
        memory_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_time_between() {
        let before =
            ticks("cpu  100 0 0 100 0 0 0 0 0 0\ncpu0 50 0 0 50 0 0 0 0\ncpu1 50 0 0 50\nintr 5\n");
        let now = ticks(
            "cpu  150 0 0 250 0 0 0 0 0 0\ncpu0 100 0 0 100 0 0 0 0\ncpu1 50 0 0 150\nintr 6\n",
        );
        let load = load(&before, &now, "MemTotal: 8 kB\nMemAvailable:  2 kB\n").unwrap();
        assert_eq!((load.busy, load.cores), (0.25, vec![0.5, 0.0]));
        assert_eq!((load.memory_bytes, load.memory_used_bytes), (Some(8192), Some(6144)));
        assert_eq!(super::load(&[], &[], ""), None);
    }
}

//! How busy the host's CPUs are, from the kernel's own count. Within a container this is still the
//! whole host, which is what a server on the same host shares with the client.

use crate::recorder::HostCpu;

/// Where Linux keeps the count; elsewhere there is no such file, and nothing is measured.
const STAT: &str = "/proc/stat";

/// Reads what has passed since it was last asked.
#[derive(Debug)]
pub(super) struct HostMeter(Option<HostCpu>);

impl HostMeter {
    pub fn start() -> Self {
        Self(read())
    }

    /// The ticks since the last call; zero where they cannot be read.
    pub fn since_last(&mut self) -> HostCpu {
        let now = read();
        let before = std::mem::replace(&mut self.0, now);
        let (Some(now), Some(before)) = (now, before) else { return HostCpu::default() };
        HostCpu {
            busy: now.busy.saturating_sub(before.busy),
            total: now.total.saturating_sub(before.total),
        }
    }
}

fn read() -> Option<HostCpu> {
    parse(&std::fs::read_to_string(STAT).ok()?)
}

/// The first line: user, nice, system, idle, iowait, irq, softirq, steal; guests are in user already.
fn parse(stat: &str) -> Option<HostCpu> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<u64> =
        line.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    let idle = ticks.get(3)? + ticks.get(4).copied().unwrap_or(0);
    let total: u64 = ticks.iter().sum();
    Some(HostCpu { busy: total - idle, total })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_a_disk_is_idle_and_a_stolen_cpu_is_not() {
        let text = "cpu  100 10 50 700 40 5 15 80 33 0\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1\n";
        assert_eq!(parse(text), Some(HostCpu { busy: 260, total: 1000 }));
        for text in ["", "cpu0 1 2 3 4", "cpu  1 2 x 4", "cpu  1 2 3"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_meter_gives_what_passed() {
        let mut meter = HostMeter(Some(HostCpu::default()));
        let all = meter.since_last();
        let more = meter.since_last();
        assert!(more.total <= all.total && more.busy <= more.total, "{all:?} {more:?}");
        assert_eq!(all.total > 0, cfg!(target_os = "linux"));
    }
}

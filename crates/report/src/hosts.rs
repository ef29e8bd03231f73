//! The part of reports about the hosts that drove a run.

use triphammer_document::result::{HostShare, RunResult};
use triphammer_settings::format::{self, integer};

use super::table::Table;

/// Heading of the table.
pub(super) const HOSTS: &str = "Hosts";

/// The table of hosts; `None` where one process drove the run.
pub(super) fn hosts(result: &RunResult) -> Option<Table> {
    if result.hosts.is_empty() {
        return None;
    }
    let head = ["", "limited by", "users", "completed", "CPUs", "lag p99", "trip", "clock", "late"];
    let mut table = Table::new(2, &head);
    for host in &result.hosts {
        table.row(row(host));
    }
    Some(table)
}

/// Formats a number of microseconds.
fn time(us: u64) -> String {
    format!("{} ms", format::milliseconds(f64::from(u32::try_from(us).unwrap_or(u32::MAX))))
}

fn row(host: &HostShare) -> Vec<String> {
    let absent = || "-".to_owned();
    let us = |us: Option<u64>| us.map_or_else(absent, time);
    // Rounded first: -0.04 would read "-0.0".
    let ms = |ms: f64| format!("{:.1} ms", (ms * 10.0).round() / 10.0 + 0.0);
    let limit = match (&host.loss, &host.bottleneck) {
        (Some(loss), _) => format!("lost after {}", format::duration(loss.at_s)),
        (None, Some(verdict)) => verdict.kind.label().to_owned(),
        (None, None) => absent(),
    };
    vec![
        host.name.clone(),
        limit,
        integer(host.sessions.into()),
        integer(host.completed),
        host.client_cpus.map_or_else(absent, |cpus| format!("{cpus:.2}")),
        us(host.lag_p99_us),
        us(host.round_trip_us),
        ms(host.clock_offset_ms),
        host.start_late_ms.map_or_else(absent, ms),
    ]
}

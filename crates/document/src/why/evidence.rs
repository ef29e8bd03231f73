//! What else is known of the stretch: checkpoints, vacuums, sessions of other programs, and the host.
//! Each figure is declared once, with how it is made and from when on it matters.

use super::document::Evidence;
use super::observations::{Observations, SampledSeries};
use crate::result::RunResult;
use crate::unit::Unit;

/// Names of figures to which sentences refer.
pub(super) const CHECKPOINTS: &str = "checkpoints";
pub(super) const AUTOVACUUM: &str = "autovacuum";
pub(super) const OTHER_CPU: &str = "other_processes";
pub(super) const STEAL: &str = "steal";
pub(super) const DISK_QUEUE: &str = "disk_queue";
pub(super) const MISSES: &str = "memory_misses";
pub(super) const OWN_WRITES: &str = "own_writes";
pub(super) const ROW_LOCKS: &str = "row_lock_waits";

/// A figure; it is listed if it reaches `least` and is at least [`APART`] times that of the rest.
struct Figure {
    name: &'static str,
    title: &'static str,
    unit: Unit,
    least: f64,
    of: fn(&Observations, &RunResult) -> Option<f64>,
}

/// Ratio to the rest from which on a figure is evidence.
const APART: f64 = 1.5;

const FIGURES: [Figure; 12] = [
    Figure {
        name: CHECKPOINTS,
        title: "checkpoints",
        unit: Unit::PerMinute,
        least: 0.1,
        of: |of, _| Some(60.0 * sum(of, "postgresql.bgwriter.checkpoint.count", &[])?),
    },
    Figure {
        name: AUTOVACUUM,
        title: "autovacuum workers",
        unit: Unit::Average,
        least: 0.1,
        of: |of, _| sum(of, "postgresql.autovacuum.workers", &[]),
    },
    Figure {
        name: "other_programs",
        title: "active sessions of other programs",
        unit: Unit::Average,
        least: 0.1,
        of: |of, _| Some(super::document::mean(&of.others)),
    },
    Figure {
        name: "idle_in_transaction",
        title: "sessions of the run idle in a transaction",
        unit: Unit::Average,
        least: 1.0,
        of: |of, _| Some(super::document::mean(&of.idle)),
    },
    Figure {
        name: OTHER_CPU,
        title: "CPUs used by other processes of this host",
        unit: Unit::Cores,
        least: 0.2,
        of: other_cpus,
    },
    Figure {
        name: STEAL,
        title: "CPU time taken by the hypervisor (steal)",
        unit: Unit::Share,
        least: 0.03,
        of: |of, _| greatest(of, CPU, &[("cpu.mode", "steal")]),
    },
    Figure {
        name: "io_wait",
        title: "CPU time waiting for disks",
        unit: Unit::Share,
        least: 0.03,
        of: |of, _| greatest(of, CPU, &[("cpu.mode", "iowait")]),
    },
    Figure {
        name: DISK_QUEUE,
        title: "operations in the queue of the busiest disk",
        unit: Unit::Average,
        least: 0.5,
        of: |of, _| greatest(of, "system.disk.weighted_io_time", &[]),
    },
    Figure {
        name: MISSES,
        title: "blocks that were not in the server's memory",
        unit: Unit::Share,
        least: 0.01,
        of: |of, _| misses(of),
    },
    Figure {
        name: OWN_WRITES,
        title: "blocks per transaction that sessions wrote themselves",
        unit: Unit::Average,
        least: 1.0,
        of: |of, _| own_writes(of),
    },
    Figure {
        name: ROW_LOCKS,
        title: "sessions that wait for row locks, counted by the server",
        unit: Unit::Average,
        least: 0.3,
        of: |of, _| sum(of, "mysql.row_locks", &[("kind", "current_waits")]),
    },
    Figure {
        name: "temporary_data",
        title: "temporary data written",
        unit: Unit::BytesPerSecond,
        least: 1e5,
        of: |of, _| sum(of, "postgresql.temp.io", &[]),
    },
];

const CPU: &str = "system.cpu.utilization";
const PROCESSES: &str = "process.cpu.utilization";
/// Label of a host that is not this one.
const HOST: &str = "host.name";

/// The figures that matter.
pub(super) fn of(
    here: &Observations,
    rest: Option<&Observations>,
    result: &RunResult,
) -> Vec<Evidence> {
    let made = FIGURES.iter().filter_map(|figure| {
        let value = (figure.of)(here, result)?;
        let before = match rest {
            Some(rest) => Some((figure.of)(rest, result)?),
            None => None,
        };
        let matters = value >= figure.least && value >= APART * before.unwrap_or_default();
        matters.then(|| Evidence {
            name: figure.name.to_owned(),
            title: figure.title.to_owned(),
            unit: figure.unit,
            here: value,
            rest: before,
        })
    });
    made.collect()
}

fn mean_of(of: &SampledSeries) -> Option<f64> {
    let known: Vec<f64> = of.values.iter().copied().flatten().collect();
    (!known.is_empty()).then(|| super::document::mean(&known))
}

fn means<'a>(
    of: &'a Observations,
    metric: &'a str,
    labels: &'a [(&str, &str)],
) -> impl Iterator<Item = f64> + 'a {
    let named = of
        .evidence
        .iter()
        .filter(move |sampled| sampled.series.metric == metric && sampled.series.has(labels));
    named.filter_map(mean_of)
}

/// Sum of the means of all series; `None` if there are none.
fn sum(of: &Observations, metric: &str, labels: &[(&str, &str)]) -> Option<f64> {
    means(of, metric, labels).reduce(|a, b| a + b)
}

/// Greatest mean of a series: of the host or disk where it is the highest.
fn greatest(of: &Observations, metric: &str, labels: &[(&str, &str)]) -> Option<f64> {
    means(of, metric, labels).reduce(f64::max)
}

/// Share of the blocks that were asked for and had to be read; the operating system may have had
/// them. SQL Server also counts what it reads ahead.
fn misses(of: &Observations) -> Option<f64> {
    let pool = |operation| sum(of, "mysql.buffer_pool.operations", &[("operation", operation)]);
    let pages = || sum(of, "sqlserver.page.operation.rate", &[("type", "read")]);
    let lookups = || sum(of, "sqlserver.page.lookup.rate", &[]);
    let read = sum(of, "postgresql.blks_read", &[]).or_else(|| pool("reads")).or_else(pages)?;
    let hit = sum(of, "postgresql.blks_hit", &[]);
    let all = hit.map(|hit| hit + read).or_else(|| pool("read_requests")).or_else(lookups)?;
    (all > 0.0).then(|| (read / all).min(1.0))
}

/// Blocks per transaction that sessions had to write, to make room for others in memory. Versions of
/// PostgreSQL before 16 count the blocks by which they extend tables, too.
fn own_writes(of: &Observations) -> Option<f64> {
    let by_type = sum(of, "postgresql.io.writes", &[("backend_type", "client backend")]);
    let all = || sum(of, "postgresql.bgwriter.buffers.writes", &[("source", "backend")]);
    let transactions = super::document::mean(&of.transactions);
    let written = by_type.or_else(all)?;
    (transactions > 0.0).then(|| written / transactions)
}

/// CPUs of this host that neither the server nor this program used. Only where the server runs here:
/// its own use is unknown otherwise, and nothing competes with it. And only where this program
/// drives the load itself: other processes do in a run by several hosts.
fn other_cpus(of: &Observations, result: &RunResult) -> Option<f64> {
    if !result.hosts.is_empty() {
        return None;
    }
    let cpus = f64::from(result.bottleneck.figures.host_cpus);
    let is_busy = |of: &&SampledSeries| {
        let mode = of.series.labels.get("cpu.mode").map(String::as_str).unwrap_or_default();
        let is_here = !of.series.labels.contains_key(HOST);
        of.series.metric == CPU && is_here && !matches!(mode, "idle" | "iowait" | "steal")
    };
    let shares = of.evidence.iter().filter(is_busy).filter_map(mean_of);
    let busy = cpus * shares.reduce(|a, b| a + b)?;
    let own: Vec<f64> = means(of, PROCESSES, &[]).collect();
    // Of the server's processes and of this program.
    (own.len() >= 2 && cpus > 0.0).then(|| (busy - own.iter().sum::<f64>()).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Merge;
    use crate::samples::SampleSeries;

    /// A metric, its labels, and its value.
    type Figure<'a> = (&'a str, &'a [(&'a str, &'a str)], f64);

    fn sampled((metric, labels, value): Figure<'_>) -> SampledSeries {
        let labels = labels.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let (metric, title, unit) = (metric.to_owned(), String::new(), Unit::PerSecond);
        let series = SampleSeries { metric, labels, title, unit, merge: Merge::Mean };
        SampledSeries { series, values: vec![Some(value), None, Some(value)] }
    }

    #[test]
    fn each_server_counts_the_blocks_that_were_not_in_memory_in_its_own_way() {
        let of = |evidence: &[Figure<'_>]| {
            let evidence = evidence.iter().copied().map(sampled).collect();
            misses(&Observations { evidence, ..Observations::default() })
        };
        let blocks: &[Figure<'_>] =
            &[("postgresql.blks_read", &[], 10.0), ("postgresql.blks_hit", &[], 30.0)];
        assert_eq!(of(blocks), Some(0.25));
        let pool = "mysql.buffer_pool.operations";
        let reads: &[(&str, &str)] = &[("operation", "reads")];
        let requests: &[(&str, &str)] = &[("operation", "read_requests")];
        assert_eq!(of(&[(pool, reads, 10.0), (pool, requests, 40.0)]), Some(0.25));
        let [pages, lookups] = ["sqlserver.page.operation.rate", "sqlserver.page.lookup.rate"];
        let read: &[(&str, &str)] = &[("type", "read")];
        let written: &[(&str, &str)] = &[("type", "write")];
        let of_pages = |read_ahead: f64| {
            of(&[(pages, read, read_ahead), (pages, written, 5.0), (lookups, &[], 40.0)])
        };
        assert_eq!((of_pages(10.0), of_pages(50.0)), (Some(0.25), Some(1.0)));
        assert_eq!(of(&[(lookups, &[], 40.0)]), None);
    }
}

//! What the store has of each second of a run: committed transactions, and the sampled sessions by
//! what they waited for, by statement, and by who blocked them.

use std::collections::BTreeMap;
use std::ops::Range;

use triphammer_document::JobId;
use triphammer_document::result::{RunResult, WaitClass};
use triphammer_document::samples::SampleSeries;
use triphammer_document::series::SeriesRow;
use triphammer_document::why::{Observations, SampledSeries};
use triphammer_store::{Store, StoreError, StoredSeries};

use crate::{ACTIVE_SESSIONS, ACTIVE_STATEMENTS, BLOCKED_SESSIONS, CPU_NUMBER};

/// Metrics of servers and hosts that are evidence.
const EVIDENCE: [&str; 14] = [
    "postgresql.bgwriter.checkpoint.count",
    "postgresql.autovacuum.workers",
    "postgresql.temp.io",
    "postgresql.blks_read",
    "postgresql.blks_hit",
    "postgresql.bgwriter.buffers.writes",
    "postgresql.io.writes",
    "mysql.buffer_pool.operations",
    "mysql.row_locks",
    "sqlserver.page.operation.rate",
    "sqlserver.page.lookup.rate",
    "system.cpu.utilization",
    "system.disk.weighted_io_time",
    "process.cpu.utilization",
];

/// Reads a run.
///
/// # Errors
/// When the store cannot be read.
pub(super) fn read(
    store: &Store,
    job: JobId,
    result: &RunResult,
) -> Result<Observations, StoreError> {
    let Some(observed) = &result.observed else { return Ok(Observations::default()) };
    let committed = committed(&store.series(job)?);
    let all = 0..committed.last_key_value().map_or(0, |(last, _)| last + 1);
    let values = |of: &StoredSeries| -> Result<BTreeMap<u64, f64>, StoreError> {
        let points = store.points(of, &all, 1)?;
        Ok(points.into_iter().map(|point| (point.first, point.value)).collect())
    };
    let mut sessions = Vec::new();
    for of in store.find_series(job, Some(ACTIVE_SESSIONS), &[])? {
        sessions.push((values(&of)?, of.series));
    }
    let is_sampled = |second: &u64| {
        let mut all = sessions.iter();
        all.any(|(values, series)| series.has(&[("who", "run")]) && values.contains_key(second))
    };
    let seconds: Vec<u64> = committed.keys().copied().filter(is_sampled).collect();
    let mut made = Observations {
        transactions: seconds.iter().map(|second| committed[second]).collect(),
        idle: vec![0.0; seconds.len()],
        others: vec![0.0; seconds.len()],
        samples_per_second: 1.0 / observed.interval_s.max(1e-3),
        seconds,
        ..Observations::default()
    };
    for (values, series) in sessions {
        add_sessions(&mut made, &series, &values);
    }
    for of in store.find_series(job, Some(ACTIVE_STATEMENTS), &[])? {
        let column = column(&made, &values(&of)?);
        made.statements.insert(label(&of.series, "statement"), column);
    }
    for of in store.find_series(job, Some(BLOCKED_SESSIONS), &[])? {
        let column = column(&made, &values(&of)?);
        let key = (label(&of.series, "blocker"), label(&of.series, "object"));
        made.blocked.insert(key, column);
    }
    for metric in EVIDENCE {
        for of in store.find_series(job, Some(metric), &[])? {
            if of.series.labels.contains_key(CPU_NUMBER) {
                continue;
            }
            let known = values(&of)?;
            let values = made.seconds.iter().map(|second| known.get(second).copied());
            made.evidence.push(SampledSeries { values: values.collect(), series: of.series });
        }
    }
    Ok(made)
}

fn add_sessions(made: &mut Observations, series: &SampleSeries, values: &BTreeMap<u64, f64>) {
    let column = column(made, values);
    let add = |to: &mut Vec<f64>| to.iter_mut().zip(&column).for_each(|(to, of)| *to += of);
    match (label(series, "who").as_str(), label(series, "class").as_str()) {
        ("run", "idle_in_transaction") => add(&mut made.idle),
        ("run", class) => {
            let key = (WaitClass::named(class), label(series, "wait"));
            made.waits.insert(key, column);
        }
        ("other", _) => add(&mut made.others),
        _ => {}
    }
}

fn column(made: &Observations, values: &BTreeMap<u64, f64>) -> Vec<f64> {
    let of = |second: &u64| values.get(second).copied().unwrap_or_default();
    made.seconds.iter().map(of).collect()
}

/// Reads the seconds of the timed window of a run.
///
/// # Errors
/// When the store cannot be read.
pub fn of_window(
    store: &Store,
    job: JobId,
    result: &RunResult,
) -> Result<Observations, StoreError> {
    let window = triphammer_document::why::window(result);
    Ok(read(store, job, result)?.only(|second| window.contains(&second)))
}

fn label(series: &SampleSeries, name: &str) -> String {
    series.labels.get(name).cloned().unwrap_or_default()
}

/// Committed transactions of all types in each second; an interval that is stored as one is divided
/// equally.
fn committed(rows: &[SeriesRow]) -> BTreeMap<u64, f64> {
    let mut all = BTreeMap::new();
    for row in rows {
        let seconds: Range<u64> = row.first..row.last + 1;
        #[expect(clippy::cast_precision_loss, reason = "seconds of an interval")]
        let each =
            row.values.get("committed").unwrap_or_default() / (seconds.end - seconds.start) as f64;
        for second in seconds {
            *all.entry(second).or_default() += each;
        }
    }
    all
}

//! What the store has of each second of a run: committed transactions, and the sampled sessions by
//! what they waited for, by statement, and by who blocked them.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::job_id::JobId;
use crate::observe::{ACTIVE_SESSIONS, ACTIVE_STATEMENTS, BLOCKED_SESSIONS, CPU_NUMBER};
use crate::result::{RunResult, WaitClass};
use crate::samples::SampleSeries;
use crate::second::SeriesRow;
use crate::store::{Store, StoreError, StoredSeries};

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

/// Values of a series, one per second.
#[derive(Clone, Debug)]
pub(crate) struct Sampled {
    pub series: SampleSeries,
    /// `None` where it was not measured.
    pub values: Vec<Option<f64>>,
}

/// The seconds of a run in which its sessions were sampled. All lists are as long as `seconds`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observations {
    /// The seconds, counted from the start of the run.
    pub seconds: Vec<u64>,
    /// Committed transactions.
    pub transactions: Vec<f64>,
    /// Active sessions of the run by class and event.
    pub waits: BTreeMap<(WaitClass, String), Vec<f64>>,
    /// Active sessions of the run by statement.
    pub statements: BTreeMap<String, Vec<f64>>,
    /// Blocked sessions of the run by blocker and object.
    pub blocked: BTreeMap<(String, String), Vec<f64>>,
    /// Sessions of the run that were idle in a transaction.
    pub idle: Vec<f64>,
    /// Active sessions of other programs.
    pub others: Vec<f64>,
    /// Other series.
    pub evidence: Vec<Sampled>,
    /// Samples per second.
    pub samples_per_second: f64,
}

impl Observations {
    /// Reads a run.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn read(store: &Store, job: JobId, result: &RunResult) -> Result<Self, StoreError> {
        let Some(observed) = &result.observed else { return Ok(Self::default()) };
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
        let mut made = Self {
            transactions: seconds.iter().map(|second| committed[second]).collect(),
            idle: vec![0.0; seconds.len()],
            others: vec![0.0; seconds.len()],
            samples_per_second: 1.0 / observed.interval_s.max(1e-3),
            seconds,
            ..Self::default()
        };
        for (values, series) in sessions {
            made.add_sessions(&series, &values);
        }
        for of in store.find_series(job, Some(ACTIVE_STATEMENTS), &[])? {
            let column = made.column(&values(&of)?);
            made.statements.insert(label(&of.series, "statement"), column);
        }
        for of in store.find_series(job, Some(BLOCKED_SESSIONS), &[])? {
            let column = made.column(&values(&of)?);
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
                made.evidence.push(Sampled { values: values.collect(), series: of.series });
            }
        }
        Ok(made)
    }

    fn add_sessions(&mut self, series: &SampleSeries, values: &BTreeMap<u64, f64>) {
        let column = self.column(values);
        let add = |to: &mut Vec<f64>| to.iter_mut().zip(&column).for_each(|(to, of)| *to += of);
        match (label(series, "who").as_str(), label(series, "class").as_str()) {
            ("run", "idle_in_transaction") => add(&mut self.idle),
            ("run", class) => {
                let key = (WaitClass::named(class), label(series, "wait"));
                self.waits.insert(key, column);
            }
            ("other", _) => add(&mut self.others),
            _ => {}
        }
    }

    fn column(&self, values: &BTreeMap<u64, f64>) -> Vec<f64> {
        let of = |second: &u64| values.get(second).copied().unwrap_or_default();
        self.seconds.iter().map(of).collect()
    }

    /// The same for some of the seconds.
    pub fn only(&self, is_chosen: impl Fn(u64) -> bool) -> Self {
        let places: Vec<usize> =
            (0..self.seconds.len()).filter(|at| is_chosen(self.seconds[*at])).collect();
        let pick = |of: &Vec<f64>| -> Vec<f64> { places.iter().map(|at| of[*at]).collect() };
        let sampled = |of: &Sampled| Sampled {
            series: of.series.clone(),
            values: places.iter().map(|at| of.values[*at]).collect(),
        };
        Self {
            seconds: places.iter().map(|at| self.seconds[*at]).collect(),
            transactions: pick(&self.transactions),
            waits: self.waits.iter().map(|(key, of)| (key.clone(), pick(of))).collect(),
            statements: self.statements.iter().map(|(key, of)| (key.clone(), pick(of))).collect(),
            blocked: self.blocked.iter().map(|(key, of)| (key.clone(), pick(of))).collect(),
            idle: pick(&self.idle),
            others: pick(&self.others),
            evidence: self.evidence.iter().map(sampled).collect(),
            samples_per_second: self.samples_per_second,
        }
    }

    /// The seconds of the timed window of a run.
    pub fn of_window(store: &Store, job: JobId, result: &RunResult) -> Result<Self, StoreError> {
        let window = super::window(result);
        Ok(Self::read(store, job, result)?.only(|second| window.contains(&second)))
    }
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

//! What this process keeps of a job that it writes: its lock, and the rows that wait to be written.

use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};
use triphammer_document::JobId;
use triphammer_document::metrics::{Metric, OF_SECOND, OF_TYPE, Values};
use triphammer_document::samples::SampleSeries;
use triphammer_document::second::Second;
use triphammer_document::series::{SecondRow, SeriesRow, phase_name};

use super::chunks::Chunks;
use super::columns::{columns, without_column};
use super::histograms::{Encoded, Merger};
use super::lock::JobLock;

/// Rows to be written.
#[derive(Debug, Default)]
pub(super) struct WaitingRows {
    pub(super) seconds: Vec<SecondRow>,
    series: Vec<SeriesRow>,
    pub(super) histograms: Vec<Encoded>,
}

/// State of a job started by this store.
#[derive(Debug)]
pub(super) struct HeldJob {
    /// Shows that this process is alive; released when dropped.
    _lock: JobLock,
    pub(super) waiting: WaitingRows,
    /// Metrics without a column.
    pub(super) chunks: Chunks,
    /// Keys of the transaction types.
    types: Vec<String>,
    pub(super) merger: Merger,
    /// Number of notes written so far.
    pub(super) notes: u32,
    /// Number of seconds dropped.
    pub(super) dropped: usize,
}

impl HeldJob {
    pub(super) fn new(lock: JobLock, types: Vec<String>) -> Self {
        Self {
            _lock: lock,
            waiting: WaitingRows::default(),
            chunks: Chunks::default(),
            types,
            merger: Merger::default(),
            notes: 0,
            dropped: 0,
        }
    }

    pub(super) fn take(&mut self, second: &Second) {
        let row = SecondRow::of(second);
        self.sample(OF_SECOND, &row.values, row.first, None);
        self.waiting.seconds.push(row);
        for row in SeriesRow::of(second) {
            self.sample(OF_TYPE, &row.values, row.first, Some(row.transaction));
            self.waiting.series.push(row);
        }
    }

    /// Stores the metrics without a column, with the first second covered.
    fn sample(
        &mut self,
        metrics: &'static [Metric],
        values: &Values,
        second: u64,
        transaction: Option<usize>,
    ) {
        let name = transaction.and_then(|place| self.types.get(place)).map(String::as_str);
        for metric in without_column(metrics) {
            if let Some(value) = values.get(metric.name) {
                self.chunks.put(&SampleSeries::of(metric, name), second, value);
            }
        }
    }
}

impl WaitingRows {
    pub(super) fn write(&self, connection: &Connection, job: JobId) -> rusqlite::Result<()> {
        let sql = insert("seconds", "phase", OF_SECOND);
        let mut statement = connection.prepare_cached(&sql)?;
        for row in &self.seconds {
            let phase: Value = row.phase.map(|p| phase_name(p).to_owned()).into();
            let key = key(job, row.first, row.last, phase);
            statement.execute(params_from_iter(key.into_iter().chain(cells(&row.values))))?;
        }
        let sql = insert("series", "type", OF_TYPE);
        let mut statement = connection.prepare_cached(&sql)?;
        for row in &self.series {
            let key = key(job, row.first, row.last, place(row.transaction).into());
            statement.execute(params_from_iter(key.into_iter().chain(cells(&row.values))))?;
        }
        let mut statement =
            connection.prepare_cached("INSERT INTO histograms VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
        for row in &self.histograms {
            statement.execute(params![
                job.0,
                integer(row.first),
                place(row.transaction),
                row.times.name(),
                integer(row.last),
                row.counts,
            ])?;
        }
        Ok(())
    }
}

/// Inserts a row of declared metrics: job, seconds, one more column, and the values.
fn insert(table: &str, more: &str, metrics: &[Metric]) -> String {
    let figures = metrics.iter().filter(|metric| metric.column.is_some()).count();
    format!(
        "INSERT INTO {table} (job, first_second, last_second, {more}{}) VALUES (?, ?, ?, ?{})",
        columns(metrics),
        ", ?".repeat(figures)
    )
}

fn key(job: JobId, first: u64, last: u64, more: Value) -> [Value; 4] {
    [job.0.into(), integer(first).into(), integer(last).into(), more]
}

/// Values of the columns of declared metrics. Integer columns convert them to whole numbers.
fn cells(values: &Values) -> impl Iterator<Item = Value> {
    let in_columns = values.iter().filter(|(metric, _)| metric.column.is_some());
    in_columns.map(|(metric, value)| value.or(metric.zero.then_some(0.0)).into())
}

/// SQLite's integers are signed; counters of a run take centuries to reach their limit.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn place(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

//! The server's own writes and syncs of its log in the timed window: WAL, redo log, binlog. Which of its
//! counters are these is declared with them in the dialect.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::observed::ProfileFigure;

/// What a counter is of the server's log writes.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LogFigure {
    /// Number of writes per second.
    Writes,
    /// Time of writes, in milliseconds per second.
    WriteTime,
    /// Mean time of a write in a second, in milliseconds.
    WriteMean,
    /// Number of syncs per second.
    Syncs,
    /// Time of syncs, in milliseconds per second.
    SyncTime,
    /// Mean time of a sync in a second, in milliseconds.
    SyncMean,
    /// Bytes written, or generated, per second.
    Bytes,
}

impl LogFigure {
    /// The figure with a name in declarations; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "writes" => Self::Writes,
            "write_time" => Self::WriteTime,
            "write_mean" => Self::WriteMean,
            "syncs" => Self::Syncs,
            "sync_time" => Self::SyncTime,
            "sync_mean" => Self::SyncMean,
            "bytes" => Self::Bytes,
            _ => return None,
        })
    }
}

/// What the server did with the file of its log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogOperation {
    /// It wrote.
    Write,
    /// It forced what was written to the disk.
    Sync,
}

/// The writes, or the syncs, of a log in the window, as the server counted them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogWrites {
    /// The log: `WAL`, `redo`, `binlog`.
    pub file: String,
    /// What was done with it.
    pub operation: LogOperation,
    /// Number per second.
    #[schemars(range(min = 0.0))]
    pub per_second: f64,
    /// Number per completed transaction; `None` without transactions.
    pub per_transaction: Option<f64>,
    /// Bytes per second; `None` of syncs, and if the server does not count them.
    pub bytes_per_second: Option<f64>,
    /// Mean time, in milliseconds; `None` if the server does not measure it, or did nothing.
    pub mean_ms: Option<f64>,
    /// Longest mean time of a second, in milliseconds; `None` as above.
    pub max_ms: Option<f64>,
    /// Share of the window in which the operation was in progress; above 1 if several were at a time.
    /// `None` if the server does not measure it.
    pub busy: Option<f64>,
}

impl LogWrites {
    /// Bytes of one operation; `None` if unknown.
    #[must_use]
    pub fn bytes_each(&self) -> Option<f64> {
        self.bytes_per_second.filter(|_| self.per_second > 0.0).map(|all| all / self.per_second)
    }
}

/// The name of a log that the server's figures do not name.
const WAL: &str = "WAL";
/// The label of the figures that name it.
const FILE: &str = "file";

/// Puts together what the counters say.
pub(super) fn log_writes(profile: &[ProfileFigure]) -> Vec<LogWrites> {
    let mut files: BTreeMap<&str, BTreeMap<LogFigure, &ProfileFigure>> = BTreeMap::new();
    for figure in profile {
        if let Some(log) = figure.log {
            let file = figure.labels.get(FILE).map_or(WAL, String::as_str);
            files.entry(file).or_default().insert(log, figure);
        }
    }
    let operations = [
        (LogOperation::Write, [LogFigure::Writes, LogFigure::WriteTime, LogFigure::WriteMean]),
        (LogOperation::Sync, [LogFigure::Syncs, LogFigure::SyncTime, LogFigure::SyncMean]),
    ];
    let of_file = |(file, figures): (&str, BTreeMap<LogFigure, &ProfileFigure>)| {
        let of = |(operation, [number, time, mean]): (LogOperation, [LogFigure; 3])| {
            let count = figures.get(&number)?;
            // Servers that do not measure times count 0.
            let time = figures.get(&time).map(|of| of.mean).filter(|ms| *ms > 0.0);
            let bytes = figures.get(&LogFigure::Bytes).map(|of| of.mean);
            Some(LogWrites {
                file: file.to_owned(),
                operation,
                per_second: count.mean,
                per_transaction: count.per_transaction,
                bytes_per_second: bytes.filter(|_| operation == LogOperation::Write),
                mean_ms: time.filter(|_| count.mean > 0.0).map(|ms| ms / count.mean),
                max_ms: time.and(figures.get(&mean)).map(|of| of.max),
                busy: time.map(|ms| ms / 1000.0),
            })
        };
        operations.map(of).into_iter().flatten().collect::<Vec<_>>()
    };
    files.into_iter().flat_map(of_file).collect()
}

//! What `capture` reports.

use std::path::PathBuf;

use serde::Serialize;

/// What was captured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaptureReport {
    /// Name of the source's format.
    pub from: String,
    /// The source.
    pub source: String,
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// Whether a recording was written, rather than a workload file.
    pub is_recording: bool,
    /// Bytes read.
    pub bytes: u64,
    /// Sessions in the log.
    pub sessions: usize,
    /// Transactions that were captured.
    pub transactions: u64,
    /// Statements in them.
    pub statements: u64,
    /// Different statements.
    pub distinct_statements: usize,
    /// Different transactions of a workload file; 0 of a recording.
    pub kinds: usize,
    /// Parameters of a workload file; 0 of a recording.
    pub parameters: usize,
    /// Seconds from the first to the last start of a transaction.
    pub seconds: f64,
    /// Parameters of a workload file that are guessed; `None` if the source was a log.
    pub guessed: Option<usize>,
    /// Why a recording of what passes on the wire ended before it was to; `None` if it did not.
    pub ended_early: Option<String>,
    /// Connections of clients whose server could not be reached.
    pub unreached: u64,
    /// What is not replayed, by reason.
    pub skipped: Vec<SkippedCount>,
}

/// How often something was skipped for a reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedCount {
    /// The reason with what it counts.
    pub reason: &'static str,
    /// How many.
    pub count: u64,
}

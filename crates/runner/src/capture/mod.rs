//! `capture`: makes a workload file or a recording from what a server has: its log, or the statistics
//! of its statements.

mod log;
mod output;
mod statistics;

use std::path::Path;

use triphammer_capture::Skipped;
use triphammer_core::SpecError;
use triphammer_document::capture::{CaptureReport, SkippedCount};
use triphammer_drivers::target::TargetUrl;
use triphammer_settings::Settings;
use triphammer_settings::failure::Failure;
use triphammer_settings::target::Secrets;

use self::log::LogRequest;
use self::output::Output;
use self::statistics::StatisticsRequest;

/// What to capture, and where to write it.
#[derive(Debug)]
pub enum CaptureRequest {
    /// The log of a server.
    Log(LogRequest),
    /// The statistics that a database has of its statements.
    Statistics(StatisticsRequest),
}

/// The reasons that occurred.
fn counts(skipped: &Skipped) -> Vec<SkippedCount> {
    skipped.iter().map(|(reason, count)| SkippedCount { reason: reason.text(), count }).collect()
}

impl CaptureRequest {
    /// What the settings ask for: a URL names a database, anything else a log.
    ///
    /// # Errors
    /// When a value is invalid, the log cannot be read or its format is unknown, or the output exists.
    pub fn new(settings: &mut Settings, secrets: &dyn Secrets) -> Result<Self, Failure> {
        let Some(source) = settings.get("target").map(str::to_owned) else {
            return Err(Failure::refuse(
                "name the log to capture, as in `triphammer capture postgresql.csv -o shop`, or a \
                 database with statistics of its statements, such as postgres://user@host/shop",
            ));
        };
        let output: String = settings.parse_or("output", || ".".to_owned())?;
        let output = Output::new(Path::new(&output))?;
        let is_file = Path::new(&source).exists();
        if !is_file && TargetUrl::parse(&source).is_ok() || source.contains("://") {
            if settings.get("database").is_some() {
                let message = "the database is the one in the URL: --database chooses one of a log";
                return Err(SpecError::new(message).about("database").into());
            }
            return StatisticsRequest::new(output, settings, secrets).map(Self::Statistics);
        }
        LogRequest::new(&source, output, settings).map(Self::Log)
    }

    /// Bytes of the log, for progress; 0 for statistics.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        match self {
            Self::Log(log) => log.bytes,
            Self::Statistics(_) => 0,
        }
    }

    /// Warnings about the source, such as a password that is visible in the process list.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        match self {
            Self::Log(_) => &[],
            Self::Statistics(statistics) => statistics.warnings(),
        }
    }
}

/// Captures; `advance` gets the bytes of a log that were read since it was last called.
///
/// # Errors
/// When the source cannot be read or has no statements, or a file cannot be written.
pub fn capture(
    request: &CaptureRequest,
    advance: &mut dyn FnMut(u64),
) -> Result<CaptureReport, Failure> {
    match request {
        CaptureRequest::Log(log) => log::capture(log, advance),
        CaptureRequest::Statistics(statistics) => statistics.capture(),
    }
}

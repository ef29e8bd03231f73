//! `capture`: makes a workload file or a recording from what a server has: its log, its clients, or the statistics of
//! its statements.

mod common;
mod log;
mod output;
mod statistics;
mod wire;

use std::path::Path;

use triphammer_core::SpecError;
use triphammer_document::capture::CaptureReport;
use triphammer_drivers::target::TargetUrl;
use triphammer_settings::Settings;
use triphammer_settings::failure::Failure;
use triphammer_settings::handle::Handle;
use triphammer_settings::target::Secrets;

pub use self::common::CaptureEvent;
use self::common::MASK;
use self::log::LogRequest;
use self::output::Output;
use self::statistics::StatisticsRequest;
use self::wire::WireRequest;

/// Settings that only `--listen` has.
const OF_WIRE: [&str; 6] = ["for", "drain", "max-memory", "max-file", "tls-cert", "tls-key"];

/// What to capture, and where to write it.
#[derive(Debug)]
pub enum CaptureRequest {
    /// The log of a server.
    Log(LogRequest),
    /// The statistics that a database has of its statements.
    Statistics(StatisticsRequest),
    /// What passes between clients and a server.
    Wire(Box<WireRequest>),
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
        if settings.get("listen").is_some() {
            let request = WireRequest::new(output, settings, secrets)?;
            return Ok(Self::Wire(Box::new(request)));
        }
        if let Some(name) = OF_WIRE.into_iter().find(|name| settings.get(name).is_some()) {
            let message = format!("--{name} needs --listen");
            return Err(SpecError::new(message).about(name).into());
        }
        let is_file = Path::new(&source).exists();
        if !is_file && TargetUrl::parse(&source).is_ok() || source.contains("://") {
            if settings.get(MASK).is_some() {
                let message = "statistics have no values: --mask is for logs and --listen";
                return Err(SpecError::new(message).about(MASK).into());
            }
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
            Self::Statistics(_) | Self::Wire(_) => 0,
        }
    }

    /// Warnings about the source, such as a password that is visible in the process list.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::Log(_) => Vec::new(),
            Self::Statistics(statistics) => statistics.warnings().to_vec(),
            Self::Wire(wire) => wire.warnings(),
        }
    }
}

/// Captures; `report` gets what happens meanwhile. The handle ends a capture of what passes; a log is read to its end.
///
/// # Errors
/// When the source cannot be read or has no statements, or a file cannot be written.
pub fn capture(
    request: &CaptureRequest,
    handle: &Handle,
    report: &mut dyn FnMut(CaptureEvent),
) -> Result<CaptureReport, Failure> {
    match request {
        CaptureRequest::Log(log) => {
            log::capture(log, &mut |bytes| report(CaptureEvent::Read(bytes)))
        }
        CaptureRequest::Statistics(statistics) => statistics.capture(),
        CaptureRequest::Wire(wire) => wire.capture(handle, report),
    }
}

//! `capture`: makes a workload file or a recording from what a server has: its log, its clients, or the statistics of
//! its statements.

mod log;
mod output;
mod statistics;
mod wire;

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use triphammer_capture::Skipped;
use triphammer_capture::mask::Mask;
use triphammer_core::SpecError;
use triphammer_document::capture::{CaptureReport, SkippedCount};
use triphammer_drivers::target::TargetUrl;
use triphammer_settings::Settings;
use triphammer_settings::failure::Failure;
use triphammer_settings::handle::Handle;
use triphammer_settings::target::Secrets;

use self::log::LogRequest;
use self::output::Output;
use self::statistics::StatisticsRequest;
use self::wire::WireRequest;

/// Settings that only `--listen` has.
const OF_WIRE: [&str; 6] = ["for", "drain", "max-memory", "max-file", "tls-cert", "tls-key"];

/// The setting of masks.
const MASK: &str = "mask";

/// What is masked.
#[derive(Clone, Debug, Default)]
struct MaskRequest(Option<String>);

impl MaskRequest {
    /// Reads what the settings ask for.
    ///
    /// # Errors
    /// When it names something that is no column.
    fn new(settings: &Settings) -> Result<Self, SpecError> {
        let list = settings.get(MASK).map(str::to_owned);
        let request = Self(list);
        request.mask([0; 16])?;
        Ok(request)
    }

    fn mask(&self, key: [u8; 16]) -> Result<Option<Mask>, SpecError> {
        let mask = self.0.as_deref().map(|list| Mask::new(list, key));
        mask.transpose().map_err(|why| SpecError::new(format!("--{MASK}: {why}")).about(MASK))
    }

    /// A mask with a key of its own.
    ///
    /// # Errors
    /// When the system has no random numbers.
    fn draw(&self) -> Result<Option<Mask>, Failure> {
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(|error| Failure::System {
            doing: "drawing the key of the mask".to_owned(),
            error: std::io::Error::other(error),
        })?;
        Ok(self.mask(key)?)
    }
}

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

/// What happens while something is captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureEvent {
    /// So many more bytes of a log were read.
    Read(u64),
    /// Clients can connect here.
    Listening(SocketAddr),
    /// The recording has ended and is kept; why it ended early, if it did.
    Recorded(Option<String>),
    /// So many connections are still open, and are forwarded for at most this time.
    Draining(usize, Duration),
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

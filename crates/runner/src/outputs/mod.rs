//! Live outputs of a run: a series file, an endpoint for Prometheus, exports to an OpenTelemetry
//! collector. All are opened before the run starts, so that an unusable path or port is noticed
//! first; later failures neither end nor slow the run and are reported once.

mod address;
mod file;
mod metrics;
mod otlp;
mod prometheus;
mod tls;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use triphammer_core::SpecError;
use triphammer_core::workload::TransactionDef;
use triphammer_document::second::Second;
use triphammer_document::series::{Layout, SecondRow, SeriesRow, SeriesWriter};
use triphammer_settings::Settings;
use triphammer_settings::failure::Failure;

use crate::watch::{JobEvent, Watcher};

use address::Collector;
pub use file::{OutputFile, ReportFile};
pub use metrics::RunMetrics;
pub use prometheus::{CONTENT_TYPE as METRICS_TYPE, exposition as metrics_text};

/// The current metrics, written by the thread of events and read by the threads of the endpoint and
/// the exporter.
type Shared = Arc<Mutex<RunMetrics>>;

/// The requested outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputsAsked {
    series: Option<(PathBuf, Layout)>,
    listen: Option<SocketAddr>,
    otlp: Option<Collector>,
    /// File with the certificate authorities for verifying the collector.
    otlp_ca: Option<PathBuf>,
}

/// The open outputs.
#[derive(Debug)]
pub struct Outputs {
    series: Option<SeriesFile>,
    metrics: Option<Shared>,
    _endpoint: Option<prometheus::Endpoint>,
    exporter: Option<otlp::Exporter>,
    /// Failure of the series file, if it could not be written completely.
    torn: Option<Failure>,
}

#[derive(Debug)]
struct SeriesFile {
    file: OutputFile,
    writer: SeriesWriter,
}

impl OutputsAsked {
    /// Reads the settings.
    ///
    /// # Errors
    /// When a value is invalid.
    pub fn from_settings(settings: &mut Settings) -> Result<Self, SpecError> {
        let none = "none";
        let show = |(path, _): &(PathBuf, Layout)| path.display().to_string();
        let otlp = settings.optional("otlp", str::parse, Collector::to_string, none)?;
        let otlp_ca = settings.optional(
            tls::AUTHORITIES,
            |text| Ok(PathBuf::from(text)),
            |file| file.display().to_string(),
            "the system's",
        )?;
        if otlp_ca.is_some() && !otlp.as_ref().is_some_and(|to| to.has_tls) {
            return Err(SpecError::new(
                "--otlp-ca needs a collector with TLS: give its https:// URL with --otlp",
            ));
        }
        Ok(Self {
            series: settings.optional("series", series_file, show, none)?,
            listen: settings.optional(
                "metrics-listen",
                address::listen,
                SocketAddr::to_string,
                none,
            )?,
            otlp,
            otlp_ca,
        })
    }

    /// Opens the files and ports. `info` describes the run, without secrets.
    ///
    /// # Errors
    /// When a file cannot be written or a port is in use.
    pub fn open(
        self,
        transactions: &[TransactionDef],
        info: &[(&'static str, String)],
    ) -> Result<Outputs, Failure> {
        let types: Vec<String> = transactions.iter().map(|t| t.name.to_string()).collect();
        let series = self.series.map(|(path, layout)| SeriesFile::create(path, layout, &types));
        let metrics = (self.listen.is_some() || self.otlp.is_some())
            .then(|| Arc::new(Mutex::new(RunMetrics::new(transactions, info))));
        let shared = || Arc::clone(metrics.as_ref().expect("made for them"));
        let endpoint = self.listen.map(|at| prometheus::Endpoint::open(at, shared()));
        let exporter = self.otlp.map(|to| otlp::Exporter::start(to, self.otlp_ca, shared()));
        Ok(Outputs {
            series: series.transpose()?,
            _endpoint: endpoint.transpose()?,
            exporter: exporter.transpose()?,
            metrics,
            torn: None,
        })
    }
}

/// Reads the name of a series file.
fn series_file(text: &str) -> Result<(PathBuf, Layout), String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => Ok((path, Layout::Csv)),
        Some("jsonl") => Ok((path, Layout::JsonLines)),
        _ => Err(format!("`{text}` must end in .csv or .jsonl")),
    }
}

impl Outputs {
    /// A watcher that writes the outputs and forwards all events to another watcher.
    pub fn around<'a>(&'a mut self, watcher: &'a mut dyn Watcher) -> impl Watcher + 'a {
        Around { outputs: self, watcher }
    }

    /// Closes the outputs after the run; returns pending messages.
    #[must_use]
    pub fn finish(&mut self) -> Option<String> {
        self.exporter.take().and_then(otlp::Exporter::finish)
    }

    /// Why a requested file is incomplete.
    pub fn torn(&mut self) -> Option<Failure> {
        self.torn.take()
    }

    fn second(&mut self, second: &Second, warn: &mut dyn FnMut(&str)) {
        if let Some(series) = &mut self.series
            && let Err(failure) = series.second(second)
        {
            warn(&format!("{failure}; the series ends here"));
            self.series = None;
            self.torn = Some(failure);
        }
        if let Some(trouble) = self.exporter.as_ref().and_then(otlp::Exporter::trouble) {
            warn(&trouble);
        }
    }
}

impl SeriesFile {
    fn create(path: PathBuf, layout: Layout, types: &[String]) -> Result<Self, Failure> {
        let mut file = OutputFile::create(&path)?;
        let writer = SeriesWriter::new(layout, types);
        file.append(&writer.head())?;
        Ok(Self { file, writer })
    }

    /// Writes each line with one call, so that a killed run leaves complete lines.
    fn second(&mut self, second: &Second) -> Result<(), Failure> {
        let types: Vec<SeriesRow> = SeriesRow::of(second).collect();
        self.file.append(&self.writer.row(&SecondRow::of(second), &types))
    }
}

struct Around<'a> {
    outputs: &'a mut Outputs,
    watcher: &'a mut dyn Watcher,
}

impl Watcher for Around<'_> {
    fn on_event(&mut self, event: JobEvent<'_>) {
        if let Some(metrics) = &self.outputs.metrics {
            metrics.lock().expect("no thread panics while it holds the lock").on_event(event);
        }
        if let JobEvent::Second(second) = event {
            self.outputs.second(second, &mut |text| self.watcher.on_event(JobEvent::Warning(text)));
        }
        self.watcher.on_event(event);
    }
}

//! Metrics of a host beside a run: of this one, from `/proc` and `/sys`, or of the database's,
//! from a Prometheus node exporter (`--host-metrics`). Both give the same counters (`snapshot`),
//! from which the declared metrics follow.

mod declared;
mod linux;
mod node_exporter;
pub(crate) mod prometheus;
mod quiet;
mod scrape;
mod snapshot;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use triphammer_core::SpecError;
use triphammer_core::clock::{Clock, Elapsed};
use triphammer_core::session::ServerProcess;
use triphammer_document::samples::SampleSeries;
use triphammer_settings::Settings;
use triphammer_settings::files::Files;

pub use crate::cores::HOST;
pub(crate) use declared::POWER;
pub use declared::{HOST_METRICS, HostMetric, Stack};
pub use scrape::Exporter;

use crate::{Measured, Source};
pub(crate) use linux::{ProcessGroup, cpu_of, disk_bytes, memory_of};
pub use quiet::QuietHost;
use snapshot::{HostValue, Snapshot, values};

/// Where the counters come from.
enum From {
    /// This host.
    Files(Files, Vec<ProcessGroup>),
    /// A node exporter, and the runtime of its thread once that has begun.
    Exporter(Exporter, Option<tokio::runtime::Runtime>),
}

/// A host that is read once per second.
struct Host {
    from: From,
    clock: Clock,
    last: Option<(Elapsed, Snapshot)>,
    /// The series, by metric and labels.
    series: HashMap<(&'static str, Vec<String>), Arc<SampleSeries>>,
}

/// The hosts that a run observes: this one, with the server's processes if they are here, and that
/// of a node exporter.
#[must_use]
pub fn sources(exporter: Option<&Exporter>, server: Option<ServerProcess>) -> Vec<Box<dyn Source>> {
    let files = Files::of_this_host();
    let server = server.and_then(|server| group_of(&files, server));
    let this = ProcessGroup { name: "triphammer".to_owned(), process: linux::THIS.to_owned() };
    let groups = std::iter::once(this).chain(server).collect();
    let mut sources: Vec<Box<dyn Source>> = vec![Box::new(Host::new(From::Files(files, groups)))];
    if let Some(exporter) = exporter {
        sources.push(Box::new(Host::new(From::Exporter(exporter.clone(), None))));
    }
    sources
}

/// Reads `--host-metrics`.
///
/// # Errors
/// When the URL is invalid.
pub fn exporter(settings: &mut Settings) -> Result<Option<Exporter>, SpecError> {
    let url = settings.get("host-metrics").map(str::parse).transpose();
    url.map_err(|text: String| SpecError::new(text).about("host-metrics"))
}

/// The group of a server's processes, if its process is here: sessions are children of one process,
/// or its threads.
pub(crate) fn group_of(files: &Files, server: ServerProcess) -> Option<ProcessGroup> {
    let field = |id: &str, name: &str| {
        let status = files.text(&format!("proc/{id}/status"))?;
        let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.map(|value| value.trim().to_owned())
    };
    let is_server =
        |id: &str| field(id, "Name").filter(|name| server.names.contains(&name.as_str()));
    // A thread may have its own name.
    let process = field(&server.id.to_string(), "Tgid")?;
    let name = is_server(&process)?;
    let parent = field(&process, "PPid").filter(|parent| is_server(parent).is_some());
    Some(ProcessGroup { name, process: parent.unwrap_or(process) })
}

impl Host {
    fn new(from: From) -> Self {
        Self { from, clock: Clock::start(), last: None, series: HashMap::new() }
    }

    /// Reads the counters; `None` if the host does not answer.
    fn read(&mut self) -> Option<Snapshot> {
        match &mut self.from {
            From::Files(files, groups) => Some(linux::read(files, groups)),
            From::Exporter(exporter, runtime) => {
                if runtime.is_none() {
                    *runtime = triphammer_engine::runtime().ok();
                }
                let runtime = runtime.as_ref()?;
                let text = runtime.block_on(exporter.fetch()).ok()?;
                Some(node_exporter::parse(&text))
            }
        }
    }

    /// The series of a value.
    fn series(&mut self, value: &HostValue) -> Arc<SampleSeries> {
        let key = (value.metric.name, value.labels.clone());
        let host = match &self.from {
            From::Files(..) => None,
            From::Exporter(exporter, _) => Some((HOST.to_owned(), exporter.host.clone())),
        };
        let series = self.series.entry(key).or_insert_with(|| {
            let HostMetric { name, title, unit, merge, labels, .. } = value.metric;
            let named = labels.iter().map(|label| (*label).to_owned());
            let labels = named.zip(value.labels.iter().cloned());
            Arc::new(SampleSeries {
                metric: name.to_owned(),
                labels: labels.filter(|(_, value)| !value.is_empty()).chain(host).collect(),
                title: title.to_owned(),
                unit,
                merge,
            })
        });
        Arc::clone(series)
    }
}

impl Source for Host {
    fn name(&self) -> &str {
        match &self.from {
            From::Files(..) => "host",
            From::Exporter(exporter, _) => &exporter.host,
        }
    }

    fn sample(&mut self, _second: u64) -> Measured {
        let Some(now) = self.read() else { return Vec::new() };
        // An answer over the network comes late: the time between two of them counts.
        let at = self.clock.now();
        let last = self.last.take();
        let seconds = last.as_ref().map_or(0.0, |(then, _)| at.since(*then) as f64 / 1e9);
        let found = values(last.as_ref().map(|(_, snapshot)| snapshot), &now, seconds);
        self.last = Some((at, now));
        found.iter().map(|value| (self.series(value), value.value)).collect()
    }
}

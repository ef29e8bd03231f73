//! A result on a board: its bundle is verified, what the board shows of it is read from its raw parts,
//! and its own files are written into the site.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};
use triphammer_bundle::verify::Made;
use triphammer_bundle::{Container, repeat, verify};
use triphammer_document::Document;
use triphammer_document::bundle::{BundleVerification, Signature};
use triphammer_document::compare::Run;
use triphammer_document::energy::EnergySourceKind;
use triphammer_document::host::Host;
use triphammer_document::profile::PrimaryMetricName;
use triphammer_document::result::RunResult;
use triphammer_report::{Charset, json_pretty, render};
use triphammer_runner::compare::read_seconds;
use triphammer_server::html_export;
use triphammer_settings::failure::Failure;
use triphammer_settings::format::{bytes, figure, size};
use triphammer_settings::formats::Format;
use triphammer_store::{JobRow, Store, StoredJob};

use crate::folder::Found;
use crate::label::Label;
use crate::site::Site;

/// A result on a board.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Name of the bundle below its folder.
    pub name: String,
    /// Name in paths of the site.
    pub slug: String,
    /// Length of the bundle.
    pub bytes: u64,
    /// Who submits it; `None` if nobody says.
    pub label: Option<Label>,
    /// What `verify` found.
    pub found: BundleVerification,
    /// What the document says, for tables and filters.
    pub head: Head,
    /// The complete runs; empty unless the bundle is one of runs and agrees with itself.
    pub runs: Vec<Run>,
    /// The report as text; empty unless the bundle agrees with itself.
    pub report: String,
    /// The job for its page with all charts; `None` unless the bundle agrees with itself, once the page
    /// was written, and without the web page that draws them.
    pub charts: Option<String>,
    /// Whether it has such a page.
    pub has_charts: bool,
    /// What identifies the jobs in it, anonymous or not.
    identities: BTreeSet<String>,
}

/// What tables show of a document. Empty where it says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Head {
    /// Title of the workload.
    pub workload: String,
    /// Scale of the data: `10 warehouses`.
    pub scale: String,
    /// Product of the database.
    pub product: String,
    /// Version of the database.
    pub version: String,
    /// CPU of the client's host, in short.
    pub cpu: String,
    /// Cores and memory of that host.
    pub size: String,
    /// Whether client and server shared that host.
    pub same_host: Option<bool>,
    /// Start, RFC 3339.
    pub started_at: String,
    /// How the job ended, in words.
    pub ending: String,
}

impl Entry {
    /// Verifies a bundle, and writes its own files.
    ///
    /// # Errors
    /// When the file is not a bundle, its label cannot be read, or there is no room.
    pub(crate) fn examine(of: &Found, site: &Site) -> Result<Self, Failure> {
        let label = Label::beside(&of.path)?;
        let key = label.as_ref().and_then(|label| label.key(&of.path));
        let named = |failure: Failure| match failure {
            Failure::Spec(error) => Failure::refuse(format!("{}: {error}", of.name)),
            other => other,
        };
        let container = Container::read(&of.path)?;
        let bytes = container.archive.len() as u64;
        // What is verified is what is published, whatever becomes of the file meanwhile.
        site.write(&path_of(&of.slug, "bundle.zip"), &container.archive)?;
        let verified = verify::verify_into_store(container, key.as_deref()).map_err(named)?;
        let verify::Verified { found, store, job, runs, made } = verified;
        let mut entry = Self {
            name: of.name.clone(),
            slug: of.slug.clone(),
            bytes,
            label,
            head: Head::default(),
            runs: Vec::new(),
            report: String::new(),
            charts: None,
            has_charts: false,
            identities: identities(&store)?,
            found,
        };
        site.write(&entry.file("verification.json"), json_pretty(&entry.found))?;
        if let Some((stored, document)) = job {
            entry.head = Head::of(&stored, document.as_ref());
            if entry.found.agrees {
                entry.runs = repeat::runs_of(&store, runs)?;
                entry.read(&store, &stored, made)?;
            }
        }
        Ok(entry)
    }

    /// Path of one of its files in the site.
    pub(crate) fn file(&self, name: &str) -> String {
        path_of(&self.slug, name)
    }

    /// Reads what only a result has that agrees with itself.
    fn read(&mut self, store: &Store, stored: &StoredJob, made: Made) -> Result<(), Failure> {
        let page = html_export::page_of_bundle;
        self.report = match made.text {
            Some(text) => text,
            None => render(Format::Text, store, stored, Charset::Unicode, page)?,
        };
        for run in &mut self.runs {
            // Only what is compared and drawn: those of a long run have many figures.
            let primary = run.result.primary_metric.name.to_lowercase();
            let mut seconds = read_seconds(store, &run.result)?;
            seconds.retain(|name, _| *name == primary);
            run.seconds = Some(seconds);
        }
        if triphammer_server::has_page() {
            self.charts = Some(match made.page.as_deref().and_then(html_export::job_in) {
                Some(job) => job.to_owned(),
                None => html_export::job_of_bundle(store, stored)?,
            });
            self.has_charts = true;
        }
        Ok(())
    }

    /// The last complete run, which the tables show; `None` for other jobs.
    pub(crate) fn run(&self) -> Option<&RunResult> {
        self.runs.last().map(|run| &run.result)
    }

    /// The primary metric of its runs.
    pub(crate) fn metric(&self) -> Option<PrimaryMetricName> {
        self.run().map(|run| PrimaryMetricName::of(&run.primary_metric))
    }

    /// Value of the primary metric: the mean of its runs.
    pub(crate) fn value(&self) -> Option<f64> {
        let values = self.runs.iter().map(|run| run.result.primary_metric.value);
        (!self.runs.is_empty()).then(|| mean(values))
    }

    /// Costs per million of what is counted, at the mean rate of its runs, and their currency; `None` unless
    /// all have them in one currency.
    pub(crate) fn price(&self) -> Option<(f64, String)> {
        let of = |run: &Run| {
            let price = run.result.price.as_ref()?;
            Some((price.per_million.as_ref()?.value, price.list.currency.clone()))
        };
        let prices: Vec<(f64, String)> = self.runs.iter().map(of).collect::<Option<_>>()?;
        let currency = prices.first()?.1.clone();
        let is_one = prices.iter().all(|(_, of)| *of == currency);
        // Costs per time over the mean rate.
        is_one.then(|| (1.0 / mean(prices.iter().map(|(value, _)| 1.0 / value)), currency))
    }

    /// Joules per transaction, and what they were read from: the mean of its runs; `None` unless all
    /// have them from one kind of source.
    pub(crate) fn joules(&self) -> Option<(f64, EnergySourceKind)> {
        let of = |run: &Run| {
            let figures = run.result.energy.as_ref()?.figures.as_ref()?;
            Some((figures.joules_per_transaction?, figures.kind))
        };
        let joules: Vec<(f64, EnergySourceKind)> =
            self.runs.iter().map(of).collect::<Option<_>>()?;
        let kind = joules.first()?.1;
        let is_one = joules.iter().all(|(_, of)| *of == kind);
        is_one.then(|| (mean(joules.iter().map(|(value, _)| *value)), kind))
    }

    /// The result in a few words: of several runs their mean, of what does not agree a claim.
    pub(crate) fn answer(&self) -> String {
        match (self.value(), self.metric()) {
            _ if !self.found.agrees => format!("claims {}", self.found.outcome),
            (Some(value), Some(metric)) if self.runs.len() > 1 => {
                format!("{} {}, mean of {} runs", figure(value), metric.name, self.runs.len())
            }
            _ => self.found.outcome.clone(),
        }
    }

    /// Name of the key that signed it; `None` without a signature.
    pub(crate) fn key(&self) -> Option<&str> {
        match &self.found.signature {
            Signature::None => None,
            Signature::ByKey { key } | Signature::ByAsked { key } => Some(key),
        }
    }
}

impl Head {
    fn of(stored: &StoredJob, document: Option<&Document>) -> Self {
        let row = &stored.row;
        // Of a job without a document, and of kinds whose document does not have it.
        let title = triphammer_runner::describe(&row.workload).map(|known| known.title.to_string());
        let of_row = Self {
            workload: title.unwrap_or_else(|_| row.workload.clone()),
            product: row.server_product.clone().unwrap_or_default(),
            version: row.server_version.clone().unwrap_or_default(),
            cpu: cpu_of(&stored.host),
            size: size_of(&stored.host),
            started_at: row.started_at.clone(),
            ending: ending(row),
            ..Self::default()
        };
        match document {
            Some(document) => Self { ending: of_row.ending.clone(), ..of_row.with(document) },
            None => of_row,
        }
    }

    fn with(mut self, document: &Document) -> Self {
        let head = document.head();
        if let Some(workload) = head.workload {
            self.workload.clone_from(&workload.title);
            self.scale = size(workload.scale, &workload.scale_unit).unwrap_or_default();
        }
        if let Some(server) = head.server {
            self.product.clone_from(&server.product);
            self.version.clone_from(&server.version);
            self.same_host = server.same_host;
        }
        if let Some(host) = head.host {
            self.cpu = cpu_of(host);
            self.size = size_of(host);
        }
        if let Some(started_at) = head.started_at {
            self.started_at = started_at.to_owned();
        }
        self
    }

    /// Database in one line.
    pub(crate) fn database(&self) -> String {
        format!("{} {}", self.product, short(&self.version)).trim().to_owned()
    }

    /// Day of the start.
    pub(crate) fn day(&self) -> &str {
        self.started_at.split('T').next().unwrap_or_default()
    }

    /// Day and time of the start: `2026-12-01, 11:24:49 UTC`.
    pub(crate) fn start(&self) -> String {
        let Some((day, time)) = self.started_at.split_once('T') else {
            return self.started_at.clone();
        };
        match time.strip_suffix('Z') {
            Some(time) => {
                let seconds = time.split('.').next().unwrap_or_default();
                format!("{day}, {seconds} UTC")
            }
            None => self.started_at.clone(),
        }
    }
}

/// Path of a file of a result in the site.
fn path_of(slug: &str, name: &str) -> String {
    format!("results/{slug}/{name}")
}

/// The mean of at least one value.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "the number of runs")]
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

fn ending(row: &JobRow) -> String {
    row.ending.as_ref().map_or_else(|| row.status.name().to_owned(), |ending| ending.words.clone())
}

/// A version without what its maker says about its build: the first word of it.
fn short(version: &str) -> &str {
    version.split([' ', '(']).next().unwrap_or_default()
}

/// The name of a CPU without marks and words that all names have.
fn cpu_of(host: &Host) -> String {
    let name = host.cpu.as_deref().unwrap_or_default();
    let name = ["(R)", "(r)", "(TM)", "(tm)"].iter().fold(name.to_owned(), |name, mark| {
        // A space, as the mark may be all that is between two words.
        name.replace(mark, " ")
    });
    let words = name.split_whitespace().filter(|word| *word != "Processor");
    words.collect::<Vec<_>>().join(" ")
}

fn size_of(host: &Host) -> String {
    let cores = host.cores.map(|cores| match cores {
        1 => "1 core".to_owned(),
        cores => format!("{cores} cores"),
    });
    let parts = cores.into_iter().chain(host.memory_bytes.map(bytes));
    parts.collect::<Vec<_>>().join(", ")
}

/// What identifies the jobs of a store: start and measured times of each run, and of other jobs their
/// start. Names, which a bundle may replace, are not part of it.
fn identities(store: &Store) -> Result<BTreeSet<String>, Failure> {
    let mut identities = BTreeSet::new();
    for job in store.all_jobs()? {
        let row = store.row(job)?;
        let mut hash = Sha256::new();
        hash.update(format!("{} {} {}", row.kind.name(), row.started_at, row.workload));
        for table in ["totals", "series"] {
            // Without the number that the job has in its store.
            hash.update(store.export(job, table)?.unwrap_or_default());
        }
        identities.insert(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect());
    }
    Ok(identities)
}

/// Refuses two bundles with the same job.
///
/// # Errors
/// When there are any: names them.
pub(crate) fn refuse_doubles(entries: &[Entry]) -> Result<(), Failure> {
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    let doubles = entries.iter().map(|entry| {
        for identity in &entry.identities {
            if let Some(other) = known.get(&**identity) {
                return Err(Failure::refuse(format!(
                    "{} has a job that {other} has, too: remove one, as a result counts once",
                    entry.name
                )));
            }
        }
        known.extend(entry.identities.iter().map(|identity| (&**identity, &*entry.name)));
        Ok(())
    });
    crate::all(doubles).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cpus_are_short() {
        let short = |name: &str| cpu_of(&Host { cpu: Some(name.to_owned()), ..Host::default() });
        for (name, wanted) in [
            ("Intel(R) Xeon(R) Processor", "Intel Xeon"),
            ("Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", "Intel Core i7-8650U CPU @ 1.90GHz"),
            ("Intel(R)Xeon", "Intel Xeon"),
            ("AMD EPYC 7763 64-Core Processor", "AMD EPYC 7763 64-Core"),
            ("Apple M2", "Apple M2"),
        ] {
            assert_eq!(short(name), wanted);
        }
        assert_eq!(cpu_of(&Host::default()), "");
    }

    #[test]
    fn a_start_is_shown_as_day_and_time() {
        let start = |at: &str| Head { started_at: at.to_owned(), ..Head::default() }.start();
        assert_eq!(start("2026-12-01T11:24:49Z"), "2026-12-01, 11:24:49 UTC");
        assert_eq!(start("2026-12-01T11:24:56.952333Z"), "2026-12-01, 11:24:56 UTC");
        assert_eq!(start("2026-12-01T11:24:49+01:00"), "2026-12-01T11:24:49+01:00");
        assert_eq!(start(""), "");
    }
}

//! Energy beside a run: the readings, and the figures of the timed window that follow from them.
//! Reading counters and exporters is left to `observe`.
//!
//! ```text
//! EnergyReadings (raw, part of the evidence) ──► Energy (in the document)
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_settings::format::{figure, percent};

use crate::price::MeasuredRate;

/// Share of the timed window that must be read, at least, for a figure.
const COVERAGE_MIN: f64 = 0.9;
/// Most that the rates of two sides may differ for their energy to be compared, as a share.
const RATES_ALIKE: f64 = 0.02;

/// What energy was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnergySourceKind {
    /// The RAPL counters of this host, in `/sys/class/powercap`.
    Rapl,
    /// The RAPL counters of a Prometheus node exporter: `node_rapl_*_joules_total`.
    NodeExporter,
    /// Scaphandre: `scaph_host_energy_microjoules` or `scaph_host_power_microwatts`.
    Scaphandre,
    /// Kepler: `kepler_node_*_joules_total`.
    Kepler,
    /// A metric in watts, named by `--power-metric`.
    PowerMetric,
}

/// Whose energy a source reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EnergyOf {
    /// The host of the client only: the database is elsewhere.
    ClientHost,
    /// The host of the database.
    ServerHost,
    /// One host that client and database share.
    SharedHost,
}

/// Readings of energy beside a run: what the figures are computed from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergyReadings {
    /// The sources that were read.
    pub sources: Vec<EnergySourceReadings>,
    /// What could not be read, in words.
    pub gaps: Vec<String>,
}

/// Readings of a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnergySourceReadings {
    /// Kind of the source.
    pub kind: EnergySourceKind,
    /// Whose energy it is.
    pub of: EnergyOf,
    /// Host of the exporter; `None` for the counters of this host.
    pub host: Option<String>,
    /// The domains that add up to the energy of the source.
    pub domains: Vec<EnergyDomainReadings>,
}

/// Readings of a domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnergyDomainReadings {
    /// Name of the domain: `package-0`, `dram`.
    pub name: String,
    /// Spans before the run (`--idle`), their times counted from the first idle second.
    pub idle: Vec<EnergySpan>,
    /// Spans of the run, their times counted from its second 0.
    pub run: Vec<EnergySpan>,
}

/// The energy between two readings, as an array: begin and end in milliseconds, and microjoules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[u64; 3]", into = "[u64; 3]")]
pub struct EnergySpan {
    /// Begin, in milliseconds.
    pub from_ms: u64,
    /// End, in milliseconds.
    pub to_ms: u64,
    /// Energy, in microjoules.
    pub microjoules: u64,
}

impl From<[u64; 3]> for EnergySpan {
    fn from([from_ms, to_ms, microjoules]: [u64; 3]) -> Self {
        Self { from_ms, to_ms, microjoules }
    }
}

impl From<EnergySpan> for [u64; 3] {
    fn from(span: EnergySpan) -> Self {
        [span.from_ms, span.to_ms, span.microjoules]
    }
}

/// Energy in the timed window of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Energy {
    /// What was read, by source; empty if nothing could be read.
    pub sources: Vec<EnergySource>,
    /// Figures of the database's host; `None` if its energy is not known.
    pub figures: Option<EnergyFigures>,
    /// What could not be read and why, in words.
    pub gaps: Vec<String>,
}

/// Energy of a source in the timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnergySource {
    /// Kind of the source.
    pub kind: EnergySourceKind,
    /// Whose energy it is.
    pub of: EnergyOf,
    /// Host of the exporter; `None` for the counters of this host.
    pub host: Option<String>,
    /// Its domains, which add up.
    pub domains: Vec<EnergyDomain>,
    /// Energy of all domains in the timed window, in joules; `None` if too little of the window was
    /// read.
    #[schemars(range(min = 0.0))]
    pub joules: Option<f64>,
    /// Mean power in the timed window, in watts; `None` likewise.
    #[schemars(range(min = 0.0))]
    pub watts: Option<f64>,
    /// Mean power of the idle host before the run, in watts; `None` without `--idle`.
    #[schemars(range(min = 0.0))]
    pub idle_watts: Option<f64>,
}

/// Energy of a domain in the timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnergyDomain {
    /// Name of the domain: `package-0`, `dram`.
    pub name: String,
    /// Energy that was read in the timed window, in joules.
    #[schemars(range(min = 0.0))]
    pub joules: f64,
    /// Share of the timed window in which it was read.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub coverage: f64,
}

/// What the database's host used for the transactions of the timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnergyFigures {
    /// Whose energy it is: of the server's host, or of one that the client shares.
    pub of: EnergyOf,
    /// What it was read from: only figures of the same kind are comparable.
    pub kind: EnergySourceKind,
    /// What is counted: what the primary metric counts, such as `New-Orders committed`.
    pub counted: String,
    /// Rate of these in the timed window, per second.
    #[schemars(range(min = 0.0))]
    pub per_second: f64,
    /// Mean power in the timed window, in watts.
    #[schemars(range(min = 0.0))]
    pub watts: f64,
    /// Energy per transaction that is counted, in joules; `None` if none was.
    #[schemars(range(min = 0.0))]
    pub joules_per_transaction: Option<f64>,
    /// The primary metric per watt, such as NOPM per watt; `None` for a set of queries.
    #[schemars(range(min = 0.0))]
    pub primary_metric_per_watt: Option<f64>,
    /// The same without the power of the idle host; `None` without `--idle`.
    pub above_idle: Option<AboveIdle>,
    /// The client's share of the CPU time that was used on a host that it shares with the database:
    /// as much of the energy may be the client's. `None` on other hosts, and if it is unknown.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub client_cpu_share: Option<f64>,
}

/// Figures of energy from which the power of the idle host is subtracted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AboveIdle {
    /// Seconds for which the idle host was read.
    #[schemars(range(min = 0.0))]
    pub idle_s: f64,
    /// Mean power of the idle host, in watts.
    #[schemars(range(min = 0.0))]
    pub idle_watts: f64,
    /// Mean power in the timed window above that, in watts; below 0 if the host used less.
    pub watts: f64,
    /// Energy above idle per transaction that is counted, in joules; `None` if none was.
    pub joules_per_transaction: Option<f64>,
}

/// Energy per transaction of both sides of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnergyComparison {
    /// Energy of A per transaction, in joules: mean over its runs.
    pub a_joules: Option<f64>,
    /// The same of B.
    pub b_joules: Option<f64>,
    /// Rate of B over that of A: energy is comparable at equal rates only.
    pub rate_ratio: Option<f64>,
    /// Energy of B per transaction over that of A; `None` if the rates or the kinds of source
    /// differ, or if it is not known.
    pub ratio: Option<f64>,
    /// The result in words, or why there is no ratio.
    pub words: String,
}

impl EnergySourceKind {
    /// Whether a domain did not move that must: the counter of a processor that runs. A power and a
    /// counter of memory may be 0, and so may Kepler's idle or dynamic part of a package.
    fn is_still(self, domain: &str, joules: f64) -> bool {
        let is_package = domain.starts_with("package") && !domain.contains("mode=");
        self != Self::PowerMetric && is_package && joules <= 0.0
    }

    /// Name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Rapl => "RAPL",
            Self::NodeExporter => "RAPL by node exporter",
            Self::Scaphandre => "Scaphandre",
            Self::Kepler => "Kepler",
            Self::PowerMetric => "power metric",
        }
    }
}

impl EnergyOf {
    /// Name for people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::ClientHost => "the client's host",
            Self::ServerHost => "the database's host",
            Self::SharedHost => "the host that client and database share",
        }
    }

    const fn has_server(self) -> bool {
        matches!(self, Self::ServerHost | Self::SharedHost)
    }
}

/// What figures of energy depend on besides the readings.
#[derive(Clone, Debug)]
pub(crate) struct EnergyInput<'a> {
    /// Begin and end of the timed window, in milliseconds since the start of the run.
    pub window_ms: [u64; 2],
    /// Rate of what the primary metric counts.
    pub rate: &'a MeasuredRate,
    /// The primary metric, if it is one of which more per watt is better.
    pub metric: Option<f64>,
    /// Number of nodes of the target; 0 for a single server.
    pub nodes: usize,
    /// The client's share of the CPU time that was used on this host; `None` if it is not known, or
    /// if the database is in the client's process.
    pub client_cpu_share: Option<f64>,
}

/// Energy of a domain within a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Part {
    /// In joules.
    joules: f64,
    /// In seconds.
    read_s: f64,
}

impl Part {
    /// The part of spans that is within a stretch; of a span across its ends, the share of its time.
    #[expect(clippy::cast_precision_loss, reason = "milliseconds and microjoules of a run")]
    fn within(spans: &[EnergySpan], [from, to]: [u64; 2]) -> Self {
        let mut part = Self::default();
        for span in spans.iter().filter(|span| span.to_ms > span.from_ms) {
            let common = span.to_ms.min(to).saturating_sub(span.from_ms.max(from)) as f64;
            let share = common / (span.to_ms - span.from_ms) as f64;
            part.joules += span.microjoules as f64 / 1e6 * share;
            part.read_s += common / 1e3;
        }
        part
    }

    /// Mean power, in watts; `None` if nothing was read.
    fn watts(self) -> Option<f64> {
        (self.read_s > 0.0).then(|| self.joules / self.read_s)
    }
}

impl EnergySource {
    fn new(read: &EnergySourceReadings, window_ms: [u64; 2]) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of a run")]
        let window_s = window_ms[1].saturating_sub(window_ms[0]) as f64 / 1e3;
        let coverage = |part: Part| if window_s > 0.0 { part.read_s / window_s } else { 0.0 };
        let mut watts = (!read.domains.is_empty() && window_s > 0.0).then_some(0.0);
        let mut idle = watts;
        let mut domains = Vec::new();
        for domain in &read.domains {
            let part = Part::within(&domain.run, window_ms);
            let coverage = coverage(part).min(1.0);
            let is_still = read.kind.is_still(&domain.name, part.joules);
            let of_domain = part.watts().filter(|_| coverage >= COVERAGE_MIN && !is_still);
            watts = watts.zip(of_domain).map(|(sum, watts)| sum + watts);
            let of_idle = Part::within(&domain.idle, [0, u64::MAX]);
            let is_still = read.kind.is_still(&domain.name, of_idle.joules);
            let of_idle = of_idle.watts().filter(|_| !is_still);
            idle = idle.zip(of_idle).map(|(sum, watts)| sum + watts);
            domains.push(EnergyDomain { name: domain.name.clone(), joules: part.joules, coverage });
        }
        Self {
            kind: read.kind,
            of: read.of,
            host: read.host.clone(),
            domains,
            joules: watts.map(|watts| watts * window_s),
            watts,
            idle_watts: idle,
        }
    }

    /// Name for people: `RAPL of this host`.
    #[must_use]
    pub fn title(&self) -> String {
        let of = self.host.as_deref().unwrap_or("this host");
        format!("{} of {of}", self.kind.title())
    }

    /// What was not read of it, in words.
    fn gaps(&self) -> impl Iterator<Item = String> {
        let title = self.title();
        let lost = self.domains.iter().filter(|domain| domain.coverage < COVERAGE_MIN);
        let is_still = |of: &&EnergyDomain| self.kind.is_still(&of.name, of.joules);
        let still = self.domains.iter().filter(is_still);
        let still = still.filter(|domain| domain.coverage >= COVERAGE_MIN);
        let of_lost = |domain: &EnergyDomain| {
            let (name, share) = (&domain.name, percent(domain.coverage));
            format!("{title}: {name} was read in {share} of the timed window only")
        };
        let of_still = |domain: &EnergyDomain| {
            format!("{title}: the counter {} did not move in the timed window", domain.name)
        };
        let nothing = self.watts.filter(|watts| *watts <= 0.0).map(|_| {
            format!("{title}: it read 0 W in the timed window, and a host that runs uses energy")
        });
        let gaps: Vec<_> = lost.map(of_lost).chain(still.map(of_still)).chain(nothing).collect();
        gaps.into_iter()
    }
}

impl Energy {
    /// The figures that follow from readings: a pure function.
    #[must_use]
    pub(crate) fn new(read: &EnergyReadings, input: &EnergyInput<'_>) -> Self {
        let of = |source| EnergySource::new(source, input.window_ms);
        let sources: Vec<EnergySource> = read.sources.iter().map(of).collect();
        let of_server = (0..sources.len()).find(|at| {
            let source = &sources[*at];
            source.of.has_server() && source.watts.is_some()
        });
        let mut gaps = read.gaps.clone();
        gaps.extend(sources.iter().flat_map(EnergySource::gaps));
        let figures = of_server
            .filter(|_| input.nodes < 2)
            .and_then(|at| EnergyFigures::new(&sources[at], &read.sources[at], input));
        if input.nodes > 1 && of_server.is_some() {
            let nodes = input.nodes;
            gaps.push(format!(
                "the database has {nodes} nodes, and the energy is that of one host"
            ));
        } else if !sources.is_empty() && sources.iter().all(|source| !source.of.has_server()) {
            gaps.push(
                "only the client's host was read: --energy-metrics reads an exporter on the \
                 database's host"
                    .to_owned(),
            );
        }
        Self { sources, figures, gaps }
    }
}

impl EnergyFigures {
    fn new(
        source: &EnergySource,
        read: &EnergySourceReadings,
        input: &EnergyInput<'_>,
    ) -> Option<Self> {
        let watts = source.watts.filter(|watts| *watts > 0.0)?;
        let rate = input.rate;
        let per = |watts: f64| (rate.per_second > 0.0).then(|| watts / rate.per_second);
        let above_idle = source.idle_watts.map(|idle_watts| AboveIdle {
            idle_s: idle_seconds(read),
            idle_watts,
            watts: watts - idle_watts,
            joules_per_transaction: per(watts - idle_watts),
        });
        Some(Self {
            of: source.of,
            kind: source.kind,
            per_second: rate.per_second,
            watts,
            joules_per_transaction: per(watts),
            primary_metric_per_watt: input.metric.map(|value| value / watts),
            above_idle,
            client_cpu_share: input.client_cpu_share.filter(|_| source.of == EnergyOf::SharedHost),
            counted: rate.counted.clone(),
        })
    }
}

/// Seconds for which the idle host was read.
fn idle_seconds(read: &EnergySourceReadings) -> f64 {
    let of = |domain: &EnergyDomainReadings| Part::within(&domain.idle, [0, u64::MAX]).read_s;
    read.domains.iter().map(of).fold(f64::INFINITY, f64::min)
}

/// Energy per transaction of a run, its rate, and whose it is.
type OfRun<'a> = (f64, &'a EnergyFigures);

impl EnergyComparison {
    /// Compares the energy of the runs of both sides; `None` if neither side measured it.
    #[must_use]
    pub(crate) fn new(a: &[Option<&Energy>], b: &[Option<&Energy>]) -> Option<Self> {
        if a.iter().chain(b).all(Option::is_none) {
            return None;
        }
        let [a, b] = [a, b].map(of_runs);
        let joules = |side: &Option<Vec<OfRun<'_>>>| side.as_ref().map(|of| mean(of, |run| run.0));
        let rate = |of: &Vec<OfRun<'_>>| mean(of, |run| run.1.per_second);
        let (a_joules, b_joules) = (joules(&a), joules(&b));
        let rates = a.as_ref().zip(b.as_ref()).map(|(a, b)| rate(b) / rate(a));
        let reason = reason(a.as_deref(), b.as_deref(), rates);
        let both = a_joules.zip(b_joules);
        let ratio = both.filter(|_| reason.is_none()).map(|(a, b)| b / a);
        let told = both
            .map(|(a, b)| format!("A used {} J and B {} J per transaction", figure(a), figure(b)));
        let words = match (reason, ratio, told) {
            (Some(reason), _, Some(told)) => format!("{told}: {reason}"),
            (Some(reason), _, None) => reason,
            (None, Some(ratio), Some(told)) => {
                format!("{told} at the same rate: B uses {ratio:.2} × the energy")
            }
            _ => "the energy of both sides is not known".to_owned(),
        };
        Some(Self { a_joules, b_joules, rate_ratio: rates, ratio, words })
    }
}

/// Why energies are not compared; `None` if they are.
fn reason(a: Option<&[OfRun<'_>]>, b: Option<&[OfRun<'_>]>, rates: Option<f64>) -> Option<String> {
    let (Some(a), Some(b), Some(rates)) = (a, b, rates) else {
        let side = if a.is_none() { "A" } else { "B" };
        return Some(format!("not every run of {side} measured the energy of the database's host"));
    };
    let EnergyFigures { of, kind, .. } = *a[0].1;
    if a.iter().chain(b).any(|run| run.1.of != of) {
        return Some(
            "no ratio: a host that the client shares uses the client's energy, too".to_owned(),
        );
    }
    if let Some((_, other)) = a.iter().chain(b).find(|run| run.1.kind != kind) {
        return Some(format!(
            "no ratio: {} and {} do not measure the same; read both sides from one kind of source",
            kind.title(),
            other.kind.title()
        ));
    }
    let is_alike = (1.0 / (1.0 + RATES_ALIKE)..=1.0 + RATES_ALIKE).contains(&rates);
    (!is_alike).then(|| {
        format!(
            "no ratio: energy is comparable at equal rates only, and B ran at {rates:.2} × the rate \
             of A; give both sides the same --load"
        )
    })
}

/// The energy of every run; `None` if a run did not measure it.
fn of_runs<'a>(runs: &[Option<&'a Energy>]) -> Option<Vec<OfRun<'a>>> {
    let of = |run: &Option<&'a Energy>| {
        let figures = (*run)?.figures.as_ref()?;
        Some((figures.joules_per_transaction?, figures))
    };
    let all: Option<Vec<OfRun<'a>>> = runs.iter().map(of).collect();
    all.filter(|all| !all.is_empty())
}

#[expect(clippy::cast_precision_loss, reason = "a few runs")]
fn mean<T>(items: &[T], read: impl Fn(&T) -> f64) -> f64 {
    items.iter().map(read).sum::<f64>() / items.len() as f64
}

#[cfg(test)]
mod tests;

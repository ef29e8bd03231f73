//! Energy beside a run: the readings, and the figures of the timed window that follow from them.
//! Reading counters and exporters is left to `observe`.
//!
//! ```text
//! EnergyReadings (raw, part of the evidence) ──► Energy (in the document)
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// The energy between two readings: begin and end in milliseconds, and microjoules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnergySpan(pub u64, pub u64, pub u64);

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
    /// Energy of B per transaction over that of A; `None` if the rates differ, or if it is not
    /// known.
    pub ratio: Option<f64>,
    /// The result in words, or why there is no ratio.
    pub words: String,
}

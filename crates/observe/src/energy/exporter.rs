//! Energy and power in the text of an exporter: of a node exporter, Scaphandre or Kepler, or any
//! metric in watts that the user names.
//!
//! | exporter | metric | unit |
//! |---|---|---|
//! | node exporter (`collector/rapl_linux.go`) | `node_rapl_package_joules_total`, `node_rapl_dram_joules_total`; with `--collector.rapl.enable-zone-label` `node_rapl_joules_total` | J |
//! | Scaphandre (its "Metrics available") | `scaph_host_energy_microjoules`, else `scaph_host_power_microwatts` | µJ, µW |
//! | Kepler 0.10 and later (`docs/user/metrics.md`) | `kepler_node_cpu_joules_total` of the zones package and dram | J |
//! | Kepler before 0.10 | `kepler_node_package_joules_total`, `kepler_node_dram_joules_total` | J |

use std::fmt;
use std::str::FromStr;

use triphammer_document::energy::EnergySourceKind;

use super::meter::Reading;
use crate::host_metrics::prometheus::{Sample, samples};

/// Why an exporter is of no use without `--power-metric`.
pub(super) const UNKNOWN: &str = "it has none of the metrics node_rapl_*_joules_total, scaph_host_energy_microjoules, \
     scaph_host_power_microwatts, kepler_node_*_joules_total; --power-metric names another one in \
     watts";
/// Labels of known exporters that name the host or the zone itself: no part of a domain's name.
const LEFT_OUT: [&str; 5] = ["node_name", "instance", "node", "hostname", "zone"];
/// Longest name of a domain, in characters.
const NAME_MAX: usize = 300;

/// A metric in watts, with labels that it must have: `shelly_power_watts{plug="db1"}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PowerMetric {
    name: String,
    labels: Vec<(String, String)>,
}

impl FromStr for PowerMetric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "invalid metric `{text}`: expected the name of a metric in watts, such as \
                 node_power_watts or power_watts{{plug=\"db1\"}}"
            )
        };
        // A sample without its value.
        let sample = format!("{text} 0");
        let mut read = samples(&sample);
        let sample = read.next().ok_or_else(wrong)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_:".contains(c);
        let begins = sample.name.starts_with(|c: char| !c.is_ascii_digit());
        let labels = sample.labels().ok_or_else(wrong)?;
        if !begins || !sample.name.chars().all(is_name) {
            return Err(wrong());
        }
        Ok(Self { name: sample.name.to_owned(), labels })
    }
}

impl fmt::Display for PowerMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.name, &self.labels))
    }
}

/// Which metrics of an exporter are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    NodeExporter,
    ScaphandreEnergy,
    ScaphandrePower,
    Kepler,
    KeplerBefore,
    Metric(PowerMetric),
}

impl Wanted {
    /// The exporters that are known, in the order in which they are looked for.
    const KNOWN: [Self; 5] = [
        Self::NodeExporter,
        Self::Kepler,
        Self::KeplerBefore,
        Self::ScaphandreEnergy,
        Self::ScaphandrePower,
    ];

    pub fn kind(&self) -> EnergySourceKind {
        match self {
            Self::NodeExporter => EnergySourceKind::NodeExporter,
            Self::ScaphandreEnergy | Self::ScaphandrePower => EnergySourceKind::Scaphandre,
            Self::Kepler | Self::KeplerBefore => EnergySourceKind::Kepler,
            Self::Metric(_) => EnergySourceKind::PowerMetric,
        }
    }

    /// Name of the metric for people.
    pub fn name(&self) -> String {
        match self {
            Self::NodeExporter => "node_rapl_*_joules_total".to_owned(),
            Self::ScaphandreEnergy => "scaph_host_energy_microjoules".to_owned(),
            Self::ScaphandrePower => "scaph_host_power_microwatts".to_owned(),
            Self::Kepler => "kepler_node_cpu_joules_total".to_owned(),
            Self::KeplerBefore => "kepler_node_*_joules_total".to_owned(),
            Self::Metric(metric) => metric.to_string(),
        }
    }

    /// The domain of a sample and what it reads; `None` if it is not wanted.
    fn of(&self, sample: &Sample<'_>) -> Option<(String, Reading)> {
        match self {
            Self::NodeExporter => {
                let name = sample.name.strip_prefix("node_rapl_")?;
                let zone = name.strip_suffix("joules_total")?.trim_end_matches('_');
                let labels = sample.labels()?;
                let label = |name: &str| labels.iter().find(|(of, _)| of == name).map(|of| &*of.1);
                let zone = if zone.is_empty() { label("rapl_zone")? } else { zone };
                // A second view of the same packages.
                let is_twice = label("path").is_some_and(|path| path.contains("mmio"));
                let index = label("index").unwrap_or("0");
                is_added(zone, is_twice).then(|| (format!("{zone}-{index}"), joules(sample.value)))
            }
            Self::ScaphandreEnergy => {
                let is_it = sample.name == "scaph_host_energy_microjoules";
                is_it.then(|| ("host".to_owned(), joules(sample.value / 1e6)))
            }
            Self::ScaphandrePower => {
                let is_it = sample.name == "scaph_host_power_microwatts";
                is_it.then(|| ("host".to_owned(), Reading::Power(sample.value / 1e6)))
            }
            Self::Kepler => {
                let labels =
                    (sample.name == "kepler_node_cpu_joules_total").then(|| sample.labels())??;
                let zone = labels.iter().find(|(name, _)| name == "zone").map(|(_, zone)| &**zone);
                let zone = zone.filter(|zone| is_added(zone, false))?;
                Some((shown(zone, &kept(&labels)), joules(sample.value)))
            }
            Self::KeplerBefore => {
                let zone =
                    sample.name.strip_prefix("kepler_node_")?.strip_suffix("_joules_total")?;
                let labels = sample.labels().filter(|_| is_added(zone, false))?;
                Some((shown(zone, &kept(&labels)), joules(sample.value)))
            }
            Self::Metric(metric) => {
                let labels = (sample.name == metric.name).then(|| sample.labels())??;
                let has = |wanted: &(String, String)| labels.contains(wanted);
                let is_it = metric.labels.iter().all(has);
                is_it.then(|| (shown(&metric.name, &labels), Reading::Power(sample.value)))
            }
        }
    }
}

/// Whether the energy of a zone adds up with that of others.
fn is_added(zone: &str, is_twice: bool) -> bool {
    !is_twice && (zone == "dram" || zone.starts_with("package"))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float saturates")]
fn joules(joules: f64) -> Reading {
    Reading::Counter { microjoules: (joules * 1e6).round() as u64, range: None }
}

/// The labels that distinguish the series of a host.
fn kept(labels: &[(String, String)]) -> Vec<(String, String)> {
    let is_kept = |label: &&(String, String)| !LEFT_OUT.contains(&label.0.as_str());
    labels.iter().filter(is_kept).cloned().collect()
}

fn shown(name: &str, labels: &[(String, String)]) -> String {
    let of = |(name, value): &(String, String)| format!("{name}={value}");
    let labels = labels.iter().map(of).collect::<Vec<_>>().join(",");
    let text = if labels.is_empty() { name.to_owned() } else { format!("{name}{{{labels}}}") };
    text.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect()
}

/// The known metrics that a text has.
pub(super) fn known(text: &str) -> Option<Wanted> {
    Wanted::KNOWN.into_iter().find(|wanted| !readings(text, wanted).is_empty())
}

/// The readings of a text, by domain.
pub(super) fn readings(text: &str, wanted: &Wanted) -> Vec<(String, Reading)> {
    samples(text).filter_map(|sample| wanted.of(&sample)).collect()
}

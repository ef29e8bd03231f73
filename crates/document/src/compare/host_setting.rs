//! A setting of the host that differs between the sides, as `doctor --prove` changes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_statistics::compare::Comparison;

use super::document::{ComparisonResult, SideRun};
use super::words;

/// What a setting of the host is worth: A and B are the same load on the same database, with another
/// value of the setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostSetting {
    /// Name of the check of `doctor`.
    pub check: String,
    /// Values of A and of B, as the check names them.
    pub values: [String; 2],
    /// Standard deviation of the primary metric between the runs of A and of B, relative to its mean;
    /// `None` of a single run.
    pub spread: [Option<f64>; 2],
    /// What the setting is worth on this host, in words.
    pub words: String,
}

impl HostSetting {
    pub(super) fn new(check: &str, values: &[String; 2], result: &ComparisonResult) -> Self {
        let spread = [&result.a, &result.b].map(|side| spread(&side.runs));
        let comparison = result.figures.first().and_then(|figure| figure.comparison);
        let mut parts = vec![match comparison {
            Some(Comparison { ratio, interval, .. }) => format!(
                "{check} {} instead of {} on this host: {ratio:.3} times the {} ({:.3} to {:.3}, 95 %), {}",
                values[1],
                values[0],
                result.primary_metric.name,
                interval.low,
                interval.high,
                words::word(result.verdict),
            ),
            None => format!("{check} {} and {} on this host: not decided", values[0], values[1]),
        }];
        if let [Some(a), Some(b)] = spread {
            let [a, b] = [a, b].map(|share| share * 100.0);
            let ([of_a, of_b], both) = (values, [a, b]);
            parts.push(format!(
                "the runs vary by {:.1} % with {of_a} and by {:.1} % with {of_b}",
                both[0], both[1]
            ));
        }
        Self { check: check.to_owned(), values: values.clone(), spread, words: parts.join("; ") }
    }
}

/// Standard deviation of the runs' values relative to their mean.
fn spread(runs: &[SideRun]) -> Option<f64> {
    let count = runs.len() as f64;
    let mean = runs.iter().map(|run| run.value).sum::<f64>() / count;
    let squares: f64 = runs.iter().map(|run| (run.value - mean).powi(2)).sum();
    (runs.len() > 1 && mean > 0.0).then(|| (squares / (count - 1.0)).sqrt() / mean)
}

//! The sampled sessions of each second of a run: by what they waited for, by statement, and by who
//! blocked them; and what else is known of these seconds.

use std::collections::BTreeMap;

use crate::result::WaitClass;
use crate::samples::SampleSeries;

/// Values of a series, one per second.
#[derive(Clone, Debug)]
pub struct SampledSeries {
    /// The series.
    pub series: SampleSeries,
    /// `None` where it was not measured.
    pub values: Vec<Option<f64>>,
}

/// The seconds of a run in which its sessions were sampled. All lists are as long as `seconds`.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    /// The seconds, counted from the start of the run.
    pub seconds: Vec<u64>,
    /// Committed transactions.
    pub transactions: Vec<f64>,
    /// Active sessions of the run by class and event.
    pub waits: BTreeMap<(WaitClass, String), Vec<f64>>,
    /// Active sessions of the run by statement.
    pub statements: BTreeMap<String, Vec<f64>>,
    /// Blocked sessions of the run by blocker and object.
    pub blocked: BTreeMap<(String, String), Vec<f64>>,
    /// Sessions of the run that were idle in a transaction.
    pub idle: Vec<f64>,
    /// Active sessions of other programs.
    pub others: Vec<f64>,
    /// Other series.
    pub evidence: Vec<SampledSeries>,
    /// Samples per second.
    pub samples_per_second: f64,
}

impl Observations {
    /// The same for some of the seconds.
    pub fn only(&self, is_chosen: impl Fn(u64) -> bool) -> Self {
        let places: Vec<usize> =
            (0..self.seconds.len()).filter(|at| is_chosen(self.seconds[*at])).collect();
        let pick = |of: &Vec<f64>| -> Vec<f64> { places.iter().map(|at| of[*at]).collect() };
        let sampled = |of: &SampledSeries| SampledSeries {
            series: of.series.clone(),
            values: places.iter().map(|at| of.values[*at]).collect(),
        };
        Self {
            seconds: places.iter().map(|at| self.seconds[*at]).collect(),
            transactions: pick(&self.transactions),
            waits: self.waits.iter().map(|(key, of)| (key.clone(), pick(of))).collect(),
            statements: self.statements.iter().map(|(key, of)| (key.clone(), pick(of))).collect(),
            blocked: self.blocked.iter().map(|(key, of)| (key.clone(), pick(of))).collect(),
            idle: pick(&self.idle),
            others: pick(&self.others),
            evidence: self.evidence.iter().map(sampled).collect(),
            samples_per_second: self.samples_per_second,
        }
    }
}

//! The measure of a run. A workload declares it ([`MeasureDef`]). All code that computes something
//! from a run uses it, and assumes neither a rate nor that more is better:
//!
//! | method | used by | throughput ([`Rate`]) |
//! |---|---|---|
//! | [`counted`], [`Measure::value`] | result, live figures, comparison of seconds | committed transactions that count, per unit of time |
//! | [`Measure::unit`], [`Measure::better`] | requirements, comparison, history, profile | a number, the higher the better |
//! | [`Measure::of_a_second`] | steadiness, `--until-ci` | each second is a sample of it |
//! | [`Measure::throughput`] | reports, comparison | is shown next to the rate of all types |
//! | [`Measure::evidence`] | the bottleneck verdict | a window and a number of transactions |
//!
//! Another measure is a variant of [`MeasureDef`] and of [`Measure`], with a module next to
//! [`Rate`]'s; the compiler then lists every method that it must implement. An example is a fixed
//! set of items with a time each (TPC-H, clause 5.4: power, throughput and their composite, from
//! the times of queries and refreshes). Its seconds are not samples of the measure, so neither
//! steadiness nor `--until-ci` applies, and a verdict needs finished items instead of committed
//! transactions. Unit and direction depend on which figure is primary: the composite is higher for
//! a better system, the geometric mean of the times is lower.

mod rate;

use triphammer_core::recorder::TypeInterval;
use triphammer_core::workload::{MeasureDef, PrimaryMetric};
use triphammer_statistics::compare::Better;

use crate::requirement::Unit;

pub use rate::{Rate, Throughput};

/// What a run measures, and which statements about it are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Throughput over the timed window.
    Rate(Rate),
}

/// Minimum data for a bottleneck verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Length of the timed window, in seconds.
    pub window_s: f64,
    /// Minimum number of observations.
    pub observations: u64,
    /// Name of the observations: `committed transactions`.
    pub observed: &'static str,
}

/// Direction of metrics in documents of older versions.
pub(crate) const fn higher() -> Better {
    Better::Higher
}

impl From<MeasureDef> for Measure {
    fn from(definition: MeasureDef) -> Self {
        match definition {
            MeasureDef::Rate { per_seconds } => Self::Rate(Rate { per_seconds }),
        }
    }
}

/// Number of transactions that the primary metric counts, given counts by type.
#[must_use]
pub fn counted(primary_metric: &PrimaryMetric, types: &[TypeInterval]) -> u64 {
    match primary_metric.measure {
        MeasureDef::Rate { .. } => {
            primary_metric.transactions.iter().map(|at| types[*at].counts.committed).sum()
        }
    }
}

impl Measure {
    /// The measure of a stored document, from its unit of time.
    #[must_use]
    pub fn stored(per: &str) -> Self {
        Self::Rate(Rate::stored(per))
    }

    /// The primary metric for a [count](counted) over a number of seconds; 0 for no time.
    #[must_use]
    pub fn value(&self, count: u64, seconds: f64) -> f64 {
        match self {
            Self::Rate(rate) => rate.value(count, seconds),
        }
    }

    /// Unit of time in documents: `second`, `minute`, `hour`.
    #[must_use]
    pub fn per(&self) -> String {
        match self {
            Self::Rate(rate) => rate.per(),
        }
    }

    /// Unit of the value.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        match self {
            Self::Rate(_) => Unit::Number,
        }
    }

    /// Direction of improvement.
    #[must_use]
    pub const fn better(&self) -> Better {
        match self {
            Self::Rate(_) => Better::Higher,
        }
    }

    /// The value of a second with one [counted] transaction; `None` if seconds are not samples of
    /// the value, so that neither steadiness nor the interval of a window applies.
    #[must_use]
    pub fn of_a_second(&self) -> Option<f64> {
        match self {
            Self::Rate(rate) => Some(f64::from(rate.per_seconds)),
        }
    }

    /// How to show the throughput of all transaction types next to it; `None` if it is meaningless.
    #[must_use]
    pub const fn throughput(&self) -> Option<Throughput> {
        match self {
            Self::Rate(rate) => Some(rate.throughput()),
        }
    }

    /// Minimum data for a bottleneck verdict.
    #[must_use]
    pub const fn evidence(&self) -> Evidence {
        match self {
            Self::Rate(_) => Rate::EVIDENCE,
        }
    }
}

#[cfg(test)]
mod tests;

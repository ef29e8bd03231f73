//! What a run is about: its measure. A workload declares it ([`MeasureDef`]); whatever is made of a run asks it
//! here, and assumes neither a rate nor that more is better:
//!
//! | question | asked by | throughput ([`Rate`]) |
//! |---|---|---|
//! | [`counted`], [`Measure::value`] | result, live figures, comparison of seconds | committed transactions that count, per unit of time |
//! | [`Measure::unit`], [`Measure::better`] | requirements, comparison, history, profile | a number, the higher the better |
//! | [`Measure::of_a_second`] | steadiness, `--until-ci` | each second is a sample of it |
//! | [`Measure::throughput`] | reports, comparison | stands beside the rate of all types |
//! | [`Measure::evidence`] | the bottleneck verdict | a window and a number of transactions |
//!
//! A further case is a variant of [`MeasureDef`] and of [`Measure`] with a module beside [`Rate`]'s; the compiler
//! then names every question that it must answer. A finished set with a time for each item (TPC-H, clause
//! 5.4: power, throughput and their composite from the times of queries and refreshes) has no seconds that are
//! samples of it, so neither steadiness nor `--until-ci` applies, and a verdict about it needs finished items
//! instead of committed transactions. Which of its figures a user calls primary decides its unit and its
//! direction: the composite is higher for a better system, the geometric mean of the times is lower.

mod rate;

use triphammer_core::recorder::TypeInterval;
use triphammer_core::workload::{MeasureDef, PrimaryMetric};
use triphammer_statistics::compare::Better;

use crate::requirement::Unit;

pub use rate::{Rate, Throughput};

/// What a run measures, and what may be said about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Throughput over the timed window.
    Rate(Rate),
}

/// What a verdict about a run needs at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Length of the timed window, in seconds.
    pub window_s: f64,
    /// Observations in it.
    pub observations: u64,
    /// What is observed, for people: `committed transactions`.
    pub observed: &'static str,
}

/// The direction of metrics in documents of older versions.
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

/// What of these transactions, by type, the primary metric counts.
#[must_use]
pub fn counted(primary_metric: &PrimaryMetric, types: &[TypeInterval]) -> u64 {
    match primary_metric.measure {
        MeasureDef::Rate { .. } => {
            primary_metric.transactions.iter().map(|at| types[*at].counts.committed).sum()
        }
    }
}

impl Measure {
    /// The measure of a stored document, from the unit of time that it names.
    #[must_use]
    pub fn stored(per: &str) -> Self {
        Self::Rate(Rate::stored(per))
    }

    /// The primary metric of so many that it [counts](counted) in so many seconds; 0 when there was no time.
    #[must_use]
    pub fn value(&self, count: u64, seconds: f64) -> f64 {
        match self {
            Self::Rate(rate) => rate.value(count, seconds),
        }
    }

    /// The unit of time that documents name: `second`, `minute`, `hour`.
    #[must_use]
    pub fn per(&self) -> String {
        match self {
            Self::Rate(rate) => rate.per(),
        }
    }

    /// What the value counts in.
    #[must_use]
    pub const fn unit(&self) -> Unit {
        match self {
            Self::Rate(_) => Unit::Number,
        }
    }

    /// Which way is better.
    #[must_use]
    pub const fn better(&self) -> Better {
        match self {
            Self::Rate(_) => Better::Higher,
        }
    }

    /// The value of a second in which one was [counted]; `None` where seconds are no samples of the value, so
    /// that neither steadiness nor the interval of a window applies.
    #[must_use]
    pub fn of_a_second(&self) -> Option<f64> {
        match self {
            Self::Rate(rate) => Some(f64::from(rate.per_seconds)),
        }
    }

    /// How the throughput of all transaction types is shown beside it; `None` where it says nothing.
    #[must_use]
    pub const fn throughput(&self) -> Option<Throughput> {
        match self {
            Self::Rate(rate) => Some(rate.throughput()),
        }
    }

    /// What a verdict about what limited a run needs.
    #[must_use]
    pub const fn evidence(&self) -> Evidence {
        match self {
            Self::Rate(_) => Rate::EVIDENCE,
        }
    }
}

#[cfg(test)]
mod tests;

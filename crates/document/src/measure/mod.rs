//! The measure of a run. A workload declares it ([`MeasureDef`]). All code that computes something
//! from a run uses it, and assumes neither a rate nor that more is better:
//!
//! | method | used by | throughput ([`Rate`]) | a set of queries ([`queries`]) |
//! |---|---|---|---|
//! | [`counted`], [`Measure::value`] | result, live figures, comparison of seconds | committed transactions that count, per unit of time | none: it is computed from the times of the set |
//! | [`Measure::unit`], [`Measure::better`] | requirements, comparison, history, profile | a number, the higher the better | a number; its document says which way is better |
//! | [`Measure::of_a_second`] | steadiness, `--until-ci` | each second is a sample of it | does not apply |
//! | [`Measure::throughput`] | reports, comparison | is shown next to the rate of all types | does not apply |
//! | [`Measure::evidence`] | the bottleneck verdict | a window and a number of transactions | does not apply |
//!
//! Another measure is a variant of [`MeasureDef`] and of [`Measure`], with a module next to
//! [`Rate`]'s; the compiler then lists every method that it must implement.

pub mod queries;
mod rate;

use triphammer_core::recorder::TypeInterval;
use triphammer_core::workload::{MeasureDef, PrimaryMetric};
use triphammer_statistics::compare::Better;

use crate::unit::FigureUnit;

pub use rate::{Rate, Throughput};

/// What a run measures, and which statements about it are valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Throughput over the timed window.
    Rate(Rate),
    /// The times of a finite set of queries.
    Queries,
}

/// What stands for the unit of time in documents about a set of queries.
const SET: &str = "set";

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

impl From<MeasureDef> for Measure {
    fn from(definition: MeasureDef) -> Self {
        match definition {
            MeasureDef::Rate { per_seconds } => Self::Rate(Rate { per_seconds }),
            MeasureDef::Queries => Self::Queries,
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
        MeasureDef::Queries => 0,
    }
}

impl Measure {
    /// The measure of a stored document, from its unit of time.
    #[must_use]
    pub fn stored(per: &str) -> Self {
        if per == SET { Self::Queries } else { Self::Rate(Rate::stored(per)) }
    }

    /// The primary metric for a [count](counted) over a number of seconds; 0 for no time.
    #[must_use]
    pub fn value(&self, count: u64, seconds: f64) -> f64 {
        match self {
            Self::Rate(rate) => rate.value(count, seconds),
            Self::Queries => 0.0,
        }
    }

    /// Unit of time in documents: `second`, `minute`, `hour`; `set` for a set of queries.
    #[must_use]
    pub fn per(&self) -> String {
        match self {
            Self::Rate(rate) => rate.per(),
            Self::Queries => SET.to_owned(),
        }
    }

    /// Unit of the value.
    #[must_use]
    pub const fn unit(&self) -> FigureUnit {
        match self {
            Self::Rate(_) | Self::Queries => FigureUnit::Number,
        }
    }

    /// Direction of improvement; of a set of queries that of their times.
    #[must_use]
    pub const fn better(&self) -> Better {
        match self {
            Self::Rate(_) => Better::Higher,
            Self::Queries => Better::Lower,
        }
    }

    /// The value of a second with one [counted] transaction; `None` if seconds are not samples of
    /// the value, so that neither steadiness nor the interval of a window applies.
    #[must_use]
    pub fn of_a_second(&self) -> Option<f64> {
        match self {
            Self::Rate(rate) => Some(f64::from(rate.per_seconds)),
            Self::Queries => None,
        }
    }

    /// How to show the throughput of all transaction types next to it; `None` if it is meaningless.
    #[must_use]
    pub const fn throughput(&self) -> Option<Throughput> {
        match self {
            Self::Rate(rate) => Some(rate.throughput()),
            Self::Queries => None,
        }
    }

    /// Minimum data for a bottleneck verdict; `None` if the verdict does not apply.
    #[must_use]
    pub const fn evidence(&self) -> Option<Evidence> {
        match self {
            Self::Rate(_) => Some(Rate::EVIDENCE),
            Self::Queries => None,
        }
    }
}

#[cfg(test)]
mod tests;

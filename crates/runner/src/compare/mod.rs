//! `compare`: whether B is faster than A, slower, or equivalent within a margin.
//!
//! One verdict, decided by the workload's primary metric: equivalent if the whole 95 % interval of
//! the ratio B over A is within the margin; slower or faster if the interval excludes 1 and the
//! ratio is beyond the margin; otherwise inconclusive, with what would decide it. The mathematics
//! is in the statistics crate.
//!
//! There are two kinds of comparison. [`stored()`] compares stored jobs, labels and profiles.
//! [`Pairs`] makes runs in pairs, with either side first, so that changes over time affect both
//! sides alike.

mod at_once;
pub(crate) mod host_setting;
mod order;
mod pairs;
mod stored;

use triphammer_core::SpecError;
use triphammer_core::workload::OptionDef;
use triphammer_document::compare::{ComparisonResult, Demand};
use triphammer_settings::failure::Failure;
use triphammer_settings::{Settings, parse_closeness};

pub use crate::run::AtOnceWay;
pub(crate) use at_once::choose;
pub use pairs::{PAIRS_OF_LEVEL, Pairs, PairsRequest};
pub(crate) use stored::settings as server_settings;
pub use stored::{read_seconds, stored};

/// Reads the smallest difference that matters, as a share from 0 to 1.
///
/// # Errors
/// When it is not a share between 0 and 1.
pub fn margin(settings: &mut Settings) -> Result<f64, SpecError> {
    settings.read("margin", parse_closeness, |share| format!("{}%", share * 100.0))
}

/// The settings of each side's runs: its own override the common ones. `options` are those of the
/// workload.
///
/// # Errors
/// When a setting cannot differ between the sides.
pub fn sides(given: [&Settings; 2], options: &[OptionDef]) -> Result<[Settings; 2], SpecError> {
    let side = |at: usize, name| {
        Ok(given[at].of_run(&pairs::given(&pairs::own(given[at], name, options)?)))
    };
    Ok([side(0, "a")?, side(1, "b")?])
}

/// Reads what the verdict must be for the comparison to be good.
///
/// # Errors
/// When a value is invalid.
pub(crate) fn demand(settings: &mut Settings) -> Result<Demand, SpecError> {
    let not_slower = settings.switch("fail-if-slower")?;
    let not_inconclusive = settings.switch("fail-if-inconclusive")?;
    Ok(Demand { not_slower, not_inconclusive })
}

/// A warning if the exit code of a comparison may not be what was asked for.
///
/// # Errors
/// When a value is invalid.
pub fn warning(
    settings: &mut Settings,
    result: &ComparisonResult,
) -> Result<Option<&'static str>, Failure> {
    let demand = demand(settings)?;
    let is_open = demand.not_slower && !demand.not_inconclusive && result.is_inconclusive();
    Ok(is_open.then_some(
        "the comparison is inconclusive, so the exit code is 0; --fail-if-inconclusive makes it 1",
    ))
}

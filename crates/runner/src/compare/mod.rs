//! `compare`: is B faster than A, slower, the same within a margin, or not yet known?
//!
//! One verdict, decided by the workload's first figure: equivalent when the whole 95 % interval of the ratio
//! B over A is within the margin; slower or faster when the interval excludes 1 and the ratio is beyond the
//! margin; else inconclusive, with what would settle it. The mathematics is the statistics crate's.
//!
//! Two ways lead here. [`stored()`] compares what the store holds: jobs, labels, profiles. [`Pairs`] asks for
//! runs in pairs, A B B A, so that whatever changes with time falls on both sides alike.

mod document;
mod facts;
mod figures;
mod pairs;
mod profiles;
mod run;
mod stored;
mod words;

pub use document::{COMPARISON_FORMAT, ComparisonResult, FailedRun, Pairing, Side, SideRun};
pub use facts::{Difference, Facts, Subject};
pub use figures::Figure;
pub use pairs::{Pairs, PairsRequest};
pub use profiles::{CurveFigure, LevelFigure, Profiled, Profiles};
pub use run::{Run, Seconds, seconds};
pub(crate) use stored::settings as server_settings;
pub use stored::stored;
pub(crate) use words::ratio;
pub use words::word;

use triphammer_core::SpecError;
use triphammer_core::workload::OptionDef;
use triphammer_statistics::compare::MARGIN;

use crate::settings::{Settings, parse_closeness};

/// The difference that does not matter, as a share.
///
/// # Errors
/// When it is no share between 0 and 1.
pub fn margin(settings: &mut Settings) -> Result<f64, SpecError> {
    settings.read("margin", parse_closeness, |share| format!("{}%", share * 100.0), || MARGIN)
}

/// The settings of each side's runs: its own laid over what is said of both. `options` are the workload's.
///
/// # Errors
/// When one is none that a side may have.
pub fn sides(given: [&Settings; 2], options: &[OptionDef]) -> Result<[Settings; 2], SpecError> {
    let side = |at: usize, name| {
        Ok(given[at].of_run(&pairs::given(&pairs::own(given[at], name, options)?)))
    };
    Ok([side(0, "a")?, side(1, "b")?])
}

//! The metrics that requirements can name, of all lists.

use super::judged::{JUDGED, JUDGED_OF_TYPE};
use super::{Metric, OF_SECOND, OF_TYPE, OfRun};

/// The metrics of a run that requirements can name.
pub fn of_run() -> impl Iterator<Item = (&'static Metric, &'static OfRun)> {
    named(JUDGED.iter().chain(OF_SECOND))
}

/// The metrics of a transaction type that requirements can name.
pub fn of_type_of_run() -> impl Iterator<Item = (&'static Metric, &'static OfRun)> {
    named(JUDGED_OF_TYPE.iter().chain(OF_TYPE))
}

fn named(
    metrics: impl Iterator<Item = &'static Metric>,
) -> impl Iterator<Item = (&'static Metric, &'static OfRun)> {
    metrics.filter_map(|metric| Some((metric, metric.of_run.as_ref()?)))
}

//! Which declared figures have a column in the tables of seconds and types; the others are samples.

use crate::metrics::{Metric, ValueSource};

/// The columns of declared figures, in their order, each with a comma before it.
pub(super) fn columns(metrics: &[Metric]) -> String {
    metrics.iter().filter_map(|metric| metric.column).map(|name| format!(", {name}")).collect()
}

/// Figures that are measured and have no column.
pub(super) fn without_column(metrics: &'static [Metric]) -> impl Iterator<Item = &'static Metric> {
    let is_measured = |metric: &&Metric| !matches!(metric.source, ValueSource::Derived(_));
    metrics.iter().filter(|metric| metric.column.is_none()).filter(is_measured)
}

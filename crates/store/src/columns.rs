//! Maps declared metrics to columns in the tables of seconds and types; metrics without a column
//! are samples.

use triphammer_document::metrics::{Metric, ValueSource};

/// Columns of declared metrics, in order, each preceded by a comma.
pub(super) fn columns(metrics: &[Metric]) -> String {
    metrics.iter().filter_map(|metric| metric.column).map(|name| format!(", {name}")).collect()
}

/// Measured metrics without a column.
pub(super) fn without_column(metrics: &'static [Metric]) -> impl Iterator<Item = &'static Metric> {
    let is_measured = |metric: &&Metric| !matches!(metric.source, Some(ValueSource::Derived(_)));
    metrics.iter().filter(|metric| metric.column.is_none()).filter(is_measured)
}

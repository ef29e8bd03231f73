//! What a metric that is sampled once per second is called: the store keeps its values, observers and
//! nodes measure them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::metrics::{Merge, Metric, Unit};

/// The label that names a transaction type.
pub const TYPE: &str = "type";

/// A metric sampled once per second, as stored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SampleSeries {
    /// Name of the metric: `buffers_read`.
    pub metric: String,
    /// Labels: `database` is `tpcc`.
    pub labels: BTreeMap<String, String>,
    /// Title in charts.
    pub title: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Rule for merging several seconds.
    pub merge: Merge,
}

impl SampleSeries {
    /// Creates the series of a declared metric, of a transaction type or of all threads.
    pub fn of(metric: &Metric, transaction: Option<&str>) -> Self {
        let label = transaction.map(|name| (TYPE.to_owned(), name.to_owned()));
        Self {
            metric: metric.name.to_owned(),
            labels: label.into_iter().collect(),
            title: metric.title.to_owned(),
            unit: metric.unit,
            merge: metric.merge,
        }
    }

    /// Whether it has all of these labels.
    #[must_use]
    pub fn has(&self, labels: &[(&str, &str)]) -> bool {
        let mut wanted = labels.iter();
        wanted.all(|(name, value)| self.labels.get(*name).is_some_and(|found| found == value))
    }

    /// The labels as JSON, as the store keeps them.
    pub fn labels_json(&self) -> String {
        serde_json::to_string(&self.labels).expect("text by text")
    }
}

//! A second of a run as sent to clients: figures instead of histograms.

use std::sync::Arc;

use serde::Serialize;
use triphammer_core::workload::Description;
use triphammer_document::measure::{self, Measure};
use triphammer_document::metrics::{Merge, Values};
use triphammer_document::second::Second;
use utoipa::ToSchema;

use super::figures::Figures;

/// A second of a run. If `last` is after `first`, several seconds are merged: counts are sums,
/// times and shares are those of the worst second.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LiveSecond {
    /// Number of the activity.
    pub activity: u64,
    /// First second, counted from the start of the run.
    pub first: u64,
    /// Last second, inclusive, counted from the start of the run.
    pub last: u64,
    /// The workload's primary metric in these seconds, in its own unit, such as per minute.
    pub primary_metric: f64,
    /// The second since which no transaction has completed; `null` unless an outage went on at the end of this
    /// second.
    pub outage_since: Option<u64>,
    /// Total of all transaction types.
    pub total: LiveType,
    /// By transaction type, in the workload's order.
    pub types: Vec<LiveType>,
    /// The declared figures of all threads.
    #[serde(flatten)]
    #[schema(ignore)]
    pub figures: Figures,
}

/// Figures of a transaction type in a second.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LiveType {
    /// Key of the transaction type: `new_order`; `all` for the total.
    pub name: String,
    /// The declared figures of a type.
    #[serde(flatten)]
    #[schema(ignore)]
    pub figures: Figures,
}

/// Response of `GET /api/v1/activities/{id}/seconds`.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LiveSeconds {
    /// Seconds of the current run, in order; older ones are merged.
    pub seconds: Vec<LiveSecond>,
}

/// Converts the seconds of a run to live seconds.
#[derive(Clone, Debug)]
pub struct SecondsOf {
    /// Number of the activity.
    pub activity: u64,
    /// Workload of the run.
    pub workload: Arc<Description>,
}

impl SecondsOf {
    /// Converts a second.
    #[must_use]
    pub fn second(&self, second: &Second) -> LiveSecond {
        let (interval, primary_metric) = (&second.interval, &self.workload.primary_metric);
        let seconds = length(interval.first, interval.last);
        let counted = measure::counted(primary_metric, &interval.types);
        let of_type = |name: &str, seen| LiveType {
            name: name.to_owned(),
            figures: Figures(Values::of_type(seen, seconds)),
        };
        let types = self.workload.transactions.iter().zip(&interval.types);
        LiveSecond {
            activity: self.activity,
            first: interval.first,
            last: interval.last,
            primary_metric: Measure::from(primary_metric.measure).value(counted, seconds),
            outage_since: interval.outage_since,
            total: of_type("all", &second.total),
            types: types.map(|(definition, seen)| of_type(&definition.name, seen)).collect(),
            figures: Figures(Values::of_second(second)),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
fn length(first: u64, last: u64) -> f64 {
    (last + 1 - first) as f64
}

impl LiveSecond {
    /// Merges a later second into this one.
    pub(super) fn merge(&mut self, later: &Self) {
        let seconds = [length(self.first, self.last), length(later.first, later.last)];
        let primary_metric = [Some(self.primary_metric), Some(later.primary_metric)];
        self.primary_metric = Merge::Mean.of(primary_metric, seconds).unwrap_or_default();
        self.total.figures.0.merge(&later.total.figures.0, seconds);
        for (mine, theirs) in self.types.iter_mut().zip(&later.types) {
            mine.figures.0.merge(&theirs.figures.0, seconds);
        }
        self.figures.0.merge(&later.figures.0, seconds);
        self.outage_since = later.outage_since;
        self.last = later.last;
    }
}

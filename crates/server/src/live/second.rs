//! A second of a run as it is sent: figures instead of histograms.

use std::sync::Arc;

use serde::Serialize;
use triphammer_core::workload::Description;
use triphammer_runner::measure::{self, Measure};
use triphammer_runner::metrics::{Merge, Values};
use triphammer_runner::second::Second;
use utoipa::ToSchema;

use super::figures::Figures;

/// A second of a run. When `last` is after `first`, several seconds are merged: counts are sums, times and
/// shares are those of the worst second.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LiveSecond {
    /// The activity.
    pub activity: u64,
    /// First second, from the run's zero.
    pub first: u64,
    /// Last second.
    pub last: u64,
    /// The workload's first figure, from these seconds: in its own unit, such as a minute.
    pub primary_metric: f64,
    /// All types together.
    pub total: LiveType,
    /// By transaction type, in the workload's order.
    pub types: Vec<LiveType>,
    /// The declared figures of all threads.
    #[serde(flatten)]
    #[schema(ignore)]
    pub figures: Figures,
}

/// What a transaction type did in a second.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LiveType {
    /// Key: `new_order`; `all` in a total.
    pub name: String,
    /// The declared figures of a type.
    #[serde(flatten)]
    #[schema(ignore)]
    pub figures: Figures,
}

/// What `GET /api/v1/activities/{id}/seconds` answers.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct LiveSeconds {
    /// The seconds of the run that goes on, in order; older ones are merged.
    pub seconds: Vec<LiveSecond>,
}

/// Makes seconds of what a run tells.
#[derive(Clone, Debug)]
pub struct SecondsOf {
    /// The activity.
    pub activity: u64,
    /// What is run.
    pub workload: Arc<Description>,
}

impl SecondsOf {
    /// A second as it is sent.
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
    /// Takes a later second in.
    pub(super) fn merge(&mut self, later: &Self) {
        let seconds = [length(self.first, self.last), length(later.first, later.last)];
        let primary_metric = [Some(self.primary_metric), Some(later.primary_metric)];
        self.primary_metric = Merge::Mean.of(primary_metric, seconds).unwrap_or_default();
        self.total.figures.0.merge(&later.total.figures.0, seconds);
        for (mine, theirs) in self.types.iter_mut().zip(&later.types) {
            mine.figures.0.merge(&theirs.figures.0, seconds);
        }
        self.figures.0.merge(&later.figures.0, seconds);
        self.last = later.last;
    }
}

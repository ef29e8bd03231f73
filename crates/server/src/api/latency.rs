//! Distribution of response times: percentile curves of a run, and a heat map over time.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use triphammer_core::recorder;
use triphammer_document::JobId;
use triphammer_store::{Scope, Store, StoreError, TimesKind};
use utoipa::{IntoParams, ToSchema};

use super::Answer;
use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Params, Path};

/// Maximum columns and rows of a heat map.
const CELLS_MAX: u32 = 400;

/// Parameters of percentile curves.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PercentileParams {
    /// `window` (the timed window, the default) or `run` (the whole run).
    #[param(inline)]
    pub scope: Option<PercentileScope>,
}

/// The part of a run that a curve covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PercentileScope {
    /// Only the timed window.
    #[default]
    Window,
    /// Ramp-up, window and drain.
    Run,
}

/// Percentile curves of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Percentiles {
    /// The curve of all transaction types together, then one per type; types without transactions
    /// are omitted.
    pub curves: Vec<PercentileCurve>,
}

/// Distribution of the response times of committed transactions of a type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PercentileCurve {
    /// Key of the transaction type; `all` for all types together.
    pub name: String,
    /// Number of committed transactions.
    pub count: u64,
    /// Points of the curve, ascending; finer towards 1.
    pub points: Vec<PercentilePoint>,
}

/// A point of a percentile curve: this share of the transactions took no longer than the time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PercentilePoint {
    /// Share of the transactions, from 0 to 1.
    pub quantile: f64,
    /// Response time in µs.
    pub us: u64,
}

/// Parameters of a heat map.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HeatmapParams {
    /// First second, counted from the start of the run; the run's first when absent.
    pub from: Option<u64>,
    /// End second, exclusive; the run's end when absent.
    pub to: Option<u64>,
    /// Maximum number of columns (time intervals), 1 to 400; 120 when absent.
    #[param(minimum = 1, maximum = 400)]
    pub columns: Option<u32>,
    /// Maximum number of rows (response time intervals), 2 to 400; 48 when absent.
    #[param(minimum = 2, maximum = 400)]
    pub rows: Option<u32>,
    /// Key of a transaction type; all types together when absent.
    pub transaction: Option<String>,
}

/// Number of committed transactions by time and response time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Heatmap {
    /// First second of each column.
    pub first: Vec<u64>,
    /// Seconds per column.
    pub step: u64,
    /// Upper edge of each row in µs, ascending; each is a constant factor above the previous one.
    pub upper_us: Vec<f64>,
    /// Number of transactions, by column, then by row.
    pub counts: Vec<Vec<u64>>,
    /// The largest number in `counts`.
    pub most: u64,
}

/// Returns percentile curves of the response times of a run.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/percentiles", tag = "jobs",
    params(("id" = i64, Path, description = "Job number"), PercentileParams),
    responses((status = 200, body = Percentiles), (status = 404, body = ApiError)))]
pub async fn percentiles(
    State(app): State<App>,
    Path(id): Path<i64>,
    Params(params): Params<PercentileParams>,
) -> Answer<Percentiles> {
    let scope = match params.scope.unwrap_or_default() {
        PercentileScope::Window => Scope::Window,
        PercentileScope::Run => Scope::Run,
    };
    app.store(move |store| {
        let names = store.load(JobId(id))?.transactions;
        Percentiles::of(store, JobId(id), &names, scope)
    })
    .await
    .map(Json)
}

impl Percentiles {
    /// Reads the curves of a stored run with these transaction types.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn of(
        store: &Store,
        job: JobId,
        names: &[String],
        scope: Scope,
    ) -> Result<Self, StoreError> {
        let totals = store.totals(job, scope)?;
        let mut all = recorder::histogram();
        let mut curves = Vec::new();
        for total in totals.iter().filter(|total| total.times == TimesKind::Response) {
            all.add(&total.histogram).expect("all have the same bounds");
            let name = names.get(total.transaction).cloned().unwrap_or_default();
            curves.push(curve(name, &total.histogram));
        }
        curves.insert(0, curve("all".to_owned(), &all));
        curves.retain(|curve| curve.count > 0);
        Ok(Self { curves })
    }
}

fn curve(name: String, times: &hdrhistogram::Histogram<u64>) -> PercentileCurve {
    let mut points: Vec<PercentilePoint> = Vec::new();
    for step in times.iter_quantiles(4) {
        let point = PercentilePoint { quantile: step.quantile(), us: step.value_iterated_to() };
        match points.last_mut() {
            Some(last) if last.us == point.us => *last = point,
            _ => points.push(point),
        }
    }
    PercentileCurve { name, count: times.len(), points }
}

/// Returns the heat map of response times over the time of a run, from its stored histograms.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/heatmap", tag = "jobs",
    params(("id" = i64, Path, description = "Job number"), HeatmapParams),
    responses((status = 200, body = Heatmap), (status = 404, body = ApiError),
        (status = 422, body = ApiError)))]
pub async fn heatmap(
    State(app): State<App>,
    Path(id): Path<i64>,
    Params(params): Params<HeatmapParams>,
) -> Answer<Heatmap> {
    let made = app.store(move |store| {
        let names = store.load(JobId(id))?.transactions;
        let wanted = match &params.transaction {
            Some(name) => match names.iter().position(|known| known == name) {
                Some(place) => Some(place),
                None => return Ok(Err(names)),
            },
            None => None,
        };
        Heatmap::of(store, JobId(id), wanted, &params).map(Ok)
    });
    made.await?.map(Json).map_err(|names| {
        let message = format!("unknown transaction type; the job has {}", names.join(", "));
        ApiError::invalid(message).about("transaction")
    })
}

impl Heatmap {
    /// Reads the heat map of a stored run, for the transaction type at an index, or for all types.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn of(
        store: &Store,
        job: JobId,
        wanted: Option<usize>,
        params: &HeatmapParams,
    ) -> Result<Self, StoreError> {
        let Some(whole) = store.stretch(job)? else { return Ok(Self::default()) };
        let from = params.from.unwrap_or(0).clamp(whole.start, whole.end);
        let to = params.to.unwrap_or(whole.end).clamp(from, whole.end);
        let columns = u64::from(params.columns.unwrap_or(120).clamp(1, CELLS_MAX));
        let rows = params.rows.unwrap_or(48).clamp(2, CELLS_MAX);
        let mut cells =
            Cells { from, step: (to - from).div_ceil(columns).max(1), bins: Vec::new() };
        let times = TimesKind::Response;
        store.each_bin(job, from..to, times, bin_of, |first, transaction, bin, count| {
            if wanted.is_none_or(|wanted| wanted == transaction) {
                cells.add(first, bin, count);
            }
        })?;
        Ok(cells.finish(rows))
    }
}

/// Bins per power of ten: fine enough to be merged to any number of rows.
const BINS_A_DECADE: f64 = 30.0;

/// Counts by column and by fine bin.
struct Cells {
    from: u64,
    step: u64,
    bins: Vec<Vec<u64>>,
}

impl Cells {
    /// Adds a count to a bin, for the interval that starts at `second`.
    fn add(&mut self, second: u64, bin: usize, count: u64) {
        let column = usize::try_from((second - self.from) / self.step).unwrap_or(usize::MAX);
        if self.bins.len() <= column {
            self.bins.resize(column + 1, Vec::new());
        }
        let bins = &mut self.bins[column];
        if bins.len() <= bin {
            bins.resize(bin + 1, 0);
        }
        bins[bin] += count;
    }

    fn finish(self, rows: u32) -> Heatmap {
        let used = |bins: &Vec<u64>| bins.iter().position(|count| *count > 0);
        let Some(lowest) = self.bins.iter().filter_map(used).min() else {
            return Heatmap { step: self.step, ..Heatmap::default() };
        };
        let highest = self.bins.iter().map(Vec::len).max().unwrap_or(lowest + 1);
        let merged = (highest - lowest).div_ceil(rows as usize).max(1);
        let height = (highest - lowest).div_ceil(merged);
        let mut map = Heatmap { step: self.step, ..Heatmap::default() };
        map.upper_us = (1..=height).map(|row| upper_edge(lowest + row * merged)).collect();
        for (column, bins) in (0_u64..).zip(&self.bins) {
            let mut counts = vec![0; height];
            for (bin, count) in bins.iter().enumerate().skip(lowest) {
                counts[(bin - lowest) / merged] += count;
            }
            map.most = counts.iter().copied().max().unwrap_or(0).max(map.most);
            map.first.push(self.from + column * self.step);
            map.counts.push(counts);
        }
        map
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the logarithm of at least 1 µs and at most an hour is from 0 to 10"
)]
fn bin_of(us: u64) -> usize {
    ((us.max(1) as f64).log10() * BINS_A_DECADE) as usize
}

/// Upper edge of the bins before `bin`, in µs.
#[expect(clippy::cast_precision_loss, reason = "some hundreds of bins")]
fn upper_edge(bin: usize) -> f64 {
    10_f64.powf(bin as f64 / BINS_A_DECADE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transaction_is_in_one_cell() {
        let mut cells = Cells { from: 5, step: 10, bins: Vec::new() };
        for second in [5, 14, 25] {
            for us in [1, 10, 100, 1000, 10_000, 3_600_000_000] {
                cells.add(second, bin_of(us), 7);
            }
        }
        for rows in [2, 7, 48, 400] {
            let map = Cells { bins: cells.bins.clone(), ..cells }.finish(rows);
            assert!(map.upper_us.len() <= rows as usize);
            assert_eq!((map.first.as_slice(), map.step), ([5, 15, 25].as_slice(), 10));
            let sums: Vec<u64> = map.counts.iter().map(|column| column.iter().sum()).collect();
            assert_eq!(sums, [84, 0, 42]);
            assert!(map.upper_us.last().unwrap() >= &3.6e9);
        }
    }
}

//! Downsampled series of a run: however long the run is, a page gets as many points as it can draw.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use triphammer_core::workload::PrimaryMetric;
use triphammer_document::JobId;
use triphammer_document::measure::Measure;
use triphammer_document::metrics::{self, Metric, Values};
use triphammer_document::parts::counted_of_user;
use triphammer_document::series::{SecondRow, SeriesRow};
use triphammer_runner::workloads;
use triphammer_store::{Store, StoreError, StoredJob};
use utoipa::{IntoParams, ToSchema};

use super::Answer;
use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Params, Path};
use crate::live::Number;

/// Default number of points.
const POINTS: u32 = 300;
/// Maximum number of points.
const POINTS_MAX: u32 = 2000;

/// Parameters of a request for series.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SeriesParams {
    /// First second, counted from the start of the run; the run's first when absent.
    pub from: Option<u64>,
    /// End second, exclusive; the run's end when absent.
    pub to: Option<u64>,
    /// Maximum number of points, 1 to 2000; 300 when absent.
    #[param(minimum = 1, maximum = 2000)]
    pub points: Option<u32>,
}

/// Series of a run. Every list has one value for each entry of `first`.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct JobSeries {
    /// Seconds per point; 1 when nothing is merged.
    pub step: u64,
    /// First second of each point, counted from the start of the run.
    pub first: Vec<u64>,
    /// Last second of each point, inclusive.
    pub last: Vec<u64>,
    /// Transactions of all types completed per second.
    pub total_per_second: Spread,
    /// The workload's primary metric in its own unit, such as per minute; `null` if the workload is
    /// unknown.
    pub primary_metric: Option<Spread>,
    /// Series by transaction type, in the workload's order.
    pub types: Vec<TypeSeries>,
    /// The declared metrics of all threads.
    #[serde(flatten)]
    #[schema(ignore)]
    pub figures: Columns,
}

/// The series of a transaction type.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct TypeSeries {
    /// Key of the transaction type: `new_order`.
    pub name: String,
    /// The declared metrics of a transaction type.
    #[serde(flatten)]
    #[schema(ignore)]
    pub figures: Columns,
}

/// Declared metrics by their names in the API.
type Columns = BTreeMap<&'static str, Column>;

/// Values of a metric, one per point.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Column {
    /// One value per point.
    List(Vec<Number>),
    /// Spread over the seconds of each point; `None` if it was never measured.
    Spread(Option<Spread>),
}

/// Spread of a metric over the seconds of each point; 0 if it was not measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct Spread {
    /// Minimum over the seconds of each point.
    pub min: Vec<f64>,
    /// Mean over the seconds of each point.
    pub mean: Vec<f64>,
    /// Maximum over the seconds of each point.
    pub max: Vec<f64>,
}

/// Returns the series of a run, merged to at most `points` points of equal length.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/series", tag = "jobs",
    params(("id" = i64, Path, description = "Job number"), SeriesParams),
    responses((status = 200, body = JobSeries), (status = 404, body = ApiError)))]
pub async fn series(
    State(app): State<App>,
    Path(id): Path<i64>,
    Params(params): Params<SeriesParams>,
) -> Answer<JobSeries> {
    app.store(move |store| JobSeries::of(store, &store.load(JobId(id))?, &params)).await.map(Json)
}

impl JobSeries {
    /// Reads the series of a stored run.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn of(
        store: &Store,
        run: &StoredJob,
        params: &SeriesParams,
    ) -> Result<Self, StoreError> {
        let (job, names) = (run.row.id, run.transactions.clone());
        let Some(whole) = store.stretch(job)? else { return Ok(Self::default()) };
        let from = params.from.unwrap_or(0).clamp(whole.start, whole.end);
        let to = params.to.unwrap_or(whole.end).clamp(from, whole.end);
        let points = u64::from(params.points.unwrap_or(POINTS).clamp(1, POINTS_MAX));
        let step = (to - from).div_ceil(points).max(1);
        let (types, now) = (names.len(), Vec::new());
        let known = workloads().into_iter().find(|known| known.name == run.row.workload);
        let mut primary_metric = known.map(|known| known.primary_metric.clone());
        if let Some(metric) = primary_metric.as_mut().filter(|it| it.transactions.is_empty()) {
            metric.transactions = counted_of_user(&run.facts, &names);
        }
        let mut points = Points { from, step, all: Vec::new(), types, now, primary_metric };
        store.each_of_seconds(job, from..to, |row| points.second(&row))?;
        store.each_of_series(job, from..to, |row| points.of_type(row))?;
        Ok(points.finish(names))
    }
}

/// Points under construction.
struct Points {
    from: u64,
    step: u64,
    all: Vec<Option<Point>>,
    types: usize,
    /// Transaction types of the current second.
    now: Vec<SeriesRow>,
    /// The measure of the primary metric.
    primary_metric: Option<PrimaryMetric>,
}

#[derive(Clone)]
struct Point {
    first: u64,
    last: u64,
    all: Folded,
    total: metrics::Spread,
    primary_metric: metrics::Spread,
    types: Vec<Folded>,
}

/// Metrics of the seconds of a point.
#[derive(Clone)]
struct Folded {
    merged: Values,
    seconds: f64,
    /// Spread of the metrics that have one.
    spreads: Vec<metrics::Spread>,
}

impl Folded {
    fn new(nothing: Values) -> Self {
        let spreads = vec![metrics::Spread::default(); nothing.iter().count()];
        Self { merged: nothing, seconds: 0.0, spreads }
    }

    fn add(&mut self, values: &Values, seconds: f64) {
        self.merged.merge(values, [self.seconds, seconds]);
        self.seconds += seconds;
        for (spread, (metric, value)) in self.spreads.iter_mut().zip(values.iter()) {
            if let Some(value) = value.filter(|_| metric.has_spread()) {
                spread.add(value, seconds);
            }
        }
    }

    /// Appends the point to the columns, which already have `place` points.
    fn push_to(&self, columns: &mut Columns, place: usize) {
        for ((metric, value), spread) in self.merged.iter().zip(&self.spreads) {
            let Some(name) = metric.points else { continue };
            let column = columns.entry(name).or_insert_with(|| Column::new(metric));
            match column {
                Column::List(list) => list.push(Number(value.map_or(0.0, shortened(metric)))),
                Column::Spread(column) => push(column, place, spread),
            }
        }
    }
}

impl Column {
    fn new(metric: &Metric) -> Self {
        match (metric.has_spread(), metric.zero) {
            (false, _) => Self::List(Vec::new()),
            (true, zero) => Self::Spread(zero.then(Spread::default)),
        }
    }
}

impl Points {
    fn at(&mut self, second: u64) -> &mut Point {
        let index = usize::try_from((second - self.from) / self.step).unwrap_or(usize::MAX);
        if self.all.len() <= index {
            self.all.resize(index + 1, None);
        }
        let types = self.types;
        self.all[index].get_or_insert_with(|| Point {
            first: second,
            last: second,
            all: Folded::new(Values::of_nothing()),
            total: metrics::Spread::default(),
            primary_metric: metrics::Spread::default(),
            types: vec![Folded::new(Values::of_no_type()); types],
        })
    }

    fn second(&mut self, row: &SecondRow) {
        let point = self.at(row.first);
        point.last = row.last;
        point.all.add(&row.values, length(row.first, row.last));
    }

    fn of_type(&mut self, row: SeriesRow) {
        if self.now.first().is_some_and(|now| now.first != row.first) {
            self.end_second();
        }
        self.now.push(row);
    }

    fn end_second(&mut self) {
        let rows = std::mem::take(&mut self.now);
        let Some(&SeriesRow { first, last, .. }) = rows.first() else { return };
        let seconds = length(first, last);
        let total = Values::over_types(rows.iter().map(|row| &row.values), seconds);
        let primary_metric = self
            .primary_metric
            .as_ref()
            .map(|primary_metric| per_unit(primary_metric, &rows, seconds));
        let point = self.at(first);
        if let Some(primary_metric) = primary_metric {
            point.primary_metric.add(primary_metric, seconds);
        }
        point.last = point.last.max(last);
        point.total.add(total.get("per_second").unwrap_or_default(), seconds);
        for row in &rows {
            if let Some(it) = point.types.get_mut(row.transaction) {
                it.add(&row.values, seconds);
            }
        }
    }

    fn finish(mut self, names: Vec<String>) -> JobSeries {
        self.end_second();
        let mut series = JobSeries { step: self.step, ..JobSeries::default() };
        series.primary_metric = self.primary_metric.is_some().then(Spread::default);
        series.types =
            names.into_iter().map(|name| TypeSeries { name, ..TypeSeries::default() }).collect();
        for point in self.all.into_iter().flatten() {
            let place = series.first.len();
            series.first.push(point.first);
            series.last.push(point.last);
            series.total_per_second.push(&point.total);
            if let Some(primary_metric) = &mut series.primary_metric {
                primary_metric.push(&point.primary_metric);
            }
            point.all.push_to(&mut series.figures, place);
            for (it, seen) in series.types.iter_mut().zip(&point.types) {
                seen.push_to(&mut it.figures, place);
            }
        }
        series
    }
}

impl Spread {
    /// The value, or 0 if there is none.
    fn push(&mut self, seen: &metrics::Spread) {
        let [min, mean, max] = seen.values().unwrap_or_default().map(short);
        self.min.push(min);
        self.mean.push(mean);
        self.max.push(max);
    }
}

/// Primary metric of a second, in its own unit.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a sum of counters")]
fn per_unit(primary_metric: &PrimaryMetric, rows: &[SeriesRow], seconds: f64) -> f64 {
    let counted = rows.iter().filter(|row| primary_metric.transactions.contains(&row.transaction));
    let committed: f64 = counted.filter_map(|row| row.values.get("committed")).sum();
    Measure::from(primary_metric.measure).value(committed as u64, seconds)
}

/// Appends to a series that starts with the first point that has a value; earlier points are 0.
fn push(spread: &mut Option<Spread>, place: usize, seen: &metrics::Spread) {
    if spread.is_none() && seen.values().is_some() {
        let zeros = vec![0.0; place];
        *spread = Some(Spread { min: zeros.clone(), mean: zeros.clone(), max: zeros });
    }
    if let Some(spread) = spread {
        spread.push(seen);
    }
}

/// Counts are exact; means are rounded to what can be drawn.
fn shortened(metric: &Metric) -> fn(f64) -> f64 {
    if metric.kind == metrics::MetricKind::Mean { short } else { |value| value }
}

/// Rounds to five digits, more than can be drawn, which shortens the response to a third.
fn short(value: f64) -> f64 {
    let places = match value.abs() {
        10_000.0.. => 1.0,
        1_000.0.. => 10.0,
        100.0.. => 100.0,
        10.0.. => 1e3,
        _ => 1e4,
    };
    (value * places).round() / places
}

#[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
fn length(first: u64, last: u64) -> f64 {
    (last + 1 - first) as f64
}

//! Sampled metrics of a job: figures with labels, such as those of a server or a host, downsampled
//! by the rule of each metric. The size of a response is bounded, however many there are and
//! however long the run is.

use std::collections::BTreeMap;
use std::ops::Range;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use triphammer_document::JobId;
use triphammer_document::metrics::{Merge, Unit};
use triphammer_document::samples::SampleSeries;
use triphammer_store::{SamplePoint, Store, StoreError, StoredSeries};
use utoipa::{IntoParams, ToSchema};

use super::Answer;
use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Params, Path};
use crate::live::Number;

/// Default number of points of a series.
const POINTS: u64 = 300;
/// Maximum number of points of a series.
const POINTS_MAX: u64 = 2_000;
/// Maximum number of series in a response.
const SERIES_MAX: usize = 500;
/// Maximum number of points in a response; with many series, each has fewer.
const ALL_POINTS_MAX: u64 = 100_000;
/// Maximum number of series in a response of means.
const MEANS_MAX: usize = 2_000;
/// Maximum number of metrics named in a request.
const METRICS_MAX: usize = 500;

/// Parameters of a request for samples.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SampleParams {
    /// Comma-separated names of metrics. When absent, the response lists all series of the job,
    /// without points.
    pub metric: Option<String>,
    /// Only series with these labels: a JSON object, such as `{"database":"tpcc"}`.
    pub labels: Option<String>,
    /// Omits series with this label, such as the many of single CPUs with `cpu.logical_number`.
    pub without: Option<String>,
    /// Whether merged points have minimum, mean and maximum, too; `true` when absent.
    pub spread: Option<bool>,
    /// First second, counted from the start of the run; the run's first when absent.
    pub from: Option<u64>,
    /// End second, exclusive; the run's end when absent.
    pub to: Option<u64>,
    /// Maximum number of points per series, 1 to 2000; 300 when absent. With more than 50 series,
    /// at most 100,000 in the whole response.
    #[param(minimum = 1, maximum = 2000)]
    pub points: Option<u32>,
}

/// Sampled metrics of a job on a common time axis: every list in a series has one value for each
/// entry of `first`.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct JobSamples {
    /// Seconds per point; 1 when nothing is merged.
    pub step: u64,
    /// First second of each point, counted from the start of the run.
    pub first: Vec<u64>,
    /// The series, sorted by name, then by labels.
    pub series: Vec<SampledSeries>,
    /// Number of matching series omitted because a response has at most 500.
    pub left_out: u64,
}

/// A sampled metric with its labels.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SampledSeries {
    /// Name of the metric.
    pub metric: String,
    /// Labels that identify the measured object.
    pub labels: BTreeMap<String, String>,
    /// Title in charts.
    pub title: String,
    /// Unit of the values.
    #[schema(value_type = String)]
    pub unit: Unit,
    /// Rule for merging seconds: `sum`, `last`, `min`, `max` or `mean`.
    #[schema(value_type = String)]
    pub merge: Merge,
    /// The value of each point, merged by that rule; `null` if it was not measured.
    #[schema(value_type = Vec<Option<f64>>)]
    pub value: Vec<Option<Number>>,
    /// Minimum, mean and maximum over the seconds of each point; `null` when a point is one second,
    /// and with `spread=false`.
    pub spread: Option<SampleSpread>,
}

/// Spread of a metric over the seconds of each point; `null` if it was not measured.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct SampleSpread {
    /// Minimum over the seconds of each point.
    #[schema(value_type = Vec<Option<f64>>)]
    pub min: Vec<Option<Number>>,
    /// Mean over the seconds of each point.
    #[schema(value_type = Vec<Option<f64>>)]
    pub mean: Vec<Option<Number>>,
    /// Maximum over the seconds of each point.
    #[schema(value_type = Vec<Option<f64>>)]
    pub max: Vec<Option<Number>>,
}

/// Parameters of a request for means.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MeansParams {
    /// First second of the part, counted from the start of the run.
    pub from: u64,
    /// End second of the part, exclusive.
    pub to: u64,
    /// First second of the window whose rest is compared; the run's first when absent.
    pub window_from: Option<u64>,
    /// End second of that window, exclusive; the run's end when absent.
    pub window_to: Option<u64>,
    /// Omits series with this label, such as the many of single CPUs with `cpu.logical_number`.
    pub without: Option<String>,
}

/// Means of all sampled metrics of a job in a part of the run, and in the rest of a window.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub struct SampleMeans {
    /// The series that were measured in the part or in the rest, sorted by name, then by labels.
    pub series: Vec<SeriesMeans>,
    /// Number of series omitted because a response has at most 2000.
    pub left_out: u64,
}

/// Means of a sampled metric.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SeriesMeans {
    /// Name of the metric.
    pub metric: String,
    /// Labels that identify the measured object.
    pub labels: BTreeMap<String, String>,
    /// Title in charts.
    pub title: String,
    /// Unit of the values.
    #[schema(value_type = String)]
    pub unit: Unit,
    /// In the part; `null` if it was not measured there.
    pub here: Option<MeanOfSamples>,
    /// In the rest of the window; `null` if it was not measured there.
    pub rest: Option<MeanOfSamples>,
}

/// A mean over seconds.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MeanOfSamples {
    /// Number of seconds in which it was measured.
    pub seconds: u64,
    /// Mean over these seconds.
    #[schema(value_type = f64)]
    pub mean: Number,
    /// The highest value.
    #[schema(value_type = f64)]
    pub max: Number,
}

/// Returns the means of all sampled metrics in a part of a run, and in the rest of the window.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/samples/means", tag = "jobs",
    params(("id" = i64, Path, description = "Job number"), MeansParams),
    responses((status = 200, body = SampleMeans), (status = 404, body = ApiError)))]
pub async fn means(
    State(app): State<App>,
    Path(id): Path<i64>,
    Params(params): Params<MeansParams>,
) -> Answer<SampleMeans> {
    app.store(move |store| {
        let job = store.load(JobId(id))?.row.id;
        SampleMeans::of(store, job, &params)
    })
    .await
    .map(Json)
}

impl SampleMeans {
    fn of(store: &Store, job: JobId, params: &MeansParams) -> Result<Self, StoreError> {
        let whole = store.stretch(job)?.unwrap_or_default();
        let window_from = params.window_from.unwrap_or(whole.start);
        let window = window_from..params.window_to.unwrap_or(whole.end).max(window_from);
        let part = params.from..params.to.max(params.from);
        let mut found = store.find_series(job, None, &[])?;
        if let Some(label) = &params.without {
            found.retain(|found| !found.series.labels.contains_key(label));
        }
        let left_out = found.len().saturating_sub(MEANS_MAX) as u64;
        found.truncate(MEANS_MAX);
        let mut series = Vec::with_capacity(found.len());
        for found in found {
            let [here, rest] = store.means(&found, &part, &window)?.map(|of| {
                of.map(|of| MeanOfSamples {
                    seconds: of.count,
                    mean: Number(of.mean),
                    max: Number(of.max),
                })
            });
            if here.is_none() && rest.is_none() {
                continue;
            }
            let SampleSeries { metric, labels, title, unit, .. } = found.series;
            series.push(SeriesMeans { metric, labels, title, unit, here, rest });
        }
        Ok(Self { series, left_out })
    }
}

/// Returns sampled metrics of a job, merged to at most `points` points of equal length.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/samples", tag = "jobs",
    params(("id" = i64, Path, description = "Job number"), SampleParams),
    responses((status = 200, body = JobSamples), (status = 404, body = ApiError),
        (status = 422, body = ApiError)))]
pub async fn samples(
    State(app): State<App>,
    Path(id): Path<i64>,
    Params(params): Params<SampleParams>,
) -> Answer<JobSamples> {
    let wanted = SamplesRequest::read(&params)?;
    app.store(move |store| {
        let job = store.load(JobId(id))?.row.id;
        JobSamples::of(store, job, &wanted)
    })
    .await
    .map(Json)
}

/// A parsed request.
#[derive(Debug)]
struct SamplesRequest {
    /// Names of metrics; `None` lists the available series.
    metrics: Option<Vec<String>>,
    labels: BTreeMap<String, String>,
    without: Option<String>,
    spread: bool,
    from: Option<u64>,
    to: Option<u64>,
    points: u64,
}

impl SamplesRequest {
    fn read(params: &SampleParams) -> Result<Self, ApiError> {
        let labels = params.labels.as_deref().map_or(Ok(BTreeMap::new()), serde_json::from_str);
        let labels = labels.map_err(|error| {
            let example = r#"expected a JSON object of strings, such as {"database":"tpcc"}"#;
            ApiError::invalid(format!("invalid labels: {error}; {example}")).about("labels")
        })?;
        let metrics = params.metric.as_deref().map(|names| {
            let names = names.split(',').map(|name| name.trim().to_owned());
            let mut names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
            names.sort();
            names.dedup();
            names
        });
        if metrics.as_ref().is_some_and(|names| names.len() > METRICS_MAX) {
            let text = format!("a request may name at most {METRICS_MAX} metrics");
            return Err(ApiError::invalid(text).about("metric"));
        }
        let points = params.points.map_or(POINTS, u64::from).clamp(1, POINTS_MAX);
        Ok(Self {
            metrics,
            labels,
            without: params.without.clone(),
            spread: params.spread.unwrap_or(true),
            from: params.from,
            to: params.to,
            points,
        })
    }

    fn find(&self, store: &Store, job: JobId) -> Result<Vec<StoredSeries>, StoreError> {
        let labels: Vec<(&str, &str)> =
            self.labels.iter().map(|(name, value)| (&**name, &**value)).collect();
        let mut all = Vec::new();
        match &self.metrics {
            None => all = store.find_series(job, None, &labels)?,
            Some(names) => {
                for name in names {
                    all.extend(store.find_series(job, Some(name), &labels)?);
                }
            }
        }
        if let Some(label) = &self.without {
            all.retain(|found| !found.series.labels.contains_key(label));
        }
        Ok(all)
    }
}

impl JobSamples {
    /// Returns the named metrics of a whole job in at most so many points, as charts need them.
    pub(crate) fn drawn(
        store: &Store,
        job: JobId,
        metrics: &[&str],
        points: u32,
    ) -> Result<Self, StoreError> {
        let wanted = SamplesRequest {
            metrics: Some(metrics.iter().map(|name| (*name).to_owned()).collect()),
            labels: BTreeMap::new(),
            without: None,
            spread: false,
            from: None,
            to: None,
            points: points.into(),
        };
        Self::of(store, job, &wanted)
    }

    fn of(store: &Store, job: JobId, wanted: &SamplesRequest) -> Result<Self, StoreError> {
        let mut found = wanted.find(store, job)?;
        let left_out = found.len().saturating_sub(SERIES_MAX) as u64;
        found.truncate(SERIES_MAX);
        let run = store.stretch(job)?;
        let whole = run.map_or_else(|| store.sample_stretch(job), |run| Ok(Some(run)))?;
        let stretch = whole.filter(|_| wanted.metrics.is_some()).map(|whole| {
            let from = wanted.from.unwrap_or(0).clamp(whole.start, whole.end);
            from..wanted.to.unwrap_or(whole.end).clamp(from, whole.end)
        });
        let axis = stretch.map(|seconds| Axis::new(seconds, wanted.points, found.len()));
        let read = |found: StoredSeries| {
            let points = match &axis {
                Some(axis) => store.points(&found, &axis.seconds, axis.step)?,
                None => Vec::new(),
            };
            Ok(SampledSeries::new(found, axis.as_ref(), &points, wanted.spread))
        };
        let series = found.into_iter().map(read).collect::<Result<Vec<_>, StoreError>>()?;
        let (step, first) =
            axis.map_or((1, Vec::new()), |axis| (axis.step, axis.first().collect()));
        Ok(Self { step, first, series, left_out })
    }
}

/// The time axis that all series of a response share.
#[derive(Debug)]
struct Axis {
    seconds: Range<u64>,
    step: u64,
}

impl Axis {
    /// Creates an axis of at most `points` points, and of fewer with many series.
    fn new(seconds: Range<u64>, points: u64, series: usize) -> Self {
        let room = ALL_POINTS_MAX / (series as u64).max(1);
        let step = (seconds.end - seconds.start).div_ceil(points.min(room).max(1)).max(1);
        Self { seconds, step }
    }

    fn first(&self) -> impl Iterator<Item = u64> {
        let seconds = self.seconds.clone();
        seconds.step_by(usize::try_from(self.step).unwrap_or(usize::MAX))
    }

    /// Places each point on the axis; `None` where there is none.
    fn place<'a>(&self, points: &'a [SamplePoint]) -> Vec<Option<&'a SamplePoint>> {
        let mut placed = vec![None; self.first().count()];
        for point in points {
            let place = (point.first - self.seconds.start) / self.step;
            if let Some(here) = usize::try_from(place).ok().and_then(|at| placed.get_mut(at)) {
                *here = Some(point);
            }
        }
        placed
    }
}

impl SampledSeries {
    fn new(found: StoredSeries, axis: Option<&Axis>, points: &[SamplePoint], spread: bool) -> Self {
        let placed = axis.map_or_else(Vec::new, |axis| axis.place(points));
        let column = |read: fn(&SamplePoint) -> f64| {
            placed.iter().map(|point| point.map(|point| Number(read(point)))).collect()
        };
        let spread = axis.filter(|axis| spread && axis.step > 1).map(|_| SampleSpread {
            min: column(|point| point.spread[0]),
            mean: column(|point| point.spread[1]),
            max: column(|point| point.spread[2]),
        });
        let value = column(|point| point.value);
        let series = found.series;
        Self {
            metric: series.metric,
            labels: series.labels,
            title: series.title,
            unit: series.unit,
            merge: series.merge,
            value,
            spread,
        }
    }
}

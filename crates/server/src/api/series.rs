//! A run's series, made small on the server: however long the run, a page gets as many points as it can draw.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use triphammer_runner::store::{JobId, SecondRow, SeriesRow, Store, StoreError};
use utoipa::{IntoParams, ToSchema};

use super::Answer;
use crate::app::App;
use crate::error::ApiError;
use crate::extract::{Params, Path};

/// Points when nobody says how many.
const POINTS: u32 = 300;
/// Most points.
const POINTS_MAX: u32 = 2000;

/// Which part of a series, and how fine.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SeriesParams {
    /// First second, from the run's zero; its first when absent.
    pub from: Option<u64>,
    /// The second after the last; the run's end when absent.
    pub to: Option<u64>,
    /// At most so many points, 1 to 2000; 300 when absent.
    #[param(minimum = 1, maximum = 2000)]
    pub points: Option<u32>,
}

/// A run's series. Every list has one value for each of `first`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobSeries {
    /// Seconds of a point: 1 when nothing is merged.
    pub step: u64,
    /// First second of each point, from the run's zero.
    pub first: Vec<u64>,
    /// Last second of each point.
    pub last: Vec<u64>,
    /// All types together: completed a second.
    pub total_per_second: Spread,
    /// By transaction type, in the workload's order.
    pub types: Vec<TypeSeries>,
    /// Sessions connected at the end of each point.
    pub connected: Vec<u32>,
    /// Sessions lost.
    pub lost: Vec<u64>,
    /// Sessions made anew.
    pub reconnected: Vec<u64>,
    /// CPU time of the busiest worker thread, of a core.
    pub busiest_thread: Spread,
    /// CPU time of all worker threads, of all the cores they might have used.
    pub client_busy: Spread,
    /// How busy all CPUs of the client's host were; `null` where unknown.
    pub host_busy: Option<Spread>,
    /// Scheduling lag, 99th percentile, µs; `null` where it is not measured.
    pub lag_p99_us: Option<Spread>,
    /// The fastest round trip measured, µs; `null` where there was none.
    pub round_trip_us: Option<Spread>,
}

/// The series of a transaction type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TypeSeries {
    /// Key: `new_order`.
    pub name: String,
    /// Completed (committed or rolled back by rule) a second.
    pub per_second: Spread,
    /// Ended failed or in doubt.
    pub failed: Vec<u64>,
    /// Attempts after the first.
    pub retries: Vec<u64>,
    /// Mean response time of committed ones, µs.
    pub mean_us: Vec<f64>,
    /// Median response time of each second, µs.
    pub p50_us: Spread,
    /// 95th percentile of each second, µs.
    pub p95_us: Spread,
    /// 99th percentile of each second, µs.
    pub p99_us: Spread,
    /// The longest, µs.
    pub max_us: Vec<u64>,
}

/// What a figure was in the seconds of each point: 0 where there was none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Spread {
    /// The least of its seconds.
    pub min: Vec<f64>,
    /// Their mean.
    pub mean: Vec<f64>,
    /// The most of them.
    pub max: Vec<f64>,
}

/// A run's series, merged to at most `points` points of equal length.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/series", tag = "jobs",
    params(("id" = i64, Path, description = "Number of the job"), SeriesParams),
    responses((status = 200, body = JobSeries), (status = 404, body = ApiError)))]
pub async fn series(
    State(app): State<App>,
    Path(id): Path<i64>,
    Params(params): Params<SeriesParams>,
) -> Answer<JobSeries> {
    app.store(move |store| {
        let names = store.load(JobId(id))?.transactions;
        JobSeries::of(store, JobId(id), names, &params)
    })
    .await
    .map(Json)
}

impl JobSeries {
    /// That of a stored run with transaction types of these names.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) fn of(
        store: &Store,
        job: JobId,
        names: Vec<String>,
        params: &SeriesParams,
    ) -> Result<Self, StoreError> {
        let Some(whole) = store.stretch(job)? else { return Ok(Self::default()) };
        let from = params.from.unwrap_or(0).clamp(whole.start, whole.end);
        let to = params.to.unwrap_or(whole.end).clamp(from, whole.end);
        let points = u64::from(params.points.unwrap_or(POINTS).clamp(1, POINTS_MAX));
        let step = (to - from).div_ceil(points).max(1);
        let mut points = Points { from, step, all: Vec::new(), types: names.len() };
        store.each_of_seconds(job, from..to, |row| points.second(&row))?;
        store.each_of_series(job, from..to, |row| points.of_type(&row))?;
        Ok(points.finish(names))
    }
}

/// Points in the making.
struct Points {
    from: u64,
    step: u64,
    types: usize,
    all: Vec<Option<Point>>,
}

#[derive(Clone, Default)]
struct Point {
    first: u64,
    last: u64,
    connected: u32,
    lost: u64,
    reconnected: u64,
    busiest: Seen,
    client: Seen,
    host: Seen,
    lag: Seen,
    round_trip: Seen,
    /// Completed in the second at hand, by all types.
    now: (u64, f64),
    total: Seen,
    types: Vec<PointType>,
}

#[derive(Clone, Default)]
struct PointType {
    per_second: Seen,
    failed: u64,
    retries: u64,
    committed: u64,
    response_ns: u64,
    p50: Seen,
    p95: Seen,
    p99: Seen,
    max: u64,
}

/// Least, sum and most of what was seen.
#[derive(Clone, Copy)]
struct Seen {
    min: f64,
    sum: f64,
    max: f64,
    count: f64,
}

impl Default for Seen {
    fn default() -> Self {
        Self { min: f64::INFINITY, sum: 0.0, max: f64::NEG_INFINITY, count: 0.0 }
    }
}

impl Seen {
    /// `value` held for `seconds`.
    fn see(&mut self, value: f64, seconds: f64) {
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum += value * seconds;
        self.count += seconds;
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
            now: (u64::MAX, 0.0),
            types: vec![PointType::default(); types],
            ..Point::default()
        })
    }

    fn second(&mut self, row: &SecondRow) {
        let seconds = length(row.first, row.last);
        let point = self.at(row.first);
        point.last = row.last;
        point.connected = row.connected;
        point.lost += row.lost;
        point.reconnected += row.reconnected;
        point.busiest.see(row.busiest_share, seconds);
        point.client.see(triphammer_core::stats::share(row.cpu_ns, row.wall_ns), seconds);
        for (seen, value) in [
            (&mut point.host, row.host_share),
            (&mut point.lag, row.lag_p99_us.map(float)),
            (&mut point.round_trip, row.round_trip_us.map(float)),
        ] {
            if let Some(value) = value {
                seen.see(value, seconds);
            }
        }
    }

    fn of_type(&mut self, row: &SeriesRow) {
        let seconds = length(row.first, row.last);
        let rate = float(row.committed + row.rolled_back) / seconds;
        let point = self.at(row.first);
        if point.now.0 == row.first {
            point.now.1 += rate;
        } else {
            point.end_second();
            point.now = (row.first, rate);
        }
        point.last = point.last.max(row.last);
        let Some(it) = point.types.get_mut(row.transaction) else { return };
        it.per_second.see(rate, seconds);
        it.failed += row.failed + row.in_doubt;
        it.retries += row.retries;
        it.committed += row.committed;
        it.response_ns += row.response_ns;
        it.max = it.max.max(row.max_us);
        if row.committed > 0 {
            it.p50.see(float(row.p50_us), seconds);
            it.p95.see(float(row.p95_us), seconds);
            it.p99.see(float(row.p99_us), seconds);
        }
    }

    fn finish(self, names: Vec<String>) -> JobSeries {
        let mut series = JobSeries { step: self.step, ..JobSeries::default() };
        series.types =
            names.into_iter().map(|name| TypeSeries { name, ..TypeSeries::default() }).collect();
        let [mut host, mut lag, mut round_trip] = [const { None }; 3];
        for mut point in self.all.into_iter().flatten() {
            point.end_second();
            let place = series.first.len();
            series.first.push(point.first);
            series.last.push(point.last);
            series.connected.push(point.connected);
            series.lost.push(point.lost);
            series.reconnected.push(point.reconnected);
            series.total_per_second.push(point.total);
            series.busiest_thread.push(point.busiest);
            series.client_busy.push(point.client);
            push_some(&mut host, place, point.host);
            push_some(&mut lag, place, point.lag);
            push_some(&mut round_trip, place, point.round_trip);
            for (it, seen) in series.types.iter_mut().zip(point.types) {
                it.push(&seen);
            }
        }
        JobSeries { host_busy: host, lag_p99_us: lag, round_trip_us: round_trip, ..series }
    }
}

impl Point {
    fn end_second(&mut self) {
        if self.now.0 != u64::MAX {
            self.total.see(self.now.1, 1.0);
            self.now = (u64::MAX, 0.0);
        }
    }
}

impl Spread {
    fn push(&mut self, seen: Seen) {
        let has = seen.count > 0.0;
        let or_0 = |value: f64| if has { short(value) } else { 0.0 };
        self.min.push(or_0(seen.min));
        self.mean.push(or_0(seen.sum / seen.count));
        self.max.push(or_0(seen.max));
    }
}

/// Adds to a series that begins with the first point that has a value; points before it have 0.
fn push_some(spread: &mut Option<Spread>, place: usize, seen: Seen) {
    if spread.is_none() && seen.count > 0.0 {
        let zeros = vec![0.0; place];
        *spread = Some(Spread { min: zeros.clone(), mean: zeros.clone(), max: zeros });
    }
    if let Some(spread) = spread {
        spread.push(seen);
    }
}

impl TypeSeries {
    fn push(&mut self, seen: &PointType) {
        self.per_second.push(seen.per_second);
        self.failed.push(seen.failed);
        self.retries.push(seen.retries);
        let mean =
            if seen.committed == 0 { 0.0 } else { float(seen.response_ns) / float(seen.committed) };
        self.mean_us.push(short(mean / 1e3));
        self.p50_us.push(seen.p50);
        self.p95_us.push(seen.p95);
        self.p99_us.push(seen.p99);
        self.max_us.push(seen.max);
    }
}

/// To five digits and whole ones, which is more than can be drawn: written out it takes a third of the room.
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

fn length(first: u64, last: u64) -> f64 {
    float(last + 1 - first)
}

#[expect(clippy::cast_precision_loss, reason = "figures to draw")]
const fn float(value: u64) -> f64 {
    value as f64
}

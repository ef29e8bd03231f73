//! The document of a matrix: the axes, the primary metric of each combination with its interval, and findings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::session::ServerInfo;
use triphammer_core::spec::RunSpec;
use triphammer_settings::Setting;
use triphammer_settings::command::JobKind;
use triphammer_settings::format::{counted, figure, precise};
use triphammer_settings::target::DELAY;
use triphammer_statistics::Interval;
use triphammer_statistics::compare::Better;
use triphammer_statistics::usl::{self, Point};

use crate::document::{Head, JobDocument, own_ending, whole_head};
use crate::ending::{Ending, Flaw};
use crate::host::Host;
use crate::job_id::JobId;
use crate::parts::{Status, Tool, WorkloadFacts};
use crate::profile::{LevelRun, LevelUnit, PrimaryMetricName, Usl};
use crate::redacted::Redacted;
use crate::repeats;
use crate::result::{Bottleneck, RunResult};

/// Version of the document's format.
pub const MATRIX_FORMAT: u32 = 1;
/// Most combinations that a finding names.
const NAMED_MAX: usize = 4;

/// The result of a matrix, as printed by `triphammer matrix --json` and `triphammer report JOB --format json`. Times
/// have the unit that the field's name ends with; shares are from 0 to 1; values have the unit of `primary_metric`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "The result of a matrix")]
pub struct MatrixResult {
    /// Version of the document's format.
    #[schemars(extend("const" = MATRIX_FORMAT))]
    pub format: u32,
    /// Job number; `None` if it was not stored.
    pub job: Option<i64>,
    /// Kind of document, by the name of its command.
    #[schemars(with = "String", extend("const" = "matrix"))]
    pub kind: JobKind,
    /// The program that wrote the document.
    pub tool: Tool,
    /// Label given by the user; `None` without one.
    pub label: Option<String>,
    /// `complete`, or how the matrix ended if runs are missing.
    pub status: Status,
    /// Whether all runs were made and are good.
    pub ending: Ending,
    /// Start of the first run (its second 0), RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// The primary metric of the runs.
    pub primary_metric: PrimaryMetricName,
    /// Transaction type whose response times are reported; `all` for all types.
    pub times_of: String,
    /// The settings that vary, with their values.
    pub axes: Vec<Axis>,
    /// Combinations with at least one run, the value of the last axis varying fastest.
    pub cells: Vec<Cell>,
    /// Where the virtual users, or streams, vary: the scalability law at each combination of the other settings that has
    /// enough levels.
    pub curves: Vec<MatrixCurve>,
    /// Findings in words, the most important first.
    pub findings: Vec<String>,
    /// Runs that failed.
    pub failed_runs: Vec<FailedCell>,
    /// Relative change of the primary metric from the first to the last block of runs, at the same combinations; `None`
    /// with fewer than two blocks.
    pub drift: Option<f64>,
    /// Order of the runs.
    pub order: MatrixOrder,
    /// Workload and its data, of the first run.
    pub workload: WorkloadFacts,
    /// Spec of the first run; the others differ in the axes and what depends on them.
    pub spec: RunSpec,
    /// Every setting of the first run with its value and the source of the value.
    pub settings: Vec<Setting>,
    /// URL of the first run's target, without secrets.
    pub target: Redacted,
    /// The server that the first run connected to.
    pub server: ServerInfo,
    /// The host of the client.
    pub host: Host,
}

/// A setting that varies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// Name of the setting: `vus`.
    pub name: String,
    /// Its values as they are shown, in the given order; URLs without secrets and without what all have in common.
    pub values: Vec<String>,
}

/// The order of the runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixOrder {
    /// Number of runs per combination.
    pub repeats: u32,
    /// Random seed of the order.
    pub seed: u64,
    /// Combination of each run, from 0, the value of the last axis varying fastest.
    pub steps: Vec<u32>,
    /// The command that ran before each run; `None` for none.
    pub restore: Option<String>,
}

/// A combination of values and its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Its value on each axis.
    pub values: Vec<String>,
    /// Mean of the primary metric over its runs.
    pub mean: f64,
    /// 95 % confidence interval of the mean, by Student's t from the variation of its runs on a logarithmic scale; where
    /// every combination has a single run, that run's own interval from its seconds, which does not include the
    /// variation between runs.
    pub interval: Option<Interval>,
    /// Median of the runs' 95th percentiles of response time, in microseconds.
    pub p95_us: u64,
    /// Median of the runs' 99th percentiles of response time, in microseconds.
    pub p99_us: u64,
    /// Highest share of failures among its runs, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub failure_share: f64,
    /// Median of the runs' times of a round trip, in microseconds; `None` unless the delay of the network varies.
    #[serde(default)]
    pub round_trip_us: Option<u64>,
    /// Most frequent bottleneck of its runs.
    pub bottleneck: Bottleneck,
    /// Its runs, in the order of execution.
    pub runs: Vec<LevelRun>,
}

/// The scalability law over the virtual users, or streams, at a combination of the other settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixCurve {
    /// Name of the axis that has the levels: `vus` or `streams`.
    pub axis: String,
    /// Values of the other axes, in their order.
    pub values: Vec<String>,
    /// The fitted law.
    pub usl: Usl,
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedCell {
    /// Value of the combination on each axis.
    pub values: Vec<String>,
    /// The step that was tried.
    pub step: u32,
    /// Reason in words, for people.
    pub reason: String,
}

/// A run of a combination, on the way into the document.
#[derive(Clone, Debug)]
pub struct MatrixRun {
    /// Number of the combination, the value of the last axis varying fastest.
    pub cell: usize,
    /// Its values.
    pub values: Vec<String>,
    /// The run.
    pub run: LevelRun,
    /// Its time of a round trip, in microseconds; `None` if it was not measured.
    pub round_trip_us: Option<u64>,
}

impl JobDocument for MatrixResult {
    const FORMAT: Option<u32> = Some(MATRIX_FORMAT);

    fn head(&self) -> Head<'_> {
        whole_head!(self)
    }

    own_ending!();

    /// Every requested run must be made and be successful.
    fn flaw(&self) -> Option<Flaw> {
        let mut runs = self.cells.iter().flat_map(|cell| &cell.runs);
        let is_flawed = !self.failed_runs.is_empty() || runs.any(|run| !run.good);
        (self.status == Status::Complete && is_flawed).then_some(Flaw::RunsFailed)
    }

    fn primary_metric(&self) -> Option<(String, f64)> {
        let best = self.primary_metric.best(self.cells.iter().map(|cell| cell.mean))?;
        Some((self.primary_metric.name.clone(), best))
    }
}

impl MatrixResult {
    /// Creates the document of the runs so far: a pure function.
    #[must_use]
    #[expect(clippy::too_many_arguments, reason = "everything that a matrix knows")]
    pub fn new(
        first: &RunResult,
        job: Option<JobId>,
        status: Status,
        axes: Vec<Axis>,
        order: MatrixOrder,
        runs: Vec<MatrixRun>,
        failed_runs: Vec<FailedCell>,
        times_of: Option<usize>,
    ) -> Self {
        let mut cells = Cell::all(runs);
        if axes.iter().all(|axis| axis.name != DELAY) {
            cells.iter_mut().for_each(|cell| cell.round_trip_us = None);
        }
        let of_cell = |cell: &Cell| cell.runs.iter().map(|run| run.value).collect();
        let drift = repeats::drift(&cells.iter().map(of_cell).collect::<Vec<_>>());
        let times_of = times_of.and_then(|at| first.window.types.get(at));
        let mut result = Self {
            format: MATRIX_FORMAT,
            job: job.map(|job| job.0),
            kind: JobKind::Matrix,
            tool: first.tool.clone(),
            label: first.label.clone(),
            status,
            ending: Ending::default(),
            started_at: first.started_at.clone(),
            primary_metric: PrimaryMetricName::of(&first.primary_metric),
            times_of: times_of.map_or("all", |seen| seen.name.as_str()).to_owned(),
            curves: curves(&axes, &cells, first.primary_metric.better),
            axes,
            cells,
            findings: Vec::new(),
            failed_runs,
            drift,
            order,
            workload: first.workload.clone(),
            spec: first.spec.clone(),
            settings: first.settings.clone(),
            target: first.target.clone(),
            server: first.server.clone(),
            host: first.host.clone(),
        };
        result.findings = findings(&result);
        result.judged()
    }

    /// Number of runs of all combinations.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.cells.iter().map(|cell| cell.runs.len()).sum()
    }

    /// The combination with these values; `None` if it has no run.
    #[must_use]
    pub fn cell(&self, values: &[String]) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.values == values)
    }

    /// Combinations of the values of all axes but the last: the rows of a table whose columns are the values of the last.
    #[must_use]
    pub fn table_rows(&self) -> Vec<Vec<String>> {
        let mut rows: Vec<Vec<String>> = vec![Vec::new()];
        for axis in self.axes.iter().take(self.axes.len().saturating_sub(1)) {
            let with = |row: &Vec<String>| -> Vec<Vec<String>> {
                let one = |value: &String| row.iter().cloned().chain([value.clone()]).collect();
                axis.values.iter().map(one).collect()
            };
            rows = rows.iter().flat_map(with).collect();
        }
        rows
    }

    /// Where a value lies between the worst (0) and the best (1) of the matrix; 1 if all are equal.
    #[must_use]
    pub fn warmth(&self, value: f64) -> f64 {
        let means = || self.cells.iter().map(|cell| cell.mean);
        let (low, high) = (means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max));
        let share = if high > low { (value - low) / (high - low) } else { 1.0 };
        match self.primary_metric.better {
            Better::Higher => share,
            Better::Lower if high > low => 1.0 - share,
            Better::Lower => share,
        }
    }

    /// A combination in words: `vus = 8, mode = statements`.
    #[must_use]
    pub fn title(&self, values: &[String]) -> String {
        let named =
            self.axes.iter().zip(values).map(|(axis, value)| format!("{} = {value}", axis.name));
        named.collect::<Vec<_>>().join(", ")
    }

    fn best(&self) -> Option<&Cell> {
        let best = self.primary_metric.best(self.cells.iter().map(|cell| cell.mean))?;
        self.cells.iter().find(|cell| cell.mean.total_cmp(&best).is_eq())
    }
}

impl Cell {
    fn all(mut runs: Vec<MatrixRun>) -> Vec<Self> {
        runs.sort_by_key(|run| (run.cell, run.run.step));
        let by_cell: Vec<&[MatrixRun]> = runs.chunk_by(|a, b| a.cell == b.cell).collect();
        let values: Vec<Vec<f64>> =
            by_cell.iter().map(|runs| runs.iter().map(|of| of.run.value).collect()).collect();
        let intervals = triphammer_statistics::groups::intervals(&values);
        // The interval of a run's own seconds does not have what differs between runs: it must not stand beside those
        // that have it.
        let is_single = by_cell.iter().all(|runs| runs.len() == 1);
        let of = |(runs, interval): (&&[MatrixRun], _)| Self::of(runs, interval, is_single);
        by_cell.iter().zip(intervals).map(of).collect()
    }

    fn of(cell: &[MatrixRun], interval: Option<Interval>, is_single: bool) -> Self {
        let runs: Vec<LevelRun> = cell.iter().map(|of| of.run.clone()).collect();
        Self {
            values: cell[0].values.clone(),
            mean: repeats::mean(&runs),
            interval: interval.or(runs[0].interval.filter(|_| is_single)),
            p95_us: repeats::median(runs.iter().map(|run| run.p95_us)),
            p99_us: repeats::median(runs.iter().map(|run| run.p99_us)),
            failure_share: runs.iter().map(|run| run.failure_share).fold(0.0, f64::max),
            round_trip_us: Some(repeats::median(cell.iter().filter_map(|of| of.round_trip_us)))
                .filter(|us| *us > 0),
            bottleneck: repeats::most(runs.iter().map(|run| run.bottleneck)),
            runs,
        }
    }

    /// Mean with its interval: `12,345 (12,000 to 12,700)`.
    #[must_use]
    pub fn with_interval(&self) -> String {
        match self.interval {
            Some(Interval { low, high }) => {
                format!("{} ({} to {})", figure(self.mean), figure(low), figure(high))
            }
            None => figure(self.mean),
        }
    }
}

/// Fits the scalability law where the levels vary, at each combination of the other settings; throughput only.
fn curves(axes: &[Axis], cells: &[Cell], better: Better) -> Vec<MatrixCurve> {
    let is_level = |axis: &Axis| {
        [LevelUnit::Users, LevelUnit::Streams].iter().any(|unit| unit.setting() == axis.name)
    };
    let Some(at) = axes.iter().position(is_level).filter(|_| better == Better::Higher) else {
        return Vec::new();
    };
    let others = |cell: &Cell| {
        let mut values = cell.values.clone();
        values.remove(at);
        values
    };
    let mut groups: Vec<(Vec<String>, Vec<&Cell>)> = Vec::new();
    for cell in cells {
        match groups.iter_mut().find(|(values, _)| *values == others(cell)) {
            Some((_, group)) => group.push(cell),
            None => groups.push((others(cell), vec![cell])),
        }
    }
    let fit = |(values, group): (Vec<String>, Vec<&Cell>)| {
        let runs = || group.iter().flat_map(|cell| &cell.runs);
        let points: Vec<Point> =
            runs().map(|run| Point { users: run.users, throughput: run.value }).collect();
        let own: Vec<Option<Interval>> = runs().map(|run| run.interval).collect();
        let found = usl::fit_runs(&points, &own).ok()?;
        Some(MatrixCurve { axis: axes[at].name.clone(), values, usl: Usl::of(&found) })
    };
    groups.into_iter().filter_map(fit).collect()
}

/// The findings of a matrix, the most important first.
fn findings(matrix: &MatrixResult) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(best) = matrix.best() {
        found.push(best_of(matrix, best));
    }
    found.extend((0..matrix.axes.len()).filter_map(|axis| effect(matrix, axis)));
    found.extend(bottlenecks(matrix));
    found.extend(repeats::drift_in_words(matrix.drift, "combinations"));
    let runs = || matrix.cells.iter().flat_map(|cell| &cell.runs);
    found.extend(repeats::unsteady(runs()));
    found.extend(repeats::bad_runs(runs()));
    found.extend(matrix.failed_runs.iter().map(|failed| {
        format!("a run with {} failed: {}", matrix.title(&failed.values), failed.reason)
    }));
    found
}

/// The best combination, and those whose intervals it does not leave.
fn best_of(matrix: &MatrixResult, best: &Cell) -> String {
    let name = &matrix.primary_metric.name;
    let text =
        format!("the best {name} is {} with {}", best.with_interval(), matrix.title(&best.values));
    let Some(interval) = best.interval else { return text };
    let near = |cell: &&Cell| {
        let overlaps =
            cell.interval.is_some_and(|own| own.low <= interval.high && interval.low <= own.high);
        cell.values != best.values && overlaps
    };
    let near: Vec<String> =
        matrix.cells.iter().filter(near).map(|cell| matrix.title(&cell.values)).collect();
    match near.len() {
        0 => text,
        count if count <= NAMED_MAX => {
            format!("{text}; not clearly worse, as the intervals overlap: {}", near.join("; "))
        }
        count => format!(
            "{text}; {} are not clearly worse: their intervals overlap",
            counted(count as u64, "other combinations")
        ),
    }
}

/// How much the last value of an axis gives of the first, at every combination of the others that has both.
fn effect(matrix: &MatrixResult, axis: usize) -> Option<String> {
    let Axis { name, values } = &matrix.axes[axis];
    let (first, last) = (values.first()?, values.last().filter(|_| values.len() > 1)?);
    let ratio = |cell: &Cell| {
        let mut other = cell.values.clone();
        other[axis].clone_from(last);
        let other = matrix.cell(&other)?;
        (cell.mean > 0.0).then(|| other.mean / cell.mean)
    };
    let from = matrix.cells.iter().filter(|cell| &cell.values[axis] == first);
    let ratios: Vec<f64> = from.filter_map(ratio).collect();
    let (low, high) = ratios
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(low, high), ratio| (low.min(*ratio), high.max(*ratio)));
    if ratios.is_empty() {
        return None;
    }
    let (low, high) = (format!("{low:.2}"), format!("{high:.2}"));
    let times = if low == high { low } else { format!("{low} to {high}") };
    Some(format!(
        "{name}: {last} gives {times} times as much {} as {first}",
        matrix.primary_metric.name
    ))
}

/// The combinations whose bottleneck was not the database.
fn bottlenecks(matrix: &MatrixResult) -> Option<String> {
    let others = [Bottleneck::Client, Bottleneck::Host, Bottleneck::Network];
    let is_other = |cell: &&Cell| others.contains(&cell.bottleneck);
    let limited: Vec<&Cell> = matrix.cells.iter().filter(is_other).collect();
    if limited.is_empty() {
        return None;
    }
    let count =
        format!("{} of {}", limited.len(), counted(matrix.cells.len() as u64, "combinations"));
    let named: Vec<String> = limited
        .iter()
        .take(NAMED_MAX)
        .map(|cell| format!("{} ({})", matrix.title(&cell.values), cell.bottleneck.label()))
        .collect();
    let more = if limited.len() > NAMED_MAX { "; …" } else { "" };
    Some(format!("not the database alone limited {count}: {}{more}", named.join("; ")))
}

/// Half of a cell's interval as a share of its mean: `3.1 %`; `None` without an interval.
#[must_use]
pub fn half_width(cell: &Cell) -> Option<String> {
    let interval = cell.interval.filter(|_| cell.mean > 0.0)?;
    Some(precise(interval.half_width() / cell.mean))
}

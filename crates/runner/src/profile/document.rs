//! The document that a profile leaves: what `--json` prints, the store keeps and reports render. Its shape
//! is published in `docs/reference/profile-schema.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::session::ServerInfo;
use triphammer_core::spec::RunSpec;
use triphammer_statistics::compare::Better;
use triphammer_statistics::usl::{self, Peak, Point, Scalability, ScalabilityLimit};
use triphammer_statistics::{Estimate, Interval};

use super::findings;
use crate::host::Host;
use crate::measure;
use crate::result::{
    Bottleneck, JobKind, PrimaryMetricFigure, Redacted, RunResult, Setting, Status, Steady, Tool,
    WorkloadFacts,
};
use crate::store::JobId;

/// Version of the document's shape.
pub const PROFILE_FORMAT: u32 = 1;

/// What `triphammer profile --json` and `triphammer report JOB --format json` print: what a profile was and what it
/// measured. Times are in the unit that a name ends with; shares are from 0 to 1; throughput is in the unit of
/// `primary_metric`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "The result of a profile")]
pub struct ProfileResult {
    /// Version of this shape.
    #[schemars(extend("const" = PROFILE_FORMAT))]
    pub format: u32,
    /// Number in the job store; `None` when it was not stored.
    pub job: Option<i64>,
    /// Tells this document from those of other commands.
    #[schemars(with = "String", extend("const" = "profile"))]
    pub kind: JobKind,
    /// The program that made it.
    pub tool: Tool,
    /// What the user called it.
    pub label: Option<String>,
    /// Complete; or interrupted, when steps are missing.
    pub status: Status,
    /// Date and time of the first run's zero, RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// What is measured.
    pub primary_metric: PrimaryMetricName,
    /// The transaction type whose response times are reported; `all` for all of them.
    pub times_of: String,
    /// The levels, ascending, with their runs.
    pub levels: Vec<Level>,
    /// The curve through them; `None` where there is none.
    pub usl: Option<Usl>,
    /// Why there is no curve.
    pub no_curve: Option<String>,
    /// What the levels and the curve say, in words; the most important first.
    pub findings: Vec<String>,
    /// Levels that could not be run.
    pub failed_runs: Vec<FailedLevel>,
    /// Throughput of the last block of runs over that of the first, less 1, level by level; `None` with
    /// fewer than two blocks.
    pub drift: Option<f64>,
    /// In which order the runs were made.
    pub order: Order,
    /// The workload and its data.
    pub workload: WorkloadFacts,
    /// How the first run was driven; the others differ in `users` and what follows from it.
    pub spec: RunSpec,
    /// Every setting of the first run, and where its value came from.
    pub settings: Vec<Setting>,
    /// The target, without secrets.
    pub target: Redacted,
    /// What was at the other end of the first run.
    pub server: ServerInfo,
    /// The host that the client ran on.
    pub host: Host,
}

/// A first figure without a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrimaryMetricName {
    /// `NOPM`.
    pub name: String,
    /// `New-Orders committed per minute`.
    pub meaning: String,
    /// The unit of time: `second`, `minute`, `hour`.
    pub per: String,
    /// Which way is better. Documents of older versions do not say: they have rates only.
    #[serde(default = "measure::higher")]
    pub better: Better,
}

/// The order of the runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Order {
    /// The levels as they were asked for: `1,2,4` or `auto`.
    pub asked: String,
    /// Runs of each level.
    pub repeats: u32,
    /// Seed of the order.
    pub seed: u64,
    /// Virtual users by step, as far as it is known.
    pub steps: Vec<u32>,
}

/// A number of virtual users and its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// Virtual users.
    pub users: u32,
    /// Mean of its runs' first figures.
    pub mean: f64,
    /// 95 % interval of that mean, by Student's t from the scatter of the level's own runs on a
    /// logarithmic scale; of a single run, that run's own interval, from its seconds, which leaves out
    /// what differs from run to run.
    pub interval: Option<Interval>,
    /// Median of the runs' 95th percentiles of response time, in microseconds.
    pub p95_us: u64,
    /// Median of the runs' 99th percentiles.
    pub p99_us: u64,
    /// Greatest share of failures of its runs.
    pub failure_share: f64,
    /// What limited most of its runs.
    pub bottleneck: Bottleneck,
    /// The first figure that the curve gives; `None` without one.
    pub fitted: Option<f64>,
    /// `mean` over `fitted`, less 1.
    pub residual: Option<f64>,
    /// Its runs, in the order in which they were made.
    pub runs: Vec<LevelRun>,
}

/// A run of a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelRun {
    /// Its job; `None` when it was not stored.
    pub job: Option<i64>,
    /// Its place in the order, from 0.
    pub step: u32,
    /// Virtual users.
    pub users: u32,
    /// Date and time of its zero.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// Its first figure.
    pub value: f64,
    /// 95 % interval of that, from its own seconds.
    pub interval: Option<Interval>,
    /// Whether its window was steady; `None` where that does not apply.
    #[serde(default)]
    pub steady: Option<Steady>,
    /// 95th percentile of response time, in microseconds.
    pub p95_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
    /// Share of transactions that failed or are in doubt.
    pub failure_share: f64,
    /// Whether it did what it was to do: failures within the limit, nothing contradicted.
    pub good: bool,
    /// What limited it.
    pub bottleneck: Bottleneck,
}

/// A level that could not be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedLevel {
    /// Virtual users.
    pub users: u32,
    /// The step that was tried.
    pub step: u32,
    /// Why.
    pub reason: String,
}

/// The Universal Scalability Law through all runs: X(N) = λ N / (1 + σ (N - 1) + κ N (N - 1)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usl {
    /// The law with all three parameters.
    pub curve: Curve,
    /// Amdahl's law beside it: κ = 0.
    pub amdahl: Curve,
    /// Chance that κ = 0 explains the runs as well; `None` where it cannot be said.
    pub kappa_p_value: Option<f64>,
    /// Chance of levels as far from the curve if it were the law; `None` where it cannot be said.
    pub misfit_p_value: Option<f64>,
    /// Where throughput is greatest.
    pub peak: Peak,
    /// Share of linear scaling that is kept at `judged_at`.
    pub efficiency: f64,
    /// σ (N - 1) at `judged_at`: time lost to contention, in units of the work itself.
    pub contention_loss: f64,
    /// κ N (N - 1) at `judged_at`.
    pub coherency_loss: f64,
    /// The level that losses are judged at: the peak where it is reached, else the highest level.
    pub judged_at: f64,
    /// What limits there.
    pub limit: ScalabilityLimit,
}

/// A fitted law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Curve {
    /// λ: the first figure of one virtual user.
    pub lambda: Estimate,
    /// σ: contention.
    pub sigma: Estimate,
    /// κ: coherency.
    pub kappa: Estimate,
    /// Share of the variance that the curve explains; `None` where there is none.
    pub r_squared: Option<f64>,
    /// Root mean square of the residuals, as a share of the fitted figure.
    pub residual: f64,
}

impl PrimaryMetricName {
    /// Of a run's.
    #[must_use]
    pub fn of(figure: &PrimaryMetricFigure) -> Self {
        Self {
            name: figure.name.clone(),
            meaning: figure.meaning.clone(),
            per: figure.per.clone(),
            better: figure.better,
        }
    }

    /// Whether values of the two compare: both have one name and one unit of time, and go one way.
    #[must_use]
    pub fn compares_with(&self, other: &Self) -> bool {
        let of = |named: &Self| (named.name.clone(), named.per.clone(), named.better);
        of(self) == of(other)
    }

    /// The best of several values; `None` of none.
    #[must_use]
    pub fn best(&self, values: impl Iterator<Item = f64>) -> Option<f64> {
        values.reduce(match self.better {
            Better::Higher => f64::max,
            Better::Lower => f64::min,
        })
    }

    /// Whether the later of two values is the worse one.
    #[must_use]
    pub fn is_worse(&self, before: f64, after: f64) -> bool {
        match self.better {
            Better::Higher => after < before,
            Better::Lower => after > before,
        }
    }
}

impl Curve {
    fn of(fit: &usl::Fit) -> Self {
        let usl::Fit { lambda, sigma, kappa, r_squared, residual, .. } = *fit;
        Self { lambda, sigma, kappa, r_squared, residual }
    }

    /// The first figure that the law gives for a number of virtual users.
    #[must_use]
    pub fn at(&self, users: f64) -> f64 {
        let others = users - 1.0;
        let cost = 1.0 + self.sigma.value * others + self.kappa.value * users * others;
        self.lambda.value * users / cost
    }
}

impl Usl {
    fn of(found: &Scalability) -> Self {
        Self {
            curve: Curve::of(&found.usl),
            amdahl: Curve::of(&found.amdahl),
            kappa_p_value: found.kappa_p_value,
            misfit_p_value: found.misfit_p_value,
            peak: found.peak,
            efficiency: found.efficiency,
            contention_loss: found.contention_loss,
            coherency_loss: found.coherency_loss,
            judged_at: found.judged_at,
            limit: found.limit,
        }
    }
}

impl LevelRun {
    /// Of a run's result; times of this transaction type, or of all.
    #[must_use]
    pub fn of(step: u32, result: &RunResult, times_of: Option<usize>) -> Self {
        let window = &result.window;
        let seen = times_of.and_then(|at| window.types.get(at)).unwrap_or(&window.total);
        let steadiness = result.steadiness.as_ref();
        Self {
            job: result.job,
            step,
            users: result.spec.users,
            started_at: result.started_at.clone(),
            value: result.primary_metric.value,
            interval: steadiness.and_then(|steadiness| steadiness.interval),
            steady: steadiness.map(|steadiness| steadiness.verdict),
            p95_us: seen.response.p95_us,
            p99_us: seen.response.p99_us,
            failure_share: result.failures.share,
            good: result.is_good(),
            bottleneck: result.bottleneck.kind,
        }
    }
}

impl ProfileResult {
    /// Name and value of the first figure, for lists; `None` where nothing was found.
    #[must_use]
    pub fn first_figure(&self) -> Option<(String, f64)> {
        let best = self.primary_metric.best(self.levels.iter().map(|level| level.mean))?;
        Some((self.primary_metric.name.clone(), best))
    }

    /// The document of the runs made so far: a function of its arguments and of nothing else.
    #[must_use]
    pub fn new(
        first: &RunResult,
        job: Option<JobId>,
        status: Status,
        order: Order,
        runs: Vec<LevelRun>,
        failed_runs: Vec<FailedLevel>,
        times_of: Option<usize>,
    ) -> Self {
        let points: Vec<Point> =
            runs.iter().map(|run| Point { users: run.users, throughput: run.value }).collect();
        let drift = findings::drift(&runs);
        let primary_metric = PrimaryMetricName::of(&first.primary_metric);
        let (usl, no_curve) = match (primary_metric.better, usl::fit(&points)) {
            (Better::Lower, _) => (None, Some(no_law(&primary_metric))),
            (Better::Higher, Ok(found)) => (Some(Usl::of(&found)), None),
            (Better::Higher, Err(error)) => (None, Some(error.to_string())),
        };
        let levels = Level::all(runs, usl.as_ref().map(|usl| &usl.curve));
        let times_of = times_of.and_then(|at| first.window.types.get(at));
        let mut result = Self {
            format: PROFILE_FORMAT,
            job: job.map(|job| job.0),
            kind: JobKind::Profile,
            tool: first.tool.clone(),
            label: first.label.clone(),
            status,
            started_at: first.started_at.clone(),
            primary_metric,
            times_of: times_of.map_or("all", |seen| seen.name.as_str()).to_owned(),
            levels,
            usl,
            no_curve,
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
        result.findings = findings::of(&result);
        result
    }

    /// Runs that are in it.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.levels.iter().map(|level| level.runs.len()).sum()
    }

    /// Whether every run that was asked for was made and did what it was to do.
    #[must_use]
    pub fn is_good(&self) -> bool {
        let runs = self.levels.iter().flat_map(|level| &level.runs);
        self.status == Status::Complete
            && self.failed_runs.is_empty()
            && runs.clone().all(|r| r.good)
    }
}

impl Level {
    fn all(mut runs: Vec<LevelRun>, curve: Option<&Curve>) -> Vec<Self> {
        runs.sort_by_key(|run| (run.users, run.step));
        let by_level: Vec<&[LevelRun]> = runs.chunk_by(|a, b| a.users == b.users).collect();
        let values: Vec<Vec<f64>> =
            by_level.iter().map(|runs| runs.iter().map(|run| run.value).collect()).collect();
        let intervals = triphammer_statistics::groups::intervals(&values);
        by_level.iter().zip(intervals).map(|(runs, i)| Self::of(runs, i, curve)).collect()
    }

    fn of(runs: &[LevelRun], interval: Option<Interval>, curve: Option<&Curve>) -> Self {
        let users = runs[0].users;
        #[expect(clippy::cast_precision_loss, reason = "a few runs")]
        let mean = runs.iter().map(|run| run.value).sum::<f64>() / runs.len() as f64;
        let fitted = curve.map(|curve| curve.at(f64::from(users)));
        Self {
            users,
            mean,
            interval: interval.or(runs[0].interval.filter(|_| runs.len() == 1)),
            p95_us: median(runs.iter().map(|run| run.p95_us)),
            p99_us: median(runs.iter().map(|run| run.p99_us)),
            failure_share: runs.iter().map(|run| run.failure_share).fold(0.0, f64::max),
            bottleneck: most(runs.iter().map(|run| run.bottleneck)),
            fitted,
            residual: fitted.filter(|fitted| *fitted > 0.0).map(|fitted| mean / fitted - 1.0),
            runs: runs.to_vec(),
        }
    }
}

/// The law is about throughput.
fn no_law(primary_metric: &PrimaryMetricName) -> String {
    format!("no curve of {}: the scalability law describes throughput only", primary_metric.name)
}

/// The lower median.
fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// What occurs most often; of several the one that comes first in [`Bottleneck::ALL`].
fn most(kinds: impl Iterator<Item = Bottleneck> + Clone) -> Bottleneck {
    let count = |limit: Bottleneck| kinds.clone().filter(|kind| *kind == limit).count();
    let best = Bottleneck::ALL.into_iter().rev().max_by_key(|limit| count(*limit));
    best.unwrap_or(Bottleneck::Undecided)
}

//! The result document of a profile: printed by `--json`, stored, and rendered by reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::session::ServerInfo;
use triphammer_core::spec::RunSpec;
use triphammer_settings::Setting;
use triphammer_settings::command::JobKind;
use triphammer_statistics::compare::Better;
use triphammer_statistics::usl::{self, Peak, Point, Scalability, ScalabilityLimit};
use triphammer_statistics::{Estimate, Interval};

use super::findings;
use super::level_unit::LevelUnit;
use crate::document::{Head, JobDocument, own_ending, whole_head};
use crate::ending::{Ending, Flaw};
use crate::host::Host;
use crate::job_id::JobId;
use crate::judgement::{NOTHING_REQUIRED, REQUIRE};
use crate::parts::{Status, Tool, WorkloadFacts};
use crate::price::{self, CheapestLevel, PriceList, ProfilePrice};
use crate::redacted::Redacted;
use crate::repeats::{self, LevelRun};
use crate::result::{Bottleneck, PrimaryMetricFigure, RunResult};

/// Version of the document's format.
pub const PROFILE_FORMAT: u32 = 1;

/// The result of a profile, as printed by `triphammer profile --json` and `triphammer report JOB
/// --format json`. Times have the unit that the field's name ends with; shares are from 0 to 1;
/// throughput has the unit of `primary_metric`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "The result of a profile")]
pub struct ProfileResult {
    /// Version of the document's format.
    #[schemars(extend("const" = PROFILE_FORMAT))]
    pub format: u32,
    /// Job number; `None` if it was not stored.
    pub job: Option<i64>,
    /// Kind of document, by the name of its command.
    #[schemars(with = "String", extend("const" = "profile"))]
    pub kind: JobKind,
    /// The program that wrote the document.
    pub tool: Tool,
    /// Label given by the user; `None` without one.
    pub label: Option<String>,
    /// `complete`, or how the profile ended if runs are missing.
    pub status: Status,
    /// Whether all runs were made and are good.
    pub ending: Ending,
    /// Start of the first run (its second 0), RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// The primary metric of the runs.
    pub primary_metric: PrimaryMetricName,
    /// What the levels count: `virtual users`, or `streams` of queries, which have no response
    /// times.
    pub level_unit: String,
    /// Transaction type whose response times are reported; `all` for all types.
    pub times_of: String,
    /// Levels with their runs, ascending.
    pub levels: Vec<Level>,
    /// The fitted curve; `None` if there is none.
    pub usl: Option<Usl>,
    /// Why there is no curve; `None` if there is one.
    pub no_curve: Option<String>,
    /// Findings in words, the most important first.
    pub findings: Vec<String>,
    /// Levels whose runs failed.
    pub failed_runs: Vec<FailedLevel>,
    /// Relative change of throughput from the first to the last block of runs, at the same levels;
    /// `None` with fewer than two blocks.
    pub drift: Option<f64>,
    /// What the levels cost; `None` without `--price`.
    #[serde(default)]
    pub price: Option<ProfilePrice>,
    /// Order of the runs.
    pub order: Order,
    /// Workload and its data.
    pub workload: WorkloadFacts,
    /// Spec of the first run; the others differ in `users` and what depends on it.
    pub spec: RunSpec,
    /// Every setting of the first run with its value and the source of the value.
    pub settings: Vec<Setting>,
    /// URL of the target, without secrets.
    pub target: Redacted,
    /// The server that the first run connected to.
    pub server: ServerInfo,
    /// The host of the client.
    pub host: Host,
}

/// A primary metric without a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrimaryMetricName {
    /// Name of the primary metric: `NOPM`.
    pub name: String,
    /// Description: `New-Orders committed per minute`.
    pub meaning: String,
    /// Unit of time: `second`, `minute`, `hour`.
    pub per: String,
    /// Direction of improvement.
    pub better: Better,
}

/// The order of the runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Order {
    /// Requested levels: `1,2,4` or `auto`.
    pub asked: String,
    /// Number of runs per level.
    pub repeats: u32,
    /// Random seed of the order.
    pub seed: u64,
    /// Number of virtual users, or streams, of each run, in the order known so far.
    pub steps: Vec<u32>,
}

/// A level: a number of virtual users, or streams, and its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Level {
    /// Number of virtual users, or streams.
    pub users: u32,
    /// Mean of the primary metric over its runs.
    pub mean: f64,
    /// 95 % confidence interval of the mean, by Student's t from the variation of the level's runs
    /// on a logarithmic scale; for a single run, that run's own interval from its seconds, which
    /// does not include the variation between runs.
    pub interval: Option<Interval>,
    /// Median of the runs' 95th percentiles of response time, in microseconds.
    pub p95_us: u64,
    /// Median of the runs' 99th percentiles of response time, in microseconds.
    pub p99_us: u64,
    /// Highest share of failures among its runs, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub failure_share: f64,
    /// Most frequent bottleneck of its runs.
    pub bottleneck: Bottleneck,
    /// Costs per million of what the primary metric counts, at the mean rate of the level; `None`
    /// without a price list.
    #[serde(default)]
    pub per_million: Option<Estimate>,
    /// Energy of the database's host per transaction that the primary metric counts, in joules: mean
    /// over the runs; `None` if a run did not measure it.
    #[serde(default)]
    pub joules_per_transaction: Option<f64>,
    /// Primary metric predicted by the curve; `None` without a curve.
    pub fitted: Option<f64>,
    /// Relative deviation of `mean` from `fitted`.
    pub residual: Option<f64>,
    /// Runs of this level, in the order of execution.
    pub runs: Vec<LevelRun>,
}

/// A level whose run failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedLevel {
    /// Number of virtual users.
    pub users: u32,
    /// The step that was tried.
    pub step: u32,
    /// Reason in words, for people.
    pub reason: String,
}

/// The Universal Scalability Law fitted to all runs: X(N) = λ N / (1 + σ (N - 1) + κ N (N - 1)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usl {
    /// The law with all three parameters.
    pub curve: Curve,
    /// Amdahl's law for comparison: κ = 0.
    pub amdahl: Curve,
    /// P value of the hypothesis κ = 0; `None` if it cannot be computed.
    pub kappa_p_value: Option<f64>,
    /// P value of the levels' deviation from the curve; `None` if it cannot be computed.
    pub misfit_p_value: Option<f64>,
    /// The peak of the throughput.
    pub peak: Peak,
    /// Share of linear scaling that remains at `judged_at`, from 0 to 1.
    pub efficiency: f64,
    /// σ (N - 1) at `judged_at`: time lost to contention, in units of the work itself.
    pub contention_loss: f64,
    /// κ N (N - 1) at `judged_at`.
    pub coherency_loss: f64,
    /// The level at which losses are computed: the peak or the best level if throughput declines
    /// beyond it, otherwise the highest level.
    pub judged_at: f64,
    /// What limits scaling at `judged_at`.
    pub limit: ScalabilityLimit,
}

/// Parameters of a fitted law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Curve {
    /// λ: primary metric of one virtual user.
    pub lambda: Estimate,
    /// σ: contention, from 0 to 1.
    pub sigma: Estimate,
    /// κ: coherency, 0 or more.
    pub kappa: Estimate,
    /// R²: share of the variance explained by the curve; `None` if there is no variance.
    pub r_squared: Option<f64>,
    /// Root mean square of the residuals, relative to the fitted value.
    pub residual: f64,
}

impl PrimaryMetricName {
    /// Creates it from the primary metric of a run.
    #[must_use]
    pub fn of(figure: &PrimaryMetricFigure) -> Self {
        Self {
            name: figure.name.clone(),
            meaning: figure.meaning.clone(),
            per: figure.per.clone(),
            better: figure.better,
        }
    }

    /// Whether values of both are comparable: same name, unit of time and direction.
    #[must_use]
    pub fn compares_with(&self, other: &Self) -> bool {
        let of = |named: &Self| (named.name.clone(), named.per.clone(), named.better);
        of(self) == of(other)
    }

    /// The best of several values; `None` if there are none.
    #[must_use]
    pub fn best(&self, values: impl Iterator<Item = f64>) -> Option<f64> {
        values.reduce(match self.better {
            Better::Higher => f64::max,
            Better::Lower => f64::min,
        })
    }

    /// Whether the later of two values is worse.
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

    /// Primary metric predicted by the law for a number of virtual users.
    #[must_use]
    pub fn at(&self, users: f64) -> f64 {
        let others = users - 1.0;
        let cost = 1.0 + self.sigma.value * others + self.kappa.value * users * others;
        self.lambda.value * users / cost
    }
}

impl Usl {
    pub(crate) fn of(found: &Scalability) -> Self {
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

impl JobDocument for ProfileResult {
    const FORMAT: Option<u32> = Some(PROFILE_FORMAT);

    fn head(&self) -> Head<'_> {
        whole_head!(self)
    }

    own_ending!();

    /// Every requested run must be made and be successful.
    fn flaw(&self) -> Option<Flaw> {
        let mut runs = self.levels.iter().flat_map(|level| &level.runs);
        let is_flawed = !self.failed_runs.is_empty() || runs.any(|run| !run.good);
        (self.status == Status::Complete && is_flawed).then_some(Flaw::RunsFailed)
    }

    fn priced_by(self, list: &PriceList) -> Option<Self> {
        Some(self.priced(list))
    }

    fn primary_metric(&self) -> Option<(String, f64)> {
        let best = self.primary_metric.best(self.levels.iter().map(|level| level.mean))?;
        Some((self.primary_metric.name.clone(), best))
    }
}

impl ProfileResult {
    /// Creates the document of the runs so far: a pure function.
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
        let primary_metric = PrimaryMetricName::of(&first.primary_metric);
        let own: Vec<Option<Interval>> = runs.iter().map(|run| run.interval).collect();
        let (usl, no_curve) = match (primary_metric.better, usl::fit_runs(&points, &own)) {
            (Better::Lower, _) => (None, Some(no_law(&primary_metric))),
            (Better::Higher, Ok(found)) => (Some(Usl::of(&found)), None),
            (Better::Higher, Err(error)) => (None, Some(error.to_string())),
        };
        let levels = Level::all(runs, usl.as_ref().map(|usl| &usl.curve));
        let of_level = |level: &Level| level.runs.iter().map(|run| run.value).collect();
        let drift = repeats::drift(&levels.iter().map(of_level).collect::<Vec<_>>());
        let times_of = times_of.and_then(|at| first.window.types.get(at));
        let mut result = Self {
            format: PROFILE_FORMAT,
            job: job.map(|job| job.0),
            kind: JobKind::Profile,
            tool: first.tool.clone(),
            label: first.label.clone(),
            status,
            ending: Ending::default(),
            started_at: first.started_at.clone(),
            primary_metric,
            level_unit: match &first.queries {
                Some(_) => LevelUnit::Streams.words().to_owned(),
                None => LevelUnit::Users.words().to_owned(),
            },
            times_of: times_of.map_or("all", |seen| seen.name.as_str()).to_owned(),
            levels,
            usl,
            no_curve,
            findings: Vec::new(),
            failed_runs,
            drift,
            price: None,
            order,
            workload: first.workload.clone(),
            spec: first.spec.clone(),
            settings: first.settings.clone(),
            target: first.target.clone(),
            server: first.server.clone(),
            host: first.host.clone(),
        };
        if let Some(price) = &first.price {
            return result.priced(&price.list);
        }
        result.findings = findings::of(&result);
        result.judged()
    }

    /// The same profile by this price list.
    #[must_use]
    pub fn priced(mut self, list: &PriceList) -> Self {
        for level in &mut self.levels {
            level.per_million = level.costs(list);
        }
        let required = self.settings.iter().find(|setting| setting.name == REQUIRE);
        let required = required.map(|setting| setting.value.clone());
        let keeps = |run: &LevelRun| run.good && run.requirements_kept != Some(false);
        let kept = self.levels.iter().filter(|level| level.runs.iter().all(keeps));
        let costs = kept.filter_map(|level| Some((level.users, level.per_million?)));
        let costs: Vec<(u32, Estimate)> = costs.collect();
        let cheapest = costs.iter().min_by(|a, b| a.1.value.total_cmp(&b.1.value)).copied();
        let alike = |of: u32, least: &Estimate| {
            let overlaps = |other: &Estimate| {
                least.interval.zip(other.interval).is_some_and(|(a, b)| b.low <= a.high)
            };
            let others = costs.iter().filter(|(users, cost)| *users != of && overlaps(cost));
            others.map(|(users, _)| *users).collect()
        };
        let metric = &self.primary_metric;
        self.price = Some(ProfilePrice {
            per_year: list.per_year(),
            counted: price::counted(&metric.meaning, &metric.per),
            cheapest: cheapest.map(|(users, per_million)| CheapestLevel {
                users,
                per_million,
                alike: alike(users, &per_million),
                required: required.filter(|text| text != NOTHING_REQUIRED),
            }),
            list: list.clone(),
        });
        self.findings = findings::of(&self);
        self.judged()
    }

    /// Formats a number of virtual users or streams: `1 stream`, `8 virtual users`.
    #[must_use]
    pub(crate) fn level(&self, number: &str) -> String {
        let unit = self.level_unit.as_str();
        format!("{number} {}", if number == "1" { unit.trim_end_matches('s') } else { unit })
    }

    /// Whether the levels are streams of queries.
    #[must_use]
    pub fn is_of_streams(&self) -> bool {
        self.level_unit == LevelUnit::Streams.words()
    }

    /// Number of runs of all levels.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.levels.iter().map(|level| level.runs.len()).sum()
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
        let mean = repeats::mean(runs);
        let fitted = curve.map(|curve| curve.at(f64::from(users)));
        Self {
            users,
            mean,
            interval: interval.or(runs[0].interval.filter(|_| runs.len() == 1)),
            p95_us: repeats::median(runs.iter().map(|run| run.p95_us)),
            p99_us: repeats::median(runs.iter().map(|run| run.p99_us)),
            failure_share: runs.iter().map(|run| run.failure_share).fold(0.0, f64::max),
            bottleneck: repeats::most(runs.iter().map(|run| run.bottleneck)),
            per_million: None,
            joules_per_transaction: repeats::joules(runs),
            fitted,
            residual: fitted.filter(|fitted| *fitted > 0.0).map(|fitted| mean / fitted - 1.0),
            runs: runs.to_vec(),
        }
    }
}

impl Level {
    /// Costs per million of what the primary metric counts at the mean rate of the level, with the
    /// interval of its mean; `None` if the rate is not known.
    fn costs(&self, list: &PriceList) -> Option<Estimate> {
        let per_second = repeats::mean_rate(&self.runs);
        let scale = per_second / self.mean;
        let interval = self.interval.filter(|_| scale.is_finite() && scale > 0.0);
        let interval = interval
            .map(|interval| Interval { low: interval.low * scale, high: interval.high * scale });
        list.per_million(per_second, interval)
    }
}

/// The law applies to throughput only.
fn no_law(primary_metric: &PrimaryMetricName) -> String {
    format!("no curve for {}: the scalability law applies to throughput only", primary_metric.name)
}

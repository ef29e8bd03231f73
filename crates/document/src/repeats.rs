//! What several runs with equal settings say together: the runs of a level of a profile, or of a combination of a
//! matrix.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_settings::format::precise;
use triphammer_statistics::Interval;

use crate::result::{Bottleneck, RunResult, Steady};

/// Minimum difference between the first and the last block to report.
const DRIFT_TOLD: f64 = 0.03;

/// A run of a level, or of a combination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelRun {
    /// Number of its job; `None` if it was not stored.
    pub job: Option<i64>,
    /// Position in the order, from 0.
    pub step: u32,
    /// Number of virtual users, or streams.
    pub users: u32,
    /// Start of the run (its second 0), RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// Value of the primary metric.
    pub value: f64,
    /// 95 % interval of that, from its own seconds.
    pub interval: Option<Interval>,
    /// Whether its window was steady; `None` where that does not apply.
    pub steady: Option<Steady>,
    /// 95th percentile of response time, in microseconds.
    pub p95_us: u64,
    /// 99th percentile of response time, in microseconds.
    pub p99_us: u64,
    /// Share of transactions that failed or are in doubt.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub failure_share: f64,
    /// Whether the run was successful: failures within the limit and no count contradicted.
    pub good: bool,
    /// Whether it kept all requirements (`--require`); `None` without any.
    #[serde(default)]
    pub requirements_kept: Option<bool>,
    /// The bottleneck of the run.
    pub bottleneck: Bottleneck,
    /// Number of transactions that the primary metric counts, per second of the timed window; 0 in
    /// older results.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    pub per_second: f64,
    /// Energy of the database's host per such transaction, in joules; `None` if it was not measured.
    #[serde(default)]
    pub joules_per_transaction: Option<f64>,
}

impl LevelRun {
    /// Creates it from a run's result, with the times of this transaction type, or of all.
    #[must_use]
    pub fn of(step: u32, result: &RunResult, times_of: Option<usize>) -> Self {
        let window = &result.window;
        let seen = times_of.and_then(|at| window.types.get(at)).unwrap_or(&window.total);
        let steadiness = result.steadiness.as_ref();
        Self {
            job: result.job,
            step,
            users: result.queries.as_ref().map_or(result.spec.users, |set| set.streams),
            started_at: result.started_at.clone(),
            value: result.primary_metric.value,
            interval: steadiness.and_then(|steadiness| steadiness.interval),
            steady: steadiness.map(|steadiness| steadiness.verdict),
            p95_us: seen.response.p95_us,
            p99_us: seen.response.p99_us,
            failure_share: result.failures.share,
            good: result.is_good_beside_requirements(),
            requirements_kept: kept(result),
            bottleneck: result.bottleneck.kind,
            per_second: result.measured_rate().per_second,
            joules_per_transaction: result.joules_per_transaction(),
        }
    }
}

/// Whether a run kept all its requirements; `None` without any.
fn kept(result: &RunResult) -> Option<bool> {
    let required = &result.requirements;
    (!required.is_empty()).then(|| required.iter().all(|judged| judged.passed))
}

/// Mean of the primary metric of several runs.
pub(crate) fn mean(runs: &[LevelRun]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a few runs")]
    let count = runs.len() as f64;
    runs.iter().map(|run| run.value).sum::<f64>() / count
}

/// Mean number of transactions per second that the primary metric counts.
#[expect(clippy::cast_precision_loss, reason = "a few runs")]
pub(crate) fn mean_rate(runs: &[LevelRun]) -> f64 {
    runs.iter().map(|run| run.per_second).sum::<f64>() / runs.len() as f64
}

/// Mean energy per transaction, in joules; `None` if a run did not measure it.
#[expect(clippy::cast_precision_loss, reason = "a few runs")]
pub(crate) fn joules(runs: &[LevelRun]) -> Option<f64> {
    let sum: Option<f64> = runs.iter().map(|run| run.joules_per_transaction).sum();
    Some(sum? / runs.len() as f64)
}

/// Returns the lower median; 0 if there are no values.
pub(crate) fn median(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// The most frequent one; among several, the first in [`Bottleneck::ALL`].
pub(crate) fn most(kinds: impl Iterator<Item = Bottleneck> + Clone) -> Bottleneck {
    let count = |limit: Bottleneck| kinds.clone().filter(|kind| *kind == limit).count();
    let best = Bottleneck::ALL.into_iter().rev().max_by_key(|limit| count(*limit));
    best.unwrap_or(Bottleneck::Undecided)
}

/// Relative change of the figure from the first to the last run of each group, on geometric average; `None` if no group
/// has two runs.
pub(crate) fn drift(groups: &[Vec<f64>]) -> Option<f64> {
    let ratio = |values: &Vec<f64>| match values.as_slice() {
        [first, .., last] if *first > 0.0 => Some((last / first).ln()),
        _ => None,
    };
    let ratios: Vec<f64> =
        groups.iter().filter_map(ratio).filter(|ratio| ratio.is_finite()).collect();
    #[expect(clippy::cast_precision_loss, reason = "a few groups")]
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    (!ratios.is_empty()).then(|| mean.exp_m1())
}

/// Reports a drift that matters; `of` are the groups: `levels`.
pub(crate) fn drift_in_words(drift: Option<f64>, of: &str) -> Option<String> {
    let drift = drift.filter(|drift| drift.abs() >= DRIFT_TOLD)?;
    let way = if drift < 0.0 { "less" } else { "more" };
    Some(format!(
        "the last repeats gave {} {way} than the first: something changed over time, such as the \
         size of the data; it affects all {of} alike, but rebuild the data for exact figures",
        precise(drift.abs())
    ))
}

/// Reports runs that drifted in their window.
pub(crate) fn unsteady<'r>(runs: impl Iterator<Item = &'r LevelRun>) -> Option<String> {
    let (mut drifting, mut all) = (0, 0);
    for run in runs {
        all += 1;
        drifting += u32::from(run.steady == Some(Steady::Drifting));
    }
    (drifting > 0).then(|| {
        format!(
            "{drifting} of {all} runs drifted in their window; `triphammer report` of one of them \
             shows how"
        )
    })
}

/// Names the runs that were not successful.
pub(crate) fn bad_runs<'r>(runs: impl Iterator<Item = &'r LevelRun>) -> Option<String> {
    let name = |run: &LevelRun| {
        run.job.map_or_else(|| format!("step {}", run.step), |job| format!("job {job}"))
    };
    let bad: Vec<String> = runs.filter(|run| !run.good).map(name).collect();
    (!bad.is_empty())
        .then(|| format!("not all runs were successful; see the reports of {}", bad.join(", ")))
}

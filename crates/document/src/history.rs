//! The document of a history: runs in chronological order, and the changes of their primary metric.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_settings::format::{self, counted};
use triphammer_statistics::change_point::{
    ChangePoint, RATIOS_MIN, RESULTS_MIN, SequenceFindings, change_points, change_points_of_ratios,
    results_missing,
};
use triphammer_statistics::{Estimate, Interval};

use crate::compare::Difference;
use crate::execution_plan::fingerprint_of_all;
use crate::parts::{Tool, WorkloadFacts};
use crate::price::{Price, PriceList};
use crate::profile::PrimaryMetricName;
use crate::redacted::Redacted;
use crate::result::{RunResult, Warning};

/// Version of the document's format.
pub const HISTORY_FORMAT: u32 = 1;

/// Seed of the permutation tests: the same runs give the same changes.
const SEED: u64 = 1;

/// The result of a history, as printed by `triphammer history --json`: runs in chronological order,
/// and the changes of their primary metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A history")]
pub struct HistoryResult {
    /// Version of the document's format.
    #[schemars(extend("const" = HISTORY_FORMAT))]
    pub format: u32,
    /// Kind of document, by the name of its command.
    #[schemars(with = "String", extend("const" = "history"))]
    pub kind: String,
    /// The program that wrote the document.
    pub tool: Tool,
    /// The requested label; `None` if none was given.
    pub label: Option<String>,
    /// Label of the control: changes are then those of the ratios to its runs; `None` without one.
    pub control: Option<String>,
    /// By how much the primary metric drifts steadily from run to run; changes are those beside it.
    /// `None` if it does not.
    pub drift: Option<f64>,
    /// Workload and its data, from the newest run.
    pub workload: WorkloadFacts,
    /// The primary metric of the runs.
    pub primary_metric: PrimaryMetricName,
    /// The price list of `per_million`; `None` without `--price`.
    #[serde(default)]
    pub price: Option<PriceList>,
    /// Findings in words.
    pub words: String,
    /// The runs, the oldest first.
    pub runs: Vec<HistoryRun>,
    /// Changes of the primary metric, in the same order.
    pub changes: Vec<Change>,
    /// Warnings to read before using the result.
    pub warnings: Vec<Warning>,
}

/// A run of a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryRun {
    /// Number in the job store.
    pub job: i64,
    /// Start of the run (its second 0), RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// Value of the primary metric.
    pub value: f64,
    /// 95 % confidence interval of the value, from the run's own seconds; `None` if there is none.
    pub interval: Option<Interval>,
    /// Whether the run was successful.
    pub good: bool,
    /// URL of the target, without secrets.
    pub target: Redacted,
    /// Product and version of the server.
    pub server: String,
    /// Version of the program that ran it.
    pub tool_version: String,
    /// Fingerprint of the execution plans of all its queries; `None` if none are stored.
    pub plans: Option<String>,
    /// The adjacent run of the control; `None` without a control.
    pub control: Option<ControlRun>,
    /// Costs per million of what the primary metric counts, by the price list; `None` without one.
    #[serde(default)]
    pub per_million: Option<Estimate>,
    /// Energy of the database's host per transaction that the primary metric counts, in joules;
    /// `None` if it was not measured.
    #[serde(default)]
    pub joules_per_transaction: Option<f64>,
}

/// A run of the control beside a run of a history.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ControlRun {
    /// Number in the job store.
    pub job: i64,
    /// Value of the primary metric.
    pub value: f64,
    /// Value of the followed run over this one.
    pub ratio: f64,
}

/// A change of the primary metric.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Index in `runs` of the first run after the change.
    pub at: usize,
    /// Job number of that run.
    pub job: i64,
    /// Whether the change is for the worse.
    pub slower: bool,
    /// Mean since the previous change, or since the start; of the ratios if there is a control.
    pub before: f64,
    /// Mean until the next change, or until the end, likewise.
    pub after: f64,
    /// Ratio of `after` to `before`; `None` if `before` is 0.
    pub ratio: Option<f64>,
    /// 95 % confidence interval of the ratio; somewhat too narrow, because the position was chosen
    /// from the same runs.
    pub interval: Option<Interval>,
    /// 1 minus the probability of such a change by chance: from noise, or from a host that
    /// alternates between two speeds.
    pub confidence: f64,
    /// Differences between the last run before it (A) and the first run after it (B).
    pub differences: Vec<Difference>,
}

impl HistoryResult {
    /// Computes the history of runs, oldest first; `None` if there are none. A pure function; the
    /// differences at the changes are added later.
    #[must_use]
    pub fn new(label: Option<String>, results: &[RunResult]) -> Option<Self> {
        let values: Vec<f64> = results.iter().map(|result| result.primary_metric.value).collect();
        let runs = results.iter().map(HistoryRun::of).collect();
        let found = change_points(&values, SEED);
        Some(Self::of(label, results.last()?, runs, &found))
    }

    /// The same with a control: the changes of the ratios of the runs to those of the control
    /// beside them, each at the same place. `missing` is the number of runs without one.
    #[must_use]
    pub fn with_control(
        label: Option<String>,
        control: &str,
        results: &[RunResult],
        beside: &[RunResult],
        missing: usize,
    ) -> Option<Self> {
        let of = |(result, control): (&RunResult, &RunResult)| ControlRun {
            job: control.job.unwrap_or_default(),
            value: control.primary_metric.value,
            ratio: result.primary_metric.value / control.primary_metric.value,
        };
        let controls: Vec<ControlRun> = results.iter().zip(beside).map(of).collect();
        let ratios: Vec<f64> = controls.iter().map(|control| control.ratio).collect();
        let runs = results.iter().zip(controls);
        let runs = runs.map(|(result, control)| HistoryRun {
            control: Some(control),
            ..HistoryRun::of(result)
        });
        let runs: Vec<HistoryRun> = runs.collect();
        let found = change_points_of_ratios(&ratios);
        let mut history = Self::of(label, results.last()?, runs, &found);
        history.control = Some(control.to_owned());
        history.words = words(&history);
        if missing > 0 {
            let missing = counted(missing as u64, "runs");
            history.warnings.push(Warning {
                kind: "no_control".to_owned(),
                text: format!("{missing} without a run of “{control}” beside it, left out"),
                next: None,
            });
        }
        Some(history)
    }

    /// The history of these runs and what was found in them.
    fn of(
        label: Option<String>,
        newest: &RunResult,
        runs: Vec<HistoryRun>,
        found: &SequenceFindings,
    ) -> Self {
        let primary_metric = PrimaryMetricName::of(&newest.primary_metric);
        let changes: Vec<Change> =
            found.changes.iter().map(|p| Change::of(p, runs[p.at].job, &primary_metric)).collect();
        let mut warnings = Vec::new();
        let bad = runs.iter().filter(|run| !run.good).count() as u64;
        if bad > 0 {
            let bad = counted(bad, "runs");
            warnings.push(Warning {
                kind: "bad_run".to_owned(),
                text: format!("{bad} not successful; they are marked"),
                next: None,
            });
        }
        warnings.extend(several_targets(&runs));
        warnings.extend(unsure(&found.shifts, &runs, &primary_metric));
        warnings.extend(drifts(found.drift, &runs, &primary_metric));
        let mut history = Self {
            format: HISTORY_FORMAT,
            kind: "history".to_owned(),
            tool: Tool::this(),
            label,
            control: None,
            drift: found.drift,
            workload: newest.workload.clone(),
            price: None,
            words: String::new(),
            primary_metric,
            runs,
            changes,
            warnings,
        };
        history.words = words(&history);
        history
    }

    /// Adds what each run costs: by `list`, or else by its own list if that has the currency of the
    /// newest run's. `results` are those of the runs.
    #[must_use]
    pub fn priced(mut self, list: Option<&PriceList>, results: &[RunResult]) -> Self {
        let own = |result: &RunResult| result.price.as_ref().map(|price| price.list.clone());
        self.price = list.cloned().or_else(|| results.last().and_then(own));
        let Some(newest) = &self.price else { return self };
        for (run, result) in self.runs.iter_mut().zip(results) {
            let of_run = list.cloned().or_else(|| own(result));
            let of_run = of_run.filter(|of_run| of_run.currency == newest.currency);
            run.per_million =
                of_run.and_then(|list| Price::new(&list, &result.measured_rate()).per_million);
        }
        self
    }

    /// Whether the last change is a slowdown.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        self.changes.last().is_some_and(|change| change.slower)
    }
}

impl HistoryRun {
    fn of(result: &RunResult) -> Self {
        Self {
            job: result.job.unwrap_or_default(),
            started_at: result.started_at.clone(),
            value: result.primary_metric.value,
            interval: result.steadiness.as_ref().and_then(|steadiness| steadiness.interval),
            good: result.ending.good,
            target: result.target.clone(),
            server: format!("{} {}", result.server.product, result.server.version),
            tool_version: result.tool.version.clone(),
            plans: result.queries.as_ref().and_then(|set| fingerprint_of_all(&set.plans)),
            control: None,
            per_million: None,
            joules_per_transaction: result.joules_per_transaction(),
        }
    }
}

impl Change {
    fn of(point: &ChangePoint, job: i64, primary_metric: &PrimaryMetricName) -> Self {
        let ChangePoint { at, before, after, ratio, difference, confidence } = *point;
        let share = |difference: f64| (before + difference) / before;
        let interval =
            ratio.map(|_| Interval { low: share(difference.low), high: share(difference.high) });
        let slower = primary_metric.is_worse(before, after);
        Self {
            at,
            job,
            slower,
            before,
            after,
            ratio,
            interval,
            confidence,
            differences: Vec::new(),
        }
    }

    /// Formats the change: `-5.1 %`.
    #[must_use]
    pub fn estimate(&self) -> String {
        let percent = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
        self.ratio.map_or("from 0".to_owned(), percent)
    }

    /// Formats the change with its interval: `-5.1 % (-6.2 to -3.9 %)`.
    #[must_use]
    pub fn size(&self) -> String {
        let percent = |ratio: f64| (ratio - 1.0) * 100.0;
        match (self.ratio, self.interval) {
            (Some(_), Some(interval)) => format!(
                "{} ({:+.1} to {:+.1} %)",
                self.estimate(),
                percent(interval.low),
                percent(interval.high)
            ),
            _ => self.estimate(),
        }
    }
}

fn words(history: &HistoryResult) -> String {
    let HistoryResult { changes, runs, .. } = history;
    let (of, least) = match &history.control {
        None => (history.primary_metric.name.clone(), RESULTS_MIN),
        Some(control) => {
            (format!("{} as a ratio to “{control}”", history.primary_metric.name), RATIOS_MIN)
        }
    };
    let Some(last) = changes.last() else {
        let all = counted(runs.len() as u64, "runs");
        return match runs.len() < least {
            true => format!("{all}: too few to detect a change; at least {least} are needed"),
            false => format!("no change of {of} over {all}"),
        };
    };
    let way = if last.slower { "slower" } else { "faster" };
    format!(
        "{} of {of} in {}; {way} from job {} on, {} ago: {}",
        counted(changes.len() as u64, "changes"),
        counted(runs.len() as u64, "runs"),
        last.job,
        counted((runs.len() - last.at) as u64, "runs"),
        last.size()
    )
}

/// Warns of a steady drift, which is no change.
fn drifts(
    drift: Option<f64>,
    runs: &[HistoryRun],
    primary_metric: &PrimaryMetricName,
) -> Option<Warning> {
    let drift = drift?;
    #[expect(clippy::cast_precision_loss, reason = "at most 500 runs")]
    let (count, mean) = {
        let count = runs.len() as f64;
        (count, runs.iter().map(|run| run.value).sum::<f64>() / count)
    };
    let way = if primary_metric.is_worse(0.0, drift) { "slower" } else { "faster" };
    Some(Warning {
        kind: "drift".to_owned(),
        text: format!(
            "the runs get {way} steadily, by {} per run and {} in all: changes are those beside \
             that",
            format::precise((drift / mean).abs()),
            format::precise((drift * (count - 1.0) / mean).abs())
        ),
        next: Some(
            "data that grows, or a host that ages; a control (--control) tells a host from a build"
                .to_owned(),
        ),
    })
}

/// Warns of runs at several targets: a change between them is one of the target, not over time.
fn several_targets(runs: &[HistoryRun]) -> Option<Warning> {
    let targets: BTreeSet<&str> = runs.iter().map(|run| run.target.as_str()).collect();
    (targets.len() > 1).then(|| Warning {
        kind: "several_targets".to_owned(),
        text: format!("the runs were at {} targets, which may differ in speed", targets.len()),
        next: Some("choose one of them by a part of its URL (--on)".to_owned()),
    })
}

/// Warns of a possible change that is not proven.
fn unsure(
    shifts: &[ChangePoint],
    runs: &[HistoryRun],
    primary_metric: &PrimaryMetricName,
) -> Option<Warning> {
    let last = shifts.last()?;
    let shift = Change::of(last, runs[last.at].job, primary_metric);
    let way = if shift.slower { "slower" } else { "faster" };
    let (size, since) = (shift.estimate(), counted((runs.len() - last.at) as u64, "runs"));
    let others = match shifts.len() - 1 {
        0 => String::new(),
        1 => ", and one more shift before".to_owned(),
        more => format!(", and {more} more shifts before"),
    };
    let places: Vec<usize> = shifts.iter().map(|shift| shift.at).collect();
    let has_control = runs.iter().any(|run| run.control.is_some());
    let next = match results_missing(runs.len(), &places) {
        Some(more) if more > 0 && !has_control => {
            format!("{} at this level would confirm a change", counted(more as u64, "more runs"))
        }
        _ => "compare before and after in pairs (`compare --ab`)".to_owned(),
    };
    Some(Warning {
        kind: "unsure".to_owned(),
        text: format!(
            "{way} from job {} on, {since} ago: {size}{others}; this does not prove a change: \
             noise{} looks the same",
            shift.job,
            if has_control { "" } else { ", or a host that alternates between two speeds," }
        ),
        next: Some(next),
    })
}

//! `history`: the runs of one kind in the order of time, and when their first figure changed.
//!
//! Change points are the statistics crate's. A change is reported with its size, and with what differs between the last run before it and the first run after it: where one of them explains the change,
//! look there first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_statistics::Interval;
use triphammer_statistics::change_point::{
    ChangePoint, RESULTS_MAX, RESULTS_MIN, change_points, results_missing,
};

use crate::compare::{Difference, Facts, Run, server_settings};
use crate::failure::Failure;
use crate::profile::PrimaryMetricName;
use crate::report::format::{self, counted};
use crate::result::{JobKind, Redacted, RunResult, Tool, Warning, WorkloadFacts};
use crate::store::{JobFilter, JobId, JobRow, JobStatus, Store, StoreError};

/// Version of the document's shape.
pub const HISTORY_FORMAT: u32 = 1;
/// Seed of what is shuffled: the same runs give the same changes.
const SEED: u64 = 1;

/// Which runs a history is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Only with this label.
    pub label: Option<String>,
    /// Only of this workload; else that of the newest run.
    pub workload: Option<String>,
    /// Only on targets that have this text in them.
    pub on: Option<String>,
}

/// What `triphammer history --json` prints: runs in the order of time, and when their first figure changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A history")]
pub struct HistoryResult {
    /// Version of this shape.
    #[schemars(extend("const" = HISTORY_FORMAT))]
    pub format: u32,
    /// Tells this document from those of other commands.
    #[schemars(with = "String", extend("const" = "history"))]
    pub kind: String,
    /// The program that made it.
    pub tool: Tool,
    /// The label that was asked for.
    pub label: Option<String>,
    /// The workload and its data, of the newest run.
    pub workload: WorkloadFacts,
    /// What is followed.
    pub primary_metric: PrimaryMetricName,
    /// What was found, in words.
    pub words: String,
    /// The runs, the oldest first.
    pub runs: Vec<HistoryRun>,
    /// Where the first figure changed, in the same order.
    pub changes: Vec<Change>,
    /// What should be known before it is used.
    pub warnings: Vec<Warning>,
}

/// A run of a history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryRun {
    /// Its job.
    pub job: i64,
    /// Date and time of its zero, RFC 3339, UTC.
    #[schemars(extend("format" = "date-time"))]
    pub started_at: String,
    /// Its first figure.
    pub value: f64,
    /// 95 % interval of that, from its own seconds.
    pub interval: Option<Interval>,
    /// Whether it did what it was to do.
    pub good: bool,
    /// The target, without secrets.
    pub target: Redacted,
    /// The server's product and version.
    pub server: String,
    /// Version of the program that measured.
    pub tool_version: String,
}

/// A change of the first figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Place in `runs` of the first run after it.
    pub at: usize,
    /// That run's job.
    pub job: i64,
    /// Whether it became slower.
    pub slower: bool,
    /// Mean from the change before, or from the start.
    pub before: f64,
    /// Mean up to the next change, or to the end.
    pub after: f64,
    /// `after` over `before`; `None` when `before` is 0.
    pub ratio: Option<f64>,
    /// 95 % interval of that; somewhat narrow, as the place was chosen from the same runs.
    pub interval: Option<Interval>,
    /// 1 less the greatest chance of it in runs without a change, from noise or from a host that switches.
    pub confidence: f64,
    /// What differs between the last run before it (A) and the first run after it (B).
    pub differences: Vec<Difference>,
}

/// The history of the runs that are wanted.
///
/// # Errors
/// When there is none, nothing says which, or the store cannot be read.
pub fn history(store: &Store, wanted: &Wanted) -> Result<HistoryResult, Failure> {
    if *wanted == Wanted::default() {
        return Err(Failure::refuse("say whose history: a LABEL, --workload or --on"));
    }
    let (rows, left_out) = choose(store, wanted)?;
    let mut results = Vec::new();
    for row in &rows {
        results.extend(store.load(row.id).and_then(|job| job.result()).map_err(refuse)?);
    }
    let mut history = HistoryResult::new(wanted.label.clone(), &results)
        .ok_or_else(|| Failure::refuse("these runs left no results"))?;
    if left_out > 0 {
        let newest = &history.workload;
        let scale = format::scale(newest.scale, &newest.scale_unit);
        let left_out = counted(left_out, "runs");
        history.warnings.push(Warning {
            kind: "left_out".to_owned(),
            text: format!(
                "{left_out} left out: not {} of {} with {scale}, as the newest",
                history.primary_metric.name, newest.title
            ),
            next: None,
        });
    }
    for change in &mut history.changes {
        let of = |at: usize| -> Result<Facts, Failure> {
            let result: &RunResult = &results[at];
            let job = result.job.map(JobId);
            let settings = job.map(|job| server_settings(store, job)).transpose()?;
            let run = Run {
                result: result.clone(),
                server_settings: settings.unwrap_or_default(),
                seconds: None,
            };
            Ok(Facts::of_run(&run))
        };
        change.differences = of(change.at - 1)?.against(&of(change.at)?);
    }
    Ok(history)
}

/// The runs, the oldest first, and how many others are of another workload or size.
fn choose(store: &Store, wanted: &Wanted) -> Result<(Vec<JobRow>, u64), Failure> {
    let filter = JobFilter {
        kind: Some(JobKind::Run),
        workload: wanted.workload.clone(),
        label: wanted.label.clone(),
        ..JobFilter::default()
    };
    let mut rows = store.jobs(&filter).map_err(refuse)?;
    rows.retain(|row| {
        let on = wanted.on.as_ref().is_none_or(|text| row.target.as_str().contains(text.as_str()));
        row.status == JobStatus::Complete && on
    });
    let Some(newest) = rows.first() else {
        return Err(Failure::refuse("no complete run is like that; `triphammer jobs` lists them"));
    };
    let kind = |row: &JobRow| {
        (row.workload.clone(), row.workload_version, row.scale, row.primary_metric_name.clone())
    };
    let (of, all) = (kind(newest), rows.len());
    rows.retain(|row| kind(row) == of);
    let left_out = (all - rows.len()) as u64;
    rows.truncate(RESULTS_MAX);
    rows.reverse();
    Ok((rows, left_out))
}

impl HistoryResult {
    /// Of runs, the oldest first; `None` of none. A function of its arguments and of nothing else; what
    /// differs at the changes is not known yet.
    #[must_use]
    pub fn new(label: Option<String>, results: &[RunResult]) -> Option<Self> {
        let newest = results.last()?;
        let primary_metric = PrimaryMetricName::of(&newest.primary_metric);
        let values: Vec<f64> = results.iter().map(|result| result.primary_metric.value).collect();
        let runs: Vec<HistoryRun> = results.iter().map(HistoryRun::of).collect();
        let found = change_points(&values, SEED);
        let changes: Vec<Change> =
            found.changes.iter().map(|p| Change::of(p, runs[p.at].job, &primary_metric)).collect();
        let mut warnings = Vec::new();
        let bad = runs.iter().filter(|run| !run.good).count() as u64;
        if bad > 0 {
            let bad = counted(bad, "runs");
            warnings.push(Warning {
                kind: "bad_run".to_owned(),
                text: format!("{bad} did not do what they were to do; they are marked with !"),
                next: None,
            });
        }
        warnings.extend(unsure(&found.shifts, &runs, &primary_metric));
        Some(Self {
            format: HISTORY_FORMAT,
            kind: "history".to_owned(),
            tool: Tool::this(),
            label,
            workload: newest.workload.clone(),
            words: words(&changes, &runs, &primary_metric.name),
            primary_metric,
            runs,
            changes,
            warnings,
        })
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
            good: result.is_good(),
            target: result.target.clone(),
            server: format!("{} {}", result.server.product, result.server.version),
            tool_version: result.tool.version.clone(),
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

    /// `-5.1 %`.
    #[must_use]
    pub fn estimate(&self) -> String {
        let percent = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
        self.ratio.map_or("from 0".to_owned(), percent)
    }

    /// `-5.1 % (-6.2 to -3.9 %)`.
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

fn words(changes: &[Change], runs: &[HistoryRun], primary_metric: &str) -> String {
    let Some(last) = changes.last() else {
        let all = counted(runs.len() as u64, "runs");
        return match runs.len() < RESULTS_MIN {
            true => format!("{all}: too few to see a change; {RESULTS_MIN} are needed"),
            false => format!("no change of {primary_metric} in {all}"),
        };
    };
    let way = if last.slower { "slower" } else { "faster" };
    format!(
        "{} of {primary_metric} in {}; {way} from job {} on, {} ago: {}",
        counted(changes.len() as u64, "changes"),
        counted(runs.len() as u64, "runs"),
        last.job,
        counted((runs.len() - last.at) as u64, "runs"),
        last.size()
    )
}

/// What looks like a change and is no proof of one.
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
    let next = match results_missing(runs.len(), &places) {
        Some(more) if more > 0 => {
            format!("{} at this level would make a change of it", counted(more as u64, "more runs"))
        }
        _ => "compare before and after by pairs (`compare --ab`)".to_owned(),
    };
    Some(Warning {
        kind: "unsure".to_owned(),
        text: format!(
            "{way} from job {} on, {since} ago: {size}{others}; no proof of a change: noise, or a \
             host that switches to and fro, shows the same",
            shift.job
        ),
        next: Some(next),
    })
}

fn refuse(error: StoreError) -> Failure {
    Failure::refuse(error.to_string())
}

//! `history`: runs of one kind in chronological order, and the changes of their primary metric.
//!
//! Change points are found by the statistics crate. A change is reported with its size and with the
//! differences between the last run before it and the first run after it, which may explain it.
//!
//! With a control, a fixed build that is measured beside each run, the ratio of two adjacent runs
//! is followed: what the host does affects both.

use triphammer_core::scale::Scale;
use triphammer_document::JobId;
use triphammer_document::compare::{Facts, Run};
use triphammer_document::history::HistoryResult;
use triphammer_document::price::PriceList;
use triphammer_document::result::{RunResult, Warning};
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::format::{self, counted};
use triphammer_statistics::change_point::RESULTS_MAX;
use triphammer_store::{JobFilter, JobRow, JobStatus, Store, StoreError};

use crate::compare::server_settings;

/// Selects the runs of a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistorySelection {
    /// Only runs with this label.
    pub label: Option<String>,
    /// Only runs of this workload; the workload of the newest run when absent.
    pub workload: Option<String>,
    /// Only runs whose target contains this text.
    pub on: Option<String>,
    /// Label of the runs of a fixed build: the ratios to them are followed.
    pub control: Option<String>,
}

/// Computes the history of the selected runs, with their costs by `price`, or else by their own price
/// lists.
///
/// # Errors
/// When there are no runs, no selection is given, or the store cannot be read.
pub fn history(
    store: &Store,
    wanted: &HistorySelection,
    price: Option<&PriceList>,
) -> Result<HistoryResult, Failure> {
    let of_runs = HistorySelection { control: None, ..wanted.clone() };
    if of_runs == HistorySelection::default() {
        return Err(Failure::refuse("choose the runs: give a LABEL, --workload or --on"));
    }
    let (rows, left_out) = choose(store, &of_runs)?;
    let (results, mut history) = match &wanted.control {
        Some(control) => beside(store, wanted, control, &rows)?,
        None => {
            let results = load(store, &rows)?;
            let history = HistoryResult::new(wanted.label.clone(), &results)
                .ok_or_else(|| Failure::refuse("these runs have no stored results"))?;
            (results, history)
        }
    };
    history = history.priced(price, &results);
    if left_out > 0 {
        let newest = &history.workload;
        let scale = format::scale(newest.scale, &newest.scale_unit);
        let left_out = counted(left_out, "runs");
        history.warnings.push(Warning {
            kind: "left_out".to_owned(),
            text: format!(
                "{left_out} ignored: the newest run measured {} of {} with {scale}",
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

/// The results of these runs.
fn load(store: &Store, rows: &[JobRow]) -> Result<Vec<RunResult>, Failure> {
    let mut results = Vec::new();
    for row in rows {
        results.extend(store.load(row.id).and_then(|job| job.result()).map_err(refuse)?);
    }
    Ok(results)
}

/// The runs that have a run of the control beside them, and the history of their ratios.
fn beside(
    store: &Store,
    wanted: &HistorySelection,
    control: &str,
    rows: &[JobRow],
) -> Result<(Vec<RunResult>, HistoryResult), Failure> {
    if wanted.label.as_deref() == Some(control) {
        return Err(Failure::refuse(format!(
            "--control {control}: the control must have another label than the runs"
        )));
    }
    let of_control =
        HistorySelection { label: Some(control.to_owned()), ..HistorySelection::default() };
    let (mut of_control, _) = choose(store, &of_control)?;
    of_control.retain(|row| kind(row) == kind(&rows[0]));
    let (results, controls) = adjacent(load(store, rows)?, &load(store, &of_control)?);
    let missing = rows.len() - results.len();
    let label = wanted.label.clone();
    let history = HistoryResult::with_control(label, control, &results, &controls, missing)
        .ok_or_else(|| {
            Failure::refuse(format!(
                "no run has a run of the control “{control}” beside it, of the same workload, \
                 version and scale; make one before or after each run, with --label {control}"
            ))
        })?;
    Ok((results, history))
}

/// Selects the runs, oldest first, and counts those of another workload or scale.
fn choose(store: &Store, wanted: &HistorySelection) -> Result<(Vec<JobRow>, u64), Failure> {
    let filter = JobFilter {
        kind: Some(JobKind::Run),
        workload: wanted.workload.clone(),
        label: wanted.label.clone(),
        ..JobFilter::default()
    };
    let mut rows = store.jobs(&filter).map_err(refuse)?;
    rows.retain(|row| {
        let on = wanted.on.as_ref().is_none_or(|text| row.target.as_str().contains(text.as_str()));
        row.status == JobStatus::Complete && row.primary_metric_value.is_some() && on
    });
    let Some(newest) = rows.first() else {
        return Err(Failure::refuse("no complete run matches; `triphammer jobs` lists all runs"));
    };
    let (of, all) = (kind(newest), rows.len());
    rows.retain(|row| kind(row) == of);
    let left_out = (all - rows.len()) as u64;
    rows.truncate(RESULTS_MAX);
    rows.reverse();
    Ok((rows, left_out))
}

/// Longest time between the starts of a run and of the control beside it, in milliseconds: 12 h.
const BESIDE_MS: i64 = 12 * 3_600_000;

/// What the runs of a history have in common.
fn kind(row: &JobRow) -> (String, u32, Scale, Option<String>) {
    (row.workload.clone(), row.workload_version, row.scale, row.primary_metric_name.clone())
}

/// The runs that have a run of the control beside them, and those: each is the one that started
/// nearest to the other.
fn adjacent(runs: Vec<RunResult>, control: &[RunResult]) -> (Vec<RunResult>, Vec<RunResult>) {
    let starts = |runs: &[RunResult]| -> Vec<Option<jiff::Timestamp>> {
        runs.iter().map(|run| run.started_at.parse().ok()).collect()
    };
    let (of_runs, of_control) = (starts(&runs), starts(control));
    let nearest = |at: Option<jiff::Timestamp>, among: &[Option<jiff::Timestamp>]| {
        let at = at?;
        let far =
            |place: &usize| Some((among[*place]?.as_millisecond() - at.as_millisecond()).abs());
        let near = (0..among.len()).filter_map(|place| Some((far(&place)?, place))).min()?;
        (near.0 <= BESIDE_MS).then_some(near.1)
    };
    let is_pair = |place: usize| {
        let beside = nearest(of_runs[place], &of_control)?;
        (nearest(of_control[beside], &of_runs) == Some(place)).then_some(beside)
    };
    let pairs: Vec<Option<usize>> = (0..runs.len()).map(is_pair).collect();
    let (mut kept, mut beside) = (Vec::new(), Vec::new());
    for (run, pair) in runs.into_iter().zip(pairs) {
        if let Some(place) = pair.filter(|&place| control[place].primary_metric.value != 0.0) {
            kept.push(run);
            beside.push(control[place].clone());
        }
    }
    (kept, beside)
}

fn refuse(error: StoreError) -> Failure {
    Failure::refuse(error.to_string())
}

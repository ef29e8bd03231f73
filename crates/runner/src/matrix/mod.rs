//! `matrix`: runs over all combinations of the values of some settings, several times each, and shows how the
//! primary metric depends on them.
//!
//! The order is a randomised complete block design, as that of a profile: each repeat is a block that has every
//! combination once, in a random order of its own, so that what changes over time affects all alike.
//!
//! A matrix builds nothing. Combinations that need other data name other targets, which makes their order free: a
//! target that contains `{scale}` is that of the combination's scale.

mod axes;

use std::sync::Arc;

use triphammer_core::SpecError;
use triphammer_core::session::Database as _;
use triphammer_core::workload::{Description, OptionDef};
use triphammer_document::matrix::{Axis, FailedCell, MatrixOrder, MatrixResult, MatrixRun};
use triphammer_document::parts::Status;
use triphammer_document::profile::LevelRun;
use triphammer_document::redacted::mask_secrets;
use triphammer_document::result::RunResult;
use triphammer_document::{JobId, JobType};
use triphammer_settings::failure::Failure;
use triphammer_settings::target::Target;
use triphammer_settings::{GivenValue, Settings, Source};

use crate::campaign::Question;
use crate::profile::sequence;
use crate::restore::RestorePlan;
use crate::step::PlannedRun;

/// Maximum number of repeats of a combination.
const REPEATS_MAX: u32 = 100;

/// The settings of each combination, as a run reads them: one target is opened for each.
///
/// # Errors
/// When an axis is invalid.
pub(crate) fn settings_of_cells(
    settings: &Settings,
    options: &[OptionDef],
) -> Result<Vec<Settings>, SpecError> {
    let axes = axes::read(settings, options)?;
    let cells = axes::cells(&axes, settings.get(axes::TARGET));
    Ok(cells.iter().map(|cell| settings.of_run(&given(cell))).collect())
}

/// Converts settings of a combination to settings of a run.
fn given(cell: &[(String, String)]) -> Vec<(String, GivenValue)> {
    cell.iter().map(|(name, value)| (name.clone(), value.into())).collect()
}

/// The question of a matrix: which combination is next.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The axes, with the values as they are shown.
    axes: Vec<Axis>,
    /// Settings of each combination, the last axis varying fastest.
    cells: Vec<Vec<(String, String)>>,
    repeats: u32,
    seed: u64,
    /// Combination of each step.
    steps: Vec<u32>,
    /// What restores the database before each run, as it is shown.
    restore: Option<String>,
    /// Index of the primary metric's transaction type; `None` if the metric counts several types.
    times_of: Option<usize>,
    results: Vec<MatrixRun>,
    failed_runs: Vec<FailedCell>,
    /// Result of the first run.
    first: Option<Box<RunResult>>,
}

impl Matrix {
    /// Index of a combination's values on the axes.
    fn place(&self, cell: usize) -> Vec<usize> {
        let mut rest = cell;
        let mut place: Vec<usize> = Vec::new();
        for axis in self.axes.iter().rev() {
            place.push(rest % axis.values.len());
            rest /= axis.values.len();
        }
        place.reverse();
        place
    }

    /// Values of a combination, as they are shown.
    fn values(&self, cell: usize) -> Vec<String> {
        let places = self.place(cell).into_iter().zip(&self.axes);
        places.map(|(place, axis)| axis.values[place].clone()).collect()
    }

    /// Title of a combination: `vus = 8, mode = statements`.
    fn title(&self, cell: usize) -> String {
        let named = self.axes.iter().zip(self.values(cell));
        let named = named.map(|(axis, value)| format!("{} = {value}", axis.name));
        named.collect::<Vec<_>>().join(", ")
    }

    fn step(&self, number: u32) -> PlannedRun {
        let cell = self.cell_of(number);
        let (settings, title) = (given(&self.cells[cell]), self.title(cell));
        PlannedRun { number, target: cell, settings, title }
    }

    fn cell_of(&self, number: u32) -> usize {
        self.steps[number as usize] as usize
    }

    /// Document of the runs so far; `None` before the first run.
    #[must_use]
    pub fn result(&self, job: Option<JobId>, status: Status) -> Option<MatrixResult> {
        let first = self.first.as_deref()?;
        let order = MatrixOrder {
            repeats: self.repeats,
            seed: self.seed,
            steps: self.steps.clone(),
            restore: self.restore.as_deref().map(mask_secrets),
        };
        Some(MatrixResult::new(
            first,
            job,
            status,
            self.axes.clone(),
            order,
            self.results.clone(),
            self.failed_runs.clone(),
            self.times_of,
        ))
    }
}

impl JobType for Matrix {
    type Document = MatrixResult;
}

impl Question for Matrix {
    fn ask(
        settings: &mut Settings,
        workload: &Arc<Description>,
        targets: &[Target],
    ) -> Result<Self, Failure> {
        let axes = axes::read(settings, &workload.options)?;
        let cells = axes::cells(&axes, settings.get(axes::TARGET));
        let shown = settings.get(axes::OVER).map(mask_secrets).unwrap_or_default();
        settings.show(axes::OVER, shown, &settings.source(axes::OVER));
        for axis in axes.iter().filter(|axis| axis.name != axes::TARGET) {
            settings.show(&axis.name, axis.values.join(","), &settings.source(axes::OVER));
        }
        let first = mask_secrets(&targets[0].database.target());
        settings.show(axes::TARGET, first, &settings.source(axes::TARGET));
        let repeats = settings.parse("repeats")?;
        if !(1..=REPEATS_MAX).contains(&repeats) {
            return Err(SpecError::new(format!(
                "--repeats {repeats}: must be 1 to {REPEATS_MAX}; 3 or more show how much runs vary"
            ))
            .about("repeats")
            .into());
        }
        let seed = settings.parse("seed")?;
        let count = u32::try_from(cells.len()).unwrap_or(u32::MAX);
        let numbers: Vec<u32> = (0..count).collect();
        let times_of = match &*workload.primary_metric.transactions {
            [one] => Some(*one),
            _ => None,
        };
        Ok(Self {
            axes: axes.iter().map(shown_axis).collect(),
            cells,
            repeats,
            seed,
            steps: sequence(&numbers, 0..repeats, seed),
            restore: RestorePlan::read(settings)?.map(|plan| plan.shown()),
            times_of,
            results: Vec::new(),
            failed_runs: Vec::new(),
            first: None,
        })
    }

    fn next(&self) -> Option<PlannedRun> {
        let done = self.results.iter().map(|run| run.run.step);
        let done: std::collections::BTreeSet<u32> =
            done.chain(self.failed_runs.iter().map(|failed| failed.step)).collect();
        let mut left = (0..).take(self.steps.len()).filter(|number| !done.contains(number));
        left.next().map(|number| self.step(number))
    }

    /// Every combination: an impossible one is reported before the first run.
    fn trials(&self) -> Vec<PlannedRun> {
        (0..).take(self.cells.len()).map(|number| self.step(number)).collect()
    }

    fn runs(&self) -> Option<u32> {
        u32::try_from(self.steps.len()).ok()
    }

    /// The number of a step determines it: the order is that of the seed.
    fn is_of(&self, _: &PlannedRun, _: &RunResult) -> bool {
        true
    }

    fn cell(&self, step: &PlannedRun) -> Vec<(String, String)> {
        self.cells[step.target].clone()
    }

    fn source_of_target(&self, settings: &Settings, step: &PlannedRun) -> Source {
        match step.settings.iter().any(|(name, _)| name == axes::TARGET) {
            true => Source::Command(settings.command()),
            false => settings.source(axes::TARGET),
        }
    }

    fn report_result(&mut self, step: &PlannedRun, result: &RunResult) {
        if let Some(reason) = &result.primary_metric.unavailable {
            self.report_failure(step, reason);
            return;
        }
        let run = LevelRun::of(step.number, result, self.times_of);
        let (cell, values) = (step.target, self.values(step.target));
        let round_trip_us = result.bottleneck.figures.round_trip_us;
        self.results.push(MatrixRun { cell, values, run, round_trip_us });
        self.first.get_or_insert_with(|| Box::new(result.clone()));
    }

    fn report_failure(&mut self, step: &PlannedRun, reason: &str) {
        let (values, reason) = (self.values(step.target), mask_secrets(reason));
        self.failed_runs.push(FailedCell { values, step: step.number, reason });
    }

    fn document(&self, job: Option<JobId>, status: Status) -> Option<MatrixResult> {
        self.result(job, status)
    }
}

/// An axis as it is shown: of targets, without secrets and without what all have in common.
fn shown_axis(axis: &axes::Axis) -> Axis {
    let values: Vec<String> = axis.values.iter().map(|value| mask_secrets(value)).collect();
    let values = if axis.name == axes::TARGET { distinctive(&values) } else { values };
    Axis { name: axis.name.clone(), values }
}

/// Shortens URLs to the parts in which they differ, in whole parts between separators.
fn distinctive(urls: &[String]) -> Vec<String> {
    const SEPARATORS: [char; 5] = [':', '/', '@', '?', '&'];
    let first = urls.first().map_or("", String::as_str);
    let is_common = |at: usize| urls.iter().all(|url| url.get(..at) == Some(&first[..at]));
    let ends = first.match_indices(SEPARATORS).map(|(at, text)| at + text.len());
    let start = ends.filter(|at| is_common(*at)).max().unwrap_or(0);
    let is_common_end = |end: &str| urls.iter().all(|url| url[start..].ends_with(end));
    let ends = first[start..].match_indices(SEPARATORS).map(|(at, _)| &first[start + at..]);
    let end = ends.filter(|end| is_common_end(end)).map(str::len).max().unwrap_or(0);
    let short: Vec<String> =
        urls.iter().map(|url| url[start..url.len() - end].to_owned()).collect();
    if short.iter().any(String::is_empty) { urls.to_vec() } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_shortened_to_where_they_differ() {
        let of = |urls: &[&str]| {
            distinctive(&urls.iter().map(|url| (*url).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(
            of(&[
                "postgres://u@h/tpcc10?sslmode=disable",
                "postgres://u@h/tpcc100?sslmode=disable"
            ]),
            ["tpcc10", "tpcc100"]
        );
        assert_eq!(of(&["postgres://u@old/t", "postgres://u@new/t"]), ["old", "new"]);
        assert_eq!(of(&["postgres://h/t", "mysql://h/t"]), ["postgres", "mysql"]);
        assert_eq!(of(&["null:", "null:?service=1ms"]), ["null:", "null:?service=1ms"]);
    }
}

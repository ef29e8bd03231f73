//! Pairs of runs: A B, B A, A B, … with a pause between any two. A drift of the database or its
//! host then affects both sides alike, and each pair gives one figure: the ratio of two adjacent
//! runs. The number of pairs is fixed: a rule that stops depending on the verdict increases the
//! number of false verdicts.

use std::sync::Arc;

use triphammer_core::SpecError;
use triphammer_core::session::Database;
use triphammer_core::workload::{Description, OptionCommand, OptionDef};
use triphammer_statistics::compare::PAIRS_MAX;

use super::document::{Asked, ComparisonResult, FailedRun, Pairing};
use super::run::Run;
use crate::campaign::{self, PlannedRun, Question};
use crate::command::JobKind;
use crate::document::JobType;
use crate::failure::Failure;
use crate::result::{RunResult, Status, mask_secrets};
use crate::settings::{Given, Mark, REPEATED, Settings, declared};
use crate::store::JobId;
use crate::target::Target;

/// Minimum number of pairs: fewer give no interval.
const PAIRS_MIN: u32 = 2;

/// Parameters of a comparison in pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct PairsRequest {
    /// Number of pairs.
    pub pairs: u32,
    /// Difference that does not matter, as a share.
    pub margin: f64,
    /// Pause between two runs, in seconds.
    pub cool_down_s: f64,
    /// Names of the sides: their targets, or their own settings.
    pub names: [String; 2],
    /// Settings that apply to one side only.
    pub own: [Vec<(String, String)>; 2],
}

impl PairsRequest {
    /// Reads the parameters from the settings, given the target of each side. `options` are those
    /// of the workload.
    ///
    /// # Errors
    /// When a value is invalid.
    ///
    /// # Panics
    /// When there are not two targets.
    pub fn read(
        settings: &mut Settings,
        options: &[OptionDef],
        targets: &[Target],
    ) -> Result<Self, SpecError> {
        let names = [0, 1].map(|side: usize| targets[side].database.target());
        settings.show("target", names[0].clone(), &settings.source("target"));
        settings.show("other", names[1].clone(), &settings.source("other"));
        let cool_down = settings.duration("cool-down", campaign::cool_down(targets[0].embedded))?;
        let pairs = settings.parse("pairs", || 7)?;
        if !(PAIRS_MIN..=PAIRS_MAX).contains(&pairs) {
            return Err(SpecError::new(format!(
                "--pairs {pairs}: must be {PAIRS_MIN} to {PAIRS_MAX}; 7 pairs detect a difference \
                 of 5 % if runs vary by 2 %"
            )));
        }
        let margin = super::margin(settings)?;
        let own = [own(settings, "a", options)?, own(settings, "b", options)?];
        let name = |side: usize| {
            let mut parts: Vec<String> =
                own[side].iter().map(|(name, value)| format!("{name}={value}")).collect();
            if names[0] != names[1] || parts.is_empty() {
                parts.insert(0, names[side].clone());
            }
            mask_secrets(&parts.join(", "))
        };
        let cool_down_s = cool_down.as_secs_f64();
        Ok(Self { pairs, margin, cool_down_s, names: [name(0), name(1)], own })
    }
}

/// Reads the settings of one side, given as `NAME=VALUE`.
///
/// # Errors
/// When a setting cannot differ between the sides.
pub(super) fn own(
    settings: &Settings,
    side: &str,
    options: &[OptionDef],
) -> Result<Vec<(String, String)>, SpecError> {
    let given = settings.get(side).unwrap_or_default();
    let mut own: Vec<(String, String)> = Vec::new();
    for text in given.split(REPEATED).filter(|text| !text.trim().is_empty()) {
        let Some((name, value)) = text.split_once('=') else {
            return Err(SpecError::new(format!(
                "--{side} `{text}`: write NAME=VALUE, as in vus=8"
            )));
        };
        let (name, value) = (name.trim().trim_start_matches("--"), value.trim());
        if !may_differ(name, options, settings.of_client()) {
            return Err(SpecError::new(format!(
                "--{side} {text}: A and B cannot differ in `{name}`; see `triphammer run --help` \
                 for the settings of a run"
            )));
        }
        own.push((name.to_owned(), value.to_owned()));
    }
    Ok(own)
}

/// Converts settings of a side to settings of a run.
pub(super) fn given(own: &[(String, String)]) -> Vec<(String, Given)> {
    own.iter().map(|(name, value)| (name.clone(), value.into())).collect()
}

/// Whether the sides may differ in a setting: it is a setting of runs and of comparisons that a job
/// file, or a client of the server, may set, or an option of the workload for runs.
fn may_differ(name: &str, options: &[OptionDef], of_client: bool) -> bool {
    let here = |kind: JobKind| {
        declared(kind, name).is_some_and(|setting| {
            let may = setting.in_job_file() && (!of_client || setting.in_request());
            may && !setting.is(Mark::Shared)
        })
    };
    let setting = here(JobKind::Run) && here(JobKind::Compare);
    let is_option =
        |option: &OptionDef| option.name == name && option.command != OptionCommand::Build;
    setting || options.iter().any(is_option)
}

/// The question of a comparison in pairs: which run is next.
#[derive(Clone, Debug)]
pub struct Pairs {
    request: PairsRequest,
    label: Option<String>,
    /// Step, whether it belongs to B, and the run.
    results: Vec<(u32, bool, Run)>,
    failed_runs: Vec<FailedRun>,
    /// Server settings of the run that is reported next.
    server_settings: Vec<(String, String)>,
}

impl Pairs {
    /// Creates the question, before any run.
    #[must_use]
    pub fn new(request: PairsRequest, label: Option<String>) -> Self {
        let (results, failed_runs, server_settings) = Default::default();
        Self { request, label, results, failed_runs, server_settings }
    }

    /// Whether a step belongs to B: the order of the sides alternates from pair to pair.
    const fn is_b(step: u32) -> bool {
        (step % 2 == 1) != (step / 2 % 2 == 1)
    }

    fn step(&self, number: u32) -> PlannedRun {
        let side = usize::from(Self::is_b(number));
        let title = format!("{} ({})", ["A", "B"][side], self.request.names[side]);
        PlannedRun { number, target: side, settings: given(&self.request.own[side]), title }
    }
}

impl Pairs {
    /// Document of the runs so far; `None` before the first run.
    #[must_use]
    pub fn result(&self, job: Option<JobId>, status: Status) -> Option<ComparisonResult> {
        let PairsRequest { pairs, margin, cool_down_s, names, .. } = &self.request;
        let failed_runs = self.failed_runs.clone();
        let pairing = Pairing { asked: *pairs, made: 0, cool_down_s: *cool_down_s, failed_runs };
        let label = self.label.clone();
        let asked = Asked { job, label, status, margin: *margin, pairs: Some(pairing) };
        ComparisonResult::of_pairs([&names[0], &names[1]], &self.results, asked)
    }
}

impl JobType for Pairs {
    type Document = ComparisonResult;
}

impl Question for Pairs {
    fn ask(
        settings: &mut Settings,
        workload: &Arc<Description>,
        targets: &[Target],
    ) -> Result<Self, Failure> {
        let request = PairsRequest::read(settings, &workload.options, targets)?;
        Ok(Self::new(request, settings.get("label").map(str::to_owned)))
    }

    fn next(&self) -> Option<PlannedRun> {
        let done = u32::try_from(self.results.len() + self.failed_runs.len()).unwrap_or(u32::MAX);
        (done < 2 * self.request.pairs).then(|| self.step(done))
    }

    /// One run of each side: a missing target B is reported before A runs.
    fn trials(&self) -> Vec<PlannedRun> {
        vec![self.step(0), self.step(1)]
    }

    fn runs(&self) -> Option<u32> {
        Some(2 * self.request.pairs)
    }

    /// The number of a step alone determines it.
    fn is_of(&self, _: &PlannedRun, _: &RunResult) -> bool {
        true
    }

    fn server_settings(&mut self, settings: Vec<(String, String)>) {
        self.server_settings = settings;
    }

    fn report_result(&mut self, step: &PlannedRun, result: &RunResult) {
        let server_settings = std::mem::take(&mut self.server_settings);
        let run = Run { result: result.clone(), server_settings, seconds: None };
        self.results.push((step.number, Self::is_b(step.number), run));
    }

    fn report_failure(&mut self, step: &PlannedRun, reason: &str) {
        let reason = mask_secrets(reason);
        self.failed_runs.push(FailedRun { step: step.number, reason });
    }

    fn document(&self, job: Option<JobId>, status: Status) -> Option<ComparisonResult> {
        self.result(job, status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_change_their_order_from_pair_to_pair() {
        let order: String = (0..8).map(|n| if Pairs::is_b(n) { 'B' } else { 'A' }).collect();
        assert_eq!(order, "ABBAABBA");
    }

    #[test]
    fn sides_differ_in_what_a_run_can_be_told() {
        let mut settings = Settings::new(JobKind::Compare);
        settings.set("a", "vus=8, --mode = statements", crate::settings::Source::Flag);
        let own = own(&settings, "a", &[]).unwrap();
        assert_eq!(own, [("vus", "8"), ("mode", "statements")].map(|(n, v)| (n.into(), v.into())));
        for bad in ["vus", "label=x", "store=x", "json=true", "no-such=1", "target=null:"] {
            let mut settings = Settings::new(JobKind::Compare);
            settings.set("b", bad, crate::settings::Source::Flag);
            assert!(super::own(&settings, "b", &[]).is_err(), "{bad}");
        }
    }
}

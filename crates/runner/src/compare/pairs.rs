//! Pairs of runs: A B or B A, in a random order, with a pause between any two. A drift of the
//! database or its host then affects both sides alike, and each pair gives one figure: the ratio of
//! two adjacent runs. With levels, each block has a pair of every level, so that two profiles are
//! measured at the same time. The number of pairs is fixed: a rule that stops depending on the
//! verdict increases the number of false verdicts.

use std::sync::Arc;

use triphammer_core::SpecError;
use triphammer_core::session::Database;
use triphammer_core::workload::{Description, OptionDef};
use triphammer_document::compare::{
    AnswersCompared, ComparisonParameters, ComparisonResult, Demand, FailedRun, OfPair, Pairing,
    Run, SideAnswers,
};
use triphammer_document::parts::Status;
use triphammer_document::profile::LevelUnit;
use triphammer_document::redacted::mask_secrets;
use triphammer_document::result::RunResult;
use triphammer_document::{JobId, JobType};
use triphammer_observe::doctor::Proof;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::format::counted;
use triphammer_settings::target::Target;
use triphammer_settings::{GivenValue, REPEATED, Settings};
use triphammer_statistics::compare::PAIRS_MAX;

use super::order::{Turn, turns, turns_at_once};
use crate::campaign::{CoolDown, Question, may_differ};
use crate::compare::{at_once, host_setting};
use crate::profile::RequestedLevels;
use crate::run::{AtOnceWay, RequestedHalf};
use crate::step::{PlannedRun, RunsAtMost};

/// Minimum number of pairs: fewer give no interval.
const PAIRS_MIN: u32 = 2;
/// Default number of pairs.
const PAIRS: u32 = 7;
/// Default number of pairs whose runs take place at once: each has many blocks.
const PAIRS_AT_ONCE: u32 = 1;
/// Default number of pairs of each level: they also decide together.
pub const PAIRS_OF_LEVEL: u32 = 4;

/// Parameters of a comparison in pairs.
#[derive(Clone, Debug, PartialEq)]
pub struct PairsRequest {
    /// Number of pairs, of each level if there are levels.
    pub pairs: u32,
    /// The levels and what they count; `None` if all runs have the same.
    pub levels: Option<(LevelUnit, Vec<u32>)>,
    /// Seed of the order of sides and levels.
    pub seed: u64,
    /// Difference that does not matter, as a share.
    pub margin: f64,
    /// Pause between two runs, in seconds.
    pub cool_down_s: f64,
    /// Names of the sides: their targets, or their own settings.
    pub names: [String; 2],
    /// URLs of the targets of the sides, without secrets.
    pub targets: [String; 2],
    /// Settings that apply to one side only.
    pub own: [Vec<(String, String)>; 2],
    /// What the verdict must be.
    pub demand: Demand,
    /// How both runs of a pair take place at once; `None` for one after the other.
    pub at_once: Option<AtOnceWay>,
    /// The setting of this host that differs; `None` if none is changed.
    pub proof: Option<Proof>,
}

impl PairsRequest {
    /// Reads the parameters from the settings, given the target of each side.
    ///
    /// # Errors
    /// When a value is invalid.
    ///
    /// # Panics
    /// When there are not two targets.
    pub fn read(
        settings: &mut Settings,
        workload: &Description,
        targets: &[Target],
    ) -> Result<Self, SpecError> {
        let options = &workload.options;
        let names = [0, 1].map(|side: usize| targets[side].database.target());
        settings.show("target", names[0].clone(), &settings.source("target"));
        settings.show("other", names[1].clone(), &settings.source("other"));
        let cool_down = CoolDown::read(settings, &targets[0])?.most;
        let at_once = at_once::way(settings)?;
        let proof = host_setting::read(settings, at_once)?;
        let levels = levels(settings, workload, targets)?;
        let default = match (&levels, at_once) {
            (Some(_), _) => PAIRS_OF_LEVEL,
            (None, Some(_)) => PAIRS_AT_ONCE,
            (None, None) => PAIRS,
        };
        let pairs = settings.parse_or("pairs", || default)?;
        at_once::refuse(at_once, settings, levels.is_some(), pairs)?;
        let seed = settings.parse("seed")?;
        let least = if at_once.is_some() { PAIRS_AT_ONCE } else { PAIRS_MIN };
        if !(least..=PAIRS_MAX).contains(&pairs) {
            return Err(SpecError::new(format!(
                "--pairs {pairs}: must be {least} to {PAIRS_MAX}; 7 pairs detect a difference \
                 of 5 % if runs vary by 2 %"
            )));
        }
        let margin = super::margin(settings)?;
        let own = [own(settings, "a", options)?, own(settings, "b", options)?];
        if let Some((unit, _)) = &levels
            && own.iter().flatten().any(|(name, _)| name == unit.setting())
        {
            let setting = unit.setting();
            return Err(SpecError::new(format!(
                "--{setting} gives levels, which both sides have: remove {setting} from --a and --b"
            )));
        }
        at_once::refuse_own(at_once, &own)?;
        let name = |side: usize| {
            if let Some(Proof { check, values }) = &proof {
                return format!("{check} = {}", values[side]);
            }
            let mut parts: Vec<String> =
                own[side].iter().map(|(name, value)| format!("{name}={value}")).collect();
            if names[0] != names[1] || parts.is_empty() {
                parts.insert(0, names[side].clone());
            }
            mask_secrets(&parts.join(", "))
        };
        let cool_down_s = cool_down.as_secs_f64();
        let targets = [0, 1].map(|side: usize| mask_secrets(&names[side]));
        let names = [name(0), name(1)];
        let demand = super::demand(settings)?;
        Ok(Self {
            pairs,
            levels,
            seed,
            margin,
            cool_down_s,
            names,
            targets,
            own,
            demand,
            at_once,
            proof,
        })
    }
}

/// Reads the levels, if the setting that profiles have them in is a list or a range.
fn levels(
    settings: &mut Settings,
    workload: &Description,
    targets: &[Target],
) -> Result<Option<(LevelUnit, Vec<u32>)>, SpecError> {
    let unit = LevelUnit::of(workload);
    let setting = unit.setting();
    if !settings.get(setting).is_some_and(is_list) {
        return Ok(None);
    }
    let asked = settings
        .read_or(setting, str::parse, RequestedLevels::to_string, || RequestedLevels::Auto)?;
    let RequestedLevels::Given(levels) = asked else {
        return Err(SpecError::new(format!(
            "--{setting} auto: a comparison needs the same levels for both sides; give a list \
             (1,2,4,8) or a range that doubles (1..64)"
        )));
    };
    let most = targets.iter().filter_map(|target| target.database.capabilities().users_max);
    for (most, reason) in most {
        if let Some(level) = levels.iter().find(|level| **level > most) {
            return Err(SpecError::new(format!(
                "{level} {} are too many: {reason}; use at most {most}",
                unit.words()
            )));
        }
    }
    Ok(Some((unit, levels)))
}

/// Whether the text of a setting is several levels.
pub(super) fn is_list(text: &str) -> bool {
    text.contains(',') || text.contains("..") || text.trim() == "auto"
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
        if !may_differ(JobKind::Compare, name, options, settings.of_client()) {
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
pub(super) fn given(own: &[(String, String)]) -> Vec<(String, GivenValue)> {
    own.iter().map(|(name, value)| (name.clone(), value.into())).collect()
}

/// The question of a comparison in pairs: which run is next.
#[derive(Clone, Debug)]
pub struct Pairs {
    request: PairsRequest,
    label: Option<String>,
    /// What each step is.
    turns: Vec<Turn>,
    results: Vec<OfPair>,
    failed_runs: Vec<FailedRun>,
    /// Server settings of the run that is reported next.
    server_settings: Vec<(String, String)>,
    /// What replays of the sides answered.
    answers: [SideAnswers; 2],
}

impl Pairs {
    /// Creates the question, before any run.
    #[must_use]
    pub fn new(request: PairsRequest, label: Option<String>) -> Self {
        let (results, failed_runs, server_settings, answers) = Default::default();
        let levels = request.levels.as_ref().map_or(1, |(_, levels)| levels.len());
        let turns = match request.at_once {
            None => turns(request.pairs, levels, request.seed),
            Some(_) => turns_at_once(request.pairs),
        };
        Self { request, label, turns, results, failed_runs, server_settings, answers }
    }

    fn step(&self, number: u32) -> PlannedRun {
        let turn = self.turns[number as usize];
        let side = usize::from(turn.is_b);
        let mut title = format!("{} ({})", ["A", "B"][side], self.request.names[side]);
        let mut settings = given(&self.request.own[side]);
        if let Some((unit, levels)) = &self.request.levels {
            let level = levels[turn.level];
            settings.extend(unit.settings(level));
            title = format!("{title}, {}", counted(u64::from(level), unit.words()));
        }
        PlannedRun { number, target: side, settings, title }
    }

    /// The first step of a side, at the highest level: if that is possible, so are the others.
    fn first(&self, is_b: bool) -> Option<PlannedRun> {
        let steps = (0..).zip(&self.turns).filter(|(_, turn)| turn.is_b == is_b);
        let highest = steps.reduce(|a, b| if b.1.level > a.1.level { b } else { a });
        highest.map(|(number, _)| self.step(number))
    }
}

impl Pairs {
    /// Document of the runs so far; `None` before the first run.
    #[must_use]
    pub fn result(&self, job: Option<JobId>, status: Status) -> Option<ComparisonResult> {
        let PairsRequest { margin, cool_down_s, names, levels, .. } = &self.request;
        let failed_runs = self.failed_runs.clone();
        let asked = self.runs()? / 2;
        let at_once = None;
        let pairing = Pairing { asked, made: 0, cool_down_s: *cool_down_s, failed_runs, at_once };
        let label = self.label.clone();
        let asked =
            ComparisonParameters { job, label, status, margin: *margin, pairs: Some(pairing) };
        let names = [names[0].as_str(), names[1].as_str()];
        let unit = levels.as_ref().map(|(unit, _)| *unit);
        let made = ComparisonResult::of_pairs(names, &self.results, unit, asked);
        let [a, b] = &self.answers;
        let answers = AnswersCompared::of(a, b);
        let proof = self.request.proof.as_ref().map(|proof| (proof.check.as_str(), &proof.values));
        made.map(|made| {
            made.with_host_setting(proof).with_answers(answers).judged_by(self.request.demand)
        })
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
        let request = PairsRequest::read(settings, workload, targets)?;
        Ok(Self::new(request, settings.get("label").map(str::to_owned)))
    }

    fn next(&self) -> Option<PlannedRun> {
        let done = self.results.len() + self.failed_runs.len();
        let number = u32::try_from(done).ok()?;
        (done < self.turns.len()).then(|| self.step(number))
    }

    /// One run of each side: a missing target B is reported before A runs.
    fn trials(&self) -> Vec<PlannedRun> {
        [false, true].into_iter().filter_map(|is_b| self.first(is_b)).collect()
    }

    fn runs(&self) -> Option<u32> {
        u32::try_from(self.turns.len()).ok()
    }

    /// Runs at once take the time of one.
    fn at_most(&self) -> Option<RunsAtMost> {
        let at_once = u32::from(self.request.at_once.is_some()) + 1;
        self.runs().map(|runs| RunsAtMost { runs: runs / at_once, windows: runs / at_once })
    }

    fn beside(&self, step: &PlannedRun) -> Option<PlannedRun> {
        let is_first = self.request.at_once.is_some() && step.number.is_multiple_of(2);
        is_first.then(|| self.step(step.number + 1))
    }

    fn margin(&self) -> f64 {
        self.request.margin
    }

    fn half(&self, step: &PlannedRun) -> Option<RequestedHalf> {
        let PairsRequest { seed, targets, pairs, .. } = &self.request;
        Some(RequestedHalf {
            way: self.request.at_once?,
            is_b: self.turns[step.number as usize].is_b,
            seed: seed.wrapping_add(u64::from(step.number / 2)),
            same_target: targets[0] == targets[1],
            pairs: *pairs,
        })
    }

    /// The number of a step determines it, unless the stored run has what only the other side has:
    /// then another version of the program made it, in another order.
    fn is_of(&self, step: &PlannedRun, result: &RunResult) -> bool {
        let PairsRequest { targets, own, levels, .. } = &self.request;
        let (side, other) = (step.target, 1 - step.target);
        let is_set = |name: &str, value: &str| {
            result.settings.iter().any(|set| set.name == name && set.value == value)
        };
        let of_other = own[other].iter().filter(|setting| !own[side].contains(setting));
        let is_of_other = of_other.clone().next().is_some()
            && of_other.clone().all(|(name, value)| is_set(name, value))
            || targets[side] != targets[other] && result.target.as_str() == targets[other];
        let of_level = |level: u32, unit: LevelUnit| is_set(unit.setting(), &level.to_string());
        let level = levels
            .as_ref()
            .map(|(unit, levels)| of_level(levels[self.turns[step.number as usize].level], *unit));
        // What a replay answered is not stored: to compare it, it is made again.
        let has_answers = result.replay.as_ref().is_none_or(|replay| !replay.digests.of.is_empty());
        !is_of_other && level.unwrap_or(true) && has_answers
    }

    fn cell(&self, step: &PlannedRun) -> Vec<(String, String)> {
        let side = ("side".to_owned(), ["A", "B"][step.target].to_owned());
        self.request.own[step.target].iter().cloned().chain([side]).collect()
    }

    fn server_settings(&mut self, settings: Vec<(String, String)>) {
        self.server_settings = settings;
    }

    fn report_result(&mut self, step: &PlannedRun, result: &RunResult) {
        let server_settings = std::mem::take(&mut self.server_settings);
        let mut result = result.clone();
        if let Some(replay) = &mut result.replay {
            let digests = std::mem::take(&mut replay.digests);
            self.answers[step.target].add(digests, replay.clone());
        }
        let run = Run { result, server_settings, seconds: None };
        let turn = self.turns[step.number as usize];
        let level = self.request.levels.as_ref().map(|(_, levels)| levels[turn.level]);
        self.results.push(OfPair { step: step.number, is_b: turn.is_b, level, run });
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
    fn sides_differ_in_what_a_run_can_be_told() {
        let mut settings = Settings::new(JobKind::Compare);
        settings.set("a", "vus=8, --mode = statements", triphammer_settings::Source::Flag);
        let own = own(&settings, "a", &[]).unwrap();
        assert_eq!(own, [("vus", "8"), ("mode", "statements")].map(|(n, v)| (n.into(), v.into())));
        for bad in ["vus", "label=x", "store=x", "json=true", "no-such=1", "target=null:"] {
            let mut settings = Settings::new(JobKind::Compare);
            settings.set("b", bad, triphammer_settings::Source::Flag);
            assert!(super::own(&settings, "b", &[]).is_err(), "{bad}");
        }
    }
}

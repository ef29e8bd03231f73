//! `profile`: how throughput grows with virtual users, or that of sets of queries with streams.
//! Makes repeated runs at several levels and fits a curve (the Universal Scalability Law), which
//! shows the peak and what limits scaling.
//!
//! The order of the runs is a randomised complete block design: each repeat is a block that has
//! every level once, in a separate random order. Anything that changes over time (growing data, a
//! warming cache, other load on the host) then affects all levels alike, and shows as a difference
//! between blocks. In ascending order it would look like scaling.

mod levels;
mod order;

use std::sync::Arc;

use triphammer_core::SpecError;
use triphammer_core::query_plan::QueryTest;
use triphammer_core::session::Database;
use triphammer_core::spec::SESSIONS_MAX;
use triphammer_core::workload::Description;
use triphammer_document::parts::Status;
use triphammer_document::profile::{FailedLevel, LevelRun, LevelUnit, Order, ProfileResult, TEST};
use triphammer_document::result::RunResult;
use triphammer_document::{JobId, JobType};
use triphammer_settings::Settings;
use triphammer_settings::failure::Failure;
use triphammer_settings::target::Target;
use triphammer_statistics::search::{Levels as Search, LevelsPlan};

use crate::campaign::Question;
use crate::step::{PlannedRun, RunsAtMost};

pub use levels::RequestedLevels;
pub use order::sequence;

/// Maximum number of repeats of a level.
const REPEATS_MAX: u32 = 100;
/// Highest level of `auto` if the database sets no limit.
const HIGHEST: u32 = 512;
/// The same for streams.
const HIGHEST_STREAMS: u32 = 64;

/// Name of the option that chooses queries.
const QUERIES: &str = "queries";

/// Parameters of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRequest {
    /// The levels.
    pub levels: RequestedLevels,
    /// Number of runs per level.
    pub repeats: u32,
    /// Seed of the order.
    pub seed: u64,
    /// Highest level of `auto`.
    pub highest: u32,
    /// What the levels count.
    pub unit: LevelUnit,
}

impl ProfileRequest {
    /// Reads the parameters from the settings.
    ///
    /// # Errors
    /// When a value is invalid.
    pub fn read(
        settings: &mut Settings,
        workload: &Description,
        target: &Target,
    ) -> Result<Self, SpecError> {
        let unit = LevelUnit::of(workload);
        if unit == LevelUnit::Streams {
            refuse_other_tests(settings)?;
        }
        let most = target.database.capabilities().users_max.map(|(most, _)| most);
        let levels =
            settings.read_or(unit.setting(), str::parse, RequestedLevels::to_string, || {
                RequestedLevels::Auto
            })?;
        if let (RequestedLevels::Given(levels), Some((most, reason))) =
            (&levels, target.database.capabilities().users_max)
            && let Some(level) = levels.iter().find(|level| **level > most)
        {
            return Err(SpecError::new(format!(
                "{level} {} are too many: {reason}; use at most {most}",
                unit.words()
            )));
        }
        let repeats = settings.parse("repeats")?;
        if !(1..=REPEATS_MAX).contains(&repeats) {
            return Err(SpecError::new(format!(
                "--repeats {repeats}: must be 1 to {REPEATS_MAX}; 3 or more show how much runs vary"
            )));
        }
        let default = if unit == LevelUnit::Streams { HIGHEST_STREAMS } else { HIGHEST };
        let highest = settings.count_or("max-vus", SESSIONS_MAX, || most.unwrap_or(default))?;
        if highest < 2 {
            return Err(SpecError::new("--max-vus must be 2 or more: a profile needs two levels"));
        }
        let seed = settings.parse("seed")?;
        Ok(Self { levels, repeats, seed, highest, unit })
    }
}

/// Rejects what would leave a run without its figure, the throughput of all queries.
fn refuse_other_tests(settings: &Settings) -> Result<(), SpecError> {
    let throughput = QueryTest::Throughput.name();
    if settings.get(TEST).is_some_and(|test| test != throughput) {
        let message =
            format!("--{TEST}: a profile over streams runs the {throughput} test; omit it");
        return Err(SpecError::new(message).about(TEST));
    }
    if settings.get(QUERIES).is_some_and(|queries| queries != "all") {
        let message = format!("--{QUERIES}: the {throughput} test needs all queries; omit it");
        return Err(SpecError::new(message).about(QUERIES));
    }
    Ok(())
}

/// The question of a profile: which level to run next.
#[derive(Clone, Debug)]
pub struct ProfileSearch {
    request: ProfileRequest,
    /// Index of the primary metric's transaction type, whose response times are reported per level;
    /// `None` if the metric counts several types.
    times_of: Option<usize>,
    results: Vec<(PlannedRun, LevelRun)>,
    failed_runs: Vec<FailedLevel>,
    /// Result of the first run.
    first: Option<Box<RunResult>>,
}

impl ProfileSearch {
    /// Creates a profile, before any run.
    #[must_use]
    pub fn new(request: ProfileRequest, workload: &Description) -> Self {
        let times_of = match &*workload.primary_metric.transactions {
            [one] => Some(*one),
            _ => None,
        };
        Self { request, times_of, results: Vec::new(), failed_runs: Vec::new(), first: None }
    }

    /// The search with all results so far, and the levels tried, in order; `None` if the levels are
    /// given.
    fn search(&self) -> Option<(Search, Vec<u32>)> {
        if self.request.levels != RequestedLevels::Auto {
            return None;
        }
        let plan = LevelsPlan { highest: self.request.highest, ..LevelsPlan::default() };
        let (mut search, mut tried) = (Search::new(plan), Vec::new());
        while let Some(level) = search.next() {
            let run = self.results.iter().find(|(step, _)| step.number as usize == tried.len());
            match run {
                Some((_, run)) => search.report_result(level, run.value),
                // A level whose run failed counts as no throughput.
                None if self.is_refused(level) => search.report_result(level, 0.0),
                None => break,
            }
            tried.push(level);
        }
        Some((search, tried))
    }

    /// Levels by step, as far as they are known: all of them if the levels are given.
    fn steps(&self) -> Vec<u32> {
        let ProfileRequest { repeats, seed, .. } = self.request;
        match (&self.request.levels, self.search()) {
            (RequestedLevels::Given(levels), _) => sequence(levels, 0..repeats, seed),
            (RequestedLevels::Auto, None) => Vec::new(),
            (RequestedLevels::Auto, Some((search, mut steps))) => {
                match search.next() {
                    Some(next) => steps.push(next),
                    // The search was the first block.
                    None => {
                        let mut levels = steps.clone();
                        levels.sort_unstable();
                        levels.retain(|level| !self.is_refused(*level));
                        steps.extend(sequence(&levels, 1..repeats, seed));
                    }
                }
                steps
            }
        }
    }

    /// Whether a level is excluded because it, or a lower one, could not be run.
    fn is_refused(&self, users: u32) -> bool {
        self.failed_runs.iter().any(|refused| refused.users <= users)
    }
}

impl ProfileSearch {
    /// Document of the runs so far; `None` before the first run.
    #[must_use]
    pub fn result(&self, job: Option<JobId>, status: Status) -> Option<ProfileResult> {
        let first = self.first.as_deref()?;
        let order = Order {
            asked: self.request.levels.to_string(),
            repeats: self.request.repeats,
            seed: self.request.seed,
            steps: self.steps(),
        };
        let runs = self.results.iter().map(|(_, run)| run.clone()).collect();
        let failed_runs = self.failed_runs.clone();
        Some(ProfileResult::new(first, job, status, order, runs, failed_runs, self.times_of))
    }
}

impl JobType for ProfileSearch {
    type Document = ProfileResult;
}

impl Question for ProfileSearch {
    fn ask(
        settings: &mut Settings,
        workload: &Arc<Description>,
        targets: &[Target],
    ) -> Result<Self, Failure> {
        Ok(Self::new(ProfileRequest::read(settings, workload, &targets[0])?, workload))
    }

    fn next(&self) -> Option<PlannedRun> {
        let is_done = |number: u32| self.results.iter().any(|(step, _)| step.number == number);
        let (number, users) = (0..)
            .zip(self.steps())
            .find(|(number, users)| !is_done(*number) && !self.is_refused(*users))?;
        Some(PlannedRun {
            number,
            target: 0,
            settings: self.request.unit.settings(users),
            title: triphammer_settings::format::counted(
                u64::from(users),
                self.request.unit.words(),
            ),
        })
    }

    fn runs(&self) -> Option<u32> {
        match (&self.request.levels, self.search()) {
            (RequestedLevels::Auto, Some((search, _))) if search.next().is_some() => None,
            _ => u32::try_from(self.steps().len()).ok(),
        }
    }

    fn at_most(&self) -> Option<RunsAtMost> {
        let auto = || u32::try_from(LevelsPlan::default().levels_max).ok();
        let runs = self.runs().or_else(|| Some(auto()? * self.request.repeats))?;
        Some(RunsAtMost { runs, windows: runs })
    }

    fn report_result(&mut self, step: &PlannedRun, result: &RunResult) {
        // Without its figure, a run of queries has no place on the curve.
        if let Some(reason) = &result.primary_metric.unavailable {
            self.report_failure(step, reason);
            return;
        }
        let run = LevelRun::of(step.number, result, self.times_of);
        self.results.push((step.clone(), run));
        self.first.get_or_insert_with(|| Box::new(result.clone()));
    }

    fn report_failure(&mut self, step: &PlannedRun, reason: &str) {
        let users = step.settings.first().and_then(|(_, users)| users.value());
        self.failed_runs.push(FailedLevel {
            users: users.unwrap_or_default(),
            step: step.number,
            reason: triphammer_document::redacted::mask_secrets(reason),
        });
    }

    fn document(&self, job: Option<JobId>, status: Status) -> Option<ProfileResult> {
        self.result(job, status)
    }
}

//! `profile`: how throughput grows with virtual users. Runs at several levels, each repeated, and a curve
//! through them (the Universal Scalability Law) that says where the peak is and what limits.
//!
//! The order of the runs is a randomised complete block design: each repeat is a block that holds every
//! level once, in a random order of its own. Whatever changes with time (data that grows, a cache that
//! warms, a neighbour on the host) then falls on all levels alike, and the difference between blocks shows
//! it. In ascending order it would look like scaling.

pub(crate) mod document;
mod findings;
mod levels;
mod order;

use std::sync::Arc;

use triphammer_core::SpecError;
use triphammer_core::session::Database;
use triphammer_core::spec::SESSIONS_MAX;
use triphammer_core::workload::Description;
use triphammer_statistics::search::{Levels as Search, LevelsPlan};

use crate::campaign::{PlannedRun, Question};
use crate::failure::Failure;
use crate::job::Document;
use crate::result::{JobKind, RunResult, Status};
use crate::settings::Settings;
use crate::store::JobId;
use crate::target::Target;

pub use document::{
    Curve, FailedLevel, Level, LevelRun, Order, PROFILE_FORMAT, PrimaryMetricName, ProfileResult,
    Usl,
};
pub(crate) use findings::parameter;
pub use levels::Asked;
pub use order::sequence;

/// Most repeats of a level.
const REPEATS_MAX: u32 = 100;
/// Highest level that `auto` tries where the database sets no limit.
const HIGHEST: u32 = 512;

/// What is asked of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRequest {
    /// The levels.
    pub levels: Asked,
    /// Runs of each.
    pub repeats: u32,
    /// Seed of the order.
    pub seed: u64,
    /// Highest level of `auto`.
    pub highest: u32,
}

impl ProfileRequest {
    /// From the settings.
    ///
    /// # Errors
    /// When a value cannot be read or cannot be.
    pub fn read(settings: &mut Settings, target: &Target) -> Result<Self, SpecError> {
        let most = target.database.capabilities().users_max.map(|(most, _)| most);
        let levels = settings.read("vus", str::parse, Asked::to_string, || Asked::Auto)?;
        if let (Asked::Given(levels), Some((most, reason))) =
            (&levels, target.database.capabilities().users_max)
            && let Some(level) = levels.iter().find(|level| **level > most)
        {
            return Err(SpecError::new(format!(
                "{level} virtual users are too many: {reason}; use at most {most}"
            )));
        }
        let repeats = settings.parse("repeats", || 3)?;
        if !(1..=REPEATS_MAX).contains(&repeats) {
            return Err(SpecError::new(format!(
                "--repeats {repeats}: give 1 to {REPEATS_MAX}; 3 or more show how far runs differ"
            )));
        }
        let highest = settings.count("max-vus", SESSIONS_MAX, || most.unwrap_or(HIGHEST))?;
        if highest < 2 {
            return Err(SpecError::new("--max-vus: a profile needs two levels; give 2 or more"));
        }
        let seed = settings.parse("seed", || 1)?;
        Ok(Self { levels, repeats, seed, highest })
    }
}

/// A profile's question to a workload: what to run next, and what came out.
#[derive(Clone, Debug)]
pub struct ProfileSearch {
    request: ProfileRequest,
    /// The transaction types of the primary metric; their time is reported by level.
    times_of: Option<usize>,
    results: Vec<(PlannedRun, LevelRun)>,
    failed_runs: Vec<FailedLevel>,
    /// Of the first run.
    first: Option<Box<RunResult>>,
}

impl ProfileSearch {
    /// A profile with nothing run yet.
    #[must_use]
    pub fn new(request: ProfileRequest, workload: &Description) -> Self {
        let times_of = match &*workload.primary_metric.transactions {
            [one] => Some(*one),
            _ => None,
        };
        Self { request, times_of, results: Vec::new(), failed_runs: Vec::new(), first: None }
    }

    /// The search, told everything, and the levels that it has tried in their order; `None` where the
    /// levels are given.
    fn search(&self) -> Option<(Search, Vec<u32>)> {
        if self.request.levels != Asked::Auto {
            return None;
        }
        let plan = LevelsPlan { highest: self.request.highest, ..LevelsPlan::default() };
        let (mut search, mut tried) = (Search::new(plan), Vec::new());
        while let Some(level) = search.next() {
            let run = self.results.iter().find(|(step, _)| step.number as usize == tried.len());
            match run {
                Some((_, run)) => search.report_result(level, run.value),
                // A level that could not be run is as good as no throughput.
                None if self.is_refused(level) => search.report_result(level, 0.0),
                None => break,
            }
            tried.push(level);
        }
        Some((search, tried))
    }

    /// Level by step, as far as it is known: all of it where the levels are given.
    fn steps(&self) -> Vec<u32> {
        let ProfileRequest { repeats, seed, .. } = self.request;
        match (&self.request.levels, self.search()) {
            (Asked::Given(levels), _) => sequence(levels, 0..repeats, seed),
            (Asked::Auto, None) => Vec::new(),
            (Asked::Auto, Some((search, mut steps))) => {
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

    /// Whether a level could not be run. Where one cannot, higher ones need not be tried.
    fn is_refused(&self, users: u32) -> bool {
        self.failed_runs.iter().any(|refused| refused.users <= users)
    }
}

impl ProfileSearch {
    /// What is known; `None` before the first run.
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

impl Question for ProfileSearch {
    const KIND: JobKind = JobKind::Profile;

    fn ask(
        settings: &mut Settings,
        workload: &Arc<Description>,
        targets: &[Target],
    ) -> Result<Self, Failure> {
        Ok(Self::new(ProfileRequest::read(settings, &targets[0])?, workload))
    }

    fn next(&self) -> Option<PlannedRun> {
        let is_done = |number: u32| self.results.iter().any(|(step, _)| step.number == number);
        let (number, users) = (0..)
            .zip(self.steps())
            .find(|(number, users)| !is_done(*number) && !self.is_refused(*users))?;
        Some(PlannedRun {
            number,
            target: 0,
            settings: vec![("vus".to_owned(), users.into())],
            title: crate::report::format::counted(u64::from(users), "virtual users"),
        })
    }

    fn runs(&self) -> Option<u32> {
        match (&self.request.levels, self.search()) {
            (Asked::Auto, Some((search, _))) if search.next().is_some() => None,
            _ => u32::try_from(self.steps().len()).ok(),
        }
    }

    fn report_result(&mut self, step: &PlannedRun, result: &RunResult) {
        let run = LevelRun::of(step.number, result, self.times_of);
        self.results.push((step.clone(), run));
        self.first.get_or_insert_with(|| Box::new(result.clone()));
    }

    fn report_failure(&mut self, step: &PlannedRun, reason: &str) {
        let users = step.settings.first().and_then(|(_, users)| users.value());
        self.failed_runs.push(FailedLevel {
            users: users.unwrap_or_default(),
            step: step.number,
            reason: crate::result::mask_secrets(reason),
        });
    }

    fn document(&self, job: Option<JobId>, status: Status) -> Option<Document> {
        self.result(job, status).map(|result| Document::Profile(Box::new(result)))
    }
}

//! A campaign: runs in sequence that answer one question together, as one job. A profile asks how
//! throughput grows with virtual users, a search for the capacity which rate keeps a limit, a comparison
//! whether B is faster than A. This module knows how to run, rest, stop, store and go on; what to run next
//! is the question's.
//!
//! ```text
//! Question::next ──► run (a stored job of its own, child of the campaign's) ──► Question::tell ─┐
//!       ▲                                                                                       │
//!       └────────── rest (--cool-down) ◄────────── the document so far is stored ◄─────────────────┘
//! ```
//!
//! A question keeps no state but what it was told, and asks for the same steps when it is told the same
//! results again. So a campaign that was interrupted, in whatever way, continues from the runs that the
//! store holds: a complete run is never made again, and one that was cut short is.

mod resume;
pub(crate) mod step;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use triphammer_core::session::Database;
use triphammer_core::workload::Description;

use crate::command::JobKind;
use crate::document::{JobDocument as _, JobType};
use crate::failure::Failure;
use crate::job::handle::Handle;
use crate::journal::Journal;
use crate::result::{RunResult, Status};
use crate::run::Resolved;
use crate::settings::Settings;
use crate::store::{JobId, Store};
use crate::target::Target;
use crate::watch::{InStep, JobEvent, Watch};

pub(crate) use resume::CampaignPlan;
pub(crate) use resume::find_job;
pub use resume::given_settings;
pub use resume::{Resumed, resume};
pub use step::{Begin, PlannedRun};

/// Steps in a row that may fail before the campaign ends: it is not the step then.
const FAILURES_MAX: u32 = 3;

/// The rest between two runs when nobody says: shorter on the embedded default.
#[must_use]
pub const fn cool_down(embedded: bool) -> Duration {
    Duration::from_secs(if embedded { 1 } else { 10 })
}

/// What a campaign asks. All that it knows is what it was told, in the order of the steps.
pub trait Question: JobType + Sized {
    /// The question, with nothing run yet.
    ///
    /// # Errors
    /// When a setting cannot be read or cannot be.
    fn ask(
        settings: &mut Settings,
        workload: &Arc<Description>,
        targets: &[Target],
    ) -> Result<Self, Failure>;

    /// The run to make next; `None` when the question is answered. Asking does not change it.
    fn next(&self) -> Option<PlannedRun>;

    /// Runs that must be possible before the first begins: one on each target.
    fn trials(&self) -> Vec<PlannedRun> {
        self.next().into_iter().collect()
    }

    /// How many runs there will be in all, where that is known.
    fn runs(&self) -> Option<u32>;

    /// Whether a stored run was made as the step asks. Where a step failed before and went well this
    /// time, those after it may be other ones.
    fn is_of(&self, step: &PlannedRun, result: &RunResult) -> bool {
        step.settings.iter().all(|(name, value)| {
            result.settings.iter().any(|set| set.name == *name && set.value == value.text())
        })
    }

    /// Takes what the server was set to in the run that is reported next, where the store knows it.
    fn server_settings(&mut self, settings: Vec<(String, String)>) {
        drop(settings);
    }

    /// Takes a run that came to its end.
    fn report_result(&mut self, step: &PlannedRun, result: &RunResult);

    /// Takes that a step could not be run, and why.
    fn report_failure(&mut self, step: &PlannedRun, reason: &str);

    /// The document of what is known; `None` before the first run.
    fn document(&self, job: Option<JobId>, status: Status) -> Option<Self::Document>;
}

/// What a campaign works with.
#[derive(Debug)]
pub struct Campaign<'a> {
    /// Its kind in the store.
    pub kind: JobKind,
    /// What every run drives.
    pub workload: &'a Arc<Description>,
    /// Everything said, of the campaign's command.
    pub settings: &'a Settings,
    /// The databases, at least one: steps name theirs by place.
    pub targets: &'a [Target],
    /// The rest between two runs.
    pub cool_down: Duration,
    /// An interrupted job to go on with.
    pub resumed: Option<&'a Resumed>,
}

impl Campaign<'_> {
    /// Resolves the run of a step.
    ///
    /// # Errors
    /// As [`Resolved::new`].
    pub fn resolve(
        &self,
        step: &PlannedRun,
        watch: &Watch<'_>,
        is_preview: bool,
    ) -> Result<(Settings, Resolved), Failure> {
        let mut settings = self.settings.of_run(&step.settings);
        let target = &self.targets[step.target];
        if step.target > 0 {
            settings.show("target", target.database.target(), &self.settings.source("other"));
        }
        let resolved = Resolved::new(&mut settings, self.workload, target, watch, is_preview)?;
        Ok((settings, resolved))
    }

    /// Makes the runs that the question asks for until it is answered or `handle` says so.
    ///
    /// # Errors
    /// When the first run cannot be resolved, and when the job to go on with cannot be taken up.
    pub fn conduct<Q: Question>(
        &self,
        question: &mut Q,
        store: Option<&mut Store>,
        handle: &Handle,
        watch: &Watch<'_>,
    ) -> Result<Answered<Q::Document>, Failure> {
        let warn = &mut |text: &str| watch.warn(text);
        let mut scale = None;
        let mut longest = Duration::ZERO;
        for trial in question.trials() {
            let (_, resolved) = self.resolve(&trial, watch, false)?;
            longest = longest.max(resolved.longest());
            scale.get_or_insert(resolved.scale());
        }
        let Some(scale) = scale else {
            return Err(Failure::refuse("there is nothing to run"));
        };
        let each = self.cool_down + longest;
        let mut stored = match (self.resumed, store.as_deref()) {
            (Some(resumed), Some(store)) => resume::complete_runs(store, resumed.job)?,
            _ => BTreeMap::new(),
        };
        let mut journal = match self.resumed {
            Some(resumed) => Journal::resumed(store, resumed.job)?,
            None => Journal::of_campaign(
                store,
                self.kind,
                self.workload,
                &self.targets[0],
                self.settings,
                scale,
                warn,
            ),
        };
        let done = u32::try_from(stored.len()).unwrap_or(u32::MAX);
        watch.report(JobEvent::Began(journal.job));
        watch.report(JobEvent::Sequence(&Begin { runs: question.runs(), done, each }));
        let mut sequence = Sequence { handle, watch, done: 0, failures: 0, made: false };
        let ended = loop {
            let Some(step) = question.next() else { break (Status::Complete, None) };
            let made = stored.remove(&step.number).filter(|run| question.is_of(&step, run));
            if let Some(result) = made {
                question.server_settings(journal.settings_of(&result));
                question.report_result(&step, &result);
                sequence.done += 1;
                continue;
            }
            sequence.rest(self.cool_down);
            if handle.is_stopped() {
                break (Status::Interrupted, None);
            }
            match sequence.run(self, question, &step, &mut journal) {
                Going::On => {}
                Going::Stopped => break (Status::Interrupted, None),
                Going::GivenUp(reason) => break (Status::Failed, Some(reason)),
            }
            if let Some(document) = question.document(journal.job, Status::Interrupted) {
                journal.checkpoint(&document, document.primary_metric(), warn);
            }
        };
        let (status, reason) = ended;
        let mut document = question.document(journal.job, status);
        match (&document, &reason) {
            (Some(document), _) => {
                journal.checkpoint(document, document.primary_metric(), warn);
                journal.end(status, document, warn);
            }
            (None, reason) => {
                let words = reason.as_deref().unwrap_or("stopped before the first run ended");
                journal.end(status, words, warn);
            }
        }
        let is_stored = journal.is_whole();
        let job = journal.job.filter(|_| is_stored);
        if job.is_none() {
            document = question.document(None, status);
        }
        Ok(Answered { document, status, job, is_stored, reason })
    }
}

/// How a campaign ended.
#[derive(Debug)]
pub struct Answered<D> {
    /// What is known; `None` where no run is complete.
    pub document: Option<D>,
    /// Complete, interrupted or failed.
    pub status: Status,
    /// Its number in the store; `None` when it is not there, or not whole.
    pub job: Option<JobId>,
    /// False when it was to be stored and is not, or not whole.
    pub is_stored: bool,
    /// Why it failed.
    pub reason: Option<String>,
}

/// Whether the sequence continues.
enum Going {
    On,
    Stopped,
    GivenUp(String),
}

/// The runs as they follow each other.
struct Sequence<'a, 'w> {
    handle: &'a Handle,
    watch: &'a Watch<'w>,
    done: u32,
    /// Steps in a row that could not be run.
    failures: u32,
    /// A run was made by this process.
    made: bool,
}

impl Sequence<'_, '_> {
    /// Lets the database settle, when there was a run before.
    fn rest(&mut self, cool_down: Duration) {
        if self.made && !cool_down.is_zero() && !self.handle.is_stopped() {
            self.watch.report(JobEvent::Rest(cool_down));
            self.handle.wait(cool_down);
        }
    }

    fn run<Q: Question>(
        &mut self,
        campaign: &Campaign<'_>,
        question: &mut Q,
        step: &PlannedRun,
        journal: &mut Journal<'_>,
    ) -> Going {
        let (watch, done, of) = (self.watch, self.done, question.runs());
        watch.report(JobEvent::Step { step, done, of });
        self.made = true;
        let parent = journal.job.map(|job| (job, step.number));
        let run = campaign.resolve(step, watch, false).and_then(|(settings, resolved)| {
            watch.report(JobEvent::StepResolved(resolved.spec()));
            watch.report(JobEvent::RunInfo(&resolved.info(&settings)));
            let mut in_step = InStep(watch);
            let watch = Watch::new(&mut in_step);
            resolved.step_of(parent).run(&settings, journal.store(), self.handle, &watch)
        });
        self.handle.ended();
        match run {
            Ok(result) if result.status == Status::Complete => {
                self.failures = 0;
                self.done += 1;
                question.server_settings(journal.settings_of(&result));
                question.report_result(step, &result);
                watch.report(JobEvent::StepEnded { step, result: &result });
                Going::On
            }
            // Stopped while it connected, or later.
            _ if self.handle.is_stopped() => Going::Stopped,
            Ok(result) => self.refused(question, step, &cause(&result)),
            Err(failure) => self.refused(question, step, &failure.to_string()),
        }
    }

    fn refused<Q: Question>(&mut self, question: &mut Q, step: &PlannedRun, reason: &str) -> Going {
        self.watch.report(JobEvent::StepRefused { step, reason });
        question.report_failure(step, reason);
        self.failures += 1;
        if self.failures < FAILURES_MAX {
            return Going::On;
        }
        Going::GivenUp(format!(
            "{FAILURES_MAX} consecutive runs failed; the last one, with {}: {reason}",
            step.title
        ))
    }
}

/// Why a run did not come to its end.
fn cause(result: &RunResult) -> String {
    let cause = result.cause().unwrap_or_else(|| result.status.name().to_owned());
    match result.errors.first() {
        Some(error) => format!("{cause}: {}", error.message),
        None => cause,
    }
}

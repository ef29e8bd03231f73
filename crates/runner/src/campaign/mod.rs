//! A campaign: a sequence of runs that answer one question together, as one job. A profile measures
//! how throughput grows with virtual users, a capacity search finds the highest rate within a
//! limit, a comparison decides whether B is faster than A, and a matrix covers combinations of
//! settings. This module runs, pauses, stops,
//! stores and resumes; the question decides what to run next.
//!
//! ```text
//! Question::next ──► run (a stored child job of the campaign) ──► Question::report_result ─┐
//!       ▲                                                                                  │
//!       └────────── pause (--cool-down) ◄────────── the document so far is stored ◄────────┘
//! ```
//!
//! The only state of a question is the results that it has received, and the same results lead to
//! the same steps. A campaign that was interrupted in any way therefore continues from the stored
//! runs: complete runs are not repeated, incomplete ones are.

mod answer;
mod at_once;
mod cool_down;
mod differing;
mod resume;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use triphammer_core::session::Database;
use triphammer_core::workload::Description;
use triphammer_core::{Scale, SpecError};
use triphammer_document::parts::Status;
use triphammer_document::result::{FingerprintDepth, RunResult};
use triphammer_document::{JobDocument as _, JobId, JobType};
use triphammer_observe::doctor::HostChange;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::handle::Handle;
use triphammer_settings::target::Target;
use triphammer_settings::{GivenValue, Settings, Source};
use triphammer_store::Store;

use crate::journal::{Journal, Warn};
use crate::restore::{RestorePlan, Restorer};
use crate::run::{RequestedHalf, Resolved};
use crate::watch::{InStep, JobEvent, Watch};

use crate::step::{Begin, PlannedRun, RunsAtMost};
pub use answer::RecordedRuns;
pub(crate) use answer::answer;
pub use cool_down::CoolDown;
pub(crate) use differing::may_differ;
pub use resume::{Resumed, resume};

/// Number of consecutive failed steps that ends the campaign: then the step is not the cause.
const FAILURES_MAX: u32 = 3;

/// A question that a campaign answers. Its only state is the results received, in step order.
pub trait Question: JobType + Sized {
    /// Creates the question, before any run.
    ///
    /// # Errors
    /// When the value of a setting is invalid.
    fn ask(
        settings: &mut Settings,
        workload: &Arc<Description>,
        targets: &[Target],
    ) -> Result<Self, Failure>;

    /// Returns the next run; `None` when the question is answered. Does not change the question.
    fn next(&self) -> Option<PlannedRun>;

    /// Returns the run that takes place at the same time as this one; `None` if it is alone. It has the
    /// next number.
    fn beside(&self, step: &PlannedRun) -> Option<PlannedRun> {
        let _ = step;
        None
    }

    /// How the run of a step shares the time with the one beside it; `None` if it is alone.
    fn half(&self, step: &PlannedRun) -> Option<RequestedHalf> {
        let _ = step;
        None
    }

    /// Difference that does not matter, as a share from 0 to 1: what ends a pair of runs at once when it
    /// is decided has to know.
    fn margin(&self) -> f64 {
        0.0
    }

    /// Returns the runs that must be possible before the first starts: one on each target.
    fn trials(&self) -> Vec<PlannedRun> {
        self.next().into_iter().collect()
    }

    /// Returns the total number of runs, if known.
    fn runs(&self) -> Option<u32>;

    /// Returns how many runs the question needs at most; `None` if that is not known.
    fn at_most(&self) -> Option<RunsAtMost> {
        self.runs().map(|runs| RunsAtMost { runs, windows: runs })
    }

    /// Whether a stored run has the settings of the step. If a step failed before a resume and
    /// succeeded after it, the steps that follow can differ.
    fn is_of(&self, step: &PlannedRun, result: &RunResult) -> bool {
        step.settings.iter().all(|(name, value)| {
            result.settings.iter().any(|set| set.name == *name && set.value == value.text())
        })
    }

    /// The settings in which the run of a step differs from others, for the command of a restore.
    fn cell(&self, step: &PlannedRun) -> Vec<(String, String)> {
        let text = |(name, value): &(String, GivenValue)| (name.clone(), value.text().to_owned());
        step.settings.iter().map(text).collect()
    }

    /// Where the target of a step is from, if it is not the first one.
    fn source_of_target(&self, settings: &Settings, step: &PlannedRun) -> Source {
        let _ = step;
        settings.source("other")
    }

    /// Receives the server settings of the run that is reported next, if they are stored.
    fn server_settings(&mut self, settings: Vec<(String, String)>) {
        drop(settings);
    }

    /// Receives the result of a complete run.
    fn report_result(&mut self, step: &PlannedRun, result: &RunResult);

    /// Describes the run that was reported last in terms of the question; `None` to show its primary
    /// metric.
    fn outcome(&self) -> Option<String> {
        None
    }

    /// Receives the reason why a step failed.
    fn report_failure(&mut self, step: &PlannedRun, reason: &str);

    /// Returns the document of the runs so far; `None` before the first run.
    fn document(&self, job: Option<JobId>, status: Status) -> Option<Self::Document>;
}

/// Everything that a campaign works with.
#[derive(Debug)]
pub struct Campaign<'a> {
    /// Kind of the job in the store.
    pub kind: JobKind,
    /// The workload of every run.
    pub workload: &'a Arc<Description>,
    /// All settings of the campaign's command.
    pub settings: &'a Settings,
    /// The databases, at least one; steps refer to them by index.
    pub targets: &'a [Target],
    /// Pause between two runs.
    pub cool_down: CoolDown,
    /// The setting of this host that is changed before each run, if there is one.
    pub host: Option<&'a HostChange>,
    /// What restores the databases before each run, if anything does.
    pub restore: Option<&'a RestorePlan>,
    /// How the states of restored databases are compared.
    pub depth: Option<FingerprintDepth>,
    /// The interrupted job to resume, if any.
    pub resumed: Option<&'a Resumed>,
}

impl Campaign<'_> {
    /// Resolves the run of a step.
    ///
    /// # Errors
    /// As [`Resolved::new`].
    pub fn resolve<Q: Question>(
        &self,
        question: &Q,
        step: &PlannedRun,
        watch: &Watch<'_>,
        is_preview: bool,
    ) -> Result<(Settings, Resolved), Failure> {
        let mut settings = self.settings.of_run(&step.settings);
        let target = &self.targets[step.target];
        if step.target > 0 {
            let source = question.source_of_target(self.settings, step);
            settings.show("target", target.database.target(), &source);
        }
        let mut resolved = Resolved::new(&mut settings, self.workload, target, watch, is_preview)?;
        if let Some(half) = question.half(step) {
            resolved = resolved.half_of(&half, &mut settings)?;
        }
        Ok((settings, resolved))
    }

    /// Makes the runs of the question until it is answered or `handle` stops the campaign.
    ///
    /// # Errors
    /// When the first run cannot be resolved, or the job to resume cannot be taken over.
    pub fn conduct<Q: Question>(
        &self,
        question: &mut Q,
        store: Option<&mut Store>,
        handle: &Handle,
        watch: &Watch<'_>,
    ) -> Result<CampaignEnd<Q::Document>, Failure> {
        self.refuse_lost_state()?;
        let databases = (&**self.workload, self.targets);
        let mut restorer = Restorer::begin(self.restore, databases, self.depth, handle, watch)?;
        let (scale, longest) = self.try_out(question, watch)?;
        let made = restorer.make(watch);
        let ended = made.and_then(|()| {
            self.conduct_from(question, store, (handle, watch), &restorer, (scale, longest))
        });
        restorer.end(watch);
        ended
    }

    /// Rejects the resumption of runs whose state was dropped with the interrupted job.
    fn refuse_lost_state(&self) -> Result<(), Failure> {
        if self.resumed.is_none() || !self.restore.is_some_and(RestorePlan::ends_with_job) {
            return Ok(());
        }
        let message = "the snapshot of the interrupted job was dropped at its end, so that the runs that are \
                       left would begin from another state; begin again, with --restore copy=NAME and a \
                       snapshot that stays, to be able to resume";
        Err(SpecError::new(message).about("restore").into())
    }

    /// Makes the runs, each from the restored state.
    fn conduct_from<Q: Question>(
        &self,
        question: &mut Q,
        store: Option<&mut Store>,
        (handle, watch): (&Handle, &Watch<'_>),
        restorer: &Restorer<'_>,
        (scale, longest): (Scale, Duration),
    ) -> Result<CampaignEnd<Q::Document>, Failure> {
        let warn = &mut |text: &str| watch.warn(text);
        let mut stored = match (self.resumed, store.as_deref()) {
            (Some(resumed), Some(store)) => resume::complete_runs(store, resumed.job)?,
            _ => BTreeMap::new(),
        };
        let mut journal = self.journal(store, scale, warn)?;
        let done = u32::try_from(stored.len()).unwrap_or(u32::MAX);
        watch.report(JobEvent::Began(journal.job));
        let (runs, at_most) = (question.runs(), question.at_most());
        let each = self.cool_down.most + longest;
        watch.report(JobEvent::Sequence(&Begin { runs, at_most, done, each }));
        let mut sequence = Sequence::new(handle, watch, restorer);
        let ended = loop {
            let Some(step) = question.next() else { break (Status::Complete, None) };
            let beside = question.beside(&step);
            let steps = [Some(step), beside].into_iter().flatten().collect::<Vec<_>>();
            if let Some(results) = at_once::taken(&mut stored, question, &steps) {
                for (step, result) in steps.iter().zip(&results) {
                    question.server_settings(journal.settings_of(result));
                    question.report_result(step, result);
                    sequence.done += 1;
                }
                continue;
            }
            sequence.rest(self.cool_down);
            if handle.is_stopped() {
                break (Status::Interrupted, None);
            }
            let going = match steps.as_slice() {
                [a, b] => sequence.run_at_once(self, question, [a, b], &mut journal),
                [step, ..] => sequence.run(self, question, step, &mut journal),
                [] => unreachable!("there is a step"),
            };
            match going {
                Going::On => {}
                Going::Stopped => break (Status::Interrupted, None),
                Going::GivenUp(reason) => break (Status::Failed, Some(reason)),
            }
            if let Some(document) = question.document(journal.job, Status::Interrupted) {
                journal.checkpoint(&document, document.primary_metric(), warn);
            }
        };
        Ok(end(question, journal, ended, warn))
    }

    /// Resolves the runs that must be possible, and returns the scale of the first and the time of
    /// the longest.
    fn try_out<Q: Question>(
        &self,
        question: &Q,
        watch: &Watch<'_>,
    ) -> Result<(Scale, Duration), Failure> {
        let mut scale = None;
        let mut longest = Duration::ZERO;
        for trial in question.trials() {
            let (_, resolved) = self.resolve(question, &trial, watch, false)?;
            longest = longest.max(resolved.longest());
            scale.get_or_insert(resolved.scale());
        }
        scale
            .map(|scale| (scale, longest))
            .ok_or_else(|| Failure::refuse("there is nothing to run"))
    }

    /// Begins the job, or takes over the one to resume.
    fn journal<'s>(
        &self,
        store: Option<&'s mut Store>,
        scale: Scale,
        warn: Warn<'_>,
    ) -> Result<Journal<'s>, Failure> {
        if let Some(resumed) = self.resumed {
            return Journal::resumed(store, resumed.job);
        }
        let (kind, workload, settings) = (self.kind, self.workload, self.settings);
        let target = &self.targets[0];
        Ok(Journal::of_campaign(store, kind, workload, target, settings, scale, warn))
    }
}

/// Stores the end of a campaign, with the reason for a failure.
fn end<Q: Question>(
    question: &Q,
    mut journal: Journal<'_>,
    (status, reason): (Status, Option<String>),
    warn: Warn<'_>,
) -> CampaignEnd<Q::Document> {
    let mut document = question.document(journal.job, status);
    match &document {
        Some(document) => {
            journal.checkpoint(document, document.primary_metric(), warn);
            journal.end_with(document, warn);
        }
        None => {
            let words = reason.as_deref().unwrap_or("stopped before the first run ended");
            journal.end_without(status, words, warn);
        }
    }
    let is_stored = journal.is_whole();
    let job = journal.job.filter(|_| is_stored);
    if job.is_none() {
        document = question.document(None, status);
    }
    CampaignEnd { document, status, job, is_stored, reason }
}

/// How a campaign ended.
#[derive(Debug)]
pub struct CampaignEnd<D> {
    /// Document of the complete runs; `None` if there are none.
    pub document: Option<D>,
    /// Complete, interrupted or failed.
    pub status: Status,
    /// Job number; `None` if the job is not, or not completely, in the store.
    pub job: Option<JobId>,
    /// False if the job could not be stored completely although it should be.
    pub is_stored: bool,
    /// Reason for a failure.
    pub reason: Option<String>,
}

/// Whether the sequence continues.
enum Going {
    On,
    Stopped,
    GivenUp(String),
}

/// The sequence of runs.
struct Sequence<'a, 'w> {
    handle: &'a Handle,
    watch: &'a Watch<'w>,
    restorer: &'a Restorer<'a>,
    done: u32,
    /// Number of consecutive failed steps.
    failures: u32,
    /// Whether this process has made a run.
    made: bool,
    /// Whether the servers of all its runs were on this host.
    is_here: bool,
    /// Warnings of its runs so far.
    warned: BTreeSet<String>,
}

impl<'a, 'w> Sequence<'a, 'w> {
    fn new(handle: &'a Handle, watch: &'a Watch<'w>, restorer: &'a Restorer<'a>) -> Self {
        let warned = BTreeSet::new();
        handle.compares();
        Self { handle, watch, restorer, done: 0, failures: 0, made: false, is_here: true, warned }
    }

    /// Pauses before a run, except before the first of this process.
    fn rest(&self, cool_down: CoolDown) {
        if self.made && !cool_down.most.is_zero() && !self.handle.is_stopped() {
            self.watch.report(JobEvent::Rest(cool_down.most));
            cool_down.wait(self.handle, self.is_here);
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
        if let Some(Err(why)) = campaign.host.map(|host| host.apply(step.target)) {
            return self.refused(question, step, &why);
        }
        let restored = match self.restorer.before(step.target, &question.cell(step), watch) {
            Ok(restored) => restored,
            Err(_) if self.handle.is_stopped() => return Going::Stopped,
            Err(failure) => return self.refused(question, step, &failure.to_string()),
        };
        let resolved = campaign.resolve(question, step, watch, false);
        let run = resolved.and_then(|(settings, resolved)| {
            watch.report(JobEvent::StepResolved(resolved.spec()));
            watch.report(JobEvent::RunInfo(&resolved.info(&settings)));
            let mut in_step = InStep { watch, warned: &mut self.warned };
            let watch = Watch::new(&mut in_step);
            resolved.restored(restored).step_of(parent).run(
                &settings,
                journal.store(),
                self.handle,
                &watch,
            )
        });
        self.handle.ended();
        self.is_here &= run.as_ref().is_ok_and(is_here);
        match run {
            Ok(result) if result.status == Status::Complete => {
                self.completed(question, step, &result, journal);
                Going::On
            }
            // Stopped while the run connected, or later.
            _ if self.handle.is_stopped() => Going::Stopped,
            Ok(result) => self.refused(question, step, &cause(&result)),
            Err(failure) => self.refused(question, step, &failure.to_string()),
        }
    }

    /// Reports a complete run.
    fn completed<Q: Question>(
        &mut self,
        question: &mut Q,
        step: &PlannedRun,
        result: &RunResult,
        journal: &Journal<'_>,
    ) {
        self.failures = 0;
        self.done += 1;
        question.server_settings(journal.settings_of(result));
        question.report_result(step, result);
        let outcome = question.outcome();
        let outcome = outcome.as_deref();
        self.watch.report(JobEvent::StepEnded { step, result, outcome });
    }

    fn refused<Q: Question>(&mut self, question: &mut Q, step: &PlannedRun, reason: &str) -> Going {
        self.watch.report(JobEvent::StepRejected { step, reason });
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

/// Whether the server of a run was on this host.
fn is_here(result: &RunResult) -> bool {
    result.server.same_host == Some(true)
}

/// Returns the reason why a run is incomplete.
fn cause(result: &RunResult) -> String {
    let cause = result.cause().unwrap_or_else(|| result.status.name().to_owned());
    match result.errors.first() {
        Some(error) => format!("{cause}: {}", error.message),
        None => cause,
    }
}

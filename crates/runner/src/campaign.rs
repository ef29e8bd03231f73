//! A campaign: runs in sequence that answer one question together, as one job. A profile asks how
//! throughput grows with virtual users, a search for the capacity which rate keeps a limit, a comparison
//! whether B is faster than A. This module knows how to run, rest, stop, store and go on; what to run next
//! is the question's.
//!
//! ```text
//! Question::next ──► run (a stored job of its own, child of the campaign's) ──► Question::tell ─┐
//!       ▲                                                                                       │
//!       └────────── rest (--settle) ◄────────── the document so far is stored ◄─────────────────┘
//! ```
//!
//! A question keeps no state but what it was told, and asks for the same steps when it is told the same
//! results again. So a campaign that was interrupted, in whatever way, goes on from the runs that the
//! store holds: a complete run is never made again, and one that was cut short is.

mod resume;
mod stopper;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use triphammer_core::engine;
use triphammer_core::event::Event;
use triphammer_core::session::Database;
use triphammer_core::workload::Description;

use crate::failure::Failure;
use crate::journal::Journal;
use crate::progress::Progress;
use crate::result::{JobKind, RunResult, Status};
use crate::run::{self, Resolved};
use crate::second::Second;
use crate::settings::Settings;
use crate::store::{JobId, Store};
use crate::target::Target;

pub(crate) use resume::Plan;
pub(crate) use resume::find_job;
pub use resume::{Resumed, resume};
pub use stopper::Stopper;

/// Steps in a row that may fail before the campaign ends: it is not the step then.
const FAILURES_MAX: u32 = 3;

/// The rest between two runs when nobody says: shorter on the embedded default.
#[must_use]
pub const fn settle(embedded: bool) -> Duration {
    Duration::from_secs(if embedded { 1 } else { 10 })
}

/// A run that a question wants made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Place in the sequence, from 0.
    pub number: u32,
    /// Which of the campaign's targets it is run on.
    pub target: usize,
    /// What the question decides of the run: settings by name.
    pub settings: Vec<(String, String)>,
    /// What is run, for people: `8 virtual users`.
    pub title: String,
}

/// What a campaign asks. All that it knows is what it was told, in the order of the steps.
pub trait Question {
    /// What the campaign leaves.
    type Document: Serialize;

    /// Its kind in the store.
    const KIND: JobKind;

    /// The run to make next; `None` when the question is answered. Asking does not change it.
    fn next(&self) -> Option<Step>;

    /// Runs that must be possible before the first begins: one on each target.
    fn trials(&self) -> Vec<Step> {
        self.next().into_iter().collect()
    }

    /// How many runs there will be in all, where that is known.
    fn runs(&self) -> Option<u32>;

    /// Whether a stored run was made as the step asks. Where a step failed before and went well this
    /// time, those after it may be other ones.
    fn is_of(&self, step: &Step, result: &RunResult) -> bool {
        step.settings.iter().all(|(name, value)| {
            result.settings.iter().any(|set| set.name == *name && set.value == *value)
        })
    }

    /// Takes what the server was set to in the run that is told next, where the store knows it.
    fn server_settings(&mut self, settings: Vec<(String, String)>) {
        drop(settings);
    }

    /// Takes a run that came to its end.
    fn tell(&mut self, step: &Step, result: &RunResult);

    /// Takes that a step could not be run, and why.
    fn refused(&mut self, step: &Step, reason: &str);

    /// The document of what is known; `None` before the first run.
    fn document(&self, job: Option<JobId>, status: Status) -> Option<Self::Document>;

    /// Name and value of the first figure, for lists.
    fn headline(document: &Self::Document) -> Option<(String, f64)>;
}

/// Those who watch a campaign; the runs in it they hear as [`run::Observer`]s.
pub trait Observer: run::Observer {
    /// The campaign has begun or goes on.
    fn starts(&mut self, begin: &Begin);
    /// A step's run begins; `done` are done, of `of` where that is known.
    fn step(&mut self, step: &Step, done: u32, of: Option<u32>);
    /// A step's run has ended.
    fn ended(&mut self, step: &Step, result: &RunResult);
    /// A step could not be run.
    fn refused(&mut self, step: &Step, reason: &str);
    /// A rest before the next run.
    fn settles(&mut self, rest: Duration);
}

/// What is known when a campaign begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Its number in the store.
    pub job: Option<JobId>,
    /// Runs in all, where that is known.
    pub runs: Option<u32>,
    /// Of which the store holds these already.
    pub done: u32,
    /// Longest time of a run with the rest before it, without waits for connections and drains.
    pub each: Duration,
}

/// What a campaign works with.
#[derive(Debug)]
pub struct Campaign<'a> {
    /// What every run drives.
    pub workload: &'a Arc<Description>,
    /// Everything said, of the campaign's command.
    pub settings: &'a Settings,
    /// The databases, at least one: steps name theirs by place.
    pub targets: &'a [Target],
    /// The rest between two runs.
    pub settle: Duration,
    /// An interrupted job to go on with.
    pub resumed: Option<&'a Resumed>,
}

/// How a campaign ended.
#[derive(Clone, Debug)]
pub struct Ended<T> {
    /// Its number in the store; `None` when it is not there, or not whole.
    pub job: Option<JobId>,
    /// False when it was to be stored and is not, or not whole.
    pub is_stored: bool,
    /// Complete, interrupted, or failed when runs could not be made.
    pub status: Status,
    /// What it found; `None` when no run came to its end.
    pub document: Option<T>,
    /// Why it failed.
    pub reason: Option<String>,
}

impl Campaign<'_> {
    /// Resolves the run of a step.
    ///
    /// # Errors
    /// As [`Resolved::new`].
    pub fn resolve(
        &self,
        step: &Step,
        progress: &dyn Progress,
        only_look: bool,
    ) -> Result<(Settings, Resolved), Failure> {
        let mut settings = self.settings.of_run(&step.settings);
        let target = &self.targets[step.target];
        if step.target > 0 {
            settings.show("target", target.database.target(), &self.settings.source("other"));
        }
        let resolved = Resolved::new(&mut settings, self.workload, target, progress, only_look)?;
        Ok((settings, resolved))
    }

    /// Makes the runs that the question asks for until it is answered or `stopper` says so.
    ///
    /// # Errors
    /// When the first run cannot be resolved, and when the job to go on with cannot be taken up.
    pub fn conduct<Q: Question>(
        &self,
        question: &mut Q,
        store: Option<&mut Store>,
        stopper: &Stopper,
        progress: &dyn Progress,
        observer: &mut dyn Observer,
    ) -> Result<Ended<Q::Document>, Failure> {
        let mut scale = None;
        let mut longest = Duration::ZERO;
        for trial in question.trials() {
            let (_, resolved) = self.resolve(&trial, progress, false)?;
            longest = longest.max(resolved.longest());
            scale.get_or_insert(resolved.scale());
        }
        let Some(scale) = scale else {
            return Err(Failure::refuse("there is nothing to run"));
        };
        let each = self.settle + longest;
        let mut stored = match (self.resumed, store.as_deref()) {
            (Some(resumed), Some(store)) => resume::complete_runs(store, resumed.job)?,
            _ => BTreeMap::new(),
        };
        let mut journal = match self.resumed {
            Some(resumed) => Journal::resumed(store, resumed.job)?,
            None => Journal::of_campaign(store, Q::KIND, self, scale, &mut |text| {
                observer.warn(text);
            }),
        };
        let done = u32::try_from(stored.len()).unwrap_or(u32::MAX);
        let begin = Begin { job: journal.job, runs: question.runs(), done, each };
        observer.starts(&begin);
        let mut sequence = Sequence { stopper, observer, done: 0, failures: 0, made: false };
        let ended = loop {
            let Some(step) = question.next() else { break (Status::Complete, None) };
            let made = stored.remove(&step.number).filter(|run| question.is_of(&step, run));
            if let Some(result) = made {
                question.server_settings(journal.settings_of(&result));
                question.tell(&step, &result);
                sequence.done += 1;
                continue;
            }
            sequence.rest(self.settle);
            if stopper.is_stopped() {
                break (Status::Interrupted, None);
            }
            match sequence.run::<Q>(self, question, &step, &mut journal, progress) {
                Going::On => {}
                Going::Stopped => break (Status::Interrupted, None),
                Going::GivenUp(reason) => break (Status::Failed, Some(reason)),
            }
            if let Some(document) = question.document(journal.job, Status::Interrupted) {
                let headline = Q::headline(&document);
                journal.checkpoint(&document, headline, &mut |text| sequence.observer.warn(text));
            }
        };
        let (status, reason) = ended;
        let mut document = question.document(journal.job, status);
        match (&document, &reason) {
            (Some(document), _) => {
                let headline = Q::headline(document);
                journal.checkpoint(document, headline, &mut |text| observer.warn(text));
                journal.end(status, document, &mut |text| observer.warn(text));
            }
            (None, reason) => {
                let words = reason.as_deref().unwrap_or("stopped before the first run had ended");
                journal.end(status, words, &mut |text| observer.warn(text));
            }
        }
        let job = journal.job.filter(|_| journal.is_whole());
        if job.is_none() {
            document = question.document(None, status);
        }
        Ok(Ended { job, is_stored: journal.is_whole(), status, document, reason })
    }
}

/// Whether the sequence goes on.
enum Going {
    On,
    Stopped,
    GivenUp(String),
}

/// The runs as they follow each other.
struct Sequence<'a> {
    stopper: &'a Stopper,
    observer: &'a mut dyn Observer,
    done: u32,
    /// Steps in a row that could not be run.
    failures: u32,
    /// A run was made by this process.
    made: bool,
}

impl Sequence<'_> {
    /// Lets the database settle, when there was a run before.
    fn rest(&mut self, settle: Duration) {
        if self.made && !settle.is_zero() && !self.stopper.is_stopped() {
            self.observer.settles(settle);
            self.stopper.wait(settle);
        }
    }

    fn run<Q: Question>(
        &mut self,
        campaign: &Campaign<'_>,
        question: &mut Q,
        step: &Step,
        journal: &mut Journal<'_>,
        progress: &dyn Progress,
    ) -> Going {
        self.observer.step(step, self.done, question.runs());
        self.made = true;
        let parent = journal.job.map(|job| (job, step.number));
        let run = campaign.resolve(step, progress, false).and_then(|(settings, resolved)| {
            let mut watch = Watch { stopper: self.stopper, observer: self.observer };
            resolved.step_of(parent).run(&settings, journal.store(), &mut watch)
        });
        self.stopper.ended();
        match run {
            Ok(result) if result.status == Status::Complete => {
                self.failures = 0;
                self.done += 1;
                question.server_settings(journal.settings_of(&result));
                question.tell(step, &result);
                self.observer.ended(step, &result);
                Going::On
            }
            // Stopped while it connected, or later.
            _ if self.stopper.is_stopped() => Going::Stopped,
            Ok(result) => self.refused(question, step, &cause(&result)),
            Err(failure) => self.refused(question, step, &failure.to_string()),
        }
    }

    fn refused<Q: Question>(&mut self, question: &mut Q, step: &Step, reason: &str) -> Going {
        self.observer.refused(step, reason);
        question.refused(step, reason);
        self.failures += 1;
        if self.failures < FAILURES_MAX {
            return Going::On;
        }
        Going::GivenUp(format!(
            "{FAILURES_MAX} runs one after the other could not be made; the last, with {}: {reason}",
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

/// Hands a run's events on, and lets the campaign's stopper stop it.
struct Watch<'a, 'b> {
    stopper: &'a Stopper,
    observer: &'a mut (dyn Observer + 'b),
}

impl run::Observer for Watch<'_, '_> {
    fn begins(&mut self, stopper: engine::Stopper, job: Option<JobId>) {
        self.stopper.begins(stopper.clone());
        self.observer.begins(stopper, job);
    }

    fn event(&mut self, event: &Event) {
        self.observer.event(event);
    }

    fn second(&mut self, second: &Second) {
        self.observer.second(second);
    }

    fn warn(&mut self, text: &str) {
        self.observer.warn(text);
    }
}

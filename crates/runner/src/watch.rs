//! What a job reports while it goes on: one stream of events, whatever the job, whoever asked for it. The
//! command line shows it, the server hands it on, another program does as it likes.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use triphammer_core::event::Event;
use triphammer_core::spec::RunSpec;

use crate::campaign::step::{Begin, PlannedRun};
use crate::result::RunResult;
use crate::second::Second;
use crate::store::JobId;

/// Something that happened in a job. A run within a campaign reports as any other run does, but for its number,
/// which comes as [`StepBegan`](JobEvent::StepBegan).
#[derive(Clone, Copy, Debug)]
pub enum JobEvent<'a> {
    /// It is decided how a run is driven.
    Resolved(&'a RunSpec),
    /// The job has begun; with its number, where it is stored. From now on a [`Handle`](crate::job::Handle)
    /// ends what drives a workload in an orderly way.
    Began(Option<JobId>),
    /// A part of the job begins, with so many units to do: rows, statements, checks.
    Task {
        /// What it is called.
        name: &'a str,
        /// How many units there are to do, or about so many.
        total: u64,
        /// What is counted.
        unit: &'a str,
    },
    /// So many more units of the part are done.
    Advanced {
        /// How many.
        units: u64,
        /// The table whose rows they are, where they are rows.
        table: Option<&'a str>,
    },
    /// Something happened in a run, other than a second.
    Run(&'a Event),
    /// A second of a run is complete.
    Second(&'a Second),
    /// A campaign has begun or goes on.
    Sequence(&'a Begin),
    /// A run of a campaign begins.
    Step {
        /// Which.
        step: &'a PlannedRun,
        /// How many are done.
        done: u32,
        /// Of how many, where that is known.
        of: Option<u32>,
    },
    /// It is decided how that run is driven.
    StepResolved(&'a RunSpec),
    /// That run has begun; with its number, where it is stored.
    StepBegan(Option<JobId>),
    /// Reports the end of the job.
    StepEnded {
        /// Which.
        step: &'a PlannedRun,
        /// What it measured.
        result: &'a RunResult,
    },
    /// It could not be made.
    StepRefused {
        /// Which.
        step: &'a PlannedRun,
        /// Reason, human-readable.
        reason: &'a str,
    },
    /// A rest before the next run of a campaign.
    Rest(Duration),
    /// Something worth a line.
    Note(&'a str),
    /// Something that does not end the job but should be known, such as a job store that cannot be written.
    Warning(&'a str),
}

/// Hears how a job goes on.
pub trait Watcher: Send {
    /// Something happened. A job waits until this returns.
    fn hear(&mut self, event: JobEvent<'_>);
}

/// Hears nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Watcher for Silent {
    fn hear(&mut self, _: JobEvent<'_>) {}
}

/// The way to a watcher, from any thread.
pub struct Watch<'a>(Mutex<&'a mut dyn Watcher>);

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

impl<'a> Watch<'a> {
    /// To this watcher.
    pub fn new(watcher: &'a mut dyn Watcher) -> Self {
        Self(Mutex::new(watcher))
    }

    /// Reports an event.
    pub fn report(&self, event: JobEvent<'_>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).hear(event);
    }

    /// Reports that a part of the job begins.
    pub fn task(&self, name: &str, total: u64, unit: &str) {
        self.report(JobEvent::Task { name, total, unit });
    }

    /// Reports that so many more units are done.
    pub fn advance(&self, units: u64) {
        self.report(JobEvent::Advanced { units, table: None });
    }

    /// Reports that so many more rows of a table are done.
    pub fn rows(&self, table: &str, rows: u64) {
        self.report(JobEvent::Advanced { units: rows, table: Some(table) });
    }

    /// Reports something worth a line.
    pub fn note(&self, text: &str) {
        self.report(JobEvent::Note(text));
    }

    /// Reports something that should be known.
    pub fn warn(&self, text: &str) {
        self.report(JobEvent::Warning(text));
    }
}

/// Within a campaign the number of a run is that of a step.
pub(crate) struct InStep<'a, 'b>(pub &'a Watch<'b>);

impl Watcher for InStep<'_, '_> {
    fn hear(&mut self, event: JobEvent<'_>) {
        match event {
            JobEvent::Began(job) => self.0.report(JobEvent::StepBegan(job)),
            JobEvent::Resolved(_) => {}
            other => self.0.report(other),
        }
    }
}

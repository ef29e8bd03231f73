//! Events that a job reports while it runs: one stream for all kinds of jobs and callers. The
//! command line shows them, the server forwards them, and other programs can use them as they like.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use triphammer_core::clock::format_duration;
use triphammer_core::event::Event;
use triphammer_core::isolation::Isolation;
use triphammer_core::spec::RunSpec;
use triphammer_document::JobId;
use triphammer_document::judgement::Judgement;
use triphammer_document::result::RunResult;
use triphammer_document::second::Second;
use triphammer_observe::Measured;
use triphammer_settings::format::integer;

use crate::step::{Begin, PlannedRun};

/// An event of a job. A run within a campaign reports like any other run, except for its number,
/// which is reported as [`StepBegan`](JobEvent::StepBegan).
#[derive(Clone, Copy, Debug)]
pub enum JobEvent<'a> {
    /// The spec of a run is resolved.
    Resolved(&'a RunSpec),
    /// The job has started; with its number, if it is stored. From now on, a
    /// [`Handle`](triphammer_settings::handle::Handle) stops a run in an orderly way.
    Began(Option<JobId>),
    /// A part of the job starts, with a number of units: rows, statements, checks.
    Task {
        /// Title of the part.
        name: &'a str,
        /// Number of units, possibly an estimate.
        total: u64,
        /// Name of the units: rows, statements, checks.
        unit: &'a str,
    },
    /// More units of the part are done.
    Advanced {
        /// Number of additional units.
        units: u64,
        /// The table, if the units are rows.
        table: Option<&'a str>,
    },
    /// Facts about a run before it starts, as names and values without secrets; they are exported
    /// with its metrics.
    RunInfo(&'a [(&'static str, String)]),
    /// An event of a run, other than a second.
    Run(&'a Event),
    /// A second of a run is complete.
    Second(&'a Second),
    /// What the timed window so far says about the requirements of the run, after each of its seconds.
    /// A value of `None` is known only at the end.
    Judged(&'a [Judgement]),
    /// What observers measured, after each second: the last value of each figure.
    Observed(&'a Measured),
    /// What a run of queries is at: when a query begins, and every second. Beside transactions: every second.
    Queries(&'a QueryProgress),
    /// What the checker of a test of isolation has found so far, a few times per second.
    Checked(&'a CheckProgress),
    /// A campaign has started or been resumed.
    Sequence(&'a Begin),
    /// A run of a campaign starts.
    Step {
        /// The run of the campaign.
        step: &'a PlannedRun,
        /// Number of completed runs.
        done: u32,
        /// Total number of runs, if known.
        of: Option<u32>,
    },
    /// The spec of that run is resolved.
    StepResolved(&'a RunSpec),
    /// That run has started; with its job number, if it is stored.
    StepBegan(Option<JobId>),
    /// That run has ended.
    StepEnded {
        /// The run of the campaign.
        step: &'a PlannedRun,
        /// Result of the run.
        result: &'a RunResult,
        /// The result in terms of the campaign's question, instead of the primary metric.
        outcome: Option<&'a str>,
    },
    /// That run failed.
    StepRejected {
        /// The run of the campaign.
        step: &'a PlannedRun,
        /// Reason in words, for people.
        reason: &'a str,
    },
    /// A pause before the next run of a campaign.
    Rest(Duration),
    /// Informational message.
    Note(&'a str),
    /// A warning that does not end the job, such as a job store that cannot be written to.
    Warning(&'a str),
}

/// What the checker of a test of isolation has found so far in one of its loads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckProgress {
    /// Isolation level of the load.
    pub level: Isolation,
    /// Whether the load is the control.
    pub is_control: bool,
    /// Number of transactions that were examined.
    pub transactions: u64,
    /// The kinds of anomalies that were found.
    pub found: Vec<FoundKind>,
}

/// A kind of anomaly that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundKind {
    /// Name of the kind: `lost-update`.
    pub kind: String,
    /// What happened, in words.
    pub title: &'static str,
    /// How often it was found.
    pub count: u64,
}

impl std::fmt::Display for CheckProgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} checked", integer(self.transactions))?;
        for (nth, FoundKind { kind, count, .. }) in self.found.iter().enumerate() {
            write!(f, "{} {kind} {}", if nth == 0 { ":" } else { "," }, integer(*count))?;
        }
        Ok(())
    }
}

/// What a run of queries is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryProgress {
    /// Number of queries and refresh functions that have ended.
    pub done: usize,
    /// Number of all of them; `None` for streams beside transactions, which have no end of their own.
    pub total: Option<usize>,
    /// Time since the start of the run.
    pub elapsed: Duration,
    /// Beside transactions: geometric mean of the median times of the queries that were answered in the timed window so
    /// far; `None` before the first one.
    pub geomean: Option<Duration>,
    /// Those that are running, by stream.
    pub running: Vec<RunningQuery>,
}

/// A query or refresh function that is running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningQuery {
    /// Number of its stream; `None` for the stream of refresh functions.
    pub stream: Option<u32>,
    /// Key of the query, `q7`; or of the refresh function, `rf1`.
    pub name: String,
    /// When it began, since the start of the run.
    pub since: Duration,
    /// For how long it has been running.
    pub lasts: Duration,
}

impl QueryProgress {
    /// What is running and for how long: `stream 0: Q4 for 12s`.
    #[must_use]
    pub fn running_words(&self) -> String {
        let one = |query: &RunningQuery| {
            let stream =
                query.stream.map_or("refresh stream".to_owned(), |n| format!("stream {n}"));
            format!("{stream}: {} for {}", query.name.to_uppercase(), whole_seconds(query.lasts))
        };
        self.running.iter().map(one).collect::<Vec<_>>().join(" · ")
    }
}

impl std::fmt::Display for QueryProgress {
    /// `3/22 queries in 1m5s · stream 0: Q4 for 12s`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(total) = self.total else { return f.write_str(&self.running_words()) };
        write!(f, "{}/{total} queries in {}", self.done, whole_seconds(self.elapsed))?;
        if self.running.is_empty() { Ok(()) } else { write!(f, " · {}", self.running_words()) }
    }
}

fn whole_seconds(time: Duration) -> String {
    format_duration(Duration::from_secs(time.as_secs()))
}

/// Receives the events of a job.
pub trait Watcher: Send {
    /// Handles an event. The job waits until this returns.
    fn on_event(&mut self, event: JobEvent<'_>);
}

/// A watcher that ignores all events.
#[derive(Debug, Default)]
pub struct Silent;

impl Watcher for Silent {
    fn on_event(&mut self, _: JobEvent<'_>) {}
}

/// Passes events to a watcher, from any thread.
pub struct Watch<'a>(Mutex<&'a mut dyn Watcher>);

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

impl<'a> Watch<'a> {
    /// Wraps a watcher.
    pub fn new(watcher: &'a mut dyn Watcher) -> Self {
        Self(Mutex::new(watcher))
    }

    /// Passes an event to the watcher.
    pub fn report(&self, event: JobEvent<'_>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).on_event(event);
    }

    /// Reports the start of a part of the job.
    pub fn task(&self, name: &str, total: u64, unit: &str) {
        self.report(JobEvent::Task { name, total, unit });
    }

    /// Reports that more units are done.
    pub fn advance(&self, units: u64) {
        self.report(JobEvent::Advanced { units, table: None });
    }

    /// Reports that more rows of a table are done.
    pub fn rows(&self, table: &str, rows: u64) {
        self.report(JobEvent::Advanced { units: rows, table: Some(table) });
    }

    /// Reports an informational message.
    pub fn note(&self, text: &str) {
        self.report(JobEvent::Note(text));
    }

    /// Reports a warning.
    pub fn warn(&self, text: &str) {
        self.report(JobEvent::Warning(text));
    }
}

/// Within a campaign, the job number of a run is reported as that of a step, and a warning of an
/// earlier run is not repeated.
pub(crate) struct InStep<'a, 'b> {
    pub watch: &'a Watch<'b>,
    pub warned: &'a mut BTreeSet<String>,
}

impl Watcher for InStep<'_, '_> {
    fn on_event(&mut self, event: JobEvent<'_>) {
        match event {
            JobEvent::Began(job) => self.watch.report(JobEvent::StepBegan(job)),
            JobEvent::Resolved(_) => {}
            JobEvent::Warning(text) if !self.warned.insert(text.to_owned()) => {}
            other => self.watch.report(other),
        }
    }
}

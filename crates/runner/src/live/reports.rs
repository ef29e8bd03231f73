//! Turns the events of a job into reports.

use std::time::Duration;

use triphammer_core::Clock;
use triphammer_core::clock::{Elapsed, format_duration};
use triphammer_core::event::Event;

use super::{
    LiveCheck, LiveJob, LiveNote, LivePhase, LiveProgress, LiveQuery, LiveReport, LiveRequirements,
    LiveStep, TableRows,
};
use crate::watch::{JobEvent, QueryProgress};

/// Minimum time between two reports about the progress of a part.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Translates the events of one job.
#[derive(Debug)]
pub struct LiveReports {
    clock: Clock,
    /// The current part of a build or check.
    task: Option<Task>,
    /// The current run of a campaign, or the last one.
    step: LiveStep,
}

/// A part of a build or check.
#[derive(Debug)]
struct Task {
    progress: LiveProgress,
    begun: Elapsed,
    reported_at: Elapsed,
}

impl Default for LiveReports {
    fn default() -> Self {
        Self { clock: Clock::start(), task: None, step: LiveStep::default() }
    }
}

impl LiveReports {
    /// Translates an event; passes on each report that it makes.
    pub fn on_event(&mut self, event: JobEvent<'_>, send: &mut dyn FnMut(LiveReport)) {
        match event {
            JobEvent::Began(job) => {
                send(LiveReport::Began(LiveJob { job: job.map(|job| job.0) }));
            }
            JobEvent::Task { name, total, unit } => self.begin_task(name, total, unit, send),
            JobEvent::Advanced { units, table } => self.advance(units, table, send),
            JobEvent::Run(event) => of_run(event).into_iter().for_each(send),
            JobEvent::Judged(requirements) => {
                let requirements = requirements.to_vec();
                send(LiveReport::Requirements(LiveRequirements { requirements }));
            }
            JobEvent::Queries(progress) => send(LiveReport::Progress(progress.into())),
            JobEvent::Checked(progress) => send(LiveReport::Checked(LiveCheck::from(progress))),
            JobEvent::Step { step, done, of } => {
                let what = step.title.clone();
                self.step = LiveStep { step: done + 1, of, what, ..LiveStep::default() };
                send(LiveReport::Step(self.step.clone()));
            }
            JobEvent::StepBegan(job) => {
                self.step.job = job.map(|job| job.0);
                send(LiveReport::Step(self.step.clone()));
            }
            JobEvent::StepEnded { result, outcome, .. } => {
                self.step.primary_metric = Some(result.primary_metric.value);
                self.step.outcome = outcome.map(str::to_owned);
                send(LiveReport::Step(self.step.clone()));
            }
            JobEvent::StepRejected { step, reason } => {
                send(warning(&format!("{}: {reason}", step.title)));
            }
            JobEvent::Rest(rest) => {
                send(progress_note(&format!("cool-down: {}", format_duration(rest))));
            }
            JobEvent::Note(text) => send(progress_note(text)),
            JobEvent::Warning(text) => send(warning(text)),
            // Seconds have forms of their own; the rest is in the documents and in the store.
            JobEvent::Second(_)
            | JobEvent::Resolved(_)
            | JobEvent::RunInfo(_)
            | JobEvent::Observed(_)
            | JobEvent::Sequence(_)
            | JobEvent::StepResolved(_) => {}
        }
    }

    fn begin_task(&mut self, name: &str, total: u64, unit: &str, send: &mut dyn FnMut(LiveReport)) {
        // The number of units is an estimate: the previous part may end with fewer.
        self.report_task(send);
        let (phase, unit) = (name.to_owned(), unit.to_owned());
        let progress = LiveProgress { phase, total, unit, ..LiveProgress::default() };
        let now = self.clock.now();
        send(LiveReport::Progress(progress.clone()));
        self.task = Some(Task { progress, begun: now, reported_at: now });
    }

    fn advance(&mut self, units: u64, table: Option<&str>, send: &mut dyn FnMut(LiveReport)) {
        let Some(task) = &mut self.task else { return };
        let progress = &mut task.progress;
        progress.done += units;
        if let Some(name) = table {
            match progress.tables.iter_mut().find(|known| known.table == name) {
                Some(known) => known.rows += units,
                None => progress.tables.push(TableRows { table: name.to_owned(), rows: units }),
            }
        }
        let due = self.clock.now().has_passed(task.reported_at, PROGRESS_EVERY);
        if due || progress.done == progress.total {
            self.report_task(send);
        }
    }

    fn report_task(&mut self, send: &mut dyn FnMut(LiveReport)) {
        let Some(task) = &mut self.task else { return };
        let now = self.clock.now();
        task.reported_at = now;
        task.progress.elapsed_ms = now.since(task.begun) / 1_000_000;
        send(LiveReport::Progress(task.progress.clone()));
    }
}

fn warning(text: &str) -> LiveReport {
    LiveReport::Note(LiveNote::warning(text))
}

fn progress_note(text: &str) -> LiveReport {
    LiveReport::Note(LiveNote::new("progress", text))
}

/// The report of a run's event; seconds are reported separately.
fn of_run(event: &Event) -> Option<LiveReport> {
    let seconds = |at: Elapsed| at.duration().as_secs_f64();
    Some(match event {
        Event::Connecting { connected, of } => LiveReport::Phase(LivePhase {
            phase: "connecting".to_owned(),
            at_s: None,
            connected: Some(*connected),
            of: Some(*of),
        }),
        Event::Phase(phase, at) => LiveReport::Phase(LivePhase {
            phase: phase.name().to_owned(),
            at_s: Some(seconds(*at)),
            connected: None,
            of: None,
        }),
        Event::Note(note) => LiveReport::Note(LiveNote {
            at_s: note.at.map(seconds),
            kind: note.kind.clone(),
            text: note.text.clone(),
        }),
        Event::Started { .. } | Event::Second(_) => return None,
    })
}

impl From<&QueryProgress> for LiveProgress {
    fn from(progress: &QueryProgress) -> Self {
        let running = progress.running.iter().map(|query| LiveQuery {
            stream: query.stream,
            name: query.name.clone(),
            lasts_ms: milliseconds(query.lasts),
        });
        Self {
            phase: "queries".to_owned(),
            done: progress.done as u64,
            total: progress.total.unwrap_or(0) as u64,
            unit: "queries".to_owned(),
            elapsed_ms: milliseconds(progress.elapsed),
            tables: Vec::new(),
            running: running.collect(),
            geomean_ms: progress.geomean.map(|time| time.as_secs_f64() * 1_000.0),
        }
    }
}

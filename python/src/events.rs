//! What a job reports, as JSON in two queues that Python reads when it likes: seconds and messages. A reader
//! that does not come loses the oldest: the job never waits for it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use triphammer_core::Clock;
use triphammer_core::clock::{Elapsed, format_duration};
use triphammer_core::event::Event;
use triphammer_core::workload::Description;
use triphammer_document::second::Second;
use triphammer_document::series::{Layout, SecondRow, SeriesRow, SeriesWriter};
use triphammer_runner::watch::{CheckProgress, JobEvent, QueryProgress, Watcher};

use crate::failure::Raised;

/// Maximum number of seconds, and of messages, that wait for a reader: an hour of seconds.
const WAITING_MAX: usize = 3_600;
/// Minimum time between two messages about the progress of a part.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

/// The end of a job.
#[derive(Clone, Debug)]
pub struct End {
    /// Kind of the document.
    pub kind: &'static str,
    /// The document as JSON; `None` if there is none.
    pub document: Option<String>,
    /// Job number, if it is completely stored.
    pub job: Option<i64>,
    /// Whether the command would exit with 0.
    pub good: bool,
    /// The outcome in one line.
    pub outcome: String,
}

/// State shared by the job's thread and its readers.
#[derive(Debug, Default)]
pub struct EventQueues {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    seconds: VecDeque<String>,
    messages: VecDeque<String>,
    /// Number of seconds that no reader took in time.
    missed: u64,
    end: Option<Result<End, Raised>>,
}

impl EventQueues {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put_second(&self, second: String) {
        let mut state = self.state();
        state.missed += u64::from(push(&mut state.seconds, second));
        self.changed.notify_all();
    }

    /// Adds a message.
    pub fn put(&self, message: &Value) {
        push(&mut self.state().messages, message.to_string());
        self.changed.notify_all();
    }

    /// Records the end of the job.
    pub fn end(&self, end: Result<End, Raised>) {
        self.state().end.get_or_insert(end);
        self.changed.notify_all();
    }

    /// Takes the next second; empty if none will come, `None` if none came in time.
    pub fn second(&self, wait: Duration) -> Option<String> {
        let idle = |state: &mut State| state.seconds.is_empty() && state.end.is_none();
        let (mut state, _) = self
            .changed
            .wait_timeout_while(self.state(), wait, idle)
            .unwrap_or_else(PoisonError::into_inner);
        state.seconds.pop_front().or_else(|| state.end.is_some().then(String::new))
    }

    /// Takes the next message, if there is one.
    pub fn message(&self) -> Option<String> {
        self.state().messages.pop_front()
    }

    /// Number of seconds that were lost because they were not read.
    pub fn missed(&self) -> u64 {
        self.state().missed
    }

    /// Waits for the end; `None` if it does not come in time.
    pub fn wait(&self, wait: Duration) -> Option<Result<End, Raised>> {
        let waited =
            self.changed.wait_timeout_while(self.state(), wait, |state| state.end.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.end.clone()
    }
}

/// Adds to a queue; returns whether the oldest made room.
fn push(queue: &mut VecDeque<String>, text: String) -> bool {
    queue.push_back(text);
    let is_full = queue.len() > WAITING_MAX;
    if is_full {
        queue.pop_front();
    }
    is_full
}

/// Passes the events of a job to the queues.
pub struct Reporter {
    shared: Arc<EventQueues>,
    writer: SeriesWriter,
    clock: Clock,
    task: Option<Task>,
}

/// A part of a job.
struct Task {
    name: String,
    unit: String,
    total: u64,
    done: u64,
    told_at: Elapsed,
}

impl Reporter {
    pub fn new(shared: Arc<EventQueues>, workload: &Description) -> Self {
        let types: Vec<String> = workload.transactions.iter().map(|t| t.name.to_string()).collect();
        let writer = SeriesWriter::new(Layout::JsonLines, &types);
        Self { shared, writer, clock: Clock::start(), task: None }
    }

    fn tell(&self, kind: &str, mut message: Value) {
        message["event"] = kind.into();
        self.shared.put(&message);
    }

    fn text(&self, kind: &str, text: &str) {
        self.tell(kind, json!({ "text": text }));
    }

    fn second(&self, second: &Second) {
        let types: Vec<_> = SeriesRow::of(second).collect();
        self.shared.put_second(self.writer.row(&SecondRow::of(second), &types));
    }

    fn task(&mut self, name: &str, total: u64, unit: &str) {
        self.tell_task();
        let (name, unit, told_at) = (name.to_owned(), unit.to_owned(), self.clock.now());
        self.task = Some(Task { name, unit, total, done: 0, told_at });
        self.tell_task();
    }

    fn advance(&mut self, units: u64) {
        let now = self.clock.now();
        let Some(task) = &mut self.task else { return };
        task.done += units;
        if now.has_passed(task.told_at, PROGRESS_EVERY) {
            task.told_at = now;
            self.tell_task();
        }
    }

    fn tell_task(&self) {
        let Some(Task { name, unit, total, done, .. }) = &self.task else { return };
        let part = json!({ "name": name, "unit": unit, "total": total, "done": done });
        self.tell("progress", part);
    }

    fn run(&self, event: &Event) {
        match event {
            Event::Connecting { connected, of } => {
                self.tell("connecting", json!({ "connected": connected, "of": of }));
            }
            Event::Phase(phase, at) => {
                let at_s = at.duration().as_secs_f64();
                self.tell("phase", json!({ "phase": phase.name(), "at_s": at_s }));
            }
            Event::Note(note) => self.text("note", &note.text),
            // Seconds are reported separately.
            Event::Started { .. } | Event::Second(_) => {}
        }
    }

    fn queries(&self, progress: &QueryProgress) {
        let (done, total, text) = (progress.done, progress.total, progress.to_string());
        self.tell("queries", json!({ "done": done, "total": total, "text": text }));
    }
}

impl Reporter {
    fn checked(&self, progress: &CheckProgress) {
        let found = progress.found.iter().map(|found| (found.kind.clone(), json!(found.count)));
        let found: serde_json::Map<_, _> = found.collect();
        let (level, is_control) = (progress.level.name(), progress.is_control);
        let report = json!({
            "level": level, "is_control": is_control, "transactions": progress.transactions,
            "found": found, "text": progress.to_string(),
        });
        self.tell("checked", report);
    }
}

impl Watcher for Reporter {
    fn on_event(&mut self, event: JobEvent<'_>) {
        match event {
            JobEvent::Second(second) => self.second(second),
            JobEvent::Began(job) => self.tell("began", json!({ "job": job })),
            JobEvent::Task { name, total, unit } => self.task(name, total, unit),
            JobEvent::Advanced { units, .. } => self.advance(units),
            JobEvent::Run(event) => self.run(event),
            JobEvent::Queries(progress) => self.queries(progress),
            JobEvent::Checked(progress) => self.checked(progress),
            JobEvent::Step { step, done, of } => {
                self.tell("step", json!({ "number": done + 1, "of": of, "title": step.title }));
            }
            JobEvent::StepEnded { step, result, outcome } => {
                let value = result.primary_metric.value;
                let ended = json!({ "title": step.title, "value": value, "outcome": outcome });
                self.tell("step_ended", ended);
            }
            JobEvent::StepRejected { step, reason } => {
                self.text("warning", &format!("{}: {reason}", step.title));
            }
            JobEvent::Rest(rest) => {
                self.text("note", &format!("cool-down: {}", format_duration(rest)));
            }
            JobEvent::Note(text) => self.text("note", text),
            JobEvent::Warning(text) => self.text("warning", text),
            JobEvent::Resolved(_)
            | JobEvent::RunInfo(_)
            | JobEvent::Judged(_)
            | JobEvent::Observed(_)
            | JobEvent::Sequence(_)
            | JobEvent::StepResolved(_)
            | JobEvent::StepBegan(_) => {}
        }
    }
}

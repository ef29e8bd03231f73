//! What a job reports, as JSON in two queues that Python reads when it likes: seconds and messages. A reader
//! that does not come loses the oldest: the job never waits for it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use triphammer_core::workload::Description;
use triphammer_document::series::{Layout, SecondRow, SeriesRow, SeriesWriter};
use triphammer_runner::live::{LiveNote, LiveReport, LiveReports};
use triphammer_runner::watch::{JobEvent, Watcher};

use crate::failure::Raised;

/// Maximum number of seconds, and of messages, that wait for a reader: an hour of seconds.
const WAITING_MAX: usize = 3_600;
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

    /// Adds a report.
    pub fn put(&self, report: &LiveReport) {
        let message = serde_json::to_string(report).unwrap_or_default();
        push(&mut self.state().messages, message);
        self.changed.notify_all();
    }

    /// Adds a warning.
    pub fn warn(&self, text: &str) {
        self.put(&LiveReport::Note(LiveNote::warning(text)));
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

/// Passes the reports of a job to the queues.
pub struct Reporter {
    shared: Arc<EventQueues>,
    writer: SeriesWriter,
    reports: LiveReports,
}

impl Reporter {
    pub fn new(shared: Arc<EventQueues>, workload: &Description) -> Self {
        let types: Vec<String> = workload.transactions.iter().map(|t| t.name.to_string()).collect();
        let writer = SeriesWriter::new(Layout::JsonLines, &types);
        Self { shared, writer, reports: LiveReports::default() }
    }
}

impl Watcher for Reporter {
    fn on_event(&mut self, event: JobEvent<'_>) {
        if let JobEvent::Second(second) = event {
            let types: Vec<_> = SeriesRow::of(second).collect();
            self.shared.put_second(self.writer.row(&SecondRow::of(second), &types));
        }
        self.reports.on_event(event, &mut |report| self.shared.put(&report));
    }
}

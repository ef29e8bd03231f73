//! Captures (`--capture-on`): keeps full detail of the database around the moments in which a
//! condition on a second of the run becomes true. The last seconds are always in memory, so that a
//! capture begins before its moment.

use std::collections::{HashMap, HashSet, VecDeque};

use triphammer_core::Rows;
use triphammer_core::event::Phase;
use triphammer_core::text::one_line;
use triphammer_core::workload::Description;
use triphammer_document::requirement::Requirement;
use triphammer_document::result::{Capture, CapturedSession, Snapshot};
use triphammer_document::second::Second;

use super::blockers::edges;
use super::profile::number;
use super::statements::StatementReading;
use super::wait_classes::WaitClasses;

/// Seconds before the moment that are kept, and after it.
const BEFORE_S: u64 = 5;
const AFTER_S: u64 = 5;
/// Maximum number of seconds by which the run reports a second late, so that its detail is kept
/// for longer.
const LATE_S: u64 = 5;
/// Seconds between two readings of the statistics of statements.
const STATEMENTS_EVERY_S: u64 = 5;
/// Maximum number of captures per run.
const CAPTURES_MAX: usize = 5;
/// Maximum number of sessions per snapshot.
const SESSIONS_MAX: usize = 100;
/// Maximum length of a statement, and of the storage engine's report, in characters.
const TEXT_LENGTH: usize = 200;
const ENGINE_STATUS_LENGTH: usize = 32_768;
/// Maximum size of the snapshots of a capture, in bytes of JSON, approximately.
const BYTES_MAX: usize = 128 * 1024;
/// Size of a session in JSON besides its texts.
const SESSION_BYTES: usize = 220;

/// A moment in which a condition became true.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    /// The condition.
    pub condition: Requirement,
    /// Value of its metric.
    pub value: f64,
    /// The second in which it was true first.
    pub second: u64,
}

/// Finds the moments in which conditions become true.
#[derive(Debug)]
pub struct Conditions(Vec<(Requirement, bool)>);

impl Conditions {
    /// Conditions that were not true yet.
    pub fn new(conditions: &[Requirement]) -> Self {
        Self(conditions.iter().map(|condition| (condition.clone(), false)).collect())
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Evaluates a second of the timed window; returns the first condition that is true in it and
    /// was not in the second before.
    pub fn second(&mut self, second: &Second, workload: &Description) -> Option<Trigger> {
        if second.phase != Phase::Window {
            return None;
        }
        let mut first = None;
        for (condition, was_true) in &mut self.0 {
            let value = condition.metric.read_second(second, workload);
            let value = value.filter(|value| condition.operator.holds(*value, condition.limit));
            if let Some(value) = value.filter(|_| !*was_true) {
                first.get_or_insert_with(|| Trigger {
                    condition: condition.clone(),
                    value,
                    second: second.interval.first,
                });
            }
            *was_true = value.is_some();
        }
        first
    }
}

/// What is kept of the last seconds, and the captures made of it.
#[derive(Debug, Default)]
pub struct Captures {
    last: VecDeque<Snapshot>,
    readings: VecDeque<(u64, StatementReading)>,
    open: Option<Open>,
    done: Vec<Capture>,
}

/// A capture that is not complete yet.
#[derive(Debug)]
struct Open {
    trigger: Trigger,
    engine_status: Option<String>,
}

impl Captures {
    /// Whether another capture can begin: none is in progress, and there are not too many.
    pub fn is_ready(&self) -> bool {
        self.open.is_none() && self.done.len() < CAPTURES_MAX
    }

    /// Begins a capture.
    pub fn begin(&mut self, trigger: Trigger, engine_status: Option<&str>) {
        let short = |text: &str| text.chars().take(ENGINE_STATUS_LENGTH).collect();
        self.open = Some(Open { trigger, engine_status: engine_status.map(short) });
    }

    /// Keeps the sessions at the end of a second.
    pub fn put(&mut self, snapshot: Snapshot) {
        self.last.push_back(snapshot);
        while self.last.len() as u64 > BEFORE_S + AFTER_S + LATE_S {
            self.last.pop_front();
        }
    }

    /// Whether the statistics of statements should be read after this second.
    pub fn wants_statements(&self, second: u64) -> bool {
        self.is_complete(second) || second.is_multiple_of(STATEMENTS_EVERY_S)
    }

    /// Keeps the statistics of statements after this second.
    pub fn put_statements(&mut self, second: u64, reading: StatementReading) {
        self.readings.push_back((second, reading));
        // As many as the detail that is kept may need.
        while self.readings.len() as u64 > 2 + (BEFORE_S + AFTER_S + LATE_S) / STATEMENTS_EVERY_S {
            self.readings.pop_front();
        }
    }

    /// Whether this is the last second of the capture in progress.
    pub fn is_complete(&self, second: u64) -> bool {
        self.open.as_ref().is_some_and(|open| second >= open.trigger.second + AFTER_S)
    }

    /// Ends the capture in progress, if there is one. `own` are the texts of the observers' own
    /// statements.
    pub fn finish(&mut self, own: &HashSet<String>) {
        let Some(Open { trigger, engine_status }) = self.open.take() else { return };
        let at_s = trigger.second;
        let kept = at_s.saturating_sub(BEFORE_S)..=at_s + AFTER_S;
        let snapshots = self.last.iter().filter(|of| kept.contains(&of.second)).cloned().collect();
        let before = self.readings.iter().rfind(|(second, _)| *second < at_s);
        let before = before.or_else(|| self.readings.front());
        let after = self.readings.back();
        let statements = match (before, after) {
            (Some((from, before)), Some((to, after))) if from < to => after.since(before, own),
            _ => Vec::new(),
        };
        self.done.push(Capture {
            condition: trigger.condition.text.clone(),
            value: trigger.value,
            unit: trigger.condition.metric.unit(),
            at_s,
            snapshots: limited(snapshots, at_s),
            statements_from_s: before.map(|(second, _)| *second).filter(|_| !statements.is_empty()),
            statements,
            engine_status,
        });
    }

    /// All captures.
    pub fn into_done(self) -> Vec<Capture> {
        self.done
    }
}

/// Leaves out the snapshots that are farthest from the moment, until the others are small enough.
fn limited(mut snapshots: Vec<Snapshot>, at_s: u64) -> Vec<Snapshot> {
    let size = |of: &Snapshot| -> usize {
        let texts = |of: &CapturedSession| {
            let texts = [&of.statement, &of.user, &of.client, &of.wait, &of.object];
            texts.iter().map(|text| text.len()).sum::<usize>() + SESSION_BYTES
        };
        of.sessions.iter().map(texts).sum()
    };
    while snapshots.iter().map(size).sum::<usize>() > BYTES_MAX && snapshots.len() > 1 {
        let far = |of: &Snapshot| of.second.abs_diff(at_s);
        let is_first = far(&snapshots[0]) >= far(&snapshots[snapshots.len() - 1]);
        snapshots.remove(if is_first { 0 } else { snapshots.len() - 1 });
    }
    snapshots
}

/// Who waits for whom, by session: the blocker and the object.
pub type Edges = HashMap<String, (String, String)>;

/// Reads the edges of the lock tree: the rows of a dialect's query of blockers.
pub fn edges_of(rows: &Rows) -> Edges {
    let owned = edges(rows).into_iter().map(|(session, edge)| {
        (session.to_owned(), (edge.blocker.to_owned(), edge.object.to_owned()))
    });
    owned.collect()
}

/// Reads a snapshot: the rows of a dialect's query of full detail.
pub fn snapshot_of(
    second: u64,
    rows: &Rows,
    mut edges: Edges,
    classes: &mut WaitClasses,
) -> Snapshot {
    let mut sessions: Vec<CapturedSession> = Vec::new();
    for row in rows.iter() {
        let text = |column: usize| row.text(column).unwrap_or_default();
        let (blocked_by, object) = edges.remove(text(0)).unzip();
        let age = |column| number(&row, column).map(|seconds| seconds.max(0.0));
        sessions.push(CapturedSession {
            session: text(0).to_owned(),
            who: text(1).to_owned(),
            state: text(2).to_owned(),
            class: classes.of(text(3), text(4)),
            wait: text(3).to_owned(),
            statement: one_line(text(5)).chars().take(TEXT_LENGTH).collect(),
            user: text(6).to_owned(),
            client: text(7).to_owned(),
            transaction_s: age(8),
            statement_s: age(9),
            blocked_by,
            object: object.unwrap_or_default(),
        });
    }
    let age = |of: &CapturedSession| of.transaction_s.unwrap_or(-1.0);
    sessions.sort_by(|a, b| age(b).total_cmp(&age(a)));
    let more = sessions.len().saturating_sub(SESSIONS_MAX) as u64;
    sessions.truncate(SESSIONS_MAX);
    Snapshot { second, sessions, more }
}

#[cfg(test)]
mod tests {
    use triphammer_core::recorder::{RecordedInterval, histogram};

    use super::*;
    use triphammer_document::requirement::{Vocabulary, parse};

    fn workload() -> std::sync::Arc<Description> {
        triphammer_workloads::describe("tproc-c").unwrap()
    }

    fn conditions(text: &str) -> Conditions {
        let vocabulary = Vocabulary::of_workload(&workload());
        Conditions::new(&parse(text, &vocabulary).unwrap())
    }

    /// A second in which New-Orders took this long.
    fn second(number: u64, ms: u64, phase: Phase) -> Second {
        let mut interval = RecordedInterval::new(number, 5);
        let mut times = histogram();
        times.record_n(ms * 1000, 10).unwrap();
        interval.types[0].counts.committed = 10;
        interval.types[0].response = Some(times);
        Second::new(interval, phase, None)
    }

    fn snapshot(second: u64) -> Snapshot {
        Snapshot { second, sessions: Vec::new(), more: 0 }
    }

    fn trigger(second: u64) -> Trigger {
        let condition = conditions("new_order.p95 > 100ms").0.remove(0).0;
        Trigger { condition, value: 150_000.0, second }
    }

    #[test]
    fn a_condition_triggers_when_it_becomes_true_in_the_window() {
        let mut conditions = conditions("new_order.p95 > 100ms, nopm < 1");
        let workload = workload();
        let mut at = |number, ms, phase| {
            let found = conditions.second(&second(number, ms, phase), &workload);
            found.map(|found| (found.second, found.condition.text))
        };
        assert_eq!(at(0, 500, Phase::RampUp), None, "not in the window");
        assert_eq!(at(1, 50, Phase::Window), None);
        let text = "new_order.p95 > 100ms".to_owned();
        assert_eq!(at(2, 150, Phase::Window), Some((2, text.clone())));
        assert_eq!(at(3, 150, Phase::Window), None, "it still is");
        assert_eq!(at(4, 50, Phase::Window), None);
        assert_eq!(at(5, 150, Phase::Window), Some((5, text)));
    }

    #[test]
    fn a_capture_has_the_seconds_around_its_moment() {
        let mut captures = Captures::default();
        for second in 0..50 {
            captures.put(snapshot(second));
            if second == 21 {
                // Reported late.
                captures.begin(trigger(20), Some("INNODB MONITOR OUTPUT"));
            }
            if captures.is_complete(second) {
                captures.finish(&HashSet::new());
            }
            assert!(captures.is_ready() != (21..25).contains(&second));
        }
        let done = captures.into_done();
        let [capture] = &done[..] else { panic!("{done:?}") };
        let seconds: Vec<u64> = capture.snapshots.iter().map(|of| of.second).collect();
        assert_eq!(seconds, (15..=25).collect::<Vec<_>>());
        assert_eq!((capture.at_s, capture.value), (20, 150_000.0));
        assert_eq!(capture.engine_status.as_deref(), Some("INNODB MONITOR OUTPUT"));
    }

    #[test]
    fn the_number_and_size_of_captures_are_limited() {
        let session = CapturedSession { statement: "x".repeat(200), ..CapturedSession::default() };
        let mut captures = Captures::default();
        for second in 0..200 {
            let sessions = vec![session.clone(); SESSIONS_MAX];
            captures.put(Snapshot { second, sessions, more: 0 });
            if captures.is_ready() {
                captures.begin(trigger(second), None);
            }
            if captures.is_complete(second) {
                captures.finish(&HashSet::new());
            }
        }
        let done = captures.into_done();
        assert_eq!(done.len(), CAPTURES_MAX);
        for capture in &done {
            let size = serde_json::to_string(&capture.snapshots).unwrap().len();
            assert!(size < BYTES_MAX * 3 / 2, "{size}");
            assert!(capture.snapshots.iter().any(|of| of.second == capture.at_s), "{capture:?}");
        }
    }

    #[test]
    fn a_snapshot_has_the_lock_tree_and_the_oldest_transactions_first() {
        let mut rows = Rows::new();
        rows.reset(10);
        for (session, age) in [("7", "0.5"), ("8", "12"), ("9", "")] {
            for text in [session, "ours", "active", "Lock:tuple", "", "UPDATE\nw", "ann", "app"] {
                rows.text(text);
            }
            rows.text(age);
            rows.text("0.25");
        }
        let edges = HashMap::from([("7".into(), ("8".into(), "warehouse".into()))]);
        let found = snapshot_of(3, &rows, edges, &mut WaitClasses::default());
        let order: Vec<_> = found.sessions.iter().map(|of| of.session.as_str()).collect();
        assert_eq!(order, ["8", "7", "9"]);
        let waiting = &found.sessions[1];
        assert_eq!(
            (waiting.blocked_by.as_deref(), waiting.object.as_str()),
            (Some("8"), "warehouse")
        );
        assert_eq!((waiting.transaction_s, waiting.statement_s), (Some(0.5), Some(0.25)));
        assert_eq!(waiting.statement, "UPDATE w");
    }
}

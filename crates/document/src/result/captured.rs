//! The part of a result that `--capture-on` keeps: full detail of a database around the moments in
//! which a condition became true.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::observed::{TopStatement, WaitClass};
use crate::unit::FigureUnit;

/// What the database did around the moment in which a condition became true.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Capture {
    /// The condition as written: `new_order.p95 > 100ms`.
    pub condition: String,
    /// Value of the metric in the second that made it true, in `unit`.
    pub value: f64,
    /// Unit of the value.
    pub unit: FigureUnit,
    /// That second, counted from the start of the run.
    pub at_s: u64,
    /// The sessions once per second, from some seconds before that moment to some seconds after it.
    pub snapshots: Vec<Snapshot>,
    /// Statements executed from `statements_from_s` to the end of the capture, by the server's own
    /// statistics and by total time; empty where there are none.
    pub statements: Vec<TopStatement>,
    /// Second at the end of which the statistics of statements were read first; `None` if they were
    /// not.
    pub statements_from_s: Option<u64>,
    /// The storage engine's own report on its state, read as soon as the condition was true, as
    /// MySQL's `SHOW ENGINE INNODB STATUS`, shortened; `None` where there is none.
    pub engine_status: Option<String>,
}

/// The sessions of a database at one time, without those that are idle outside transactions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// The second at whose end they were read, counted from the start of the run.
    pub second: u64,
    /// The sessions, those with the oldest transactions first.
    pub sessions: Vec<CapturedSession>,
    /// Number of further sessions.
    pub more: u64,
}

/// A session at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapturedSession {
    /// Number of the session at the server.
    pub session: String,
    /// `ours` for those of this run, `other` or `background`.
    pub who: String,
    /// Its user, or kind of background process; empty if hidden.
    pub user: String,
    /// Program or host that it was opened by; empty if unknown.
    pub client: String,
    /// `active` or `idle_in_transaction`.
    pub state: String,
    /// Class of its wait.
    pub class: WaitClass,
    /// Name of its wait at the server; empty if it does not wait.
    pub wait: String,
    /// Age of its transaction, in seconds; `None` without one.
    pub transaction_s: Option<f64>,
    /// Age of its statement, in seconds, also of the last one if it is idle; `None` if unknown.
    pub statement_s: Option<f64>,
    /// Text of its statement, shortened; the last one if it is idle.
    pub statement: String,
    /// Number of the session that it waits for; `None` if it waits for none. These are the edges of
    /// the lock tree.
    pub blocked_by: Option<String>,
    /// The table, and the row if known, that it waits for; empty if the server does not say.
    pub object: String,
}

impl Snapshot {
    /// Sessions that others wait for, and that wait for none: the roots of the lock tree, with the
    /// number of sessions that wait for each directly or through others.
    #[must_use]
    pub fn roots(&self) -> Vec<(&str, usize)> {
        let blocker = |session: &str| {
            let of = self.sessions.iter().find(|of| of.session == session)?;
            of.blocked_by.as_deref()
        };
        let mut roots: Vec<(&str, usize)> = Vec::new();
        for waiting in self.sessions.iter().filter_map(|of| of.blocked_by.as_deref()) {
            let mut root = waiting;
            // A deadlock is a circle: as many steps as there are sessions are enough.
            for _ in &self.sessions {
                match blocker(root) {
                    Some(next) => root = next,
                    None => break,
                }
            }
            match roots.iter_mut().find(|(known, _)| *known == root) {
                Some((_, number)) => *number += 1,
                None => roots.push((root, 1)),
            }
        }
        roots.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
        roots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roots_of_the_lock_tree_are_those_who_wait_for_nobody() {
        let session = |session: &str, blocked_by: Option<&str>| CapturedSession {
            session: session.into(),
            blocked_by: blocked_by.map(str::to_owned),
            ..CapturedSession::default()
        };
        let of = |edges: &[(&str, Option<&str>)]| {
            let sessions = edges.iter().map(|(of, by)| session(of, *by)).collect();
            let snapshot = Snapshot { second: 1, sessions, more: 0 };
            snapshot.roots().iter().map(|(of, n)| ((*of).to_owned(), *n)).collect::<Vec<_>>()
        };
        let queue = [("1", None), ("2", Some("1")), ("3", Some("2")), ("4", Some("9"))];
        assert_eq!(of(&queue), [("1".to_owned(), 2), ("9".to_owned(), 1)]);
        assert_eq!(of(&[("1", Some("2")), ("2", Some("1"))]).len(), 2, "a deadlock ends");
        assert_eq!(of(&[("1", None)]), []);
    }
}

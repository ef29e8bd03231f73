//! Who blocks the run's sessions: follows each waiting session to the one that does not wait for another.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use triphammer_core::Rows;
use triphammer_core::text::one_line;
use triphammer_document::result::Blocker;
use triphammer_document::why::OWN;

use super::sessions::series;
use super::sink::Measured;

/// Name of the metric of sessions of the run that wait for a lock, by who blocks them.
pub const BLOCKED_SESSIONS: &str = "db.sessions.blocked";
/// Maximum number of blockers that are kept apart, and that are in the document.
const KINDS_MAX: usize = 200;
const SHOWN_MAX: usize = 10;
/// Maximum length of a text in the document.
const TEXT_LENGTH: usize = 200;

/// A blocker: its session, or none for those of the run, and the object.
type Key = (Option<String>, String);

/// What was seen of one blocker.
#[derive(Clone, Debug, Default, PartialEq)]
struct BlockerSightings {
    description: String,
    statement: String,
    blocked: u64,
    blocked_max: u64,
}

/// What blocked the run's sessions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Blocking {
    samples: u64,
    by: BTreeMap<Key, BlockerSightings>,
}

/// An edge of the lock tree.
pub struct Edge<'a> {
    is_ours: bool,
    /// The session that is waited for.
    pub blocker: &'a str,
    blocker_is_ours: bool,
    description: &'a str,
    statement: &'a str,
    /// The table, and the row if known; empty if the server does not say.
    pub object: &'a str,
}

/// Reads the edges of the lock tree by waiting session: the rows of a dialect's query of blockers.
pub fn edges(rows: &Rows) -> HashMap<&str, Edge<'_>> {
    let mut edges: HashMap<&str, Edge<'_>> = HashMap::new();
    for row in rows.iter() {
        let text = |column| row.text(column).unwrap_or_default();
        let edge = Edge {
            is_ours: text(1) == "ours",
            blocker: text(2),
            blocker_is_ours: text(3) == "ours",
            description: text(4),
            statement: text(5),
            object: text(6),
        };
        // Of several blockers, a foreign one explains more.
        let known = edges.get(text(0));
        if known.is_none_or(|known| known.blocker_is_ours && !edge.blocker_is_ours) {
            edges.insert(text(0), edge);
        }
    }
    edges
}

impl Blocking {
    /// Reads a sample: the rows of a dialect's query of blockers.
    pub fn of(rows: &Rows) -> Self {
        let edges = edges(rows);
        // Not every session shows what it waits for, but those of one queue wait for the same.
        let mut objects: HashMap<&str, &str> = HashMap::new();
        for (session, edge) in edges.iter().filter(|(_, edge)| !edge.object.is_empty()) {
            let root = root(&edges, session);
            if root.blocker_is_ours || root.blocker == edge.blocker {
                let known = objects.entry(root.blocker).or_insert(edge.object);
                *known = edge.object.max(*known);
            }
        }
        let mut all = Self { samples: 1, by: BTreeMap::new() };
        for (session, edge) in edges.iter().filter(|(_, edge)| edge.is_ours) {
            let root = root(&edges, session);
            let own = root.blocker_is_ours;
            let of_queue = objects.get(root.blocker).copied().unwrap_or_default();
            // A foreign session need not have locked what those behind the first in its queue want.
            let shown = if own { edge.object } else { root.object };
            let object = if shown.is_empty() { of_queue } else { shown };
            let key = ((!own).then(|| root.blocker.to_owned()), object.to_owned());
            let seen = all.by.entry(key).or_default();
            let [description, statement] = match own {
                true => [OWN, ""],
                false => [root.description, root.statement],
            };
            seen.description = description.to_owned();
            seen.statement = one_line(statement).chars().take(TEXT_LENGTH).collect();
            seen.blocked += 1;
            seen.blocked_max = seen.blocked;
        }
        all
    }

    /// The values of a second: numbers of blocked sessions by blocker and table. Rows are not told
    /// apart here, because there may be too many.
    #[expect(clippy::cast_precision_loss, reason = "counts of sessions")]
    pub fn measured(&self) -> Measured {
        let mut by: BTreeMap<(String, &str), u64> = BTreeMap::new();
        for ((session, object), seen) in &self.by {
            let number = session.as_ref().map(|number| format!("{number} ")).unwrap_or_default();
            let blocker = format!("{number}{}", seen.description);
            let table = object.split(' ').next().unwrap_or_default();
            *by.entry((blocker, table)).or_default() += seen.blocked;
        }
        let value = |((blocker, table), blocked): ((String, &str), u64)| {
            let labels = [("blocker", blocker.as_str()), ("object", table)];
            (series(BLOCKED_SESSIONS, &labels, "Sessions blocked"), blocked as f64)
        };
        by.into_iter().map(value).collect()
    }

    /// Adds another stretch.
    pub fn add(&mut self, other: Self) {
        self.samples += other.samples;
        for (key, of) in other.by {
            if self.by.len() == KINDS_MAX && !self.by.contains_key(&key) {
                continue;
            }
            let seen = self.by.entry(key).or_default();
            seen.blocked += of.blocked;
            seen.blocked_max = seen.blocked_max.max(of.blocked_max);
            (seen.description, seen.statement) = (of.description, of.statement);
        }
    }

    /// The figures for the document, the worst first.
    #[expect(clippy::cast_precision_loss, reason = "counts of samples")]
    pub fn figures(self) -> Vec<Blocker> {
        let samples = self.samples.max(1) as f64;
        let figures = self.by.into_iter().map(|((session, object), seen)| Blocker {
            session,
            description: seen.description,
            statement: seen.statement,
            object,
            blocked: seen.blocked as f64 / samples,
            blocked_max: seen.blocked_max,
        });
        let mut figures: Vec<_> = figures.collect();
        figures.sort_by(|a, b| b.blocked.total_cmp(&a.blocked));
        figures.truncate(SHOWN_MAX);
        figures
    }
}

/// The edge to the session at the end of a queue, or to one in the circle of a deadlock.
fn root<'a>(edges: &'a HashMap<&str, Edge<'a>>, session: &str) -> &'a Edge<'a> {
    let mut edge = &edges[session];
    let mut passed = BTreeSet::from([session]);
    while let Some(next) = edges.get(edge.blocker)
        && passed.insert(edge.blocker)
    {
        edge = next;
    }
    edge
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocking(edges: &[[&str; 7]]) -> Blocking {
        let mut rows = Rows::new();
        rows.reset(7);
        for edge in edges {
            edge.iter().for_each(|text| rows.text(text));
        }
        Blocking::of(&rows)
    }

    #[test]
    fn the_end_of_the_queue_is_the_blocker_of_all_who_wait() {
        let mut all = blocking(&[
            ["1", "ours", "2", "ours", "app, active", "UPDATE w", "warehouse row (0,1)"],
            ["2", "ours", "9", "other", "ann, psql, idle in transaction", "LOCK", "warehouse"],
            ["3", "ours", "2", "ours", "app, active", "UPDATE w", ""],
            ["8", "other", "9", "other", "ann, psql, idle in transaction", "LOCK", "warehouse"],
        ]);
        all.add(blocking(&[["1", "ours", "2", "ours", "a", "b", "district"]]));
        all.add(Blocking { samples: 2, ..Blocking::default() });
        let figures = all.figures();
        assert_eq!(figures.len(), 2);
        let foreign: Vec<_> = figures.iter().filter(|of| of.session.is_some()).collect();
        assert!(foreign.iter().all(|of| of.session.as_deref() == Some("9")), "{foreign:?}");
        assert!(foreign.iter().all(|of| of.description.contains("psql")), "{foreign:?}");
        assert!(foreign.iter().all(|of| of.object == "warehouse"), "{foreign:?}");
        assert_eq!(foreign.iter().map(|of| of.blocked).sum::<f64>(), 0.75, "3 in one of 4 samples");
        let own = figures.iter().find(|of| of.session.is_none()).unwrap();
        assert_eq!((own.object.as_str(), own.blocked, own.blocked_max), ("district", 0.25, 1));
    }

    #[test]
    fn a_foreign_blocker_is_named_with_what_it_locked() {
        let all = blocking(&[
            ["1", "ours", "9", "other", "ann, psql", "SELECT", "district row (0,1)"],
            ["2", "ours", "1", "ours", "app", "UPDATE d", "warehouse"],
            ["3", "ours", "2", "ours", "app", "UPDATE w", "warehouse"],
            ["4", "ours", "9", "other", "ann, psql", "SELECT", ""],
        ]);
        let figures = all.figures();
        let [of] = &figures[..] else { panic!("{figures:?}") };
        assert_eq!((of.object.as_str(), of.blocked), ("district row (0,1)", 4.0));
        let unknown = blocking(&[
            ["1", "ours", "9", "other", "ann, psql", "SELECT", ""],
            ["2", "ours", "1", "ours", "app", "UPDATE d", "warehouse"],
        ]);
        assert!(unknown.figures().iter().all(|of| of.object.is_empty()));
    }

    #[test]
    fn each_second_counts_the_blocked_by_blocker_and_table() {
        let all = blocking(&[
            ["1", "ours", "9", "other", "ann, psql", "LOCK", "warehouse row (0,1)"],
            ["2", "ours", "9", "other", "ann, psql", "LOCK", "warehouse row (0,2)"],
        ]);
        let values = all.measured();
        let [(series, blocked)] = &values[..] else { panic!("{values:?}") };
        assert_eq!((series.metric.as_str(), *blocked), (BLOCKED_SESSIONS, 2.0));
        assert_eq!(series.labels["blocker"], "9 ann, psql");
        assert_eq!(series.labels["object"], "warehouse");
        assert_eq!(Blocking::default().measured(), []);
    }

    #[test]
    fn a_deadlock_ends() {
        let circle = blocking(&[
            ["1", "ours", "2", "ours", "", "", "a"],
            ["2", "ours", "1", "ours", "", "", "b"],
        ]);
        assert_eq!(circle.figures().len(), 2);
    }
}

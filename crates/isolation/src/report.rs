//! What a check found.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::anomaly::AnomalyKind;
use crate::history::{History, Key, Nanos, Transaction};

/// A dependency between two transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    /// The second overwrote a version of the first.
    Ww,
    /// The second saw a version of the first.
    Wr,
    /// The second overwrote a version that the first had seen: an anti-dependency.
    Rw,
    /// The second inserted a member of a set that the first had read without it.
    PredicateRw,
    /// The second is the next of the same client.
    Session,
    /// The first had ended before the second began.
    RealTime,
}

impl EdgeKind {
    /// Name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ww => "ww",
            Self::Wr => "wr",
            Self::Rw => "rw",
            Self::PredicateRw => "rw-predicate",
            Self::Session => "session",
            Self::RealTime => "real-time",
        }
    }

    /// Whether it is an anti-dependency.
    #[must_use]
    pub const fn is_anti(self) -> bool {
        matches!(self, Self::Rw | Self::PredicateRw)
    }
}

/// A dependency in an [`Example`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Index of the first transaction in the example.
    pub from: usize,
    /// Index of the second.
    pub to: usize,
    /// What the second has to do with the first.
    pub kind: EdgeKind,
    /// The key on which they meet; `None` for orders.
    pub key: Option<Key>,
}

/// The smallest example of an anomaly: its transactions and how they depend on each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The transactions; those of a cycle in its order.
    pub transactions: Vec<Transaction>,
    /// Their dependencies; of a cycle, from each to the next and from the last to the first.
    pub edges: Vec<Edge>,
}

/// How often an anomaly was found, and its smallest example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Times that it was found: commits that were overwritten unseen, reads that were wrong, or
    /// distinct smallest cycles.
    pub count: u64,
    /// When the first transaction of the earliest one began.
    pub first: Nanos,
    /// The smallest one, the earliest of these.
    pub example: Example,
}

/// What a check of a history found; reports of its parts can be merged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Transactions that were examined, whatever became of them.
    pub transactions: u64,
    /// Those of them that committed.
    pub committed: u64,
    /// Those in doubt that count as committed, because they were seen.
    pub in_doubt_seen: u64,
    /// Those in doubt that nobody saw.
    pub in_doubt_unseen: u64,
    /// Operations of all of them.
    pub operations: u64,
    /// What was found.
    pub findings: BTreeMap<AnomalyKind, Finding>,
    /// Ages of what stale reads showed.
    pub ages: Ages,
    /// Reads of a value that may be stale: of keys that were written before they began.
    pub reads: u64,
    /// Whether the search for cycles ended before its time, as there are too many: a count is then a
    /// lower bound, and a kind of cycle that was not found may be there.
    pub uncounted: bool,
}

/// How old the state was that stale reads showed: the times since the commit that they should have
/// shown was acknowledged, each to a thousandth.
#[derive(Clone, Debug, PartialEq)]
pub struct Ages(Histogram<u64>);

impl Default for Ages {
    fn default() -> Self {
        Self(Histogram::new(3).expect("three digits are valid"))
    }
}

impl Ages {
    pub(crate) fn record(&mut self, age: Nanos) {
        self.0.record(age).expect("histograms that grow take every value");
    }

    /// Number of stale reads.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The age that this share of stale reads does not exceed, in nanoseconds; `None` without any.
    #[must_use]
    pub fn at(&self, share: f64) -> Option<Nanos> {
        (!self.0.is_empty()).then(|| self.0.value_at_quantile(share))
    }
}

/// What to know of a report whose search for cycles ended before its time.
pub const UNCOUNTED: &str = "there are more cycles than were searched: counts are lower bounds, and kinds of \
                             cycles that were not found may be there";

impl Report {
    /// Adds the report of another part of the same history.
    pub fn merge(&mut self, other: Self) {
        self.transactions += other.transactions;
        self.committed += other.committed;
        self.in_doubt_seen += other.in_doubt_seen;
        self.in_doubt_unseen += other.in_doubt_unseen;
        self.operations += other.operations;
        self.reads += other.reads;
        self.uncounted |= other.uncounted;
        self.ages.0.add(&other.ages.0).expect("histograms that grow take every value");
        for (kind, finding) in other.findings {
            match self.findings.entry(kind) {
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert(finding);
                }
                std::collections::btree_map::Entry::Occupied(mut place) => {
                    place.get_mut().merge(finding);
                }
            }
        }
    }

    /// How often an anomaly was found.
    #[must_use]
    pub fn count(&self, kind: AnomalyKind) -> u64 {
        self.findings.get(&kind).map_or(0, |finding| finding.count)
    }
}

impl Finding {
    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.first = self.first.min(other.first);
        if other.example.rank() < self.example.rank() {
            self.example = other.example;
        }
    }
}

impl Example {
    /// Smaller is better, then earlier.
    fn rank(&self) -> (usize, Nanos) {
        (self.transactions.len(), began(&self.transactions))
    }
}

fn began(transactions: &[Transaction]) -> Nanos {
    transactions.iter().map(|transaction| transaction.began).min().unwrap_or_default()
}

/// A dependency between transactions of a history, by their indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) kind: EdgeKind,
    /// Index of the key in the history; `None` for orders.
    pub(crate) key: Option<u32>,
}

/// Collects what is found in one history.
pub(crate) struct Findings<'a> {
    history: &'a History,
    found: BTreeMap<AnomalyKind, Best>,
}

/// The best example so far, by indexes.
struct Best {
    count: u64,
    first: Nanos,
    rank: (usize, Nanos),
    transactions: Vec<u32>,
    links: Vec<Link>,
}

impl<'a> Findings<'a> {
    pub(crate) const fn of(history: &'a History) -> Self {
        Self { history, found: BTreeMap::new() }
    }

    pub(crate) fn has(&self, kind: AnomalyKind) -> bool {
        self.found.contains_key(&kind)
    }

    /// Counts one more; keeps it as the example if it is the smallest.
    pub(crate) fn add(&mut self, kind: AnomalyKind, transactions: &[u32], links: &[Link]) {
        let began = |transaction: &u32| self.history.head(*transaction).began;
        let first = transactions.iter().map(began).min().unwrap_or_default();
        let rank = (transactions.len(), first);
        let best = self.found.entry(kind).or_insert_with(|| Best {
            count: 0,
            first,
            rank: (usize::MAX, 0),
            transactions: Vec::new(),
            links: Vec::new(),
        });
        best.count += 1;
        best.first = best.first.min(first);
        if rank < best.rank {
            best.rank = rank;
            best.transactions = transactions.to_vec();
            best.links = links.to_vec();
        }
    }

    pub(crate) fn findings(self) -> BTreeMap<AnomalyKind, Finding> {
        let history = self.history;
        let finding = |best: Best| {
            let place = |transaction: u32| {
                let is = |at: &u32| *at == transaction;
                best.transactions.iter().position(is).expect("links are between its transactions")
            };
            let edges = best.links.iter().map(|link| Edge {
                from: place(link.from),
                to: place(link.to),
                kind: link.kind,
                key: link.key.map(|key| history.key_at(key)),
            });
            let edges = edges.collect();
            let whole = |at: &u32| history.transaction(*at as usize);
            let transactions = best.transactions.iter().map(whole).collect();
            let example = Example { transactions, edges };
            Finding { count: best.count, first: best.first, example }
        };
        self.found.into_iter().map(|(kind, best)| (kind, finding(best))).collect()
    }
}

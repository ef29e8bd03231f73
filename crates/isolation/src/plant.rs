//! Plants an anomaly into a copy of a history, as a positive control: where no level of a database
//! allows an anomaly, nothing else shows that this load and this checker would have found it.
//!
//! An edit changes as little as possible: what one read shows, or what became of one transaction. A
//! history in which no place for an edit is found could not have shown the anomaly.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::anomaly::{Anomaly, AnomalyKind, Order};
use crate::check::{Scope, check};
use crate::history::{Action, Fate, History, Key, Model, Nanos, Transaction};

/// Edits that are tried before a history counts as one without a place.
const TRIED_MAX: usize = 40;

/// A copy of a history with an anomaly in it, which the checker finds; `None` if none of the edits
/// shows it.
#[must_use]
pub fn plant(transactions: &[Transaction], anomaly: Anomaly) -> Option<Vec<Transaction>> {
    let kind = AnomalyKind::of(anomaly);
    let found = |edited: &[Transaction]| {
        let history = &mut History::of(edited);
        check(history, Scope { order: Order::Dependencies })
            .is_ok_and(|report| report.count(kind) > 0)
    };
    let places = Places::of(transactions);
    let edits = places.edits(anomaly);
    let apart = edits.len().div_ceil(TRIED_MAX).max(1);
    let tried = edits.iter().step_by(apart);
    tried.map(|edit| edited(transactions, edit)).find(|edited| found(edited))
}

/// How far apart on a list two writers are that are tried together.
const WINDOW: usize = 8;
/// A value that nobody writes.
const UNKNOWN: u64 = u64::MAX;

/// Indexes of a transaction and of its operation.
type Place = (usize, usize);
/// An element of a list: its value, and the index of its writer.
type Element = (u64, usize);

/// A change of a history.
enum Edit {
    /// A transaction did not commit.
    Abort(usize),
    /// Reads show something else.
    Show(Vec<(Place, Action)>),
}

fn edited(transactions: &[Transaction], edit: &Edit) -> Vec<Transaction> {
    let mut copy = transactions.to_vec();
    match edit {
        Edit::Abort(at) => copy[*at].fate = Fate::Aborted,
        Edit::Show(reads) => {
            for ((transaction, operation), action) in reads {
                copy[*transaction].operations[*operation].action = action.clone();
            }
        }
    }
    copy
}

/// Where in a history what is.
struct Places<'a> {
    transactions: &'a [Transaction],
    /// Who wrote a value.
    writer: HashMap<(Key, u64), usize>,
    /// All reads of committed transactions.
    reads: Vec<Place>,
    /// When the first transaction of a client began that saw a value as the newest one.
    known: HashMap<(u32, Key, u64), Nanos>,
}

impl<'a> Places<'a> {
    fn of(transactions: &'a [Transaction]) -> Self {
        let (mut writer, mut reads) = (HashMap::new(), Vec::new());
        for (at, transaction) in transactions.iter().enumerate() {
            if transaction.fate != Fate::Committed {
                continue;
            }
            for (place, operation) in transaction.operations.iter().enumerate() {
                match &operation.action {
                    Action::Append(value) | Action::Write(value) | Action::Insert(value) => {
                        writer.insert((operation.key, *value), at);
                    }
                    _ => reads.push((at, place)),
                }
            }
        }
        let mut places = Self { transactions, writer, reads, known: HashMap::new() };
        for read in places.reads.iter().map(|place| places.read(*place)).collect::<Vec<_>>() {
            if let Some(newest) = read.newest() {
                let known = places.known.entry((read.whole.session, read.key(), newest));
                let began = read.whole.began;
                known.and_modify(|first| *first = began.min(*first)).or_insert(began);
            }
        }
        places
    }

    fn edits(&self, anomaly: Anomaly) -> Vec<Edit> {
        match anomaly {
            Anomaly::Unwritten => self.shows(|read| Some(read.with(UNKNOWN))),
            Anomaly::Duplicate => {
                self.shows(|read| read.list()?.last().map(|last| read.with(*last)))
            }
            Anomaly::IncompatibleOrder => self.shows(|read| swapped(read.list()?)),
            Anomaly::G1a | Anomaly::DirtyUpdate => self.aborts(),
            Anomaly::G0 => self.crossed(),
            Anomaly::G1b => self.shows(|read| read.list().and_then(shorter).map(Action::List)),
            Anomaly::G1c => self.flows(),
            Anomaly::OwnWrite => self.shows(|read| read.without_own_write()),
            Anomaly::Internal => {
                self.shows(|read| self.earlier(read).filter(|_| read.is_repeated()))
            }
            Anomaly::GSingle | Anomaly::StaleRead => self.shows(|read| self.earlier(read)),
            Anomaly::ReadYourWrites => {
                self.shows(|read| self.earlier(read).filter(|_| self.knows(read, true)))
            }
            Anomaly::MonotonicReads => {
                self.shows(|read| self.earlier(read).filter(|_| self.knows(read, false)))
            }
            Anomaly::LostUpdate | Anomaly::G2Item => self
                .shows(|read| self.earlier(read).filter(|_| read.key().model == Model::Register)),
            Anomaly::GSinglePredicate | Anomaly::G2 => {
                self.shows(|read| self.earlier(read).filter(|_| read.key().model == Model::Set))
            }
            Anomaly::GNonadjacent => self.forks(),
            Anomaly::GNonadjacentPredicate => self.forks_of_sets(),
        }
    }

    /// Edits of single reads.
    fn shows(&self, action: impl Fn(&ReadOperation<'_>) -> Option<Action>) -> Vec<Edit> {
        let edit = |place: &Place| {
            let action = action(&self.read(*place))?;
            Some(Edit::Show(vec![(*place, action)]))
        };
        self.reads.iter().filter_map(edit).collect()
    }

    fn read(&self, (transaction, operation): Place) -> ReadOperation<'a> {
        let whole = &self.transactions[transaction];
        ReadOperation { whole, operation }
    }

    /// What a read would have shown before the newest write that it shows.
    fn earlier(&self, read: &ReadOperation<'_>) -> Option<Action> {
        match read.action() {
            Action::List(list) => shorter(list).map(Action::List),
            Action::Members(members) => {
                let newest = members.iter().max()?;
                Some(Action::Members(without(members, *newest)))
            }
            Action::Read(version) => {
                let writer = *self.writer.get(&(read.key(), *version))?;
                let parent = self.transactions[writer].operations.iter();
                parent.filter(|operation| operation.key == read.key()).find_map(|operation| {
                    match operation.action {
                        Action::Read(parent) => Some(Action::Read(parent)),
                        _ => None,
                    }
                })
            }
            Action::Append(_) | Action::Write(_) | Action::Insert(_) => None,
        }
    }

    /// Whether the client of a read had written or seen the newest value that it shows.
    fn knows(&self, read: &ReadOperation<'_>, is_own: bool) -> bool {
        let (key, Some(newest)) = (read.key(), read.newest()) else { return false };
        let Transaction { session, began, .. } = *read.whole;
        match is_own {
            true => self.writer.get(&(key, newest)).is_some_and(|at| {
                let writer = &self.transactions[*at];
                writer.session == session && writer.began < began
            }),
            false => self.known.get(&(session, key, newest)).is_some_and(|first| *first < began),
        }
    }

    /// Transactions whose writes others have seen.
    fn aborts(&self) -> Vec<Edit> {
        let writer = |place: &Place| {
            let read = self.read(*place);
            let values = read.values();
            let older = values.iter().rev().nth(1).or(values.last());
            self.writer.get(&(read.key(), *older?)).copied()
        };
        let writers: BTreeSet<usize> = self.reads.iter().filter_map(writer).collect();
        writers.into_iter().map(Edit::Abort).collect()
    }

    /// The longest list of each key, by its writers.
    fn lists(&self) -> BTreeMap<Key, Vec<(u64, usize)>> {
        let mut lists = BTreeMap::<Key, Vec<(u64, usize)>>::new();
        for read in self.reads.iter().map(|place| self.read(*place)) {
            let Some(list) = read.list() else { continue };
            let longest = lists.entry(read.key()).or_default();
            for value in list.iter().skip(longest.len()) {
                let Some(writer) = self.writer.get(&(read.key(), *value)) else { break };
                longest.push((*value, *writer));
            }
        }
        lists
    }

    /// Two writers who meet on two lists: they change places on one of them.
    fn crossed(&self) -> Vec<Edit> {
        let mut met = HashMap::new();
        let mut edits = Vec::new();
        for (key, list) in self.lists() {
            for (first, second) in pairs(&list) {
                match met.insert((first.1, second.1), key) {
                    Some(other) if other != key => {
                        edits.push(self.exchanged(key, first.0, second.0));
                    }
                    _ => {}
                }
            }
        }
        edits
    }

    /// All reads of a list, with two values exchanged.
    fn exchanged(&self, key: Key, first: u64, second: u64) -> Edit {
        let of_key = |place: &&Place| self.read(**place).key() == key;
        let exchange = |value: &u64| match *value {
            value if value == first => second,
            value if value == second => first,
            value => value,
        };
        let edit = |place: &Place| {
            let list: Vec<u64> = self.read(*place).list()?.iter().map(exchange).collect();
            Some((*place, Action::List(list)))
        };
        Edit::Show(self.reads.iter().filter(of_key).filter_map(edit).collect())
    }

    /// A transaction sees what one appended that comes after it on another list.
    fn flows(&self) -> Vec<Edit> {
        let lists = self.lists();
        let orders: HashSet<(usize, usize)> =
            lists.values().flat_map(|list| pairs(list)).map(|(a, b)| (a.1, b.1)).collect();
        let edit = |place: &Place| {
            let read = self.read(*place);
            let (seen, list) = (read.list()?, lists.get(&read.key())?);
            let later = list.iter().enumerate().skip(seen.len()).take(WINDOW);
            let follows =
                |(_, (_, writer)): &(usize, &(u64, usize))| orders.contains(&(place.0, *writer));
            let (at, _) = later.into_iter().find(follows)?;
            let shown = list[..=at].iter().map(|(value, _)| *value).collect();
            Some(Edit::Show(vec![(*place, Action::List(shown))]))
        };
        self.reads.iter().filter_map(edit).collect()
    }

    /// Two readers of the same state of two lists: each misses the last write of another one.
    fn forks(&self) -> Vec<Edit> {
        let mut seen = HashMap::<[(Key, u64); 2], [Place; 2]>::new();
        let mut edits = Vec::new();
        for (at, transaction) in self.transactions.iter().enumerate() {
            let is_list = |place: &Place| self.read(*place).list().is_some();
            let places = (0..transaction.operations.len()).map(|operation| (at, operation));
            let places: Vec<Place> = places.filter(is_list).collect();
            for (a, b) in places.iter().flat_map(|a| places.iter().map(move |b| (*a, *b))) {
                let (x, y) = (self.read(a), self.read(b));
                let (Some(of_x), Some(of_y)) = (x.newest(), y.newest()) else { continue };
                if x.key() >= y.key() {
                    continue;
                }
                match seen.insert([(x.key(), of_x), (y.key(), of_y)], [a, b]) {
                    Some([other, _]) if other.0 != at => {
                        let shown = [(other, self.earlier(&x)), (b, self.earlier(&y))];
                        let shown = shown.map(|(place, action)| action.map(|one| (place, one)));
                        edits.extend(shown.into_iter().collect::<Option<_>>().map(Edit::Show));
                    }
                    _ => {}
                }
            }
        }
        edits
    }

    /// Two readers of the same set, each of which misses another one of two members.
    fn forks_of_sets(&self) -> Vec<Edit> {
        let mut seen = HashMap::<(Key, Vec<u64>), Place>::new();
        let mut edits = Vec::new();
        for place in &self.reads {
            let read = self.read(*place);
            let Action::Members(members) = read.action() else { continue };
            let mut sorted = members.clone();
            sorted.sort_unstable();
            let [.., one, two] = sorted[..] else { continue };
            let other = seen.insert((read.key(), sorted.clone()), *place);
            if let Some(other) = other.filter(|other| other.0 != place.0) {
                edits.push(Edit::Show(vec![
                    (other, Action::Members(without(&sorted, one))),
                    (*place, Action::Members(without(&sorted, two))),
                ]));
            }
        }
        edits
    }
}

/// A read of a history.
struct ReadOperation<'a> {
    whole: &'a Transaction,
    operation: usize,
}

impl<'a> ReadOperation<'a> {
    fn key(&self) -> Key {
        self.whole.operations[self.operation].key
    }

    fn action(&self) -> &'a Action {
        &self.whole.operations[self.operation].action
    }

    fn list(&self) -> Option<&'a [u64]> {
        match self.action() {
            Action::List(list) => Some(list),
            _ => None,
        }
    }

    /// All that it shows.
    fn values(&self) -> Vec<u64> {
        match self.action() {
            Action::List(values) | Action::Members(values) => values.clone(),
            Action::Read(version) => vec![*version],
            Action::Append(_) | Action::Write(_) | Action::Insert(_) => Vec::new(),
        }
    }

    fn newest(&self) -> Option<u64> {
        match self.action() {
            Action::Members(members) => members.iter().max().copied(),
            Action::List(list) => list.last().copied(),
            Action::Read(version) => Some(*version),
            Action::Append(_) | Action::Write(_) | Action::Insert(_) => None,
        }
    }

    /// The same, with one value more.
    fn with(&self, value: u64) -> Action {
        match self.action() {
            Action::List(list) => Action::List([&list[..], &[value]].concat()),
            Action::Members(members) => Action::Members([&members[..], &[value]].concat()),
            _ => Action::Read(value),
        }
    }

    fn before(&self) -> impl Iterator<Item = &'a Action> {
        let key = self.key();
        let before = self.whole.operations[..self.operation].iter();
        before.filter(move |operation| operation.key == key).map(|operation| &operation.action)
    }

    /// Whether its transaction reads the key more than once.
    fn is_repeated(&self) -> bool {
        let all = self.whole.operations.iter();
        let reads = all.filter(|one| one.key == self.key() && !one.action.writes());
        reads.count() > 1
    }

    /// The same without what its own transaction had written.
    fn without_own_write(&self) -> Option<Action> {
        let own = self.before().find_map(|action| match action {
            Action::Append(value) | Action::Insert(value) => Some(*value),
            _ => None,
        })?;
        match self.action() {
            Action::List(list) => Some(Action::List(without(list, own))),
            Action::Members(members) => Some(Action::Members(without(members, own))),
            _ => None,
        }
    }
}

fn without(values: &[u64], value: u64) -> Vec<u64> {
    values.iter().copied().filter(|other| *other != value).collect()
}

fn shorter(list: &[u64]) -> Option<Vec<u64>> {
    list.split_last().map(|(_, rest)| rest.to_vec())
}

/// The same list with its last two values exchanged.
fn swapped(list: &[u64]) -> Option<Action> {
    let mut list = list.to_vec();
    let last = list.len().checked_sub(2)?;
    list.swap(last, last + 1);
    Some(Action::List(list))
}

/// Elements of a list by different writers, the first of which comes not long before the second.
fn pairs(list: &[(u64, usize)]) -> impl Iterator<Item = (Element, Element)> {
    let later = |at: usize| list.iter().skip(at + 1).take(WINDOW);
    let all = list.iter().enumerate();
    let all = all.flat_map(move |(at, first)| later(at).map(move |second| (*first, *second)));
    all.filter(|(first, second)| first.1 != second.1)
}

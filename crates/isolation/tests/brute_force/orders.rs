//! Searches every order in which the transactions of a history could have been executed.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use triphammer_isolation::{Action, Fate, Key, Model, Transaction};

/// The values of keys: of a register, the last one only.
type State = BTreeMap<Key, Vec<u64>>;

/// Whether one transaction after the other, in some order, sees what the committed ones saw. Those in
/// doubt may have been executed or not.
pub fn is_serializable(history: &[Transaction]) -> bool {
    let left: Vec<&Transaction> = history.iter().filter(|one| one.fate != Fate::Aborted).collect();
    serial(&left, &State::new())
}

fn serial(left: &[&Transaction], state: &State) -> bool {
    if left.iter().all(|one| one.fate == Fate::InDoubt) {
        return true;
    }
    (0..left.len()).any(|at| {
        let mut state = state.clone();
        let rest: Vec<&Transaction> = [&left[..at], &left[at + 1..]].concat();
        sees(left[at], &state) && {
            write(left[at], &mut state);
            serial(&rest, &state)
        }
    })
}

/// Whether each transaction saw the state of one point in time, with its own writes, and no two that
/// wrote the same row overlapped.
pub fn is_snapshot_isolated(history: &[Transaction]) -> bool {
    let counting: Vec<&Transaction> =
        history.iter().filter(|one| one.fate != Fate::Aborted).collect();
    let left = (0..counting.len()).collect();
    let begin = Moment { left, open: BTreeMap::new(), state: State::new() };
    Snapshots { history: counting, tried: HashSet::new() }.reaches(begin)
}

/// A moment of an execution, by indexes of transactions.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Moment {
    /// Those that have not begun.
    left: Vec<usize>,
    /// Those that have taken their snapshots, in which they saw what they saw, each with the rows that
    /// others have written since.
    open: BTreeMap<usize, BTreeSet<Key>>,
    state: State,
}

struct Snapshots<'a> {
    history: Vec<&'a Transaction>,
    /// Moments that lead nowhere.
    tried: HashSet<Moment>,
}

impl Snapshots<'_> {
    /// Whether all that committed can be executed from here.
    fn reaches(&mut self, moment: Moment) -> bool {
        let is_in_doubt = |at: &usize| self.history[*at].fate == Fate::InDoubt;
        if moment.open.is_empty() && moment.left.iter().all(is_in_doubt) {
            return true;
        }
        if !self.tried.insert(moment.clone()) {
            return false;
        }
        let begins = |at: &usize| sees(self.history[*at], &moment.state);
        let begins: Vec<usize> = moment.left.iter().copied().filter(begins).collect();
        begins.into_iter().any(|at| self.reaches(begin(&moment, at)))
            || moment.open.keys().any(|at| {
                let next = commit(&moment, *at, self.history[*at]);
                next.is_some_and(|next| self.reaches(next))
            })
    }
}

fn begin(moment: &Moment, at: usize) -> Moment {
    let mut next = moment.clone();
    next.left.retain(|other| *other != at);
    next.open.insert(at, BTreeSet::new());
    next
}

/// The moment after a commit; `None` if others have written its rows meanwhile.
fn commit(moment: &Moment, at: usize, transaction: &Transaction) -> Option<Moment> {
    let mut next = moment.clone();
    let since = next.open.remove(&at).expect("it is open");
    let rows = rows(transaction);
    if rows.iter().any(|row| since.contains(row)) {
        return None;
    }
    write(transaction, &mut next.state);
    for since in next.open.values_mut() {
        since.extend(&rows);
    }
    Some(next)
}

/// The rows that a transaction wrote: members of a set are rows of their own.
fn rows(transaction: &Transaction) -> Vec<Key> {
    let written = transaction.operations.iter().filter(|operation| operation.action.writes());
    written.map(|operation| operation.key).filter(|key| key.model != Model::Set).collect()
}

/// Whether the reads of a transaction are those of a state, with its own writes.
fn sees(transaction: &Transaction, state: &State) -> bool {
    let mut state = state.clone();
    transaction.operations.iter().all(|operation| {
        let values = state.entry(operation.key).or_default();
        match &operation.action {
            Action::Append(_) | Action::Write(_) | Action::Insert(_) => {
                apply(&operation.action, values);
                true
            }
            Action::List(list) => list == values,
            Action::Read(version) => *version == values.last().copied().unwrap_or(0),
            Action::Members(members) => {
                members.len() == values.len()
                    && members.iter().all(|member| values.contains(member))
            }
        }
    })
}

fn write(transaction: &Transaction, state: &mut State) {
    for operation in &transaction.operations {
        apply(&operation.action, state.entry(operation.key).or_default());
    }
}

fn apply(action: &Action, values: &mut Vec<u64>) {
    match action {
        Action::Append(value) | Action::Insert(value) => values.push(*value),
        Action::Write(version) => *values = vec![*version],
        Action::List(_) | Action::Read(_) | Action::Members(_) => {}
    }
}

//! The versions of each key, their order as far as the history shows it, and the dependencies
//! between transactions that follow.
//!
//! - A **list** shows the order of its versions. A committed append that no read shows comes after
//!   all that any read shows; the order among several of these is unknown.
//! - A **register**'s versions form a tree: each was written after a read of the one before it. Two
//!   children of one version are a lost update, and their order is unknown.
//! - The members of a **set** have no order: insertions commute.

use crate::history::{Fate, History, Model, Op, What, index};
use crate::report::EdgeKind;

/// A transaction that is not in the history, or does not count.
pub(crate) const NOBODY: u32 = u32::MAX;

/// A write of a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    key: u32,
    pub(crate) value: u64,
    pub(crate) transaction: u32,
    /// Whether the transaction wrote the key no more after it.
    pub(crate) is_last: bool,
    /// The version of a register that it was written over.
    pub(crate) parent: Option<u64>,
}

/// A version of a register that was written over another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Child {
    pub(crate) key: u32,
    pub(crate) parent: u64,
    pub(crate) transaction: u32,
    pub(crate) value: u64,
}

/// Two transactions wrote the same value to the same key, so that reads cannot be told apart.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{value} was written twice to key {key}: every written value must be unique for its key")]
pub struct NotUnique {
    /// Number of the key.
    pub key: u64,
    /// The value.
    pub value: u64,
}

/// Who wrote what, and in which order.
pub(crate) struct Versions<'a> {
    pub(crate) history: &'a History,
    /// Sorted by key and value.
    writes: Vec<Write>,
    /// Where the writes of each key begin.
    writes_of: Vec<u32>,
    /// Writers of the elements of the longest lists, key after key.
    writers: Vec<u32>,
    /// Where those of each key begin.
    writers_of: Vec<u32>,
    /// Committed appends that no read shows, sorted by key.
    unseen: Vec<(u32, u32)>,
    /// Committed versions of registers, sorted by key and parent.
    children: Vec<Child>,
    /// Whether a transaction counts as committed.
    counts: Vec<bool>,
}

impl<'a> Versions<'a> {
    pub(crate) fn of(history: &'a History) -> Result<Self, NotUnique> {
        let (writes, writes_of) = writes(history)?;
        let counts = history.heads().map(|(_, head)| head.fate == Fate::Committed).collect();
        let mut versions = Self {
            history,
            writes,
            writes_of,
            writers: Vec::new(),
            writers_of: Vec::new(),
            unseen: Vec::new(),
            children: Vec::new(),
            counts,
        };
        versions.count_seen();
        versions.order_lists();
        versions.order_registers();
        Ok(versions)
    }

    /// Whether a transaction committed, by its acknowledgement or because it was seen.
    pub(crate) fn counts(&self, transaction: u32) -> bool {
        self.counts[transaction as usize]
    }

    pub(crate) fn into_counts(self) -> Vec<bool> {
        self.counts
    }

    /// The transactions that count.
    pub(crate) fn counting(&self) -> impl Iterator<Item = u32> {
        (0..index(self.counts.len())).filter(|transaction| self.counts(*transaction))
    }

    /// The transactions of each client that count, in their order. One in doubt is the last of its
    /// session: the server may still be executing it when the client begins another.
    pub(crate) fn sessions(&self) -> Vec<Vec<u32>> {
        let head = |transaction: &u32| self.history.head(*transaction);
        let mut order: Vec<u32> = self.counting().collect();
        order.sort_by_key(|transaction| (head(transaction).session, head(transaction).began));
        let same =
            |a: &u32, b: &u32| head(a).session == head(b).session && head(a).fate != Fate::InDoubt;
        order.chunk_by(same).map(<[u32]>::to_vec).collect()
    }

    /// The writes of a key, by value.
    pub(crate) fn writes_of(&self, key: u32) -> &[Write] {
        let at = |key: u32| self.writes_of[key as usize] as usize;
        &self.writes[at(key)..at(key + 1)]
    }

    /// The write of a value; `None` if nobody wrote it.
    pub(crate) fn write(&self, key: u32, value: u64) -> Option<&Write> {
        let writes = self.writes_of(key);
        let at = writes.binary_search_by_key(&value, |write| write.value);
        at.ok().map(|at| &writes[at])
    }

    /// The writers of the longest list of a key, in order; [`NOBODY`] for those that do not count.
    pub(crate) fn writers(&self, key: u32) -> &[u32] {
        let at = |key: u32| self.writers_of[key as usize] as usize;
        &self.writers[at(key)..at(key + 1)]
    }

    /// Those who appended to a list, committed, and were never seen.
    pub(crate) fn unseen(&self, key: u32) -> impl Iterator<Item = u32> {
        let begin = self.unseen.partition_point(|(of, _)| *of < key);
        self.unseen[begin..].iter().take_while(move |(of, _)| *of == key).map(|(_, writer)| *writer)
    }

    /// The committed versions that were written over a version of a register.
    pub(crate) fn children(&self, key: u32, parent: u64) -> &[Child] {
        let place = |child: &Child| (child.key, child.parent);
        let begin = self.children.partition_point(|child| place(child) < (key, parent));
        let rest = &self.children[begin..];
        &rest[..rest.partition_point(|child| place(child) == (key, parent))]
    }

    /// All committed versions of registers, sorted by key and parent.
    pub(crate) fn all_children(&self) -> impl Iterator<Item = &[Child]> {
        self.children.chunk_by(|a, b| (a.key, a.parent) == (b.key, b.parent))
    }

    /// Transactions in doubt count as committed if one that counts saw them.
    fn count_seen(&mut self) {
        let mut waiting: Vec<u32> = self.counting().collect();
        while let Some(reader) = waiting.pop() {
            for op in self.history.ops(reader) {
                self.each_seen(*op, |versions, writer| {
                    let is_new = versions.history.head(writer).fate == Fate::InDoubt
                        && !std::mem::replace(&mut versions.counts[writer as usize], true);
                    if is_new {
                        waiting.push(writer);
                    }
                });
            }
        }
    }

    /// The writers in doubt that an operation saw; of lists, those of its last element only, before
    /// which everything is in the list of a reader that counts.
    fn each_seen(&mut self, op: Op, mut each: impl FnMut(&mut Self, u32)) {
        let history = self.history;
        let (one, many): (Option<u64>, &[u64]) = match op.what {
            What::Wrote(_) => return,
            What::Version(version) => (Some(version), &[]),
            What::Odd(read) | What::Beyond(read) | What::Members(read) => {
                (None, history.read(read))
            }
            // The same list is looked through once: when its last reader comes.
            What::Prefix(length) => match history.longest(op.key) {
                longest if longest.len() == length as usize => (None, longest),
                longest => (longest[..length as usize].last().copied(), &[]),
            },
        };
        for value in one.iter().chain(many) {
            if let Some(writer) = self.write(op.key, *value).map(|write| write.transaction) {
                each(self, writer);
            }
        }
    }

    fn order_lists(&mut self) {
        let mut seen = vec![false; self.writes.len()];
        for key in 0..index(self.history.keys()) {
            self.writers_of.push(index(self.writers.len()));
            let first = self.writes_of[key as usize] as usize;
            for value in self.history.longest(key) {
                let writes = self.writes_of(key);
                let found = writes.binary_search_by_key(value, |write| write.value).ok();
                let writer = found.map(|at| {
                    seen[first + at] = true;
                    writes[at].transaction
                });
                let writer = writer.filter(|writer| self.counts(*writer));
                self.writers.push(writer.unwrap_or(NOBODY));
            }
        }
        self.writers_of.push(index(self.writers.len()));
        let is_list = |write: &Write| {
            self.history.key_at(write.key).model == Model::List && self.counts(write.transaction)
        };
        let unseen = self.writes.iter().zip(&seen);
        let unseen = unseen.filter(|(write, seen)| !**seen && is_list(write));
        self.unseen = unseen.map(|(write, _)| (write.key, write.transaction)).collect();
    }

    fn order_registers(&mut self) {
        let is_register = |key: u32| self.history.key_at(key).model == Model::Register;
        let counting = self.writes.iter().filter(|write| self.counts(write.transaction));
        let child = |write: &Write| {
            let &Write { key, value, transaction, parent, .. } = write;
            parent.filter(|_| is_register(key)).map(|parent| Child {
                key,
                parent,
                transaction,
                value,
            })
        };
        let mut children: Vec<Child> = counting.filter_map(child).collect();
        children.sort_unstable();
        self.children = children;
    }

    /// Calls `each` with every dependency between transactions that count: from, to, kind, key.
    pub(crate) fn dependencies(&self, each: &mut impl FnMut(u32, u32, EdgeKind, u32)) {
        for key in 0..index(self.history.keys()) {
            self.of_list(key, each);
        }
        for siblings in self.all_children() {
            for child in siblings {
                self.from(child.key, child.parent, child.transaction, EdgeKind::Ww, each);
            }
        }
        for reader in self.counting() {
            for op in self.history.ops(reader) {
                self.of_read(reader, *op, each);
            }
        }
    }

    /// A dependency on the writer of a value, if it counts and is another.
    fn from(
        &self,
        key: u32,
        value: u64,
        to: u32,
        kind: EdgeKind,
        each: &mut impl FnMut(u32, u32, EdgeKind, u32),
    ) {
        let writer = self.write(key, value).map(|write| write.transaction);
        if let Some(writer) = writer.filter(|writer| *writer != to && self.counts(*writer)) {
            each(writer, to, kind, key);
        }
    }

    /// Each version of a list and the next; those that nobody saw come after the last.
    fn of_list(&self, key: u32, each: &mut impl FnMut(u32, u32, EdgeKind, u32)) {
        let mut last = NOBODY;
        for writer in self.writers(key).iter().copied().filter(|writer| *writer != NOBODY) {
            if last != NOBODY && last != writer {
                each(last, writer, EdgeKind::Ww, key);
            }
            last = writer;
        }
        for writer in self.unseen(key).filter(|writer| last != NOBODY && *writer != last) {
            each(last, writer, EdgeKind::Ww, key);
        }
    }

    fn of_read(&self, reader: u32, op: Op, each: &mut impl FnMut(u32, u32, EdgeKind, u32)) {
        let key = op.key;
        match op.what {
            What::Wrote(_) | What::Odd(_) | What::Beyond(_) => {}
            What::Prefix(length) => self.of_list_read(reader, key, length as usize, each),
            What::Version(version) => {
                self.from(key, version, reader, EdgeKind::Wr, each);
                for child in self.children(key, version) {
                    if child.transaction != reader {
                        each(reader, child.transaction, EdgeKind::Rw, key);
                    }
                }
            }
            What::Members(read) => {
                let members = self.history.read(read);
                for write in self.writes_of(key) {
                    let writer = write.transaction;
                    if writer == reader || !self.counts(writer) {
                        continue;
                    }
                    match members.contains(&write.value) {
                        true => each(writer, reader, EdgeKind::Wr, key),
                        false => each(reader, writer, EdgeKind::PredicateRw, key),
                    }
                }
            }
        }
    }

    fn of_list_read(
        &self,
        reader: u32,
        key: u32,
        length: usize,
        each: &mut impl FnMut(u32, u32, EdgeKind, u32),
    ) {
        let (before, after) = self.writers(key).split_at(length);
        let mut before = before.iter().rev().copied();
        // After its own append, the list says no more than the append itself.
        if let Some(writer) = before.find(|writer| *writer != NOBODY) {
            if writer == reader {
                return;
            }
            each(writer, reader, EdgeKind::Wr, key);
        }
        match after.iter().copied().find(|writer| *writer != NOBODY) {
            Some(next) if next != reader => each(reader, next, EdgeKind::Rw, key),
            Some(_) => {}
            None => {
                for writer in self.unseen(key).filter(|writer| *writer != reader) {
                    each(reader, writer, EdgeKind::Rw, key);
                }
            }
        }
    }
}

/// The version of a register that a transaction last read or wrote.
fn parent(before: &[Op], key: u32) -> Option<u64> {
    before.iter().rev().filter(|op| op.key == key).find_map(|op| match op.what {
        What::Version(version) | What::Wrote(version) => Some(version),
        _ => None,
    })
}

/// All writes, sorted by key and value, and where those of each key begin.
fn writes(history: &History) -> Result<(Vec<Write>, Vec<u32>), NotUnique> {
    let mut writes = Vec::new();
    for (transaction, _) in history.heads() {
        let ops = history.ops(transaction);
        for (at, op) in ops.iter().enumerate() {
            if let What::Wrote(value) = op.what {
                let again =
                    |later: &Op| later.key == op.key && matches!(later.what, What::Wrote(_));
                let is_last = !ops[at + 1..].iter().any(again);
                let parent = parent(&ops[..at], op.key);
                writes.push(Write { key: op.key, value, transaction, is_last, parent });
            }
        }
    }
    writes.sort_unstable_by_key(|write| (write.key, write.value));
    for pair in writes.windows(2) {
        if (pair[0].key, pair[0].value) == (pair[1].key, pair[1].value) {
            let key = history.key_at(pair[0].key).id;
            return Err(NotUnique { key, value: pair[0].value });
        }
    }
    let mut begins = Vec::with_capacity(history.keys() + 1);
    for key in 0..=index(history.keys()) {
        begins.push(index(writes.partition_point(|write| write.key < key)));
    }
    Ok((writes, begins))
}

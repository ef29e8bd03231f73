//! What clients did and saw.
//!
//! Every written value is unique for its key, so that a read names the write that it saw. A key has
//! one of three [`Model`]s, by what its rows are.

use std::collections::HashMap;

/// Nanoseconds since the start of the history.
pub type Nanos = u64;

/// What a key's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// A list, to which transactions append: a read shows the order of all versions before it.
    List,
    /// A register: each version is written by a transaction that read the version before it.
    Register,
    /// A set, into which transactions insert: a read is that of a predicate.
    Set,
}

/// A row, or a group of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// What its value is.
    pub model: Model,
    /// Its number, among the keys of its model.
    pub id: u64,
}

impl Key {
    /// A list.
    #[must_use]
    pub const fn list(id: u64) -> Self {
        Self { model: Model::List, id }
    }

    /// A register.
    #[must_use]
    pub const fn register(id: u64) -> Self {
        Self { model: Model::Register, id }
    }

    /// A set.
    #[must_use]
    pub const fn set(id: u64) -> Self {
        Self { model: Model::Set, id }
    }
}

/// What an operation did or saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Appended a value to a list.
    Append(u64),
    /// Read a list.
    List(Vec<u64>),
    /// Wrote a version of a register, after this transaction had read the version before it.
    Write(u64),
    /// Read a version of a register; 0 is the first, which no transaction wrote.
    Read(u64),
    /// Inserted a member into a set.
    Insert(u64),
    /// Read the members of a set, in any order.
    Members(Vec<u64>),
}

impl Action {
    /// Whether it changed the key.
    #[must_use]
    pub const fn writes(&self) -> bool {
        matches!(self, Self::Append(_) | Self::Write(_) | Self::Insert(_))
    }

    const fn model(&self) -> Model {
        match self {
            Self::Append(_) | Self::List(_) => Model::List,
            Self::Write(_) | Self::Read(_) => Model::Register,
            Self::Insert(_) | Self::Members(_) => Model::Set,
        }
    }
}

/// An operation of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it was about.
    pub key: Key,
    /// What it did or saw.
    pub action: Action,
    /// When its answer arrived.
    pub at: Nanos,
}

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// The database acknowledged the commit.
    Committed,
    /// It did not commit: it was rolled back, or failed before COMMIT was sent.
    Aborted,
    /// COMMIT was sent and not answered. It counts as committed if a committed transaction saw it.
    InDoubt,
}

/// A transaction of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// The client: its transactions do not overlap.
    pub session: u32,
    /// When the client began it.
    pub began: Nanos,
    /// When the client knew its fate.
    pub ended: Nanos,
    /// What became of it.
    pub fate: Fate,
    /// What it did, in order. A read whose answer is unknown is left out.
    pub operations: Vec<Operation>,
}

/// A transaction of a [`History`] without its operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) session: u32,
    pub(crate) fate: Fate,
    pub(crate) began: Nanos,
    pub(crate) ended: Nanos,
    /// Its first operation; its last is before the first of the next.
    first: u32,
}

/// An operation in few bytes: lists are nearly always the beginning of the longest one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    /// Index of the key in the history.
    pub(crate) key: u32,
    /// When its answer arrived, since the transaction began; saturates after four seconds.
    after: u32,
    pub(crate) what: What,
}

/// What an operation did or saw: the values of lists are in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Wrote a value, whatever the model.
    Wrote(u64),
    /// Read so many values of the longest list of its key.
    Prefix(u32),
    /// Read a list that was not the beginning of the longest one: number of the read.
    Odd(u32),
    /// Read more than the longest list, and is not sure to have committed: number of the read.
    Beyond(u32),
    /// Read a version of a register.
    Version(u64),
    /// Read a set: number of the read.
    Members(u32),
}

/// A history, in the order of what was pushed. At most 2³¹ transactions and operations.
#[derive(Debug, Default)]
pub struct History {
    heads: Vec<Head>,
    ops: Vec<Op>,
    keys: Vec<Key>,
    key_of: HashMap<Key, u32>,
    /// The longest list that a committed transaction read, by key; empty for other models.
    longest: Vec<Vec<u64>>,
    /// Reads that no beginning of a list describes.
    reads: Vec<Vec<u64>>,
}

impl History {
    /// Creates a history of these transactions.
    #[must_use]
    pub fn of(transactions: &[Transaction]) -> Self {
        let mut history = Self::default();
        for transaction in transactions {
            history.push(transaction);
        }
        history
    }

    /// Adds a transaction, in any order of time.
    ///
    /// # Panics
    /// When an operation is none of its key's model.
    pub fn push(&mut self, transaction: &Transaction) {
        let &Transaction { session, began, ended, fate, ref operations } = transaction;
        self.heads.push(Head { session, fate, began, ended, first: index(self.ops.len()) });
        for Operation { key, action, at } in operations {
            assert_eq!(key.model, action.model(), "an operation is one of its key's model");
            let key = self.key(*key);
            let what = match action {
                Action::Append(value) | Action::Write(value) | Action::Insert(value) => {
                    What::Wrote(*value)
                }
                Action::Read(version) => What::Version(*version),
                Action::Members(members) => What::Members(self.keep(members)),
                Action::List(list) => self.list(key, list, fate),
            };
            let after = u32::try_from(at.saturating_sub(began)).unwrap_or(u32::MAX);
            self.ops.push(Op { key, after, what });
        }
    }

    fn key(&mut self, key: Key) -> u32 {
        *self.key_of.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.longest.push(Vec::new());
            index(self.keys.len() - 1)
        })
    }

    fn keep(&mut self, read: &[u64]) -> u32 {
        self.reads.push(read.to_vec());
        index(self.reads.len() - 1)
    }

    /// Only what a committed transaction read says something about the list.
    fn list(&mut self, key: u32, list: &[u64], fate: Fate) -> What {
        let longest = &mut self.longest[key as usize];
        if longest.starts_with(list) {
            return What::Prefix(index(list.len()));
        }
        if fate == Fate::Committed && list.starts_with(longest) {
            longest.extend_from_slice(&list[longest.len()..]);
            return What::Prefix(index(list.len()));
        }
        What::Odd(self.keep(list))
    }

    /// Number of transactions.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether there are no transactions.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// Number of operations.
    #[must_use]
    pub const fn operations(&self) -> usize {
        self.ops.len()
    }

    pub(crate) const fn keys(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn key_at(&self, key: u32) -> Key {
        self.keys[key as usize]
    }

    pub(crate) fn longest(&self, key: u32) -> &[u64] {
        &self.longest[key as usize]
    }

    pub(crate) fn read(&self, read: u32) -> &[u64] {
        &self.reads[read as usize]
    }

    pub(crate) fn head(&self, transaction: u32) -> &Head {
        &self.heads[transaction as usize]
    }

    pub(crate) fn heads(&self) -> impl Iterator<Item = (u32, &Head)> {
        self.heads.iter().enumerate().map(|(transaction, head)| (index(transaction), head))
    }

    /// Judges the lists of transactions that are not acknowledged again, by what others have read.
    /// Transactions that `count` committed for all that; their lists may be the longest. Returns
    /// whether they are.
    pub(crate) fn settle(&mut self, count: impl Fn(u32) -> bool) -> bool {
        let mut is_longer = false;
        for transaction in 0..self.heads.len() {
            let (begin, end) = self.range(transaction);
            for at in begin..end {
                let Op { key, what, .. } = self.ops[at];
                let (What::Odd(read) | What::Beyond(read)) = what else { continue };
                let list = &self.reads[read as usize];
                let longest = &mut self.longest[key as usize];
                let is_beyond = list.starts_with(longest) && list.len() > longest.len();
                if is_beyond && count(index(transaction)) {
                    longest.extend_from_slice(&list[longest.len()..]);
                    is_longer = true;
                }
                if longest.starts_with(list) {
                    self.ops[at].what = What::Prefix(index(list.len()));
                } else if is_beyond {
                    self.ops[at].what = What::Beyond(read);
                }
            }
        }
        is_longer
    }

    /// Whether no list is longer than what those read who are sure to have committed.
    pub(crate) fn is_whole(&self) -> bool {
        !self.ops.iter().any(|op| matches!(op.what, What::Beyond(_)))
    }

    /// Where the operations of a transaction are.
    fn range(&self, transaction: usize) -> (usize, usize) {
        let next = self.heads.get(transaction + 1);
        let end = next.map_or(self.ops.len(), |next| next.first as usize);
        (self.heads[transaction].first as usize, end)
    }

    pub(crate) fn ops(&self, transaction: u32) -> &[Op] {
        let (begin, end) = self.range(transaction as usize);
        &self.ops[begin..end]
    }

    /// A transaction as it was pushed; times of operations are cut after four seconds.
    #[must_use]
    pub fn transaction(&self, transaction: usize) -> Transaction {
        let at = index(transaction);
        let head = self.head(at);
        let operations = self.ops(at).iter().map(|op| {
            let key = self.key_at(op.key);
            let action = match (op.what, key.model) {
                (What::Wrote(value), Model::List) => Action::Append(value),
                (What::Wrote(value), Model::Register) => Action::Write(value),
                (What::Wrote(value), Model::Set) => Action::Insert(value),
                (What::Prefix(length), _) => {
                    Action::List(self.longest(op.key)[..length as usize].to_vec())
                }
                (What::Odd(read) | What::Beyond(read), _) => Action::List(self.read(read).to_vec()),
                (What::Version(version), _) => Action::Read(version),
                (What::Members(read), _) => Action::Members(self.read(read).to_vec()),
            };
            Operation { key, action, at: head.began + u64::from(op.after) }
        });
        Transaction {
            session: head.session,
            began: head.began,
            ended: head.ended,
            fate: head.fate,
            operations: operations.collect(),
        }
    }
}

/// Indexes have four bytes, so that large histories fit into memory.
pub(crate) fn index(at: usize) -> u32 {
    u32::try_from(at).expect("a history has less than 2³² of anything")
}

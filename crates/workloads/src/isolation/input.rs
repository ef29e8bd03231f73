//! Inputs: which rows a transaction works on, by their places in an epoch. The epoch is taken when an
//! attempt begins.

use std::fmt;

use triphammer_core::random::Rng;

use super::settings::Options;

/// Most operations of a transaction.
const OPERATIONS_MAX: u64 = 6;

/// Share of the appends that are rolled back, in percent.
const ROLLED_BACK: u64 = 5;

/// Input of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Operations on lists.
    Append {
        /// In the order of the lists.
        operations: Vec<OnList>,
        /// Whether it is rolled back at its end: others must not have seen it.
        rolls_back: bool,
    },
    /// Reads of lists, of a pair of registers and of the newest set.
    Read {
        /// Places of the lists.
        lists: Vec<u32>,
        /// Number of the pair; `None` to read none.
        pair: Option<u32>,
        /// Whether the set is read.
        set: bool,
    },
    /// Reads a register and writes its value plus one; its place.
    Counter(u32),
    /// Reads both registers of a pair, and writes one.
    Pair {
        /// Number of the pair.
        pair: u32,
        /// Whether the second is written.
        second: bool,
    },
    /// Reads a set, inserts a member, and reads it again if so.
    Predicate {
        /// Whether the set is read again.
        again: bool,
    },
    /// Inserts the rows of an epoch.
    Prepare(u64),
}

/// An operation on a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnList {
    /// Place of the list.
    pub list: u32,
    /// Whether it appends; otherwise it reads.
    pub appends: bool,
}

impl Input {
    /// Draws the input of a transaction of the mix.
    pub(super) fn draw(transaction: usize, options: &Options, rng: &mut Rng) -> Self {
        let row = |rng: &mut Rng| below(rng, options.rows);
        let pair = |rng: &mut Rng| below(rng, options.rows / 2);
        match transaction {
            0 => Self::Append {
                operations: on_lists(options.rows, rng),
                rolls_back: rng.percent(ROLLED_BACK),
            },
            1 => {
                let count = 1 + rng.below(OPERATIONS_MAX - 3);
                Self::Read {
                    lists: (0..count).map(|_| row(rng)).collect(),
                    pair: rng.percent(50).then(|| pair(rng)),
                    set: rng.percent(50),
                }
            }
            2 => Self::Counter(row(rng)),
            3 => Self::Pair { pair: pair(rng), second: rng.percent(50) },
            _ => Self::Predicate { again: rng.percent(50) },
        }
    }
}

fn below(rng: &mut Rng, limit: u32) -> u32 {
    u32::try_from(rng.below(limit.into())).expect("it is below a number of four bytes")
}

/// One to six operations, at least one of which appends. Often the same list again: whether a
/// transaction sees its own writes, and another an unfinished one, only shows so.
fn on_lists(lists: u32, rng: &mut Rng) -> Vec<OnList> {
    let count = 1 + rng.below(OPERATIONS_MAX);
    let mut operations: Vec<OnList> = Vec::new();
    for _ in 0..count {
        let list = match operations.last() {
            Some(last) if rng.percent(30) => last.list,
            _ => below(rng, lists),
        };
        operations.push(OnList { list, appends: rng.percent(60) });
    }
    if operations.iter().all(|operation| !operation.appends) {
        operations[0].appends = true;
    }
    // In one order for all, so that no two wait for each other: PostgreSQL finds a deadlock after a
    // second, in which all others wait too.
    operations.sort_by_key(|operation| operation.list);
    operations
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Append { operations, rolls_back } => {
                for OnList { list, appends } in operations {
                    writeln!(f, "{} = {list}", if *appends { "append" } else { "read" })?;
                }
                writeln!(f, "rolls_back = {rolls_back}")
            }
            Self::Read { lists, pair, set } => {
                for list in lists {
                    writeln!(f, "list = {list}")?;
                }
                if let Some(pair) = pair {
                    writeln!(f, "pair = {pair}")?;
                }
                writeln!(f, "set = {set}")
            }
            Self::Counter(register) => writeln!(f, "register = {register}"),
            Self::Pair { pair, second } => writeln!(f, "pair = {pair}\nsecond = {second}"),
            Self::Predicate { again } => writeln!(f, "again = {again}"),
            Self::Prepare(epoch) => writeln!(f, "epoch = {epoch}"),
        }
    }
}

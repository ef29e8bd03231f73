//! The order of statements that conflict: those that read or change rows with the same key, of which one changes or locks
//! them.
//!
//! The key of a statement is its table with the columns that must be equal to an argument, and their values. Of two
//! conflicting statements, the second waits for the first as far as the recording shows that the database had them in this
//! order:
//!
//! | first | second | the second waits for | if |
//! |---|---|---|---|
//! | changes or locks | changes or locks | the end of the other's transaction, which held the row | this was asked for before the second was answered |
//! | changes or locks | reads | the end of the other's transaction, which showed its change | this was over before the second began |
//! | reads | changes or locks | the first, which did not see the change | it was answered before the second was |
//!
//! Nothing is waited for that depends on the one who waits, because each of these had happened before in the recording.
//! Conflicts that no key shows, such as those of sums over a table, keep their times only.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use triphammer_capture::recording::Recording;
use triphammer_capture::{Argument, Step};

use super::facts::StatementFacts;
use super::progress::{ENDED, Reached};
use super::timeline::{Moment, Timeline};

/// Most sets of columns that are keys of a table.
const KEYS_MAX: usize = 8;

/// What statements wait for.
#[derive(Debug, Default)]
pub struct Order {
    /// By transaction and statement, how far other transactions must be; only where there are any.
    before: HashMap<(u32, u32), Box<[Reached]>>,
}

impl Order {
    /// How far other transactions must be before a statement.
    pub fn before(&self, transaction: u32, step: u32) -> &[Reached] {
        self.before.get(&(transaction, step)).map_or(&[], |before| before)
    }

    /// Finds the conflicts of a recording; `reads` says of each statement whether it only reads.
    pub fn of(
        recording: &Recording,
        facts: &[StatementFacts],
        reads: impl Fn(usize) -> bool,
        timeline: &Timeline,
    ) -> Self {
        let tables = key_columns(facts);
        let session = |transaction: u32| recording.transactions[transaction as usize].session;
        let mut order = Self::default();
        let mut rows: HashMap<u64, Accesses> = HashMap::new();
        // Who had a row first is who was answered first: the other may have begun before.
        let mut moments: Vec<&Moment> = timeline.moments.iter().collect();
        moments.sort_by_key(|moment| (moment.end_us, moment.transaction, moment.step));
        for moment in moments {
            let own = moment.transaction;
            let step = &recording.transactions[own as usize].steps[moment.step as usize];
            let facts = &facts[step.shape];
            let locks = facts.locks || !reads(step.shape);
            // The most of what each other transaction must have reached.
            let mut before: BTreeMap<u32, u32> = BTreeMap::new();
            for key in keys(step, facts, &tables) {
                let of_row = rows.entry(key).or_default();
                for Reached { transaction, steps } in of_row.conflicts(moment, locks, timeline) {
                    if session(transaction) != session(own) {
                        let known = before.entry(transaction).or_default();
                        *known = steps.max(*known);
                    }
                }
                of_row.add(moment, locks, timeline);
            }
            if !before.is_empty() {
                let reached =
                    before.into_iter().map(|(transaction, steps)| Reached { transaction, steps });
                order.before.insert((own, moment.step), reached.collect());
            }
        }
        order
    }
}

/// The statements that read a row, and the transactions that changed or locked it, as far as they can conflict with those that
/// follow.
#[derive(Debug, Default)]
struct Accesses {
    writers: Vec<u32>,
    readers: Vec<Moment>,
}

impl Accesses {
    /// What a statement has to wait for.
    fn conflicts(&self, moment: &Moment, locks: bool, timeline: &Timeline) -> Vec<Reached> {
        let had_ended = |writer: &&u32| {
            let ends = &timeline.ends[**writer as usize];
            if locks { ends.asked_us <= moment.end_us } else { ends.over_us <= moment.start_us }
        };
        let writers = self.writers.iter().filter(had_ended);
        let mut found: Vec<Reached> =
            writers.map(|writer| Reached { transaction: *writer, steps: ENDED }).collect();
        if locks {
            let had_read = self.readers.iter().filter(|reader| reader.end_us <= moment.end_us);
            found.extend(
                had_read.map(|reader| Reached {
                    transaction: reader.transaction,
                    steps: reader.step + 1,
                }),
            );
        }
        found
    }

    /// Adds a statement. One that changes or locks the row stands for what was over before it.
    fn add(&mut self, moment: &Moment, locks: bool, timeline: &Timeline) {
        if !locks {
            self.readers.push(*moment);
            return;
        }
        self.writers.retain(|writer| timeline.ends[*writer as usize].over_us > moment.start_us);
        self.readers.retain(|reader| reader.end_us > moment.start_us);
        if self.writers.last() != Some(&moment.transaction) {
            self.writers.push(moment.transaction);
        }
    }
}

/// By table, the sets of columns by which its rows are found.
fn key_columns(facts: &[StatementFacts]) -> HashMap<&str, BTreeSet<Vec<&str>>> {
    let mut tables: HashMap<&str, BTreeSet<Vec<&str>>> = HashMap::new();
    for of in facts.iter().filter(|of| !of.inserts()) {
        let columns: Vec<&str> = of.keys.iter().map(|(column, _)| column.as_str()).collect();
        let sets = tables.entry(of.table.as_str()).or_default();
        if !columns.is_empty() && sets.len() < KEYS_MAX {
            sets.insert(columns);
        }
    }
    tables
}

/// The keys of the rows that a statement reads, changes or adds.
fn keys(
    step: &Step,
    facts: &StatementFacts,
    tables: &HashMap<&str, BTreeSet<Vec<&str>>>,
) -> Vec<u64> {
    let value = |column: &str| -> Option<&Argument> {
        let (_, argument) = facts.keys.iter().find(|(name, _)| name == column)?;
        step.arguments.get(*argument)
    };
    let Some(sets) = tables.get(facts.table.as_str()) else { return Vec::new() };
    let key = |columns: &Vec<&str>| {
        let mut hasher = DefaultHasher::new();
        facts.table.hash(&mut hasher);
        for column in columns {
            (column, value(column)?).hash(&mut hasher);
        }
        Some(hasher.finish())
    };
    sets.iter().filter_map(key).collect()
}

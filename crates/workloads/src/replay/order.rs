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
//! On MySQL and MariaDB, a statement that inserts a row also locks the rows that its foreign keys refer to, so that nobody changes
//! them: those whose key has the name of a column that it sets, as `order_id` has of `orders.id`.
//!
//! A query that locks all rows of a table has a key of its own: the row of a sequence that a client keeps in a table
//! (`SELECT next_val FROM order_seq FOR UPDATE`).
//!
//! Nothing is waited for that depends on the one who waits, because each of these had happened before in the recording.
//! Conflicts that no key shows, such as those of sums over a table, keep their times only.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use triphammer_capture::recording::Recording;
use triphammer_capture::sql::Syntax;
use triphammer_capture::{Argument, Step};

use super::facts::{ArgumentColumn, StatementFacts};
use super::naming::is_named;
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
        let references = match recording.syntax {
            Some(Syntax::MySql) => references(facts, &tables),
            _ => vec![Vec::new(); facts.len()],
        };
        let session = |transaction: u32| recording.transactions[transaction as usize].session;
        let mut order = Self::default();
        let mut rows: HashMap<u64, Accesses> = HashMap::new();
        // Who had a row first is who was answered first: the other may have begun before.
        let mut moments: Vec<&Moment> = timeline.moments.iter().collect();
        moments.sort_by_key(|moment| (moment.end_us, moment.transaction, moment.step));
        for moment in moments {
            let own = moment.transaction;
            let step = &recording.transactions[own as usize].steps[moment.step as usize];
            let locks = facts[step.shape].locks || !reads(step.shape);
            let access = if locks { Access::Change } else { Access::Read };
            let own_keys = keys(step, &facts[step.shape], &tables).into_iter();
            let referred = references[step.shape].iter().filter_map(|of| of.key(step));
            let accesses = own_keys.map(|key| (key, access));
            // The most of what each other transaction must have reached.
            let mut before: BTreeMap<u32, u32> = BTreeMap::new();
            for (key, access) in accesses.chain(referred.map(|key| (key, Access::Keep))) {
                let of_row = rows.entry(key).or_default();
                for Reached { transaction, steps } in of_row.conflicts(moment, access, timeline) {
                    if session(transaction) != session(own) {
                        let known = before.entry(transaction).or_default();
                        *known = steps.max(*known);
                    }
                }
                of_row.add(moment, (session(own), access), timeline);
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

/// What a statement does with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read,
    /// It keeps others from changing it.
    Keep,
    /// It changes or locks it.
    Change,
}

/// The statements that read a row, and the transactions that changed or locked it, as far as they can conflict with those that
/// follow.
#[derive(Debug, Default)]
struct Accesses {
    writers: Vec<u32>,
    /// By session, the last transaction that kept others from changing it.
    keepers: BTreeMap<usize, u32>,
    readers: Vec<Moment>,
}

impl Accesses {
    /// What a statement has to wait for.
    fn conflicts(&self, moment: &Moment, access: Access, timeline: &Timeline) -> Vec<Reached> {
        let had_ended = |other: &&u32| {
            let ends = &timeline.ends[**other as usize];
            let is_read = access == Access::Read;
            if is_read { ends.over_us <= moment.start_us } else { ends.asked_us <= moment.end_us }
        };
        let ended = |transaction: &u32| Reached { transaction: *transaction, steps: ENDED };
        let mut found: Vec<Reached> = self.writers.iter().filter(had_ended).map(ended).collect();
        if access == Access::Change {
            found.extend(self.keepers.values().filter(had_ended).map(ended));
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

    /// Adds a statement of a session. One that changes or locks the row stands for what was over before it.
    fn add(&mut self, moment: &Moment, (session, access): (usize, Access), timeline: &Timeline) {
        match access {
            Access::Read => self.readers.push(*moment),
            Access::Keep => {
                self.keepers.insert(session, moment.transaction);
            }
            Access::Change => {
                let is_open =
                    |other: &u32| timeline.ends[*other as usize].over_us > moment.start_us;
                self.writers.retain(is_open);
                self.keepers.retain(|_, other| is_open(other));
                self.readers.retain(|reader| reader.end_us > moment.start_us);
                if self.writers.last() != Some(&moment.transaction) {
                    self.writers.push(moment.transaction);
                }
            }
        }
    }
}

/// A key of another table, of which a statement that inserts has the value.
#[derive(Clone, Debug)]
struct Reference<'a> {
    table: &'a str,
    column: &'a str,
    argument: usize,
}

impl Reference<'_> {
    /// The key of the row that is referred to.
    fn key(&self, step: &Step) -> Option<u64> {
        let value = step.arguments.get(self.argument)?;
        (*value != Argument::Null).then(|| key(self.table, [(self.column, value)]))
    }
}

/// By statement, the keys of other tables that it refers to.
fn references<'a>(
    facts: &'a [StatementFacts],
    tables: &HashMap<&'a str, BTreeSet<Vec<&'a str>>>,
) -> Vec<Vec<Reference<'a>>> {
    let names: BTreeSet<&str> = tables.keys().copied().collect();
    let single = |(table, sets): (&&'a str, &BTreeSet<Vec<&'a str>>)| {
        let columns = sets.iter().filter(|columns| columns.len() == 1);
        columns.map(|columns| (*table, columns[0])).collect::<Vec<_>>()
    };
    let keys: Vec<(&str, &str)> = tables.iter().flat_map(single).collect();
    let of = |facts: &'a StatementFacts| {
        let columns = facts.keys.iter().filter(|_| facts.inserts());
        let mut found = Vec::new();
        for (name, argument) in columns {
            let column = Some(name.clone());
            let named = ArgumentColumn { column, table: facts.table.clone(), is_qualified: false };
            let refers = |(table, column): &(&str, &str)| {
                let domain = ((*table).to_owned(), (*column).to_owned());
                *table != facts.table && *column != name && is_named(&domain, &named, &names)
            };
            let referred = keys.iter().copied().filter(refers);
            found.extend(referred.map(|(table, column)| Reference {
                table,
                column,
                argument: *argument,
            }));
        }
        found
    };
    facts.iter().map(of).collect()
}

/// The key of the row of a table that has these values.
fn key<'a>(table: &str, values: impl IntoIterator<Item = (&'a str, &'a Argument)>) -> u64 {
    let mut hasher = DefaultHasher::new();
    table.hash(&mut hasher);
    values.into_iter().for_each(|value| value.hash(&mut hasher));
    hasher.finish()
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

/// The value of a column of the one row that an INSERT returns, which may be one that it found and changed.
fn returned<'a>(step: &'a Step, facts: &StatementFacts, column: &str) -> Option<&'a Argument> {
    let place = facts.returned.iter().position(|name| name == column && facts.inserts())?;
    match step.answer.as_ref()?.made.as_slice() {
        [row] => row.get(place).filter(|value| **value != Argument::Null),
        _ => None,
    }
}

/// The keys of the rows that a statement reads, changes or adds.
fn keys(
    step: &Step,
    facts: &StatementFacts,
    tables: &HashMap<&str, BTreeSet<Vec<&str>>>,
) -> Vec<u64> {
    let value = |column: &str| -> Option<&Argument> {
        let argument = facts.keys.iter().find(|(name, _)| name == column).map(|(_, place)| place);
        argument.map_or_else(|| returned(step, facts, column), |place| step.arguments.get(*place))
    };
    if facts.locks_table() {
        return vec![key(&facts.table, Vec::new())];
    }
    let Some(sets) = tables.get(facts.table.as_str()) else { return Vec::new() };
    let of_columns = |columns: &Vec<&str>| {
        let values = columns.iter().map(|column| Some((*column, value(column)?)));
        values.collect::<Option<Vec<_>>>().map(|values| key(&facts.table, values))
    };
    sets.iter().filter_map(of_columns).collect()
}

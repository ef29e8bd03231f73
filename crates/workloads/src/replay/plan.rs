//! A recording as it is replayed: its transaction types, its statements, and which session runs what.

use std::collections::HashMap;
use std::sync::Arc;

use triphammer_capture::recording::Recording;
use triphammer_capture::sql::{Shape, Syntax, literal};
use triphammer_capture::title;
use triphammer_capture::{Argument, Ending, Step, Transaction};
use triphammer_core::SpecError;

use crate::script::names::Names;
use crate::script::scan::{Lexis, single};
use crate::script::sql::{Effect, Part};

/// Most transaction types: the most frequent ones, and one for all others.
const KINDS_MAX: usize = 100;

/// A transaction type: the transactions with the same statements in the same order.
#[derive(Debug)]
pub struct TransactionKind {
    /// Its name.
    pub name: String,
    /// Number of its transactions.
    pub count: u64,
    /// Whether its transactions are read only: none of their statements writes, and none began a transaction
    /// that may write.
    pub reads: bool,
}

/// A statement.
#[derive(Debug)]
pub struct Statement {
    /// Its SQL, in which literals that never vary are written.
    pub part: Part,
    /// Whether it only reads.
    pub reads: bool,
    /// Whether its rows are read, rather than counted by the database.
    pub returns_rows: bool,
}

/// A recording as it is replayed.
#[derive(Debug)]
pub struct Plan {
    pub recording: Arc<Recording>,
    pub kinds: Vec<TransactionKind>,
    /// By transaction, its type.
    pub kind_of: Vec<usize>,
    pub statements: Vec<Statement>,
    /// The names of all arguments: `p1` and so on.
    pub names: Names,
    /// By slot of a name, the index of the argument.
    pub arguments: Vec<usize>,
}

impl Plan {
    /// Plans the replay of a recording.
    ///
    /// # Errors
    /// When a statement cannot be read.
    pub fn new(recording: Arc<Recording>) -> Result<Self, SpecError> {
        let mut names = Names::default();
        let mut statements = Vec::new();
        let constants = constants(&recording);
        let lexis = match recording.syntax {
            Some(Syntax::MySql) => Lexis::MySql,
            _ => Lexis::Common,
        };
        for (recorded, constants) in recording.statements.iter().zip(&constants) {
            let part = single(&recorded.sql, lexis, &mut names).map_err(|(_, why)| {
                SpecError::new(format!("statement of the recording: {why}: {}", recorded.sql))
            })?;
            statements.push(statement(part, constants, &names));
        }
        let number = |slot| names.name(slot).strip_prefix('p').and_then(|n| n.parse().ok());
        let arguments: Vec<usize> =
            (0..names.len()).map(|slot| number(slot).unwrap_or(1).max(1) - 1).collect();
        let (kinds, kind_of) = kinds(&recording, &statements);
        Ok(Self { recording, kinds, kind_of, statements, names, arguments })
    }

    /// The transactions of each of `lanes` sessions of ours, in their order. With as many as were
    /// recorded, each has its own; with fewer, one runs the recorded sessions that did not overlap,
    /// and where all did, those that end first.
    pub fn lanes(&self, lanes: usize) -> Vec<Arc<[u32]>> {
        let transactions = &self.recording.transactions;
        let mut of_session = vec![0..0; self.recording.sessions];
        for (index, transaction) in transactions.iter().enumerate() {
            let range = &mut of_session[transaction.session];
            *range = if range.end == 0 { index..index + 1 } else { range.start..index + 1 };
        }
        let mut filled: Vec<(i64, Vec<usize>)> = vec![(i64::MIN, Vec::new()); lanes];
        for range in of_session {
            // Sessions are numbered by their first starts, so the lane that is free first is best.
            let free = filled.iter_mut().min_by_key(|(end, _)| *end);
            let (Some((end, lane)), Some(last)) = (free, transactions.get(range.end - 1)) else {
                continue;
            };
            *end = last.start_us.max(*end);
            lane.extend(range);
        }
        let sorted = |(_, mut lane): (i64, Vec<usize>)| -> Arc<[u32]> {
            lane.sort_by_key(|index| transactions[*index].start_us);
            lane.into_iter().map(|index| u32::try_from(index).unwrap_or(u32::MAX)).collect()
        };
        filled.into_iter().map(sorted).collect()
    }
}

/// By statement and argument, the text of a literal that never varies.
fn constants(recording: &Recording) -> Vec<Vec<Option<String>>> {
    let mut firsts: Vec<Option<Vec<Option<&Argument>>>> = vec![None; recording.statements.len()];
    for step in recording.transactions.iter().flat_map(|transaction| &transaction.steps) {
        match &mut firsts[step.shape] {
            unseen @ None => *unseen = Some(step.arguments.iter().map(Some).collect()),
            Some(known) => {
                for (first, argument) in known.iter_mut().zip(&step.arguments) {
                    *first = first.filter(|first| *first == argument);
                }
            }
        }
    }
    let of_statement = |(first, statement): (Option<Vec<_>>, _)| {
        let statement: &triphammer_capture::recording::RecordedStatement = statement;
        let text = |(place, argument): (usize, Option<&Argument>)| {
            argument.filter(|_| statement.literals.contains(&place)).and_then(literal)
        };
        first.unwrap_or_default().into_iter().enumerate().map(text).collect()
    };
    firsts.into_iter().zip(&recording.statements).map(of_statement).collect()
}

fn statement(mut part: Part, constants: &[Option<String>], names: &Names) -> Statement {
    part.replace(|slot| {
        let number: usize = names.name(slot).strip_prefix('p')?.parse().ok()?;
        constants.get(number.checked_sub(1)?)?.clone()
    });
    let reads = part.effect == Effect::Read || part.is_with_query();
    let returns_rows = part.has_word("returning");
    Statement { part, reads, returns_rows }
}

/// What transactions of a type have in common.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    /// Their statements. How often one repeats makes no other type: loops have different lengths.
    shapes: Vec<usize>,
    is_rolled_back: bool,
    /// Whether they begin as transactions that may write: what their statements do, a server decides.
    begins_writing: bool,
}

impl Key {
    fn of(transaction: &Transaction) -> Self {
        let mut shapes: Vec<usize> = transaction.steps.iter().map(|step| step.shape).collect();
        shapes.dedup();
        Self {
            shapes,
            is_rolled_back: transaction.ending == Ending::Rollback,
            begins_writing: transaction.ending != Ending::Single
                && transaction.characteristics.access().writes(),
        }
    }
}

/// The transaction types, the most frequent first, and that of each transaction.
fn kinds(recording: &Recording, statements: &[Statement]) -> (Vec<TransactionKind>, Vec<usize>) {
    let mut counts: HashMap<Key, u64> = HashMap::new();
    for transaction in &recording.transactions {
        *counts.entry(Key::of(transaction)).or_default() += 1;
    }
    let mut order: Vec<(Key, u64)> = counts.into_iter().collect();
    order.sort_by(|(a, x), (b, y)| y.cmp(x).then(a.cmp(b)));
    let named = if order.len() > KINDS_MAX { KINDS_MAX - 1 } else { order.len() };
    let mut names = std::collections::BTreeSet::new();
    let mut kinds: Vec<TransactionKind> = order[..named]
        .iter()
        .map(|(key, count)| TransactionKind {
            name: name(recording, statements, &key.shapes, key.is_rolled_back, &mut names),
            count: *count,
            reads: !key.begins_writing && key.shapes.iter().all(|shape| statements[*shape].reads),
        })
        .collect();
    if named < order.len() {
        let count = order[named..].iter().map(|(_, count)| count).sum();
        kinds.push(TransactionKind { name: "others".to_owned(), count, reads: false });
    }
    let numbers: HashMap<Key, usize> =
        order.into_iter().take(named).zip(0..).map(|((key, _), number)| (key, number)).collect();
    let of = |transaction| numbers.get(&Key::of(transaction)).copied().unwrap_or(named);
    let kind_of = recording.transactions.iter().map(of).collect();
    (kinds, kind_of)
}

fn name(
    recording: &Recording,
    statements: &[Statement],
    shapes: &[usize],
    is_rolled_back: bool,
    names: &mut std::collections::BTreeSet<String>,
) -> String {
    let writes = shapes.iter().find(|shape| !statements[**shape].reads).or(shapes.first());
    let sql = writes.map_or("", |shape| recording.statements[*shape].sql.as_str());
    let shape = Shape { pieces: vec![sql.to_owned()], holes: Vec::new(), literals: Vec::new() };
    let name = title(&shape);
    let name = if is_rolled_back { format!("{name}_rolled_back") } else { name };
    let mut found = name.clone();
    let mut number = 1;
    while !names.insert(found.clone()) {
        number += 1;
        found = format!("{name}_{number}");
    }
    found
}

/// The recorded steps of a transaction.
impl Plan {
    pub fn transaction(&self, index: u32) -> &Transaction {
        &self.recording.transactions[index as usize]
    }

    pub fn steps(&self, index: u32) -> &[Step] {
        &self.transaction(index).steps
    }
}

//! A recording as it is replayed: its transaction types, its statements, and which session runs what.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use triphammer_capture::recording::Recording;
use triphammer_capture::sql::{Shape, Syntax, literal};
use triphammer_capture::title;
use triphammer_capture::{Argument, Ending, Step, Transaction};
use triphammer_core::{ColumnType, SpecError};

use super::answers::Spot;
use super::facts::StatementFacts;
use super::ids::Ids;
use super::order::Order;
use super::timeline::{Timeline, moments};
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
    /// By argument, the type of integers that all its values have, if they are integers.
    pub integers: Vec<Option<ColumnType>>,
    /// Its SQL, in which literals that never vary are written.
    pub part: Part,
    /// Whether it only reads.
    pub reads: bool,
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
    /// By statement, its text in one line; no two are the same, because results name statements by them.
    pub titles: Arc<[String]>,
    /// By statement, what its text shows.
    pub facts: Vec<StatementFacts>,
    /// Values that the server made.
    pub ids: Ids,
    /// What statements wait for.
    pub order: Order,
    /// By transaction, the number of its first statement among all of the recording.
    pub firsts: Vec<usize>,
}

impl Plan {
    /// Plans the replay of a recording, whose order is kept by a rule.
    ///
    /// # Errors
    /// When a statement cannot be read.
    pub fn new(recording: Arc<Recording>, rule: OrderRule) -> Result<Self, SpecError> {
        let mut names = Names::default();
        let mut parts = Vec::new();
        let lexis = match recording.syntax {
            Some(Syntax::MySql) => Lexis::MySql,
            _ => Lexis::Common,
        };
        for recorded in &recording.statements {
            let part = single(&recorded.sql, lexis, &mut names).map_err(|(_, why)| {
                SpecError::new(format!("statement of the recording: {why}: {}", recorded.sql))
            })?;
            parts.push(part);
        }
        let number = |slot| names.name(slot).strip_prefix('p').and_then(|n| n.parse().ok());
        let arguments: Vec<usize> =
            (0..names.len()).map(|slot| number(slot).unwrap_or(1).max(1) - 1).collect();
        let syntax = recording.syntax.unwrap_or(Syntax::Postgres);
        let of_part = |part: &Part| StatementFacts::of(&shape(part, &arguments), syntax);
        let mut facts: Vec<StatementFacts> = parts.iter().map(of_part).collect();
        with_routines(&recording, &mut facts);
        // Only values that the server made, and conflicts, need the order of all statements.
        let timeline = match rule == OrderRule::Commit || has_made(&recording) {
            true => Timeline::of(&recording),
            false => Timeline::default(),
        };
        let firsts = firsts(&recording);
        let ids = Ids::of(&recording, &facts, &timeline, &firsts);
        let constants = constants(&recording, &ids);
        let written = parts.into_iter().zip(&constants);
        let statements: Vec<Statement> =
            written.map(|(part, constants)| statement(part, constants, &names)).collect();
        let statements = with_integers(statements, &recording);
        let titles = titles(&statements, &names);
        let order = match rule {
            OrderRule::Commit => {
                Order::of(&recording, &facts, |number| statements[number].reads, &timeline)
            }
            OrderRule::Alone => Order::default(),
        };
        let (kinds, kind_of) = kinds(&recording, &statements);
        Ok(Self {
            recording,
            kinds,
            kind_of,
            statements,
            names,
            arguments,
            titles,
            facts,
            ids,
            order,
            firsts,
        })
    }

    /// By statement of the recording in its order, the number of its text.
    pub fn shapes(&self) -> Arc<[u32]> {
        let steps = self.recording.transactions.iter().flat_map(|transaction| &transaction.steps);
        steps.map(|step| u32::try_from(step.shape).unwrap_or(u32::MAX)).collect()
    }

    /// Number of all statements of the recording.
    pub fn statements_in_all(&self) -> usize {
        let last = self.recording.transactions.last().map_or(0, |last| last.steps.len());
        self.firsts.last().copied().unwrap_or_default() + last
    }

    /// By recorded session, its transactions, and when the first of them began and the last one was over.
    fn of_sessions(&self) -> Vec<(Range<usize>, i64, i64)> {
        let transactions = &self.recording.transactions;
        let mut of_session = vec![0..0; self.recording.sessions];
        for (index, transaction) in transactions.iter().enumerate() {
            let range = &mut of_session[transaction.session];
            *range = if range.end == 0 { index..index + 1 } else { range.start..index + 1 };
        }
        let known = of_session.into_iter().filter(|range| !range.is_empty());
        let span = |range: Range<usize>| {
            let (_, end) = moments(0, &transactions[range.end - 1]);
            let start = transactions[range.start].start_us;
            (range, start, end.over_us)
        };
        known.map(span).collect()
    }

    /// The largest number of recorded sessions that worked at the same time, from their first statement to their last.
    pub fn overlapping(&self) -> usize {
        let mut edges: Vec<(i64, i64)> = Vec::new();
        for (_, start, over) in self.of_sessions() {
            edges.extend([(start, 1), (over.max(start).saturating_add(1), -1)]);
        }
        edges.sort_unstable();
        let open = edges.iter().scan(0, |open, (_, step)| {
            *open += step;
            Some(*open)
        });
        usize::try_from(open.max().unwrap_or(0)).unwrap_or(0)
    }

    /// The transactions of each of `lanes` sessions of ours, in their order. One runs recorded sessions that did not overlap, and
    /// where all did, those that end first.
    pub fn lanes(&self, lanes: usize) -> Vec<Arc<[u32]>> {
        let transactions = &self.recording.transactions;
        let mut filled: Vec<(i64, Vec<usize>)> = vec![(i64::MIN, Vec::new()); lanes];
        for (range, _, over) in self.of_sessions() {
            // Sessions are numbered by their first starts, so the lane that is free first is best.
            let free = filled.iter_mut().min_by_key(|(end, _)| *end);
            let Some((end, lane)) = free else { continue };
            *end = over.max(*end);
            lane.extend(range);
        }
        let sorted = |(_, mut lane): (i64, Vec<usize>)| -> Arc<[u32]> {
            lane.sort_by_key(|index| transactions[*index].start_us);
            lane.into_iter().map(|index| u32::try_from(index).unwrap_or(u32::MAX)).collect()
        };
        filled.into_iter().map(sorted).collect()
    }
}

/// Finds what the rows of calls of routines are that a session has defined for itself, in the same transaction.
fn with_routines(recording: &Recording, facts: &mut [StatementFacts]) {
    if facts.iter().all(|of| of.defines.is_none()) {
        return;
    }
    for transaction in &recording.transactions {
        let mut routines: HashMap<String, String> = HashMap::new();
        for step in &transaction.steps {
            let of = &mut facts[step.shape];
            let table = of.called().and_then(|name| routines.get(name)).cloned();
            routines.extend(of.defines.clone());
            if let Some(table) = table {
                of.return_inserted(&table);
            }
        }
    }
}

/// Whether a recording has values that the server made.
fn has_made(recording: &Recording) -> bool {
    let mut steps = recording.transactions.iter().flat_map(|transaction| &transaction.steps);
    steps.any(|step| step.answer.as_ref().is_some_and(|answer| !answer.made.is_empty()))
}

/// By transaction, the number of its first statement among all.
fn firsts(recording: &Recording) -> Vec<usize> {
    let lengths = recording.transactions.iter().map(|transaction| transaction.steps.len());
    lengths.scan(0, |next, length| Some(std::mem::replace(next, *next + length))).collect()
}

/// How the order of a recording is kept between sessions, beside that of values that the server made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderRule {
    /// Transactions that conflict keep the order of their commits.
    Commit,
    /// Nothing: sessions have their times, if the load has any.
    Alone,
}

/// Adds the types of arguments whose values are all integers.
fn with_integers(mut statements: Vec<Statement>, recording: &Recording) -> Vec<Statement> {
    let mut ranges: Vec<Vec<Option<(i64, i64)>>> = vec![Vec::new(); statements.len()];
    let mut others: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); statements.len()];
    for step in recording.transactions.iter().flat_map(|transaction| &transaction.steps) {
        let known = &mut ranges[step.shape];
        known.resize(known.len().max(step.arguments.len()), None);
        for (place, argument) in step.arguments.iter().enumerate() {
            match argument {
                Argument::Null => {}
                Argument::Int(value) => {
                    let (low, high) = known[place].unwrap_or((*value, *value));
                    known[place] = Some((low.min(*value), high.max(*value)));
                }
                Argument::Number(_) | Argument::Text(_) | Argument::Bytes(_) => {
                    others[step.shape].insert(place);
                }
            }
        }
    }
    for ((statement, ranges), others) in statements.iter_mut().zip(ranges).zip(others) {
        let narrow = i64::from(i32::MIN)..=i64::from(i32::MAX);
        let of_range =
            |(low, high): (i64, i64)| match narrow.contains(&low) && narrow.contains(&high) {
                true => ColumnType::Int,
                false => ColumnType::BigInt,
            };
        let of = |(place, range): (usize, Option<(i64, i64)>)| {
            range.filter(|_| !others.contains(&place)).map(of_range)
        };
        statement.integers = ranges.into_iter().enumerate().map(of).collect();
    }
    statements
}

/// The texts of the statements, cut to a length and with numbers where that makes two the same.
fn titles(statements: &[Statement], names: &Names) -> Arc<[String]> {
    let mut known = BTreeSet::new();
    let title = |statement: &Statement| {
        let text = statement.part.title(names);
        let numbered = (2..).map(|number| format!("{text} #{number}"));
        let mut free = std::iter::once(text.clone()).chain(numbered);
        free.find(|title| known.insert(title.clone())).unwrap_or(text)
    };
    statements.iter().map(title).collect()
}

/// A statement as the recorder wrote it, with the numbers of its arguments as holes.
fn shape(part: &Part, arguments: &[usize]) -> Shape {
    let (pieces, slots) = part.split();
    let holes: Vec<usize> = slots.into_iter().map(|slot| arguments[slot]).collect();
    let count = holes.iter().map(|argument| argument + 1).max().unwrap_or(0);
    Shape { pieces, holes, literals: vec![false; count] }
}

/// By statement and argument, the text of a literal that never varies, unless the server made its value.
fn constants(recording: &Recording, ids: &Ids) -> Vec<Vec<Option<String>>> {
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
    let of_statement = |(number, (first, statement)): (usize, (Option<Vec<_>>, _))| {
        let statement: &triphammer_capture::recording::RecordedStatement = statement;
        let is_constant =
            |place| statement.literals.contains(&place) && ids.used(number, place).is_empty();
        let text = |(place, argument): (usize, Option<&Argument>)| {
            argument.filter(|_| is_constant(place)).and_then(literal)
        };
        first.unwrap_or_default().into_iter().enumerate().map(text).collect()
    };
    firsts.into_iter().zip(&recording.statements).enumerate().map(of_statement).collect()
}

fn statement(mut part: Part, constants: &[Option<String>], names: &Names) -> Statement {
    part.replace(|slot| {
        let number: usize = names.name(slot).strip_prefix('p')?.parse().ok()?;
        constants.get(number.checked_sub(1)?)?.clone()
    });
    let reads = part.effect == Effect::Read || part.is_with_query();
    Statement { part, reads, integers: Vec::new() }
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
    let mut names = BTreeSet::new();
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
    names: &mut BTreeSet<String>,
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

    /// Where a statement of a transaction is.
    pub fn spot(&self, index: u32, place: usize) -> Spot<'_> {
        let transaction = self.transaction(index);
        Spot {
            transaction: index,
            session: transaction.session,
            start_us: transaction.start_us,
            step: &transaction.steps[place],
            number: self.firsts[index as usize] + place,
        }
    }

    pub fn steps(&self, index: u32) -> &[Step] {
        &self.transaction(index).steps
    }
}

//! The statistics of a server's statements as a workload file: each statement is a transaction, and its number of calls
//! is the weight. The values of parameters are not in the statistics, so that each becomes a generator that is guessed
//! from the table's column that the parameter is compared with or assigned to. Every guess is marked [`GUESSED`].
//!
//! ```text
//! folded   lists and rows whose number the server does not keep
//! mysql    digests of MySQL and MariaDB to statements that can be prepared
//! guess    generators
//! ```

mod folded;
mod guess;
mod mysql;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use self::folded::Folded;
pub use self::guess::{Guess, Span};
use crate::columns::origins;
pub use crate::columns::{Column, ColumnKind, Origin, Tables};
use crate::event::Argument;
use crate::mix::{WRITTEN_MAX, WorkloadFile};
use crate::skipped::{Reason, Skipped};
use crate::sql::{Misread, Shape, Syntax, literal, read};
use crate::statement::{Effect, effect};
use crate::written::{quoted, title, unique};

/// The mark of a guessed parameter: a comment at the end of its line.
pub const GUESSED: &str = "# guessed";
/// Most parameters of a statement.
const BINDS_MAX: usize = 1_000;

/// Number of lines of a workload file that are marked as guessed.
#[must_use]
pub fn guesses(workload: &str) -> usize {
    let is_marked = |line: &&str| !line.trim_start().starts_with('#') && line.contains(GUESSED);
    workload.lines().filter(is_marked).count()
}

/// The statements of a server's statistics.
#[derive(Debug)]
pub struct Digests<'a> {
    tables: &'a Tables,
    syntax: Syntax,
    calls: HashMap<Shape, Calls>,
    /// Calls of what is not in the workload file, by reason.
    pub skipped: Skipped,
}

/// What is known of a shape.
#[derive(Debug, Default)]
struct Calls {
    number: u64,
    arguments: Vec<Argument>,
    folded: Folded,
}

/// A statement of the workload file.
#[derive(Clone, Debug)]
pub struct DigestStatement {
    /// Its text without values.
    pub shape: Shape,
    /// How often it was called.
    pub calls: u64,
    /// By argument, what is known about it.
    pub origins: Vec<Origin>,
    /// By argument, the literal that the text had.
    constants: Vec<Option<String>>,
    /// What the server left out of its text.
    folded: Folded,
}

impl<'a> Digests<'a> {
    /// Reads statements of this syntax on these tables.
    #[must_use]
    pub fn new(tables: &'a Tables, syntax: Syntax) -> Self {
        Self { tables, syntax, calls: HashMap::new(), skipped: Skipped::default() }
    }

    /// Takes a statement with the number of its calls.
    pub fn add(&mut self, text: &str, calls: u64) {
        match self.statement(text) {
            Ok((shape, arguments, folded)) => {
                let first = Calls { arguments, ..Calls::default() };
                let known = self.calls.entry(shape).or_insert(first);
                known.number += calls;
                known.folded = known.folded.or(folded);
            }
            Err(reason) => self.skipped.more(reason, calls),
        }
    }

    /// The shape of a statement, its literals, and what the server left out of it.
    fn statement(&self, text: &str) -> Result<(Shape, Vec<Argument>, Folded), Reason> {
        match effect(text, self.syntax) {
            Effect::Runs => {}
            Effect::Skip(reason) => return Err(reason),
            _ => return Err(Reason::Ends),
        }
        let (text, folded) = match self.syntax {
            Syntax::MySql => {
                let (text, folded) = mysql::expanded(text, self.tables)?;
                (Cow::Owned(text), folded)
            }
            _ => folded::unfolded(text),
        };
        if self.tables.is_of_server(&text) {
            return Err(Reason::Server);
        }
        let binds = vec![Argument::Null; BINDS_MAX];
        let read = read(&text, self.syntax, &binds).map_err(|misread| match misread {
            Misread::Binds => Reason::Binds,
            Misread::Colon => Reason::Colon,
            Misread::Truncated => Reason::Truncated,
        })?;
        Ok((read.shape, read.arguments, folded))
    }

    /// The statements with the most calls, the most frequent first; the others are counted as skipped.
    #[must_use]
    pub fn counted(mut self) -> (Vec<DigestStatement>, Skipped) {
        let mut all: Vec<_> = self.calls.drain().collect();
        all.sort_by(|(a, x), (b, y)| y.number.cmp(&x.number).then_with(|| a.pieces.cmp(&b.pieces)));
        for (_, rare) in all.drain(WRITTEN_MAX.min(all.len())..) {
            self.skipped.more(Reason::Kinds, rare.number);
        }
        let counted = all.into_iter().map(|(shape, Calls { number, arguments, folded })| {
            let origins = origins(&shape, self.tables);
            let written = |(argument, is_literal): (&Argument, &bool)| {
                is_literal.then(|| literal(argument)).flatten()
            };
            let constants = arguments.iter().zip(&shape.literals).map(written).collect();
            DigestStatement { shape, calls: number, origins, constants, folded }
        });
        (counted.collect(), self.skipped)
    }
}

/// Writes the workload file: `head` are lines about the source, `guess` returns the generator of a parameter, with
/// what it was guessed from.
#[must_use]
pub fn write(
    head: &str,
    statements: &[DigestStatement],
    guess: impl Fn(&Origin) -> (Guess, String),
) -> WorkloadFile {
    let mut names = BTreeSet::from(["scale".to_owned()]);
    let mut parameters: BTreeMap<(Origin, usize), String> = BTreeMap::new();
    let (mut table, mut transactions) = (String::new(), String::new());
    // Weights are whole numbers up to a million.
    let unit = statements.first().map_or(1, |most| most.calls.div_ceil(1_000_000)).max(1);
    let most = most_used(statements);
    for statement in statements {
        let mut used: BTreeMap<&Origin, usize> = BTreeMap::new();
        let mut texts = Vec::new();
        for (origin, constant) in statement.origins.iter().zip(&statement.constants) {
            if let Some(constant) = constant {
                texts.push(constant.clone());
                continue;
            }
            if let Some(text) = origin.end_of_range(texts.last()) {
                texts.push(text);
                continue;
            }
            let use_number = used.entry(origin).or_default();
            let name = parameters.entry((origin.clone(), *use_number)).or_insert_with(|| {
                let name = unique(&mut names, &origin.name());
                let (guess, from) = guess(origin);
                let of = most.get(origin).copied().unwrap_or(1);
                let definition = guess.definition((*use_number, of));
                let _ = writeln!(table, "{name} = {definition} {GUESSED}: {from}");
                name
            });
            *use_number += 1;
            texts.push(format!(":{name}"));
        }
        let name = unique(&mut names, &title(&statement.shape));
        let weight = statement.calls.div_ceil(unit);
        let sql = quoted(&statement.shape.text(|argument| texts[argument].clone()));
        let guess = statement.folded.guess().map(|guess| format!(" {GUESSED}: {guess}"));
        let guess = guess.unwrap_or_default();
        let _ = write!(
            transactions,
            "\n[[transactions]]\nname = \"{name}\"\nweight = {weight}\nstatements = [\n    \
             {sql},{guess}\n]\n"
        );
    }
    let mut text = String::new();
    for line in head.lines() {
        let _ = writeln!(text, "# {line}");
    }
    if !table.is_empty() {
        let _ = write!(text, "\n[parameters]\n{table}");
    }
    text.push_str(&transactions);
    let (kinds, parameters) = (statements.len(), parameters.len());
    WorkloadFile { text, samples: None, kinds, parameters }
}

/// How many parameters of each origin the statement uses that uses most of them, as an `INSERT` of several rows does.
fn most_used(statements: &[DigestStatement]) -> BTreeMap<&Origin, usize> {
    let mut most: BTreeMap<&Origin, usize> = BTreeMap::new();
    for statement in statements {
        let mut used: BTreeMap<&Origin, usize> = BTreeMap::new();
        for (origin, constant) in statement.origins.iter().zip(&statement.constants) {
            if constant.is_none() {
                *used.entry(origin).or_default() += 1;
            }
        }
        for (origin, uses) in used {
            let known = most.entry(origin).or_default();
            *known = uses.max(*known);
        }
    }
    most
}

#[cfg(test)]
mod tests;

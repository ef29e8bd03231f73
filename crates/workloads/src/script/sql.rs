//! The SQL of a script: split at its variables, which become bound parameters or text.

use triphammer_core::sql::{BoundStatement, Param, Placeholder};
use triphammer_core::value::ColumnType;

use super::names::{Names, begins_name, continues_name};
use super::variable::Variable;

/// A SQL command of a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Sql {
    /// The statements that `\;` combines; usually one.
    pub parts: Vec<Part>,
    /// What becomes of the rows.
    pub capture: Capture,
    /// Line of the script, from 1.
    pub line: usize,
}

/// What becomes of the rows of a SQL command.
#[derive(Clone, Debug, PartialEq)]
pub enum Capture {
    /// They are discarded.
    Nothing,
    /// `\gset`: the only row of the last statement becomes variables with this prefix.
    One(String),
    /// `\aset`: the last row of each statement becomes variables with this prefix, if it has rows.
    All(String),
}

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Number of the statement among all of a run.
    pub id: usize,
    /// Whether it is sent as text with its values in it, whatever the protocol: a variable is in
    /// quotes.
    pub is_text: bool,
    pieces: Vec<Piece>,
    /// What it does to a transaction.
    pub effect: Effect,
}

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    /// A variable, and where it is.
    Variable {
        slot: usize,
        place: Place,
    },
}

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Where a value can be: it becomes an argument.
    Value,
    /// In a string or a quoted name, where only its text can be.
    Quotation,
    /// In a comment.
    Comment,
}

/// What a statement does to a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Begins one, without options.
    Begin,
    /// Begins one, with options of the database's own.
    BeginWith,
    /// Commits.
    Commit,
    /// Rolls back.
    Rollback,
    /// Reads.
    Read,
    /// Does anything else: on its own, it commits implicitly.
    Write,
}

/// Builds a [`Part`] while the parser scans it.
#[derive(Debug, Default)]
pub struct PartBuilder {
    pieces: Vec<Piece>,
    text: String,
}

impl PartBuilder {
    /// Appends text without variables; blanks at the beginning are dropped.
    pub fn push(&mut self, text: &str) {
        let is_first = self.pieces.is_empty() && self.text.is_empty();
        self.text.push_str(if is_first { text.trim_start() } else { text });
    }

    /// Appends text, in which `:name` is a variable.
    pub fn scan(&mut self, text: &str, place: Place, names: &mut Names) {
        let mut rest = text;
        while let Some(colon) = rest.find(':') {
            let after = &rest[colon + 1..];
            if !after.starts_with(begins_name) {
                // A cast, or no name: the colons are text.
                let colons = 1 + after.len() - after.trim_start_matches(':').len();
                self.push(&rest[..colon + colons]);
                rest = &rest[colon + colons..];
                continue;
            }
            let length = after.find(|c| !continues_name(c)).unwrap_or(after.len());
            self.push(&rest[..colon]);
            let slot = names.slot(&after[..length]);
            self.pieces.push(Piece::Text(std::mem::take(&mut self.text)));
            self.pieces.push(Piece::Variable { slot, place });
            rest = &after[length..];
        }
        self.push(rest);
    }

    /// Ends the statement; `None` if it is empty.
    pub fn finish(&mut self) -> Option<Part> {
        self.text.truncate(self.text.trim_end().len());
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.push(Piece::Text(std::mem::take(&mut self.text)));
        pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
        let effect = match pieces.first()? {
            Piece::Text(text) => effect(text, pieces.len() == 1),
            Piece::Variable { .. } => Effect::Write,
        };
        Some(Part { id: 0, is_text: false, pieces, effect })
    }
}

/// The first words of SQL, in lower case, without comments before them.
fn first_words(sql: &str) -> impl Iterator<Item = String> {
    let mut rest = sql.trim_start();
    while let Some(comment) = rest.strip_prefix("/*") {
        rest = comment.split_once("*/").map_or("", |(_, after)| after).trim_start();
    }
    let words = rest.split(|c: char| !continues_name(c)).filter(|word| !word.is_empty());
    words.take(3).map(str::to_ascii_lowercase)
}

/// What a statement that begins with `text` does; `is_whole` if that is all of it.
fn effect(text: &str, is_whole: bool) -> Effect {
    let words: Vec<String> = first_words(text).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_plain = is_whole && text.chars().all(|c| c.is_alphanumeric() || c.is_whitespace());
    match words[..] {
        ["begin"] | ["begin", "work" | "transaction"] | ["start", "transaction"] if is_plain => {
            Effect::Begin
        }
        ["begin", ..] | ["start", "transaction", ..] => Effect::BeginWith,
        ["commit" | "end"] | ["commit" | "end", "work" | "transaction"] if is_plain => {
            Effect::Commit
        }
        ["rollback" | "abort"] | ["rollback" | "abort", "work" | "transaction"] if is_plain => {
            Effect::Rollback
        }
        ["select" | "values" | "table" | "show", ..] => Effect::Read,
        _ => Effect::Write,
    }
}

impl Part {
    /// The statement with a placeholder for each variable that is not quoted, and the slots of its
    /// arguments.
    pub fn bound(&self, placeholder: Placeholder, names: &Names) -> (BoundStatement, Vec<usize>) {
        let mut sql = String::new();
        let mut slots: Vec<usize> = Vec::new();
        let mut order = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => sql.push_str(text),
                Piece::Variable { slot, place: Place::Quotation | Place::Comment } => {
                    sql.push(':');
                    sql.push_str(names.name(*slot));
                }
                Piece::Variable { slot, place: Place::Value } => {
                    let known = slots.iter().position(|known| known == slot);
                    let argument = known.unwrap_or(slots.len());
                    if known.is_none() {
                        slots.push(*slot);
                    }
                    order.push(argument);
                    match placeholder {
                        Placeholder::Dollar => sql.push_str(&format!("${}", argument + 1)),
                        Placeholder::NumberedQuestion => {
                            sql.push_str(&format!("?{}", argument + 1));
                        }
                        Placeholder::At => sql.push_str(&format!("@p{}", argument + 1)),
                        Placeholder::Question => sql.push('?'),
                    }
                }
            }
        }
        let param = |slot: &usize| Param {
            name: names.name(*slot).to_owned().into(),
            param_type: ColumnType::Any,
        };
        let params: Vec<Param> = slots.iter().map(param).collect();
        if placeholder != Placeholder::Question {
            order = (0..params.len()).collect();
        }
        (BoundStatement { name: self.title(names), sql, params, order }, slots)
    }

    /// Puts texts in the place of variables: of those for which `text` has one.
    pub fn replace(&mut self, text: impl Fn(usize) -> Option<String>) {
        for piece in &mut self.pieces {
            if let Piece::Variable { slot, place: Place::Value } = piece
                && let Some(text) = text(*slot)
            {
                *piece = Piece::Text(text);
            }
        }
    }

    /// Slots of the variables that become arguments.
    pub fn variables(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable { slot, place: Place::Value } => Some(*slot),
            _ => None,
        })
    }

    /// Slots of the variables in strings and quoted names.
    pub fn quoted(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable { slot, place: Place::Quotation } => Some(*slot),
            _ => None,
        })
    }

    /// Slots of all variables, those in texts and comments included.
    pub fn slots(&self) -> impl Iterator<Item = usize> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Variable { slot, .. } => Some(*slot),
            Piece::Text(_) => None,
        })
    }

    /// Its texts, and between two of them the slot of a variable.
    pub fn split(&self) -> (Vec<String>, Vec<usize>) {
        let (mut texts, mut slots) = (vec![String::new()], Vec::new());
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => texts.last_mut().expect("there is one").push_str(text),
                Piece::Variable { slot, .. } => {
                    slots.push(*slot);
                    texts.push(String::new());
                }
            }
        }
        (texts, slots)
    }

    /// Whether the statement has this word, in lower case, anywhere.
    pub fn has_word(&self, word: &str) -> bool {
        let has = |text: &String| {
            text.split(|c: char| !continues_name(c)).any(|found| found.eq_ignore_ascii_case(word))
        };
        self.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if has(text)))
    }

    /// Whether it is a query that begins with WITH and has no word that changes data.
    pub fn is_with_query(&self) -> bool {
        let Some(Piece::Text(text)) = self.pieces.first() else { return false };
        first_words(text).next().is_some_and(|word| word == "with")
            && !["insert", "update", "delete", "merge"].iter().any(|word| self.has_word(word))
    }

    /// Whether its first word changes data.
    pub fn changes_data(&self) -> bool {
        let Some(Piece::Text(text)) = self.pieces.first() else { return false };
        let first = first_words(text).next().unwrap_or_default();
        matches!(&*first, "insert" | "update" | "delete" | "merge" | "replace" | "truncate")
    }

    /// Appends the statement with the texts of its variables; those that are not assigned stay.
    pub fn write(&self, variables: &[Variable], names: &Names, out: &mut String) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Variable { slot, .. } => {
                    if !variables[*slot].write(out) {
                        out.push(':');
                        out.push_str(names.name(*slot));
                    }
                }
            }
        }
    }

    /// The beginning of the statement as in the script, in one line, for people.
    pub fn title(&self, names: &Names) -> String {
        const LENGTH_MAX: usize = 80;
        let mut sql = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => sql.push_str(text),
                Piece::Variable { slot, .. } => {
                    sql.push(':');
                    sql.push_str(names.name(*slot));
                }
            }
            if sql.len() > 8 * LENGTH_MAX {
                break;
            }
        }
        let line = sql.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(LENGTH_MAX) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_are_recognised_by_their_first_words() {
        for (sql, expected) in [
            ("BEGIN", Effect::Begin),
            ("begin  transaction", Effect::Begin),
            ("START TRANSACTION", Effect::Begin),
            ("BEGIN ISOLATION LEVEL SERIALIZABLE", Effect::BeginWith),
            ("start transaction read only", Effect::BeginWith),
            ("END", Effect::Commit),
            ("Commit work", Effect::Commit),
            ("COMMIT PREPARED 'x'", Effect::Write),
            ("ROLLBACK", Effect::Rollback),
            ("ROLLBACK TO SAVEPOINT s", Effect::Write),
            ("SELECT 1", Effect::Read),
            ("/* hint */ select 1", Effect::Read),
            ("WITH x AS (DELETE FROM t RETURNING 1) SELECT * FROM x", Effect::Write),
            ("UPDATE t SET a = 1", Effect::Write),
        ] {
            assert_eq!(effect(sql, true), expected, "{sql}");
        }
        assert_eq!(effect("BEGIN", false), Effect::BeginWith);
    }
}

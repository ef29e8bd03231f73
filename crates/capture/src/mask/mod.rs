//! Masks: values are replaced while they are captured, so that the files have nobody's data.
//!
//! ```text
//! form  a value to another one of the same form, by a keyed permutation
//! ```
//!
//! The same value always becomes the same other one, wherever it occurs, and two values of one form do not become one,
//! but for rare characters (see `form`): keys stay unique, and joins find what they found. Nobody can undo it without the key, which is drawn for each capture and not
//! kept. Hashes of rows are left out: who guesses a row could verify the guess.

mod form;

use std::collections::{BTreeSet, HashMap};

use self::form::Permutation;
use super::answer::ServerAnswer;
use super::columns::{Column, ColumnKind, Origin, Tables, origins};
use super::event::Argument;
use super::shapes::SHAPES_MAX;
use super::sql::{Rules, Shape, Statement, TokenKind, tokens};
use super::written::{inserted, place_in_row};

/// The word for all values.
const ALL: &str = "all";

/// What is masked, and how.
#[derive(Debug)]
pub struct Mask {
    permutation: Permutation,
    /// The columns; `None` for all values.
    columns: Option<MaskedColumns>,
    /// By statement, which arguments are masked.
    known: HashMap<Shape, Masked>,
}

/// Columns whose values are masked.
#[derive(Debug)]
struct MaskedColumns {
    tables: Tables,
    names: BTreeSet<String>,
}

/// What of a statement is masked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Masked {
    /// By argument.
    arguments: Box<[bool]>,
    /// Whether values that the server made may be of a masked column, and literals in the text.
    is_touched: bool,
    /// The names in its RETURNING, if they are plain columns.
    returning: Box<[String]>,
}

impl Mask {
    /// Reads `all`, or columns as in `users.email,orders.note`.
    ///
    /// # Errors
    /// When the list has something that is no column with its table.
    pub fn new(list: &str, key: [u8; 16]) -> Result<Self, String> {
        let permutation = Permutation::new(key);
        if list.trim().eq_ignore_ascii_case(ALL) {
            return Ok(Self { permutation, columns: None, known: HashMap::new() });
        }
        let (mut tables, mut names) = (Tables::default(), BTreeSet::new());
        for item in list.split(',').map(str::trim) {
            let mut parts = item.rsplit('.');
            let (name, table) =
                (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            if name.is_empty() || table.is_empty() {
                return Err(format!(
                    "expected `{ALL}`, or columns with their tables such as users.email,orders.note; \
                     got `{item}`"
                ));
            }
            names.insert(name.to_lowercase());
            let of = |text: &str| text.to_owned();
            tables.add(
                table,
                Column {
                    name: of(name),
                    sql: of(name),
                    table: of(table),
                    kind: ColumnKind::Other,
                    is_unique: false,
                },
            );
        }
        let columns = Some(MaskedColumns { tables, names });
        Ok(Self { permutation, columns, known: HashMap::new() })
    }

    /// Masks a statement, and what the server answered to it.
    pub(crate) fn apply(
        &mut self,
        statement: &mut Statement,
        answer: Option<&mut ServerAnswer>,
        rules: Rules,
    ) {
        let masked = self.masked(&statement.shape);
        for (argument, is_masked) in statement.arguments.iter_mut().zip(&masked.arguments) {
            if *is_masked {
                self.argument(argument);
            }
        }
        if !masked.is_touched {
            return;
        }
        for piece in &mut statement.shape.pieces {
            self.literals(piece, rules);
        }
        let Some(answer) = answer else { return };
        answer.hashes = None;
        for row in &mut answer.answer.made {
            for (place, value) in row.iter_mut().enumerate() {
                if self.is_made_masked(&masked, place) {
                    self.argument(value);
                }
            }
        }
    }

    /// Whether a value that the server made is masked: by the name in RETURNING, and always without one.
    fn is_made_masked(&self, masked: &Masked, place: usize) -> bool {
        match (&self.columns, masked.returning.get(place)) {
            (Some(columns), Some(name)) => columns.names.contains(name),
            _ => true,
        }
    }

    fn argument(&self, argument: &mut Argument) {
        match argument {
            Argument::Null => {}
            Argument::Int(number) => *number = self.permutation.integer(*number),
            Argument::Number(text) | Argument::Text(text) => *text = self.permutation.text(text),
        }
    }

    /// Masks the literals that stay in the text of a statement, such as `date '1980-05-05'` and `x'41'`.
    fn literals(&self, piece: &mut String, rules: Rules) {
        let mut out = String::new();
        let (mut end, mut word) = (0, "");
        for token in tokens(piece, rules) {
            let start = token.start;
            let is_text = matches!(token.kind, TokenKind::Text(_));
            let is_hex = token.text.len() > 2 && token.text[..2].eq_ignore_ascii_case("0x");
            if is_text && !word.eq_ignore_ascii_case("interval") || is_hex {
                out.push_str(&piece[end..start]);
                out.push_str(&self.literal(token.text));
                end = start + token.text.len();
            }
            word = token.text;
        }
        out.push_str(&piece[end..]);
        *piece = out;
    }

    /// A literal with its quotes and what is before them.
    fn literal(&self, text: &str) -> String {
        let is_hex = text.starts_with(['x', 'X', '0']);
        let start = match text.find(['\'', '"', '$']) {
            Some(quote) => quote + 1,
            None => text.len().min(2),
        };
        let end = if start == 2 && is_hex && text.starts_with('0') {
            text.len()
        } else {
            text.len().saturating_sub(1).max(start)
        };
        let Some(inner) = text.get(start..end) else { return text.to_owned() };
        let inner = if is_hex { self.permutation.hex(inner) } else { self.permutation.text(inner) };
        format!("{}{inner}{}", &text[..start], &text[end..])
    }

    /// What of a statement is masked.
    fn masked(&mut self, shape: &Shape) -> Masked {
        if let Some(known) = self.known.get(shape) {
            return known.clone();
        }
        let masked = match &self.columns {
            None => all(shape),
            Some(columns) => columns.masked(shape),
        };
        if self.known.len() < SHAPES_MAX {
            self.known.insert(shape.clone(), masked.clone());
        }
        masked
    }
}

/// Everything but numbers of rows.
fn all(shape: &Shape) -> Masked {
    let of_rows = |origin: &Origin| matches!(origin, Origin::Limit | Origin::Offset);
    let arguments = origins(shape, &Tables::default()).iter().map(|one| !of_rows(one)).collect();
    Masked { arguments, is_touched: true, returning: Box::default() }
}

impl MaskedColumns {
    /// The values of the columns, and those that may be: where a statement on one of the tables does not say which
    /// column a value belongs to, it is masked.
    fn masked(&self, shape: &Shape) -> Masked {
        let text = shape.to_string();
        let is_touched = !self.tables.mentions(&text).is_empty();
        let mut arguments = vec![false; shape.literals.len()];
        if !is_touched {
            let arguments = arguments.into();
            return Masked { arguments, is_touched, returning: Box::default() };
        }
        let origins = origins(shape, &self.tables);
        for (hole, argument) in shape.holes.iter().enumerate() {
            let name = match place_in_row(shape, hole) {
                Some(_) => inserted(shape, hole),
                None => shape.column(hole),
            };
            arguments[*argument] |= match &origins[*argument] {
                Origin::Limit | Origin::Offset => false,
                origin if origin.column().is_some() => true,
                _ => name.is_none_or(|name| self.names.contains(&name.to_lowercase())),
            };
        }
        let lower = text.to_lowercase();
        let list = lower.rsplit_once("returning ").map_or("", |(_, list)| list);
        let name = |item: &str| item.trim().rsplit('.').next().unwrap_or_default().to_owned();
        let is_plain = |name: &String| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        };
        let returning: Vec<String> = list.split(',').map(name).collect();
        let returning = if returning.iter().all(is_plain) { returning } else { Vec::new() };
        let (arguments, returning) = (arguments.into(), returning.into());
        Masked { arguments, is_touched, returning }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::{Answer, RowHashes};
    use super::super::sql::{Syntax, read};
    use super::*;

    /// The text of a statement with its values, after a mask.
    fn masked(list: &str, sql: &str) -> String {
        let rules = Rules::from(Syntax::Postgres);
        let mut statement = read(sql, rules, &[]).unwrap();
        Mask::new(list, [7; 16]).unwrap().apply(&mut statement, None, rules);
        let show = |argument: &Argument| match argument {
            Argument::Null => "NULL".to_owned(),
            Argument::Int(number) => number.to_string(),
            Argument::Number(text) | Argument::Text(text) => text.clone(),
        };
        statement.shape.text(|place| show(&statement.arguments[place]))
    }

    #[test]
    fn only_the_columns_are_masked_and_what_may_be_one() {
        let list = "users.email, shop.orders.note";
        for (sql, kept) in [
            ("SELECT id FROM users WHERE id = 12345 AND email = 'ann@x.org' LIMIT 10", "12345"),
            ("INSERT INTO users (id, email) VALUES (12345, 'ann@x.org')", "12345"),
            ("UPDATE users SET email = 'ann@x.org' WHERE id = 12345", "12345"),
            ("SELECT 1 FROM users u WHERE u.email IN ('ann@x.org', 'bob@y.org')", "users"),
            ("SELECT 1 FROM users WHERE lower(email) = 'ann@x.org'", "lower"),
            ("INSERT INTO users VALUES (12345, 'ann@x.org')", "users"),
        ] {
            let text = masked(list, sql);
            assert!(!text.contains("ann@x.org") && !text.contains("bob"), "{text}");
            assert!(text.contains(kept), "{text}");
            assert_eq!(text.contains("LIMIT 10"), sql.contains("LIMIT 10"), "{text}");
        }
        let other = "SELECT 1 FROM items WHERE email = 'ann@x.org'";
        assert!(masked(list, other).contains("ann@x.org"));
        assert!(Mask::new("users", [0; 16]).unwrap_err().contains("got `users`"));
    }

    #[test]
    fn all_values_are_masked_also_those_that_stay_in_the_text() {
        let sql =
            "SELECT 'Ann', 12345, date '1980-05-05', x'deadbeef', interval '3 days', 1.25 LIMIT 10";
        let text = masked("ALL", sql);
        for value in ["Ann", "12345", "1980-05-05", "deadbeef", "1.25"] {
            assert!(!text.contains(value), "{text}");
        }
        assert!(text.contains("interval '3 days'") && text.contains("LIMIT 10"), "{text}");
        assert!(text.contains("date '") && text.contains("x'"), "{text}");
        assert_eq!(text.len(), masked("all", sql).len());
    }

    #[test]
    fn what_the_server_made_is_masked_as_arguments_are() {
        let rules = Rules::from(Syntax::Postgres);
        let answered = |list: &str, returning: &str| {
            let sql = &format!("INSERT INTO users (email) VALUES ('ann@x.org'){returning}");
            let mut statement = read(sql, rules, &[]).unwrap();
            let made = vec![vec![Argument::Int(12_345), Argument::Text("ann@x.org".to_owned())]];
            let hashes = Some(RowHashes::default());
            let answer = Answer { made, ..Answer::default() };
            let mut answer = ServerAnswer { answer, hashes };
            let mut mask = Mask::new(list, [7; 16]).unwrap();
            mask.apply(&mut statement, Some(&mut answer), rules);
            assert_eq!(answer.hashes, None);
            assert_eq!(answer.answer.made[0][1], statement.arguments[0]);
            answer.answer.made[0][0].clone()
        };
        let plain = " RETURNING id, email";
        assert_eq!(answered("users.email", plain), Argument::Int(12_345));
        assert_ne!(answered("all", plain), Argument::Int(12_345));
        // Columns that are not known may be those of the list.
        for returning in ["", " RETURNING *", " RETURNING phone AS a, email"] {
            assert_ne!(answered("users.email", returning), Argument::Int(12_345), "{returning}");
        }
    }
}

//! Masks: values are replaced while they are captured, so that the files have nobody's data.
//!
//! ```text
//! form     a value to another one of the same form, by a keyed permutation
//! names    what a statement names: tables, masked columns, and the column of a value
//! columns  which values of a statement may be of the masked columns
//! ```
//!
//! The same value always becomes the same other one, wherever it occurs, and two values of one form do not become one,
//! but for rare characters (see `form`): keys stay unique, and joins find what they found. Nobody can undo it without the key, which is drawn for each capture and not
//! kept. Hashes of rows are left out: who guesses a row could verify the guess.

mod columns;
mod form;
mod names;

use std::collections::HashMap;

use triphammer_core::value::hex;

use self::columns::MaskedColumns;
use self::form::Permutation;
use self::names::is_name;
use super::answer::ServerAnswer;
use super::argument::unhex;
use super::columns::{Origin, Tables, origins};
use super::event::Argument;
use super::shapes::SHAPES_MAX;
use super::sql::{Rules, Scanner, Shape, Statement, TokenKind, executable};

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

/// What of a statement is masked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Masked {
    /// By argument.
    arguments: Box<[bool]>,
    /// Whether literals in the text are, and hashes of rows are left out.
    is_touched: bool,
    /// Values that the server made, beside those of masked columns.
    made: Made,
    /// The names in its RETURNING, if they are plain columns.
    returning: Box<[String]>,
}

/// Which values that the server made are masked if the column is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Made {
    /// None, also of known columns.
    #[default]
    None,
    /// Texts.
    Texts,
    /// All.
    All,
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
        let columns = Some(MaskedColumns::new(list)?);
        Ok(Self { permutation, columns, known: HashMap::new() })
    }

    /// Masks a statement, and what the server answered to it.
    pub(crate) fn apply(
        &mut self,
        statement: &mut Statement,
        answer: Option<&mut ServerAnswer>,
        rules: Rules,
    ) {
        let masked = self.masked(&statement.shape, rules);
        for (argument, is_masked) in statement.arguments.iter_mut().zip(&masked.arguments) {
            if *is_masked {
                self.argument(argument);
            }
        }
        if !masked.is_touched {
            return;
        }
        for piece in &mut statement.shape.pieces {
            *piece = self.literals(piece, rules, false);
        }
        let Some(answer) = answer else { return };
        answer.hashes = None;
        for row in &mut answer.answer.made {
            for (place, value) in row.iter_mut().enumerate() {
                if self.is_made_masked(&masked, place, value) {
                    self.argument(value);
                }
            }
        }
    }

    /// Whether a value that the server made is masked: by the name in RETURNING, and by its kind without one.
    fn is_made_masked(&self, masked: &Masked, place: usize, value: &Argument) -> bool {
        match (&self.columns, masked.returning.get(place)) {
            (Some(columns), Some(name)) if masked.made != Made::None => columns.names(name),
            _ => match masked.made {
                Made::None => false,
                Made::Texts => matches!(value, Argument::Text(_)),
                Made::All => true,
            },
        }
    }

    fn argument(&self, argument: &mut Argument) {
        match argument {
            Argument::Null => {}
            Argument::Int(number) => *number = self.permutation.integer(*number),
            Argument::Number(text) => *text = self.number(text),
            Argument::Text(text) => *text = self.permutation.text(text),
            Argument::Bytes(bytes) => {
                let masked = unhex(&self.permutation.hex(&hex(bytes)));
                *bytes = masked.unwrap_or_default();
            }
        }
    }

    /// Another number with the same exponent.
    fn number(&self, text: &str) -> String {
        let (digits, exponent) = text.split_at(text.find(['e', 'E']).unwrap_or(text.len()));
        format!("{}{exponent}", self.permutation.text(digits))
    }

    /// Masks the literals that stay in the text of a statement, such as `date '1980-05-05'` and `x'41'`, and those of
    /// comments that MySQL executes, where numbers have stayed, too.
    fn literals(&self, text: &str, rules: Rules, is_executed: bool) -> String {
        let mut out = String::new();
        let mut scanner = Scanner::new(text, rules);
        let (mut end, mut word, mut counts_rows) = (0, "", false);
        while let Ok(Some(token)) = scanner.next() {
            let spelled = &text[token.start..token.end];
            end = token.end;
            let is_hex = spelled.len() > 2
                && spelled.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("0x"));
            match token.kind {
                TokenKind::Space => {
                    out.push_str(spelled);
                    continue;
                }
                TokenKind::Comment => {
                    match executable(spelled, rules.syntax) {
                        Some(sql) => {
                            out.push_str(&spelled[..spelled.len() - sql.len()]);
                            let sql = sql.strip_suffix("*/").unwrap_or(sql);
                            out.push_str(&self.literals(sql, rules, true));
                            out.push_str("*/");
                        }
                        // Elsewhere, only hints have stayed.
                        None if is_executed && !spelled.starts_with("/*+") => out.push(' '),
                        None => out.push_str(spelled),
                    }
                    continue;
                }
                TokenKind::Text(_) if word.eq_ignore_ascii_case("interval") || is_name(&out) => {
                    out.push_str(spelled)
                }
                TokenKind::Text(_) => out.push_str(&self.literal(spelled)),
                _ if is_hex => out.push_str(&self.literal(spelled)),
                TokenKind::Kept if !counts_rows => out.push_str(&self.integer(spelled)),
                TokenKind::Number if is_executed && !counts_rows => {
                    out.push_str(&self.number(spelled));
                }
                _ => out.push_str(spelled),
            }
            let is_of_rows = ["limit", "offset"].iter().any(|of| spelled.eq_ignore_ascii_case(of));
            let is_number = matches!(token.kind, TokenKind::Number | TokenKind::Kept);
            let continues = spelled == "," || is_number;
            counts_rows = is_of_rows || counts_rows && continues;
            word = spelled;
        }
        // What cannot be read: the database rejects it, too.
        let rest = &text[end..];
        match is_executed {
            true => out.push_str(&self.permutation.text(rest)),
            false => out.push_str(rest),
        }
        out
    }

    /// An integer that stays in the text: `150_000`, `0o17`, `0b11`.
    fn integer(&self, text: &str) -> String {
        let digits = text.replace('_', "").to_ascii_lowercase();
        let value = match (digits.strip_prefix("0o"), digits.strip_prefix("0b")) {
            (Some(octal), _) => i64::from_str_radix(octal, 8),
            (None, Some(binary)) => i64::from_str_radix(binary, 2),
            (None, None) => digits.parse(),
        };
        match value {
            Ok(value) => self.permutation.integer(value).to_string(),
            Err(_) => self.number(&digits),
        }
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
    fn masked(&mut self, shape: &Shape, rules: Rules) -> Masked {
        if let Some(known) = self.known.get(shape) {
            return known.clone();
        }
        let masked = match &self.columns {
            None => all(shape),
            Some(columns) => columns.masked(shape, rules),
        };
        if self.known.len() < SHAPES_MAX {
            self.known.insert(shape.clone(), masked.clone());
        }
        masked
    }
}

/// Everything but numbers of rows, and names.
fn all(shape: &Shape) -> Masked {
    let mut arguments: Vec<bool> = origins(shape, &Tables::default())
        .iter()
        .map(|one| !matches!(one, Origin::Limit | Origin::Offset))
        .collect();
    for (piece, argument) in shape.pieces.iter().zip(&shape.holes) {
        arguments[*argument] &= !is_name(piece);
    }
    let arguments = arguments.into();
    Masked { arguments, is_touched: true, made: Made::All, returning: Box::default() }
}

#[cfg(test)]
mod tests {
    use super::super::answer::{Answer, RowHashes};
    use super::super::sql::{Syntax, read};
    use super::*;

    /// The text of a statement with its values, after a mask.
    fn masked(list: &str, sql: &str) -> String {
        masked_of(list, sql, Syntax::Postgres)
    }

    fn masked_of(list: &str, sql: &str, syntax: Syntax) -> String {
        let rules = Rules::from(syntax);
        let mut statement = read(sql, rules, &[]).unwrap();
        Mask::new(list, [7; 16]).unwrap().apply(&mut statement, None, rules);
        let show = |argument: &Argument| match argument {
            Argument::Null => "NULL".to_owned(),
            Argument::Int(number) => number.to_string(),
            Argument::Number(text) | Argument::Text(text) => text.clone(),
            Argument::Bytes(_) => unreachable!("no literal has bytes"),
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
    fn values_that_may_be_of_a_column_that_is_named_are_masked() {
        for sql in [
            "SELECT 1 FROM users WHERE lower(email) = lower('zebra')",
            "SELECT 1 FROM users WHERE name LIKE 'kept' OR upper(trim(email)) = upper('zebra')",
            "SELECT 1 FROM users WHERE email COLLATE \"C\" = 'zebra'",
            "SELECT 1 FROM users WHERE position('zebra' in email) > 0",
            "SELECT 1 FROM users WHERE email ILIKE '%'||'zebra'||'%' AND name = 'kept'",
            "SELECT 1 FROM users WHERE concat(email, name) = 'zebra' OR email || name = 'zebra'",
            "SELECT 1 FROM users WHERE name IN ('kept', 'kept') AND starts_with(email, 'zebra')",
            "SELECT 1 FROM (SELECT email AS e FROM users) x WHERE x.e = 'zebra'",
            "WITH x AS (SELECT 'zebra'::text AS e) SELECT 1 FROM users JOIN x ON x.e = email",
            "UPDATE users SET email = CASE WHEN id = 1 THEN 'zebra' ELSE email END",
            "SELECT nextval('kept') FROM users WHERE id = 987654 AND lower(email) = lower('zebra')",
            "INSERT INTO orders (user_id) VALUES ((SELECT id FROM users WHERE lower(email) = lower('zebra')))",
            "INSERT INTO orders (note) SELECT 'kept' FROM users WHERE users = ROW (1, 'zebra')",
            // The function may look for the value in the column.
            "SELECT count(*) FROM users WHERE is_mail('zebra')",
            "SELECT count(*) FROM users WHERE id = uid_of('zebra')",
            "SELECT is_mail('zebra') FROM users LIMIT 1",
            "SELECT upper('zebra') FROM users",
            "SELECT 1 FROM users WHERE iban = upper('zebra') OR md5('zebra') = iban",
            "SELECT 1 FROM users WHERE id = length('zebra') OR id IN (SELECT uid_of('zebra'))",
            // The table may be a view on the one of the list.
            "SELECT 1 FROM v2 WHERE lower(email) = lower('zebra')",
        ] {
            let text = masked("users.email", sql);
            assert!(!text.contains("zebra"), "{text}");
            for kept in ["987654", "LIKE kept", "name = kept", "(kept"] {
                let [text, sql] = [&*text, sql].map(|of| of.replace('\'', ""));
                assert_eq!(text.contains(kept), sql.contains(kept), "{text}");
            }
        }
    }

    #[test]
    fn values_of_statements_without_a_table_are_masked() {
        for sql in [
            "SET @v = 'zebra'",
            "CALL p('zebra')",
            "SELECT f('zebra', x'7a6562')",
            "SELECT * FROM f('zebra')",
        ] {
            let text = masked_of("users.email", sql, Syntax::MySql);
            assert!(!text.contains("zebra") && !text.contains("7a6562"), "{text}");
        }
        let text = masked("users.email", "SELECT nextval('orders_id_seq')");
        assert_eq!(text, "SELECT nextval('orders_id_seq')");
        let text = masked("users.email", "SELECT 1 FROM items WHERE lower(name) = lower('kept')");
        assert!(text.contains("kept"));
    }

    #[test]
    fn hashes_of_rows_that_may_have_a_masked_value_are_left_out() {
        let rules = Rules::from(Syntax::Postgres);
        for (sql, is_kept) in [
            ("SELECT name FROM items WHERE id = 1", true),
            ("SELECT * FROM users WHERE id = 1", false),
            ("SELECT email FROM v2 WHERE id = 1", false),
            ("SELECT f('x')", false),
            ("SELECT current_email()", false),
        ] {
            let mut statement = read(sql, rules, &[]).unwrap();
            let hashes = Some(RowHashes::default());
            let mut answer = ServerAnswer { answer: Answer::default(), hashes };
            let mut mask = Mask::new("users.email", [7; 16]).unwrap();
            mask.apply(&mut statement, Some(&mut answer), rules);
            assert_eq!(answer.hashes.is_some(), is_kept, "{sql}");
        }
    }

    #[test]
    fn comments_that_mysql_executes_have_no_values() {
        let sql = "SELECT /*!50000 'zebra', 98765, x'7a6562' /* zebra */ , /*M!100100 'zebra' */ */ a \
                   FROM users WHERE email = /*!'zebra'*/ LIMIT 10 /*!50000 OFFSET 25 */";
        for list in ["all", "users.email"] {
            let text = masked_of(list, sql, Syntax::MySql);
            for value in ["zebra", "98765", "7a6562"] {
                assert!(!text.contains(value), "{text}");
            }
            for kept in ["/*!50000 '", "/*M!100100 '", "LIMIT 10 /*!50000 OFFSET 25 */"] {
                assert!(text.contains(kept), "{text}");
            }
        }
        assert!(masked("all", "SELECT 1.5e300").contains("e300"));
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
    fn integers_that_stay_in_the_text_are_masked_as_arguments_are() {
        let number = masked("all", "SELECT 150000");
        assert_eq!(masked("all", "SELECT 150_000"), number);
        assert_eq!(masked("all", "SELECT 0o444760"), number);
        assert!(masked("all", "SELECT 1 LIMIT 1_000").ends_with("LIMIT 1_000"));
        let binary = masked_of("all", "SELECT 0b1010", Syntax::MySql);
        assert!(!binary.contains("1010"), "{binary}");
        // Characters outside ASCII, and a quote before them.
        assert!(masked("all", "SELECT 名前 FROM \"Été\" WHERE größe = 5").contains("名前"));
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

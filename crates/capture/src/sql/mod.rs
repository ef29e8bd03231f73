//! The shape of a statement: its text without its values. Statements that differ only in literals and
//! arguments have the same shape.
//!
//! Literals that are part of the syntax stay: types (`numeric(10, 2)`, `interval '1 day'`), positions
//! in ORDER BY, aliases. Those that never vary in a log are put back ([`Shape::text`]), so that the
//! database sees what it can plan with, such as `LIMIT 10`.
//!
//! ```text
//! tokens  words, literals and comments, by the rules of the database
//! texts   the values of string literals
//! ```

mod texts;
mod tokens;

use std::fmt::Write as _;

use self::tokens::comment;
pub(crate) use self::tokens::{Scanner, Spelled, TokenKind, executable, tokens};
use super::event::Argument;

/// How a text of SQL is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// PostgreSQL: `$1`, `E'\n'`, `$$text$$`; `"name"`.
    Postgres,
    /// MySQL: backslashes escape in strings, `"text"`, `` `name` ``, `#` begins a comment, `?` is an argument.
    MySql,
    /// Oracle: `:name`, `q'[text]'`.
    Oracle,
}

/// How a text of SQL is read: the syntax of the database, and what settings of a server or a session
/// change in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The syntax of the database.
    pub syntax: Syntax,
    /// Whether a backslash escapes in a string without a prefix: in MySQL without
    /// NO_BACKSLASH_ESCAPES, in PostgreSQL with `standard_conforming_strings = off`.
    pub backslashes: bool,
    /// Whether double quotes enclose a name: in MySQL only with ANSI_QUOTES.
    pub quoted_names: bool,
}

impl From<Syntax> for Rules {
    fn from(syntax: Syntax) -> Self {
        let mysql = syntax == Syntax::MySql;
        Self { syntax, backslashes: mysql, quoted_names: !mysql }
    }
}

/// A statement without its values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Text before each hole, and after the last one.
    pub pieces: Vec<String>,
    /// The argument of each hole.
    pub holes: Vec<usize>,
    /// By argument, whether it was written as a literal.
    pub literals: Vec<bool>,
}

/// A statement: its shape and the values in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its shape.
    pub shape: Shape,
    /// Its values, by [`Shape::holes`].
    pub arguments: Vec<Argument>,
}

/// Why a statement has no shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misread {
    /// A bound argument is not in the log.
    Binds,
    /// A colon before a name would be read as a parameter.
    Colon,
    /// A string or a comment has no end.
    Truncated,
}

/// What is after a decimal literal of PostgreSQL, so that its argument has the literal's type: without it, the argument
/// of `n >= 5.5` would have the type of the column, and 5.5 is no integer.
const DECIMAL: &str = "::numeric";

/// Words after which an expression begins, so that a literal after them is a value.
const BEFORE_VALUES: &[&str] = &[
    "select",
    "where",
    "and",
    "or",
    "not",
    "in",
    "like",
    "ilike",
    "between",
    "then",
    "else",
    "when",
    "case",
    "values",
    "value",
    "set",
    "returning",
    "on",
    "having",
    "limit",
    "offset",
    "from",
    "for",
    "to",
    "distinct",
    "all",
    "div",
    "mod",
    "xor",
    "regexp",
    "rlike",
    "default",
    "is",
    "escape",
    "if",
];
/// Words whose numbers in brackets are part of a type.
const TYPES: &[&str] = &[
    "numeric",
    "decimal",
    "varchar",
    "char",
    "character",
    "varying",
    "bit",
    "timestamp",
    "time",
    "timestamptz",
    "float",
    "varbinary",
    "binary",
    "number",
    "varchar2",
    "datetime",
    "interval",
];
/// Functions whose first argument is the name of a sequence: it is part of the statement, as a table's is.
pub(crate) const OF_SEQUENCES: [&str; 3] = ["nextval", "currval", "setval"];
/// Words that end the list of an ORDER BY or GROUP BY.
const AFTER_LISTS: &[&str] =
    &["limit", "having", "offset", "for", "union", "rows", "range", "returning", "fetch", "window"];

/// Whether a text ends with the call of one of these functions: its first argument stands next.
pub(crate) fn calls_last(text: &str, functions: &[&str]) -> bool {
    let Some(before) = text.trim_end().strip_suffix('(') else { return false };
    let word = before.trim_end().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
    word.is_some_and(|word| functions.iter().any(|name| word.eq_ignore_ascii_case(name)))
}

/// Whether a character can be one of a name.
const fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

impl Shape {
    /// The text, with `name(argument)` for each argument that has one, and the given values for the
    /// others.
    pub fn text(&self, value: impl Fn(usize) -> String) -> String {
        let mut text = String::new();
        // A decimal that is written as a literal has its type without a word.
        let mut is_decimal = false;
        let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        for (place, piece) in self.pieces.iter().enumerate() {
            let own = piece.strip_prefix(DECIMAL).filter(|_| is_decimal);
            text.push_str(own.unwrap_or(piece));
            let Some(hole) = self.holes.get(place) else { continue };
            let written = value(*hole);
            let digits = written.trim_start_matches('-');
            is_decimal = is_number(digits) && digits.parse::<i64>().is_err();
            text.push_str(&written);
        }
        text
    }

    /// The first word, in lower case.
    #[must_use]
    pub fn verb(&self) -> String {
        let text = self.pieces.first().map_or("", String::as_str);
        // Of comments, only those that MySQL executes have stayed.
        first_words(text, Syntax::MySql).next().unwrap_or_default()
    }

    /// The identifier that the value of a hole is compared with or assigned to, if that is plain.
    #[must_use]
    pub fn column(&self, hole: usize) -> Option<&str> {
        let before = before_list(self.pieces.get(hole)?.trim_end());
        let before = before.trim_end_matches(['=', '<', '>', '+', '-', '*', '(', ' ', '!']);
        let before = before.strip_suffix_word(&["like", "in", "between"]).trim_end();
        let before = before.trim_end_matches(['"', '`']);
        let name = before.rsplit(|c| !is_name(c)).next().unwrap_or_default();
        let is_word = BEFORE_VALUES.iter().any(|word| name.eq_ignore_ascii_case(word));
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        (begins && !is_word && name.len() <= 30).then_some(name)
    }
}

/// What is before the list of `id = ANY(…)` and `id = ANY(ARRAY[…])` at the end of a text.
fn before_list(text: &str) -> &str {
    let array = text.strip_suffix('[').map(|before| (before, before.strip_suffix_word(&["array"])));
    let list = array.filter(|(before, word)| before != word).map_or(text, |(_, word)| word);
    let open = list.trim_end_matches(['(', ' ']);
    let found = open.strip_suffix_word(&["any", "some", "all"]);
    if found.len() < open.len() { found.trim_end() } else { text }
}

trait StripWord {
    fn strip_suffix_word(&self, words: &[&str]) -> &str;
}

impl StripWord for str {
    fn strip_suffix_word(&self, words: &[&str]) -> &str {
        for word in words {
            let Some(start) = self.len().checked_sub(word.len()) else { continue };
            let ends = self.is_char_boundary(start) && self[start..].eq_ignore_ascii_case(word);
            if ends && !self[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                return &self[..start];
            }
        }
        self
    }
}

/// A literal that stands for an argument in SQL; `None` if it cannot be written for every database.
#[must_use]
pub fn literal(argument: &Argument) -> Option<String> {
    match argument {
        Argument::Null => Some("NULL".to_owned()),
        Argument::Int(number) => Some(number.to_string()),
        Argument::Number(digits) => Some(digits.clone()),
        Argument::Bytes(_) => None,
        Argument::Text(text) if text.contains(['\\', ':', '\0', '\'']) => None,
        Argument::Text(text) => Some(format!("'{text}'")),
    }
}

/// What is between a value and the next one, or the end, without space and the type of a decimal.
pub(crate) fn after_value(piece: &str) -> &str {
    let piece = piece.trim();
    piece.strip_prefix(DECIMAL).unwrap_or(piece).trim_start()
}

/// Whether a text contains a word in lower case, in any case. Every statement of a server is searched for several, so that
/// most places are passed by their first byte.
pub(crate) fn contains_ignoring_case(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    let (Some(first), Some(last)) = (word.first(), text.len().checked_sub(word.len())) else {
        return word.is_empty();
    };
    (0..=last).any(|at| {
        text[at].to_ascii_lowercase() == *first
            && text[at..at + word.len()].eq_ignore_ascii_case(word)
    })
}

/// The first words of SQL, in lower case, without comments before them.
pub fn first_words(sql: &str, syntax: Syntax) -> impl Iterator<Item = String> {
    let mut rest = sql;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
        rest = match (executable(rest, syntax), comment(rest, syntax)) {
            (Some(executed), _) => executed,
            (None, Some(length)) => &rest[length.unwrap_or(rest.len())..],
            (None, None) => break,
        };
    }
    let words = rest.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).take(8).map(str::to_ascii_lowercase)
}

/// Whether the rows of a statement have an order: it has an ORDER BY outside of brackets.
#[must_use]
pub fn is_ordered(sql: &str, rules: impl Into<Rules>) -> bool {
    let (mut depth, mut follows_order) = (0_usize, false);
    for token in tokens(sql, rules.into()) {
        match token.text {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ if depth == 0 && follows_order && token.is("by") => return true,
            _ => {}
        }
        follows_order = depth == 0 && token.is("order");
    }
    false
}

/// Splits a text at the semicolons between its statements. Those of the body of a routine are not between statements: PostgreSQL
/// has bodies in quotes, and between `BEGIN ATOMIC` and its END.
#[must_use]
pub fn split(sql: &str, rules: impl Into<Rules>) -> Vec<&str> {
    let mut parts = Vec::new();
    let rules = rules.into();
    let mut scanner = Scanner::new(sql, rules);
    let (mut start, mut depth, mut after_begin) = (0, 0_usize, false);
    while let Ok(Some(token)) = scanner.next() {
        if token.kind == TokenKind::Semicolon && depth == 0 {
            parts.push(&sql[start..token.start]);
            start = token.end;
        }
        if token.kind == TokenKind::Word && rules.syntax == Syntax::Postgres {
            let word = &sql[token.start..token.end];
            let is = |name: &str| word.eq_ignore_ascii_case(name);
            match depth {
                0 => depth = usize::from(after_begin && is("atomic")),
                _ if is("case") => depth += 1,
                _ if is("end") => depth -= 1,
                _ => {}
            }
            after_begin = is("begin");
        }
    }
    parts.push(&sql[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Finds the shape of one statement and the values in it.
///
/// # Errors
/// When it cannot be replayed.
pub fn read(sql: &str, rules: impl Into<Rules>, binds: &[Argument]) -> Result<Statement, Misread> {
    let (sql, rules) = (sql.trim(), rules.into());
    let mut reading = Reading::new(binds, rules);
    let mut scanner = Scanner::new(sql, rules);
    while let Some(token) = scanner.next()? {
        reading.token(&sql[token.start..token.end], token.kind)?;
    }
    Ok(reading.finish())
}

/// Builds the shape, token by token.
struct Reading<'a> {
    binds: &'a [Argument],
    rules: Rules,
    pieces: Vec<String>,
    holes: Vec<usize>,
    arguments: Vec<Argument>,
    literals: Vec<bool>,
    /// The arguments that have a number or a name, with it.
    named: Vec<(String, usize)>,
    text: String,
    /// The last word, in lower case, if nothing but space follows it.
    word: Option<String>,
    /// The last token that is not space.
    last: TokenKind,
    /// The last symbol.
    symbol: char,
    /// A minus that may belong to a number, and where it begins in `text`.
    minus: Option<usize>,
    depth: usize,
    /// Depth of the brackets of a type.
    in_type: Option<usize>,
    /// Depth of the list of an ORDER BY or GROUP BY.
    in_list: Option<usize>,
}

impl<'a> Reading<'a> {
    const fn new(binds: &'a [Argument], rules: Rules) -> Self {
        Self {
            binds,
            rules,
            pieces: Vec::new(),
            holes: Vec::new(),
            arguments: Vec::new(),
            literals: Vec::new(),
            named: Vec::new(),
            text: String::new(),
            word: None,
            last: TokenKind::Symbol,
            symbol: '(',
            minus: None,
            depth: 0,
            in_type: None,
            in_list: None,
        }
    }

    fn token(&mut self, text: &str, kind: TokenKind) -> Result<(), Misread> {
        match kind {
            TokenKind::Space | TokenKind::Comment => {
                // One space stands for any number, and for a comment; hints of optimisers stay.
                let is_executed = executable(text, self.rules.syntax).is_some();
                if text.starts_with("/*+") || is_executed {
                    self.text.push_str(text);
                } else {
                    let is_start = self.text.is_empty() && self.holes.is_empty();
                    if !is_start && !self.text.ends_with(' ') {
                        self.text.push(' ');
                    }
                }
                return Ok(());
            }
            TokenKind::Bind => self.bind(text)?,
            TokenKind::Number if self.is_value() => {
                let minus = self.minus.take();
                if let Some(at) = minus {
                    self.text.truncate(at);
                }
                let sign = if minus.is_some() { "-" } else { "" };
                self.apart(sign);
                self.hole(match Argument::of_text(format!("{sign}{text}")) {
                    Argument::Text(digits) => Argument::Number(digits),
                    other => other,
                });
                // PostgreSQL's own rule: no point, no exponent, and not too long for an integer.
                if self.rules.syntax == Syntax::Postgres && text.parse::<i64>().is_err() {
                    self.text.push_str(DECIMAL);
                }
            }
            // `1.5from`, of which PostgreSQL before 15 reads a number and a word.
            TokenKind::Word if self.text == DECIMAL => {
                self.text.push(' ');
                self.text.push_str(text);
            }
            TokenKind::Text(quote) if self.is_value() => {
                match texts::value(text, quote, self.rules) {
                    Some(value) => self.hole(Argument::Text(value)),
                    None => self.text.push_str(text),
                }
            }
            // A name whatever the setting of the server that it is replayed on.
            TokenKind::QuotedName
                if self.rules.syntax == Syntax::MySql && text.starts_with('"') =>
            {
                let name = text[1..text.len() - 1].replace("\"\"", "\"").replace('`', "``");
                self.text.push_str(&format!("`{name}`"));
            }
            TokenKind::Symbol => self.symbol(text),
            _ => self.text.push_str(text),
        }
        if kind != TokenKind::Symbol {
            self.minus = None;
        }
        self.word = (kind == TokenKind::Word).then(|| text.to_ascii_lowercase());
        if let Some(word) = &self.word {
            if word == "by" {
                self.in_list = Some(self.depth);
            } else if AFTER_LISTS.contains(&word.as_str()) {
                self.in_list = None;
            }
        }
        self.last = kind;
        Ok(())
    }

    fn symbol(&mut self, text: &str) {
        let symbol = text.chars().next().unwrap_or_default();
        match symbol {
            '(' => {
                self.depth += 1;
                let is_type = |word: &String| TYPES.contains(&word.as_str());
                if self.word.as_ref().is_some_and(is_type) {
                    self.in_type = Some(self.depth);
                }
            }
            ')' => {
                if self.in_type == Some(self.depth) {
                    self.in_type = None;
                }
                self.depth = self.depth.saturating_sub(1);
                self.in_list = self.in_list.filter(|depth| *depth <= self.depth);
            }
            _ => {}
        }
        self.apart(text);
        let begins = symbol == '-' && self.begins_expression();
        self.minus = begins.then_some(self.text.len());
        self.text.push_str(text);
        self.symbol = symbol;
    }

    /// Keeps two minuses apart, which begin a comment in most databases.
    fn apart(&mut self, next: &str) {
        if next.starts_with('-') && self.text.ends_with('-') {
            self.text.push(' ');
        }
    }

    /// Whether an expression can begin here, so that a minus is a sign.
    fn begins_expression(&self) -> bool {
        match self.last {
            // MySQL's `@'name'` and `user@'host'`.
            TokenKind::Symbol if self.symbol == '@' => self.rules.syntax != Syntax::MySql,
            TokenKind::Symbol => self.symbol != ')' && self.symbol != ']',
            TokenKind::Word => {
                self.word.as_ref().is_some_and(|word| BEFORE_VALUES.contains(&word.as_str()))
            }
            _ => false,
        }
    }

    /// Whether a literal here is a value, rather than part of the syntax.
    fn is_value(&self) -> bool {
        let is_position = self.in_list == Some(self.depth)
            && (self.word.as_deref() == Some("by") || self.symbol == ',');
        let is_name = calls_last(&self.text, &OF_SEQUENCES);
        !is_position && self.in_type.is_none() && self.begins_expression() && !is_name
    }

    fn bind(&mut self, text: &str) -> Result<(), Misread> {
        let argument = match self.named.iter().find(|(name, _)| name == text && text != "?") {
            Some((_, argument)) => *argument,
            None => {
                // Oracle numbers binds by their order, whatever they are called.
                let number = text[1..].parse::<usize>().ok().filter(|_| text.starts_with('$'));
                let index = number.map_or(self.named.len(), |number| number.wrapping_sub(1));
                let value = self.binds.get(index).ok_or(Misread::Binds)?.clone();
                self.arguments.push(value);
                self.literals.push(false);
                self.named.push((text.to_owned(), self.arguments.len() - 1));
                self.arguments.len() - 1
            }
        };
        self.pieces.push(std::mem::take(&mut self.text));
        self.holes.push(argument);
        Ok(())
    }

    fn hole(&mut self, value: Argument) {
        self.pieces.push(std::mem::take(&mut self.text));
        self.holes.push(self.arguments.len());
        self.arguments.push(value);
        self.literals.push(true);
    }

    fn finish(mut self) -> Statement {
        self.text.truncate(self.text.trim_end_matches([' ', ';']).len());
        self.pieces.push(self.text);
        let shape = Shape { pieces: self.pieces, holes: self.holes, literals: self.literals };
        Statement { shape, arguments: self.arguments }
    }
}

/// A shape as its own text, with `?` for each hole: for messages and names.
impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, piece) in self.pieces.iter().enumerate() {
            if place > 0 {
                f.write_char('?')?;
            }
            f.write_str(piece)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(sql: &str, syntax: Syntax) -> (String, Vec<Argument>) {
        let read = read(sql, syntax, &[]).unwrap();
        (read.shape.to_string(), read.arguments)
    }

    #[test]
    fn rows_have_an_order_if_the_statement_orders_them() {
        for (sql, expected) in [
            ("SELECT a FROM t ORDER BY a", true),
            ("SELECT a FROM (SELECT a FROM t) x order  by 1 LIMIT 5", true),
            ("SELECT a FROM (SELECT a FROM t ORDER BY a) x", false),
            ("SELECT 'order by' FROM t", false),
            ("SELECT row_number() OVER (ORDER BY a) FROM t", false),
        ] {
            assert_eq!(is_ordered(sql, Syntax::Postgres), expected, "{sql}");
        }
    }

    #[test]
    fn bodies_of_routines_are_not_split() {
        let quoted =
            "CREATE FUNCTION pg_temp.f() RETURNS int AS $f$ BEGIN; END; $f$ LANGUAGE plpgsql";
        let atomic =
            "create procedure p() begin atomic select case when a then 1 end; select 2; end";
        let texts =
            ["CREATE FUNCTION f() RETURNS text AS 'SELECT 1; SELECT 2'", "SELECT f() AS atomic"];
        let all = [quoted, atomic, texts[0], texts[1], "BEGIN", "SELECT 3"];
        assert_eq!(split(&all.join(";"), Syntax::Postgres), all);
    }

    fn texts(sql: &str, syntax: Syntax) -> (String, Vec<String>) {
        let (text, arguments) = shape(sql, syntax);
        let show = |argument: &Argument| argument.written().map_or("NULL".to_owned(), Into::into);
        (text, arguments.iter().map(show).collect())
    }

    #[test]
    fn literals_that_are_values_become_arguments() {
        for (syntax, sql, expected, values) in [
            (
                Syntax::Postgres,
                "UPDATE a SET b = b + -12  WHERE id=7",
                "UPDATE a SET b = b + ? WHERE id=?",
                &["-12", "7"] as &[&str],
            ),
            (Syntax::Postgres, "SELECT a - 1 FROM t", "SELECT a - ? FROM t", &["1"]),
            (Syntax::Postgres, "SELECT a -1.5e3", "SELECT a -?::numeric", &["1.5e3"]),
            (
                Syntax::Postgres,
                "select * from t where a = 'it''s' and b = E'a\\'b\\n' and c = $x$ $$ $x$",
                "select * from t where a = ? and b = ? and c = ?",
                &["it's", "a'b\n", " $$ "],
            ),
            (
                Syntax::Postgres,
                "SELECT interval '1 day', x::numeric(10,2), date '2026-01-01' -- note\n FROM t",
                "SELECT interval '1 day', x::numeric(10,2), date '2026-01-01' FROM t",
                &[],
            ),
            (
                Syntax::Postgres,
                "SELECT a, 5 FROM t1 GROUP BY 1, 2 HAVING count(*) > 3 ORDER BY 1 LIMIT 10",
                "SELECT a, ? FROM t1 GROUP BY 1, 2 HAVING count(*) > ? ORDER BY 1 LIMIT ?",
                &["5", "3", "10"],
            ),
            (
                Syntax::Postgres,
                "INSERT INTO t VALUES (1, 'a', NULL, $$b$$, B'1')",
                "INSERT INTO t VALUES (?, ?, NULL, ?, B'1')",
                &["1", "a", "b"],
            ),
            (
                Syntax::MySql,
                "SELECT `a 1` FROM t WHERE b = \"x\\\"y\" AND c = 'it\\'s' # end\n AND d IN (1,2)",
                "SELECT `a 1` FROM t WHERE b = ? AND c = ? AND d IN (?,?)",
                &["x\"y", "it's", "1", "2"],
            ),
            (
                Syntax::Oracle,
                "SELECT q'[it's]', a FROM t WHERE b = 0.5",
                "SELECT ?, a FROM t WHERE b = ?",
                &["it's", "0.5"],
            ),
        ] {
            let (text, found) = texts(sql, syntax);
            assert_eq!(
                (text.as_str(), found),
                (expected, values.iter().map(ToString::to_string).collect())
            );
        }
    }

    #[test]
    fn integers_and_decimals_are_different_statements_of_postgres() {
        for (sql, expected) in [
            ("select 1 from t where n >= 5", "select ? from t where n >= ?"),
            ("select 1 from t where n >= 5.5", "select ? from t where n >= ?::numeric"),
            ("select 1 from t where n >= -007", "select ? from t where n >= ?"),
            (
                "select 1e3from t where n=-.5::int",
                "select ?::numeric from t where n=?::numeric::int",
            ),
            ("select 9223372036854775808", "select ?::numeric"),
        ] {
            assert_eq!(texts(sql, Syntax::Postgres).0, expected, "{sql}");
        }
        assert_eq!(texts("select 5.5", Syntax::MySql).0, "select ?");
        // Constants are put back as they were.
        let sql = "select 5.5, -1e3, 5::numeric, 5.5::numeric, '5.5'::numeric from t";
        let read = read(sql, Syntax::Postgres, &[]).unwrap();
        assert_eq!(read.shape.text(|place| literal(&read.arguments[place]).unwrap()), sql);
    }

    #[test]
    fn two_minuses_are_a_comment_of_mysql_only_before_white_space() {
        for (sql, expected, values) in [
            ("delete from x where i=5--3", "delete from x where i=?- ?", &["5", "-3"] as &[&str]),
            ("update x set k=k--1 where a=b--c", "update x set k=k- ? where a=b- -c", &["-1"]),
            ("select 5-- 3\n+ 1 --\t2\n--", "select ? + ? ", &["5", "1"]),
            ("select - -1", "select - ?", &["-1"]),
        ] {
            let found = texts(sql, Syntax::MySql);
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            assert_eq!(found, (expected.trim_end().to_owned(), values), "{sql}");
        }
        assert_eq!(texts("select 5--3\n", Syntax::Postgres).0, "select ?");
        assert_eq!(split("select 5--3; select 1", Syntax::MySql).len(), 2);
        // Constants are put back.
        let read = read("delete from x where i=5--3", Syntax::MySql, &[]).unwrap();
        let text = read.shape.text(|argument| literal(&read.arguments[argument]).unwrap());
        assert_eq!(text, "delete from x where i=5- -3");
    }

    #[test]
    fn literals_whose_value_depends_on_their_place_stay() {
        for (syntax, sql, expected) in [
            (
                Syntax::MySql,
                "insert into x values (0xDEAD11, 0b11, x'41', b'1', N'a', _utf8mb4'a' 'b', 1e2)",
                "insert into x values (0xDEAD11, 0b11, x'41', b'1', N'a', _utf8mb4'a' 'b', ?)",
            ),
            (
                Syntax::MySql,
                "select 1.5e-3, -0x1F, 1e-2 from 2026_orders, 0b12, s.1e, `s`.7x where 1a = 2",
                "select ?, -0x1F, ? from 2026_orders, 0b12, s.1e, `s`.7x where 1a = ?",
            ),
            (
                Syntax::Postgres,
                "select 0x1F, 0o17, 0B1, 1_000, 1_0.5, 10, E'\\xe9', 0.5",
                "select 0x1F, 0o17, 0B1, 1_000, 1_0.5, ?, E'\\xe9', ?::numeric",
            ),
            (
                Syntax::Postgres,
                "select nextval('a_seq'), setval('b', 5), lower('x')",
                "select nextval('a_seq'), setval('b', ?), lower(?)",
            ),
            (
                Syntax::MySql,
                "select @'v', @@x, @`w` from t where a = @v + 1 and b = 'x'",
                "select @'v', @@x, @`w` from t where a = @v + ? and b = ?",
            ),
        ] {
            assert_eq!(shape(sql, syntax).0, expected, "{sql}");
        }
    }

    #[test]
    fn strings_and_comments_end_where_the_database_ends_them() {
        for (syntax, sql, expected, values) in [
            (
                Syntax::Postgres,
                "insert into y values (U&'\\0041', 'con'\n 'cat', U&'d!0061' UESCAPE '!', 'x')",
                "insert into y values (?, ?, ?, ?)",
                &["A", "concat", "da", "x"] as &[&str],
            ),
            (
                Syntax::Postgres,
                "insert into U&\"y\" values (4, 'a') /* x /* y */ z */",
                "insert into U&\"y\" values (?, ?)",
                &["4", "a"],
            ),
            (Syntax::MySql, "select 'a' \"b\", 'c' /* x /* y */", "select ?, ?", &["ab", "c"]),
            (
                Syntax::MySql,
                "insert /*!50000 ignore /* x */ */ into y values (2)",
                "insert /*!50000 ignore /* x */ */ into y values (?)",
                &["2"],
            ),
        ] {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            assert_eq!(texts(sql, syntax), (expected.to_owned(), values), "{sql}");
        }
    }

    #[test]
    fn settings_of_a_session_change_how_strings_are_read() {
        let values = |sql, rules: Rules| {
            let read = read(sql, rules, &[]).unwrap();
            (read.shape.to_string(), read.arguments)
        };
        let text = |text: &str| Argument::Text(text.to_owned());
        let ansi = Rules { syntax: Syntax::MySql, backslashes: false, quoted_names: true };
        let found = values("select \"a`\"\"b\" from t where c = 'a\\' and d = 'b'", ansi);
        let expected = "select `a``\"b` from t where c = ? and d = ?";
        assert_eq!(found, (expected.to_owned(), vec![text("a\\"), text("b")]));
        let old = Rules { backslashes: true, ..Syntax::Postgres.into() };
        assert_eq!(values("select 'a\\nb'", old).1, [text("a\nb")]);
    }

    #[test]
    fn a_bind_has_one_argument_wherever_it_is_used() {
        let binds = [Argument::Int(1), Argument::Text("x".into())];
        let found = read("SELECT $2, $1, $2 WHERE a = 5", Syntax::Postgres, &binds).unwrap();
        assert_eq!(found.shape.holes, [0, 1, 0, 2]);
        assert_eq!(found.shape.literals, [false, false, true]);
        assert_eq!(found.arguments[0], binds[1]);
        assert_eq!(read("SELECT $3", Syntax::Postgres, &binds), Err(Misread::Binds));
        let found = read("SELECT :B1, :B2, :B1", Syntax::Oracle, &binds).unwrap();
        assert_eq!(found.shape.holes, [0, 1, 0]);
        let text = found.shape.text(|argument| format!(":p{argument}"));
        assert_eq!(text, "SELECT :p0, :p1, :p0");
    }

    #[test]
    fn columns_are_found_before_their_values() {
        let found = read(
            "UPDATE t SET a = a + 1 WHERE t.\"id\" = 2 AND b LIKE 'x' AND (3) > 2",
            Syntax::Postgres,
            &[],
        );
        let shape = found.unwrap().shape;
        let columns: Vec<_> = (0..4).map(|hole| shape.column(hole)).collect();
        assert_eq!(columns, [Some("a"), Some("id"), Some("b"), None]);
    }

    #[test]
    fn what_cannot_be_read_has_a_reason() {
        for (sql, reason) in [
            ("SELECT 'x", Misread::Truncated),
            ("SELECT /* x", Misread::Truncated),
            ("SELECT $a$ x $b$", Misread::Truncated),
            ("SELECT a[lo:hi]", Misread::Colon),
            ("SELECT $1", Misread::Binds),
        ] {
            assert_eq!(read(sql, Syntax::Postgres, &[]), Err(reason), "{sql}");
        }
        assert!(read("SELECT a[1:2], 'é', $", Syntax::Postgres, &[]).is_ok());
    }

    #[test]
    fn several_statements_are_split_at_their_semicolons() {
        let parts = split("BEGIN; UPDATE t SET a = ';' ; -- ;\nEND;", Syntax::Postgres);
        assert_eq!(parts, ["BEGIN", "UPDATE t SET a = ';'", "-- ;\nEND"]);
    }
}

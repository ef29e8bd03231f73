//! The shape of a statement: its text without its values. Statements that differ only in literals and
//! arguments have the same shape.
//!
//! Literals that are part of the syntax stay: types (`numeric(10, 2)`, `interval '1 day'`), positions
//! in ORDER BY, aliases. Those that never vary in a log are put back ([`Shape::text`]), so that the
//! database sees what it can plan with, such as `LIMIT 10`.

use std::fmt::Write as _;

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
/// Words that end the list of an ORDER BY or GROUP BY.
const AFTER_LISTS: &[&str] =
    &["limit", "having", "offset", "for", "union", "rows", "range", "returning", "fetch", "window"];

impl Shape {
    /// The text, with `name(argument)` for each argument that has one, and the given values for the
    /// others.
    pub fn text(&self, value: impl Fn(usize) -> String) -> String {
        let mut text = String::new();
        for (piece, hole) in self.pieces.iter().zip(&self.holes) {
            text.push_str(piece);
            text.push_str(&value(*hole));
        }
        text.push_str(self.pieces.last().map_or("", String::as_str));
        text
    }

    /// The first word, in lower case.
    #[must_use]
    pub fn verb(&self) -> String {
        let text = self.pieces.first().map_or("", String::as_str);
        first_words(text).next().unwrap_or_default()
    }

    /// The identifier that the value of a hole is compared with or assigned to, if that is plain.
    #[must_use]
    pub fn column(&self, hole: usize) -> Option<&str> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let before = self.pieces.get(hole)?.trim_end();
        let before = before.trim_end_matches(['=', '<', '>', '+', '-', '*', '(', ' ', '!']);
        let before = before.strip_suffix_word(&["like", "in", "between"]).trim_end();
        let before = before.trim_end_matches(['"', '`']);
        let start = before.rfind(|c| !is_name(c)).map_or(0, |at| at + 1);
        let name = &before[start..];
        let is_word = BEFORE_VALUES.iter().any(|word| name.eq_ignore_ascii_case(word));
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        (begins && !is_word && name.len() <= 30).then_some(name)
    }
}

trait StripWord {
    fn strip_suffix_word(&self, words: &[&str]) -> &str;
}

impl StripWord for str {
    fn strip_suffix_word(&self, words: &[&str]) -> &str {
        for word in words {
            let Some(start) = self.len().checked_sub(word.len()) else { continue };
            let ends = self.is_char_boundary(start) && self[start..].eq_ignore_ascii_case(word);
            if ends && self[..start].ends_with(char::is_whitespace) {
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
        Argument::Text(text) if text.contains(['\\', ':', '\0', '\'']) => None,
        Argument::Text(text) => Some(format!("'{text}'")),
    }
}

/// The first words of SQL, in lower case, without comments before them.
pub fn first_words(sql: &str) -> impl Iterator<Item = String> {
    let mut rest = sql.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    loop {
        rest = match (rest.strip_prefix("/*"), rest.strip_prefix("--")) {
            (Some(comment), _) => comment.split_once("*/").map_or("", |(_, after)| after),
            (_, Some(comment)) => comment.split_once('\n').map_or("", |(_, after)| after),
            _ => break,
        }
        .trim_start();
    }
    let words = rest.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).take(8).map(str::to_ascii_lowercase)
}

/// Splits a text at the semicolons between its statements.
#[must_use]
pub fn split(sql: &str, syntax: Syntax) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut scanner = Scanner { text: sql, at: 0, syntax };
    let mut start = 0;
    while let Ok(Some(token)) = scanner.next() {
        if token.kind == Kind::Semicolon {
            parts.push(&sql[start..token.start]);
            start = token.end;
        }
    }
    parts.push(&sql[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Finds the shape of one statement and the values in it.
///
/// # Errors
/// When it cannot be replayed.
pub fn read(sql: &str, syntax: Syntax, binds: &[Argument]) -> Result<Statement, Misread> {
    let mut reading = Reading::new(binds);
    let mut scanner = Scanner { text: sql.trim(), at: 0, syntax };
    while let Some(token) = scanner.next()? {
        reading.token(&sql.trim()[token.start..token.end], token.kind)?;
    }
    Ok(reading.finish())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Space,
    Comment,
    Word,
    QuotedName,
    Number,
    Text(Quote),
    /// `$1`, `:name` or `?`.
    Bind,
    Semicolon,
    Symbol,
}

/// How a string is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    /// `'it''s'`
    Plain,
    /// With backslashes: `E'it\'s'`, or any of MySQL's.
    Escaped,
    /// `$tag$it's$tag$`
    Dollar,
    /// `q'[it's]'`
    Oracle,
    /// `B'101'`, `X'ff'`, `N'x'`, `_utf8'x'`: kept.
    Prefixed,
}

struct Token {
    start: usize,
    end: usize,
    kind: Kind,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    syntax: Syntax,
}

impl Scanner<'_> {
    fn next(&mut self) -> Result<Option<Token>, Misread> {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let (length, kind) = self.measure(rest, first)?;
        let start = self.at;
        self.at += length;
        Ok(Some(Token { start, end: self.at, kind }))
    }

    fn measure(&self, rest: &str, first: char) -> Result<(usize, Kind), Misread> {
        let run = |is: fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
        let until = |from: usize, end: &str| {
            rest[from..].find(end).map(|at| from + at + end.len()).ok_or(Misread::Truncated)
        };
        let mysql = self.syntax == Syntax::MySql;
        Ok(match first {
            c if c.is_whitespace() => (run(char::is_whitespace), Kind::Space),
            '-' if rest.starts_with("--") => (rest.find('\n').unwrap_or(rest.len()), Kind::Comment),
            '#' if mysql => (rest.find('\n').unwrap_or(rest.len()), Kind::Comment),
            '/' if rest.starts_with("/*") => (until(2, "*/")?, Kind::Comment),
            '\'' => {
                let quote = if mysql { Quote::Escaped } else { Quote::Plain };
                (quoted(rest, '\'', mysql)?, Kind::Text(quote))
            }
            '"' if mysql => (quoted(rest, '"', true)?, Kind::Text(Quote::Escaped)),
            '"' => (quoted(rest, '"', false)?, Kind::QuotedName),
            '`' => (quoted(rest, '`', false)?, Kind::QuotedName),
            '$' if self.syntax == Syntax::Postgres => dollar(rest)?,
            '?' if mysql => (1, Kind::Bind),
            ':' if self.syntax == Syntax::Oracle && rest[1..].starts_with(is_word) => {
                (1 + rest[1..].find(|c| !is_word(c)).unwrap_or(rest.len() - 1), Kind::Bind)
            }
            ':' if rest.starts_with("::") || rest.starts_with(":=") => (2, Kind::Symbol),
            ':' if rest[1..].starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                return Err(Misread::Colon);
            }
            ';' => (1, Kind::Semicolon),
            c if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(is_digit)) => {
                (number(rest), Kind::Number)
            }
            c if is_word(c) => self.word(rest)?,
            c => (c.len_utf8(), Kind::Symbol),
        })
    }

    /// A word, or a string with a prefix.
    fn word(&self, rest: &str) -> Result<(usize, Kind), Misread> {
        let length = rest.find(|c: char| !is_word(c) && c != '$').unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        if !after.starts_with('\'') {
            return Ok((length, Kind::Word));
        }
        let is = |prefix: &str| word.eq_ignore_ascii_case(prefix);
        match self.syntax {
            Syntax::Postgres if is("e") => {
                Ok((length + quoted(after, '\'', true)?, Kind::Text(Quote::Escaped)))
            }
            Syntax::Oracle if is("q") || is("nq") => {
                let open = after[1..].chars().next().ok_or(Misread::Truncated)?;
                let close = match open {
                    '[' => ']',
                    '(' => ')',
                    '{' => '}',
                    '<' => '>',
                    other => other,
                };
                let from = 1 + open.len_utf8();
                let end = after[from..].find(&format!("{close}'")).ok_or(Misread::Truncated)?;
                let end = from + end + close.len_utf8() + 1;
                Ok((length + end, Kind::Text(Quote::Oracle)))
            }
            _ if is("b") || is("x") || is("n") || word.starts_with('_') => {
                let escapes = self.syntax == Syntax::MySql;
                Ok((length + quoted(after, '\'', escapes)?, Kind::Text(Quote::Prefixed)))
            }
            _ => Ok((length, Kind::Word)),
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

const fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Length of a quotation with its quotes; a doubled quote does not end it.
fn quoted(rest: &str, quote: char, escapes: bool) -> Result<usize, Misread> {
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && escapes {
            chars.next();
        } else if c == quote {
            if chars.peek().is_some_and(|(_, next)| *next == quote) {
                chars.next();
            } else {
                return Ok(at + c.len_utf8());
            }
        }
    }
    Err(Misread::Truncated)
}

/// `$1`, `$tag$text$tag$`, or a lone dollar.
fn dollar(rest: &str) -> Result<(usize, Kind), Misread> {
    let digits = rest[1..].find(|c| !is_digit(c)).unwrap_or(rest.len() - 1);
    if digits > 0 {
        return Ok((1 + digits, Kind::Bind));
    }
    let tag = rest[1..].find(|c| !is_word(c)).unwrap_or(rest.len() - 1);
    if !rest[1 + tag..].starts_with('$') {
        return Ok((1, Kind::Symbol));
    }
    let tag = &rest[..tag + 2];
    let end = rest[tag.len()..].find(tag).ok_or(Misread::Truncated)?;
    Ok((end + 2 * tag.len(), Kind::Text(Quote::Dollar)))
}

/// Length of a number.
fn number(rest: &str) -> usize {
    if rest.starts_with("0x") || rest.starts_with("0X") {
        return 2 + rest[2..].find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len() - 2);
    }
    let end = rest.find(|c: char| !is_digit(c) && c != '.').unwrap_or(rest.len());
    let after = &rest[end..];
    let exponent = after.strip_prefix(['e', 'E']).map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
    match exponent {
        Some(digits) if digits.starts_with(is_digit) => {
            let sign = after.len() - digits.len();
            end + sign + digits.find(|c| !is_digit(c)).unwrap_or(digits.len())
        }
        _ => end,
    }
}

/// Builds the shape, token by token.
struct Reading<'a> {
    binds: &'a [Argument],
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
    last: Kind,
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
    const fn new(binds: &'a [Argument]) -> Self {
        Self {
            binds,
            pieces: Vec::new(),
            holes: Vec::new(),
            arguments: Vec::new(),
            literals: Vec::new(),
            named: Vec::new(),
            text: String::new(),
            word: None,
            last: Kind::Symbol,
            symbol: '(',
            minus: None,
            depth: 0,
            in_type: None,
            in_list: None,
        }
    }

    fn token(&mut self, text: &str, kind: Kind) -> Result<(), Misread> {
        match kind {
            Kind::Space | Kind::Comment => {
                // One space stands for any number, and for a comment; hints of optimisers stay.
                if text.starts_with("/*+") || text.starts_with("/*!") {
                    self.text.push_str(text);
                } else {
                    let is_start = self.text.is_empty() && self.holes.is_empty();
                    if !is_start && !self.text.ends_with(' ') {
                        self.text.push(' ');
                    }
                }
                return Ok(());
            }
            Kind::Bind => self.bind(text)?,
            Kind::Number if self.is_value() => {
                let minus = self.minus.take();
                if let Some(at) = minus {
                    self.text.truncate(at);
                }
                let sign = if minus.is_some() { "-" } else { "" };
                self.hole(match Argument::of_text(format!("{sign}{text}")) {
                    Argument::Text(digits) => Argument::Number(digits),
                    other => other,
                });
            }
            Kind::Text(quote) if quote != Quote::Prefixed && self.is_value() => {
                self.hole(Argument::Text(unquote(text, quote)));
            }
            Kind::Symbol => self.symbol(text),
            _ => self.text.push_str(text),
        }
        if kind != Kind::Symbol {
            self.minus = None;
        }
        self.word = (kind == Kind::Word).then(|| text.to_ascii_lowercase());
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
        let begins = symbol == '-' && self.begins_expression();
        self.minus = begins.then_some(self.text.len());
        self.text.push_str(text);
        self.symbol = symbol;
    }

    /// Whether an expression can begin here, so that a minus is a sign.
    fn begins_expression(&self) -> bool {
        match self.last {
            Kind::Symbol => self.symbol != ')' && self.symbol != ']',
            Kind::Word => {
                self.word.as_ref().is_some_and(|word| BEFORE_VALUES.contains(&word.as_str()))
            }
            _ => false,
        }
    }

    /// Whether a literal here is a value, rather than part of the syntax.
    fn is_value(&self) -> bool {
        let is_position = self.in_list == Some(self.depth)
            && (self.word.as_deref() == Some("by") || self.symbol == ',');
        !is_position && self.in_type.is_none() && self.begins_expression()
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

/// The value of a string literal.
fn unquote(text: &str, quote: Quote) -> String {
    match quote {
        Quote::Dollar => {
            let tag = text[1..].find('$').map_or(1, |at| at + 2);
            text[tag..text.len() - tag].to_owned()
        }
        Quote::Oracle => {
            let start = text.find('\'').map_or(0, |at| at + 2);
            text[start..text.len() - 2].to_owned()
        }
        Quote::Plain | Quote::Prefixed => text[1..text.len() - 1].replace("''", "'"),
        Quote::Escaped => {
            let start = text.find(['\'', '"']).unwrap_or_default();
            let mark = text[start..].chars().next().unwrap_or('\'');
            unescape(&text[start + 1..text.len() - 1], mark)
        }
    }
}

/// Resolves doubled quotes and the escapes that PostgreSQL and MySQL have in common.
fn unescape(text: &str, mark: char) -> String {
    let mut value = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == mark {
            chars.next();
            value.push(mark);
        } else if c == '\\' {
            match chars.next() {
                Some('n') => value.push('\n'),
                Some('r') => value.push('\r'),
                Some('t') => value.push('\t'),
                Some('b') => value.push('\u{8}'),
                Some('0') => value.push('\0'),
                Some('Z') => value.push('\u{1a}'),
                Some(other) => value.push(other),
                None => {}
            }
        } else {
            value.push(c);
        }
    }
    value
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

    fn texts(sql: &str, syntax: Syntax) -> (String, Vec<String>) {
        let (text, arguments) = shape(sql, syntax);
        let show = |argument: &Argument| match argument {
            Argument::Text(text) | Argument::Number(text) => text.clone(),
            Argument::Int(number) => number.to_string(),
            Argument::Null => "NULL".to_owned(),
        };
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
            (Syntax::Postgres, "SELECT a -1.5e3", "SELECT a -?", &["1.5e3"]),
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

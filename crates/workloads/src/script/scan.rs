//! Finds the end of an SQL command, and the variables in it: skips comments, quotations, parentheses
//! and the bodies of routines, which may contain semicolons.

use super::names::{Names, begins_name, continues_name};
use super::sql::{Part, PartBuilder, Place};
use super::{SyntaxError, syntax};

/// What ended a piece of SQL.
#[derive(PartialEq)]
pub enum PieceEnd {
    /// A semicolon.
    Semicolon,
    /// The backslash of a command.
    Command,
    /// The end of the text.
    Script,
}

/// How comments and quotations are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lexis {
    /// As in PostgreSQL, and for most statements everywhere.
    #[default]
    Common,
    /// As in MySQL: `--` begins a comment only before white space, `#` begins one too, comments do not
    /// nest, backslashes escape in quotations, and backquotes enclose names.
    MySql,
}

/// Parses one SQL statement that is not part of a script; a semicolon may end it.
///
/// # Errors
/// With the offset, and when there is none or a second one.
pub(crate) fn single(text: &str, lexis: Lexis, names: &mut Names) -> Result<Part, (usize, String)> {
    let mut scan = Scan { lexis, ..Scan::new(text, 0) };
    let ended = scan.run(names).map_err(|SyntaxError { at, message }| (at, message))?;
    let mut rest = Scan { lexis, ..Scan::new(text, scan.at) };
    if ended == PieceEnd::Command {
        return Err((scan.at, "a backslash outside of a quotation".to_owned()));
    }
    rest.run(names).map_err(|SyntaxError { at, message }| (at, message))?;
    let second = "a second statement begins here: give each its own entry";
    match (rest.first, scan.parts.len()) {
        (Some(at), _) => Err((at, second.to_owned())),
        (None, 0) => Err((0, "the statement is empty".to_owned())),
        (None, 1) => Ok(scan.parts.remove(0)),
        (None, _) => Err((0, second.to_owned())),
    }
}

/// Scans one SQL command.
#[derive(Default)]
pub struct Scan<'a> {
    text: &'a str,
    lexis: Lexis,
    /// Offset up to which the text has been scanned.
    pub at: usize,
    /// Beginning of the text that has not been added to the part yet.
    plain: usize,
    /// Beginning of the command, after blanks and comments.
    pub first: Option<usize>,
    /// Whether the part has more than blanks and comments.
    has_substance: bool,
    part: PartBuilder,
    /// The statements of the command.
    pub parts: Vec<Part>,
    parentheses: usize,
    /// The first words, to recognise routines, whose bodies contain semicolons.
    words: Vec<String>,
    is_routine: bool,
    /// Depth of BEGIN and CASE in the body of a routine.
    bodies: usize,
}

impl<'a> Scan<'a> {
    /// Begins at an offset of a text.
    pub fn new(text: &'a str, at: usize) -> Self {
        Self { text, at, plain: at, ..Self::default() }
    }

    /// Scans up to the end of the command.
    ///
    /// # Errors
    /// When a comment or a quotation has no end.
    pub fn run(&mut self, names: &mut Names) -> Result<PieceEnd, SyntaxError> {
        while let Some(c) = self.text[self.at..].chars().next() {
            let rest = &self.text[self.at..];
            match c {
                ';' if self.parentheses == 0 && self.bodies == 0 => {
                    self.flush(names);
                    self.at += 1;
                    self.end_part();
                    return Ok(PieceEnd::Semicolon);
                }
                '\\' if rest.starts_with("\\;") => {
                    self.flush(names);
                    self.end_part();
                    self.skip(2);
                }
                '\\' if rest.starts_with("\\:") => {
                    self.flush(names);
                    self.part.push(":");
                    self.skip(2);
                }
                '\\' => {
                    self.flush(names);
                    self.end_part();
                    return Ok(PieceEnd::Command);
                }
                '-' | '#' if self.lexis.begins_line_comment(rest) => {
                    self.flush(names);
                    self.skip(rest.find('\n').unwrap_or(rest.len()));
                }
                '/' if rest.starts_with("/*") => {
                    let is_executed = self.lexis.is_executed(rest);
                    let length = comment(rest, self.lexis == Lexis::Common || is_executed)
                        .ok_or_else(|| syntax(self.at, "the comment has no end"))?;
                    if is_executed {
                        self.substance();
                    }
                    self.quoted(length, Place::Comment, names);
                }
                '\'' | '"' | '`' if c != '`' || self.lexis == Lexis::MySql => {
                    let length = quotation(rest, c, self.escapes(c))
                        .ok_or_else(|| syntax(self.at, format!("the quotation {c} has no end")))?;
                    self.substance();
                    self.quoted(length, Place::Quotation, names);
                }
                '$' => match dollar(rest, self.text[..self.at].chars().next_back()) {
                    Some(None) => {
                        return Err(syntax(self.at, "the dollar quotation has no end"));
                    }
                    Some(Some(length)) => {
                        self.substance();
                        self.quoted(length, Place::Quotation, names);
                    }
                    None => self.at += 1,
                },
                '(' => self.step(1, 1),
                ')' => self.step(1, -1),
                _ if begins_name(c) => self.word(rest),
                _ => {
                    if !c.is_whitespace() {
                        self.substance();
                    }
                    self.at += c.len_utf8();
                }
            }
        }
        self.flush(names);
        self.end_part();
        Ok(PieceEnd::Script)
    }

    /// Records that the statement has begun.
    fn substance(&mut self) {
        self.first.get_or_insert(self.at);
        self.has_substance = true;
    }

    fn step(&mut self, length: usize, parentheses: isize) {
        self.substance();
        self.parentheses = self.parentheses.saturating_add_signed(parentheses);
        self.at += length;
    }

    /// Adds the plain text up to here.
    fn flush(&mut self, names: &mut Names) {
        self.part.scan(&self.text[self.plain..self.at], Place::Value, names);
        self.plain = self.at;
    }

    /// Leaves text out.
    fn skip(&mut self, length: usize) {
        self.at += length;
        self.plain = self.at;
    }

    fn quoted(&mut self, length: usize, place: Place, names: &mut Names) {
        self.flush(names);
        self.at += length;
        self.part.scan(&self.text[self.plain..self.at], place, names);
        self.plain = self.at;
    }

    fn end_part(&mut self) {
        let part = self.part.finish();
        self.parts.extend(part.filter(|_| std::mem::take(&mut self.has_substance)));
        self.plain = self.at;
        self.words.clear();
        (self.parentheses, self.bodies, self.is_routine) = (0, 0, false);
    }

    /// Whether backslashes escape in a quotation here: in an `E'…'`, and in MySQL's.
    fn escapes(&self, quote: char) -> bool {
        if self.lexis == Lexis::MySql {
            return quote != '`';
        }
        let before = self.text[..self.at].strip_suffix(['e', 'E']);
        quote == '\'' && before.is_some_and(|before| !before.ends_with(continues_name))
    }

    /// Scans a word; one after a colon is a variable.
    fn word(&mut self, rest: &str) {
        self.substance();
        let length = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
        let is_variable = self.text[..self.at].ends_with(':');
        self.at += length;
        if is_variable || length > 16 {
            return;
        }
        let is = |word: &str| rest[..length].eq_ignore_ascii_case(word);
        if self.words.len() < 4 {
            self.words.push(rest[..length].to_ascii_lowercase());
            let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
            self.is_routine = matches!(
                words[..],
                ["create", "function" | "procedure", ..]
                    | ["create", "or", "replace", "function" | "procedure"]
            );
        }
        if !self.is_routine || self.parentheses > 0 {
            return;
        }
        if is("begin") || self.bodies > 0 && is("case") {
            self.bodies += 1;
        } else if is("end") {
            self.bodies = self.bodies.saturating_sub(1);
        }
    }
}

impl Lexis {
    /// Whether a comment up to the end of the line begins here.
    fn begins_line_comment(self, rest: &str) -> bool {
        match (self, rest.strip_prefix("--")) {
            (Self::Common, dashes) => dashes.is_some(),
            (Self::MySql, Some(after)) => {
                let ends = |c: char| c.is_ascii_whitespace() || c.is_ascii_control();
                after.is_empty() || after.starts_with(ends)
            }
            (Self::MySql, None) => rest.starts_with('#'),
        }
    }

    /// Whether MySQL executes the comment here.
    fn is_executed(self, rest: &str) -> bool {
        self == Self::MySql && (rest.starts_with("/*!") || rest.starts_with("/*M!"))
    }

    /// Whether a text may be read otherwise than in the common way.
    pub(crate) fn may_differ(text: &str) -> bool {
        text.contains(['#', '\\', '`']) || text.contains("--") || text.contains("/*")
    }
}

/// Length of a comment, which may contain others if they nest; `None` without its end.
fn comment(text: &str, nests: bool) -> Option<usize> {
    let (mut depth, mut at) = (0usize, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at..] {
            [b'/', b'*', ..] if nests || depth == 0 => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => {
                (depth, at) = (depth - 1, at + 2);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}

/// Length of a quotation; a doubled quote is read as two quotations.
fn quotation(text: &str, quote: char, escapes: bool) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes => at += 2,
            byte if char::from(byte) == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// Length of a dollar quotation, `Some(None)` without its end; `None` if the dollar begins none.
fn dollar(text: &str, before: Option<char>) -> Option<Option<usize>> {
    if before.is_some_and(continues_name) {
        return None;
    }
    let end = 1 + text[1..].find(|c| !continues_name(c))?;
    let tag = &text[..=end];
    let is_tag = tag.ends_with('$') && !tag[1..].starts_with(|c: char| c.is_ascii_digit());
    if !text[end..].starts_with('$') || !is_tag {
        return None;
    }
    Some(text[tag.len()..].find(tag).map(|close| close + 2 * tag.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, lexis: Lexis) -> Result<(String, usize), String> {
        let mut names = Names::default();
        let part = single(text, lexis, &mut names).map_err(|(_, message)| message)?;
        let count = part.variables().count();
        Ok((part.title(&names), count))
    }

    #[test]
    fn mysql_has_comments_and_quotations_of_its_own() {
        let of = |text: &str, count| Ok((text.to_owned(), count));
        for (text, common, mysql) in [
            (
                "delete from t where i = 5--:x",
                of("delete from t where i = 5", 0),
                of("delete from t where i = 5--:x", 1),
            ),
            ("select 1 -- :x\n+ :y --", of("select 1 + :y", 1), of("select 1 + :y", 1)),
            ("select :y # it's", Err("the quotation ' has no end".into()), of("select :y", 1)),
            (
                r"select 'it\'s', :y",
                Err("the quotation ' has no end".into()),
                of(r"select 'it\'s', :y", 1),
            ),
            (
                "select `it's` from t",
                Err("the quotation ' has no end".into()),
                of("select `it's` from t", 0),
            ),
            ("select 1 /* /* */", Err("the comment has no end".into()), of("select 1 /* /* */", 0)),
            (
                "/*!50000 select 1 */",
                Err("the statement is empty".into()),
                of("/*!50000 select 1 */", 0),
            ),
        ] {
            assert_eq!(read(text, Lexis::Common), common, "{text}");
            assert_eq!(read(text, Lexis::MySql), mysql, "{text}");
        }
    }
}

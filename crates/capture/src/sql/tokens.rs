//! The tokens of a statement: words, literals, comments.

use super::{Misread, Rules, Syntax};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Space,
    Comment,
    Word,
    QuotedName,
    Number,
    /// A literal whose value depends on where it is used, as MySQL's `0x41`, or that older versions
    /// read otherwise, as PostgreSQL's `1_000`: it stays in the statement.
    Kept,
    Text(Quote),
    /// `$1`, `:name` or `?`.
    Bind,
    Semicolon,
    Symbol,
}

/// How a string is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// `'it''s'`
    Plain,
    /// With backslashes: `E'it\'s'`, or any of MySQL's.
    Escaped,
    /// `U&'\0041'`, and `UESCAPE '!'` after it.
    Unicode,
    /// `$tag$it's$tag$`
    Dollar,
    /// `q'[it's]'`
    Oracle,
    /// `B'101'`, `X'ff'`, `N'x'`, `_utf8'x'`: kept.
    Prefixed,
}

/// A token, by its place in the text.
pub struct Token {
    pub start: usize,
    pub end: usize,
    pub kind: TokenKind,
}

/// Reads tokens.
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
    rules: Rules,
}

/// A token with its text.
pub struct Spelled<'a> {
    pub start: usize,
    pub kind: TokenKind,
    pub text: &'a str,
}

impl Spelled<'_> {
    /// Whether it is this word or symbol.
    pub const fn is(&self, text: &str) -> bool {
        self.text.eq_ignore_ascii_case(text)
    }

    /// Whether nothing is between this token and one after it.
    pub const fn adjoins(&self, after: &Self) -> bool {
        self.start + self.text.len() == after.start
    }
}

/// The tokens of a text that are neither space nor comments, up to the first that cannot be read.
pub fn tokens(text: &str, rules: Rules) -> Vec<Spelled<'_>> {
    let mut scanner = Scanner::new(text, rules);
    let mut found = Vec::new();
    while let Ok(Some(Token { start, end, kind })) = scanner.next() {
        if !matches!(kind, TokenKind::Space | TokenKind::Comment) {
            found.push(Spelled { start, kind, text: &text[start..end] });
        }
    }
    found
}

impl<'a> Scanner<'a> {
    pub const fn new(text: &'a str, rules: Rules) -> Self {
        Self { text, at: 0, rules }
    }

    pub fn next(&mut self) -> Result<Option<Token>, Misread> {
        let rest = &self.text[self.at..];
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let (mut length, kind) = self.measure(rest, first)?;
        if let TokenKind::Text(quote) = kind {
            length = self.continued(rest, length, quote)?;
        }
        let start = self.at;
        self.at += length;
        Ok(Some(Token { start, end: self.at, kind }))
    }

    fn measure(&self, rest: &str, first: char) -> Result<(usize, TokenKind), Misread> {
        let Rules { syntax, backslashes, quoted_names } = self.rules;
        let plain = if backslashes { Quote::Escaped } else { Quote::Plain };
        let mysql = syntax == Syntax::MySql;
        if let Some(length) = comment(rest, syntax) {
            return Ok((length?, TokenKind::Comment));
        }
        Ok(match first {
            c if c.is_whitespace() => {
                (rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len()), TokenKind::Space)
            }
            '\'' => (quoted(rest, '\'', backslashes)?, TokenKind::Text(plain)),
            '"' if quoted_names => (quoted(rest, '"', false)?, TokenKind::QuotedName),
            '"' => (quoted(rest, '"', backslashes)?, TokenKind::Text(plain)),
            '`' => (quoted(rest, '`', false)?, TokenKind::QuotedName),
            '$' if syntax == Syntax::Postgres => dollar(rest)?,
            '?' if mysql => (1, TokenKind::Bind),
            ':' if syntax == Syntax::Oracle && rest[1..].starts_with(is_word) => {
                (1 + rest[1..].find(|c| !is_word(c)).unwrap_or(rest.len() - 1), TokenKind::Bind)
            }
            ':' if rest.starts_with("::") || rest.starts_with(":=") => (2, TokenKind::Symbol),
            ':' if rest[1..].starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                return Err(Misread::Colon);
            }
            ';' => (1, TokenKind::Semicolon),
            '.' if rest[1..].starts_with(is_digit) && !(mysql && self.is_after_name()) => {
                number(rest, syntax)
            }
            c if c.is_ascii_digit() => number(rest, syntax),
            c if is_word(c) => self.word(rest)?,
            c => (c.len_utf8(), TokenKind::Symbol),
        })
    }

    /// Whether a name ends here, so that a dot does not begin a number: in MySQL a name may begin
    /// with a digit.
    fn is_after_name(&self) -> bool {
        self.text[..self.at].ends_with(|c| is_word(c) || c == '`' || c == '"')
    }

    /// A word, or a string with a prefix.
    fn word(&self, rest: &str) -> Result<(usize, TokenKind), Misread> {
        let length = rest.find(|c: char| !is_word(c) && c != '$').unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let is = |prefix: &str| word.eq_ignore_ascii_case(prefix);
        if self.rules.syntax == Syntax::Postgres && is("u") {
            if after.starts_with("&'") {
                let end = quoted(&after[1..], '\'', false)?;
                return Ok((length + 1 + end, TokenKind::Text(Quote::Unicode)));
            } else if after.starts_with("&\"") {
                return Ok((length + 1 + quoted(&after[1..], '"', false)?, TokenKind::QuotedName));
            }
        }
        if !after.starts_with('\'') {
            return Ok((length, TokenKind::Word));
        }
        match self.rules.syntax {
            Syntax::Postgres if is("e") => {
                Ok((length + quoted(after, '\'', true)?, TokenKind::Text(Quote::Escaped)))
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
                Ok((length + end, TokenKind::Text(Quote::Oracle)))
            }
            _ if is("b") || is("x") || is("n") || word.starts_with('_') => {
                let end = quoted(after, '\'', self.rules.backslashes)?;
                Ok((length + end, TokenKind::Text(Quote::Prefixed)))
            }
            _ => Ok((length, TokenKind::Word)),
        }
    }

    /// Length of a string with the strings after it that the database joins to it.
    fn continued(&self, rest: &str, mut length: usize, quote: Quote) -> Result<usize, Misread> {
        let escapes = quote == Quote::Escaped || quote == Quote::Prefixed && self.rules.backslashes;
        if matches!(quote, Quote::Dollar | Quote::Oracle) {
            return Ok(length);
        }
        while let Some((gap, mark)) = next_part(&rest[length..], self.rules) {
            length += gap + quoted(&rest[length + gap..], mark, escapes)?;
        }
        Ok(length + if quote == Quote::Unicode { uescape(&rest[length..]) } else { 0 })
    }
}

/// Where a string continues after one that ended: the length of what is between, and the quote. MySQL
/// joins all strings that follow each other, PostgreSQL those on later lines.
pub fn next_part(rest: &str, rules: Rules) -> Option<(usize, char)> {
    let mysql = rules.syntax == Syntax::MySql;
    if rules.syntax == Syntax::Oracle {
        return None;
    }
    let mut gap = 0;
    loop {
        let rest = &rest[gap..];
        let blank = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
        let between = rest[blank..].starts_with("--") || mysql;
        let comment = comment(&rest[blank..], rules.syntax).filter(|_| between);
        let comment = comment.transpose().ok()?.unwrap_or(0);
        gap += blank + comment;
        if comment == 0 {
            break;
        }
    }
    let mark = rest[gap..].chars().next()?;
    let is_mark = mark == '\'' || mark == '"' && !rules.quoted_names;
    let is_joined = mysql || rest[..gap].contains(['\n', '\r']);
    (is_mark && is_joined).then_some((gap, mark))
}

/// Length of `UESCAPE '!'` after a string; 0 without it.
fn uescape(rest: &str) -> usize {
    const WORD: &str = "uescape";
    let word = rest.trim_start();
    if !word.get(..WORD.len()).is_some_and(|found| found.eq_ignore_ascii_case(WORD)) {
        return 0;
    }
    let mark = word[WORD.len()..].trim_start();
    match quoted(mark, '\'', false) {
        Ok(length) if mark.starts_with('\'') => rest.len() - mark.len() + length,
        _ => 0,
    }
}

/// Length of the comment at the beginning of a text, if there is one.
pub fn comment(rest: &str, syntax: Syntax) -> Option<Result<usize, Misread>> {
    let mysql = syntax == Syntax::MySql;
    let is_line = match rest.strip_prefix("--") {
        // In MySQL `5--3` is 8 (manual, chapter "Comments").
        Some(after) if mysql => {
            let ends = |c: char| c.is_ascii_whitespace() || c.is_ascii_control();
            after.is_empty() || after.starts_with(ends)
        }
        Some(_) => true,
        None => mysql && rest.starts_with('#'),
    };
    if is_line {
        return Some(Ok(rest.find('\n').unwrap_or(rest.len())));
    }
    rest.starts_with("/*").then(|| block(rest, syntax).ok_or(Misread::Truncated))
}

/// Length of a comment in `/*` and `*/`: PostgreSQL's may have others in them, and so may those that
/// MySQL executes.
fn block(rest: &str, syntax: Syntax) -> Option<usize> {
    let nests = syntax == Syntax::Postgres || executable(rest, syntax).is_some();
    let (mut depth, mut at) = (1_usize, 2);
    while depth > 0 {
        let end = at + rest[at..].find("*/")?;
        match rest[at..end].find("/*").filter(|_| nests) {
            Some(open) => (depth, at) = (depth + 1, at + open + 2),
            None => (depth, at) = (depth - 1, end + 2),
        }
    }
    Some(at)
}

/// The version that no server has, for comments that are not to be executed.
const NO_VERSION: &str = "999999";

/// What MySQL and MariaDB execute of `/*!50000 SELECT 1 */` and `/*M! SELECT 1 */`: what is after the
/// version.
pub fn executable(rest: &str, syntax: Syntax) -> Option<&str> {
    let comment = rest.strip_prefix("/*!").or_else(|| rest.strip_prefix("/*M!"))?;
    let sql = comment.trim_start_matches(is_digit);
    (syntax == Syntax::MySql && !comment.starts_with(NO_VERSION)).then_some(sql)
}

pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

const fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Length of a quotation with its quotes; a doubled quote does not end it.
pub fn quoted(rest: &str, quote: char, escapes: bool) -> Result<usize, Misread> {
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
fn dollar(rest: &str) -> Result<(usize, TokenKind), Misread> {
    let digits = rest[1..].find(|c| !is_digit(c)).unwrap_or(rest.len() - 1);
    if digits > 0 {
        return Ok((1 + digits, TokenKind::Bind));
    }
    let tag = rest[1..].find(|c| !is_word(c)).unwrap_or(rest.len() - 1);
    if !rest[1 + tag..].starts_with('$') {
        return Ok((1, TokenKind::Symbol));
    }
    let tag = &rest[..tag + 2];
    let end = rest[tag.len()..].find(tag).ok_or(Misread::Truncated)?;
    Ok((end + 2 * tag.len(), TokenKind::Text(Quote::Dollar)))
}

/// A number, or what begins like one.
fn number(rest: &str, syntax: Syntax) -> (usize, TokenKind) {
    let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let special = match syntax {
        Syntax::MySql => mysql_word(&rest[..word], &rest[word..]),
        Syntax::Postgres => postgres_literal(&rest[..word]),
        Syntax::Oracle => None,
    };
    match special {
        // What is after a point, too.
        Some(TokenKind::Kept) if syntax == Syntax::Postgres => {
            let is_part = |c: char| is_word(c) || c == '.';
            (rest.find(|c| !is_part(c)).unwrap_or(rest.len()), TokenKind::Kept)
        }
        Some(kind) => (word, kind),
        None => (decimal(rest), TokenKind::Number),
    }
}

/// What begins with a digit in MySQL and is no decimal number: `0x41`, `0b11`, and names such as
/// `2026_orders`.
fn mysql_word(word: &str, after: &str) -> Option<TokenKind> {
    let are = |digits: &str, is: fn(char) -> bool| !digits.is_empty() && digits.chars().all(is);
    let is_hexadecimal = |digits: &str| are(digits, |c| c.is_ascii_hexdigit());
    let is_binary = |digits: &str| are(digits, |c| c == '0' || c == '1');
    if word.strip_prefix("0x").is_some_and(is_hexadecimal)
        || word.strip_prefix("0b").is_some_and(is_binary)
    {
        return Some(TokenKind::Kept);
    }
    let is_decimal = match word.trim_start_matches(is_digit).strip_prefix(['e', 'E']) {
        None => word.chars().all(is_digit),
        Some("") => {
            let exponent = after.strip_prefix(['+', '-']);
            exponent.is_some_and(|digits| digits.starts_with(is_digit))
        }
        Some(digits) => are(digits, is_digit),
    };
    (!is_decimal).then_some(TokenKind::Word)
}

/// Integers of PostgreSQL 16 and later: `0x1F`, `0o17`, `0b11`, `1_000`.
fn postgres_literal(word: &str) -> Option<TokenKind> {
    let is_radix = word.starts_with('0') && word[1..].starts_with(['x', 'X', 'o', 'O', 'b', 'B']);
    let is_grouped = word.contains('_') && word.chars().all(|c| is_digit(c) || c == '_');
    (is_radix || is_grouped).then_some(TokenKind::Kept)
}

/// Length of a decimal number.
fn decimal(rest: &str) -> usize {
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

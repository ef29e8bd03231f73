//! The words of an expression, with their places.

use std::fmt;
use std::ops::Range;

use super::names::continues_name;
use super::{SyntaxError, continuation, syntax};

/// A word of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token<'a> {
    /// An integer constant.
    Integer(i64),
    /// 2^63, which is only valid after a minus.
    AboveInteger,
    /// A double constant.
    Double(f64),
    /// `:name`, without the colon.
    Variable(&'a str),
    /// A keyword or the name of a function.
    Word(&'a str),
    /// An operator or a parenthesis.
    Symbol(&'static str),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "`{value}`"),
            Self::AboveInteger => write!(f, "`9223372036854775808`"),
            Self::Double(value) => write!(f, "`{value}`"),
            Self::Variable(name) => write!(f, "`:{name}`"),
            Self::Word(word) => write!(f, "`{word}`"),
            Self::Symbol(symbol) => write!(f, "`{symbol}`"),
        }
    }
}

/// The longest first.
const SYMBOLS: [&str; 20] = [
    "<=", ">=", "<>", "!=", "<<", ">>", "<", ">", "=", "+", "-", "*", "/", "%", "&", "|", "#", "~",
    "(", ")",
];

/// The words of a range of a text, one at a time.
pub struct Tokens<'a> {
    words: std::vec::IntoIter<(Token<'a>, usize)>,
    end: usize,
}

impl<'a> Tokens<'a> {
    /// Splits the range into words.
    ///
    /// # Errors
    /// When a character or a number is invalid.
    pub fn new(text: &'a str, range: Range<usize>) -> Result<Self, SyntaxError> {
        let mut words = Vec::new();
        let (mut at, end) = (range.start, range.end);
        while let Some(c) = text[at..end].chars().next() {
            let rest = &text[at..end];
            if let Some(length) = continuation(rest) {
                at += length;
                continue;
            }
            if c.is_ascii_whitespace() || c == '\x0B' {
                at += 1;
                continue;
            }
            let (token, length) = word(rest).map_err(|message| syntax(at, message))?;
            words.push((token, at));
            at += length;
        }
        Ok(Self { words: words.into_iter(), end })
    }

    /// The next word, which stays.
    pub fn peek(&self) -> Option<Token<'a>> {
        self.words.as_slice().first().map(|(token, _)| *token)
    }

    /// Takes the next word.
    pub fn take(&mut self) -> Option<Token<'a>> {
        self.words.next().map(|(token, _)| token)
    }

    /// Place of the next word, or of the end.
    pub fn at(&self) -> usize {
        self.words.as_slice().first().map_or(self.end, |(_, at)| *at)
    }

    /// Takes the next word if it is this keyword.
    pub fn take_word(&mut self, keyword: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Word(word))
            if word.eq_ignore_ascii_case(keyword));
        if is_next {
            self.take();
        }
        is_next
    }
}

/// The word at the beginning of `rest`, and its length.
fn word(rest: &str) -> Result<(Token<'_>, usize), String> {
    let first = rest.chars().next().unwrap_or_default();
    let is_fraction = first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit());
    if first.is_ascii_digit() || is_fraction {
        return number(rest);
    }
    let name = |from: usize| {
        let length = rest[from..].find(|c| !continues_name(c)).unwrap_or(rest.len() - from);
        &rest[from..from + length]
    };
    if first == ':' && !name(1).is_empty() {
        return Ok((Token::Variable(name(1)), 1 + name(1).len()));
    }
    if continues_name(first) {
        return Ok((Token::Word(name(0)), name(0).len()));
    }
    if first == ',' {
        return Ok((Token::Symbol(","), 1));
    }
    match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        Some(symbol) => Ok((Token::Symbol(symbol), symbol.len())),
        None => Err(format!("unexpected character {first:?}")),
    }
}

fn number(rest: &str) -> Result<(Token<'_>, usize), String> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut length = digits(0);
    let mut is_double = false;
    if bytes.get(length) == Some(&b'.') {
        is_double = true;
        length += 1;
        length += digits(length);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits((length + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            is_double = true;
            length += 1 + sign + exponent;
        }
    }
    let text = &rest[..length];
    if is_double {
        let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
        let fits = value.is_finite();
        return if fits {
            Ok((Token::Double(value), length))
        } else {
            Err("double constant overflow".into())
        };
    }
    match text.parse() {
        Ok(value) => Ok((Token::Integer(value), length)),
        Err(_) if text.trim_start_matches('0') == "9223372036854775808" => {
            Ok((Token::AboveInteger, length))
        }
        Err(_) => Err("bigint constant overflow".into()),
    }
}

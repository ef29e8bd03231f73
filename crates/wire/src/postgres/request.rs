//! What a client asks for: its messages, as far as they matter for the recording.

use std::sync::Arc;

use triphammer_capture::Argument;
use triphammer_capture::answer::makes_values;
use triphammer_drivers::postgres::messages::Body;

use super::answer::{Column, Form};
use super::values;
use crate::frames::{Frame, Nonsense};

/// Most parameters of a statement, and columns of a result.
const LIST_MAX: usize = 65_535;

/// A statement that is prepared.
#[derive(Clone, Debug, Default)]
pub struct PreparedStatement {
    /// Its text; `None` if that is not UTF-8.
    pub sql: Option<Box<str>>,
    /// The types of its parameters, as far as client or server have said them; 0 for one that is unknown.
    pub oids: Box<[u32]>,
    /// Whether its rows are values that the server makes.
    pub makes: bool,
    /// The columns of its result, if the client asked for them.
    pub columns: Option<Arc<[Column]>>,
}

impl PreparedStatement {
    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.sql.as_ref().map_or(0, |sql| sql.len()) + self.oids.len() * 4
    }
}

/// A statement with its arguments.
#[derive(Debug)]
pub struct Portal {
    /// The statement, if it is known.
    pub statement: Option<Arc<PreparedStatement>>,
    /// Its arguments; `None` if one has a binary format that is unknown.
    pub arguments: Option<Vec<Argument>>,
    /// The formats of its columns: for each, or one for all, or none for text.
    formats: Box<[i16]>,
    /// Its columns, if the client asked for them.
    pub columns: Option<Arc<[Column]>>,
    /// Whether it has run, at least in part.
    pub is_begun: bool,
}

impl Portal {
    /// Reads the body of a Bind; `None` if it is malformed.
    pub fn new(statement: Option<Arc<PreparedStatement>>, body: &[u8]) -> Option<Self> {
        let mut body = Body(body);
        body.text()?;
        body.text()?;
        let formats = list(&mut body)?;
        let count = body.int16()?.cast_unsigned();
        let mut arguments = Some(Vec::new());
        for place in 0..usize::from(count) {
            let value = match usize::try_from(body.int32()?) {
                Ok(length) => Some(body.take(length)?),
                Err(_) => None,
            };
            let oids = statement.as_ref().map_or(&[] as &[u32], |statement| &statement.oids);
            let oid = oids.get(place).copied().unwrap_or_default();
            let read = argument(value, format_of(&formats, place), oid);
            arguments = arguments.zip(read).map(|(mut all, read)| {
                all.push(read);
                all
            });
        }
        let formats = list(&mut body)?.into();
        Some(Self { statement, arguments, formats, columns: None, is_begun: false })
    }

    /// Whether its rows are in text.
    pub fn is_text(&self) -> bool {
        self.formats.iter().all(|format| *format == 0)
    }

    /// How its rows are read.
    pub fn form(&self) -> Form {
        if self.is_text() {
            return Form::Text;
        }
        // A description of the portal has the formats, one of the statement does not.
        let of_statement = || self.statement.as_ref()?.columns.as_ref();
        match (&self.columns, of_statement()) {
            (Some(columns), _) => Form::Columns(Arc::clone(columns)),
            (None, Some(columns)) => {
                let with_format = |(place, column): (usize, &Column)| Column {
                    format: format_of(&self.formats, place),
                    ..*column
                };
                Form::Columns(columns.iter().enumerate().map(with_format).collect())
            }
            (None, None) => Form::Unknown,
        }
    }
}

/// Reads a list of formats.
fn list(body: &mut Body<'_>) -> Option<Vec<i16>> {
    let count = usize::from(body.int16()?.cast_unsigned()).min(LIST_MAX);
    (0..count).map(|_| body.int16()).collect()
}

fn format_of(formats: &[i16], place: usize) -> i16 {
    match formats {
        [] => 0,
        [all] => *all,
        each => each.get(place).copied().unwrap_or_default(),
    }
}

fn argument(value: Option<&[u8]>, format: i16, oid: u32) -> Option<Argument> {
    let Some(value) = value else { return Some(Argument::Null) };
    match format {
        // What is not UTF-8 is counted as such later, by its replacement character.
        0 => Some(Argument::of_text(String::from_utf8_lossy(value).into_owned())),
        _ => values::argument(oid, value),
    }
}

/// A message of a client that the server answers.
#[derive(Debug)]
pub enum Request {
    /// A simple query: its text, unless it is not UTF-8, and when it came.
    Query {
        /// The text.
        sql: Option<String>,
        /// When it came.
        at_us: i64,
    },
    /// Parse.
    Parse {
        /// Name of the statement.
        name: Box<[u8]>,
        /// The statement.
        statement: PreparedStatement,
    },
    /// Bind.
    Bind {
        /// Name of the portal.
        portal: Box<[u8]>,
        /// Name of its statement.
        statement: Box<[u8]>,
        /// The message's body.
        body: Box<[u8]>,
    },
    /// Describe, of a statement.
    DescribeStatement(Box<[u8]>),
    /// Describe, of a portal.
    DescribePortal(Box<[u8]>),
    /// Execute.
    Execute {
        /// Name of the portal.
        portal: Box<[u8]>,
        /// When it came.
        at_us: i64,
    },
    /// Close.
    Close {
        /// Whether it closes a statement rather than a portal.
        is_statement: bool,
        /// The name.
        name: Box<[u8]>,
    },
    /// Sync.
    Sync,
    /// A call of a function by its number.
    Function,
    /// The end of the client's data of COPY, which has no answer of its own.
    CopyEnd,
}

impl Request {
    /// Reads a message; `None` for one that has no answer.
    ///
    /// # Errors
    /// When it is malformed or too long.
    pub fn read(frame: &Frame<'_>, at_us: i64) -> Result<Option<Self>, Nonsense> {
        // Long data of COPY passes unread.
        if frame.head[0] == b'd' {
            return Ok(None);
        }
        let mut body = Body(frame.body.ok_or(Nonsense)?);
        let whole = body.0;
        let mut name = || body.text().map(Box::from).ok_or(Nonsense);
        Ok(Some(match frame.head[0] {
            b'Q' => {
                let text = whole.strip_suffix(b"\0").ok_or(Nonsense)?;
                Self::Query { sql: str::from_utf8(text).ok().map(str::to_owned), at_us }
            }
            b'P' => {
                let name = name()?;
                Self::Parse { name, statement: parse(&mut body).ok_or(Nonsense)? }
            }
            b'B' => Self::Bind { portal: name()?, statement: name()?, body: whole.into() },
            b'D' | b'C' => {
                let [kind] = body.fixed().ok_or(Nonsense)?;
                let name = body.text().map(Box::from).ok_or(Nonsense)?;
                match (frame.head[0], kind) {
                    (b'D', b'S') => Self::DescribeStatement(name),
                    (b'D', _) => Self::DescribePortal(name),
                    (_, kind) => Self::Close { is_statement: kind == b'S', name },
                }
            }
            b'E' => Self::Execute { portal: name()?, at_us },
            b'S' => Self::Sync,
            b'F' => Self::Function,
            b'c' | b'f' => Self::CopyEnd,
            // Flush, Terminate, and what is new.
            _ => return Ok(None),
        }))
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Query { sql, .. } => sql.as_ref().map_or(0, String::len),
                Self::Parse { statement, .. } => statement.bytes(),
                Self::Bind { body, .. } => body.len(),
                _ => 0,
            }
    }
}

/// Reads what follows the name in a Parse.
fn parse(body: &mut Body<'_>) -> Option<PreparedStatement> {
    let sql = str::from_utf8(body.text()?).ok().map(Box::from);
    let count = body.int16()?.cast_unsigned();
    let oids = (0..count).map(|_| body.int32().map(i32::cast_unsigned)).collect::<Option<_>>()?;
    let makes = sql.as_deref().is_some_and(makes_values);
    Some(PreparedStatement { sql, oids, makes, columns: None })
}

//! The answer to a statement while it arrives: rows are counted and hashed, and values that the server made are kept.

use std::sync::Arc;

use triphammer_capture::Argument;
use triphammer_capture::answer::{
    Answer, MADE_BYTES_MAX, MADE_MAX, RowHasher, RowHashes, ServerAnswer,
};
use triphammer_drivers::postgres::messages::{Body, touched};

use super::values;

/// A column of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The number of its type.
    pub oid: u32,
    /// Its format: 0 is text. In the description of a statement, it is not known yet.
    pub format: i16,
}

/// Reads the columns of a RowDescription; `None` if it is malformed.
pub fn columns(body: &[u8]) -> Option<Vec<Column>> {
    let mut body = Body(body);
    let count = body.int16()?.cast_unsigned();
    let column = |_| {
        body.text()?;
        // Table and number of the column; then its type, with length and modifier.
        body.take(6)?;
        let oid = body.int32()?.cast_unsigned();
        body.take(6)?;
        Some(Column { oid, format: body.int16()? })
    };
    (0..count).map(column).collect()
}

/// How the rows that arrive are read.
#[derive(Clone, Debug, Default)]
pub enum Form {
    /// All in text.
    #[default]
    Text,
    /// Each column in its format.
    Columns(Arc<[Column]>),
    /// In a binary format whose types are unknown.
    Unknown,
}

/// An answer that arrives.
#[derive(Debug, Default)]
pub struct PendingAnswer {
    /// How its rows are read.
    pub form: Form,
    /// Whether its rows are kept, because the server made their values.
    pub makes: bool,
    /// Whether the client asked for a part of the rows only.
    pub is_partial: bool,
    /// Whether there is a result with rows, even without any.
    has_rows: bool,
    rows: u64,
    hashes: RowHashes,
    is_unread: bool,
    made: Vec<Vec<Argument>>,
    kept: usize,
    /// End of the answer before it in the same message.
    since_us: i64,
    text: String,
}

impl PendingAnswer {
    /// Whether rows of this answer have arrived.
    pub const fn has_rows(&self) -> bool {
        self.rows > 0
    }

    /// The columns of the next result of a simple query.
    pub fn describe(&mut self, columns: Arc<[Column]>) {
        self.has_rows = true;
        let is_text = columns.iter().all(|column| column.format == 0);
        self.form = if is_text { Form::Text } else { Form::Columns(columns) };
    }

    /// Takes a row; one without a body was too long to be read.
    pub fn row(&mut self, body: Option<&[u8]>) {
        self.has_rows = true;
        self.rows += 1;
        if self.is_unread && !self.makes {
            return;
        }
        if body.and_then(|body| self.read(body)).is_none() {
            self.is_unread = true;
        }
    }

    fn read(&mut self, body: &[u8]) -> Option<()> {
        let mut body = Body(body);
        let count = usize::from(body.int16()?.cast_unsigned());
        let mut hasher = RowHasher::default();
        let mut made = Vec::new();
        let keeps = self.makes && self.kept < MADE_MAX;
        let mut is_read = true;
        for place in 0..count {
            let field = match usize::try_from(body.int32()?) {
                Ok(length) => Some(body.take(length)?),
                Err(_) => None,
            };
            let column = match &self.form {
                Form::Text => None,
                Form::Columns(columns) => columns.get(place).filter(|column| column.format != 0),
                Form::Unknown => return None,
            };
            let text = match (field, column) {
                (Some(raw), Some(column)) => {
                    self.text.clear();
                    let field = values::field(column.oid, raw, &mut self.text);
                    // Others of the row may be values that the server made.
                    is_read &= field.is_some();
                    field.map(|()| self.text.as_bytes())
                }
                (field, _) => field,
            };
            hasher.field(text);
            if keeps {
                made.push(argument(text));
            }
        }
        self.hashes.add(hasher.finish());
        if keeps {
            self.kept += made.len();
            self.made.push(made);
        }
        is_read.then_some(())
    }

    /// Ends the answer with the server's tag, such as `INSERT 0 5`, and begins the next one.
    pub fn finish(&mut self, tag: &[u8], started_us: i64, at_us: i64) -> ServerAnswer {
        let from = started_us.max(self.since_us);
        let copied = tag.starts_with(b"COPY ").then(|| touched(tag));
        let changes = [&b"INSERT"[..], b"UPDATE", b"DELETE", b"MERGE"];
        let changed = changes.iter().any(|word| tag.starts_with(word)).then(|| touched(tag));
        let has_rows = self.has_rows || tag.starts_with(b"SELECT");
        let answer = Answer {
            rows: copied.or(has_rows.then_some(self.rows)).filter(|_| !self.is_partial),
            changed,
            error: None,
            hash: None,
            made: std::mem::take(&mut self.made),
            took_us: at_us.saturating_sub(from).max(0).unsigned_abs(),
        };
        let is_hashed = has_rows && !self.is_unread && !self.is_partial;
        let hashes = is_hashed.then_some(self.hashes);
        self.restart(at_us);
        ServerAnswer { answer, hashes }
    }

    /// Begins the next answer.
    pub fn restart(&mut self, at_us: i64) {
        (self.has_rows, self.is_partial, self.is_unread) = (false, false, false);
        (self.rows, self.kept, self.hashes) = (0, 0, RowHashes::default());
        self.made.clear();
        self.since_us = at_us;
    }
}

/// A value that the server made; one that is too long to be an id is not kept.
fn argument(text: Option<&[u8]>) -> Argument {
    match text.filter(|text| text.len() <= MADE_BYTES_MAX).map(str::from_utf8) {
        Some(Ok(text)) => Argument::of_text(text.to_owned()),
        _ => Argument::Null,
    }
}

//! The answer to a command while it arrives: results with their rows, one after the other.

use triphammer_capture::Argument;
use triphammer_capture::answer::{
    Answer, MADE_BYTES_MAX, MADE_MAX, RowHasher, RowHashes, ServerAnswer,
};
use triphammer_drivers::mysql::messages::{ColumnKind, Reader, binary, canonical};

/// Status flags of a server.
const AUTOCOMMIT: u16 = 0x0002;
const MORE_RESULTS: u16 = 0x0008;
const CURSOR_EXISTS: u16 = 0x0040;
/// Most columns of a result.
const COLUMNS_MAX: u64 = 65_535;

/// What a server says at the end of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status(u16);

impl Status {
    /// Whether each statement is a transaction.
    pub const fn has_autocommit(self) -> bool {
        self.0 & AUTOCOMMIT != 0
    }

    const fn has_more(self) -> bool {
        self.0 & MORE_RESULTS != 0
    }
}

/// The end of a result.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResultEnd {
    changed: u64,
    last_id: u64,
    /// The server's status.
    pub status: Status,
}

impl ResultEnd {
    /// Reads the body of an OK packet; `None` if it is malformed.
    pub fn read(body: &[u8], counts_found: bool) -> Option<Self> {
        let mut rest = Reader(body.get(1..)?);
        let changed = rest.number().ok()?;
        let last_id = rest.number().ok()?;
        let status = Status(u16::from_le_bytes(rest.fixed().ok()?));
        let found = if counts_found { None } else { found_in(rest.0) };
        Some(Self { changed: found.unwrap_or(changed), last_id, status })
    }

    /// Reads the body of an EOF packet.
    fn read_eof(body: &[u8]) -> Option<Self> {
        let status = body.get(3..5)?.first_chunk::<2>()?;
        Some(Self { status: Status(u16::from_le_bytes(*status)), ..Self::default() })
    }
}

/// The number of rows that an UPDATE found, if its message is in English: a replay counts these.
fn found_in(message: &[u8]) -> Option<u64> {
    const FOUND: &[u8] = b"Rows matched: ";
    let place = message.windows(FOUND.len()).position(|window| window == FOUND)?;
    let digits = message[place + FOUND.len()..].split(|byte| !byte.is_ascii_digit()).next()?;
    str::from_utf8(digits).ok()?.parse().ok()
}

/// What is expected next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Next {
    /// The beginning of a result.
    #[default]
    Result,
    /// So many definitions of columns.
    Columns(u64),
    /// The end of the definitions.
    ColumnsEnd,
    /// Rows, or their end.
    Rows,
}

/// What a packet of an answer was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// More of the answer follows.
    More,
    /// The server asks for a file of the client.
    File,
    /// The answer is complete; the server's status, unless it was an error.
    Done(Option<Status>),
}

/// An answer that arrives.
#[derive(Debug, Default)]
pub struct PendingAnswer {
    /// Whether rows are in the binary format.
    is_binary: bool,
    /// Whether the rows are values that the server made.
    makes: bool,
    /// Whether the client has said that found rows count as changed.
    counts_found: bool,
    /// Whether definitions of columns have no end of their own.
    pub without_eof: bool,
    next: Next,
    kinds: Vec<ColumnKind>,
    rows: u64,
    is_unread: bool,
    hashes: RowHashes,
    made: Vec<Vec<Argument>>,
    kept: usize,
    since_us: i64,
    /// The answers that are complete.
    pub answers: Vec<ServerAnswer>,
    text: Vec<u8>,
    other: Vec<u8>,
}

impl PendingAnswer {
    /// For a session in which found rows count as changed, or not, and definitions of columns have an end of their own,
    /// or not.
    pub fn new(counts_found: bool, without_eof: bool) -> Self {
        Self { counts_found, without_eof, ..Self::default() }
    }

    /// Begins with a command.
    pub fn begin(&mut self, started_us: i64, is_binary: bool, makes: bool) {
        (self.is_binary, self.makes) = (is_binary, makes);
        self.next = Next::Result;
        self.answers.clear();
        self.restart(started_us);
    }

    fn restart(&mut self, at_us: i64) {
        self.kinds.clear();
        (self.rows, self.is_unread, self.kept) = (0, false, 0);
        self.hashes = RowHashes::default();
        self.made.clear();
        self.since_us = at_us;
    }

    /// Takes a packet; one without a body was too long to be read. `None` if it is malformed.
    pub fn packet(&mut self, body: Option<&[u8]>, at_us: i64) -> Option<Step> {
        let first = body.and_then(<[u8]>::first).copied();
        if first == Some(0xff) && self.next != Next::ColumnsEnd {
            return self.failed(body?, at_us);
        }
        match self.next {
            Next::Result => match first? {
                0x00 => self.end(ResultEnd::read(body?, self.counts_found)?, false, at_us),
                0xfb => Some(Step::File),
                _ => {
                    let count = Reader(body?).number().ok()?;
                    self.next = Next::Columns(count);
                    (1..=COLUMNS_MAX).contains(&count).then_some(Step::More)
                }
            },
            Next::Columns(left) => {
                self.kinds.push(ColumnKind::read(body?).ok()?);
                self.next = match left {
                    1 if self.without_eof => Next::Rows,
                    1 => Next::ColumnsEnd,
                    left => Next::Columns(left - 1),
                };
                Some(Step::More)
            }
            Next::ColumnsEnd => {
                let end = ResultEnd::read_eof(body?)?;
                self.next = Next::Rows;
                match end.status.0 & CURSOR_EXISTS {
                    0 => Some(Step::More),
                    _ => {
                        self.is_unread = true;
                        self.end(end, true, at_us)
                    }
                }
            }
            Next::Rows => match body {
                Some(body) if first == Some(0xfe) && (self.without_eof || body.len() < 9) => {
                    let end = match self.without_eof {
                        true => ResultEnd::read(body, self.counts_found)?,
                        false => ResultEnd::read_eof(body)?,
                    };
                    self.is_unread |= end.status.0 & CURSOR_EXISTS != 0;
                    self.end(end, true, at_us)
                }
                body => {
                    self.rows += 1;
                    if body.and_then(|body| self.row(body)).is_none() {
                        self.is_unread = true;
                    }
                    Some(Step::More)
                }
            },
        }
    }

    /// Reads a row.
    fn row(&mut self, body: &[u8]) -> Option<()> {
        let mut hasher = RowHasher::default();
        let mut made = Vec::new();
        let keeps = self.makes && self.kept < MADE_MAX;
        let mut rest = Reader(body);
        let nulls = match self.is_binary {
            true => {
                rest.byte().ok()?;
                rest.take((self.kinds.len() + 9) / 8).ok()?
            }
            false => &[],
        };
        for (column, kind) in self.kinds.iter().enumerate() {
            // The first two bits are reserved.
            let bit = column + 2;
            let is_null = match nulls.get(bit / 8) {
                Some(byte) => byte & (1 << (bit % 8)) != 0,
                None => rest.0.first() == Some(&0xfb) && rest.byte().is_ok(),
            };
            if is_null {
                hasher.field(None);
                made.extend(keeps.then_some(Argument::Null));
                continue;
            }
            self.text.clear();
            match self.is_binary {
                true => binary(*kind, &mut rest, &mut self.text)?,
                false => self.text.extend_from_slice(rest.bytes().ok()?),
            }
            let text = canonical(*kind, &self.text, &mut self.other);
            hasher.field(Some(text));
            made.extend(keeps.then(|| argument(text)));
        }
        self.hashes.add(hasher.finish());
        if keeps {
            self.kept += made.len();
            self.made.push(made);
        }
        Some(())
    }

    fn end(&mut self, end: ResultEnd, has_rows: bool, at_us: i64) -> Option<Step> {
        let mut made = std::mem::take(&mut self.made);
        if !has_rows && end.last_id > 0 {
            made.push(vec![argument(end.last_id.to_string().as_bytes())]);
        }
        let is_read = has_rows && !self.is_unread;
        let answer = Answer {
            // Rows of a cursor come with later commands.
            rows: (has_rows && end.status.0 & CURSOR_EXISTS == 0).then_some(self.rows),
            changed: (!has_rows).then_some(end.changed),
            made,
            took_us: at_us.saturating_sub(self.since_us).max(0).unsigned_abs(),
            ..Answer::default()
        };
        let hashes = is_read.then_some(self.hashes);
        self.answers.push(ServerAnswer { answer, hashes });
        self.restart(at_us);
        self.next = Next::Result;
        Some(if end.status.has_more() { Step::More } else { Step::Done(Some(end.status)) })
    }

    fn failed(&mut self, body: &[u8], at_us: i64) -> Option<Step> {
        let code = u16::from_le_bytes(*body.get(1..3)?.first_chunk()?);
        let took_us = at_us.saturating_sub(self.since_us).max(0).unsigned_abs();
        let answer = Answer { error: Some(code.to_string()), took_us, ..Answer::default() };
        self.answers.push(ServerAnswer { answer, hashes: None });
        self.restart(at_us);
        self.next = Next::Result;
        Some(Step::Done(None))
    }
}

/// A value that the server made; one that is too long to be an id is not kept.
fn argument(text: &[u8]) -> Argument {
    match str::from_utf8(text) {
        Ok(text) if text.len() <= MADE_BYTES_MAX => Argument::of_text(text.to_owned()),
        _ => Argument::Null,
    }
}

//! Messages that the library cannot encode or decode in place.

use std::io;

use bytes::{BufMut, BytesMut};
use postgres_protocol::message::{backend, frontend};
use postgres_types::Type;
use triphammer_core::{DbError, ErrorClass};

use super::{Connection, Frame};
use crate::postgres::codec::{ColumnKind, Misfit};

/// Why a message was not written.
pub enum Unwritable {
    /// An argument does not fit its parameter.
    Argument(Misfit),
    /// A text cannot be part of a message, or a message is too long.
    Message(io::Error),
}

impl From<Misfit> for Unwritable {
    fn from(misfit: Misfit) -> Self {
        Self::Argument(misfit)
    }
}

impl From<io::Error> for Unwritable {
    fn from(error: io::Error) -> Self {
        Self::Message(error)
    }
}

impl Unwritable {
    /// Converts to the error that a call returns.
    #[cold]
    pub fn into_error(self) -> DbError {
        match self {
            Self::Argument(misfit) => misfit.into_error(),
            Self::Message(error) => super::unwritable(error),
        }
    }
}

#[cold]
fn too_long(what: &str) -> Unwritable {
    Unwritable::Message(io::Error::new(io::ErrorKind::InvalidInput, format!("{what} is too long")))
}

/// Binds nothing to the unnamed portal, and runs that.
const BIND_AND_EXECUTE: &[u8] = b"B\0\0\0\x0c\0\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0";

/// Writes a statement of transaction control, without a request for its answer. The next messages
/// up to a synchronisation are skipped by the server if it fails.
pub fn control(out: &mut BytesMut, sql: &str) -> Result<(), Unwritable> {
    frontend::parse("", sql, [], out)?;
    out.extend_from_slice(BIND_AND_EXECUTE);
    Ok(())
}

/// What is sent in text format, all of it or none; the rest is binary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texts {
    /// The arguments.
    pub arguments: bool,
    /// The fields of the result.
    pub results: bool,
}

/// The beginning of the messages that bind arguments of a statement to the unnamed portal: it is the
/// same for each run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindHead {
    bytes: Box<[u8]>,
    /// Number of arguments.
    count: usize,
}

impl BindHead {
    /// Writes it for a statement of this name, and this many arguments in text or binary format.
    ///
    /// # Errors
    /// When there are too many arguments.
    pub fn new(name: &str, count: usize, are_texts: bool) -> Result<Self, Unwritable> {
        let number = u16::try_from(count).map_err(|_| too_long("the list of arguments"))?;
        // The end of the name, and one format for all arguments.
        let format: &[u8] = if are_texts { b"\0\0\x01\0\0" } else { b"\0\0\x01\0\x01" };
        let parts = [b"B\0\0\0\0\0", name.as_bytes(), format, &number.to_be_bytes()];
        Ok(Self { bytes: parts.concat().into(), count })
    }
}

/// Binds arguments to the unnamed portal; the fields of the result are in text format if `results`,
/// else in binary.
#[inline]
pub fn bind(
    out: &mut BytesMut,
    head: &BindHead,
    results: bool,
    mut put: impl FnMut(usize, &mut BytesMut) -> Result<bool, Misfit>,
) -> Result<(), Unwritable> {
    let start = out.len();
    out.extend_from_slice(&head.bytes);
    for index in 0..head.count {
        let length_at = out.len();
        out.put_i32(-1);
        if put(index, out)? {
            let length = out.len() - length_at - 4;
            let length = i32::try_from(length).map_err(|_| too_long("an argument"))?;
            out[length_at..length_at + 4].copy_from_slice(&length.to_be_bytes());
        }
    }
    out.put_u32(if results { 0x0001_0000 } else { 0x0001_0001 });
    let length = i32::try_from(out.len() - start - 1).map_err(|_| too_long("the message"))?;
    out[start + 1..start + 5].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// A cursor over the body of a message; methods return `None` if the message ends too soon.
pub struct Body<'a>(pub &'a [u8]);

impl<'a> Body<'a> {
    /// Takes the next `count` bytes.
    #[inline]
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Takes as many bytes as the result has.
    #[inline]
    pub fn fixed<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    /// Takes four bytes as an integer.
    #[inline]
    pub fn int32(&mut self) -> Option<i32> {
        self.fixed().map(i32::from_be_bytes)
    }

    /// Takes two bytes as an integer.
    #[inline]
    pub fn int16(&mut self) -> Option<i16> {
        self.fixed().map(i16::from_be_bytes)
    }

    /// Takes text up to a zero byte.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(text)
    }
}

/// Iterates over the fields of a row. Each is `None` for NULL; a truncated row ends the iteration
/// early.
pub struct Fields<'a> {
    body: Body<'a>,
    left: u16,
}

impl<'a> Fields<'a> {
    /// Reads the header of a row's body; `None` if it is missing.
    #[inline]
    pub fn new(body: &'a [u8]) -> Option<Self> {
        let mut body = Body(body);
        let left = body.int16()?.cast_unsigned();
        Some(Self { body, left })
    }

    /// Number of remaining fields.
    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.left)
    }

    /// The next field, `Some(None)` being NULL; `None` if there is none.
    #[inline]
    pub fn next(&mut self) -> Option<Option<&'a [u8]>> {
        self.left = self.left.checked_sub(1)?;
        let length = self.body.int32()?;
        match usize::try_from(length) {
            Ok(length) => self.body.take(length).map(Some),
            Err(_) => Some(None),
        }
    }
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// How its fields are read.
    pub kind: ColumnKind,
    oid: u32,
    name: Box<str>,
    /// The number of its table, and its number there; 0 for one that is computed.
    pub source: (u32, i16),
}

impl Column {
    /// Name of the column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server's name for its type, or the number of one that is not built in.
    pub fn type_name(&self) -> String {
        match Type::from_oid(self.oid) {
            Some(known) => known.name().to_owned(),
            None => format!("number {}", self.oid),
        }
    }
}

/// The columns of a RowDescription; `None` if it is truncated. Domains are reported as their base
/// type.
pub fn columns(body: &[u8]) -> Option<Box<[Column]>> {
    let mut body = Body(body);
    let count = body.int16()?.cast_unsigned();
    let column = |_| {
        let name = String::from_utf8_lossy(body.text()?).into();
        let source = (body.int32()?.cast_unsigned(), body.int16()?);
        let oid = body.int32()?.cast_unsigned();
        // Size, modifier and format.
        body.take(8)?;
        let kind = Type::from_oid(oid).map_or(ColumnKind::Unknown, |known| ColumnKind::of(&known));
        Some(Column { kind, oid, name, source })
    };
    (0..count).map(column).collect()
}

/// The number of rows in a CommandComplete: the last word of `INSERT 0 5`, 0 for `BEGIN`.
#[inline]
pub fn touched(body: &[u8]) -> u64 {
    let text = body.strip_suffix(b"\0").unwrap_or(body);
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let number = &text[text.len() - digits..];
    number
        .iter()
        .fold(0, |sum: u64, digit| sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0')))
}

/// An error reported by the server.
#[derive(Debug, Default)]
pub struct ServerError {
    /// Whether the error ends the session.
    pub is_fatal: bool,
    /// SQLSTATE of the error.
    pub code: String,
    /// The server's main message.
    pub message: String,
    /// The server's detailed message.
    pub detail: Option<String>,
    /// The server's hint about what to do.
    pub hint: Option<String>,
    /// Call stack of the functions in which it happened.
    pub position: Option<String>,
    /// Function of the server's source that reported it, in every language.
    pub routine: String,
    /// The file of the server's source in which it was reported.
    pub source: Option<String>,
}

impl ServerError {
    /// Reads an ErrorResponse; `None` if it is truncated.
    #[cold]
    pub fn read(body: &[u8]) -> Option<Self> {
        let mut body = Body(body);
        let mut error = Self::default();
        loop {
            let [field] = body.fixed()?;
            if field == 0 {
                return Some(error);
            }
            let text = String::from_utf8_lossy(body.text()?).into_owned();
            match field {
                // Not localised, unlike S.
                b'V' => error.is_fatal = matches!(text.as_str(), "FATAL" | "PANIC"),
                b'C' => error.code = text,
                b'M' => error.message = text,
                b'D' => error.detail = Some(text),
                b'H' => error.hint = Some(text),
                b'W' => error.position = Some(text),
                b'R' => error.routine = text,
                b'F' => error.source = Some(text),
                _ => {}
            }
        }
    }
}

impl Connection {
    /// Reads an answer to its end; `each` receives every message before that.
    ///
    /// # Errors
    /// As [`Connection::next`], and as `each`: once the answer has ended, or at once if the error
    /// loses the session.
    pub async fn answer(
        &mut self,
        mut each: impl FnMut(Frame<'_>) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        let mut problem = None;
        loop {
            let Some(frame) = self.taken()? else {
                self.more().await?;
                continue;
            };
            match frame.tag {
                backend::READY_FOR_QUERY_TAG => return problem.map_or(Ok(()), Err),
                backend::COPY_IN_RESPONSE_TAG => {
                    let message = "COPY FROM STDIN cannot be used in a script";
                    return Err(DbError::new(ErrorClass::Unsupported, message));
                }
                _ if problem.is_none() => match each(frame) {
                    Err(error) if error.class().loses_session() => return Err(self.given_up(error)),
                    result => problem = result.err(),
                },
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_the_last_word_of_a_tag() {
        for (tag, count) in
            [(&b"INSERT 0 5\0"[..], 5), (b"SELECT 123", 123), (b"BEGIN\0", 0), (b"", 0)]
        {
            assert_eq!(touched(tag), count, "{tag:?}");
        }
    }

    #[test]
    fn messages_cut_short_are_told_from_whole_ones() {
        let error = b"SFATAL\0VFATAL\0C57P01\0Mending\0Dmore\0\0";
        let read = ServerError::read(error).unwrap();
        assert!(read.is_fatal);
        assert_eq!((read.code.as_str(), read.detail.as_deref()), ("57P01", Some("more")));
        let described = b"\0\x01a\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\x01";
        let found = columns(described).unwrap();
        assert_eq!((found[0].name(), found[0].type_name().as_str()), ("a", "int4"));
        for cut in 0..error.len() {
            assert!(ServerError::read(&error[..cut]).is_none(), "{cut}");
        }
        for cut in 0..described.len() {
            assert!(columns(&described[..cut]).is_none(), "{cut}");
        }
    }

    #[test]
    fn fields_end_where_the_row_ends() {
        let row = b"\0\x03\0\0\0\x02ab\xff\xff\xff\xff\0\0\0\x09c";
        let mut fields = Fields::new(row).unwrap();
        assert_eq!(fields.next(), Some(Some(&b"ab"[..])));
        assert_eq!(fields.next(), Some(None));
        assert_eq!(fields.next(), None);
        assert!(Fields::new(b"\0").is_none());
    }
}

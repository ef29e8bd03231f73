//! Columns of a result: a buffer for each, which holds the value of the current row.

use crate::api::{
    Api, BIGINT, BINARY, BIT, C_CHAR, C_DATE, C_DOUBLE, C_SBIGINT, C_TIMESTAMP, CHAR, DOUBLE,
    FLOAT, Handle, INTEGER, LONGVARBINARY, NO_DATA, NULL_DATA, REAL, Return, SMALLINT, TINYINT,
    TYPE_DATE, TYPE_TIMESTAMP, VARBINARY, worked,
};
use crate::parameters::Moment;

/// Room for a text that has no length, or a longer one, in bytes.
const TEXT_BYTES: usize = 1024;
/// Bytes of a long text that are read at once.
const PIECE_BYTES: usize = 16 * 1024;
/// Longest text that is read, in bytes.
const LONGEST: usize = 64 * 1024 * 1024;

/// How a column is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// An integer of any width.
    Int,
    /// Floating point.
    Float,
    /// Text, and everything that is read as text.
    Text,
    /// Calendar date.
    Date,
    /// Date and time.
    Timestamp,
    /// Bytes, which are not read.
    Binary,
}

impl FieldKind {
    pub(crate) const fn of(sql_type: i16) -> Self {
        match sql_type {
            BIT | TINYINT | SMALLINT | INTEGER | BIGINT => Self::Int,
            REAL | FLOAT | DOUBLE => Self::Float,
            TYPE_DATE => Self::Date,
            TYPE_TIMESTAMP => Self::Timestamp,
            BINARY | VARBINARY | LONGVARBINARY => Self::Binary,
            _ => Self::Text,
        }
    }

    const fn c_type(self) -> i16 {
        match self {
            Self::Int => C_SBIGINT,
            Self::Float => C_DOUBLE,
            Self::Text | Self::Binary => C_CHAR,
            Self::Date => C_DATE,
            Self::Timestamp => C_TIMESTAMP,
        }
    }
}

/// A value of the current row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Field<'a> {
    /// SQL NULL.
    Null,
    /// An integer.
    Int(i64),
    /// Floating point.
    Float(f64),
    /// Text, in UTF-8 if the driver keeps to the locale.
    Text(&'a [u8]),
    /// Date.
    Date(Moment),
    /// Date and time.
    Timestamp(Moment),
    /// Bytes, which are not read.
    Binary,
}

/// One column.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: FieldKind,
    /// In words, because values must be aligned.
    words: Vec<u64>,
    /// Where the driver puts the value's length; boxed, because its place must not change.
    length: Box<isize>,
    /// A text that does not fit the buffer.
    long: Option<Vec<u8>>,
}

impl Column {
    pub(crate) fn new(name: String, sql_type: i16, size: usize, as_text: bool) -> Self {
        let kind = match FieldKind::of(sql_type) {
            FieldKind::Binary => FieldKind::Binary,
            _ if as_text => FieldKind::Text,
            kind => kind,
        };
        let bytes = match kind {
            FieldKind::Int | FieldKind::Float | FieldKind::Date => 8,
            FieldKind::Timestamp => 16,
            // A character has at most four bytes in UTF-8; numbers have a sign and a point.
            FieldKind::Text if sql_type == CHAR || size > 0 => {
                size.saturating_mul(4).saturating_add(4).clamp(64, TEXT_BYTES)
            }
            FieldKind::Text | FieldKind::Binary => TEXT_BYTES,
        };
        let words = vec![0; bytes.div_ceil(8)];
        Self { name, kind, words, length: Box::new(NULL_DATA), long: None }
    }

    fn room(&self) -> isize {
        isize::try_from(self.words.len() * 8).expect("a buffer is smaller than memory")
    }

    /// Binds the buffer to a column, from 1.
    ///
    /// # Safety
    /// The statement must be alive, and must not fetch after the buffer was dropped.
    pub(crate) unsafe fn bind(&mut self, api: &Api, statement: Handle, place: u16) -> Return {
        let (room, buffer) = (self.room(), self.words.as_mut_ptr().cast());
        let length = &raw mut *self.length;
        // SAFETY: the statement is alive; the buffer has that length and keeps its place.
        unsafe { (api.bind_col)(statement, place, self.kind.c_type(), buffer, room, length) }
    }

    /// Reads the current row's value of a column that is not bound.
    ///
    /// # Safety
    /// The statement must be alive and have a current row.
    pub(crate) unsafe fn read(&mut self, api: &Api, statement: Handle, place: u16) -> Return {
        self.long = None;
        if matches!(self.kind, FieldKind::Text | FieldKind::Binary) {
            // SAFETY: as the caller says.
            return unsafe { self.read_long(api, statement, place) };
        }
        let (room, buffer) = (self.room(), self.words.as_mut_ptr().cast());
        let length = &raw mut *self.length;
        // SAFETY: the statement is alive; the buffer has that length.
        unsafe { (api.get_data)(statement, place, self.kind.c_type(), buffer, room, length) }
    }

    /// Whether the value of the current row did not fit the buffer.
    #[inline]
    pub(crate) fn is_cut(&mut self) -> bool {
        self.long = None;
        // A text is followed by a zero byte, for which there must be room.
        self.kind == FieldKind::Text
            && *self.length != NULL_DATA
            && (*self.length < 0 || *self.length >= self.room())
    }

    /// Reads the whole text of the current row, piece by piece.
    ///
    /// # Safety
    /// The statement must be alive and have a current row.
    pub(crate) unsafe fn read_long(&mut self, api: &Api, statement: Handle, place: u16) -> Return {
        let room = isize::try_from(PIECE_BYTES).expect("a small constant");
        self.join(|piece| {
            let (buffer, mut length) = (piece.as_mut_ptr().cast(), 0);
            // SAFETY: the statement is alive; the buffer has that length.
            let code =
                unsafe { (api.get_data)(statement, place, C_CHAR, buffer, room, &raw mut length) };
            (code, length)
        })
    }

    /// Joins the pieces of a text. `next` fills a piece, and returns the code of the call and the
    /// length of what was left of the text before it.
    fn join(&mut self, mut next: impl FnMut(&mut [u8; PIECE_BYTES]) -> (Return, isize)) -> Return {
        let mut text = Vec::new();
        let mut piece = Box::new([0u8; PIECE_BYTES]);
        loop {
            let (code, length) = next(&mut piece);
            if code == NO_DATA {
                break;
            }
            if !worked(code) {
                return code;
            }
            if length == NULL_DATA {
                *self.length = NULL_DATA;
                return code;
            }
            // With a longer rest the piece is full. Without its length the text ends with a zero.
            let here = usize::try_from(length).unwrap_or_else(|_| {
                piece.iter().position(|byte| *byte == 0).unwrap_or(PIECE_BYTES)
            });
            text.extend_from_slice(&piece[..here.min(PIECE_BYTES - 1)]);
            let is_last = usize::try_from(length).is_ok_and(|length| length < PIECE_BYTES);
            if is_last || text.len() > LONGEST {
                break;
            }
        }
        *self.length = isize::try_from(text.len()).expect("a text is smaller than memory");
        self.long = Some(text);
        0
    }

    /// The value of the current row.
    #[inline]
    pub(crate) fn field(&self) -> Field<'_> {
        if *self.length == NULL_DATA {
            return Field::Null;
        }
        match self.kind {
            FieldKind::Int => Field::Int(i64::from_ne_bytes(self.words[0].to_ne_bytes())),
            FieldKind::Float => Field::Float(f64::from_ne_bytes(self.words[0].to_ne_bytes())),
            FieldKind::Date => Field::Date(self.moment(false)),
            FieldKind::Timestamp => Field::Timestamp(self.moment(true)),
            FieldKind::Text => Field::Text(self.text()),
            FieldKind::Binary => Field::Binary,
        }
    }

    fn text(&self) -> &[u8] {
        if let Some(long) = &self.long {
            return long;
        }
        let bytes = self.words.len() * 8;
        // SAFETY: the words are that many initialised bytes.
        let all = unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast::<u8>(), bytes) };
        &all[..usize::try_from(*self.length).unwrap_or(0).min(bytes)]
    }

    fn moment(&self, has_time: bool) -> Moment {
        let first = self.words[0].to_ne_bytes();
        let second = self.words.get(1).copied().unwrap_or_default().to_ne_bytes();
        let two = |bytes: &[u8]| u16::from_ne_bytes([bytes[0], bytes[1]]);
        let year = i16::from_ne_bytes([first[0], first[1]]);
        let (month, day) = (two(&first[2..]), two(&first[4..]));
        if !has_time {
            return Moment { year, month, day, ..Moment::default() };
        }
        Moment {
            year,
            month,
            day,
            hour: two(&first[6..]),
            minute: two(&second[0..]),
            second: two(&second[2..]),
            nanosecond: u32::from_ne_bytes([second[4], second[5], second[6], second[7]]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_fit_what_the_driver_describes() {
        let width = |sql_type, size| Column::new(String::new(), sql_type, size, false).room();
        assert_eq!(width(BIGINT, 19), 8);
        assert_eq!(width(TYPE_TIMESTAMP, 26), 16);
        assert_eq!(width(crate::api::VARCHAR, 24), 104);
        assert_eq!(width(crate::api::VARCHAR, 1_000_000), 1024);
        assert_eq!(width(crate::api::LONGVARCHAR, 0), 1024);
        // A driver that does not know the size may say SQL_NO_TOTAL, which is -4.
        assert_eq!(width(crate::api::VARCHAR, usize::MAX - 3), 1024);
        assert_eq!(Column::new(String::new(), INTEGER, 10, true).kind, FieldKind::Text);
    }

    #[test]
    fn lengths_beyond_the_buffer_are_not_believed() {
        let mut column = Column::new(String::new(), crate::api::VARCHAR, 10, false);
        *column.length = 1_000_000;
        assert!(column.is_cut());
        assert_eq!(column.text().len(), 64);
        *column.length = -4;
        assert!(column.is_cut());
        *column.length = NULL_DATA;
        assert!(!column.is_cut());
        assert_eq!(column.field(), Field::Null);
    }

    #[test]
    fn pieces_are_joined_with_and_without_the_length_of_the_rest() {
        const NO_TOTAL: isize = -4;
        let text = "x".repeat(PIECE_BYTES + 10);
        for (knows, text) in
            [(true, &*text), (false, &*text), (true, "short"), (false, "short"), (false, "")]
        {
            let mut column = Column::new(String::new(), crate::api::VARCHAR, 10, false);
            let mut rest = text.as_bytes();
            let mut is_over = false;
            let code = column.join(|piece| {
                if is_over {
                    return (NO_DATA, 0);
                }
                let (before, here) = (rest.len(), rest.len().min(PIECE_BYTES - 1));
                piece[..here].copy_from_slice(&rest[..here]);
                piece[here] = 0;
                rest = &rest[here..];
                is_over = rest.is_empty();
                (0, if knows { isize::try_from(before).unwrap() } else { NO_TOTAL })
            });
            assert_eq!((code, column.field()), (0, Field::Text(text.as_bytes())), "{knows}");
        }
    }
}

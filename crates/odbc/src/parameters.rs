//! Parameters of a statement: a buffer for each, which holds one or more sets of values.

use std::slice;

use crate::api::Api;
use crate::api::{
    BIGINT, C_CHAR, C_DATE, C_DOUBLE, C_SBIGINT, C_SLONG, C_TIMESTAMP, DECIMAL, DOUBLE, Handle,
    INTEGER, LONGVARCHAR, NULL_DATA, PARAM_INPUT, RawDate, RawTimestamp, Return, SMALLINT,
    TYPE_DATE, TYPE_TIMESTAMP, VARCHAR, WLONGVARCHAR, WVARCHAR,
};

/// Room for a text at first, in bytes; more is made when a longer one is set.
const TEXT_BYTES: usize = 64;
/// Room for a decimal: 38 digits, sign and point.
const DECIMAL_BYTES: usize = 48;
/// Longest text that is sent as `VARCHAR`; a longer one is a `LONGVARCHAR`.
const VARCHAR_MAX: usize = 4000;

/// Type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// 16-bit integer.
    SmallInt,
    /// 32-bit integer.
    Int,
    /// 64-bit integer.
    BigInt,
    /// Double-precision floating point.
    Double,
    /// Exact decimal, set as text.
    Decimal {
        /// All digits.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// Characters in UTF-8.
    Text,
    /// The same, for a database that keeps only the characters of a code page otherwise.
    WideText,
    /// Calendar date.
    Date,
    /// Date and time.
    Timestamp,
}

/// A date, with a time if it is a timestamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the parts of a civil date and time")]
pub struct Moment {
    pub year: i16,
    pub month: u16,
    pub day: u16,
    pub hour: u16,
    pub minute: u16,
    pub second: u16,
    pub nanosecond: u32,
}

/// A value for a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Param<'a> {
    /// SQL NULL.
    Null,
    /// For the integers.
    Int(i64),
    /// For floating point.
    Float(f64),
    /// For texts and decimals.
    Text(&'a str),
    /// For dates and timestamps.
    Moment(Moment),
}

/// A value that a parameter of this type cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unset(pub ParamType);

/// The values of one parameter, one for each set.
pub(crate) struct Buffer {
    param: ParamType,
    sets: usize,
    /// Bytes per value.
    width: usize,
    /// In words, because values must be aligned.
    words: Vec<u64>,
    lengths: Vec<isize>,
    is_bound: bool,
}

impl Buffer {
    pub(crate) fn new(param: ParamType, sets: usize) -> Self {
        let width = match param {
            ParamType::SmallInt | ParamType::Int => 4,
            ParamType::BigInt | ParamType::Double => 8,
            ParamType::Decimal { .. } => DECIMAL_BYTES,
            ParamType::Text | ParamType::WideText => TEXT_BYTES,
            ParamType::Date => size_of::<RawDate>(),
            ParamType::Timestamp => size_of::<RawTimestamp>(),
        };
        let words = vec![0; (width * sets).div_ceil(8)];
        Self { param, sets, width, words, lengths: vec![NULL_DATA; sets], is_bound: false }
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the words are that many initialised bytes.
        unsafe { slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.words.len() * 8) }
    }

    #[inline]
    fn put(&mut self, set: usize, value: &[u8]) {
        let start = set * self.width;
        self.bytes()[start..start + value.len()].copy_from_slice(value);
        self.lengths[set] = isize::try_from(value.len()).expect("a value is smaller than memory");
    }

    /// Makes room for texts of this length.
    #[cold]
    fn widen(&mut self, length: usize) {
        let (old, new) = (self.width, length.next_power_of_two());
        let before = self.bytes().to_vec();
        self.words = vec![0; (new * self.sets).div_ceil(8)];
        self.width = new;
        self.is_bound = false;
        for set in 0..self.sets {
            let from = &before[set * old..(set + 1) * old];
            self.bytes()[set * new..set * new + old].copy_from_slice(from);
        }
    }

    /// Sets a value. Panics if there is no such set.
    #[inline]
    pub(crate) fn set(&mut self, set: usize, value: Param<'_>) -> Result<(), Unset> {
        match (self.param, value) {
            (_, Param::Null) => self.lengths[set] = NULL_DATA,
            (ParamType::BigInt, Param::Int(value)) => self.put(set, &value.to_ne_bytes()),
            (ParamType::Int, Param::Int(value)) => {
                let value = i32::try_from(value).map_err(|_| Unset(self.param))?;
                self.put(set, &value.to_ne_bytes());
            }
            (ParamType::SmallInt, Param::Int(value)) => {
                let value = i16::try_from(value).map_err(|_| Unset(self.param))?;
                self.put(set, &i32::from(value).to_ne_bytes());
            }
            (ParamType::Double, Param::Float(value)) => self.put(set, &value.to_ne_bytes()),
            (
                ParamType::Text | ParamType::WideText | ParamType::Decimal { .. },
                Param::Text(text),
            ) => {
                if text.len() > self.width {
                    self.widen(text.len());
                }
                self.put(set, text.as_bytes());
            }
            (ParamType::Date, Param::Moment(at)) => self.put(set, &date_bytes(at)),
            (ParamType::Timestamp, Param::Moment(at)) => self.put(set, &timestamp_bytes(at)),
            _ => return Err(Unset(self.param)),
        }
        Ok(())
    }

    /// Binds the buffer to a parameter, from 1, unless it is bound. Returns the code of the call.
    ///
    /// # Safety
    /// The statement must be alive, and not use the buffer after the buffer was dropped or widened.
    pub(crate) unsafe fn bind(&mut self, api: &Api, statement: Handle, place: u16) -> Return {
        if self.is_bound {
            return 0;
        }
        let (c_type, sql_type, size, digits) = match self.param {
            ParamType::SmallInt => (C_SLONG, SMALLINT, 5, 0),
            ParamType::Int => (C_SLONG, INTEGER, 10, 0),
            ParamType::BigInt => (C_SBIGINT, BIGINT, 19, 0),
            ParamType::Double => (C_DOUBLE, DOUBLE, 15, 0),
            ParamType::Decimal { precision, scale } => {
                (C_CHAR, DECIMAL, usize::from(precision), i16::from(scale))
            }
            ParamType::Text if self.width > VARCHAR_MAX => (C_CHAR, LONGVARCHAR, self.width, 0),
            ParamType::Text => (C_CHAR, VARCHAR, self.width, 0),
            ParamType::WideText if self.width > VARCHAR_MAX => {
                (C_CHAR, WLONGVARCHAR, self.width, 0)
            }
            ParamType::WideText => (C_CHAR, WVARCHAR, self.width, 0),
            ParamType::Date => (C_DATE, TYPE_DATE, 10, 0),
            ParamType::Timestamp => (C_TIMESTAMP, TYPE_TIMESTAMP, 26, 6),
        };
        let width = isize::try_from(self.width).expect("a buffer is smaller than memory");
        let (values, lengths) = (self.words.as_mut_ptr().cast(), self.lengths.as_mut_ptr());
        // SAFETY: the statement is alive; the buffer has a value and a length for each set, and
        // keeps its place until it is bound again.
        let code = unsafe {
            (api.bind_parameter)(
                statement,
                place,
                PARAM_INPUT,
                c_type,
                sql_type,
                size,
                digits,
                values,
                width,
                lengths,
            )
        };
        self.is_bound = crate::api::worked(code);
        code
    }
}

fn date_bytes(at: Moment) -> [u8; size_of::<RawDate>()] {
    let mut bytes = [0; size_of::<RawDate>()];
    bytes[0..2].copy_from_slice(&at.year.to_ne_bytes());
    bytes[2..4].copy_from_slice(&at.month.to_ne_bytes());
    bytes[4..6].copy_from_slice(&at.day.to_ne_bytes());
    bytes
}

fn timestamp_bytes(at: Moment) -> [u8; size_of::<RawTimestamp>()] {
    let mut bytes = [0; size_of::<RawTimestamp>()];
    bytes[0..6].copy_from_slice(&date_bytes(at));
    bytes[6..8].copy_from_slice(&at.hour.to_ne_bytes());
    bytes[8..10].copy_from_slice(&at.minute.to_ne_bytes());
    bytes[10..12].copy_from_slice(&at.second.to_ne_bytes());
    bytes[12..16].copy_from_slice(&at.nanosecond.to_ne_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn moments_have_the_layout_of_the_structs() {
        assert_eq!((size_of::<RawDate>(), size_of::<RawTimestamp>()), (6, 16));
        assert_eq!(offset_of!(RawDate, day), 4);
        assert_eq!(offset_of!(RawTimestamp, second), 10);
        assert_eq!(offset_of!(RawTimestamp, fraction), 12);
    }

    #[test]
    fn texts_keep_their_values_when_there_is_more_room() {
        let mut buffer = Buffer::new(ParamType::Text, 3);
        buffer.set(0, Param::Text("first")).unwrap();
        buffer.set(1, Param::Null).unwrap();
        let long = "x".repeat(TEXT_BYTES + 1);
        buffer.set(2, Param::Text(&long)).unwrap();
        assert_eq!(buffer.lengths, [5, NULL_DATA, 65]);
        assert_eq!(buffer.width, 128);
        assert_eq!(&buffer.bytes()[..5], b"first");
        assert_eq!(&buffer.bytes()[256..256 + 65], long.as_bytes());
    }

    #[test]
    fn values_of_other_types_and_sizes_are_rejected() {
        for (param, value) in [
            (ParamType::SmallInt, Param::Int(i64::from(i16::MAX) + 1)),
            (ParamType::Int, Param::Int(i64::from(i32::MIN) - 1)),
            (ParamType::Int, Param::Text("1")),
            (ParamType::Text, Param::Int(1)),
            (ParamType::Date, Param::Float(1.0)),
        ] {
            assert_eq!(Buffer::new(param, 1).set(0, value), Err(Unset(param)));
        }
    }
}

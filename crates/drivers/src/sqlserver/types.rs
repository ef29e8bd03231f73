//! The types of columns as servers describe them (`TYPE_INFO` of MS-TDS), and their values.

use triphammer_core::rows::Rows;
use triphammer_core::value::SCALE_MAX;
use triphammer_core::{Date, DbError, ErrorClass, Timestamp};

use super::code_page::{is_latin, windows_1252};
use super::reader::{Fault, Reader, put_utf8};
use crate::json_list::read_list;

/// The types by their numbers in the protocol.
pub(super) mod id {
    pub const NULL: u8 = 0x1f;
    pub const IMAGE: u8 = 0x22;
    pub const TEXT: u8 = 0x23;
    pub const GUID: u8 = 0x24;
    pub const OLD_VARBINARY: u8 = 0x25;
    pub const INT_N: u8 = 0x26;
    pub const OLD_VARCHAR: u8 = 0x27;
    pub const DATE: u8 = 0x28;
    pub const TIME: u8 = 0x29;
    pub const DATETIME2: u8 = 0x2a;
    pub const DATETIME_OFFSET: u8 = 0x2b;
    pub const OLD_BINARY: u8 = 0x2d;
    pub const OLD_CHAR: u8 = 0x2f;
    pub const INT1: u8 = 0x30;
    pub const BIT: u8 = 0x32;
    pub const INT2: u8 = 0x34;
    pub const INT4: u8 = 0x38;
    pub const DATETIME4: u8 = 0x3a;
    pub const FLOAT4: u8 = 0x3b;
    pub const MONEY: u8 = 0x3c;
    pub const DATETIME: u8 = 0x3d;
    pub const FLOAT8: u8 = 0x3e;
    pub const VARIANT: u8 = 0x62;
    pub const NTEXT: u8 = 0x63;
    pub const BIT_N: u8 = 0x68;
    pub const DECIMAL_N: u8 = 0x6a;
    pub const NUMERIC_N: u8 = 0x6c;
    pub const FLOAT_N: u8 = 0x6d;
    pub const MONEY_N: u8 = 0x6e;
    pub const DATETIME_N: u8 = 0x6f;
    pub const MONEY4: u8 = 0x7a;
    pub const INT8: u8 = 0x7f;
    pub const VARBINARY: u8 = 0xa5;
    pub const VARCHAR: u8 = 0xa7;
    pub const BINARY: u8 = 0xad;
    pub const CHAR: u8 = 0xaf;
    pub const NVARCHAR: u8 = 0xe7;
    pub const NCHAR: u8 = 0xef;
    pub const UDT: u8 = 0xf0;
    pub const XML: u8 = 0xf1;
}

/// Length of a type without a limit, whose values come in chunks.
pub(super) const UNLIMITED: u32 = 0xffff;
/// Flag in a collation: its texts are UTF-8.
const UTF8: u8 = 0x04;
/// Days from 0001-01-01 to 1970-01-01, and from 1900-01-01.
pub(super) const DAYS_TO_1970: i32 = 719_162;
const DAYS_1900_TO_1970: i32 = 25_567;
pub(super) const DAY_US: i64 = 86_400_000_000;
/// The days of the years 1 to 9999, from 1900-01-01 on.
const DATETIME_DAYS: std::ops::RangeInclusive<i64> = -693_595..=2_958_463;

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TypeInfo {
    pub(super) id: u8,
    /// Largest length of a value in bytes; [`UNLIMITED`] if it has no limit.
    pub(super) length: u32,
    pub(super) precision: u8,
    pub(super) scale: u8,
    pub(super) collation: [u8; 5],
}

/// How the length of a value is encoded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Fixed(usize),
    Byte,
    Short,
    Chunks,
    Pointer,
    Long,
}

impl TypeInfo {
    /// A type that has only a number.
    pub(super) const fn of(id: u8) -> Self {
        Self { id, length: 0, precision: 0, scale: 0, collation: [0; 5] }
    }

    /// Reads a type.
    pub(super) fn read(rest: &mut Reader<'_>) -> Result<Self, Fault> {
        let mut info = Self::of(rest.byte()?);
        match info.id {
            id::NULL
            | id::INT1
            | id::BIT
            | id::INT2
            | id::INT4
            | id::DATETIME4
            | id::FLOAT4
            | id::MONEY
            | id::DATETIME
            | id::FLOAT8
            | id::MONEY4
            | id::INT8
            | id::DATE => {}
            id::GUID
            | id::INT_N
            | id::BIT_N
            | id::FLOAT_N
            | id::MONEY_N
            | id::DATETIME_N
            | id::OLD_BINARY
            | id::OLD_VARBINARY => info.length = rest.byte()?.into(),
            id::OLD_CHAR | id::OLD_VARCHAR => {
                info.length = rest.byte()?.into();
                info.collation = rest.fixed()?;
            }
            id::DECIMAL_N | id::NUMERIC_N => {
                info.length = rest.byte()?.into();
                [info.precision, info.scale] = rest.fixed()?;
                if info.scale > SCALE_MAX {
                    return Err(Fault::broken("the scale of a decimal"));
                }
            }
            id::TIME | id::DATETIME2 | id::DATETIME_OFFSET => {
                info.scale = rest.byte()?;
                if info.scale > 7 {
                    return Err(Fault::broken("the scale of a time"));
                }
            }
            id::VARBINARY | id::BINARY => info.length = rest.short()?.into(),
            id::VARCHAR | id::CHAR | id::NVARCHAR | id::NCHAR => {
                info.length = rest.short()?.into();
                info.collation = rest.fixed()?;
            }
            id::TEXT | id::NTEXT => {
                info.length = rest.long()?;
                info.collation = rest.fixed()?;
            }
            id::IMAGE | id::VARIANT => info.length = rest.long()?,
            id::XML => {
                if rest.byte()? != 0 {
                    rest.text()?;
                    rest.text()?;
                    rest.long_text()?;
                }
            }
            id::UDT => {
                info.length = rest.short()?.into();
                for _ in 0..3 {
                    rest.text()?;
                }
                rest.long_text()?;
            }
            _ => return Err(Fault::broken("a type")),
        }
        Ok(info)
    }

    /// Whether columns of the type have the name of their table in their description.
    pub(super) fn has_table_name(self) -> bool {
        matches!(self.id, id::TEXT | id::NTEXT | id::IMAGE)
    }

    #[inline]
    fn length_form(self) -> Length {
        match self.id {
            id::NULL => Length::Fixed(0),
            id::INT1 | id::BIT => Length::Fixed(1),
            id::INT2 => Length::Fixed(2),
            id::INT4 | id::DATETIME4 | id::FLOAT4 | id::MONEY4 => Length::Fixed(4),
            id::MONEY | id::DATETIME | id::FLOAT8 | id::INT8 => Length::Fixed(8),
            id::VARBINARY | id::VARCHAR | id::NVARCHAR if self.length == UNLIMITED => {
                Length::Chunks
            }
            id::VARBINARY | id::VARCHAR | id::BINARY | id::CHAR | id::NVARCHAR | id::NCHAR => {
                Length::Short
            }
            id::XML | id::UDT => Length::Chunks,
            id::TEXT | id::NTEXT | id::IMAGE => Length::Pointer,
            id::VARIANT => Length::Long,
            _ => Length::Byte,
        }
    }

    /// Whether texts of the type are UTF-16.
    fn is_wide(self) -> bool {
        matches!(self.id, id::NVARCHAR | id::NCHAR | id::NTEXT | id::XML)
    }

    /// Whether texts of the type are UTF-8.
    pub(super) fn is_utf8(self) -> bool {
        // The flags follow the 20 bits of the locale.
        self.collation[3] & UTF8 != 0
    }
}

/// The error for text that cannot be decoded.
fn unknown_text() -> DbError {
    let message = "a text is not ASCII and its collation is not UTF-8: store such texts in nvarchar \
                   columns, or in varchar columns with a collation that ends in _UTF8";
    DbError::new(ErrorClass::Unsupported, message)
}

/// Reads a value to the end of `rows`, or NULL when its content, which is a `problem`, cannot be
/// represented. A text of unlimited length that contains a JSON array becomes a list if `lists` is
/// set.
#[inline]
pub(super) fn read_value(
    rows: &mut Rows,
    rest: &mut Reader<'_>,
    info: TypeInfo,
    lists: bool,
    problem: &mut Option<DbError>,
) -> Result<(), Fault> {
    let data = match info.length_form() {
        Length::Fixed(0) => None,
        Length::Fixed(count) => Some(rest.take(count)?),
        Length::Byte => Some(rest.bytes()?).filter(|data| !data.is_empty()),
        Length::Short => match rest.short()? {
            0xffff => None,
            count => Some(rest.take(count.into())?),
        },
        Length::Chunks => return read_chunks(rows, rest, info, lists, problem),
        Length::Pointer => read_pointed(rest)?,
        Length::Long => return read_variant(rows, rest, problem),
    };
    match data {
        None => rows.null(),
        Some(data) => put_value(rows, data, info, problem)?,
    }
    Ok(())
}

/// Reads a value behind a text pointer.
fn read_pointed<'a>(rest: &mut Reader<'a>) -> Result<Option<&'a [u8]>, Fault> {
    if rest.bytes()?.is_empty() {
        return Ok(None);
    }
    // A timestamp.
    rest.take(8)?;
    let count = rest.long()?;
    Ok(Some(rest.take(count as usize)?))
}

/// Reads a value that comes in chunks.
fn read_chunks(
    rows: &mut Rows,
    rest: &mut Reader<'_>,
    info: TypeInfo,
    lists: bool,
    problem: &mut Option<DbError>,
) -> Result<(), Fault> {
    // The total length, which may be unknown; all bits are NULL.
    if u64::from_le_bytes(rest.fixed()?) == u64::MAX {
        rows.null();
        return Ok(());
    }
    let first = rest.long()? as usize;
    if first == 0 {
        return put_value(rows, &[], info, problem);
    }
    let data = rest.take(first)?;
    let second = rest.long()? as usize;
    if second == 0 {
        return put_long(rows, data, info, lists, problem);
    }
    // The whole is there before anything is copied.
    let mut ahead = *rest;
    let (mut next, mut total) = (second, first);
    while next != 0 {
        total = total.saturating_add(next);
        ahead.take(next)?;
        next = ahead.long()? as usize;
    }
    let mut joined = Vec::with_capacity(total);
    joined.extend_from_slice(data);
    next = second;
    while next != 0 {
        joined.extend_from_slice(rest.take(next)?);
        next = rest.long()? as usize;
    }
    put_long(rows, &joined, info, lists, problem)
}

fn put_long(
    rows: &mut Rows,
    data: &[u8],
    info: TypeInfo,
    lists: bool,
    problem: &mut Option<DbError>,
) -> Result<(), Fault> {
    let is_list = lists
        && match info.id {
            id::NVARCHAR => data.starts_with(b"[\0"),
            id::VARCHAR => data.starts_with(b"["),
            _ => false,
        };
    if !is_list {
        return put_value(rows, data, info, problem);
    }
    let mut text = Vec::new();
    let text = if info.is_wide() {
        put_utf8(&mut text, data);
        &text
    } else {
        data
    };
    if read_list(rows, text).is_none() {
        let message = "a list is not a JSON array of plain values";
        problem.get_or_insert_with(|| DbError::new(ErrorClass::Other, message));
    }
    Ok(())
}

/// Reads a value that has its own type.
fn read_variant(
    rows: &mut Rows,
    rest: &mut Reader<'_>,
    problem: &mut Option<DbError>,
) -> Result<(), Fault> {
    let count = rest.long()?;
    if count == 0 {
        rows.null();
        return Ok(());
    }
    let mut value = Reader(rest.take(count as usize)?);
    let bad = |fault| match fault {
        Fault::Short => Fault::broken("a variant"),
        broken @ Fault::Broken(_) => broken,
    };
    let mut info = TypeInfo::of(value.byte().map_err(bad)?);
    let mut properties = Reader(value.bytes().map_err(bad)?);
    match info.id {
        id::DECIMAL_N | id::NUMERIC_N => {
            [info.precision, info.scale] = properties.fixed().map_err(bad)?;
        }
        id::TIME | id::DATETIME2 | id::DATETIME_OFFSET => {
            info.scale = properties.byte().map_err(bad)?;
        }
        id::VARCHAR | id::CHAR | id::NVARCHAR | id::NCHAR => {
            info.collation = properties.fixed().map_err(bad)?;
        }
        _ => {}
    }
    if info.scale > SCALE_MAX {
        return Err(Fault::broken("a variant"));
    }
    put_value(rows, value.0, info, problem)
}

/// Appends a value that is not NULL.
#[inline]
fn put_value(
    rows: &mut Rows,
    data: &[u8],
    info: TypeInfo,
    problem: &mut Option<DbError>,
) -> Result<(), Fault> {
    match info.id {
        id::INT_N | id::INT1 | id::INT2 | id::INT4 | id::INT8 | id::BIT | id::BIT_N => {
            rows.int(match *data {
                [byte] => byte.into(),
                [a, b] => i16::from_le_bytes([a, b]).into(),
                [a, b, c, d] => i32::from_le_bytes([a, b, c, d]).into(),
                [a, b, c, d, e, f, g, h] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
                _ => return Err(Fault::broken("an integer")),
            });
        }
        id::NVARCHAR | id::NCHAR | id::NTEXT | id::XML => {
            rows.text_with(|out| put_utf8(out, data));
        }
        id::VARCHAR | id::CHAR | id::TEXT | id::OLD_CHAR | id::OLD_VARCHAR => {
            put_narrow(rows, data, info, problem);
        }
        id::DECIMAL_N | id::NUMERIC_N => put_decimal(rows, data, info)?,
        id::FLOAT_N | id::FLOAT4 | id::FLOAT8 => rows.float(match *data {
            [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).into(),
            [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => return Err(Fault::broken("a floating-point number")),
        }),
        id::MONEY | id::MONEY4 | id::MONEY_N => rows.decimal(
            match *data {
                [a, b, c, d] => i32::from_le_bytes([a, b, c, d]).into(),
                // The upper half comes first.
                [e, f, g, h, a, b, c, d] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
                _ => return Err(Fault::broken("an amount of money")),
            },
            4,
        ),
        id::DATE | id::TIME | id::DATETIME2 | id::DATETIME_OFFSET => put_moment(rows, data, info)?,
        id::DATETIME | id::DATETIME4 | id::DATETIME_N => put_datetime(rows, data)?,
        id::GUID => put_guid(rows, data)?,
        _ => rows.text_with(|out| {
            out.extend_from_slice(b"0x");
            let digit = |nibble: u8| b"0123456789ABCDEF"[usize::from(nibble & 15)];
            out.extend(data.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]));
        }),
    }
    Ok(())
}

/// Appends text of a code page.
#[inline]
fn put_narrow(rows: &mut Rows, data: &[u8], info: TypeInfo, problem: &mut Option<DbError>) {
    let can_be_read = data.is_ascii() || (info.is_utf8() && std::str::from_utf8(data).is_ok());
    if can_be_read {
        rows.text_with(|out| out.extend_from_slice(data));
    } else if !info.is_utf8() && is_latin(info) {
        rows.text(&windows_1252(data));
    } else {
        problem.get_or_insert_with(unknown_text);
        rows.null();
    }
}

#[inline]
fn put_decimal(rows: &mut Rows, data: &[u8], info: TypeInfo) -> Result<(), Fault> {
    let Some((sign, magnitude)) = data.split_first().filter(|(_, rest)| rest.len() <= 16) else {
        return Err(Fault::broken("a decimal"));
    };
    if let [a, b, c, d, e, f, g, h] = *magnitude
        && let Ok(units) = i64::try_from(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
    {
        rows.decimal(if *sign == 0 { -units } else { units }, info.scale);
        return Ok(());
    }
    let mut bytes = [0; 16];
    bytes[..magnitude.len()].copy_from_slice(magnitude);
    let units =
        i128::try_from(u128::from_le_bytes(bytes)).map_err(|_| Fault::broken("a decimal"))?;
    rows.decimal128(if *sign == 0 { -units } else { units }, info.scale);
    Ok(())
}

/// Little-endian bytes, at most eight, as a number.
fn number(data: &[u8]) -> Option<i64> {
    let mut bytes = [0; 8];
    bytes.get_mut(..data.len())?.copy_from_slice(data);
    i64::try_from(u64::from_le_bytes(bytes)).ok()
}

/// Appends a date, a time, or both.
fn put_moment(rows: &mut Rows, data: &[u8], info: TypeInfo) -> Result<(), Fault> {
    let bad = || Fault::broken("a date or time");
    let time_bytes = match info.scale {
        _ if info.id == id::DATE => 0,
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    };
    let (time, rest) = data.split_at_checked(time_bytes).ok_or_else(bad)?;
    let ticks = number(time).ok_or_else(bad)?;
    let micros = match info.scale {
        scale @ 0..=6 => ticks.checked_mul(10i64.pow(6 - u32::from(scale))),
        _ => Some(ticks / 10),
    };
    let micros = micros.filter(|micros| (0..DAY_US).contains(micros)).ok_or_else(bad)?;
    if info.id == id::TIME {
        if !rest.is_empty() {
            return Err(bad());
        }
        let text = Timestamp(micros).to_string();
        rows.text(text.split_once(' ').map_or("", |(_, time)| time));
        return Ok(());
    }
    let (day, rest) = rest.split_first_chunk::<3>().ok_or_else(bad)?;
    let expected = if info.id == id::DATETIME_OFFSET { 2 } else { 0 };
    if rest.len() != expected {
        return Err(bad());
    }
    let day = i32::from_le_bytes([day[0], day[1], day[2], 0]) - DAYS_TO_1970;
    match info.id {
        id::DATE => rows.date(Date(day)),
        // The moment of an offset is that of UTC.
        _ => rows.timestamp(Timestamp(i64::from(day) * DAY_US + micros)),
    }
    Ok(())
}

/// Appends a `datetime` or `smalldatetime`.
fn put_datetime(rows: &mut Rows, data: &[u8]) -> Result<(), Fault> {
    let (day, micros) = match *data {
        [a, b, c, d] => {
            let minutes = i64::from(u16::from_le_bytes([c, d]));
            (i64::from(u16::from_le_bytes([a, b])), minutes * 60_000_000)
        }
        [a, b, c, d, e, f, g, h] => {
            // Three hundredths of a second, shown in milliseconds.
            let ticks = i64::from(u32::from_le_bytes([e, f, g, h]));
            (i64::from(i32::from_le_bytes([a, b, c, d])), (ticks * 10 + 1) / 3 * 1000)
        }
        _ => return Err(Fault::broken("a date and time")),
    };
    if !DATETIME_DAYS.contains(&day) || !(0..DAY_US).contains(&micros) {
        return Err(Fault::broken("a date and time"));
    }
    rows.timestamp(Timestamp((day - i64::from(DAYS_1900_TO_1970)) * DAY_US + micros));
    Ok(())
}

fn put_guid(rows: &mut Rows, data: &[u8]) -> Result<(), Fault> {
    let [a, b, c, d, e, f, g, h, tail @ ..] = data else { return Err(Fault::broken("a GUID")) };
    if tail.len() != 8 {
        return Err(Fault::broken("a GUID"));
    }
    let first = u32::from_le_bytes([*a, *b, *c, *d]);
    let (second, third) = (u16::from_le_bytes([*e, *f]), u16::from_le_bytes([*g, *h]));
    let tail: Vec<String> = tail.iter().map(|byte| format!("{byte:02X}")).collect();
    let (fourth, fifth) = (tail[..2].concat(), tail[2..].concat());
    rows.text(&format!("{first:08X}-{second:04X}-{third:04X}-{fourth}-{fifth}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(info: TypeInfo, data: &[u8]) -> Result<(Rows, Option<DbError>), Fault> {
        let mut rows = Rows::new();
        rows.reset(1);
        let mut problem = None;
        let mut rest = Reader(data);
        read_value(&mut rows, &mut rest, info, true, &mut problem)?;
        assert!(rest.0.is_empty(), "all is read");
        Ok((rows, problem))
    }

    fn text(info: TypeInfo, data: &[u8]) -> String {
        read(info, data).unwrap().0.row(0).text(0).unwrap().to_owned()
    }

    #[test]
    fn values_of_old_types_are_read() {
        let datetime = [8, 0xff, 0xff, 0xff, 0xff, 0x2c, 1, 0, 0];
        let (rows, _) = read(TypeInfo::of(id::DATETIME_N), &datetime).unwrap();
        assert_eq!(rows.row(0).timestamp(0).unwrap().to_string(), "1899-12-31 00:00:01");
        for impossible in [
            &[8, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0][..],
            &[8, 0, 0, 0, 0x80, 0, 0, 0, 0],
            &[8, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
            &[4, 0, 0, 0xff, 0xff],
        ] {
            let found = read(TypeInfo::of(id::DATETIME_N), impossible);
            assert!(matches!(found, Err(Fault::Broken(_))), "{impossible:?}");
        }
        let (rows, _) = read(TypeInfo::of(id::MONEY), &[0, 0, 0, 0, 0x10, 0x27, 0, 0]).unwrap();
        assert_eq!(rows.row(0).decimal(0, 2).unwrap(), 100);
        let guid: Vec<u8> = std::iter::once(16).chain(0..16).collect();
        let shown = "03020100-0504-0706-0809-0A0B0C0D0E0F";
        assert_eq!(text(TypeInfo::of(id::GUID), &guid), shown);
        let time = TypeInfo { scale: 3, ..TypeInfo::of(id::TIME) };
        assert_eq!(text(time, &[4, 0xe9, 3, 0, 0]), "00:00:01.001000");
        let binary = TypeInfo { length: 10, ..TypeInfo::of(id::VARBINARY) };
        assert_eq!(text(binary, &[2, 0, 0xab, 1]), "0xAB01");
    }

    #[test]
    fn narrow_text_is_read_by_its_collation() {
        let german =
            TypeInfo { length: 10, collation: [0x07, 4, 0, 0, 0], ..TypeInfo::of(id::VARCHAR) };
        assert_eq!(text(german, &[2, 0, 0xe4, 0x80]), "ä€");
        let utf8 = TypeInfo { collation: [0x09, 4, 0, 4, 0], ..german };
        assert_eq!(text(utf8, &[2, 0, 0xc3, 0xa4]), "ä");
        let greek = TypeInfo { collation: [0x08, 4, 0, 0, 0], ..german };
        let (rows, problem) = read(greek, &[1, 0, 0xe1]).unwrap();
        assert!(rows.row(0).is_null(0) && problem.unwrap().message().contains("nvarchar"));
    }

    #[test]
    fn chunks_are_joined_and_lists_are_read() {
        let long = TypeInfo { length: UNLIMITED, ..TypeInfo::of(id::VARCHAR) };
        let mut data = vec![0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        for chunk in ["[1,nu", "ll,", "\"a\"]"] {
            data.extend_from_slice(&u32::try_from(chunk.len()).unwrap().to_le_bytes());
            data.extend_from_slice(chunk.as_bytes());
        }
        data.extend_from_slice(&[0; 4]);
        let (rows, _) = read(long, &data).unwrap();
        let list = rows.row(0).list(0).unwrap();
        assert_eq!((list.len(), list.int(0).unwrap(), list.text(2).unwrap()), (3, 1, "a"));
        for short in 0..data.len() {
            assert!(matches!(read(long, &data[..short]), Err(Fault::Short)), "{short}");
        }
    }
}

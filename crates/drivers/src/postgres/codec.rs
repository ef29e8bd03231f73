//! The binary format: encodes arguments and rows of a bulk load, and decodes results into cells.
//! This is the driver's hot path, so nothing here allocates per value.

use std::fmt::{self, Write as _};

use bytes::{BufMut, BytesMut};
use postgres_types::{Kind as TypeKind, Type};
use triphammer_core::rows::Cell;
use triphammer_core::sql::Param;
use triphammer_core::value::{Date, Timestamp, hex, rescale, rescale128, write_decimal};
use triphammer_core::{ColumnType, DbError, ErrorClass, Row, Rows, Value};

/// Microseconds from 1970-01-01 to 2000-01-01, PostgreSQL's epoch.
const EPOCH_US: i64 = 946_684_800_000_000;
/// Days from 1970-01-01 to 2000-01-01.
const EPOCH_DAYS: i32 = 10_957;
/// Microseconds of a day.
const DAY_US: i64 = 86_400_000_000;
/// Largest scale that a 64-bit decimal can use.
const SCALE_MAX: u16 = 18;
/// Maximum number of base-10000 digits of a 64-bit integer followed by up to three zeros.
const NUMERIC_DIGITS_MAX: usize = 6;
/// The same for a 128-bit integer.
const NUMERIC128_DIGITS_MAX: usize = 11;

/// PostgreSQL's type id (oid) of a column type; 0 leaves it to the server.
pub fn oid_of(column_type: ColumnType) -> u32 {
    let known = match column_type {
        ColumnType::SmallInt => Type::INT2,
        ColumnType::Int => Type::INT4,
        ColumnType::BigInt => Type::INT8,
        ColumnType::Float => Type::FLOAT8,
        ColumnType::Decimal(_) => Type::NUMERIC,
        ColumnType::Text => Type::TEXT,
        ColumnType::Timestamp => Type::TIMESTAMP,
        ColumnType::Date => Type::DATE,
        ColumnType::IntList => Type::INT4_ARRAY,
        ColumnType::Any => return 0,
    };
    known.oid()
}

/// A value that does not fit its type.
#[derive(Debug)]
pub struct Misfit(String);

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Misfit {
    /// Converts to the error that a call returns.
    pub fn into_error(self) -> DbError {
        DbError::new(ErrorClass::Other, self.0)
    }
}

#[cold]
fn misfit(what: impl fmt::Display, wanted: &str) -> Misfit {
    Misfit(format!("{what} does not fit {wanted}"))
}

/// Writes an argument of a statement; returns false, and writes nothing, for NULL.
#[inline]
pub fn put_value(out: &mut BytesMut, wire: Wire, value: &Value<'_>) -> Result<bool, Misfit> {
    match *value {
        Value::Null => return Ok(false),
        Value::Int(value) => put_int(out, wire, value)?,
        Value::Float(value) => put_float(out, wire, value)?,
        Value::Decimal { units, scale } => put_decimal(out, wire, units, scale)?,
        Value::Decimal128 { units, scale } => put_decimal128(out, wire, *units, scale)?,
        Value::Date(date) => put_date(out, wire, date)?,
        Value::Text(text) => put_text(out, wire, text.as_bytes())?,
        Value::Bytes(bytes) => put_text(out, wire, bytea(bytes).as_bytes())?,
        Value::Timestamp(at) => put_timestamp(out, wire, at)?,
        Value::Ints(list) => put_ints(out, wire, list)?,
    }
    Ok(true)
}

/// Bytes as the text of a bytea.
pub fn bytea(bytes: &[u8]) -> String {
    format!("\\x{}", hex(bytes))
}

/// The formats that we write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// A 16-bit integer.
    Int2,
    /// A 32-bit integer.
    Int4,
    /// A 64-bit integer.
    Int8,
    /// Double-precision floating point.
    Float8,
    /// Exact decimal in base-10000 digits.
    Numeric,
    /// Text in UTF-8.
    Text,
    /// Microseconds since 2000-01-01.
    Timestamp,
    /// Days since 2000-01-01.
    Date,
    /// One-dimensional array of 32-bit integers.
    Int4List,
    /// The text of a value whose type the server infers.
    Any,
}

impl Wire {
    /// The format for a column type.
    pub fn of(column_type: ColumnType) -> Self {
        match column_type {
            ColumnType::SmallInt => Self::Int2,
            ColumnType::Int => Self::Int4,
            ColumnType::BigInt => Self::Int8,
            ColumnType::Float => Self::Float8,
            ColumnType::Decimal(_) => Self::Numeric,
            ColumnType::Text => Self::Text,
            ColumnType::Timestamp => Self::Timestamp,
            ColumnType::Date => Self::Date,
            ColumnType::IntList => Self::Int4List,
            ColumnType::Any => Self::Any,
        }
    }

    /// The format in which a column of this kind takes rows of a bulk load; `None` if it is not one of these.
    pub fn of_kind(kind: ColumnKind) -> Option<Self> {
        let ColumnKind::One(scalar) = kind else { return None };
        Some(match scalar {
            Scalar::Int2 => Self::Int2,
            Scalar::Int4 => Self::Int4,
            Scalar::Int8 => Self::Int8,
            Scalar::Float8 => Self::Float8,
            Scalar::Numeric => Self::Numeric,
            Scalar::Text => Self::Text,
            Scalar::Timestamp => Self::Timestamp,
            Scalar::Date => Self::Date,
            Scalar::Bool | Scalar::Oid | Scalar::Float4 | Scalar::Void => return None,
        })
    }

    /// The formats for the arguments of a statement. If one is text whose type the server infers, all are sent as
    /// text; those with a type keep it.
    pub fn of_all(params: &[Param]) -> Box<[Self]> {
        let is_text = params.iter().any(|param| param.param_type == ColumnType::Any);
        let of = |param: &Param| if is_text { Self::Any } else { Self::of(param.param_type) };
        params.iter().map(of).collect()
    }

    fn name(self) -> &'static str {
        match self {
            Self::Int2 => "a smallint",
            Self::Int4 => "an integer",
            Self::Int8 => "a bigint",
            Self::Float8 => "a double precision",
            Self::Numeric => "a numeric",
            Self::Text => "a text",
            Self::Timestamp => "a timestamp",
            Self::Date => "a date",
            Self::Int4List => "a list of integers",
            Self::Any => "a parameter without a type",
        }
    }
}

#[inline]
fn put_int(out: &mut impl BufMut, wire: Wire, value: i64) -> Result<(), Misfit> {
    let no = |_| misfit(value, wire.name());
    match wire {
        Wire::Int4 => out.put_i32(i32::try_from(value).map_err(no)?),
        Wire::Int8 => out.put_i64(value),
        Wire::Int2 => out.put_i16(i16::try_from(value).map_err(no)?),
        Wire::Numeric => put_numeric(out, value, 0),
        #[expect(clippy::cast_precision_loss, reason = "the parameter is floating point")]
        Wire::Float8 => out.put_f64(value as f64),
        Wire::Any => put_digits(out, value),
        _ => return Err(misfit(value, wire.name())),
    }
    Ok(())
}

/// Writes a value as text.
fn put_written<B: BufMut>(out: &mut B, write: impl FnOnce(&mut Text<'_, B>) -> fmt::Result) {
    write(&mut Text(out)).expect("a buffer grows, and the scales of decimals are valid");
}

/// A buffer that takes text.
struct Text<'a, B>(&'a mut B);

impl<B: BufMut> fmt::Write for Text<'_, B> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.put_slice(text.as_bytes());
        Ok(())
    }
}

/// Writes an integer as text.
fn put_digits(out: &mut impl BufMut, value: i64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut left = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(left % 10).expect("a single digit");
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if value < 0 {
        at -= 1;
        digits[at] = b'-';
    }
    out.put_slice(&digits[at..]);
}

fn put_float(out: &mut impl BufMut, wire: Wire, value: f64) -> Result<(), Misfit> {
    match wire {
        Wire::Float8 => out.put_f64(value),
        Wire::Any => put_written(out, |text| write!(text, "{value}")),
        _ => return Err(misfit(value, wire.name())),
    }
    Ok(())
}

#[inline]
fn put_decimal(out: &mut impl BufMut, wire: Wire, units: i64, scale: u8) -> Result<(), Misfit> {
    match wire {
        Wire::Numeric => put_numeric(out, units, scale),
        Wire::Any => put_written(out, |text| write_decimal(text, units, scale)),
        #[expect(clippy::cast_precision_loss, reason = "the parameter is floating point")]
        Wire::Float8 => out.put_f64(units as f64 / 10f64.powi(i32::from(scale))),
        _ => {
            let whole = rescale(units, scale, 0);
            let no = || misfit(format_args!("{units} at scale {scale}"), wire.name());
            put_int(out, wire, whole.ok_or_else(no)?)?;
        }
    }
    Ok(())
}

#[cold]
fn put_decimal128(out: &mut impl BufMut, wire: Wire, units: i128, scale: u8) -> Result<(), Misfit> {
    if let Ok(units) = i64::try_from(units) {
        return put_decimal(out, wire, units, scale);
    }
    match wire {
        Wire::Numeric => put_numeric128(out, units, scale),
        Wire::Any => put_written(out, |text| write_decimal(text, units, scale)),
        #[expect(clippy::cast_precision_loss, reason = "the parameter is floating point")]
        Wire::Float8 => out.put_f64(units as f64 / 10f64.powi(i32::from(scale))),
        _ => {
            let whole = rescale128(units, scale, 0).and_then(|whole| i64::try_from(whole).ok());
            let no = || misfit(format_args!("{units} at scale {scale}"), wire.name());
            put_int(out, wire, whole.ok_or_else(no)?)?;
        }
    }
    Ok(())
}

fn put_date(out: &mut impl BufMut, wire: Wire, date: Date) -> Result<(), Misfit> {
    if wire == Wire::Any {
        put_written(out, |text| write!(text, "{date}"));
        return Ok(());
    }
    match date.0.checked_sub(EPOCH_DAYS) {
        Some(days) if wire == Wire::Date => out.put_i32(days),
        Some(days) if wire == Wire::Timestamp => out.put_i64(i64::from(days) * DAY_US),
        _ => return Err(misfit(date, wire.name())),
    }
    Ok(())
}

#[inline]
fn put_text(out: &mut impl BufMut, wire: Wire, text: &[u8]) -> Result<(), Misfit> {
    if !matches!(wire, Wire::Text | Wire::Any) {
        return Err(misfit("text", wire.name()));
    }
    out.put_slice(text);
    Ok(())
}

#[inline]
fn put_timestamp(out: &mut impl BufMut, wire: Wire, at: Timestamp) -> Result<(), Misfit> {
    if wire == Wire::Any {
        put_written(out, |text| write!(text, "{at}"));
        return Ok(());
    }
    match at.0.checked_sub(EPOCH_US) {
        Some(micros) if wire == Wire::Timestamp => out.put_i64(micros),
        _ => return Err(misfit(at, wire.name())),
    }
    Ok(())
}

fn put_ints(out: &mut impl BufMut, wire: Wire, list: &[i32]) -> Result<(), Misfit> {
    if wire != Wire::Int4List {
        return Err(misfit("a list", wire.name()));
    }
    let length = i32::try_from(list.len()).map_err(|_| misfit("the list", "an array"))?;
    put_array_head(out, length);
    for value in list {
        out.put_i32(4);
        out.put_i32(*value);
    }
    Ok(())
}

/// Writes dimensions, no NULLs, element type, and for one dimension its length and lower bound.
fn put_array_head(out: &mut impl BufMut, length: i32) {
    out.put_i32(i32::from(length > 0));
    out.put_i32(0);
    out.put_u32(Type::INT4.oid());
    if length > 0 {
        out.put_i32(length);
        out.put_i32(1);
    }
}

/// Writes `units` × 10^-`scale` as a numeric: number of digits, weight of the first, sign, digits
/// after the point as displayed, and the digits in base 10000 without zeros at either end.
#[inline]
fn put_numeric(out: &mut impl BufMut, units: i64, scale: u8) {
    // Digits are grouped in fours from the point, so the last group is padded with zeros.
    let fill = [1u64, 1000, 100, 10][usize::from(scale % 4)];
    let mut digits = [0u16; NUMERIC_DIGITS_MAX];
    let mut first = NUMERIC_DIGITS_MAX;
    let magnitude = units.unsigned_abs();
    match magnitude.checked_mul(fill) {
        Some(mut rest) => {
            while rest > 0 {
                first -= 1;
                digits[first] = low_digits(rest);
                rest /= 10_000;
            }
        }
        None => {
            let mut rest = u128::from(magnitude) * u128::from(fill);
            while rest > 0 {
                first -= 1;
                digits[first] = low_digits((rest % 10_000) as u64);
                rest /= 10_000;
            }
        }
    }
    put_groups(out, &digits[first..], units < 0, scale);
}

/// Like [`put_numeric`], for 128 bits.
fn put_numeric128(out: &mut impl BufMut, units: i128, scale: u8) {
    let mut digits = [0u16; NUMERIC128_DIGITS_MAX];
    let mut first = NUMERIC128_DIGITS_MAX;
    let mut rest = units.unsigned_abs();
    // The last group is padded with zeros; the whole number padded would not fit 128 bits.
    let (cut, fill) = [(1, 1), (10, 1000), (100, 100), (1000, 10)][usize::from(scale % 4)];
    if cut > 1 {
        first -= 1;
        digits[first] = low_digits((rest % cut * fill % 10_000) as u64);
        rest /= cut;
    }
    while rest > 0 {
        first -= 1;
        digits[first] = low_digits((rest % 10_000) as u64);
        rest /= 10_000;
    }
    put_groups(out, &digits[first..], units < 0, scale);
}

/// Writes a numeric with these base-10000 digits, the last group being the last after the point.
#[inline]
fn put_groups(out: &mut impl BufMut, groups: &[u16], is_negative: bool, scale: u8) {
    let significant = groups.iter().rposition(|d| *d != 0).map_or(0, |last| last + 1);
    let fits = "an integer has few digits";
    let fraction_groups = (i16::from(scale) + 3) / 4;
    let weight = i16::try_from(groups.len()).expect(fits) - fraction_groups - 1;
    out.put_i16(i16::try_from(significant).expect(fits));
    out.put_i16(if significant == 0 { 0 } else { weight });
    out.put_u16(if is_negative { 0x4000 } else { 0 });
    out.put_i16(i16::from(scale));
    for digit in &groups[..significant] {
        out.put_u16(*digit);
    }
}

#[inline]
fn low_digits(value: u64) -> u16 {
    (value % 10_000) as u16
}

/// Bytes before the rows of a binary COPY: signature, flags, no extension.
pub const COPY_HEAD: [u8; 19] = *b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Bytes after the rows of a binary COPY.
pub const COPY_TAIL: [u8; 2] = [0xff, 0xff];

/// Appends a row in the format of a binary COPY.
pub fn put_copy_row(out: &mut BytesMut, row: &Row<'_>, wires: &[Wire]) -> Result<(), Misfit> {
    let count = i16::try_from(wires.len()).map_err(|_| misfit("the row", "a table"))?;
    out.put_i16(count);
    for (column, wire) in wires.iter().enumerate() {
        let cell = row.cell(column);
        // Common cells have a length known in advance.
        match (cell, wire) {
            (Cell::Null, _) => {
                out.put_i32(-1);
                continue;
            }
            (Cell::Text(span), Wire::Text) => {
                let text = row.text_bytes(span);
                let length = i32::try_from(text.len()).map_err(|_| misfit("text", "a column"))?;
                out.put_i32(length);
                out.put_slice(text);
                continue;
            }
            _ => {}
        }
        let length_at = out.len();
        out.put_i32(0);
        match cell {
            Cell::Int(value) => put_int(out, *wire, value)?,
            Cell::Float(value) => put_float(out, *wire, value)?,
            Cell::Decimal { units, scale } => put_decimal(out, *wire, units, scale)?,
            Cell::Decimal128 { place, scale } => {
                put_decimal128(out, *wire, *row.units(place), scale)?;
            }
            Cell::Timestamp(at) => put_timestamp(out, *wire, at)?,
            Cell::Date(date) => put_date(out, *wire, date)?,
            Cell::Text(_) => return Err(misfit("text", wire.name())),
            Cell::List(_) => put_cells(out, *wire, row, column)?,
            Cell::Null => unreachable_null(),
        }
        let length =
            i32::try_from(out.len() - length_at - 4).map_err(|_| misfit("a field", "a column"))?;
        out[length_at..length_at + 4].copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

/// NULL is handled earlier; writes nothing.
fn unreachable_null() {
    debug_assert!(false, "NULL has no body");
}

fn put_cells(out: &mut BytesMut, wire: Wire, row: &Row<'_>, column: usize) -> Result<(), Misfit> {
    let list = row.list(column).map_err(|_| misfit("a cell", "a list"))?;
    if wire != Wire::Int4List {
        return Err(misfit("a list", wire.name()));
    }
    let length = i32::try_from(list.len()).map_err(|_| misfit("the list", "an array"))?;
    put_array_head(out, length);
    for index in 0..list.len() {
        let value = list.int32(index).map_err(|_| misfit("an element", "an integer"))?;
        out.put_i32(4);
        out.put_i32(value);
    }
    Ok(())
}

/// The formats that we read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A 16-bit integer.
    Int2,
    /// A 32-bit integer.
    Int4,
    /// A 64-bit integer.
    Int8,
    /// Boolean: one byte, 0 or 1.
    Bool,
    /// An unsigned 32-bit integer.
    Oid,
    /// Single-precision floating point.
    Float4,
    /// Double-precision floating point.
    Float8,
    /// Exact decimal in base-10000 digits.
    Numeric,
    /// Text in UTF-8.
    Text,
    /// Microseconds since 2000-01-01.
    Timestamp,
    /// Days since 2000-01-01.
    Date,
    /// No value: the result of a function without one.
    Void,
}

/// How the fields of a column are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// A single value of a scalar type.
    One(Scalar),
    /// An array of one dimension.
    Many(Scalar),
    /// A type that this driver does not read.
    Unknown,
}

impl ColumnKind {
    /// Selects how fields of a type are read.
    pub fn of(ty: &Type) -> Self {
        match ty.kind() {
            TypeKind::Array(element) => Scalar::of(element).map_or(Self::Unknown, Self::Many),
            _ => Scalar::of(ty).map_or(Self::Unknown, Self::One),
        }
    }
}

impl Scalar {
    fn of(ty: &Type) -> Option<Self> {
        Some(match *ty {
            Type::INT2 => Self::Int2,
            Type::INT4 => Self::Int4,
            Type::INT8 => Self::Int8,
            Type::BOOL => Self::Bool,
            Type::OID => Self::Oid,
            Type::FLOAT4 => Self::Float4,
            Type::FLOAT8 => Self::Float8,
            Type::NUMERIC => Self::Numeric,
            Type::TEXT
            | Type::VARCHAR
            | Type::BPCHAR
            | Type::NAME
            | Type::CHAR
            | Type::JSON
            | Type::UNKNOWN => Self::Text,
            Type::TIMESTAMP | Type::TIMESTAMPTZ => Self::Timestamp,
            Type::DATE => Self::Date,
            Type::VOID => Self::Void,
            _ => match ty.kind() {
                TypeKind::Domain(base) => Self::of(base)?,
                _ => return None,
            },
        })
    }
}

/// The problem with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The type is not supported.
    Type,
    /// The bytes are not valid for the type.
    Shape,
    /// The field is an array of more than one dimension.
    Dimensions,
}

impl Unreadable {
    /// The error for column `name` of type `type_name`.
    #[cold]
    pub fn error(self, name: &str, type_name: &str) -> DbError {
        let (class, what) = match self {
            Self::Type => (ErrorClass::Unsupported, "has a type that this driver does not support"),
            Self::Shape => (ErrorClass::Other, "has an unexpected length"),
            Self::Dimensions => (ErrorClass::Unsupported, "has more than one dimension"),
        };
        DbError::new(class, format!("column `{name}` of type {type_name} {what}"))
    }
}

/// Appends a field to `rows`.
#[inline]
pub fn read_field(rows: &mut Rows, kind: ColumnKind, raw: Option<&[u8]>) -> Result<(), Unreadable> {
    match (raw, kind) {
        (None, _) => rows.null(),
        (Some(raw), ColumnKind::One(scalar)) => read_scalar(rows, scalar, raw)?,
        (Some(raw), ColumnKind::Many(scalar)) => read_array(rows, scalar, raw)?,
        (Some(_), ColumnKind::Unknown) => return Err(Unreadable::Type),
    }
    Ok(())
}

#[inline]
fn fixed<const N: usize>(raw: &[u8]) -> Result<[u8; N], Unreadable> {
    raw.try_into().map_err(|_| Unreadable::Shape)
}

#[inline]
fn read_scalar(rows: &mut Rows, scalar: Scalar, raw: &[u8]) -> Result<(), Unreadable> {
    match scalar {
        Scalar::Int4 => rows.int(i64::from(i32::from_be_bytes(fixed(raw)?))),
        Scalar::Text => rows.text_with(|out| out.extend_from_slice(raw)),
        Scalar::Numeric => read_numeric(rows, raw)?,
        Scalar::Int2 => rows.int(i64::from(i16::from_be_bytes(fixed(raw)?))),
        Scalar::Int8 => rows.int(i64::from_be_bytes(fixed(raw)?)),
        Scalar::Bool => rows.int(i64::from(fixed::<1>(raw)?[0] != 0)),
        Scalar::Oid => rows.int(i64::from(u32::from_be_bytes(fixed(raw)?))),
        Scalar::Float4 => rows.float(f64::from(f32::from_be_bytes(fixed(raw)?))),
        Scalar::Float8 => rows.float(f64::from_be_bytes(fixed(raw)?)),
        Scalar::Timestamp => {
            let since_2000 = i64::from_be_bytes(fixed(raw)?);
            rows.timestamp(Timestamp(since_2000.saturating_add(EPOCH_US)));
        }
        Scalar::Date => {
            // Infinity maps to the farthest value, and stays there.
            let days = i32::from_be_bytes(fixed(raw)?);
            rows.date(Date(days.saturating_add(EPOCH_DAYS)));
        }
        Scalar::Void => rows.null(),
    }
    Ok(())
}

/// Reads a numeric: exactly if it fits 64 bits at its scale, else as floating point.
fn read_numeric(rows: &mut Rows, raw: &[u8]) -> Result<(), Unreadable> {
    let field = |at: usize| -> Result<u16, Unreadable> {
        let bytes = raw.get(at..at + 2).ok_or(Unreadable::Shape)?;
        Ok(u16::from_be_bytes(fixed(bytes)?))
    };
    let (count, weight, sign, scale) =
        (usize::from(field(0)?), field(2)?.cast_signed(), field(4)?, field(6)?);
    let digits = raw.get(8..8 + 2 * count).ok_or(Unreadable::Shape)?;
    let special = match sign {
        0 | 0x4000 => None,
        0xD000 => Some(f64::INFINITY),
        0xF000 => Some(f64::NEG_INFINITY),
        _ => Some(f64::NAN),
    };
    if let Some(value) = special {
        rows.float(value);
        return Ok(());
    }
    let digits = digits.chunks_exact(2).map(|d| u16::from_be_bytes([d[0], d[1]]));
    let negative = sign == 0x4000;
    // Power of ten of the last digit of the last group.
    let last = 4 * (i32::from(weight) + 1 - i32::try_from(count).map_err(|_| Unreadable::Shape)?);
    if let Some((units, scale)) = exact_units(digits.clone(), last, scale) {
        rows.decimal(if negative { -units } else { units }, scale);
        return Ok(());
    }
    match wide_units(digits.clone(), last, scale) {
        Some((units, scale)) => rows.decimal128(if negative { -units } else { units }, scale),
        None => {
            let magnitude = digits.fold(0f64, |sum, digit| sum * 1e4 + f64::from(digit));
            let value = magnitude * 10f64.powi(last);
            rows.float(if negative { -value } else { value });
        }
    }
    Ok(())
}

/// The digits as one integer at the scale, if all intermediate values fit 64 bits, as they do for
/// money.
fn exact_units(
    digits: impl Iterator<Item = u16> + Clone,
    last: i32,
    scale: u16,
) -> Option<(i64, u8)> {
    let kept = scale.min(SCALE_MAX);
    let shift = last + i32::from(kept);
    let sum = digits
        .clone()
        .try_fold(0i64, |sum, digit| sum.checked_mul(10_000)?.checked_add(i64::from(digit)));
    let power = 10i64.checked_pow(shift.unsigned_abs());
    let units = match (sum, power) {
        (Some(0), _) => Some(0),
        (Some(sum), Some(power)) if shift >= 0 => sum.checked_mul(power),
        (Some(sum), Some(power)) => (sum % power == 0).then_some(sum / power),
        _ => None,
    };
    Some((units?, u8::try_from(kept).ok()?))
}

/// Like [`exact_units`], for 128 bits: for sums, and where only the zeros that pad the last group
/// exceed 64 bits.
#[cold]
fn wide_units(digits: impl Iterator<Item = u16>, last: i32, scale: u16) -> Option<(i128, u8)> {
    let kept = scale.min(SCALE_MAX);
    let shift = last + i32::from(kept);
    // The padding of the last group is removed before the group is added, not afterwards.
    let fill = if (-3..0).contains(&shift) { 10u16.pow(shift.unsigned_abs()) } else { 1 };
    let mut digits = digits.peekable();
    let mut units = 0i128;
    while let Some(digit) = digits.next() {
        let cut = if digits.peek().is_none() { fill } else { 1 };
        if digit % cut != 0 {
            return None;
        }
        let room = i128::from(10_000 / cut);
        units = units.checked_mul(room)?.checked_add(i128::from(digit / cut))?;
    }
    if shift > 0 || fill == 1 {
        units = rescale128(units, 0, u8::try_from(shift.max(0)).ok()?)?;
        units = rescale128(units, u8::try_from((-shift).max(0)).ok()?, 0)?;
    }
    Some((units, u8::try_from(kept).ok()?))
}

/// Reads a big-endian integer of an array's header.
fn take_i32(raw: &mut &[u8]) -> Result<i32, Unreadable> {
    let (head, rest) = raw.split_first_chunk::<4>().ok_or(Unreadable::Shape)?;
    *raw = rest;
    Ok(i32::from_be_bytes(*head))
}

fn read_array(rows: &mut Rows, scalar: Scalar, mut raw: &[u8]) -> Result<(), Unreadable> {
    let dimensions = take_i32(&mut raw)?;
    let (_has_nulls, _element) = (take_i32(&mut raw)?, take_i32(&mut raw)?);
    let length = match dimensions {
        0 => 0,
        1 => {
            let length = take_i32(&mut raw)?;
            take_i32(&mut raw)?;
            length
        }
        _ => return Err(Unreadable::Dimensions),
    };
    let mut outcome = Ok(());
    rows.list(|list| outcome = read_elements(list, scalar, raw, length));
    outcome
}

fn read_elements(
    list: &mut Rows,
    scalar: Scalar,
    mut raw: &[u8],
    length: i32,
) -> Result<(), Unreadable> {
    for _ in 0..length {
        let size = take_i32(&mut raw)?;
        match usize::try_from(size) {
            Err(_) => list.null(),
            Ok(size) => {
                let (element, rest) = raw.split_at_checked(size).ok_or(Unreadable::Shape)?;
                raw = rest;
                read_scalar(list, scalar, element)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numeric(units: i64, scale: u8) -> Vec<u8> {
        let mut out = Vec::new();
        put_numeric(&mut out, units, scale);
        out
    }

    fn shorts(values: &[u16]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_be_bytes()).collect()
    }

    fn read(scalar: Scalar, raw: &[u8]) -> Cell {
        let mut rows = Rows::new();
        rows.reset(1);
        read_scalar(&mut rows, scalar, raw).unwrap();
        rows.row(0).cell(0)
    }

    #[test]
    fn numerics_are_written_as_the_server_writes_them() {
        // Generated with `SELECT numeric_send(…)` of PostgreSQL 15.
        for (units, scale, bytes) in [
            (0, 0, vec![0, 0, 0, 0]),
            (0, 2, vec![0, 0, 0, 2]),
            (1, 0, vec![1, 0, 0, 0, 1]),
            (-1, 0, vec![1, 0, 0x4000, 0, 1]),
            (1234, 2, vec![2, 0, 0, 2, 12, 3400]),
            (-5, 2, vec![1, 0xffff, 0x4000, 2, 500]),
            (10_000, 0, vec![1, 1, 0, 0, 1]),
            (100_000_000, 2, vec![1, 1, 0, 2, 100]),
            (1, 4, vec![1, 0xffff, 0, 4, 1]),
            (1, 5, vec![1, 0xfffe, 0, 5, 1000]),
            (123_456_789, 4, vec![3, 1, 0, 4, 1, 2345, 6789]),
            (30_000_000, 2, vec![1, 1, 0, 2, 30]),
        ] {
            assert_eq!(numeric(units, scale), shorts(&bytes), "{units} at {scale}");
        }
    }

    #[test]
    fn numerics_read_what_they_write() {
        let magnitudes = [0, 1, 9, 10, 99, 1000, 9999, 10_000, 12_345_678, i64::MAX / 7, i64::MAX];
        for magnitude in magnitudes {
            for units in [magnitude, -magnitude] {
                for scale in 0..=18 {
                    let cell = read(Scalar::Numeric, &numeric(units, scale));
                    assert_eq!(cell, Cell::Decimal { units, scale });
                }
            }
        }
    }

    #[test]
    fn numerics_of_128_bits_read_what_they_write() {
        let large = 10_i128.pow(37) + 10_i128.pow(18) + 7;
        for units in [i128::MAX, i128::MIN + 1, large, -large, i128::from(i64::MAX) + 1] {
            for scale in [0, 1, 2, 3, 4, 6, 17, 18] {
                let mut out = Vec::new();
                put_decimal128(&mut out, Wire::Numeric, units, scale).unwrap();
                let mut rows = Rows::new();
                rows.reset(1);
                read_field(&mut rows, ColumnKind::One(Scalar::Numeric), Some(&out)).unwrap();
                assert_eq!(rows.row(0).decimal128(0, scale).unwrap(), units, "{scale}");
            }
        }
    }

    #[test]
    fn numerics_that_fit_no_integer_become_floats() {
        let cell = read(Scalar::Numeric, &shorts(&[1, 9, 0, 0, 1000]));
        assert!(matches!(cell, Cell::Float(v) if (v / 1e39 - 1.0).abs() < 1e-12), "{cell:?}");
        let cell = read(Scalar::Numeric, &shorts(&[1, 0xfff6, 0x4000, 40, 1]));
        assert!(matches!(cell, Cell::Float(v) if (v / -1e-40 - 1.0).abs() < 1e-12), "{cell:?}");
        assert!(
            matches!(read(Scalar::Numeric, &shorts(&[0, 0, 0xC000, 0])), Cell::Float(v) if v.is_nan())
        );
        assert_eq!(
            read(Scalar::Numeric, &shorts(&[0, 0, 0xD000, 0x20])),
            Cell::Float(f64::INFINITY)
        );
        let cell = read(Scalar::Numeric, &shorts(&[0, 0, 0, 30]));
        assert_eq!(cell, Cell::Decimal { units: 0, scale: 18 });
    }

    #[test]
    fn integers_that_do_not_fit_are_refused() {
        for (value, wire, fits) in [
            (32_767, Wire::Int2, true),
            (32_768, Wire::Int2, false),
            (-2_147_483_648, Wire::Int4, true),
            (2_147_483_648, Wire::Int4, false),
            (i64::MAX, Wire::Int8, true),
            (5, Wire::Numeric, true),
            (5, Wire::Float8, true),
            (5, Wire::Text, false),
            (5, Wire::Timestamp, false),
        ] {
            let result = put_int(&mut Vec::new(), wire, value);
            assert_eq!(result.is_ok(), fits, "{value} as {wire:?}");
        }
        let error = put_int(&mut Vec::new(), Wire::Int2, 40_000).unwrap_err();
        assert_eq!(error.to_string(), "40000 does not fit a smallint");
        assert!(put_decimal(&mut Vec::new(), Wire::Int4, 1200, 2).is_ok());
        assert!(put_decimal(&mut Vec::new(), Wire::Int4, 1250, 2).is_err());
    }

    #[test]
    fn times_count_from_2000_on_the_wire() {
        let at = Timestamp::parse("2000-01-02 00:00:00.000001").unwrap();
        let mut out = Vec::new();
        put_timestamp(&mut out, Wire::Timestamp, at).unwrap();
        assert_eq!(out, 86_400_000_001i64.to_be_bytes());
        assert_eq!(read(Scalar::Timestamp, &out), Cell::Timestamp(at));
        let day = Timestamp::parse("1999-12-31 00:00:00").unwrap();
        let day = Date::of(day).unwrap();
        assert_eq!(read(Scalar::Date, &(-1i32).to_be_bytes()), Cell::Date(day));
        let mut out = Vec::new();
        put_date(&mut out, Wire::Date, day).unwrap();
        assert_eq!(out, (-1i32).to_be_bytes());
    }

    #[test]
    fn arrays_of_one_dimension_become_lists() {
        let mut raw = Vec::new();
        put_ints(&mut raw, Wire::Int4List, &[7, -8]).unwrap();
        let mut rows = Rows::new();
        rows.reset(2);
        read_field(&mut rows, ColumnKind::Many(Scalar::Int4), Some(&raw)).unwrap();
        read_field(&mut rows, ColumnKind::Many(Scalar::Int4), None).unwrap();
        let list = rows.row(0).list(0).unwrap();
        assert_eq!((list.len(), list.int(0).unwrap(), list.int(1).unwrap()), (2, 7, -8));
        assert!(rows.row(0).is_null(1));
        raw.clear();
        put_ints(&mut raw, Wire::Int4List, &[]).unwrap();
        assert_eq!(raw, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 23]);
        raw[3] = 2;
        rows.reset(1);
        let result = read_field(&mut rows, ColumnKind::Many(Scalar::Int4), Some(&raw));
        assert_eq!(result, Err(Unreadable::Dimensions));
    }

    #[test]
    fn truncated_fields_are_errors_and_no_panics() {
        let mut array = Vec::new();
        put_ints(&mut array, Wire::Int4List, &[1, 2]).unwrap();
        let full = numeric(123_456_789, 4);
        for cut in 0..full.len() {
            let mut rows = Rows::new();
            rows.reset(1);
            let kind = ColumnKind::One(Scalar::Numeric);
            assert!(read_field(&mut rows, kind, Some(&full[..cut])).is_err(), "{cut}");
        }
        for cut in 0..array.len() {
            let mut rows = Rows::new();
            rows.reset(1);
            let kind = ColumnKind::Many(Scalar::Int4);
            assert!(read_field(&mut rows, kind, Some(&array[..cut])).is_err(), "{cut}");
        }
    }

    #[test]
    fn a_copy_row_is_count_then_lengths_and_fields() {
        let mut rows = Rows::new();
        rows.reset(3);
        rows.int(5);
        rows.text("ab");
        rows.null();
        let mut out = BytesMut::new();
        let wires = [Wire::Int4, Wire::Text, Wire::Timestamp];
        put_copy_row(&mut out, &rows.row(0), &wires).unwrap();
        let expected = [0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 2, b'a', b'b', 255, 255, 255, 255];
        assert_eq!(out[..], expected);
    }
    /// Bytes that no server sends, in fields of every type. `infinity` is a timestamp that servers
    /// do send.
    #[test]
    fn noise_is_an_error_or_a_value_and_no_panic() {
        use Scalar as S;
        let scalars = [S::Int2, S::Int4, S::Int8, S::Bool, S::Oid, S::Float4, S::Float8]
            .into_iter()
            .chain([S::Numeric, S::Text, S::Timestamp, S::Date, S::Void]);
        let kinds: Vec<ColumnKind> =
            scalars.flat_map(|s| [ColumnKind::One(s), ColumnKind::Many(s)]).collect();
        let mut rng = triphammer_core::Rng::of(1, &[]);
        let (mut rows, mut read) = (Rows::new(), 0);
        let mut check = |kind, field: &[u8]| {
            rows.reset(1);
            if read_field(&mut rows, kind, Some(field)).is_ok() {
                let row = rows.row(0);
                let _ = (row.int(0), row.decimal(0, 2), row.decimal128(0, 2), row.float(0));
                let _ = (row.date(0).map(|date| date.to_string()), row.text(0).map(str::len));
                let _ = row.timestamp(0).map(|at| at.to_string());
                read += 1;
            }
        };
        for round in 0..60_000 {
            let length = [1, 2, 4, 8, 10, 12, 16, 28][usize::try_from(rng.below(8)).unwrap()];
            let mut field: Vec<u8> =
                (0..length).map(|_| u8::try_from(rng.below(256)).unwrap()).collect();
            // Small numbers, for lengths and counts that match what follows.
            for byte in &mut field {
                *byte = if rng.percent(50) { *byte % 3 } else { *byte };
            }
            check(kinds[round % kinds.len()], &field);
        }
        for infinity in [i64::MAX, i64::MIN] {
            check(ColumnKind::One(S::Timestamp), &infinity.to_be_bytes());
        }
        assert!(read > 5_000, "{read}");
    }
}

//! Our values as ODBC's parameters, and its fields as ours.

use std::fmt::Write;

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::odbc::{ListForm, NumberForm, OdbcDef};
use triphammer_core::rows::{Cell, Row, Rows};
use triphammer_core::value::{ColumnType, Date, Timestamp, Value, parse_decimal128, write_decimal};
use triphammer_odbc::{Field, Moment, Param, ParamType};

use super::lists;

/// All digits of a decimal that a parameter has.
const PRECISION: u8 = 38;

/// How a dialect's values are passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forms {
    lists: ListForm,
    decimals: NumberForm,
    big_integers: bool,
    text_dates: bool,
    wide_text: bool,
}

impl Forms {
    pub(super) fn of(def: &OdbcDef) -> Self {
        Self {
            lists: def.lists.unwrap_or(ListForm::Json),
            decimals: def.decimals.unwrap_or(NumberForm::Exact),
            big_integers: def.big_integers.unwrap_or(true),
            text_dates: def.text_dates.unwrap_or(false),
            wide_text: def.wide_text.unwrap_or(false),
        }
    }

    /// The type of a parameter.
    pub(super) fn param(self, column: ColumnType) -> ParamType {
        match column {
            ColumnType::SmallInt => ParamType::SmallInt,
            ColumnType::Int => ParamType::Int,
            ColumnType::BigInt if self.big_integers => ParamType::BigInt,
            ColumnType::BigInt => ParamType::Decimal { precision: PRECISION, scale: 0 },
            ColumnType::Float => ParamType::Double,
            ColumnType::Decimal(_) if self.decimals == NumberForm::Float => ParamType::Double,
            ColumnType::Decimal(scale) => ParamType::Decimal { precision: PRECISION, scale },
            ColumnType::Date if !self.text_dates => ParamType::Date,
            ColumnType::Timestamp if !self.text_dates => ParamType::Timestamp,
            ColumnType::Text
            | ColumnType::Date
            | ColumnType::Timestamp
            | ColumnType::IntList
            | ColumnType::Any => match self.wide_text {
                true => ParamType::WideText,
                false => ParamType::Text,
            },
        }
    }
}

/// A value on its way, and a buffer for those that are written as text.
#[derive(Debug, Default)]
pub(super) struct Scratch(String);

impl Scratch {
    /// An argument as a parameter of this type; `None` if it cannot be one.
    #[inline]
    pub(super) fn value<'a>(
        &'a mut self,
        value: Value<'a>,
        wanted: ParamType,
        forms: Forms,
    ) -> Option<Param<'a>> {
        match value {
            Value::Null => Some(Param::Null),
            Value::Text(text) => Some(Param::Text(text)),
            Value::Bytes(_) => None,
            Value::Int(value) => self.int(value, wanted),
            Value::Float(value) => self.float(value, wanted),
            Value::Decimal { units, scale } => self.decimal(units.into(), scale, wanted),
            Value::Decimal128 { units, scale } => self.decimal(*units, scale, wanted),
            Value::Timestamp(at) => self.timestamp(at, wanted),
            Value::Date(date) => self.date(date, wanted),
            Value::Ints(list) => {
                self.0.clear();
                lists::write(&mut self.0, forms.lists, list);
                Some(Param::Text(&self.0))
            }
        }
    }

    /// A cell of a row as a parameter; `None` if it cannot be one.
    #[inline]
    pub(super) fn cell<'a>(
        &'a mut self,
        row: &Row<'a>,
        cell: Cell,
        wanted: ParamType,
    ) -> Option<Param<'a>> {
        match cell {
            Cell::Null => Some(Param::Null),
            Cell::Text(span) => std::str::from_utf8(row.text_bytes(span)).ok().map(Param::Text),
            Cell::Int(value) => self.int(value, wanted),
            Cell::Float(value) => self.float(value, wanted),
            Cell::Decimal { units, scale } => self.decimal(units.into(), scale, wanted),
            Cell::Decimal128 { place, scale } => self.decimal(*row.units(place), scale, wanted),
            Cell::Timestamp(at) => self.timestamp(at, wanted),
            Cell::Date(date) => self.date(date, wanted),
            Cell::List(_) => None,
        }
    }

    fn shown(&mut self, value: impl std::fmt::Display) -> Option<Param<'_>> {
        self.0.clear();
        write!(self.0, "{value}").expect("writing to a String cannot fail");
        Some(Param::Text(&self.0))
    }

    fn int(&mut self, value: i64, wanted: ParamType) -> Option<Param<'_>> {
        match wanted {
            ParamType::SmallInt | ParamType::Int | ParamType::BigInt => Some(Param::Int(value)),
            #[expect(clippy::cast_precision_loss, reason = "the database stores floating point")]
            ParamType::Double => Some(Param::Float(value as f64)),
            ParamType::Text | ParamType::WideText | ParamType::Decimal { .. } => self.shown(value),
            ParamType::Date | ParamType::Timestamp => None,
        }
    }

    fn float(&mut self, value: f64, wanted: ParamType) -> Option<Param<'_>> {
        match wanted {
            ParamType::Double => Some(Param::Float(value)),
            ParamType::Text | ParamType::WideText => self.shown(value),
            _ => None,
        }
    }

    fn decimal(&mut self, units: i128, scale: u8, wanted: ParamType) -> Option<Param<'_>> {
        match wanted {
            // Through text, which gives the nearest number.
            ParamType::Double => {
                self.0.clear();
                write!(self.0, "{units}e-{scale}").ok()?;
                self.0.parse().ok().map(Param::Float)
            }
            ParamType::Decimal { .. } | ParamType::Text | ParamType::WideText => {
                self.0.clear();
                write_decimal(&mut self.0, units, scale).ok()?;
                Some(Param::Text(&self.0))
            }
            _ => None,
        }
    }

    fn timestamp(&mut self, at: Timestamp, wanted: ParamType) -> Option<Param<'_>> {
        match wanted {
            ParamType::Timestamp => moment(at).map(Param::Moment),
            ParamType::Date => Date::of(at).and_then(day).map(Param::Moment),
            ParamType::Text | ParamType::WideText => self.shown(at),
            _ => None,
        }
    }

    fn date(&mut self, date: Date, wanted: ParamType) -> Option<Param<'_>> {
        match wanted {
            ParamType::Date | ParamType::Timestamp => day(date).map(Param::Moment),
            ParamType::Text | ParamType::WideText => self.shown(date),
            _ => None,
        }
    }
}

/// An instant in its parts.
fn moment(at: Timestamp) -> Option<Moment> {
    let civil = at.civil()?;
    let small = |part: i8| u16::try_from(part).ok();
    Some(Moment {
        year: civil.year(),
        month: small(civil.month())?,
        day: small(civil.day())?,
        hour: small(civil.hour())?,
        minute: small(civil.minute())?,
        second: small(civil.second())?,
        nanosecond: u32::try_from(civil.subsec_nanosecond()).ok()?,
    })
}

/// A date in its parts.
fn day(date: Date) -> Option<Moment> {
    let civil = date.civil()?;
    let small = |part: i8| u16::try_from(part).ok();
    let (month, day) = (small(civil.month())?, small(civil.day())?);
    Some(Moment { year: civil.year(), month, day, ..Moment::default() })
}

/// An instant from its parts.
fn instant(at: Moment) -> Option<Timestamp> {
    let day = Date::parse(&format!("{:04}-{:02}-{:02}", at.year, at.month, at.day))?;
    let seconds = (i64::from(at.hour) * 60 + i64::from(at.minute)) * 60 + i64::from(at.second);
    let midnight = day.midnight()?.0;
    Some(Timestamp(midnight + seconds * 1_000_000 + i64::from(at.nanosecond / 1_000)))
}

/// Appends a field of a result; `lists` if a text may be a list.
#[inline]
pub(super) fn append(
    rows: &mut Rows,
    field: Field<'_>,
    place: usize,
    lists: Option<ListForm>,
) -> Result<(), DbError> {
    match field {
        Field::Null => rows.null(),
        Field::Int(value) => rows.int(value),
        Field::Float(value) => rows.float(value),
        Field::Text(text) => append_text(rows, text, lists),
        Field::Date(at) => match instant(at).and_then(Date::of) {
            Some(date) => rows.date(date),
            None => return Err(unreadable(place, "a date that does not exist")),
        },
        Field::Timestamp(at) => match instant(at) {
            Some(at) => rows.timestamp(at),
            None => return Err(unreadable(place, "a time that does not exist")),
        },
        Field::Binary => return Err(unreadable(place, "binary data, which workloads do not read")),
    }
    Ok(())
}

#[inline]
fn append_text(rows: &mut Rows, text: &[u8], lists: Option<ListForm>) {
    if let Some(form) = lists
        && lists::is_list(form, text)
    {
        lists::read(rows, text);
    } else if let Some(value) = scientific(text) {
        rows.float(value);
    } else {
        rows.text_with(|out| out.extend_from_slice(text));
    }
}

/// A number with an exponent, such as `1.5e-10`: drivers write floating point so where they pass
/// it as text.
#[inline]
fn scientific(text: &[u8]) -> Option<f64> {
    let digit = text.iter().position(u8::is_ascii_digit).filter(|place| *place < 2)?;
    if text.len() > 30 || text.get(digit + 1) != Some(&b'.') {
        return None;
    }
    let exponent = text.iter().position(|byte| byte.eq_ignore_ascii_case(&b'e'))?;
    if !matches!(text.get(exponent + 1), Some(b'+' | b'-')) {
        return None;
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn unreadable(place: usize, what: &str) -> DbError {
    DbError::new(ErrorClass::Unsupported, format!("column {place} has {what}"))
}

/// Whether a decimal, as text, has no more digits than the type keeps. Drivers cut what is longer.
pub(super) fn fits(value: Param<'_>, wanted: ParamType) -> bool {
    match (value, wanted) {
        (Param::Text(text), ParamType::Decimal { scale, .. }) => {
            parse_decimal128(text, scale).is_some()
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_exponents_are_no_text() {
        for (text, value) in [("1.0e-10", Some(1e-10)), ("-9.5E+15", Some(-9.5e15))] {
            assert_eq!(scientific(text.as_bytes()), value, "{text}");
        }
        for text in ["", "1", "1.5", "12e3", "1e-10", "a1.0e-1", "1.0e-x", "1.0e1"] {
            assert_eq!(scientific(text.as_bytes()), None, "{text}");
        }
    }
}

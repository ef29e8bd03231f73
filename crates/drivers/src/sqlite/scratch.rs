//! Converts our values to SQLite's: integers, floating point and text. Values that must be
//! formatted as text are written to one buffer, which is reused; SQLite copies it when it is bound.

use std::fmt::Write;

use rusqlite::types::ValueRef;
use triphammer_core::rows::{Cell, Row};
use triphammer_core::value::{ColumnType, Date, Timestamp, Value};

/// Buffers for formatted values.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    text: String,
    /// The last timestamp: they repeat, since a transaction has one and a load hardly more.
    last: Option<Timestamp>,
    last_text: String,
}

impl Scratch {
    /// A value as it is bound, or why it cannot be.
    #[inline]
    pub(super) fn value<'a>(
        &'a mut self,
        value: Value<'a>,
        wanted: ColumnType,
    ) -> Result<ValueRef<'a>, String> {
        Ok(match value {
            Value::Null => ValueRef::Null,
            Value::Int(value) => ValueRef::Integer(fitting(value, wanted)?),
            Value::Float(value) => ValueRef::Real(value),
            Value::Decimal { units, scale } => ValueRef::Real(decimal(units, scale)),
            Value::Decimal128 { units, scale } => ValueRef::Real(nearest(*units, scale)?),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
            Value::Timestamp(value) => ValueRef::Text(self.timestamp(value)),
            Value::Date(date) => ValueRef::Text(self.date(date)),
            Value::Ints(values) => ValueRef::Text(self.json(values)),
        })
    }

    /// A cell of `row` as it is bound, or why it cannot be.
    #[inline]
    pub(super) fn cell<'a>(
        &'a mut self,
        row: &Row<'a>,
        cell: Cell,
        wanted: ColumnType,
    ) -> Result<ValueRef<'a>, String> {
        Ok(match cell {
            Cell::Null => ValueRef::Null,
            Cell::Int(value) => ValueRef::Integer(fitting(value, wanted)?),
            Cell::Float(value) => ValueRef::Real(value),
            Cell::Decimal { units, scale } => ValueRef::Real(decimal(units, scale)),
            Cell::Decimal128 { place, scale } => ValueRef::Real(nearest(*row.units(place), scale)?),
            Cell::Date(date) => ValueRef::Text(self.date(date)),
            Cell::Text(span) => ValueRef::Text(row.text_bytes(span)),
            Cell::Timestamp(value) => ValueRef::Text(self.timestamp(value)),
            Cell::List(_) => return Err("a list cannot be loaded".to_owned()),
        })
    }

    fn timestamp(&mut self, value: Timestamp) -> &[u8] {
        if self.last != Some(value) {
            self.last_text.clear();
            write!(self.last_text, "{value}").expect("writing to a String cannot fail");
            self.last = Some(value);
        }
        self.last_text.as_bytes()
    }

    fn date(&mut self, value: Date) -> &[u8] {
        self.text.clear();
        write!(self.text, "{value}").expect("writing to a String cannot fail");
        self.text.as_bytes()
    }

    fn json(&mut self, values: &[i32]) -> &[u8] {
        self.text.clear();
        self.text.push('[');
        for (place, value) in values.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(self.text, "{comma}{value}").expect("writing to a String cannot fail");
        }
        self.text.push(']');
        self.text.as_bytes()
    }
}

/// Returns the integer if it fits the type. SQLite would accept any.
#[inline]
fn fitting(value: i64, wanted: ColumnType) -> Result<i64, String> {
    let fits = match wanted {
        ColumnType::SmallInt => i16::try_from(value).is_ok(),
        ColumnType::Int => i32::try_from(value).is_ok(),
        _ => true,
    };
    if fits { Ok(value) } else { Err(format!("{value} does not fit {wanted:?}")) }
}

/// The floating-point number nearest to `units` × 10^-`scale`. Both are exact below 2^53 and 10^22, so
/// their quotient is correctly rounded; larger ones go through text.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "only used where it is exact")]
fn decimal(units: i64, scale: u8) -> f64 {
    const EXACT: u64 = 1 << 53;
    if units.unsigned_abs() <= EXACT && scale <= 18 {
        return units as f64 / POWERS[usize::from(scale)];
    }
    nearest(units.into(), scale).expect("a decimal parses as a number")
}

/// The same, converted through text.
#[cold]
fn nearest(units: i128, scale: u8) -> Result<f64, String> {
    format!("{units}e-{scale}")
        .parse()
        .map_err(|_| format!("{units} at scale {scale} is not a number"))
}

const POWERS: [f64; 19] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_the_nearest_floating_point_number() {
        for (units, scale, expected) in [
            (-5, 2, -0.05),
            (1999, 4, 0.1999),
            (9_007_199_254_740_995, 2, 90_071_992_547_409.95),
            (-9_007_199_254_740_993, 3, -9_007_199_254_740.993),
        ] {
            assert_eq!(decimal(units, scale), expected);
        }
    }

    #[test]
    fn lists_are_json() {
        let mut scratch = Scratch::default();
        for (list, expected) in [(&[][..], "[]"), (&[1, -2, 30][..], "[1,-2,30]")] {
            let bound = scratch.value(Value::Ints(list), ColumnType::IntList).unwrap();
            assert_eq!(bound.as_str().unwrap(), expected);
        }
    }
}

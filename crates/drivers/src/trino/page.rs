//! Pages of results: JSON, of which the rows go straight into a row buffer.
//!
//! A page is read twice: first what surrounds the rows, which are skipped, then the rows. So the
//! order of a page's parts does not matter, and no row is held in between.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use triphammer_core::rows::Rows;
use triphammer_core::value::{SCALE_MAX, parse_decimal128};
use triphammer_core::{Date, DbError, ErrorClass, Timestamp};

/// What a page says besides its rows.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page {
    /// Address of the next page; `None` at the end.
    pub(super) next_uri: Option<String>,
    /// The columns, once they are known.
    pub(super) columns: Option<Vec<Column>>,
    data: Option<IgnoredAny>,
    /// Why the statement failed.
    pub(super) error: Option<Failure>,
    /// Kind of a statement that is not a query, such as `INSERT`.
    pub(super) update_type: Option<String>,
    /// Number of rows that it changed.
    pub(super) update_count: Option<u64>,
}

/// A column of a result.
#[derive(Debug, Deserialize)]
pub(super) struct Column {
    pub(super) name: String,
    #[serde(rename = "type")]
    column_type: String,
}

/// An error of a statement.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Failure {
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) error_name: String,
}

/// How the fields of a column are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Int,
    Float,
    Decimal(u8),
    Date,
    Timestamp,
    /// Text, and every other type that is sent as text.
    Text,
}

impl Page {
    /// Reads what surrounds the rows.
    pub(super) fn read(body: &[u8]) -> Result<Self, DbError> {
        serde_json::from_slice(body).map_err(|error| malformed(&error))
    }

    /// Whether the page has rows.
    pub(super) const fn has_rows(&self) -> bool {
        self.data.is_some()
    }
}

impl Column {
    /// How its fields are read.
    pub(super) fn kind(&self) -> ColumnKind {
        let (name, rest) = self.column_type.split_once('(').unwrap_or((&self.column_type, ""));
        match name {
            "bigint" | "integer" | "smallint" | "tinyint" | "boolean" => ColumnKind::Int,
            "double" | "real" => ColumnKind::Float,
            "date" => ColumnKind::Date,
            "timestamp" if !self.column_type.ends_with("time zone") => ColumnKind::Timestamp,
            "decimal" => {
                let scale = rest.trim_end_matches(')').split(',').nth(1).unwrap_or("0");
                let scale = scale.trim().parse().ok().filter(|scale| *scale <= SCALE_MAX);
                scale.map_or(ColumnKind::Text, ColumnKind::Decimal)
            }
            _ => ColumnKind::Text,
        }
    }
}

/// The error for a page that is not what Trino sends.
fn malformed(error: &dyn fmt::Display) -> DbError {
    let message = format!("the server did not answer as Trino does: {error}");
    DbError::new(ErrorClass::Disconnected, message)
}

/// Reads the rows of a page into `rows`, which has the width of `kinds`; after each row,
/// `after_row` may take what has been collected.
pub(super) fn read_rows(
    body: &[u8],
    kinds: &[ColumnKind],
    rows: &mut Rows,
    after_row: &mut dyn FnMut(&mut Rows) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let mut failed = None;
    let seed = WholePage(Reader { kinds, rows, after_row, failed: &mut failed });
    let mut json = serde_json::Deserializer::from_slice(body);
    let read = seed.deserialize(&mut json);
    match (failed, read) {
        (Some(error), _) => Err(error),
        (None, read) => read.map_err(|error| malformed(&error)),
    }
}

/// Where rows go.
struct Reader<'a> {
    kinds: &'a [ColumnKind],
    rows: &'a mut Rows,
    after_row: &'a mut dyn FnMut(&mut Rows) -> Result<(), DbError>,
    /// What `after_row` returned when it stopped the reading.
    failed: &'a mut Option<DbError>,
}

struct WholePage<'a>(Reader<'a>);

impl<'de> DeserializeSeed<'de> for WholePage<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, page: D) -> Result<(), D::Error> {
        page.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for WholePage<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a page of a result")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut page: A) -> Result<(), A::Error> {
        while let Some(part) = page.next_key::<std::borrow::Cow<'_, str>>()? {
            if part == "data" {
                page.next_value_seed(AllRows(&mut self.0))?;
            } else {
                page.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct AllRows<'a, 'r>(&'a mut Reader<'r>);

impl<'de> DeserializeSeed<'de> for AllRows<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, rows: D) -> Result<(), D::Error> {
        rows.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for AllRows<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        let Reader { kinds, rows: buffer, after_row, failed } = self.0;
        while rows.next_element_seed(OneRow(kinds, buffer))?.is_some() {
            if let Err(error) = after_row(buffer) {
                **failed = Some(error);
                return Err(de::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

struct OneRow<'a>(&'a [ColumnKind], &'a mut Rows);

impl<'de> DeserializeSeed<'de> for OneRow<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, row: D) -> Result<(), D::Error> {
        row.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for OneRow<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a row of {} fields", self.0.len())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut row: A) -> Result<(), A::Error> {
        for (place, kind) in self.0.iter().enumerate() {
            if row.next_element_seed(Field(kind, self.1))?.is_none() {
                return Err(de::Error::invalid_length(place, &self));
            }
        }
        if row.next_element::<IgnoredAny>()?.is_some() {
            return Err(de::Error::invalid_length(self.0.len() + 1, &self));
        }
        Ok(())
    }
}

struct Field<'a>(&'a ColumnKind, &'a mut Rows);

impl<'de> DeserializeSeed<'de> for Field<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, field: D) -> Result<(), D::Error> {
        field.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Field<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ColumnKind::Int => f.write_str("an integer"),
            ColumnKind::Float => f.write_str("a number"),
            ColumnKind::Decimal(_) => f.write_str("a decimal"),
            ColumnKind::Date => f.write_str("a date"),
            ColumnKind::Timestamp => f.write_str("a timestamp"),
            ColumnKind::Text => f.write_str("text (no workload reads lists, maps or rows)"),
        }
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.1.null();
        Ok(())
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        self.visit_i64(value.into())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        match self.0 {
            ColumnKind::Int => self.1.int(value),
            #[expect(clippy::cast_precision_loss, reason = "the column is floating point")]
            ColumnKind::Float => self.1.float(value as f64),
            _ => return Err(E::invalid_type(de::Unexpected::Signed(value), &self)),
        }
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            #[expect(clippy::cast_precision_loss, reason = "the column is floating point")]
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        match self.0 {
            ColumnKind::Float => self.1.float(value),
            _ => return Err(E::invalid_type(de::Unexpected::Float(value), &self)),
        }
        Ok(())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        let rows = self.1;
        let read = match self.0 {
            ColumnKind::Text => {
                rows.text(text);
                Some(())
            }
            ColumnKind::Decimal(scale) => {
                parse_decimal128(text, *scale).map(|units| rows.decimal128(units, *scale))
            }
            ColumnKind::Date => Date::parse(text).map(|date| rows.date(date)),
            ColumnKind::Timestamp => Timestamp::parse(text).map(|at| rows.timestamp(at)),
            // NaN and the infinities are not numbers in JSON.
            ColumnKind::Float => text.parse().ok().map(|value| rows.float(value)),
            ColumnKind::Int => None,
        };
        read.ok_or_else(|| {
            E::invalid_value(de::Unexpected::Str(text), &Field(self.0, &mut Rows::new()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(columns: &str, data: &str) -> String {
        format!(
            r#"{{"data":[{data}],"columns":[{columns}],"id":"q","stats":{{"state":"FINISHED"}}}}"#
        )
    }

    fn columns(types: &[&str]) -> String {
        let column =
            |name: &&str| format!(r#"{{"name":"c","type":"{name}","typeSignature":{{}}}}"#);
        types.iter().map(column).collect::<Vec<_>>().join(",")
    }

    fn read(types: &[&str], data: &str) -> Result<Rows, DbError> {
        let body = page(&columns(types), data);
        let found = Page::read(body.as_bytes())?;
        assert!(found.has_rows() && found.next_uri.is_none() && found.error.is_none());
        let kinds: Vec<_> = found.columns.unwrap().iter().map(Column::kind).collect();
        let mut rows = Rows::new();
        rows.reset(kinds.len());
        read_rows(body.as_bytes(), &kinds, &mut rows, &mut |_| Ok(()))?;
        Ok(rows)
    }

    #[test]
    fn fields_are_read_by_the_type_of_their_column() {
        let types = [
            "bigint",
            "boolean",
            "double",
            "real",
            "decimal(15, 2)",
            "decimal(38,10)",
            "varchar(9)",
            "char(3)",
            "date",
            "timestamp(6)",
            "timestamp(3) with time zone",
            "double",
        ];
        let data = r#"[-9223372036854775808, true, 1e300, 2, "-0.05", "99999999999999999999.5",
            "n\u00e4h \ud83e\udd80", "ab ", "0001-01-01", "1999-12-31 23:59:59.999999",
            "2026-11-23 07:30:52.465 UTC", "-Infinity"],
            [null, null, null, null, null, null, null, null, null, null, null, "NaN"]"#;
        let rows = read(&types, data).unwrap();
        let row = rows.row(0);
        assert_eq!((row.int(0).unwrap(), row.int(1).unwrap()), (i64::MIN, 1));
        assert_eq!((row.float(2).unwrap(), row.float(3).unwrap()), (1e300, 2.0));
        assert_eq!(row.decimal(4, 2).unwrap(), -5);
        let large = 99_999_999_999_999_999_999_i128 * 10_i128.pow(10) + 5_000_000_000;
        assert_eq!(row.decimal128(5, 10).unwrap(), large);
        assert_eq!((row.text(6).unwrap(), row.text(7).unwrap()), ("näh 🦀", "ab "));
        assert_eq!(row.date(8).unwrap(), Date::parse("0001-01-01").unwrap());
        let at = Timestamp::parse("1999-12-31 23:59:59.999999").unwrap();
        assert_eq!(row.timestamp(9).unwrap(), at);
        assert_eq!(row.text(10).unwrap(), "2026-11-23 07:30:52.465 UTC");
        assert_eq!(row.float(11).unwrap(), f64::NEG_INFINITY);
        let nulls = rows.row(1);
        assert!((0..11).all(|column| nulls.is_null(column)));
        assert!(nulls.float(11).unwrap().is_nan());
    }

    #[test]
    fn what_is_not_a_page_is_an_error_that_ends_the_session() {
        for (types, data) in [
            (&["bigint"][..], "[1, 2]"),
            (&["bigint", "bigint"], "[1]"),
            (&["bigint"], "1"),
            (&["bigint"], "[1.5]"),
            (&["bigint"], "[18446744073709551615]"),
            (&["bigint"], r#"["1"]"#),
            (&["decimal(5,2)"], r#"["1.234"]"#),
            (&["decimal(5,2)"], "[1.2]"),
            (&["date"], r#"["2026-02-30"]"#),
            (&["varchar"], "[[1]]"),
            (&["array(bigint)"], "[[1]]"),
            (&["varchar"], "[{}]"),
            (&[], "[1]"),
        ] {
            let error = read(types, data).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Disconnected, "{data}: {error}");
        }
        let whole = page(&columns(&["bigint"]), "[1],[2]");
        for end in 0..whole.len() {
            assert!(Page::read(&whole.as_bytes()[..end]).is_err(), "cut at {end}");
        }
        for text in
            ["null", "[]", "{\"columns\":1}", "{\"nextUri\":[]}", "{\"error\":\"x\"}", "<html>"]
        {
            assert!(Page::read(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_reader_may_stop_the_reading() {
        let body = page(&columns(&["bigint"]), "[1],[2],[3]");
        let mut rows = Rows::new();
        rows.reset(1);
        let mut after = |rows: &mut Rows| match rows.len() {
            2 => Err(DbError::new(ErrorClass::Other, "enough")),
            _ => Ok(()),
        };
        let error =
            read_rows(body.as_bytes(), &[ColumnKind::Int], &mut rows, &mut after).unwrap_err();
        assert_eq!((error.to_string().as_str(), rows.len()), ("enough", 2));
    }
}

//! Generators of parameters, guessed from columns and the values in them.

use crate::columns::{Column, ColumnKind, Origin};
use crate::written::quoted;

/// Longest text that is guessed where a column has no limit, in characters.
const TEXT_MAX: u32 = 20;
/// Largest value that is added to another one.
const AMOUNT_MAX: i64 = 100;
/// Number of rows that a statement with a limit returns.
const ROWS: i64 = 10;

/// The smallest and the largest value of a column, as texts; `None` if it has no values or they were not read.
pub type Span = Option<(String, String)>;

/// A generator.
#[derive(Clone, Debug, PartialEq)]
pub enum Guess {
    /// Whole numbers of a range.
    Integer(i64, i64),
    /// Decimals of a range, with so many digits after the point.
    Decimal(f64, f64, u8),
    /// Numbers of a range.
    Float(f64, f64),
    /// `date` or `timestamp`, of a range.
    Time(&'static str, String, String),
    /// Numbers after the result of a query.
    Sequence(String),
    /// One of the values that a query returns.
    Query(String),
    /// Random texts of at most so many characters.
    Text(u32),
    /// A digit: a text that stands for a number, too.
    Digit,
}

impl Guess {
    /// The guess for a parameter: `span` is that of its column, `values` a query that returns some of the column's
    /// values, and `last` one that returns its largest value.
    #[must_use]
    pub fn of(origin: &Origin, span: &Span, values: &str, last: &str) -> Self {
        match origin {
            Origin::Limit => Self::Integer(ROWS, ROWS),
            Origin::Offset => Self::Integer(0, 0),
            Origin::Amount => Self::Integer(1, AMOUNT_MAX),
            Origin::Unknown => Self::Digit,
            Origin::Any(_) => Self::Query(values.to_owned()),
            Origin::Inserted(column) if column.is_unique && column.kind == ColumnKind::Integer => {
                Self::Sequence(last.to_owned())
            }
            Origin::Inserted(column) if column.is_unique => match column.kind {
                ColumnKind::Text(most) => Self::Text(most),
                _ => Self::of_column(column, span, values),
            },
            Origin::Column(column) | Origin::Inserted(column) | Origin::RangeEnd(column) => {
                Self::of_column(column, span, values)
            }
        }
    }

    fn of_column(column: &Column, span: &Span, values: &str) -> Self {
        let Some((low, high)) = span else { return Self::of_kind(column.kind) };
        let numbers = || Some((low.parse::<f64>().ok()?, high.parse::<f64>().ok()?));
        let finite = || numbers().filter(|(low, high)| low.is_finite() && high.is_finite());
        let times = |length: usize| {
            let is_time = |text: &&str| {
                text.len() == length && text.starts_with(|c: char| c.is_ascii_digit())
            };
            let cut =
                |text: &'_ String| text.get(..length).filter(|t| is_time(t)).map(str::to_owned);
            Some((cut(low)?, cut(high)?))
        };
        let guess = match column.kind {
            ColumnKind::Integer => {
                let low = low.parse().ok();
                low.zip(high.parse().ok()).map(|(low, high)| Self::Integer(low, high))
            }
            ColumnKind::Decimal(digits) => {
                finite().map(|(low, high)| Self::Decimal(low, high, digits))
            }
            ColumnKind::Float => finite().map(|(low, high)| Self::Float(low, high)),
            ColumnKind::Date => times(10).map(|(low, high)| Self::Time("date", low, high)),
            ColumnKind::Timestamp => {
                times(19).map(|(low, high)| Self::Time("timestamp", low, high))
            }
            ColumnKind::Text(_) | ColumnKind::Other => None,
        };
        guess.unwrap_or_else(|| Self::Query(values.to_owned()))
    }

    /// A guess without any values.
    fn of_kind(kind: ColumnKind) -> Self {
        let time = |name, clock| {
            Self::Time(name, format!("2026-01-01{clock}"), format!("2026-12-31{clock}"))
        };
        match kind {
            ColumnKind::Integer => Self::Integer(1, AMOUNT_MAX),
            ColumnKind::Decimal(digits) => Self::Decimal(0.0, 1.0, digits),
            ColumnKind::Float => Self::Float(0.0, 1.0),
            ColumnKind::Date => time("date", ""),
            ColumnKind::Timestamp => time("timestamp", " 00:00:00"),
            ColumnKind::Text(most) => Self::Text(most),
            ColumnKind::Other => Self::Digit,
        }
    }

    /// Its definition in a workload file. `place` is its place among the parameters of the column that one
    /// statement uses, of which there are `of`: their sequences share the numbers.
    pub(super) fn definition(&self, (place, of): (usize, usize)) -> String {
        match self {
            Self::Integer(low, high) => {
                format!("{{ generator = \"integer\", min = {low}, max = {high} }}")
            }
            Self::Decimal(low, high, digits) => {
                let digits_of = |value: &f64| format!("{value:.*}", usize::from(*digits));
                let (low, high) = (digits_of(low), digits_of(high));
                format!(
                    "{{ generator = \"decimal\", min = \"{low}\", max = \"{high}\", digits = {digits} }}"
                )
            }
            Self::Float(low, high) => {
                format!("{{ generator = \"float\", min = {low:?}, max = {high:?} }}")
            }
            Self::Time(name, low, high) => {
                format!("{{ generator = \"{name}\", min = \"{low}\", max = \"{high}\" }}")
            }
            Self::Sequence(last) => {
                let shared = match of {
                    0 | 1 => String::new(),
                    _ => format!(", start = {}, step = {of}", place + 1),
                };
                format!("{{ generator = \"sequence\", after = {}{shared} }}", quoted(last))
            }
            Self::Query(sql) => format!("{{ generator = \"query\", sql = {} }}", quoted(sql)),
            Self::Text(most) => {
                let most = if *most == 0 { TEXT_MAX } else { (*most).min(TEXT_MAX) };
                format!("{{ generator = \"text\", length = {most} }}")
            }
            Self::Digit => {
                "{ generator = \"text\", length = 1, alphabet = \"123456789\" }".to_owned()
            }
        }
    }
}

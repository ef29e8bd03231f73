//! The seconds of a run as rows: CSV, and JSON Lines with the same names. One row per second (or
//! per several merged ones, see `seconds`); `docs/outputs.md` explains the columns. Live files and
//! reports of stored jobs use the same rows.

use triphammer_core::event::Phase;
use triphammer_core::recorder::RecordedInterval;

use crate::metrics::{ALL_TYPES as ALL, Metric, OF_SECOND, OF_TYPE, Unit, Values};
use crate::second::Second;

/// Layout of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Comma-separated values with a header, RFC 4180; empty if not measured.
    Csv,
    /// One JSON object per line; null if not measured.
    JsonLines,
}

/// A cell of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cell {
    Count(u64),
    Number(f64),
    Word(&'static str),
    Missing,
}

impl Cell {
    fn of(metric: &Metric, value: Option<f64>) -> Self {
        match value.filter(|value| value.is_finite()) {
            None => Self::Missing,
            Some(value) if metric.unit == Unit::Count => Self::count(value),
            Some(value) => Self::Number(value),
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is a count")]
    const fn count(value: f64) -> Self {
        Self::Count(value as u64)
    }
}

/// Metrics of all threads that are columns, in their order. Metrics of all types are next to the
/// counts of all types.
fn of_second() -> impl Iterator<Item = &'static Metric> {
    OF_SECOND.iter().filter(|metric| metric.is_column())
}

/// Metrics of a transaction type that are columns, after its key and a dot.
fn of_type() -> impl Iterator<Item = &'static Metric> {
    OF_TYPE.iter().filter(|metric| metric.is_column())
}

/// Names of the columns for these transaction types.
#[must_use]
pub fn columns(types: &[String]) -> Vec<String> {
    let key = ["second", "seconds", "phase"].map(str::to_owned);
    let of_second = of_second().map(|metric| metric.name.to_owned());
    let all = of_type().map(|metric| format!("{ALL}{}", metric.name));
    let of_types =
        types.iter().flat_map(|key| of_type().map(move |metric| format!("{key}.{}", metric.name)));
    key.into_iter().chain(of_second).chain(all).chain(of_types).collect()
}

/// Writes rows in one layout.
#[derive(Clone, Debug)]
pub struct SeriesWriter {
    layout: Layout,
    columns: Vec<String>,
}

impl SeriesWriter {
    /// Creates a writer for a run with these transaction types.
    #[must_use]
    pub fn new(layout: Layout, types: &[String]) -> Self {
        Self { layout, columns: columns(types) }
    }

    /// The header line.
    #[must_use]
    pub fn head(&self) -> String {
        match self.layout {
            Layout::Csv => self.columns.join(",") + "\n",
            Layout::JsonLines => String::new(),
        }
    }

    /// Formats a second with its types as a line.
    #[must_use]
    pub fn row(&self, second: &SecondRow, types: &[SeriesRow]) -> String {
        let cells = cells(second, types);
        debug_assert_eq!(cells.len(), self.columns.len());
        match self.layout {
            Layout::Csv => cells.iter().map(|c| csv(*c)).collect::<Vec<_>>().join(",") + "\n",
            Layout::JsonLines => {
                let members = self.columns.iter().zip(&cells);
                let members = members.map(|(name, cell)| format!("\"{name}\":{}", json(*cell)));
                format!("{{{}}}\n", members.collect::<Vec<_>>().join(","))
            }
        }
    }

    /// Renders all rows of a stored run; both inputs are sorted by second.
    #[must_use]
    pub fn all(&self, seconds: &[SecondRow], series: &[SeriesRow]) -> String {
        let mut out = self.head();
        for (second, types) in rows(seconds, series) {
            out.push_str(&self.row(second, types));
        }
        out
    }
}

/// A column of a series.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers; NaN where nothing was measured.
    Counts(Vec<f64>),
    /// Numbers; NaN where nothing was measured.
    Numbers(Vec<f64>),
    /// Words; empty where there is none.
    Words(Vec<&'static str>),
}

/// The rows of a stored run as columns, in the order of [`columns`]. Both inputs are sorted by second.
#[must_use]
pub fn by_column(types: &[String], seconds: &[SecondRow], series: &[SeriesRow]) -> Vec<Column> {
    let mut by_column = vec![Vec::with_capacity(seconds.len()); columns(types).len()];
    for (second, types) in rows(seconds, series) {
        for (column, cell) in by_column.iter_mut().zip(cells(second, types)) {
            column.push(cell);
        }
    }
    by_column.into_iter().map(Column::of).collect()
}

/// Every second with the rows of its types.
pub(crate) fn rows<'a>(
    seconds: &'a [SecondRow],
    mut series: &'a [SeriesRow],
) -> impl Iterator<Item = (&'a SecondRow, &'a [SeriesRow])> {
    seconds.iter().map(move |second| {
        let (types, rest) =
            series.split_at(series.partition_point(|row| row.first <= second.first));
        series = rest;
        (second, types)
    })
}

impl Column {
    #[expect(clippy::cast_precision_loss, reason = "counts of a second are below 2^53")]
    fn of(cells: Vec<Cell>) -> Self {
        let word = |cell: &Cell| match *cell {
            Cell::Word(word) => word,
            _ => "",
        };
        if cells.iter().any(|cell| matches!(cell, Cell::Word(_))) {
            return Self::Words(cells.iter().map(word).collect());
        }
        let are_counts = !cells.iter().any(|cell| matches!(cell, Cell::Number(_)));
        let number = |cell: &Cell| match cell {
            Cell::Count(count) => *count as f64,
            Cell::Number(number) => *number,
            Cell::Word(_) | Cell::Missing => f64::NAN,
        };
        let numbers = cells.iter().map(number).collect();
        if are_counts { Self::Counts(numbers) } else { Self::Numbers(numbers) }
    }
}

fn cells(second: &SecondRow, types: &[SeriesRow]) -> Vec<Cell> {
    let seconds = second.last - second.first + 1;
    let mut cells = vec![
        Cell::Count(second.first),
        Cell::Count(seconds),
        second.phase.map_or(Cell::Missing, |phase| Cell::Word(phase_name(phase))),
    ];
    let cell = |values: &Values, metric: &Metric| Cell::of(metric, values.get(metric.name));
    cells.extend(of_second().map(|metric| cell(&second.values, metric)));
    let all = all(second, types);
    cells.extend(of_type().map(|metric| cell(&all, metric)));
    let types = types.iter();
    cells.extend(types.flat_map(|row| of_type().map(|metric| cell(&row.values, metric))));
    cells
}

/// Counts of all types together, and their percentiles, which are those of the second.
fn all(second: &SecondRow, types: &[SeriesRow]) -> Values {
    let types = types.iter().map(|row| &row.values);
    let mut all = Values::over_types(types, length(second.first, second.last));
    for (metric, value) in second.values.iter() {
        if let Some(name) = metric.name.strip_prefix(ALL) {
            all.set(name, value);
        }
    }
    all
}

/// No cell needs quotes: words and numbers contain neither commas nor quotes.
fn csv(cell: Cell) -> String {
    match cell {
        Cell::Missing => String::new(),
        Cell::Word(word) => word.to_owned(),
        Cell::Count(_) | Cell::Number(_) => number(cell),
    }
}

fn json(cell: Cell) -> String {
    match cell {
        Cell::Missing => "null".to_owned(),
        Cell::Word(word) => format!("\"{word}\""),
        Cell::Count(_) | Cell::Number(_) => number(cell),
    }
}

/// Formats a number for both layouts: plain digits, with at most six decimal places.
fn number(cell: Cell) -> String {
    match cell {
        Cell::Count(count) => count.to_string(),
        Cell::Number(number) => decimal(number),
        Cell::Word(_) | Cell::Missing => String::new(),
    }
}

/// Formats a number with at most six decimal places, without trailing zeros.
pub fn decimal(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Figures of a transaction type in a second, or in the interval from `first` to `last`.
#[derive(Clone, Debug)]
pub struct SeriesRow {
    /// First second, counted from the start of the run.
    pub first: u64,
    /// Last second, inclusive, counted from the start of the run.
    pub last: u64,
    /// Index of the type in [`StoredJob::transactions`].
    pub transaction: usize,
    /// Values of the metrics [`OF_TYPE`](crate::metrics::OF_TYPE).
    pub values: Values,
}

/// Figures of all threads in a second, or in the interval from `first` to `last`.
#[derive(Clone, Debug)]
pub struct SecondRow {
    /// First second, counted from the start of the run.
    pub first: u64,
    /// Last second, inclusive, counted from the start of the run.
    pub last: u64,
    /// Phase at its start; `None` in jobs of earlier versions.
    pub phase: Option<Phase>,
    /// Values of the metrics [`OF_SECOND`](crate::metrics::OF_SECOND).
    pub values: Values,
}

impl SecondRow {
    /// The stored metrics of all threads.
    #[must_use]
    pub fn of(second: &Second) -> Self {
        let (first, last) = (second.interval.first, second.interval.last);
        Self { first, last, phase: Some(second.phase), values: Values::of_second(second) }
    }
}

impl SeriesRow {
    /// The stored metrics of every type.
    pub fn of(second: &Second) -> impl Iterator<Item = Self> + '_ {
        let RecordedInterval { first, last, .. } = second.interval;
        let length = length(first, last);
        second.interval.types.iter().enumerate().map(move |(transaction, seen)| Self {
            first,
            last,
            transaction,
            values: Values::of_type(seen, length),
        })
    }
}

/// Number of seconds from `first` to `last`, inclusive.
#[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
pub const fn length(first: u64, last: u64) -> f64 {
    (last + 1 - first) as f64
}

/// Name of a phase in the store and in series.
pub const fn phase_name(phase: Phase) -> &'static str {
    phase.name()
}

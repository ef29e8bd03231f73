//! The seconds of a run as rows of a table: CSV, and JSON Lines with the same names. One row a second (or
//! one for several that were merged, as `seconds` says); `docs/outputs.md` explains the columns. Live files
//! and reports of stored jobs are made here from the same rows.

use crate::store::{SecondRow, SeriesRow, phase_name};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Comma-separated values with a head, RFC 4180; what was not measured is empty.
    Csv,
    /// One JSON object a line; what was not measured is null.
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

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<Option<u64>> for Cell {
    fn from(count: Option<u64>) -> Self {
        count.map_or(Self::Missing, Self::Count)
    }
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        number.filter(|n| n.is_finite()).map_or(Self::Missing, Self::Number)
    }
}

/// Columns of a second; `all.` stands for all transaction types together.
const OF_SECOND: &[&str] = &[
    "second",
    "seconds",
    "phase",
    "connected",
    "sessions_lost",
    "sessions_reconnected",
    "client_cpu",
    "client_busiest",
    "lag_p99_us",
    "round_trip_us",
    "host_cpu",
    "tpm_server",
    "arrivals",
    "skipped",
    "given_up",
    "backlog",
    "pool_wait_p50_us",
    "pool_wait_p99_us",
    "pool_wait_max_us",
    "all.committed",
    "all.rolled_back",
    "all.failed",
    "all.in_doubt",
    "all.retries",
    "all.mean_us",
    "all.p50_us",
    "all.p95_us",
    "all.p99_us",
    "all.max_us",
];

/// Columns of a transaction type, after its key and a dot.
const OF_TYPE: &[&str] = &[
    "committed",
    "rolled_back",
    "failed",
    "in_doubt",
    "retries",
    "mean_us",
    "p50_us",
    "p95_us",
    "p99_us",
    "max_us",
];

/// The names of the columns for these transaction types.
#[must_use]
pub fn columns(types: &[String]) -> Vec<String> {
    let of_types =
        types.iter().flat_map(|name| OF_TYPE.iter().map(move |column| format!("{name}.{column}")));
    OF_SECOND.iter().map(|column| (*column).to_owned()).chain(of_types).collect()
}

/// A writer of rows in one layout.
#[derive(Clone, Debug)]
pub struct SeriesWriter {
    layout: Layout,
    columns: Vec<String>,
}

impl SeriesWriter {
    /// For a run with these transaction types.
    #[must_use]
    pub fn new(layout: Layout, types: &[String]) -> Self {
        Self { layout, columns: columns(types) }
    }

    /// What stands before the first row.
    #[must_use]
    pub fn head(&self) -> String {
        match self.layout {
            Layout::Csv => self.columns.join(",") + "\n",
            Layout::JsonLines => String::new(),
        }
    }

    /// A second with its types, as a line.
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

    /// All rows of a stored run; both in the order of seconds.
    #[must_use]
    pub fn all(&self, seconds: &[SecondRow], series: &[SeriesRow]) -> String {
        let mut out = self.head();
        let mut rest = series;
        for second in seconds {
            let mine = rest.partition_point(|row| row.first <= second.first);
            out.push_str(&self.row(second, &rest[..mine]));
            rest = &rest[mine..];
        }
        out
    }
}

fn cells(second: &SecondRow, types: &[SeriesRow]) -> Vec<Cell> {
    let sum = |read: fn(&SeriesRow) -> u64| Cell::Count(types.iter().map(read).sum());
    let committed: u64 = types.iter().map(|row| row.committed).sum();
    let response_ns: u64 = types.iter().map(|row| row.response_ns).sum();
    let mut cells = vec![
        second.first.into(),
        (second.last - second.first + 1).into(),
        second.phase.map_or(Cell::Missing, |phase| Cell::Word(phase_name(phase))),
        u64::from(second.connected).into(),
        second.lost.into(),
        second.reconnected.into(),
        ratio(second.cpu_ns, second.wall_ns).into(),
        Some(second.busiest_share).into(),
        second.lag_p99_us.into(),
        second.round_trip_us.into(),
        second.host_share.into(),
        second.server.map(|server| server.per_minute()).into(),
        second.arrivals.into(),
        second.skipped.into(),
        second.given_up.into(),
        second.backlog.into(),
        second.wait_p50_us.into(),
        second.wait_p99_us.into(),
        second.wait_max_us.into(),
        Cell::Count(committed),
        sum(|row| row.rolled_back),
        sum(|row| row.failed),
        sum(|row| row.in_doubt),
        sum(|row| row.retries),
        mean_us(response_ns, committed).into(),
        second.p50_us.into(),
        second.p95_us.into(),
        second.p99_us.into(),
        second.max_us.into(),
    ];
    cells.extend(types.iter().flat_map(of_type));
    cells
}

fn of_type(row: &SeriesRow) -> [Cell; 10] {
    let timed = |us| (row.committed > 0).then_some(us).into();
    [
        row.committed.into(),
        row.rolled_back.into(),
        row.failed.into(),
        row.in_doubt.into(),
        row.retries.into(),
        mean_us(row.response_ns, row.committed).into(),
        timed(row.p50_us),
        timed(row.p95_us),
        timed(row.p99_us),
        timed(row.max_us),
    ]
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| triphammer_core::stats::share(part, whole))
}

fn mean_us(sum_ns: u64, count: u64) -> Option<f64> {
    ratio(sum_ns, count).map(|ns| ns / 1000.0)
}

/// No cell needs quotes: words and numbers hold neither commas nor quotes.
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

/// Digits alone, as both layouts write a number; fractions to six places.
fn number(cell: Cell) -> String {
    match cell {
        Cell::Count(count) => count.to_string(),
        Cell::Number(number) => {
            let text = format!("{number:.6}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Cell::Word(_) | Cell::Missing => String::new(),
    }
}

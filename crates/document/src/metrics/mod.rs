//! The metrics of a second, each declared once in `list`: its names, its unit, how it is read from
//! the engine's counts, and how several seconds are merged. Store, series files, Prometheus, OTLP,
//! live events, the API's series, its schema and the page use the declarations, so a new metric
//! needs one entry and the code that measures it.
//!
//! The engine merges threads and late seconds exactly, because it still has the histograms
//! ([`RecordedInterval`](triphammer_core::recorder::RecordedInterval)). Values that are already
//! plain numbers are merged only here.

mod list;
mod merge;
mod values;

use serde::{Deserialize, Serialize};
use triphammer_core::recorder::TypeInterval;

use crate::second::Second;

pub use list::{OF_SECOND, OF_TYPE};
pub use merge::{Merge, Spread};
pub use values::Values;

/// Prefix of metrics of all transaction types together.
pub const ALL_TYPES: &str = "all.";

/// Declaration of a metric of a second.
#[derive(Debug)]
pub struct Metric {
    /// Name in series files, and wherever no other name is given below.
    pub name: &'static str,
    /// Title in charts and tables.
    pub title: &'static str,
    /// Description for the API reference and for exporters.
    pub help: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// Kind of metric, which decides how it is drawn and exported.
    pub kind: Kind,
    /// Rule for merging several seconds into one value.
    pub merge: Merge,
    /// Source of its values.
    pub source: ValueSource,
    /// Whether 0 is used in the API and in columns if nothing was measured; otherwise null is.
    pub zero: bool,
    /// Whether series files contain it.
    pub file: bool,
    /// Column in the store's table of seconds or types. `None` for derived metrics, and for newer
    /// ones, which are stored as samples.
    pub column: Option<&'static str>,
    /// Name in live events; `None` if they do not contain it.
    pub live: Option<&'static str>,
    /// Name in the API's series; `None` if they do not contain it.
    pub points: Option<&'static str>,
    /// Export to Prometheus and OpenTelemetry; `None` if it is not exported.
    pub export: Option<Export>,
    /// Chart of the page that shows it; `None` if no chart does.
    pub chart: Option<Chart>,
}

/// Unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A count.
    Count,
    /// A count per second.
    PerSecond,
    /// A count per minute.
    PerMinute,
    /// A share from 0 to 1.
    Share,
    /// CPU cores; 1.5 means one and a half.
    Cores,
    /// Histogram of times in microseconds.
    Us,
    /// Times, in nanoseconds.
    Ns,
    /// Time in seconds.
    S,
    /// An average number, such as 2.4 active sessions.
    Average,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Times in milliseconds.
    Ms,
    /// Cycles per second.
    Hz,
}

impl Unit {
    /// Name in the page and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::PerSecond => "per_second",
            Self::PerMinute => "per_minute",
            Self::Share => "share",
            Self::Cores => "cores",
            Self::Us => "us",
            Self::Ns => "ns",
            Self::S => "s",
            Self::Average => "average",
            Self::Bytes => "bytes",
            Self::BytesPerSecond => "bytes_per_second",
            Self::Ms => "ms",
            Self::Hz => "hz",
        }
    }

    /// Finds the unit by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Count,
            Self::PerSecond,
            Self::PerMinute,
            Self::Share,
            Self::Cores,
            Self::Us,
            Self::Ns,
            Self::S,
            Self::Average,
            Self::Bytes,
            Self::BytesPerSecond,
            Self::Ms,
            Self::Hz,
        ];
        all.into_iter().find(|unit| unit.name() == name)
    }

    /// Steps per unit in the store: finer differences are noise.
    #[must_use]
    pub const fn scale(self) -> u32 {
        match self {
            Self::Count | Self::Us | Self::Ns | Self::Bytes | Self::BytesPerSecond | Self::Hz => 1,
            Self::PerSecond | Self::PerMinute | Self::Average | Self::Ms => 1_000,
            Self::Share | Self::Cores | Self::S => 1_000_000,
        }
    }
}

/// Kind of metric, which decides how it is drawn and exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Number of events in the second.
    Counter,
    /// State at the end of the second.
    Level,
    /// A measurement within the second.
    Gauge,
    /// A rate per second.
    Rate,
    /// A percentile of the times in it.
    Percentile,
    /// The longest time in it.
    Longest,
    /// A mean over transactions that ended in it.
    Mean,
}

impl Kind {
    /// Whether a point should have three values: minimum, mean and maximum over its seconds.
    #[must_use]
    pub const fn has_spread(self) -> bool {
        matches!(self, Self::Gauge | Self::Rate | Self::Percentile)
    }
}

/// Source of a metric.
#[derive(Clone, Copy, Debug)]
pub enum ValueSource {
    /// Computed from a second of all threads.
    Second(fn(&Second) -> Option<f64>),
    /// Computed from a second of a transaction type, or of all types.
    Type(fn(&TypeInterval) -> Option<f64>),
    /// Computed from other metrics of the same interval, and its seconds.
    Derived(fn(&Values, f64) -> Option<f64>),
}

/// How exporters publish a metric; their naming conventions are added to the name.
#[derive(Clone, Copy, Debug)]
pub struct Export {
    /// Base name: `client_lag`.
    pub name: &'static str,
    /// Unit in UCUM, as used by OpenTelemetry: `s`, `1`, `{session}`.
    pub unit: &'static str,
    /// Factor that converts a value to that unit.
    pub scale: f64,
    /// Whether the sum since the start of the run is exported; otherwise the value of the last
    /// second is.
    pub sums: bool,
}

/// A chart of the page, in addition to throughput and response times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chart {
    /// Failures, retries, lost sessions.
    Trouble,
    /// Connected sessions.
    Sessions,
    /// CPU use of client and host.
    Cpu,
    /// Event-loop lag of the client.
    Lag,
    /// A separate chart with the metric's title.
    Own,
}

impl Chart {
    /// Name in the page.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trouble => "trouble",
            Self::Sessions => "sessions",
            Self::Cpu => "cpu",
            Self::Lag => "lag",
            Self::Own => "own",
        }
    }
}

impl Metric {
    /// Declares a metric that is available everywhere under its name, with a separate chart: in
    /// files, live events and the API's series, and in the store as samples.
    #[must_use]
    pub const fn new(
        [name, title, help]: [&'static str; 3],
        unit: Unit,
        kind: Kind,
        merge: Merge,
        source: ValueSource,
    ) -> Self {
        let everywhere = Some(name);
        Self {
            name,
            title,
            help,
            unit,
            kind,
            merge,
            source,
            zero: false,
            file: true,
            column: None,
            live: everywhere,
            points: everywhere,
            export: None,
            chart: Some(Chart::Own),
        }
    }

    /// Sets the column in the store.
    const fn column(mut self, column: &'static str) -> Self {
        self.column = Some(column);
        self
    }

    /// Uses 0 if nothing was measured.
    const fn zero(mut self) -> Self {
        self.zero = true;
        self
    }

    /// Sets the names in live events and in the API's series, and the chart.
    const fn api(
        mut self,
        live: Option<&'static str>,
        points: Option<&'static str>,
        chart: Option<Chart>,
    ) -> Self {
        self.live = live;
        self.points = points;
        self.chart = chart;
        self
    }

    /// Omits it from series files.
    const fn no_file(mut self) -> Self {
        self.file = false;
        self
    }

    /// Exports the value of the last second under this name and in this unit.
    #[must_use]
    pub const fn gauge(mut self, name: &'static str, unit: &'static str, scale: f64) -> Self {
        self.export = Some(Export { name, unit, scale, sums: false });
        self
    }

    /// Exports the sum since the start of the run under this name and in this unit.
    #[must_use]
    pub const fn counter(mut self, name: &'static str, unit: &'static str, scale: f64) -> Self {
        self.export = Some(Export { name, unit, scale, sums: true });
        self
    }

    /// Reports minimum and maximum of its seconds in addition to the value.
    #[must_use]
    pub const fn has_spread(&self) -> bool {
        self.kind.has_spread()
    }

    /// Whether it is a separate column in series files. Metrics of all types are next to the counts
    /// of all types.
    #[must_use]
    pub fn is_column(&self) -> bool {
        self.file && !self.name.starts_with(ALL_TYPES)
    }

    /// Whether seconds add up, so that the value of a run is their sum.
    #[must_use]
    pub const fn is_counter(&self) -> bool {
        matches!(self.kind, Kind::Counter)
    }

    /// Whether 0 in a column means no value: a time is at least a microsecond.
    pub const fn zero_is_none(&self) -> bool {
        self.zero && matches!(self.kind, Kind::Percentile | Kind::Longest)
    }
}

//! The figures of a second, each declared once in `list`: what it is called where, its unit, how
//! it is read from what the engine counted, and how several seconds become one. Store, series files,
//! Prometheus, OTLP, live events, the API's series, its schema and the page read the declarations, so
//! a new figure is one entry there and the place that measures it.
//!
//! The engine merges threads and late seconds exactly, because it still has the histograms
//! ([`RecordedInterval`](triphammer_core::recorder::Interval)). What is only a number by then is merged here
//! and nowhere else.

mod list;
mod merge;
mod values;

use serde::{Deserialize, Serialize};
use triphammer_core::recorder::TypeInterval;

use crate::second::Second;

pub use list::{OF_SECOND, OF_TYPE};
pub use merge::{Merge, Spread};
pub use values::Values;

/// Before the names of figures of all transaction types together.
pub const ALL_TYPES: &str = "all.";

/// A declared figure of a second.
#[derive(Debug)]
pub struct Metric {
    /// Its name in files of seconds, and wherever no other is given below.
    pub name: &'static str,
    /// What charts and tables call it.
    pub title: &'static str,
    /// A sentence for the API's reference and for exporters.
    pub help: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// What kind of figure it is.
    pub kind: Kind,
    /// How several seconds become one value.
    pub merge: Merge,
    /// Where it comes from.
    pub source: ValueSource,
    /// Whether 0 stands, in the API and in columns, where nothing was measured; else null does.
    pub zero: bool,
    /// Whether files of seconds have it.
    pub file: bool,
    /// Its column in the store's table of seconds or of types. `None` for what is derived, and for
    /// later figures, which the store keeps as samples.
    pub column: Option<&'static str>,
    /// Its name in live events.
    pub live: Option<&'static str>,
    /// Its name in the API's series.
    pub points: Option<&'static str>,
    /// How Prometheus and OpenTelemetry get it.
    pub export: Option<Export>,
    /// The chart of the page that shows it.
    pub chart: Option<Chart>,
}

/// What a figure counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A number of things.
    Count,
    /// Things in a second.
    PerSecond,
    /// Things in a minute.
    PerMinute,
    /// From 0 to 1.
    Share,
    /// CPUs: 1.5 is one and a half.
    Cores,
    /// Times in microseconds.
    Us,
    /// Nanoseconds.
    Ns,
    /// Seconds.
    S,
}

impl Unit {
    /// The word that the page and the store have for it.
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
        }
    }

    /// The unit of that name.
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
        ];
        all.into_iter().find(|unit| unit.name() == name)
    }

    /// Into how many steps the store divides one: what is finer is noise.
    #[must_use]
    pub const fn scale(self) -> u32 {
        match self {
            Self::Count | Self::Us | Self::Ns => 1,
            Self::PerSecond | Self::PerMinute => 1_000,
            Self::Share | Self::Cores | Self::S => 1_000_000,
        }
    }
}

/// What kind of figure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// How often something happened in the second.
    Counter,
    /// How many there were at its end.
    Level,
    /// What was measured in it.
    Gauge,
    /// How much there was for each second.
    Rate,
    /// Of the times in it.
    Percentile,
    /// The longest time in it.
    Longest,
    /// A mean over what ended in it.
    Mean,
}

impl Kind {
    /// Whether the seconds of a point differ in a way that is worth three values: the least, the
    /// mean, and the most.
    #[must_use]
    pub const fn has_spread(self) -> bool {
        matches!(self, Self::Gauge | Self::Rate | Self::Percentile)
    }
}

/// Where a figure comes from.
#[derive(Clone, Copy, Debug)]
pub enum ValueSource {
    /// A second of all threads.
    Second(fn(&Second) -> Option<f64>),
    /// What a transaction type, or all of them, did in it.
    Type(fn(&TypeInterval) -> Option<f64>),
    /// Other figures of the same stretch, and its seconds.
    Derived(fn(&Values, f64) -> Option<f64>),
}

/// How exporters offer a figure: their conventions are laid around the name.
#[derive(Clone, Copy, Debug)]
pub struct Export {
    /// `client_lag`.
    pub name: &'static str,
    /// By UCUM, as OpenTelemetry has it: `s`, `1`, `{session}`.
    pub unit: &'static str,
    /// What a value is multiplied with to be in that unit.
    pub scale: f64,
    /// Whether the sum since the run's zero is offered; else the last second's value is.
    pub sums: bool,
}

/// A chart of the page beside throughput and response times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chart {
    /// Failures, retries, lost sessions.
    Trouble,
    /// Sessions connected.
    Sessions,
    /// CPU of client and host.
    Cpu,
    /// Scheduling lag of the client.
    Lag,
    /// One of its own, under its title.
    Own,
}

impl Chart {
    /// The word that the page has for it.
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
    /// A figure that goes everywhere under its name, drawn on a chart of its own: into files, live
    /// events and the API's series, and into the store as samples.
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

    /// Kept in this column of the store.
    const fn column(mut self, column: &'static str) -> Self {
        self.column = Some(column);
        self
    }

    /// 0 stands where nothing was measured.
    const fn zero(mut self) -> Self {
        self.zero = true;
        self
    }

    /// With these names in live events and in the API's series, on this chart.
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

    /// Not in files.
    const fn no_file(mut self) -> Self {
        self.file = false;
        self
    }

    /// Offered to exporters under this name and in this unit, as the last second has it.
    #[must_use]
    pub const fn gauge(mut self, name: &'static str, unit: &'static str, scale: f64) -> Self {
        self.export = Some(Export { name, unit, scale, sums: false });
        self
    }

    /// The same as the sum since the run's zero.
    #[must_use]
    pub const fn counter(mut self, name: &'static str, unit: &'static str, scale: f64) -> Self {
        self.export = Some(Export { name, unit, scale, sums: true });
        self
    }

    /// The least and most of its seconds are told beside the value itself.
    #[must_use]
    pub const fn has_spread(&self) -> bool {
        self.kind.has_spread()
    }

    /// Whether it is a column of its own in files of seconds. Those of all types stand with the counts
    /// of all types.
    #[must_use]
    pub fn is_column(&self) -> bool {
        self.file && !self.name.starts_with(ALL_TYPES)
    }

    /// Whether seconds add up: what it says of a run is their sum.
    #[must_use]
    pub const fn is_counter(&self) -> bool {
        matches!(self.kind, Kind::Counter)
    }

    /// Whether a column's 0 is no value: a time is at least a microsecond.
    pub(crate) const fn zero_is_none(&self) -> bool {
        self.zero && matches!(self.kind, Kind::Percentile | Kind::Longest)
    }
}

//! The metrics of a run, each declared once: its names, its unit, how it is read from the engine's
//! counts of a second, how several seconds are merged, and how it is read from the result of a run.
//! Store, series files, Prometheus, OTLP, live events, the API's series, its schema, the page and
//! requirements use the declarations, so a new metric needs one entry and the code that measures it.
//! `list` has the metrics that outputs contain every second, `judged` those that only requirements
//! name. Figures that are computed at the end of a run only are in
//! [`result::AT_END`](crate::result::AT_END).
//!
//! The engine merges threads and late seconds exactly, because it still has the histograms
//! ([`RecordedInterval`](triphammer_core::recorder::RecordedInterval)). Values that are already
//! plain numbers are merged only here.

mod judged;
mod list;
mod merge;
mod named;
mod of_run;
mod values;

use triphammer_core::recorder::TypeInterval;

use crate::second::Second;
pub use crate::unit::Unit;

pub use list::{OF_SECOND, OF_TYPE};
pub use merge::{Merge, Spread};
pub use named::{of_run, of_type_of_run};
pub use of_run::{OfRun, Part, RunSource};
pub use values::{Values, place_of};

/// Prefix of metrics of all transaction types together.
pub const ALL_TYPES: &str = "all.";

/// Declaration of a metric.
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
    pub kind: MetricKind,
    /// Rule for merging several seconds into one value.
    pub merge: Merge,
    /// Source of its values in a second; `None` if only the result of a run has it.
    pub source: Option<ValueSource>,
    /// Its value in the result of a run; `None` if requirements cannot name it.
    pub of_run: Option<OfRun>,
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

/// Kind of metric, which decides how it is drawn and exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
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

impl MetricKind {
    /// Whether a point should have three values: minimum, mean and maximum over its seconds.
    #[must_use]
    pub const fn has_spread(self) -> bool {
        matches!(self, Self::Gauge | Self::Rate | Self::Percentile)
    }
}

/// Source of a metric in a second.
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
        kind: MetricKind,
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
            source: Some(source),
            of_run: None,
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

    /// Value in a second, for a metric of a run; `None` if nothing was measured.
    #[must_use]
    pub fn read_second(&self, second: &Second) -> Option<f64> {
        match self.source? {
            ValueSource::Second(read) => read(second),
            ValueSource::Type(read) => read(&second.total),
            ValueSource::Derived(make) => {
                make(&Values::of_second(second), values::float(second.seconds()))
            }
        }
    }

    /// Value over a number of seconds, for a metric of a transaction type; `None` if nothing was
    /// measured.
    #[must_use]
    pub fn read_type(&self, seen: &TypeInterval, seconds: f64) -> Option<f64> {
        match self.source? {
            ValueSource::Second(_) => None,
            ValueSource::Type(read) => read(seen),
            ValueSource::Derived(make) => make(&Values::of_type(seen, seconds), seconds),
        }
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
        matches!(self.kind, MetricKind::Counter)
    }

    /// Whether 0 in a column means no value: a time is at least a microsecond.
    pub const fn zero_is_none(&self) -> bool {
        self.zero && matches!(self.kind, MetricKind::Percentile | MetricKind::Longest)
    }
}

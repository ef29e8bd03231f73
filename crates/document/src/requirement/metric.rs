//! The metrics that a requirement can name: [declared](metrics) ones, times, and figures of queries and
//! nodes. `docs/outputs.md` explains each, which a test verifies.

use triphammer_core::stats::Times;
use triphammer_core::workload::Description;
use triphammer_settings::suggestion::suggestion;

use super::of_node::{self, NodeMetric};
use crate::compare::QUERY_TIME;
use crate::document::JobDocument as _;
use crate::measure::Measure;
use crate::metrics::{self, OfRun, Part, RunSource};
use crate::result::{self, RunResult};
use crate::unit::FigureUnit;

type OfTimes = (&'static str, fn(&Times) -> Option<f64>);

/// Metrics of the response times of committed transactions, and with the prefix `service.` of
/// service times.
pub(super) const OF_TIMES: &[OfTimes] = &[
    ("min", |t| Some(number(t.min_us))),
    ("mean", |t| Some(t.mean_us)),
    ("stdev", |t| t.stdev_us),
    ("p50", |t| Some(number(t.p50_us))),
    ("p90", |t| Some(number(t.p90_us))),
    ("p95", |t| Some(number(t.p95_us))),
    ("p99", |t| Some(number(t.p99_us))),
    ("p999", |t| Some(number(t.p99_9_us))),
    ("p9999", |t| Some(number(t.p99_99_us))),
    ("max", |t| Some(number(t.max_us))),
];

/// Prefix of times measured from the first attempt instead of from when they were due.
const SERVICE: &str = "service.";
/// Prefix of the wait for a session: from when a transaction was due to its first attempt.
const POOL_WAIT: &str = "pool_wait.";
/// Figures of a set of queries.
const OF_QUERIES: [&str; 5] =
    ["geomean_ms", "geomean_with_rows_ms", "power", "throughput", "composite"];
/// Total of all transaction types.
pub(super) const ALL: &str = "all";

/// The metric names of one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    primary_metric: String,
    /// Unit of the primary metric.
    unit: FigureUnit,
    types: Vec<String>,
    /// Whether the runs are sets of queries.
    of_queries: bool,
    /// Names of the target's nodes; none for a single server.
    nodes: Vec<String>,
}

/// A metric that a requirement names.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    name: String,
    unit: FigureUnit,
    pub(super) source: MetricSource,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum MetricSource {
    PrimaryMetric,
    /// A metric of the run.
    Run(DeclaredMetric),
    /// A figure of a set of queries, under its name.
    Figure,
    /// Key of a query: its mean time.
    Query(String),
    /// A figure [computed at the end](result::AT_END), contained in the document under its name.
    AtEnd,
    /// Index in [`OF_TIMES`].
    PoolWait(usize),
    /// Key of a type, and its metric.
    Type(String, DeclaredMetric),
    /// A figure of a node.
    Node(NodeMetric),
    /// Key of a type, whether service times are meant, and index in [`OF_TIMES`].
    Times(String, bool, usize),
}

/// A declared metric with its value in a result.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeclaredMetric {
    pub metric: &'static metrics::Metric,
    pub of_run: &'static OfRun,
}

impl PartialEq for DeclaredMetric {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.metric, other.metric)
    }
}

impl DeclaredMetric {
    fn new((metric, of_run): (&'static metrics::Metric, &'static OfRun)) -> Self {
        Self { metric, of_run }
    }

    fn unit(self) -> FigureUnit {
        self.metric.unit.into()
    }
}

impl Vocabulary {
    /// Creates the names of a workload.
    #[must_use]
    pub fn of_workload(workload: &Description) -> Self {
        let (primary_metric, transactions) = (&workload.primary_metric, &workload.transactions);
        let measure = Measure::from(primary_metric.measure);
        let types = transactions.iter().map(|t| &*t.name);
        Self::new(&primary_metric.name, measure.unit(), types).of_queries(measure)
    }

    /// Creates the names of a stored result.
    #[must_use]
    pub fn of_result(result: &RunResult) -> Self {
        let (primary_metric, types) = (&result.primary_metric, &result.window.types);
        let measure = Measure::stored(&primary_metric.per);
        let types = types.iter().map(|t| t.name.as_str());
        let of_result = Self::new(&primary_metric.name, measure.unit(), types).of_queries(measure);
        of_result.with_nodes(result.nodes.iter().map(|node| node.name.clone()))
    }

    /// Adds the names of a target's nodes.
    #[must_use]
    pub fn with_nodes(self, names: impl Iterator<Item = String>) -> Self {
        Self { nodes: names.collect(), ..self }
    }

    fn new<'a>(
        primary_metric: &str,
        unit: FigureUnit,
        types: impl Iterator<Item = &'a str>,
    ) -> Self {
        let types = std::iter::once(ALL).chain(types).map(str::to_owned).collect();
        let primary_metric = primary_metric.to_lowercase();
        Self { primary_metric, unit, types, of_queries: false, nodes: Vec::new() }
    }

    fn of_queries(self, measure: Measure) -> Self {
        Self { of_queries: measure == Measure::Queries, ..self }
    }

    /// Finds the metric by its name.
    pub(super) fn find(&self, name: &str) -> Result<Metric, String> {
        self.known(name).ok_or_else(|| {
            let names = self.names();
            let of_all = format!("{ALL}.{name}");
            let hint = match self.known(&of_all) {
                Some(_) => format!("; did you mean `{of_all}`?"),
                None => suggestion(name, names.iter().map(String::as_str)),
            };
            format!("unknown metric `{name}`{hint}")
        })
    }

    fn known(&self, name: &str) -> Option<Metric> {
        let metric = |unit, source| Some(Metric { name: name.to_owned(), unit, source });
        if self.of_queries && OF_QUERIES.contains(&name) {
            return metric(FigureUnit::Number, MetricSource::Figure);
        }
        if let Some(query) = name.strip_suffix(QUERY_TIME).filter(|_| self.of_queries) {
            let number = query.strip_prefix('q').and_then(|number| number.parse::<u8>().ok());
            number.filter(|number| (1..=22).contains(number))?;
            return metric(FigureUnit::Us, MetricSource::Query(query.to_owned()));
        }
        if name == self.primary_metric {
            return metric(self.unit, MetricSource::PrimaryMetric);
        }
        if let Some(found) = metrics::of_run().find(|(_, of_run)| of_run.name == name) {
            let declared = DeclaredMetric::new(found);
            return metric(declared.unit(), MetricSource::Run(declared));
        }
        let is_of_all = |of_run: &OfRun| of_run.of_all == Some(name);
        if let Some(found) = metrics::of_type_of_run().find(|(_, of_run)| is_of_all(of_run)) {
            let declared = DeclaredMetric::new(found);
            return metric(declared.unit(), MetricSource::Type(ALL.to_owned(), declared));
        }
        if let Some(at_end) = result::AT_END.iter().find(|at_end| at_end.name == name) {
            return metric(at_end.unit, MetricSource::AtEnd);
        }
        let time = |figure: &str| OF_TIMES.iter().position(|(known, _)| *known == figure);
        if let Some(figure) = name.strip_prefix(POOL_WAIT) {
            return metric(FigureUnit::Us, MetricSource::PoolWait(time(figure)?));
        }
        if let Some(of_node) = NodeMetric::parse(name, &self.nodes) {
            return metric(of_node.unit(), MetricSource::Node(of_node));
        }
        let (of, figure) = name.split_once('.')?;
        let of = self.types.iter().find(|known| *known == of)?.clone();
        if let Some(found) = metrics::of_type_of_run().find(|(_, of_run)| of_run.name == figure) {
            let declared = DeclaredMetric::new(found);
            return metric(declared.unit(), MetricSource::Type(of, declared));
        }
        let (service, figure) = match figure.strip_prefix(SERVICE) {
            Some(figure) => (true, figure),
            None => (false, figure),
        };
        metric(FigureUnit::Us, MetricSource::Times(of, service, time(figure)?))
    }

    /// All names, for suggestions.
    fn names(&self) -> Vec<String> {
        let of_run = of_run().map(str::to_owned).chain(waits());
        let mut names: Vec<String> =
            std::iter::once(self.primary_metric.clone()).chain(of_run).collect();
        if self.of_queries {
            names.extend(OF_QUERIES.map(str::to_owned));
            names.extend((1..=22).map(|number| format!("q{number}{QUERY_TIME}")));
        }
        for of in &self.types {
            names.extend(of_type().map(|figure| format!("{of}.{figure}")));
        }
        for node in &self.nodes {
            let figures = of_node::figures().chain(OF_TIMES.iter().map(|(name, _)| *name));
            names.extend(figures.map(|figure| format!("{}{node}.{figure}", of_node::PREFIX)));
        }
        names
    }

    /// Lists all names in a few lines; those of types once.
    #[must_use]
    pub fn listed(&self) -> String {
        let of_run: Vec<_> = of_run().collect();
        let of_type: Vec<_> = metrics::of_type_of_run().map(|(_, of_run)| of_run.name).collect();
        let of_times: Vec<_> = OF_TIMES.iter().map(|(name, _)| *name).collect();
        format!(
            "metrics of the run: {}, {}, {POOL_WAIT}TIME\n  of a transaction type: TYPE.FIGURE, where \
             FIGURE is one of {}, {}, {SERVICE}TIME\n  TIME is one of {}; TYPE is one of {}",
            self.primary_metric,
            of_run.join(", "),
            of_type.join(", "),
            of_times.join(", "),
            of_times.join(", "),
            self.types.join(", ")
        ) + &self.listed_of_nodes()
    }

    fn listed_of_nodes(&self) -> String {
        if self.nodes.is_empty() {
            return String::new();
        }
        let figures: Vec<_> = of_node::figures().collect();
        format!(
            "\n  of a node: {}NAME.FIGURE, where FIGURE is one of {}, TIME; NAME is one of {}",
            of_node::PREFIX,
            figures.join(", "),
            self.nodes.join(", ")
        )
    }

    /// Names of the metrics of a node, for the test of their documentation.
    pub fn figures_of_node() -> impl Iterator<Item = &'static str> {
        of_node::figures()
    }

    /// Names of the metrics of a run and of a type, for the test of their documentation.
    #[must_use]
    pub fn figures() -> (Vec<String>, Vec<String>) {
        let of_run = of_run().map(str::to_owned);
        (of_run.chain(waits()).collect(), of_type().collect())
    }
}

/// Metrics of the run: declared ones, those of all types by their second name, and those computed at its end.
fn of_run() -> impl Iterator<Item = &'static str> {
    let of_all = metrics::of_type_of_run().filter_map(|(_, of_run)| of_run.of_all);
    let at_end = result::AT_END.iter().map(|metric| metric.name);
    of_all.chain(metrics::of_run().map(|(_, of_run)| of_run.name)).chain(at_end)
}

fn waits() -> impl Iterator<Item = String> {
    OF_TIMES.iter().map(|(name, _)| format!("{POOL_WAIT}{name}"))
}

fn of_type() -> impl Iterator<Item = String> {
    let counts = metrics::of_type_of_run().map(|(_, of_run)| of_run.name.to_owned());
    let times = OF_TIMES.iter().map(|(name, _)| (*name).to_owned());
    let service = OF_TIMES.iter().map(|(name, _)| format!("{SERVICE}{name}"));
    counts.chain(times).chain(service)
}

impl Metric {
    /// Name of the metric, as in requirements.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Unit of the values.
    #[must_use]
    pub const fn unit(&self) -> FigureUnit {
        self.unit
    }

    /// The part of the run that the value in a result is about.
    pub(super) const fn part(&self) -> Part {
        match &self.source {
            MetricSource::Run(declared) => declared.of_run.part,
            _ => Part::Window,
        }
    }

    /// The value in a result, in the metric's unit; `None` if the run did not measure it.
    #[must_use]
    pub fn read(&self, result: &RunResult) -> Option<f64> {
        let of = |name: &str| {
            let window = (result.durations.window_s > 0.0).then_some(&result.window)?;
            window.types.iter().chain([&window.total]).find(|seen| seen.name == name)
        };
        let figure = || result.figures.iter().find(|figure| figure.name == self.name)?.value;
        match &self.source {
            MetricSource::PrimaryMetric => timed(result, result.primary_metric()?.1),
            MetricSource::Figure => result.queries.as_ref()?.figure(&self.name)?.value,
            MetricSource::Query(name) => {
                let queries = &result.queries.as_ref()?.queries;
                Some(queries.iter().find(|query| query.name == *name)?.mean_s? * 1e6)
            }
            MetricSource::Run(declared) => match declared.of_run.source {
                RunSource::Run(read) => read(result),
                RunSource::SumOfSeconds => figure(),
                RunSource::Type(_) => None,
            },
            MetricSource::Node(of_node) => of_node.read(&result.nodes),
            MetricSource::AtEnd => figure(),
            MetricSource::PoolWait(place) => {
                let waits = result.pool_wait.filter(|waits| waits.count > 0)?;
                OF_TIMES[*place].1(&waits)
            }
            MetricSource::Type(name, declared) => match declared.of_run.source {
                RunSource::Type(read) => read(of(name)?),
                RunSource::Run(_) | RunSource::SumOfSeconds => None,
            },
            MetricSource::Times(name, service, place) => {
                let seen = of(name)?;
                let times = if *service { &seen.service } else { &seen.response };
                OF_TIMES[*place].1(times).filter(|_| times.count > 0)
            }
        }
    }
}

/// A value of the timed window; `None` without a window.
fn timed(result: &RunResult, value: f64) -> Option<f64> {
    (result.durations.window_s > 0.0).then_some(value)
}

pub(super) fn number(count: u64) -> f64 {
    count as f64
}

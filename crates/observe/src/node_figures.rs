//! Figures per node in each second, declared once: stored as samples with the label [`NODE`], and so
//! in the API, on the page, and in what is exported to Prometheus and OpenTelemetry.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use triphammer_core::nodes::NodeInterval;
use triphammer_document::JobId;
use triphammer_document::metrics::{Merge, Unit};
use triphammer_document::samples::SampleSeries;
use triphammer_document::second::Second;
use triphammer_load::Plan;
use triphammer_store::SampleWriter;

use crate::{Bounds, Measured, Sink};

/// The label with a node's name.
pub const NODE: &str = "node";

/// A metric of a node.
#[derive(Clone, Copy, Debug)]
pub struct NodeMetric {
    /// Name of its samples.
    pub name: &'static str,
    /// Title of its chart, which has a line per node.
    pub title: &'static str,
    /// Head of its column in live views.
    pub column: &'static str,
    /// Meaning, for the documentation.
    pub help: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// Rule for merging several seconds.
    pub merge: Merge,
    /// Whether the page draws it unless others are chosen.
    pub first: bool,
    /// Reads the value from what happened on the node in a number of seconds.
    read: fn(&NodeInterval, f64) -> Option<f64>,
}

const fn metric(
    [name, title, column, help]: [&'static str; 4],
    unit: Unit,
    merge: Merge,
    read: fn(&NodeInterval, f64) -> Option<f64>,
) -> NodeMetric {
    NodeMetric { name, title, column, help, unit, merge, first: false, read }
}

impl NodeMetric {
    const fn first(self) -> Self {
        Self { first: true, ..self }
    }
}

/// The metrics of a node.
pub const NODE_METRICS: &[NodeMetric] = &[
    metric(
        [
            "node.transactions",
            "Transactions by node",
            "per s",
            "Transactions completed on the node.",
        ],
        Unit::PerSecond,
        Merge::Mean,
        |node, seconds| Some(float(node.total.counts.completed()) / seconds),
    )
    .first(),
    metric(
        [
            "node.failures",
            "Failures by node",
            "failed",
            "Transactions that failed on the node, or whose commit status is unknown.",
        ],
        Unit::PerSecond,
        Merge::Mean,
        |node, seconds| {
            let counts = &node.total.counts;
            Some(float(counts.failures() + counts.indeterminate) / seconds)
        },
    ),
    metric(
        [
            "node.response_p95",
            "Response time by node, p95",
            "p95 ms",
            "95th percentile of the response time of committed transactions on the node.",
        ],
        Unit::Us,
        Merge::Max,
        |node, _| {
            let times = node.total.response.as_ref().filter(|times| !times.is_empty())?;
            Some(float(times.value_at_quantile(0.95)))
        },
    )
    .first(),
    metric(
        [
            "node.sessions",
            "Sessions of the run by node",
            "sessions",
            "Sessions of the run that are open on the node.",
        ],
        Unit::Count,
        Merge::Last,
        |node, _| Some(f64::from(node.connected)),
    ),
    metric(
        [
            "node.sessions_lost",
            "Sessions lost by node",
            "lost",
            "Sessions of the run lost on the node.",
        ],
        Unit::Count,
        Merge::Sum,
        |node, _| Some(float(node.lost)),
    ),
    metric(
        [
            "node.connections",
            "Connections by node",
            "clients",
            "Sessions of all clients that the node has open.",
        ],
        Unit::Count,
        Merge::Last,
        |node, _| node.connections.map(float),
    ),
    metric(
        [
            "node.replication_lag",
            "Replication lag by node",
            "lag ms",
            "How far the node is behind what it replicates.",
        ],
        Unit::Us,
        Merge::Max,
        |node, _| node.lag.map(|lag| float(lag.max_us)),
    )
    .first(),
    metric(
        [
            "node.server_transactions",
            "Transactions counted by the nodes",
            "server",
            "Transactions that the node's server counted, of all clients.",
        ],
        Unit::PerSecond,
        Merge::Mean,
        |node, seconds| node.server_transactions.map(|count| float(count) / seconds),
    ),
    metric(
        [
            "node.writable",
            "Nodes that accept writes",
            "writes",
            "1 while the node accepts writes, 0 while it does not.",
        ],
        Unit::Count,
        Merge::Last,
        |node, _| node.is_writable.map(|writable| f64::from(u8::from(writable))),
    ),
];

/// The last values of a node, in the order of [`NODE_METRICS`].
#[derive(Clone, Debug, PartialEq)]
pub struct NodeNow {
    /// Name of the node.
    pub name: String,
    /// The value of each metric; `None` if it has none.
    pub values: Vec<Option<f64>>,
}

/// Finds the nodes among the last values of all figures; in alphabetical order.
#[must_use]
pub fn of_nodes(latest: &Measured) -> Vec<NodeNow> {
    let mut nodes: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
    for (series, value) in latest {
        let place = NODE_METRICS.iter().position(|metric| metric.name == series.metric);
        if let Some((place, name)) = place.zip(series.labels.get(NODE)) {
            nodes.entry(name).or_insert_with(|| vec![None; NODE_METRICS.len()])[place] =
                Some(*value);
        }
    }
    nodes.into_iter().map(|(name, values)| NodeNow { name: name.to_owned(), values }).collect()
}

/// The series of all nodes of a run.
#[derive(Debug)]
pub struct NodeSeries {
    sink: Sink,
    /// By node and metric.
    series: Vec<Vec<Arc<SampleSeries>>>,
}

impl NodeSeries {
    /// Starts recording the nodes of a run, if it has several; with the job in the store that
    /// `place` names.
    ///
    /// # Errors
    /// When the thread that writes to the store cannot be started.
    pub fn start(plan: &Plan, place: Option<(&Path, JobId)>) -> std::io::Result<Option<Self>> {
        let Some(nodes) = &plan.nodes else { return Ok(None) };
        let writer = place.map(|(path, job)| SampleWriter::start(path, job)).transpose()?;
        let series = |name: &String| {
            let of = |metric: &NodeMetric| {
                Arc::new(SampleSeries {
                    metric: metric.name.to_owned(),
                    labels: BTreeMap::from([(NODE.to_owned(), name.clone())]),
                    title: metric.title.to_owned(),
                    unit: metric.unit,
                    merge: metric.merge,
                })
            };
            NODE_METRICS.iter().map(of).collect()
        };
        let series = nodes.list.iter().map(|node| series(&node.name)).collect();
        Ok(Some(Self { sink: Sink::new(writer, Arc::new(Bounds::whole())), series }))
    }

    /// Records what happened on the nodes in a second.
    pub fn second(&self, second: &Second) {
        let mut values = Measured::new();
        for (node, series) in second.interval.nodes.iter().zip(&self.series) {
            for (metric, series) in NODE_METRICS.iter().zip(series) {
                let value = (metric.read)(node, float(second.seconds()));
                values.extend(value.map(|value| (Arc::clone(series), value)));
            }
        }
        self.sink.put(second.interval.last, values);
    }

    /// The last value of each figure.
    #[must_use]
    pub fn latest(&self) -> Measured {
        self.sink.latest()
    }

    /// Ends the recording; returns what could not be stored, for people.
    #[must_use]
    pub fn finish(&self) -> Option<String> {
        match self.sink.finish(&BTreeMap::new()).2 {
            Ok(0) => None,
            Ok(lost) => Some(format!("{lost} values of nodes were not stored")),
            Err(error) => Some(format!("the values of nodes are not completely stored: {error}")),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
const fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_its_own_name_and_a_sentence() {
        let names: std::collections::BTreeSet<_> = NODE_METRICS.iter().map(|m| m.name).collect();
        assert_eq!(names.len(), NODE_METRICS.len());
        assert!(NODE_METRICS.iter().all(|metric| metric.help.ends_with('.')));
    }
}

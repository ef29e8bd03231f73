//! The metrics of a node that a requirement can name: `node.db2.p95 < 20ms`. A node's name may contain
//! dots; the figure is what follows the last one.

use triphammer_core::stats::share;

use super::metric::{OF_TIMES, number};
use crate::result::NodeFigures;
use crate::unit::FigureUnit;

/// What the name of such a metric begins with.
pub(super) const PREFIX: &str = "node.";

type OfNode = (&'static str, FigureUnit, fn(&NodeFigures) -> Option<f64>);

/// Metrics of a node, besides the response times of the transactions committed on it.
const OF_NODE: &[OfNode] = &[
    ("per_minute", FigureUnit::Number, |n| Some(n.per_minute)),
    ("share", FigureUnit::Share, |n| Some(n.share)),
    ("completed", FigureUnit::Number, |n| Some(number(n.completed))),
    ("failures", FigureUnit::Share, |n| {
        let lost = n.failed + n.indeterminate;
        let ended = n.completed + lost;
        (ended > 0).then(|| share(lost, ended))
    }),
    ("indeterminate", FigureUnit::Number, |n| Some(number(n.indeterminate))),
    ("sessions_lost", FigureUnit::Number, |n| Some(number(n.sessions_lost))),
    ("connections", FigureUnit::Number, |n| n.connections.map(number)),
    ("lag_mean", FigureUnit::Us, |n| n.lag_mean_s.map(|lag| lag * 1e6)),
    ("lag_max", FigureUnit::Us, |n| n.lag_max_s.map(|lag| lag * 1e6)),
    ("server_per_minute", FigureUnit::Number, |n| n.server_per_minute),
];

/// Name of a node, and the figure that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NodeMetric {
    node: String,
    figure: Figure,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    /// Index in [`OF_NODE`].
    Own(usize),
    /// Index in [`OF_TIMES`].
    Time(usize),
}

impl NodeMetric {
    /// Reads a metric of one of these nodes; `None` if it is none.
    pub fn parse(name: &str, nodes: &[String]) -> Option<Self> {
        let (node, figure) = name.strip_prefix(PREFIX)?.rsplit_once('.')?;
        let node = nodes.iter().find(|known| *known == node)?.clone();
        let own = OF_NODE.iter().position(|(known, ..)| *known == figure).map(Figure::Own);
        let time = || OF_TIMES.iter().position(|(known, _)| *known == figure).map(Figure::Time);
        Some(Self { node, figure: own.or_else(time)? })
    }

    /// Unit of its values.
    pub const fn unit(&self) -> FigureUnit {
        match self.figure {
            Figure::Own(place) => OF_NODE[place].1,
            Figure::Time(_) => FigureUnit::Us,
        }
    }

    /// The value in a result.
    pub fn read(&self, nodes: &[NodeFigures]) -> Option<f64> {
        let node = nodes.iter().find(|node| node.name == self.node)?;
        match self.figure {
            Figure::Own(place) => OF_NODE[place].2(node),
            Figure::Time(place) => {
                OF_TIMES[place].1(&node.response).filter(|_| node.response.count > 0)
            }
        }
    }
}

/// Names of the metrics of a node, without those of its response times.
pub(super) fn figures() -> impl Iterator<Item = &'static str> {
    OF_NODE.iter().map(|(name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_follows_the_last_dot() {
        let nodes = ["db1.example:5432".to_owned(), "b".to_owned()];
        let found = NodeMetric::parse("node.db1.example:5432.lag_max", &nodes).unwrap();
        assert_eq!((found.node.as_str(), found.unit()), ("db1.example:5432", FigureUnit::Us));
        assert_eq!(NodeMetric::parse("node.b.share", &nodes).unwrap().unit(), FigureUnit::Share);
        assert_eq!(NodeMetric::parse("node.b.p99", &nodes).unwrap().unit(), FigureUnit::Us);
        for name in ["node.c.share", "node.b.weight", "node.p95", "all.p95"] {
            assert_eq!(NodeMetric::parse(name, &nodes), None, "{name}");
        }
    }
}

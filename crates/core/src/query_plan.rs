//! A finite set of queries, as a workload plans it and a run drives it: plain data.
//!
//! A [`QueryPlan`] is one repeat of a test: phases one after the other, in each phase streams side by
//! side, in each stream steps one after the other. A step is a query with its arguments, or a refresh
//! function. The workload decides all of that; the runner only times it.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::name::Name;
use crate::value::Value;

/// What is measured with the queries.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum QueryTest {
    /// The queries alone, without refresh functions.
    Queries,
    /// One stream between the two refresh functions (TPC-H, clause 5.3.3).
    Power,
    /// Streams side by side, beside a stream of refresh functions (clause 5.3.4).
    Throughput,
    /// The power test, then the throughput test.
    Both,
}

impl QueryTest {
    /// All tests, each with its name on the command line.
    pub const ALL: [(Self, &'static str); 4] = [
        (Self::Queries, "queries"),
        (Self::Power, "power"),
        (Self::Throughput, "throughput"),
        (Self::Both, "both"),
    ];

    /// Name on the command line and in documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(test, _)| *test == self).expect("ALL has every test").1
    }
}

impl fmt::Display for QueryTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for QueryTest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(test, _)| *test).ok_or_else(|| {
            format!("unknown test `{text}`: expected queries, power, throughput or both")
        })
    }
}

/// What a run of queries does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueryPlan {
    /// What is measured.
    pub test: QueryTest,
    /// All queries of the workload, in the order of their numbers.
    pub queries: Vec<QueryDef>,
    /// Whether every query of the workload runs.
    pub is_whole: bool,
    /// Number of streams that run side by side, without that of the refresh functions.
    pub streams: u32,
    /// The phases of one repeat, in order.
    pub phases: Vec<QueryPhase>,
    /// How many times the phases are run.
    pub repeats: u32,
    /// Whether each query is run once more after that, to measure the operations of its plan.
    pub analyze: bool,
}

/// A query of a workload.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueryDef {
    /// Key in documents and settings: `q7`; also the name of its statement.
    pub name: Name,
    /// The question that it answers, in a few words.
    pub title: Name,
}

/// Streams that run side by side.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueryPhase {
    /// The test that the phase belongs to; never [`QueryTest::Both`].
    pub test: QueryTest,
    /// The streams.
    pub streams: Vec<QueryStream>,
}

/// Steps that one session runs one after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QueryStream {
    /// Number of the stream, 0 in the power test; `None` for the stream of refresh functions.
    pub number: Option<u32>,
    /// The steps, in order.
    pub steps: Vec<QueryStep>,
}

/// A step of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryStep {
    /// A query.
    Query {
        /// Index in [`QueryPlan::queries`].
        query: usize,
        /// Arguments of its statement. Not serialised: the steps of a result have them as text.
        #[serde(skip)]
        args: Vec<Value<'static>>,
    },
    /// A refresh function.
    Refresh(Refresh),
}

/// A refresh function, which changes the data as the workload defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refresh {
    /// 1 for the function that adds rows, 2 for the one that deletes rows.
    pub function: u8,
    /// Number of its set of rows, from 1.
    pub set: u64,
}

impl QueryPlan {
    /// Whether refresh functions change the data.
    #[must_use]
    pub fn refreshes(&self) -> bool {
        let mut streams = self.phases.iter().flat_map(|phase| &phase.streams);
        streams.any(|stream| stream.steps.iter().any(|s| matches!(s, QueryStep::Refresh(_))))
    }

    /// Whether a query is a step of a stream, by its name.
    #[must_use]
    pub fn runs(&self, name: &str) -> bool {
        let is_it = |step: &QueryStep| match step {
            QueryStep::Query { query, .. } => self.queries[*query].name == name,
            QueryStep::Refresh(_) => false,
        };
        let mut streams = self.phases.iter().flat_map(|phase| &phase.streams);
        streams.any(|stream| stream.steps.iter().any(is_it))
    }

    /// Number of steps of one repeat.
    #[must_use]
    pub fn steps(&self) -> usize {
        let streams = self.phases.iter().flat_map(|phase| &phase.streams);
        streams.map(|stream| stream.steps.len()).sum()
    }

    /// Most streams that run side by side, that of the refresh functions included.
    #[must_use]
    pub fn sessions(&self) -> u32 {
        let most = self.phases.iter().map(|phase| phase.streams.len()).max();
        u32::try_from(most.unwrap_or(0)).unwrap_or(u32::MAX)
    }
}

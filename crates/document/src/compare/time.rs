//! Where the time of a transaction goes on both sides of a comparison: the same rows as in a run,
//! each the mean over the runs of a side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_drivers::target::TargetUrl;

use super::figures::mean;
use super::run::Run;
use crate::result::{TransactionPart, TransactionTime, is_at_server, is_wait};
use crate::unit::Unit;

/// Where the time of a transaction goes in A and in B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeComparison {
    /// The parts in display order: a part is followed by the parts that it consists of.
    pub parts: Vec<ComparedPart>,
}

/// A part of a transaction's time, or an amount that it needs, on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedPart {
    /// Name of the part: `network`; `lock_table` for each table of a lock.
    pub name: String,
    /// Title in reports and on the page.
    pub title: String,
    /// Depth in the tree of parts: 0 for the response time and for amounts.
    pub depth: u8,
    /// Unit of the values: `us`, `bytes` or `average`.
    #[schemars(with = "String")]
    pub unit: Unit,
    /// Value per transaction in A, the mean of its runs; `None` if it is not known of each of them.
    #[schemars(range(min = 0.0))]
    pub a: Option<f64>,
    /// Value per transaction in B, the mean of its runs; `None` if it is not known of each of them.
    #[schemars(range(min = 0.0))]
    pub b: Option<f64>,
    /// B over A; `None` if one of them is not known, or A is 0.
    #[schemars(range(min = 0.0))]
    pub ratio: Option<f64>,
}

impl TimeComparison {
    /// Compares the runs of both sides; `None` if a run does not know where its time went. What is measured
    /// at a server that both sides used at once is of both, and so unknown of either.
    pub(super) fn new(a: &[&Run], b: &[&Run]) -> Option<Self> {
        let at_once = |run: &&Run| run.result.at_once.is_some();
        let server = |run: &&Run| TargetUrl::parse(run.result.target.as_str()).ok();
        let servers = a.first().and_then(server).zip(b.first().and_then(server));
        let is_shared =
            a.iter().chain(b).any(at_once) && servers.is_none_or(|(a, b)| a.is_same_server(&b));
        let [a, b] = [times(a)?, times(b)?];
        // The order of the rows is the same in all runs, apart from rows that some do not have.
        let mut rows: Vec<&TransactionPart> = Vec::new();
        for time in a.iter().chain(&b) {
            let mut after = 0;
            for part in &time.parts {
                match rows.iter().position(|row| is_same(row, part)) {
                    Some(place) => after = place + 1,
                    None => {
                        rows.insert(after, part);
                        after += 1;
                    }
                }
            }
        }
        let parts = rows.into_iter().map(|part| {
            let [a, b] = match is_shared && is_at_server(&part.name) {
                true => [None; 2],
                false => [value(&a, part), value(&b, part)],
            };
            ComparedPart {
                name: part.name.clone(),
                title: part.title.clone(),
                depth: part.depth,
                unit: part.unit,
                a,
                b,
                ratio: a.zip(b).filter(|(a, _)| *a > 0.0).map(|(a, b)| b / a),
            }
        });
        Some(Self { parts: parts.collect() })
    }
}

/// The times of all runs of a side; `None` if one has none, or there is none.
fn times<'r>(runs: &[&'r Run]) -> Option<Vec<&'r TransactionTime>> {
    let times = runs.iter().map(|run| run.result.transaction_time.as_ref());
    times.collect::<Option<Vec<_>>>().filter(|times| !times.is_empty())
}

/// Whether two rows are the same part: tables of locks have one name in common.
fn is_same(one: &TransactionPart, other: &TransactionPart) -> bool {
    one.name == other.name && (one.depth, &one.title) == (other.depth, &other.title)
}

/// The mean of a part over the runs of a side. A wait that a run does not have took no time in it;
/// another part that a run does not have, or does not know, is not known of the side.
fn value(times: &[&TransactionTime], part: &TransactionPart) -> Option<f64> {
    let of = |time: &&TransactionTime| match time.parts.iter().find(|row| is_same(row, part)) {
        Some(row) => row.value,
        None => is_wait(&part.name).then_some(0.0),
    };
    let values: Option<Vec<f64>> = times.iter().map(of).collect();
    values.map(|values| mean(&values))
}

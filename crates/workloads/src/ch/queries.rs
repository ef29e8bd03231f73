//! The 22 queries: their titles and parameters. Their texts are in `sql/base/ch/queries.sql`.

use triphammer_core::query_plan::QueryDef;
use triphammer_core::sql::{StatementDef, param, statement};
use triphammer_core::value::ColumnType;
use triphammer_core::value::{Timestamp, Value};

/// A query: its title, and the names of its parameters.
struct Query(&'static str, &'static [&'static str]);

const SINCE: &str = "since";
const UNTIL: &str = "until";

/// All queries, in the order of their numbers.
const QUERIES: [Query; 22] = [
    Query("totals of delivered order lines by number", &[SINCE]),
    Query("suppliers with the lowest stock of items", &[]),
    Query("undelivered orders with the highest value", &[SINCE]),
    Query("orders with lines delivered after their entry", &[SINCE, UNTIL]),
    Query("revenue of local suppliers by nation", &[SINCE]),
    Query("revenue of order lines in a period", &[SINCE, UNTIL]),
    Query("trade between two nations by year", &[SINCE, UNTIL]),
    Query("market share of a nation by year", &[SINCE, UNTIL]),
    Query("profit on a line of items by nation and year", &[]),
    Query("revenue of customers who received their orders", &[SINCE]),
    Query("items most ordered from a nation's suppliers", &[]),
    Query("delivered orders by lines and carrier", &[UNTIL]),
    Query("customers by number of orders", &[]),
    Query("share of promoted items in the revenue", &[SINCE, UNTIL]),
    Query("suppliers with the highest revenue", &[SINCE]),
    Query("suppliers of items without complaints", &[]),
    Query("revenue lost without small orders", &[]),
    Query("customers with large orders", &[]),
    Query("revenue of chosen items and warehouses", &[]),
    Query("suppliers with excess stock", &[SINCE]),
    Query("suppliers whose order lines came last", &[]),
    Query("customers without orders by state", &[]),
];

/// The period that dates of the queries span.
#[derive(Clone, Copy, Debug)]
pub struct Period {
    since: Timestamp,
    until: Timestamp,
}

impl Period {
    const DAY_US: i64 = 24 * 3_600 * 1_000_000;

    /// From the day before the population's date until twenty years after it: all of the data.
    pub const fn around(population: Timestamp) -> Self {
        Self {
            since: Timestamp(population.0 - Self::DAY_US),
            until: Timestamp(population.0 + 20 * 365 * Self::DAY_US),
        }
    }
}

/// The statements that every catalogue must have.
pub fn statements() -> impl Iterator<Item = StatementDef> {
    definitions().zip(&QUERIES).map(|(definition, Query(_, params))| {
        let params: Vec<_> = params.iter().map(|name| param(name, ColumnType::Timestamp)).collect();
        StatementDef { name: definition.name, ..statement("", &params) }
    })
}

/// Names and titles, in the order of the numbers.
pub fn definitions() -> impl Iterator<Item = QueryDef> {
    (1..).zip(&QUERIES).map(|(number, Query(title, _))| QueryDef {
        name: format!("q{number}").into(),
        title: (*title).into(),
    })
}

/// Arguments of the query at an index.
pub fn arguments(query: usize, period: Period) -> Vec<Value<'static>> {
    let value =
        |name: &&str| Value::Timestamp(if *name == SINCE { period.since } else { period.until });
    QUERIES[query].1.iter().map(value).collect()
}

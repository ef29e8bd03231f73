//! What a dialect's servers show about themselves during a run, from `observe.toml` of the dialects'
//! folders: sessions and their waits, counters and states, statements, and what is hidden. Each
//! figure is declared once, with its SQL and the versions of the server that have it, so that a new
//! database needs a file and no Rust.
//!
//! A dialect has its parent's declarations; a query of the same name and kind replaces them.

use std::collections::BTreeMap;

use serde::Deserialize;
use triphammer_core::SpecError;

use crate::catalogues;
use crate::doctor::is_between;
use crate::waits::WaitRule;

/// What a dialect declares about observing its servers.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ObserveDef {
    /// Whether the server counts each query of an observer as a transaction, so that the count of
    /// transactions must be reduced by them.
    pub queries_count: bool,
    /// Query that returns a row if the server shows anything at all; without one only `gap` is
    /// reported. `None` if every server does.
    pub needs: Option<String>,
    /// Shortest time between two samples of the sessions, in milliseconds: more often the server
    /// would return the same.
    pub interval_min_ms: u64,
    /// The classes of what sessions wait for.
    pub waits: Vec<WaitRule>,
    /// Sessions that are at work, and what they wait for: several times per second. The columns are
    /// the session; `ours`, `other` or `background`; `active` or `idle_in_transaction`; the name of
    /// the wait at the server, empty for none; its context, what else the server says of it; the
    /// text of the statement.
    pub sessions: Vec<QueryDef>,
    /// Sessions that wait for others, once per second. The columns are the waiting session; `ours`
    /// or `other`; the blocking session; `ours` or `other`; a description of the latter; its
    /// statement; the object.
    pub blockers: Vec<QueryDef>,
    /// Counters and states, once per second or less often.
    pub query: Vec<MetricQuery>,
    /// The server's own statistics of statements. The columns are a key, the text, calls, total
    /// time in milliseconds, rows, blocks read, blocks found in memory: counters.
    pub statements: Vec<QueryDef>,
    /// Full detail of the sessions, for captures. `{sessions}` is the query of `sessions` that is
    /// used. The columns are its six, and user, client, age of the transaction and of the statement
    /// in seconds.
    pub detail: Vec<QueryDef>,
    /// The storage engine's own report on its state, for captures: the last column of the first row.
    pub engine_status: Vec<QueryDef>,
    /// What a missing privilege or setting hides.
    pub gap: Vec<GapDef>,
}

/// A query, of which the first that suits the server is used.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryDef {
    /// Name for messages.
    pub name: String,
    /// Its text.
    pub sql: String,
    /// Query that returns a row if this one can be used now; `None` if it always can. Its first
    /// column replaces `{found}` in `sql`, such as a name with its schema.
    #[serde(default)]
    pub when: Option<String>,
    /// First version of the server that has it; `None` for any.
    #[serde(default)]
    pub from: Option<String>,
    /// First version of the server that no longer has it; `None` for any.
    #[serde(default)]
    pub before: Option<String>,
}

impl QueryDef {
    /// The query with `sessions` in place of `{sessions}`.
    #[must_use]
    pub fn with_sessions(&self, sessions: &str) -> Self {
        Self { sql: self.sql.replace("{sessions}", sessions), ..self.clone() }
    }

    /// The text of the query with what its condition found.
    #[must_use]
    pub fn with_found(&self, found: &str) -> String {
        self.sql.replace(FOUND, found)
    }
}

impl MetricQuery {
    /// The query with what its condition found.
    #[must_use]
    pub fn with_found(&self, found: &str) -> Self {
        Self { sql: self.sql.replace(FOUND, found), ..self.clone() }
    }
}

/// What stands in a query for the first column of its condition.
const FOUND: &str = "{found}";

/// A query of counters and states: its first columns are labels, the others are metrics.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricQuery {
    /// Name, such as that of the server's view.
    pub name: String,
    /// Query of any number of rows.
    pub sql: String,
    /// Seconds between two readings.
    #[serde(default = "one")]
    pub every: u64,
    /// Names of the labels, one per column at the beginning.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The metrics: one per further column, or with `row` one per row.
    pub metrics: Vec<MetricDef>,
    /// Query that returns a row if this one can be used; `None` if it always can. Its first column
    /// replaces `{found}` in `sql`.
    #[serde(default)]
    pub when: Option<String>,
    /// First version of the server that has it; `None` for any.
    #[serde(default)]
    pub from: Option<String>,
    /// First version of the server that no longer has it; `None` for any.
    #[serde(default)]
    pub before: Option<String>,
}

const fn one() -> u64 {
    1
}

/// A metric of a server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricDef {
    /// Name, as the receiver of the OpenTelemetry Collector calls it if it has one.
    pub name: String,
    /// Labels besides those of the query.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// Title in tables and charts.
    pub title: String,
    /// Unit of its values, by its name in the runner: `per_second`, `bytes_per_second`, `ms`.
    pub unit: String,
    /// How values are made from readings.
    pub kind: MetricKind,
    /// Rule for merging seconds, by its name in the runner; `None` for the mean.
    #[serde(default)]
    pub merge: Option<String>,
    /// Factor from the column to the unit.
    #[serde(default = "factor")]
    pub scale: f64,
    /// The metric of the same query over whose increase a `mean` is calculated.
    #[serde(default)]
    pub over: Option<String>,
    /// First column of the row with its value, where a query returns rows of name and value.
    #[serde(default)]
    pub row: Option<String>,
    /// What it means.
    pub help: String,
    /// Whether the page draws it unless others are chosen.
    #[serde(default)]
    pub first: bool,
    /// Whether the name is ours, because the Collector's receiver has none.
    #[serde(default)]
    pub own: bool,
    /// The part of a transaction's time that it is, by its name in the runner: `parsing`, `planning`,
    /// `row_locks`; a counter in milliseconds. `None` for others.
    #[serde(default)]
    pub part: Option<String>,
    /// What it is of the server's log writes, by its name in the runner: `writes`, `syncs`, `bytes`,
    /// `write_time`, `sync_time` (counters), `write_mean`, `sync_mean`. `None` for others.
    #[serde(default)]
    pub log: Option<String>,
}

const fn factor() -> f64 {
    1.0
}

/// How the values of a metric are made from readings of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricKind {
    /// The increase per second.
    Counter,
    /// The reading.
    Gauge,
    /// The reading, of which the last one counts.
    State,
    /// The increase over that of another counter.
    Mean,
}

/// Something that the server may hide.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GapDef {
    /// Name of the privilege or setting.
    pub name: String,
    /// Query that returns a row with the name of the user if it is missing.
    pub sql: String,
    /// Query that returns a row if nothing is hidden after all, and fails otherwise, where `sql`
    /// cannot see what a role of the user has; `None` if `sql` knows.
    #[serde(default)]
    pub shown: Option<String>,
    /// What is hidden.
    pub hides: String,
    /// Statement or setting that shows it; `{user}` stands for the user.
    pub change: String,
    /// The part of a transaction's time that is hidden, and nothing else: it is named where the time
    /// is shown. `None` if more is hidden.
    #[serde(default)]
    pub part: Option<String>,
    /// First version of the server that has it; `None` for any.
    #[serde(default)]
    pub from: Option<String>,
    /// First version of the server that no longer has it; `None` for any.
    #[serde(default)]
    pub before: Option<String>,
}

/// Limits a type of declaration to versions of the server.
macro_rules! versioned {
    ($($of:ty),*) => {
        $(impl $of {
            /// Whether it is for a server of this version, such as `15.18 (Debian 15.18-0)`.
            #[must_use]
            pub fn is_for(&self, version: &str) -> bool {
                is_between(version, self.from.as_deref(), self.before.as_deref())
            }
        })*
    };
}

versioned!(QueryDef, MetricQuery, GapDef);

/// The declarations of a dialect, including inherited ones.
///
/// # Errors
/// When there is no such dialect, or a file is malformed.
pub fn observe(dialect: &str) -> Result<ObserveDef, SpecError> {
    let mut all = ObserveDef::default();
    for dialect in catalogues::chain(dialect)? {
        let path = format!("{}/observe.toml", dialect.name);
        let Some(text) = catalogues::text(&path) else { continue };
        let own: ObserveDef = toml::from_str(&text)
            .map_err(|error| SpecError::new(format!("sql/{path}: {error}")))?;
        all.extend(own);
    }
    Ok(all)
}

/// Names of the dialects that declare how to observe their servers, without those that inherit it.
#[must_use]
pub fn observed_dialects() -> Vec<String> {
    let declares = |name: &String| catalogues::text(&format!("{name}/observe.toml")).is_some();
    catalogues::dialects().into_iter().filter(declares).collect()
}

impl ObserveDef {
    /// Lays a child's declarations over its parent's.
    fn extend(&mut self, child: Self) {
        self.queries_count |= child.queries_count;
        self.needs = child.needs.or_else(|| self.needs.take());
        self.waits.splice(..0, child.waits);
        self.interval_min_ms = self.interval_min_ms.max(child.interval_min_ms);
        lay_over(&mut self.sessions, child.sessions, |query| &query.name);
        lay_over(&mut self.blockers, child.blockers, |query| &query.name);
        lay_over(&mut self.query, child.query, |query| &query.name);
        lay_over(&mut self.statements, child.statements, |query| &query.name);
        lay_over(&mut self.detail, child.detail, |query| &query.name);
        lay_over(&mut self.engine_status, child.engine_status, |query| &query.name);
        lay_over(&mut self.gap, child.gap, |gap| &gap.name);
    }

    /// Removes the queries, for a server that shows nothing.
    pub fn forget_queries(&mut self) {
        let (needs, gap) = (self.needs.take(), std::mem::take(&mut self.gap));
        *self = Self { queries_count: self.queries_count, needs, gap, ..Self::default() };
    }

    /// Whether servers of the dialect can be observed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.query.is_empty()
    }
}

/// Replaces the declarations that a child has too, and puts the child's first.
pub(crate) fn lay_over<T>(parent: &mut Vec<T>, mut child: Vec<T>, name: impl Fn(&T) -> &String) {
    parent.retain(|of| child.iter().all(|own| name(own) != name(of)));
    child.append(parent);
    *parent = child;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialects_metrics_are_complete_and_apply_once_per_version() {
        for dialect in catalogues::dialects() {
            let all = observe(&dialect).unwrap();
            for query in &all.query {
                for metric in &query.metrics {
                    let MetricDef { name, help, kind, over, .. } = metric;
                    assert!(help.ends_with('.'), "{dialect}: {name}");
                    assert_eq!(*kind == MetricKind::Mean, over.is_some(), "{dialect}: {name}");
                    let has = |over| query.metrics.iter().any(|other| &other.name == over);
                    assert!(over.iter().all(has), "{dialect}: {name} has no counter to divide by");
                    let is_time = *kind == MetricKind::Counter && metric.unit == "ms";
                    assert!(metric.part.is_none() || is_time, "{dialect}: {name} is no time");
                }
            }
            for version in [
                "8.0.36", "9.1", "10.11.6", "11.4.2", "14.2", "15.9", "16.1", "17.4", "18.1",
                "19.0",
            ] {
                let of = all.query.iter().filter(|query| query.is_for(version));
                let mut names: Vec<_> = of
                    .flat_map(|query| &query.metrics)
                    .map(|metric| (&metric.name, &metric.labels))
                    .collect();
                let count = names.len();
                names.sort_unstable();
                names.dedup();
                assert_eq!(names.len(), count, "{dialect} {version}: a metric twice");
            }
        }
        assert!(observe("null").unwrap().is_empty());
        assert!(!observe("postgres").unwrap().is_empty());
    }
}

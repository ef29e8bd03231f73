//! Execution plans of queries: read from what a database answers to EXPLAIN, and reduced to
//! operations that can be compared.
//!
//! ```text
//! EXPLAIN (the dialect's words) ──► rows ──► postgres.rs mysql.rs mariadb.rs sqlite.rs duckdb.rs trino.rs
//!                                                │ one operation per node, figures apart
//!                                                ▼
//!                                  literals become `?` (text.rs) ──► fingerprint
//! ```
//!
//! The fingerprint is of what a database decides: operations, tables, indexes, the order of joins
//! and the conditions without their literals. It ignores costs, estimates and everything measured,
//! which are kept beside the operation as [`PlanOperation::figures`]. Two plans with one
//! fingerprint are the same plan; a new version of a database may describe the same plan in other
//! words.

mod duckdb;
mod json;
mod mariadb;
mod mysql;
mod postgres;
mod sqlite;
mod text;
mod trino;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::Rows;
use triphammer_core::sql::PlanFormat;
use triphammer_settings::fnv::Fnv1a;

/// Maximum number of operations kept of a plan.
const OPERATIONS_MAX: usize = 500;
/// Maximum length of the description of an operation, in characters.
const OPERATION_MAX: usize = 1_000;
/// Digits of a fingerprint that tables show.
const SHORT: usize = 8;

/// The plan by which a database executes a query.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionPlan {
    /// Key of the query: `q9`.
    pub query: String,
    /// Fingerprint of the operations, without costs, estimates and literals.
    pub fingerprint: String,
    /// The operations, each followed by its inputs.
    pub operations: Vec<PlanOperation>,
    /// The operations as measured when the query was run for that, with `--analyze`; `None`
    /// without it.
    #[serde(default)]
    pub analyzed: Option<AnalyzedPlan>,
}

/// A plan with measurements, from a separate execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnalyzedPlan {
    /// Time of that execution in seconds, slower than a timed one by the cost of measuring.
    pub seconds: f64,
    /// The operations, each followed by its inputs.
    pub operations: Vec<PlanOperation>,
}

/// An operation of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanOperation {
    /// Number of operations above it.
    pub depth: u32,
    /// What is done, in the database's words; literals are replaced by `?`.
    pub operation: String,
    /// Estimates or measurements, in the database's words; empty without any.
    pub figures: String,
}

impl ExecutionPlan {
    /// Creates the plan of a query from its operations.
    #[must_use]
    pub fn new(query: &str, operations: Vec<PlanOperation>) -> Self {
        let fingerprint = fingerprint(&operations);
        Self { query: query.to_owned(), fingerprint, operations, analyzed: None }
    }

    /// Largest number of parallel workers of an operation: as launched if that was measured, and else as planned; `None` if
    /// none of them has workers.
    #[must_use]
    pub fn workers(&self) -> Option<u32> {
        let most = |operations: &[PlanOperation], name: &str| {
            let figures = operations.iter().flat_map(|of| of.figures.split(", "));
            figures.filter_map(|figure| figure.strip_prefix(name)?.trim().parse().ok()).max()
        };
        let launched =
            self.analyzed.as_ref().and_then(|of| most(&of.operations, postgres::LAUNCHED));
        launched.or_else(|| most(&self.operations, postgres::PLANNED))
    }

    /// The first digits of the fingerprint, for tables.
    #[must_use]
    pub fn short(&self) -> &str {
        self.fingerprint.get(..SHORT).unwrap_or(&self.fingerprint)
    }
}

impl PlanOperation {
    fn new(depth: usize, operation: &str, figures: String) -> Self {
        let operation = text::without_literals(operation);
        let operation = operation.chars().take(OPERATION_MAX).collect();
        Self { depth: u32::try_from(depth).unwrap_or(u32::MAX), operation, figures }
    }

    /// The operation in a line, indented by its depth.
    #[must_use]
    pub fn line(&self) -> String {
        let indent = "  ".repeat(self.depth as usize);
        match self.figures.as_str() {
            "" => format!("{indent}{}", self.operation),
            figures => format!("{indent}{}  ({figures})", self.operation),
        }
    }
}

/// Fingerprint of several plans at once, in the order of their queries; `None` without any.
#[must_use]
pub fn fingerprint_of_all(plans: &[ExecutionPlan]) -> Option<String> {
    let parts = plans.iter().flat_map(|plan| [plan.query.as_str(), plan.fingerprint.as_str()]);
    (!plans.is_empty()).then(|| hash(parts))
}

/// Reads the operations from the answer to EXPLAIN.
///
/// # Errors
/// When the answer does not have the format.
pub fn read(format: PlanFormat, rows: &Rows) -> Result<Vec<PlanOperation>, String> {
    let mut operations = match format {
        PlanFormat::PostgresJson => postgres::read(&text_of(rows, 0)?),
        PlanFormat::MysqlTree => Ok(mysql::read(&text_of(rows, 0)?)),
        PlanFormat::MariadbJson => mariadb::read(&text_of(rows, 0)?),
        PlanFormat::SqliteRows => sqlite::read(rows),
        PlanFormat::DuckdbJson => duckdb::read(&text_of(rows, 1)?),
        PlanFormat::TrinoJson => trino::read(&text_of(rows, 0)?),
    }?;
    if operations.is_empty() {
        return Err("the database returned an empty plan".to_owned());
    }
    operations.truncate(OPERATIONS_MAX);
    Ok(operations)
}

/// The text of a column, over all rows.
fn text_of(rows: &Rows, column: usize) -> Result<String, String> {
    let texts = rows.iter().map(|row| row.text(column).map(str::to_owned));
    let texts: Vec<String> = texts.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    Ok(texts.join("\n"))
}

fn fingerprint(operations: &[PlanOperation]) -> String {
    let lines: Vec<String> = (operations.iter())
        .map(|operation| format!("{} {}", operation.depth, operation.operation))
        .collect();
    hash(lines.iter().map(String::as_str))
}

/// The hash of the texts, in 16 hexadecimal digits.
fn hash<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut hash = Fnv1a::new();
    texts.for_each(|text| hash.add(text.as_bytes()));
    format!("{:016x}", hash.value())
}

#[cfg(test)]
mod tests;

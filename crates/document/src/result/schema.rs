//! Schema facts that the query planner depends on, at the start of a run: tables, indexes,
//! constraints, sizes and the age of statistics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fact about a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchemaFact {
    /// Kind of the fact.
    pub kind: SchemaKind,
    /// Name of the table, or of a fact about the whole database.
    pub table: String,
    /// Name of the index or constraint; empty for other kinds.
    pub name: String,
    /// Definition as given by the database, number of rows, bytes, or age of statistics in seconds
    /// (`never`, or `gathered` if the database does not report the time).
    pub value: String,
}

/// Kind of a schema fact.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SchemaKind {
    /// The columns of a table.
    Table,
    /// The storage of a table.
    Engine,
    /// The definition of an index.
    Index,
    /// A key, foreign key or check constraint.
    Constraint,
    /// Number of rows of a table, as estimated by the planner.
    Rows,
    /// Size of a table without its indexes, in bytes.
    Bytes,
    /// Size of a table's indexes, in bytes.
    IndexBytes,
    /// Age of the planner's statistics.
    Statistics,
}

impl SchemaKind {
    /// All kinds, in declaration order.
    pub const ALL: [Self; 8] = [
        Self::Table,
        Self::Engine,
        Self::Index,
        Self::Constraint,
        Self::Rows,
        Self::Bytes,
        Self::IndexBytes,
        Self::Statistics,
    ];

    /// Name in documents and in SQL.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Engine => "engine",
            Self::Index => "index",
            Self::Constraint => "constraint",
            Self::Rows => "rows",
            Self::Bytes => "bytes",
            Self::IndexBytes => "index_bytes",
            Self::Statistics => "statistics",
        }
    }
}

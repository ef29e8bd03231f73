//! What the planner of the database had to work with when a run began: tables, indexes, constraints, sizes
//! and the age of statistics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing that is known of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchemaFact {
    /// What it is about.
    pub kind: SchemaKind,
    /// The table, or what the database tells as a whole.
    pub table: String,
    /// Name of the index or constraint; empty for the others.
    pub name: String,
    /// Its definition in the database's words, rows, bytes, or the age of statistics in seconds (`never`,
    /// or `gathered` where the database does not tell when).
    pub value: String,
}

/// What a fact of a schema is about.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SchemaKind {
    /// A table's columns.
    Table,
    /// How a table is stored.
    Engine,
    /// An index.
    Index,
    /// A key, a reference or a condition.
    Constraint,
    /// Rows of a table as the planner estimates them.
    Rows,
    /// Bytes of a table without its indexes.
    Bytes,
    /// Bytes of a table's indexes.
    IndexBytes,
    /// How long ago the planner's statistics were gathered.
    Statistics,
}

impl SchemaKind {
    /// All kinds.
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

    /// The word in documents and in SQL.
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

//! Statements: as a workload declares them, and bound to a dialect.

use crate::name::Name;
use crate::value::ColumnType;

/// A statement that a workload needs: its name and its parameters in order.
#[derive(Clone, Debug)]
pub struct StatementDef {
    /// Name in the catalogue, such as `new_order.stock`.
    pub name: Name,
    /// Parameters in the order of the arguments.
    pub params: Vec<Param>,
    /// Which catalogues must have the statement.
    pub required: Required,
    /// Its SQL if the workload supplies it, such as one read from a file. A block of this name in a
    /// catalogue overrides it.
    pub text: Option<Name>,
}

/// Which catalogues must have a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// Every dialect's catalogue must have it.
    Always,
    /// Catalogues of databases with stored procedures must have it.
    WithProcedures,
    /// Optional in every catalogue; code that uses it checks that it exists.
    Optional,
}

/// A parameter of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Name in the SQL, after the colon.
    pub name: Name,
    /// Type, which is passed to the database rather than left to its inference.
    pub param_type: ColumnType,
}

/// Declares a parameter; short enough to write statements as tables.
#[must_use]
pub const fn param(name: &'static str, param_type: ColumnType) -> Param {
    Param { name: Name::new_static(name), param_type }
}

/// Declares a statement that the client sends.
#[must_use]
pub fn statement(name: &'static str, params: &[Param]) -> StatementDef {
    definition(name, params, Required::Always)
}

/// Declares a call of a stored procedure.
#[must_use]
pub fn call(name: &'static str, params: &[Param]) -> StatementDef {
    definition(name, params, Required::WithProcedures)
}

/// Declares a statement that some dialects do not have or need.
#[must_use]
pub fn optional(name: &'static str, params: &[Param]) -> StatementDef {
    definition(name, params, Required::Optional)
}

fn definition(name: &'static str, params: &[Param], required: Required) -> StatementDef {
    StatementDef { name: Name::new_static(name), params: params.to_vec(), required, text: None }
}

/// SQL that a workload supplies as it is, such as one read from a file: without template variables and parameters.
#[derive(Clone, Debug)]
pub struct OwnSql {
    /// Name in the catalogue, such as `check.orphans`.
    pub name: Name,
    /// What it is.
    pub used: OwnSqlUse,
    /// The SQL for dialects without their own; `None` if there is none.
    pub default: Option<Name>,
    /// The SQL of single dialects and those that extend them, as (dialect, SQL).
    pub dialects: Vec<(Name, Name)>,
}

/// What a catalogue does with a text of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnSqlUse {
    /// A statement without parameters.
    Statement,
    /// A script of the kind that its name begins with: `setup.` or `teardown.`.
    Script,
}

/// A statement ready for a driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundStatement {
    /// Name of the statement, for messages.
    pub name: String,
    /// SQL with the dialect's placeholders.
    pub sql: String,
    /// Parameters as declared, in the order of the arguments.
    pub params: Vec<Param>,
    /// For each placeholder of the text in order, the index of its argument. For numbered
    /// placeholders simply 0, 1, 2 ….
    pub order: Vec<usize>,
}

impl BoundStatement {
    /// The same statement with text before it, such as `EXPLAIN`.
    #[must_use]
    pub fn after(&self, text: &str) -> Self {
        let (name, sql) = (self.name.clone(), format!("{text} {}", self.sql));
        Self { name, sql, params: self.params.clone(), order: self.order.clone() }
    }
}

//! Declarations of tables.

use crate::name::Name;
use crate::value::ColumnType;

/// Declaration of a table.
#[derive(Clone, Debug)]
pub struct TableDef {
    /// Name of the table.
    pub name: Name,
    /// Columns of the table, in order.
    pub columns: Vec<Column>,
}

/// Declaration of a column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name of the column.
    pub name: Name,
    /// Type of the column.
    pub column_type: ColumnType,
}

/// Declares a column; short enough to write tables as tables.
#[must_use]
pub const fn column(name: &'static str, column_type: ColumnType) -> Column {
    Column { name: Name::new_static(name), column_type }
}

/// Declares a table; short enough to write a schema as a list.
#[must_use]
pub fn table<const N: usize>(name: &'static str, columns: [Column; N]) -> TableDef {
    TableDef { name: Name::new_static(name), columns: columns.into() }
}

//! Bulk loads: INSERTs of one row or several, with arrays of parameters.

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::rows::{Row, Rows};
use triphammer_core::session::RowSource;
use triphammer_core::workload::TableDef;
use triphammer_odbc::{ParamType, Statement};

use super::session::OdbcSession;
use super::values::{Forms, Scratch, fits};

/// Rows that are sent at once.
const ROWS: usize = 1_000;
/// Most parameters of a statement: servers limit them, SQL Server to 2,100.
const PARAMETERS_MAX: usize = 2_000;

/// Inserts all rows of `source`.
pub(super) fn load(
    session: &mut OdbcSession,
    table: &TableDef,
    source: &mut dyn RowSource,
) -> Result<u64, DbError> {
    let forms = Forms::of(session.def());
    let width = table.columns.len();
    let types: Vec<_> =
        table.columns.iter().map(|column| forms.param(column.column_type)).collect();
    let declared = session.def().insert_rows.unwrap_or(1);
    let most = (PARAMETERS_MAX / width.max(1)).max(1);
    let mut single = Insert::new(session, table, &types, 1)?;
    let mut several = match declared.min(most) {
        0 | 1 => None,
        rows => Some(Insert::new(session, table, &types, rows)?),
    };
    let mut scratch = Scratch::default();
    let mut rows = Rows::new();
    let mut count = 0;
    loop {
        rows.reset(width);
        let more = source.fill(&mut rows);
        let mut sent = 0;
        if let Some(several) = &mut several {
            sent = several.send(session, table, &rows, 0, &mut scratch)?;
        }
        single.send(session, table, &rows, sent, &mut scratch)?;
        count += rows.len() as u64;
        if !more {
            return Ok(count);
        }
    }
}

/// An INSERT of one row or several, with room for an array of them.
struct Insert {
    statement: Statement,
    /// Types of one row's parameters.
    types: Vec<ParamType>,
    rows_each: usize,
    /// INSERTs that are sent at once.
    sets: usize,
}

impl Insert {
    fn new(
        session: &mut OdbcSession,
        table: &TableDef,
        types: &[ParamType],
        rows_each: usize,
    ) -> Result<Self, DbError> {
        let all: Vec<_> = std::iter::repeat_n(types, rows_each).flatten().copied().collect();
        let text = insert_text(table, rows_each);
        let can = session.def().arrays.unwrap_or(true);
        let mut sets = if can { (ROWS / rows_each).max(1) } else { 1 };
        let prepared = session.connection.prepare(&text, &all, sets).or_else(|error| {
            // A driver without arrays of parameters takes one set at a time.
            if sets == 1 {
                return Err(error);
            }
            sets = 1;
            session.connection.prepare(&text, &all, 1)
        });
        let statement = prepared.map_err(|error| session.failed(&error))?;
        Ok(Self { statement, types: types.to_vec(), rows_each, sets })
    }

    /// Inserts as many rows as fill INSERTs, from the row `at` on; returns the row after them.
    fn send(
        &mut self,
        session: &mut OdbcSession,
        table: &TableDef,
        rows: &Rows,
        mut at: usize,
        scratch: &mut Scratch,
    ) -> Result<usize, DbError> {
        loop {
            let sets = ((rows.len() - at) / self.rows_each).min(self.sets);
            if sets == 0 {
                return Ok(at);
            }
            for place in 0..sets * self.rows_each {
                self.set(table, place, &rows.row(at + place), scratch)?;
            }
            self.statement.execute_sets(sets).map_err(|error| session.failed(&error))?;
            at += sets * self.rows_each;
        }
    }

    fn set(
        &mut self,
        table: &TableDef,
        place: usize,
        row: &Row<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), DbError> {
        let (set, group) = (place / self.rows_each, place % self.rows_each);
        for (column, wanted) in self.types.iter().enumerate() {
            let param = scratch.cell(row, row.cell(column), *wanted);
            let param = param.filter(|param| fits(*param, *wanted));
            let parameter = group * self.types.len() + column;
            let done = param.map(|param| self.statement.set(set, parameter, param));
            if !matches!(done, Some(Ok(()))) {
                let (name, value) = (&table.columns[column].name, row.show(column));
                let message =
                    format!("loading {}.{name}: {value} does not fit {wanted:?}", table.name);
                return Err(DbError::new(ErrorClass::Other, message));
            }
        }
        Ok(())
    }
}

fn insert_text(table: &TableDef, rows: usize) -> String {
    let names: Vec<_> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let marks = format!("({})", vec!["?"; names.len()].join(","));
    let values = vec![marks.as_str(); rows].join(",");
    // Unquoted: quoted names would have the wrong case where unquoted ones are in upper case.
    format!("INSERT INTO {} ({}) VALUES {values}", table.name, names.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use triphammer_core::ColumnType;
    use triphammer_core::workload::{column, table};

    #[test]
    fn an_insert_has_a_mark_for_each_value() {
        let table = table("t", [column("a", ColumnType::Int), column("b", ColumnType::Text)]);
        assert_eq!(insert_text(&table, 1), "INSERT INTO t (a,b) VALUES (?,?)");
        assert_eq!(insert_text(&table, 2), "INSERT INTO t (a,b) VALUES (?,?),(?,?)");
    }
}

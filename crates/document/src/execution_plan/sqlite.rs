//! SQLite: `EXPLAIN QUERY PLAN`, rows of number, parent, an unused column and description.

use std::collections::BTreeMap;

use triphammer_core::Rows;

use super::PlanOperation;

pub(super) fn read(rows: &Rows) -> Result<Vec<PlanOperation>, String> {
    let mut depths: BTreeMap<i64, usize> = BTreeMap::new();
    let mut operations = Vec::new();
    for row in rows.iter() {
        let number = |column| row.int(column).map_err(|error| error.to_string());
        let (id, parent) = (number(0)?, number(1)?);
        let depth = depths.get(&parent).map_or(0, |depth| depth + 1);
        depths.insert(id, depth);
        let detail = row.text(3).map_err(|error| error.to_string())?;
        operations.push(PlanOperation::new(depth, detail, String::new()));
    }
    Ok(operations)
}

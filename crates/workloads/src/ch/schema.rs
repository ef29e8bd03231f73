//! The three tables that come to those of TPROC-C, in the order in which rows can be loaded. Their SQL is in
//! `sql/base/ch/schema.sql`; a test compares the two.

use std::sync::Arc;

use triphammer_core::value::ColumnType::{Decimal, Int, Text};
use triphammer_core::workload::{TableDef, column, table};

use crate::tproc_c::schema;
use crate::tproc_h::{nation, region};

/// Number of suppliers, at any scale.
pub const SUPPLIERS: i64 = 10_000;

fn supplier() -> TableDef {
    table(
        "supplier",
        [
            column("su_suppkey", Int),
            column("su_name", Text),
            column("su_address", Text),
            column("su_nationkey", Int),
            column("su_phone", Text),
            column("su_acctbal", Decimal(2)),
            column("su_comment", Text),
        ],
    )
}

/// The tables that CH-benCHmark adds.
pub fn added_tables() -> Arc<[TableDef]> {
    [region(), nation(), supplier()].into()
}

/// All tables, those of TPROC-C first.
pub fn tables() -> Arc<[TableDef]> {
    schema::tables().iter().chain(&*added_tables()).cloned().collect()
}

//! The four tables, and their rows as `pgbench -i` leaves them. None of it is random.

use std::sync::Arc;

use crate::BATCH_BYTES;
use triphammer_core::rows::Rows;
use triphammer_core::session::RowSource;
use triphammer_core::value::ColumnType::{Int, Text, Timestamp};
use triphammer_core::workload::{TableDef, column, table};

/// Number of tellers per branch.
pub const TELLERS_EACH: i32 = 10;
/// Number of accounts per branch.
pub const ACCOUNTS_EACH: i32 = 100_000;

/// Content of an account's filler after `pgbench -i`, a `char(84)`: spaces. They are written out,
/// so that a database that does not pad has rows of the same size.
const ACCOUNT_FILLER: &str = match str::from_utf8(&[b' '; 84]) {
    Ok(blanks) => blanks,
    Err(_) => "",
};

/// Declares the branches, one per unit of scale.
fn branches() -> TableDef {
    table("pgbench_branches", [column("bid", Int), column("bbalance", Int), column("filler", Text)])
}

/// Declares the tellers, ten per branch.
fn tellers() -> TableDef {
    table(
        "pgbench_tellers",
        [column("tid", Int), column("bid", Int), column("tbalance", Int), column("filler", Text)],
    )
}

/// Declares the accounts, 100,000 per branch.
fn accounts() -> TableDef {
    table(
        "pgbench_accounts",
        [column("aid", Int), column("bid", Int), column("abalance", Int), column("filler", Text)],
    )
}

/// Declares the history of transactions; empty before any run.
fn history() -> TableDef {
    table(
        "pgbench_history",
        [
            column("tid", Int),
            column("bid", Int),
            column("aid", Int),
            column("delta", Int),
            column("mtime", Timestamp),
            column("filler", Text),
        ],
    )
}

/// All tables, in the order of creation.
pub fn tables() -> Arc<[TableDef]> {
    [branches(), tellers(), accounts(), history()].into()
}

/// The tables of a branch that have rows before any run.
pub fn branch_tables() -> Arc<[TableDef]> {
    [branches(), tellers(), accounts()].into()
}

/// Number of rows per branch.
pub fn branch_rows() -> u64 {
    1 + u64::from(TELLERS_EACH.unsigned_abs()) + u64::from(ACCOUNTS_EACH.unsigned_abs())
}

/// Rows of `table` in branch `bid`.
///
/// # Panics
/// When there is no such table.
pub fn rows(table: &str, bid: i64) -> Box<dyn RowSource> {
    match table {
        "pgbench_branches" => Box::new(batches(1, bid, |bid, _, rows| {
            rows.int(bid);
            rows.int(0);
            rows.null();
        })),
        "pgbench_tellers" => Box::new(batches(TELLERS_EACH, bid, |tid, bid, rows| {
            rows.int(tid);
            rows.int(bid);
            rows.int(0);
            rows.null();
        })),
        "pgbench_accounts" => Box::new(batches(ACCOUNTS_EACH, bid, |aid, bid, rows| {
            rows.int(aid);
            rows.int(bid);
            rows.int(0);
            rows.text(ACCOUNT_FILLER);
        })),
        other => unreachable!("{other} has no rows before a run"),
    }
}

/// The rows in branch `bid` of a table with `each` rows per branch, numbered consecutively over all
/// branches: `row(number, bid, rows)`.
fn batches(each: i32, bid: i64, row: impl Fn(i64, i64, &mut Rows)) -> impl RowSource {
    let last = bid * i64::from(each);
    let mut next = last - i64::from(each) + 1;
    move |rows: &mut Rows| {
        while next <= last && rows.bytes() < BATCH_BYTES {
            row(next, bid, rows);
            next += 1;
        }
        next <= last
    }
}

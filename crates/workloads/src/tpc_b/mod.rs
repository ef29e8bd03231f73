//! pgbench's built-in scripts on pgbench's own tables, as the PostgreSQL manual documents them
//! (<https://www.postgresql.org/docs/15/pgbench.html>): a database that `pgbench -i` filled can be
//! used as it is, and pgbench runs on one that we built. Similar to TPC-B, but not a TPC result.
//!
//! Statements, ranges of their parameters and round trips are pgbench's: seven for tpcb-like, five
//! for simple-update, one without a transaction for select-only. One thing differs: `mtime` is the
//! client's time of the transaction, not `CURRENT_TIMESTAMP`.
//!
//! # Order of locks
//! Account, teller, branch. pgbench draws the three independently of each other, so two concurrent
//! transactions lock one row of each table, in the order of the tables, and cannot deadlock.

mod checks;
mod prepared;
mod schema;
mod settings;
mod statements;
mod transactions;
mod workload;

pub use prepared::Prepared;
pub use settings::SCALE_MAX;
pub use transactions::{Change, Input, SELECT_ONLY, SIMPLE_UPDATE, TPCB_LIKE};
pub use workload::TpcB;
pub(crate) use workload::external;

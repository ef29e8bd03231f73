//! The workload of `drill`: proves which acknowledged commits a database still has after a fault.
//!
//! Each transaction reads its user's last row and appends one:
//!
//! | column | value |
//! |---|---|
//! | `usr` | the user, from 0 |
//! | `seq` | the user's transactions, counted from 1 |
//! | `attempt` | number of the attempt in the whole drill, so that a transaction that committed twice has two rows |
//! | `input` | a random number |
//! | `prev` | `hash` of the last row that this transaction read; 0 for the first |
//! | `hash` | [`hash`] of the seed, `usr`, `seq`, `input` and `prev` |
//!
//! The client's [`Ledger`] says which transactions were acknowledged, failed, or are in doubt. After
//! the faults, a [`Judge`] compares it with the rows:
//!
//! - **lost**: acknowledged, and there is no row;
//! - **duplicated**: more than one row of one transaction;
//! - **reordered**: the row names another predecessor than the rows before it. The database kept it
//!   and lost a commit that it was built on, or it did not see a commit that had been acknowledged
//!   before it began;
//! - **undead**: reported as failed, and there is a row;
//! - **altered**: the row does not have its hash.
//!
//! A failover that loses the newest commits loses the end of each user's chain, and nothing is
//! reordered. Rows of earlier drills have another seed, and are altered.

mod chain;
mod judge;
mod ledger;
mod sessions;
mod silence;
mod workload;

pub use chain::hash;
pub use judge::{Judge, LedgerCounts, LostCommits, RowOfDrill, judge};
pub use ledger::{Fate, Ledger, Stretch};
pub use sessions::{SESSION_ID, SESSION_IS_OWN, SESSION_TERMINATE, ServerSession, Sessions};
pub use silence::outages;
pub use workload::{Drill, NAME, WRITABLE};

//! Finds the anomalies of transaction isolation in a history of transactions.
//!
//! A [`History`] has what each client did, what it saw, and what became of each transaction. From
//! the values, which are unique, follow the versions of each key and their order (`versions`), and
//! from these the dependencies between transactions: `ww` (one overwrote the other's version), `wr`
//! (one saw the other's) and `rw` (one overwrote what the other saw: an anti-dependency). A cycle of
//! dependencies is an anomaly; its kinds, and those that need no cycle, are in [`anomaly`].
//!
//! Definitions are those of Adya, *Weak Consistency: A Generalized Theory and Optimistic
//! Implementations for Distributed Transactions* (MIT, 1999), and of Kingsbury and Alvaro, *Elle:
//! Inferring Isolation Anomalies from Experimental Observations* (VLDB 2020), whose names are used.
//!
//! What the checker reports is there: it claims nothing that the history does not prove. The order of
//! versions that no transaction read stays unknown.

pub mod anomaly;
pub mod check;
mod cycles;
mod direct;
pub mod edn;
mod graph;
pub mod history;
pub mod plant;
mod recency;
pub mod report;
mod versions;

pub use anomaly::{Anomaly, AnomalyKind, Consistency, Order, Promise};
pub use check::{Scope, check};
pub use history::{Action, Fate, History, Key, Model, Operation, Transaction};
pub use report::{Ages, Edge, EdgeKind, Example, Finding, Report, UNCOUNTED};
pub use versions::NotUnique;

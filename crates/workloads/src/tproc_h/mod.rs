//! TPROC-H, after TPC-H: eight tables of a business that sells parts, and 22 questions that managers ask about
//! them. The data is byte-identical to that of `dbgen`; the `tpchgen` crate generates it during the load.
//! Like TPC-H, and no TPC result.
//!
//! # Scale
//! The scale factor (SF) is about the gigabytes of raw data; it may have a fraction, in the thousandths that
//! `dbgen` itself knows below 1. A thousandth has a fixed number of rows in each table that grows, but for
//! lineitem, so that checks can cut the data by thousandths.
//!
//! # Queries
//! The queries have their dates as parameters, both ends of each range, and their patterns whole: one text suits
//! every database that has standard joins, and all see constants of the column's type. Texts of fixed length are
//! compared with a `CAST`, because a parameter of varying length would make PostgreSQL convert the column, and lose
//! its statistics.
//!
//! # Runs
//! The description has no transactions: a run times a finite set of queries, which is a
//! [measure](triphammer_core::workload::MeasureDef) of its own. `runs` plans its streams.

mod answers;
mod checks;
mod lines;
mod orderings;
mod parameters;
mod queries;
mod random;
mod refresh;
mod rows;
mod runs;
mod schema;
mod settings;
mod statements;
mod text_pool;
mod workload;

pub use orderings::ordering;
pub use parameters::parameters;
pub use refresh::{REFRESH_SETS, Refresh, RefreshSet, rf1, rf2};
pub(crate) use runs::{ONLY, STREAMS_MAX, chosen};
pub(crate) use schema::{nation, region};
pub use settings::{SCALE_MAX, SCALE_MIN};
pub use workload::TprocH;

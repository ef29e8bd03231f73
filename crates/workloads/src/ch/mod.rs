//! CH-benCHmark: the transactions of TPROC-C, and beside them streams of 22 analytical queries on the same tables
//! (Cole et al., "The mixed workload CH-benCHmark", DBTest 2011).
//!
//! It extends [TPROC-C](crate::tproc_c): tables, data, transactions, checks and build record are those, to which
//! come three tables (supplier, nation, region), their checks, and the queries. A schema with TPROC-C therefore
//! becomes one with CH-benCHmark by adding three small tables, and serves runs of both.
//!
//! # Sources
//! Queries and joins are those that the authors published. Where they leave the data open, it follows BenchBase
//! (github.com/cmu-db/benchbase, Apache-2.0): 5 regions with keys from 1, 62 nations with the codes of 0-9, A-Z and
//! a-z as keys and their names, 10,000 suppliers. Two things differ. Keys of suppliers go from 0 to 9,999, as the
//! join with modulo 10,000 needs them; and the names of suppliers are numbered, so that answers can be compared.

mod checks;
mod queries;
mod rows;
mod schema;
mod settings;
mod workload;

pub use workload::Ch;

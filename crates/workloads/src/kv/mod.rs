//! A key-value load: one table with an integer key and a payload, and any mix of reads, updates,
//! inserts, deletes, scans and read-modify-writes, among them the mixes A to F of YCSB (Cooper and
//! others, Benchmarking cloud serving systems with YCSB, 2010).
//!
//! ```text
//! settings mix keys       options; weights of the operations; which key an operation takes
//! user                    numbers of inserted and deleted rows, without coordination of users
//! operations prepared     types, inputs and the audit; the statements that run them
//! schema checks           the table, its rows and their checksums
//! ```

mod checks;
mod keys;
mod mix;
mod operations;
mod prepared;
mod schema;
mod settings;
mod user;
mod workload;

pub use keys::{Key, KeyChoice, KeyChooser};
pub use mix::{Mix, OPERATIONS};
pub use operations::{DELETE, INSERT, Input, READ, READ_MODIFY_WRITE, SCAN, UPDATE};
pub use schema::checksum;
pub use workload::Kv;

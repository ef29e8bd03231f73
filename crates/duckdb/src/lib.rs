//! DuckDB's C API behind safe types: connections, prepared statements, results by column, bulk
//! loads. The shared library is loaded at run time, so that the program needs it only for DuckDB
//! targets, and works with the version that its user has.
//!
//! This is the boundary: the only place with `unsafe` for DuckDB, and it knows nothing of sessions
//! and workloads. What makes the calls sound:
//!
//! - A [`Library`] is never unloaded, so its functions can be called for as long as the process
//!   lives.
//! - Statements, results and appenders hold their connection, and a connection holds its database,
//!   so that each is destroyed before what it was made from.
//! - Connections and what belongs to them stay on one thread; only an [`Interrupter`] may be used
//!   from others.
//! - Whatever DuckDB says of a vector (type, length) is read from the vector itself, and indexes
//!   are checked against it.
#![expect(unsafe_code, reason = "calls functions of a C library")]
#![deny(clippy::undocumented_unsafe_blocks)]

mod api;
mod appender;
mod connection;
mod error;
mod library;
mod locate;
mod open;
mod result;
mod statement;
mod value;

pub use appender::{Appender, Misfit};
pub use connection::Connection;
pub use error::{Error, ErrorKind};
pub use library::Library;
pub use locate::{LibraryError, VARIABLE};
pub use open::Interrupter;
pub use result::{Chunk, Column, QueryResult};
pub use statement::Prepared;
pub use value::{ColumnType, Value};

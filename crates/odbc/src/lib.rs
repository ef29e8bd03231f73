//! ODBC behind safe types: connections, prepared statements, arrays of parameters, results. The
//! driver manager (`libodbc`) is loaded at run time, so that the program needs it only for ODBC
//! targets; it loads the database's driver.
//!
//! This is the boundary: the only place with `unsafe` for ODBC, and it knows nothing of sessions
//! and workloads. The functions and types are declared here rather than taken from `odbc-sys`,
//! which links the driver manager when the program is built. What makes the calls sound:
//!
//! - A [`Manager`] is never unloaded, so its functions can be called for as long as the process
//!   lives. What a driver does inside them is its own: a driver that crashes ends the process, and
//!   is named before that.
//! - A statement holds its connection, so that it is freed before that.
//! - Connections and statements stay on one thread; only an [`Interrupter`] may be used from
//!   others, and it holds a lock while it uses a statement, which its thread waits for.
//! - Buffers that are bound to a statement belong to it, keep their place while they are bound, and
//!   lengths that a driver reports are checked against them.
#![expect(unsafe_code, reason = "calls functions of a C library")]
#![deny(clippy::undocumented_unsafe_blocks)]

mod api;
mod columns;
mod connection;
mod crash;
mod diagnostics;
mod manager;
mod parameters;
mod statement;

pub use columns::{Field, FieldKind};
pub use connection::{Connection, Info, Interrupter, Number, OpenedConnection, TransactionEnd};
pub use diagnostics::Error;
pub use manager::{Manager, ManagerError, VARIABLE};
pub use parameters::{Moment, Param, ParamType, Unset};
pub use statement::Statement;

//! The driver for SQL Server: TDS 7.4, and 8.0 where the target requires strict TLS, over the
//! project's own socket, stream and TLS. It is written here rather than taken from `tiberius`,
//! which allocates for every field and argument, hides how statements are sent (no `sp_execute`, no
//! transaction manager requests, no attention), brings a second TLS set-up, and has no limits on
//! what a server may send; nor from Microsoft's `mssql-tds` 0.3, which needs OpenSSL and all of tokio.
//!
//! `wire` sends and receives messages as packets, `shell` wraps the TLS handshake in them, `reader`
//! and `types` decode what servers send, `tokens` assembles it to results, and `param` writes
//! arguments.
//!
//! It has been tested with Babelfish, a server for TDS on PostgreSQL, and with responders of its
//! tests; never with SQL Server itself.

mod browser;
mod cancel;
mod code_page;
mod connection;
mod database;
mod error;
mod load;
mod login;
mod param;
mod prepared;
mod quote;
mod reader;
mod session;
mod shared;
mod shell;
mod tokens;
mod types;
mod url;
mod wire;

pub use database::SqlServer;
pub use session::SqlServerSession;

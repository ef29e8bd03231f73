//! The driver for MySQL and MariaDB. In the connection phase, `mysql_common`, the library under
//! mysql_async, writes our answer and computes the authentication response; what the server sends
//! is parsed here, and the few commands of the rest are ours. mysql_async itself would hide what
//! has to be under our control: it has no limit on unacknowledged data, requests the server's RSA
//! key over an unencrypted connection without asking, takes rows for LOAD DATA only from a stream
//! that owns them, and allocates for every argument and field.
//!
//! `mysql_common` stays for the authentication of both products: nearly all crates below it are in
//! the program anyway.

mod auth;
mod codec;
mod compressed;
mod connection;
mod database;
mod error;
mod load;
mod obstacles;
mod option_file;
mod peer;
mod quote;
mod server_key;
mod session;
mod shared;
mod snapshot;
mod text;
mod texts;
mod url;
mod wire;

pub use database::{Mysql, Tunnel, TunnelTls};
pub use session::MysqlSession;
pub(crate) use snapshot::MysqlSnapshots;

/// What a proxy needs to read the packets of others.
pub mod messages {
    pub use super::codec::{ColumnKind, Reader, wire_type};
    pub use super::texts::{binary, canonical};
}

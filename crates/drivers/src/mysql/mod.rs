//! The driver for MySQL and MariaDB. The protocol's connection phase (greeting, proofs of passwords) is
//! `mysql_common`'s, the library under mysql_async; the few commands of the rest are ours. mysql_async
//! itself would hide what has to be in our hands: it gives no limit on unacknowledged data, asks for the
//! server's RSA key on an open line by itself, takes rows for LOAD DATA only from a stream that owns
//! them, and allocates for every argument and field.

mod auth;
mod codec;
mod database;
mod error;
mod load;
mod option_file;
mod server_key;
mod session;
mod url;
mod wire;

pub use database::Mysql;
pub use session::MysqlSession;

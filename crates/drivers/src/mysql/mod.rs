//! The driver for MySQL and MariaDB. Of the protocol's connection phase, `mysql_common`, the library under
//! mysql_async, writes our answer and proves the password; what the server sends is read here, and the few
//! commands of the rest are ours. mysql_async itself would hide what has to be in our hands: it gives no limit on
//! unacknowledged data, asks for the server's RSA key on an open line by itself, takes rows for LOAD DATA only
//! from a stream that owns them, and allocates for every argument and field.

mod auth;
mod codec;
mod connection;
mod database;
mod error;
mod load;
mod obstacles;
mod option_file;
mod quote;
mod server_key;
mod session;
mod shared;
mod url;
mod wire;

pub use database::Mysql;
pub use session::MysqlSession;

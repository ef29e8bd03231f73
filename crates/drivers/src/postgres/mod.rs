//! The PostgreSQL driver, on tokio-postgres. Sockets, hosts, TLS modes, passwords and the reading and
//! writing of values are ours, so that nothing is guessed silently and nothing is allocated per
//! statement beyond what the library does; the library has the protocol.

mod codec;
mod database;
mod error;
mod link;
mod session;
mod socket;
mod text;
mod tls;
mod url;

pub use crate::target::Lookup;
pub use database::Postgres;
pub use session::PostgresSession;

//! The PostgreSQL driver. `wire/` is the protocol, over one buffer out and one in; sockets, hosts, TLS
//! modes, passwords and the reading and writing of values lie beside it. Nothing is guessed silently, and
//! nothing is allocated for a statement once buffers have grown.

mod codec;
mod database;
mod error;
mod prepared;
mod session;
mod socket;
mod text;
mod tls;
#[cfg(unix)]
mod unix;
mod url;
mod wire;

pub use database::Postgres;
pub use session::PostgresSession;
pub use url::Lookup;

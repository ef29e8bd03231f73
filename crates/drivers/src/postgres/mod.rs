//! The PostgreSQL driver. `wire/` implements the protocol, with one buffer for sending and one for
//! receiving; sockets, hosts, TLS modes, passwords and the encoding of values are beside it.
//! Nothing is guessed silently, and nothing is allocated per statement once the buffers have grown.

mod admin;
mod codec;
mod database;
mod environment;
mod error;
mod pooler;
mod prepared;
mod session;
mod snapshot;
mod socket;
mod text;
mod tls;
mod url;
mod wire;

pub use crate::target::Lookup;
pub use database::{Postgres, Tunnel};
pub use session::PostgresSession;
pub(crate) use snapshot::PostgresSnapshots;

/// What a proxy needs to read the messages of others.
pub mod messages {
    pub use super::wire::{Body, ServerError, touched};
}

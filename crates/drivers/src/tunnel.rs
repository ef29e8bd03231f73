//! Connections of a proxy to the server of a target: its address and its TLS, but no session. Who uses the proxy logs
//! in.

pub use crate::socket::Socket;
pub use crate::stream::Stream;

use triphammer_core::DbError;

/// Opens connections to a server, by its protocol.
#[derive(Clone)]
pub enum Tunnel {
    /// PostgreSQL's protocol.
    Postgres(crate::postgres::Tunnel),
    /// MySQL's protocol.
    Mysql(crate::mysql::Tunnel),
}

impl Tunnel {
    /// The database of the target.
    #[must_use]
    pub fn database(&self) -> &str {
        match self {
            Self::Postgres(tunnel) => &tunnel.database,
            Self::Mysql(tunnel) => &tunnel.database,
        }
    }

    /// Number of servers of the target, of which only the first is used.
    #[must_use]
    pub const fn hosts(&self) -> usize {
        match self {
            Self::Postgres(tunnel) => tunnel.hosts,
            Self::Mysql(tunnel) => tunnel.servers,
        }
    }

    /// Connects once, to see whether that is possible.
    ///
    /// # Errors
    /// When it is not.
    pub async fn probe(&self) -> Result<(), DbError> {
        match self {
            Self::Postgres(tunnel) => tunnel.connect().await.map(drop),
            Self::Mysql(tunnel) => tunnel.connect().await.map(drop),
        }
    }
}

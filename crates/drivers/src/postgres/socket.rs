//! Requests TLS from a PostgreSQL server, and finds its addresses.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use triphammer_core::{DbError, ErrorClass};

use super::url::{Endpoint, Host, socket_path};
use crate::socket::{Address, Socket, plain};

/// The message that requests TLS: its length and a number that is not a protocol version.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// Finds the addresses of a host.
///
/// # Errors
/// `Disconnected` when the name has none.
pub async fn resolve(host: &Host, limit: Duration) -> Result<Vec<Address>, DbError> {
    match &host.place {
        Endpoint::Unix(folder) => Ok(vec![Address::unix(socket_path(folder, host.port))?]),
        Endpoint::Tcp(name) => crate::socket::resolve(name, host.port, limit).await,
    }
}

impl Socket {
    /// Requests TLS, and returns whether the server agrees.
    ///
    /// # Errors
    /// When the connection breaks, or the server answers with neither yes nor no.
    pub async fn ask_for_tls(&mut self) -> Result<bool, DbError> {
        let mut answer = [0];
        let asked = async {
            self.write_all(&TLS_REQUEST).await?;
            self.read_exact(&mut answer).await
        };
        asked.await.map_err(|error| {
            let message = format!("lost the connection while requesting TLS: {}", plain(&error));
            DbError::new(ErrorClass::Disconnected, message)
        })?;
        match answer[0] {
            b'S' => Ok(true),
            b'N' => Ok(false),
            b'E' => Err(DbError::new(
                ErrorClass::Unavailable,
                "the server answered the TLS request with an error",
            )),
            _ => Err(DbError::new(
                ErrorClass::Refused,
                "the server does not speak the PostgreSQL protocol: check host and port",
            )),
        }
    }
}

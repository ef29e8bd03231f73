//! The request to cancel what a session is doing: a separate connection with one message.

use std::future::poll_fn;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use tokio::io::AsyncReadExt as _;
use triphammer_core::DbError;

use super::Connection;
use crate::stream::{Stream, broken};

/// Identifies a session to the server.
#[derive(Clone, Copy, Debug, Default)]
pub struct CancelKey {
    /// Id of its server process.
    pub(in crate::postgres) process: i32,
    /// Secret known only to the session's client.
    pub(super) secret: i32,
}

impl CancelKey {
    /// Sends the request on a new connection, and waits until the server closes that: before, the request may yet hit
    /// the session's next statement.
    ///
    /// # Errors
    /// When the request cannot be sent.
    pub async fn send(self, stream: Stream) -> Result<(), DbError> {
        let mut connection = Connection::new(stream);
        let mut request = BytesMut::new();
        frontend::cancel_request(self.process, self.secret, &mut request);
        connection.out = request;
        poll_fn(|cx| connection.poll_send(cx)).await;
        match connection.unsent {
            Some(error) => Err(broken(&error)),
            None => {
                while matches!(connection.stream.read(&mut [0; 64]).await, Ok(1..)) {}
                Ok(())
            }
        }
    }
}

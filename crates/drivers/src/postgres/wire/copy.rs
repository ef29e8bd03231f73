//! Sends rows to a table with COPY. One chunk is filled while the previous one is being sent, so
//! memory holds two, whatever the size of the table.

use std::future::poll_fn;
use std::task::Poll;

use bytes::{BufMut, BytesMut};
use postgres_protocol::message::{backend, frontend};
use triphammer_core::DbError;

use super::{Connection, touched};

/// Size in bytes from which a chunk is sent.
const CHUNK_BYTES: usize = 128 * 1024;
/// Extra room for the row that exceeds that size.
const CHUNK_SLACK_BYTES: usize = 8 * 1024;
/// Header of a CopyData message, with its length still missing.
const HEAD: [u8; 5] = *b"d\0\0\0\0";

/// A part of a COPY, sent as one message.
pub struct Chunk(BytesMut);

impl Chunk {
    /// Creates an empty chunk.
    pub fn new() -> Self {
        let mut bytes = BytesMut::with_capacity(CHUNK_BYTES + CHUNK_SLACK_BYTES);
        bytes.put_slice(&HEAD);
        Self(bytes)
    }

    /// The buffer to which rows are appended.
    #[inline]
    pub fn rows(&mut self) -> &mut BytesMut {
        &mut self.0
    }

    /// Whether the chunk should be sent.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.0.len() >= CHUNK_BYTES
    }
}

impl Connection {
    /// Makes the server wait for rows.
    ///
    /// # Errors
    /// As the server reports.
    pub async fn begin_copy(&mut self, sql: &str) -> Result<(), DbError> {
        self.query(sql)?;
        let frame = self.next().await?;
        match frame.tag {
            backend::COPY_IN_RESPONSE_TAG => Ok(()),
            tag => Err(self.misplaced(tag)),
        }
    }

    /// Sends a chunk and empties it: waits until the previous one is sent, then lets the system
    /// take as much as it accepts at once. The server reads that while the next chunk is filled.
    ///
    /// # Errors
    /// When the server has meanwhile reported that the COPY failed, or the connection breaks.
    pub async fn send_rows(&mut self, chunk: &mut Chunk) -> Result<(), DbError> {
        let length = u32::try_from(chunk.0.len() - 1).unwrap_or(u32::MAX);
        chunk.0[1..5].copy_from_slice(&length.to_be_bytes());
        // A server that keeps sending notices must not block on us reading them.
        poll_fn(|cx| {
            let sent = self.poll_send(cx);
            match self.poll_unasked(cx) {
                Ok(()) => sent.map(Ok),
                Err(error) => Poll::Ready(Err(error)),
            }
        })
        .await?;
        std::mem::swap(&mut self.out, &mut chunk.0);
        chunk.0.clear();
        chunk.0.put_slice(&HEAD);
        poll_fn(|cx| {
            let _ = self.poll_send(cx);
            Poll::Ready(())
        })
        .await;
        Ok(())
    }

    /// Ends the rows. Returns how many the server has stored.
    ///
    /// # Errors
    /// As the server reports.
    pub async fn end_copy(&mut self) -> Result<u64, DbError> {
        frontend::copy_done(&mut self.out);
        self.is_copying = false;
        let mut count = 0;
        let complete = backend::COMMAND_COMPLETE_TAG;
        self.answer(|frame| {
            if frame.tag == complete {
                count = touched(frame.body);
            }
            Ok(())
        })
        .await?;
        Ok(count)
    }
}

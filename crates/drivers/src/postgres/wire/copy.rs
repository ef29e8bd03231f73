//! Rows on their way into a table by COPY. One chunk is made while the one before is on its way, so
//! that memory holds two whatever the table.

use std::future::poll_fn;
use std::task::Poll;

use bytes::{BufMut, BytesMut};
use postgres_protocol::message::{backend, frontend};
use triphammer_core::DbError;

use super::{Connection, touched};

/// Bytes after which a chunk is sent.
const CHUNK_BYTES: usize = 128 * 1024;
/// Room beyond for the row that passes the end.
const CHUNK_SLACK_BYTES: usize = 8 * 1024;
/// The head of a CopyData message, its length still open.
const HEAD: [u8; 5] = *b"d\0\0\0\0";

/// A part of a COPY, sent as one message.
pub struct Chunk(BytesMut);

impl Chunk {
    /// An empty one.
    pub fn new() -> Self {
        let mut bytes = BytesMut::with_capacity(CHUNK_BYTES + CHUNK_SLACK_BYTES);
        bytes.put_slice(&HEAD);
        Self(bytes)
    }

    /// Where rows are appended.
    #[inline]
    pub fn rows(&mut self) -> &mut BytesMut {
        &mut self.0
    }

    /// Whether it is time to send it.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.0.len() >= CHUNK_BYTES
    }
}

impl Connection {
    /// Has the server wait for rows.
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

    /// Hands a chunk over and empties it: waits until the one before is sent, then has the system take
    /// as much as it does at once. The server reads that while the next chunk is made.
    ///
    /// # Errors
    /// When the server has said meanwhile that the COPY failed, or the connection breaks.
    pub async fn send_rows(&mut self, chunk: &mut Chunk) -> Result<(), DbError> {
        let length = u32::try_from(chunk.0.len() - 1).unwrap_or(u32::MAX);
        chunk.0[1..5].copy_from_slice(&length.to_be_bytes());
        // A server that sends notices all the time must not wait for us to read them.
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

    /// Says that there are no more rows. Gives how many the server has taken.
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

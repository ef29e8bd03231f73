//! The socket under TLS. In TDS 7.4 the handshake is inside PRELOGIN packets, and what follows it
//! is not.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::wire::{END_OF_MESSAGE, HEAD_BYTES, REPLY, message_type};
use crate::socket::Socket;

/// Maximum number of handshake bytes in one packet that we send.
const CHUNK_BYTES: usize = 4096 - HEAD_BYTES;
/// Longest flight of a handshake: ours has a few hundred bytes, and more with a client certificate.
const FLIGHT_BYTES_MAX: usize = 256 * 1024;

/// A socket, as it is or with packets around its data.
pub(super) struct Shell {
    socket: Socket,
    /// Whether data are in PRELOGIN packets.
    wraps: bool,
    /// Data of our flight that has not been put into packets.
    flight: Vec<u8>,
    /// Packets that are being sent, and how much of them was.
    sending: Vec<u8>,
    sent: usize,
    /// The head of a packet that is arriving, and how much of it has.
    head: [u8; HEAD_BYTES],
    head_read: usize,
    /// Rest of the packet that is arriving.
    left: usize,
}

impl Shell {
    /// Puts nothing around the data.
    pub(super) fn new(socket: Socket) -> Self {
        let (flight, sending) = (Vec::new(), Vec::new());
        let head = [0; HEAD_BYTES];
        Self { socket, wraps: false, flight, sending, sent: 0, head, head_read: 0, left: 0 }
    }

    /// Sets whether data are in PRELOGIN packets.
    pub(super) fn set_wraps(&mut self, wraps: bool) {
        self.wraps = wraps;
    }

    /// The socket itself.
    pub(super) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Sends our flight as packets.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.sending.is_empty() && !self.flight.is_empty() {
            let count = self.flight.len().div_ceil(CHUNK_BYTES);
            for (place, chunk) in self.flight.chunks(CHUNK_BYTES).enumerate() {
                let status = if place + 1 == count { END_OF_MESSAGE } else { 0 };
                let length = u16::try_from(chunk.len() + HEAD_BYTES).expect("a chunk is short");
                let [high, low] = length.to_be_bytes();
                let number = place.to_le_bytes()[0].wrapping_add(1);
                let head = [message_type::PRELOGIN, status, high, low, 0, 0, number, 0];
                self.sending.extend_from_slice(&head);
                self.sending.extend_from_slice(chunk);
            }
            self.flight.clear();
            self.sent = 0;
        }
        while self.sent < self.sending.len() {
            let rest = &self.sending[self.sent..];
            match ready!(Pin::new(&mut self.socket).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.sent += count,
            }
        }
        self.sending.clear();
        Poll::Ready(Ok(()))
    }

    /// Reads up to the data of a packet.
    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        while self.left == 0 {
            let mut buffer = ReadBuf::new(&mut self.head[self.head_read..]);
            ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer))?;
            let count = buffer.filled().len();
            if count == 0 {
                return Poll::Ready(Ok(false));
            }
            self.head_read += count;
            if self.head_read == HEAD_BYTES {
                self.head_read = 0;
                let [kind, _, high, low, ..] = self.head;
                let length = usize::from(u16::from_be_bytes([high, low]));
                let is_known = matches!(kind, message_type::PRELOGIN | REPLY);
                match length.checked_sub(HEAD_BYTES).filter(|_| is_known) {
                    Some(left) => self.left = left,
                    None => {
                        let message = "the server's TLS handshake is not in TDS packets";
                        return Poll::Ready(Err(io::Error::new(
                            io::ErrorKind::InvalidData,
                            message,
                        )));
                    }
                }
            }
        }
        Poll::Ready(Ok(true))
    }
}

impl AsyncRead for Shell {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.wraps {
            return Pin::new(&mut self.socket).poll_read(cx, buffer);
        }
        // The server waits for the whole of our flight.
        ready!(self.poll_send(cx))?;
        if !ready!(self.poll_head(cx))? {
            return Poll::Ready(Ok(()));
        }
        let wanted = self.left.min(buffer.remaining());
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(wanted));
        ready!(Pin::new(&mut self.socket).poll_read(cx, &mut part))?;
        let count = part.filled().len();
        buffer.advance(count);
        self.left -= count;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Shell {
    #[inline]
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !self.wraps {
            return Pin::new(&mut self.socket).poll_write(cx, data);
        }
        if self.flight.len() + data.len() > FLIGHT_BYTES_MAX {
            return Poll::Ready(Err(io::Error::other("the TLS handshake is too long")));
        }
        self.flight.extend_from_slice(data);
        Poll::Ready(Ok(data.len()))
    }

    #[inline]
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.wraps {
            ready!(self.poll_send(cx))?;
        }
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

//! A socket on the ring of its thread if the thread has one, else on epoll. Which it is depends on
//! where it is connected: the engine decides by running a worker on a ring.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use triphammer_uring::RingSocket;

use crate::polled::Polled;

/// A connected socket.
#[derive(Debug)]
pub enum Ringed {
    /// On a ring.
    Ring(RingSocket),
    /// On epoll.
    Polled(Polled),
}

impl Ringed {
    /// Takes over a connected, non-blocking socket.
    ///
    /// # Errors
    /// As the system reports.
    pub fn new(socket: socket2::Socket) -> io::Result<Self> {
        match RingSocket::new(socket) {
            Ok(socket) => Ok(Self::Ring(socket)),
            Err(socket) => Polled::new(socket).map(Self::Polled),
        }
    }

    /// Number of bytes that can be read, at most one; 0 at the end of the stream. Pending when
    /// nothing was reported.
    pub fn peek(&self) -> Poll<io::Result<usize>> {
        match self {
            Self::Ring(socket) => socket.peek(),
            Self::Polled(socket) => socket.peek(),
        }
    }
}

impl AsyncRead for Ringed {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Ring(socket) => Pin::new(socket).poll_read(cx, buffer),
            Self::Polled(socket) => Pin::new(socket).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Ringed {
    #[inline]
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Ring(socket) => Pin::new(socket).poll_write(cx, data),
            Self::Polled(socket) => Pin::new(socket).poll_write(cx, data),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Ring(socket) => Pin::new(socket).poll_flush(cx),
            Self::Polled(socket) => Pin::new(socket).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Ring(socket) => Pin::new(socket).poll_shutdown(cx),
            Self::Polled(socket) => Pin::new(socket).poll_shutdown(cx),
        }
    }
}

//! A socket of its thread's reactor if the thread is a worker, else of tokio. Which it is depends on
//! where it is connected: the engine decides how a worker thread waits.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use triphammer_reactor::{WorkerSocket, is_here};

use crate::polled::Polled;

/// A connected socket.
#[derive(Debug)]
pub enum WaitedSocket {
    /// Of a worker.
    Worker(WorkerSocket),
    /// Of tokio.
    Polled(Polled),
}

impl WaitedSocket {
    /// Takes over a connected, non-blocking socket.
    ///
    /// # Errors
    /// As the system reports.
    pub fn new(socket: socket2::Socket) -> io::Result<Self> {
        match is_here() {
            true => WorkerSocket::new(socket).map(Self::Worker),
            false => Polled::new(socket).map(Self::Polled),
        }
    }

    /// Number of bytes that can be read, at most one; 0 at the end of the stream. Pending when
    /// nothing was reported.
    pub fn peek(&self) -> Poll<io::Result<usize>> {
        match self {
            Self::Worker(socket) => socket.peek(),
            Self::Polled(socket) => socket.peek(),
        }
    }
}

impl AsyncRead for WaitedSocket {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Worker(socket) => Pin::new(socket).poll_read(cx, buffer),
            Self::Polled(socket) => Pin::new(socket).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for WaitedSocket {
    #[inline]
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Worker(socket) => Pin::new(socket).poll_write(cx, data),
            Self::Polled(socket) => Pin::new(socket).poll_write(cx, data),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Worker(socket) => Pin::new(socket).poll_flush(cx),
            Self::Polled(socket) => Pin::new(socket).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Worker(socket) => Pin::new(socket).poll_shutdown(cx),
            Self::Polled(socket) => Pin::new(socket).poll_shutdown(cx),
        }
    }
}

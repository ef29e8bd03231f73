//! A socket on the ring of its thread.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::driver::{Driver, Place};
use crate::executor;

/// A connected socket. It works only on the thread that created it, and while that thread's
/// [`Worker`](crate::Worker) lives, whose end closes it, as dropping it does. It can be sent to
/// another thread, where it reports an error.
#[derive(Debug)]
pub struct RingSocket {
    /// Number of the ring.
    ring: u64,
    place: Place,
}

impl RingSocket {
    /// Takes over a connected, non-blocking socket, on a thread that [has a ring](crate::is_here).
    ///
    /// # Errors
    /// Returns the socket on a thread without a ring.
    pub fn new(socket: socket2::Socket) -> Result<Self, socket2::Socket> {
        let Some(driver) = executor::here() else { return Err(socket) };
        Ok(Self { ring: driver.number(), place: driver.open(socket) })
    }

    /// Does something with the ring of the socket.
    #[inline]
    fn on_ring<T>(
        &self,
        work: impl FnOnce(&Driver, Place) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        executor::on_ring(self.ring, |driver| work(driver, self.place))
            .unwrap_or_else(|| Poll::Ready(Err(io::ErrorKind::NotConnected.into())))
    }

    /// Number of bytes that can be read, at most one; 0 at the end of the stream. Pending when
    /// nothing has happened.
    pub fn peek(&self) -> Poll<io::Result<usize>> {
        self.on_ring(Driver::peek)
    }
}

impl Drop for RingSocket {
    fn drop(&mut self) {
        executor::on_ring(self.ring, |driver| driver.close(self.place));
    }
}

impl AsyncRead for RingSocket {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.on_ring(|driver, place| driver.poll_read(place, cx, buffer))
    }
}

impl AsyncWrite for RingSocket {
    #[inline]
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.on_ring(|driver, place| driver.poll_write(place, cx, data))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.on_ring(|driver, place| driver.poll_shutdown(place, cx))
    }
}

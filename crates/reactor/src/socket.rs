//! A socket of a worker's thread.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::driver::Driver;
use crate::executor;
use crate::wake::Place;

/// A connected socket. It works only on the thread that created it, and while that thread's
/// [`Worker`](crate::Worker) lives, whose end closes it, as dropping it does. It can be sent to
/// another thread, where it reports an error.
#[derive(Debug)]
pub struct WorkerSocket {
    /// Number of the driver.
    driver: u64,
    place: Place,
}

impl WorkerSocket {
    /// Takes over a connected, non-blocking socket, on a thread that [is a worker](crate::is_here).
    ///
    /// # Errors
    /// `NotConnected` on another thread; as the system reports.
    pub fn new(socket: socket2::Socket) -> io::Result<Self> {
        let driver = executor::here().ok_or(io::ErrorKind::NotConnected)?;
        Ok(Self { driver: driver.number(), place: driver.open(socket)? })
    }

    /// Does something with the driver of the socket.
    #[inline]
    fn on_driver<T>(
        &self,
        work: impl FnOnce(&Driver, Place) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        executor::on_driver(self.driver, |driver| work(driver, self.place))
            .unwrap_or_else(|| Poll::Ready(Err(io::ErrorKind::NotConnected.into())))
    }

    /// Number of bytes that can be read, at most one; 0 at the end of the stream. Pending when
    /// nothing has happened.
    pub fn peek(&self) -> Poll<io::Result<usize>> {
        self.on_driver(Driver::peek)
    }
}

impl Drop for WorkerSocket {
    fn drop(&mut self) {
        executor::on_driver(self.driver, |driver| driver.close(self.place));
    }
}

impl AsyncRead for WorkerSocket {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.on_driver(|driver, place| driver.poll_read(place, cx, buffer))
    }
}

impl AsyncWrite for WorkerSocket {
    #[inline]
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.on_driver(|driver, place| driver.poll_write(place, cx, data))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.on_driver(|driver, place| driver.poll_shutdown(place, cx))
    }
}

//! A socket that drops a client which accepts no data: otherwise a client that opens an event
//! stream and never reads would keep its connection and buffers forever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// A stream whose writes have a time limit.
#[derive(Debug)]
pub struct Stall<S> {
    stream: S,
    limit: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> Stall<S> {
    /// Wraps a stream that fails when the client accepts no data for `limit`.
    pub const fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, waiting: None }
    }

    /// Returns the result of a write, or an error if it has waited too long.
    fn limited<T>(
        &mut self,
        context: &mut Context<'_>,
        came_to: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if came_to.is_ready() {
            self.waiting = None;
            return came_to;
        }
        let limit = self.limit;
        let waiting = self.waiting.get_or_insert_with(|| {
            let clock = tokio::time::sleep(limit);
            Box::pin(clock)
        });
        match Future::poll(waiting.as_mut(), context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stall<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stall<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let came_to = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.limited(context, came_to)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let came_to = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.limited(context, came_to)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let came_to = Pin::new(&mut self.stream).poll_flush(context);
        self.limited(context, came_to)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let came_to = Pin::new(&mut self.stream).poll_shutdown(context);
        self.limited(context, came_to)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_is_given_up() {
        let (ours, _theirs) = tokio::io::duplex(10);
        let mut stream = Stall::new(ours, Duration::from_secs(30));
        let begun = Instant::now();
        let error = stream.write_all(&[0; 11]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed(), Duration::from_secs(30));
    }
}

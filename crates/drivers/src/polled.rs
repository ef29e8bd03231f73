//! A socket that polls the system only for reading unless it must wait to write. Polled for
//! writability as well, it would wake its user for nothing: a unix socket each time that the other
//! end has consumed what was sent, and TCP when the rest of an answer arrives that was already read
//! (a quarter of the wake-ups of a CALL on MariaDB). There is almost always room to write.

use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};

/// A connected, non-blocking socket, registered with the runtime.
#[derive(Debug)]
pub struct Polled {
    /// `None` only if registering with the runtime again has failed.
    registered: Option<AsyncFd<socket2::Socket>>,
    /// Whether the system is polled for writability too, from the first time that there was no
    /// room.
    waits_for_room: bool,
}

impl Polled {
    /// Takes over a connected, non-blocking socket.
    ///
    /// # Errors
    /// As the system reports.
    pub fn new(socket: socket2::Socket) -> io::Result<Self> {
        let registered = register(socket, Interest::READABLE)?;
        Ok(Self { registered: Some(registered), waits_for_room: false })
    }

    fn registered(&self) -> io::Result<&AsyncFd<socket2::Socket>> {
        self.registered.as_ref().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Number of bytes that can be read, at most one; 0 at the end of the stream. The system is
    /// queried only after the runtime has reported something.
    pub fn peek(&self) -> Poll<io::Result<usize>> {
        let registered = self.registered()?;
        drop(ready!(registered.poll_read_ready(&mut Context::from_waker(Waker::noop())))?);
        Poll::Ready(registered.get_ref().peek(&mut [MaybeUninit::uninit()]))
    }

    /// Makes the runtime report writability too. Readers must poll again after writing, as all do
    /// here.
    #[cold]
    fn wait_for_room(&mut self) -> io::Result<()> {
        if let Some(registered) = self.registered.take() {
            let both = Interest::READABLE | Interest::WRITABLE;
            self.registered = Some(register(registered.into_inner(), both)?);
        }
        self.waits_for_room = true;
        Ok(())
    }
}

impl AsyncRead for Polled {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let registered = self.registered()?;
        loop {
            let mut guard = ready!(registered.poll_read_ready(cx))?;
            let room = buffer.initialize_unfilled();
            let size = room.len();
            match guard.try_io(|fd| fd.get_ref().read(room)) {
                Ok(Ok(read)) => {
                    // A read that returns less than requested has emptied the socket.
                    if 0 < read && read < size {
                        guard.clear_ready();
                    }
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Ok(Err(error)) => return Poll::Ready(Err(error)),
                Err(_nothing_there) => {}
            }
        }
    }
}

impl AsyncWrite for Polled {
    #[inline]
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        if !self.waits_for_room {
            match self.registered()?.get_ref().write(data) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait_for_room()?,
                result => return Poll::Ready(result),
            }
        }
        let registered = self.registered()?;
        loop {
            let mut guard = ready!(registered.poll_write_ready(cx))?;
            if let Ok(result) = guard.try_io(|fd| fd.get_ref().write(data)) {
                return Poll::Ready(result);
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Shuts down the writing half.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.registered()?.get_ref().shutdown(Shutdown::Write))
    }
}

#[expect(
    deprecated,
    reason = "a socket keeps its descriptor for its whole life, which the unsafe successor \
              requires as a promise"
)]
fn register(socket: socket2::Socket, interest: Interest) -> io::Result<AsyncFd<socket2::Socket>> {
    AsyncFd::with_interest(socket, interest)
}

//! A unix socket, of which the system is asked only when there is something to read. A unix socket also
//! tells each time that the other end has taken what was sent: a wake-up for nothing in every round trip.

use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::task::{Context, Poll, ready};

use socket2::SockRef;
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, ReadBuf};

/// A connected unix socket.
#[derive(Debug)]
pub struct UnixSocket {
    /// `None` only where asking the system anew has failed.
    registered: Option<AsyncFd<UnixStream>>,
    /// The system is asked about writing too, from the first time that there was no room.
    waits_for_room: bool,
}

impl UnixSocket {
    /// Connects to the socket with this file.
    ///
    /// # Errors
    /// As the system reports.
    pub async fn connect(file: &Path) -> io::Result<Self> {
        let stream = tokio::net::UnixStream::connect(file).await?.into_std()?;
        let registered = register(stream, Interest::READABLE)?;
        Ok(Self { registered: Some(registered), waits_for_room: false })
    }

    fn registered(&self) -> io::Result<&AsyncFd<UnixStream>> {
        self.registered.as_ref().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// As [`tokio::io::AsyncRead::poll_read`].
    pub fn poll_read(
        &self,
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
                    // Less than there was room for is all there was.
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

    /// Looks at the first bytes that wait to be read.
    pub fn peek(
        &self,
        cx: &mut Context<'_>,
        bytes: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        let registered = self.registered()?;
        drop(ready!(registered.poll_read_ready(cx))?);
        Poll::Ready(SockRef::from(registered.get_ref()).peek(bytes))
    }

    /// As [`tokio::io::AsyncWrite::poll_write`].
    pub fn poll_write(&mut self, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
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

    /// Has the system tell of room too. Whoever reads asks again after writing, as all do here.
    #[cold]
    fn wait_for_room(&mut self) -> io::Result<()> {
        if let Some(registered) = self.registered.take() {
            let both = Interest::READABLE | Interest::WRITABLE;
            self.registered = Some(register(registered.into_inner(), both)?);
        }
        self.waits_for_room = true;
        Ok(())
    }

    /// Ends the half that writes.
    pub fn shutdown(&self) -> io::Result<()> {
        self.registered()?.get_ref().shutdown(std::net::Shutdown::Write)
    }
}

#[expect(
    deprecated,
    reason = "a stream of the standard library keeps its descriptor as long as it lives, which is what \
              the unsafe successor wants to be promised"
)]
fn register(stream: UnixStream, interest: Interest) -> io::Result<AsyncFd<UnixStream>> {
    AsyncFd::with_interest(stream, interest)
}

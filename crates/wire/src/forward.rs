//! One connection: both directions, and the copies of what passes. Bytes are sent on before they are copied, and nothing
//! of the connection runs between the two, so that a copy of a request always comes before that of its answer.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use triphammer_core::{Clock, Elapsed};

use crate::queue::{Kind, Piece, Queue};

/// Bytes that are forwarded at once.
const CHUNK_BYTES: usize = 16 * 1024;

/// Where the copies of a connection go.
#[derive(Clone, Copy)]
pub struct Tap<'a> {
    /// The queue.
    pub queue: &'a Queue,
    /// The clock of the proxy.
    pub clock: &'a Clock,
    /// Number of the connection.
    pub connection: u64,
}

impl Tap<'_> {
    /// Copies what passed at a time.
    pub fn copy(&self, kind: Kind, at: Elapsed, bytes: &[u8]) {
        self.queue.push(Piece { connection: self.connection, at, kind, bytes });
    }

    /// Copies what passes now.
    pub fn copy_now(&self, kind: Kind, bytes: &[u8]) {
        self.copy(kind, self.clock.now(), bytes);
    }
}

/// One direction of a connection.
struct Direction {
    kind: Kind,
    buffer: Box<[u8]>,
    /// What has been read, and how much of it was sent on.
    filled: usize,
    sent: usize,
    /// When it was read.
    at: Elapsed,
    is_uncopied: bool,
    is_unflushed: bool,
    /// Whether the sender has ended, and whether the receiver has been told.
    is_over: bool,
    is_shut: bool,
}

impl Direction {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            buffer: vec![0; CHUNK_BYTES].into(),
            filled: 0,
            sent: 0,
            at: Elapsed::default(),
            is_uncopied: false,
            is_unflushed: false,
            is_over: false,
            is_shut: false,
        }
    }

    /// Forwards what there is; ready when the sender has ended.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        tap: Tap<'_>,
        mut from: Pin<&mut (impl AsyncRead + ?Sized)>,
        mut to: Pin<&mut (impl AsyncWrite + ?Sized)>,
    ) -> Poll<io::Result<()>> {
        while !self.is_shut {
            if self.sent == self.filled {
                if self.is_over {
                    ready!(to.as_mut().poll_shutdown(cx))?;
                    self.is_shut = true;
                    break;
                }
                let mut room = ReadBuf::new(&mut self.buffer);
                let read = from.as_mut().poll_read(cx, &mut room);
                if read.is_pending() && self.is_unflushed {
                    ready!(to.as_mut().poll_flush(cx))?;
                    self.is_unflushed = false;
                }
                ready!(read)?;
                (self.filled, self.sent) = (room.filled().len(), 0);
                self.is_over = self.filled == 0;
                self.at = tap.clock.now();
                self.is_uncopied = !self.is_over;
                continue;
            }
            let written = to.as_mut().poll_write(cx, &self.buffer[self.sent..self.filled]);
            if std::mem::take(&mut self.is_uncopied) {
                tap.copy(self.kind, self.at, &self.buffer[..self.filled]);
            }
            let count = ready!(written)?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += count;
            self.is_unflushed = true;
        }
        Poll::Ready(Ok(()))
    }
}

/// Forwards a connection until the server has ended it, or a side is lost.
pub struct Forwarding<'a, C, S> {
    tap: Tap<'a>,
    client: C,
    server: S,
    up: Direction,
    down: Direction,
}

impl<'a, C, S> Forwarding<'a, C, S> {
    /// Between a client and a server.
    pub fn new(tap: Tap<'a>, client: C, server: S) -> Self {
        let (up, down) = (Direction::new(Kind::FromClient), Direction::new(Kind::FromServer));
        Self { tap, client, server, up, down }
    }
}

impl<C, S> Future for Forwarding<'_, C, S>
where
    C: AsyncRead + AsyncWrite + Unpin,
    S: AsyncRead + AsyncWrite + Unpin,
{
    type Output = io::Result<()>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { tap, client, server, up, down } = self.get_mut();
        // A client that has ended still gets what the server has for it.
        let _ = up.poll(cx, *tap, Pin::new(&mut *client), Pin::new(&mut *server))?;
        down.poll(cx, *tap, Pin::new(server), Pin::new(client))
    }
}

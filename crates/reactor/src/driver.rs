//! The sockets of a thread, on a ring or on epoll: an enum, so that a call takes no indirection.

use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use socket2::Socket;
use tokio::io::ReadBuf;

use crate::Io;
use crate::epoll::Epoll;
use crate::ring::Ring;
use crate::wake::{Alarm, Place};

/// Number of the next driver of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// What belongs to one thread.
pub struct Driver {
    number: u64,
    way: Way,
    /// When the thread wants to be woken.
    alarm: RefCell<Option<Alarm>>,
}

#[expect(clippy::large_enum_variant, reason = "each thread has one")]
enum Way {
    Ring(Ring),
    Epoll(Epoll),
}

/// Calls the same method of either way.
macro_rules! either {
    ($self:ident, $way:ident => $call:expr) => {
        match &$self.way {
            Way::Ring($way) => $call,
            Way::Epoll($way) => $call,
        }
    };
}

impl Driver {
    /// Creates the driver of this thread; `wake_fd` wakes it, an eventfd.
    pub fn new(io: Io, wake_fd: Arc<OwnedFd>) -> io::Result<Self> {
        let way = match io {
            Io::Ring => Way::Ring(Ring::new(wake_fd)?),
            Io::Epoll => Way::Epoll(Epoll::new(&wake_fd)?),
        };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Self { number, way, alarm: RefCell::new(None) })
    }

    /// Number of the driver in this process.
    #[inline]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Takes over a connected, non-blocking socket.
    ///
    /// # Errors
    /// When the system allows no more of them.
    pub fn open(&self, socket: Socket) -> io::Result<Place> {
        either!(self, way => way.open(socket))
    }

    /// Gives a socket back, which closes it.
    pub fn close(&self, place: Place) {
        either!(self, way => way.close(place));
    }

    /// Packets that the TCP connections sent and received so far; `None` without one, and with too
    /// many of them.
    pub fn packets(&self) -> Option<[u64; 2]> {
        either!(self, way => way.packets())
    }

    /// Reads what has arrived.
    #[inline]
    pub fn poll_read(
        &self,
        place: Place,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(self, way => way.poll_read(place, cx, buffer))
    }

    /// Number of bytes that can be read, at most one; 0 at the end of the stream.
    pub fn peek(&self, place: Place) -> Poll<io::Result<usize>> {
        either!(self, way => way.peek(place))
    }

    /// Sends, now or at the end of the turn.
    #[inline]
    pub fn poll_write(
        &self,
        place: Place,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        either!(self, way => way.poll_write(place, cx, data))
    }

    /// Shuts down the writing half after everything is sent.
    pub fn poll_shutdown(&self, place: Place, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &self.way {
            Way::Ring(ring) => ring.poll_shutdown(place, cx),
            Way::Epoll(epoll) => epoll.shutdown(place),
        }
    }

    /// Wakes at this time, instead of any other.
    pub fn set_alarm(&self, alarm: Alarm) {
        let old = self.alarm.replace(Some(alarm));
        drop(old);
    }

    /// Submits what is to be sent, asks what has arrived, and waits for something if asked to.
    #[inline]
    pub fn ask(&self, wait: bool) {
        let until = self.alarm.borrow().as_ref().filter(|_| wait).map(|alarm| alarm.at_ns);
        either!(self, way => way.ask(wait, until));
    }

    /// Wakes whom it concerns what has happened.
    #[inline]
    pub fn deliver(&self) {
        either!(self, way => way.deliver());
        let due = self.alarm.borrow_mut().take_if(|alarm| alarm.is_due());
        if let Some(alarm) = due {
            alarm.waker.wake();
        }
    }
}

//! Sockets of a thread on Linux's io_uring: what is received and not read yet, what could not be
//! sent at once, who waits for it, and what each completion changes. Receiving and sending of all
//! sessions take one system call per turn, instead of one for each and one for waiting.
//!
//! Memory that the kernel reads or writes belongs to the ring, never to a session: one arena for
//! what is sent, one set of buffers for what is received. So a session may be dropped at any time;
//! its socket stays open until the kernel has let go of it.

mod queue;

use std::cell::RefCell;
use std::io;
use std::net::Shutdown;
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use socket2::Socket;
use tokio::io::ReadBuf;

use self::queue::{Completion, Queue};
use crate::packets::{PacketCounter, SOCKETS_MAX, SegmentsSeen};
use crate::wake::{Place, monotonic_ns, register};

/// Longest data in bytes that is copied to be sent with that of the others; longer data is sent by
/// a call of its own, without a copy.
const TOGETHER_BYTES_MAX: usize = 16 * 1024;
/// Bytes that a socket receives ahead of its reader before it stops receiving.
const AHEAD_BYTES_MAX: usize = 256 * 1024;
/// Memory in bytes that an empty socket keeps.
const KEPT_BYTES_MAX: usize = 64 * 1024;
/// Longest wait for operations to end when a thread ends, in turns of [`LAST_TURN`].
const LAST_TURNS: usize = 100;
const LAST_TURN: Duration = Duration::from_millis(10);

/// Operations, as the upper half of a token; the lower half is the socket's place.
const RECEIVE: u64 = 1 << 32;
const SEND: u64 = 2 << 32;
const ROOM: u64 = 3 << 32;
const CANCEL: u64 = 4 << 32;
const WAKE: u64 = 5 << 32;
const KIND: u64 = !0 << 32;

/// Whether the kernel allows rings such as a worker's.
///
/// # Errors
/// When it has no io_uring, is older than Linux 6.1, or forbids it.
pub fn probe() -> io::Result<()> {
    Queue::new().map(drop)
}

/// What belongs to one thread.
pub struct Ring {
    inner: RefCell<Inner>,
}

struct Inner {
    queue: Queue,
    slots: Vec<Option<Slot>>,
    free: Vec<Place>,
    /// Places whose owner has gone; looked at after each turn.
    left: Vec<Place>,
    /// Number of submissions so far.
    turn: u64,
    /// What other threads wake this one with, and whether they have.
    wake_fd: Arc<OwnedFd>,
    woken: bool,
    packets: PacketCounter,
}

struct Slot {
    socket: Socket,
    received: Vec<u8>,
    read: usize,
    /// Whether the kernel receives, and whether it was asked to stop.
    receiving: bool,
    stopping: bool,
    /// How receiving has ended: 0 at the end of the stream, or an error number.
    end: Option<i32>,
    /// What was given to the kernel last, in which turn.
    sending: (u64, Range<usize>),
    /// What there was no room for; nothing else is sent before it.
    unsent: Vec<u8>,
    awaiting_room: bool,
    /// Why nothing can be sent any more, as an error number.
    broken: Option<i32>,
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// Whether its owner has gone.
    left: bool,
    segments: SegmentsSeen,
}

impl Ring {
    /// Creates the ring of this thread; `wake_fd` wakes it, an eventfd.
    pub fn new(wake_fd: Arc<OwnedFd>) -> io::Result<Self> {
        let mut queue = Queue::new()?;
        queue.watch(wake_fd.as_raw_fd(), WAKE);
        let inner = RefCell::new(Inner {
            queue,
            slots: Vec::new(),
            free: Vec::new(),
            left: Vec::new(),
            turn: 1,
            wake_fd,
            woken: false,
            packets: PacketCounter::default(),
        });
        Ok(Self { inner })
    }

    /// Takes over a connected, non-blocking socket, and begins to receive.
    #[expect(clippy::unnecessary_wraps, reason = "as the other way's")]
    pub fn open(&self, socket: Socket) -> io::Result<Place> {
        let mut inner = self.inner.borrow_mut();
        let place = inner.free.pop().unwrap_or_else(|| {
            inner.slots.push(None);
            Place::try_from(inner.slots.len() - 1).expect("fewer than the files of a process")
        });
        let mut slot = Slot::new(socket);
        slot.receive(&mut inner.queue, place);
        inner.slots[place as usize] = Some(slot);
        Ok(place)
    }

    /// Gives a socket back. It is closed when the kernel has let go of it.
    pub fn close(&self, place: Place) {
        self.inner.borrow_mut().close(place);
    }

    /// Packets of the connections so far; `None` if they are not counted.
    pub fn packets(&self) -> Option<[u64; 2]> {
        let mut inner = self.inner.borrow_mut();
        let Inner { slots, free, packets, .. } = &mut *inner;
        if slots.len() - free.len() > SOCKETS_MAX {
            return None;
        }
        for slot in slots.iter_mut().flatten() {
            packets.read(&slot.socket, &mut slot.segments);
        }
        packets.total()
    }

    /// Reads what has arrived.
    #[inline]
    pub fn poll_read(
        &self,
        place: Place,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut inner = self.inner.borrow_mut();
        let (slot, queue) = inner.slot(place);
        let ahead = &slot.received[slot.read..];
        if !ahead.is_empty() {
            let fits = ahead.len().min(buffer.remaining());
            buffer.put_slice(&ahead[..fits]);
            slot.read += fits;
            slot.forget_read();
            return Poll::Ready(Ok(()));
        }
        if let Some(end) = slot.end {
            return Poll::Ready(match (slot.broken, end) {
                (Some(code), _) => Err(io::Error::from_raw_os_error(code)),
                (None, 0) => Ok(()),
                (None, code) => Err(io::Error::from_raw_os_error(code)),
            });
        }
        if !slot.receiving {
            slot.receive(queue, place);
        }
        let old = register(&mut slot.reader, cx);
        drop(inner);
        drop(old);
        Poll::Pending
    }

    /// Number of bytes that can be read, at most one; 0 at the end of the stream.
    pub fn peek(&self, place: Place) -> Poll<io::Result<usize>> {
        let mut inner = self.inner.borrow_mut();
        let (slot, queue) = inner.slot(place);
        match slot.end {
            _ if slot.read < slot.received.len() => Poll::Ready(Ok(1)),
            Some(0) => Poll::Ready(Ok(0)),
            Some(code) => Poll::Ready(Err(io::Error::from_raw_os_error(code))),
            None => {
                // Without it, the end of an idle stream would not be seen.
                if !slot.receiving {
                    slot.receive(queue, place);
                }
                Poll::Pending
            }
        }
    }

    /// Sends at the end of the turn, or at once if it is long.
    #[inline]
    pub fn poll_write(
        &self,
        place: Place,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut inner = self.inner.borrow_mut();
        let is_short = data.len() <= TOGETHER_BYTES_MAX;
        let turn = inner.turn;
        let (slot, queue) = inner.slot(place);
        // One send of a socket per turn: should the first find no room, the second must not
        // overtake it.
        if slot.sending.0 == turn || (is_short && !queue.has_room(data.len())) {
            inner.flush();
        }
        let turn = inner.turn;
        let (slot, queue) = inner.slot(place);
        if let Some(code) = slot.broken {
            return Poll::Ready(Err(io::Error::from_raw_os_error(code)));
        }
        if slot.unsent.is_empty() {
            if is_short {
                let place_of_data = queue.send(slot.fd(), SEND | u64::from(place), data);
                slot.sending = (turn, place_of_data);
                return Poll::Ready(Ok(data.len()));
            }
            match slot.socket.send(data) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result),
            }
        }
        slot.await_room(queue, place);
        let old = register(&mut slot.writer, cx);
        drop(inner);
        drop(old);
        Poll::Pending
    }

    /// Shuts down the writing half after everything is sent.
    pub fn poll_shutdown(&self, place: Place, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut inner = self.inner.borrow_mut();
        inner.flush();
        let (slot, _) = inner.slot(place);
        if slot.unsent.is_empty() || slot.broken.is_some() {
            return Poll::Ready(slot.socket.shutdown(Shutdown::Write));
        }
        let old = register(&mut slot.writer, cx);
        drop(inner);
        drop(old);
        Poll::Pending
    }

    /// Submits, and waits for something to happen if asked to: at most until a time, in nanoseconds of
    /// the monotonic clock.
    #[inline]
    pub fn ask(&self, wait: bool, until: Option<u64>) {
        let limit = until.map(|at| Duration::from_nanos(at.saturating_sub(monotonic_ns())));
        self.inner.borrow_mut().submit(wait, limit);
    }

    /// Wakes whom it concerns what has happened.
    #[inline]
    pub fn deliver(&self) {
        let mut inner = self.inner.borrow_mut();
        inner.deliver();
        if std::mem::take(&mut inner.woken) {
            let _ = rustix::io::read(&*inner.wake_fd, &mut [0; 8]);
        }
    }
}

impl Inner {
    #[inline]
    fn slot(&mut self, place: Place) -> (&mut Slot, &mut Queue) {
        let slot = self.slots[place as usize].as_mut().expect("a place is given back once");
        (slot, &mut self.queue)
    }

    fn close(&mut self, place: Place) {
        let (slot, queue) = self.slot(place);
        if slot.receiving && !slot.stopping {
            queue.cancel(RECEIVE | u64::from(place), CANCEL);
        }
        if slot.awaiting_room {
            queue.cancel(ROOM | u64::from(place), CANCEL);
        }
        slot.stopping = true;
        slot.left = true;
        slot.unsent = Vec::new();
        self.left.push(place);
    }

    /// Closes all sockets that are left.
    fn leave(&mut self) {
        let open = |slot: &Option<Slot>| slot.as_ref().is_some_and(|slot| !slot.left);
        for place in 0..self.slots.len() {
            if open(&self.slots[place]) {
                self.close(Place::try_from(place).expect("places are counted in 32 bits"));
            }
        }
    }

    fn submit(&mut self, wait: bool, limit: Option<Duration>) {
        self.queue.submit(wait, limit);
        self.turn += 1;
    }

    fn deliver(&mut self) {
        loop {
            while let Some(done) = self.queue.next_done() {
                self.apply(&done);
            }
            // A send that failed has to be seen before the arena is written to again.
            if !self.queue.flush_overflow() {
                break;
            }
        }
        if !self.left.is_empty() {
            self.release();
        }
    }

    /// Submits in the middle of a turn.
    fn flush(&mut self) {
        self.submit(false, None);
        self.deliver();
    }

    /// Wakers are woken here by reference, which runs and drops nothing.
    fn apply(&mut self, done: &Completion) {
        if done.token & KIND == WAKE {
            self.woken = true;
            if !done.more {
                self.queue.watch(self.wake_fd.as_raw_fd(), WAKE);
            }
            return;
        }
        let place = Place::try_from(done.token & !KIND).expect("the lower half");
        let Some(slot) = self.slots.get_mut(place as usize).and_then(Option::as_mut) else {
            return;
        };
        match done.token & KIND {
            RECEIVE => slot.received(done, &mut self.queue, place),
            SEND => slot.not_sent(done.result, &mut self.queue, place),
            ROOM => slot.has_room(&mut self.queue, place),
            _ => {}
        }
    }

    /// Closes the sockets that neither this process nor the kernel uses any more.
    fn release(&mut self) {
        let Self { slots, free, turn, packets, left, .. } = self;
        let turn = *turn;
        left.retain(|&place| {
            let slot = slots[place as usize].as_ref().expect("left places are full");
            let is_busy = slot.receiving || slot.awaiting_room || slot.sending.0 == turn;
            if !is_busy {
                if let Some(mut slot) = slots[place as usize].take() {
                    packets.read(&slot.socket, &mut slot.segments);
                }
                free.push(place);
            }
            is_busy
        });
    }
}

impl Slot {
    fn new(socket: Socket) -> Self {
        Self {
            socket,
            received: Vec::new(),
            read: 0,
            receiving: false,
            stopping: false,
            end: None,
            sending: (0, 0..0),
            unsent: Vec::new(),
            awaiting_room: false,
            broken: None,
            reader: None,
            writer: None,
            left: false,
            segments: SegmentsSeen::default(),
        }
    }

    fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn receive(&mut self, queue: &mut Queue, place: Place) {
        self.receiving = true;
        queue.receive(self.fd(), RECEIVE | u64::from(place));
    }

    fn await_room(&mut self, queue: &mut Queue, place: Place) {
        if !std::mem::replace(&mut self.awaiting_room, true) {
            queue.await_room(self.fd(), ROOM | u64::from(place));
        }
    }

    fn forget_read(&mut self) {
        if self.read == self.received.len() {
            self.read = 0;
            self.received.clear();
            if self.received.capacity() > KEPT_BYTES_MAX {
                self.received = Vec::new();
            }
        }
    }

    fn received(&mut self, done: &Completion, queue: &mut Queue, place: Place) {
        queue.take(done, &mut self.received);
        if !done.more {
            self.receiving = false;
            self.stopping = false;
        }
        match done.result {
            1.. => {
                let ahead = self.received.len() - self.read;
                if self.receiving && !self.stopping && ahead > AHEAD_BYTES_MAX {
                    self.stopping = true;
                    queue.cancel(RECEIVE | u64::from(place), CANCEL);
                }
            }
            0 => self.end = Some(0),
            // The reader begins again.
            code if code == -libc::ENOBUFS || code == -libc::ECANCELED => {}
            code => self.end = Some(-code),
        }
        if let Some(reader) = &self.reader {
            reader.wake_by_ref();
        }
    }

    /// Nothing more or only a part of the last send fitted, or the connection is broken.
    #[cold]
    fn not_sent(&mut self, result: i32, queue: &mut Queue, place: Place) {
        let sent = match usize::try_from(result) {
            Ok(sent) => sent,
            Err(_) if result == -libc::EINTR || has_no_room(-result) => 0,
            Err(_) => return self.breaks(-result),
        };
        if self.left {
            return;
        }
        let Range { start, end } = self.sending.1.clone();
        self.unsent = queue.unsent((start + sent).min(end)..end).to_vec();
        self.await_room(queue, place);
    }

    #[cold]
    fn has_room(&mut self, queue: &mut Queue, place: Place) {
        self.awaiting_room = false;
        while !self.unsent.is_empty() {
            match self.socket.send(&self.unsent) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(error) if error.raw_os_error().is_some_and(has_no_room) => {
                    return self.await_room(queue, place);
                }
                Err(error) => return self.breaks(error.raw_os_error().unwrap_or(libc::EIO)),
            }
        }
        self.wake_writer();
    }

    fn breaks(&mut self, code: i32) {
        self.broken = Some(code);
        self.unsent = Vec::new();
        self.wake_writer();
        if let Some(reader) = &self.reader {
            reader.wake_by_ref();
        }
    }

    fn wake_writer(&mut self) {
        if let Some(writer) = &self.writer {
            writer.wake_by_ref();
        }
    }
}

/// Whether a send that failed with this error number can succeed later: the socket is full, or the
/// kernel lacks memory for a moment.
const fn has_no_room(code: i32) -> bool {
    matches!(code, libc::EAGAIN | libc::ENOBUFS | libc::ENOMEM)
}

impl Drop for Ring {
    /// Waits until the kernel has let go of the sockets, so that they are closed when this returns.
    fn drop(&mut self) {
        let inner = self.inner.get_mut();
        inner.leave();
        for _ in 0..LAST_TURNS {
            inner.flush();
            if inner.left.is_empty() {
                return;
            }
            inner.submit(true, Some(LAST_TURN));
        }
    }
}

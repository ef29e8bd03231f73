//! Sockets of a thread on epoll: a socket is read when the system has reported that something has
//! arrived, and written at once. One call waits for all of them, and a socket that is read and
//! answered between two of these calls takes two more: what a hand-made loop would take. Tokio's own
//! sources take as many, but several times as many instructions (bench/instructions.py).
//!
//! Sockets are watched edge-triggered: the system reports each arrival once, so that a session that
//! is not waiting for an answer does not keep the thread busy.

use std::cell::RefCell;
use std::io;
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::task::{Context, Poll, Waker};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use socket2::Socket;
use tokio::io::ReadBuf;

use crate::packets::{PacketCounter, SOCKETS_MAX, SegmentsSeen};
use crate::wake::{Place, register};

/// Events that one call reports at most; the next call reports the others.
const EVENTS_MAX: usize = 256;
/// Reported for the file with which other threads wake this one.
const WAKE: u64 = u64::MAX;
/// Reported for the timer.
const TIMER: u64 = u64::MAX - 1;

/// What belongs to one thread.
pub struct Epoll {
    inner: RefCell<Inner>,
}

struct Inner {
    poll: OwnedFd,
    timer: OwnedFd,
    events: Vec<Event>,
    slots: Vec<Slot>,
    free: Vec<Place>,
    /// Time for which the timer is set, in nanoseconds of the monotonic clock.
    armed: Option<u64>,
    packets: PacketCounter,
}

/// A place for a socket.
#[derive(Default)]
struct Slot {
    /// `None` while the place is free.
    socket: Option<Socket>,
    /// Number of sockets that had the place before: an event of one of them means nothing.
    generation: u32,
    /// Whether something may have arrived that was not read yet.
    is_readable: bool,
    /// Whether the stream has ended or is broken, which is reported once.
    is_over: bool,
    /// Whether the system reports room to write, too.
    reports_room: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
    segments: SegmentsSeen,
}

impl Epoll {
    /// Creates the epoll of this thread; `wake_fd` wakes it, an eventfd.
    pub fn new(wake_fd: &OwnedFd) -> io::Result<Self> {
        let poll = epoll::create(CreateFlags::CLOEXEC)?;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // Edge-triggered: neither needs to be read for the next report.
        let arrivals = EventFlags::IN | EventFlags::ET;
        epoll::add(&poll, wake_fd, EventData::new_u64(WAKE), arrivals)?;
        epoll::add(&poll, &timer, EventData::new_u64(TIMER), arrivals)?;
        let inner = RefCell::new(Inner {
            poll,
            timer,
            events: Vec::with_capacity(EVENTS_MAX),
            slots: Vec::new(),
            free: Vec::new(),
            armed: None,
            packets: PacketCounter::default(),
        });
        Ok(Self { inner })
    }

    /// Takes over a connected, non-blocking socket.
    ///
    /// # Errors
    /// When the system has no memory for another, or allows no more.
    pub fn open(&self, socket: Socket) -> io::Result<Place> {
        let mut inner = self.inner.borrow_mut();
        let Inner { poll, slots, free, .. } = &mut *inner;
        let place = free.pop().unwrap_or_else(|| {
            slots.push(Slot::default());
            Place::try_from(slots.len() - 1).expect("fewer than the files of a process")
        });
        let slot = &mut slots[place as usize];
        if let Err(error) = epoll::add(poll, &socket, slot.data(place), slot.interest()) {
            free.push(place);
            return Err(error.into());
        }
        slot.socket = Some(socket);
        // What arrived before is reported, too.
        slot.is_readable = true;
        Ok(place)
    }

    /// Closes a socket.
    pub fn close(&self, place: Place) {
        let mut inner = self.inner.borrow_mut();
        let Inner { poll, slots, free, packets, .. } = &mut *inner;
        let slot = &mut slots[place as usize];
        if let Some(socket) = slot.socket.take() {
            packets.read(&socket, &mut slot.segments);
            // A duplicate of the file would keep it watched.
            let _ = epoll::delete(poll, &socket);
        }
        let left =
            std::mem::replace(slot, Slot { generation: slot.generation + 1, ..Slot::default() });
        free.push(place);
        drop(inner);
        drop(left);
    }

    /// Packets of the connections so far; `None` if they are not counted.
    pub fn packets(&self) -> Option<[u64; 2]> {
        let mut inner = self.inner.borrow_mut();
        let Inner { slots, free, packets, .. } = &mut *inner;
        if slots.len() - free.len() > SOCKETS_MAX {
            return None;
        }
        for slot in slots {
            if let Some(socket) = &slot.socket {
                packets.read(socket, &mut slot.segments);
            }
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
        let slot = &mut inner.slots[place as usize];
        if slot.is_readable {
            let room = buffer.initialize_unfilled();
            let size = room.len();
            match rustix::io::read(slot.socket()?, room) {
                Ok(read) => {
                    // A read that returns less than requested has emptied the socket.
                    slot.is_readable = read == size || slot.is_over;
                    buffer.advance(read);
                    return Poll::Ready(Ok(()));
                }
                Err(Errno::AGAIN) => slot.is_readable = false,
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
        let old = register(&mut slot.reader, cx);
        drop(inner);
        drop(old);
        Poll::Pending
    }

    /// Number of bytes that can be read, at most one; 0 at the end of the stream. The system is
    /// asked only after it has reported something.
    pub fn peek(&self, place: Place) -> Poll<io::Result<usize>> {
        let mut inner = self.inner.borrow_mut();
        let slot = &mut inner.slots[place as usize];
        if !slot.is_readable {
            return Poll::Pending;
        }
        match slot.socket()?.peek(&mut [MaybeUninit::uninit()]) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                slot.is_readable = false;
                Poll::Pending
            }
            result => Poll::Ready(result),
        }
    }

    /// Writes, or waits for room.
    #[inline]
    pub fn poll_write(
        &self,
        place: Place,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut inner = self.inner.borrow_mut();
        let Inner { poll, slots, .. } = &mut *inner;
        let slot = &mut slots[place as usize];
        match send(slot.socket()?, data, SendFlags::NOSIGNAL) {
            Err(Errno::AGAIN) => {}
            result => return Poll::Ready(result.map_err(io::Error::from)),
        }
        let old = register(&mut slot.writer, cx);
        // After the waker: a change of what is reported reports room that is there already.
        let reported = slot.report_room(poll, place);
        drop(inner);
        drop(old);
        reported.map_or_else(|error| Poll::Ready(Err(error)), |()| Poll::Pending)
    }

    /// Shuts down the writing half.
    pub fn shutdown(&self, place: Place) -> Poll<io::Result<()>> {
        let inner = self.inner.borrow_mut();
        Poll::Ready(inner.slots[place as usize].socket()?.shutdown(Shutdown::Write))
    }

    /// Asks what has arrived, and waits for something if asked to: at most until a time, in
    /// nanoseconds of the monotonic clock.
    #[inline]
    pub fn ask(&self, wait: bool, until: Option<u64>) {
        let mut inner = self.inner.borrow_mut();
        if let Some(until) = until {
            inner.arm(until);
        }
        let Inner { poll, events, .. } = &mut *inner;
        events.clear();
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let limit = (!wait).then_some(&at_once);
        let waited = epoll::wait(&*poll, spare_capacity(events), limit);
        // An interruption is a turn in which nothing has arrived.
        let is_passing = matches!(waited, Ok(_) | Err(Errno::INTR));
        assert!(is_passing, "an epoll that was created can be waited on: {waited:?}");
    }

    /// Wakes whom it concerns what has arrived.
    #[inline]
    pub fn deliver(&self) {
        let mut inner = self.inner.borrow_mut();
        let Inner { events, slots, armed, .. } = &mut *inner;
        for event in events.drain(..) {
            match event.data.u64() {
                WAKE => {}
                TIMER => *armed = None,
                data => deliver(slots, data, event.flags),
            }
        }
    }
}

/// Wakers are woken here by reference, which runs and drops nothing.
#[inline]
fn deliver(slots: &mut [Slot], data: u64, flags: EventFlags) {
    let place = usize::try_from(data & u64::from(u32::MAX)).expect("32 bits");
    let Some(slot) = slots.get_mut(place) else { return };
    if u64::from(slot.generation) != data >> 32 {
        return;
    }
    if flags != EventFlags::OUT {
        slot.is_readable = true;
        slot.is_over |= flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        if let Some(reader) = &slot.reader {
            reader.wake_by_ref();
        }
    }
    // Errors and the end of the stream are for both.
    if let Some(writer) = slot.writer.as_ref().filter(|_| flags != EventFlags::IN) {
        writer.wake_by_ref();
    }
}

impl Inner {
    /// Sets the timer. It is left as it is if it would end earlier: a report for nothing is cheaper
    /// than another call.
    #[inline]
    fn arm(&mut self, until: u64) {
        if self.armed.is_some_and(|armed| armed <= until) {
            return;
        }
        let seconds = i64::try_from(until / 1_000_000_000).unwrap_or(i64::MAX);
        let rest = i64::try_from(until % 1_000_000_000).unwrap_or_default();
        let never = Timespec { tv_sec: 0, tv_nsec: 0 };
        let it_value = Timespec { tv_sec: seconds, tv_nsec: rest };
        let setting = Itimerspec { it_interval: never, it_value };
        if timerfd_settime(self.timer.as_fd(), TimerfdTimerFlags::ABSTIME, &setting).is_ok() {
            self.armed = Some(until);
        }
    }
}

impl Slot {
    /// What the system reports for the socket.
    fn data(&self, place: Place) -> EventData {
        EventData::new_u64(u64::from(self.generation) << 32 | u64::from(place))
    }

    fn interest(&self) -> EventFlags {
        let always = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        if self.reports_room { always | EventFlags::OUT } else { always }
    }

    #[inline]
    fn socket(&self) -> io::Result<&Socket> {
        self.socket.as_ref().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    /// Has the system report room to write, from now on: there is almost always room, and a socket
    /// that was full once may be full again.
    #[cold]
    fn report_room(&mut self, poll: &OwnedFd, place: Place) -> io::Result<()> {
        self.reports_room = true;
        let (data, interest) = (self.data(place), self.interest());
        epoll::modify(poll, self.socket()?, data, interest)?;
        Ok(())
    }
}

//! The queues, the arena and the buffers: the boundary to the kernel. What makes it sound:
//!
//! - The kernel reads only the arena and writes only the buffers, and both belong to the ring.
//!   Neither moves, and the arena is not written to before everything in it was submitted.
//! - A send never waits (MSG_DONTWAIT): it has ended, in full, in part or not at all, when the call
//!   that submitted it returns. Otherwise the kernel could send wrong bytes, but would still
//!   read memory that exists.
//! - When the ring is dropped while an operation may still write, the buffers are leaked.
#![expect(unsafe_code, reason = "io_uring takes pointers, and shares memory with the kernel")]
#![deny(clippy::undocumented_unsafe_blocks)]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ops::Range;
use std::os::fd::RawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use io_uring::types::{BufRingEntry, Fd, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, cqueue, opcode, squeue};

/// Entries that can wait for their submission; more are submitted early.
const ENTRIES: u32 = 256;
/// Completions that fit; the kernel keeps more, and ends receiving then, which begins again.
const COMPLETIONS: u32 = 2048;
/// Number of buffers to receive into, a power of two.
const BUFFERS: u16 = 256;
/// Size of such a buffer in bytes: the answers of most transactions fit in one.
const BUFFER_LENGTH: u32 = 4096;
const BUFFER_BYTES: usize = BUFFER_LENGTH as usize;
/// Bytes that are sent in one call at most.
const ARENA_BYTES: usize = 64 * 1024;
/// Number of the only group of buffers.
const GROUP: u16 = 0;

/// Calls until everything is submitted: one, unless the kernel lacks memory for a moment.
const CALLS_MAX: usize = 10_000;
const ACCEPTS: &str = "the kernel accepts what a ring holds";

/// Without MSG_WAITALL, a send of a part would count as a success, and not be reported.
const SEND_FLAGS: i32 = libc::MSG_DONTWAIT | libc::MSG_WAITALL;
const IN: u32 = libc::POLLIN as u32;
const OUT: u32 = libc::POLLOUT as u32;

/// Something that the kernel reports as done.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    /// What the caller gave the operation.
    pub token: u64,
    /// A number of bytes or of events, or a negative error number.
    pub result: i32,
    /// Whether the operation continues.
    pub more: bool,
    buffer: Option<u16>,
}

/// One thread's queues of io_uring.
pub struct Queue {
    ring: IoUring,
    buffers: Buffers,
    arena: Box<[u8]>,
    filled: usize,
    /// Operations that may still write to the buffers.
    receiving: usize,
    /// Whether the kernel has a flag by which waiting does not count as waiting for a disk.
    no_iowait: bool,
}

impl Queue {
    /// Creates the ring of this thread, the only one that may use it.
    ///
    /// # Errors
    /// When the kernel has no io_uring, is older than 6.1, or forbids it.
    pub fn new() -> io::Result<Self> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_coop_taskrun()
            .setup_defer_taskrun()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .build(ENTRIES)?;
        let buffers = Buffers::new();
        let entries = buffers.entries.as_ptr() as u64;
        // SAFETY: the entries are initialised, aligned to a page, and live as long as the ring.
        unsafe { ring.submitter().register_buf_ring_with_flags(entries, BUFFERS, GROUP, 0)? };
        let no_iowait = ring.params().is_feature_no_iowait();
        let arena = vec![0; ARENA_BYTES].into_boxed_slice();
        Ok(Self { ring, buffers, arena, filled: 0, receiving: 0, no_iowait })
    }

    /// Whether this much can be sent without a submission before it.
    pub fn has_room(&mut self, bytes: usize) -> bool {
        bytes <= ARENA_BYTES - self.filled && !self.ring.submission().is_full()
    }

    /// Sends without waiting; only a failure is reported, with the number of bytes sent if it is
    /// positive. Returns where the data is until the next submission's completions are taken.
    ///
    /// # Panics
    /// Without room.
    pub fn send(&mut self, fd: RawFd, token: u64, data: &[u8]) -> Range<usize> {
        let place = self.filled..self.filled + data.len();
        self.arena[place.clone()].copy_from_slice(data);
        self.filled = place.end;
        let length = u32::try_from(data.len()).expect("no more than the arena");
        let start = self.arena[place.clone()].as_ptr();
        let entry = opcode::Send::new(Fd(fd), start, length)
            .flags(SEND_FLAGS)
            .build()
            .user_data(token)
            .flags(squeue::Flags::SKIP_SUCCESS);
        self.push(&entry);
        place
    }

    /// Data of a send that failed.
    pub fn unsent(&self, place: Range<usize>) -> &[u8] {
        &self.arena[place]
    }

    /// Receives until it ends, is stopped, or fails. The file must stay open until then.
    pub fn receive(&mut self, fd: RawFd, token: u64) {
        self.receiving += 1;
        self.push(&opcode::RecvMulti::new(Fd(fd), GROUP).build().user_data(token));
    }

    /// Reports once when the file has room to write to.
    pub fn await_room(&mut self, fd: RawFd, token: u64) {
        self.push(&opcode::PollAdd::new(Fd(fd), OUT).build().user_data(token));
    }

    /// Reports each time that the file gets something to read.
    pub fn watch(&mut self, fd: RawFd, token: u64) {
        self.push(&opcode::PollAdd::new(Fd(fd), IN).multi(true).build().user_data(token));
    }

    /// Ends an operation; it is then reported as cancelled.
    pub fn cancel(&mut self, operation: u64, token: u64) {
        self.push(&opcode::AsyncCancel::new(operation).build().user_data(token));
    }

    fn push(&mut self, entry: &squeue::Entry) {
        let mut calls = 0;
        // SAFETY: what the entry refers to is the arena, or the buffers, or nothing.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            assert!(calls < CALLS_MAX, "{ACCEPTS}");
            // Sends are pushed only with room, so the arena is not reused here.
            self.enter(0, None);
            calls += 1;
        }
    }

    /// Submits everything, and waits for a completion: not at all, up to a limit, or for as long
    /// as it takes. Completions must be taken before the next send.
    pub fn submit(&mut self, wait: bool, limit: Option<Duration>) {
        self.enter(usize::from(wait), limit);
        let mut calls = 1;
        while !self.ring.submission().is_empty() {
            assert!(calls < CALLS_MAX, "{ACCEPTS}");
            self.enter(0, None);
            calls += 1;
        }
        self.filled = 0;
    }

    fn enter(&mut self, want: usize, limit: Option<Duration>) {
        let entered = match limit {
            Some(limit) if want > 0 => {
                let limit = Timespec::from(limit);
                self.ring.submitter().submit_with_args(want, &SubmitArgs::new().timespec(&limit))
            }
            _ => {
                let waiting = self.ring.submission().len();
                let to_submit = u32::try_from(waiting).expect("no more than the entries");
                let mut flags = EnterFlags::GETEVENTS;
                flags.set(EnterFlags::NO_IOWAIT, self.no_iowait);
                let want = u32::try_from(want).expect("0 or 1");
                // SAFETY: no argument is passed, and the entries refer to memory of the ring.
                unsafe { self.ring.submitter().enter::<()>(to_submit, want, flags.bits(), None) }
            }
        };
        let Err(error) = entered else { return };
        let passing = [libc::EINTR, libc::ETIME, libc::EBUSY, libc::EAGAIN];
        let is_passing = error.raw_os_error().is_some_and(|code| passing.contains(&code));
        assert!(is_passing, "a ring that was created can be used: {error}");
    }

    /// The next completion.
    #[inline]
    pub fn next_done(&mut self) -> Option<Completion> {
        let entry = self.ring.completion().next()?;
        let (token, flags) = (entry.user_data(), entry.flags());
        let buffer = cqueue::buffer_select(flags);
        Some(Completion { token, result: entry.result(), more: cqueue::more(flags), buffer })
    }

    /// Has the kernel move completions for which the queue, now empty, had no room; false if there are
    /// none.
    #[inline]
    pub fn flush_overflow(&mut self) -> bool {
        let is_over = self.ring.submission().cq_overflow();
        if is_over {
            self.enter(0, None);
        }
        is_over
    }

    /// Appends what a [`Queue::receive`] has received, and returns the buffer to the kernel.
    #[inline]
    pub fn take(&mut self, done: &Completion, into: &mut Vec<u8>) {
        self.receiving -= usize::from(!done.more);
        let Some(buffer) = done.buffer else { return };
        into.extend_from_slice(self.buffers.filled(buffer, done.result));
        self.buffers.give(buffer);
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if self.receiving > 0 {
            self.buffers.leak();
        }
    }
}

/// Memory to receive into, and the ring in which its pieces are offered to the kernel.
struct Buffers {
    entries: NonNull<BufRingEntry>,
    bytes: NonNull<u8>,
    tail: u16,
    leaked: bool,
}

impl Buffers {
    const LAYOUTS: [Layout; 2] = [
        Self::pages(BUFFERS as usize * size_of::<BufRingEntry>()),
        Self::pages(BUFFERS as usize * BUFFER_BYTES),
    ];

    const fn pages(bytes: usize) -> Layout {
        match Layout::from_size_align(bytes, 4096) {
            Ok(layout) => layout,
            Err(_) => unreachable!(),
        }
    }

    fn new() -> Self {
        let [entries, bytes] = Self::LAYOUTS.map(|layout| {
            // SAFETY: the size is not zero.
            let memory = unsafe { alloc_zeroed(layout) };
            NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(layout))
        });
        let mut made = Self { entries: entries.cast(), bytes, tail: 0, leaked: false };
        (0..BUFFERS).for_each(|buffer| made.give(buffer));
        made
    }

    /// Offers a buffer to the kernel.
    #[inline]
    fn give(&mut self, buffer: u16) {
        let place = usize::from(self.tail % BUFFERS);
        // SAFETY: the place is one of the entries and the address one of the buffers. The kernel
        // does not read the entry before the tail says that it is there. The tail overlays a
        // reserved field of the first entry, which `set_…` does not touch; it is aligned, and
        // shared with the kernel, which only reads it.
        unsafe {
            let entry = &mut *self.entries.as_ptr().add(place);
            let start = self.bytes.as_ptr().add(usize::from(buffer) * BUFFER_BYTES);
            entry.set_addr(start as u64);
            entry.set_len(BUFFER_LENGTH);
            entry.set_bid(buffer);
            self.tail = self.tail.wrapping_add(1);
            let tail = BufRingEntry::tail(self.entries.as_ptr()).cast::<AtomicU16>();
            (*tail).store(self.tail, Ordering::Release);
        }
    }

    /// What the kernel has written to a buffer.
    #[inline]
    fn filled(&self, buffer: u16, bytes: i32) -> &[u8] {
        let bytes = usize::try_from(bytes).unwrap_or(0).min(BUFFER_BYTES);
        assert!(buffer < BUFFERS, "the kernel returns a buffer that it was given");
        // SAFETY: the buffer is one of ours and initialised, and the kernel does not write to it
        // again before it is given back, which needs `&mut self`.
        unsafe {
            let start = self.bytes.as_ptr().add(usize::from(buffer) * BUFFER_BYTES);
            std::slice::from_raw_parts(start, bytes)
        }
    }

    fn leak(&mut self) {
        self.leaked = true;
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if self.leaked {
            return;
        }
        let [entries, bytes] = Self::LAYOUTS;
        // SAFETY: allocated with these layouts in `new`; no operation that could write is left,
        // and the ring that knows the entries is dropped first, as the fields of `Queue` are.
        unsafe {
            dealloc(self.entries.as_ptr().cast(), entries);
            dealloc(self.bytes.as_ptr(), bytes);
        }
    }
}

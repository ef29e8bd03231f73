//! Packets of a thread's TCP connections, as the kernel counts them for each: `TCP_INFO` of tcp(7),
//! whose layout is `struct tcp_info` of `linux/tcp.h`. Counted are segments, also those without
//! data; neither libc nor rustix knows these fields.
#![expect(unsafe_code, reason = "a socket option that only libc's getsockopt reads")]

use std::cell::Cell;
use std::os::fd::{AsFd, AsRawFd};

/// Sockets of a thread above which nothing is counted: each takes a system call.
pub const SOCKETS_MAX: usize = 1000;

/// Numbers of 32 bits at the beginning of `tcp_info`, up to `tcpi_segs_out` and `tcpi_segs_in`
/// (Linux 4.2).
const NUMBERS: usize = 36;
const SEGMENTS_OUT: usize = 34;
const SEGMENTS_IN: usize = 35;

/// What a connection had sent and received at the last reading, in the kernel's counters, which wrap
/// around.
#[derive(Debug, Default)]
pub struct SegmentsSeen([u32; 2]);

/// What all connections of a thread have sent and received.
#[derive(Debug, Default)]
pub struct PacketCounter {
    total: Cell<[u64; 2]>,
    /// Whether one of the connections is counted by the kernel.
    is_counted: Cell<bool>,
}

impl PacketCounter {
    /// Adds what a connection sent and received since it was last read.
    pub fn read(&self, socket: &impl AsFd, seen: &mut SegmentsSeen) {
        let Some(now) = segments(socket) else { return };
        let mut total = self.total.get();
        for ((sum, now), before) in total.iter_mut().zip(now).zip(seen.0) {
            *sum += u64::from(now.wrapping_sub(before));
        }
        seen.0 = now;
        self.total.set(total);
        self.is_counted.set(true);
    }

    /// Packets sent and received; `None` if no connection is counted.
    pub fn total(&self) -> Option<[u64; 2]> {
        self.is_counted.get().then(|| self.total.get())
    }
}

/// Segments that a TCP connection sent and received; `None` of another socket or an older kernel.
fn segments(socket: &impl AsFd) -> Option<[u32; 2]> {
    let mut info = [0_u32; NUMBERS];
    let whole = size_of_val(&info);
    let mut length = libc::socklen_t::try_from(whole).ok()?;
    // SAFETY: the descriptor is open while `socket` is borrowed; the kernel writes at most `length`
    // bytes to `info`, whose numbers take any bits, and the length to `length`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let is_whole = usize::try_from(length).is_ok_and(|length| length == whole);
    (result == 0 && is_whole).then(|| [info[SEGMENTS_OUT], info[SEGMENTS_IN]])
}

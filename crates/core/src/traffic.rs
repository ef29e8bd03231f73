//! What the sockets of a thread sent and received: bytes as they are on the wire, after encryption
//! and compression. Sessions never leave their thread, so a counter per thread is exact and takes
//! one addition per read or write, without a lock.

use std::cell::Cell;

use serde::{Deserialize, Serialize};

thread_local! {
    static SENT: Cell<u64> = const { Cell::new(0) };
    static RECEIVED: Cell<u64> = const { Cell::new(0) };
}

/// Adds bytes that a socket of this thread took to be sent.
#[inline]
pub fn sent(bytes: usize) {
    SENT.set(SENT.get().wrapping_add(bytes as u64));
}

/// Adds bytes that were read from a socket of this thread.
#[inline]
pub fn received(bytes: usize) {
    RECEIVED.set(RECEIVED.get().wrapping_add(bytes as u64));
}

/// Traffic of the sockets of a thread, or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Packets; `None` where the system does not count them for each connection.
    pub packets: Option<Packets>,
}

/// Packets of TCP connections, as the kernel counts them: segments, also those without data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packets {
    /// Packets sent.
    pub sent: u64,
    /// Packets received.
    pub received: u64,
}

impl Packets {
    /// Adds packets.
    pub const fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.received += other.received;
    }

    const fn since(self, before: Self) -> Self {
        Self {
            sent: self.sent.saturating_sub(before.sent),
            received: self.received.saturating_sub(before.received),
        }
    }
}

impl Traffic {
    /// What the sockets of this thread sent and received since it began; without packets.
    #[must_use]
    pub fn of_thread() -> Self {
        Self { sent_bytes: SENT.get(), received_bytes: RECEIVED.get(), packets: None }
    }

    /// Adds the traffic of another time or thread.
    pub fn add(&mut self, other: &Self) {
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
        if let Some(packets) = other.packets {
            self.packets.get_or_insert_default().add(packets);
        }
    }

    /// What came after an earlier reading.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            sent_bytes: self.sent_bytes.wrapping_sub(before.sent_bytes),
            received_bytes: self.received_bytes.wrapping_sub(before.received_bytes),
            packets: self.packets.zip(before.packets).map(|(now, before)| now.since(before)),
        }
    }

    /// Whether anything was sent: a database in this process, or one behind a foreign library, has
    /// no socket that is counted here.
    #[must_use]
    pub const fn is_counted(&self) -> bool {
        self.sent_bytes > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_counts_its_own_and_readings_are_subtracted() {
        let before = Traffic::of_thread();
        sent(3);
        received(5);
        std::thread::spawn(|| sent(100)).join().unwrap();
        let seen = Traffic::of_thread().since(before);
        assert_eq!((seen.sent_bytes, seen.received_bytes, seen.packets), (3, 5, None));
        let packets = |sent| Some(Packets { sent, received: 2 * sent });
        let mut sum = Traffic { packets: packets(7), ..seen }
            .since(Traffic { packets: packets(4), ..Traffic::default() });
        sum.add(&Traffic { sent_bytes: 1, ..Traffic::default() });
        sum.add(&Traffic { packets: packets(1), ..Traffic::default() });
        assert_eq!((sum.sent_bytes, sum.packets), (4, packets(4)));
    }
}

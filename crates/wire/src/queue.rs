//! Copies of what passes, on their way to the thread that reads them. Nobody waits here: a copy that would exceed the limit
//! ends the recording instead.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

use triphammer_core::Elapsed;

/// Bytes of a block; a piece lies in one.
const BLOCK_BYTES: usize = 256 * 1024;
/// Empty blocks that are kept.
const SPARE_MAX: usize = 8;
/// Bytes that a piece takes besides its content.
const ENTRY_BYTES: usize = size_of::<Entry>();

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A connection began: the content is its first message.
    Opened,
    /// Bytes from the client.
    FromClient,
    /// Bytes from the server.
    FromServer,
    /// The connection has ended.
    Closed,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    connection: u64,
    at: Elapsed,
    block: u32,
    start: u32,
    length: u32,
    kind: Kind,
}

/// A piece of what a connection sent.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// Number of the connection.
    pub connection: u64,
    /// When it passed.
    pub at: Elapsed,
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// Pieces in their order.
#[derive(Debug, Default)]
pub struct Batch {
    entries: Vec<Entry>,
    /// Those from `used` on are empty.
    blocks: Vec<Vec<u8>>,
    used: usize,
    bytes: usize,
}

impl Batch {
    fn push(&mut self, piece: Piece<'_>) {
        let Piece { connection, at, kind, bytes } = piece;
        let has_room = |block: &Vec<u8>| block.capacity() - block.len() >= bytes.len();
        let current = self.used.checked_sub(1).map(|at| &self.blocks[at]);
        if !current.is_some_and(has_room) {
            if !self.blocks.get(self.used).is_some_and(has_room) {
                let block = Vec::with_capacity(BLOCK_BYTES.max(bytes.len()));
                self.blocks.insert(self.used, block);
            }
            self.used += 1;
        }
        let place = self.used - 1;
        let block = &mut self.blocks[place];
        let fit = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (start, length) = (fit(block.len()), fit(bytes.len()));
        block.extend_from_slice(bytes);
        self.entries.push(Entry { connection, at, block: fit(place), start, length, kind });
        self.bytes += bytes.len() + ENTRY_BYTES;
    }

    /// The pieces.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.entries.iter().map(|entry| {
            let start = entry.start as usize;
            let bytes = &self.blocks[entry.block as usize][start..start + entry.length as usize];
            Piece { connection: entry.connection, at: entry.at, kind: entry.kind, bytes }
        })
    }

    /// Removes all pieces, and keeps some memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.entries.shrink_to(BLOCK_BYTES / ENTRY_BYTES);
        self.blocks.truncate(SPARE_MAX);
        self.blocks.iter_mut().for_each(Vec::clear);
        (self.used, self.bytes) = (0, 0);
    }
}

/// Whether the queue takes pieces, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Intake {
    /// It takes them.
    Open,
    /// The limit was reached.
    Full,
    /// The recording has ended.
    Closed,
}

/// The queue.
#[derive(Debug)]
pub struct Queue {
    batch: Mutex<Batch>,
    intake: AtomicU8,
    /// Most bytes that wait.
    limit: usize,
}

impl Queue {
    /// An empty queue of at most so many bytes.
    pub fn new(limit: usize) -> Self {
        let intake = AtomicU8::new(Intake::Open as u8);
        Self { batch: Mutex::default(), intake, limit }
    }

    /// Whether it takes pieces.
    pub fn intake(&self) -> Intake {
        match self.intake.load(Ordering::Acquire) {
            0 => Intake::Open,
            1 => Intake::Full,
            _ => Intake::Closed,
        }
    }

    /// Takes no more pieces; what waits can still be [swapped](Queue::swap) out.
    pub fn close(&self) {
        let _open = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        if self.intake() == Intake::Open {
            self.intake.store(Intake::Closed as u8, Ordering::Release);
        }
    }

    /// Adds a piece. The one with which it would hold too much is dropped, and all after it.
    pub fn push(&self, piece: Piece<'_>) {
        if self.intake() != Intake::Open {
            return;
        }
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        if self.intake() != Intake::Open {
            return;
        }
        if batch.bytes + piece.bytes.len() + ENTRY_BYTES > self.limit {
            self.intake.store(Intake::Full as u8, Ordering::Release);
            return;
        }
        batch.push(piece);
    }

    /// Exchanges what waits for an empty batch.
    pub fn swap(&self, batch: &mut Batch) {
        std::mem::swap(&mut *self.batch.lock().unwrap_or_else(PoisonError::into_inner), batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(connection: u64, bytes: &[u8]) -> Piece<'_> {
        Piece { connection, at: Elapsed(connection), kind: Kind::FromClient, bytes }
    }

    #[test]
    fn pieces_come_out_as_they_went_in() {
        let queue = Queue::new(64 * 1024 * 1024);
        let mut batch = Batch::default();
        for round in 0..3_u8 {
            let contents: Vec<Vec<u8>> =
                (0..2_000_usize).map(|n| vec![round; n * 7 % 16_384]).collect();
            for (number, content) in (0..).zip(&contents) {
                queue.push(piece(number, content));
            }
            queue.swap(&mut batch);
            assert!(batch.pieces().map(|piece| piece.bytes).eq(contents.iter()));
            assert!(batch.pieces().map(|piece| piece.connection).eq(0..2_000));
            batch.clear();
            assert_eq!(batch.pieces().count(), 0);
        }
    }

    #[test]
    fn a_full_queue_takes_nothing_more() {
        let queue = Queue::new(1_000);
        for _ in 0..3 {
            queue.push(piece(1, &[0; 400]));
        }
        assert_eq!(queue.intake(), Intake::Full);
        queue.push(piece(2, b"x"));
        queue.close();
        assert_eq!(queue.intake(), Intake::Full, "why it takes nothing stays known");
        let mut batch = Batch::default();
        queue.swap(&mut batch);
        assert_eq!(batch.pieces().count(), 2);
    }
}

//! The receive buffer, and the messages in it, which are read in place.

use std::ops::Range;

/// Initial size in bytes; the answers of most transactions fit.
const FIRST_BYTES: usize = 4 * 1024;
/// Size in bytes up to which the buffer grows when one read fills it, so that large results take
/// fewer reads.
const READ_BYTES_MAX: usize = 32 * 1024;
/// Free room in bytes below which unread data moves to the front of the buffer before the next
/// read.
const ROOM_BYTES_MIN: usize = 1024;
/// Longest accepted message in bytes: more than any row of a benchmark, and small enough that many
/// sessions at once do not exhaust memory.
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Message header: type and length.
const HEAD_BYTES: usize = 5;

/// Position of a message in the buffer.
pub struct MessagePosition {
    /// Type of the message.
    pub tag: u8,
    body: Range<usize>,
}

/// The receive buffer: `start..end` has been received but not taken.
#[derive(Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Whether the last read filled the buffer, so that there is more.
    was_full: bool,
}

impl Inbox {
    /// Takes the next complete message; `None` if it has not fully arrived.
    ///
    /// # Errors
    /// With what is wrong about its length.
    #[inline]
    pub fn take(&mut self) -> Result<Option<MessagePosition>, &'static str> {
        let unread = &self.bytes[self.start..self.end];
        let Some(&[tag, a, b, c, d]) = unread.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        // The length includes itself but not the type.
        if !(HEAD_BYTES - 1..=MESSAGE_BYTES_MAX).contains(&length) {
            return Err("a message with an invalid length");
        }
        if unread.len() <= length {
            return Ok(None);
        }
        let body = self.start + HEAD_BYTES..self.start + 1 + length;
        self.start = body.end;
        Ok(Some(MessagePosition { tag, body }))
    }

    /// The body of the message that was taken last.
    #[inline]
    pub fn body(&self, found: &MessagePosition) -> &[u8] {
        &self.bytes[found.body.clone()]
    }

    /// Free room to read into, never empty. It grows with the data received, not with the announced
    /// length.
    #[inline]
    pub fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
        if self.bytes.len() - self.end < ROOM_BYTES_MIN || self.was_full {
            self.make_room();
        }
        &mut self.bytes[self.end..]
    }

    /// Marks this many bytes of the room as received.
    #[inline]
    pub fn filled(&mut self, read: usize) {
        self.end += read;
        self.was_full = self.end == self.bytes.len();
    }

    #[cold]
    fn make_room(&mut self) {
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let size = self.bytes.len();
        if size - self.end < ROOM_BYTES_MIN || (self.was_full && size < READ_BYTES_MAX) {
            self.bytes.resize((size * 2).max(FIRST_BYTES), 0);
        }
        self.was_full = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(inbox: &mut Inbox, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let room = inbox.room();
            let fits = room.len().min(bytes.len());
            room[..fits].copy_from_slice(&bytes[..fits]);
            inbox.filled(fits);
            bytes = &bytes[fits..];
        }
    }

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[tag][..], &length.to_be_bytes(), body].concat()
    }

    #[test]
    fn messages_are_taken_whole_however_they_come() {
        let long = vec![7; 100_000];
        let all =
            [message(b'1', b""), message(b'D', b"row"), message(b'd', &long), message(b'Z', b"I")]
                .concat();
        for step in [1, 3, 1000, 70_000, all.len()] {
            let mut inbox = Inbox::default();
            let mut seen = Vec::new();
            for piece in all.chunks(step) {
                put(&mut inbox, piece);
                while let Some(found) = inbox.take().unwrap() {
                    seen.push((found.tag, inbox.body(&found).len()));
                }
            }
            assert_eq!(seen, [(b'1', 0), (b'D', 3), (b'd', 100_000), (b'Z', 1)], "{step}");
        }
    }

    #[test]
    fn a_length_that_cannot_be_is_an_error_and_takes_no_memory() {
        for length in [0u32, 3, u32::MAX, 17 << 20] {
            let mut inbox = Inbox::default();
            put(&mut inbox, &[&b"D"[..], &length.to_be_bytes()].concat());
            assert!(inbox.take().is_err(), "{length}");
        }
        let mut inbox = Inbox::default();
        put(&mut inbox, &[&b"D"[..], &(15u32 << 20).to_be_bytes()].concat());
        assert!(inbox.take().unwrap().is_none());
        assert!(inbox.room().len() <= READ_BYTES_MAX);
    }
}

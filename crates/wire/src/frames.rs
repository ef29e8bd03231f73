//! Messages out of a stream of bytes that comes in pieces of any length.

/// Longest message that is read, in bytes; longer ones are passed over.
pub const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How messages begin in a protocol.
pub trait Head {
    /// Length of the head, in bytes.
    const BYTES: usize;

    /// Length of a whole message by its head; `None` if no message begins so.
    fn length(head: &[u8]) -> Option<usize>;
}

/// A message.
#[derive(Debug)]
pub struct Frame<'a> {
    /// Its head.
    pub head: &'a [u8],
    /// Its body; `None` if it is too long to be read.
    pub body: Option<&'a [u8]>,
}

/// The bytes are not those of the protocol.
#[derive(Debug, PartialEq, Eq)]
pub struct Nonsense;

/// Assembles messages.
#[derive(Debug, Default)]
pub struct Frames {
    /// The beginning of a message that has not arrived completely.
    held: Vec<u8>,
    /// Bytes of a message that is too long, still to come.
    passed_over: usize,
}

impl Frames {
    /// Number of bytes that are held.
    pub const fn held(&self) -> usize {
        self.held.capacity()
    }

    /// Takes the next bytes; `each` gets every message that is complete.
    ///
    /// # Errors
    /// When no message begins so, or `each` says so; the stream cannot be read further.
    pub fn feed<H: Head>(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(Frame<'_>) -> Result<(), Nonsense>,
    ) -> Result<(), Nonsense> {
        loop {
            let passed = self.passed_over.min(bytes.len());
            self.passed_over -= passed;
            bytes = &bytes[passed..];
            if bytes.is_empty() {
                return Ok(());
            }
            if !self.held.is_empty() {
                if !self.complete::<H>(&mut bytes, &mut each)? {
                    return Ok(());
                }
                continue;
            }
            let Some(head) = bytes.get(..H::BYTES) else {
                self.held.extend_from_slice(bytes);
                return Ok(());
            };
            let length = H::length(head).ok_or(Nonsense)?;
            if length > MESSAGE_BYTES_MAX {
                each(Frame { head, body: None })?;
                self.passed_over = length;
            } else if let Some(message) = bytes.get(..length) {
                each(Frame { head, body: Some(&message[H::BYTES..]) })?;
                bytes = &bytes[length..];
            } else {
                self.held.extend_from_slice(bytes);
                return Ok(());
            }
        }
    }

    /// Adds to the message that is held; returns whether it is complete.
    fn complete<H: Head>(
        &mut self,
        bytes: &mut &[u8],
        each: &mut impl FnMut(Frame<'_>) -> Result<(), Nonsense>,
    ) -> Result<bool, Nonsense> {
        if !self.take(bytes, H::BYTES) {
            return Ok(false);
        }
        let length = H::length(&self.held[..H::BYTES]).ok_or(Nonsense)?;
        if length > MESSAGE_BYTES_MAX {
            each(Frame { head: &self.held[..H::BYTES], body: None })?;
            // What is held is no more than the head: longer messages are never held.
            self.passed_over = length - self.held.len();
        } else if self.take(bytes, length) {
            let (head, body) = self.held.split_at(H::BYTES);
            each(Frame { head, body: Some(body) })?;
        } else {
            return Ok(false);
        }
        self.held.clear();
        self.held.shrink_to(H::BYTES);
        Ok(true)
    }

    /// Fills what is held up to a length; returns whether it has it.
    fn take(&mut self, bytes: &mut &[u8], length: usize) -> bool {
        let lacks = length.saturating_sub(self.held.len()).min(bytes.len());
        self.held.extend_from_slice(&bytes[..lacks]);
        *bytes = &bytes[lacks..];
        self.held.len() >= length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::Tagged;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[tag][..], &length.to_be_bytes(), body].concat()
    }

    #[test]
    fn messages_are_whole_however_they_come() {
        let long = vec![7; 100_000];
        let too_long = vec![8; MESSAGE_BYTES_MAX + 1];
        let all = [
            message(b'1', b""),
            message(b'D', b"row"),
            message(b'L', &too_long),
            message(b'd', &long),
            message(b'Z', b"I"),
        ]
        .concat();
        for step in [1, 3, 4096, 70_000, all.len()] {
            let mut frames = Frames::default();
            let mut seen = Vec::new();
            for piece in all.chunks(step) {
                let fed = frames.feed::<Tagged>(piece, |frame| {
                    seen.push((frame.head[0], frame.body.map(<[u8]>::len)));
                    Ok(())
                });
                fed.unwrap();
                assert!(frames.held() < 300_000);
            }
            let expected = [
                (b'1', Some(0)),
                (b'D', Some(3)),
                (b'L', None),
                (b'd', Some(100_000)),
                (b'Z', Some(1)),
            ];
            assert_eq!(seen, expected, "{step}");
        }
    }

    #[test]
    fn a_length_that_cannot_be_is_an_error() {
        for step in [1, 100] {
            let mut frames = Frames::default();
            let bytes = [&b"D"[..], &3_u32.to_be_bytes(), b"abc"].concat();
            let fed: Result<(), Nonsense> =
                bytes.chunks(step).try_for_each(|piece| frames.feed::<Tagged>(piece, |_| Ok(())));
            assert_eq!(fed, Err(Nonsense));
        }
    }
}

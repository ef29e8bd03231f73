//! Lines of a log, of limited length: what is longer is skipped and counted, so that memory does not
//! depend on the file.

use std::io::{self, BufRead};

/// Longest line of a log, or record of several lines, in bytes. Servers split longer statements or
/// log them whole; those are not replayed.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;

/// A line of a log.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// Its text, without the end of line; bytes that are not UTF-8 are replaced.
    Text(String),
    /// It was longer than [`LINE_BYTES_MAX`].
    TooLong,
    /// It contains a NUL, so it is not text.
    Binary,
}

/// Reads lines.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    bytes: Vec<u8>,
    /// Lines that were peeked at, and not yet taken.
    pending: Option<Line>,
    read: u64,
    longest: usize,
}

impl<R: BufRead> Lines<R> {
    /// Reads from a log.
    pub const fn new(reader: R) -> Self {
        Self::up_to(reader, LINE_BYTES_MAX)
    }

    /// Reads lines of at most so many bytes.
    pub const fn up_to(reader: R, longest: usize) -> Self {
        Self { reader, bytes: Vec::new(), pending: None, read: 0, longest }
    }

    /// Number of bytes read.
    pub const fn read(&self) -> u64 {
        self.read
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// As the system reports.
    pub fn take(&mut self) -> io::Result<Option<Line>> {
        match self.pending.take() {
            Some(line) => Ok(Some(line)),
            None => self.fetch(),
        }
    }

    /// The text of the next line, which stays; `None` if it is not text or at the end.
    ///
    /// # Errors
    /// As the system reports.
    pub fn peek(&mut self) -> io::Result<Option<&str>> {
        if self.pending.is_none() {
            self.pending = self.fetch()?;
        }
        match &self.pending {
            Some(Line::Text(text)) => Ok(Some(text)),
            _ => Ok(None),
        }
    }

    fn fetch(&mut self) -> io::Result<Option<Line>> {
        self.bytes.clear();
        let (mut any, mut is_long) = (false, false);
        loop {
            let available = match self.reader.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                break;
            }
            any = true;
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..end.unwrap_or(available.len())];
            if is_long || self.bytes.len() + part.len() > self.longest {
                is_long = true;
            } else {
                self.bytes.extend_from_slice(part);
            }
            let used = end.map_or(available.len(), |end| end + 1);
            self.reader.consume(used);
            self.read += used as u64;
            if end.is_some() {
                break;
            }
        }
        Ok(match (any, is_long) {
            (false, _) => None,
            (true, true) => Some(Line::TooLong),
            (true, false) if self.bytes.contains(&0) => Some(Line::Binary),
            (true, false) => {
                let bytes = self.bytes.strip_suffix(b"\r").unwrap_or(&self.bytes);
                Some(Line::Text(String::from_utf8_lossy(bytes).into_owned()))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_and_binary_ones_are_not_kept() {
        let long = "x".repeat(10 * 1024 * 1024);
        let text = format!("a\r\n{long}\nb\0c\nlast");
        let mut lines = Lines::new(io::BufReader::new(text.as_bytes()));
        assert_eq!(lines.peek().unwrap(), Some("a"));
        let mut all = Vec::new();
        while let Some(line) = lines.take().unwrap() {
            all.push(line);
        }
        let text = |text: &str| Line::Text(text.to_owned());
        assert_eq!(all, [text("a"), Line::TooLong, Line::Binary, text("last")]);
        assert!(lines.bytes.capacity() <= 2 * LINE_BYTES_MAX);
    }
}

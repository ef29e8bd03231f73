//! Reads the data of an answer from front to back. Nothing is trusted: a length that exceeds what
//! has arrived means that more must be read, and what cannot be right ends the connection.

use triphammer_core::DbError;

use super::error::broken;

/// Why something was not read.
#[derive(Debug)]
pub(super) enum Fault {
    /// It has not arrived as a whole.
    Short,
    /// It violates the protocol.
    Broken(DbError),
}

impl Fault {
    /// A violation of the protocol: `what` cannot be parsed.
    #[cold]
    pub(super) fn broken(what: &str) -> Self {
        Self::Broken(broken(what))
    }
}

impl From<DbError> for Fault {
    fn from(error: DbError) -> Self {
        Self::Broken(error)
    }
}

/// The rest of the data.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    /// Takes the next `count` bytes.
    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Fault::Short)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Takes as many bytes as the result has.
    #[inline]
    pub(super) fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Fault::Short)?;
        self.0 = rest;
        Ok(*taken)
    }

    /// Takes one byte.
    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Fault> {
        Ok(self.fixed::<1>()?[0])
    }

    /// Takes a 16-bit number.
    #[inline]
    pub(super) fn short(&mut self) -> Result<u16, Fault> {
        Ok(u16::from_le_bytes(self.fixed()?))
    }

    /// Takes a 32-bit number.
    #[inline]
    pub(super) fn long(&mut self) -> Result<u32, Fault> {
        Ok(u32::from_le_bytes(self.fixed()?))
    }

    /// Takes bytes preceded by their number in one byte.
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Fault> {
        let count = self.byte()?;
        self.take(count.into())
    }

    /// Takes text preceded by the number of its 16-bit units in one byte.
    pub(super) fn text(&mut self) -> Result<&'a [u8], Fault> {
        let count = self.byte()?;
        self.take(2 * usize::from(count))
    }

    /// Takes text preceded by the number of its 16-bit units in two bytes.
    pub(super) fn long_text(&mut self) -> Result<&'a [u8], Fault> {
        let count = self.short()?;
        self.take(2 * usize::from(count))
    }
}

/// Appends text in UTF-16 as UTF-8; a unit that is not a character becomes U+FFFD.
#[inline]
pub(super) fn put_utf8(out: &mut Vec<u8>, text: &[u8]) {
    let (units, _) = text.as_chunks::<2>();
    out.reserve(units.len());
    let plain = units.iter().take_while(|unit| unit[1] == 0 && unit[0] < 0x80);
    let before = out.len();
    out.extend(plain.map(|unit| unit[0]));
    let rest = &units[out.len() - before..];
    if !rest.is_empty() {
        let decoded = char::decode_utf16(rest.iter().map(|unit| u16::from_le_bytes(*unit)));
        for c in decoded {
            let c = c.unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

/// Text in UTF-16 as a string.
pub(super) fn string(text: &[u8]) -> String {
    let (units, _) = text.as_chunks::<2>();
    let units = units.iter().map(|unit| u16::from_le_bytes(*unit));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Appends text as UTF-16.
#[inline]
pub(super) fn put_utf16(out: &mut Vec<u8>, text: &str) {
    out.reserve(2 * text.len());
    if text.is_ascii() {
        out.extend(text.bytes().flat_map(|byte| [byte, 0]));
    } else {
        out.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_survives_both_ways() {
        for text in ["", "plain", "näh, 日本語 🦀🦀", "plain, then ü"] {
            let (mut wide, mut narrow) = (Vec::new(), Vec::new());
            put_utf16(&mut wide, text);
            put_utf8(&mut narrow, &wide);
            assert_eq!((string(&wide).as_str(), narrow.as_slice()), (text, text.as_bytes()));
        }
        let mut out = Vec::new();
        put_utf8(&mut out, &[0x41, 0, 0x00, 0xd8, 0x42, 0, 7]);
        assert_eq!(out, "A\u{fffd}B".as_bytes());
    }

    #[test]
    fn what_has_not_arrived_is_short() {
        let mut reader = Reader(&[3, 0, b'a', 0]);
        assert!(matches!(reader.long_text(), Err(Fault::Short)));
        assert!(matches!(Reader(&[]).byte(), Err(Fault::Short)));
    }
}

//! FNV-1a (Fowler, Noll and Vo), of 64 bits: for fingerprints that are stored, so that they must not
//! depend on the version of a compiler or library.

/// A hash of texts.
#[derive(Clone, Copy, Debug)]
pub struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self::new()
    }
}

impl Fnv1a {
    /// The hash of nothing.
    pub const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a text, and a byte that no text contains as its end.
    pub fn add(&mut self, text: &[u8]) {
        for byte in text.iter().chain(&[0xff]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// The hash of all texts added.
    pub const fn value(self) -> u64 {
        self.0
    }
}

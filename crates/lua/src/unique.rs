//! Numbers that no thread of a run has had before, in an order that looks random.

use std::sync::atomic::{AtomicU32, Ordering};

/// The largest prime below 2^32 that is 3 modulo 4.
const PRIME: u32 = 4_294_967_291;
/// Between the two permutations, so that small numbers do not stay in order.
const OFFSET: u32 = 0x6a09_e667;

/// All 32-bit numbers, each once: then they repeat.
#[derive(Debug, Default)]
pub struct Unique(AtomicU32);

impl Unique {
    /// Starts at a place that depends on a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let start = (seed ^ (seed >> 32)) & u64::from(u32::MAX);
        Self(AtomicU32::new(u32::try_from(start).expect("32 bits")))
    }

    /// The next number.
    pub fn next(&self) -> u32 {
        let index = self.0.fetch_add(1, Ordering::Relaxed);
        permute(permute(index).wrapping_add(OFFSET))
    }
}

/// Squares modulo a prime that is 3 modulo 4 are a permutation of one half of the numbers, and their
/// complements of the other half. The few numbers above the prime stay where they are.
fn permute(x: u32) -> u32 {
    if x >= PRIME {
        return x;
    }
    let square = u64::from(x) * u64::from(x) % u64::from(PRIME);
    let square = u32::try_from(square).expect("below a 32-bit prime");
    if x <= PRIME / 2 { square } else { PRIME - square }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_not_in_order() {
        let unique = Unique::new(7);
        let drawn: Vec<u32> = (0..100_000).map(|_| unique.next()).collect();
        let distinct: std::collections::HashSet<u32> = drawn.iter().copied().collect();
        assert_eq!(distinct.len(), drawn.len());
        let rising = drawn.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((45_000..55_000).contains(&rising), "{rising}");
    }
}

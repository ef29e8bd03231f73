//! Reproducible random numbers: the same seed gives the same data and the same work on every
//! machine and in every version. The generator is xoshiro256++ (Blackman and Vigna 2019) from
//! `rand_xoshiro`; the conversion of its bits to numbers is defined here, because a library may
//! change its own.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

/// The characters of an a-string (clause 4.3.2.2): 26 lower, 26 upper, 10 digits.
const ALPHANUMERIC: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

impl Rng {
    /// Creates the stream of a seed for a purpose: a list of numbers such as (table, warehouse,
    /// district) or (purpose, user). Different lists give independent streams.
    #[must_use]
    pub fn of(seed: u64, purpose: &[u64]) -> Self {
        let mut state = mix(seed ^ 0x7472_6970_6861_6D6D);
        for (place, part) in (1u64..).zip(purpose) {
            state = mix(state ^ mix(part.wrapping_add(place.wrapping_mul(0x9E37_79B9_7F4A_7C15))));
        }
        Self(Xoshiro256PlusPlus::seed_from_u64(state))
    }

    /// Returns 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 to `bound` - 1, every one equally likely (Lemire 2019).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0);
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            #[expect(clippy::cast_possible_truncation, reason = "the low and the high half")]
            let (low, high) = (product as u64, (product >> 64) as u64);
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return high;
            }
        }
    }

    /// The place of a weight, with a probability in proportion to it; `None` without weights.
    #[inline]
    pub fn weighted(&mut self, weights: impl Iterator<Item = u64> + Clone) -> Option<usize> {
        let sum = weights.clone().sum();
        let mut drawn = (sum > 0).then(|| self.below(sum))?;
        weights.into_iter().position(|weight| match drawn.checked_sub(weight) {
            None => true,
            Some(rest) => {
                drawn = rest;
                false
            }
        })
    }

    /// A number from `low` to `high`, both included: the specification's random(x .. y).
    #[inline]
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        debug_assert!(low <= high);
        low.wrapping_add_unsigned(self.below(low.abs_diff(high) + 1))
    }

    /// Like [`Rng::between`], for 32-bit columns.
    #[inline]
    pub fn between32(&mut self, low: i32, high: i32) -> i32 {
        i32::try_from(self.between(i64::from(low), i64::from(high)))
            .expect("lies between two 32-bit numbers")
    }

    /// Returns true with a probability of `chance` percent.
    #[inline]
    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    /// A number from 0 (included) to 1 (excluded).
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit exactly")]
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number from a negative exponential distribution with this mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// NURand(A, x, y) with constant C (clause 2.1.6).
    #[inline]
    pub fn nurand(&mut self, a: i64, c: i64, x: i64, y: i64) -> i64 {
        (((self.between(0, a) | self.between(x, y)) + c) % (y - x + 1)) + x
    }

    /// Appends `length` random alphanumeric characters.
    pub fn alphanumeric(&mut self, length: usize, out: &mut Vec<u8>) {
        self.characters::<10>(length, ALPHANUMERIC, out);
    }

    /// Appends `length` random digits.
    pub fn digits(&mut self, length: usize, out: &mut Vec<u8>) {
        self.characters::<16>(length, b"0123456789", out);
    }

    /// Appends characters, several from each 64 bits: multiplying the remaining fraction by the
    /// size of the alphabet gives one character in the integer part and the rest of the randomness
    /// in the fraction. The last of ten characters sees 62^9 of 2^64, so no character is favoured
    /// by more than one part in a thousand. Generating rows spends nine tenths of its time here:
    /// the characters of a draw are assembled first, because pushing each one separately costs half
    /// as much again.
    fn characters<const PER_DRAW: usize>(
        &mut self,
        length: usize,
        alphabet: &[u8],
        out: &mut Vec<u8>,
    ) {
        let mut left = length;
        while left > 0 {
            let mut fraction = self.bits();
            let mut drawn = [0; PER_DRAW];
            for place in &mut drawn {
                let product = u128::from(fraction) * alphabet.len() as u128;
                #[expect(clippy::cast_possible_truncation, reason = "the low and the high half")]
                {
                    *place = alphabet[(product >> 64) as usize];
                    fraction = product as u64;
                }
            }
            let take = left.min(PER_DRAW);
            out.extend_from_slice(&drawn[..take]);
            left -= take;
        }
    }

    /// Shuffles in place, every order equally likely (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = usize::try_from(self.below(last as u64 + 1)).expect("below a usize");
            items.swap(last, other);
        }
    }
}

/// Spreads a number over 64 bits (the finaliser of splitmix64, Steele and others 2014).
const fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Picks exactly `wanted` out of `of` places, every set equally likely, one place after another
/// (selection sampling, Knuth, The Art of Computer Programming 3.4.2, algorithm S).
#[derive(Debug)]
pub struct Pick {
    wanted: u64,
    left: u64,
}

impl Pick {
    /// Creates a picker that returns true for `wanted` of the next `of` places.
    #[must_use]
    pub const fn new(wanted: u64, of: u64) -> Self {
        Self { wanted, left: of }
    }

    /// Returns whether the next place is picked.
    #[inline]
    pub fn next(&mut self, rng: &mut Rng) -> bool {
        debug_assert!(self.left > 0);
        let picked = rng.below(self.left) < self.wanted;
        self.left -= 1;
        self.wanted -= u64::from(picked);
        picked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_never_changes() {
        // Data must be the same whichever version builds it: these numbers may not change.
        let mut rng = Rng::of(42, &[1, 2, 3]);
        let mut text = Vec::new();
        rng.alphanumeric(12, &mut text);
        let found =
            (String::from_utf8(text).unwrap(), rng.between(1, 1000), rng.nurand(255, 7, 0, 999));
        assert_eq!(found, ("iepWVEDFoqqJ".to_owned(), 925, 774));
    }

    #[test]
    fn purposes_give_different_streams() {
        let first = |purpose: &[u64]| Rng::of(1, purpose).bits();
        let seen = [first(&[]), first(&[0]), first(&[0, 0]), first(&[1, 2]), first(&[2, 1])];
        for (i, a) in seen.iter().enumerate() {
            assert!(seen[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn no_weight_is_drawn_where_all_are_0() {
        let mut rng = Rng::of(1, &[]);
        assert_eq!(rng.weighted([0, 0].into_iter()), None);
        assert_eq!(rng.weighted([0, 3, 0].into_iter()), Some(1));
    }

    #[test]
    fn a_pick_is_exact() {
        let mut rng = Rng::of(1, &[]);
        let mut pick = Pick::new(300, 3000);
        assert_eq!((0..3000).filter(|_| pick.next(&mut rng)).count(), 300);
    }

    #[test]
    fn ranges_hold_both_ends_and_all_between() {
        let mut rng = Rng::of(5, &[]);
        let mut seen = [0u32; 6];
        for _ in 0..6000 {
            seen[usize::try_from(rng.between(5, 10) - 5).unwrap()] += 1;
        }
        assert!(seen.iter().all(|n| (850..1150).contains(n)), "{seen:?}");
    }
}

//! pgbench's distributions, hashes and permutation. Hashes and permutation give the same numbers as
//! pgbench's; the distributions are the same, drawn from our own generator.

use triphammer_core::random::Rng;

/// Smallest parameter of [`gaussian`].
pub const GAUSSIAN_MIN: f64 = 2.0;
/// Smallest parameter of [`Zipf`].
pub const ZIPF_MIN: f64 = 1.001;
/// Largest parameter of [`Zipf`].
pub const ZIPF_MAX: f64 = 1000.0;

/// Maps a number from 0 (included) to 1 (excluded) onto `low` to `high`.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "as pgbench does; the caller has checked that the size of the range is an i64"
)]
fn spread(low: i64, high: i64, unit: f64) -> i64 {
    let offset = ((high - low + 1) as f64 * unit) as i64;
    low + offset.min(high - low)
}

/// Draws from a truncated exponential distribution: the density at `high` is e^-`parameter` of that
/// at `low`.
pub fn exponential(rng: &mut Rng, low: i64, high: i64, parameter: f64) -> i64 {
    let cut = (-parameter).exp();
    let uniform = 1.0 - rng.unit();
    spread(low, high, -(cut + (1.0 - cut) * uniform).ln() / parameter)
}

/// Draws from a normal distribution around the middle, truncated at `parameter` standard deviations
/// on either side (Box and Muller 1958).
pub fn gaussian(rng: &mut Rng, low: i64, high: i64, parameter: f64) -> i64 {
    let deviation = loop {
        let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
        let deviation = radius * (std::f64::consts::TAU * rng.unit()).sin();
        if (-parameter..parameter).contains(&deviation) {
            break deviation;
        }
    };
    spread(low, high, (deviation + parameter) / (parameter * 2.0))
}

/// Draws from a bounded Zipf distribution, whose weights are 1 / k^`parameter`, by
/// rejection-inversion (Hörmann and Derflinger, Rejection-inversion to generate variates from
/// monotone discrete distributions, 1996): in constant time even where the parameter is near 1. Keeps
/// what depends only on the parameter and on the size of the range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Zipf {
    parameter: f64,
    size: i64,
    /// The integral of the weights up to 3/2, less the first weight.
    start: f64,
    /// The integral of the weights up to size + 1/2.
    end: f64,
    /// What is at most this far below its number is accepted without computing a weight.
    near: f64,
}

/// The integral of x^-`parameter` from 1 to `x`.
fn integral(parameter: f64, x: f64) -> f64 {
    let log = x.ln();
    let exponent = (1.0 - parameter) * log;
    // (e^y - 1) / y, which is 1 at 0.
    let factor = if exponent == 0.0 { 1.0 } else { exponent.exp_m1() / exponent };
    factor * log
}

/// The x up to which the integral is `area`.
fn inverse(parameter: f64, area: f64) -> f64 {
    let scaled = (area * (1.0 - parameter)).max(-1.0);
    // ln(1 + y) / y, which is 1 at 0.
    let factor = if scaled == 0.0 { 1.0 } else { scaled.ln_1p() / scaled };
    (factor * area).exp()
}

fn weight(parameter: f64, x: f64) -> f64 {
    (-parameter * x.ln()).exp()
}

impl Zipf {
    /// The distribution over the numbers 1 to `size`.
    #[expect(clippy::cast_precision_loss, reason = "the end of a large range")]
    pub fn new(parameter: f64, size: i64) -> Self {
        let second = inverse(parameter, integral(parameter, 2.5) - weight(parameter, 2.0));
        Self {
            parameter,
            size,
            start: integral(parameter, 1.5) - 1.0,
            end: integral(parameter, size as f64 + 0.5),
            near: 2.0 - second,
        }
    }

    /// Whether it is that of a parameter and a size.
    #[expect(clippy::float_cmp, reason = "the very same number")]
    pub fn is_of(&self, parameter: f64, size: i64) -> bool {
        self.parameter == parameter && self.size == size
    }

    /// Draws a number: 1 is the most frequent one.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "x is a positive number, which the range limits"
    )]
    pub fn draw(&self, rng: &mut Rng) -> i64 {
        loop {
            let area = self.end + rng.unit() * (self.start - self.end);
            let x = inverse(self.parameter, area);
            let number = ((x + 0.5) as i64).clamp(1, self.size);
            let k = number as f64;
            if k - x <= self.near
                || area >= integral(self.parameter, k + 0.5) - weight(self.parameter, k)
            {
                return number;
            }
        }
    }
}

/// The hash FNV-1a of the eight bytes of `value`, the lowest first (Fowler, Noll and Vo).
pub fn hash_fnv1a(value: i64, seed: i64) -> i64 {
    fnv1a(&value.to_le_bytes(), seed)
}

/// The hash FNV-1a of bytes.
pub fn fnv1a(bytes: &[u8], seed: i64) -> i64 {
    const BASIS: u64 = 0xCBF2_9CE4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01B3;
    let start = BASIS ^ seed.cast_unsigned();
    let hash = bytes.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME));
    hash.cast_signed()
}

/// The hash MurmurHash2 (64A) of the eight bytes of `value` (Appleby 2008).
pub fn hash_murmur2(value: i64, seed: i64) -> i64 {
    const MULTIPLIER: u64 = 0xC6A4_A793_5BD1_E995;
    const SHIFT: u32 = 47;
    let mut block = value.cast_unsigned().wrapping_mul(MULTIPLIER);
    block ^= block >> SHIFT;
    block = block.wrapping_mul(MULTIPLIER);
    let mut hash = seed.cast_unsigned() ^ MULTIPLIER.wrapping_mul(8);
    hash = (hash ^ block).wrapping_mul(MULTIPLIER);
    hash = (hash ^ (hash >> SHIFT)).wrapping_mul(MULTIPLIER);
    (hash ^ (hash >> SHIFT)).cast_signed()
}

/// The generator xoroshiro128** (Blackman and Vigna 2018), from which pgbench's permutation draws.
struct Xoroshiro(u64, u64);

impl Xoroshiro {
    fn new(mut seed: u64) -> Self {
        let mut next = || {
            seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = seed;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        };
        let first = next();
        Self(first, next())
    }

    fn bits(&mut self) -> u64 {
        let (a, b) = (self.0, self.1 ^ self.0);
        let value = a.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        self.0 = a.rotate_left(24) ^ b ^ (b << 16);
        self.1 = b.rotate_left(37);
        value
    }

    /// A number from 0 to `most`, by rejection of too many bits.
    fn up_to(&mut self, most: u64) -> u64 {
        if most == 0 {
            return 0;
        }
        loop {
            let value = self.bits() >> most.leading_zeros();
            if value <= most {
                return value;
            }
        }
    }
}

/// The place of `value` (taken modulo `size`) in a pseudorandom permutation of 0 to `size` - 1: six
/// rounds, each of which multiplies, flips and rotates the lower and the upper half of the range,
/// and adds an offset.
pub fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let mut rng = Xoroshiro::new(seed.cast_unsigned());
    let size = size.cast_unsigned();
    let mut v = value.cast_unsigned() % size;
    let bits = size.ilog2();
    let mask = (1u64 << bits) - 1;
    let shuffle = |v: u64, multiplier: u64, flip: u64| {
        let v = (v.wrapping_mul(multiplier) ^ flip) & mask;
        ((v << 1) & mask) | (v >> (bits - 1))
    };
    for _ in 0..6 {
        let (m, r) = ((rng.bits() & mask) | 1, rng.bits() & mask);
        if v <= mask {
            v = shuffle(v, m, r);
        }
        let (m, r) = ((rng.bits() & mask) | 1, rng.bits() & mask);
        let mirrored = size - 1 - v;
        if mirrored <= mask {
            v = size - 1 - shuffle(mirrored, m, r);
        }
        let offset = rng.up_to(size - 1);
        v = u64::try_from((u128::from(v) + u128::from(offset)) % u128::from(size))
            .expect("below a 64-bit size");
    }
    v.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares of the values 0 … in 100,000 draws.
    fn shares(count: usize, mut draw: impl FnMut(&mut Rng) -> i64) -> Vec<f64> {
        const DRAWS: u32 = 100_000;
        let mut rng = Rng::of(7, &[]);
        let mut seen = vec![0u32; count];
        for _ in 0..DRAWS {
            seen[usize::try_from(draw(&mut rng)).unwrap()] += 1;
        }
        seen.into_iter().map(|n| f64::from(n) / f64::from(DRAWS)).collect()
    }

    /// Five standard deviations of a share of 100,000 draws.
    fn is_near(share: f64, expected: f64) -> bool {
        (share - expected).abs() <= 5.0 * (expected * (1.0 - expected) / 100_000.0).sqrt()
    }

    #[test]
    fn hashes_are_those_of_pgbench() {
        assert_eq!(hash_murmur2(10, 5432), -5_817_877_081_768_721_676);
        assert_eq!(hash_fnv1a(10, 5432), -7_793_829_335_365_542_153);
    }

    #[test]
    fn permutations_are_those_of_pgbench() {
        let size = i64::MAX - 10;
        let expected = [
            520_382_784_483_822_430,
            1_143_715_004_660_802_862,
            447_293_596_416_496_998,
            916_527_772_266_572_956,
            2_763_809_008_686_028_849,
            8_648_551_549_198_294_572,
            4_542_876_852_200_565_125,
        ];
        for (back, expected) in (1..).zip(expected) {
            assert_eq!(permute(size - back, size, 5432), expected);
        }
        assert_eq!([permute(0, 2, 5431), permute(1, 2, 5431)], [0, 1]);
        assert_eq!([permute(0, 2, 5433), permute(1, 2, 5433)], [1, 0]);
    }

    #[test]
    fn a_permutation_has_every_number_once() {
        for size in [1, 2, 3, 4, 5, 16, 1000] {
            let mut seen: Vec<i64> = (0..size).map(|v| permute(v, size, 99)).collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..size));
        }
        assert_eq!(permute(1007, 1000, 3), permute(7, 1000, 3));
    }

    #[test]
    fn exponential_draws_have_the_documented_shares() {
        // f(k) = (e^(-p k/n) - e^(-p (k+1)/n)) / (1 - e^-p)
        let seen = shares(10, |rng| exponential(rng, 0, 9, 4.0));
        for (k, share) in (0..).map(f64::from).zip(seen) {
            let at = |k: f64| (-4.0 * k / 10.0).exp();
            assert!(is_near(share, (at(k) - at(k + 1.0)) / (1.0 - at(10.0))), "{k}: {share}");
        }
    }

    #[test]
    fn gaussian_draws_have_the_documented_shares() {
        // Shares of ten equal parts of -2.5 to 2.5 standard deviations, from a table of the normal
        // distribution, divided by what lies between those limits.
        let seen = shares(10, |rng| gaussian(rng, 0, 9, 2.5));
        let half = [0.191_462, 0.149_882, 0.091_848, 0.044_057, 0.016_540].map(|p| p / 0.987_581);
        let expected = half.iter().rev().chain(&half);
        for (share, expected) in seen.iter().zip(expected) {
            assert!(is_near(*share, *expected), "{share} {expected}");
        }
    }

    #[test]
    fn zipfian_draws_have_the_documented_shares() {
        for parameter in [ZIPF_MIN, 1.07, 1.5, 2.5] {
            let zipf = Zipf::new(parameter, 10);
            let seen = shares(10, |rng| zipf.draw(rng) - 1);
            let weight = |k: f64| k.powf(-parameter);
            let all: f64 = (1..=10).map(f64::from).map(weight).sum();
            for (k, share) in (1..).map(f64::from).zip(seen) {
                assert!(is_near(share, weight(k) / all), "{parameter} {k}: {share}");
            }
        }
        let mut rng = Rng::of(1, &[]);
        assert_eq!(Zipf::new(1.1, 1).draw(&mut rng), 1);
        let steep = Zipf::new(ZIPF_MAX, i64::MAX);
        assert!((0..1000).all(|_| steep.draw(&mut rng) == 1));
    }

    #[test]
    fn draws_stay_in_the_largest_range() {
        let (low, high) = (0, i64::MAX - 1);
        let mut rng = Rng::of(3, &[]);
        for _ in 0..1000 {
            let zipf = Zipf::new(ZIPF_MIN, high).draw(&mut rng);
            let bell = gaussian(&mut rng, low, high, GAUSSIAN_MIN);
            let steep = exponential(&mut rng, low, high, 1e-9);
            for value in [zipf, bell, steep] {
                assert!((low..=high).contains(&value));
            }
        }
    }
}

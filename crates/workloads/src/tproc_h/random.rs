//! `dbgen`'s random numbers. They are those of the `tpchgen` crate, which computes each remainder by a division, and
//! moves each stream to its next row by a loop over several: that takes most of the time in which it generates lines.

use tpchgen::distribution::Distribution;

const MULTIPLIER: u64 = 16_807;
const MODULUS: u64 = (1 << 31) - 1;

/// The product of two numbers below 2^31, modulo 2^31 - 1.
const fn product(a: u64, b: u64) -> u64 {
    // 2^31 is 1 modulo 2^31 - 1, so the upper bits count like the lower ones.
    let product = a * b;
    let sum = (product & MODULUS) + (product >> 31);
    if sum >= MODULUS { sum - MODULUS } else { sum }
}

/// The multiplier of so many numbers at once.
const fn power(mut count: u64) -> u64 {
    let (mut power, mut factor) = (1, MULTIPLIER);
    while count > 0 {
        if count % 2 == 1 {
            power = product(power, factor);
        }
        factor = product(factor, factor);
        count /= 2;
    }
    power
}

/// A sequence of random numbers.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed below 2^31 - 1.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `count`, which is at most 2^31.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "as dbgen computes it, from numbers below 2^31"
    )]
    pub fn below(&mut self, count: u64) -> u64 {
        self.0 = product(self.0, MULTIPLIER);
        (self.0 as f64 / MODULUS as f64 * count as f64) as u64
    }
}

/// A stream of random numbers, of which each row has its own.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// The next number of the row.
    now: Random,
    /// The start of the row.
    row: u64,
    /// From the start of a row to that of the next one.
    step: u64,
}

impl Stream {
    /// The stream of a seed with so many numbers per row, at row `row`, from 0.
    pub const fn new(seed: u64, per_row: u64, row: u64) -> Self {
        let row = product(seed, power(per_row * row));
        Self { now: Random(row), row, step: power(per_row) }
    }

    /// A number from `low` to `high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.now.below((high - low + 1).unsigned_abs()).cast_signed()
    }

    /// Skips what the row has left.
    pub fn next_row(&mut self) {
        self.row = product(self.row, self.step);
        self.now = Random(self.row);
    }

    /// A value of a distribution.
    pub fn choose<T: Copy>(&mut self, among: &Choice<T>) -> T {
        among.draw(&mut self.now)
    }
}

/// Every value of a distribution as often as its weight says.
#[derive(Debug)]
pub struct Choice<T>(Vec<T>);

impl<T: Copy> Choice<T> {
    /// `value` creates the values from the words of the distribution.
    pub fn new(known: &'static Distribution, mut value: impl FnMut(&'static str) -> T) -> Self {
        let mut values = Vec::new();
        for (place, word) in known.get_values().iter().enumerate() {
            let upto = usize::try_from(known.get_weight(place)).expect("weights are positive");
            values.resize(upto, value(word));
        }
        Self(values)
    }

    /// A value, each as often as its weight says.
    pub fn draw(&self, random: &mut Random) -> T {
        let place = random.below(self.0.len() as u64);
        self.0[usize::try_from(place).expect("below the length")]
    }
}

#[cfg(test)]
mod tests {
    use tpchgen::random::RowRandomInt;

    use super::*;

    #[test]
    fn numbers_are_those_of_the_generator() {
        let mut theirs = RowRandomInt::new(209_208_115, 7);
        theirs.advance_rows(12_345);
        let mut ours = Stream::new(209_208_115, 7, 12_345);
        for row in 0..10_000 {
            for number in 0..row % 8 {
                let high = if number == 3 { i32::MAX - 1 } else { 50 * (number + 1) };
                assert_eq!(ours.between(1, high.into()), i64::from(theirs.next_int(1, high)));
            }
            theirs.row_finished();
            ours.next_row();
        }
    }
}

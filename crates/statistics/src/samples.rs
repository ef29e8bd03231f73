//! A figure that was measured once per interval, over many intervals: packed into few bytes, and
//! summarised. A run of hours has millions of such values, and a page asks for all of them.
//!
//! A pack contains integers: the difference of each from the minimum, in as few bytes as the largest
//! needs. Neighbours differ little, so two to three bytes suffice, and constants need none. The
//! smallest number is stored as 1, because 0 means "not measured".

use std::ops::Range;

use crate::numbers::{float, signed};

/// Maximum number of bytes per value.
pub const WIDTH_MAX: usize = 8;

/// Packed integers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// Number of intervals.
    pub count: usize,
    /// The smallest integer.
    pub base: i64,
    /// Bytes per interval, at most [`WIDTH_MAX`]; 0 if all integers are `base`.
    pub width: usize,
    /// For each interval 1 + (integer - `base`), the most significant byte first, or 0.
    pub data: Vec<u8>,
}

impl Packed {
    /// Packs integers, each `None` if it was not measured; returns `None` if none of them was. The
    /// difference of any two must be less than 2⁶⁴ - 1.
    #[must_use]
    pub fn of(numbers: &[Option<i64>]) -> Option<Self> {
        let some = || numbers.iter().flatten().copied();
        let (base, most) = (some().min()?, some().max()?);
        let is_constant = base == most && numbers.iter().all(Option::is_some);
        let above = |number: i64| number.abs_diff(base) + 1;
        let width =
            if is_constant { 0 } else { WIDTH_MAX - above(most).leading_zeros() as usize / 8 };
        let mut data = Vec::with_capacity(numbers.len() * width);
        for number in numbers {
            data.extend(&number.map_or(0, above).to_be_bytes()[WIDTH_MAX - width..]);
        }
        Some(Self { count: numbers.len(), base, width, data })
    }

    /// Returns the integers divided by `scale`, in order; `None` where nothing was measured. Intervals
    /// that `data` lacks were not measured, either.
    #[must_use]
    pub fn values(&self, scale: u32) -> Vec<Option<f64>> {
        let scale = f64::from(scale);
        if self.width == 0 {
            return vec![Some(signed(self.base) / scale); self.count];
        }
        let value = |stored: u64| {
            let number = self.base.wrapping_add_unsigned(stored.checked_sub(1)?);
            Some(signed(number) / scale)
        };
        let mut values: Vec<_> = self.stored(0..self.count).map(value).collect();
        values.resize(self.count, None);
        values
    }

    /// The stored numbers of some intervals, in order; those that `data` lacks are left out.
    fn stored(&self, intervals: Range<usize>) -> impl Iterator<Item = u64> {
        let numbers = self.data.chunks_exact(self.width);
        numbers
            .take(self.count.min(intervals.end))
            .skip(intervals.start)
            .map(|bytes| bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)))
    }
}

/// The measured integers of any number of packs, added up exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Total {
    count: u64,
    sum: i128,
    max: Option<i64>,
}

impl Total {
    /// Adds the integers of some intervals of a pack; intervals beyond its end are ignored.
    pub fn add(&mut self, of: &Packed, intervals: Range<usize>) {
        let (mut count, mut above, mut most) = (0, 0_u128, 0);
        if of.width == 0 {
            count = intervals.end.min(of.count).saturating_sub(intervals.start) as u64;
            (above, most) = (count.into(), u64::from(count > 0));
        } else {
            for stored in of.stored(intervals) {
                count += u64::from(stored > 0);
                above += u128::from(stored);
                most = most.max(stored);
            }
        }
        if count > 0 {
            let above = above.cast_signed() - i128::from(count);
            self.count += count;
            self.sum += above + i128::from(of.base) * i128::from(count);
            self.max = self.max.max(Some(of.base.wrapping_add_unsigned(most - 1)));
        }
    }

    /// Returns what was measured, divided by `scale`; `None` if nothing was.
    #[must_use]
    pub fn summary(&self, scale: u32) -> Option<Summary> {
        let max = signed(self.max?) / f64::from(scale);
        #[expect(clippy::cast_precision_loss, reason = "a mean needs no more digits")]
        let mean = self.sum as f64 / (float(self.count) * f64::from(scale));
        Some(Summary { count: self.count, mean, max })
    }
}

/// The measured values of a figure in brief.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of measured values.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The highest of them.
    pub max: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_whatever_their_range_and_gaps() {
        const FAR: i64 = 2_000_000_000_000_000_000;
        let cases: [(&[Option<i64>], usize); 7] = [
            (&[Some(7); 5], 0),
            (&[Some(7), None, Some(7)], 1),
            (&[Some(-3), Some(251)], 1),
            (&[Some(-3), Some(252)], 2),
            (&[Some(0), Some(65_534)], 2),
            (&[Some(5_000_000_000), None, Some(5_000_070_000)], 3),
            (&[Some(FAR), None, Some(-FAR)], 8),
        ];
        for (numbers, width) in cases {
            let packed = Packed::of(numbers).unwrap();
            assert_eq!((packed.width, packed.count), (width, numbers.len()), "{numbers:?}");
            let tenths: Vec<_> = numbers.iter().map(|n| n.map(|n| signed(n) / 10.0)).collect();
            assert_eq!(packed.values(10), tenths);
        }
        assert_eq!(Packed::of(&[None, None]), None);
        assert_eq!(Packed::of(&[]), None);
    }

    #[test]
    fn intervals_without_data_were_not_measured() {
        let packed = Packed { count: 3, base: 5, width: 2, data: vec![0, 1, 0, 3, 9] };
        assert_eq!(packed.values(1), [Some(5.0), Some(7.0), None]);
        let longer = Packed { count: 1, ..packed };
        assert_eq!(longer.values(1), [Some(5.0)]);
    }

    #[test]
    fn packs_are_added_up_exactly_and_without_what_was_not_measured() {
        let packs = [
            Packed::of(&[Some(30), None, Some(-10), Some(45)]).unwrap(),
            Packed::of(&[Some(20); 4]).unwrap(),
            Packed::of(&[Some(i64::MAX / 8), Some(-i64::MAX / 8), None, Some(5)]).unwrap(),
        ];
        let mut all = Total::default();
        packs.iter().for_each(|pack| all.add(pack, 0..4));
        let max = signed(i64::MAX / 8) / 10.0;
        assert_eq!(all.summary(10), Some(Summary { count: 10, mean: 1.5, max }));
        let of = |pack: usize, intervals: Range<usize>| {
            let mut total = Total::default();
            total.add(&packs[pack], intervals);
            total.summary(10)
        };
        assert_eq!(of(0, 0..2), Some(Summary { count: 1, mean: 3.0, max: 3.0 }));
        assert_eq!(of(0, 2..9), Some(Summary { count: 2, mean: 1.75, max: 4.5 }));
        assert_eq!(of(1, 3..9), Some(Summary { count: 1, mean: 2.0, max: 2.0 }));
        let backwards = Range { start: 3, end: 1 };
        let nothing = [of(0, 1..2), of(0, 4..9), of(1, 2..2), of(1, 9..12), of(2, backwards)];
        assert_eq!(nothing, [None; 5]);
    }
}

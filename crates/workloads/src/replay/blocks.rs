//! Blocks of values: a client may compute keys from the values of a sequence whose increment is larger than one, as
//! Hibernate's pooled optimizers do. The sequence says where a block ends (`pooled`: 51 for the rows 1 to 50) or where
//! it starts (`pooled-lo`: 51 for the rows 51 to 100).
//!
//! Neither is written in a recording. The increment is the distance of the sequence's values; and a block that ends
//! with a value is used after that value was made, one that starts with it before the next one was.

use std::collections::BTreeMap;

/// Smallest number of values of a sequence that show its increment.
const VALUES_MIN: usize = 3;
/// Largest increment that is taken for the length of a block.
const INCREMENT_MAX: i64 = 10_000;
/// Most of the uses of a block that may come before its value was made.
const EARLY_SHARE: f64 = 0.1;

/// How a client numbers rows from the values of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    increment: i64,
    /// Whether a block ends with its value, instead of starting with it.
    ends: bool,
}

impl Block {
    /// What a client adds to a value of the sequence.
    pub fn offsets(self) -> impl Iterator<Item = i64> {
        let sign = if self.ends { -1 } else { 1 };
        (1..self.increment).map(move |offset| sign * offset)
    }
}

/// The values of a sequence, with the places of their makings in the timeline.
#[derive(Debug, Default)]
pub struct Sequence {
    made: BTreeMap<i64, usize>,
}

/// How the values of an inserted column lie beside those of a sequence.
#[derive(Debug, Default)]
pub struct BlockUses {
    /// Uses of values in blocks that end and that start with a value: those after it was made, and those before.
    ends: [usize; 2],
    starts: [usize; 2],
    /// Values in no block: the column has other numbers.
    outside: usize,
}

impl Sequence {
    /// Adds a value that the sequence made.
    pub fn add(&mut self, value: i64, order: usize) {
        self.made.entry(value).or_insert(order);
    }

    /// The distance of the values, if they are evenly spaced and not next to each other.
    pub fn increment(&self) -> Option<i64> {
        if self.made.len() < VALUES_MIN {
            return None;
        }
        let (mut values, mut increment) = (self.made.keys(), None::<i64>);
        let mut last = *values.next()?;
        let mut distances = Vec::with_capacity(self.made.len());
        for value in values {
            let distance = value.checked_sub(last)?;
            increment = Some(increment.map_or(distance, |known| known.min(distance)));
            distances.push(distance);
            last = *value;
        }
        let increment = increment.filter(|of| (2..=INCREMENT_MAX).contains(of))?;
        distances.iter().all(|distance| distance % increment == 0).then_some(increment)
    }

    /// Notes that an inserted row had a value in a column, at this place in the timeline.
    pub fn used(&self, value: i64, increment: i64, order: usize, uses: &mut BlockUses) {
        if self.made.contains_key(&value) {
            return;
        }
        let count = |uses: &mut [usize; 2], found: Option<(&i64, &usize)>| {
            let near = found.filter(|(of, _)| of.abs_diff(value) < increment.unsigned_abs());
            if let Some((_, made)) = near {
                uses[usize::from(*made >= order)] += 1;
            }
            near.is_some()
        };
        let ends = count(&mut uses.ends, self.made.range(value..).next());
        let starts = count(&mut uses.starts, self.made.range(..value).next_back());
        uses.outside += usize::from(!ends && !starts);
    }
}

impl BlockUses {
    /// How many values are in blocks, if nearly all are.
    fn inside(&self) -> Option<usize> {
        let inside = self.ends.iter().sum::<usize>().max(self.starts.iter().sum());
        (inside > 0 && is_few(self.outside, inside)).then_some(inside)
    }

    /// Whether a block ends with its value; `None` if it neither ends nor starts with it.
    fn ends(&self) -> Option<bool> {
        let fits = |[late, early]: [usize; 2]| late > 0 && is_few(early, late);
        // Of blocks that end with their values, those that start with them were made long before.
        [(self.ends, true), (self.starts, false)]
            .into_iter()
            .find(|(uses, _)| fits(*uses))
            .map(|of| of.1)
    }
}

/// Whether the first of two numbers is at most the tolerated share of both.
fn is_few(few: usize, others: usize) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "numbers of rows")]
    let share = few as f64 / (few + others) as f64;
    share <= EARLY_SHARE
}

/// How rows were numbered from a sequence with this increment, by the columns that have numbers of its blocks: by the one
/// with the most. `None` if they do not show it.
pub fn block<'a>(
    increment: i64,
    columns: impl IntoIterator<Item = &'a BlockUses>,
) -> Option<Block> {
    let fits = columns.into_iter().filter_map(|of| Some((of.inside()?, of.ends()?)));
    let (_, ends) = fits.max_by_key(|(inside, _)| *inside)?;
    Some(Block { increment, ends })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sequence with these values at these places, and rows with values at theirs.
    fn block_of(made: &[(i64, usize)], columns: &[&[(i64, usize)]]) -> Option<Block> {
        let mut sequence = Sequence::default();
        made.iter().for_each(|(value, order)| sequence.add(*value, *order));
        let increment = sequence.increment()?;
        let uses = columns.iter().map(|used| {
            let mut uses = BlockUses::default();
            used.iter()
                .for_each(|(value, order)| sequence.used(*value, increment, *order, &mut uses));
            uses
        });
        block(increment, &uses.collect::<Vec<_>>())
    }

    #[test]
    fn a_block_ends_or_starts_with_its_value() {
        // 51 is made before 1 to 50 are used, and 101 before 51 to 100.
        let made = [(1, 0), (51, 1), (101, 60), (151, 120)];
        let used = [(2, 2), (50, 50), (52, 61), (100, 110), (102, 121)];
        let ends = block_of(&made, &[&used]).unwrap();
        assert_eq!((ends.increment, ends.ends), (50, true));
        assert_eq!(ends.offsets().collect::<Vec<_>>(), (1..50).map(|of| -of).collect::<Vec<_>>());
        // 51 is made when 1 to 50 are used up.
        let made = [(1, 0), (51, 60), (101, 120)];
        let used = [(2, 1), (50, 50), (52, 61), (100, 110), (102, 121)];
        let starts = block_of(&made, &[&used]).unwrap();
        assert_eq!((starts.increment, starts.ends), (50, false));
        assert_eq!(starts.offsets().next(), Some(1));
    }

    #[test]
    fn a_column_with_other_numbers_does_not_say_how_rows_are_numbered() {
        let made = [(1, 0), (51, 60), (101, 120)];
        let used = [(2, 1), (50, 50), (52, 61), (100, 110), (102, 121)];
        // Of a table that is filled faster: its numbers meet the blocks late, and soon are beyond.
        let faster: Vec<(i64, usize)> = (2..900).map(|of| (of, 130)).collect();
        assert!(!block_of(&made, &[&used, &faster]).unwrap().ends);
    }

    #[test]
    fn a_sequence_whose_values_are_the_rows_has_no_blocks() {
        let block_of = |made, used| block_of(made, &[used]);
        assert_eq!(block_of(&[(1, 0), (2, 1), (3, 2)], &[(2, 3)]), None);
        assert_eq!(block_of(&[(1, 0), (51, 1)], &[(2, 3)]), None, "too few");
        assert_eq!(block_of(&[(10, 0), (20, 1), (35, 2)], &[(12, 3)]), None, "uneven");
        assert_eq!(
            block_of(&[(1, 0), (51, 1), (101, 2)], &[(1, 3), (900, 4)]),
            None,
            "no row in a block"
        );
        assert_eq!(block_of(&[(i64::MIN, 0), (0, 1), (i64::MAX, 2)], &[]), None);
    }
}

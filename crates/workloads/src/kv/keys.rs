//! Which key an operation takes.

use std::fmt;

use triphammer_core::SpecError;
use triphammer_core::random::Rng;

use crate::script::random::{Zipf, hash_fnv1a};

/// Exponent of YCSB's Zipf distributions.
const YCSB_THETA: f64 = 0.99;
/// Number of ranks that a scrambled Zipf distribution draws from, whatever the number of rows: that
/// of YCSB.
const RANKS: i64 = 10_000_000_000;

/// How keys are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyChoice {
    /// Every loaded key is equally likely.
    Uniform,
    /// YCSB's scrambled Zipf distribution with this exponent: few keys are frequent, and they are
    /// spread over the table.
    Zipf(f64),
    /// The newest rows are the most frequent ones, by a Zipf distribution.
    Latest,
    /// The first `keys` % of the loaded keys get `operations` % of the operations.
    Hot {
        /// Share of the keys that are hot, in percent.
        keys: u8,
        /// Share of the operations that take a hot key, in percent.
        operations: u8,
    },
}

impl KeyChoice {
    /// Scrambled Zipf with the exponent of YCSB.
    pub const ZIPF: Self = Self::Zipf(YCSB_THETA);

    /// Reads `uniform`, `zipf`, `zipf:0.8`, `latest` or `hot:20/80`.
    ///
    /// # Errors
    /// With what is wrong and what would be right.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let (name, value) = text.trim().split_once(':').unwrap_or((text.trim(), ""));
        let found = match (name, value) {
            ("uniform", "") => Some(Self::Uniform),
            ("zipf", "") => Some(Self::ZIPF),
            ("zipf", theta) => {
                let theta = theta.parse().ok().filter(|theta| (0.01..=10.0).contains(theta));
                theta.map(Self::Zipf)
            }
            ("latest", "") => Some(Self::Latest),
            ("hot", shares) => hot(shares),
            _ => None,
        };
        found.ok_or_else(|| {
            let message = format!(
                "unknown choice of keys `{text}`: expected uniform, zipf, zipf:THETA with THETA \
                 from 0.01 to 10, latest, or hot:KEYS/OPERATIONS in percent, such as hot:20/80"
            );
            SpecError::new(message).about("keys")
        })
    }
}

fn hot(shares: &str) -> Option<KeyChoice> {
    let (keys, operations) = shares.split_once('/')?;
    let percent = |text: &str| text.trim().parse().ok().filter(|share| (1..=99).contains(share));
    Some(KeyChoice::Hot { keys: percent(keys)?, operations: percent(operations)? })
}

/// The key of a row. It is independent of what the database holds, so that the same seed gives the
/// same work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A loaded key, from 1.
    Loaded(i64),
    /// This many keys after the last one at the start of the run; 0 and less count back from it.
    AfterLast(i64),
}

impl Key {
    /// The key in a table whose last key was `last` at the start of the run.
    #[must_use]
    pub fn resolve(self, last: i64) -> i64 {
        match self {
            Self::Loaded(id) => id,
            Self::AfterLast(distance) => last.saturating_add(distance).max(1),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loaded(id) => write!(f, "{id}"),
            Self::AfterLast(distance) => write!(f, "last {distance:+}"),
        }
    }
}

/// Draws keys of a table.
#[derive(Clone, Debug)]
pub struct KeyChooser {
    chooser: Chooser,
    rows: i64,
}

#[derive(Clone, Debug)]
enum Chooser {
    Uniform,
    Zipf(Zipf),
    Latest(Zipf),
    Hot { keys: i64, percent: u64 },
}

impl KeyChooser {
    /// Chooses from keys 1 to `rows`.
    #[must_use]
    pub fn new(choice: KeyChoice, rows: i64) -> Self {
        let chooser = match choice {
            KeyChoice::Uniform => Chooser::Uniform,
            KeyChoice::Zipf(theta) => Chooser::Zipf(Zipf::new(theta, RANKS)),
            KeyChoice::Latest => Chooser::Latest(Zipf::new(YCSB_THETA, rows)),
            KeyChoice::Hot { keys, operations } => {
                let keys = (i128::from(rows) * i128::from(keys) / 100).max(1);
                let keys = i64::try_from(keys).expect("a share of the rows");
                Chooser::Hot { keys, percent: operations.into() }
            }
        };
        Self { chooser, rows }
    }

    /// Draws a key; `newest` is the newest row's, as far as the user knows.
    #[inline]
    pub fn draw(&self, newest: i64, rng: &mut Rng) -> Key {
        match &self.chooser {
            Chooser::Uniform => Key::Loaded(rng.between(1, self.rows)),
            Chooser::Zipf(ranks) => Key::Loaded(self.scramble(ranks.draw(rng) - 1)),
            Chooser::Latest(ages) => Key::AfterLast(newest - (ages.draw(rng) - 1)),
            Chooser::Hot { keys, percent } => {
                let is_hot = *keys == self.rows || rng.percent(*percent);
                let (first, last) = if is_hot { (1, *keys) } else { (keys + 1, self.rows) };
                Key::Loaded(rng.between(first, last))
            }
        }
    }

    /// The key of a rank: YCSB hashes it, so that frequent keys do not lie side by side.
    fn scramble(&self, rank: i64) -> i64 {
        let rows = self.rows.unsigned_abs();
        let place = hash_fnv1a(rank, 0).unsigned_abs() % rows;
        i64::try_from(place).expect("below the number of rows") + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chi-square of `draws` draws into bins with these probabilities.
    fn chi_square(draws: u32, chances: &[f64], mut draw: impl FnMut() -> usize) -> f64 {
        let mut seen = vec![0u32; chances.len()];
        for _ in 0..draws {
            seen[draw()] += 1;
        }
        let term = |(seen, chance): (&u32, &f64)| {
            let expected = f64::from(draws) * chance;
            (f64::from(*seen) - expected).powi(2) / expected
        };
        seen.iter().zip(chances).map(term).sum()
    }

    /// The 99.9 % quantile of the chi-square distribution (Wilson and Hilferty 1931).
    fn limit(bins: usize) -> f64 {
        let degrees = f64::from(u32::try_from(bins - 1).unwrap());
        let spread = 2.0 / (9.0 * degrees);
        degrees * (1.0 - spread + 3.09 * spread.sqrt()).powi(3)
    }

    fn fits(
        choice: KeyChoice,
        rows: i64,
        newest: i64,
        chances: &[f64],
        bin: impl Fn(i64) -> usize,
    ) {
        let chooser = KeyChooser::new(choice, rows);
        let mut rng = Rng::of(7, &[]);
        let draw = || bin(chooser.draw(newest, &mut rng).resolve(rows));
        let found = chi_square(200_000, chances, draw);
        assert!(found < limit(chances.len()), "{choice:?}: {found} of {}", limit(chances.len()));
    }

    fn index(number: i64) -> usize {
        usize::try_from(number).unwrap()
    }

    #[test]
    fn uniform_keys_are_equally_likely() {
        fits(KeyChoice::Uniform, 50, 0, &[0.02; 50], |key| index(key - 1));
    }

    #[test]
    fn hot_keys_get_their_share() {
        let choice = KeyChoice::Hot { keys: 20, operations: 80 };
        let chances: Vec<_> = (0..50).map(|key| if key < 10 { 0.08 } else { 0.005 }).collect();
        fits(choice, 50, 0, &chances, |key| index(key - 1));
    }

    #[test]
    fn the_newest_rows_are_the_most_frequent() {
        let weights: Vec<f64> = (1..=100).map(|age| f64::from(age).powf(-0.99)).collect();
        let all: f64 = weights.iter().sum();
        let chances: Vec<_> = weights.iter().map(|weight| weight / all).collect();
        // The user knows of five new rows.
        fits(KeyChoice::Latest, 100, 5, &chances, |key| index(105 - key));
    }

    /// Probability of rank `rank` of YCSB's distribution, whose normalisation is published in its
    /// source: Σ 1/k^0.99 for k up to 10^10.
    fn chance(rank: i32) -> f64 {
        f64::from(rank).powf(-0.99) / 26.469_028_201_783_02
    }

    #[test]
    fn zipf_keys_are_those_of_ycsb() {
        let rows = 1_000_000;
        let chooser = KeyChooser::new(KeyChoice::ZIPF, rows);
        let frequent: Vec<i64> = (0..20).map(|rank| chooser.scramble(rank)).collect();
        // The key of YCSB's first record is user6284781860667377211: the hash of 0.
        assert_eq!(frequent[0], 377_211 + 1);
        let mut chances: Vec<f64> = (1..=20).map(chance).collect();
        // All other ranks fall on any key.
        let rest = 1.0 - chances.iter().sum::<f64>();
        for chance in &mut chances {
            *chance += rest / 1e6;
        }
        chances.push(1.0 - chances.iter().sum::<f64>());
        let place = |key| frequent.iter().position(|frequent| *frequent == key).unwrap_or(20);
        fits(KeyChoice::ZIPF, rows, 0, &chances, place);
    }

    #[test]
    fn frequent_keys_are_spread_over_the_table() {
        let chooser = KeyChooser::new(KeyChoice::ZIPF, 1_000);
        let mut tenths = [0; 10];
        for rank in 0..10_000 {
            tenths[index((chooser.scramble(rank) - 1) / 100)] += 1;
        }
        assert!(tenths.iter().all(|count| (850..1150).contains(count)), "{tenths:?}");
    }

    #[test]
    fn a_choice_reads_its_text() {
        for (text, choice) in [
            ("uniform", Some(KeyChoice::Uniform)),
            ("zipf", Some(KeyChoice::ZIPF)),
            (" zipf:1.2", Some(KeyChoice::Zipf(1.2))),
            ("latest", Some(KeyChoice::Latest)),
            ("hot:1/99", Some(KeyChoice::Hot { keys: 1, operations: 99 })),
            ("hot:0/99", None),
            ("hot:20", None),
            ("zipf:0", None),
            ("zipf:NaN", None),
            ("latest:1", None),
            ("", None),
        ] {
            assert_eq!(KeyChoice::parse(text).ok(), choice, "{text}");
        }
    }
}

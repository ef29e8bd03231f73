//! Generators: how the value of a parameter is drawn. Everything that does not change is computed when the file is
//! read, so that a draw allocates nothing once the text of its slot is long enough.

use std::fmt::Write as _;
use std::sync::OnceLock;

use triphammer_core::random::Rng;
use triphammer_core::value::{ColumnType, Date, Timestamp};

use super::by_dialect::ByDialect;
use super::datum::Datum;
use super::json::Template;
use crate::script::random::Zipf;

/// Draws from a normal distribution outside its range, after which the nearest end is taken.
const DRAWS_MAX: u32 = 100;

/// A distribution over a range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Each value is equally likely.
    Uniform,
    /// The first value is the most frequent one, the k-th has a weight of 1 / k^exponent.
    Zipf(Zipf),
    /// Normal, truncated at the ends of the range.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        deviation: f64,
    },
}

/// Integers of a range, both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Integers {
    /// The smallest.
    pub low: i64,
    /// The largest.
    pub high: i64,
    /// How they are distributed.
    pub shape: Shape,
}

/// A query that runs once before a run.
#[derive(Clone, Debug, PartialEq)]
pub struct StartQuery {
    /// Its SQL.
    pub sql: ByDialect<String>,
    /// Where it is: `file:line:column`.
    pub place: String,
}

/// Values to choose from.
#[derive(Debug)]
pub struct List {
    /// The query that returns them; `None` where the file has them.
    pub query: Option<StartQuery>,
    /// The exponent if they are chosen by Zipf's law.
    pub exponent: Option<f64>,
    loaded: OnceLock<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    values: Box<[Datum]>,
    zipf: Option<Zipf>,
}

/// How a value is drawn.
#[derive(Debug)]
pub enum Generator {
    /// An integer.
    Integer(Integers),
    /// A number.
    Float {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
        /// How they are distributed; never by Zipf's law.
        shape: Shape,
    },
    /// An exact decimal with this many digits after the point.
    Decimal(Integers, u8),
    /// Consecutive numbers, which no two users share.
    Sequence {
        /// The first number, or how far it is from the result of `after`.
        start: i64,
        /// Distance of two numbers.
        step: i64,
        /// A query with the last number that is in use.
        after: Option<StartQuery>,
        /// The result of `after`.
        loaded: OnceLock<i64>,
    },
    /// One of many values.
    List(List),
    /// Characters of an alphabet.
    Text {
        /// Shortest length, in characters.
        shortest: u64,
        /// Longest length, in characters.
        longest: u64,
        /// The characters.
        alphabet: Box<[char]>,
    },
    /// A random UUID (version 4) as text.
    Uuid,
    /// A date: days since 1970-01-01.
    Date(Integers),
    /// A date and time: seconds since 1970-01-01 00:00:00.
    Timestamp(Integers),
    /// JSON with other parameters in it.
    Json(Template),
}

impl Integers {
    /// Draws one.
    #[inline]
    pub fn draw(&self, rng: &mut Rng) -> i64 {
        match self.shape {
            Shape::Uniform => rng.between(self.low, self.high),
            Shape::Zipf(zipf) => self.low + (zipf.draw(rng) - 1),
            Shape::Normal { mean, deviation } => self.normal(rng, mean, deviation),
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "within a range of integers"
    )]
    fn normal(&self, rng: &mut Rng, mean: f64, deviation: f64) -> i64 {
        let drawn = normal(rng, mean, deviation, self.low as f64 - 0.5, self.high as f64 + 0.5);
        (drawn.round() as i64).clamp(self.low, self.high)
    }

    /// The largest magnitude.
    pub fn most(&self) -> u64 {
        self.low.unsigned_abs().max(self.high.unsigned_abs())
    }
}

/// Draws from a normal distribution (Box and Muller 1958) between two ends.
fn normal(rng: &mut Rng, mean: f64, deviation: f64, low: f64, high: f64) -> f64 {
    let mut drawn = mean;
    for _ in 0..DRAWS_MAX {
        let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
        drawn = mean + deviation * radius * (std::f64::consts::TAU * rng.unit()).cos();
        if (low..high).contains(&drawn) {
            return drawn;
        }
    }
    drawn.clamp(low, high)
}

impl List {
    /// Values that are known already.
    pub fn of(values: Vec<Datum>, exponent: Option<f64>) -> Self {
        let list = Self { query: None, exponent, loaded: OnceLock::new() };
        list.load(values);
        list
    }

    /// Values that a query returns at the start of a run.
    pub const fn from(query: StartQuery, exponent: Option<f64>) -> Self {
        Self { query: Some(query), exponent, loaded: OnceLock::new() }
    }

    /// Sets the values; those of the first call stay.
    pub fn load(&self, values: Vec<Datum>) {
        let size = i64::try_from(values.len()).unwrap_or(i64::MAX);
        let zipf = self.exponent.filter(|_| size > 0).map(|exponent| Zipf::new(exponent, size));
        let _ = self.loaded.set(Loaded { values: values.into(), zipf });
    }

    #[inline]
    fn draw(&self, rng: &mut Rng) -> Option<&Datum> {
        let Loaded { values, zipf } = self.loaded.get()?;
        let index = match zipf {
            _ if values.is_empty() => return None,
            Some(zipf) => zipf.draw(rng).cast_unsigned() - 1,
            None => rng.below(values.len() as u64),
        };
        values.get(usize::try_from(index).ok()?)
    }
}

impl Generator {
    /// The type of the arguments. Text is left to the database, which may need a UUID or JSON there.
    pub const fn column_type(&self) -> ColumnType {
        match self {
            Self::Integer(_) | Self::Sequence { .. } => ColumnType::BigInt,
            Self::Float { .. } => ColumnType::Float,
            Self::Decimal(_, scale) => ColumnType::Decimal(*scale),
            Self::Date(_) => ColumnType::Date,
            Self::Timestamp(_) => ColumnType::Timestamp,
            Self::List(_) | Self::Text { .. } | Self::Uuid | Self::Json(_) => ColumnType::Any,
        }
    }

    /// The query that it needs before a run.
    pub const fn query(&self) -> Option<&StartQuery> {
        match self {
            Self::List(list) => list.query.as_ref(),
            Self::Sequence { after, .. } => after.as_ref(),
            _ => None,
        }
    }

    /// Draws a value. `serial` is the number of a sequence's value, from 0; `others` are the values that a template
    /// uses.
    #[inline]
    pub fn draw(&self, rng: &mut Rng, out: &mut Datum, others: &[Datum], serial: i64) {
        match self {
            Self::Integer(range) => *out = Datum::Int(range.draw(rng)),
            Self::Decimal(range, scale) => *out = Datum::Decimal(range.draw(rng), *scale),
            Self::Float { low, high, shape } => {
                *out = Datum::Float(match *shape {
                    Shape::Normal { mean, deviation } => normal(rng, mean, deviation, *low, *high),
                    Shape::Uniform | Shape::Zipf(_) => low + (high - low) * rng.unit(),
                });
            }
            Self::Sequence { start, step, loaded, .. } => {
                let first = loaded.get().map_or(*start, |last| last.wrapping_add(*start));
                *out = Datum::Int(first.wrapping_add(step.wrapping_mul(serial)));
            }
            Self::List(list) => match list.draw(rng) {
                Some(value) => out.clone_from(value),
                None => *out = Datum::Null,
            },
            Self::Text { shortest, longest, alphabet } => {
                let length = shortest + rng.below(longest - shortest + 1);
                let text = out.text();
                for _ in 0..length {
                    let index = rng.below(alphabet.len() as u64);
                    text.push(alphabet[usize::try_from(index).unwrap_or_default()]);
                }
            }
            Self::Uuid => uuid(rng, out.text()),
            Self::Date(range) => {
                *out = Datum::Date(Date(i32::try_from(range.draw(rng)).unwrap_or_default()));
            }
            Self::Timestamp(range) => {
                *out = Datum::Timestamp(Timestamp::from_seconds(range.draw(rng)))
            }
            Self::Json(template) => template.write(others, out.text()),
        }
    }
}

/// Appends a random UUID (RFC 9562, version 4).
fn uuid(rng: &mut Rng, out: &mut String) {
    let (a, b) = (rng.bits(), rng.bits());
    write!(
        out,
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        a >> 32,
        (a >> 16) & 0xFFFF,
        a & 0xFFF,
        0x8000 | ((b >> 48) & 0x3FFF),
        b & 0xFFFF_FFFF_FFFF
    )
    .expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(generator: &Generator, count: i64) -> Vec<Datum> {
        let mut rng = Rng::of(3, &[]);
        let mut out = Datum::Null;
        (0..count)
            .map(|serial| {
                generator.draw(&mut rng, &mut out, &[], serial);
                out.clone()
            })
            .collect()
    }

    fn ints(values: &[Datum]) -> Vec<i64> {
        let int = |value: &Datum| match value {
            Datum::Int(value) => *value,
            other => panic!("{other:?}"),
        };
        values.iter().map(int).collect()
    }

    #[test]
    fn integers_cover_their_range_in_every_shape() {
        for shape in [
            Shape::Uniform,
            Shape::Zipf(Zipf::new(0.99, 5)),
            Shape::Normal { mean: 12.0, deviation: 1.5 },
        ] {
            let found =
                ints(&draws(&Generator::Integer(Integers { low: 10, high: 14, shape }), 20_000));
            let mut counts = [0; 5];
            found.iter().for_each(|value| counts[usize::try_from(value - 10).unwrap()] += 1);
            assert!(counts.iter().all(|count| *count > 100), "{shape:?} {counts:?}");
            let mean =
                f64::from(found.iter().map(|v| i32::try_from(*v).unwrap()).sum::<i32>()) / 20_000.0;
            // Zipf: sum of k^0.01 over sum of k^-0.99, from 1 to 5, is 2.20.
            let expected = if matches!(shape, Shape::Zipf(_)) { 11.2 } else { 12.0 };
            assert!((mean - expected).abs() < 0.05, "{shape:?} {mean}");
        }
    }

    #[test]
    fn a_normal_distribution_has_its_deviation_and_ends() {
        let shape = Shape::Normal { mean: 0.0, deviation: 2.0 };
        let found = draws(&Generator::Float { low: -100.0, high: 100.0, shape }, 50_000);
        let values: Vec<f64> =
            found.iter().map(|v| if let Datum::Float(v) = v { *v } else { f64::NAN }).collect();
        let variance = values.iter().map(|v| v * v).sum::<f64>() / 50_000.0;
        // The standard error of the variance is 4 * sqrt(2 / 50,000) = 0.025.
        assert!((variance - 4.0).abs() < 0.13, "{variance}");
        let far = Shape::Normal { mean: 5.0, deviation: 1e9 };
        let found =
            ints(&draws(&Generator::Integer(Integers { low: 1, high: 9, shape: far }), 100));
        assert!(found.iter().all(|value| (1..=9).contains(value)));
    }

    #[test]
    fn a_sequence_continues_after_what_was_found() {
        let loaded = OnceLock::new();
        let sequence = Generator::Sequence { start: 5, step: 2, after: None, loaded };
        assert_eq!(ints(&draws(&sequence, 3)), [5, 7, 9]);
        let Generator::Sequence { loaded, .. } = &sequence else { unreachable!() };
        loaded.set(100).unwrap();
        assert_eq!(ints(&draws(&sequence, 2)), [105, 107]);
    }

    #[test]
    fn lists_are_drawn_from_their_values_and_are_null_before_their_query() {
        let values = vec![Datum::Text("a".into()), Datum::Int(2), Datum::Null];
        let list = Generator::List(List::of(values.clone(), None));
        let found = draws(&list, 1000);
        assert!(values.iter().all(|value| found.iter().filter(|f| *f == value).count() > 250));
        let skewed = Generator::List(List::of(values, Some(3.0)));
        let first = draws(&skewed, 1000).iter().filter(|f| **f == Datum::Text("a".into())).count();
        assert!(first > 800, "{first}");
        let query = StartQuery { sql: ByDialect::default(), place: String::new() };
        assert_eq!(draws(&Generator::List(List::from(query, None)), 1), [Datum::Null]);
    }

    #[test]
    fn texts_have_their_lengths_and_uuids_their_version() {
        let text = Generator::Text { shortest: 2, longest: 4, alphabet: ['ä', 'b'].into() };
        let mut lengths = [0; 5];
        for value in draws(&text, 500) {
            let Datum::Text(text) = value else { panic!() };
            assert!(text.chars().all(|c| "äb".contains(c)));
            lengths[text.chars().count()] += 1;
        }
        assert!(lengths[..2] == [0, 0] && lengths[2..].iter().all(|n| *n > 100), "{lengths:?}");
        let found = draws(&Generator::Uuid, 100);
        for value in &found {
            let Datum::Text(uuid) = value else { panic!() };
            assert_eq!(uuid.len(), 36);
            assert_eq!(&uuid[14..15], "4");
            assert!("89ab".contains(&uuid[19..20]), "{uuid}");
        }
        assert_ne!(found[0], found[1]);
    }

    #[test]
    fn dates_are_written_as_such() {
        let range = Integers { low: 0, high: 0, shape: Shape::Uniform };
        assert_eq!(draws(&Generator::Date(range), 1)[0].to_string(), "1970-01-01");
        assert_eq!(draws(&Generator::Timestamp(range), 1)[0].to_string(), "1970-01-01 00:00:00");
        assert_eq!(draws(&Generator::Decimal(range, 2), 1)[0].to_string(), "0.00");
    }
}

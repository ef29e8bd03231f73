//! Times by how often they occurred: what a histogram counts, without the zeros of its thousands of other places.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{VALUES_MAX, bounds, encoded, layout};

/// How often each time occurred: pairs of a time in µs and its count, ascending. The times are those of a histogram
/// with our bounds, so that they are exact to three digits. As text, it is a histogram.
#[derive(Clone, Debug, Default)]
pub struct TimeCounts {
    counts: Vec<(u64, u64)>,
    /// The upper bound of the histogram that they are from, in µs, which its encoding states.
    bound: u64,
}

impl PartialEq for TimeCounts {
    fn eq(&self, other: &Self) -> bool {
        self.counts == other.counts
    }
}

impl Eq for TimeCounts {}

impl TimeCounts {
    /// Those of a histogram.
    #[must_use]
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let recorded = histogram.iter_recorded();
        let recorded = recorded.map(|seen| (seen.value_iterated_to(), seen.count_at_value()));
        Self { counts: recorded.collect(), bound: histogram.high() }
    }

    /// Those of a histogram in HdrHistogram's V2 encoding.
    ///
    /// # Errors
    /// Says why it cannot be read.
    pub fn decode(encoded: &[u8]) -> Result<Self, String> {
        let Some(places) = layout::counts_of(encoded) else {
            return super::read(encoded).map(|other| Self::of(&other));
        };
        let (times, mut counts) = (layout::times(), Vec::new());
        layout::each_place(places, |place, count| {
            if count > 0 {
                counts.push((times[place], count));
            }
        })?;
        Ok(Self { counts, bound: layout::check_head(encoded).unwrap_or(bounds::ROOM_US) })
    }

    /// Adds up several.
    #[must_use]
    pub fn merged<'a>(several: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut sum = Self::default();
        sum.add_all(several);
        sum
    }

    /// Adds the times of another.
    pub fn add(&mut self, other: &Self) {
        self.add_all([other]);
    }

    fn add_all<'a>(&mut self, others: impl IntoIterator<Item = &'a Self>) {
        for of in others {
            self.counts.extend_from_slice(&of.counts);
            self.bound = self.bound.max(of.bound);
        }
        // Stable, because that merges parts that are in order.
        self.counts.sort_by_key(|(us, _)| *us);
        self.counts.dedup_by(|later, first| {
            let is_same = later.0 == first.0;
            first.1 = first.1.saturating_add(u64::from(is_same) * later.1);
            is_same
        });
    }

    /// The pairs of a time in µs and its count, ascending.
    #[must_use]
    pub fn pairs(&self) -> &[(u64, u64)] {
        &self.counts
    }

    /// Whether no time is counted.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Number of all times.
    #[must_use]
    pub fn total(&self) -> u64 {
        sum(&self.counts)
    }

    /// Number of the times that are longer, in µs.
    #[must_use]
    pub fn above(&self, us: u64) -> u64 {
        sum(&self.counts[self.counts.partition_point(|(time, _)| *time <= us)..])
    }

    /// The shortest time in µs; 0 without times.
    #[must_use]
    pub fn min(&self) -> u64 {
        self.counts.first().map_or(0, |(us, _)| any().lowest_equivalent(*us))
    }

    /// The longest time in µs; 0 without times.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.counts.last().map_or(0, |(us, _)| *us)
    }

    /// Mean and standard deviation in µs, to the last bit as a histogram computes them; 0 without times.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "as the library does")]
    pub fn moments(&self) -> (f64, f64) {
        let all = self.total() as f64;
        if all == 0.0 {
            return (0.0, 0.0);
        }
        let middle =
            |(us, count): &(u64, u64)| (any().median_equivalent(*us) as f64, *count as f64);
        let mean = self.counts.iter().map(middle).fold(0.0, |sum, (us, n)| sum + us * n / all);
        let squares = self.counts.iter().map(middle).fold(0.0, |sum, (us, count)| {
            let from_mean = us - mean;
            sum + from_mean * from_mean * count
        });
        (mean, (squares / all).sqrt())
    }

    /// The times in µs at ascending quantiles from 0 to 1, as a histogram gives them; 0 without times.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "as the library does"
    )]
    pub fn at_quantiles<const N: usize>(&self, quantiles: [f64; N]) -> [u64; N] {
        let total = self.total();
        let mut counts = self.counts.iter();
        let (mut us, mut below) = (0, 0_u64);
        quantiles.map(|quantile| {
            let rank = ((quantile * total as f64).ceil() as u64).max(1);
            while below < rank
                && let Some((next, count)) = counts.next()
            {
                us = *next;
                below = below.saturating_add(*count);
            }
            us
        })
    }

    /// Adds them to a histogram.
    ///
    /// # Panics
    /// When the histogram cannot grow.
    pub fn add_to(&self, histogram: &mut Histogram<u64>) {
        for (us, count) in &self.counts {
            histogram.record_n(*us, *count).expect("these histograms grow");
        }
    }

    /// As a histogram.
    #[must_use]
    pub fn histogram(&self) -> Histogram<u64> {
        let mut histogram = bounds::histogram();
        self.add_to(&mut histogram);
        histogram
    }

    fn text(&self) -> Result<String, String> {
        if self.counts.iter().any(|(_, count)| i64::try_from(*count).is_err()) {
            return Err("a count is larger than the encoding can express".to_owned());
        }
        let times = layout::times();
        let place = |us: u64| times.partition_point(|time| *time < us);
        let counts = self.counts.iter().map(|(us, count)| (place(*us), *count));
        Ok(STANDARD.encode(layout::write(counts, self.bound.max(bounds::ROOM_US))))
    }

    fn of_text(text: &str) -> Result<Self, String> {
        let read = Self::decode(&encoded(text)?)?;
        match read.total() {
            _ if read.max() > layout::longest(read.bound) => {
                Err("it counts times beyond its bounds".to_owned())
            }
            total if total > VALUES_MAX => Err(format!("{total} values")),
            _ => Ok(read),
        }
    }
}

/// Adds to counts that may not exist yet.
pub fn merge(sum: &mut Option<TimeCounts>, other: Option<&TimeCounts>) {
    match (sum.as_mut(), other) {
        (Some(sum), Some(other)) => sum.add(other),
        (None, Some(other)) => *sum = Some(other.clone()),
        (_, None) => {}
    }
}

impl Serialize for TimeCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error as _;
        let text = self.text().map_err(|error| format!("encoding a histogram: {error}"));
        text.map_err(S::Error::custom)?.serialize(to)
    }
}

impl<'de> Deserialize<'de> for TimeCounts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let read = Self::of_text(&String::deserialize(from)?);
        read.map_err(|error| D::Error::custom(format!("invalid histogram: {error}")))
    }
}

fn sum(counts: &[(u64, u64)]) -> u64 {
    counts.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
}

/// Any histogram: which times it does not tell apart is the same in all with our bounds.
fn any() -> &'static Histogram<u64> {
    static EMPTY: LazyLock<Histogram<u64>> = LazyLock::new(bounds::histogram);
    &EMPTY
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::{Serializer as _, V2Serializer};

    use super::*;
    use crate::random::Rng;

    fn v2(histogram: &Histogram<u64>) -> Vec<u8> {
        let mut encoded = Vec::new();
        V2Serializer::new().serialize(histogram, &mut encoded).unwrap();
        encoded
    }

    /// Histograms of a few to many times, up to a year.
    fn histograms() -> impl Iterator<Item = Histogram<u64>> {
        let mut rng = Rng::of(2, &[]);
        [0, 1, 2, 500, 20_000].into_iter().map(move |length| {
            let mut histogram = bounds::histogram();
            for _ in 0..length {
                let below = 10_u64.pow(1 + u32::try_from(rng.below(9)).unwrap());
                histogram.record_n(rng.below(below), 1 + rng.below(30)).unwrap();
            }
            histogram
        })
    }

    #[test]
    fn times_beyond_the_bound_for_which_there_is_room_are_read_back() {
        for us in [bounds::ROOM_US, bounds::ROOM_US + 200, 16_383, 16_384, 40_000] {
            let mut histogram = bounds::histogram();
            histogram.record(us).unwrap();
            let counts = TimeCounts::of(&histogram);
            assert_eq!(TimeCounts::of_text(&counts.text().unwrap()), Ok(counts), "{us} µs");
        }
    }

    #[test]
    fn counts_are_those_of_the_histogram() {
        let mut sum = (TimeCounts::default(), bounds::histogram());
        for histogram in histograms() {
            let counts = TimeCounts::decode(&v2(&histogram)).unwrap();
            assert_eq!(counts, TimeCounts::of(&histogram));
            sum.0.add(&counts);
            sum.1.add(&histogram).unwrap();
            for (counts, histogram) in [(&counts, &histogram), (&sum.0, &sum.1)] {
                assert!(counts.histogram() == *histogram);
                assert_eq!(counts.total(), histogram.len());
                let quantiles = [0.001, 0.5, 0.95, 0.99, 0.999, 1.0];
                let expected = quantiles.map(|quantile| histogram.value_at_quantile(quantile));
                assert_eq!(counts.at_quantiles(quantiles), expected);
                assert_eq!((counts.min(), counts.max()), (histogram.min(), histogram.max()));
                assert_eq!(counts.moments(), (histogram.mean(), histogram.stdev()));
                let above = histogram.len() - histogram.count_between(0, 900);
                assert_eq!(counts.above(histogram.highest_equivalent(900)), above);
            }
        }
        let all: Vec<TimeCounts> = histograms().map(|of| TimeCounts::of(&of)).collect();
        assert_eq!(TimeCounts::merged(&all), sum.0);
    }

    #[test]
    fn the_text_is_that_of_the_histogram_and_is_read_back() {
        for histogram in histograms() {
            let counts = TimeCounts::of(&histogram);
            let text = counts.text().unwrap();
            assert_eq!(text, super::super::encode(&histogram).unwrap());
            let read = TimeCounts::of_text(&text).unwrap();
            assert_eq!((&read, read.text().unwrap()), (&counts, text));
        }
    }

    #[test]
    fn a_text_that_no_histogram_has_is_rejected() {
        let rejected = |encoded: &[u8]| TimeCounts::of_text(&STANDARD.encode(encoded)).unwrap_err();
        let beyond = layout::write([(layout::times().len() - 1, 1)].into_iter(), bounds::ROOM_US);
        assert!(rejected(&beyond).contains("beyond its bounds"));
        let many = layout::write([(5, VALUES_MAX + 1)].into_iter(), bounds::ROOM_US);
        assert!(rejected(&many).contains("values"));
        let mut other = Histogram::<u64>::new_with_bounds(1, 1_000_000, 2).unwrap();
        other.record(77_000).unwrap();
        assert!(rejected(&v2(&other)).contains("not a histogram of times"));
        assert!(TimeCounts::of_text("x").is_err() && TimeCounts::of_text("").is_err());
    }
}

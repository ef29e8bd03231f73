//! Encodes histograms, and determines their intervals: every second of the first hour, then every
//! ten seconds. A day of five types takes a few tens of megabytes. Totals are exact for any length.

use std::ops::Range;
use std::sync::LazyLock;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use triphammer_core::recorder::{self, RecordedInterval, TypeInterval};

/// Number of seconds of a run with separate histograms.
pub const FULL_SECONDS: u64 = 3600;
/// Seconds per histogram after those.
pub const MERGED_SECONDS: u64 = 10;

/// Kind of times in a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimesKind {
    /// Response times of committed transactions.
    Response,
    /// Service times of committed transactions; absent for closed loads, where both are equal.
    Service,
    /// Response times of those rolled back.
    RolledBack,
    /// Response times of those failed or in doubt.
    Failed,
}

impl TimesKind {
    /// All kinds, in declaration order.
    pub const ALL: [Self; 4] = [Self::Response, Self::Service, Self::RolledBack, Self::Failed];

    /// Name in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Service => "service",
            Self::RolledBack => "rolled_back",
            Self::Failed => "failed",
        }
    }

    /// The histogram of this kind in an interval.
    #[must_use]
    pub const fn of(self, seen: &TypeInterval) -> Option<&Histogram<u64>> {
        match self {
            Self::Response => seen.response.as_ref(),
            Self::Service => seen.service.as_ref(),
            Self::RolledBack => seen.rolled_back.as_ref(),
            Self::Failed => seen.failed.as_ref(),
        }
    }
}

/// Part of the run covered by exact totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Ramp-up, window and drain.
    Run,
    /// Only the timed window.
    Window,
}

impl Scope {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Window => "window",
        }
    }
}

/// Times of one transaction type in a second, or in the interval from `first` to `last`.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramRow {
    /// First second, counted from the start of the run.
    pub first: u64,
    /// Last second, inclusive, counted from the start of the run.
    pub last: u64,
    /// Index of the type in [`StoredJob::transactions`](super::StoredJob::transactions).
    pub transaction: usize,
    /// Kind of times in the histogram.
    pub times: TimesKind,
    /// The times.
    pub counts: TimeCounts,
}

/// How often each time occurred: pairs of a time in µs and its count, ascending. A histogram of them would
/// have zeros for 25,000 others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeCounts(Vec<(u64, u64)>);

impl TimeCounts {
    /// Decodes a histogram, or returns the reason why that fails.
    pub(super) fn decode(encoded: &[u8]) -> Result<Self, String> {
        let mut counts = Vec::new();
        each_count(encoded, |us, count| counts.push((us, count)))?;
        Ok(Self(counts))
    }

    /// Number of all times.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
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
        let mut counts = self.0.iter();
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

    /// Adds the times of another.
    pub fn add(&mut self, other: &Self) {
        let mut both = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut mine, mut others) = (self.0.as_slice(), other.0.as_slice());
        while let ([(us, count), mine_left @ ..], [(other_us, other_count), others_left @ ..]) =
            (mine, others)
        {
            let (takes_mine, takes_other) = (us <= other_us, other_us <= us);
            let counts = [takes_mine.then_some(*count), takes_other.then_some(*other_count)];
            let [count, other_count] = counts.map(Option::unwrap_or_default);
            both.push((*us.min(other_us), count.saturating_add(other_count)));
            if takes_mine {
                mine = mine_left;
            }
            if takes_other {
                others = others_left;
            }
        }
        both.extend_from_slice(mine);
        both.extend_from_slice(others);
        self.0 = both;
    }

    /// Adds them to a histogram.
    ///
    /// # Panics
    /// When the histogram cannot grow.
    pub fn add_to(&self, histogram: &mut Histogram<u64>) {
        for (us, count) in &self.0 {
            histogram.record_n(*us, *count).expect("these histograms grow");
        }
    }

    /// As a histogram.
    ///
    /// # Panics
    /// Never: it grows.
    #[must_use]
    pub fn histogram(&self) -> Histogram<u64> {
        let mut histogram = recorder::histogram();
        self.add_to(&mut histogram);
        histogram
    }
}

/// Times of one transaction type in the whole run or the timed window.
#[derive(Clone, Debug, PartialEq)]
pub struct TotalRow {
    /// Index of the type in [`StoredJob::transactions`](super::StoredJob::transactions).
    pub transaction: usize,
    /// Kind of times in the histogram.
    pub times: TimesKind,
    /// Histogram of times in microseconds.
    pub histogram: Histogram<u64>,
}

/// An encoded histogram to be stored.
#[derive(Debug)]
pub(super) struct Encoded {
    pub first: u64,
    pub last: u64,
    pub transaction: usize,
    pub times: TimesKind,
    pub counts: Vec<u8>,
}

/// Encodes all histograms of the types, for the interval from `first` to `last`.
pub(super) fn encode(types: &[TypeInterval], [first, last]: [u64; 2]) -> Vec<Encoded> {
    let mut serializer = V2Serializer::new();
    let mut out = Vec::new();
    for (transaction, seen) in types.iter().enumerate() {
        for times in TimesKind::ALL {
            let Some(histogram) = times.of(seen) else { continue };
            let mut counts = Vec::new();
            serializer
                .serialize(histogram, &mut counts)
                .expect("a vector takes every byte, and no run counts 2^63");
            out.push(Encoded { first, last, transaction, times, counts });
        }
    }
    out
}

/// Decodes a histogram, or returns the reason why that fails.
pub(super) fn decode(counts: &[u8]) -> Result<Histogram<u64>, String> {
    Deserializer::new().deserialize(&mut &*counts).map_err(|error| error.to_string())
}

/// Bins the counts of encoded histograms without decoding them: each histogram would need room for
/// 25,000 counts, of which about a hundred are used.
pub(super) struct Bins {
    of: fn(u64) -> usize,
    /// The bin of each count of a histogram with our bounds.
    by_place: Vec<usize>,
}

impl Bins {
    /// Creates bins that ascend with the time in µs.
    pub fn new(of: fn(u64) -> usize) -> Self {
        Self { of, by_place: OURS.times.iter().map(|us| of(*us)).collect() }
    }

    /// Passes each non-empty bin of an encoded histogram to `each`, in ascending order, with its
    /// count; returns the reason if decoding fails.
    pub fn each(&self, encoded: &[u8], mut each: impl FnMut(usize, u64)) -> Result<(), String> {
        let Some(counts) = OURS.counts_of(encoded) else {
            return each_of_other(encoded, |us, count| each((self.of)(us), count));
        };
        let (mut bin, mut sum) = (0, 0);
        each_place(counts, |place, count| {
            let of_this = self.by_place[place];
            if of_this != bin && sum > 0 {
                each(bin, sum);
                sum = 0;
            }
            bin = of_this;
            sum += count;
        })?;
        if sum > 0 {
            each(bin, sum);
        }
        Ok(())
    }
}

/// Passes each time of an encoded histogram to `each`, in µs and ascending, with its count.
fn each_count(encoded: &[u8], mut each: impl FnMut(u64, u64)) -> Result<(), String> {
    match OURS.counts_of(encoded) {
        Some(counts) => each_place(counts, |place, count| {
            if count > 0 {
                each(OURS.times[place], count);
            }
        }),
        None => each_of_other(encoded, each),
    }
}

/// The same of a histogram with other bounds.
fn each_of_other(encoded: &[u8], mut each: impl FnMut(u64, u64)) -> Result<(), String> {
    for value in decode(encoded)?.iter_recorded() {
        each(value.value_iterated_to(), value.count_at_value());
    }
    Ok(())
}

/// Passes each place of counts with our bounds to `each`, in ascending order, with its count.
fn each_place(mut counts: &[u8], mut each: impl FnMut(usize, u64)) -> Result<(), String> {
    let mut place = 0_usize;
    while !counts.is_empty() {
        let number = zig_zag(&mut counts).ok_or("it ends within a number")?;
        let Ok(count) = u64::try_from(number) else {
            // A run of zero counts.
            let zeros = usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
            place = place.saturating_add(zeros);
            continue;
        };
        if place >= OURS.times.len() {
            return Err("it counts times beyond its bounds".to_owned());
        }
        each(place, count);
        place += 1;
    }
    Ok(())
}

/// Reads a number of HdrHistogram's V2 encoding: seven bits per byte, lowest first, with a full
/// ninth byte; odd numbers are negative.
fn zig_zag(bytes: &mut &[u8]) -> Option<i64> {
    // Most have one byte.
    if let Some((byte @ 0..0x80, rest)) = bytes.split_first() {
        *bytes = rest;
        return Some(i64::from(byte >> 1) ^ -i64::from(byte & 1));
    }
    let mut number = 0_u64;
    for at in 0..9 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let more = at < 8 && byte & 0x80 != 0;
        number |= u64::from(if more { byte & 0x7f } else { *byte }) << (7 * at);
        if !more {
            break;
        }
    }
    Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}

/// Says why an encoded histogram cannot be one that this program wrote: its head states the length of
/// its counts, and an upper bound that a run can have.
pub(super) fn check_head(encoded: &[u8]) -> Result<(), &'static str> {
    let counts = OURS.counts_of(encoded).ok_or("is not a histogram of times in microseconds")?;
    let length = u32::try_from(counts.len()).map(u32::to_be_bytes);
    if length.is_ok_and(|length| encoded[LENGTH_BYTES] != length) {
        return Err("states another length of its counts");
    }
    let bound = encoded[HIGHEST_BYTES].try_into().map(u64::from_be_bytes);
    let bound = bound.map_err(|_| "ends within its head")?;
    // That is the longest time of its thread so far, not only of these counts.
    (bound <= recorder::HIGHEST_US)
        .then_some(())
        .ok_or("states an upper bound to which no histogram grows")
}

/// Layout shared by all histograms with our bounds.
struct Ours {
    /// An encoded empty histogram: cookie, length of the counts, bounds.
    head: Vec<u8>,
    /// The time of each count, in µs.
    times: Vec<u64>,
}

/// Bytes before the counts; those at [`LENGTH_BYTES`] and [`HIGHEST_BYTES`] vary.
const HEAD_BYTES: usize = 40;
/// Position of the length of the counts.
const LENGTH_BYTES: Range<usize> = 4..8;
/// Position of the upper bound, which grows with the times.
const HIGHEST_BYTES: Range<usize> = 24..32;

static OURS: LazyLock<Ours> = LazyLock::new(|| {
    let mut head = Vec::new();
    let serialized = V2Serializer::new().serialize(&recorder::histogram(), &mut head);
    serialized.expect("a vector takes every byte");
    // The place of a time is the same, however far a histogram has grown.
    let mut grown = recorder::histogram();
    grown.record(recorder::HIGHEST_US).expect("these histograms grow up to this");
    Ours { head, times: grown.iter_all().map(|value| value.value_iterated_to()).collect() }
});

impl Ours {
    /// The counts of an encoded histogram; `None` if it has other units.
    fn counts_of<'a>(&self, encoded: &'a [u8]) -> Option<&'a [u8]> {
        let (head, counts) = encoded.split_at_checked(HEAD_BYTES)?;
        let same = |part: Range<usize>| head[part.clone()] == self.head[part];
        let fixed = [
            0..LENGTH_BYTES.start,
            LENGTH_BYTES.end..HIGHEST_BYTES.start,
            HIGHEST_BYTES.end..HEAD_BYTES,
        ];
        fixed.into_iter().all(same).then_some(counts)
    }
}

/// Collects intervals after the first hour until ten seconds are full.
#[derive(Debug, Default)]
pub(super) struct Merger {
    held: Option<RecordedInterval>,
}

impl Merger {
    /// Adds an interval and returns what is ready to be stored.
    pub fn take(&mut self, interval: &RecordedInterval) -> Vec<Encoded> {
        if interval.first < FULL_SECONDS {
            return encode(&interval.types, [interval.first, interval.last]);
        }
        let group = |interval: &RecordedInterval| interval.last / MERGED_SECONDS;
        match &mut self.held {
            Some(held) if group(held) == group(interval) => {
                held.add_later(interval);
                Vec::new()
            }
            _ => {
                let ready = self.finish();
                self.held = Some(interval.clone());
                ready
            }
        }
    }

    /// Returns the incomplete rest.
    pub fn finish(&mut self) -> Vec<Encoded> {
        self.held.take().map_or_else(Vec::new, |held| encode(&held.types, [held.first, held.last]))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use triphammer_core::Rng;

    use super::*;

    /// A bin a thousandth of a power of ten.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most a year is from 0 to 13,500"
    )]
    fn bin(us: u64) -> usize {
        ((us.max(1) as f64).log10() * 1e3) as usize
    }

    fn binned(histogram: &Histogram<u64>) -> BTreeMap<usize, u64> {
        let mut encoded = Vec::new();
        V2Serializer::new().serialize(histogram, &mut encoded).unwrap();
        let mut bins = BTreeMap::new();
        Bins::new(bin).each(&encoded, |bin, count| *bins.entry(bin).or_default() += count).unwrap();
        bins
    }

    fn recorded(histogram: &Histogram<u64>) -> BTreeMap<usize, u64> {
        let mut bins = BTreeMap::new();
        for value in histogram.iter_recorded() {
            let count: u64 = value.count_at_value();
            *bins.entry(bin(value.value_iterated_to())).or_default() += count;
        }
        bins
    }

    #[test]
    fn bins_hold_what_the_histogram_counts() {
        let mut rng = Rng::of(1, &[]);
        for length in [0, 1, 3, 1_000, 100_000] {
            let mut histogram = recorder::histogram();
            for _ in 0..length {
                let below = 10_u64.pow(1 + u32::try_from(rng.below(9)).unwrap());
                let count = 1 + rng.below(300);
                histogram.record_n(1 + rng.below(below), count).unwrap();
            }
            assert_eq!(binned(&histogram), recorded(&histogram));
        }
        let mut ends = recorder::histogram();
        ends.record_n(recorder::LOWEST_US, u64::from(u32::MAX) + 1).unwrap();
        ends.record(recorder::ROOM_US).unwrap();
        assert_eq!(binned(&ends), recorded(&ends));
        ends.record(recorder::HIGHEST_US).unwrap();
        assert_eq!(binned(&ends), recorded(&ends), "beyond the room that one begins with");
    }

    #[test]
    fn counts_are_those_of_the_histogram() {
        let mut rng = Rng::of(2, &[]);
        let mut sum = (TimeCounts::default(), recorder::histogram());
        for length in [0, 1, 2, 500, 20_000] {
            let mut histogram = recorder::histogram();
            for _ in 0..length {
                let below = 10_u64.pow(1 + u32::try_from(rng.below(9)).unwrap());
                histogram.record_n(1 + rng.below(below), 1 + rng.below(30)).unwrap();
            }
            let mut encoded = Vec::new();
            V2Serializer::new().serialize(&histogram, &mut encoded).unwrap();
            let counts = TimeCounts::decode(&encoded).unwrap();
            sum.0.add(&counts);
            sum.1.add(&histogram).unwrap();
            for (counts, histogram) in [(&counts, &histogram), (&sum.0, &sum.1)] {
                assert!(counts.histogram() == *histogram);
                assert_eq!(counts.total(), histogram.len());
                let quantiles = [0.001, 0.5, 0.95, 0.99, 0.999];
                let expected = quantiles.map(|quantile| histogram.value_at_quantile(quantile));
                assert_eq!(counts.at_quantiles(quantiles), expected);
                assert_eq!(counts.at_quantiles([1.0]), [histogram.max()]);
            }
        }
    }

    #[test]
    fn histograms_in_other_bounds_are_read_too() {
        let mut other = Histogram::new_with_bounds(1, 1_000_000, 2).unwrap();
        other.record_n(77_000, 5).unwrap();
        assert_eq!(binned(&other), recorded(&other));
    }

    #[test]
    fn bytes_that_are_no_histogram_are_refused() {
        let mut encoded = Vec::new();
        V2Serializer::new().serialize(&recorder::histogram(), &mut encoded).unwrap();
        let refused = |encoded: &[u8]| Bins::new(bin).each(encoded, |_, _| ()).is_err();
        assert!(refused(b"") && refused(&encoded[..20]));
        encoded.truncate(HEAD_BYTES);
        encoded.push(0x80);
        assert!(refused(&encoded));
        // A million counts of nothing, then one.
        encoded.truncate(HEAD_BYTES);
        encoded.extend([0xff, 0x88, 0x7a, 2]);
        assert!(refused(&encoded));
    }
}

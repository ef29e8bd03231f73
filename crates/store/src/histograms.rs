//! Encodes histograms, and determines their intervals: every second of the first hour, then every
//! ten seconds. A day of five types takes a few tens of megabytes. Totals are exact for any length.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use triphammer_core::histogram::{TimeCounts, layout};
use triphammer_core::recorder::{RecordedInterval, TypeInterval};

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
        Self { of, by_place: layout::times().iter().map(|us| of(*us)).collect() }
    }

    /// Passes each non-empty bin of an encoded histogram to `each`, in ascending order, with its
    /// count; returns the reason if decoding fails.
    pub fn each(&self, encoded: &[u8], mut each: impl FnMut(usize, u64)) -> Result<(), String> {
        let Some(counts) = layout::counts_of(encoded) else {
            for (us, count) in TimeCounts::decode(encoded)?.pairs() {
                each((self.of)(*us), *count);
            }
            return Ok(());
        };
        let (mut bin, mut sum) = (0, 0);
        layout::each_place(counts, |place, count| {
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

    use triphammer_core::{Rng, recorder};

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
        // A number without an end, then a million counts of nothing before one.
        let head = encoded.len() - 1;
        for counts in [&[0x80][..], &[0xff, 0x88, 0x7a, 2]] {
            encoded.truncate(head);
            encoded.extend(counts);
            assert!(refused(&encoded));
        }
    }
}

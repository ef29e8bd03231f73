//! Histograms as bytes, and which stretches get one of their own: every second of the first hour,
//! then every ten seconds. A day of five types is some tens of megabytes that way. Totals are exact
//! whatever the length.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use triphammer_core::recorder::{Interval, TypeInterval};

/// Seconds of a run that have histograms of their own.
pub const FULL_SECONDS: u64 = 3600;
/// Seconds that share a histogram after those.
pub const MERGED_SECONDS: u64 = 10;

/// Which times a histogram holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimesKind {
    /// Response times of committed ones.
    Response,
    /// Service times of committed ones; absent where the load is closed, as both are the same
    /// there.
    Service,
    /// Response times of those rolled back by rule.
    RolledBack,
    /// Response times of those failed or in doubt.
    Failed,
}

impl TimesKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Response, Self::Service, Self::RolledBack, Self::Failed];

    /// The word in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Service => "service",
            Self::RolledBack => "rolled_back",
            Self::Failed => "failed",
        }
    }

    const fn of(self, seen: &TypeInterval) -> Option<&Histogram<u32>> {
        match self {
            Self::Response => seen.response.as_ref(),
            Self::Service => seen.service.as_ref(),
            Self::RolledBack => seen.rolled_back.as_ref(),
            Self::Failed => seen.failed.as_ref(),
        }
    }
}

/// What exact totals cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The whole run.
    Run,
    /// The timed window.
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

/// The times of one transaction type in a second, or in the stretch from `first` to `last`.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramRow {
    /// First second, from the run's zero.
    pub first: u64,
    /// Last second.
    pub last: u64,
    /// Place of the type in [`StoredJob::transactions`](super::StoredJob::transactions).
    pub transaction: usize,
    /// Which times.
    pub times: TimesKind,
    /// Microseconds.
    pub histogram: Histogram<u32>,
}

/// The times of one transaction type in the whole run or the timed window.
#[derive(Clone, Debug, PartialEq)]
pub struct TotalRow {
    /// Place of the type in [`StoredJob::transactions`](super::StoredJob::transactions).
    pub transaction: usize,
    /// Which times.
    pub times: TimesKind,
    /// Microseconds.
    pub histogram: Histogram<u32>,
}

/// A histogram on its way to the store.
#[derive(Debug)]
pub(super) struct Encoded {
    pub first: u64,
    pub last: u64,
    pub transaction: usize,
    pub times: TimesKind,
    pub counts: Vec<u8>,
}

/// Every histogram of the types, encoded, for the stretch from `first` to `last`.
pub(super) fn encode(types: &[TypeInterval], [first, last]: [u64; 2]) -> Vec<Encoded> {
    let mut serializer = V2Serializer::new();
    let mut out = Vec::new();
    for (transaction, seen) in types.iter().enumerate() {
        for times in TimesKind::ALL {
            let Some(histogram) = times.of(seen) else { continue };
            let mut counts = Vec::new();
            serializer
                .serialize(histogram, &mut counts)
                .expect("a vector takes every byte, and u32 counts fit the format");
            out.push(Encoded { first, last, transaction, times, counts });
        }
    }
    out
}

/// A histogram from its bytes, or why not.
pub(super) fn decode(counts: &[u8]) -> Result<Histogram<u32>, String> {
    Deserializer::new().deserialize(&mut &*counts).map_err(|error| error.to_string())
}

/// Collects intervals after the first hour until ten seconds are full.
#[derive(Debug, Default)]
pub(super) struct Merger {
    held: Option<Interval>,
}

impl Merger {
    /// Takes an interval in and gives what is ready to be stored.
    pub fn take(&mut self, interval: &Interval) -> Vec<Encoded> {
        if interval.first < FULL_SECONDS {
            return encode(&interval.types, [interval.first, interval.last]);
        }
        let group = |interval: &Interval| interval.last / MERGED_SECONDS;
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

    /// Gives what is not full yet.
    pub fn finish(&mut self) -> Vec<Encoded> {
        self.held.take().map_or_else(Vec::new, |held| encode(&held.types, [held.first, held.last]))
    }
}

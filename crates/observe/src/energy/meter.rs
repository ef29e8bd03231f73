//! From readings of counters and powers to spans of energy: pure functions.

use triphammer_document::energy::EnergySpan;

/// Largest power of a counter's domain, in watts: one that would have needed more has restarted, or
/// has gone round more than once.
const WATTS_MAX: u64 = 2_000;
/// Largest reading of a power, in watts: a rack has less, and a larger one has another unit.
const POWER_MAX: f64 = 1e6;
/// Longest time between two readings of a power, in milliseconds: what was between is not known.
const POWER_GAP_MAX_MS: u64 = 10_000;
/// Most spans of a domain. Beyond it neighbours are joined: after more than an hour, two seconds are
/// as good as one.
const SPANS_MAX: usize = 4_096;

/// A reading of a domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reading {
    /// A counter.
    Counter {
        /// Energy since some time in the past, in microjoules.
        microjoules: u64,
        /// The counter begins at 0 again after this; `None` if that is not known.
        range: Option<u64>,
    },
    /// A power, in watts.
    Power(f64),
}

/// What was read of a domain.
#[derive(Debug, Default)]
pub(super) struct Domain {
    /// The last reading, its time in milliseconds, and whether it was of the idle host.
    last: Option<(u64, Reading, bool)>,
    idle: Vec<EnergySpan>,
    run: Vec<EnergySpan>,
}

impl Domain {
    /// Records a reading; returns the mean power since the one before, in watts.
    pub fn record(&mut self, at_ms: u64, now: Reading, is_idle: bool) -> Option<f64> {
        // Times of the idle host and of the run begin at 0 each.
        let last = self.last.replace((at_ms, now, is_idle)).filter(|last| last.2 == is_idle)?;
        let (from_ms, before, _) = last;
        let passed = at_ms.checked_sub(from_ms).filter(|passed| *passed > 0)?;
        let microjoules = between(before, now, passed)?;
        let spans = if is_idle { &mut self.idle } else { &mut self.run };
        spans.push(EnergySpan { from_ms, to_ms: at_ms, microjoules });
        if spans.len() > SPANS_MAX {
            *spans = joined(spans);
        }
        #[expect(clippy::cast_precision_loss, reason = "energy of a second")]
        Some(microjoules as f64 / 1e3 / passed as f64)
    }

    /// The spans of the idle host and of the run.
    pub fn into_spans(self) -> [Vec<EnergySpan>; 2] {
        [self.idle, self.run]
    }
}

/// The energy between two readings that are so many milliseconds apart, in microjoules; `None` if
/// it is not known.
pub(super) fn between(before: Reading, now: Reading, passed_ms: u64) -> Option<u64> {
    // A watt is a thousand microjoules per millisecond.
    let most = passed_ms.saturating_mul(WATTS_MAX * 1_000);
    match (before, now) {
        (Reading::Counter { microjoules: before, .. }, Reading::Counter { microjoules, range }) => {
            // It may have gone round more than once.
            if range.is_some_and(|range| most >= range) {
                return None;
            }
            let used = match microjoules.checked_sub(before) {
                Some(used) => used,
                None => range?.checked_sub(before)?.checked_add(microjoules)?,
            };
            (used <= most).then_some(used)
        }
        (Reading::Power(before), Reading::Power(now)) => {
            let mean = f64::midpoint(before, now);
            let is_known = passed_ms <= POWER_GAP_MAX_MS && (0.0..=POWER_MAX).contains(&mean);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "at most a megawatt for ten seconds"
            )]
            let used = (mean * 1e3 * passed_ms as f64).round() as u64;
            is_known.then_some(used)
        }
        _ => None,
    }
}

/// Joins neighbours that follow each other without a gap.
fn joined(spans: &[EnergySpan]) -> Vec<EnergySpan> {
    let mut all = Vec::with_capacity(spans.len());
    for pair in spans.chunks(2) {
        match pair {
            [a, b] if a.to_ms == b.from_ms => all.push(EnergySpan {
                from_ms: a.from_ms,
                to_ms: b.to_ms,
                microjoules: a.microjoules.saturating_add(b.microjoules),
            }),
            others => all.extend_from_slice(others),
        }
    }
    all
}

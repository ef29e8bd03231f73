//! The bounds of all histograms, so that any two merge exactly.

use std::sync::LazyLock;

use hdrhistogram::Histogram;

/// Lowest value distinguished, in microseconds.
pub const LOWEST_US: u64 = 1;
/// Highest value that a new histogram has room for, in microseconds: 16 ms. It takes 41 kB, and is
/// copied and added several times a second; one with room for an hour takes 188 kB.
pub const ROOM_US: u64 = 16_000;
/// Highest value kept, in microseconds: 366 days, the longest run. A histogram grows for longer
/// values than it has room for (8 kB for each doubling). Values above this limit are recorded as
/// the limit, and counted.
pub const HIGHEST_US: u64 = 366 * 24 * 3_600_000_000;
/// Significant decimal digits kept.
pub const DIGITS: u8 = 3;

/// Creates an empty histogram of microseconds with the lowest value and the precision used
/// throughout triphammer, so that any two merge exactly. It grows when more than [`ROOM_US`] is
/// recorded or added. Its counts have 64 bits: at ten million per second, 32 are full after seven
/// minutes, and every percentile above a full bucket would be 0.
#[must_use]
pub fn histogram() -> Histogram<u64> {
    // A copy: the library fills a new one count by count, which takes long in unoptimised builds.
    static EMPTY: LazyLock<Histogram<u64>> = LazyLock::new(|| {
        let bounds = Histogram::new_with_bounds(LOWEST_US, ROOM_US, DIGITS);
        let mut histogram = bounds.expect("the bounds are valid");
        histogram.auto(true);
        histogram
    });
    EMPTY.clone()
}

/// Records microseconds, at most [`HIGHEST_US`].
///
/// # Panics
/// When the histogram was not made by [`histogram()`].
#[inline]
pub fn record(times: &mut Histogram<u64>, us: u64) {
    times.record(us.min(HIGHEST_US)).expect("these histograms grow up to HIGHEST_US");
}

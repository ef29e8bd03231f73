//! What is observed in the seconds of the timed window, whose bounds the run reports a little late.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use triphammer_document::samples::SampleSeries;

/// Values of a second.
pub type Measured = Vec<(Arc<SampleSeries>, f64)>;

/// Seconds for which values wait until it is certain whether they belong to the timed window: the
/// run reports its phases a little later than they begin.
const LATE_SECONDS: u64 = 3;

/// The timed window in seconds of the run, known as soon as it begins and ends.
#[derive(Debug)]
pub struct Bounds {
    from: AtomicU64,
    to: AtomicU64,
}

impl Bounds {
    /// A window that has not begun.
    #[must_use]
    pub const fn unknown() -> Self {
        Self { from: AtomicU64::new(u64::MAX), to: AtomicU64::new(u64::MAX) }
    }

    /// A window that is the whole run.
    #[must_use]
    pub const fn whole() -> Self {
        Self { from: AtomicU64::new(0), to: AtomicU64::new(u64::MAX) }
    }

    /// The window begins with this second.
    pub fn begin(&self, second: u64) {
        self.from.store(second, Ordering::Relaxed);
    }

    /// The window ends before this second.
    pub fn end(&self, second: u64) {
        self.to.fetch_min(second, Ordering::Relaxed);
    }

    /// Whether the window has begun.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.from.load(Ordering::Relaxed) < u64::MAX
    }

    /// Whether the window has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.to.load(Ordering::Relaxed) < u64::MAX
    }

    /// Whether a second is in the window.
    #[must_use]
    pub fn has(&self, second: u64) -> bool {
        (self.from.load(Ordering::Relaxed)..self.to.load(Ordering::Relaxed)).contains(&second)
    }
}

/// What is known of each second, summed up over the timed window: keeps a few seconds until it is
/// certain whether they are in it.
#[derive(Debug)]
pub struct OfWindow<T> {
    bounds: Arc<Bounds>,
    pending: BTreeMap<u64, Vec<T>>,
}

impl<T> OfWindow<T> {
    /// Nothing yet.
    pub fn new(bounds: Arc<Bounds>) -> Self {
        Self { bounds, pending: BTreeMap::new() }
    }

    /// Adds what is known of a second; passes everything that is certainly in the window to `each`.
    pub fn put(&mut self, second: u64, known: T, mut each: impl FnMut(T)) {
        self.pending.entry(second).or_default().push(known);
        let newest = self.pending.last_key_value().map_or(0, |(second, _)| *second);
        while let Some(first) = self.pending.first_entry()
            && *first.key() + LATE_SECONDS <= newest
        {
            let (second, known) = first.remove_entry();
            self.settle(second, known, &mut each);
        }
    }

    /// Passes the rest to `each` after the run.
    pub fn finish(&mut self, mut each: impl FnMut(T)) {
        for (second, known) in std::mem::take(&mut self.pending) {
            self.settle(second, known, &mut each);
        }
    }

    fn settle(&self, second: u64, known: Vec<T>, each: &mut impl FnMut(T)) {
        if self.bounds.has(second) {
            known.into_iter().for_each(each);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_seconds_of_the_window_count_even_if_its_bounds_come_late() {
        let bounds = Arc::new(Bounds::unknown());
        let mut window = OfWindow::new(Arc::clone(&bounds));
        let mut taken = Vec::new();
        for second in 0..10 {
            window.put(second, second, |second| taken.push(second));
            match second {
                // Each is reported when its second is already known.
                4 => bounds.begin(4),
                8 => bounds.end(8),
                _ => {}
            }
        }
        window.finish(|second| taken.push(second));
        assert_eq!(taken, [4, 5, 6, 7]);
    }
}

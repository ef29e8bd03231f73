//! Receives the values of all observers: stores them with the job, and sums up the timed window.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use triphammer_document::samples::SampleSeries;
use triphammer_store::{SampleWriter, SampledSecond, StoreError};

/// Values of a second.
pub type Measured = Vec<(Arc<SampleSeries>, f64)>;

/// The label of one of several CPUs. Figures with it are stored, and not in the document: there are
/// several per CPU, and those of all CPUs together are there.
pub const CPU_NUMBER: &str = "cpu.logical_number";
/// Seconds for which values wait until it is certain whether they belong to the timed window: the
/// run reports its phases a little later than they begin.
const LATE_SECONDS: u64 = 3;
/// Seconds for which a value counts as the latest: longer than between two readings of any figure.
const LATEST_SECONDS: u64 = 10;

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

/// A series over the timed window.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesFigure {
    /// The series of the values.
    pub series: SampleSeries,
    /// Number of seconds in which it was measured.
    pub seconds: u64,
    /// Mean over these seconds.
    pub mean: f64,
    /// The highest value.
    pub max: f64,
    /// The last value.
    pub last: f64,
}

/// Receives the values of all observers of a run.
#[derive(Debug)]
pub struct Sink(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    writer: Option<SampleWriter>,
    window: OfWindow<Measured>,
    figures: BTreeMap<SampleSeries, SeriesFigure>,
    /// The last value of each series, with its second.
    latest: BTreeMap<Arc<SampleSeries>, (u64, f64)>,
}

impl Sink {
    /// Creates a sink that stores the values with `writer`, if there is one.
    #[must_use]
    pub fn new(writer: Option<SampleWriter>, bounds: Arc<Bounds>) -> Self {
        let window = OfWindow::new(bounds);
        let (figures, latest) = (BTreeMap::new(), BTreeMap::new());
        Self(Mutex::new(Inner { writer, window, figures, latest }))
    }

    /// Takes the values of a second, counted from the start of the run. Those of single CPUs are only
    /// stored.
    pub fn put(&self, second: u64, values: Measured) {
        let mut inner = self.0.lock().expect("no observer panics with it");
        let Inner { writer, window, figures, latest } = &mut *inner;
        if let Some(writer) = writer {
            writer.put(SampledSecond { second, values: values.clone() });
        }
        let mut of_window = values;
        of_window.retain(|(series, _)| !series.labels.contains_key(CPU_NUMBER));
        for (series, value) in &of_window {
            latest.insert(Arc::clone(series), (second, *value));
        }
        window.put(second, of_window, |values| sum_up(figures, values));
    }

    /// The last value of each figure that is still measured, without those of single CPUs.
    pub fn latest(&self) -> Measured {
        let inner = self.0.lock().expect("no observer panics with it");
        let newest = inner.latest.values().map(|(second, _)| *second).max().unwrap_or_default();
        let recent = inner.latest.iter().filter(|(_, of)| of.0 + LATEST_SECONDS > newest);
        recent.map(|(series, (_, value))| (Arc::clone(series), *value)).collect()
    }

    /// Ends the storing; returns the figures of the timed window, and how many values were lost on
    /// the way to the store, or why it could not be written to.
    pub fn finish(&self) -> (Vec<SeriesFigure>, Result<u64, StoreError>) {
        let mut inner = self.0.lock().expect("no observer panics with it");
        let Inner { writer, window, figures, .. } = &mut *inner;
        window.finish(|values| sum_up(figures, values));
        let lost = writer.take().map_or(Ok(0), SampleWriter::finish);
        (std::mem::take(figures).into_values().collect(), lost)
    }
}

fn sum_up(figures: &mut BTreeMap<SampleSeries, SeriesFigure>, values: Measured) {
    for (series, value) in values {
        if !figures.contains_key(&*series) {
            let figure = SeriesFigure {
                series: (*series).clone(),
                seconds: 0,
                mean: 0.0,
                max: f64::NEG_INFINITY,
                last: value,
            };
            figures.insert((*series).clone(), figure);
        }
        let figure = figures.get_mut(&*series).expect("it is there or was just made");
        figure.seconds += 1;
        #[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
        let seconds = figure.seconds as f64;
        figure.mean += (value - figure.mean) / seconds;
        figure.max = figure.max.max(value);
        figure.last = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triphammer_document::metrics::{Merge, Unit};

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

    #[test]
    fn figures_of_single_cpus_are_not_summed_up() {
        let sink = Sink::new(None, Arc::new(Bounds::whole()));
        let series = |labels: BTreeMap<String, String>| {
            Arc::new(SampleSeries {
                metric: "system.cpu.utilization".into(),
                labels,
                title: "CPU".into(),
                unit: Unit::Share,
                merge: Merge::Mean,
            })
        };
        let one = BTreeMap::from([(CPU_NUMBER.to_owned(), "1".to_owned())]);
        sink.put(0, vec![(series(BTreeMap::new()), 0.5), (series(one), 0.9)]);
        let latest =
            |sink: &Sink| sink.latest().iter().map(|(_, value)| *value).collect::<Vec<_>>();
        assert_eq!(latest(&sink), [0.5]);
        let other = BTreeMap::from([("cpu.mode".to_owned(), "user".to_owned())]);
        sink.put(LATEST_SECONDS, vec![(series(other), 0.7)]);
        assert_eq!(latest(&sink), [0.7], "what is no longer measured is not the latest");
        let (figures, _) = sink.finish();
        let means: Vec<f64> = figures.iter().map(|figure| figure.mean).collect();
        assert_eq!(means, [0.5, 0.7]);
    }
}

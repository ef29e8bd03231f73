//! Sampled metrics of a job: writes them without waiting for the store, and reads them downsampled
//! by the rule of each.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, SendError, SyncSender, TrySendError, sync_channel,
};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Row, params};
use triphammer_core::Clock;
use triphammer_document::JobId;
use triphammer_document::metrics::{Merge, Metric, Spread, Unit, Values};
use triphammer_document::samples::{SampleSeries, TYPE};
use triphammer_statistics::samples::{Packed, Summary, Total, WIDTH_MAX};

use super::chunks::{CHUNK_SECONDS, Chunks};
use super::columns::without_column;
use super::error::StoreError;
use super::open::Store;
use super::read::unreadable;

/// Maximum number of waiting batches; more are dropped and counted.
const QUEUE_MAX: usize = 600;
/// Time between two writes.
const WRITE_EVERY: Duration = Duration::from_secs(10);

/// Values sampled for one second.
#[derive(Clone, Debug)]
pub struct SampledSecond {
    /// The second, counted from the start of the run.
    pub second: u64,
    /// Values of the measured metrics.
    pub values: Vec<(Arc<SampleSeries>, f64)>,
}

/// Writes sampled values of a job, on a separate thread and connection.
#[derive(Debug)]
pub struct SampleWriter {
    queue: Option<SyncSender<SampledSecond>>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
    dropped: Arc<AtomicU64>,
}

impl SampleWriter {
    /// Creates a writer for a started job of the store at `path`.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(path: &Path, job: JobId) -> std::io::Result<Self> {
        let (queue, batches) = sync_channel(QUEUE_MAX);
        let dropped = Arc::new(AtomicU64::new(0));
        let (path, refused) = (path.to_owned(), Arc::clone(&dropped));
        let thread = std::thread::Builder::new()
            .name("samples".into())
            .spawn(move || write_all(&path, job, &batches, &refused))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), dropped })
    }

    /// Queues the values of a second without waiting. Drops them if the queue is full.
    pub fn put(&self, sampled: SampledSecond) {
        let queue = self.queue.as_ref().expect("it is there until the end");
        if let Err(TrySendError::Full(lost) | TrySendError::Disconnected(lost)) =
            queue.try_send(sampled)
        {
            self.dropped.fetch_add(lost.values.len() as u64, Ordering::Relaxed);
        }
    }

    /// Like [`SampleWriter::put`], but waits for room: for values from a source such as a file.
    pub fn put_waiting(&self, sampled: SampledSecond) {
        let queue = self.queue.as_ref().expect("it is there until the end");
        if let Err(SendError(lost)) = queue.send(sampled) {
            self.dropped.fetch_add(lost.values.len() as u64, Ordering::Relaxed);
        }
    }

    /// Writes waiting values, and returns how many values were dropped.
    ///
    /// # Errors
    /// When the store could not be written to at the end.
    pub fn finish(mut self) -> Result<u64, StoreError> {
        drop(self.queue.take());
        let ended = self.thread.take().map(JoinHandle::join);
        let dropped = self.dropped.load(Ordering::Relaxed);
        // A panic there was a defect that did not affect the run.
        ended.and_then(Result::ok).unwrap_or(Ok(())).map(|()| dropped)
    }
}

fn write_all(
    path: &Path,
    job: JobId,
    batches: &Receiver<SampledSecond>,
    refused: &AtomicU64,
) -> Result<(), StoreError> {
    let mut chunks = Chunks::default();
    let mut store = None;
    let clock = Clock::start();
    let mut due = WRITE_EVERY;
    let mut chunk = 0;
    loop {
        match batches.recv_timeout(due.saturating_sub(clock.now().duration())) {
            Ok(SampledSecond { second, values }) => {
                for (series, value) in values {
                    if !chunks.put(&series, second, value) {
                        refused.fetch_add(1, Ordering::Relaxed);
                    }
                }
                // A full chunk is written at once, however fast values arrive.
                let is_full = std::mem::replace(&mut chunk, second / CHUNK_SECONDS) != chunk;
                if clock.now().duration() < due && !is_full {
                    continue;
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return write(&mut store, path, job, &mut chunks);
            }
        }
        // Data that cannot be written now is retried with the next batch.
        let _ = write(&mut store, path, job, &mut chunks);
        due = clock.now().duration() + WRITE_EVERY;
    }
}

fn write(
    store: &mut Option<Store>,
    path: &Path,
    job: JobId,
    chunks: &mut Chunks,
) -> Result<(), StoreError> {
    if store.is_none() {
        *store = Some(Store::open(path)?);
    }
    let store = store.as_ref().expect("just opened");
    store.write(|connection| chunks.write(connection, job))?;
    chunks.written();
    Ok(())
}

/// Values of a metric over an interval of seconds, downsampled.
#[derive(Clone, Debug)]
pub struct SamplePoints {
    /// The series of the values.
    pub series: SampleSeries,
    /// Intervals in which it was measured, in order.
    pub points: Vec<SamplePoint>,
}

/// An interval of seconds of a sampled metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplePoint {
    /// The first second in which it was measured.
    pub first: u64,
    /// The value, merged by the metric's rule.
    pub value: f64,
    /// Minimum, mean and maximum over its seconds.
    pub spread: [f64; 3],
}

/// A stored series of a job.
#[derive(Clone, Debug)]
pub struct StoredSeries {
    id: i64,
    /// Name, labels and unit.
    pub series: SampleSeries,
}

impl Store {
    /// Lists the sampled metrics of a job: those named `metric`, or all.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn sample_series(
        &self,
        job: JobId,
        metric: Option<&str>,
    ) -> Result<Vec<SampleSeries>, StoreError> {
        let found = self.series_with_ids(job, metric)?;
        Ok(found.into_iter().map(|found| found.series).collect())
    }

    /// Lists the sampled metrics of a job that are named `metric`, or all, and have all of these
    /// labels, sorted by name, then by labels.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn find_series(
        &self,
        job: JobId,
        metric: Option<&str>,
        labels: &[(&str, &str)],
    ) -> Result<Vec<StoredSeries>, StoreError> {
        let mut found = self.series_with_ids(job, metric)?;
        found.retain(|found| found.series.has(labels));
        Ok(found)
    }

    fn series_with_ids(
        &self,
        job: JobId,
        metric: Option<&str>,
    ) -> Result<Vec<StoredSeries>, StoreError> {
        let sql = "SELECT id, metric, labels, title, unit, merge FROM sample_series
                   WHERE job = ?1 AND (?2 IS NULL OR metric = ?2) ORDER BY metric, labels";
        self.rows(sql, params![job.0, metric], series_row)
    }

    /// The seconds of a job that its chunks of samples cover, rounded to full chunks at the start.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn sample_stretch(&self, job: JobId) -> Result<Option<Range<u64>>, StoreError> {
        let sql = "SELECT min(first_second), max(first_second + count) FROM sample_chunk
                   WHERE series IN (SELECT id FROM sample_series WHERE job = ?1)";
        let found = self.rows(sql, [job.0], |row| {
            Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
        })?;
        let Some((Some(first), Some(end))) = found.into_iter().next() else { return Ok(None) };
        let [first, end] = [first, end].map(|second| u64::try_from(second).unwrap_or_default());
        Ok(Some(first..end))
    }

    /// Reads the values of a job's metrics named `metric` with all of these labels, in `seconds` of
    /// the run, merging `step` seconds per point.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn samples(
        &self,
        job: JobId,
        metric: &str,
        labels: &[(&str, &str)],
        seconds: Range<u64>,
        step: u64,
    ) -> Result<Vec<SamplePoints>, StoreError> {
        let found = self.find_series(job, Some(metric), labels)?;
        let read = |found: StoredSeries| {
            let points = self.points(&found, &seconds, step)?;
            Ok(SamplePoints { series: found.series, points })
        };
        found.into_iter().map(read).collect()
    }

    /// Reads the values of one series in `seconds` of the run, merging `step` seconds per point.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn points(
        &self,
        of: &StoredSeries,
        seconds: &Range<u64>,
        step: u64,
    ) -> Result<Vec<SamplePoint>, StoreError> {
        let mut thinned = Thinned::new(of.series.merge, seconds.start, step);
        self.each_sample(of, seconds, |second, value| thinned.add(second, value))?;
        Ok(thinned.points())
    }

    /// Reads the means of one series in the seconds of `part`, and in the other seconds of `window`;
    /// each is `None` if it was not measured there.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn means(
        &self,
        of: &StoredSeries,
        part: &Range<u64>,
        window: &Range<u64>,
    ) -> Result<[Option<Summary>; 2], StoreError> {
        let (mut here, mut rest) = (Total::default(), Total::default());
        let [before, after] = [window.start..part.start, part.end..window.end]
            .map(|of| of.start.max(window.start)..of.end.min(window.end));
        let all = part.start.min(window.start)..part.end.max(window.end);
        self.each_chunk(of, &all, |first, chunk| {
            here.add(chunk, places(first, part));
            rest.add(chunk, places(first, &before));
            rest.add(chunk, places(first, &after));
        })?;
        Ok([here, rest].map(|total| total.summary(of.series.unit.scale())))
    }

    /// Passes the values of a series in `seconds` to `each`, in order.
    fn each_sample(
        &self,
        series: &StoredSeries,
        seconds: &Range<u64>,
        mut each: impl FnMut(u64, f64),
    ) -> Result<(), StoreError> {
        let scale = series.series.unit.scale();
        self.each_chunk(series, seconds, |first, chunk| {
            for (second, value) in (first..).zip(chunk.values(scale)) {
                if let Some(value) = value.filter(|_| seconds.contains(&second)) {
                    each(second, value);
                }
            }
        })
    }

    /// Passes the chunks of a series that may have values in `seconds` to `each`, in order, with their
    /// first seconds.
    fn each_chunk(
        &self,
        series: &StoredSeries,
        seconds: &Range<u64>,
        mut each: impl FnMut(u64, &Packed),
    ) -> Result<(), StoreError> {
        let sql = "SELECT first_second, count, base, width, data FROM sample_chunk
                   WHERE series = ?1 AND first_second > ?2 AND first_second < ?3
                   ORDER BY first_second";
        let border = |second: u64| i64::try_from(second).unwrap_or(i64::MAX);
        let from = border(seconds.start).saturating_sub(border(CHUNK_SECONDS));
        let chunks = self.rows(sql, params![series.id, from, border(seconds.end)], chunk_row)?;
        for (first, chunk) in chunks {
            each(first, &chunk);
        }
        Ok(())
    }
}

/// Declared metrics without a column, for a job's seconds.
pub(super) struct Beside(Vec<(&'static str, BTreeMap<String, BySecond>)>);

/// Values by the first second covered.
type BySecond = BTreeMap<u64, f64>;

impl Beside {
    /// Adds the values of a second, and of a transaction type if given.
    pub fn fill(&self, values: &mut Values, transaction: &str, first: u64, seconds: f64) {
        for (name, of) in &self.0 {
            values.set(name, of.get(transaction).and_then(|values| values.get(&first)).copied());
        }
        if !self.0.is_empty() {
            values.derive(seconds);
        }
    }
}

impl Store {
    /// Reads the metrics of a list.
    pub(super) fn beside(
        &self,
        job: JobId,
        metrics: &'static [Metric],
        seconds: &Range<u64>,
    ) -> Result<Beside, StoreError> {
        let mut all = Vec::new();
        for metric in without_column(metrics) {
            let mut of: BTreeMap<String, BySecond> = BTreeMap::new();
            for found in self.series_with_ids(job, Some(metric.name))? {
                let transaction = found.series.labels.get(TYPE).cloned().unwrap_or_default();
                let values = of.entry(transaction).or_default();
                self.each_sample(&found, seconds, |second, value| {
                    values.insert(second, value);
                })?;
            }
            all.push((metric.name, of));
        }
        Ok(Beside(all))
    }
}

/// Points under construction.
struct Thinned {
    merge: Merge,
    from: u64,
    step: u64,
    points: Vec<(u64, f64, f64, Spread)>,
}

impl Thinned {
    fn new(merge: Merge, from: u64, step: u64) -> Self {
        Self { merge, from, step: step.max(1), points: Vec::new() }
    }

    fn add(&mut self, second: u64, value: f64) {
        let place = |second: u64| (second - self.from) / self.step;
        match self.points.last_mut() {
            Some((first, merged, seconds, spread)) if place(*first) == place(second) => {
                let both = [Some(*merged), Some(value)];
                *merged = self.merge.of(both, [*seconds, 1.0]).unwrap_or(value);
                *seconds += 1.0;
                spread.add(value, 1.0);
            }
            _ => {
                let mut spread = Spread::default();
                spread.add(value, 1.0);
                self.points.push((second, value, 1.0, spread));
            }
        }
    }

    fn points(self) -> Vec<SamplePoint> {
        let point = |(first, value, _, spread): (u64, f64, f64, Spread)| SamplePoint {
            first,
            value,
            spread: spread.values().unwrap_or([value; 3]),
        };
        self.points.into_iter().map(point).collect()
    }
}

fn series_row(row: &Row<'_>) -> rusqlite::Result<StoredSeries> {
    let text = |column: usize| row.get::<_, String>(column);
    let unknown = |column: usize, word: &str| {
        unreadable(column, rusqlite::types::Type::Text, format!("`{word}` is not known"))
    };
    let (labels, unit, merge) = (text(2)?, text(4)?, text(5)?);
    let series = SampleSeries {
        metric: text(1)?,
        labels: serde_json::from_str(&labels).map_err(|_| unknown(2, &labels))?,
        title: text(3)?,
        unit: Unit::named(&unit).ok_or_else(|| unknown(4, &unit))?,
        merge: Merge::named(&merge).ok_or_else(|| unknown(5, &merge))?,
    };
    Ok(StoredSeries { id: row.get(0)?, series })
}

fn chunk_row(row: &Row<'_>) -> rusqlite::Result<(u64, Packed)> {
    let chunk = Packed {
        count: super::read::place(row, 1)?,
        base: row.get(2)?,
        width: super::read::place(row, 3)?,
        data: row.get(4)?,
    };
    // Not written by this program, and would take long to iterate.
    if chunk.width > WIDTH_MAX || chunk.count as u64 > CHUNK_SECONDS {
        let kind = rusqlite::types::Type::Integer;
        return Err(unreadable(3, kind, "it is not a chunk of samples".to_owned()));
    }
    Ok((super::read::unsigned(row, 0)?, chunk))
}

/// The places of seconds in a chunk with this first second; they may be beyond its end.
fn places(first: u64, seconds: &Range<u64>) -> Range<usize> {
    let place = |second: u64| usize::try_from(second.saturating_sub(first)).unwrap_or(usize::MAX);
    place(seconds.start)..place(seconds.end)
}

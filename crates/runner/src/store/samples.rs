//! Sampled figures of a job: writing them without ever waiting for the store, and reading them again,
//! thinned by the rule that each declares.

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

use super::chunks::{CHUNK_SECONDS, Chunks, Encoded, SampleSeries, TYPE};
use super::columns::without_column;
use super::error::StoreError;
use super::job::JobId;
use super::open::Store;
use super::read::unreadable;
use crate::metrics::{Merge, Metric, Spread, Unit, Values};

/// Batches that wait to be written; what comes beyond is dropped and counted.
const QUEUE_MAX: usize = 600;
/// Between two writes.
const WRITE_EVERY: Duration = Duration::from_secs(10);

/// Values that were sampled for one second.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// The second, from the run's zero.
    pub second: u64,
    /// A value for each figure that was measured.
    pub values: Vec<(Arc<SampleSeries>, f64)>,
}

/// Writes sampled values of a job, on a thread and a connection of its own.
#[derive(Debug)]
pub struct SampleWriter {
    queue: Option<SyncSender<Sampled>>,
    thread: Option<JoinHandle<Result<(), StoreError>>>,
    dropped: Arc<AtomicU64>,
}

impl SampleWriter {
    /// Begins for a job of the store at `path`, which somebody has begun.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(path: &Path, job: JobId) -> std::io::Result<Self> {
        let (queue, batches) = sync_channel(QUEUE_MAX);
        let dropped = Arc::new(AtomicU64::new(0));
        let (path, refused) = (path.to_owned(), Arc::clone(&dropped));
        let thread = std::thread::Builder::new()
            .name("samples".into())
            .spawn(move || write_all(&path, job, &batches, &refused))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), dropped })
    }

    /// Takes the values of a second; never waits. What the writer has no room for is dropped.
    pub fn put(&self, sampled: Sampled) {
        let queue = self.queue.as_ref().expect("it is there until the end");
        if let Err(TrySendError::Full(lost) | TrySendError::Disconnected(lost)) =
            queue.try_send(sampled)
        {
            self.dropped.fetch_add(lost.values.len() as u64, Ordering::Relaxed);
        }
    }

    /// As [`SampleWriter::put`], but waits for room: for values that are read from somewhere, such as a file.
    pub fn put_waiting(&self, sampled: Sampled) {
        let queue = self.queue.as_ref().expect("it is there until the end");
        if let Err(SendError(lost)) = queue.send(sampled) {
            self.dropped.fetch_add(lost.values.len() as u64, Ordering::Relaxed);
        }
    }

    /// Writes what waits, and says how many values could not be kept.
    ///
    /// # Errors
    /// When the store could not be written at the end.
    pub fn finish(mut self) -> Result<u64, StoreError> {
        drop(self.queue.take());
        let ended = self.thread.take().map(JoinHandle::join);
        let dropped = self.dropped.load(Ordering::Relaxed);
        // A panic there was a defect that the run has outlived.
        ended.and_then(Result::ok).unwrap_or(Ok(())).map(|()| dropped)
    }
}

fn write_all(
    path: &Path,
    job: JobId,
    batches: &Receiver<Sampled>,
    refused: &AtomicU64,
) -> Result<(), StoreError> {
    let mut chunks = Chunks::default();
    let mut store = None;
    let clock = Clock::start();
    let mut due = WRITE_EVERY;
    let mut chunk = 0;
    loop {
        match batches.recv_timeout(due.saturating_sub(clock.now().duration())) {
            Ok(Sampled { second, values }) => {
                for (series, value) in values {
                    if !chunks.put(&series, second, value) {
                        refused.fetch_add(1, Ordering::Relaxed);
                    }
                }
                // A chunk that is full is written at once, however fast values come.
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
        // What cannot be written now is tried again with the next.
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

/// A figure's values over a stretch of seconds, thinned.
#[derive(Clone, Debug)]
pub struct SamplePoints {
    /// The figure.
    pub series: SampleSeries,
    /// Stretches in which it was measured, in order.
    pub points: Vec<SamplePoint>,
}

/// A stretch of seconds of a sampled figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplePoint {
    /// The first second in which it was measured.
    pub first: u64,
    /// Its value, by the rule that it declares.
    pub value: f64,
    /// The least, the mean, and the most of its seconds.
    pub spread: [f64; 3],
}

/// A series of a job that the store has.
#[derive(Clone, Debug)]
pub struct StoredSeries {
    id: i64,
    /// What it is called, and what it counts in.
    pub series: SampleSeries,
}

impl Store {
    /// The sampled figures of a job: those called `metric`, or all.
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

    /// The sampled figures of a job that are called `metric`, or all, and have all of these labels;
    /// in the order of names, then of labels.
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

    /// The seconds of a job from which chunks of samples are kept, whole chunks at the beginning.
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

    /// The values of a job's figures called `metric`, of those that have all of these labels, in
    /// `seconds` of the run, `step` of which become one point.
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

    /// The values of one series in `seconds` of the run, `step` of which become one point.
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
        self.each_sample(of.id, seconds, of.series.unit.scale(), |second, value| {
            thinned.add(second, value);
        })?;
        Ok(thinned.points())
    }

    /// Hands the values of a series in `seconds` to `each`, in order.
    fn each_sample(
        &self,
        series: i64,
        seconds: &Range<u64>,
        scale: u32,
        mut each: impl FnMut(u64, f64),
    ) -> Result<(), StoreError> {
        let sql = "SELECT first_second, count, base, width, data FROM sample_chunk
                   WHERE series = ?1 AND first_second > ?2 AND first_second < ?3
                   ORDER BY first_second";
        let border = |second: u64| i64::try_from(second).unwrap_or(i64::MAX);
        let from = border(seconds.start).saturating_sub(border(CHUNK_SECONDS));
        let chunks = self.rows(sql, params![series, from, border(seconds.end)], chunk_row)?;
        for (first, chunk) in chunks {
            for (second, place) in (first..).zip(0..chunk.count) {
                if let Some(number) = chunk.at(place).filter(|_| seconds.contains(&second)) {
                    each(second, float(number) / f64::from(scale));
                }
            }
        }
        Ok(())
    }
}

/// Declared figures that have no column, of a job's seconds.
pub(super) struct Beside(Vec<(&'static str, BTreeMap<String, BySecond>)>);

/// Values by the first second that they cover.
type BySecond = BTreeMap<u64, f64>;

impl Beside {
    /// Puts those of a second, and of a transaction type where one is named, to the others.
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
    /// Reads those of a list.
    pub(super) fn beside(
        &self,
        job: JobId,
        metrics: &'static [Metric],
        seconds: &Range<u64>,
    ) -> Result<Beside, StoreError> {
        let mut all = Vec::new();
        for metric in without_column(metrics) {
            let mut of: BTreeMap<String, BySecond> = BTreeMap::new();
            for StoredSeries { id, series } in self.series_with_ids(job, Some(metric.name))? {
                let transaction = series.labels.get(TYPE).cloned().unwrap_or_default();
                let values = of.entry(transaction).or_default();
                self.each_sample(id, seconds, series.unit.scale(), |second, value| {
                    values.insert(second, value);
                })?;
            }
            all.push((metric.name, of));
        }
        Ok(Beside(all))
    }
}

/// Points in the making.
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

fn chunk_row(row: &Row<'_>) -> rusqlite::Result<(u64, Encoded)> {
    let chunk = Encoded {
        count: super::read::place(row, 1)?,
        base: row.get(2)?,
        width: super::read::place(row, 3)?,
        data: row.get(4)?,
    };
    // Nothing that this program writes, and nothing to loop over for long.
    if chunk.width > 8 || chunk.count as u64 > CHUNK_SECONDS {
        let kind = rusqlite::types::Type::Integer;
        return Err(unreadable(3, kind, "it is no chunk of samples".to_owned()));
    }
    Ok((super::read::unsigned(row, 0)?, chunk))
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53")]
const fn float(number: i64) -> f64 {
    number as f64
}

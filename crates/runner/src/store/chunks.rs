//! Sampled values in compressed chunks. A chunk contains up to 300 seconds of one metric as
//! integers: the difference of each from the minimum, in as few bytes as the largest needs.
//! Neighbouring seconds differ little, so two to three bytes suffice, and constants need none.
//! Values are accessed directly, and the view `samples` reads them in SQL without this program.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::job::JobId;
use crate::metrics::{Merge, Metric, Unit};

/// The label that names a transaction type.
pub(super) const TYPE: &str = "type";
/// Seconds per chunk. Chunks start at multiples of it.
pub const CHUNK_SECONDS: u64 = 300;
/// Maximum number of series per job; more are rejected.
pub const SERIES_MAX: usize = 5_000;
/// Maximum chunks of a series kept while the store cannot be written to: one hour.
const OPEN_MAX: usize = 12;
/// Largest absolute number: the difference of any two fits into eight bytes.
const NUMBER_MAX: f64 = 2e18;

/// A metric sampled once per second, as stored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SampleSeries {
    /// Name of the metric: `buffers_read`.
    pub metric: String,
    /// Labels: `database` is `tpcc`.
    pub labels: BTreeMap<String, String>,
    /// Title in charts.
    pub title: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Rule for merging several seconds.
    pub merge: Merge,
}

impl SampleSeries {
    /// Creates the series of a declared metric, of a transaction type or of all threads.
    pub(super) fn of(metric: &Metric, transaction: Option<&str>) -> Self {
        let label = transaction.map(|name| (TYPE.to_owned(), name.to_owned()));
        Self {
            metric: metric.name.to_owned(),
            labels: label.into_iter().collect(),
            title: metric.title.to_owned(),
            unit: metric.unit,
            merge: metric.merge,
        }
    }

    /// Whether it has all of these labels.
    #[must_use]
    pub fn has(&self, labels: &[(&str, &str)]) -> bool {
        let mut wanted = labels.iter();
        wanted.all(|(name, value)| self.labels.get(*name).is_some_and(|found| found == value))
    }

    pub(super) fn labels_json(&self) -> String {
        serde_json::to_string(&self.labels).expect("text by text")
    }
}

/// Values of one chunk; `None` if not measured.
type Numbers = Vec<Option<i64>>;

/// An encoded chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Encoded {
    pub count: usize,
    pub base: i64,
    pub width: usize,
    pub data: Vec<u8>,
}

impl Encoded {
    /// Encodes a chunk; `None` if it is empty.
    fn of(numbers: &[Option<i64>]) -> Option<Self> {
        let some = || numbers.iter().flatten().copied();
        let (base, most) = (some().min()?, some().max()?);
        let is_constant = base == most && numbers.iter().all(Option::is_some);
        let above = |number: i64| number.abs_diff(base) + 1;
        let width = if is_constant { 0 } else { 8 - above(most).leading_zeros() as usize / 8 };
        let mut data = Vec::with_capacity(numbers.len() * width);
        for number in numbers {
            data.extend(&number.map_or(0, above).to_be_bytes()[8 - width..]);
        }
        Some(Self { count: numbers.len(), base, width, data })
    }

    fn write(&self, connection: &Connection, series: i64, first: u64) -> rusqlite::Result<()> {
        let sql = "INSERT INTO sample_chunk (series, first_second, count, base, width, data)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (series, first_second)
                   DO UPDATE SET count = ?3, base = ?4, width = ?5, data = ?6";
        let Self { count, base, width, data } = self;
        let (first, count, width) = (integer(first), small(*count), small(*width));
        connection
            .prepare_cached(sql)?
            .execute(params![series, first, count, base, width, data])?;
        Ok(())
    }

    /// The number at an index; `None` if not measured.
    pub fn at(&self, place: usize) -> Option<i64> {
        if self.width == 0 {
            return (place < self.count).then_some(self.base);
        }
        let bytes = self.data.get(place * self.width..(place + 1) * self.width)?;
        let above = bytes.iter().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
        above.checked_sub(1).map(|above| self.base.wrapping_add_unsigned(above))
    }
}

/// Open chunks of one job.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    series: BTreeMap<SampleSeries, BTreeMap<u64, Open>>,
    /// Chunks that start before this second are closed.
    closed_before: u64,
}

#[derive(Debug, Default)]
struct Open {
    numbers: Numbers,
    is_written: bool,
}

impl Chunks {
    /// Adds a value, and returns whether that was possible: it may be at most five minutes late,
    /// and the number of series is limited. NaN counts as no value.
    pub fn put(&mut self, series: &SampleSeries, second: u64, value: f64) -> bool {
        let Some(number) = quantised(value, series.unit.scale()) else { return true };
        let begin = second / CHUNK_SECONDS * CHUNK_SECONDS;
        if begin < self.closed_before {
            return false;
        }
        if !self.series.contains_key(series) {
            if self.series.len() == SERIES_MAX {
                return false;
            }
            self.series.insert(series.clone(), BTreeMap::new());
        }
        let chunks = self.series.get_mut(series).expect("it is there or was just made");
        if chunks.len() == OPEN_MAX && !chunks.contains_key(&begin) {
            return false;
        }
        let chunk = chunks.entry(begin).or_default();
        let place = usize::try_from(second - begin).expect("it is within a chunk");
        if chunk.numbers.len() <= place {
            chunk.numbers.resize(place + 1, None);
        }
        chunk.numbers[place] = Some(number);
        chunk.is_written = false;
        true
    }

    /// Writes new values. Open chunks stay open and are written again when they have grown.
    pub fn write(&self, connection: &Connection, job: JobId) -> rusqlite::Result<()> {
        for (series, chunks) in &self.series {
            let mut new = chunks.iter().filter(|(_, chunk)| !chunk.is_written).peekable();
            if new.peek().is_none() {
                continue;
            }
            let id = series_id(connection, job, series)?;
            for (first, chunk) in new {
                if let Some(encoded) = Encoded::of(&chunk.numbers) {
                    encoded.write(connection, id, *first)?;
                }
            }
        }
        Ok(())
    }

    /// After writing: closes the chunks that late values can no longer reach.
    pub fn written(&mut self) {
        let newest = self.series.values().filter_map(BTreeMap::last_key_value);
        let newest = newest.map(|(first, _)| *first).max().unwrap_or_default();
        self.closed_before = newest.saturating_sub(CHUNK_SECONDS);
        for chunks in self.series.values_mut() {
            chunks.retain(|first, chunk| {
                chunk.is_written = true;
                *first >= self.closed_before
            });
        }
    }
}

fn series_id(connection: &Connection, job: JobId, series: &SampleSeries) -> rusqlite::Result<i64> {
    let labels = series.labels_json();
    let found = connection
        .prepare_cached(
            "SELECT id FROM sample_series WHERE job = ?1 AND metric = ?2 AND labels = ?3",
        )?
        .query_row(params![job.0, series.metric, labels], |row| row.get(0))
        .optional()?;
    if let Some(id) = found {
        return Ok(id);
    }
    connection
        .prepare_cached(
            "INSERT INTO sample_series (job, metric, labels, title, unit, merge, scale)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            job.0,
            series.metric,
            labels,
            series.title,
            series.unit.name(),
            series.merge.name(),
            series.unit.scale(),
        ])?;
    Ok(connection.last_insert_rowid())
}

/// Converts a value to an integer multiple of `1 / scale`; `None` for NaN.
#[expect(clippy::cast_possible_truncation, reason = "it is clamped to what fits")]
fn quantised(value: f64, scale: u32) -> Option<i64> {
    let number = (value * f64::from(scale)).round();
    (!number.is_nan()).then(|| number.clamp(-NUMBER_MAX, NUMBER_MAX) as i64)
}

fn small(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn integer(second: u64) -> i64 {
    i64::try_from(second).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_whatever_their_range_and_gaps() {
        let ends = quantised(f64::INFINITY, 1).zip(quantised(f64::NEG_INFINITY, 1)).unwrap();
        let cases: [(&[Option<i64>], usize); 7] = [
            (&[Some(7); 5], 0),
            (&[Some(7), None, Some(7)], 1),
            (&[Some(-3), Some(251)], 1),
            (&[Some(-3), Some(252)], 2),
            (&[Some(0), Some(65_534)], 2),
            (&[Some(5_000_000_000), None, Some(5_000_070_000)], 3),
            (&[Some(ends.0), None, Some(ends.1)], 8),
        ];
        for (numbers, width) in cases {
            let encoded = Encoded::of(numbers).unwrap();
            assert_eq!(encoded.width, width, "{numbers:?}");
            let read: Numbers = (0..numbers.len()).map(|place| encoded.at(place)).collect();
            assert_eq!(read, numbers);
            assert_eq!(encoded.at(numbers.len()), None);
        }
        assert_eq!(Encoded::of(&[None, None]), None);
        assert_eq!(quantised(f64::NAN, 1), None);
    }
}

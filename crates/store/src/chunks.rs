//! Sampled values in compressed chunks. A chunk contains up to 300 seconds of one metric as packed
//! integers. The view `samples` reads them in SQL without this program.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};
use triphammer_document::JobId;
use triphammer_document::samples::SampleSeries;
use triphammer_statistics::samples::Packed;

/// Seconds per chunk. Chunks start at multiples of it.
pub const CHUNK_SECONDS: u64 = 300;
/// Maximum number of series per job; more are rejected.
pub const SERIES_MAX: usize = 5_000;
/// Maximum chunks of a series kept while the store cannot be written to: one hour.
const OPEN_MAX: usize = 12;
/// Largest absolute number: the difference of any two fits into eight bytes.
const NUMBER_MAX: f64 = 2e18;

/// Values of one chunk; `None` if not measured.
type Numbers = Vec<Option<i64>>;

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
                if let Some(packed) = Packed::of(&chunk.numbers) {
                    write(connection, id, *first, &packed)?;
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

fn write(connection: &Connection, series: i64, first: u64, chunk: &Packed) -> rusqlite::Result<()> {
    let sql = "INSERT INTO sample_chunk (series, first_second, count, base, width, data)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (series, first_second)
               DO UPDATE SET count = ?3, base = ?4, width = ?5, data = ?6";
    let Packed { count, base, width, data } = chunk;
    let (first, count, width) = (integer(first), small(*count), small(*width));
    connection.prepare_cached(sql)?.execute(params![series, first, count, base, width, data])?;
    Ok(())
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
    use triphammer_statistics::samples::Packed;

    use super::quantised;

    #[test]
    fn the_largest_numbers_fit_into_a_chunk() {
        let ends = [f64::INFINITY, f64::NEG_INFINITY].map(|value| quantised(value, 1));
        let packed = Packed::of(&ends).unwrap();
        assert_eq!(packed.values(1), [Some(2e18), Some(-2e18)]);
        assert_eq!(quantised(f64::NAN, 1), None);
    }
}

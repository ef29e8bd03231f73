//! Browsing the store: pages of filtered jobs, sparklines, parts of long series, and changes to
//! stored jobs.

use std::ops::Range;

use rusqlite::types::{Type, Value};
use rusqlite::{Row, params, params_from_iter};
use triphammer_document::JobId;
use triphammer_document::metrics::{OF_SECOND, OF_TYPE};
use triphammer_document::series::{SecondRow, SeriesRow, length};
use triphammer_settings::command::JobKind;

use super::columns::columns;
use super::error::StoreError;
use super::histograms::{Bins, TimesKind};
use super::job::{JobRow, JobStatus};
use super::open::Store;
use super::read::{
    JOB_COLUMNS, bounds, job_row, place, second_row, series_row, unreadable, unsigned,
};

/// Maximum number of jobs per page.
pub const PAGE_MAX: u32 = 200;

/// Filter of a page of jobs. Texts match substrings, ignoring case.
#[derive(Clone, Debug, Default)]
pub struct JobQuery {
    /// Only jobs of this command; all when absent.
    pub kind: Option<JobKind>,
    /// Only jobs with this stored status: a lost job may still be stored as running.
    pub status: Option<JobStatus>,
    /// Only jobs of this workload; all when absent.
    pub workload: Option<String>,
    /// Only the runs of this campaign job; when absent, jobs that are not part of another job.
    pub parent: Option<JobId>,
    /// Text in label, target, workload, server or number.
    pub search: Option<String>,
    /// Only jobs older than this one, which is the last of the previous page.
    pub before: Option<JobId>,
    /// Maximum number of jobs, 1 to [`PAGE_MAX`].
    pub limit: u32,
}

/// A page of jobs, newest first.
#[derive(Clone, Debug)]
pub struct JobPage {
    /// Jobs of the page, newest first.
    pub jobs: Vec<JobRow>,
    /// Total number of matches on all pages.
    pub total: u64,
}

impl Store {
    /// A page of jobs, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn page(&self, query: &JobQuery) -> Result<JobPage, StoreError> {
        let (condition, mut args) = condition(query);
        let count = format!("SELECT count(*) FROM jobs WHERE {condition}");
        let total = self
            .connection
            .query_row(&count, params_from_iter(args.iter()), |row| row.get::<_, i64>(0))
            .map_err(|error| self.failed(error))?;
        let mut sql = format!("SELECT {JOB_COLUMNS} FROM jobs WHERE {condition}");
        if let Some(before) = query.before {
            sql.push_str(" AND id < ?");
            args.push(before.0.into());
        }
        sql.push_str(" ORDER BY id DESC LIMIT ?");
        args.push(i64::from(query.limit.clamp(1, PAGE_MAX)).into());
        let mut jobs = self.rows(&sql, params_from_iter(args), job_row)?;
        for job in &mut jobs {
            self.look_after(job)?;
        }
        Ok(JobPage { jobs, total: u64::try_from(total).unwrap_or_default() })
    }

    /// Transactions completed per second, in `points` intervals of equal length while there was load;
    /// fewer if the run has fewer seconds, and none without a series.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn sparkline(&self, job: JobId, points: u32) -> Result<Vec<f64>, StoreError> {
        let Some(whole) = self.stretch(job)? else { return Ok(Vec::new()) };
        let range = whole.start..self.load_end(job)?.unwrap_or(whole.end).max(whole.start + 1);
        let step = (range.end - range.start).div_ceil(u64::from(points.max(1))).max(1);
        let mut stretches: Vec<Stretch> = Vec::new();
        // In storage order: a day of rows is read in a tenth of a second, but takes a second to
        // sort.
        let sql = "SELECT first_second, last_second, committed + rolled_back FROM series
                   WHERE job = ?1 AND first_second < ?2 ORDER BY first_second, type";
        let row = |row: &Row<'_>| {
            let (first, last, completed) =
                (unsigned(row, 0)?, unsigned(row, 1)?, unsigned(row, 2)?);
            let place = (first - range.start) / step;
            match stretches.last_mut() {
                Some(stretch) if stretch.place == place => {
                    stretch.last = last;
                    stretch.completed += completed;
                }
                _ => stretches.push(Stretch { place, first, last, completed }),
            }
            Ok(())
        };
        let [job, _, end] = bounds(job, &range);
        self.rows(sql, [job, end], row)?;
        Ok(stretches.iter().map(Stretch::per_second).collect())
    }

    /// Returns the first second after the load; `None` during the load, and for a series without
    /// phases. A drain shorter than a second may have no phase: then the result's window ends the
    /// load.
    fn load_end(&self, job: JobId) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT MIN(first_second) FROM seconds
                   WHERE job = ?1 AND phase IN ('drain', 'abort')
                   UNION ALL
                   SELECT json_extract(result, '$.durations.rampup_s')
                        + json_extract(result, '$.durations.window_s') FROM jobs WHERE id = ?1";
        let found = self.rows(sql, [job.0], |row| row.get::<_, Option<f64>>(0))?;
        let ends = found.into_iter().flatten().filter(|end| *end > 0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "seconds above 0"
        )]
        let end = ends.map(|end| end.ceil() as u64).min();
        Ok(end)
    }

    /// First and last second of a job's series; `None` without a series.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn stretch(&self, job: JobId) -> Result<Option<Range<u64>>, StoreError> {
        let sql = "SELECT
                   (SELECT first_second FROM seconds WHERE job = ?1 ORDER BY first_second LIMIT 1),
                   (SELECT last_second FROM seconds WHERE job = ?1 ORDER BY first_second DESC LIMIT 1)";
        let found = self.rows(sql, [job.0], |row| {
            Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?))
        })?;
        let Some((Some(first), Some(last))) = found.into_iter().next() else { return Ok(None) };
        let [first, last] = [first, last].map(|n| u64::try_from(n).unwrap_or_default());
        Ok(Some(first..last + 1))
    }

    /// Passes every row of [`Store::series`] that starts in `seconds` to `each`, in order, one at a
    /// time.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn each_of_series(
        &self,
        job: JobId,
        seconds: Range<u64>,
        mut each: impl FnMut(SeriesRow),
    ) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT first_second, last_second, type{} FROM series
             WHERE job = ?1 AND first_second >= ?2 AND first_second < ?3
             ORDER BY first_second, type",
            columns(OF_TYPE)
        );
        let beside = self.beside(job, OF_TYPE, &seconds)?;
        let names = self.transactions(job)?;
        self.each(&sql, bounds(job, &seconds), series_row, |mut row| {
            let name = names.get(row.transaction).map_or("", String::as_str);
            beside.fill(&mut row.values, name, row.first, length(row.first, row.last));
            each(row);
        })
    }

    /// Like [`Store::each_of_series`], for [`Store::seconds`].
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn each_of_seconds(
        &self,
        job: JobId,
        seconds: Range<u64>,
        mut each: impl FnMut(SecondRow),
    ) -> Result<(), StoreError> {
        let sql = format!(
            "SELECT first_second, last_second, phase{} FROM seconds
             WHERE job = ?1 AND first_second >= ?2 AND first_second < ?3 ORDER BY first_second",
            columns(OF_SECOND)
        );
        let beside = self.beside(job, OF_SECOND, &seconds)?;
        self.each(&sql, bounds(job, &seconds), second_row, |mut row| {
            beside.fill(&mut row.values, "", row.first, length(row.first, row.last));
            each(row);
        })
    }

    /// Passes the counts of a kind of histograms to `each`, in order: first second, index of the
    /// transaction type, bin (computed by `bin_of` from times in µs, in ascending order), and
    /// count.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn each_bin(
        &self,
        job: JobId,
        seconds: Range<u64>,
        times: TimesKind,
        bin_of: fn(u64) -> usize,
        mut each: impl FnMut(u64, usize, usize, u64),
    ) -> Result<(), StoreError> {
        let bins = Bins::new(bin_of);
        let sql = "SELECT first_second, type, counts FROM histograms
                   WHERE job = ?1 AND first_second >= ?2 AND first_second < ?3 AND times = ?4
                   ORDER BY first_second, type";
        let [job, from, to] = bounds(job, &seconds);
        let row = |row: &Row<'_>| {
            let (first, transaction) = (unsigned(row, 0)?, place(row, 1)?);
            let encoded = row.get_ref(2)?.as_blob()?;
            bins.each(encoded, |bin, count| each(first, transaction, bin, count))
                .map_err(|reason| unreadable(2, Type::Blob, reason))
        };
        self.rows(sql, params![job, from, to, times.name()], row).map(drop)
    }

    fn each<T>(
        &self,
        sql: &str,
        bounds: [i64; 3],
        read: fn(&Row<'_>) -> rusqlite::Result<T>,
        mut each: impl FnMut(T),
    ) -> Result<(), StoreError> {
        let row = |row: &Row<'_>| {
            each(read(row)?);
            Ok(())
        };
        self.rows(sql, bounds, row).map(drop)
    }

    /// Changes or removes the label of a job.
    ///
    /// # Errors
    /// When there is no such job, or the store cannot be written to.
    pub fn relabel(&self, job: JobId, label: Option<&str>) -> Result<(), StoreError> {
        let sql = "UPDATE jobs SET label = ?2 WHERE id = ?1";
        let changed = self.write(|c| c.execute(sql, params![job.0, label]))?;
        if changed == 0 { Err(StoreError::NoJob { job: job.0 }) } else { Ok(()) }
    }

    /// Deletes a job with all its measurements, unless it is running.
    ///
    /// # Errors
    /// When there is no such job, it is running, or the store cannot be written to.
    pub fn delete(&self, job: JobId) -> Result<(), StoreError> {
        if self.load(job)?.row.status == JobStatus::Running {
            return Err(StoreError::Running { job: job.0 });
        }
        self.write(|c| c.execute("DELETE FROM jobs WHERE id = ?1", [job.0])).map(drop)
    }
}

/// Seconds per point of a sparkline.
struct Stretch {
    place: u64,
    first: u64,
    last: u64,
    completed: u64,
}

impl Stretch {
    #[expect(clippy::cast_precision_loss, reason = "a figure to draw")]
    fn per_second(&self) -> f64 {
        self.completed as f64 / (self.last - self.first + 1) as f64
    }
}

/// Condition of a query without `before`, and its arguments.
fn condition(query: &JobQuery) -> (String, Vec<Value>) {
    let mut condition = String::from("parent IS ?");
    let mut args: Vec<Value> = vec![query.parent.map(|job| job.0).into()];
    let equal = [
        ("kind", query.kind.map(|kind| kind.name().to_owned())),
        ("status", query.status.map(|status| status.name().to_owned())),
        ("workload", query.workload.clone()),
    ];
    for (column, value) in equal {
        if let Some(value) = value {
            condition.push_str(&format!(" AND {column} = ?"));
            args.push(value.into());
        }
    }
    if let Some(search) = query.search.as_deref().filter(|text| !text.trim().is_empty()) {
        condition.push_str(
            " AND instr(lower(coalesce(label, '') || ' ' || target || ' ' || workload || ' ' ||
             coalesce(server_product, '') || ' ' || coalesce(server_version, '') || ' #' || id || ' '),
             lower(?)) > 0",
        );
        args.push(search.trim().to_owned().into());
    }
    (condition, args)
}

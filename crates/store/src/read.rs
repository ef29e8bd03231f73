//! Reading jobs.

use std::ops::Range;

use rusqlite::{OptionalExtension, Row, params};
use serde::de::DeserializeOwned;
use triphammer_core::Scale;
use triphammer_core::event::Phase;
use triphammer_core::histogram::{self, TimeCounts};
use triphammer_document::JobId;
use triphammer_document::ending::{Ending, Flaw};
use triphammer_document::metrics::{Metric, OF_SECOND, OF_TYPE, Values};
use triphammer_document::redacted::Redacted;
use triphammer_document::result::Remark;
use triphammer_document::series::{SecondRow, SeriesRow, length, phase_name};
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;

use super::error::StoreError;
use super::histograms::{HistogramRow, Scope, TimesKind, TotalRow};
use super::job::{CheckRow, JobFilter, JobRow, JobStatus, PHASES, ReadAt, StoredJob};
use super::lock;
use super::open::Store;

/// Columns of [`job_row`], in its order.
pub(super) const JOB_COLUMNS: &str = "id, kind, status, label, workload, workload_version, scale, scale_unit, \
                           target, server_product, server_version, tool_version, users, pid, \
                           started_at, ended_at, primary_metric_name, primary_metric_value, parent, step, \
                           (SELECT count(*) FROM jobs AS run WHERE run.parent = jobs.id \
                           AND run.status = 'complete'), good, flaw";
/// Number of these columns.
const JOB_COLUMNS_COUNT: usize = 23;

impl Store {
    /// Lists jobs, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn jobs(&self, filter: &JobFilter) -> Result<Vec<JobRow>, StoreError> {
        let sql = format!(
            "SELECT {JOB_COLUMNS} FROM jobs
             WHERE (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR workload = ?2)
             AND (?3 IS NULL OR label = ?3) AND parent IS ?4 ORDER BY step, id DESC LIMIT ?5"
        );
        let limit = filter.limit.map_or(-1, i64::from);
        let kind = filter.kind.map(JobKind::name);
        let mut jobs = self.rows(
            &sql,
            params![kind, filter.workload, filter.label, filter.parent.map(|job| job.0), limit],
            job_row,
        )?;
        for job in &mut jobs {
            self.look_after(job)?;
        }
        Ok(jobs)
    }

    /// Finds a job by its number, or as `last` the newest one that the caller can use: of one of
    /// these kinds, and in a state that it accepts.
    ///
    /// # Errors
    /// When it is not a number, no such job is stored, or the store cannot be read.
    pub fn find(
        &self,
        job: &str,
        kinds: &[JobKind],
        accepts: fn(&JobRow) -> bool,
    ) -> Result<JobId, Failure> {
        if job != "last" {
            return JobId::parse(job);
        }
        let (mut newest, mut is_any_stored): (Option<JobId>, _) = (None, false);
        for kind in kinds {
            let filter = JobFilter { kind: Some(*kind), ..JobFilter::default() };
            let jobs = self.jobs(&filter).map_err(Failure::from)?;
            is_any_stored |= !jobs.is_empty();
            newest = newest.max(jobs.iter().find(|job| accepts(job)).map(|job| job.id));
        }
        newest.ok_or_else(|| {
            if kinds.len() == JobKind::ALL.len() {
                return Failure::refuse(self.nothing_stored());
            }
            let nouns: Vec<_> = kinds.iter().map(|kind| kind.noun()).collect();
            let usable = if is_any_stored { " that can be used" } else { "" };
            Failure::refuse(format!("no {}{usable} is stored yet", nouns.join(" or ")))
        })
    }

    /// A job without its details and result, which take long to read.
    ///
    /// # Errors
    /// When there is no such job, or the store cannot be read.
    pub fn row(&self, job: JobId) -> Result<JobRow, StoreError> {
        let sql = format!("SELECT {JOB_COLUMNS} FROM jobs WHERE id = ?1");
        let found = self.rows(&sql, [job.0], job_row)?.pop();
        let mut row = found.ok_or(StoreError::NoJob { job: job.0 })?;
        self.look_after(&mut row)?;
        Ok(row)
    }

    /// A job with its details and result.
    ///
    /// # Errors
    /// When there is no such job, or the store cannot be read.
    pub fn load(&self, job: JobId) -> Result<StoredJob, StoreError> {
        let sql = format!(
            "SELECT {JOB_COLUMNS}, spec, facts, host, transactions, result, plan FROM jobs WHERE id = ?1"
        );
        let found = self.rows(&sql, [job.0], |row| {
            let mut texts: [Option<String>; 6] = Default::default();
            for (text, column) in texts.iter_mut().zip(JOB_COLUMNS_COUNT..) {
                *text = row.get(column)?;
            }
            Ok((job_row(row)?, texts))
        })?;
        let Some((mut row, [spec, facts, host, transactions, document, plan])) =
            found.into_iter().next()
        else {
            return Err(StoreError::NoJob { job: job.0 });
        };
        self.look_after(&mut row)?;
        Ok(StoredJob {
            row,
            spec: parse(job, "a spec", spec)?,
            facts: parse(job, "facts", facts)?.unwrap_or_default(),
            host: parse(job, "a host", host)?.unwrap_or_default(),
            transactions: parse(job, "transaction types", transactions)?.unwrap_or_default(),
            document: parse(job, "a document", document)?,
            notes: self.notes(job)?,
            plan: parse(job, "a plan", plan)?,
        })
    }

    /// Keys of a job's transaction types; none if there is no such job.
    pub(super) fn transactions(&self, job: JobId) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT transactions FROM jobs WHERE id = ?1";
        let found = self.rows(sql, [job.0], |row| row.get::<_, Option<String>>(0))?;
        let text = found.into_iter().next().flatten();
        Ok(parse(job, "transaction types", text)?.unwrap_or_default())
    }

    /// Reads the figures of each transaction type per second.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn series(&self, job: JobId) -> Result<Vec<SeriesRow>, StoreError> {
        let mut rows = Vec::new();
        self.each_of_series(job, 0..u64::MAX, |row| rows.push(row))?;
        Ok(rows)
    }

    /// Reads the figures of all threads per second.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn seconds(&self, job: JobId) -> Result<Vec<SecondRow>, StoreError> {
        let mut rows = Vec::new();
        self.each_of_seconds(job, 0..u64::MAX, |row| rows.push(row))?;
        Ok(rows)
    }

    /// Reads the histograms of intervals that start in `seconds` of the run.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn histograms(
        &self,
        job: JobId,
        seconds: Range<u64>,
    ) -> Result<Vec<HistogramRow>, StoreError> {
        let sql = "SELECT first_second, last_second, type, times, counts FROM histograms
                   WHERE job = ?1 AND first_second >= ?2 AND first_second < ?3
                   ORDER BY first_second, type, times";
        self.rows(sql, bounds(job, &seconds), histogram_row)
    }

    /// Reads the exact totals of the run or its window.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn totals(&self, job: JobId, scope: Scope) -> Result<Vec<TotalRow>, StoreError> {
        let sql = "SELECT type, times, counts FROM totals WHERE job = ?1 AND scope = ?2
                   ORDER BY type, times";
        self.rows(sql, params![job.0, scope.name()], |row| {
            Ok(TotalRow {
                transaction: place(row, 0)?,
                times: named(row, 1, TimesKind::ALL, TimesKind::name)?,
                histogram: histogram(row, 2)?,
            })
        })
    }

    /// Reads the server settings at the start or the end, sorted by name.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn stored_settings(
        &self,
        job: JobId,
        moment: ReadAt,
    ) -> Result<Vec<(String, String)>, StoreError> {
        let sql = "SELECT name, value FROM settings WHERE job = ?1 AND moment = ?2 ORDER BY name";
        self.rows(sql, params![job.0, moment.name()], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Reads the checked conditions, in order.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn stored_checks(&self, job: JobId) -> Result<Vec<CheckRow>, StoreError> {
        let sql = "SELECT id, title, ok, violations, first_key FROM checks WHERE job = ?1
                   ORDER BY place";
        self.rows(sql, [job.0], |row| {
            Ok(CheckRow {
                id: row.get(0)?,
                title: row.get(1)?,
                ok: row.get(2)?,
                violations: unsigned(row, 3)?,
                first_key: row.get(4)?,
            })
        })
    }

    fn notes(&self, job: JobId) -> Result<Vec<Remark>, StoreError> {
        let sql = "SELECT at_s, kind, text FROM notes WHERE job = ?1 ORDER BY place";
        self.rows(sql, [job.0], |row| {
            Ok(Remark { at_s: row.get(0)?, kind: row.get(1)?, text: row.get(2)? })
        })
    }

    /// Determines whether a running job is lost. A process releases its lock after it has written
    /// the end, so a free lock counts only if the job is still running in the store afterwards.
    pub(super) fn look_after(&self, job: &mut JobRow) -> Result<(), StoreError> {
        if job.status != JobStatus::Running || !lock::is_lost(&self.path, job.id) {
            return Ok(());
        }
        let sql = format!("SELECT {JOB_COLUMNS} FROM jobs WHERE id = ?1");
        let now = self
            .connection
            .query_row(&sql, [job.id.0], job_row)
            .optional()
            .map_err(|error| self.failed(error))?;
        match now {
            Some(now) if now.status != JobStatus::Running => *job = now,
            _ => {
                job.status = JobStatus::Lost;
                job.ending = Some(Ending::of_name(job.status.name(), false, None));
            }
        }
        Ok(())
    }

    pub(super) fn rows<T>(
        &self,
        sql: &str,
        args: impl rusqlite::Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let failed = |error| self.failed(error);
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let rows = statement.query_map(args, read).map_err(failed)?;
        rows.collect::<rusqlite::Result<_>>().map_err(failed)
    }
}

pub(super) fn job_row(row: &Row<'_>) -> rusqlite::Result<JobRow> {
    let status = named(row, 2, JobStatus::ALL, JobStatus::name)?;
    Ok(JobRow {
        id: JobId(row.get(0)?),
        kind: named(row, 1, JobKind::ALL, JobKind::name)?,
        status,
        label: row.get(3)?,
        workload: row.get(4)?,
        workload_version: row.get(5)?,
        scale: Scale::try_from(row.get::<_, f64>(6)?).unwrap_or_default(),
        scale_unit: row.get(7)?,
        target: Redacted::new(&row.get::<_, String>(8)?),
        server_product: row.get(9)?,
        server_version: row.get(10)?,
        tool_version: row.get(11)?,
        users: row.get(12)?,
        pid: row.get(13)?,
        started_at: row.get(14)?,
        ended_at: row.get(15)?,
        primary_metric_name: row.get(16)?,
        primary_metric_value: row.get(17)?,
        parent: row.get::<_, Option<i64>>(18)?.map(JobId),
        step: row.get(19)?,
        runs: row.get(20)?,
        ending: ending(row, status, 21)?,
    })
}

/// Reads the verdict on a job from the columns that begin at `column`.
fn ending(row: &Row<'_>, status: JobStatus, column: usize) -> rusqlite::Result<Option<Ending>> {
    let good: Option<bool> = row.get(column)?;
    let flaw: Option<String> = row.get(column + 1)?;
    let flaw = flaw.map(|_| named(row, column + 1, Flaw::ALL, Flaw::name)).transpose()?;
    let good = match status {
        JobStatus::Running => None,
        JobStatus::Complete => good,
        _ => Some(false),
    };
    Ok(good.map(|good| Ending::of_name(status.name(), good, flaw)))
}

/// Reads a row of the table of types: the metrics' columns follow the seconds and the type.
pub(super) fn series_row(row: &Row<'_>) -> rusqlite::Result<SeriesRow> {
    let (first, last) = (unsigned(row, 0)?, unsigned(row, 1)?);
    let mut values = Values::of_no_type();
    read_columns(row, 3, OF_TYPE, &mut values)?;
    values.derive(length(first, last));
    Ok(SeriesRow { first, last, transaction: place(row, 2)?, values })
}

/// Reads a row of all threads: the metrics' columns follow the seconds and the phase.
pub(super) fn second_row(row: &Row<'_>) -> rusqlite::Result<SecondRow> {
    let (first, last) = (unsigned(row, 0)?, unsigned(row, 1)?);
    let mut values = Values::of_nothing();
    read_columns(row, 3, OF_SECOND, &mut values)?;
    values.derive(length(first, last));
    Ok(SecondRow { first, last, phase: phase(row, 2)?, values })
}

fn read_columns(
    row: &Row<'_>,
    from: usize,
    metrics: &[Metric],
    values: &mut Values,
) -> rusqlite::Result<()> {
    let in_columns = metrics.iter().enumerate().filter(|(_, metric)| metric.column.is_some());
    for (column, (place, metric)) in (from..).zip(in_columns) {
        let value: Option<f64> = row.get(column)?;
        values.set_at(place, value.filter(|v| *v != 0.0 || !metric.zero_is_none()));
    }
    Ok(())
}

fn histogram_row(row: &Row<'_>) -> rusqlite::Result<HistogramRow> {
    Ok(HistogramRow {
        first: unsigned(row, 0)?,
        last: unsigned(row, 1)?,
        transaction: place(row, 2)?,
        times: named(row, 3, TimesKind::ALL, TimesKind::name)?,
        counts: counts(row, 4)?,
    })
}

fn counts(row: &Row<'_>, column: usize) -> rusqlite::Result<TimeCounts> {
    let encoded = row.get_ref(column)?.as_blob()?;
    let counts = TimeCounts::decode(encoded);
    counts.map_err(|reason| unreadable(column, rusqlite::types::Type::Blob, reason))
}

fn parse<T: DeserializeOwned>(
    job: JobId,
    what: &'static str,
    text: Option<String>,
) -> Result<Option<T>, StoreError> {
    text.map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|error| StoreError::Unreadable { job: job.0, what, reason: error.to_string() })
}

/// Finds the value whose name is in the column.
fn named<T: Copy, const N: usize>(
    row: &Row<'_>,
    column: usize,
    all: [T; N],
    name: fn(T) -> &'static str,
) -> rusqlite::Result<T> {
    let word: String = row.get(column)?;
    all.into_iter().find(|value| name(*value) == word).ok_or_else(|| {
        unreadable(column, rusqlite::types::Type::Text, format!("`{word}` is not known"))
    })
}

fn histogram(row: &Row<'_>, column: usize) -> rusqlite::Result<hdrhistogram::Histogram<u64>> {
    let counts = row.get_ref(column)?.as_blob()?;
    histogram::read(counts)
        .map_err(|reason| unreadable(column, rusqlite::types::Type::Blob, reason))
}

pub(super) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

fn phase(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Phase>> {
    let word: Option<String> = row.get(column)?;
    word.map(|_| named(row, column, PHASES, phase_name)).transpose()
}

pub(super) fn place(row: &Row<'_>, column: usize) -> rusqlite::Result<usize> {
    let number: i64 = row.get(column)?;
    usize::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, number))
}

pub(super) fn unreadable(
    column: usize,
    kind: rusqlite::types::Type,
    reason: String,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, kind, reason.into())
}

pub(super) fn bounds(job: JobId, seconds: &Range<u64>) -> [i64; 3] {
    let border = |second: u64| i64::try_from(second).unwrap_or(i64::MAX);
    [job.0, border(seconds.start), border(seconds.end)]
}

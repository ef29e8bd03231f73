//! Writes jobs. Measurements are converted to rows at once and written every few seconds in one
//! short transaction, so that programs sharing the store do not wait for each other.

use std::path::Path;

use rusqlite::{Connection, params};
use serde::Serialize;
use triphammer_core::clock;
use triphammer_core::event::Note;
use triphammer_core::recorder::TypeInterval;
use triphammer_document::ending::{Ending, Flaw};
use triphammer_document::parts::Status;
use triphammer_document::redacted::mask_setting;
use triphammer_document::result::{Remark, RunFacts, RunResult, rfc3339};
use triphammer_document::second::Second;
use triphammer_document::{JobDocument as _, JobId};
use triphammer_engine::RunEnd;

use super::error::StoreError;
use super::histograms::{Scope, encode};
use super::job::{CheckRow, JobHeader, JobStatus, ReadAt};
use super::lock::{self, JobLock};
use super::open::Store;

use crate::held::HeldJob;
use crate::held::WaitingRows;
use crate::held::integer;
use crate::held::place;

/// Number of seconds written together.
const BATCH_SECONDS: usize = 5;
/// Kind of the note that seconds of a run are missing.
pub const STORE_GAP: &str = "store_gap";
/// Maximum number of seconds kept while the store cannot be written to; more are dropped, with a
/// note.
const WAITING_MAX: usize = 600;

impl Store {
    /// Starts a job at the current time, and returns its number. Jobs left behind by other
    /// processes are marked as lost.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn begin(&self, header: &JobHeader) -> Result<JobId, StoreError> {
        let transaction = self.begin_write()?;
        mark_lost(&transaction, &self.path).map_err(|error| self.failed(error))?;
        let job = insert_job(&transaction, header).map_err(|error| self.failed(error))?;
        // Locked before other processes can see the job.
        let lock = JobLock::take(&self.path, job)
            .map_err(|source| StoreError::Create { path: self.path.clone(), source })?;
        transaction.commit().map_err(|error| self.failed(error))?;
        let held = HeldJob::new(lock, header.transactions.clone());
        self.held.borrow_mut().insert(job, held);
        Ok(job)
    }

    /// Resumes a job that was interrupted or whose process is gone: it is now running in this
    /// process.
    ///
    /// # Errors
    /// When another process runs it, or the store cannot be written to.
    pub fn resume(&self, job: JobId) -> Result<(), StoreError> {
        let transaction = self.begin_write()?;
        let lock =
            JobLock::take(&self.path, job).map_err(|_| StoreError::Running { job: job.0 })?;
        transaction
            .execute(
                "UPDATE jobs SET status = 'running', pid = ?2, ended_at = NULL, good = NULL,
                 flaw = NULL WHERE id = ?1",
                params![job.0, std::process::id()],
            )
            .map_err(|error| self.failed(error))?;
        transaction.commit().map_err(|error| self.failed(error))?;
        let held = HeldJob::new(lock, self.transactions(job)?);
        self.held.borrow_mut().insert(job, held);
        Ok(())
    }

    /// Stores the intermediate document of a running job, so that it can be read whatever happens.
    ///
    /// # Errors
    /// When the store cannot be written to; the call may be repeated.
    pub fn checkpoint(
        &self,
        job: JobId,
        document: &serde_json::Value,
        primary_metric: Option<(&str, f64)>,
    ) -> Result<(), StoreError> {
        self.held(job, |_| ())?;
        let document = json(document);
        self.write(|connection| {
            connection.execute(
                "UPDATE jobs SET result = ?2, primary_metric_name = ?3, primary_metric_value = ?4
                 WHERE id = ?1",
                params![
                    job.0,
                    document,
                    primary_metric.map(|(name, _)| name),
                    primary_metric.map(|(_, v)| v)
                ],
            )?;
            Ok(())
        })
    }

    /// Adds a second of a run. It is written with the next few, or by [`Store::flush`].
    ///
    /// # Errors
    /// When a batch cannot be written. It is kept and retried with the next one.
    pub fn second(&self, job: JobId, second: &Second) -> Result<(), StoreError> {
        let waiting = self.held(job, |held| {
            held.take(second);
            held.waiting.histograms.extend(held.merger.take(&second.interval));
            held.waiting.seconds.len()
        })?;
        if !waiting.is_multiple_of(BATCH_SECONDS) {
            return Ok(());
        }
        let written = self.flush(job);
        self.held(job, |held| {
            if held.waiting.seconds.len() >= WAITING_MAX {
                held.dropped += held.waiting.seconds.len();
                held.waiting = WaitingRows::default();
            }
        })?;
        written
    }

    /// Writes all waiting rows.
    ///
    /// # Errors
    /// When the store cannot be written to. Nothing is lost.
    pub fn flush(&self, job: JobId) -> Result<(), StoreError> {
        let take = |held: &mut HeldJob| {
            (std::mem::take(&mut held.waiting), std::mem::take(&mut held.chunks))
        };
        let (mut waiting, mut chunks) = self.held(job, take)?;
        let mut written = Ok(());
        if !waiting.seconds.is_empty() || !waiting.histograms.is_empty() {
            written = self.write(|connection| {
                chunks.write(connection, job)?;
                waiting.write(connection, job)
            });
            if written.is_ok() {
                chunks.written();
                waiting = WaitingRows::default();
            }
        }
        self.held(job, |held| (held.waiting, held.chunks) = (waiting, chunks))?;
        written
    }

    /// Stores the server settings; values that may contain a secret are masked.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn settings(
        &self,
        job: JobId,
        moment: ReadAt,
        settings: &[(String, String)],
    ) -> Result<(), StoreError> {
        self.held(job, |_| ())?;
        self.write(|connection| {
            let mut statement = connection.prepare_cached(
                "INSERT OR REPLACE INTO settings (job, moment, name, value)
                 VALUES (?1, ?2, ?3, ?4)",
            )?;
            for (name, value) in settings {
                statement.execute(params![
                    job.0,
                    moment.name(),
                    name,
                    mask_setting(name, value)
                ])?;
            }
            Ok(())
        })
    }

    /// Stores a note.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn note(&self, job: JobId, note: &Note) -> Result<(), StoreError> {
        let place = self.held(job, |held| held.notes)?;
        self.write(|connection| write_note(connection, job, place, &Remark::of(note)))?;
        self.held(job, |held| held.notes += 1)
    }

    /// Stores the checked conditions, in the given order.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn checks(&self, job: JobId, checks: &[CheckRow]) -> Result<(), StoreError> {
        self.held(job, |_| ())?;
        self.write(|connection| {
            let mut statement = connection.prepare_cached(
                "INSERT OR REPLACE INTO checks
                 (job, place, id, title, ok, violations, first_key)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            for (place, check) in (0_u32..).zip(checks) {
                statement.execute(params![
                    job.0,
                    place,
                    check.id,
                    check.title,
                    check.ok,
                    integer(check.violations),
                    check.first_key,
                ])?;
            }
            Ok(())
        })
    }

    /// Ends a run: stores its result with what it was computed from, the exact totals from the
    /// engine, its errors, and its notes.
    /// Waiting data is written first; if that fails, the result is written without it, with a note.
    ///
    /// # Errors
    /// When the store cannot be written to; the call may be repeated.
    pub fn finish(
        &self,
        job: JobId,
        result: &RunResult,
        facts: &RunFacts,
        end: &RunEnd,
    ) -> Result<(), StoreError> {
        self.held(job, |held| held.waiting.histograms.extend(held.merger.finish()))?;
        let _ = self.flush(job);
        let missing = self.held(job, |held| held.dropped + held.waiting.seconds.len())?;
        let mut notes = result.notes.clone();
        if missing > 0 {
            notes.push(Remark {
                at_s: None,
                kind: STORE_GAP.to_owned(),
                text: format!(
                    "{missing} seconds of the series could not be stored; the totals are complete"
                ),
            });
        }
        let ended = Ended {
            status: result.status.into(),
            ending: &result.ending,
            document: json(result),
            host: Some(json(&result.host)),
        };
        let evidence = [json(facts), json(end)];
        self.write(|connection| {
            end_job(connection, job, &ended)?;
            connection.execute(
                "UPDATE jobs SET primary_metric_name = ?2, primary_metric_value = ?3, server_product = ?4,
                 server_version = ?5 WHERE id = ?1",
                params![
                    job.0,
                    result.primary_metric.name,
                    result.primary_metric().map(|(_, value)| value),
                    result.server.product,
                    result.server.version,
                ],
            )?;
            write_totals(connection, job, Scope::Run, &end.run)?;
            write_totals(connection, job, Scope::Window, &end.timed)?;
            write_errors(connection, job, result)?;
            let [facts, ended] = &evidence;
            connection.execute(
                "INSERT OR REPLACE INTO evidence VALUES (?1, ?2, ?3)",
                params![job.0, facts, ended],
            )?;
            connection.execute("DELETE FROM notes WHERE job = ?1", [job.0])?;
            for (place, note) in (0..).zip(&notes) {
                write_note(connection, job, place, note)?;
            }
            Ok(())
        })?;
        self.held.borrow_mut().remove(&job);
        Ok(())
    }

    /// Marks a job of any process as interrupted if it is still running: for a program that exits
    /// immediately.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn interrupted(&self, job: JobId) -> Result<(), StoreError> {
        self.write(|connection| {
            connection.execute(
                "UPDATE jobs SET status = 'interrupted', ended_at = ?2
                 WHERE id = ?1 AND status = 'running'",
                params![job.0, rfc3339(clock::wall())],
            )?;
            Ok(())
        })
    }

    /// Ends a job other than a run, with its document and what is wrong with it.
    ///
    /// # Errors
    /// When the store cannot be written to; the call may be repeated.
    pub fn finish_with(
        &self,
        job: JobId,
        status: Status,
        flaw: Option<Flaw>,
        document: &serde_json::Value,
    ) -> Result<(), StoreError> {
        self.flush(job)?;
        let ended = Ended {
            status: status.into(),
            ending: &Ending::new(status, flaw),
            host: document.get("host").filter(|host| host.is_object()).map(json),
            document: json(document),
        };
        self.write(|connection| end_job(connection, job, &ended))?;
        self.held.borrow_mut().remove(&job);
        Ok(())
    }

    /// Uses the state of a job started by this store.
    fn held<T>(&self, job: JobId, work: impl FnOnce(&mut HeldJob) -> T) -> Result<T, StoreError> {
        let mut all = self.held.borrow_mut();
        all.get_mut(&job).map(work).ok_or(StoreError::NotHeld { job: job.0 })
    }
}

/// Marks the jobs whose process is gone. Within a write transaction no other process can end a job,
/// so a running job without a lock is lost.
fn mark_lost(transaction: &Connection, path: &Path) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare("SELECT id FROM jobs WHERE status = 'running'")?;
    let running: Vec<i64> =
        statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for job in running.into_iter().map(JobId).filter(|job| lock::is_lost(path, *job)) {
        transaction.execute("UPDATE jobs SET status = 'lost' WHERE id = ?1", [job.0])?;
        lock::clear(path, job);
    }
    Ok(())
}

fn insert_job(connection: &Connection, header: &JobHeader) -> rusqlite::Result<JobId> {
    let server = header.server.as_ref();
    connection.execute(
        "INSERT INTO jobs (kind, status, label, workload, workload_version, scale, scale_unit,
         target, server_product, server_version, tool_version, users, pid, started_at, spec, facts,
         host, transactions, parent, step, plan)
         VALUES (?1, 'running', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
         ?17, ?18, ?19, ?20)",
        params![
            header.kind.name(),
            header.label,
            header.workload,
            header.workload_version,
            header.scale.as_f64(),
            header.scale_unit,
            header.target.as_str(),
            server.map(|server| &server.product),
            server.map(|server| &server.version),
            header.tool_version,
            header.users,
            std::process::id(),
            rfc3339(clock::wall()),
            header.spec.as_ref().map(json),
            json(&header.facts),
            json(&header.host),
            json(&header.transactions),
            header.parent.map(|(job, _)| job.0),
            header.parent.map(|(_, step)| step),
            header.plan.as_ref().map(json),
        ],
    )?;
    Ok(JobId(connection.last_insert_rowid()))
}

/// How a job ended.
struct Ended<'a> {
    status: JobStatus,
    ending: &'a Ending,
    document: String,
    /// The host as its document has it: some of its facts, such as the memory of a virtual machine, may
    /// have changed since the job began. `None` if the document has none.
    host: Option<String>,
}

fn end_job(connection: &Connection, job: JobId, ended: &Ended<'_>) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE jobs SET status = ?2, ended_at = ?3, result = ?4, good = ?5, flaw = ?6,
         host = COALESCE(?7, host) WHERE id = ?1",
        params![
            job.0,
            ended.status.name(),
            rfc3339(clock::wall()),
            ended.document,
            ended.ending.good,
            ended.ending.flaw.map(Flaw::name),
            ended.host,
        ],
    )?;
    Ok(())
}

fn write_totals(
    connection: &Connection,
    job: JobId,
    scope: Scope,
    types: &[TypeInterval],
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("INSERT OR REPLACE INTO totals VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for row in encode(types, [0, 0]) {
        let type_place = place(row.transaction);
        statement.execute(params![
            job.0,
            scope.name(),
            type_place,
            row.times.name(),
            row.counts
        ])?;
    }
    Ok(())
}

fn write_errors(connection: &Connection, job: JobId, result: &RunResult) -> rusqlite::Result<()> {
    let mut statement = connection
        .prepare_cached("INSERT OR REPLACE INTO errors VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?;
    for (place, error) in (0_u32..).zip(&result.errors) {
        statement.execute(params![
            job.0,
            place,
            error.transaction,
            error.class.label(),
            error.message,
            integer(error.count),
        ])?;
    }
    Ok(())
}

fn write_note(
    connection: &Connection,
    job: JobId,
    place: u32,
    note: &Remark,
) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT OR REPLACE INTO notes VALUES (?1, ?2, ?3, ?4, ?5)",
        params![job.0, place, note.at_s, note.kind, note.text],
    )?;
    Ok(())
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("what the store keeps has text keys and finite numbers")
}

#[cfg(test)]
mod tests {
    use triphammer_core::event::Phase;
    use triphammer_core::recorder::RecordedInterval;

    use super::*;
    use triphammer_document::host::Host;
    use triphammer_document::redacted::Redacted;

    fn header() -> JobHeader {
        JobHeader {
            kind: triphammer_settings::command::JobKind::Run,
            label: None,
            workload: "tproc-c".into(),
            workload_version: 1,
            scale: 1.into(),
            scale_unit: "warehouses".into(),
            target: Redacted::new("null:"),
            server: None,
            tool_version: "0.1.0".into(),
            users: Some(1),
            spec: None,
            facts: Default::default(),
            host: Host::default(),
            transactions: vec!["a".into()],
            parent: None,
            plan: None,
        }
    }

    fn empty(second: u64) -> Second {
        Second::new(RecordedInterval::new(second, 1), Phase::Window, None)
    }

    #[test]
    fn what_a_failing_store_could_not_take_goes_with_the_next_batch() {
        type Trouble = fn(&StoreError) -> bool;
        let full: Trouble = |error| matches!(error, StoreError::Full { .. }) && error.may_pass();
        let read_only: Trouble =
            |error| matches!(error, StoreError::ReadOnly { .. }) && !error.may_pass();
        for (fail, heal, trouble) in [
            ("PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000", full),
            ("PRAGMA query_only = 1", "PRAGMA query_only = 0", read_only),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let store = Store::open(&folder.path().join("jobs.sqlite")).unwrap();
            let job = store.begin(&header()).unwrap();
            store.connection.query_row(fail, [], |_| Ok(())).ok();
            let failures = (0..300)
                .filter_map(|second| store.second(job, &empty(second)).err())
                .inspect(|error| assert!(trouble(error), "{error}"))
                .count();
            assert!(failures > 0 && failures <= 60, "{failures}: once a batch, not once a second");
            store.connection.query_row(heal, [], |_| Ok(())).ok();
            store.flush(job).unwrap();
            assert_eq!(store.seconds(job).unwrap().len(), 300);
        }
    }

    #[test]
    fn seconds_given_up_are_bounded_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("jobs.sqlite")).unwrap();
        let job = store.begin(&header()).unwrap();
        store.connection.query_row("PRAGMA query_only = 1", [], |_| Ok(())).ok();
        for second in 0..WAITING_MAX as u64 + 3 {
            let _ = store.second(job, &empty(second));
        }
        let left = store.held(job, |held| (held.dropped, held.waiting.seconds.len())).unwrap();
        assert_eq!(left, (WAITING_MAX, 3));
    }
}

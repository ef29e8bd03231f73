//! The parts of a bundle. The raw ones are the rows of the job and of its runs; from a store that
//! has these rows, all others are made.
//!
//! ```text
//! manifest.json, manifest.json.sig    names, hashes, signature
//! document.json                       the result document of the job
//! job.toml                            the job file that repeats it
//! report.txt, report.html             reports for people
//! jobs/12/job.json                    the job: when, where, with which settings
//! jobs/12/document.json               the result document of a run of the job
//! jobs/12/facts.json, ended.json      what the result of a run was computed from, besides:
//! jobs/12/seconds.csv, series.csv, …  the tables of the store with rows of the job
//! jobs/12/observed.csv                what was observed beside a run, unless that is very much
//! ```

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use triphammer_document::JobId;
use triphammer_report::Charset;
use triphammer_server::html_export;
use triphammer_settings::failure::Failure;
use triphammer_settings::formats::Format;
use triphammer_store::{JOB_TABLES, JobFilter, Store, StoredJob};

use crate::job_file::JobFile;

/// The document of the job.
pub(crate) const DOCUMENT: &str = "document.json";
/// The job file.
pub(crate) const JOB_FILE: &str = "job.toml";
/// The report as text.
pub(crate) const TEXT: &str = "report.txt";
/// The report as a page.
pub(crate) const PAGE: &str = "report.html";
/// What was observed beside a run, second by second.
pub(crate) const OBSERVED: &str = "observed.csv";
/// Parts that are made from the others.
pub(crate) const MADE: [&str; 3] = [JOB_FILE, TEXT, PAGE];
/// Most observed values of which there is a table for people.
const OBSERVED_MAX: u64 = 1_000_000;
/// The evidence of a run.
pub(crate) const EVIDENCE: [&str; 2] = ["facts.json", "ended.json"];
/// The job itself.
pub(crate) const JOB: &str = "job.json";

/// Parts by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts(pub BTreeMap<String, Vec<u8>>);

/// Passes each raw part of a job, of the jobs that belong to it, and of `others` to `each`, one after the
/// other: all together may be large.
///
/// # Errors
/// When the store cannot be read.
pub(crate) fn each_raw(
    store: &Store,
    root: JobId,
    others: &[JobId],
    each: &mut dyn FnMut(String, String),
) -> Result<(), Failure> {
    let children = JobFilter { parent: Some(root), ..JobFilter::default() };
    let children = store.jobs(&children)?.into_iter().map(|row| row.id);
    let jobs: BTreeSet<JobId> = others.iter().copied().chain([root]).chain(children).collect();
    for job in jobs {
        if let Some(mut row) = store.export_job(job)? {
            if job == root {
                // A run of a campaign stands for itself: what it belonged to is not in the bundle.
                (row["parent"], row["step"]) = (Value::Null, Value::Null);
            }
            each(of_job(job, JOB), pretty(&row));
        }
        if let Some(document) = store.export_document(job)? {
            each(document_of(job, root), document);
        }
        for (name, text) in EVIDENCE.iter().zip(store.evidence(job)?.into_iter().flatten()) {
            each(of_job(job, name), text);
        }
        for table in JOB_TABLES {
            if let Some(rows) = store.export(job, table)? {
                each(table_of(job, table), rows);
            }
        }
    }
    Ok(())
}

/// Name of a part of a job.
pub(crate) fn of_job(job: JobId, name: &str) -> String {
    format!("jobs/{}/{name}", job.0)
}

/// Name of the document of a job in the bundle of `root`.
pub(crate) fn document_of(job: JobId, root: JobId) -> String {
    if job == root { DOCUMENT.to_owned() } else { of_job(job, DOCUMENT) }
}

/// Name of a table of a job.
pub(crate) fn table_of(job: JobId, table: &str) -> String {
    of_job(job, &format!("{table}.csv"))
}

impl Parts {
    /// The raw parts of a job, of the jobs that belong to it, and of `others` beside it.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn raw(store: &Store, root: JobId, others: &[JobId]) -> Result<Self, Failure> {
        let mut parts = Self::default();
        each_raw(store, root, others, &mut |name, text| {
            parts.0.insert(name, text.into_bytes());
        })?;
        Ok(parts)
    }
    /// Adds the parts that are made from a store with the rows of the job.
    ///
    /// # Errors
    /// When a report cannot be made.
    pub fn add_made(&mut self, store: &Store, job: &StoredJob) -> Result<(), Failure> {
        let mut add = |name: &str, text: String| drop(self.0.insert(name.to_owned(), text.into()));
        let file = JobFile::of(job)?;
        add(JOB_FILE, file.text());
        let page = html_export::page_of_bundle;
        let text = |format| triphammer_report::render(format, store, job, Charset::Unicode, page);
        add(TEXT, text(Format::Text)?);
        if triphammer_server::has_page() {
            add(PAGE, text(Format::Html)?);
        }
        self.add_observed(store, job)
    }

    /// Adds what was observed beside the runs as tables for people.
    fn add_observed(&mut self, store: &Store, root: &StoredJob) -> Result<(), Failure> {
        for row in store.all_jobs()? {
            if !(1..=OBSERVED_MAX).contains(&store.sample_values(row)?) {
                continue;
            }
            let other;
            let job = match row == root.row.id {
                true => root,
                false => {
                    other = store.load(row)?;
                    &other
                }
            };
            let (format, charset, page) =
                (Format::ObservedCsv, Charset::Unicode, html_export::page_of_bundle);
            // A job whose samples are not shown has none.
            let rows = triphammer_report::render(format, store, job, charset, page);
            let name = of_job(row, OBSERVED);
            rows.into_iter().for_each(|rows| drop(self.0.insert(name.clone(), rows.into())));
        }
        Ok(())
    }

    /// A part as text; `None` if it is missing or no text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.0.get(name)?).ok()
    }

    /// The jobs that have parts, in order.
    pub(crate) fn jobs(&self) -> Vec<JobId> {
        let numbers =
            self.0.keys().filter_map(|name| name.strip_prefix("jobs/")?.split('/').next());
        let mut jobs: Vec<i64> = numbers.filter_map(|number| number.parse().ok()).collect();
        jobs.sort_unstable();
        jobs.dedup();
        jobs.into_iter().map(JobId).collect()
    }

    /// Puts the raw parts into an empty store. Returns what cannot be read, by part and reason.
    pub fn restore(&self, root: JobId, store: Store) -> (Store, Vec<(String, String)>) {
        let mut unread = Vec::new();
        let mut jobs = self.jobs();
        // Those that belong to a job refer to it.
        jobs.sort_by_key(|job| (*job != root, *job));
        for job in jobs {
            let mut note = |part: String, result: Result<(), String>| {
                if let Err(reason) = result {
                    unread.push((part, reason));
                }
            };
            let document = self.text(&document_of(job, root));
            let row = self.row(job, root);
            let row =
                row.and_then(|row| store.import_job(&row, document).map_err(|e| e.to_string()));
            note(of_job(job, JOB), row);
            let [facts, ended] = EVIDENCE.map(|name| self.text(&of_job(job, name)));
            if let (Some(facts), Some(ended)) = (facts, ended) {
                let evidence = [facts.to_owned(), ended.to_owned()];
                let added = store.import_evidence(job, &evidence).map_err(|e| e.to_string());
                note(of_job(job, EVIDENCE[0]), added);
            }
            for table in JOB_TABLES {
                let name = table_of(job, table);
                let Some(content) = self.0.get(&name) else { continue };
                let added = match std::str::from_utf8(content) {
                    Ok(text) => store.import(job, table, text).map_err(|error| error.to_string()),
                    Err(_) => Err("it is not text".to_owned()),
                };
                note(name, added);
            }
        }
        (store, unread)
    }

    /// The row of a job, which must be the one of its part, and belong to the job of the bundle.
    fn row(&self, job: JobId, root: JobId) -> Result<Value, String> {
        let text = self.text(&of_job(job, JOB)).ok_or("it is missing")?;
        let row: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if row["id"] != job.0 {
            return Err(format!("id: {} is not {job}", row["id"]));
        }
        // Runs with one label stand beside each other.
        let is_beside = row["parent"].is_null() && row["kind"] == "run";
        if job != root && row["parent"] != root.0 && !is_beside {
            return Err(format!("parent: {} is not {root}", row["parent"]));
        }
        if row["status"] == "running" {
            return Err("status: the job is running".to_owned());
        }
        Ok(row)
    }
}

fn pretty(json: &Value) -> String {
    serde_json::to_string_pretty(json).expect("a row is plain data") + "\n"
}

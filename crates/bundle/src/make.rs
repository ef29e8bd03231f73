//! Makes a bundle of a stored job.

use std::path::Path;

use triphammer_document::JobId;
use triphammer_document::bundle::ShownNames;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_store::{JobFilter, JobStatus, STORE_GAP, Store};

use crate::container::pack;
use crate::manifest::{MANIFEST, Manifest, SIGNATURE};
use crate::parts::Parts;
use crate::{anonymous, names, signature};

/// How to make a bundle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Whether hosts, labels and paths are replaced.
    pub anonymous: bool,
    /// File of the SSH key that signs the manifest; `None` for no signature.
    pub key: Option<&'a Path>,
}

/// Finds what to bundle: a job by its number or as `last`, or all complete runs with a label. The
/// last is the job of the bundle.
///
/// # Errors
/// When there is no such job, and no complete run with such a label.
pub fn find(store: &Store, name: &str) -> Result<Vec<JobId>, Failure> {
    if name == "last" || name.parse::<i64>().is_ok() {
        return Ok(vec![store.find(name, &JobKind::ALL, |_| true)?]);
    }
    let (kind, label) = (Some(JobKind::Run), Some(name.to_owned()));
    let filter = JobFilter { kind, label, ..JobFilter::default() };
    let runs = store.jobs(&filter)?;
    let complete =
        runs.iter().filter(|row| row.status == JobStatus::Complete && row.parent.is_none());
    let jobs: Vec<JobId> = complete.map(|row| row.id).rev().collect();
    match jobs.is_empty() {
        true => Err(Failure::refuse(format!(
            "no complete run has the label “{name}”, and it is not a job number; `triphammer jobs` \
             lists numbers and labels"
        ))),
        false => Ok(jobs),
    }
}

/// Whether a run can be verified: its seconds and what its result was computed from must be stored.
fn check_evidence(store: &Store, job: JobId) -> Result<(), Failure> {
    let stored = store.load(job)?;
    let has_result = stored.document.as_ref().is_some_and(serde_json::Value::is_object);
    if stored.row.kind != JobKind::Run || !has_result {
        return Ok(());
    }
    let missing = if stored.notes.iter().any(|note| note.kind == STORE_GAP) {
        "seconds are missing, because the job store could not be written to; see its notes"
    } else if store.evidence(job)?.is_none() {
        "what its result was computed from is not stored, because another version stored it"
    } else {
        return Ok(());
    };
    Err(Failure::refuse(format!("job {job} cannot be verified: {missing}")))
}

/// Makes the bundle of a job, with others beside it that [`find`] found before it: the bytes of its
/// file, and the names that it shows.
///
/// # Errors
/// When the job has no result yet, the store cannot be read, or the key cannot be used.
///
/// # Panics
/// Without a job.
pub fn make(
    store: &Store,
    jobs: &[JobId],
    options: Options<'_>,
) -> Result<(Vec<u8>, ShownNames), Failure> {
    let (job, others) = jobs.split_last().expect("a job to bundle");
    let job = *job;
    let stored = store.load(job)?;
    let kind = stored.row.kind;
    if stored.row.status == JobStatus::Running {
        return Err(Failure::refuse(format!(
            "job {job} is still running: wait for its end, or name another job"
        )));
    }
    if !stored.document.is_some_and(|document| document.is_object()) {
        let message = format!("job {job} has no result, so there is nothing to check or repeat");
        return Err(Failure::refuse(message));
    }
    let mut parts = Parts::raw(store, job, others)?;
    for run in parts.jobs() {
        check_evidence(store, run)?;
    }
    if options.anonymous {
        let replaced = names::shown(&parts, true);
        if let Some(name) = anonymous::common_word(&replaced) {
            return Err(Failure::refuse(format!(
                "--anonymous cannot replace `{name}`, which also stands for other things in a result: \
                 rename the host, label or folder first"
            )));
        }
        anonymous::replace(&mut parts, &replaced);
    }
    let names = names::shown(&parts, options.anonymous);
    // What is made of these rows is made from a store that has nothing else, as a reader has it.
    let (restored, unread) = parts.restore(job, Store::temporary()?);
    if let Some((part, reason)) = unread.first() {
        return Err(Failure::refuse(format!("job {job} cannot be bundled: {part}: {reason}")));
    }
    parts.add_made(&restored, &restored.load(job)?)?;
    let manifest = Manifest::of((kind, job.0), names.clone(), Manifest::entries(&parts.0)).text();
    if let Some(key) = options.key {
        parts.0.insert(SIGNATURE.to_owned(), signature::sign(&manifest, key)?);
    }
    parts.0.insert(MANIFEST.to_owned(), manifest.into_bytes());
    Ok((pack(&parts.0)?, names))
}

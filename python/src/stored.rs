//! Stored jobs: lists, documents, series and histograms.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use triphammer_document::series::{Column, by_column, columns};
use triphammer_report as reports;
use triphammer_report::{Charset, render};
use triphammer_server::html_export;
use triphammer_settings::Settings;
use triphammer_settings::command::{Command, JobKind};
use triphammer_settings::failure::Failure;
use triphammer_settings::formats::Format;
use triphammer_store::{JobFilter, Scope, Store, StoredJob, TimesKind, default_path};

use crate::command::settings;
use crate::failure::Raised;

/// Opens the job store of these settings for reading.
pub fn open(settings: &Settings) -> Result<Store, Raised> {
    let path = settings.get("store").map_or_else(default_path, |path| Ok(PathBuf::from(path)))?;
    Ok(Store::open_to_read(&path)?)
}

/// Finds a job in this file, or in the store of the environment, or the user's.
fn find(path: Option<&str>, job: &str) -> Result<(Store, StoredJob), Raised> {
    let given = path.map(|path| ("store".to_owned(), path.to_owned()));
    let store = open(&settings(Command::Report, given.as_slice())?.0)?;
    let job = store.load(store.find(job, &JobKind::ALL, |_| true)?)?;
    Ok((store, job))
}

/// The stored jobs as JSON, the newest first.
#[pyfunction]
pub fn jobs(py: Python<'_>, given: Vec<(String, String)>) -> PyResult<String> {
    py.detach(|| {
        let (mut settings, _) = settings(Command::Jobs, &given)?;
        let filter = JobFilter::from_settings(&mut settings)?;
        let store = open(&settings)?;
        Ok(reports::jobs::json(&store.jobs(&filter)?))
    })
    .map_err(|error: Raised| error.into())
}

/// A stored job, by its number or `last`: number, kind, document as JSON, and whether it is good.
#[pyfunction]
pub fn load(
    py: Python<'_>,
    store: Option<&str>,
    job: &str,
) -> PyResult<(i64, &'static str, Option<String>, bool)> {
    py.detach(|| {
        let (_, job) = find(store, job)?;
        let document = job.read_document()?;
        let is_good = document.as_ref().is_some_and(|document| document.ending().good);
        let json = document.map(|d| serde_json::to_string(&d).expect("a document is plain data"));
        Ok((job.row.id.0, job.row.kind.name(), json, is_good))
    })
    .map_err(|error: Raised| error.into())
}

/// Renders a stored job in one of the formats of `triphammer report`.
#[pyfunction]
pub fn report(py: Python<'_>, store: Option<&str>, job: &str, format: &str) -> PyResult<String> {
    py.detach(|| {
        let format: Format = format.parse().map_err(Failure::refuse)?;
        let (store, job) = find(store, job)?;
        Ok(render(format, &store, &job, Charset::Unicode, html_export::page)?)
    })
    .map_err(|error: Raised| error.into())
}

/// A column for Python: its name, and words, or whether it has whole numbers and the numbers.
type PyColumn<'py> = (String, Option<Vec<&'static str>>, bool, Bound<'py, PyBytes>);

/// The seconds of a stored run by column; numbers are the bytes of doubles.
#[pyfunction]
pub fn series<'py>(
    py: Python<'py>,
    store: Option<&str>,
    job: &str,
) -> PyResult<Vec<PyColumn<'py>>> {
    let (names, found) = py
        .detach(|| {
            let (store, job) = find(store, job)?;
            let (seconds, series) = (store.seconds(job.row.id)?, store.series(job.row.id)?);
            let types = &job.transactions;
            Ok((columns(types), by_column(types, &seconds, &series)))
        })
        .map_err(|error: Raised| PyErr::from(error))?;
    let columns = names.into_iter().zip(found).map(|(name, column)| match column {
        Column::Words(words) => (name, Some(words), false, PyBytes::new(py, &[])),
        Column::Counts(numbers) => (name, None, true, doubles(py, &numbers)),
        Column::Numbers(numbers) => (name, None, false, doubles(py, &numbers)),
    });
    Ok(columns.collect())
}

fn doubles<'py>(py: Python<'py>, numbers: &[f64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes)
}

/// The times of a stored run: upper ends of the bins in microseconds and counts, as bytes of 64-bit integers.
/// `transaction` is a key of the workload's types, or `None` for all of them.
#[pyfunction]
pub fn histogram<'py>(
    py: Python<'py>,
    store: Option<&str>,
    job: &str,
    transaction: Option<&str>,
    times: &str,
    scope: &str,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let bins = py.detach(|| bins(store, job, transaction, times, scope)).map_err(PyErr::from)?;
    let bytes = |of: fn(&(u64, u64)) -> u64| {
        let bytes: Vec<u8> = bins.iter().flat_map(|bin| of(bin).to_ne_bytes()).collect();
        PyBytes::new(py, &bytes)
    };
    Ok((bytes(|bin| bin.0), bytes(|bin| bin.1)))
}

fn bins(
    store: Option<&str>,
    job: &str,
    transaction: Option<&str>,
    times: &str,
    scope: &str,
) -> Result<Vec<(u64, u64)>, Raised> {
    let (store, job) = find(store, job)?;
    let of = transaction.map(|key| place(&job, key)).transpose()?;
    let times = named(times, "times", TimesKind::ALL.map(|kind| (kind.name(), kind)))?;
    let scope = named(scope, "scope", [("window", Scope::Window), ("run", Scope::Run)])?;
    let mut bins = std::collections::BTreeMap::new();
    for row in store.totals(job.row.id, scope)? {
        if row.times != times || of.is_some_and(|of| of != row.transaction) {
            continue;
        }
        for value in row.histogram.iter_recorded() {
            *bins.entry(value.value_iterated_to()).or_default() += value.count_at_value();
        }
    }
    Ok(bins.into_iter().collect())
}

/// The place of a transaction type among those of the run.
fn place(job: &StoredJob, key: &str) -> Result<usize, Raised> {
    let place = job.transactions.iter().position(|known| known == key);
    place.ok_or_else(|| {
        let known = job.transactions.join(", ");
        Raised::argument(format!("unknown transaction `{key}`; use one of {known}"))
    })
}

fn named<T, const N: usize>(
    name: &str,
    what: &str,
    known: [(&'static str, T); N],
) -> Result<T, Raised> {
    let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
    let found = known.into_iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| value).ok_or_else(|| {
        Raised::argument(format!("{what}: unknown word `{name}`; use one of {}", names.join(", ")))
    })
}

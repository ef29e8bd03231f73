//! `triphammer jobs` and `triphammer report`.

use std::path::PathBuf;
use std::time::Duration;

use triphammer_core::clock::format_duration;
use triphammer_document::price::PriceList;
use triphammer_document::requirement::{self, Vocabulary};
use triphammer_report as report;
use triphammer_report::Charset;
use triphammer_runner::outputs::ReportFile;
use triphammer_server::html_export;
use triphammer_settings::Settings;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::formats::Format;
use triphammer_store::{JobFilter, Store, StoreError, StoredJob};

use super::job::parse_progress;
use super::{print, stored};
use crate::{Exit, Result};

/// Prints the list of stored jobs.
pub fn list(settings: &mut Settings) -> Result<Exit> {
    let filter = JobFilter::from_settings(settings)?;
    let store = stored(settings)?;
    let jobs = store.jobs(&filter).map_err(refuse)?;
    if settings.switch("json")? {
        print(&report::jobs::json(&jobs))?;
    } else {
        print(&report::jobs::text(&jobs))?;
    }
    Ok(Exit::Done)
}

/// Prints a stored job.
pub fn report(settings: &mut Settings, job: &str) -> Result<Exit> {
    let price = triphammer_runner::price::read(settings)?;
    let store = stored(settings)?;
    let id = store.find(job, &JobKind::ALL, |_| true)?;
    let mut stored = store.load(id).map_err(refuse)?;
    let passed = judge(settings, &mut stored)?;
    if let Some(list) = &price {
        reprice(list, &mut stored)?;
    }
    let output = settings.get("output").map(PathBuf::from);
    let format = match (settings.get("format"), &output) {
        (None, Some(path)) => Format::of_file(path).map_err(Failure::refuse)?,
        _ => settings.read_or("format", str::parse, Format::to_string, || Format::Text)?,
    };
    let charset = if output.is_some() { Charset::Unicode } else { super::charset() };
    let slices = settings.optional("slices", parse_progress, |d| format_duration(*d), "none")?;
    let text = match (settings.get("plan"), slices) {
        (Some(query), _) => plans(settings, &stored, query)?,
        (None, Some(every)) => percentiles(&store, &stored, every)?,
        (None, None) => report::render(format, &store, &stored, charset, html_export::page)?,
    };
    match output {
        Some(path) => ReportFile::create(&path)?.write(&text)?,
        None => print(&text)?,
    }
    Ok(if passed { Exit::Done } else { Exit::CheckFailed })
}

/// Renders the percentiles of a stored run in slices, as HammerDB does.
fn percentiles(store: &Store, stored: &StoredJob, every: Duration) -> Result<String> {
    let (id, kind) = (stored.row.id, stored.row.kind);
    if kind != JobKind::Run {
        let message = format!("job {id} is a {}: only runs have --slices", kind.noun());
        return Err(Failure::refuse(message));
    }
    let histograms = store.histograms(id, 0..u64::MAX).map_err(refuse)?;
    if histograms.is_empty() {
        return Err(Failure::refuse(format!("job {id} has no response times")));
    }
    Ok(report::stored_percentiles(stored, &histograms, every.as_secs().max(1)))
}

/// Renders execution plans of a stored run.
fn plans(settings: &Settings, stored: &StoredJob, query: &str) -> Result<String> {
    if settings.get("format").is_some() {
        return Err(Failure::refuse("--plan prints text: omit --format, or --plan"));
    }
    let id = stored.row.id;
    let result = stored.result().map_err(refuse)?;
    let result =
        result.ok_or_else(|| Failure::refuse(format!("job {id} has no execution plans")))?;
    report::plans(&result, query)
}

/// Gives a stored job the costs by a price list, instead of those by its own.
fn reprice(list: &PriceList, stored: &mut StoredJob) -> Result<()> {
    let (id, kind) = (stored.row.id, stored.row.kind.noun());
    let document = stored.read_document().map_err(refuse)?;
    let document =
        document.ok_or_else(|| Failure::refuse(format!("job {id} has no result to price")))?;
    let priced = document.priced(list).ok_or_else(|| {
        let message = "only runs, profiles and comparisons have a price";
        Failure::refuse(format!("job {id} is a {kind}: {message}"))
    })?;
    stored.document = Some(serde_json::to_value(&priced).expect("a document is plain data"));
    Ok(())
}

/// Checks a stored run against new requirements; returns whether all are met.
fn judge(settings: &mut Settings, stored: &mut StoredJob) -> Result<bool> {
    if settings.get("require").is_none() {
        return Ok(true);
    }
    let Some(mut result) = stored.result().map_err(refuse)? else {
        let id = stored.row.id;
        return Err(Failure::refuse(format!("job {id} has no result to check")));
    };
    let required = requirement::from_settings(settings, &Vocabulary::of_result(&result))?;
    requirement::judge(&mut result, &required);
    stored.document = Some(serde_json::to_value(&result).expect("a result is plain data"));
    Ok(result.requirements.iter().all(|judged| judged.passed))
}

fn refuse(error: StoreError) -> Failure {
    Failure::refuse(error.to_string())
}

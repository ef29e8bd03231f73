//! `triphammer jobs` and `triphammer report`.

use triphammer_runner::Failure;
use triphammer_runner::report;
use triphammer_runner::settings::Settings;
use triphammer_runner::store::{JobFilter, JobId, StoreError};

use super::{print, stored};
use crate::{Exit, Result};

/// Lists stored jobs.
pub fn list(settings: &mut Settings) -> Result<Exit> {
    let store = stored(settings)?;
    let limit = settings.parse("limit", || 20)?;
    let label = settings.said("label").map(str::to_owned);
    let parent = settings.said("parent").map(number).transpose()?;
    let filter = JobFilter { label, parent, limit: Some(limit), ..JobFilter::default() };
    let jobs = store.jobs(&filter).map_err(refuse)?;
    if settings.switch("json")? {
        print(&report::jobs::json(&jobs));
    } else {
        print(&report::jobs::text(&jobs));
    }
    Ok(Exit::Done)
}

/// Prints a stored job.
pub fn report(settings: &mut Settings, job: &str) -> Result<Exit> {
    let store = stored(settings)?;
    let id = match job {
        "last" => {
            let newest = JobFilter { limit: Some(1), ..JobFilter::default() };
            let jobs = store.jobs(&newest).map_err(refuse)?;
            jobs.first().map(|job| job.id).ok_or_else(|| Failure::refuse("no job is stored yet"))?
        }
        job => number(job)?,
    };
    let stored = store.load(id).map_err(refuse)?;
    let format: String = settings.parse("format", || "text".to_owned())?;
    let text = match format.as_str() {
        "text" => report::stored(&stored, super::campaign::charset()).map_err(refuse)?,
        "json" => report::stored_json(&stored),
        "markdown" => match stored.result().map_err(refuse)? {
            Some(result) => report::markdown(&result),
            None => report::stored(&stored, super::campaign::charset()).map_err(refuse)?,
        },
        other => {
            let message =
                format!("no format is called `{other}`; there are text, json and markdown");
            return Err(Failure::refuse(message));
        }
    };
    print(&text);
    Ok(Exit::Done)
}

fn number(text: &str) -> Result<JobId> {
    text.parse().map(JobId).map_err(|_| {
        Failure::refuse(format!("`{text}` is no job number; `triphammer jobs` lists them"))
    })
}

fn refuse(error: StoreError) -> Failure {
    Failure::refuse(error.to_string())
}

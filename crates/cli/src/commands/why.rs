//! `triphammer why`.

use triphammer_document::why::Stretch;
use triphammer_observe::why;
use triphammer_report as report;
use triphammer_settings::Settings;
use triphammer_settings::command::JobKind;
use triphammer_store::JobStatus;

use super::{charset, print, stored};
use crate::{Exit, Result};

/// Explains a stored run, or a stretch of it.
pub fn command(settings: &mut Settings, job: &str) -> Result<Exit> {
    let store = stored(settings)?;
    let at = settings.optional("at", str::parse::<Stretch>, Stretch::to_string, "chosen")?;
    let job = store.find(job, &[JobKind::Run], |run| run.status != JobStatus::Running)?;
    let found = why::explain(&store, job, at)?;
    if settings.switch("json")? {
        print(&report::json_pretty(&found))?;
    } else {
        print(&report::why(&found, charset()))?;
    }
    Ok(Exit::Done)
}

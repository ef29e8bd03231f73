//! `triphammer capacity`.

use triphammer_runner::capacity::{Capacity, CapacityResult, Request};
use triphammer_runner::report;
use triphammer_runner::requests;
use triphammer_runner::settings::Settings;

use super::{campaign, open, print};
use crate::{Exit, Result};

/// Searches.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let resumed = campaign::resumed(settings)?;
    if let Some(resumed) = &resumed {
        settings.clone_from(&resumed.settings);
    }
    let resumed = resumed.as_ref();
    let workload = &requests::workload(settings)?;
    let target = open(settings, workload)?;
    let request = Request::read(settings, workload, &target)?;
    let as_json = settings.switch("json")?;
    let mut question = Capacity::new(request, workload, settings)?;
    let targets = std::slice::from_ref(&target);
    let Some(ended) = campaign::conduct(settings, workload, targets, resumed, &mut question)?
    else {
        return Ok(Exit::Done);
    };
    match &ended.document {
        Some(document) if as_json => {
            print(&report::json_pretty(document))?;
        }
        Some(document) => print(&report::capacity(document, campaign::charset()))?,
        None => {}
    }
    let is_good = ended.document.as_ref().is_some_and(CapacityResult::is_good);
    campaign::exit(&ended, "capacity", as_json, is_good)
}

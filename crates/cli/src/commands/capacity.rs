//! `triphammer capacity`.

use triphammer_core::workload::Workload;
use triphammer_runner::campaign::Resumed;
use triphammer_runner::capacity::{Capacity, CapacityResult, Request};
use triphammer_runner::report;
use triphammer_runner::settings::Settings;
use triphammer_runner::{requests, with_workload};

use super::{campaign, open, print};
use crate::{Exit, Result};

/// Searches.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let resumed = campaign::resumed(settings)?;
    if let Some(resumed) = &resumed {
        settings.clone_from(&resumed.settings);
    }
    let name = requests::workload(settings)?;
    with_workload!(name.as_str(), W => search::<W>(settings, resumed.as_ref()))?
}

fn search<W: Workload>(settings: &mut Settings, resumed: Option<&Resumed>) -> Result<Exit> {
    let target = open(settings, W::NAME)?;
    let request = Request::read::<W, _>(settings, &target)?;
    let as_json = settings.switch("json")?;
    let mut question = Capacity::new::<W>(request, settings)?;
    let targets = std::slice::from_ref(&target);
    let Some(ended) = campaign::conduct::<W, _>(settings, targets, resumed, &mut question)? else {
        return Ok(Exit::Done);
    };
    match &ended.document {
        Some(document) if as_json => {
            print(&report::json_pretty(document));
        }
        Some(document) => print(&report::capacity(document, campaign::charset())),
        None => {}
    }
    let is_good = ended.document.as_ref().is_some_and(CapacityResult::is_good);
    Ok(campaign::exit(&ended, "capacity", as_json, is_good))
}

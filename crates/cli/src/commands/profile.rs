//! `triphammer profile`.

use triphammer_runner::profile::{Profile, ProfileResult, Request};
use triphammer_runner::report;
use triphammer_runner::requests;
use triphammer_runner::settings::Settings;

use super::{campaign, open, print};
use crate::{Exit, Result};

/// Profiles.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let resumed = campaign::resumed(settings)?;
    if let Some(resumed) = &resumed {
        settings.clone_from(&resumed.settings);
    }
    let resumed = resumed.as_ref();
    let workload = &requests::workload(settings)?;
    let target = open(settings, workload)?;
    let request = Request::read(settings, &target)?;
    let as_json = settings.switch("json")?;
    let mut question = Profile::new(request, workload);
    let targets = std::slice::from_ref(&target);
    let Some(ended) = campaign::conduct(settings, workload, targets, resumed, &mut question)?
    else {
        return Ok(Exit::Done);
    };
    match &ended.document {
        Some(document) if as_json => {
            print(&report::json_pretty(document))?;
        }
        Some(document) => print(&report::profile(document, campaign::charset()))?,
        None => {}
    }
    let is_good = ended.document.as_ref().is_some_and(ProfileResult::is_good);
    campaign::exit(&ended, "profile", as_json, is_good)
}

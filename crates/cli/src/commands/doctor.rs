//! `triphammer doctor`.

use triphammer_runner::doctor::{SetupVerdict, examine};
use triphammer_runner::report;
use triphammer_runner::settings::Settings;

use super::{Terminal, charset, print};
use crate::{Exit, Result, terminal};

/// Examines host, network and database, and prints what may spoil a run.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let is_json = settings.switch("json")?;
    let result = examine(settings, &Terminal, &mut |warning| terminal::warn(warning))?;
    if is_json {
        print(&report::json_pretty(&result))?;
    } else {
        print(&report::doctor(&result, charset()))?;
    }
    let is_wrong = result.verdict == SetupVerdict::Wrong;
    Ok(if is_wrong { Exit::CheckFailed } else { Exit::Done })
}

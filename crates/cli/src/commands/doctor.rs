//! `triphammer doctor`.

use triphammer_observe::doctor::{Tests, examine};
use triphammer_report as report;
use triphammer_settings::Settings;
use triphammer_settings::handle::Handle;

use super::{Terminal, charset, print};
use crate::{Exit, Result, signals, terminal};

/// What Ctrl-C says and does while a test is made.
const STOPPING: &str = "stopping: removing what the test created; Ctrl-C again leaves it";

/// Examines host, network and database, and prints what may spoil a run.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let is_json = settings.switch("json")?;
    let (tests, handle) = (Tests::from_settings(settings)?, Handle::default());
    if tests.any() {
        signals::stops(handle.clone(), STOPPING);
    }
    let result = examine(settings, &Terminal, &handle, &mut |warning| terminal::warn(warning))?;
    if is_json {
        print(&report::json_pretty(&result))?;
    } else {
        print(&report::doctor(&result, charset()))?;
    }
    Ok(match handle.is_stopped() {
        true => Exit::Interrupted,
        false if tests.are_good(&result) => Exit::Done,
        false => Exit::CheckFailed,
    })
}

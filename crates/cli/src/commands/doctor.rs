//! `triphammer doctor`.

use triphammer_observe::doctor::{Tests, examine, restore_left};
use triphammer_report as report;
use triphammer_settings::Settings;
use triphammer_settings::handle::Handle;

use super::{Terminal, charset, print, prove};
use crate::{Exit, Result, signals, terminal};

/// What Ctrl-C says and does while a test is made.
const STOPPING: &str = "stopping: removing what the test created; Ctrl-C again leaves it";

/// Examines host, network and database, and prints what may spoil a run; or proves what a setting is
/// worth, or restores one.
pub fn command(mut settings: Settings) -> Result<Exit> {
    if settings.switch("restore-host")? {
        return restore(&settings);
    }
    if settings.get("prove").is_some() {
        return prove::command(settings);
    }
    prove::refuse_others(&settings)?;
    let settings = &mut settings;
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

/// Restores what a killed `doctor --prove` left changed.
fn restore(settings: &Settings) -> Result<Exit> {
    let restored = restore_left(settings)?;
    let words = restored.unwrap_or_else(|| "no setting of this host is left changed".to_owned());
    print(&format!("{words}\n"))?;
    Ok(Exit::Done)
}

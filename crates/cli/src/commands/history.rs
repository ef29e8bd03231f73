//! `triphammer history`.

use triphammer_report as report;
use triphammer_runner::history::{HistorySelection, history};
use triphammer_settings::Settings;

use super::{charset, print, stored};
use crate::{Exit, Result};

/// Prints the runs in chronological order, with the changes between them.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let price = triphammer_runner::price::read(settings)?;
    let store = stored(settings)?;
    let given = |name: &str| settings.get(name).map(str::to_owned);
    let wanted = HistorySelection {
        label: given("label"),
        workload: given("workload"),
        on: given("on"),
        control: given("control"),
    };
    let found = history(&store, &wanted, price.as_ref())?;
    if settings.switch("json")? {
        print(&report::json_pretty(&found))?;
    } else {
        print(&report::history(&found, charset()))?;
    }
    let fails = settings.switch("fail-if-slower")? && found.is_slower();
    Ok(if fails { Exit::CheckFailed } else { Exit::Done })
}

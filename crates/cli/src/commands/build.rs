//! `triphammer build`.

use triphammer_core::session::Database as _;
use triphammer_runner::build::build;
use triphammer_runner::journal::Journal;
use triphammer_runner::report;
use triphammer_runner::requests;
use triphammer_runner::settings::Settings;

use super::{open, print, show_spec, store, unstored};
use crate::terminal::{self, Bars};
use crate::{Exit, Result, signals};

/// Builds.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let workload = requests::workload(settings)?;
    let target = open(settings, &workload)?;
    let request = requests::build(settings, &workload, &target)?;
    if settings.switch("show-spec")? {
        show_spec(settings)?;
        return Ok(Exit::Done);
    }
    let mut store = store(settings)?;
    let mut journal = Journal::of_build(store.as_mut(), &target, &request, &mut terminal::warn);
    signals::before_exit(journal.last_words());
    let bars = Bars::new();
    let built = build(&target.database, &request, &bars);
    bars.clear();
    for note in target.database.notes() {
        terminal::warn(&note);
    }
    let built = match built {
        Ok(built) => built,
        Err(failure) => {
            journal.failed(&failure, &mut terminal::warn);
            return Err(failure);
        }
    };
    journal.built(&built, &mut terminal::warn);
    if settings.switch("json")? {
        print(&report::json_pretty(&built))?;
    } else {
        print(&report::build(&built))?;
    }
    if journal.is_whole() { Ok(Exit::Done) } else { Err(unstored()) }
}

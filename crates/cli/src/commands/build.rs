//! `triphammer build`.

use triphammer_core::session::Database as _;
use triphammer_core::workload::Workload;
use triphammer_runner::build::build;
use triphammer_runner::journal::Journal;
use triphammer_runner::report;
use triphammer_runner::requests;
use triphammer_runner::settings::Settings;
use triphammer_runner::with_workload;

use super::{open, print, show_spec, store};
use crate::terminal::{self, Bars};
use crate::{Exit, Result, signals};

/// Builds.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let name = requests::workload(settings)?;
    with_workload!(name.as_str(), W => build_workload::<W>(settings))?
}

fn build_workload<W: Workload>(settings: &mut Settings) -> Result<Exit> {
    let target = open(settings, W::NAME)?;
    let request = requests::build::<W, _>(settings, &target)?;
    if settings.switch("show-spec")? {
        show_spec(settings);
        return Ok(Exit::Done);
    }
    let mut store = store(settings)?;
    let mut journal =
        Journal::of_build::<W, _>(store.as_mut(), &target, &request, &mut terminal::warn);
    signals::before_exit(journal.last_words());
    let bars = Bars::new();
    let built = build::<W, _>(&target.database, &request, &bars);
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
        print(&report::json_pretty(&built));
    } else {
        print(&report::build(&built));
    }
    Ok(Exit::Done)
}

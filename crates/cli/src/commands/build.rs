//! `triphammer build`.

use triphammer_core::Database;
use triphammer_core::workload::{OptionCommand, Workload, WorkloadSettings};
use triphammer_runner::build::{BuildRequest, build};
use triphammer_runner::journal::Journal;
use triphammer_runner::report;
use triphammer_runner::settings::Settings;
use triphammer_runner::with_workload;

use super::{cores, open, print, show_spec, store, workload};
use crate::terminal::{self, Bars};
use crate::{Exit, Result, signals};

/// Builds.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let name = workload(settings)?;
    with_workload!(name.as_str(), W => build_workload::<W>(settings))?
}

fn build_workload<W: Workload>(settings: &mut Settings) -> Result<Exit> {
    let target = open(settings, W::NAME)?;
    let scale: u32 = settings.parse("scale", || 1)?;
    let one_writer = target.database.capabilities().one_writer;
    let jobs =
        settings.parse("jobs", || if one_writer { 1 } else { (2 * cores()).min(scale).max(1) })?;
    if jobs == 0 {
        return Err(triphammer_runner::Failure::refuse(
            "a build needs at least one job: --jobs 1 or more",
        ));
    }
    let request = BuildRequest {
        jobs,
        settings: WorkloadSettings {
            scale,
            data_seed: settings.parse("seed", || 1)?,
            run_seed: 0,
            options: settings.workload_options(W::options(), OptionCommand::Build),
        },
        dialect_options: settings.dialect_options(target.database.dialect()),
        replace: settings.switch("replace")?,
        force: settings.switch("force")?,
        create_database: settings.switch("create-database")?,
        connect_limit: target.connect_limit,
    };
    W::new(&request.settings)?;
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
        print(&serde_json::to_string_pretty(&built).expect("a report is plain data"));
    } else {
        print(&report::build(&built));
    }
    Ok(Exit::Done)
}

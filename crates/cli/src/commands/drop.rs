//! `triphammer drop`.

use std::io::IsTerminal;

use triphammer_core::Database;
use triphammer_core::workload::Workload;
use triphammer_runner::remove::drop_build;
use triphammer_runner::settings::Settings;
use triphammer_runner::{Failure, with_workload};

use super::{open, print};
use crate::{Exit, Result, terminal};

/// Drops.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let name = triphammer_runner::requests::workload(settings)?;
    with_workload!(name.as_str(), W => drop_workload::<W>(settings))?
}

fn drop_workload<W: Workload>(settings: &mut Settings) -> Result<Exit> {
    let target = open(settings, W::NAME)?;
    let name = target.database.target();
    if !settings.switch("yes")? && !confirmed(W::TITLE, &name) {
        return Err(Failure::refuse(format!(
            "nothing was dropped: say --yes to remove {} from {name}",
            W::TITLE
        )));
    }
    let removed =
        drop_build::<W, _>(&target.database, settings.switch("force")?, target.connect_limit)?;
    print(&format!("dropped {} from {name}: {}", W::TITLE, removed.join(", ")))?;
    Ok(Exit::Done)
}

/// Asks at the terminal; without one the answer is no.
fn confirmed(title: &str, target: &str) -> bool {
    if !std::io::stdin().is_terminal() {
        return false;
    }
    terminal::note(&format!("Remove {title} from {target}? Type yes to do it."));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && answer.trim() == "yes"
}

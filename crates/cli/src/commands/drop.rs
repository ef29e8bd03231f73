//! `triphammer drop`.

use std::io::IsTerminal;

use triphammer_core::Database;
use triphammer_runner::remove::drop_build;
use triphammer_runner::settings::Settings;
use triphammer_runner::{Failure, requests};

use super::{open, print};
use crate::{Exit, Result, terminal};

/// Drops.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let workload = requests::workload(settings)?;
    let target = open(settings, &workload)?;
    let name = target.database.target();
    if !settings.switch("yes")? && !confirmed(&workload.title, &name) {
        return Err(Failure::refuse(format!(
            "nothing was dropped: say --yes to remove {} from {name}",
            workload.title
        )));
    }
    let removed =
        drop_build(&workload, &target.database, settings.switch("force")?, target.connect_limit)?;
    print(&format!("dropped {} from {name}: {}", workload.title, removed.join(", ")))?;
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

//! The confirmation prompt of `triphammer drop`.

use std::io::IsTerminal;

use triphammer_runner::job::Job;
use triphammer_settings::failure::Failure;

use crate::{Result, terminal};

/// Asks for confirmation, unless `--yes` is given.
///
/// # Errors
/// When the answer is no.
pub fn confirm(job: &mut Job) -> Result<()> {
    let (title, target) = (job.workload().title.clone(), job.targets().join(" and "));
    if job.settings_mut().switch("yes")? || confirmed(&title, &target) {
        return Ok(());
    }
    Err(Failure::refuse(format!("nothing was dropped: use --yes to drop {title} from {target}")))
}

/// Asks at the terminal; without a terminal, the answer is no.
fn confirmed(title: &str, target: &str) -> bool {
    if !std::io::stdin().is_terminal() {
        return false;
    }
    terminal::note(&format!("Drop {title} from {target}? Type yes to confirm."));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && answer.trim() == "yes"
}

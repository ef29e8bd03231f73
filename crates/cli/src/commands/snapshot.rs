//! `triphammer snapshot`.

use triphammer_runner::restore::{SnapshotOrder, snapshots};
use triphammer_settings::handle::Handle;
use triphammer_settings::{Settings, target};

use super::{Terminal, print};
use crate::{Exit, Result, signals, terminal};

/// What Ctrl-C says and does.
const STOPPING: &str = "stopping: removing what is unfinished; Ctrl-C again leaves it";

/// Makes, lists or drops snapshots of a database.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let workload = triphammer_runner::describe(&settings.parse::<String>("workload")?)?;
    let order = SnapshotOrder::read(settings)?;
    let target = target::open(settings, Some(&workload), &Terminal)?;
    target.warnings.iter().for_each(|warning| terminal::warn(warning));
    let handle = Handle::default();
    signals::stops(handle.clone(), STOPPING);
    let said = snapshots(&order, &workload, &target, &handle)?;
    print(&said)?;
    Ok(Exit::Done)
}

//! `triphammer check`.

use triphammer_core::workload::Workload;
use triphammer_runner::check::{CheckReport, check};
use triphammer_runner::journal::Journal;
use triphammer_runner::report;
use triphammer_runner::requests;
use triphammer_runner::settings::Settings;
use triphammer_runner::{Failure, with_workload};

use super::{junit, open, print, store};
use crate::terminal::{self, Bars};
use crate::{Exit, Result, signals};

/// Checks.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let name = requests::workload(settings)?;
    let junit = junit(settings)?;
    let checked = with_workload!(name.as_str(), W => check_workload::<W>(settings));
    let checked = checked.map_err(Failure::from).and_then(|checked| checked);
    if let Some(file) = junit {
        file.write(&match &checked {
            Ok(report) => report::junit::of_check(report).xml(),
            Err(failure) => report::junit::of_failure("check", &name, &failure.to_string()).xml(),
        })?;
    }
    Ok(if checked?.holds() { Exit::Done } else { Exit::CheckFailed })
}

fn check_workload<W: Workload>(settings: &mut Settings) -> Result<CheckReport> {
    let target = open(settings, W::NAME)?;
    let request = requests::check(settings, &target)?;
    let as_json = settings.switch("json")?;
    let mut store = store(settings)?;
    let mut journal = Journal::of_check::<W, _>(store.as_mut(), &target, &mut terminal::warn);
    signals::before_exit(journal.last_words());
    let bars = Bars::new();
    let checked = check::<W, _>(&target.database, &request, &bars);
    bars.clear();
    let checked = match checked {
        Ok(checked) => checked,
        Err(failure) => {
            journal.failed(&failure, &mut terminal::warn);
            return Err(failure);
        }
    };
    journal.checked(&checked, &mut terminal::warn);
    if as_json {
        print(&report::json_pretty(&checked));
    } else {
        print(&report::check(&checked));
    }
    Ok(checked)
}

//! `triphammer check`.

use std::sync::Arc;

use triphammer_core::workload::Description;
use triphammer_runner::check::{CheckReport, check};
use triphammer_runner::journal::Journal;
use triphammer_runner::report;
use triphammer_runner::requests;
use triphammer_runner::settings::Settings;

use super::{junit, open, print, store};
use crate::terminal::{self, Bars};
use crate::{Exit, Result, signals};

/// Checks.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let workload = requests::workload(settings)?;
    let junit = junit(settings)?;
    let checked = check_workload(settings, &workload);
    if let Some(file) = junit {
        file.write(&match &checked {
            Ok(report) => report::junit::of_check(report).xml(),
            Err(failure) => {
                report::junit::of_failure("check", &workload.name, &failure.to_string()).xml()
            }
        })?;
    }
    Ok(if checked?.holds() { Exit::Done } else { Exit::CheckFailed })
}

fn check_workload(settings: &mut Settings, workload: &Arc<Description>) -> Result<CheckReport> {
    let target = open(settings, workload)?;
    let request = requests::check(settings, workload, &target)?;
    let as_json = settings.switch("json")?;
    let mut store = store(settings)?;
    let mut journal = Journal::of_check(store.as_mut(), workload, &target, &mut terminal::warn);
    signals::before_exit(journal.last_words());
    let bars = Bars::new();
    let checked = check(&target.database, &request, &bars);
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
        print(&serde_json::to_string_pretty(&checked).expect("a report is plain data"));
    } else {
        print(&report::check(&checked));
    }
    Ok(checked)
}

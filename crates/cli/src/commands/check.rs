//! `triphammer check`.

use std::sync::Arc;

use triphammer_core::workload::Description;
use triphammer_runner::Failure;
use triphammer_runner::check::{CheckReport, check};
use triphammer_runner::journal::Journal;
use triphammer_runner::report;
use triphammer_runner::requests;
use triphammer_runner::settings::Settings;

use super::{junit, open, print, store, unstored};
use crate::terminal::{self, Bars};
use crate::{Exit, Result, signals};

/// Checks.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let workload = requests::workload(settings)?;
    let junit = junit(settings)?;
    let checked = check_workload(settings, &workload);
    if let Some(file) = junit {
        file.write(&match &checked {
            Ok((report, _)) => report::junit::of_check(report).xml(),
            Err(failure) => {
                report::junit::of_failure("check", &workload.name, &failure.to_string()).xml()
            }
        })?;
    }
    match checked? {
        (_, Some(unwritten)) => Err(unwritten),
        (report, None) => Ok(if report.holds() { Exit::Done } else { Exit::CheckFailed }),
    }
}

/// The report, and what was asked for and could not be written.
type Checked = (CheckReport, Option<Failure>);

fn check_workload(settings: &mut Settings, workload: &Arc<Description>) -> Result<Checked> {
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
    let printed = if as_json {
        print(&report::json_pretty(&checked))
    } else {
        print(&report::check(&checked))
    };
    let unwritten = printed.err().or_else(|| (!journal.is_whole()).then(unstored));
    Ok((checked, unwritten))
}

//! `triphammer datagen`.

use triphammer_report as report;
use triphammer_runner::datagen::{DatagenRequest, datagen};
use triphammer_settings::Settings;

use super::print;
use crate::terminal::Bars;
use crate::{Exit, Result};

/// Writes a workload's data to files.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let (request, size) = DatagenRequest::new(settings)?;
    let bars = Bars::new();
    bars.task("writing", request.rows(), "rows");
    let report = datagen(&request, size, &|rows| bars.advance(rows));
    bars.clear();
    let report = report?;
    if settings.switch("json")? {
        print(&report::json_pretty(&report))?;
    } else {
        print(&report::datagen(&report))?;
    }
    Ok(Exit::Done)
}

//! `triphammer capture`.

use triphammer_report as report;
use triphammer_runner::capture::{CaptureRequest, capture};
use triphammer_settings::Settings;

use super::{Terminal, print};
use crate::terminal::{Bars, warn};
use crate::{Exit, Result};

/// Makes a workload file or a recording from a log or from statistics.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let request = CaptureRequest::new(settings, &Terminal)?;
    request.warnings().iter().for_each(|warning| warn(warning));
    let bars = Bars::new();
    bars.task("reading", request.bytes(), "bytes");
    let report = capture(&request, &mut |bytes| bars.advance(bytes));
    bars.clear();
    let report = report?;
    if settings.switch("json")? {
        print(&report::json_pretty(&report))?;
    } else {
        print(&report::capture(&report))?;
    }
    Ok(Exit::Done)
}

//! `triphammer capture`.

use triphammer_report as report;
use triphammer_runner::capture::{CaptureEvent, CaptureRequest, capture};
use triphammer_settings::Settings;
use triphammer_settings::format::{counted, duration};
use triphammer_settings::handle::Handle;

use super::{Terminal, print};
use crate::terminal::{Bars, note, warn};
use crate::{Exit, Result, signals};

/// Message of the first Ctrl-C.
const STOPPING: &str = "ending the recording; Ctrl-C again closes all connections";

/// Makes a workload file or a recording from a log, from what passes on the wire, or from statistics.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let request = CaptureRequest::new(settings, &Terminal)?;
    request.warnings().iter().for_each(|warning| warn(warning));
    let handle = Handle::default();
    let bars = Bars::new();
    if matches!(request, CaptureRequest::Wire(_)) {
        signals::stops(handle.clone(), STOPPING);
    } else {
        bars.task("reading", request.bytes(), "bytes");
    }
    let report = capture(&request, &handle, &mut |event| match event {
        CaptureEvent::Read(bytes) => bars.advance(bytes),
        other => note(&message(&other)),
    });
    bars.clear();
    let report = report?;
    if settings.switch("json")? {
        print(&report::json_pretty(&report))?;
    } else {
        print(&report::capture(&report))?;
    }
    Ok(Exit::Done)
}

fn message(event: &CaptureEvent) -> String {
    match event {
        CaptureEvent::Read(_) => String::new(),
        CaptureEvent::Listening(address) => {
            format!("recording what passes at {address}; Ctrl-C ends the recording")
        }
        CaptureEvent::Recorded(None) => "the recording has ended".to_owned(),
        CaptureEvent::Recorded(Some(why)) => {
            format!("warning: the recording has ended {why}; forwarding continues")
        }
        CaptureEvent::Draining(open, limit) => format!(
            "still forwarding {}: until {} have passed, or Ctrl-C",
            counted(*open as u64, "connections"),
            duration(limit.as_secs_f64())
        ),
    }
}

//! What a capture made, as text.

use super::format::{bytes, duration, integer};
use crate::capture::CaptureReport;

/// Formats the report of a capture: what was written, from what, what is not in it, and how to use it.
#[must_use]
pub fn capture(report: &CaptureReport) -> String {
    let mut text = format!(
        "captured {} transactions with {} statements ({} different) of {} sessions\n  from {} ({}, \
         {}; {} from the first to the last)\n",
        integer(report.transactions),
        integer(report.statements),
        integer(report.distinct_statements as u64),
        integer(report.sessions as u64),
        report.source,
        report.from,
        bytes(report.bytes),
        duration(report.seconds),
    );
    if !report.is_recording {
        text.push_str(&format!(
            "  as {} different transactions with {} parameters\n",
            integer(report.kinds as u64),
            integer(report.parameters as u64)
        ));
    }
    if !report.skipped.is_empty() {
        text.push_str("not replayed:\n");
        for skipped in &report.skipped {
            text.push_str(&format!("  {} {}\n", integer(skipped.count), skipped.reason));
        }
    }
    for file in &report.files {
        text.push_str(&format!("wrote {}\n", file.display()));
    }
    let file = report.files.first().map(|file| file.display().to_string()).unwrap_or_default();
    text.push_str(&match report.is_recording {
        true => format!("to replay it:\n  triphammer run TARGET --load replay:{file}\n"),
        false => format!("to run it:\n  triphammer run TARGET -w {file}\n"),
    });
    text
}

//! What a capture made, as text.

use triphammer_document::capture::CaptureReport;
use triphammer_settings::format::{bytes, counted, duration, integer};

/// Formats the report of a capture: what was written, from what, what is not in it, and how to use it.
#[must_use]
pub fn capture(report: &CaptureReport) -> String {
    let mut text = match report.guessed {
        Some(guessed) => of_statistics(report, guessed),
        None => of_log(report),
    };
    if !report.is_recording {
        text.push_str(&format!(
            "  as {} with {}\n",
            counted(report.kinds as u64, "different transactions"),
            counted(report.parameters as u64, "parameters")
        ));
    }
    if let Some(why) = &report.ended_early {
        text.push_str(&format!("the recording ended early: {why}\n"));
    }
    if report.unreached > 0 {
        let count = counted(report.unreached, "connections");
        text.push_str(&format!("the server could not be reached for {count}\n"));
    }
    if !report.skipped.is_empty() {
        text.push_str("not replayed:\n");
        for skipped in &report.skipped {
            text.push_str(&format!("  {}: {}\n", skipped.reason, integer(skipped.count)));
        }
    }
    for file in &report.files {
        text.push_str(&format!("wrote {}\n", file.display()));
    }
    let file = report.files.first().map(|file| file.display().to_string()).unwrap_or_default();
    text.push_str(&match report.is_recording {
        true => format!(
            "to replay it:\n  triphammer run TARGET --load replay:{file}\n\
             to compare two databases by it:\n  triphammer compare --replay {file} OLD NEW\n"
        ),
        false => format!("to run it:\n  triphammer run TARGET -w {file}\n"),
    });
    text
}

/// What was captured from a log.
fn of_log(report: &CaptureReport) -> String {
    format!(
        "captured {} with {} ({} different) of {}\n  from {} ({}, {}; {} from the first to the last)\n",
        counted(report.transactions, "transactions"),
        counted(report.statements, "statements"),
        integer(report.distinct_statements as u64),
        counted(report.sessions as u64, "sessions"),
        report.source,
        report.from,
        bytes(report.bytes),
        duration(report.seconds),
    )
}

/// What was captured from statistics.
fn of_statistics(report: &CaptureReport, guessed: usize) -> String {
    let review = match guessed {
        0 => String::new(),
        _ => "; review the lines that are marked `# guessed`".to_owned(),
    };
    format!(
        "captured {} of {}\n  from {} ({})\n  {}{review}\n",
        counted(report.statements, "calls"),
        counted(report.distinct_statements as u64, "statements"),
        report.source,
        report.from,
        counted(guessed as u64, "guessed parameters"),
    )
}

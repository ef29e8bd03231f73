//! `isolation check FILE`: checks a history that somebody else recorded.

use std::path::PathBuf;

use clap::ArgMatches;
use triphammer_core::small_file::read_text;
use triphammer_isolation::{
    AnomalyKind, Consistency, History, Order, Promise, Report, Scope, UNCOUNTED, check, edn,
};
use triphammer_settings::failure::Failure;
use triphammer_settings::format::{counted, integer};

use crate::stdout::print;
use crate::{Exit, Result};

/// Longest file, in bytes: a history is read at once.
const BYTES_MAX: u64 = 8 << 30;

/// Reads the file, and prints what the checker finds. The exit code is 1 if that is anything.
pub fn check_history(matches: &ArgMatches) -> Result<Exit> {
    let path = matches.get_one::<PathBuf>("file").expect("clap requires it");
    let refuse = |why: String| Failure::refuse(format!("{}: {why}", path.display()));
    let text = read_text(path, BYTES_MAX).map_err(|error| refuse(error.to_string()))?;
    let transactions = edn::read(&text).map_err(|error| refuse(error.to_string()))?;
    drop(text);
    let history = &mut History::default();
    // Each is freed at once: a file may be large.
    for transaction in transactions {
        history.push(&transaction);
    }
    let report = check(history, Scope { order: Order::RealTime }).map_err(|error| {
        let text = read_text(path, BYTES_MAX).unwrap_or_default();
        let line = edn::line_of_second(&text, error.key, error.value);
        refuse(line.map_or(String::new(), |line| format!("line {line}: ")) + &error.to_string())
    })?;
    print(&shown(&report))?;
    let is_clean = report.findings.is_empty() && !report.uncounted;
    Ok(if is_clean { Exit::Done } else { Exit::CheckFailed })
}

fn shown(report: &Report) -> String {
    let of = format!(
        "{} in {}, {} of them committed",
        counted(report.operations, "operations"),
        counted(report.transactions, "transactions"),
        integer(report.committed + report.in_doubt_seen)
    );
    if report.findings.is_empty() && !report.uncounted {
        return format!("no anomaly was found: {of}\n");
    }
    let mut text = format!("{of}\n\n");
    for (kind, finding) in &report.findings {
        let (name, title) = (kind.to_string(), kind.anomaly.title());
        text.push_str(&format!("{:>10}  {name:24}  {title}\n", integer(finding.count)));
    }
    let ruled_out: Vec<&str> = ruled_out(report.findings.keys()).collect();
    if !ruled_out.is_empty() {
        text.push_str(&format!("\nnot kept: {}\n", ruled_out.join(", ")));
    }
    if report.uncounted {
        text.push_str(&format!("{UNCOUNTED}\n"));
    }
    text
}

/// The models that the history breaks, without promises of order.
fn ruled_out<'a>(
    found: impl Iterator<Item = &'a AnomalyKind> + Clone,
) -> impl Iterator<Item = &'static str> {
    Consistency::ALL.into_iter().filter_map(move |(model, name)| {
        let promise = Promise { model, order: Order::Dependencies };
        found.clone().any(|kind| promise.forbids(*kind)).then_some(name)
    })
}

//! What `build` and `check` print, and what `report` prints of any stored job.

use super::format::{self, integer};
use super::{Charset, Style, capacity, comparison, jobs, profile, text};
use crate::build::BuildReport;
use crate::check::CheckReport;
use crate::result::JobKind;
use crate::store::{StoreError, StoredJob};

/// A build for people.
#[must_use]
pub fn build(report: &BuildReport) -> String {
    let BuildReport { workload, scale, scale_unit, target, .. } = report;
    let what = format!("{workload} with {} at {target}", format::scale(*scale, scale_unit));
    if report.outcome == "already built" {
        return format!("{what} is built already; --replace builds it anew\n");
    }
    let whole: f64 = report.phases.iter().map(|(_, seconds)| seconds).sum();
    let mut out = format!(
        "{} {what}: {} rows in {whole:.1} s, {} jobs, seed {}\n",
        report.outcome,
        integer(report.rows),
        report.jobs,
        report.seed
    );
    for (phase, seconds) in &report.phases {
        out.push_str(&format!("  {phase:18} {seconds:8.1} s\n"));
    }
    out
}

/// A check for people.
#[must_use]
pub fn check(report: &CheckReport) -> String {
    let mut out = String::new();
    let width = report.checks.iter().map(|c| c.id.chars().count()).max().unwrap_or_default();
    for check in &report.checks {
        let verdict = match (check.violations, check.passes()) {
            (0, _) => "holds   ",
            (_, true) => "expected",
            _ => "VIOLATED",
        };
        out.push_str(&format!("{verdict}  {:width$}  {}\n", check.id, check.title));
        if let Some(key) = &check.first_key {
            let times = integer(check.violations);
            out.push_str(&format!("          {:width$}  {times} times, first at {key}\n", ""));
        }
    }
    let bad = report.checks.iter().filter(|c| !c.passes()).count();
    let mut expected = report.checks.iter().filter_map(|c| c.by_rules_of.as_ref()).peekable();
    let made_by = expected.peek().map_or("", |made_by| made_by).to_owned();
    let expected = expected.count();
    let (first, last) = report.range;
    let of = format!("of {} on {} {first} to {last}", report.workload, report.scale_unit);
    out.push_str(&match (bad, expected) {
        (0, 0) => format!("all {} conditions {of} hold", report.checks.len()),
        (0, _) => format!("{} conditions {of} hold", report.checks.len() - expected),
        _ => format!("{bad} of {} conditions {of} are violated", report.checks.len()),
    });
    if expected > 0 {
        out.push_str(&format!(
            "\n{expected} do not, by the rules of {made_by}, which made the tables"
        ));
    }
    match &report.made_by {
        Some(made_by) => out.push_str(&format!(
            "\nthe rules of the population are not checked: {made_by} made the tables by rules of its own"
        )),
        None if report.untouched => {}
        None => {
            out.push_str("\nthe rules of the population are not checked: a run has changed the data");
        }
    }
    out.push('\n');
    out
}

/// A stored job as its command printed it; one without a document as a line of the list.
///
/// # Errors
/// When the stored document cannot be read.
pub fn stored(job: &StoredJob, charset: Charset) -> Result<String, StoreError> {
    let row = || jobs::text(std::slice::from_ref(&job.row));
    let Some(document) = &job.document else { return Ok(row()) };
    Ok(match job.row.kind {
        JobKind::Run if document.is_string() => failed(&row(), document),
        JobKind::Run => job.result()?.map_or_else(row, |result| text(&result, Style::Plain)),
        JobKind::Profile => serde_json::from_value(document.clone())
            .map_or_else(|_| failed(&row(), document), |result| profile(&result, charset)),
        JobKind::Capacity => serde_json::from_value(document.clone())
            .map_or_else(|_| failed(&row(), document), |result| capacity(&result, charset)),
        JobKind::Compare => serde_json::from_value(document.clone())
            .map_or_else(|_| failed(&row(), document), |result| comparison(&result, charset)),
        JobKind::Build => serde_json::from_value(document.clone())
            .map_or_else(|_| failed(&row(), document), |report| build(&report)),
        JobKind::Check => serde_json::from_value(document.clone())
            .map_or_else(|_| failed(&row(), document), |report| check(&report)),
    })
}

/// A build or check that could not be done left the reason as its document.
fn failed(row: &str, document: &serde_json::Value) -> String {
    format!("{row}{}\n", document.as_str().unwrap_or_default())
}

/// A stored job's document, or `null`.
#[must_use]
pub fn stored_json(job: &StoredJob) -> String {
    super::json::pretty(&job.document)
}

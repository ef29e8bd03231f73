//! What `build`, `check` and `drop` print, and what is printed of any document.

use super::capacity::{capacity, capacity_markdown};
use super::comparison::{comparison, comparison_markdown};
use super::format::{self, integer};
use super::junit::{Suite, of_check, of_run};
use super::markdown::markdown;
use super::profile::{profile, profile_markdown};
use super::text::text;
use super::{Charset, Report, Style, jobs};
use crate::build::BuildReport;
use crate::capacity::CapacityResult;
use crate::check::CheckReport;
use crate::compare::ComparisonResult;
use crate::job::Document;
use crate::profile::ProfileResult;
use crate::remove::Removal;
use crate::result::RunResult;
use crate::store::{StoreError, StoredJob};

/// A build for people.
fn build(report: &BuildReport) -> String {
    let BuildReport { workload, scale, scale_unit, target, .. } = report;
    let what = format!("{workload} with {} at {target}", format::scale(*scale, scale_unit));
    if report.outcome == "already built" {
        return format!("{what} is built already; --replace rebuilds it\n");
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
fn check(report: &CheckReport) -> String {
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

/// A drop for people.
fn removal(removal: &Removal) -> String {
    let Removal { workload, target, removed } = removal;
    format!("dropped {workload} from {target}: {}", removed.join(", "))
}

impl Report for BuildReport {
    fn text(&self, _: Charset, _: Style) -> String {
        build(self)
    }
}

impl Report for RunResult {
    fn text(&self, _: Charset, style: Style) -> String {
        text(self, style)
    }

    fn markdown(&self) -> Option<String> {
        Some(markdown(self))
    }

    fn junit(&self) -> Option<Suite> {
        Some(of_run(self))
    }
}

impl Report for ProfileResult {
    fn text(&self, charset: Charset, _: Style) -> String {
        profile(self, charset)
    }

    fn markdown(&self) -> Option<String> {
        Some(profile_markdown(self))
    }
}

impl Report for CapacityResult {
    fn text(&self, charset: Charset, _: Style) -> String {
        capacity(self, charset)
    }

    fn markdown(&self) -> Option<String> {
        Some(capacity_markdown(self))
    }
}

impl Report for ComparisonResult {
    fn text(&self, charset: Charset, _: Style) -> String {
        comparison(self, charset)
    }

    fn markdown(&self) -> Option<String> {
        Some(comparison_markdown(self))
    }
}

impl Report for CheckReport {
    fn text(&self, _: Charset, _: Style) -> String {
        check(self)
    }

    fn junit(&self) -> Option<Suite> {
        Some(of_check(self))
    }
}

impl Report for Removal {
    fn text(&self, _: Charset, _: Style) -> String {
        removal(self)
    }
}

/// A stored job as its command printed it; one without a document as a line of the list, with the reason where
/// it left one.
///
/// # Errors
/// When the stored document cannot be read.
pub fn stored(job: &StoredJob, charset: Charset) -> Result<String, StoreError> {
    if let Some(found) = Document::stored(job)? {
        return Ok(found.text(charset, Style::Plain));
    }
    let row = jobs::text(std::slice::from_ref(&job.row));
    let reason = job.document.as_ref().and_then(serde_json::Value::as_str);
    Ok(reason.map_or(row.clone(), |reason| format!("{row}{reason}\n")))
}

/// A stored job's document, or `null`.
#[must_use]
pub fn stored_json(job: &StoredJob) -> String {
    super::json::pretty(&job.document)
}

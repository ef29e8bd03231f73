//! What `build`, `check` and `drop` print, and what is printed of any document.

use super::format::{self, integer};
use super::{
    Charset, Style, capacity, capacity_markdown, comparison, comparison_markdown, jobs, markdown,
    profile, profile_markdown, text,
};
use crate::build::BuildReport;
use crate::check::CheckReport;
use crate::datagen::DatagenReport;
use crate::job::{Document, Removal};
use crate::store::{StoreError, StoredJob};

/// A build for people.
#[must_use]
pub fn build(report: &BuildReport) -> String {
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

/// Written files for people.
#[must_use]
pub fn datagen(report: &DatagenReport) -> String {
    let DatagenReport { workload, size, files, rows, bytes, seconds, .. } = report;
    let rate = *bytes as f64 / 1e6 / seconds.max(1e-3);
    format!(
        "{workload} with {size} in {}: {} in {} files, {} rows in {seconds:.1} s ({rate:.0} MB/s)\n",
        report.folder.display(),
        format::bytes(*bytes),
        integer(*files),
        integer(*rows)
    )
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
    let of = match &report.size {
        Some(size) => format!("of {} at {size}", report.workload),
        None => format!("of {} on {} {first} to {last}", report.workload, report.scale_unit),
    };
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
    if let Some(why) = &report.not_compared {
        out.push_str(&format!("\n{why}"));
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
#[must_use]
pub fn removal(removal: &Removal) -> String {
    let Removal { workload, target, removed } = removal;
    format!("dropped {workload} from {target}: {}", removed.join(", "))
}

/// A document for people, as its command prints it.
#[must_use]
pub fn document(document: &Document, charset: Charset, style: Style) -> String {
    match document {
        Document::Build(of) => build(of),
        Document::Run(of) => text(of, style),
        Document::Profile(of) => profile(of, charset),
        Document::Capacity(of) => capacity(of, charset),
        Document::Comparison(of) => comparison(of, charset),
        Document::Check(of) => check(of),
        Document::Removal(of) => removal(of),
    }
}

/// A document as Markdown; `None` where that says no more than the text.
#[must_use]
pub fn document_markdown(document: &Document) -> Option<String> {
    match document {
        Document::Run(of) => Some(markdown(of)),
        Document::Profile(of) => Some(profile_markdown(of)),
        Document::Capacity(of) => Some(capacity_markdown(of)),
        Document::Comparison(of) => Some(comparison_markdown(of)),
        Document::Build(_) | Document::Check(_) | Document::Removal(_) => None,
    }
}

/// A stored job as its command printed it; one without a document as a line of the list, with the reason where
/// it left one.
///
/// # Errors
/// When the stored document cannot be read.
pub fn stored(job: &StoredJob, charset: Charset) -> Result<String, StoreError> {
    if let Some(found) = Document::stored(job)? {
        return Ok(document(&found, charset, Style::Plain));
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

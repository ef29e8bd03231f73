//! The text output of `build`, `check` and `drop`, and of any document.

use triphammer_document::build::{BuildHost, BuildReport};
use triphammer_document::capacity::CapacityResult;
use triphammer_document::check::CheckReport;
use triphammer_document::compare::ComparisonResult;
use triphammer_document::datagen::DatagenReport;
use triphammer_document::drill::DrillResult;
use triphammer_document::isolation::IsolationResult;
use triphammer_document::matrix::MatrixResult;
use triphammer_document::profile::ProfileResult;
use triphammer_document::remove::Removal;
use triphammer_document::result::RunResult;
use triphammer_settings::format::{self, counted, integer};
use triphammer_store::{StoreError, StoredJob};

use super::capacity::{capacity, capacity_markdown, capacity_summary};
use super::comparison::{
    comparison, comparison_markdown, comparison_summary, comparison_verdict_last,
};
use super::drill::{drill, drill_markdown, drill_suite, drill_summary};
use super::isolation::{isolation, isolation_markdown, isolation_suite, isolation_summary};
use super::junit::{Suite, of_check, of_run};
use super::markdown::markdown;
use super::matrix::{matrix, matrix_markdown, matrix_summary};
use super::profile::{profile, profile_markdown, profile_summary};
use super::table::paragraph;
use super::text::{observed_text, summary, text};
use super::{Charset, Report, Style, jobs};

/// Renders a build report as text.
fn build(report: &BuildReport) -> String {
    let BuildReport { workload, scale, scale_unit, target, .. } = report;
    let what = format!("{workload} with {} at {target}", format::scale(*scale, scale_unit));
    if report.outcome == "already built" {
        return format!("{what} is already built; --replace rebuilds it\n");
    }
    let whole: f64 = report.phases.iter().map(|(_, seconds)| seconds).sum();
    // The rows of a set-up script are not counted.
    let rows = match report.rows {
        0 => String::new(),
        rows => format!("{} rows, ", integer(rows)),
    };
    let text = format!(
        "{} {what} in {whole:.1} s: {rows}{}, seed {}",
        report.outcome,
        counted(u64::from(report.jobs), "jobs"),
        report.seed
    );
    let mut out = paragraph("", &text).join("\n") + "\n";
    for (phase, seconds) in &report.phases {
        let used = report.usage.iter().find(|of| of.phase == *phase);
        let used = used.map_or_else(String::new, |of| format!("   {}", of.usage.words()));
        out.push_str(&format!("  {phase:18} {seconds:8.1} s{used}\n"));
    }
    out.extend(report.usage_of.map(|of| paragraph("  ", of.words()).join("\n") + "\n"));
    for BuildHost { host, jobs, rows, seconds, cpu_s } in &report.hosts {
        let (rows, jobs) = (integer(*rows), counted(u64::from(*jobs), "jobs"));
        let text = format!("{host}: {rows} rows in {seconds:.1} s, {jobs}, CPU {cpu_s:.1} s");
        out.push_str(&(paragraph("  ", &text).join("\n") + "\n"));
    }
    out
}

/// Renders the report of `datagen` as text.
#[must_use]
pub fn datagen(report: &DatagenReport) -> String {
    let DatagenReport { workload, size, files, rows, bytes, seconds, .. } = report;
    let rate = *bytes as f64 / 1e6 / seconds.max(1e-3);
    format!(
        "{workload} with {size} in {}: {} in {}, {} rows in {seconds:.1} s ({rate:.0} MB/s)\n",
        report.folder.display(),
        format::bytes(*bytes),
        counted(*files, "files"),
        integer(*rows)
    )
}

/// What the answers of a check were compared with, and which were not.
fn compared(report: &CheckReport) -> String {
    let mut out = String::new();
    if let Some(who) = &report.compared_with {
        out.push_str(&format!("\nthe answers were compared with those of {who} on the same data"));
    }
    if let Some(who) = &report.own_texts {
        out.push_str(&format!(
            "\nthe texts of the tables are those of {who}: answers that depend on them were compared \
             with those for these texts"
        ));
    }
    if let Some(why) = &report.not_compared {
        out.push_str(&format!("\n{why}"));
    }
    out
}

/// Renders a check report as text.
fn check(report: &CheckReport) -> String {
    let mut out = String::new();
    let width = report.checks.iter().map(|c| c.id.chars().count()).max().unwrap_or_default();
    for check in &report.checks {
        let verdict = match (check.violations, check.passes()) {
            (0, _) => "holds   ",
            (_, true) => "expected",
            _ => "VIOLATED",
        };
        let lead = format!("{verdict}  {:width$}  ", check.id);
        for line in paragraph(&lead, &check.title) {
            out.push_str(&format!("{line}\n"));
        }
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
        None if first == last => {
            let one = format::scale(1.into(), &report.scale_unit);
            let unit = one.trim_start_matches("1 ");
            format!("of {} on {unit} {first}", report.workload)
        }
        None => format!("of {} on {} {first} to {last}", report.workload, report.scale_unit),
    };
    out.push_str(&match (bad, expected) {
        (0, 0) if report.checks.is_empty() => {
            format!("nothing was checked {of}: it has no conditions")
        }
        (0, 0) if report.checks.len() == 1 => format!("the condition {of} holds"),
        (0, 0) => format!("all {} conditions {of} hold", report.checks.len()),
        (0, _) => format!("{} conditions {of} hold", report.checks.len() - expected),
        _ => format!("{bad} of {} conditions {of} violated", report.checks.len()),
    });
    if expected > 0 {
        out.push_str(&format!(
            "\n{expected} more are violated, as expected: the tables were created by the rules of \
             {made_by}"
        ));
    }
    out.push_str(&compared(report));
    match &report.made_by {
        Some(made_by) => out.push_str(&format!(
            "\nthe rules of the initial population are not checked: {made_by} created the tables \
             by different rules"
        )),
        None if report.untouched => {}
        None => {
            out.push_str(
                "\nthe rules of the initial population are not checked: a run began here, which may \
                 have changed the data",
            );
        }
    }
    out.push('\n');
    out
}

/// Renders the report of a drop as text.
fn removal(removal: &Removal) -> String {
    let Removal { workload, target, removed, .. } = removal;
    let text = format!("dropped {workload} from {target}: {}", removed.join(", "));
    paragraph("", &text).join("\n")
}

impl Report for BuildReport {
    fn text(&self, _: Charset, style: Style) -> String {
        build(self) + &observed_text(self.observed.as_ref(), "the build", style)
    }

    fn summary(&self, _: Charset, _: Style) -> Option<String> {
        Some(build(self))
    }

    /// What was observed is in the report of the stored job.
    fn verdict_last(&self, _: Charset, _: Style) -> String {
        build(self)
    }
}

impl Report for RunResult {
    fn text(&self, _: Charset, style: Style) -> String {
        text(self, style)
    }

    fn summary(&self, _: Charset, style: Style) -> Option<String> {
        Some(summary(self, style))
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

    fn summary(&self, charset: Charset, _: Style) -> Option<String> {
        Some(profile_summary(self, charset))
    }

    fn markdown(&self) -> Option<String> {
        Some(profile_markdown(self))
    }
}

impl Report for CapacityResult {
    fn text(&self, charset: Charset, _: Style) -> String {
        capacity(self, charset)
    }

    fn summary(&self, charset: Charset, _: Style) -> Option<String> {
        Some(capacity_summary(self, charset))
    }

    fn markdown(&self) -> Option<String> {
        Some(capacity_markdown(self))
    }
}

impl Report for ComparisonResult {
    fn text(&self, charset: Charset, _: Style) -> String {
        comparison(self, charset)
    }

    fn summary(&self, charset: Charset, _: Style) -> Option<String> {
        Some(comparison_summary(self, charset))
    }

    fn verdict_last(&self, charset: Charset, _: Style) -> String {
        comparison_verdict_last(self, charset)
    }

    fn markdown(&self) -> Option<String> {
        Some(comparison_markdown(self))
    }
}

impl Report for MatrixResult {
    fn text(&self, charset: Charset, _: Style) -> String {
        matrix(self, charset)
    }

    fn summary(&self, charset: Charset, _: Style) -> Option<String> {
        Some(matrix_summary(self, charset))
    }

    fn markdown(&self) -> Option<String> {
        Some(matrix_markdown(self))
    }
}

impl Report for DrillResult {
    fn text(&self, charset: Charset, _: Style) -> String {
        drill(self, charset)
    }

    fn summary(&self, charset: Charset, _: Style) -> Option<String> {
        Some(drill_summary(self, charset))
    }

    fn markdown(&self) -> Option<String> {
        Some(drill_markdown(self))
    }

    fn junit(&self) -> Option<Suite> {
        Some(drill_suite(self))
    }
}

impl Report for IsolationResult {
    fn text(&self, charset: Charset, _: Style) -> String {
        isolation(self, charset)
    }

    fn summary(&self, charset: Charset, _: Style) -> Option<String> {
        Some(isolation_summary(self, charset))
    }

    fn markdown(&self) -> Option<String> {
        Some(isolation_markdown(self))
    }

    fn junit(&self) -> Option<Suite> {
        Some(isolation_suite(self))
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

/// Renders all of a stored job as text; a job without a document as a line of the job
/// list, with the reason if it has one.
///
/// # Errors
/// When the stored document cannot be read.
pub fn stored(job: &StoredJob, charset: Charset) -> Result<String, StoreError> {
    if let Some(found) = job.read_document()? {
        return Ok(found.text(charset, Style::Plain));
    }
    let row = jobs::text(std::slice::from_ref(&job.row));
    let reason = job.document.as_ref().and_then(serde_json::Value::as_str);
    Ok(reason.map_or(row.clone(), |reason| format!("{row}{reason}\n")))
}

/// The document of a stored job, or `null`.
#[must_use]
pub fn stored_json(job: &StoredJob) -> String {
    super::json::pretty(&job.document)
}

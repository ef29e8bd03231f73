//! The report of a capacity search: the findings, and the probes by rate. It fits 80 columns.

use triphammer_document::capacity::CapacityResult;
use triphammer_document::parts::Status;
use triphammer_settings::format::{counted, figure, milliseconds, percent};

use super::chart::Charset;
use super::markdown::plainly;
use super::profile::{fill, markdown_end, markdown_head};
use super::summary::{Summary, indented, nearest, resume};
use super::table::{Table, wrapped};
use super::words;
use crate::lines::{DOT, printed};

/// Renders a capacity search as text, with a final line break.
#[must_use]
pub fn capacity(result: &CapacityResult, charset: Charset) -> String {
    let mut lines = fill("", &title(result), DOT);
    if let Some(label) = &result.label {
        lines.push(format!("“{label}”"));
    }
    lines.extend(ending(result));
    lines.push(String::new());
    for finding in &result.findings {
        lines.extend(wrapped("• ", finding, super::profile::WIDTH));
    }
    lines.push(String::new());
    lines.extend(indented(&probes(result, usize::MAX)));
    lines.push(String::new());
    for (name, text) in conditions(result) {
        lines.extend(fill(&format!("{name:10}"), &text, DOT));
    }
    if let Some(job) = result.job {
        lines.push(String::new());
        lines.push(format!("Job {job}{DOT}triphammer jobs --parent {job} lists its runs"));
        lines.extend(
            resume("capacity", result.job, result.status)
                .map(|command| format!("Resume with: {command}")),
        );
    }
    printed(&lines, charset)
}

/// Renders the result of a capacity search for a screen: of the probes, the nearest to it.
#[must_use]
pub fn capacity_summary(result: &CapacityResult, charset: Charset) -> String {
    let summary = Summary {
        title: title(result),
        label: result.label.as_deref(),
        ending: ending(result),
        findings: result.findings.clone(),
        conditions: vec![("Target", result.target.to_string())],
        job: result.job,
        resume: resume("capacity", result.job, result.status),
    };
    summary.text(charset, |rows| Some(probes(result, rows)))
}

/// Renders a capacity search as GitHub-flavoured Markdown, with a final line break.
#[must_use]
pub fn capacity_markdown(result: &CapacityResult) -> String {
    let label = result.label.as_deref();
    let mut out = markdown_head(&title(result), label, ending(result), &result.findings);
    out.push_str(&format!("\n## Probes\n\n{}", probes(result, usize::MAX).markdown()));
    out.push_str(&markdown_end(&conditions(result), result.job));
    plainly(&out)
}

fn ending(result: &CapacityResult) -> Option<String> {
    let unfinished = result.status != Status::Complete;
    unfinished.then(|| format!("{}: the search has not finished", result.status.name()))
}

fn conditions(result: &CapacityResult) -> Vec<(&'static str, String)> {
    let sessions = counted(u64::from(result.spec.users), "sessions");
    vec![
        ("Target", result.target.to_string()),
        ("Server", format!("{} {}", result.server.product, result.server.version)),
        ("Load", format!("Poisson arrivals{DOT}{sessions}{DOT}{}", words::conduct(&result.spec))),
        ("Time", format!("started {}", words::moment(&result.started_at))),
        ("Host", words::host(&result.host)),
    ]
}

fn title(result: &CapacityResult) -> String {
    let of = words::subject(&result.workload, &result.server);
    let probes = counted(result.probes.len() as u64, "probes");
    format!("Capacity of {of}{DOT}{probes}{DOT}{}", result.limit)
}

/// The table of probes, the lowest rate first; at most so many, the nearest to the capacity.
fn probes(result: &CapacityResult, most: usize) -> Table {
    let percentile = format!("{} ms", result.limit.percentile.name());
    let head =
        ["rate /s", "done /s", &percentile, "missed", "failed", "job", "limit kept", "limited by"];
    let mut table = Table::new(0, &head);
    let capacity = result.range().0.unwrap_or_default();
    for probe in nearest(&result.probes, |probe| probe.rate, capacity, most) {
        table.row(vec![
            figure(probe.rate),
            figure(probe.completed),
            probe.value_us.map_or("-".to_owned(), milliseconds),
            percent(probe.missed_share),
            percent(probe.failure_share),
            probe.job.map_or("-".to_owned(), |job| job.to_string()),
            probe.reason.map_or("yes", |reason| reason.label()).to_owned(),
            probe.bottleneck.label().to_owned(),
        ]);
    }
    table
}

//! The list of jobs.

use super::format::{counted, figure};
use super::table::{Table, width};
use crate::store::JobRow;

/// Maximum width of a list of jobs.
const WIDTH: usize = 100;

/// Columns to which labels and targets are truncated, from full to least, to fit a list into
/// [`WIDTH`].
const CELL: std::ops::RangeInclusive<usize> = 10..=40;

/// Renders the jobs as a table, in the given order, with a final line break. An empty list gives
/// one line.
#[must_use]
pub fn text(jobs: &[JobRow]) -> String {
    if jobs.is_empty() {
        return "No jobs yet; start one with `triphammer run`\n".to_owned();
    }
    let fits = |lines: &Vec<String>| lines.iter().all(|line| width(line) <= WIDTH);
    let lines = CELL.rev().map(|cell| table(jobs, cell).lines(2)).find(fits);
    let lines = lines.unwrap_or_else(|| table(jobs, *CELL.start()).lines(2));
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Renders the jobs as an indented JSON array of [`JobRow`]s, without a final line break.
#[must_use]
pub fn json(jobs: &[JobRow]) -> String {
    super::json::pretty(jobs)
}

/// Renders the list with targets and labels truncated to `cell` columns.
fn table(jobs: &[JobRow], cell: usize) -> Table {
    let labels = jobs.iter().any(|job| job.label.is_some());
    let mut head = vec![
        "job",
        "started (UTC)",
        "kind",
        "status",
        "workload",
        "scale",
        "target",
        "vus",
        "result",
    ];
    if labels {
        head.push("label");
    }
    let mut table = Table::new(head.len(), &head);
    for job in jobs {
        let mut cells = vec![
            job.id.to_string(),
            minute(&job.started_at),
            job.kind.name().to_owned(),
            job.status.name().to_owned(),
            job.workload.clone(),
            job.scale.to_string(),
            cut_in_the_middle(job.target.as_str(), cell),
            job.users.map_or_else(String::new, |users| users.to_string()),
            primary_metric(job),
        ];
        if labels {
            cells.push(cut(job.label.as_deref().unwrap_or_default(), cell));
        }
        table.row(cells);
    }
    table
}

/// Formats the result: `NOPM 12,345`; for a job with several runs `NOPM 12,345 (9 runs)` of the
/// best level, or `slower: NOPM B/A 0.95 (14 runs)`.
fn primary_metric(job: &JobRow) -> String {
    let figure = match (&job.primary_metric_name, job.primary_metric_value) {
        (Some(name), Some(value)) => format!("{name} {}", figure(value)),
        _ => String::new(),
    };
    let runs = counted(u64::from(job.runs), "runs");
    match job.kind {
        kind if !kind.is_campaign() => figure,
        _ if figure.is_empty() => runs,
        _ => format!("{figure} ({runs})"),
    }
}

/// Formats `2026-05-09T07:29:52Z` as `2026-05-09 07:29`.
fn minute(rfc3339: &str) -> String {
    rfc3339.chars().take(16).collect::<String>().replacen('T', " ", 1)
}

fn cut(text: &str, cell: usize) -> String {
    if width(text) <= cell {
        return text.to_owned();
    }
    text.chars().take(cell - 1).chain(['…']).collect()
}

/// Targets differ in their ends and are recognised by their beginnings.
fn cut_in_the_middle(text: &str, cell: usize) -> String {
    let whole = width(text);
    if whole <= cell {
        return text.to_owned();
    }
    let end = (cell - 1) / 2;
    text.chars().take(cell - 1 - end).chain(['…']).chain(text.chars().skip(whole - end)).collect()
}

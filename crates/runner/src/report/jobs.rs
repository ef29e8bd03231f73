//! The list of jobs.

use super::format::{counted, figure};
use super::table::{Table, width};
use crate::store::JobRow;

/// Widest line of a list of jobs.
const WIDTH: usize = 100;

/// Columns of the longest label or target that is shown whole, and to which they are cut at most,
/// to fit a list into [`WIDTH`].
const CELL: std::ops::RangeInclusive<usize> = 10..=40;

/// The jobs as a table, in the order given, with a line break at its end. A line for an empty list.
#[must_use]
pub fn text(jobs: &[JobRow]) -> String {
    if jobs.is_empty() {
        return "No jobs yet. `triphammer run` makes one.\n".to_owned();
    }
    let fits = |lines: &Vec<String>| lines.iter().all(|line| width(line) <= WIDTH);
    let lines = CELL.rev().map(|cell| table(jobs, cell).lines(2)).find(fits);
    let lines = lines.unwrap_or_else(|| table(jobs, *CELL.start()).lines(2));
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The jobs as a JSON array of [`JobRow`]s, indented, without a line break at its end.
#[must_use]
pub fn json(jobs: &[JobRow]) -> String {
    super::json::pretty(jobs)
}

/// The list with targets and labels cut to `cell` columns.
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

/// `NOPM 12,345`; of a job that is made of runs `NOPM 12,345 (9 runs)`, that of its best level, or
/// `slower: NOPM B/A 0.95 (14 runs)`.
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

/// `2026-05-09T07:29:52Z` → `2026-05-09 07:29`.
fn minute(rfc3339: &str) -> String {
    rfc3339.chars().take(16).collect::<String>().replacen('T', " ", 1)
}

fn cut(text: &str, cell: usize) -> String {
    if width(text) <= cell {
        return text.to_owned();
    }
    text.chars().take(cell - 1).chain(['…']).collect()
}

/// Targets are distinguished by their ends, and recognised by their beginnings.
fn cut_in_the_middle(text: &str, cell: usize) -> String {
    let whole = width(text);
    if whole <= cell {
        return text.to_owned();
    }
    let end = (cell - 1) / 2;
    text.chars().take(cell - 1 - end).chain(['…']).chain(text.chars().skip(whole - end)).collect()
}

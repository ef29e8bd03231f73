//! The list of jobs.

use super::format::{counted, figure};
use super::table::{Table, WIDTH, width};
use crate::store::JobRow;

/// Columns beyond which a cell of the list is cut: labels and targets may be of any length.
const CELL_MAX: usize = 34;

/// The jobs as a table, in the order given, with a line break at its end. A line for an empty list.
#[must_use]
pub fn text(jobs: &[JobRow]) -> String {
    if jobs.is_empty() {
        return "No jobs yet. `triphammer run` makes one.\n".to_owned();
    }
    let narrow = table(jobs, false).lines(2);
    let lines = if narrow.iter().any(|line| width(line) > WIDTH) {
        table(jobs, true).lines(2)
    } else {
        narrow
    };
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The jobs as a JSON array of [`JobRow`]s, indented, without a line break at its end.
#[must_use]
pub fn json(jobs: &[JobRow]) -> String {
    serde_json::to_string_pretty(jobs).expect("a job holds nothing that JSON cannot")
}

fn table(jobs: &[JobRow], cut: bool) -> Table {
    let labels = jobs.iter().any(|job| job.label.is_some());
    let mut head =
        vec!["job", "started (UTC)", "kind", "status", "workload", "target", "vus", "result"];
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
            format!("{}, {}", job.workload, counted(u64::from(job.scale), &job.scale_unit)),
            job.target.to_string(),
            job.users.map_or_else(String::new, |users| users.to_string()),
            headline(job),
        ];
        if labels {
            cells.push(job.label.clone().unwrap_or_default());
        }
        if cut {
            cells = cells.into_iter().map(shortened).collect();
        }
        table.row(cells);
    }
    table
}

/// `NOPM 12,345`.
fn headline(job: &JobRow) -> String {
    match (&job.headline_name, job.headline_value) {
        (Some(name), Some(value)) => format!("{name} {}", figure(value)),
        _ => String::new(),
    }
}

/// `2026-05-09T07:29:52Z` → `2026-05-09 07:29`.
fn minute(rfc3339: &str) -> String {
    rfc3339.chars().take(16).collect::<String>().replacen('T', " ", 1)
}

fn shortened(cell: String) -> String {
    if width(&cell) <= CELL_MAX {
        return cell;
    }
    let kept: String = cell.chars().take(CELL_MAX - 1).collect();
    format!("{kept}…")
}

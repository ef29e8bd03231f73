//! The list of jobs.

use triphammer_core::Scale;
use triphammer_document::ending::Flaw;
use triphammer_settings::format::{self, counted, duration, figure};
use triphammer_store::JobRow;

use super::table::{Table, width};

/// Maximum width of a list of jobs.
const WIDTH: usize = 80;

/// Columns to which labels are truncated to fit a list into [`WIDTH`].
const LABEL: std::ops::RangeInclusive<usize> = 10..=40;

/// Start of a job's second line.
const INDENT: &str = "     ";

/// Renders the jobs in the given order, with a final line break: a table, and below each job its workload and
/// target. An empty list gives one line.
#[must_use]
pub fn text(jobs: &[JobRow]) -> String {
    if jobs.is_empty() {
        return "No jobs found; `triphammer run` stores one\n".to_owned();
    }
    let fits = |lines: &Vec<String>| lines.iter().all(|line| width(line) <= WIDTH);
    let lines = LABEL.rev().map(|label| table(jobs, label).lines(2)).find(fits);
    let mut lines = lines.unwrap_or_else(|| table(jobs, *LABEL.start()).lines(2)).into_iter();
    let mut text = lines.next().unwrap_or_default() + "\n";
    for (line, job) in lines.zip(jobs) {
        text.push_str(&format!("{line}\n{INDENT}{}\n", whereabouts(job)));
    }
    text
}

/// Renders the jobs as an indented JSON array of [`JobRow`]s, without a final line break.
#[must_use]
pub fn json(jobs: &[JobRow]) -> String {
    super::json::pretty(jobs)
}

/// Renders the list with labels truncated to `most` columns.
fn table(jobs: &[JobRow], most: usize) -> Table {
    let labels = jobs.iter().any(|job| job.label.is_some());
    let mut head = vec!["job", "started (UTC)", "took", "kind", "status", "result"];
    if labels {
        head.push("label");
    }
    let mut table = Table::new(head.len(), &head);
    for job in jobs {
        let mut cells = vec![
            job.id.to_string(),
            minute(&job.started_at),
            took(job),
            job.kind.name().to_owned(),
            status(job),
            primary_metric(job),
        ];
        if labels {
            cells.push(cut(job.label.as_deref().unwrap_or_default(), most));
        }
        table.row(cells);
    }
    table
}

/// The status; what is wrong with the job instead, if anything.
fn status(job: &JobRow) -> String {
    let flaw = job.ending.as_ref().and_then(|ending| ending.flaw);
    flaw.map_or(job.status.name(), Flaw::short).to_owned()
}

/// `tproc-c, 10 warehouses, 16 vus, postgres://bench@db.example.org:5432/tpcc`.
fn whereabouts(job: &JobRow) -> String {
    let mut parts = vec![job.workload.clone()];
    if job.scale > Scale::default() {
        parts.extend(format::size(job.scale, &job.scale_unit));
    }
    let users = job.users.filter(|_| job.kind.drains());
    parts.extend(users.map(|users| counted(u64::from(users), "vus")));
    let before = parts.join(", ") + ", ";
    let room = WIDTH.saturating_sub(INDENT.len() + width(&before)).max(*LABEL.start());
    before + &cut_in_the_middle(job.target.as_str(), room)
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

/// How long a job took, with what it did before and after its run; empty while it runs, and if that is unknown.
fn took(job: &JobRow) -> String {
    let at = |text: &str| text.parse::<jiff::Timestamp>().ok();
    let span = job.ended_at.as_deref().and_then(at).zip(at(&job.started_at));
    let seconds = span.map(|(ended, started)| ended.duration_since(started).as_secs_f64());
    seconds.map_or_else(String::new, duration)
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

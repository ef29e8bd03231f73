//! The report of a history: a bar per run, and the changes between them.

use triphammer_document::history::{Change, HistoryResult, HistoryRun};
use triphammer_settings::format::{self, counted, figure};

use super::chart::Charset;
use super::comparison::what_differs;
use super::profile::{WIDTH, fill};
use super::table::{Table, wrapped};
use crate::lines::{DOT, ascii};

/// Maximum number of runs shown; the newest are shown.
const SHOWN: usize = 60;
/// Columns of the longest bar.
const BAR: f64 = 24.0;

/// Renders a history as text, with a final line break.
#[must_use]
pub fn history(result: &HistoryResult, charset: Charset) -> String {
    let scale = format::scale(result.workload.scale, &result.workload.scale_unit);
    let runs = counted(result.runs.len() as u64, "runs");
    let mut title = format!("History of {}{DOT}{scale}{DOT}{runs}", result.workload.title);
    if let Some(label) = &result.label {
        title.push_str(&format!("{DOT}“{label}”"));
    }
    if let Some(control) = &result.control {
        title.push_str(&format!("{DOT}control “{control}”"));
    }
    let mut lines = fill("", &title, DOT);
    lines.push(String::new());
    lines.extend(wrapped("", &result.words, WIDTH));
    lines.push(String::new());
    lines.extend(table(result).lines(2).into_iter().map(|line| format!("  {line}")));
    let hidden = result.runs.len().saturating_sub(SHOWN);
    if hidden > 0 {
        lines
            .push(format!("  {} before these; --json prints them", counted(hidden as u64, "runs")));
    }
    for change in &result.changes {
        lines.push(String::new());
        lines.extend(lines_of(change, &result.runs));
    }
    if !result.warnings.is_empty() {
        lines.push(String::new());
    }
    for warning in &result.warnings {
        let next = warning.next.as_ref().map_or_else(String::new, |next| format!(" → {next}"));
        lines.extend(wrapped("• ", &format!("{}{next}", warning.text), WIDTH));
    }
    let text: String = lines.iter().map(|line| format!("{}\n", line.trim_end())).collect();
    match charset {
        Charset::Unicode => text,
        Charset::Ascii => ascii(&text.replace('▇', "#").replace('◀', "<")),
    }
}

fn table(result: &HistoryResult) -> Table {
    let mut head =
        vec!["job", "started (UTC)", result.primary_metric.name.as_str(), "", "", "change"];
    let has_control = result.control.is_some();
    if has_control {
        head.insert(3, "ratio");
    }
    let has_plans = result.runs.iter().any(|run| run.plans.is_some());
    if has_plans {
        head.push("plans");
    }
    let per_million = result.price.as_ref().map(|price| format!("{} per million", price.currency));
    head.extend(per_million.as_deref());
    let has_energy = result.runs.iter().any(|run| run.joules_per_transaction.is_some());
    if has_energy {
        head.push("J each");
    }
    let mut table = Table::new(head.len(), &head);
    let most = result.runs.iter().map(|run| run.value).fold(0.0, f64::max);
    let skipped = result.runs.len().saturating_sub(SHOWN);
    for (at, run) in result.runs.iter().enumerate().skip(skipped) {
        let change = result.changes.iter().find(|change| change.at == at);
        let mut row = vec![
            run.job.to_string(),
            run.started_at.chars().take(16).collect::<String>().replacen('T', " ", 1),
            figure(run.value),
            bar(run.value, most),
            if run.good { String::new() } else { "!".to_owned() },
            change.map_or_else(String::new, |change| format!("◀ {}", change.estimate())),
        ];
        if has_control {
            let ratio = run.control.map(|control| format!("{:.3}", control.ratio));
            row.insert(3, ratio.unwrap_or_default());
        }
        if has_plans {
            row.push(
                run.plans.as_ref().map_or("-".to_owned(), |all| all.chars().take(8).collect()),
            );
        }
        if per_million.is_some() {
            row.push(run.per_million.map_or("-".to_owned(), |costs| format::money(costs.value)));
        }
        if has_energy {
            row.push(run.joules_per_transaction.map_or("-".to_owned(), figure));
        }
        table.row(row);
    }
    table
}

/// Starts at 0, so that the length of a bar is proportional to its value.
fn bar(value: f64, most: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "columns: small, and a float saturates"
    )]
    let columns = if most > 0.0 { (value / most * BAR).round() as usize } else { 0 };
    "▇".repeat(columns)
}

/// Describes a change and its differences.
fn lines_of(change: &Change, runs: &[HistoryRun]) -> Vec<String> {
    let before = runs[change.at - 1].job;
    let way = if change.slower { "Slower" } else { "Faster" };
    let head = format!("{way} from job {} on: {}", change.job, change.size());
    let mut lines = wrapped("", &head, WIDTH);
    if change.differences.is_empty() {
        let text =
            format!("no stored condition differs between job {before} and job {}", change.job);
        lines.extend(wrapped("  ", &text, WIDTH));
        return lines;
    }
    lines.push(format!("  What differs: A is job {before}, B job {}", change.job));
    lines.extend(what_differs(&change.differences));
    lines
}

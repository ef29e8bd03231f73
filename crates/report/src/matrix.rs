//! The report of a matrix: a heat map with figures and intervals, all combinations, and findings. It fits 80 columns; a
//! heat map that does not is left out, and the list of combinations has its figures.

use triphammer_document::matrix::{Cell, MatrixResult, half_width};
use triphammer_document::parts::Status;
use triphammer_settings::format::{counted, figure, milliseconds, percent};

use super::chart::Charset;
use super::markdown::plainly;
use super::profile::{WIDTH, fill, markdown_end, markdown_head};
use super::summary::{Summary, indented, resume};
use super::table::{Table, wrapped};
use super::words;
use crate::lines::{DOT, ascii};

/// Shades from the worst to the best value.
const SHADES: [&str; 4] = ["░░", "▒▒", "▓▓", "██"];
/// The same in ASCII.
const ASCII_SHADES: [&str; 4] = ["..", "::", "++", "##"];
/// Columns between two of the heat map.
const GAP: usize = 2;

/// Renders a matrix as text, with a final line break.
#[must_use]
pub fn matrix(result: &MatrixResult, charset: Charset) -> String {
    let mut lines = fill("", &title(result), DOT);
    lines.extend(result.label.as_ref().map(|label| format!("“{label}”")));
    lines.extend(ending(result).iter().flat_map(|text| wrapped("", text, WIDTH)));
    lines.push(String::new());
    if let Some(map) = heat_map(result, charset) {
        lines.extend(map);
        lines.push(String::new());
    }
    lines.extend(indented(&list(result, usize::MAX)));
    lines.push(String::new());
    lines.extend(result.findings.iter().flat_map(|finding| wrapped("• ", finding, WIDTH)));
    lines.push(String::new());
    for (name, text) in conditions(result) {
        lines.extend(fill(&format!("{name:10}"), &text, DOT));
    }
    if let Some(job) = result.job {
        lines.push(String::new());
        lines.push(format!("Job {job}{DOT}triphammer jobs --parent {job} lists its runs"));
        let resume = resume("matrix", result.job, result.status);
        lines.extend(resume.map(|command| format!("Resume with: {command}")));
    }
    let text: String = lines.iter().map(|line| format!("{}\n", line.trim_end())).collect();
    match charset {
        Charset::Unicode => text,
        Charset::Ascii => ascii(&text),
    }
}

/// Renders the findings of a matrix for a screen, with as many combinations as it has room for.
#[must_use]
pub fn matrix_summary(result: &MatrixResult, charset: Charset) -> String {
    let summary = Summary {
        title: title(result),
        label: result.label.as_deref(),
        ending: ending(result),
        findings: result.findings.clone(),
        conditions: vec![("Target", targets(result))],
        job: result.job,
        resume: resume("matrix", result.job, result.status),
    };
    summary.text(charset, |rows| {
        let grid = grid(result).filter(|grid| grid.rows.len() <= rows + 1);
        Some(grid.unwrap_or_else(|| list(result, rows)))
    })
}

/// Renders a matrix as GitHub-flavoured Markdown, with a final line break.
#[must_use]
pub fn matrix_markdown(result: &MatrixResult) -> String {
    let label = result.label.as_deref();
    let mut out = markdown_head(&title(result), label, ending(result), &result.findings);
    let name = &result.primary_metric.name;
    if let Some(grid) = grid(result) {
        out.push_str(&format!("\n## {name}\n\n{}", grid.markdown()));
    }
    if let Some(map) = heat_map(result, Charset::Unicode) {
        out.push_str(&format!("\n```\n{}\n```\n", map.join("\n")));
    }
    out.push_str(&format!("\n## Combinations\n\n{}", list(result, usize::MAX).markdown()));
    out.push_str(&markdown_end(&conditions(result), result.job));
    plainly(&out)
}

fn title(result: &MatrixResult) -> String {
    let varies = |name: &str| result.axes.iter().any(|axis| axis.name == name);
    let of = match varies("scale") || varies("target") {
        // The size and the server are those of the first run only.
        true => result.workload.title.clone(),
        false => words::subject(&result.workload, &result.server),
    };
    let axes: Vec<String> = result.axes.iter().map(|axis| axis.values.len().to_string()).collect();
    let runs = counted(result.runs() as u64, "runs");
    let cells = match axes.len() {
        1 => counted(result.axes[0].values.len() as u64, "combinations"),
        _ => format!("{} combinations", axes.join(" × ")),
    };
    format!("Matrix of {of}{DOT}{cells}, {runs}")
}

fn ending(result: &MatrixResult) -> Option<String> {
    let missing = result.order.steps.len().saturating_sub(result.runs());
    match result.status {
        Status::Complete => None,
        Status::Interrupted | Status::Aborted => Some(format!(
            "interrupted before the last {}: these results cover the completed runs only",
            counted(missing as u64, "runs")
        )),
        Status::Failed => Some("failed: some runs could not be made, see below".to_owned()),
    }
}

/// A cell of a table: value and half of its interval.
fn shown(cell: &Cell) -> String {
    match half_width(cell) {
        Some(half) => format!("{} ±{half}", figure(cell.mean)),
        None => figure(cell.mean),
    }
}

/// The table whose columns are the values of the last axis; `None` if there is only one axis.
fn grid(result: &MatrixResult) -> Option<Table> {
    let (last, others) = result.axes.split_last()?;
    if others.is_empty() {
        return None;
    }
    let columns = last.values.iter().map(|value| format!("{} {value}", last.name));
    let head: Vec<String> = others.iter().map(|axis| axis.name.clone()).chain(columns).collect();
    let mut table = Table::new(others.len(), &head.iter().map(String::as_str).collect::<Vec<_>>());
    for row in result.table_rows() {
        let cell = |value: &String| {
            let values: Vec<String> = row.iter().cloned().chain([value.clone()]).collect();
            result.cell(&values).map_or("-".to_owned(), shown)
        };
        table.row(row.iter().cloned().chain(last.values.iter().map(cell)).collect());
    }
    Some(table)
}

/// The heat map: values with a shade; `None` if it is wider than a report.
fn heat_map(result: &MatrixResult, charset: Charset) -> Option<Vec<String>> {
    let (last, others) = result.axes.split_last()?;
    let shades = if charset == Charset::Ascii { ASCII_SHADES } else { SHADES };
    let columns = last.values.iter().map(|value| format!("{} {value}", last.name));
    let head: Vec<String> = others.iter().map(|axis| axis.name.clone()).chain(columns).collect();
    let mut table = Table::new(others.len(), &head.iter().map(String::as_str).collect::<Vec<_>>());
    for row in result.table_rows() {
        let cell = |value: &String| {
            let values: Vec<String> = row.iter().cloned().chain([value.clone()]).collect();
            let Some(cell) = result.cell(&values) else { return "-".to_owned() };
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 0 to 3"
            )]
            let shade = (result.warmth(cell.mean) * 3.0).round() as usize;
            format!("{} {}", shown(cell), shades[shade.min(3)])
        };
        table.row(row.iter().cloned().chain(last.values.iter().map(cell)).collect());
    }
    let name = &result.primary_metric.name;
    let key =
        format!("  {name}, ± half of the 95 % interval; {} worst to {} best", shades[0], shades[3]);
    let lines = std::iter::once(key).chain(indented(&table));
    (table.width(GAP) + 2 <= WIDTH).then(|| lines.collect())
}

/// All combinations, one per line; at most so many.
fn list(result: &MatrixResult, most: usize) -> Table {
    let mut head: Vec<&str> = result.axes.iter().map(|axis| axis.name.as_str()).collect();
    let has_round_trips = result.cells.iter().any(|cell| cell.round_trip_us.is_some());
    head.extend(has_round_trips.then_some("trip ms"));
    head.extend([
        result.primary_metric.name.as_str(),
        "±",
        "p95 ms",
        "failed",
        "runs",
        "limited by",
    ]);
    let mut table = Table::new(result.axes.len(), &head);
    for cell in result.cells.iter().take(most) {
        #[expect(clippy::cast_precision_loss, reason = "microseconds")]
        let p95_us = cell.p95_us as f64;
        let mut row = cell.values.clone();
        #[expect(clippy::cast_precision_loss, reason = "microseconds")]
        let trip = cell.round_trip_us.map(|us| milliseconds(us as f64));
        row.extend(has_round_trips.then(|| trip.unwrap_or_else(|| "-".to_owned())));
        row.extend([
            figure(cell.mean),
            half_width(cell).unwrap_or_else(|| "-".to_owned()),
            if cell.p95_us == 0 { "-".to_owned() } else { milliseconds(p95_us) },
            percent(cell.failure_share),
            cell.runs.len().to_string(),
            cell.bottleneck.label().to_owned(),
        ]);
        table.row(row);
    }
    table
}

fn targets(result: &MatrixResult) -> String {
    match result.axes.iter().find(|axis| axis.name == "target") {
        Some(axis) => format!("{} and {} more", result.target, axis.values.len() - 1),
        None => result.target.to_string(),
    }
}

fn conditions(result: &MatrixResult) -> Vec<(&'static str, String)> {
    let order = &result.order;
    let order_text = format!(
        "combinations in random order in each repeat{DOT}{}{DOT}seed {}",
        counted(order.repeats.into(), "repeats"),
        order.seed
    );
    let mut conditions = vec![("Order", order_text)];
    conditions.extend(
        order.restore.as_ref().map(|command| ("Restore", format!("before each run: {command}"))),
    );
    conditions.extend([
        ("Target", targets(result)),
        ("Server", format!("{} {}", result.server.product, result.server.version)),
        ("Load", format!("{}{DOT}{}", result.spec.load, words::conduct(&result.spec))),
        ("Time", format!("started {}", words::moment(&result.started_at))),
        ("Host", words::host(&result.host)),
    ]);
    conditions
}

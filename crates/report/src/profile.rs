//! The report of a profile: the curve, the levels, the law and the findings. It fits 80 columns.

use triphammer_document::parts::Status;
use triphammer_document::profile::{Curve, Level, ProfileResult, parameter};
use triphammer_settings::format::{counted, figure, milliseconds, percent, precise};
use triphammer_statistics::Estimate;

use super::chart::{self, Charset, Chart, ChartPoint};
use super::costs;
use super::markdown::plainly;
use super::summary::{Summary, indented, nearest, resume};
use super::table::{Table, width, wrapped};
use super::words;
use crate::lines::{DOT, ascii};

/// Maximum width of a line, in columns.
pub(super) const WIDTH: usize = 80;

/// Renders a profile as text, with a final line break.
#[must_use]
pub fn profile(result: &ProfileResult, charset: Charset) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    for text in fill("", &title(result), DOT) {
        line(&text);
    }
    if let Some(label) = &result.label {
        line(&format!("“{label}”"));
    }
    for text in ending(result).iter().flat_map(|text| wrapped("", text, WIDTH)) {
        line(&text);
    }
    line("");
    curve(result, charset).iter().for_each(|text| line(text));
    line("");
    indented(&levels(result, usize::MAX)).iter().for_each(|text| line(text));
    if let Some(costs) = costs::levels(result) {
        line("");
        indented(&costs).iter().for_each(|text| line(text));
    }
    if let Some(law) = law(result) {
        line("");
        indented(&law).iter().for_each(|text| line(text));
    }
    line("");
    for finding in &result.findings {
        wrapped("• ", finding, WIDTH).iter().for_each(|text| line(text));
    }
    line("");
    for (name, text) in conditions(result) {
        fill(&format!("{name:10}"), &text, DOT).iter().for_each(|text| line(text));
    }
    if let Some(job) = result.job {
        line("");
        line(&format!("Job {job}{DOT}triphammer jobs --parent {job} lists its runs"));
        resume("profile", result.job, result.status)
            .iter()
            .for_each(|command| line(&format!("Resume with: {command}")));
    }
    let text = out;
    match charset {
        Charset::Unicode => text,
        Charset::Ascii => ascii(&text),
    }
}

/// Renders the findings of a profile for a screen: of the levels, the nearest to the highest throughput.
#[must_use]
pub fn profile_summary(result: &ProfileResult, charset: Charset) -> String {
    let summary = Summary {
        title: title(result),
        label: result.label.as_deref(),
        ending: ending(result),
        findings: result.findings.clone(),
        conditions: vec![("Target", result.target.to_string())],
        job: result.job,
        resume: resume("profile", result.job, result.status),
    };
    summary.text(charset, |rows| Some(levels(result, rows)))
}

/// The levels in ascending order; at most so many, the nearest to the one with the best mean.
fn nearest_levels(result: &ProfileResult, most: usize) -> Vec<&Level> {
    let best = result.levels.iter().max_by(|a, b| a.mean.total_cmp(&b.mean));
    let best = best.map_or(1.0, |level| f64::from(level.users));
    nearest(&result.levels, |level| f64::from(level.users), best, most)
}

/// Renders a profile as GitHub-flavoured Markdown, with a final line break.
#[must_use]
pub fn profile_markdown(result: &ProfileResult) -> String {
    let label = result.label.as_deref();
    let mut out = markdown_head(&title(result), label, ending(result), &result.findings);
    out.push_str(&format!("\n## Levels\n\n{}", levels(result, usize::MAX).markdown()));
    if let Some(costs) = costs::levels(result) {
        out.push_str(&format!("\n## Costs\n\n{}", costs.markdown()));
    }
    let chart = curve(result, Charset::Unicode).join("\n");
    out.push_str(&format!("\n```\n{chart}\n```\n"));
    if let Some(law) = law(result) {
        out.push_str(&format!("\n## Curves\n\n{}", law.markdown()));
    }
    out.push_str(&markdown_end(&conditions(result), result.job));
    plainly(&out)
}

/// The begin of a campaign's Markdown report: title, label, how it ended if it is not complete, findings.
pub(super) fn markdown_head(
    title: &str,
    label: Option<&str>,
    ending: Option<String>,
    findings: &[String],
) -> String {
    let mut out = format!("# {title}\n");
    for text in label.map(|label| format!("“{label}”")).into_iter().chain(ending) {
        out.push_str(&format!("\n{text}\n"));
    }
    out.push('\n');
    for finding in findings {
        out.push_str(&format!("- {finding}\n"));
    }
    out
}

/// The end of a campaign's Markdown report: conditions, and the job.
pub(super) fn markdown_end(conditions: &[(&'static str, String)], job: Option<i64>) -> String {
    let mut table = Table::new(2, &["", ""]);
    for (name, text) in conditions {
        table.row(vec![(*name).to_owned(), text.clone()]);
    }
    let mut out = format!("\n## Conditions\n\n{}", table.markdown());
    if let Some(job) = job {
        out.push_str(&format!("\nJob {job}; `triphammer jobs --parent {job}` lists its runs.\n"));
    }
    out
}

/// Wraps `text` after `lead` at `separator`, to fit [`WIDTH`].
pub(super) fn fill(lead: &str, text: &str, separator: &str) -> Vec<String> {
    let indent = " ".repeat(width(lead));
    let mut lines = vec![lead.to_owned()];
    let mut empty = true;
    for part in text.split(separator) {
        let line = lines.last_mut().expect("there is always a line");
        if !empty && width(line) + width(separator) + width(part) > WIDTH {
            lines.push(format!("{indent}{part}"));
            continue;
        }
        if !empty {
            line.push_str(separator);
        }
        line.push_str(part);
        empty = false;
    }
    lines
}

fn title(result: &ProfileResult) -> String {
    let of = words::subject(&result.workload, &result.server);
    let runs = result.runs();
    let levels = counted(result.levels.len() as u64, "levels");
    format!("Profile of {of}{DOT}{levels}, {}", counted(runs as u64, "runs"))
}

fn ending(result: &ProfileResult) -> Option<String> {
    let missing = result.order.steps.len().saturating_sub(result.runs());
    match result.status {
        Status::Complete => None,
        Status::Interrupted | Status::Aborted if missing == 0 => {
            Some("interrupted: these results cover the completed runs only".to_owned())
        }
        Status::Interrupted | Status::Aborted => Some(format!(
            "interrupted before the last {}: these results cover the completed runs only",
            counted(missing as u64, "runs")
        )),
        Status::Failed => Some("failed: some runs could not be made, see below".to_owned()),
    }
}

fn curve(result: &ProfileResult, charset: Charset) -> Vec<String> {
    let point = |level: &Level| ChartPoint {
        users: level.users,
        value: level.mean,
        range: level.interval.map(|interval| (interval.low, interval.high)),
    };
    let points: Vec<ChartPoint> = result.levels.iter().map(point).collect();
    let law = result.usl.as_ref().map(|usl| usl.curve);
    let at = law.map(|law| move |users: f64| law.at(users));
    let peak = result.usl.as_ref().and_then(|usl| match &usl.peak {
        triphammer_statistics::usl::Peak::Reached { users, throughput } => {
            Some((users.value, throughput.value))
        }
        triphammer_statistics::usl::Peak::BestLevels { best, throughput, .. } => {
            Some((f64::from(*best), *throughput))
        }
        triphammer_statistics::usl::Peak::Saturated { .. }
        | triphammer_statistics::usl::Peak::NotReached { .. } => None,
    });
    let chart = Chart {
        points: &points,
        curve: at.as_ref().map(|at| at as &dyn Fn(f64) -> f64),
        peak,
        title: &result.primary_metric.name,
        unit: &result.level_unit,
    };
    chart::lines(&chart, charset)
}

/// The table of levels: value, interval, response time, failures, bottleneck, and deviation from
/// the curve.
fn levels(result: &ProfileResult, most: usize) -> Table {
    if result.is_of_streams() {
        return levels_of_streams(result, most);
    }
    let p95 = match result.times_of.as_str() {
        "all" => "p95 ms".to_owned(),
        name => format!("p95 {name} ms"),
    };
    let head = [
        "vus",
        &result.primary_metric.name,
        "±",
        "curve",
        p95.as_str(),
        "failed",
        "runs",
        "limited by",
    ];
    let mut table = Table::new(0, &head);
    for level in nearest_levels(result, most) {
        #[expect(clippy::cast_precision_loss, reason = "microseconds")]
        let p95_us = level.p95_us as f64;
        let mut row = throughput(level).to_vec();
        row.extend([
            if level.p95_us == 0 { "-".to_owned() } else { milliseconds(p95_us) },
            percent(level.failure_share),
            level.runs.len().to_string(),
            level.bottleneck.label().to_owned(),
        ]);
        table.row(row);
    }
    table
}

/// The same of streams, which have no response times, failures or bottleneck.
fn levels_of_streams(result: &ProfileResult, most: usize) -> Table {
    let mut table = Table::new(0, &["streams", &result.primary_metric.name, "±", "curve", "runs"]);
    for level in nearest_levels(result, most) {
        let mut row = throughput(level).to_vec();
        row.push(level.runs.len().to_string());
        table.row(row);
    }
    table
}

/// Cells of a level that every profile has: the level, its throughput, half of its interval, and its
/// deviation from the curve.
fn throughput(level: &Level) -> [String; 4] {
    let half = level.interval.filter(|_| level.mean > 0.0);
    [
        level.users.to_string(),
        figure(level.mean),
        half.map_or("-".to_owned(), |i| precise(i.half_width() / level.mean)),
        level.residual.map_or("-".to_owned(), residual),
    ]
}

/// Formats the deviation of a level from the curve: `+3.1 %`.
fn residual(share: f64) -> String {
    match share * 100.0 {
        percent if percent.abs() < 0.05 => "0.0 %".to_owned(),
        percent => format!("{percent:+.1} %"),
    }
}

/// The table of both laws' parameters, with their intervals.
fn law(result: &ProfileResult) -> Option<Table> {
    let usl = result.usl.as_ref()?;
    let mut table = Table::new(1, &["law", "λ", "σ", "κ", "R²"]);
    for (name, curve) in [("USL", &usl.curve), ("Amdahl", &usl.amdahl)] {
        table.row(parameters(name, curve, name == "USL"));
        if [&curve.lambda, &curve.sigma].iter().any(|estimate| estimate.interval.is_some()) {
            table.row(bounds(curve, name == "USL"));
        }
    }
    Some(table)
}

fn parameters(name: &str, curve: &Curve, with_kappa: bool) -> Vec<String> {
    vec![
        name.to_owned(),
        figure(curve.lambda.value),
        parameter(curve.sigma.value),
        if with_kappa { parameter(curve.kappa.value) } else { "-".to_owned() },
        curve.r_squared.map_or("-".to_owned(), |r| format!("{r:.4}")),
    ]
}

/// Intervals are below the values.
fn bounds(curve: &Curve, with_kappa: bool) -> Vec<String> {
    let of = |estimate: &Estimate, show: fn(f64) -> String| {
        estimate.interval.map_or("-".to_owned(), |i| format!("{} to {}", show(i.low), show(i.high)))
    };
    vec![
        "  95 %".to_owned(),
        of(&curve.lambda, figure),
        of(&curve.sigma, parameter),
        if with_kappa { of(&curve.kappa, parameter) } else { "-".to_owned() },
        String::new(),
    ]
}

fn conditions(result: &ProfileResult) -> Vec<(&'static str, String)> {
    let order = &result.order;
    let how = match order.asked.as_str() {
        "auto" => "levels found by search, then repeats in random order",
        _ => "levels in random order in each repeat",
    };
    let load = match result.is_of_streams() {
        true => "throughput test: streams in parallel with refresh functions".to_owned(),
        false => format!("{}{DOT}{}", result.spec.load, words::conduct(&result.spec)),
    };
    vec![
        (
            "Order",
            format!(
                "{how}{DOT}{}{DOT}seed {}",
                counted(order.repeats.into(), "repeats"),
                order.seed
            ),
        ),
        ("Target", result.target.to_string()),
        ("Server", format!("{} {}", result.server.product, result.server.version)),
        ("Load", load),
        ("Time", format!("started {}", words::moment(&result.started_at))),
        ("Host", words::host(&result.host)),
    ]
}

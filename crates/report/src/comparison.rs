//! The report of a comparison: the verdict, the figures, the differences and the warnings. The text
//! fits 80 columns unless names are longer.

use triphammer_document::compare::{
    AtOnce, ComparisonResult, Difference, Figure, Profiles, QUERY_TIME, Side, ratio, word,
};
use triphammer_document::parts::Status;
use triphammer_document::profile::parameter;
use triphammer_document::result::Warning;
use triphammer_document::unit::FigureUnit;
use triphammer_settings::format::{counted, figure, milliseconds, precise};
use triphammer_statistics::{Estimate, Interval};

use super::chart::Charset;
use super::markdown::plainly;
use super::plans;
use super::profile::{WIDTH, fill};
use super::replays;
use super::summary::{self, Summary, indented};
use super::table::{Table, width, wrapped};
use super::transaction_time;
use super::why::{Sides, tables, waits};
use super::words;
use crate::lines::{DOT, printed};

/// Maximum columns of a value in the text's table of differences.
const VALUE: usize = 24;

/// Heading of what the sessions waited for.
const WAITS: &str = "What sessions did or waited for more or less in B than in A";

/// Renders a comparison as text, with a final line break.
#[must_use]
pub fn comparison(result: &ComparisonResult, charset: Charset) -> String {
    let parts = [
        vec![head(result), verdict(result), indented(&figures(&result.figures))],
        details(result),
        vec![warnings(result), sides(result), runs_of(result)],
        plan_changes(result),
    ];
    joined(parts.concat(), charset)
}

/// Like [`comparison`], but the figures, the verdict and what A and B are come last: for a screen
/// that scrolls, where no stored job has the rest.
#[must_use]
pub fn comparison_verdict_last(result: &ComparisonResult, charset: Charset) -> String {
    let parts = [
        vec![head(result)],
        plan_changes(result),
        details(result),
        vec![indented(&figures(&result.figures)), warnings(result), verdict(result), sides(result)],
    ];
    joined(parts.concat(), charset)
}

/// Joins the parts of a text with empty lines.
fn joined(mut parts: Vec<Vec<String>>, charset: Charset) -> String {
    parts.retain(|part| !part.is_empty());
    printed(&parts.join(&String::new()), charset)
}

fn head(result: &ComparisonResult) -> Vec<String> {
    let mut lines = fill("", &title(result), DOT);
    lines.extend(result.label.iter().map(|label| format!("“{label}”")));
    lines.extend(ending(result));
    lines
}

fn verdict(result: &ComparisonResult) -> Vec<String> {
    wrapped("", &capital(&result.words), WIDTH)
}

/// What explains the figures: levels and curves of profiles, differences, and waits.
fn details(result: &ComparisonResult) -> Vec<Vec<String>> {
    let mut parts = Vec::new();
    if let Some(profiles) = &result.profiles {
        parts.push(indented(&levels(profiles, &result.primary_metric.name)));
        if !profiles.curves.is_empty() {
            parts.push(indented(&curves(profiles)));
        }
    }
    let at_once = at_once(result).flat_map(|text| wrapped("• ", text, WIDTH)).collect::<Vec<_>>();
    parts.push(at_once);
    let proof = host_setting(result).flat_map(|text| wrapped("• ", text, WIDTH));
    parts.push(proof.collect());
    parts.push(another(result).iter().flat_map(|text| wrapped("• ", text, WIDTH)).collect());
    let costs = costs(result).flat_map(|text| wrapped("• ", text, WIDTH)).collect::<Vec<_>>();
    parts.push(costs);
    let titled = |title: &str, lines: Vec<String>| [vec![title.to_owned()], lines].concat();
    if let Some(answers) = &result.answers {
        let lines =
            replays::answers(answers).iter().flat_map(|line| wrapped("  ", line, WIDTH)).collect();
        parts.push(titled(replays::ANSWERS, lines));
        parts.extend(replays::differing(answers).map(|table| indented(&table)));
        let examples = replays::examples(answers);
        parts.push(examples.iter().flat_map(|line| wrapped("  • ", line, WIDTH)).collect());
    }
    if let Some(speeds) = replays::speeds(result) {
        parts.push(titled(replays::SPEEDS, indented(&speeds)));
    }
    if let Some(time) = &result.transaction_time {
        let table = indented(&transaction_time::compared(time));
        parts.push(titled(transaction_time::COMPARED, table));
    }
    if !result.differences.is_empty() {
        parts.push(titled("What differs", what_differs(&result.differences)));
    }
    if let Some(of) = result.waits.as_ref().filter(|of| !of.causes.is_empty()) {
        parts.push(titled(WAITS, waits(of, Sides::Comparison)));
    }
    parts
}

/// How much another comparison would differ, of pairs.
fn another(result: &ComparisonResult) -> Option<String> {
    if result.profiles.is_some() {
        return None;
    }
    match (result.another, &result.pairs) {
        (Some(Interval { low, high }), _) => Some(format!(
            "another comparison like this one would find {low:.3} to {high:.3} (95 %)"
        )),
        (None, Some(_)) => Some(
            "how much another comparison would differ is unknown: it takes two pairs or more"
                .to_owned(),
        ),
        (None, None) => None,
    }
}

/// How pairs whose runs took place at once were made, in words.
fn at_once(result: &ComparisonResult) -> impl Iterator<Item = &String> {
    let at_once = result.pairs.as_ref().and_then(|pairs| pairs.at_once.as_ref());
    at_once.into_iter().flat_map(|at_once| &at_once.words)
}

/// What a setting of the host is worth, in words.
fn host_setting(result: &ComparisonResult) -> impl Iterator<Item = &str> {
    result.host_setting.iter().map(|setting| setting.words.as_str())
}

/// What both sides cost, and their energy, in words.
fn costs(result: &ComparisonResult) -> impl Iterator<Item = &str> {
    let price = result.price.as_ref().map(|price| price.words.as_str());
    price.into_iter().chain(result.energy.as_ref().map(|energy| energy.words.as_str()))
}

fn warnings(result: &ComparisonResult) -> Vec<String> {
    result.warnings.iter().flat_map(|warning| wrapped("• ", &remark(warning), WIDTH)).collect()
}

/// What A and B are.
fn sides(result: &ComparisonResult) -> Vec<String> {
    let sides = [("A", &result.a), ("B", &result.b)].into_iter();
    sides.flat_map(|(name, side)| fill(&format!("{name}  "), &conditions(side), DOT)).collect()
}

fn plan_changes(result: &ComparisonResult) -> Vec<Vec<String>> {
    let part = |change| [vec![plans::heading(change)], plans::change(change)].concat();
    result.plans.iter().map(part).collect()
}

/// Renders the verdict of a comparison for a screen: of the figures, the first.
#[must_use]
pub fn comparison_summary(result: &ComparisonResult, charset: Charset) -> String {
    let warnings = result.warnings.iter().map(remark);
    let summary = Summary {
        title: title(result),
        label: result.label.as_deref(),
        ending: ending(result),
        findings: result
            .answers
            .iter()
            .flat_map(replays::in_short)
            .chain([result.words.clone()])
            .chain(host_setting(result).map(str::to_owned))
            .chain(plans::in_short(&result.plans))
            .chain(costs(result).map(str::to_owned))
            .chain(warnings)
            .collect(),
        conditions: vec![("A", conditions(&result.a)), ("B", conditions(&result.b))],
        job: result.job,
        resume: resume(result),
    };
    summary.text(charset, |rows| Some(figures(result.figures.iter().take(rows))))
}

/// Renders a comparison as GitHub-flavoured Markdown, with a final line break.
#[must_use]
pub fn comparison_markdown(result: &ComparisonResult) -> String {
    let mut out = format!("# {}\n", title(result));
    for text in result.label.iter().map(|label| format!("“{label}”")).chain(ending(result)) {
        out.push_str(&format!("\n{text}\n"));
    }
    out.push_str(&format!("\n**{}**\n", capital(&result.words)));
    out.push_str(&format!("\n{}", figures(&result.figures).markdown()));
    for text in at_once(result) {
        out.push_str(&format!("\n- {text}"));
    }
    if at_once(result).next().is_some() {
        out.push('\n');
    }
    let another = another(result);
    let texts = host_setting(result).chain(another.as_deref()).chain(costs(result));
    for text in texts {
        out.push_str(&format!("\n{text}\n"));
    }
    if let Some(profiles) = &result.profiles {
        let levels = levels(profiles, &result.primary_metric.name);
        out.push_str(&format!("\n## Levels\n\n{}", levels.markdown()));
        if !profiles.curves.is_empty() {
            out.push_str(&format!("\n## Curves\n\n{}", curves(profiles).markdown()));
        }
    }
    if let Some(answers) = &result.answers {
        out.push_str(&format!("\n## {}\n\n", replays::ANSWERS));
        replays::answers(answers).iter().for_each(|line| out.push_str(&format!("- {line}\n")));
        if let Some(table) = replays::differing(answers) {
            out.push_str(&format!("\n{}", table.markdown()));
        }
        let examples = replays::examples(answers);
        let lines = examples.iter().map(|line| format!("- {}\n", plainly(line)));
        out.extend(std::iter::once("\n".to_owned()).filter(|_| !examples.is_empty()).chain(lines));
    }
    if let Some(speeds) = replays::speeds(result) {
        out.push_str(&format!("\n## {}\n\n{}", replays::SPEEDS, speeds.markdown()));
    }
    if let Some(time) = &result.transaction_time {
        let table = transaction_time::compared(time).markdown();
        out.push_str(&format!("\n## {}\n\n{table}", transaction_time::COMPARED));
    }
    if !result.differences.is_empty() {
        let table = differences(&result.differences).markdown();
        out.push_str(&format!("\n## What differs\n\n{table}"));
    }
    if let Some(of) = result.waits.as_ref().filter(|of| !of.causes.is_empty()) {
        out.push_str(&format!("\n## {WAITS}\n"));
        for table in tables(of, Sides::Comparison) {
            out.push_str(&format!("\n{}", table.markdown()));
        }
    }
    if !result.warnings.is_empty() {
        out.push_str("\n## Warnings\n\n");
    }
    for warning in &result.warnings {
        out.push_str(&format!("- {}\n", remark(warning)));
    }
    out.push('\n');
    for (name, side) in [("A", &result.a), ("B", &result.b)] {
        out.push_str(&format!("- **{name}** {}\n", conditions(side)));
    }
    for change in &result.plans {
        let (heading, lines) = (plans::heading(change), plans::change(change).join("\n"));
        out.push_str(&format!("\n## {heading}\n\n```\n{lines}\n```\n"));
    }
    plainly(&out)
}

fn title(result: &ComparisonResult) -> String {
    let of = words::subject_of_two(&result.a.workload, [&result.a.server, &result.b.server]);
    let at_once = result.pairs.as_ref().and_then(|pairs| pairs.at_once.as_ref());
    let how = match (&result.pairs, &result.profiles) {
        _ if at_once.is_some() => at_once.map(AtOnce::title).unwrap_or_default(),
        (Some(pairs), None) => counted(u64::from(pairs.made), "pairs"),
        (Some(pairs), Some(profiles)) => {
            let levels = counted(profiles.levels.len() as u64, "levels");
            format!("{} at {levels}", counted(u64::from(pairs.made), "pairs"))
        }
        (None, Some(_)) => "two profiles".to_owned(),
        (None, None) => match (result.a.runs.len(), result.b.runs.len()) {
            (1, 1) => "one run each".to_owned(),
            (a, b) => format!("{a} and {b} runs"),
        },
    };
    format!("Comparison of {of}{DOT}{how}")
}

fn ending(result: &ComparisonResult) -> Option<String> {
    match result.status {
        Status::Complete => None,
        Status::Interrupted | Status::Aborted => {
            Some("interrupted: these results cover the completed pairs only".to_owned())
        }
        Status::Failed => Some("failed: some runs could not be made, see below".to_owned()),
    }
}

/// Capitalizes the verdict for the start of a sentence.
fn capital(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}

fn figures<'a>(figures: impl IntoIterator<Item = &'a Figure>) -> Table {
    let mut table = Table::new(1, &["", "A", "B", "B/A (95 %)"]);
    for one in figures {
        let mut row = vec![name_of(one)];
        row.extend(cells(one));
        table.row(row);
    }
    table
}

fn name_of(one: &Figure) -> String {
    match one.unit {
        FigureUnit::Us => format!("{} ms", one.title),
        FigureUnit::Number | FigureUnit::Share => one.title.clone(),
    }
}

/// The table of figures: A, B, and the ratio with its interval.
fn cells(one: &Figure) -> [String; 3] {
    let show = |value: f64| match one.unit {
        FigureUnit::Us => milliseconds(value),
        FigureUnit::Number | FigureUnit::Share => figure(value),
    };
    let ratio = match one.comparison {
        Some(found) => ratio(found.ratio, found.interval),
        // The time of a query has no interval where it was measured once.
        None if one.name.ends_with(QUERY_TIME) && one.a > 0.0 => format!("{:.3}", one.b / one.a),
        None => "-".to_owned(),
    };
    [show(one.a), show(one.b), ratio]
}

fn levels(profiles: &Profiles, primary_metric: &str) -> Table {
    let unit = if profiles.level_unit == "streams" { "streams" } else { "vus" };
    let head =
        [unit, &format!("{primary_metric} A"), &format!("{primary_metric} B"), "B/A (95 %)", ""];
    let mut table = Table::new(0, &head);
    for level in &profiles.levels {
        let mut row = vec![level.users.to_string()];
        let [a, b, ratio] = cells(&level.figure);
        let ratio = match level.figure.comparison {
            None if level.figure.a > 0.0 => format!("{:.3}", level.figure.b / level.figure.a),
            _ => ratio,
        };
        row.extend([a, b, ratio]);
        row.push(level.figure.comparison.map_or("", |found| word(found.verdict)).to_owned());
        table.row(row);
    }
    table
}

fn curves(profiles: &Profiles) -> Table {
    let mut table = Table::new(1, &["curve", "A", "B"]);
    for curve in &profiles.curves {
        let (title, show): (&str, fn(f64) -> String) = match curve.name.as_str() {
            "lambda" => ("λ", figure),
            "sigma" => ("σ", parameter),
            "kappa" => ("κ", parameter),
            "peak_users" if profiles.level_unit == "streams" => ("peak at, streams", figure),
            "peak_users" => ("peak at, vus", figure),
            _ => ("peak", figure),
        };
        let cell = |estimate: &Option<Estimate>| match estimate {
            None => "-".to_owned(),
            Some(Estimate { value, interval: None }) => show(*value),
            Some(Estimate { value, interval: Some(interval) }) => {
                format!("{} ({} to {})", show(*value), show(interval.low), show(interval.high))
            }
        };
        table.row(vec![title.to_owned(), cell(&curve.a), cell(&curve.b)]);
    }
    table
}

/// The differences: those with short values as a table, and the others with their values below.
pub(super) fn what_differs(all: &[Difference]) -> Vec<String> {
    let is_short = |value: &Option<String>| value.as_ref().is_none_or(|it| width(it) <= VALUE);
    let (short, long): (Vec<_>, Vec<_>) =
        all.iter().partition(|one| is_short(&one.a) && is_short(&one.b));
    let mut lines = Vec::new();
    if !short.is_empty() {
        lines.extend(indented(&differences(short)));
    }
    for one in long {
        let names = named(one);
        lines.push(format!("  {}", names.join(" ").trim_end()));
        for (side, value) in [("A", &one.a), ("B", &one.b)] {
            lines.extend(wrapped(&format!("    {side}  "), value.as_deref().unwrap_or("-"), WIDTH));
        }
    }
    lines
}

/// The table of differences.
fn differences<'a>(all: impl IntoIterator<Item = &'a Difference>) -> Table {
    let mut table = Table::new(4, &["", "", "A", "B"]);
    for one in all {
        let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let [subject, name] = named(one);
        table.row(vec![subject, name, cell(&one.a), cell(&one.b)]);
    }
    table
}

/// Subject and name of a difference. The target needs no separate name.
fn named(one: &Difference) -> [String; 2] {
    let subject = one.subject.label().to_owned();
    let name = if one.name == subject { String::new() } else { one.name.clone() };
    [subject, name]
}

fn remark(warning: &Warning) -> String {
    let next = warning.next.as_ref().map_or_else(String::new, |next| format!(" → {next}"));
    format!("{}{next}", warning.text)
}

/// Describes a side: its name, its target if that differs, and its jobs.
fn conditions(side: &Side) -> String {
    let mut parts = vec![side.name.clone()];
    if !side.name.contains(side.target.as_str()) {
        parts.push(side.target.to_string());
    }
    let jobs: Vec<String> = side.jobs().map(|job| job.to_string()).collect();
    match jobs.as_slice() {
        [] => {}
        [one] if side.name.ends_with(&format!("job {one}")) => {}
        [one] => parts.push(format!("job {one}")),
        many => parts.push(format!("jobs {}", many.join(", "))),
    }
    parts.join(DOT)
}

/// Where to find the runs of the pairs, and how to resume.
fn runs_of(result: &ComparisonResult) -> Vec<String> {
    let (Some(job), Some(pairs)) = (result.job, &result.pairs) else { return Vec::new() };
    let rest = triphammer_settings::format::duration(pairs.cool_down_s);
    let made = format!("Job {job}{DOT}triphammer jobs --parent {job} lists its runs");
    let how = match &pairs.at_once {
        Some(_) => "Both runs of a pair at once".to_owned(),
        None => format!("Runs in pairs, in a random order, with pauses of {rest}"),
    };
    let margin = format!("{how}, margin ± {}", precise(result.margin));
    let mut lines = vec![margin, made];
    lines.extend(resume(result).map(|command| format!("Resume with: {command}")));
    lines
}

/// The command that resumes pairs some of whose runs are missing.
fn resume(result: &ComparisonResult) -> Option<String> {
    summary::resume("compare", result.job.filter(|_| result.pairs.is_some()), result.status)
}

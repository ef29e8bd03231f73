//! The report of a test of isolation: verdicts, what each level costs, and the smallest anomalies as
//! SQL. It fits 80 columns, except for SQL.

use triphammer_document::isolation::{
    AnomalyExample, Control, IsolationResult, KindResult, LevelResult, Verdict,
};
use triphammer_document::parts::Status;
use triphammer_settings::format::{counted, duration, figure, integer, percent};

use super::chart::Charset;
use super::junit::{self, Case, Outcome, Suite};
use super::markdown::plainly;
use super::profile::{WIDTH, fill, markdown_end, markdown_head};
use super::summary::{Summary, indented};
use super::table::{Table, wrapped};
use super::words;
use crate::lines::{DOT, printed};

/// Number of the conditions that a summary shows.
const CONDITIONS_SHORT: usize = 2;
/// Examples that a text shows; the document has one for each kind that was found.
const EXAMPLES: usize = 3;
/// Class of the test cases.
const ISOLATION: &str = "triphammer.isolation";

/// Renders a test of isolation as text, with a final line break.
#[must_use]
pub fn isolation(result: &IsolationResult, charset: Charset) -> String {
    let mut lines = fill("", &title(result), DOT);
    lines.extend(result.label.iter().map(|label| format!("“{label}”")));
    lines.extend(ending(result));
    lines.push(String::new());
    for finding in &result.findings {
        lines.extend(wrapped("• ", finding, WIDTH));
    }
    for level in &result.levels {
        lines.extend([String::new(), promise(level)]);
        lines.extend(indented(&kinds(level)));
    }
    lines.push(String::new());
    lines.extend(indented(&prices(result)));
    for (kind, example) in examples(result).take(EXAMPLES) {
        lines.extend([String::new(), format!("{}: {}", kind.kind, kind.title)]);
        lines.extend(example_lines(example).into_iter().map(|line| format!("  {line}")));
    }
    lines.push(String::new());
    let conditions = conditions(result);
    let longest = conditions.iter().map(|(name, _)| name.len()).max().unwrap_or_default() + 2;
    for (name, text) in conditions {
        lines.extend(fill(&format!("{name:longest$}"), &text, DOT));
    }
    lines.extend(result.job.map(|job| format!("\nJob {job}")));
    lines.dedup_by(|a, b| a.is_empty() && b.is_empty());
    printed(&lines, charset)
}

/// Renders the findings for a screen.
#[must_use]
pub fn isolation_summary(result: &IsolationResult, charset: Charset) -> String {
    let summary = Summary {
        title: title(result),
        label: result.label.as_deref(),
        ending: ending(result),
        findings: result.findings.clone(),
        conditions: conditions(result).into_iter().take(CONDITIONS_SHORT).collect(),
        job: result.job,
        resume: None,
    };
    summary.text(charset, |rows| {
        let mut table = match result.levels.as_slice() {
            [level] => kinds(level),
            _ => prices(result),
        };
        table.rows.truncate(rows + 1);
        Some(table)
    })
}

/// Renders a test of isolation as GitHub-flavoured Markdown, with a final line break.
#[must_use]
pub fn isolation_markdown(result: &IsolationResult) -> String {
    let label = result.label.as_deref();
    let mut out = markdown_head(&title(result), label, ending(result), &result.findings);
    for level in &result.levels {
        out.push_str(&format!("\n## {}\n\n{}", promise(level), kinds(level).markdown()));
    }
    out.push_str(&format!("\n## What each level costs\n\n{}", prices(result).markdown()));
    let mut out = plainly(&out);
    for (kind, example) in examples(result) {
        let lines = example_lines(example).join("\n");
        out.push_str(&format!("\n## {}: {}\n\n```sql\n{lines}\n```\n", kind.kind, kind.title));
    }
    out.push_str(&plainly(&markdown_end(&conditions(result), result.job)));
    out
}

/// The test cases: one for each kind of anomaly at each level, and one for each fault.
#[must_use]
pub fn isolation_suite(result: &IsolationResult) -> Suite {
    let mut cases = Vec::new();
    for level in &result.levels {
        cases.extend(level.kinds.iter().map(|kind| kind_case(result, level, kind)));
    }
    if let Some(kind) = &result.expected {
        let found = result.kinds().any(|one| one.kind == *kind && one.count > 0);
        let outcome = match found {
            true => Outcome::Passed("found".to_owned()),
            false => Outcome::Failed("not found".to_owned()),
        };
        cases.push(junit::case(ISOLATION, &format!("{kind} is found"), outcome));
    }
    for fault in &result.faults {
        let outcome = match fault.succeeded {
            true => Outcome::Passed(fault.detail.clone()),
            false => Outcome::Failed(fault.detail.clone()),
        };
        let name = format!("the fault took place: {}", fault.fault);
        cases.push(junit::case(ISOLATION, &name, outcome));
    }
    // What no single case fails by, such as a control that showed nothing.
    let is_failed = cases.iter().any(|case| matches!(case.outcome, Outcome::Failed(_)));
    if !result.ending.good && !is_failed {
        let outcome = Outcome::Failed(result.ending.words.clone());
        cases.push(junit::case(ISOLATION, "the test shows what it should", outcome));
    }
    Suite {
        name: "triphammer isolation".to_owned(),
        started_at: Some(result.started_at.clone()),
        seconds: result.load_s,
        cases,
    }
}

/// What is expected decides alone (`--expect`).
fn kind_case(result: &IsolationResult, level: &LevelResult, kind: &KindResult) -> Case {
    let outcome = match kind.verdict {
        Verdict::Kept => {
            Outcome::Passed(format!("none in {}", counted(level.committed, "commits")))
        }
        Verdict::Violated if result.expected.is_none() => {
            Outcome::Failed(format!("{} found", integer(kind.count)))
        }
        Verdict::Undecided if result.fails_if_undecided => {
            Outcome::Failed(kind.verdict.words().to_owned())
        }
        Verdict::Violated | Verdict::Undecided | Verdict::Allowed | Verdict::NotSeen => {
            Outcome::Skipped(kind.verdict.words().to_owned())
        }
    };
    junit::case(ISOLATION, &format!("{} prevents {}", level.level, kind.kind), outcome)
}

fn title(result: &IsolationResult) -> String {
    let users = counted(u64::from(result.users), "users");
    let server = &result.server;
    let load = format!("{} of load per level", duration(result.load_s));
    format!("Isolation on {} {}{DOT}{users}{DOT}{load}", server.product, server.version)
}

fn ending(result: &IsolationResult) -> Option<String> {
    let ended = result.status != Status::Complete;
    ended.then(|| format!("{}: what was recorded until then", result.status.name()))
}

/// What a level promises, in a line.
fn promise(level: &LevelResult) -> String {
    let LevelResult { level, promise, order, .. } = level;
    match order.as_str() {
        "none" => format!("{level} promises {promise}"),
        order => format!("{level} promises {promise}, in {order} order"),
    }
}

/// The kinds that are promised not to happen or were found.
fn kinds(level: &LevelResult) -> Table {
    let mut table = Table::new(2, &["anomaly", "verdict", "found", "share", "second", "control"]);
    let is_shown = |kind: &&KindResult| kind.promised || kind.count > 0;
    for kind in level.kinds.iter().filter(is_shown) {
        let is_found = kind.count > 0;
        let or_none = |text: String| if is_found { text } else { "-".to_owned() };
        let verdict = match kind.verdict {
            Verdict::Undecided => "undecided",
            other => other.words(),
        };
        table.row(vec![
            kind.kind.clone(),
            verdict.to_owned(),
            or_none(integer(kind.count)),
            or_none(percent(kind.share)),
            or_none(format!("{:.1}", kind.first_s.unwrap_or_default())),
            match (kind.verdict, kind.control) {
                (Verdict::Kept, Control::Load) => "by load",
                (Verdict::Kept, Control::Planted) => "planted",
                (Verdict::Undecided, _) => "none",
                _ => "",
            }
            .to_owned(),
        ]);
    }
    table
}

fn prices(result: &IsolationResult) -> Table {
    let head = ["level", "TPS", "±", "p50 ms", "p95 ms", "p99 ms", "retries", "failed", "stale"];
    let mut table = Table::new(1, &head);
    let ms = |ms: Option<f64>| ms.map_or("-".to_owned(), |ms| format!("{ms:.1}"));
    for level in &result.levels {
        let price = &level.price;
        let half = price.tps_interval.map(|[low, high]| figure((high - low) / 2.0));
        table.row(vec![
            level.level.clone(),
            figure(price.tps),
            half.unwrap_or_else(|| "-".to_owned()),
            ms(price.p50_ms),
            ms(price.p95_ms),
            ms(price.p99_ms),
            format!("{:.3}", price.retries_per_commit),
            integer(price.failed),
            integer(level.staleness.stale),
        ]);
    }
    table
}

/// The examples, those of broken promises first.
fn examples(result: &IsolationResult) -> impl Iterator<Item = (&KindResult, &AnomalyExample)> {
    let of = |verdict: Verdict| {
        let kinds = result.kinds().filter(move |kind| kind.verdict == verdict);
        kinds.filter_map(|kind| Some((kind, kind.example.as_ref()?)))
    };
    of(Verdict::Violated).chain(of(Verdict::Allowed))
}

/// The statements of all transactions in the order of their answers, and why they contradict.
fn example_lines(example: &AnomalyExample) -> Vec<String> {
    let mut steps: Vec<(f64, String)> = Vec::new();
    for one in &example.transactions {
        let name = &one.name;
        let user = format!("{name}  -- begins, user {}", one.user);
        steps.push((one.began_ms, user));
        for statement in &one.statements {
            let text = format!("{name}  {}  -- {}", statement.sql, statement.result);
            steps.push((statement.at_ms, text));
        }
        steps.push((one.ended_ms, format!("{name}  -- {}", one.fate)));
    }
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let step = |(at, text): &(f64, String)| format!("{at:9.3} ms  {text}");
    let edge = |edge: &triphammer_document::isolation::ExampleEdge| {
        format!("-- {} {} {}: {}", edge.from, edge.kind, edge.to, edge.why)
    };
    steps.iter().map(step).chain(example.edges.iter().map(edge)).collect()
}

fn conditions(result: &IsolationResult) -> Vec<(&'static str, String)> {
    let recorded = |level: &LevelResult| format!("{} {}", integer(level.transactions), level.level);
    let recorded: Vec<String> = result.levels.iter().map(recorded).collect();
    let mut rows = vec![
        ("Target", result.target.to_string()),
        ("Server", words::server(&result.server)),
        ("Attempts", recorded.join(DOT)),
    ];
    if let Some(control) = &result.control {
        let kinds = counted(control.found.len() as u64, "kinds");
        let attempts = counted(control.transactions, "attempts");
        rows.push(("Control", format!("{}{DOT}{kinds} found in {attempts}", control.level)));
    }
    rows.extend(result.levels.iter().map(|level| ("Promise", level.source.clone())));
    rows.push(("Time", format!("started {}", words::moment(&result.started_at))));
    rows.push(("Host", words::host(&result.host)));
    rows
}

//! The report of a drill: findings, commits, faults, outages, and what it was done with. It fits 80
//! columns.

use triphammer_document::drill::{DrillResult, FaultReport};
use triphammer_document::parts::Status;
use triphammer_settings::format::{counted, duration, integer};

use super::chart::Charset;
use super::junit::{self, Case, Outcome, Suite};
use super::markdown::plainly;
use super::nodes;
use super::profile::{WIDTH, fill, markdown_end, markdown_head};
use super::summary::{Summary, indented};
use super::table::{Table, wrapped};
use super::words;
use crate::lines::{DOT, printed};

/// Number of the conditions that a summary shows: service and target.
const CONDITIONS_SHORT: usize = 2;
/// Class of the test cases.
const DRILL: &str = "triphammer.drill";

/// Renders a drill as text, with a final line break.
#[must_use]
pub fn drill(result: &DrillResult, charset: Charset) -> String {
    let mut lines = fill("", &title(result), DOT);
    lines.extend(result.label.iter().map(|label| format!("“{label}”")));
    lines.extend(ending(result));
    lines.push(String::new());
    for finding in &result.findings {
        lines.extend(wrapped("• ", finding, WIDTH));
    }
    for table in [Some(commits(result)), lost(result), faults(result), outages(result)] {
        lines.push(String::new());
        lines.extend(table.iter().flat_map(indented));
    }
    for (title, table) in nodes::tables(&result.nodes) {
        lines.extend([String::new(), title.to_owned()]);
        lines.extend(indented(&table));
    }
    lines.dedup_by(|a, b| a.is_empty() && b.is_empty());
    lines.push(String::new());
    let conditions = conditions(result);
    let longest = conditions.iter().map(|(name, _)| name.len()).max().unwrap_or_default() + 2;
    for (name, text) in conditions {
        lines.extend(fill(&format!("{name:longest$}"), &text, DOT));
    }
    if let Some(job) = result.job {
        lines.push(String::new());
        lines.push(match result.run {
            Some(run) => format!("Job {job}{DOT}triphammer report {run} shows its run"),
            None => format!("Job {job}"),
        });
    }
    lines.dedup_by(|a, b| a.is_empty() && b.is_empty());
    printed(&lines, charset)
}

/// Renders the findings of a drill for a screen.
#[must_use]
pub fn drill_summary(result: &DrillResult, charset: Charset) -> String {
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
        let mut table = commits(result);
        table.rows.truncate(rows + 1);
        Some(table)
    })
}

/// Renders a drill as GitHub-flavoured Markdown, with a final line break.
#[must_use]
pub fn drill_markdown(result: &DrillResult) -> String {
    let label = result.label.as_deref();
    let mut out = markdown_head(&title(result), label, ending(result), &result.findings);
    let sections = [
        ("Commits", Some(commits(result))),
        ("Lost commits", lost(result)),
        ("Faults", faults(result)),
        ("Without service", outages(result)),
    ];
    let sections = sections.into_iter().filter_map(|(title, table)| Some((title, table?)));
    for (title, table) in sections.chain(nodes::tables(&result.nodes)) {
        out.push_str(&format!("\n## {title}\n\n{}", table.markdown()));
    }
    out.push_str(&markdown_end(&conditions(result), result.job));
    plainly(&out)
}

/// The test cases of a drill: one for each promise of the database, and one for each fault.
#[must_use]
pub fn drill_suite(result: &DrillResult) -> Suite {
    let commits = &result.commits;
    let read = match &result.verification.error {
        None => Outcome::Passed(format!("{} rows", integer(result.verification.rows))),
        Some(error) => Outcome::Failed(error.clone()),
    };
    let some = match commits.acknowledged {
        0 => Outcome::Failed("none was acknowledged".to_owned()),
        count => Outcome::Passed(counted(count, "commits")),
    };
    let mut cases = vec![case("there were commits", some), case("the table was read back", read)];
    let none = |name: &str, count: Option<u64>| {
        let outcome = match count.filter(|_| result.verification.error.is_none()) {
            None => Outcome::Skipped("the table was not read back".to_owned()),
            Some(0) => {
                let of = integer(commits.acknowledged);
                Outcome::Passed(format!("none of {of} acknowledged commits"))
            }
            Some(count) => Outcome::Failed(format!(
                "{} of {} acknowledged commits",
                integer(count),
                integer(commits.acknowledged)
            )),
        };
        case(name, outcome)
    };
    cases.extend([
        none("no commit was lost", commits.lost),
        none("no commit was duplicated", Some(commits.duplicated)),
        none("no commit was reordered", Some(commits.reordered)),
        none("nothing was committed that had been reported as failed", Some(commits.undead)),
        none("no row was altered", Some(commits.altered)),
    ]);
    for fault in &result.faults {
        let outcome = match fault.succeeded {
            true => Outcome::Passed(fault.detail.clone()),
            false => Outcome::Failed(fault.detail.clone()),
        };
        cases.push(case(&format!("the fault took place: {}", fault.fault), outcome));
    }
    Suite {
        name: "triphammer drill".to_owned(),
        started_at: Some(result.started_at.clone()),
        seconds: result.load_s,
        cases,
    }
}

fn case(name: &str, outcome: Outcome) -> Case {
    junit::case(DRILL, name, outcome)
}

fn title(result: &DrillResult) -> String {
    let users = counted(u64::from(result.users), "users");
    let server = &result.server;
    let load = format!("{} of load", duration(result.load_s));
    format!("Durability drill on {} {}{DOT}{users}{DOT}{load}", server.product, server.version)
}

fn ending(result: &DrillResult) -> Option<String> {
    let ended = result.status != Status::Complete;
    ended.then(|| format!("{}: the load ended before its time", result.status.name()))
}

fn commits(result: &DrillResult) -> Table {
    let commits = &result.commits;
    let is_read = result.verification.error.is_none();
    let known = |count: u64| if is_read { integer(count) } else { "unknown".to_owned() };
    let mut table = Table::new(1, &["commits", ""]);
    for (name, count) in [
        ("acknowledged", integer(commits.acknowledged)),
        ("lost", known(commits.lost.unwrap_or_default())),
        ("duplicated", known(commits.duplicated)),
        ("reordered", known(commits.reordered)),
        ("altered", known(commits.altered)),
        ("failed", integer(commits.failed)),
        ("  of them committed", known(commits.undead)),
        ("in doubt", integer(commits.indeterminate)),
        ("  of them committed", known(commits.indeterminate_committed)),
    ] {
        table.row(vec![name.to_owned(), count]);
    }
    table
}

fn lost(result: &DrillResult) -> Option<Table> {
    let mut table = Table::new(0, &["user", "lost from", "to", "in second", "to"]);
    for range in &result.lost {
        table.row(vec![
            range.user.to_string(),
            integer(range.first),
            integer(range.last),
            range.from_s.to_string(),
            range.to_s.to_string(),
        ]);
    }
    (!result.lost.is_empty()).then_some(table)
}

fn faults(result: &DrillResult) -> Option<Table> {
    let mut table = Table::new(3, &["fault", "took place", "result", "second", "to"]);
    let at = |second: Option<f64>| second.map_or("-".to_owned(), |at| format!("{at:.1}"));
    for fault in &result.faults {
        let FaultReport { fault, began_s, ended_s, succeeded, detail, .. } = fault;
        let took_place = if *succeeded { "yes" } else { "no" };
        table.row(vec![
            cut(fault, 28),
            took_place.to_owned(),
            cut(detail, 18),
            at(*began_s),
            at(*ended_s),
        ]);
    }
    (!result.faults.is_empty()).then_some(table)
}

/// The beginning of a text that is longer than a cell; the document has all of it.
fn cut(text: &str, cell: usize) -> String {
    if text.chars().count() <= cell {
        return text.to_owned();
    }
    text.chars().take(cell - 1).chain(['…']).collect()
}

fn outages(result: &DrillResult) -> Option<Table> {
    let mut table = Table::new(0, &["without service from second", "to", "lasted"]);
    for outage in &result.service.outages {
        let at = |second: f64| format!("{second:.3}");
        table.row(vec![at(outage.from_s), at(outage.until_s), duration(outage.length_s())]);
    }
    (!result.service.outages.is_empty()).then_some(table)
}

fn conditions(result: &DrillResult) -> Vec<(&'static str, String)> {
    let read = &result.verification;
    let service = &result.service;
    let mut away = duration(service.without_service_s);
    if service.sessions_away > 0 {
        let sessions = counted(u64::from(service.sessions_away), "sessions");
        away.push_str(&format!("{DOT}{sessions} away at the end of the load"));
    }
    let mut rows = vec![
        ("Without service", away),
        ("Target", result.target.to_string()),
        ("Server", words::server(&result.server)),
        ("Read from", format!("{}{DOT}{} rows", read.target, integer(read.rows))),
    ];
    if let Some(server) = &read.server {
        let waited = duration(read.waited_s);
        let server = format!("{} {}{DOT}waited {waited} for it", server.product, server.version);
        rows.push(("Read on", server));
    }
    // It changes how many round trips a commit takes, and when one is in doubt.
    let pipeline = result.settings.iter().find(|setting| setting.name == "pipeline");
    rows.extend(pipeline.map(|setting| ("Pipeline", setting.value.clone())));
    rows.push(("Time", format!("started {}", words::moment(&result.started_at))));
    rows.push(("Host", words::host(&result.host)));
    rows
}

//! The report of an examination: what is wrong, what to look at, and every line by group.

use super::chart::Charset;
use super::format::counted;
use super::profile::{WIDTH, ascii, fill};
use super::table::{width, wrapped};
use super::words::DOT;
use crate::doctor::{DoctorResult, Group, Line, SetupVerdict};

/// Columns of a verdict and the space after it.
const VERDICT: usize = 7;

/// Renders an examination as text, with a final line break.
#[must_use]
pub fn doctor(result: &DoctorResult, charset: Charset) -> String {
    let mut lines = fill("", &title(result), DOT);
    lines.push(counts(result));
    for verdict in [SetupVerdict::Wrong, SetupVerdict::Look] {
        for line in result.lines.iter().filter(|line| line.verdict == verdict) {
            lines.push(String::new());
            lines.extend(finding(line));
        }
    }
    for group in Group::ALL {
        let of_group: Vec<&Line> = result.lines.iter().filter(|line| line.group == group).collect();
        if !of_group.is_empty() {
            lines.extend([String::new(), heading(group, result)]);
            lines.extend(table(&of_group));
        }
    }
    lines.extend(missing(result));
    let text: String = lines.iter().map(|line| format!("{}\n", line.trim_end())).collect();
    match charset {
        Charset::Unicode => text,
        Charset::Ascii => ascii(&text.replace('µ', "u")),
    }
}

fn title(result: &DoctorResult) -> String {
    let Some(target) = &result.target else { return "Doctor of this host".to_owned() };
    let server = result.server.as_ref().map(|server| {
        format!("{DOT}{} {}{DOT}{}", server.product, server.version, server.transport)
    });
    format!("Doctor of {target}{}", server.unwrap_or_default())
}

/// `2 wrong · 5 to look at · 31 fine`.
fn counts(result: &DoctorResult) -> String {
    let [wrong, look, fine] = [SetupVerdict::Wrong, SetupVerdict::Look, SetupVerdict::Fine]
        .map(|verdict| result.count(verdict));
    format!("{wrong} wrong{DOT}{look} to look at{DOT}{fine} fine")
}

/// A line that is not fine: its value, why it matters, and how to change it.
fn finding(line: &Line) -> Vec<String> {
    let indent = " ".repeat(VERDICT);
    let lead = format!("{:VERDICT$}", line.verdict.name());
    let mut lines = wrapped(&lead, &format!("{}: {}", line.name, line.value), WIDTH);
    lines.extend(wrapped(&indent, &line.why, WIDTH));
    lines.extend(wrapped(&format!("{indent}→ "), &line.change, WIDTH));
    lines
}

fn heading(group: Group, result: &DoctorResult) -> String {
    let text = match group {
        Group::Host if result.target.is_none() => "Host",
        Group::Host if result.host_of_database => "Host of client and database",
        Group::Host => "Host of the client only: the database is elsewhere, or it is unknown where",
        Group::Network => "Network",
        Group::Database => "Database",
    };
    text.to_owned()
}

fn table(of_group: &[&Line]) -> Vec<String> {
    let names = of_group.iter().map(|line| width(&line.name)).max().unwrap_or_default();
    let rows = of_group.iter().flat_map(|line| {
        let lead = format!("  {:VERDICT$}{:names$}  ", line.verdict.name(), line.name);
        wrapped(&lead, &line.value, WIDTH)
    });
    rows.collect()
}

/// What could not be read, and the privileges that are missing.
fn missing(result: &DoctorResult) -> Vec<String> {
    let mut lines = Vec::new();
    for hidden in &result.hidden {
        let text = format!("Missing privilege for {}:", hidden.checks.join(", "));
        lines.push(String::new());
        lines.extend(wrapped("", &text, WIDTH));
        lines.extend(wrapped("  ", &hidden.grant, WIDTH));
    }
    for unread in &result.unread {
        let checks = counted(unread.checks.len() as u64, "checks");
        let text = format!("{checks} not made, {}: {}", unread.reason, unread.checks.join(", "));
        lines.push(String::new());
        lines.extend(wrapped("", &text, WIDTH));
    }
    lines
}

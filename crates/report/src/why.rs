//! The report of `why`: the main cause, then the figures behind it, what else was seen, and what to try
//! next.

use triphammer_document::metrics::Unit;
use triphammer_document::result::Remark;
use triphammer_document::why::{Basis, CauseFigures, Evidence, Lock, Part, Waits, WhyResult};
use triphammer_settings::format::{clock, counted, figure, percent, scale};

use super::chart::Charset;
use super::profile::{WIDTH, fill};
use super::table::{Table, wrapped};
use crate::lines::{DOT, printed};

/// Maximum length of a name in a table, in characters.
const NAME_LENGTH: usize = 30;
/// Maximum rows of locks.
const LOCKS_MAX: usize = 6;

/// Renders an explanation as text, with a final line break. Its first sentence names the cause.
#[must_use]
pub fn why(result: &WhyResult, charset: Charset) -> String {
    let mut lines = wrapped("", &result.words, WIDTH);
    lines.push(String::new());
    lines.extend(fill("", &title(result), DOT));
    lines.extend(parts(result).iter().flat_map(|text| wrapped("", text, WIDTH)));
    lines.extend(wrapped("Limited by: ", &result.limited_by, WIDTH));
    let sides = if result.rest.is_some() { Sides::Stretch } else { Sides::Whole };
    lines.extend(waits(&result.waits, sides));
    for lock in result.locks.iter().take(LOCKS_MAX) {
        lines.extend(wrapped("• ", &blocked(lock), WIDTH));
    }
    for of in &result.evidence {
        lines.extend(wrapped("• ", &evidence(of), WIDTH));
    }
    lines.extend(result.notes.iter().flat_map(|of| wrapped("• ", &note(of), WIDTH)));
    for warning in &result.warnings {
        let next = warning.next.as_ref().map_or_else(String::new, |next| format!(" → {next}"));
        lines.extend(wrapped("• ", &format!("{}{next}", warning.text), WIDTH));
    }
    if !result.next.is_empty() {
        lines.extend([String::new(), "What to try next".to_owned()]);
    }
    lines.extend(result.next.iter().flat_map(|next| wrapped("→ ", next, WIDTH)));
    printed(&lines, charset)
}

fn title(result: &WhyResult) -> String {
    let scale = scale(result.workload.scale, &result.workload.scale_unit);
    let server = format!("{} {}", result.server.product, result.server.version);
    format!("Job {}{DOT}{} with {scale}{DOT}{server}", result.job, result.workload.title)
}

fn parts(result: &WhyResult) -> Vec<String> {
    let how = match result.basis {
        Basis::Given => "Stretch",
        Basis::Lowest => "Stretch with the lowest throughput",
        Basis::Window => "Timed window, no stretch of which was notably slower",
    };
    let mut all = vec![part(how, &result.stretch)];
    all.extend(result.rest.as_ref().map(|rest| part("Rest of the timed window", rest)));
    all
}

#[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
fn part(name: &str, of: &Part) -> String {
    let [from, to] = [of.from_s, of.to_s].map(|second| clock(second as f64));
    format!(
        "{name}: {from} to {to} ({}){DOT}{} committed per second{DOT}{} sessions active",
        counted(of.seconds, "seconds"),
        figure(of.committed_per_second),
        figure(of.sessions)
    )
}

/// What a table of waits compares, which decides its columns.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sides {
    /// A stretch of a run with the rest of it.
    Stretch,
    /// The whole of a run with nothing.
    Whole,
    /// B with A, in the order of all tables of comparisons.
    Comparison,
}

/// The tables of causes and statements, each after an empty line.
pub(super) fn waits(of: &Waits, sides: Sides) -> Vec<String> {
    let mut lines = Vec::new();
    for table in tables(of, sides) {
        lines.push(String::new());
        lines.extend(table.lines(2).into_iter().map(|line| format!("  {line}")));
    }
    lines
}

/// The tables of causes and of statements that are not empty.
pub(super) fn tables(of: &Waits, sides: Sides) -> Vec<Table> {
    const CHANGE: &str = "change per transaction, ms";
    let table = |what: &str| match sides {
        Sides::Stretch => Table::new(1, &[what, "here", "rest", CHANGE]),
        Sides::Whole => Table::new(1, &[what, "sessions", "share", "ms per transaction (95 %)"]),
        Sides::Comparison => Table::new(1, &[what, "A", "B", CHANGE]),
    };
    let row = |name: &str, of: &CauseFigures| {
        let rest = figure(of.sessions_rest.unwrap_or_default());
        let [first, second] = match sides {
            Sides::Stretch => [figure(of.sessions), rest],
            Sides::Whole => [figure(of.sessions), percent(of.share)],
            Sides::Comparison => [rest, figure(of.sessions)],
        };
        vec![short(name), first, second, change(of)]
    };
    let mut causes = table("active sessions");
    for cause in &of.causes {
        causes.row(row(cause.class.title(), &cause.figures));
        for event in cause.events.iter().filter(|event| !event.wait.is_empty()) {
            causes.row(row(&format!("  {}", event.wait), &event.figures));
        }
    }
    let mut statements = table("statement");
    for of in &of.statements {
        statements.row(row(&of.statement, &of.figures));
    }
    [causes, statements].into_iter().filter(|table| table.rows.len() > 1).collect()
}

/// `+8.1 (7.2 to 9.0)`; in sessions where nothing was committed.
fn change(of: &CauseFigures) -> String {
    let sign = |value: f64| {
        let sign = if value < 0.0 { "-" } else { "" };
        format!("{sign}{}", figure(value.abs()))
    };
    let plus = |value: f64| match of.sessions_rest.is_some() && value > 0.0 {
        true => format!("+{}", figure(value)),
        false => sign(value),
    };
    match (of.change_ms, of.change_ms_interval) {
        (Some(ms), Some(interval)) => {
            format!("{} ({} to {})", plus(ms), sign(interval.low), sign(interval.high))
        }
        _ => {
            let interval = of.excess_sessions_interval;
            let ends = format!("{} to {}", sign(interval.low), sign(interval.high));
            format!("{} sessions ({ends})", plus(of.excess_sessions))
        }
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(NAME_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn blocked(lock: &Lock) -> String {
    let who = match lock.is_foreign {
        true => format!("session {} of another program", lock.blocker),
        false => lock.blocker.clone(),
    };
    let object = match lock.object.is_empty() {
        true => String::new(),
        false => format!(" at `{}`", lock.object),
    };
    let statement = match lock.statement.is_empty() {
        true => String::new(),
        false => format!(", last statement `{}`", lock.statement),
    };
    let rest = lock
        .blocked_rest
        .map_or_else(String::new, |rest| format!(" ({} in the rest)", figure(rest)));
    format!("blocked by {who}{object}{statement}: {} sessions{rest}", figure(lock.blocked))
}

fn evidence(of: &Evidence) -> String {
    let value = |value: f64| match of.unit {
        Unit::Share => percent(value),
        Unit::PerMinute => format!("{} per minute", figure(value)),
        Unit::BytesPerSecond => format!("{} MB/s", figure(value / 1e6)),
        _ => figure(value),
    };
    let rest = of.rest.map_or_else(String::new, |rest| format!(" ({} in the rest)", value(rest)));
    format!("{}: {}{rest}", of.title, value(of.here))
}

fn note(of: &Remark) -> String {
    of.at_s.map_or_else(|| of.text.clone(), |at| format!("{}  {}", clock(at), of.text))
}

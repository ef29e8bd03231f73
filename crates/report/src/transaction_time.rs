//! The parts of reports about where the time of a transaction goes, and what it exchanges with the
//! server: of a run, and of both sides of a comparison.

use triphammer_document::compare::TimeComparison;
use triphammer_document::result::{TransactionPart, TransactionTime};
use triphammer_document::unit::Unit;
use triphammer_settings::format::{integer, percent};

use super::observed;
use super::table::Table;

/// Heading of the comparison.
pub(super) const COMPARED: &str = "Where a transaction's time goes, in A and in B";

/// The parts whose measurement every report explains.
const EXPLAINED: [&str; 3] = ["network", "client_cpu_used", "server_cpu_used"];

/// Heading of the table of a run.
pub(super) fn heading(time: &TransactionTime) -> String {
    format!("Where a transaction's time goes, mean of {}", integer(time.transactions))
}

/// The parts with their values.
pub(super) fn table(time: &TransactionTime) -> Table {
    let mut table = Table::new(1, &["", "per transaction", "share"]);
    for part in &time.parts {
        table.row(vec![indented(&part.title, part.depth), shown(part), share(part)]);
    }
    table
}

/// The same with how each was measured.
pub(super) fn whole_table(time: &TransactionTime) -> Table {
    let mut table = Table::new(2, &["", "how it was measured", "per transaction", "share"]);
    for part in &time.parts {
        let title = indented(&part.title, part.depth);
        table.row(vec![title, part.how.clone(), shown(part), share(part)]);
    }
    table
}

/// How the network and CPU times were measured, and what would make known what is not.
pub(super) fn sentences(time: &TransactionTime) -> Vec<String> {
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    for part in &time.parts {
        let text = match part.value {
            None => format!("not known: {}", part.how),
            Some(_) if EXPLAINED.contains(&&*part.name) => part.how.clone(),
            Some(_) => continue,
        };
        let title = part.title.strip_prefix("of it ").unwrap_or(&part.title);
        match all.iter_mut().find(|(known, _)| *known == text) {
            Some((_, titles)) => titles.push(title),
            None => all.push((text, vec![title])),
        }
    }
    all.into_iter().map(|(text, titles)| format!("{}: {text}", titles.join(", "))).collect()
}

/// The parts of both sides, with ratios.
pub(super) fn compared(time: &TimeComparison) -> Table {
    let mut table = Table::new(1, &["", "A", "B", "B/A"]);
    for part in &time.parts {
        let value =
            |value: Option<f64>| value.map_or_else(unknown, |value| in_unit(part.unit, value));
        let ratio = part.ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.3}"));
        let title = indented(&part.title, part.depth);
        table.row(vec![title, value(part.a), value(part.b), ratio]);
    }
    table
}

/// A title with its depth: a Markdown table keeps no spaces.
fn indented(title: &str, depth: u8) -> String {
    format!("{}{title}", "· ".repeat(depth.into()))
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn shown(part: &TransactionPart) -> String {
    part.value.map_or_else(unknown, |value| in_unit(part.unit, value))
}

fn share(part: &TransactionPart) -> String {
    part.share.map_or_else(String::new, percent)
}

fn in_unit(unit: Unit, value: f64) -> String {
    observed::value(unit, value)
}

//! The part of reports about logins: how many, how long their phases took, and when lost sessions
//! were back.

use triphammer_document::result::{LoginFigures, RunResult, SessionsBack};
use triphammer_settings::format::{counted, figure, integer, seconds};

use super::table::Table;
use crate::lines::{TIMES, times_cells};

/// Heading of the table of logins.
pub(super) const LOGINS: &str = "Logins, in ms";

/// The logins that a report shows: those of the window, or those of the start if sessions remained
/// and the start was limited.
fn shown(result: &RunResult) -> Option<(&LoginFigures, &'static str)> {
    let logins = result.logins.as_ref()?;
    match () {
        () if logins.window.count > 0 => Some((&logins.window, "in the window")),
        () if logins.run.count + logins.run.failed > 0 => Some((&logins.run, "in the whole run")),
        () if result.spec.logins.per_second.is_some() => Some((&logins.start, "at the start")),
        () => None,
    }
}

/// The times of the phases of logins; `None` if a report shows none.
pub(super) fn table(result: &RunResult) -> Option<Table> {
    let (figures, _) = shown(result).filter(|(figures, _)| figures.count > 0)?;
    let mut table = Table::new(1, &TIMES);
    for (title, times) in figures.phases() {
        table.row(times_cells(title, times));
    }
    Some(table)
}

/// What the numbers of logins are, a sentence each; empty if a report shows none.
pub(super) fn lines(result: &RunResult) -> Vec<String> {
    let (Some(logins), Some((figures, part))) = (&result.logins, shown(result)) else {
        return Vec::new();
    };
    let mut lines = vec![format!(
        "{} {part}, {} per second; {} failed",
        counted(figures.count, "logins"),
        figure(figures.per_second),
        integer(figures.failed)
    )];
    if let Some(text) = server_cost(result) {
        lines.push(text);
    }
    if let Some(every) = result.spec.logins.every {
        let transactions = counted(every, "transactions");
        let included = match result.spec.load.is_closed() {
            true => {
                "its transactions are due when it is there, so their times are without the login"
            }
            false => "a login for a transaction that is due is part of its response time",
        };
        lines.push(format!("a session logs in again after {transactions}: {included}"));
    }
    if result.spec.logins.per_second.is_some()
        && let Some(back) = logins.start.back
    {
        lines.push(format!("at the start, {}", reached("logged in", back)));
    }
    if let Some(back) = logins.run.back {
        lines.push(format!("after they were lost, {}", reached("back", back)));
    }
    lines
}

/// Formats what the server spent per login and the transactions after it, if its processes are seen.
#[expect(clippy::cast_precision_loss, reason = "a count for people")]
fn server_cost(result: &RunResult) -> Option<String> {
    let every = result.spec.logins.every?;
    let logins = result.logins.as_ref()?.window.count;
    let figures = &result.bottleneck.figures;
    let cpus = figures.server_cpus.filter(|_| logins > 0)?;
    let us = cpus * figures.window_s * 1e6 / logins as f64;
    let transactions = counted(every, "transactions");
    Some(format!("the server used {} µs of CPU per login and {transactions}", figure(us)))
}

/// Formats `of 64 sessions half were back after 1.2 s, 95 % after 3 s, and all after 5 s`.
fn reached(what: &str, back: SessionsBack) -> String {
    let SessionsBack { sessions, half_s, most_s, all_s } = back;
    format!(
        "of {} half were {what} after {}, 95 % after {}, and all after {}",
        counted(sessions, "sessions"),
        seconds(half_s),
        seconds(most_s),
        seconds(all_s)
    )
}

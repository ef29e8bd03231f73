//! The tables of a run: transactions, times, slices, statements, errors.

use triphammer_core::stats::Times;
use triphammer_core::text::one_line;
use triphammer_document::result::{Figures, PercentileIntervals, RunResult, TypeFigures};
use triphammer_settings::format::{clock, figure, integer, milliseconds, percent};
use triphammer_statistics::Interval;

use crate::lines::{TIMES, times_cells, whole_milliseconds};
use crate::table::Table;

/// Title of the table of slices.
pub(crate) const SLICES: &str =
    "The window in slices: response time of committed transactions, all types, in ms";

/// The table of slices of the window; `None` if there is only one.
pub(crate) fn slices(result: &RunResult) -> Option<Table> {
    let slices = &result.slices;
    if slices.len() < 2 {
        return None;
    }
    let head = ["from", "per min", "min", "mean", "sd", "p50", "p95", "p99", "max", "failed"];
    let mut table = Table::new(1, &head);
    for slice in slices {
        let (total, times) = (&slice.total, &slice.total.response);
        table.row(vec![
            clock(slice.start_s),
            figure(total.per_minute),
            whole_milliseconds(times.min_us),
            milliseconds(times.mean_us),
            times.stdev_us.map_or_else(|| "-".to_owned(), milliseconds),
            whole_milliseconds(times.p50_us),
            whole_milliseconds(times.p95_us),
            whole_milliseconds(times.p99_us),
            whole_milliseconds(times.max_us),
            integer(total.failed),
        ]);
    }
    Some(table)
}

/// Heading of the statements of scripts.
pub(crate) const STATEMENTS: &str = "Statements over the whole run, in ms";
/// Maximum number of statements that a report shows.
const STATEMENTS_SHOWN: usize = 100;
/// Maximum length of a statement in this table, in characters: it has many columns.
const STATEMENT_LENGTH: usize = 40;
/// Maximum length of a statement, or of what was answered, in other tables.
const TEXT_LENGTH: usize = 60;

/// A text in one line of a table.
pub(crate) fn shortened(text: &str) -> String {
    cut(text, TEXT_LENGTH)
}

/// A text in one line, of so many characters at most.
fn cut(text: &str, most: usize) -> String {
    let text = one_line(text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// Times of the statements of scripts.
pub(crate) fn statements(result: &RunResult) -> Option<Table> {
    if result.statements.is_empty() {
        return None;
    }
    let mut table =
        Table::new(2, &["script", "statement", "line", "runs", "failed", "mean", "max"]);
    for seen in result.statements.iter().take(STATEMENTS_SHOWN) {
        table.row(vec![
            seen.transaction.clone(),
            cut(&seen.text, STATEMENT_LENGTH),
            integer(seen.line as u64),
            integer(seen.runs),
            integer(seen.failures),
            milliseconds(seen.mean_us),
            milliseconds(seen.max_us),
        ]);
    }
    Some(table)
}

/// The table of transactions by type and outcome.
pub(crate) fn counts(figures: &Figures) -> Table {
    let mut table = Table::new(
        1,
        &["", "completed", "share", "per min", "rolled back", "failed", "in doubt", "retried"],
    );
    for seen in rows(figures) {
        table.row(vec![
            seen.title.clone(),
            integer(seen.completed),
            percent(seen.share),
            figure(seen.per_minute),
            integer(seen.rolled_back),
            integer(seen.failed),
            integer(seen.indeterminate),
            integer(seen.retried),
        ]);
    }
    table
}

/// The table of times of committed transactions, in milliseconds.
pub(crate) fn times(figures: &Figures, read: fn(&TypeFigures) -> &Times) -> Table {
    let mut table = Table::new(1, &TIMES);
    for seen in rows(figures) {
        table.row(times_cells(&seen.title, read(seen)));
    }
    table
}

/// Title of the table of the percentiles' intervals.
pub(crate) const INTERVALS: &str = "95 % intervals of these percentiles, in ms";

/// The table of the response time percentiles' intervals; `None` if there are none.
pub(crate) fn intervals(figures: &Figures) -> Option<Table> {
    let mut table = Table::new(1, &["", "p50", "p90", "p95", "p99", "p99.9"]);
    let cell = |interval: Option<Interval>| {
        interval.map_or("-".to_owned(), |Interval { low, high }| {
            format!("{}–{}", milliseconds(low), milliseconds(high))
        })
    };
    let mut known = false;
    for seen in rows(figures) {
        let PercentileIntervals { wanders, .. } = seen.response_intervals;
        let intervals = seen.response_intervals.all();
        known |= wanders || intervals.iter().any(Option::is_some);
        let title = match wanders {
            true => format!("{} (drifts or wanders: the window is too short)", seen.title),
            false => seen.title.clone(),
        };
        table.row([title].into_iter().chain(intervals.map(cell)).collect());
    }
    known.then_some(table)
}

/// All types, and their total if there are several.
fn rows(figures: &Figures) -> impl Iterator<Item = &TypeFigures> {
    let total = (figures.types.len() > 1).then_some(&figures.total);
    figures.types.iter().chain(total)
}

/// Explains response and service times, and whether they differ.
pub(crate) fn times_note(result: &RunResult) -> &'static str {
    if result.spec.load.is_closed() {
        "Closed load: a user's next transaction is due when the previous one ends, so response \
         time equals service time; both include retries."
    } else {
        "Response time is measured from when a transaction was due, service time from its first \
         attempt; both include retries."
    }
}

/// The first error of each kind: transaction type, class, count, message.
pub(crate) fn errors(result: &RunResult) -> Vec<[String; 4]> {
    let title = |name: &str| {
        let seen = result.run.types.iter().find(|seen| seen.name == name);
        seen.map_or(name, |seen| seen.title.as_str()).to_owned()
    };
    result
        .errors
        .iter()
        .map(|error| {
            [
                title(&error.transaction),
                error.class.label().to_owned(),
                integer(error.count),
                error.message.clone(),
            ]
        })
        .collect()
}

//! The parts of reports about streams of queries beside the transactions.

use triphammer_document::result::{Baseline, Observed, QueryStreams};
use triphammer_settings::format::{self, counted, duration, figure, integer, percent};

use super::table::Table;

/// Heading of the table of queries.
pub(super) const QUERIES: &str = "Queries alongside the transactions, in seconds";

/// Name, value and description of the figures; `name` is that of the primary metric.
pub(super) fn figures(name: &str, streams: &QueryStreams) -> Vec<[String; 3]> {
    let mut rows: Vec<_> = of_window(streams).collect();
    if let Some(baseline) = &streams.baseline {
        rows.extend(alone(name, baseline));
    }
    rows
}

/// The figures of the baseline, and what remains of them beside each other.
fn alone(name: &str, baseline: &Baseline) -> [[String; 3]; 2] {
    let seconds = duration(baseline.seconds);
    let row = |title: String, value: Option<f64>, ratio: Option<f64>, with: &str| {
        let meaning = match ratio {
            Some(ratio) => format!("alone for {seconds}; {} remains {with}", percent(ratio)),
            None => format!("alone for {seconds}; nothing to compare"),
        };
        [title, value.map_or_else(|| "-".to_owned(), figure), meaning]
    };
    let Baseline { primary_metric, primary_metric_ratio, queries_per_hour, queries_ratio, .. } =
        *baseline;
    [
        row(format!("{name} alone"), primary_metric, primary_metric_ratio, "with the queries"),
        row(
            "Queries alone".to_owned(),
            queries_per_hour,
            queries_ratio,
            "alongside the transactions",
        ),
    ]
}

fn of_window(streams: &QueryStreams) -> impl Iterator<Item = [String; 3]> {
    streams.figures.iter().map(|of| {
        let meaning = match &of.reason {
            Some(reason) => format!("not available: {reason}"),
            None => of.meaning.clone(),
        };
        [of.title.clone(), of.value.map_or_else(|| "-".to_owned(), figure), meaning]
    })
}

/// The parts of `2 streams · 40 queries answered in the window · 0 timed out or failed · 2 cancelled at its end`.
pub(super) fn outcome(streams: &QueryStreams) -> Vec<String> {
    let cancelled: u64 = streams.queries.iter().map(|query| query.cancelled).sum();
    let mut parts = vec![
        counted(streams.streams.into(), "streams"),
        format!("{} answered in the window", counted(streams.in_window(), "queries")),
        format!("{} timed out or failed", integer(streams.unanswered())),
        format!("{} cancelled at its end", integer(cancelled)),
    ];
    if let Some(limit) = streams.query_timeout_s {
        parts.push(format!("at most {} per query", format::seconds(limit)));
    }
    if streams.sessions.lost > 0 {
        let lost = counted(streams.sessions.lost, "sessions");
        parts.push(format!("{lost} lost, {} reconnected", integer(streams.sessions.reconnected)));
    }
    if streams.away > 0 {
        parts.push(format!("{} without a connection", counted(streams.away.into(), "streams")));
    }
    parts
}

/// The table of queries in the timed window, with the sessions that were in each at the database, where that was
/// observed: more than the streams in it means parallel workers.
pub(super) fn queries(streams: &QueryStreams, observed: Option<&Observed>) -> Table {
    let sessions = observed.and_then(|observed| observed.sessions.as_ref());
    let mut head = vec!["", "", "answered", "median", "mean", "min", "max", "rows"];
    head.extend(sessions.map(|_| ["sessions", "mostly"]).into_iter().flatten());
    let mut table = Table::new(2, &head);
    let time = |seconds: Option<f64>| seconds.map_or("-".to_owned(), |s| format!("{s:.3}"));
    for query in &streams.queries {
        let mut cells = vec![query.name.to_uppercase(), query.title.clone()];
        cells.push(integer(query.in_window));
        cells.extend([query.median_s, query.mean_s, query.min_s, query.max_s].map(time));
        cells.push(integer(query.rows));
        if let Some(sessions) = sessions {
            let of = sessions.statements.iter().find(|of| of.statement == query.name);
            cells.push(of.map_or_else(|| "-".to_owned(), |of| figure(of.average)));
            cells.push(of.map_or("-", |of| of.top_class.title()).to_owned());
        }
        table.row(cells);
    }
    table
}

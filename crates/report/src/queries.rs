//! The parts of reports about a finite set of queries.

use triphammer_core::query_plan::QueryTest;
use triphammer_document::execution_plan::ExecutionPlan;
use triphammer_document::result::{PhaseUsage, QueriesResult, QueryFigure, QuerySummary};
use triphammer_settings::format::{self, counted, figure, integer};

use super::table::Table;
use crate::lines::DOT;

/// Heading of the table of queries.
pub(super) const QUERIES: &str = "Time of each query, in seconds";
/// Heading of the table of figures by repeat.
pub(super) const REPEATS: &str = "Figures of each repeat";

/// Name, value and description of the figures, the primary one first.
pub(super) fn figures(set: &QueriesResult) -> Vec<[String; 3]> {
    let primary = set.primary();
    let others = set.figures.iter().filter(|figure| figure.name != primary.name);
    [primary].into_iter().chain(others).map(row).collect()
}

/// The same without those that are not available, except the primary one.
pub(super) fn available(set: &QueriesResult) -> Vec<[String; 3]> {
    let primary = set.primary();
    let others = set.figures.iter().filter(|figure| figure.name != primary.name);
    let others = others.filter(|figure| figure.value.is_some());
    [primary].into_iter().chain(others).map(row).collect()
}

fn row(figure: &QueryFigure) -> [String; 3] {
    let meaning = match &figure.reason {
        Some(reason) => format!("not available: {reason}"),
        None => figure.meaning.clone(),
    };
    [figure.title.clone(), value(figure), meaning]
}

fn value(of: &QueryFigure) -> String {
    of.value.map_or_else(|| "-".to_owned(), figure)
}

/// Formats `power test · 2 repeats · 22 of 22 queries answered`.
pub(super) fn work(set: &QueriesResult) -> String {
    let mut parts = vec![match set.test {
        QueryTest::Queries => "queries alone".to_owned(),
        QueryTest::Both => "power and throughput test".to_owned(),
        test => format!("{test} test"),
    }];
    parts.push(counted(set.streams.into(), "streams"));
    if set.repeats > 1 {
        parts.push(counted(set.repeats.into(), "repeats"));
    }
    if let Some(limit) = set.query_timeout_s {
        parts.push(format!("at most {} per query", format::seconds(limit)));
    }
    parts.join(DOT)
}

/// Formats `22 of 22 queries answered · 22 answers compared, all equal`.
pub(super) fn outcome(set: &QueriesResult) -> String {
    let answered = set.steps.len() - set.unanswered().count();
    let all = counted(set.steps.len() as u64, "queries");
    let answers = &set.answers;
    let equal = match (answers.compared, answers.differing) {
        (0, _) => "no answers to compare with each other".to_owned(),
        (compared, 0) => format!("{} compared, all equal", counted(compared.into(), "answers")),
        (compared, differing) => {
            let compared = counted(compared.into(), "answers");
            format!("{compared} compared, {} DIFFER", integer(differing.into()))
        }
    };
    // A run compares equal queries with each other; whether they are right, only a check knows.
    let unchecked = "not checked against the right ones (`triphammer check` does)";
    format!("{} of {all} answered{DOT}{equal}; {unchecked}", integer(answered as u64))
}

/// The table of queries.
pub(super) fn queries(set: &QueriesResult) -> Table {
    let once = set.queries.iter().all(|query| query.asked == 1);
    let mut head = match once {
        true => vec!["", "", "time", "rows"],
        false => vec!["", "", "answered", "mean", "min", "max", "rows"],
    };
    let has = |is: fn(&QuerySummary) -> bool| set.queries.iter().any(is);
    let has_usage = has(|query| query.usage.is_some());
    let has_reads =
        has(|query| query.usage.is_some_and(|of| of.read_bytes.is_some_and(|read| read > 0)));
    let has_workers = has(|query| query.workers.is_some());
    head.extend(has_usage.then_some(["CPU s", "CPUs"]).into_iter().flatten());
    head.extend(has_reads.then_some("read"));
    head.extend(has_workers.then_some("workers"));
    let has_plans = !set.plans.is_empty();
    if has_plans {
        head.push("plan");
    }
    let mut table = Table::new(2, &head);
    for query in &set.queries {
        let time = |seconds: Option<f64>| seconds.map_or("-".to_owned(), |s| format!("{s:.3}"));
        let mut cells = vec![query.name.to_uppercase(), query.title.clone()];
        if once {
            cells.push(match query.mean_s {
                Some(_) => time(query.mean_s),
                None => set.unanswered().find(|step| step.name == query.name).map_or_else(
                    || "-".to_owned(),
                    |step| step.outcome.words().trim_start_matches("was ").to_owned(),
                ),
            });
        } else {
            cells.push(format!("{} of {}", query.answered, query.asked));
            cells.extend([query.mean_s, query.min_s, query.max_s].map(time));
        }
        cells.push(integer(query.rows));
        if has_usage {
            let number =
                |of: Option<f64>| of.map_or_else(|| "-".to_owned(), |of| format!("{of:.2}"));
            cells.extend([query.usage.map(|usage| usage.cpu_s), query.cpus].map(number));
        }
        let read = query.usage.and_then(|usage| usage.read_bytes);
        cells.extend(has_reads.then(|| read.map_or_else(|| "-".to_owned(), format::bytes)));
        cells.extend(
            has_workers.then(|| query.workers.map_or_else(|| "-".to_owned(), |of| of.to_string())),
        );
        if has_plans {
            cells.push(set.plan(&query.name).map_or("-", ExecutionPlan::short).to_owned());
        }
        table.row(cells);
    }
    table
}

/// What the phases used, and whose CPU time that of the queries is; empty if nothing of it is known.
pub(super) fn usage(set: &QueriesResult) -> Vec<String> {
    let of_phase = |phase: &PhaseUsage| {
        let repeat =
            if set.repeats > 1 { format!(", repeat {}", phase.repeat) } else { String::new() };
        let streams = counted(phase.streams.into(), "streams");
        let took = format::seconds(phase.seconds);
        format!("{} test{repeat}, {streams}, {took}: {}", phase.test, phase.usage.words())
    };
    let whose = set.usage_of.map(|of| of.words().to_owned());
    set.phases.iter().map(of_phase).chain(whose).collect()
}

/// The table of figures by repeat; `None` if there is only one.
pub(super) fn repeats(set: &QueriesResult) -> Option<Table> {
    if set.repeats < 2 {
        return None;
    }
    let titles = set.figures.iter().map(|figure| figure.title.as_str());
    let head: Vec<&str> = std::iter::once("").chain(titles).collect();
    let mut table = Table::new(1, &head);
    for (repeat, figures) in (1..).zip(&set.repeat_figures) {
        let number = std::iter::once(integer(repeat));
        table.row(number.chain(figures.iter().map(value)).collect());
    }
    Some(table)
}

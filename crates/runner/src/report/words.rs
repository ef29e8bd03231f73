//! The contents of all report formats: tables and sentences from a result.

use triphammer_core::clock::format_duration;
use triphammer_core::session::ServerInfo;
use triphammer_core::spec::{Length, RunSpec};
use triphammer_core::stats::Times;
use triphammer_core::text::one_line;
use triphammer_statistics::Interval;

use super::format::{
    self, bytes, clock, counted, duration, figure, integer, milliseconds, percent,
};
use super::load;
use super::observed;
use super::queries;
use super::query_streams;
use super::table::Table;
use crate::failure_limit;
use crate::host::Host;
use crate::measure::{Measure, Throughput};
use crate::requirement::{Judgement, Unit};
use crate::result::{
    ClientCost, DATABASE_DEFAULT, DeclaredFigure, Figures, QueriesResult, RunResult, Status,
    Steadiness, Steady, TypeFigures, Verdict, WorkloadFacts,
};

/// Separator between the parts of a line.
pub(super) const DOT: &str = " · ";

/// `TPROC-C on PostgreSQL 15.4 · 10 warehouses · 16 virtual users`.
pub(super) fn title(result: &RunResult) -> String {
    format!("{}{DOT}{}", subject(&result.workload, &result.server), load::users(result))
}

/// `TPROC-C on PostgreSQL 15.4 · 10 warehouses`.
pub(super) fn subject(workload: &WorkloadFacts, server: &ServerInfo) -> String {
    subject_of_two(workload, [server, server])
}

/// `TPROC-C on PostgreSQL 15.4 and MariaDB 10.11.6 · 10 warehouses`; one name if they are the same.
pub(super) fn subject_of_two(workload: &WorkloadFacts, servers: [&ServerInfo; 2]) -> String {
    let [a, b] = servers.map(|server| {
        let name = format!("{} {}", server.product, short_version(&server.version));
        name.trim_end().to_owned()
    });
    let on = match (a == b, servers[0].product == servers[1].product) {
        (true, _) => a,
        (false, true) => format!("{a} and {}", short_version(&servers[1].version)),
        (false, false) => format!("{a} and {b}"),
    };
    let size = format::size(workload.scale, &workload.scale_unit);
    let size = size.map_or_else(String::new, |size| format!("{DOT}{size}"));
    format!("{} on {on}{size}", workload.title)
}

/// The version of a server up to the first space or parenthesis.
fn short_version(version: &str) -> &str {
    version.split([' ', '(']).next().unwrap_or(version)
}

/// Describes how the run ended if it is not complete; shown before all figures.
pub(super) fn ending(result: &RunResult) -> Option<String> {
    let after = duration(result.durations.whole_s);
    Some(match result.status {
        Status::Complete => return None,
        Status::Interrupted => format!("interrupted after {after}: these are partial figures"),
        Status::Aborted => {
            let in_flight = result.run.total.in_flight.unwrap_or(0);
            let given_up = counted(in_flight, "transactions in flight");
            match result.notes.iter().find(|note| note.kind == failure_limit::NOTE) {
                Some(reason) => format!("aborted after {after}: {}", reason.text),
                None => {
                    format!(
                        "aborted after {after}, {given_up} abandoned: use the figures with care"
                    )
                }
            }
        }
        Status::Failed => format!("failed after {after}: {}", result.cause().unwrap_or_default()),
    })
}

/// Name, value and description of the primary figures.
pub(super) fn primary_metric(result: &RunResult) -> Vec<[String; 3]> {
    if let Some(set) = &result.queries {
        return queries::figures(set);
    }
    let primary_metric = &result.primary_metric;
    let timed = result.durations.window_s > 0.0;
    let shown = |value| if timed { figure(value) } else { "none".to_owned() };
    let mut rows = vec![[
        primary_metric.name.clone(),
        shown(primary_metric.value),
        primary_metric.meaning.clone(),
    ]];
    rows.extend(load::efficiency(result));
    let Some(Throughput { name, per, of_minute }) =
        Measure::stored(&primary_metric.per).throughput()
    else {
        return rows;
    };
    rows.push([
        format!("{name} (client)"),
        shown(result.tpm_client * of_minute),
        format!("transactions of all types completed {per}"),
    ]);
    if let Some(tpm) = result.tpm_server {
        rows.push([
            format!("{name} (server)"),
            figure(tpm * of_minute),
            format!("transactions {per}, counted by the database"),
        ]);
    }
    let streams = result.query_streams.iter();
    rows.extend(streams.flat_map(|of| query_streams::figures(&primary_metric.name, of)));
    rows
}

/// Formats the verification: `verified: the database counts the same`.
pub(super) fn verification(result: &RunResult) -> String {
    let verification = &result.primary_metric.verification;
    format!("{}: {}", verification.verdict.label(), verification.words)
}

/// Further entries of a summary: name, text, and whether it is a problem.
pub(super) fn in_short(result: &RunResult) -> Vec<(&'static str, String, bool)> {
    if let Some(set) = &result.queries {
        let mut rows = vec![
            ("Work", queries::work(set), false),
            ("Outcome", queries::outcome(set), !set.is_good()),
        ];
        rows.extend(first_warning(result));
        return rows;
    }
    let times = &shown(result).0.total.response;
    let mut rows = Vec::new();
    if times.count > 0 {
        let [p50, p95, p99] = [times.p50_us, times.p95_us, times.p99_us].map(whole_milliseconds);
        let max = whole_milliseconds(times.max_us);
        let text = format!("p50 {p50} ms{DOT}p95 {p95} ms{DOT}p99 {p99} ms{DOT}max {max} ms");
        rows.push(("Response time", text, false));
    }
    let mut failed = failures(result);
    if let Some(error) = result.errors.first() {
        failed.push_str(&format!("; {}: {}", error.class.label(), error.message));
    }
    rows.push(("Failures", failed, result.failures.above_limit));
    let audits = result.audits.iter().filter(|audit| audit.verdict == Verdict::Violated);
    for audit in audits.take(1) {
        rows.push(("Audit", format!("{}: {}", audit.title, audit.words), true));
    }
    if let Some(steadiness) = judged_steadiness(result) {
        let first = steadiness.words.split(DOT).next().unwrap_or_default();
        // Of a window that is too short, what to do says more than why.
        let short = steadiness.verdict == Steady::TooShort;
        let first = steadiness.next.as_deref().filter(|_| short).unwrap_or(first);
        rows.push((STEADINESS, format!("{} — {first}", steady(steadiness.verdict)), false));
    } else if let Some(why) = not_judged(result) {
        rows.push((STEADINESS, why, false));
    }
    rows.push((LIMITED_BY, result.bottleneck.title(), false));
    rows.extend(first_warning(result));
    let hidden = result.observed.as_ref().and_then(observed::hidden);
    rows.extend(hidden.map(|hidden| (observed::NOT_OBSERVED, hidden, false)));
    rows
}

/// Number of warnings, and the first.
fn first_warning(result: &RunResult) -> Option<(&'static str, String, bool)> {
    let first = result.warnings.first()?;
    let count = counted(result.warnings.len() as u64, "warnings");
    Some(("Warnings", format!("{count}; the first: {}", first.text), false))
}

/// Title of the section on audits.
pub(super) const AUDITS: &str =
    "Audits of the whole run: changes in the data against the client's own sums";

/// The audits: verdict, and equation with its sums.
pub(super) fn audits(result: &RunResult) -> impl Iterator<Item = (Verdict, String)> {
    result.audits.iter().map(|audit| (audit.verdict, format!("{}: {}", audit.title, audit.words)))
}

/// Title of the section on requirements.
pub(super) const REQUIREMENTS: &str = "Requirements";

/// The requirements: whether each passed, and its value with the distance from the limit.
pub(super) fn requirements(result: &RunResult) -> impl Iterator<Item = (bool, [String; 3])> {
    result.requirements.iter().map(|judged| {
        let value = judged.value.map_or_else(|| "none".to_owned(), |v| in_unit(judged.unit, v));
        (judged.passed, [judged.requirement.clone(), value, distance(judged)])
    })
}

/// Formats the outcome of a requirement: `pass` or `FAIL`.
pub(super) const fn verdict(passed: bool) -> &'static str {
    if passed { "pass" } else { "FAIL" }
}

/// Formats the distance from the limit: `2.3 ms (23 %) above`.
pub(super) fn distance(judged: &Judgement) -> String {
    let Some(difference) = judged.difference else {
        return "not measured in this run".to_owned();
    };
    if difference.abs() < f64::EPSILON {
        return "at the limit".to_owned();
    }
    let side = if difference > 0.0 { "above" } else { "below" };
    let by = in_unit(judged.unit, difference.abs());
    match judged.limit {
        limit if limit > 0.0 => format!("{by} ({}) {side}", percent(difference.abs() / limit)),
        _ => format!("{by} {side}"),
    }
}

/// Formats a value of a requirement in its unit.
pub(super) fn in_unit(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Number => figure(value),
        Unit::Share => percent(value),
        Unit::Us => format!("{} ms", milliseconds(value)),
    }
}

/// Title of the table of slices.
pub(super) const SLICES: &str =
    "The window in slices: response time of committed transactions, all types, in ms";

/// The table of slices of the window; `None` if there is only one.
pub(super) fn slices(result: &RunResult) -> Option<Table> {
    let slices = &result.slices;
    if slices.len() < 2 {
        return None;
    }
    let head = ["from", "per min", "mean", "p50", "p95", "p99", "max", "failed"];
    let mut table = Table::new(1, &head);
    for slice in slices {
        let (total, times) = (&slice.total, &slice.total.response);
        table.row(vec![
            clock(slice.start_s),
            figure(total.per_minute),
            milliseconds(times.mean_us),
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
pub(super) const STATEMENTS: &str = "Statements over the whole run, in ms";
/// Maximum number of statements that a report shows.
const STATEMENTS_SHOWN: usize = 100;
/// Maximum length of a statement in a report, in characters.
const STATEMENT_LENGTH: usize = 40;

/// Times of the statements of scripts.
pub(super) fn statements(result: &RunResult) -> Option<Table> {
    if result.statements.is_empty() {
        return None;
    }
    let mut table =
        Table::new(2, &["script", "statement", "line", "runs", "failed", "mean", "max"]);
    for seen in result.statements.iter().take(STATEMENTS_SHOWN) {
        let text = one_line(&seen.text);
        let shown = match text.char_indices().nth(STATEMENT_LENGTH) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.into_owned(),
        };
        table.row(vec![
            seen.transaction.clone(),
            shown,
            integer(seen.line as u64),
            integer(seen.runs),
            integer(seen.failures),
            milliseconds(seen.mean_us),
            milliseconds(seen.max_us),
        ]);
    }
    Some(table)
}

/// Label of the bottleneck.
pub(super) const LIMITED_BY: &str = "Limited by";

/// `the network — 1.00 round trips of 10.2 ms are 91 % of the mean service time of 11.2 ms`.
pub(super) fn bottleneck(result: &RunResult) -> String {
    format!("{} — {}", result.bottleneck.title(), result.bottleneck.words)
}

/// Label of the steadiness.
pub(super) const STEADINESS: &str = "Steadiness";

/// The steadiness of the window; `None` if it had no seconds or steadiness does not apply.
pub(super) fn judged_steadiness(result: &RunResult) -> Option<&Steadiness> {
    result.steadiness.as_ref().filter(|steadiness| steadiness.seconds > 0)
}

/// Why steadiness was not judged, of a run that had a window.
pub(super) fn not_judged(result: &RunResult) -> Option<String> {
    let is_changing = result.steadiness.is_none() && result.spec.load.changes();
    is_changing.then(|| "not judged, because the load itself changes".to_owned())
}

/// Formats the steadiness: `steady — the mean is known to ± 0.52 % (95 %) · seconds vary by 3.1 % ·
/// …`.
pub(super) fn steadiness(of: &Steadiness) -> String {
    format!("{} — {}", steady(of.verdict), of.words)
}

/// Name of a verdict.
pub(super) const fn steady(verdict: Steady) -> &'static str {
    match verdict {
        Steady::Steady => "steady",
        Steady::Drifting => "drifting",
        Steady::TooShort => "too short to say",
    }
}

/// The table of transactions by type and outcome.
pub(super) fn counts(figures: &Figures) -> Table {
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
pub(super) fn times(figures: &Figures, read: fn(&TypeFigures) -> &Times) -> Table {
    let mut table = Table::new(1, &["", "min", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"]);
    for seen in rows(figures) {
        table.row(times_cells(&seen.title, read(seen)));
    }
    table
}

/// Title of the table of the percentiles' intervals.
pub(super) const INTERVALS: &str = "95 % intervals of these percentiles, in ms";

/// The table of the response time percentiles' intervals; `None` if there are none.
pub(super) fn intervals(figures: &Figures) -> Option<Table> {
    let mut table = Table::new(1, &["", "p50", "p90", "p95", "p99", "p99.9"]);
    let cell = |interval: Option<Interval>| {
        interval.map_or("-".to_owned(), |Interval { low, high }| {
            format!("{}–{}", milliseconds(low), milliseconds(high))
        })
    };
    let mut known = false;
    for seen in rows(figures) {
        let intervals = seen.response_intervals.all();
        known |= intervals.iter().any(Option::is_some);
        table.row([seen.title.clone()].into_iter().chain(intervals.map(cell)).collect());
    }
    known.then_some(table)
}

/// Formats a row of a table of times.
pub(super) fn times_cells(title: &str, times: &Times) -> Vec<String> {
    let mut cells = vec![title.to_owned()];
    if times.count == 0 {
        cells.extend((0..8).map(|_| "-".to_owned()));
    } else {
        cells.extend([whole_milliseconds(times.min_us), milliseconds(times.mean_us)]);
        cells.extend(
            [times.p50_us, times.p90_us, times.p95_us, times.p99_us]
                .into_iter()
                .chain([times.p99_9_us, times.max_us])
                .map(whole_milliseconds),
        );
    }
    cells
}

/// All types, and their total if there are several.
fn rows(figures: &Figures) -> impl Iterator<Item = &TypeFigures> {
    let total = (figures.types.len() > 1).then_some(&figures.total);
    figures.types.iter().chain(total)
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of at most an hour")]
fn whole_milliseconds(us: u64) -> String {
    milliseconds(us as f64)
}

/// Explains response and service times, and whether they differ.
pub(super) fn times_note(result: &RunResult) -> &'static str {
    if result.spec.load.is_closed() {
        "Closed load: a user's next transaction is due when the previous one ends, so response \
         time equals service time; both include retries."
    } else {
        "Response time is measured from when a transaction was due, service time from its first \
         attempt; both include retries."
    }
}

/// The part of the run that tables show, with its heading: the window, or the whole run if there
/// was no window.
pub(super) fn shown(result: &RunResult) -> (&Figures, String) {
    if result.durations.window_s > 0.0 {
        let heading = format!("Transactions in the window of {}", duration(result.window.seconds));
        (&result.window, heading)
    } else {
        let whole = duration(result.run.seconds);
        (
            &result.run,
            format!("Transactions in the whole run of {whole}: there was no timed window"),
        )
    }
}

/// The first error of each kind: transaction type, class, count, message.
pub(super) fn errors(result: &RunResult) -> Vec<[String; 4]> {
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

/// The conditions under which the figures were measured: name and text.
pub(super) fn conditions(result: &RunResult) -> Vec<(&'static str, String)> {
    if let Some(set) = &result.queries {
        return conditions_of_queries(result, set);
    }
    let mut conditions = vec![
        ("Outcome", outcome(result)),
        ("Whole run", identity(result)),
        ("Client", client(result)),
        ("Target", result.target.to_string()),
        ("Server", server(result)),
        ("Workload", workload(result)),
        ("Load", driven(result)),
        ("Time", time(result)),
        ("Host", host(&result.host)),
    ];
    if let Some(streams) = &result.query_streams {
        conditions.insert(1, ("Queries", query_streams::outcome(streams).join(DOT)));
    }
    if let Some(arrivals) = load::arrivals(result) {
        conditions.insert(1, ("Arrivals", arrivals));
    }
    if let Some(figures) = declared(&result.figures) {
        conditions.insert(1, ("Figures", figures));
    }
    conditions
}

/// The same of a set of queries.
fn conditions_of_queries(result: &RunResult, set: &QueriesResult) -> Vec<(&'static str, String)> {
    let isolation = match result.spec.isolation {
        Some(level) => format!("isolation {}", level.name()),
        None => "the database's default isolation".to_owned(),
    };
    let mut driven = vec![
        queries::work(set),
        format!("{} protocol", result.spec.protocol.name()),
        isolation,
        format!("seed {}", result.spec.seed),
    ];
    for (name, words) in
        [("dop", "degree of parallelism"), ("engine-memory", "engine memory limit")]
    {
        let given = result.settings.iter().find(|setting| setting.name == name);
        driven.extend(given.map(|setting| format!("{words} {}", setting.value)));
    }
    driven
        .extend(set.engine_memory_bytes.map(|most| format!("engine memory up to {}", bytes(most))));
    let mut outcome = vec![result.status.name().to_owned(), queries::outcome(set)];
    if result.sessions.lost > 0 {
        let lost = counted(result.sessions.lost, "sessions");
        outcome.push(format!("{lost} lost, {} reconnected", integer(result.sessions.reconnected)));
    }
    let whole = duration(result.durations.whole_s);
    vec![
        ("Outcome", outcome.join(DOT)),
        ("Target", result.target.to_string()),
        ("Server", server(result)),
        ("Workload", workload(result)),
        ("Load", driven.join(DOT)),
        ("Time", format!("started {}{DOT}whole run {whole}", moment(&result.started_at))),
        ("Client", format!("{} {}", result.tool.name, result.tool.version)),
        ("Host", host(&result.host)),
    ]
}

/// Formats the declared figures; `None` if nothing was measured.
fn declared(figures: &[DeclaredFigure]) -> Option<String> {
    let one = |it: &DeclaredFigure| Some(format!("{} {}", it.title, in_unit(it.unit, it.value?)));
    let all: Vec<String> = figures.iter().filter_map(one).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// Formats the counting identity of the whole run.
fn identity(result: &RunResult) -> String {
    let total = &result.run.total;
    format!(
        "{} started = {} committed + {} rolled back + {} failed + {} in doubt + {} in flight",
        integer(total.started.unwrap_or(0)),
        integer(total.committed),
        integer(total.rolled_back),
        integer(total.failed),
        integer(total.indeterminate),
        integer(total.in_flight.unwrap_or(0)),
    )
}

/// Formats `0.2 % failed or in doubt (limit 1 %)`.
pub(super) fn failures(result: &RunResult) -> String {
    format!(
        "{} failed or in doubt (limit {})",
        percent(result.failures.share),
        percent(result.failures.limit)
    )
}

fn outcome(result: &RunResult) -> String {
    let mut parts = vec![result.status.name().to_owned(), failures(result)];
    if result.sessions.lost > 0 {
        let lost = counted(result.sessions.lost, "sessions");
        parts.push(format!("{lost} lost, {} reconnected", integer(result.sessions.reconnected)));
    }
    parts.join(DOT)
}

fn client(result: &RunResult) -> String {
    let client = &result.client;
    let threads = match client.threads.len() {
        1 => "its thread".to_owned(),
        several => format!("the busiest of {several} threads"),
    };
    [
        format!(
            "{} µs of CPU per transaction{}",
            figure(client.cpu_us_per_transaction),
            whose(client)
        ),
        format!("{threads} used {} of a core", percent(client.busiest_share)),
        format!("{} round trips per transaction", figure(result.round_trips.per_transaction)),
        format!("{} {}", result.tool.name, result.tool.version),
    ]
    .join(DOT)
}

/// Note on the CPU time if it is not that of the whole process.
const fn whose(client: &ClientCost) -> &'static str {
    match client.process_cpus {
        Some(_) => "",
        None => ", of its worker threads only",
    }
}

fn server(result: &RunResult) -> String {
    let server = &result.server;
    let mut parts = vec![format!("{} {}", server.product, server.version).trim().to_owned()];
    parts.push(server.transport.clone());
    match &server.cipher {
        Some(cipher) => parts.push(cipher.clone()),
        None if server.transport.starts_with("tcp") => parts.push("no TLS".to_owned()),
        None => {}
    }
    match server.same_host {
        Some(true) if server.transport != "in process" => {
            parts.push("on the client's host: they share its CPUs".to_owned());
        }
        Some(false) => parts.push("on another host".to_owned()),
        _ => {}
    }
    parts.retain(|part| !part.is_empty());
    parts.join(DOT)
}

fn workload(result: &RunResult) -> String {
    let workload = &result.workload;
    let mut parts = vec![format!("{} version {}", workload.name, workload.version)];
    parts.extend(format::size(workload.scale, &workload.scale_unit));
    parts.extend(workload.facts.iter().map(|(name, value)| format!("{name} {value}")));
    parts.join(DOT)
}

fn driven(result: &RunResult) -> String {
    format!("{}{DOT}{}", load::workers(result), conduct(&result.spec))
}

/// Formats mode, protocol, isolation, attempts and seed.
pub(super) fn conduct(spec: &RunSpec) -> String {
    let isolation = match spec.isolation {
        Some(level) => format!("isolation {}", level.name()),
        None => format!("{DATABASE_DEFAULT} isolation"),
    };
    [
        spec.mode.name().to_owned(),
        format!("{} protocol", spec.protocol.name()),
        isolation,
        format!("up to {}", counted(u64::from(spec.retry.attempts), "attempts")),
        format!("seed {}", spec.seed),
    ]
    .join(DOT)
}

fn time(result: &RunResult) -> String {
    let durations = &result.durations;
    let window = match result.spec.length {
        Length::Time(longest) if result.steadiness.as_ref().is_some_and(Steadiness::is_reached) => {
            let window = duration(durations.window_s);
            format!("window {window} of {} at most", format_duration(longest))
        }
        Length::Time(asked) if durations.window_s < asked.as_secs_f64() => {
            format!("window {} of {}", duration(durations.window_s), format_duration(asked))
        }
        Length::Time(_) => format!("window {}", duration(durations.window_s)),
        Length::Transactions(each) => format!(
            "window {} for {} of each user",
            duration(durations.window_s),
            counted(each, "transactions")
        ),
    };
    [
        format!("started {}", moment(&result.started_at)),
        format!("ramp-up {}", duration(durations.rampup_s)),
        window,
        format!("whole run {}", duration(durations.whole_s)),
    ]
    .join(DOT)
}

/// Formats `2026-05-09T07:29:52Z` as `2026-05-09 07:29:52 UTC`.
pub(super) fn moment(rfc3339: &str) -> String {
    let whole = rfc3339.split(['.', 'Z']).next().unwrap_or(rfc3339);
    format!("{} UTC", whole.replacen('T', " ", 1))
}

pub(super) fn host(host: &Host) -> String {
    let parts = [
        host.cpu.clone(),
        host.cores.map(|cores| counted(u64::from(cores), "cores")),
        host.memory_bytes.map(bytes),
        Some(host.os.clone()),
        host.kernel.as_ref().map(|kernel| format!("kernel {kernel}")),
        Some(host.architecture.clone()),
        host.governor.as_ref().map(|governor| format!("governor {governor}")),
    ];
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(DOT)
}

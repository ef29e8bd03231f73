//! The conditions under which a run was measured, and its counts.

use triphammer_core::clock::format_duration;
use triphammer_core::pace::{Load, PlannedChange};
use triphammer_core::session::{Pipelining, ServerInfo};
use triphammer_core::spec::{Length, RunSpec};
use triphammer_document::host::Host;
use triphammer_document::result::{
    ClientCost, DeclaredFigure, QueriesResult, RunResult, Steadiness,
};
use triphammer_settings::DATABASE_DEFAULT;
use triphammer_settings::format::{self, bytes, counted, duration, figure, integer, percent};

use super::{failures, host, in_unit, moment};
use crate::lines::DOT;
use crate::{load, queries, query_streams};

/// The conditions under which the figures were measured: name and text.
pub(crate) fn conditions(result: &RunResult) -> Vec<(&'static str, String)> {
    if let Some(set) = &result.queries {
        return conditions_of_queries(result, set);
    }
    let mut conditions = vec![
        ("Outcome", outcome(result)),
        ("Whole run", identity(result)),
        ("Client", client(result)),
        ("Target", result.target.to_string()),
        ("Server", server(&result.server)),
        ("Workload", workload(result)),
        ("Load", driven(result)),
        ("Time", time(result)),
        ("Host", host(&result.host)),
    ];
    conditions.extend(topology(&result.host));
    conditions.extend(state(result));
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
    let mut conditions = vec![
        ("Outcome", outcome.join(DOT)),
        ("Target", result.target.to_string()),
        ("Server", server(&result.server)),
        ("Workload", workload(result)),
        ("Load", driven.join(DOT)),
        ("Time", format!("started {}{DOT}whole run {whole}", moment(&result.started_at))),
        ("Client", format!("{} {}", result.tool.name, result.tool.version)),
        ("Host", host(&result.host)),
    ];
    conditions.extend(topology(&result.host));
    conditions.extend(state(result));
    conditions
}

/// How the CPUs and the memory of the host are arranged, if that is known.
fn topology(host: &Host) -> Option<(&'static str, String)> {
    let topology = host.topology.as_ref()?;
    let mut parts = vec![topology.words(), topology.cache_words()];
    parts.extend(topology.node_words());
    parts.retain(|part| !part.is_empty());
    Some(("Topology", parts.join(DOT)))
}

/// The state of the data at the start of the run, and how it was brought about.
fn state(result: &RunResult) -> Vec<(&'static str, String)> {
    let Some(state) = &result.state else { return Vec::new() };
    let size = state.size_words.clone().map(|words| ("State", words));
    let before = state.preparation_words.iter().map(|words| ("Before", words.clone()));
    size.into_iter().chain(before).collect()
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

/// Formats a server, and how it was reached.
pub(crate) fn server(server: &ServerInfo) -> String {
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

/// What of a transaction shares a round trip; `None` for nothing.
const fn pipelining(pipelining: Pipelining) -> Option<&'static str> {
    match pipelining {
        Pipelining::Off => None,
        Pipelining::Begin => Some("BEGIN pipelined"),
        Pipelining::On => Some("BEGIN and COMMIT pipelined"),
    }
}

/// Formats mode, protocol, pipelining, isolation, attempts and seed.
pub(crate) fn conduct(spec: &RunSpec) -> String {
    let isolation = match spec.isolation {
        Some(level) => format!("isolation {}", level.name()),
        None => format!("{DATABASE_DEFAULT} isolation"),
    };
    let mut parts = vec![spec.mode.name().to_owned(), format!("{} protocol", spec.protocol.name())];
    parts.extend(spec.pacing.changes.iter().map(PlannedChange::to_string));
    parts.extend(pipelining(spec.pipelining).map(str::to_owned));
    parts.extend([
        isolation,
        format!("up to {}", counted(u64::from(spec.retry.attempts), "attempts")),
        format!("seed {}", spec.seed),
    ]);
    parts.join(DOT)
}

fn time(result: &RunResult) -> String {
    let durations = &result.durations;
    let is_replay = matches!(result.spec.load, Load::Replay(_)) || result.replay.is_some();
    let window = match result.spec.length {
        Length::Time(longest) if result.steadiness.as_ref().is_some_and(Steadiness::is_reached) => {
            let window = duration(durations.window_s);
            format!("window {window} of {} at most", format_duration(longest))
        }
        Length::Time(asked) if durations.window_s < asked.as_secs_f64() => {
            format!("window {} of {}", duration(durations.window_s), format_duration(asked))
        }
        Length::Time(_) => format!("window {}", duration(durations.window_s)),
        Length::Transactions(number) => format!(
            "window {} for {} of {}",
            duration(durations.window_s),
            counted(number, "transactions"),
            if is_replay { "the recording" } else { "each user" }
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

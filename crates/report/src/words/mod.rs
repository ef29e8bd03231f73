//! The contents of all report formats: tables and sentences from a result.

mod answers;
mod conditions;
mod tables;
mod verdicts;

use triphammer_core::session::ServerInfo;
use triphammer_document::host::Host;
use triphammer_document::measure::{Measure, Throughput};
use triphammer_document::parts::WorkloadFacts;
use triphammer_document::result::{Figures, RunResult};
use triphammer_settings::format::{self, bytes, counted, duration, figure};

use super::load;
use super::queries;
use super::query_streams;

pub(super) use answers::{ANSWERS, answer_tables, answers, share, unread};
pub(super) use conditions::{conditions, conduct, server};
pub(super) use tables::{
    INTERVALS, SLICES, STATEMENTS, counts, errors, intervals, shortened, slices, statements, times,
    times_note,
};
pub(super) use verdicts::{
    ANOTHER, AUDITS, LIMITED_BY, PAUSE, REQUIREMENTS, STEADINESS, audits, bottleneck, failures,
    in_short, in_unit, judged_steadiness, not_judged, requirements, steadiness, verdict,
    verification,
};

use crate::lines::DOT;

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
    let ratio = result.tpm_ratio.filter(|_| timed);
    let ratio = ratio.map(|ratio| format!("{ratio:.2} per {}", primary_metric.name));
    let client = match ratio.as_ref().filter(|_| result.tpm_server.is_none()) {
        Some(ratio) => format!("of all types completed {per}, {ratio}"),
        None => format!("transactions of all types completed {per}"),
    };
    rows.push([format!("{name} (client)"), shown(result.tpm_client * of_minute), client]);
    if let Some(tpm) = result.tpm_server {
        let server = match &ratio {
            Some(ratio) => format!("{per}, counted by the database, {ratio}"),
            None => format!("transactions {per}, counted by the database"),
        };
        rows.push([format!("{name} (server)"), figure(tpm * of_minute), server]);
    }
    let streams = result.query_streams.iter();
    rows.extend(streams.flat_map(|of| query_streams::figures(&primary_metric.name, of)));
    rows
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

//! The parts of reports about open and keyed loads, and about the slowest transactions.

use triphammer_core::outcome::Outcome;
use triphammer_core::pace::Load;
use triphammer_core::spec::Sessions;
use triphammer_document::result::{Efficiency, RunResult};
use triphammer_settings::format::{clock, counted, figure, integer, milliseconds, origin, percent};

use super::table::Table;
use crate::lines::{DOT, TIMES, times_cells};

/// Heading of the table of waits.
pub(super) const WAITS: &str = "Wait for a session, from when a transaction was due to its first \
                                attempt, in ms";
/// Heading of the table of the slowest transactions.
pub(super) const SLOWEST: &str = "Slowest transactions of the window, in ms";

/// The table of waits for a session, of all types together; `None` for a closed load.
pub(super) fn waits(result: &RunResult) -> Option<Table> {
    let times = result.pool_wait.as_ref()?;
    let mut table = Table::new(1, &TIMES);
    table.row(times_cells("All", times));
    Some(table)
}

/// The table of the slowest transactions, numbered as for `--replay-exemplar`.
pub(super) fn slowest(result: &RunResult) -> Option<Table> {
    if result.exemplars.is_empty() {
        return None;
    }
    let head = ["", "transaction", "origin", "outcome", "ended", "response", "service", "attempts"];
    let mut table = Table::new(4, &head);
    let title = |name: &str| {
        let seen = result.run.types.iter().find(|seen| seen.name == name);
        seen.map_or(name, |seen| seen.title.as_str()).to_owned()
    };
    for (number, slow) in (1..).zip(&result.exemplars) {
        table.row(vec![
            integer(number),
            title(&slow.transaction),
            origin(slow.origin),
            outcome(slow.outcome),
            clock(slow.finished_s),
            whole_milliseconds(slow.response_us),
            whole_milliseconds(slow.service_us),
            integer(u64::from(slow.attempts)),
        ]);
    }
    Some(table)
}

fn outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Committed => "committed".to_owned(),
        Outcome::RolledBack => "rolled back".to_owned(),
        Outcome::Failed(class) => format!("failed: {}", class.label()),
        Outcome::Indeterminate => "in doubt".to_owned(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of at most a run")]
fn whole_milliseconds(us: u64) -> String {
    milliseconds(us as f64)
}

/// Formats the counts of the arrivals of an open load, and the maximum backlog.
pub(super) fn arrivals(result: &RunResult) -> Option<String> {
    let arrivals = result.arrivals.as_ref()?;
    let most = result.backlog_max.filter(|most| *most > 0);
    let most = most.map_or(String::new(), |most| format!("{DOT}backlog up to {}", integer(most)));
    Some(format!(
        "{} offered = {} started + {} skipped + {} never started{most}",
        integer(arrivals.offered),
        integer(arrivals.started),
        integer(arrivals.skipped),
        integer(arrivals.never_started)
    ))
}

/// Name, value and description of the efficiency of a keyed load.
pub(super) fn efficiency(result: &RunResult) -> Option<[String; 3]> {
    let Efficiency { maximum, share } = result.efficiency?;
    let (most, terminals) = (figure(maximum), users(result));
    let meaning = format!("of the {most} that keying and thinking times allow {terminals}");
    Some(["Efficiency".to_owned(), percent(share), meaning])
}

/// Formats virtual users, sessions and threads.
pub(super) fn workers(result: &RunResult) -> String {
    let spec = &result.spec;
    let users = u64::from(spec.users);
    let mut parts = vec![spec.load.to_string()];
    let threads = counted(u64::from(spec.threads), "threads");
    parts.push(match (&spec.load, spec.pacing.sessions) {
        (load, _) if load.is_open() => format!("{} on {threads}", counted(users, "sessions")),
        (Load::Replay(_), _) => format!("{} on {threads}", counted(users, "sessions")),
        (load, _) if load.is_closed() => {
            format!("{} on {threads}", counted(users, "virtual users"))
        }
        (_, Sessions::Own) => {
            format!("{} with a session each on {threads}", counted(users, "terminals"))
        }
        (_, Sessions::Pool(sessions)) => format!(
            "{} over {} on {threads}",
            counted(users, "terminals"),
            counted(u64::from(sessions), "sessions")
        ),
    });
    if spec.load.is_open() {
        parts.push(format!("late arrivals: {}", spec.pacing.late));
        parts.push(format!("backlog of {}", integer(spec.pacing.backlog)));
    }
    parts.join(DOT)
}

/// Formats `16 virtual users`, `64 sessions` or `10,000 terminals`.
pub(super) fn users(result: &RunResult) -> String {
    if let Some(set) = &result.queries {
        return counted(set.streams.into(), "streams");
    }
    let load = &result.spec.load;
    let what = match () {
        () if load.is_open() || matches!(load, Load::Replay(_)) => "sessions",
        () if load.is_closed() => "virtual users",
        () => "terminals",
    };
    let users = counted(u64::from(result.spec.users), what);
    match &result.query_streams {
        Some(streams) => format!("{users} + {}", counted(streams.streams.into(), "streams")),
        None => users,
    }
}

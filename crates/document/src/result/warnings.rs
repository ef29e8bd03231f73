//! Warnings to read before using the figures of a result, with advice.

use triphammer_settings::format::{counted, duration, integer, percent};

use super::bottleneck::Bottleneck;
use super::document::{RunResult, Warning};
use super::facts::{CounterSpan, RunFacts};
use super::hosts::HostShare;
use super::queries::QueriesResult;
use super::query_streams::QueryStreams;
use super::state::first_names;
use super::verification::Verdict;
use crate::doctor::{Line, SetupVerdict};
use crate::measure::Measure;
use crate::parts::{ServerTransactions, Status};

/// Kind of the engine's note that a worker thread did not end.
pub(super) const WORKER_LOST: &str = "worker_lost";
/// Share of missed arrivals that is tolerated, because the last ones may not be started in time.
const MISSED_MAX: f64 = 0.001;
/// Efficiency that chance does not explain.
const EFFICIENCY_MAX: f64 = 1.02;
/// Delay of counter readings, as a share of the window, above which there is a warning.
const STRAY_MAX: f64 = 0.05;
/// The server's counter is wrong if it differs from the client's by this factor.
const COUNTER_FACTOR: f64 = 1.2;
/// With fewer transactions than this, those of other sessions hide the difference.
const COUNTED_MIN: u64 = 100;
/// Maximum number of changed settings named.
const SETTINGS_NAMED: usize = 5;

/// Returns the warnings of a result, the most severe first.
pub(super) fn of(result: &RunResult, facts: &RunFacts) -> Vec<Warning> {
    let mut list = Vec::new();
    verification(result, &mut list);
    availability(result, &mut list);
    hosts(result, &mut list);
    match &result.queries {
        Some(set) => queries(set, &mut list),
        None => window(result, &mut list),
    }
    if let Some(streams) = &result.query_streams {
        query_streams(streams, &mut list);
    }
    arrivals(result, &mut list);
    efficiency(result, &mut list);
    failures(result, &mut list);
    client(result, &mut list);
    cores(result, &mut list);
    counters(result, &mut list);
    server(result, &facts.server_transactions, &mut list);
    state(result, &mut list);
    setup(&facts.setup, &mut list);
    if let Some(text) = &facts.workload_warning {
        warn(&mut list, "workload", text.clone(), "");
    }
    list
}

fn warn(list: &mut Vec<Warning>, kind: &str, text: String, next: &str) {
    let next = (!next.is_empty()).then(|| next.to_owned());
    list.push(Warning { kind: kind.to_owned(), text, next });
}

fn state(result: &RunResult, list: &mut Vec<Warning>) {
    let Some(state) = &result.state else { return };
    if let Some(restored) = state.restored.as_ref().filter(|of| of.is_equal == Some(false)) {
        let text = format!(
            "the state that was restored from {} is not that of the snapshot: {}",
            restored.from,
            first_names(&restored.different)
        );
        let next = "check what else writes to these tables; if nothing does, make a new snapshot";
        warn(list, "state", text, next);
    }
    if let Some(quiet) = state.quiet.as_ref().filter(|quiet| !quiet.is_quiet) {
        let left = quiet.waited_for.iter().filter(|work| work.is_left);
        let left: Vec<&str> = left.map(|work| work.name.as_str()).collect();
        let text = format!(
            "the server still worked in the background when the run began, after {}: {}",
            duration(quiet.limit_s),
            left.join(", ")
        );
        warn(list, "not_quiet", text, "give --until-quiet more time");
    }
}

fn setup(lines: &[Line], list: &mut Vec<Warning>) {
    for line in lines.iter().filter(|line| line.verdict == SetupVerdict::Wrong) {
        warn(list, "setup", line.trouble(), &line.change);
    }
}

fn verification(result: &RunResult, list: &mut Vec<Warning>) {
    let verification = &result.primary_metric.verification;
    if verification.verdict == Verdict::Violated {
        let next = if verification.database < i64::try_from(verification.committed).ok() {
            "check whether another program changed the data; if not, this database lost commits"
        } else {
            "check whether another program wrote to this schema during the run, and run again"
        };
        let text =
            format!("the {} is contradicted: {}", result.primary_metric.name, verification.words);
        warn(list, "verification", text, next);
    }
    for audit in result.audits.iter().filter(|audit| audit.verdict == Verdict::Violated) {
        let text = format!("{} is violated: {}", audit.title, audit.words);
        let next = "check whether another program wrote to these tables during the run; if not, \
                    this database lost or duplicated changes";
        warn(list, "audit", text, next);
    }
    for violated in &result.violated_identities {
        let text = format!("the client's counts contradict each other: {}", violated.words());
        let next = "this is a defect of triphammer: report it, and do not use the figures";
        warn(list, "identity", text, next);
    }
    if result.notes.iter().any(|note| note.kind == WORKER_LOST) {
        let text = "counts are missing: a worker thread did not end".to_owned();
        warn(list, "counts_missing", text, "see the notes; run again before using the figures");
    }
}

fn hosts(result: &RunResult, list: &mut Vec<Warning>) {
    for host in &result.hosts {
        if let Some(loss) = &host.loss {
            let text = format!(
                "{} was lost {} after the start, with {}: {}",
                host.name,
                duration(loss.at_s),
                counted(host.sessions.into(), "sessions"),
                loss.reason
            );
            let next = "its transactions in flight count as in doubt; run again for a figure of the \
                        whole load";
            warn(list, "host_lost", text, next);
        }
    }
    let is_client = |host: &&HostShare| {
        host.bottleneck.as_ref().is_some_and(|verdict| verdict.kind == Bottleneck::Client)
    };
    let full: Vec<_> = result.hosts.iter().filter(is_client).map(|host| &*host.name).collect();
    if !full.is_empty() && result.bottleneck.kind != Bottleneck::Client {
        let text = format!("the client was the bottleneck on {}", full.join(", "));
        warn(list, "host_full", text, "use more hosts, or give this one fewer other tasks");
    }
}

fn availability(result: &RunResult, list: &mut Vec<Warning>) {
    let seen = &result.availability;
    if let Some(gone) = seen.gone(result.spec.sessions()) {
        let text = format!("the database was not available when the run ended: {gone}");
        let next = "see the server's log and the notes, and run again: these figures are not a \
                    measurement";
        warn(list, "database_gone", text, next);
    }
    if seen.without_service_s > 0.0 {
        let text = format!(
            "no transaction completed in {} of the window; the figures include this time",
            duration(seen.without_service_s)
        );
        warn(
            list,
            "outage",
            text,
            "see the notes for the time, and the server's log for the reason",
        );
    }
    let unread = result.run.total.unread;
    if unread > 0 {
        let text = format!(
            "the database executed {}, but the answers could not be read",
            counted(unread, "transactions")
        );
        warn(list, "unread", text, "the errors show the answers; they count as failures");
    }
    let unconfirmed = result.run.total.unconfirmed;
    if unconfirmed > 0 {
        let text = format!(
            "the server committed {} without the confirmation of a standby that it was to wait for",
            counted(unconfirmed, "transactions")
        );
        let next = "they count as committed, but are lost if the server is; see the notes for its \
                    warning";
        warn(list, "unconfirmed", text, next);
    }
}

fn queries(set: &QueriesResult, list: &mut Vec<Warning>) {
    if let Some(first) = set.unanswered().next() {
        let count = set.unanswered().count();
        let text = format!(
            "{count} of {} were not answered; the first: {} {}",
            counted(set.steps.len() as u64, "queries"),
            first.place(),
            first.outcome.words()
        );
        let next = "figures that need them are not available; see the notes for the reasons";
        warn(list, "queries_unanswered", text, next);
    }
    let answers = &set.answers;
    if let Some(first) = answers.differences.first() {
        let text = format!(
            "{} of {} compared answers differ from the first answer to the same query: {first}",
            answers.differing, answers.compared
        );
        let next = "check whether another program changed the data; `check` compares answers with \
                    known ones";
        warn(list, "answers_differ", text, next);
    }
}

fn query_streams(streams: &QueryStreams, list: &mut Vec<Warning>) {
    if streams.away > 0 {
        let text = format!(
            "{} of {} ended without a connection",
            streams.away,
            counted(streams.streams.into(), "streams")
        );
        let next = "see the notes for the reason, and the server's limit on connections";
        warn(list, "streams_away", text, next);
    }
    if streams.unanswered() > 0 {
        let text = format!(
            "{} of the streams timed out or failed",
            counted(streams.unanswered(), "queries")
        );
        warn(list, "queries_unanswered", text, "see the notes for the reasons");
    } else if streams.in_window() == 0 {
        let text = "no query of the streams was answered in the timed window".to_owned();
        warn(list, "queries_none", text, "run with a longer --duration");
    }
}

fn window(result: &RunResult, list: &mut Vec<Warning>) {
    let durations = &result.durations;
    let asked = durations.window_asked_s.unwrap_or(durations.window_s);
    if durations.window_s <= 0.0 {
        let text = format!(
            "the run ended in its ramp-up, {} after its start: there is no timed window",
            duration(durations.whole_s)
        );
        warn(list, "window_short", text, "let the run finish, or use a shorter --rampup");
    } else if durations.window_s < asked {
        let text = format!(
            "the window was cut short: {} of {}",
            duration(durations.window_s),
            duration(asked)
        );
        let next = match result.status {
            Status::Interrupted | Status::Aborted => "treat the figures as those of a shorter run",
            Status::Complete => "the workload had no more work",
            Status::Failed => "see the failures and notes for the reason",
        };
        warn(list, "window_short", text, next);
    }
    if durations.window_s > 0.0 && result.window.total.completed == 0 {
        let text = "no transaction completed in the timed window".to_owned();
        warn(list, "no_transactions", text, "see the failures and notes for the reason");
    }
    let rolled_back = result.window.total.rolled_back;
    if result.primary_metric.count == 0 && rolled_back > 0 {
        let text = format!(
            "none of the {} transactions that completed counts for {}: {} were rolled back",
            integer(result.window.total.completed),
            result.primary_metric.name,
            integer(rolled_back)
        );
        let next =
            "check the data: `triphammer check` after a new build tells whether rows are missing";
        warn(list, "nothing_counted", text, next);
    }
    let saturated = result.run.total.saturated;
    if saturated > 0 {
        let text = format!("times longer than a year count as one year: {}", integer(saturated));
        warn(list, "saturated", text, "");
    }
}

fn failures(result: &RunResult, list: &mut Vec<Warning>) {
    let failures = &result.failures;
    if failures.above_limit {
        let text = format!(
            "{} of the transactions failed{} in doubt, more than the {} allowed",
            percent(failures.share),
            if result.run.total.unread > 0 { ", could not be read or are" } else { " or are" },
            percent(failures.limit)
        );
        let next =
            "see the errors; --max-failures sets the limit, --retries the number of attempts";
        warn(list, "failures", text, next);
    }
}

fn arrivals(result: &RunResult, list: &mut Vec<Warning>) {
    let Some(arrivals) = result.arrivals.filter(|a| a.missed_share() > MISSED_MAX) else { return };
    let text = format!(
        "{} of {} arrivals were skipped or never started ({}): the times cover only the others",
        integer(arrivals.skipped + arrivals.never_started),
        integer(arrivals.offered),
        percent(arrivals.missed_share())
    );
    let next = "the database does not keep up with this load: lower the rate, or use more sessions \
                (--vus) if it is not busy";
    warn(list, "arrivals", text, next);
}

fn efficiency(result: &RunResult, list: &mut Vec<Warning>) {
    let Some(efficiency) = result.efficiency.filter(|e| e.share > EFFICIENCY_MAX) else { return };
    let text = format!(
        "the {} is {} of the maximum that keying and thinking times allow: terminals that logged \
         in together act in waves at first",
        result.primary_metric.name,
        percent(efficiency.share)
    );
    warn(list, "efficiency", text, "ramp up for several minutes: --rampup 5m");
}

fn client(result: &RunResult, list: &mut Vec<Warning>) {
    if result.tool.debug_build {
        let text = "this client is a debug build: it uses many times the CPU time of a release \
                    build";
        warn(list, "debug_build", text.to_owned(), "build it with cargo build --release");
    }
}

/// Work that a host did not spread over its CPUs: the mean of all of them hides what limits.
fn cores(result: &RunResult, list: &mut Vec<Warning>) {
    for map in result.observed.iter().flat_map(|observed| &observed.cores) {
        if let Some(balance) = map.uneven() {
            let text = format!("the CPUs of {} worked unevenly: {}", map.of_host(), balance.words);
            warn(list, "cores_uneven", text, balance.advice.as_deref().unwrap_or_default());
        }
    }
}

fn counters(result: &RunResult, list: &mut Vec<Warning>) {
    for seen in &result.window.types {
        let Some(counter) =
            seen.counter.as_ref().filter(|counter| counter.share > counter.warn_above)
        else {
            continue;
        };
        let text = format!(
            "{}: {} {} of {} ({}), more than the normal {}",
            seen.title,
            integer(counter.count),
            counter.title,
            integer(counter.possible),
            percent(counter.share),
            percent(counter.warn_above)
        );
        let next = format!(
            "the data can no longer sustain this load: rebuild it, or build with more {}",
            result.workload.scale_unit
        );
        warn(list, "counter", text, &next);
    }
}

/// The counter differs from what the client completed by far, and it is known why it may.
fn counter_errors(result: &RunResult, counter: &CounterSpan, list: &mut Vec<Warning>) {
    let Some(ServerTransactions { count: rise, seconds }) = result.server_transactions else {
        return;
    };
    let (completed, errors) = (result.window.total.completed, &counter.errors);
    if completed < COUNTED_MIN {
        return;
    }
    #[expect(clippy::cast_precision_loss, reason = "transactions of a run")]
    let ratio = rise as f64 / completed as f64;
    // Either reading may be late by as much.
    let stray = counter.late_s / seconds;
    let shown = Measure::stored(&result.primary_metric.per).throughput();
    let name = shown.map_or("TPM", |throughput| throughput.name);
    let next = format!("use {name} (client)");
    let rose = format!(
        "the server's counter rose by {} while the client completed {}",
        integer(rise),
        counted(completed, "transactions")
    );
    if !errors.lacks.is_empty() && ratio + stray < 1.0 / COUNTER_FACTOR {
        let text = format!("{name} (server) is too low: {rose}; {}", errors.lacks);
        warn(list, "server_counter_lacks", text, &next);
    }
    // What was done before the window is counted in it if it was reported late.
    let causes: Vec<_> =
        [&*errors.adds, &*errors.lacks].into_iter().filter(|c| !c.is_empty()).collect();
    if !causes.is_empty() && ratio - stray > COUNTER_FACTOR {
        let causes = causes.join("; ");
        let text = format!(
            "{name} (server) may be too high: {rose}; it counts all clients of the server, {causes}"
        );
        warn(list, "server_counter_adds", text, &next);
    }
}

fn server(result: &RunResult, counter: &CounterSpan, list: &mut Vec<Warning>) {
    if counter.start > counter.end && counter.end.is_some() {
        let text = "the server's transaction counter went backwards: it was restarted or its \
                    statistics were reset";
        warn(list, "server_counter", text.to_owned(), "see the server's log");
    }
    let stray = result.server_transactions.map_or(0.0, |t| counter.late_s / t.seconds);
    if stray > STRAY_MAX {
        let shown = Measure::stored(&result.primary_metric.per).throughput();
        let name = shown.map_or("TPM", |throughput| throughput.name);
        let text = format!(
            "{name} (server) may be off by up to {}: sessions report to the counter up to {} late, and \
             the window has {}",
            percent(stray.min(1.0)),
            duration(counter.late_s),
            duration(result.durations.window_s)
        );
        let next = format!("use {name} (client), or a window of at least 20s");
        warn(list, "server_counter_late", text, &next);
    }
    counter_errors(result, counter, list);
    let changed = &result.settings_changed;
    if !changed.is_empty() {
        let named: Vec<&str> =
            changed.iter().take(SETTINGS_NAMED).map(|setting| setting.name.as_str()).collect();
        let more = match changed.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let text = format!("server settings changed during the run: {}{more}", named.join(", "));
        warn(list, "settings_changed", text, "do not change settings during a run, and run again");
    }
}

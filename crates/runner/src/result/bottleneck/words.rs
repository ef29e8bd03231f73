//! A verdict in words with figures, and what to do next.

use super::decide::Verdict;
use super::figures::{LimitFigures, TimeShares, whole};
use super::{Cause, Certainty};
use crate::measure::Evidence;
use crate::report::format::{counted, duration, figure, milliseconds, percent};

/// Why.
pub(super) fn of(verdict: Verdict, f: &LimitFigures, evidence: Evidence) -> String {
    let why = match verdict.cause {
        Cause::TooLittle => format!(
            "too little to judge by: {} in a window of {}",
            counted(f.committed, evidence.observed),
            duration(f.window_s)
        ),
        Cause::Unseen => format!(
            "the CPUs of the client's host were {} busy, and how much of that the server used cannot \
             be seen",
            percent(f.host_cpu_share.unwrap_or(0.0))
        ),
        Cause::Offered => format!(
            "it asked for no more: sessions were in a transaction {} of the time",
            percent(f.sessions_busy_share)
        ),
        Cause::FewUsers => few_users(f),
        Cause::Threads => threads(f),
        Cause::Lag => format!(
            "its threads took up what was ready {} late on average, of a mean service time of {}",
            time(f.lag_mean_us.unwrap_or(0.0)),
            time(f.mean_service_us)
        ),
        Cause::Starved => starved(f),
        Cause::Shared | Cause::OtherProcesses => host(f),
        Cause::RoundTrips => format!(
            "{} round trips of {} are {} of the mean service time of {}",
            figure(f.round_trips_per_transaction),
            time(whole(f.round_trip_us.unwrap_or(0))),
            percent(f.network_share.unwrap_or(0.0)),
            time(f.mean_service_us)
        ),
        Cause::Waits => waits(f),
        Cause::OwnCpus => format!(
            "its processes may use {} of {}, and {} of them were ready and waited on average",
            f.server_cpus_allowed.unwrap_or(0),
            counted(u64::from(f.host_cpus), "CPUs"),
            figure(f.server_waiting.unwrap_or(0.0))
        ),
    };
    match verdict.second.filter(|_| verdict.certainty == Certainty::Probable) {
        Some(second) => format!("{why}; it may also be {}", second.label()),
        None => why,
    }
}

fn few_users(f: &LimitFigures) -> String {
    let users = counted(u64::from(f.sessions), "sessions");
    match shares(f) {
        Some(shares) => format!("{users} left room for more: {shares}"),
        None => format!("{users} left room for more"),
    }
}

fn threads(f: &LimitFigures) -> String {
    let wait = f.busiest_thread_wait_share.filter(|wait| *wait >= 0.05);
    let waited = wait.map(|wait| format!(", and waited for a CPU {} of the time", percent(wait)));
    format!(
        "its busiest thread used {} of a core{}",
        percent(f.busiest_thread_share),
        waited.unwrap_or_default()
    )
}

fn starved(f: &LimitFigures) -> String {
    let allowed = match (f.client_cpus_allowed, f.host_cpus) {
        (Some(allowed), all) if allowed < all => {
            format!("it may use {allowed} of {}", counted(u64::from(all), "CPUs"))
        }
        _ => format!("it runs at nice {}", f.client_niceness),
    };
    format!(
        "{allowed}, and its busiest thread waited for one {} of the time",
        percent(f.busiest_thread_wait_share.unwrap_or(0.0))
    )
}

/// Who used its CPUs, and who waited for them.
fn host(f: &LimitFigures) -> String {
    let cpus = counted(u64::from(f.host_cpus), "CPUs");
    let who: Vec<String> = [
        ("client", f.client_cpus.or(Some(f.threads_cpus))),
        ("server", f.server_cpus.filter(|_| !f.in_process)),
        ("others", f.other_cpus),
    ]
    .into_iter()
    .filter_map(|(who, cpus)| Some(format!("{who} {}", figure(cpus?))))
    .collect();
    let waited = match (shares(f), f.threads_waiting) {
        (Some(shares), _) => format!("; {shares}"),
        (None, Some(waiting)) => format!("; {} threads waited for one", figure(waiting)),
        (None, None) => String::new(),
    };
    format!("of its {cpus} used {}{waited}", who.join(", "))
}

fn waits(f: &LimitFigures) -> String {
    if f.database_on_threads {
        let busiest = percent(f.busiest_thread_share);
        return format!("it works on the client's own threads, the busiest at {busiest} of a core");
    }
    if f.server_cpus.is_some() && !f.in_process {
        return format!("it waited, for locks or disks: {}", shares(f).unwrap_or_default());
    }
    // By elimination: says what was ruled out, and with which figures.
    let mut parts = vec![format!("busiest thread {} of a core", percent(f.busiest_thread_share))];
    if let Some(lag) = f.lag_p99_us {
        parts.push(format!("lag p99 {}", time(whole(lag))));
    }
    if let Some(share) = f.network_share {
        parts.push(format!("network {} of the service time", percent(share)));
    }
    if let Some(share) = f.host_cpu_share {
        parts.push(format!("host {} busy", percent(share)));
    }
    format!("nothing else was: {}", parts.join(", "))
}

/// Where a transaction's time went, the largest part first.
fn shares(f: &LimitFigures) -> Option<String> {
    let TimeShares { client_cpu, client_wait, server_cpu, server_wait, network, rest } = f.time?;
    let rest_name = if server_cpu.is_some() { "server waiting" } else { "server" };
    let mut parts = vec![
        ("client working", client_cpu),
        ("client without a CPU", client_wait),
        ("round trips", network),
        (rest_name, rest),
    ];
    if !f.in_process {
        parts.extend(server_cpu.map(|share| ("server working", share)));
        parts.extend(server_wait.map(|share| ("server without a CPU", share)));
    }
    parts.retain(|(_, share)| *share >= 0.005);
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let parts: Vec<String> =
        parts.iter().map(|(name, share)| format!("{name} {}", percent(*share))).collect();
    Some(format!("of a transaction's time {}", parts.join(", ")))
}

/// What to do next.
pub(super) fn advice(verdict: Verdict, f: &LimitFigures) -> &'static str {
    match verdict.cause {
        Cause::TooLittle => "run longer: --duration 1m",
        Cause::Unseen => "run the client on a host of its own",
        Cause::Offered => "the times are those of this load; ask for more of it to find the limit",
        Cause::FewUsers => "more --vus show what the database can do; `profile` tries several",
        Cause::Threads => {
            "more --threads, or a client host with more cores: the database can do more"
        }
        Cause::Lag => {
            "more --threads, or a client host with less else to do; until then the times are longer \
             than the database's"
        }
        Cause::Starved => "give the client more CPUs or a usual priority",
        Cause::Shared if f.database_on_threads => {
            "see what else runs here; if nothing does, this is what the database can do on these CPUs"
        }
        Cause::Shared if f.host_cpu_share.is_some_and(|share| share < super::HOST_FREE) => {
            "see whether a quota of CPU time holds client or server back (cgroup cpu.max)"
        }
        Cause::Shared => "run the client on another host: here it takes CPU from the server",
        Cause::OtherProcesses => "stop what else runs on this host, and run again",
        Cause::RoundTrips => {
            "fewer round trips (--mode procedures), a client nearer to the server, or more --vus"
        }
        Cause::Waits if f.database_on_threads => "look at the database: settings, statements, disk",
        Cause::Waits => {
            "look at the server: settings, waits, disk; more --vus show whether it can do more"
        }
        Cause::OwnCpus => "give the server more CPUs",
    }
}

/// `8.2 ms`.
fn time(us: f64) -> String {
    format!("{} ms", milliseconds(us))
}

//! The verdict in words with figures, and advice.

use triphammer_settings::format::{counted, duration, figure, milliseconds, percent};

use super::decide::Verdict;
use super::figures::{LimitFigures, TimeShares, whole};
use super::{Cause, Certainty};

/// Advice where checkpoints are frequent.
pub const SPACE_CHECKPOINTS: &str =
    "checkpoints are frequent: raise max_wal_size, or see what requests them";
/// Advice where other processes took the host's CPUs.
pub const STOP_OTHERS: &str = "stop other programs on this host, and run again";

/// What a reason names besides the figures; each cause that needs it has it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReasonDetails {
    /// What the run counts, such as transactions.
    pub observed: &'static str,
    /// Average number of the database's connections.
    pub connections: f64,
}

/// Reason in words, for people.
pub(super) fn of(verdict: Verdict, f: &LimitFigures, named: ReasonDetails) -> String {
    let why = match verdict.cause {
        Cause::TooLittle => format!(
            "too little to judge: {} in a window of {}",
            counted(f.committed, named.observed),
            duration(f.window_s)
        ),
        Cause::Unseen => format!(
            "the CPUs of the client's host were {} busy, but the server's share of that is unknown",
            percent(f.host_cpu_share.unwrap_or(0.0))
        ),
        Cause::Offered => format!(
            "it offered no more work: sessions were in a transaction {} of the time",
            percent(f.sessions_busy_share)
        ),
        Cause::FewUsers => few_users(f),
        Cause::Threads => threads(f),
        Cause::Lag => format!(
            "its threads handled what was ready {} late on average, with a mean service time of {}",
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
            "its processes may use {} of {}, and on average {} of them were ready but waited for a \
             CPU",
            f.server_cpus_allowed.unwrap_or(0),
            counted(u64::from(f.host_cpus), "CPUs"),
            figure(f.server_waiting.unwrap_or(0.0))
        ),
        Cause::Connections => format!(
            "{} sessions were in a transaction on average, and the database had {} connections: the \
             others waited for one, in a pooler",
            figure(f.in_transaction()),
            figure(named.connections)
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
        Some(shares) => format!("{users} did not load the database fully: {shares}"),
        None => format!("{users} did not load the database fully"),
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

/// Describes who used the CPUs, and who waited for them.
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
    format!("of its {cpus}, these were used: {}{waited}", who.join(", "))
}

fn waits(f: &LimitFigures) -> String {
    if f.database_on_threads {
        let busiest = percent(f.busiest_thread_share);
        return format!("it runs on the client's own threads, the busiest at {busiest} of a core");
    }
    if f.server_cpus.is_some() && !f.in_process {
        return format!("it waited for locks or disks: {}", shares(f).unwrap_or_default());
    }
    // By elimination: lists what was ruled out, with the figures.
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
    format!("no other bottleneck: {}", parts.join(", "))
}

/// Formats the breakdown of a transaction's time, the largest part first.
fn shares(f: &LimitFigures) -> Option<String> {
    let TimeShares { client_cpu, client_wait, server_cpu, server_wait, network, rest } = f.time?;
    let rest_name = if server_cpu.is_some() { "server waiting" } else { "server" };
    let mut parts = vec![
        ("client working", client_cpu),
        ("client waiting for a CPU", client_wait),
        ("round trips", network),
        (rest_name, rest),
    ];
    if !f.in_process {
        parts.extend(server_cpu.map(|share| ("server working", share)));
        parts.extend(server_wait.map(|share| ("server waiting for a CPU", share)));
    }
    parts.retain(|(_, share)| *share >= 0.005);
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut parts: Vec<String> =
        parts.iter().map(|(name, share)| format!("{name} {}", percent(*share))).collect();
    parts.first_mut()?.push_str(" of a transaction's time");
    Some(parts.join(", "))
}

/// What to do next, as advice to the user; `None` when there is nothing to do.
pub(super) fn advice(verdict: Verdict, f: &LimitFigures) -> &'static str {
    match verdict.cause {
        Cause::TooLittle => "run longer: --duration 1m",
        Cause::Unseen => "run the client on a separate host",
        Cause::Offered => "the times hold for this load; increase the load to find the limit",
        Cause::FewUsers => {
            "use more --vus to see what the database can do; `profile` tries \
                            several numbers"
        }
        Cause::Threads => {
            "use more --threads or a client host with more cores: the database can do more"
        }
        Cause::Lag => {
            "use more --threads or a less busy client host; until then the times are longer than \
             the database's own"
        }
        Cause::Starved => "give the client more CPUs or a normal priority",
        Cause::Shared if f.database_on_threads => {
            "check what else runs here; if nothing does, this is what the database can do on these \
             CPUs"
        }
        Cause::Shared if f.host_cpu_share.is_some_and(|share| share < super::HOST_FREE) => {
            "check whether a CPU quota limits client or server (cgroup cpu.max)"
        }
        Cause::Shared => "run the client on another host: here it takes CPU time from the server",
        Cause::OtherProcesses => STOP_OTHERS,
        Cause::RoundTrips => {
            "use fewer round trips (--mode procedures), a client closer to the server, or more \
             --vus"
        }
        Cause::Waits if f.database_on_threads => "check the database: settings, statements, disk",
        Cause::Waits => {
            "check the server: settings, waits, disk; more --vus show whether it can do more"
        }
        Cause::OwnCpus => "give the server more CPUs",
        Cause::Connections => "raise the pooler's pool size, or connect to the server directly",
    }
}

/// Formats microseconds: `8.2 ms`.
fn time(us: f64) -> String {
    format!("{} ms", milliseconds(us))
}

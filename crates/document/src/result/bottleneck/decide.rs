//! Derives the verdict from the figures: what accounts for most of a transaction's time, how
//! certain that is, and what comes second.

use super::figures::LimitFigures;
use super::{
    Bottleneck, CLEAR, Cause, Certainty, HOST_BUSY, HOST_FREE, LAG_MIN_US, MOST, OTHERS_SHARE,
    SESSIONS_BUSY, THREAD_BUSY, TimeShares,
};

use crate::measure::Evidence;

/// A verdict without its description.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Verdict {
    pub kind: Bottleneck,
    pub cause: Cause,
    pub certainty: Certainty,
    /// The second candidate, if the verdict is not certain.
    pub second: Option<Bottleneck>,
}

impl Verdict {
    const fn sure(kind: Bottleneck, cause: Cause) -> Self {
        Self { kind, cause, certainty: Certainty::Sure, second: None }
    }

    const fn probable(kind: Bottleneck, cause: Cause, second: Option<Bottleneck>) -> Self {
        Self { kind, cause, certainty: Certainty::Probable, second }
    }
}

/// A candidate, and its share of a transaction's time.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    kind: Bottleneck,
    cause: Cause,
    share: f64,
}

impl LimitFigures {
    /// The bottleneck of the run.
    pub(super) fn verdict(&self, evidence: Evidence) -> Verdict {
        if self.window_s < evidence.window_s || self.committed < evidence.observations {
            return Verdict::probable(Bottleneck::Undecided, Cause::TooLittle, None);
        }
        let measured = self.measured();
        if self.paced && (self.sessions_busy_share < SESSIONS_BUSY || self.kept_up == Some(true)) {
            return self.load_asked_for(measured);
        }
        measured
    }

    /// The verdict on a paced load that is kept up with; close to its limit, another candidate
    /// comes second.
    fn load_asked_for(&self, measured: Verdict) -> Verdict {
        let load = (Bottleneck::Load, Cause::Offered);
        match self.sessions_busy_share < SESSIONS_BUSY && self.kept_up != Some(false) {
            true => Verdict::sure(load.0, load.1),
            false => Verdict::probable(load.0, load.1, Some(measured.kind)),
        }
    }

    /// The verdict on a load that demands the maximum.
    fn measured(&self) -> Verdict {
        if self.database_on_threads {
            return self.on_threads();
        }
        let Some(time) = self.time.or_else(|| self.time_shares()) else {
            return Verdict::probable(Bottleneck::Undecided, Cause::TooLittle, None);
        };
        let mut candidates = self.candidates(time);
        candidates.sort_by(|a, b| b.share.total_cmp(&a.share));
        let best = candidates[0];
        let next = candidates.iter().find(|other| other.kind != best.kind);
        // A candidate with a negligible share is not named second.
        let second = next.filter(|next| next.share >= best.share * CLEAR / 2.0);
        let second = second.map_or(self.last_guess(best), |next| Some(next.kind));
        if let Some(verdict) = self.exception(time, best).or_else(|| self.confined(best)) {
            return verdict;
        }
        if self.is_server_out_of_sight()
            && self.is_short_of_cpu()
            && best.kind != Bottleneck::Client
        {
            return Verdict::probable(Bottleneck::Undecided, Cause::Unseen, Some(best.kind));
        }
        let is_clear = best.share >= MOST && next.is_none_or(|n| n.share <= best.share * CLEAR);
        match is_clear && !self.is_by_elimination(best) {
            true => Verdict::sure(best.kind, best.cause),
            false => Verdict::probable(best.kind, best.cause, second),
        }
    }

    /// A server that cannot be observed may also have had too little to do.
    fn last_guess(&self, best: Candidate) -> Option<Bottleneck> {
        self.is_by_elimination(best).then_some(Bottleneck::Load)
    }

    /// Cases that the shares alone would misattribute.
    fn exception(&self, time: TimeShares, best: Candidate) -> Option<Verdict> {
        if best.cause != Cause::Waits {
            return None;
        }
        let worked = time.client_cpu
            + time.client_wait
            + time.server_cpu.unwrap_or(0.0)
            + time.server_wait.unwrap_or(0.0);
        // Waiting for a lock means waiting for its holder, which is mostly in transit.
        let held_on_the_way = self.round_trips_per_transaction > 2.0
            && !self.is_local()
            && time.network >= 2.0 * worked
            && time.network >= MOST / 2.0;
        if held_on_the_way {
            let second = Some(Bottleneck::Database);
            return Some(Verdict::probable(Bottleneck::Network, Cause::RoundTrips, second));
        }
        // A single user waits for no other and leaves everything else idle.
        let mostly_waits = self.server_cpus.is_some() && best.share >= 0.8;
        (self.sessions == 1 && !mostly_waits).then_some(Verdict::probable(
            Bottleneck::Load,
            Cause::FewUsers,
            Some(Bottleneck::Database),
        ))
    }

    /// Client or server are pinned or niced, and others use the same CPUs: either may be the cause.
    fn confined(&self, best: Candidate) -> Option<Verdict> {
        let (others, cpus) = match best.cause {
            Cause::Starved => (self.other_cpus_of_client, self.client_cpus_allowed),
            Cause::OwnCpus => (self.other_cpus_of_server, self.server_cpus_allowed),
            Cause::OtherProcesses if self.server_cpus_allowed < self.client_cpus_allowed => {
                let second = Some(Bottleneck::Database);
                return Some(Verdict::probable(best.kind, best.cause, second));
            }
            _ => return None,
        };
        let is_shared = others? > OTHERS_SHARE * f64::from(cpus?);
        let of_server = self.time.and_then(|time| time.server_wait).unwrap_or(0.0);
        let is_both = best.cause == Cause::Starved && of_server >= best.share / 2.0;
        (is_shared || is_both).then_some(Verdict::probable(
            best.kind,
            best.cause,
            Some(Bottleneck::Host),
        ))
    }

    fn candidates(&self, time: TimeShares) -> Vec<Candidate> {
        let of = |kind, cause, share| Candidate { kind, cause, share };
        let mut rest = time.rest;
        let waits = time.client_wait + time.server_wait.unwrap_or(0.0);
        let mut all = Vec::new();
        let mut starved = 0.0;
        // An answer is not processed while its thread works or waits, so the remaining time belongs
        // to the thread.
        let thread_wait = self.busiest_thread_wait_share.unwrap_or(0.0);
        if self.is_thread_busy() {
            all.push(of(Bottleneck::Client, Cause::Threads, time.client_cpu + rest));
            rest = 0.0;
        } else if self.is_thread_full() && thread_wait > self.busiest_thread_share {
            starved = rest;
            rest = 0.0;
        } else if let Some(late) = self.late_share() {
            let late = late.min(rest);
            all.push(of(Bottleneck::Client, Cause::Lag, time.client_cpu + late));
            rest -= late;
        }
        let (kind, cause) = self.short_of_cpu(time, starved);
        all.push(of(kind, cause, waits + starved));
        let hand_over = if self.is_local() { time.network } else { 0.0 };
        let network = time.network - hand_over;
        all.push(of(Bottleneck::Network, Cause::RoundTrips, network));
        all.push(of(Bottleneck::Database, Cause::Waits, rest));
        let worked = time.server_cpu.unwrap_or(0.0) + time.client_cpu + hand_over;
        all.push(of(Bottleneck::Load, Cause::FewUsers, worked));
        all
    }

    /// Whether a worker thread is saturated and has a CPU for most of the time.
    fn is_thread_busy(&self) -> bool {
        let wait = self.busiest_thread_wait_share.unwrap_or(0.0);
        let share = self.busiest_thread_share;
        share > THREAD_BUSY || (share >= wait && self.is_thread_full())
    }

    /// Share of a transaction's time in which answers wait for the client's threads, excluding
    /// waits for a CPU.
    fn late_share(&self) -> Option<f64> {
        let mean = self.lag_mean_us?;
        let waiting = self.threads_waiting.unwrap_or(0.0);
        let of_work = self.threads_cpus / (self.threads_cpus + waiting).max(f64::MIN_POSITIVE);
        let late = self.lag_share()? * of_work;
        (mean > super::figures::whole(LAG_MIN_US)).then_some(late)
    }

    /// Why ready processes waited for a CPU.
    fn short_of_cpu(&self, time: TimeShares, starved: f64) -> (Bottleneck, Cause) {
        let others = self.other_cpus.unwrap_or(0.0);
        let cpus = f64::from(self.host_cpus.max(1));
        let client = self.client_cpus_allowed.unwrap_or(self.host_cpus);
        let server = self.server_cpus_allowed.unwrap_or(self.host_cpus);
        let is_clients = time.client_wait + starved > time.server_wait.unwrap_or(0.0);
        let is_held_back = client < server.min(self.host_cpus) || self.client_niceness > 0;
        // A thread that mostly waits does not supply the server with enough work.
        let is_starved = self.busiest_thread_wait_share.is_some_and(|wait| wait >= MOST);
        if is_held_back && (is_clients || is_starved) {
            return (Bottleneck::Client, Cause::Starved);
        }
        if !is_clients && server < client {
            let others = self.other_cpus_of_server.unwrap_or(0.0);
            return match others > self.server_cpus.unwrap_or(0.0) {
                true => (Bottleneck::Host, Cause::OtherProcesses),
                false => (Bottleneck::Database, Cause::OwnCpus),
            };
        }
        match others >= OTHERS_SHARE * cpus {
            true => (Bottleneck::Host, Cause::OtherProcesses),
            false => (Bottleneck::Host, Cause::Shared),
        }
    }

    /// A database that runs on the worker threads: they wait for a CPU or for the database.
    fn on_threads(&self) -> Verdict {
        let threads = f64::from(self.threads.max(1));
        let waiting = self.threads_waiting.map(|waiting| waiting / threads);
        let others = self.other_cpus.unwrap_or(0.0);
        let cause = match others >= OTHERS_SHARE * f64::from(self.host_cpus.max(1)) {
            true => Cause::OtherProcesses,
            false => Cause::Shared,
        };
        match waiting {
            Some(share) if share >= MOST => Verdict::sure(Bottleneck::Host, cause),
            Some(share) if share >= MOST / 2.0 => {
                Verdict::probable(Bottleneck::Host, cause, Some(Bottleneck::Database))
            }
            Some(share) if share >= MOST / 4.0 => {
                Verdict::probable(Bottleneck::Database, Cause::Waits, Some(Bottleneck::Host))
            }
            Some(_) => Verdict::sure(Bottleneck::Database, Cause::Waits),
            None => Verdict::probable(Bottleneck::Database, Cause::Waits, Some(Bottleneck::Host)),
        }
    }

    /// A remote server cannot be observed: it is considered the bottleneck because nothing else
    /// was.
    fn is_by_elimination(&self, best: Candidate) -> bool {
        best.cause == Cause::Waits && self.server_cpus.is_none()
    }

    /// Whether most of the sessions that were in a transaction had none of the database's
    /// connections: a pooler lets fewer of them through.
    pub(super) fn is_pooled(&self, connections: f64) -> bool {
        connections > 0.0 && connections < (1.0 - MOST) * self.in_transaction()
    }

    /// The verdict on a run behind such a pooler: with full CPUs, more connections may not help.
    pub(super) fn pooled(&self) -> Verdict {
        let connections = (Bottleneck::Database, Cause::Connections);
        match self.is_short_of_cpu() {
            true => Verdict::probable(connections.0, connections.1, Some(Bottleneck::Host)),
            false => Verdict::sure(connections.0, connections.1),
        }
    }

    /// Average number of sessions that were in a transaction.
    pub(in crate::result) fn in_transaction(&self) -> f64 {
        f64::from(self.sessions) * self.sessions_busy_share
    }

    /// The server may be on this host, but its processes cannot be observed.
    fn is_server_out_of_sight(&self) -> bool {
        self.server_cpus.is_none() && self.same_host != Some(false)
    }

    /// Processes wait for a CPU of this host, or are about to.
    fn is_short_of_cpu(&self) -> bool {
        let share = self.host_cpu_share.unwrap_or(0.0);
        share > HOST_BUSY || self.host_pressure_share.is_some_and(|p| p > MOST && share > HOST_FREE)
    }
}

//! Inputs of the verdict: figures that the run measured about itself, and the breakdown of its
//! transactions' time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::outcome::Counts;
use triphammer_core::recorder::{CpuRoom, Gauges, HostUse, TypeInterval, WorkerCpu};
use triphammer_core::stats::{Times, share};
use triphammer_engine::{Offered, RunEnd};

use super::{
    HOST_BUSY, IN_PROCESS, LAG_SAMPLES_MIN, LATE_US, LOCAL_ROUND_TRIP_US, MISSED_MAX,
    ROUND_TRIP_QUANTILE,
};
use crate::result::facts::RunFacts;

/// Inputs of the decision, from the timed window (round trips: from the whole run). `None` if not
/// measured or not measurable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitFigures {
    /// Length of the window, in seconds.
    #[schemars(range(min = 0.0))]
    pub window_s: f64,
    /// Number of committed transactions.
    pub committed: u64,
    /// Whether the load model determined when transactions are due.
    pub paced: bool,
    /// Whether practically all arrivals of an open load were served; `None` for other loads.
    pub kept_up: Option<bool>,
    /// Number of sessions of the run.
    pub sessions: u32,
    /// Share of time in which a session was in a transaction, from 0 to 1.
    #[schemars(range(min = 0.0))]
    pub sessions_busy_share: f64,
    /// Share of a core used by the busiest worker thread, from 0 to 1.
    #[schemars(range(min = 0.0))]
    pub busiest_thread_share: f64,
    /// Share of time in which that thread was ready but waited for a CPU, from 0 to 1.
    #[schemars(range(min = 0.0))]
    pub busiest_thread_wait_share: Option<f64>,
    /// Number of worker threads.
    pub threads: u32,
    /// CPU cores used by all worker threads together.
    #[schemars(range(min = 0.0))]
    pub threads_cpus: f64,
    /// Mean number of worker threads that were ready but waited for a CPU.
    #[schemars(range(min = 0.0))]
    pub threads_waiting: Option<f64>,
    /// Whether the database runs on the worker threads, so that their CPU time and their lag are
    /// the database's.
    pub database_on_threads: bool,
    /// Whether the database is part of this process.
    pub in_process: bool,
    /// Number of measurements of the event-loop lag.
    pub lag_samples: u64,
    /// Median event-loop lag, the delay before worker threads handled what was ready, in
    /// microseconds.
    pub lag_p50_us: Option<u64>,
    /// 99th percentile of the event-loop lag, in microseconds.
    pub lag_p99_us: Option<u64>,
    /// Mean of the same.
    #[schemars(range(min = 0.0))]
    pub lag_mean_us: Option<f64>,
    /// Number of wake-ups later than 10 ms.
    pub late_wakeups: Option<u64>,
    /// Median service time of committed transactions, in microseconds.
    pub median_service_us: u64,
    /// Mean service time of committed transactions, in microseconds.
    #[schemars(range(min = 0.0))]
    pub mean_service_us: f64,
    /// Time of a round trip on the run's own sessions, 10th percentile, in microseconds.
    pub round_trip_us: Option<u64>,
    /// Mean time of a round trip, including waits for a CPU at both ends, in microseconds.
    #[schemars(range(min = 0.0))]
    pub round_trip_mean_us: Option<f64>,
    /// Number of measurements of the round trip.
    pub round_trip_samples: u64,
    /// Mean number of round trips per transaction.
    #[schemars(range(min = 0.0))]
    pub round_trips_per_transaction: f64,
    /// Round trip time × round trips, as a share of the mean service time.
    #[schemars(range(min = 0.0))]
    pub network_share: Option<f64>,
    /// Whether client and server run on the same host; `None` if unknown.
    pub same_host: Option<bool>,
    /// CPU use of the client's host, from 0 to 1.
    #[schemars(range(min = 0.0))]
    pub host_cpu_share: Option<f64>,
    /// Share of time in which some task on the client's host waited for a CPU, from 0 to 1.
    #[schemars(range(min = 0.0))]
    pub host_pressure_share: Option<f64>,
    /// Number of CPUs of the client's host; 0 if unknown.
    pub host_cpus: u32,
    /// CPU cores used by this whole process; `None` if it also did other work.
    #[schemars(range(min = 0.0))]
    pub client_cpus: Option<f64>,
    /// Number of CPUs that this process may use.
    pub client_cpus_allowed: Option<u32>,
    /// Niceness of this process: 0 is normal, 19 the lowest priority.
    pub client_niceness: i32,
    /// CPU cores used by the server's processes on this host; `None` if they are remote or cannot
    /// be observed.
    #[schemars(range(min = 0.0))]
    pub server_cpus: Option<f64>,
    /// Mean number of server processes or threads that were ready but waited for a CPU.
    #[schemars(range(min = 0.0))]
    pub server_waiting: Option<f64>,
    /// Number of CPUs that the server may use.
    pub server_cpus_allowed: Option<u32>,
    /// CPU cores used by neither client nor server: by other processes, or by other guests of a
    /// virtual host.
    #[schemars(range(min = 0.0))]
    pub other_cpus: Option<f64>,
    /// The same, among the CPUs that the server may use.
    #[schemars(range(min = 0.0))]
    pub other_cpus_of_server: Option<f64>,
    /// The same, among the CPUs that the client may use.
    #[schemars(range(min = 0.0))]
    pub other_cpus_of_client: Option<f64>,
    /// Breakdown of a transaction's time; `None` without transactions.
    pub time: Option<TimeShares>,
}

/// Breakdown of the transactions' time, as shares that add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeShares {
    /// The client's threads were working.
    #[schemars(range(min = 0.0))]
    pub client_cpu: f64,
    /// The client's threads were ready but waited for a CPU.
    #[schemars(range(min = 0.0))]
    pub client_wait: f64,
    /// The server was working; `None` if it cannot be observed.
    #[schemars(range(min = 0.0))]
    pub server_cpu: Option<f64>,
    /// The server was ready but waited for a CPU; `None` if it cannot be observed.
    #[schemars(range(min = 0.0))]
    pub server_wait: Option<f64>,
    /// In transit between client and server.
    #[schemars(range(min = 0.0))]
    pub network: f64,
    /// The remainder: the server waited for locks, disks and so on; if it cannot be observed, all
    /// its time.
    #[schemars(range(min = 0.0))]
    pub rest: f64,
}

/// What the figures are of: a run, or one host of several.
#[derive(Clone, Copy)]
pub(in crate::result) struct Part<'a> {
    /// Transactions of all types that ended in the timed window.
    pub all: &'a TypeInterval,
    pub sessions: u32,
    pub same_host: Option<bool>,
    pub offered: Option<Offered>,
    pub gauges: &'a Gauges,
}

impl LimitFigures {
    /// Collects the figures of a run.
    #[must_use]
    pub fn new(facts: &RunFacts, end: &RunEnd, window_s: f64, per_transaction: f64) -> Self {
        let mut all = TypeInterval::default();
        for seen in &end.timed {
            all.add(seen);
        }
        let sessions = facts.spec.sessions();
        let same_host = facts.server.same_host;
        let part =
            Part { all: &all, sessions, same_host, offered: end.offered, gauges: &end.gauges };
        Self::of_part(facts, &part, window_s, per_transaction)
    }

    /// Collects the figures of one host of a run, or of all together.
    pub(in crate::result) fn of_part(
        facts: &RunFacts,
        part: &Part<'_>,
        window_s: f64,
        per_transaction: f64,
    ) -> Self {
        let Part { all, sessions, same_host, offered, gauges } = *part;
        let service = Times::of(all.service_times(), Some(all.counts.service_ns));
        let mut figures = Self {
            window_s,
            committed: all.counts.committed,
            paced: !facts.spec.load.is_closed(),
            kept_up: offered.map(kept_up),
            sessions,
            sessions_busy_share: sessions_busy(&all.counts, sessions, window_s),
            database_on_threads: facts.database_on_threads,
            in_process: facts.server.transport == IN_PROCESS,
            median_service_us: service.p50_us,
            mean_service_us: service.mean_us,
            round_trips_per_transaction: per_transaction,
            same_host,
            ..Self::default()
        };
        figures.threads(&gauges.cpu);
        figures.waits(gauges);
        figures.host(gauges);
        figures.time = figures.time_shares();
        figures
    }

    fn threads(&mut self, threads: &[WorkerCpu]) {
        let wall = |thread: &WorkerCpu, ns| share(ns, thread.wall_ns);
        let cpu = |thread: &WorkerCpu| wall(thread, thread.cpu_ns);
        let wait = |thread: &WorkerCpu| thread.wait_ns.map(|ns| wall(thread, ns));
        let wanted = |thread: &&WorkerCpu| cpu(thread) + wait(thread).unwrap_or(0.0);
        let busiest = threads.iter().max_by(|a, b| wanted(a).total_cmp(&wanted(b)));
        self.busiest_thread_share = busiest.map_or(0.0, cpu);
        self.busiest_thread_wait_share = busiest.and_then(wait);
        self.threads = u32::try_from(threads.len()).unwrap_or(u32::MAX);
        self.threads_cpus = threads.iter().map(cpu).sum();
        self.threads_waiting = threads.iter().map(wait).sum();
        if threads.is_empty() {
            self.threads_waiting = None;
        }
    }

    /// Reads event-loop lag and round trips.
    fn waits(&mut self, gauges: &Gauges) {
        if let Some(lag) = gauges.lag.as_ref().filter(|lag| !lag.is_empty()) {
            self.lag_samples = lag.len();
            self.lag_p50_us = Some(lag.value_at_quantile(0.5));
            self.lag_p99_us = Some(lag.value_at_quantile(0.99));
            self.lag_mean_us = Some(lag.mean());
            self.late_wakeups = Some(lag.len() - lag.count_between(0, LATE_US));
        }
        if let Some(trips) = gauges.round_trip.as_ref().filter(|trips| !trips.is_empty()) {
            let us = trips.value_at_quantile(ROUND_TRIP_QUANTILE);
            self.round_trip_us = Some(us);
            self.round_trip_mean_us = Some(trips.mean());
            self.round_trip_samples = trips.len();
            let trips = whole(us) * self.round_trips_per_transaction;
            self.network_share = (self.mean_service_us > 0.0).then(|| trips / self.mean_service_us);
        }
    }

    fn host(&mut self, gauges: &Gauges) {
        let used: &HostUse = &gauges.host_use;
        let of_wall = |ns: u64| share(ns, used.wall_ns);
        self.host_cpu_share = gauges.host.share();
        self.host_pressure_share = used.pressure_ns.map(of_wall);
        self.host_cpus = used.cpus;
        self.client_cpus =
            (used.is_alone && used.wall_ns > 0).then(|| of_wall(used.process_cpu_ns));
        self.client_niceness = used.niceness;
        self.client_cpus_allowed = used.client_room.map(|room| room.cpus);
        self.server_cpus_allowed = used.server_room.map(|room| room.cpus);
        if let Some(server) = used.server {
            self.server_cpus = Some(share(server.cpu_ns, server.wall_ns));
            self.server_waiting = Some(share(server.wait_ns, server.wall_ns));
        }
        // Its work is counted as the client's.
        if self.in_process {
            (self.server_cpus, self.server_waiting) = (Some(0.0), Some(0.0));
        }
        self.others(used);
    }

    /// Computes the CPU use that belongs to neither client nor server. If one of them is confined
    /// to some CPUs, the use by the other one there is not measured and is assumed to be
    /// proportional to the number of CPUs.
    fn others(&mut self, used: &HostUse) {
        let client = of_wall_or_threads(self.client_cpus, self.threads_cpus);
        let server = self.server_cpus.unwrap_or(0.0);
        let busy = |room: CpuRoom| room.used.share().map(|busy| busy * f64::from(room.cpus));
        let overlap = |mine: Option<u32>, theirs: Option<u32>| match (mine, theirs) {
            (Some(mine), Some(theirs)) if theirs > 0 => {
                f64::from(mine.min(theirs)) / f64::from(theirs)
            }
            _ => 1.0,
        };
        let (of_client, of_server) = (self.client_cpus_allowed, self.server_cpus_allowed);
        let all = f64::from(self.host_cpus);
        self.other_cpus = self.host_cpu_share.map(|busy| left(busy * all - client - server));
        self.other_cpus_of_server = used
            .server_room
            .and_then(busy)
            .map(|busy| left(busy - server - client * overlap(of_server, of_client)));
        self.other_cpus_of_client = used
            .client_room
            .and_then(busy)
            .map(|busy| left(busy - client - server * overlap(of_client, of_server)));
    }

    /// Time is counted over sessions: `n` processes working in parallel for a second are `n` of the
    /// `sessions × busy` seconds that transactions took in it.
    pub(super) fn time_shares(&self) -> Option<TimeShares> {
        let at_work = self.in_transaction();
        if at_work <= 0.0 || self.mean_service_us <= 0.0 {
            return None;
        }
        let client_cpu = self.threads_cpus / at_work;
        let client_wait = self.client_wait_share(at_work);
        let server_cpu = self.server_cpus.map_or(0.0, |cpus| cpus / at_work);
        let server_wait = self.server_waiting.map_or(0.0, |tasks| tasks / at_work);
        // Background tasks and other users of the server can make it exceed the total.
        let sum = client_cpu + client_wait + server_cpu + server_wait;
        let scale = 1.0 / sum.max(1.0);
        let beyond = left(1.0 - sum);
        let network = self.way_share(client_wait + server_wait).min(beyond);
        Some(TimeShares {
            client_cpu: client_cpu * scale,
            client_wait: client_wait * scale,
            server_cpu: self.server_cpus.map(|_| server_cpu * scale),
            server_wait: self.server_waiting.map(|_| server_wait * scale),
            network,
            rest: left(beyond - network),
        })
    }

    /// Share of a transaction's time in transit: round trips without waits for a CPU at both ends.
    /// A saturated client measures itself instead of the network.
    fn way_share(&self, waits: f64) -> f64 {
        if self.is_thread_full() {
            return 0.0;
        }
        let fast = self.network_share.unwrap_or(0.0);
        let mean = self
            .round_trip_mean_us
            .map_or(fast, |mean| mean * self.round_trips_per_transaction / self.mean_service_us);
        left(mean - waits)
    }

    /// Whether a worker thread is saturated: it is always working or ready but waiting for a CPU.
    pub(in crate::result) fn is_thread_full(&self) -> bool {
        self.busiest_thread_share + self.busiest_thread_wait_share.unwrap_or(0.0) > HOST_BUSY
    }

    /// A thread that waits for a CPU delays between one and all of its sessions. The lag, the mean
    /// wait of a ready answer, shows how many.
    fn client_wait_share(&self, at_work: f64) -> f64 {
        let Some(waiting) = self.threads_waiting.filter(|waiting| *waiting > 0.0) else {
            return 0.0;
        };
        let least = waiting / at_work;
        let most = (waiting / f64::from(self.threads.max(1))).max(least);
        let of_lag = waiting / (waiting + self.threads_cpus);
        self.lag_share().map_or(least, |lag| (lag * of_lag).clamp(least, most))
    }

    /// Lag × round trips, as a share of the mean service time.
    pub(super) fn lag_share(&self) -> Option<f64> {
        let lag = self.lag_mean_us.filter(|_| self.lag_samples >= LAG_SAMPLES_MIN)?;
        let trips = self.round_trips_per_transaction.max(1.0);
        (self.mean_service_us > 0.0).then(|| lag * trips / self.mean_service_us)
    }

    /// Whether a round trip takes no longer than two local processes need to wake each other.
    pub(super) fn is_local(&self) -> bool {
        self.same_host != Some(false)
            && self.round_trip_us.is_none_or(|us| us <= LOCAL_ROUND_TRIP_US)
    }
}

fn of_wall_or_threads(process: Option<f64>, threads: f64) -> f64 {
    process.unwrap_or(threads)
}

fn left(of: f64) -> f64 {
    of.max(0.0)
}

/// Whether practically all arrivals were served.
fn kept_up(offered: Offered) -> bool {
    share(offered.skipped + offered.never_started, offered.offered) <= MISSED_MAX
}

/// Share of time in which sessions were in a transaction.
#[expect(clippy::cast_precision_loss, reason = "a share")]
fn sessions_busy(counts: &Counts, users: u32, window_s: f64) -> f64 {
    let mean_s = share(counts.service_ns, counts.committed) / 1e9;
    let time_s = f64::from(users) * window_s;
    if time_s > 0.0 { mean_s * counts.ended() as f64 / time_s } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of at most an hour")]
pub(in crate::result) fn whole(us: u64) -> f64 {
    us as f64
}

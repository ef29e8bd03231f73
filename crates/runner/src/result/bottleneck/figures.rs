//! What the verdict is made from: figures that the run measured of itself, and where the time of its
//! transactions went.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::engine::{Offered, RunEnd};
use triphammer_core::outcome::Counts;
use triphammer_core::recorder::{CpuRoom, Gauges, HostUse, TypeInterval, WorkerCpu};
use triphammer_core::stats::{Times, share};

use super::{
    HOST_BUSY, IN_PROCESS, LAG_SAMPLES_MIN, LATE_US, LOCAL_ROUND_TRIP_US, MISSED_MAX,
    ROUND_TRIP_QUANTILE,
};
use crate::result::facts::RunFacts;

/// What the decision is made from, of the timed window (round trips: of the whole run). `None` where
/// it was not or cannot be measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitFigures {
    /// Length of the window, in seconds.
    pub window_s: f64,
    /// Transactions committed.
    pub committed: u64,
    /// Whether the load model said when transactions are due.
    pub paced: bool,
    /// Whether as good as all arrivals of an open load were served; `None` where nothing arrives.
    #[serde(default)]
    pub kept_up: Option<bool>,
    /// Sessions of the run.
    #[serde(default)]
    pub sessions: u32,
    /// Share of the time in which a session was in a transaction.
    pub sessions_busy_share: f64,
    /// Share of a core that the busiest worker thread used.
    pub busiest_thread_share: f64,
    /// Share of the time in which that thread was ready and waited for a CPU.
    #[serde(default)]
    pub busiest_thread_wait_share: Option<f64>,
    /// Worker threads.
    #[serde(default)]
    pub threads: u32,
    /// CPUs that the worker threads used, together.
    #[serde(default)]
    pub threads_cpus: f64,
    /// Worker threads that were ready and waited for a CPU, on average.
    #[serde(default)]
    pub threads_waiting: Option<f64>,
    /// Whether the database works on the worker threads, so that their CPU time and their lateness
    /// are the database's.
    pub database_on_threads: bool,
    /// Whether the database is a part of this process.
    #[serde(default)]
    pub in_process: bool,
    /// Times that the scheduling lag was measured.
    pub lag_samples: u64,
    /// Scheduling lag: how late worker threads took up what was ready.
    pub lag_p50_us: Option<u64>,
    /// The same, 99th percentile.
    pub lag_p99_us: Option<u64>,
    /// The same, mean.
    #[serde(default)]
    pub lag_mean_us: Option<f64>,
    /// Wake-ups later than 10 ms.
    pub late_wakeups: Option<u64>,
    /// Median service time of committed transactions.
    pub median_service_us: u64,
    /// Mean service time of committed transactions.
    pub mean_service_us: f64,
    /// Time of a round trip on the run's own sessions, 10th percentile.
    pub round_trip_us: Option<u64>,
    /// The same, mean: with what the ends of it waited for a CPU.
    #[serde(default)]
    pub round_trip_mean_us: Option<f64>,
    /// Times that a round trip was measured.
    pub round_trip_samples: u64,
    /// Round trips of a transaction.
    pub round_trips_per_transaction: f64,
    /// Round trip time × round trips, of the mean service time.
    pub network_share: Option<f64>,
    /// Whether client and server share a host.
    pub same_host: Option<bool>,
    /// How busy the CPUs of the client's host were.
    pub host_cpu_share: Option<f64>,
    /// Share of the time in which some task of the client's host waited for a CPU.
    #[serde(default)]
    pub host_pressure_share: Option<f64>,
    /// CPUs of the client's host; 0 where they cannot be read.
    #[serde(default)]
    pub host_cpus: u32,
    /// CPUs that this whole process used; `None` when it did something else besides.
    #[serde(default)]
    pub client_cpus: Option<f64>,
    /// CPUs that this process may use.
    #[serde(default)]
    pub client_cpus_allowed: Option<u32>,
    /// How nice this process is: 0 is usual, 19 is served last.
    #[serde(default)]
    pub client_niceness: i32,
    /// CPUs that the server's processes on this host used; `None` where they are elsewhere or out of
    /// sight.
    #[serde(default)]
    pub server_cpus: Option<f64>,
    /// Server processes, or threads, that were ready and waited for a CPU, on average.
    #[serde(default)]
    pub server_waiting: Option<f64>,
    /// CPUs that the server may use.
    #[serde(default)]
    pub server_cpus_allowed: Option<u32>,
    /// CPUs that neither client nor server used, and that were busy: other processes, or other guests
    /// of a virtual host.
    #[serde(default)]
    pub other_cpus: Option<f64>,
    /// The same, of the CPUs that the server may use.
    #[serde(default)]
    pub other_cpus_of_server: Option<f64>,
    /// The same, of the CPUs that the client may use.
    #[serde(default)]
    pub other_cpus_of_client: Option<f64>,
    /// Where the time of a transaction went; `None` without transactions.
    #[serde(default)]
    pub time: Option<TimeShares>,
}

/// Where the time of the transactions went, as shares of it that add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeShares {
    /// The client's threads worked.
    pub client_cpu: f64,
    /// The client's threads were ready and waited for a CPU.
    pub client_wait: f64,
    /// The server worked; `None` where nobody sees it.
    pub server_cpu: Option<f64>,
    /// The server was ready and waited for a CPU; `None` where nobody sees it.
    pub server_wait: Option<f64>,
    /// On the way between client and server.
    pub network: f64,
    /// What is left: the server waited for locks, disks and such; where nobody sees it, all that it did.
    pub rest: f64,
}

impl LimitFigures {
    /// The figures of a run.
    #[must_use]
    pub fn new(facts: &RunFacts, end: &RunEnd, window_s: f64, per_transaction: f64) -> Self {
        let mut all = TypeInterval::default();
        for seen in &end.timed {
            all.add(seen);
        }
        let service = Times::of(all.service_times(), Some(all.counts.service_ns));
        let sessions = facts.spec.sessions();
        let mut figures = Self {
            window_s,
            committed: all.counts.committed,
            paced: !facts.spec.load.is_closed(),
            kept_up: end.offered.map(kept_up),
            sessions,
            sessions_busy_share: sessions_busy(&all.counts, sessions, window_s),
            database_on_threads: facts.database_on_threads,
            in_process: facts.server.transport == IN_PROCESS,
            median_service_us: service.p50_us,
            mean_service_us: service.mean_us,
            round_trips_per_transaction: per_transaction,
            same_host: facts.server.same_host,
            ..Self::default()
        };
        figures.threads(&end.gauges.cpu);
        figures.waits(&end.gauges);
        figures.host(&end.gauges);
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

    /// Lag and round trips.
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
        // Its work is the client's.
        if self.in_process {
            (self.server_cpus, self.server_waiting) = (Some(0.0), Some(0.0));
        }
        self.others(used);
    }

    /// What of the busy CPUs was neither the client's nor the server's. How much of those two was on
    /// the CPUs of one that is confined is not counted by anybody: as much as its share of the CPUs.
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

    /// Time is counted over sessions: what `n` processes did at once in a second is `n` of the
    /// `sessions × busy` seconds that transactions took in it.
    pub(super) fn time_shares(&self) -> Option<TimeShares> {
        let at_work = f64::from(self.sessions) * self.sessions_busy_share;
        if at_work <= 0.0 || self.mean_service_us <= 0.0 {
            return None;
        }
        let client_cpu = self.threads_cpus / at_work;
        let client_wait = self.client_wait_share(at_work);
        let server_cpu = self.server_cpus.map_or(0.0, |cpus| cpus / at_work);
        let server_wait = self.server_waiting.map_or(0.0, |tasks| tasks / at_work);
        // The server's tasks beside the sessions, and whoever else uses it, can make it more than all.
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

    /// Of a transaction's time, what it was on the way: the round trips without what both ends waited for
    /// a CPU meanwhile. A client that never rests measures itself and no network.
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

    /// Whether a worker thread never rests: it works, or is ready and waits for a CPU.
    pub(super) fn is_thread_full(&self) -> bool {
        self.busiest_thread_share + self.busiest_thread_wait_share.unwrap_or(0.0) > HOST_BUSY
    }

    /// A thread that waits for a CPU holds up at least one of its sessions and at most all of them. The
    /// lag says how many: it is what an answer that is ready waits on average.
    fn client_wait_share(&self, at_work: f64) -> f64 {
        let Some(waiting) = self.threads_waiting.filter(|waiting| *waiting > 0.0) else {
            return 0.0;
        };
        let least = waiting / at_work;
        let most = (waiting / f64::from(self.threads.max(1))).max(least);
        let of_lag = waiting / (waiting + self.threads_cpus);
        self.lag_share().map_or(least, |lag| (lag * of_lag).clamp(least, most))
    }

    /// Lag × round trips, of the mean service time.
    pub(super) fn lag_share(&self) -> Option<f64> {
        let lag = self.lag_mean_us.filter(|_| self.lag_samples >= LAG_SAMPLES_MIN)?;
        let trips = self.round_trips_per_transaction.max(1.0);
        (self.mean_service_us > 0.0).then(|| lag * trips / self.mean_service_us)
    }

    /// Whether a round trip is no more than what waking one another takes two processes of one host.
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

/// Whether as good as everything that fell due was served.
fn kept_up(offered: Offered) -> bool {
    share(offered.skipped + offered.never_started, offered.offered) <= MISSED_MAX
}

/// How much of their time the sessions were in a transaction.
#[expect(clippy::cast_precision_loss, reason = "a share")]
fn sessions_busy(counts: &Counts, users: u32, window_s: f64) -> f64 {
    let mean_s = share(counts.service_ns, counts.committed) / 1e9;
    let time_s = f64::from(users) * window_s;
    if time_s > 0.0 { mean_s * counts.ended() as f64 / time_s } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "microseconds of at most an hour")]
pub(super) fn whole(us: u64) -> f64 {
    us as f64
}

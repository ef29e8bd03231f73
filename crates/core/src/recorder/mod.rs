//! Records what happens. Each worker thread owns one [`Recorder`]; it counts into the current
//! [`RecordedInterval`] and hands that over whole when the second ends. Interval k covers [k, k+1)
//! s of the run's clock by finish time. Handing over swaps a pointer: it never blocks, copies or
//! drops, and a receiver that does not keep up gets several seconds merged into one interval,
//! marked as such.
//!
//! A recorded event is two or three array increments. The histogram of a type and outcome is
//! created with its first event, so a type that never fails costs no memory for failures.

mod login;
mod node;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::clock::Elapsed;
use crate::error::ErrorClass;
use crate::outcome::{Counts, Outcome, Timing};
use crate::traffic::Traffic;

pub use crate::histogram::bounds::{HIGHEST_US, LOWEST_US, ROOM_US, histogram, record};
pub use login::{Login, LoginInterval};
pub use node::add_nodes;
pub use node::{LagInterval, NodeInterval};

/// Records in a histogram that may not exist yet.
#[inline]
fn record_in(times: &mut Option<Histogram<u64>>, us: u64) {
    record(times.get_or_insert_with(histogram), us);
}

/// Counts and times of one transaction type in an interval.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TypeInterval {
    /// Counters of outcomes and retries.
    pub counts: Counts,
    /// Response times of committed transactions, µs.
    #[serde(with = "crate::histogram::optional")]
    pub response: Option<Histogram<u64>>,
    /// Service times of committed transactions, µs; `None` where the load is closed and both are
    /// the same.
    #[serde(with = "crate::histogram::optional")]
    pub service: Option<Histogram<u64>>,
    /// Response times of transactions rolled back, µs.
    #[serde(with = "crate::histogram::optional")]
    pub rolled_back: Option<Histogram<u64>>,
    /// Response times of transactions failed or in doubt, µs.
    #[serde(with = "crate::histogram::optional")]
    pub failed: Option<Histogram<u64>>,
    /// Number of times longer than [`HIGHEST_US`].
    pub saturated: u64,
}

impl TypeInterval {
    /// Adds the events of `other`, exactly.
    pub fn add(&mut self, other: &Self) {
        self.counts.add(&other.counts);
        self.saturated += other.saturated;
        for (mine, theirs) in [
            (&mut self.response, &other.response),
            (&mut self.service, &other.service),
            (&mut self.rolled_back, &other.rolled_back),
            (&mut self.failed, &other.failed),
        ] {
            merge(mine, theirs.as_ref());
        }
    }

    /// Records that a transaction ended.
    #[inline]
    pub fn record(&mut self, timing: Timing, ended: TransactionEnd, closed_load: bool) {
        let Self { counts, response, service, rolled_back, failed, saturated } = self;
        let is_completed = matches!(ended.outcome, Outcome::Committed | Outcome::RolledBack);
        counts.unread += u64::from(ended.unread && is_completed);
        counts.unconfirmed += u64::from(ended.unconfirmed);
        let response_us = microseconds(timing.response_ns());
        let times = match ended.outcome {
            Outcome::Committed => {
                counts.committed += 1;
                counts.counter += ended.counter;
                counts.response_ns += timing.response_ns();
                counts.service_ns += timing.service_ns();
                if !closed_load {
                    record_in(service, microseconds(timing.service_ns()));
                }
                response
            }
            Outcome::RolledBack => {
                counts.rolled_back += 1;
                rolled_back
            }
            Outcome::Failed(class) => {
                counts.failed[class.index()] += 1;
                failed
            }
            Outcome::Indeterminate => {
                counts.indeterminate += 1;
                failed
            }
        };
        record_in(times, response_us);
        *saturated += u64::from(response_us > HIGHEST_US);
    }

    /// The service times: their own histogram, or the response times where the load is closed.
    #[must_use]
    pub fn service_times(&self) -> Option<&Histogram<u64>> {
        self.service.as_ref().or(self.response.as_ref())
    }
}

/// CPU time that a worker thread used in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerCpu {
    /// Number of the thread, from 0.
    pub thread: u32,
    /// CPU time used, in nanoseconds.
    pub cpu_ns: u64,
    /// Wall-clock time that passed, in nanoseconds.
    pub wall_ns: u64,
    /// Time in which the thread was ready and waited for a CPU, in nanoseconds; `None` where the
    /// kernel does not count it.
    pub wait_ns: Option<u64>,
}

/// CPU time of the whole host, in the kernel's ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCpu {
    /// Ticks in which a CPU was busy, or taken away by a hypervisor.
    pub busy: u64,
    /// All ticks of all CPUs.
    pub total: u64,
}

impl HostCpu {
    /// Utilisation of the host, from 0 to 1; `None` when no tick has passed.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.total > 0).then(|| crate::stats::share(self.busy, self.total))
    }

    fn add(&mut self, other: Self) {
        self.busy += other.busy;
        self.total += other.total;
    }
}

/// Use of the CPUs that a process may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuRoom {
    /// Number of those CPUs.
    pub cpus: u32,
    /// Ticks of those CPUs, whichever process used them.
    pub used: HostCpu,
}

/// CPU use of the server's processes on this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerUse {
    /// Wall-clock time that passed, in nanoseconds.
    pub wall_ns: u64,
    /// Total CPU time, in nanoseconds.
    pub cpu_ns: u64,
    /// Total time in which they were ready and waited for a CPU, in nanoseconds.
    pub wait_ns: u64,
}

/// Use of the host's CPUs, and how long ready tasks waited for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostUse {
    /// Wall-clock time that passed, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time of this whole process, in nanoseconds.
    pub process_cpu_ns: u64,
    /// Whether no other run was in progress in this process, so that its CPU time is this run's.
    pub is_alone: bool,
    /// Time in which at least one task of the host waited for a CPU, in nanoseconds; `None` where
    /// the kernel does not count it.
    pub pressure_ns: Option<u64>,
    /// Number of CPUs of the host; 0 where it cannot be read.
    pub cpus: u32,
    /// Niceness of this process, from -20 to 19.
    pub niceness: i32,
    /// CPUs that this process may use.
    pub client_room: Option<CpuRoom>,
    /// CPUs that the server may use.
    pub server_room: Option<CpuRoom>,
    /// The server's processes; `None` where they run elsewhere or are not visible.
    pub server: Option<ServerUse>,
}

impl HostUse {
    fn add(&mut self, other: &Self) {
        if other.wall_ns == 0 {
            return;
        }
        self.is_alone = other.is_alone && (self.is_alone || self.wall_ns == 0);
        self.wall_ns += other.wall_ns;
        self.process_cpu_ns += other.process_cpu_ns;
        if let Some(ns) = other.pressure_ns {
            *self.pressure_ns.get_or_insert(0) += ns;
        }
        (self.cpus, self.niceness) = (other.cpus, other.niceness);
        add_room(&mut self.client_room, other.client_room);
        add_room(&mut self.server_room, other.server_room);
        if let Some(theirs) = other.server {
            let mine = self.server.get_or_insert_default();
            mine.wall_ns += theirs.wall_ns;
            mine.cpu_ns += theirs.cpu_ns;
            mine.wait_ns += theirs.wait_ns;
        }
    }
}

impl HostUse {
    /// Adds what another machine, or another process on the same one, used at the same time: as if
    /// all were one larger machine.
    pub fn add_beside(&mut self, other: &Self) {
        self.is_alone &= other.is_alone;
        self.wall_ns = self.wall_ns.max(other.wall_ns);
        self.process_cpu_ns += other.process_cpu_ns;
        self.pressure_ns = self.pressure_ns.max(other.pressure_ns);
        self.cpus += other.cpus;
        self.niceness = self.niceness.max(other.niceness);
        add_room_beside(&mut self.client_room, other.client_room);
        add_room_beside(&mut self.server_room, other.server_room);
        self.server = self.server.or(other.server);
    }
}

fn add_room_beside(mine: &mut Option<CpuRoom>, theirs: Option<CpuRoom>) {
    if let Some(theirs) = theirs {
        let mine = mine.get_or_insert_default();
        mine.cpus += theirs.cpus;
        mine.used.add(theirs.used);
    }
}

fn add_room(mine: &mut Option<CpuRoom>, theirs: Option<CpuRoom>) {
    if let Some(theirs) = theirs {
        let mine = mine.get_or_insert_default();
        mine.cpus = theirs.cpus;
        mine.used.add(theirs.used);
    }
}

/// Measurements of the client and its surroundings, used to find what limited the run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Gauges {
    /// CPU use of the worker threads, by their numbers.
    pub cpu: Vec<WorkerCpu>,
    /// Event-loop lag, µs: how late the worker threads handled what was ready. `None` where it is
    /// not measured, because sessions block their thread.
    #[serde(with = "crate::histogram::optional")]
    pub lag: Option<Histogram<u64>>,
    /// Round trips measured on the run's own sessions, µs. `None` if there is no network in
    /// between.
    #[serde(with = "crate::histogram::optional")]
    pub round_trip: Option<Histogram<u64>>,
    /// CPU time of the host; zero where it cannot be read.
    pub host: HostCpu,
    /// Use of the host's CPUs, and how long tasks waited for them.
    pub host_use: HostUse,
    /// What the worker threads' sockets sent and received.
    #[serde(default)]
    pub traffic: Traffic,
}

impl Gauges {
    /// Adds what was measured at another time, or on other threads.
    pub fn add(&mut self, other: &Self) {
        for cpu in &other.cpu {
            match self.cpu.binary_search_by_key(&cpu.thread, |mine| mine.thread) {
                Ok(place) => {
                    let mine = &mut self.cpu[place];
                    mine.cpu_ns += cpu.cpu_ns;
                    mine.wall_ns += cpu.wall_ns;
                    if let Some(ns) = cpu.wait_ns {
                        *mine.wait_ns.get_or_insert(0) += ns;
                    }
                }
                Err(place) => self.cpu.insert(place, *cpu),
            }
        }
        merge(&mut self.lag, other.lag.as_ref());
        merge(&mut self.round_trip, other.round_trip.as_ref());
        self.host.add(other.host);
        self.host_use.add(&other.host_use);
        self.traffic.add(&other.traffic);
    }

    /// Share of a core that the busiest worker thread used.
    #[must_use]
    pub fn busiest_share(&self) -> f64 {
        let shares = self.cpu.iter().map(|cpu| crate::stats::share(cpu.cpu_ns, cpu.wall_ns));
        shares.fold(0.0, f64::max)
    }
}

/// Adds a histogram to one that may not exist yet.
pub fn merge(mine: &mut Option<Histogram<u64>>, theirs: Option<&Histogram<u64>>) {
    if let Some(theirs) = theirs {
        mine.get_or_insert_with(histogram).add(theirs).expect("these histograms grow");
    }
}

/// Arrivals of an open load in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrived {
    /// Number of arrivals that fell due.
    pub due: u64,
    /// Number started, whenever they were due.
    pub started: u64,
    /// Number skipped because they were too late.
    pub skipped: u64,
    /// Number dropped from a full backlog.
    pub given_up: u64,
}

impl Arrived {
    /// Adds arrivals of another time, or as other threads saw them.
    pub fn add(&mut self, other: &Self) {
        self.due += other.due;
        self.started += other.started;
        self.skipped += other.skipped;
        self.given_up += other.given_up;
    }
}

/// One second, or several merged, of a worker thread or of all of them. Its serialised form is what
/// a process that drives a share of a run passes on to be merged by the engine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecordedInterval {
    /// First second covered, counted from the run's zero.
    pub first: u64,
    /// Last second covered: later than `first` when seconds had to be merged.
    pub last: u64,
    /// Counts and times of each transaction type.
    pub types: Vec<TypeInterval>,
    /// Measurements of the worker threads in this interval, and of their surroundings.
    pub gauges: Gauges,
    /// Time from due to the start of the first attempt, µs, of every transaction that ended: the
    /// wait for a free session. `None` where the load is closed and nothing waits.
    #[serde(with = "crate::histogram::optional")]
    pub pool_wait: Option<Histogram<u64>>,
    /// Arrivals; `None` where the load is not open.
    pub arrived: Option<Arrived>,
    /// Arrivals, or terminals, that were due and waited for a session when the interval ended; `None`
    /// where the load is closed.
    pub backlog: Option<u64>,
    /// Number of sessions lost.
    pub lost: u64,
    /// Number of sessions reconnected.
    pub reconnected: u64,
    /// Sessions opened, and how long that took.
    #[serde(default)]
    pub logins: LoginInterval,
    /// Sessions connected when the interval ended.
    pub connected: u32,
    /// Transactions started and not ended when the interval ended, by type; empty in an interval in
    /// which nothing was recorded. If the process is lost, how these ended is unknown.
    pub in_flight: Vec<u64>,
    /// The second since which no transaction has completed; `None` unless an outage went on when the interval
    /// ended. The control thread sets it in what it sends out.
    pub outage_since: Option<u64>,
    /// What happened on each node, in the order of their declaration; empty in a run on one server.
    pub nodes: Vec<NodeInterval>,
}

impl RecordedInterval {
    /// Creates an empty interval for one second and this many transaction types.
    #[must_use]
    pub fn new(second: u64, types: usize) -> Self {
        Self {
            first: second,
            last: second,
            types: vec![TypeInterval::default(); types],
            gauges: Gauges::default(),
            pool_wait: None,
            arrived: None,
            backlog: None,
            lost: 0,
            reconnected: 0,
            logins: LoginInterval::default(),
            connected: 0,
            in_flight: Vec::new(),
            outage_since: None,
            nodes: Vec::new(),
        }
    }

    /// Adds the same second of another thread.
    pub fn add_thread(&mut self, other: &Self) {
        self.add_counts(other);
        self.connected += other.connected;
        self.in_flight.resize(self.in_flight.len().max(other.in_flight.len()), 0);
        for (mine, theirs) in self.in_flight.iter_mut().zip(&other.in_flight) {
            *mine += theirs;
        }
        add_nodes(&mut self.nodes, &other.nodes, NodeInterval::add_thread);
        if let Some(theirs) = other.backlog {
            *self.backlog.get_or_insert(0) += theirs;
        }
    }

    /// Adds a later interval of the same threads; the result covers both.
    pub fn add_later(&mut self, later: &Self) {
        self.add_counts(later);
        self.last = later.last;
        self.connected = later.connected;
        self.in_flight.clone_from(&later.in_flight);
        add_nodes(&mut self.nodes, &later.nodes, NodeInterval::add_later);
        self.backlog = later.backlog;
        self.outage_since = later.outage_since;
    }

    fn add_counts(&mut self, other: &Self) {
        for (mine, theirs) in self.types.iter_mut().zip(&other.types) {
            mine.add(theirs);
        }
        merge(&mut self.pool_wait, other.pool_wait.as_ref());
        if let Some(theirs) = &other.arrived {
            self.arrived.get_or_insert_default().add(theirs);
        }
        self.lost += other.lost;
        self.reconnected += other.reconnected;
        self.logins.add(&other.logins);
        self.gauges.add(&other.gauges);
    }

    /// Whether it covers one second rather than several merged.
    #[must_use]
    pub const fn is_single(&self) -> bool {
        self.first == self.last
    }
}

/// How a transaction ended, apart from its timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionEnd {
    /// Outcome of the transaction.
    pub outcome: Outcome,
    /// Value of the transaction's counter.
    pub counter: i64,
    /// Whether the database acknowledged it but its answer could not be read.
    pub unread: bool,
    /// Whether it is committed on its server but not confirmed by a standby for which the server was
    /// to wait.
    pub unconfirmed: bool,
}

impl TransactionEnd {
    /// An end with nothing but this outcome.
    #[must_use]
    pub const fn of(outcome: Outcome) -> Self {
        Self { outcome, counter: 0, unread: false, unconfirmed: false }
    }

    /// The outcome as far as it lasts if the server is lost: a commit that no standby has confirmed
    /// is in doubt.
    #[must_use]
    pub const fn lasting_outcome(&self) -> Outcome {
        if self.unconfirmed { Outcome::Indeterminate } else { self.outcome }
    }
}

/// Totals that a recorder keeps besides its intervals, to prove that nothing was lost in between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Transactions started, by type.
    pub started: Vec<u64>,
    /// Transactions ended, by type.
    pub ended: Vec<u64>,
}

/// Records what one worker thread does.
#[derive(Debug)]
pub struct Recorder {
    current: Box<RecordedInterval>,
    /// End of the current interval.
    edge: Elapsed,
    closed_load: bool,
    totals: Totals,
    nodes: usize,
}

impl Recorder {
    /// Creates a recorder for this many transaction types.
    #[must_use]
    pub fn new(types: usize, closed_load: bool) -> Self {
        Self {
            current: Box::new(RecordedInterval::new(0, types)),
            edge: Elapsed::at_second(1),
            closed_load,
            totals: Totals { started: vec![0; types], ended: vec![0; types] },
            nodes: 0,
        }
    }

    /// Also records what happens on each of several nodes.
    #[must_use]
    pub fn with_nodes(mut self, nodes: usize) -> Self {
        self.nodes = nodes;
        self.current.nodes.resize_with(nodes, NodeInterval::default);
        self
    }

    /// The current interval of a node, to be counted in.
    pub fn node(&mut self, node: usize) -> &mut NodeInterval {
        &mut self.current.nodes[node]
    }

    /// Records on which node a transaction ended, in addition to [`Recorder::record`].
    pub fn record_on(
        &mut self,
        node: usize,
        transaction: usize,
        timing: Timing,
        ended: TransactionEnd,
    ) {
        let (types, closed_load) = (self.current.types.len(), self.closed_load);
        let of_node = &mut self.current.nodes[node];
        of_node.completed.resize(types, 0);
        of_node.record(transaction, timing, ended, closed_load);
    }

    /// Records that a transaction starts its first attempt.
    #[inline]
    pub fn start(&mut self, transaction: usize) {
        self.totals.started[transaction] += 1;
    }

    /// Records that an attempt failed with `class` and another one follows.
    pub fn retry(&mut self, transaction: usize, class: ErrorClass, first: bool) {
        let counts = &mut self.current.types[transaction].counts;
        counts.retries[class.index()] += 1;
        counts.retried += u64::from(first);
    }

    /// The arrivals of the current interval, to be counted in.
    pub fn arrived(&mut self) -> &mut Arrived {
        self.current.arrived.get_or_insert_default()
    }

    /// Records that a session was lost.
    pub fn lost(&mut self) {
        self.current.lost += 1;
    }

    /// Records that a session reconnected.
    pub fn reconnected(&mut self) {
        self.current.reconnected += 1;
    }

    /// The logins of the current interval, to be counted in.
    pub fn logins(&mut self) -> &mut LoginInterval {
        &mut self.current.logins
    }

    /// Records a delay, in nanoseconds, between something being ready and a worker thread handling
    /// it.
    pub fn lag(&mut self, ns: u64) {
        record_in(&mut self.current.gauges.lag, microseconds(ns));
    }

    /// Records a round trip, in nanoseconds, that is not part of a transaction.
    pub fn round_trip(&mut self, ns: u64) {
        record_in(&mut self.current.gauges.round_trip, microseconds(ns));
    }

    /// Whether `now` is past the current interval, so that it must be [taken](Recorder::take) first.
    #[must_use]
    pub const fn is_due(&self, now: Elapsed) -> bool {
        now.0 >= self.edge.0
    }

    /// Records that a transaction ended. The caller must have taken the interval if it [was
    /// due](Recorder::is_due).
    #[inline]
    pub fn record(&mut self, transaction: usize, timing: Timing, ended: TransactionEnd) {
        debug_assert!(!self.is_due(timing.finished));
        self.totals.ended[transaction] += 1;
        if !self.closed_load {
            record_in(&mut self.current.pool_wait, microseconds(timing.wait_ns()));
        }
        self.current.types[transaction].record(timing, ended, self.closed_load);
    }

    /// Ends the current interval at `now` and returns it; the next one begins with `now`'s second.
    pub fn take(&mut self, now: Elapsed) -> Box<RecordedInterval> {
        let mut next = RecordedInterval::new(now.second(), self.current.types.len());
        next.nodes.resize_with(self.nodes, NodeInterval::default);
        self.edge = Elapsed::at_second(now.second() + 1);
        let Totals { started, ended } = &self.totals;
        let in_flight = started.iter().zip(ended).map(|(of, ended)| of.saturating_sub(*ended));
        self.current.in_flight = in_flight.collect();
        std::mem::replace(&mut self.current, Box::new(next))
    }

    /// Totals of started and ended transactions since the beginning.
    #[must_use]
    pub const fn totals(&self) -> &Totals {
        &self.totals
    }
}

/// Rounds to whole microseconds, at least one.
const fn microseconds(ns: u64) -> u64 {
    let rounded = (ns + 500) / 1000;
    if rounded == 0 { 1 } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Times;

    fn at(due_ms: u64, started_ms: u64, finished_ms: u64) -> Timing {
        let ms = |n| Elapsed(n * 1_000_000);
        Timing { due: ms(due_ms), started: ms(started_ms), finished: ms(finished_ms) }
    }

    const COMMITTED: TransactionEnd =
        TransactionEnd { counter: 2, ..TransactionEnd::of(Outcome::Committed) };

    #[test]
    fn response_runs_from_due_and_service_from_start() {
        let mut recorder = Recorder::new(2, false);
        recorder.start(1);
        recorder.record(1, at(100, 300, 350), COMMITTED);
        let interval = recorder.take(Elapsed::at_second(1));
        let seen = &interval.types[1];
        assert_eq!(seen.response.as_ref().unwrap().max() / 1000, 250);
        assert_eq!(seen.service.as_ref().unwrap().max() / 1000, 50);
        assert_eq!((seen.counts.committed, seen.counts.counter), (1, 2));
        assert_eq!(interval.pool_wait.as_ref().unwrap().max() / 1000, 200);
    }

    #[test]
    fn seconds_merge_exactly_and_say_so() {
        let mut recorder = Recorder::new(1, true);
        recorder.record(0, at(0, 0, 10), COMMITTED);
        let mut first = recorder.take(Elapsed::at_second(3));
        assert!(recorder.is_due(Elapsed::at_second(4)) && !recorder.is_due(Elapsed(3_999_999_999)));
        recorder.record(0, at(3000, 3000, 3020), COMMITTED);
        let second = recorder.take(Elapsed::at_second(4));
        first.add_later(&second);
        assert_eq!((first.first, first.last, first.is_single()), (0, 3, false));
        assert_eq!(first.types[0].response.as_ref().unwrap().len(), 2);
        assert!(first.types[0].service.is_none(), "a closed load records one histogram");
        assert!(first.pool_wait.is_none(), "and nobody waits");
    }

    #[test]
    fn gauges_merge_by_thread_and_by_time() {
        let of = |thread, busy| {
            let mut recorder = Recorder::new(1, true);
            recorder.lag(2_000_000);
            recorder.round_trip(500_000);
            let mut interval = recorder.take(Elapsed::at_second(1));
            interval.gauges.cpu.push(WorkerCpu {
                thread,
                cpu_ns: busy,
                wall_ns: 1000,
                wait_ns: Some(10),
            });
            interval.gauges.host = HostCpu { busy, total: 2000 };
            interval
        };
        let mut all = of(0, 100);
        all.add_thread(&of(1, 900));
        all.add_later(&of(1, 500));
        let Gauges { cpu, lag, round_trip, host, .. } = &all.gauges;
        let both = WorkerCpu { thread: 1, cpu_ns: 1400, wall_ns: 2000, wait_ns: Some(20) };
        assert_eq!(cpu[1], both);
        assert_eq!((cpu.len(), all.gauges.busiest_share()), (2, 0.7));
        assert_eq!((lag.as_ref().unwrap().len(), round_trip.as_ref().unwrap().len()), (3, 3));
        assert_eq!((host.share(), HostCpu::default().share()), (Some(0.25), None));
    }

    #[test]
    fn times_beyond_an_hour_are_kept_and_merge_with_shorter_ones() {
        let of = |seconds: u64| {
            let mut recorder = Recorder::new(1, true);
            recorder.edge = Elapsed::NEVER;
            recorder.record(0, at(0, 0, 1000 * seconds), COMMITTED);
            recorder.take(Elapsed(0)).types.remove(0)
        };
        let (day, short) = (of(86_400), of(1));
        for (first, second) in [(&day, &short), (&short, &day)] {
            let mut both = first.clone();
            both.add(second);
            let times = both.response.unwrap();
            assert_eq!((times.len(), both.saturated), (2, 0));
            let near = |us: u64, seconds: u64| us.abs_diff(seconds * 1_000_000) <= us / 1000;
            assert!(near(times.max(), 86_400) && near(times.min(), 1), "{times:?}");
        }
    }

    #[test]
    fn more_than_four_thousand_million_in_a_bucket_are_counted() {
        let mut all = None;
        for us in [10, 20] {
            let mut times = histogram();
            times.record_n(us, 3_000_000_000).unwrap();
            (0..3).for_each(|_| merge(&mut all, Some(&times)));
        }
        let times = Times::of(all.as_ref(), None);
        assert_eq!((times.count, times.p50_us, times.p99_us), (18_000_000_000, 10, 20));
        let interval = TypeInterval { response: all, ..TypeInterval::default() };
        let passed_on = serde_json::to_string(&interval).unwrap();
        let read: TypeInterval = serde_json::from_str(&passed_on).unwrap();
        assert_eq!(Times::of(read.response.as_ref(), None), times);
    }

    #[test]
    fn more_than_the_longest_run_saturates_and_is_counted() {
        let mut recorder = Recorder::new(1, true);
        recorder.edge = Elapsed::NEVER;
        recorder.record(0, at(0, 0, 2 * HIGHEST_US / 1000), COMMITTED);
        let interval = recorder.take(Elapsed(0));
        assert_eq!(interval.types[0].saturated, 1);
        let longest = interval.types[0].response.as_ref().unwrap().max();
        assert!(longest.abs_diff(HIGHEST_US) <= HIGHEST_US / 1000, "{longest}");
    }
}

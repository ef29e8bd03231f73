//! The control thread: starts the workers, gives the start signal, moves the run through its
//! phases, merges the seconds of all threads, and verifies the counts at the end.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep_until;
use triphammer_core::clock::{Clock, Elapsed};
use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::event::{Event, Note, Phase};
use triphammer_core::nodes::NodeInterval;
use triphammer_core::pace::{Load, LoadChanged};
use triphammer_core::recorder::LoginInterval;
use triphammer_core::session::Database;
use triphammer_core::workload::Workload;

use super::context::{Context, OfThread};
use super::course::Course;
use super::demand::Demand;
use super::host::HostMeter;
use super::hosts::{Gate, Zero};
use super::lag;
use super::merge::Merger;
use super::node_events::NodeEvents;
use super::phases::Phases;
use super::planned::Planned;
use super::queue::Tickets;
use super::signal::{Signal, State, StopHandle};
use super::slots::Slots;
use super::thread::Thread;
use super::uplink::FromWorker;
use super::workers::{MESSAGES_MAX, Workers};
use super::{
    NO_RUNTIME, RunEnd, RunError, RunLogins, RunPlan, Violation, accounts, called_off, worker,
};

/// Kind of the note that the load was changed.
const LOAD_CHANGED: &str = "load_changed";

/// How often the watchdog checks sessions that block their thread.
const WATCHDOG_TICK: Duration = Duration::from_millis(50);

/// Runs with worker threads.
pub(super) async fn threaded<W: Workload, D: Database>(
    plan: RunPlan<W, D>,
    events: mpsc::Sender<Event>,
    stopper: StopHandle,
    signal: Signal,
    gate: Option<Gate>,
    runtime: Arc<Runtime>,
) -> Result<RunEnd, RunError> {
    let worker_loop = plan.spec.worker_loop(plan.database.capabilities());
    let (control, contexts) = prepare(plan, events, stopper, signal, true, gate);
    for (context, users) in contexts {
        let name = format!("worker {}", users.first().copied().unwrap_or_default());
        // A context is not Send, but its parts are: it is assembled on its own thread.
        let shared = Arc::clone(&runtime);
        let started = std::thread::Builder::new().name(name).spawn(move || {
            let context = context();
            match Thread::new(worker_loop, shared) {
                Ok(thread) => thread.run(worker::work(context, users)),
                Err(error) => context.cannot_start(DbError::new(
                    ErrorClass::Other,
                    format!("{NO_RUNTIME}: {error}"),
                )),
            }
        });
        if let Err(error) = started {
            control.course.stopper.over();
            let error = DbError::new(
                ErrorClass::Other,
                format!("starting a worker thread: {error}; use fewer --threads"),
            );
            return Err(RunError { connected: 0, of: control.workers.sessions, error });
        }
    }
    control.drive().await
}

/// Runs with one worker next to the control thread's tasks, on the same task set.
pub(super) async fn here<W: Workload, D: Database>(
    mut plan: RunPlan<W, D>,
    events: mpsc::Sender<Event>,
    stopper: StopHandle,
    signal: Signal,
    gate: Option<Gate>,
) -> Result<RunEnd, RunError> {
    plan.spec.threads = 1;
    let (control, contexts) = prepare(plan, events, stopper, signal, false, gate);
    for (context, users) in contexts {
        tokio::task::spawn_local(worker::work(context(), users));
    }
    control.drive().await
}

type MakeContext<W, D> = Box<dyn FnOnce() -> Context<W, D> + Send>;

/// The context factory of each worker, with the users assigned to it.
type Contexts<W, D> = Vec<(MakeContext<W, D>, Vec<u32>)>;

/// Assigns the sessions to threads, and creates what the threads are given and the control that
/// waits for them.
fn prepare<W: Workload, D: Database>(
    mut plan: RunPlan<W, D>,
    events: mpsc::Sender<Event>,
    stopper: StopHandle,
    signal: Signal,
    precise: bool,
    gate: Option<Gate>,
) -> (Control, Contexts<W, D>) {
    let ids = plan.share.range(plan.spec.sessions());
    let sessions = ids.end - ids.start;
    plan.spec.threads = plan.spec.threads.min(sessions).max(1);
    let threads = plan.spec.threads;
    let blocks = plan.database.capabilities().blocks;
    let phases = Phases::new(&plan.spec);
    if plan.share.of() == 1 {
        stopper.load().allow(&plan.spec, &*plan.workload);
    }
    let tickets = Arc::new(Tickets::default());
    let slots = Slots::new(ids.clone());
    let (sender, messages) = mpsc::channel(MESSAGES_MAX);
    let mut contexts: Contexts<W, D> = Vec::new();
    let mut heartbeats = Vec::new();
    for thread in 0..threads {
        let dealt = ids.clone().skip(thread as usize).step_by(threads as usize).collect();
        let heartbeats = (!blocks).then(|| {
            let (sender, receiver) = lag::channel();
            heartbeats.push(sender);
            receiver
        });
        let of_thread = OfThread {
            thread: thread as usize,
            signal: signal.clone(),
            slots: slots.clone(),
            control: sender.clone(),
            heartbeats,
            edges: phases.edges(),
            tickets: Arc::clone(&tickets),
            precise,
        };
        let plan = plan.clone();
        let make = move || Context::new(plan, of_thread);
        contexts.push((Box::new(make), dealt));
    }
    let limit = plan.spec.limits.transaction;
    let workers = Workers {
        messages,
        slots,
        sessions,
        connected: 0,
        threads: threads as usize,
        ends: Vec::new(),
        heartbeats,
        watchdog: (blocks && !limit.is_zero()).then_some(limit),
        cancels: JoinSet::new(),
    };
    let types = plan.workload.description().transactions.len();
    let node_names = plan.nodes.iter().flat_map(|n| &n.list).map(|n| n.name.clone()).collect();
    let control = Control {
        planned: Planned::of(&plan.spec),
        course: Course::new(phases, types, demand(plan, tickets), events, stopper),
        signal,
        workers,
        merger: Merger::new(threads as usize, types),
        node_names,
        node_events: NodeEvents::default(),
        host: HostMeter::start(),
        load_changes: Vec::new(),
        gate,
    };
    (control, contexts)
}

/// What is due, and when, of the arrivals or of the recording.
fn demand<W: Workload, D: Database>(plan: RunPlan<W, D>, tickets: Arc<Tickets>) -> Demand {
    let recorded = plan.workload.description().recording.as_ref();
    let recorded = recorded.filter(|_| matches!(plan.spec.load, Load::Replay(_)));
    let recorded = recorded.map(|recording| Arc::clone(&recording.due));
    Demand::new(plan.spec, plan.share, tickets, recorded)
}

/// The parts of the control thread; each has one responsibility. This type connects them.
struct Control {
    course: Course,
    signal: Signal,
    workers: Workers,
    merger: Merger,
    node_names: Vec<String>,
    node_events: NodeEvents,
    host: HostMeter,
    /// Changes of the load that are still to be made.
    planned: Planned,
    /// Changes of the load that have been reported.
    load_changes: Vec<LoadChanged>,
    /// Receives the agreed start of a run by several processes.
    gate: Option<Gate>,
}

impl Control {
    async fn drive(mut self) -> Result<RunEnd, RunError> {
        if let Err(error) = self.all_connect().await {
            self.course.stopper.over();
            let Workers { connected, sessions, .. } = self.workers;
            return Err(RunError { connected, of: sessions, error });
        }
        // The number that others wait for; those before it could be dropped.
        let Workers { connected, sessions: of, .. } = self.workers;
        self.course.outbox.send(Event::Connecting { connected, of }).await;
        let clock = match self.agreed_start().await {
            Ok(clock) => clock,
            Err(error) => {
                self.course.stopper.over();
                let Workers { connected, sessions, .. } = self.workers;
                return Err(RunError { connected, of: sessions, error });
            }
        };
        self.course.begin(clock).await;
        if let Some(end) = self.course.phases.window_end() {
            self.course.stopper.stop_at(end);
        }
        self.host.since_last();
        self.course.stopper.go(clock);
        self.workers.listen(clock);
        while self.workers.missing() > 0 {
            if !self.step().await {
                break;
            }
        }
        Ok(self.finish().await)
    }

    async fn all_connect(&mut self) -> Result<(), DbError> {
        let mut signal = self.signal.clone();
        while self.workers.connected < self.workers.sessions {
            let message = tokio::select! {
                message = self.workers.messages.recv() => message,
                _ = signal.until(|state| state.stop_requested) => {
                    return Err(DbError::new(ErrorClass::Cancelled, "interrupted while connecting"));
                }
            };
            match message {
                Some(FromWorker::Connected(server)) => {
                    if let Some(server) = server {
                        self.host.watch(server);
                    }
                    self.workers.connected += 1;
                    let Workers { connected, sessions: of, .. } = self.workers;
                    self.course.outbox.offer(Event::Connecting { connected, of });
                }
                Some(FromWorker::ConnectFailed(error)) => return Err(error),
                Some(
                    FromWorker::Note(_)
                    | FromWorker::Away(..)
                    | FromWorker::Failing(_)
                    | FromWorker::Recovered(_)
                    | FromWorker::Node(_)
                    | FromWorker::Failover(_)
                    | FromWorker::WorkDone(_)
                    | FromWorker::Second { .. }
                    | FromWorker::Done(_),
                ) => {}
                None => return Err(DbError::new(ErrorClass::Other, "a worker thread died")),
            }
        }
        Ok(())
    }

    /// Waits for the instant that the processes of the run agreed on, if there are several; until
    /// then, no transaction starts. A process that learns of it too late starts at once, but its
    /// clock is that of the others.
    async fn agreed_start(&mut self) -> Result<Clock, DbError> {
        let Some(gate) = self.gate.take() else { return Ok(Clock::start()) };
        let mut signal = self.signal.clone();
        let Zero { at, date } = tokio::select! {
            zero = gate => {
                zero.map_err(|_| called_off())?
            }
            _ = signal.until(|state| state.stop_requested) => {
                return Err(DbError::new(ErrorClass::Cancelled, "interrupted before the start"));
            }
        };
        sleep_until(at).await;
        Ok(Clock::at(at, date))
    }

    /// Waits for one event and handles it. Returns false when there is no point in continuing.
    async fn step(&mut self) -> bool {
        let mut signal = self.signal.clone();
        let called = self.course.is_called();
        let deadline = self.course.phases.deadline();
        let wake = self.course.wake(deadline);
        let change = self.course.wake(self.planned.next());
        tokio::select! {
            // A request comes first: users who have ended because of it did not end by themselves.
            biased;
            state = signal.until(called) => match state.stop_requested {
                true => self.stop_early(state),
                // The stopping rule is satisfied.
                false => {
                    let second = state.window_over.unwrap_or_default();
                    self.course.stopper.stop_at(self.course.phases.shorten(second));
                }
            },
            message = self.workers.messages.recv() => match message {
                Some(message) => self.take(message),
                None => return false,
            },
            () = sleep_until(change), if self.planned.next().is_some() => self.change_as_planned(),
            () = sleep_until(wake), if deadline.is_some() => return self.phase_is_over(),
            () = tokio::time::sleep(WATCHDOG_TICK), if self.workers.watchdog.is_some() => {
                self.workers.watch(self.course.phases.clock.now());
            }
        }
        true
    }

    fn take(&mut self, message: FromWorker) {
        match message {
            FromWorker::Second { thread, complete, interval } => {
                self.course.sums.add(&interval, self.course.phases.is_timed(&interval));
                self.merger.take(thread, complete, *interval);
                self.emit();
            }
            FromWorker::Note(note) => self.course.outbox.note(note),
            FromWorker::Away(at, why) => {
                if let Some(note) = self.course.outages.away(at, &why) {
                    self.course.outbox.note(note);
                }
            }
            FromWorker::Failing(note) => self.course.outbox.failing(note),
            FromWorker::Recovered(recovery) => self.course.outages.recovered(recovery),
            FromWorker::Node(change) => self.node_events.changes.push(change),
            FromWorker::Failover(failover) => self.node_events.failover(failover),
            FromWorker::WorkDone(at) => self.work_is_done(at),
            FromWorker::Done(end) => {
                self.merger.end(end.thread);
                self.workers.ends.push(*end);
                if self.workers.missing() == 0 {
                    self.users_have_ended();
                }
                self.emit();
            }
            FromWorker::Connected(_) | FromWorker::ConnectFailed(_) => {}
        }
    }

    /// Makes the next planned change.
    fn change_as_planned(&mut self) {
        let Some(refused) = self.planned.make(&self.course.stopper) else { return };
        let now = self.course.phases.clock.now();
        self.course.outbox.note(Note::new(LOAD_CHANGED, Some(now), refused));
    }

    /// Reports changes of the load, and follows them.
    fn follow_changes(&mut self) {
        let load = self.course.stopper.load();
        let made = load.changes(self.load_changes.len());
        if let Some(profile) = load.profile().filter(|_| !made.is_empty()) {
            self.course.demand.follow(&profile);
        }
        for change in made {
            let note = Note::new(LOAD_CHANGED, Some(change.at), change.words());
            self.course.outbox.note(note);
            self.load_changes.push(change);
        }
    }

    /// Emits every second that all threads have completed, including empty ones.
    fn emit(&mut self) {
        self.follow_changes();
        let stop = self.course.phases.stop();
        while let Some(mut second) = self.merger.next_second(self.course.phases.least_seconds()) {
            (second.gauges.host, second.gauges.host_use) = self.host.since_last();
            self.course.demand.complete(&mut second, stop);
            self.course.emit(second);
        }
    }

    /// Ends the current phase by the clock. Returns false when even the abort has
    /// taken too long.
    fn phase_is_over(&mut self) -> bool {
        if self.course.next_phase() {
            return true;
        }
        match self.course.phases.current {
            Some(Phase::Drain) => {
                let text = format!(
                    "transactions still in flight {} s after the stop were abandoned",
                    self.course.phases.drain().as_secs_f64()
                );
                let now = self.course.phases.clock.now();
                self.course.outbox.note(Note::new("drain_limit", Some(now), text));
                self.abort();
            }
            _ => {
                let text = format!(
                    "{} worker threads did not finish; their counts are missing",
                    self.workers.missing()
                );
                let now = self.course.phases.clock.now();
                self.course.outbox.note(Note::new("worker_lost", Some(now), text));
                return false;
            }
        }
        true
    }

    /// Ends the load because the workload has no more work.
    fn work_is_done(&mut self, at: Elapsed) {
        if self.course.phases.is_timed_load() && self.course.phases.work_is_done(at) {
            self.course.stop();
        }
    }

    /// Without users there are no further seconds.
    fn users_have_ended(&mut self) {
        if self.course.phases.is_timed_load() && !self.course.phases.users_ended() {
            // Users that never wait have finished before this thread's timer fires.
            self.course.enter(Phase::Drain);
        }
    }

    /// Ends the run early, by request.
    fn stop_early(&mut self, state: State) {
        self.course.stop_early();
        if state.aborted {
            self.abort();
        }
    }

    /// Abandons transactions in flight: workers drop their users, and the database is requested to
    /// cancel.
    fn abort(&mut self) {
        self.course.abort();
        self.workers.cancel_all();
    }

    /// Closes the sinks and the counters, and assembles the result.
    async fn finish(mut self) -> RunEnd {
        self.users_have_ended();
        self.emit();
        self.workers.cancelled().await;
        let outages = self.course.close(self.merger.given()).await;
        self.workers.ends.sort_by_key(|end| end.thread);
        let ends = &self.workers.ends;
        let ended = ends.iter().map(|end| end.last_finish).max().unwrap_or_default();
        let stop = self.course.phases.stop().min(self.course.phases.clock.now());
        let offered = self.course.demand.offered(stop, ends);
        let failovers = self.node_events.notes(&self.node_names);
        failovers.into_iter().for_each(|note| self.course.outbox.note(note));
        let sessions = (self.course.sums.lost, self.course.sums.reconnected);
        let logins = self.logins();
        let violations = self.violations();
        let [start, end] = self.course.phases.edges();
        let types = self.course.sums.run.len();
        let mut nodes_in_window = std::mem::take(&mut self.course.sums.nodes_in_window);
        nodes_in_window.resize_with(self.course.sums.nodes.len(), NodeInterval::default);
        let mut workers = self.workers;
        let kept: Vec<_> =
            workers.ends.iter_mut().flat_map(|end| std::mem::take(&mut end.slowest)).collect();
        RunEnd {
            started_at: self.course.phases.clock.zero_timestamp(),
            ended,
            window: self.course.phases.real_window(ended),
            started: workers.by_type(types, |end| &end.totals.started),
            in_flight: workers.by_type(types, |end| &end.in_flight),
            run: self.course.sums.run,
            timed: self.course.sums.window,
            offered,
            pool_wait: self.course.sums.pool_wait,
            backlog_max: self.course.sums.backlog_max,
            exemplars: accounts::slowest(kept.into_iter(), start..end),
            gauges: self.course.sums.gauges,
            worker_cpu_ns: workers.ends.iter().map(|end| end.cpu_ns).collect(),
            sessions,
            logins,
            away: workers.sum(|end| end.away),
            nodes: self
                .course
                .sums
                .nodes
                .into_iter()
                .zip(nodes_in_window)
                .map(|(all, window)| [all, window])
                .collect(),
            failovers: self.node_events.failovers(),
            node_changes: self.node_events.changes,
            load_changes: self.load_changes,
            outages,
            violations,
            round_trips: workers.sum(|end| end.round_trips),
            errors: accounts::errors(workers.ends.iter().flat_map(|end| &end.errors)),
            ending: self.course.phases.ending,
            notes: self.course.outbox.notes,
            hosts: Vec::new(),
        }
    }

    /// The logins of the run, by its parts.
    fn logins(&mut self) -> RunLogins {
        let mut start = LoginInterval::default();
        for (login, after) in self.workers.ends.iter().flat_map(|end| &end.first_logins) {
            start.succeeded(*login);
            start.back_after(*after);
        }
        let [run, window] = std::mem::take(&mut self.course.sums.logins);
        RunLogins { start, run, window }
    }

    /// The counting identities that do not hold; unknown while a worker is missing.
    fn violations(&self) -> Vec<Violation> {
        if self.workers.missing() > 0 {
            return Vec::new();
        }
        let by_type = |read| self.workers.by_type(self.course.sums.run.len(), read);
        let mut violations = accounts::violations(
            &by_type(|end| &end.totals.started),
            &by_type(|end| &end.totals.ended),
            &by_type(|end| &end.in_flight),
            &self.course.sums.run,
        );
        violations.extend(self.course.demand.violation(&self.workers.ends));
        violations.extend(accounts::panics(&self.workers.ends));
        violations
    }
}

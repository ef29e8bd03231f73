//! The control thread: starts the workers, gives the start, moves the run through its phases, merges
//! the seconds of all threads, and proves at the end that nothing was lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use hdrhistogram::Histogram;
use tokio::sync::mpsc;
use tokio::time::{sleep_until, timeout};

use super::host_cpu::HostMeter;
use super::lag::{self, Beats};
use super::outage::{self, Quiet, Recovery};
use super::queue::{Offer, Tickets};
use super::signal::{Signal, State, Stopper};
use super::worker::{self, Context, FromWorker, OfThread, UserSlot, WorkerEnd};
use super::{Ending, NO_RUNTIME, Plan, RunEnd, RunError, Window, accounts, runtime};
use crate::clock::{Clock, Elapsed};
use crate::error::{DbError, ErrorClass};
use crate::event::{Event, Note, Phase};
use crate::pace::Profile;
use crate::recorder::{Gauges, Interval, TypeInterval, merge};
use crate::session::Database;
use crate::spec::{Length, RunSpec};
use crate::workload::Workload;

/// Messages that may wait for the control thread.
const MESSAGES_MAX: usize = 1024;
/// How long an aborted worker may take to come home before the run ends without it.
const ABORT_LIMIT: Duration = Duration::from_secs(10);
/// How often the watchdog looks at sessions that block their thread.
const WATCHDOG_TICK: Duration = Duration::from_millis(50);

/// Runs with worker threads.
pub(super) async fn threaded<W: Workload, D: Database>(
    plan: Plan<W, D>,
    events: mpsc::Sender<Event>,
    stopper: Stopper,
    signal: Signal,
) -> Result<RunEnd, RunError> {
    let (mut control, contexts) = prepare(plan, events, stopper, signal, true);
    for (context, users) in contexts {
        let name = format!("worker {}", users.first().copied().unwrap_or_default());
        // A context is not Send, its parts are: it is put together on its own thread.
        let started = std::thread::Builder::new().name(name).spawn(move || {
            let context = context();
            match runtime() {
                Ok(runtime) => {
                    let local = tokio::task::LocalSet::new();
                    runtime.block_on(local.run_until(worker::work(context, users)));
                }
                Err(error) => context.cannot_start(DbError::new(
                    ErrorClass::Other,
                    format!("{NO_RUNTIME}: {error}"),
                )),
            }
        });
        if let Err(error) = started {
            control.stopper.over();
            let error = DbError::new(
                ErrorClass::Other,
                format!("starting a thread: {error}; give fewer --threads"),
            );
            return Err(RunError { connected: 0, of: control.users, error });
        }
    }
    control.drive().await
}

/// Runs with one worker beside the control in the same task set.
pub(super) async fn here<W: Workload, D: Database>(
    mut plan: Plan<W, D>,
    events: mpsc::Sender<Event>,
    stopper: Stopper,
    signal: Signal,
) -> Result<RunEnd, RunError> {
    plan.spec.threads = 1;
    let (mut control, contexts) = prepare(plan, events, stopper, signal, false);
    for (context, users) in contexts {
        tokio::task::spawn_local(worker::work(context(), users));
    }
    control.drive().await
}

type MakeContext<W, D> = Box<dyn FnOnce() -> Context<W, D> + Send>;

/// What makes each worker's context, with the users dealt to it.
type Workers<W, D> = Vec<(MakeContext<W, D>, Vec<u32>)>;

fn prepare<W: Workload, D: Database>(
    mut plan: Plan<W, D>,
    events: mpsc::Sender<Event>,
    stopper: Stopper,
    signal: Signal,
    precise: bool,
) -> (Control, Workers<W, D>) {
    let users = plan.spec.sessions();
    let threads = plan.spec.threads.min(users).max(1);
    plan.spec.threads = threads;
    let spec = &plan.spec;
    let tickets = Arc::new(Tickets::default());
    let window = match spec.length {
        Length::Time(length) => [spec.rampup.as_secs(), spec.rampup.as_secs() + length.as_secs()],
        Length::Transactions(_) => [0, u64::MAX / 2_000_000_000],
    };
    let slots: Arc<[UserSlot]> = (0..users).map(|_| UserSlot::default()).collect();
    let (sender, messages) = mpsc::channel(MESSAGES_MAX);
    let mut contexts: Workers<W, D> = Vec::new();
    let blocks = plan.database.capabilities().blocks;
    let mut beats = Vec::new();
    for thread in 0..threads {
        let dealt = (thread..users).step_by(threads as usize).collect();
        let heard = (!blocks).then(|| {
            let (beat, heard) = lag::channel();
            beats.push(beat);
            heard
        });
        let of_thread = OfThread {
            thread: thread as usize,
            signal: signal.clone(),
            slots: Arc::clone(&slots),
            control: sender.clone(),
            heard,
            edges: window,
            tickets: Arc::clone(&tickets),
            precise,
        };
        let plan = plan.clone();
        let make = move || Context::new(plan, of_thread);
        contexts.push((Box::new(make), dealt));
    }
    let types = W::transactions().len();
    let watchdog =
        (blocks && !spec.limits.transaction.is_zero()).then_some(spec.limits.transaction);
    let control = Control {
        events,
        stopper,
        signal,
        messages,
        slots,
        users,
        connected: 0,
        window,
        timed: matches!(spec.length, Length::Time(_)),
        shortened: false,
        drain: spec.limits.drain,
        stopped_at: None,
        tickets,
        profile: Profile::new(&spec.load, &spec.pacing.steps, spec.rampup),
        offer: Offer::new(spec),
        backlog_max: None,
        watchdog,
        clock: Clock::start(),
        phase: None,
        deadline: Elapsed::NEVER,
        ending: Ending::Complete,
        complete: vec![0; threads as usize],
        emitted: 0,
        seconds: BTreeMap::new(),
        held: None,
        run: vec![TypeInterval::default(); types],
        in_window: vec![TypeInterval::default(); types],
        pool_wait: None,
        beats,
        host: HostMeter::start(),
        gauges: Gauges::default(),
        sessions: (0, 0),
        notes: Vec::new(),
        ends: Vec::new(),
        quiet: Quiet::default(),
        recoveries: Vec::new(),
        spec: plan.spec,
    };
    (control, contexts)
}

struct Control {
    events: mpsc::Sender<Event>,
    stopper: Stopper,
    signal: Signal,
    messages: mpsc::Receiver<FromWorker>,
    slots: Arc<[UserSlot]>,
    users: u32,
    connected: u32,
    /// Seconds of the timed window: begin and end.
    window: [u64; 2],
    timed: bool,
    /// The window ends before the time that was asked for.
    shortened: bool,
    drain: Duration,
    spec: RunSpec,
    /// From when on no transaction begins.
    stopped_at: Option<Elapsed>,
    /// Of an open load.
    tickets: Arc<Tickets>,
    /// Of an open load.
    profile: Option<Profile>,
    /// Of an open load.
    offer: Option<Offer>,
    /// At the end of a second of the window.
    backlog_max: Option<u64>,
    watchdog: Option<Duration>,
    clock: Clock,
    phase: Option<Phase>,
    /// When the present phase ends.
    deadline: Elapsed,
    ending: Ending,
    /// By thread: every second before this one has come in.
    complete: Vec<u64>,
    /// Every second before this one has gone out.
    emitted: u64,
    seconds: BTreeMap<u64, Interval>,
    /// A second that the sinks had no room for.
    held: Option<Box<Interval>>,
    run: Vec<TypeInterval>,
    in_window: Vec<TypeInterval>,
    pool_wait: Option<Histogram<u32>>,
    /// To the workers, until the run begins.
    beats: Vec<Beats>,
    host: HostMeter,
    /// Of the window; round trips of the whole run.
    gauges: Gauges,
    sessions: (u64, u64),
    notes: Vec<Note>,
    ends: Vec<WorkerEnd>,
    quiet: Quiet,
    recoveries: Vec<Recovery>,
}

impl Control {
    async fn drive(&mut self) -> Result<RunEnd, RunError> {
        if let Err(error) = self.all_connect().await {
            self.stopper.over();
            return Err(RunError { connected: self.connected, of: self.users, error });
        }
        self.clock = Clock::start();
        let _ = self.events.send(Event::Started { at: self.clock.zero_timestamp() }).await;
        if self.timed {
            self.stopper.stop_at(Elapsed::at_second(self.window[1]));
        }
        self.enter(if self.window[0] > 0 { Phase::RampUp } else { Phase::Window });
        self.host.since_last();
        self.stopper.go(self.clock);
        tokio::spawn(lag::beat(self.clock, std::mem::take(&mut self.beats)));
        while self.ends.len() < self.complete.len() {
            if !self.step().await {
                break;
            }
        }
        Ok(self.finish().await)
    }

    async fn all_connect(&mut self) -> Result<(), DbError> {
        let mut signal = self.signal.clone();
        while self.connected < self.users {
            let message = tokio::select! {
                message = self.messages.recv() => message,
                _ = signal.until(|state| state.stop_requested) => {
                    return Err(DbError::new(ErrorClass::Cancelled, "interrupted while connecting"));
                }
            };
            match message {
                Some(FromWorker::Connected) => {
                    self.connected += 1;
                    let event = Event::Connecting { connected: self.connected, of: self.users };
                    let _ = self.events.try_send(event);
                }
                Some(FromWorker::ConnectFailed(error)) => return Err(error),
                Some(
                    FromWorker::Note(_)
                    | FromWorker::Recovered(_)
                    | FromWorker::Second { .. }
                    | FromWorker::Done(_),
                ) => {}
                None => return Err(DbError::new(ErrorClass::Other, "a worker thread died")),
            }
        }
        Ok(())
    }

    /// Waits for one thing to happen and takes it in. False when there is no point in going on.
    async fn step(&mut self) -> bool {
        let mut signal = self.signal.clone();
        let draining = matches!(self.phase, Some(Phase::Drain | Phase::Abort));
        let aborting = self.phase == Some(Phase::Abort);
        let shortens = self.phase == Some(Phase::Window) && self.timed && !self.shortened;
        let called = |state: &State| {
            (state.stop_requested && !draining)
                || (state.aborted && !aborting)
                || (state.window_over && shortens)
        };
        // NEVER is centuries away; a day is enough to look again.
        let deadline = self.deadline.min(Elapsed(self.clock.now().0 + 86_400_000_000_000));
        tokio::select! {
            message = self.messages.recv() => match message {
                Some(message) => self.take(message),
                None => return false,
            },
            () = sleep_until(self.clock.instant(deadline)), if self.deadline != Elapsed::NEVER => {
                return self.phase_is_over();
            }
            state = signal.until(called) => match state.stop_requested {
                true => self.stop_early(state),
                false => self.end_window(),
            },
            () = tokio::time::sleep(WATCHDOG_TICK), if self.watchdog.is_some() => self.watch(),
        }
        true
    }

    fn take(&mut self, message: FromWorker) {
        match message {
            FromWorker::Second { thread, complete, interval } => {
                self.complete[thread] = self.complete[thread].max(complete);
                self.account(&interval);
                match self.seconds.get_mut(&interval.last) {
                    Some(second) => {
                        second.first = second.first.min(interval.first);
                        second.add_thread(&interval);
                    }
                    None => {
                        self.seconds.insert(interval.last, *interval);
                    }
                }
                self.emit();
            }
            FromWorker::Note(note) => self.note(note),
            FromWorker::Recovered(recovery) => self.recoveries.push(recovery),
            FromWorker::Done(end) => {
                self.complete[end.thread] = u64::MAX;
                self.ends.push(*end);
                self.emit();
            }
            FromWorker::Connected | FromWorker::ConnectFailed(_) => {}
        }
    }

    /// Adds an interval to the totals of the run and of the window.
    fn account(&mut self, interval: &Interval) {
        let in_window = self.is_timed(interval);
        for (index, seen) in interval.types.iter().enumerate() {
            self.run[index].add(seen);
            if in_window {
                self.in_window[index].add(seen);
            }
        }
        if in_window {
            merge(&mut self.pool_wait, interval.pool_wait.as_ref());
        }
        self.sessions.0 += interval.lost;
        self.sessions.1 += interval.reconnected;
    }

    fn is_timed(&self, interval: &Interval) -> bool {
        interval.first >= self.window[0] && interval.last < self.window[1]
    }

    /// Sends out every second that all threads have completed, empty ones too.
    fn emit(&mut self) {
        let ready = self.complete.iter().copied().min().unwrap_or_default();
        let ready = if ready == u64::MAX {
            let last = self.seconds.last_key_value().map_or(0, |(last, _)| last + 1);
            last.max(if self.timed { self.window[1] } else { 0 }).max(self.emitted)
        } else {
            ready
        };
        while self.emitted < ready {
            let second = self.emitted;
            let mut interval = self
                .seconds
                .remove(&second)
                .unwrap_or_else(|| Interval::new(second, self.run.len()));
            self.emitted += 1;
            let ended = interval.types.iter().map(|seen| seen.counts.ended()).sum();
            let stop = self.stop();
            if Elapsed::at_second(second + 1) <= stop
                && self.asks_for_work(second)
                && let Some(note) = self.quiet.second(second, ended)
            {
                self.note(note);
            }
            interval.gauges.host = self.host.since_last();
            if let Some(offer) = &mut self.offer {
                offer.complete(&mut interval, stop);
            }
            if self.is_timed(&interval) {
                self.backlog_max = self.backlog_max.max(interval.backlog);
                self.gauges.add(&interval.gauges);
            } else {
                // Rare where they are long, and the network is the same before the window and after it.
                let round_trip = interval.gauges.round_trip.clone();
                self.gauges.add(&Gauges { round_trip, ..Gauges::default() });
            }
            let interval = match self.held.take() {
                Some(mut held) => {
                    held.add_later(&interval);
                    held
                }
                None => Box::new(interval),
            };
            if let Err(mpsc::error::TrySendError::Full(Event::Second(interval))) =
                self.events.try_send(Event::Second(interval))
            {
                self.held = Some(interval);
            }
        }
    }

    /// From when on no transaction begins, as far as is known.
    fn stop(&self) -> Elapsed {
        let by_the_clock =
            if self.timed { Elapsed::at_second(self.window[1]) } else { Elapsed::NEVER };
        self.stopped_at.unwrap_or(by_the_clock)
    }

    /// Whether the load gave the users something to do in this second.
    fn asks_for_work(&self, second: u64) -> bool {
        let seconds = |at: u64| Elapsed::at_second(at).duration().as_secs_f64();
        let expected = |p: &Profile| p.expected(seconds(second + 1)) - p.expected(seconds(second));
        self.profile.as_ref().is_none_or(|profile| expected(profile) >= 1.0)
    }

    fn note(&mut self, note: Note) {
        let _ = self.events.try_send(Event::Note(note.clone()));
        self.notes.push(note);
    }

    fn enter(&mut self, phase: Phase) {
        let now = self.clock.now();
        self.phase = Some(phase);
        self.deadline = match phase {
            Phase::RampUp => Elapsed::at_second(self.window[0]),
            Phase::Window if self.timed => Elapsed::at_second(self.window[1]),
            Phase::Window => Elapsed::NEVER,
            Phase::Drain => Elapsed::from_duration(now.duration() + self.drain),
            Phase::Abort => Elapsed::from_duration(now.duration() + ABORT_LIMIT),
        };
        let _ = self.events.try_send(Event::Phase(phase, now));
    }

    /// The clock says that the present phase is over. False when even the abort has taken too long.
    fn phase_is_over(&mut self) -> bool {
        match self.phase {
            Some(Phase::RampUp) => self.enter(Phase::Window),
            Some(Phase::Window) => {
                self.stopped_at = Some(self.deadline);
                self.stopper.stopped();
                self.enter(Phase::Drain);
            }
            Some(Phase::Drain) => {
                let text = format!(
                    "transactions still in flight {} s after the stop were given up",
                    self.drain.as_secs_f64()
                );
                self.note(Note::new("drain_limit", Some(self.clock.now()), text));
                self.abort();
            }
            Some(Phase::Abort) | None => {
                let missing = self.complete.len() - self.ends.len();
                let text =
                    format!("{missing} worker threads did not end; their counts are missing");
                self.note(Note::new("worker_lost", Some(self.clock.now()), text));
                return false;
            }
        }
        true
    }

    /// Somebody has seen enough: the window ends on the next tick. No second after it has begun, so the
    /// window's sums need no correction.
    fn end_window(&mut self) {
        self.shortened = true;
        self.window[1] = self.window[1].min(self.clock.now().second() + 1);
        self.deadline = Elapsed::at_second(self.window[1]);
        self.stopper.stop_at(self.deadline);
    }

    /// Somebody asked for the end before its time.
    fn stop_early(&mut self, state: State) {
        if !matches!(self.phase, Some(Phase::Drain | Phase::Abort)) {
            let now = self.clock.now();
            if self.timed {
                self.window[1] = self.window[1].min(now.second()).max(self.window[0]);
            }
            self.ending = Ending::Stopped;
            self.stopped_at = Some(now);
            self.note(Note::new("interrupted", Some(now), "stopped before its time"));
            self.stopper.stopped();
            self.enter(Phase::Drain);
        }
        if state.aborted {
            self.abort();
        }
    }

    /// Gives up what is in flight: workers drop their users, and the database is asked to stop.
    fn abort(&mut self) {
        self.ending = Ending::Aborted;
        self.enter(Phase::Abort);
        self.stopper.abort();
        for slot in self.slots.iter() {
            if let Some(canceller) = slot.take_canceller() {
                tokio::spawn(async move {
                    let _ = timeout(Duration::from_secs(2), canceller.cancel()).await;
                });
            }
        }
    }

    /// Cancels attempts over the limit on sessions that block their thread, which no timer there can.
    fn watch(&self) {
        let Some(limit) = self.watchdog else { return };
        let now = self.clock.now();
        for slot in self.slots.iter() {
            let over = slot
                .began_at()
                .is_some_and(|began| now.since(began) > Elapsed::from_duration(limit).0);
            if over {
                slot.cancel_now();
            }
        }
    }

    async fn finish(&mut self) -> RunEnd {
        if self.timed && matches!(self.phase, Some(Phase::RampUp | Phase::Window)) {
            let now = self.clock.now();
            if now < Elapsed::at_second(self.window[1]) {
                self.ending = Ending::UsersEnded;
                self.window[1] = self.window[1].min(now.second()).max(self.window[0]);
            } else {
                // Users that never wait are home before this thread's timer.
                self.enter(Phase::Drain);
            }
        }
        self.emit();
        if let Some(held) = self.held.take() {
            let _ = self.events.send(Event::Second(held)).await;
        }
        self.stopper.over();
        self.ends.sort_by_key(|end| end.thread);
        let types = self.run.len();
        let sum = |read: fn(&WorkerEnd) -> &Vec<u64>| -> Vec<u64> {
            (0..types).map(|t| self.ends.iter().map(|end| read(end)[t]).sum()).collect()
        };
        let started = sum(|end| &end.totals.started);
        let ended_by_type = sum(|end| &end.totals.ended);
        let in_flight = sum(|end| &end.in_flight);
        let window = Elapsed::at_second(self.window[1]);
        let stop = self.stopped_at.unwrap_or_else(|| self.clock.now().min(window));
        let given = self.tickets.given();
        if self.ends.len() == self.complete.len() {
            accounts::assert_identities(&started, &ended_by_type, &in_flight, &self.run);
            accounts::assert_tickets(given, &self.ends);
        }
        let ended = self.ends.iter().map(|end| end.last_finish).max().unwrap_or_default();
        let last = if self.timed { self.window[1] } else { self.emitted };
        let quiet = self.quiet.end(last.max(1));
        let recoveries = outage::notes(std::mem::take(&mut self.recoveries));
        for note in quiet.into_iter().chain(recoveries) {
            self.note(note);
        }
        if self.sessions.0 > 0 {
            let (lost, anew) = self.sessions;
            let text = format!("{lost} sessions were lost and {anew} made anew");
            self.note(Note::new("sessions_lost", None, text));
        }
        let last_second = if self.timed { self.window[1] } else { u64::MAX };
        RunEnd {
            started_at: self.clock.zero_timestamp(),
            ended,
            window: self.real_window(ended),
            started,
            in_flight,
            run: std::mem::take(&mut self.run),
            timed: std::mem::take(&mut self.in_window),
            offered: accounts::offered(&self.spec, given, stop, &self.ends),
            pool_wait: self.pool_wait.take(),
            backlog_max: self.backlog_max,
            exemplars: accounts::slowest(&mut self.ends, self.window[0]..last_second),
            gauges: std::mem::take(&mut self.gauges),
            worker_cpu_ns: self.ends.iter().map(|end| end.cpu_ns).collect(),
            sessions: self.sessions,
            round_trips: self.ends.iter().map(|end| end.round_trips).sum(),
            errors: accounts::errors(&self.ends),
            ending: self.ending,
            notes: std::mem::take(&mut self.notes),
        }
    }

    /// The window that really was.
    fn real_window(&self, ended: Elapsed) -> Window {
        let start = Elapsed::at_second(self.window[0]);
        let end = if self.timed { Elapsed::at_second(self.window[1]) } else { ended };
        Window { start, end }
    }
}

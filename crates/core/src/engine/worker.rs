//! A worker thread: connects its users, lets them work, hands a second over when it ends, and tells
//! the control thread what it counted.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::{Semaphore, mpsc};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep_until;

use super::agenda::Agenda;
use super::alarm::Alarm;
use super::exemplar::{Author, Exemplar, Slowest};
use super::lag::Heard;
use super::outage::{Recovery, Watch};
use super::queue::{Queue, Tickets};
use super::signal::Signal;
use super::turn::{Client, Pace};
use super::user::{self, Live, VirtualUser};
use super::{ErrorSample, Plan};
use crate::clock::{Clock, Elapsed, thread_cpu_ns};
use crate::error::DbError;
use crate::event::Note;
use crate::outcome::{Outcome, Timing};
use crate::pace::Load;
use crate::recorder::{Ended, Interval, Recorder, Totals, WorkerCpu};
use crate::session::{Canceller, Database};
use crate::workload::Workload;

/// Sessions that a thread opens at once: a server's accept queue is finite, and so is its patience.
const CONNECTING_MAX: usize = 8;
/// When a round trip is measured first: after the rush in which all users begin.
const PING_FIRST: Elapsed = Elapsed(500_000_000);
/// Intervals that wait for the control thread before they are merged.
const PENDING_MAX: usize = 64;

/// What a worker tells the control thread.
pub(super) enum FromWorker {
    Connected,
    ConnectFailed(DbError),
    /// Everything before second `complete` of this thread has been sent.
    Second {
        thread: usize,
        complete: u64,
        interval: Box<Interval>,
    },
    Note(Note),
    Recovered(Recovery),
    Done(Box<WorkerEnd>),
}

/// What a worker counted.
#[derive(Default)]
pub(super) struct WorkerEnd {
    pub thread: usize,
    pub totals: Totals,
    pub in_flight: Vec<u64>,
    pub last_finish: Elapsed,
    pub cpu_ns: u64,
    pub round_trips: u64,
    pub errors: Vec<ErrorSample>,
    pub skipped: u64,
    pub given_up: u64,
    /// When those arrivals were due whose sessions waited for them in vain.
    pub returned: Vec<Elapsed>,
    pub slowest: Vec<Exemplar>,
}

/// A transaction that ended.
#[derive(Clone, Copy)]
pub(super) struct Finished {
    pub transaction: usize,
    pub timing: Timing,
    pub ended: Ended,
    pub author: Author,
    pub attempts: u32,
}

/// What the control thread may do to a user from outside.
#[derive(Default)]
pub(super) struct UserSlot {
    canceller: Mutex<Option<Box<dyn Canceller>>>,
    began_ns: AtomicU64,
}

impl UserSlot {
    /// Keeps the handle of the user's new session.
    pub fn watch(&self, canceller: Box<dyn Canceller>) {
        *self.canceller.lock().expect("nobody panics with it") = Some(canceller);
    }

    /// An attempt begins.
    pub fn began(&self, at: Elapsed) {
        self.began_ns.store(at.0.max(1), Ordering::Relaxed);
    }

    /// The attempt is over.
    pub fn ended(&self) {
        self.began_ns.store(0, Ordering::Relaxed);
    }

    /// When the attempt under way began.
    pub fn began_at(&self) -> Option<Elapsed> {
        match self.began_ns.load(Ordering::Relaxed) {
            0 => None,
            ns => Some(Elapsed(ns)),
        }
    }

    /// Takes the handle away, to use it once.
    pub fn take_canceller(&self) -> Option<Box<dyn Canceller>> {
        self.canceller.lock().expect("nobody panics with it").take()
    }

    /// Cancels what the session is doing now, and keeps the handle. Sessions that block their thread
    /// cancel without waiting, so the future is done at its first poll.
    pub fn cancel_now(&self) {
        if let Some(canceller) = &*self.canceller.lock().expect("nobody panics with it") {
            let mut cancelling = canceller.cancel();
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            let _ = cancelling.as_mut().poll(&mut context);
        }
    }

    fn forget(&self) {
        self.take_canceller();
    }
}

/// What a thread is given when it starts.
pub(super) struct OfThread {
    pub thread: usize,
    pub signal: Signal,
    pub slots: std::sync::Arc<[UserSlot]>,
    pub control: mpsc::Sender<FromWorker>,
    pub heard: Option<Heard>,
    /// Seconds at which the timed window begins and ends.
    pub edges: [u64; 2],
    pub tickets: std::sync::Arc<Tickets>,
    /// Whether time is real, so that the kernel's timer can be used.
    pub precise: bool,
}

/// What the sessions of a thread share.
pub(super) struct Context<W: Workload, D: Database> {
    pub plan: Plan<W, D>,
    pub signal: Signal,
    pub recorder: RefCell<Recorder>,
    pub round_trips: Cell<u64>,
    /// Of all sessions of the run, by id.
    pub slots: std::sync::Arc<[UserSlot]>,
    /// Who of this thread waits until when; unused where the load is closed.
    pub agenda: Agenda,
    /// Of an open load.
    pub queue: RefCell<Option<Queue>>,
    /// When those arrivals were due whose sessions the stop came before.
    pub returned: RefCell<Vec<Elapsed>>,
    /// Of a pool, by place on this thread.
    pub terminals: RefCell<Vec<Client<W>>>,
    /// Terminals of the pool that have not done all they had to.
    pub working: Cell<usize>,
    slowest: RefCell<Slowest>,
    precise: bool,
    thread: usize,
    control: mpsc::Sender<FromWorker>,
    pending: RefCell<VecDeque<FromWorker>>,
    /// Transaction type in flight, by place of the user on this thread.
    in_flight: RefCell<Vec<Option<usize>>>,
    errors: RefCell<Vec<ErrorSample>>,
    outage: RefCell<Watch>,
    connected: Cell<u32>,
    last_finish: Cell<Elapsed>,
    cpu_seen: Cell<(u64, Elapsed)>,
    cpu_start_ns: Cell<u64>,
    /// When a user of this thread shall measure a round trip.
    ping_at: Cell<Elapsed>,
    /// What tells the scheduling lag; `None` where nobody measures it, and when it is being heard.
    heard: RefCell<Option<Heard>>,
    /// Seconds at which the timed window begins and ends: intervals are not merged across them.
    edges: [u64; 2],
}

impl<W: Workload, D: Database> Context<W, D> {
    pub(super) fn new(plan: Plan<W, D>, of_thread: OfThread) -> Self {
        let OfThread { thread, signal, slots, control, heard, edges, tickets, precise } = of_thread;
        let types = W::transactions().len();
        let recorder = RefCell::new(Recorder::new(types, plan.spec.load.is_closed()));
        Self {
            signal,
            recorder,
            round_trips: Cell::new(0),
            slots,
            agenda: Agenda::default(),
            queue: RefCell::new(Queue::new(&plan.spec, tickets)),
            returned: RefCell::default(),
            terminals: RefCell::default(),
            working: Cell::default(),
            slowest: RefCell::default(),
            precise,
            plan,
            thread,
            control,
            pending: RefCell::default(),
            in_flight: RefCell::default(),
            errors: RefCell::default(),
            outage: RefCell::default(),
            connected: Cell::new(0),
            last_finish: Cell::default(),
            cpu_seen: Cell::default(),
            cpu_start_ns: Cell::new(0),
            ping_at: Cell::new(PING_FIRST),
            heard: RefCell::new(heard),
            edges,
        }
    }

    /// A transaction starts its first attempt.
    pub fn begin(&self, place: u32, transaction: usize) {
        self.in_flight.borrow_mut()[place as usize] = Some(transaction);
        self.recorder.borrow_mut().start(transaction);
    }

    /// A transaction ended. The one place that records, and that hands a second over when it is past.
    pub fn end(&self, place: u32, finished: Finished) {
        let Finished { transaction, timing, ended, .. } = finished;
        self.in_flight.borrow_mut()[place as usize] = None;
        self.last_finish.set(self.last_finish.get().max(timing.finished));
        self.tick(timing.finished);
        self.recorder.borrow_mut().record(transaction, timing, ended);
        if ended.outcome == Outcome::Committed
            && let Some(recovery) = self.outage.borrow_mut().committed(timing.finished)
        {
            self.send(FromWorker::Recovered(recovery));
        }
        if self.slowest.borrow().takes(timing.response_ns()) {
            self.maybe_keep(finished);
        }
    }

    /// Keeps one of the slowest transactions, if it ended in the timed window.
    #[cold]
    fn maybe_keep(&self, finished: Finished) {
        let Finished { transaction, timing, ended, author, attempts } = finished;
        if (self.edges[0]..self.edges[1]).contains(&timing.finished.second()) {
            let outcome = ended.outcome;
            let exemplar = Exemplar { transaction, author, timing, outcome, attempts };
            self.slowest.borrow_mut().keep(exemplar);
        }
    }

    /// The thread's number, from 0.
    pub fn thread_number(&self) -> u32 {
        u32::try_from(self.thread).expect("threads are counted in 32 bits")
    }

    /// A session was lost.
    pub fn lost(&self, user: u32, now: Elapsed) {
        self.left(user);
        self.recorder.borrow_mut().lost();
        self.outage.borrow_mut().lost(now);
    }

    /// A user's session is gone.
    pub fn left(&self, user: u32) {
        self.slots[user as usize].forget();
        self.connected.set(self.connected.get() - 1);
    }

    /// A session was made anew.
    pub fn reconnected(&self, now: Elapsed) {
        self.connected.set(self.connected.get() + 1);
        self.recorder.borrow_mut().reconnected();
        self.outage.borrow_mut().back(now);
    }

    /// Sessions of this thread that are connected.
    pub fn connected(&self) -> u32 {
        self.connected.get()
    }

    /// Whether it is time that a user of this thread measured a round trip.
    pub fn is_ping_due(&self, now: Elapsed) -> bool {
        now >= self.ping_at.get()
    }

    /// Nobody else shall measure a round trip before `at`.
    pub fn ping_again(&self, at: Elapsed) {
        self.ping_at.set(at);
    }

    /// A round trip that was no transaction's took from `start` to `end`.
    pub fn round_trip(&self, start: Elapsed, end: Elapsed) {
        self.tick(end);
        self.recorder.borrow_mut().round_trip(end.since(start));
    }

    /// Something that was ready at `ready` is taken up now.
    fn lag(&self, ready: Elapsed, now: Elapsed) {
        self.tick(now);
        self.recorder.borrow_mut().lag(now.since(ready));
    }

    /// Tells the control thread something for people.
    pub fn note(&self, note: Note) {
        self.send(FromWorker::Note(note));
    }

    /// Keeps the first error of each type and class, and counts the others.
    pub fn sample(&self, transaction: usize, error: &DbError) {
        let mut errors = self.errors.borrow_mut();
        let class = error.class();
        match errors.iter_mut().find(|e| e.transaction == transaction && e.class == class) {
            Some(sample) => sample.count += 1,
            None => {
                let message = error.to_string();
                errors.push(ErrorSample { transaction, class, message, count: 1 });
            }
        }
    }

    /// Hands the current second over when it is past.
    pub fn tick(&self, now: Elapsed) {
        if !self.recorder.borrow().is_due(now) {
            return;
        }
        self.hand_over(now);
    }

    fn hand_over(&self, now: Elapsed) {
        let mut interval = self.recorder.borrow_mut().take(now);
        let (cpu_before, wall_before) = self.cpu_seen.replace((thread_cpu_ns(), now));
        interval.gauges.cpu.push(WorkerCpu {
            thread: self.thread_number(),
            cpu_ns: self.cpu_seen.get().0.saturating_sub(cpu_before),
            wall_ns: now.since(wall_before),
        });
        interval.connected = self.connected.get();
        if self.plan.spec.load == Load::Keyed {
            interval.backlog = Some(self.agenda.due(now));
        }
        self.send(FromWorker::Second { thread: self.thread, complete: now.second(), interval });
    }

    /// Sends without blocking; what does not fit is kept, and merged when there is too much of it.
    fn send(&self, message: FromWorker) {
        let mut pending = self.pending.borrow_mut();
        pending.push_back(message);
        while let Some(message) = pending.pop_front() {
            if let Err(mpsc::error::TrySendError::Full(message)) = self.control.try_send(message) {
                pending.push_front(message);
                break;
            }
        }
        if pending.len() > PENDING_MAX {
            self.merge_last(&mut pending);
        }
    }

    /// Merges the last two messages when both are seconds on the same side of the window's edges.
    fn merge_last(&self, pending: &mut VecDeque<FromWorker>) {
        let (Some(last), Some(before)) = (pending.pop_back(), pending.back_mut()) else { return };
        match (before, last) {
            (
                FromWorker::Second { interval, complete, .. },
                FromWorker::Second { interval: later, complete: until, .. },
            ) if !self
                .edges
                .iter()
                .any(|edge| (interval.first + 1..=later.last).contains(edge)) =>
            {
                interval.add_later(&later);
                *complete = until;
            }
            (_, last) => pending.push_back(last),
        }
    }

    /// Tells the control thread that this one is of no use. Nobody has begun then, so there is room for it.
    pub fn cannot_start(&self, error: DbError) {
        self.send(FromWorker::ConnectFailed(error));
    }

    /// What this thread counted, with whatever is in flight.
    fn finish(&self) -> WorkerEnd {
        let mut in_flight = vec![0; W::transactions().len()];
        for transaction in self.in_flight.borrow().iter().flatten() {
            in_flight[*transaction] += 1;
        }
        let mut returned = self.returned.take();
        let queue = self.queue.take();
        if queue.is_some() {
            returned.extend(self.agenda.left().into_iter().map(|(due, _)| due));
        }
        WorkerEnd {
            thread: self.thread,
            totals: self.recorder.borrow().totals().clone(),
            in_flight,
            last_finish: self.last_finish.get(),
            cpu_ns: thread_cpu_ns().saturating_sub(self.cpu_start_ns.get()),
            round_trips: self.round_trips.get(),
            errors: self.errors.take(),
            skipped: queue.as_ref().map_or(0, |queue| queue.skipped),
            given_up: queue.as_ref().map_or(0, |queue| queue.given_up),
            returned,
            slowest: self.slowest.take().into_kept(),
        }
    }
}

/// A worker's life, on the thread that owns it.
pub(super) async fn work<W: Workload, D: Database>(context: Context<W, D>, users: Vec<u32>) {
    let context = Rc::new(context);
    let connected = connect_all(&context, &users).await;
    let mut signal = context.signal.clone();
    let state = signal.until(|state| state.clock.is_some() || state.over).await;
    match state.clock {
        Some(clock) if connected.len() == users.len() => {
            run_users(&context, clock, connected).await;
        }
        _ => drop(connected),
    }
    let waiting = std::mem::take(&mut *context.pending.borrow_mut());
    for message in waiting {
        let _ = context.control.send(message).await;
    }
    let _ = context.control.send(FromWorker::Done(Box::new(context.finish()))).await;
}

/// Opens the sessions of all users, some at a time, until one fails or the run is over.
async fn connect_all<W: Workload, D: Database>(
    context: &Rc<Context<W, D>>,
    users: &[u32],
) -> Vec<(u32, Live<W, D>)> {
    let places = Rc::new(Semaphore::new(CONNECTING_MAX));
    let mut opening = JoinSet::new();
    for &id in users {
        let (context, places) = (Rc::clone(context), Rc::clone(&places));
        opening.spawn_local(async move {
            let _place = places.acquire().await.expect("never closed");
            if context.signal.state.borrow().over {
                return None;
            }
            match user::connect(&context, id).await {
                Ok(live) => {
                    context.connected.set(context.connected.get() + 1);
                    let _ = context.control.send(FromWorker::Connected).await;
                    Some((id, live))
                }
                Err(error) => {
                    let _ = context.control.send(FromWorker::ConnectFailed(error)).await;
                    None
                }
            }
        });
    }
    let mut signal = context.signal.clone();
    let mut connected = tokio::select! {
        all = opening.join_all() => all.into_iter().flatten().collect(),
        _ = signal.until(|state| state.over) => Vec::new(),
    };
    connected.sort_by_key(|(id, _)| *id);
    connected
}

/// Lets the users work until all have ended or the run is aborted.
async fn run_users<W: Workload, D: Database>(
    context: &Rc<Context<W, D>>,
    clock: Clock,
    connected: Vec<(u32, Live<W, D>)>,
) {
    context.in_flight.borrow_mut().resize(connected.len(), None);
    context.cpu_start_ns.set(thread_cpu_ns());
    context.cpu_seen.set((thread_cpu_ns(), Elapsed(0)));
    let ringer = set_agenda(context, clock, connected.len());
    let mut users = JoinSet::new();
    for (place, (id, live)) in (0..).zip(connected) {
        let user = VirtualUser::new(Rc::clone(context), clock, place, id, live);
        users.spawn_local(user.work());
    }
    let ticking = Rc::clone(context);
    let ticker = tokio::task::spawn_local(async move {
        loop {
            let next = Elapsed::at_second(clock.now().second() + 1);
            sleep_until(clock.instant(next)).await;
            ticking.tick(clock.now());
        }
    });
    let listening = Rc::clone(context);
    let listener = tokio::task::spawn_local(async move {
        let Some(mut heard) = listening.heard.take() else { return };
        while let Some(sent) = heard.recv().await {
            listening.lag(sent, clock.now());
        }
    });
    let mut signal = context.signal.clone();
    tokio::select! {
        () = async { while users.join_next().await.is_some() {} } => {}
        _ = signal.until(|state| state.aborted) => {}
    }
    ticker.abort();
    listener.abort();
    users.shutdown().await;
    if let Some(ringer) = ringer {
        ringer.abort();
    }
    context.hand_over(clock.now());
}

/// Opens the agenda of a load that waits, logs the terminals of a pool in, and lets the agenda ring.
fn set_agenda<W: Workload, D: Database>(
    context: &Rc<Context<W, D>>,
    clock: Clock,
    sessions: usize,
) -> Option<JoinHandle<()>> {
    let pace = Pace::of::<W>(&context.plan.spec);
    if matches!(pace, Pace::Closed) {
        return None;
    }
    context.agenda.open(sessions, matches!(pace, Pace::Pooled(..)));
    if let Pace::Pooled(cycle, _) = pace {
        context.log_in(cycle);
    }
    let ringing = Rc::clone(context);
    Some(tokio::task::spawn_local(async move {
        let alarm = if ringing.precise { Alarm::precise() } else { Alarm::of_tokio() };
        ringing.agenda.ring(clock, alarm, ringing.signal.clone()).await;
    }))
}

//! The state that the sessions of a thread share if the load waits: the timer queue, the queue of
//! an open load, and the terminals of a pool.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use triphammer_core::clock::{Clock, Elapsed};
use triphammer_core::pace::{Load, due_at};
use triphammer_core::workload::Workload;

use super::RunPlan;
use super::load_change::LoadControl;
use super::queue::{Queue, TakenTicket, Ticket, Tickets};
use super::signal::Signal;
use super::timer_queue::TimerQueue;
use super::virtual_user::VirtualUser;
use super::wake_timer::WakeTimer;

/// Queues on which a thread's sessions wait; unused if the load is closed.
pub(super) struct WaitQueues<W: Workload> {
    pub timers: TimerQueue,
    /// Queue of arrivals; `None` unless the load is open.
    queue: RefCell<Option<Queue>>,
    /// Number of changes of the load that the queue follows.
    version: Cell<u64>,
    /// By session, the sum of gaps of the arrival that it waits for.
    sums: RefCell<Vec<f64>>,
    /// Due times of arrivals that the run stopped before.
    returned: RefCell<Vec<Elapsed>>,
    /// Terminals of a pool, by index on this thread.
    terminals: RefCell<Vec<VirtualUser<W>>>,
    /// Terminals of the pool that have work left.
    working: Cell<usize>,
    keyed: bool,
    /// Whether time is real, so that the kernel's timer can be used.
    precise: bool,
}

/// Outcome of the numbers that a thread's sessions took from the queue.
#[derive(Debug, Default)]
pub(super) struct QueueEnd {
    pub skipped: u64,
    pub given_up: u64,
    /// Due times of the arrivals that sessions returned because the run stopped first.
    pub returned: Vec<Elapsed>,
}

impl<W: Workload> WaitQueues<W> {
    pub fn new<D>(plan: &RunPlan<W, D>, tickets: Arc<Tickets>, precise: bool) -> Self {
        Self {
            timers: TimerQueue::default(),
            queue: RefCell::new(Queue::new(&plan.spec, plan.share, tickets)),
            version: Cell::default(),
            sums: RefCell::default(),
            returned: RefCell::default(),
            terminals: RefCell::default(),
            working: Cell::default(),
            keyed: plan.spec.load == Load::Keyed,
            precise,
        }
    }

    /// Follows a change of the rate: arrivals that are not due yet are due at other times.
    #[cold]
    fn follow(&self, load: &LoadControl) {
        self.version.set(load.version());
        let Some(profile) = load.profile() else { return };
        if let Some(queue) = &mut *self.queue.borrow_mut() {
            queue.follow(&profile);
        }
        let sums = self.sums.borrow();
        self.timers.retime(|place| due_at(&profile, sums[place as usize]));
    }

    /// Follows all changes of the rate until the run stops.
    pub async fn follow_changes(&self, mut signal: Signal) {
        loop {
            let version = self.version.get();
            let state = signal.until(|state| state.stopped || state.load_version > version).await;
            if state.stopped {
                break;
            }
            self.follow(signal.load());
        }
    }

    /// Waits until the arrival of a session is due, and returns when that was; `None` when the run is
    /// over.
    pub async fn until_due(&self, ticket: Ticket, place: u32) -> Option<Elapsed> {
        {
            let mut sums = self.sums.borrow_mut();
            let length = sums.len().max(place as usize + 1);
            sums.resize(length, 0.0);
            sums[place as usize] = ticket.sum;
        }
        self.timers.push(ticket.due, place);
        // It may have been computed again.
        self.timers.wait(place).await.map(|(due, _)| due)
    }

    /// Runs the timer until the run stops.
    pub async fn run_timers(&self, clock: Clock, signal: Signal) {
        let timer = if self.precise { WakeTimer::precise() } else { WakeTimer::of_tokio() };
        self.timers.run(clock, timer, signal).await;
    }

    /// Number of terminals that wait for a session; `None` where there are none.
    pub fn backlog(&self, now: Elapsed) -> Option<u64> {
        self.keyed.then(|| self.timers.due(now))
    }

    /// Logs in the terminals that share the thread's sessions.
    pub fn log_in<D>(&self, plan: &RunPlan<W, D>, ids: impl Iterator<Item = u32>) {
        let terminals =
            ids.map(|id| VirtualUser::user(&*plan.workload, &plan.spec, id)).collect::<Vec<_>>();
        self.working.set(terminals.len());
        *self.terminals.borrow_mut() = terminals;
        for place in 0..self.working.get() {
            self.key(plan, u32::try_from(place).expect("terminals are counted in 32 bits"));
        }
    }

    /// Advances the terminal at `place` to its next transaction, and waits until that is due.
    pub fn key<D>(&self, plan: &RunPlan<W, D>, place: u32) {
        let due = self.terminals.borrow_mut()[place as usize].key(&*plan.workload, &plan.spec);
        match due {
            Some(due) => self.timers.push(due, place),
            None => {
                self.working.set(self.working.get() - 1);
                if self.working.get() == 0 {
                    self.timers.close();
                }
            }
        }
    }

    /// Swaps the terminal at `place` with the user that a session serves.
    pub fn change_places(&self, client: &mut VirtualUser<W>, place: u32) {
        std::mem::swap(client, &mut self.terminals.borrow_mut()[place as usize]);
    }

    /// Takes the next arrival that should run; `None` if nothing arrives.
    pub fn take_ticket(&self, now: Elapsed, load: &LoadControl) -> Option<TakenTicket> {
        if load.version() != self.version.get() {
            self.follow(load);
        }
        self.queue.borrow_mut().as_mut().map(|queue| queue.take(now))
    }

    /// Returns an arrival that the run stopped before, with the time at which it was due.
    pub fn give_back(&self, due: Elapsed) {
        self.returned.borrow_mut().push(due);
    }

    /// Ends the run on this thread.
    pub fn end(&self) -> QueueEnd {
        let mut returned = self.returned.take();
        let Some(queue) = self.queue.take() else {
            return QueueEnd { returned, ..QueueEnd::default() };
        };
        returned.extend(self.timers.left().into_iter().map(|(due, _)| due));
        QueueEnd { skipped: queue.skipped, given_up: queue.given_up, returned }
    }
}

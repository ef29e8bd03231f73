//! What the sessions of a thread share where the load waits: who waits until when, the queue of an open
//! load, and the terminals of a pool.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::RunPlan;
use super::queue::{Queue, Taken, Tickets};
use super::signal::Signal;
use super::timer_queue::TimerQueue;
use super::virtual_user::VirtualUser;
use super::wake_timer::WakeTimer;
use crate::clock::{Clock, Elapsed};
use crate::pace::Load;
use crate::workload::Workload;

/// What a thread's sessions wait with; unused where the load is closed.
pub(super) struct Waiting<W: Workload> {
    pub timers: TimerQueue,
    /// Of an open load.
    queue: RefCell<Option<Queue>>,
    /// When those arrivals were due whose sessions the stop came before.
    returned: RefCell<Vec<Elapsed>>,
    /// Of a pool, by place on this thread.
    terminals: RefCell<Vec<VirtualUser<W>>>,
    /// Terminals of the pool that have not done all they had to.
    working: Cell<usize>,
    keyed: bool,
    /// Whether time is real, so that the kernel's timer can be used.
    precise: bool,
}

/// What became of the numbers that a thread's sessions took from the queue.
#[derive(Debug, Default)]
pub(super) struct QueueEnd {
    pub skipped: u64,
    pub given_up: u64,
    /// When those arrivals were due whose sessions waited for them in vain.
    pub returned: Vec<Elapsed>,
}

impl<W: Workload> Waiting<W> {
    pub fn new<D>(plan: &RunPlan<W, D>, tickets: Arc<Tickets>, precise: bool) -> Self {
        Self {
            timers: TimerQueue::default(),
            queue: RefCell::new(Queue::new(&plan.spec, plan.share, tickets)),
            returned: RefCell::default(),
            terminals: RefCell::default(),
            working: Cell::default(),
            keyed: plan.spec.load == Load::Keyed,
            precise,
        }
    }

    /// Runs the timer until the run stops.
    pub async fn run_timers(&self, clock: Clock, signal: Signal) {
        let timer = if self.precise { WakeTimer::precise() } else { WakeTimer::of_tokio() };
        self.timers.run(clock, timer, signal).await;
    }

    /// How many terminals wait for a session; `None` where there are none.
    pub fn backlog(&self, now: Elapsed) -> Option<u64> {
        self.keyed.then(|| self.timers.due(now))
    }

    /// Logs terminals in, who share the thread's sessions.
    pub fn log_in<D>(&self, plan: &RunPlan<W, D>, ids: impl Iterator<Item = u32>) {
        let terminals =
            ids.map(|id| VirtualUser::user(&*plan.workload, &plan.spec, id)).collect::<Vec<_>>();
        self.working.set(terminals.len());
        *self.terminals.borrow_mut() = terminals;
        for place in 0..self.working.get() {
            self.key(plan, u32::try_from(place).expect("terminals are counted in 32 bits"));
        }
    }

    /// The terminal at `place` goes on to its next transaction, and waits for its time.
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

    /// The terminal at `place` and whom a session serves change places.
    pub fn change_places(&self, client: &mut VirtualUser<W>, place: u32) {
        std::mem::swap(client, &mut self.terminals.borrow_mut()[place as usize]);
    }

    /// Takes the next arrival that shall be run; `None` where nothing arrives.
    pub fn take_ticket(&self, now: Elapsed) -> Option<Taken> {
        self.queue.borrow_mut().as_mut().map(|queue| queue.take(now))
    }

    /// The stop came before the arrival that was due then.
    pub fn give_back(&self, due: Elapsed) {
        self.returned.borrow_mut().push(due);
    }

    /// The run is over.
    pub fn end(&self) -> QueueEnd {
        let mut returned = self.returned.take();
        let Some(queue) = self.queue.take() else {
            return QueueEnd { returned, ..QueueEnd::default() };
        };
        returned.extend(self.timers.left().into_iter().map(|(due, _)| due));
        QueueEnd { skipped: queue.skipped, given_up: queue.given_up, returned }
    }
}

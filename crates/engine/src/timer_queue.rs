//! The timer queue of a thread: entries with the time when each is due. Everything that waits on
//! the thread is an entry in one heap, not a task, and one timer fires for the first entry. Then
//! each entry that is due is handed to a session: its own, or the session of the pool that has been
//! idle longest.
//!
//! | load | an entry is | it is handed to |
//! |---|---|---|
//! | open | a session that holds an arrival's number | that session |
//! | keyed, own sessions | a terminal | its session |
//! | keyed, pool | a terminal | any idle session; if there is none, the next free one takes the entry that has been due longest |

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::task::{Poll, Waker};

use tokio::sync::Notify;
use triphammer_core::clock::{Clock, Elapsed};

use super::signal::Signal;
use super::wake_timer::WakeTimer;

/// An entry: when it is due, and the index of a session or of a terminal on this thread.
pub(super) type Entry = (Elapsed, u32);

/// The timer queue of one worker thread.
#[derive(Debug, Default)]
pub(super) struct TimerQueue {
    list: RefCell<List>,
    /// Notified when the timer must be reset.
    changed: Notify,
}

#[derive(Debug, Default)]
struct List {
    waiting: BinaryHeap<Reverse<Entry>>,
    /// Idle sessions of a pool, longest idle first.
    idle: VecDeque<u32>,
    waiters: Vec<Waiter>,
    pooled: bool,
    /// Time for which the timer is set.
    armed: Option<Elapsed>,
    over: bool,
}

/// A place where a session waits for an entry.
#[derive(Debug, Default)]
struct Waiter {
    handed: Option<Entry>,
    waker: Option<Waker>,
}

impl TimerQueue {
    /// Allocates room for the sessions of the thread.
    pub fn open(&self, sessions: usize, pooled: bool) {
        let mut list = self.list.borrow_mut();
        list.waiters.resize_with(sessions, Waiter::default);
        list.pooled = pooled;
    }

    /// Adds an entry: `who` is due at `at`.
    pub fn push(&self, at: Elapsed, who: u32) {
        self.list.borrow_mut().waiting.push(Reverse((at, who)));
        self.rearm();
    }

    /// Computes again when each entry is due.
    pub fn retime(&self, due: impl Fn(u32) -> Elapsed) {
        let mut list = self.list.borrow_mut();
        let waiting = std::mem::take(&mut list.waiting);
        list.waiting =
            waiting.into_iter().map(|Reverse((_, who))| Reverse((due(who), who))).collect();
        list.armed = None;
        drop(list);
        self.changed.notify_one();
    }

    /// Takes the pool's terminal that has been due longest, if one is due now.
    pub fn take_due(&self, now: Elapsed) -> Option<Entry> {
        let mut list = self.list.borrow_mut();
        let Reverse((at, _)) = list.waiting.peek()?;
        if *at <= now { list.waiting.pop().map(|Reverse(entry)| entry) } else { None }
    }

    /// Number of entries that are due at `now` and wait for a session.
    pub fn due(&self, now: Elapsed) -> u64 {
        let list = self.list.borrow();
        list.waiting.iter().filter(|Reverse((at, _))| *at <= now).count() as u64
    }

    /// Waits until the session in `waiter` is handed an entry; `None` when the run is over.
    pub async fn wait(&self, waiter: u32) -> Option<Entry> {
        {
            let mut list = self.list.borrow_mut();
            if list.pooled {
                list.idle.push_back(waiter);
            }
        }
        self.rearm();
        poll_fn(|context| {
            let mut list = self.list.borrow_mut();
            let over = list.over;
            let waiter = &mut list.waiters[waiter as usize];
            match waiter.handed.take() {
                Some(entry) => Poll::Ready(Some(entry)),
                None if over => Poll::Ready(None),
                None => {
                    waiter.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Wakes all waiting sessions; no more entries are handed out.
    pub fn close(&self) {
        let mut list = self.list.borrow_mut();
        list.over = true;
        for waker in list.waiters.iter_mut().filter_map(|waiter| waiter.waker.take()) {
            waker.wake();
        }
    }

    /// Runs the timer until the run stops.
    pub async fn run(&self, clock: Clock, timer: WakeTimer, mut signal: Signal) {
        let mut stopped = pin!(signal.until(|state| state.stopped));
        loop {
            let next = self.list.borrow_mut().hand_out(clock.now());
            let sleep = async {
                match next {
                    Some(at) => timer.until(&clock, at).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = sleep => {}
                () = self.changed.notified() => {}
                _ = &mut stopped => break,
            }
        }
        self.close();
    }

    /// Entries that still wait, or were handed over but not taken.
    pub fn left(&self) -> Vec<Entry> {
        let mut list = self.list.borrow_mut();
        let mut left: Vec<Entry> = list.waiting.drain().map(|Reverse(entry)| entry).collect();
        left.extend(list.waiters.iter_mut().filter_map(|waiter| waiter.handed.take()));
        left
    }

    /// Resets the timer if it would fire too late.
    fn rearm(&self) {
        let list = self.list.borrow();
        if let Some(first) = list.first()
            && list.armed.is_none_or(|armed| first < armed)
        {
            self.changed.notify_one();
        }
    }
}

impl List {
    /// Time at which the next entry is due for which a session is available.
    fn first(&self) -> Option<Elapsed> {
        let Reverse((at, _)) = self.waiting.peek()?;
        (!self.pooled || !self.idle.is_empty()).then_some(*at)
    }

    /// Hands out the entries that are due, and returns when the next one will be.
    fn hand_out(&mut self, now: Elapsed) -> Option<Elapsed> {
        while self.first().is_some_and(|at| at <= now) {
            let Some(Reverse(entry)) = self.waiting.pop() else { break };
            let waiter = if self.pooled { self.idle.pop_front() } else { Some(entry.1) };
            let waiter = &mut self.waiters
                [waiter.expect("first() returned an entry, so a session is idle") as usize];
            waiter.handed = Some(entry);
            if let Some(waker) = waiter.waker.take() {
                waker.wake();
            }
        }
        self.armed = self.first();
        self.armed
    }
}

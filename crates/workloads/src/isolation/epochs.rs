//! The epochs of a run: which rows are in use, and when the history of an epoch is complete.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};

use triphammer_core::clock::Clock;
use triphammer_isolation::Transaction;

/// Elements of a list at which its epoch ends.
const ELEMENTS: u32 = 64;
/// Elements of a list that its row can hold, if the next epoch is late.
const ELEMENTS_MAX: u32 = 300;

/// The history of an epoch: every transaction on its rows.
#[derive(Debug)]
pub struct Epoch {
    /// Its number.
    pub number: u64,
    /// Its transactions, in the order in which sessions left it.
    pub transactions: Vec<Transaction>,
}

/// What the users of a run share.
#[derive(Debug)]
pub struct Epochs {
    clock: Clock,
    /// The epoch whose rows are in use.
    current: AtomicU64,
    /// The last epoch whose rows are there.
    ready: AtomicU64,
    /// The last epoch whose preparation failed; its rows may be there nevertheless.
    failed: AtomicU64,
    /// Whether somebody inserts the rows of the next one.
    is_preparing: AtomicBool,
    /// Elements that were appended to each list of the current epoch.
    elements: Vec<AtomicU32>,
    /// Number of the last attempt at a transaction, from which the values that it writes follow.
    attempts: AtomicU64,
    histories: Mutex<Histories>,
}

#[derive(Debug, Default)]
struct Histories {
    /// The epoch of each session's last transaction.
    sessions: BTreeMap<u64, u64>,
    /// Number of the next session.
    next: u64,
    /// What sessions have left behind, by epoch.
    left: BTreeMap<u64, Vec<Transaction>>,
    /// Who checks complete histories; `None` if nobody records.
    checker: Option<mpsc::Sender<Epoch>>,
}

impl Epochs {
    /// Creates the epochs of lists of this number; none is ready.
    pub(super) fn new(lists: u32) -> Self {
        Self {
            clock: Clock::start(),
            current: AtomicU64::new(0),
            ready: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            is_preparing: AtomicBool::new(false),
            elements: (0..lists).map(|_| AtomicU32::new(0)).collect(),
            attempts: AtomicU64::new(0),
            histories: Mutex::default(),
        }
    }

    /// Records what happens from now on; the histories of epochs come by the channel, which closes
    /// when [`Epochs::end`] is called.
    pub fn record(&self) -> mpsc::Receiver<Epoch> {
        let (sender, receiver) = mpsc::channel();
        self.histories().checker = Some(sender);
        receiver
    }

    /// All users have left: hands over what is left, and closes the channel.
    pub fn end(&self) {
        let mut histories = self.histories();
        histories.sessions.clear();
        histories.hand_over(u64::MAX);
        histories.checker = None;
    }

    fn histories(&self) -> MutexGuard<'_, Histories> {
        self.histories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Time since the workload was made, in nanoseconds.
    pub(super) fn now(&self) -> u64 {
        self.clock.now().0
    }

    /// The epoch that a transaction begins in.
    pub(super) fn current(&self) -> u64 {
        self.current.load(Ordering::SeqCst)
    }

    pub(super) fn attempt(&self) -> u64 {
        self.attempts.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// The rows of epochs up to this one are there; the first call begins the load with it.
    pub(super) fn set_ready(&self, epoch: u64) {
        self.ready.fetch_max(epoch, Ordering::SeqCst);
        let _ = self.current.compare_exchange(0, epoch, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// The number of an epoch for the caller to prepare; `None` if another does or none is needed.
    pub(super) fn to_prepare(&self) -> Option<u64> {
        let ready = self.ready.load(Ordering::SeqCst);
        if ready > self.current() || self.is_preparing.swap(true, Ordering::SeqCst) {
            return None;
        }
        Some(ready.max(self.failed.load(Ordering::SeqCst)) + 1)
    }

    /// The preparation ended.
    pub(super) fn prepared(&self, epoch: u64, is_there: bool) {
        match is_there {
            true => self.set_ready(epoch),
            false => self.failed.store(epoch, Ordering::SeqCst),
        }
        self.is_preparing.store(false, Ordering::SeqCst);
    }

    /// Counts an element that is about to be appended to a list; false if the list is full. Begins the
    /// next epoch when it is time.
    pub(super) fn append(&self, list: u32, epoch: u64) -> bool {
        let elements = self.elements[list as usize].fetch_add(1, Ordering::Relaxed) + 1;
        let next = self.ready.load(Ordering::SeqCst);
        if elements >= ELEMENTS && next > epoch {
            let exchanged =
                self.current.compare_exchange(epoch, next, Ordering::SeqCst, Ordering::SeqCst);
            if exchanged.is_ok() {
                for elements in &self.elements {
                    elements.store(0, Ordering::Relaxed);
                }
            }
        }
        elements <= ELEMENTS_MAX
    }

    /// A session that records; `None` if nobody does.
    pub(super) fn join(&self) -> Option<u64> {
        let mut histories = self.histories();
        histories.checker.as_ref()?;
        histories.next += 1;
        let number = histories.next;
        histories.sessions.insert(number, self.current());
        Some(number)
    }

    /// A session begins a transaction in a later epoch than before, and leaves its history behind.
    pub(super) fn advance(&self, session: u64, from: u64, to: u64, history: Vec<Transaction>) {
        let mut histories = self.histories();
        histories.left.entry(from).or_default().extend(history);
        histories.sessions.insert(session, to);
        histories.hand_over(self.current());
    }

    /// A session is closed.
    pub(super) fn leave(&self, session: u64, epoch: u64, history: Vec<Transaction>) {
        let mut histories = self.histories();
        histories.left.entry(epoch).or_default().extend(history);
        histories.sessions.remove(&session);
        histories.hand_over(self.current());
    }
}

impl Histories {
    /// Hands over the epochs before the current one in which no session is any more. The current one
    /// stays open even if all sessions are lost at once: they reconnect.
    fn hand_over(&mut self, current: u64) {
        let first = self.sessions.values().min().copied();
        let end = first.map_or(current, |first| first.min(current));
        let Some(checker) = &self.checker else { return };
        while let Some(entry) = self.left.first_entry() {
            if *entry.key() >= end {
                break;
            }
            let (number, transactions) = entry.remove_entry();
            // Without a checker, nobody waits for it.
            let _ = checker.send(Epoch { number, transactions });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_is_complete_when_the_last_session_has_left_it() {
        let epochs = Epochs::new(1);
        let complete = epochs.record();
        epochs.set_ready(1);
        let (a, b) = (epochs.join().unwrap(), epochs.join().unwrap());
        epochs.prepared(2, true);
        for _ in 0..ELEMENTS {
            assert_eq!(epochs.current(), 1);
            assert!(epochs.append(0, 1));
        }
        assert_eq!(epochs.current(), 2);
        epochs.advance(a, 1, 2, Vec::new());
        assert!(complete.try_recv().is_err());
        epochs.leave(b, 1, Vec::new());
        assert_eq!(complete.try_recv().unwrap().number, 1);
        assert!(complete.try_recv().is_err());
        epochs.end();
        assert!(complete.recv().is_err());
    }

    #[test]
    fn the_current_epoch_stays_open_when_all_sessions_are_lost_at_once() {
        let epochs = Epochs::new(1);
        let complete = epochs.record();
        epochs.set_ready(1);
        let session = epochs.join().unwrap();
        epochs.leave(session, 1, Vec::new());
        assert!(complete.try_recv().is_err());
        epochs.join().unwrap();
        epochs.end();
        assert_eq!(complete.try_recv().unwrap().number, 1);
    }

    #[test]
    fn one_user_at_a_time_prepares_the_next_epoch() {
        let epochs = Epochs::new(1);
        epochs.set_ready(7);
        assert_eq!(epochs.current(), 7);
        assert_eq!(epochs.to_prepare(), Some(8));
        assert_eq!(epochs.to_prepare(), None);
        epochs.prepared(8, false);
        assert_eq!(epochs.to_prepare(), Some(9));
        epochs.prepared(9, true);
        assert_eq!(epochs.to_prepare(), None);
    }

    #[test]
    fn a_list_that_no_epoch_ends_fills_up() {
        let epochs = Epochs::new(1);
        epochs.set_ready(1);
        let appended = (0..400).filter(|_| epochs.append(0, 1)).count();
        assert_eq!((appended, epochs.current()), (ELEMENTS_MAX as usize, 1));
    }
}

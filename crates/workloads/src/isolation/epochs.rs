//! The epochs of a run: which rows are in use, and when the history of an epoch is complete.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use triphammer_core::clock::Clock;
use triphammer_isolation::Transaction;

use crate::lock::lock;

/// Elements of a list at which its epoch ends.
const ELEMENTS: u32 = 64;
/// Elements of all lists together at which it ends: a history of some 50,000 transactions.
const ELEMENTS_OF_ALL: u32 = 20_000;
/// Elements of a list that its row can hold, if the next epoch is late.
const ELEMENTS_MAX: u32 = 300;
/// Transactions that may wait for the checker: the histories of further epochs are dropped.
const WAITING_MAX: u64 = 1_000_000;

/// The history of an epoch: every transaction on its rows.
#[derive(Debug)]
pub struct Epoch {
    /// Its number.
    pub number: u64,
    /// Its transactions, in the order in which sessions left it.
    pub transactions: Vec<Transaction>,
}

/// The histories of a run, as its epochs are completed.
#[derive(Debug)]
pub struct Recording {
    histories: mpsc::Receiver<Epoch>,
    waiting: Arc<AtomicU64>,
}

impl Iterator for Recording {
    type Item = Epoch;

    /// Waits for the next history; none follows after [`Epochs::end`].
    fn next(&mut self) -> Option<Epoch> {
        let epoch = self.histories.recv().ok()?;
        self.waiting.fetch_sub(epoch.transactions.len() as u64, Ordering::Relaxed);
        Some(epoch)
    }
}

/// Transactions that were recorded and cannot be checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unchecked {
    /// Those of epochs that were complete while too many waited for the checker.
    pub late: u64,
    /// Those of epochs that a session was still in when the run had ended, so that its part is missing.
    pub incomplete: u64,
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
    /// Elements that were appended to each list of the current epoch, and to all of them.
    elements: Vec<AtomicU32>,
    elements_of_all: AtomicU32,
    /// Number of the last attempt at a transaction, from which the values that it writes follow.
    attempts: AtomicU64,
    histories: Mutex<Histories>,
}

/// What a session has recorded since it began with an epoch.
#[derive(Debug, Default)]
pub(super) struct Part {
    epoch: u64,
    transactions: Vec<Transaction>,
    /// Whether a transaction is running.
    is_busy: bool,
}

#[derive(Debug, Default)]
struct Histories {
    /// The part of each session that records.
    sessions: BTreeMap<u64, Arc<Mutex<Part>>>,
    /// Number of the next session.
    next: u64,
    /// What sessions have left behind, by epoch.
    left: BTreeMap<u64, Vec<Transaction>>,
    /// Who checks complete histories; `None` if nobody records.
    checker: Option<mpsc::Sender<Epoch>>,
    /// Transactions that wait for the checker.
    waiting: Arc<AtomicU64>,
    unchecked: Unchecked,
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
            elements_of_all: AtomicU32::new(0),
            attempts: AtomicU64::new(0),
            histories: Mutex::default(),
        }
    }

    /// Records what happens from now on.
    pub fn record(&self) -> Recording {
        let (sender, receiver) = mpsc::channel();
        let mut histories = lock(&self.histories);
        histories.checker = Some(sender);
        Recording { histories: receiver, waiting: Arc::clone(&histories.waiting) }
    }

    /// The run has ended: hands over what is left, and ends the recording. Returns what was recorded
    /// and is not handed over: a thread that was lost may still hold a part of an epoch, and without
    /// it the reads of others would seem impossible.
    pub fn end(&self) -> Unchecked {
        let mut histories = lock(&self.histories);
        let sessions = std::mem::take(&mut histories.sessions);
        let parts = sessions.values().map(|part| std::mem::take(&mut *lock(part)));
        let parts: Vec<Part> = parts.collect();
        let busy = parts.iter().filter(|part| part.is_busy).map(|part| part.epoch);
        let end = busy.min().unwrap_or(u64::MAX);
        for part in parts {
            histories.left.entry(part.epoch).or_default().extend(part.transactions);
        }
        histories.hand_over(end);
        let incomplete = histories.left.values().map(|left| left.len() as u64).sum();
        histories.unchecked.incomplete = incomplete;
        histories.left.clear();
        histories.checker = None;
        histories.unchecked
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
        let of_all = self.elements_of_all.fetch_add(1, Ordering::Relaxed) + 1;
        let is_full = elements >= ELEMENTS || of_all >= ELEMENTS_OF_ALL;
        let next = self.ready.load(Ordering::SeqCst);
        if is_full && next > epoch {
            let exchanged =
                self.current.compare_exchange(epoch, next, Ordering::SeqCst, Ordering::SeqCst);
            if exchanged.is_ok() {
                for elements in self.elements.iter().chain([&self.elements_of_all]) {
                    elements.store(0, Ordering::Relaxed);
                }
            }
        }
        elements <= ELEMENTS_MAX
    }

    /// A session that records: its number and its part; `None` if nobody does.
    pub(super) fn join(&self) -> Option<(u64, Arc<Mutex<Part>>)> {
        let mut histories = lock(&self.histories);
        histories.checker.as_ref()?;
        histories.next += 1;
        let number = histories.next;
        let part = Arc::new(Mutex::new(Part { epoch: self.current(), ..Part::default() }));
        histories.sessions.insert(number, Arc::clone(&part));
        Some((number, part))
    }

    /// A session begins a transaction; returns its epoch. If that is a later one than before, the
    /// session leaves its history of the earlier one behind.
    pub(super) fn begin(&self, part: &Mutex<Part>) -> u64 {
        let epoch = {
            let mut part = lock(part);
            part.is_busy = true;
            // Read under the lock: an epoch ends for sessions that are not busy (`hand_over`).
            let epoch = self.current();
            if part.epoch == epoch {
                return epoch;
            }
            epoch
        };
        let mut histories = lock(&self.histories);
        let mut part = lock(part);
        let left = std::mem::take(&mut part.transactions);
        let before = std::mem::replace(&mut part.epoch, epoch);
        drop(part);
        histories.left.entry(before).or_default().extend(left);
        histories.hand_over(self.current());
        epoch
    }

    /// A session is closed.
    pub(super) fn leave(&self, session: u64) {
        let mut histories = lock(&self.histories);
        if let Some(part) = histories.sessions.remove(&session) {
            let Part { epoch, transactions, .. } = std::mem::take(&mut *lock(&part));
            histories.left.entry(epoch).or_default().extend(transactions);
        }
        histories.hand_over(self.current());
    }
}

impl Part {
    /// The transaction that was running has ended.
    pub(super) fn push(&mut self, transaction: Transaction) {
        self.transactions.push(transaction);
        self.is_busy = false;
    }
}

impl Histories {
    /// Hands over the epochs before this one in which no session is any more: one that runs no
    /// transaction is in none. The current epoch stays open even if all sessions are lost at once: they
    /// reconnect.
    fn hand_over(&mut self, current: u64) {
        let mut end = current;
        for part in self.sessions.values() {
            let mut part = lock(part);
            if part.epoch < current && !part.is_busy {
                let left = std::mem::take(&mut part.transactions);
                self.left.entry(part.epoch).or_default().extend(left);
                part.epoch = current;
            }
            end = end.min(part.epoch);
        }
        let Some(checker) = &self.checker else { return };
        while let Some(entry) = self.left.first_entry() {
            if *entry.key() >= end {
                break;
            }
            let (number, transactions) = entry.remove_entry();
            let count = transactions.len() as u64;
            if self.waiting.load(Ordering::Relaxed) + count > WAITING_MAX {
                self.unchecked.late += count;
                continue;
            }
            self.waiting.fetch_add(count, Ordering::Relaxed);
            // Without a checker, nobody waits for it.
            let _ = checker.send(Epoch { number, transactions });
        }
    }
}

#[cfg(test)]
mod tests {
    use triphammer_isolation::Fate;

    use super::*;

    fn transaction() -> Transaction {
        let operations = Vec::new();
        Transaction { session: 0, began: 1, ended: 2, fate: Fate::Committed, operations }
    }

    /// Epochs of one list whose second is ready.
    fn epochs() -> Epochs {
        let epochs = Epochs::new(1);
        epochs.set_ready(1);
        epochs.prepared(2, true);
        epochs
    }

    /// Fills the current epoch.
    fn fill(epochs: &Epochs) {
        let epoch = epochs.current();
        for _ in 0..ELEMENTS {
            assert_eq!(epochs.current(), epoch);
            assert!(epochs.append(0, epoch));
        }
        assert_eq!(epochs.current(), epoch + 1);
    }

    #[test]
    fn an_epoch_is_complete_when_the_last_session_has_left_it() {
        let epochs = epochs();
        let complete = epochs.record();
        let [(_, a), (number, b), _idle] = [(); 3].map(|()| epochs.join().unwrap());
        assert_eq!((epochs.begin(&a), epochs.begin(&b)), (1, 1));
        fill(&epochs);
        lock(&a).push(transaction());
        assert_eq!(epochs.begin(&a), 2);
        assert!(complete.histories.try_recv().is_err(), "b is in it");
        lock(&b).push(transaction());
        epochs.leave(number);
        let epoch = complete.histories.try_recv().unwrap();
        assert_eq!((epoch.number, epoch.transactions.len()), (1, 2));
        assert!(complete.histories.try_recv().is_err());
        lock(&a).push(transaction());
        assert_eq!(epochs.end(), Unchecked::default());
        assert_eq!(complete.map(|epoch| epoch.number).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn the_current_epoch_stays_open_when_all_sessions_are_lost_at_once() {
        let epochs = epochs();
        let complete = epochs.record();
        let (number, part) = epochs.join().unwrap();
        epochs.begin(&part);
        lock(&part).push(transaction());
        epochs.leave(number);
        assert!(complete.histories.try_recv().is_err());
        epochs.join().unwrap();
        epochs.end();
        assert_eq!(complete.histories.try_recv().unwrap().number, 1);
    }

    #[test]
    fn an_epoch_of_which_a_part_is_missing_is_not_handed_over() {
        let epochs = epochs();
        let complete = epochs.record();
        let [(_, a), (_, lost)] = [(); 2].map(|()| epochs.join().unwrap());
        epochs.begin(&a);
        lock(&a).push(transaction());
        epochs.begin(&lost);
        assert_eq!(epochs.end(), Unchecked { late: 0, incomplete: 1 });
        assert_eq!(complete.count(), 0);
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

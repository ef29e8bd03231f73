//! Counts of a worker thread's transactions: the intervals of its recorder, the transactions in
//! flight, the first error of each kind, the slowest transactions, and recovery after an outage.

use triphammer_core::clock::Elapsed;
use triphammer_core::error::DbError;
use triphammer_core::nodes::NodeSet;
use triphammer_core::origin::Origin;
use triphammer_core::outcome::{Outcome, Timing};
use triphammer_core::recorder::{Recorder, Totals, TransactionEnd};

use super::ErrorSample;
use super::exemplar::{Exemplar, Slowest};
use super::node_events::{Failover, LastWrites};
use super::outage::{Recovery, Watch};

/// A transaction that ended.
#[derive(Clone, Copy)]
pub(super) struct EndedTransaction {
    pub transaction: usize,
    pub timing: Timing,
    pub ended: TransactionEnd,
    pub origin: Origin,
    pub attempts: u32,
    /// The node on which it ended; `None` for a single server, and if no node could take it.
    pub node: Option<usize>,
}

/// The counters of a thread.
#[derive(Debug)]
pub(super) struct Ledger {
    pub recorder: Recorder,
    /// Statements and calls sent by attempts.
    pub round_trips: u64,
    pub outage: Watch,
    /// Sessions open on each node; empty for a single server.
    pub connected: Vec<u32>,
    writes: LastWrites,
    /// Transaction type in flight, by index of the session on this thread.
    in_flight: Vec<Option<usize>>,
    errors: Vec<ErrorSample>,
    slowest: Slowest,
    last_finish: Elapsed,
    /// Seconds at which the timed window begins and ends; only transactions of the window are kept
    /// as slowest.
    edges: [u64; 2],
}

/// Final counters of a thread.
#[derive(Debug)]
pub(super) struct Closed {
    pub totals: Totals,
    /// Transactions in flight, by type.
    pub in_flight: Vec<u64>,
    pub last_finish: Elapsed,
    pub round_trips: u64,
    pub errors: Vec<ErrorSample>,
    pub slowest: Vec<Exemplar>,
}

impl Ledger {
    /// Creates the counters for this many transaction types and nodes; no nodes for a single server.
    pub fn new(types: usize, nodes: usize, closed_load: bool, edges: [u64; 2]) -> Self {
        Self {
            recorder: Recorder::new(types, closed_load).with_nodes(nodes),
            round_trips: 0,
            outage: Watch::default(),
            connected: vec![0; nodes],
            writes: LastWrites::default(),
            in_flight: Vec::new(),
            errors: Vec::new(),
            slowest: Slowest::default(),
            last_finish: Elapsed::default(),
            edges,
        }
    }

    /// Allocates room for the sessions of the thread.
    pub fn open(&mut self, sessions: usize) {
        self.in_flight.resize(sessions, None);
    }

    /// Records that a transaction starts its first attempt.
    #[inline]
    pub fn begin(&mut self, place: u32, transaction: usize) {
        self.in_flight[place as usize] = Some(transaction);
        self.recorder.start(transaction);
    }

    /// Records that a transaction ended, in the current interval. Returns the recovery if it was
    /// the first to commit after an outage.
    #[inline]
    pub fn end(&mut self, place: u32, finished: EndedTransaction) -> Option<Recovery> {
        let EndedTransaction { transaction, timing, ended, .. } = finished;
        self.in_flight[place as usize] = None;
        self.last_finish = self.last_finish.max(timing.finished);
        self.recorder.record(transaction, timing, ended);
        if self.slowest.takes(timing.response_ns()) {
            self.maybe_keep(finished);
        }
        match ended.outcome {
            Outcome::Committed => self.outage.committed(timing.finished),
            _ => None,
        }
    }

    /// Records on which of several nodes a transaction ended. Returns the failover if it was the
    /// first write on a node after one that can no longer take any; `able` are the nodes that can
    /// take writes now, for a transaction that writes.
    pub fn end_on(
        &mut self,
        node: usize,
        finished: EndedTransaction,
        able: Option<NodeSet>,
    ) -> Option<Failover> {
        let EndedTransaction { transaction, timing, ended, .. } = finished;
        self.recorder.record_on(node, transaction, timing, ended);
        let able = able.filter(|_| ended.outcome == Outcome::Committed)?;
        self.writes.committed(node, timing.finished, able)
    }

    /// Keeps the transaction if it is among the slowest and ended in the timed window.
    #[cold]
    fn maybe_keep(&mut self, finished: EndedTransaction) {
        let EndedTransaction { transaction, timing, ended, origin, attempts, .. } = finished;
        if (self.edges[0]..self.edges[1]).contains(&timing.finished.second()) {
            let outcome = ended.outcome;
            self.slowest.keep(Exemplar { transaction, origin, timing, outcome, attempts });
        }
    }

    /// Keeps the first error of each type and class, and counts the others; returns true for the
    /// first.
    pub fn sample(&mut self, transaction: usize, error: &DbError) -> bool {
        let class = error.class();
        let same = |e: &&mut ErrorSample| e.transaction == transaction && e.class == class;
        match self.errors.iter_mut().find(same) {
            Some(sample) => {
                sample.count += 1;
                false
            }
            None => {
                let message = error.to_string();
                self.errors.push(ErrorSample { transaction, class, message, count: 1 });
                true
            }
        }
    }

    /// Closes the counters, including transactions in flight.
    pub fn close(&mut self) -> Closed {
        let totals = self.recorder.totals().clone();
        let mut in_flight = vec![0; totals.started.len()];
        for transaction in self.in_flight.iter().flatten() {
            in_flight[*transaction] += 1;
        }
        Closed {
            totals,
            in_flight,
            last_finish: self.last_finish,
            round_trips: self.round_trips,
            errors: std::mem::take(&mut self.errors),
            slowest: std::mem::take(&mut self.slowest).into_kept(),
        }
    }
}

//! The state that the sessions of a worker thread share.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use triphammer_core::clock::Elapsed;
use triphammer_core::error::DbError;
use triphammer_core::event::Note;
use triphammer_core::nodes::Change;
use triphammer_core::recorder::Login;
use triphammer_core::session::{Access, Database, NodeStatus};
use triphammer_core::workload::Workload;

use super::RunPlan;
use super::lag::HeartbeatReceiver;
use super::ledger::{Closed, EndedTransaction, Ledger};
use super::node_events::NodeChange;
use super::probes::Probes;
use super::queue::Tickets;
use super::signal::Signal;
use super::slots::{Slots, ThreadSessions};
use super::uplink::{FromWorker, Uplink, WorkerEnd};
use super::waiting::{QueueEnd, WaitQueues};

/// Parameters of a thread at its start.
pub(super) struct OfThread {
    pub thread: usize,
    pub signal: Signal,
    pub slots: Slots,
    pub control: mpsc::Sender<FromWorker>,
    pub heartbeats: Option<HeartbeatReceiver>,
    /// Seconds at which the timed window begins and ends.
    pub edges: [u64; 2],
    pub tickets: Arc<Tickets>,
    /// Whether time is real, so that the kernel's timer can be used.
    pub precise: bool,
}

/// The state that the sessions of a thread share; each part has one responsibility. This type
/// connects the parts: transactions are counted in the second in which they end, and completed
/// seconds are handed over.
pub(super) struct Context<W: Workload, D: Database> {
    pub plan: RunPlan<W, D>,
    pub signal: Signal,
    pub ledger: RefCell<Ledger>,
    pub sessions: ThreadSessions,
    pub waiting: WaitQueues<W>,
    pub probes: Probes,
    pub uplink: Uplink,
    /// Whether it was reported why sessions end while they are idle.
    pub explains_idle_ends: Cell<bool>,
    /// Whether it was reported that sessions wait because their transactions fail at once.
    slows_down: Cell<bool>,
    /// Virtual users whose code panicked.
    pub panicked: Cell<u64>,
    /// The logins of the start, each with when it ended after the first began.
    first_logins: RefCell<Vec<(Login, Duration)>>,
    /// Whether each transaction type reads or writes.
    access: Box<[Access]>,
}

impl<W: Workload, D: Database> Context<W, D> {
    pub fn new(plan: RunPlan<W, D>, of_thread: OfThread) -> Self {
        let OfThread { thread, signal, slots, control, heartbeats, edges, tickets, precise } =
            of_thread;
        let types = &plan.workload.description().transactions;
        let access = types.iter().map(|transaction| transaction.access).collect();
        Self {
            signal,
            ledger: RefCell::new(Ledger::new(
                types.len(),
                plan.nodes.as_ref().map_or(0, |nodes| nodes.list.len()),
                plan.spec.load.is_closed(),
                edges,
            )),
            sessions: ThreadSessions::new(slots),
            waiting: WaitQueues::new(&plan, tickets, precise),
            probes: Probes::new(heartbeats),
            uplink: Uplink::new(thread, control, edges),
            explains_idle_ends: Cell::new(false),
            slows_down: Cell::new(false),
            panicked: Cell::new(0),
            first_logins: RefCell::default(),
            access,
            plan,
        }
    }

    /// Whether a transaction type reads or writes.
    pub fn access(&self, transaction: usize) -> Access {
        self.access[transaction]
    }

    /// Records that a transaction starts its first attempt.
    pub fn begin(&self, place: u32, transaction: usize) {
        self.ledger.borrow_mut().begin(place, transaction);
    }

    /// Records that a transaction ended. The only place that records, and that hands a completed
    /// second over.
    pub fn end(&self, place: u32, finished: EndedTransaction) {
        self.tick(finished.timing.finished);
        let recovery = self.ledger.borrow_mut().end(place, finished);
        if let Some(recovery) = recovery {
            self.uplink.send(FromWorker::Recovered(recovery));
        }
        if let (Some(node), Some(nodes)) = (finished.node, &self.plan.nodes) {
            let able = nodes.states.up() & nodes.states.writable();
            let writes = self.access(finished.transaction).writes();
            let mut ledger = self.ledger.borrow_mut();
            let failover = ledger.end_on(node, finished, writes.then_some(able));
            drop(ledger);
            if let Some(failover) = failover {
                self.uplink.send(FromWorker::Failover(failover));
            }
        }
    }

    /// Records that a session on a node was opened that did not replace a lost one.
    pub fn opened(&self, node: usize) {
        self.sessions.opened();
        if let Some(connected) = self.ledger.borrow_mut().connected.get_mut(node) {
            *connected += 1;
        }
    }

    /// Records that a session on a node is gone.
    pub fn left(&self, id: u32, node: usize) {
        self.sessions.left(id);
        if let Some(connected) = self.ledger.borrow_mut().connected.get_mut(node) {
            *connected -= 1;
        }
    }

    /// Records that a session on a node was lost.
    pub fn lost(&self, id: u32, node: usize, now: Elapsed) {
        self.left(id, node);
        let mut ledger = self.ledger.borrow_mut();
        ledger.recorder.lost();
        if ledger.connected.is_empty() {
            ledger.outage.lost(now);
        } else {
            ledger.recorder.node(node).lost += 1;
        }
    }

    /// Records that the server ended a session while it was idle, when nothing was in flight.
    pub fn closed_idle(&self, id: u32, node: usize) {
        self.left(id, node);
        let mut ledger = self.ledger.borrow_mut();
        ledger.recorder.lost();
        if !ledger.connected.is_empty() {
            ledger.recorder.node(node).lost += 1;
        }
    }

    /// Reports why sessions end while they are idle; `limit` is the server's setting and its value.
    pub fn idle_end(&self, ended: &DbError, limit: Option<(String, String)>, now: Elapsed) {
        let cause = match limit {
            Some((name, value)) => format!("its {name} is {value}"),
            None => "it, or something on the way to it, has a limit".to_owned(),
        };
        let text = format!(
            "the server ended idle sessions ({ended}; {cause}): each reconnects before its next \
             transaction, whose time includes that"
        );
        self.uplink.send(FromWorker::Failing(Note::new("idle_ended", Some(now), text)));
    }

    /// Reports, once per thread, that sessions wait because their transactions fail at once.
    pub fn slows_down(&self, now: Elapsed) {
        if !self.slows_down.replace(true) {
            let note = Note::new("slowed_down", Some(now), super::failing::text());
            self.uplink.send(FromWorker::Failing(note));
        }
    }

    /// Reports that a commit was acknowledged but not confirmed by a standby.
    #[cold]
    pub fn unconfirmed(&self, transaction: usize, warning: &str, now: Elapsed) {
        let title = &self.plan.workload.description().transactions[transaction].title;
        let text = format!("{title} committed, but no standby confirmed it: {warning}");
        self.uplink.send(FromWorker::Failing(Note::new("unconfirmed", Some(now), text)));
    }

    /// Records that a node cannot be reached.
    pub fn node_lost(&self, node: usize, error: &DbError, now: Elapsed) {
        let Some(nodes) = &self.plan.nodes else { return };
        let change = nodes.states.lost(node);
        self.node_changed(node, change, Some(error), now);
    }

    /// Records that a node rejected a write, because it is read only.
    pub fn node_is_read_only(&self, node: usize, error: &DbError, now: Elapsed) {
        let Some(nodes) = &self.plan.nodes else { return };
        let change = nodes.states.set_writable(node, false);
        self.node_changed(node, change, Some(error), now);
    }

    /// Records what a node reported, and how many transactions it counted since it was last asked.
    pub fn node_answered(&self, node: usize, status: NodeStatus, more: Option<u64>, now: Elapsed) {
        let Some(nodes) = &self.plan.nodes else { return };
        for change in nodes.states.answers(node, status.is_writable) {
            self.node_changed(node, change, None, now);
        }
        self.tick(now);
        self.ledger.borrow_mut().recorder.node(node).answered(status, more);
    }

    fn node_changed(
        &self,
        node: usize,
        change: Option<Change>,
        why: Option<&DbError>,
        at: Elapsed,
    ) {
        let (Some(change), Some(nodes)) = (change, &self.plan.nodes) else { return };
        self.uplink.send(FromWorker::Node(NodeChange { at, node, change }));
        let what = match change {
            Change::Lost => "cannot be reached; its users move to other nodes",
            Change::Back => "is back; its users return",
            Change::Promoted => "accepts writes now",
            Change::Demoted => "is read only now",
        };
        let why = why.map_or_else(String::new, |error| format!(": {error}"));
        let text = format!("node {} {what}{why}", nodes.list[node].name);
        self.note(Note::new(&format!("node_{}", change.name()), Some(at), text));
    }

    /// Records that a lost session cannot be re-created, and why.
    pub fn stays_away(&self, now: Elapsed, error: &DbError) {
        if self.sessions.away() == 0 {
            self.uplink.send(FromWorker::Away(now, error.to_string()));
        }
        self.sessions.stays_away();
    }

    /// Records that a session on a node replaced a lost one.
    pub fn reconnected(&self, node: usize, now: Elapsed) {
        self.opened(node);
        let mut ledger = self.ledger.borrow_mut();
        ledger.recorder.reconnected();
        ledger.outage.back(now);
    }

    /// Records a login at the start of the run, which ended this long after the first began.
    pub fn logged_in_at_start(&self, login: Login, after: Duration) {
        self.first_logins.borrow_mut().push((login, after));
    }

    /// Records a login; `lost_at` if its session was lost before.
    pub fn logged_in(&self, login: Login, lost_at: Option<Elapsed>, now: Elapsed) {
        self.tick(now);
        let mut ledger = self.ledger.borrow_mut();
        let logins = ledger.recorder.logins();
        logins.succeeded(login);
        if let Some(lost_at) = lost_at {
            logins.back_after(Duration::from_nanos(now.since(lost_at)));
        }
    }

    /// Records that an attempt to log in failed.
    pub fn login_failed(&self, now: Elapsed) {
        self.tick(now);
        self.ledger.borrow_mut().recorder.logins().failed += 1;
    }

    /// Records that a session that had logged out is lost, because it could not log in again.
    pub fn lost_at_login(&self, node: usize, now: Elapsed) {
        let mut ledger = self.ledger.borrow_mut();
        ledger.recorder.lost();
        match ledger.connected.is_empty() {
            true => ledger.outage.lost(now),
            false => ledger.recorder.node(node).lost += 1,
        }
    }

    /// Records a round trip from `start` to `end` that belongs to no transaction.
    pub fn round_trip(&self, start: Elapsed, end: Elapsed) {
        self.tick(end);
        self.ledger.borrow_mut().recorder.round_trip(end.since(start));
    }

    /// Records the delay between `ready`, when something became ready, and `now`, when it is
    /// handled.
    pub fn lag(&self, ready: Elapsed, now: Elapsed) {
        self.tick(now);
        self.ledger.borrow_mut().recorder.lag(now.since(ready));
    }

    /// Records that an attempt ended with an error. The first error of each kind is reported at
    /// once; conflicts, which are retried, are normal under any load.
    pub fn sample(&self, transaction: usize, error: &DbError, now: Elapsed) {
        let first = self.ledger.borrow_mut().sample(transaction, error);
        if first && !error.class().is_retryable() {
            let title = &self.plan.workload.description().transactions[transaction].title;
            let note = Note::new("error", Some(now), format!("{title} failed: {error}"));
            self.uplink.send(FromWorker::Failing(note));
        }
    }

    /// Reports, once per run, that the threads of a duet cannot be placed.
    pub fn not_placed(&self, note: Note) {
        if self.uplink.thread() == 0 {
            self.note(note);
        }
    }

    /// Sends a message for people to the control thread.
    pub fn note(&self, note: Note) {
        self.uplink.send(FromWorker::Note(note));
    }

    /// Hands the current second over once it is complete.
    pub fn tick(&self, now: Elapsed) {
        if !self.ledger.borrow().recorder.is_due(now) {
            return;
        }
        self.hand_over(now);
    }

    /// Hands the current second over.
    pub fn hand_over(&self, now: Elapsed) {
        let mut interval = self.ledger.borrow_mut().recorder.take(now);
        interval.gauges.cpu.push(self.probes.cpu(self.uplink.thread(), now));
        interval.gauges.traffic = self.probes.traffic();
        interval.connected = self.sessions.connected();
        let ledger = self.ledger.borrow();
        for (node, connected) in interval.nodes.iter_mut().zip(&ledger.connected) {
            node.connected = *connected;
        }
        drop(ledger);
        interval.backlog = self.waiting.backlog(now);
        self.uplink.second(now.second(), interval);
    }

    /// Reports that there was no work for what was due at `due`, if the workload has no more for anybody.
    pub fn without_work(&self, due: Elapsed) {
        if self.plan.workload.is_done() {
            self.uplink.send(FromWorker::WorkDone(due));
        }
    }

    /// Reports to the control thread that this worker cannot start. No transaction has begun yet,
    /// so there is room for the message.
    pub fn cannot_start(&self, error: DbError) {
        self.uplink.send(FromWorker::ConnectFailed(error));
    }

    /// Returns what this thread counted, including transactions in flight.
    pub fn finish(&self) -> WorkerEnd {
        let Closed { totals, in_flight, last_finish, round_trips, errors, slowest } =
            self.ledger.borrow_mut().close();
        let QueueEnd { skipped, given_up, returned } = self.waiting.end();
        WorkerEnd {
            thread: self.uplink.thread(),
            totals,
            in_flight,
            last_finish,
            cpu_ns: self.probes.cpu_ns(),
            round_trips,
            errors,
            skipped,
            given_up,
            returned,
            slowest,
            away: self.sessions.away(),
            panicked: self.panicked.get(),
            first_logins: self.first_logins.take(),
        }
    }
}

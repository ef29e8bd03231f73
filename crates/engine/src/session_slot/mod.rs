//! The one user loop. Each session gets its next [turn]: the user, the transaction,
//! and the time. It draws the input, runs the transaction, classifies the result, retries with the
//! same input or counts, and records. Every load model and every database uses this loop; a new
//! requirement becomes a function that it calls.

mod login;
mod slices;
mod turn;

use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::time::Duration;

use tokio::time::{sleep_until, timeout};
use triphammer_core::clock::{Clock, Elapsed};
use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::event::Note;
use triphammer_core::nodes::Destination;
use triphammer_core::outcome::{Outcome, Timing};
use triphammer_core::random::Rng;
use triphammer_core::recorder::TransactionEnd;
use triphammer_core::session::{Access, Admin as _, Database, Session};
use triphammer_core::workload::{Completion, Workload};

use crate::context::Context;
use crate::failing::Failing;
use crate::ledger::EndedTransaction;
use crate::node_sessions::{Live, NodeSessions};
use crate::silence::Silence;
use crate::virtual_user::VirtualUser;
use login::LoginState;
pub(crate) use turn::Pace;
use turn::Turn;

/// After this many transactions without waiting, a user yields to the others on its thread: a
/// driver that never waits, such as the null driver, must not starve them. A yield costs about 100
/// ns.
const TRANSACTIONS_BEFORE_YIELD: u32 = 64;

/// Shortest time between two measured round trips of a thread.
const PING_EVERY: Duration = Duration::from_secs(1);
/// A round trip is measured again after this many times its duration, divided by the thread's
/// users, so that measuring takes at most 1 % of their time.
const PING_REST: u64 = 100;

/// Idle time, in nanoseconds, after which a session is looked at before a transaction begins:
/// servers end idle sessions.
const IDLE_MIN_NS: u64 = 1_000_000;
/// Limit for reading the server's settings, to name the one that ends idle sessions.
const SETTINGS_LIMIT: Duration = Duration::from_secs(1);

/// Purpose of the random streams that spread waits.
const JITTER: u64 = 2;

/// A session at work: for one virtual user, or for any that is due.
pub(super) struct SessionSlot<W: Workload, D: Database> {
    pub context: Rc<Context<W, D>>,
    pub clock: Clock,
    /// Index of the session on this thread.
    pub place: u32,
    /// Number of the session in the run.
    id: u32,
    pub pace: Pace,
    /// User whose transaction it is running, or ran last.
    pub client: VirtualUser<W>,
    jitter: Rng,
    sessions: NodeSessions<W, D>,
    silence: Silence,
    failing: Failing,
    /// Why the server ended the session while it was idle, until that is reported.
    idle_end: Option<DbError>,
    /// Attempts at the current transaction so far.
    attempts: u32,
    refused: bool,
    /// Whether the session is lost and not yet reconnected.
    away: bool,
    logins: LoginState,
    /// Until when the run works before the other half of its pair may have its turn.
    works_until: Elapsed,
}

impl<W: Workload, D: Database> SessionSlot<W, D> {
    pub(super) fn new(
        context: Rc<Context<W, D>>,
        clock: Clock,
        place: u32,
        id: u32,
        sessions: NodeSessions<W, D>,
    ) -> Self {
        let spec = &context.plan.spec;
        Self {
            clock,
            place,
            id,
            pace: Pace::of(spec),
            client: VirtualUser::user(&*context.plan.workload, spec, id),
            jitter: Rng::of(spec.seed, &[JITTER, u64::from(id)]),
            sessions,
            silence: Silence::of(context.plan.nodes.as_deref()),
            failing: Failing::default(),
            idle_end: None,
            attempts: 0,
            refused: false,
            away: false,
            logins: LoginState::new(spec.logins.every),
            works_until: slices::first(spec),
            context,
        }
    }

    /// Runs transactions until the run stops, the work is done, or the database rejects this
    /// session permanently.
    pub(super) async fn work(mut self) {
        let context = Rc::clone(&self.context);
        let workload = &context.plan.workload;
        let mut since_yield = 0;
        let mut now = self.clock.now();
        loop {
            if context.signal.is_stopped(now) {
                break;
            }
            if matches!(self.pace, Pace::Closed) && context.signal.load().is_parked(self.id) {
                now = self.park().await;
                continue;
            }
            if now >= self.works_until {
                now = self.wait_for_slice(now).await;
                continue;
            }
            if context.probes.is_ping_due(now) {
                now = self.ping(now).await;
                continue;
            }
            if self.has_lost_its_session() {
                if self.ensure_session(None).await.is_err() {
                    break;
                }
                now = self.clock.now();
                continue;
            }
            // A closed load's turn is found without a future: it is all the time that a fast
            // database sees of us.
            let turn = match self.pace {
                Pace::Closed => self.at_once(now),
                _ => self.wait_for_turn(now).await,
            };
            let turn = match turn {
                Some(turn) if self.logins.is_out => self.log_in_for(turn).await,
                turn => turn,
            };
            let Some(Turn { due, started, transaction }) = turn else { break };
            let VirtualUser { state, inputs, .. } = &mut self.client;
            let input = workload.draw(transaction, state, inputs, self.clock.timestamp(due));
            context.begin(self.place, transaction);
            let ended = self.transaction(transaction, &input, started).await;
            let finished = self.clock.now();
            let Some(ended) = ended else { break };
            let state = &mut self.client.state;
            workload.ended(state, &input, ended.lasting_outcome(), finished);
            let timing = Timing { due, started, finished };
            context.end(self.place, self.counted(transaction, timing, ended));
            self.leave(finished);
            if self.refused {
                break;
            }
            now = finished;
            self.sessions.used(finished);
            match ended.outcome {
                Outcome::Failed(_) => now = self.slow_down(started, finished).await,
                _ => self.failing.ends(),
            }
            // A session that was lost logs in again as it is.
            if self.logins.ends() && self.sessions.current().is_some() {
                now = self.log_out().await;
            }
            since_yield = (since_yield + 1) % TRANSACTIONS_BEFORE_YIELD;
            if since_yield == 0 {
                tokio::task::yield_now().await;
            }
        }
        self.close().await;
    }

    /// A transaction that has ended, as it is counted.
    fn counted(
        &self,
        transaction: usize,
        timing: Timing,
        ended: TransactionEnd,
    ) -> EndedTransaction {
        let (origin, attempts, node) = (self.client.origin, self.attempts, self.node());
        EndedTransaction { transaction, timing, ended, origin, attempts, node }
    }

    /// Whether the only session is lost while arrivals wait for one: it logs in before it takes the next.
    fn has_lost_its_session(&self) -> bool {
        self.context.plan.nodes.is_none()
            && self.sessions.current().is_none()
            && !self.logins.is_out
            && !matches!(self.pace, Pace::Closed)
    }

    /// Closes all sessions.
    async fn close(mut self) {
        let plan = &self.context.plan;
        for (node, Live { mut session, prepared, .. }) in self.sessions.take() {
            self.context.left(self.id, node);
            if plan.nodes.as_ref().is_some_and(|nodes| nodes.states.up() >> node & 1 == 0) {
                // There is nobody to say goodbye to.
                continue;
            }
            let ending = plan.workload.finish(prepared, &mut session);
            let _ = timeout(plan.spec.limits.connect, ending).await;
            session.into_inner().close().await;
        }
    }

    /// Measures a round trip between two transactions, and returns the time from which the next
    /// transaction counts: after the ping, which is not part of any service time; but before it if
    /// the ping took long, so that an outage does not hide in it.
    async fn ping(&mut self, now: Elapsed) -> Elapsed {
        let every = Elapsed::from_duration(PING_EVERY).0;
        if self.was_idle(now) && self.has_ended_idle() {
            return now;
        }
        let node = self.sessions.at();
        let Some(live) = self.sessions.current_mut() else {
            self.context.probes.ping_again(Elapsed(now.0 + every));
            return now;
        };
        // One ping at a time per thread.
        self.context.probes.ping_again(Elapsed::NEVER);
        let limit = match self.context.plan.spec.limits.transaction {
            Duration::ZERO => self.context.plan.database.waits().query,
            limit => limit,
        };
        let answer = match self.silence.or(node, timeout(limit, live.session.ping())).await {
            Some(asked) => asked.unwrap_or_else(|_| Err(timed_out(false, limit))),
            None => Err(silent(false)),
        };
        let end = self.clock.now();
        match answer {
            Ok(true) => self.context.round_trip(now, end),
            // Nothing to measure on this database, now or later.
            Ok(false) => return now,
            // A session that cannot answer a ping cannot answer anything.
            Err(_) => {
                self.lose_session();
            }
        }
        let took = end.since(now);
        let users = u64::from(self.context.sessions.connected().max(1));
        let rest = every.max(took.saturating_mul(PING_REST) / users);
        self.context.probes.ping_again(Elapsed(end.0.saturating_add(rest)));
        if took < every { end } else { now }
    }

    /// Runs one transaction with all its attempts. Returns `None` when an abort abandoned it, which
    /// leaves it in flight.
    async fn transaction(
        &mut self,
        transaction: usize,
        input: &W::Input,
        started: Elapsed,
    ) -> Option<TransactionEnd> {
        let without = |outcome| Some(TransactionEnd::of(outcome));
        let failed = |class| without(Outcome::Failed(class));
        let access = self.context.access(transaction);
        let to = self.destination(transaction, input);
        self.attempts = 1;
        loop {
            // Asked first, because even a future that is ready at once takes time.
            if (to.is_some() || self.sessions.current().is_none())
                && let Err(error) = self.ensure_session(to).await
            {
                self.context.sample(transaction, &error, self.clock.now());
                return failed(error.class());
            }
            if let Some(ended) = self.idle_end.take() {
                self.explain_idle_end(ended).await;
            }
            if self.attempts == 1 && self.was_idle(started) && self.has_ended_idle() {
                continue;
            }
            let error = match self.attempt(access, input).await {
                Ok(completion) => return Some(self.ended(transaction, completion, false)),
                Err(error) => error,
            };
            if self.context.signal.is_aborted() {
                return None;
            }
            self.context.sample(transaction, &error, self.clock.now());
            let class = error.class();
            let is_acknowledged =
                self.sessions.current().is_some_and(|live| live.session.is_acknowledged());
            let acknowledged = is_acknowledged && !error.is_undone();
            self.clean_up(access, &error).await;
            if error.is_hopeless() {
                self.ends_by(&error);
            }
            if acknowledged {
                let completion = self.context.plan.workload.acknowledged(input);
                return completion
                    .map_or_else(|| without(Outcome::Indeterminate), |c| Some(completed(c, true)));
            }
            if error.is_indeterminate() {
                return without(Outcome::Indeterminate);
            }
            // Another node may accept what this one rejected.
            let is_elsewhere = to.is_some()
                && match class {
                    ErrorClass::ReadOnly => access.writes(),
                    class => class == ErrorClass::Unavailable,
                };
            if !(class.is_retryable() || is_elsewhere)
                || self.refused
                || self.attempts >= self.context.plan.spec.retry.attempts
            {
                return failed(class);
            }
            let is_first = self.attempts == 1;
            self.context.ledger.borrow_mut().recorder.retry(transaction, class, is_first);
            self.attempts += 1;
            let wait = self.context.plan.spec.retry.backoff(self.attempts, self.jitter.unit());
            self.pause(wait).await;
        }
    }

    /// Runs one attempt, with the watchdog if there is one.
    async fn attempt(&mut self, access: Access, input: &W::Input) -> Result<Completion, DbError> {
        let context = &self.context;
        let limit = context.plan.spec.limits.transaction;
        let node = self.node();
        let states = context.plan.nodes.as_ref().map(|nodes| &nodes.states).zip(node);
        let silence = &mut self.silence;
        let live = self.sessions.current_mut().expect("ensure_session has opened one");
        if let Some((states, node)) = states {
            states.begin(node);
        }
        let before = live.session.round_trips();
        live.session.begin_attempt(access);
        let answer = {
            // Pinned where it is made: moving it would copy thousands of bytes per transaction.
            let workload = &context.plan.workload;
            let running = pin!(workload.run(input, &mut live.prepared, &mut live.session));
            if limit.is_zero() && node.is_none() {
                Ok(running.await)
            } else {
                let slot = context.sessions.slots.of(self.id);
                slot.began(self.clock.now());
                let answer = within(limit, silence, node, running).await;
                slot.ended();
                answer
            }
        };
        let pending = live.session.commit_pending();
        let result = answer.unwrap_or_else(|ended| {
            Err(match ended {
                NoAnswer::InTime => timed_out(pending, limit),
                NoAnswer::Silence => silent(pending),
            })
        });
        if let Some((states, node)) = states {
            let is_heard = |error: &DbError| {
                !matches!(error.class(), ErrorClass::Disconnected | ErrorClass::Timeout)
            };
            states.end(node, result.as_ref().map_or_else(is_heard, |_| true));
        }
        context.ledger.borrow_mut().round_trips += live.session.round_trips() - before;
        result
    }

    /// Cleans up after a failed attempt: rolls back, or drops a session that can no longer be used.
    async fn clean_up(&mut self, access: Access, error: &DbError) {
        let node = self.node();
        let Some(live) = self.sessions.current_mut() else { return };
        if error.class() == ErrorClass::Timeout {
            // The database may still be working on it: ask it to cancel, but do not wait for one
            // that hangs.
            let canceller = live.session.canceller();
            let _ = timeout(Duration::from_secs(1), canceller.cancel()).await;
        }
        let is_read_only = error.class() == ErrorClass::ReadOnly && access.writes();
        let is_demoted = error.class() == ErrorClass::ReadOnly
            && node.is_none()
            && self.context.plan.database.needs_primary();
        let lost = error.class().loses_session()
            || is_demoted
            || live.session.is_closed()
            || match timeout(self.context.plan.spec.limits.connect, live.session.rollback()).await {
                Ok(result) => result.is_err(),
                Err(_) => true,
            };
        if let Some(node) = node.filter(|_| is_read_only) {
            self.context.node_is_read_only(node, error, self.clock.now());
        }
        if lost {
            self.lose_session();
        }
    }

    /// Waits after a failed transaction if it was one of many in a row that failed at once. Recorded
    /// sessions have their own times.
    #[cold]
    async fn slow_down(&mut self, started: Elapsed, finished: Elapsed) -> Elapsed {
        let took = Duration::from_nanos(finished.since(started));
        let wait = self.failing.pause(took);
        if wait.is_zero() || matches!(self.pace, Pace::Recorded) {
            return finished;
        }
        self.context.slows_down(finished);
        let jittered = wait.mul_f64(0.5 + self.jitter.unit() / 2.0);
        self.pause(jittered).await;
        self.clock.now()
    }

    /// Whether the session has been idle so long that the server may have ended it.
    #[inline]
    fn was_idle(&self, now: Elapsed) -> bool {
        self.sessions.current().is_some_and(|live| now.since(live.used) >= IDLE_MIN_NS)
    }

    /// Drops the session if the server ended it while it was idle: then nothing was in flight, and
    /// the transaction that is about to start needs a new one.
    fn has_ended_idle(&mut self) -> bool {
        let live = self.sessions.current_mut();
        let Some(ended) = live.and_then(|live| live.session.ended_idle()) else { return false };
        self.context.closed_idle(self.id, self.sessions.at());
        self.sessions.lose();
        self.logins.lost_at.get_or_insert(self.clock.now());
        self.idle_end = Some(ended);
        true
    }

    /// Reports, once per thread, which of the server's settings ended the session.
    #[cold]
    async fn explain_idle_end(&mut self, ended: DbError) {
        let setting = self.context.plan.database.idle_limit_setting();
        let Some(live) = self.sessions.current_mut() else { return };
        if self.context.explains_idle_ends.replace(true) {
            return;
        }
        let asked = timeout(SETTINGS_LIMIT, live.session.inner_mut().settings()).await;
        let settings = asked.ok().and_then(Result::ok).unwrap_or_default();
        let limit = settings.into_iter().find(|(name, _)| Some(name.as_str()) == setting);
        self.context.idle_end(&ended, limit, self.clock.now());
    }

    /// The end of a transaction that the database acknowledged.
    fn ended(&mut self, transaction: usize, done: Completion, unread: bool) -> TransactionEnd {
        let live = self.sessions.current_mut().expect("it has run the attempt");
        let mut end = completed(done, unread);
        if let Some(warning) = live.session.take_unconfirmed()
            && done.committed
        {
            end.unconfirmed = true;
            self.context.unconfirmed(transaction, &warning, self.clock.now());
        }
        end
    }

    /// Drops the current session, which can no longer be used.
    fn lose_session(&mut self) {
        let now = self.clock.now();
        self.sessions.lose();
        self.logins.lost_at.get_or_insert(now);
        self.context.lost(self.id, self.sessions.at(), now);
    }

    /// Reconnects a lost session, for as long as the run lasts; with several nodes, chooses the one
    /// for a transaction `to` it. In a closed load the wait counts
    /// towards the transaction that needs the session. In other loads, other sessions take what is
    /// due meanwhile, and what nobody takes waits from when it was due. Either way an outage shows
    /// in response times.
    async fn ensure_session(&mut self, to: Option<Destination>) -> Result<(), DbError> {
        let limits = self.context.plan.spec.limits;
        let mut wait = limits.reconnect_first;
        while let Err(error) = self.try_session(to).await {
            self.stays_away(&error);
            if error.class() == ErrorClass::Refused || error.is_hopeless() {
                self.ends_by(&error);
                return Err(error);
            }
            if self.context.signal.is_stopped(self.clock.now()) {
                return Err(error);
            }
            let jittered = wait.mul_f64(0.5 + self.jitter.unit() / 2.0);
            self.pause(jittered).await;
            if self.context.signal.is_stopped(self.clock.now()) {
                // Once more at the end: that shows whether the database is gone, or was back
                // without the user noticing yet.
                let _ = self.try_session(to).await;
                return Err(error);
            }
            wait = (wait * 2).min(limits.reconnect_max);
        }
        Ok(())
    }

    /// Ends this session's work: nothing that it tries can succeed.
    fn ends_by(&mut self, error: &DbError) {
        self.refused = true;
        self.stays_away(error);
        let text = format!("{} {} ended: {error}", self.pace.who(), self.id);
        self.context.note(Note::new("user_ended", Some(self.clock.now()), text));
    }

    /// Finds the session for a transaction: on the node that it is routed to, or on another one if
    /// that turns out to be lost. A node that answers, but has no room for another session, is not:
    /// those that have one go on.
    async fn try_session(&mut self, to: Option<Destination>) -> Result<(), DbError> {
        loop {
            if let Some(to) = to {
                self.go_to_node(to)?;
            }
            if self.sessions.current().is_none() {
                let node = self.sessions.at();
                let opening = Live::open(&self.context, self.id, node, self.clock.now());
                let opened = self.silence.or_lost(node, opening).await;
                match opened.unwrap_or_else(|| Err(silent(false))) {
                    Ok(live) => self.logged_in(live),
                    Err(error) if to.is_some() && error.shows_no_service() => {
                        self.context.login_failed(self.clock.now());
                        self.context.node_lost(node, &error, self.clock.now());
                        continue;
                    }
                    Err(error) => {
                        self.context.login_failed(self.clock.now());
                        return Err(error);
                    }
                }
            }
            if std::mem::take(&mut self.away) {
                self.context.sessions.returned();
            }
            return Ok(());
        }
    }

    /// Keeps a session that has just logged in on the current node.
    fn logged_in(&mut self, live: Live<W, D>) {
        let (now, node, login) = (self.clock.now(), self.sessions.at(), live.login);
        let lost_at = self.logins.begins();
        match self.sessions.put(live) {
            true => self.context.reconnected(node, now),
            false => self.context.opened(node),
        }
        self.context.logged_in(login, lost_at, now);
    }

    /// What decides the node of a transaction; `None` for a single server.
    fn destination(&self, transaction: usize, input: &W::Input) -> Option<Destination> {
        let nodes = self.context.plan.nodes.as_ref()?;
        let partition = match nodes.routing.needs_partition() {
            true => self.context.plan.workload.partition(input),
            false => None,
        };
        Some(Destination { transaction, origin: self.client.origin, partition })
    }

    /// Makes the node current that a transaction is routed to.
    fn go_to_node(&mut self, to: Destination) -> Result<(), DbError> {
        let Some(nodes) = &self.context.plan.nodes else { return Ok(()) };
        let Some(node) = nodes.route(to) else {
            let what = match nodes.routing.writes(to.transaction) {
                true => "no node accepts writes",
                false => "no node can be reached",
            };
            return Err(DbError::new(ErrorClass::Unavailable, what));
        };
        let is_there = node == self.sessions.at() && self.sessions.current().is_some();
        if is_there && !self.sessions.is_stale(nodes.states.losses(node)) {
            return Ok(());
        }
        if !self.sessions.move_to(node, nodes.states.losses(node)) {
            self.context.lost(self.id, node, self.clock.now());
        }
        if let Some(live) = self.sessions.current() {
            self.context.sessions.slots.of(self.id).watch(live.session.canceller());
        }
        Ok(())
    }

    /// The node of the current session; `None` for a single server, and without a session.
    fn node(&self) -> Option<usize> {
        let is_on_node = self.context.plan.nodes.is_some() && self.sessions.current().is_some();
        is_on_node.then(|| self.sessions.at())
    }

    /// Records that the session could not be reconnected.
    fn stays_away(&mut self, error: &DbError) {
        if !std::mem::replace(&mut self.away, true) {
            self.context.stays_away(self.clock.now(), error);
        }
    }

    /// Waits until the load has room for this user again, or the run has stopped.
    #[cold]
    async fn park(&self) -> Elapsed {
        let mut signal = self.context.signal.clone();
        let load = self.context.signal.load();
        signal.until(|state| state.stopped || !load.is_parked(self.id)).await;
        self.clock.now()
    }

    /// Waits, but not beyond the end of the run.
    async fn pause(&self, wait: Duration) {
        let until = self
            .clock
            .instant(Elapsed::from_duration(self.clock.now().duration().saturating_add(wait)));
        let mut signal = self.context.signal.clone();
        tokio::select! {
            () = sleep_until(until) => {}
            _ = signal.until(|state| state.stopped) => {}
        }
    }
}

fn completed(Completion { committed, counter }: Completion, unread: bool) -> TransactionEnd {
    let outcome = if committed { Outcome::Committed } else { Outcome::RolledBack };
    TransactionEnd { counter, unread, ..TransactionEnd::of(outcome) }
}

/// Why an attempt ended without an answer.
enum NoAnswer {
    /// The limit was over.
    InTime,
    /// Its node answers nobody.
    Silence,
}

/// Waits for the end of an attempt, within a limit unless that is zero, and for as long as the node
/// answers anybody.
async fn within<T>(
    limit: Duration,
    silence: &mut Silence,
    node: Option<usize>,
    running: Pin<&mut impl Future<Output = T>>,
) -> Result<T, NoAnswer> {
    let limited = async {
        match limit.is_zero() {
            true => Ok(running.await),
            false => timeout(limit, running).await.map_err(|_| NoAnswer::InTime),
        }
    };
    match node {
        Some(node) => silence.or(node, limited).await.unwrap_or(Err(NoAnswer::Silence)),
        None => limited.await,
    }
}

/// The error for a node that answers nobody.
fn silent(commit_pending: bool) -> DbError {
    let message = "the node answers neither this session nor any other: it counts as lost";
    let error = DbError::new(ErrorClass::Disconnected, message);
    if commit_pending { error.after_commit_sent() } else { error }
}

fn timed_out(commit_pending: bool, limit: Duration) -> DbError {
    let message = format!("no answer within the transaction limit of {} s", limit.as_secs_f64());
    let error = DbError::new(ErrorClass::Timeout, message);
    if commit_pending { error.after_commit_sent() } else { error }
}

//! The one user loop. Each session gets its next [turn](super::turn): the user, the transaction,
//! and the time. It draws the input, runs the transaction, classifies the result, retries with the
//! same input or counts, and records. Every load model and every database uses this loop; a new
//! requirement becomes a function that it calls.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::{sleep_until, timeout};

use super::context::Context;
use super::ledger::Finished;
use super::metered::Metered;
use super::turn::{Pace, Turn};
use super::virtual_user::VirtualUser;
use crate::clock::{Clock, Elapsed};
use crate::error::{DbError, ErrorClass};
use crate::event::Note;
use crate::outcome::{Outcome, Timing};
use crate::random::Rng;
use crate::recorder::TransactionEnd;
use crate::session::{Access, Admin, Database, Role, ServerProcess, Session};
use crate::workload::{Completion, Statements, Workload};

/// After this many transactions without waiting, a user yields to the others on its thread: a
/// driver that never waits, such as the null driver, must not starve them. A yield costs about 100
/// ns.
const TRANSACTIONS_BEFORE_YIELD: u32 = 64;

/// Shortest time between two measured round trips of a thread.
const PING_EVERY: Duration = Duration::from_secs(1);
/// A round trip is measured again after this many times its duration, divided by the thread's
/// users, so that measuring takes at most 1 % of their time.
const PING_REST: u64 = 100;

/// Purpose of the random streams that spread waits.
const JITTER: u64 = 2;

/// A session and the workload's prepared statements on it.
pub(super) struct Live<W: Workload, D: Database> {
    session: Metered<D::Session>,
    prepared: W::Prepared,
}

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
    live: Option<Live<W, D>>,
    /// Attempts at the current transaction so far.
    attempts: u32,
    refused: bool,
    /// Whether the session is lost and not yet reconnected.
    away: bool,
}

/// Opens and prepares a session for user `id`, within the connect limit.
pub(super) async fn connect<W: Workload, D: Database>(
    context: &Context<W, D>,
    id: u32,
) -> Result<Live<W, D>, DbError> {
    let plan = &context.plan;
    let limit = plan.spec.limits.connect;
    let opening = async {
        let mut session = Metered::new(plan.database.connect(Role::User, id).await?);
        let statements = Statements::new(&plan.catalogue).by(plan.spec.protocol);
        let mut statements = statements.on(id, plan.spec.sessions());
        let prepared = plan.workload.prepare(plan.spec.mode, &mut statements, &mut session).await?;
        Ok(Live { session, prepared })
    };
    let live: Live<W, D> = timeout(limit, opening).await.unwrap_or_else(|_| {
        let message = format!("no session within {} s", limit.as_secs_f64());
        Err(DbError::new(ErrorClass::Disconnected, message))
    })?;
    context.sessions.slots.of(id).watch(live.session.canceller());
    Ok(live)
}

impl<W: Workload, D: Database> Live<W, D> {
    /// The server's process, if the session can report it within `limit`.
    pub(super) async fn server_process(&mut self, limit: Duration) -> Option<ServerProcess> {
        timeout(limit, self.session.inner_mut().server_process()).await.ok()?.ok().flatten()
    }
}

impl<W: Workload, D: Database> SessionSlot<W, D> {
    pub(super) fn new(
        context: Rc<Context<W, D>>,
        clock: Clock,
        place: u32,
        id: u32,
        live: Live<W, D>,
    ) -> Self {
        let spec = &context.plan.spec;
        Self {
            clock,
            place,
            id,
            pace: Pace::of(spec),
            client: VirtualUser::user(&*context.plan.workload, spec, id),
            jitter: Rng::of(spec.seed, &[JITTER, u64::from(id)]),
            live: Some(live),
            attempts: 0,
            refused: false,
            away: false,
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
            if context.probes.is_ping_due(now) {
                now = self.ping(now).await;
                continue;
            }
            if self.live.is_none() && !matches!(self.pace, Pace::Closed) {
                if self.ensure_session().await.is_err() {
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
            let Some(Turn { due, started, transaction }) = turn else { break };
            let date = self.clock.timestamp(due);
            let VirtualUser { state, inputs, .. } = &mut self.client;
            let input = workload.draw(transaction, state, inputs, date);
            context.begin(self.place, transaction);
            let ended = self.transaction(transaction, &input).await;
            let finished = self.clock.now();
            let Some(ended) = ended else { break };
            workload.ended(&mut self.client.state, &input, ended.outcome);
            let timing = Timing { due, started, finished };
            let (origin, attempts) = (self.client.origin, self.attempts);
            context.end(self.place, Finished { transaction, timing, ended, origin, attempts });
            self.leave(finished);
            if self.refused {
                break;
            }
            now = finished;
            since_yield += 1;
            if since_yield == TRANSACTIONS_BEFORE_YIELD {
                since_yield = 0;
                tokio::task::yield_now().await;
            }
        }
        if let Some(Live { mut session, prepared }) = self.live.take() {
            context.sessions.left(self.id);
            let ending = context.plan.workload.finish(prepared, &mut session);
            let _ = timeout(context.plan.spec.limits.connect, ending).await;
            session.into_inner().close().await;
        }
    }

    /// Measures a round trip between two transactions, and returns the time from which the next
    /// transaction counts: after the ping, which is not part of any service time; but before it if
    /// the ping took long, so that an outage does not hide in it.
    async fn ping(&mut self, now: Elapsed) -> Elapsed {
        let every = Elapsed::from_duration(PING_EVERY).0;
        let Some(live) = self.live.as_mut() else {
            self.context.probes.ping_again(Elapsed(now.0 + every));
            return now;
        };
        // One ping at a time per thread.
        self.context.probes.ping_again(Elapsed::NEVER);
        let limit = match self.context.plan.spec.limits.transaction {
            Duration::ZERO => self.context.plan.database.waits().query,
            limit => limit,
        };
        let asked = timeout(limit, live.session.ping()).await;
        let answer = asked.unwrap_or_else(|_| Err(timed_out(false, limit)));
        let end = self.clock.now();
        match answer {
            Ok(true) => self.context.round_trip(now, end),
            // Nothing to measure on this database, now or later.
            Ok(false) => return now,
            // A session that cannot answer a ping cannot answer anything.
            Err(_) => {
                self.live = None;
                self.context.lost(self.id, self.clock.now());
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
    ) -> Option<TransactionEnd> {
        let without = |outcome| Some(TransactionEnd { outcome, counter: 0, unread: false });
        let failed = |class| without(Outcome::Failed(class));
        let access = self.context.access(transaction);
        self.attempts = 1;
        loop {
            // Asked first, because even a future that is ready at once takes time.
            if self.live.is_none()
                && let Err(error) = self.ensure_session().await
            {
                self.context.sample(transaction, &error, self.clock.now());
                return failed(error.class());
            }
            let error = match self.attempt(access, input).await {
                Ok(completion) => return Some(ended(completion, false)),
                Err(error) => error,
            };
            if self.context.signal.is_aborted() {
                return None;
            }
            self.context.sample(transaction, &error, self.clock.now());
            let class = error.class();
            let is_acknowledged =
                self.live.as_ref().is_some_and(|live| live.session.is_acknowledged());
            let acknowledged = is_acknowledged && !error.is_undone();
            self.clean_up(&error).await;
            if acknowledged {
                let completion = self.context.plan.workload.acknowledged(input);
                return completion
                    .map_or_else(|| without(Outcome::Indeterminate), |c| Some(ended(c, true)));
            }
            if error.is_indeterminate() {
                return without(Outcome::Indeterminate);
            }
            if !class.is_retryable() || self.attempts >= self.context.plan.spec.retry.attempts {
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
        let live = self.live.as_mut().expect("ensure_session has opened one");
        let before = live.session.round_trips();
        live.session.begin_attempt(access);
        let answer = {
            // Pinned where it is made: moving it would copy thousands of bytes per transaction.
            let workload = &context.plan.workload;
            let running = pin!(workload.run(input, &mut live.prepared, &mut live.session));
            if limit.is_zero() {
                Some(running.await)
            } else {
                let slot = context.sessions.slots.of(self.id);
                slot.began(self.clock.now());
                let answer = timeout(limit, running).await.ok();
                slot.ended();
                answer
            }
        };
        let result = answer.unwrap_or_else(|| Err(timed_out(live.session.commit_pending(), limit)));
        context.ledger.borrow_mut().round_trips += live.session.round_trips() - before;
        result
    }

    /// Cleans up after a failed attempt: rolls back, or drops a session that can no longer be used.
    async fn clean_up(&mut self, error: &DbError) {
        let Some(live) = self.live.as_mut() else { return };
        if error.class() == ErrorClass::Timeout {
            // The database may still be working on it: ask it to cancel, but do not wait for one
            // that hangs.
            let canceller = live.session.canceller();
            let _ = timeout(Duration::from_secs(1), canceller.cancel()).await;
        }
        let is_demoted =
            error.class() == ErrorClass::ReadOnly && self.context.plan.database.needs_primary();
        let lost = error.class().loses_session()
            || is_demoted
            || live.session.is_closed()
            || match timeout(self.context.plan.spec.limits.connect, live.session.rollback()).await {
                Ok(result) => result.is_err(),
                Err(_) => true,
            };
        if lost {
            self.live = None;
            self.context.lost(self.id, self.clock.now());
        }
    }

    /// Reconnects a lost session, for as long as the run lasts. In a closed load the wait counts
    /// towards the transaction that needs the session. In other loads, other sessions take what is
    /// due meanwhile, and what nobody takes waits from when it was due. Either way an outage shows
    /// in response times.
    async fn ensure_session(&mut self) -> Result<(), DbError> {
        let limits = self.context.plan.spec.limits;
        let mut wait = limits.reconnect_first;
        while self.live.is_none() {
            match connect(&self.context, self.id).await {
                Ok(live) => {
                    self.live = Some(live);
                    self.context.reconnected(self.clock.now(), std::mem::take(&mut self.away));
                }
                Err(error) if error.class() == ErrorClass::Refused => {
                    self.stays_away(&error);
                    self.refused = true;
                    let text = format!("{} {} ended: {error}", self.pace.who(), self.id);
                    self.context.note(Note::new("user_ended", Some(self.clock.now()), text));
                    return Err(error);
                }
                Err(error) => {
                    self.stays_away(&error);
                    if self.context.signal.is_stopped(self.clock.now()) {
                        return Err(error);
                    }
                    let jittered = wait.mul_f64(0.5 + self.jitter.unit() / 2.0);
                    self.pause(jittered).await;
                    if self.context.signal.is_stopped(self.clock.now()) {
                        self.try_last().await;
                        return Err(error);
                    }
                    wait = (wait * 2).min(limits.reconnect_max);
                }
            }
        }
        Ok(())
    }

    /// Tries once more when the run ends while this user waits to reconnect: that shows whether the
    /// database is gone, or was back without the user noticing yet.
    async fn try_last(&mut self) {
        if let Ok(live) = connect(&self.context, self.id).await {
            self.live = Some(live);
            self.context.reconnected(self.clock.now(), std::mem::take(&mut self.away));
        }
    }

    /// Records that the session could not be reconnected.
    fn stays_away(&mut self, error: &DbError) {
        if !std::mem::replace(&mut self.away, true) {
            self.context.stays_away(self.clock.now(), error);
        }
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

fn ended(Completion { committed, counter }: Completion, unread: bool) -> TransactionEnd {
    let outcome = if committed { Outcome::Committed } else { Outcome::RolledBack };
    TransactionEnd { outcome, counter, unread }
}

fn timed_out(commit_pending: bool, limit: Duration) -> DbError {
    let message = format!("no answer within the transaction limit of {} s", limit.as_secs_f64());
    let error = DbError::new(ErrorClass::Timeout, message);
    if commit_pending { error.after_commit_sent() } else { error }
}

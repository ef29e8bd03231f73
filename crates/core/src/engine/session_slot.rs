//! The one loop. Each session asks for its next [turn](super::turn): whose transaction, which, and when;
//! draws its input, runs it, classifies what came back, retries with the same input or counts, and
//! records. Every load model and every database goes through here; a new need becomes a function that
//! this loop calls.

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

/// After so many transactions without waiting a user lets the others on its thread go on: a driver that
/// never waits, such as the null driver, must not starve them. One yield costs about 100 ns.
const TRANSACTIONS_BEFORE_YIELD: u32 = 64;

/// Shortest time between two measured round trips of a thread.
const PING_EVERY: Duration = Duration::from_secs(1);
/// A round trip is measured again after so many times what it took, divided by the thread's users: so
/// measuring takes 1 % of their time at the most.
const PING_REST: u64 = 100;

/// Purpose of the streams of random numbers that waits are spread by.
const JITTER: u64 = 2;

/// A session and what the workload keeps with it.
pub(super) struct Live<W: Workload, D: Database> {
    session: Metered<D::Session>,
    prepared: W::Prepared,
}

/// A session at work: for one virtual user, or for whoever is due.
pub(super) struct SessionSlot<W: Workload, D: Database> {
    pub context: Rc<Context<W, D>>,
    pub clock: Clock,
    /// Place among the sessions of this thread.
    pub place: u32,
    /// The session's number in the run.
    id: u32,
    pub pace: Pace,
    /// Whose transaction it is, or was last.
    pub client: VirtualUser<W>,
    jitter: Rng,
    live: Option<Live<W, D>>,
    /// Attempts at the transaction so far.
    attempts: u32,
    refused: bool,
    /// The session is gone and could not be reconnected so far.
    away: bool,
}

/// Opens a session for user `id` and prepares it, within the connect limit.
pub(super) async fn connect<W: Workload, D: Database>(
    context: &Context<W, D>,
    id: u32,
) -> Result<Live<W, D>, DbError> {
    let plan = &context.plan;
    let limit = plan.spec.limits.connect;
    let opening = async {
        let mut session = Metered::new(plan.database.connect(Role::User, id).await?);
        let mut statements = Statements::new(&plan.catalogue);
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
    /// The server's process, where the session can tell within `limit`.
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

    /// The loop. Ends when the run stops, the work is done, or the database refuses this session for
    /// good.
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
            // A closed load's is found without a future: it is all that a fast database sees of us.
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
        if let Some(live) = self.live.take() {
            context.sessions.left(self.id);
            live.session.into_inner().close().await;
        }
    }

    /// Measures a round trip between two transactions, and gives the time from which the next one counts:
    /// after the ping, which is nobody's service time; but if that took long, before it, so that an
    /// outage does not hide in it.
    async fn ping(&mut self, now: Elapsed) -> Elapsed {
        let every = Elapsed::from_duration(PING_EVERY).0;
        let Some(live) = self.live.as_mut() else {
            self.context.probes.ping_again(Elapsed(now.0 + every));
            return now;
        };
        // One at a time on a thread.
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
            // Nothing to measure here, now or later.
            Ok(false) => return now,
            // A session that cannot answer nothing cannot answer anything.
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

    /// One transaction with all its attempts. `None` when it was given up in an abort, which leaves it in
    /// flight.
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
            if let Err(error) = self.ensure_session().await {
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

    /// One attempt, under the watchdog when there is one.
    async fn attempt(&mut self, access: Access, input: &W::Input) -> Result<Completion, DbError> {
        let context = &self.context;
        let limit = context.plan.spec.limits.transaction;
        let live = self.live.as_mut().expect("ensure_session has made one");
        let before = live.session.round_trips();
        live.session.begin_attempt(access);
        let running = context.plan.workload.run(input, &mut live.prepared, &mut live.session);
        let result = if limit.is_zero() {
            running.await
        } else {
            let slot = context.sessions.slots.of(self.id);
            slot.began(self.clock.now());
            let result = timeout(limit, running).await;
            slot.ended();
            match result {
                Ok(result) => result,
                Err(_) => Err(timed_out(live.session.commit_pending(), limit)),
            }
        };
        context.ledger.borrow_mut().round_trips += live.session.round_trips() - before;
        result
    }

    /// After a failed attempt: rolls back, or drops a session that cannot be used any more.
    async fn clean_up(&mut self, error: &DbError) {
        let Some(live) = self.live.as_mut() else { return };
        if error.class() == ErrorClass::Timeout {
            // The database may still be at it: ask it to stop, but do not wait for one that hangs.
            let canceller = live.session.canceller();
            let _ = timeout(Duration::from_secs(1), canceller.cancel()).await;
        }
        let lost = error.class().loses_session()
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

    /// Reconnects the session when it was lost, as long as the run lasts. Where the load is closed the
    /// wait lies inside the transaction that needs the session; elsewhere other sessions take what is
    /// due meanwhile, and what nobody takes waits from when it was due. So an outage shows in response
    /// times.
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

    /// The run is over while this user waits to try again: one last try says whether the database is
    /// gone, or was back and the user only had not noticed yet.
    async fn try_last(&mut self) {
        if let Ok(live) = connect(&self.context, self.id).await {
            self.live = Some(live);
            self.context.reconnected(self.clock.now(), std::mem::take(&mut self.away));
        }
    }

    /// The session could not be reconnected.
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
    let message = format!("no end within the transaction limit of {} s", limit.as_secs_f64());
    let error = DbError::new(ErrorClass::Timeout, message);
    if commit_pending { error.after_commit_sent() } else { error }
}

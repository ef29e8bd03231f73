//! A worker thread: connects its users, runs them, hands each second over when it ends, and reports
//! what it counted to the control thread.

use std::cell::Cell;
use std::rc::Rc;

use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until};
use triphammer_core::clock::{Clock, Elapsed};
use triphammer_core::session::Database;
use triphammer_core::workload::Workload;

use super::context::Context;
use super::cpus::Placement;
use super::node_sessions::NodeSessions;
use super::node_watch;
use super::session_slot::Pace;
use super::session_slot::SessionSlot;
use super::uplink::FromWorker;
use super::user_tasks::UserTasks;

/// Sessions that a thread opens at once: a server's accept queue is limited, and times out. Each
/// that is open makes room for one more, so that their number doubles with each round trip, up to
/// the second of these.
const CONNECTING: std::ops::RangeInclusive<usize> = 8..=256;

/// Runs a worker from start to end, on the thread that owns it.
pub(super) async fn work<W: Workload, D: Database>(context: Context<W, D>, users: Vec<u32>) {
    let context = Rc::new(context);
    let connected = connect_all(&context, &users).await;
    let mut signal = context.signal.clone();
    let state = signal.until(|state| state.clock.is_some() || state.over).await;
    match state.clock {
        Some(clock) if connected.len() == users.len() => {
            run_users(&context, clock, connected).await;
        }
        _ => drop(connected),
    }
    context.uplink.finish(context.finish()).await;
}

/// Opens the sessions of all users, some at a time, until one fails or the run is over.
async fn connect_all<W: Workload, D: Database>(
    context: &Rc<Context<W, D>>,
    users: &[u32],
) -> Vec<(u32, NodeSessions<W, D>)> {
    let places = Rc::new(Semaphore::new(*CONNECTING.start()));
    let more = Rc::new(Cell::new(CONNECTING.end() - CONNECTING.start()));
    let begun = Instant::now();
    let mut opening = JoinSet::new();
    for &id in users {
        let (context, places) = (Rc::clone(context), Rc::clone(&places));
        let more = Rc::clone(&more);
        opening.spawn_local(async move {
            let wait = context.plan.spec.logins.begin(id);
            if !wait.is_zero() {
                sleep_until(begun + wait).await;
            }
            let _place = places.acquire().await.expect("never closed");
            if context.signal.state.borrow().over {
                return None;
            }
            match NodeSessions::open(&context, id).await {
                Ok(mut sessions) => {
                    let limit = context.plan.spec.limits.connect;
                    let server = match context.sessions.slots.is_first(id) {
                        true => sessions.server_process(limit).await,
                        false => None,
                    };
                    sessions.open_on().for_each(|node| context.opened(node));
                    let after = begun.elapsed();
                    sessions.logins().for_each(|login| context.logged_in_at_start(login, after));
                    context.uplink.deliver(FromWorker::Connected(server)).await;
                    if let Some(left) = more.get().checked_sub(1) {
                        more.set(left);
                        places.add_permits(1);
                    }
                    Some((id, sessions))
                }
                Err(error) => {
                    context.uplink.deliver(FromWorker::ConnectFailed(error)).await;
                    None
                }
            }
        });
    }
    let mut signal = context.signal.clone();
    let mut connected = tokio::select! {
        all = opening.join_all() => all.into_iter().flatten().collect(),
        _ = signal.until(|state| state.over) => Vec::new(),
    };
    connected.sort_by_key(|(id, _)| *id);
    connected
}

/// Runs the users until all have ended or the run is aborted.
async fn run_users<W: Workload, D: Database>(
    context: &Rc<Context<W, D>>,
    clock: Clock,
    connected: Vec<(u32, NodeSessions<W, D>)>,
) {
    context.ledger.borrow_mut().open(connected.len());
    context.probes.begin();
    let timer_task = set_timers(context, clock, connected.len());
    let users = (0..).zip(connected).map(|(place, (id, sessions))| {
        SessionSlot::new(Rc::clone(context), clock, place, id, sessions).work()
    });
    let panicking = Rc::clone(context);
    let panicked = move || panicking.panicked.set(panicking.panicked.get() + 1);
    let mut users = tokio::task::spawn_local(UserTasks::new(users, panicked));
    let watching = node_watch::start(context, clock);
    let ticking = Rc::clone(context);
    let mut placement = Placement::new(context.plan.spec.pacing.half).unwrap_or_else(|note| {
        context.not_placed(note);
        None
    });
    let ticker = tokio::task::spawn_local(async move {
        loop {
            if let Some(Err(note)) = placement.as_mut().map(|placed| placed.enter(clock.now())) {
                ticking.not_placed(note);
                placement = None;
            }
            let next = Elapsed::at_second(clock.now().second() + 1);
            sleep_until(clock.instant(next)).await;
            ticking.tick(clock.now());
        }
    });
    let listening = Rc::clone(context);
    let listener = tokio::task::spawn_local(async move {
        let Some(mut heartbeats) = listening.probes.take_heartbeats() else { return };
        while let Some(sent) = heartbeats.recv().await {
            listening.lag(sent, clock.now());
        }
    });
    let mut signal = context.signal.clone();
    let ended = tokio::select! {
        ended = &mut users => ended,
        _ = signal.until(|state| state.aborted) => {
            users.abort();
            users.await
        }
    };
    if let Err(error) = ended
        && error.is_panic()
    {
        std::panic::resume_unwind(error.into_panic());
    }
    ticker.abort();
    listener.abort();
    drop(watching);
    if let Some(timer_task) = timer_task {
        timer_task.abort();
    }
    context.hand_over(clock.now());
}

/// Opens the timer queue of a load that waits, logs in the terminals of a pool, and starts the
/// timer.
fn set_timers<W: Workload, D: Database>(
    context: &Rc<Context<W, D>>,
    clock: Clock,
    sessions: usize,
) -> Option<JoinHandle<()>> {
    let pace = Pace::of(&context.plan.spec);
    if matches!(pace, Pace::Closed) {
        return None;
    }
    let is_pool = matches!(pace, Pace::Pooled(_));
    context.waiting.timers.open(sessions, is_pool);
    if is_pool {
        context.waiting.log_in(&context.plan, terminals(context));
    }
    let timed = Rc::clone(context);
    Some(tokio::task::spawn_local(async move {
        let timers = timed.waiting.run_timers(clock, timed.signal.clone());
        tokio::join!(timers, timed.waiting.follow_changes(timed.signal.clone()));
    }))
}

/// The terminals that share this thread's sessions.
fn terminals<W: Workload, D: Database>(context: &Context<W, D>) -> impl Iterator<Item = u32> {
    let spec = &context.plan.spec;
    let all = context.plan.share.range(spec.users);
    all.skip(context.uplink.thread()).step_by(spec.threads as usize)
}

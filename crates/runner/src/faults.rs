//! Causes faults at their times, each on a thread of its own, while a load runs: of a drill, or of a
//! test of isolation.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use triphammer_core::clock::Clock;
use triphammer_core::event::{Event, Note};
use triphammer_core::session::{Database as _, Role, Session as _};
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::Statements;
use triphammer_core::{DbError, Elapsed, Rows, Value};
use triphammer_document::drill::FaultReport;
use triphammer_document::redacted::mask_secrets;
use triphammer_drivers::AnySession;
use triphammer_proxy::Relay;
use triphammer_settings::failure::{Doing, Failure};
use triphammer_settings::fault::{Fault, FaultKind};
use triphammer_settings::format::counted;
use triphammer_settings::handle::Handle;
use triphammer_settings::limited::Limited;
use triphammer_settings::target::Target;
use triphammer_settings::worker_pool::{connect, on_this_thread};
use triphammer_workloads::drill::{
    SESSION_ID, SESSION_IS_OWN, SESSION_TERMINATE, ServerSession, Sessions,
};

use crate::shell;
use crate::watch::{JobEvent, Watch, Watcher};

/// Longest time that a command may take; then it is killed.
const COMMAND_LIMIT: Duration = Duration::from_secs(300);

/// Everything that faults need.
pub(crate) struct Scene<'a> {
    pub(crate) target: &'a Target,
    pub(crate) sessions: &'a Sessions,
    pub(crate) catalogue: &'a StatementCatalogue,
    pub(crate) handle: &'a Handle,
}

/// The time of the load, for the threads that wait for it.
#[derive(Debug, Default)]
struct Timeline {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Set when the load starts.
    clock: Option<Clock>,
    is_over: bool,
}

impl Timeline {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The load has started. Its clock is that of the run, so that faults and outages have the same
    /// times.
    fn start(&self, clock: Clock) {
        self.state().clock = Some(clock);
        self.changed.notify_all();
    }

    /// The load is over: no user waits any longer.
    fn end(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }

    /// Waits until this time of the load, in its time; false if the load was over before.
    fn wait(&self, until: Duration) -> bool {
        let mut state = self.state();
        loop {
            if state.is_over {
                return false;
            }
            let Some(clock) = state.clock else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = until.saturating_sub(clock.now().duration());
            if left.is_zero() {
                return true;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Time since the start of the load, in seconds.
    fn now_s(&self) -> f64 {
        self.state().clock.map_or(0.0, |clock| clock.now().duration().as_secs_f64())
    }
}

/// Passes the events of the job's run on, and starts the timeline with the load.
struct InJob<'a, 'b> {
    watch: &'a Watch<'b>,
    timeline: &'a Timeline,
}

impl Watcher for InJob<'_, '_> {
    fn on_event(&mut self, event: JobEvent<'_>) {
        match event {
            JobEvent::Run(Event::Started { clock }) => self.timeline.start(*clock),
            // The job is the one above the run, and its number is known.
            JobEvent::Began(_) => return,
            _ => {}
        }
        self.watch.report(event);
    }
}

/// Runs a load, and causes faults beside it.
pub(crate) fn with_faults<T>(
    faults: &[Fault],
    scene: &Scene<'_>,
    watch: &Watch<'_>,
    load: impl FnOnce(&Watch<'_>) -> T,
) -> (T, Vec<FaultReport>) {
    let timeline = &Timeline::default();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (faults.iter())
            .map(|fault| scope.spawn(move || cause(fault, scene, timeline, watch)))
            .collect();
        let mut in_job = InJob { watch, timeline };
        let done = load(&Watch::new(&mut in_job));
        timeline.end();
        let join = |thread: std::thread::ScopedJoinHandle<'_, FaultReport>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        (done, threads.into_iter().map(join).collect())
    })
}

/// Waits for the time of a fault, and causes it.
fn cause(fault: &Fault, scene: &Scene<'_>, timeline: &Timeline, watch: &Watch<'_>) -> FaultReport {
    let mut report = FaultReport {
        // A command may contain a password.
        fault: mask_secrets(&fault.to_string()),
        at_s: fault.at.as_secs_f64(),
        began_s: None,
        ended_s: None,
        succeeded: false,
        detail: "the load ended before".to_owned(),
    };
    if !timeline.wait(fault.at) {
        return report;
    }
    let began = timeline.now_s();
    report.began_s = Some(began);
    let at = Elapsed::from_duration(Duration::from_secs_f64(began));
    let note = Note::new("fault", Some(at), format!("fault: {}", report.fault));
    watch.report(JobEvent::Run(&Event::Note(note)));
    let caused = match &fault.kind {
        FaultKind::Cut(time) => {
            let relay = scene.target.relay.as_ref();
            let relay = relay.expect("a target of a drill that cuts the network has a relay");
            cut(relay, fault.at + *time, timeline);
            Ok("all connections were closed at its end".to_owned())
        }
        FaultKind::Terminate => terminate(scene).map_err(|failure| failure.to_string()),
        FaultKind::Command(command) => shell::run(command, &[], COMMAND_LIMIT, scene.handle),
    };
    report.ended_s = Some(timeline.now_s());
    report.succeeded = caused.is_ok();
    report.detail = caused.unwrap_or_else(|why| why);
    if !report.succeeded {
        watch.warn(&format!("the fault {} failed: {}", report.fault, report.detail));
    }
    report
}

/// Cuts the network until this time of the load, or its end.
fn cut(relay: &Relay, until: Duration, timeline: &Timeline) {
    relay.cut();
    timeline.wait(until);
    relay.reset();
}

/// Lets the server end the sessions of the drill.
fn terminate(scene: &Scene<'_>) -> Result<String, Failure> {
    let target = &scene.target.database;
    let ended = on_this_thread(async {
        let mut session = connect(target, Role::Monitor, scene.target.connect_limit)
            .await
            .doing(format_args!("connecting to {}", target.target()))?;
        // Not before: a server that has just come back has accepted others meanwhile.
        let sessions = scene.sessions.all();
        let ended = end_sessions(&sessions, scene.catalogue, &mut session).await;
        session.close().await;
        ended.doing("ending sessions")
    })?;
    if ended == 0 {
        return Err(Failure::refuse("no session of the drill was there to end"));
    }
    Ok(format!("ended {}", counted(ended, "sessions")))
}

/// Ends the sessions that are on the server of `session`, and returns their number.
///
/// # Errors
/// When the session is lost, or no session could be ended.
async fn end_sessions(
    sessions: &[ServerSession],
    catalogue: &StatementCatalogue,
    session: &mut Limited<AnySession>,
) -> Result<u64, DbError> {
    let mut statements = Statements::new(catalogue);
    let mut rows = Rows::new();
    let id = statements.prepare(session, SESSION_ID).await?;
    session.query(id, &[], &mut rows).await?;
    let server = rows.first("the server's number")?.int(1)?;
    let is_own = statements.prepare(session, SESSION_IS_OWN).await?;
    let terminate = statements.prepare(session, SESSION_TERMINATE).await?;
    let (mut ended, mut failure) = (0, None);
    for ServerSession { id, .. } in sessions.iter().filter(|session| session.server == server) {
        // It may have ended before, and its number may have been given to somebody else.
        session.query(is_own, &[Value::Int(*id)], &mut rows).await?;
        if rows.first("the number of sessions")?.int(0)? == 0 {
            continue;
        }
        match session.query(terminate, &[Value::Int(*id)], &mut rows).await {
            Ok(()) => ended += 1,
            Err(error) if error.class().loses_session() => return Err(error),
            // It has just ended without us.
            Err(error) => failure = Some(error),
        }
    }
    match failure {
        Some(error) if ended == 0 => Err(error),
        _ => Ok(ended),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_beyond_the_end_of_the_load() {
        let timeline = Timeline::default();
        std::thread::scope(|scope| {
            let never = scope.spawn(|| timeline.wait(Duration::from_secs(600)));
            timeline.start(Clock::start());
            assert!(timeline.wait(Duration::from_millis(1)));
            timeline.end();
            assert!(!never.join().unwrap());
        });
    }
}

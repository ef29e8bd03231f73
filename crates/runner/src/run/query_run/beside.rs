//! Streams of queries beside the transactions of a run.
//!
//! The engine measures the transactions on its own threads; [`drive`] runs the streams on others, as it does in a
//! run of queries, but repeats each stream until it is stopped. The streams connect and
//! begin when all sessions of the engine are connected, with its ramp-up. A query counts in the figures if it is answered in the timed window; what runs at its end
//! is cancelled in the database.
//!
//! With a baseline, the streams first run alone, before the engine starts; then the transactions run alone, in the
//! middle of a ramp-up that is longer for it, and the streams begin after it:
//!
//! ```text
//!  queries alone │ ramp-up │ transactions alone │ ramp-up of both │ timed window
//!                ◄── the engine's ramp-up ──────────────────────►
//! ```
//!
//! So the transactions are one run of the engine, whose counts are verified as those of any run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::time::{Instant, interval, sleep, sleep_until};
use triphammer_core::SpecError;
use triphammer_core::clock::parse_duration;
use triphammer_core::event::Phase;
use triphammer_core::recorder::RecordedInterval;
use triphammer_core::spec::Length;
use triphammer_core::workload::{PrimaryMetric, Workload as _, WorkloadSettings};
use triphammer_document::measure;
use triphammer_document::result::{BaselineTaken, StepOutcome, StepTime, StreamsTaken};
use triphammer_engine::RunEnd;
use triphammer_load::Plan;
use triphammer_settings::Settings;
use triphammer_settings::cancel::Cancel;
use triphammer_settings::failure::Failure;
use triphammer_settings::worker_pool::on_this_thread;

use super::control::{ControlEvent, PROGRESS_EVERY, drive};
use super::{QueryRun, timeout};
use crate::watch::{JobEvent, QueryProgress, Watch};

/// Maximum wait for the streams after the engine has ended: longer than a stream waits for a database that does not
/// react to its cancel request.
const END_LIMIT: Duration = Duration::from_secs(15);
/// The same if the run was aborted.
const ABORT_LIMIT: Duration = Duration::from_millis(500);
/// Time between two looks at a thread that ends.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Maximum number of queries without an answer that are described between two seconds.
const TROUBLES_MAX: usize = 10;

/// Resolves the streams of a workload that has them; `None` if none are to run. With a baseline the ramp-up becomes
/// longer: a ramp-up of the transactions, the time in which they run alone, and a ramp-up with the streams.
///
/// # Errors
/// When a setting is invalid.
pub fn streams(
    settings: &mut Settings,
    given: &WorkloadSettings,
    plan: &mut Plan,
) -> Result<Option<QueryRun>, Failure> {
    if !plan.workload.description().has_streams {
        return Ok(None);
    }
    let timeout = timeout(settings)?;
    let baseline = given.options.get("baseline").and_then(|text| parse_duration(text).ok());
    if let Some(baseline) = baseline {
        if !matches!(plan.spec.length, Length::Time(_)) {
            let message = "--baseline needs a timed window: omit it, or --transactions";
            return Err(SpecError::new(message).about("baseline").into());
        }
        plan.spec.rampup = Alone::ramp_up(plan.spec.rampup) * 2 + baseline;
    }
    Ok(plan.workload.query_plan().map(|plan| QueryRun {
        plan,
        timeout,
        is_external: false,
        is_endless: true,
        baseline,
    }))
}

/// The seconds of a run in which transactions run alone, before the streams begin.
pub struct Alone {
    from: u64,
    until: u64,
    counted: u64,
    seconds: u64,
}

impl Alone {
    /// The first of the two ramp-ups, in whole seconds.
    const fn ramp_up(given: Duration) -> Duration {
        let more = if given.subsec_nanos() > 0 { 1 } else { 0 };
        Duration::from_secs(given.as_secs() + more)
    }

    /// The seconds of a baseline before which there is half of the rest of the ramp-up.
    pub const fn new(rampup: Duration, baseline: Duration) -> Self {
        let from = rampup.as_secs().saturating_sub(baseline.as_secs()) / 2;
        Self { from, until: from + baseline.as_secs(), counted: 0, seconds: 0 }
    }

    /// Counts a second, and returns whether it was the last one.
    pub fn take(&mut self, interval: &RecordedInterval, metric: &PrimaryMetric) -> bool {
        if interval.first >= self.from && interval.last < self.until {
            self.counted += measure::counted(metric, &interval.types);
            self.seconds += interval.last - interval.first + 1;
        }
        interval.last + 1 >= self.until
    }

    /// Completes the baseline with what the queries did alone in a time.
    #[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
    pub fn into_taken(self, queries: StreamsTaken, queries_s: f64) -> BaselineTaken {
        let seconds = (self.until - self.from) as f64;
        let (counted, counted_s) = (self.counted, self.seconds as f64);
        BaselineTaken { seconds, queries, queries_s, counted, counted_s }
    }
}

/// The streams of a run.
pub struct Beside {
    cancel: Cancel,
    shared: Arc<StreamsState>,
    /// Lets the streams begin; they never do if it is dropped before.
    go: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the control thread of the streams and the run share.
struct StreamsState {
    is_in_window: AtomicBool,
    taken: Mutex<StreamsTaken>,
    /// Queries that were not answered, to be reported.
    troubles: Mutex<Vec<String>>,
    /// What is running.
    progress: Mutex<Option<QueryProgress>>,
}

impl StreamsState {
    fn taken(&self) -> MutexGuard<'_, StreamsTaken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn progress(&self) -> MutexGuard<'_, Option<QueryProgress>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn on_event(&self, step: &StepTime) {
        self.taken().take(step, self.is_in_window.load(Ordering::Relaxed));
        // Queries that run at the end of the window are cancelled in every run.
        let trouble = step.trouble().filter(|_| step.outcome != StepOutcome::Cancelled);
        let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        if troubles.len() < TROUBLES_MAX {
            troubles.extend(trouble);
        }
    }

    fn ended(&self, ended: Result<RunEnd, Failure>) {
        let mut taken = self.taken();
        match ended {
            Ok(end) => {
                taken.sessions = end.sessions;
                taken.away = end.away;
                taken.cpu_s = Duration::from_nanos(end.worker_cpu_ns.iter().sum()).as_secs_f64();
            }
            Err(_) => taken.away = taken.streams(),
        }
    }
}

impl Beside {
    /// Creates the control thread of the streams.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn new(plan: &Plan, run: &QueryRun) -> Result<Self, Failure> {
        let timeout_s = run.timeout.map(|limit| limit.as_secs_f64());
        let shared = Arc::new(StreamsState {
            is_in_window: AtomicBool::new(false),
            taken: Mutex::new(StreamsTaken::new(&run.plan, timeout_s)),
            troubles: Mutex::default(),
            progress: Mutex::default(),
        });
        let (go, gone) = mpsc::channel::<()>();
        let cancel = Cancel::default();
        let (plan, run) = (plan.clone(), run.clone());
        let of_thread = (Arc::clone(&shared), cancel.clone());
        let thread = std::thread::Builder::new().name("streams".into()).spawn(move || {
            let (shared, cancel) = of_thread;
            if gone.recv().is_err() {
                return;
            }
            let mut on_event = |event: ControlEvent<'_>| match event {
                ControlEvent::Progress(progress) => *shared.progress() = Some(progress.clone()),
                ControlEvent::Ended(step) => shared.on_event(step),
            };
            let ended = on_this_thread(async {
                drive(&plan, &run, None, &cancel, &mut on_event).await.map(|driven| driven.end)
            });
            shared.ended(ended);
        });
        let doing = "starting the thread that controls the streams of queries";
        let thread = thread.map_err(|error| Failure::System { doing: doing.into(), error })?;
        Ok(Self { cancel, shared, go: Some(go), thread: Some(thread) })
    }

    /// All sessions of the engine are connected: the streams begin.
    pub fn begin(&mut self) {
        if let Some(go) = self.go.take() {
            // The thread waits for it, so it is there.
            let _ = go.send(());
        }
    }

    /// Runs the streams alone for a time, or until `cancel`; returns what they did, in which time in seconds, and what
    /// was not answered.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub async fn alone(
        plan: &Plan,
        run: &QueryRun,
        time: Duration,
        cancel: &Cancel,
        watch: &Watch<'_>,
    ) -> Result<(StreamsTaken, f64, Vec<String>), Failure> {
        let report = |streams: &Self| {
            streams.progress().iter().for_each(|now| watch.report(JobEvent::Queries(now)));
        };
        let mut streams = Self::new(plan, run)?;
        streams.begin();
        streams.enter(Phase::Window);
        let began = Instant::now();
        let mut ticks = interval(PROGRESS_EVERY);
        while began.elapsed() < time && !cancel.is_cancelled() {
            tokio::select! {
                () = sleep_until(began + time) => {}
                () = cancel.cancelled() => {}
                _ = ticks.tick() => report(&streams),
            }
        }
        streams.stop();
        report(&streams);
        let seconds = began.elapsed().as_secs_f64();
        let (taken, troubles) = streams.end(|| cancel.is_cancelled()).await;
        Ok((taken, seconds, troubles))
    }

    /// The run has entered a phase.
    pub fn enter(&self, phase: Phase) {
        match phase {
            Phase::RampUp => {}
            Phase::Window => self.shared.is_in_window.store(true, Ordering::Relaxed),
            Phase::Drain | Phase::Abort => self.stop(),
        }
    }

    fn stop(&self) {
        self.shared.is_in_window.store(false, Ordering::Relaxed);
        self.cancel.cancel();
    }

    /// What is running, nothing after the streams were stopped, and the query times so far. `None` until they have begun.
    pub fn progress(&self) -> Option<QueryProgress> {
        let mut progress = self.shared.progress().clone()?;
        if self.cancel.is_cancelled() {
            progress.running.clear();
        }
        progress.geomean = self.shared.taken().geomean();
        Some(progress)
    }

    /// Describes the queries that were not answered since the last call.
    pub fn troubles(&self) -> Vec<String> {
        std::mem::take(&mut *self.shared.troubles.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Stops the streams and waits for their end, not long if the run `is_aborted`; returns what they did.
    pub async fn end(mut self, is_aborted: impl Fn() -> bool) -> (StreamsTaken, Vec<String>) {
        self.stop();
        self.go = None;
        let began = Instant::now();
        let thread = self.thread.take();
        while thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            let limit = if is_aborted() { ABORT_LIMIT } else { END_LIMIT };
            if began.elapsed() >= limit {
                break;
            }
            sleep(LOOK_AGAIN).await;
        }
        let troubles = self.troubles();
        let mut taken = self.shared.taken().clone();
        match thread {
            Some(thread) if thread.is_finished() => {
                if let Err(panic) = thread.join() {
                    std::panic::resume_unwind(panic);
                }
            }
            _ => taken.away = taken.streams(),
        }
        (taken, troubles)
    }
}

impl Drop for Beside {
    /// A run that ends with an error leaves no queries behind.
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

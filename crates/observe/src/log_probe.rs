//! The log probe (`--log-probe`): a small transaction of the monitor's own, on a session and in a
//! table of its own, again and again beside a run. No server keeps a histogram of its log writes;
//! this one is of the probe's commits, with their round trip.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use hdrhistogram::Histogram;
use tokio::sync::oneshot;
use tokio::time::{sleep, sleep_until, timeout};
use triphammer_core::clock::{Elapsed, thread_cpu_ns};
use triphammer_core::recorder::{HIGHEST_US, histogram};
use triphammer_core::session::{Database as _, Role, Session as _, StatementId};
use triphammer_core::stats::Times;
use triphammer_core::{Clock, DbError, ErrorClass, Rows, SpecError};
use triphammer_dialects::doctor::{WriteTestDef, doctor};
use triphammer_document::metrics::{Merge, Unit};
use triphammer_document::result::CommitProbe;
use triphammer_document::samples::SampleSeries;
use triphammer_drivers::{AnyDatabase, AnySession};
use triphammer_settings::cancel::Cancel;
use triphammer_settings::failure::Failure;
use triphammer_settings::limited::Limited;
use triphammer_settings::worker_pool::{connect, on_this_thread};

use super::database::bound;
use super::sessions::series;
use super::sink::Measured;
use super::sink::{Bounds, OfWindow, Sink};
use crate::doctor::names;
use crate::doctor::own::{self, Object};
use crate::doctor::write_test::{COMMIT_LIMIT, classes};

/// Time between two commits. One that is due while another is in progress is left out.
const EVERY: Duration = Duration::from_millis(100);
/// Pause after a commit that failed, before the session is opened again.
const AFTER_ERROR: Duration = Duration::from_secs(1);
/// Maximum wait at the end for the commit in progress.
const LAST_COMMIT: Duration = Duration::from_secs(1);
/// Maximum wait for the table to be dropped when the run could not start.
const DROP_LIMIT: Duration = Duration::from_secs(4);
/// How often the end looks whether the thread has ended.
const TICK: Duration = Duration::from_millis(5);
/// Name of the probe for people.
pub const NAME: &str = "log_probe";

/// Names of the probe's metrics.
pub const COMMITS: &str = "db.client.log_probe.commits";
/// The same for the times of its commits.
pub const DURATION: &str = "db.client.log_probe.duration";

/// A probe whose table exists. It begins with the run, and drops the table when it ends.
#[derive(Debug)]
pub struct LogProbe {
    /// Name of its table.
    pub table: String,
    begin: Option<oneshot::Sender<Begin>>,
    stop: Cancel,
    thread: Option<JoinHandle<Outcome>>,
}

/// What a probe needs of the run.
#[derive(Debug)]
pub struct Begin {
    /// Clock of the run.
    pub clock: Clock,
    /// The timed window.
    pub bounds: Arc<Bounds>,
    /// Where values go.
    pub sink: Arc<Sink>,
    /// Counts the transactions of the observers.
    pub own: Arc<AtomicU64>,
}

/// What a probe has seen, and what it cost.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The commits of the timed window; `None` if the run never began.
    pub seen: Option<CommitProbe>,
    /// Why it ended early, or what remains in the database.
    pub error: Option<DbError>,
    /// CPU time of its thread, in nanoseconds.
    pub cpu_ns: u64,
}

impl LogProbe {
    /// Creates the table, on a thread and a session of the probe's own.
    ///
    /// # Errors
    /// When the database has no such test, or the table cannot be created.
    pub async fn create(database: &Arc<AnyDatabase>, limit: Duration) -> Result<Self, Failure> {
        let refused = |why: String| Failure::from(SpecError::new(why).about("log-probe"));
        let doctor = doctor(database.dialect())?;
        let Some(def) = doctor.write_test.clone() else {
            let dialect = database.dialect();
            return Err(refused(format!("--log-probe is not supported on {dialect}: omit it")));
        };
        let grant = def.grant.clone();
        let (ready, created) = oneshot::channel();
        let (begin, begun) = oneshot::channel();
        let stop = Cancel::default();
        let probe = Probe { def, database: Arc::clone(database), limit, stop: stop.clone() };
        let thread = std::thread::Builder::new().name("observe log".into());
        let thread = thread.spawn(move || probe.run(ready, begun));
        let thread = thread
            .map_err(|error| Failure::System { doing: "starting the log probe".into(), error })?;
        match created.await {
            Ok(table) => Ok(Self { table, begin: Some(begin), stop, thread: Some(thread) }),
            Err(_) => {
                let outcome = thread.join().unwrap_or_default();
                let denied = outcome.error.as_ref().filter(|e| doctor.lacks_privilege(e));
                let grant = match grant.filter(|_| denied.is_some()) {
                    Some(grant) => {
                        let names = names::of((database, limit), &doctor).await;
                        let grant = names.fill(&grant).replace("{user}", "the user");
                        format!("; it needs {}", grant.trim_end_matches(';'))
                    }
                    None => String::new(),
                };
                let error = outcome.error.map_or_else(String::new, |error| error.to_string());
                let message = format!(
                    "--log-probe could not create its table: {error}{grant}; or omit --log-probe"
                );
                Err(refused(message))
            }
        }
    }

    /// Begins to commit.
    pub fn begin(&mut self, begin: Begin) {
        if let Some(sender) = self.begin.take() {
            // Without a thread the outcome says why.
            let _ = sender.send(begin);
        }
    }

    /// Ends the probe and drops its table; an error if that takes longer than `limit`.
    pub async fn end(mut self, limit: Duration) -> Outcome {
        self.stop.cancel();
        self.begin = None;
        let Some(thread) = self.thread.take() else { return Outcome::default() };
        let ended = async {
            while !thread.is_finished() {
                sleep(TICK).await;
            }
        };
        match timeout(limit, ended).await {
            Ok(()) => thread.join().unwrap_or_default(),
            Err(_) => {
                let message = format!(
                    "not ended within {} s: drop the table {} if it remains",
                    limit.as_secs_f64(),
                    self.table
                );
                Outcome {
                    error: Some(DbError::new(ErrorClass::Other, message)),
                    ..Outcome::default()
                }
            }
        }
    }
}

impl Drop for LogProbe {
    /// Drops the table of a run that could not start.
    fn drop(&mut self) {
        self.stop.cancel();
        self.begin = None;
        let Some(thread) = self.thread.take() else { return };
        let clock = Clock::start();
        while !thread.is_finished() && clock.now().duration() < DROP_LIMIT {
            std::thread::sleep(TICK);
        }
    }
}

/// What the thread works with.
struct Probe {
    def: WriteTestDef,
    database: Arc<AnyDatabase>,
    limit: Duration,
    stop: Cancel,
}

/// Commits of a second.
#[derive(Debug)]
struct Second {
    times: Histogram<u64>,
    sum_ns: u64,
    failed: u64,
    missed: u64,
}

impl Default for Second {
    fn default() -> Self {
        Self { times: histogram(), sum_ns: 0, failed: 0, missed: 0 }
    }
}

impl Second {
    fn add(&mut self, other: &Self) {
        self.times.add(&other.times).expect("both have the same bounds");
        self.sum_ns += other.sum_ns;
        self.failed += other.failed;
        self.missed += other.missed;
    }

    fn commit(&mut self, ns: u64) {
        self.sum_ns += ns;
        self.times.record((ns / 1000).min(HIGHEST_US)).expect("it grows up to HIGHEST_US");
    }

    /// The values of a second: the number of commits, and their mean and longest time.
    #[expect(clippy::cast_precision_loss, reason = "counts and times of a second")]
    fn measured(&self) -> Measured {
        let times = Times::of(Some(&self.times), Some(self.sum_ns));
        let number = |metric, of: &[(&str, &str)], title, unit, merge| {
            let plain = series(metric, of, title);
            Arc::new(SampleSeries { unit, merge, ..(*plain).clone() })
        };
        let (per_second, ms) = (Unit::PerSecond, Unit::Ms);
        let mut all = vec![(
            number(COMMITS, &[], "Commits of the log probe", per_second, Merge::Mean),
            times.count as f64,
        )];
        if times.count > 0 {
            let title = "Commit of the log probe";
            let of = [("statistic", "mean")];
            all.push((number(DURATION, &of, title, ms, Merge::Mean), times.mean_us / 1e3));
            let of = [("statistic", "max")];
            all.push((number(DURATION, &of, title, ms, Merge::Max), times.max_us as f64 / 1e3));
        }
        all
    }
}

impl Probe {
    fn run(self, ready: oneshot::Sender<String>, begun: oneshot::Receiver<Begin>) -> Outcome {
        let mut seen = None;
        let done = on_this_thread(async {
            let object = Object { create: Some(&self.def.create), drop: Some(&self.def.drop) };
            // A user's session, because those of other roles may have other settings.
            let place = (&*self.database, self.limit);
            own::with(place, Role::User, object, async |session, table| {
                own::run(session, &self.def.fill.replace("{name}", table)).await?;
                let id = self.prepare(session, table).await?;
                // The caller waits for it.
                let _ = ready.send(table.to_owned());
                let Ok(begin) = begun.await else { return Ok(()) };
                self.commit_until_stopped(session, (table, id), &begin, &mut seen).await
            })
            .await
        });
        Outcome { seen, error: done.err(), cpu_ns: thread_cpu_ns() }
    }

    async fn prepare(
        &self,
        session: &mut Limited<AnySession>,
        table: &str,
    ) -> Result<StatementId, DbError> {
        session.prepare(&bound(NAME, &self.def.write.replace("{name}", table))).await
    }

    /// Commits at every multiple of the interval. A session that is lost is opened again.
    ///
    /// # Errors
    /// When the commit in progress at the end is not answered: the session is not usable.
    async fn commit_until_stopped(
        &self,
        session: &mut Limited<AnySession>,
        (table, mut id): (&str, StatementId),
        begin: &Begin,
        seen: &mut Option<CommitProbe>,
    ) -> Result<(), DbError> {
        let interval = Elapsed::from_duration(EVERY).0;
        let mut kept = KeptCommits::new(begin);
        let mut tick = begin.clock.now().0 / interval;
        let mut is_usable = true;
        let mut rows = Rows::new();
        let ended = loop {
            tick += 1;
            tokio::select! {
                biased;
                () = self.stop.cancelled() => break Ok(()),
                () = sleep_until(begin.clock.instant(Elapsed(tick * interval))) => {}
            }
            kept.turn();
            if !is_usable {
                match self.again(session, table).await {
                    Some(fresh) => (id, is_usable) = (fresh, true),
                    None => kept.now.failed += 1,
                }
            }
            if is_usable {
                let sent = begin.clock.now();
                let commit = self.unless_stopped(session.call(id, &[], &mut rows)).await;
                match commit {
                    Ok(()) => {
                        begin.own.fetch_add(1, Ordering::Relaxed);
                        kept.now.commit(begin.clock.now().since(sent));
                    }
                    Err(error) if self.stop.is_cancelled() => break Err(error),
                    Err(_) => (is_usable, kept.now.failed) = (false, kept.now.failed + 1),
                }
            }
            let late = (begin.clock.now().0 / interval).saturating_sub(tick);
            kept.now.missed += late;
            tick += late;
        };
        *seen = Some(kept.finish());
        ended
    }

    /// Awaits a commit, for a short time only once the run has ended.
    async fn unless_stopped(
        &self,
        commit: impl Future<Output = Result<(), DbError>>,
    ) -> Result<(), DbError> {
        let late = |limit: Duration| {
            let message = format!("a commit took more than {} s", limit.as_secs());
            DbError::new(ErrorClass::Timeout, message)
        };
        tokio::select! {
            biased;
            done = timeout(COMMIT_LIMIT, commit) => done.unwrap_or_else(|_| Err(late(COMMIT_LIMIT))),
            () = async { self.stop.cancelled().await; sleep(LAST_COMMIT).await } => {
                Err(late(LAST_COMMIT))
            }
        }
    }

    /// Opens the session again after a pause.
    async fn again(&self, session: &mut Limited<AnySession>, table: &str) -> Option<StatementId> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => return None,
            () = sleep(AFTER_ERROR) => {}
        }
        let opened = async {
            *session = connect(&self.database, Role::User, AFTER_ERROR).await?;
            self.prepare(session, table).await
        };
        timeout(AFTER_ERROR * 2, opened).await.ok()?.ok()
    }
}

/// What is kept of the commits.
struct KeptCommits<'a> {
    begin: &'a Begin,
    second: u64,
    now: Second,
    window: OfWindow<Second>,
    total: Second,
}

impl<'a> KeptCommits<'a> {
    fn new(begin: &'a Begin) -> Self {
        Self {
            begin,
            second: begin.clock.now().second(),
            now: Second::default(),
            window: OfWindow::new(Arc::clone(&begin.bounds)),
            total: Second::default(),
        }
    }

    /// Passes on the second that has ended, if one has.
    fn turn(&mut self) {
        let second = self.begin.clock.now().second();
        if second > self.second {
            self.put();
            self.second = second;
        }
    }

    fn put(&mut self) {
        let ended = std::mem::take(&mut self.now);
        self.begin.sink.put(self.second, ended.measured());
        let total = &mut self.total;
        self.window.put(self.second, ended, |second| total.add(&second));
    }

    fn finish(mut self) -> CommitProbe {
        self.put();
        let Self { mut window, mut total, .. } = self;
        window.finish(|second| total.add(&second));
        CommitProbe {
            interval_s: EVERY.as_secs_f64(),
            times: Times::of(Some(&total.times), Some(total.sum_ns)),
            histogram: classes(&total.times),
            failed: total.failed,
            missed: total.missed,
        }
    }
}

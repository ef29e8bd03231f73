//! Looks at databases and hosts: beside a run (this module), before a run ([`doctor`]), and at stored
//! runs ([`why`]). Not here: load, and anything that changes data.
//!
//! Beside a run, a database (and, through further [`Source`]s, its host) is observed on the run's own
//! time axis:
//!
//! ```text
//! thread "observe"         10 × per second  sessions and their waits   ─┐ every second
//!   (own session)          every second     counters of the server     ─┤
//! thread "observe host" …  every second     any other Source           ─┴─► Sink ─► job store
//!                                                                            └────► window ─► document
//! ```
//!
//! The run never waits for an observer: it only moves the bounds of the timed window, which are two
//! atomic numbers, and takes what was observed at its end, within a limit. What a database offers is
//! declared in its dialect's `observe.toml`; the code here knows no database by name.

mod blockers;
mod capture;
mod cores;
pub mod cpu_profile;
mod database;
pub mod doctor;
pub mod energy;
pub mod host;
pub mod host_metrics;
mod host_usage;
mod known;
mod log_probe;
pub mod node_figures;
mod profile;
mod sessions;
mod sink;
mod source;
mod statements;
mod topology;
mod wait_classes;
pub mod why;
mod window;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use triphammer_core::SpecError;
use triphammer_core::clock::format_duration;
use triphammer_core::event::Phase;
use triphammer_core::session::Database as _;
use triphammer_core::spec::Length;
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::{Description, Workload as _};
use triphammer_core::{Clock, Elapsed};
use triphammer_dialects::observe::{MetricDef, MetricKind, ObserveDef, observe};
use triphammer_document::JobId;
use triphammer_document::requirement::{self, Requirement, Vocabulary};
use triphammer_document::result::{
    LogFigure, Observed, ObserverCost, ObserverGap, ProfileFigure, ServerTime, WaitClass,
};
use triphammer_document::samples::SampleSeries;
use triphammer_document::second::Second;
use triphammer_drivers::AnyDatabase;
use triphammer_load::Plan;
use triphammer_settings::Settings;
use triphammer_settings::cancel::Cancel;
use triphammer_settings::files::Files;
use triphammer_store::SampleWriter;

pub(crate) use blockers::BLOCKED_SESSIONS;
use capture::{Conditions, Trigger};
use database::{Outcome, Setup};
use sessions::StatementNames;
pub(crate) use sessions::{ACTIVE_SESSIONS, ACTIVE_STATEMENTS};

/// Names of all dialects.
pub use triphammer_dialects::catalogues::dialects;
/// What a dialect declares about observing its servers, for its documentation.
pub use triphammer_dialects::observe::observe as declared;

pub use cores::CPU_NUMBER;
pub use host_usage::{HostUsage, Used};
pub use log_probe::LogProbe;
pub use sink::{SeriesFigure, Sink};
pub use source::{Source, SourceCost, watch_source};
pub use window::{Bounds, Measured};

/// Metrics of sessions and of the log probe, which the document sums up elsewhere.
const SUMMED_UP: [&str; 5] =
    [ACTIVE_SESSIONS, ACTIVE_STATEMENTS, BLOCKED_SESSIONS, log_probe::COMMITS, log_probe::DURATION];
/// The setting of the conditions that make captures.
const CAPTURE_ON: &str = "capture-on";
/// Shortest time between two samples.
const INTERVAL_MIN: Duration = Duration::from_millis(10);
/// Longest time between two samples: more than one must fit into a second.
const INTERVAL_MAX: Duration = Duration::from_secs(1);
/// Maximum wait for the observers' threads at the end: a little more than their queries have.
const END_LIMIT: Duration = Duration::from_secs(4);
/// The same for a run that was aborted.
const ABORT_LIMIT: Duration = Duration::from_millis(500);
/// How often the end looks for threads that have ended.
const END_TICK: Duration = Duration::from_millis(5);

/// Average number of active sessions of the run in the last second, and what most of them did or
/// waited for, with its number; `None` if there are none.
#[must_use]
pub fn mostly(latest: &Measured) -> Option<(f64, WaitClass, f64)> {
    let mut classes: BTreeMap<&str, f64> = BTreeMap::new();
    for (series, value) in latest {
        let is_own = series.metric == ACTIVE_SESSIONS && series.has(&[("who", "run")]);
        if let Some(class) = series.labels.get("class").filter(|_| is_own) {
            *classes.entry(class).or_default() += value;
        }
    }
    classes.remove("idle_in_transaction");
    let all: f64 = classes.values().sum();
    let (class, most) = classes.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (most > 0.0).then(|| (all, WaitClass::named(class), most))
}

/// What to observe beside a run, by the settings.
#[derive(Clone, Debug)]
pub struct ObservePlan {
    /// Time between two samples of the sessions.
    pub interval: Duration,
    /// Whether commits of a transaction of triphammer's own are timed.
    pub log_probe: bool,
    /// Maximum length of the CPU profile of the timed window; `None` without one.
    pub cpu_profile: Option<Duration>,
    /// Conditions that make captures.
    pub capture_on: Vec<Requirement>,
}

impl ObservePlan {
    /// What is always observed, with nothing that is asked for.
    const fn plain(interval: Duration) -> Self {
        Self { interval, log_probe: false, cpu_profile: None, capture_on: Vec::new() }
    }

    /// The same for a set of queries, which has no seconds for conditions, and commits nothing that a probe could show.
    #[must_use]
    pub fn of_queries(self) -> Self {
        Self::plain(self.interval)
    }
}

/// Reads the settings of a build; `None` with `--no-observe`.
///
/// # Errors
/// When the interval is invalid.
pub fn plan_of_build(settings: &mut Settings) -> Result<Option<ObservePlan>, SpecError> {
    let is_off = settings.switch("no-observe")?;
    let interval = interval(settings)?;
    Ok((!is_off).then_some(ObservePlan::plain(interval)))
}

/// Reads the settings; `None` with `--no-observe`, which turns off all that is observed.
///
/// # Errors
/// When the interval or a condition is invalid, or the database has nothing to capture.
pub fn plan(
    settings: &mut Settings,
    vocabulary: &Vocabulary,
    database: &AnyDatabase,
) -> Result<Option<ObservePlan>, SpecError> {
    let is_off = settings.switch("no-observe")?;
    let log_probe = settings.switch("log-probe")?;
    let cpu_profile = cpu_profile::length(settings)?;
    let capture_on = requirement::of_seconds(settings, CAPTURE_ON, vocabulary)?;
    let dialect = database.dialect();
    if !capture_on.is_empty() && observe(dialect)?.detail.is_empty() {
        let message = format!("--{CAPTURE_ON} is not supported on {dialect}: omit it");
        return Err(SpecError::new(message).about(CAPTURE_ON));
    }
    let interval = interval(settings)?;
    Ok((!is_off).then_some(ObservePlan { interval, log_probe, cpu_profile, capture_on }))
}

/// Reads the time between two samples of the sessions.
fn interval(settings: &mut Settings) -> Result<Duration, SpecError> {
    let interval = settings.duration("observe-interval")?;
    if !(INTERVAL_MIN..=INTERVAL_MAX).contains(&interval) {
        let message = format!(
            "--observe-interval must be from {} to {}, got {}",
            format_duration(INTERVAL_MIN),
            format_duration(INTERVAL_MAX),
            format_duration(interval)
        );
        return Err(SpecError::new(message).about("observe-interval"));
    }
    Ok(interval)
}

/// What is observed: the database of a job, and the statements of its workload.
#[derive(Clone, Copy, Debug)]
pub struct Observee<'a> {
    /// The database.
    pub database: &'a Arc<AnyDatabase>,
    /// Statements of the workload.
    pub catalogue: &'a StatementCatalogue,
    /// The workload.
    pub workload: &'a Description,
    /// Whether the job has a timed window, whose bounds are reported; otherwise all of it is observed.
    pub has_window: bool,
    /// Whether the job is a build: tables are locked while it makes them, so nothing is read that opens them.
    pub is_build: bool,
}

impl<'a> Observee<'a> {
    /// What a run is observed with.
    #[must_use]
    pub fn of_run(plan: &'a Plan) -> Self {
        Self {
            database: &plan.database,
            catalogue: &plan.catalogue,
            workload: plan.workload.description(),
            has_window: matches!(plan.spec.length, Length::Time(_)),
            is_build: false,
        }
    }
}

/// The observers of a run.
#[derive(Debug)]
pub struct Observers {
    interval: Duration,
    clock: Clock,
    bounds: Arc<Bounds>,
    sink: Arc<Sink>,
    stop: Cancel,
    answered: Arc<AtomicU64>,
    own: Arc<AtomicU64>,
    def: ObserveDef,
    database: Option<JoinHandle<Outcome>>,
    sources: Vec<JoinHandle<SourceCost>>,
    probe: Option<LogProbe>,
    conditions: Conditions,
    triggers: Option<SyncSender<Trigger>>,
    gaps: Vec<ObserverGap>,
}

impl Observers {
    /// Starts observing the database of a job, if its dialect declares how, and `sources`. Call it
    /// when all sessions are connected: the clock starts here, and no user's session is missing
    /// because of the observers'. Values are stored with the job `store` names.
    #[must_use]
    pub fn start(
        observee: Observee<'_>,
        observed: &ObservePlan,
        store: Option<(&std::path::Path, JobId)>,
        sources: Vec<Box<dyn Source>>,
        probe: Option<LogProbe>,
    ) -> Option<Self> {
        let clock = Clock::start();
        let mut def = observe(observee.database.dialect()).unwrap_or_default();
        // Figures of tables are those that are read more seldom.
        def.query.retain(|query| query.every == 1 || !observee.is_build);
        if def.is_empty() && sources.is_empty() && probe.is_none() {
            return None;
        }
        let bounds = Arc::new(match observee.has_window {
            true => Bounds::unknown(),
            false => Bounds::whole(),
        });
        let writer = store.map(|(path, job)| SampleWriter::start(path, job));
        let (writer, failed) = writer.transpose().map_or_else(|e| (None, Some(e)), |w| (w, None));
        let mut observers = Self {
            interval: observed.interval.max(Duration::from_millis(def.interval_min_ms)),
            clock,
            sink: Arc::new(Sink::new(writer, Arc::clone(&bounds))),
            bounds,
            stop: Cancel::default(),
            answered: Arc::default(),
            own: Arc::default(),
            def,
            database: None,
            sources: Vec::new(),
            probe,
            conditions: Conditions::new(&observed.capture_on),
            triggers: None,
            gaps: Vec::new(),
        };
        observers.failed("store", failed);
        observers.start_database(observee);
        observers.start_probe();
        for source in sources {
            let (sink, stop) = (Arc::clone(&observers.sink), observers.stop.clone());
            match watch_source(source, clock, sink, stop) {
                Ok(thread) => observers.sources.push(thread),
                Err(error) => observers.failed("source", Some(error)),
            }
        }
        Some(observers)
    }

    fn start_database(&mut self, observee: Observee<'_>) {
        if self.def.is_empty() {
            return;
        }
        let triggers = (!self.conditions.is_empty()).then(|| {
            let (sender, triggers) = sync_channel(1);
            self.triggers = Some(sender);
            triggers
        });
        let setup = Setup {
            database: Arc::clone(observee.database),
            def: self.def.clone(),
            names: StatementNames::new(observee.catalogue, observee.workload),
            interval: self.interval,
            clock: self.clock,
            bounds: Arc::clone(&self.bounds),
            sink: Arc::clone(&self.sink),
            stop: self.stop.clone(),
            answered: Arc::clone(&self.answered),
            own: Arc::clone(&self.own),
            probe: self.probe.as_ref().map(|probe| probe.table.clone()),
            triggers,
        };
        let thread = std::thread::Builder::new().name("observe".into());
        match thread.spawn(move || database::observe(setup)) {
            Ok(thread) => self.database = Some(thread),
            Err(error) => self.failed("thread", Some(error)),
        }
    }

    fn start_probe(&mut self) {
        let begin = log_probe::Begin {
            clock: self.clock,
            bounds: Arc::clone(&self.bounds),
            sink: Arc::clone(&self.sink),
            own: Arc::clone(&self.own),
        };
        if let Some(probe) = &mut self.probe {
            probe.begin(begin);
        }
    }

    fn failed(&mut self, name: &str, error: Option<std::io::Error>) {
        if let Some(error) = error {
            self.gap(name, format!("not started: {error}"));
        }
    }

    fn gap(&mut self, name: &str, hides: String) {
        let name = name.to_owned();
        self.gaps.push(ObserverGap { name, hides, change: String::new(), part: None });
    }

    /// Records that the run is in another phase from this time on.
    pub fn enter(&self, phase: Phase, at: Elapsed) {
        match phase {
            Phase::RampUp => {}
            Phase::Window => self.bounds.begin(at.second()),
            Phase::Drain | Phase::Abort => self.bounds.end(at.second()),
        }
    }

    /// Evaluates the conditions of captures on a second of the run.
    pub fn second(&mut self, second: &Second, workload: &Description) {
        let Some(triggers) = &self.triggers else { return };
        if let Some(trigger) = self.conditions.second(second, workload) {
            // A moment just before is being captured already.
            let _ = triggers.try_send(trigger);
        }
    }

    /// The last value of each figure.
    #[must_use]
    pub fn latest(&self) -> Measured {
        self.sink.latest()
    }

    /// Number of the observers' own transactions that the database has counted so far.
    #[must_use]
    pub fn own_transactions(&self) -> Arc<AtomicU64> {
        if self.def.queries_count { Arc::clone(&self.own) } else { Arc::default() }
    }

    /// Ends the observation, and returns what was observed in the timed window.
    pub async fn end(mut self, is_aborted: bool) -> Observed {
        self.stop.cancel();
        let limit = if is_aborted { ABORT_LIMIT } else { END_LIMIT };
        let seconds = self.clock.now().duration().as_secs_f64();
        let database = match self.database.take() {
            Some(thread) => joined(thread, limit).await,
            None => Some(Outcome::default()),
        };
        let mut cpu_ns = 0;
        for thread in std::mem::take(&mut self.sources) {
            cpu_ns += joined(thread, limit).await.unwrap_or_default().cpu_ns;
        }
        let probed = match self.probe.take() {
            Some(probe) => probe.end(limit).await,
            None => log_probe::Outcome::default(),
        };
        cpu_ns += probed.cpu_ns;
        if let Some(error) = &probed.error {
            self.gap(log_probe::NAME, error.to_string());
        }
        let outcome = database.unwrap_or_else(|| {
            self.gap("thread", format!("not ended within {} s", limit.as_secs_f64()));
            Outcome::default()
        });
        let (figures, cores, lost) = self.sink.finish(&topology::places(&Files::of_this_host()));
        let values_lost = lost.unwrap_or_else(|error| {
            self.gap("store", format!("not stored: {error}"));
            0
        });
        #[expect(clippy::cast_precision_loss, reason = "nanoseconds of a run")]
        let cpu_s = (cpu_ns + outcome.cpu_ns) as f64 / 1e9;
        self.gaps.extend(outcome.gaps);
        let (profile, hosts): (Vec<_>, Vec<_>) = figures
            .into_iter()
            .filter(|figure| !SUMMED_UP.contains(&figure.series.metric.as_str()))
            .partition(|figure| self.is_declared(figure));
        Observed {
            interval_s: self.interval.as_secs_f64(),
            sessions: outcome.sessions,
            blockers: outcome.blockers,
            profile: profile.into_iter().map(|figure| self.figure(figure)).collect(),
            hosts: hosts.into_iter().map(|figure| self.figure(figure)).collect(),
            cores,
            statements: outcome.statements,
            log_probe: probed.seen,
            cpu_profile: None,
            captures: outcome.captures,
            cost: ObserverCost {
                cpu_s,
                cpu_share: if seconds > 0.0 { cpu_s / seconds } else { 0.0 },
                queries: self.answered.load(Ordering::Relaxed),
                query_s: outcome.query_s,
                lost: outcome.lost,
                values_lost,
            },
            gaps: std::mem::take(&mut self.gaps),
            memory_hits: None,
            log_writes: Vec::new(),
        }
        .with_memory_hits()
    }

    /// The metrics that the database's dialect declares.
    fn declared(&self) -> impl Iterator<Item = &MetricDef> {
        self.def.query.iter().flat_map(|query| &query.metrics)
    }

    /// Whether the database's dialect declares a figure; all others are of hosts.
    fn is_declared(&self, figure: &SeriesFigure) -> bool {
        self.declared().any(|metric| metric.name == figure.series.metric)
    }

    fn figure(&self, figure: SeriesFigure) -> ProfileFigure {
        let SeriesFigure { series, mean, max, last, .. } = figure;
        let part = part_of(self.declared(), &series);
        let log = log_of(self.declared(), &series);
        let is_counter = is_counter(self.declared(), &series);
        ProfileFigure {
            metric: series.metric,
            labels: series.labels,
            title: series.title,
            unit: series.unit,
            mean,
            max,
            last,
            // Divided by the transactions per second where these are known.
            per_transaction: is_counter.then_some(mean),
            part,
            log,
        }
    }
}

/// Whether a metric is the declaration of a series. Counters and gauges may have a name in common,
/// and differ in a label.
fn declares(metric: &MetricDef, series: &SampleSeries) -> bool {
    let labels = metric.labels.iter().all(|(name, of)| series.labels.get(name) == Some(of));
    metric.name == series.metric && labels
}

/// Whether a series is of a counter.
fn is_counter<'a>(
    mut declared: impl Iterator<Item = &'a MetricDef>,
    series: &SampleSeries,
) -> bool {
    declared.any(|metric| declares(metric, series) && metric.kind == MetricKind::Counter)
}

/// The part of a transaction's time that a series is.
fn part_of<'a>(
    declared: impl Iterator<Item = &'a MetricDef>,
    series: &SampleSeries,
) -> Option<ServerTime> {
    let mut of_series = declared.filter(|metric| declares(metric, series));
    of_series.find_map(|metric| ServerTime::named(metric.part.as_deref()?))
}

/// What a series is of the server's log writes.
fn log_of<'a>(
    declared: impl Iterator<Item = &'a MetricDef>,
    series: &SampleSeries,
) -> Option<LogFigure> {
    let mut of_series = declared.filter(|metric| declares(metric, series));
    of_series.find_map(|metric| LogFigure::named(metric.log.as_deref()?))
}

impl Drop for Observers {
    /// Ends the threads of a run that failed.
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// What a thread returned; `None` if it has not ended in time.
async fn joined<T>(thread: JoinHandle<T>, limit: Duration) -> Option<T> {
    let ended = async {
        while !thread.is_finished() {
            tokio::time::sleep(END_TICK).await;
        }
    };
    tokio::time::timeout(limit, ended).await.ok()?;
    thread.join().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_is_no_counter_even_if_a_counter_has_its_name() {
        let def = observe("mysql").unwrap();
        let counts = |kind: &str| {
            let labels = [("kind", kind)];
            let series = sessions::series("mysql.row_locks", &labels, "Row locks");
            is_counter(def.query.iter().flat_map(|query| &query.metrics), &series)
        };
        assert!(counts("waits") && counts("time"));
        assert!(!counts("current_waits"));
    }
}

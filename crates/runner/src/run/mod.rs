//! `run`: resolves the settings against the build, monitors the database while the engine drives
//! it, and computes the result.

mod at_once;
mod drive;
mod explain;
mod facts;
mod monitor;
mod pause;
mod prepare;
mod query_run;
mod resolve;
mod statement_plans;

use std::sync::Arc;
use std::time::Duration;

use triphammer_core::event::{Event, Note};
use triphammer_core::nodes::Node;
use triphammer_core::pace::Load;
use triphammer_core::session::{Admin, Database, LockMode, NodeStatus, Role, ServerInfo, Session};
use triphammer_core::spec::{Length, RunSpec};
use triphammer_core::workload::{
    AuditDef, Author, Description, Statements, Workload, WorkloadSettings,
};
use triphammer_core::{Elapsed, Scale};
use triphammer_document::JobId;
use triphammer_document::doctor::SetupVerdict;
use triphammer_document::failure_limit::FailureLimit;
use triphammer_document::parts::{SettingChange, Status};
use triphammer_document::price::PriceList;
use triphammer_document::redacted::{Redacted, mask_secrets};
use triphammer_document::requirement::{self, Requirement};
use triphammer_document::result::{
    DatabaseCount, NodeFact, QueriesResult, Restored, RunFacts, RunResult, SchemaFact,
};
use triphammer_document::schedule::Schedule;
use triphammer_drivers::{AnyDatabase, AnySession};
use triphammer_engine::{Replay, RunEnd, RunEnding};
use triphammer_load::Plan;
use triphammer_observe::cpu_profile::CpuProfiler;
use triphammer_observe::energy::{EnergyMeters, EnergyPlan};
use triphammer_observe::host_metrics::{self, Exporter};
use triphammer_observe::{HostUsage, LogProbe, ObservePlan, Observee, Observers};
use triphammer_settings::Settings;
use triphammer_settings::failure::{Doing, Failure};
use triphammer_settings::files::Files;
use triphammer_settings::handle::Handle;
use triphammer_settings::limited::Limited;
use triphammer_settings::worker_pool::{connect, on_this_thread};
use triphammer_store::{ReadAt, Store};
use triphammer_workloads::AnyWorkload;

use crate::build_observers::ask_exporter;
use crate::cluster::SharedRun;
use crate::journal::Journal;
use crate::replay::Exemplar;
use crate::state::Preparation;
use crate::watch::{JobEvent, Watch};
use crate::workload_lock::lock_workload;
pub use at_once::{AtOnceWay, RequestedHalf, SLICE_MAX_S};
pub(crate) use at_once::{Meeting, Seat};
use monitor::{COUNT_AFTER, COUNT_BEFORE, Monitor};
use query_run::{ControlEvent, Driven, QueryRun};
pub(crate) use resolve::validate;

/// Maximum wait for the final queries when the run was aborted.
const AFTER_ABORT: Duration = Duration::from_millis(500);

/// Kind of the note about a query that was not answered.
const QUERY_NOTE: &str = "query";

/// What is read beside a run, until the observers take it.
#[derive(Debug, Default)]
struct BesideRun {
    probe: Option<LogProbe>,
    energy: Option<EnergyMeters>,
    cpu_profile: Option<CpuProfiler>,
}

/// Who watches and ends a run, and with whom it begins.
#[derive(Clone, Copy)]
struct Way<'w, 's> {
    handle: &'w Handle,
    watch: &'w Watch<'s>,
    meeting: Option<&'w Meeting>,
}

/// A completely resolved run.
#[derive(Debug)]
pub struct Resolved {
    plan: Plan,
    settings: WorkloadSettings,
    facts: Vec<(String, String)>,
    /// Whether another program created the tables.
    external: bool,
    requirements: Vec<Requirement>,
    connect_limit: Duration,
    /// Half-width of the primary metric's interval at which the window ends.
    until_ci: Option<f64>,
    /// Share of failed transactions at which the run ends early.
    failure_limit: Option<FailureLimit>,
    /// The set of queries that the run times; `None` for transactions.
    queries: Option<QueryRun>,
    /// The streams of queries beside the transactions; `None` for none.
    streams: Option<QueryRun>,
    /// What is observed beside the run; `None` for nothing.
    observe: Option<ObservePlan>,
    /// Exporter of the metrics of the database's host.
    host_exporter: Option<Exporter>,
    /// What energy is read; `None` for none.
    energy: Option<EnergyPlan>,
    /// What the measured system costs.
    price: Option<PriceList>,
    /// How the run is spread over hosts; `None` for a run by this process.
    shared: Option<SharedRun>,
    /// How long there is no connection before the run; `None` for no pause.
    pause: Option<Duration>,
    /// What is done about the state before the run.
    preparation: Preparation,
    /// How the state was restored; `None` if it was not.
    restored: Option<Restored>,
    /// The campaign job that the run belongs to, and its position there.
    parent: Option<(JobId, u32)>,
    /// Where the run meets the other half of its pair; `None` if it takes place alone.
    seat: Option<Seat>,
}

impl Resolved {
    /// Makes the run part of a campaign job.
    #[must_use]
    pub fn step_of(self, parent: Option<(JobId, u32)>) -> Self {
        Self { parent, ..self }
    }

    /// Records how the state was restored that the run begins from.
    #[must_use]
    pub fn restored(self, restored: Option<Restored>) -> Self {
        Self { restored, ..self }
    }

    /// Lets the run begin at the same instant as the other half of its pair.
    #[must_use]
    pub(crate) fn seated(self, seat: Seat) -> Self {
        Self { seat: Some(seat), ..self }
    }

    /// Half-width of the interval at which the run, or the pair that it belongs to, ends.
    #[must_use]
    pub(crate) const fn until_ci(&self) -> Option<f64> {
        self.until_ci
    }

    /// Scale of the data.
    #[must_use]
    pub const fn scale(&self) -> Scale {
        self.settings.scale
    }

    /// Maximum length as a time, if there is one, with the pause before.
    #[must_use]
    pub fn longest(&self) -> Duration {
        let load = match self.plan.spec.length {
            Length::Time(longest) => self.plan.spec.rampup + longest,
            Length::Transactions(_) => self.recorded().unwrap_or_default(),
        };
        self.pause.unwrap_or_default() + load
    }

    /// Length of the recording that is replayed at its times, at their speed.
    fn recorded(&self) -> Option<Duration> {
        let recording = self.workload().recording.as_ref();
        let recording = recording.filter(|_| matches!(self.plan.spec.load, Load::Replay(_)))?;
        Some(Duration::from_secs(recording.due.len() as u64))
    }

    /// Description of the workload.
    #[must_use]
    pub fn workload(&self) -> &Arc<Description> {
        self.plan.workload.description()
    }

    /// The workload itself, which the run shares.
    pub(crate) fn any_workload(&self) -> Arc<AnyWorkload> {
        Arc::clone(&self.plan.workload)
    }

    /// The resolved spec.
    #[must_use]
    pub fn spec(&self) -> &RunSpec {
        &self.plan.spec
    }

    /// Labels of the run for exported metrics, without secrets.
    #[must_use]
    pub fn info(&self, settings: &Settings) -> Vec<(&'static str, String)> {
        vec![
            ("workload", self.workload().name.to_string()),
            ("scale", self.settings.scale.to_string()),
            ("target", Redacted::target_of(&self.plan.database).to_string()),
            ("users", self.plan.spec.users.to_string()),
            ("label", settings.get("label").unwrap_or_default().to_owned()),
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ]
    }

    /// Runs, stores and returns the result.
    ///
    /// # Errors
    /// When the run could not start. A run that started always returns a result.
    pub fn run(
        mut self,
        settings: &Settings,
        store: Option<&mut Store>,
        handle: &Handle,
        watch: &Watch<'_>,
    ) -> Result<RunResult, Failure> {
        let mut seat = self.seat.take();
        let meeting = seat.as_ref().map(|seat| seat.meeting().clone());
        let result = on_this_thread(self.made(settings, store, handle, watch, meeting.as_ref()));
        let is_complete = |result: &RunResult| result.status == Status::Complete;
        if let (Some(seat), true) = (&mut seat, result.as_ref().is_ok_and(is_complete)) {
            seat.completes();
        }
        result
    }

    async fn made(
        &self,
        settings: &Settings,
        store: Option<&mut Store>,
        handle: &Handle,
        watch: &Watch<'_>,
        meeting: Option<&Meeting>,
    ) -> Result<RunResult, Failure> {
        let first_answer = self.pause(handle, watch).await?;
        let _lock = self.lock().await?;
        let mut monitor = Monitor::new(&self.plan, self.connect_limit);
        let (mut facts, mut journal, beside) =
            self.begin(settings, store, &mut monitor, watch).await?;
        facts.first_answer = first_answer;
        if let Err(failure) =
            self.prepare(&mut monitor, &mut facts, &mut journal, handle, watch).await
        {
            journal.failed(&failure, &mut |text| watch.warn(text));
            return Err(failure);
        }
        let end = match &self.queries {
            Some(queries) => {
                self.drive_queries(queries, &mut monitor, &mut facts, &mut journal, handle, watch)
                    .await
            }
            None => {
                let way = Way { handle, watch, meeting };
                self.drive(&mut monitor, &mut facts, &mut journal, way, beside).await
            }
        };
        let mut end = match end {
            Ok(end) => end,
            Err(failure) => {
                journal.failed(&failure, &mut |text| watch.warn(text));
                return Err(failure);
            }
        };
        facts.statements = self.plan.workload.statement_times();
        if end.ending != RunEnding::Aborted {
            self.explain_replay(&mut facts, &mut journal, watch).await;
        }
        facts.replay = self.plan.workload.replay_answers();
        facts.script = self.plan.workload.script_totals();
        if let Some(why) = self.plan.workload.failure() {
            end.ending = RunEnding::UsersEnded;
            let note = Note::new("script_failed", None, format!("the script failed: {why}"));
            watch.warn(&note.text);
            keep(note, &mut facts.notes, &mut journal, watch);
        }
        end.errors.iter_mut().for_each(|of| of.message = mask_secrets(&of.message));
        let is_aborted = end.ending == RunEnding::Aborted;
        self.look_again(&mut monitor, &mut facts, &mut journal, is_aborted, watch).await;
        facts.earlier = self.parent.is_none().then(|| journal.earlier(&facts)).flatten();
        let mut result = RunResult::new(&facts, &end);
        requirement::judge(&mut result, &self.requirements);
        journal.finish(&result, (&facts, &end), &mut |text| watch.warn(text));
        // An incompletely stored job is not referred to.
        result.job = journal.job.filter(|_| journal.is_whole()).map(|job| job.0);
        Ok(result)
    }

    /// Reads the execution plans of the costliest statements of a replay.
    async fn explain_replay(
        &self,
        facts: &mut RunFacts,
        journal: &mut Journal<'_>,
        watch: &Watch<'_>,
    ) {
        let found = statement_plans::read(&self.plan, &facts.statements).await;
        facts.statement_plans = found.plans;
        if let Some(missing) = found.missing {
            let note = Note::new("plans_missing", None, missing);
            keep(note, &mut facts.notes, journal, watch);
        }
    }

    /// Keeps builds and drops of the same tables away, as long as the lock lives.
    async fn lock(&self) -> Result<Option<Limited<AnySession>>, Failure> {
        let database = &self.plan.database;
        if !database.capabilities().stores {
            return Ok(None);
        }
        let (workload, limit) = (self.workload(), self.connect_limit);
        lock_workload(workload, database, Role::Monitor, LockMode::Shared, limit).await.map(Some)
    }

    /// Connects, reads what is known before the start, and stores the beginning of the job.
    async fn begin<'s>(
        &self,
        settings: &Settings,
        store: Option<&'s mut Store>,
        monitor: &mut Monitor<'_>,
        watch: &Watch<'_>,
    ) -> Result<(RunFacts, Journal<'s>, BesideRun), Failure> {
        let connecting = format!("connecting to {}", self.plan.database.target());
        monitor.ensure().await.doing(connecting)?;
        ask_exporter(self.host_exporter.as_ref()).await?;
        self.start_workload().await?;
        let probe = self.create_log_probe().await?;
        let cpu_profile = self.find_cpu_profiler(watch)?;
        let mut facts = self.facts(settings, monitor).await?;
        facts.nodes = self.ask_nodes().await?;
        facts.price.clone_from(&self.price);
        let energy = self.find_energy(&facts).await?;
        let (files, writes) = (Files::of_settings(settings)?, self.writes() == Some(true));
        facts.setup = monitor.setup(files, &facts.server, writes).await;
        for line in facts.setup.iter().filter(|line| line.verdict == SetupVerdict::Wrong) {
            watch.warn(&format!("{}; to change it: {}", line.trouble(), line.change));
        }
        let mut journal =
            Journal::of_run(store, &facts, self.parent, settings, &mut |text| watch.warn(text));
        facts.job = journal.job.map(|job| job.0);
        for note in monitor.schema(&mut facts.schema).await {
            keep(note, &mut facts.notes, &mut journal, watch);
        }
        let is_probe = |fact: &SchemaFact| probe.iter().any(|probe| probe.table == fact.table);
        facts.schema.retain(|fact| !is_probe(fact));
        facts.database_count.before = monitor.count(COUNT_BEFORE).await;
        for (audit, sum) in &mut facts.audits {
            sum.before = monitor.sum(audit, COUNT_BEFORE).await;
        }
        Ok((facts, journal, BesideRun { probe, energy, cpu_profile }))
    }

    /// Reads at the end what was read before the start, to compare it.
    async fn look_again(
        &self,
        monitor: &mut Monitor<'_>,
        facts: &mut RunFacts,
        journal: &mut Journal<'_>,
        is_aborted: bool,
        watch: &Watch<'_>,
    ) {
        let mut settings_end = Vec::new();
        let looking = async {
            facts.answers_at_end = monitor.wait_for_database(self.connect_limit).await;
            if facts.answers_at_end {
                facts.database_count.after = monitor.count(COUNT_AFTER).await;
                for (audit, sum) in &mut facts.audits {
                    sum.after = monitor.sum(audit, COUNT_AFTER).await;
                }
            }
            let settings = monitor.query(async |s| s.settings().await).await;
            settings_end = settings.unwrap_or_default();
        };
        // An aborted run does not wait for the server either.
        let at_most = if is_aborted { AFTER_ABORT } else { Duration::MAX };
        if tokio::time::timeout(at_most, looking).await.is_err() {
            monitor.give_up().await;
        }
        for text in self.plan.database.notes() {
            if facts.notes.iter().all(|note| note.text != text) {
                keep(Note::new("driver", None, text), &mut facts.notes, journal, watch);
            }
        }
        journal.settings(ReadAt::End, &settings_end, &mut |text| watch.warn(text));
        let settings_start = &monitor.settings_start;
        if !settings_start.is_empty() && !settings_end.is_empty() {
            facts.settings_changed = SettingChange::between(settings_start, &settings_end);
        }
    }

    /// Asks every node of the target who it is, and whether it accepts writes.
    async fn ask_nodes(&self) -> Result<Vec<NodeFact>, Failure> {
        let Some(nodes) = &self.plan.nodes else { return Ok(Vec::new()) };
        let known = nodes.ask(self.connect_limit).await.doing("connecting to the nodes")?;
        if let Some(level) = self.plan.spec.isolation {
            nodes.refuse_isolation(level, self.plan.spec.users, &known)?;
        }
        let fact =
            |(node, (server, status)): (&Node<AnyDatabase>, (ServerInfo, NodeStatus))| NodeFact {
                name: node.name.clone(),
                target: Redacted::target_of(&node.database),
                version: server.version,
                status,
            };
        Ok(nodes.list.iter().zip(known).map(fact).collect())
    }

    /// Finds what energy can be read.
    async fn find_energy(&self, facts: &RunFacts) -> Result<Option<EnergyMeters>, Failure> {
        let Some(plan) = &self.energy else { return Ok(None) };
        let is_shared = facts.database_on_threads || facts.server.same_host == Some(true);
        Ok(Some(EnergyMeters::find(plan, is_shared).await?))
    }

    /// Finds what can sample the CPUs, if that was asked for.
    fn find_cpu_profiler(&self, watch: &Watch<'_>) -> Result<Option<CpuProfiler>, Failure> {
        let length = self.observe.as_ref().and_then(|observed| observed.cpu_profile);
        let found = length.map(CpuProfiler::find).transpose()?;
        if let Some(lack) = found.as_ref().and_then(CpuProfiler::lack) {
            watch.warn(&lack);
        }
        Ok(found)
    }

    /// Creates the log probe, if it was asked for.
    async fn create_log_probe(&self) -> Result<Option<LogProbe>, Failure> {
        match &self.observe {
            Some(observed) if observed.log_probe => {
                let (database, limit) = (&self.plan.database, self.connect_limit);
                Ok(Some(LogProbe::create(database, limit).await?))
            }
            _ => Ok(None),
        }
    }

    /// Reads what the run's own sessions may have changed: the mode of the database, as in SQLite.
    async fn started(
        &self,
        monitor: &mut Monitor<'_>,
        facts: &mut RunFacts,
        journal: &mut Journal<'_>,
        watch: &Watch<'_>,
    ) {
        for text in self.plan.database.notes() {
            keep(Note::new("driver", None, text), &mut facts.notes, journal, watch);
        }
        for text in replicas_that_write(&facts.nodes) {
            keep(Note::new("replica_writes", None, text), &mut facts.notes, journal, watch);
        }
        facts.workload_warning = self.plan.workload.warning();
        if let Some(text) = &facts.workload_warning {
            watch.warn(text);
        }
        let settings = monitor.query(async |s| s.settings().await).await;
        monitor.settings_start = settings.unwrap_or_default();
        journal.settings(ReadAt::Start, &monitor.settings_start, &mut |text| watch.warn(text));
        // A user may not be allowed to know.
        facts.settings_set = monitor.query(async |s| s.settings_set().await).await.flatten();
        let stores = self.plan.database.capabilities().stores;
        facts.schedule = Schedule::of(stores, &monitor.settings_start);
    }

    /// Drives a set of queries. What was not answered is noted at once.
    async fn drive_queries(
        &self,
        queries: &QueryRun,
        monitor: &mut Monitor<'_>,
        facts: &mut RunFacts,
        journal: &mut Journal<'_>,
        handle: &Handle,
        watch: &Watch<'_>,
    ) -> Result<RunEnd, Failure> {
        // A session of a user may change the mode of the database, so settings are read after one was there.
        let database = &self.plan.database;
        let session = connect(database, Role::User, self.connect_limit).await;
        session.doing(format_args!("connecting to {}", database.target()))?.close().await;
        watch.report(JobEvent::Began(journal.job));
        self.record_first_run(monitor, facts, journal, watch).await?;
        self.started(monitor, facts, journal, watch).await;
        let (observers, usage) = self.observe_queries(monitor, journal).await;
        let mut notes = Vec::new();
        let mut on_event = |event: ControlEvent<'_>| match event {
            ControlEvent::Progress(progress) => watch.report(JobEvent::Queries(progress)),
            ControlEvent::Ended(step) => {
                let Some(text) = step.trouble() else { return };
                let at = step.end_s().map(|s| Elapsed::from_duration(Duration::from_secs_f64(s)));
                let note = Note::new(QUERY_NOTE, at, text);
                keep(note.clone(), &mut notes, journal, watch);
                watch.report(JobEvent::Run(&Event::Note(note)));
            }
        };
        let cancel = handle.cancel();
        let mut engine_memory = None;
        let Driven { end, steps, phases } = tokio::select! {
            biased;
            done = query_run::drive(&self.plan, queries, usage.as_ref(), cancel, &mut on_event) => done?,
            never = monitor.sample_memory(&mut engine_memory) => match never {},
        };
        facts.notes.extend(notes);
        if let Some(observers) = observers {
            facts.observed = Some(observers.end(handle.is_aborted()).await);
        }
        let timeout_s = queries.timeout.map(|limit| limit.as_secs_f64());
        let scale = self.settings.scale;
        let mut set = QueriesResult::new(&queries.plan, scale, timeout_s, steps);
        set.engine_memory_bytes = engine_memory;
        set.usage_of = usage.map(|usage| usage.whose());
        set.phases = phases;
        if end.ending == RunEnding::Complete {
            if queries.plan.analyze {
                watch.note("running each query once more, untimed, for its measured plan");
            }
            let read = query_run::read_plans(&self.plan, queries, cancel).await?;
            set = set.with_plans(read.plans);
            for text in read.missing {
                keep(Note::new("plan", None, text), &mut facts.notes, journal, watch);
            }
        }
        facts.query_plan = Some(queries.plan.clone());
        facts.queries = Some(set);
        Ok(end)
    }

    /// Starts the observers of a set of queries; returns them, and what reads the use of this host by single queries.
    async fn observe_queries(
        &self,
        monitor: &mut Monitor<'_>,
        journal: &Journal<'_>,
    ) -> (Option<Observers>, Option<Arc<HostUsage>>) {
        let Some(observed) = &self.observe else { return (None, None) };
        let server = monitor.query(async |s| s.server_process().await).await.flatten();
        let hosts = host_metrics::sources(self.host_exporter.as_ref(), server);
        let observee = Observee::of_run(&self.plan);
        let observers = Observers::start(observee, observed, journal.place(), hosts, None);
        let is_in_process = self.plan.database.capabilities().in_process;
        (observers, HostUsage::of(server, is_in_process).map(Arc::new))
    }

    /// Lets a user's own workload, or that of a command, try its statements and prepare its data.
    async fn start_workload(&self) -> Result<(), Failure> {
        let database = &self.plan.database;
        let is_declared = matches!(self.workload().author, Author::Program);
        if !database.capabilities().stores || is_declared {
            return Ok(());
        }
        let mut session = connect(database, Role::User, self.connect_limit)
            .await
            .doing(format_args!("connecting to {}", database.target()))?;
        let statements = Statements::new(&self.plan.catalogue).by(self.plan.spec.protocol);
        let started = self.plan.workload.start(&statements, &mut session).await;
        started.doing("preparing the workload")?;
        session.close().await;
        Ok(())
    }

    /// Whether the run writes; `None` if only the user who wrote its statements knows.
    fn writes(&self) -> Option<bool> {
        match &self.queries {
            Some(queries) => Some(queries.plan.refreshes()),
            None => self.plan.workload.writes(),
        }
    }

    /// Records that the data is no longer as built, if the run may change it; when users have sessions,
    /// and before their first transaction. A run that perhaps only reads may be unable to: a note says so.
    async fn record_first_run(
        &self,
        monitor: &mut Monitor<'_>,
        facts: &mut RunFacts,
        journal: &mut Journal<'_>,
        watch: &Watch<'_>,
    ) -> Result<(), Failure> {
        let writes = self.writes();
        if self.external || !self.workload().has_data() || writes == Some(false) {
            return Ok(());
        }
        match monitor.touch().await {
            Err(error) if writes.is_none() && !error.class().loses_session() => {
                let text = format!(
                    "triphammer_build does not record that this run may have changed the data: {error}"
                );
                watch.warn(&text);
                keep(Note::new("first_run", None, text), &mut facts.notes, journal, watch);
                Ok(())
            }
            touched => touched.doing("recording the first run in the build record"),
        }
    }

    /// Replays one transaction of an earlier run with these settings.
    ///
    /// # Errors
    /// When no session can be opened.
    pub fn replay(&self, exemplar: &Exemplar) -> Result<Replay, Failure> {
        let plan = &self.plan;
        on_this_thread(async {
            let _lock = self.lock().await?;
            self.start_workload().await?;
            let replayed = triphammer_load::replay(plan, exemplar.origin(), exemplar.date()).await;
            replayed.doing(format_args!("replaying on {}", plan.database.target()))
        })
    }

    /// The workload's audits that hold with the run's options, if the database stores data.
    fn audits(&self) -> Vec<(AuditDef, DatabaseCount)> {
        let stores = self.plan.database.capabilities().stores;
        let options = &self.settings.options;
        let is_excepted = |audit: &AuditDef| {
            let except = audit.except.as_ref();
            except.is_some_and(|(name, value)| options.get(&**name).is_some_and(|v| **v == **value))
        };
        let audits = self.workload().audits.iter().filter(|audit| stores && !is_excepted(audit));
        audits.map(|audit| (audit.clone(), DatabaseCount::default())).collect()
    }
}

/// What to know of nodes that accept writes although they apply those of another server.
fn replicas_that_write(nodes: &[NodeFact]) -> Vec<String> {
    let accepts = |node: &&NodeFact| node.status.is_writable == Some(true);
    if nodes.iter().filter(accepts).count() < 2 {
        return Vec::new();
    }
    let replicating = nodes.iter().filter(|node| accepts(node) && node.status.is_replicating);
    let text = |node: &NodeFact| {
        format!(
            "node {} replicates from another server and accepts writes, so it is used as a primary: unless \
             they replicate from each other, make it read only (read_only), or route the writes \
             (--route writes=first:NODE)",
            node.name
        )
    };
    replicating.map(text).collect()
}

/// Keeps a note for the result, and stores it.
fn keep(note: Note, notes: &mut Vec<Note>, journal: &mut Journal<'_>, watch: &Watch<'_>) {
    journal.note(&note, &mut |text| watch.warn(text));
    notes.push(note);
}

//! `run`: resolves the settings against the build, monitors the database while the engine drives
//! it, and computes the result.

mod fingerprint;
mod monitor;
mod query_run;

use std::sync::Arc;
use std::time::Duration;

use triphammer_core::clock::format_duration;
use triphammer_core::engine::{Replay, RunEnd, RunEnding, Share};
use triphammer_core::event::{Event, Note, Phase};
use triphammer_core::io::{RING, uses_ring};
use triphammer_core::nodes::Node;
use triphammer_core::pace::ReplayLoad;
use triphammer_core::session::{
    Admin, Capabilities, Database, Isolation, LockMode, NodeStatus, Role, ServerInfo, Session,
};
use triphammer_core::spec::{Length, RunSpec};
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::{
    AuditDef, BuildEffect, Description, ExternalSchema, Mode, OptionCommand, Statements, Workload,
    WorkloadSettings,
};
use triphammer_core::{Clock, Elapsed, Scale, SpecError};
use triphammer_drivers::AnyDatabase;
use triphammer_load::Plan;
use triphammer_workloads::{AnyWorkload, custom, is_of_user, python, replay, script};

use crate::build::{BuildRequest, build, lock_workload, option_of};
use crate::cancel::Cancel;
use crate::check::built;
use crate::cluster::{Cluster, SharedRun};
use crate::doctor::check::SetupVerdict;
use crate::failure::{Doing, Failure};
use crate::failure_limit::{self, FailureLimit, FailureWatch};
use crate::host::Host;
use crate::host_metrics::{self, Exporter};
use crate::job::Handle;
use crate::journal::Journal;
use crate::nodes::NodeSeries;
use crate::observe::{self, LogProbe, ObservePlan, Observers};
use crate::record::Record;
use crate::replay::Exemplar;
use crate::requirement::{self, Requirement, Vocabulary};
use crate::result::{
    COUNTED, CounterSpan, DatabaseCount, NodeFact, QueriesResult, Redacted, RunFacts, RunResult,
    SchemaFact, ScriptFacts, SettingChange, Slicer, StreamsTaken, Tool, WorkloadFacts,
};
use crate::schedule::Schedule;
use crate::second::{Phases, Second};
use crate::settings::{RunDefaults, Settings, run_spec, until_ci};
use crate::stopping_rule::{Now, StoppingRule};
use crate::store::{JobId, ReadAt, Store};
use crate::target::Target;
use crate::watch::{JobEvent, Watch};
use crate::worker_pool::{connect, create_database, identify, on_this_thread};
use crate::{catalogues, requests, resources};
use monitor::{COUNT_AFTER, COUNT_BEFORE, Monitor};
use query_run::{Alone, Beside, Heard, QueryRun};

/// Maximum wait for the final queries when the run was aborted.
const AFTER_ABORT: Duration = Duration::from_millis(500);

/// Kind of the note about a query that was not answered.
const QUERY_NOTE: &str = "query";

/// Scale of a run on a database that does not store data.
const SCALE_UNSTORED: u32 = 10;

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
    /// How the run is spread over hosts; `None` for a run by this process.
    shared: Option<SharedRun>,
    /// The campaign job that the run belongs to, and its position there.
    parent: Option<(JobId, u32)>,
}

impl Resolved {
    /// Resolves a run: scale and seed from the build, the rest from the settings. The default
    /// SQLite file is built first if it does not exist.
    ///
    /// # Errors
    /// When nothing was built, or a setting is invalid.
    pub fn new(
        settings: &mut Settings,
        workload: &Arc<Description>,
        target: &Target,
        watch: &Watch<'_>,
        is_preview: bool,
    ) -> Result<Self, Failure> {
        let database = &target.database;
        // Each run has its own: the two sides of a comparison may run different scripts.
        let workload = &requests::of_run(settings, workload)?;
        let vocabulary = Vocabulary::of_workload(workload);
        let requirements = requirement::from_settings(settings, &vocabulary)?;
        if query_run::is_for(workload) {
            query_run::refuse_settings(settings, workload)?;
        }
        requests::refuse_invalid_options(settings, workload)?;
        identify(workload, database)?;
        let catalogue = catalogues::catalogue(
            workload,
            database.dialect(),
            database.capabilities().procedures,
        )?;
        let mut record = Record::default();
        refuse_isolations(workload, database.capabilities())?;
        let has_data = workload.has_data();
        let mut workload_settings = if database.capabilities().stores && has_data {
            let found = on_this_thread(find(workload, &catalogue, target));
            record = match found {
                Ok(record) => record,
                Err(_) if target.is_embedded_to_build() && !is_preview => {
                    // An invalid setting is reported before a file is created.
                    Self::new(&mut settings.clone(), workload, target, watch, true)?;
                    build_embedded(settings, workload, target, watch)?;
                    on_this_thread(find(workload, &catalogue, target))?
                }
                Err(_) if target.is_embedded_to_build() => unbuilt(settings, workload)?,
                Err(failure) => return Err(failure),
            };
            agree(settings, workload, &record)?;
            refuse_lack(&record, &database.target())?;
            record.workload_settings().doing("reading the build record")?
        } else {
            let is_own = !has_data || is_of_user(&workload.name);
            let unstored = if is_own { Scale::ONE } else { SCALE_UNSTORED.into() };
            let scale = requests::scale(settings, unstored)?;
            WorkloadSettings { scale, data_seed: 1, ..WorkloadSettings::default() }
        };
        for (name, value) in settings.workload_options(&workload.options, OptionCommand::Run) {
            workload_settings.options.entry(name).or_insert(value);
        }
        requests::show_own(settings, &workload.name);
        let external = workload.external.as_ref().filter(|_| record.is_external());
        for (name, value) in external.iter().flat_map(|external| &external.options) {
            let source = settings.source(name);
            settings.show(name, value.to_string(), &source);
        }
        external.iter().try_for_each(|external| refuse_mode(settings, workload, external))?;
        // Without procedures in the database, only statements are possible.
        let without = option_of(workload, BuildEffect::NoProcedures);
        let without = without.and_then(|option| record.get(&format!("option/{}", option.name)));
        let modes: &[Mode] = match (without, &external) {
            (Some("true"), _) => &[Mode::Statements],
            (_, Some(external)) => &external.modes,
            _ => &workload.modes,
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let defaults = RunDefaults {
            capabilities: database.capabilities(),
            scale: if has_data { workload_settings.scale.rounded_up() } else { 1 },
            modes,
            pipelining: workload.pipelining,
            cycle: workload.cycle.as_ref(),
            recording: workload.recording.as_ref(),
            embedded: target.embedded,
            cores: u32::try_from(cores).unwrap_or(u32::MAX),
        };
        let (spec, queries) = if query_run::is_for(workload) {
            let (spec, queries) =
                query_run::resolve(settings, workload, &workload_settings, database, &catalogue)?;
            (spec, Some(queries))
        } else {
            (run_spec(settings, defaults)?, None)
        };
        let cluster = Cluster::from_settings(settings)?;
        match &cluster {
            Some(cluster) => cluster.refuse(settings, workload, target, &spec)?,
            None => resources::check(&spec, database)?,
        }
        workload_settings.run_seed = spec.seed;
        let workload = Arc::new(AnyWorkload::new(&workload.name, &workload_settings)?);
        if let Some(difference) = record.setup_difference(&workload.build_facts()) {
            return Err(Failure::refuse(format!(
                "{difference}; build it again at {} with --replace",
                database.target()
            )));
        }
        // The SQL of a user's workload may depend on the scale, which the database had to be asked for.
        let catalogue = if is_of_user(&workload.description().name) {
            let procedures = database.capabilities().procedures;
            catalogues::catalogue(workload.description(), database.dialect(), procedures)?
        } else {
            catalogue
        };
        let facts = record.below("fact").chain(record.below("dialect"));
        let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let mut plan = Plan {
            workload,
            database: Arc::clone(database),
            nodes: None,
            catalogue: Arc::new(catalogue),
            spec,
            share: Share::WHOLE,
        };
        let external = record.is_external();
        if let (Some(list), None) = (&target.nodes, &queries) {
            let nodes = list.of_run(plan.workload.description(), plan.spec.seed)?;
            plan.nodes = Some(Arc::new(nodes));
        }
        let streams = query_run::streams(settings, &workload_settings, &mut plan)?;
        let observe = match queries {
            Some(_) => None,
            None => observe::plan(settings, &vocabulary, database)?,
        };
        if let Some(cluster) = &cluster {
            cluster.refuse_streams(streams.is_some())?;
        }
        let shared =
            cluster.map(|cluster| SharedRun::new(cluster, settings, target, &workload_settings));
        let host_exporter = host_metrics::exporter(settings)?.filter(|_| observe.is_some());
        // The code makes its own data, also in a file that does not exist yet.
        if !is_preview && target.is_file() && plan.workload.description().name == python::NAME {
            create_database(database)?;
        }
        Ok(Self {
            plan,
            settings: workload_settings,
            facts,
            external,
            requirements,
            connect_limit: target.connect_limit,
            until_ci: until_ci(settings)?,
            failure_limit: FailureLimit::said(settings)?,
            observe,
            host_exporter,
            queries,
            streams,
            shared,
            parent: None,
        })
    }

    /// Makes the run part of a campaign job.
    #[must_use]
    pub fn step_of(self, parent: Option<(JobId, u32)>) -> Self {
        Self { parent, ..self }
    }

    /// Scale of the data.
    #[must_use]
    pub const fn scale(&self) -> Scale {
        self.settings.scale
    }

    /// Maximum length as a time, if there is one.
    #[must_use]
    pub fn longest(&self) -> Duration {
        match self.plan.spec.length {
            Length::Time(longest) => self.plan.spec.rampup + longest,
            Length::Transactions(_) => Duration::ZERO,
        }
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
        self,
        settings: &Settings,
        store: Option<&mut Store>,
        handle: &Handle,
        watch: &Watch<'_>,
    ) -> Result<RunResult, Failure> {
        on_this_thread(async {
            let database = Arc::clone(&self.plan.database);
            let limit = self.connect_limit;
            let _lock = if database.capabilities().stores {
                let workload = self.workload();
                Some(
                    lock_workload(workload, &database, Role::Monitor, LockMode::Shared, limit)
                        .await?,
                )
            } else {
                None
            };
            let mut monitor = Monitor::new(&self.plan, limit);
            monitor.ensure().await.doing(format_args!("connecting to {}", database.target()))?;
            self.ask_exporter().await?;
            self.start_workload().await?;
            let mut probe = self.create_log_probe().await?;
            if !self.external && self.changes_data() {
                monitor.touch().await.doing("recording the first run in the build record")?;
            }
            let mut facts = self.facts(settings, &mut monitor).await?;
            facts.nodes = self.ask_nodes().await?;
            facts.setup = monitor.setup(&facts.server).await;
            for line in facts.setup.iter().filter(|line| line.verdict == SetupVerdict::Wrong) {
                watch.warn(&format!("{}; to change it: {}", line.trouble(), line.change));
            }
            let mut journal = Journal::of_run(store, &facts, self.parent, &mut |text| {
                watch.warn(text);
            });
            facts.job = journal.job.map(|job| job.0);
            for note in monitor.schema(&mut facts.schema).await {
                journal.note(&note, &mut |text| watch.warn(text));
                facts.notes.push(note);
            }
            let is_probe = |fact: &SchemaFact| probe.iter().any(|probe| probe.table == fact.table);
            facts.schema.retain(|fact| !is_probe(fact));
            facts.database_count.before = monitor.count(COUNT_BEFORE).await;
            for (audit, sum) in &mut facts.audits {
                sum.before = monitor.sum(audit, COUNT_BEFORE).await;
            }
            let end = match &self.queries {
                Some(queries) => {
                    self.drive_queries(
                        queries,
                        &mut monitor,
                        &mut facts,
                        &mut journal,
                        handle,
                        watch,
                    )
                    .await
                }
                None => {
                    let probe = probe.take();
                    self.drive(&mut monitor, &mut facts, &mut journal, handle, watch, probe).await
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
            facts.script = self.plan.workload.script_totals();
            if let Some(why) = self.plan.workload.failure() {
                end.ending = RunEnding::UsersEnded;
                let note = Note::new("script_failed", None, format!("the script failed: {why}"));
                watch.warn(&note.text);
                journal.note(&note, &mut |text| watch.warn(text));
                facts.notes.push(note);
            }
            let is_aborted = end.ending == RunEnding::Aborted;
            let mut settings_end = Vec::new();
            let looking = async {
                facts.answers_at_end = monitor.wait_for_database(limit).await;
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
            let _ = tokio::time::timeout(at_most, looking).await;
            journal.settings(ReadAt::End, &settings_end, &mut |text| watch.warn(text));
            let settings_start = &monitor.settings_start;
            if !settings_start.is_empty() && !settings_end.is_empty() {
                facts.settings_changed = SettingChange::between(settings_start, &settings_end);
            }
            let mut result = RunResult::new(&facts, &end);
            requirement::judge(&mut result, &self.requirements);
            journal.finish(&result, &end, &mut |text| watch.warn(text));
            // An incompletely stored job is not referred to.
            result.job = journal.job.filter(|_| journal.is_whole()).map(|job| job.0);
            Ok(result)
        })
    }

    /// Starts the engine and forwards its events in order: first to the store, then to the watcher.
    async fn drive(
        &self,
        monitor: &mut Monitor<'_>,
        facts: &mut RunFacts,
        journal: &mut Journal<'_>,
        handle: &Handle,
        watch: &Watch<'_>,
        mut probe: Option<LogProbe>,
    ) -> Result<RunEnd, Failure> {
        let plan = &self.plan;
        watch.report(JobEvent::Began(journal.job));
        let mut baseline = self.queries_alone(handle, watch).await?;
        let streams = self.streams.as_ref().map(|streams| Beside::new(plan, streams));
        let mut streams = streams.transpose()?;
        // The processes of the hosts live as long as the second value.
        let (mut run, _processes) = match &self.shared {
            Some(shared) => {
                let (run, processes) = shared.start(plan, handle, watch).await?;
                (run, Some(processes))
            }
            None => {
                let run = triphammer_load::start(plan.clone());
                let doing = "starting the run".to_owned();
                (run.map_err(|error| Failure::System { doing, error })?, None)
            }
        };
        handle.begins(run.stopper());
        let clock = Clock::start();
        let mut counted_from = None;
        let mut phases = Phases::new(matches!(plan.spec.length, Length::Time(_)));
        let longest_s = match plan.spec.length {
            Length::Time(longest) => longest.as_secs(),
            Length::Transactions(_) => 0,
        };
        let mut stopping_rule =
            StoppingRule::new(&facts.description.primary_metric, facts.until_ci, longest_s);
        let mut failures = FailureWatch::new(self.failure_limit);
        let mut observers: Option<Observers> = None;
        let node_series = NodeSeries::start(plan, journal.place())
            .map_err(|error| Failure::System { doing: "recording the nodes".into(), error })?;
        while let Some(event) = run.events.recv().await {
            let event = match event {
                Event::Second(interval) => {
                    let phase = phases.at(interval.first);
                    let server = monitor.server_second(&clock).await;
                    let mut second = Second::new(*interval, phase, server);
                    second.script = plan.workload.script_totals();
                    let metric = &facts.description.primary_metric;
                    if let Some((alone, ..)) = &mut baseline
                        && alone.take(&second.interval, metric)
                    {
                        streams.iter_mut().for_each(Beside::begin);
                    }
                    facts.slicer.take(&second);
                    if let Some(observers) = &mut observers {
                        observers.second(&second, &facts.description);
                    }
                    journal.second(&second, &mut |text| watch.warn(text));
                    if let Some(running) = streams.as_ref().and_then(Beside::progress) {
                        watch.report(JobEvent::Queries(&running));
                    }
                    watch.report(JobEvent::Second(&second));
                    node_series.iter().for_each(|nodes| nodes.second(&second));
                    if observers.is_some() || node_series.is_some() {
                        let of_nodes = node_series.iter().flat_map(NodeSeries::latest);
                        let latest = observers.iter().flat_map(Observers::latest).chain(of_nodes);
                        watch.report(JobEvent::Observed(&latest.collect()));
                    }
                    let at = Some(Elapsed::at_second(second.interval.last + 1));
                    let mut note = |kind, text| {
                        let note = Note::new(kind, at, text);
                        journal.note(&note, &mut |text| watch.warn(text));
                        watch.report(JobEvent::Run(&Event::Note(note.clone())));
                        facts.notes.push(note);
                    };
                    for text in streams.iter().flat_map(|streams| streams.troubles()) {
                        note(QUERY_NOTE, text);
                    }
                    match stopping_rule.second(&second.interval) {
                        Now::GoOn => {}
                        Now::EndWindow => run.stopper().end_window(),
                        Now::Report(text) => note("until_ci", text),
                    }
                    let is_loaded = matches!(second.phase, Phase::RampUp | Phase::Window);
                    if let Some(reason) = failures.second(&second.interval).filter(|_| is_loaded) {
                        note(failure_limit::NOTE, reason);
                        run.stopper().abort();
                    }
                    continue;
                }
                other => other,
            };
            if let Event::Phase(phase, at) = &event {
                phases.enter(*phase, at.second());
                streams.iter().for_each(|streams| streams.enter(*phase));
                observers.iter().for_each(|observers| observers.enter(*phase, *at));
                stopping_rule.phase(*phase, at.second());
            }
            match &event {
                // Read only now: the users' sessions may have changed the mode of the database, as
                // in SQLite.
                Event::Started { .. } => {
                    if let Some(observed) = &self.observe {
                        let server = monitor.query(async |s| s.server_process().await).await;
                        let exporter = self.host_exporter.as_ref();
                        let hosts = host_metrics::sources(exporter, server.flatten());
                        let (place, probe) = (journal.place(), probe.take());
                        observers = Observers::start(plan, observed, place, hosts, probe);
                    }
                    if let Some(observers) = &observers {
                        monitor.own_transactions = observers.own_transactions();
                    }
                    if baseline.is_none() {
                        streams.iter_mut().for_each(Beside::begin);
                    }
                    self.started(monitor, facts, journal, watch).await;
                    stopping_rule.set_schedule(facts.schedule.clone());
                }
                Event::Phase(Phase::Window, _) => {
                    facts.server_transactions.start = monitor.transaction_count().await;
                    counted_from = Some(clock.now());
                }
                Event::Phase(Phase::Drain, _) => {
                    facts.server_transactions.end = monitor.transaction_count().await;
                    if let Some(from) = counted_from {
                        let passed = clock.now().duration().saturating_sub(from.duration());
                        facts.server_transactions.seconds = passed.as_secs_f64();
                    }
                }
                Event::Note(note) => journal.note(note, &mut |text| watch.warn(text)),
                _ => {}
            }
            watch.report(JobEvent::Run(&event));
        }
        facts.primary_metric_seconds = stopping_rule.into_seconds();
        let end = run.join()?;
        if let Some(text) = node_series.as_ref().and_then(NodeSeries::finish) {
            watch.warn(&text);
        }
        if let Some(observers) = observers {
            facts.observed = Some(observers.end(handle.is_aborted()).await);
        }
        if let Some(streams) = streams {
            let (mut taken, troubles) = streams.end(|| handle.is_aborted()).await;
            let baseline = baseline.map(|(alone, queries, s)| alone.into_taken(queries, s));
            taken.baseline = baseline.map(Box::new);
            facts.query_streams = Some(taken);
            for text in troubles {
                let note = Note::new(QUERY_NOTE, None, text);
                journal.note(&note, &mut |text| watch.warn(text));
                facts.notes.push(note);
            }
        }
        Ok(end)
    }

    /// Runs the queries of a baseline alone, if there is one.
    async fn queries_alone(
        &self,
        handle: &Handle,
        watch: &Watch<'_>,
    ) -> Result<Option<(Alone, StreamsTaken, f64)>, Failure> {
        let Some(streams) = &self.streams else { return Ok(None) };
        let Some(time) = streams.baseline else { return Ok(None) };
        watch.note(&format!("running the queries alone for {}", format_duration(time)));
        let alone = Beside::alone(&self.plan, streams, time, handle.cancel(), watch).await;
        let (taken, seconds, troubles) = alone?;
        for trouble in troubles {
            watch.warn(&format!("before the transactions began: {trouble}"));
        }
        Ok(Some((Alone::new(self.plan.spec.rampup, time), taken, seconds)))
    }

    /// Asks every node of the target who it is, and whether it accepts writes.
    async fn ask_nodes(&self) -> Result<Vec<NodeFact>, Failure> {
        let Some(nodes) = &self.plan.nodes else { return Ok(Vec::new()) };
        let known = nodes.ask(self.connect_limit).await.doing("connecting to the nodes")?;
        let fact =
            |(node, (server, status)): (&Node<AnyDatabase>, (ServerInfo, NodeStatus))| NodeFact {
                name: node.name.clone(),
                target: Redacted::target_of(&node.database),
                version: server.version,
                status,
            };
        Ok(nodes.list.iter().zip(known).map(fact).collect())
    }

    /// Rejects a node exporter that does not answer.
    async fn ask_exporter(&self) -> Result<(), Failure> {
        let Some(exporter) = &self.host_exporter else { return Ok(()) };
        let answer = exporter.fetch().await.map(|_| ());
        answer.map_err(|reason| {
            let message = format!(
                "no metrics from {exporter}: {reason}; check that a node exporter runs there, or \
                 omit --host-metrics"
            );
            SpecError::new(message).about("host-metrics").into()
        })
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
            let note = Note::new("driver", None, text);
            journal.note(&note, &mut |text| watch.warn(text));
            facts.notes.push(note);
        }
        facts.workload_warning = self.plan.workload.warning();
        if let Some(text) = &facts.workload_warning {
            watch.warn(text);
        }
        let settings = monitor.query(async |s| s.settings().await).await;
        monitor.settings_start = settings.unwrap_or_default();
        journal.settings(ReadAt::Start, &monitor.settings_start, &mut |text| watch.warn(text));
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
        self.started(monitor, facts, journal, watch).await;
        let mut notes = Vec::new();
        let mut on_event = |heard: Heard<'_>| match heard {
            Heard::Progress(progress) => watch.report(JobEvent::Queries(progress)),
            Heard::Ended(step) => {
                let Some(text) = step.trouble() else { return };
                let at = step.end_s().map(|s| Elapsed::from_duration(Duration::from_secs_f64(s)));
                let note = Note::new(QUERY_NOTE, at, text);
                journal.note(&note, &mut |text| watch.warn(text));
                watch.report(JobEvent::Run(&Event::Note(note.clone())));
                notes.push(note);
            }
        };
        let cancel = handle.cancel();
        let mut engine_memory = None;
        let (end, steps) = tokio::select! {
            biased;
            done = query_run::drive(&self.plan, queries, cancel, &mut on_event) => done?,
            never = monitor.sample_memory(&mut engine_memory) => match never {},
        };
        facts.notes.extend(notes);
        let timeout_s = queries.timeout.map(|limit| limit.as_secs_f64());
        let scale = self.settings.scale;
        let mut set = QueriesResult::new(&queries.plan, scale, timeout_s, steps);
        set.engine_memory_bytes = engine_memory;
        if end.ending == RunEnding::Complete {
            if queries.plan.analyze {
                watch.note("running each query once more, untimed, for its measured plan");
            }
            let read = query_run::read_plans(&self.plan, queries, cancel).await?;
            set.plans = read.plans;
            for text in read.missing {
                let note = Note::new("plan", None, text);
                journal.note(&note, &mut |text| watch.warn(text));
                facts.notes.push(note);
            }
        }
        facts.queries = Some(set);
        Ok(end)
    }

    /// Lets a user's own workload try its statements and read what it needs of the database.
    async fn start_workload(&self) -> Result<(), Failure> {
        let database = &self.plan.database;
        if !database.capabilities().stores || !is_of_user(&self.workload().name) {
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

    /// Whether the run may leave other data than it found.
    fn changes_data(&self) -> bool {
        self.workload().has_data()
            && self.queries.as_ref().is_none_or(|queries| queries.plan.refreshes())
    }

    /// Replays one transaction of an earlier run with these settings.
    ///
    /// # Errors
    /// When no session can be opened.
    pub fn replay(&self, exemplar: &Exemplar) -> Result<Replay, Failure> {
        let plan = &self.plan;
        on_this_thread(async {
            let _lock = if plan.database.capabilities().stores {
                let locked = lock_workload(
                    self.workload(),
                    &plan.database,
                    Role::Monitor,
                    LockMode::Shared,
                    self.connect_limit,
                );
                Some(locked.await?)
            } else {
                None
            };
            self.start_workload().await?;
            let replayed = triphammer_load::replay(plan, exemplar.origin(), exemplar.date()).await;
            replayed.doing(format_args!("replaying on {}", plan.database.target()))
        })
    }

    /// Determines the length for the slices: unknown for a window that ends by its interval.
    fn slicer(&self) -> Slicer {
        Slicer::new(match self.until_ci {
            Some(_) => Length::Transactions(0),
            None => self.plan.spec.length,
        })
    }

    /// The workload's audits, if the database stores data.
    fn audits(&self) -> Vec<(AuditDef, DatabaseCount)> {
        let stores = self.plan.database.capabilities().stores;
        let audits = self.workload().audits.iter().filter(|_| stores);
        audits.map(|audit| (audit.clone(), DatabaseCount::default())).collect()
    }

    async fn facts(
        &self,
        settings: &Settings,
        monitor: &mut Monitor<'_>,
    ) -> Result<RunFacts, Failure> {
        let session = monitor.session.as_mut().expect("just ensured");
        let mut server = session.server().await.doing("identifying the server")?;
        if uses_ring(&self.plan.spec, self.plan.database.capabilities()) {
            server.transport.push_str(RING);
        }
        let mut workload_facts = self.settings.options.clone();
        workload_facts.retain(|_, value| !value.is_empty());
        let mut scripts = Vec::new();
        if let Some(value) = workload_facts.get_mut("script") {
            scripts = script::scripts(value)?;
            *value = script::hashes(&scripts);
        }
        if let Some(value) = workload_facts.get_mut("workload-file") {
            scripts = custom::WorkloadText::parse(value)?.texts();
            *value = script::hashes(&scripts);
        }
        if let Some(recording) = workload_facts.get_mut("recording") {
            let file: ReplayLoad = recording.parse().map_err(SpecError::new)?;
            let hash = replay::hash(&file.file)?;
            *recording = format!("{recording} (SHA-256 {hash})");
        }
        if workload_facts.contains_key("workload-file")
            && let Some(counted) = counted_names(self.workload())
        {
            workload_facts.insert(COUNTED.into(), counted);
        }
        workload_facts.insert("seed".into(), self.settings.data_seed.to_string());
        workload_facts.extend(self.facts.iter().cloned());
        let workload = self.workload();
        Ok(RunFacts {
            job: None,
            tool: Tool::this(),
            label: settings.get("label").map(str::to_owned),
            workload: WorkloadFacts {
                name: workload.name.to_string(),
                title: workload.title.to_string(),
                version: workload.version,
                scale: self.settings.scale,
                scale_unit: workload.scale_unit.many.to_string(),
                facts: workload_facts,
                scripts: scripts.iter().map(ScriptFacts::of).collect(),
            },
            description: Arc::clone(workload),
            spec: self.plan.spec.clone(),
            settings: settings.shown().to_vec(),
            target: Redacted::target_of(&self.plan.database),
            server,
            database_on_threads: self.plan.database.capabilities().blocks,
            host: Host::detect(),
            database_count: DatabaseCount::default(),
            answers_at_end: false,
            audits: self.audits(),
            server_transactions: CounterSpan {
                late_s: self.plan.database.capabilities().count_delay.as_secs_f64(),
                ..CounterSpan::default()
            },
            schema: Vec::new(),
            setup: Vec::new(),
            settings_changed: Vec::new(),
            slicer: self.slicer(),
            primary_metric_seconds: Vec::new(),
            until_ci: self.until_ci,
            schedule: Schedule::default(),
            queries: None,
            query_streams: None,
            nodes: Vec::new(),
            observed: None,
            statements: Vec::new(),
            script: None,
            workload_warning: None,
            notes: Vec::new(),
        })
    }
}

/// The transactions that the primary metric counts, if they are not all.
fn counted_names(workload: &Description) -> Option<String> {
    let counted = &workload.primary_metric.transactions;
    let names = counted.iter().map(|index| workload.transactions[*index].name.to_string());
    (counted.len() < workload.transactions.len()).then(|| names.collect::<Vec<_>>().join(", "))
}

/// Rejects isolation levels of transactions that the database does not have.
fn refuse_isolations(workload: &Description, capabilities: &Capabilities) -> Result<(), SpecError> {
    let lacks = |level: &Isolation| !capabilities.isolations.contains(level);
    for transaction in &workload.transactions {
        if let Some(level) = transaction.isolation.filter(lacks) {
            let known: Vec<_> = capabilities.isolations.iter().map(|level| level.name()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let message = format!(
                "transaction `{}` has isolation level {}, which this database does not have: it \
                 has {known}",
                transaction.name,
                level.name()
            );
            return Err(SpecError::new(message).about("workload-file"));
        }
    }
    Ok(())
}

/// Reads the build record at the target.
async fn find(
    workload: &Description,
    catalogue: &StatementCatalogue,
    target: &Target,
) -> Result<Record, Failure> {
    let name = target.database.target();
    let mut session = connect(&target.database, Role::Monitor, target.connect_limit)
        .await
        .doing(format_args!("connecting to {name}"))?;
    let record = built(workload, catalogue, &mut session, &target.database).await?;
    session.close().await;
    Ok(record)
}

/// Scale of the default file.
fn embedded_scale(workload: &Description) -> Scale {
    if query_run::is_for(workload) { query_run::EMBEDDED_SCALE } else { Scale::ONE }
}

/// The record that the default file would have, for `--show-spec` before it is built.
fn unbuilt(settings: &mut Settings, workload: &Description) -> Result<Record, Failure> {
    let scale = requests::scale(settings, embedded_scale(workload))?;
    let options = settings.workload_options(&workload.options, OptionCommand::Build);
    Ok(Record::planned(workload, scale, 1, &options))
}

/// Builds the default file.
fn build_embedded(
    settings: &mut Settings,
    workload: &Arc<Description>,
    target: &Target,
    watch: &Watch<'_>,
) -> Result<(), Failure> {
    let scale = requests::scale(settings, embedded_scale(workload))?;
    watch.note(&format!(
        "building {} with {} at {}",
        workload.title,
        workload.scale_unit.count(scale),
        target.database.target()
    ));
    let of_workload = WorkloadSettings {
        scale,
        data_seed: 1,
        run_seed: 0,
        options: settings.workload_options(&workload.options, OptionCommand::Build),
    };
    let request = BuildRequest {
        workload: Arc::new(AnyWorkload::new(&workload.name, &of_workload)?),
        settings: of_workload,
        dialect_options: settings.dialect_options(target.database.dialect()),
        jobs: 1,
        add: false,
        replace: false,
        force: false,
        create_database: false,
        connect_limit: target.connect_limit,
        cancel: Cancel::default(),
    };
    build(&target.database, &request, watch, &mut || {}).map(drop)
}

/// Rejects a run on tables created by another program if other objects that it needs are missing.
fn refuse_lack(record: &Record, target: &str) -> Result<(), Failure> {
    let (Some(made_by), Some(lack)) = (record.made_by(), record.lack()) else { return Ok(()) };
    Err(Failure::refuse(format!(
        "{made_by} created the tables at {target}, but a run cannot call its routines: {lack}; \
         create them again with {made_by} (`check` works without them)"
    )))
}

/// Rejects a mode that the workload supports but the tables of another program do not.
fn refuse_mode(
    settings: &Settings,
    workload: &Description,
    external: &ExternalSchema,
) -> Result<(), SpecError> {
    let asked = settings.get("mode").and_then(|text| text.parse::<Mode>().ok());
    let (Some(asked), Some(mode)) = (asked, external.modes.first()) else { return Ok(()) };
    if external.modes.contains(&asked) || !workload.modes.contains(&asked) {
        return Ok(());
    }
    let (made_by, mode, asked) = (&external.made_by, mode.name(), asked.name());
    let message = format!(
        "{made_by} created the tables, so a run needs mode {mode}, not {asked}: omit --mode"
    );
    Err(SpecError::new(message).about("mode"))
}

/// Rejects settings that contradict the build.
fn agree(
    settings: &mut Settings,
    workload: &Description,
    record: &Record,
) -> Result<(), SpecError> {
    if record.get("version") != Some(workload.version.to_string().as_str()) {
        return Err(SpecError::new(format!(
            "the data was built for version {} of {}, but this program runs version {}; rebuild it \
             with --replace",
            record.get("version").unwrap_or("?"),
            workload.title,
            workload.version
        )));
    }
    let built = record.get("scale").and_then(|text| text.parse().ok()).unwrap_or_default();
    let asked: Scale = settings.parse("scale", || built)?;
    if asked != built {
        let built = workload.scale_unit.count(built);
        return Err(SpecError::new(format!(
            "the data has {built}, not {asked}; omit --scale, or build again with --replace"
        )));
    }
    for (option, built) in record.below("option") {
        if let Some(asked) = settings.get(option)
            && asked != built
        {
            let made_by = record.get("fact/made_by");
            return Err(SpecError::new(match made_by.filter(|_| record.is_external()) {
                Some(made_by) => {
                    format!("{made_by} created the tables, so {option} is {built}, not {asked}")
                }
                None => format!(
                    "the data was built with {option} = {built}, not {asked}; omit the option, or \
                     build again with --replace"
                ),
            }));
        }
    }
    Ok(())
}

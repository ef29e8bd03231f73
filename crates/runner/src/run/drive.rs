//! Drives transactions: starts the engine and forwards its events in order, first to the store, then to the watcher.

use std::sync::Arc;

use tokio::sync::oneshot;
use triphammer_core::clock::format_duration;
use triphammer_core::event::{Event, Note, Phase};
use triphammer_core::recorder::RecordedInterval;
use triphammer_core::session::Admin;
use triphammer_core::spec::Length;
use triphammer_core::workload::Workload;
use triphammer_core::{Clock, Elapsed};
use triphammer_document::failure_limit::{self, FailureWatch};
use triphammer_document::requirement::SoFar;
use triphammer_document::result::{RunFacts, StreamsTaken, load_seconds};
use triphammer_document::second::{Phases, Second};
use triphammer_document::stopping_rule::{Now, StoppingRule};
use triphammer_engine::hosts::Zero;
use triphammer_engine::{RunEnd, RunHandle, StopHandle};
use triphammer_observe::cpu_profile::CpuProfiler;
use triphammer_observe::energy::{EnergyMeters, EnergyPlan};
use triphammer_observe::node_figures::NodeSeries;
use triphammer_observe::{Observee, Observers, host_metrics};
use triphammer_settings::failure::Failure;
use triphammer_settings::handle::Handle;

use super::monitor::Monitor;
use super::query_run::{Alone, Beside};
use super::{BesideRun, Meeting, QUERY_NOTE, Resolved, Way, keep};
use crate::cluster::Processes;
use crate::journal::Journal;
use crate::watch::{JobEvent, Watch};

/// Lets the engine start the load.
type Start = Box<dyn FnOnce()>;

/// A run of transactions that takes place.
struct Driving<'r, 'm, 's, 'w> {
    resolved: &'r Resolved,
    monitor: &'r mut Monitor<'m>,
    facts: &'r mut RunFacts,
    journal: &'r mut Journal<'s>,
    watch: &'r Watch<'w>,
    meeting: Option<&'r Meeting>,
    /// Until all sessions are connected.
    start: Option<Start>,
    clock: Clock,
    /// When the server's transactions were counted first.
    counted_from: Option<Elapsed>,
    phases: Phases,
    stopping_rule: StoppingRule,
    failures: FailureWatch,
    so_far: SoFar,
    /// Until the observers take the probe, and until the end of the run.
    beside: BesideRun,
    observers: Option<Observers>,
    nodes: Option<NodeSeries>,
    streams: Option<Beside>,
    baseline: Option<(Alone, StreamsTaken, f64)>,
}

/// An engine that has ended meanwhile says why itself.
fn start_by(tell: impl FnOnce() -> bool + 'static) -> Start {
    Box::new(move || {
        let _ = tell();
    })
}

impl Resolved {
    /// Drives the transactions of the run from their start to their end.
    ///
    /// # Errors
    /// When the run could not start.
    pub(super) async fn drive(
        &self,
        monitor: &mut Monitor<'_>,
        facts: &mut RunFacts,
        journal: &mut Journal<'_>,
        Way { handle, watch, meeting }: Way<'_, '_>,
        beside: BesideRun,
    ) -> Result<RunEnd, Failure> {
        let plan = &self.plan;
        watch.report(JobEvent::Began(journal.job));
        self.read_idle(beside.energy.as_ref(), handle, watch).await?;
        let baseline = self.queries_alone(handle, watch).await?;
        let streams = self.streams.as_ref().map(|streams| Beside::new(plan, streams));
        let streams = streams.transpose()?;
        let nodes = NodeSeries::start(plan, journal.place())
            .map_err(|error| Failure::System { doing: "recording the nodes".into(), error })?;
        let longest_s = match plan.spec.length {
            Length::Time(longest) => longest.as_secs(),
            Length::Transactions(_) => 0,
        };
        let stopping_rule =
            StoppingRule::new(&facts.description.primary_metric, facts.until_ci, longest_s);
        // The processes of the hosts live as long as the second value.
        let (mut run, start, _processes) = self.start_engine(handle, watch, meeting).await?;
        handle.begins(run.stopper());
        let mut driving = Driving {
            resolved: self,
            monitor,
            facts,
            journal,
            watch,
            meeting,
            start: Some(start),
            clock: Clock::start(),
            counted_from: None,
            phases: Phases::new(matches!(plan.spec.length, Length::Time(_))),
            stopping_rule,
            failures: FailureWatch::new(self.failure_limit),
            so_far: SoFar::new(self.requirements.clone(), Arc::clone(self.workload())),
            beside,
            observers: None,
            nodes,
            streams,
            baseline,
        };
        let mut failure = None;
        while let Some(event) = run.events.recv().await {
            match event {
                Event::Second(interval) => driving.second(*interval, &run.stopper()).await,
                // An engine that may not start ends.
                other => failure = driving.event(other).await.err().or(failure),
            }
        }
        let end = run.join();
        if let Some(failure) = failure {
            return Err(failure);
        }
        let end = end?;
        driving.end(handle).await;
        Ok(end)
    }

    /// Starts the engine in this process, or in those of the hosts, which live as long as the last value. No transaction
    /// begins before the second value is called.
    async fn start_engine(
        &self,
        handle: &Handle,
        watch: &Watch<'_>,
        meeting: Option<&Meeting>,
    ) -> Result<(RunHandle, Start, Option<Processes>), Failure> {
        if let Some(shared) = &self.shared {
            let (allow, permit) = oneshot::channel();
            let (run, processes) = shared.start(&self.plan, handle, watch, permit).await?;
            return Ok((run, start_by(move || allow.send(()).is_ok()), Some(processes)));
        }
        let (open, gate) = oneshot::channel();
        let run = triphammer_load::start_gated(self.plan.clone(), gate);
        let doing = "starting the run".to_owned();
        let run = run.map_err(|error| Failure::System { doing, error })?;
        let Some(meeting) = meeting.cloned() else {
            return Ok((run, start_by(move || open.send(Zero::now()).is_ok()), None));
        };
        meeting.joins(run.stopper());
        Ok((run, Box::new(move || meeting.arrives(open)), None))
    }

    /// Reads the energy of the idle host, if that was asked for.
    async fn read_idle(
        &self,
        energy: Option<&EnergyMeters>,
        handle: &Handle,
        watch: &Watch<'_>,
    ) -> Result<(), Failure> {
        let Some(energy) = energy else { return Ok(()) };
        match energy.idle() {
            Some(idle) => {
                watch.note(&format!("reading the idle host for {}", format_duration(idle)));
            }
            None if self.energy.as_ref().is_some_and(EnergyPlan::wants_idle) => {
                watch.warn("--idle: no energy can be read, so the run begins at once");
            }
            None => {}
        }
        let doing = "reading the idle host".to_owned();
        energy.read_idle(handle).await.map_err(|error| Failure::System { doing, error })
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
}

impl Driving<'_, '_, '_, '_> {
    /// A second of the run has ended.
    async fn second(&mut self, interval: RecordedInterval, stopper: &StopHandle) {
        let phase = self.phases.at(interval.first);
        let server = self.monitor.server_second(&self.clock).await;
        let mut second = Second::new(interval, phase, server);
        second.script = self.resolved.plan.workload.script_totals();
        if let Some((alone, ..)) = &mut self.baseline
            && alone.take(&second.interval, &self.facts.description.primary_metric)
        {
            self.streams.iter_mut().for_each(Beside::begin);
        }
        self.facts.slicer.take(&second);
        if let Some(observers) = &mut self.observers {
            observers.second(&second, self.resolved.workload());
        }
        self.beside.cpu_profile.iter_mut().for_each(CpuProfiler::second);
        self.journal.second(&second, &mut |text| self.watch.warn(text));
        if let Some(running) = self.streams.as_ref().and_then(Beside::progress) {
            self.watch.report(JobEvent::Queries(&running));
        }
        self.watch.report(JobEvent::Second(&second));
        let judged = self.so_far.second(&second);
        if !judged.is_empty() {
            self.watch.report(JobEvent::Judged(&judged));
        }
        self.nodes.iter().for_each(|nodes| nodes.second(&second));
        if self.observers.is_some() || self.nodes.is_some() {
            let of_nodes = self.nodes.iter().flat_map(NodeSeries::latest);
            let latest = self.observers.iter().flat_map(Observers::latest).chain(of_nodes);
            self.watch.report(JobEvent::Observed(&latest.collect()));
        }
        self.judge(&second, stopper);
    }

    /// Notes what a second shows, and ends the window or the run if it decides that.
    fn judge(&mut self, second: &Second, stopper: &StopHandle) {
        let at = Some(Elapsed::at_second(second.interval.last + 1));
        for text in self.streams.as_ref().map(Beside::troubles).unwrap_or_default() {
            self.note(QUERY_NOTE, at, text);
        }
        self.facts.load_seconds.extend(load_seconds(second));
        match self.stopping_rule.second(&second.interval) {
            Now::GoOn => {}
            Now::EndWindow => stopper.end_window(),
            Now::Report(text) => self.note("until_ci", at, text),
        }
        if let (Some(meeting), Some(half)) = (self.meeting, self.resolved.plan.spec.pacing.half) {
            meeting.seconds(half.is_b, self.stopping_rule.seconds());
        }
        let is_loaded = matches!(second.phase, Phase::RampUp | Phase::Window);
        if let Some(reason) = self.failures.second(&second.interval).filter(|_| is_loaded) {
            self.note(failure_limit::NOTE, at, reason);
            stopper.abort();
        }
    }

    fn note(&mut self, kind: &'static str, at: Option<Elapsed>, text: String) {
        let note = Note::new(kind, at, text);
        keep(note.clone(), &mut self.facts.notes, self.journal, self.watch);
        self.watch.report(JobEvent::Run(&Event::Note(note)));
    }

    /// Something else than a second has happened.
    async fn event(&mut self, event: Event) -> Result<(), Failure> {
        match &event {
            Event::Connecting { connected, of } if connected == of => self.connected().await?,
            Event::Started { .. } => self.started().await,
            Event::Phase(phase, at) => self.phase(*phase, *at).await,
            Event::Note(note) => self.journal.note(note, &mut |text| self.watch.warn(text)),
            _ => {}
        }
        self.watch.report(JobEvent::Run(&event));
        Ok(())
    }

    /// All sessions are connected, and wait for the start.
    async fn connected(&mut self) -> Result<(), Failure> {
        let Some(start) = self.start.take() else { return Ok(()) };
        let Self { resolved, monitor, facts, journal, watch, .. } = self;
        resolved.record_first_run(monitor, facts, journal, watch).await?;
        start();
        Ok(())
    }

    /// The load starts. What the users' sessions may have changed, such as the mode of an
    /// SQLite database, is read only now.
    async fn started(&mut self) {
        let resolved = self.resolved;
        if let Some(observed) = &resolved.observe {
            let server = self.monitor.query(async |s| s.server_process().await).await;
            let server = server.flatten();
            if let Some(profiler) = &mut self.beside.cpu_profile {
                profiler.start(server);
            }
            let mut hosts = host_metrics::sources(resolved.host_exporter.as_ref(), server);
            hosts.extend(self.beside.energy.iter().flat_map(EnergyMeters::sources));
            let (place, probe) = (self.journal.place(), self.beside.probe.take());
            self.observers =
                Observers::start(Observee::of_run(&resolved.plan), observed, place, hosts, probe);
        }
        if let Some(observers) = &self.observers {
            self.monitor.own_transactions = observers.own_transactions();
        }
        if self.baseline.is_none() {
            self.streams.iter_mut().for_each(Beside::begin);
        }
        resolved.started(self.monitor, self.facts, self.journal, self.watch).await;
        self.stopping_rule.set_schedule(self.facts.schedule.clone());
    }

    async fn phase(&mut self, phase: Phase, at: Elapsed) {
        self.phases.enter(phase, at.second());
        self.streams.iter().for_each(|streams| streams.enter(phase));
        self.observers.iter().for_each(|observers| observers.enter(phase, at));
        self.stopping_rule.phase(phase, at.second());
        self.profile_cpus(phase);
        match phase {
            Phase::Window => {
                self.facts.server_transactions.start = self.monitor.transaction_count().await;
                self.counted_from = Some(self.clock.now());
            }
            Phase::Drain => {
                self.facts.server_transactions.end = self.monitor.transaction_count().await;
                if let Some(from) = self.counted_from {
                    let passed = self.clock.now().duration().saturating_sub(from.duration());
                    self.facts.server_transactions.seconds = passed.as_secs_f64();
                }
            }
            _ => {}
        }
    }

    /// The CPUs are sampled in the timed window.
    fn profile_cpus(&mut self, phase: Phase) {
        match (&mut self.beside.cpu_profile, phase) {
            (Some(profiler), Phase::Window) => profiler.begin(),
            (Some(profiler), Phase::Drain | Phase::Abort) => profiler.stop(),
            _ => {}
        }
    }

    /// The engine has ended: collects what was observed, and what the streams of queries did.
    async fn end(self, handle: &Handle) {
        let Self { facts, journal, watch, baseline, .. } = self;
        facts.primary_metric_seconds = self.stopping_rule.into_seconds();
        facts.figures = self.so_far.figures();
        if let Some(text) = self.nodes.as_ref().and_then(NodeSeries::finish) {
            watch.warn(&text);
        }
        if let Some(observers) = self.observers {
            facts.observed = Some(observers.end(handle.is_aborted()).await);
        }
        if let (Some(profiler), Some(observed)) = (self.beside.cpu_profile, &mut facts.observed) {
            profiler.add_to(observed);
        }
        facts.energy = self.beside.energy.and_then(EnergyMeters::into_readings);
        let Some(streams) = self.streams else { return };
        let (mut taken, troubles) = streams.end(|| handle.is_aborted()).await;
        let baseline = baseline.map(|(alone, queries, s)| alone.into_taken(queries, s));
        taken.baseline = baseline.map(Box::new);
        facts.query_streams = Some(taken);
        for text in troubles {
            keep(Note::new(QUERY_NOTE, None, text), &mut facts.notes, journal, watch);
        }
    }
}

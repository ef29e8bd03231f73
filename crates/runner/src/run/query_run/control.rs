//! The control of a run of queries: starts the streams, keeps time limits, cancels, reports progress.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};
use triphammer_core::event::Note;
use triphammer_core::query_plan::{QueryPhase, QueryPlan};
use triphammer_core::recorder::Gauges;
use triphammer_core::{Clock, Elapsed};
use triphammer_document::result::{PhaseUsage, StepOutcome, StepTime};
use triphammer_engine::{RunEnd, RunEnding, RunLogins, Window};
use triphammer_load::Plan;
use triphammer_observe::HostUsage;
use triphammer_settings::cancel::Cancel;
use triphammer_settings::failure::Failure;

use super::QueryRun;
use super::slot::Slot;
use super::stream::{Report, Stream};
use crate::watch::{QueryProgress, RunningQuery};

/// Time between two progress events.
pub(super) const PROGRESS_EVERY: Duration = Duration::from_secs(1);
/// Time after which a cancel request is repeated.
pub(super) const CANCEL_AGAIN: Duration = Duration::from_secs(1);

/// A step that is running.
struct RunningStep {
    position: u32,
    name: String,
    stream: Option<u32>,
    at: Elapsed,
    /// When to cancel it, and why.
    cancel: Option<(Instant, StepOutcome)>,
}

/// What was driven.
pub struct Driven {
    pub end: RunEnd,
    /// The steps, in their order.
    pub steps: Vec<StepTime>,
    /// What the phases used.
    pub phases: Vec<PhaseUsage>,
}

/// Drives all repeats; what steps and phases use is read from `usage`, if that is known.
///
/// # Errors
/// When a thread cannot be started.
pub async fn drive(
    plan: &Plan,
    run: &QueryRun,
    usage: Option<&Arc<HostUsage>>,
    cancel: &Cancel,
    on_event: &mut dyn FnMut(ControlEvent<'_>),
) -> Result<Driven, Failure> {
    let mut control = Control {
        plan,
        run,
        queries: Arc::new(run.plan.clone()),
        usage,
        clock: Clock::start(),
        steps: Vec::new(),
        phases: Vec::new(),
        done: 0,
        total: run.plan.steps() * run.plan.repeats as usize,
        sessions: (0, 0),
        away: 0,
        notes: Vec::new(),
        cpu_ns: vec![0; run.plan.sessions() as usize],
    };
    for repeat in 1..=run.plan.repeats {
        for phase in &run.plan.phases {
            control.phase(repeat, phase, cancel, on_event).await?;
        }
    }
    Ok(control.end(cancel.is_cancelled()))
}

/// An event that is reported to the caller.
pub enum ControlEvent<'a> {
    /// What is running.
    Progress(&'a QueryProgress),
    /// A step has ended.
    Ended(&'a StepTime),
}

struct Control<'a> {
    plan: &'a Plan,
    run: &'a QueryRun,
    queries: Arc<QueryPlan>,
    usage: Option<&'a Arc<HostUsage>>,
    clock: Clock,
    steps: Vec<StepTime>,
    phases: Vec<PhaseUsage>,
    /// Steps that have ended, also those that are not kept, and all steps.
    done: usize,
    total: usize,
    /// Numbers of connections lost and reconnected.
    sessions: (u64, u64),
    /// Streams that ended without a connection.
    away: u32,
    notes: Vec<Note>,
    cpu_ns: Vec<u64>,
}

impl Control<'_> {
    async fn phase(
        &mut self,
        repeat: u32,
        phase: &QueryPhase,
        cancel: &Cancel,
        on_event: &mut dyn FnMut(ControlEvent<'_>),
    ) -> Result<(), Failure> {
        let slots: Vec<Arc<Slot>> = phase.streams.iter().map(|_| Arc::default()).collect();
        let (reports, mut received) = mpsc::unbounded_channel();
        let mut running: Vec<Option<RunningStep>> = phase.streams.iter().map(|_| None).collect();
        let mut steps: Vec<Vec<StepTime>> = phase.streams.iter().map(|_| Vec::new()).collect();
        let (began, before) = (self.clock.now(), self.usage.and_then(|usage| usage.now()));
        let threads = self.start(repeat, phase, &slots, &reports)?;
        drop(reports);
        let mut is_stopping = false;
        let mut ticks = interval(PROGRESS_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let due =
                running.iter().flatten().filter_map(|step| step.cancel).map(|(at, _)| at).min();
            tokio::select! {
                report = received.recv() => {
                    let Some(report) = report else { break };
                    self.report(report, phase, &mut running, &mut steps, on_event);
                    if is_stopping {
                        stop(&slots, &mut running);
                    }
                }
                () = cancel.cancelled(), if !is_stopping => {
                    is_stopping = true;
                    stop(&slots, &mut running);
                }
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                    cancel_due(&slots, &mut running).await;
                }
                _ = ticks.tick() => on_event(ControlEvent::Progress(&self.progress(&running))),
            }
        }
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
        self.steps.extend(steps.into_iter().flatten());
        let seconds = Duration::from_nanos(self.clock.now().since(began)).as_secs_f64();
        let used = self.usage.and_then(|usage| usage.since(before));
        let streams = u32::try_from(phase.streams.len()).unwrap_or(u32::MAX);
        self.phases.extend(used.map(|usage| PhaseUsage {
            repeat,
            test: phase.test,
            streams,
            seconds,
            usage,
        }));
        Ok(())
    }

    fn start(
        &self,
        repeat: u32,
        phase: &QueryPhase,
        slots: &[Arc<Slot>],
        reports: &mpsc::UnboundedSender<Report>,
    ) -> Result<Vec<std::thread::JoinHandle<()>>, Failure> {
        let start = Arc::new(Barrier::new(phase.streams.len()));
        let mut threads = Vec::new();
        for (index, stream) in phase.streams.iter().enumerate() {
            let stream = Stream {
                plan: self.plan.clone(),
                queries: Arc::clone(&self.queries),
                test: phase.test,
                repeat,
                index,
                stream: stream.clone(),
                clock: self.clock,
                slot: Arc::clone(&slots[index]),
                start: Arc::clone(&start),
                reports: reports.clone(),
                connect_limit: self.plan.spec.limits.connect,
                is_endless: self.run.is_endless,
                is_external: self.run.is_external,
                // What several streams use at once cannot be distinguished.
                usage: self.usage.filter(|_| phase.streams.len() == 1).cloned(),
            };
            let thread = std::thread::Builder::new().name("stream".into());
            let thread = thread.spawn(move || stream.run());
            let doing = "starting a thread for a stream";
            threads.push(thread.map_err(|error| Failure::System { doing: doing.into(), error })?);
        }
        Ok(threads)
    }

    fn report(
        &mut self,
        report: Report,
        phase: &QueryPhase,
        running: &mut [Option<RunningStep>],
        steps: &mut [Vec<StepTime>],
        on_event: &mut dyn FnMut(ControlEvent<'_>),
    ) {
        match report {
            Report::Began { stream, position, name, at } => {
                let limit = self.run.timeout.map(|limit| self.clock.instant(at) + limit);
                let cancel = limit.map(|at| (at, StepOutcome::TimedOut));
                let number = phase.streams[stream].number;
                running[stream] = Some(RunningStep { position, name, stream: number, at, cancel });
                on_event(ControlEvent::Progress(&self.progress(running)));
            }
            Report::Ended { stream, step } => {
                running[stream] = None;
                self.done += 1;
                on_event(ControlEvent::Ended(&step));
                if !self.run.is_endless {
                    steps[stream].push(step);
                }
            }
            Report::Left { set, reason } => {
                let text = format!(
                    "the rows of refresh set {set} are still there: {reason}; the next run with the same test and \
                     streams deletes them"
                );
                self.notes.push(Note::new("refresh", Some(self.clock.now()), text));
            }
            Report::Lost => self.sessions.0 += 1,
            Report::Reconnected => self.sessions.1 += 1,
            Report::Closed { stream, cpu_ns, is_away } => {
                self.cpu_ns[stream] += cpu_ns;
                self.away += u32::from(is_away);
            }
        }
    }

    fn progress(&self, running: &[Option<RunningStep>]) -> QueryProgress {
        let now = self.clock.now();
        let running = running.iter().flatten().map(|step| RunningQuery {
            stream: step.stream,
            name: step.name.clone(),
            since: step.at.duration(),
            lasts: Duration::from_nanos(now.since(step.at)),
        });
        QueryProgress {
            done: self.done,
            total: (!self.run.is_endless).then_some(self.total),
            elapsed: now.duration(),
            geomean: None,
            running: running.collect(),
        }
    }

    fn end(self, is_stopped: bool) -> Driven {
        let ended = self.clock.now();
        let end = RunEnd {
            hosts: Vec::new(),
            started_at: self.clock.zero_timestamp(),
            ended,
            window: Window { start: Elapsed::default(), end: ended },
            started: Vec::new(),
            in_flight: Vec::new(),
            run: Vec::new(),
            timed: Vec::new(),
            offered: None,
            pool_wait: None,
            backlog_max: None,
            exemplars: Vec::new(),
            gauges: Gauges::default(),
            worker_cpu_ns: self.cpu_ns,
            sessions: self.sessions,
            logins: RunLogins::default(),
            away: self.away,
            nodes: Vec::new(),
            load_changes: Vec::new(),
            node_changes: Vec::new(),
            failovers: Vec::new(),
            outages: Vec::new(),
            violations: Vec::new(),
            round_trips: 0,
            errors: Vec::new(),
            ending: if is_stopped { RunEnding::Stopped } else { RunEnding::Complete },
            notes: self.notes,
        };
        Driven { end, steps: self.steps, phases: self.phases }
    }
}

/// Lets nothing more begin, and has what is running cancelled.
fn stop(slots: &[Arc<Slot>], running: &mut [Option<RunningStep>]) {
    slots.iter().for_each(|slot| slot.stop());
    for step in running.iter_mut().flatten() {
        if step.cancel.is_none_or(|(_, reason)| reason != StepOutcome::Cancelled) {
            step.cancel = Some((Instant::now(), StepOutcome::Cancelled));
        }
    }
}

/// Cancels what is due, and will again: some databases ignore a request that comes before the statement.
async fn cancel_due(slots: &[Arc<Slot>], running: &mut [Option<RunningStep>]) {
    let now = Instant::now();
    for (slot, step) in slots.iter().zip(running) {
        let Some(step) = step else { continue };
        if let Some((at, reason)) = step.cancel.filter(|(at, _)| *at <= now) {
            slot.cancel(step.position, reason).await;
            step.cancel = Some((at.max(now) + CANCEL_AGAIN, reason));
        }
    }
}

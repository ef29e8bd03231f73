//! Turns the reports of a job into events.

use std::sync::Arc;
use std::time::Duration;

use triphammer_core::Clock;
use triphammer_core::clock::{Elapsed, format_duration};
use triphammer_core::event::Event;
use triphammer_core::spec::{Length, RunSpec};
use triphammer_core::workload::Description;
use triphammer_runner::outputs::RunMetrics;
use triphammer_runner::watch::{JobEvent, QueryProgress, Watcher};

use super::queue::Activities;
use crate::live::{
    LiveCheck, LiveEvent, LiveNote, LivePhase, LiveProgress, LiveQuery, LiveRequirements, LiveStep,
    SecondsOf, TableRows,
};

/// Minimum time between two progress events.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Watches an activity's job.
#[derive(Debug)]
pub struct Watch<'a> {
    all: &'a Activities,
    id: u64,
    seconds: SecondsOf,
    clock: Clock,
    /// The current part of a build or check.
    task: Option<Task>,
    /// The current run of a campaign, or the last one.
    step: LiveStep,
    /// Target of the current run, by its index among the job's targets.
    target: usize,
}

/// A part of a build or check.
#[derive(Debug)]
struct Task {
    progress: LiveProgress,
    begun: Elapsed,
    reported_at: Elapsed,
}

impl<'a> Watch<'a> {
    /// Creates a watcher for an activity.
    pub fn new(all: &'a Activities, id: u64, workload: &Arc<Description>) -> Self {
        Self {
            all,
            id,
            seconds: SecondsOf { activity: id, workload: Arc::clone(workload) },
            clock: Clock::start(),
            task: None,
            step: LiveStep { activity: id, ..LiveStep::default() },
            target: 0,
        }
    }

    fn publish(&self, event: &LiveEvent) {
        self.all.hub().publish(event);
    }

    fn note(&self, kind: &str, at: Option<Elapsed>, text: &str) {
        self.publish(&LiveEvent::Note(LiveNote {
            activity: self.id,
            at_s: at.map(|at| at.duration().as_secs_f64()),
            kind: kind.to_owned(),
            text: text.to_owned(),
        }));
    }

    fn phase(&self, phase: &str, at_s: Option<f64>, connected: Option<(u32, u32)>) {
        self.publish(&LiveEvent::Phase(LivePhase {
            activity: self.id,
            phase: phase.to_owned(),
            at_s,
            connected: connected.map(|(connected, _)| connected),
            of: connected.map(|(_, of)| of),
        }));
    }

    fn resolved(&self, spec: &RunSpec) {
        self.all.resolved(self.id, serde_json::to_value(spec).unwrap_or_default());
        let window = match spec.length {
            Length::Time(window) => Some(window.as_secs_f64()),
            Length::Transactions(_) => None,
        };
        self.all.change(self.id, |activity| {
            activity.users = Some(spec.users);
            activity.rampup_s = Some(spec.rampup.as_secs_f64());
            activity.window_s = window;
            activity.primary_metric_name =
                Some(self.seconds.workload.primary_metric.name.to_string());
        });
    }

    fn begin_task(&mut self, name: &str, total: u64, unit: &str) {
        // The number of units is an estimate: the previous part may end with fewer.
        self.tell_task();
        let progress = LiveProgress {
            activity: self.id,
            phase: name.to_owned(),
            done: 0,
            total,
            unit: unit.to_owned(),
            elapsed_ms: 0,
            tables: Vec::new(),
            running: Vec::new(),
            geomean_ms: None,
        };
        let now = self.clock.now();
        self.publish(&LiveEvent::Progress(progress.clone()));
        self.task = Some(Task { progress, begun: now, reported_at: now });
    }

    fn advance(&mut self, units: u64, table: Option<&str>) {
        let Some(task) = &mut self.task else { return };
        let progress = &mut task.progress;
        progress.done += units;
        if let Some(name) = table {
            match progress.tables.iter_mut().find(|known| known.table == name) {
                Some(known) => known.rows += units,
                None => progress.tables.push(TableRows { table: name.to_owned(), rows: units }),
            }
        }
        let due = self.clock.now().has_passed(task.reported_at, PROGRESS_EVERY);
        if due || progress.done == progress.total {
            self.tell_task();
        }
    }

    fn tell_task(&mut self) {
        let Some(task) = &mut self.task else { return };
        let now = self.clock.now();
        task.reported_at = now;
        task.progress.elapsed_ms = now.since(task.begun) / 1_000_000;
        self.all.hub().publish(&LiveEvent::Progress(task.progress.clone()));
    }

    fn run(&self, event: &Event) {
        match event {
            Event::Connecting { connected, of } => {
                self.phase("connecting", None, Some((*connected, *of)));
            }
            Event::Phase(phase, at) => {
                self.phase(phase.name(), Some(at.duration().as_secs_f64()), None);
            }
            Event::Note(note) => self.note(&note.kind, note.at, &note.text),
            // Seconds are published separately.
            Event::Started { .. } | Event::Second(_) => {}
        }
    }

    /// Publishes the progress of queries.
    fn queries(&self, progress: &QueryProgress) {
        let running = progress.running.iter().map(|query| LiveQuery {
            stream: query.stream,
            name: query.name.clone(),
            lasts_ms: milliseconds(query.lasts),
        });
        self.publish(&LiveEvent::Progress(LiveProgress {
            activity: self.id,
            phase: "queries".to_owned(),
            done: progress.done as u64,
            total: progress.total.unwrap_or(0) as u64,
            unit: "queries".to_owned(),
            elapsed_ms: milliseconds(progress.elapsed),
            tables: Vec::new(),
            running: running.collect(),
            geomean_ms: progress.geomean.map(|time| time.as_secs_f64() * 1_000.0),
        }));
    }

    /// Publishes the metrics of a starting run under the URL of its target, which no other activity
    /// uses at the same time.
    fn begin_metrics(&self, info: &[(&'static str, String)]) {
        let transactions = &self.seconds.workload.transactions;
        let url = self.all.url(self.id, self.target);
        let run = RunMetrics::new(transactions, info).labelled("target", url);
        self.all.run_metrics().begin(self.id, run);
    }

    fn tell_step(&self) {
        self.publish(&LiveEvent::Step(self.step.clone()));
    }
}

impl Watcher for Watch<'_> {
    fn on_event(&mut self, event: JobEvent<'_>) {
        self.all.run_metrics().on_event(self.id, event);
        match event {
            JobEvent::RunInfo(info) => self.begin_metrics(info),
            JobEvent::Resolved(spec) => self.resolved(spec),
            JobEvent::Began(Some(job)) => {
                self.all.change(self.id, |activity| activity.job = Some(job.0));
            }
            JobEvent::Began(None) => {}
            JobEvent::Task { name, total, unit } => self.begin_task(name, total, unit),
            JobEvent::Advanced { units, table } => self.advance(units, table),
            JobEvent::Run(event) => self.run(event),
            JobEvent::Second(second) => {
                self.publish(&LiveEvent::Second(self.seconds.second(second)));
            }
            JobEvent::Judged(requirements) => {
                let (activity, requirements) = (self.id, requirements.to_vec());
                self.publish(&LiveEvent::Requirements(LiveRequirements { activity, requirements }));
            }
            JobEvent::Queries(progress) => self.queries(progress),
            JobEvent::Checked(progress) => {
                self.publish(&LiveEvent::Checked(LiveCheck::of(self.id, progress)));
            }
            JobEvent::Sequence(_) => {
                let name = self.seconds.workload.primary_metric.name.to_string();
                self.all.change(self.id, |activity| activity.primary_metric_name = Some(name));
            }
            JobEvent::Step { step, done, of } => {
                let (activity, what) = (self.id, step.title.clone());
                self.target = step.target;
                self.step = LiveStep { activity, step: done + 1, of, what, ..LiveStep::default() };
                self.tell_step();
            }
            // The page reads them from the store.
            JobEvent::StepResolved(_) | JobEvent::Observed(_) => {}
            JobEvent::StepBegan(job) => {
                self.step.job = job.map(|job| job.0);
                self.tell_step();
            }
            JobEvent::StepEnded { result, .. } => {
                self.all.run_metrics().end(self.id);
                self.step.primary_metric = Some(result.primary_metric.value);
                self.tell_step();
            }
            JobEvent::StepRejected { step, reason } => {
                self.all.run_metrics().end(self.id);
                self.note("warning", None, &format!("{}: {reason}", step.title));
            }
            JobEvent::Rest(rest) => {
                self.note("progress", None, &format!("cool-down: {}", format_duration(rest)));
            }
            JobEvent::Note(text) => self.note("progress", None, text),
            JobEvent::Warning(text) => self.note("warning", None, text),
        }
    }
}

//! What the runner tells of an activity becomes events.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use triphammer_core::Clock;
use triphammer_core::clock::{Elapsed, format_duration};
use triphammer_core::engine::Stopper;
use triphammer_core::event::{Event, Phase};
use triphammer_core::workload::Description;
use triphammer_runner::campaign::{self, Begin, Step};
use triphammer_runner::progress::Progress;
use triphammer_runner::result::RunResult;
use triphammer_runner::run::Observer;
use triphammer_runner::second::Second;
use triphammer_runner::store::JobId;

use super::queue::Activities;
use crate::live::{
    Hub, LiveEvent, LiveNote, LivePhase, LiveProgress, LiveStep, SecondsOf, TableRows,
};

/// Least time between two events of progress.
const PROGRESS_EVERY: Duration = Duration::from_millis(500);

/// Hears how a build or check goes on.
#[derive(Debug)]
pub struct Steps<'a> {
    hub: &'a Hub,
    activity: u64,
    clock: Clock,
    at: Mutex<Option<Place>>,
}

/// The phase at hand.
#[derive(Debug)]
struct Place {
    progress: LiveProgress,
    begun: Elapsed,
    told: Elapsed,
}

impl Place {
    fn tell(&mut self, hub: &Hub, now: Elapsed) {
        self.told = now;
        self.progress.elapsed_ms = now.since(self.begun) / 1_000_000;
        hub.publish(&LiveEvent::Progress(self.progress.clone()));
    }
}

impl<'a> Steps<'a> {
    /// Nothing heard yet.
    pub fn new(hub: &'a Hub, activity: u64) -> Self {
        Self { hub, activity, clock: Clock::start(), at: Mutex::new(None) }
    }

    /// Tells something that spoils nothing but should be known.
    pub fn warn(&self, text: &str) {
        self.note("warning", text);
    }

    fn add(&self, units: u64, table: Option<&str>) {
        let mut at = self.at.lock().expect("nobody panics with it");
        let Some(place) = at.as_mut() else { return };
        let progress = &mut place.progress;
        progress.done += units;
        if let Some(name) = table {
            match progress.tables.iter_mut().find(|known| known.table == name) {
                Some(known) => known.rows += units,
                None => progress.tables.push(TableRows { table: name.to_owned(), rows: units }),
            }
        }
        let now = self.clock.now();
        let due = now.since(place.told) >= Elapsed::from_duration(PROGRESS_EVERY).0;
        if due || progress.done == progress.total {
            place.tell(self.hub, now);
        }
    }

    fn note(&self, kind: &str, text: &str) {
        let (kind, text) = (kind.to_owned(), text.to_owned());
        self.hub.publish(&LiveEvent::Note(LiveNote {
            activity: self.activity,
            at_s: None,
            kind,
            text,
        }));
    }
}

impl Progress for Steps<'_> {
    fn phase(&self, name: &str, total: u64, unit: &str) {
        let progress = LiveProgress {
            activity: self.activity,
            phase: name.to_owned(),
            done: 0,
            total,
            unit: unit.to_owned(),
            elapsed_ms: 0,
            tables: Vec::new(),
        };
        let now = self.clock.now();
        let mut at = self.at.lock().expect("nobody panics with it");
        // What was to do is an estimate: the phase before may end with less.
        if let Some(before) = at.as_mut() {
            before.tell(self.hub, now);
        }
        self.hub.publish(&LiveEvent::Progress(progress.clone()));
        *at = Some(Place { progress, begun: now, told: now });
    }

    fn advance(&self, units: u64) {
        self.add(units, None);
    }

    fn rows(&self, table: &str, rows: u64) {
        self.add(rows, Some(table));
    }

    fn say(&self, text: &str) {
        self.note("progress", text);
    }
}

/// Watches a run.
#[derive(Debug)]
pub struct Watch<'a> {
    all: &'a Activities,
    id: u64,
    seconds: SecondsOf,
}

impl<'a> Watch<'a> {
    /// For a run of a workload.
    pub fn new(all: &'a Activities, id: u64, workload: &Arc<Description>) -> Self {
        let workload = Arc::clone(workload);
        Self { all, id, seconds: SecondsOf { activity: id, workload } }
    }

    fn phase(&self, phase: &str, at_s: Option<f64>, connected: Option<(u32, u32)>) {
        self.all.hub().publish(&LiveEvent::Phase(LivePhase {
            activity: self.id,
            phase: phase.to_owned(),
            at_s,
            connected: connected.map(|(connected, _)| connected),
            of: connected.map(|(_, of)| of),
        }));
    }

    fn note(&self, kind: &str, at: Option<Elapsed>, text: &str) {
        self.all.hub().publish(&LiveEvent::Note(LiveNote {
            activity: self.id,
            at_s: at.map(|at| at.duration().as_secs_f64()),
            kind: kind.to_owned(),
            text: text.to_owned(),
        }));
    }
}

impl Observer for Watch<'_> {
    fn begins(&mut self, stopper: Stopper, job: Option<JobId>) {
        self.all.stops_by(self.id, stopper);
        if let Some(job) = job {
            self.all.change(self.id, |activity| activity.job = Some(job.0));
        }
    }

    fn second(&mut self, second: &Second) {
        let second = self.seconds.second(second);
        self.all.hub().publish(&LiveEvent::Second(second));
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Connecting { connected, of } => {
                self.phase("connecting", None, Some((*connected, *of)));
            }
            Event::Phase(phase, at) => {
                self.phase(name(*phase), Some(at.duration().as_secs_f64()), None);
            }
            Event::Note(note) => self.note(&note.kind, note.at, &note.text),
            // Seconds come by themselves.
            Event::Started { .. } | Event::Second(_) => {}
        }
    }

    fn warn(&mut self, text: &str) {
        self.note("warning", None, text);
    }
}

/// Watches a campaign and the runs in it.
#[derive(Debug)]
pub struct WatchSteps<'a> {
    run: Watch<'a>,
    /// The run that goes on, or the last one.
    at: LiveStep,
}

impl<'a> WatchSteps<'a> {
    /// For a campaign with a workload.
    pub fn new(all: &'a Activities, id: u64, workload: &Arc<Description>) -> Self {
        let at = LiveStep { activity: id, ..LiveStep::default() };
        Self { run: Watch::new(all, id, workload), at }
    }

    fn tell(&self) {
        self.run.all.hub().publish(&LiveEvent::Step(self.at.clone()));
    }
}

impl Observer for WatchSteps<'_> {
    /// The stopper is the campaign's to use, and the job is that of the step.
    fn begins(&mut self, _: Stopper, job: Option<JobId>) {
        self.at.job = job.map(|job| job.0);
        self.tell();
    }

    fn event(&mut self, event: &Event) {
        self.run.event(event);
    }

    fn second(&mut self, second: &Second) {
        self.run.second(second);
    }

    fn warn(&mut self, text: &str) {
        self.run.warn(text);
    }
}

impl campaign::Observer for WatchSteps<'_> {
    fn starts(&mut self, begin: &Begin) {
        if let Some(job) = begin.job {
            self.run.all.change(self.at.activity, |activity| activity.job = Some(job.0));
        }
    }

    fn step(&mut self, step: &Step, done: u32, of: Option<u32>) {
        let (activity, what) = (self.at.activity, step.title.clone());
        self.at = LiveStep { activity, step: done + 1, of, what, ..LiveStep::default() };
        self.tell();
    }

    fn ended(&mut self, _: &Step, result: &RunResult) {
        self.at.headline = Some(result.headline.value);
        self.tell();
    }

    fn refused(&mut self, step: &Step, reason: &str) {
        self.warn(&format!("{}: {reason}", step.title));
    }

    fn settles(&mut self, rest: Duration) {
        let text = format!("settling for {}", format_duration(rest));
        self.run.note("progress", None, &text);
    }
}

/// As the phase is written in JSON.
const fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::RampUp => "ramp_up",
        Phase::Window => "window",
        Phase::Drain => "drain",
        Phase::Abort => "abort",
    }
}

//! Two runs of a campaign that take place at once: each on a thread of its own, stored as a job of its
//! own, and reported when both are complete. If one of them is not, both are made again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use triphammer_core::pace::Sharing;
use triphammer_document::JobId;
use triphammer_document::compare::UntilDecided;
use triphammer_document::measure::Measure;
use triphammer_document::parts::Status;
use triphammer_document::result::{Restored, RunResult};
use triphammer_settings::Settings;
use triphammer_settings::failure::Failure;
use triphammer_settings::handle::Handle;
use triphammer_store::Store;

use super::{Campaign, Going, Question, Sequence, cause, is_here};
use crate::journal::Journal;
use crate::run::{Meeting, Resolved};
use crate::step::PlannedRun;
use crate::watch::{InStep, JobEvent, Watch, Watcher};

/// Takes the stored runs of these steps, all of which must be there. Two runs belong together if they
/// began at the same instant.
pub(super) fn taken<Q: Question>(
    stored: &mut BTreeMap<u32, RunResult>,
    question: &Q,
    steps: &[PlannedRun],
) -> Option<Vec<RunResult>> {
    let runs = steps
        .iter()
        .map(|step| stored.remove(&step.number).filter(|run| question.is_of(step, run)));
    let runs: Vec<RunResult> = runs.collect::<Vec<_>>().into_iter().collect::<Option<_>>()?;
    let belong = runs.windows(2).all(|pair| pair[0].started_at == pair[1].started_at);
    belong.then_some(runs)
}

/// A run of the pair, before it begins.
struct Half {
    settings: Settings,
    resolved: Resolved,
}

impl Sequence<'_, '_> {
    /// Makes two runs at once. What is shown meanwhile is the first one.
    pub(super) fn run_at_once<Q: Question>(
        &mut self,
        campaign: &Campaign<'_>,
        question: &mut Q,
        steps: [&PlannedRun; 2],
        journal: &mut Journal<'_>,
    ) -> Going {
        let (watch, of) = (self.watch, question.runs());
        watch.report(JobEvent::Step { step: steps[0], done: self.done, of });
        self.made = true;
        let restored = match self.restore_both(question, steps) {
            Ok(restored) => restored,
            Err(_) if self.handle.is_stopped() => return Going::Stopped,
            Err(failure) => {
                let reason = failure.to_string();
                return self.refused_pair(question, steps, [&reason, &reason]);
            }
        };
        let runs = match halves(campaign, question, steps, watch, journal.job, restored) {
            Ok(halves) => self.make(halves, steps, question.margin(), journal),
            Err(failure) => return self.refused_pair(question, steps, [&failure.to_string(); 2]),
        };
        self.handle.ended();
        self.is_here &= runs.iter().all(|run| run.as_ref().is_ok_and(is_here));
        let [a, b] = runs;
        match (a, b) {
            (Ok(a), Ok(b)) if [&a, &b].iter().all(|run| run.status == Status::Complete) => {
                self.completed(question, steps[0], &a, journal);
                watch.report(JobEvent::Step { step: steps[1], done: self.done, of });
                self.completed(question, steps[1], &b, journal);
                Going::On
            }
            _ if self.handle.is_stopped() => Going::Stopped,
            (a, b) => {
                let reasons = [a, b].map(|run| reason(&run));
                self.refused_pair(question, steps, [&reasons[0], &reasons[1]])
            }
        }
    }

    /// Restores the databases of both halves, one after the other; a shared one once.
    fn restore_both<Q: Question>(
        &self,
        question: &Q,
        [a, b]: [&PlannedRun; 2],
    ) -> Result<[Option<Restored>; 2], Failure> {
        let of_a = self.restorer.before(a.target, &question.cell(a), self.watch)?;
        let of_b = match self.restorer.is_one(a.target, b.target) {
            true => of_a.clone(),
            false => self.restorer.before(b.target, &question.cell(b), self.watch)?,
        };
        Ok([of_a, of_b])
    }

    /// Runs both halves, each on its thread.
    fn make(
        &mut self,
        [a, b]: [Half; 2],
        steps: [&PlannedRun; 2],
        margin: f64,
        journal: &Journal<'_>,
    ) -> [Result<RunResult, Failure>; 2] {
        let (watch, handle) = (self.watch, self.handle);
        watch.report(JobEvent::StepResolved(a.resolved.spec()));
        watch.report(JobEvent::RunInfo(&a.resolved.info(&a.settings)));
        let [of_a, of_b] = steps.map(|step| &step.title);
        let way = match a.resolved.spec().pacing.half.as_ref().map(|half| &half.sharing) {
            Some(Sharing::Slices { slice_s }) => format!("run in slices of {slice_s} s in turn"),
            Some(Sharing::Duet { .. }) | None => "run at the same time".to_owned(),
        };
        watch.note(&format!("{of_a} and {of_b} {way}; the figures shown meanwhile are those of A"));
        let store = journal.place().map(|(path, _)| path.to_owned());
        let until = until(&a, &b, margin);
        let mut warned = std::mem::take(&mut self.warned);
        let mut warned_b = BTreeSet::new();
        let runs = {
            let mut shown = InStep { watch, warned: &mut warned };
            let mut hidden = InStep { watch, warned: &mut warned_b };
            let mut hidden = OnlyWarnings(&mut hidden);
            let (shown, hidden) = (Watch::new(&mut shown), Watch::new(&mut hidden));
            let meeting = Meeting::until(until);
            let halves = [(a, &shown), (b, &hidden)].map(|(half, watch)| {
                let seated = half.resolved.seated(meeting.seat());
                (Half { resolved: seated, ..half }, watch, store.clone())
            });
            std::thread::scope(|scope| {
                let threads = halves.map(|(half, watch, store)| {
                    scope.spawn(move || run(half, store, handle, watch))
                });
                threads.map(|thread| {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
            })
        };
        warned.extend(warned_b);
        self.warned = warned;
        runs
    }

    fn refused_pair<Q: Question>(
        &mut self,
        question: &mut Q,
        steps: [&PlannedRun; 2],
        reasons: [&str; 2],
    ) -> Going {
        // A pair that fails is one failure.
        let before = self.failures;
        let first = self.refused(question, steps[0], reasons[0]);
        self.failures = before;
        let second = self.refused(question, steps[1], reasons[1]);
        if self.done == 0 && question.next().is_none() {
            return Going::GivenUp(format!("no pair could be made: {}", reasons[0]));
        }
        if matches!(first, Going::GivenUp(_)) { first } else { second }
    }
}

/// Resolves both runs, before either begins.
fn halves<Q: Question>(
    campaign: &Campaign<'_>,
    question: &Q,
    steps: [&PlannedRun; 2],
    watch: &Watch<'_>,
    job: Option<JobId>,
    [of_a, of_b]: [Option<Restored>; 2],
) -> Result<[Half; 2], Failure> {
    let half = |step: &PlannedRun, restored| {
        let (settings, resolved) = campaign.resolve(question, step, watch, false)?;
        let resolved = resolved.restored(restored).step_of(job.map(|job| (job, step.number)));
        Ok::<_, Failure>(Half { settings, resolved })
    };
    Ok([half(steps[0], of_a)?, half(steps[1], of_b)?])
}

/// What ends the pair before its time, if that was asked for.
fn until(a: &Half, b: &Half, margin: f64) -> Option<UntilDecided> {
    let [of_a, of_b] = [a, b].map(|half| half.resolved.spec());
    Some(UntilDecided {
        halves: [of_a.pacing.half?, of_b.pacing.half?],
        start_s: of_a.rampup.as_secs(),
        better: Measure::from(a.resolved.workload().primary_metric.measure).better(),
        margin,
        share: a.resolved.until_ci()?,
    })
}

/// Runs a half, with a connection of its own to the store.
fn run(
    half: Half,
    store: Option<PathBuf>,
    handle: &Handle,
    watch: &Watch<'_>,
) -> Result<RunResult, Failure> {
    let mut store = store.map(|path| Store::open(&path)).transpose()?;
    half.resolved.run(&half.settings, store.as_mut(), handle, watch)
}

fn reason(run: &Result<RunResult, Failure>) -> String {
    match run {
        Ok(result) if result.status == Status::Complete => {
            "the other run of the pair was not complete".to_owned()
        }
        Ok(result) => cause(result),
        Err(failure) => failure.to_string(),
    }
}

/// Passes on the warnings of a run that is not shown.
struct OnlyWarnings<'a, 'b, 'c>(&'a mut InStep<'b, 'c>);

impl Watcher for OnlyWarnings<'_, '_, '_> {
    fn on_event(&mut self, event: JobEvent<'_>) {
        if let JobEvent::Warning(_) = event {
            self.0.on_event(event);
        }
    }
}

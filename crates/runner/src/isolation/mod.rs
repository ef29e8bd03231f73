//! `isolation`: makes users conflict, and finds the anomalies that their isolation level should have
//! prevented.
//!
//! 1. build the tables `triphammer_isolation_…`, in place of those of an earlier job;
//! 2. drive the load for a few seconds at the weakest level of the database: the control, which shows
//!    what this load can show;
//! 3. drive it at each level in question, with faults; histories are checked while the load runs
//!    (`checked`);
//! 4. judge each kind of anomaly by what the product promises (`verdicts`).
//!
//! The load is [`triphammer_workloads::isolation`], the checker [`triphammer_isolation`], what a
//! product promises is data of its dialect ([`triphammer_dialects::isolation`]).

mod checked;
mod example;
mod plan;
mod verdicts;

use triphammer_core::isolation::Isolation;
use triphammer_core::sql::StatementCatalogue;
use triphammer_document::JobType;
use triphammer_document::drill::FaultReport;
use triphammer_document::isolation::{
    ControlCount, ControlResult, IsolationResult, LevelResult, Parts,
};
use triphammer_document::parts::Status;
use triphammer_document::result::RunResult;
use triphammer_isolation::edn::Writer;
use triphammer_isolation::{AnomalyKind, Finding};
use triphammer_settings::Settings;
use triphammer_settings::failure::{Doing as _, Failure};
use triphammer_settings::fault::Fault;
use triphammer_settings::handle::Handle;
use triphammer_settings::worker_pool::{identify, on_this_thread};
use triphammer_workloads::AnyWorkload;
use triphammer_workloads::isolation::IsolationLoad;

use crate::faults::{Scene, with_faults};
use crate::job::{FinishedJob, Job, Preview, Work};
use crate::journal::Journal;
use crate::new_file::NewFile;
use crate::own_load;
use crate::run::Resolved;
use crate::watch::{CheckProgress, JobEvent, Watch, Watcher};

use checked::{Checked, check_while};
use plan::{Levels, Plan};

/// Tests what a database's isolation levels keep, and what they cost.
#[derive(Debug)]
pub struct IsolationJob;

impl JobType for IsolationJob {
    type Document = IsolationResult;
}

impl Work for IsolationJob {
    fn preview(job: &mut Job, _: &Watch<'_>) -> Result<Preview, Failure> {
        Plan::read(job.settings_mut_and_target())?;
        Ok(Preview::default())
    }

    fn validate(job: &mut Job) -> Result<(), Failure> {
        Plan::read(job.settings_mut_and_target()).map(drop)
    }

    fn run(job: &mut Job, watcher: &mut dyn Watcher) -> Result<FinishedJob, Failure> {
        let watch = &Watch::new(watcher);
        let plan = Plan::read(job.settings_mut_and_target())?;
        identify(job.workload(), &job.target().database)?;
        let catalogue = plan.load.catalogue(job)?;
        let levels = plan.levels(job.settings_mut_and_target())?;
        refuse_nodes(job, &plan, &levels)?;
        // Before anything is changed: a path that cannot be written is found at once.
        let file = plan.history.as_deref().map(NewFile::replacing).transpose()?;
        let mut store = job.open_store(watch)?;
        let record = file.as_ref();
        let test = Test { job, plan: &plan, levels: &levels, catalogue: &catalogue, record, watch };
        let finished = own_load::conduct(job, plan.load.users, store.as_mut(), watch, |journal| {
            test.test(journal, &job.handle())
        })?;
        file.map_or(Ok(()), NewFile::keep)?;
        Ok(finished)
    }
}

/// Rejects levels that a node of the target does not have.
fn refuse_nodes(job: &Job, plan: &Plan, levels: &Levels) -> Result<(), Failure> {
    let target = job.target();
    let Some(list) = &target.nodes else { return Ok(()) };
    let nodes = list.of_run(job.workload(), plan.load.seed)?;
    let known = on_this_thread(nodes.ask(target.connect_limit)).doing("connecting to the nodes")?;
    for level in levels.tested.iter().chain(&levels.control) {
        nodes.refuse_isolation(*level, plan.load.users, &known)?;
    }
    Ok(())
}

/// A test that begins.
struct Test<'a, 'w> {
    job: &'a Job,
    plan: &'a Plan,
    levels: &'a Levels,
    catalogue: &'a StatementCatalogue,
    /// The file that the history is written to.
    record: Option<&'a NewFile>,
    watch: &'a Watch<'w>,
}

/// What a load at one level did.
struct Driven {
    level: Isolation,
    run: RunResult,
    faults: Vec<FaultReport>,
    checked: Checked,
}

impl Test<'_, '_> {
    /// Drives the control and every level, until somebody ends the job.
    fn test(&self, journal: &mut Journal<'_>, handle: &Handle) -> Result<IsolationResult, Failure> {
        let (plan, levels) = (self.plan, self.levels);
        let mut shown = self.job.settings().clone();
        let mut control = None;
        if let Some(level) = levels.control.filter(|_| !plan.control.is_zero()) {
            control =
                Some(self.drive((level, plan.control, &[]), journal, handle, &mut shown, 0)?);
        }
        let mut driven: Vec<Driven> = Vec::new();
        for (level, place) in levels.tested.iter().zip(1..) {
            // One level must have a result, even an empty one.
            if handle.is_stopped() && !driven.is_empty() {
                break;
            }
            let faults = if place == 1 { plan.load.faults.as_slice() } else { &[] };
            let load = (*level, plan.load.duration, faults);
            driven.push(self.drive(load, journal, handle, &mut shown, place)?);
        }
        Ok(self.result(control.as_ref(), &driven, journal, &shown))
    }

    fn result(
        &self,
        control: Option<&Driven>,
        driven: &[Driven],
        journal: &Journal<'_>,
        shown: &Settings,
    ) -> IsolationResult {
        // Without a control of its own, the weakest level is that of the others.
        let control_of_all = control.or_else(|| self.levels.weakest_of(driven));
        let level = |driven: &Driven| -> LevelResult {
            let control = control_of_all.filter(|control| control.level != driven.level);
            let found = control.map(|control| &control.checked.report);
            verdicts::level(driven, self.levels, found, self.catalogue)
        };
        let runs = driven.iter().chain(control).map(|driven| driven.run.status);
        let status = runs.filter(|status| *status != Status::Failed);
        let ended = status.fold(Status::Complete, |worst, status| match worst {
            Status::Complete => status,
            worst => worst,
        });
        IsolationResult::new(Parts {
            job: journal.job,
            run: &driven[0].run,
            status: ended,
            levels: driven.iter().map(level).collect(),
            control: control.map(|control| control_result(control, self.levels)),
            expected: self.plan.expected,
            fails_if_undecided: self.plan.fails_if_undecided,
            faults: driven.iter().flat_map(|driven| driven.faults.clone()).collect(),
            settings: shown.shown(),
        })
    }

    /// Drives the load at a level, for a time and with faults, and checks what it recorded meanwhile.
    fn drive(
        &self,
        (level, duration, faults): (Isolation, std::time::Duration, &[Fault]),
        journal: &mut Journal<'_>,
        handle: &Handle,
        shown: &mut Settings,
        place: u32,
    ) -> Result<Driven, Failure> {
        let (job, watch) = (self.job, self.watch);
        let mut settings = self.plan.of_run(job.settings(), self.levels, level, duration);
        let resolved = Resolved::new(&mut settings, job.workload(), job.target(), watch, false)?;
        let workload = resolved.any_workload();
        let AnyWorkload::Isolation(load) = &*workload else { unreachable!("the job's workload") };
        watch.report(JobEvent::Resolved(resolved.spec()));
        watch.report(JobEvent::RunInfo(&resolved.info(&settings)));
        let resolved = resolved.step_of(journal.job.map(|job| (job, place)));
        let record = self.record.filter(|_| place > 0);
        let record = record.map(|file| Writer::new(file.writer(), self.plan.load.users));
        let is_control = place == 0;
        let progress = CheckProgress { level, is_control, transactions: 0, found: Vec::new() };
        let ((run, faults), checked) = check_while(load, record, watch, progress, || {
            self.load(resolved, &settings, load, (faults, handle), journal)
        });
        shown.show_run(&settings);
        if let Some(error) = &checked.unwritten {
            return Err(Failure::refuse(format!("writing the history: {error}")));
        }
        Ok(Driven { level, run: run?, faults, checked })
    }

    fn load(
        &self,
        resolved: Resolved,
        settings: &Settings,
        load: &IsolationLoad,
        (faults, handle): (&[Fault], &Handle),
        journal: &mut Journal<'_>,
    ) -> (Result<RunResult, Failure>, Vec<FaultReport>) {
        let (target, catalogue) = (self.job.target(), self.catalogue);
        let scene = &Scene { target, sessions: load.sessions(), catalogue, handle };
        with_faults(faults, scene, self.watch, |watch| {
            resolved.run(settings, journal.store(), handle, watch)
        })
    }
}

fn control_result(control: &Driven, levels: &Levels) -> ControlResult {
    let report = &control.checked.report;
    let promise = levels.promise(control.level);
    let count = |(kind, finding): (&AnomalyKind, &Finding)| ControlCount {
        kind: kind.to_string(),
        count: finding.count,
        is_broken_promise: promise.forbids(*kind),
    };
    ControlResult {
        level: control.level.name().to_owned(),
        run: control.run.job,
        transactions: report.transactions,
        found: report.findings.iter().map(count).collect(),
    }
}

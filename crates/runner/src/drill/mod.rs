//! `drill`: drives load, causes faults, and proves which of the acknowledged commits the database
//! still has.
//!
//! 1. build the table `triphammer_drill`, in place of that of an earlier drill;
//! 2. run the workload [`drill`](triphammer_workloads::drill), as a stored run of the drill; at their
//!    times, each on its own thread, cause the [faults](crate::faults);
//! 3. wait for the database, or for the one that `--verify` names, until it answers and accepts
//!    writes; read the table back, and compare it with the ledgers of the users (`verify`).
//!
//! What the counts mean is explained at the workload. The drill is good if every fault took place and
//! every acknowledged commit is there, once, in order. A database that is away when the load ends is
//! no failure in itself: then the drill waits.

mod verify;

use std::time::Duration;

use triphammer_core::session::{Database as _, Role, Session as _};
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::{DbError, Elapsed, ErrorClass};
use triphammer_document::JobType;
use triphammer_document::drill::{DrillResult, FaultReport, Parts};
use triphammer_document::parts::Status;
use triphammer_document::redacted::Redacted;
use triphammer_document::result::RunResult;
use triphammer_settings::Settings;
use triphammer_settings::failure::{Doing as _, Failure};
use triphammer_settings::handle::Handle;
use triphammer_settings::target::Target;
use triphammer_settings::worker_pool::{connect, identify, on_this_thread};
use triphammer_workloads::AnyWorkload;
use triphammer_workloads::drill::{Drill, Fate, Ledger, LedgerCounts, outages};

use crate::faults::{Scene, with_faults};
use crate::job::{FinishedJob, Job, Preview, Work};
use crate::journal::Journal;
use crate::own_load::{self, LoadSettings};
use crate::run::Resolved;
use crate::watch::{JobEvent, Watch, Watcher};

/// Users, where the database serves several at once.
const USERS: u32 = 8;

/// Proves which commits a database keeps after a fault.
#[derive(Debug)]
pub struct DrillJob;

impl JobType for DrillJob {
    type Document = DrillResult;
}

impl Work for DrillJob {
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
        test_verified(job, &catalogue, watch)?;
        let mut store = job.open_store(watch)?;
        let drilled = Drilled { job, plan: &plan, catalogue: &catalogue, watch };
        own_load::conduct(job, plan.load.users, store.as_mut(), watch, |journal| {
            drilled.drill(journal, &job.handle())
        })
    }
}

/// Connects to the database that `--verify` names before anything is changed, and asks it what the
/// drill asks later: a wrong password, or another product, is found at once. One that is away, which
/// the faults may start, is waited for after the load.
fn test_verified(
    job: &Job,
    catalogue: &StatementCatalogue,
    watch: &Watch<'_>,
) -> Result<(), Failure> {
    let verified = job.verified();
    if std::ptr::eq(verified, job.target()) {
        return Ok(());
    }
    let tested = on_this_thread(async {
        let mut session =
            connect(&verified.database, Role::Monitor, verified.connect_limit).await?;
        let asked = verify::is_writable(&mut session, catalogue).await.map(drop);
        session.close().await;
        Ok::<_, DbError>(asked)
    });
    let target = verified.database.target();
    match tested {
        Ok(Err(error)) if !error.class().loses_session() => {
            Err(error.context("is it a server of the same product?"))
                .doing(format_args!("asking {target}, which --verify names"))
        }
        Ok(Err(error)) | Err(error) if error.class() != ErrorClass::Refused => {
            watch.warn(&format!(
                "{target}, which --verify names, does not answer yet: {error}; after the load, the \
                 drill waits for it"
            ));
            Ok(())
        }
        Ok(Err(error)) | Err(error) => {
            Err(error).doing(format_args!("connecting to {target}, which --verify names"))
        }
        Ok(Ok(())) => Ok(()),
    }
}

/// The settings of a drill.
struct Plan {
    load: LoadSettings,
    wait: Duration,
}

impl Plan {
    fn read((settings, target): (&mut Settings, &Target)) -> Result<Self, Failure> {
        if !target.database.capabilities().stores {
            return Err(Failure::refuse(
                "this database does not store data, so there is no commit to lose",
            ));
        }
        Ok(Self {
            load: LoadSettings::read(settings, target, [1, USERS])?,
            wait: settings.duration("verify-timeout")?,
        })
    }
}

/// A drill that begins.
struct Drilled<'a, 'w> {
    job: &'a Job,
    plan: &'a Plan,
    catalogue: &'a StatementCatalogue,
    watch: &'a Watch<'w>,
}

impl Drilled<'_, '_> {
    /// Drives the load with its faults, and reads the table back.
    fn drill(&self, journal: &mut Journal<'_>, handle: &Handle) -> Result<DrillResult, Failure> {
        let (job, plan, watch) = (self.job, self.plan, self.watch);
        let mut settings = plan.load.of_run(job.settings(), plan.load.duration, []);
        let resolved = Resolved::new(&mut settings, job.workload(), job.target(), watch, false)?;
        let workload = resolved.any_workload();
        let AnyWorkload::Drill(drill) = &*workload else { unreachable!("the job's workload") };
        watch.report(JobEvent::Resolved(resolved.spec()));
        watch.report(JobEvent::RunInfo(&resolved.info(&settings)));
        let resolved = resolved.step_of(journal.job.map(|job| (job, 0)));
        let (run, faults) = self.load(resolved, &settings, drill, journal, handle)?;
        let ledgers = drill.take_ledgers();
        let (target, unread) = (job.verified(), unread(&ledgers));
        let found = self.verify(target, drill, &ledgers, &run, handle);
        let zero = ledgers.iter().filter_map(Ledger::first_second).min().unwrap_or_default();
        let load = run.durations.rampup_s + run.durations.window_s;
        let end = Elapsed::from_duration(Duration::from_secs_f64(load));
        let mut shown = job.settings().clone();
        shown.show_run(&settings);
        Ok(DrillResult::new(Parts {
            job: journal.job,
            run: &run,
            settings: shown.shown(),
            faults,
            unread,
            zero,
            verified: Redacted::target_of(&target.database),
            outages: outages(&ledgers, end),
            found,
        }))
    }

    /// Runs the load, and causes the faults beside it.
    fn load(
        &self,
        resolved: Resolved,
        settings: &Settings,
        drill: &Drill,
        journal: &mut Journal<'_>,
        handle: &Handle,
    ) -> Result<(RunResult, Vec<FaultReport>), Failure> {
        let (target, catalogue) = (self.job.target(), self.catalogue);
        let scene = &Scene { target, sessions: drill.sessions(), catalogue, handle };
        let (run, faults) = with_faults(&self.plan.load.faults, scene, self.watch, |watch| {
            resolved.run(settings, journal.store(), handle, watch)
        });
        Ok((run?, faults))
    }

    /// Reads the table back; the reason in words if that is impossible.
    fn verify(
        &self,
        target: &Target,
        drill: &Drill,
        ledgers: &[Ledger],
        run: &RunResult,
        handle: &Handle,
    ) -> Result<triphammer_document::drill::LedgerFindings, String> {
        let missing = usize::try_from(self.plan.load.users)
            .map_or(0, |all| all.saturating_sub(ledgers.len()));
        if missing > 0 {
            return Err(format!("{missing} users did not end, so their commits are unknown"));
        }
        if run.status == Status::Aborted || handle.is_aborted() {
            return Err("the drill was aborted before the check".to_owned());
        }
        let read = (drill.seed(), ledgers);
        verify::verify(target, self.catalogue, read, self.plan.wait, handle, self.watch)
            .map_err(|error| error.to_string())
    }
}

/// The counts of the ledgers, without a table.
fn unread(ledgers: &[Ledger]) -> LedgerCounts {
    let mut judged = LedgerCounts::default();
    for stretch in ledgers.iter().flat_map(Ledger::stretches) {
        match stretch.fate {
            Fate::Acknowledged => judged.acknowledged += stretch.count(),
            Fate::Failed => judged.failed += stretch.count(),
            Fate::Indeterminate => judged.indeterminate_absent += stretch.count(),
        }
    }
    judged
}

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

use triphammer_core::clock::wall;
use triphammer_core::session::{Database as _, Role, Session as _};
use triphammer_core::spec::SESSIONS_MAX;
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::Description;
use triphammer_core::{DbError, Elapsed, ErrorClass};
use triphammer_dialects::catalogues;
use triphammer_document::drill::{DrillResult, FaultReport, Parts};
use triphammer_document::parts::Status;
use triphammer_document::redacted::Redacted;
use triphammer_document::result::RunResult;
use triphammer_document::{JobDocument as _, JobType};
use triphammer_settings::failure::{Doing as _, Failure};
use triphammer_settings::fault::{self, Fault};
use triphammer_settings::handle::Handle;
use triphammer_settings::target::Target;
use triphammer_settings::worker_pool::{connect, identify, on_this_thread};
use triphammer_settings::{Given, Settings};
use triphammer_store::Store;
use triphammer_workloads::AnyWorkload;
use triphammer_workloads::drill::{Drill, Fate, Judged, Ledger, outages};

use crate::build::build_own;
use crate::faults::{Scene, with_faults};
use crate::job::{Finished, Job, Preview, Work};
use crate::journal::Journal;
use crate::run::Resolved;
use crate::watch::{JobEvent, Watch, Watcher};

/// Users, where the database serves several at once.
const USERS: u32 = 8;
/// Seeds are small enough to be typed.
const SEEDS: u64 = 1_000_000_000;

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

    fn run(job: &mut Job, watcher: &mut dyn Watcher) -> Result<Finished, Failure> {
        let watch = &Watch::new(watcher);
        let plan = Plan::read(job.settings_mut_and_target())?;
        let target = job.target();
        identify(job.workload(), &target.database)?;
        let catalogue = plan.catalogue(job.workload(), target)?;
        test_verified(job, &catalogue, watch)?;
        let mut store = job.open_store(watch)?;
        let drilled = Drilled { job, plan: &plan, catalogue: &catalogue, watch };
        drilled.conduct(store.as_mut(), &job.handle())
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
    faults: Vec<Fault>,
    users: u32,
    duration: Duration,
    attempt: Duration,
    wait: Duration,
    seed: u64,
}

impl Plan {
    fn read((settings, target): (&mut Settings, &Target)) -> Result<Self, Failure> {
        if !target.database.capabilities().stores {
            return Err(Failure::refuse(
                "this database does not store data, so there is no commit to lose",
            ));
        }
        let duration = settings.duration("duration")?;
        let one_writer = target.database.capabilities().one_writer;
        let users =
            settings.count_or("vus", SESSIONS_MAX, || if one_writer { 1 } else { USERS })?;
        Ok(Self {
            faults: fault::faults(settings, duration)?,
            users,
            duration,
            attempt: settings.duration("transaction-timeout")?,
            wait: settings.duration("verify-timeout")?,
            seed: settings.parse_or("seed", || wall().0.unsigned_abs() % SEEDS)?,
        })
    }

    /// The statements of the drill; rejects faults that need others.
    fn catalogue(
        &self,
        workload: &Description,
        target: &Target,
    ) -> Result<StatementCatalogue, Failure> {
        let database = &target.database;
        let catalogue = catalogues::catalogue(workload, database.dialect(), false)?;
        fault::refuse_impossible(&self.faults, database, &catalogue)?;
        Ok(catalogue)
    }

    /// The settings of the drill's run.
    fn of_run(&self, settings: &Settings) -> Settings {
        let text = |text: &str| Given::from(text);
        settings.of_run(&[
            ("vus".to_owned(), self.users.into()),
            ("seed".to_owned(), self.seed.into()),
            ("rampup".to_owned(), Duration::ZERO.into()),
            ("duration".to_owned(), self.duration.into()),
            ("transaction-timeout".to_owned(), self.attempt.into()),
            // Failures are what a drill is about.
            ("max-failures".to_owned(), text("100%")),
            // Observers would report every outage, too.
            ("no-observe".to_owned(), text("true")),
        ])
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
    fn conduct(&self, store: Option<&mut Store>, handle: &Handle) -> Result<Finished, Failure> {
        let (job, watch) = (self.job, self.watch);
        let warn = &mut |text: &str| watch.warn(text);
        let of = (&**job.workload(), job.target());
        let mut journal =
            Journal::of_own_load(store, job.kind(), of, job.settings(), self.plan.users, warn);
        watch.report(JobEvent::Began(journal.job));
        let built = build_own(of.0, of.1, handle.cancel(), watch);
        let drilled = built.and_then(|()| self.drill(&mut journal, handle));
        handle.ended();
        match drilled {
            Ok(result) => {
                journal.checkpoint(&result, result.primary_metric(), warn);
                journal.end_with(&result, warn);
                let status = result.status;
                let stored = Finished::stored(result, journal.job, journal.is_whole());
                Ok(Finished { status, ..stored })
            }
            Err(failure) => {
                journal.failed(&failure, warn);
                Err(failure)
            }
        }
    }

    /// Drives the load with its faults, and reads the table back.
    fn drill(&self, journal: &mut Journal<'_>, handle: &Handle) -> Result<DrillResult, Failure> {
        let (job, plan, watch) = (self.job, self.plan, self.watch);
        let mut settings = plan.of_run(job.settings());
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
        let (run, faults) = with_faults(&self.plan.faults, scene, self.watch, |watch| {
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
    ) -> Result<triphammer_document::drill::Found, String> {
        let missing =
            usize::try_from(self.plan.users).map_or(0, |all| all.saturating_sub(ledgers.len()));
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
fn unread(ledgers: &[Ledger]) -> Judged {
    let mut judged = Judged::default();
    for stretch in ledgers.iter().flat_map(Ledger::stretches) {
        match stretch.fate {
            Fate::Acknowledged => judged.acknowledged += stretch.count(),
            Fate::Failed => judged.failed += stretch.count(),
            Fate::Indeterminate => judged.indeterminate_absent += stretch.count(),
        }
    }
    judged
}

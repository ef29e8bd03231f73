//! Restores: what brings a database to the same state before each run (`--restore`), by a snapshot or
//! by a command of the user's; and the snapshots that users make, list and drop (`triphammer
//! snapshot`).
//!
//! How a database makes its copies is a matter of its driver. Here is when: with the lock of the
//! workload, within a limit of time, and with a fingerprint that shows whether the restored state is
//! that of the snapshot. What an interrupted job left half-done is repaired before anything else.

mod plan;
mod snapshots;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use triphammer_core::clock::{Clock, format_duration};
use triphammer_core::session::{Database as _, LockMode, Role, Session as _};
use triphammer_core::workload::Description;
use triphammer_document::redacted::mask_secrets;
use triphammer_document::result::{Fingerprint, FingerprintDepth, Restored};
use triphammer_drivers::snapshot::{Consent, Mark, Remarks, SnapshotName, Stop};
use triphammer_drivers::snapshots::Snapshots;
use triphammer_drivers::{AnyDatabase, AnySession};
use triphammer_settings::failure::{Doing as _, Failure};
use triphammer_settings::handle::Handle;
use triphammer_settings::limited::Limited;
use triphammer_settings::target::Target;
use triphammer_settings::worker_pool::{connect, on_this_thread};

use crate::state;
use crate::watch::Watch;
use crate::workload_lock::lock_workload;
pub use plan::RestorePlan;
use plan::{TIMEOUT, Way};
pub use snapshots::{SnapshotOrder, snapshots};

/// Maximum time of what follows a job, such as dropping its snapshot.
const END_LIMIT: Duration = Duration::from_secs(60);

/// A database with what its snapshots need.
struct Place<'a> {
    workload: &'a Description,
    target: &'a Target,
    limit: Duration,
    handle: &'a Handle,
}

impl<'a> Place<'a> {
    fn database(&self) -> &'a Arc<AnyDatabase> {
        &self.target.database
    }

    fn name(&self) -> String {
        mask_secrets(&self.database().target())
    }

    fn snapshots(&self) -> Result<Snapshots<'a>, Failure> {
        Snapshots::of(self.database())
            .map_err(|reason| Failure::refuse(format!("no snapshots of {}: {reason}", self.name())))
    }

    /// Comes with Ctrl-C, or after the limit.
    fn stop(&self) -> Stop<'a> {
        let (handle, limit) = (self.handle, self.limit);
        Stop::when(async move {
            tokio::select! {
                () = handle.cancel().cancelled() => "interrupted".to_owned(),
                () = tokio::time::sleep(limit) => {
                    format!("not finished within {} (--{TIMEOUT})", format_duration(limit))
                }
            }
        })
    }

    /// Keeps runs, builds, checks and drops away; `None` if no session may be at the database, which
    /// then was free a moment ago.
    async fn lock(
        &self,
        snapshots: &Snapshots<'_>,
    ) -> Result<Option<Limited<AnySession>>, Failure> {
        let (role, limit) = (Role::Monitor, self.target.connect_limit);
        let lock =
            lock_workload(self.workload, self.database(), role, LockMode::Exclusive, limit).await?;
        if snapshots.needs_database_alone() {
            lock.close().await;
            return Ok(None);
        }
        Ok(Some(lock))
    }

    async fn list(&self) -> Result<Vec<Mark>, Failure> {
        let listed = self.snapshots()?.list(&mut self.stop()).await;
        self.unless_stopped(listed.doing(format_args!("listing the snapshots of {}", self.name())))
    }

    /// Repairs what earlier jobs left unfinished. Nothing may use the data while a restore is finished.
    async fn repair(&self) -> Result<Remarks, Failure> {
        let snapshots = self.snapshots()?;
        let is_half = self.list().await?.iter().any(|mark| mark.restoring.is_some());
        let _lock = if is_half { self.lock(&snapshots).await? } else { None };
        let repaired = snapshots.repair(&mut self.stop()).await;
        let what = format!("looking for unfinished restores of {}", self.name());
        self.unless_stopped(repaired.doing(what))
    }

    /// Makes a snapshot, with a fingerprint of the state.
    async fn make(
        &self,
        name: SnapshotName,
        is_temporary: bool,
        depth: Option<FingerprintDepth>,
        consent: Consent,
    ) -> Result<(Mark, Remarks), Failure> {
        let snapshots = self.snapshots()?;
        let print = match depth {
            Some(depth) => Some(self.fingerprint(depth).await?),
            None => None,
        };
        let print = print.map(|print| serde_json::to_string(&print).expect("plain data"));
        let _lock = self.lock(&snapshots).await?;
        let mark = Mark::new(name.clone(), is_temporary, print);
        let made = snapshots.make(mark, consent, &mut self.stop()).await;
        self.unless_stopped(made.doing(format_args!("making snapshot `{name}` of {}", self.name())))
    }

    async fn fingerprint(&self, depth: FingerprintDepth) -> Result<Fingerprint, Failure> {
        let database = self.database();
        let read = async {
            let mut session = connect(database, Role::Monitor, self.target.connect_limit).await?;
            let def = state::definition(database.dialect());
            let print = state::fingerprint(&mut session, &def, depth, &mut self.stop()).await;
            session.close().await;
            print
        };
        self.unless_stopped(read.await.doing(format_args!("reading the state of {}", self.name())))
    }

    async fn restore(&self, name: &SnapshotName, consent: Consent) -> Result<Remarks, Failure> {
        let snapshots = self.snapshots()?;
        let _lock = self.lock(&snapshots).await?;
        let restored = snapshots.restore(name, consent, &mut self.stop()).await;
        let what = format!("restoring {} from snapshot `{name}`", self.name());
        self.unless_stopped(restored.doing(what))
    }

    /// Finishes a restore from a snapshot that was interrupted: the rows may be nowhere else.
    async fn finish(&self, name: &SnapshotName, consent: Consent) -> Result<(), Failure> {
        let (snapshots, mut stop) = (self.snapshots()?, after(END_LIMIT.max(self.limit)));
        let listed = snapshots.list(&mut stop).await;
        let marks = listed.doing(format_args!("listing the snapshots of {}", self.name()))?;
        if !marks.iter().any(|mark| mark.name == *name && mark.restoring.is_some()) {
            return Ok(());
        }
        let _lock = self.lock(&snapshots).await?;
        let finished = snapshots.restore(name, consent, &mut stop).await;
        finished.doing(format_args!("finishing the restore of {}", self.name())).map(drop)
    }

    async fn drop(&self, name: &SnapshotName) -> Result<(), Failure> {
        let dropped = self.snapshots()?.drop(name, &mut after(END_LIMIT)).await;
        dropped.doing(format_args!("dropping snapshot `{name}` of {}", self.name()))
    }

    /// What failed because the user ended the job is an interruption.
    fn unless_stopped<T>(&self, done: Result<T, Failure>) -> Result<T, Failure> {
        match done {
            Err(failure) if self.handle.is_stopped() => {
                Err(Failure::Interrupted(failure.to_string()))
            }
            done => done,
        }
    }
}

/// Comes after a limit, also when the job was interrupted.
fn after(limit: Duration) -> Stop<'static> {
    Stop::when(async move {
        tokio::time::sleep(limit).await;
        format!("not finished within {}", format_duration(limit))
    })
}

/// Restores the databases of a job before its runs.
pub(crate) struct Restorer<'a> {
    plan: Option<&'a RestorePlan>,
    workload: &'a Description,
    targets: &'a [Target],
    depth: Option<FingerprintDepth>,
    handle: &'a Handle,
    /// The snapshot of each database, by the index of the first target that names it.
    used: BTreeMap<usize, Mark>,
}

impl<'a> Restorer<'a> {
    /// Looks what earlier jobs left unfinished, and repairs it, before anything is read of the
    /// databases.
    ///
    /// # Errors
    /// When a database makes no snapshots, lacks the one that is named, or as it reports.
    pub fn begin(
        plan: Option<&'a RestorePlan>,
        (workload, targets): (&'a Description, &'a [Target]),
        depth: Option<FingerprintDepth>,
        handle: &'a Handle,
        watch: &Watch<'_>,
    ) -> Result<Self, Failure> {
        let used = BTreeMap::new();
        let mut restorer = Self { plan, workload, targets, depth, handle, used };
        let Some(RestorePlan { way: Way::Copy(name), .. }) = plan else { return Ok(restorer) };
        for first in restorer.databases() {
            let place = restorer.place(first);
            on_this_thread(identify_database(place.database()))?;
            on_this_thread(place.repair())?.iter().for_each(|text| watch.note(text));
            let Some(name) = name else { continue };
            restorer.used.insert(first, on_this_thread(place.named(name.as_str()))?);
        }
        Ok(restorer)
    }

    /// Makes snapshots of the present states, if the runs begin from them.
    ///
    /// # Errors
    /// As the databases report.
    pub fn make(&mut self, watch: &Watch<'_>) -> Result<(), Failure> {
        let Some(RestorePlan { way: Way::Copy(None), consent, .. }) = self.plan else {
            return Ok(());
        };
        for first in self.databases() {
            let place = self.place(first);
            let (name, clock) = (SnapshotName::temporary(), Clock::start());
            let made = place.make(name, true, self.depth, *consent);
            let (mark, remarks) = on_this_thread(made)?;
            watch.note(&format!(
                "made snapshot `{}` of {} in {}{}",
                mark.name,
                place.name(),
                triphammer_settings::format::duration(clock.now().duration().as_secs_f64()),
                in_parentheses(&mark, &remarks)
            ));
            self.used.insert(first, mark);
        }
        Ok(())
    }

    /// Restores the database of a target; `None` if nothing is to be done.
    ///
    /// # Errors
    /// With the reason why the run cannot be made.
    pub fn before(
        &self,
        target: usize,
        cell: &[(String, String)],
        watch: &Watch<'_>,
    ) -> Result<Option<Restored>, Failure> {
        let Some(plan) = self.plan else { return Ok(None) };
        let (clock, first) = (Clock::start(), self.first(target));
        let place = self.place(target);
        let restored = |from: String, fingerprint| Restored {
            from,
            seconds: clock.now().duration().as_secs_f64(),
            fingerprint,
            is_equal: None,
            different: Vec::new(),
        };
        let mark = match (&plan.way, self.used.get(&first)) {
            (Way::Command(command), _) => {
                let done = plan.run_command(command, cell, &place.name(), self.handle);
                let done = done.map_err(|reason| Failure::refuse(format!("--restore: {reason}")));
                place.unless_stopped(done)?;
                return Ok(Some(restored("a command".to_owned(), None)));
            }
            (Way::Copy(_), Some(mark)) => mark,
            (Way::Copy(_), None) => unreachable!("each database has its snapshot by now"),
        };
        let remarks = on_this_thread(place.restore(&mark.name, plan.consent))?;
        let print = mark.fingerprint.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let restored = restored(format!("snapshot `{}`", mark.name), print);
        watch.note(&format!(
            "restored {} from {} in {}{}",
            place.name(),
            restored.from,
            triphammer_settings::format::duration(restored.seconds),
            in_parentheses(mark, &remarks)
        ));
        Ok(Some(restored))
    }

    /// Whether a restore of one target is also one of the other.
    pub fn is_one(&self, a: usize, b: usize) -> bool {
        matches!(self.plan, Some(RestorePlan { way: Way::Copy(_), .. }))
            && self.first(a) == self.first(b)
    }

    /// Drops the snapshots that are of use to this job only.
    pub fn end(self, watch: &Watch<'_>) {
        let Some(plan) = self.plan.filter(|plan| plan.ends_with_job()) else { return };
        for (first, mark) in &self.used {
            let place = self.place(*first);
            let dropped = async {
                place.finish(&mark.name, plan.consent).await?;
                place.drop(&mark.name).await
            };
            if let Err(failure) = on_this_thread(dropped) {
                watch.warn(&format!("{failure}; the next job with --restore removes it"));
            }
        }
    }

    fn place(&self, target: usize) -> Place<'a> {
        let limit = self.plan.map_or(END_LIMIT, |plan| plan.limit);
        let Self { workload, targets, handle, .. } = self;
        Place { workload, target: &targets[target], limit, handle }
    }

    /// The first target that names the same database.
    fn first(&self, target: usize) -> usize {
        let name = |index: usize| self.targets[index].database.target();
        (0..target).find(|index| name(*index) == name(target)).unwrap_or(target)
    }

    /// The first target of each database.
    fn databases(&self) -> Vec<usize> {
        (0..self.targets.len()).filter(|target| self.first(*target) == *target).collect()
    }
}

/// Finds out which product a target leads to.
async fn identify_database(database: &Arc<AnyDatabase>) -> Result<(), Failure> {
    let identified = database.identify().await;
    identified.doing(format_args!("connecting to {}", database.target()))
}

/// Size and remarks, for the end of a sentence.
fn in_parentheses(mark: &Mark, remarks: &Remarks) -> String {
    let size = mark.bytes.map(triphammer_settings::format::bytes);
    let all: Vec<String> = size.into_iter().chain(remarks.iter().cloned()).collect();
    if all.is_empty() { String::new() } else { format!(" ({})", all.join("; ")) }
}

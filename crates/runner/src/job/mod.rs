//! A job: work that is defined by settings. The command line, the server and other programs run
//! jobs in the same way.
//!
//! ```text
//! Settings ──► Job::new ──► preview: reads all settings            (--show-spec, a form's preview)
//!                      └──► run: reports to a Watcher, stores ──► Finished { Document, … }
//! Handle ──► stop, abort, from any thread
//! ```
//!
//! A kind of job is a line in the list of [`command`](triphammer_settings::command), and a type:
//! [`JobType`] defines its document, and `Work` how it is previewed and run. For every
//! [`Question`](campaign::Question) of a campaign, `sequence` implements `Work`.

mod answered;
mod build;
mod check;
mod compare;
mod drop;
pub(crate) mod finished;
mod journaled;
mod recorded;
mod run;
mod sequence;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use triphammer_core::session::Database as _;
use triphammer_core::spec::RunSpec;
use triphammer_core::workload::Description;
use triphammer_document::{Document, JobId, JobType};
use triphammer_settings::command::{JobKind, job_kinds};
use triphammer_settings::failure::Failure;
use triphammer_settings::handle::Handle;
use triphammer_settings::target::{self, Secrets, Target};
use triphammer_settings::{Setting, Settings};
use triphammer_store::{Store, store_path};

use crate::campaign::{self, RecordedRuns, Resumed};
use crate::replay::{Exemplar, Replayed};
use crate::requests;
use crate::step::Begin;
use crate::watch::{Silent, Watch, Watcher};

pub use answered::answer_again;
pub use build::BuildJob;
pub use check::CheckJob;
pub use drop::DropJob;
pub use finished::FinishedJob;
pub use recorded::Remembered;
pub use run::RunJob;

/// A request for a job.
pub struct Order<'a> {
    /// Settings of the job's command.
    pub settings: Settings,
    /// Settings of B in a comparison that makes runs, if its target has its own; otherwise B uses
    /// the settings of A on the second target.
    pub other: Option<Settings>,
    /// Sources of the secrets of the first and the second target.
    pub secrets: [&'a dyn Secrets; 2],
    /// The job store if the settings do not name one; `None` for the user's default store.
    pub store: Option<PathBuf>,
    /// Ends the job.
    pub handle: Handle,
}

impl<'a> Order<'a> {
    /// Creates an order with these settings and defaults for everything else.
    #[must_use]
    pub fn new(settings: Settings, secrets: &'a dyn Secrets) -> Self {
        let (other, store, handle) = (None, None, Handle::default());
        Self { settings, other, secrets: [secrets; 2], store, handle }
    }
}

/// A job whose settings and targets are known; no connection is open yet.
#[derive(Debug)]
pub struct Job {
    kind: JobKind,
    work: Functions,
    workload: Arc<Description>,
    settings: Settings,
    /// Empty if stored jobs are compared.
    targets: Vec<Target>,
    resumed: Option<Resumed>,
    exemplar: Option<Exemplar>,
    store: Option<PathBuf>,
    handle: Handle,
}

/// Previews and runs jobs of a kind.
pub(crate) trait Work: JobType {
    /// Reads every setting without running anything; returns the first runs.
    fn preview(job: &mut Job, watch: &Watch<'_>) -> Result<Preview, Failure>;

    /// Reads the settings without connecting.
    fn validate(job: &mut Job) -> Result<(), Failure>;

    /// Runs the job and stores its result.
    fn run(job: &mut Job, watcher: &mut dyn Watcher) -> Result<FinishedJob, Failure>;

    /// Makes the document again from recorded runs; `None` if the kind makes none, or they give none.
    fn answer_again(_: &mut Job, _: &RecordedRuns) -> Result<Option<Document>, Failure> {
        Ok(None)
    }
}

/// The two functions of a [`Work`].
#[derive(Clone, Copy, Debug)]
struct Functions {
    preview: fn(&mut Job, &Watch<'_>) -> Result<Preview, Failure>,
    validate: fn(&mut Job) -> Result<(), Failure>,
    run: fn(&mut Job, &mut dyn Watcher) -> Result<FinishedJob, Failure>,
    answer_again: fn(&mut Job, &RecordedRuns) -> Result<Option<Document>, Failure>,
}

macro_rules! works {
    ($($variant:ident($name:literal, $nature:ident, $($document:ident)::+, $($type:ident)::+) $title:literal,)+) => {
        const fn work(kind: JobKind) -> Functions {
            match kind {
                $(JobKind::$variant => Functions {
                    preview: <crate::$($type)::+ as Work>::preview,
                    validate: <crate::$($type)::+ as Work>::validate,
                    run: <crate::$($type)::+ as Work>::run,
                    answer_again: <crate::$($type)::+ as Work>::answer_again,
                },)+
            }
        }
    };
}
job_kinds!(works);

/// A comparison of stored jobs makes no runs.
const STORED: Functions = Functions {
    preview: compare::preview,
    validate: |job| compare::preview(job, &Watch::new(&mut Silent)).map(drop),
    run: compare::run,
    answer_again: |_, _| Ok(None),
};

/// Preview of a job, without running it.
#[derive(Debug, Default)]
pub struct Preview {
    /// The first runs with all their settings: one per target for a campaign; empty if the job
    /// makes no runs.
    pub runs: Vec<(Settings, RunSpec)>,
    /// Number and lengths of the runs of a campaign; `None` for other jobs.
    pub whole: Option<Begin>,
}

impl Job {
    /// Takes an order: reads the settings that all jobs share, and opens the targets.
    ///
    /// # Errors
    /// When the command is not a job, a setting belongs to another workload or dialect, a target is
    /// invalid, or the job to resume cannot be taken over.
    pub fn new(order: Order<'_>) -> Result<Self, Failure> {
        let Order { mut settings, other, secrets, store, handle } = order;
        let command = settings.command();
        let kind = command.job().ok_or_else(|| {
            Failure::refuse(format!(
                "`{}` does not run a job: it only shows stored jobs",
                command.name()
            ))
        })?;
        let resumed = match settings.get("resume") {
            Some(_) => campaign::resume(&stored(&settings, store.as_ref())?, &settings)?,
            None => None,
        };
        if let Some(resumed) = &resumed {
            settings.clone_from(&resumed.settings);
        }
        let exemplar = match settings.get("replay-exemplar").map(str::to_owned) {
            Some(name) => {
                Some(Exemplar::find(&name, &store_path(&settings, store.as_ref())?, &mut settings)?)
            }
            None => None,
        };
        compare::replay_in_pairs(&mut settings)?;
        compare::at_once_in_pairs(&mut settings)?;
        let chooses_way = resumed.is_none() && compare::targets_in_pairs(&mut settings);
        let makes_runs = kind != JobKind::Compare || resumed.is_some() || settings.switch("ab")?;
        if makes_runs && resumed.is_none() {
            compare::refuse_one_side(&settings)?;
        }
        let first = Remembered::new(secrets[0]);
        let secrets = [&first as &dyn Secrets, secrets[1]];
        if makes_runs {
            recorded::set_workload(&mut settings, secrets[0])?;
        }
        let workload = requests::workload(&mut settings)?;
        let work = if makes_runs { work(kind) } else { STORED };
        let mut job = Self {
            kind,
            work,
            workload,
            settings,
            targets: Vec::new(),
            resumed,
            exemplar,
            store,
            handle,
        };
        if makes_runs {
            job.open(other, secrets)?;
        }
        if chooses_way {
            crate::compare::choose(&mut job.settings, &job.workload, &job.targets)?;
        }
        Ok(job)
    }

    /// Opens the targets.
    fn open(&mut self, other: Option<Settings>, secrets: [&dyn Secrets; 2]) -> Result<(), Failure> {
        let workload = &self.workload;
        requests::refuse_campaign_of_queries(self.kind, workload)?;
        requests::refuse_options_of_others(&self.settings, workload)?;
        if self.kind == JobKind::Compare {
            let other = other.unwrap_or_else(|| self.settings.of_other());
            let sides = crate::compare::sides([&self.settings, &other], &workload.options)?;
            for (mut side, secrets) in sides.into_iter().zip(secrets) {
                self.targets.push(target::open(&mut side, Some(workload), secrets)?);
            }
        } else if self.kind == JobKind::Matrix {
            for mut cell in crate::matrix::settings_of_cells(&self.settings, &workload.options)? {
                self.targets.push(target::open(&mut cell, Some(workload), secrets[0])?);
            }
        } else {
            self.targets.push(target::open(&mut self.settings, Some(workload), secrets[0])?);
        }
        if let Some(mut verified) = self.settings.of_verification() {
            let opened = target::open(&mut verified, Some(workload), secrets[1])?;
            self.settings.show("verify", opened.database.target(), &verified.source("target"));
            self.targets.push(opened);
        }
        for target in &self.targets {
            requests::refuse_without_server(&self.workload, target)?;
            requests::refuse_options_of_other_dialects(&self.settings, target)?;
        }
        Ok(())
    }

    /// Kind of the job.
    #[must_use]
    pub const fn kind(&self) -> JobKind {
        self.kind
    }

    /// Workload of the job.
    #[must_use]
    pub const fn workload(&self) -> &Arc<Description> {
        &self.workload
    }

    /// The settings, including the values that were read so far.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The settings, for callers that read settings of their own.
    pub const fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    /// URLs of the targets, without secrets.
    #[must_use]
    pub fn targets(&self) -> Vec<String> {
        self.targets.iter().map(|target| target.database.target()).collect()
    }

    /// Warnings about the targets, such as that a password in a URL is visible in the process list.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.targets.iter().flat_map(|target| &target.warnings).map(String::as_str)
    }

    /// Notes of the drivers about the databases so far.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        self.targets.iter().flat_map(|target| target.database.notes()).collect()
    }

    /// A handle that ends the job from any thread.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Returns the last action before an immediate exit while this job, which cannot be drained, is
    /// running: it marks the job as interrupted, on a separate connection.
    #[must_use]
    pub fn final_message(&self) -> Option<impl Fn(JobId) + Send + Sync + 'static + use<>> {
        let path = store_path(&self.settings, self.store.as_ref()).ok()?;
        Some(move |job| {
            // The program ends either way; a store that cannot be written shows the job as lost.
            if let Ok(store) = Store::open(&path) {
                let _ = store.interrupted(job);
            }
        })
    }

    /// Reads every setting, and inspects the database if the result depends on what was built;
    /// changes nothing.
    ///
    /// # Errors
    /// When a value is invalid, or there is nothing to run.
    pub fn preview(&mut self, watcher: &mut dyn Watcher) -> Result<Preview, Failure> {
        (self.work.preview)(self, &Watch::new(watcher))
    }

    /// Reads every setting that does not depend on what was built, without connecting.
    ///
    /// # Errors
    /// When a value is invalid.
    pub fn validate(&mut self) -> Result<(), Failure> {
        (self.work.validate)(self)
    }

    /// Every setting with its source, of the job and of the first runs of a campaign: one list per target.
    ///
    /// # Errors
    /// When a value is invalid, or there is nothing to run.
    pub fn specification(
        &mut self,
        watcher: &mut dyn Watcher,
    ) -> Result<Vec<Vec<Setting>>, Failure> {
        let preview = self.preview(watcher)?;
        let own = self.settings.shown();
        Ok(match preview.runs.as_slice() {
            runs if !self.kind.is_campaign() || runs.is_empty() => vec![own.to_vec()],
            // The levels of a profile and the values of a matrix, not those of its first run.
            [(run, _)] => vec![joined(own, run.shown())],
            [(run, _), ..] if self.kind == JobKind::Matrix => vec![joined(own, run.shown())],
            // The sides of a comparison may differ in anything.
            sides => sides.iter().map(|(side, _)| joined(side.shown(), own)).collect(),
        })
    }

    /// Runs the job and stores its result.
    ///
    /// # Errors
    /// When the job cannot start, or a build, check or drop fails.
    pub fn run(&mut self, watcher: &mut dyn Watcher) -> Result<FinishedJob, Failure> {
        (self.work.run)(self, watcher)
    }

    /// Makes the document of a campaign again from recorded runs.
    pub(crate) fn answer_again(
        &mut self,
        recorded: &RecordedRuns,
    ) -> Result<Option<Document>, Failure> {
        (self.work.answer_again)(self, recorded)
    }

    /// Repeats the transaction that `--replay-exemplar` names; `None` if it is not given.
    ///
    /// # Errors
    /// When the run cannot be resolved, or no session can be opened.
    pub fn replay(&mut self, watcher: &mut dyn Watcher) -> Result<Option<Replayed>, Failure> {
        let Some(exemplar) = self.exemplar.clone() else { return Ok(None) };
        let resolved = run::resolve(self, &Watch::new(watcher), false)?;
        let replay = resolved.replay(&exemplar)?;
        Ok(Some(Replayed {
            text: exemplar.text(&replay, &self.workload.transactions),
            is_good: replay.outcome.is_ok(),
        }))
    }

    pub(crate) fn target(&self) -> &Target {
        &self.targets[0]
    }

    /// The database that a drill reads back: the target, or the one that `--verify` names.
    pub(crate) fn verified(&self) -> &Target {
        self.targets.last().expect("a job has a target")
    }

    pub(crate) fn settings_mut_and_target(&mut self) -> (&mut Settings, &Target) {
        (&mut self.settings, &self.targets[0])
    }

    /// Opens the job store. If the default store cannot be opened, the job runs without it and
    /// reports a warning; a store given by the user must open.
    pub(crate) fn open_store(&self, watch: &Watch<'_>) -> Result<Option<Store>, Failure> {
        let path = store_path(&self.settings, self.store.as_ref());
        let opened = path.and_then(|path| Store::open(&path).map_err(Failure::from));
        match opened {
            Ok(store) => Ok(Some(store)),
            Err(failure) if self.settings.get("store").is_some() => Err(failure),
            Err(failure) => {
                watch.warn(&format!("this job will not be stored: {failure}"));
                Ok(None)
            }
        }
    }
}

/// Merges two lists of settings; the first list wins.
fn joined(first: &[Setting], second: &[Setting]) -> Vec<Setting> {
    let is_new = |setting: &&Setting| first.iter().all(|known| known.name != setting.name);
    first.iter().chain(second.iter().filter(is_new)).cloned().collect()
}

/// Opens the store for reading.
fn stored(settings: &Settings, store: Option<&PathBuf>) -> Result<Store, Failure> {
    Store::open_to_read(&store_path(settings, store)?).map_err(Failure::from)
}

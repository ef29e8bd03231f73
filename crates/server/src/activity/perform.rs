//! Does an activity, on its own thread, by the runner.

use serde::Serialize;
use serde_json::Value;
use triphammer_core::spec::Length;
use triphammer_core::workload::Workload;
use triphammer_runner::build::build;
use triphammer_runner::cancel::Cancel;
use triphammer_runner::check::check;
use triphammer_runner::journal::Journal;
use triphammer_runner::remove::drop_build;
use triphammer_runner::report::format;
use triphammer_runner::result::{RunResult, Status};
use triphammer_runner::run::Resolved;
use triphammer_runner::settings::Settings;
use triphammer_runner::store::Store;
use triphammer_runner::target::Target;
use triphammer_runner::{Failure, requests, with_workload};

use super::ActivityState;
use super::form::{Asked, FormCommand};
use super::queue::Activities;
use super::watch::{Steps, Watch};
use crate::error::ApiError;

/// How an activity ended that did what it was to do, or was stopped in doing it.
#[derive(Debug)]
pub struct Ended {
    /// Complete, interrupted or aborted.
    pub state: ActivityState,
    /// Whether what it found is good.
    pub good: bool,
    /// What came out, in a line.
    pub outcome: String,
    /// A run's first figure.
    pub headline_value: Option<f64>,
    /// What it left.
    pub document: Value,
}

/// One activity at work.
struct Work<'a> {
    all: &'a Activities,
    id: u64,
    cancel: &'a Cancel,
}

/// Does it.
pub fn perform(
    all: &Activities,
    id: u64,
    asked: &Asked,
    cancel: &Cancel,
) -> Result<Ended, ApiError> {
    let work = Work { all, id, cancel };
    let (mut settings, target) = asked.open()?;
    let mut store = open_store(&work, all);
    let done = with_workload!(asked.workload.as_str(), W => match asked.form.command {
        FormCommand::Build => work.build::<W>(&mut settings, &target, store.as_mut()),
        FormCommand::Check => work.check::<W>(&mut settings, &target, store.as_mut()),
        FormCommand::Drop => work.drop::<W>(&mut settings, &target),
        FormCommand::Run => work.run::<W>(&mut settings, &target, store.as_mut()),
    });
    Ok(done.map_err(Failure::from)??)
}

/// The store, or a remark: one that cannot be opened now is no reason not to measure.
fn open_store(work: &Work<'_>, all: &Activities) -> Option<Store> {
    match Store::open(all.store()) {
        Ok(store) => Some(store),
        Err(error) => {
            work.steps().warn(&format!("this job will not be stored: {error}"));
            None
        }
    }
}

impl Work<'_> {
    fn steps(&self) -> Steps<'_> {
        Steps::new(self.all.hub(), self.id)
    }

    fn build<W: Workload>(
        &self,
        settings: &mut Settings,
        target: &Target,
        store: Option<&mut Store>,
    ) -> Result<Ended, Failure> {
        let mut request = requests::build::<W, _>(settings, target)?;
        request.cancel = self.cancel.clone();
        let steps = self.steps();
        let warn = &mut |text: &str| steps.warn(text);
        let mut journal = Journal::of_build::<W, _>(store, target, &request, warn);
        self.has_job(&journal);
        match build::<W, _>(&target.database, &request, &steps) {
            Ok(report) => {
                journal.built(&report, warn);
                let rows = format::integer(report.rows);
                let outcome = format!("{}: {rows} rows", report.outcome);
                Ok(complete(true, outcome, &report))
            }
            Err(failure) => {
                journal.failed(&failure, warn);
                Err(failure)
            }
        }
    }

    fn check<W: Workload>(
        &self,
        settings: &mut Settings,
        target: &Target,
        store: Option<&mut Store>,
    ) -> Result<Ended, Failure> {
        let mut request = requests::check(settings, target)?;
        request.cancel = self.cancel.clone();
        let steps = self.steps();
        let warn = &mut |text: &str| steps.warn(text);
        let mut journal = Journal::of_check::<W, _>(store, target, warn);
        self.has_job(&journal);
        match check::<W, _>(&target.database, &request, &steps) {
            Ok(report) => {
                journal.checked(&report, warn);
                let violated = report.checks.iter().filter(|check| check.violations > 0).count();
                let outcome = match violated {
                    0 => format!("all {} conditions hold", report.checks.len()),
                    _ => format!("{violated} of {} conditions violated", report.checks.len()),
                };
                Ok(complete(report.holds(), outcome, &report))
            }
            Err(failure) => {
                journal.failed(&failure, warn);
                Err(failure)
            }
        }
    }

    fn drop<W: Workload>(
        &self,
        settings: &mut Settings,
        target: &Target,
    ) -> Result<Ended, Failure> {
        let force = settings.switch("force")?;
        let removed = drop_build::<W, _>(&target.database, force, target.connect_limit)?;
        Ok(complete(true, format!("dropped {}", removed.join(", ")), &removed))
    }

    fn run<W: Workload>(
        &self,
        settings: &mut Settings,
        target: &Target,
        store: Option<&mut Store>,
    ) -> Result<Ended, Failure> {
        let steps = self.steps();
        let resolved = Resolved::<W, _>::new(settings, target, &steps, false)?;
        let spec = resolved.spec();
        self.all.resolved(self.id, serde_json::to_value(spec).unwrap_or_default());
        let window = match spec.length {
            Length::Time(window) => Some(window.as_secs_f64()),
            Length::Transactions(_) => None,
        };
        let (users, rampup) = (spec.users, spec.rampup.as_secs_f64());
        self.all.change(self.id, |activity| {
            activity.users = Some(users);
            activity.rampup_s = Some(rampup);
            activity.window_s = window;
            activity.headline_name = Some(W::headline().name.to_owned());
        });
        let mut watch = Watch::new::<W>(self.all, self.id);
        let result = resolved.run(settings, store, &mut watch)?;
        Ok(ended(&result))
    }

    fn has_job(&self, journal: &Journal<'_>) {
        if let Some(job) = journal.job {
            self.all.change(self.id, |activity| activity.job = Some(job.0));
        }
    }
}

fn complete(good: bool, outcome: String, document: &impl Serialize) -> Ended {
    let document = serde_json::to_value(document).unwrap_or_default();
    Ended { state: ActivityState::Complete, good, outcome, headline_value: None, document }
}

/// How a run ended.
fn ended(result: &RunResult) -> Ended {
    let headline = &result.headline;
    let state = match result.status {
        Status::Complete => ActivityState::Complete,
        Status::Interrupted => ActivityState::Interrupted,
        Status::Aborted => ActivityState::Aborted,
        Status::Failed => ActivityState::Failed,
    };
    Ended {
        state,
        good: result.is_good(),
        outcome: format!("{:.0} {}", headline.value, headline.name),
        headline_value: Some(headline.value),
        document: serde_json::to_value(result).unwrap_or_default(),
    }
}

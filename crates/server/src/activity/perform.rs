//! Does an activity, on its own thread, by the runner.

use std::slice::from_ref;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use triphammer_core::spec::Length;
use triphammer_core::workload::Description;
use triphammer_runner::build::build;
use triphammer_runner::campaign::{self, Campaign, Question, Stopper};
use triphammer_runner::cancel::Cancel;
use triphammer_runner::capacity::{self, Capacity, CapacityResult};
use triphammer_runner::check::check;
use triphammer_runner::command::JobKind;
use triphammer_runner::compare::{self, ComparisonResult, Pairs};
use triphammer_runner::journal::Journal;
use triphammer_runner::profile::{self, Profile, ProfileResult};
use triphammer_runner::remove::drop_build;
use triphammer_runner::report::format;
use triphammer_runner::result::{RunResult, Status};
use triphammer_runner::run::Resolved;
use triphammer_runner::settings::Settings;
use triphammer_runner::store::Store;
use triphammer_runner::target::Target;
use triphammer_runner::{Failure, requests};

use super::ActivityState;
use super::form::Asked;
use super::queue::Activities;
use super::watch::{Steps, Watch, WatchSteps};
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
    workload: &'a Arc<Description>,
    cancel: &'a Cancel,
    stopper: &'a Stopper,
}

/// Does it.
pub fn perform(
    all: &Activities,
    id: u64,
    asked: &Asked,
    cancel: &Cancel,
    stopper: &Stopper,
) -> Result<Ended, ApiError> {
    let workload = &asked.workload;
    let work = Work { all, id, workload, cancel, stopper };
    let (mut settings, targets) = asked.open()?;
    let target = &targets[0];
    let mut store = open_store(&work, all);
    let done = match asked.form.command {
        JobKind::Build => work.build(&mut settings, target, store.as_mut()),
        JobKind::Check => work.check(&mut settings, target, store.as_mut()),
        JobKind::Drop => work.drop(&mut settings, target),
        JobKind::Run => work.run(&mut settings, target, store.as_mut()),
        JobKind::Profile => work.profile(&mut settings, target, store.as_mut()),
        JobKind::Capacity => work.capacity(&mut settings, target, store.as_mut()),
        JobKind::Compare => work.compare(&mut settings, &targets, store.as_mut()),
    };
    Ok(done?)
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

    fn build(
        &self,
        settings: &mut Settings,
        target: &Target,
        store: Option<&mut Store>,
    ) -> Result<Ended, Failure> {
        let mut request = requests::build(settings, self.workload, target)?;
        request.cancel = self.cancel.clone();
        let steps = self.steps();
        let warn = &mut |text: &str| steps.warn(text);
        let mut journal = Journal::of_build(store, target, &request, warn);
        self.has_job(&journal);
        match build(&target.database, &request, &steps) {
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

    fn check(
        &self,
        settings: &mut Settings,
        target: &Target,
        store: Option<&mut Store>,
    ) -> Result<Ended, Failure> {
        let mut request = requests::check(settings, self.workload, target)?;
        request.cancel = self.cancel.clone();
        let steps = self.steps();
        let warn = &mut |text: &str| steps.warn(text);
        let mut journal = Journal::of_check(store, self.workload, target, warn);
        self.has_job(&journal);
        match check(&target.database, &request, &steps) {
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

    fn drop(&self, settings: &mut Settings, target: &Target) -> Result<Ended, Failure> {
        let force = settings.switch("force")?;
        let removed = drop_build(self.workload, &target.database, force, target.connect_limit)?;
        Ok(complete(true, format!("dropped {}", removed.join(", ")), &removed))
    }

    fn run(
        &self,
        settings: &mut Settings,
        target: &Target,
        store: Option<&mut Store>,
    ) -> Result<Ended, Failure> {
        let steps = self.steps();
        let resolved = Resolved::new(settings, self.workload, target, &steps, false)?;
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
            activity.headline_name = Some(self.workload.headline.name.to_string());
        });
        let mut watch = Watch::new(self.all, self.id, self.workload);
        let result = resolved.run(settings, store, &mut watch)?;
        Ok(ended(&result))
    }

    fn profile(
        &self,
        settings: &mut Settings,
        target: &Target,
        store: Option<&mut Store>,
    ) -> Result<Ended, Failure> {
        let mut question = Profile::new(profile::Request::read(settings, target)?, self.workload);
        let ended = self.conduct(settings, from_ref(target), store, &mut question)?;
        Ok(of_campaign::<Profile>(&ended, ProfileResult::is_good))
    }

    fn capacity(
        &self,
        settings: &mut Settings,
        target: &Target,
        store: Option<&mut Store>,
    ) -> Result<Ended, Failure> {
        let request = capacity::Request::read(settings, self.workload, target)?;
        let mut question = Capacity::new(request, self.workload, settings)?;
        let ended = self.conduct(settings, from_ref(target), store, &mut question)?;
        Ok(of_campaign::<Capacity>(&ended, CapacityResult::is_good))
    }

    fn compare(
        &self,
        settings: &mut Settings,
        targets: &[Target],
        store: Option<&mut Store>,
    ) -> Result<Ended, Failure> {
        let request = compare::Request::read(settings, &self.workload.options, targets)?;
        let mut question = Pairs::new(request, settings.said("label").map(str::to_owned));
        let ended = self.conduct(settings, targets, store, &mut question)?;
        Ok(of_campaign::<Pairs>(&ended, ComparisonResult::is_good))
    }

    fn conduct<Q: Question>(
        &self,
        settings: &mut Settings,
        targets: &[Target],
        store: Option<&mut Store>,
        question: &mut Q,
    ) -> Result<campaign::Ended<Q::Document>, Failure> {
        let settle = settings.duration("settle", campaign::settle(targets[0].embedded))?;
        let campaign =
            Campaign { workload: self.workload, settings, targets, settle, resumed: None };
        self.all.change(self.id, |activity| {
            activity.headline_name = Some(self.workload.headline.name.to_string());
        });
        let mut watch = WatchSteps::new(self.all, self.id, self.workload);
        let ended =
            campaign.conduct::<Q>(question, store, self.stopper, &self.steps(), &mut watch)?;
        // What a search finds is another figure than that of its runs.
        if let Some((name, _)) = ended.document.as_ref().and_then(Q::headline) {
            self.all.change(self.id, |activity| activity.headline_name = Some(name));
        }
        Ok(ended)
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

/// How a campaign ended.
fn of_campaign<Q: Question>(
    ended: &campaign::Ended<Q::Document>,
    is_good: fn(&Q::Document) -> bool,
) -> Ended {
    let headline = ended.document.as_ref().and_then(Q::headline);
    let found = headline.as_ref().map(|(name, value)| format!("{} {name}", format::figure(*value)));
    let outcome = match (&ended.reason, found) {
        (Some(reason), _) => reason.clone(),
        (None, Some(found)) => found,
        (None, None) => "nothing was found".to_owned(),
    };
    Ended {
        state: state(ended.status),
        good: ended.status == Status::Complete && ended.document.as_ref().is_some_and(is_good),
        outcome,
        headline_value: headline.map(|(_, value)| value),
        document: serde_json::to_value(&ended.document).unwrap_or_default(),
    }
}

const fn state(status: Status) -> ActivityState {
    match status {
        Status::Complete => ActivityState::Complete,
        Status::Interrupted => ActivityState::Interrupted,
        Status::Aborted => ActivityState::Aborted,
        Status::Failed => ActivityState::Failed,
    }
}

/// How a run ended.
fn ended(result: &RunResult) -> Ended {
    let headline = &result.headline;
    Ended {
        state: state(result.status),
        good: result.is_good(),
        outcome: format!("{:.0} {}", headline.value, headline.name),
        headline_value: Some(headline.value),
        document: serde_json::to_value(result).unwrap_or_default(),
    }
}

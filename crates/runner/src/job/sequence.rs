//! Campaigns as jobs: `profile`, `capacity`, `compare --ab`, `matrix`, and any other [`Question`].

use std::time::Duration;

use triphammer_document::Document;
use triphammer_document::result::FingerprintDepth;
use triphammer_observe::doctor::HostChange;
use triphammer_settings::failure::Failure;

use super::{FinishedJob, Job, Preview, Work};
use crate::campaign::{Campaign, CoolDown, Question, RecordedRuns, answer};
use crate::compare::host_setting;
use crate::restore::RestorePlan;
use crate::run::validate;
use crate::state::Preparation;
use crate::step::Begin;
use crate::watch::{Watch, Watcher};

impl<Q: Question> Work for Q
where
    Document: From<Q::Document>,
{
    fn preview(job: &mut Job, watch: &Watch<'_>) -> Result<Preview, Failure> {
        let (question, around) = ask::<Q>(job)?;
        let campaign = campaign(job, &around, None);
        let trials = question.trials();
        let mut each = Duration::ZERO;
        let resolved = trials.iter().map(|trial| {
            let (settings, resolved) = campaign.resolve(&question, trial, watch, true)?;
            each = each.max(around.cool_down.most + resolved.longest());
            Ok((settings, resolved.spec().clone()))
        });
        let resolved = resolved.collect::<Result<_, Failure>>()?;
        let (runs, at_most) = (question.runs(), question.at_most());
        let whole = Begin { runs, at_most, done: 0, each };
        Ok(Preview { runs: resolved, whole: Some(whole) })
    }

    fn validate(job: &mut Job) -> Result<(), Failure> {
        let (question, _) = ask::<Q>(job)?;
        for trial in question.trials() {
            let mut settings = job.settings.of_run(&trial.settings);
            validate(&mut settings, &job.workload, &job.targets[trial.target])?;
        }
        Ok(())
    }

    fn answer_again(job: &mut Job, runs: &RecordedRuns) -> Result<Option<Document>, Failure> {
        let (question, _) = ask::<Q>(job)?;
        Ok(answer(question, runs).map(Document::from))
    }

    fn run(job: &mut Job, watcher: &mut dyn Watcher) -> Result<FinishedJob, Failure> {
        let watch = &Watch::new(watcher);
        let (mut question, around) = ask::<Q>(job)?;
        let mut store = job.open_store(watch)?;
        let host = host_setting::begin(&mut job.settings, &job.targets[0], &job.handle)?;
        let campaign = campaign(job, &around, host.as_ref());
        let answered = campaign.conduct(&mut question, store.as_mut(), &job.handle, watch);
        match host.map(HostChange::end) {
            Some(Ok(restored)) => watch.note(&restored),
            Some(Err(why)) => watch.warn(&why),
            None => {}
        }
        let answered = answered?;
        Ok(FinishedJob {
            document: answered.document.map(Document::from),
            status: answered.status,
            job: answered.job,
            is_stored: answered.is_stored,
            reason: answered.reason,
            outputs: None,
        })
    }
}

/// What surrounds the runs of a campaign.
struct Around {
    cool_down: CoolDown,
    restore: Option<RestorePlan>,
    depth: Option<FingerprintDepth>,
}

/// Creates the question, and reads what surrounds its runs.
fn ask<Q: Question>(job: &mut Job) -> Result<(Q, Around), Failure> {
    let question = Q::ask(&mut job.settings, &job.workload, &job.targets)?;
    let cool_down = CoolDown::read(&mut job.settings, &job.targets[0])?;
    let restore = RestorePlan::read(&mut job.settings)?;
    let depth = Preparation::read(&mut job.settings)?.depth;
    Ok((question, Around { cool_down, restore, depth }))
}

const fn campaign<'a>(
    job: &'a Job,
    around: &'a Around,
    host: Option<&'a HostChange>,
) -> Campaign<'a> {
    let Around { cool_down, restore, depth } = around;
    Campaign {
        kind: job.kind,
        workload: &job.workload,
        settings: &job.settings,
        targets: job.targets.as_slice(),
        cool_down: *cool_down,
        host,
        restore: restore.as_ref(),
        depth: *depth,
        resumed: job.resumed.as_ref(),
    }
}

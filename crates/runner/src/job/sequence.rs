//! Campaigns as jobs: `profile`, `capacity`, `compare --ab`, `matrix`, and any other [`Question`].

use std::time::Duration;

use triphammer_document::Document;
use triphammer_settings::failure::Failure;

use super::{FinishedJob, Job, Preview, Work};
use crate::campaign::{Campaign, CoolDown, Question, RecordedRuns, answer};
use crate::run::validate;
use crate::step::Begin;
use crate::watch::{Watch, Watcher};

impl<Q: Question> Work for Q
where
    Document: From<Q::Document>,
{
    fn preview(job: &mut Job, watch: &Watch<'_>) -> Result<Preview, Failure> {
        let (question, cool_down) = ask::<Q>(job)?;
        let campaign = campaign(job, cool_down);
        let trials = question.trials();
        let mut each = Duration::ZERO;
        let resolved = trials.iter().map(|trial| {
            let (settings, resolved) = campaign.resolve(&question, trial, watch, true)?;
            each = each.max(cool_down.most + resolved.longest());
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
        let (mut question, cool_down) = ask::<Q>(job)?;
        let mut store = job.open_store(watch)?;
        let campaign = campaign(job, cool_down);
        let answered = campaign.conduct(&mut question, store.as_mut(), &job.handle, watch)?;
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

/// Creates the question, and reads the pause between two runs.
fn ask<Q: Question>(job: &mut Job) -> Result<(Q, CoolDown), Failure> {
    let question = Q::ask(&mut job.settings, &job.workload, &job.targets)?;
    Ok((question, CoolDown::read(&mut job.settings, &job.targets[0])?))
}

const fn campaign(job: &Job, cool_down: CoolDown) -> Campaign<'_> {
    Campaign {
        kind: job.kind,
        workload: &job.workload,
        settings: &job.settings,
        targets: job.targets.as_slice(),
        cool_down,
        resumed: job.resumed.as_ref(),
    }
}

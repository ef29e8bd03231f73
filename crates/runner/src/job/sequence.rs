//! Campaigns as jobs: `profile`, `capacity`, `compare --ab`, and any other [`Question`].

use std::time::Duration;

use super::{Document, Finished, Job, Preview, Work};
use crate::campaign::{self, Campaign, Question};
use crate::failure::Failure;
use crate::watch::{Watch, Watcher};

impl<Q: Question> Work for Q
where
    Document: From<Q::Document>,
{
    fn preview(job: &mut Job, watch: &Watch<'_>) -> Result<Preview, Failure> {
        let (question, cool_down) = ask::<Q>(job)?;
        let campaign = campaign(job, cool_down);
        let trials = question.trials();
        let runs = trials.iter().map(|trial| {
            let (settings, resolved) = campaign.resolve(trial, watch, true)?;
            Ok((settings, resolved.spec().clone()))
        });
        Ok(Preview { runs: runs.collect::<Result<_, Failure>>()? })
    }

    fn run(job: &mut Job, watcher: &mut dyn Watcher) -> Result<Finished, Failure> {
        let watch = &Watch::new(watcher);
        let (mut question, cool_down) = ask::<Q>(job)?;
        let mut store = job.open_store(watch)?;
        let campaign = campaign(job, cool_down);
        let answered = campaign.conduct(&mut question, store.as_mut(), &job.handle, watch)?;
        Ok(Finished {
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
fn ask<Q: Question>(job: &mut Job) -> Result<(Q, Duration), Failure> {
    let question = Q::ask(&mut job.settings, &job.workload, &job.targets)?;
    let cool_down = campaign::cool_down(job.targets[0].embedded);
    Ok((question, job.settings.duration("cool-down", cool_down)?))
}

const fn campaign(job: &Job, cool_down: Duration) -> Campaign<'_> {
    Campaign {
        kind: job.kind,
        workload: &job.workload,
        settings: &job.settings,
        targets: job.targets.as_slice(),
        cool_down,
        resumed: job.resumed.as_ref(),
    }
}

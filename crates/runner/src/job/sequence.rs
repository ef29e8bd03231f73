//! A campaign as a job: `profile`, `capacity`, `compare --ab`, and whatever else asks a [`Question`].

use std::time::Duration;

use super::{Finished, Job, Preview, Work};
use crate::campaign::{self, Campaign, Question};
use crate::failure::Failure;
use crate::watch::{Watch, Watcher};

pub(super) const fn work<Q: Question>() -> Work {
    Work { preview: preview::<Q>, run: run::<Q> }
}

/// The question, and the rest between two runs.
fn ask<Q: Question>(job: &mut Job) -> Result<(Q, Duration), Failure> {
    let question = Q::ask(&mut job.settings, &job.workload, &job.targets)?;
    let cool_down = campaign::cool_down(job.targets[0].embedded);
    Ok((question, job.settings.duration("cool-down", cool_down)?))
}

fn preview<Q: Question>(job: &mut Job, watch: &Watch<'_>) -> Result<Preview, Failure> {
    let (question, cool_down) = ask::<Q>(job)?;
    let campaign = campaign(job, cool_down);
    let trials = question.trials();
    let runs = trials.iter().map(|trial| {
        let (settings, resolved) = campaign.resolve(trial, watch, true)?;
        Ok((settings, resolved.spec().clone()))
    });
    Ok(Preview { runs: runs.collect::<Result<_, Failure>>()? })
}

fn run<Q: Question>(job: &mut Job, watcher: &mut dyn Watcher) -> Result<Finished, Failure> {
    let watch = &Watch::new(watcher);
    let (mut question, cool_down) = ask::<Q>(job)?;
    let mut store = job.open_store(watch)?;
    campaign(job, cool_down).conduct(&mut question, store.as_mut(), &job.handle, watch)
}

const fn campaign(job: &Job, cool_down: Duration) -> Campaign<'_> {
    Campaign {
        workload: &job.workload,
        settings: &job.settings,
        targets: job.targets.as_slice(),
        cool_down,
        resumed: job.resumed.as_ref(),
    }
}

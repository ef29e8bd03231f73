//! `compare` of stored jobs: makes no runs and stores nothing.

use triphammer_core::SpecError;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::{Mark, Settings, Source, is};

use super::{FinishedJob, Job, Preview, stored};
use crate::compare;
use crate::watch::{Watch, Watcher};

pub(super) fn preview(job: &mut Job, _: &Watch<'_>) -> Result<Preview, Failure> {
    refuse_settings_of_runs(&job.settings)?;
    compare::margin(&mut job.settings)?;
    Ok(Preview::default())
}

pub(super) fn run(job: &mut Job, _: &mut dyn Watcher) -> Result<FinishedJob, Failure> {
    refuse_settings_of_runs(&job.settings)?;
    let margin = compare::margin(&mut job.settings)?;
    let settings = &job.settings;
    let (Some(a), Some(b)) = (settings.get("target"), settings.get("other")) else {
        return Err(Failure::refuse(
            "nothing to compare: give two jobs or two labels, or --ab and one or two targets to run",
        ));
    };
    let store = stored(settings, job.store.as_ref())?;
    let result = compare::stored(&store, a, b, margin)?;
    let demand = compare::demand(&mut job.settings)?;
    if demand.not_slower && !result.can_decide() {
        return Err(Failure::refuse(match &result.profiles {
            Some(_) => format!("--fail-if-slower: {}", result.words),
            None => {
                "--fail-if-slower needs at least two runs of each side, better five, because a \
                     single run cannot show how much runs vary; label the runs of each side and \
                     compare the labels, or make pairs of runs with --ab"
                    .to_owned()
            }
        }));
    }
    Ok(FinishedJob::unstored(result.judged_by(demand)))
}

/// Rejects a comparison in pairs whose sides are the same, unless the target is given twice: that
/// measures the noise.
pub(super) fn refuse_one_side(settings: &Settings) -> Result<(), Failure> {
    let is_pairs = settings.command() == JobKind::Compare.into();
    if !is_pairs || ["other", "a", "b"].iter().any(|name| settings.get(name).is_some()) {
        return Ok(());
    }
    let message = "A and B are the same: give a second target, or settings in which they differ with \
                   --a and --b; to measure the noise of A against A, name the target twice: compare \
                   --ab URL URL";
    Err(SpecError::new(message).about("other").into())
}

/// `--replay FILE` stands for pairs of runs that replay the recording.
pub(super) fn replay_in_pairs(settings: &mut Settings) {
    let Some(file) = settings.get("replay").map(str::to_owned) else { return };
    let source = settings.source("replay");
    settings.set("ab", "true", source.clone());
    settings.set("load", format!("replay:{file}"), source);
}

/// Rejects flags of runs: they have no effect on stored runs.
fn refuse_settings_of_runs(settings: &Settings) -> Result<(), Failure> {
    let is_given = |source: &Source| matches!(source, Source::Flag | Source::Call);
    let mut flags = settings.all_given().filter(|(.., source)| is_given(source));
    let of_stored = |name: &str| is(JobKind::Compare, name, Mark::OfStored) || name == "ab";
    match flags.find(|(name, ..)| !of_stored(name)) {
        None => Ok(()),
        Some((name, ..)) => {
            Err(Failure::refuse(format!("--{name} applies to new runs only: add --ab")))
        }
    }
}

//! `compare` of stored jobs: makes no runs and stores nothing.

use super::{Finished, Job, Preview, stored};
use crate::command::JobKind;
use crate::compare;
use crate::failure::Failure;
use crate::settings::{Mark, Settings, Source, is};
use crate::watch::{Watch, Watcher};

pub(super) fn preview(job: &mut Job, _: &Watch<'_>) -> Result<Preview, Failure> {
    refuse_settings_of_runs(&job.settings)?;
    compare::margin(&mut job.settings)?;
    Ok(Preview::default())
}

pub(super) fn run(job: &mut Job, _: &mut dyn Watcher) -> Result<Finished, Failure> {
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
    Ok(Finished::unstored(result))
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

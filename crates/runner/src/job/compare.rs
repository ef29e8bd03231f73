//! `compare` of stored jobs: makes no runs and stores nothing.

use std::path::Path;

use triphammer_core::SpecError;
use triphammer_document::price::PriceList;
use triphammer_document::redacted::mask_secrets;
use triphammer_drivers::SCHEMES;
use triphammer_settings::command::JobKind;
use triphammer_settings::failure::Failure;
use triphammer_settings::{Mark, REPEATED, Settings, Source, is};

use super::{FinishedJob, Job, Preview, stored};
use crate::compare;
use crate::price::{self, PRICE};
use crate::watch::{Watch, Watcher};

pub(super) fn preview(job: &mut Job, _: &Watch<'_>) -> Result<Preview, Failure> {
    refuse_settings_of_runs(&job.settings)?;
    side_prices(&job.settings)?;
    compare::margin(&mut job.settings)?;
    Ok(Preview::default())
}

pub(super) fn run(job: &mut Job, _: &mut dyn Watcher) -> Result<FinishedJob, Failure> {
    refuse_settings_of_runs(&job.settings)?;
    let margin = compare::margin(&mut job.settings)?;
    let settings = &job.settings;
    let (Some(a), Some(b)) = (settings.get("target"), settings.get("other")) else {
        return Err(Failure::refuse(
            "nothing to compare: give two jobs, two labels, or one or two targets to run",
        ));
    };
    refuse_target_beside_job(a, b)?;
    let prices = side_prices(settings)?;
    let store = stored(settings, job.store.as_ref())?;
    let result = compare::stored(&store, [a, b], margin, prices)?;
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
    if !is_pairs || ["other", "a", "b", "prove"].iter().any(|name| settings.get(name).is_some()) {
        return Ok(());
    }
    let message = "A and B are the same: give a second target, or settings in which they differ with \
                   --a and --b; to measure the noise of A against A, name the target twice: compare \
                   --ab URL URL";
    Err(SpecError::new(message).about("other").into())
}

/// `--replay FILE` stands for pairs of runs that replay the recording.
///
/// # Errors
/// When another load is given, too.
pub(super) fn replay_in_pairs(settings: &mut Settings) -> Result<(), SpecError> {
    let Some(file) = settings.get("replay").map(str::to_owned) else { return Ok(()) };
    let load = format!("replay:{file}");
    if let Some(other) = settings.get("load").filter(|other| *other != load) {
        let message = format!("--load {other} and --replay {file} are two loads: give one of them");
        return Err(SpecError::new(message).about("replay"));
    }
    let source = settings.source("replay");
    settings.set("ab", "true", source.clone());
    settings.set("load", load, source);
    Ok(())
}

/// `--duet` and `--prove` stand for pairs of runs, too; `--interleave` is one of their settings.
///
/// # Errors
/// When the setting is invalid, or `--interleave` is given without pairs.
pub(super) fn at_once_in_pairs(settings: &mut Settings) -> Result<(), SpecError> {
    if settings.command() != JobKind::Compare.into() {
        return Ok(());
    }
    let is_duet = settings.switch("duet")?;
    if is_duet || settings.get("prove").is_some() {
        let source = settings.source(if is_duet { "duet" } else { "prove" });
        settings.set("ab", "true", source);
    }
    Ok(())
}

/// Two targets, or one with settings of the sides, stand for new runs; stored jobs and labels are no
/// URLs. Returns whether the way of the comparison is to be chosen, because none is given.
pub(super) fn targets_in_pairs(settings: &mut Settings) -> bool {
    let is_target = |name| settings.get(name).is_none_or(is_target_url);
    let is_asked = settings.command() == JobKind::Compare.into()
        && settings.get("ab").is_none()
        && settings.get("target").is_some()
        && ["target", "other"].into_iter().all(is_target);
    if is_asked {
        settings.set("ab", "true", Source::Default);
    }
    is_asked
}

/// Rejects a database beside a stored job: new runs would be compared with old ones.
fn refuse_target_beside_job(a: &str, b: &str) -> Result<(), Failure> {
    let Some(target) = [a, b].into_iter().find(|side| is_target_url(side)) else { return Ok(()) };
    Err(Failure::refuse(format!(
        "{} is a database, and the other side is a stored job or a label: give two databases to make runs \
         on both, or make a run first and compare its job",
        mask_secrets(target)
    )))
}

/// Whether a text is a database's URL.
fn is_target_url(text: &str) -> bool {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| SCHEMES.iter().any(|names| names.contains(&&*scheme)))
}

/// The price lists that stored runs of A and of B are compared by, instead of their own: those of
/// `--price`, and of `--a price=FILE` and `--b price=FILE`.
fn side_prices(settings: &Settings) -> Result<[Option<PriceList>; 2], Failure> {
    let both = price::read(settings)?;
    let of = |side: &str| -> Result<Option<PriceList>, Failure> {
        let given = settings.get(side).unwrap_or_default();
        let own = given.split(REPEATED).find_map(|text| price_of(text));
        let own = own.map(|path| price::read_file(Path::new(path))).transpose()?;
        Ok(own.or_else(|| both.clone()))
    };
    Ok([of("a")?, of("b")?])
}

/// The file of `price=FILE`.
fn price_of(text: &str) -> Option<&str> {
    let (name, value) = text.split_once('=')?;
    (name.trim().trim_start_matches("--") == PRICE).then(|| value.trim())
}

/// Rejects flags of runs: they have no effect on stored runs.
fn refuse_settings_of_runs(settings: &Settings) -> Result<(), Failure> {
    let is_given = |source: &Source| matches!(source, Source::Flag | Source::Call);
    let mut flags = settings.all_given().filter(|(.., source)| is_given(source));
    let has_prices = |value: &str| value.split(REPEATED).all(|text| price_of(text).is_some());
    let of_stored = |name: &str, value: &str| match name {
        "a" | "b" => has_prices(value),
        name => is(JobKind::Compare, name, Mark::OfStored) || name == "ab",
    };
    match flags.find(|(name, value, _)| !of_stored(name, value)) {
        None => Ok(()),
        Some((name, ..)) => Err(Failure::refuse(format!(
            "--{name} applies to new runs only: give targets as A and B"
        ))),
    }
}

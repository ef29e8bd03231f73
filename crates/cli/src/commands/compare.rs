//! `triphammer compare`.

use std::sync::Arc;

use triphammer_core::workload::Description;
use triphammer_runner::campaign::Resumed;
use triphammer_runner::command::JobKind;
use triphammer_runner::compare::{self, ComparisonResult, Pairs, Request};
use triphammer_runner::report::{self, Format};
use triphammer_runner::settings::{Mark, Settings, Source, is};
use triphammer_runner::{Failure, requests};

use super::{campaign, open, print, stored};
use crate::{Exit, Result, terminal};

/// Compares.
pub fn command(settings: &mut Settings) -> Result<Exit> {
    let resumed = campaign::resumed(settings)?;
    if let Some(resumed) = &resumed {
        settings.clone_from(&resumed.settings);
    }
    if resumed.is_none() && !settings.switch("ab")? {
        return of_the_store(settings);
    }
    let workload = requests::workload(settings)?;
    in_pairs(settings, &workload, resumed.as_ref())
}

/// Compares stored jobs.
fn of_the_store(settings: &mut Settings) -> Result<Exit> {
    refuse_settings_of_runs(settings)?;
    let (Some(a), Some(b)) = (settings.said("target"), settings.said("other")) else {
        return Err(Failure::refuse(
            "say what to compare: two jobs or two labels; or --ab and a target or two, to make the runs",
        ));
    };
    let (a, b) = (a.to_owned(), b.to_owned());
    let margin = compare::margin(settings)?;
    let format = format(settings)?;
    let result = compare::stored(&stored(settings)?, &a, &b, margin)?;
    if settings.switch("fail-if-slower")? && !result.can_decide() {
        return Err(Failure::refuse(
            "--fail-if-slower needs two runs or more of each side, better five: one run cannot show how \
             much runs differ; give several runs a label each side and compare the labels, or make \
             pairs of runs with --ab",
        ));
    }
    show(&result, format)?;
    Ok(if passes(settings, &result)? { Exit::Done } else { Exit::CheckFailed })
}

/// What is said of runs on the command line has no meaning for runs that were made long ago.
fn refuse_settings_of_runs(settings: &Settings) -> Result<()> {
    let mut flags = settings.all_said().filter(|(.., source)| **source == Source::Flag);
    match flags.find(|(name, ..)| !is(JobKind::Compare, name, Mark::OfStored) && *name != "ab") {
        None => Ok(()),
        Some((name, ..)) => {
            let message = format!("--{name} is of runs to be made: it needs --ab");
            Err(Failure::refuse(message))
        }
    }
}

/// Makes the runs, and compares them.
fn in_pairs(
    settings: &mut Settings,
    workload: &Arc<Description>,
    resumed: Option<&Resumed>,
) -> Result<Exit> {
    let [mut a, mut b] = compare::sides([settings, &settings.of_other()], &workload.options)?;
    let targets = [open(&mut a, workload)?, open(&mut b, workload)?];
    let request = Request::read(settings, &workload.options, &targets)?;
    let format = format(settings)?;
    let mut question = Pairs::new(request, settings.said("label").map(str::to_owned));
    let Some(ended) = campaign::conduct(settings, workload, &targets, resumed, &mut question)?
    else {
        return Ok(Exit::Done);
    };
    let mut is_good = false;
    if let Some(result) = &ended.document {
        show(result, format)?;
        is_good = passes(settings, result)? && result.is_good();
    }
    let as_text = format == Format::Text;
    campaign::exit(&ended, "compare", !as_text, is_good)
}

fn format(settings: &mut Settings) -> Result<Format> {
    if settings.switch("json")? {
        return Ok(Format::Json);
    }
    let read = |text: &str| match text.parse()? {
        format @ (Format::Text | Format::Markdown | Format::Json) => Ok(format),
        other => Err(format!("a comparison has no {other}; there are text, markdown and json")),
    };
    Ok(settings.read("format", read, Format::to_string, || Format::Text)?)
}

fn show(result: &ComparisonResult, format: Format) -> Result<()> {
    print(&match format {
        Format::Json => report::json_pretty(result),
        Format::Markdown => report::comparison_markdown(result),
        _ => report::comparison(result, campaign::charset()),
    })
}

/// Whether the verdict is one that may pass.
fn passes(settings: &mut Settings, result: &ComparisonResult) -> Result<bool> {
    let if_slower = settings.switch("fail-if-slower")?;
    let if_inconclusive = settings.switch("fail-if-inconclusive")?;
    if if_slower && !if_inconclusive && result.is_inconclusive() {
        terminal::warn(
            "it is not known whether B is slower, and that passes; --fail-if-inconclusive makes it fail",
        );
    }
    Ok(!(if_slower && result.is_slower() || if_inconclusive && result.is_inconclusive()))
}

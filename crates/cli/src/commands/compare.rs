//! The parts specific to `triphammer compare`: its formats, and which verdicts pass.

use triphammer_runner::Failure;
use triphammer_runner::compare::ComparisonResult;
use triphammer_runner::document::JobDocument as _;
use triphammer_runner::report::{FORMATS, Format};
use triphammer_runner::settings::Settings;

use crate::{Result, terminal};

/// Reads the format in which to print the comparison.
pub fn format(settings: &mut Settings) -> Result<Format> {
    let read = |text: &str| {
        let format: Format = text.parse()?;
        if format.declared().is_printed {
            return Ok(format);
        }
        let names = FORMATS.iter().filter(|known| known.is_printed).map(|known| known.name);
        let names: Vec<_> = names.collect();
        Err(format!("cannot print a comparison as {format}; use one of {}", names.join(", ")))
    };
    Ok(settings.read("format", read, Format::to_string, || Format::Text)?)
}

/// Whether the verdict passes and the runs made for it were successful.
///
/// # Errors
/// When `--fail-if-slower` is given and the runs cannot decide whether B is slower.
pub fn is_good(settings: &mut Settings, result: &ComparisonResult) -> Result<bool> {
    let if_slower = settings.switch("fail-if-slower")?;
    let if_inconclusive = settings.switch("fail-if-inconclusive")?;
    if if_slower && result.pairs.is_none() && !result.can_decide() {
        return Err(Failure::refuse(
            "--fail-if-slower needs at least two runs of each side, better five, because a single \
             run cannot show how much runs vary; label the runs of each side and compare the \
             labels, or make pairs of runs with --ab",
        ));
    }
    if if_slower && !if_inconclusive && result.is_inconclusive() {
        terminal::warn(
            "the comparison is inconclusive, so the exit code is 0; --fail-if-inconclusive makes \
             it 1",
        );
    }
    let fails = if_slower && result.is_slower() || if_inconclusive && result.is_inconclusive();
    Ok(!fails && (result.pairs.is_none() || result.is_good()))
}

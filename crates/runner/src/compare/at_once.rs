//! The settings of pairs whose runs take place at once.

use std::time::Duration;

use triphammer_core::SpecError;
use triphammer_core::clock::{format_duration, parse_duration};
use triphammer_settings::Settings;

use crate::run::{AtOnceWay, SLICE_MAX_S};

/// Reads how the runs of a pair take place at once; `None` for one after the other.
///
/// # Errors
/// When a value is invalid, or both ways were asked for.
pub(super) fn way(settings: &mut Settings) -> Result<Option<AtOnceWay>, SpecError> {
    let is_duet = settings.switch("duet")?;
    let show = |slice_s: &u64| format_duration(Duration::from_secs(*slice_s));
    let absent = "runs one after the other";
    let slice_s = settings.optional("interleave", parse_slice, show, absent)?;
    match (is_duet, slice_s) {
        (true, Some(_)) => {
            let message = "--duet lets both sides work at every moment, and --interleave one at a time: \
                           give one of them";
            Err(SpecError::new(message).about("interleave"))
        }
        (true, None) => Ok(Some(AtOnceWay::Duet)),
        (false, slice_s) => Ok(slice_s.map(AtOnceWay::Interleaved)),
    }
}

fn parse_slice(text: &str) -> Result<u64, String> {
    let slice = parse_duration(text)?;
    let seconds = slice.as_secs();
    if slice.subsec_nanos() != 0 || !(1..=SLICE_MAX_S).contains(&seconds) {
        let most = format_duration(Duration::from_secs(SLICE_MAX_S));
        return Err(format!("slices last whole seconds, from 1s to {most}, such as 10s"));
    }
    Ok(seconds)
}

/// Rejects what cannot be combined with runs at once.
///
/// # Errors
/// With the setting and what to do.
pub(super) fn refuse(
    way: Option<AtOnceWay>,
    settings: &Settings,
    has_levels: bool,
    pairs: u32,
) -> Result<(), SpecError> {
    let Some(way) = way else { return Ok(()) };
    let name = way.setting();
    let refused =
        |about: &str, why: &str| Err(SpecError::new(format!("--{name} and {why}")).about(about));
    if has_levels {
        return refused(
            "vus",
            "several levels exclude each other: give one number of virtual users",
        );
    }
    if settings.get("cluster").is_some() {
        return refused("cluster", "--cluster exclude each other: one process drives both sides");
    }
    if settings.get("until-ci").is_some() && pairs > 1 {
        return refused("until-ci", "--until-ci end a single pair: omit --pairs");
    }
    Ok(())
}

/// Settings that both runs of a pair at once share.
const OF_BOTH: [&str; 5] = ["duration", "rampup", "load", "seed", "until-ci"];

/// Rejects settings of one side that both runs of a pair at once share.
///
/// # Errors
/// With the setting.
pub(super) fn refuse_own(
    way: Option<AtOnceWay>,
    own: &[Vec<(String, String)>; 2],
) -> Result<(), SpecError> {
    let mut names = own.iter().flatten().map(|(name, _)| name.as_str());
    match (way, names.find(|name| OF_BOTH.contains(name))) {
        (Some(way), Some(name)) => Err(SpecError::new(format!(
            "--{}: both sides have the same {name}: give --{name} instead of --a or --b",
            way.setting()
        ))
        .about(name)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_whole_seconds() {
        assert_eq!(parse_slice("10s"), Ok(10));
        assert_eq!(parse_slice("1h"), Ok(3_600));
        for bad in ["0s", "500ms", "1.5s", "2h", "10", "ten"] {
            assert!(parse_slice(bad).is_err(), "{bad}");
        }
    }
}

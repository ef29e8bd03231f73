//! A stretch of a run, as users name it: `3m10s..3m40s`.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;

use triphammer_core::clock::{format_duration, parse_duration};
use triphammer_settings::failure::Failure;

use crate::job_id::JobId;
use crate::result::RunResult;

/// A stretch of a run on its time axis, in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First second, counted from the start of the run.
    pub from: u64,
    /// End second, exclusive.
    pub to: u64,
}

impl Stretch {
    /// The seconds of the stretch.
    ///
    /// # Errors
    /// When the run does not have them.
    pub fn within(self, job: JobId, result: &RunResult) -> Result<Range<u64>, Failure> {
        let end = whole(result.durations.whole_s.ceil());
        if self.from < end && self.to <= end {
            return Ok(self.from..self.to);
        }
        let end = format_duration(Duration::from_secs(end));
        Err(Failure::refuse(format!(
            "--at {self} is not in the run: job {job} lasted {end}, ramp-up and drain included"
        )))
    }
}

impl FromStr for Stretch {
    type Err = String;

    /// Parses two durations since the start of the run; parts of seconds are rounded outwards.
    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = text.trim().split_once("..").ok_or_else(|| {
            format!("invalid stretch `{text}`: expected two times such as 3m10s..3m40s")
        })?;
        let from = parse_duration(from)?.as_secs();
        let to = whole(parse_duration(to)?.as_secs_f64().ceil());
        if from >= to {
            return Err(format!("invalid stretch `{text}`: its end must be after its start"));
        }
        Ok(Self { from, to })
    }
}

impl fmt::Display for Stretch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, to] = [self.from, self.to].map(|s| format_duration(Duration::from_secs(s)));
        write!(f, "{from}..{to}")
    }
}

/// The complete seconds of the timed window.
pub fn window(result: &RunResult) -> Range<u64> {
    let from = result.durations.rampup_s;
    whole(from.round())..whole(from + result.durations.window_s + 1e-3)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a run")]
pub(super) const fn whole(seconds: f64) -> u64 {
    seconds as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_two_times() {
        let parse = |text: &str| text.parse::<Stretch>();
        assert_eq!(parse("3m10s..3m40s"), Ok(Stretch { from: 190, to: 220 }));
        assert_eq!(parse("1.5s .. 4.5s"), Ok(Stretch { from: 1, to: 5 }));
        for (wrong, reason) in [
            ("3m10s", "such as 3m10s..3m40s"),
            ("40s..10s", "after its start"),
            ("5s..5s", "after its start"),
            ("5..9", "with a unit"),
            ("..9s", "with a unit"),
        ] {
            assert!(parse(wrong).unwrap_err().contains(reason), "{wrong}: {:?}", parse(wrong));
        }
    }
}

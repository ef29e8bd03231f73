//! The file of a load in steps: a rate and a duration per line.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RATE_MAX;
use crate::clock::{DurationText, parse_duration};

/// A rate of arrivals that holds for a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateStep {
    /// Arrivals per second; 0 for a pause.
    #[schemars(range(min = 0.0))]
    pub per_second: f64,
    /// How long the rate holds.
    #[serde(with = "DurationText")]
    pub lasts: Duration,
}

/// Reads steps from CSV: a rate per second and a duration per line, such as `500,30s`. Empty lines,
/// those that begin with `#`, and a first line of words are ignored.
///
/// # Errors
/// With the number of the first invalid line.
pub fn read_steps(text: &str) -> Result<Vec<RateStep>, String> {
    let mut steps = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let is_heading = steps.is_empty() && !line.contains(|c: char| c.is_ascii_digit());
        if line.is_empty() || line.starts_with('#') || is_heading {
            continue;
        }
        steps.push(read_step(line).map_err(|why| format!("line {number}: {why}"))?);
    }
    match steps.iter().any(|step| step.per_second > 0.0) {
        true => Ok(steps),
        false => Err("no line gives a rate: expected lines such as `500,30s`".to_owned()),
    }
}

fn read_step(line: &str) -> Result<RateStep, String> {
    let wrong = || {
        format!(
            "invalid step `{line}`: expected a rate per second and a duration, such as `500,30s`"
        )
    };
    let (rate, lasts) = line.split_once(',').ok_or_else(wrong)?;
    let rate = rate.trim().trim_end_matches("/s");
    let per_second: f64 = rate.parse().map_err(|_| wrong())?;
    if !(0.0..=RATE_MAX).contains(&per_second) {
        return Err(format!(
            "invalid rate {rate}: must be from 0 to {RATE_MAX} arrivals per second"
        ));
    }
    let lasts = parse_duration(lasts)?;
    if lasts.is_zero() { Err(wrong()) } else { Ok(RateStep { per_second, lasts }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_durations_are_read() {
        let steps =
            read_steps("rate,duration\n# slow\n100,30s\n\n 2000/s , 1m30s\n0,5s\n").unwrap();
        let read: Vec<_> = steps.iter().map(|s| (s.per_second, s.lasts.as_secs())).collect();
        assert_eq!(read, [(100.0, 30), (2000.0, 90), (0.0, 5)]);
    }

    #[test]
    fn a_line_that_is_no_step_is_named() {
        for (text, message) in [
            ("100,30s\n200", "line 2: invalid step `200`: expected a rate"),
            ("100,30s\nfast,10s", "line 2: invalid step `fast,10s`"),
            ("100,soon", "line 1: invalid duration `soon`"),
            ("\n-5,1s", "line 2: invalid rate -5"),
            ("1e9,1s", "line 1: invalid rate 1e9"),
            ("nan,1s", "line 1: "),
            ("5,0s", "line 1: invalid step `5,0s`"),
            ("", "no line gives a rate"),
            ("rate,duration\n0,10s", "no line gives a rate"),
        ] {
            let error = read_steps(text).unwrap_err();
            assert!(error.contains(message), "{text:?}: {error}");
        }
    }
}

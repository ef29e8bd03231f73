//! The file of a load in steps: a rate and a duration per line.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RATE_MAX;
use crate::clock::{DurationText, format_duration, parse_duration};

/// How long the last rate of a list of changes is written to last: it holds.
const LAST: Duration = Duration::from_secs(1);

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

/// Reads rates that change at given times after the start of the timed window, such as
/// `500/s,at=2m,rate=2000/s,at=5m,rate=0`; the parts are joined by commas or spaces. The last rate
/// holds.
///
/// # Errors
/// With what is wrong, and an example.
pub fn read_changes(text: &str) -> Result<Vec<RateStep>, String> {
    let wrong = |what: String| {
        format!("{what}: expected rates and times such as rate:500/s,at=2m,rate=2000/s")
    };
    let rate = |text: &str| {
        let number: Option<f64> = text.strip_suffix("/s").unwrap_or(text).parse().ok();
        let rate = number.filter(|rate| (0.0..=RATE_MAX).contains(rate));
        rate.ok_or_else(|| wrong(format!("invalid rate `{text}`")))
    };
    let mut parts = text.split([',', ' ']).filter(|part| !part.is_empty());
    let mut current = rate(parts.next().unwrap_or_default())?;
    let mut since = Duration::ZERO;
    let mut steps = Vec::new();
    while let Some(part) = parts.next() {
        let at = part.strip_prefix("at=").ok_or_else(|| wrong(format!("unexpected `{part}`")))?;
        let at = parse_duration(at)?;
        if at <= since {
            return Err(wrong(format!(
                "`at={}` is not after the time before",
                format_duration(at)
            )));
        }
        let next = parts.next().and_then(|part| part.strip_prefix("rate="));
        let next = next.ok_or_else(|| wrong(format!("`{part}` has no rate")))?;
        steps.push(RateStep { per_second: current, lasts: at - since });
        (current, since) = (rate(next)?, at);
    }
    steps.push(RateStep { per_second: current, lasts: LAST });
    match steps.iter().any(|step| step.per_second > 0.0) {
        true => Ok(steps),
        false => Err(wrong("every rate is 0".to_owned())),
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
    fn changes_become_steps_and_what_is_none_is_named() {
        for text in
            ["100/s,at=30s,rate=400/s,at=1m30s,rate=0", "100 at=30s rate=400 at=90s rate=0/s"]
        {
            let steps = read_changes(text).unwrap();
            let read: Vec<_> = steps.iter().map(|s| (s.per_second, s.lasts.as_secs())).collect();
            assert_eq!(read, [(100.0, 30), (400.0, 60), (0.0, 1)]);
        }
        for (text, message) in [
            ("", "invalid rate ``"),
            ("100/s,constant", "unexpected `constant`"),
            ("100/s,at=30s", "`at=30s` has no rate"),
            ("100/s,at=30s,400/s", "`at=30s` has no rate"),
            ("100/s,at=0s,rate=4", "`at=0s` is not after"),
            ("100/s,at=2m,rate=4,at=1m,rate=5", "`at=1m` is not after"),
            ("100/s,at=soon,rate=4", "invalid duration `soon`"),
            ("100/s,at=1m,rate=1e9", "invalid rate `1e9`"),
            ("0,at=1m,rate=0", "every rate is 0"),
        ] {
            let error = read_changes(text).unwrap_err();
            assert!(error.contains(message), "{text:?}: {error}");
        }
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

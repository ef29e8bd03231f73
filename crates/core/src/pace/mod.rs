//! Load models: when transactions are due. Everything here is arithmetic; it reads no clock and
//! never sleeps, so the one user loop serves every model, and each can be tested without waiting.
//!
//! | model | a transaction is due | whose it is |
//! |---|---|---|
//! | `closed` | when the user's last one finished | the session's own user |
//! | `rate`, `ramp`, `steps` | as the run's one stream of [`Arrivals`] over a [`RateProfile`] says; any free session takes it | an arrival's: its number and the seed determine everything |
//! | `keyed` | after the terminal's last one finished, plus thinking and keying: [`Cycle`] | the terminal's |
//! | `replay` | at its time in a recording, and not before the session's last one finished: [`Workload::due`](crate::workload::Workload::due) | the recorded session's |

mod arrivals;
mod change;
mod cycle;
mod pair;
mod profile;
mod replay;
mod steps;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::clock::{format_duration, parse_duration};

pub use arrivals::{Arrivals, due_at};
pub use change::{
    Changeable, Changed, LoadChange, LoadChangeError, LoadChanged, LoadNow, LoadValue, PLANNED_MAX,
    PlannedChange,
};
pub use cycle::Cycle;
pub use pair::{ALONE_PAIRS, BlockPart, PairHalf, Sharing};
pub use profile::RateProfile;
pub use replay::ReplayLoad;
pub use steps::{RateStep, read_changes, read_steps};

/// Highest rate that may be requested, in arrivals per second: several times what a client can
/// send.
pub const RATE_MAX: f64 = 1e7;

/// A load model, as `--load` names it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Load {
    /// Each user's next transaction is due when its last one finished.
    #[default]
    Closed,
    /// Transactions arrive at this rate per second; the next free session takes each.
    Rate {
        /// Arrival rate per second.
        per_second: f64,
        /// Whether arrivals are evenly spaced rather than Poisson.
        constant: bool,
    },
    /// Terminals with the workload's keying and thinking times.
    Keyed,
    /// The rate changes linearly from one value to another, then holds. Arrivals are Poisson.
    Ramp {
        /// Arrivals per second at the start.
        from: f64,
        /// Arrivals per second at the end.
        to: f64,
        /// Duration of the change.
        over: Duration,
    },
    /// Rates and durations from a file; the last rate holds. Arrivals are Poisson.
    Steps(String),
    /// Rates that change at times after the start of the window: what [`read_changes`] reads.
    Changes(String),
    /// The sessions of a recording, with the times of their transactions.
    Replay(ReplayLoad),
}

impl Load {
    /// Name of the model: the part before the colon.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Rate { .. } | Self::Changes(_) => "rate",
            Self::Keyed => "keyed",
            Self::Ramp { .. } => "ramp",
            Self::Steps(_) => "steps",
            Self::Replay(_) => "replay",
        }
    }

    /// Whether response time and service time are equal by construction, so that one histogram
    /// serves both.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        matches!(self, Self::Closed)
    }

    /// Whether transactions arrive independently of earlier ones' ends.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Rate { .. } | Self::Ramp { .. } | Self::Steps(_) | Self::Changes(_))
    }

    /// Whether the load itself changes in the timed window, so that no steady level is expected.
    #[must_use]
    pub const fn changes(&self) -> bool {
        matches!(self, Self::Ramp { .. } | Self::Steps(_) | Self::Changes(_) | Self::Replay(_))
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed | Self::Keyed => f.write_str(self.name()),
            Self::Rate { per_second, constant: false } => write!(f, "rate:{per_second}/s"),
            Self::Rate { per_second, constant: true } => write!(f, "rate:{per_second}/s,constant"),
            Self::Ramp { from, to, over } => {
                write!(f, "ramp:{from}..{to}/{}", format_duration(*over))
            }
            Self::Steps(file) => write!(f, "steps:{file}"),
            Self::Changes(text) => write!(f, "rate:{text}"),
            Self::Replay(replay) => write!(f, "replay:{replay}"),
        }
    }
}

impl std::str::FromStr for Load {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "unknown load model `{text}`: expected closed, keyed, rate:500/s, \
                 rate:500/s,constant, rate:500/s,at=2m,rate=2000/s, ramp:100..2000/10m, \
                 steps:FILE or replay:FILE,speed=2x"
            )
        };
        let rate = |text: &str| {
            text.parse().ok().filter(|r| (0.0..=RATE_MAX).contains(r)).ok_or_else(wrong)
        };
        let some = |rate: f64| match rate > 0.0 {
            true => Ok(rate),
            false => Err(format!("the rate of `{text}` must be above 0")),
        };
        match text.split_once(':') {
            None if text == "closed" => Ok(Self::Closed),
            None if text == "keyed" => Ok(Self::Keyed),
            Some(("rate", rest)) if rest.contains("at=") => {
                read_changes(rest)?;
                Ok(Self::Changes(rest.to_owned()))
            }
            Some(("rate", rest)) => {
                let (number, constant) = match rest.strip_suffix(",constant") {
                    Some(number) => (number, true),
                    None => (rest, false),
                };
                let number = number.strip_suffix("/s").unwrap_or(number);
                Ok(Self::Rate { per_second: some(rate(number)?)?, constant })
            }
            Some(("ramp", rest)) => {
                let (rates, over) = rest.split_once('/').ok_or_else(wrong)?;
                let (from, to) = rates.split_once("..").ok_or_else(wrong)?;
                let over = parse_duration(over).map_err(|_| wrong())?;
                let (from, to) = (rate(from)?, rate(to)?);
                some(from.max(to))?;
                if over.is_zero() { Err(wrong()) } else { Ok(Self::Ramp { from, to, over }) }
            }
            Some(("replay", rest)) => rest.parse().map(Self::Replay),
            Some(("steps", file)) if !file.is_empty() => Ok(Self::Steps(file.to_owned())),
            _ => Err(wrong()),
        }
    }
}

/// What happens to an arrival for which no session was free when it was due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Late {
    /// It runs as soon as a session is free; its response time counts from when it was due.
    #[default]
    Issue,
    /// It is skipped, and counted, if a session becomes free only this long after it was due.
    Skip(Duration),
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Issue => f.write_str("issue"),
            Self::Skip(after) => write!(f, "skip:{}", format_duration(*after)),
        }
    }
}

impl std::str::FromStr for Late {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "issue" => Ok(Self::Issue),
            Some(("skip", after)) => parse_duration(after).map(Self::Skip),
            _ => Err(format!(
                "unknown policy for late arrivals `{text}`: expected issue or skip:100ms"
            )),
        }
    }
}

/// Serialises as the text that users write, and gives the schema the pattern of that text.
macro_rules! serde_as_text {
    ($($type:ident: $pattern:literal, $about:literal;)+) => {$(
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "description": $about, "type": "string", "pattern": $pattern })
            }
        }

        impl Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

serde_as_text! {
    Load: "^(closed|keyed|rate:.+|ramp:.+|steps:.+|replay:.+)$", "A load model, as `--load` names it.";
    Late: "^(issue|skip:.+)$",
        "What happens to late arrivals: `issue`, or `skip:` and the delay from which they are \
         skipped.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_read_what_they_write() {
        for text in [
            "closed",
            "keyed",
            "rate:500/s",
            "rate:0.5/s,constant",
            "ramp:100..2000/10m",
            "ramp:0..50/1m",
            "steps:a.csv",
            "rate:100/s,at=30s,rate=400/s",
            "rate:100/s at=30s rate=400/s",
            "replay:a.recording",
            "replay:a.recording,speed=4x",
        ] {
            assert_eq!(text.parse::<Load>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "open",
            "rate:",
            "rate:-1/s",
            "rate:0/s",
            "rate:x/s",
            "rate:nan/s",
            "rate:inf/s",
            "rate:1e8/s",
            "rate:5/m",
            "rate:5/s,at=1m",
            "ramp:1..2",
            "ramp:0..0/1m",
            "ramp:1..2/0s",
            "steps:",
            "replay:",
            "closed:1",
            "keyed:2",
        ] {
            assert!(text.parse::<Load>().is_err(), "{text}");
        }
    }

    #[test]
    fn late_policies_read_what_they_write() {
        for text in ["issue", "skip:100ms", "skip:0s"] {
            assert_eq!(text.parse::<Late>().unwrap().to_string(), text);
        }
        for text in ["", "skip", "skip:", "skip:x", "drop:1s"] {
            assert!(text.parse::<Late>().is_err(), "{text}");
        }
    }
}

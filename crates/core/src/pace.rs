//! Load models: when the next transaction of a virtual user is due. A pacer is arithmetic; it reads
//! no clock and never sleeps, so the one user loop serves every model.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::{Elapsed, format_duration, parse_duration};

/// A load model, as `--load` names it. Only [`Load::Closed`] runs today; the others are read, so that a
/// job file written for a later version is understood and refused by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Load {
    /// Each user's next transaction is due when its last one finished.
    #[default]
    Closed,
    /// Transactions arrive at this rate a second, whoever is free takes the next.
    Rate {
        /// Arrivals a second.
        per_second: f64,
        /// Evenly spaced rather than Poisson.
        constant: bool,
    },
    /// Keying and thinking times of the workload.
    Keyed,
    /// The rate grows evenly from one to the other.
    Ramp {
        /// Arrivals a second at the start.
        from: f64,
        /// Arrivals a second at the end.
        to: f64,
        /// How long it takes.
        over: Duration,
    },
    /// Rates and durations from a file.
    Steps(String),
}

impl Load {
    /// The word before the colon.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Rate { .. } => "rate",
            Self::Keyed => "keyed",
            Self::Ramp { .. } => "ramp",
            Self::Steps(_) => "steps",
        }
    }

    /// Whether response time and service time are the same by construction, so that one histogram
    /// serves both.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        matches!(self, Self::Closed)
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
        }
    }
}

impl std::str::FromStr for Load {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is no load model; write closed, keyed, rate:500/s, rate:500/s,constant, \
                 ramp:100..2000/10m or steps:FILE"
            )
        };
        let rate = |text: &str| {
            let rate: f64 = text.parse().map_err(|_| wrong())?;
            if rate.is_finite() && rate > 0.0 { Ok(rate) } else { Err(wrong()) }
        };
        match text.split_once(':') {
            None if text == "closed" => Ok(Self::Closed),
            None if text == "keyed" => Ok(Self::Keyed),
            Some(("rate", rest)) => {
                let (number, constant) = match rest.strip_suffix(",constant") {
                    Some(number) => (number, true),
                    None => (rest, false),
                };
                let number = number.strip_suffix("/s").unwrap_or(number);
                Ok(Self::Rate { per_second: rate(number)?, constant })
            }
            Some(("ramp", rest)) => {
                let (rates, over) = rest.split_once('/').ok_or_else(wrong)?;
                let (from, to) = rates.split_once("..").ok_or_else(wrong)?;
                let over = parse_duration(over).map_err(|_| wrong())?;
                Ok(Self::Ramp { from: rate(from)?, to: rate(to)?, over })
            }
            Some(("steps", file)) if !file.is_empty() => Ok(Self::Steps(file.to_owned())),
            _ => Err(wrong()),
        }
    }
}

impl Serialize for Load {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Load {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What a pacer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The next transaction is due then; when that is past, at once.
    Due(Elapsed),
    /// No more.
    Done,
}

/// Says when a user's transactions are due. One a user in the closed model; the open models will share
/// one arrival stream a thread.
#[derive(Clone, Debug)]
pub enum Pacer {
    /// Due when the last one finished.
    Closed {
        /// Transactions left to give out; `None` for as many as there is time for.
        left: Option<u64>,
    },
}

impl Pacer {
    /// A pacer of the closed model.
    #[must_use]
    pub const fn closed(transactions: Option<u64>) -> Self {
        Self::Closed { left: transactions }
    }

    /// When the next transaction is due, `now` being the finish of the last one.
    pub const fn next(&mut self, now: Elapsed) -> Slot {
        match self {
            Self::Closed { left: Some(0) } => Slot::Done,
            Self::Closed { left } => {
                if let Some(left) = left {
                    *left -= 1;
                }
                Slot::Due(now)
            }
        }
    }
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
            "steps:a.csv",
        ] {
            assert_eq!(text.parse::<Load>().unwrap().to_string(), text);
        }
        for text in
            ["", "open", "rate:", "rate:-1/s", "rate:x/s", "ramp:1..2", "steps:", "rate:inf/s"]
        {
            assert!(text.parse::<Load>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_closed_pacer_counts_down_and_is_due_at_once() {
        let mut pacer = Pacer::closed(Some(2));
        assert_eq!(pacer.next(Elapsed(5)), Slot::Due(Elapsed(5)));
        assert_eq!(pacer.next(Elapsed(9)), Slot::Due(Elapsed(9)));
        assert_eq!(pacer.next(Elapsed(10)), Slot::Done);
        assert_eq!(Pacer::closed(None).next(Elapsed(1)), Slot::Due(Elapsed(1)));
    }
}

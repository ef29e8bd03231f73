//! Time. Engine code reads one [`Clock`]; everything it decides and records is [`Elapsed`] since
//! the clock's zero, the moment when all virtual users were connected and the run began. Under
//! tokio's paused time the clock is virtual, so tests of code that waits take no time.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tokio::time::Instant;

use crate::value::Timestamp;

/// Time since the clock's zero, in nanoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Elapsed(pub u64);

impl Elapsed {
    /// Later than every instant of a run.
    pub const NEVER: Self = Self(u64::MAX);

    /// Converts a duration since zero; saturates at [`Elapsed::NEVER`].
    #[must_use]
    #[inline]
    pub fn from_duration(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Returns the duration since zero.
    #[must_use]
    #[inline]
    pub const fn duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// Nanoseconds from `earlier` to this instant; 0 when `earlier` is later.
    #[must_use]
    #[inline]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Whether at least this time has passed since `earlier`.
    #[must_use]
    pub fn has_passed(self, earlier: Self, time: Duration) -> bool {
        self.since(earlier) >= Self::from_duration(time).0
    }

    /// Whole seconds since zero: the index of the interval that this instant falls into.
    #[must_use]
    pub const fn second(self) -> u64 {
        self.0 / 1_000_000_000
    }

    /// The start of second `index` of the run.
    #[must_use]
    pub const fn at_second(index: u64) -> Self {
        Self(index * 1_000_000_000)
    }
}

/// The run's clock: monotonic, with a date for its zero.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    zero: Instant,
    zero_seconds: i64,
}

impl Clock {
    /// Creates a clock whose zero is now.
    #[must_use]
    pub fn start() -> Self {
        Self { zero: Instant::now(), zero_seconds: wall().0 / 1_000_000 }
    }

    /// Creates a clock with this zero, whose date every process of a run is given.
    #[must_use]
    pub const fn at(zero: Instant, zero_seconds: i64) -> Self {
        Self { zero, zero_seconds }
    }

    /// Returns the time elapsed since zero.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Elapsed {
        Elapsed::from_duration(self.zero.elapsed())
    }

    /// Converts to the instant that tokio's timers take.
    #[must_use]
    pub fn instant(&self, at: Elapsed) -> Instant {
        self.zero + at.duration()
    }

    /// The date and time at an instant, in whole seconds, as transactions carry it.
    #[must_use]
    pub fn timestamp(&self, at: Elapsed) -> Timestamp {
        let seconds = i64::try_from(at.second()).unwrap_or(i64::MAX / 2_000_000);
        Timestamp::from_seconds(self.zero_seconds + seconds)
    }

    /// The date and time of zero.
    #[must_use]
    pub fn zero_timestamp(&self) -> Timestamp {
        Timestamp::from_seconds(self.zero_seconds)
    }
}

/// The date and time now, UTC.
#[must_use]
pub fn wall() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_microsecond())
}

/// CPU time that the calling thread has used, in nanoseconds.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// CPU time that this whole process has used, in nanoseconds.
#[must_use]
pub fn process_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Reads `30s`, `5m`, `1h30m`, `250ms`, `1.5s`.
///
/// # Errors
/// When the text is not a duration; the message gives examples.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!(
            "invalid duration `{text}`: expected a number with a unit, such as 30s, 5m, 1h30m or \
             250ms"
        )
    };
    let mut rest = text.trim();
    let mut total = Duration::ZERO;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let unit_end = rest[digits..]
            .find(|c: char| c.is_ascii_digit())
            .map_or(rest.len(), |end| digits + end);
        let number: f64 = rest[..digits].parse().map_err(|_| wrong())?;
        let seconds = match rest[digits..unit_end].trim() {
            "us" | "µs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            "d" => 86400.0,
            _ => return Err(wrong()),
        };
        let part = Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())?;
        total = total.checked_add(part).ok_or_else(wrong)?;
        rest = rest[unit_end..].trim_start();
    }
    Ok(total)
}

/// Writes a duration as [`parse_duration`] reads it.
#[must_use]
pub fn format_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let sub = duration.subsec_nanos();
    if duration.is_zero() {
        return "0s".to_owned();
    }
    if seconds == 0 || sub != 0 {
        let (value, unit) = if seconds > 0 {
            (duration.as_secs_f64(), "s")
        } else if sub >= 1_000_000 {
            (f64::from(sub) / 1e6, "ms")
        } else {
            (f64::from(sub) / 1e3, "us")
        };
        return format!("{value}{unit}");
    }
    let mut out = String::new();
    for (size, unit) in [(3600, "h"), (60, "m"), (1, "s")] {
        let count = match size {
            3600 => seconds / 3600,
            60 => seconds % 3600 / 60,
            _ => seconds % 60,
        };
        if count > 0 {
            out.push_str(&format!("{count}{unit}"));
        }
    }
    out
}

/// A duration as people write it, in documents: `#[serde(with = "DurationText")]`.
#[derive(Clone, Copy, Debug)]
pub struct DurationText;

impl JsonSchema for DurationText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "DurationText".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^([0-9.]+(us|ms|s|m|h|d))+$" })
    }
}

impl DurationText {
    /// Writes `1m30s`.
    ///
    /// # Errors
    /// Returns the serializer's errors.
    pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format_duration(*duration))
    }

    /// Reads `1m30s`.
    ///
    /// # Errors
    /// When the text is not a valid duration.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        parse_duration(&String::deserialize(from)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_what_they_write() {
        for (text, seconds) in [
            ("30s", 30.0),
            ("5m", 300.0),
            ("1h30m", 5400.0),
            ("250ms", 0.25),
            ("1.5s", 1.5),
            ("20us", 2e-5),
        ] {
            let duration = parse_duration(text).unwrap();
            assert!((duration.as_secs_f64() - seconds).abs() < 1e-9, "{text}");
            assert_eq!(parse_duration(&format_duration(duration)).unwrap(), duration);
        }
        for text in ["", "5", "m", "5 parsecs", "-3s", "1e400s", "1..5s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}

//! Units of metrics, and of the figures in documents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A count.
    Count,
    /// A count per second.
    PerSecond,
    /// A count per minute.
    PerMinute,
    /// A share from 0 to 1.
    Share,
    /// CPU cores; 1.5 means one and a half.
    Cores,
    /// Histogram of times in microseconds.
    Us,
    /// Times, in nanoseconds.
    Ns,
    /// Time in seconds.
    S,
    /// An average number, such as 2.4 active sessions.
    Average,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Times in milliseconds.
    Ms,
    /// Cycles per second.
    Hz,
    /// Power in watts.
    Watts,
}

impl Unit {
    /// Name in the page and in the store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::PerSecond => "per_second",
            Self::PerMinute => "per_minute",
            Self::Share => "share",
            Self::Cores => "cores",
            Self::Us => "us",
            Self::Ns => "ns",
            Self::S => "s",
            Self::Average => "average",
            Self::Bytes => "bytes",
            Self::BytesPerSecond => "bytes_per_second",
            Self::Ms => "ms",
            Self::Hz => "hz",
            Self::Watts => "watts",
        }
    }

    /// Finds the unit by its name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Count,
            Self::PerSecond,
            Self::PerMinute,
            Self::Share,
            Self::Cores,
            Self::Us,
            Self::Ns,
            Self::S,
            Self::Average,
            Self::Bytes,
            Self::BytesPerSecond,
            Self::Ms,
            Self::Hz,
            Self::Watts,
        ];
        all.into_iter().find(|unit| unit.name() == name)
    }

    /// Steps per unit in the store: finer differences are noise.
    #[must_use]
    pub const fn scale(self) -> u32 {
        match self {
            Self::Count | Self::Us | Self::Ns | Self::Bytes | Self::BytesPerSecond | Self::Hz => 1,
            Self::PerSecond | Self::PerMinute | Self::Average | Self::Ms | Self::Watts => 1_000,
            Self::Share | Self::Cores | Self::S => 1_000_000,
        }
    }
}

/// Unit of a figure in documents and requirements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FigureUnit {
    /// A count or a rate.
    Number,
    /// From 0 to 1.
    Share,
    /// A time in microseconds.
    Us,
}

impl From<Unit> for FigureUnit {
    /// Times and shares keep their unit; everything else is a number.
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::Us => Self::Us,
            Unit::Share => Self::Share,
            _ => Self::Number,
        }
    }
}

//! Throughput over the timed window: NOPM, TPS, and other rates of committed transactions.

use triphammer_core::stats::rate;

use super::Evidence;

/// Committed transactions per unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Seconds of the unit of time: 60 for "per minute".
    pub per_seconds: u32,
}

/// How to show the throughput of all transaction types.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    /// Short name: `TPM`.
    pub name: &'static str,
    /// Unit of time for use after a verb: `per minute`.
    pub per: &'static str,
    /// Factor from a figure per minute, which documents always contain.
    pub of_minute: f64,
}

impl Rate {
    /// Less data than this does not show what the bottleneck was.
    pub(super) const EVIDENCE: Evidence =
        Evidence { window_s: 2.0, observations: 30, observed: "committed transactions" };

    /// Reads the unit of time of a document; an unknown name means a minute.
    pub(super) fn stored(per: &str) -> Self {
        let per_seconds = match per {
            "second" => 1,
            "hour" => 3600,
            other => other.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(60),
        };
        Self { per_seconds }
    }

    pub(super) fn per(self) -> String {
        match self.per_seconds {
            1 => "second".to_owned(),
            60 => "minute".to_owned(),
            3600 => "hour".to_owned(),
            other => format!("{other} seconds"),
        }
    }

    pub(super) fn value(self, count: u64, seconds: f64) -> f64 {
        rate(count, seconds, self.per_seconds)
    }

    /// Per second if the primary metric is per second, otherwise per minute.
    pub(super) const fn throughput(self) -> Throughput {
        match self.per_seconds {
            1 => Throughput { name: "TPS", per: "per second", of_minute: 1.0 / 60.0 },
            _ => Throughput { name: "TPM", per: "per minute", of_minute: 1.0 },
        }
    }
}

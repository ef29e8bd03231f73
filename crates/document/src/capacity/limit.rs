//! The response time limit: a percentile of a transaction type and its maximum.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::clock::{DurationText, format_duration, parse_duration};
use triphammer_core::stats::Times;
use triphammer_core::workload::TransactionDef;

/// A response time limit: `new_order.p95 < 50ms`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CapacityLimit")]
pub struct LatencyLimit {
    /// Key of the transaction type; `all` for all types together.
    pub transaction: String,
    /// Percentile of the response time, measured from when a transaction was due.
    pub percentile: Percentile,
    /// Exclusive maximum: `50ms`.
    #[serde(with = "DurationText")]
    pub under: Duration,
}

/// The percentiles contained in results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each is what its name says")]
pub enum Percentile {
    P50,
    P90,
    P95,
    P99,
    #[serde(rename = "p99.9")]
    P99_9,
}

impl Percentile {
    /// All variants, in declaration order.
    pub const ALL: [Self; 5] = [Self::P50, Self::P90, Self::P95, Self::P99, Self::P99_9];

    /// Name in limits: `p95`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P99_9 => "p99.9",
        }
    }

    /// The percentile as a share in percent, from 0 to 100.
    #[must_use]
    pub const fn percent(self) -> f64 {
        match self {
            Self::P50 => 50.0,
            Self::P90 => 90.0,
            Self::P95 => 95.0,
            Self::P99 => 99.0,
            Self::P99_9 => 99.9,
        }
    }

    /// Value of the percentile, in microseconds.
    #[must_use]
    pub const fn of(self, times: &Times) -> u64 {
        match self {
            Self::P50 => times.p50_us,
            Self::P90 => times.p90_us,
            Self::P95 => times.p95_us,
            Self::P99 => times.p99_us,
            Self::P99_9 => times.p99_9_us,
        }
    }
}

impl fmt::Display for LatencyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let under = format_duration(self.under);
        write!(f, "{}.{} < {under}", self.transaction, self.percentile.name())
    }
}

impl LatencyLimit {
    /// Reads `new_order.p95 < 50ms` for a workload with these transaction types.
    ///
    /// # Errors
    /// Describes what is wrong and what is accepted.
    pub fn parse(text: &str, types: &[TransactionDef]) -> Result<Self, String> {
        let wrong = || {
            let example = types.first().map_or("all", |first| &first.name);
            format!(
                "invalid limit `{text}`: expected TYPE.PERCENTILE < TIME, such as \
                     '{example}.p95 < 50ms'"
            )
        };
        let (what, under) = text.split_once('<').ok_or_else(wrong)?;
        let (transaction, percentile) = what.trim().split_once('.').ok_or_else(wrong)?;
        let (transaction, percentile) = (transaction.trim(), percentile.trim());
        if transaction != "all" && types.iter().all(|known| known.name != transaction) {
            let known: Vec<_> = types.iter().map(|known| &*known.name).collect();
            return Err(format!(
                "unknown transaction `{transaction}`; use one of {} or all",
                known.join(", ")
            ));
        }
        let known = Percentile::ALL.into_iter().find(|known| known.name() == percentile);
        let percentile = known.ok_or_else(|| {
            let all = Percentile::ALL.map(Percentile::name).join(", ");
            format!("unknown percentile `{percentile}`; use one of {all}")
        })?;
        let under = parse_duration(under.trim())?;
        if under.is_zero() {
            return Err("the limit must be above 0".to_owned());
        }
        Ok(Self { transaction: transaction.to_owned(), percentile, under })
    }

    /// Maximum, in microseconds.
    #[must_use]
    pub fn under_us(&self) -> f64 {
        self.under.as_secs_f64() * 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn types() -> [TransactionDef; 1] {
        [TransactionDef::new("new_order", "New-Order", 1)]
    }

    #[test]
    fn limits_read_what_they_write() {
        for text in ["new_order.p95 < 50ms", "all.p99.9 < 1s"] {
            assert_eq!(LatencyLimit::parse(text, &types()).unwrap().to_string(), text);
        }
        let tight = LatencyLimit::parse("new_order.p50<5ms", &types()).unwrap();
        assert_eq!((tight.percentile, tight.under_us()), (Percentile::P50, 5_000.0));
    }

    #[test]
    fn what_is_no_limit_is_refused() {
        for (text, message) in [
            ("", "such as 'new_order.p95 < 50ms'"),
            ("new_order.p95 > 50ms", "invalid limit"),
            ("p95 < 50ms", "invalid limit"),
            ("payment.p95 < 50ms", "unknown transaction `payment`; use one of new_order or all"),
            ("all.p42 < 50ms", "use one of p50, p90"),
            ("all.p95 < 50", "invalid duration `50`"),
            ("all.p95 < 0s", "above 0"),
        ] {
            let error = LatencyLimit::parse(text, &types()).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}

//! The parts of a transaction's time, as documents have them; `transaction_time.rs` declares and
//! measures them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unit::Unit;

/// Where the time of a transaction goes, and what it exchanges with the server: means per
/// transaction, from the timed window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransactionTime {
    /// Number of committed transactions over which the times are means.
    pub transactions: u64,
    /// The parts in display order: a part is followed by the parts that it consists of.
    pub parts: Vec<TransactionPart>,
}

/// A part of a transaction's time, or an amount that it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransactionPart {
    /// Name of the part: `network`; `lock_table` for each table of a lock.
    pub name: String,
    /// Title in reports and on the page.
    pub title: String,
    /// Depth in the tree of parts: 0 for the response time and for amounts.
    pub depth: u8,
    /// Unit of the value: `us`, `bytes` or `average`.
    #[schemars(with = "String")]
    pub unit: Unit,
    /// Value per transaction; `None` if it is not known.
    #[schemars(range(min = 0.0))]
    pub value: Option<f64>,
    /// Share of the response time, from 0 to 1; `None` for amounts and unknown parts.
    #[schemars(range(min = 0.0))]
    pub share: Option<f64>,
    /// How it was measured, or what would make it known; may be empty.
    pub how: String,
}

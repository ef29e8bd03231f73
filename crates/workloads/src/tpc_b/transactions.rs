//! The three transaction types, their inputs, and the sums that they change.

use std::fmt;

use triphammer_core::random::Rng;
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{AuditDef, AuditTerm, MeasureDef, PrimaryMetric, TransactionDef};

use super::schema::{ACCOUNTS_EACH, TELLERS_EACH};

/// Number of transaction types.
pub const TRANSACTION_COUNT: usize = 3;

/// Index of tpcb-like in arrays and reports.
pub const TPCB_LIKE: usize = 0;
/// Index of simple-update in arrays and reports.
pub const SIMPLE_UPDATE: usize = 1;
/// Index of select-only in arrays and reports.
pub const SELECT_ONLY: usize = 2;

/// Largest change of a balance by one transaction, in either direction.
const DELTA_MAX: i32 = 5_000;

/// pgbench's names of the types, by index.
pub const SCRIPTS: [&str; TRANSACTION_COUNT] = ["tpcb-like", "simple-update", "select-only"];

/// The transaction types with their weights in the default mix.
pub fn transactions() -> [TransactionDef; TRANSACTION_COUNT] {
    [
        TransactionDef::new("tpcb_like", "tpcb-like", 1),
        TransactionDef::new("simple_update", "simple-update", 0),
        TransactionDef::new("select_only", "select-only", 0).reading(),
    ]
}

/// TPS as pgbench counts them. Types that write leave a row of history.
pub fn primary_metric() -> PrimaryMetric {
    PrimaryMetric {
        name: "TPS".into(),
        meaning: "transactions committed per second".into(),
        transactions: vec![TPCB_LIKE, SIMPLE_UPDATE, SELECT_ONLY],
        measure: MeasureDef::Rate { per_seconds: 1 },
        database_count: Some("count.history".into()),
        counted: vec![TPCB_LIKE, SIMPLE_UPDATE],
    }
}

/// pgbench empties the history when it starts, so these are about what a run changes, not about the
/// total.
pub fn audits() -> Vec<AuditDef> {
    let audit = |id: &'static str, title: &'static str, transactions: &[usize]| AuditDef {
        id: id.into(),
        title: title.into(),
        statement: format!("audit.{id}").into(),
        terms: transactions
            .iter()
            .map(|t| AuditTerm::counted(*t, DELTA_MAX.unsigned_abs()))
            .collect(),
        except: None,
    };
    vec![
        audit("abalance", "ΔΣ abalance = Σ delta", &[TPCB_LIKE, SIMPLE_UPDATE]),
        audit("history", "ΔΣ history.delta = Σ delta", &[TPCB_LIKE, SIMPLE_UPDATE]),
        audit("tbalance", "ΔΣ tbalance = Σ delta of tpcb-like", &[TPCB_LIKE]),
        audit("bbalance", "ΔΣ bbalance = Σ delta of tpcb-like", &[TPCB_LIKE]),
    ]
}

/// The input of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "pgbench's own names")]
pub enum Input {
    TpcbLike(Change),
    SimpleUpdate(Change),
    SelectOnly { aid: i32 },
}

/// A change of a balance. `bid` and `tid` are any branch and teller, not those of the account.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "pgbench's own names")]
pub struct Change {
    pub aid: i32,
    pub bid: i32,
    pub tid: i32,
    pub delta: i32,
    pub mtime: Timestamp,
}

/// The values by pgbench's names.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SelectOnly { aid } => write!(f, "aid = {aid}"),
            Self::TpcbLike(change) | Self::SimpleUpdate(change) => {
                let Change { aid, bid, tid, delta, mtime } = change;
                write!(f, "aid = {aid}\nbid = {bid}\ntid = {tid}\ndelta = {delta}\nmtime = {mtime}")
            }
        }
    }
}

impl Input {
    /// Draws the input of a transaction type, in pgbench's order and ranges.
    #[inline]
    pub fn draw(transaction: usize, scale: i32, rng: &mut Rng, mtime: Timestamp) -> Self {
        let aid = rng.between32(1, ACCOUNTS_EACH * scale);
        if transaction == SELECT_ONLY {
            return Self::SelectOnly { aid };
        }
        let change = Change {
            aid,
            bid: rng.between32(1, scale),
            tid: rng.between32(1, TELLERS_EACH * scale),
            delta: rng.between32(-DELTA_MAX, DELTA_MAX),
            mtime,
        };
        if transaction == TPCB_LIKE { Self::TpcbLike(change) } else { Self::SimpleUpdate(change) }
    }
}

//! The five transaction types, by their indexes in every array and report.

use std::time::Duration;

use triphammer_core::pace::Cycle;
use triphammer_core::workload::{
    AuditDef, AuditTerm, CounterDef, MeasureDef, PrimaryMetric, TransactionDef,
};

use super::settings::{ROUTINES, Routines};

/// Number of transaction types.
pub const TRANSACTION_COUNT: usize = 5;

/// Index of New-Order in arrays and reports.
pub const NEW_ORDER: usize = 0;
/// Index of Payment in arrays and reports.
pub const PAYMENT: usize = 1;
/// Index of Order-Status in arrays and reports.
pub const ORDER_STATUS: usize = 2;
/// Index of Delivery in arrays and reports.
pub const DELIVERY: usize = 3;
/// Index of Stock-Level in arrays and reports.
pub const STOCK_LEVEL: usize = 4;

/// The largest amount of a Payment, in cents (clause 2.5.1.3).
const AMOUNT_MAX: i64 = 500_000;

/// The transaction types with their weights in the default mix.
#[must_use]
pub fn transactions() -> [TransactionDef; TRANSACTION_COUNT] {
    [
        TransactionDef::new("new_order", "New-Order", 10),
        TransactionDef::new("payment", "Payment", 10),
        TransactionDef::new("order_status", "Order-Status", 1).reading(),
        TransactionDef {
            // Clause 2.7.1.3: more than 1 % of skipped districts must be reported.
            counter: Some(CounterDef {
                name: "districts_skipped".into(),
                title: "districts skipped".into(),
                per_transaction: 10,
                warn_above: 0.01,
            }),
            ..TransactionDef::new("delivery", "Delivery", 1)
        },
        TransactionDef::new("stock_level", "Stock-Level", 1).reading(),
    ]
}

/// NOPM, and the database's own count of New-Orders.
#[must_use]
pub fn primary_metric() -> PrimaryMetric {
    PrimaryMetric {
        name: "NOPM".into(),
        meaning: "New-Orders committed per minute".into(),
        transactions: vec![NEW_ORDER],
        measure: MeasureDef::Rate { per_seconds: 60 },
        database_count: Some("count.new_orders".into()),
        counted: vec![NEW_ORDER],
    }
}

/// Traces of the types that write, besides the New-Orders that [`primary_metric`] counts: what
/// Payments add to the warehouses, in cents (clause 2.5.1.3: 1.00 to 5,000.00 each), and the rows of
/// new_order, one more by each New-Order and one less by each district that Delivery does not skip.
/// HammerDB's routines return neither what they skipped nor what they rolled back.
pub fn audits() -> Vec<AuditDef> {
    let audit = |id: &'static str, title: &'static str, terms: &[AuditTerm]| AuditDef {
        id: id.into(),
        title: title.into(),
        statement: format!("audit.{id}").into(),
        terms: terms.to_vec(),
        except: Some((ROUTINES.name, Routines::Hammerdb.name().into())),
    };
    let payment =
        AuditTerm { transaction: PAYMENT, each: 0, range: 0..=AMOUNT_MAX, is_answered: false };
    let new_order = AuditTerm { transaction: NEW_ORDER, each: 1, range: 0..=1, is_answered: false };
    let delivery =
        AuditTerm { transaction: DELIVERY, each: -10, range: -10..=0, is_answered: true };
    vec![
        audit("w_ytd", "ΔΣ w_ytd = Σ h_amount, in cents", &[payment]),
        audit(
            "new_order",
            "Δ rows of new_order = New-Orders − districts delivered",
            &[new_order, delivery],
        ),
    ]
}

/// Keying times and mean thinking times (clause 5.2.5.7), ten terminals per warehouse (clause
/// 4.2.2). With them a warehouse gives at most 12.86 New-Orders per minute (clause 4.1.3): that is
/// its tpmC.
#[must_use]
pub fn cycle() -> Cycle {
    Cycle {
        terminals: 10,
        keying: [18, 3, 2, 2, 2].map(Duration::from_secs).to_vec(),
        thinking: [12, 12, 10, 5, 5].map(Duration::from_secs).to_vec(),
        primary_metric_max: 12.86,
    }
}

//! The five transaction types, by their places in every array and report.

use std::time::Duration;

use triphammer_core::pace::Cycle;
use triphammer_core::workload::{CounterDef, MeasureDef, PrimaryMetric, TransactionDef};

/// How many transaction types there are.
pub const TRANSACTION_COUNT: usize = 5;

/// Place of New-Order.
pub const NEW_ORDER: usize = 0;
/// Place of Payment.
pub const PAYMENT: usize = 1;
/// Place of Order-Status.
pub const ORDER_STATUS: usize = 2;
/// Place of Delivery.
pub const DELIVERY: usize = 3;
/// Place of Stock-Level.
pub const STOCK_LEVEL: usize = 4;

/// The transaction types with their shares of the default mix.
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

/// Keying times and means of thinking times (clause 5.2.5.7), ten terminals per warehouse (clause 4.2.2).
/// With them a warehouse gives 12.86 New-Orders per minute at the most (clause 4.1.3): that is its tpmC.
#[must_use]
pub fn cycle() -> Cycle {
    Cycle {
        terminals: 10,
        keying: [18, 3, 2, 2, 2].map(Duration::from_secs).to_vec(),
        thinking: [12, 12, 10, 5, 5].map(Duration::from_secs).to_vec(),
        primary_metric_max: 12.86,
    }
}

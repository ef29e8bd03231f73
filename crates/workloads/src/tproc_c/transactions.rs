//! The five transaction types, by their places in every array and report.

use std::time::Duration;

use triphammer_core::pace::Cycle;
use triphammer_core::workload::{Headline, TallyDef, TransactionDef};

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
pub static TRANSACTIONS: [TransactionDef; TRANSACTION_COUNT] = [
    TransactionDef { name: "new_order", title: "New-Order", weight: 10, tally: None },
    TransactionDef { name: "payment", title: "Payment", weight: 10, tally: None },
    TransactionDef { name: "order_status", title: "Order-Status", weight: 1, tally: None },
    TransactionDef {
        name: "delivery",
        title: "Delivery",
        weight: 1,
        // Clause 2.7.1.3: more than 1 % of skipped districts must be reported.
        tally: Some(TallyDef {
            name: "districts_skipped",
            title: "districts skipped",
            per_transaction: 10,
            warn_above: 0.01,
        }),
    },
    TransactionDef { name: "stock_level", title: "Stock-Level", weight: 1, tally: None },
];

/// NOPM, and the database's own count of New-Orders.
pub const HEADLINE: Headline = Headline {
    name: "NOPM",
    meaning: "New-Orders committed a minute",
    transactions: &[NEW_ORDER],
    per_seconds: 60,
    database_count: Some("count.new_orders"),
    counted: &[NEW_ORDER],
};

/// Keying times and means of thinking times (clause 5.2.5.7), ten terminals a warehouse (clause 4.2.2).
/// With them a warehouse gives 12.86 New-Orders a minute at the most (clause 4.1.3): that is its tpmC.
pub static CYCLE: Cycle = Cycle {
    terminals: 10,
    keying: &[seconds(18), seconds(3), seconds(2), seconds(2), seconds(2)],
    thinking: &[seconds(12), seconds(12), seconds(10), seconds(5), seconds(5)],
    headline_max: 12.86,
};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

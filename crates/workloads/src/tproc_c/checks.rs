//! The conditions that `check` verifies: those of clause 3.3.2, five of our own about what the
//! specification omits, and the rules of the population (clause 4.3.3) on an untouched build.

use triphammer_core::workload::CheckWhen::{Always, Once, Untouched, UntouchedOnce, Whole};
use triphammer_core::workload::{CheckDef, check};

/// All checks of the workload.
pub static CHECKS: &[CheckDef] = &[
    check("3.3.2.1", "check.3.3.2.1", "w_ytd = Σ d_ytd", Always),
    check("3.3.2.2", "check.3.3.2.2", "d_next_o_id - 1 = max(o_id) = max(no_o_id)", Always),
    check(
        "3.3.2.3",
        "check.3.3.2.3",
        "max(no_o_id) - min(no_o_id) + 1 = rows of new_order in the district",
        Always,
    ),
    check("3.3.2.4", "check.3.3.2.4", "Σ o_ol_cnt = rows of order_line in the district", Always),
    check(
        "3.3.2.5",
        "check.3.3.2.5",
        "o_carrier_id is null if and only if new_order has the order",
        Always,
    ),
    check("3.3.2.6", "check.3.3.2.6", "o_ol_cnt = rows of order_line for the order", Always),
    check(
        "3.3.2.7",
        "check.3.3.2.7",
        "ol_delivery_d is null if and only if o_carrier_id is",
        Always,
    ),
    check("3.3.2.8", "check.3.3.2.8", "w_ytd = Σ h_amount of the warehouse", Always),
    check("3.3.2.9", "check.3.3.2.9", "d_ytd = Σ h_amount of the district", Always),
    check(
        "3.3.2.10",
        "check.3.3.2.10",
        "c_balance = Σ ol_amount delivered - Σ h_amount of the customer",
        Always,
    ),
    check(
        "3.3.2.11",
        "check.3.3.2.11",
        "orders - new_orders = 2100 + Σ c_delivery_cnt of the district",
        Always,
    ),
    check(
        "3.3.2.12",
        "check.3.3.2.12",
        "c_balance + c_ytd_payment = Σ ol_amount delivered to the customer",
        Always,
    ),
    check(
        "13",
        "check.13",
        "s_ytd, s_order_cnt, s_remote_cnt = what the runs' order lines took from the stock",
        // By supplying warehouse, for which order lines have no index: one pass serves all.
        Once,
    ),
    check("14", "check.14", "c_payment_cnt = rows of history for the customer", Always),
    check(
        "15",
        "check.15",
        "c_delivery_cnt = orders that the runs delivered to the customer",
        Always,
    ),
    check("16", "check.16", "every new_order, order_line and history row has its parent", Always),
    check("17", "check.17", "every warehouse that a row refers to exists", Whole),
    check("p.item", "check.p.item", "item: values as populated", UntouchedOnce),
    check(
        "p.item_rows",
        "check.p.item_rows",
        "item: 100,000 rows with ids from 1, 10,000 of them ORIGINAL",
        UntouchedOnce,
    ),
    check("p.warehouse", "check.p.warehouse", "warehouse: values as populated", Untouched),
    check("p.warehouse_rows", "check.p.warehouse_rows", "warehouse: all exist", Untouched),
    check("p.district", "check.p.district", "district: values as populated", Untouched),
    check("p.district_rows", "check.p.district_rows", "district: 10 per warehouse", Untouched),
    check("p.customer", "check.p.customer", "customer: values as populated", Untouched),
    check(
        "p.customer_name",
        "check.p.customer_name",
        "customer: last names as specified, each of the 1,000 once among the first 1,000",
        Untouched,
    ),
    check(
        "p.customer_rows",
        "check.p.customer_rows",
        "customer: 3,000 per district, 300 of them with bad credit",
        Untouched,
    ),
    check("p.history", "check.p.history", "history: values as populated", Untouched),
    check("p.history_rows", "check.p.history_rows", "history: one row per customer", Untouched),
    check("p.stock", "check.p.stock", "stock: values as populated", Untouched),
    check(
        "p.stock_rows",
        "check.p.stock_rows",
        "stock: 100,000 rows per warehouse with ids from 1, 10,000 of them ORIGINAL",
        Untouched,
    ),
    check("p.orders", "check.p.orders", "orders: values as populated", Untouched),
    check(
        "p.orders_rows",
        "check.p.orders_rows",
        "orders: 3,000 per district, their customers a permutation",
        Untouched,
    ),
    check("p.order_line", "check.p.order_line", "order_line: values as populated", Untouched),
    check(
        "p.order_line_rows",
        "check.p.order_line_rows",
        "order_line: numbers from 1 to o_ol_cnt",
        Untouched,
    ),
    check("p.new_order", "check.p.new_order", "new_order: orders 2101 to 3000", Untouched),
    check("p.new_order_rows", "check.p.new_order_rows", "new_order: 900 per district", Untouched),
];

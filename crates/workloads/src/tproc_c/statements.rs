//! The statements that every dialect's catalogue must have, with the types of their parameters.
//! Their SQL is in `sql/base/tproc-c/`.

use triphammer_core::sql::{Param, StatementDef, call, optional, param, statement};
use triphammer_core::value::ColumnType::{BigInt, Decimal, Int, IntList, Text, Timestamp};

const W_ID: Param = param("w_id", Int);
const D_ID: Param = param("d_id", Int);
const C_ID: Param = param("c_id", Int);
const O_ID: Param = param("o_id", Int);
const AMOUNT: Param = param("amount", Decimal(2));
const TIME: Param = param("time", Timestamp);

/// Parameters of a check: a range of warehouses.
const RANGE: &[Param] = &[param("first", BigInt), param("last", BigInt)];

fn check(name: &'static str) -> StatementDef {
    statement(name, RANGE)
}

/// Parameters for finding a routine's New-Order: on PostgreSQL the routine returns the number, on
/// MySQL it stays in the session.
const HAMMERDB_ORDER: &[Param] = &[W_ID, D_ID, C_ID, param("ol_cnt", Int), O_ID];

/// Parameters of HammerDB's procedures. Its functions take the same except for the time, which is
/// last.
const HAMMERDB_NEW_ORDER: &[Param] =
    &[W_ID, param("warehouses", Int), D_ID, C_ID, param("ol_cnt", Int), TIME];
const HAMMERDB_PAYMENT: &[Param] = &[
    W_ID,
    D_ID,
    param("c_w_id", Int),
    param("c_d_id", Int),
    C_ID,
    param("by_name", Int),
    param("amount", Int),
    param("c_last", Text),
    TIME,
];
const HAMMERDB_ORDER_STATUS: &[Param] =
    &[W_ID, D_ID, C_ID, param("by_name", Int), param("c_last", Text)];
/// The same where `hammerdb.set_customer` comes before the call.
const HAMMERDB_PAYMENT_OF_SET: &[Param] = &[
    W_ID,
    D_ID,
    param("c_w_id", Int),
    param("c_d_id", Int),
    param("by_name", Int),
    param("amount", Int),
    TIME,
];
const HAMMERDB_ORDER_STATUS_OF_SET: &[Param] = &[W_ID, D_ID, param("by_name", Int)];
const HAMMERDB_DELIVERY: &[Param] = &[W_ID, param("carrier_id", Int), TIME];
const HAMMERDB_STOCK_LEVEL: &[Param] = &[W_ID, D_ID, param("threshold", Int)];

/// Declares all statements. Their SQL documents what each returns.
#[must_use]
pub fn statements() -> Vec<StatementDef> {
    vec![
        statement("count.new_orders", &[]),
        statement("audit.w_ytd", &[]),
        statement("audit.new_order", &[]),
        // Routines of a schema that HammerDB built, where it builds any.
        optional("foreign.scale", &[]),
        optional("hammerdb.routines", &[]),
        optional("hammerdb.no_autocommit", &[]),
        optional("hammerdb.patience", &[]),
        optional("hammerdb.set_customer", &[C_ID, param("c_last", Text)]),
        optional("hammerdb.new_order.function", &HAMMERDB_NEW_ORDER[..5]),
        optional("hammerdb.new_order.native", HAMMERDB_NEW_ORDER),
        optional("hammerdb.new_order.procedure", HAMMERDB_NEW_ORDER),
        optional("hammerdb.new_order.rows", HAMMERDB_NEW_ORDER),
        optional("hammerdb.new_order.block", HAMMERDB_NEW_ORDER),
        optional("hammerdb.new_order.variables", HAMMERDB_NEW_ORDER),
        optional("hammerdb.new_order.committed", &HAMMERDB_ORDER[..4]),
        optional("hammerdb.new_order.numbered", HAMMERDB_ORDER),
        optional("hammerdb.payment.function", &HAMMERDB_PAYMENT[..8]),
        optional("hammerdb.payment.native", HAMMERDB_PAYMENT),
        optional("hammerdb.payment.procedure", HAMMERDB_PAYMENT),
        optional("hammerdb.payment.rows", HAMMERDB_PAYMENT),
        optional("hammerdb.payment.block", HAMMERDB_PAYMENT),
        optional("hammerdb.payment.variables", HAMMERDB_PAYMENT_OF_SET),
        optional("hammerdb.order_status.function", HAMMERDB_ORDER_STATUS),
        optional("hammerdb.order_status.function_numeric", HAMMERDB_ORDER_STATUS),
        optional("hammerdb.order_status.native", HAMMERDB_ORDER_STATUS),
        optional("hammerdb.order_status.procedure", HAMMERDB_ORDER_STATUS),
        optional("hammerdb.order_status.rows", HAMMERDB_ORDER_STATUS),
        optional("hammerdb.order_status.block", HAMMERDB_ORDER_STATUS),
        optional("hammerdb.order_status.variables", HAMMERDB_ORDER_STATUS_OF_SET),
        optional("hammerdb.delivery.function", &HAMMERDB_DELIVERY[..2]),
        optional("hammerdb.delivery.native", HAMMERDB_DELIVERY),
        optional("hammerdb.delivery.procedure", HAMMERDB_DELIVERY),
        optional("hammerdb.delivery.rows", HAMMERDB_DELIVERY),
        optional("hammerdb.delivery.block", HAMMERDB_DELIVERY),
        optional("hammerdb.delivery.variables", HAMMERDB_DELIVERY),
        optional("hammerdb.stock_level.function", HAMMERDB_STOCK_LEVEL),
        optional("hammerdb.stock_level.native", HAMMERDB_STOCK_LEVEL),
        optional("hammerdb.stock_level.procedure", HAMMERDB_STOCK_LEVEL),
        optional("hammerdb.stock_level.rows", HAMMERDB_STOCK_LEVEL),
        optional("hammerdb.stock_level.block", HAMMERDB_STOCK_LEVEL),
        optional("hammerdb.stock_level.variables", HAMMERDB_STOCK_LEVEL),
        // Procedures: one round trip per transaction.
        call(
            "new_order.call",
            &[
                W_ID,
                D_ID,
                C_ID,
                param("entry_d", Timestamp),
                param("i_id", IntList),
                param("supply_w_id", IntList),
                param("quantity", IntList),
            ],
        ),
        call(
            "payment.call",
            &[
                W_ID,
                D_ID,
                param("c_w_id", Int),
                param("c_d_id", Int),
                // One of the two is null.
                C_ID,
                param("c_last", Text),
                AMOUNT,
                param("h_date", Timestamp),
            ],
        ),
        call("order_status.call", &[W_ID, D_ID, C_ID, param("c_last", Text)]),
        call("delivery.call", &[W_ID, param("carrier_id", Int), param("delivery_d", Timestamp)]),
        call("stock_level.call", &[W_ID, D_ID, param("threshold", Int)]),
        // Statements: the same work in client SQL.
        statement("customer.by_last_name", &[W_ID, D_ID, param("c_last", Text)]),
        statement("new_order.customer", &[W_ID, D_ID, C_ID]),
        statement("new_order.district", &[W_ID, D_ID]),
        statement("new_order.advance_district", &[W_ID, D_ID]),
        statement(
            "new_order.insert_order",
            &[
                O_ID,
                D_ID,
                W_ID,
                C_ID,
                param("entry_d", Timestamp),
                param("ol_cnt", Int),
                param("all_local", Int),
            ],
        ),
        statement("new_order.insert_new_order", &[O_ID, D_ID, W_ID]),
        statement("new_order.item", &[param("i_id", Int)]),
        statement("new_order.stock", &[param("i_id", Int), W_ID, D_ID]),
        statement(
            "new_order.update_stock",
            &[
                param("s_quantity", Int),
                param("ordered", Int),
                param("remote", Int),
                param("i_id", Int),
                W_ID,
            ],
        ),
        statement(
            "new_order.insert_line",
            &[
                O_ID,
                D_ID,
                W_ID,
                param("number", Int),
                param("i_id", Int),
                param("supply_w_id", Int),
                param("quantity", Int),
                AMOUNT,
                param("dist_info", Text),
            ],
        ),
        statement("payment.update_warehouse", &[AMOUNT, W_ID]),
        statement("payment.warehouse", &[W_ID]),
        statement("payment.update_district", &[AMOUNT, W_ID, D_ID]),
        statement("payment.district", &[W_ID, D_ID]),
        statement("payment.customer", &[W_ID, D_ID, C_ID]),
        statement("payment.update_customer", &[AMOUNT, W_ID, D_ID, C_ID]),
        statement("payment.update_customer_data", &[AMOUNT, param("data", Text), W_ID, D_ID, C_ID]),
        statement(
            "payment.insert_history",
            &[
                C_ID,
                param("c_d_id", Int),
                param("c_w_id", Int),
                D_ID,
                W_ID,
                param("h_date", Timestamp),
                AMOUNT,
                param("data", Text),
            ],
        ),
        statement("order_status.customer", &[W_ID, D_ID, C_ID]),
        statement("order_status.order", &[W_ID, D_ID, C_ID]),
        statement("order_status.lines", &[W_ID, D_ID, O_ID]),
        statement("delivery.oldest", &[W_ID, D_ID]),
        statement("delivery.delete_new_order", &[W_ID, D_ID, O_ID]),
        statement("delivery.order", &[W_ID, D_ID, O_ID]),
        statement("delivery.update_order", &[param("carrier_id", Int), W_ID, D_ID, O_ID]),
        statement("delivery.update_lines", &[param("delivery_d", Timestamp), W_ID, D_ID, O_ID]),
        statement("delivery.amount", &[W_ID, D_ID, O_ID]),
        statement("delivery.update_customer", &[AMOUNT, W_ID, D_ID, C_ID]),
        statement("stock_level.district", &[W_ID, D_ID]),
        statement(
            "stock_level.count",
            &[
                W_ID,
                D_ID,
                param("first_o_id", Int),
                param("next_o_id", Int),
                param("threshold", Int),
            ],
        ),
        // Checks.
        check("check.3.3.2.1"),
        check("check.3.3.2.2"),
        check("check.3.3.2.3"),
        check("check.3.3.2.4"),
        check("check.3.3.2.5"),
        check("check.3.3.2.6"),
        check("check.3.3.2.7"),
        check("check.3.3.2.8"),
        check("check.3.3.2.9"),
        check("check.3.3.2.10"),
        check("check.3.3.2.11"),
        check("check.3.3.2.12"),
        check("check.13"),
        check("check.14"),
        check("check.15"),
        check("check.16"),
        check("check.17"),
        check("check.p.item"),
        check("check.p.item_rows"),
        check("check.p.warehouse"),
        check("check.p.warehouse_rows"),
        check("check.p.district"),
        check("check.p.district_rows"),
        check("check.p.customer"),
        check("check.p.customer_name"),
        check("check.p.customer_rows"),
        check("check.p.history"),
        check("check.p.history_rows"),
        check("check.p.stock"),
        check("check.p.stock_rows"),
        check("check.p.orders"),
        check("check.p.orders_rows"),
        check("check.p.order_line"),
        check("check.p.order_line_rows"),
        check("check.p.new_order"),
        check("check.p.new_order_rows"),
    ]
}

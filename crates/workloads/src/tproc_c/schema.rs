//! The nine tables and their columns (clause 1.3), in the order in which rows are loaded. Their SQL
//! is in `sql/base/tproc-c/schema.sql`; a test compares the two.

use std::sync::Arc;

use triphammer_core::value::ColumnType::{BigInt, Decimal, Int, Text, Timestamp};
use triphammer_core::workload::{TableDef, column, table};

/// One dollar in cents, the unit of money.
pub const DOLLAR: i64 = 100;
/// Number of rows of the item table (clause 1.2.1).
pub const ITEMS: i32 = 100_000;
/// Number of districts per warehouse.
pub const DISTRICTS: i32 = 10;
/// Number of customers per district.
pub const CUSTOMERS: i32 = 3_000;
/// Number of orders per district before any run.
pub const ORDERS: i32 = 3_000;
/// The first undelivered order of a district before any run.
pub const FIRST_NEW_ORDER: i32 = 2_101;
/// Maximum number of lines of an order; the minimum is [`LINES_MIN`].
pub const LINES_MAX: usize = 15;
/// Minimum number of lines of an order.
pub const LINES_MIN: usize = 5;
/// Number of rows per warehouse, with ten lines per order on average.
pub const WAREHOUSE_ROWS: u64 = 1 + 10 + 30_000 + 30_000 + 100_000 + 30_000 + 300_000 + 9_000;

/// Declares WAREHOUSE (clause 1.3).
fn warehouse() -> TableDef {
    table(
        "warehouse",
        [
            column("w_id", Int),
            column("w_name", Text),
            column("w_street_1", Text),
            column("w_street_2", Text),
            column("w_city", Text),
            column("w_state", Text),
            column("w_zip", Text),
            column("w_tax", Decimal(4)),
            column("w_ytd", Decimal(2)),
        ],
    )
}

/// Declares DISTRICT (clause 1.3).
fn district() -> TableDef {
    table(
        "district",
        [
            column("d_id", Int),
            column("d_w_id", Int),
            column("d_name", Text),
            column("d_street_1", Text),
            column("d_street_2", Text),
            column("d_city", Text),
            column("d_state", Text),
            column("d_zip", Text),
            column("d_tax", Decimal(4)),
            column("d_ytd", Decimal(2)),
            column("d_next_o_id", Int),
        ],
    )
}

/// Declares CUSTOMER (clause 1.3).
fn customer() -> TableDef {
    table(
        "customer",
        [
            column("c_id", Int),
            column("c_d_id", Int),
            column("c_w_id", Int),
            column("c_first", Text),
            column("c_middle", Text),
            column("c_last", Text),
            column("c_street_1", Text),
            column("c_street_2", Text),
            column("c_city", Text),
            column("c_state", Text),
            column("c_zip", Text),
            column("c_phone", Text),
            column("c_since", Timestamp),
            column("c_credit", Text),
            column("c_credit_lim", Decimal(2)),
            column("c_discount", Decimal(4)),
            column("c_balance", Decimal(2)),
            column("c_ytd_payment", Decimal(2)),
            column("c_payment_cnt", Int),
            column("c_delivery_cnt", Int),
            column("c_data", Text),
        ],
    )
}

/// Declares HISTORY (clause 1.3).
fn history() -> TableDef {
    table(
        "history",
        [
            column("h_c_id", Int),
            column("h_c_d_id", Int),
            column("h_c_w_id", Int),
            column("h_d_id", Int),
            column("h_w_id", Int),
            column("h_date", Timestamp),
            column("h_amount", Decimal(2)),
            column("h_data", Text),
        ],
    )
}

/// Declares ITEM (clause 1.3).
fn item() -> TableDef {
    table(
        "item",
        [
            column("i_id", Int),
            column("i_im_id", Int),
            column("i_name", Text),
            column("i_price", Decimal(2)),
            column("i_data", Text),
        ],
    )
}

/// Declares STOCK (clause 1.3).
fn stock() -> TableDef {
    table(
        "stock",
        [
            column("s_i_id", Int),
            column("s_w_id", Int),
            column("s_quantity", Int),
            column("s_dist_01", Text),
            column("s_dist_02", Text),
            column("s_dist_03", Text),
            column("s_dist_04", Text),
            column("s_dist_05", Text),
            column("s_dist_06", Text),
            column("s_dist_07", Text),
            column("s_dist_08", Text),
            column("s_dist_09", Text),
            column("s_dist_10", Text),
            column("s_ytd", BigInt),
            column("s_order_cnt", Int),
            column("s_remote_cnt", Int),
            column("s_data", Text),
        ],
    )
}

/// Declares ORDER (clause 1.3), named orders.
fn orders() -> TableDef {
    table(
        "orders",
        [
            column("o_id", Int),
            column("o_d_id", Int),
            column("o_w_id", Int),
            column("o_c_id", Int),
            column("o_entry_d", Timestamp),
            column("o_carrier_id", Int),
            column("o_ol_cnt", Int),
            column("o_all_local", Int),
        ],
    )
}

/// Declares ORDER-LINE (clause 1.3).
fn order_line() -> TableDef {
    table(
        "order_line",
        [
            column("ol_o_id", Int),
            column("ol_d_id", Int),
            column("ol_w_id", Int),
            column("ol_number", Int),
            column("ol_i_id", Int),
            column("ol_supply_w_id", Int),
            column("ol_delivery_d", Timestamp),
            column("ol_quantity", Int),
            column("ol_amount", Decimal(2)),
            column("ol_dist_info", Text),
        ],
    )
}

/// Declares NEW-ORDER (clause 1.3).
fn new_order() -> TableDef {
    table("new_order", [column("no_o_id", Int), column("no_d_id", Int), column("no_w_id", Int)])
}

/// All tables, in the order of creation.
#[must_use]
pub fn tables() -> Arc<[TableDef]> {
    [
        warehouse(),
        district(),
        customer(),
        history(),
        item(),
        stock(),
        orders(),
        order_line(),
        new_order(),
    ]
    .into()
}

/// The tables that exist once, not per warehouse.
#[must_use]
pub fn item_tables() -> Arc<[TableDef]> {
    [item()].into()
}

/// The tables that have rows per warehouse.
#[must_use]
pub fn warehouse_tables() -> Arc<[TableDef]> {
    tables().iter().filter(|table| table.name != "item").cloned().collect()
}

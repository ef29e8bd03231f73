//! The eight tables and their columns (clause 1.4), in the order of creation. How a database spells them is in
//! `sql/base/tproc-h/schema.sql`; a test holds the two together.

use std::sync::Arc;

use triphammer_core::value::ColumnType::{BigInt, Date, Decimal, Int, Text};
use triphammer_core::workload::{TableDef, column, table};

/// Clause 1.4.1: REGION.
pub fn region() -> TableDef {
    table("region", [column("r_regionkey", Int), column("r_name", Text), column("r_comment", Text)])
}

/// Clause 1.4.1: NATION.
pub fn nation() -> TableDef {
    table(
        "nation",
        [
            column("n_nationkey", Int),
            column("n_name", Text),
            column("n_regionkey", Int),
            column("n_comment", Text),
        ],
    )
}

/// Clause 1.4.1: SUPPLIER.
fn supplier() -> TableDef {
    table(
        "supplier",
        [
            column("s_suppkey", Int),
            column("s_name", Text),
            column("s_address", Text),
            column("s_nationkey", Int),
            column("s_phone", Text),
            column("s_acctbal", Decimal(2)),
            column("s_comment", Text),
        ],
    )
}

/// Clause 1.4.1: PART.
fn part() -> TableDef {
    table(
        "part",
        [
            column("p_partkey", Int),
            column("p_name", Text),
            column("p_mfgr", Text),
            column("p_brand", Text),
            column("p_type", Text),
            column("p_size", Int),
            column("p_container", Text),
            column("p_retailprice", Decimal(2)),
            column("p_comment", Text),
        ],
    )
}

/// Clause 1.4.1: PARTSUPP.
fn partsupp() -> TableDef {
    table(
        "partsupp",
        [
            column("ps_partkey", Int),
            column("ps_suppkey", Int),
            column("ps_availqty", Int),
            column("ps_supplycost", Decimal(2)),
            column("ps_comment", Text),
        ],
    )
}

/// Clause 1.4.1: CUSTOMER.
fn customer() -> TableDef {
    table(
        "customer",
        [
            column("c_custkey", Int),
            column("c_name", Text),
            column("c_address", Text),
            column("c_nationkey", Int),
            column("c_phone", Text),
            column("c_acctbal", Decimal(2)),
            column("c_mktsegment", Text),
            column("c_comment", Text),
        ],
    )
}

/// Clause 1.4.1: ORDERS. Its keys are sparse: they pass 32 bits from 358 SF on.
fn orders() -> TableDef {
    table(
        "orders",
        [
            column("o_orderkey", BigInt),
            column("o_custkey", Int),
            column("o_orderstatus", Text),
            column("o_totalprice", Decimal(2)),
            column("o_orderdate", Date),
            column("o_orderpriority", Text),
            column("o_clerk", Text),
            column("o_shippriority", Int),
            column("o_comment", Text),
        ],
    )
}

/// Clause 1.4.1: LINEITEM.
fn lineitem() -> TableDef {
    table(
        "lineitem",
        [
            column("l_orderkey", BigInt),
            column("l_partkey", Int),
            column("l_suppkey", Int),
            column("l_linenumber", Int),
            column("l_quantity", Decimal(2)),
            column("l_extendedprice", Decimal(2)),
            column("l_discount", Decimal(2)),
            column("l_tax", Decimal(2)),
            column("l_returnflag", Text),
            column("l_linestatus", Text),
            column("l_shipdate", Date),
            column("l_commitdate", Date),
            column("l_receiptdate", Date),
            column("l_shipinstruct", Text),
            column("l_shipmode", Text),
            column("l_comment", Text),
        ],
    )
}

/// All tables, in the order of creation.
#[must_use]
pub fn tables() -> Arc<[TableDef]> {
    fixed_tables().iter().chain(&*scaled_tables()).cloned().collect()
}

/// The tables that are the same at every scale.
pub(super) fn fixed_tables() -> Arc<[TableDef]> {
    [region(), nation()].into()
}

/// The tables that grow with the scale.
pub(super) fn scaled_tables() -> Arc<[TableDef]> {
    [supplier(), part(), partsupp(), customer(), orders(), lineitem()].into()
}

/// The tables that refresh functions change, in the order in which rows can be inserted.
pub(super) fn refreshed_tables() -> [TableDef; 2] {
    [orders(), lineitem()]
}

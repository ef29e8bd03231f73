//! The rows, made by the `tpchgen` crate as `dbgen` makes them, straight into the buffers that the databases'
//! bulk paths send. A chunk is a part of each table by `dbgen`'s own rule: it starts where the streams of
//! random numbers of that part start, so chunks are independent of each other and of who makes them.

use std::fmt::Display;
use std::io::Write as _;

use tpchgen::dates::TPCHDate;
use tpchgen::decimal::TPCHDecimal;
use tpchgen::generators::{
    Customer, CustomerGenerator, LineItem, LineItemGenerator, Nation, NationGenerator, Order,
    OrderGenerator, Part, PartGenerator, PartSupp, PartSuppGenerator, Region, RegionGenerator,
    Supplier, SupplierGenerator,
};
use triphammer_core::Scale;
use triphammer_core::rows::Rows;
use triphammer_core::session::RowSource;
use triphammer_core::value::Date;

/// Bytes of a batch: large enough that its overhead vanishes, small enough to stay in a cache.
const BATCH_BYTES: usize = 384 * 1024;

/// Which rows of a table: those of part `part` of `parts`, from 1, at scale factor `factor`.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Size of all data.
    pub factor: f64,
    /// Which part.
    pub part: i32,
    /// Of how many.
    pub parts: i32,
}

/// Rows and clerks at scale factor 1 that the generator multiplies by the scale factor and cuts off.
const BASES: [u64; 5] = [1_000, 10_000, 150_000, 200_000, 1_500_000];

/// The scale factor for the generator: the least from the nearest on of which every product is whole.
/// 200,000 × 0.018 is less than 3,600 in floating point, and would be cut to 3,599.
#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
pub fn factor(scale: Scale) -> f64 {
    let least = |base: u64| (scale.thousandths() * (base / 1_000)) as f64;
    let is_short = |factor: f64| BASES.iter().any(|base| *base as f64 * factor < least(*base));
    let mut factor = scale.as_f64();
    while is_short(factor) {
        factor = factor.next_up();
    }
    factor
}

/// A row of one of the tables, in `dbgen`'s order of columns.
trait IntoRow {
    /// Appends the fields of the row.
    fn put(self, rows: &mut Rows);
}

/// Rows of `table`.
///
/// # Panics
/// When there is no such table.
pub fn rows(table: &str, of: Piece) -> Box<dyn RowSource> {
    let Piece { factor, part, parts } = of;
    match table {
        "region" => batches(RegionGenerator::new(factor, 1, 1).iter()),
        "nation" => batches(NationGenerator::new(factor, 1, 1).iter()),
        "supplier" => batches(SupplierGenerator::new(factor, part, parts).iter()),
        "part" => batches(PartGenerator::new(factor, part, parts).iter()),
        "partsupp" => batches(PartSuppGenerator::new(factor, part, parts).iter()),
        "customer" => batches(CustomerGenerator::new(factor, part, parts).iter()),
        "orders" => batches(OrderGenerator::new(factor, part, parts).iter()),
        "lineitem" => batches(LineItemGenerator::new(factor, part, parts).iter()),
        other => unreachable!("{other} is no table of TPROC-H"),
    }
}

/// The first `orders` orders of this part, or their lines; `key` gives the key of each by its number, from 0.
///
/// # Panics
/// When `table` is neither `orders` nor `lineitem`.
pub fn refresh_rows(
    table: &str,
    of: Piece,
    orders: u64,
    key: impl Fn(u64) -> i64 + 'static,
) -> Box<dyn RowSource> {
    let Piece { factor, part, parts } = of;
    let each = OrderGenerator::calculate_row_count(factor, 1, parts);
    let start = each * (i64::from(part) - 1);
    let nth = move |sparse: i64| {
        u64::try_from(order_number(sparse) - start - 1)
            .expect("orders follow the start of their part")
    };
    match table {
        "orders" => {
            let rows = OrderGenerator::new(factor, part, parts).iter();
            let own = rows.map(move |row| (nth(row.o_orderkey), row));
            let own = own.take_while(move |(nth, _)| *nth < orders);
            batches(own.map(move |(nth, row)| Order { o_orderkey: key(nth), ..row }))
        }
        "lineitem" => {
            let rows = LineItemGenerator::new(factor, part, parts).iter();
            let own = rows.map(move |row| (nth(row.l_orderkey), row));
            let own = own.take_while(move |(nth, _)| *nth < orders);
            batches(own.map(move |(nth, row)| LineItem { l_orderkey: key(nth), ..row }))
        }
        other => unreachable!("{other} is not refreshed"),
    }
}

/// The number of an order, from 1, from the key that the load gives it.
fn order_number(key: i64) -> i64 {
    key / 32 * 8 + key % 32
}

fn batches<R: IntoRow>(mut each: impl Iterator<Item = R> + 'static) -> Box<dyn RowSource> {
    Box::new(move |rows: &mut Rows| {
        while rows.bytes() < BATCH_BYTES {
            let Some(row) = each.next() else { return false };
            row.put(rows);
        }
        true
    })
}

/// Fields that the generator has in types of its own.
trait Fields {
    /// Appends a decimal of two digits after the point.
    fn cents(&mut self, value: TPCHDecimal);
    /// Appends a date.
    fn day(&mut self, value: TPCHDate);
    /// Appends what `value` shows.
    fn shown(&mut self, value: impl Display);
}

impl Fields for Rows {
    fn cents(&mut self, value: TPCHDecimal) {
        self.decimal(value.into_inner(), 2);
    }

    fn day(&mut self, value: TPCHDate) {
        self.date(Date(value.to_unix_epoch()));
    }

    fn shown(&mut self, value: impl Display) {
        self.text_with(|out| write!(out, "{value}").expect("memory can be written to"));
    }
}

impl IntoRow for Region<'_> {
    fn put(self, rows: &mut Rows) {
        rows.int(self.r_regionkey);
        rows.text(self.r_name);
        rows.text(self.r_comment);
    }
}

impl IntoRow for Nation<'_> {
    fn put(self, rows: &mut Rows) {
        rows.int(self.n_nationkey);
        rows.text(self.n_name);
        rows.int(self.n_regionkey);
        rows.text(self.n_comment);
    }
}

impl IntoRow for Supplier {
    fn put(self, rows: &mut Rows) {
        rows.int(self.s_suppkey);
        rows.shown(self.s_name);
        rows.shown(self.s_address);
        rows.int(self.s_nationkey);
        rows.shown(self.s_phone);
        rows.cents(self.s_acctbal);
        rows.text(&self.s_comment);
    }
}

impl IntoRow for Part<'_> {
    fn put(self, rows: &mut Rows) {
        rows.int(self.p_partkey);
        rows.shown(self.p_name);
        rows.shown(self.p_mfgr);
        rows.shown(self.p_brand);
        rows.text(self.p_type);
        rows.int(self.p_size.into());
        rows.text(self.p_container);
        rows.cents(self.p_retailprice);
        rows.text(self.p_comment);
    }
}

impl IntoRow for PartSupp<'_> {
    fn put(self, rows: &mut Rows) {
        rows.int(self.ps_partkey);
        rows.int(self.ps_suppkey);
        rows.int(self.ps_availqty.into());
        rows.cents(self.ps_supplycost);
        rows.text(self.ps_comment);
    }
}

impl IntoRow for Customer<'_> {
    fn put(self, rows: &mut Rows) {
        rows.int(self.c_custkey);
        rows.shown(self.c_name);
        rows.shown(self.c_address);
        rows.int(self.c_nationkey);
        rows.shown(self.c_phone);
        rows.cents(self.c_acctbal);
        rows.text(self.c_mktsegment);
        rows.text(self.c_comment);
    }
}

impl IntoRow for Order<'_> {
    fn put(self, rows: &mut Rows) {
        rows.int(self.o_orderkey);
        rows.int(self.o_custkey);
        rows.text(self.o_orderstatus.as_str());
        rows.cents(self.o_totalprice);
        rows.day(self.o_orderdate);
        rows.text(self.o_orderpriority);
        rows.shown(self.o_clerk);
        rows.int(self.o_shippriority.into());
        rows.text(self.o_comment);
    }
}

impl IntoRow for LineItem<'_> {
    fn put(self, rows: &mut Rows) {
        rows.int(self.l_orderkey);
        rows.int(self.l_partkey);
        rows.int(self.l_suppkey);
        rows.int(self.l_linenumber.into());
        // Without digits after the point, as dbgen writes it.
        rows.decimal(self.l_quantity, 0);
        rows.cents(self.l_extendedprice);
        rows.cents(self.l_discount);
        rows.cents(self.l_tax);
        rows.text(self.l_returnflag);
        rows.text(self.l_linestatus);
        rows.day(self.l_shipdate);
        rows.day(self.l_commitdate);
        rows.day(self.l_receiptdate);
        rows.text(self.l_shipinstruct);
        rows.text(self.l_shipmode);
        rows.text(self.l_comment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row of a part as one text.
    fn all(table: &str, of: Piece) -> Vec<String> {
        let mut source = rows(table, of);
        let (mut batch, mut found) = (Rows::new(), Vec::new());
        let width = super::super::schema::tables();
        let width = width.iter().find(|t| t.name == table).unwrap().columns.len();
        loop {
            batch.reset(width);
            let more = source.fill(&mut batch);
            assert!(!batch.has_partial_row(), "{table}");
            for row in batch.iter() {
                let cell =
                    |n| row.text(n).map_or_else(|_| format!("{:?}", row.cell(n)), str::to_owned);
                found.push((0..width).map(cell).collect::<Vec<_>>().join("|"));
            }
            if !more {
                return found;
            }
        }
    }

    #[test]
    fn parts_together_are_the_whole() {
        for table in ["supplier", "part", "partsupp", "customer", "orders", "lineitem"] {
            let factor = 0.01;
            let whole = all(table, Piece { factor, part: 1, parts: 1 });
            let parts: Vec<String> =
                (1..=3).flat_map(|part| all(table, Piece { factor, part, parts: 3 })).collect();
            assert!(whole == parts, "{table}");
        }
        for (table, rows) in [("region", 5), ("nation", 25)] {
            assert_eq!(all(table, Piece { factor: 0.01, part: 1, parts: 1 }).len(), rows);
        }
    }

    /// Checks count by thousandths, the generator by floating point.
    #[test]
    fn every_thousandth_has_its_rows() {
        for thousandths in (10..=3_000).chain([10_001, 99_999, 30_000_000]) {
            let factor = factor(Scale::from_thousandths(thousandths));
            let counts = [
                (SupplierGenerator::calculate_row_count(factor, 1, 1), 10),
                (PartGenerator::calculate_row_count(factor, 1, 1), 200),
                (CustomerGenerator::calculate_row_count(factor, 1, 1), 150),
                (OrderGenerator::calculate_row_count(factor, 1, 1), 1_500),
            ];
            for (counted, each) in counts {
                assert_eq!(u64::try_from(counted).unwrap(), thousandths * each, "{factor}");
            }
        }
    }
}

//! The rows, made by the `tpchgen` crate as `dbgen` makes them, straight into the buffers that the databases'
//! bulk paths send. A chunk is a part of each table by `dbgen`'s own rule: it starts where the streams of
//! random numbers of that part start, so chunks are independent of each other and of who makes them.
//!
//! Comments are not those of the crate, which holds the text that they are cut from in 300 MiB: it gets a small text
//! instead, and the stream of random numbers of the table's comments, which nothing else uses, is drawn here once
//! more to cut them from our [`text_pool`].

use std::fmt::Display;
use std::io::Write as _;
use std::sync::LazyLock;

use tpchgen::dates::{GenerateUtils, TPCHDate};
use tpchgen::decimal::TPCHDecimal;
use tpchgen::distribution::Distributions;
use tpchgen::generators::{
    Customer, CustomerGenerator, LineItem, LineItemGenerator, Nation, NationGenerator, Order,
    OrderGenerator, Part, PartGenerator, PartSupp, PartSuppGenerator, Region, RegionGenerator,
    Supplier, SupplierGenerator,
};
use tpchgen::random::RowRandomInt;
use tpchgen::text::TextPool;
use triphammer_core::Scale;
use triphammer_core::rows::Rows;
use triphammer_core::session::RowSource;
use triphammer_core::value::Date;

use super::text_pool::{CHARACTERS, text_pool};

/// What suppliers' comments may have that is not from the pool (clause 4.2.3).
const SUPPLIER_WORDS: [&str; 3] = [
    SupplierGenerator::BBB_BASE_TEXT,
    SupplierGenerator::BBB_COMPLAINT_TEXT,
    SupplierGenerator::BBB_RECOMMEND_TEXT,
];
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
    /// The comments of its table.
    const COMMENTS: CommentDef;
    /// What rows that share a row of random numbers have in common.
    fn group(&self) -> i64;
    /// Appends the fields of the row.
    fn put(self, rows: &mut Rows, comments: &mut Comments);
}

/// How `dbgen` chooses the comments of a table.
struct CommentDef {
    /// Where its random numbers start.
    seed: i64,
    /// Length of a comment on average; the longest is 1.6 times as long.
    average: i32,
    /// Most comments that share a row of random numbers.
    group: i32,
    /// Rows of random numbers at scale factor 1; 0 where they do not depend on it.
    base: i32,
}

/// The comments of a part of a table.
struct Comments {
    random: RowRandomInt,
    /// Where the last comment can begin.
    last: i32,
    group: Option<i64>,
}

impl Comments {
    fn new(of: &CommentDef, piece: Piece) -> Self {
        let Piece { factor, part, parts } = piece;
        let mut random = RowRandomInt::new(of.seed, 2 * of.group);
        random.advance_rows(GenerateUtils::calculate_start_index(of.base, factor, part, parts));
        Self { random, last: CHARACTERS - of.average * 16 / 10, group: None }
    }

    /// To be called for each row, before its comment.
    fn begin(&mut self, group: i64) {
        if self.group.replace(group).is_some_and(|last| last != group) {
            self.random.row_finished();
        }
    }

    /// Appends the comment of the row, which is as long as `other`.
    fn put(&mut self, other: &str, out: &mut Vec<u8>) {
        let offset = self.random.next_int(0, self.last);
        // The second number chose the length of the other.
        self.random.next_rand();
        text_pool().put(usize::try_from(offset).expect("not negative"), other.len(), out);
    }
}

/// A text for the generators, whose own would be large.
fn short_text() -> &'static TextPool {
    static TEXT: LazyLock<TextPool> =
        LazyLock::new(|| TextPool::new(4_096, Distributions::static_default()));
    &TEXT
}

/// Rows of `table`.
///
/// # Panics
/// When there is no such table.
pub fn rows(table: &str, of: Piece) -> Box<dyn RowSource> {
    let Piece { factor, part, parts } = of;
    let (words, text) = (Distributions::static_default(), short_text());
    macro_rules! rows {
        ($table:ident($($piece:expr),*)) => {
            batches(of, $table::new_with_distributions_and_text_pool($($piece,)* words, text).iter())
        };
    }
    match table {
        "region" => rows!(RegionGenerator()),
        "nation" => rows!(NationGenerator()),
        "supplier" => rows!(SupplierGenerator(factor, part, parts)),
        "part" => rows!(PartGenerator(factor, part, parts)),
        "partsupp" => {
            batches(of, PartSuppGenerator::new_with_text_pool(factor, part, parts, text).iter())
        }
        "customer" => rows!(CustomerGenerator(factor, part, parts)),
        "orders" => batches(of, orders(of).iter()),
        "lineitem" => batches(of, lines(of).iter()),
        other => unreachable!("{other} is no table of TPROC-H"),
    }
}

fn orders(of: Piece) -> OrderGenerator<'static> {
    OrderGenerator::new_with_distributions_and_text_pool(
        of.factor,
        of.part,
        of.parts,
        Distributions::static_default(),
        short_text(),
    )
}

fn lines(of: Piece) -> LineItemGenerator<'static> {
    LineItemGenerator::new_with_distributions_and_text_pool(
        of.factor,
        of.part,
        of.parts,
        Distributions::static_default(),
        short_text(),
    )
}

/// The first `count` orders of this part, or their lines; `key` gives the key of each by its number, from 0.
///
/// # Panics
/// When `table` is neither `orders` nor `lineitem`.
pub fn refresh_rows(
    table: &str,
    of: Piece,
    count: u64,
    key: impl Fn(u64) -> i64 + 'static,
) -> Box<dyn RowSource> {
    let each = OrderGenerator::calculate_row_count(of.factor, 1, of.parts);
    let start = each * (i64::from(of.part) - 1);
    let nth = move |sparse: i64| {
        u64::try_from(order_number(sparse) - start - 1)
            .expect("orders follow the start of their part")
    };
    match table {
        "orders" => {
            let all = orders(of).iter().map(move |row| (nth(row.o_orderkey), row));
            let own = all.take_while(move |(nth, _)| *nth < count);
            batches(of, own.map(move |(nth, row)| Order { o_orderkey: key(nth), ..row }))
        }
        "lineitem" => {
            let all = lines(of).iter().map(move |row| (nth(row.l_orderkey), row));
            let own = all.take_while(move |(nth, _)| *nth < count);
            batches(of, own.map(move |(nth, row)| LineItem { l_orderkey: key(nth), ..row }))
        }
        other => unreachable!("{other} is not refreshed"),
    }
}

/// The number of an order, from 1, from the key that the load gives it.
fn order_number(key: i64) -> i64 {
    key / 32 * 8 + key % 32
}

fn batches<R: IntoRow>(
    of: Piece,
    mut each: impl Iterator<Item = R> + 'static,
) -> Box<dyn RowSource> {
    let mut comments = Comments::new(&R::COMMENTS, of);
    Box::new(move |rows: &mut Rows| {
        while rows.bytes() < BATCH_BYTES {
            let Some(row) = each.next() else { return false };
            comments.begin(row.group());
            row.put(rows, &mut comments);
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
    /// Appends the comment in the place of that of the row.
    fn comment(&mut self, other: &str, comments: &mut Comments);
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

    fn comment(&mut self, other: &str, comments: &mut Comments) {
        self.text_with(|out| comments.put(other, out));
    }
}

impl IntoRow for Region<'_> {
    const COMMENTS: CommentDef = CommentDef { seed: 1_500_869_201, average: 72, group: 1, base: 0 };

    fn group(&self) -> i64 {
        self.r_regionkey
    }

    fn put(self, rows: &mut Rows, comments: &mut Comments) {
        rows.int(self.r_regionkey);
        rows.text(self.r_name);
        rows.comment(self.r_comment, comments);
    }
}

impl IntoRow for Nation<'_> {
    const COMMENTS: CommentDef = CommentDef { seed: 606_179_079, average: 72, group: 1, base: 0 };

    fn group(&self) -> i64 {
        self.n_nationkey
    }

    fn put(self, rows: &mut Rows, comments: &mut Comments) {
        rows.int(self.n_nationkey);
        rows.text(self.n_name);
        rows.int(self.n_regionkey);
        rows.comment(self.n_comment, comments);
    }
}

impl IntoRow for Supplier {
    const COMMENTS: CommentDef =
        CommentDef { seed: 1_341_315_363, average: 63, group: 1, base: 10_000 };

    fn group(&self) -> i64 {
        self.s_suppkey
    }

    fn put(self, rows: &mut Rows, comments: &mut Comments) {
        rows.int(self.s_suppkey);
        rows.shown(self.s_name);
        rows.shown(self.s_address);
        rows.int(self.s_nationkey);
        rows.shown(self.s_phone);
        rows.cents(self.s_acctbal);
        rows.text_with(|out| {
            let start = out.len();
            comments.put(&self.s_comment, out);
            // What the generator writes into some comments, at the same places.
            for words in SUPPLIER_WORDS {
                if let Some(place) = self.s_comment.find(words) {
                    let place = start + place;
                    out[place..place + words.len()].copy_from_slice(words.as_bytes());
                }
            }
        });
    }
}

impl IntoRow for Part<'_> {
    const COMMENTS: CommentDef =
        CommentDef { seed: 804_159_733, average: 14, group: 1, base: 200_000 };

    fn group(&self) -> i64 {
        self.p_partkey
    }

    fn put(self, rows: &mut Rows, comments: &mut Comments) {
        rows.int(self.p_partkey);
        rows.shown(self.p_name);
        rows.shown(self.p_mfgr);
        rows.shown(self.p_brand);
        rows.text(self.p_type);
        rows.int(self.p_size.into());
        rows.text(self.p_container);
        rows.cents(self.p_retailprice);
        rows.comment(self.p_comment, comments);
    }
}

impl IntoRow for PartSupp<'_> {
    const COMMENTS: CommentDef =
        CommentDef { seed: 1_961_692_154, average: 124, group: 4, base: 200_000 };

    fn group(&self) -> i64 {
        self.ps_partkey
    }

    fn put(self, rows: &mut Rows, comments: &mut Comments) {
        rows.int(self.ps_partkey);
        rows.int(self.ps_suppkey);
        rows.int(self.ps_availqty.into());
        rows.cents(self.ps_supplycost);
        rows.comment(self.ps_comment, comments);
    }
}

impl IntoRow for Customer<'_> {
    const COMMENTS: CommentDef =
        CommentDef { seed: 1_335_826_707, average: 73, group: 1, base: 150_000 };

    fn group(&self) -> i64 {
        self.c_custkey
    }

    fn put(self, rows: &mut Rows, comments: &mut Comments) {
        rows.int(self.c_custkey);
        rows.shown(self.c_name);
        rows.shown(self.c_address);
        rows.int(self.c_nationkey);
        rows.shown(self.c_phone);
        rows.cents(self.c_acctbal);
        rows.text(self.c_mktsegment);
        rows.comment(self.c_comment, comments);
    }
}

impl IntoRow for Order<'_> {
    const COMMENTS: CommentDef =
        CommentDef { seed: 276_090_261, average: 49, group: 1, base: 1_500_000 };

    fn group(&self) -> i64 {
        self.o_orderkey
    }

    fn put(self, rows: &mut Rows, comments: &mut Comments) {
        rows.int(self.o_orderkey);
        rows.int(self.o_custkey);
        rows.text(self.o_orderstatus.as_str());
        rows.cents(self.o_totalprice);
        rows.day(self.o_orderdate);
        rows.text(self.o_orderpriority);
        rows.shown(self.o_clerk);
        rows.int(self.o_shippriority.into());
        rows.comment(self.o_comment, comments);
    }
}

impl IntoRow for LineItem<'_> {
    const COMMENTS: CommentDef =
        CommentDef { seed: 1_095_462_486, average: 27, group: 7, base: 1_500_000 };

    fn group(&self) -> i64 {
        self.l_orderkey
    }

    fn put(self, rows: &mut Rows, comments: &mut Comments) {
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
        rows.comment(self.l_comment, comments);
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

    #[test]
    fn the_short_text_has_no_words_that_suppliers_get() {
        let text = short_text();
        for words in SUPPLIER_WORDS {
            assert!(!text.text(0, text.size()).contains(words.trim()), "{words}");
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

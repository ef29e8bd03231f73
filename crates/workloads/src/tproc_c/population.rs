//! The rows before any run (clause 4.3.3). Each table of each warehouse, and within it of each
//! district, has its own random stream, so that any part can be generated alone, by any number of
//! jobs, and is identical to the byte. Rows are written directly to the buffer that is sent;
//! nothing is allocated per row.
//!
//! A golden test pins the rows of a seed: every version must generate the same data.

use triphammer_core::random::{Pick, Rng};
use triphammer_core::rows::Rows;
use triphammer_core::session::RowSource;
use triphammer_core::value::Timestamp;

use super::constants::A_LAST;
use super::names::LastNames;
use super::schema::{
    CUSTOMERS, DISTRICTS, DOLLAR, FIRST_NEW_ORDER, ITEMS, LINES_MAX, LINES_MIN, ORDERS,
};
use crate::BATCH_BYTES;

/// Purpose of a random stream. The numbers are part of the data's definition: never change one.
#[derive(Clone, Copy, Debug)]
pub enum Stream {
    /// The NURand constant C-Load.
    CLoad = 0,
    /// Rows of table item.
    Item = 1,
    /// The row of a warehouse.
    Warehouse = 2,
    /// Rows of table district.
    District = 3,
    /// Rows of table customer.
    Customer = 4,
    /// Rows of table history.
    History = 5,
    /// Rows of table stock.
    Stock = 6,
    /// Rows of table orders, except for the number of their lines.
    Orders = 7,
    /// Number of lines of each order, which orders and `order_line` both need.
    LineCount = 8,
    /// Rows of table `order_line`.
    OrderLine = 9,
    /// The NURand constants of a run.
    CRun = 10,
    /// The warehouse of the first user of a run.
    Start = 11,
    /// The district of the first terminal of a warehouse in a run.
    Terminal = 12,
}

impl Stream {
    /// The stream for this purpose and these keys.
    #[must_use]
    pub fn rng(self, seed: u64, keys: &[u64]) -> Rng {
        let mut purpose = [self as u64, 0, 0];
        purpose[1..=keys.len()].copy_from_slice(keys);
        Rng::of(seed, &purpose[..=keys.len()])
    }
}

/// Generates the rows of every table.
#[derive(Debug)]
pub struct Population {
    seed: u64,
    c_load: i64,
    instant: Timestamp,
}

impl Population {
    /// Creates the population of a seed, with `instant` as the date of all rows.
    #[must_use]
    pub fn new(seed: u64, c_load: i64, instant: Timestamp) -> Self {
        Self { seed, c_load, instant }
    }

    /// Rows of `table` in warehouse `w_id`; 0 for item, which belongs to none.
    ///
    /// # Panics
    /// When there is no such table.
    #[must_use]
    pub fn rows<'a>(
        &'a self,
        table: &str,
        w_id: i64,
        names: &'a LastNames,
    ) -> Box<dyn RowSource + 'a> {
        match table {
            "item" => self.item(),
            "warehouse" => self.warehouse(w_id),
            "district" => self.district(w_id),
            "customer" => self.customer(w_id, names),
            "history" => self.history(w_id),
            "stock" => self.stock(w_id),
            "orders" => self.orders(w_id),
            "order_line" => self.order_line(w_id),
            "new_order" => Box::new(in_districts(|_| (), new_order(w_id))),
            other => unreachable!("TPROC-C has no table {other}"),
        }
    }

    fn rng(&self, stream: Stream, w_id: i64) -> Rng {
        stream.rng(self.seed, &[w_id.unsigned_abs()])
    }

    fn district_rng(&self, stream: Stream, w_id: i64, d_id: i64) -> Rng {
        stream.rng(self.seed, &[w_id.unsigned_abs(), d_id.unsigned_abs()])
    }

    /// Rows of item (clause 4.3.3.1): exactly one in ten is ORIGINAL.
    fn item(&self) -> Box<dyn RowSource + '_> {
        let mut rng = Stream::Item.rng(self.seed, &[]);
        let mut original = tenth(ITEMS);
        Box::new(batches(ITEMS, move |i_id, rows| {
            rows.int(i_id);
            rows.int(rng.between(1, 10_000));
            a_string(&mut rng, rows, 14, 24);
            rows.decimal(rng.between(100, 10_000), 2);
            data(&mut rng, rows, &mut original);
        }))
    }

    fn warehouse(&self, w_id: i64) -> Box<dyn RowSource + '_> {
        let mut rng = self.rng(Stream::Warehouse, w_id);
        Box::new(batches(1, move |_, rows| {
            rows.int(w_id);
            a_string(&mut rng, rows, 6, 10);
            address(&mut rng, rows);
            rows.decimal(rng.between(0, 2_000), 4);
            rows.decimal(300_000 * DOLLAR, 2);
        }))
    }

    fn district(&self, w_id: i64) -> Box<dyn RowSource + '_> {
        let mut rng = self.rng(Stream::District, w_id);
        Box::new(batches(DISTRICTS, move |d_id, rows| {
            rows.int(d_id);
            rows.int(w_id);
            a_string(&mut rng, rows, 6, 10);
            address(&mut rng, rows);
            rows.decimal(rng.between(0, 2_000), 4);
            rows.decimal(30_000 * DOLLAR, 2);
            rows.int(i64::from(ORDERS) + 1);
        }))
    }

    /// Rows of customer: the first thousand customers of a district have each of the thousand names
    /// once; exactly one in ten has bad credit.
    fn customer<'a>(&'a self, w_id: i64, names: &'a LastNames) -> Box<dyn RowSource + 'a> {
        let begin = move |d_id| (self.district_rng(Stream::Customer, w_id, d_id), tenth(CUSTOMERS));
        let row = move |(rng, bad): &mut (Rng, Pick), d_id, c_id, rows: &mut Rows| {
            rows.int(c_id);
            rows.int(d_id);
            rows.int(w_id);
            a_string(rng, rows, 8, 16);
            rows.text("OE");
            let name =
                if c_id <= 1000 { c_id - 1 } else { rng.nurand(A_LAST, self.c_load, 0, 999) };
            rows.text(names.get(u16::try_from(name).expect("a name's number is below 1000")));
            address(rng, rows);
            rows.text_with(|out| rng.digits(16, out));
            rows.timestamp(self.instant);
            rows.text(if bad.next(rng) { "BC" } else { "GC" });
            rows.decimal(50_000 * DOLLAR, 2);
            rows.decimal(rng.between(0, 5_000), 4);
            rows.decimal(-10 * DOLLAR, 2);
            rows.decimal(10 * DOLLAR, 2);
            rows.int(1);
            rows.int(0);
            a_string(rng, rows, 300, 500);
        };
        Box::new(in_districts(begin, Each { count: CUSTOMERS, row }))
    }

    /// Rows of history, one per customer.
    fn history(&self, w_id: i64) -> Box<dyn RowSource + '_> {
        let begin = move |d_id| self.district_rng(Stream::History, w_id, d_id);
        let row = move |rng: &mut Rng, d_id, c_id, rows: &mut Rows| {
            rows.int(c_id);
            rows.int(d_id);
            rows.int(w_id);
            rows.int(d_id);
            rows.int(w_id);
            rows.timestamp(self.instant);
            rows.decimal(10 * DOLLAR, 2);
            a_string(rng, rows, 12, 24);
        };
        Box::new(in_districts(begin, Each { count: CUSTOMERS, row }))
    }

    fn stock(&self, w_id: i64) -> Box<dyn RowSource + '_> {
        let mut rng = self.rng(Stream::Stock, w_id);
        let mut original = tenth(ITEMS);
        Box::new(batches(ITEMS, move |i_id, rows| {
            rows.int(i_id);
            rows.int(w_id);
            rows.int(rng.between(10, 100));
            for _ in 0..DISTRICTS {
                rows.text_with(|out| rng.alphanumeric(24, out));
            }
            rows.int(0);
            rows.int(0);
            rows.int(0);
            data(&mut rng, rows, &mut original);
        }))
    }

    /// Rows of orders; the customers of a district's orders are a permutation of its customers.
    fn orders(&self, w_id: i64) -> Box<dyn RowSource + '_> {
        let begin = move |d_id| {
            let mut rng = self.district_rng(Stream::Orders, w_id, d_id);
            let mut customers: Vec<i32> = (1..=CUSTOMERS).collect();
            rng.shuffle(&mut customers);
            (rng, self.district_rng(Stream::LineCount, w_id, d_id), customers.into_iter())
        };
        type State = (Rng, Rng, std::vec::IntoIter<i32>);
        let row = move |(rng, counts, customers): &mut State, d_id, o_id, rows: &mut Rows| {
            rows.int(o_id);
            rows.int(d_id);
            rows.int(w_id);
            rows.int(customers.next().expect("as many orders as customers").into());
            rows.timestamp(self.instant);
            if is_delivered(o_id) {
                rows.int(rng.between(1, 10))
            } else {
                rows.null()
            }
            rows.int(line_count(counts));
            rows.int(1);
        };
        Box::new(in_districts(begin, Each { count: ORDERS, row }))
    }

    fn order_line(&self, w_id: i64) -> Box<dyn RowSource + '_> {
        let begin = move |d_id| {
            (
                self.district_rng(Stream::OrderLine, w_id, d_id),
                self.district_rng(Stream::LineCount, w_id, d_id),
            )
        };
        let row = move |(rng, counts): &mut (Rng, Rng), d_id, o_id, rows: &mut Rows| {
            let delivered = is_delivered(o_id);
            for number in 1..=line_count(counts) {
                rows.int(o_id);
                rows.int(d_id);
                rows.int(w_id);
                rows.int(number);
                rows.int(rng.between(1, i64::from(ITEMS)));
                rows.int(w_id);
                if delivered {
                    rows.timestamp(self.instant)
                } else {
                    rows.null()
                }
                rows.int(5);
                rows.decimal(if delivered { 0 } else { rng.between(1, 999_999) }, 2);
                rows.text_with(|out| rng.alphanumeric(24, out));
            }
        };
        Box::new(in_districts(begin, Each { count: ORDERS, row }))
    }
}

/// Rows of `new_order`: the last 900 orders of each district.
fn new_order(w_id: i64) -> Each<impl FnMut(&mut (), i64, i64, &mut Rows)> {
    let before = i64::from(FIRST_NEW_ORDER) - 1;
    Each {
        count: ORDERS - FIRST_NEW_ORDER + 1,
        row: move |(): &mut (), d_id, n, rows: &mut Rows| {
            rows.int(before + n);
            rows.int(d_id);
            rows.int(w_id);
        },
    }
}

fn is_delivered(o_id: i64) -> bool {
    o_id < i64::from(FIRST_NEW_ORDER)
}

fn line_count(rng: &mut Rng) -> i64 {
    rng.between(LINES_MIN as i64, LINES_MAX as i64)
}

/// Picks exactly a tenth of `count` places.
fn tenth(count: i32) -> Pick {
    let count = u64::from(count.unsigned_abs());
    Pick::new(count / 10, count)
}

/// A source that calls `row` with 1 to `count`, a batch at a time.
fn batches(count: i32, mut row: impl FnMut(i64, &mut Rows)) -> impl RowSource {
    let (mut next, last) = (1, i64::from(count));
    move |rows: &mut Rows| {
        while next <= last && rows.bytes() < BATCH_BYTES {
            row(next, rows);
            next += 1;
        }
        next <= last
    }
}

/// A source of `count` rows per district: `row(state, d_id, number, rows)`.
struct Each<F> {
    count: i32,
    row: F,
}

/// A source that iterates over the districts; `begin` creates the state of each.
fn in_districts<S, F: FnMut(&mut S, i64, i64, &mut Rows)>(
    begin: impl Fn(i64) -> S,
    mut each: Each<F>,
) -> impl RowSource {
    let of_a_district = i64::from(each.count);
    let mut state = begin(1);
    batches(each.count * DISTRICTS, move |n, rows| {
        let (district, number) = ((n - 1) / of_a_district, (n - 1) % of_a_district);
        if number == 0 && district > 0 {
            state = begin(district + 1);
        }
        (each.row)(&mut state, district + 1, number + 1, rows);
    })
}

fn length(rng: &mut Rng, low: usize, high: usize) -> usize {
    low + usize::try_from(rng.below((high - low + 1) as u64)).expect("below a usize")
}

/// Appends a random a-string [low .. high] (clause 4.3.2.2).
pub(crate) fn a_string(rng: &mut Rng, rows: &mut Rows, low: usize, high: usize) {
    let length = length(rng, low, high);
    rows.text_with(|out| rng.alphanumeric(length, out));
}

/// Appends `i_data` or `s_data`: some contain ORIGINAL at a random position.
fn data(rng: &mut Rng, rows: &mut Rows, original: &mut Pick) {
    const ORIGINAL: &[u8] = b"ORIGINAL";
    let length = length(rng, 26, 50);
    rows.text_with(|out| {
        let start = out.len();
        rng.alphanumeric(length, out);
        if original.next(rng) {
            let place = start + self::length(rng, 0, length - ORIGINAL.len());
            out[place..place + ORIGINAL.len()].copy_from_slice(ORIGINAL);
        }
    });
}

/// Appends two streets, city, state and zip (clause 4.3.2.7).
fn address(rng: &mut Rng, rows: &mut Rows) {
    a_string(rng, rows, 10, 20);
    a_string(rng, rows, 10, 20);
    a_string(rng, rows, 10, 20);
    rows.text_with(|out| {
        for _ in 0..2 {
            let letter = u8::try_from(rng.below(26)).expect("one of 26 letters");
            out.push(b'A' + letter);
        }
    });
    rows.text_with(|out| {
        rng.digits(4, out);
        out.extend_from_slice(b"11111");
    });
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use triphammer_core::rows::Cell;
    use triphammer_core::value::write_decimal;
    use triphammer_core::workload::TableDef;

    use super::super::schema::{tables, warehouse_tables};
    use super::*;

    fn population(seed: u64) -> (Population, LastNames) {
        let instant = Timestamp::parse("2026-01-01 00:00:00").unwrap();
        (Population::new(seed, super::super::constants::c_load(seed), instant), LastNames::new())
    }

    /// Calls `each` with every row as text, fields separated by bars.
    fn rows_of(seed: u64, table: &TableDef, w_id: i64, mut each: impl FnMut(&str)) {
        let (population, names) = population(seed);
        let mut source = population.rows(&table.name, w_id, &names);
        let (mut rows, mut line) = (Rows::new(), String::new());
        loop {
            rows.reset(table.columns.len());
            let more = source.fill(&mut rows);
            assert!(!rows.has_partial_row() && rows.bytes() < BATCH_BYTES * 2);
            for row in rows.iter() {
                line.clear();
                for column in 0..row.len() {
                    line.push_str(if column == 0 { "" } else { "|" });
                    match row.cell(column) {
                        Cell::Null => {}
                        Cell::Int(value) => write!(line, "{value}").unwrap(),
                        Cell::Decimal { units, scale } => {
                            write_decimal(&mut line, units, scale).unwrap();
                        }
                        Cell::Timestamp(value) => write!(line, "{value}").unwrap(),
                        _ => line.push_str(row.text(column).unwrap()),
                    }
                }
                each(&line);
            }
            if !more {
                return;
            }
        }
    }

    /// FNV-1a: stable across versions, unlike the standard library's hash.
    fn hash(hash: u64, text: &str) -> u64 {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        text.bytes().chain([b'\n']).fold(hash, step)
    }

    /// Number of rows and hash of each table, for items and for warehouse 3.
    fn digest(seed: u64) -> Vec<(String, u64, u64)> {
        tables()
            .iter()
            .map(|table| {
                let (mut count, mut sum) = (0, 0xcbf2_9ce4_8422_2325);
                let w_id = if table.name == "item" { 0 } else { 3 };
                rows_of(seed, table, w_id, |line| {
                    count += 1;
                    sum = hash(sum, line);
                });
                (table.name.to_string(), count, sum)
            })
            .collect()
    }

    #[test]
    fn the_data_of_a_seed_never_changes() {
        // If this fails, results on data built by an earlier version are not comparable any more:
        // raise the workload's version, and document it.
        assert_eq!(
            digest(42),
            [
                ("warehouse", 1, 183_841_551_418_164_990),
                ("district", 10, 12_001_252_829_944_664_119),
                ("customer", 30_000, 13_487_062_174_482_238_585),
                ("history", 30_000, 14_369_023_562_259_966_598),
                ("item", 100_000, 3_133_023_830_149_735_610),
                ("stock", 100_000, 3_853_136_023_529_647_995),
                ("orders", 30_000, 13_904_672_360_398_208_130),
                ("order_line", 300_435, 5_754_211_400_952_137_599),
                ("new_order", 9000, 8_375_290_773_955_319_655),
            ]
            .map(|(table, rows, hash): (&str, u64, u64)| (
                table.to_owned(),
                rows,
                hash
            ))
        );
    }

    #[test]
    fn first_rows_read_as_specified() {
        let first = |name: &str| {
            let tables = tables();
            let table = tables.iter().find(|t| t.name == name).unwrap();
            let mut first = String::new();
            rows_of(42, table, i64::from(name != "item"), |line| {
                if first.is_empty() {
                    first.push_str(line);
                }
            });
            first
        };
        for (table, expected) in [
            (
                "item",
                "1|9162|rk1MlEMUGCgPcby6iHQJ4S1k|15.16|trIDsyfBcgfoBeHMxKnJrRTzck85FeL0bT5fanShJLCjvOomW",
            ),
            (
                "warehouse",
                "1|VT2Dc1a|Eg5ue5tALVC5oS|PKWFJnX6Vy4cxNiINNl|gCTWXatYjbj9IulLdao|BE|182111111|0.0424|300000.00",
            ),
            (
                "district",
                "1|1|CKafQMAd|p1bI2zdTmuSr89hYjq|1BwdJTVukcjPDPjUq7|soejSpS6MpDFn8|IP|575311111|0.0065|30000.00|3001",
            ),
            ("history", "1|1|1|1|1|2026-01-01 00:00:00|10.00|raKqJgEbSZ8gfXUr"),
            ("orders", "1|1|1|2101|2026-01-01 00:00:00|10|9|1"),
            ("order_line", "1|1|1|1|24356|1|2026-01-01 00:00:00|5|0.00|gZxylFnBJbosDukTqoDS3LLk"),
            ("new_order", "2101|1|1"),
        ] {
            assert_eq!(first(table), expected);
        }
    }

    #[test]
    fn seeds_warehouses_and_districts_differ() {
        let text = |seed, w_id| {
            let mut text = String::new();
            rows_of(seed, &warehouse_tables()[1], w_id, |line| text.push_str(line));
            text
        };
        assert_ne!(text(1, 1), text(2, 1));
        assert_ne!(text(1, 1), text(1, 2));
    }

    #[test]
    fn orders_and_their_lines_agree_though_made_apart() {
        let (mut counts, mut lines) = (Vec::new(), Vec::new());
        let field = |line: &str, n: usize| line.split('|').nth(n).unwrap().parse::<u32>().unwrap();
        rows_of(7, &warehouse_tables()[5], 1, |line| counts.push(field(line, 6)));
        rows_of(7, &warehouse_tables()[6], 1, |line| match field(line, 3) {
            1 => lines.push(1),
            number => {
                let last = lines.last_mut().unwrap();
                *last += 1;
                assert_eq!(*last, number);
            }
        });
        assert_eq!(counts, lines);
    }
}

//! The rows of orders and lineitem, which are most of all data: those of `tpchgen`'s generators, from the same streams of
//! random numbers, in a fraction of their time.

use tpchgen::dates::{GenerateUtils, MIN_GENERATE_DATE, TOTAL_DATE_RANGE, TPCHDate};
use tpchgen::decimal::TPCHDecimal;
use tpchgen::distribution::Distributions;
use tpchgen::generators::{
    ClerkName, CustomerGenerator, LineItem, LineItemGenerator, Order, OrderGenerator, OrderStatus,
    PartGenerator, PartGeneratorIterator, SupplierGenerator,
};

use super::random::{Choice, Stream};
use super::rows::Piece;

/// Rows of random numbers of an order: for each line that it may have.
const LINES_MAX: u64 = 7;
/// Suppliers of a part.
const SUPPLIERS_OF_PART: i64 = 4;
/// Last date of an order, as the generator counts.
const ORDER_DATE_MAX: i32 =
    MIN_GENERATE_DATE + TOTAL_DATE_RANGE - LineItemGenerator::ITEM_SHIP_DAYS - 1;

/// Scale factor from which on the numbers of parts do not fit 32 bits: [`Orders`] and [`Lines`] are for smaller ones.
pub const FACTOR_END: f64 = 10_000.0;
/// Customers whose number is a multiple of it have no orders.
const CUSTOMER_MORTALITY: i64 = 3;
/// Clerks per scale factor, and at least.
const CLERKS: f64 = 1_000.0;

/// The numbers of the orders of a part: of the first one, from 0, and of the one after the last.
fn numbers(of: Piece) -> (i64, i64) {
    let Piece { factor, part, parts } = of;
    let base = OrderGenerator::SCALE_BASE;
    let start = GenerateUtils::calculate_start_index(base, factor, part, parts);
    (start, start + OrderGenerator::calculate_row_count(factor, part, parts))
}

/// The first date that is not in the past.
fn today() -> i64 {
    let mut dates = MIN_GENERATE_DATE..MIN_GENERATE_DATE + TOTAL_DATE_RANGE;
    let end = dates.end;
    dates.find(|date| !TPCHDate::is_in_past(*date)).unwrap_or(end).into()
}

fn date(date: i64) -> TPCHDate {
    TPCHDate::new(i32::try_from(date).expect("dates are small"))
}

/// The random numbers of lines that orders have too: their prices depend on those of their lines.
#[derive(Debug)]
struct LineRandoms {
    parts: i64,
    today: i64,
    order_dates: Stream,
    counts: Stream,
    quantities: Stream,
    discounts: Stream,
    taxes: Stream,
    part_keys: Stream,
    ship_days: Stream,
}

/// What a line has in common with its order.
struct LinePrice {
    quantity: i64,
    part: i64,
    price: i64,
    discount: i64,
    tax: i64,
    shipped: i64,
}

impl LineRandoms {
    fn new(of: Piece) -> Self {
        let row = numbers(of).0.unsigned_abs();
        let of_order = |seed| Stream::new(seed, 1, row);
        let of_lines = |seed| Stream::new(seed, LINES_MAX, row);
        Self {
            parts: PartGenerator::calculate_row_count(of.factor, 1, 1),
            today: today(),
            order_dates: of_order(1_066_728_069),
            counts: of_order(1_434_868_289),
            quantities: of_lines(209_208_115),
            discounts: of_lines(554_590_007),
            taxes: of_lines(721_958_466),
            part_keys: of_lines(1_808_217_256),
            ship_days: of_lines(1_769_349_045),
        }
    }

    /// Number of lines of the next order, and its date.
    fn order(&mut self) -> (i64, i64) {
        let count = self.counts.between(1, LINES_MAX.cast_signed());
        (count, self.order_dates.between(MIN_GENERATE_DATE.into(), ORDER_DATE_MAX.into()))
    }

    fn line(&mut self, order_date: i64) -> LinePrice {
        let (quantity, part) =
            (self.quantities.between(1, 50), self.part_keys.between(1, self.parts));
        LinePrice {
            quantity,
            part,
            price: PartGeneratorIterator::calculate_part_price(part) * quantity,
            discount: self.discounts.between(0, 10),
            tax: self.taxes.between(0, 8),
            shipped: order_date + self.ship_days.between(1, 121),
        }
    }

    fn end_order(&mut self) {
        for stream in [
            &mut self.order_dates,
            &mut self.counts,
            &mut self.quantities,
            &mut self.discounts,
            &mut self.taxes,
            &mut self.part_keys,
            &mut self.ship_days,
        ] {
            stream.next_row();
        }
    }
}

/// A part of the orders; without comments.
#[derive(Debug)]
pub struct Orders {
    /// Number of the next order, from 0, and of the one after the last.
    order: i64,
    end: i64,
    customers: i64,
    clerks: i64,
    shared: LineRandoms,
    customer_keys: Stream,
    priorities: Stream,
    clerk_numbers: Stream,
    known_priorities: Choice<&'static str>,
}

impl Orders {
    /// A part of the orders.
    pub fn new(of: Piece) -> Self {
        let (order, end) = numbers(of);
        let stream = |seed| Stream::new(seed, 1, order.unsigned_abs());
        #[expect(clippy::cast_possible_truncation, reason = "below FACTOR_END thousand")]
        let clerks = (of.factor * CLERKS).max(CLERKS) as i64;
        Self {
            order,
            end,
            customers: CustomerGenerator::calculate_row_count(of.factor, 1, 1),
            clerks,
            shared: LineRandoms::new(of),
            customer_keys: stream(851_767_375),
            priorities: stream(591_449_447),
            clerk_numbers: stream(1_171_034_773),
            known_priorities: Choice::new(
                Distributions::static_default().order_priority(),
                |word| word,
            ),
        }
    }

    /// A customer who has orders.
    fn customer(&mut self) -> i64 {
        let mut key = self.customer_keys.between(1, self.customers);
        let mut delta = 1;
        while key % CUSTOMER_MORTALITY == 0 {
            key = (key + delta).min(self.customers);
            delta = -delta;
        }
        key
    }

    fn row(&mut self) -> Order<'static> {
        let (count, order_date) = self.shared.order();
        let (mut total, mut shipped) = (0, 0);
        for _ in 0..count {
            let line = self.shared.line(order_date);
            total += line.price * (100 - line.discount) / 100 * (100 + line.tax) / 100;
            shipped += i64::from(line.shipped < self.shared.today);
        }
        let clerk = self.clerk_numbers.between(1, self.clerks);
        Order {
            o_orderkey: OrderGenerator::make_order_key(self.order + 1),
            o_custkey: self.customer(),
            o_orderstatus: match shipped {
                0 => OrderStatus::Open,
                all if all == count => OrderStatus::Fulfilled,
                _ => OrderStatus::Pending,
            },
            o_totalprice: TPCHDecimal::new(total),
            o_orderdate: date(order_date),
            o_orderpriority: self.priorities.choose(&self.known_priorities),
            o_clerk: ClerkName::new(i32::try_from(clerk).expect("below FACTOR_END thousand")),
            o_shippriority: 0,
            o_comment: "",
        }
    }
}

impl Iterator for Orders {
    type Item = Order<'static>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.order >= self.end {
            return None;
        }
        let row = self.row();
        self.shared.end_order();
        for stream in [&mut self.customer_keys, &mut self.priorities, &mut self.clerk_numbers] {
            stream.next_row();
        }
        self.order += 1;
        Some(row)
    }
}

/// The lines of a part of the orders, in their order; without comments.
#[derive(Debug)]
pub struct Lines {
    /// Number of the current order, from 0, and of the one after the last.
    order: i64,
    end: i64,
    /// Number of the next line, from 1, and of lines of the order.
    line: i64,
    lines: i64,
    order_date: i64,
    suppliers: i64,
    shared: LineRandoms,
    supplier_numbers: Stream,
    commit_days: Stream,
    receipt_days: Stream,
    flags: Stream,
    instructions: Stream,
    modes: Stream,
    known_flags: Choice<&'static str>,
    known_instructions: Choice<&'static str>,
    known_modes: Choice<&'static str>,
}

impl Lines {
    /// The lines of a part of the orders.
    pub fn new(of: Piece) -> Self {
        let (order, end) = numbers(of);
        let stream = |seed| Stream::new(seed, LINES_MAX, order.unsigned_abs());
        let known = Distributions::static_default();
        let mut lines = Self {
            order,
            end,
            line: 1,
            lines: 0,
            order_date: 0,
            suppliers: SupplierGenerator::calculate_row_count(of.factor, 1, 1),
            shared: LineRandoms::new(of),
            supplier_numbers: stream(2_095_021_727),
            commit_days: stream(904_914_315),
            receipt_days: stream(373_135_028),
            flags: stream(717_419_739),
            instructions: stream(1_371_272_478),
            modes: stream(675_466_456),
            known_flags: Choice::new(known.return_flags(), |word| word),
            known_instructions: Choice::new(known.ship_instructions(), |word| word),
            known_modes: Choice::new(known.ship_modes(), |word| word),
        };
        (lines.lines, lines.order_date) = lines.shared.order();
        lines
    }

    fn next_order(&mut self) {
        self.shared.end_order();
        for stream in [
            &mut self.supplier_numbers,
            &mut self.commit_days,
            &mut self.receipt_days,
            &mut self.flags,
            &mut self.instructions,
            &mut self.modes,
        ] {
            stream.next_row();
        }
        self.order += 1;
        self.line = 1;
        (self.lines, self.order_date) = self.shared.order();
    }

    /// One of the suppliers of a part, by its number from 0.
    fn supplier(&self, part: i64, number: i64) -> i64 {
        let count = self.suppliers;
        (part + number * (count / SUPPLIERS_OF_PART + (part - 1) / count)) % count + 1
    }

    fn row(&mut self) -> LineItem<'static> {
        let line = self.shared.line(self.order_date);
        let number = self.supplier_numbers.between(0, SUPPLIERS_OF_PART - 1);
        let committed = self.order_date + self.commit_days.between(30, 90);
        let received = line.shipped + self.receipt_days.between(1, 30);
        LineItem {
            l_orderkey: OrderGenerator::make_order_key(self.order + 1),
            l_partkey: line.part,
            l_suppkey: self.supplier(line.part, number),
            l_linenumber: i32::try_from(self.line).expect("at most seven"),
            l_quantity: line.quantity,
            l_extendedprice: TPCHDecimal::new(line.price),
            l_discount: TPCHDecimal::new(line.discount),
            l_tax: TPCHDecimal::new(line.tax),
            l_returnflag: match received < self.shared.today {
                true => self.flags.choose(&self.known_flags),
                false => "N",
            },
            l_linestatus: if line.shipped < self.shared.today { "F" } else { "O" },
            l_shipdate: date(line.shipped),
            l_commitdate: date(committed),
            l_receiptdate: date(received),
            l_shipinstruct: self.instructions.choose(&self.known_instructions),
            l_shipmode: self.modes.choose(&self.known_modes),
            l_comment: "",
        }
    }
}

impl Iterator for Lines {
    type Item = LineItem<'static>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.order >= self.end {
            return None;
        }
        let row = self.row();
        self.line += 1;
        if self.line > self.lines {
            self.next_order();
        }
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rows::{generated_lines, generated_orders};
    use super::*;

    #[test]
    fn rows_are_those_of_the_generators() {
        for (factor, part, parts) in
            [(0.01, 1, 1), (1.0, 3, 100), (2.5, 250, 250), (1_000.0, 99_999, 100_000)]
        {
            let of = Piece { factor, part, parts };
            let theirs = generated_lines(of).iter().map(|row| LineItem { l_comment: "", ..row });
            assert!(Lines::new(of).eq(theirs), "lines, part {part} of {parts} at {factor}");
            let theirs = generated_orders(of).iter().map(|row| Order { o_comment: "", ..row });
            assert!(Orders::new(of).eq(theirs), "orders, part {part} of {parts} at {factor}");
        }
    }
}

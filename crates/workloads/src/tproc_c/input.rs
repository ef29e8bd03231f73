//! Inputs of the transactions (clauses 2.4.1 to 2.8.1): the client draws everything that a
//! transaction needs, including its time, so that it can be counted, logged, replayed and retried.

use std::fmt;

use triphammer_core::random::Rng;
use triphammer_core::value::{Timestamp, write_decimal};
use triphammer_core::workload::Completion;

use super::constants::{A_CUSTOMER, A_ITEM, A_LAST, RunConstants};
use super::hammerdb;
use super::names::last_name;
use super::schema::{CUSTOMERS, DISTRICTS, DOLLAR, ITEMS, LINES_MAX, LINES_MIN};
use super::user::Terminal;

/// An item that no database has (clause 2.4.1.5): an order that contains it is rolled back.
pub const UNUSED_ITEM: i32 = ITEMS + 1;

/// The input of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Input of New-Order (clause 2.4.1).
    NewOrder(NewOrder),
    /// Input of Payment (clause 2.5.1).
    Payment(Payment),
    /// Input of Order-Status (clause 2.6.1).
    OrderStatus(OrderStatus),
    /// Input of Delivery (clause 2.7.1).
    Delivery(Delivery),
    /// Input of Stock-Level (clause 2.8.1).
    StockLevel(StockLevel),
    /// Input of any type, by HammerDB's rules.
    Hammerdb(hammerdb::Input),
}

impl Input {
    /// The home warehouse of the transaction.
    #[must_use]
    pub const fn warehouse(&self) -> i32 {
        match self {
            Self::NewOrder(input) => input.w_id,
            Self::Payment(input) => input.w_id,
            Self::OrderStatus(input) => input.w_id,
            Self::Delivery(input) => input.w_id,
            Self::StockLevel(input) => input.w_id,
            Self::Hammerdb(input) => input.w_id,
        }
    }
}

/// How a customer is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CustomerKey {
    /// By number, `c_id`.
    Id(i32),
    /// By last name: its number, for [`LastNames`](super::names::LastNames).
    LastName(u16),
}

/// The values by the specification's names.
impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewOrder(input) => input.fmt(f),
            Self::Payment(input) => input.fmt(f),
            Self::OrderStatus(OrderStatus { w_id, d_id, customer }) => {
                write!(f, "w_id = {w_id}\nd_id = {d_id}\n{customer}")
            }
            Self::Delivery(Delivery { w_id, o_carrier_id, delivery_d }) => {
                write!(f, "w_id = {w_id}\no_carrier_id = {o_carrier_id}\ndelivery_d = {delivery_d}")
            }
            Self::StockLevel(StockLevel { w_id, d_id, threshold }) => {
                write!(f, "w_id = {w_id}\nd_id = {d_id}\nthreshold = {threshold}")
            }
            Self::Hammerdb(input) => input.fmt(f),
        }
    }
}

impl fmt::Display for NewOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { w_id, d_id, c_id, entry_d, .. } = self;
        write!(f, "w_id = {w_id}\nd_id = {d_id}\nc_id = {c_id}\nentry_d = {entry_d}")?;
        for (name, of_lines) in [
            ("i_id", self.i_id()),
            ("supply_w_id", self.supply_w_id()),
            ("quantity", self.quantity()),
        ] {
            let of_lines: Vec<_> = of_lines.iter().map(i32::to_string).collect();
            write!(f, "\n{name} = {}", of_lines.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Payment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { w_id, d_id, c_w_id, c_d_id, customer, h_amount, h_date } = self;
        write!(f, "w_id = {w_id}\nd_id = {d_id}\nc_w_id = {c_w_id}\nc_d_id = {c_d_id}\n")?;
        write!(f, "{customer}\nh_amount = ")?;
        write_decimal(f, *h_amount, 2)?;
        write!(f, "\nh_date = {h_date}")
    }
}

impl fmt::Display for CustomerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(c_id) => write!(f, "c_id = {c_id}"),
            Self::LastName(number) => write!(f, "c_last = {}", last_name(*number)),
        }
    }
}

/// The rules by which inputs are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Scale: the number of warehouses.
    pub warehouses: i32,
    /// The NURand constants of the run.
    pub constants: RunConstants,
}

impl Rules {
    pub(super) fn district(rng: &mut Rng) -> i32 {
        rng.between32(1, DISTRICTS)
    }

    fn customer_id(&self, rng: &mut Rng) -> i32 {
        nurand32(rng, A_CUSTOMER, self.constants.customer, CUSTOMERS)
    }

    fn item(&self, rng: &mut Rng) -> i32 {
        nurand32(rng, A_ITEM, self.constants.item, ITEMS)
    }

    /// Draws a customer: 60 % by last name, 40 % by id.
    fn customer(&self, rng: &mut Rng) -> CustomerKey {
        if rng.percent(60) {
            let number = rng.nurand(A_LAST, self.constants.last, 0, 999);
            CustomerKey::LastName(u16::try_from(number).expect("from 0 to 999"))
        } else {
            CustomerKey::Id(self.customer_id(rng))
        }
    }

    /// A warehouse other than `home`, each equally likely; `home` if it is the only one.
    pub(super) fn other_warehouse(&self, home: i32, rng: &mut Rng) -> i32 {
        if self.warehouses == 1 {
            return home;
        }
        let other = rng.between32(1, self.warehouses - 1);
        if other >= home { other + 1 } else { other }
    }
}

fn nurand32(rng: &mut Rng, a: i64, c: i64, high: i32) -> i32 {
    i32::try_from(rng.nurand(a, c, 1, high.into())).expect("from 1 to a 32-bit number")
}

/// Input of New-Order. Lines are parallel arrays, because databases take them as lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewOrder {
    /// Number of the warehouse.
    pub w_id: i32,
    /// Number of the district.
    pub d_id: i32,
    /// Number of the customer.
    pub c_id: i32,
    /// Time of the order.
    pub entry_d: Timestamp,
    lines: u8,
    i_id: [i32; LINES_MAX],
    supply_w_id: [i32; LINES_MAX],
    quantity: [i32; LINES_MAX],
    lock_order: [u8; LINES_MAX],
}

impl NewOrder {
    /// Draws an input according to clause 2.4.1.
    #[must_use]
    pub fn draw(rules: &Rules, terminal: Terminal, rng: &mut Rng, now: Timestamp) -> Self {
        let w_id = terminal.w_id;
        let d_id = Rules::district(rng);
        let mut input = Self::empty(w_id, d_id, rules.customer_id(rng), now);
        let lines = LINES_MIN
            + usize::try_from(rng.below((LINES_MAX - LINES_MIN + 1) as u64)).expect("at most 10");
        let rolled_back = rng.percent(1);
        for line in 0..lines {
            input.i_id[line] = if rolled_back && line + 1 == lines {
                UNUSED_ITEM
            } else {
                distinct(&input.i_id[..line], || rules.item(rng))
            };
            let remote = rng.percent(1);
            input.supply_w_id[line] = if remote { rules.other_warehouse(w_id, rng) } else { w_id };
            input.quantity[line] = rng.between32(1, 10);
        }
        input.lines = u8::try_from(lines).expect("at most 15");
        input.put_in_lock_order();
        input
    }

    /// Creates an order from given lines: (item, supplying warehouse, quantity).
    ///
    /// # Panics
    /// When there are more lines than [`LINES_MAX`].
    #[must_use]
    pub fn of_lines(
        terminal: Terminal,
        c_id: i32,
        entry_d: Timestamp,
        lines: &[(i32, i32, i32)],
    ) -> Self {
        let mut input = Self::empty(terminal.w_id, terminal.d_id, c_id, entry_d);
        for (line, (i_id, supply_w_id, quantity)) in lines.iter().enumerate() {
            input.i_id[line] = *i_id;
            input.supply_w_id[line] = *supply_w_id;
            input.quantity[line] = *quantity;
        }
        input.lines = u8::try_from(lines.len()).expect("at most 15");
        input.put_in_lock_order();
        input
    }

    fn empty(w_id: i32, d_id: i32, c_id: i32, entry_d: Timestamp) -> Self {
        Self {
            w_id,
            d_id,
            c_id,
            entry_d,
            lines: 0,
            i_id: [0; LINES_MAX],
            supply_w_id: [0; LINES_MAX],
            quantity: [0; LINES_MAX],
            lock_order: [0; LINES_MAX],
        }
    }

    /// Number of lines in the order.
    #[must_use]
    pub fn ol_cnt(&self) -> usize {
        usize::from(self.lines)
    }

    /// Item numbers, by line.
    #[must_use]
    pub fn i_id(&self) -> &[i32] {
        &self.i_id[..self.ol_cnt()]
    }

    /// Supplying warehouses, by line.
    #[must_use]
    pub fn supply_w_id(&self) -> &[i32] {
        &self.supply_w_id[..self.ol_cnt()]
    }

    /// Quantities, by line.
    #[must_use]
    pub fn quantity(&self) -> &[i32] {
        &self.quantity[..self.ol_cnt()]
    }

    /// Whether the home warehouse supplies all lines.
    #[must_use]
    pub fn all_local(&self) -> bool {
        self.supply_w_id().iter().all(|w_id| *w_id == self.w_id)
    }

    /// Whether the order contains the unused item and so is rolled back.
    #[must_use]
    pub fn rolls_back(&self) -> bool {
        self.i_id().last() == Some(&UNUSED_ITEM)
    }

    /// Lines, from 0, in the order in which their stock is locked: by (`supply_w_id`, `i_id`), the
    /// unused item last.
    pub fn lock_order(&self) -> impl Iterator<Item = usize> + '_ {
        self.lock_order[..self.ol_cnt()].iter().map(|line| usize::from(*line))
    }

    fn put_in_lock_order(&mut self) {
        let lines = self.ol_cnt();
        for (place, line) in self.lock_order[..lines].iter_mut().zip(0..) {
            *place = line;
        }
        let key = |line: &u8| {
            let line = usize::from(*line);
            (self.i_id[line] == UNUSED_ITEM, self.supply_w_id[line], self.i_id[line])
        };
        self.lock_order[..lines].sort_unstable_by_key(key);
    }
}

/// Draws until the item is not among `taken`: a set-based update would change a repeated item only
/// once.
fn distinct(taken: &[i32], mut draw: impl FnMut() -> i32) -> i32 {
    loop {
        let item = draw();
        if !taken.contains(&item) {
            return item;
        }
    }
}

/// Input of Payment (clause 2.5.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// Number of the warehouse that is paid.
    pub w_id: i32,
    /// Number of the district that is paid.
    pub d_id: i32,
    /// Number of the customer's warehouse.
    pub c_w_id: i32,
    /// Number of the customer's district.
    pub c_d_id: i32,
    /// How the customer is selected.
    pub customer: CustomerKey,
    /// Amount that is paid, in cents.
    pub h_amount: i64,
    /// Time of the payment.
    pub h_date: Timestamp,
}

impl Payment {
    /// A committed Payment: the audit of `w_ytd` sums the amounts.
    pub(super) fn completion(&self) -> Completion {
        Completion { committed: true, counter: self.h_amount }
    }

    /// Draws an input according to clause 2.5.1: 15 % of the customers belong to another warehouse,
    /// if there is one, and then to any district.
    #[must_use]
    pub fn draw(rules: &Rules, terminal: Terminal, rng: &mut Rng, now: Timestamp) -> Self {
        let w_id = terminal.w_id;
        let d_id = Rules::district(rng);
        let remote = rng.percent(15) && rules.warehouses > 1;
        let (c_w_id, c_d_id) = if remote {
            (rules.other_warehouse(w_id, rng), Rules::district(rng))
        } else {
            (w_id, d_id)
        };
        Self {
            w_id,
            d_id,
            c_w_id,
            c_d_id,
            customer: rules.customer(rng),
            h_amount: rng.between(DOLLAR, 5_000 * DOLLAR),
            h_date: now,
        }
    }
}

/// Input of Order-Status (clause 2.6.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderStatus {
    /// Number of the customer's warehouse.
    pub w_id: i32,
    /// Number of the customer's district.
    pub d_id: i32,
    /// How the customer is selected.
    pub customer: CustomerKey,
}

impl OrderStatus {
    /// Draws an input according to clause 2.6.1.
    #[must_use]
    pub fn draw(rules: &Rules, terminal: Terminal, rng: &mut Rng) -> Self {
        Self { w_id: terminal.w_id, d_id: Rules::district(rng), customer: rules.customer(rng) }
    }
}

/// Input of Delivery (clause 2.7.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Number of the warehouse.
    pub w_id: i32,
    /// Number of the carrier.
    pub o_carrier_id: i32,
    /// Time of the delivery.
    pub delivery_d: Timestamp,
}

impl Delivery {
    /// Draws an input according to clause 2.7.1.
    #[must_use]
    pub fn draw(terminal: Terminal, rng: &mut Rng, now: Timestamp) -> Self {
        Self { w_id: terminal.w_id, o_carrier_id: rng.between32(1, 10), delivery_d: now }
    }
}

/// Input of Stock-Level (clause 2.8.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StockLevel {
    /// Number of the warehouse.
    pub w_id: i32,
    /// The user's district, which never changes.
    pub d_id: i32,
    /// Items with less than this in stock are counted.
    pub threshold: i32,
}

impl StockLevel {
    /// Draws an input according to clause 2.8.1.
    #[must_use]
    pub fn draw(terminal: Terminal, rng: &mut Rng) -> Self {
        Self { w_id: terminal.w_id, d_id: terminal.d_id, threshold: rng.between32(10, 20) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_700_000_000);
    const HOME: Terminal = Terminal { w_id: 3, d_id: 7 };

    fn rules(warehouses: i32) -> Rules {
        Rules { warehouses, constants: RunConstants::new(1, 123) }
    }

    fn near(found: usize, of: usize, percent: f64) -> bool {
        let share = found as f64 / of as f64 * 100.0;
        // Five standard deviations of a binomial share.
        (share - percent).abs() < 5.0 * (percent * (100.0 - percent) / of as f64).sqrt()
    }

    #[test]
    fn new_orders_keep_the_rules_of_clause_2_4_1() {
        let mut rng = Rng::of(11, &[]);
        let rules = rules(5);
        let orders: Vec<_> =
            (0..40_000).map(|_| NewOrder::draw(&rules, HOME, &mut rng, NOW)).collect();
        let rolled_back = orders.iter().filter(|o| o.rolls_back()).count();
        assert!(near(rolled_back, orders.len(), 1.0), "{rolled_back}");
        let (mut lines, mut remote) = (0, 0);
        for order in &orders {
            assert!((5..=15).contains(&order.ol_cnt()) && (1..=10).contains(&order.d_id));
            assert!((1..=3000).contains(&order.c_id) && order.w_id == 3);
            assert!(order.quantity().iter().all(|q| (1..=10).contains(q)));
            for (line, item) in order.i_id().iter().enumerate() {
                let unused = *item == UNUSED_ITEM && line + 1 == order.ol_cnt();
                assert!((1..=ITEMS).contains(item) || unused);
                assert!(!order.i_id()[..line].contains(item), "items are distinct");
            }
            lines += order.ol_cnt();
            remote += order.supply_w_id().iter().filter(|w| **w != 3).count();
            assert!(order.supply_w_id().iter().all(|w| (1..=5).contains(w)));
            assert_eq!(order.all_local(), order.supply_w_id().iter().all(|w| *w == 3));
        }
        assert!(near(remote, lines, 1.0), "{remote} of {lines}");
        let of_ten = orders.iter().filter(|o| o.ol_cnt() == 10).count();
        assert!(near(of_ten, orders.len(), 100.0 / 11.0));
    }

    #[test]
    fn inputs_read_as_names_and_values() {
        let order = NewOrder::of_lines(HOME, 9, NOW, &[(5, 3, 1), (7, 2, 10)]);
        assert_eq!(
            Input::NewOrder(order).to_string(),
            "w_id = 3\nd_id = 7\nc_id = 9\nentry_d = 2023-11-14 22:13:20\ni_id = 5, 7\n\
             supply_w_id = 3, 2\nquantity = 1, 10"
        );
        let customer = CustomerKey::LastName(371);
        let paid = Payment {
            w_id: 3,
            d_id: 7,
            c_w_id: 2,
            c_d_id: 1,
            customer,
            h_amount: 12_305,
            h_date: NOW,
        };
        assert_eq!(
            Input::Payment(paid).to_string(),
            "w_id = 3\nd_id = 7\nc_w_id = 2\nc_d_id = 1\nc_last = PRICALLYOUGHT\n\
             h_amount = 123.05\nh_date = 2023-11-14 22:13:20"
        );
        let mut rng = Rng::of(15, &[]);
        let status = Input::OrderStatus(OrderStatus::draw(&rules(5), HOME, &mut rng));
        let delivery = Input::Delivery(Delivery::draw(HOME, &mut rng, NOW));
        let level = Input::StockLevel(StockLevel::draw(HOME, &mut rng));
        for input in [status, delivery, level] {
            let text = input.to_string();
            assert!(text.lines().all(|line| line.contains(" = ")), "{text}");
        }
    }

    #[test]
    fn stock_is_locked_by_warehouse_and_item_with_the_unused_item_last() {
        let mut rng = Rng::of(12, &[]);
        let rules = rules(2);
        for _ in 0..5_000 {
            let order = NewOrder::draw(&rules, HOME, &mut rng, NOW);
            let mut locked: Vec<_> = order
                .lock_order()
                .map(|line| (order.supply_w_id()[line], order.i_id()[line]))
                .collect();
            assert_eq!(locked.len(), order.ol_cnt());
            if order.rolls_back() {
                assert_eq!(locked.pop().unwrap().1, UNUSED_ITEM);
            }
            assert!(locked.is_sorted());
        }
    }

    #[test]
    fn payments_keep_the_rules_of_clause_2_5_1() {
        let mut rng = Rng::of(13, &[]);
        let rules = rules(5);
        let all: Vec<_> = (0..40_000).map(|_| Payment::draw(&rules, HOME, &mut rng, NOW)).collect();
        let remote: Vec<_> = all.iter().filter(|p| p.c_w_id != p.w_id).collect();
        assert!(near(remote.len(), all.len(), 15.0), "{}", remote.len());
        let own_district = remote.iter().filter(|p| p.c_d_id == p.d_id).count();
        assert!(near(own_district, remote.len(), 10.0), "{own_district}");
        for w_id in [1, 2, 4, 5] {
            let there = remote.iter().filter(|p| p.c_w_id == w_id).count();
            assert!(near(there, remote.len(), 25.0));
        }
        assert!(all.iter().all(|p| p.c_w_id != p.w_id || p.c_d_id == p.d_id));
        assert!(all.iter().all(|p| (DOLLAR..=5_000 * DOLLAR).contains(&p.h_amount)));
        let by_name = all.iter().filter(|p| matches!(p.customer, CustomerKey::LastName(_))).count();
        assert!(near(by_name, all.len(), 60.0), "{by_name}");
    }

    #[test]
    fn one_warehouse_has_no_remote_work() {
        let mut rng = Rng::of(14, &[]);
        let home = Terminal { w_id: 1, d_id: 1 };
        for _ in 0..2_000 {
            assert!(NewOrder::draw(&rules(1), home, &mut rng, NOW).all_local());
            let payment = Payment::draw(&rules(1), home, &mut rng, NOW);
            assert_eq!((payment.c_w_id, payment.c_d_id), (1, payment.d_id));
        }
    }

    #[test]
    fn the_other_inputs_keep_their_ranges() {
        let mut rng = Rng::of(15, &[]);
        let mut thresholds = [0; 21];
        for _ in 0..5_000 {
            let level = StockLevel::draw(HOME, &mut rng);
            assert_eq!((level.w_id, level.d_id), (3, 7));
            thresholds[usize::try_from(level.threshold).unwrap()] += 1;
            let delivery = Delivery::draw(HOME, &mut rng, NOW);
            assert!((1..=10).contains(&delivery.o_carrier_id) && delivery.w_id == 3);
            let status = OrderStatus::draw(&rules(5), HOME, &mut rng);
            assert!((1..=10).contains(&status.d_id) && status.w_id == 3);
        }
        assert!(thresholds[10..].iter().all(|n| *n > 300) && thresholds[..10] == [0; 10]);
    }

    #[test]
    fn customers_and_items_are_drawn_unevenly() {
        let mut rng = Rng::of(16, &[]);
        let rules = rules(1);
        let mut hits = vec![0u32; 3001];
        for _ in 0..300_000 {
            hits[usize::try_from(rules.customer_id(&mut rng)).unwrap()] += 1;
        }
        hits.sort_unstable();
        // Uniform draws would give the busiest tenth little more than a tenth.
        let busiest: u32 = hits[2701..].iter().sum();
        assert!(busiest > 90_000, "{busiest}");
    }
}

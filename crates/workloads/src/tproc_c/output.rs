//! Outputs of each transaction to its terminal (clauses 2.4.3 to 2.8.3). Every field is read, in
//! both modes, so that no database saves work because a value is unused; the buffers belong to the
//! session and are reused, so nothing is allocated once they have grown. Tests use them to compare
//! modes and databases.

use std::ops::Deref;

use triphammer_core::DbError;
use triphammer_core::rows::Row;
use triphammer_core::value::Timestamp;

/// The outputs of a session: for each type, that of its last transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Output of New-Order (clause 2.4.3).
    pub new_order: NewOrderOutput,
    /// Output of Payment (clause 2.5.3).
    pub payment: PaymentOutput,
    /// Output of Order-Status (clause 2.6.3).
    pub order_status: OrderStatusOutput,
    /// Output of Delivery (clause 2.7.3).
    pub delivery: DeliveryOutput,
    /// Output of Stock-Level (clause 2.8.3).
    pub stock_level: StockLevelOutput,
}

/// A list whose elements keep their memory when it is emptied.
#[derive(Clone, Debug)]
pub struct Reused<T> {
    slots: Vec<T>,
    used: usize,
}

impl<T: Default> Reused<T> {
    /// Empties the list, keeping the memory of its elements.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Sets the length of the list to `len`; the elements have arbitrary content.
    pub fn resize(&mut self, len: usize) -> &mut [T] {
        if self.slots.len() < len {
            self.slots.resize_with(len, T::default);
        }
        self.used = len;
        &mut self.slots[..len]
    }
}

impl<T> Default for Reused<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), used: 0 }
    }
}

impl<T> Deref for Reused<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.slots[..self.used]
    }
}

impl<T: PartialEq> PartialEq for Reused<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T: Eq> Eq for Reused<T> {}

/// Copies text into a string, reusing its memory.
pub(super) fn put(into: &mut String, text: &str) {
    into.clear();
    into.push_str(text);
}

/// Output of New-Order. After a rollback by rule only the fields of clause 2.4.3.4 are set:
/// `c_last`, `c_credit`, `o_id`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewOrderOutput {
    /// False when the item was invalid and the order was rolled back.
    pub committed: bool,
    /// Number of the order.
    pub o_id: i32,
    /// Warehouse tax, in ten-thousandths.
    pub w_tax: i64,
    /// District tax, in ten-thousandths.
    pub d_tax: i64,
    /// The customer's last name.
    pub c_last: String,
    /// The customer's credit: GC (good) or BC (bad).
    pub c_credit: String,
    /// The customer's discount, in ten-thousandths.
    pub c_discount: i64,
    /// Σ ol_amount × (1 − discount) × (1 + taxes), in cents.
    pub total: i64,
    /// The lines, in the order of the input.
    pub lines: Reused<NewOrderLine>,
}

impl NewOrderOutput {
    /// Clears what a rolled-back order does not return.
    pub(super) fn roll_back(&mut self) {
        self.committed = false;
        self.total = 0;
        self.lines.clear();
    }
}

/// A line of an order as New-Order returns it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewOrderLine {
    /// Name of the item.
    pub i_name: String,
    /// Stock after the order.
    pub s_quantity: i32,
    /// `B` when both item and stock are ORIGINAL, else `G`.
    pub brand_generic: char,
    /// Price of the item, in cents.
    pub i_price: i64,
    /// Quantity × price in cents.
    pub ol_amount: i64,
}

/// Street, city, state and zip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// First line of the street.
    pub street_1: String,
    /// Second line of the street.
    pub street_2: String,
    /// Name of the city.
    pub city: String,
    /// Two-letter code of the state.
    pub state: String,
    /// Zip code of nine digits.
    pub zip: String,
}

impl Address {
    /// Reads the five columns from `column` on.
    pub(super) fn read(&mut self, row: &Row<'_>, column: usize) -> Result<(), DbError> {
        put(&mut self.street_1, row.text(column)?);
        put(&mut self.street_2, row.text(column + 1)?);
        put(&mut self.city, row.text(column + 2)?);
        put(&mut self.state, row.text(column + 3)?);
        put(&mut self.zip, row.text(column + 4)?);
        Ok(())
    }
}

/// Output of Payment (clause 2.5.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaymentOutput {
    /// Address of the warehouse.
    pub warehouse: Address,
    /// Address of the district.
    pub district: Address,
    /// Number of the customer, who may have been selected by name.
    pub c_id: i32,
    /// The customer's first name.
    pub c_first: String,
    /// The customer's middle name.
    pub c_middle: String,
    /// The customer's last name.
    pub c_last: String,
    /// Address of the customer.
    pub customer: Address,
    /// The customer's phone number.
    pub c_phone: String,
    /// Date of the customer's registration; `None` before the session's first Payment.
    pub c_since: Option<Timestamp>,
    /// The customer's credit: GC (good) or BC (bad).
    pub c_credit: String,
    /// Credit limit in cents.
    pub c_credit_lim: i64,
    /// The customer's discount, in ten-thousandths.
    pub c_discount: i64,
    /// Balance in cents, after the payment.
    pub c_balance: i64,
    /// The first 200 characters of the customer's data; empty with good credit.
    pub c_data: String,
}

/// Output of Order-Status (clause 2.6.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderStatusOutput {
    /// Number of the customer, who may have been selected by name.
    pub c_id: i32,
    /// The customer's first name.
    pub c_first: String,
    /// The customer's middle name.
    pub c_middle: String,
    /// The customer's last name.
    pub c_last: String,
    /// The customer's balance, in cents.
    pub c_balance: i64,
    /// Number of the newest order.
    pub o_id: i32,
    /// Time of the order; `None` before the session's first Order-Status.
    pub o_entry_d: Option<Timestamp>,
    /// Number of the carrier; `None` until delivered.
    pub o_carrier_id: Option<i32>,
    /// Lines of the order.
    pub lines: Reused<OrderStatusLine>,
}

/// A line of an order as Order-Status returns it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderStatusLine {
    /// Number of the item.
    pub ol_i_id: i32,
    /// Number of the supplying warehouse.
    pub ol_supply_w_id: i32,
    /// Quantity of the item.
    pub ol_quantity: i32,
    /// Amount of the line, in cents.
    pub ol_amount: i64,
    /// Time of delivery; `None` until delivered.
    pub ol_delivery_d: Option<Timestamp>,
}

/// Output of Delivery: what clause 2.7.3.2 requires in the result file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryOutput {
    /// The delivered order of districts 1 to 10; `None` where there was none to deliver.
    pub o_id: [Option<i32>; 10],
}

impl DeliveryOutput {
    /// Number of districts without an order to deliver.
    #[must_use]
    pub fn skipped(&self) -> u32 {
        self.o_id.iter().map(|o_id| u32::from(o_id.is_none())).sum()
    }
}

/// Output of Stock-Level (clause 2.8.3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StockLevelOutput {
    /// Items of the last twenty orders with less in stock than the threshold.
    pub low_stock: i32,
}

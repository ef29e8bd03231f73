//! What each transaction returns to its terminal (clauses 2.4.3 to 2.8.3). Every field is read, in
//! both modes, so that no database saves work by not being asked; the buffers belong to the session
//! and are used again, so nothing is allocated once they have grown. Tests compare modes and
//! databases by them.

use std::ops::Deref;

use triphammer_core::DbError;
use triphammer_core::rows::Row;
use triphammer_core::value::Timestamp;

/// The outputs of a session: of each type, that of its last transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Clause 2.4.3.
    pub new_order: NewOrderOutput,
    /// Clause 2.5.3.
    pub payment: PaymentOutput,
    /// Clause 2.6.3.
    pub order_status: OrderStatusOutput,
    /// Clause 2.7.3.
    pub delivery: DeliveryOutput,
    /// Clause 2.8.3.
    pub stock_level: StockLevelOutput,
}

/// A list whose elements keep their memory when it is emptied.
#[derive(Clone, Debug)]
pub struct Reused<T> {
    slots: Vec<T>,
    used: usize,
}

impl<T: Default> Reused<T> {
    /// Empties the list.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    /// Makes the list `len` long; the elements hold what they happen to hold.
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

/// Puts text into a string that keeps its memory.
pub(super) fn put(into: &mut String, text: &str) {
    into.clear();
    into.push_str(text);
}

/// Output of New-Order. After a rollback by rule only the fields of clause 2.4.3.4 count:
/// `c_last`, `c_credit`, `o_id`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewOrderOutput {
    /// False when the item was not valid and the order was rolled back.
    pub committed: bool,
    /// Number of the order.
    pub o_id: i32,
    /// Warehouse tax, in ten-thousandths.
    pub w_tax: i64,
    /// District tax, in ten-thousandths.
    pub d_tax: i64,
    /// The customer's last name.
    pub c_last: String,
    /// GC or BC.
    pub c_credit: String,
    /// The customer's discount, in ten-thousandths.
    pub c_discount: i64,
    /// Σ ol_amount × (1 − discount) × (1 + taxes), in cents.
    pub total: i64,
    /// The lines in the order of the input.
    pub lines: Reused<NewOrderLine>,
}

impl NewOrderOutput {
    /// Forgets what a rolled-back order does not return.
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
    /// Price in cents.
    pub i_price: i64,
    /// Quantity × price in cents.
    pub ol_amount: i64,
}

/// Street, city, state and zip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// First line.
    pub street_1: String,
    /// Second line.
    pub street_2: String,
    /// City.
    pub city: String,
    /// State.
    pub state: String,
    /// Zip.
    pub zip: String,
}

impl Address {
    /// Reads five columns from `column` on.
    pub(super) fn read(&mut self, row: &Row<'_>, column: usize) -> Result<(), DbError> {
        put(&mut self.street_1, row.text(column)?);
        put(&mut self.street_2, row.text(column + 1)?);
        put(&mut self.city, row.text(column + 2)?);
        put(&mut self.state, row.text(column + 3)?);
        put(&mut self.zip, row.text(column + 4)?);
        Ok(())
    }
}

/// Output of Payment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PaymentOutput {
    /// Address of the warehouse.
    pub warehouse: Address,
    /// Address of the district.
    pub district: Address,
    /// The customer's number.
    pub c_id: i32,
    /// First name.
    pub c_first: String,
    /// Middle name.
    pub c_middle: String,
    /// Last name.
    pub c_last: String,
    /// Address of the customer.
    pub customer: Address,
    /// Phone.
    pub c_phone: String,
    /// Customer since; `None` before the first Payment.
    pub c_since: Option<Timestamp>,
    /// GC or BC.
    pub c_credit: String,
    /// Credit limit in cents.
    pub c_credit_lim: i64,
    /// Discount in ten-thousandths.
    pub c_discount: i64,
    /// Balance in cents, after the payment.
    pub c_balance: i64,
    /// The first 200 characters of the customer's data; empty with good credit.
    pub c_data: String,
}

/// Output of Order-Status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderStatusOutput {
    /// The customer's number.
    pub c_id: i32,
    /// First name.
    pub c_first: String,
    /// Middle name.
    pub c_middle: String,
    /// Last name.
    pub c_last: String,
    /// Balance in cents.
    pub c_balance: i64,
    /// Number of the newest order.
    pub o_id: i32,
    /// Its time; `None` before the first Order-Status.
    pub o_entry_d: Option<Timestamp>,
    /// Its carrier, once delivered.
    pub o_carrier_id: Option<i32>,
    /// Its lines.
    pub lines: Reused<OrderStatusLine>,
}

/// A line of an order as Order-Status returns it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OrderStatusLine {
    /// Item.
    pub ol_i_id: i32,
    /// Supplying warehouse.
    pub ol_supply_w_id: i32,
    /// Quantity.
    pub ol_quantity: i32,
    /// Amount in cents.
    pub ol_amount: i64,
    /// Time of delivery, once delivered.
    pub ol_delivery_d: Option<Timestamp>,
}

/// Output of Delivery: what clause 2.7.3.2 has in the result file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryOutput {
    /// For districts 1 to 10 the order delivered; `None` where there was none to deliver.
    pub o_id: [Option<i32>; 10],
}

impl DeliveryOutput {
    /// How many districts had no order to deliver.
    #[must_use]
    pub fn skipped(&self) -> u32 {
        self.o_id.iter().map(|o_id| u32::from(o_id.is_none())).sum()
    }
}

/// Output of Stock-Level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StockLevelOutput {
    /// Items of the last twenty orders with less in stock than the threshold.
    pub low_stock: i32,
}

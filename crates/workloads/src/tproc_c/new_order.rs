//! New-Order (clause 2.4): takes the district's next order number, and updates each line's stock in
//! the order (supplying warehouse, item). One in a hundred contains a non-existent item, and is
//! rolled back after the work up to there.

use triphammer_core::rows::Rows;
use triphammer_core::session::{Access, Session, StatementId};
use triphammer_core::value::Value;
use triphammer_core::workload::{Completion, Statements};
use triphammer_core::{DbError, ErrorClass};

use super::buffers::Buffers;
use super::input::NewOrder;
use super::output::{NewOrderLine, NewOrderOutput, put};

/// How both databases and clients mark a product of the original brand (clause 2.4.2.2).
const ORIGINAL: &str = "ORIGINAL";

/// Status of the procedure: the order was rolled back because of its unused item.
const STATUS_ROLLED_BACK: i64 = 1;

/// Statements of New-Order in mode statements.
#[derive(Debug)]
pub(super) struct Ids {
    customer: StatementId,
    district: StatementId,
    advance_district: StatementId,
    insert_order: StatementId,
    insert_new_order: StatementId,
    item: StatementId,
    stock: StatementId,
    update_stock: StatementId,
    insert_line: StatementId,
}

impl Ids {
    pub(super) async fn prepare<S: Session>(
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        Ok(Self {
            customer: statements.prepare(session, "new_order.customer").await?,
            district: statements.prepare(session, "new_order.district").await?,
            advance_district: statements.prepare(session, "new_order.advance_district").await?,
            insert_order: statements.prepare(session, "new_order.insert_order").await?,
            insert_new_order: statements.prepare(session, "new_order.insert_new_order").await?,
            item: statements.prepare(session, "new_order.item").await?,
            stock: statements.prepare(session, "new_order.stock").await?,
            update_stock: statements.prepare(session, "new_order.update_stock").await?,
            insert_line: statements.prepare(session, "new_order.insert_line").await?,
        })
    }
}

/// Runs New-Order as a procedure.
pub(super) async fn call<S: Session>(
    id: StatementId,
    input: &NewOrder,
    buffers: &mut Buffers,
    session: &mut S,
) -> Result<Completion, DbError> {
    let args = [
        input.w_id.into(),
        input.d_id.into(),
        input.c_id.into(),
        Value::Timestamp(input.entry_d),
        Value::Ints(input.i_id()),
        Value::Ints(input.supply_w_id()),
        Value::Ints(input.quantity()),
    ];
    session.call(id, &args, &mut buffers.rows).await?;
    read_call(&buffers.rows, input, &mut buffers.output.new_order)
}

/// Columns: status, o_id, w_tax, d_tax, c_last, c_credit, c_discount, total, then lists of i_name,
/// s_quantity, i_price, ol_amount, brand-generic.
fn read_call(
    rows: &Rows,
    input: &NewOrder,
    output: &mut NewOrderOutput,
) -> Result<Completion, DbError> {
    let row = rows.first("New-Order")?;
    let status = row.int(0)?;
    output.o_id = row.int32(1)?;
    output.w_tax = row.decimal(2, 4)?;
    output.d_tax = row.decimal(3, 4)?;
    put(&mut output.c_last, row.text(4)?);
    put(&mut output.c_credit, row.text(5)?);
    output.c_discount = row.decimal(6, 4)?;
    if status == STATUS_ROLLED_BACK {
        output.roll_back();
        return Ok(Completion::ROLLED_BACK);
    }
    output.committed = true;
    output.total = row.decimal(7, 2)?;
    let (names, quantities) = (row.list(8)?, row.list(9)?);
    let (prices, amounts, brands) = (row.list(10)?, row.list(11)?, row.list(12)?);
    let lines = [names.len(), quantities.len(), prices.len(), amounts.len(), brands.len()];
    if status != 0 || lines != [input.ol_cnt(); 5] {
        let (found, wanted) = (lines.map(|n| n.to_string()).join(", "), input.ol_cnt());
        let message = format!(
            "New-Order returned status {status} and lists of {found} lines, expected {wanted} each"
        );
        return Err(DbError::new(ErrorClass::Other, message));
    }
    let slots = output.lines.resize(input.ol_cnt());
    for (line, slot) in slots.iter_mut().enumerate() {
        put(&mut slot.i_name, names.text(line)?);
        slot.s_quantity = quantities.int32(line)?;
        slot.brand_generic = if brands.text(line)? == "B" { 'B' } else { 'G' };
        slot.i_price = prices.decimal(line, 2)?;
        slot.ol_amount = amounts.decimal(line, 2)?;
    }
    Ok(Completion::COMMITTED)
}

/// Runs New-Order statement by statement.
pub(super) async fn run<S: Session>(
    ids: &Ids,
    input: &NewOrder,
    buffers: &mut Buffers,
    session: &mut S,
) -> Result<Completion, DbError> {
    let Buffers { rows, output, .. } = buffers;
    let output = &mut output.new_order;
    session.begin(Access::Write).await?;
    read_customer(ids, input, rows, output, session).await?;
    take_number(ids, input, rows, output, session).await?;
    insert_order(ids, input, output.o_id, session).await?;
    output.lines.resize(input.ol_cnt());
    let mut lines = input.lock_order().peekable();
    while let Some(line) = lines.next() {
        let is_last = lines.peek().is_none();
        if !run_line(ids, input, (line, is_last), rows, output, session).await? {
            session.rollback().await?;
            output.roll_back();
            return Ok(Completion::ROLLED_BACK);
        }
    }
    output.committed = true;
    output.total = total(output);
    Ok(Completion::COMMITTED)
}

async fn read_customer<S: Session>(
    ids: &Ids,
    input: &NewOrder,
    rows: &mut Rows,
    output: &mut NewOrderOutput,
    session: &mut S,
) -> Result<(), DbError> {
    let args = [input.w_id.into(), input.d_id.into(), input.c_id.into()];
    session.query(ids.customer, &args, rows).await?;
    let row = rows.first("the customer of New-Order")?;
    output.w_tax = row.decimal(0, 4)?;
    output.c_discount = row.decimal(1, 4)?;
    put(&mut output.c_last, row.text(2)?);
    put(&mut output.c_credit, row.text(3)?);
    Ok(())
}

async fn take_number<S: Session>(
    ids: &Ids,
    input: &NewOrder,
    rows: &mut Rows,
    output: &mut NewOrderOutput,
    session: &mut S,
) -> Result<(), DbError> {
    let args = [input.w_id.into(), input.d_id.into()];
    session.query(ids.district, &args, rows).await?;
    let row = rows.first("the district of New-Order")?;
    output.o_id = row.int32(0)?;
    output.d_tax = row.decimal(1, 4)?;
    session.execute(ids.advance_district, &args).await?;
    Ok(())
}

async fn insert_order<S: Session>(
    ids: &Ids,
    input: &NewOrder,
    o_id: i32,
    session: &mut S,
) -> Result<(), DbError> {
    let ol_cnt = i64::try_from(input.ol_cnt()).expect("at most 15");
    let order = [
        o_id.into(),
        input.d_id.into(),
        input.w_id.into(),
        input.c_id.into(),
        Value::Timestamp(input.entry_d),
        ol_cnt.into(),
        Value::Int(input.all_local().into()),
    ];
    session.execute(ids.insert_order, &order).await?;
    let new_order = [o_id.into(), input.d_id.into(), input.w_id.into()];
    session.execute(ids.insert_new_order, &new_order).await?;
    Ok(())
}

/// Runs one line, and commits after the last one; returns false if there is no such item.
async fn run_line<S: Session>(
    ids: &Ids,
    input: &NewOrder,
    (line, is_last): (usize, bool),
    rows: &mut Rows,
    output: &mut NewOrderOutput,
    session: &mut S,
) -> Result<bool, DbError> {
    let (i_id, supply_w_id) = (input.i_id()[line], input.supply_w_id()[line]);
    let ordered = input.quantity()[line];
    let slot = &mut output.lines.resize(input.ol_cnt())[line];

    session.query(ids.item, &[i_id.into()], rows).await?;
    if rows.is_empty() {
        return Ok(false);
    }
    let item = rows.row(0);
    slot.i_price = item.decimal(0, 2)?;
    put(&mut slot.i_name, item.text(1)?);
    let item_original = item.text(2)?.contains(ORIGINAL);

    session.query(ids.stock, &[i_id.into(), supply_w_id.into(), input.d_id.into()], rows).await?;
    let stock = rows.first("the stock of New-Order")?;
    let in_stock = stock.int32(0)?;
    let original = item_original && stock.text(1)?.contains(ORIGINAL);
    slot.brand_generic = if original { 'B' } else { 'G' };
    slot.s_quantity = in_stock - ordered + if in_stock >= ordered + 10 { 0 } else { 91 };
    slot.ol_amount = i64::from(ordered) * slot.i_price;

    let remote = i32::from(supply_w_id != input.w_id);
    let update =
        [slot.s_quantity.into(), ordered.into(), remote.into(), i_id.into(), supply_w_id.into()];
    session.execute(ids.update_stock, &update).await?;
    let number = i64::try_from(line + 1).expect("at most 15");
    let insert = [
        output.o_id.into(),
        input.d_id.into(),
        input.w_id.into(),
        number.into(),
        i_id.into(),
        supply_w_id.into(),
        ordered.into(),
        Value::cents(slot.ol_amount),
        Value::Text(stock.text(2)?),
    ];
    if is_last {
        session.execute_and_commit(ids.insert_line, &insert, None).await?;
    } else {
        session.execute(ids.insert_line, &insert).await?;
    }
    Ok(true)
}

/// Computes Σ ol_amount × (1 − c_discount) × (1 + w_tax + d_tax), rounded half up to cents as in a
/// database with decimals.
fn total(output: &NewOrderOutput) -> i64 {
    const ONE: i64 = 10_000;
    let sum: i64 = output.lines.iter().map(|line: &NewOrderLine| line.ol_amount).sum();
    let exact = sum * (ONE - output.c_discount) * (ONE + output.w_tax + output.d_tax);
    (exact + ONE * ONE / 2) / (ONE * ONE)
}

#[cfg(test)]
mod tests {
    use super::super::schema::DOLLAR;
    use super::*;

    #[test]
    fn the_total_is_discounted_taxed_and_rounded_half_up() {
        for (amounts, discount, taxes, expected) in [
            (vec![100 * DOLLAR, 50 * DOLLAR], 0, (0, 0), 150 * DOLLAR),
            (vec![100 * DOLLAR], 5_000, (2_000, 2_000), 70 * DOLLAR),
            // 1.00 × 0.995 = 0.995 and 1.00 × 0.9949 = 0.9949.
            (vec![DOLLAR], 50, (0, 0), DOLLAR),
            (vec![DOLLAR], 51, (0, 0), 99),
        ] {
            let mut output = NewOrderOutput {
                c_discount: discount,
                w_tax: taxes.0,
                d_tax: taxes.1,
                ..NewOrderOutput::default()
            };
            for (slot, amount) in output.lines.resize(amounts.len()).iter_mut().zip(&amounts) {
                slot.ol_amount = *amount;
            }
            assert_eq!(total(&output), expected, "{amounts:?}");
        }
    }
}

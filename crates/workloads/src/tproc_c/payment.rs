//! Payment (clause 2.5): locks warehouse, district and customer, in this order.

use std::fmt::Write as _;

use triphammer_core::DbError;
use triphammer_core::rows::{Row, Rows};
use triphammer_core::session::{Access, Session, StatementId};
use triphammer_core::value::{Value, write_decimal};
use triphammer_core::workload::{Completion, Statements};

use super::buffers::{Buffers, expect_done};
use super::customer::{self, District};
use super::input::Payment;
use super::names::LastNames;
use super::output::{PaymentOutput, put};

/// Maximum length of c_data, in characters.
const DATA_MAX: usize = 500;
/// Number of characters of c_data that Payment returns (clause 2.5.3.3).
const DATA_SHOWN: usize = 200;

/// Statements of Payment in mode statements.
#[derive(Debug)]
pub(super) struct Ids {
    by_last_name: StatementId,
    update_warehouse: StatementId,
    warehouse: StatementId,
    update_district: StatementId,
    district: StatementId,
    customer: StatementId,
    update_customer: StatementId,
    update_customer_data: StatementId,
    insert_history: StatementId,
}

impl Ids {
    pub(super) async fn prepare<S: Session>(
        by_last_name: StatementId,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        Ok(Self {
            by_last_name,
            update_warehouse: statements.prepare(session, "payment.update_warehouse").await?,
            warehouse: statements.prepare(session, "payment.warehouse").await?,
            update_district: statements.prepare(session, "payment.update_district").await?,
            district: statements.prepare(session, "payment.district").await?,
            customer: statements.prepare(session, "payment.customer").await?,
            update_customer: statements.prepare(session, "payment.update_customer").await?,
            update_customer_data: statements
                .prepare(session, "payment.update_customer_data")
                .await?,
            insert_history: statements.prepare(session, "payment.insert_history").await?,
        })
    }
}

/// Runs Payment as a procedure.
pub(super) async fn call<S: Session>(
    id: StatementId,
    input: &Payment,
    names: &LastNames,
    buffers: &mut Buffers,
    session: &mut S,
) -> Result<Completion, DbError> {
    let [c_id, c_last] = customer::key_args(input.customer, names);
    let args = [
        input.w_id.into(),
        input.d_id.into(),
        input.c_w_id.into(),
        input.c_d_id.into(),
        c_id,
        c_last,
        Value::cents(input.h_amount),
        Value::Timestamp(input.h_date),
    ];
    session.call(id, &args, &mut buffers.rows).await?;
    let row = buffers.rows.first("Payment")?;
    expect_done(&row, "Payment")?;
    // Columns: status, five of the warehouse's address, five of the district's, the customer.
    let output = &mut buffers.output.payment;
    output.warehouse.read(&row, 1)?;
    output.district.read(&row, 6)?;
    read_customer(&row, 11, output)?;
    Ok(input.completion())
}

/// Reads c_id, c_first, c_middle, c_last, five columns of address, c_phone, c_since, c_credit,
/// c_credit_lim, c_discount, c_balance, c_data.
fn read_customer(row: &Row<'_>, column: usize, output: &mut PaymentOutput) -> Result<(), DbError> {
    output.c_id = row.int32(column)?;
    put(&mut output.c_first, row.text(column + 1)?);
    put(&mut output.c_middle, row.text(column + 2)?);
    put(&mut output.c_last, row.text(column + 3)?);
    output.customer.read(row, column + 4)?;
    put(&mut output.c_phone, row.text(column + 9)?);
    output.c_since = Some(row.timestamp(column + 10)?);
    put(&mut output.c_credit, row.text(column + 11)?);
    output.c_credit_lim = row.decimal(column + 12, 2)?;
    output.c_discount = row.decimal(column + 13, 4)?;
    output.c_balance = row.decimal(column + 14, 2)?;
    put(&mut output.c_data, row.text(column + 15)?);
    Ok(())
}

/// Runs Payment statement by statement.
pub(super) async fn run<S: Session>(
    ids: &Ids,
    input: &Payment,
    names: &LastNames,
    buffers: &mut Buffers,
    session: &mut S,
) -> Result<Completion, DbError> {
    let Buffers { rows, output, text, history } = buffers;
    let output = &mut output.payment;
    session.begin(Access::Write).await?;
    pay_warehouse_and_district(ids, input, rows, output, history, session).await?;
    let district = District { w_id: input.c_w_id, d_id: input.c_d_id };
    let c_id =
        customer::find(ids.by_last_name, district, input.customer, names, rows, session).await?;
    pay_customer(ids, input, c_id, rows, output, text, session).await?;
    let row = [
        c_id.into(),
        input.c_d_id.into(),
        input.c_w_id.into(),
        input.d_id.into(),
        input.w_id.into(),
        Value::Timestamp(input.h_date),
        Value::cents(input.h_amount),
        Value::Text(history),
    ];
    session.execute_and_commit(ids.insert_history, &row, None).await?;
    Ok(input.completion())
}

/// Updates and then reads both, and composes h_data from their names.
async fn pay_warehouse_and_district<S: Session>(
    ids: &Ids,
    input: &Payment,
    rows: &mut Rows,
    output: &mut PaymentOutput,
    history: &mut String,
    session: &mut S,
) -> Result<(), DbError> {
    let (amount, w_id, d_id) = (Value::cents(input.h_amount), input.w_id.into(), input.d_id.into());
    session.execute(ids.update_warehouse, &[amount, w_id]).await?;
    session.query(ids.warehouse, &[w_id], rows).await?;
    let row = rows.first("the warehouse of Payment")?;
    put(history, row.text(0)?);
    output.warehouse.read(&row, 1)?;

    session.execute(ids.update_district, &[amount, w_id, d_id]).await?;
    session.query(ids.district, &[w_id, d_id], rows).await?;
    let row = rows.first("the district of Payment")?;
    history.push_str("    ");
    history.push_str(row.text(0)?);
    output.district.read(&row, 1)
}

/// Locks, reads and updates the customer; a customer with bad credit gets the payment recorded in
/// c_data.
async fn pay_customer<S: Session>(
    ids: &Ids,
    input: &Payment,
    c_id: i32,
    rows: &mut Rows,
    output: &mut PaymentOutput,
    data: &mut String,
    session: &mut S,
) -> Result<(), DbError> {
    let (w_id, d_id) = (input.c_w_id.into(), input.c_d_id.into());
    session.query(ids.customer, &[w_id, d_id, c_id.into()], rows).await?;
    read_customer(&rows.first("the customer of Payment")?, 0, output)?;
    output.c_balance -= input.h_amount;
    let amount = Value::cents(input.h_amount);
    if output.c_credit != "BC" {
        output.c_data.clear();
        session.execute(ids.update_customer, &[amount, w_id, d_id, c_id.into()]).await?;
        return Ok(());
    }
    note_payment(data, input, c_id, &output.c_data);
    let args = [amount, Value::Text(data), w_id, d_id, c_id.into()];
    session.execute(ids.update_customer_data, &args).await?;
    let shown = data.floor_char_boundary(DATA_SHOWN);
    put(&mut output.c_data, &data[..shown]);
    Ok(())
}

/// Prepends `c_id c_d_id c_w_id d_id w_id amount ` to the existing data, cut at 500 characters
/// (clause 2.5.2.2).
fn note_payment(data: &mut String, input: &Payment, c_id: i32, before: &str) {
    let Payment { w_id, d_id, c_w_id, c_d_id, h_amount, .. } = input;
    data.clear();
    write!(data, "{c_id} {c_d_id} {c_w_id} {d_id} {w_id} ")
        .and_then(|()| write_decimal(data, *h_amount, 2))
        .expect("writing to a string cannot fail");
    data.push(' ');
    data.push_str(before);
    data.truncate(data.floor_char_boundary(DATA_MAX));
}

#[cfg(test)]
mod tests {
    use triphammer_core::value::Timestamp;

    use super::super::input::CustomerKey;
    use super::*;

    #[test]
    fn a_payment_is_noted_in_front_and_the_data_cut_at_500() {
        let input = Payment {
            w_id: 1,
            d_id: 2,
            c_w_id: 3,
            c_d_id: 4,
            customer: CustomerKey::Id(5),
            h_amount: 12_05,
            h_date: Timestamp::from_seconds(0),
        };
        let mut data = String::new();
        note_payment(&mut data, &input, 5, "before");
        assert_eq!(data, "5 4 3 2 1 12.05 before");
        note_payment(&mut data, &input, 5, &"x".repeat(500));
        assert_eq!((data.len(), data.matches('x').count()), (500, 484));
    }
}

//! Delivery (clause 2.7), in the foreground: delivers the oldest new order of each district, in the
//! order of the districts, all in one transaction. A district without one is skipped and counted.

use triphammer_core::DbError;
use triphammer_core::rows::{Row, Rows};
use triphammer_core::session::{Access, Session, StatementId};
use triphammer_core::value::Value;
use triphammer_core::workload::{Completion, Statements};

use super::buffers::{Buffers, expect_done};
use super::input::Delivery;
use super::output::DeliveryOutput;

/// Statements of Delivery in mode statements.
#[derive(Debug)]
pub(super) struct Ids {
    oldest: StatementId,
    delete_new_order: StatementId,
    order: StatementId,
    update_order: StatementId,
    update_lines: StatementId,
    amount: StatementId,
    update_customer: StatementId,
}

impl Ids {
    pub(super) async fn prepare<S: Session>(
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        Ok(Self {
            oldest: statements.prepare(session, "delivery.oldest").await?,
            delete_new_order: statements.prepare(session, "delivery.delete_new_order").await?,
            order: statements.prepare(session, "delivery.order").await?,
            update_order: statements.prepare(session, "delivery.update_order").await?,
            update_lines: statements.prepare(session, "delivery.update_lines").await?,
            amount: statements.prepare(session, "delivery.amount").await?,
            update_customer: statements.prepare(session, "delivery.update_customer").await?,
        })
    }
}

fn completion(output: &DeliveryOutput) -> Completion {
    Completion { committed: true, counter: output.skipped().into() }
}

/// Runs Delivery as a procedure.
pub(super) async fn call<S: Session>(
    id: StatementId,
    input: &Delivery,
    buffers: &mut Buffers,
    session: &mut S,
) -> Result<Completion, DbError> {
    let args = [input.w_id.into(), input.o_carrier_id.into(), Value::Timestamp(input.delivery_d)];
    session.call(id, &args, &mut buffers.rows).await?;
    let row = buffers.rows.first("Delivery")?;
    expect_done(&row, "Delivery")?;
    // Columns: status, and a list of each district's order, null for a skipped one.
    let (output, orders) = (&mut buffers.output.delivery, row.list(1)?);
    for (district, o_id) in output.o_id.iter_mut().enumerate() {
        *o_id = orders.optional(district, Row::int32)?;
    }
    Ok(completion(output))
}

/// Runs Delivery statement by statement.
pub(super) async fn run<S: Session>(
    ids: &Ids,
    input: &Delivery,
    buffers: &mut Buffers,
    session: &mut S,
) -> Result<Completion, DbError> {
    let Buffers { rows, output, .. } = buffers;
    let output = &mut output.delivery;
    session.begin(Access::Write).await?;
    let last = output.o_id.len();
    for (d_id, o_id) in (1..).zip(&mut output.o_id) {
        let commits = usize::try_from(d_id) == Ok(last);
        *o_id = deliver(ids, input, (d_id, commits), rows, session).await?;
    }
    Ok(completion(output))
}

/// Delivers the oldest new order of a district, and returns its number; commits after that if it is the last one.
async fn deliver<S: Session>(
    ids: &Ids,
    input: &Delivery,
    (d_id, commits): (i32, bool),
    rows: &mut Rows,
    session: &mut S,
) -> Result<Option<i32>, DbError> {
    let (w_id, d_id) = (Value::from(input.w_id), Value::from(d_id));
    session.query(ids.oldest, &[w_id, d_id], rows).await?;
    if rows.is_empty() {
        if commits {
            session.commit().await?;
        }
        return Ok(None);
    }
    let o_id = rows.row(0).int32(0)?;
    let order = [w_id, d_id, o_id.into()];
    session.execute(ids.delete_new_order, &order).await?;

    session.query(ids.order, &order, rows).await?;
    let c_id = rows.first("the order of Delivery")?.int32(0)?;
    let carrier = Value::from(input.o_carrier_id);
    session.execute(ids.update_order, &[carrier, w_id, d_id, o_id.into()]).await?;

    let delivered = Value::Timestamp(input.delivery_d);
    session.execute(ids.update_lines, &[delivered, w_id, d_id, o_id.into()]).await?;
    session.query(ids.amount, &order, rows).await?;
    let amount = Value::cents(rows.first("the amount of Delivery")?.decimal(0, 2)?);
    let update = [amount, w_id, d_id, c_id.into()];
    if commits {
        session.execute_and_commit(ids.update_customer, &update, None).await?;
    } else {
        session.execute(ids.update_customer, &update).await?;
    }
    Ok(Some(o_id))
}

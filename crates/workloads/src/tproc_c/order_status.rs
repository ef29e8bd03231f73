//! Order-Status (clause 2.6): reads a customer's newest order with its lines, all from one
//! snapshot: a Delivery between two of its statements would show an order half delivered.

use triphammer_core::rows::{Row, Rows};
use triphammer_core::session::{Access, Session, StatementId};
use triphammer_core::workload::{Completion, Statements};
use triphammer_core::{DbError, ErrorClass};

use super::buffers::{Buffers, expect_done};
use super::customer::{self, District};
use super::input::OrderStatus;
use super::names::LastNames;
use super::output::{OrderStatusLine, OrderStatusOutput, put};

/// Statements of Order-Status in mode statements.
#[derive(Debug)]
pub(super) struct Ids {
    by_last_name: StatementId,
    customer: StatementId,
    order: StatementId,
    lines: StatementId,
}

impl Ids {
    pub(super) async fn prepare<S: Session>(
        by_last_name: StatementId,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        Ok(Self {
            by_last_name,
            customer: statements.prepare(session, "order_status.customer").await?,
            order: statements.prepare(session, "order_status.order").await?,
            lines: statements.prepare(session, "order_status.lines").await?,
        })
    }
}

/// Runs Order-Status as a procedure.
pub(super) async fn call<S: Session>(
    id: StatementId,
    input: &OrderStatus,
    names: &LastNames,
    buffers: &mut Buffers,
    session: &mut S,
) -> Result<Completion, DbError> {
    let [c_id, c_last] = customer::key_args(input.customer, names);
    let args = [input.w_id.into(), input.d_id.into(), c_id, c_last];
    session.call(id, &args, &mut buffers.rows).await?;
    let row = buffers.rows.first("Order-Status")?;
    expect_done(&row, "Order-Status")?;
    // Columns: status, five of the customer, three of the order, then five lists of its lines.
    let output = &mut buffers.output.order_status;
    output.c_id = row.int32(1)?;
    read_customer(&row, 2, output)?;
    read_order(&row, 6, output)?;
    let lists = [row.list(9)?, row.list(10)?, row.list(11)?, row.list(12)?, row.list(13)?];
    let count = lists[0].len();
    if lists.iter().any(|list| list.len() != count) {
        let message = "Order-Status returned lists of different lengths";
        return Err(DbError::new(ErrorClass::Other, message));
    }
    for (line, slot) in output.lines.resize(count).iter_mut().enumerate() {
        *slot = OrderStatusLine {
            ol_i_id: lists[0].int32(line)?,
            ol_supply_w_id: lists[1].int32(line)?,
            ol_quantity: lists[2].int32(line)?,
            ol_amount: lists[3].decimal(line, 2)?,
            ol_delivery_d: lists[4].optional(line, Row::timestamp)?,
        };
    }
    Ok(Completion::COMMITTED)
}

/// Runs Order-Status statement by statement.
pub(super) async fn run<S: Session>(
    ids: &Ids,
    input: &OrderStatus,
    names: &LastNames,
    buffers: &mut Buffers,
    session: &mut S,
) -> Result<Completion, DbError> {
    let Buffers { rows, output, .. } = buffers;
    let output = &mut output.order_status;
    session.begin(Access::Snapshot).await?;
    let (w_id, d_id) = (input.w_id.into(), input.d_id.into());
    let district = District { w_id: input.w_id, d_id: input.d_id };
    output.c_id =
        customer::find(ids.by_last_name, district, input.customer, names, rows, session).await?;
    session.query(ids.customer, &[w_id, d_id, output.c_id.into()], rows).await?;
    read_customer(&rows.first("the customer of Order-Status")?, 0, output)?;
    session.query(ids.order, &[w_id, d_id, output.c_id.into()], rows).await?;
    read_order(&rows.first("the order of Order-Status")?, 0, output)?;
    let order = [w_id, d_id, output.o_id.into()];
    session.execute_and_commit(ids.lines, &order, Some(&mut *rows)).await?;
    read_lines(rows, output)?;
    Ok(Completion::COMMITTED)
}

/// Reads the columns c_first, c_middle, c_last and c_balance.
fn read_customer(
    row: &Row<'_>,
    column: usize,
    output: &mut OrderStatusOutput,
) -> Result<(), DbError> {
    put(&mut output.c_first, row.text(column)?);
    put(&mut output.c_middle, row.text(column + 1)?);
    put(&mut output.c_last, row.text(column + 2)?);
    output.c_balance = row.decimal(column + 3, 2)?;
    Ok(())
}

/// Reads the columns o_id, o_entry_d and o_carrier_id.
fn read_order(row: &Row<'_>, column: usize, output: &mut OrderStatusOutput) -> Result<(), DbError> {
    output.o_id = row.int32(column)?;
    output.o_entry_d = Some(row.timestamp(column + 1)?);
    output.o_carrier_id = row.optional(column + 2, Row::int32)?;
    Ok(())
}

fn read_lines(rows: &Rows, output: &mut OrderStatusOutput) -> Result<(), DbError> {
    for (slot, row) in output.lines.resize(rows.len()).iter_mut().zip(rows.iter()) {
        *slot = OrderStatusLine {
            ol_i_id: row.int32(0)?,
            ol_supply_w_id: row.int32(1)?,
            ol_quantity: row.int32(2)?,
            ol_amount: row.decimal(3, 2)?,
            ol_delivery_d: row.optional(4, Row::timestamp)?,
        };
    }
    Ok(())
}

//! Stock-Level (clause 2.8): counts the items of a district's last twenty orders that are low in
//! stock. It only reads; clause 3.4.1 lets others write between its two statements.

use triphammer_core::DbError;
use triphammer_core::session::{Access, Session, StatementId};
use triphammer_core::workload::{Completion, Statements};

use super::buffers::{Buffers, expect_done};
use super::input::StockLevel;

/// Number of newest orders that are examined.
const ORDERS_SEEN: i32 = 20;

/// Statements of Stock-Level in mode statements.
#[derive(Debug)]
pub(super) struct Ids {
    district: StatementId,
    count: StatementId,
}

impl Ids {
    pub(super) async fn prepare<S: Session>(
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        Ok(Self {
            district: statements.prepare(session, "stock_level.district").await?,
            count: statements.prepare(session, "stock_level.count").await?,
        })
    }
}

/// Runs Stock-Level as a procedure.
pub(super) async fn call<S: Session>(
    id: StatementId,
    input: &StockLevel,
    buffers: &mut Buffers,
    session: &mut S,
) -> Result<Completion, DbError> {
    let args = [input.w_id.into(), input.d_id.into(), input.threshold.into()];
    session.call(id, &args, &mut buffers.rows).await?;
    let row = buffers.rows.first("Stock-Level")?;
    expect_done(&row, "Stock-Level")?;
    buffers.output.stock_level.low_stock = row.int32(1)?;
    Ok(Completion::COMMITTED)
}

/// Runs Stock-Level statement by statement.
pub(super) async fn run<S: Session>(
    ids: &Ids,
    input: &StockLevel,
    buffers: &mut Buffers,
    session: &mut S,
) -> Result<Completion, DbError> {
    let rows = &mut buffers.rows;
    session.begin(Access::Read).await?;
    session.query(ids.district, &[input.w_id.into(), input.d_id.into()], rows).await?;
    let next = rows.first("the district of Stock-Level")?.int32(0)?;
    let args = [
        input.w_id.into(),
        input.d_id.into(),
        (next - ORDERS_SEEN).into(),
        next.into(),
        input.threshold.into(),
    ];
    session.execute_and_commit(ids.count, &args, Some(&mut *rows)).await?;
    buffers.output.stock_level.low_stock = rows.first("the count of Stock-Level")?.int32(0)?;
    Ok(Completion::COMMITTED)
}

//! The prepared statements of a session, and the transactions that use them.

use triphammer_core::session::{Session, StatementId};
use triphammer_core::workload::{Completion, Mode, Statements};
use triphammer_core::{DbError, ErrorClass};

use super::buffers::Buffers;
use super::input::Input;
use super::names::LastNames;
use super::output::Output;
use super::settings::Routines;
use super::{delivery, hammerdb, new_order, order_status, payment, stock_level};

/// Statements and buffers of a session.
#[derive(Debug)]
pub struct Prepared {
    work: Work,
    buffers: Buffers,
}

#[derive(Debug)]
enum Work {
    Procedures(Calls),
    Statements(Box<Ids>),
    Hammerdb(hammerdb::Routines),
}

#[derive(Debug)]
struct Calls {
    new_order: StatementId,
    payment: StatementId,
    order_status: StatementId,
    delivery: StatementId,
    stock_level: StatementId,
}

#[derive(Debug)]
struct Ids {
    new_order: new_order::Ids,
    payment: payment::Ids,
    order_status: order_status::Ids,
    delivery: delivery::Ids,
    stock_level: stock_level::Ids,
}

impl Prepared {
    /// Prepares the statements of a mode.
    pub(super) async fn new<S: Session>(
        mode: Mode,
        routines: Routines,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        let mut buffers = Buffers::default();
        let work = match mode {
            _ if routines == Routines::Hammerdb => Work::Hammerdb(
                hammerdb::Routines::prepare(mode, statements, session, &mut buffers.rows).await?,
            ),
            Mode::Procedures => Work::Procedures(Calls {
                new_order: statements.prepare(session, "new_order.call").await?,
                payment: statements.prepare(session, "payment.call").await?,
                order_status: statements.prepare(session, "order_status.call").await?,
                delivery: statements.prepare(session, "delivery.call").await?,
                stock_level: statements.prepare(session, "stock_level.call").await?,
            }),
            Mode::Statements => {
                let by_name = statements.prepare(session, "customer.by_last_name").await?;
                Work::Statements(Box::new(Ids {
                    new_order: new_order::Ids::prepare(statements, session).await?,
                    payment: payment::Ids::prepare(by_name, statements, session).await?,
                    order_status: order_status::Ids::prepare(by_name, statements, session).await?,
                    delivery: delivery::Ids::prepare(statements, session).await?,
                    stock_level: stock_level::Ids::prepare(statements, session).await?,
                }))
            }
        };
        Ok(Self { work, buffers })
    }

    /// Outputs of the last transaction of each type.
    #[must_use]
    pub fn output(&self) -> &Output {
        &self.buffers.output
    }

    /// Runs one transaction of any type.
    pub(super) async fn run<S: Session>(
        &mut self,
        input: &Input,
        names: &LastNames,
        session: &mut S,
    ) -> Result<Completion, DbError> {
        let buffers = &mut self.buffers;
        match &self.work {
            Work::Procedures(calls) => match input {
                Input::NewOrder(i) => new_order::call(calls.new_order, i, buffers, session).await,
                Input::Payment(i) => payment::call(calls.payment, i, names, buffers, session).await,
                Input::OrderStatus(i) => {
                    order_status::call(calls.order_status, i, names, buffers, session).await
                }
                Input::Delivery(i) => delivery::call(calls.delivery, i, buffers, session).await,
                Input::StockLevel(i) => {
                    stock_level::call(calls.stock_level, i, buffers, session).await
                }
                Input::Hammerdb(_) => Err(drawn_otherwise()),
            },
            Work::Statements(ids) => match input {
                Input::NewOrder(i) => new_order::run(&ids.new_order, i, buffers, session).await,
                Input::Payment(i) => payment::run(&ids.payment, i, names, buffers, session).await,
                Input::OrderStatus(i) => {
                    order_status::run(&ids.order_status, i, names, buffers, session).await
                }
                Input::Delivery(i) => delivery::run(&ids.delivery, i, buffers, session).await,
                Input::StockLevel(i) => {
                    stock_level::run(&ids.stock_level, i, buffers, session).await
                }
                Input::Hammerdb(_) => Err(drawn_otherwise()),
            },
            Work::Hammerdb(routines) => match input {
                Input::Hammerdb(i) => routines.run(i, names, &mut buffers.rows, session).await,
                _ => Err(drawn_otherwise()),
            },
        }
    }
}

/// The error for an input of other routines: the workload draws inputs and prepares sessions with
/// the same settings.
#[cold]
fn drawn_otherwise() -> DbError {
    DbError::new(
        ErrorClass::Other,
        "this input does not belong to the routines that the session prepared",
    )
}

//! The prepared statements of a session, and the transactions that use them.

use triphammer_core::DbError;
use triphammer_core::session::{Session, StatementId};
use triphammer_core::workload::{Completion, Mode, Statements};

use super::buffers::Buffers;
use super::input::Input;
use super::names::LastNames;
use super::of_mix::{drawn_otherwise, of_mix};
use super::output::Output;
use super::settings::{Routines, Settings};
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

/// The procedures of the types in the mix: who may only read can prepare no others.
#[derive(Debug)]
struct Calls {
    new_order: Option<StatementId>,
    payment: Option<StatementId>,
    order_status: Option<StatementId>,
    delivery: Option<StatementId>,
    stock_level: Option<StatementId>,
}

/// The statements of the types in the mix.
#[derive(Debug)]
struct Ids {
    new_order: Option<new_order::Ids>,
    payment: Option<payment::Ids>,
    order_status: Option<order_status::Ids>,
    delivery: Option<delivery::Ids>,
    stock_level: Option<stock_level::Ids>,
}

/// The result of preparing what is in the mix; `None` for the rest.
macro_rules! if_in_mix {
    ($weight:expr, $prepare:expr) => {
        if $weight > 0 { Some($prepare.await?) } else { None }
    };
}

impl Prepared {
    /// Prepares the statements of a mode, of the types that are in the mix.
    pub(super) async fn new<S: Session>(
        mode: Mode,
        settings: &Settings,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<Self, DbError> {
        let mut buffers = Buffers::default();
        let [new_order, payment, order_status, delivery, stock_level] = settings.mix;
        let work = match mode {
            _ if settings.routines == Routines::Hammerdb => Work::Hammerdb(
                hammerdb::Routines::prepare(
                    mode,
                    settings.mix,
                    statements,
                    session,
                    &mut buffers.rows,
                )
                .await?,
            ),
            Mode::Procedures => Work::Procedures(Calls {
                new_order: if_in_mix!(new_order, statements.prepare(session, "new_order.call")),
                payment: if_in_mix!(payment, statements.prepare(session, "payment.call")),
                order_status: if_in_mix!(
                    order_status,
                    statements.prepare(session, "order_status.call")
                ),
                delivery: if_in_mix!(delivery, statements.prepare(session, "delivery.call")),
                stock_level: if_in_mix!(
                    stock_level,
                    statements.prepare(session, "stock_level.call")
                ),
            }),
            Mode::Statements => {
                let by_name = match payment + order_status {
                    0 => None,
                    _ => Some(statements.prepare(session, "customer.by_last_name").await?),
                };
                Work::Statements(Box::new(Ids {
                    new_order: if_in_mix!(new_order, new_order::Ids::prepare(statements, session)),
                    payment: if_in_mix!(
                        payment,
                        payment::Ids::prepare(of_mix(by_name)?, statements, session)
                    ),
                    order_status: if_in_mix!(
                        order_status,
                        order_status::Ids::prepare(of_mix(by_name)?, statements, session)
                    ),
                    delivery: if_in_mix!(delivery, delivery::Ids::prepare(statements, session)),
                    stock_level: if_in_mix!(
                        stock_level,
                        stock_level::Ids::prepare(statements, session)
                    ),
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
                Input::NewOrder(i) => {
                    new_order::call(of_mix(calls.new_order)?, i, buffers, session).await
                }
                Input::Payment(i) => {
                    payment::call(of_mix(calls.payment)?, i, names, buffers, session).await
                }
                Input::OrderStatus(i) => {
                    order_status::call(of_mix(calls.order_status)?, i, names, buffers, session)
                        .await
                }
                Input::Delivery(i) => {
                    delivery::call(of_mix(calls.delivery)?, i, buffers, session).await
                }
                Input::StockLevel(i) => {
                    stock_level::call(of_mix(calls.stock_level)?, i, buffers, session).await
                }
                Input::Hammerdb(_) => Err(drawn_otherwise()),
            },
            Work::Statements(ids) => match input {
                Input::NewOrder(i) => {
                    new_order::run(of_mix(ids.new_order.as_ref())?, i, buffers, session).await
                }
                Input::Payment(i) => {
                    payment::run(of_mix(ids.payment.as_ref())?, i, names, buffers, session).await
                }
                Input::OrderStatus(i) => {
                    order_status::run(
                        of_mix(ids.order_status.as_ref())?,
                        i,
                        names,
                        buffers,
                        session,
                    )
                    .await
                }
                Input::Delivery(i) => {
                    delivery::run(of_mix(ids.delivery.as_ref())?, i, buffers, session).await
                }
                Input::StockLevel(i) => {
                    stock_level::run(of_mix(ids.stock_level.as_ref())?, i, buffers, session).await
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

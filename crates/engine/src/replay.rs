//! Repeats one transaction, given the origin of its input. The random streams are advanced to its
//! position without running earlier transactions, so the input is the same but the data is not.

use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::clock::{Clock, Elapsed};
use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::origin::Origin;
use triphammer_core::session::{Database, Role, Session};
use triphammer_core::value::Timestamp;
use triphammer_core::workload::{Completion, Statements, Workload};

use super::RunPlan;
use super::metered::Metered;
use super::recorded::Recorded;
use super::virtual_user::VirtualUser;

/// Result of repeating a transaction.
#[derive(Debug)]
pub struct Replay {
    /// Index of its transaction type.
    pub transaction: usize,
    /// The transaction's input for people: lines of `name = value`.
    pub input: String,
    /// How its one attempt ended.
    pub outcome: Result<Completion, DbError>,
    /// How long the attempt took.
    pub took: Elapsed,
    /// Number of statements and calls sent.
    pub round_trips: u64,
    /// The SQL sent, in order, with its values.
    pub sent: Vec<String>,
}

/// Repeats the transaction of `origin` once, on a separate session. `date` is the date of the time
/// at which it was due.
///
/// # Errors
/// When no session can be opened or prepared.
///
/// # Panics
/// When the workload has no such transaction: the plan is not that of the run.
pub async fn replay<W: Workload, D: Database>(
    plan: &RunPlan<W, D>,
    origin: Origin,
    date: Timestamp,
) -> Result<Replay, DbError> {
    let (transaction, input) = draw(plan, origin, date);
    let limits = plan.spec.limits;
    let opening = async {
        let session = plan.database.connect(Role::User, 0).await?;
        let mut session = Metered::new(Recorded::new(session));
        let mut statements = Statements::new(&plan.catalogue).by(plan.spec.protocol);
        let mode = plan.spec.mode;
        let prepared = plan.workload.prepare(mode, &mut statements, &mut session).await?;
        Ok::<_, DbError>((session, prepared))
    };
    let (mut session, mut prepared) =
        timeout(limits.connect, opening).await.unwrap_or_else(|_| Err(late(limits.connect)))?;
    let before = session.round_trips();
    session.inner_mut().take_sent();
    let clock = Clock::start();
    session.begin_attempt(plan.workload.description().transactions[transaction].access);
    let limit = match limits.transaction {
        Duration::ZERO => plan.database.waits().work,
        limit => limit,
    };
    let running = plan.workload.run(&input, &mut prepared, &mut session);
    let outcome = timeout(limit, running).await.unwrap_or_else(|_| Err(late(limit)));
    let took = clock.now();
    let round_trips = session.round_trips() - before;
    if outcome.is_err() && !session.is_closed() {
        let _ = timeout(limits.connect, session.rollback()).await;
    }
    let sent = session.inner_mut().take_sent();
    session.into_inner().close().await;
    let input = input.to_string();
    Ok(Replay { transaction, input, outcome, took, round_trips, sent })
}

fn late(limit: Duration) -> DbError {
    DbError::new(ErrorClass::Timeout, format!("no answer within {} s", limit.as_secs_f64()))
}

fn draw<W: Workload, D: Database>(
    plan: &RunPlan<W, D>,
    origin: Origin,
    date: Timestamp,
) -> (usize, W::Input) {
    let workload = &*plan.workload;
    let id = if let Origin::User { user, .. } = origin { user } else { 0 };
    let mut client = VirtualUser::user(workload, &plan.spec, id);
    let next = |client: &mut VirtualUser<W>| {
        workload.draw(client.transaction, &mut client.state, &mut client.inputs, date)
    };
    let input = match origin {
        Origin::Arrival(arrival) => {
            client.arrive(workload, plan.spec.seed, arrival).then(|| next(&mut client))
        }
        Origin::User { nth, .. } => (0..nth)
            .fold(None, |_, _| client.advance(workload, &plan.spec).then(|| next(&mut client))),
    };
    (client.transaction, input.expect("the workload has this transaction"))
}

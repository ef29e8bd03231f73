//! Runs one transaction again, by what its input was drawn from. Streams are drawn up to its place
//! without running what came before, so the input is the same and the data is not.

use super::Plan;
use super::exemplar::Author;
use super::metered::Metered;
use super::turn::Client;
use crate::clock::{Clock, Elapsed};
use crate::error::DbError;
use crate::session::{Database, Role, Session};
use crate::value::Timestamp;
use crate::workload::{Completion, Statements, Workload};

/// What a transaction did when it was run again.
#[derive(Debug)]
pub struct Replay {
    /// Place of its type.
    pub transaction: usize,
    /// Its input, for people.
    pub input: String,
    /// How its one attempt ended.
    pub outcome: Result<Completion, DbError>,
    /// How long that took.
    pub took: Elapsed,
    /// Statements and calls sent.
    pub round_trips: u64,
}

/// Runs the transaction of `author` again, once, on a session of its own. `date` is that of the time at
/// which it was due.
///
/// # Errors
/// When there is no session, or it cannot be prepared.
///
/// # Panics
/// When the workload has no such transaction: the plan is not that of the run.
pub async fn replay<W: Workload, D: Database>(
    plan: &Plan<W, D>,
    author: Author,
    date: Timestamp,
) -> Result<Replay, DbError> {
    let (transaction, input) = draw(plan, author, date);
    let mut session = Metered::new(plan.database.connect(Role::User).await?);
    let mut statements = Statements::new(&plan.book);
    let mut prepared = plan.workload.prepare(plan.spec.mode, &mut statements, &mut session).await?;
    let before = session.round_trips();
    let clock = Clock::start();
    let outcome = plan.workload.run(&input, &mut prepared, &mut session).await;
    let took = clock.now();
    let round_trips = session.round_trips() - before;
    if outcome.is_err() && !session.is_closed() {
        let _ = session.rollback().await;
    }
    session.into_inner().close().await;
    Ok(Replay { transaction, input: format!("{input:#?}"), outcome, took, round_trips })
}

fn draw<W: Workload, D: Database>(
    plan: &Plan<W, D>,
    author: Author,
    date: Timestamp,
) -> (usize, W::Input) {
    let workload = &*plan.workload;
    let id = if let Author::User { user, .. } = author { user } else { 0 };
    let mut client = Client::user(workload, &plan.spec, id);
    let next = |client: &mut Client<W>| {
        workload.draw(client.transaction, &mut client.state, &mut client.inputs, date)
    };
    let input = match author {
        Author::Arrival(arrival) => {
            client.arrive(workload, plan.spec.seed, arrival).then(|| next(&mut client))
        }
        Author::User { nth, .. } => (0..nth)
            .fold(None, |_, _| client.advance(workload, &plan.spec).then(|| next(&mut client))),
    };
    (client.transaction, input.expect("the workload has such a transaction"))
}

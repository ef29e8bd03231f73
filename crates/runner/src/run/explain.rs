//! Execution plans of statements, on a session like that of a user.

use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::session::{Database as _, Role, Session as _};
use triphammer_core::sql::{BoundStatement, Explain};
use triphammer_core::{DbError, ErrorClass, Rows, Value};
use triphammer_document::execution_plan::{self, PlanOperation};
use triphammer_drivers::AnySession;
use triphammer_load::Plan;
use triphammer_settings::limited::Limited;

/// Maximum time to explain a statement without running it: it may have to wait for a lock.
const EXPLAIN_LIMIT: Duration = Duration::from_secs(5);

/// The limit for explaining a statement without running it: shorter than the session's own, which
/// would leave the server waiting for a lock.
pub(super) fn limit(plan: &Plan) -> Duration {
    EXPLAIN_LIMIT.min(plan.database.waits().query / 2)
}

/// Opens a session.
///
/// # Errors
/// As the database reports, or without an answer within the limit for connecting.
pub(super) async fn connect(plan: &Plan) -> Result<Limited<AnySession>, DbError> {
    let limit = plan.spec.limits.connect;
    let session = timeout(limit, plan.database.connect(Role::User, 0)).await;
    let session = session.unwrap_or_else(|_| {
        let message = format!("no answer within {} s", limit.as_secs_f64());
        Err(DbError::new(ErrorClass::Disconnected, message))
    })?;
    Ok(Limited::new(session, plan.database.waits()))
}

/// Has the database explain a statement, in the words `text` of its dialect that stand before it.
///
/// # Errors
/// As the database reports, and when its answer cannot be read.
pub(super) async fn operations(
    session: &mut Limited<AnySession>,
    (explain, text): (&Explain, &str),
    statement: &BoundStatement,
    args: &[Value<'_>],
) -> Result<Vec<PlanOperation>, DbError> {
    let id = session.prepare(&statement.after(text)).await?;
    let mut rows = Rows::new();
    session.query(id, args, &mut rows).await?;
    execution_plan::read(explain.format, &rows).map_err(|why| DbError::new(ErrorClass::Other, why))
}

//! Finds out whether a pooler is between the client and the server, and whether it keeps prepared
//! statements. A pooler that gives each transaction another session of the server, as PgBouncer's
//! transaction mode does, loses them, unless it tracks them (PgBouncer 1.21 and later with
//! `max_prepared_statements`).
//!
//! No pooler says what it is. Two sessions show it: if a statement that one of them prepared is there
//! for the other, they share a session of the server, and the pooler does not track statements.

use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::DbError;

use super::session::PostgresSession;

/// How often the sessions are compared: a pooler with other clients may give each of the two the same
/// session of the server by chance.
const ROUNDS: u32 = 3;
/// How long a comparison may take. Where a pooler has no free session of the server for a second
/// client, each client keeps its own.
const LIMIT: Duration = Duration::from_secs(2);

/// What is between the client and the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooler {
    /// Nothing, or a pooler that keeps what sessions prepare.
    Keeps,
    /// A pooler that gives transactions any session of the server.
    Forgets,
}

impl Pooler {
    /// Finds out with a new session, and if that is not the server's own, with a second one.
    ///
    /// # Errors
    /// When the session is lost.
    pub async fn find(
        session: &mut PostgresSession,
        open: impl AsyncFnOnce() -> Result<PostgresSession, DbError>,
    ) -> Result<Self, DbError> {
        match process_of(session).await {
            Ok(process) if process == Some(session.process()) => return Ok(Self::Keeps),
            Err(error) if error.class().loses_session() => return Err(error),
            // Another server with this protocol may lack the function.
            Err(_) => return Ok(Self::Keeps),
            Ok(_) => {}
        }
        let Ok(Ok(mut other)) = timeout(LIMIT, open()).await else { return Ok(Self::Keeps) };
        let mut found = Self::Keeps;
        for round in 0..ROUNDS {
            match timeout(LIMIT, forgets(session, &mut other, round)).await {
                Ok(Ok(false)) => {}
                Ok(Ok(true)) => {
                    found = Self::Forgets;
                    break;
                }
                // The other session waits for the server.
                Ok(Err(_)) | Err(_) => break,
            }
        }
        other.end().await;
        Ok(found)
    }

    /// What a result says about it.
    pub const fn note(self) -> Option<&'static str> {
        match self {
            Self::Keeps => None,
            Self::Forgets => Some(
                "a pooler between here and the server gives each transaction another session of \
                 the server and does not keep prepared statements: they are sent without a name, \
                 as --protocol extended does",
            ),
        }
    }
}

/// The server's process of a session.
async fn process_of(session: &mut PostgresSession) -> Result<Option<i32>, DbError> {
    let answer = session.ask("SELECT pg_catalog.pg_backend_pid()").await?;
    Ok(answer.first().and_then(|row| row.first()?.as_deref()?.parse().ok()))
}

/// Whether two sessions share a session of the server, or change it, without taking their statements
/// along.
async fn forgets(
    one: &mut PostgresSession,
    other: &mut PostgresSession,
    round: u32,
) -> Result<bool, DbError> {
    // The sessions' own number: other clients of the pooler may look, too.
    let name = format!("triphammer_look_{}_{round}", one.process().cast_unsigned());
    one.describe(None, &name, "SELECT 1", &[]).await?;
    let is_there = is_swapped(other.describe(None, &name, "SELECT 2", &[]).await)?;
    let is_gone = !is_there && is_swapped(one.run_named(&name).await)?;
    other.forget_named(&name).await?;
    if !is_there {
        one.forget_named(&name).await?;
    }
    Ok(is_there || is_gone)
}

/// Whether a call failed because a statement is, or is not, in the session of the server.
fn is_swapped<T>(called: Result<T, DbError>) -> Result<bool, DbError> {
    match called {
        Ok(_) => Ok(false),
        Err(error) if matches!(error.code(), Some("42P05" | "26000")) => Ok(true),
        Err(error) => Err(error),
    }
}

//! The sessions of a load, as the server numbers them, so that a fault can end them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use triphammer_core::DbError;
use triphammer_core::rows::Rows;
use triphammer_core::session::Session;
use triphammer_core::workload::Statements;

/// Statement that returns the server's number of a session, and a number of the server, where a session can be
/// terminated.
pub const SESSION_ID: &str = "session.id";
/// Statement that counts the sessions of a number that are of the same user in the same database.
pub const SESSION_IS_OWN: &str = "session.is_own";
/// Statement that terminates the session of a number.
pub const SESSION_TERMINATE: &str = "session.terminate";

/// The sessions of a load, as they were when each connected last; empty where a session cannot be
/// terminated.
#[derive(Debug, Default)]
pub struct Sessions {
    /// The server's number of each session, by the number in the run and the server.
    numbers: Mutex<BTreeMap<(u32, i64), i64>>,
}

/// A session, as its server numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerSession {
    /// The server: one of the nodes of a target, in places since its last start.
    pub server: i64,
    /// The session.
    pub id: i64,
}

impl Sessions {
    /// Adds a session that has connected.
    ///
    /// # Errors
    /// As the database reports.
    pub async fn add<S: Session>(
        &self,
        statements: &mut Statements<'_>,
        session: &mut S,
    ) -> Result<(), DbError> {
        if !statements.has(SESSION_ID) {
            return Ok(());
        }
        let mut rows = Rows::new();
        let id = statements.prepare(session, SESSION_ID).await?;
        session.query(id, &[], &mut rows).await?;
        let row = rows.first("the session's number")?;
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.insert((statements.session().0, row.int(1)?), row.int(0)?);
        Ok(())
    }

    /// All of them.
    pub fn all(&self) -> Vec<ServerSession> {
        let numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        numbers.iter().map(|((_, server), id)| ServerSession { server: *server, id: *id }).collect()
    }
}

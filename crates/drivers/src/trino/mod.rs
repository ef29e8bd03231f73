//! Trino over HTTP, by its client protocol: `trino://user@host:8080/catalog/schema`
//! (<https://trino.io/docs/current/develop/client-protocol.html>). A statement is posted, and its
//! pages are read one after another; a `DELETE` of the next page cancels it.
//!
//! Statements commit by themselves. Trino has transactions of several statements, but most
//! connectors cannot write in them, so [`Capabilities::transactions`] is false.

mod errors;
mod http;
mod literal;
mod load;
mod locks;
mod page;
mod session;
mod statement;
#[cfg(test)]
mod tests;
pub mod url;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::error::{DbError, ErrorClass, SpecError};
use triphammer_core::session::{Capabilities, Database, Protocol, Role, Waits};

use crate::redactor::Secretive;
use crate::target::{ConnectSettings, Secret, TargetUrl};
use errors::{NO_SCHEMA, SCHEMA_EXISTS, on_connect};
use http::{Shared, credentials};
use literal::quote_identifier;
pub use session::TrinoSession;
use url::UrlOptions;

const NO_TRANSACTIONS: &str = "each statement commits on its own";
const NO_KEYS: &str = "has no keys and constraints";
const NO_CHANGES: &str = "the connector `memory` cannot change rows";
const NO_LOCKS: &str = "has no locks";

static CAPABILITIES: Capabilities = Capabilities {
    blocks: false,
    in_process: false,
    procedures: false,
    one_writer: false,
    load_rows_min: 0,
    transactions: false,
    transactional_ddl: false,
    foreign_keys: false,
    stores: true,
    users_max: None,
    isolations: &[],
    protocols: &[Protocol::Simple],
    pipelining: Err("each statement is a request of its own"),
    logins: Err("it has no connections of sessions: each statement is a request of its own"),
    count_delay: Duration::ZERO,
    exempt: &[
        ("password_with_quotes_and_unicode", "has no users of its own"),
        ("types_through_arguments", NO_CHANGES),
        ("execute_gives_the_row_count", NO_CHANGES),
        ("failed_statement", NO_TRANSACTIONS),
        ("unique_violation", NO_KEYS),
        ("call_commits_by_itself", NO_KEYS),
        ("procedure_with_results", "has no procedures with results"),
        ("columns_that_change_between_transactions", NO_TRANSACTIONS),
        ("columns_that_change_within_a_transaction", NO_TRANSACTIONS),
        ("transactions", NO_TRANSACTIONS),
        ("last_statement_commits", NO_TRANSACTIONS),
        ("last_statement_that_fails", NO_TRANSACTIONS),
        ("abandoned_transaction", NO_TRANSACTIONS),
        ("read_only_access", NO_TRANSACTIONS),
        ("snapshot", NO_TRANSACTIONS),
        ("write_skew", NO_TRANSACTIONS),
        ("lock_timeout", NO_LOCKS),
        ("deadlock", NO_LOCKS),
        ("load_that_fails_midway", NO_KEYS),
        ("load_with_a_value_that_does_not_fit", NO_TRANSACTIONS),
    ],
};

/// A schema of a Trino cluster.
pub struct Trino {
    shared: Arc<Shared>,
    waits: Waits,
}

impl Trino {
    /// Reads a target without connecting yet.
    ///
    /// # Errors
    /// When the URL, a setting or a certificate file cannot be used.
    pub fn open(url: &TargetUrl, settings: &ConnectSettings) -> Result<Self, SpecError> {
        let options = UrlOptions::resolve(url, settings)?;
        let shared = Arc::new(Shared::new(options, settings)?);
        Ok(Self { shared, waits: settings.waits })
    }

    /// Does the first work of a session within the time limit of connecting.
    async fn within<T>(
        &self,
        work: impl Future<Output = Result<T, DbError>>,
    ) -> Result<T, DbError> {
        let (limit, server) = (self.shared.options.connect_limit, self.shared.options.server());
        timeout(limit, work).await.unwrap_or_else(|_| {
            let message = format!("{server} does not answer within {} s", limit.as_secs_f64());
            Err(DbError::new(ErrorClass::Disconnected, message))
        })
    }
}

impl Secretive for Trino {
    /// User and password as they are sent.
    fn secrets(&self) -> Vec<Secret> {
        // They were encoded before, for the headers.
        credentials(&self.shared.options).ok().flatten().into_iter().collect()
    }
}

impl Database for Trino {
    type Session = TrinoSession;

    fn dialect(&self) -> &'static str {
        "trino"
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn target(&self) -> String {
        self.shared.options.label()
    }

    async fn connect(&self, _role: Role, _slot: u32) -> Result<TrinoSession, DbError> {
        let mut session = TrinoSession::new(Arc::clone(&self.shared));
        self.within(session.look()).await?;
        Ok(session)
    }

    fn waits(&self) -> Waits {
        self.waits
    }

    async fn create_database(&self) -> Result<bool, DbError> {
        let mut session = TrinoSession::new(Arc::clone(&self.shared));
        match self.within(session.look()).await {
            Err(error) if error.code() == Some(NO_SCHEMA) => {}
            found => return found.map(|()| false),
        }
        let name = quote_identifier(&self.shared.options.schema);
        match session.run_quietly(format!("CREATE SCHEMA {name}")).await {
            Ok(_) => Ok(true),
            // Another session was faster.
            Err(error) if error.code() == Some(SCHEMA_EXISTS) => Ok(false),
            Err(error) => Err(on_connect(error).context(format_args!("creating schema {name}"))),
        }
    }
}

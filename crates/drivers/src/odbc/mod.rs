//! Any database that has an ODBC driver: `odbc:DSN=name` or `odbc:Driver={name};Server=host`. Calls
//! block their thread.
//!
//! The driver knows ODBC and no product. What a product needs besides is declared by its dialect
//! ([`triphammer_core::odbc`]): how transactions begin, how errors are classed, what its drivers
//! get wrong. The dialect is the one that the user names, or that has the name of the product as
//! the driver reports it.

mod admin;
mod errors;
mod lists;
mod load;
mod script;
mod session;
mod shared;
#[cfg(test)]
mod tests;
mod values;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock};

use triphammer_core::error::{DbError, SpecError};
use triphammer_core::odbc::OdbcDef;
use triphammer_core::session::{Capabilities, CountErrors, Database, EngineControl, Role, Waits};

use self::shared::{Profile, Shared, UNKNOWN};
use crate::connection_string::redacted;
use crate::database_file::DatabaseFile;
use crate::prepared_again::PreparedAgain;
use crate::redactor::Secretive;
use crate::target::{ConnectSettings, Fence, TargetUrl};
pub use session::OdbcSession;

/// The dialect before the server is known.
const BASE: &str = "base";

/// A database that is reached by ODBC.
pub struct Odbc {
    shared: Arc<Shared>,
    waits: Waits,
}

impl Odbc {
    /// Reads a target without connecting yet.
    ///
    /// # Errors
    /// When a user who only sends URLs names one: a connection string can name a library of this
    /// host, which would be loaded.
    pub fn open(target: &TargetUrl, settings: &ConnectSettings) -> Result<Self, SpecError> {
        settings.reach.check_path("an odbc target")?;
        if settings.fence == Fence::Sql {
            return Err(SpecError::new(
                "an odbc target runs no SQL of clients: its driver runs in the server's process, \
                 and may open any file of the host; use the command line",
            ));
        }
        let password = settings.password.clone().or_else(|| target.password.clone());
        let shared = Shared {
            pairs: target.params.clone(),
            password,
            isolation: settings.isolation,
            own_sql: settings.own_sql,
            schema: settings.schema.clone(),
            lock_timeout: settings.lock_timeout,
            connect_limit: settings.connect_limit,
            dialects: settings.odbc_dialects,
            chosen: settings.dialect,
            assumed: settings.dialect.map(|dialect| Profile::of(dialect, true)),
            profile: OnceLock::new(),
            setting_up: Mutex::new(()),
            prepared_again: PreparedAgain::default(),
        };
        Ok(Self { shared: Arc::new(shared), waits: settings.waits })
    }
}

impl Secretive for Odbc {}

impl Database for Odbc {
    type Session = OdbcSession;

    fn dialect(&self) -> &'static str {
        let known = self.shared.profile.get().map(|profile| profile.dialect);
        known.or(self.shared.chosen).map_or(BASE, |dialect| dialect.name.as_str())
    }

    async fn identify(&self) -> Result<(), DbError> {
        self.shared.identify().await.map(drop)
    }

    fn capabilities(&self) -> &Capabilities {
        let known = self.shared.profile.get().or(self.shared.assumed.as_ref());
        known.map_or(&UNKNOWN, |profile| &profile.capabilities)
    }

    fn engine_control(&self) -> EngineControl {
        let of_server = Err("ODBC has no such setting; set it on the server");
        EngineControl { dop: of_server, memory: of_server }
    }

    fn target(&self) -> String {
        format!("odbc:{}", redacted(&self.shared.pairs))
    }

    async fn connect(&self, role: Role, _slot: u32) -> Result<OdbcSession, DbError> {
        self.shared.identify().await?;
        if let Some(file) = self.shared.file() {
            DatabaseFile::at(file).check(role)?;
        }
        let connection = self.shared.open(None).await?;
        self.shared.set_up(&connection)?;
        OdbcSession::new(connection, Arc::clone(&self.shared))
    }

    fn count_errors(&self) -> CountErrors {
        let clause = |key: fn(&OdbcDef) -> &Option<String>| {
            Cow::from(self.shared.def().and_then(|def| key(def).clone()).unwrap_or_default())
        };
        CountErrors { lacks: clause(|def| &def.count_lacks), adds: clause(|def| &def.count_adds) }
    }

    fn waits(&self) -> Waits {
        self.waits
    }

    fn notes(&self) -> Vec<String> {
        let untested = self.shared.def().and_then(|def| def.untested.clone());
        untested.into_iter().chain(self.shared.prepared_again.note()).collect()
    }

    async fn create_database(&self) -> Result<bool, DbError> {
        admin::create_database(&self.shared).await
    }
}

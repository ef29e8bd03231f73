//! The database that a target names: opened from URL and settings, and created if missing.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustls::client::Resumption;
use tokio_rustls::TlsConnector;
use triphammer_core::session::{
    CountErrors, Database, EngineControl, Isolation, Protocol, Role, Waits,
};
use triphammer_core::{Capabilities, DbError, SpecError};

use super::login::{Encrypt, Flag};
use super::quote::{quote_identifier, quote_literal};
use super::session::SqlServerSession;
use super::shared::Shared;
use super::url::UrlOptions;
use crate::redactor::Secretive;
use crate::socket::is_loopback;
use crate::target::{ConnectSettings, Lookup, Secret, TargetUrl};
use crate::tls::{Setup, client_config_of};

/// Says what has not been tested; printed when the server is not Babelfish.
const UNTESTED: &str = "the client for SQL Server was tested with Babelfish only, never with SQL \
    Server itself: please report what works and what does not, with the server's version; \
    docs/sql-server.md says how";
/// Name of the protocol in the handshake of strict TLS.
const STRICT: &[u8] = b"tds/8.0";

/// A SQL Server, or a server that speaks its protocol.
pub struct SqlServer {
    shared: Arc<Shared>,
    waits: Waits,
    capabilities: Capabilities,
}

impl SqlServer {
    /// Reads a target without connecting yet.
    ///
    /// # Errors
    /// When the URL, a setting or a certificate file cannot be used.
    pub fn open(url: &TargetUrl, settings: &ConnectSettings) -> Result<Self, SpecError> {
        Self::open_in(url, settings, &|name| settings.reach.variable(name))
    }

    /// Like [`SqlServer::open`], with environment variables from `env`.
    ///
    /// # Errors
    /// As [`SqlServer::open`].
    pub fn open_in(
        url: &TargetUrl,
        settings: &ConnectSettings,
        env: Lookup<'_>,
    ) -> Result<Self, SpecError> {
        let options = UrlOptions::resolve(url, settings, env)?;
        let is_strict = options.encrypt == Encrypt::Strict;
        // In TDS 7 the handshake is in packets, which suits TLS up to 1.2 only.
        let versions =
            if is_strict { rustls::DEFAULT_VERSIONS } else { &[&rustls::version::TLS12] };
        let setup = Setup {
            roots: options.root_cert.as_ref(),
            checks_name: true,
            client_cert: None,
            key_password: None,
            params: ["ca", "", ""],
        };
        let mut config = client_config_of(&setup, versions)?;
        config.resumption = Resumption::disabled();
        if is_strict {
            config.alpn_protocols = vec![STRICT.to_vec()];
        }
        let shared = Shared::new(options, TlsConnector::from(Arc::new(config)), settings);
        Ok(Self { shared: Arc::new(shared), waits: settings.waits, capabilities: capabilities() })
    }
}

fn capabilities() -> Capabilities {
    Capabilities {
        blocks: false,
        in_process: false,
        procedures: true,
        one_writer: false,
        load_rows_min: 0,
        transactions: true,
        transactional_ddl: true,
        foreign_keys: true,
        stores: true,
        users_max: None,
        isolations: &[
            Isolation::ReadUncommitted,
            Isolation::ReadCommitted,
            Isolation::RepeatableRead,
            Isolation::Snapshot,
            Isolation::Serializable,
        ],
        protocols: &[Protocol::Prepared, Protocol::Extended],
        pipelining: Err("this client sends one request at a time"),
        logins: Ok(()),
        count_delay: Duration::ZERO,
        exempt: &[
            ("read_only_access", "SQL Server has no read-only transactions"),
            ("cancel", "Babelfish confirms a cancellation only when the statement has ended"),
        ],
    }
}

impl Secretive for SqlServer {
    fn secrets(&self) -> Vec<Secret> {
        self.shared.options.password.iter().cloned().collect()
    }
}

impl Database for SqlServer {
    type Session = SqlServerSession;

    fn dialect(&self) -> &'static str {
        "sqlserver"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn engine_control(&self) -> EngineControl {
        EngineControl {
            dop: Err(
                "set it on the server, with sp_configure 'max degree of parallelism' or ALTER \
                      DATABASE SCOPED CONFIGURATION SET MAXDOP",
            ),
            memory: Err("memory is a setting of the server; set `max server memory` there"),
        }
    }

    fn count_errors(&self) -> CountErrors {
        let adds = "and each batch of statements instead of transactions".into();
        CountErrors { adds, ..CountErrors::default() }
    }

    fn target(&self) -> String {
        self.shared.options.label()
    }

    async fn connect(&self, _role: Role, _slot: u32) -> Result<SqlServerSession, DbError> {
        let flag = Flag::default();
        let mut connection = self.shared.open(Some(&self.shared.options.database), &flag).await?;
        let spid = self.shared.set_up(&mut connection).await;
        let spid = spid.map_err(|error| error.context("setting up the session"))?;
        Ok(SqlServerSession::new(connection, self.shared.clone(), flag, spid))
    }

    fn waits(&self) -> Waits {
        self.waits
    }

    fn notes(&self) -> Vec<String> {
        let shared = &self.shared;
        // Nobody is on the network path to this host.
        let is_near = is_loopback(&shared.options.host);
        let has_no_tls = shared.has_no_tls.load(Ordering::Relaxed) && !is_near;
        let notes = [
            (shared.is_babelfish() == Some(false), UNTESTED),
            (has_no_tls, "the connection is not encrypted: use encrypt=on to enforce it"),
            (
                shared.lacks_snapshots(),
                "the database does not allow snapshot isolation: checks read in serializable \
                 transactions, which block writers; ALTER DATABASE … SET ALLOW_SNAPSHOT_ISOLATION \
                 ON avoids that",
            ),
        ];
        let mut notes: Vec<_> =
            notes.iter().filter(|(holds, _)| *holds).map(|(_, note)| (*note).to_owned()).collect();
        if let Some(to) = shared.redirected_to() {
            notes.push(format!("the server has redirected sessions to {to}"));
        }
        notes
    }

    async fn create_database(&self) -> Result<bool, DbError> {
        let mut connection = self.shared.open(Some("master"), &Flag::default()).await?;
        let name = &self.shared.options.database;
        let literal = quote_literal(name);
        let there = format!("SELECT 1 FROM sys.databases WHERE name = {literal}");
        if !connection.ask(&there).await?.is_empty() {
            return Ok(false);
        }
        let quoted = quote_identifier(name);
        match connection.batch(&format!("CREATE DATABASE {quoted}")).await {
            Ok(_) => {}
            // Another session was faster.
            Err(error) if error.code() == Some("1801") => return Ok(false),
            Err(error) => return Err(error.context(format_args!("creating database {quoted}"))),
        }
        let snapshots = format!("ALTER DATABASE {quoted} SET ALLOW_SNAPSHOT_ISOLATION ON");
        if let Err(error) = connection.batch(&snapshots).await {
            // Checks then read in serializable transactions, and say so.
            tracing::debug!("could not allow snapshot isolation: error {:?}", error.code());
        }
        Ok(true)
    }
}

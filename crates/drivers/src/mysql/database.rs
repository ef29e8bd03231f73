//! The database that a target names: opened from URL and settings, and created if missing.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio_rustls::TlsConnector;
use triphammer_core::session::{
    CountErrors, Database, EngineControl, Isolation, Protocol, Role, Waits,
};
use triphammer_core::{Capabilities, DbError, SpecError};

use super::quote::{quote_identifier, quote_literal};
use super::session::MysqlSession;
use super::shared::{Product, Shared};
use super::url::{Endpoint, SslMode, UrlOptions};
use crate::redactor::Secretive;
use crate::socket::Socket;
use crate::stream::Stream;
use crate::target::{ConnectSettings, Lookup, Secret, TargetUrl};
use crate::tls::{Setup, client_config};

/// A MySQL or MariaDB server.
pub struct Mysql {
    shared: Arc<Shared>,
    waits: Waits,
    capabilities: Capabilities,
}

/// Opens connections to the server for sessions of others.
#[derive(Clone)]
pub struct Tunnel {
    shared: Arc<Shared>,
    /// The database of the target.
    pub database: String,
    /// Number of servers of the target, of which only the first is used.
    pub servers: usize,
}

/// Whether a tunnel uses TLS, which begins after the server's greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TunnelTls {
    /// Never.
    Never,
    /// If the server offers it.
    Preferred,
    /// Always.
    Required,
}

impl Tunnel {
    /// Connects, up to the server's greeting.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub async fn connect(&self) -> Result<Socket, DbError> {
        self.shared.tunnel().await
    }

    /// Whether TLS is used.
    #[must_use]
    pub fn tls(&self) -> TunnelTls {
        let options = &self.shared.options;
        match (&options.places[0], options.ssl_mode) {
            (Endpoint::Unix(_), _) | (_, SslMode::Disabled) => TunnelTls::Never,
            (_, SslMode::Preferred) => TunnelTls::Preferred,
            _ => TunnelTls::Required,
        }
    }

    /// Starts TLS on a connection whose server has been asked for it.
    ///
    /// # Errors
    /// When that fails.
    pub async fn secure(&self, socket: Socket) -> Result<Stream, DbError> {
        self.shared.secure(socket).await
    }
}

impl Mysql {
    /// Reads a target without connecting yet. The option file and variables are looked up here.
    ///
    /// # Errors
    /// When the URL, a setting or a certificate file cannot be used.
    pub fn open(url: &TargetUrl, settings: &ConnectSettings) -> Result<Self, SpecError> {
        Self::open_in(url, settings, &|name| settings.reach.variable(name))
    }

    /// Like [`Mysql::open`], with environment variables from `env`.
    ///
    /// # Errors
    /// As [`Mysql::open`].
    pub fn open_in(
        url: &TargetUrl,
        settings: &ConnectSettings,
        env: Lookup<'_>,
    ) -> Result<Self, SpecError> {
        let options = UrlOptions::resolve(url, settings, env)?;
        let config = client_config(&Setup {
            roots: options.root_cert.as_ref().filter(|_| options.ssl_mode.verifies()),
            checks_name: options.ssl_mode == SslMode::VerifyIdentity,
            client_cert: options.client_cert.as_ref(),
            key_password: None,
            params: ["ssl-ca", "ssl-cert", "ssl-key"],
        })?;
        let shared = Shared::new(options, TlsConnector::from(Arc::new(config)), settings);
        Ok(Self { shared: Arc::new(shared), waits: settings.waits, capabilities: capabilities() })
    }

    /// What sessions need of the database.
    pub(super) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Opens connections for sessions of others, as a proxy does.
    #[must_use]
    pub fn tunnel(&self) -> Tunnel {
        let options = &self.shared.options;
        let (database, servers) = (options.database.clone(), options.places.len());
        Tunnel { shared: Arc::clone(&self.shared), database, servers }
    }

    /// Whether a session requested TLS because its mode is `PREFERRED`, and connected without.
    #[must_use]
    pub fn tls_fell_back(&self) -> bool {
        self.shared.fell_back.load(Ordering::Relaxed)
    }

    /// Whether rows were loaded with inserts because the server forbids `LOAD DATA LOCAL`.
    #[must_use]
    pub fn loads_by_inserts(&self) -> bool {
        self.shared.loads_by_inserts.load(Ordering::Relaxed)
    }
}

/// Servers answer commands that are sent ahead, one by one, and have nothing like PostgreSQL's Sync, up to which the
/// rest is skipped after an error: with a START TRANSACTION that was killed, the next statement would commit alone,
/// and after a failed statement COMMIT would keep half a transaction.
const NO_PIPELINING: &str = "its protocol runs what was sent ahead even after an error, so half a \
                             transaction could be committed";

fn capabilities() -> Capabilities {
    Capabilities {
        blocks: false,
        in_process: false,
        procedures: true,
        one_writer: false,
        load_rows_min: 0,
        transactions: true,
        transactional_ddl: false,
        foreign_keys: true,
        stores: true,
        users_max: None,
        isolations: &[
            Isolation::ReadUncommitted,
            Isolation::ReadCommitted,
            Isolation::RepeatableRead,
            Isolation::Serializable,
        ],
        protocols: &[Protocol::Prepared],
        pipelining: Err(NO_PIPELINING),
        logins: Ok(()),
        count_delay: Duration::ZERO,
        exempt: &[],
    }
}

impl Secretive for Mysql {
    fn secrets(&self) -> Vec<Secret> {
        self.shared.options.password.iter().cloned().collect()
    }
}

/// Nothing else tells: `Handler_commit` counts each statement of a transaction, and its end once more.
const COUNT_LACKS: &str = "it counts COMMIT and ROLLBACK, and no statement that commits itself";

impl Database for Mysql {
    type Session = MysqlSession;

    fn dialect(&self) -> &'static str {
        match self.shared.product() {
            Product::MariaDb => "mariadb",
            Product::Mysql => "mysql",
        }
    }

    /// Identifies the server: a `mysql://` URL may lead to a MariaDB server, and vice versa.
    async fn identify(&self) -> Result<(), DbError> {
        if !self.shared.is_identified() {
            self.shared.open(None).await?.close().await;
        }
        Ok(())
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn engine_control(&self) -> EngineControl {
        EngineControl {
            dop: Err("the server executes a query on one thread"),
            memory: Err(
                "memory is a setting of the server; set join_buffer_size and sort_buffer_size there",
            ),
        }
    }

    fn count_errors(&self) -> CountErrors {
        CountErrors { lacks: COUNT_LACKS.into(), ..CountErrors::default() }
    }

    fn target(&self) -> String {
        self.shared.options.label()
    }

    async fn connect(&self, role: Role, _slot: u32) -> Result<MysqlSession, DbError> {
        let database = Some(self.shared.options.database.as_str());
        let connection = self.shared.open(database).await?;
        MysqlSession::set_up(connection, self.shared.clone(), role).await
    }

    fn idle_limit_setting(&self) -> Option<&'static str> {
        Some("wait_timeout")
    }

    fn needs_primary(&self) -> bool {
        self.shared.options.read_write
    }

    fn waits(&self) -> Waits {
        self.waits
    }

    fn warnings(&self) -> Vec<String> {
        self.shared.options.warnings.clone()
    }

    fn notes(&self) -> Vec<String> {
        let fell_back = "the connection is not encrypted: the server offers no TLS; use ssl-mode=REQUIRED to \
             enforce it";
        let inserts = "the server forbids LOAD DATA LOCAL (local_infile is off): rows are loaded \
                       with inserts, which is slower; set local_infile=ON to speed up builds";
        let alive = "a statement was to be cancelled, but the server that answers at the address is \
                     not the one of its session, or does not know it (a balancer or proxy is in \
                     between): nothing was killed, and the statement ends by itself";
        // Nobody is on the network path to this host.
        let is_near = self.shared.options.places.iter().all(Endpoint::is_near);
        let notes = [
            (self.tls_fell_back() && !is_near, fell_back),
            (self.loads_by_inserts(), inserts),
            (self.shared.spared.load(Ordering::Relaxed), alive),
        ];
        notes.into_iter().filter(|(holds, _)| *holds).map(|(_, note)| note.to_owned()).collect()
    }

    async fn create_database(&self) -> Result<bool, DbError> {
        let mut connection = self.shared.open(None).await?;
        connection.batch(&self.shared.setup(Role::Monitor)).await?;
        let name = &self.shared.options.database;
        let literal = quote_literal(name);
        let there =
            format!("SELECT 1 FROM information_schema.schemata WHERE schema_name = {literal}");
        if !connection.ask(&there).await?.is_empty() {
            return Ok(false);
        }
        let quoted = quote_identifier(name);
        let create = format!("CREATE DATABASE {quoted} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin");
        match connection.batch(&create).await {
            Ok(_) => Ok(true),
            // Another session was faster.
            Err(error) if error.code() == Some("1007") => Ok(false),
            Err(error) => Err(error.context(format_args!("creating database {quoted}"))),
        }
    }
}

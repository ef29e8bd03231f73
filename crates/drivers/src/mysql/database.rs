//! Opening sessions: addresses in their order, TLS as the mode wants it, and what every session is set to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use triphammer_core::session::{Database, Isolation, Protocol, Role, Session, Waits};
use triphammer_core::{Capabilities, DbError, ErrorClass, SpecError};

use super::auth::{Login, log_in};
use super::session::{MysqlSession, quote_identifier, quote_literal};
use super::url::{Options, Place, SslMode};
use super::wire::Wire;
use crate::socket::{Address, Limits, Socket, resolve};
use crate::target::{ConnectSettings, Lookup, TargetUrl};
use crate::tls::{Setup, client_config, host_in_certificate};

/// What every session begins with, whatever the server is set to: UTF-8 compared byte by byte, UTC,
/// strictness, and the standard's spelling of names (`"a"`), of joined text (`||`) and of backslashes.
const SETUP: &str = "SET NAMES utf8mb4 COLLATE utf8mb4_bin; \
    SET SESSION sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES,\
    NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', \
    time_zone = '+00:00', autocommit = 1";

/// A MySQL or MariaDB server.
pub struct Mysql {
    shared: Arc<Shared>,
    capabilities: Capabilities,
}

/// What sessions and cancellers need of their database.
pub(super) struct Shared {
    options: Options,
    tls: TlsConnector,
    limits: Limits,
    isolation: Option<Isolation>,
    lock_timeout: Option<Duration>,
    waits: Waits,
    /// What the server said it is; the URL's word before.
    product: AtomicU8,
    identified: AtomicBool,
    fell_back: AtomicBool,
    pub(super) loads_by_inserts: AtomicBool,
}

impl Shared {
    /// What the server is, as far as is known.
    pub(super) fn product(&self) -> Product {
        match self.product.load(Ordering::Relaxed) == Product::MariaDb as u8 {
            true => Product::MariaDb,
            false => Product::Mysql,
        }
    }
}

/// What a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Product {
    Mysql,
    MariaDb,
}

impl Product {
    /// From a version: MariaDB has its name in it.
    pub(super) fn of(version: &str) -> Self {
        if version.contains("MariaDB") { Self::MariaDb } else { Self::Mysql }
    }

    /// The name for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mysql => "MySQL",
            Self::MariaDb => "MariaDB",
        }
    }
}

/// Where a session's connection went.
pub(super) struct Route {
    pub(super) thread: u32,
    pub(super) transport: &'static str,
    pub(super) same_host: bool,
}

impl Mysql {
    /// Reads a target; opens no connection yet. The option file and variables are looked up here.
    ///
    /// # Errors
    /// When the URL, a setting or a certificate file cannot be used.
    pub fn open(url: &TargetUrl, settings: &ConnectSettings) -> Result<Self, SpecError> {
        Self::open_in(url, settings, &|name| settings.reach.variable(name))
    }

    /// As [`Mysql::open`], with environment variables from `env`.
    ///
    /// # Errors
    /// As [`Mysql::open`].
    pub fn open_in(
        url: &TargetUrl,
        settings: &ConnectSettings,
        env: Lookup<'_>,
    ) -> Result<Self, SpecError> {
        let options = Options::resolve(url, settings, env)?;
        let config = client_config(&Setup {
            roots: options.root_cert.as_ref().filter(|_| options.ssl_mode.verifies()),
            checks_name: options.ssl_mode == SslMode::VerifyIdentity,
            client_cert: options.client_cert.as_ref(),
            params: ["ssl-ca", "ssl-cert", "ssl-key"],
        })?;
        let product = if options.scheme == "mariadb" { Product::MariaDb } else { Product::Mysql };
        let shared = Shared {
            tls: TlsConnector::from(Arc::new(config)),
            limits: Limits { connect: options.connect_limit, tcp_user: settings.tcp_user_timeout },
            options,
            isolation: settings.isolation,
            lock_timeout: settings.lock_timeout,
            waits: settings.waits,
            product: AtomicU8::new(product as u8),
            identified: AtomicBool::new(false),
            fell_back: AtomicBool::new(false),
            loads_by_inserts: AtomicBool::new(false),
        };
        Ok(Self { shared: Arc::new(shared), capabilities: capabilities() })
    }

    /// Whether a session asked for TLS because its mode is `PREFERRED`, and did without.
    #[must_use]
    pub fn tls_fell_back(&self) -> bool {
        self.shared.fell_back.load(Ordering::Relaxed)
    }

    /// Whether rows were loaded by inserts because the server forbids `LOAD DATA LOCAL`.
    #[must_use]
    pub fn loads_by_inserts(&self) -> bool {
        self.shared.loads_by_inserts.load(Ordering::Relaxed)
    }
}

fn capabilities() -> Capabilities {
    Capabilities {
        blocks: false,
        procedures: true,
        one_writer: false,
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
        count_delay: Duration::ZERO,
        exempt: &[],
    }
}

impl Database for Mysql {
    type Session = MysqlSession;

    fn dialect(&self) -> &'static str {
        match self.shared.product() {
            Product::MariaDb => "mariadb",
            Product::Mysql => "mysql",
        }
    }

    /// A `mysql://` URL may lead to a MariaDB server, and the other way round.
    async fn identify(&self) -> Result<(), DbError> {
        if !self.shared.identified.load(Ordering::Relaxed) {
            self.shared.open(None).await?.close().await;
        }
        Ok(())
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn target(&self) -> String {
        self.shared.options.label()
    }

    async fn connect(&self, _role: Role, _slot: u32) -> Result<MysqlSession, DbError> {
        let database = Some(self.shared.options.database.as_str());
        let mut session = self.shared.open(database).await?;
        let setup = self.shared.setup();
        session.batch(&setup).await.map_err(|error| error.context("setting the session up"))?;
        Ok(session)
    }

    fn waits(&self) -> Waits {
        self.shared.waits
    }

    fn notes(&self) -> Vec<String> {
        let fell_back =
            "the server offers no TLS, so sessions go without: ssl-mode=REQUIRED insists";
        let inserts = "the server forbids LOAD DATA LOCAL (local_infile is off), so rows are loaded by \
                       inserts, which takes longer";
        let notes = [(self.tls_fell_back(), fell_back), (self.loads_by_inserts(), inserts)];
        notes.into_iter().filter(|(holds, _)| *holds).map(|(_, note)| note.to_owned()).collect()
    }

    async fn create_database(&self) -> Result<bool, DbError> {
        let mut session = self.shared.open(None).await?;
        session.batch(SETUP).await?;
        let name = &self.shared.options.database;
        let literal = quote_literal(name);
        let there =
            format!("SELECT 1 FROM information_schema.schemata WHERE schema_name = {literal}");
        if !session.ask(&there).await?.is_empty() {
            return Ok(false);
        }
        let quoted = quote_identifier(name);
        let create = format!("CREATE DATABASE {quoted} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin");
        match session.batch(&create).await {
            Ok(_) => Ok(true),
            // Somebody else was faster.
            Err(error) if error.code() == Some("1007") => Ok(false),
            Err(error) => Err(error.context(format_args!("creating database {quoted}"))),
        }
    }
}

impl Shared {
    fn setup(&self) -> String {
        let mut setup = SETUP.to_owned();
        if let Some(limit) = self.lock_timeout {
            // Whole seconds, at least one; the second is for locks of whole tables.
            let seconds = limit.as_millis().div_ceil(1000).max(1);
            setup.push_str(&format!(
                ", innodb_lock_wait_timeout = {seconds}, lock_wait_timeout = {seconds}"
            ));
        }
        if let Some(isolation) = self.isolation {
            let level = isolation.name().replace('-', " ");
            setup.push_str(&format!("; SET SESSION TRANSACTION ISOLATION LEVEL {level}"));
        }
        setup
    }

    /// Connects to the first of the server's addresses that answers.
    async fn open(self: &Arc<Self>, database: Option<&str>) -> Result<MysqlSession, DbError> {
        let addresses = match &self.options.place {
            Place::Unix(file) => vec![Address::unix(file.clone())?],
            Place::Tcp(name, port) => resolve(name, *port, self.limits.connect).await?,
        };
        let mut last = None;
        for address in addresses {
            match self.attempt(&address, database).await {
                Err(error) if error.class() == ErrorClass::Disconnected => last = Some(error),
                result => return result,
            }
        }
        Err(last.expect("a host has at least one address"))
    }

    async fn attempt(
        self: &Arc<Self>,
        address: &Address,
        database: Option<&str>,
    ) -> Result<MysqlSession, DbError> {
        let label = self.options.server();
        let socket = Socket::connect(address, &label, self.limits).await?;
        let (transport, same_host) = (socket.transport(), socket.is_same_host());
        let mut wire = Wire::new(socket);
        let name = match &self.options.place {
            Place::Tcp(name, _) => Some(name.as_str()),
            Place::Unix(_) => None,
        };
        let mode = self.options.ssl_mode;
        let checks_name = mode == SslMode::VerifyIdentity;
        let tls = name
            .filter(|_| mode != SslMode::Disabled)
            .map(|name| (&self.tls, host_in_certificate(name, checks_name)));
        let wants_tls = tls.is_some();
        let login = Login {
            user: &self.options.user,
            password: self.options.password.as_ref(),
            database,
            program: &self.options.application_name,
            tls,
            may_do_without: mode == SslMode::Preferred,
            is_private: name.is_none(),
            trusts_server_key: self.options.trusts_server_key,
        };
        let limit = self.limits.connect;
        let greeting = match timeout(limit, log_in(&mut wire, &login)).await {
            Ok(greeting) => greeting.map_err(|error| error.context(&label))?,
            Err(_) => {
                let message = format!("{label} does not answer within {} s", limit.as_secs());
                return Err(DbError::new(ErrorClass::Disconnected, message));
            }
        };
        if wants_tls && !wire.has_tls() {
            self.fell_back.store(true, Ordering::Relaxed);
        }
        self.product.store(Product::of(&greeting.version) as u8, Ordering::Relaxed);
        self.identified.store(true, Ordering::Relaxed);
        let route = Route { thread: greeting.thread, transport, same_host };
        Ok(MysqlSession::new(wire, route, self.clone()))
    }

    /// Whether the server is at a command of a session; `None` when it does not know the session.
    pub(super) async fn is_at_work(self: &Arc<Self>, thread: u32) -> Result<Option<bool>, DbError> {
        let mut session = self.open(None).await?;
        let asked = format!(
            "SELECT command <> 'Sleep' FROM information_schema.processlist WHERE id = {thread}"
        );
        let answer = session.ask(&asked).await;
        session.close().await;
        let flag = answer?.pop().and_then(|mut row| row.pop()).flatten();
        Ok(flag.map(|flag| flag == "1"))
    }

    /// Asks the server to stop what a session is doing.
    pub(super) async fn cancel(self: &Arc<Self>, thread: u32) -> Result<(), DbError> {
        let mut session = self.open(None).await?;
        session.batch(&format!("KILL QUERY {thread}")).await.map(drop)
    }
}

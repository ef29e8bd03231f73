//! State that the sessions and cancellers of a target share: how to reach the server (addresses in
//! order, TLS according to the mode), the settings of every session, and facts about the server.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use triphammer_core::login::LoginWatch;
use triphammer_core::session::{Isolation, Role};
use triphammer_core::{DbError, ErrorClass};

use super::auth::{Login, log_in};
use super::connection::{Connection, Route};
use super::url::{Endpoint, SslMode, UrlOptions};
use super::wire::Wire;
use crate::socket::{Address, Socket, SocketSettings, resolve};
use crate::stream::Stream;
use crate::target::ConnectSettings;
use crate::tls::host_in_certificate;

/// What transactions depend on, whoever wrote them: the engine begins and ends them.
const TRANSACTIONS: &str = "SET SESSION autocommit = 1, completion_type = 'NO_CHAIN'";
/// What our own statements depend on besides that: that all rows are read, whole, and that no
/// statement is refused because of its form; the digits of quotients, and how much of a text is sorted by.
const STATEMENTS: &str = ", sql_select_limit = 18446744073709551615, \
    group_concat_max_len = 1048576, sql_safe_updates = 0, sql_big_selects = 1, \
    div_precision_increment = 4, max_sort_length = 1024";
/// Sessions that are no user's keep a transaction open while others work. A comment that only MariaDB of 10.3 or
/// newer executes.
const KEPT_OPEN: &str = " /*M!100300 , idle_transaction_timeout = 0, \
    idle_readonly_transaction_timeout = 0, idle_write_transaction_timeout = 0 */";
/// How our own SQL is read: UTF-8 compared byte by byte, UTC, strict mode, and standard syntax for
/// names (`"a"`), concatenation (`||`) and backslashes.
const LANGUAGE: &str = ", sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES,\
    STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,\
    NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'; SET NAMES utf8mb4 COLLATE utf8mb4_bin";

/// Properties of the database that sessions and cancellers need.
pub(super) struct Shared {
    pub(super) options: UrlOptions,
    tls: TlsConnector,
    sockets: SocketSettings,
    isolation: Option<Isolation>,
    lock_timeout: Option<Duration>,
    /// Whether the statements of the workload are the user's own.
    own_sql: bool,
    /// Product that the server reported; until then, the product in the URL.
    product: AtomicU8,
    identified: AtomicBool,
    /// Whether a session preferred TLS and connected without.
    pub(super) fell_back: AtomicBool,
    /// Whether the server forbids `LOAD DATA LOCAL`.
    pub(super) loads_by_inserts: AtomicBool,
    /// Whether a session was not cancelled because the server at its address may be another one.
    pub(super) spared: AtomicBool,
}

/// Product of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Product {
    Mysql,
    MariaDb,
}

impl Product {
    /// Detects the product from a version, in which MariaDB has its name.
    pub(super) fn of(version: &str) -> Self {
        if version.contains("MariaDB") { Self::MariaDb } else { Self::Mysql }
    }

    /// Name of the product, for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mysql => "MySQL",
            Self::MariaDb => "MariaDB",
        }
    }
}

impl Shared {
    /// Creates the state from the target, before anything is connected.
    pub(super) fn new(options: UrlOptions, tls: TlsConnector, settings: &ConnectSettings) -> Self {
        let product = if options.scheme == "mariadb" { Product::MariaDb } else { Product::Mysql };
        Self {
            tls,
            sockets: SocketSettings {
                connect: options.connect_limit,
                tcp_user: settings.tcp_user_timeout,
                relay: settings.relay.clone(),
            },
            options,
            isolation: settings.isolation,
            lock_timeout: settings.lock_timeout,
            own_sql: settings.own_sql,
            product: AtomicU8::new(product as u8),
            identified: AtomicBool::new(false),
            fell_back: AtomicBool::new(false),
            loads_by_inserts: AtomicBool::new(false),
            spared: AtomicBool::new(false),
        }
    }

    /// Product of the server, if it is known.
    pub(super) fn product(&self) -> Product {
        match self.product.load(Ordering::Relaxed) == Product::MariaDb as u8 {
            true => Product::MariaDb,
            false => Product::Mysql,
        }
    }

    /// Whether the server has reported its product.
    pub(super) fn is_identified(&self) -> bool {
        self.identified.load(Ordering::Relaxed)
    }

    /// The SQL that sets up a session, whatever the server's defaults are. Users' statements keep
    /// those: they may rely on them.
    pub(super) fn setup(&self, role: Role) -> String {
        let mut setup = TRANSACTIONS.to_owned();
        if !self.own_sql || role != Role::User {
            setup.push_str(STATEMENTS);
        }
        if role != Role::User {
            setup.push_str(KEPT_OPEN);
        }
        if let Some(limit) = self.lock_timeout {
            // Whole seconds, at least one; the second variable is for locks of whole tables.
            let seconds = limit.as_millis().div_ceil(1000).max(1);
            setup.push_str(&format!(
                ", innodb_lock_wait_timeout = {seconds}, lock_wait_timeout = {seconds}"
            ));
        }
        if !self.own_sql {
            setup.push_str(LANGUAGE);
        }
        // The level is that of the load: a monitor reads what is committed.
        if let Some(isolation) = self.isolation.filter(|_| role != Role::Monitor) {
            let level = isolation.name().replace('-', " ");
            setup.push_str(&format!("; SET SESSION TRANSACTION ISOLATION LEVEL {level}"));
        }
        setup
    }

    /// Connects to the first server that accepts. The next one is tried when a server is
    /// unreachable, not yet up, or read only although a session must be able to write; not when it
    /// rejects the login.
    pub(super) async fn open(&self, database: Option<&str>) -> Result<Connection, DbError> {
        let mut watch = LoginWatch::start();
        let mut failures: Vec<DbError> = Vec::new();
        for place in 0..self.options.places.len() {
            match self.open_writable(place, database, &mut watch).await {
                Ok(connection) => return Ok(connection),
                Err(error) => {
                    let is_final = error.class() == ErrorClass::Refused;
                    failures.push(error);
                    if is_final {
                        break;
                    }
                }
            }
        }
        let last = failures.pop().expect("a target has at least one server");
        if failures.is_empty() {
            return Err(last);
        }
        let earlier: Vec<_> = failures.iter().map(DbError::message).collect();
        Err(last.context(earlier.join("; ")))
    }

    /// Connects to a server, which must accept writes if the target says so.
    async fn open_writable(
        &self,
        place: usize,
        database: Option<&str>,
        watch: &mut LoginWatch,
    ) -> Result<Connection, DbError> {
        let mut connection = self.open_place(place, database, watch).await?;
        if !self.options.read_write {
            return Ok(connection);
        }
        let mut answer = connection.ask("SELECT @@global.read_only").await?;
        let read_only = answer.pop().and_then(|mut row| row.pop()).flatten();
        if matches!(read_only.as_deref(), Some("0" | "OFF")) {
            return Ok(connection);
        }
        connection.close().await;
        let label = self.options.places[place].label();
        let message = format!("{label} is read-only, but read-write is required");
        Err(DbError::new(ErrorClass::Unavailable, message))
    }

    /// Connects to the first of a server's addresses that answers.
    pub(super) async fn open_place(
        &self,
        place: usize,
        database: Option<&str>,
        watch: &mut LoginWatch,
    ) -> Result<Connection, DbError> {
        let mut last = None;
        for address in self.addresses(place).await? {
            match self.attempt(place, &address, database, watch).await {
                Err(error) if error.class() == ErrorClass::Disconnected => last = Some(error),
                result => return result,
            }
        }
        Err(last.expect("a host has at least one address"))
    }

    async fn addresses(&self, place: usize) -> Result<Vec<Address>, DbError> {
        match &self.options.places[place] {
            Endpoint::Unix(file) => Ok(vec![Address::unix(file.clone())?]),
            Endpoint::Tcp(name, port) => resolve(name, *port, self.sockets.connect).await,
        }
    }

    /// Connects to the first server for a session of somebody else.
    pub(super) async fn tunnel(&self) -> Result<Socket, DbError> {
        let label = self.options.places[0].label();
        let mut last = None;
        for address in self.addresses(0).await? {
            match Socket::connect(&address, &label, &self.sockets).await {
                Ok(socket) => return Ok(socket),
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("a host has at least one address"))
    }

    /// Starts TLS with the first server, for a session of somebody else.
    pub(super) async fn secure(&self, socket: Socket) -> Result<Stream, DbError> {
        let name = match &self.options.places[0] {
            Endpoint::Tcp(name, _) => name.as_str(),
            Endpoint::Unix(_) => "",
        };
        let checks_name = self.options.ssl_mode == SslMode::VerifyIdentity;
        let host = host_in_certificate(name, checks_name);
        let secured = Stream::secure(&self.tls, socket, host);
        timeout(self.sockets.connect, secured).await.unwrap_or_else(|_| {
            let message = "the server does not answer in time while TLS begins";
            Err(DbError::new(ErrorClass::Disconnected, message))
        })
    }

    async fn attempt(
        &self,
        place: usize,
        address: &Address,
        database: Option<&str>,
        watch: &mut LoginWatch,
    ) -> Result<Connection, DbError> {
        let endpoint = &self.options.places[place];
        let label = endpoint.label();
        let socket = Socket::connect(address, &label, &self.sockets).await?;
        watch.connected();
        let (transport, same_host) = (socket.transport(), socket.is_same_host());
        let mut wire = Wire::new(socket);
        let name = match endpoint {
            Endpoint::Tcp(name, _) => Some(name.as_str()),
            Endpoint::Unix(_) => None,
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
            compression: self.options.compression,
        };
        let limit = self.sockets.connect;
        let greeting = match timeout(limit, log_in(&mut wire, &login, watch)).await {
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
        let login = watch.times();
        let route = Route { place, thread: greeting.thread, transport, same_host, login };
        Ok(Connection::new(wire, route))
    }
}

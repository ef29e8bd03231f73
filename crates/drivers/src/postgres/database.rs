//! Opens sessions: hosts and addresses in order, TLS according to each host's mode.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use triphammer_core::login::{LoginTimes, LoginWatch};
use triphammer_core::session::{
    CountErrors, Database, EngineControl, Isolation, Pipelining, Protocol, Role, Waits,
};
use triphammer_core::{Capabilities, DbError, ErrorClass, SpecError};

use super::pooler::Pooler;
use super::prepared::Statements;
use super::session::{PostgresSession, quote_identifier};
use super::socket::resolve;
use super::tls::connector;
use super::url::{Endpoint, Host, SslMode, UrlOptions};
use super::wire::{CancelKey, Connection, Greeting, Login, start};
use crate::prepared_again::PreparedAgain;
use crate::redactor::Secretive;
use crate::socket::{Address, Socket, SocketSettings, is_loopback};
use crate::stream::Stream;
use crate::target::{ConnectSettings, Lookup, Secret, TargetUrl};
use crate::tls::host_in_certificate;

/// Databases that exist on every server, to create another from.
const MAINTENANCE_DATABASES: [&str; 2] = ["postgres", "template1"];

/// First version whose sessions report their transactions at the next change to the statistics of a
/// table, or at their end: `pgstat_report_stat` returns at once where nothing else is pending.
const LATE_SINCE: u32 = 15;
/// First version that counts the parallel workers that queries have launched.
pub(super) const WORKERS_KNOWN_SINCE: u32 = 18;

/// A PostgreSQL server, or several alternatives.
pub struct Postgres {
    shared: Arc<Shared>,
    capabilities: Capabilities,
}

/// Opens connections to the server for sessions of others.
#[derive(Clone)]
pub struct Tunnel {
    shared: Arc<Shared>,
    /// The database of the target.
    pub database: String,
    /// Number of hosts of the target, of which only the first is used.
    pub hosts: usize,
}

impl Tunnel {
    /// Connects, with TLS according to the target.
    ///
    /// # Errors
    /// When the server cannot be reached, or TLS fails.
    pub async fn connect(&self) -> Result<Stream, DbError> {
        self.shared.tunnel().await
    }
}

/// Properties of the database that sessions and cancellers need.
pub(super) struct Shared {
    options: UrlOptions,
    connector: TlsConnector,
    sockets: SocketSettings,
    /// How statements are sent; `None` as the way to the server allows.
    asked_protocol: Option<Protocol>,
    /// What is between here and the server, once a session has looked.
    pooler: OnceCell<Pooler>,
    pub(super) pipelining: Pipelining,
    pub(super) isolation: Option<Isolation>,
    lock_timeout: Option<Duration>,
    /// Whether the statements of the workload are the user's own.
    own_sql: bool,
    dop: Option<u32>,
    waits: Waits,
    fell_back: AtomicBool,
    /// Number of servers behind pgpool, if a session has found that it is there.
    pub(super) behind_pgpool: AtomicUsize,
    pub(super) statements: Statements,
    /// First number of the version of the server that was reached last; 0 if it is unknown.
    pub(super) version: AtomicU32,
    /// How often a statement was prepared again, because the types of its result had changed.
    pub(super) prepared_again: PreparedAgain,
}

/// Address of a session, so that a canceller can connect there too.
#[derive(Clone)]
pub(super) struct Route {
    pub(super) address: Address,
    host_name: String,
    ssl_mode: SslMode,
    label: String,
    pub(super) has_tls: bool,
    pub(super) transport: &'static str,
    pub(super) same_host: bool,
}

/// A newly opened connection.
pub(super) struct OpenedConnection {
    pub(super) connection: Connection,
    pub(super) greeting: Greeting,
    pub(super) route: Route,
    pub(super) login: LoginTimes,
}

/// How to use TLS in one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tls {
    Without,
    IfOffered,
    With,
}

/// Why an attempt failed, and whether one with different TLS may succeed.
struct Attempt {
    error: DbError,
    is_about_tls: bool,
}

impl Host {
    /// How TLS is used in the first attempt, and in a second one if the first fails because of it.
    const fn tls_choices(&self) -> (Tls, Option<Tls>) {
        match (&self.place, self.ssl_mode) {
            (Endpoint::Unix(_), _) | (_, SslMode::Disable) => (Tls::Without, None),
            (_, SslMode::Allow) => (Tls::Without, Some(Tls::With)),
            (_, SslMode::Prefer) => (Tls::IfOffered, Some(Tls::Without)),
            (_, SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull) => (Tls::With, None),
        }
    }
}

impl Attempt {
    fn failed(error: DbError) -> Self {
        Self { error, is_about_tls: false }
    }
}

impl Postgres {
    /// Reads a target without connecting yet. Variables and password files are looked up here.
    ///
    /// # Errors
    /// When the URL, a setting or a certificate file cannot be used.
    pub fn open(url: &TargetUrl, settings: &ConnectSettings) -> Result<Self, SpecError> {
        Self::open_in(url, settings, &|name| settings.reach.variable(name))
    }

    /// Like [`Postgres::open`], with environment variables from `env`.
    ///
    /// # Errors
    /// As [`Postgres::open`].
    pub fn open_in(
        url: &TargetUrl,
        settings: &ConnectSettings,
        env: Lookup<'_>,
    ) -> Result<Self, SpecError> {
        if settings.isolation == Some(Isolation::Snapshot) {
            return Err(SpecError::new(
                "PostgreSQL has no isolation level snapshot: use repeatable-read, which is \
                 snapshot isolation",
            ));
        }
        if settings.pipelining != Pipelining::Off && settings.protocol == Some(Protocol::Simple) {
            let message = "--pipeline needs --protocol prepared or extended: with simple, each \
                           text is a round trip";
            return Err(SpecError::new(message).about("pipeline"));
        }
        let options = UrlOptions::resolve(url, settings, env)?;
        let capabilities = capabilities();
        let shared = Shared {
            connector: connector(&options)?,
            sockets: SocketSettings {
                connect: options.connect_limit,
                tcp_user: settings.tcp_user_timeout,
                relay: settings.relay.clone(),
            },
            options,
            asked_protocol: settings.protocol,
            pooler: OnceCell::new(),
            pipelining: settings.pipelining,
            isolation: settings.isolation,
            own_sql: settings.own_sql,
            lock_timeout: settings.lock_timeout,
            dop: settings.dop,
            waits: settings.waits,
            fell_back: AtomicBool::new(false),
            behind_pgpool: AtomicUsize::new(0),
            statements: Statements::default(),
            version: AtomicU32::new(0),
            prepared_again: PreparedAgain::default(),
        };
        Ok(Self { shared: Arc::new(shared), capabilities })
    }

    /// What sessions need of the database.
    pub(super) const fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Opens connections for sessions of others, as a proxy does.
    #[must_use]
    pub fn tunnel(&self) -> Tunnel {
        let options = &self.shared.options;
        Tunnel {
            shared: Arc::clone(&self.shared),
            database: options.database.clone(),
            hosts: options.hosts.len(),
        }
    }

    /// Whether a session requested TLS because its mode is `prefer`, and connected without.
    #[must_use]
    pub fn tls_fell_back(&self) -> bool {
        self.shared.fell_back.load(Ordering::Relaxed)
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
            Isolation::Serializable,
        ],
        protocols: &[Protocol::Prepared, Protocol::Extended, Protocol::Simple],
        pipelining: Ok(()),
        logins: Ok(()),
        // A session reports its counts at most once per second.
        count_delay: Duration::from_secs(1),
        exempt: &[],
    }
}

impl Secretive for Postgres {
    fn secrets(&self) -> Vec<Secret> {
        let options = &self.shared.options;
        let of_hosts = options.hosts.iter().filter_map(|host| host.password.clone());
        of_hosts.chain(options.key_password.clone()).collect()
    }
}

impl Database for Postgres {
    type Session = PostgresSession;

    fn dialect(&self) -> &'static str {
        "postgres"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn engine_control(&self) -> EngineControl {
        let memory =
            "memory is a setting of the server; set work_mem on the server or for the user";
        EngineControl { dop: Ok(()), memory: Err(memory) }
    }

    fn target(&self) -> String {
        self.shared.options.label()
    }

    async fn connect(&self, role: Role, _slot: u32) -> Result<PostgresSession, DbError> {
        let opened = self.shared.open(&self.shared.options.database).await;
        let mut session = opened.map_err(|error| match error.code() {
            Some("3D000") => error.without_database(),
            _ => error,
        })?;
        // Users connect after such a session.
        if role != Role::User && self.shared.asked_protocol.is_none() {
            let looking = self.shared.pooler.get_or_try_init(|| self.shared.look(&mut session));
            looking.await?;
        }
        if let Some(setup) = self.shared.setup(role) {
            session.set_up(&setup).await?;
        }
        // A search path may name a missing schema; users connect after a session that has checked.
        if let (Some(schema), Role::Monitor | Role::Loader) = (&self.shared.options.schema, role)
            && !session.has_schema(schema).await?
        {
            let message = format!(
                "there is no schema {} in database {}: create it with CREATE SCHEMA, or name \
                 another with --schema",
                quote_identifier(schema),
                quote_identifier(&self.shared.options.database)
            );
            return Err(DbError::new(ErrorClass::Refused, message));
        }
        match role {
            Role::User => session.pipeline_transactions(self.shared.pipelining),
            Role::Loader | Role::Monitor => session.try_statements(),
        }
        Ok(session)
    }

    fn protocol(&self) -> Option<Protocol> {
        Some(self.shared.protocol())
    }

    fn needs_primary(&self) -> bool {
        self.shared.options.read_write
    }

    fn count_errors(&self) -> CountErrors {
        let version = self.shared.version.load(Ordering::Relaxed);
        CountErrors {
            lacks: match version {
                LATE_SINCE.. => "sessions that use no table report only when they end",
                _ => "",
            }
            .into(),
            adds: match version {
                ..WORKERS_KNOWN_SINCE => "and two for each parallel worker of a query",
                _ => "",
            }
            .into(),
        }
    }

    fn waits(&self) -> Waits {
        self.shared.waits
    }

    fn warnings(&self) -> Vec<String> {
        self.shared.options.warnings.clone()
    }

    fn notes(&self) -> Vec<String> {
        let fell_back = "the connection is not encrypted: the server offers no TLS; use \
                         sslmode=require to enforce it";
        // Nobody is on the network path to this host.
        let is_near = |host: &Host| match &host.place {
            Endpoint::Unix(_) => true,
            Endpoint::Tcp(name) => is_loopback(name),
        };
        let is_exposed = !self.shared.options.hosts.iter().all(is_near);
        let is_noted = self.tls_fell_back() && is_exposed;
        let again = self.shared.prepared_again.note();
        let nodes = self.shared.behind_pgpool.load(Ordering::Relaxed);
        let pgpool = (nodes > 1).then(|| {
            format!(
                "the target is pgpool with {nodes} servers behind it: settings, counters, waits and \
                 sessions of the server are those of the one that answered, as a rule the primary; \
                 to observe them all, name them with --nodes"
            )
        });
        let pooled = self.shared.pooler.get().and_then(|pooler| pooler.note());
        let fell_back = is_noted.then(|| fell_back.to_owned());
        fell_back.into_iter().chain(pooled.map(str::to_owned)).chain(again).chain(pgpool).collect()
    }

    fn idle_limit_setting(&self) -> Option<&'static str> {
        Some("idle_session_timeout")
    }

    async fn create_database(&self) -> Result<bool, DbError> {
        let name = &self.shared.options.database;
        let mut session = self.shared.maintenance().await?;
        let result = session.create_database(name).await;
        session.end().await;
        result.map_err(|error| {
            error.context(format_args!("creating database {}", quote_identifier(name)))
        })
    }
}

impl Shared {
    /// Name of the target's database.
    pub(super) fn database(&self) -> &str {
        &self.options.database
    }

    /// Connects to a database that exists on every server, to create or drop another.
    pub(super) async fn maintenance(self: &Arc<Self>) -> Result<PostgresSession, DbError> {
        let mut opened = Err(DbError::new(ErrorClass::Refused, "no database to connect to"));
        for database in MAINTENANCE_DATABASES {
            opened = self.open(database).await;
            match &opened {
                Err(error) if error.code() == Some("3D000") => {}
                _ => break,
            }
        }
        opened
    }

    /// How statements are sent.
    pub(super) fn protocol(&self) -> Protocol {
        self.asked_protocol.unwrap_or_else(|| match self.pooler.get() {
            Some(Pooler::Forgets) => Protocol::Extended,
            _ => Protocol::Prepared,
        })
    }

    /// Looks what is between here and the server, with this session and perhaps another one.
    async fn look(self: &Arc<Self>, session: &mut PostgresSession) -> Result<Pooler, DbError> {
        Pooler::find(session, || self.open(&self.options.database)).await
    }

    /// Statements that set up a new session; `None` if there is nothing to set. They are sent after
    /// the start rather than in it, because connection poolers reject start-up parameters that they
    /// do not know.
    ///
    /// The level is that of the load: a monitor reads what is committed, also on a standby, which
    /// rejects serializable sessions.
    fn setup(&self, role: Role) -> Option<String> {
        let mut setup = String::new();
        if let Some(schema) = &self.options.schema {
            setup.push_str(&format!("SET search_path TO {};", quote_identifier(schema)));
        }
        if let Some(isolation) = self.isolation.filter(|_| role != Role::Monitor) {
            let level = isolation.name().replace('-', " ");
            setup.push_str(&format!("SET default_transaction_isolation TO '{level}';"));
        }
        if let Some(limit) = self.lock_timeout {
            // Zero would mean no limit.
            let limit_ms = limit.as_millis().max(1);
            setup.push_str(&format!("SET lock_timeout TO {limit_ms};"));
        }
        if let Some(dop) = self.dop {
            // The session's own process works on the query too.
            setup.push_str(&format!("SET max_parallel_workers_per_gather TO {};", dop - 1));
        }
        (!setup.is_empty()).then_some(setup)
    }

    /// Connects to the first host that accepts. The next one is tried when a host is unreachable,
    /// not yet up, or read-only although read-write is required; not when it rejects the password.
    pub(super) async fn open(self: &Arc<Self>, database: &str) -> Result<PostgresSession, DbError> {
        let mut watch = LoginWatch::start();
        let mut failures: Vec<DbError> = Vec::new();
        for host in &self.options.hosts {
            match self.open_host(host, database, &mut watch).await {
                Ok(session) => return Ok(session),
                Err(error) => {
                    let is_final = error.class() == ErrorClass::Refused;
                    failures.push(error);
                    if is_final {
                        break;
                    }
                }
            }
        }
        let last = failures.pop().expect("a target has at least one host");
        if failures.is_empty() {
            return Err(last);
        }
        let earlier: Vec<_> = failures.iter().map(DbError::message).collect();
        Err(last.context(earlier.join("; ")))
    }

    async fn open_host(
        self: &Arc<Self>,
        host: &Host,
        database: &str,
        watch: &mut LoginWatch,
    ) -> Result<PostgresSession, DbError> {
        let label = host.label();
        let mut last = None;
        for address in resolve(host, self.sockets.connect).await? {
            let opened = match self.open_address(host, (&address, &label), database, watch).await {
                Ok(opened) => opened,
                Err(error) if error.class() == ErrorClass::Disconnected => {
                    last = Some(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let mut session = PostgresSession::new(opened, self.clone());
            if self.options.read_write && session.is_read_only().await? {
                let message = format!("{label} is read-only, but read-write is required");
                return Err(DbError::new(ErrorClass::Unavailable, message));
            }
            return Ok(session);
        }
        Err(last.expect("a host has at least one address"))
    }

    /// Connects to an address, once or, where the mode has a second choice, twice.
    async fn open_address(
        &self,
        host: &Host,
        at: (&Address, &str),
        database: &str,
        watch: &mut LoginWatch,
    ) -> Result<OpenedConnection, DbError> {
        let (first, second) = host.tls_choices();
        let opened = match (self.attempt(host, at, database, first, watch).await, second) {
            (Err(failed), Some(second)) if failed.is_about_tls => {
                match self.attempt(host, at, database, second, watch).await {
                    Ok(opened) => opened,
                    // TLS made no difference.
                    Err(again) if again.error.message() == failed.error.message() => {
                        return Err(again.error);
                    }
                    Err(again) => {
                        let (before, after) = match first {
                            Tls::Without => ("without TLS", "with TLS"),
                            _ => ("with TLS", "without TLS"),
                        };
                        let earlier = format!("{before}: {}", failed.error.message());
                        return Err(again.error.context(format_args!("{earlier}; {after}")));
                    }
                }
            }
            (result, _) => result.map_err(|failed| failed.error)?,
        };
        if first == Tls::IfOffered && !opened.route.has_tls {
            self.fell_back.store(true, Ordering::Relaxed);
        }
        Ok(opened)
    }

    async fn attempt(
        &self,
        host: &Host,
        (address, label): (&Address, &str),
        database: &str,
        tls: Tls,
        watch: &mut LoginWatch,
    ) -> Result<OpenedConnection, Attempt> {
        let (stream, route) = self.reach(host, (address, label), tls, watch).await?;
        let login = Login {
            user: &self.options.user,
            database,
            application_name: &self.options.application_name,
            options: self.options.server_options.as_deref(),
            iso_dates: !self.own_sql,
            password: host.password.as_ref().map(Secret::reveal),
            channel_binding: self.options.channel_binding,
        };
        let begun = timeout(self.sockets.connect, start(stream, login)).await;
        let (connection, greeting) =
            begun.map_err(|_| self.silent(label))?.map_err(|error| Attempt {
                // The server reports this if pg_hba.conf has no line for a session with, or
                // without, TLS.
                is_about_tls: error.code() == Some("28000"),
                error: error.context(label),
            })?;
        watch.authenticated();
        self.version.store(greeting.version, Ordering::Relaxed);
        Ok(OpenedConnection { connection, greeting, route, login: watch.times() })
    }

    /// Connects to an address, up to the messages of a session.
    async fn reach(
        &self,
        host: &Host,
        (address, label): (&Address, &str),
        tls: Tls,
        watch: &mut LoginWatch,
    ) -> Result<(Stream, Route), Attempt> {
        let mut socket =
            Socket::connect(address, label, &self.sockets).await.map_err(Attempt::failed)?;
        watch.connected();
        let limit = self.sockets.connect;
        let has_tls = match tls {
            Tls::Without => false,
            Tls::IfOffered | Tls::With => timeout(limit, socket.ask_for_tls())
                .await
                .map_err(|_| self.silent(label))?
                .map_err(|error| Attempt::failed(error.context(label)))?,
        };
        if tls == Tls::With && !has_tls {
            let message = format!(
                "{label} does not offer TLS, which is required; use sslmode=disable to connect \
                 without"
            );
            return Err(Attempt {
                error: DbError::new(ErrorClass::Refused, message),
                is_about_tls: true,
            });
        }
        let route = Route {
            address: address.clone(),
            host_name: match &host.place {
                Endpoint::Tcp(name) => name.clone(),
                Endpoint::Unix(_) => String::new(),
            },
            ssl_mode: host.ssl_mode,
            label: label.to_owned(),
            has_tls,
            transport: socket.transport(),
            same_host: socket.is_same_host(),
        };
        let about_tls =
            |error: DbError| Attempt { error: error.context(label), is_about_tls: true };
        let secured = timeout(limit, self.stream(socket, &route)).await;
        let stream = secured.map_err(|_| self.silent(label))?.map_err(about_tls)?;
        if tls != Tls::Without {
            watch.secured();
        }
        Ok((stream, route))
    }

    /// The failure to get an answer in time.
    fn silent(&self, label: &str) -> Attempt {
        let limit = self.sockets.connect.as_secs();
        let message = format!("{label} does not answer within {limit} s");
        Attempt::failed(DbError::new(ErrorClass::Disconnected, message))
    }

    /// Connects to the target's first host for a session of somebody else, who logs in.
    pub(super) async fn tunnel(&self) -> Result<Stream, DbError> {
        let host = self.options.hosts.first().expect("a target has at least one host");
        let (label, (first, second)) = (host.label(), host.tls_choices());
        let (mut last, mut watch) = (None, LoginWatch::start());
        for address in resolve(host, self.sockets.connect).await? {
            let mut reached = self.reach(host, (&address, &label), first, &mut watch).await;
            if let (Err(failed), Some(second)) = (&reached, second)
                && failed.is_about_tls
            {
                reached = self.reach(host, (&address, &label), second, &mut watch).await;
            }
            match reached {
                Ok((stream, _)) => return Ok(stream),
                Err(failed) => last = Some(failed.error),
            }
        }
        Err(last.expect("a host has at least one address"))
    }

    /// Creates the stream for messages; with TLS if the server agrees to it.
    async fn stream(&self, socket: Socket, route: &Route) -> Result<Stream, DbError> {
        if !route.has_tls {
            return Ok(Stream::Plain(socket));
        }
        let name = host_in_certificate(&route.host_name, route.ssl_mode == SslMode::VerifyFull);
        Stream::secure(&self.connector, socket, name).await
    }

    /// Whether the server is running a statement of a session; `None` if it does not know the
    /// session, as behind a pooler.
    pub(super) async fn is_at_work(
        self: &Arc<Self>,
        key: CancelKey,
    ) -> Result<Option<bool>, DbError> {
        let mut session = self.open(&self.options.database).await?;
        let answer = session.is_active(key.process).await;
        session.end().await;
        answer
    }

    /// Asks the server to cancel what a session is doing.
    pub(super) async fn cancel(&self, route: &Route, key: CancelKey) -> Result<(), DbError> {
        let mut socket = Socket::connect(&route.address, &route.label, &self.sockets).await?;
        if route.has_tls && !socket.ask_for_tls().await? {
            return Err(DbError::new(ErrorClass::Refused, "the server no longer offers TLS"));
        }
        key.send(self.stream(socket, route).await?).await
    }
}

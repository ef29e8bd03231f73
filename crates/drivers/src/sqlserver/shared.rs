//! State that the sessions and cancellers of a target share: how to reach the server (instance,
//! addresses, redirections), the settings of every session, and facts about the server.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;

use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use triphammer_core::session::{Isolation, Protocol};
use triphammer_core::{DbError, ErrorClass};

use super::browser::find_port;
use super::connection::{Connection, Route};
use super::login::{Encrypt, Flag, Login, Outcome, log_in};
use super::url::UrlOptions;
use super::wire::Wire;
use crate::socket::{Address, Socket, SocketSettings, is_loopback, resolve};
use crate::target::ConnectSettings;
use crate::tls::host_in_certificate;

/// Redirections that are followed in a row; Azure and read-only replicas need one.
const REDIRECTS_MAX: u32 = 3;
/// Numbers of the errors for a wrong user or password; Babelfish has another one for none at all.
const REFUSED_LOGIN: [&str; 2] = ["18456", "33557097"];
/// Numbers of the errors for a login that stays refused: wrong, disabled, locked, expired, without the
/// right to the database, or to one that does not exist.
const FINAL: [&str; 7] = ["18456", "18470", "18486", "18487", "18488", "916", "911"];
/// Settings of every session, whatever the server's: an error rolls its transaction back, and texts
/// are sent as a whole.
const SETUP: &str = "SET XACT_ABORT ON; SET NOCOUNT OFF; SET TEXTSIZE 2147483647;";
/// What is asked when a session begins: its number, and whether this is Babelfish.
const QUESTION: &str = " SELECT @@SPID, CAST(SERVERPROPERTY('Babelfish') AS int)";

/// Properties of the database that sessions and cancellers need.
pub(super) struct Shared {
    pub(super) options: UrlOptions,
    tls: TlsConnector,
    sockets: SocketSettings,
    pub(super) isolation: Option<Isolation>,
    pub(super) protocol: Protocol,
    lock_timeout: Option<Duration>,
    /// Whether the server is Babelfish, once it has said so.
    babelfish: OnceLock<bool>,
    /// The level of transactions that read one state of the database, once that was asked.
    consistent: OnceLock<Isolation>,
    /// Whether a session has no encryption, although the target did not forbid it.
    pub(super) has_no_tls: AtomicBool,
    /// The server that the target's has sent a session to.
    redirected: OnceLock<String>,
}

impl Shared {
    /// Creates the state from the target, before anything is connected.
    pub(super) fn new(options: UrlOptions, tls: TlsConnector, settings: &ConnectSettings) -> Self {
        Self {
            tls,
            sockets: SocketSettings {
                connect: options.connect_limit,
                tcp_user: settings.tcp_user_timeout,
                relay: settings.relay.clone(),
            },
            options,
            isolation: settings.isolation,
            protocol: settings.protocol.unwrap_or(Protocol::Prepared),
            lock_timeout: settings.lock_timeout,
            babelfish: OnceLock::new(),
            consistent: OnceLock::new(),
            has_no_tls: AtomicBool::new(false),
            redirected: OnceLock::new(),
        }
    }

    /// Whether the server is Babelfish; `None` before the first session.
    pub(super) fn is_babelfish(&self) -> Option<bool> {
        self.babelfish.get().copied()
    }

    /// The server that the target's has sent a session to.
    pub(super) fn redirected_to(&self) -> Option<&str> {
        self.redirected.get().map(String::as_str)
    }

    /// Sets a session up, and returns its number on the server.
    pub(super) async fn set_up(&self, connection: &mut Connection) -> Result<i64, DbError> {
        let mut setup = SETUP.to_owned();
        if let Some(limit) = self.lock_timeout {
            let milliseconds = limit.as_millis().max(1);
            setup.push_str(&format!(" SET LOCK_TIMEOUT {milliseconds};"));
        }
        if let Some(isolation) = self.isolation {
            let level = isolation.name().replace('-', " ");
            setup.push_str(&format!(" SET TRANSACTION ISOLATION LEVEL {level};"));
        }
        setup.push_str(QUESTION);
        let answer = connection.ask(&setup).await?;
        let first = answer.first();
        let field = |at: usize| first.and_then(|row| row.get(at)?.as_deref()?.parse().ok());
        self.babelfish.get_or_init(|| field(1) == Some(1));
        field(0).ok_or_else(|| super::error::broken("the number of a session"))
    }

    /// The level of transactions that read one state of the database. Memory-optimized tables are
    /// read in a snapshot anyway, and cannot be read at the level of that name.
    pub(super) async fn consistent(
        &self,
        connection: &mut Connection,
    ) -> Result<Isolation, DbError> {
        if let Some(known) = self.consistent.get() {
            return Ok(*known);
        }
        let sql = "SELECT snapshot_isolation_state, \
                   (SELECT count(*) FROM sys.tables WHERE is_memory_optimized = 1) \
                   FROM sys.databases WHERE name = DB_NAME()";
        let answer = connection.ask(sql).await?;
        let field = |at: usize| answer.first().and_then(|row| row.get(at)?.as_deref());
        let level = match (field(0), field(1)) {
            (_, Some(in_memory)) if in_memory != "0" => Isolation::ReadCommitted,
            (Some("1"), _) => Isolation::Snapshot,
            _ => Isolation::Serializable,
        };
        Ok(*self.consistent.get_or_init(|| level))
    }

    /// Whether consistent reads are serializable transactions, because the database has no
    /// snapshots.
    pub(super) fn lacks_snapshots(&self) -> bool {
        self.consistent.get() == Some(&Isolation::Serializable)
    }

    /// Connects to the target's server, or to the one that it names.
    pub(super) async fn open(
        &self,
        database: Option<&str>,
        flag: &Flag,
    ) -> Result<Box<Connection>, DbError> {
        let label = self.options.server();
        let limit = self.sockets.connect;
        let (mut host, mut port) = (self.options.host.clone(), self.options.port);
        for _ in 0..=REDIRECTS_MAX {
            let number = match port {
                Some(number) => number,
                None => {
                    let (browser, instance) = (self.options.browser_port, &self.options.instance);
                    find_port(&host, browser, instance, limit).await?
                }
            };
            match self.open_at(&host, number, database, flag).await? {
                Outcome::Connected(connection) => return Ok(connection),
                Outcome::Redirected(to) => {
                    let shown = crate::target::host_text(&to.host, Some(to.port));
                    if !self.options.follows_redirects {
                        let message = format!("{label} redirects to {shown}, but redirects=off");
                        return Err(DbError::new(ErrorClass::Refused, message));
                    }
                    if self.options.is_plain_by_default && !is_loopback(&to.host) {
                        let message = format!(
                            "{label} redirects to {shown}, and without `encrypt` in the target only \
                             sessions on this host are not encrypted: set encrypt=on, or encrypt=off"
                        );
                        return Err(DbError::new(ErrorClass::Refused, message));
                    }
                    self.redirected.get_or_init(|| shown);
                    (host, port) = (to.host, Some(to.port));
                }
            }
        }
        let message = format!("{label} redirects more than {REDIRECTS_MAX} times");
        Err(DbError::new(ErrorClass::Refused, message))
    }

    /// Logs in at the first of a host's addresses that answers.
    async fn open_at(
        &self,
        host: &str,
        port: u16,
        database: Option<&str>,
        flag: &Flag,
    ) -> Result<Outcome, DbError> {
        let label = crate::target::host_text(host, Some(port));
        let addresses = resolve(host, port, self.sockets.connect).await?;
        if self.options.all_at_once && addresses.len() > 1 {
            let socket = connect_any(&addresses, &label, &self.sockets).await?;
            return self.log_in_over(socket, host, port, database, flag).await;
        }
        let mut last = None;
        for address in &addresses {
            let opened = match Socket::connect(address, &label, &self.sockets).await {
                Ok(socket) => self.log_in_over(socket, host, port, database, flag).await,
                Err(error) => Err(error),
            };
            match opened {
                Err(error) if error.class() == ErrorClass::Disconnected => last = Some(error),
                result => return result,
            }
        }
        Err(last.expect("a host has at least one address"))
    }

    async fn log_in_over(
        &self,
        socket: Socket,
        host: &str,
        port: u16,
        database: Option<&str>,
        flag: &Flag,
    ) -> Result<Outcome, DbError> {
        let options = &self.options;
        let route = Route { transport: socket.transport(), same_host: socket.is_same_host() };
        let named = options.certificate_host.as_deref().unwrap_or(host);
        let login = Login {
            encrypt: options.encrypt,
            tls: (&self.tls, host_in_certificate(named, options.root_cert.is_some())),
            user: &options.user,
            password: options.password.as_ref(),
            database,
            server: host,
            instance: &options.instance,
            application: &options.application_name,
            packet_bytes: options.packet_bytes,
            reads_only: options.reads_only,
        };
        let wire = Wire::new(socket, Arc::clone(flag));
        let label = crate::target::host_text(host, Some(port));
        let limit = self.sockets.connect;
        let outcome = match timeout(limit, log_in(wire, &login, route)).await {
            Ok(outcome) => outcome.map_err(|error| {
                let error = self.for_now(hint(error, options.encrypt));
                missing_password(error, options.password.is_some()).context(&label)
            })?,
            Err(_) => {
                let message = format!("{label} does not answer within {} s", limit.as_secs());
                return Err(DbError::new(ErrorClass::Disconnected, message));
            }
        };
        if let Outcome::Connected(connection) = &outcome
            && !connection.wire.has_tls()
        {
            self.has_no_tls.store(true, Ordering::Relaxed);
        }
        Ok(outcome)
    }

    /// The error of a login. A server that has let this user in before refuses for a while only,
    /// unless its number says otherwise: a database that it recovers after a restart cannot be opened
    /// (4060), as if it did not exist.
    fn for_now(&self, error: DbError) -> DbError {
        let passes = error.code().is_some_and(|code| !FINAL.contains(&code));
        if error.class() != ErrorClass::Refused || !passes || self.is_babelfish().is_none() {
            return error;
        }
        let code = error.code().unwrap_or_default().to_owned();
        DbError::new(ErrorClass::Unavailable, error.message()).with_code(code)
    }

    /// Whether the server is running a statement of a session; `None` if it does not know the
    /// session.
    pub(super) async fn is_at_work(&self, spid: i64) -> Result<Option<bool>, DbError> {
        let mut session = self.open(Some(&self.options.database), &Flag::default()).await?;
        let asked = format!("SELECT status FROM sys.dm_exec_sessions WHERE session_id = {spid}");
        let answer = session.ask(&asked).await;
        session.close().await;
        let status = answer?.pop().and_then(|mut row| row.pop()).flatten();
        Ok(status.map(|status| matches!(status.as_str(), "running" | "active")))
    }
}

/// Adds what to do about a certificate that is not trusted.
fn hint(error: DbError, encrypt: Encrypt) -> DbError {
    let is_certificate =
        error.class() == ErrorClass::Refused && error.message().contains("certificate");
    if !is_certificate {
        return error;
    }
    let trust = match encrypt {
        Encrypt::Strict => "",
        Encrypt::Off | Encrypt::On => ", or trust-server-certificate=on to verify nothing",
    };
    let message = format!(
        "{}; use ca=FILE for the authority that signed it, host-in-certificate=NAME for another \
         name{trust}",
        error.message()
    );
    DbError::new(ErrorClass::Refused, message)
}

/// Adds what to do about a login that was refused without a password.
fn missing_password(error: DbError, was_given: bool) -> DbError {
    let Some(code) = error.code().filter(|code| REFUSED_LOGIN.contains(code)) else { return error };
    if was_given || error.class() != ErrorClass::Refused {
        return error;
    }
    let message = format!(
        "{}; no password was given: set TRIPHAMMER_PASSWORD, or use --password-file or --ask-password",
        error.message()
    );
    DbError::new(error.class(), message).with_code(code.to_owned())
}

type Attempt<'a> = Pin<Box<dyn Future<Output = Result<Socket, DbError>> + Send + 'a>>;

/// Connects to all addresses at the same time, and keeps the first connection.
async fn connect_any(
    addresses: &[Address],
    label: &str,
    settings: &SocketSettings,
) -> Result<Socket, DbError> {
    let attempt = |address| Box::pin(Socket::connect(address, label, settings)) as Attempt<'_>;
    let mut attempts: Vec<_> = addresses.iter().map(attempt).collect();
    let mut last = None;
    poll_fn(|cx| {
        let mut place = 0;
        while place < attempts.len() {
            match attempts[place].as_mut().poll(cx) {
                Poll::Pending => place += 1,
                Poll::Ready(Ok(socket)) => return Poll::Ready(Ok(socket)),
                Poll::Ready(Err(error)) => {
                    drop(attempts.swap_remove(place));
                    last = Some(error);
                }
            }
        }
        match last.take() {
            Some(error) if attempts.is_empty() => Poll::Ready(Err(error)),
            other => {
                last = other;
                Poll::Pending
            }
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn the_first_address_that_answers_is_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let open = Address::Tcp(listener.local_addr().unwrap());
        // Nothing listens at it any more.
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let closed = || Address::Tcp(closed);
        let limit = Duration::from_secs(10);
        let settings = SocketSettings { connect: limit, tcp_user: limit, relay: None };
        connect_any(&[closed(), open, closed()], "h", &settings).await.unwrap();
        let error = connect_any(&[closed(), closed()], "h:1433", &settings).await.err().unwrap();
        assert_eq!(error.class(), ErrorClass::Disconnected);
        assert!(error.message().contains("h:1433"), "{error}");
    }
}

//! The beginning of a session: start-up and authentication. Passwords are sent with SCRAM-SHA-256,
//! bound to the TLS channel if there is one (RFC 5802, RFC 5929), with MD5, or in clear text: the
//! server chooses.

use std::future::poll_fn;

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{self, ScramSha256};
use postgres_protocol::message::{backend, frontend};
use triphammer_core::{DbError, ErrorClass};

use super::messages::Body;
use super::{CancelKey, Connection, Frame, ServerError, unwritable};
use crate::postgres::error::{ErrorContext, classify};
use crate::postgres::tls::end_point;
use crate::postgres::url::ChannelBinding;
use crate::stream::Stream;

/// Requests of authentication messages (manual, "Message Formats").
const OK: i32 = 0;
const CLEARTEXT: i32 = 3;
const MD5: i32 = 5;
const SASL: i32 = 10;
const SASL_CONTINUE: i32 = 11;
const SASL_FINAL: i32 = 12;
/// The server does not support everything requested; we request nothing essential.
const NEGOTIATE_TAG: u8 = b'v';

/// Maximum number of hashing iterations that a server may request: 250 times the default, and more
/// than is recommended anywhere. They take a second or less, during which the thread does nothing
/// else.
const SCRAM_ITERATIONS_MAX: u64 = 1_000_000;

/// Parameters of a new session.
#[derive(Clone, Copy)]
pub struct Login<'a> {
    /// Name of the user.
    pub user: &'a str,
    /// Name of the database.
    pub database: &'a str,
    /// Name shown in `pg_stat_activity`.
    pub application_name: &'a str,
    /// Command-line options for the server process.
    pub options: Option<&'a str>,
    /// Whether dates in texts must be written as ISO 8601 has them, whatever the role's default is.
    pub iso_dates: bool,
    /// Password, if one is given.
    pub password: Option<&'a str>,
    /// Whether authentication is bound to the TLS channel.
    pub channel_binding: ChannelBinding,
}

/// What a server says of itself and of a session that begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Greeting {
    /// What cancels the session's statements.
    pub key: CancelKey,
    /// First number of the server's version; 0 if it says none.
    pub version: u32,
}

/// The first number of a version: 15 of `15.18 (Debian 15.18-0)`.
fn major(version: &[u8]) -> u32 {
    let digits = version.iter().take_while(|byte| byte.is_ascii_digit());
    digits.fold(0, |number: u32, digit| {
        number.saturating_mul(10).saturating_add(u32::from(digit - b'0'))
    })
}

/// Begins a session on a new stream.
///
/// # Errors
/// `Refused` when the server rejects us or speaks another protocol, else as it reports.
pub async fn start(stream: Stream, login: Login<'_>) -> Result<(Connection, Greeting), DbError> {
    let mut connection = Connection::new(stream);
    let mut params = vec![
        ("client_encoding", "UTF8"),
        ("user", login.user),
        ("database", login.database),
        ("application_name", login.application_name),
    ];
    params.extend(login.iso_dates.then_some(("DateStyle", "ISO")));
    params.extend(login.options.map(|options| ("options", options)));
    frontend::startup_message(params, &mut connection.out).map_err(unwritable)?;
    authenticate(&mut connection, login).await?;
    let mut greeting = Greeting::default();
    loop {
        let frame = connection.on_event().await?;
        match frame.tag {
            backend::BACKEND_KEY_DATA_TAG => {
                let mut body = Body(frame.body);
                let (process, secret) = (body.int32(), body.int32());
                if let (Some(process), Some(secret)) = (process, secret) {
                    greeting.key = CancelKey { process, secret };
                }
            }
            backend::PARAMETER_STATUS_TAG => {
                let mut body = Body(frame.body);
                if body.text() == Some(b"server_version") {
                    greeting.version = body.text().map_or(0, major);
                }
            }
            backend::READY_FOR_QUERY_TAG => return Ok((connection, greeting)),
            _ => return Err(no_postgres()),
        }
    }
}

async fn authenticate(connection: &mut Connection, login: Login<'_>) -> Result<(), DbError> {
    match connection.on_event().await?.authentication()? {
        (OK, _) => return check_unbound(login),
        (CLEARTEXT, _) => {
            check_unbound(login)?;
            let password = password_of(login)?;
            frontend::password_message(password.as_bytes(), &mut connection.out)
                .map_err(unwritable)?;
        }
        (MD5, salt) => {
            let salt = *salt.first_chunk().ok_or_else(no_postgres)?;
            check_unbound(login)?;
            let password = password_of(login)?;
            let hash = md5_hash(login.user.as_bytes(), password.as_bytes(), salt);
            frontend::password_message(hash.as_bytes(), &mut connection.out).map_err(unwritable)?;
        }
        (SASL, mechanisms) => {
            let mechanisms = Mechanisms::read(mechanisms);
            scram(connection, login, mechanisms).await?;
        }
        (number, _) => {
            return Err(refused(format!(
                "the server requires an unsupported authentication method (number {number}); \
                 supported are SCRAM, MD5 and clear-text passwords"
            )));
        }
    }
    match connection.on_event().await?.authentication()? {
        (OK, _) => Ok(()),
        _ => Err(no_postgres()),
    }
}

/// The SASL mechanisms that both the server and we support.
#[derive(Clone, Copy)]
struct Mechanisms {
    scram: bool,
    scram_plus: bool,
}

impl Mechanisms {
    fn read(body: &[u8]) -> Self {
        let mut body = Body(body);
        let mut found = Self { scram: false, scram_plus: false };
        while let Some(name) = body.text() {
            found.scram |= name == sasl::SCRAM_SHA_256.as_bytes();
            found.scram_plus |= name == sasl::SCRAM_SHA_256_PLUS.as_bytes();
        }
        found
    }
}

async fn scram(
    connection: &mut Connection,
    login: Login<'_>,
    offered: Mechanisms,
) -> Result<(), DbError> {
    let password = password_of(login)?;
    let end_point = match &connection.stream {
        Stream::Tls(stream) if login.channel_binding != ChannelBinding::Disable => {
            end_point(stream)
        }
        _ => None,
    };
    let (mechanism, binding) = match end_point {
        Some(end_point) if offered.scram_plus => {
            let binding = sasl::ChannelBinding::tls_server_end_point(end_point);
            (sasl::SCRAM_SHA_256_PLUS, binding)
        }
        _ if !offered.scram => {
            return Err(refused(
                "the server offers no supported SASL mechanism; supported is SCRAM-SHA-256",
            ));
        }
        // We support it and announce that: a server that supports it too then detects a man in the
        // middle.
        Some(_) => (sasl::SCRAM_SHA_256, sasl::ChannelBinding::unrequested()),
        None => (sasl::SCRAM_SHA_256, sasl::ChannelBinding::unsupported()),
    };
    if mechanism != sasl::SCRAM_SHA_256_PLUS {
        check_unbound(login)?;
    }
    let failed = |error| refused(format!("the password exchange failed: {error}"));
    let mut scram = ScramSha256::new(password.as_bytes(), binding);
    frontend::sasl_initial_response(mechanism, scram.message(), &mut connection.out)
        .map_err(unwritable)?;
    let (SASL_CONTINUE, data) = connection.on_event().await?.authentication()? else {
        return Err(no_postgres());
    };
    check_iterations(data)?;
    scram.update(data).map_err(failed)?;
    frontend::sasl_response(scram.message(), &mut connection.out).map_err(unwritable)?;
    let (SASL_FINAL, data) = connection.on_event().await?.authentication()? else {
        return Err(no_postgres());
    };
    scram.finish(data).map_err(failed)
}

/// Rejects a server that would make us hash for minutes. Anything that is not a message of the
/// exchange is left for the library to reject.
fn check_iterations(data: &[u8]) -> Result<(), DbError> {
    let count = data.rsplit(|byte| *byte == b',').find_map(|field| field.strip_prefix(b"i="));
    let Some(digits) = count.and_then(|count| std::str::from_utf8(count).ok()) else {
        return Ok(());
    };
    match digits.trim_start_matches('0').parse::<u64>() {
        Ok(count) if count > SCRAM_ITERATIONS_MAX => {}
        Err(error) if *error.kind() == std::num::IntErrorKind::PosOverflow => {}
        _ => return Ok(()),
    }
    Err(refused(format!(
        "the server requires {digits} SCRAM iterations; the maximum is {SCRAM_ITERATIONS_MAX}"
    )))
}

fn password_of<'a>(login: Login<'a>) -> Result<&'a str, DbError> {
    login.password.ok_or_else(|| {
        refused(
            "the server requires a password, and none was given: set TRIPHAMMER_PASSWORD or \
             PGPASSWORD, or use ~/.pgpass, --password-file or --ask-password",
        )
    })
}

/// Rejects authentication without channel binding where it is required.
fn check_unbound(login: Login<'_>) -> Result<(), DbError> {
    if login.channel_binding == ChannelBinding::Require {
        return Err(refused(
            "the server does not use channel binding, which is required (channel_binding=require)",
        ));
    }
    Ok(())
}

fn refused(message: impl AsRef<str>) -> DbError {
    DbError::new(ErrorClass::Refused, message)
}

/// The error for a peer that is not a PostgreSQL server.
#[cold]
pub fn no_postgres() -> DbError {
    refused("the server does not speak the PostgreSQL protocol: check host and port")
}

impl<'a> Frame<'a> {
    /// Reads what an authentication message requests, and its data.
    fn authentication(self) -> Result<(i32, &'a [u8]), DbError> {
        let mut body = Body(self.body);
        match (self.tag, body.int32()) {
            (backend::AUTHENTICATION_TAG, Some(kind)) => Ok((kind, body.0)),
            _ => Err(no_postgres()),
        }
    }
}

impl Connection {
    /// Sends the buffer and returns the next message, before the session has begun: there an error
    /// is the last message.
    async fn on_event(&mut self) -> Result<Frame<'_>, DbError> {
        let found = loop {
            match self.inbox.take() {
                Ok(Some(found)) => match found.tag {
                    backend::NOTICE_RESPONSE_TAG | NEGOTIATE_TAG => {}
                    backend::ERROR_RESPONSE_TAG => {
                        let answer = ServerError::read(self.inbox.body(&found));
                        return Err(answer.map_or_else(no_postgres, |answer| {
                            classify(&answer, ErrorContext::Connecting)
                        }));
                    }
                    _ => break found,
                },
                Ok(None) => poll_fn(|cx| self.poll_turn(cx)).await?,
                Err(_) => return Err(no_postgres()),
            }
        };
        Ok(Frame { tag: found.tag, body: self.inbox.body(&found) })
    }
}

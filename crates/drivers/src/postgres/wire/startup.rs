//! The beginning of a session: who we are, and the proof of it. Passwords go by SCRAM-SHA-256, tied to
//! the TLS channel where there is one (RFC 5802, RFC 5929), by MD5, or as they are: the server chooses.

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

/// What a server asks for by an authentication message (manual, "Message Formats").
const OK: i32 = 0;
const CLEARTEXT: i32 = 3;
const MD5: i32 = 5;
const SASL: i32 = 10;
const SASL_CONTINUE: i32 = 11;
const SASL_FINAL: i32 = 12;
/// The server does not know all of what we asked for; we ask for nothing that matters.
const NEGOTIATE_TAG: u8 = b'v';

/// Most rounds of hashing that a server may ask for: 250 times what it asks for by default, and more than
/// is recommended anywhere. They take a second or less, in which the thread does nothing else.
const SCRAM_ITERATIONS_MAX: u64 = 1_000_000;

/// Who begins a session, and how.
#[derive(Clone, Copy)]
pub struct Login<'a> {
    /// User.
    pub user: &'a str,
    /// Database.
    pub database: &'a str,
    /// Name in `pg_stat_activity`.
    pub application_name: &'a str,
    /// Command-line options for the server process.
    pub options: Option<&'a str>,
    /// Password, when one is given.
    pub password: Option<&'a str>,
    /// Whether the password exchange is tied to the TLS channel.
    pub channel_binding: ChannelBinding,
}

/// Begins a session on a fresh stream.
///
/// # Errors
/// `Refused` when the server does not have us or speaks another protocol, else as it reports.
pub async fn start(stream: Stream, login: Login<'_>) -> Result<(Connection, CancelKey), DbError> {
    let mut connection = Connection::new(stream);
    let mut params = vec![
        ("client_encoding", "UTF8"),
        ("user", login.user),
        ("database", login.database),
        ("application_name", login.application_name),
    ];
    params.extend(login.options.map(|options| ("options", options)));
    frontend::startup_message(params, &mut connection.out).map_err(unwritable)?;
    authenticate(&mut connection, login).await?;
    let mut key = CancelKey::default();
    loop {
        let frame = connection.hear().await?;
        match frame.tag {
            backend::BACKEND_KEY_DATA_TAG => {
                let mut body = Body(frame.body);
                let (process, secret) = (body.int32(), body.int32());
                key = process
                    .zip(secret)
                    .map_or(key, |(process, secret)| CancelKey { process, secret });
            }
            backend::PARAMETER_STATUS_TAG => {}
            backend::READY_FOR_QUERY_TAG => return Ok((connection, key)),
            _ => return Err(no_postgres()),
        }
    }
}

async fn authenticate(connection: &mut Connection, login: Login<'_>) -> Result<(), DbError> {
    match connection.hear().await?.authentication()? {
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
                "the server asks for authentication by a method (number {number}) that is not \
                 among ours: SCRAM, MD5, and the plain password"
            )));
        }
    }
    match connection.hear().await?.authentication()? {
        (OK, _) => Ok(()),
        _ => Err(no_postgres()),
    }
}

/// The ways of SASL that a server has and we know.
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
            return Err(refused("the server's ways of SASL are not among ours: SCRAM-SHA-256"));
        }
        // We could, and say so: a server that could too then knows that somebody in between lies.
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
    let (SASL_CONTINUE, data) = connection.hear().await?.authentication()? else {
        return Err(no_postgres());
    };
    check_iterations(data)?;
    scram.update(data).map_err(failed)?;
    frontend::sasl_response(scram.message(), &mut connection.out).map_err(unwritable)?;
    let (SASL_FINAL, data) = connection.hear().await?.authentication()? else {
        return Err(no_postgres());
    };
    scram.finish(data).map_err(failed)
}

/// Refuses a server that would have us hash for minutes. What is no message of the exchange is the library's
/// to refuse.
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
        "the server asks for {digits} SCRAM iterations; at most {SCRAM_ITERATIONS_MAX} are done"
    )))
}

fn password_of<'a>(login: Login<'a>) -> Result<&'a str, DbError> {
    login.password.ok_or_else(|| {
        refused(
            "the server asks for a password, and none is given: set TRIPHAMMER_PASSWORD or \
             PGPASSWORD, or use ~/.pgpass",
        )
    })
}

/// Refuses to go on without channel binding where it is required.
fn check_unbound(login: Login<'_>) -> Result<(), DbError> {
    if login.channel_binding == ChannelBinding::Require {
        return Err(refused("the server does not use channel binding, which is required"));
    }
    Ok(())
}

fn refused(message: impl AsRef<str>) -> DbError {
    DbError::new(ErrorClass::Refused, message)
}

/// Whatever answers is no PostgreSQL server.
#[cold]
pub fn no_postgres() -> DbError {
    refused("the server's answer is not PostgreSQL's; is this the right port?")
}

impl<'a> Frame<'a> {
    /// What an authentication message asks for, and with what.
    fn authentication(self) -> Result<(i32, &'a [u8]), DbError> {
        let mut body = Body(self.body);
        match (self.tag, body.int32()) {
            (backend::AUTHENTICATION_TAG, Some(kind)) => Ok((kind, body.0)),
            _ => Err(no_postgres()),
        }
    }
}

impl Connection {
    /// Sends what is in the buffer and gives the next message, in a session that has not begun: there an
    /// error is the last message.
    async fn hear(&mut self) -> Result<Frame<'_>, DbError> {
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

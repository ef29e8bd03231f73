//! The connection phase: the server's greeting, TLS, and the proof of the password.

use std::collections::HashMap;

use mysql_common::constants::CapabilityFlags;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse, SslRequest,
};
use mysql_common::proto::MySerialize;
use tokio_rustls::TlsConnector;
use triphammer_core::{DbError, ErrorClass};

use super::error::{Moment, broken, read_error};
use super::server_key::encrypt_by;
use super::wire::{Wire, no_greeting};
use crate::target::Secret;

/// The largest packet that we send, and that we want.
const PACKET_BYTES_MAX: u32 = 16 * 1024 * 1024;
/// `utf8mb4_general_ci`, which every server has; the session's setup says what is really wanted.
const COLLATION: u8 = 45;
/// What we can do. Found rather than changed rows are counted, as other databases count.
const CAPABILITIES: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_LONG_PASSWORD)
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_FOUND_ROWS)
    .union(CapabilityFlags::CLIENT_LOCAL_FILES)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
    .union(CapabilityFlags::CLIENT_CONNECT_ATTRS)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);
/// What we cannot do without.
const NEEDED: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);

/// Older than `caching_sha2_password`; MySQL also asks users by it who are not there.
const SHA256_PLUGIN: &[u8] = b"sha256_password";

/// Who logs in, and how.
pub struct Login<'a> {
    /// User.
    pub user: &'a str,
    /// Password, when there is one.
    pub password: Option<&'a Secret>,
    /// Database; `None` for none.
    pub database: Option<&'a str>,
    /// Shown in the server's list of sessions' attributes.
    pub program: &'a str,
    /// TLS with the name for the certificate; `None` goes without.
    pub tls: Option<(&'a TlsConnector, &'a str)>,
    /// Whether a server without TLS is taken as it is, though TLS is wanted.
    pub may_do_without: bool,
    /// Whether nobody can listen to the line: a unix socket.
    pub is_private: bool,
    /// Whether the server's RSA key is asked for on an open line.
    pub trusts_server_key: bool,
}

/// What the server says of itself at the start.
pub struct Greeting {
    /// Its version as it stands in the greeting.
    pub version: String,
    /// The number by which it knows the session.
    pub thread: u32,
}

/// Logs in on a fresh connection.
///
/// # Errors
/// `Refused` when trying again cannot help, `Unavailable` or `Disconnected` when it may.
pub async fn log_in(wire: &mut Wire, login: &Login<'_>) -> Result<Greeting, DbError> {
    let packet = wire.greeting().await?;
    if packet.first() == Some(&0xff) {
        return Err(read_error(packet, Moment::Connecting));
    }
    let greeting = ParseBuf(packet).parse::<HandshakePacket<'_>>(()).map_err(|_| no_greeting())?;
    let offered = greeting.capabilities();
    if !offered.contains(NEEDED) {
        let message = format!(
            "the server {} is too old: MySQL 5.7.5 and MariaDB 10.2 are the oldest that will do",
            greeting.server_version_str()
        );
        return Err(DbError::new(ErrorClass::Refused, message));
    }
    let has_tls = offered.contains(CapabilityFlags::CLIENT_SSL);
    let nonce = greeting.nonce();
    let plugin = match greeting.auth_plugin() {
        Some(plugin) if answers(&plugin) => plugin.into_owned(),
        _ => AuthPlugin::MysqlNativePassword,
    };
    let known = Greeting {
        version: greeting.server_version_str().into_owned(),
        thread: greeting.connection_id(),
    };
    // MariaDB leaves this one out where it has abilities of its own to tell.
    let mut agreed = CAPABILITIES & (offered | CapabilityFlags::CLIENT_LONG_PASSWORD);
    if let Some((tls, host)) = login.tls {
        if has_tls {
            agreed |= CapabilityFlags::CLIENT_SSL;
            if login.database.is_some() {
                agreed |= CapabilityFlags::CLIENT_CONNECT_WITH_DB;
            }
            SslRequest::new(agreed, PACKET_BYTES_MAX, COLLATION).serialize(wire.reply());
            wire.send().await?;
            wire.secure(tls, host).await?;
        } else if !login.may_do_without {
            let message =
                "it does not offer TLS, which is asked for; ssl-mode=DISABLED goes without";
            return Err(DbError::new(ErrorClass::Refused, message));
        }
    }
    let proof = prove(&plugin, login, &nonce);
    let attributes = HashMap::from([
        ("program_name".to_owned(), login.program.to_owned()),
        ("_client_name".to_owned(), "triphammer".to_owned()),
    ]);
    let response = HandshakeResponse::new(
        proof,
        // Any that has four-byte UTF-8.
        (8, 0, 0),
        Some(login.user.as_bytes()),
        login.database.map(str::as_bytes),
        Some(plugin.borrow()),
        agreed,
        Some(attributes),
        PACKET_BYTES_MAX,
    );
    response.serialize(wire.reply());
    wire.send().await?;
    prove_further(wire, login, plugin, nonce).await?;
    wire.done();
    Ok(known)
}

/// Whether this is a plugin whose question we answer at once.
fn answers(plugin: &AuthPlugin<'_>) -> bool {
    use AuthPlugin as P;
    matches!(plugin, P::MysqlNativePassword | P::CachingSha2Password | P::Ed25519)
}

/// What shows that we have the password; nothing for an empty one.
fn prove(plugin: &AuthPlugin<'_>, login: &Login<'_>, nonce: &[u8]) -> Option<Vec<u8>> {
    let data = plugin.gen_data(login.password.map(Secret::reveal), nonce)?;
    let mut proof = Vec::new();
    data.serialize(&mut proof);
    Some(proof)
}

/// Answers what the server asks until it lets us in.
async fn prove_further(
    wire: &mut Wire,
    login: &Login<'_>,
    mut plugin: AuthPlugin<'static>,
    mut nonce: Vec<u8>,
) -> Result<(), DbError> {
    loop {
        let packet = wire.packet().await?;
        match packet {
            [0x00, ..] => return Ok(()),
            [0xff, ..] => return Err(explain(read_error(packet, Moment::Connecting), login)),
            [0xfe, _, ..] => {
                let asked = ParseBuf(packet)
                    .parse::<AuthSwitchRequest<'_>>(())
                    .map_err(|_| broken("a change of the way to log in"))?;
                plugin = asked.auth_plugin().into_owned();
                nonce = asked.plugin_data().to_vec();
                if plugin.as_bytes() == SHA256_PLUGIN {
                    tell_password(wire, login, &nonce, 0x01).await?;
                    continue;
                }
                if !answers(&plugin) {
                    return Err(unknown_plugin(&plugin));
                }
                let proof = prove(&plugin, login, &nonce).unwrap_or_default();
                wire.reply().extend_from_slice(&proof);
                wire.send().await?;
            }
            // The server knew the password from before; what it thinks of it comes next.
            [0x01, 0x03] => {}
            [0x01, 0x04] if plugin == AuthPlugin::CachingSha2Password => {
                tell_password(wire, login, &nonce, 0x02).await?;
            }
            _ => return Err(broken("a question about the password")),
        }
    }
}

/// Gives the server the password itself, which `caching_sha2_password` wants when it has not seen it
/// since it started, and `sha256_password` always: on a line where nobody listens, else by the server's
/// RSA key, and that only when the target trusts whoever sends the key. `key_request` asks for it.
async fn tell_password(
    wire: &mut Wire,
    login: &Login<'_>,
    nonce: &[u8],
    key_request: u8,
) -> Result<(), DbError> {
    let mut password = login.password.map(Secret::reveal).unwrap_or_default().as_bytes().to_vec();
    password.push(0);
    if wire.has_tls() || login.is_private {
        wire.reply().extend_from_slice(&password);
        return wire.send().await;
    }
    if !login.trusts_server_key {
        let message = "the server wants the password itself, and without TLS \
             anybody could read it: use ssl-mode=REQUIRED, or get-server-public-key=1 to encrypt it \
             by a key that is taken from the server unseen";
        return Err(DbError::new(ErrorClass::Refused, message));
    }
    wire.reply().push(key_request);
    wire.send().await?;
    let key = match wire.packet().await? {
        [0x01, key @ ..] if key.starts_with(b"-----BEGIN PUBLIC KEY-----") => key.to_vec(),
        packet @ [0xff, ..] => return Err(read_error(packet, Moment::Connecting)),
        _ => return Err(broken("a public key")),
    };
    for (byte, nonce) in password.iter_mut().zip(nonce.iter().cycle()) {
        *byte ^= nonce;
    }
    let encrypted = encrypt_by(&key, &password)?;
    wire.reply().extend_from_slice(&encrypted);
    wire.send().await
}

fn unknown_plugin(plugin: &AuthPlugin<'_>) -> DbError {
    let name = String::from_utf8_lossy(plugin.as_bytes()).into_owned();
    let message = format!(
        "the server wants the user to log in by `{name}`; there are mysql_native_password, \
         caching_sha2_password, sha256_password and client_ed25519"
    );
    DbError::new(ErrorClass::Refused, message)
}

/// Says what may be missing where the server only says no.
fn explain(error: DbError, login: &Login<'_>) -> DbError {
    if error.code() == Some("1045") && login.password.is_none() {
        let message = format!(
            "{}; no password is given: set TRIPHAMMER_PASSWORD or MYSQL_PWD, or use ~/.my.cnf",
            error.message()
        );
        return DbError::new(error.class(), message).with_code("1045");
    }
    error
}

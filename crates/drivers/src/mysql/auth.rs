//! The connection phase: the server's greeting, TLS, and authentication.

use std::collections::HashMap;

use mysql_common::constants::CapabilityFlags;
use mysql_common::packets::{AuthPlugin, HandshakeResponse, SslRequest};
use mysql_common::proto::MySerialize;
use tokio_rustls::TlsConnector;
use triphammer_core::login::LoginWatch;
use triphammer_core::{DbError, ErrorClass};

use super::codec::Reader;
use super::compressed::Compression;
use super::error::{ErrorContext, broken, read_error};
use super::server_key::encrypt_by;
use super::wire::{Wire, no_greeting};
use crate::target::Secret;

/// Protocol version, the first byte of a greeting.
const PROTOCOL: u8 = 10;
/// Length of a greeting's nonce, in bytes.
const NONCE_BYTES: usize = 20;
/// Largest packet that we send, and that we request.
const PACKET_BYTES_MAX: u32 = 16 * 1024 * 1024;
/// `utf8mb4_general_ci`, which every server has; the session's setup selects the real one.
const COLLATION: u8 = 45;
/// The capabilities we offer. Found rather than changed rows are counted, as in other databases.
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
/// The capabilities we require.
const NEEDED: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_DEPRECATE_EOF);

/// Older than `caching_sha2_password`; MySQL also requests it for users that do not exist.
const SHA256_PLUGIN: &[u8] = b"sha256_password";

/// Login parameters.
pub struct Login<'a> {
    /// Name of the user.
    pub user: &'a str,
    /// The password, if there is one.
    pub password: Option<&'a Secret>,
    /// Initial database; `None` for none.
    pub database: Option<&'a str>,
    /// Program name shown in the server's session attributes.
    pub program: &'a str,
    /// TLS with the name for the certificate; `None` for no TLS.
    pub tls: Option<(&'a TlsConnector, &'a str)>,
    /// Whether a server without TLS is accepted although TLS is preferred.
    pub may_do_without: bool,
    /// Whether nobody can eavesdrop on the connection: a unix socket.
    pub is_private: bool,
    /// Whether the server's RSA key is requested over an unencrypted connection.
    pub trusts_server_key: bool,
    /// How the connection is compressed; `None` for not at all.
    pub compression: Option<Compression>,
}

/// Properties of the server, from its greeting.
#[derive(Debug)]
pub struct Greeting {
    /// The server's version, as in the greeting.
    pub version: String,
    /// The server's ID of the session.
    pub thread: u32,
}

/// Logs in on a fresh connection; until the server's greeting, the connection is not there yet.
///
/// # Errors
/// `Refused` when trying again cannot help, `Unavailable` or `Disconnected` when it may.
pub async fn log_in(
    wire: &mut Wire,
    login: &Login<'_>,
    watch: &mut LoginWatch,
) -> Result<Greeting, DbError> {
    let packet = wire.greeting().await?;
    watch.connected();
    if packet.first() == Some(&0xff) {
        return Err(read_error(packet, ErrorContext::Connecting));
    }
    let Offer { known, offered, plugin, nonce } = read_offer(packet)?;
    let has_tls = offered.contains(CapabilityFlags::CLIENT_SSL);
    // MariaDB omits this one when it has capabilities of its own to announce.
    let mut agreed = CAPABILITIES & (offered | CapabilityFlags::CLIENT_LONG_PASSWORD);
    if let Some(compression) = login.compression {
        agreed |= agree_on(compression, offered, &known.version)?;
    }
    if let Some((tls, host)) = login.tls {
        if has_tls {
            agreed |= CapabilityFlags::CLIENT_SSL;
            if login.database.is_some() {
                agreed |= CapabilityFlags::CLIENT_CONNECT_WITH_DB;
            }
            SslRequest::new(agreed, PACKET_BYTES_MAX, COLLATION).serialize(wire.reply());
            wire.send().await?;
            wire.secure(tls, host).await?;
            watch.secured();
        } else if !login.may_do_without {
            let message =
                "it does not offer TLS, which is required; ssl-mode=DISABLED connects without";
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
        // Any version that has four-byte UTF-8.
        (8, 0, 0),
        Some(login.user.as_bytes()),
        login.database.map(str::as_bytes),
        Some(plugin.borrow()),
        agreed,
        Some(attributes),
        PACKET_BYTES_MAX,
    );
    let out = wire.reply();
    response.serialize(&mut *out);
    out.extend(login.compression.and_then(Compression::announced_level));
    wire.send().await?;
    prove_further(wire, login, plugin, nonce).await?;
    if let Some(compression) = login.compression {
        wire.compress(compression)?;
    }
    wire.done();
    watch.authenticated();
    Ok(known)
}

/// The capability of a compression, which the server must offer.
fn agree_on(
    compression: Compression,
    offered: CapabilityFlags,
    version: &str,
) -> Result<CapabilityFlags, DbError> {
    let flag = |of| match of {
        Compression::Zlib => CapabilityFlags::CLIENT_COMPRESS,
        Compression::Zstd => CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM,
    };
    if offered.contains(flag(compression)) {
        return Ok(flag(compression));
    }
    let others = [Compression::Zlib, Compression::Zstd].into_iter();
    let others: Vec<_> = others.filter(|of| offered.contains(flag(*of))).collect();
    let has = match others.first() {
        Some(other) => format!("it offers compression={}", other.name()),
        None => "it offers no compression: leave `compression` out".to_owned(),
    };
    let name = compression.name();
    // MariaDB's version follows one that old replicas need.
    let version = version.trim_start_matches("5.5.5-");
    let message = format!(
        "the server {version} does not offer the compression {name} of its protocol; {has}"
    );
    Err(DbError::new(ErrorClass::Refused, message))
}

/// Contents of a greeting.
#[derive(Debug)]
struct Offer {
    known: Greeting,
    offered: CapabilityFlags,
    /// The authentication method that the server requests, or the one to begin with.
    plugin: AuthPlugin<'static>,
    nonce: Vec<u8>,
}

/// Reads a greeting that we can answer.
fn read_offer(packet: &[u8]) -> Result<Offer, DbError> {
    let offer = read_greeting(packet).map_err(|_| no_greeting())?;
    if !offer.offered.contains(NEEDED) {
        let message = format!(
            "the server {} is too old: at least MySQL 5.7.5 or MariaDB 10.2 is required",
            offer.known.version
        );
        return Err(DbError::new(ErrorClass::Refused, message));
    }
    Ok(offer)
}

/// Parses a greeting, "Protocol::HandshakeV10". The library's parser overflows on some lengths.
fn read_greeting(packet: &[u8]) -> Result<Offer, DbError> {
    let (version, rest) =
        packet.strip_prefix(&[PROTOCOL]).and_then(until_zero).ok_or_else(no_greeting)?;
    let version = String::from_utf8_lossy(version).into_owned();
    let mut rest = Reader(rest);
    let thread = u32::from_le_bytes(rest.fixed()?);
    let mut nonce = rest.fixed::<8>()?.to_vec();
    let [_, low0, low1, _collation, _, _, high0, high1, length] = rest.fixed()?;
    rest.take(10)?;
    let offered = u32::from_le_bytes([low0, low1, high0, high1]);
    let offered = CapabilityFlags::from_bits_truncate(offered);
    if offered.contains(CapabilityFlags::CLIENT_SECURE_CONNECTION) {
        nonce.extend_from_slice(rest.take(usize::from(length).saturating_sub(8).max(13))?);
    }
    nonce.resize(NONCE_BYTES, 0);
    // Some servers omit the zero at its end.
    let plugin = until_zero(rest.0).map_or(rest.0, |(plugin, _)| plugin);
    let plugin = AuthPlugin::from_bytes(plugin).into_owned();
    let plugin = if answers(&plugin) { plugin } else { AuthPlugin::MysqlNativePassword };
    Ok(Offer { known: Greeting { version, thread }, offered, plugin, nonce })
}

/// Reads the server's request to switch the authentication method: which one, and its challenge.
/// The challenge ends with a zero only where it is text: MariaDB's ed25519 sends 32 bytes of any
/// value, the last of which may be zero.
fn read_switch(packet: &[u8]) -> Result<(AuthPlugin<'static>, Vec<u8>), DbError> {
    let read = packet.strip_prefix(&[0xfe]).and_then(until_zero);
    let (plugin, nonce) = read.ok_or_else(|| broken("a switch of the authentication method"))?;
    let plugin = AuthPlugin::from_bytes(plugin).into_owned();
    let nonce = match nonce {
        [nonce @ .., 0] if plugin != AuthPlugin::Ed25519 => nonce,
        nonce => nonce,
    };
    Ok((plugin, nonce.to_vec()))
}

/// The bytes before the first zero, and those after it.
fn until_zero(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// Whether this is an authentication method that we implement.
fn answers(plugin: &AuthPlugin<'_>) -> bool {
    use AuthPlugin as P;
    matches!(plugin, P::MysqlNativePassword | P::CachingSha2Password | P::Ed25519)
}

/// The response that proves knowledge of the password; empty for an empty one.
fn prove(plugin: &AuthPlugin<'_>, login: &Login<'_>, nonce: &[u8]) -> Option<Vec<u8>> {
    let data = plugin.gen_data(login.password.map(Secret::reveal), nonce)?;
    let mut proof = Vec::new();
    data.serialize(&mut proof);
    Some(proof)
}

/// Answers the server's requests until it accepts the login.
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
            [0xff, ..] => return Err(explain(read_error(packet, ErrorContext::Connecting), login)),
            [0xfe, _, ..] => {
                (plugin, nonce) = read_switch(packet)?;
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
            // The server has the password cached; its verdict comes next.
            [0x01, 0x03] => {}
            [0x01, 0x04] if plugin == AuthPlugin::CachingSha2Password => {
                tell_password(wire, login, &nonce, 0x02).await?;
            }
            _ => return Err(broken("an authentication request")),
        }
    }
}

/// Sends the server the password itself, which `caching_sha2_password` requires when it has not
/// seen it since it started, and `sha256_password` always: directly on a private connection, else
/// encrypted with the server's RSA key, and only if the target trusts whoever sends that key.
/// `key_request` requests that key.
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
        let message = "the server requests the password itself, and without TLS \
             anyone on the network path could read it; use ssl-mode=REQUIRED, or \
             get-server-public-key=1 to encrypt it with an unverified key from the server";
        return Err(DbError::new(ErrorClass::Refused, message));
    }
    wire.reply().push(key_request);
    wire.send().await?;
    let key = match wire.packet().await? {
        [0x01, key @ ..] if key.starts_with(b"-----BEGIN PUBLIC KEY-----") => key.to_vec(),
        packet @ [0xff, ..] => return Err(read_error(packet, ErrorContext::Connecting)),
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
        "the server requires the unsupported authentication method `{name}`; supported are \
         mysql_native_password, caching_sha2_password, sha256_password and client_ed25519"
    );
    DbError::new(ErrorClass::Refused, message)
}

/// Adds a hint about what may be missing when the server only rejects the login.
fn explain(error: DbError, login: &Login<'_>) -> DbError {
    if error.code() == Some("1045") && login.password.is_none() {
        let message = format!(
            "{}; no password was given: set TRIPHAMMER_PASSWORD or MYSQL_PWD, or use ~/.my.cnf, \
             --password-file or --ask-password",
            error.message()
        );
        return DbError::new(error.class(), message).with_code("1045");
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The greeting of a MySQL 5.7.5 server, as "Protocol::HandshakeV10" lays it out.
    const GREETING: &[u8] = b"\x0a5.7.5\0\x0b\0\0\0abcdefgh\0\xff\xff\x21\x02\0\xff\xc1\x15\
        \0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0mysql_native_password\0";
    const SWITCH: &[u8] = b"\xfecaching_sha2_password\0abcdefghijklmnopqrst\0";

    fn login(password: Option<&Secret>) -> Login<'_> {
        Login {
            user: "u",
            password,
            database: None,
            program: "p",
            tls: None,
            may_do_without: false,
            is_private: false,
            trusts_server_key: false,
            compression: None,
        }
    }

    /// Every prefix of a packet, and the packet with each byte changed to every other value.
    fn spoilt(packet: &[u8]) -> impl Iterator<Item = Vec<u8>> {
        let beginnings = (0..packet.len()).map(|end| packet[..end].to_vec());
        let places = (0..packet.len()).flat_map(|at| (1..=u8::MAX).map(move |bits| (at, bits)));
        beginnings.chain(places.map(|(at, bits)| {
            let mut other = packet.to_vec();
            other[at] ^= bits;
            other
        }))
    }

    #[test]
    fn a_greeting_and_a_switch_are_read() {
        let offer = read_offer(GREETING).unwrap();
        assert_eq!((offer.known.version.as_str(), offer.known.thread), ("5.7.5", 11));
        assert_eq!(offer.nonce, b"abcdefghijklmnopqrst");
        assert_eq!(offer.plugin, AuthPlugin::MysqlNativePassword);
        let (plugin, nonce) = read_switch(SWITCH).unwrap();
        assert_eq!((plugin, nonce.as_slice()), (AuthPlugin::CachingSha2Password, &SWITCH[23..43]));
    }

    /// A nonce of ed25519 has 32 bytes, whatever they are.
    #[test]
    fn a_zero_at_the_end_of_a_nonce_belongs_to_it() {
        let (plugin, nonce) =
            read_switch(b"\xfeclient_ed25519\0abcdefghijklmnopqrstuvwxyz01234\0").unwrap();
        assert_eq!((plugin, nonce.len()), (AuthPlugin::Ed25519, 32));
    }

    /// Any input from a server is either parsed or rejected, and parsed input can be answered.
    #[test]
    fn spoilt_packets_end_in_errors_or_answers() {
        let password = Secret::new("secret");
        let login = login(Some(&password));
        let (mut read, mut refused) = (0, 0);
        for packet in spoilt(GREETING) {
            match read_offer(&packet) {
                Ok(offer) => {
                    read += 1;
                    let proof = prove(&offer.plugin, &login, &offer.nonce).unwrap_or_default();
                    assert!(proof.len() <= 64 && offer.nonce.len() <= 255);
                }
                Err(error) => {
                    refused += 1;
                    assert_eq!(error.class(), ErrorClass::Refused, "{error}");
                }
            }
        }
        assert!(read > 1_000 && refused > 100, "{read} {refused}");
        for packet in spoilt(SWITCH) {
            if let Ok((plugin, nonce)) = read_switch(&packet) {
                assert!(nonce.len() <= packet.len());
                let _ = prove(&plugin, &login, &nonce);
            }
        }
    }
}

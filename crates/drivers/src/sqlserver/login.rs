//! The first messages: which encryption both sides want, and the login.

use std::sync::Arc;

use tokio_rustls::TlsConnector;
use triphammer_core::rows::Rows;
use triphammer_core::{DbError, ErrorClass};

use super::connection::{Connection, Route};
use super::error::broken;
use super::reader::put_utf16;
use super::tokens::{Answer, Keep, Redirect};
use super::wire::{Wire, message_type};
use crate::target::Secret;

/// Versions of the protocol.
const TDS_7_4: u32 = 0x7400_0004;
const TDS_8_0: u32 = 0x0800_0000;
/// Most characters of a name or password in a login.
const NAME_CHARS_MAX: usize = 128;
/// Longest answer to the first message, in bytes.
const PRELOGIN_BYTES_MAX: usize = 4096;
/// Name of the client library.
const LIBRARY: &str = "triphammer";
/// The feature that texts in UTF-8 are understood.
const UTF8_SUPPORT: u8 = 0x0a;

/// How the connection is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encrypt {
    /// Only the login, if the server can; the server is not verified.
    Off,
    /// Everything.
    On,
    /// Everything from the first byte (TDS 8.0).
    Strict,
}

/// What both sides say about encryption.
mod encryption {
    pub const OFF: u8 = 0;
    pub const ON: u8 = 1;
    pub const NOT_SUPPORTED: u8 = 2;
    pub const REQUIRED: u8 = 3;
}

/// Options of the first message.
mod option {
    pub const VERSION: u8 = 0;
    pub const ENCRYPTION: u8 = 1;
    pub const INSTANCE: u8 = 2;
    pub const THREAD: u8 = 3;
    pub const MARS: u8 = 4;
    pub const END: u8 = 0xff;
}

/// What a login says.
pub(super) struct Login<'a> {
    pub(super) encrypt: Encrypt,
    /// TLS set-up, and the name that the certificate is issued for.
    pub(super) tls: (&'a TlsConnector, &'a str),
    pub(super) user: &'a str,
    pub(super) password: Option<&'a Secret>,
    /// `None` for the user's default.
    pub(super) database: Option<&'a str>,
    /// Host as the target names it.
    pub(super) server: &'a str,
    pub(super) instance: &'a str,
    pub(super) application: &'a str,
    pub(super) packet_bytes: u16,
    pub(super) reads_only: bool,
}

/// What a login leads to.
pub(super) enum Outcome {
    Connected(Box<Connection>),
    Redirected(Redirect),
}

/// Logs in over a new connection.
///
/// # Errors
/// When either side refuses, or the connection breaks.
pub(super) async fn log_in(
    mut wire: Wire,
    login: &Login<'_>,
    route: Route,
) -> Result<Outcome, DbError> {
    let (tls, host) = login.tls;
    if login.encrypt == Encrypt::Strict {
        wire.secure(tls, host, false).await?;
    }
    let only_login = match greet(&mut wire, login).await? {
        _ if login.encrypt == Encrypt::Strict => false,
        encryption::NOT_SUPPORTED if login.encrypt == Encrypt::Off => false,
        encryption::NOT_SUPPORTED => {
            let message = "the server offers no encryption; encrypt=off connects without, and sends \
                           the password readable";
            return Err(DbError::new(ErrorClass::Refused, message));
        }
        offered => {
            wire.secure(tls, host, true).await?;
            offered == encryption::OFF && login.encrypt == Encrypt::Off
        }
    };
    wire.command()?;
    put_login(wire.reply(), login)?;
    wire.send(message_type::LOGIN).await?;
    if only_login {
        wire.unsecure();
    }
    let answer = Answer::of_login();
    let mut connection = Connection::new(wire, answer, route);
    connection.results(Keep::Nothing, &mut Rows::new(), |_| Ok(())).await?;
    connection.answer.connecting = false;
    if let Some(redirect) = connection.answer.redirect.take() {
        return Ok(Outcome::Redirected(redirect));
    }
    if !connection.answer.is_logged_in {
        return Err(broken("a login without confirmation"));
    }
    if let Some(bytes) = connection.answer.packet_bytes.take() {
        connection.wire.set_packet_bytes(bytes)?;
    }
    Ok(Outcome::Connected(Box::new(connection)))
}

/// Exchanges the first messages; returns what the server says about encryption.
async fn greet(wire: &mut Wire, login: &Login<'_>) -> Result<u8, DbError> {
    let wanted = match login.encrypt {
        Encrypt::Off => encryption::OFF,
        Encrypt::On => encryption::ON,
        // Everything is encrypted already.
        Encrypt::Strict => encryption::NOT_SUPPORTED,
    };
    let mut instance = login.instance.as_bytes().to_vec();
    instance.push(0);
    let options: [(u8, &[u8]); 5] = [
        (option::VERSION, &[1, 0, 0, 0, 0, 0]),
        (option::ENCRYPTION, &[wanted]),
        (option::INSTANCE, &instance),
        (option::THREAD, &std::process::id().to_be_bytes()),
        (option::MARS, &[0]),
    ];
    put_options(wire.command()?, &options);
    wire.send(message_type::PRELOGIN).await?;
    while !wire.has_ended() {
        if wire.data().len() > PRELOGIN_BYTES_MAX {
            return Err(broken("a first message of that length"));
        }
        wire.more().await?;
    }
    let offered = read_option(wire.data(), option::ENCRYPTION)?;
    wire.consume(wire.data().len());
    wire.done();
    match offered {
        Some([offered @ encryption::OFF..=encryption::REQUIRED]) => Ok(offered),
        _ => Err(broken("its encryption setting")),
    }
}

/// Writes options: a table of their places, then their contents.
fn put_options(out: &mut Vec<u8>, options: &[(u8, &[u8])]) {
    let short = |number: usize| u16::try_from(number).expect("options are short").to_be_bytes();
    let mut place = 5 * options.len() + 1;
    for (option, content) in options {
        out.push(*option);
        out.extend_from_slice(&short(place));
        out.extend_from_slice(&short(content.len()));
        place += content.len();
    }
    out.push(option::END);
    for (_, content) in options {
        out.extend_from_slice(content);
    }
}

/// Finds the content of an option of one byte.
fn read_option(message: &[u8], wanted: u8) -> Result<Option<[u8; 1]>, DbError> {
    let mut rest = message;
    loop {
        let Some((&[option, place_high, place_low, length_high, length_low], after)) =
            rest.split_first_chunk()
        else {
            return if rest.first() == Some(&option::END) { Ok(None) } else { Err(bad_options()) };
        };
        if option == option::END {
            return Ok(None);
        }
        let place = usize::from(u16::from_be_bytes([place_high, place_low]));
        let length = usize::from(u16::from_be_bytes([length_high, length_low]));
        let content = message.get(place..place + length).ok_or_else(bad_options)?;
        if option == wanted {
            return Ok(content.first().map(|byte| [*byte]));
        }
        rest = after;
    }
}

fn bad_options() -> DbError {
    broken("its first message")
}

/// Writes the login: numbers, a table of the places of texts, the texts.
fn put_login(out: &mut Vec<u8>, login: &Login<'_>) -> Result<(), DbError> {
    let start = out.len();
    let version = if login.encrypt == Encrypt::Strict { TDS_8_0 } else { TDS_7_4 };
    for number in [0, version, u32::from(login.packet_bytes), 0x0100_0000, std::process::id(), 0] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    // Fail without the database or the language, report both; behave as an ODBC client, with the
    // settings of the standard; an extension follows.
    let reads_only = if login.reads_only { 0x20 } else { 0 };
    out.extend_from_slice(&[0xe0, 0x03, reads_only, 0x10]);
    // Time zone and locale of the client.
    out.extend_from_slice(&[0; 8]);
    let host = whoami::hostname().unwrap_or_default();
    let host: String = host.chars().take(NAME_CHARS_MAX).collect();
    let password = login.password.map_or("", |password| password.reveal());
    let table = out.len();
    let mut texts = Vec::new();
    let table_bytes = 9 * 4 + 6 + 3 * 4 + 4;
    let first = table - start + table_bytes;
    let mut places = Vec::with_capacity(table_bytes);
    let mut put = |what: &str, text: &str, hide: bool| -> Result<(), DbError> {
        let (place, from) = (first + texts.len(), texts.len());
        put_utf16(&mut texts, text);
        let units = (texts.len() - from) / 2;
        if units > NAME_CHARS_MAX {
            let message = format!("the {what} is longer than {NAME_CHARS_MAX} characters");
            return Err(DbError::new(ErrorClass::Refused, message));
        }
        if hide {
            for byte in &mut texts[from..] {
                *byte = byte.rotate_left(4) ^ 0xa5;
            }
        }
        put_place(&mut places, place, units);
        Ok(())
    };
    put("name of this host", &host, false)?;
    put("user", login.user, false)?;
    put("password", password, true)?;
    put("application name", login.application, false)?;
    put("server", login.server, false)?;
    // The extension is a pointer to the list of features.
    put("extension", "  ", false)?;
    put("library", LIBRARY, false)?;
    put("language", "", false)?;
    put("database", login.database.unwrap_or_default(), false)?;
    // A network address, and three more texts: a ticket, a file, a new password.
    places.extend_from_slice(&[0; 6]);
    let end = first + texts.len();
    for _ in 0..3 {
        put_place(&mut places, end, 0);
    }
    places.extend_from_slice(&[0; 4]);
    // Each entry has four bytes, and the extension is the sixth.
    let extension = usize::from(u16::from_le_bytes([places[20], places[21]])) - first;
    let pointer = u32::try_from(end).expect("a login is short");
    texts[extension..extension + 4].copy_from_slice(&pointer.to_le_bytes());
    out.extend_from_slice(&places);
    out.extend_from_slice(&texts);
    out.extend_from_slice(&[UTF8_SUPPORT, 0, 0, 0, 0, 0xff]);
    // The entry counts bytes rather than characters.
    out[table + 22..table + 24].copy_from_slice(&4u16.to_le_bytes());
    let length = u32::try_from(out.len() - start).expect("a login is short");
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

fn put_place(places: &mut Vec<u8>, place: usize, units: usize) {
    for number in [place, units] {
        let number = u16::try_from(number).expect("a login is short");
        places.extend_from_slice(&number.to_le_bytes());
    }
}

/// The cancel flag of a new connection.
pub(super) type Flag = Arc<super::cancel::CancelFlag>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_read_what_they_write() {
        let mut out = Vec::new();
        put_options(&mut out, &[(option::VERSION, &[1, 2]), (option::ENCRYPTION, &[3])]);
        assert_eq!(read_option(&out, option::ENCRYPTION).unwrap(), Some([3]));
        assert_eq!(read_option(&out, option::MARS).unwrap(), None);
        for length in 0..out.len() {
            let read = read_option(&out[..length], option::ENCRYPTION);
            assert!(read.is_err() || length > 10, "{length}");
        }
        assert!(read_option(&[1, 0xff, 0xff, 0xff, 0xff, 0xff], 1).is_err());
    }
}

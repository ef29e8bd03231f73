//! The beginning of a connection of PostgreSQL's protocol: requests for encryption are answered here, a request to cancel
//! goes to the server on a connection of its own, and a session begins with the client's own message. Who the client is,
//! client and server settle between them.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use triphammer_drivers::postgres::Tunnel;

use crate::Client;

/// Codes of first messages (manual, "Message Formats").
const TLS: i32 = 80_877_103;
const GSS: i32 = 80_877_104;
const CANCEL: i32 = 80_877_102;
/// The version of the protocol, without its minor number.
const MAJOR: i32 = 3;
/// Longest first message, in bytes: the server's own limit.
const STARTUP_BYTES_MAX: usize = 10_000;
/// Most requests for encryption before a session: TLS and GSS, in any order.
const ASKED_MAX: usize = 4;

/// How a connection begins.
pub enum Beginning {
    /// With a session, whose first message is this one.
    Session(Client, Vec<u8>),
    /// With a request to cancel, which is this one.
    Cancel(Vec<u8>),
    /// With nothing that is a beginning.
    Nonsense,
}

/// Reads the first messages of a client.
///
/// # Errors
/// When the connection ends.
pub async fn begin(stream: TcpStream, tls: Option<&TlsAcceptor>) -> io::Result<Beginning> {
    let mut client = Client::Plain(stream);
    for _ in 0..ASKED_MAX {
        let mut head = [0; 8];
        client.read_exact(&mut head).await?;
        let [a, b, c, d, code @ ..] = head;
        let length = usize::try_from(i32::from_be_bytes([a, b, c, d])).unwrap_or_default();
        let code = i32::from_be_bytes(code);
        if !(head.len()..=STARTUP_BYTES_MAX).contains(&length) {
            return Ok(Beginning::Nonsense);
        }
        let mut message = head.to_vec();
        message.resize(length, 0);
        client.read_exact(&mut message[head.len()..]).await?;
        match (code, client, tls) {
            (TLS, Client::Plain(mut plain), Some(acceptor)) => {
                plain.write_all(b"S").await?;
                client = Client::Tls(Box::new(acceptor.accept(plain).await?));
            }
            (TLS | GSS, mut same, _) => {
                same.write_all(b"N").await?;
                same.flush().await?;
                client = same;
            }
            (CANCEL, ..) => return Ok(Beginning::Cancel(message)),
            (_, same, _) if code >> 16 == MAJOR => return Ok(Beginning::Session(same, message)),
            _ => return Ok(Beginning::Nonsense),
        }
    }
    Ok(Beginning::Nonsense)
}

/// Sends a request to cancel to the server, and waits until that has taken it.
pub async fn cancel(tunnel: &Tunnel, request: &[u8]) {
    let Ok(mut server) = tunnel.connect().await else { return };
    if server.write_all(request).await.is_ok() && server.flush().await.is_ok() {
        while matches!(server.read(&mut [0; 64]).await, Ok(1..)) {}
    }
}

/// Most messages of a server before it says how to log in: its version, and notices.
const BEFORE_LOGIN_MAX: usize = 10;
/// Longest such message, in bytes.
const BEFORE_LOGIN_BYTES_MAX: usize = 64 * 1024;
/// The request for one of the mechanisms that follow.
const SASL: [u8; 4] = [0, 0, 0, 10];
/// The mechanism that is bound to TLS.
const PLUS: &[u8] = b"SCRAM-SHA-256-PLUS";

/// Passes on how a server wants a client without TLS to log in, when the server itself has TLS: without the mechanism that
/// is bound to it, which clients reject. Returns the messages.
///
/// # Errors
/// When a connection ends, or a message is too long.
pub async fn pass_mechanisms(
    server: &mut (impl AsyncRead + Unpin),
    client: &mut (impl AsyncWrite + Unpin),
) -> io::Result<Vec<u8>> {
    let mut passed = Vec::new();
    for _ in 0..BEFORE_LOGIN_MAX {
        let mut head = [0; 5];
        server.read_exact(&mut head).await?;
        let [tag, length @ ..] = head;
        let length = u32::from_be_bytes(length) as usize;
        if !(4..=BEFORE_LOGIN_BYTES_MAX).contains(&length) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no message before a log-in"));
        }
        let mut body = vec![0; length - 4];
        server.read_exact(&mut body).await?;
        if tag == b'R' {
            body = without_plus(&body);
        }
        let length = u32::try_from(body.len() + 4).unwrap_or_default();
        let message = [&[tag][..], &length.to_be_bytes(), &body].concat();
        client.write_all(&message).await?;
        passed.extend_from_slice(&message);
        if matches!(tag, b'R' | b'E') {
            break;
        }
    }
    client.flush().await?;
    Ok(passed)
}

/// The body of a request to log in, without the mechanism that is bound to TLS.
fn without_plus(body: &[u8]) -> Vec<u8> {
    let Some(mechanisms) = body.strip_prefix(&SASL) else { return body.to_vec() };
    let kept = mechanisms.split_inclusive(|byte| *byte == 0);
    let kept = kept.filter(|name| name.strip_suffix(b"\0") != Some(PLUS));
    [&SASL[..], &kept.collect::<Vec<_>>().concat()].concat()
}

/// The message to a client whose session cannot reach the server.
pub fn refusal(why: &str) -> Vec<u8> {
    let mut body = Vec::new();
    for (field, text) in [(b'S', "FATAL"), (b'V', "FATAL"), (b'C', "08006"), (b'M', why)] {
        body.push(field);
        body.extend(text.bytes().filter(|byte| *byte != 0));
        body.push(0);
    }
    body.push(0);
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    [&b"E"[..], &length.to_be_bytes(), &body].concat()
}

/// The parameters of a session's first message.
pub fn parameters(message: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut texts = message.get(8..).unwrap_or_default().split(|byte| *byte == 0);
    std::iter::from_fn(move || {
        let name = texts.next().filter(|name| !name.is_empty())?;
        Some((name, texts.next()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mechanism_that_is_bound_to_tls_is_taken_out() {
        let both = [&SASL[..], b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"].concat();
        assert_eq!(without_plus(&both), [&SASL[..], b"SCRAM-SHA-256\0\0"].concat());
        assert_eq!(without_plus(&[0, 0, 0, 5, 1, 2, 3, 4]), [0, 0, 0, 5, 1, 2, 3, 4]);
    }

    #[test]
    fn parameters_end_with_an_empty_name() {
        let message = b"\0\0\0\x20\0\x03\0\0user\0bob\0database\0shop\0\0";
        let read: Vec<_> = parameters(message).collect();
        assert_eq!(read, [(&b"user"[..], &b"bob"[..]), (b"database", b"shop")]);
        assert_eq!(parameters(b"\0\0").count(), 0);
        assert_eq!(parameters(b"\0\0\0\x20\0\x03\0\0user").count(), 0);
    }
}

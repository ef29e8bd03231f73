//! The beginning of a connection of MySQL's protocol: the server's greeting, TLS on either side, and the log-in, packet by
//! packet. Who the client is, client and server settle between them; here, features are taken out of the greeting that
//! would hide what passes, and packets are renumbered where only one side has TLS.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use triphammer_drivers::mysql::{Tunnel, TunnelTls};
use triphammer_drivers::tunnel::Stream;

use super::capability as c;
use crate::Client;

/// Longest packet of a log-in, in bytes.
const PACKET_BYTES_MAX: usize = 64 * 1024;
/// Most packets of a log-in.
const PACKETS_MAX: usize = 100;
/// Capabilities that would hide what passes: compression, attributes of queries, results without columns.
const HIDING: u32 = c::COMPRESS | c::ZSTD | c::QUERY_ATTRIBUTES | c::OPTIONAL_METADATA;
/// MariaDB's own capabilities that stay: longer definitions of columns.
const OF_MARIADB: u32 = c::MARIADB_EXTENDED_METADATA;
/// The part of a response that a request for TLS has, too.
const RESPONSE_HEAD_BYTES: usize = 32;

/// What became of a client that connected.
pub enum Begun {
    /// A session.
    Session(Box<BegunSession>),
    /// Nothing: the server cannot be reached, and the client has been told.
    Unreached,
    /// Nothing: the log-in failed, and the client has been told.
    Rejected,
}

/// A session that has begun.
pub struct BegunSession {
    /// The client.
    pub client: Client,
    /// The server.
    pub server: Stream,
    /// The client's response to the greeting.
    pub response: Vec<u8>,
    /// The server's last packet of the log-in, with its head.
    pub verdict: Vec<u8>,
}

/// A packet of a log-in.
struct Packet {
    sequence: u8,
    body: Vec<u8>,
}

impl Packet {
    async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Self> {
        let mut head = [0; 4];
        from.read_exact(&mut head).await?;
        let [low, middle, high, sequence] = head;
        let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
        if length > PACKET_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no packet of a log-in"));
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body).await?;
        Ok(Self { sequence, body })
    }

    /// The packet with its head, with its number moved by this much.
    fn moved(&self, by: i8) -> Vec<u8> {
        let length = u32::try_from(self.body.len()).unwrap_or_default();
        let [low, middle, high, _] = length.to_le_bytes();
        let sequence = self.sequence.wrapping_add_signed(by);
        [&[low, middle, high, sequence][..], &self.body].concat()
    }

    async fn write(&self, by: i8, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        to.write_all(&self.moved(by)).await?;
        to.flush().await
    }
}

/// Begins a session between a client and the server.
///
/// # Errors
/// When a connection ends, or does not have the protocol.
pub async fn begin(
    stream: TcpStream,
    tls: Option<&TlsAcceptor>,
    tunnel: &Tunnel,
) -> io::Result<Begun> {
    let mut client = Client::Plain(stream);
    let mut socket = match tunnel.connect().await {
        Ok(socket) => socket,
        Err(error) => {
            let why = format!("the server behind the proxy cannot be reached: {}", error.message());
            refuse(&mut client, 0, &why).await?;
            return Ok(Begun::Unreached);
        }
    };
    let mut greeting = Packet::read(&mut socket).await?;
    let Some(offered) = offer(&mut greeting.body, tls.is_some()) else {
        // An error, as of a server that has no room.
        greeting.write(0, &mut client).await?;
        return Ok(Begun::Rejected);
    };
    greeting.write(0, &mut client).await?;
    let mut response = Packet::read(&mut client).await?;
    let mut ahead = 0;
    let asks = response.body.len() == RESPONSE_HEAD_BYTES
        && capabilities(&response.body).is_some_and(|own| own & c::TLS != 0);
    if let Some(acceptor) = tls.filter(|_| asks) {
        let Client::Plain(plain) = client else { return Ok(Begun::Rejected) };
        client = Client::Tls(Box::new(acceptor.accept(plain).await?));
        response = Packet::read(&mut client).await?;
        ahead += 1;
    }
    let uses_tls = match tunnel.tls() {
        TunnelTls::Never => false,
        TunnelTls::Preferred => offered & c::TLS != 0,
        TunnelTls::Required if offered & c::TLS == 0 => {
            let why = "the server behind the proxy does not offer TLS, which its URL requires";
            return refuse(&mut client, response.sequence.wrapping_add(1), why).await;
        }
        TunnelTls::Required => true,
    };
    if !limit(&mut response.body, offered, uses_tls) {
        let why = "the proxy needs a client of MySQL 4.1 or later";
        return refuse(&mut client, response.sequence.wrapping_add(1), why).await;
    }
    let mut server = if uses_tls {
        let body = response.body[..RESPONSE_HEAD_BYTES].to_vec();
        Packet { sequence: 1, body }.write(0, &mut socket).await?;
        ahead -= 1;
        match tunnel.secure(socket).await {
            Ok(stream) => stream,
            Err(error) => {
                let why = format!("TLS to the server behind the proxy: {}", error.message());
                return refuse(&mut client, response.sequence.wrapping_add(1), &why).await;
            }
        }
    } else {
        Stream::Plain(socket)
    };
    response.write(-ahead, &mut server).await?;
    let response = response.body;
    let verdict = log_in(&mut client, &mut server, ahead).await?;
    Ok(match verdict {
        Some(verdict) => {
            Begun::Session(Box::new(BegunSession { client, server, response, verdict }))
        }
        None => Begun::Rejected,
    })
}

/// Passes the packets of a log-in until the server's verdict; `None` if that is no.
async fn log_in(
    client: &mut Client,
    server: &mut Stream,
    ahead: i8,
) -> io::Result<Option<Vec<u8>>> {
    for _ in 0..PACKETS_MAX {
        let packet = Packet::read(server).await?;
        packet.write(ahead, client).await?;
        match *packet.body {
            [0x00, ..] => return Ok(Some(packet.moved(0))),
            [0xff, ..] => return Ok(None),
            // The server has the password cached; its verdict follows.
            [0x01, 0x03] => {}
            _ => Packet::read(client).await?.write(-ahead, server).await?,
        }
    }
    Ok(None)
}

/// Takes out of a greeting what would hide what passes, and offers TLS if the proxy has it; returns what the server
/// offered. `None` if it is no greeting.
fn offer(greeting: &mut [u8], has_tls: bool) -> Option<u32> {
    let (version, rest) = greeting.split_first_mut()?;
    if *version != 10 {
        return None;
    }
    // After the server's version: thread, the first part of a challenge, and a zero.
    let end = rest.iter().position(|byte| *byte == 0)?;
    let rest = rest.get_mut(end + 1 + 4 + 8 + 1..)?;
    // Two bytes of capabilities, character set, status, two more bytes, a length, and what MariaDB uses.
    let [a, b, _, _, _, d, e, _, _, _, _, _, _, _, of_maria @ ..] = rest else { return None };
    let all = u32::from_le_bytes([*a, *b, *d, *e]);
    let mut offered = all & !HIDING & !c::TLS;
    if has_tls {
        offered |= c::TLS;
    }
    [*a, *b, *d, *e] = offered.to_le_bytes();
    // MariaDB has more capabilities if it does not have the first one.
    if all & c::LONG_PASSWORD == 0
        && let Some(own) = of_maria.first_chunk_mut::<4>()
    {
        *own = (u32::from_le_bytes(*own) & OF_MARIADB).to_le_bytes();
    }
    Some(all)
}

/// The capabilities of a client's response.
fn capabilities(response: &[u8]) -> Option<u32> {
    response.first_chunk::<4>().map(|own| u32::from_le_bytes(*own))
}

/// Takes out of a response what the greeting did not offer; whether TLS is used is what the way to the server says.
/// Returns whether it can be read.
fn limit(response: &mut [u8], offered: u32, uses_tls: bool) -> bool {
    let Some(own) = capabilities(response).filter(|_| response.len() >= RESPONSE_HEAD_BYTES) else {
        return false;
    };
    let mut agreed = own & !HIDING & !c::TLS;
    if uses_tls {
        agreed |= c::TLS;
    }
    response[..4].copy_from_slice(&agreed.to_le_bytes());
    if offered & c::LONG_PASSWORD == 0 && agreed & c::LONG_PASSWORD == 0 {
        let own = &mut response[RESPONSE_HEAD_BYTES - 4..RESPONSE_HEAD_BYTES];
        let kept = own.first_chunk::<4>().map_or(0, |own| u32::from_le_bytes(*own)) & OF_MARIADB;
        own.copy_from_slice(&kept.to_le_bytes());
    }
    agreed & c::PROTOCOL_41 != 0
}

/// Tells the client why its session does not begin.
async fn refuse(client: &mut Client, sequence: u8, why: &str) -> io::Result<Begun> {
    // CR_CONN_HOST_ERROR, which clients have for a server that cannot be reached.
    let body = [&b"\xff\xd3\x07#08S01"[..], why.as_bytes()].concat();
    Packet { sequence, body }.write(0, client).await?;
    client.shutdown().await?;
    Ok(Begun::Rejected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_does_not_offer_what_hides_what_passes() {
        let all = !c::LONG_PASSWORD;
        let [a, b, d, e] = all.to_le_bytes();
        let mut greeting = [
            &b"\x0a5.5.5-10.11-MariaDB\0\x07\0\0\0abcdefgh\0"[..],
            &[a, b, 45, 2, 0, d, e, 21, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff],
            b"ijklmnopqrst\0mysql_native_password\0",
        ]
        .concat();
        let length = greeting.len();
        assert_eq!(offer(&mut greeting, false), Some(all));
        assert_eq!(greeting.len(), length);
        // What was offered is what is left of all.
        let left = all & !HIDING & !c::TLS;
        assert_eq!(offer(&mut greeting, true), Some(left));
        assert_eq!(offer(&mut greeting, true), Some(left | c::TLS));
        assert_eq!(offer(&mut [0xff, 0x10, 0x04], true), None);
        for end in 0..40 {
            assert_eq!(offer(&mut greeting.clone()[..end], true), None, "{end}");
        }
    }
}

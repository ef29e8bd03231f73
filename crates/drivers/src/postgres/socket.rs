//! Sockets, set up for a load test: no delay, and limits on silence.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use triphammer_core::{DbError, ErrorClass};

#[cfg(unix)]
use super::unix::UnixSocket;
use super::url::{Host, Place, socket_path};

/// Silence after which the system asks whether the other end is still there, and between askings.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
/// The message that asks a server for TLS: its length and a number that is no protocol version.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// One address of a host.
#[derive(Clone, Debug)]
pub enum Address {
    /// TCP.
    Tcp(SocketAddr),
    /// File of a unix socket.
    #[cfg(unix)]
    Unix(std::path::PathBuf),
}

/// A connected socket of either kind.
#[derive(Debug)]
pub enum Socket {
    /// TCP.
    Tcp(TcpStream),
    /// Unix.
    #[cfg(unix)]
    Unix(UnixSocket),
}

/// Limits of a socket.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For making the connection.
    pub connect: Duration,
    /// For sent data to be acknowledged.
    pub tcp_user: Duration,
}

/// Finds the addresses of a host.
///
/// # Errors
/// `Disconnected` when the name has none.
pub async fn resolve(host: &Host, limit: Duration) -> Result<Vec<Address>, DbError> {
    let name = match &host.place {
        #[cfg(unix)]
        Place::Unix(folder) => return Ok(vec![Address::Unix(socket_path(folder, host.port))]),
        #[cfg(not(unix))]
        Place::Unix(_) => {
            let message = "unix sockets are not there on this system";
            return Err(DbError::new(ErrorClass::Unsupported, message));
        }
        Place::Tcp(name) => name,
    };
    let failed = |cause: String| {
        DbError::new(ErrorClass::Disconnected, format!("could not find host `{name}`: {cause}"))
    };
    let lookup = tokio::net::lookup_host((name.as_str(), host.port));
    let found: Vec<_> = match timeout(limit, lookup).await {
        Err(_) => return Err(failed(format!("no answer within {} s", limit.as_secs()))),
        Ok(Err(error)) => return Err(failed(error.to_string())),
        Ok(Ok(addresses)) => addresses.map(Address::Tcp).collect(),
    };
    if found.is_empty() { Err(failed("it has no address".into())) } else { Ok(found) }
}

impl Socket {
    /// Connects to an address.
    ///
    /// # Errors
    /// `Disconnected`, naming `label`.
    pub async fn connect(address: &Address, label: &str, limits: Limits) -> Result<Self, DbError> {
        let failed = |cause: String| {
            DbError::new(ErrorClass::Disconnected, format!("could not connect to {label}: {cause}"))
        };
        let attempt = async {
            match address {
                Address::Tcp(address) => TcpStream::connect(address).await.map(Self::Tcp),
                #[cfg(unix)]
                Address::Unix(file) => UnixSocket::connect(file).await.map(Self::Unix),
            }
        };
        let socket = match timeout(limits.connect, attempt).await {
            Err(_) => {
                return Err(failed(format!("no answer within {} s", limits.connect.as_secs())));
            }
            Ok(Err(error)) => return Err(failed(plain(&error))),
            Ok(Ok(socket)) => socket,
        };
        socket.set_up(limits).map_err(|error| failed(plain(&error)))?;
        Ok(socket)
    }

    fn set_up(&self, limits: Limits) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                stream.set_nodelay(true)?;
                let socket = SockRef::from(stream);
                let keepalive =
                    TcpKeepalive::new().with_time(KEEPALIVE_IDLE).with_interval(KEEPALIVE_INTERVAL);
                socket.set_tcp_keepalive(&keepalive)?;
                #[cfg(target_os = "linux")]
                socket.set_tcp_user_timeout(Some(limits.tcp_user))?;
                #[cfg(not(target_os = "linux"))]
                let _ = limits.tcp_user;
            }
            #[cfg(unix)]
            Self::Unix(_) => {}
        }
        Ok(())
    }

    /// Asks the server for TLS, and says whether it agrees.
    ///
    /// # Errors
    /// When the connection breaks, or the server answers with neither yes nor no.
    pub async fn ask_for_tls(&mut self) -> Result<bool, DbError> {
        let mut answer = [0];
        let asked = async {
            self.write_all(&TLS_REQUEST).await?;
            self.read_exact(&mut answer).await
        };
        asked.await.map_err(|error| {
            let message = format!("lost the connection when asking for TLS: {}", plain(&error));
            DbError::new(ErrorClass::Disconnected, message)
        })?;
        match answer[0] {
            b'S' => Ok(true),
            b'N' => Ok(false),
            b'E' => Err(DbError::new(
                ErrorClass::Unavailable,
                "the server answered the request for TLS with an error",
            )),
            _ => Err(DbError::new(
                ErrorClass::Refused,
                "the server's answer is not PostgreSQL's; is this the right port?",
            )),
        }
    }

    /// Whether the other end is on this host, as far as addresses say.
    pub fn is_same_host(&self) -> bool {
        match self {
            Self::Tcp(stream) => match (stream.peer_addr(), stream.local_addr()) {
                (Ok(peer), Ok(local)) => peer.ip().is_loopback() || peer.ip() == local.ip(),
                _ => false,
            },
            #[cfg(unix)]
            Self::Unix(_) => true,
        }
    }

    /// `tcp` or `unix socket`.
    pub fn transport(&self) -> &'static str {
        match self {
            Self::Tcp(_) => "tcp",
            #[cfg(unix)]
            Self::Unix(_) => "unix socket",
        }
    }
}

/// An I/O error without "(os error 111)", beginning in lower case.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(cx, buffer),
            #[cfg(unix)]
            Self::Unix(socket) => socket.poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(cx, data),
            #[cfg(unix)]
            Self::Unix(socket) => socket.poll_write(cx, data),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(cx),
            #[cfg(unix)]
            Self::Unix(_) => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(cx),
            #[cfg(unix)]
            Self::Unix(socket) => Poll::Ready(socket.shutdown()),
        }
    }
}

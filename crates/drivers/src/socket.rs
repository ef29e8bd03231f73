//! Sockets, set up for a load test: no delay, and limits on silence.

use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use triphammer_core::{DbError, ErrorClass};

#[cfg(unix)]
use crate::unix::UnixSocket;

/// Silence after which the system asks whether the other end is still there, and between askings.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);

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

/// Whether a host name or address is this host.
pub fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Finds the addresses of a host.
///
/// # Errors
/// `Disconnected` when the name has none.
pub async fn resolve(name: &str, port: u16, limit: Duration) -> Result<Vec<Address>, DbError> {
    let failed = |cause: String| {
        DbError::new(ErrorClass::Disconnected, format!("could not find host `{name}`: {cause}"))
    };
    let lookup = tokio::net::lookup_host((name, port));
    let found: Vec<_> = match timeout(limit, lookup).await {
        Err(_) => return Err(failed(format!("no answer within {} s", limit.as_secs()))),
        Ok(Err(error)) => return Err(failed(error.to_string())),
        Ok(Ok(addresses)) => addresses.map(Address::Tcp).collect(),
    };
    if found.is_empty() { Err(failed("it has no address".into())) } else { Ok(found) }
}

impl Address {
    /// The address of a unix socket.
    ///
    /// # Errors
    /// `Unsupported` on systems without them.
    pub fn unix(file: std::path::PathBuf) -> Result<Self, DbError> {
        #[cfg(unix)]
        return Ok(Self::Unix(file));
        #[cfg(not(unix))]
        {
            let message = format!("this system has no unix sockets: {}", file.display());
            Err(DbError::new(ErrorClass::Unsupported, message))
        }
    }
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

    /// How many bytes wait to be read, as far as one; 0 at the end. The system is asked only when the
    /// runtime has heard of something.
    pub fn peek(&self) -> Poll<io::Result<usize>> {
        let mut cx = Context::from_waker(Waker::noop());
        let mut byte = [MaybeUninit::uninit()];
        match self {
            Self::Tcp(stream) => {
                ready!(stream.poll_read_ready(&mut cx))?;
                Poll::Ready(SockRef::from(stream).peek(&mut byte))
            }
            #[cfg(unix)]
            Self::Unix(socket) => socket.peek(&mut cx, &mut byte),
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
pub fn plain(error: &io::Error) -> String {
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

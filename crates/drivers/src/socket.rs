//! Sockets configured for a load test: no delay, and limits on silence. Each counts its bytes into
//! the [`traffic`] of its thread.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use triphammer_core::{DbError, ErrorClass, traffic};
use triphammer_proxy::{Relay, Upstream};

/// Type that the runtime waits on.
#[cfg(target_os = "linux")]
type Io = crate::waited_socket::WaitedSocket;
#[cfg(all(unix, not(target_os = "linux")))]
type Io = crate::polled::Polled;
#[cfg(not(unix))]
type Io = TcpStream;

/// Idle time after which the system probes the other end, and interval between probes.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);

/// Pause before the next attempt to connect to a unix socket that has no room.
#[cfg(unix)]
const ROOM_WAIT: Duration = Duration::from_millis(5);

/// One address of a host.
#[derive(Clone, Debug)]
pub enum Address {
    /// TCP address and port.
    Tcp(SocketAddr),
    /// Path of a unix socket.
    #[cfg(unix)]
    Unix(std::path::PathBuf),
}

/// A connected TCP or unix socket.
#[derive(Debug)]
pub struct Socket {
    io: Io,
    transport: &'static str,
    same_host: bool,
}

/// How sockets are opened.
#[derive(Clone, Debug)]
pub struct SocketSettings {
    /// Limit for opening the connection.
    pub connect: Duration,
    /// Limit for sent data to be acknowledged.
    pub tcp_user: Duration,
    /// The relay that connections go through; `None` to connect directly.
    pub relay: Option<Relay>,
}

/// Whether a host name or address refers to this host.
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
        Ok(Err(error)) => {
            // The standard library's words, before those of the system.
            let text = error.to_string();
            let cause = text.strip_prefix("failed to lookup address information: ");
            return Err(failed(cause.unwrap_or(&text).to_owned()));
        }
        Ok(Ok(addresses)) => addresses.map(Address::Tcp).collect(),
    };
    if found.is_empty() { Err(failed("no address found".into())) } else { Ok(found) }
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

    /// The address as a relay connects to it.
    fn upstream(&self) -> Upstream {
        match self {
            Self::Tcp(address) => Upstream::Tcp(*address),
            #[cfg(unix)]
            Self::Unix(file) => Upstream::Unix(file.clone()),
        }
    }

    /// Whether the address is one of this host, as far as it shows.
    fn is_loopback(&self) -> bool {
        match self {
            Self::Tcp(address) => address.ip().is_loopback(),
            #[cfg(unix)]
            Self::Unix(_) => true,
        }
    }
}

impl Socket {
    /// Connects to an address.
    ///
    /// # Errors
    /// `Disconnected`, naming `label`.
    pub async fn connect(
        address: &Address,
        label: &str,
        settings: &SocketSettings,
    ) -> Result<Self, DbError> {
        let failed = |cause: String| {
            DbError::new(ErrorClass::Disconnected, format!("could not connect to {label}: {cause}"))
        };
        let attempt = async {
            match (address, &settings.relay) {
                (address, Some(relay)) => {
                    let stream = TcpStream::connect(relay.route(&address.upstream())?).await?;
                    let socket = Self::tcp(stream, settings)?;
                    Ok(Self { same_host: address.is_loopback(), ..socket })
                }
                (Address::Tcp(address), None) => {
                    Self::tcp(TcpStream::connect(address).await?, settings)
                }
                #[cfg(unix)]
                (Address::Unix(file), None) => {
                    let stream = connect_unix(file).await?.into_std()?;
                    let io = Io::new(stream.into())?;
                    Ok(Self { io, transport: "unix socket", same_host: true })
                }
            }
        };
        match timeout(settings.connect, attempt).await {
            Err(_) => Err(failed(format!("no answer within {} s", settings.connect.as_secs()))),
            Ok(connected) => connected.map_err(|error| failed(plain(&error))),
        }
    }

    fn tcp(stream: TcpStream, settings: &SocketSettings) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let keepalive =
            TcpKeepalive::new().with_time(KEEPALIVE_IDLE).with_interval(KEEPALIVE_INTERVAL);
        SockRef::from(&stream).set_tcp_keepalive(&keepalive)?;
        #[cfg(target_os = "linux")]
        SockRef::from(&stream).set_tcp_user_timeout(Some(settings.tcp_user))?;
        #[cfg(not(target_os = "linux"))]
        let _ = settings.tcp_user;
        let same_host = match (stream.peer_addr(), stream.local_addr()) {
            (Ok(peer), Ok(local)) => peer.ip().is_loopback() || peer.ip() == local.ip(),
            _ => false,
        };
        #[cfg(unix)]
        let io = Io::new(stream.into_std()?.into())?;
        #[cfg(not(unix))]
        let io = stream;
        Ok(Self { io, transport: "tcp", same_host })
    }

    /// Number of bytes that can be read, at most one; 0 at the end of the stream. The system is
    /// queried only after the runtime has reported something.
    pub fn peek(&self) -> Poll<io::Result<usize>> {
        #[cfg(unix)]
        return self.io.peek();
        #[cfg(not(unix))]
        {
            let mut context = Context::from_waker(std::task::Waker::noop());
            std::task::ready!(self.io.poll_read_ready(&mut context))?;
            let room = &mut [std::mem::MaybeUninit::uninit()];
            Poll::Ready(SockRef::from(&self.io).peek(room))
        }
    }

    /// Whether the other end is on this host, as far as its address shows.
    pub fn is_same_host(&self) -> bool {
        self.same_host
    }

    /// Kind of transport: `tcp` or `unix socket`.
    pub fn transport(&self) -> &'static str {
        self.transport
    }
}

/// Connects to a unix socket. One whose server has accepted as many as it has room for rejects a
/// connection at once, where TCP would wait.
#[cfg(unix)]
async fn connect_unix(file: &std::path::Path) -> io::Result<tokio::net::UnixStream> {
    loop {
        match tokio::net::UnixStream::connect(file).await {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(ROOM_WAIT).await,
            result => return result,
        }
    }
}

/// Formats an I/O error without "(os error 111)", beginning in lower case.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

impl AsyncRead for Socket {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.io).poll_read(cx, buffer);
        traffic::received(buffer.filled().len() - before);
        read
    }
}

impl AsyncWrite for Socket {
    #[inline]
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, data);
        if let Poll::Ready(Ok(bytes)) = written {
            traffic::sent(bytes);
        }
        written
    }

    #[inline]
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

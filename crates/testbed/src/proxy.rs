//! A TCP proxy between a test's client and its server that makes the network as bad as the test
//! requires: slow, or silent without being closed.

use std::net::{Ipv4Addr, SocketAddr};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

use crate::TestbedError;

/// Maximum number of bytes that are forwarded at once.
const CHUNK_BYTES: usize = 64 * 1024;
/// Maximum number of chunks in transit in one direction of a connection; then the sender has to
/// wait, as on any network.
const UNDER_WAY_MAX: usize = 256;

/// Current state of the network.
#[derive(Clone, Copy, Debug, Default)]
struct Network {
    delay: Duration,
    cut: bool,
}

/// A proxy on 127.0.0.1. It ends, and closes all its connections, when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    network: watch::Sender<Network>,
    /// Kept open until the proxy should end.
    running: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Listens on a free port and forwards to 127.0.0.1:`upstream_port`, without delay unless set
    /// otherwise.
    ///
    /// # Panics
    /// When the system has no port or no thread left.
    #[must_use]
    pub fn start(upstream_port: u16) -> Self {
        Self::try_start(upstream_port).unwrap_or_else(|error| panic!("{error}"))
    }

    fn try_start(upstream_port: u16) -> Result<Self, TestbedError> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
            .map_err(TestbedError::io("listening as a proxy"))?;
        let port = listener.local_addr().map_err(TestbedError::io("asking for the port"))?.port();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(TestbedError::io("starting a runtime"))?;
        let (network, seen) = watch::channel(Network::default());
        let (running, mut stop) = mpsc::channel::<()>(1);
        let upstream = SocketAddr::from((Ipv4Addr::LOCALHOST, upstream_port));
        let serve = move || {
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).expect("it is non-blocking");
                tokio::select! {
                    () = accept(listener, upstream, seen) => {}
                    _ = stop.recv() => {}
                }
            });
            // Dropping the runtime drops all tasks, and with them the connections.
        };
        let thread = std::thread::Builder::new()
            .name("proxy".into())
            .spawn(serve)
            .map_err(TestbedError::io("starting a thread"))?;
        Ok(Self { port, network, running: Some(running), thread: Some(thread) })
    }

    /// The port on 127.0.0.1 that clients should connect to.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Delays every byte by this much from now on, in each direction; a round trip takes twice
    /// that.
    pub fn delay(&self, delay: Duration) {
        self.network.send_modify(|network| network.delay = delay);
    }

    /// Stops forwarding, without closing anything: neither side receives anything from the other,
    /// and new connections are accepted but reach no server. Data sent meanwhile is kept.
    pub fn cut(&self) {
        self.network.send_modify(|network| network.cut = true);
    }

    /// Resumes forwarding, beginning with what has waited.
    pub fn heal(&self) {
        self.network.send_modify(|network| network.cut = false);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.running = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits until the network is not cut.
async fn whole(network: &mut watch::Receiver<Network>) {
    let _ = network.wait_for(|network| !network.cut).await;
}

async fn accept(listener: TcpListener, upstream: SocketAddr, network: watch::Receiver<Network>) {
    while let Ok((client, _)) = listener.accept().await {
        let mut network = network.clone();
        tokio::spawn(async move {
            whole(&mut network).await;
            // A client whose server is not there sees its connection closed.
            let Ok(server) = TcpStream::connect(upstream).await else { return };
            if client.set_nodelay(true).and_then(|()| server.set_nodelay(true)).is_err() {
                return;
            }
            let (from_client, to_client) = client.into_split();
            let (from_server, to_server) = server.into_split();
            tokio::join!(
                forward(from_client, to_server, network.clone()),
                forward(from_server, to_client, network),
            );
        });
    }
}

/// Forwards one direction of a connection, until its sender closes it.
async fn forward(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut network: watch::Receiver<Network>,
) {
    let (under_way, mut arriving) = mpsc::channel::<(Instant, Vec<u8>)>(UNDER_WAY_MAX);
    let delays = network.clone();
    let take_in = async move {
        let mut buffer = vec![0; CHUNK_BYTES];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            let due = Instant::now() + delays.borrow().delay;
            if under_way.send((due, buffer[..count].to_vec())).await.is_err() {
                break;
            }
        }
    };
    let give_out = async move {
        while let Some((due, bytes)) = arriving.recv().await {
            sleep_until(due).await;
            whole(&mut network).await;
            if to.write_all(&bytes).await.is_err() {
                return;
            }
        }
        whole(&mut network).await;
        let _ = to.shutdown().await;
    };
    tokio::join!(take_in, give_out);
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// A server that echoes what it receives, and its port.
    fn echo() -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                std::thread::spawn(move || {
                    let mut buffer = [0; 1024];
                    while let Ok(count @ 1..) = stream.read(&mut buffer) {
                        if stream.write_all(&buffer[..count]).is_err() {
                            break;
                        }
                    }
                });
            }
        });
        port
    }

    fn round_trip(stream: &mut TcpStream) -> Duration {
        let start = Instant::now();
        stream.write_all(b"ping").unwrap();
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"ping");
        start.elapsed()
    }

    #[test]
    fn it_delays_both_ways_and_is_silent_when_cut() {
        let proxy = Proxy::start(echo());
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).unwrap();
        let fast = (0..20).map(|_| round_trip(&mut stream)).min().unwrap();
        assert!(fast < Duration::from_millis(100), "{fast:?}");
        proxy.delay(Duration::from_millis(100));
        assert!(round_trip(&mut stream) >= Duration::from_millis(200));
        proxy.delay(Duration::ZERO);
        proxy.cut();
        stream.write_all(b"ping").unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let error = stream.read(&mut [0; 4]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
        let mut late = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).unwrap();
        proxy.heal();
        stream.set_read_timeout(None).unwrap();
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"ping", "what was sent while it was cut arrives");
        round_trip(&mut stream);
        round_trip(&mut late);
    }

    #[test]
    fn ends_are_passed_on_and_dropping_it_closes_everything() {
        let port = echo();
        let proxy = Proxy::start(port);
        let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).unwrap();
        let mut closing = connect();
        round_trip(&mut closing);
        closing.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(closing.read(&mut [0; 4]).unwrap(), 0, "the server closed in answer");
        let mut open = connect();
        round_trip(&mut open);
        drop(proxy);
        assert!(!matches!(open.read(&mut [0; 4]), Ok(1..)));
    }
}

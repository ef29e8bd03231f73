//! What the relay's thread does: accepts, connects to the server, and forwards both directions.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};
#[cfg(target_os = "linux")]
use triphammer_core::timer::{Timer, is_virtual};

use crate::Upstream;

/// Maximum number of bytes that are forwarded at once.
const CHUNK_BYTES: usize = 64 * 1024;
/// Maximum number of chunks in transit in one direction of a connection; then the sender has to
/// wait, as on any network.
const UNDER_WAY_MAX: usize = 256;

/// Current state of the network.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Network {
    pub(crate) delay: Duration,
    pub(crate) cut: bool,
    /// Connections of earlier epochs are closed.
    pub(crate) epoch: u64,
}

/// Bytes that arrived at the relay.
#[derive(Debug, Default)]
pub(crate) struct Forwarded {
    from_clients: AtomicU64,
    from_servers: AtomicU64,
}

impl Forwarded {
    /// Bytes from clients, and from servers.
    pub(crate) fn received(&self) -> [u64; 2] {
        [&self.from_clients, &self.from_servers].map(|count| count.load(Ordering::Relaxed))
    }
}

/// Delays of one direction: by the kernel's timer where there is one, because tokio's ends on whole
/// milliseconds, rounded up.
#[derive(Debug, Default)]
struct Delays {
    #[cfg(target_os = "linux")]
    timer: Option<Timer>,
}

impl Delays {
    /// Sleeps until `due`.
    async fn until(&mut self, due: Instant) {
        let Some(rest) = due.checked_duration_since(Instant::now()).filter(|rest| !rest.is_zero())
        else {
            return;
        };
        #[cfg(target_os = "linux")]
        {
            if self.timer.is_none() && !is_virtual() {
                self.timer = Timer::new().ok();
            }
            if let Some(timer) = &self.timer
                && timer.sleep(rest).await.is_ok()
            {
                return;
            }
        }
        sleep_until(Instant::now() + rest).await;
    }
}

/// Waits until the network is not cut.
async fn whole(network: &mut watch::Receiver<Network>) {
    let _ = network.wait_for(|network| !network.cut).await;
}

/// Accepts the connections of a route.
pub(crate) async fn accept(
    listener: TcpListener,
    upstream: Upstream,
    network: watch::Receiver<Network>,
    forwarded: Arc<Forwarded>,
) {
    while let Ok((client, _)) = listener.accept().await {
        let (upstream, network) = (upstream.clone(), network.clone());
        let forwarded = Arc::clone(&forwarded);
        let mut resets = network.clone();
        let epoch = network.borrow().epoch;
        tokio::spawn(async move {
            tokio::select! {
                // A client whose server is not there sees its connection closed.
                _ = connect(client, upstream, network, &forwarded) => {}
                _ = resets.wait_for(|network| network.epoch != epoch) => {}
            }
        });
    }
}

/// Forwards a connection until either side closes it.
async fn connect(
    client: TcpStream,
    upstream: Upstream,
    mut network: watch::Receiver<Network>,
    forwarded: &Forwarded,
) -> io::Result<()> {
    whole(&mut network).await;
    client.set_nodelay(true)?;
    match upstream {
        Upstream::Tcp(address) => {
            let server = TcpStream::connect(address).await?;
            server.set_nodelay(true)?;
            both(client, server.into_split(), network, forwarded).await;
        }
        #[cfg(unix)]
        Upstream::Unix(file) => {
            let server = tokio::net::UnixStream::connect(file).await?;
            both(client, server.into_split(), network, forwarded).await;
        }
    }
    Ok(())
}

/// Forwards both directions.
async fn both(
    client: TcpStream,
    (from_server, to_server): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    network: watch::Receiver<Network>,
    forwarded: &Forwarded,
) {
    let (from_client, to_client) = client.into_split();
    let Forwarded { from_clients, from_servers } = forwarded;
    tokio::join!(
        forward(from_client, to_server, network.clone(), from_clients),
        forward(from_server, to_client, network, from_servers),
    );
}

/// Forwards one direction of a connection, until its sender closes it.
async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut network: watch::Receiver<Network>,
    received: &AtomicU64,
) {
    let (under_way, mut arriving) = mpsc::channel::<(Instant, Vec<u8>)>(UNDER_WAY_MAX);
    let delays = network.clone();
    let take_in = async move {
        let mut buffer = vec![0; CHUNK_BYTES];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            received.fetch_add(count as u64, Ordering::Relaxed);
            let due = Instant::now() + delays.borrow().delay;
            if under_way.send((due, buffer[..count].to_vec())).await.is_err() {
                break;
            }
        }
    };
    let give_out = async move {
        let mut delays = Delays::default();
        while let Some((due, bytes)) = arriving.recv().await {
            delays.until(due).await;
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

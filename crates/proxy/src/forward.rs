//! What the relay's thread does: accepts, connects to the server, and forwards both directions.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};

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

/// Waits until the network is not cut.
async fn whole(network: &mut watch::Receiver<Network>) {
    let _ = network.wait_for(|network| !network.cut).await;
}

/// Accepts the connections of a route.
pub(crate) async fn accept(
    listener: TcpListener,
    upstream: Upstream,
    network: watch::Receiver<Network>,
) {
    while let Ok((client, _)) = listener.accept().await {
        let (upstream, network) = (upstream.clone(), network.clone());
        let mut resets = network.clone();
        let epoch = network.borrow().epoch;
        tokio::spawn(async move {
            tokio::select! {
                // A client whose server is not there sees its connection closed.
                _ = connect(client, upstream, network) => {}
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
) -> io::Result<()> {
    whole(&mut network).await;
    client.set_nodelay(true)?;
    match upstream {
        Upstream::Tcp(address) => {
            let server = TcpStream::connect(address).await?;
            server.set_nodelay(true)?;
            both(client, server.into_split(), network).await;
        }
        #[cfg(unix)]
        Upstream::Unix(file) => {
            let server = tokio::net::UnixStream::connect(file).await?;
            both(client, server.into_split(), network).await;
        }
    }
    Ok(())
}

/// Forwards both directions.
async fn both(
    client: TcpStream,
    (from_server, to_server): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    network: watch::Receiver<Network>,
) {
    let (from_client, to_client) = client.into_split();
    tokio::join!(
        forward(from_client, to_server, network.clone()),
        forward(from_server, to_client, network),
    );
}

/// Forwards one direction of a connection, until its sender closes it.
async fn forward(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
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
            // A sleep until now would last to the next tick of the runtime's timer, a millisecond.
            if due > Instant::now() {
                sleep_until(due).await;
            }
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

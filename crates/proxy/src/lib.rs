//! A network that can be cut: a TCP relay in this process, between clients and servers. It makes the
//! network as bad as a drill or a test requires: slow, silent without being closed, or reset.
//!
//! A [`Relay`] has a route for each server: a port on the loopback address that leads there. All
//! routes share one state, so that one call cuts them all. The relay has one thread, which ends with
//! the last clone of the relay.

mod forward;

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

use forward::{Forwarded, Network, accept};

/// Routes that may be opened before the thread has started them.
const ROUTES_WAITING_MAX: usize = 64;

/// A server, as the relay connects to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Upstream {
    /// TCP address and port.
    Tcp(SocketAddr),
    /// Path of a unix socket.
    #[cfg(unix)]
    Unix(PathBuf),
}

/// A relay with its routes. Clones share them.
#[derive(Clone)]
pub struct Relay(Arc<Inner>);

struct Inner {
    network: watch::Sender<Network>,
    forwarded: Arc<Forwarded>,
    /// Ports of the routes.
    routes: Mutex<HashMap<Upstream, SocketAddr>>,
    /// New routes for the thread, which ends when this is closed.
    opened: Option<mpsc::Sender<Route>>,
    thread: Option<JoinHandle<()>>,
}

/// A listening route.
struct Route {
    listener: std::net::TcpListener,
    upstream: Upstream,
}

impl Relay {
    /// Starts a relay without routes, on an undisturbed network.
    ///
    /// # Errors
    /// When the system has no thread or event loop left.
    pub fn start() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (network, seen) = watch::channel(Network::default());
        let forwarded = Arc::<Forwarded>::default();
        let counting = Arc::clone(&forwarded);
        let (opened, mut routes) = mpsc::channel::<Route>(ROUTES_WAITING_MAX);
        let serve = move || {
            runtime.block_on(async {
                while let Some(Route { listener, upstream }) = routes.recv().await {
                    // A listener that the event loop cannot watch accepts nobody.
                    let Ok(listener) = TcpListener::from_std(listener) else { continue };
                    let counting = Arc::clone(&counting);
                    tokio::spawn(accept(listener, upstream, seen.clone(), counting));
                }
            });
            // Dropping the runtime drops all tasks, and with them the connections.
        };
        let thread = std::thread::Builder::new().name("relay".into()).spawn(serve)?;
        Ok(Self(Arc::new(Inner {
            network,
            forwarded,
            routes: Mutex::default(),
            opened: Some(opened),
            thread: Some(thread),
        })))
    }

    /// The address on 127.0.0.1 that leads to a server. The first call opens the route.
    ///
    /// # Errors
    /// When the system has no port left, or too many routes are opened at once.
    pub fn route(&self, upstream: &Upstream) -> io::Result<SocketAddr> {
        let mut routes = self.0.routes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(address) = routes.get(upstream) {
            return Ok(*address);
        }
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let opened = self.0.opened.as_ref().expect("open until the relay is dropped");
        opened
            .try_send(Route { listener, upstream: upstream.clone() })
            .map_err(|_| io::Error::other("the relay opens too many routes at once"))?;
        routes.insert(upstream.clone(), address);
        Ok(address)
    }

    /// Delays every byte by this much from now on, in each direction; a round trip takes twice
    /// that, and about 0.1 ms for the timers of the kernel and the way through the relay.
    pub fn delay(&self, delay: Duration) {
        self.0.network.send_modify(|network| network.delay = delay);
    }

    /// Number of bytes that were received so far: from clients, and from servers.
    #[must_use]
    pub fn received(&self) -> [u64; 2] {
        self.0.forwarded.received()
    }

    /// Stops forwarding, without closing anything: neither side receives anything from the other,
    /// and new connections are accepted but reach no server. Data sent meanwhile is kept.
    pub fn cut(&self) {
        self.0.network.send_modify(|network| network.cut = true);
    }

    /// Resumes forwarding, beginning with what has waited.
    pub fn heal(&self) {
        self.0.network.send_modify(|network| network.cut = false);
    }

    /// Closes all connections, on both sides, with what they have not forwarded, and resumes
    /// forwarding for new ones.
    pub fn reset(&self) {
        self.0.network.send_modify(|network| {
            network.epoch += 1;
            network.cut = false;
        });
    }
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay").field("network", &*self.0.network.borrow()).finish()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.opened = None;
        if let Some(thread) = self.thread.take() {
            // It panics only by a defect, which a drop must not make worse.
            let _ = thread.join();
        }
    }
}

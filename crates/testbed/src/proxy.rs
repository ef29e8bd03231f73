//! A relay between a test's client and its server on 127.0.0.1.

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Deref;

use triphammer_proxy::{Relay, Upstream};

/// A relay with one route. It ends, and closes all its connections, when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    relay: Relay,
    port: u16,
}

impl Deref for Proxy {
    type Target = Relay;

    fn deref(&self) -> &Relay {
        &self.relay
    }
}

impl Proxy {
    /// Listens on a free port and forwards to 127.0.0.1:`upstream_port`, without delay unless set
    /// otherwise.
    ///
    /// # Panics
    /// When the system has no port or no thread left.
    #[must_use]
    pub fn start(upstream_port: u16) -> Self {
        let upstream = Upstream::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, upstream_port)));
        let relay = Relay::start().expect("a thread for the relay");
        let port = relay.route(&upstream).expect("a port for the relay").port();
        Self { relay, port }
    }

    /// The port on 127.0.0.1 that clients should connect to.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

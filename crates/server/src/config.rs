//! What the server is told when it starts.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use triphammer_drivers::target::Secret;

use crate::targets::FixedTarget;

/// Where the server listens when nobody says where: the loopback interface, on a port that no well-known
/// service has and that lies below the ports which systems give to clients.
pub const LISTEN: &str = "127.0.0.1:7400";

/// What the server is told when it starts.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// The job store's file.
    pub store: PathBuf,
    /// What a client must show, on every address: on loopback any user of the host is a client.
    pub token: Secret,
    /// What opens `/metrics` and nothing else, beside the token.
    pub metrics_token: Option<Secret>,
    /// Targets that the server is started with, by name.
    pub targets: BTreeMap<String, FixedTarget>,
    /// Folder of the SQLite files that clients may use; empty for the current one.
    pub data: PathBuf,
    /// Certificate chain and key, as PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Names by which browsers may call the server, beside addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Limits of waits.
    pub limits: ServerLimits,
}

/// Every wait of the server has a limit with a name.
#[derive(Clone, Copy, Debug)]
pub struct ServerLimits {
    /// For the head of a request, and for the TLS handshake before it.
    pub head: Duration,
    /// For a request, its body included, but for event streams.
    pub request: Duration,
    /// For a client that takes nothing of what is sent to it.
    pub write: Duration,
    /// Connections at a time.
    pub connections: usize,
    /// Of these, those of one client: an address, and all of this host are one.
    pub connections_per_client: usize,
    /// Streams of events of one client.
    pub streams_per_client: usize,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            request: Duration::from_secs(60),
            write: Duration::from_secs(30),
            connections: 512,
            connections_per_client: 256,
            streams_per_client: 64,
        }
    }
}

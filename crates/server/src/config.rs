//! Configuration of the server.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use triphammer_drivers::target::Secret;

use crate::targets::FixedTarget;

/// Configuration of the server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address and port to listen on.
    pub listen: SocketAddr,
    /// The job store's file.
    pub store: PathBuf,
    /// The access token, required on every address: on loopback, any user of the host is a client.
    pub token: Secret,
    /// A second token, which is valid for `/metrics` only.
    pub metrics_token: Option<Secret>,
    /// Targets from the configuration, by name.
    pub targets: BTreeMap<String, FixedTarget>,
    /// Directory of the SQLite files that clients may use; empty for the current one.
    pub data: PathBuf,
    /// Certificate chain and key, as PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Host names under which browsers may reach the server, in addition to addresses and
    /// `localhost`.
    pub hosts: Vec<String>,
    /// Whether clients may run scripts, which can do anything that their targets' users may.
    pub allow_scripts: bool,
    /// Time limits and connection limits.
    pub limits: ServerLimits,
}

/// Limits of the server: every wait has one.
#[derive(Clone, Copy, Debug)]
pub struct ServerLimits {
    /// Maximum time for the head of a request, and for the TLS handshake before it.
    pub head: Duration,
    /// Maximum time for a request including its body, except for event streams.
    pub request: Duration,
    /// Maximum time during which a client accepts no data.
    pub write: Duration,
    /// Maximum number of simultaneous connections.
    pub connections: usize,
    /// Maximum number of simultaneous connections per client; a client is an address, or the whole
    /// local host.
    pub connections_per_client: usize,
    /// Maximum number of event streams per client.
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

//! Private database servers for tests: real ones, each on its own data folder, a loopback address and
//! a free port. Every server is the child of a guardian, a small shell script that waits for its
//! standard input to end: when the test process goes, however it goes, the server is stopped and its
//! folder removed. Not for production, and in nobody's dependencies but the tests'.

mod certificates;
mod guardian;
mod mariadb;
mod meddler;
mod postgres;
mod proxy;
mod server;

pub use certificates::write as write_certificates;
pub use mariadb::{MariadbOptions, MariadbServer};
pub use meddler::{Framing, Meddler, Meddling, fuzz_settings};
pub use postgres::{PostgresOptions, PostgresServer};
pub use proxy::Proxy;
pub use server::Server;

/// Why a server could not be had.
#[derive(Debug, thiserror::Error)]
pub enum TestbedError {
    /// The programs are not there.
    #[error("{product} is not installed; run: {command}")]
    Missing {
        /// What is missing.
        product: &'static str,
        /// The command that installs it.
        command: &'static str,
    },
    /// A file or process could not be dealt with.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The server, or a tool of it, said no.
    #[error("{0}")]
    Failed(String),
}

impl TestbedError {
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}

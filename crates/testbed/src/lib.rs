//! Private database servers for tests: real ones, each with its own data folder, a loopback address
//! and a free port. Every server is the child of a guardian, a small shell script that waits for
//! its standard input to end: when the test process ends, for whatever reason, the server is
//! stopped and its folder removed. A database for a test is dropped when the test's thread ends. For databases that cannot be had there is an ODBC driver that
//! records what it is asked. Not for production; only tests depend on it.

mod babelfish;
mod certificates;
mod duckdb;
mod galera;
mod generated;
mod guardian;
mod mariadb;
mod mariadb_copy;
mod meddler;
mod odbc_driver;
mod pgbouncer;
mod postgres;
mod postgres_client;
mod process_folder;
mod proxy;
mod server;
mod thread_end;
mod trino;
mod worker;

pub use babelfish::BabelfishServer;
pub use certificates::write as write_certificates;
pub use duckdb::duckdb_library;
pub use galera::Galera;
pub use generated::{assert_generated, assert_generated_lists};
pub use mariadb::{MariadbOptions, MariadbServer};
pub use meddler::{Framing, Meddler, Meddling, fuzz_settings};
pub use odbc_driver::OdbcDriver;
pub use pgbouncer::PgBouncer;
pub use postgres::{PostgresOptions, PostgresServer};
pub use postgres_client::PostgresClient;
pub use process_folder::ProcessFolder;
pub use proxy::Proxy;
pub use server::Server;
pub use trino::TrinoServer;
pub use worker::{WorkerThread, block_on};

/// Why a server is not available.
#[derive(Debug, thiserror::Error)]
pub enum TestbedError {
    /// The server's programs are not installed.
    #[error("{product} is not installed; run: {command}")]
    Missing {
        /// Name of the missing product.
        product: &'static str,
        /// The command that installs the product.
        command: &'static str,
    },
    /// An operation on a file or process failed.
    #[error("{what}: {source}")]
    Io {
        /// The operation in progress.
        what: String,
        /// Error that the system reported.
        source: std::io::Error,
    },
    /// The server, or one of its tools, reported an error.
    #[error("{0}")]
    Failed(String),
}

impl TestbedError {
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}

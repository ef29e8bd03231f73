//! TLS as libpq's modes have it, in the form that the library takes.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;

use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres_rustls::MakeRustlsConnect;
use triphammer_core::{DbError, SpecError};

use super::url::{Options, SslMode};
use crate::socket::Socket;
use crate::tls::{Setup, client_config, explain, host_in_certificate};

/// A TLS stream as the library makes it.
pub type TlsStream = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

/// Makes the TLS setup of a target; files are read here, once.
///
/// # Errors
/// When a certificate or key cannot be read or used.
pub fn connector(options: &Options) -> Result<MakeRustlsConnect, SpecError> {
    // Modes that differ between hosts come from the default only, which never verifies.
    let mode = options.hosts.first().map_or(SslMode::Prefer, |host| host.ssl_mode);
    let verifies = matches!(mode, SslMode::VerifyCa | SslMode::VerifyFull);
    let config = client_config(&Setup {
        roots: options.root_cert.as_ref().filter(|_| verifies),
        checks_name: mode == SslMode::VerifyFull,
        client_cert: options.client_cert.as_ref(),
        params: ["sslrootcert", "sslcert", "sslkey"],
    })?;
    Ok(MakeRustlsConnect::new(config))
}

/// A handshake to be made on one connection, with errors that can be told from others.
pub struct Handshake {
    inner: <MakeRustlsConnect as MakeTlsConnect<Socket>>::TlsConnect,
}

impl Handshake {
    /// A handshake with `host`. See [`host_in_certificate`].
    pub fn new(connector: &MakeRustlsConnect, host: &str, mode: SslMode) -> Self {
        let mut connector = connector.clone();
        let host = host_in_certificate(host, mode == SslMode::VerifyFull);
        let Ok(inner) = MakeTlsConnect::<Socket>::make_tls_connect(&mut connector, host);
        Self { inner }
    }
}

impl TlsConnect<Socket> for Handshake {
    type Stream = TlsStream;
    type Error = HandshakeError;
    type Future = Pin<Box<dyn Future<Output = Result<TlsStream, HandshakeError>> + Send>>;

    fn connect(self, stream: Socket) -> Self::Future {
        Box::pin(async move { self.inner.connect(stream).await.map_err(HandshakeError) })
    }
}

/// Why a handshake failed.
#[derive(Debug)]
pub struct HandshakeError(io::Error);

impl fmt::Display for HandshakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for HandshakeError {}

impl HandshakeError {
    /// What it means: a broken connection, or certificates that will not do next time either.
    pub fn to_error(&self) -> DbError {
        explain(&self.0)
    }
}

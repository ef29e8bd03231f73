//! TLS to a collector: verified against the system's authorities, or those of a file, as the
//! drivers do.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::{CertificateError, Error, pki_types::ServerName};
use triphammer_core::SpecError;
use triphammer_drivers::tls::{RootCert, Setup, client_config};

/// The setting for the file with authorities.
pub(super) const AUTHORITIES: &str = "otlp-ca";

/// Creates the TLS configuration; a file of authorities is read here once.
///
/// # Errors
/// When the file cannot be read, or the system has no authorities.
pub(super) fn connector(authorities: Option<PathBuf>) -> Result<TlsConnector, SpecError> {
    let roots = authorities.map_or(RootCert::System, RootCert::File);
    let mut config = client_config(&Setup {
        roots: Some(&roots),
        checks_name: true,
        client_cert: None,
        key_password: None,
        params: [AUTHORITIES; 3],
    })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Starts TLS on a connection to `host`.
pub(super) async fn secure(
    tls: &TlsConnector,
    stream: TcpStream,
    host: &str,
) -> Result<TlsStream<TcpStream>, String> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|error| format!("`{host}` is not a valid host name for TLS: {error}"))?;
    tls.connect(name, stream).await.map_err(|error| problem(&error))
}

fn problem(error: &io::Error) -> String {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<Error>());
    let next = match cause {
        Some(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            format!("; use --{AUTHORITIES} to give the file with its certificate authority")
        }
        _ => String::new(),
    };
    format!("TLS failed: {error}{next}")
}

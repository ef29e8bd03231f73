//! TLS with a certificate and a key from PEM files.

use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use triphammer_drivers::tls::server::server_config;

use crate::error::ApiError;

/// Creates an acceptor of TLS connections with this certificate chain and key.
///
/// # Errors
/// When a file cannot be read, or key and certificate do not match.
pub fn acceptor(chain: &Path, key: &Path) -> Result<TlsAcceptor, ApiError> {
    let mut config = server_config(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

//! TLS with a certificate and a key from PEM files.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use triphammer_core::small_file::{CERTIFICATES_BYTES_MAX, read};

use crate::error::ApiError;

/// Creates an acceptor of TLS connections with this certificate chain and key.
///
/// # Errors
/// When a file cannot be read, or key and certificate do not match.
pub fn acceptor(chain: &Path, key: &Path) -> Result<TlsAcceptor, ApiError> {
    let cannot = |what: &str, file: &Path, error: &dyn std::fmt::Display| {
        ApiError::invalid(format!("cannot read the {what} {}: {error}", file.display()))
    };
    let bytes = |what, file, setting| {
        read(file, CERTIFICATES_BYTES_MAX)
            .map_err(|error| cannot(what, file, &error).about(setting))
    };
    let certificates = bytes("certificate", chain, "tls-cert")?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&certificates)
        .collect::<Result<_, _>>()
        .map_err(|error| cannot("certificate", chain, &error).about("tls-cert"))?;
    if certificates.is_empty() {
        return Err(cannot("certificate", chain, &"the file contains none").about("tls-cert"));
    }
    let private = PrivateKeyDer::from_pem_slice(&bytes("key", key, "tls-key")?)
        .map_err(|error| cannot("key", key, &error).about("tls-key"))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has TLS 1.2 and 1.3")
        .with_no_client_auth()
        .with_single_cert(certificates, private)
        .map_err(|error| {
            ApiError::invalid(format!("invalid certificate or key: {error}")).about("tls-key")
        })?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

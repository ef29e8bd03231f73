//! TLS for the clients of this program.

use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use triphammer_core::SpecError;
use triphammer_core::small_file::{CERTIFICATES_BYTES_MAX, read};

/// The settings of the two files.
pub const CERTIFICATE: &str = "tls-cert";
/// The setting of the key's file.
pub const KEY: &str = "tls-key";

/// TLS with the certificate chain and the key of these PEM files.
///
/// # Errors
/// When a file cannot be read, or key and certificate do not match.
pub fn server_config(chain: &Path, key: &Path) -> Result<ServerConfig, SpecError> {
    let cannot = |what: &str, file: &Path, error: &dyn std::fmt::Display, setting: &'static str| {
        let message = format!("cannot read the {what} {}: {error}", file.display());
        SpecError::new(message).about(setting)
    };
    let bytes = |what, file, setting| {
        read(file, CERTIFICATES_BYTES_MAX).map_err(|error| cannot(what, file, &error, setting))
    };
    let certificates = bytes("certificate", chain, CERTIFICATE)?;
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(&certificates)
        .collect::<Result<_, _>>()
        .map_err(|error| cannot("certificate", chain, &error, CERTIFICATE))?;
    if certificates.is_empty() {
        return Err(cannot("certificate", chain, &"the file contains none", CERTIFICATE));
    }
    let private = PrivateKeyDer::from_pem_slice(&bytes("key", key, KEY)?)
        .map_err(|error| cannot("key", key, &error, KEY))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has TLS 1.2 and 1.3")
        .with_no_client_auth()
        .with_single_cert(certificates, private)
        .map_err(|error| SpecError::new(format!("invalid certificate or key: {error}")).about(KEY))
}

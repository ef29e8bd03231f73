//! TLS according to libpq's modes, and the channel that authentication is bound to.

use std::sync::Arc;

use sha2::{Digest, Sha256, Sha384, Sha512};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use triphammer_core::SpecError;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::oid::db::rfc5912;

use super::url::{SslMode, UrlOptions};
use crate::socket::Socket;
use crate::target::Secret;
use crate::tls::{Setup, client_config};

/// Creates the TLS setup of a target; files are read here, once.
///
/// # Errors
/// When a certificate or key cannot be read or used.
pub fn connector(options: &UrlOptions) -> Result<TlsConnector, SpecError> {
    // Modes that differ between hosts come only from the default, which never verifies.
    let mode = options.hosts.first().map_or(SslMode::Prefer, |host| host.ssl_mode);
    let verifies = matches!(mode, SslMode::VerifyCa | SslMode::VerifyFull);
    let config = client_config(&Setup {
        roots: options.root_cert.as_ref().filter(|_| verifies),
        checks_name: mode == SslMode::VerifyFull,
        client_cert: options.client_cert.as_ref(),
        key_password: options.key_password.as_ref().map(Secret::reveal),
        params: ["sslrootcert", "sslcert", "sslkey"],
    })?;
    Ok(Arc::new(config).into())
}

/// The data that binds authentication to the channel: the hash of the server's certificate as in
/// RFC 5929 (section 4.1); `None` if its signature has no hash of its own, as with Ed25519.
pub fn end_point(stream: &TlsStream<Socket>) -> Option<Vec<u8>> {
    let (_, session) = stream.get_ref();
    let der = session.peer_certificates()?.first()?;
    let certificate = Certificate::from_der(der).ok()?;
    Some(match certificate.signature_algorithm.oid {
        // SHA-1 is too weak, so the RFC replaces it with SHA-256.
        rfc5912::SHA_1_WITH_RSA_ENCRYPTION
        | rfc5912::SHA_256_WITH_RSA_ENCRYPTION
        | rfc5912::ECDSA_WITH_SHA_256 => Sha256::digest(der).to_vec(),
        rfc5912::SHA_384_WITH_RSA_ENCRYPTION | rfc5912::ECDSA_WITH_SHA_384 => {
            Sha384::digest(der).to_vec()
        }
        rfc5912::SHA_512_WITH_RSA_ENCRYPTION | rfc5912::ECDSA_WITH_SHA_512 => {
            Sha512::digest(der).to_vec()
        }
        _ => return None,
    })
}

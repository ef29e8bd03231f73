//! TLS as libpq's modes have it, by rustls and ring: without verification, against authorities, and
//! against authorities and host name.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use sha2::{Digest, Sha256, Sha384, Sha512};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use triphammer_core::{DbError, ErrorClass, SpecError};

use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::der::oid::db::rfc5912;

use super::error::broken;
use super::socket::Socket;
use super::url::{Options, RootCert, SslMode};

/// Makes the TLS setup of a target; files are read here, once.
///
/// # Errors
/// When a certificate or key cannot be read or used.
pub fn connector(options: &Options) -> Result<TlsConnector, SpecError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    // Modes that differ between hosts come from the default only, which never verifies.
    let mode = options.hosts.first().map_or(SslMode::Prefer, |host| host.ssl_mode);
    let inner = match (mode, &options.root_cert) {
        (SslMode::VerifyCa | SslMode::VerifyFull, Some(root_cert)) => {
            let roots = Arc::new(load_roots(root_cert)?);
            let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider.clone())
                .build()
                .map_err(|error| {
                    SpecError::new(format!("`sslrootcert` cannot be used: {error}"))
                })?;
            Some(verifier)
        }
        _ => None,
    };
    let verifier =
        Verifier { inner, checks_name: mode == SslMode::VerifyFull, provider: provider.clone() };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has the cipher suites of TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let config = match &options.client_cert {
        None => builder.with_no_client_auth(),
        Some((cert, key)) => {
            let chain = load_certs(cert, "sslcert")?;
            let key = PrivateKeyDer::from_pem_file(key).map_err(|error| {
                SpecError::new(format!(
                    "`sslkey` {} is no readable PEM key (PKCS #8, PKCS #1 or SEC 1): {error}",
                    key.display()
                ))
            })?;
            builder.with_client_auth_cert(chain, key).map_err(|error| {
                SpecError::new(format!("`sslcert` and `sslkey` do not go together: {error}"))
            })?
        }
    };
    Ok(Arc::new(config).into())
}

fn load_roots(root_cert: &RootCert) -> Result<RootCertStore, SpecError> {
    let mut roots = RootCertStore::empty();
    match root_cert {
        RootCert::System => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                return Err(SpecError::new(
                    "`sslrootcert=system`: the system has no authorities; give a file",
                ));
            }
        }
        RootCert::File(file) => {
            for cert in load_certs(file, "sslrootcert")? {
                roots.add(cert).map_err(|error| {
                    SpecError::new(format!("`sslrootcert` {}: {error}", file.display()))
                })?;
            }
        }
    }
    Ok(roots)
}

fn load_certs(file: &Path, param: &str) -> Result<Vec<CertificateDer<'static>>, SpecError> {
    let unreadable = |error| {
        SpecError::new(format!("`{param}` {} is no readable PEM file: {error}", file.display()))
    };
    let certs: Vec<_> = CertificateDer::pem_file_iter(file)
        .map_err(unreadable)?
        .collect::<Result<_, _>>()
        .map_err(unreadable)?;
    if certs.is_empty() {
        return Err(SpecError::new(format!("`{param}` {} holds no certificate", file.display())));
    }
    Ok(certs)
}

/// Verifies as much of a server's certificate as the mode says. That the server holds the
/// certificate's key is verified in every mode.
#[derive(Debug)]
struct Verifier {
    /// `None`: any certificate will do.
    inner: Option<Arc<WebPkiServerVerifier>>,
    checks_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(inner) = &self.inner else { return Ok(ServerCertVerified::assertion()) };
        let verdict =
            inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        // The name is looked at last, so an error about it says that the chain is good.
        match verdict {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.checks_name => Ok(ServerCertVerified::assertion()),
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Makes the handshake with `host`. Where nobody looks at names, one that no certificate can have is
/// replaced by one that can be written down.
///
/// # Errors
/// `Disconnected` when the connection breaks, `Refused` when certificates will not do next time either.
pub async fn handshake(
    connector: &TlsConnector,
    socket: Socket,
    host: &str,
    mode: SslMode,
) -> Result<TlsStream<Socket>, DbError> {
    let name = match ServerName::try_from(host.to_owned()) {
        Ok(name) => name,
        Err(error) if mode == SslMode::VerifyFull => {
            let message =
                format!("TLS failed: the host's name cannot be in a certificate: {error}");
            return Err(DbError::new(ErrorClass::Refused, message));
        }
        Err(_) => ServerName::try_from("localhost").expect("it is a name"),
    };
    connector.connect(name, socket).await.map_err(|error| match broken(&error) {
        refusal if refusal.class() == ErrorClass::Refused => refusal,
        _ => DbError::new(
            ErrorClass::Disconnected,
            format!("lost the connection in the TLS handshake: {error}"),
        ),
    })
}

/// What a password exchange is tied to the channel by: the hash of the server's certificate that RFC 5929
/// (section 4.1) asks for; `None` where its signature has no hash of its own, as Ed25519.
pub fn end_point(stream: &TlsStream<Socket>) -> Option<Vec<u8>> {
    let (_, session) = stream.get_ref();
    let der = session.peer_certificates()?.first()?;
    let certificate = Certificate::from_der(der).ok()?;
    Some(match certificate.signature_algorithm.oid {
        // SHA-1 is too weak, so the RFC has SHA-256 in its place.
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

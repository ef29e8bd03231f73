//! TLS by rustls and ring, as much of it as databases' modes ask for: without verification, against
//! authorities, and against authorities and host name.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use triphammer_core::SpecError;
use triphammer_core::small_file::{CERTIFICATES_BYTES_MAX, read};

/// The authorities that a server's certificate is held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootCert {
    /// Those of the operating system.
    System,
    /// Those of a PEM file.
    File(PathBuf),
}

/// What TLS stands on: files, and how much of a server's certificate is verified.
pub struct Setup<'a> {
    /// Authorities; `None` takes any certificate.
    pub roots: Option<&'a RootCert>,
    /// Whether the certificate must be made out to the host.
    pub checks_name: bool,
    /// Our own certificate and its key.
    pub client_cert: Option<&'a (PathBuf, PathBuf)>,
    /// The parameters that name authorities, certificate and key, for messages.
    pub params: [&'a str; 3],
}

/// Makes the TLS setup of a target; files are read here, once.
///
/// # Errors
/// When a certificate or key cannot be read or used.
pub fn client_config(setup: &Setup<'_>) -> Result<ClientConfig, SpecError> {
    let [root_param, cert_param, key_param] = setup.params;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier_of = |root_cert| {
        let roots = Arc::new(load_roots(root_cert, root_param)?);
        WebPkiServerVerifier::builder_with_provider(roots, provider.clone())
            .build()
            .map_err(|error| SpecError::new(format!("`{root_param}` cannot be used: {error}")))
    };
    let inner = setup.roots.map(verifier_of).transpose()?;
    let checks_name = setup.checks_name;
    let verifier = Verifier { inner, checks_name, provider: provider.clone() };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has the cipher suites of TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let Some((cert, key)) = setup.client_cert else { return Ok(builder.with_no_client_auth()) };
    let chain = load_certs(cert, cert_param)?;
    let read_key = read_file(key).and_then(|pem| PrivateKeyDer::from_pem_slice(&pem));
    let key = read_key.map_err(|error| {
        SpecError::new(format!(
            "`{key_param}` {} is no readable PEM key (PKCS #8, PKCS #1 or SEC 1): {error}",
            key.display()
        ))
    })?;
    builder.with_client_auth_cert(chain, key).map_err(|error| {
        SpecError::new(format!("`{cert_param}` and `{key_param}` do not go together: {error}"))
    })
}

/// The name that a handshake is made with. Where nobody looks at names, one that no certificate can have
/// is replaced by one that can be written down.
pub fn host_in_certificate(host: &str, checks_name: bool) -> &str {
    if checks_name || ServerName::try_from(host).is_ok() { host } else { "localhost" }
}

fn load_roots(root_cert: &RootCert, param: &str) -> Result<RootCertStore, SpecError> {
    let mut roots = RootCertStore::empty();
    match root_cert {
        RootCert::System => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                return Err(SpecError::new(format!(
                    "`{param}=system`: the system has no authorities; give a file"
                )));
            }
        }
        RootCert::File(file) => {
            for cert in load_certs(file, param)? {
                roots.add(cert).map_err(|error| {
                    SpecError::new(format!("`{param}` {}: {error}", file.display()))
                })?;
            }
        }
    }
    Ok(roots)
}

fn read_file(file: &Path) -> Result<Vec<u8>, pem::Error> {
    read(file, CERTIFICATES_BYTES_MAX).map_err(pem::Error::Io)
}

fn load_certs(file: &Path, param: &str) -> Result<Vec<CertificateDer<'static>>, SpecError> {
    let unreadable = |error| {
        SpecError::new(format!("`{param}` {} is no readable PEM file: {error}", file.display()))
    };
    let pem = read_file(file).map_err(unreadable)?;
    let certs: Vec<_> =
        CertificateDer::pem_slice_iter(&pem).collect::<Result<_, _>>().map_err(unreadable)?;
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

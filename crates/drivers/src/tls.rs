//! TLS with rustls and ring, for all modes of the databases: without verification, against
//! authorities, and against authorities and host name. Other clients of this program use it too.

mod algorithms;
mod client_key;
mod ed448;
mod p521_exchange;
pub mod server;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use triphammer_core::SpecError;
use triphammer_core::small_file::{CERTIFICATES_BYTES_MAX, check_regular, read};
use x509_cert::der::{Decode, Encode};

use algorithms::is_of_pss_key;
use client_key::{certified, client_key};

/// The authorities that a server's certificate is verified against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootCert {
    /// Those of the operating system.
    System,
    /// Those in a PEM file.
    File(PathBuf),
}

/// Inputs of a TLS setup: files, and how much of a server's certificate is verified.
pub struct Setup<'a> {
    /// Authorities; `None` accepts any certificate.
    pub roots: Option<&'a RootCert>,
    /// Whether the certificate must be issued for the host.
    pub checks_name: bool,
    /// Files of the client certificate and its key.
    pub client_cert: Option<&'a (PathBuf, PathBuf)>,
    /// Password of the client's key.
    pub key_password: Option<&'a str>,
    /// Names of the parameters for authorities, certificate and key, for messages.
    pub params: [&'a str; 3],
}

/// Creates the TLS setup of a target; files are read here, once.
///
/// # Errors
/// When a certificate or key cannot be read or used.
pub fn client_config(setup: &Setup<'_>) -> Result<ClientConfig, SpecError> {
    client_config_of(setup, rustls::DEFAULT_VERSIONS)
}

/// Like [`client_config`], for these versions of TLS.
///
/// # Errors
/// As [`client_config`].
pub(crate) fn client_config_of(
    setup: &Setup<'_>,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> Result<ClientConfig, SpecError> {
    let [root_param, cert_param, key_param] = setup.params;
    let provider = algorithms::provider();
    let verifier_of = |root_cert| {
        let roots = Arc::new(load_roots(root_cert, root_param)?);
        WebPkiServerVerifier::builder_with_provider(roots, provider.clone())
            .build()
            .map_err(|error| SpecError::new(format!("`{root_param}` cannot be used: {error}")))
    };
    let inner = setup.roots.map(verifier_of).transpose()?;
    let checks_name = setup.checks_name;
    let own_roots = match setup.roots {
        Some(RootCert::File(file)) => load_certs(file, root_param)?,
        Some(RootCert::System) | None => Vec::new(),
    };
    let verifier = Verifier { inner, own_roots, checks_name, provider: provider.clone() };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .expect("ring has the cipher suites of TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let Some((cert, key)) = setup.client_cert else { return Ok(builder.with_no_client_auth()) };
    let chain = load_certs(cert, cert_param)?;
    let key = client_key(key, setup.key_password, key_param)?;
    let shown = certified(chain, key).map_err(|why| {
        SpecError::new(format!("`{cert_param}` and `{key_param}` do not match: {why}"))
    })?;
    Ok(builder.with_client_cert_resolver(shown))
}

/// The name for a handshake. If names are not verified, one that no certificate can have is
/// replaced by a valid one.
pub fn host_in_certificate(host: &str, checks_name: bool) -> &str {
    if checks_name || ServerName::try_from(host).is_ok() { host } else { "localhost" }
}

fn load_roots(root_cert: &RootCert, param: &str) -> Result<RootCertStore, SpecError> {
    let mut roots = RootCertStore::empty();
    match root_cert {
        RootCert::System => {
            if let Some(file) = std::env::var_os("SSL_CERT_FILE") {
                let wrong = |error| {
                    let file = file.display();
                    SpecError::new(format!("`{param}=system`: SSL_CERT_FILE {file}: {error}"))
                };
                check_regular(Path::new(&file)).map_err(wrong)?;
            }
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                return Err(SpecError::new(format!(
                    "`{param}=system`: the system has no authorities; use a file instead"
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
        SpecError::new(format!("`{param}` {} is not a readable PEM file: {error}", file.display()))
    };
    let pem = read_file(file).map_err(unreadable)?;
    let certs: Vec<_> =
        CertificateDer::pem_slice_iter(&pem).collect::<Result<_, _>>().map_err(unreadable)?;
    if certs.is_empty() {
        return Err(SpecError::new(format!(
            "`{param}` {} contains no certificate",
            file.display()
        )));
    }
    Ok(certs)
}

/// Verifies as much of a server's certificate as the mode requires. That the server has the
/// certificate's key is verified in every mode.
#[derive(Debug)]
struct Verifier {
    /// `None`: any certificate is accepted.
    inner: Option<Arc<WebPkiServerVerifier>>,
    /// Certificates in the file of authorities. A server's own may be among them, which the
    /// databases' own clients accept as if it were an authority's.
    own_roots: Vec<CertificateDer<'static>>,
    checks_name: bool,
    provider: Arc<CryptoProvider>,
}

/// Verifies the rest of a certificate that is itself trusted: its validity period and its name.
fn verify_itself(
    certificate: &CertificateDer<'_>,
    server_name: &ServerName<'_>,
    now: UnixTime,
) -> Result<ServerCertVerified, rustls::Error> {
    let bad = |error| Err(rustls::Error::InvalidCertificate(error));
    let Ok(read) = x509_cert::Certificate::from_der(certificate) else {
        return bad(CertificateError::BadEncoding);
    };
    let validity = read.tbs_certificate.validity;
    let now = Duration::from_secs(now.as_secs());
    if now < validity.not_before.to_unix_duration() {
        return bad(CertificateError::NotValidYet);
    }
    if now > validity.not_after.to_unix_duration() {
        return bad(CertificateError::Expired);
    }
    verify_server_name(&ParsedCertificate::try_from(certificate)?, server_name)?;
    Ok(ServerCertVerified::assertion())
}

impl Verifier {
    /// The verdict on a handshake's signature. Where any certificate is accepted, one that webpki does
    /// not read at all is accepted too, such as those of X.509 version 1 that `openssl x509 -req` and
    /// some servers make: then its key verifies the signature.
    fn or_by_key(
        &self,
        verdict: Result<HandshakeSignatureValid, rustls::Error>,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let is_unread = matches!(
            verdict,
            Err(rustls::Error::InvalidCertificate(
                CertificateError::Other(_) | CertificateError::BadEncoding
            ))
        );
        // rustls does not know the schemes of RSA-PSS keys.
        let is_unknown = is_of_pss_key(dss.scheme);
        if !is_unknown && (self.inner.is_some() || !is_unread) {
            return verdict;
        }
        let Ok(read) = x509_cert::Certificate::from_der(cert) else { return verdict };
        let key = read.tbs_certificate.subject_public_key_info;
        let kind = key.algorithm.to_der().unwrap_or_default();
        let known = self.provider.signature_verification_algorithms.mapping.iter();
        let fitting = known.filter(|(scheme, _)| *scheme == dss.scheme);
        let mut algorithms = fitting.flat_map(|(_, algorithms)| algorithms.iter());
        let verifies = algorithms.any(|algorithm| {
            (!is_unknown || kind.ends_with(&algorithm.public_key_alg_id()))
                && algorithm
                    .verify_signature(key.subject_public_key.raw_bytes(), message, dss.signature())
                    .is_ok()
        });
        match verifies {
            true => Ok(HandshakeSignatureValid::assertion()),
            false => Err(rustls::Error::InvalidCertificate(CertificateError::BadSignature)),
        }
    }
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
        let mut verdict =
            inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let is_other =
            matches!(verdict, Err(rustls::Error::InvalidCertificate(CertificateError::Other(_))));
        if is_other && self.own_roots.iter().any(|root| root == end_entity) {
            verdict = verify_itself(end_entity, server_name, now);
        }
        // The name is checked last, so an error about it means that the chain is valid.
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
        let verdict = verify_tls12_signature(message, cert, dss, algorithms);
        self.or_by_key(verdict, message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        let verdict = verify_tls13_signature(message, cert, dss, algorithms);
        self.or_by_key(verdict, message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
    use x509_cert::der::Encode as _;

    use super::*;

    fn verdict(params: CertificateParams, trusted: bool, name: &str) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("root.pem");
        let made = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let stranger = CertificateParams::new(vec!["db".into()]).unwrap();
        let mut stranger_is_ca = stranger;
        stranger_is_ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let other = stranger_is_ca.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let root = if trusted { made.pem() } else { other.pem() };
        std::fs::write(&file, root).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = load_roots(&RootCert::File(file.clone()), "ca").unwrap();
        let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone());
        let own_roots = load_certs(&file, "ca").unwrap();
        let inner = Some(inner.build().unwrap());
        let verifier = Verifier { inner, own_roots, checks_name: true, provider };
        let name = ServerName::try_from(name.to_owned()).unwrap();
        let seen = verifier.verify_server_cert(made.der(), &[], &name, &[], UnixTime::now());
        seen.map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn a_certificate_that_is_its_own_authority_is_taken_as_the_databases_clients_do() {
        let made = |is_ca: bool, until: i32| {
            let mut params = CertificateParams::new(vec!["db".into()]).unwrap();
            params.not_after = date_time_ymd(until, 1, 1);
            if is_ca {
                params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            }
            params
        };
        assert_eq!(verdict(made(true, 4000), true, "db"), Ok(()));
        assert_eq!(verdict(made(false, 4000), true, "db"), Ok(()));
        for (params, trusted, name, words) in [
            (made(true, 4000), true, "other", "not valid for name"),
            (made(true, 2020), true, "db", "expired"),
            (made(true, 4000), false, "db", "certificate"),
        ] {
            let error = verdict(params, trusted, name).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    /// A certificate as `openssl x509 -req` makes it: X.509 version 1, without extensions.
    fn of_version_1(key: &KeyPair) -> CertificateDer<'static> {
        let made = CertificateParams::new(vec!["db".into()]).unwrap().self_signed(key).unwrap();
        let mut read = x509_cert::Certificate::from_der(made.der()).unwrap();
        read.tbs_certificate.version = x509_cert::Version::V1;
        read.tbs_certificate.extensions = None;
        read.to_der().unwrap().into()
    }

    /// A handshake with a server that shows a certificate and signs with a key.
    fn handshake(
        setup: &Setup<'_>,
        version: &'static rustls::SupportedProtocolVersion,
        certificate: CertificateDer<'static>,
        key: &KeyPair,
    ) -> Result<(), rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let der = rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let signs = provider.key_provider.load_private_key(der).unwrap();
        let shown = rustls::sign::CertifiedKey::new(vec![certificate], signs);
        let server = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(rustls::sign::SingleCertAndKey::from(shown)));
        let mut server = rustls::ServerConnection::new(Arc::new(server)).unwrap();
        let client = Arc::new(client_config_of(setup, &[version]).unwrap());
        let name = ServerName::try_from("db").unwrap();
        let mut client = rustls::ClientConnection::new(client, name).unwrap();
        while client.is_handshaking() {
            let mut bytes = Vec::new();
            client.write_tls(&mut bytes).unwrap();
            server.read_tls(&mut bytes.as_slice()).unwrap();
            server.process_new_packets()?;
            bytes.clear();
            server.write_tls(&mut bytes).unwrap();
            client.read_tls(&mut bytes.as_slice()).unwrap();
            client.process_new_packets()?;
        }
        Ok(())
    }

    #[test]
    fn a_certificate_of_version_1_is_taken_where_any_is_and_its_key_is_verified() {
        let (key, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let any = Setup {
            roots: None,
            checks_name: false,
            client_cert: None,
            key_password: None,
            params: [""; 3],
        };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("root.pem");
        let root = CertificateParams::new(vec!["db".into()]).unwrap().self_signed(&key).unwrap();
        std::fs::write(&file, root.pem()).unwrap();
        let roots = RootCert::File(file);
        let verified = Setup { roots: Some(&roots), checks_name: true, ..any };
        for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
            handshake(&any, version, of_version_1(&key), &key).unwrap();
            let error = handshake(&any, version, of_version_1(&key), &other).unwrap_err();
            let bad = rustls::Error::InvalidCertificate(CertificateError::BadSignature);
            assert_eq!(error, bad, "{version:?}");
            let error = handshake(&verified, version, of_version_1(&key), &key).unwrap_err();
            let shown = crate::stream::broken(&std::io::Error::other(error));
            assert!(shown.message().contains("has X.509 version 1"), "{version:?}: {shown}");
        }
    }
}

//! A client's certificate with its key: what the databases' own clients read. A key may be in PEM or
//! DER, as PKCS #8, PKCS #1 or SEC 1, and encrypted with a password as PKCS #8 or as OpenSSL did it
//! before that.

use std::path::Path;
use std::sync::Arc;

use aes::{Aes128, Aes192, Aes256};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cbc::Decryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockDecryptMut, KeyIvInit};
use des::TdesEde3;
use md5::{Digest as _, Md5};
use p521::SecretKey;
use p521::pkcs8::DecodePrivateKey as _;
use pkcs8::{EncryptedPrivateKeyInfo, PrivateKeyInfo};
use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SigningKey};
use triphammer_core::SpecError;
use triphammer_core::small_file::{CERTIFICATES_BYTES_MAX, read};
use x509_cert::Certificate;
use x509_cert::der::{Decode as _, Encode as _};

use super::algorithms::{P521Key, PssKey};
use super::ed448::Ed448Key;

const RSA_PSS: &str = "1.2.840.113549.1.1.10";
const EC: &str = "1.2.840.10045.2.1";
const P521: &str = "1.3.132.0.35";
const ED448: &str = "1.3.101.113";

/// Kinds of keys by their object identifiers, for messages.
const KINDS: [(&str, &str); 8] = [
    ("1.2.840.113549.1.1.1", "RSA (of fewer than 2048 bits, or more than 8192)"),
    (RSA_PSS, "RSA-PSS (of fewer than 2048 bits, or for another hash than SHA-2)"),
    ("1.2.840.10040.4.1", "DSA"),
    ("1.3.132.0.10", "EC on the curve secp256k1"),
    ("1.2.840.10045.3.1.1", "EC on the curve P-192"),
    ("1.3.132.0.33", "EC on the curve P-224"),
    ("1.3.36.3.3.2.8.1.1.7", "EC on the curve brainpoolP256r1"),
    ("1.3.36.3.3.2.8.1.1.11", "EC on the curve brainpoolP384r1"),
];
/// What can be used instead.
const USABLE: &str = "use RSA or RSA-PSS of 2048 to 8192 bits, ECDSA with P-256, P-384 or P-521, \
                      Ed25519 or Ed448";

/// Shows a client's certificate to every server that wants one.
#[derive(Debug)]
struct OneCertificate(Arc<CertifiedKey>);

impl ResolvesClientCert for OneCertificate {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

/// Joins a certificate with its key. rustls would read the certificate for that, which it cannot do
/// with one of X.509 version 1, as `openssl x509 -req` makes them.
///
/// # Errors
/// When they do not belong together.
pub(super) fn certified(
    chain: Vec<CertificateDer<'static>>,
    key: Arc<dyn SigningKey>,
) -> Result<Arc<dyn ResolvesClientCert>, &'static str> {
    let in_certificate = chain.first().and_then(|der| {
        let read = Certificate::from_der(der).ok()?;
        read.tbs_certificate.subject_public_key_info.to_der().ok()
    });
    if let (Some(shown), Some(own)) = (in_certificate, key.public_key())
        && shown != own.as_ref()
    {
        return Err("the key is not that of the certificate");
    }
    Ok(Arc::new(OneCertificate(Arc::new(CertifiedKey::new(chain, key)))))
}

/// Reads a client's key; `param` is the parameter that names its file.
///
/// # Errors
/// When the file cannot be read, is encrypted with another password, or has a key of another kind;
/// the message names the kind.
pub(super) fn client_key(
    file: &Path,
    password: Option<&str>,
    param: &str,
) -> Result<Arc<dyn SigningKey>, SpecError> {
    let wrong = |what: String| SpecError::new(format!("`{param}` {}: {what}", file.display()));
    let bytes = read(file, CERTIFICATES_BYTES_MAX)
        .map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let key = PlainKey::of(&bytes, password).map_err(wrong)?;
    key.signing_key().map_err(wrong)
}

/// A key that is not encrypted, in its structure.
enum PlainKey {
    Pkcs8(Vec<u8>),
    Pkcs1(Vec<u8>),
    Sec1(Vec<u8>),
}

impl PlainKey {
    /// Finds the key in a file of either form.
    fn of(bytes: &[u8], password: Option<&str>) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        let mut parts = sections(text);
        if let Some(part) = parts.find(|part| part.label.ends_with("PRIVATE KEY")) {
            return Self::in_section(&part, password);
        }
        if text.contains("-----BEGIN ") {
            return Err("contains no private key".to_owned());
        }
        if let Ok(encrypted) = EncryptedPrivateKeyInfo::from_der(bytes) {
            return decrypted(&encrypted, password);
        }
        let bytes = bytes.to_vec();
        match PrivateKeyDer::try_from(bytes.clone()) {
            Ok(PrivateKeyDer::Pkcs1(_)) => Ok(Self::Pkcs1(bytes)),
            Ok(PrivateKeyDer::Sec1(_)) => Ok(Self::Sec1(bytes)),
            Ok(PrivateKeyDer::Pkcs8(_)) => Ok(Self::Pkcs8(bytes)),
            _ => Err("is not a key in PEM or DER (PKCS #8, PKCS #1 or SEC 1)".to_owned()),
        }
    }

    fn in_section(part: &Section<'_>, password: Option<&str>) -> Result<Self, String> {
        let der = part.content()?;
        let der = match part.encryption() {
            Some(encryption) => decrypted_as_before(&der, encryption, password)?,
            None => der,
        };
        match part.label {
            "PRIVATE KEY" => Ok(Self::Pkcs8(der)),
            "RSA PRIVATE KEY" => Ok(Self::Pkcs1(der)),
            "EC PRIVATE KEY" => Ok(Self::Sec1(der)),
            "ENCRYPTED PRIVATE KEY" => {
                let encrypted = EncryptedPrivateKeyInfo::from_der(&der);
                decrypted(&encrypted.map_err(|error| error.to_string())?, password)
            }
            other => Err(format!("a key in the form `{other}` cannot be used: {USABLE}")),
        }
    }

    fn signing_key(self) -> Result<Arc<dyn SigningKey>, String> {
        let known = match &self {
            Self::Pkcs8(der) => PrivateKeyDer::Pkcs8(der.clone().into()),
            Self::Pkcs1(der) => PrivateKeyDer::Pkcs1(der.clone().into()),
            Self::Sec1(der) => PrivateKeyDer::Sec1(der.clone().into()),
        };
        if let Ok(key) = any_supported_type(&known) {
            return Ok(key);
        }
        let of_p521 = |key: SecretKey| Some(Arc::new(P521Key::new(&key)?) as Arc<dyn SigningKey>);
        let (found, kind) = match &self {
            Self::Pkcs8(der) => {
                let info = PrivateKeyInfo::from_der(der).map_err(|error| error.to_string())?;
                let (kind, params) = (info.algorithm.oid.to_string(), info.algorithm.parameters);
                let found = match kind.as_str() {
                    RSA_PSS => {
                        let params = params.and_then(|params| params.to_der().ok());
                        let key = PssKey::new(info.private_key, &params.unwrap_or_default());
                        key.map(|key| Arc::new(key) as Arc<dyn SigningKey>)
                    }
                    EC => SecretKey::from_pkcs8_der(der).ok().and_then(of_p521),
                    ED448 => {
                        let key = Ed448Key::new(info.private_key);
                        key.map(|key| Arc::new(key) as Arc<dyn SigningKey>)
                    }
                    _ => None,
                };
                (found, curve(&info).unwrap_or(kind))
            }
            Self::Sec1(der) => {
                (SecretKey::from_sec1_der(der).ok().and_then(of_p521), EC.to_owned())
            }
            Self::Pkcs1(_) => (None, KINDS[0].0.to_owned()),
        };
        found.ok_or_else(|| unusable(&kind))
    }
}

/// The curve of an EC key, by its object identifier.
fn curve(info: &PrivateKeyInfo<'_>) -> Option<String> {
    let (_, curve) = info.algorithm.oids().ok()?;
    (info.algorithm.oid.to_string() == EC).then(|| curve.map(|curve| curve.to_string()))?
}

fn unusable(kind: &str) -> String {
    let known = KINDS.iter().find(|(id, _)| *id == kind).map(|(_, name)| *name);
    match known {
        Some(name) => format!("a key of the kind {name} cannot be used: {USABLE}"),
        None if kind == EC || kind == P521 => format!("the EC key cannot be used: {USABLE}"),
        None => format!("a key of the kind {kind} cannot be used: {USABLE}"),
    }
}

/// A part of a PEM file.
struct Section<'a> {
    label: &'a str,
    headers: Vec<(&'a str, &'a str)>,
    body: String,
}

impl Section<'_> {
    fn content(&self) -> Result<Vec<u8>, String> {
        STANDARD.decode(&self.body).map_err(|error| format!("is not valid PEM: {error}"))
    }

    /// Cipher and salt, if OpenSSL encrypted the part as it did before PKCS #8.
    fn encryption(&self) -> Option<&str> {
        self.headers.iter().find(|(name, _)| *name == "DEK-Info").map(|(_, value)| *value)
    }
}

fn sections(text: &str) -> impl Iterator<Item = Section<'_>> {
    let mut lines = text.lines().map(str::trim);
    std::iter::from_fn(move || {
        let begin = |line: &str| line.starts_with("-----BEGIN ");
        let label = lines.find(|line| begin(line))?;
        let label = label.trim_start_matches("-----BEGIN ").trim_end_matches("-----");
        let mut section = Section { label, headers: Vec::new(), body: String::new() };
        for line in lines.by_ref().take_while(|line| !line.starts_with("-----END ")) {
            match line.split_once(':') {
                Some((name, value)) => section.headers.push((name, value.trim())),
                None => section.body.push_str(line),
            }
        }
        Some(section)
    })
}

/// The words for a key without its password.
const NO_PASSWORD: &str = "the key is encrypted: give its password (PostgreSQL: `sslpassword`), or \
                           use one that is not (`openssl pkey -in KEY -out NEW`)";

fn decrypted(
    encrypted: &EncryptedPrivateKeyInfo<'_>,
    password: Option<&str>,
) -> Result<PlainKey, String> {
    let password = password.ok_or(NO_PASSWORD)?;
    let key = encrypted.decrypt(password).map_err(|error| {
        format!("the key cannot be decrypted: {error}; check its password, or encrypt it with AES")
    })?;
    Ok(PlainKey::Pkcs8(key.as_bytes().to_vec()))
}

/// Decrypts what OpenSSL encrypted before PKCS #8: the key is made of hashes of password and salt.
fn decrypted_as_before(
    data: &[u8],
    encryption: &str,
    password: Option<&str>,
) -> Result<Vec<u8>, String> {
    let password = password.ok_or(NO_PASSWORD)?.as_bytes();
    let (cipher, salt) = encryption.split_once(',').unwrap_or((encryption, ""));
    let iv = unhex(salt.trim()).ok_or("is not valid PEM: the salt of its encryption")?;
    let length = match cipher {
        "AES-128-CBC" => 16,
        "AES-192-CBC" | "DES-EDE3-CBC" => 24,
        "AES-256-CBC" => 32,
        _ => return Err(format!("the key is encrypted with {cipher}: encrypt it with AES")),
    };
    let key = stretched(password, iv.get(..8).unwrap_or(&iv), length);
    let plain = match cipher {
        "AES-128-CBC" => decrypt::<Decryptor<Aes128>>(&key, &iv, data),
        "AES-192-CBC" => decrypt::<Decryptor<Aes192>>(&key, &iv, data),
        "AES-256-CBC" => decrypt::<Decryptor<Aes256>>(&key, &iv, data),
        _ => decrypt::<Decryptor<TdesEde3>>(&key, &iv, data),
    };
    plain.ok_or_else(|| "the key cannot be decrypted: check its password".to_owned())
}

/// OpenSSL's `EVP_BytesToKey` with MD5 and one round.
fn stretched(password: &[u8], salt: &[u8], length: usize) -> Vec<u8> {
    let mut key: Vec<u8> = Vec::new();
    let mut last: Vec<u8> = Vec::new();
    while key.len() < length {
        last = Md5::new()
            .chain_update(&last)
            .chain_update(password)
            .chain_update(salt)
            .finalize()
            .to_vec();
        key.extend_from_slice(&last);
    }
    key.truncate(length);
    key
}

fn decrypt<C: BlockDecryptMut + KeyIvInit>(key: &[u8], iv: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    C::new_from_slices(key, iv).ok()?.decrypt_padded_vec_mut::<Pkcs7>(data).ok()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use rustls::SignatureAlgorithm;
    use rustls::SignatureScheme as Scheme;

    use super::*;

    fn read_key(name: &str, password: Option<&str>) -> Result<Arc<dyn SigningKey>, String> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tls/test_keys");
        let file = PathBuf::from(folder).join(name);
        client_key(&file, password, "sslkey").map_err(|error| error.to_string())
    }

    #[test]
    fn keys_in_all_forms_are_read_and_sign() {
        for (name, password, algorithm, scheme) in [
            ("p256.pem", None, SignatureAlgorithm::ECDSA, Scheme::ECDSA_NISTP256_SHA256),
            ("p256.der", None, SignatureAlgorithm::ECDSA, Scheme::ECDSA_NISTP256_SHA256),
            (
                "p256_aes.pem",
                Some("secret"),
                SignatureAlgorithm::ECDSA,
                Scheme::ECDSA_NISTP256_SHA256,
            ),
            (
                "p256_aes.der",
                Some("secret"),
                SignatureAlgorithm::ECDSA,
                Scheme::ECDSA_NISTP256_SHA256,
            ),
            (
                "p256_des3.pem",
                Some("secret"),
                SignatureAlgorithm::ECDSA,
                Scheme::ECDSA_NISTP256_SHA256,
            ),
            (
                "p256_scrypt.pem",
                Some("secret"),
                SignatureAlgorithm::ECDSA,
                Scheme::ECDSA_NISTP256_SHA256,
            ),
            (
                "p256_sec1_aes.pem",
                Some("secret"),
                SignatureAlgorithm::ECDSA,
                Scheme::ECDSA_NISTP256_SHA256,
            ),
            (
                "p256_sec1_des3.pem",
                Some("secret"),
                SignatureAlgorithm::ECDSA,
                Scheme::ECDSA_NISTP256_SHA256,
            ),
            ("p521.pem", None, SignatureAlgorithm::ECDSA, Scheme::ECDSA_NISTP521_SHA512),
            ("p521_sec1.pem", None, SignatureAlgorithm::ECDSA, Scheme::ECDSA_NISTP521_SHA512),
            ("ed448.pem", None, SignatureAlgorithm::ED448, Scheme::ED448),
            ("rsa_pss.pem", None, SignatureAlgorithm::RSA, Scheme::Unknown(0x0809)),
            ("rsa_pss_sha256.pem", None, SignatureAlgorithm::RSA, Scheme::Unknown(0x0809)),
        ] {
            let key = read_key(name, password).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(key.algorithm(), algorithm, "{name}");
            let signer = key.choose_scheme(&[scheme]).unwrap();
            assert_eq!(signer.scheme(), scheme, "{name}");
            assert!(signer.sign(b"message").unwrap().len() > 60, "{name}");
        }
    }

    #[test]
    fn a_key_that_cannot_be_used_is_named_by_its_kind_or_what_is_missing() {
        for (name, password, words) in [
            ("secp256k1.pem", None, "EC on the curve secp256k1 cannot be used: use RSA"),
            ("p256_aes.pem", None, "the key is encrypted: give its password"),
            ("p256_aes.der", None, "the key is encrypted: give its password"),
            ("p256_sec1_aes.pem", None, "the key is encrypted: give its password"),
            ("p256_aes.pem", Some("other"), "check its password"),
            ("p256_sec1_aes.pem", Some("other"), "check its password"),
            ("nowhere.pem", None, "cannot be read"),
        ] {
            let error = read_key(name, password).unwrap_err();
            assert!(error.starts_with("`sslkey` ") && error.contains(words), "{name}: {error}");
        }
    }

    #[test]
    fn what_a_key_on_p_521_signs_is_verified() {
        use rustls::pki_types::alg_id;
        let key = read_key("p521.pem", None).unwrap();
        let signer = key.choose_scheme(&[Scheme::ECDSA_NISTP521_SHA512]).unwrap();
        let signed = signer.sign(b"message").unwrap();
        let pem = include_str!("test_keys/p521.pem");
        let public = SecretKey::from_pkcs8_der(&sections(pem).next().unwrap().content().unwrap());
        let public = public.unwrap().public_key().to_sec1_bytes();
        let all = super::super::algorithms::provider().signature_verification_algorithms.all;
        let of_curve = all.iter().find(|known| {
            known.public_key_alg_id() == alg_id::ECDSA_P521
                && known.signature_alg_id() == alg_id::ECDSA_SHA512
        });
        let algorithm = of_curve.unwrap();
        algorithm.verify_signature(&public, b"message", &signed).unwrap();
        assert!(algorithm.verify_signature(&public, b"massage", &signed).is_err());
    }
}

//! Signatures that ring does not offer under their names: those of RSA-PSS keys, which ring can
//! calculate, and those on the curve P-521 and of Ed448 keys, which it cannot. A provider with most
//! of it, such as aws-lc (which lacks Ed448), would compile a C library for minutes; the crates for
//! these curves take seconds.

use std::fmt;
use std::sync::{Arc, LazyLock};

use p521::ecdsa::signature::hazmat::PrehashVerifier as _;
use p521::ecdsa::signature::{Signer as _, Verifier as _};
use p521::ecdsa::{DerSignature, Signature, SigningKey as P521SigningKey, VerifyingKey};
use ring::rand::SystemRandom;
use ring::signature::{self, RsaEncoding, UnparsedPublicKey, VerificationAlgorithm};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{
    AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm, alg_id,
};
use rustls::sign::{Signer, SigningKey};
use rustls::{
    CipherSuiteCommon, Error, SignatureAlgorithm, SignatureScheme, SupportedCipherSuite,
    Tls12CipherSuite,
};
use sha2::Digest as _;

use super::ed448::Ed448;
use super::p521_exchange::P521Group;

/// The schemes of RSA-PSS keys (RFC 8446, section 4.2.3: `rsa_pss_pss_*`), by hash.
const PSS_SHA256: SignatureScheme = SignatureScheme::Unknown(0x0809);
const PSS_SHA384: SignatureScheme = SignatureScheme::Unknown(0x080a);
const PSS_SHA512: SignatureScheme = SignatureScheme::Unknown(0x080b);

/// Whether a scheme is one of RSA-PSS keys, which rustls does not know.
pub(super) fn is_of_pss_key(scheme: SignatureScheme) -> bool {
    matches!(scheme, PSS_SHA256 | PSS_SHA384 | PSS_SHA512)
}

/// The provider of all TLS here: ring, which verifies with what is below too.
pub(super) fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: LazyLock<Arc<CryptoProvider>> = LazyLock::new(|| {
        let ring = rustls::crypto::ring::default_provider();
        let of_ring = ring.signature_verification_algorithms;
        let all = [of_ring.all, ALL].concat();
        let of_any_curve = of_ring.mapping.iter().map(|scheme| with_p521(*scheme));
        let mapping: Vec<_> = of_any_curve.chain(MAPPING.iter().copied()).collect();
        // Made once, and in use as long as the process.
        let algorithms = WebPkiSupportedAlgorithms { all: all.leak(), mapping: mapping.leak() };
        let cipher_suites = ring.cipher_suites.iter().map(|suite| with_all(*suite)).collect();
        let mut kx_groups = ring.kx_groups.clone();
        kx_groups.push(&P521Group);
        let signature_verification_algorithms = algorithms;
        Arc::new(CryptoProvider {
            signature_verification_algorithms,
            cipher_suites,
            kx_groups,
            ..ring
        })
    });
    Arc::clone(&PROVIDER)
}

/// The scheme, with P-521: in TLS 1.2 the schemes of ECDSA name a hash, and leave the curve to the key.
fn with_p521((scheme, algorithms): (SignatureScheme, Algorithms)) -> (SignatureScheme, Algorithms) {
    let p521: &dyn SignatureVerificationAlgorithm = match scheme {
        SignatureScheme::ECDSA_NISTP256_SHA256 => &P521_SHA256,
        SignatureScheme::ECDSA_NISTP384_SHA384 => &P521_SHA384,
        _ => return (scheme, algorithms),
    };
    (scheme, [algorithms, &[p521]].concat().leak())
}

/// The suite, with the signatures of Ed448 and P-521 keys: in TLS 1.2 a suite says what the server may sign its
/// key exchange with. Those of RSA-PSS keys cannot be added: rustls asks for the algorithm of a scheme
/// that it does not know.
fn with_all(suite: SupportedCipherSuite) -> SupportedCipherSuite {
    let SupportedCipherSuite::Tls12(of_ring) = suite else { return suite };
    if !of_ring.sign.contains(&SignatureScheme::ED25519) {
        return suite;
    }
    let more = [SignatureScheme::ED448, SignatureScheme::ECDSA_NISTP521_SHA512];
    let sign = [of_ring.sign, &more].concat().leak();
    // As the provider: made once.
    SupportedCipherSuite::Tls12(Box::leak(Box::new(Tls12CipherSuite {
        common: CipherSuiteCommon {
            suite: of_ring.common.suite,
            hash_provider: of_ring.common.hash_provider,
            confidentiality_limit: of_ring.common.confidentiality_limit,
        },
        prf_provider: of_ring.prf_provider,
        kx: of_ring.kx,
        sign,
        aead_alg: of_ring.aead_alg,
    })))
}

type Algorithms = &'static [&'static dyn SignatureVerificationAlgorithm];

static ALL: Algorithms = &[
    &P521_SHA256,
    &P521_SHA384,
    &P521_SHA512,
    &ANY_SHA256,
    &ANY_SHA384,
    &ANY_SHA512,
    &ONLY_SHA256,
    &ONLY_SHA384,
    &ONLY_SHA512,
    &Ed448,
];

static MAPPING: &[(SignatureScheme, Algorithms)] = &[
    (SignatureScheme::ECDSA_NISTP521_SHA512, &[&P521_SHA512]),
    (PSS_SHA256, &[&ANY_SHA256, &ONLY_SHA256]),
    (PSS_SHA384, &[&ANY_SHA384, &ONLY_SHA384]),
    (PSS_SHA512, &[&ANY_SHA512, &ONLY_SHA512]),
    (SignatureScheme::ED448, &[&Ed448]),
];

/// The identifier of RSA-PSS keys for any hash (RFC 4055): the name without parameters.
const ANY_PSS: AlgorithmIdentifier =
    AlgorithmIdentifier::from_slice(b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0a");

/// Verifies signatures of RSA-PSS keys.
#[derive(Debug)]
struct Pss {
    key: AlgorithmIdentifier,
    signature: AlgorithmIdentifier,
    algorithm: &'static dyn VerificationAlgorithm,
}

macro_rules! pss {
    ($any:ident $only:ident $id:ident $algorithm:ident) => {
        static $any: Pss =
            Pss { key: ANY_PSS, signature: alg_id::$id, algorithm: &signature::$algorithm };
        // A key that is restricted to a hash has its parameters.
        static $only: Pss =
            Pss { key: alg_id::$id, signature: alg_id::$id, algorithm: &signature::$algorithm };
    };
}

pss!(ANY_SHA256 ONLY_SHA256 RSA_PSS_SHA256 RSA_PSS_2048_8192_SHA256);
pss!(ANY_SHA384 ONLY_SHA384 RSA_PSS_SHA384 RSA_PSS_2048_8192_SHA384);
pss!(ANY_SHA512 ONLY_SHA512 RSA_PSS_SHA512 RSA_PSS_2048_8192_SHA512);

impl SignatureVerificationAlgorithm for Pss {
    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        self.key
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.signature
    }

    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let key = UnparsedPublicKey::new(self.algorithm, public_key);
        key.verify(message, signature).map_err(|_| InvalidSignature)
    }
}

/// Verifies signatures on the curve P-521.
#[derive(Debug)]
struct P521 {
    signature: AlgorithmIdentifier,
    verify: fn(&VerifyingKey, &[u8], &Signature) -> bool,
}

static P521_SHA256: P521 = P521 {
    signature: alg_id::ECDSA_SHA256,
    verify: |key, message, signature| verifies_hash(key, &sha2::Sha256::digest(message), signature),
};
static P521_SHA384: P521 = P521 {
    signature: alg_id::ECDSA_SHA384,
    verify: |key, message, signature| verifies_hash(key, &sha2::Sha384::digest(message), signature),
};
static P521_SHA512: P521 = P521 {
    signature: alg_id::ECDSA_SHA512,
    verify: |key, message, signature| key.verify(message, signature).is_ok(),
};

/// Certificates may be signed with a shorter hash than the curve's own.
fn verifies_hash(key: &VerifyingKey, hash: &[u8], signature: &Signature) -> bool {
    // The curve's numbers are longer than these hashes, which the crate takes from half of that on:
    // the leading zeros change nothing.
    let mut padded = [0; 66];
    padded[66 - hash.len()..].copy_from_slice(hash);
    key.verify_prehash(&padded, signature).is_ok()
}

impl SignatureVerificationAlgorithm for P521 {
    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        alg_id::ECDSA_P521
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        self.signature
    }

    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let key = VerifyingKey::from_sec1_bytes(public_key).map_err(|_| InvalidSignature)?;
        let signature = Signature::from_der(signature).map_err(|_| InvalidSignature)?;
        match (self.verify)(&key, message, &signature) {
            true => Ok(()),
            false => Err(InvalidSignature),
        }
    }
}

/// A client's RSA-PSS key.
pub(super) struct PssKey {
    key: Arc<ring::rsa::KeyPair>,
    /// What the key signs with.
    schemes: Vec<SignatureScheme>,
}

impl PssKey {
    /// Reads the key in a PKCS #8 structure: an RSA private key, and the parameters of its
    /// algorithm, which may restrict it to a hash.
    pub(super) fn new(key: &[u8], params: &[u8]) -> Option<Self> {
        let key = Arc::new(ring::rsa::KeyPair::from_der(key).ok()?);
        // The names of the hashes: 2.16.840.1.101.3.4.2 and a number.
        let has = |hash: u8| {
            let name = [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, hash];
            params.windows(name.len()).any(|part| part == name)
        };
        let hashes = [(1, PSS_SHA256), (2, PSS_SHA384), (3, PSS_SHA512)];
        let is_free = !hashes.iter().any(|(hash, _)| has(*hash));
        let schemes = hashes.iter().filter(|(hash, _)| is_free || has(*hash));
        Some(Self { key, schemes: schemes.map(|(_, scheme)| *scheme).collect() })
    }
}

impl fmt::Debug for PssKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PssKey")
    }
}

impl SigningKey for PssKey {
    /// In TLS 1.3 rustls passes on only the schemes that it knows; a server that takes certificates
    /// with such keys takes their schemes.
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let scheme = self.schemes.iter().find(|scheme| offered.contains(scheme));
        let scheme = *scheme.or_else(|| self.schemes.first())?;
        Some(Box::new(PssSigner { key: Arc::clone(&self.key), scheme }))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::RSA
    }
}

struct PssSigner {
    key: Arc<ring::rsa::KeyPair>,
    scheme: SignatureScheme,
}

impl fmt::Debug for PssSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PssSigner")
    }
}

impl Signer for PssSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let encoding: &'static dyn RsaEncoding = match self.scheme {
            PSS_SHA256 => &signature::RSA_PSS_SHA256,
            PSS_SHA384 => &signature::RSA_PSS_SHA384,
            _ => &signature::RSA_PSS_SHA512,
        };
        let mut signed = vec![0; self.key.public().modulus_len()];
        let done = self.key.sign(encoding, &SystemRandom::new(), message, &mut signed);
        done.map_err(|_| Error::General("signing with an RSA-PSS key failed".into()))?;
        Ok(signed)
    }

    fn scheme(&self) -> SignatureScheme {
        self.scheme
    }
}

/// A client's key on the curve P-521.
pub(super) struct P521Key(Arc<P521SigningKey>);

impl P521Key {
    pub(super) fn new(key: &p521::SecretKey) -> Option<Self> {
        P521SigningKey::from_bytes(&key.to_bytes()).ok().map(|key| Self(Arc::new(key)))
    }
}

impl fmt::Debug for P521Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("P521Key")
    }
}

impl SigningKey for P521Key {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let is_offered = offered.contains(&SignatureScheme::ECDSA_NISTP521_SHA512);
        is_offered.then(|| Box::new(Self(Arc::clone(&self.0))) as Box<dyn Signer>)
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ECDSA
    }
}

impl Signer for P521Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let signed: Signature = self.0.sign(message);
        let signed: DerSignature = signed.to_der();
        Ok(signed.as_bytes().to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        SignatureScheme::ECDSA_NISTP521_SHA512
    }
}

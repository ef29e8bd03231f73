//! Signatures of Ed448 keys (RFC 8032), which ring does not have. OpenSSL, and so psql, does.

use std::fmt;
use std::sync::Arc;

use ed448_goldilocks_plus::{
    PUBLIC_KEY_LENGTH, SECRET_KEY_LENGTH, SIGNATURE_LENGTH, Signature,
    SigningKey as Ed448SigningKey, VerifyingKey,
};
use rustls::pki_types::{AlgorithmIdentifier, InvalidSignature, SignatureVerificationAlgorithm};
use rustls::sign::{Signer, SigningKey};
use rustls::{Error, SignatureAlgorithm, SignatureScheme};

/// The identifier of keys and of signatures (RFC 8410): 1.3.101.113 without parameters.
const ID: AlgorithmIdentifier = AlgorithmIdentifier::from_slice(b"\x06\x03\x2b\x65\x71");

/// Verifies signatures of Ed448 keys.
#[derive(Debug)]
pub(super) struct Ed448;

impl SignatureVerificationAlgorithm for Ed448 {
    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        ID
    }

    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        ID
    }

    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let key: &[u8; PUBLIC_KEY_LENGTH] = public_key.try_into().map_err(|_| InvalidSignature)?;
        let key = VerifyingKey::from_bytes(key).map_err(|_| InvalidSignature)?;
        let signature: &[u8; SIGNATURE_LENGTH] =
            signature.try_into().map_err(|_| InvalidSignature)?;
        let signature = Signature::from_bytes(signature).map_err(|_| InvalidSignature)?;
        key.verify_raw(&signature, message).map_err(|_| InvalidSignature)
    }
}

/// A client's Ed448 key.
pub(super) struct Ed448Key(Arc<Ed448SigningKey>);

impl Ed448Key {
    /// Reads the key in a PKCS #8 structure: an octet string within (RFC 8410, section 7).
    pub(super) fn new(key: &[u8]) -> Option<Self> {
        let length = u8::try_from(SECRET_KEY_LENGTH).ok()?;
        let secret = key.strip_prefix(&[0x04, length])?;
        Ed448SigningKey::try_from(secret).ok().map(|key| Self(Arc::new(key)))
    }
}

impl fmt::Debug for Ed448Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ed448Key")
    }
}

impl SigningKey for Ed448Key {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let is_offered = offered.contains(&SignatureScheme::ED448);
        is_offered.then(|| Box::new(Self(Arc::clone(&self.0))) as Box<dyn Signer>)
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ED448
    }
}

impl Signer for Ed448Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(self.0.sign_raw(message).to_bytes().to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        SignatureScheme::ED448
    }
}

#[cfg(test)]
mod tests {
    use pkcs8::PrivateKeyInfo;
    use rustls::pki_types::PrivatePkcs8KeyDer;
    use rustls::pki_types::pem::PemObject as _;

    use super::*;

    /// Of `message` with test_keys/ed448.pem, by `openssl pkeyutl -sign -rawin` of OpenSSL 3.0;
    /// signatures of this kind have no random part.
    const SIGNED: &str = "291165c283240b3995abd44080b3db0b329ca8503961c678cf7f154456e9aed1405568\
                          3d363fd3edefc2cffc857ce12d85f6a8b452810f3300a03107dc17e91298a35deec57a\
                          aba2d1ac89e8f8483aabe9c6328f2901a7a3a040027b0426ce27a5811003a8addd3ee1\
                          e621171498d6661800";

    #[test]
    fn signatures_are_those_of_openssl() {
        let der = PrivatePkcs8KeyDer::from_pem_slice(include_bytes!("test_keys/ed448.pem"));
        let der = der.unwrap();
        let info = PrivateKeyInfo::try_from(der.secret_pkcs8_der()).unwrap();
        let key = Ed448Key::new(info.private_key).unwrap();
        assert!(key.choose_scheme(&[SignatureScheme::ED25519]).is_none());
        let signer = key.choose_scheme(&[SignatureScheme::ED448]).unwrap();
        let signed = signer.sign(b"message").unwrap();
        let hex: String = signed.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, SIGNED);

        let public = key.0.verifying_key().to_bytes();
        Ed448.verify_signature(&public, b"message", &signed).unwrap();
        Ed448.verify_signature(&public, b"massage", &signed).unwrap_err();
        Ed448.verify_signature(&public, b"message", &signed[1..]).unwrap_err();
        Ed448.verify_signature(&public[1..], b"message", &signed).unwrap_err();
    }
}

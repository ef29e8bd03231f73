//! The RSA key with which a password is encrypted for a server. It comes from an unverified peer,
//! so everything about it is checked before it is passed to the library, which trusts it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mysql_common::crypto::encrypt;
use triphammer_core::{DbError, ErrorClass};
use x509_cert::der::asn1::UintRef;
use x509_cert::der::{Decode as _, Reader as _, SliceReader};
use x509_cert::spki::SubjectPublicKeyInfoRef;

const BEGIN: &[u8] = b"-----BEGIN PUBLIC KEY-----";
const END: &[u8] = b"-----END PUBLIC KEY-----";
/// Length of a modulus in bytes: from 1024 bits, the shortest that servers generate, to 8192.
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 128..=1024;
/// Bytes of the modulus that padding takes (RFC 8017, OAEP with SHA-1), and one byte for a modulus
/// that does not fill its first one.
const PADDING_BYTES: usize = 2 * 20 + 2 + 1;

/// Encrypts a password with the key that a server has sent.
///
/// # Errors
/// `Refused` when the key is invalid, or too short for the password.
pub fn encrypt_by(key: &[u8], password: &[u8]) -> Result<Vec<u8>, DbError> {
    let refuse = |what: &str| {
        let message = format!("the server's public key {what}; use ssl-mode=REQUIRED instead");
        Err(DbError::new(ErrorClass::Refused, message))
    };
    let Some(length) = modulus_bytes(key) else { return refuse("cannot be parsed") };
    if !MODULUS_BYTES.contains(&length) {
        return refuse("does not have 1024 to 8192 bits");
    }
    if password.len() > length - PADDING_BYTES {
        return refuse("is too short for the password");
    }
    Ok(encrypt(password, key))
}

/// Length of the modulus if this is one RSA key in PEM, as strictly as servers write it.
fn modulus_bytes(pem: &[u8]) -> Option<usize> {
    let body = pem.trim_ascii().strip_prefix(BEGIN)?.strip_suffix(END)?;
    let base64: Vec<u8> = body.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
    let der = STANDARD.decode(base64).ok()?;
    let info = SubjectPublicKeyInfoRef::from_der(&der).ok()?;
    let mut reader = SliceReader::new(info.subject_public_key.as_bytes()?).ok()?;
    let (modulus, exponent) = reader
        .sequence(|fields| Ok((fields.decode::<UintRef<'_>>()?, fields.decode::<UintRef<'_>>()?)))
        .ok()?;
    reader.finish(()).ok()?;
    let (modulus, exponent) = (modulus.as_bytes(), exponent.as_bytes());
    // An even modulus is not a product of odd primes, and no server uses an even or long exponent.
    let is_odd = |number: &[u8]| number.last().is_some_and(|byte| byte % 2 == 1);
    (is_odd(modulus) && is_odd(exponent) && exponent.len() <= 4).then_some(modulus.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key of 2048 bits.
    const KEY: &str = "-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAxSKOcxiet8lLMn8ImyUE
bGGKob5EdRz/4wdiw12ED0GfKKTKhVnodFCfm1mdy7bKOX5QxL9skrvYodpW43eR
R5bfOzIgy1qIB8RYb6qOXRBw1oA4snBDqtUjDv/lbHLJN+IbzM4oU+e3Lt9rXyLX
VY289ewONPweXHqSCnTL91w+wkU1peIFV2QhZ+upUCdCtwOn5hnJPNgxtbklFoya
C8W3Z7Xx7He2QDJsEWAqX197efw0L6j8X8Tyd8Uwb7zUB1tfMGhHfm9EwejPAtzx
4GztQNtNMtGS2oGZLQBLV9hib4dDL92iiZeckg2LAf4GsJofLLR8mcHCRoqVbQJ1
YQIDAQAB
-----END PUBLIC KEY-----
";

    #[test]
    fn a_password_that_fits_is_encrypted() {
        assert_eq!(encrypt_by(KEY.as_bytes(), b"secret\0").unwrap().len(), 256);
        assert_eq!(encrypt_by(KEY.as_bytes(), &[7; 213]).unwrap().len(), 256);
        let error = encrypt_by(KEY.as_bytes(), &[7; 214]).unwrap_err();
        assert!(error.message().contains("too short for the password"), "{error}");
    }

    /// However a key is damaged, it is used or rejected.
    #[test]
    fn a_broken_key_is_refused() {
        let mut rng = triphammer_core::Rng::of(1, &[]);
        let mut below = |end: usize| usize::try_from(rng.below(end as u64)).unwrap();
        for _ in 0..3_000 {
            let mut der = STANDARD.decode(KEY.lines().skip(1).take(7).collect::<String>()).unwrap();
            for _ in 0..=below(3) {
                let (at, place) = (below(der.len().min(30)), below(der.len()));
                match below(4) {
                    0 => der[at] = u8::try_from(below(256)).unwrap(),
                    1 => der[place] ^= 1 << below(8),
                    2 => der.truncate(place.max(1)),
                    _ => der.insert(at.min(der.len()), 0x84),
                }
            }
            let text = STANDARD.encode(&der);
            let pem = format!("-----BEGIN PUBLIC KEY-----\n{text}\n-----END PUBLIC KEY-----");
            let _ = encrypt_by(pem.as_bytes(), b"secret\0");
        }
        let bodies = ["", "!", "AAAA", "MAA=", "MIIB", "-----", "-----BEGIN RSA PUBLIC KEY-----"];
        for body in bodies {
            let pem = format!("-----BEGIN PUBLIC KEY-----{body}-----END PUBLIC KEY-----");
            let error = encrypt_by(pem.as_bytes(), b"secret\0").unwrap_err();
            assert_eq!(error.class(), ErrorClass::Refused, "{body}: {error}");
        }
        for key in
            ["-----BEGIN PUBLIC KEY-----", "", "-----BEGIN PUBLIC KEY-----END PUBLIC KEY-----"]
        {
            assert!(encrypt_by(key.as_bytes(), b"x").is_err(), "{key}");
        }
    }
}

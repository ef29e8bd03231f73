//! Key exchange on the curve P-521, which ring does not have. In TLS 1.2 a server with a key on a curve
//! may use it only with clients that can exchange keys on that curve, too (RFC 8422, section 5.1). It
//! comes last: a server takes it only if it takes no other.

use p521::PublicKey;
use p521::ecdh::EphemeralSecret;
use p521::elliptic_curve::rand_core::OsRng;
use rustls::crypto::{ActiveKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::{Error, NamedGroup, PeerMisbehaved};

/// The curve, as a group for key exchanges.
#[derive(Debug)]
pub(super) struct P521Group;

impl SupportedKxGroup for P521Group {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let secret = EphemeralSecret::random(&mut OsRng);
        let public = secret.public_key().to_sec1_bytes();
        Ok(Box::new(Exchange { secret, public }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::secp521r1
    }
}

/// A key exchange that waits for the server's half.
struct Exchange {
    secret: EphemeralSecret,
    /// An uncompressed point.
    public: Box<[u8]>,
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        const UNCOMPRESSED: u8 = 4;
        let key = Some(peer).filter(|point| point.first() == Some(&UNCOMPRESSED));
        let key = key.and_then(|point| PublicKey::from_sec1_bytes(point).ok());
        let key = key.ok_or(Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare))?;
        let shared = self.secret.diffie_hellman(&key);
        Ok(SharedSecret::from(shared.raw_secret_bytes().as_slice()))
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::secp521r1
    }
}

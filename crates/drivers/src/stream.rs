//! The bytes under a driver's messages: a socket, or TLS over one. An enum, so that a plain socket
//! is used without indirection. A driver whose protocol wraps the handshake puts its own type
//! around the socket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustls::AlertDescription;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use triphammer_core::{DbError, ErrorClass};

use crate::socket::{Socket, plain};

/// A connected stream of either kind; `T` is TLS over a socket, of a client unless stated otherwise.
pub enum Stream<S = Socket, T = TlsStream<S>> {
    /// A socket without TLS.
    Plain(S),
    /// TLS over a socket.
    Tls(Box<T>),
}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream<S> {
    /// Starts TLS on a socket, with a server that has agreed to it. For the name see
    /// [`host_in_certificate`](crate::tls::host_in_certificate).
    ///
    /// # Errors
    /// `Disconnected` when the connection breaks, `Refused` when certificates will fail the next
    /// time too.
    pub async fn secure(connector: &TlsConnector, socket: S, host: &str) -> Result<Self, DbError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|error| {
            let message =
                format!("TLS failed: a certificate cannot be issued for this host name: {error}");
            DbError::new(ErrorClass::Refused, message)
        })?;
        let stream = connector.connect(name, socket).await.map_err(|error| broken(&error))?;
        Ok(Self::Tls(Box::new(stream)))
    }

    /// Whether the connection uses TLS.
    pub fn has_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// TLS version and cipher; `None` without TLS.
    pub fn cipher(&self) -> Option<String> {
        let Self::Tls(stream) = self else { return None };
        let session = stream.get_ref().1;
        let version = session.protocol_version().and_then(|version| version.as_str().map(spaced));
        let suite = session.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite()));
        Some(format!("{} {}", version.unwrap_or_default(), suite.unwrap_or_default()))
    }
}

/// Formats `TLSv1_3` for people.
fn spaced(version: &str) -> String {
    version.replace('_', ".")
}

/// The error for a connection that was closed without a message.
pub fn closed() -> DbError {
    DbError::new(ErrorClass::Disconnected, "the server closed the connection")
}

/// The error for a broken connection. A TLS alert, such as about our certificate, is a rejection; a
/// server sends it after our half of the handshake, so it may arrive with the first answer.
#[cold]
pub fn broken(error: &io::Error) -> DbError {
    let tls = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    match tls {
        Some(tls) => DbError::new(ErrorClass::Refused, format!("TLS failed: {}", tls_words(tls))),
        None => {
            let message = format!("lost the connection: {}", plain(error));
            DbError::new(ErrorClass::Disconnected, message)
        }
    }
}

/// A failure of TLS for people; most of rustls' own words are.
fn tls_words(error: &rustls::Error) -> String {
    let words = error.to_string();
    if words.contains("UnsupportedCertVersion") {
        return "the server's certificate has X.509 version 1, which has no host names and cannot be \
                verified: give the server one of version 3, with a subjectAltName"
            .to_owned();
    }
    // OpenSSL's "wrong curve", which a server tells its log only.
    if matches!(error, rustls::Error::AlertReceived(AlertDescription::IllegalParameter)) {
        return format!(
            "{words}: with TLS 1.2, servers take clients' ECDSA keys on the curves that they exchange \
             keys on only (PostgreSQL: ssl_ecdh_curve); use such a key or one of RSA, or TLS 1.3"
        );
    }
    if matches!(error, rustls::Error::AlertReceived(AlertDescription::HandshakeFailure)) {
        return format!(
            "{words}: the two have no algorithm in common; supported are servers' keys of the kinds \
             RSA, RSA-PSS, ECDSA (P-256, P-384, P-521), Ed25519 and Ed448, so one of DSA or another \
             curve must be replaced"
        );
    }
    words
}

impl<S: AsyncRead + Unpin, T: AsyncRead + Unpin> AsyncRead for Stream<S, T> {
    #[inline]
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl<S: AsyncWrite + Unpin, T: AsyncWrite + Unpin> AsyncWrite for Stream<S, T> {
    #[inline]
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_write(cx, data),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, data),
        }
    }

    #[inline]
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(socket) => Pin::new(socket).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }
}

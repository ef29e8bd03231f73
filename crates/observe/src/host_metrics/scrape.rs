//! Fetches the text of a node exporter.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, HOST};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Maximum time of one reading.
const LIMIT: Duration = Duration::from_secs(5);
/// Maximum size of the text.
const BYTES_MAX: usize = 32 << 20;

/// Address of a node exporter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exporter {
    /// Host name or address, without brackets.
    pub host: String,
    port: u16,
    authority: String,
    path: String,
}

impl FromStr for Exporter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "invalid URL of the node exporter: expected a URL such as http://db1:9100/metrics; only \
             http:// is supported"
                .to_owned()
        };
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let authority = uri.authority().filter(|it| !it.host().is_empty()).ok_or_else(wrong)?;
        if uri.scheme_str() != Some("http") || authority.as_str().contains('@') {
            return Err(wrong());
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        Ok(Self {
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(9100),
            authority: authority.to_string(),
            path: if path == "/" { "/metrics".to_owned() } else { path.to_owned() },
        })
    }
}

impl fmt::Display for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority, self.path)
    }
}

impl Exporter {
    /// Fetches the text.
    ///
    /// # Errors
    /// When there is no complete answer in time.
    pub async fn fetch(&self) -> Result<String, String> {
        let fetched = tokio::time::timeout(LIMIT, self.get()).await;
        fetched.unwrap_or_else(|_| Err(format!("no answer within {} s", LIMIT.as_secs())))
    }

    async fn get(&self) -> Result<String, String> {
        let words = |error: &dyn fmt::Display| error.to_string();
        let stream = TcpStream::connect((self.host.as_str(), self.port));
        let stream = stream.await.map_err(|error| words(&error))?;
        let connected = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = connected.map_err(|error| words(&error))?;
        let request = Request::get(&self.path)
            .header(HOST, &self.authority)
            .header(ACCEPT, "text/plain")
            .body(Empty::<Bytes>::new())
            .map_err(|error| words(&error))?;
        let answer = async {
            let answer = sender.send_request(request).await.map_err(|error| words(&error))?;
            let status = answer.status();
            if !status.is_success() {
                return Err(format!("it answers {status}"));
            }
            let body = Limited::new(answer.into_body(), BYTES_MAX).collect().await;
            let bytes = body.map_err(|error| words(&error))?.to_bytes();
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        tokio::pin!(answer);
        tokio::select! {
            answer = &mut answer => answer,
            // The connection ends with the answer, or breaks.
            _ = connection => answer.await,
        }
    }
}

//! Addresses at which metrics are served or to which they are sent.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

use hyper::Uri;

/// Port of OTLP over HTTP, by the specification of the protocol.
const OTLP_PORT: u16 = 4318;
/// Default port of https, used by hosted collectors.
const HTTPS_PORT: u16 = 443;
/// Path of metrics below an endpoint, as specified.
const METRICS: &str = "/v1/metrics";

/// Reads a listen address; a port alone means the loopback interface, so that an omission does not
/// expose the port.
pub(super) fn listen(text: &str) -> Result<SocketAddr, String> {
    let wrong = || {
        format!(
            "invalid address `{text}`: expected a port or an address with a port, \
                            such as 127.0.0.1:9187 or [::1]:9187"
        )
    };
    if let Ok(port) = text.trim_start_matches(':').parse() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    let named = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    match named {
        Some(port) => Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)),
        None => text.parse().map_err(|_| wrong()),
    }
}

/// Address of an OpenTelemetry collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Collector {
    /// Whether to connect with TLS.
    pub has_tls: bool,
    /// Host name or address, without brackets.
    pub host: String,
    pub port: u16,
    /// Path of the metrics endpoint: `/v1/metrics`.
    pub path: String,
}

impl FromStr for Collector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            "invalid URL of the collector: expected a URL such as http://localhost:4318".to_owned()
        };
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let has_tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(wrong()),
        };
        let authority = uri.authority().filter(|it| !it.host().is_empty()).ok_or_else(wrong)?;
        if authority.as_str().contains('@') {
            return Err("the URL of the collector must not contain a user or password".to_owned());
        }
        let base = uri.path().trim_end_matches('/');
        let path =
            if base.ends_with(METRICS) { base.to_owned() } else { format!("{base}{METRICS}") };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let usual_port = if has_tls { HTTPS_PORT } else { OTLP_PORT };
        Ok(Self { has_tls, host, port: authority.port_u16().unwrap_or(usual_port), path })
    }
}

impl Collector {
    /// Host and port: `localhost:4318`, `[::1]:4318`.
    pub fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Display for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.has_tls { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority(), self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_on_loopback() {
        for (text, address) in [
            ("9187", "127.0.0.1:9187"),
            (":9187", "127.0.0.1:9187"),
            ("localhost:9187", "127.0.0.1:9187"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(listen(text).unwrap().to_string(), address);
        }
        for text in ["", "99999", "example.org:80", "127.0.0.1", "http://127.0.0.1:80"] {
            assert!(listen(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_collector_is_named_by_its_base() {
        for (text, url) in [
            ("http://localhost:4318", "http://localhost:4318/v1/metrics"),
            ("http://localhost", "http://localhost:4318/v1/metrics"),
            ("http://c:80/otlp/", "http://c:80/otlp/v1/metrics"),
            ("http://c:80/v1/metrics", "http://c:80/v1/metrics"),
            ("http://[::1]:4318", "http://[::1]:4318/v1/metrics"),
            ("https://localhost:4318", "https://localhost:4318/v1/metrics"),
            ("https://c/otlp", "https://c:443/otlp/v1/metrics"),
        ] {
            assert_eq!(text.parse::<Collector>().unwrap().to_string(), url);
        }
        for text in ["", "localhost:4318", "https://", "ftp://c", "http://u:secret@c", "/v1"] {
            let error = text.parse::<Collector>().unwrap_err();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}

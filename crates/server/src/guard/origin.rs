//! Browsers send requests on behalf of any page. Two checks keep other sites' pages out: the host
//! name must be the server's own (which stops DNS rebinding), and a request with an origin must
//! come from the server's own pages.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};

use crate::error::ApiError;

/// Allowed host names.
#[derive(Clone, Debug)]
pub struct Hosts {
    names: Vec<String>,
    scheme: &'static str,
}

impl Hosts {
    /// Allows addresses, `localhost` and these names.
    pub fn new(names: &[String], tls: bool) -> Self {
        let names = names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { names, scheme: if tls { "https" } else { "http" } }
    }

    /// Checks the host name and the origin of a request.
    ///
    /// # Errors
    /// When either is not the server's own.
    pub fn check(&self, request: &Request) -> Result<(), ApiError> {
        let headers = request.headers();
        // An absolute URI has the same host as the `Host` header, which every request has.
        let host = one(headers, header::HOST)
            .filter(|host| request.uri().authority().is_none_or(|named| named.as_str() == *host));
        let Some(host) = host.filter(|host| self.is_ours(host)) else {
            let message = "unknown host name; use the server's address, or start the server with \
                           --host NAME";
            return Err(ApiError::new(StatusCode::MISDIRECTED_REQUEST, "host", message));
        };
        let refused = || {
            let message = "requests from pages of other sites are rejected";
            Err(ApiError::new(StatusCode::FORBIDDEN, "cross_site", message))
        };
        if headers.contains_key(header::ORIGIN) {
            let ours = format!("{}://{host}", self.scheme);
            if one(headers, header::ORIGIN).is_none_or(|origin| !origin.eq_ignore_ascii_case(&ours))
            {
                return refused();
            }
        }
        // A link on another site may point to our pages, but not to the API.
        let navigates = one(headers, "sec-fetch-mode") == Some("navigate")
            && request.method().is_safe()
            && !request.uri().path().starts_with("/api/");
        match one(headers, "sec-fetch-site") {
            None | Some("same-origin" | "none") => Ok(()),
            Some(_) if navigates => Ok(()),
            Some(_) => refused(),
        }
    }

    /// The owner of a name can point it at this address; an IP address cannot be redirected.
    fn is_ours(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, port)) if port.is_empty() || is_port(port.strip_prefix(':')) => address,
            Some(_) => return false,
            None => match host.split_once(':') {
                Some((name, port)) if is_port(Some(port)) => name,
                Some(_) => return false,
                None => host,
            },
        };
        let name = name.to_ascii_lowercase();
        name.parse::<IpAddr>().is_ok() || name == "localhost" || self.names.contains(&name)
    }
}

fn is_port(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.parse::<u16>().is_ok())
}

/// The value of a header that occurs exactly once.
fn one(headers: &HeaderMap, name: impl header::AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_are_refused_and_addresses_are_not() {
        let hosts = Hosts::new(&["Bench.example".to_owned()], false);
        for ours in [
            "127.0.0.1:7400",
            "localhost",
            "LOCALHOST:7400",
            "[::1]:7400",
            "[::1]",
            "10.0.0.1",
            "bench.example:7400",
        ] {
            assert!(hosts.is_ours(ours), "{ours}");
        }
        for theirs in [
            "",
            "evil.example",
            "evil.example:7400",
            "localhost.evil.example",
            "127.0.0.1.nip.io",
            "127.0.0.1:7400:1",
            "localhost:x",
            "[::1",
            "[::1]x",
            "[evil.example]",
        ] {
            assert!(!hosts.is_ours(theirs), "{theirs}");
        }
    }
}

//! Access control: each request passes the checks of its host, its origin and its token, in this
//! order, and the limits of time and size; later internal errors are reported without details.

mod login;
mod origin;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Redirect, Response};
use futures_util::FutureExt;

pub use login::{Login, TOKEN_MIN, random as random_token};
pub use origin::Hosts;

use crate::config::ServerLimits;
use crate::error::ApiError;
use crate::limiter::Visitor;

/// Path of the metrics: the one that Prometheus uses by default. It has a token of its own.
pub const METRICS_PATH: &str = "/metrics";
/// Delay of the response to a wrong token.
pub const WRONG_TOKEN_WAIT: Duration = Duration::from_millis(500);
/// Maximum size of a request body, in bytes.
const BODY_MAX: usize = 1 << 20;

/// State of the checks.
#[derive(Debug)]
pub struct Guard {
    /// Allowed host names.
    pub hosts: Hosts,
    /// The token, and the logged-in browsers.
    pub login: Login,
    /// Time limits and connection limits.
    pub limits: ServerLimits,
}

/// Adds the checks to the routes.
pub fn around(routes: Router, guard: &Arc<Guard>) -> Router {
    routes
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(middleware::from_fn_with_state(Arc::clone(guard), check))
        .layer(middleware::from_fn_with_state(Arc::clone(guard), contain))
}

/// Rejects requests that fail a check.
async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    if let Some(error) = guard.refusal(&request) {
        return error.into_response();
    }
    match guard.shown_in_link(&request) {
        Some(true) => guard.welcome(request.uri().path()),
        Some(false) => {
            tokio::time::sleep(WRONG_TOKEN_WAIT).await;
            Redirect::to("/login").into_response()
        }
        None => next.run(request).await,
    }
}

/// Limits the time of a request, catches panics, and sets common response headers.
async fn contain(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let work = std::panic::AssertUnwindSafe(next.run(request)).catch_unwind();
    let mut response = match tokio::time::timeout(guard.limits.request, work).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => ApiError::internal().into_response(),
        Err(_) => {
            let message = "the request timed out";
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message).into_response()
        }
    };
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Sets the common headers. Browsers and proxies cache only responses that allow it explicitly.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
         connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

impl Guard {
    /// Whether the token in the link to a page is correct; `None` for a link without a token.
    fn shown_in_link(&self, request: &Request) -> Option<bool> {
        if request.method() != Method::GET || request.uri().path().starts_with("/api/") {
            return None;
        }
        let pairs = request.uri().query()?.split('&').filter_map(|pair| pair.split_once('='));
        let shown = pairs.filter(|(name, _)| *name == "token").map(|(_, value)| value).next()?;
        let shown = percent_encoding::percent_decode_str(shown).decode_utf8_lossy();
        Some(self.login.is_token(&shown))
    }

    /// Logs the browser in and redirects it to a link without the token, which keeps the token out
    /// of the address bar and the history.
    fn welcome(&self, path: &str) -> Response {
        // Two leading slashes would redirect to another host.
        let path = format!("/{}", path.trim_start_matches(['/', '\\']));
        let mut response = Redirect::to(&path).into_response();
        let cookie = HeaderValue::from_str(&self.login.begin_session());
        let cookie = cookie.expect("a cookie of ours is plain text");
        response.headers_mut().insert(header::SET_COOKIE, cookie);
        response
    }

    /// The reason to reject a request; `None` if it passes.
    fn refusal(&self, request: &Request) -> Option<ApiError> {
        let (headers, method, path) = (request.headers(), request.method(), request.uri().path());
        if let Err(error) = self.hosts.check(request) {
            return Some(error);
        }
        let is_json =
            headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).is_some_and(
                |kind| kind.split(';').next().is_some_and(|kind| kind.trim() == "application/json"),
            );
        let writes = [Method::POST, Method::PUT, Method::PATCH].contains(method);
        if writes && !is_json {
            let message = "a request that changes something must have the content type \
                           application/json";
            return Some(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media_type", message));
        }
        let is_known = match path {
            METRICS_PATH => self.login.knows_for_metrics(headers),
            "/api/v1/session" => return None,
            path if !path.starts_with("/api/") => return None,
            _ => self.login.knows(headers),
        };
        if !is_known {
            return Some(login::unauthorized());
        }
        if let Some(visitor) = request.extensions().get::<Visitor>() {
            visitor.is_known();
        }
        None
    }
}

//! Who may ask, and how: in this order, each request meets the checks of its host, its origin and its
//! token, and the limits of its time and size; whatever goes wrong behind them is told without details.

mod login;
mod origin;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

pub use login::{Login, TOKEN_MIN, random as random_token};
pub use origin::Hosts;

use crate::config::Limits;
use crate::error::ApiError;

/// Largest body of a request, in bytes.
const BODY_MAX: usize = 1 << 20;

/// What the checks need to know.
#[derive(Debug)]
pub struct Guard {
    /// Names that the server may be called by.
    pub hosts: Hosts,
    /// The token, and who has shown it; `None` where none is needed.
    pub login: Option<Login>,
    /// Limits of waits.
    pub limits: Limits,
}

/// Puts the checks around the routes.
pub fn around(routes: Router, guard: &Arc<Guard>) -> Router {
    routes
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(middleware::from_fn_with_state(Arc::clone(guard), check))
        .layer(middleware::from_fn_with_state(Arc::clone(guard), contain))
}

/// Refuses who may not ask.
async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match guard.refusal(&request) {
        Some(error) => error.into_response(),
        None => next.run(request).await,
    }
}

/// Limits the time of a request, keeps panics inside, and sets the headers that every response has.
async fn contain(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let work = std::panic::AssertUnwindSafe(next.run(request)).catch_unwind();
    let mut response = match tokio::time::timeout(guard.limits.request, work).await {
        Ok(Ok(response)) => response,
        Ok(Err(_)) => ApiError::internal().into_response(),
        Err(_) => {
            let message = "the request was not answered in time";
            ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message).into_response()
        }
    };
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Headers of every response. Nothing is kept by browsers and proxies that does not say so itself.
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
    /// Why a request is refused; `None` when it is not.
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
            let message = "a request that changes something is of content type application/json";
            return Some(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media_type", message));
        }
        let is_open = !path.starts_with("/api/") || path == "/api/v1/session";
        match &self.login {
            Some(login) if !is_open && !login.knows(headers) => Some(login::unauthorized()),
            _ => None,
        }
    }
}

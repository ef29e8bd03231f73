//! Login of browsers.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Answer;
use crate::error::ApiError;
use crate::extract::Body;
use crate::guard::{Guard, WRONG_TOKEN_WAIT};

/// Login state of a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionInfo {
    /// Whether the server needs a token; always true.
    pub needed: bool,
    /// Whether this client is authenticated.
    pub authorized: bool,
}

/// A login request.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenForm {
    /// The token that the server was started with or has printed.
    #[schema(write_only, format = Password)]
    pub token: String,
}

/// Returns the login state of this client. Needs no token.
#[utoipa::path(get, path = "/api/v1/session", tag = "server",
    responses((status = 200, body = SessionInfo)))]
pub async fn get(
    Extension(guard): Extension<Arc<Guard>>,
    headers: HeaderMap,
) -> Answer<SessionInfo> {
    Ok(Json(SessionInfo { needed: true, authorized: guard.login.knows(&headers) }))
}

/// Exchanges the token for a cookie.
#[utoipa::path(post, path = "/api/v1/session", tag = "server", request_body = TokenForm,
    responses((status = 204), (status = 401, body = ApiError)))]
pub async fn begin(
    Extension(guard): Extension<Arc<Guard>>,
    Body(form): Body<TokenForm>,
) -> Result<Response, ApiError> {
    let login = &guard.login;
    if !login.is_token(&form.token) {
        tokio::time::sleep(WRONG_TOKEN_WAIT).await;
        let wrong = ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", "wrong token");
        return Err(wrong.about("token"));
    }
    Ok(with_cookie(&login.begin_session()))
}

/// Logs this browser out.
#[utoipa::path(delete, path = "/api/v1/session", tag = "server", responses((status = 204)))]
pub async fn end(Extension(guard): Extension<Arc<Guard>>, headers: HeaderMap) -> Response {
    with_cookie(&guard.login.end_session(&headers))
}

fn with_cookie(cookie: &str) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let cookie = HeaderValue::from_str(cookie).expect("a cookie of ours is plain text");
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response
}

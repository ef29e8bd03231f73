//! The web interface, embedded from `ui/dist` if that existed at build time. Without it the program
//! still works, and a page explains how to build it.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::compress::accepts;
use crate::error::ApiError;

/// The built interface; empty when it was not built.
#[derive(rust_embed::RustEmbed)]
#[folder = "../../ui/dist"]
#[allow_missing = true]
struct Built;

/// The pages that are always included.
const PLACEHOLDER: &str = include_str!("../assets/placeholder.html");
const LOGIN: &str = include_str!("../assets/login.html");
const LOGIN_SCRIPT: &str = include_str!("../assets/login.js");
const STYLE: &str = include_str!("../assets/style.css");

/// Serves a page or an asset. All page paths return the single-page application, which shows the
/// page for the path.
pub async fn page(request: Request) -> Response {
    let path = request.uri().path();
    if path.starts_with("/api/") {
        return ApiError::not_found("not found; see /api/v1/openapi.json for the paths")
            .into_response();
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        return method_not_allowed().await.into_response();
    }
    match path {
        "/login" => return own(LOGIN, "text/html; charset=utf-8"),
        "/login.js" => return own(LOGIN_SCRIPT, "text/javascript; charset=utf-8"),
        "/login.css" => return own(STYLE, "text/css; charset=utf-8"),
        _ => {}
    }
    let name = path.trim_start_matches('/');
    if let Some(response) = built(name, request.headers()) {
        return response;
    }
    let is_file = name.rsplit('/').next().is_some_and(|last| last.contains('.'));
    if is_file {
        return ApiError::not_found("file not found").into_response();
    }
    built("index.html", request.headers())
        .unwrap_or_else(|| own(PLACEHOLDER, "text/html; charset=utf-8"))
}

/// Whether the program was built with its web interface.
#[must_use]
pub fn has_page() -> bool {
    Built::get("index.html").is_some()
}

/// The template of the HTML report; `None` if the web interface was not built.
pub(crate) fn report() -> Option<String> {
    let file = Built::get("report.html")?;
    String::from_utf8(file.data.into_owned()).ok()
}

/// The response to an unsupported method.
pub async fn method_not_allowed() -> ApiError {
    let message = "method not allowed; see /api/v1/openapi.json";
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", message)
}

fn own(text: &'static str, content_type: &'static str) -> Response {
    ([(header::CONTENT_TYPE, content_type)], text).into_response()
}

/// A file of the built interface, compressed if the client accepts that.
fn built(name: &str, headers: &HeaderMap) -> Option<Response> {
    let is_compressed = name.ends_with(".br") || name.ends_with(".gz");
    if name.is_empty() || is_compressed {
        return None;
    }
    let plain = Built::get(name)?;
    let etag = format!("\"{}\"", hex(&plain.metadata.sha256_hash()));
    let etag = HeaderValue::from_str(&etag).expect("hexadecimal digits");
    // Vite includes a hash of the content in the file names.
    let immutable = name.starts_with("assets/");
    let caching = if immutable { "public, max-age=31536000, immutable" } else { "no-cache" };
    let known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| {
        known.to_str().is_ok_and(|known| known.split(',').any(|one| one.trim() == etag))
    });
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let (data, encoding) =
            encoded(name, headers).unwrap_or_else(|| (Body::from(plain.data.clone()), None));
        let mut response = Response::new(data);
        if let Some(encoding) = encoding {
            let encoding = HeaderValue::from_static(encoding);
            response.headers_mut().insert(header::CONTENT_ENCODING, encoding);
        }
        response
    };
    let set = response.headers_mut();
    set.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(name)));
    set.insert(header::ETAG, etag);
    set.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    set.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    Some(response)
}

/// The compressed version of the file, from build time.
fn encoded(name: &str, headers: &HeaderMap) -> Option<(Body, Option<&'static str>)> {
    [("br", "br"), ("gz", "gzip")].into_iter().find_map(|(ending, encoding)| {
        let file =
            accepts(headers, encoding).then(|| Built::get(&format!("{name}.{ending}")))??;
        Some((Body::from(file.data), Some(encoding)))
    })
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

//! Compresses responses for clients that accept it: the series of a long run are mostly digits and
//! shrink to a fifth. Event streams are sent uncompressed, without delay; files of the web
//! interface are compressed at build time.

use std::io::Write;

use axum::body::{Body, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::BodyExt;

/// Minimum size to compress; shorter responses fit into one or two packets anyway.
const WORTH_BYTES: u64 = 4096;

/// Compresses the response if that is worthwhile.
pub async fn compress(request: Request, next: Next) -> Response {
    let takes = accepts(request.headers(), "gzip");
    let response = next.run(request).await;
    if !takes || !is_worth_it(&response) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    // The body is already in memory, so this cannot fail.
    let Ok(plain) = body.collect().await else { return Response::from_parts(head, Body::empty()) };
    let plain = plain.to_bytes();
    let compressed = tokio::task::spawn_blocking({
        let plain = plain.clone();
        move || gzip(&plain)
    });
    let Ok(Ok(compressed)) = compressed.await else {
        return Response::from_parts(head, Body::from(plain));
    };
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    head.headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    Response::from_parts(head, Body::from(compressed))
}

/// Whether a client accepts this encoding.
pub fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.unwrap_or_default().split(',').any(|one| {
        let mut parts = one.split(';').map(str::trim);
        parts.next() == Some(wanted) && parts.all(|part| !matches!(part, "q=0" | "q=0.0"))
    })
}

/// Whether a response is a complete text, long enough and not yet compressed.
fn is_worth_it(response: &Response) -> bool {
    let headers = response.headers();
    let content = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_text = content.is_some_and(|content| {
        content.starts_with("application/json") || content.starts_with("text/")
    });
    let is_long = response.body().size_hint().exact().is_some_and(|bytes| bytes >= WORTH_BYTES);
    is_text && is_long && !headers.contains_key(header::CONTENT_ENCODING)
}

fn gzip(plain: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::new(4));
    encoder.write_all(plain)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_used_only_where_it_is_taken() {
        let takes = |accepted: &str| {
            let value = HeaderValue::from_str(accepted).unwrap();
            accepts(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, value)]), "gzip")
        };
        for yes in ["gzip", "br, gzip;q=0.5", "deflate,gzip"] {
            assert!(takes(yes), "{yes}");
        }
        for no in ["", "br", "gzip;q=0", "gzip; q=0.0", "x-gzip", "*"] {
            assert!(!takes(no), "{no}");
        }
        assert!(!accepts(&HeaderMap::new(), "gzip"));
    }
}

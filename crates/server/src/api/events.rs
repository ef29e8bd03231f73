//! Live events, as server-sent events.

use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;

use crate::app::App;
use crate::error::ApiError;
use crate::limiter::Visitor;
use crate::live::LiveEvent;

/// Interval of keep-alive messages, which reveal dead connections.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// Streams the events of all activities: all stored ones, or those after `Last-Event-ID`, and then
/// new ones. Each has its type as `event:` and a `LiveEvent` as `data:`. The first is always
/// `hello`. A client that reconnects gets the events it missed, with long stretches thinned; a
/// client that does not keep up is disconnected and should reconnect.
#[utoipa::path(get, path = "/api/v1/events", tag = "events",
    params(("Last-Event-ID" = Option<String>, Header, description = "Number of the last event \
                                                                     received")),
    responses((status = 200, content_type = "text/event-stream", body = LiveEvent),
        (status = 429, body = ApiError)))]
pub async fn events(
    State(app): State<App>,
    Extension(visitor): Extension<Visitor>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    stream(&app, &visitor, None, &headers)
}

/// A response that lasts as long as the client reads.
pub(super) fn stream(
    app: &App,
    visitor: &Visitor,
    only: Option<u64>,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let place = visitor.stream().ok_or_else(|| {
        let message = "too many event streams are open for this client";
        ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many", message).next("close one of them")
    })?;
    let last_id = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let reader = app.hub().read(only, last_id);
    let frames = stream::unfold((reader, place), |(mut reader, place)| async {
        let frame = tokio::time::timeout(SIGN_OF_LIFE, reader.next()).await;
        let frame = frame.unwrap_or_else(|_| Some(Bytes::from_static(b":\n\n")))?;
        Some((Ok::<_, std::convert::Infallible>(frame), (reader, place)))
    });
    let mut response = Response::new(Body::from_stream(frames));
    let set = response.headers_mut();
    set.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    set.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // A buffering proxy would delay live events.
    set.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

//! HTTP to one coordinator: a connection that is kept between requests, limits on silence and on
//! the size of answers. It never follows a server to another address: the user's password goes to
//! the target's host, and nowhere else.

use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{self, Connection, SendRequest};
use hyper::header::{
    AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT,
};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use triphammer_core::{DbError, ErrorClass, SpecError};

use super::errors::on_status;
use super::url::{UrlOptions, Verification};
use crate::answer::{ANSWER_BYTES_MAX, too_large};
use crate::socket::{Socket, SocketSettings, resolve};
use crate::stream::{Stream, broken, closed};
use crate::target::{ConnectSettings, Secret};
use crate::tls::{Setup, client_config, host_in_certificate};

/// Characters of an unexpected answer that an error message shows.
const SHOWN_MAX: usize = 200;
/// Longest address of a page.
const ADDRESS_MAX: usize = 8 * 1024;
/// Where statements are sent, and where all pages of their results lie.
pub(super) const STATEMENTS: &str = "/v1/statement";

/// The configuration of all connections to a coordinator.
pub(super) struct Shared {
    pub(super) options: UrlOptions,
    tls: Option<TlsConnector>,
    sockets: SocketSettings,
    /// How long the server may be silent. It answers at least once per second while it works.
    silence: Duration,
    headers: HeaderMap,
}

/// A connection and what is known about it.
struct Link {
    sender: SendRequest<Full<Bytes>>,
    connection: Connection<TokioIo<Stream>, Full<Bytes>>,
    same_host: bool,
    cipher: Option<String>,
}

/// An answer with status 200 or 204.
pub(super) struct Answer {
    /// The body; JSON, or empty.
    pub(super) body: Vec<u8>,
}

/// A client with at most one connection.
pub(super) struct Http {
    shared: Arc<Shared>,
    link: Option<Box<Link>>,
}

impl Shared {
    pub(super) fn new(options: UrlOptions, settings: &ConnectSettings) -> Result<Self, SpecError> {
        let tls = options.tls.map(|verification| {
            let verifies = verification != Verification::None;
            client_config(&Setup {
                roots: Some(&options.root_cert).filter(|_| verifies),
                checks_name: verification == Verification::Full,
                client_cert: None,
                key_password: None,
                params: ["SSLTrustStorePath", "", ""],
            })
        });
        let tls = tls.transpose()?.map(|config| TlsConnector::from(Arc::new(config)));
        let sockets = SocketSettings {
            connect: options.connect_limit,
            tcp_user: settings.tcp_user_timeout,
            relay: settings.relay.clone(),
        };
        let headers = headers(&options)?;
        Ok(Self { options, tls, sockets, silence: settings.waits.query, headers })
    }

    /// The path of a page that the server names: on this server, and a page of a statement.
    ///
    /// # Errors
    /// When it is anything else.
    pub(super) fn page(&self, address: &str) -> Result<String, DbError> {
        let refuse = |why: &str| {
            let shown = beginning(address);
            let message = format!("the server names `{shown}` as the next page: {why}");
            DbError::new(ErrorClass::Refused, message)
        };
        let (scheme, rest) = address.split_once("://").ok_or_else(|| refuse("not an address"))?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let default_port = if scheme == "https" { 443 } else { 80 };
        let port = format!(":{default_port}");
        let own = self.options.server();
        if !own.eq_ignore_ascii_case(authority)
            && !own.eq_ignore_ascii_case(&format!("{authority}{port}"))
        {
            return Err(refuse(
                "it is on another host, which is not followed; behind a proxy, the coordinator \
                 needs http-server.process-forwarded=true",
            ));
        }
        let is_plain = |c: char| c.is_ascii_graphic();
        let is_page = path.strip_prefix(STATEMENTS).is_some_and(|rest| rest.starts_with('/'));
        if !is_page
            || path.len() > ADDRESS_MAX
            || path.contains("..")
            || !path.chars().all(is_plain)
        {
            return Err(refuse("it is not a page of a statement"));
        }
        Ok(path.to_owned())
    }

    /// Connects to the first of the server's addresses that answers.
    async fn open(&self) -> Result<Link, DbError> {
        let UrlOptions { host, port, .. } = &self.options;
        let mut last = None;
        for address in resolve(host, *port, self.sockets.connect).await? {
            match Socket::connect(&address, &self.options.server(), &self.sockets).await {
                Ok(socket) => return self.greet(socket).await,
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("a host has at least one address"))
    }

    async fn greet(&self, socket: Socket) -> Result<Link, DbError> {
        let same_host = socket.is_same_host();
        let stream = match (&self.tls, self.options.tls) {
            (Some(tls), Some(verification)) => {
                let checks_name = verification == Verification::Full;
                let name = host_in_certificate(&self.options.host, checks_name);
                let greeting = timeout(self.sockets.connect, Stream::secure(tls, socket, name));
                greeting.await.unwrap_or_else(|_| Err(silent(self.sockets.connect))).map_err(
                    |error| {
                        let hint = "; if the server has no TLS, add SSL=false to the target";
                        DbError::new(error.class(), format!("{}{hint}", error.message()))
                    },
                )?
            }
            _ => Stream::Plain(socket),
        };
        let cipher = stream.cipher();
        let (sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| lost(&error))?;
        Ok(Link { sender, connection, same_host, cipher })
    }
}

/// The headers of all requests.
fn headers(options: &UrlOptions) -> Result<HeaderMap, SpecError> {
    let mut headers = HeaderMap::new();
    let mut put = |name: HeaderName, value: &str, is_secret: bool| {
        let mut value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| {
            SpecError::new(format!("the target's value for `{name}` cannot be sent"))
        })?;
        value.set_sensitive(is_secret);
        headers.insert(name, value);
        Ok::<_, SpecError>(())
    };
    put(HOST, &options.server(), false)?;
    put(USER_AGENT, concat!("triphammer/", env!("CARGO_PKG_VERSION")), false)?;
    for (name, value) in [
        ("x-trino-user", options.user.as_str()),
        ("x-trino-source", &options.source),
        ("x-trino-catalog", &options.catalog),
        ("x-trino-schema", &options.schema),
        ("x-trino-time-zone", "UTC"),
        // Without it, timestamps lose their microseconds.
        ("x-trino-client-capabilities", "PARAMETRIC_DATETIME"),
    ] {
        put(HeaderName::from_static(name), value, false)?;
    }
    let properties = options
        .properties
        .iter()
        .map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
    let properties = properties.collect::<Vec<_>>().join(",");
    if !properties.is_empty() {
        put(HeaderName::from_static("x-trino-session"), &properties, false)?;
    }
    if let Some(pair) = credentials(options)? {
        put(AUTHORIZATION, &format!("Basic {}", pair.reveal()), true)?;
    }
    Ok(headers)
}

/// User and password as the header contains them; `None` without a password.
pub(super) fn credentials(options: &UrlOptions) -> Result<Option<Secret>, SpecError> {
    let Some(password) = &options.password else { return Ok(None) };
    let pair = latin1(&format!("{}:{}", options.user, password.reveal()))?;
    Ok(Some(Secret::new(STANDARD.encode(pair))))
}

/// Text as Trino and its clients encode user and password: in ISO 8859-1.
fn latin1(text: &str) -> Result<Vec<u8>, SpecError> {
    let bytes = text.chars().map(|c| u8::try_from(u32::from(c))).collect::<Result<_, _>>();
    bytes.map_err(|_| {
        SpecError::new(
            "a user with a password, and the password, can only have characters of ISO 8859-1 in \
             Trino",
        )
    })
}

impl Http {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, link: None }
    }

    /// Sends a statement.
    pub(super) async fn post(&mut self, sql: String) -> Result<Answer, DbError> {
        self.send(Method::POST, STATEMENTS, sql.into()).await
    }

    /// Reads a page.
    pub(super) async fn get(&mut self, path: &str) -> Result<Answer, DbError> {
        self.send(Method::GET, path, Bytes::new()).await
    }

    /// Cancels the statement that a page belongs to.
    pub(super) async fn delete(&mut self, path: &str) -> Result<(), DbError> {
        self.send(Method::DELETE, path, Bytes::new()).await.map(drop)
    }

    /// Whether the server is on this host, as far as its address shows, and TLS version and cipher.
    pub(super) fn route(&self) -> (Option<bool>, Option<String>) {
        let link = self.link.as_ref();
        (link.map(|link| link.same_host), link.and_then(|link| link.cipher.clone()))
    }

    /// Sends a request and reads the answer. After an error the connection is not used again.
    async fn send(&mut self, method: Method, path: &str, body: Bytes) -> Result<Answer, DbError> {
        let kept = self.link.take().and_then(|mut link| link.is_open().then_some(link));
        let mut link = match kept {
            Some(link) => link,
            None => Box::new(self.shared.open().await?),
        };
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().map_err(|error| {
            DbError::new(ErrorClass::Other, format!("a page has an invalid address: {error}"))
        })?;
        *request.headers_mut() = self.shared.headers.clone();
        let answer = link.exchange(request, self.shared.silence).await?;
        self.link = Some(link);
        Ok(answer)
    }
}

impl Link {
    /// Whether the server has left the idle connection open.
    fn is_open(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        Pin::new(&mut self.connection).poll(&mut cx).is_pending() && !self.sender.is_closed()
    }

    async fn exchange(
        &mut self,
        request: Request<Full<Bytes>>,
        silence: Duration,
    ) -> Result<Answer, DbError> {
        let Self { sender, connection, .. } = self;
        let work = async {
            let waited = |_| silent(silence);
            let asked = async {
                sender.ready().await?;
                sender.send_request(request).await
            };
            let answer = timeout(silence, asked).await.map_err(waited)?.map_err(|e| lost(&e))?;
            let (head, mut frames) = answer.into_parts();
            let mut body = Vec::new();
            while let Some(frame) = timeout(silence, frames.frame()).await.map_err(waited)? {
                let Ok(data) = frame.map_err(|error| lost(&error))?.into_data() else { continue };
                if body.len() + data.len() > ANSWER_BYTES_MAX {
                    return Err(too_large());
                }
                body.extend_from_slice(&data);
            }
            judge(head.status.as_u16(), head.headers.get(CONTENT_TYPE), body)
        };
        drive(connection, work).await
    }
}

/// Does work on a connection and drives the connection in the same task, so that no task outlives its user.
async fn drive<T>(
    connection: &mut Connection<TokioIo<Stream>, Full<Bytes>>,
    work: impl Future<Output = Result<T, DbError>>,
) -> Result<T, DbError> {
    let mut work = pin!(work);
    let mut is_over = false;
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(done);
        }
        if !is_over && Pin::new(&mut *connection).poll(cx).is_ready() {
            is_over = true;
            // What has arrived before the end can still be read.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    })
    .await
}

/// An answer that is JSON or empty.
fn judge(status: u16, kind: Option<&HeaderValue>, body: Vec<u8>) -> Result<Answer, DbError> {
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_json = kind.split(';').next().is_some_and(|kind| kind.trim() == "application/json");
    match status {
        200 if is_json => Ok(Answer { body }),
        204 => Ok(Answer { body: Vec::new() }),
        200 => {
            let kind = beginning(kind);
            let message = format!(
                "the server did not answer as Trino does: expected application/json, got `{kind}`"
            );
            Err(DbError::new(ErrorClass::Disconnected, message))
        }
        _ => {
            let text = String::from_utf8_lossy(&body);
            Err(on_status(status, &beginning(text.trim())))
        }
    }
}

/// As much of a server's text as a message shows.
fn beginning(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

fn silent(limit: Duration) -> DbError {
    let message = format!("the server has not answered for {} s", limit.as_secs_f64());
    DbError::new(ErrorClass::Disconnected, message)
}

/// The error for a broken exchange.
fn lost(error: &hyper::Error) -> DbError {
    let cause = std::error::Error::source(error);
    match cause.and_then(|cause| cause.downcast_ref::<std::io::Error>()) {
        Some(cause) => broken(cause),
        None if error.is_incomplete_message() || error.is_canceled() || error.is_closed() => {
            closed()
        }
        None => DbError::new(ErrorClass::Disconnected, format!("HTTP failed: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::TargetUrl;

    fn shared(target: &str) -> Shared {
        let settings = ConnectSettings::default();
        let url = TargetUrl::parse(target).unwrap();
        Shared::new(UrlOptions::resolve(&url, &settings).unwrap(), &settings).unwrap()
    }

    #[test]
    fn only_pages_of_statements_on_the_same_server_are_followed() {
        let shared = shared("trino://ann@LOCALHOST:8080/c/s");
        let page = "http://localhost:8080/v1/statement/executing/q1/y2/3";
        assert_eq!(shared.page(page).unwrap(), "/v1/statement/executing/q1/y2/3");
        assert!(shared.page(&page.replace("http:", "https:")).is_ok(), "behind a proxy with TLS");
        for address in [
            "http://evil:8080/v1/statement/executing/q1/y2/3",
            "http://localhost:8081/v1/statement/executing/q1/y2/3",
            "http://localhost/v1/statement/executing/q1/y2/3",
            "http://localhost:8080@evil/v1/statement/executing/q1",
            "http://ann:x@localhost:8080/v1/statement/executing/q1",
            "http://localhost:8080/v1/query/q1",
            "http://localhost:8080/v1/statement",
            "http://localhost:8080/v1/statementx/y",
            "http://localhost:8080/v1/statement/../query/q1",
            "http://localhost:8080/v1/statement/a b\r\nX: y",
            "http://localhost:8080",
            "/v1/statement/executing/q1",
            "",
        ] {
            let error = shared.page(address).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Refused, "{address}: {error}");
        }
        let long = format!("http://localhost:8080/v1/statement/{}", "x".repeat(ADDRESS_MAX));
        assert!(shared.page(&long).is_err());
    }

    #[test]
    fn a_default_port_may_be_left_out() {
        let shared = shared("trino://ann@db1/c/s");
        assert!(shared.page("https://db1/v1/statement/queued/q").is_ok());
        assert!(shared.page("http://db1/v1/statement/queued/q").is_err());
    }

    #[test]
    fn headers_carry_the_session() {
        let target = "trino://ann:p%40ss@localhost/hive/s1?sessionProperties=a.b:x%20,y;c:1";
        let shared = shared(target);
        let text = |name: &str| shared.headers.get(name).unwrap().to_str().unwrap().to_owned();
        assert_eq!(text("x-trino-user"), "ann");
        assert_eq!((text("x-trino-catalog"), text("x-trino-schema")), ("hive".into(), "s1".into()));
        assert_eq!(text("x-trino-session"), "a.b=x%20%2Cy,c=1");
        assert_eq!(text("authorization"), format!("Basic {}", STANDARD.encode("ann:p@ss")));
        assert!(!format!("{:?}", shared.headers).contains(&STANDARD.encode("ann:p@ss")));
    }

    #[test]
    fn passwords_are_encoded_as_trino_decodes_them() {
        assert_eq!(latin1("ann:pä'ss").unwrap(), b"ann:p\xe4'ss");
        let error = latin1("ann:hunter2🦀").unwrap_err().to_string();
        assert!(error.contains("ISO 8859-1") && !error.contains("hunter2"), "{error}");
    }
}

//! The server: its socket, its connections, and its shutdown.

mod stall;
mod tls;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router, middleware};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::app::App;
use crate::config::{Config, ServerLimits};
use crate::error::ApiError;
use crate::guard::{self, Guard, Hosts, Login, METRICS_PATH};
use crate::limiter::{ConnectionLimiter, Visitor};
use crate::live::{Goodbye, LiveEvent};
use crate::serve::stall::Stall;
use crate::{api, compress, ui};

/// Maximum size of a request head, in bytes.
const HEAD_MAX: usize = 32 * 1024;
/// Maximum number of headers per request.
const HEADERS_MAX: usize = 64;
/// Maximum wait for connections to close after the last activity has ended.
const GOODBYE: Duration = Duration::from_secs(2);
/// Delay after a connection could not be accepted, such as when the process has too many open
/// files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A server that listens, and serves once it is [run](Server::run).
pub struct Server {
    app: App,
    listener: std::net::TcpListener,
    address: SocketAddr,
    router: Router,
    tls: Option<tokio_rustls::TlsAcceptor>,
    limits: ServerLimits,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Server({})", self.url())
    }
}

impl Server {
    /// Opens the store and the socket.
    ///
    /// # Errors
    /// When the store or the certificate cannot be read, or the port is taken.
    pub fn bind(config: &Config) -> Result<Self, ApiError> {
        let tls = config.tls.as_ref().map(|(chain, key)| tls::acceptor(chain, key)).transpose()?;
        let app = App::open(config)?;
        let listener = listen(config.listen)?;
        let address = listener.local_addr().unwrap_or(config.listen);
        let login = Login::new(config.token.clone(), address.port(), tls.is_some())
            .metrics_token(config.metrics_token.clone());
        let hosts = Hosts::new(&config.hosts, tls.is_some());
        let guard = Arc::new(Guard { hosts, login, limits: config.limits });
        let router = guard::around(routes(app.clone(), &guard), &guard);
        Ok(Self { app, listener, address, router, tls, limits: config.limits })
    }

    /// Address on which the server listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// URL of the server.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let mut address = self.address;
        if address.ip().is_unspecified() {
            let loopback = match address.ip() {
                std::net::IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                std::net::IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            };
            address.set_ip(loopback);
        }
        format!("{scheme}://{address}")
    }

    /// The application state.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.app
    }

    /// Serves until `ends` reports a signal: after the first, it starts nothing new, stops the
    /// running activities and stores them; after the second, it aborts them and stores what they
    /// have.
    ///
    /// # Errors
    /// When the socket cannot be used.
    pub async fn run(self, mut ends: watch::Receiver<u32>) -> std::io::Result<()> {
        self.listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(self.listener)?;
        let limiter = ConnectionLimiter::new(self.limits);
        let (close, closed) = watch::channel(false);
        let host = tokio::spawn(crate::live::tell_host(Arc::clone(self.app.hub())));
        let activities = Arc::clone(self.app.activities());
        let ended = async move {
            let mut received = 0;
            loop {
                let over = tokio::task::spawn_blocking({
                    let activities = Arc::clone(&activities);
                    move || activities.wait(Duration::from_millis(200))
                });
                let count = *ends.borrow_and_update();
                if count > received {
                    received = count;
                    activities.close();
                }
                if over.await.unwrap_or(true) && received > 0 {
                    return;
                }
                if received == 0 && ends.changed().await.is_err() {
                    received = 1;
                    activities.close();
                }
            }
        };
        let mut ended = std::pin::pin!(ended);
        loop {
            let stream = tokio::select! {
                () = &mut ended => break,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, address)) = stream else {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let Some(place) = limiter.take(address.ip()) else { continue };
            let routes = Routes { router: self.router.clone(), visitor: place.visitor.clone() };
            let connection =
                connection(stream, self.tls.clone(), routes, self.limits, closed.clone());
            tokio::spawn(async move {
                tokio::select! {
                    () = connection => {}
                    () = place.leave.notified() => {}
                }
                drop(place);
            });
        }
        host.abort();
        let text = "the server has stopped".to_owned();
        self.app.hub().publish(&LiveEvent::Goodbye(Goodbye { text }));
        close.send_replace(true);
        // Clients that do not read the final event are not waited for.
        let all_gone = async {
            while !limiter.are_free() {
                tokio::time::sleep(GOODBYE / 100).await;
            }
        };
        let _ = tokio::time::timeout(GOODBYE, all_gone).await;
        Ok(())
    }
}

/// Builds the router of all routes.
fn routes(app: App, guard: &Arc<Guard>) -> Router {
    let (api, _) = api::routes().split_for_parts();
    let document = axum::routing::get(async || axum::Json(crate::openapi::document()));
    api.route("/api/v1/openapi.json", document)
        .route(METRICS_PATH, axum::routing::get(api::metrics))
        .fallback(ui::page)
        .method_not_allowed_fallback(ui::method_not_allowed)
        .layer(middleware::from_fn(compress::compress))
        .layer(Extension(Arc::clone(guard)))
        .with_state(app)
}

fn listen(address: SocketAddr) -> Result<std::net::TcpListener, ApiError> {
    std::net::TcpListener::bind(address).map_err(|error| {
        let next = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                "; stop the other program (perhaps another `triphammer serve`), or choose another \
                 port: --listen 127.0.0.1:0 uses a free one"
            }
            _ => "; choose another address with --listen",
        };
        ApiError::invalid(format!("cannot listen on {address}: {error}{next}")).about("listen")
    })
}

/// Serves one connection until it closes.
async fn connection(
    stream: TcpStream,
    tls: Option<tokio_rustls::TlsAcceptor>,
    routes: Routes,
    limits: ServerLimits,
    closed: watch::Receiver<bool>,
) {
    // Events are small writes that should be sent at once.
    let _ = stream.set_nodelay(true);
    let stream = Stall::new(stream, limits.write);
    match tls {
        None => speak(stream, routes, limits, closed).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = tokio::time::timeout(limits.head, tls.accept(stream)).await {
                speak(stream, routes, limits, closed).await;
            }
        }
    }
}

/// The routes for the requests of one connection.
struct Routes {
    router: Router,
    visitor: Visitor,
}

async fn speak<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    routes: Routes,
    limits: ServerLimits,
    mut closed: watch::Receiver<bool>,
) {
    let Routes { router, visitor } = routes;
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(visitor.clone());
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head)
        .max_buf_size(HEAD_MAX)
        .max_headers(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // Errors of a connection concern only its client.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = closed.wait_for(|closed| *closed) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = connection.await;
}

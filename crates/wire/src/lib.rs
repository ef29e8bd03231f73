//! A proxy in front of a server that records what passes, so that it can be replayed.
//!
//! ```text
//! forward   one connection: both directions, and copies of what passes
//! queue     the copies on their way, up to a limit
//! record    the thread that reads them: messages, events, transactions, the file
//! frames    messages out of pieces of a stream
//! postgres  the messages of PostgreSQL's protocol
//! mysql     the packets of MySQL's protocol
//! ```
//!
//! [`Proxy::start`] starts a few threads that forward, and one that records. They share the queue and nothing else. What
//! the recording cannot take, because it is too slow, too long, or has no space left, ends the recording; forwarding goes
//! on. A client notices of all this only that its server has another address.

#[cfg(test)]
mod damage;
mod forward;
mod frames;
mod mysql;
mod postgres;
mod queue;
mod record;

use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use triphammer_capture::mask::Mask;
use triphammer_capture::sql::Syntax;
use triphammer_capture::{Assembler, Databases};
use triphammer_core::Clock;
use triphammer_drivers::tunnel::{Stream, Tunnel};

use crate::forward::{Forwarding, Tap};
use crate::mysql::startup::Begun;
use crate::postgres::startup::{self, Beginning};
use crate::queue::{Intake, Kind, Queue};
use crate::record::Recording;
pub use crate::record::{Cut, Limits, Recorded};

/// The client's end of a connection.
type Client = Stream<TcpStream, TlsStream<TcpStream>>;

/// Most threads that forward; one forwards what several cores of a server answer.
const THREADS_MAX: usize = 4;
/// Connections that wait to be taken by a thread.
const WAITING_MAX: usize = 1024;
/// Time in which a client must begin its session, as `authentication_timeout` of the server.
const BEGIN_LIMIT: Duration = Duration::from_secs(60);
/// Time in which a client must take the message that its server cannot be reached.
const REFUSAL_LIMIT: Duration = Duration::from_secs(5);
/// Pause after a connection could not be accepted, as without file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Idle time after which the system probes a client, and interval between probes.
const KEEPALIVE: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(5)];

/// What a proxy needs.
pub struct Options {
    /// Where clients connect.
    pub listener: std::net::TcpListener,
    /// How the server is reached.
    pub tunnel: Tunnel,
    /// TLS for clients that ask for it; without, none is offered.
    pub tls: Option<TlsAcceptor>,
    /// The file of the recording.
    pub file: File,
    /// What limits the recording.
    pub limits: Limits,
    /// The database whose statements are recorded; `None` for all.
    pub database: Option<String>,
    /// What is masked in the recording.
    pub mask: Option<Mask>,
}

/// What the proxy does with connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It accepts and forwards them.
    Accepting,
    /// It forwards those that are open.
    Draining,
    /// It closes them.
    Closed,
}

/// What the threads share.
struct Shared {
    tunnel: Tunnel,
    tls: Option<TlsAcceptor>,
    queue: Arc<Queue>,
    clock: Clock,
    state: watch::Sender<State>,
    next: AtomicU64,
    open: AtomicUsize,
    unreached: AtomicU64,
}

/// A proxy that runs.
pub struct Proxy {
    shared: Arc<Shared>,
    address: SocketAddr,
    recording: Option<JoinHandle<io::Result<Recorded>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Proxy {
    /// Starts to forward and to record.
    ///
    /// # Errors
    /// When the system has no thread or event loop left.
    pub fn start(options: Options) -> io::Result<Self> {
        let Options { listener, tunnel, tls, file, limits, database, mask } = options;
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let clock = Clock::start();
        let queue = Arc::new(Queue::new(limits.memory));
        let syntax = match &tunnel {
            Tunnel::Postgres(_) => Syntax::Postgres,
            Tunnel::Mysql(_) => Syntax::MySql,
        };
        let mut assembler = Assembler::new(syntax);
        (assembler.databases, assembler.mask) = (Databases::new(database), mask);
        let recording =
            Recording::new(Arc::clone(&queue), limits, clock, file, (syntax, assembler));
        let recording = spawn("recording", move || recording.run())?;
        let shared = Arc::new(Shared {
            tunnel,
            tls,
            queue,
            clock,
            state: watch::channel(State::Accepting).0,
            next: AtomicU64::new(0),
            open: AtomicUsize::new(0),
            unreached: AtomicU64::new(0),
        });
        let mut proxy = Self { shared, address, recording: Some(recording), threads: Vec::new() };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut workers = Vec::new();
        for _ in 0..(cores / 2).clamp(1, THREADS_MAX) {
            let (worker, connections) = mpsc::channel(WAITING_MAX);
            workers.push(worker);
            proxy.thread(forward_all(connections, Arc::clone(&proxy.shared)))?;
        }
        proxy.thread(accept(listener, workers, Arc::clone(&proxy.shared)))?;
        Ok(proxy)
    }

    /// Runs a future on a thread of its own, until the proxy is closed.
    fn thread(&mut self, future: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut state = self.shared.state.subscribe();
        let work = move || {
            LocalSet::new().block_on(&runtime, async {
                tokio::select! {
                    () = future => {}
                    _ = state.wait_for(|state| *state == State::Closed) => {}
                }
            });
        };
        self.threads.push(spawn("forwarding", work)?);
        Ok(())
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it still records: it stops at a limit.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.recording.as_ref().is_some_and(|thread| !thread.is_finished())
            && self.shared.queue.intake() == Intake::Open
    }

    /// Number of connections that are forwarded.
    #[must_use]
    pub fn open(&self) -> usize {
        self.shared.open.load(Ordering::Relaxed)
    }

    /// Number of connections whose server could not be reached.
    #[must_use]
    pub fn unreached(&self) -> u64 {
        self.shared.unreached.load(Ordering::Relaxed)
    }

    /// Ends the recording: what has passed until now is in the file. Forwarding continues.
    ///
    /// # Errors
    /// When the end of the file cannot be written; `Other` when the recording has ended before.
    pub fn end_recording(&mut self) -> io::Result<Recorded> {
        self.shared.queue.close();
        let thread = self.recording.take().ok_or_else(|| io::Error::other("it has ended"))?;
        thread.join().map_err(|_| io::Error::other("the thread that records has failed"))?
    }

    /// Accepts no more connections.
    pub fn drain(&self) {
        self.shared.state.send_if_modified(|state| {
            let accepts = *state == State::Accepting;
            if accepts {
                *state = State::Draining;
            }
            accepts
        });
    }
}

impl Drop for Proxy {
    /// Closes all connections.
    fn drop(&mut self) {
        self.shared.state.send_replace(State::Closed);
        self.shared.queue.close();
        let recording = self.recording.take();
        for thread in self.threads.drain(..) {
            // It panics only by a defect, which a drop must not make worse.
            let _ = thread.join();
        }
        drop(recording.map(JoinHandle::join));
    }
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work)
}

/// Accepts connections, and gives them to the threads in turn.
async fn accept(
    listener: std::net::TcpListener,
    workers: Vec<mpsc::Sender<std::net::TcpStream>>,
    shared: Arc<Shared>,
) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let mut state = shared.state.subscribe();
    let mut turn = workers.iter().cycle();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = state.wait_for(|state| *state != State::Accepting) => return,
        };
        match accepted.and_then(|(stream, _)| stream.into_std()) {
            Ok(stream) => {
                let Some(worker) = turn.next() else { return };
                let _ = worker.send(stream).await;
            }
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// Forwards the connections of a thread.
async fn forward_all(mut connections: mpsc::Receiver<std::net::TcpStream>, shared: Arc<Shared>) {
    while let Some(stream) = connections.recv().await {
        let Ok(stream) = TcpStream::from_std(stream) else { continue };
        let [idle, interval] = KEEPALIVE;
        let keepalive = TcpKeepalive::new().with_time(idle).with_interval(interval);
        let _ = SockRef::from(&stream).set_tcp_keepalive(&keepalive);
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        spawn_local(async move {
            shared.open.fetch_add(1, Ordering::Relaxed);
            // A connection that is lost is over for both sides.
            let _ = connection(stream, &shared).await;
            shared.open.fetch_sub(1, Ordering::Relaxed);
        });
    }
    // The connections that are open go on; closing the proxy ends them.
    std::future::pending().await
}

/// Forwards a connection from its beginning to its end.
async fn connection(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    match &shared.tunnel {
        Tunnel::Postgres(tunnel) => of_postgres(stream, tunnel, shared).await,
        Tunnel::Mysql(tunnel) => {
            let begun = mysql::startup::begin(stream, shared.tls.as_ref(), tunnel);
            let begun = timeout(BEGIN_LIMIT, begun).await.map_err(|_| io::ErrorKind::TimedOut)?;
            let begun = match begun? {
                Begun::Session(session) => session,
                Begun::Unreached => {
                    shared.unreached.fetch_add(1, Ordering::Relaxed);
                    return Ok(());
                }
                Begun::Rejected => return Ok(()),
            };
            let tap = shared.tap();
            tap.copy_now(Kind::Opened, &begun.response);
            tap.copy_now(Kind::FromServer, &begun.verdict);
            forward(tap, begun.client, begun.server).await
        }
    }
}

async fn of_postgres(
    stream: TcpStream,
    tunnel: &triphammer_drivers::postgres::Tunnel,
    shared: &Shared,
) -> io::Result<()> {
    let begun = timeout(BEGIN_LIMIT, startup::begin(stream, shared.tls.as_ref())).await;
    let (mut client, first) = match begun.map_err(|_| io::ErrorKind::TimedOut)?? {
        Beginning::Session(client, first) => (client, first),
        Beginning::Cancel(request) => {
            startup::cancel(tunnel, &request).await;
            return Ok(());
        }
        Beginning::Nonsense => return Ok(()),
    };
    let mut server = match tunnel.connect().await {
        Ok(server) => server,
        Err(error) => {
            shared.unreached.fetch_add(1, Ordering::Relaxed);
            let why = format!("the server behind the proxy cannot be reached: {}", error.message());
            return refuse(&mut client, &startup::refusal(&why)).await;
        }
    };
    server.write_all(&first).await?;
    server.flush().await?;
    let tap = shared.tap();
    tap.copy_now(Kind::Opened, &first);
    if let (Client::Plain(plain), true) = (&mut client, server.has_tls()) {
        let passed = timeout(BEGIN_LIMIT, startup::pass_mechanisms(&mut server, plain)).await;
        tap.copy_now(Kind::FromServer, &passed.map_err(|_| io::ErrorKind::TimedOut)??);
    }
    forward(tap, client, server).await
}

impl Shared {
    /// Where the copies of the next connection go.
    fn tap(&self) -> Tap<'_> {
        let connection = self.next.fetch_add(1, Ordering::Relaxed);
        Tap { queue: &self.queue, clock: &self.clock, connection }
    }
}

/// Forwards a session until its end.
async fn forward(tap: Tap<'_>, client: Client, server: Stream) -> io::Result<()> {
    let ended = Forwarding::new(tap, client, server).await;
    tap.copy_now(Kind::Closed, &[]);
    ended
}

/// Sends a client a last message.
async fn refuse(client: &mut Client, message: &[u8]) -> io::Result<()> {
    let sent = async {
        client.write_all(message).await?;
        client.shutdown().await
    };
    timeout(REFUSAL_LIMIT, sent).await.unwrap_or(Ok(()))
}

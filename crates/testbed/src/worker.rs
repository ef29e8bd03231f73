//! Runs what is tested as the engine's worker threads do: on the reactor's loop, on epoll or on a ring
//! of io_uring, or on a runtime of tokio's, as the variable [`VARIABLE`] asks for it.

use std::future::Future;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::thread::JoinHandle;

use tokio::runtime::{Builder, Runtime};
#[cfg(target_os = "linux")]
use tokio::sync::Notify;
use tokio::task::LocalSet;

/// `epoll` (as without it) or `uring` for the reactor's loop, `runtime` for tokio's.
const VARIABLE: &str = "TRIPHAMMER_TEST_IO";

/// A thread that runs sessions; it stays on the thread that creates it.
pub struct WorkerThread {
    local: LocalSet,
    runtime: Arc<Runtime>,
    #[cfg(target_os = "linux")]
    reactor: Option<Reactor>,
}

/// A worker of the reactor, and the thread that drives tokio's timers for it.
#[cfg(target_os = "linux")]
struct Reactor {
    worker: triphammer_reactor::Worker,
    end: Arc<Notify>,
    driving: Option<JoinHandle<()>>,
}

/// Runs a future as worker threads do.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    WorkerThread::new().block_on(future)
}

impl WorkerThread {
    /// Creates it on this thread.
    ///
    /// # Panics
    /// When the system does not allow it.
    #[must_use]
    pub fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = Arc::new(runtime.expect("an event loop can be created"));
        Self {
            local: LocalSet::new(),
            #[cfg(target_os = "linux")]
            reactor: wanted().map(|io| Reactor::new(io, &runtime)),
            runtime,
        }
    }

    /// Runs a future to its end.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        #[cfg(target_os = "linux")]
        if let Some(reactor) = &self.reactor {
            let _context = self.runtime.enter();
            return reactor.worker.block_on(self.local.run_until(future));
        }
        self.local.block_on(&self.runtime, future)
    }
}

impl Default for WorkerThread {
    fn default() -> Self {
        Self::new()
    }
}

/// What the variable asks for.
#[cfg(target_os = "linux")]
fn wanted() -> Option<triphammer_reactor::Io> {
    match std::env::var(VARIABLE).as_deref() {
        Ok("runtime") => None,
        Ok("uring") => Some(triphammer_reactor::Io::Ring),
        Ok("epoll") | Err(_) => Some(triphammer_reactor::Io::Epoll),
        Ok(other) => panic!("{VARIABLE} is {other:?}: use epoll, uring or runtime"),
    }
}

#[cfg(target_os = "linux")]
impl Reactor {
    fn new(io: triphammer_reactor::Io, runtime: &Arc<Runtime>) -> Self {
        let worker = triphammer_reactor::Worker::new(io).expect("the kernel allows it");
        let end = Arc::new(Notify::new());
        let (runtime, ending) = (Arc::clone(runtime), Arc::clone(&end));
        let driving = std::thread::spawn(move || runtime.block_on(ending.notified()));
        Self { worker, end, driving: Some(driving) }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Reactor {
    fn drop(&mut self) {
        self.end.notify_one();
        if let Some(driving) = self.driving.take() {
            // Its panic has been printed.
            let _ = driving.join();
        }
    }
}

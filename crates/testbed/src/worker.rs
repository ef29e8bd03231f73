//! Runs what is tested as the engine's worker threads do: on epoll, or on a ring of io_uring where
//! the variable [`VARIABLE`] asks for it.

use std::future::Future;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::thread::JoinHandle;

use tokio::runtime::{Builder, Runtime};
#[cfg(target_os = "linux")]
use tokio::sync::Notify;
use tokio::task::LocalSet;

/// `uring` for rings.
const VARIABLE: &str = "TRIPHAMMER_TEST_IO";

/// A thread that runs sessions; it stays on the thread that creates it.
pub struct WorkerThread {
    local: LocalSet,
    runtime: Arc<Runtime>,
    #[cfg(target_os = "linux")]
    ring: Option<Ring>,
}

/// A ring, and the thread that drives tokio's timers for it.
#[cfg(target_os = "linux")]
struct Ring {
    worker: triphammer_uring::Worker,
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
            ring: (std::env::var(VARIABLE).as_deref() == Ok("uring")).then(|| Ring::new(&runtime)),
            runtime,
        }
    }

    /// Runs a future to its end.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        #[cfg(target_os = "linux")]
        if let Some(ring) = &self.ring {
            let _context = self.runtime.enter();
            return ring.worker.block_on(self.local.run_until(future));
        }
        self.local.block_on(&self.runtime, future)
    }
}

impl Default for WorkerThread {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(target_os = "linux")]
impl Ring {
    fn new(runtime: &Arc<Runtime>) -> Self {
        let worker = triphammer_uring::Worker::new().expect("the kernel allows io_uring");
        let end = Arc::new(Notify::new());
        let (runtime, ending) = (Arc::clone(runtime), Arc::clone(&end));
        let driving = std::thread::spawn(move || runtime.block_on(ending.notified()));
        Self { worker, end, driving: Some(driving) }
    }
}

#[cfg(target_os = "linux")]
impl Drop for Ring {
    fn drop(&mut self) {
        self.end.notify_one();
        if let Some(driving) = self.driving.take() {
            // Its panic has been printed.
            let _ = driving.join();
        }
    }
}

//! What a worker thread runs its tasks on: a runtime of its own, or a ring. A ring's thread takes
//! tokio's timers, and what else tokio waits for, from the control thread's runtime.

use std::future::Future;
use std::io;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::task::LocalSet;

use super::runtime;

/// A worker thread's way to run its work.
pub(super) enum Thread {
    Own(Runtime),
    #[cfg(target_os = "linux")]
    Ring(triphammer_uring::Worker, Arc<Runtime>),
}

impl Thread {
    /// Creates it on its thread; `control` is kept until the work has ended.
    ///
    /// # Errors
    /// When the system has no file descriptor, memory or event left for it.
    pub fn new(ring: bool, control: Arc<Runtime>) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if ring {
            return Ok(Self::Ring(triphammer_uring::Worker::new()?, control));
        }
        let _ = (ring, control);
        runtime().map(Self::Own)
    }

    /// Runs the work to its end, with all tasks that it starts.
    pub fn run(self, work: impl Future<Output = ()>) {
        let local = LocalSet::new();
        match self {
            Self::Own(runtime) => {
                runtime.block_on(local.run_until(work));
                drop(local);
            }
            #[cfg(target_os = "linux")]
            Self::Ring(worker, control) => {
                let _context = control.enter();
                worker.block_on(local.run_until(work));
                drop(local);
            }
        }
    }
}

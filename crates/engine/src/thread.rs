//! What a worker thread runs its tasks on: a runtime of its own, or the reactor's loop. The latter
//! takes tokio's timers, and what else tokio waits for, from the control thread's runtime.

use std::future::Future;
use std::io;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::task::LocalSet;
use triphammer_core::io::WorkerLoop;

use super::runtime;

/// A worker thread's way to run its work.
pub(super) enum Thread {
    Runtime(Runtime),
    #[cfg(target_os = "linux")]
    Reactor(triphammer_reactor::Worker, Arc<Runtime>),
}

impl Thread {
    /// Creates it on its thread; `control` is kept until the work has ended.
    ///
    /// # Errors
    /// When the system has no file descriptor, memory or event left for it.
    pub fn new(worker_loop: WorkerLoop, control: Arc<Runtime>) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(io) = match worker_loop {
            WorkerLoop::Runtime => None,
            WorkerLoop::Epoll => Some(triphammer_reactor::Io::Epoll),
            WorkerLoop::Ring => Some(triphammer_reactor::Io::Ring),
        } {
            return Ok(Self::Reactor(triphammer_reactor::Worker::new(io)?, control));
        }
        let _ = (worker_loop, control);
        runtime().map(Self::Runtime)
    }

    /// Runs the work to its end, with all tasks that it starts.
    pub fn run(self, work: impl Future<Output = ()> + 'static) {
        let local = LocalSet::new();
        // A task of its own: the loop polls what it runs at each turn, a task only when it is woken.
        let work = local.spawn_local(work);
        let work = async {
            if let Err(error) = work.await
                && error.is_panic()
            {
                std::panic::resume_unwind(error.into_panic());
            }
        };
        match self {
            Self::Runtime(runtime) => {
                runtime.block_on(local.run_until(work));
                drop(local);
            }
            #[cfg(target_os = "linux")]
            Self::Reactor(worker, control) => {
                let _context = control.enter();
                worker.block_on(local.run_until(work));
                drop(local);
            }
        }
    }
}

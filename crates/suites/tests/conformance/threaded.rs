//! Sessions on their own threads, for cases in which one waits for another.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use triphammer_core::session::{Database, Role};
use triphammer_drivers::{AnyDatabase, AnySession};
use triphammer_testbed::WorkerThread;

use crate::bed::LIMIT;

type Work = Box<dyn FnOnce(&WorkerThread, &mut AnySession) + Send>;

/// A session on its own thread, closed when this is dropped.
pub struct ThreadedSession {
    work: Option<Sender<Work>>,
    thread: Option<JoinHandle<()>>,
}

/// An answer that has not arrived yet.
pub struct Pending<T>(Receiver<T>);

impl ThreadedSession {
    /// Opens a session on a new thread.
    pub fn connect(database: &Arc<AnyDatabase>) -> Self {
        let (sender, receiver) = channel::<Work>();
        let database = Arc::clone(database);
        let thread = std::thread::spawn(move || {
            let worker = WorkerThread::new();
            let mut session = worker.block_on(database.connect(Role::User, 0)).unwrap();
            while let Ok(work) = receiver.recv() {
                work(&worker, &mut session);
            }
        });
        Self { work: Some(sender), thread: Some(thread) }
    }

    /// Starts an operation on the session.
    pub fn start<T: Send + 'static, W>(&self, work: W) -> Pending<T>
    where
        W: AsyncFnOnce(&mut AnySession) -> T + Send + 'static,
    {
        let (sender, receiver) = channel();
        let run: Work = Box::new(move |worker, session| {
            // The caller may have stopped waiting.
            let _ = sender.send(worker.block_on(work(session)));
        });
        self.work.as_ref().unwrap().send(run).expect("the session's thread lives");
        Pending(receiver)
    }

    /// Runs an operation on the session and waits for it.
    pub fn run<T: Send + 'static, W>(&self, work: W) -> T
    where
        W: AsyncFnOnce(&mut AnySession) -> T + Send + 'static,
    {
        self.start(work).wait()
    }
}

impl<T> Pending<T> {
    /// Waits for the answer.
    pub fn wait(self) -> T {
        self.0.recv_timeout(LIMIT).expect("an answer in time")
    }
}

impl Drop for ThreadedSession {
    fn drop(&mut self) {
        self.work = None;
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "a session's thread panicked");
        }
    }
}

//! The loop of a thread: run what can run, then one call for all that waits.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use rustix::event::{EventfdFlags, eventfd};

use crate::Io;
use crate::driver::Driver;
use crate::wake::{Alarm, monotonic_ns};

/// How often the future is polled before the kernel is asked what has arrived meanwhile, if it is
/// never without work.
const POLLS_MAX: usize = 16;

thread_local! {
    static HERE: RefCell<Option<Rc<Driver>>> = const { RefCell::new(None) };
}

/// The driver of this thread.
pub(crate) fn here() -> Option<Rc<Driver>> {
    HERE.with_borrow(Option::clone)
}

/// Does something with the driver of this number; `None` if this thread has another or none.
#[inline]
pub(crate) fn on_driver<T>(number: u64, work: impl FnOnce(&Driver) -> T) -> Option<T> {
    let this = HERE.try_with(|here| match &*here.borrow() {
        Some(driver) if driver.number() == number => Some(work(driver)),
        _ => None,
    });
    this.ok().flatten()
}

/// Whether this thread is a worker.
pub fn is_here() -> bool {
    HERE.with_borrow(Option::is_some)
}

/// Packets that the TCP connections of this thread sent and received so far, of a worker; `None` on
/// another thread, without such a connection, and with too many of them.
pub fn packets() -> Option<[u64; 2]> {
    here()?.packets()
}

/// Sleeps on a worker's thread, exact to about 0.05 ms. A thread has one such sleep at a time: a
/// second one replaces the first. Returns false at once on another thread.
pub async fn sleep(time: Duration) -> bool {
    let Some(driver) = here() else { return false };
    let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 2);
    let until = monotonic_ns().saturating_add(nanoseconds);
    poll_fn(|cx| {
        if monotonic_ns() >= until {
            return Poll::Ready(true);
        }
        driver.set_alarm(Alarm { at_ns: until, waker: cx.waker().clone() });
        Poll::Pending
    })
    .await
}

/// What the sockets of the thread that creates it wait on, until it is dropped. Sockets that are left
/// are closed then.
pub struct Worker {
    driver: Rc<Driver>,
    shared: Arc<WakeState>,
}

/// What other threads need to wake this one.
struct WakeState {
    woken: AtomicBool,
    /// Whether the thread waits in the kernel, or is about to.
    waiting: AtomicBool,
    wake_fd: Arc<OwnedFd>,
}

impl Worker {
    /// Makes this thread a worker.
    ///
    /// # Errors
    /// When it is one, or the system has no file descriptor or memory left. For a ring also when the
    /// kernel has no io_uring, is older than Linux 6.1, or forbids it.
    pub fn new(io: Io) -> io::Result<Self> {
        if is_here() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let wake_fd = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?);
        let driver = Rc::new(Driver::new(io, Arc::clone(&wake_fd))?);
        HERE.set(Some(Rc::clone(&driver)));
        let (woken, waiting) = (AtomicBool::new(true), AtomicBool::new(false));
        Ok(Self { driver, shared: Arc::new(WakeState { woken, waiting, wake_fd }) })
    }

    /// Runs a future to its end. Sockets that are created meanwhile on this thread wait with it.
    ///
    /// # Panics
    /// When the kernel rejects a ring that it has created.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let waker = Waker::from(Arc::clone(&self.shared));
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        self.shared.woken.store(true, Ordering::Relaxed);
        loop {
            for _ in 0..POLLS_MAX {
                if !self.shared.woken.swap(false, Ordering::AcqRel) {
                    break;
                }
                if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                    return output;
                }
            }
            self.wait();
        }
    }

    fn wait(&self) {
        let WakeState { woken, waiting, .. } = &*self.shared;
        // Whoever wakes sets `woken` and then reads `waiting`: at least one sees the other.
        waiting.store(true, Ordering::SeqCst);
        let is_idle = !woken.load(Ordering::SeqCst);
        self.driver.ask(is_idle);
        waiting.store(false, Ordering::SeqCst);
        self.driver.deliver();
    }
}

impl Wake for WakeState {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        if self.waiting.swap(false, Ordering::SeqCst) {
            let _ = rustix::io::write(&self.wake_fd, &1u64.to_ne_bytes());
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        HERE.set(None);
    }
}

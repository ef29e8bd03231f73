//! Sockets of one thread, and the loop that waits for all of them: on Linux's io_uring, where
//! receiving and sending of all sessions take one system call per turn, or on epoll, where each
//! takes its own. Nothing else is here: a socket is connected by others, and what its bytes mean is a
//! driver's concern.
//!
//! A thread that [`block_on`](Worker::block_on)s a future is a worker. The future runs until none of
//! its tasks can continue; then one call submits what they want to send, waits, and delivers what
//! has arrived. Tokio's own sources (timers, connecting, name lookups, channels) work as usual: they
//! belong to the runtime whose context the caller has entered and which another thread drives, and
//! wake this one through an eventfd.
//!
//! - `executor` is the loop of a thread.
//! - `driver` is either way to wait: `ring` or `epoll`.
//! - `ring::queue` is the boundary to io_uring; it and `packets` are the only places with `unsafe`.
//! - `packets` counts the packets of the thread's connections.
//! - `socket` is one socket as tokio's `AsyncRead` and `AsyncWrite`.
#![cfg(target_os = "linux")]

mod driver;
mod epoll;
mod executor;
mod packets;
mod ring;
mod socket;
mod wake;

pub use executor::{Worker, is_here, packets, sleep};
pub use ring::probe;
pub use socket::WorkerSocket;

/// How a thread waits for its sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Io {
    /// On a ring of io_uring.
    Ring,
    /// On epoll.
    Epoll,
}

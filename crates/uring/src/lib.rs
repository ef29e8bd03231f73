//! Sockets of one thread on Linux's io_uring: receiving and sending of all sessions of a thread
//! take one system call per turn, instead of one for each and one for waiting. Nothing else is
//! here: a socket is connected by others, and what its bytes mean is a driver's concern.
//!
//! A thread that [`block_on`]s a future owns one ring. The future runs until none of its tasks can
//! continue; then one call submits what they want to send, waits, and delivers what has arrived.
//! Tokio's own sources (timers, connecting, name lookups, channels) work as usual: they belong to
//! the runtime whose context the caller has entered and which another thread drives, and wake this
//! one through an eventfd.
//!
//! Memory that the kernel reads or writes belongs to the ring, never to a session: one arena for
//! what is sent, one set of buffers for what is received. So a session may be dropped at any time;
//! its socket stays open until the kernel has let go of it.
//!
//! - `ring` is the boundary: the only place with `unsafe`.
//! - `driver` has the sockets' states and what a completion does to them.
//! - `socket` is one socket as tokio's `AsyncRead` and `AsyncWrite`.
//! - `executor` is the loop of a thread.
#![cfg(target_os = "linux")]

mod driver;
mod executor;
mod ring;
mod socket;

pub use executor::{Worker, is_here, probe, sleep};
pub use socket::RingSocket;

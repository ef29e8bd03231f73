//! How worker threads wait for their sessions: on epoll, or on a ring of io_uring, which does what
//! all sessions of a thread want in one system call.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::SpecError;

/// What a run with rings adds to [`ServerInfo::transport`](crate::session::ServerInfo).
pub const RING: &str = ", io_uring";

/// How worker threads wait for their sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Io {
    /// On a ring where the kernel allows it and it takes less CPU time, else on epoll.
    #[default]
    Auto,
    /// On epoll, or what the system has instead.
    Epoll,
    /// On a ring.
    Uring,
}

/// What a worker thread runs its sessions on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerLoop {
    /// A runtime of tokio's.
    Runtime,
    /// The reactor's loop on epoll: fewer instructions per transaction.
    Epoll,
    /// The reactor's loop on a ring: fewer system calls, too.
    Ring,
}

impl Io {
    /// All of them, each with its name on the command line.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Auto, "auto"), (Self::Epoll, "epoll"), (Self::Uring, "uring")];

    /// Name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(io, _)| *io == self).expect("ALL has each").1
    }

    /// Checks that this host can do what is requested.
    ///
    /// # Errors
    /// When a ring is requested and this host has none.
    pub fn check(self) -> Result<(), SpecError> {
        match self {
            Self::Auto | Self::Epoll => Ok(()),
            Self::Uring => probe().map_err(|cause| {
                let message = format!("--io uring: {cause}; use --io epoll, or auto");
                SpecError::new(message).about("io")
            }),
        }
    }
}

/// Whether this host allows rings; else why not.
#[cfg(target_os = "linux")]
pub fn probe() -> Result<(), String> {
    triphammer_reactor::probe().map_err(|error| {
        format!(
            "the kernel does not allow io_uring ({error}): it needs Linux 6.1, \
             /proc/sys/kernel/io_uring_disabled at 0, and a container whose seccomp profile allows it"
        )
    })
}

/// Whether this host allows rings; else why not.
#[cfg(not(target_os = "linux"))]
pub fn probe() -> Result<(), String> {
    Err("io_uring is part of Linux".into())
}

impl fmt::Display for Io {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Io {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(_, name)| *name == text);
        known
            .map(|(io, _)| *io)
            .ok_or_else(|| format!("unknown way `{text}`: expected auto, epoll or uring"))
    }
}

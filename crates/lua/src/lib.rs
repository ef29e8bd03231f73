//! sysbench's scripts: the Lua side of the workload `sysbench`. A [`State`] holds a script with sysbench 1.0's API in
//! LuaJIT, for one thread of a run. It knows no database: a call to the database suspends the script's coroutine, and
//! appears as a [`Request`], which the driver of the state carries out and answers. So one worker thread drives many
//! scripts, and `pcall` around a query works, because LuaJIT can suspend a coroutine within it.
//!
//! ```text
//! state               one Lua state: the script, its coroutine, requests and answers
//!   setup             what it has before the script is loaded
//!   arguments         arguments of statements
//!   report            the report hooks of the script
//! api                 sysbench's API in Lua, on top of requests
//! host                functions that the API calls in Rust
//! environment         what a script sees around it
//! error               why scripts fail
//! results             rows of results that a script may still read
//! options             general options of sysbench, and those that a script declares
//! unique              numbers that no thread has had before
//! watchdog            ends scripts that run on without a request
//! ```
//!
//! LuaJIT's `ffi` library is available to scripts, as in sysbench, so a script can do anything that the process may: it
//! is the user's own code. The limits on memory and on time catch mistakes, not malice.

mod api;
mod environment;
mod error;
mod host;
mod options;
mod results;
mod state;
mod unique;
mod watchdog;

#[cfg(test)]
mod tests;

pub use environment::{Environment, Output};
pub use error::ScriptError;
pub use host::{Counts, Failure};
pub use options::{GENERAL, GeneralOption, IGNORE_ERRORS, OptionKind, Scalar, ScriptOption};
pub use state::{Arguments, Call, Commands, Hook, Request, Stat, State};
pub use unique::Unique;
pub use watchdog::TIME_LIMIT;

/// Memory that one state may use, in bytes.
pub const MEMORY_LIMIT: usize = 64 * 1024 * 1024;

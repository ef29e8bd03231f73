//! Replay of a recording: the sessions, statements and arguments of a server's log, in their order.
//!
//! ```text
//! source    the file and its text, which is read once
//! plan      a recording as it is replayed: transaction types, statements, sessions
//! workload  the plan as a workload; the load model `replay` asks it when transactions are due
//! runner    runs a transaction on a session, with the recorded gaps between its statements
//! ```
//!
//! `triphammer-capture` makes and reads recordings; SQL is bound and timed by the code of the workload
//! `script`.

mod plan;
mod runner;
mod source;
#[cfg(test)]
mod tests;
mod workload;

pub use source::hash;
pub use workload::{RECORDING, Replay};

/// Name of the workload.
pub const NAME: &str = "replay";
/// The setting that names its files.
pub(crate) const SETTING: &str = "recording";

//! Replay of a recording: the sessions, statements and arguments of a server's log, in their order.
//!
//! ```text
//! source    the file and its text, which is read once
//! facts     what the text of a statement shows: its table, its key, whether its answer can be the same twice
//! timeline  when the statements of the recording ran
//! ids       values that the server made, and where they are used
//! naming    what the names of columns say about that
//! order     which transactions a statement waits for, because they conflict with its own
//! plan      a recording as it is replayed: transaction types, statements, sessions, and the above
//! workload  the plan as a workload; the load model `replay` asks it when transactions are due
//! progress  which transactions have ended in the replay
//! lanes     the sessions of ours, and which of them wait in vain
//! runner    runs a transaction on a session, with the recorded gaps between its statements
//! answers   what the replay's statements answered, beside the recorded answers
//! ```
//!
//! `triphammer-capture` makes and reads recordings; SQL is bound and timed by the code of the workload
//! `script`.

mod answers;
mod blocks;
mod facts;
mod ids;
mod lanes;
mod naming;
mod order;
mod plan;
mod progress;
mod runner;
mod source;
#[cfg(test)]
mod tests;
mod timeline;
mod workload;

pub use source::hash;
pub use workload::{RECORDING, Replay};

/// Name of the workload.
pub const NAME: &str = "replay";
/// The setting that names its files.
pub(crate) const SETTING: &str = "recording";

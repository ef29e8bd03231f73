//! sysbench's scripts as a workload: Lua with the API of sysbench 1.0 (crate `triphammer-lua`), one state per session.
//!
//! ```text
//! settings source     --script FILE, --define NAME=VALUE; where scripts and their modules are found
//! workload            the script as a Workload: one transaction type, whose transactions are events
//! runner              carries out what a script requests on a session
//! statement           statements of a script: what they do, their placeholders, values in a text
//! totals              what the states counted, added up when they end
//! ```

pub(crate) mod runner;
pub(crate) mod settings;
mod source;
pub(crate) mod statement;
pub(crate) mod totals;
mod workload;

pub use settings::{DEFINE, SCRIPT};
pub use source::{FOLDERS, load};
pub use workload::Sysbench;

/// Name of the workload.
pub const NAME: &str = "sysbench";

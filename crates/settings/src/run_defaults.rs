//! What is known of workload, database and host when a run is resolved: its defaults depend on it.

use triphammer_core::pace::Cycle;
use triphammer_core::session::Capabilities;
use triphammer_core::workload::{Mode, RecordingDef};

/// The facts that the defaults of a run depend on.
#[derive(Clone, Copy, Debug)]
pub struct RunDefaults<'a> {
    /// Capabilities of the database.
    pub capabilities: &'a Capabilities,
    /// Scale of the workload as built.
    pub scale: u32,
    /// Modes supported by the workload.
    pub modes: &'a [Mode],
    /// Whether its transactions can be pipelined; an error is the reason why not.
    pub pipelining: Result<(), &'static str>,
    /// Keying and thinking times of the workload; `None` if it has none.
    pub cycle: Option<&'a Cycle>,
    /// The recording that is replayed; `None` if there is none.
    pub recording: Option<&'a RecordingDef>,
    /// Whether no target was given.
    pub embedded: bool,
    /// Number of logical processors.
    pub cores: u32,
}

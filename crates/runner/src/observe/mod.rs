//! Observes a database (and, through further [`Source`]s, its host) beside a run, on the run's own
//! time axis.
//!
//! ```text
//! thread "observe"         10 × per second  sessions and their waits   ─┐ every second
//!   (own session)          every second     counters of the server     ─┤
//! thread "observe host" …  every second     any other Source           ─┴─► Sink ─► job store
//!                                                                            └────► window ─► document
//! ```
//!
//! The run never waits for an observer: it only moves the bounds of the timed window, which are two
//! atomic numbers, and takes what was observed at its end, within a limit. What a database offers is
//! declared in its dialect's `observe.toml`; the code here knows no database by name.

mod sink;
mod source;

pub use sink::{Bounds, Sink};
pub use source::{Measured, Source, watch_source};

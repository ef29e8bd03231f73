//! The engine, compiled for all workloads and databases.
//!
//! The engine is generic, so it is compiled in the crate that calls it. It is called from here only:
//! this crate is optimized for speed, and the crates above, which do nothing per transaction, for
//! size, which takes half the time to compile. The workspace's `Cargo.toml` has the profiles.

use std::pin::Pin;

use triphammer_core::{DbError, Timestamp};
use triphammer_drivers::AnyDatabase;
use triphammer_engine::hosts::Gate;
use triphammer_engine::{Origin, Replay, RunHandle, RunPlan};
use triphammer_workloads::AnyWorkload;

/// How one of the workloads is run on one of the databases.
pub type Plan = RunPlan<AnyWorkload, AnyDatabase>;

/// Starts a run on its own threads: [`triphammer_engine::start`].
///
/// # Errors
/// When a thread or its event loop cannot be created.
pub fn start(plan: Plan) -> std::io::Result<RunHandle> {
    triphammer_engine::start(plan)
}

/// Starts a share of a run, which waits at its gate: [`triphammer_engine::start_gated`].
///
/// # Errors
/// When a thread or its event loop cannot be created.
pub fn start_gated(plan: Plan, gate: Gate) -> std::io::Result<RunHandle> {
    triphammer_engine::start_gated(plan, Some(gate))
}

/// Repeats one transaction: [`triphammer_engine::replay`]. The future is boxed, so that it is compiled here.
#[must_use]
pub fn replay(
    plan: &Plan,
    origin: Origin,
    date: Timestamp,
) -> Pin<Box<dyn Future<Output = Result<Replay, DbError>> + '_>> {
    Box::pin(triphammer_engine::replay(plan, origin, date))
}

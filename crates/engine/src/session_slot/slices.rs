//! The slices of a run that takes place at once with another one: between two transactions, a
//! session waits while it is the turn of the other half.

use std::time::Duration;

use triphammer_core::clock::Elapsed;
use triphammer_core::session::Database;
use triphammer_core::spec::RunSpec;
use triphammer_core::workload::Workload;

use super::SessionSlot;

/// When a session has to look at the slices for the first time.
pub(super) fn first(spec: &RunSpec) -> Elapsed {
    if spec.pacing.half.is_some() { Elapsed::default() } else { Elapsed::NEVER }
}

impl<W: Workload, D: Database> SessionSlot<W, D> {
    /// Waits until the run works again, or has stopped, and returns when that is.
    #[cold]
    pub(super) async fn wait_for_slice(&mut self, now: Elapsed) -> Elapsed {
        let half = self.context.plan.spec.pacing.half;
        let (works, until) = half.map_or((true, Elapsed::NEVER), |half| half.at(now));
        if works {
            self.works_until = until;
            return now;
        }
        self.pause(Duration::from_nanos(until.since(now))).await;
        self.clock.now()
    }
}

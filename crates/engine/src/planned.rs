//! The changes of the load that a run has planned: when each is to be made, and what becomes of it.

use std::collections::VecDeque;

use triphammer_core::clock::Elapsed;
use triphammer_core::pace::{LoadChange, PlannedChange};
use triphammer_core::spec::RunSpec;

use super::load_change::LEAD;
use super::signal::StopHandle;

/// Changes that are still to be made, in order, each with its time since the start of the run.
#[derive(Debug)]
pub(super) struct Planned(VecDeque<(Elapsed, PlannedChange)>);

impl Planned {
    pub fn of(spec: &RunSpec) -> Self {
        let due = |planned: &PlannedChange| {
            (Elapsed::from_duration(spec.rampup.saturating_add(planned.at)), planned.clone())
        };
        Self(spec.pacing.changes.iter().map(due).collect())
    }

    /// When the next one is to be made. A rate begins with the whole second after that.
    pub fn next(&self) -> Option<Elapsed> {
        let (due, planned) = self.0.front()?;
        Some(match planned.change {
            LoadChange::Rate(_) => Elapsed::from_duration(due.duration().saturating_sub(LEAD)),
            LoadChange::Users(_) | LoadChange::Mix(_) => *due,
        })
    }

    /// Makes the next one; returns why it was not possible, in a sentence.
    pub fn make(&mut self, stopper: &StopHandle) -> Option<String> {
        let (due, planned) = self.0.pop_front()?;
        let refused = stopper.change_as_planned(planned.change.clone(), due).err()?;
        Some(format!("the planned change `{planned}` was not made: {refused}"))
    }
}

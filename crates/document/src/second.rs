//! A second of a run as reported to watchers: the engine's counts, the phase, and the database's
//! own counter.

use triphammer_core::event::Phase;
use triphammer_core::recorder::{RecordedInterval, TypeInterval};
use triphammer_core::stats::rate;
use triphammer_core::workload::ScriptTotals;

use crate::parts::ServerTransactions;

/// A second of all threads, or several merged ones if a reader did not keep up.
#[derive(Clone, Debug)]
pub struct Second {
    /// The engine's counts.
    pub interval: RecordedInterval,
    /// Total of all transaction types.
    pub total: TypeInterval,
    /// Phase at its start.
    pub phase: Phase,
    /// Increase of the database's own transaction counter between the readings after the previous
    /// and after this second. `None` if the database has no counter or did not answer at once.
    pub server: Option<ServerTransactions>,
    /// What the users' own code has done since the start of the run; `None` unless the workload has such code.
    pub script: Option<ScriptTotals>,
}

impl Second {
    /// Creates a second with its total.
    #[must_use]
    pub fn new(
        interval: RecordedInterval,
        phase: Phase,
        server: Option<ServerTransactions>,
    ) -> Self {
        let mut total = TypeInterval::default();
        for seen in &interval.types {
            total.add(seen);
        }
        Self { interval, total, phase, server, script: None }
    }

    /// Adds a later second; the result covers both. Of what waits for a session, the most is kept.
    pub fn add_later(&mut self, later: &Self) {
        let backlog = self.interval.backlog.max(later.interval.backlog);
        self.interval.add_later(&later.interval);
        self.interval.backlog = backlog;
        self.total.add(&later.total);
        if let Some(later) = later.server {
            let server = self.server.get_or_insert(ServerTransactions { count: 0, seconds: 0.0 });
            server.count += later.count;
            server.seconds += later.seconds;
        }
        self.script = later.script;
    }

    /// Number of seconds covered.
    #[must_use]
    pub const fn seconds(&self) -> u64 {
        self.interval.last - self.interval.first + 1
    }
}

impl ServerTransactions {
    /// Transactions per minute.
    #[must_use]
    pub fn per_minute(&self) -> f64 {
        rate(self.count, self.seconds, 60)
    }
}

/// Maps seconds to phases: the timed window starts and ends at whole seconds.
#[derive(Clone, Debug)]
pub struct Phases {
    /// Whether the window is a time; otherwise the whole run is the window.
    timed: bool,
    /// The phases entered, each with the first second that is completely in it.
    entered: Vec<(Phase, u64)>,
}

impl Phases {
    /// Creates the phases of a run whose window is a time, or which is its own window.
    pub fn new(timed: bool) -> Self {
        Self { timed, entered: Vec::new() }
    }

    /// Records that the run is in `phase` from `second` on.
    pub fn enter(&mut self, phase: Phase, second: u64) {
        if self.timed || matches!(phase, Phase::Window | Phase::Abort) {
            self.entered.push((phase, second));
        }
    }

    /// Phase of `second`, which may be in the past.
    pub fn at(&self, second: u64) -> Phase {
        let mut phase = if self.timed { Phase::RampUp } else { Phase::Window };
        for (entered, from) in &self.entered {
            if *from <= second {
                phase = *entered;
            }
        }
        phase
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_that_comes_after_the_edge_belongs_to_the_phase_before() {
        let mut phases = Phases::new(true);
        phases.enter(Phase::RampUp, 0);
        phases.enter(Phase::Window, 5);
        assert_eq!([0, 4, 5].map(|s| phases.at(s)), [Phase::RampUp, Phase::RampUp, Phase::Window]);
        phases.enter(Phase::Drain, 9);
        phases.enter(Phase::Abort, 9);
        assert_eq!([8, 9].map(|s| phases.at(s)), [Phase::Window, Phase::Abort]);
    }

    #[test]
    fn a_run_by_transactions_is_all_window() {
        let mut phases = Phases::new(false);
        phases.enter(Phase::Window, 0);
        phases.enter(Phase::Drain, 3);
        assert_eq!([0, 3, 4].map(|s| phases.at(s)), [Phase::Window; 3]);
    }
}

//! The demand of the load, as the control thread sees it: whether there is work in a second, and
//! the outcome of the arrivals of an open load.

use std::sync::Arc;

use triphammer_core::clock::Elapsed;
use triphammer_core::pace::RateProfile;
use triphammer_core::recorder::RecordedInterval;
use triphammer_core::spec::RunSpec;

use super::queue::{Offer, Tickets};
use super::uplink::WorkerEnd;
use super::{Offered, Share, Violation, accounts};

/// The demand of the load on the users.
pub(super) struct Demand {
    spec: RunSpec,
    share: Share,
    tickets: Arc<Tickets>,
    /// Transactions that are due in each second; `None` unless the load is a replay.
    recorded: Option<Arc<[u32]>>,
    /// Rate over time; `None` unless the load is open.
    profile: Option<Arc<RateProfile>>,
    /// Arrivals offered; `None` unless the load is open.
    offer: Option<Offer>,
}

impl Demand {
    /// The demand of a run; `recorded` are the transactions that are due in each second of a replay.
    pub fn new(
        spec: RunSpec,
        share: Share,
        tickets: Arc<Tickets>,
        recorded: Option<Arc<[u32]>>,
    ) -> Self {
        Self {
            recorded,
            tickets,
            profile: RateProfile::new(&spec.load, &spec.pacing.steps, spec.rampup).map(Arc::new),
            offer: Offer::new(&spec, share),
            share,
            spec,
        }
    }

    /// Follows another rate, which begins in a second that is not complete.
    pub fn follow(&mut self, profile: &Arc<RateProfile>) {
        if let Some(offer) = &mut self.offer {
            offer.follow(profile);
        }
        self.profile = Some(Arc::clone(profile));
    }

    /// Whether the load gave the users any work in this second.
    pub fn asks_for_work(&self, second: u64) -> bool {
        if let Some(recorded) = &self.recorded {
            let due = usize::try_from(second).ok().and_then(|second| recorded.get(second));
            return due.is_some_and(|due| *due >= self.share.of());
        }
        let half = self.spec.pacing.half;
        if half.is_some_and(|half| !half.works(second)) {
            return false;
        }
        let worked = |at: Elapsed| half.map_or(at, |half| half.worked(at));
        let seconds = |at: u64| worked(Elapsed::at_second(at)).duration().as_secs_f64();
        let expected =
            |p: &RateProfile| p.expected(seconds(second + 1)) - p.expected(seconds(second));
        let shares = f64::from(self.share.of());
        self.profile.as_ref().is_none_or(|profile| expected(profile) >= shares)
    }

    /// Adds the arrivals that fell due in a second to the sum of all threads for it.
    pub fn complete(&mut self, second: &mut RecordedInterval, stop: Elapsed) {
        if let Some(offer) = &mut self.offer {
            offer.complete(second, stop);
        }
    }

    /// Outcome of the arrivals of an open load that stopped at `stop`.
    pub fn offered(&self, stop: Elapsed, ends: &[WorkerEnd]) -> Option<Offered> {
        let by = (&self.spec, self.profile.as_ref());
        accounts::offered(by, self.share, self.tickets.given(), stop, ends)
    }

    /// Returns the violation if some arrival did not have exactly one outcome.
    pub fn violation(&self, ends: &[WorkerEnd]) -> Option<Violation> {
        accounts::ticket_violation(self.tickets.given(), ends)
    }
}

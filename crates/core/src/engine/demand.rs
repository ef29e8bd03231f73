//! What the load asks for, as the control thread sees it: whether there is something to do in a second,
//! and what became of what an open load offered.

use std::sync::Arc;

use super::queue::{Offer, Tickets};
use super::uplink::WorkerEnd;
use super::{Offered, Share, Violation, accounts};
use crate::clock::Elapsed;
use crate::pace::RateProfile;
use crate::recorder::RecordedInterval;
use crate::spec::RunSpec;

/// What is asked of the users.
pub(super) struct Demand {
    spec: RunSpec,
    share: Share,
    tickets: Arc<Tickets>,
    /// Of an open load.
    profile: Option<RateProfile>,
    /// Of an open load.
    offer: Option<Offer>,
}

impl Demand {
    pub fn new(spec: RunSpec, share: Share, tickets: Arc<Tickets>) -> Self {
        Self {
            tickets,
            profile: RateProfile::new(&spec.load, &spec.pacing.steps, spec.rampup),
            offer: Offer::new(&spec, share),
            share,
            spec,
        }
    }

    /// Whether the load gave the users something to do in this second.
    pub fn asks_for_work(&self, second: u64) -> bool {
        let seconds = |at: u64| Elapsed::at_second(at).duration().as_secs_f64();
        let expected =
            |p: &RateProfile| p.expected(seconds(second + 1)) - p.expected(seconds(second));
        let shares = f64::from(self.share.of());
        self.profile.as_ref().is_none_or(|profile| expected(profile) >= shares)
    }

    /// Adds to the sum of all threads for a second what fell due in it.
    pub fn complete(&mut self, second: &mut RecordedInterval, stop: Elapsed) {
        if let Some(offer) = &mut self.offer {
            offer.complete(second, stop);
        }
    }

    /// What became of the arrivals of an open load that stopped at `stop`.
    pub fn offered(&self, stop: Elapsed, ends: &[WorkerEnd]) -> Option<Offered> {
        accounts::offered(&self.spec, self.share, self.tickets.given(), stop, ends)
    }

    /// An arrival that did not come to one end.
    pub fn violation(&self, ends: &[WorkerEnd]) -> Option<Violation> {
        accounts::ticket_violation(self.tickets.given(), ends)
    }
}

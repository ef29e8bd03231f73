//! A virtual user, a terminal or an arrival: plain data, so that one that waits costs its bytes and no
//! task. What it does depends on the seed and on its number alone.

use super::exemplar::Origin;
use crate::clock::Elapsed;
use crate::random::Rng;
use crate::spec::{Length, RunSpec};
use crate::workload::Workload;

/// Purposes of the streams of random numbers that inputs are drawn from.
const USERS: u64 = 1;
const ARRIVALS: u64 = 5;

/// Someone whose transactions are run: a user of a closed load, a terminal, or whoever has just arrived.
pub(super) struct VirtualUser<W: Workload> {
    pub state: W::User,
    pub inputs: Rng,
    pub origin: Origin,
    /// The transaction type that comes next, or is being run.
    pub transaction: usize,
    /// When the last one finished; at first, the log-in.
    pub since: Elapsed,
}

impl<W: Workload> VirtualUser<W> {
    /// User or terminal `id`, as yet without a transaction.
    pub fn user(workload: &W, spec: &RunSpec, id: u32) -> Self {
        let mut inputs = Rng::of(spec.seed, &[USERS, u64::from(id)]);
        Self {
            state: workload.user(id, spec.users, &mut inputs),
            inputs,
            origin: Origin::User { user: id, nth: 0 },
            transaction: 0,
            since: Elapsed::from_duration(spec.pacing.login_delay.saturating_mul(id)),
        }
    }

    /// Goes on to the user's next transaction; false when there is none.
    #[inline]
    pub fn advance(&mut self, workload: &W, spec: &RunSpec) -> bool {
        let Origin::User { nth, .. } = &mut self.origin else { return false };
        if matches!(spec.length, Length::Transactions(all) if *nth == all) {
            return false;
        }
        let Some(next) = workload.next(&mut self.state, &mut self.inputs) else { return false };
        *nth += 1;
        self.transaction = next;
        true
    }

    /// Becomes an arrival; false when the workload has nothing for it to do.
    pub fn arrive(&mut self, workload: &W, seed: u64, arrival: u64) -> bool {
        self.inputs = Rng::of(seed, &[ARRIVALS, arrival]);
        self.origin = Origin::Arrival(arrival);
        let next = workload.arrive(&mut self.state, &mut self.inputs);
        self.transaction = next.unwrap_or_default();
        next.is_some()
    }

    /// Goes on to the terminal's next transaction, and says when it is due; `None` when there is none.
    ///
    /// # Panics
    /// When the workload has no keying times: [`RunSpec::validate`] refuses a keyed load without.
    pub fn key(&mut self, workload: &W, spec: &RunSpec) -> Option<Elapsed> {
        let last = self.transaction;
        if !self.advance(workload, spec) {
            return None;
        }
        let Origin::User { user, nth } = self.origin else { return None };
        let next = self.transaction;
        // Who has just logged in thinks first, so that not all begin at once.
        let last = if nth == 1 { next } else { last };
        let cycle = workload.description().cycle.as_ref();
        let cycle = cycle.expect("a spec of a keyed load was validated with its cycle");
        let pause = cycle.pause(last, next, spec.seed, user.into(), nth);
        Some(Elapsed(self.since.0.saturating_add(Elapsed::from_duration(pause).0)))
    }
}

//! A virtual user, a terminal or an arrival: plain data, so that a waiting one costs its bytes and
//! no task. What it does depends only on the seed and on its number.

use triphammer_core::clock::Elapsed;
use triphammer_core::origin::Origin;
use triphammer_core::random::Rng;
use triphammer_core::spec::{Length, RunSpec};
use triphammer_core::workload::Workload;

/// Purpose of the random streams that inputs of users are drawn from.
const USERS: u64 = 1;
const ARRIVALS: u64 = 5;

/// A user whose transactions are run: of a closed load, a terminal, or an arrival.
pub(super) struct VirtualUser<W: Workload> {
    pub state: W::User,
    pub inputs: Rng,
    pub origin: Origin,
    /// The transaction type that is next, or is running.
    pub transaction: usize,
    /// End of the last transaction; at first, the time of the log-in.
    pub since: Elapsed,
}

impl<W: Workload> VirtualUser<W> {
    /// Creates user or terminal `id`, with no transaction yet.
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

    /// Advances to the user's next transaction; false when there is none.
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
        let next = workload.arrive(&mut self.state, arrival, &mut self.inputs);
        self.transaction = next.unwrap_or_default();
        next.is_some()
    }

    /// Advances to the recorded session's next transaction, and returns when it is due; `None` when
    /// there is none.
    pub fn replay(&mut self, workload: &W, spec: &RunSpec) -> Option<Elapsed> {
        self.advance(workload, spec).then(|| workload.due(&self.state))
    }

    /// Advances to the terminal's next transaction, and returns when it is due; `None` when there
    /// is none.
    ///
    /// # Panics
    /// When the workload has no keying times: [`RunSpec::validate`] rejects a keyed load without
    /// them.
    pub fn key(&mut self, workload: &W, spec: &RunSpec) -> Option<Elapsed> {
        let last = self.transaction;
        if !self.advance(workload, spec) {
            return None;
        }
        let Origin::User { user, nth } = self.origin else { return None };
        let next = self.transaction;
        // A user who has just logged in thinks first, so that not all begin at once.
        let last = if nth == 1 { next } else { last };
        let cycle = workload.description().cycle.as_ref();
        let cycle = cycle.expect("a spec of a keyed load was validated with its cycle");
        let pause = cycle.pause(last, next, spec.seed, user.into(), nth);
        Some(Elapsed(self.since.0.saturating_add(Elapsed::from_duration(pause).0)))
    }
}

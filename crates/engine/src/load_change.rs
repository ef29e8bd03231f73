//! Changes of the load during a run: another rate of an open load, another number of users of a
//! closed one, or another mix of either; by request, or as the run has planned them. Whoever asks is
//! answered at once; threads notice by a number that grows with each change. What was due before a
//! change stays as it was: a change of the rate begins with the next whole second.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use triphammer_core::clock::{Clock, Elapsed};
use triphammer_core::mix::Mix;
use triphammer_core::pace::{
    Changeable, Changed, LoadChange, LoadChangeError, LoadChanged, LoadNow, LoadValue, RATE_MAX,
    RateProfile,
};
use triphammer_core::spec::RunSpec;
use triphammer_core::workload::Workload;

/// Maximum number of changes of a run.
pub const CHANGES_MAX: usize = 1_000;
/// Time that all threads have to notice a change of the rate before it begins.
const NOTICE: Duration = Duration::from_millis(100);
/// How long before its time a planned change of the rate is made: it begins with the next whole second.
pub(super) const LEAD: Duration = Duration::from_millis(500);
/// Why nothing of a load can change until a run allows it.
const SEVERAL_HOSTS: &str = "several hosts drive the load of this run, which cannot change";

/// The load of a run, as it is now.
#[derive(Debug)]
pub(super) struct LoadControl {
    version: AtomicU64,
    /// Users with a number from this on wait.
    active: AtomicU32,
    state: Mutex<LoadState>,
}

#[derive(Debug)]
struct LoadState {
    what: Changeable,
    /// The rate over time of an open load.
    profile: Option<Arc<RateProfile>>,
    /// The mix, or why it cannot change.
    mix: Result<Arc<Mix>, &'static str>,
    clock: Option<Clock>,
    changes: Vec<LoadChanged>,
    /// Whether no more transactions begin.
    is_over: bool,
}

impl LoadState {
    /// The clock of a load that can change.
    fn clock(&self) -> Result<Clock, LoadChangeError> {
        let clock = self.clock.ok_or_else(|| {
            LoadChangeError::state("the load has not started yet: try again when it has")
        })?;
        match self.what {
            Changeable::Nothing(reason) => Err(LoadChangeError::state(reason)),
            _ if self.is_over => Err(LoadChangeError::state("the load of this run has ended")),
            Changeable::Rate | Changeable::Users(_) => Ok(clock),
        }
    }
}

impl Default for LoadControl {
    fn default() -> Self {
        Self {
            version: AtomicU64::new(0),
            active: AtomicU32::new(u32::MAX),
            state: Mutex::new(LoadState {
                what: Changeable::Nothing(SEVERAL_HOSTS),
                profile: None,
                mix: Err(SEVERAL_HOSTS),
                clock: None,
                changes: Vec::new(),
                is_over: false,
            }),
        }
    }
}

impl LoadControl {
    /// Allows the changes that a run of one process can have.
    pub fn allow(&self, spec: &RunSpec, workload: &impl Workload) {
        let profile = RateProfile::new(&spec.load, &spec.pacing.steps, spec.rampup);
        let mut state = self.state();
        state.mix = workload.mix(profile.is_some()).cloned();
        state.profile = profile.map(Arc::new);
        state.what = spec.changeable(workload.description().recording.is_some());
    }

    /// The run begins.
    pub fn begin(&self, clock: Clock) {
        self.state().clock = Some(clock);
    }

    /// No more transactions begin.
    pub fn end(&self) {
        self.state().is_over = true;
    }

    /// The load now.
    ///
    /// # Errors
    /// Says why it cannot change.
    pub fn now(&self) -> Result<LoadNow, LoadChangeError> {
        let state = self.state();
        let second = state.clock()?.now().duration().as_secs_f64();
        let (what, value, max) = match (state.what, &state.profile) {
            (Changeable::Users(most), _) => {
                let active = self.active.load(Ordering::Relaxed).min(most);
                (Changed::Users, active.into(), most.into())
            }
            (_, profile) => {
                let rate = profile.as_ref().map_or(0.0, |profile| profile.rate(second));
                (Changed::Rate, rate, RATE_MAX)
            }
        };
        let mix = state.mix.as_ref().ok().map(|mix| mix.words());
        Ok(LoadNow { what, value, max, mix })
    }

    /// Makes a change that is asked for.
    ///
    /// # Errors
    /// Says why it is not possible.
    pub fn change(&self, change: LoadChange) -> Result<LoadChanged, LoadChangeError> {
        self.make(change, None)
    }

    /// Makes a change that the run has planned for a time, which has come, or is [`LEAD`] away.
    ///
    /// # Errors
    /// Says why it is not possible.
    pub fn planned(
        &self,
        change: LoadChange,
        due: Elapsed,
    ) -> Result<LoadChanged, LoadChangeError> {
        self.make(change, Some(due))
    }

    fn make(
        &self,
        change: LoadChange,
        due: Option<Elapsed>,
    ) -> Result<LoadChanged, LoadChangeError> {
        let mut state = self.state();
        let now = state.clock()?.now();
        let LoadState { what, profile, mix, changes, .. } = &mut *state;
        if changes.len() >= CHANGES_MAX {
            let reason = format!("a run can have at most {CHANGES_MAX} changes");
            return Err(LoadChangeError::state(reason));
        }
        what.check(&change)?;
        // What is planned takes place at its second, also if this thread is a little late.
        let at = due.filter(|due| due.second() == now.second()).unwrap_or(now);
        let mut made = match change {
            LoadChange::Mix(text) => mixed(mix, &text, at)?,
            LoadChange::Rate(to) => {
                let profile = profile.as_mut().expect("the load is open, so it has a rate");
                let noticed = Elapsed::from_duration(now.duration() + NOTICE);
                let at = Elapsed::at_second(noticed.second() + 1);
                open(profile, changes.last(), at, to)?
            }
            LoadChange::Users(users) => {
                let before = self.active.swap(users, Ordering::Relaxed);
                let before =
                    if let Changeable::Users(most) = *what { before.min(most) } else { before };
                let [from, to] = [before, users].map(|users| LoadValue::Number(users.into()));
                LoadChanged { at, what: Changed::Users, from, to, planned: false }
            }
        };
        made.planned = due.is_some();
        changes.push(made.clone());
        self.version.fetch_add(1, Ordering::Release);
        Ok(made)
    }

    /// Number of changes so far.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Whether a user of a closed load waits.
    #[inline]
    pub fn is_parked(&self, user: u32) -> bool {
        user >= self.active.load(Ordering::Relaxed)
    }

    /// The rate over time; `None` unless the load is open.
    pub fn profile(&self) -> Option<Arc<RateProfile>> {
        self.state().profile.clone()
    }

    /// The changes after the first so many.
    pub fn changes(&self, after: usize) -> Vec<LoadChanged> {
        self.state().changes.get(after..).unwrap_or_default().to_vec()
    }

    fn state(&self) -> MutexGuard<'_, LoadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Changes the rate of an open load from a time on.
fn open(
    profile: &mut Arc<RateProfile>,
    last: Option<&LoadChanged>,
    at: Elapsed,
    to: f64,
) -> Result<LoadChanged, LoadChangeError> {
    if last.is_some_and(|last| last.at >= at) {
        let reason = "the rate has just been changed: try again in a second";
        return Err(LoadChangeError::state(reason));
    }
    let seconds = at.duration().as_secs_f64();
    let from = profile.rate(seconds);
    *profile = Arc::new(profile.changed(seconds, to));
    let [from, to] = [from, to].map(LoadValue::Number);
    Ok(LoadChanged { at, what: Changed::Rate, from, to, planned: false })
}

/// Changes the mix from now on.
fn mixed(
    mix: &Result<Arc<Mix>, &'static str>,
    text: &str,
    at: Elapsed,
) -> Result<LoadChanged, LoadChangeError> {
    let mix = mix.as_ref().map_err(|reason| LoadChangeError::state(*reason))?;
    let from = LoadValue::Mix(mix.words());
    mix.change(text).map_err(LoadChangeError::Value)?;
    Ok(LoadChanged {
        at,
        what: Changed::Mix,
        from,
        to: LoadValue::Mix(mix.words()),
        planned: false,
    })
}

#[cfg(test)]
mod tests {
    use triphammer_core::workload::Name;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_a_load_cannot_become_is_refused_with_the_reason() {
        let control = LoadControl::default();
        let refused = |change| control.change(change).unwrap_err().to_string();
        assert!(refused(LoadChange::Rate(1.0)).contains("has not started"));
        control.begin(Clock::start());
        assert!(refused(LoadChange::Rate(1.0)).contains("several hosts"));
        control.state().what = Changeable::Users(8);
        assert!(refused(LoadChange::Rate(1.0)).contains("is closed: change its users"));
        assert!(refused(LoadChange::Users(9)).contains("users must be from 1 to 8"));
        assert!(refused(LoadChange::Users(0)).contains("users must be from 1 to 8"));
        let made = control.change(LoadChange::Users(3)).unwrap();
        assert_eq!(made.words(), "the users changed from 8 to 3, by request");
        assert!(refused(LoadChange::Mix("a=1".to_owned())).contains("several hosts"));
        control.state().mix = Ok(Mix::new(["a", "b"].map(|name| (Name::new_static(name), 1))));
        assert!(refused(LoadChange::Mix("c=1".to_owned())).contains("no transaction type `c`"));
        let made = control.change(LoadChange::Mix("1,3".to_owned())).unwrap();
        assert_eq!(made.words(), "the mix changed from a=1,b=1 to a=1,b=3, by request");
        let mix = Some("a=1,b=3".to_owned());
        let now = LoadNow { what: Changed::Users, value: 3.0, max: 8.0, mix };
        assert_eq!(control.now(), Ok(now));
        assert!(control.is_parked(3) && !control.is_parked(2));
        let rate = RateProfile::new(&"rate:100/s".parse().unwrap(), &[], Duration::ZERO).unwrap();
        control.state().profile = Some(Arc::new(rate));
        control.state().what = Changeable::Rate;
        assert!(refused(LoadChange::Users(3)).contains("is open: change its rate"));
        for rate in [-1.0, f64::NAN, f64::INFINITY, 2e7] {
            assert!(refused(LoadChange::Rate(rate)).contains("the rate must be from 0"), "{rate}");
        }
        let made = control.change(LoadChange::Rate(400.0)).unwrap();
        assert_eq!(made.at, Elapsed::at_second(1));
        assert_eq!((made.from, made.to), (LoadValue::Number(100.0), LoadValue::Number(400.0)));
        assert!(refused(LoadChange::Rate(50.0)).contains("just been changed"));
        assert_eq!(control.profile().unwrap().expected(2.0), 500.0);
        assert_eq!((control.version(), control.changes(1).len()), (3, 2));
        assert_eq!(control.now().map(|now| now.what), Ok(Changed::Rate));
        control.end();
        assert!(refused(LoadChange::Rate(50.0)).contains("has ended"));
        assert!(control.now().is_err());
    }
}

//! The run's position in time: its clock, its phases, and the timed window, which may end early.

use std::time::Duration;

use triphammer_core::clock::{Clock, Elapsed};
use triphammer_core::event::Phase;
use triphammer_core::recorder::RecordedInterval;
use triphammer_core::spec::{Length, RunSpec};

use super::{RunEnding, Window};

/// How long an aborted worker may take to finish before the run ends without it.
const ABORT_LIMIT: Duration = Duration::from_secs(10);
/// The end of a window that no clock ends: far away, but still representable in nanoseconds.
const NO_END: u64 = u64::MAX / 2_000_000_000;

/// The run's clock and phases.
#[derive(Debug)]
pub(super) struct Phases {
    pub clock: Clock,
    pub current: Option<Phase>,
    pub ending: RunEnding,
    /// End of the current phase.
    deadline: Elapsed,
    /// Seconds at which the timed window begins and ends.
    window: [u64; 2],
    /// Whether the window ends by the clock.
    timed: bool,
    /// Whether the window ends earlier than requested.
    shortened: bool,
    drain: Duration,
    /// Time from which no transactions start.
    stopped_at: Option<Elapsed>,
}

impl Phases {
    /// Creates the state before the start. The clock's zero is set by [`Phases::begin`].
    pub fn new(spec: &RunSpec) -> Self {
        let window = match spec.length {
            Length::Time(length) => {
                [spec.rampup.as_secs(), spec.rampup.as_secs() + length.as_secs()]
            }
            Length::Transactions(_) => [0, NO_END],
        };
        Self {
            clock: Clock::start(),
            current: None,
            ending: RunEnding::Complete,
            deadline: Elapsed::NEVER,
            window,
            timed: matches!(spec.length, Length::Time(_)),
            shortened: false,
            drain: spec.limits.drain,
            stopped_at: None,
        }
    }

    /// Sets the clock. Returns the first phase, to be [entered](Phases::enter).
    pub fn begin(&mut self, clock: Clock) -> Phase {
        self.clock = clock;
        if self.window[0] > 0 { Phase::RampUp } else { Phase::Window }
    }

    /// Enters a phase, and returns when that was.
    pub fn enter(&mut self, phase: Phase) -> Elapsed {
        let now = self.clock.now();
        self.current = Some(phase);
        self.deadline = match phase {
            Phase::RampUp => Elapsed::at_second(self.window[0]),
            Phase::Window if self.timed => Elapsed::at_second(self.window[1]),
            Phase::Window => Elapsed::NEVER,
            Phase::Drain => Elapsed::from_duration(now.duration() + self.drain),
            Phase::Abort => Elapsed::from_duration(now.duration() + ABORT_LIMIT),
        };
        now
    }

    /// End of the current phase; `None` when no clock ends it.
    pub fn deadline(&self) -> Option<Elapsed> {
        (self.deadline != Elapsed::NEVER).then_some(self.deadline)
    }

    /// Whether transactions have stopped starting.
    pub fn is_draining(&self) -> bool {
        matches!(self.current, Some(Phase::Drain | Phase::Abort))
    }

    /// Whether the timed window is open and can still be [shortened](Phases::shorten).
    pub fn can_shorten(&self) -> bool {
        self.current == Some(Phase::Window) && self.timed && !self.shortened
    }

    /// Ends the window at this second, or on the next tick if that is later, and returns when that
    /// is. No later second has begun, so the window's sums need no correction.
    pub fn shorten(&mut self, second: u64) -> Elapsed {
        self.shortened = true;
        self.window[1] = self.window[1].min(second.max(self.clock.now().second() + 1));
        self.deadline = Elapsed::at_second(self.window[1]);
        self.deadline
    }

    /// Records that the window has ended by the clock.
    pub fn window_is_over(&mut self) {
        self.stopped_at = Some(self.deadline);
    }

    /// Stops the run now, by request: the window ends with the last whole second.
    pub fn stop_early(&mut self) -> Elapsed {
        let now = self.clock.now();
        self.cut_window(now);
        self.ending = RunEnding::Stopped;
        self.stopped_at = Some(now);
        now
    }

    /// Records that there is no work from `at` on. The window then ends with the last transaction, as in a run by
    /// transactions. Returns false during the ramp-up, which leaves no window.
    pub fn work_is_done(&mut self, at: Elapsed) -> bool {
        if self.current != Some(Phase::Window) {
            return false;
        }
        self.stopped_at = Some(at);
        self.timed = false;
        self.window[1] = NO_END;
        true
    }

    /// Records that all users have finished. Returns true if that was before the end of the timed
    /// window.
    pub fn users_ended(&mut self) -> bool {
        let now = self.clock.now();
        let early = now < Elapsed::at_second(self.window[1]);
        if early {
            self.ending = RunEnding::UsersEnded;
            self.cut_window(now);
        }
        early
    }

    fn cut_window(&mut self, now: Elapsed) {
        if self.timed {
            self.window[1] = self.window[1].min(now.second()).max(self.window[0]);
        }
    }

    /// Whether the clock would have ended the current phase.
    pub fn is_timed_load(&self) -> bool {
        self.timed && matches!(self.current, Some(Phase::RampUp | Phase::Window))
    }

    /// Seconds at which the timed window begins and ends.
    pub const fn edges(&self) -> [u64; 2] {
        self.window
    }

    /// End of the timed window by the clock; `None` if there is none.
    pub fn window_end(&self) -> Option<Elapsed> {
        self.timed.then_some(Elapsed::at_second(self.window[1]))
    }

    /// Whether an interval lies entirely in the timed window.
    pub const fn is_timed(&self, interval: &RecordedInterval) -> bool {
        interval.first >= self.window[0] && interval.last < self.window[1]
    }

    /// How long transactions in flight may take after the stop.
    pub const fn drain(&self) -> Duration {
        self.drain
    }

    /// Time from which no transactions start, as far as it is known.
    pub fn stop(&self) -> Elapsed {
        self.stopped_at.or(self.window_end()).unwrap_or(Elapsed::NEVER)
    }

    /// The minimum length of a run in seconds: that of its window, if a clock ends it.
    pub const fn least_seconds(&self) -> u64 {
        if self.timed { self.window[1] } else { 0 }
    }

    /// The actual window of a run whose last transaction ended at `ended`.
    pub fn real_window(&self, ended: Elapsed) -> Window {
        Window {
            start: Elapsed::at_second(self.window[0]),
            end: self.window_end().unwrap_or(ended),
        }
    }
}

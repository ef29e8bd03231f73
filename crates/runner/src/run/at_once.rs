//! Two runs that take place at once, as a pair: what each of them needs to know, and where they meet.
//!
//! Both connect, and then begin at one instant, so that their seconds are the same seconds. If one
//! of them cannot begin, or ends early, the other ends too.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use triphammer_core::SpecError;
use triphammer_core::clock::format_duration;
use triphammer_core::pace::{ALONE_PAIRS, Load, PairHalf, Sharing};
use triphammer_core::spec::{Length, RunSpec};
use triphammer_document::compare::UntilDecided;
use triphammer_engine::StopHandle;
use triphammer_engine::hosts::Zero;
use triphammer_settings::{Settings, Source};
use triphammer_statistics::compare::BLOCKS_MIN;

use super::Resolved;

/// Pairs of slices in the window unless its length is given.
const SLICE_PAIRS: u64 = 40;
/// Shortest window of a duet unless its length is given, in seconds.
const DUET_S: u64 = 300;
/// Longest mean length of a block of a duet, in seconds.
const BLOCK_MAX_S: u64 = 3;
/// Mean blocks of a duet in its window, as far as their lengths allow.
const BLOCKS: u64 = 100;
/// The share of the window that a slice has in which one side of a duet works alone.
const ALONE_SHARE: u64 = 40;
/// Longest slice in which one side works alone, in seconds.
const ALONE_MAX_S: u64 = 15;
/// Longest slice, in seconds.
pub const SLICE_MAX_S: u64 = 3_600;

/// How two runs take place at once, as it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtOnceWay {
    /// In slices of this many seconds.
    Interleaved(u64),
    /// Both at every moment.
    Duet,
}

impl AtOnceWay {
    /// The setting that asks for it.
    #[must_use]
    pub const fn setting(self) -> &'static str {
        match self {
            Self::Interleaved(_) => "interleave",
            Self::Duet => "duet",
        }
    }
}

/// The half of a pair that a run is to be.
#[derive(Clone, Copy, Debug)]
pub struct RequestedHalf {
    /// How the halves share the time.
    pub way: AtOnceWay,
    /// Whether it is that of B.
    pub is_b: bool,
    /// Seed of the order of the sides in this pair.
    pub seed: u64,
    /// Whether both halves drive the same database.
    pub same_target: bool,
    /// Number of pairs, which all have blocks.
    pub pairs: u32,
}

impl Resolved {
    /// Makes the run one half of a pair that takes place at once.
    ///
    /// # Errors
    /// When such a run cannot be, or its window is too short.
    pub(crate) fn half_of(
        mut self,
        asked: &RequestedHalf,
        settings: &mut Settings,
    ) -> Result<Self, SpecError> {
        self.refuse_half(asked.way)?;
        let spec = &mut self.plan.spec;
        let is_given = settings.source("duration") != Source::Default;
        asked.share_time(spec, is_given)?;
        if self.until_ci.is_some()
            && let (Some(half), Length::Time(window)) = (&mut spec.pacing.half, spec.length)
        {
            half.looks_most = Some(window.as_secs() / half.pair_s());
        }
        if let Length::Time(window) = spec.length {
            for (name, time) in [("duration", window), ("rampup", spec.rampup)] {
                let source = settings.source(name);
                settings.show(name, format_duration(time), &source);
            }
        }
        Ok(self)
    }

    /// Rejects runs that cannot share the time with another one.
    fn refuse_half(&self, way: AtOnceWay) -> Result<(), SpecError> {
        let spec = &self.plan.spec;
        let reason = if self.queries.is_some() {
            "a set of queries has no moments to share: use --ab alone"
        } else if self.streams.is_some() {
            "streams of queries beside the transactions are not shared between two runs: use --ab alone"
        } else if self.shared.is_some() {
            "a run that is spread over hosts cannot be half of a pair: omit --cluster"
        } else if matches!(spec.load, Load::Replay(_)) {
            "a replay has times of its own: use --ab alone"
        } else if matches!(spec.length, Length::Transactions(_)) {
            "both halves of a pair end at the same time: give --duration instead of --transactions"
        } else if !spec.pacing.changes.is_empty() {
            "the loads of two runs at once stay the same: omit --change, or use --ab alone"
        } else if self.pause.is_some() {
            "the first answers of two runs at once would meet: omit --pause, or use --ab alone"
        } else if matches!(way, AtOnceWay::Interleaved(_)) && spec.load == Load::Keyed {
            "terminals think while it is the turn of the other side: use --duet, or --ab alone"
        } else if matches!(way, AtOnceWay::Interleaved(_)) && spec.load.changes() {
            "each side has half of the time, in which the load would change at other moments: use \
             --duet, or --ab alone"
        } else {
            return Ok(());
        };
        let name = way.setting();
        Err(SpecError::new(format!("--{name}: {reason}")).about(name))
    }
}

impl RequestedHalf {
    /// Gives a spec its half of the time: ramp-up and window end with whole pairs of blocks. A window
    /// that was not given is long enough for a verdict.
    ///
    /// # Errors
    /// When the window has too few blocks.
    pub fn share_time(&self, spec: &mut RunSpec, is_given: bool) -> Result<(), SpecError> {
        let Length::Time(window) = spec.length else { return Ok(()) };
        let (rampup, window) = (spec.rampup.as_secs(), window.as_secs());
        let least = match self.way {
            _ if is_given => 0,
            AtOnceWay::Interleaved(slice_s) => SLICE_PAIRS * 2 * slice_s,
            AtOnceWay::Duet => DUET_S,
        };
        let window = window.max(least);
        let (sharing, length, rampup) = match self.way {
            AtOnceWay::Interleaved(slice_s) => (Sharing::Slices { slice_s }, 2 * slice_s, rampup),
            AtOnceWay::Duet => {
                let block_s = (window / BLOCKS).clamp(1, BLOCK_MAX_S);
                // Terminals, and the steps of a load that changes, are due by the clock, whoever works.
                let is_by_clock = spec.load == Load::Keyed || spec.load.changes();
                let alone_s = (window / ALONE_SHARE).clamp(1, ALONE_MAX_S);
                let alone_s = if is_by_clock { 0 } else { alone_s };
                let alone = 2 * ALONE_PAIRS * alone_s;
                let rampup = (rampup + alone).next_multiple_of(2 * block_s);
                let alone_from_s = rampup - alone;
                (Sharing::Duet { alone_from_s, alone_s, block_s }, 2 * block_s, rampup)
            }
        };
        let window = window.next_multiple_of(length);
        if window / length * u64::from(self.pairs) < BLOCKS_MIN as u64 {
            return Err(too_short(self, length));
        }
        let Self { is_b, seed, same_target, .. } = *self;
        spec.pacing.half = Some(PairHalf { is_b, seed, same_target, looks_most: None, sharing });
        spec.rampup = Duration::from_secs(rampup.next_multiple_of(length));
        spec.length = Length::Time(Duration::from_secs(window));
        Ok(())
    }
}

fn too_short(asked: &RequestedHalf, length: u64) -> SpecError {
    let pairs = u64::from(asked.pairs);
    let least = (BLOCKS_MIN as u64).div_ceil(pairs) * length;
    let least = format_duration(Duration::from_secs(least));
    let what = match asked.way {
        AtOnceWay::Interleaved(slice_s) => {
            let slice = format_duration(Duration::from_secs(slice_s));
            format!(
                "slices of {slice} need a --duration of at least {least}, for {BLOCKS_MIN} of each side; \
                     use a longer one, or shorter slices"
            )
        }
        AtOnceWay::Duet => {
            format!("a duet needs a --duration of at least {least}, for {BLOCKS_MIN} blocks")
        }
    };
    SpecError::new(what).about("duration")
}

/// Where the halves of a pair meet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meeting(Arc<Mutex<AtMeeting>>);

#[derive(Debug, Default)]
struct AtMeeting {
    /// Ends both halves when they have decided; `None` if they end by the clock.
    until: Option<UntilDecided>,
    /// The primary metric of A and of B in each second so far.
    counts: [Vec<f64>; 2],
    /// The half that waits for the other.
    waiting: Option<oneshot::Sender<Zero>>,
    /// The engines of both.
    runs: Vec<StopHandle>,
    /// Whether one half has ended early, or could not begin.
    is_off: bool,
}

impl Meeting {
    fn state(&self) -> MutexGuard<'_, AtMeeting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A meeting whose halves end when they have decided.
    pub fn until(until: Option<UntilDecided>) -> Self {
        Self(Arc::new(Mutex::new(AtMeeting { until, ..AtMeeting::default() })))
    }

    /// Records what a half did so far, second by second, and ends both if that decides.
    pub fn seconds(&self, is_b: bool, counts: &[f64]) {
        let mut state = self.state();
        let AtMeeting { until, counts: known, runs, .. } = &mut *state;
        let Some(until) = until else { return };
        let known_of_side = &mut known[usize::from(is_b)];
        known_of_side.extend_from_slice(counts.get(known_of_side.len()..).unwrap_or_default());
        if until.is_over([&known[0], &known[1]]) {
            runs.iter().for_each(StopHandle::end_window);
        }
    }

    /// The seat of a half.
    pub fn seat(&self) -> Seat {
        Seat { meeting: self.clone(), is_complete: false }
    }

    /// Registers the engine of a half.
    pub fn joins(&self, run: StopHandle) {
        let mut state = self.state();
        if state.is_off {
            run.stop();
        }
        state.runs.push(run);
    }

    /// Records that a half is connected: both begin when the second one is.
    pub fn arrives(&self, open: oneshot::Sender<Zero>) {
        let mut state = self.state();
        if state.is_off {
            return;
        }
        match state.waiting.take() {
            None => state.waiting = Some(open),
            Some(other) => {
                // An engine that has ended meanwhile says why itself.
                let zero = Zero::now();
                let _ = (other.send(zero), open.send(zero));
            }
        }
    }

    /// Ends the pair: a half that waits does not begin, and one that runs stops.
    fn off(&self) {
        let mut state = self.state();
        state.is_off = true;
        state.waiting = None;
        state.runs.iter().for_each(StopHandle::stop);
    }
}

/// A half's place at the meeting: unless the half is complete, its end is that of the pair.
#[derive(Debug)]
pub(crate) struct Seat {
    meeting: Meeting,
    is_complete: bool,
}

impl Seat {
    pub const fn meeting(&self) -> &Meeting {
        &self.meeting
    }

    /// Records that the half has run to its end.
    pub const fn completes(&mut self) {
        self.is_complete = true;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if !self.is_complete {
            self.meeting.off();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_begin_together_or_not_at_all() {
        let meeting = Meeting::default();
        let (mut first, second) = (meeting.seat(), meeting.seat());
        let ((open_a, mut gate_a), (open_b, mut gate_b)) = (oneshot::channel(), oneshot::channel());
        meeting.arrives(open_a);
        assert!(gate_a.try_recv().is_err(), "the other half is missing");
        meeting.arrives(open_b);
        let (a, b) = (gate_a.try_recv().unwrap(), gate_b.try_recv().unwrap());
        assert!(a.at == b.at && a.date == b.date);
        first.completes();
        drop(first);
        assert!(!meeting.state().is_off, "the other half is at its end too");
        drop(second);
        assert!(meeting.state().is_off);
        let (open, mut gate) = oneshot::channel();
        meeting.arrives(open);
        assert!(matches!(gate.try_recv(), Err(oneshot::error::TryRecvError::Closed)));
    }

    #[test]
    fn a_half_that_waits_is_called_off_when_the_other_cannot_begin() {
        let meeting = Meeting::default();
        let seat = meeting.seat();
        let (open, mut gate) = oneshot::channel();
        meeting.arrives(open);
        drop(seat);
        assert!(matches!(gate.try_recv(), Err(oneshot::error::TryRecvError::Closed)));
    }
}

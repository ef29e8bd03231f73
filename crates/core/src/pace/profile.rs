//! The rate of an open load over time, and the time by which a given number of arrivals is
//! expected: a Poisson process with a varying rate is one of rate 1 seen through that function
//! (inversion of the integrated rate; Çinlar, Introduction to Stochastic Processes, 1975, chapter
//! 4.7).

use std::time::Duration;

use super::{Load, RateStep};

/// Arrivals per second over time: pieces in which the rate changes linearly. The last rate holds.
#[derive(Clone, Debug, PartialEq)]
pub struct RateProfile {
    pieces: Vec<Piece>,
    hold: Piece,
}

/// A piece in which the rate changes linearly from one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    /// Start of the piece, in seconds.
    start: f64,
    /// Arrivals expected before the piece.
    before: f64,
    from: f64,
    to: f64,
    length: f64,
}

impl Piece {
    fn slope(&self) -> f64 {
        (self.to - self.from) / self.length
    }

    /// Arrivals expected in the first `seconds` of the piece.
    fn area(&self, seconds: f64) -> f64 {
        seconds * (self.from + self.slope() * seconds / 2.0)
    }

    /// The time after which `arrivals` are expected in the piece: [`Piece::area`] solved for the
    /// time, in the form that loses no precision where the slope is small.
    fn time(&self, arrivals: f64) -> f64 {
        let root = (self.from * self.from + 2.0 * self.slope() * arrivals).max(0.0).sqrt();
        if arrivals > 0.0 { 2.0 * arrivals / (self.from + root) } else { 0.0 }
    }
}

impl RateProfile {
    /// The profile of an open load, with the rates of its file if it has one; `None` for others.
    /// Changes begin after `lead`, the ramp-up, during which the first rate holds.
    #[must_use]
    pub fn new(load: &Load, steps: &[RateStep], lead: Duration) -> Option<Self> {
        let mut profile = Self::holding(0.0);
        match load {
            Load::Closed | Load::Keyed | Load::Replay(_) => return None,
            Load::Rate { per_second, .. } => profile = Self::holding(*per_second),
            Load::Ramp { from, to, over } => {
                profile.push(*from, *from, lead);
                profile.push(*from, *to, *over);
            }
            Load::Steps(_) | Load::Changes(_) => {
                profile.push(steps.first()?.per_second, steps.first()?.per_second, lead);
                for step in steps {
                    profile.push(step.per_second, step.per_second, step.lasts);
                }
            }
        }
        Some(profile)
    }

    fn holding(rate: f64) -> Self {
        let hold = Piece { start: 0.0, before: 0.0, from: rate, to: rate, length: f64::INFINITY };
        Self { pieces: Vec::new(), hold }
    }

    fn push(&mut self, from: f64, to: f64, length: Duration) {
        let length = length.as_secs_f64();
        if length > 0.0 {
            let piece = Piece { from, to, length, ..self.hold };
            self.pieces.push(piece);
            self.hold.start += length;
            self.hold.before += piece.area(length);
        }
        (self.hold.from, self.hold.to) = (to, to);
    }

    /// The same until a time in seconds, from which on this rate holds.
    #[must_use]
    pub fn changed(&self, at: f64, rate: f64) -> Self {
        let before = self.expected(at);
        let mut pieces: Vec<_> = self.pieces.iter().chain([&self.hold]).copied().collect();
        pieces.retain(|piece| piece.start < at);
        if let Some(last) = pieces.last_mut() {
            let length = last.length.min(at - last.start);
            (last.to, last.length) = (last.from + last.slope() * length, length);
        }
        let hold = Piece { start: at, before, from: rate, to: rate, length: f64::INFINITY };
        Self { pieces, hold }
    }

    /// The rate at a time in seconds, just before it.
    #[must_use]
    pub fn rate(&self, at: f64) -> f64 {
        let place = self.pieces.partition_point(|piece| piece.start + piece.length < at);
        let piece = self.pieces.get(place).unwrap_or(&self.hold);
        piece.from + piece.slope() * (at - piece.start)
    }

    /// Highest rate, in arrivals per second.
    #[must_use]
    pub fn highest(&self) -> f64 {
        self.pieces.iter().fold(self.hold.to, |most, piece| most.max(piece.from).max(piece.to))
    }

    /// Number of arrivals expected in the first `seconds`.
    #[must_use]
    pub fn expected(&self, seconds: f64) -> f64 {
        let place = self.pieces.partition_point(|piece| piece.start + piece.length <= seconds);
        let piece = self.pieces.get(place).unwrap_or(&self.hold);
        piece.before + piece.area(seconds - piece.start)
    }

    /// Time in seconds by which this many arrivals are expected; infinite if there will never be so
    /// many.
    #[must_use]
    pub fn time(&self, arrivals: f64) -> f64 {
        let ends = |piece: &Piece| piece.before + piece.area(piece.length) <= arrivals;
        let place = self.pieces.partition_point(ends);
        let piece = self.pieces.get(place).unwrap_or(&self.hold);
        if piece.from == 0.0 && piece.to == 0.0 {
            return f64::INFINITY;
        }
        piece.start + piece.time(arrivals - piece.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn steps() -> RateProfile {
        let step = |per_second, lasts| RateStep { per_second, lasts: seconds(lasts) };
        let steps = [step(10.0, 2), step(0.0, 3), step(40.0, 1)];
        RateProfile::new(&Load::Steps("f".into()), &steps, seconds(1)).unwrap()
    }

    #[test]
    fn a_ramp_begins_after_the_lead_and_holds_at_its_end() {
        let load = "ramp:100..300/10s".parse().unwrap();
        let ramp = RateProfile::new(&load, &[], seconds(5)).unwrap();
        for (at, arrivals) in
            [(0.0, 0.0), (5.0, 500.0), (10.0, 1250.0), (15.0, 2500.0), (16.0, 2800.0)]
        {
            assert!((ramp.expected(at) - arrivals).abs() < 1e-9, "{at}");
            assert!((ramp.time(arrivals) - at).abs() < 1e-9, "{at}");
        }
        assert_eq!(ramp.highest(), 300.0);
    }

    #[test]
    fn a_ramp_may_begin_or_end_at_nothing() {
        let up = RateProfile::new(&"ramp:0..100/10s".parse().unwrap(), &[], seconds(0)).unwrap();
        assert_eq!((up.time(0.0), up.time(500.0), up.expected(5.0)), (0.0, 10.0, 125.0));
        let down = RateProfile::new(&"ramp:100..0/10s".parse().unwrap(), &[], seconds(0)).unwrap();
        assert!((down.time(375.0) - 5.0).abs() < 1e-9);
        assert_eq!(down.time(500.0), f64::INFINITY);
    }

    #[test]
    fn a_step_of_nothing_is_a_pause() {
        let steps = steps();
        assert_eq!(
            (steps.expected(3.0), steps.expected(5.9), steps.expected(7.0)),
            (30.0, 30.0, 70.0)
        );
        assert_eq!((steps.time(29.0), steps.time(30.0), steps.time(70.0)), (2.9, 6.0, 7.0));
        assert_eq!(steps.time(110.0), 8.0, "the last rate holds");
    }

    #[test]
    fn time_is_the_inverse_of_expected() {
        for profile in [
            steps(),
            RateProfile::new(&"rate:7/s".parse().unwrap(), &[], seconds(3)).unwrap(),
            RateProfile::new(&"ramp:2000..1/100s".parse().unwrap(), &[], seconds(2)).unwrap(),
        ] {
            let mut before = 0.0;
            for n in 0..2000 {
                let arrivals = f64::from(n) / 8.0;
                let time = profile.time(arrivals);
                assert!(time >= before && (profile.expected(time) - arrivals).abs() < 1e-6);
                before = time;
            }
        }
    }

    #[test]
    fn a_change_leaves_what_was_before_and_holds() {
        for (load, at) in [("rate:10/s", 4.0), ("ramp:0..100/10s", 4.0), ("ramp:0..100/10s", 20.0)]
        {
            let before = RateProfile::new(&load.parse().unwrap(), &[], seconds(1)).unwrap();
            let after = before.changed(at, 50.0);
            for time in [0.5, 1.0, 2.5, at] {
                assert!(
                    (before.expected(time) - after.expected(time)).abs() < 1e-9,
                    "{load} {time}"
                );
            }
            let more = after.expected(at + 3.0) - before.expected(at);
            assert!((more - 150.0).abs() < 1e-9, "{load}: {more}");
            let again = after.changed(at + 2.0, 0.0);
            assert_eq!((again.rate(at + 1.0), again.rate(at + 3.0)), (50.0, 0.0));
            assert!((again.expected(at + 9.0) - after.expected(at + 2.0)).abs() < 1e-9);
            assert!((after.rate(at) - before.rate(at)).abs() < 1e-9);
        }
        assert_eq!(steps().changed(4.0, 7.0).rate(3.5), 0.0);
    }

    #[test]
    fn closed_and_keyed_loads_have_none() {
        assert_eq!(RateProfile::new(&Load::Closed, &[], seconds(1)), None);
        assert_eq!(RateProfile::new(&Load::Keyed, &[], seconds(1)), None);
    }
}

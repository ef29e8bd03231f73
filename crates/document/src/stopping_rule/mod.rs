//! Tracks the primary metric per second during a run, and decides whether the run has measured
//! enough.

use triphammer_core::event::Phase;
use triphammer_core::recorder::RecordedInterval;
use triphammer_core::workload::PrimaryMetric;
use triphammer_settings::format::{duration, precise};
use triphammer_statistics::until_ci::{Decision, POINTS_MIN, Target, decide, is_interim_analysis};

use crate::measure;
use crate::schedule::Schedule;

/// The primary metric's transactions per second, and when there are enough of them.
#[derive(Debug)]
pub struct StoppingRule {
    primary_metric: PrimaryMetric,
    /// Counts per second since the start of the run.
    seconds: Vec<f64>,
    /// First second of the window.
    window: Option<usize>,
    /// End of the window in seconds, exclusive.
    end: Option<usize>,
    target: Option<Target>,
    /// Why the window has a minimum length.
    schedule: Schedule,
    reported: bool,
}

/// The decision after a second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Now {
    /// Continue without a report.
    GoOn,
    /// The interval is as narrow as requested: end the window.
    EndWindow,
    /// The interval will not become as narrow as requested: report this once.
    Report(String),
}

impl StoppingRule {
    /// Creates a rule for a run whose window lasts at most `longest_s` seconds, until the interval
    /// is within `until` of the mean.
    pub fn new(primary_metric: &PrimaryMetric, until: Option<f64>, longest_s: u64) -> Self {
        let target = until.map(|relative_half_width| Target {
            relative_half_width,
            points_min: 0,
            points_max: points(longest_s),
        });
        let primary_metric = primary_metric.clone();
        let (seconds, schedule) = (Vec::new(), Schedule::default());
        let mut new = Self {
            primary_metric,
            seconds,
            window: None,
            end: None,
            target,
            schedule,
            reported: false,
        };
        new.set_schedule(Schedule::default());
        new
    }

    /// Sets the periodic work of the server, before the window starts; unknown until then.
    pub fn set_schedule(&mut self, schedule: Schedule) {
        if let Some(target) = &mut self.target {
            target.points_min = shortest(&schedule);
        }
        self.schedule = schedule;
    }

    /// Records a change of phase.
    pub fn phase(&mut self, phase: Phase, second: u64) {
        let second = usize::try_from(second).unwrap_or(usize::MAX);
        match phase {
            Phase::RampUp => {}
            Phase::Window => self.window = Some(second),
            // The window's last second arrives after this.
            Phase::Drain | Phase::Abort => self.end = self.end.or(Some(second)),
        }
    }

    /// Adds a second of all threads.
    pub fn second(&mut self, interval: &RecordedInterval) -> Now {
        let counted = measure::counted(&self.primary_metric, &interval.types);
        let seconds = interval.last - interval.first + 1;
        #[expect(clippy::cast_precision_loss, reason = "transactions of a second")]
        let each = counted as f64 / seconds as f64;
        self.seconds.extend((0..seconds).map(|_| each));
        self.decide()
    }

    fn decide(&mut self) -> Now {
        let (Some(target), Some(start)) = (self.target, self.window) else { return Now::GoOn };
        if self.end.is_some_and(|end| self.seconds.len() > end) {
            return Now::GoOn;
        }
        let window = self.seconds.get(start..).unwrap_or_default();
        if target.points_max < shortest(&self.schedule) {
            let reported = std::mem::replace(&mut self.reported, true);
            return if reported {
                Now::GoOn
            } else {
                Now::Report(too_short(target, &self.schedule))
            };
        }
        if !is_interim_analysis(window.len(), target) {
            return Now::GoOn;
        }
        match decide(window, target) {
            Decision::Stop => Now::EndWindow,
            Decision::NotWithinLimit { points_needed } if !self.reported => {
                self.reported = true;
                Now::Report(not_within(target, points_needed))
            }
            Decision::GoOn { .. } | Decision::NotWithinLimit { .. } => Now::GoOn,
        }
    }

    /// All seconds so far.
    #[must_use]
    pub fn seconds(&self) -> &[f64] {
        &self.seconds
    }

    /// Returns all seconds so far.
    pub fn into_seconds(self) -> Vec<f64> {
        self.seconds
    }
}

/// Minimum seconds of a window whose mean is claimed for the level: it has to contain the server's
/// periodic work twice. If it ends by its interval, that has to be narrow enough at two checks.
pub(crate) fn shortest(schedule: &Schedule) -> usize {
    points(schedule.level_s()).max(POINTS_MIN)
}

fn points(seconds: u64) -> usize {
    usize::try_from(seconds).unwrap_or(usize::MAX)
}

/// Formats an estimated time: in whole minutes or hours if it is long enough.
fn roughly(seconds: f64) -> String {
    let unit = match seconds {
        s if s < 600.0 => 10.0,
        s if s < 36_000.0 => 60.0,
        _ => 3_600.0,
    };
    duration((seconds / unit).ceil() * unit)
}

#[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
fn too_short(target: Target, schedule: &Schedule) -> String {
    let asked = precise(target.relative_half_width);
    let longest = duration(target.points_max as f64);
    let why = schedule.words();
    let shortest = duration(shortest(schedule) as f64);
    format!(
        "± {asked} cannot be reached in {longest}: a window with --until-ci must be at least \
         {shortest} long ({why}); use a longer --duration"
    )
}

#[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
fn not_within(target: Target, needed: Option<usize>) -> String {
    let asked = precise(target.relative_half_width);
    let longest = duration(target.points_max as f64);
    match needed {
        Some(seconds) => format!(
            "± {asked} is unlikely to be reached in {longest}: with this noise it takes a window \
             of about {}",
            roughly(seconds as f64)
        ),
        None => format!(
            "± {asked} is unlikely to be reached in {longest} while the throughput drifts like this"
        ),
    }
}

#[cfg(test)]
mod coverage;

#[cfg(test)]
mod tests {
    use super::*;

    /// TPS of tpc-b, with intervals of its first type alone.
    pub(super) fn primary_metric() -> PrimaryMetric {
        let tpc_b = triphammer_workloads::describe("tpc-b").unwrap();
        PrimaryMetric { transactions: vec![0], ..tpc_b.primary_metric.clone() }
    }

    /// Creates a rule for a server without periodic work.
    fn rule(until: Option<f64>, longest_s: u64) -> StoppingRule {
        let mut rule = StoppingRule::new(&primary_metric(), until, longest_s);
        rule.set_schedule(Schedule::Nothing);
        rule
    }

    /// Feeds seconds with these counts after a ramp-up of ten seconds; returns the second at which
    /// there is something to do, and what.
    fn first(
        rule: &mut StoppingRule,
        count: impl Fn(u64) -> u64,
        seconds: u64,
    ) -> Option<(u64, Now)> {
        for second in 0..10 + seconds {
            if second == 10 {
                rule.phase(Phase::Window, second);
            }
            let mut interval = RecordedInterval::new(second, 1);
            interval.types[0].counts.committed = count(second);
            match rule.second(&interval) {
                Now::GoOn => {}
                now => return Some((second, now)),
            }
        }
        None
    }

    fn noise(second: u64) -> u64 {
        second.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58
    }

    #[test]
    fn a_quiet_series_ends_the_window_and_a_noisy_one_does_not() {
        let mut quiet = rule(Some(0.05), 1_000);
        let (second, now) = first(&mut quiet, |s| 1_000 + noise(s), 1_000).unwrap();
        assert_eq!(now, Now::EndWindow);
        assert_eq!(second, 309, "ten seconds of ramp-up and the shortest window");
        assert_eq!(quiet.into_seconds().len() as u64, second + 1);
        let mut by_time = rule(None, 1_000);
        assert_eq!(first(&mut by_time, |s| 1_000 + noise(s), 300), None);
    }

    #[test]
    fn what_will_not_be_reached_is_told_once_with_what_it_takes() {
        let mut noisy = rule(Some(0.001), 300);
        let (_, now) = first(&mut noisy, |s| 100 + 4 * noise(s), 300).unwrap();
        let Now::Report(text) = now else { panic!("{now:?}") };
        assert!(text.contains("± 0.10 % is unlikely to be reached in 5m"), "{text}");
        assert_eq!(first(&mut noisy, |s| 100 + 4 * noise(s), 100), None, "reported once");
    }

    #[test]
    fn a_window_whose_limit_is_too_short_says_so_once_and_at_once() {
        let mut short = rule(Some(0.01), 2);
        short.phase(Phase::Window, 0);
        let Now::Report(text) = short.second(&RecordedInterval::new(0, 1)) else {
            panic!("not reported")
        };
        assert!(text.contains("± 1.0 % cannot be reached in 2s: a window"), "{text}");
        assert!(text.contains("at least 5m long (a shorter one often misses"), "{text}");
        assert_eq!(short.second(&RecordedInterval::new(1, 1)), Now::GoOn);
    }

    #[test]
    fn a_window_holds_two_rounds_of_what_the_server_does_by_the_clock() {
        let ends = |schedule: Schedule, longest| {
            let mut rule = StoppingRule::new(&primary_metric(), Some(0.05), longest);
            rule.set_schedule(schedule);
            first(&mut rule, |s| 1_000 + noise(s), 3_000).unwrap()
        };
        let checkpoints = Schedule::Every { setting: "checkpoint_timeout".into(), seconds: 600 };
        // Ten seconds of ramp-up, and seconds count from 0.
        assert_eq!(ends(checkpoints.clone(), 3_000), (1_209, Now::EndWindow));
        assert_eq!(ends(Schedule::default(), 3_000), (609, Now::EndWindow));
        let (second, Now::Report(text)) = ends(checkpoints, 900) else { panic!("not reported") };
        assert_eq!(second, 10);
        assert!(
            text.contains(
                "at least 20m long (it must contain two periods of checkpoint_timeout (10m))"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_guess_is_told_as_one() {
        let reported = [42.0, 605.0, 4_000.0, 74_695_245.0].map(roughly);
        assert_eq!(reported, ["50s", "11m", "1h 7m", "20749h"]);
    }

    #[test]
    fn merged_seconds_are_spread() {
        let mut rule = rule(None, 10);
        let mut merged = RecordedInterval::new(0, 1);
        merged.last = 3;
        merged.types[0].counts.committed = 8;
        assert_eq!(rule.second(&merged), Now::GoOn);
        assert_eq!(rule.into_seconds(), [2.0; 4]);
    }
}

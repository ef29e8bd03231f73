//! Whether a run's first figure is representative: until when a warm-up is seen, how sure the mean of
//! the window is, and whether the window was steady. The methods are those of the statistics crate, on
//! the seconds of the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::clock::format_duration;
use triphammer_core::engine::RunEnd;
use triphammer_core::spec::Length;
use triphammer_statistics::series::{self, EFFECTIVE_MIN, MEMORY_MIN};
use triphammer_statistics::until_ci;
use triphammer_statistics::warmup::{self, POINTS_MIN, SETTLED};
use triphammer_statistics::{Interval, warmup::WarmUp as Found};

use super::facts::RunFacts;
use crate::measure::Measure;
use crate::report::format::{duration, percent, precise};
use crate::schedule::Schedule;
use crate::stopping_rule;

pub use triphammer_statistics::series::Verdict as Steady;

/// Lengths that people give: advice is one of these, in seconds.
const ROUND_SECONDS: [u64; 14] = [5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1200, 1800];

/// What the seconds of a run say about its first figure. Everything is of the timed window, but for the
/// end of the warm-up, which is looked for from the run's zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Steadiness {
    /// Whether the mean represents the window.
    pub verdict: Steady,
    /// Why, in words with figures.
    pub words: String,
    /// What to do next; `None` when there is nothing to do.
    pub next: Option<String>,
    /// Until when a warm-up is seen.
    pub warm_up: WarmUp,
    /// Seconds after the run's zero from which the level is known to lie within 1 % of what followed;
    /// `None` where noise or a drift hides that.
    #[serde(default)]
    pub settled_s: Option<u64>,
    /// Whole seconds that were looked at.
    pub seconds: u64,
    /// Mean of the seconds, in the unit of the primary metric.
    pub mean: f64,
    /// 95 % interval of the mean, with allowance for autocorrelation; `None` when the window is too short.
    /// Of a window that its interval ended it is as wide as was asked for, or wider.
    pub interval: Option<Interval>,
    /// Half the interval over the mean; `None` without an interval.
    pub relative_half_width: Option<f64>,
    /// Standard deviation of the seconds over their mean; `None` when the mean is 0.
    pub coefficient_of_variation: Option<f64>,
    /// Correlation of neighbouring seconds, from -1 to 1.
    pub autocorrelation: f64,
    /// Power of the slowest swings, those that last half the window and longer, over what the correlation
    /// of neighbours explains: about 1 without a long memory, above 2.5 with one.
    #[serde(default = "one")]
    pub memory: f64,
    /// Independent seconds that would say as much about the mean.
    pub effective_seconds: f64,
    /// Change along a straight line through the window, as a share of the mean.
    pub trend: Option<f64>,
    /// Change of level at `step_at_s`, as a share of the level before it.
    pub step: Option<f64>,
    /// Second of the run at which the level changed most.
    pub step_at_s: u64,
    /// What `--until-ci` asked for; `None` when the length was by time or number.
    pub until: Option<Until>,
}

/// A series of which that was not looked at.
const fn one() -> f64 {
    1.0
}

/// Until when a warm-up is seen (MSER-5 over ramp-up and window): where a cut serves the mean best. The
/// level may still be lower there, by less than shows: see [`Steadiness::settled_s`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WarmUp {
    /// So many seconds after the run's zero.
    Ended {
        /// Seconds, a multiple of five.
        after_s: u64,
    },
    /// The run did not settle.
    NotFound,
    /// Too few seconds to say.
    TooShort,
}

/// A window whose length its own interval decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Until {
    /// Half the interval over the mean that was asked for.
    pub relative_half_width: f64,
    /// Whether it was reached before the longest time.
    pub reached: bool,
    /// Shortest window that may end by its interval, in seconds.
    #[serde(default)]
    pub shortest_s: u64,
    /// What the server does by the clock, of which the window has to hold two rounds.
    #[serde(default)]
    pub schedule: Schedule,
}

/// What is judged: the seconds of a run, and what is known of it.
pub(crate) struct Judged<'a> {
    /// Seconds from the run's zero to the end of the window.
    pub seconds: &'a [f64],
    /// First second of the window.
    pub start: usize,
    /// Seconds in the primary metric's unit of time.
    pub per_unit: f64,
    /// What `--until-ci` asked for, and whether that ended the window.
    pub until_ci: Option<(f64, bool)>,
    pub schedule: &'a Schedule,
}

impl Steadiness {
    /// Of a run with these seconds; `None` where they are no samples of what it measures.
    pub(super) fn new(facts: &RunFacts, end: &RunEnd) -> Option<Self> {
        let per_unit = Measure::from(facts.description.primary_metric.measure).of_a_second()?;
        let all = &facts.primary_metric_seconds;
        let place = |second: u64| usize::try_from(second).unwrap_or(usize::MAX).min(all.len());
        let start = place(end.window.start.second());
        // The last second of a number of transactions is not whole: neither is what lies after a stop.
        let seconds = &all[..place(end.window.end.second()).max(start)];
        let until_ci = facts.until_ci.map(|asked| (asked, ended_early(facts, end)));
        let schedule = &facts.schedule;
        Some(Self::of(&Judged { seconds, start, per_unit, until_ci, schedule }))
    }

    /// Of seconds.
    pub(crate) fn of(judged: &Judged<'_>) -> Self {
        let &Judged { seconds: all, start, per_unit, .. } = judged;
        let window = &all[start..];
        let summary = series::summarise(window);
        let until = until(judged, &summary);
        let interval = match &until {
            Some(until) if until.reached => until_ci::at_end(&summary, until.relative_half_width),
            _ => summary.interval,
        };
        let half_width = interval.filter(|_| summary.mean != 0.0);
        let half_width = half_width.map(|interval| interval.half_width() / summary.mean.abs());
        let scaled = |interval: Interval| Interval {
            low: interval.low * per_unit,
            high: interval.high * per_unit,
        };
        let rampup_s = start as u64;
        let (warm_up, settled_s) = warm_up(all);
        let mut steadiness = Self {
            verdict: summary.verdict,
            words: String::new(),
            next: None,
            warm_up,
            settled_s,
            seconds: window.len() as u64,
            mean: summary.mean * per_unit,
            interval: interval.map(scaled),
            relative_half_width: half_width,
            coefficient_of_variation: summary.coefficient_of_variation,
            autocorrelation: summary.lag_1,
            memory: summary.memory,
            effective_seconds: summary.effective_points,
            trend: summary.trend.share,
            step: summary.step.change.share,
            step_at_s: rampup_s + summary.step.at as u64,
            until,
        };
        steadiness.words = words(&steadiness, rampup_s, sooner(&summary));
        steadiness.next = next(&steadiness, rampup_s);
        steadiness
    }

    /// Whether the interval became as tight as was asked for.
    pub(crate) fn is_reached(&self) -> bool {
        self.until.as_ref().is_some_and(|until| until.reached)
    }

    /// Whether the timed window began before the warm-up had ended.
    fn warm_up_in_window(&self, rampup_s: u64) -> Option<u64> {
        match self.warm_up {
            WarmUp::Ended { after_s } => after_s.checked_sub(rampup_s).filter(|into| *into > 0),
            WarmUp::NotFound | WarmUp::TooShort => None,
        }
    }
}

/// Until when a warm-up is seen, and from when on the level is known.
fn warm_up(all: &[f64]) -> (WarmUp, Option<u64>) {
    match warmup::warm_up(all) {
        Found::Ends { points } => {
            let settled = warmup::settled(all, points).map(|point| point as u64);
            (WarmUp::Ended { after_s: points as u64 }, settled)
        }
        Found::NotFound => (WarmUp::NotFound, None),
        Found::TooShort => (WarmUp::TooShort, None),
    }
}

/// What became of what `--until-ci` asked for.
fn until(judged: &Judged<'_>, summary: &series::Summary) -> Option<Until> {
    let (asked, ended) = judged.until_ci?;
    let shortest = stopping_rule::shortest(judged.schedule);
    let narrow = summary.verdict == Steady::Steady
        && summary.relative_half_width().is_some_and(|width| width <= asked);
    Some(Until {
        relative_half_width: asked,
        reached: summary.points >= shortest && (ended || narrow),
        shortest_s: shortest as u64,
        schedule: judged.schedule.clone(),
    })
}

/// Whether the window ended before the longest time that was allowed.
fn ended_early(facts: &RunFacts, end: &RunEnd) -> bool {
    let complete = end.ending == triphammer_core::engine::RunEnding::Complete;
    complete
        && matches!(facts.spec.length, Length::Time(longest) if end.window.seconds() < longest.as_secs_f64())
}

/// Which of the two changes is told of a window that drifts.
enum ClearerSign {
    Trend,
    Step,
}

fn sooner(summary: &series::Summary) -> ClearerSign {
    let size = |share: Option<f64>| share.map_or(0.0, f64::abs);
    match size(summary.step.change.share) > size(summary.trend.share) {
        true if summary.step.change.p_value <= summary.trend.p_value => ClearerSign::Step,
        _ => ClearerSign::Trend,
    }
}

fn words(steadiness: &Steadiness, rampup_s: u64, sign: ClearerSign) -> String {
    let mut parts = Vec::new();
    match steadiness.verdict {
        Steady::Steady => parts.extend(
            steadiness
                .relative_half_width
                .map(|half| format!("the mean is sure to ± {} (95 %)", precise(half))),
        ),
        Steady::Drifting => parts.push(drift(steadiness, &sign)),
        Steady::TooShort => parts.push(format!(
            "{} say as much as {:.0} independent ones, {EFFECTIVE_MIN:.0} are needed",
            duration(steadiness.seconds as f64),
            steadiness.effective_seconds
        )),
    }
    if let Some(variation) = steadiness.coefficient_of_variation {
        parts.push(format!("seconds vary by {}", precise(variation)));
    }
    if steadiness.memory > MEMORY_MIN && steadiness.verdict == Steady::Steady {
        parts.push(
            "slow swings make it less sure than its seconds do, and slower ones may not show"
                .to_owned(),
        );
    }
    parts.extend(warm_up_words(steadiness, rampup_s));
    parts.extend(steadiness.until.as_ref().map(|until| until_words(until, steadiness)));
    parts.join(" · ")
}

/// What became of what was asked for, and what the interval does not cover.
fn until_words(until: &Until, steadiness: &Steadiness) -> String {
    let asked = precise(until.relative_half_width);
    if !until.reached {
        let why = until.schedule.words().filter(|_| steadiness.seconds < until.shortest_s);
        let why = why.map_or_else(String::new, |why| format!(": the window is too short, {why}"));
        return format!("the ± {asked} asked for were not reached{why}");
    }
    let half = duration((steadiness.seconds / 2) as f64);
    let rarer = format!("what comes back less often than every {half} is not in the interval");
    match &until.schedule {
        Schedule::Nothing => rarer,
        Schedule::Every { setting, seconds } => {
            let rounds = steadiness.seconds / seconds.max(&1);
            format!("the window holds {rounds} rounds of {setting}; {rarer}")
        }
        Schedule::Unknown { why } => {
            format!("what the server does by the clock is not known ({why}); {rarer}")
        }
    }
}

fn drift(steadiness: &Steadiness, sign: &ClearerSign) -> String {
    let change = |share: Option<f64>| {
        let share = share.unwrap_or_default();
        format!("{} {}", precise(share.abs()), if share < 0.0 { "down" } else { "up" })
    };
    match sign {
        ClearerSign::Trend => format!("{} over the window", change(steadiness.trend)),
        ClearerSign::Step => format!(
            "{} from {} on",
            change(steadiness.step),
            crate::report::format::clock(steadiness.step_at_s as f64)
        ),
    }
}

fn warm_up_words(steadiness: &Steadiness, rampup_s: u64) -> Option<String> {
    if let Some(into) = steadiness.warm_up_in_window(rampup_s) {
        let into = duration(into as f64);
        return Some(format!("the load was still warming up {into} into the window"));
    }
    let rampup = match rampup_s {
        0 => "there was no ramp-up".to_owned(),
        seconds => format!("ramp-up was {}", duration(seconds as f64)),
    };
    let near = percent(SETTLED);
    let settled = match steadiness.settled_s {
        Some(second) => format!("within {near} of its level from {} on", duration(second as f64)),
        None => format!("when it came within {near} of its level cannot be determined"),
    };
    match steadiness.warm_up {
        WarmUp::Ended { after_s: 0 } => Some(format!("no warm-up seen, {settled}, {rampup}")),
        WarmUp::Ended { after_s } => {
            Some(format!("warm-up seen until {}, {settled}, {rampup}", duration(after_s as f64)))
        }
        WarmUp::NotFound if steadiness.verdict == Steady::Steady => {
            Some(format!("the end of the warm-up cannot be determined, {rampup}"))
        }
        WarmUp::NotFound => Some(format!("the run never settled, {rampup}")),
        WarmUp::TooShort => None,
    }
}

/// A length that people give, at least so long.
fn round(seconds: u64) -> String {
    let rounded = ROUND_SECONDS.into_iter().find(|round| *round >= seconds);
    format_duration(std::time::Duration::from_secs(
        rounded.unwrap_or_else(|| seconds.div_ceil(600) * 600),
    ))
}

/// What reaches the interval that was asked for.
fn give_until(steadiness: &Steadiness) -> String {
    let shortest = steadiness.until.as_ref().map_or(0, |until| until.shortest_s);
    if steadiness.seconds < shortest {
        return format!("give it --duration {} or more", round(shortest));
    }
    "give it a longer --duration, or ask for less with --until-ci".to_owned()
}

fn next(steadiness: &Steadiness, rampup_s: u64) -> Option<String> {
    if let Some(into) = steadiness.warm_up_in_window(rampup_s) {
        return Some(format!("give it --rampup {}", round(rampup_s + into)));
    }
    match steadiness.verdict {
        Steady::Steady if steadiness.until.as_ref().is_some_and(|until| !until.reached) => {
            Some(give_until(steadiness))
        }
        Steady::Steady => None,
        Steady::Drifting if steadiness.warm_up == WarmUp::NotFound => Some(format!(
            "run longer (--duration {}) and see whether it settles; if not, look for what grows: \
             data, dead rows, a cache",
            round(steadiness.seconds * 3)
        )),
        Steady::Drifting => Some(
            "look at what the database did there (a checkpoint, vacuum, another program), and \
             take the mean for nothing more than it is"
                .to_owned(),
        ),
        Steady::TooShort => {
            let scale = EFFECTIVE_MIN / steadiness.effective_seconds.max(1.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a length in seconds, positive and small"
            )]
            let needed = (steadiness.seconds.max(1) as f64 * scale * 1.2).ceil() as u64;
            let needed = needed.clamp(POINTS_MIN as u64 + 10, 3600);
            Some(format!("run longer for an interval: --duration {}", round(needed)))
        }
    }
}

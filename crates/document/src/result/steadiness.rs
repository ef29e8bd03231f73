//! Whether a run's primary metric is representative: the end of the warm-up, the precision of the
//! window's mean, and whether the window was steady. The methods are those of the statistics crate,
//! applied to the seconds of the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::clock::format_duration;
use triphammer_core::pace::{PairHalf, Sharing};
use triphammer_core::spec::Length;
use triphammer_engine::RunEnd;
use triphammer_settings::format::{duration, percent, precise};
use triphammer_statistics::series::{self, EFFECTIVE_MIN, MEMORY_MIN, Verdict};
use triphammer_statistics::until_ci;
use triphammer_statistics::warmup::{self, POINTS_MIN, SETTLED};
use triphammer_statistics::{Interval, warmup::WarmUp as Found};

use super::facts::RunFacts;
use crate::measure::Measure;
use crate::schedule::Schedule;
use crate::stopping_rule;

/// Round lengths for advice, in seconds.
const ROUND_SECONDS: [u64; 14] = [5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1200, 1800];

/// Whether a run's mean represents the level of its primary metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Steady {
    /// No trend and no step that matters, in a window that contains at least two periods of the
    /// server's periodic work: the interval is that of the level.
    Steady,
    /// No trend and no step that matters, in a shorter window: the interval is that of this window,
    /// and not of the level.
    WithinWindow,
    /// A trend or a step of at least 1 % that chance does not explain.
    Drifting,
    /// Too few seconds, or too much correlation between them, for a verdict.
    TooShort,
}

impl Steady {
    /// The verdict on a window of this length, which must be at least `shortest`.
    const fn of(verdict: Verdict, seconds: usize, shortest: usize) -> Self {
        match verdict {
            Verdict::Steady if seconds < shortest => Self::WithinWindow,
            Verdict::Steady => Self::Steady,
            Verdict::Drifting => Self::Drifting,
            Verdict::TooShort => Self::TooShort,
        }
    }
}

/// Statistics on a run's primary metric, from its seconds. All refer to the timed window, except
/// the end of the warm-up, which is searched from the start of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Steadiness {
    /// Whether the mean is representative of the window.
    pub verdict: Steady,
    /// Reason in words, with figures.
    pub words: String,
    /// What to do next; `None` when there is nothing to do.
    pub next: Option<String>,
    /// End of the warm-up.
    pub warm_up: WarmUp,
    /// Seconds after the start of the run from which the level is known to be within 1 % of the
    /// following level; `None` if noise or a drift hides that.
    pub settled_s: Option<u64>,
    /// Number of complete seconds analysed.
    pub seconds: u64,
    /// Mean of the seconds, in the unit of the primary metric.
    pub mean: f64,
    /// 95 % confidence interval of the mean, adjusted for autocorrelation and for rare, large
    /// values; `None` if the window is too short. It is that of the level only if the verdict is
    /// `steady`, and otherwise that of this window. For a window that ended by its interval, it is
    /// at least as wide as requested.
    pub interval: Option<Interval>,
    /// Half-width of the interval relative to the mean; `None` without an interval.
    pub relative_half_width: Option<f64>,
    /// Standard deviation of the seconds relative to their mean; `None` if the mean is 0.
    pub coefficient_of_variation: Option<f64>,
    /// Correlation of neighbouring seconds, from -1 to 1.
    pub autocorrelation: f64,
    /// Power of the slowest fluctuations (periods of half the window and longer) relative to what
    /// the correlation of neighbours explains: about 1 without long memory, above 2.5 with it.
    pub memory: f64,
    /// Effective sample size: number of independent seconds with the same information about the
    /// mean.
    pub effective_seconds: f64,
    /// Change along a linear trend through the window, relative to the mean.
    pub trend: Option<f64>,
    /// Change of level at `step_at_s`, relative to the level before.
    pub step: Option<f64>,
    /// Second of the run at which the level changed most.
    pub step_at_s: u64,
    /// Target of `--until-ci`; `None` if the length was a time or a number.
    pub until: Option<Until>,
    /// Periodic work of the server, of which a window has to contain two periods so that its mean is
    /// claimed for the level.
    pub schedule: Schedule,
    /// Number of periods of that work in the window; `None` if no period is known.
    pub periods: Option<f64>,
    /// Minimum length of a window whose mean is claimed for the level, in seconds.
    pub shortest_s: u64,
}

/// End of the warm-up (MSER-5 over ramp-up and window): the truncation point that gives the best
/// mean. The level may still be slightly lower there: see [`Steadiness::settled_s`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WarmUp {
    /// The warm-up ended this many seconds after the start of the run.
    Ended {
        /// Seconds, a multiple of 5.
        after_s: u64,
    },
    /// The run did not settle.
    NotFound,
    /// Too few seconds to determine.
    TooShort,
}

/// A window whose length was determined by its own interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Until {
    /// Requested half-width of the interval, relative to the mean.
    pub relative_half_width: f64,
    /// Whether it was reached within the maximum time.
    pub reached: bool,
}

/// Input of the analysis: the seconds of a run, and facts about it.
pub(crate) struct SteadinessInput<'a> {
    /// Seconds from the start of the run to the end of the window.
    pub seconds: &'a [f64],
    /// First second of the window.
    pub start: usize,
    /// Seconds per unit of time of the primary metric.
    pub per_unit: f64,
    /// Target of `--until-ci`, and whether that ended the window.
    pub until_ci: Option<(f64, bool)>,
    pub schedule: &'a Schedule,
}

impl Steadiness {
    /// Analyses a run; `None` if its seconds are not samples of the primary metric, or if the load
    /// itself changes.
    pub(super) fn new(facts: &RunFacts, end: &RunEnd) -> Option<Self> {
        let takes_turns = |half: PairHalf| matches!(half.sharing, Sharing::Slices { .. });
        let changes = facts.spec.load.changes() || !end.load_changes.is_empty();
        if changes || facts.spec.pacing.half.is_some_and(takes_turns) {
            return None;
        }
        let per_unit = Measure::from(facts.description.primary_metric.measure).of_a_second()?;
        let all = &facts.primary_metric_seconds;
        let place = |second: u64| usize::try_from(second).unwrap_or(usize::MAX).min(all.len());
        let start = place(end.window.start.second());
        // The last second of a run by transactions is incomplete, as is everything after a stop.
        let seconds = &all[..place(end.window.end.second()).max(start)];
        let until_ci = facts.until_ci.map(|asked| (asked, ended_early(facts, end)));
        let schedule = &facts.schedule;
        Some(Self::of(&SteadinessInput { seconds, start, per_unit, until_ci, schedule }))
    }

    /// Analyses the seconds of a run.
    pub(crate) fn of(judged: &SteadinessInput<'_>) -> Self {
        let &SteadinessInput { seconds: all, start, per_unit, .. } = judged;
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
        let (rampup_s, schedule) = (start as u64, judged.schedule);
        let (warm_up, settled_s) = warm_up(all);
        let shortest = stopping_rule::shortest(schedule);
        let mut steadiness = Self {
            verdict: Steady::of(summary.verdict, window.len(), shortest),
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
            schedule: schedule.clone(),
            periods: schedule.periods(window.len() as u64),
            shortest_s: shortest as u64,
        };
        steadiness.words = words(&steadiness, rampup_s, sooner(&summary));
        steadiness.next = next(&steadiness, rampup_s);
        steadiness
    }

    /// Whether the interval became as narrow as requested.
    pub fn is_reached(&self) -> bool {
        self.until.as_ref().is_some_and(|until| until.reached)
    }

    /// Whether the window neither drifts nor is too short to say.
    fn is_level(&self) -> bool {
        matches!(self.verdict, Steady::Steady | Steady::WithinWindow)
    }

    /// Whether the timed window began before the warm-up had ended.
    fn warm_up_in_window(&self, rampup_s: u64) -> Option<u64> {
        match self.warm_up {
            WarmUp::Ended { after_s } => after_s.checked_sub(rampup_s).filter(|into| *into > 0),
            WarmUp::NotFound | WarmUp::TooShort => None,
        }
    }
}

/// Determines the end of the warm-up, and from when the level is known.
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

/// Outcome of `--until-ci`.
fn until(judged: &SteadinessInput<'_>, summary: &series::Summary) -> Option<Until> {
    let (asked, ended) = judged.until_ci?;
    let shortest = stopping_rule::shortest(judged.schedule);
    let narrow = summary.verdict == Verdict::Steady
        && summary.relative_half_width().is_some_and(|width| width <= asked);
    Some(Until {
        relative_half_width: asked,
        reached: summary.points >= shortest && (ended || narrow),
    })
}

/// Whether the window ended before the maximum time.
fn ended_early(facts: &RunFacts, end: &RunEnd) -> bool {
    let complete = end.ending == triphammer_engine::RunEnding::Complete;
    complete
        && matches!(facts.spec.length, Length::Time(longest) if end.window.seconds() < longest.as_secs_f64())
}

/// Which of the two changes is reported for a drifting window.
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
    let known = steadiness.relative_half_width.map(|half| format!("± {} (95 %)", precise(half)));
    match steadiness.verdict {
        Steady::Steady => {
            parts.extend(known.map(|known| format!("the mean is known to {known}")));
        }
        Steady::WithinWindow => parts.extend(known.map(|known| {
            format!("the mean of this window is known to {known}, and the level is not")
        })),
        Steady::Drifting => parts.push(drift(steadiness, &sign)),
        Steady::TooShort => parts.push(format!(
            "the window of {} is worth only {:.0} independent {}; at least {EFFECTIVE_MIN:.0} are \
             needed",
            duration(steadiness.seconds as f64),
            steadiness.effective_seconds,
            if (0.5..1.5).contains(&steadiness.effective_seconds) { "second" } else { "seconds" }
        )),
    }
    if let Some(variation) = steadiness.coefficient_of_variation {
        parts.push(format!("seconds vary by {}", precise(variation)));
    }
    if steadiness.memory > MEMORY_MIN && steadiness.is_level() {
        parts.push(
            "slow fluctuations widen this interval, and slower ones may remain undetected"
                .to_owned(),
        );
    }
    parts.extend(scheduled(steadiness));
    parts.extend(warm_up_words(steadiness, rampup_s));
    parts.extend(steadiness.until.as_ref().map(|until| until_words(until, steadiness)));
    parts.join(" · ")
}

/// How much of the server's periodic work the window contains, and why a window that is steady in
/// itself does not show the level.
fn scheduled(steadiness: &Steadiness) -> Option<String> {
    let short = steadiness.verdict == Steady::WithinWindow;
    let needed = || {
        let shortest = duration(steadiness.shortest_s as f64);
        format!("a window that shows the level takes {shortest}: {}", steadiness.schedule.words())
    };
    match (&steadiness.schedule, steadiness.periods) {
        _ if steadiness.verdict == Steady::TooShort => None,
        (Schedule::Every { setting, seconds }, Some(periods)) => {
            let every = duration(*seconds as f64);
            let periods =
                format!("the window contains {periods:.1} periods of {setting} ({every})");
            match short && periods_are_few(steadiness) {
                true => Some(format!("{periods}, and the level takes two")),
                false if short => Some(format!("{periods}; {}", needed())),
                false => Some(periods),
            }
        }
        _ => short.then(needed),
    }
}

/// Whether the window contains less than two periods of the server's periodic work.
fn periods_are_few(steadiness: &Steadiness) -> bool {
    steadiness.periods.is_some_and(|periods| periods < 2.0)
}

/// Describes the outcome of `--until-ci`, and what the interval does not cover.
fn until_words(until: &Until, steadiness: &Steadiness) -> String {
    let asked = precise(until.relative_half_width);
    if !until.reached {
        let short = steadiness.seconds < steadiness.shortest_s;
        let why = short.then(|| steadiness.schedule.words());
        let why = why.map_or_else(String::new, |why| format!(": the window is too short, {why}"));
        return format!("the requested ± {asked} was not reached{why}");
    }
    let half = duration((steadiness.seconds / 2) as f64);
    let rarer = format!("the interval does not cover events rarer than every {half}");
    match &steadiness.schedule {
        Schedule::Nothing | Schedule::Every { .. } => rarer,
        Schedule::Unknown { why } => {
            format!("the server's periodic work is not known ({why}); {rarer}")
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
            triphammer_settings::format::clock(steadiness.step_at_s as f64)
        ),
    }
}

fn warm_up_words(steadiness: &Steadiness, rampup_s: u64) -> Option<String> {
    if let Some(into) = steadiness.warm_up_in_window(rampup_s) {
        let into = duration(into as f64);
        return Some(format!("the database was still warming up {into} into the window"));
    }
    let rampup = match rampup_s {
        0 => "there was no ramp-up".to_owned(),
        seconds => format!("ramp-up was {}", duration(seconds as f64)),
    };
    let near = percent(SETTLED);
    let settled = match steadiness.settled_s {
        Some(second) => format!("within {near} of its level from {} on", duration(second as f64)),
        None => format!("the time to reach {near} of its level cannot be determined"),
    };
    match steadiness.warm_up {
        WarmUp::Ended { after_s: 0 } => Some(format!("no warm-up detected, {settled}, {rampup}")),
        WarmUp::Ended { after_s } => Some(format!(
            "warm-up detected until {}, {settled}, {rampup}",
            duration(after_s as f64)
        )),
        WarmUp::NotFound if steadiness.is_level() => {
            Some(format!("the end of the warm-up cannot be determined, {rampup}"))
        }
        WarmUp::NotFound => Some(format!("the run never settled, {rampup}")),
        WarmUp::TooShort => None,
    }
}

/// Rounds up to a round length.
fn round(seconds: u64) -> String {
    let rounded = ROUND_SECONDS.into_iter().find(|round| *round >= seconds);
    format_duration(std::time::Duration::from_secs(
        rounded.unwrap_or_else(|| seconds.div_ceil(600) * 600),
    ))
}

/// Advice on a window that contains what it has to.
fn longer(steadiness: &Steadiness) -> String {
    let why = match &steadiness.schedule {
        Schedule::Every { setting, .. } if periods_are_few(steadiness) => {
            format!(", which contains two periods of {setting}")
        }
        Schedule::Nothing | Schedule::Every { .. } | Schedule::Unknown { .. } => String::new(),
    };
    format!("use --duration {} or more{why}", round(steadiness.shortest_s))
}

/// Advice on reaching the requested interval.
fn give_until(steadiness: &Steadiness) -> String {
    if steadiness.seconds < steadiness.shortest_s {
        return longer(steadiness);
    }
    "use a longer --duration, or a larger --until-ci".to_owned()
}

fn next(steadiness: &Steadiness, rampup_s: u64) -> Option<String> {
    if let Some(into) = steadiness.warm_up_in_window(rampup_s) {
        return Some(format!("use --rampup {}", round(rampup_s + into)));
    }
    match steadiness.verdict {
        Steady::WithinWindow => Some(longer(steadiness)),
        Steady::Steady if steadiness.until.as_ref().is_some_and(|until| !until.reached) => {
            Some(give_until(steadiness))
        }
        Steady::Steady => None,
        // What looks like a drift may be a part of what comes back.
        Steady::Drifting if periods_are_few(steadiness) => Some(longer(steadiness)),
        Steady::Drifting if steadiness.warm_up == WarmUp::NotFound => Some(format!(
            "run longer (--duration {}) to see whether it settles; if not, look for something that \
             grows: data, dead rows, a cache",
            round(steadiness.seconds * 3)
        )),
        Steady::Drifting => Some(
            "check what the database did at that time (a checkpoint, vacuum, another program); the \
             mean is not representative"
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
            Some(format!("use --duration {} to get an interval", round(needed)))
        }
    }
}

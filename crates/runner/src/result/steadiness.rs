//! Whether a run's first figure stands for something: where the warm-up really ended, how sure the mean of
//! the window is, and whether the window was steady. The methods are those of the statistics crate, on
//! the seconds of the run.

use serde::{Deserialize, Serialize};
use triphammer_core::clock::format_duration;
use triphammer_core::engine::RunEnd;
use triphammer_core::spec::Length;
use triphammer_statistics::series::{self, EFFECTIVE_MIN};
use triphammer_statistics::warmup::{self, POINTS_MIN};
use triphammer_statistics::{Interval, warmup::WarmUp as Found};

use super::facts::RunFacts;
use crate::report::format::{duration, precise};

pub use triphammer_statistics::series::Verdict as Steady;

/// Lengths that people give: advice is one of these, in seconds.
const ROUND_SECONDS: [u64; 14] = [5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1200, 1800];

/// What the seconds of a run say about its first figure. Everything is of the timed window, but for the
/// end of the warm-up, which is looked for from the run's zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steadiness {
    /// Whether the mean stands for the window.
    pub verdict: Steady,
    /// Why, in words with figures.
    pub words: String,
    /// What to do next; `None` when there is nothing to do.
    pub next: Option<String>,
    /// Where the warm-up ended.
    pub warm_up: WarmUp,
    /// Whole seconds that were looked at.
    pub seconds: u64,
    /// Mean of the seconds, in the unit of the headline.
    pub mean: f64,
    /// 95 % interval of the mean, with allowance for autocorrelation; `None` when the window is too short.
    pub interval: Option<Interval>,
    /// Half the interval over the mean; `None` without an interval.
    pub relative_half_width: Option<f64>,
    /// Standard deviation of the seconds over their mean; `None` when the mean is 0.
    pub coefficient_of_variation: Option<f64>,
    /// Correlation of neighbouring seconds, from -1 to 1.
    pub autocorrelation: f64,
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

/// Where the warm-up of a run ended (MSER-5 over ramp-up and window).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// Half the interval over the mean that was asked for.
    pub relative_half_width: f64,
    /// Whether it was reached before the longest time.
    pub reached: bool,
}

impl Steadiness {
    /// Of a run with these seconds.
    pub(super) fn new(facts: &RunFacts, end: &RunEnd) -> Self {
        let all = &facts.headline_seconds;
        let place = |second: u64| usize::try_from(second).unwrap_or(usize::MAX).min(all.len());
        let start = place(end.window.start.second());
        // The last second of a number of transactions is not whole: neither is what lies after a stop.
        let window = &all[start..place(end.window.end.second()).max(start)];
        let per_unit = f64::from(facts.description.headline.per_seconds);
        let found = warmup::warm_up(&all[..start + window.len()]);
        let summary = series::summarise(window);
        let rampup_s = start as u64;
        let warm_up = match found {
            Found::Ends { points } => WarmUp::Ended { after_s: points as u64 },
            Found::NotFound => WarmUp::NotFound,
            Found::TooShort => WarmUp::TooShort,
        };
        let scaled = |interval: Interval| Interval {
            low: interval.low * per_unit,
            high: interval.high * per_unit,
        };
        let mut steadiness = Self {
            verdict: summary.verdict,
            words: String::new(),
            next: None,
            warm_up,
            seconds: window.len() as u64,
            mean: summary.mean * per_unit,
            interval: summary.interval.map(scaled),
            relative_half_width: summary.relative_half_width(),
            coefficient_of_variation: summary.coefficient_of_variation,
            autocorrelation: summary.lag_1,
            effective_seconds: summary.effective_points,
            trend: summary.trend.share,
            step: summary.step.change.share,
            step_at_s: rampup_s + summary.step.at as u64,
            until: facts.until_ci.map(|asked| Until {
                relative_half_width: asked,
                reached: ended_early(facts, end)
                    || summary.relative_half_width().is_some_and(|width| width <= asked),
            }),
        };
        steadiness.words = words(&steadiness, rampup_s, sooner(&summary));
        steadiness.next = next(&steadiness, rampup_s);
        steadiness
    }

    /// Whether the timed window began before the warm-up had ended.
    fn warm_up_in_window(&self, rampup_s: u64) -> Option<u64> {
        match self.warm_up {
            WarmUp::Ended { after_s } => after_s.checked_sub(rampup_s).filter(|into| *into > 0),
            WarmUp::NotFound | WarmUp::TooShort => None,
        }
    }
}

/// Whether the window ended before the longest time that was allowed.
fn ended_early(facts: &RunFacts, end: &RunEnd) -> bool {
    let complete = end.ending == triphammer_core::engine::Ending::Complete;
    complete
        && matches!(facts.spec.length, Length::Time(longest) if end.window.seconds() < longest.as_secs_f64())
}

/// Which of the two changes is told of a window that drifts.
enum Told {
    Trend,
    Step,
}

fn sooner(summary: &series::Summary) -> Told {
    let size = |share: Option<f64>| share.map_or(0.0, f64::abs);
    match size(summary.step.change.share) > size(summary.trend.share) {
        true if summary.step.change.p_value <= summary.trend.p_value => Told::Step,
        _ => Told::Trend,
    }
}

fn words(steadiness: &Steadiness, rampup_s: u64, told: Told) -> String {
    let mut parts = Vec::new();
    match steadiness.verdict {
        Steady::Steady => parts.extend(
            steadiness
                .relative_half_width
                .map(|half| format!("the mean is sure to ± {} (95 %)", precise(half))),
        ),
        Steady::Drifting => parts.push(drift(steadiness, &told)),
        Steady::TooShort => parts.push(format!(
            "{} say as much as {:.0} independent ones, {EFFECTIVE_MIN:.0} are needed",
            duration(steadiness.seconds as f64),
            steadiness.effective_seconds
        )),
    }
    if let Some(variation) = steadiness.coefficient_of_variation {
        parts.push(format!("seconds vary by {}", precise(variation)));
    }
    parts.extend(warm_up_words(steadiness, rampup_s));
    if let Some(until) = steadiness.until.filter(|until| !until.reached) {
        let asked = precise(until.relative_half_width);
        parts.push(format!("the ± {asked} asked for were not reached"));
    }
    parts.join(" · ")
}

fn drift(steadiness: &Steadiness, told: &Told) -> String {
    let change = |share: Option<f64>| {
        let share = share.unwrap_or_default();
        format!("{} {}", precise(share.abs()), if share < 0.0 { "down" } else { "up" })
    };
    match told {
        Told::Trend => format!("{} over the window", change(steadiness.trend)),
        Told::Step => format!(
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
    match steadiness.warm_up {
        WarmUp::Ended { after_s: 0 } => Some(format!("level from its start ({rampup})")),
        WarmUp::Ended { after_s } => {
            Some(format!("warm-up really ended at {}, {rampup}", duration(after_s as f64)))
        }
        WarmUp::NotFound if steadiness.verdict == Steady::Steady => {
            Some(format!("the end of the warm-up cannot be told, {rampup}"))
        }
        WarmUp::NotFound => Some(format!("the run never settled, {rampup}")),
        WarmUp::TooShort => None,
    }
}

fn next(steadiness: &Steadiness, rampup_s: u64) -> Option<String> {
    let round = |seconds: u64| {
        let rounded = ROUND_SECONDS.into_iter().find(|round| *round >= seconds);
        format_duration(std::time::Duration::from_secs(
            rounded.unwrap_or_else(|| seconds.div_ceil(600) * 600),
        ))
    };
    if let Some(into) = steadiness.warm_up_in_window(rampup_s) {
        return Some(format!("give it --rampup {}", round(rampup_s + into)));
    }
    match steadiness.verdict {
        Steady::Steady if steadiness.until.is_some_and(|until| !until.reached) => {
            Some("give it a longer --duration, or ask for less with --until-ci".to_owned())
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

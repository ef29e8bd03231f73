//! Searches for the highest rate of an open load at which a percentile stays under a limit.
//!
//! Rates climb by doubling from the first, because a database that was overloaded takes a while to
//! recover. Once one rate is ok and one is not, the search keeps a belief: for every rate, the
//! probability that it is the capacity ([`belief`]). It runs where the belief lies and ends when 95
//! % of it lies close enough together.
//!
//! Then runs confirm the result: three at the rate that was found show how much the server differs
//! from run to run ([`effects`]), a long one at the low end contains rarer events, and an early
//! rate is repeated, which shows whether the server changed. The interval is never narrower than what
//! the scatter of the runs implies.
//!
//! A run's answer counts as much as it measured: a percentile with its interval shows how far from
//! the limit the rate is, and one close to the limit says little about its side. A rate at which
//! the target fell behind bounds the capacity by what it served there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::belief::Belief;
use self::effects::Scatter;
pub use self::effects::ServerChange;
use crate::distribution::{NORMAL_975, normal_below};
use crate::numbers::size;
use crate::{Estimate, Interval};

mod belief;
mod effects;

/// Probability that a run is right when it only reports ok or not.
const TRUST: f64 = 0.9;
/// Upper limit of the certainty of one measured run: two runs at one rate differ by more than their
/// intervals.
const TRUST_MEASURED: f64 = 0.98;
/// Logarithm of the odds (19 to 1) at which the climb turns.
const TURN_ODDS: f64 = 2.944;
/// Maximum number of runs at one rate of the climb.
const REPEATS_MAX: usize = 3;
/// Rates this close are equal: one that was stored as text may differ in its last digit.
const SAME_RATE: f64 = 1e-9;
/// Probability at which a search at the bounds ends.
const SURE: f64 = 0.9;
/// Minimum number of runs after the climb: the scatter of the runs is part of the interval.
const RUNS_MIN: usize = 6;
/// Number of confirming runs: three at the rate that was found, one at the low end, and an early
/// rate again.
pub const CONFIRMING: usize = 5;
/// Minimum number of runs of a search that confirms its result.
const ROOM: usize = 3 * CONFIRMING;
/// Which of them is the long one, at the low end.
const LONG_PLACE: usize = 2;
/// How many times as long as the others that is.
pub const LONG: u32 = 3;
/// Minimum half-width of the interval, as a logarithm: runs at one rate differ by more than their
/// intervals, and the curve is not exactly the server's.
const ERROR_MIN: f64 = 0.009;
/// Where in the belief the next run is made, in turn: the slope is known from runs on both sides.
const PLACES: [f64; 3] = [0.5, 0.2, 0.8];
/// Greatest distance from the limit, as a logarithm, at which a run without an interval shows more
/// than its side.
const NEAR: f64 = 0.3;
/// Standard errors by which the capacity stays below what an overloaded target served.
const SERVED_BELOW: f64 = 3.0;

/// Bounds of a search for capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapacityPlan {
    /// First rate, in transactions per second, above 0.
    pub first: f64,
    /// Lowest rate that may be tried, in transactions per second: if it is not ok, nothing is.
    pub lowest: f64,
    /// Highest rate that may be tried, in transactions per second.
    pub highest: f64,
    /// Precision at which the search ends: half the interval over the rate; 0.05 is ± 5 %.
    pub precision: f64,
    /// Maximum number of runs, with those that confirm the result.
    pub runs_max: usize,
}

/// The result of a run at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answer {
    /// Only whether it was under the limit.
    Ok {
        /// Whether it was under the limit.
        ok: bool,
    },
    /// The percentile, with its interval if that is known, and the limit, all in one unit.
    Measured {
        /// The percentile that was measured.
        value: Estimate,
        /// The limit that it must not exceed.
        limit: f64,
    },
    /// The target fell behind: fewer transactions were served than arrived, and the backlog grew.
    Overloaded {
        /// Transactions served per second.
        served: Estimate,
    },
}

/// The next step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SearchStep {
    /// Make a run at this rate.
    Run {
        /// Rate in transactions per second.
        rate: f64,
        /// How many times as long as the other runs.
        length: u32,
    },
    /// The search has ended.
    Done(Judgement),
}

/// Result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "snake_case")]
#[schemars(rename = "CapacityJudgement")]
pub enum Judgement {
    /// The capacity was found.
    Found {
        /// Highest rate that is ok, in transactions per second: equally likely too high or too low
        /// if the search saw rates on both sides, else the highest rate that was ok.
        rate: f64,
        /// 95 % interval of the rate. If runs were overloaded, it ends below what the target served
        /// in them.
        interval: Interval,
        /// Whether the precision was reached; otherwise the runs were used up.
        precise: bool,
    },
    /// Even the lowest rate is not ok.
    NeverOk {
        /// The lowest rate, in transactions per second.
        lowest: f64,
    },
    /// Even the highest rate is ok.
    AlwaysOk {
        /// The highest rate, in transactions per second.
        highest: f64,
    },
}

/// A point of the curve that the search is certain of by now.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityBelief {
    /// Rate in transactions per second.
    pub rate: f64,
    /// Probability that the capacity is at least this rate, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
}

/// Why a search is impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapacityError {
    /// Not 0 < lowest ≤ first ≤ highest, all finite.
    #[error("rates must be above 0, and the lowest ≤ the first ≤ the highest")]
    Rates,
    /// The precision is not between 0 and 1.
    #[error("the precision must be between 0 and 1")]
    Precision,
}

/// A search for capacity: its plan, and the results so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapacitySearch {
    plan: CapacityPlan,
    reported: Vec<ReportedRun>,
    /// The confirming runs, once the search has found a rate.
    confirming: Option<Confirming>,
    /// What follows from the results so far.
    step: SearchStep,
}

/// The runs that confirm a result.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Confirming {
    /// Number of runs before them.
    from: usize,
    /// The rate that the search found.
    found: f64,
    /// An early rate near the limit.
    early: f64,
    /// The low end of the interval that the search found.
    low: f64,
}

/// A run's rate and what it showed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct ReportedRun {
    rate: f64,
    answer: Answer,
}

impl ReportedRun {
    /// How far the run was from the limit; `None` if it measured no time.
    fn distance(&self) -> Option<Distance> {
        match self.answer {
            Answer::Measured { value, limit } => Distance::of(value, limit),
            Answer::Ok { .. } | Answer::Overloaded { .. } => None,
        }
    }
}

impl CapacitySearch {
    /// Creates a search without results.
    ///
    /// # Errors
    /// When the plan's rates are not in order or its precision is not between 0 and 1.
    pub fn new(plan: CapacityPlan) -> Result<Self, CapacityError> {
        let CapacityPlan { first, lowest, highest, precision, .. } = plan;
        if !(0.0 < lowest && lowest <= first && first <= highest && highest < f64::INFINITY) {
            return Err(CapacityError::Rates);
        }
        if !(precision > 0.0 && precision < 1.0) {
            return Err(CapacityError::Precision);
        }
        let step = SearchStep::Run { rate: first, length: 1 };
        let mut search = Self { plan, reported: Vec::new(), confirming: None, step };
        search.step = search.search();
        Ok(search)
    }

    /// Returns the next step. Does not change the search.
    #[must_use]
    pub const fn next(&self) -> SearchStep {
        self.step
    }

    /// The next confirming run; `None` after the last.
    fn confirm(&self, confirming: Confirming) -> Option<SearchStep> {
        let Confirming { from, found, early, low } = confirming;
        let rates: [f64; CONFIRMING] = [found, found, low, found, early];
        let place = self.reported.len() - from;
        let length = if place == LONG_PLACE { LONG } else { 1 };
        Some(SearchStep::Run { rate: *rates.get(place)?, length })
    }

    /// Maximum number of runs before those that confirm the result.
    fn runs_to_search(&self) -> usize {
        let runs_max = self.plan.runs_max;
        let has_room = self.confirming.is_none() && runs_max >= ROOM;
        if has_room { runs_max - CONFIRMING } else { runs_max }
    }

    /// The next step, confirming runs aside.
    fn search(&self) -> SearchStep {
        let CapacityPlan { lowest, highest, precision, runs_max, .. } = self.plan;
        let last = self.reported.len() >= runs_max;
        let run = |rate| SearchStep::Run { rate, length: 1 };
        let (bracket, climbed) = match climb(&self.plan, &self.reported) {
            Climb::To(_) if last => return SearchStep::Done(self.cut_short()),
            Climb::To(rate) => return run(rate),
            Climb::Never => return SearchStep::Done(Judgement::NeverOk { lowest }),
            Climb::Always => return SearchStep::Done(Judgement::AlwaysOk { highest }),
            Climb::Between { bracket, runs } => (bracket, runs),
        };
        let last = last || self.reported.len() >= self.runs_to_search();
        let served = served_at_least(&self.reported);
        let belief = Belief::of(&self.reported, bracket, served);
        let (never, always) = (belief.below(lowest), 1.0 - belief.below(highest));
        if never > SURE || last && never > 0.5 {
            return SearchStep::Done(Judgement::NeverOk { lowest });
        }
        if always > SURE || last && always > 0.5 {
            return SearchStep::Done(Judgement::AlwaysOk { highest });
        }
        let at = |share| belief.quantile(share).clamp(lowest, highest);
        let rate = at(0.5);
        let wider = |edge: f64| ERROR_MIN.hypot((edge / rate).ln()).exp();
        let (mut low, mut high) = (rate / wider(at(0.025)), rate * wider(at(0.975)));
        let mut most = served.map_or(highest, |served| served.min(highest)).max(rate);
        if let Some(Scatter { interval, between }) = effects::scatter(&self.reported, &belief) {
            (low, high) = (low.min(interval.low.exp()), high.max(interval.high.exp()));
            most *= (NORMAL_975 * between).exp();
        }
        let most = most.min(highest.max(rate));
        let interval = Interval { low: low.max(lowest), high: high.min(most) };
        let enough = self.reported.len() >= climbed + RUNS_MIN;
        let precise = enough && (interval.high / interval.low).ln() / 2.0 <= precision;
        if precise || last {
            return SearchStep::Done(Judgement::Found { rate, interval, precise });
        }
        let measured = self
            .reported
            .last()
            .is_some_and(|reported| matches!(reported.answer, Answer::Measured { .. }));
        let place = if measured { PLACES[self.reported.len() % PLACES.len()] } else { 0.5 };
        run(at(place))
    }

    /// By how much the server changed during the search; `None` before the last confirming run, or if
    /// too few runs were near the limit.
    #[must_use]
    pub fn change(&self) -> Option<ServerChange> {
        let from = self.confirming?.from;
        effects::change(self.reported.get(..from + CONFIRMING)?)
    }

    /// The confirming run of several times the length: its place; `None` before it was made.
    #[must_use]
    pub fn long_run(&self) -> Option<usize> {
        let place = self.confirming?.from + LONG_PLACE;
        (place < self.reported.len()).then_some(place)
    }

    /// Returns the probability that the capacity is at least a rate, at increasing rates around it;
    /// empty until runs showed a rate on either side.
    #[must_use]
    pub fn belief(&self) -> Vec<CapacityBelief> {
        let Climb::Between { bracket, .. } = climb(&self.plan, &self.reported) else {
            return Vec::new();
        };
        Belief::of(&self.reported, bracket, served_at_least(&self.reported)).curve()
    }

    /// Result of a climb that used up its runs: only what was measured.
    fn cut_short(&self) -> Judgement {
        let CapacityPlan { lowest, highest, .. } = self.plan;
        let ok = |reported: &&ReportedRun| chance(reported.answer) >= 0.5;
        let rate =
            self.reported.iter().filter(ok).map(|reported| reported.rate).fold(lowest, f64::max);
        let not =
            self.reported.iter().filter(|reported| !ok(reported)).map(|reported| reported.rate);
        let high = not.fold(highest, f64::min).max(rate);
        Judgement::Found { rate, interval: Interval { low: rate, high }, precise: false }
    }

    /// Takes what a run at a rate showed. The rate need not be the one that was proposed; one that
    /// is not above 0 and finite is ignored.
    pub fn report_result(&mut self, rate: f64, answer: Answer) {
        if rate.is_finite() && rate > 0.0 {
            self.reported.push(ReportedRun { rate, answer });
            self.step =
                self.confirming.and_then(|of| self.confirm(of)).unwrap_or_else(|| self.search());
            self.begin_to_confirm();
        }
    }

    /// Begins to confirm what the search has found, if there is room for it.
    fn begin_to_confirm(&mut self) {
        let from = self.reported.len();
        let SearchStep::Done(Judgement::Found { rate, interval, .. }) = self.step else { return };
        if self.confirming.is_some() || self.plan.runs_max < from + CONFIRMING {
            return;
        }
        // Runs that measured nothing near the limit have nothing to confirm.
        if let Some(early) = effects::early(&self.reported) {
            let confirming = Confirming { from, found: rate, early, low: interval.low };
            self.confirming = Some(confirming);
            self.step = self.confirm(confirming).unwrap_or(self.step);
        }
    }
}

/// State of the climb.
enum Climb {
    /// This rate is next.
    To(f64),
    /// Not even the lowest rate is ok.
    Never,
    /// Even the highest rate is ok.
    Always,
    /// The lower rate is ok and the higher one is not, according to this many runs.
    Between { bracket: (f64, f64), runs: usize },
}

/// Doubles while rates are ok, or halves while none is. What turns or ends the climb must be
/// certain, if necessary by another run: a bracket in the wrong place costs more.
fn climb(plan: &CapacityPlan, reported: &[ReportedRun]) -> Climb {
    let (mut rate, mut upwards, mut used) = (plan.first, None, 0);
    for _ in 0..=reported.len() {
        let here =
            reported.iter().filter(|reported| (reported.rate / rate - 1.0).abs() < SAME_RATE);
        let (runs, odds) = here.fold((0, 0.0), |(runs, odds), reported| {
            let chance = chance(reported.answer);
            (runs + 1, odds + (chance / (1.0 - chance)).ln())
        });
        let ok = odds >= 0.0;
        let next = if ok { rate * 2.0 } else { rate / 2.0 }.clamp(plan.lowest, plan.highest);
        let ends = next == rate;
        let unsure = runs < REPEATS_MAX && f64::abs(odds) < TURN_ODDS;
        // Good news on the way up and bad news on the way down need no second run.
        if runs == 0 || unsure && (ends || ok != upwards.unwrap_or(true)) {
            return Climb::To(rate);
        }
        used += runs;
        match (upwards, ok) {
            (Some(true), false) => {
                return Climb::Between { bracket: (rate / 2.0, rate), runs: used };
            }
            (Some(false), true) => {
                return Climb::Between { bracket: (rate, rate * 2.0), runs: used };
            }
            (_, true) if ends => return Climb::Always,
            (_, false) if ends => return Climb::Never,
            _ => (rate, upwards) = (next, Some(ok)),
        }
    }
    Climb::To(rate)
}

/// The probability that a rate is below the capacity, from one run.
fn chance(answer: Answer) -> f64 {
    let sure = |ok: bool, trust: f64| if ok { trust } else { 1.0 - trust };
    match answer {
        Answer::Ok { ok } => sure(ok, TRUST),
        Answer::Overloaded { .. } => sure(false, TRUST_MEASURED),
        Answer::Measured { value, limit } => match Distance::of(value, limit) {
            None => sure(value.value <= limit, TRUST),
            Some(Distance { ln, error: None }) => sure(ln <= 0.0, TRUST),
            Some(Distance { ln, error: Some(error) }) if error <= 0.0 => {
                sure(ln <= 0.0, TRUST_MEASURED)
            }
            Some(Distance { ln, error: Some(error) }) => {
                normal_below(-ln / error).clamp(1.0 - TRUST_MEASURED, TRUST_MEASURED)
            }
        },
    }
}

/// Distance of a percentile from its limit.
#[derive(Clone, Copy)]
struct Distance {
    /// Logarithm of the centre of the percentile's interval, or of the percentile, over the limit.
    ln: f64,
    /// Standard error of that logarithm, not below 0; `None` without an interval.
    error: Option<f64>,
}

impl Distance {
    /// Computes the distance; `None` if the value is not a time, or has no interval and is far from
    /// the limit.
    fn of(value: Estimate, limit: f64) -> Option<Self> {
        let ln = |time: f64| (time / limit).ln();
        let (ln, error) = match value.interval {
            None => (ln(value.value), None),
            Some(Interval { low, high }) => {
                let [low, high] = [low, high].map(ln);
                (f64::midpoint(low, high), Some((high - low) / (2.0 * NORMAL_975)))
            }
        };
        let is_error = error.is_none_or(|error| error.is_finite() && error >= 0.0);
        let counts = error.is_some() || ln.abs() <= NEAR;
        (ln.is_finite() && is_error && counts).then_some(Self { ln, error })
    }
}

/// Rate above which the capacity is not, from what the target served when it was overloaded. `None`
/// if it never was.
///
/// From all such runs together, less their error. If they differ by more than their errors, the
/// server itself differs from run to run, and was overloaded when it was slow: then the most that
/// it served in one of them. For the same reason, the interval may end above it by as much as the
/// runs differ.
fn served_at_least(reported: &[ReportedRun]) -> Option<f64> {
    let served = reported.iter().filter_map(|reported| match reported.answer {
        Answer::Overloaded { served } => Some(served),
        _ => None,
    });
    let served: Vec<Estimate> = served.filter(|served| served.value > 0.0).collect();
    let count = size(served.len());
    let mean = served.iter().map(|served| served.value).sum::<f64>() / count;
    let error = |served: &Estimate| served.interval.map_or(0.0, |i| i.half_width() / NORMAL_975);
    let errors = served.iter().map(|served| error(served).powi(2)).sum::<f64>().sqrt();
    let least = mean - SERVED_BELOW * errors / count;
    let most = served.iter().map(|served| served.value).fold(0.0, f64::max);
    let differs = most - mean > SERVED_BELOW * errors / count.sqrt();
    let bound = if differs { most } else { least };
    (bound.is_finite() && bound > 0.0).then_some(bound)
}

#[cfg(test)]
mod tests;

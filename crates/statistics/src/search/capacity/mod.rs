//! The highest rate of an open load at which a percentile stays under a limit: probabilistic bisection
//! (Horstein 1963; Waeber, Frazier and Henderson, "Bisection search with noisy responses", SIAM J. Control
//! Optim. 51, 2013).
//!
//! Rates climb by doubling from the first, because a database that was overloaded is not itself for a while.
//! Once one rate is ok and one is not, the search keeps, for every rate, the chance that it is the capacity,
//! and runs at the median; an answer makes rates likelier or less so by how sure it is. No answer is quite
//! sure, so that one unlucky run does not lead astray.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::distribution::{NORMAL_975, normal_below};
use crate::numbers::{length, size};
use crate::{Estimate, Interval};

/// Chance that a run tells the truth when it says no more than ok or not.
const TRUST: f64 = 0.9;
/// Most that the interval of a measured run can make sure: two runs at one rate differ by more than that.
const TRUST_MEASURED: f64 = 0.98;
/// Logarithm of the odds (19 to 1) at which the climb turns.
const TURN_ODDS: f64 = 2.944;
/// Most runs at one rate of the climb.
const REPEATS_MAX: u32 = 3;
/// Rates this close are the same: one that was stored as text may differ in its last digit.
const SAME_RATE: f64 = 1e-9;
/// Chance at which a search at the bounds ends.
const SURE: f64 = 0.9;
/// Cells that the precision is divided into.
const CELLS: f64 = 8.0;
/// Most cells.
const CELLS_MAX: usize = 20_000;
/// How fast belief falls outside the bracket: to an eighth with every doubling.
const OUTSIDE: f64 = 3.0;

/// Bounds of a search for capacity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CapacityPlan {
    /// First rate, in transactions a second, above 0.
    pub first: f64,
    /// Lowest rate that may be tried: when it is not ok, nothing is.
    pub lowest: f64,
    /// Highest rate that may be tried.
    pub highest: f64,
    /// The search ends when half the interval over the rate is this or less: 0.05 is ± 5 %.
    pub precision: f64,
    /// Most runs that are made.
    pub runs_max: usize,
}

/// What a run at a rate showed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Answer {
    /// Under the limit or not, and nothing more.
    Ok {
        /// Under the limit.
        ok: bool,
    },
    /// The percentile, its interval where there is one, and the limit, all in one unit.
    Measured {
        /// What was measured.
        value: Estimate,
        /// What it must not exceed.
        limit: f64,
    },
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Step {
    /// Run at this rate.
    Run {
        /// Transactions a second.
        rate: f64,
    },
    /// The search has ended.
    Done(Judgement),
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Judgement {
    /// The capacity.
    Found {
        /// Highest rate that is ok, transactions a second: as likely too high as too low where the search
        /// saw rates on both sides, else the highest that it saw ok.
        rate: f64,
        /// 95 % interval of it.
        interval: Interval,
        /// The precision was reached; otherwise the runs were used up.
        precise: bool,
    },
    /// Even the lowest rate is not ok.
    NeverOk {
        /// The lowest rate.
        lowest: f64,
    },
    /// Even the highest rate is ok.
    AlwaysOk {
        /// The highest rate.
        highest: f64,
    },
}

/// Why a search cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CapacityError {
    /// Not 0 < lowest ≤ first ≤ highest, all finite.
    #[error("rates must be above 0, with the lowest, the first and the highest in this order")]
    Rates,
    /// The precision is not between 0 and 1.
    #[error("the precision lies between 0 and 1")]
    Precision,
}

/// The search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    plan: CapacityPlan,
    told: Vec<Told>,
}

/// A run's rate and the chance that the rate is below the capacity, if that is all one knows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Told {
    rate: f64,
    chance: f64,
}

impl Capacity {
    /// A search with nothing told.
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
        Ok(Self { plan, told: Vec::new() })
    }

    /// What to do next. Asking does not change it.
    #[must_use]
    pub fn next(&self) -> Step {
        let (bracket, climb) = match climb(&self.plan, &self.told) {
            Climb::To(rate) => (None, rate),
            Climb::Between(low, high) => (Some((low, high)), high),
        };
        let belief = Belief::of(&self.plan, &self.told, bracket);
        let last = self.told.len() >= self.plan.runs_max;
        if belief.never > SURE || last && belief.never > 0.5 {
            return Step::Done(Judgement::NeverOk { lowest: self.plan.lowest });
        }
        if belief.always > SURE || last && belief.always > 0.5 {
            return Step::Done(Judgement::AlwaysOk { highest: self.plan.highest });
        }
        let [low, middle, high] = [0.025, 0.5, 0.975].map(|share| belief.quantile(share));
        let precise = bracket.is_some() && (high / low).ln() / 2.0 <= self.plan.precision;
        if precise || last {
            // A climb that was cut short knows of nothing better than what it has seen.
            let rate = if bracket.is_some() { middle } else { self.best() };
            let interval = Interval { low: low.min(rate), high: high.max(rate) };
            return Step::Done(Judgement::Found { rate, interval, precise });
        }
        Step::Run { rate: if bracket.is_some() { middle } else { climb } }
    }

    /// The highest rate told that was ok, or the lowest of the plan.
    fn best(&self) -> f64 {
        let ok = self.told.iter().filter(|told| told.chance >= 0.5).map(|told| told.rate);
        ok.fold(self.plan.lowest, f64::max)
    }

    /// Takes what a run at a rate showed. The rate need not be the one that was asked for; one that is not
    /// above 0 and finite is no run.
    pub fn tell(&mut self, rate: f64, answer: Answer) {
        if rate.is_finite() && rate > 0.0 {
            self.told.push(Told { rate, chance: chance(answer) });
        }
    }
}

/// Where the climb is.
enum Climb {
    /// This rate is next.
    To(f64),
    /// The lower one is ok and the higher one is not.
    Between(f64, f64),
}

/// Up by doubling while rates are ok, or down by halving while none is. What turns the climb has to be sure,
/// if need be by another run: a bracket in the wrong place costs more.
fn climb(plan: &CapacityPlan, told: &[Told]) -> Climb {
    let (mut rate, mut upwards) = (plan.first, None);
    for _ in 0..=told.len() {
        let here = told.iter().filter(|told| (told.rate / rate - 1.0).abs() < SAME_RATE);
        let (runs, odds) = here.fold((0, 0.0), |(runs, odds), told| {
            (runs + 1, odds + (told.chance / (1.0 - told.chance)).ln())
        });
        let unsure = runs < REPEATS_MAX && f64::abs(odds) < TURN_ODDS;
        let ok = odds >= 0.0;
        // Good news on the way up and bad news on the way down need no second run.
        if runs == 0 || unsure && ok != upwards.unwrap_or(true) {
            return Climb::To(rate);
        }
        let next = if ok { rate * 2.0 } else { rate / 2.0 }.clamp(plan.lowest, plan.highest);
        match (upwards, ok) {
            (Some(true), false) => return Climb::Between(rate / 2.0, rate),
            (Some(false), true) => return Climb::Between(rate, rate * 2.0),
            _ if next == rate => return Climb::To(rate),
            _ => (rate, upwards) = (next, Some(ok)),
        }
    }
    Climb::To(rate)
}

/// The chance that a rate is below the capacity, from one run.
fn chance(answer: Answer) -> f64 {
    let sure = |ok: bool, trust: f64| if ok { trust } else { 1.0 - trust };
    match answer {
        Answer::Ok { ok } => sure(ok, TRUST),
        Answer::Measured { value: Estimate { value, interval }, limit } => {
            let error = interval.map_or(0.0, |interval| interval.half_width() / NORMAL_975);
            let ok = value <= limit;
            match error > 0.0 && error.is_finite() {
                false => sure(ok, if interval.is_some() { TRUST_MEASURED } else { TRUST }),
                true => normal_below((limit - value) / error)
                    .clamp(1.0 - TRUST_MEASURED, TRUST_MEASURED),
            }
        }
    }
}

/// How likely every rate is to be the capacity.
struct Belief {
    /// That even the lowest rate is not ok.
    never: f64,
    /// That even the highest rate is ok.
    always: f64,
    /// Logarithm of the lowest rate, and of the ratio of neighbouring cells.
    start: f64,
    step: f64,
    /// The chance of each cell from the lowest rate to the highest.
    cells: Vec<f64>,
}

impl Belief {
    fn of(plan: &CapacityPlan, told: &[Told], bracket: Option<(f64, f64)>) -> Self {
        let (start, end) = (plan.lowest.ln(), plan.highest.ln());
        let fine = ((end - start) / (plan.precision / CELLS)).ceil();
        let count = length(fine).clamp(1, CELLS_MAX);
        let step = (end - start) / size(count);
        let mut believed: Vec<f64> = Vec::with_capacity(count + 2);
        let logarithms = |told: &Told| (told.rate.ln(), told.chance.ln(), (1.0 - told.chance).ln());
        let told: Vec<(f64, f64, f64)> = told.iter().map(logarithms).collect();
        let bracket = bracket.map(|(low, high)| (low.ln(), high.ln()));
        // One more place at either end stands for all that lies beyond the bounds.
        for place in 0..count + 2 {
            let inside = place > 0 && place <= count;
            let at = (start + (size(place) - 0.5) * step).clamp(start, end);
            let prior = prior(at, bracket) + if inside { step.max(1e-12).ln() } else { 0.0 };
            let answers = told.iter().map(|&(rate, if_reached, if_not)| {
                let reached = match place {
                    0 => false,
                    last if last == count + 1 => true,
                    _ => rate <= at,
                };
                if reached { if_reached } else { if_not }
            });
            believed.push(prior + answers.sum::<f64>());
        }
        let most = believed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        believed.iter_mut().for_each(|cell| *cell = (*cell - most).exp());
        let sum: f64 = believed.iter().sum();
        believed.iter_mut().for_each(|cell| *cell /= sum);
        let always = believed.pop().unwrap_or(0.0);
        let never = believed.remove(0);
        Self { never, always, start, step, cells: believed }
    }

    /// The rate below which the capacity lies with this chance, if it is within the bounds.
    fn quantile(&self, share: f64) -> f64 {
        let mut left = share * self.cells.iter().sum::<f64>();
        for (place, cell) in self.cells.iter().enumerate() {
            if left <= *cell && *cell > 0.0 {
                return (self.start + (size(place) + left / cell) * self.step).exp();
            }
            left -= cell;
        }
        (self.start + size(self.cells.len()) * self.step).exp()
    }
}

/// What is believed before the answers, as a logarithm of the density in ln(rate): the same everywhere
/// until a bracket is found, then falling outside of it, so that one wrong answer in the bracket can be
/// mended and yet no rate far above it is run.
fn prior(at: f64, bracket: Option<(f64, f64)>) -> f64 {
    let Some((low, high)) = bracket else { return 0.0 };
    let outside = (low - at).max(at - high).max(0.0);
    -outside * OUTSIDE
}

#[cfg(test)]
mod tests;

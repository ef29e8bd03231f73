//! The arrivals of an open load: one stream per run. When arrival n is due depends only on (seed,
//! n), and so does its input; threads and sessions have no influence.

use std::sync::Arc;

use super::{PairHalf, RateProfile};
use crate::clock::Elapsed;
use crate::random::Rng;

/// Purpose of the random stream that the gaps are drawn from.
const GAPS: u64 = 3;

/// The times at which arrivals are due, in order. Two with the same seed and profile are identical.
#[derive(Clone, Debug)]
pub struct Arrivals {
    profile: Arc<RateProfile>,
    /// Draws the gaps of a Poisson process of rate 1; `None` for gaps of exactly 1.
    gaps: Option<Rng>,
    /// Number of gaps summed in `sum`.
    drawn: u64,
    sum: f64,
    /// When the run works, if it shares the time with another one.
    half: Option<PairHalf>,
}

impl Arrivals {
    /// Creates the stream of a seed: Poisson, or evenly spaced according to the rate, with the
    /// first arrival at once.
    #[must_use]
    pub fn new(profile: Arc<RateProfile>, constant: bool, seed: u64) -> Self {
        let gaps = (!constant).then(|| Rng::of(seed, &[GAPS]));
        Self { profile, gaps, drawn: 0, sum: 0.0, half: None }
    }

    /// The same stream in the time in which this half of a pair works.
    #[must_use]
    pub fn of_half(self, half: Option<PairHalf>) -> Self {
        Self { half, ..self }
    }

    /// Follows another profile, which must be the same for what was due already.
    pub fn follow(&mut self, profile: Arc<RateProfile>) {
        self.profile = profile;
    }

    /// The sum of the gaps up to the arrival that was asked for last: [`due_at`] makes a time of it.
    #[must_use]
    pub const fn sum(&self) -> f64 {
        self.sum
    }

    /// Returns when arrival `n` is due, counting from 0; [`Elapsed::NEVER`] if the rate ends
    /// earlier.
    /// Call in ascending order: drawing the gaps up to `n` costs a few nanoseconds each.
    ///
    /// # Panics
    /// When called for an arrival before the last one: a defect.
    pub fn due(&mut self, n: u64) -> Elapsed {
        match &mut self.gaps {
            None => self.sum = precise(n),
            Some(gaps) => {
                assert!(n + 1 >= self.drawn, "arrivals are requested in ascending order");
                while self.drawn <= n {
                    self.sum += gaps.exponential(1.0);
                    self.drawn += 1;
                }
            }
        }
        let due = nanoseconds(self.profile.time(self.sum));
        self.half.map_or(due, |half| half.when(due))
    }
}

/// When an arrival with this sum of gaps is due by a profile.
#[must_use]
pub fn due_at(profile: &RateProfile, sum: f64) -> Elapsed {
    nanoseconds(profile.time(sum))
}

#[expect(clippy::cast_precision_loss, reason = "numbers of arrivals are below 2^53")]
const fn precise(n: u64) -> f64 {
    n as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts from floats saturate, and infinity becomes NEVER"
)]
fn nanoseconds(seconds: f64) -> Elapsed {
    Elapsed((seconds * 1e9) as u64)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn arrivals(load: &str, seed: u64) -> Arrivals {
        let load: super::super::Load = load.parse().unwrap();
        let constant = matches!(load, super::super::Load::Rate { constant: true, .. });
        let profile = RateProfile::new(&load, &[], Duration::ZERO).unwrap();
        Arrivals::new(Arc::new(profile), constant, seed)
    }

    /// The largest distance between the share of `values` below each of them and `cdf`, times √n: above
    /// 1.63 in 1 % of samples that do come from it (Kolmogorov 1933).
    fn kolmogorov_smirnov(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
        values.sort_by(f64::total_cmp);
        let n = precise(values.len() as u64);
        let distance = |(index, value): (u64, &f64)| {
            let (below, upto) = (precise(index) / n, precise(index + 1) / n);
            (cdf(*value) - below).abs().max((upto - cdf(*value)).abs())
        };
        (0..).zip(&values).map(distance).fold(0.0, f64::max) * n.sqrt()
    }

    #[test]
    fn constant_arrivals_are_evenly_spaced_from_zero() {
        let mut arrivals = arrivals("rate:100/s,constant", 1);
        assert_eq!([0, 1, 250].map(|n| arrivals.due(n).0), [0, 10_000_000, 2_500_000_000]);
    }

    #[test]
    fn gaps_of_a_poisson_stream_are_exponential_and_independent_of_their_place() {
        let mut arrivals = arrivals("rate:2000/s", 1);
        let due: Vec<u64> = (0..100_000).map(|n| arrivals.due(n).0).collect();
        let gaps: Vec<f64> = due.windows(2).map(|w| precise(w[1] - w[0]) / 1e9).collect();
        let distance = kolmogorov_smirnov(gaps, |gap| 1.0 - (-2000.0 * gap).exp());
        assert!(distance < 1.63, "{distance}");
    }

    #[test]
    fn arrivals_of_a_ramp_spread_as_its_rate_does() {
        // Given their number, arrivals are a sample of the profile: t² for a ramp from zero.
        let mut arrivals = arrivals("ramp:0..1000/100s", 1);
        let mut times = Vec::new();
        for n in 0.. {
            let at = precise(arrivals.due(n).0) / 1e11;
            if at >= 1.0 {
                break;
            }
            times.push(at);
        }
        assert!((49_000..51_000).contains(&times.len()), "{}", times.len());
        let distance = kolmogorov_smirnov(times, |at| at * at);
        assert!(distance < 1.63, "{distance}");
    }

    #[test]
    fn each_arrival_is_due_when_its_number_says_whoever_asks() {
        let mut all = arrivals("rate:500/s", 7);
        let mut some = all.clone();
        let every: Vec<_> = (0..3000).map(|n| all.due(n)).collect();
        assert!((0..3000).step_by(7).all(|n| some.due(n) == every[usize::try_from(n).unwrap()]));
        assert_ne!(arrivals("rate:500/s", 8).due(0), every[0]);
        assert!(every.is_sorted());
    }

    #[test]
    fn after_the_last_arrival_there_is_none() {
        let mut arrivals = arrivals("ramp:10..0/10s", 1);
        assert_eq!(arrivals.due(1_000), Elapsed::NEVER);
    }
}

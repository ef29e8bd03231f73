//! Seeded randomness for permutations, and for the simulations that test this crate. The generator
//! is xoshiro256++ (Blackman and Vigna 2019).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

/// A stream of random numbers.
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A number from 0 to `bound` - 1; the bias of one multiplication is below 2⁻³² for any slice
    /// in memory here.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.0.next_u64()) * bound as u128;
        usize::try_from(product >> 64).expect("below a usize")
    }

    /// Shuffles in place (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// The seed of a simulation: `TRIPHAMMER_TEST_SEED`, or `default`.
#[cfg(test)]
pub(crate) fn seed(default: u64) -> u64 {
    let asked = std::env::var("TRIPHAMMER_TEST_SEED").ok();
    asked.map_or(default, |text| text.parse().expect("TRIPHAMMER_TEST_SEED is a number"))
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "53 bits fit exactly")]
impl Random {
    /// A number from 0 (included) to 1 (excluded).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A negative exponential number of mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// A Pareto number of at least 1: the smaller its shape, the heavier its tail.
    pub(crate) fn pareto(&mut self, shape: f64) -> f64 {
        (self.exponential() / shape).exp()
    }

    /// A standard normal number (Box and Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        (2.0 * self.exponential()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// An AR(1) series of mean 0 and standard deviation 1, from its stationary start.
    pub(crate) fn ar1(&mut self, points: usize, rho: f64) -> Vec<f64> {
        let scale = (1.0 - rho * rho).sqrt();
        let mut state = self.normal();
        let series = (0..points).map(|_| {
            let now = state;
            state = rho * state + scale * self.normal();
            now
        });
        series.collect()
    }
}

//! The one-sample Kolmogorov-Smirnov test (Knuth, TAOCP volume 2, section 3.3.1), with Stephens' correction
//! for small samples (JRSS B 32, 1970).

use serde::{Deserialize, Serialize};

/// How far a sample lies from a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ks {
    /// Values in the sample.
    pub count: usize,
    /// Greatest distance between the two distribution functions, from 0 to 1.
    pub distance: f64,
    /// Chance of a distance as great if the sample were of the distribution; 1 without values.
    pub p_value: f64,
}

/// Against the exponential distribution of a known mean, above 0. The mean must not come from the same
/// sample, which would make the p-value too great.
#[must_use]
pub fn exponential(sample: &[f64], mean: f64) -> Ks {
    todo!()
}

/// Against the uniform distribution from `low` to `high`, `low` < `high`.
#[must_use]
pub fn uniform(sample: &[f64], low: f64, high: f64) -> Ks {
    todo!()
}

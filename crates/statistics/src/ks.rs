//! The one-sample Kolmogorov-Smirnov test (Knuth, TAOCP volume 2, section 3.3.1), with Stephens' correction
//! for small samples (JRSS B 32, 1970).

use serde::{Deserialize, Serialize};

use crate::distribution::kolmogorov_tail;
use crate::numbers::size;

/// Distance of a sample from a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ks {
    /// Number of values in the sample.
    pub count: usize,
    /// Greatest distance between the two distribution functions, from 0 to 1.
    pub distance: f64,
    /// Probability of a distance at least as great if the sample came from the distribution; 1
    /// without values.
    pub p_value: f64,
}

/// Tests against the exponential distribution with a known mean above 0. The mean must not come
/// from the same sample, which would make the p-value too great.
#[must_use]
pub fn exponential(sample: &[f64], mean: f64) -> Ks {
    against(sample, |x| if x <= 0.0 { 0.0 } else { -(-x / mean).exp_m1() })
}

/// Tests against the uniform distribution from `low` to `high`, `low` < `high`.
#[must_use]
pub fn uniform(sample: &[f64], low: f64, high: f64) -> Ks {
    against(sample, |x| (x / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0))
}

/// Tests against any distribution function. Values that are not finite are ignored; a function
/// value that is not a number counts as 0.
fn against(sample: &[f64], below: impl Fn(f64) -> f64) -> Ks {
    let mut sorted: Vec<f64> = sample.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let n = size(sorted.len());
    let distances = sorted.iter().enumerate().map(|(rank, &x)| {
        let expected = below(x);
        let expected = if expected.is_nan() { 0.0 } else { expected.clamp(0.0, 1.0) };
        (expected - size(rank) / n).max(size(rank + 1) / n - expected)
    });
    let distance = distances.fold(0.0, f64::max);
    let p_value = kolmogorov_tail(distance * (n.sqrt() + 0.12 + 0.11 / n.sqrt()));
    Ks { count: sorted.len(), distance, p_value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::assert_finite;
    use crate::random::Random;

    #[test]
    fn p_values_of_the_right_distribution_are_uniform() {
        let mut random = Random::new(31);
        for count in [5, 20, 500] {
            let p_values = (0..2_000).map(|_| {
                let sample: Vec<f64> = (0..count).map(|_| 3.0 * random.exponential()).collect();
                exponential(&sample, 3.0).p_value
            });
            let p_values: Vec<f64> = p_values.collect();
            let alarms = p_values.iter().filter(|p| **p < 0.05).count();
            assert!((70..=130).contains(&alarms), "{alarms} of 2,000 at {count}");
            assert!(uniform(&p_values, 0.0, 1.0).p_value > 0.001, "{count}");
        }
    }

    #[test]
    fn other_distributions_are_told() {
        let mut random = Random::new(32);
        let uniforms: Vec<f64> = (0..500).map(|_| random.unit()).collect();
        assert!(uniform(&uniforms, 0.0, 1.0).p_value > 0.01);
        assert!(exponential(&uniforms, 0.5).p_value < 1e-6);
        let regular: Vec<f64> = (0..100).map(f64::from).map(|t| t / 100.0).collect();
        assert!(uniform(&regular, 0.0, 1.0).p_value > 0.999);
        assert!(exponential(&[1.0; 50], 1.0).p_value < 1e-6);
    }

    #[test]
    fn a_known_distance_is_found() {
        let found = uniform(&[0.1, 0.4, 0.7], 0.0, 1.0);
        assert!((found.distance - 0.3).abs() < 1e-12);
    }

    #[test]
    fn order_does_not_matter() {
        let mut random = Random::new(33);
        let mut sample: Vec<f64> = (0..100).map(|_| random.exponential()).collect();
        let before = exponential(&sample, 1.0);
        random.shuffle(&mut sample);
        assert_eq!(exponential(&sample, 1.0), before);
    }

    #[test]
    fn nothing_makes_nan() {
        for sample in [&[][..], &[f64::NAN], &[f64::MAX, f64::MIN, 0.0]] {
            assert_finite(&exponential(sample, 1.0));
            assert_finite(&exponential(sample, 0.0));
            assert_finite(&uniform(sample, f64::MIN, f64::MAX));
            assert_finite(&uniform(sample, 1.0, 1.0));
        }
        assert_eq!(exponential(&[], 1.0).p_value, 1.0);
    }
}

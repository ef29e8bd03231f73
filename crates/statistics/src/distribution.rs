//! Quantiles and tails of the distributions that the tests here use. Student's t and F come from
//! `statrs`; the Kolmogorov distribution and exact binomial ranks take a few terms each.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, Normal, StudentsT};

/// The 97.5 % quantile of the normal distribution: half the width of a 95 % interval in standard errors.
pub(crate) const NORMAL_975: f64 = 1.959_963_984_540_054;
/// Degrees of freedom above which t is practically normal, and `statrs` loses precision.
const FREEDOM_MAX: f64 = 1e5;
/// Expected number above a binomial threshold up to which its ranks are summed exactly.
const EXACT_MAX: f64 = 500.0;

fn students_t(freedom: f64) -> StudentsT {
    let freedom = if freedom.is_nan() { 1.0 } else { freedom.clamp(1.0, FREEDOM_MAX) };
    StudentsT::new(0.0, 1.0, freedom).expect("freedom is above 0")
}

/// The 97.5 % quantile of Student's t; degrees of freedom below 1 count as 1.
pub(crate) fn t_975(freedom: f64) -> f64 {
    students_t(freedom).inverse_cdf(0.975)
}

/// Half the width in standard errors of an interval that misses with this probability, from above 0
/// to 1.
pub(crate) fn t_missing(freedom: f64, chance: f64) -> f64 {
    students_t(freedom).inverse_cdf(1.0 - chance / 2.0)
}

/// Half the width in standard errors of each of several intervals that all hold in 95 %
/// (Bonferroni): the 97.5 % quantile of Student's t for one.
pub(crate) fn t_of_all(freedom: f64, together: usize) -> f64 {
    let together = crate::numbers::size(together.max(1));
    students_t(freedom).inverse_cdf(1.0 - 0.025 / together)
}

/// Degrees of freedom of the sum of two estimates, each (variance, freedom) (Welch, Biometrika 34, 1947;
/// Satterthwaite, Biometrics Bulletin 2, 1946).
pub(crate) fn freedom((of_a, freedom_a): (f64, f64), (of_b, freedom_b): (f64, f64)) -> f64 {
    let sum = of_a + of_b;
    if sum == 0.0 {
        return freedom_a + freedom_b;
    }
    1.0 / ((of_a / sum).powi(2) / freedom_a + (of_b / sum).powi(2) / freedom_b)
}

/// Probability that Student's t is at least this far from 0, in either direction.
pub(crate) fn t_two_sided(t: f64, freedom: f64) -> f64 {
    if t.is_nan() {
        return 1.0;
    }
    (2.0 * students_t(freedom).cdf(-t.abs().min(1e100))).clamp(0.0, 1.0)
}

/// The number that a standard normal one is farther from 0 than, in either direction, with this
/// probability.
pub(crate) fn normal_two_sided(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(1.0 - probability / 2.0)
}

/// Probability that a standard normal number is at most this.
pub(crate) fn normal_below(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// Probability that F is at least this great.
pub(crate) fn f_tail(f: f64, above: f64, below: f64) -> f64 {
    if f.is_nan() || f <= 0.0 {
        return 1.0;
    }
    let distribution = FisherSnedecor::new(above, below).expect("freedoms are above 0");
    distribution.sf(f.min(1e100)).clamp(0.0, 1.0)
}

/// Probability that the Kolmogorov distribution, the greatest distance of a Brownian bridge from 0,
/// is at least this great (Knuth, TAOCP volume 2, section 3.3.1).
pub(crate) fn kolmogorov_tail(distance: f64) -> f64 {
    if distance.is_nan() || distance < 0.2 {
        return 1.0; // 1 - 10⁻¹², where the alternating sum converges slowly
    }
    let term = |k: f64| (-2.0 * k * k * distance * distance).exp();
    let sum: f64 =
        (1..=50).map(|k| if k % 2 == 1 { term(k.into()) } else { -term(k.into()) }).sum();
    (2.0 * sum).clamp(0.0, 1.0)
}

/// The 2.5 % and the 97.5 % quantile of the number of successes in `trials` with this probability:
/// the smallest numbers such that at most as many successes have at least that probability.
///
/// Summed exactly from either end where few are expected; normal otherwise.
pub(crate) fn binomial_95(trials: u64, chance: f64) -> (u64, u64) {
    let n = crate::numbers::float(trials);
    if chance <= 0.5 && n * chance <= EXACT_MAX {
        return (rare_quantile(n, chance, 0.025), rare_quantile(n, chance, 0.975));
    }
    if chance > 0.5 && n * (1.0 - chance) <= EXACT_MAX {
        // Successes exceed k exactly as often as failures stay below trials - k.
        let failures = |share| rare_quantile(n, 1.0 - chance, share);
        return (trials - failures(0.975).min(trials), trials - failures(0.025).min(trials));
    }
    let spread = NORMAL_975 * (n * chance * (1.0 - chance)).sqrt();
    let rank = |x: f64| crate::numbers::whole(x).min(trials);
    (rank((n * chance - spread).floor()), rank((n * chance + spread).ceil()))
}

/// The smallest k with P(successes ≤ k) ≥ `share`, for a small expectation and a probability of at
/// most ½: the first term is then at least 2⁻¹⁰⁰⁰.
fn rare_quantile(n: f64, chance: f64, share: f64) -> u64 {
    let odds = chance / (1.0 - chance);
    let mut term = (n * (-chance).ln_1p()).exp();
    let (mut sum, mut k) = (term, 0.0);
    while sum < share && k < n {
        term *= odds * (n - k) / (k + 1.0);
        k += 1.0;
        sum += term;
    }
    crate::numbers::whole(k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_and_quantiles_are_those_of_the_tables() {
        assert!((t_975(6.0) - 2.446_912).abs() < 1e-5);
        assert!((t_975(1.0) - 12.706_205).abs() < 1e-4);
        assert!((t_975(1e9) - NORMAL_975).abs() < 1e-4);
        assert!((t_of_all(6.0, 1) - t_975(6.0)).abs() < 1e-9);
        assert!((t_of_all(10.0, 5) - 3.169_273).abs() < 1e-5);
        assert!((t_two_sided(2.446_912, 6.0) - 0.05).abs() < 1e-6);
        assert!((f_tail(4.256_495, 2.0, 9.0) - 0.05).abs() < 1e-6);
        assert!((kolmogorov_tail(1.358_099) - 0.05).abs() < 1e-5);
        assert!((kolmogorov_tail(1.627_624) - 0.01).abs() < 1e-5);
    }

    #[test]
    fn binomial_ranks_are_those_of_the_tables() {
        assert_eq!(binomial_95(10, 0.5), (2, 8));
        assert_eq!(binomial_95(100, 0.5), (40, 60));
        assert_eq!(binomial_95(1_000, 0.99), (983, 996));
        let (low, high) = binomial_95(1_000_000, 0.5);
        assert!((499_019..=499_021).contains(&low) && (500_979..=500_981).contains(&high));
    }

    #[test]
    fn exact_and_normal_ranks_meet() {
        let (low, high) = binomial_95(50_000, 0.01);
        let (low_normal, high_normal) = binomial_95(50_002, 0.01);
        assert!(low.abs_diff(low_normal) <= 2 && high.abs_diff(high_normal) <= 2);
    }
}

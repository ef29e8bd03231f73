//! Whether the seconds of two sides differ in their ranks (Wilcoxon, Biometrics Bulletin 1, 1945;
//! Mann and Whitney, Annals of Mathematical Statistics 18, 1947), with allowance for the correlation
//! of neighbours. Ranks are bounded: no single second decides.

use super::{RHO_MAX, variance};
use crate::numbers::{mean, size, squares};

/// Difference of the mean ranks, `here` minus `rest`, in standard errors; 0 if all are equal.
pub(super) fn difference(here: &[f64], rest: &[f64]) -> f64 {
    let ranks = ranks(&[here, rest].concat());
    let (of_here, of_rest) = ranks.split_at(here.len());
    let n = size(ranks.len());
    let each = squares(&ranks) / (n - 1.0);
    let rho = correlation(of_here, of_rest);
    let of_mean = |side: &[f64]| variance(rho, side.len()) / size(side.len());
    let error = (each * (of_mean(of_here) + of_mean(of_rest))).sqrt();
    if error > 0.0 { (mean(of_here) - mean(of_rest)) / error } else { 0.0 }
}

/// Ranks of the values; equal ones share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = size(from) + size(equal.len() - 1) / 2.0;
        equal.iter().for_each(|at| ranks[*at] = rank);
        from += equal.len();
    }
    ranks
}

/// Correlation of neighbours about the means of both sides, corrected for bias.
fn correlation(here: &[f64], rest: &[f64]) -> f64 {
    let products = |side: &[f64]| {
        let centre = mean(side);
        side.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum::<f64>()
    };
    let all = squares(here) + squares(rest);
    if all <= 0.0 {
        return 0.0;
    }
    let lost = 2.0 / size(here.len() + rest.len());
    ((products(here) + products(rest)) / all + lost).clamp(0.0, RHO_MAX)
}

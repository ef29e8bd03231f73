//! A finite set of queries with a time for each: the figures of TPC-H's clause 5.4, as pure functions of times.
//! They are TPROC-H figures and no TPC results.

/// Seconds per hour.
const HOUR_S: f64 = 3_600.0;
/// The longest query may count as at most this many times the shortest (clause 5.4.1.4).
const RATIO_MAX: f64 = 1_000.0;

/// Geometric mean of positive numbers; `None` if there are none, or one is not positive.
#[must_use]
pub fn geometric_mean(numbers: &[f64]) -> Option<f64> {
    if numbers.is_empty() || numbers.iter().any(|number| *number <= 0.0) {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "queries of a run")]
    let count = numbers.len() as f64;
    Some((numbers.iter().map(|number| number.ln()).sum::<f64>() / count).exp())
}

/// Power@Size (clause 5.4.1): 3600 × SF over the geometric mean of the intervals of the queries and of the two
/// refresh functions, in seconds. A query shorter than a thousandth of the longest query counts as that much.
#[must_use]
pub fn power(scale: f64, queries_s: &[f64], refresh_s: [f64; 2]) -> Option<f64> {
    let shortest = queries_s.iter().copied().fold(0.0, f64::max) / RATIO_MAX;
    let queries = queries_s.iter().map(|seconds| seconds.max(shortest));
    let intervals: Vec<f64> = queries.chain(refresh_s).collect();
    Some(HOUR_S * scale / geometric_mean(&intervals)?)
}

/// Throughput@Size (clause 5.4.2): queries of all streams per hour, × SF; `None` for no time.
#[must_use]
pub fn throughput(scale: f64, queries: u32, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| f64::from(queries) * HOUR_S / seconds * scale)
}

/// The composite (clause 5.4.3): geometric mean of power and throughput.
#[must_use]
pub fn composite(power: f64, throughput: f64) -> f64 {
    (power * throughput).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(found: Option<f64>, known: f64) -> bool {
        found.is_some_and(|found| (found / known - 1.0).abs() < 1e-12)
    }

    #[test]
    fn a_geometric_mean_needs_positive_numbers() {
        assert!(is_near(geometric_mean(&[1.0, 4.0, 16.0]), 4.0));
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
    }

    #[test]
    fn power_is_that_of_the_specification() {
        // 24 intervals of 2 s each at SF 10.
        assert!(is_near(power(10.0, &[2.0; 22], [2.0; 2]), 18_000.0));
        // (1^11 · 4^11 · 1 · 4)^(1/24) = 2.
        let queries: Vec<f64> = [[1.0; 11], [4.0; 11]].concat();
        assert!(is_near(power(1.0, &queries, [1.0, 4.0]), 1_800.0));
    }

    #[test]
    fn a_query_counts_as_a_thousandth_of_the_longest_at_least_but_a_refresh_as_it_is() {
        let mut queries = [1_000.0; 22];
        queries[5] = 0.001;
        let adjusted = (1_000f64.powi(21) * 1.0 * 1_000f64.powi(2)).powf(1.0 / 24.0);
        assert!(is_near(power(1.0, &queries, [1_000.0; 2]), 3_600.0 / adjusted));
        let short_refresh = (1_000f64.powi(22) * 0.1f64.powi(2)).powf(1.0 / 24.0);
        assert!(is_near(power(1.0, &[1_000.0; 22], [0.1; 2]), 3_600.0 / short_refresh));
    }

    #[test]
    fn throughput_and_composite_are_those_of_the_specification() {
        // Three streams of 22 queries in 1,100 s at SF 10.
        assert!(is_near(throughput(10.0, 66, 1_100.0), 2_160.0));
        assert_eq!(throughput(10.0, 66, 0.0), None);
        assert!(is_near(Some(composite(100.0, 400.0)), 200.0));
    }
}

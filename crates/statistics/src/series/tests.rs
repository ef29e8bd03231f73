//! Coverage and false alarms of [`summarise`] by simulation: 1,000 seeded series each.

use super::*;
use crate::numbers::assert_finite;
use crate::random::Random;

const RUNS: usize = 1_000;
const LEVEL: f64 = 1_000.0;

/// Counts over the simulated series.
#[derive(Debug, Default)]
struct Tally {
    answered: usize,
    covered: usize,
    drifting: usize,
    too_short: usize,
}

impl Tally {
    /// Percentage of the given intervals that cover the true mean.
    fn coverage(&self) -> f64 {
        100.0 * size(self.covered) / size(self.answered)
    }
}

/// Summaries of series about [`LEVEL`] with `noise` as shares of it.
fn tally(seed: u64, noise: impl Fn(&mut Random) -> Vec<f64>) -> Tally {
    tally_of(RUNS, seed, noise)
}

fn tally_of(runs: usize, seed: u64, noise: impl Fn(&mut Random) -> Vec<f64>) -> Tally {
    let mut random = Random::new(seed);
    let mut tally = Tally::default();
    for _ in 0..runs {
        let series: Vec<f64> = noise(&mut random).iter().map(|e| LEVEL * (1.0 + e)).collect();
        let summary = summarise(&series);
        tally.drifting += usize::from(summary.verdict == Verdict::Drifting);
        tally.too_short += usize::from(summary.verdict == Verdict::TooShort);
        if let Some(interval) = summary.interval {
            tally.answered += 1;
            tally.covered += usize::from(interval.contains(LEVEL));
        }
    }
    tally
}

fn ar1(points: usize, rho: f64, share: f64) -> impl Fn(&mut Random) -> Vec<f64> {
    move |random| random.ar1(points, rho).iter().map(|e| share * e).collect()
}

/// Noise of 3 % made from white noise by a filter of past outputs and inputs.
fn filtered(
    points: usize,
    filter: impl Fn(&[f64], &[f64]) -> f64,
) -> impl Fn(&mut Random) -> Vec<f64> {
    const BEFORE: usize = 200;
    move |random| {
        let (mut made, mut white) = (vec![0.0; 5], vec![0.0; 5]);
        for _ in 0..points + BEFORE {
            white.push(random.normal());
            made.push(filter(&made[made.len() - 5..], &white[white.len() - 6..]));
        }
        made[5 + BEFORE..].iter().map(|x| 0.03 * x).collect()
    }
}

#[test]
fn intervals_hold_the_true_mean_of_ar1_noise_in_93_to_99_per_cent() {
    for (rho, points) in [(0.0, 300), (0.3, 300), (0.6, 300), (0.8, 900), (0.0, 120), (0.9, 3_600)]
    {
        let tally = tally(1, ar1(points, rho, 0.03));
        assert!(tally.answered >= RUNS * 94 / 100, "ρ {rho}, {points} points: {tally:?}");
        assert!((93.0..=99.0).contains(&tally.coverage()), "ρ {rho}, {points} points: {tally:?}");
        assert!(tally.drifting <= RUNS * 5 / 100, "ρ {rho}, {points} points: {tally:?}");
    }
}

#[test]
fn intervals_hold_the_true_mean_of_other_noise() {
    let ar2 = |made: &[f64], white: &[f64]| 0.5 * made[4] + 0.2 * made[3] + white[5];
    let swinging = |made: &[f64], white: &[f64]| 0.9 * made[4] - 0.5 * made[3] + white[5];
    let smooth = |_: &[f64], white: &[f64]| white[1..].iter().sum();
    let rough = |_: &[f64], white: &[f64]| white[5] - 0.5 * white[4];
    let skewed =
        |random: &mut Random| (0..300).map(|_| 0.1 * (random.exponential() - 1.0)).collect();
    let tallies = [
        ("AR(2)", tally(3, filtered(300, ar2))),
        ("swinging AR(2)", tally(3, filtered(300, swinging))),
        ("MA(4)", tally(3, filtered(900, smooth))),
        ("negative MA(1)", tally(3, filtered(300, rough))),
        ("skewed", tally(3, skewed)),
    ];
    for (name, tally) in tallies {
        assert!((93.0..=99.0).contains(&tally.coverage()), "{name}: {tally:?}");
        assert!(tally.drifting <= RUNS * 5 / 100, "{name}: {tally:?}");
    }
}

/// Seconds of which some are far from all others, their mean and the length from which their
/// interval is right in at least 90 %.
type Rare = (&'static str, fn(&mut Random, usize) -> Vec<f64>, usize);

/// Deviations from the mean, as shares of it.
const RARE: [Rare; 7] = [
    ("stalls, noise of 0.5 %", |random, n| stalls(random, n, 0.005), 300),
    ("stalls, noise of 2 %", |random, n| stalls(random, n, 0.02), 300),
    ("stalls, noise of 5 %", |random, n| stalls(random, n, 0.05), 300),
    ("Pareto 1.8", |random, n| pareto(random, n, 1.8), 120),
    ("Pareto 2.1", |random, n| pareto(random, n, 2.1), 120),
    ("lognormal", |random, n| lognormal(random, n, 1.0, 0.0), 120),
    ("sticky lognormal", |random, n| lognormal(random, n, 1.0, 0.6), 300),
];

/// A second in a hundred at 10 % of the others.
fn stalls(random: &mut Random, points: usize, noise: f64) -> Vec<f64> {
    let second = |_| {
        let level = if random.unit() < 0.01 { 0.1 } else { 1.0 };
        level * (1.0 + noise * random.normal()) / 0.991 - 1.0
    };
    (0..points).map(second).collect()
}

fn pareto(random: &mut Random, points: usize, shape: f64) -> Vec<f64> {
    let mean = shape / (shape - 1.0);
    (0..points).map(|_| 0.05 * (random.pareto(shape) - mean)).collect()
}

fn lognormal(random: &mut Random, points: usize, width: f64, rho: f64) -> Vec<f64> {
    let noise = random.ar1(points, rho).into_iter();
    noise.map(|e| (width * e - width * width / 2.0).exp() - 1.0).collect()
}

/// Asserts the coverage of series with rare, large values, and prints it.
fn rare_values_are_covered(runs: usize, seed: u64) {
    for (name, noise, shortest) in RARE {
        for points in [120, 300, 600, 1_200].into_iter().filter(|points| *points >= shortest) {
            let tally = tally_of(runs, seed, |random| noise(random, points));
            println!("{name}, {points} points: {:.1} % of {}", tally.coverage(), tally.answered);
            let chance = 300.0 * (0.1 * 0.9 / size(tally.answered)).sqrt();
            assert!(tally.coverage() >= 90.0 - chance, "{name}, {points} points: {tally:?}");
        }
    }
}

#[test]
fn intervals_hold_the_true_mean_of_rare_and_large_values() {
    rare_values_are_covered(RUNS, 1);
}

#[test]
#[ignore = "half a minute of CPU; prints the figures of docs/steadiness.md"]
fn intervals_hold_the_true_mean_of_rare_and_large_values_in_many() {
    rare_values_are_covered(2_000, crate::random::seed(2));
}

#[test]
fn skewness_moves_both_ends_to_where_the_rare_values_are() {
    let mut one = vec![100.0; 299];
    one.push(10.0);
    one.iter_mut().enumerate().for_each(|(at, x)| *x += f64::from(u8::from(at % 2 == 0)));
    let Interval { low, high } = summarise(&one).interval.unwrap();
    let mean = one.iter().sum::<f64>() / 300.0;
    assert!(mean - low > 3.0 * (high - mean), "{low} to {high} about {mean}");
}

/// Noise of 3 %, half of it slow, under white noise.
fn slow_under_white(points: usize, rho: f64) -> impl Fn(&mut Random) -> Vec<f64> {
    move |random| {
        let slow = random.ar1(points, rho);
        slow.iter().map(|x| 0.03 * (0.5 * x + random.normal())).collect()
    }
}

#[test]
fn a_long_memory_widens_the_interval() {
    for (rho, points, least) in [
        (0.9, 300, 93.0),
        (0.9, 3_600, 93.0),
        (0.97, 300, 89.0),
        (0.97, 600, 92.0),
        (0.97, 1_800, 92.0),
    ] {
        let tally = tally(3, slow_under_white(points, rho));
        assert!(tally.coverage() >= least, "ρ {rho}, {points} points: {tally:?}");
    }
}

#[test]
fn a_long_memory_is_told_and_seldom_where_there_is_none() {
    let told = |noise: &dyn Fn(&mut Random) -> Vec<f64>| {
        let mut random = Random::new(9);
        let told = |_: &usize| {
            let series: Vec<f64> = noise(&mut random).iter().map(|e| LEVEL * (1.0 + e)).collect();
            summarise(&series).memory > MEMORY_MIN
        };
        (0..RUNS).filter(told).count()
    };
    assert!(told(&slow_under_white(900, 0.99)) >= RUNS / 2);
    for rho in [0.0, 0.6] {
        assert!(told(&ar1(600, rho, 0.03)) <= RUNS * 4 / 100, "ρ {rho}");
    }
}

#[test]
fn sticky_series_are_too_short_to_answer() {
    for (rho, points) in [(0.8, 300), (0.9, 300), (0.97, 900), (0.6, 100)] {
        let tally = tally(4, ar1(points, rho, 0.03));
        assert!(tally.too_short >= RUNS * 9 / 10, "ρ {rho}, {points} points: {tally:?}");
    }
}

#[test]
fn a_drift_or_step_of_5_per_cent_is_told() {
    for (share, rho) in [(0.02, 0.0), (0.02, 0.6), (0.03, 0.3)] {
        let slope = |t: usize| 0.05 * (size(t) / 299.0 - 0.5);
        let level = |t: usize| if t < 200 { 0.0 } else { -0.05 };
        for (name, change) in [("drift", &slope as &dyn Fn(usize) -> f64), ("step", &level)] {
            let tally = tally(5, |random| {
                let noise = random.ar1(300, rho).into_iter().enumerate();
                noise.map(|(t, e)| share * e + change(t)).collect()
            });
            assert!(tally.drifting >= RUNS * 95 / 100, "{name}, {share}, ρ {rho}: {tally:?}");
        }
    }
}

#[test]
fn an_exact_drift_is_told_with_its_size() {
    let series: Vec<f64> = (0..301).map(|t| 975.0 + 50.0 * size(t) / 300.0).collect();
    let summary = summarise(&series);
    assert_eq!(summary.verdict, Verdict::Drifting);
    assert!((summary.trend.share.unwrap() - 0.05).abs() < 1e-9);
    let series: Vec<f64> = (0..300).map(|t| if t < 100 { 1_000.0 } else { 900.0 }).collect();
    let summary = summarise(&series);
    assert_eq!((summary.verdict, summary.step.at), (Verdict::Drifting, 100));
}

#[test]
fn a_drift_too_small_to_matter_is_steady() {
    let mut random = Random::new(6);
    let noise = random.ar1(3_600, 0.0).into_iter().enumerate();
    let series: Vec<f64> =
        noise.map(|(t, e)| LEVEL * (1.0 + 0.01 * e + 0.005 * size(t) / 3_600.0)).collect();
    let summary = summarise(&series);
    assert!(summary.trend.p_value < 1e-6);
    assert_eq!(summary.verdict, Verdict::Steady);
}

#[test]
fn a_level_series_is_certain() {
    let summary = summarise(&[42.0; 60]);
    assert_eq!(
        (summary.verdict, summary.interval),
        (Verdict::Steady, Some(Interval::around(42.0, 0.0)))
    );
    assert_eq!(summarise(&[42.0; 30]).verdict, Verdict::TooShort);
}

#[test]
fn the_unit_does_not_matter() {
    let mut random = Random::new(7);
    for _ in 0..50 {
        let series: Vec<f64> = random.ar1(200, 0.4).iter().map(|e| 100.0 + e).collect();
        let other: Vec<f64> = series.iter().map(|x| x * 1024.0).collect();
        let (one, two) = (summarise(&series), summarise(&other));
        assert_eq!((one.verdict, one.lag_1, one.trend), (two.verdict, two.lag_1, two.trend));
        assert_eq!(one.interval.map(|interval| interval.times(1024.0)), two.interval);
    }
}

#[test]
fn no_finite_series_makes_nan_or_infinity() {
    let mut random = Random::new(8);
    let odd = [0.0, -0.0, 1.0, -1.0, f64::MAX, f64::MIN, 5e-324, 1e-300, 1e300, 3.5];
    for length in (0..200).chain([1_000]) {
        let values = 1 + random.below(odd.len());
        let series: Vec<f64> = (0..length).map(|_| odd[random.below(values)]).collect();
        assert_finite(&summarise(&series));
    }
}

#[test]
fn what_is_not_a_number_is_left_out() {
    let mut series = vec![5.0; 100];
    series[50] = f64::NAN;
    series[51] = f64::INFINITY;
    assert_eq!(summarise(&series).points, 98);
}

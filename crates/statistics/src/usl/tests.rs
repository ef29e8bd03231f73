//! Parameters, intervals and verdicts of [`fit`] by simulation.

use super::*;
use crate::numbers::assert_finite;
use crate::random::Random;

fn law(n: f64, [lambda, sigma, kappa]: [f64; 3]) -> f64 {
    lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0))
}

/// `repeats` of every level with normal noise of this share.
fn profile(
    random: &mut Random,
    truth: [f64; 3],
    levels: &[u32],
    repeats: usize,
    noise: f64,
) -> Vec<Point> {
    let points = levels.iter().flat_map(|&users| std::iter::repeat_n(users, repeats));
    points
        .map(|users| Point {
            users,
            throughput: law(f64::from(users), truth) * (1.0 + noise * random.normal()),
        })
        .collect()
}

/// Doubling from 1 to at least four times the peak.
fn levels_past(peak: f64) -> Vec<u32> {
    let mut levels = vec![1];
    while f64::from(*levels.last().unwrap()) < 4.0 * peak {
        levels.push(levels.last().unwrap() * 2);
    }
    levels
}

/// Counts over fits of 1,000 simulated profiles.
#[derive(Debug, Default)]
struct Tally {
    within_a_tenth: usize,
    /// Number of intervals that cover λ, σ, κ, N*, X(N*).
    covered: [usize; 5],
    reached: usize,
}

fn tally(truth: [f64; 3]) -> Tally {
    let mut random = Random::new(41);
    let peak = f64::sqrt((1.0 - truth[1]) / truth[2]);
    let mut tally = Tally::default();
    for _ in 0..1_000 {
        let points = profile(&mut random, truth, &levels_past(peak), 5, 0.03);
        let found = fit(&points).unwrap();
        let Peak::Reached { users, throughput } = found.peak else { continue };
        tally.reached += 1;
        let estimates = [found.usl.lambda, found.usl.sigma, found.usl.kappa, users, throughput];
        let truths = [truth[0], truth[1], truth[2], peak, law(peak, truth)];
        let near = |i: usize| (estimates[i].value / truths[i] - 1.0).abs() <= 0.1;
        tally.within_a_tenth += usize::from((0..5).all(near));
        for i in 0..5 {
            tally.covered[i] += usize::from(estimates[i].interval.unwrap().contains(truths[i]));
        }
    }
    tally
}

#[test]
fn parameters_and_peak_are_found_within_a_tenth_past_four_times_the_peak() {
    // Contention costs at least 0.4 of the work itself at the peak in all of these: lower costs
    // hardly change throughput, and no method can estimate them.
    for (sigma, kappa) in [
        (0.01, 0.0001),
        (0.02, 0.0001),
        (0.02, 0.0005),
        (0.05, 0.0002),
        (0.05, 0.001),
        (0.1, 0.0005),
        (0.1, 0.002),
        (0.2, 0.001),
        (0.3, 0.01),
    ] {
        let tally = tally([100.0, sigma, kappa]);
        let share = |of: usize| size(of) / size(tally.reached);
        // The curve is the law, so that its peak is the one of the levels.
        assert!(tally.reached >= 980, "σ {sigma}, κ {kappa}: {tally:?}");
        assert!(share(tally.within_a_tenth) >= 0.95, "σ {sigma}, κ {kappa}: {tally:?}");
        let held = tally.covered.iter().all(|covered| (0.93..=0.98).contains(&share(*covered)));
        assert!(held, "σ {sigma}, κ {kappa}: {tally:?}");
    }
}

#[test]
fn a_profile_that_stops_before_the_peak_says_so() {
    let mut random = Random::new(42);
    let truth = [100.0, 0.05, 0.001];
    let mut not_reached = 0;
    for _ in 0..200 {
        let points = profile(&mut random, truth, &[1, 2, 4, 8, 16], 5, 0.03);
        let peak = fit(&points).unwrap().peak;
        not_reached += usize::from(matches!(peak, Peak::NotReached { highest: 16, .. }));
    }
    assert!(not_reached >= 198, "{not_reached} of 200");
}

#[test]
fn the_limit_is_told() {
    let mut random = Random::new(43);
    let mut limit =
        |truth, levels: &[u32]| fit(&profile(&mut random, truth, levels, 5, 0.01)).unwrap().limit;
    let levels = [1, 2, 4, 8, 16, 32, 64];
    assert_eq!(limit([50.0, 0.2, 0.0], &levels), ScalabilityLimit::Contention);
    assert_eq!(limit([50.0, 0.0, 0.01], &levels), ScalabilityLimit::Coherency);
    assert_eq!(limit([50.0, 0.001, 0.0], &levels), ScalabilityLimit::NeitherYet);
    assert_eq!(limit([50.0, 0.05, 0.001], &levels[..3]), ScalabilityLimit::NeitherYet);
}

#[test]
fn exact_points_give_exact_parameters() {
    let points: Vec<Point> = [1, 3, 7, 20, 50, 120]
        .map(|users| Point { users, throughput: law(f64::from(users), [321.0, 0.07, 0.0008]) })
        .to_vec();
    let found = fit(&points).unwrap();
    assert!((found.usl.lambda.value / 321.0 - 1.0).abs() < 1e-6);
    assert!((found.usl.sigma.value / 0.07 - 1.0).abs() < 1e-6);
    assert!((found.usl.kappa.value / 0.0008 - 1.0).abs() < 1e-6);
    assert!(found.usl.r_squared.unwrap() > 0.999_999);
    assert!((found.usl.throughput(20.0) / points[3].throughput - 1.0).abs() < 1e-6);
    assert!(found.kappa_p_value.unwrap() < 1e-6);
}

#[test]
fn amdahl_is_as_good_where_kappa_is_0() {
    let mut random = Random::new(44);
    let mut alarms = 0;
    for _ in 0..500 {
        let points = profile(&mut random, [10.0, 0.1, 0.0], &[1, 2, 4, 8, 16, 32, 64], 3, 0.03);
        alarms += usize::from(fit(&points).unwrap().kappa_p_value.unwrap() < 0.05);
    }
    assert!(alarms <= 35, "{alarms} of 500");
}

#[test]
fn a_curve_that_misses_its_levels_is_told_and_less_sure() {
    let points = |repeats: usize| -> Vec<Point> {
        let kinked = [(1, 100.0), (2, 200.0), (4, 400.0), (8, 480.0), (16, 485.0), (32, 490.0)];
        let repeated = kinked.into_iter().flat_map(|point| std::iter::repeat_n(point, repeats));
        let wobble = |i: usize| 1.0 + 0.001 * (size(i % 5) - 2.0);
        repeated
            .enumerate()
            .map(|(i, (users, x))| Point { users, throughput: x * wobble(i) })
            .collect()
    };
    let width = |repeats| {
        let found = fit(&points(repeats)).unwrap();
        assert!(found.misfit_p_value.unwrap() < 0.001);
        found.usl.sigma.interval.unwrap().half_width()
    };
    assert!(width(50) > 0.5 * width(5), "more repeats of a wrong curve do not make it right");
}

#[test]
fn what_cannot_be_fitted_says_why() {
    let point = |(users, throughput): &(u32, f64)| Point { users: *users, throughput: *throughput };
    let error =
        |points: &[(u32, f64)]| fit(&points.iter().map(point).collect::<Vec<_>>()).unwrap_err();
    assert_eq!(error(&[]), UslError::TooFewLevels { levels: 0 });
    assert_eq!(error(&[(4, 1.0); 9]), UslError::TooFewLevels { levels: 1 });
    assert_eq!(error(&[(1, 1.0), (2, 2.0)]), UslError::TooFewLevels { levels: 2 });
    assert_eq!(error(&[(1, 1.0), (2, 0.0)]), UslError::NotPositive { users: 2 });
    assert_eq!(error(&[(1, 1.0), (2, f64::NAN)]), UslError::NotFinite { users: 2 });
    assert_eq!(error(&[(0, 1.0)]), UslError::NoUsers);
}

#[test]
fn a_flat_profile_is_all_contention() {
    let points = [1, 2, 4, 8, 16].map(|users| Point { users, throughput: 70.0 });
    let found = fit(&points).unwrap();
    assert!((found.usl.sigma.value - 1.0).abs() < 1e-6 && found.usl.kappa.value < 1e-6);
    assert_eq!(found.limit, ScalabilityLimit::Contention);
    assert_finite(&found);
}

#[test]
fn the_unit_and_the_order_do_not_matter() {
    let mut random = Random::new(45);
    for _ in 0..50 {
        let points = profile(&mut random, [10.0, 0.05, 0.001], &[1, 4, 16, 64, 200], 3, 0.03);
        let one = fit(&points).unwrap();
        let mut minutes: Vec<Point> = points.clone();
        minutes.iter_mut().for_each(|point| point.throughput *= 60.0);
        minutes.reverse();
        let two = fit(&minutes).unwrap();
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-4;
        assert!(near(one.usl.sigma.value, two.usl.sigma.value));
        assert!(near(one.usl.kappa.value, two.usl.kappa.value));
        assert!(near(60.0 * one.usl.lambda.value, two.usl.lambda.value));
        assert_eq!(one.limit, two.limit);
    }
}

#[test]
fn no_finite_profile_makes_nan_or_infinity() {
    let mut random = Random::new(46);
    let odd = [1.0, 5e-324, f64::MAX, 1e-300, 1e300, 2.0, 3.0];
    let levels = [1, 2, 3, 10, 1_000, u32::MAX];
    for _ in 0..500 {
        let count = 3 + random.below(12);
        let kinds = 1 + random.below(odd.len());
        let points: Vec<Point> = (0..count)
            .map(|_| Point {
                users: levels[random.below(levels.len())],
                throughput: odd[random.below(kinds)],
            })
            .collect();
        if let Ok(found) = fit(&points) {
            assert_finite(&found);
        }
    }
}

/// Throughput of `workers` that serve one user each, at `each` per second.
fn saturating(users: u32, workers: u32, each: f64) -> f64 {
    f64::from(users.min(workers)) * each
}

#[test]
fn a_server_that_saturates_has_no_peak() {
    let mut random = Random::new(47);
    for (repeats, noise) in [(1, 0.0), (3, 0.0), (3, 0.001), (3, 0.01), (2, 0.02), (1, 0.01)] {
        let mut peaks = 0;
        for _ in 0..200 {
            let levels = [1, 2, 3, 4, 5, 6, 8, 16, 32, 64];
            let points: Vec<Point> = levels
                .iter()
                .flat_map(|&users| std::iter::repeat_n(users, repeats))
                .map(|users| Point {
                    users,
                    throughput: saturating(users, 4, 50.0) * (1.0 + noise * random.normal()),
                })
                .collect();
            let found = fit(&points).unwrap();
            assert_finite(&found);
            match found.peak {
                Peak::Saturated { users, throughput, highest: 64 } => {
                    assert!((4..=6).contains(&users), "{users}");
                    assert!((throughput / 200.0 - 1.0).abs() < 0.02, "{throughput}");
                }
                Peak::NotReached { .. } if noise > 0.0 => {}
                Peak::Reached { .. } | Peak::BestLevels { .. } if noise > 0.0 => peaks += 1,
                other => panic!("{repeats} repeats, noise {noise}: {other:?}"),
            }
        }
        assert!(peaks <= 2, "{peaks} of 200 with {repeats} repeats and noise {noise}");
    }
}

#[test]
fn repeats_that_are_the_same_do_not_switch_the_misfit_off() {
    let points = [1, 2, 4, 8, 16, 32].into_iter().flat_map(|users| {
        std::iter::repeat_n(Point { users, throughput: saturating(users, 4, 50.0) }, 3)
    });
    let found = fit(&points.collect::<Vec<_>>()).unwrap();
    assert!(found.misfit_p_value.unwrap() < 1e-6, "{:?}", found.misfit_p_value);
    let exact = [1, 2, 4, 8, 16, 32].into_iter().flat_map(|users| {
        let throughput = law(f64::from(users), [50.0, 0.1, 0.001]);
        std::iter::repeat_n(Point { users, throughput }, 3)
    });
    let found = fit(&exact.collect::<Vec<_>>()).unwrap();
    assert!(found.misfit_p_value.unwrap() > 0.5, "{:?}", found.misfit_p_value);
}

/// What a case of levels and their true throughput shows, over many simulated profiles: shares of
/// peaks by kind, and of best levels that include the true one.
#[derive(Debug, Default)]
struct SimulationShares {
    reached: f64,
    best_levels: f64,
    including: f64,
    declines: f64,
    other: f64,
}

fn shown(
    truth: &[(u32, f64)],
    repeats: usize,
    noise: f64,
    profiles: usize,
    seed: u64,
) -> SimulationShares {
    let mut random = Random::new(seed);
    let mut found = SimulationShares::default();
    let best = truth.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a }).unwrap();
    for _ in 0..profiles {
        let mut points = Vec::new();
        let mut own = Vec::new();
        for &(users, throughput) in truth.iter().flat_map(|t| std::iter::repeat_n(t, repeats)) {
            let throughput = throughput * (1.0 + noise * random.normal());
            points.push(Point { users, throughput });
            own.push(Some(Interval { low: throughput * 0.99, high: throughput * 1.01 }));
        }
        let share = 1.0 / size(profiles);
        match fit_runs(&points, &own).unwrap().peak {
            Peak::Reached { .. } => found.reached += share,
            Peak::BestLevels { lowest, highest, .. } => {
                found.best_levels += share;
                if (lowest..=highest).contains(&best.0) {
                    found.including += share;
                }
            }
            Peak::Saturated { .. } | Peak::NotReached { .. } => found.other += share,
        }
    }
    found.declines = found.reached + found.best_levels;
    found
}

/// Linear up to 8, nearly flat to 16, then falling.
const KINKED: [(u32, f64); 8] = [
    (1, 100.0),
    (2, 200.0),
    (4, 400.0),
    (8, 790.0),
    (16, 800.0),
    (32, 650.0),
    (64, 500.0),
    (128, 350.0),
];
/// A fall by two thirds above the best.
const FALLEN: [(u32, f64); 6] =
    [(1, 100.0), (2, 195.0), (4, 380.0), (8, 700.0), (16, 900.0), (32, 300.0)];
/// One level in the middle is lower, for whatever reason.
const DIPPED: [(u32, f64); 7] =
    [(1, 100.0), (2, 200.0), (4, 400.0), (8, 800.0), (16, 640.0), (32, 800.0), (64, 800.0)];

fn peaks_of_levels(profiles: usize, seed: u64) {
    for (repeats, noise) in [(1, 0.01), (1, 0.03), (2, 0.02), (3, 0.01), (3, 0.03), (5, 0.03)] {
        let kinked = shown(&KINKED, repeats, noise, profiles, seed);
        let case = format!("{repeats} repeats, noise {noise}, seed {seed}");
        assert!(kinked.declines >= 0.95 && kinked.reached <= 0.05, "{case}: {kinked:?}");
        assert!(kinked.including >= 0.95 * kinked.best_levels, "{case}: {kinked:?}");
        let fallen = shown(&FALLEN, repeats, noise, profiles, seed);
        assert!(fallen.declines >= 0.95, "{case}: {fallen:?}");
        let dipped = shown(&DIPPED, repeats, noise, profiles, seed);
        assert!(dipped.declines <= 0.05, "{case}: {dipped:?}");
    }
}

#[test]
fn levels_show_a_peak_that_the_curve_does_not() {
    peaks_of_levels(200, 48);
}

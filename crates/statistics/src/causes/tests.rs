//! Coverage and false alarms of [`changes`] and [`lowest`] by simulation, through the functions that
//! the command uses.

use super::*;
use crate::numbers::assert_finite;

const RUNS: usize = 500;

/// A side with one cause: correlated noise in transactions and in the cost of each.
struct SimulatedSide {
    seconds: usize,
    rho: f64,
    /// Session time per transaction, in seconds.
    cost: f64,
    noise: Noise,
}

/// Makes the noise of a series from its length and the correlation of neighbours.
type Noise = fn(&mut Random, usize, f64) -> Vec<f64>;

fn normal(random: &mut Random, seconds: usize, rho: f64) -> Vec<f64> {
    random.ar1(seconds, rho)
}

fn skewed(random: &mut Random, seconds: usize, _: f64) -> Vec<f64> {
    (0..seconds).map(|_| random.exponential() - 1.0).collect()
}

impl SimulatedSide {
    fn side(&self, random: &mut Random) -> Side {
        let mut noise = |share: f64| -> Vec<f64> {
            let noise = (self.noise)(random, self.seconds, self.rho);
            noise.into_iter().map(|e| (1.0 + share * e).max(0.0)).collect()
        };
        let transactions: Vec<f64> = noise(0.1).into_iter().map(|e| 1_000.0 * e).collect();
        let sessions = transactions.iter().zip(noise(0.3));
        let causes = vec![sessions.map(|(t, e)| t * self.cost * e).collect()];
        Side { transactions, causes }
    }
}

/// Percentages of intervals that cover the true change, and that exclude 0.
fn simulated(here: &SimulatedSide, rest: &SimulatedSide) -> [f64; 2] {
    let mut random = Random::new(7);
    let (mut covered, mut certain) = (0, 0);
    for _ in 0..RUNS {
        let found = changes(&here.side(&mut random), Some(&rest.side(&mut random))).unwrap()[0];
        let interval = found.change_interval.unwrap();
        covered += usize::from(interval.contains(here.cost - rest.cost));
        certain += usize::from(found.is_certain());
        assert_finite(&found);
    }
    [covered, certain].map(|count| 100.0 * size(count) / size(RUNS))
}

#[test]
fn intervals_cover_the_true_change() {
    let noises: [(Noise, &[f64], [f64; 2]); 2] =
        [(normal, &[0.0, 0.3, 0.6], [92.0, 8.0]), (skewed, &[0.0], [88.0, 12.0])];
    for (noise, correlations, [least, most]) in noises {
        for (here_s, rest_s) in [(5, 60), (10, 60), (30, 300), (60, 60), (300, 300)] {
            for rho in correlations {
                let made = |seconds, cost| SimulatedSide { seconds, rho: *rho, cost, noise };
                let [covered, _] = simulated(&made(here_s, 0.004), &made(rest_s, 0.002));
                let [_, alarms] = simulated(&made(here_s, 0.002), &made(rest_s, 0.002));
                let case = format!("{here_s} and {rest_s} s, ρ {rho}: {covered} %, {alarms} %");
                assert!(covered >= least && alarms <= most, "{case}");
            }
        }
    }
}

#[test]
fn a_doubled_cost_is_certain_after_ten_seconds() {
    let made = |seconds, cost| SimulatedSide { seconds, rho: 0.3, cost, noise: normal };
    let [_, certain] = simulated(&made(10, 0.004), &made(60, 0.002));
    assert!(certain >= 75.0, "{certain}");
}

fn side(transactions: &[f64], causes: &[&[f64]]) -> Side {
    let causes = causes.iter().map(|cause| cause.to_vec()).collect();
    Side { transactions: transactions.to_vec(), causes }
}

#[test]
fn the_greatest_change_is_first_and_units_are_seconds_per_transaction() {
    let rest = side(&[1_000.0; 30], &[&[2.0; 30], &[1.0; 30], &[0.5; 30]]);
    let here = side(&[500.0; 10], &[&[1.0; 10], &[8.0; 10], &[0.05; 10]]);
    let found = changes(&here, Some(&rest)).unwrap();
    let order: Vec<usize> = found.iter().map(|of| of.cause).collect();
    assert_eq!(order, [1, 2, 0], "the second grew, the third shrank, the first costs the same");
    assert_eq!(found[0].here, Some(0.016));
    assert_eq!(found[0].rest, 0.001);
    assert!((found[0].change.unwrap() - 0.015).abs() < 1e-12);
    assert!((found[0].excess - 7.5).abs() < 1e-12, "half the transactions need 0.5 sessions");
    assert!(found[0].is_certain() && found[1].is_certain() && !found[2].is_certain());
    assert!(found[1].change.unwrap() < 0.0);
}

#[test]
fn a_stretch_without_transactions_has_sessions_and_no_cost_per_transaction() {
    let rest = side(&[1_000.0; 30], &[&[2.0; 30], &[0.0; 30]]);
    let here = side(&[0.0; 6], &[&[0.0; 6], &[4.0; 6]]);
    let found = changes(&here, Some(&rest)).unwrap();
    assert_eq!((found[0].cause, found[0].excess), (1, 4.0));
    assert_eq!((found[0].here, found[0].change, found[0].change_interval), (None, None, None));
    assert!(found[0].is_certain());
    assert_finite(&found);
}

#[test]
fn a_stall_is_certain_beside_a_few_seconds_of_a_trend() {
    // A lock was held through the stretch and a second of the rest; the throughput fell slowly.
    let transactions: Vec<f64> =
        (0..11).map(|at| if at == 5 { 20.0 } else { 660.0 - 20.0 * f64::from(at) }).collect();
    let locked: Vec<f64> = (0..11).map(|at| if at == 5 { 4.0 } else { 0.0 }).collect();
    let rest = side(&transactions, &[&[3.0; 11], &locked]);
    for committed in [0.0, 2.0] {
        let here = side(&[committed; 5], &[&[0.0; 5], &[4.0; 5]]);
        let found = changes(&here, Some(&rest)).unwrap();
        assert_eq!(found[0].cause, 1);
        assert!(found[0].is_certain(), "{found:?}");
    }
}

#[test]
fn without_a_rest_the_causes_themselves_are_ordered() {
    let whole = side(&[100.0; 20], &[&[1.0; 20], &[3.0; 20]]);
    let found = changes(&whole, None).unwrap();
    assert_eq!((found[0].cause, found[0].change, found[0].rest), (1, Some(0.03), 0.0));
}

#[test]
fn too_few_seconds_and_a_rest_without_transactions_have_no_answer() {
    let long = side(&[1.0; 20], &[&[1.0; 20]]);
    assert_eq!(changes(&side(&[1.0; 4], &[&[1.0; 4]]), Some(&long)), None);
    assert_eq!(changes(&long, Some(&side(&[1.0; 4], &[&[1.0; 4]]))), None);
    assert_eq!(changes(&long, Some(&side(&[0.0; 20], &[&[1.0; 20]]))), None);
}

#[test]
fn a_drop_is_found_with_its_bounds() {
    let mut random = Random::new(5);
    for (from, to) in [(20, 26), (0, 10), (40, 60)] {
        let noise = random.ar1(60, 0.3).into_iter().enumerate();
        let level = |at: usize| if (from..to).contains(&at) { 600.0 } else { 1_000.0 };
        let series: Vec<f64> = noise.map(|(at, e)| level(at) + 30.0 * e).collect();
        let found = lowest(&series).unwrap();
        assert!(found.start.abs_diff(from) <= 2 && found.end.abs_diff(to) <= 2, "{found:?}");
    }
    let mut exact = vec![100.0; 40];
    exact[10..16].fill(0.0);
    assert_eq!(lowest(&exact), Some(10..16));
    assert_eq!(lowest(&[100.0; 40]), None);
    // A short, noisy run that stalls for some seconds.
    let mut stalled: Vec<f64> = (0..22_u8).map(|at| 450.0 + 190.0 * f64::from(at % 2)).collect();
    stalled[9] = 260.0;
    stalled[10..16].fill(9.0);
    stalled[16] = 130.0;
    assert_eq!(lowest(&stalled), Some(10..16));
    assert_eq!(lowest(&[100.0; 10]), None);
}

#[test]
fn a_stall_is_found_as_soon_as_stretch_and_rest_are_long_enough() {
    for (points, stalled) in [(10, 3..8), (12, 0..6), (19, 9..14)] {
        let mut series = vec![100.0; points];
        series[stalled.clone()].fill(2.0);
        assert_eq!(lowest(&series), Some(stalled.clone()), "{points} points");
        series[stalled.clone()].fill(60.0);
        assert_eq!(lowest(&series), None, "{points} points: a drop needs more of them");
        series[stalled.clone()].fill(2.0);
        series[stalled.start + 1] = 100.0;
        assert_eq!(lowest(&series), None, "{points} points: too short");
    }
    let mut short = [100.0; 9];
    short[..5].fill(0.0);
    assert_eq!(lowest(&short), None);
}

/// Makes seconds of a side without any change.
type Heavy = fn(&mut Random, usize) -> Vec<f64>;

/// Noise with heavy tails, as factors of a cost or of a level.
const HEAVY: [(&str, Heavy); 6] = [
    ("exponential", |random, n| (0..n).map(|_| random.exponential()).collect()),
    ("lognormal", |random, n| random.ar1(n, 0.3).iter().map(|e| e.exp()).collect()),
    ("wide lognormal", |random, n| random.ar1(n, 0.0).iter().map(|e| (1.5 * e).exp()).collect()),
    ("Pareto", |random, n| (0..n).map(|_| random.pareto(1.5)).collect()),
    ("often 0", |random, n| (0..n).map(|_| rarely(random, 0.1, 10.0, 0.0)).collect()),
    ("spikes", |random, n| (0..n).map(|_| rarely(random, 0.03, 30.0, 0.3)).collect()),
];

/// An exponential number about `high` with this probability, and otherwise `usual`.
fn rarely(random: &mut Random, share: f64, high: f64, usual: f64) -> f64 {
    if random.unit() < share { high * random.exponential() } else { usual }
}

/// Percentage of stretches for which one of `causes` is called changed, of none that did.
fn false_alarms(noise: Heavy, [here, rest]: [usize; 2], causes: usize, runs: usize) -> f64 {
    let mut random = Random::new(crate::random::seed(17));
    let mut side = |seconds: usize| {
        let level = random.ar1(seconds, 0.3).into_iter();
        let transactions: Vec<f64> = level.map(|e| 1_000.0 * (1.0 + 0.1 * e).max(0.05)).collect();
        let mut cause = || -> Vec<f64> {
            let costs = noise(&mut random, seconds).into_iter();
            costs.zip(&transactions).map(|(cost, t)| 0.002 * cost * t).collect()
        };
        let causes = (0..causes).map(|_| cause()).collect();
        Side { transactions, causes }
    };
    let mut one = || {
        let (here, rest) = (side(here), side(rest));
        changes(&here, Some(&rest)).unwrap().iter().any(Change::is_certain)
    };
    let found = (0..runs).filter(|_| one()).count();
    100.0 * size(found) / size(runs)
}

/// The percentage itself, and what chance adds to it in so many runs.
fn at_most(percentage: f64, runs: usize) -> f64 {
    percentage + 3.0 * (percentage * (100.0 - percentage) / size(runs)).sqrt()
}

fn nothing_is_named(runs: usize) {
    for (name, noise) in HEAVY {
        for seconds in [[5, 60], [10, 60], [10, 300], [60, 300]] {
            for causes in [1, 10] {
                let found = false_alarms(noise, seconds, causes, runs);
                let seen = format!("{name}, {seconds:?} s, {causes} causes: {found:.1} %");
                println!("{seen}");
                assert!(found <= at_most(8.0, runs), "{seen}");
            }
        }
    }
}

#[test]
fn heavy_noise_names_no_cause() {
    nothing_is_named(25);
}

#[test]
#[ignore = "ten minutes of CPU; prints the figures of docs/why.md"]
fn heavy_noise_names_no_cause_in_many() {
    nothing_is_named(2_000);
}

/// Steady series of a mean of about 1,000, and the highest share in which a drop is found, in
/// percent.
const STEADY: [(&str, Heavy, f64); 12] = [
    ("normal", |random, n| level(random.ar1(n, 0.6), |e| 0.3 * e), 5.0),
    ("lognormal", |random, n| level(random.ar1(n, 0.3), |e| e.exp() - 1.0), 10.0),
    ("wide lognormal", |random, n| level(random.ar1(n, 0.0), |e| (1.5 * e).exp() - 1.0), 10.0),
    ("sticky lognormal", |random, n| level(random.ar1(n, 0.6), |e| e.exp() - 1.0), 10.0),
    ("cubed", |random, n| level(random.ar1(n, 0.3), |e| 0.05 * e.powi(3)), 10.0),
    ("Pareto bursts", |random, n| (0..n).map(|_| 1_000.0 * random.pareto(1.5)).collect(), 10.0),
    ("Pareto losses", |random, n| (0..n).map(|_| loss(random, 1.5)).collect(), 10.0),
    ("tamer Pareto losses", |random, n| (0..n).map(|_| loss(random, 2.1)).collect(), 10.0),
    ("Student's t", |random, n| (0..n).map(|_| student(random, 3)).collect(), 10.0),
    ("wild Student's t", |random, n| (0..n).map(|_| student(random, 2)).collect(), 10.0),
    ("stalls in 1 %", |random, n| (0..n).map(|_| stalls(random, 0.01)).collect(), 10.0),
    ("stalls in 3 %", |random, n| (0..n).map(|_| stalls(random, 0.03)).collect(), 10.0),
];

fn level(noise: Vec<f64>, of: impl Fn(f64) -> f64) -> Vec<f64> {
    noise.into_iter().map(|e| (1_000.0 * (1.0 + of(e))).max(0.0)).collect()
}

fn loss(random: &mut Random, shape: f64) -> f64 {
    (1_000.0 * (1.0 - 0.05 * random.pareto(shape))).max(0.0)
}

fn student(random: &mut Random, freedom: usize) -> f64 {
    let squares: f64 = (0..freedom).map(|_| random.normal().powi(2)).sum();
    (1_000.0 * (1.0 + 0.1 * random.normal() / (squares / size(freedom)).sqrt())).max(0.0)
}

fn stalls(random: &mut Random, share: f64) -> f64 {
    let level = if random.unit() < share { 100.0 } else { 1_000.0 };
    level * (1.0 + 0.02 * random.normal())
}

/// Asserts how often a drop is found by mistake, and prints it.
fn no_drop(lengths: &[(usize, usize)]) {
    let mut random = Random::new(crate::random::seed(23));
    for (name, make, most) in STEADY {
        for &(points, runs) in lengths {
            let found = (0..runs).filter(|_| lowest(&make(&mut random, points)).is_some()).count();
            let share = 100.0 * size(found) / size(runs);
            println!("{name}, {points} points: {share:.1} %");
            assert!(share <= at_most(most, runs), "{name}, {points} points: {share} %");
        }
    }
}

#[test]
fn heavy_tails_are_no_drop() {
    no_drop(&[(20, 200), (60, 200), (300, 100)]);
}

#[test]
#[ignore = "a minute of CPU; prints the figures of docs/why.md"]
fn heavy_tails_are_no_drop_in_many() {
    no_drop(&[(20, 2_000), (60, 2_000), (300, 2_000), (1_200, 200)]);
}

#[test]
fn drops_of_five_to_ten_seconds_are_found() {
    let mut random = Random::new(29);
    for seconds in [5, 7, 10] {
        for (left, noise) in [(0.7, 0.05), (0.5, 0.1), (0.8, 0.03), (0.6, 0.1)] {
            let found = (0..100).filter(|_| {
                let from = random.below(300 - seconds);
                let made = random.ar1(300, 0.3).into_iter().enumerate();
                let inside = from..from + seconds;
                let of = |at: usize| if inside.contains(&at) { left } else { 1.0 };
                let series: Vec<f64> =
                    made.map(|(at, e)| 1_000.0 * of(at) * (1.0 + noise * e)).collect();
                lowest(&series).is_some_and(|at| at.start < inside.end && inside.start < at.end)
            });
            assert!(found.count() >= 99, "{seconds} s at {left}, noise {noise}");
        }
    }
}

#[test]
fn steady_series_have_no_drop() {
    let mut random = Random::new(3);
    for (points, runs) in [(20, RUNS), (60, RUNS), (300, RUNS), (1_800, 50), (10, RUNS)] {
        for rho in [0.0, 0.3, 0.6, 0.8] {
            let found = (0..runs).filter(|_| {
                let noise = random.ar1(points, rho);
                let series: Vec<f64> = noise.iter().map(|e| 1_000.0 * (1.0 + 0.3 * e)).collect();
                lowest(&series).is_some()
            });
            let share = 100.0 * size(found.count()) / size(runs);
            assert!(share <= 5.0, "ρ {rho}, {points} points: {share} %");
        }
    }
}

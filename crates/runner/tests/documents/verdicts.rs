//! Rates of false and of right verdicts of comparisons, on simulated hosts, through the question
//! that `compare --ab` asks and the documents that it prints.
//!
//! The suite makes a few comparisons of each kind. The rates that docs/compare.md states come from
//! many:
//!
//! ```text
//! TRIPHAMMER_SIMULATIONS=2000 TRIPHAMMER_SEED=7 cargo test -p triphammer-runner --test documents \
//!     -- --ignored --nocapture verdicts
//! ```
#![expect(clippy::print_stdout, reason = "the rates are what the simulation is for")]

use std::f64::consts::TAU;

use triphammer_core::random::Rng;
use triphammer_document::compare::{ComparisonResult, Demand, Figure, Profiled, Run};
use triphammer_document::history::HistoryResult;
use triphammer_document::parts::Status;
use triphammer_document::profile::{LevelRun, LevelUnit, Order, ProfileResult};
use triphammer_document::redacted::Redacted;
use triphammer_document::result::RunResult;
use triphammer_report as report;
use triphammer_report::{Charset, Report as _, Style};
use triphammer_runner::campaign::Question;
use triphammer_runner::compare::{PAIRS_OF_LEVEL, Pairs, PairsRequest};
use triphammer_runner::history::{HistorySelection, history};
use triphammer_statistics::Interval;
use triphammer_statistics::compare::Verdict;
use triphammer_statistics::usl::Peak;
use triphammer_store::{JobHeader, Store};

use crate::sample;

/// A number of simulations or a seed, from the environment.
pub(crate) fn asked(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// A standard normal number (Box and Muller 1958).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    (2.0 * rng.exponential(1.0)).sqrt() * (TAU * rng.unit()).cos()
}

/// Calls these for every simulation with its own random numbers, and returns the share of true.
fn share(simulations: u64, seed: u64, mut one: impl FnMut(&mut Rng) -> bool) -> f64 {
    let held = (0..simulations).filter(|&number| one(&mut Rng::of(seed, &[number]))).count();
    held as f64 / simulations as f64
}

pub(crate) fn request(levels: Option<&[u32]>, pairs: u32, seed: u64) -> PairsRequest {
    let names = ["null:a", "null:b"].map(str::to_owned);
    PairsRequest {
        pairs,
        levels: levels.map(|levels| (LevelUnit::Users, levels.to_vec())),
        seed,
        margin: 0.02,
        cool_down_s: 10.0,
        names: names.clone(),
        targets: names,
        own: [Vec::new(), Vec::new()],
        demand: Demand::default(),
        at_once: None,
        proof: None,
    }
}

/// A comparison to its end: the throughput of each run is the sample's, times what the step, its
/// side and its level give.
fn compare(
    sample: &RunResult,
    request: PairsRequest,
    mut factor: impl FnMut(u32, bool, u32) -> f64,
) -> ComparisonResult {
    let mut pairs = Pairs::new(request, None);
    while let Some(step) = pairs.next() {
        let level = step.settings.iter().find(|(name, _)| name == "vus");
        let level = level.map_or(0, |(_, users)| users.value().unwrap());
        let mut result = sample.clone();
        result.primary_metric.value *= factor(step.number, step.target == 1, level);
        pairs.report_result(&step, &result);
    }
    pairs.result(None, Status::Complete).unwrap()
}

/// A run with little in it: what is compared is its throughput.
pub(crate) fn sample() -> RunResult {
    let mut result = RunResult::new(&sample::facts(), &sample::calm());
    result.window.types.clear();
    result.slices.clear();
    result
}

pub(crate) fn is_false(found: &ComparisonResult) -> bool {
    matches!(found.verdict, Verdict::Slower | Verdict::Faster)
}

/// How a host's speed varies from run to run.
#[derive(Clone, Copy, Debug)]
enum Host {
    /// A wave with this period in runs.
    Wave(f64),
    /// Two speeds in turn, each for this many runs.
    Square(u32),
    /// The same speed, whatever it was before.
    Calm,
    /// Slower from run to run, by 0.5 %.
    Drift,
    /// Two speeds, with a chance of 10 % to switch from run to run.
    Sticky,
}

impl Host {
    const ALL: [Self; 9] = [
        Self::Wave(2.0),
        Self::Wave(3.0),
        Self::Wave(4.0),
        Self::Wave(8.0),
        Self::Square(1),
        Self::Square(2),
        Self::Calm,
        Self::Drift,
        Self::Sticky,
    ];

    /// Speeds of this many runs, 5 % apart.
    fn speeds(self, rng: &mut Rng, runs: usize) -> Vec<f64> {
        let phase = rng.unit();
        let mut slow = phase < 0.5;
        let offset = usize::try_from(rng.below(4)).unwrap();
        let speed = |at: usize| match self {
            Self::Wave(period) => 1.0 + 0.05 * (TAU * (at as f64 / period + phase)).sin(),
            Self::Square(runs) => {
                1.0 - 0.05 * f64::from(u32::try_from(at + offset).unwrap() / runs % 2)
            }
            Self::Calm => 1.0,
            Self::Drift => 1.0 - 0.005 * at as f64,
            Self::Sticky => {
                slow ^= rng.unit() < 0.1;
                if slow { 0.95 } else { 1.0 }
            }
        };
        (0..runs).map(speed).collect()
    }
}

/// A against A in seven pairs, and B 5 % slower, with 1 % of noise.
fn of_pairs(hosts: &[Host], simulations: u64, seed: u64) {
    let sample = sample();
    for &host in hosts {
        let verdict = |ratio: f64, wanted: fn(&ComparisonResult) -> bool| {
            share(simulations, seed, |rng| {
                let speeds = host.speeds(rng, 14);
                let request = request(None, 7, rng.bits());
                let found = compare(&sample, request, |step, is_b, _| {
                    let side = if is_b { ratio } else { 1.0 };
                    side * speeds[step as usize] * (1.0 + 0.01 * normal(rng))
                });
                wanted(&found)
            })
        };
        let (alarms, found) = (verdict(1.0, is_false), verdict(0.9, ComparisonResult::is_slower));
        println!(
            "{host:?}, seed {seed}: false {:.1} %, 10 % {:.1} %",
            alarms * 100.0,
            found * 100.0
        );
        assert!(alarms <= 0.05 + allowance(simulations), "{host:?}, seed {seed}: {alarms}");
        assert!(found >= 0.8, "{host:?}, seed {seed}: {found}");
    }
}

/// Two standard errors of a share of 5 %.
pub(crate) fn allowance(simulations: u64) -> f64 {
    2.0 * (0.05 * 0.95 / simulations as f64).sqrt()
}

#[test]
fn a_host_with_a_period_does_not_look_like_a_difference() {
    of_pairs(&[Host::Wave(4.0), Host::Square(2)], 60, 1);
}

#[test]
#[ignore = "minutes: the rates that the documentation states"]
fn verdicts_of_pairs_in_many_simulations() {
    let (simulations, seed) = (asked("TRIPHAMMER_SIMULATIONS", 2_000), asked("TRIPHAMMER_SEED", 1));
    of_pairs(&Host::ALL, simulations, seed);
}

const LEVELS: [u32; 5] = [1, 2, 4, 8, 16];

/// Levels of A and B in pairs, on hosts whose speed also differs from day to day: false verdicts,
/// verdicts where one level loses 30 %, and how often that level, and no other, is named.
fn of_levels(hosts: &[Host], simulations: u64, seed: u64) {
    let sample = sample();
    for &host in hosts {
        let run = |rng: &mut Rng, loss: f64| {
            let speeds = host.speeds(rng, 2 * 4 * LEVELS.len());
            let day = 1.0 + 0.01 * normal(rng);
            let request = request(Some(&LEVELS), 4, rng.bits());
            compare(&sample, request, |step, is_b, level| {
                let side = if is_b && level == 8 { 1.0 - loss } else { 1.0 };
                day * side * f64::from(level) * speeds[step as usize] * (1.0 + 0.01 * normal(rng))
            })
        };
        let alarms = share(simulations, seed, |rng| is_false(&run(rng, 0.0)));
        let found = share(simulations, seed, |rng| {
            let found = run(rng, 0.3);
            found.is_slower() && found.words.contains("at 8 virtual users 0.")
        });
        println!(
            "levels, {host:?}, seed {seed}: false {:.1} %, 30 % at a level {:.1} %",
            alarms * 100.0,
            found * 100.0
        );
        assert!(alarms <= 0.05 + allowance(simulations), "{host:?}, seed {seed}: {alarms}");
        assert!(found >= 0.9, "{host:?}, seed {seed}: {found}");
    }
}

#[test]
fn a_loss_at_one_level_is_found_and_named() {
    of_levels(&[Host::Sticky], 30, 1);
}

#[test]
#[ignore = "minutes: the rates that the documentation states"]
fn verdicts_of_levels_in_many_simulations() {
    let (simulations, seed) = (asked("TRIPHAMMER_SIMULATIONS", 2_000), asked("TRIPHAMMER_SEED", 1));
    of_levels(&Host::ALL, simulations, seed);
}

/// How far the speeds of two days are apart: all levels of a series that is made on a day share it.
const DAYS: [f64; 2] = [0.01, 0.05];

/// Shares of comparisons at several levels.
#[derive(Debug, Default)]
struct OfLevels {
    /// Verdicts of a difference, where there is none.
    alarms: f64,
    /// Comparisons whose intervals, of the levels and of all of them, all contain the true ratio.
    held: f64,
    /// Intervals that contain it.
    held_each: f64,
    /// Verdicts that a level which lost 30 % is slower, with the name of the level.
    found: f64,
}

/// Whether the intervals of the levels, and of all of them, contain the true ratios.
fn holds(found: &ComparisonResult, ratio: impl Fn(u32) -> f64) -> Vec<bool> {
    let levels = &found.profiles.as_ref().unwrap().levels;
    let product: f64 = levels.iter().map(|level| ratio(level.users)).product();
    let all = (&found.figures[0], product.powf(1.0 / levels.len() as f64));
    let each = levels.iter().map(|level| (&level.figure, ratio(level.users)));
    let holds = |(figure, truth): (&Figure, f64)| {
        figure.comparison.is_some_and(|comparison| comparison.interval.contains(truth))
    };
    each.chain([all]).map(holds).collect()
}

/// Levels of A and B in pairs, with this noise from run to run. The first block is made on one day,
/// and each further one on another.
fn of_days(day: f64, noise: f64, levels: &[u32], (simulations, seed): (u64, u64)) -> OfLevels {
    let sample = sample();
    let mut rates = OfLevels::default();
    for number in 0..simulations {
        let rng = &mut Rng::of(seed, &[number]);
        for loss in [0.0, 0.3] {
            let ratio = |level: u32| if level == 8 { 1.0 - loss } else { 1.0 };
            let days: Vec<f64> = (0..PAIRS_OF_LEVEL).map(|_| (day * normal(rng)).exp()).collect();
            let request = request(Some(levels), PAIRS_OF_LEVEL, rng.bits());
            let found = compare(&sample, request, |step, is_b, level| {
                let of_day = days[step as usize / (2 * levels.len())];
                let side = if is_b { ratio(level) } else { 1.0 };
                of_day * side * f64::from(level) * (noise * normal(rng)).exp()
            });
            let held = holds(&found, ratio);
            let one = 0.5 / simulations as f64;
            let share = held.iter().filter(|held| **held).count() as f64 / held.len() as f64;
            rates.held += if held.iter().all(|held| *held) { one } else { 0.0 };
            rates.held_each += one * share;
            let is_found = found.is_slower() && found.words.contains("at 8 virtual users 0.");
            match loss > 0.0 {
                true => rates.found += if is_found { 2.0 * one } else { 0.0 },
                false => rates.alarms += if is_false(&found) { 2.0 * one } else { 0.0 },
            }
        }
    }
    rates
}

fn of_all_days(noises: &[f64], simulations: u64, seed: u64) {
    for day in DAYS {
        for &noise in noises {
            for levels in [LEVELS.as_slice(), &[1, 2, 4, 8, 16, 32, 64, 128]] {
                let rates = of_days(day, noise, levels, (simulations, seed));
                let case =
                    format!("day {day}, noise {noise}, {} levels, seed {seed}", levels.len());
                println!("{case}: {rates:.3?}");
                let allowance = allowance(simulations);
                assert!(rates.alarms <= 0.05 + allowance, "{case}: {rates:?}");
                assert!(rates.held >= 0.95 - allowance, "{case}: {rates:?}");
                assert!(rates.held_each >= 0.95, "{case}: {rates:?}");
                assert!(rates.found >= 0.9, "{case}: {rates:?}");
            }
        }
    }
}

#[test]
fn levels_measured_at_the_same_time_do_not_depend_on_the_day() {
    of_all_days(&[0.01], 25, 1);
}

#[test]
#[ignore = "minutes: the rates that the documentation states"]
fn verdicts_of_levels_on_different_days_in_many_simulations() {
    let (simulations, seed) = (asked("TRIPHAMMER_SIMULATIONS", 2_000), asked("TRIPHAMMER_SEED", 1));
    of_all_days(&[0.01, 0.02, 0.03], simulations, seed);
}

/// A profile of two repeats whose throughput is `factor` times the users, on a day of this speed
/// and with this noise from run to run.
fn profile(first: &RunResult, factor: f64, mut noise: impl FnMut() -> f64) -> Profiled {
    let run = |(step, users): (u32, u32)| {
        let value = factor * f64::from(users) * noise();
        LevelRun { users, value, ..LevelRun::of(step, first, None) }
    };
    let runs = (0..).zip(LEVELS.into_iter().chain(LEVELS)).map(run).collect();
    let order = Order { asked: "1..16".into(), repeats: 2, seed: 1, steps: LEVELS.to_vec() };
    let result = ProfileResult::new(first, None, Status::Complete, order, runs, Vec::new(), None);
    Profiled { result, schema: Vec::new(), server_settings: Vec::new() }
}

/// Two stored profiles, each made on a day of its own: A against A, and a loss of 30 %.
fn of_stored_profiles(simulations: u64, seed: u64) {
    let first = sample();
    for day in DAYS {
        for ratio in [1.0, 0.7] {
            let decided = share(simulations, seed, |rng| {
                let mut on_a_day = |factor: f64| {
                    let of_day = (day * normal(rng)).exp();
                    profile(&first, factor * of_day, || (0.01 * normal(rng)).exp())
                };
                let (a, b) = (on_a_day(100.0), on_a_day(100.0 * ratio));
                let found = ComparisonResult::of_profiles(["job 1", "job 2"], &a, &b, 0.02);
                let levels = &found.profiles.as_ref().unwrap().levels;
                let claims = levels.iter().any(|level| level.figure.comparison.is_some());
                !found.is_inconclusive() || found.can_decide() || claims
            });
            println!("stored profiles, day {day}, ratio {ratio}, seed {seed}: decided {decided}");
            assert!(decided == 0.0, "day {day}, ratio {ratio}, seed {seed}: {decided}");
        }
    }
}

#[test]
fn profiles_of_different_days_decide_nothing() {
    of_stored_profiles(10, 1);
}

#[test]
#[ignore = "minutes: the rates that the documentation states"]
fn verdicts_of_stored_profiles_in_many_simulations() {
    let (simulations, seed) = (asked("TRIPHAMMER_SIMULATIONS", 2_000), asked("TRIPHAMMER_SEED", 1));
    of_stored_profiles(simulations, seed);
}

#[test]
fn two_stored_profiles_decide_nothing_and_name_the_command_that_does() {
    let names = ["job 1", "job 2"];
    let [a, b] = [100.0, 50.0].map(|factor| profile(&sample(), factor, || 1.0));
    let found = ComparisonResult::of_profiles(names, &a, &b, 0.02);
    assert!(found.is_inconclusive() && !found.can_decide(), "{}", found.words);
    assert!(
        found.words.contains("compare --ab A B -w tproc-c --vus 1,2,4,8,16"),
        "{}",
        found.words
    );
    assert!(found.words.contains("measured one after the other"), "{}", found.words);
    let text = found.text(Charset::Unicode, Style::Plain);
    assert!(text.contains("0.500") && !text.contains("(0."), "{text}");
}

#[test]
fn levels_that_are_slower_are_named_in_the_report() {
    let sample = sample();
    let found = compare(&sample, request(Some(&LEVELS), 4, 1), |step, is_b, level| {
        let side = if is_b && level == 4 { 0.7 } else { 1.0 };
        side * f64::from(level) * (1.0 + 0.001 * f64::from(step * 7 % 5))
    });
    assert_eq!(found.verdict, Verdict::Slower);
    let text = found.text(Charset::Unicode, Style::Plain);
    assert!(text.contains("at 4 virtual users 0.7"), "{text}");
    assert!(text.contains("20 pairs at 5 levels"), "{text}");
    let pairs = found.pairs.as_ref().unwrap();
    assert_eq!((pairs.asked, pairs.made), (20, 20));
    assert_eq!(found.profiles.as_ref().unwrap().levels.len(), 5);
}

/// Runs that an older version made in another order are made again where they belong to the other
/// side.
#[test]
fn a_resumed_comparison_uses_no_run_of_the_other_side() {
    let pairs = Pairs::new(request(None, 7, 1), None);
    let step = pairs.next().unwrap();
    let mut result = sample();
    result.target = Redacted::new(["null:a", "null:b"][step.target]);
    assert!(pairs.is_of(&step, &result));
    result.target = Redacted::new(["null:a", "null:b"][1 - step.target]);
    assert!(!pairs.is_of(&step, &result));
}

#[test]
fn labels_one_after_the_other_are_warned_of() {
    let run = |minute: u32, value: f64| {
        let mut result = sample();
        result.started_at = format!("2026-05-09T07:{minute:02}:52Z");
        result.primary_metric.value = value;
        Run { result, server_settings: Vec::new(), seconds: None }
    };
    let told = |a: [u32; 2], b: [u32; 2]| {
        let [a, b] = [a, b].map(|minutes| minutes.map(|m| run(m, 100.0 + f64::from(m))));
        let found = ComparisonResult::of_runs(["a", "b"], &a, &b, 0.02);
        found.warnings.iter().find(|w| w.kind == "one_after_the_other").map(|w| w.text.clone())
    };
    assert!(told([1, 2], [3, 4]).unwrap().contains("all runs of A were made before"));
    assert!(told([3, 4], [1, 2]).unwrap().contains("all runs of B were made before"));
    assert_eq!(told([1, 3], [2, 4]), None);
}

/// Nights of a build and of a control on a host that is 5 % slower at times, with 1 % of noise.
fn nights(
    rng: &mut Rng,
    sample: &RunResult,
    nights: usize,
    ratio: impl Fn(usize) -> f64,
) -> (Vec<RunResult>, Vec<RunResult>) {
    let mut slow = rng.unit() < 0.5;
    let night = |night: usize| {
        slow ^= rng.unit() < 0.1;
        let host = if slow { 0.95 } else { 1.0 };
        [ratio(night), 1.0].map(|build| {
            let mut result = sample.clone();
            result.primary_metric.value *= build * host * (1.0 + 0.01 * normal(rng));
            result
        })
    };
    (0..nights).map(night).map(|[run, control]| (run, control)).unzip()
}

#[test]
fn a_control_shows_a_change_within_three_nights_on_a_host_that_switches() {
    let sample = sample();
    let is_slower = |rng: &mut Rng, after: usize, ratio: f64| {
        let of_night = |night| if night < 40 { 1.0 } else { ratio };
        let (runs, control) = nights(rng, &sample, 40 + after, of_night);
        let found = HistoryResult::with_control(None, "reference", &runs, &control, 0);
        found.unwrap().is_slower()
    };
    let found = share(100, 3, |rng| is_slower(rng, 3, 0.95));
    let alarms = share(100, 4, |rng| is_slower(rng, 20, 1.0));
    println!("control: found {found}, false {alarms}");
    assert!(found >= 0.85 && alarms <= 0.05, "found {found}, false {alarms}");
}

/// Through the store: each run is followed with the run of the control that is nearest to it.
#[test]
fn the_control_of_a_run_is_the_one_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("jobs.sqlite")).unwrap();
    let keep = |label: &str, day: u32, hour: u32, value: f64| {
        let header = JobHeader { label: Some(label.to_owned()), ..sample::header() };
        let job = store.begin(&header).unwrap();
        let mut result = sample();
        result.job = Some(job.0);
        result.started_at = format!("2026-05-{day:02}T{hour:02}:10:00Z");
        result.primary_metric.value = value;
        store.finish(job, &result, &sample::facts(), &sample::calm()).unwrap();
    };
    for day in 1..=10 {
        keep("nightly", day, 2, 95.0 * f64::from(day));
        // The control of the fifth night is missing, and the third has two.
        if day != 5 {
            keep("reference", day, 3, 100.0 * f64::from(day));
        }
        if day == 3 {
            keep("reference", day, 9, 1.0);
        }
    }
    let wanted = |control: &str| HistorySelection {
        label: Some("nightly".into()),
        control: Some(control.into()),
        ..HistorySelection::default()
    };
    let found = history(&store, &wanted("reference"), None).unwrap();
    let ratios: Vec<f64> = found.runs.iter().map(|run| run.control.unwrap().ratio).collect();
    assert!(ratios.len() == 9 && ratios.iter().all(|r| (r - 0.95).abs() < 1e-9), "{ratios:?}");
    assert_eq!(found.control.as_deref(), Some("reference"));
    let missing = found.warnings.iter().find(|warning| warning.kind == "no_control").unwrap();
    assert!(missing.text.starts_with("1 run without"), "{}", missing.text);
    let text = report::history(&found, Charset::Unicode);
    assert!(text.contains("control “reference”") && text.contains("0.950"), "{text}");
    for bad in ["nightly", "no such label"] {
        assert!(history(&store, &wanted(bad), None).is_err(), "{bad}");
    }
}

/// Levels with their true throughput, and the levels between which its peak lies, if it has one.
struct Truth {
    name: &'static str,
    levels: &'static [(u32, f64)],
    peak: Option<(f64, f64)>,
}

const TRUTHS: [Truth; 4] = [
    Truth {
        name: "a kink at 8 to 16",
        levels: &[
            (1, 100.0),
            (2, 200.0),
            (4, 400.0),
            (8, 790.0),
            (16, 800.0),
            (32, 650.0),
            (64, 500.0),
            (128, 350.0),
        ],
        peak: Some((8.0, 16.0)),
    },
    Truth {
        name: "a fall by two thirds",
        levels: &[(1, 100.0), (2, 195.0), (4, 380.0), (8, 700.0), (16, 900.0), (32, 300.0)],
        peak: Some((16.0, 16.0)),
    },
    Truth {
        name: "a dip in the middle",
        levels: &[
            (1, 100.0),
            (2, 200.0),
            (4, 400.0),
            (8, 800.0),
            (16, 640.0),
            (32, 800.0),
            (64, 800.0),
        ],
        peak: None,
    },
    Truth {
        name: "saturation from 8 on",
        levels: &[
            (1, 100.0),
            (2, 200.0),
            (4, 400.0),
            (8, 800.0),
            (16, 800.0),
            (32, 800.0),
            (64, 800.0),
        ],
        peak: None,
    },
];

/// The lowest and the highest number of users at which a profile reports the peak, if it does.
fn peak_of(
    first: &RunResult,
    truth: &Truth,
    repeats: u32,
    noise: f64,
    rng: &mut Rng,
) -> Option<(f64, f64)> {
    let points = truth.levels.iter().flat_map(|level| std::iter::repeat_n(level, repeats as usize));
    let run = |(step, &(users, throughput)): (u32, &(u32, f64))| {
        let value = throughput * (1.0 + noise * normal(rng));
        let interval = Some(Interval { low: value * 0.99, high: value * 1.01 });
        LevelRun { users, value, interval, ..LevelRun::of(step, first, None) }
    };
    let runs = (0..).zip(points).map(run).collect();
    let order = Order { asked: String::new(), repeats, seed: 1, steps: Vec::new() };
    let made = ProfileResult::new(first, None, Status::Complete, order, runs, Vec::new(), None);
    match made.usl.unwrap().peak {
        Peak::Reached { users, .. } => Some((users.value, users.value)),
        Peak::BestLevels { lowest, highest, .. } => Some((f64::from(lowest), f64::from(highest))),
        Peak::Saturated { .. } | Peak::NotReached { .. } => None,
    }
}

/// Peaks that profiles report: whether there is one, and whether it contains the true one.
fn of_peaks(simulations: u64, seed: u64) {
    let first = sample();
    for truth in &TRUTHS {
        for (repeats, noise) in [(1, 0.01), (1, 0.03), (2, 0.02), (3, 0.01), (3, 0.03)] {
            let (mut told, mut right) = (0.0, 0.0);
            for number in 0..simulations {
                let mut rng = Rng::of(seed, &[number]);
                let Some((low, high)) = peak_of(&first, truth, repeats, noise, &mut rng) else {
                    continue;
                };
                told += 1.0 / simulations as f64;
                // The best levels overlap the true ones, and none is far beyond them.
                let (from, to) = truth.peak.unwrap_or_default();
                let overlaps = low <= to * 1.5 && high >= from / 1.5;
                right +=
                    f64::from(u8::from(overlaps && high < 2.0 * to.max(1.0))) / simulations as f64;
            }
            let case = format!("{}, {repeats} repeats, noise {noise}, seed {seed}", truth.name);
            println!("{case}: a peak in {:.1} %, right in {:.1} %", told * 100.0, right * 100.0);
            match truth.peak {
                Some(_) => assert!(told >= 0.95 && right >= 0.95, "{case}: {told} {right}"),
                None => assert!(told <= 0.05 + allowance(simulations), "{case}: {told}"),
            }
        }
    }
}

#[test]
fn peaks_are_those_of_the_levels() {
    of_peaks(20, 1);
}

#[test]
#[ignore = "minutes: the rates that the documentation states"]
fn verdicts_of_peaks_in_many_simulations() {
    of_peaks(asked("TRIPHAMMER_SIMULATIONS", 2_000), asked("TRIPHAMMER_SEED", 1));
}

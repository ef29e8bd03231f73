//! Rates of false and of right verdicts of two runs at once, on simulated hosts, through the question
//! that `compare --duet` and `--interleave` ask and the documents that they print; and how wide
//! their intervals are beside those of pairs of runs one after the other, in the same time.
//!
//! The rates that docs/compare.md states come from many:
//!
//! ```text
//! TRIPHAMMER_SIMULATIONS=2000 TRIPHAMMER_SEED=7 cargo test -p triphammer-runner --test documents \
//!     -- --ignored --nocapture at_once
//! ```
#![expect(clippy::print_stdout, reason = "the rates are what the simulation is for")]

use std::time::Duration;

use triphammer_core::pace::PairHalf;
use triphammer_core::random::Rng;
use triphammer_core::spec::{Length, RunSpec};
use triphammer_document::compare::{AtOnceKind, ComparisonResult, UntilDecided};
use triphammer_document::parts::Status;
use triphammer_document::result::{RunResult, SecondsAtOnce};
use triphammer_runner::campaign::Question;
use triphammer_runner::compare::{AtOnceWay, Pairs, PairsRequest};
use triphammer_statistics::compare::{Basis, Better, Verdict};

use crate::verdicts::{allowance, asked, is_false, normal, request, sample};

/// Load of a comparison, in seconds: that of seven pairs of runs of a minute.
const LOAD_S: usize = 840;
const SLICED: AtOnceWay = AtOnceWay::Interleaved(10);
/// Seconds before the window in which a host varies too.
const BEFORE_S: usize = 200;

/// What makes the throughput of a second what it is.
#[derive(Clone, Copy, Debug)]
enum Host {
    /// Nothing but the noise of each second.
    Calm,
    /// Its speed varies by 5 % and is forgotten within about 60 s.
    Remembers,
    /// A neighbour takes 15 % while it is there: for a minute on average, and as long away.
    Neighbour,
    /// Each side itself varies by 1 % and forgets that within about 20 s.
    OfSides,
}

impl Host {
    const ALL: [Self; 4] = [Self::Calm, Self::Remembers, Self::Neighbour, Self::OfSides];

    /// Factors of A and of B in each second.
    fn seconds(self, rng: &mut Rng, seconds: usize) -> Vec<[f64; 2]> {
        let correlated = |rng: &mut Rng, seconds: usize, memory: f64, deviation: f64| {
            let rho: f64 = (-1.0 / memory).exp();
            let mut state = normal(rng);
            let mut next = move |rng: &mut Rng| {
                state = rho * state + (1.0 - rho * rho).sqrt() * normal(rng);
                1.0 + deviation * state
            };
            (0..seconds).map(|_| next(rng)).collect::<Vec<f64>>()
        };
        match self {
            Self::Calm => vec![[1.0; 2]; seconds],
            Self::Remembers => {
                correlated(rng, seconds, 60.0, 0.05).iter().map(|speed| [*speed; 2]).collect()
            }
            Self::Neighbour => {
                let mut is_there = rng.below(2) == 1;
                let mut second = || {
                    is_there ^= rng.unit() < 1.0 / 60.0;
                    if is_there { [0.85; 2] } else { [1.0; 2] }
                };
                (0..seconds).map(|_| second()).collect()
            }
            Self::OfSides => {
                let [a, b] = [(); 2].map(|()| correlated(rng, seconds, 20.0, 0.01));
                a.into_iter().zip(b).map(|(a, b)| [a, b]).collect()
            }
        }
    }
}

/// How a comparison is made.
#[derive(Clone, Copy, Debug)]
enum Way {
    OneAfterTheOther,
    AtOnce(AtOnceWay),
}

impl Way {
    const ALL: [Self; 3] =
        [Self::OneAfterTheOther, Self::AtOnce(SLICED), Self::AtOnce(AtOnceWay::Duet)];

    /// A comparison of B with A on a host, in the same time of load; each second has 3 % of noise.
    fn compare(
        self,
        sample: &RunResult,
        host: Host,
        ratio: f64,
        rng: &mut Rng,
    ) -> ComparisonResult {
        let speeds = host.seconds(rng, BEFORE_S + LOAD_S);
        let second = |side: usize, at: usize, rng: &mut Rng| {
            let side_ratio = if side == 1 { ratio } else { 1.0 };
            (1_000.0 * side_ratio * speeds[at % speeds.len()][side] * (1.0 + 0.03 * normal(rng)))
                .max(1.0)
        };
        let at_once = match self {
            Self::OneAfterTheOther => None,
            Self::AtOnce(way) => Some(way),
        };
        let pairs = if at_once.is_some() { 1 } else { 7 };
        let mut question =
            Pairs::new(PairsRequest { at_once, ..request(None, pairs, rng.bits()) }, None);
        while let Some(step) = question.next() {
            let steps = [Some(step.clone()), question.beside(&step)];
            for step in steps.into_iter().flatten() {
                let mut result = sample.clone();
                match question.half(&step) {
                    None => {
                        let run_s = LOAD_S / 14;
                        let from = BEFORE_S + step.number as usize * run_s;
                        let counts = (from..from + run_s).map(|at| second(step.target, at, rng));
                        result.primary_metric.value = counts.sum::<f64>() / run_s as f64;
                    }
                    Some(half) => {
                        half.share_time(&mut result.spec, true).unwrap();
                        take_seconds(&mut result, |half, at| {
                            let works = half.works(at as u64);
                            if works { second(step.target, at, rng) } else { 0.0 }
                        });
                    }
                }
                question.report_result(&step, &result);
            }
        }
        question.result(None, Status::Complete).unwrap()
    }
}

/// Fills in the seconds of a half whose spec is known.
fn take_seconds(result: &mut RunResult, mut second: impl FnMut(PairHalf, usize) -> f64) {
    let half = result.spec.pacing.half.unwrap();
    let Length::Time(window) = result.spec.length else { panic!("a half has a time") };
    result.durations.rampup_s = result.spec.rampup.as_secs_f64();
    result.durations.window_s = window.as_secs_f64();
    let seconds = (result.spec.rampup + window).as_secs();
    let counts = (0..usize::try_from(seconds).unwrap()).map(|at| second(half, at)).collect();
    result.at_once = Some(SecondsAtOnce { counts });
}

/// A sample whose runs are halves of a comparison of the simulated length.
fn half_sample() -> RunResult {
    let mut result = sample();
    let length = Length::Time(Duration::from_secs(LOAD_S as u64));
    result.spec = RunSpec { rampup: Duration::ZERO, length, ..result.spec };
    result.notes.clear();
    result
}

/// What many comparisons say.
#[derive(Debug, Default)]
struct Rates {
    alarms: u32,
    held: u32,
    found: u32,
    /// Half-widths of the intervals of A against A.
    half_widths: Vec<f64>,
}

/// A against A and B 3 % slower, in many comparisons of a kind.
fn rates(way: Way, host: Host, simulations: u64, seed: u64) -> Rates {
    let sample = half_sample();
    let mut rates = Rates::default();
    for number in 0..simulations {
        let rng = &mut Rng::of(seed, &[number]);
        let same = way.compare(&sample, host, 1.0, rng);
        let interval = same.figures[0].comparison.unwrap().interval;
        rates.alarms += u32::from(is_false(&same));
        rates.held += u32::from(interval.contains(1.0));
        rates.half_widths.push(interval.half_width());
        let slower = way.compare(&sample, host, 0.97, rng);
        rates.found += u32::from(slower.is_slower());
    }
    rates.half_widths.sort_by(f64::total_cmp);
    rates
}

/// The rates of all ways on a host; returns the median half-widths.
fn of_host(host: Host, simulations: u64, seed: u64) -> [f64; 3] {
    Way::ALL.map(|way| {
        let rates = rates(way, host, simulations, seed);
        let share = |count: u32| 100.0 * f64::from(count) / simulations as f64;
        let median = rates.half_widths[rates.half_widths.len() / 2];
        println!(
            "{host:?}, {way:?}, seed {seed}: false {:.1} %, covered {:.1} %, ± {:.2} %, a loss of 3 % found \
             in {:.1} %",
            share(rates.alarms),
            share(rates.held),
            100.0 * median,
            share(rates.found)
        );
        let allowed = 0.05 + allowance(simulations);
        assert!(share(rates.alarms) <= 100.0 * allowed, "{host:?} {way:?}: {rates:?}");
        assert!(share(rates.held) >= 100.0 * (0.94 - allowance(simulations)), "{host:?} {way:?}");
        median
    })
}

#[test]
fn on_a_host_that_varies_runs_at_once_are_more_precise() {
    for host in [Host::Remembers, Host::Neighbour] {
        let [after, interleaved, duet] = of_host(host, 60, 1);
        assert!(interleaved < after / 2.0 && duet < after / 2.0, "{after} {interleaved} {duet}");
    }
}

#[test]
#[ignore = "minutes: the rates that the documentation states"]
fn verdicts_at_once_in_many_simulations() {
    let (simulations, seed) = (asked("TRIPHAMMER_SIMULATIONS", 2_000), asked("TRIPHAMMER_SEED", 1));
    for host in Host::ALL {
        of_host(host, simulations, seed);
    }
}

/// An interleaved comparison that ends when it is decided, on a host; with the seconds of its window.
fn until_decided(
    sample: &RunResult,
    host: Host,
    ratio: f64,
    rng: &mut Rng,
) -> (ComparisonResult, u64) {
    let speeds = host.seconds(rng, LOAD_S);
    let mut question =
        Pairs::new(PairsRequest { at_once: Some(SLICED), ..request(None, 1, rng.bits()) }, None);
    let step = question.next().unwrap();
    let steps = [step.clone(), question.beside(&step).unwrap()];
    let mut results = steps.each_ref().map(|step| {
        let mut result = sample.clone();
        question.half(step).unwrap().share_time(&mut result.spec, true).unwrap();
        let half = result.spec.pacing.half.as_mut().unwrap();
        half.looks_most = Some(LOAD_S as u64 / half.pair_s());
        take_seconds(&mut result, |half, at| match half.works(at as u64) {
            false => 0.0,
            true => {
                let side = if half.is_b { ratio } else { 1.0 };
                1_000.0 * side * speeds[at][step.target] * (1.0 + 0.03 * normal(rng))
            }
        });
        result
    });
    let halves = results.each_ref().map(|result| result.spec.pacing.half.unwrap());
    let until =
        UntilDecided { halves, start_s: 0, better: Better::Higher, margin: 0.02, share: 1e-6 };
    let counts = results.each_ref().map(|result| result.at_once.as_ref().unwrap().counts.clone());
    let is_over = |end: &usize| until.is_over([&counts[0][..*end], &counts[1][..*end]]);
    let end = (1..=LOAD_S).find(is_over).unwrap_or(LOAD_S);
    for (step, result) in steps.iter().zip(&mut results) {
        result.durations.window_s = end as f64;
        result.at_once.as_mut().unwrap().counts.truncate(end);
        question.report_result(step, result);
    }
    (question.result(None, Status::Complete).unwrap(), end as u64)
}

/// Rates of comparisons that end when they are decided, and the mean length of those of A with a B that
/// is 5 % slower.
fn of_looks(host: Host, simulations: u64, seed: u64) {
    let sample = half_sample();
    let [mut alarms, mut found, mut seconds] = [0; 3];
    for number in 0..simulations {
        let rng = &mut Rng::of(seed, &[number]);
        alarms += u64::from(is_false(&until_decided(&sample, host, 1.0, rng).0));
        let (slower, lasts) = until_decided(&sample, host, 0.95, rng);
        found += u64::from(slower.is_slower());
        seconds += lasts;
    }
    let share = |count: u64| 100.0 * count as f64 / simulations as f64;
    println!(
        "until decided, {host:?}, seed {seed}: false {:.1} %, a loss of 5 % found in {:.1} %, after {:.0} s",
        share(alarms),
        share(found),
        seconds as f64 / simulations as f64
    );
    assert!(share(alarms) <= 100.0 * (0.05 + allowance(simulations)), "{host:?}");
    assert!(share(found) >= 80.0, "{host:?}");
}

#[test]
fn a_comparison_that_ends_when_it_is_decided_is_rarely_wrong() {
    of_looks(Host::Remembers, 40, 1);
}

#[test]
#[ignore = "minutes: the rates that the documentation states"]
fn verdicts_at_once_until_decided_in_many_simulations() {
    let (simulations, seed) = (asked("TRIPHAMMER_SIMULATIONS", 2_000), asked("TRIPHAMMER_SEED", 1));
    for host in Host::ALL {
        of_looks(host, simulations, seed);
    }
}

/// A comparison of seconds that are given by side, second, and whether the other side works, too.
fn made(way: AtOnceWay, mut second: impl FnMut(PairHalf, usize) -> f64) -> ComparisonResult {
    let sample = half_sample();
    let mut question = Pairs::new(PairsRequest { at_once: Some(way), ..request(None, 1, 3) }, None);
    let step = question.next().unwrap();
    for step in [step.clone(), question.beside(&step).unwrap()] {
        let mut result = sample.clone();
        question.half(&step).unwrap().share_time(&mut result.spec, true).unwrap();
        take_seconds(&mut result, &mut second);
        question.report_result(&step, &result);
    }
    question.result(None, Status::Complete).unwrap()
}

/// A number that looks like 1 % of noise.
fn noise(half: PairHalf, at: usize) -> f64 {
    1.0 + 0.01 * normal(&mut Rng::of(9, &[at as u64, u64::from(half.is_b)]))
}

#[test]
fn first_seconds_of_slices_that_differ_are_left_out() {
    let carried = made(SLICED, |half, at| match half.works(at as u64) {
        false => 0.0,
        true => 1_000.0 * noise(half, at) * [0.8, 0.9].get(at % 10).unwrap_or(&1.0),
    });
    let at_once = carried.pairs.as_ref().unwrap().at_once.as_ref().unwrap();
    assert_eq!((at_once.kind, at_once.left_out_s), (AtOnceKind::Interleaved, 2));
    assert!((at_once.carry_over[0].a.share + 0.2).abs() < 0.02, "{:?}", at_once.carry_over);
    assert!(at_once.blocks.iter().all(|block| (block.ratio - 1.0).abs() < 0.03));
    let primary = carried.figures[0].comparison.unwrap();
    assert_eq!(primary.basis, Basis::Blocks { blocks: 42 });
    assert!((carried.figures[0].a / 60_000.0 - 1.0).abs() < 0.01, "{}", carried.figures[0].a);
    assert_eq!(carried.verdict, Verdict::Equivalent, "{}", carried.words);
    let even = made(SLICED, |half, at| match half.works(at as u64) {
        false => 0.0,
        true => 1_000.0 * noise(half, at),
    });
    assert_eq!(even.pairs.unwrap().at_once.unwrap().left_out_s, 0);
}

#[test]
fn a_duet_whose_sides_halve_each_other_proves_no_equivalence() {
    let shared =
        |half: PairHalf, at: usize| match (half.works(at as u64), half.other_works(at as u64)) {
            (false, _) => 0.0,
            (true, true) => 500.0 * noise(half, at),
            (true, false) => 1_000.0 * noise(half, at),
        };
    let result = made(AtOnceWay::Duet, shared);
    let contention =
        result.pairs.as_ref().unwrap().at_once.as_ref().unwrap().contention.as_ref().unwrap();
    assert!(contention.is_dominant, "{contention:?}");
    assert!(contention.lost.iter().all(|lost| (lost - 0.5).abs() < 0.02), "{contention:?}");
    assert!(result.is_inconclusive(), "{}", result.words);
    assert!(result.words.contains("they compete"), "{}", result.words);
    assert!(result.warnings.iter().any(|warning| warning.kind == "contention"));
    let apart = made(AtOnceWay::Duet, |half, at| match half.works(at as u64) {
        false => 0.0,
        true => 1_000.0 * noise(half, at),
    });
    assert_eq!(apart.verdict, Verdict::Equivalent, "{}", apart.words);
}

#[test]
fn a_block_in_which_a_side_did_nothing_is_one_with_the_next() {
    let stalled =
        made(SLICED, |half, at| match half.works(at as u64) && !(100..140).contains(&at) {
            false => 0.0,
            true => 1_000.0 * noise(half, at),
        });
    let at_once = stalled.pairs.unwrap().at_once.unwrap();
    assert_eq!(at_once.blocks.len(), 40);
    assert!(at_once.blocks.iter().all(|block| block.ratio.is_finite() && block.a > 0.0));
    assert_eq!(at_once.blocks.iter().map(|block| block.seconds).sum::<u64>(), 840);
    let never = made(SLICED, |half, at| f64::from(u8::from(half.works(at as u64) && !half.is_b)));
    assert!(never.is_inconclusive() && never.figures[0].comparison.is_none(), "{}", never.words);
}

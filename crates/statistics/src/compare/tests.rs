//! Verdicts by simulation, and edge cases.

use super::*;
use crate::numbers::assert_finite;
use crate::random::Random;

/// A difference that does not matter, as a share.
const MARGIN: f64 = 0.02;

const RUNS: usize = 2_000;

/// Seven pairs in the order A B B A A B B A…, with 2 % noise that is correlated from run to run,
/// and B at `ratio`.
fn seven_pairs(random: &mut Random, rho: f64, ratio: f64) -> Vec<(f64, f64)> {
    let noise = random.ar1(14, rho);
    let run = |e: f64| 1_000.0 * (1.0 + 0.02 * e);
    let pair = |(k, two): (usize, &[f64])| {
        let (a, b) = if k % 2 == 0 { (two[0], two[1]) } else { (two[1], two[0]) };
        (run(a), ratio * run(b))
    };
    noise.chunks(2).enumerate().map(pair).collect()
}

fn count(seed: u64, rho: f64, ratio: f64, wanted: impl Fn(Verdict) -> bool) -> usize {
    let mut random = Random::new(seed);
    let verdicts = (0..RUNS).map(|_| {
        pairs(&seven_pairs(&mut random, rho, ratio), Better::Higher, MARGIN).unwrap().verdict
    });
    verdicts.filter(|verdict| wanted(*verdict)).count()
}

#[test]
fn a_against_a_is_called_different_in_at_most_6_per_cent() {
    for rho in [0.0, 0.3, 0.6, 0.9] {
        let alarms = count(51, rho, 1.0, |v| matches!(v, Verdict::Slower | Verdict::Faster));
        assert!(alarms <= RUNS * 6 / 100, "ρ {rho}: {alarms}");
    }
}

#[test]
fn a_slowdown_of_5_per_cent_is_found_in_9_of_10() {
    for rho in [0.0, 0.3, 0.6, 0.9] {
        let found = count(52, rho, 0.95, |v| v == Verdict::Slower);
        assert!(found >= RUNS * 90 / 100, "ρ {rho}: {found}");
    }
}

#[test]
fn intervals_hold_the_true_ratio() {
    let mut random = Random::new(53);
    let (mut paired, mut apart) = (0, 0);
    for _ in 0..RUNS {
        let all = seven_pairs(&mut random, 0.0, 1.03);
        let (a, b): (Vec<f64>, Vec<f64>) = all.iter().copied().unzip();
        let held = |c: Result<Comparison, _>| usize::from(c.unwrap().interval.contains(1.03));
        paired += held(pairs(&all, Better::Higher, MARGIN));
        apart += held(runs(&a, &b[..4], Better::Higher, MARGIN));
    }
    assert!((RUNS * 94 / 100..=RUNS * 965 / 1000).contains(&paired), "{paired}");
    assert!((RUNS * 94 / 100..=RUNS * 975 / 1000).contains(&apart), "{apart}");
}

#[test]
fn single_runs_are_compared_by_their_series() {
    let mut random = Random::new(54);
    let (mut alarms, mut found, mut equal, runs) = (0, 0, 0, 500);
    for _ in 0..runs {
        let mut series_at = |level: f64| -> Vec<f64> {
            random.ar1(300, 0.5).iter().map(|e| level * (1.0 + 0.03 * e)).collect()
        };
        let (a, b, c) = (series_at(100.0), series_at(100.0), series_at(95.0));
        let same = series(&a, &b, Better::Higher, MARGIN).unwrap().verdict;
        alarms += usize::from(matches!(same, Verdict::Slower | Verdict::Faster));
        equal += usize::from(same == Verdict::Equivalent);
        let slower = series(&a, &c, Better::Higher, MARGIN).unwrap().verdict;
        found += usize::from(slower == Verdict::Slower);
    }
    assert!(
        alarms <= runs * 6 / 100 && found >= runs * 9 / 10 && equal >= runs / 2,
        "alarms {alarms}, found {found}, equivalent {equal} of {runs}"
    );
}

#[test]
fn the_verdicts_come_in_their_order() {
    let verdict = |ratios: &[f64]| {
        let pairs_of: Vec<(f64, f64)> = ratios.iter().map(|r| (10.0, 10.0 * r)).collect();
        pairs(&pairs_of, Better::Higher, 0.02).unwrap().verdict
    };
    // Certainly 1 % more is still equivalent.
    assert_eq!(verdict(&[1.010, 1.011, 1.010, 1.011]), Verdict::Equivalent);
    assert_eq!(verdict(&[1.050, 1.051, 1.050, 1.051]), Verdict::Faster);
    assert_eq!(verdict(&[0.950, 0.951, 0.950, 0.951]), Verdict::Slower);
    assert!(matches!(verdict(&[0.9, 1.1, 1.05, 0.97]), Verdict::Inconclusive { .. }));
    // Certainly different, but not certainly by more than the margin.
    assert!(matches!(verdict(&[1.015, 1.02, 1.016, 1.021]), Verdict::Inconclusive { .. }));
}

#[test]
fn lower_times_are_faster() {
    let quicker = [(10.0, 9.0), (10.0, 9.01), (10.0, 9.02)];
    let verdict = |better| pairs(&quicker, better, MARGIN).unwrap().verdict;
    assert_eq!(
        (verdict(Better::Lower), verdict(Better::Higher)),
        (Verdict::Faster, Verdict::Slower)
    );
}

#[test]
fn exchanging_a_and_b_turns_the_ratio_and_the_verdict_round() {
    let mut random = Random::new(55);
    for ratio in [0.9, 0.97, 1.0, 1.05] {
        let forth = seven_pairs(&mut random, 0.3, ratio);
        let back: Vec<(f64, f64)> = forth.iter().map(|&(a, b)| (b, a)).collect();
        let one = pairs(&forth, Better::Higher, MARGIN).unwrap();
        let other = pairs(&back, Better::Higher, MARGIN).unwrap();
        assert!((one.ratio * other.ratio - 1.0).abs() < 1e-12);
        let turned = match one.verdict {
            Verdict::Slower => Verdict::Faster,
            Verdict::Faster => Verdict::Slower,
            same => same,
        };
        assert_eq!(turned, other.verdict);
    }
}

#[test]
fn what_is_needed_settles_it_where_noise_and_ratio_stay() {
    let few = [(100.0, 95.0), (100.0, 99.0), (100.0, 96.0)];
    let Verdict::Inconclusive { more: Some(More::Pairs { pairs: more }) } =
        pairs(&few, Better::Higher, MARGIN).unwrap().verdict
    else {
        panic!("three pairs settle it");
    };
    // The same noise, repeated.
    let many: Vec<(f64, f64)> = few.iter().copied().cycle().take(3 * (1 + more as usize)).collect();
    let settled = pairs(&many, Better::Higher, MARGIN).unwrap().verdict;
    assert!(!matches!(settled, Verdict::Inconclusive { .. }), "{more} more: {settled:?}");
    // A ratio at the very edge of the margin cannot be settled.
    let edge = [(1.0, 1.02 * 1.01), (1.0, 1.02 / 1.01 - 1e-5)];
    let verdict = pairs(&edge, Better::Higher, MARGIN).unwrap().verdict;
    assert_eq!(verdict, Verdict::Inconclusive { more: None });
}

#[test]
fn what_cannot_be_compared_says_why() {
    let of = |two: &[(f64, f64)]| pairs(two, Better::Higher, MARGIN).unwrap_err();
    assert_eq!(of(&[(1.0, 1.0)]), CompareError::TooFew);
    assert_eq!(of(&[(1.0, 1.0), (0.0, 1.0)]), CompareError::NotPositive);
    assert_eq!(of(&[(1.0, 1.0), (1.0, f64::NAN)]), CompareError::NotPositive);
    let short = series(&[1.0; 10], &[1.0; 300], Better::Higher, MARGIN);
    assert_eq!(short, Err(CompareError::TooShort));
    assert_eq!(series(&[], &[1.0; 300], Better::Higher, MARGIN), Err(CompareError::TooShort));
    let margin = pairs(&[(1.0, 1.0); 2], Better::Higher, f64::NAN);
    assert_eq!(margin, Err(CompareError::Margin));
}

#[test]
fn no_finite_figures_make_nan_or_infinity() {
    let mut random = Random::new(57);
    let odd = [5e-324, f64::MAX, 1.0, 1.0, 1e300, 1e-300, 2.0];
    for _ in 0..500 {
        let kinds = 1 + random.below(odd.len());
        let mut draw = || odd[random.below(kinds)];
        let some: Vec<(f64, f64)> = (0..4).map(|_| (draw(), draw())).collect();
        let (a, b): (Vec<f64>, Vec<f64>) = some.iter().copied().unzip();
        assert_finite(&pairs(&some, Better::Higher, MARGIN).unwrap());
        assert_finite(&runs(&a, &b, Better::Lower, MARGIN).unwrap());
        let long: Vec<f64> = (0..200).map(|_| draw()).collect();
        if let Ok(comparison) = series(&long, &[1.0; 100], Better::Lower, MARGIN) {
            assert_finite(&comparison);
        }
    }
}

/// Logarithms of the ratios of blocks about a true one.
fn block_ratios(random: &mut Random, blocks: usize, rho: f64, ln_ratio: f64) -> Vec<f64> {
    random.ar1(blocks, rho).iter().map(|e| ln_ratio + 0.02 * e).collect()
}

#[test]
fn intervals_of_blocks_hold_whether_or_not_they_depend_on_each_other() {
    let mut random = Random::new(21);
    for (count, rho, least) in [(10, 0.0, 93), (42, 0.0, 94), (42, 0.4, 91), (140, 0.4, 93)] {
        let (mut held, runs) = (0, 500);
        for _ in 0..runs {
            let ratios = block_ratios(&mut random, count, rho, 0.01);
            let found = blocks(&ratios, Better::Higher, 0.02, None).unwrap();
            assert_eq!(found.basis, Basis::Blocks { blocks: count });
            held += usize::from(found.interval.contains(0.01_f64.exp()));
        }
        assert!(held * 100 >= runs * least, "{count} blocks, ρ {rho}: {held} of {runs}");
    }
}

#[test]
fn few_blocks_or_none_that_can_be_compared_are_an_error() {
    let few = [0.0; BLOCKS_MIN - 1];
    assert_eq!(blocks(&few, Better::Higher, 0.02, None), Err(CompareError::FewBlocks));
    let mut bad = [0.0; BLOCKS_MIN];
    let level = blocks(&bad, Better::Higher, 0.02, None).unwrap();
    assert_eq!((level.ratio, level.verdict), (1.0, Verdict::Equivalent));
    bad[3] = f64::NEG_INFINITY;
    assert_eq!(blocks(&bad, Better::Higher, 0.02, None), Err(CompareError::NotPositive));
}

#[test]
fn what_blocks_lack_is_told_in_blocks() {
    let ratios: Vec<f64> = (0..40).map(|at| if at % 2 == 0 { 0.037 } else { -0.003 }).collect();
    let Verdict::Inconclusive { more: Some(More::Blocks { blocks }) } =
        blocks(&ratios, Better::Higher, 0.02, None).unwrap().verdict
    else {
        panic!("{ratios:?}")
    };
    assert!((100..400).contains(&blocks), "{blocks}");
}

#[test]
fn another_comparison_is_within_its_interval() {
    let mut random = Random::new(23);
    let mut held = 0;
    for _ in 0..RUNS {
        let [one, two] = [(); 2]
            .map(|()| pairs(&seven_pairs(&mut random, 0.0, 0.97), Better::Higher, MARGIN).unwrap());
        held += usize::from(another(&one).unwrap().contains(two.ratio));
    }
    assert!((RUNS * 94 / 100..=RUNS * 965 / 1000).contains(&held), "{held}");
    let blocks = blocks(&[0.0; 20], Better::Higher, MARGIN, None).unwrap();
    assert_eq!(another(&blocks), None, "it says nothing about another start");
}

//! False alarms and detections by simulation.

use super::*;
use crate::numbers::assert_finite;

fn history(random: &mut Random, levels: &[(usize, f64)], noise: f64) -> Vec<f64> {
    let of_level = |&(count, level): &(usize, f64)| std::iter::repeat_n(level, count);
    let levels: Vec<f64> = levels.iter().flat_map(of_level).collect();
    levels.iter().map(|level| level * (1.0 + noise * random.normal())).collect()
}

#[test]
fn a_history_without_changes_alarms_in_at_most_5_per_cent() {
    let mut random = Random::new(61);
    let (mut alarms, runs) = (0, 500);
    for seed in 0..runs {
        let results = history(&mut random, &[(50, 1_000.0)], 0.02);
        alarms += usize::from(!change_points(&results, seed).changes.is_empty());
    }
    assert!(alarms * 100 <= 5 * 500, "{alarms} of {runs}");
}

#[test]
fn a_step_of_5_per_cent_is_found_with_its_place_and_size() {
    let mut random = Random::new(62);
    for after in [950.0, 1_050.0] {
        let (mut found, mut placed, mut sized, runs) = (0, 0, 0, 500);
        for seed in 0..runs {
            let results = history(&mut random, &[(10, 1_000.0), (10, after)], 0.01);
            let changes = change_points(&results, seed).changes;
            let near = changes.iter().find(|change| change.at.abs_diff(10) <= 3);
            found += u64::from(near.is_some());
            if let (Some(change), 1) = (near, changes.len()) {
                placed += u64::from(change.at.abs_diff(10) <= 1);
                sized += u64::from(change.difference.contains(after - 1_000.0));
            }
        }
        assert!(found * 100 >= 90 * runs, "found {found} of {runs}");
        assert!(placed * 100 >= 75 * runs, "placed {placed} of {runs}");
        assert!(sized * 100 >= 80 * runs, "sized {sized} of {runs}");
    }
}

#[test]
fn several_changes_are_told_apart() {
    let mut random = Random::new(63);
    let levels = [(30, 1_000.0), (25, 900.0), (30, 1_050.0), (25, 1_200.0)];
    let near = |changes: &[ChangePoint]| {
        let places = changes.iter().map(|change| change.at);
        changes.len() == 3 && places.zip([30, 55, 85]).all(|(at, truth)| at.abs_diff(truth) <= 1)
    };
    let mut histories = (0..200).map(|_| history(&mut random, &levels, 0.02));
    let found =
        histories.by_ref().filter(|results| near(&change_points(results, 1).changes)).count();
    assert!(found >= 180, "{found} of 200");
    let changes = change_points(&history(&mut random, &levels, 0.001), 1).changes;
    assert!((changes[0].ratio.unwrap() - 0.9).abs() < 0.02);
    assert!((changes[2].after / 1_200.0 - 1.0).abs() < 0.02);
    assert!(changes.iter().all(|change| change.confidence >= 0.96));
}

#[test]
fn one_bad_run_is_not_a_change() {
    let mut random = Random::new(64);
    let mut results = history(&mut random, &[(40, 1_000.0)], 0.01);
    results[20] = 500.0;
    assert_eq!(change_points(&results, 1).changes, []);
}

#[test]
fn indices_are_those_of_the_results_with_missing_ones() {
    let mut results = vec![1.0; 10];
    results.extend([f64::NAN; 2].into_iter().chain([2.0; 10]));
    let changes = change_points(&results, 1).changes;
    assert_eq!(changes.len(), 1);
    assert_eq!((changes[0].at, changes[0].before, changes[0].after), (12, 1.0, 2.0));
    assert_eq!(changes[0].ratio, Some(2.0));
}

#[test]
fn the_unit_does_not_matter_and_the_seed_decides() {
    let mut random = Random::new(65);
    let results = history(&mut random, &[(15, 10.0), (15, 11.0)], 0.03);
    let minutes: Vec<f64> = results.iter().map(|x| x * 64.0).collect();
    let (one, two) = (change_points(&results, 1).changes, change_points(&minutes, 1).changes);
    assert_eq!(one, change_points(&results, 1).changes);
    let place = |change: &ChangePoint| (change.at, change.ratio, change.confidence);
    assert!(!one.is_empty());
    assert!(one.iter().map(place).eq(two.iter().map(place)));
}

#[test]
fn no_finite_history_makes_nan_or_infinity() {
    let mut random = Random::new(66);
    let odd = [0.0, 1.0, f64::MAX, f64::MIN, 5e-324, -1.0, 1e300];
    for length in 0..60 {
        let kinds = 1 + random.below(odd.len());
        let results: Vec<f64> = (0..length).map(|_| odd[random.below(kinds)]).collect();
        assert_finite(&change_points(&results, 1));
    }
}

/// A host whose speed is lower by `offset` at times: it switches with probability `chance` from run
/// to run.
fn sticky(random: &mut Random, runs: usize, (offset, chance): (f64, f64), noise: f64) -> Vec<f64> {
    let mut slow = random.unit() < 0.5;
    let level = (0..runs).map(|_| {
        slow ^= random.unit() < chance;
        let level = if slow { 1.0 - offset } else { 1.0 };
        1_000.0 * level * (1.0 + noise * random.normal())
    });
    level.collect()
}

/// Percentage of histories in which a change is reported.
fn alarms(histories: u64, mut make: impl FnMut() -> Vec<f64>) -> f64 {
    let alarm = |seed: &u64| !change_points(&make(), *seed).changes.is_empty();
    100.0 * size((0..histories).filter(alarm).count()) / crate::numbers::float(histories)
}

/// AR(1) about 1,000 with a standard deviation of 2 %.
fn alike(random: &mut Random, runs: usize, rho: f64) -> Vec<f64> {
    random.ar1(runs, rho).iter().map(|x| 1_000.0 * (1.0 + 0.02 * x)).collect()
}

#[test]
fn runs_that_are_alike_alarm_in_at_most_5_per_cent() {
    let mut random = Random::new(67);
    for (runs, histories) in [(14, 200), (20, 200), (50, 150), (100, 100), (200, 100)] {
        let found = alarms(histories, || alike(&mut random, runs, 0.2));
        assert!(found <= 5.0, "{runs} runs: {found} %");
    }
}

#[test]
fn a_host_that_switches_alarms_in_at_most_5_per_cent() {
    let mut random = Random::new(68);
    for (runs, histories) in [(14, 400), (20, 400), (30, 400), (50, 300), (100, 200), (200, 300)] {
        let found = alarms(histories, || sticky(&mut random, runs, (0.05, 0.1), 0.01));
        assert!(found <= 5.0, "{runs} runs: {found} %");
    }
}

#[test]
fn a_change_beyond_the_switching_of_the_host_is_found() {
    let mut random = Random::new(69);
    let found = alarms(100, || {
        let mut results = sticky(&mut random, 200, (0.05, 0.1), 0.01);
        results[100..].iter_mut().for_each(|result| *result *= 0.9);
        results
    });
    assert!(found >= 90.0, "{found} %");
}

/// A shift that a switching host would show as well is reported as such.
#[test]
fn a_young_shift_is_no_change_yet() {
    let mut random = Random::new(70);
    let young = change_points(&history(&mut random, &[(20, 1e3), (6, 950.0)], 0.01), 1);
    assert_eq!(young.changes, []);
    assert_eq!(young.shifts.iter().map(|shift| shift.at).collect::<Vec<_>>(), [20]);
    let old = change_points(&history(&mut random, &[(20, 1e3), (20, 950.0)], 0.01), 1);
    assert_eq!((old.changes.len(), old.shifts), (1, vec![]));
}

/// A cache that warms up, or any other small shift, does not hide a change many times its size.
#[test]
fn a_far_smaller_shift_does_not_hide_a_change() {
    let mut random = Random::new(72);
    let (mut found, histories) = (0, 200);
    for seed in 0..histories {
        let levels = [(2, 27.86), (5, 28.0), (7, 14.0)];
        let result = change_points(&history(&mut random, &levels, 0.002), seed);
        let [change] = result.changes[..] else { continue };
        found += usize::from(change.at == 7 && (change.ratio.unwrap() - 0.5).abs() < 0.01);
    }
    assert!(found * 100 >= 95 * 200, "{found} of {histories}");
}

/// A host whose switches are of two sizes is a switching host all the same.
#[test]
fn a_host_with_small_and_great_switches_alarms_in_at_most_5_per_cent() {
    let mut random = Random::new(73);
    for (runs, small) in [(14, 0.005), (20, 0.01), (30, 0.004), (50, 0.01), (100, 0.004)] {
        let found = alarms(200, || {
            let great = sticky(&mut random, runs, (0.05, 0.1), 0.001);
            let small = sticky(&mut random, runs, (small, 0.1), 0.001);
            great.iter().zip(small).map(|(great, small)| great * small / 1e3).collect()
        });
        assert!(found <= 5.0, "{runs} runs, {small}: {found} %");
    }
}

/// The tables of docs/compare.md.
#[test]
#[ignore = "prints the tables of the documentation: some seconds with --release"]
fn tables() {
    let mut random = Random::new(71);
    for runs in [14, 16, 20, 24, 30, 40, 50, 70, 100, 140, 200] {
        print!("{runs:4} runs:");
        for rho in [0.0, 0.2, 0.5] {
            print!(" AR({rho}) {:4.1}", alarms(1_000, || alike(&mut random, runs, rho)));
        }
        for (offset, chance) in [(0.05, 0.1), (0.05, 0.2), (0.03, 0.1), (0.05, 0.05)] {
            let found = alarms(1_000, || sticky(&mut random, runs, (offset, chance), 0.01));
            print!(" sticky({offset}, {chance}) {found:4.1}");
        }
        println!();
    }
    let lengths = [(7, 7), (8, 8), (10, 10), (15, 15), (20, 16), (30, 18), (40, 17), (50, 14)];
    for (before, after) in lengths.into_iter().chain([(60, 9), (70, 3), (100, 3), (50, 50)]) {
        print!("{before} + {after} runs, 5 %:");
        for noise in [0.01, 0.015, 0.02] {
            let found =
                alarms(1_000, || history(&mut random, &[(before, 1_000.0), (after, 950.0)], noise));
            print!(" noise {noise}: {found:4.1}");
        }
        println!();
    }
}

/// Nights on which a change is reported first, in histories that are checked every night from the
/// 14th on; `None` if never. Only where the last change is for the worse counts.
fn first_alarm(results: &[f64], from: usize, of: fn(&[f64]) -> SequenceFindings) -> Option<usize> {
    (from..=results.len()).find(|&nights| {
        let found = of(&results[..nights]);
        found.changes.last().is_some_and(|change| change.after < change.before)
    })
}

fn plain(results: &[f64]) -> SequenceFindings {
    change_points(results, 1)
}

/// Percentage of histories of so many nights that alarm on any of them.
fn alarms_by_night(
    histories: usize,
    of: fn(&[f64]) -> SequenceFindings,
    mut make: impl FnMut() -> Vec<f64>,
) -> f64 {
    let alarm = |_: &usize| first_alarm(&make(), RESULTS_MIN, of).is_some();
    100.0 * size((0..histories).filter(alarm).count()) / size(histories)
}

/// A level that drifts by a share per run, with 1 % of noise.
fn drifting(random: &mut Random, runs: usize, share: f64) -> Vec<f64> {
    (0..runs)
        .map(|at| 1_000.0 * (1.0 + share * size(at)) * (1.0 + 0.01 * random.normal()))
        .collect()
}

/// Nights of a build and of a reference on one host: their ratio has the noise of both.
fn ratios(random: &mut Random, runs: usize, from: usize, ratio: f64) -> Vec<f64> {
    let one = |random: &mut Random| 1.0 + 0.01 * random.normal();
    (0..runs).map(|at| if at < from { 1.0 } else { ratio } * one(random) / one(random)).collect()
}

#[test]
fn a_host_that_drifts_has_not_changed() {
    let mut random = Random::new(74);
    for share in [0.0005, -0.0005, -0.001, 0.003] {
        for runs in [30, 60, 120] {
            let found = alarms(100, || drifting(&mut random, runs, share));
            assert!(found <= 5.0, "{share}, {runs} runs: {found} %");
        }
    }
    // A change beside a drift is found, with its size.
    let (mut found, mut sized) = (0, 0);
    for seed in 0..100 {
        let mut results = drifting(&mut random, 60, -0.001);
        results[40..].iter_mut().for_each(|result| *result *= 0.9);
        let shown = change_points(&results, seed);
        let Some(change) = shown.changes.iter().find(|change| change.at.abs_diff(40) <= 1) else {
            continue;
        };
        found += 1;
        sized += usize::from((change.ratio.unwrap() - 0.9).abs() < 0.02);
    }
    assert!(found >= 90 && sized >= 80, "found {found}, sized {sized}");
}

#[test]
fn a_change_of_a_ratio_is_found_within_three_nights() {
    let mut random = Random::new(75);
    for before in [30, 60, 120] {
        let nights = (0..200).filter(|_| {
            let all = ratios(&mut random, before + 3, before, 0.95);
            first_alarm(&all, before + 1, change_points_of_ratios).is_some()
        });
        let found = nights.count();
        assert!(found >= 180, "{before} nights before: {found} of 200");
    }
    let false_alarms =
        alarms_by_night(20, change_points_of_ratios, || ratios(&mut random, 120, 120, 1.0));
    assert!(false_alarms <= 15.0, "{false_alarms} %");
}

/// The rates per year in docs/compare.md.
#[test]
#[ignore = "minutes: the rates per year that the documentation states"]
fn a_year_of_nights() {
    let asked = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().unwrap())
    };
    let histories = usize::try_from(asked("TRIPHAMMER_SIMULATIONS", 2_000)).unwrap();
    let mut random = Random::new(asked("TRIPHAMMER_SEED", 1));
    let random = &mut random;
    for before in [14, 30, 60, 120, 360] {
        for ratio in [0.95, 0.97] {
            let mut within = [0; 7];
            for _ in 0..histories {
                let all = ratios(random, before + 7, before, ratio);
                if let Some(night) = first_alarm(&all, before + 1, change_points_of_ratios) {
                    within[night - before - 1..].iter_mut().for_each(|count| *count += 1);
                }
            }
            let share = |count: &usize| 100.0 * size(*count) / size(histories);
            let share: Vec<f64> = within.iter().map(share).collect();
            println!("control, {before} nights, then {ratio}: by night {share:.1?}");
            assert!(ratio > 0.96 || !(30..=120).contains(&before) || share[2] >= 90.0);
        }
    }
    for nights in [60, 120, 365] {
        let of_ratios = alarms_by_night(histories, change_points_of_ratios, || {
            ratios(random, nights, nights, 1.0)
        });
        println!("control, {nights} nights: {of_ratios:.1} %");
        assert!(of_ratios <= 10.0);
        let few = histories / 10;
        let show = |name: &str, rate: f64| println!("{name}, {nights} nights: {rate:.1} %");
        show("independent", alarms_by_night(few, plain, || alike(random, nights, 0.0)));
        show("AR(0.5)", alarms_by_night(few, plain, || alike(random, nights, 0.5)));
        for (offset, chance) in [(0.05, 0.1), (0.03, 0.1), (0.05, 0.05), (0.05, 0.02)] {
            let name = format!("sticky({offset}, {chance})");
            show(
                &name,
                alarms_by_night(few, plain, || sticky(random, nights, (offset, chance), 0.01)),
            );
        }
        for share in [-0.0002, -0.0005, -0.001] {
            let name = format!("drift({share})");
            show(&name, alarms_by_night(few, plain, || drifting(random, nights, share)));
        }
    }
}

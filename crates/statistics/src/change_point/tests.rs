//! False alarms and finds by simulation.

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
        alarms += usize::from(!change_points(&results, seed).is_empty());
    }
    assert!(alarms * 100 <= 5 * 500, "{alarms} of {runs}");
}

#[test]
fn a_step_of_5_per_cent_is_found_with_its_place_and_size() {
    let mut random = Random::new(62);
    for after in [950.0, 1_050.0] {
        let (mut found, mut placed, mut sized, runs) = (0, 0, 0, 500);
        for seed in 0..runs {
            let results = history(&mut random, &[(10, 1_000.0), (10, after)], 0.02);
            let changes = change_points(&results, seed);
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
    let levels = [(20, 1_000.0), (15, 900.0), (20, 1_050.0), (10, 1_200.0)];
    let near = |changes: &[ChangePoint]| {
        let places = changes.iter().map(|change| change.at);
        changes.len() == 3 && places.zip([20, 35, 55]).all(|(at, truth)| at.abs_diff(truth) <= 1)
    };
    let mut histories = (0..200).map(|_| history(&mut random, &levels, 0.02));
    let found = histories.by_ref().filter(|results| near(&change_points(results, 1))).count();
    assert!(found >= 180, "{found} of 200");
    let changes = change_points(&history(&mut random, &levels, 0.001), 1);
    assert!((changes[0].ratio.unwrap() - 0.9).abs() < 0.02);
    assert!((changes[2].after / 1_200.0 - 1.0).abs() < 0.02);
    assert!(changes.iter().all(|change| change.confidence > 0.97));
}

#[test]
fn one_bad_run_is_not_a_change() {
    let mut random = Random::new(64);
    let mut results = history(&mut random, &[(40, 1_000.0)], 0.01);
    results[20] = 500.0;
    assert_eq!(change_points(&results, 1), []);
}

#[test]
fn indices_are_those_of_the_results_with_missing_ones() {
    let mut results = vec![1.0; 10];
    results.extend([f64::NAN, f64::NAN, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
    let changes = change_points(&results, 1);
    assert_eq!(changes.len(), 1);
    assert_eq!((changes[0].at, changes[0].before, changes[0].after), (12, 1.0, 2.0));
    assert_eq!(changes[0].ratio, Some(2.0));
}

#[test]
fn the_unit_does_not_matter_and_the_seed_decides() {
    let mut random = Random::new(65);
    let results = history(&mut random, &[(15, 10.0), (15, 11.0)], 0.03);
    let minutes: Vec<f64> = results.iter().map(|x| x * 64.0).collect();
    let (one, two) = (change_points(&results, 1), change_points(&minutes, 1));
    assert_eq!(one, change_points(&results, 1));
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

//! Searches on exact, noisy and simulated systems.

use super::*;
use crate::percentile::of_histogram;
use crate::random::Random;

const PLAN: CapacityPlan =
    CapacityPlan { first: 10.0, lowest: 1.0, highest: 100_000.0, precision: 0.05, runs_max: 30 };

/// Runs a search to its end: returns the judgement and the rates tried.
fn search(plan: CapacityPlan, mut run: impl FnMut(f64) -> Answer) -> (Judgement, Vec<f64>) {
    let mut search = CapacitySearch::new(plan).unwrap();
    let mut rates = Vec::new();
    loop {
        match search.next() {
            SearchStep::Done(judgement) => return (judgement, rates),
            SearchStep::Run { rate, .. } => {
                assert!((plan.lowest..=plan.highest).contains(&rate));
                rates.push(rate);
                search.report_result(rate, run(rate));
            }
        }
        assert!(rates.len() <= plan.runs_max);
    }
}

fn found(judgement: Judgement) -> (f64, Interval, bool) {
    match judgement {
        Judgement::Found { rate, interval, precise } => (rate, interval, precise),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sharp_limit_is_found_and_hardly_overloaded() {
    for capacity in [1.5, 9.0, 11.0, 345.0, 77_000.0] {
        let (judgement, rates) = search(PLAN, |rate| Answer::Ok { ok: rate <= capacity });
        let (rate, interval, precise) = found(judgement);
        assert!(precise && (rate / capacity - 1.0).abs() <= 0.05, "{capacity}: {judgement:?}");
        assert!(interval.contains(capacity) || (rate / capacity - 1.0).abs() < 0.01);
        assert!(rates.iter().all(|rate| *rate <= f64::max(10.0, 2.0 * capacity)), "{rates:?}");
        assert!(rates.len() <= 28, "{}", rates.len());
    }
}

#[test]
fn the_belief_falls_from_sure_to_impossible_through_the_capacity() {
    let mut search = CapacitySearch::new(PLAN).unwrap();
    assert_eq!(search.belief(), []);
    let judgement = loop {
        match search.next() {
            SearchStep::Done(judgement) => break judgement,
            SearchStep::Run { rate, .. } => {
                search.report_result(rate, Answer::Ok { ok: rate < 345.0 })
            }
        }
    };
    let (_, interval, _) = found(judgement);
    let belief = search.belief();
    assert!(belief.is_sorted_by(|a, b| a.rate < b.rate && a.probability >= b.probability));
    assert!(belief[0].probability > 0.99 && belief[belief.len() - 1].probability < 0.01);
    let middle = belief.iter().find(|point| point.probability <= 0.5).unwrap();
    assert!(interval.contains(middle.rate), "{middle:?} {interval:?}");
}

#[test]
fn answers_that_lie_now_and_then_do_not_lead_astray() {
    let mut random = Random::new(81);
    let (mut near, mut runs) = (0, 0);
    for _ in 0..200 {
        let (judgement, rates) = search(PLAN, |rate| {
            let lie = random.unit() < 0.1;
            Answer::Ok { ok: (rate <= 345.0) != lie }
        });
        runs += rates.len();
        if let Judgement::Found { rate, .. } = judgement {
            near += usize::from((rate / 345.0 - 1.0).abs() <= 0.1);
        }
    }
    assert!(near >= 170, "{near} of 200");
    assert!(runs <= 200 * 25, "{runs}");
}

#[test]
fn what_is_never_ok_or_always_ok_is_told_in_few_runs() {
    let (judgement, rates) = search(PLAN, |_| Answer::Ok { ok: false });
    assert_eq!(judgement, Judgement::NeverOk { lowest: 1.0 });
    assert!(rates.len() <= 7, "{rates:?}");
    let (judgement, rates) = search(PLAN, |_| Answer::Ok { ok: true });
    assert_eq!(judgement, Judgement::AlwaysOk { highest: 100_000.0 });
    assert!(rates.len() <= 17, "{rates:?}");
    let one = CapacityPlan { lowest: 10.0, highest: 10.0, ..PLAN };
    let (judgement, _) = search(one, |_| Answer::Ok { ok: true });
    assert_eq!(judgement, Judgement::AlwaysOk { highest: 10.0 });
}

#[test]
fn a_search_that_uses_up_its_runs_says_so() {
    let plan = CapacityPlan { runs_max: 8, precision: 0.001, ..PLAN };
    let (judgement, rates) = search(plan, |rate| Answer::Ok { ok: rate <= 345.0 });
    let (_, interval, precise) = found(judgement);
    assert!(!precise && interval.contains(345.0), "{judgement:?}");
    assert_eq!(rates.len(), 8);
    let (judgement, rates) =
        search(CapacityPlan { runs_max: 3, ..plan }, |_| Answer::Ok { ok: true });
    let (rate, interval, precise) = found(judgement);
    assert!(rate == 40.0 && rates.contains(&rate) && !precise && interval.contains(345.0));
    let none = CapacityPlan { runs_max: 0, ..PLAN };
    assert!(!found(search(none, |_| unreachable!()).0).2);
}

/// Response times of a queue with Poisson arrivals, `servers` exponential servers of rate 1 and one
/// line.
fn queue(random: &mut Random, rate: f64, servers: usize, seconds: f64) -> Vec<(f64, u64)> {
    let mut free = vec![0.0_f64; servers];
    let (mut now, mut times) = (0.0, Vec::<f64>::new());
    while now < seconds {
        now += random.exponential() / rate;
        let next = free.iter_mut().min_by(|a, b| a.total_cmp(b)).unwrap();
        *next = f64::max(*next, now) + random.exponential();
        times.push(*next - now);
    }
    times.sort_by(f64::total_cmp);
    times.into_iter().map(|time| (time, 1)).collect()
}

/// Share of response times above `limit` in an M/M/c queue with servers of rate 1 (Gross and Harris,
/// "Fundamentals of Queueing Theory", section 2.3).
fn above(limit: f64, rate: f64, servers: u32) -> f64 {
    let c = f64::from(servers);
    let mut lost = 1.0; // Erlang's B, by its recursion
    for k in 1..=servers {
        lost = rate * lost / (f64::from(k) + rate * lost);
    }
    let waits = lost / (1.0 - rate / c * (1.0 - lost));
    let spare = c - 1.0 - rate;
    (-limit).exp() * (1.0 + waits * (1.0 - (-limit * spare).exp()) / spare)
}

#[test]
fn the_capacity_of_simulated_queues_is_found() {
    let (servers, limit) = (8, 8.0);
    let (mut low, mut high) = (0.1, 7.999);
    while high - low > 1e-9 {
        let middle = f64::midpoint(low, high);
        *(if above(limit, middle, servers) <= 0.01 { &mut low } else { &mut high }) = middle;
    }
    let plan =
        CapacityPlan { first: 1.0, lowest: 0.1, highest: 1_000.0, precision: 0.05, runs_max: 25 };
    let mut random = Random::new(82);
    let (mut near, mut held, mut runs) = (0, 0, 0);
    for _ in 0..25 {
        let (judgement, rates) = search(plan, |rate| {
            let times = queue(&mut random, rate, 8, 3_000.0);
            let p99 = of_histogram(&times, 99.0, 20.0).unwrap();
            Answer::Measured { value: Estimate { value: p99.value, interval: p99.interval }, limit }
        });
        let (rate, interval, _) = found(judgement);
        runs += rates.len();
        near += usize::from((rate / low - 1.0).abs() <= 0.05);
        held += usize::from(interval.contains(low));
    }
    assert!(near >= 24 && held >= 22, "near {near}, held {held}, capacity {low}");
    assert!(runs <= 500, "{runs}");
}

/// Of searches on a server of 200 exponential services per second, with an error of 8 % per run: the
/// share whose interval holds the capacity. Half of the runs do not know their own interval.
fn held_without_intervals(searches: u32, seed: u64) -> f64 {
    let limit = 0.05;
    let capacity = 200.0 - f64::ln(20.0) / limit;
    let mut random = Random::new(seed);
    let mut held = 0.0;
    for _ in 0..searches {
        let (judgement, _) = search(CapacityPlan { first: 40.0, ..PLAN }, |rate| {
            let served = Estimate { value: 199.0, interval: None };
            if rate >= 199.0 {
                return Answer::Overloaded { served };
            }
            let value = f64::ln(20.0) / (200.0 - rate) * (0.08 * random.normal()).exp();
            let width = f64::exp(1.96 * 0.08);
            let interval = Interval { low: value / width, high: value * width };
            let interval = (random.unit() < 0.5).then_some(interval);
            Answer::Measured { value: Estimate { value, interval }, limit }
        });
        held += f64::from(u8::from(found(judgement).1.contains(capacity)));
    }
    held / f64::from(searches)
}

#[test]
fn runs_without_an_interval_are_as_uncertain_as_the_others() {
    let held = held_without_intervals(60, 84);
    println!("held {held}");
    assert!(held >= 0.9, "{held}");
}

#[test]
fn telling_the_same_results_again_leads_to_the_same_place() {
    let mut first = CapacitySearch::new(PLAN).unwrap();
    let mut results = Vec::new();
    while let SearchStep::Run { rate, .. } = first.next() {
        let answer = Answer::Ok { ok: rate < 200.0 };
        first.report_result(rate, answer);
        results.push((rate, answer));
        let mut again = CapacitySearch::new(PLAN).unwrap();
        results.iter().for_each(|&(rate, answer)| again.report_result(rate, answer));
        assert_eq!(again.next(), first.next());
    }
    let text = serde_json::to_string(&first.next()).unwrap();
    assert!(text.starts_with(r#"{"kind":"done","result":"found","rate":"#), "{text}");
    assert!(matches!(
        serde_json::from_str(&text).unwrap(),
        SearchStep::Done(Judgement::Found { .. })
    ));
}

#[test]
fn plans_that_make_no_sense_are_refused() {
    let rates = |lowest, first, highest| {
        CapacitySearch::new(CapacityPlan { lowest, first, highest, ..PLAN }).unwrap_err()
    };
    assert_eq!(rates(0.0, 1.0, 2.0), CapacityError::Rates);
    assert_eq!(rates(2.0, 1.0, 3.0), CapacityError::Rates);
    assert_eq!(rates(1.0, 2.0, f64::INFINITY), CapacityError::Rates);
    assert_eq!(rates(1.0, f64::NAN, 2.0), CapacityError::Rates);
    let precision = CapacitySearch::new(CapacityPlan { precision: 0.0, ..PLAN });
    assert_eq!(precision, Err(CapacityError::Precision));
}

#[test]
fn odd_answers_do_no_harm() {
    let mut random = Random::new(83);
    let odd = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::MAX, 5e-324, 1.0];
    for _ in 0..100 {
        let (judgement, _) = search(PLAN, |_| {
            let mut draw = || odd[random.below(odd.len())];
            let interval = Some(Interval { low: draw(), high: draw() });
            Answer::Measured { value: Estimate { value: draw(), interval }, limit: draw() }
        });
        crate::numbers::assert_finite(&judgement);
    }
}

#[test]
fn the_capacity_is_not_above_what_an_overloaded_target_served() {
    // Percentiles that stay far below the limit until a server of 200 per second is overloaded by a
    // tenth.
    let served = Estimate { value: 200.0, interval: Some(Interval::around(200.0, 1.0)) };
    let fast = Estimate { value: 0.2, interval: Some(Interval { low: 0.18, high: 0.22 }) };
    let (judgement, _) = search(PLAN, |rate| match rate > 220.0 {
        true => Answer::Overloaded { served },
        false => Answer::Measured { value: fast, limit: 1.0 },
    });
    let (rate, interval, _) = found(judgement);
    assert!(rate < 200.0 && interval.high < 200.0, "{judgement:?}");
    assert!(rate > 180.0, "{judgement:?}");
}

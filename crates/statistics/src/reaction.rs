//! How a system reacts to a step of its load: when throughput reaches the new level, when response
//! times are back, what waited meanwhile, and how far throughput overshot. Up and down.
//!
//! The second half of the part after the step says how much the level varies by itself. Throughput
//! *reaches* a share `p` of the level in the first second that is there, together with the two after
//! it: at `p` times the level from below, at `2 - p` times from above, but for that variation. Times
//! are whole seconds after the step; 0 is the first one.

/// What happened in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadSecond {
    /// Transactions completed.
    pub completed: f64,
    /// Transactions that were due and waited at its end.
    pub waiting: f64,
    /// A high percentile of the response times, in any unit; `None` if nothing was completed.
    pub response: Option<f64>,
}

/// The reaction to a step. Times are in seconds since the step; `None` if the part ended before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reaction {
    /// Time until throughput reached 50 % of the new level.
    pub half_s: Option<f64>,
    /// Time until it reached 95 %.
    pub most_s: Option<f64>,
    /// Time until it was at the level, within the level's own spread.
    pub full_s: Option<f64>,
    /// Time until response times were within their own spread at the new level.
    pub response_s: Option<f64>,
    /// The most that waited at the end of a second, beyond what waits at the new level.
    pub late: f64,
    /// The sum over the seconds of what waited beyond that: transactions times seconds.
    pub late_s: f64,
    /// How far throughput went beyond the new level, above it after a step up and below it after a step
    /// down, as a share of it; 0 within its spread.
    pub overshoot: f64,
}

/// Shortest part, in seconds, whose second half is a level.
pub const SECONDS_MIN: usize = 6;
/// Seconds that must be at a level for it to be reached.
const LOOK: usize = 3;
/// Standard deviations that a second may differ from its level, and its response time.
const SPREADS: f64 = 3.0;
const RESPONSE_SPREADS: f64 = 3.0;
/// Response times this much above the level's count as back, however little they vary.
const RESPONSE_TOLERANCE: f64 = 0.25;
/// Share of the level's median absolute deviation in a standard deviation of normal values.
const OF_MAD: f64 = 1.4826;
/// Throughput at the end of a part that is less than this share of its load has not reached it.
const MOST: f64 = 0.95;

/// The reaction to a step from the level `before` to `level`, in transactions per second; `seconds`
/// are those from the step to the next. `None` if they are too few.
#[must_use]
pub fn reaction(seconds: &[LoadSecond], before: f64, level: f64) -> Option<Reaction> {
    if seconds.len() < SECONDS_MIN {
        return None;
    }
    let rest = &seconds[seconds.len() / 2..];
    let of = |read: fn(&LoadSecond) -> f64| rest.iter().map(read).collect::<Vec<_>>();
    let (_, spread) = middle(of(|second| second.completed));
    // A few seconds may be alike by chance: arrivals at random vary by the root of their number.
    let spread = spread.max(level.max(0.0).sqrt());
    let is_up = level > before;
    let reached = |share: f64| {
        let bound = if is_up { share * level } else { (2.0 - share) * level };
        let is_there = |mean: f64, count: usize| {
            let allowance = SPREADS * spread / count_f64(count).sqrt();
            if is_up { mean >= bound - allowance } else { mean <= bound + allowance }
        };
        first(seconds, |look| {
            let mean = look.iter().map(|s| s.completed).sum::<f64>() / count_f64(look.len());
            is_there(look[0].completed, 1) && is_there(mean, look.len())
        })
    };
    let has_settled = settles(rest, level, spread);
    // A queue that still grows or shrinks is no level.
    let waits = if has_settled { middle(of(|second| second.waiting)).0 } else { 0.0 };
    let late = |second: &LoadSecond| (second.waiting - waits).max(0.0);
    let response_s = if has_settled { response_back(seconds, rest) } else { None };
    let [half_s, most_s, full_s] = [0.5, MOST, 1.0].map(reached);
    Some(Reaction {
        half_s,
        most_s,
        full_s: full_s.filter(|_| has_settled || !is_up),
        response_s,
        late: seconds.iter().map(late).fold(0.0, f64::max),
        late_s: seconds.iter().map(late).sum(),
        overshoot: overshoot(seconds, level, spread, is_up),
    })
}

/// Whether the level is reached at the end of the part: throughput is there, and no more waits than
/// comes in a second.
fn settles(rest: &[LoadSecond], level: f64, spread: f64) -> bool {
    let mean = rest.iter().map(|s| s.completed).sum::<f64>() / count_f64(rest.len());
    let allowance = SPREADS * spread / count_f64(rest.len()).sqrt();
    mean >= MOST * level - allowance
        && rest.last().is_some_and(|last| last.waiting <= level.max(1.0))
}

/// When response times are back.
fn response_back(seconds: &[LoadSecond], rest: &[LoadSecond]) -> Option<f64> {
    let mut values: Vec<f64> = rest.iter().filter_map(|second| second.response).collect();
    let (median, spread) = middle(values.clone());
    values.sort_by(f64::total_cmp);
    // Few seconds are far away, such as those with a checkpoint or a busy neighbour.
    let most = values.get(values.len() * 9 / 10).copied().unwrap_or_default();
    let spread = (RESPONSE_SPREADS * spread).max(RESPONSE_TOLERANCE * median);
    let limit = (median + spread).max(most);
    let is_back = |second: &LoadSecond| second.response.is_none_or(|time| time <= limit);
    first(seconds, |look| {
        is_back(&look[0]) && 2 * look.iter().filter(|second| is_back(second)).count() > look.len()
    })
}

/// How far throughput went beyond the level.
fn overshoot(seconds: &[LoadSecond], level: f64, spread: f64, is_up: bool) -> f64 {
    if level <= 0.0 {
        return 0.0;
    }
    let beyond = |second: &LoadSecond| match is_up {
        true => second.completed - level,
        false => level - second.completed,
    };
    let most = seconds.iter().map(beyond).fold(0.0, f64::max);
    if most > RESPONSE_SPREADS * spread { most / level } else { 0.0 }
}

/// The first second from which the next few seconds hold, if there are any.
fn first(seconds: &[LoadSecond], holds: impl Fn(&[LoadSecond]) -> bool) -> Option<f64> {
    let look = |at: usize| &seconds[at..seconds.len().min(at + LOOK)];
    (0..seconds.len()).find(|at| holds(look(*at))).map(count_f64)
}

/// The median, and the standard deviation of normal values with the same median deviation.
fn middle(mut values: Vec<f64>) -> (f64, f64) {
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        match values.len() {
            0 => 0.0,
            n if n % 2 == 1 => values[n / 2],
            n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
        }
    };
    let center = median(&mut values);
    let mut deviations = values.iter().map(|value| (value - center).abs()).collect();
    (center, OF_MAD * median(&mut deviations))
}

#[expect(clippy::cast_precision_loss, reason = "seconds of a run")]
const fn count_f64(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A server whose capacity grows from `few` to `many` per second `after` seconds, under arrivals at
    /// `rate` with the noise of a Poisson process.
    fn growing(rate: f64, [few, many]: [f64; 2], after: usize, long: usize) -> Vec<LoadSecond> {
        let mut random = Random::new(7);
        let mut waiting = 0.0_f64;
        (0..long)
            .map(|at| {
                let arrived = rate + rate.sqrt() * random.normal();
                let capacity = if at < after { few } else { many };
                let completed = (waiting + arrived).min(capacity);
                waiting = waiting + arrived - completed;
                let response = Some(0.01 + waiting / capacity);
                LoadSecond { completed, waiting, response }
            })
            .collect()
    }

    fn near(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found - expected).abs() <= (0.05 * expected).max(1.0))
    }

    #[test]
    fn a_capacity_that_grows_late_is_found_with_its_backlog() {
        let seconds = growing(400.0, [250.0, 800.0], 10, 60);
        let found = reaction(&seconds, 100.0, 400.0).unwrap();
        assert_eq!(found.half_s, Some(0.0), "{found:?}");
        // 150 more wait each second for ten seconds, and 400 fewer after that.
        assert!(near(found.most_s, 10.0) && near(found.full_s, 10.0), "{found:?}");
        assert!(near(found.response_s, 13.75), "{found:?}");
        assert!((1_350.0..1_650.0).contains(&found.late), "{found:?}");
        assert!((0.9..1.1).contains(&found.overshoot), "{found:?}");
        assert!((8_000.0..12_500.0).contains(&found.late_s), "{found:?}");
    }

    #[test]
    fn a_level_that_is_never_reached_has_no_times() {
        let seconds = growing(400.0, [250.0, 250.0], 0, 30);
        let found = reaction(&seconds, 100.0, 400.0).unwrap();
        assert_eq!((found.half_s, found.most_s), (Some(0.0), None), "{found:?}");
        assert_eq!((found.full_s, found.response_s), (None, None), "{found:?}");
    }

    #[test]
    fn a_step_down_lasts_until_what_waited_is_done() {
        // 1,000 wait from before; 200 per second are done, 100 come.
        let mut waiting = 1_000.0_f64;
        let seconds: Vec<_> = (0..40)
            .map(|_| {
                let completed = (waiting + 100.0).min(200.0);
                waiting = waiting + 100.0 - completed;
                LoadSecond { completed, waiting, response: Some(0.01 + waiting / 200.0) }
            })
            .collect();
        let found = reaction(&seconds, 400.0, 100.0).unwrap();
        assert!(near(found.most_s, 10.0) && near(found.full_s, 10.0), "{found:?}");
        assert!(near(found.response_s, 9.0), "{found:?}");
        assert_eq!((found.overshoot, found.late), (0.0, 900.0), "{found:?}");
    }

    #[test]
    fn a_step_that_is_followed_at_once_takes_no_time() {
        for (rate, before) in [(400.0, 100.0), (100.0, 400.0), (20.0, 5.0)] {
            let seconds = growing(rate, [4_000.0, 4_000.0], 0, 40);
            let found = reaction(&seconds, before, rate).unwrap();
            let times = [found.half_s, found.most_s, found.full_s, found.response_s];
            assert!(times.iter().all(|time| time.is_some_and(|t| t <= 1.0)), "{rate}: {found:?}");
            assert!(found.late == 0.0, "{found:?}");
        }
        assert_eq!(reaction(&growing(10.0, [100.0; 2], 0, 5), 1.0, 10.0), None, "too short");
    }

    #[test]
    fn a_pause_is_reached_when_nothing_is_completed_any_more() {
        let mut seconds = growing(0.0, [100.0; 2], 0, 20);
        seconds[0] = LoadSecond { completed: 30.0, waiting: 0.0, response: Some(0.2) };
        seconds[1..].iter_mut().for_each(|second| second.response = None);
        let found = reaction(&seconds, 100.0, 0.0).unwrap();
        assert_eq!((found.full_s, found.overshoot), (Some(1.0), 0.0), "{found:?}");
    }
}

//! Decides whether a target falls behind an open load: arrivals are known exactly, and so are ends;
//! the difference is the backlog. If the target keeps up, the backlog comes and goes; otherwise it
//! grows.

use serde::{Deserialize, Serialize};

use crate::distribution::t_975;
use crate::numbers::{mean, size, squares};
use crate::{Estimate, Interval};

/// Minimum number of stretches in which growth can be detected.
pub const STRETCHES_MIN: usize = 5;
/// How far the mean growth must be above 0, as a multiple of the 97.5 % quantile of Student's t:
/// about 0.3 % of targets at the very edge do so by chance, and none with a little headroom.
const SURE: f64 = 1.5;
/// How many times the load in progress of a calm system may remain in a short window.
const UNDER_WAY: f64 = 1.5;
/// Standard deviations of the arrivals that may remain in a short window.
const CHANCE: f64 = 4.0;

/// Arrivals and ends in stretches of time of about equal length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch {
    /// Length in seconds, above 0.
    pub seconds: f64,
    /// Number of transactions that fell due.
    pub arrived: f64,
    /// Number of transactions that ended, whatever their outcome.
    pub ended: f64,
}

/// Whether the backlog grew throughout: by more than it varies between stretches. `None` with fewer
/// than [`STRETCHES_MIN`] stretches.
#[must_use]
pub fn grows(stretches: &[Stretch]) -> Option<bool> {
    if stretches.len() < STRETCHES_MIN {
        return None;
    }
    let growth: Vec<f64> = stretches.iter().map(|s| (s.arrived - s.ended) / s.seconds).collect();
    let error = error(&growth);
    let sure = SURE * t_975(size(growth.len()) - 1.0) * error;
    Some(mean(&growth) > sure.max(f64::EPSILON))
}

/// Whether a whole window, too short for stretches, ended with more left than a calm system and
/// chance explain. `response` is the mean response time in seconds: by Little's law, `arrivals per
/// second × response` are in progress in a calm system. One that began empty and fell behind all
/// along has twice that.
#[must_use]
pub fn left_behind(window: Stretch, response: f64) -> bool {
    let left = window.arrived - window.ended;
    let under_way = window.arrived / window.seconds * response;
    left > UNDER_WAY * under_way && left > CHANCE * window.arrived.sqrt()
}

/// Transactions served per second, with the scatter of the stretches; `None` without stretches.
#[must_use]
pub fn served(stretches: &[Stretch]) -> Option<Estimate> {
    let seconds: f64 = stretches.iter().map(|stretch| stretch.seconds).sum();
    let value = stretches.iter().map(|stretch| stretch.ended).sum::<f64>() / seconds;
    let each: Vec<f64> = stretches.iter().map(|stretch| stretch.ended / stretch.seconds).collect();
    let half = match each.len() >= STRETCHES_MIN {
        true => t_975(size(each.len()) - 1.0) * error(&each),
        // As if each had arrived by chance.
        false => t_975(f64::MAX) * (value / seconds).sqrt(),
    };
    value.is_finite().then(|| Estimate { value, interval: Some(Interval::around(value, half)) })
}

/// Standard error of the mean of `values`.
fn error(values: &[f64]) -> f64 {
    let n = size(values.len());
    (squares(values) / (n * (n - 1.0))).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Stretches of a server of rate 100 with exponential times, starting empty.
    fn stretches(random: &mut Random, rate: f64, count: usize, seconds: f64) -> Vec<Stretch> {
        let (mut due, mut free) = (0.0_f64, 0.0_f64);
        let mut found = vec![Stretch { seconds, arrived: 0.0, ended: 0.0 }; count];
        loop {
            due += random.exponential() / rate;
            let Some(stretch) = found.get_mut(crate::numbers::length(due / seconds)) else {
                return found;
            };
            stretch.arrived += 1.0;
            free = free.max(due) + random.exponential() / 100.0;
            if let Some(stretch) = found.get_mut(crate::numbers::length(free / seconds)) {
                stretch.ended += 1.0;
            }
        }
    }

    fn share(rate: f64, count: usize, seconds: f64) -> f64 {
        let mut random = Random::new(61);
        let grown = (0..400).filter(|_| {
            grows(&stretches(&mut random, rate, count, seconds)).expect("enough stretches")
        });
        size(grown.count()) / 400.0
    }

    #[test]
    fn a_backlog_grows_where_more_arrives_than_is_served_and_nowhere_else() {
        assert!(share(95.0, 20, 3.0) <= 0.01);
        assert!(share(80.0, 10, 1.0) <= 0.01);
        assert!(share(110.0, 20, 3.0) >= 0.95);
        assert!(share(150.0, 10, 1.0) >= 0.95);
    }

    #[test]
    fn a_short_window_tells_what_falls_behind_from_what_is_under_way() {
        let window = |arrived, ended| Stretch { seconds: 1.0, arrived, ended };
        // 328 per second at a server of 200: those that ended waited 0.2 s on average.
        assert!(left_behind(window(328.0, 200.0), 0.195));
        // One that waits when the load ends.
        assert!(!left_behind(window(7.0, 6.0), 0.02));
        // 300 ms each, however many at once, starting empty.
        assert!(!left_behind(window(1_000.0, 700.0), 0.3));
        let mut random = Random::new(63);
        let calm = (0..400).filter(|_| left_behind(stretches(&mut random, 95.0, 1, 3.0)[0], 0.1));
        assert_eq!(calm.count(), 0);
    }

    #[test]
    fn what_an_overloaded_server_serves_is_its_rate() {
        let mut random = Random::new(62);
        let mut held = 0;
        for _ in 0..400 {
            let served = served(&stretches(&mut random, 150.0, 20, 3.0)).unwrap();
            held += usize::from(served.interval.unwrap().contains(100.0));
        }
        assert!((360..=396).contains(&held), "{held}");
    }

    #[test]
    fn too_few_stretches_say_nothing() {
        assert_eq!(grows(&[Stretch { seconds: 1.0, arrived: 9.0, ended: 1.0 }; 4]), None);
        assert_eq!(served(&[]), None);
        let one = served(&[Stretch { seconds: 10.0, arrived: 500.0, ended: 400.0 }]).unwrap();
        assert_eq!(one.value, 40.0);
        assert!((one.interval.unwrap().half_width() - 3.92).abs() < 0.01);
    }
}

//! The cycle of a terminal: its user keys in the next transaction, waits for the answer, and
//! thinks.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::random::Rng;

/// Purpose of the random stream that thinking times are drawn from. It is separate, so that a
/// terminal's transactions are those of a closed load.
const THINKING: u64 = 4;
/// Thinking times are truncated at this many times their mean (TPC-C clause 5.2.5.4).
const LONGEST: f64 = 10.0;

/// Keying and thinking times of a workload, by transaction type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cycle {
    /// Terminals per unit of scale.
    pub terminals: u32,
    /// Constant keying time of each transaction type.
    pub keying: Vec<Duration>,
    /// Mean thinking time of each transaction type; times are exponential, truncated at ten times
    /// the mean.
    pub thinking: Vec<Duration>,
    /// Largest value of the primary metric, in its unit of time, that these times allow per unit of
    /// scale.
    pub primary_metric_max: f64,
}

impl Cycle {
    /// Largest value of the primary metric that these times allow for one terminal.
    #[must_use]
    pub fn metric_max_per_terminal(&self) -> f64 {
        self.primary_metric_max / f64::from(self.terminals)
    }

    /// Time from the end of a terminal's transaction to when its next one is due: `nth`, from 1, of
    /// terminal `id`.
    #[must_use]
    pub fn pause(&self, last: usize, next: usize, seed: u64, id: u64, nth: u64) -> Duration {
        let drawn = Rng::of(seed, &[THINKING, id, nth]).exponential(1.0).min(LONGEST);
        self.thinking[last].mul_f64(drawn) + self.keying[next]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle() -> Cycle {
        Cycle {
            terminals: 10,
            keying: [18, 2].map(Duration::from_secs).to_vec(),
            thinking: [12, 5].map(Duration::from_secs).to_vec(),
            primary_metric_max: 12.86,
        }
    }

    #[test]
    fn keying_is_constant_and_thinking_exponential_up_to_ten_means() {
        let pauses: Vec<f64> =
            (1..=200_000).map(|nth| cycle().pause(0, 1, 1, 7, nth).as_secs_f64() - 2.0).collect();
        let longest = pauses.iter().copied().fold(0.0, f64::max);
        assert!(pauses.iter().all(|pause| *pause >= 0.0) && longest == 120.0, "{longest}");
        // The mean of an exponential truncated at ten means is 1 - e^-10 of it.
        let mean = pauses.iter().sum::<f64>() / 200_000.0;
        assert!((mean - 12.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn a_pause_is_that_of_its_terminal_and_place() {
        assert_eq!(cycle().pause(1, 0, 5, 3, 9), cycle().pause(1, 0, 5, 3, 9));
        assert_ne!(cycle().pause(1, 0, 5, 3, 9), cycle().pause(1, 0, 5, 4, 9));
        assert_ne!(cycle().pause(1, 0, 5, 3, 9), cycle().pause(1, 0, 5, 3, 10));
    }
}

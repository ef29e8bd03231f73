//! The logins of an interval: sessions that were opened during the run, by phase, and how
//! long lost sessions were away.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::{merge, microseconds, record_in};
use crate::clock::Elapsed;
use crate::login::LoginTimes;

/// A login that succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Login {
    /// From its beginning until the session was ready for its first transaction.
    pub took: Duration,
    /// Its phases, as far as the driver can tell them.
    pub phases: LoginTimes,
}

/// Logins of an interval. Times are in microseconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LoginInterval {
    /// Attempts that failed.
    pub failed: u64,
    /// Whole times of the logins that succeeded.
    #[serde(with = "crate::histogram::optional")]
    pub whole: Option<Histogram<u64>>,
    /// Time to the connection.
    #[serde(with = "crate::histogram::optional")]
    pub connect: Option<Histogram<u64>>,
    /// Time for TLS.
    #[serde(with = "crate::histogram::optional")]
    pub tls: Option<Histogram<u64>>,
    /// Time for authentication.
    #[serde(with = "crate::histogram::optional")]
    pub authentication: Option<Histogram<u64>>,
    /// Time for the set-up of the session, and for preparing its statements.
    #[serde(with = "crate::histogram::optional")]
    pub setup: Option<Histogram<u64>>,
    /// Of sessions that are back: time since they were lost. Of those opened at the start of a run:
    /// time since the first of them began.
    #[serde(with = "crate::histogram::optional")]
    pub back: Option<Histogram<u64>>,
}

impl LoginInterval {
    /// Records a login that succeeded.
    pub fn succeeded(&mut self, login: Login) {
        let Login { took, phases } = login;
        for (times, time) in [
            (&mut self.whole, Some(took)),
            (&mut self.connect, phases.connect),
            (&mut self.tls, phases.tls),
            (&mut self.authentication, phases.authentication),
            (&mut self.setup, phases.rest(took)),
        ] {
            if let Some(time) = time {
                record_in(times, of_duration(time));
            }
        }
    }

    /// Records that a session is back this long after it was lost, or after the start.
    pub fn back_after(&mut self, time: Duration) {
        record_in(&mut self.back, of_duration(time));
    }

    /// Number of logins that succeeded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.whole.as_ref().map_or(0, Histogram::len)
    }

    /// Whether there was none, and no attempt at one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.failed == 0 && self.count() == 0
    }

    /// Adds the logins of `other`, exactly.
    pub fn add(&mut self, other: &Self) {
        self.failed += other.failed;
        for (mine, theirs) in [
            (&mut self.whole, &other.whole),
            (&mut self.connect, &other.connect),
            (&mut self.tls, &other.tls),
            (&mut self.authentication, &other.authentication),
            (&mut self.setup, &other.setup),
            (&mut self.back, &other.back),
        ] {
            merge(mine, theirs.as_ref());
        }
    }
}

fn of_duration(time: Duration) -> u64 {
    microseconds(Elapsed::from_duration(time).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_counted_by_phase_and_add_up() {
        let ms = Duration::from_millis;
        let phases = LoginTimes { connect: Some(ms(1)), tls: None, authentication: Some(ms(5)) };
        let mut all = LoginInterval::default();
        assert!(all.is_empty());
        let mut one = LoginInterval::default();
        one.succeeded(Login { took: ms(9), phases });
        one.back_after(ms(700));
        let mut other = LoginInterval { failed: 2, ..LoginInterval::default() };
        other.succeeded(Login { took: ms(4), phases: LoginTimes::default() });
        all.add(&one);
        all.add(&other);
        assert_eq!((all.count(), all.failed, all.is_empty()), (2, 2, false));
        let counts = [&all.connect, &all.tls, &all.authentication, &all.setup, &all.back];
        let counts = counts.map(|times| times.as_ref().map_or(0, Histogram::len));
        assert_eq!(counts, [1, 0, 1, 1, 1], "the second driver can tell the whole only");
        let setup = all.setup.unwrap().max();
        assert!((2_999..3_010).contains(&setup), "{setup}");
    }
}

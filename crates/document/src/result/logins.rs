//! The logins of a run: those of the start, and those of sessions that were opened during it,
//! because they log in again (`--reconnect`) or were lost.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use triphammer_core::recorder::LoginInterval;
use triphammer_core::stats::{Times, rate};
use triphammer_engine::RunEnd;

use super::document::Durations;

/// Logins of a run, by its parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Logins {
    /// Those before the start of the run: one of each session.
    pub start: LoginFigures,
    /// Those in the timed window.
    pub window: LoginFigures,
    /// Those in the whole run.
    pub run: LoginFigures,
}

/// Logins of a part of a run, and how long they took. A login lasts until the session is ready for
/// its first transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoginFigures {
    /// Number of logins.
    pub count: u64,
    /// Number of attempts that failed.
    pub failed: u64,
    /// Logins per second.
    #[schemars(range(min = 0.0))]
    pub per_second: f64,
    /// Whole times of the logins.
    pub whole: Times,
    /// Time to the connection; `None` if the driver cannot tell it, and likewise below.
    pub connect: Option<Times>,
    /// Time for TLS; `None` without TLS, too.
    pub tls: Option<Times>,
    /// Time for authentication.
    pub authentication: Option<Times>,
    /// Time for setting up the session and preparing its statements.
    pub setup: Option<Times>,
    /// When sessions were back that had been lost; of the start: when sessions were there. `None` if
    /// there was none.
    pub back: Option<SessionsBack>,
}

/// When sessions were back, each since it was lost; or were there at the start, since the first of
/// them began to log in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionsBack {
    /// Number of sessions.
    pub sessions: u64,
    /// Time until half of them were back, in seconds.
    #[schemars(range(min = 0.0))]
    pub half_s: f64,
    /// Time until 95 % of them were back, in seconds.
    #[schemars(range(min = 0.0))]
    pub most_s: f64,
    /// Time until all of them were back, in seconds.
    #[schemars(range(min = 0.0))]
    pub all_s: f64,
}

impl Logins {
    pub(super) fn of(end: &RunEnd, durations: &Durations) -> Option<Self> {
        let logins = &end.logins;
        if logins.start.is_empty() && logins.run.is_empty() {
            return None;
        }
        let took_s = SessionsBack::of(logins.start.back.as_ref()).map_or(0.0, |back| back.all_s);
        Some(Self {
            start: LoginFigures::of(&logins.start, took_s),
            window: LoginFigures::of(&logins.window, durations.window_s),
            run: LoginFigures::of(&logins.run, durations.whole_s),
        })
    }
}

impl LoginFigures {
    fn of(logins: &LoginInterval, seconds: f64) -> Self {
        let times =
            |times: &Option<Histogram<u64>>| times.as_ref().map(|h| Times::of(Some(h), None));
        Self {
            count: logins.count(),
            failed: logins.failed,
            per_second: rate(logins.count(), seconds, 1),
            whole: Times::of(logins.whole.as_ref(), None),
            connect: times(&logins.connect),
            tls: times(&logins.tls),
            authentication: times(&logins.authentication),
            setup: times(&logins.setup),
            back: SessionsBack::of(logins.back.as_ref()),
        }
    }

    /// The whole times and those of the phases that are known, with their titles.
    pub fn phases(&self) -> impl Iterator<Item = (&'static str, &Times)> {
        let phases = [
            ("TCP", self.connect.as_ref()),
            ("TLS", self.tls.as_ref()),
            ("Authentication", self.authentication.as_ref()),
            ("Set-up", self.setup.as_ref()),
            ("Login", Some(&self.whole)),
        ];
        phases.into_iter().filter_map(|(title, times)| Some((title, times?)))
    }
}

impl SessionsBack {
    #[expect(clippy::cast_precision_loss, reason = "microseconds of a run")]
    fn of(times: Option<&Histogram<u64>>) -> Option<Self> {
        let times = times.filter(|times| !times.is_empty())?;
        let seconds = |us: u64| us as f64 / 1e6;
        Some(Self {
            sessions: times.len(),
            half_s: seconds(times.value_at_quantile(0.5)),
            most_s: seconds(times.value_at_quantile(0.95)),
            all_s: seconds(times.max()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use triphammer_core::login::LoginTimes;
    use triphammer_core::recorder::Login;

    use super::*;

    #[test]
    fn sessions_are_back_by_half_by_most_and_all() {
        let mut logins = LoginInterval { failed: 3, ..LoginInterval::default() };
        for second in 1..=100 {
            let login =
                Login { took: Duration::from_millis(second), phases: LoginTimes::default() };
            logins.succeeded(login);
            logins.back_after(Duration::from_secs(second));
        }
        let figures = LoginFigures::of(&logins, 50.0);
        assert_eq!((figures.count, figures.failed, figures.per_second), (100, 3, 2.0));
        let back = figures.back.unwrap();
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.002;
        assert!(near(back.half_s, 50.0) && near(back.most_s, 95.0) && near(back.all_s, 100.0));
        let titles: Vec<_> = figures.phases().map(|(title, _)| title).collect();
        assert_eq!(titles, ["Login"], "the driver can tell the whole only");
    }
}

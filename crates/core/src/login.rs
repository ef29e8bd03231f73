//! The phases of a login. A driver that can tell them apart reads a [`LoginWatch`] on its way to a
//! session; the engine measures the whole, and what no phase covers is the session's set-up.

use std::time::Duration;

use tokio::time::Instant;

/// How long the phases of a login took; `None` for a phase that the driver cannot tell, or that the
/// login did not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoginTimes {
    /// Name lookup and connection, with addresses and servers that were tried before.
    pub connect: Option<Duration>,
    /// Asking for TLS, and its handshake.
    pub tls: Option<Duration>,
    /// From the first message of the session to the server's consent.
    pub authentication: Option<Duration>,
}

impl LoginTimes {
    /// What is left of a login of this length: the set-up of the session; `None` if the driver can
    /// tell no phase.
    #[must_use]
    pub fn rest(&self, whole: Duration) -> Option<Duration> {
        let phases = [self.connect, self.tls, self.authentication];
        let known: Duration = phases.iter().flatten().sum();
        phases.iter().any(Option::is_some).then(|| whole.saturating_sub(known))
    }
}

/// Measures the phases of a login, one after the other: each begins where the last one ended.
#[derive(Clone, Copy, Debug)]
pub struct LoginWatch {
    since: Instant,
    times: LoginTimes,
}

impl LoginWatch {
    /// Starts the first phase.
    #[must_use]
    pub fn start() -> Self {
        Self { since: Instant::now(), times: LoginTimes::default() }
    }

    /// Records that the connection is there.
    pub fn connected(&mut self) {
        let passed = self.lap();
        *self.times.connect.get_or_insert_default() += passed;
    }

    /// Records that TLS is there, or that the server has declined it.
    pub fn secured(&mut self) {
        let passed = self.lap();
        *self.times.tls.get_or_insert_default() += passed;
    }

    /// Records that the server has accepted the user.
    pub fn authenticated(&mut self) {
        let passed = self.lap();
        *self.times.authentication.get_or_insert_default() += passed;
    }

    /// The phases so far.
    #[must_use]
    pub const fn times(&self) -> LoginTimes {
        self.times
    }

    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now.saturating_duration_since(std::mem::replace(&mut self.since, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_phase_begins_where_the_last_one_ended() {
        let ms = Duration::from_millis;
        let mut watch = LoginWatch::start();
        tokio::time::advance(ms(3)).await;
        watch.connected();
        tokio::time::advance(ms(5)).await;
        watch.authenticated();
        // A second attempt at the next address.
        tokio::time::advance(ms(7)).await;
        watch.connected();
        let times = watch.times();
        let expected = LoginTimes { connect: Some(ms(10)), tls: None, authentication: Some(ms(5)) };
        assert_eq!(times, expected);
        assert_eq!((times.rest(ms(19)), times.rest(ms(1))), (Some(ms(4)), Some(ms(0))));
        assert_eq!(LoginTimes::default().rest(ms(1)), None, "nothing is known of the phases");
    }
}

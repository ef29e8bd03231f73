//! What a run is, with nothing left open: every option has become a value. The runner resolves it from
//! flags, environment, job file and defaults; the engine, the store and later the server and Python see
//! only this.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::serde_duration;
use crate::error::SpecError;
use crate::pace::Load;
use crate::session::{Capabilities, Isolation, Protocol};
use crate::workload::Mode;

/// How a workload is driven.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// Virtual users.
    pub users: u32,
    /// Worker threads.
    pub threads: u32,
    /// Load without timing, before the window. Zero when the length is a number of transactions.
    #[serde(with = "serde_duration")]
    pub rampup: Duration,
    /// How long or how much.
    pub length: Length,
    /// Where the logic runs.
    pub mode: Mode,
    /// How statements travel.
    pub protocol: Protocol,
    /// Isolation level; `None` for the database's own.
    pub isolation: Option<Isolation>,
    /// Load model.
    pub load: Load,
    /// Seed of the inputs.
    pub seed: u64,
    /// When a failed attempt is tried again.
    pub retry: RetryPolicy,
    /// Limits of every wait.
    pub limits: Limits,
    /// Share of transactions that may fail before the run counts as failed.
    pub max_failures: f64,
}

/// How long a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// The timed window, after ramp-up, by the clock.
    Time(#[serde(with = "serde_duration")] Duration),
    /// This many transactions of each virtual user; all of it is the window.
    Transactions(u64),
}

/// Retries of serialization failures and deadlocks, with the same input.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// Attempts in all, the first included.
    pub attempts: u32,
    /// The first wait is drawn from 0 to this; it doubles with each attempt (full jitter).
    #[serde(with = "serde_duration")]
    pub backoff_first: Duration,
    /// Longest wait.
    #[serde(with = "serde_duration")]
    pub backoff_max: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 3,
            backoff_first: Duration::from_millis(5),
            backoff_max: Duration::from_secs(1),
        }
    }
}

impl RetryPolicy {
    /// The wait before attempt `attempt` (2 for the second), given a number from 0 to 1.
    #[must_use]
    pub fn backoff(&self, attempt: u32, unit: f64) -> Duration {
        let doubled = self.backoff_first.saturating_mul(1 << attempt.saturating_sub(2).min(20));
        doubled.min(self.backoff_max).mul_f64(unit)
    }
}

/// Every wait has a limit with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Opening a session.
    #[serde(with = "serde_duration")]
    pub connect: Duration,
    /// A transaction's attempt; zero for no limit. A watchdog cancels it and counts a timeout.
    #[serde(with = "serde_duration")]
    pub transaction: Duration,
    /// Waiting for transactions in flight after the stop; then they are aborted.
    #[serde(with = "serde_duration")]
    pub drain: Duration,
    /// First wait before a lost session is made anew; doubles up to `reconnect_max`.
    #[serde(with = "serde_duration")]
    pub reconnect_first: Duration,
    /// Longest wait between two attempts to reconnect.
    #[serde(with = "serde_duration")]
    pub reconnect_max: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            transaction: Duration::ZERO,
            drain: Duration::from_secs(30),
            reconnect_first: Duration::from_millis(50),
            reconnect_max: Duration::from_secs(5),
        }
    }
}

impl RunSpec {
    /// Refuses what cannot be run on a database of these capabilities.
    ///
    /// # Errors
    /// With what is wrong and what to do.
    pub fn validate(&self, capabilities: &Capabilities) -> Result<(), SpecError> {
        let refuse = |message: String| Err(SpecError::new(message));
        if self.users == 0 {
            return refuse("a run needs at least one virtual user: --vus 1 or more".into());
        }
        if self.threads == 0 {
            return refuse("a run needs at least one worker thread: --threads 1 or more".into());
        }
        if let Some((most, reason)) = capabilities.users_max
            && self.users > most
        {
            return refuse(format!(
                "{} virtual users are too many: {reason}; use at most {most}",
                self.users
            ));
        }
        match self.length {
            Length::Time(window)
                if window < Duration::from_secs(1) || window.subsec_nanos() != 0 =>
            {
                return refuse(
                    "the timed window is counted in whole seconds: --duration 1s or more".into(),
                );
            }
            Length::Transactions(0) => {
                return refuse("--transactions 0 would do nothing; give 1 or more".into());
            }
            _ => {}
        }
        if self.rampup.subsec_nanos() != 0 {
            return refuse("ramp-up is counted in whole seconds: --rampup 5s".into());
        }
        if self.retry.attempts == 0 {
            return refuse(
                "--retries counts attempts, the first included; give 1 for no retry".into(),
            );
        }
        if !self.load.is_closed() {
            return refuse(format!(
                "the load model `{}` is not available in this version; --load closed is",
                self.load.name()
            ));
        }
        if self.mode == Mode::Procedures && !capabilities.procedures {
            return refuse("this database has no stored procedures; use --mode statements".into());
        }
        if let Some(level) = self.isolation
            && !capabilities.isolations.contains(&level)
        {
            let known: Vec<_> = capabilities.isolations.iter().map(|level| level.name()).collect();
            return refuse(format!(
                "this database has no isolation level {}; it has {}",
                level.name(),
                known.join(", ")
            ));
        }
        if !capabilities.protocols.contains(&self.protocol) {
            return refuse(format!("this database has no protocol {}", self.protocol.name()));
        }
        Ok(())
    }
}

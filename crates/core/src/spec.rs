//! The full specification of a run: every option has become a value. The runner resolves it from
//! flags, environment, job file and defaults; the engine and the store see only this.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::clock::{DurationText, format_duration};
use crate::error::SpecError;
use crate::io::{Io, WorkerLoop, probe};
use crate::pace::{
    Changeable, Cycle, Late, Load, LoadChange, PairHalf, PlannedChange, RATE_MAX, RateProfile,
    RateStep,
};
use crate::session::{Capabilities, Isolation, Pipelining, Protocol};
use crate::workload::Mode;

/// Maximum number of sessions of a run, and so of virtual users.
pub const SESSIONS_MAX: u32 = 100_000;
/// Maximum number of terminals of a keyed load.
pub const TERMINALS_MAX: u32 = 10_000_000;
/// Maximum number of worker threads.
pub const THREADS_MAX: u32 = 1_024;
/// Maximum number of arrivals that may wait for a session.
pub const BACKLOG_MAX: u64 = 1_000_000_000;
/// Maximum number of transactions per virtual user.
pub const TRANSACTIONS_MAX: u64 = 1_000_000_000_000;
/// Maximum number of attempts at a transaction.
pub const RETRIES_MAX: u32 = 1_000;
/// Longest duration that any setting accepts: 366 days.
pub const DURATION_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);

/// Sessions per thread from which a ring takes less CPU time than epoll (`bench/client_cost.py`).
const SESSIONS_FOR_RING: u32 = 2;

/// Transactions of a session from which the reactor takes less CPU time than a runtime, whose
/// connections cost less to open (`bench/logins.py`).
const LOGINS_FOR_REACTOR: u64 = 100;

/// How a workload is driven.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSpec {
    /// Number of virtual users; of terminals where the load is keyed, of sessions where it is open.
    pub users: u32,
    /// Number of worker threads.
    pub threads: u32,
    /// Load before the timed window, which is not measured. Zero when the length is a number of
    /// transactions.
    #[serde(with = "DurationText")]
    pub rampup: Duration,
    /// Length of the run, as a time or a number of transactions.
    pub length: Length,
    /// Where the transaction logic runs.
    pub mode: Mode,
    /// How statements are sent.
    pub protocol: Protocol,
    /// Which messages of a transaction share a round trip.
    pub pipelining: Pipelining,
    /// How worker threads wait for their sessions.
    pub io: Io,
    /// Isolation level; `None` for the database's own.
    pub isolation: Option<Isolation>,
    /// When transactions are due.
    pub load: Load,
    /// Further settings of a load that waits.
    pub pacing: Pacing,
    /// When sessions log in.
    #[serde(default)]
    pub logins: LoginPolicy,
    /// Random seed of the inputs.
    pub seed: u64,
    /// When a failed attempt is retried.
    pub retry: RetryPolicy,
    /// Limits of all waits.
    pub limits: TimeLimits,
    /// Share of transactions that may fail before the run counts as failed.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_failures: f64,
}

/// Length of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// Duration of the timed window, after ramp-up.
    Time(#[serde(with = "DurationText")] Duration),
    /// Number of transactions of each virtual user; all of them are in the window.
    Transactions(u64),
}

/// Further settings of a load that waits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pacing {
    /// Sessions that keyed terminals use: one each, or a pool.
    pub sessions: Sessions,
    /// Time between the log-ins of two consecutive terminals; keyed loads only.
    #[serde(with = "DurationText")]
    pub login_delay: Duration,
    /// What happens to late arrivals; open loads only.
    pub late: Late,
    /// Maximum number of arrivals that may wait for a session; 0 where the load is not open. When
    /// one more is due, the longest waiting one is dropped.
    pub backlog: u64,
    /// Contents of the file of a load in steps.
    pub steps: Vec<RateStep>,
    /// Changes of the load that the run makes itself, in the order of their times.
    #[serde(default)]
    pub changes: Vec<PlannedChange>,
    /// When the run works, if it takes place at once with another one; `None` if it is alone.
    #[serde(default)]
    pub half: Option<PairHalf>,
}

/// When sessions log in; by default once, at the start, as fast as they can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoginPolicy {
    /// Number of transactions after which a session logs out, to log in again for its next one; `None`
    /// if it remains.
    pub every: Option<u64>,
    /// Number of sessions per second that begin to log in at the start, if the server keeps up; `None`
    /// for no limit.
    #[schemars(range(min = 0.0))]
    pub per_second: Option<f64>,
}

impl LoginPolicy {
    /// When session `id` begins to log in, after the start.
    #[must_use]
    pub fn begin(&self, id: u32) -> Duration {
        let wait = self.per_second.map(|rate| f64::from(id) / rate);
        wait.map_or(Duration::ZERO, Duration::from_secs_f64)
    }
}

/// The sessions that terminals use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sessions {
    /// Each terminal has its own session.
    #[default]
    Own,
    /// Terminals share a pool of this size, as behind a transaction monitor: one that is due takes
    /// the first free session.
    Pool(u32),
}

impl Sessions {
    /// Number of sessions for this many terminals.
    #[must_use]
    pub const fn count(self, terminals: u32) -> u32 {
        match self {
            Self::Own => terminals,
            Self::Pool(sessions) => sessions,
        }
    }
}

/// Retries of serialization failures and deadlocks, with the same input.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RetryPolicy {
    /// Maximum number of attempts, including the first.
    pub attempts: u32,
    /// Upper limit of the first wait, which is drawn from 0 to this; it doubles with each attempt
    /// (full jitter).
    #[serde(with = "DurationText")]
    pub backoff_first: Duration,
    /// Upper limit of all later waits.
    #[serde(with = "DurationText")]
    pub backoff_max: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 10,
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

/// A named limit for every wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeLimits {
    /// Limit for opening a session.
    #[serde(with = "DurationText")]
    pub connect: Duration,
    /// Limit for an attempt at a transaction; zero for none. A watchdog cancels it and counts a
    /// timeout.
    #[serde(with = "DurationText")]
    pub transaction: Duration,
    /// Limit for transactions in flight after the stop; then they are aborted.
    #[serde(with = "DurationText")]
    pub drain: Duration,
    /// Wait before a lost session first reconnects; doubles up to `reconnect_max`.
    #[serde(with = "DurationText")]
    pub reconnect_first: Duration,
    /// Longest wait between two attempts to reconnect.
    #[serde(with = "DurationText")]
    pub reconnect_max: Duration,
}

impl Default for TimeLimits {
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

/// Outages up to this length keep all their arrivals waiting, with the default backlog: a server
/// that restarts or fails over is back within it; one that is not back does not keep up.
const BACKLOG: Duration = Duration::from_secs(60);

impl Pacing {
    /// Default limit of the backlog: one minute of arrivals at the highest rate. Waiting arrivals
    /// need no memory; the limit distinguishes an outage from a load that is too high.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 6e8")]
    pub fn default_backlog(load: &Load, steps: &[RateStep], changes: &[PlannedChange]) -> u64 {
        let rate = |planned: &PlannedChange| match planned.change {
            LoadChange::Rate(rate) => rate,
            LoadChange::Users(_) | LoadChange::Mix(_) => 0.0,
        };
        let planned = changes.iter().map(rate).fold(0.0, f64::max);
        let profile = RateProfile::new(load, steps, Duration::ZERO);
        let arrivals = |p: RateProfile| p.highest().max(planned) * BACKLOG.as_secs_f64();
        profile.map_or(0, |p| arrivals(p).ceil().max(1.0) as u64)
    }
}

impl RunSpec {
    /// Number of sessions on the database.
    #[must_use]
    pub const fn sessions(&self) -> u32 {
        self.pacing.sessions.count(self.users)
    }

    /// What the worker threads of the run on this host run their sessions on: all the same.
    #[must_use]
    pub fn worker_loop(&self, database: &Capabilities) -> WorkerLoop {
        // Databases that are not reached by a socket of this program need only a runtime.
        if database.blocks || !database.stores || cfg!(not(target_os = "linux")) {
            return WorkerLoop::Runtime;
        }
        // Outside of a runtime, the limits of transactions of all threads would be kept by one
        // timer, behind a lock.
        let is_limited = !self.limits.transaction.is_zero();
        let logs_in_often = self.logins.every.is_some_and(|every| every < LOGINS_FOR_REACTOR);
        let has_many = self.sessions() / self.threads.max(1) >= SESSIONS_FOR_RING;
        match self.io {
            Io::Uring => WorkerLoop::Ring,
            Io::Auto | Io::Epoll if is_limited => WorkerLoop::Runtime,
            // The reactor has its connections opened by another thread's runtime.
            Io::Auto | Io::Epoll if logs_in_often => WorkerLoop::Runtime,
            Io::Auto if has_many && probe().is_ok() => WorkerLoop::Ring,
            Io::Auto | Io::Epoll => WorkerLoop::Epoll,
        }
    }

    /// Rejects a run that is not possible on a database with these capabilities, with a workload
    /// whose terminals have this cycle.
    ///
    /// # Errors
    /// With what is wrong and what to do.
    pub fn validate(
        &self,
        capabilities: &Capabilities,
        cycle: Option<&Cycle>,
    ) -> Result<(), SpecError> {
        self.validate_counts(capabilities)?;
        self.validate_sizes()?;
        self.validate_pacing(cycle)?;
        self.validate_changes()?;
        self.validate_logins(capabilities)?;
        self.validate_course()?;
        self.validate_statements(capabilities)
    }

    /// Rejects a run without users or threads, and more users than the database can have.
    fn validate_counts(&self, capabilities: &Capabilities) -> Result<(), SpecError> {
        let refuse = |message: String| Err(SpecError::new(message));
        let users =
            if self.load == Load::Keyed { "terminal: --terminals" } else { "virtual user: --vus" };
        if self.users == 0 {
            return refuse(format!("a run needs at least one {users} must be 1 or more"));
        }
        if self.threads == 0 {
            return refuse(
                "a run needs at least one worker thread: --threads must be 1 or more".into(),
            );
        }
        if let Some((most, reason)) = capabilities.users_max
            && self.sessions() > most
        {
            let what = if self.load == Load::Keyed { "sessions" } else { "virtual users" };
            return refuse(format!(
                "{} {what} are too many: {reason}; use at most {most}",
                self.sessions()
            ));
        }
        Ok(())
    }

    /// Whether the load changes in the timed window, so that no steady level is expected.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.load.changes() || !self.pacing.changes.is_empty()
    }

    /// What of the load can change during the run. Recorded transactions (`is_replay`) wait for those
    /// of other sessions, so that nothing of a replay can.
    #[must_use]
    pub const fn changeable(&self, is_replay: bool) -> Changeable {
        match (&self.load, self.length) {
            (_, Length::Transactions(_)) => Changeable::Nothing(
                "each user of this run has a number of transactions: its load is fixed",
            ),
            (load, _) if load.is_open() => Changeable::Rate,
            (Load::Closed, _) if !is_replay => Changeable::Users(self.users),
            (_, _) => Changeable::Nothing("a keyed load and a replay have times of their own"),
        }
    }

    /// Rejects changes of the load that this run cannot make.
    fn validate_changes(&self) -> Result<(), SpecError> {
        let changes = &self.pacing.changes;
        let changeable = self.changeable(false);
        for (place, planned) in changes.iter().enumerate() {
            let refuse = |why: &str| {
                Err(SpecError::new(format!("--change `{planned}`: {why}")).about("change"))
            };
            if let Err(why) = changeable.check(&planned.change) {
                return refuse(&why.to_string());
            }
            if let Length::Time(window) = self.length
                && planned.at >= window
            {
                let long = format_duration(window);
                return refuse(&format!(
                    "the timed window ends after {long}: give an earlier time, or a longer --duration"
                ));
            }
            if planned.at.subsec_nanos() > 0 {
                return refuse("changes are made at whole seconds, such as at=30s");
            }
            if place > 0 && changes[place - 1].at == planned.at {
                return refuse(
                    "another change has the same time, and the reactions to both would be one: give \
                     them different times",
                );
            }
            let is_rate = matches!(planned.change, LoadChange::Rate(_));
            if is_rate && planned.at.is_zero() && self.rampup.is_zero() {
                return refuse("the run begins with the rate of --load: give that one");
            }
        }
        Ok(())
    }

    /// Rejects logins that take longer than any run, or that the database does not have.
    fn validate_logins(&self, capabilities: &Capabilities) -> Result<(), SpecError> {
        let refuse = |name: &str, message: String| Err(SpecError::new(message).about(name));
        let LoginPolicy { every, per_second } = self.logins;
        if every == Some(0) {
            return refuse("reconnect", "--reconnect every=N: N must be 1 or more".into());
        }
        if let (Some(_), Err(reason)) = (every, capabilities.logins) {
            let message = format!("this database does not support --reconnect: {reason}");
            return refuse("reconnect", message);
        }
        let Some(rate) = per_second else { return Ok(()) };
        // A rate that is too low, not a number or infinite fails here, too.
        let last = f64::from(self.sessions().saturating_sub(1)) / rate;
        let is_possible = rate > 0.0 && rate <= RATE_MAX && last <= DURATION_MAX.as_secs_f64();
        if !is_possible {
            let most = format_duration(DURATION_MAX);
            return refuse(
                "login-rate",
                format!(
                    "--login-rate must be above 0 and at most {RATE_MAX} per second, and all \
                     sessions must have logged in within {most}; got {rate}/s"
                ),
            );
        }
        Ok(())
    }

    /// Rejects lengths and retries that no run can have.
    fn validate_course(&self) -> Result<(), SpecError> {
        let refuse = |message: &str| Err(SpecError::new(message));
        match self.length {
            Length::Time(window)
                if window < Duration::from_secs(1) || window.subsec_nanos() != 0 =>
            {
                return refuse(
                    "the timed window is measured in whole seconds: --duration must be at least 1s",
                );
            }
            Length::Transactions(0) => return refuse("--transactions must be 1 or more"),
            _ => {}
        }
        if self.rampup.subsec_nanos() != 0 {
            return refuse("--rampup must be in whole seconds, such as 5s");
        }
        if self.retry.attempts == 0 {
            return refuse(
                "--retries must be 1 or more: it counts attempts, including the first; use 1 for \
                 no retry",
            );
        }
        Ok(())
    }

    /// Rejects ways to run and to send transactions that the database does not support.
    fn validate_statements(&self, capabilities: &Capabilities) -> Result<(), SpecError> {
        let refuse = |message: String| Err(SpecError::new(message));
        if self.mode == Mode::Procedures && !capabilities.procedures {
            return refuse("this database has no stored procedures; use --mode statements".into());
        }
        if self.pipelining != Pipelining::Off {
            let name = self.pipelining.name();
            if let Err(reason) = capabilities.pipelining {
                return refuse(format!(
                    "this database does not support --pipeline {name}: {reason}"
                ));
            }
            if self.mode == Mode::Procedures {
                return refuse(format!(
                    "--pipeline {name} has no effect with procedures, which are one round trip \
                     each; use --mode statements, or omit it"
                ));
            }
        }
        if let Some(level) = self.isolation
            && !capabilities.isolations.contains(&level)
        {
            let known: Vec<_> = capabilities.isolations.iter().map(|level| level.name()).collect();
            return refuse(format!(
                "this database does not support isolation level {}: use one of {}",
                level.name(),
                known.join(", ")
            ));
        }
        if !capabilities.protocols.contains(&self.protocol) {
            return refuse(format!(
                "this database does not support protocol {}",
                self.protocol.name()
            ));
        }
        Ok(())
    }

    /// Rejects sizes beyond what any run can have.
    fn validate_sizes(&self) -> Result<(), SpecError> {
        let is_keyed = self.load == Load::Keyed;
        let (sessions, users_max) =
            if is_keyed { ("sessions", TERMINALS_MAX) } else { ("vus", SESSIONS_MAX) };
        let (window, transactions) = match self.length {
            Length::Time(window) => (window, 0),
            Length::Transactions(count) => (Duration::ZERO, count),
        };
        let counts = [
            (if is_keyed { "terminals" } else { "vus" }, self.users.into(), users_max.into()),
            (sessions, self.sessions().into(), SESSIONS_MAX.into()),
            ("threads", self.threads.into(), THREADS_MAX.into()),
            ("backlog", self.pacing.backlog, BACKLOG_MAX),
            ("transactions", transactions, TRANSACTIONS_MAX),
            ("retries", self.retry.attempts.into(), RETRIES_MAX.into()),
        ];
        if let Some((name, count, most)) = counts.into_iter().find(|(_, n, most)| n > most) {
            let message = format!("--{name} must be at most {most}, got {count}");
            return Err(SpecError::new(message).about(name));
        }
        let durations = [
            ("duration", window),
            ("rampup", self.rampup),
            ("login-delay", self.pacing.login_delay),
            ("connect-timeout", self.limits.connect),
            ("transaction-timeout", self.limits.transaction),
            ("drain-timeout", self.limits.drain),
        ];
        if let Some((name, long)) = durations.into_iter().find(|(_, d)| *d > DURATION_MAX) {
            let (long, most) = (format_duration(long), format_duration(DURATION_MAX));
            let message = format!("--{name} must be at most {most}, got {long}");
            return Err(SpecError::new(message).about(name));
        }
        Ok(())
    }

    /// Rejects settings that the load model cannot be combined with.
    fn validate_pacing(&self, cycle: Option<&Cycle>) -> Result<(), SpecError> {
        let refuse = |message: String| Err(SpecError::new(message));
        let model = self.load.name();
        if self.load.is_open() && matches!(self.length, Length::Transactions(_)) {
            return refuse(format!(
                "--transactions counts transactions per virtual user, but --load {model} has \
                 arrivals instead; use --duration"
            ));
        }
        if self.load.is_open() && self.pacing.backlog == 0 {
            return refuse(
                "--backlog must be 1 or more: with 0, every arrival would be dropped".into(),
            );
        }
        if self.load == Load::Keyed && cycle.is_none() {
            return refuse(
                "--load keyed: this workload has no keying and thinking times; use --load \
                 rate:N/s or closed"
                    .into(),
            );
        }
        if let Sessions::Pool(sessions) = self.pacing.sessions {
            if self.load != Load::Keyed {
                return refuse(format!(
                    "--sessions applies to the terminals of --load keyed; with {model}, --vus is \
                     the number of sessions"
                ));
            }
            if sessions == 0 || sessions > self.users {
                return refuse(format!(
                    "{} terminals cannot share {sessions} sessions: --sessions must be from 1 to \
                     {}, or own",
                    self.users, self.users
                ));
            }
        }
        let logged_in = self.pacing.login_delay.saturating_mul(self.users.saturating_sub(1));
        if matches!(self.length, Length::Time(_)) && logged_in > self.rampup {
            return refuse(format!(
                "the last of {} terminals would log in after {}, in the timed window; use a \
                 longer --rampup or a shorter --login-delay",
                self.users,
                format_duration(logged_in)
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Capabilities;

    const CYCLE: Cycle = Cycle {
        terminals: 10,
        keying: Vec::new(),
        thinking: Vec::new(),
        primary_metric_max: 12.86,
    };

    fn spec(load: &str) -> RunSpec {
        RunSpec {
            users: 10,
            threads: 1,
            rampup: Duration::from_secs(60),
            length: Length::Time(Duration::from_secs(300)),
            mode: Mode::Statements,
            protocol: Protocol::Prepared,
            pipelining: Pipelining::Off,
            io: Io::Epoll,
            isolation: None,
            load: load.parse().unwrap(),
            pacing: Pacing { backlog: 1, ..Pacing::default() },
            logins: LoginPolicy::default(),
            seed: 1,
            retry: RetryPolicy::default(),
            limits: TimeLimits::default(),
            max_failures: 0.01,
        }
    }

    fn capabilities() -> Capabilities {
        Capabilities {
            blocks: false,
            in_process: false,
            procedures: true,
            one_writer: false,
            load_rows_min: 0,
            transactions: true,
            transactional_ddl: true,
            foreign_keys: true,
            stores: true,
            users_max: Some((100, "it is small")),
            isolations: &[],
            protocols: &[Protocol::Prepared],
            pipelining: Ok(()),
            logins: Ok(()),
            count_delay: Duration::ZERO,
            exempt: &[],
        }
    }

    fn refusal(load: &str, change: impl FnOnce(&mut RunSpec)) -> String {
        let mut spec = spec(load);
        change(&mut spec);
        let validated = spec.validate(&capabilities(), Some(&CYCLE));
        validated.err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn every_load_model_can_be_run() {
        for load in ["closed", "keyed", "rate:5/s", "rate:5/s,constant", "ramp:1..2/1m", "steps:f"]
        {
            assert_eq!(refusal(load, |_| {}), "");
        }
        assert_eq!(refusal("keyed", |spec| spec.pacing.sessions = Sessions::Pool(3)), "");
        assert_eq!(refusal("closed", |spec| spec.pipelining = Pipelining::On), "");
    }

    #[test]
    fn what_does_not_go_together_is_refused_with_the_reason() {
        let pool = |n| move |spec: &mut RunSpec| spec.pacing.sessions = Sessions::Pool(n);
        let many = |spec: &mut RunSpec| spec.users = 101;
        for (found, message) in [
            (refusal("keyed", |spec| spec.users = 0), "at least one terminal: --terminals"),
            (refusal("closed", |spec| spec.users = 0), "at least one virtual user: --vus"),
            (refusal("closed", many), "101 virtual users are too many: it is small"),
            (refusal("keyed", many), "101 sessions are too many: it is small"),
            (
                refusal("closed", |spec| {
                    spec.pipelining = Pipelining::Begin;
                    spec.mode = Mode::Procedures;
                }),
                "--pipeline begin has no effect with procedures",
            ),
            (refusal("keyed", pool(11)), "10 terminals cannot share 11 sessions"),
            (refusal("keyed", pool(0)), "10 terminals cannot share 0 sessions"),
            (refusal("closed", pool(2)), "--sessions applies to the terminals"),
            (refusal("rate:5/s", |spec| spec.pacing.backlog = 0), "--backlog must be 1 or more"),
            (refusal("closed", |spec| spec.logins.every = Some(0)), "N must be 1 or more"),
            (
                refusal("closed", |s| s.logins.per_second = Some(0.0)),
                "--login-rate must be above 0",
            ),
            (refusal("closed", |s| s.logins.per_second = Some(f64::NAN)), "got NaN/s"),
            (refusal("closed", |s| s.logins.per_second = Some(1e-9)), "within 8784h"),
            (
                refusal("rate:5/s", |spec| spec.length = Length::Transactions(5)),
                "--load rate has arrivals instead; use --duration",
            ),
            (
                refusal("keyed", |spec| spec.pacing.login_delay = Duration::from_secs(7)),
                "the last of 10 terminals would log in after 1m3s",
            ),
        ] {
            assert!(found.contains(message), "{found}");
        }
        let of_size = |load, change: fn(&mut RunSpec)| {
            let mut spec = spec(load);
            spec.threads = 1;
            change(&mut spec);
            spec.validate_sizes().err().map_or_else(String::new, |error| error.to_string())
        };
        let year = Duration::from_secs(400 * 86_400);
        for (found, message) in [
            (
                of_size("closed", |s| s.users = u32::MAX),
                "--vus must be at most 100000, got 4294967295",
            ),
            (
                of_size("keyed", |s| s.users = 100_000_000),
                "--terminals must be at most 10000000, got 100000000",
            ),
            (
                of_size("keyed", |s| s.users = 5_000_000),
                "--sessions must be at most 100000, got 5000000",
            ),
            (of_size("closed", |s| s.threads = 5_000), "--threads must be at most 1024, got 5000"),
            (of_size("rate:5/s", |s| s.pacing.backlog = u64::MAX), "got 18446744073709551615"),
            (
                of_size("closed", |s| s.length = Length::Transactions(u64::MAX)),
                "--transactions must be at most 1000000000000, got 184",
            ),
            (
                of_size("closed", |s| s.retry.attempts = 5_000),
                "--retries must be at most 1000, got 5000",
            ),
        ] {
            assert!(found.contains(message), "{found}");
        }
        let mut long = spec("closed");
        long.rampup = year;
        assert!(long.validate_sizes().unwrap_err().to_string().contains("got 9600h"));
        let none = spec("keyed").validate_pacing(None).unwrap_err().to_string();
        assert!(none.contains("this workload has no keying and thinking times"), "{none}");
    }

    #[test]
    fn changes_that_a_run_cannot_make_are_refused_with_the_reason() {
        let planned = |seconds: u64, change: LoadChange| {
            move |spec: &mut RunSpec| {
                spec.pacing.changes = vec![PlannedChange {
                    at: Duration::from_secs(seconds),
                    change: change.clone(),
                }];
            }
        };
        let users = |seconds, users| planned(seconds, LoadChange::Users(users));
        let rate = |seconds, rate| planned(seconds, LoadChange::Rate(rate));
        assert_eq!(refusal("closed", users(0, 10)), "");
        assert_eq!(refusal("rate:5/s", rate(299, 0.0)), "");
        assert_eq!(refusal("rate:5/s", rate(0, 7.0)), "", "the ramp-up has the first rate");
        assert_eq!(refusal("ramp:1..2/1m", planned(1, LoadChange::Mix("1,2".into()))), "");
        for (found, message) in [
            (refusal("closed", users(300, 5)), "`at=5m users=5`: the timed window ends after 5m"),
            (refusal("closed", users(5, 11)), "users must be from 1 to 10"),
            (refusal("closed", users(5, 0)), "users must be from 1 to 10"),
            (refusal("closed", rate(5, 9.0)), "`at=5s rate=9/s`: the load of this run is closed"),
            (refusal("rate:5/s", users(5, 5)), "the load of this run is open: change its rate"),
            (refusal("rate:5/s", rate(5, 2e7)), "the rate must be from 0 to 10000000"),
            (refusal("keyed", users(5, 5)), "a keyed load and a replay have times of their own"),
            (
                refusal("closed", |spec| {
                    users(5, 5)(spec);
                    spec.length = Length::Transactions(9);
                    spec.rampup = Duration::ZERO;
                }),
                "a number of transactions: its load is fixed",
            ),
            (
                refusal("closed", |spec| {
                    users(5, 5)(spec);
                    spec.pacing.changes[0].at += Duration::from_millis(1);
                }),
                "at whole seconds",
            ),
            (
                refusal("closed", |spec| {
                    users(5, 5)(spec);
                    spec.pacing.changes.extend(spec.pacing.changes.clone());
                }),
                "another change has the same time",
            ),
            (
                refusal("rate:5/s", |spec| {
                    rate(0, 5.0)(spec);
                    spec.rampup = Duration::ZERO;
                }),
                "the run begins with the rate of --load",
            ),
        ] {
            assert!(found.contains(message), "{found}");
        }
    }

    #[test]
    fn what_has_no_logins_cannot_log_in_anew() {
        let mut again = spec("closed");
        again.logins.every = Some(1);
        assert_eq!(again.validate(&capabilities(), None), Ok(()));
        let none = Capabilities { logins: Err("it has no connections"), ..capabilities() };
        let error = again.validate(&none, None).unwrap_err().to_string();
        assert!(error.contains("does not support --reconnect: it has no connections"), "{error}");
    }

    #[test]
    fn the_backlog_holds_a_minute_of_the_highest_rate() {
        let of = |load: &str| Pacing::default_backlog(&load.parse().unwrap(), &[], &[]);
        assert_eq!(
            (of("rate:500/s"), of("ramp:10..200/1m"), of("rate:0.001/s")),
            (30_000, 12_000, 1)
        );
        let change = LoadChange::Rate(900.0);
        let planned = [PlannedChange { at: Duration::from_secs(9), change }];
        let load = "rate:500/s".parse().unwrap();
        assert_eq!(Pacing::default_backlog(&load, &[], &planned), 54_000);
    }
}

//! The null database: sessions without a database behind them. It measures the tool itself, and it
//! simulates a database that is slow, stalls, fails or disappears, so that the engine can be tested
//! without a server. It is independent of workloads and stores nothing.
//!
//! # Target
//! `null:` answers at once, without waiting. Parameters, as in
//! `null:?service=1ms&fail=deadlock:2%`:
//!
//! | parameter | meaning |
//! |---|---|
//! | `service=1ms` | service time of every statement; `exp(1ms)`: exponential with that mean |
//! | `network=1ms` | network time of every round trip, in addition to `service` |
//! | `workers=4` | number of statements served at a time, the others queue: throughput is at most `workers` / `service` |
//! | `workers=4..16/10s` | the same, but 16 from when statements have queued for 10 s without a break: a server that grows late |
//! | `stall=500ms/10s` | at every multiple of 10 s since the database was opened it stalls for 500 ms: answers due in that time are sent at its end, in all sessions |
//! | `fail=deadlock:1%` | probability of that error for a call that ends a transaction (`commit`, `call`); join several with `+`; the names are those of the error classes, such as `serialization`, `lock-timeout`, `disconnected`, `constraint`, `other` |
//! | `disconnect=5s` | every session is lost 5 s after it was opened, which its user notices at its next statement, or after it was idle |
//! | `connect=10ms` | time to open a session |
//! | `resume=3s/10s` | after 10 s without any session, the next one takes 3 s longer to open, and so do others that are opened meanwhile: a database that suspends |
//! | `refuse=100` | maximum number of sessions: the next one is rejected because the server is full |
//! | `prepare=off` | only the protocols `extended` and `simple` are supported |
//! | `seed=1` | seed of the exponential times and the failures |
//!
//! # Answers
//! A workload's blocks for the dialect `null` are not SQL but specify what a statement answers. A
//! statement that needs no rows (an INSERT, an UPDATE) needs no block: any other text is treated as
//! SQL, returns no rows, and reports one affected row. So `sql/null/<workload>/*.sql` holds only
//! what is queried, or called, and read:
//!
//! ```text
//! -- name: new_order.district
//! rows 1: int 3001, decimal(4) 0.1000
//! for :w_id, :d_id                            -- parameters that the answer does not use
//!
//! -- name: new_order.items                    -- one row for each element of the list :i_ids
//! rows each :i_ids: item :i_ids, decimal(2) 9.99, text 'an item', text 'data'
//!
//! -- name: new_order.call                     -- one row with lists in it
//! rows 1: int 0, :c_id, text 'BARBARBAR', null, timestamp '2026-01-01 00:00:00',
//!         ints each :i_ids of 17, decimals(2) [1.00, -2.50], texts 10 of 'same'
//! for :w_id, :d_id
//!
//! -- name: payment.customers                  -- several kinds of rows follow each other
//! rows 2: row, text 'GC'
//! rows 1: int 7, text 'BC'
//! for :c_w_id, :c_d_id, :c_last
//!
//! -- name: delivery.oldest
//! none                                        -- no rows, and no affected row
//! for :w_id
//!
//! -- name: stock.update
//! touched each :i_ids                         -- no rows; `execute` returns this number
//! for :w_id
//! ```
//!
//! | word | meaning |
//! |---|---|
//! | `rows N:` *values* | N rows of these values, joined by commas; all kinds have the same width. Leave a space after the colon, or the statement catalogue treats it as a parameter |
//! | `rows each :list:` *values* | as many rows as the list argument has elements |
//! | `none`, `touched N`, `touched each :list` | no rows, and the number that `execute` returns; after `rows` that is the number of rows |
//! | `for :a, :b` | at the end: names parameters that are used nowhere else, because a catalogue must use all of them |
//! | `null`, `int 7`, `float 0.5`, `decimal(4) 0.1000`, `text 'it''s'`, `timestamp '2026-01-01 00:00:00'` | a constant |
//! | `:name` | the argument of that name, as passed |
//! | `item :list` | the element of a list argument that belongs to this row, or to this place in a list |
//! | `row` | the number of the row, or of the place in a list, from 1 |
//! | `ints`, `floats`, `texts`, `timestamps`, `decimals(2)` | a list: either `[…]` of constants (`null` among them), or `N of` *value*, or `each :list of` *value*, where the value is written without its type: `ints each :i_ids of row` |
//!
//! A text that begins with one of `rows`, `none`, `touched` and then has a mistake is rejected when
//! it is prepared, with the position of the mistake. Comments (`--`) and line breaks are allowed
//! anywhere.
//!
//! # Limits
//! On Linux each of the first `TIMERS_MAX` sessions that wait has a kernel timer, which is about
//! 0.05 ms late. Elsewhere, in virtual time and in further sessions, tokio's timers are used: they
//! end on whole milliseconds, a little late rather than early. Loaded rows are counted and
//! discarded. A [`LockMode`] is only known to one opened null database, not to other processes.

mod answer;

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;
use triphammer_core::clock::{format_duration, parse_duration};
use triphammer_core::error::{DbError, ErrorClass, SpecError};
use triphammer_core::random::Rng;
use triphammer_core::rows::Rows;
use triphammer_core::session::{
    Access, Admin, Canceller, Capabilities, Database, Isolation, LockMode, Protocol, Role,
    RowSource, ServerInfo, Session, StatementId,
};
use triphammer_core::sql::BoundStatement;
#[cfg(target_os = "linux")]
use triphammer_core::timer::{Timer, is_virtual};
use triphammer_core::value::Value;
use triphammer_core::workload::TableDef;

use crate::redactor::Secretive;
use crate::target::{ConnectSettings, TargetUrl};
use answer::Answer;

/// Size of a batch of [`Session::stream`], in bytes.
const BATCH_BYTES: usize = 256 * 1024;

/// Maximum number of workers: each statement scans all of them.
const WORKERS_MAX: usize = 1024;

/// Maximum number of sessions with their own timer: each takes a file descriptor.
const TIMERS_MAX: u32 = 256;

const STORES_NOTHING: &str = "stores nothing";
const NO_TRANSACTIONS: &str = "has no concurrent transactions";
const NO_NETWORK: &str = "runs in process";

const CAPABILITIES: Capabilities = Capabilities {
    blocks: false,
    in_process: false,
    procedures: true,
    one_writer: false,
    load_rows_min: 0,
    transactions: true,
    transactional_ddl: true,
    foreign_keys: true,
    stores: false,
    users_max: None,
    isolations: &[
        Isolation::ReadUncommitted,
        Isolation::ReadCommitted,
        Isolation::RepeatableRead,
        Isolation::Snapshot,
        Isolation::Serializable,
    ],
    protocols: &[Protocol::Prepared, Protocol::Extended, Protocol::Simple],
    pipelining: Err("it has no round trips"),
    logins: Ok(()),
    count_delay: Duration::ZERO,
    exempt: &[
        ("wrong_password", NO_NETWORK),
        ("password_with_quotes_and_unicode", NO_NETWORK),
        ("unknown_host", NO_NETWORK),
        ("server_that_never_answers", NO_NETWORK),
        ("missing_database", STORES_NOTHING),
        ("server_killed", NO_NETWORK),
        ("types_through_arguments", STORES_NOTHING),
        ("types_through_load", STORES_NOTHING),
        ("lists_as_arguments", STORES_NOTHING),
        ("integer_that_does_not_fit", STORES_NOTHING),
        ("execute_gives_the_row_count", STORES_NOTHING),
        ("columns_have_names", STORES_NOTHING),
        ("failed_statement", STORES_NOTHING),
        ("unique_violation", STORES_NOTHING),
        ("script_of_several_statements", STORES_NOTHING),
        ("call_commits_by_itself", STORES_NOTHING),
        ("procedure_with_results", STORES_NOTHING),
        ("tables", STORES_NOTHING),
        ("columns_that_change_between_transactions", STORES_NOTHING),
        ("columns_that_change_within_a_transaction", STORES_NOTHING),
        ("transactions", STORES_NOTHING),
        ("last_statement_commits", STORES_NOTHING),
        ("last_statement_that_fails", STORES_NOTHING),
        ("abandoned_transaction", STORES_NOTHING),
        ("read_only_access", STORES_NOTHING),
        ("snapshot", NO_TRANSACTIONS),
        ("shared_snapshot", NO_TRANSACTIONS),
        ("write_skew", NO_TRANSACTIONS),
        ("lock_timeout", NO_TRANSACTIONS),
        ("deadlock", NO_TRANSACTIONS),
        ("bulk_load", STORES_NOTHING),
        ("load_that_fails_midway", STORES_NOTHING),
        ("load_with_a_value_that_does_not_fit", STORES_NOTHING),
    ],
};

/// Capabilities of a null database, and of one without prepared statements.
static PREPARES: Capabilities = CAPABILITIES;
static PREPARES_NOT: Capabilities =
    Capabilities { protocols: &[Protocol::Extended, Protocol::Simple], ..CAPABILITIES };

/// A database that stores nothing and answers as its target specifies.
pub struct Null {
    options: Arc<UrlOptions>,
    shared: Arc<Shared>,
}

/// Values of the target's parameters.
#[derive(Clone, Debug)]
struct UrlOptions {
    service: Service,
    network: Duration,
    workers: Option<Workers>,
    stall: Option<Stall>,
    fail: Vec<(ErrorClass, f64)>,
    disconnect: Option<Duration>,
    connect: Duration,
    resume: Option<Resume>,
    refuse: Option<u32>,
    /// Whether the protocol of prepared statements is supported.
    prepares: bool,
    seed: u64,
    /// The parameters as written, for people.
    text: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Service {
    AtOnce,
    Fixed(Duration),
    Exponential(Duration),
}

/// How many statements are served at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Workers {
    few: usize,
    /// Their number from when statements have queued for some time; `None` if it does not change.
    grown: Option<(usize, Duration)>,
}

/// The workers of a server.
#[derive(Debug)]
struct WorkerPool {
    /// Their number once statements have queued for this long; `None` if it does not change any more.
    grows: Option<(usize, Duration)>,
    /// Time at which each is free again; empty when there is no limit.
    free_at: Vec<Instant>,
    /// Since when every statement has found all workers busy.
    queued_since: Option<Instant>,
}

/// All sessions stall for `length` at every multiple of `period`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stall {
    length: Duration,
    period: Duration,
}

/// The database suspends after `idle` without any session, and takes `length` to resume.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Resume {
    length: Duration,
    idle: Duration,
}

/// State that the sessions of one database share.
struct Shared {
    zero: Instant,
    opened: AtomicU64,
    /// When the last session was closed, and until when the database resumes.
    suspension: Mutex<Suspension>,
    open: AtomicU32,
    claims: Mutex<HashMap<String, Claims>>,
    /// Number of timers that sessions hold.
    timers: AtomicU32,
    pool: Mutex<WorkerPool>,
}

/// Whether a database that suspends serves now.
#[derive(Debug)]
struct Suspension {
    /// When the last session was closed.
    idle_since: Instant,
    /// When the database serves.
    ready_at: Instant,
}

/// Holders of a lock name: many, or one exclusively.
#[derive(Clone, Copy)]
enum Claims {
    Shared(u32),
    Exclusive,
}

impl Null {
    /// Opens the null database that the target's parameters describe.
    ///
    /// # Errors
    /// When a parameter is unknown or has an invalid value, or when anything else follows the
    /// colon.
    pub fn open(target: &TargetUrl, _settings: &ConnectSettings) -> Result<Self, SpecError> {
        target.check_no_user()?;
        if target.has_authority || !target.path.is_empty() {
            return Err(SpecError::new(
                "a null target has neither host nor name: use null: or null:?service=1ms, with the \
                 parameters after the question mark",
            ));
        }
        UrlOptions::parse(&target.params).map(Self::of)
    }

    fn of(options: UrlOptions) -> Self {
        let zero = Instant::now();
        let shared = Shared {
            zero,
            opened: AtomicU64::new(0),
            suspension: Mutex::new(Suspension { idle_since: zero, ready_at: zero }),
            open: AtomicU32::new(0),
            claims: Mutex::default(),
            timers: AtomicU32::new(0),
            pool: Mutex::new(WorkerPool::new(options.workers, zero)),
        };
        Self { options: Arc::new(options), shared: Arc::new(shared) }
    }
}

impl UrlOptions {
    fn parse(params: &[(String, String)]) -> Result<Self, SpecError> {
        let mut options = Self {
            service: Service::AtOnce,
            network: Duration::ZERO,
            workers: None,
            stall: None,
            fail: Vec::new(),
            disconnect: None,
            connect: Duration::ZERO,
            resume: None,
            refuse: None,
            prepares: true,
            seed: 1,
            text: params.to_vec(),
        };
        for (name, value) in params {
            let wrong = |why: String| SpecError::new(format!("null target, `{name}`: {why}"));
            let whole = |_| wrong(format!("expected a whole number, got `{value}`"));
            match name.as_str() {
                "service" => options.service = Service::parse(value).map_err(wrong)?,
                "network" => options.network = parse_duration(value).map_err(wrong)?,
                "workers" => options.workers = Some(Workers::parse(value).map_err(wrong)?),
                "stall" => options.stall = Some(Stall::parse(value).map_err(wrong)?),
                "fail" => options.fail = parse_failures(value).map_err(wrong)?,
                "disconnect" => {
                    options.disconnect = Some(parse_duration(value).map_err(wrong)?);
                }
                "connect" => options.connect = parse_duration(value).map_err(wrong)?,
                "resume" => options.resume = Some(Resume::parse(value).map_err(wrong)?),
                "refuse" => options.refuse = Some(value.parse().map_err(whole)?),
                "prepare" if value == "off" => options.prepares = false,
                "prepare" => return Err(wrong(format!("expected off, got `{value}`"))),
                "seed" => options.seed = value.parse().map_err(whole)?,
                _ => {
                    return Err(SpecError::new(format!(
                        "unknown parameter `{name}` of a null target: expected service, network, \
                         workers, stall, fail, disconnect, connect, resume, refuse, prepare or seed"
                    )));
                }
            }
        }
        Ok(options)
    }

    /// Whether calls need not read the clock.
    fn is_instant(&self) -> bool {
        self.service == Service::AtOnce
            && self.network.is_zero()
            && self.stall.is_none()
            && self.disconnect.is_none()
    }
}

impl Service {
    fn parse(text: &str) -> Result<Self, String> {
        let mean = text.strip_prefix("exp(").and_then(|rest| rest.strip_suffix(')'));
        Ok(match (mean, parse_duration(mean.unwrap_or(text))?) {
            (_, Duration::ZERO) => Self::AtOnce,
            (Some(_), mean) => Self::Exponential(mean),
            (None, time) => Self::Fixed(time),
        })
    }

    fn draw(self, rng: &mut Rng) -> Duration {
        match self {
            Self::AtOnce => Duration::ZERO,
            Self::Fixed(time) => time,
            Self::Exponential(mean) => Duration::from_secs_f64(rng.exponential(mean.as_secs_f64())),
        }
    }
}

impl Stall {
    fn parse(text: &str) -> Result<Self, String> {
        let (length, period) = text.split_once('/').ok_or_else(|| {
            format!("expected a duration and a period such as 500ms/10s, got `{text}`")
        })?;
        let stall = Self { length: parse_duration(length)?, period: parse_duration(period)? };
        match stall.length < stall.period {
            true => Ok(stall),
            false => Err(format!("a stall of {length} does not fit in its period of {period}")),
        }
    }

    /// Returns when an answer due at `at` is sent; both times are since the database was opened.
    fn postpone(self, at: Duration) -> Duration {
        let (period, length) = (self.period.as_nanos(), self.length.as_nanos());
        let phase = at.as_nanos() % period;
        if at < self.period || phase >= length {
            return at;
        }
        at + Duration::from_nanos(u64::try_from(length - phase).unwrap_or(u64::MAX))
    }
}

impl Resume {
    /// Reads `3s/10s`.
    fn parse(text: &str) -> Result<Self, String> {
        let (length, idle) = text.split_once('/').ok_or_else(|| {
            format!(
                "expected the time that it takes, and the time without sessions before, such as \
                 3s/10s, got `{text}`"
            )
        })?;
        Ok(Self { length: parse_duration(length)?, idle: parse_duration(idle)? })
    }
}

impl Workers {
    /// Reads `4` or `4..16/10s`.
    fn parse(text: &str) -> Result<Self, String> {
        let Some((few, rest)) = text.split_once("..") else {
            return Ok(Self { few: parse_workers(text)?, grown: None });
        };
        let (many, after) = rest.split_once('/').ok_or_else(|| {
            format!("expected a number, or two and a duration such as 4..16/10s, got `{text}`")
        })?;
        let (few, many) = (parse_workers(few)?, parse_workers(many)?);
        match few < many {
            true => Ok(Self { few, grown: Some((many, parse_duration(after)?)) }),
            false => Err(format!("{many} workers are not more than {few}")),
        }
    }
}

impl WorkerPool {
    fn new(workers: Option<Workers>, zero: Instant) -> Self {
        let free_at = vec![zero; workers.map_or(0, |workers| workers.few)];
        Self { grows: workers.and_then(|workers| workers.grown), free_at, queued_since: None }
    }

    /// Returns when a statement that arrives now and takes `service` completes: on the worker that
    /// is free first, if their number is limited.
    fn served_at(&mut self, now: Instant, service: Duration) -> Instant {
        self.grow(now);
        match self.free_at.iter_mut().min().filter(|_| !service.is_zero()) {
            Some(free_at) => {
                *free_at = now.max(*free_at) + service;
                *free_at
            }
            None => now + service,
        }
    }

    /// Adds workers once statements have queued for long enough.
    fn grow(&mut self, now: Instant) {
        let Some((many, after)) = self.grows else { return };
        if !self.free_at.iter().all(|free_at| *free_at > now) {
            self.queued_since = None;
            return;
        }
        let since = *self.queued_since.get_or_insert(now);
        if now.saturating_duration_since(since) >= after {
            self.free_at.resize(many, now);
            self.grows = None;
        }
    }
}

/// Reads a number of workers that a server may have.
fn parse_workers(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(workers @ 1..=WORKERS_MAX) => Ok(workers),
        _ => Err(format!("expected a number from 1 to {WORKERS_MAX}, got `{text}`")),
    }
}

/// Reads `deadlock:1%+lock-timeout:0.5%` as (class, probability), with cumulative probabilities.
fn parse_failures(text: &str) -> Result<Vec<(ErrorClass, f64)>, String> {
    let mut failures = Vec::new();
    let mut sum = 0.0;
    for one in text.split(['+', ' ']) {
        let (name, chance) = one.split_once(':').ok_or_else(|| {
            format!("expected an error and its probability such as deadlock:1%, got `{one}`")
        })?;
        let label = name.replace(['-', '_'], " ");
        let class = ErrorClass::ALL.into_iter().find(|class| class.label() == label);
        let class = class.ok_or_else(|| {
            let names = ErrorClass::ALL.map(|class| class.label().replace(' ', "-"));
            format!("unknown error `{name}`: expected one of {}", names.join(", "))
        })?;
        let percent: f64 = chance
            .strip_suffix('%')
            .and_then(|number| number.parse().ok())
            .filter(|percent| (0.0..=100.0).contains(percent))
            .ok_or_else(|| format!("expected a probability such as 1%, got `{chance}`"))?;
        sum += percent / 100.0;
        failures.push((class, sum));
    }
    match sum <= 1.0 + 1e-9 {
        true => Ok(failures),
        false => Err("the probabilities add up to more than 100%".to_owned()),
    }
}

impl Shared {
    fn claims(&self) -> MutexGuard<'_, HashMap<String, Claims>> {
        self.claims.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Returns when a statement that arrives now and takes `service` completes: on the worker that
    /// is free first, if their number is limited.
    fn served_at(&self, now: Instant, service: Duration) -> Instant {
        let mut pool = self.pool.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        pool.served_at(now, service)
    }

    /// Creates a kernel timer, unless there are too many or time is virtual.
    #[cfg(target_os = "linux")]
    fn timer(&self) -> Option<Timer> {
        let one_more = |timers| (timers < TIMERS_MAX).then_some(timers + 1);
        if is_virtual() {
            return None;
        }
        self.timers.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).ok()?;
        let timer = Timer::new().ok();
        if timer.is_none() {
            self.timers.fetch_sub(1, Ordering::AcqRel);
        }
        timer
    }

    /// Admits a session, unless there are already `limit`.
    fn admit(&self, limit: Option<u32>) -> Result<(), DbError> {
        let limit = limit.unwrap_or(u32::MAX);
        let admit = |open| (open < limit).then_some(open + 1);
        let admitted = self.open.fetch_update(Ordering::AcqRel, Ordering::Acquire, admit);
        admitted.map(|_| ()).map_err(|_| {
            DbError::new(
                ErrorClass::Unavailable,
                format!("too many clients: {limit} are connected"),
            )
            .without_room()
        })
    }

    /// Returns when a database that suspends serves a session that is opened now.
    fn resumed_at(&self, resume: Resume) -> Instant {
        let (mut suspension, now) = (self.suspension(), Instant::now());
        let is_idle = self.open.load(Ordering::Acquire) == 0;
        let idle_since = suspension.idle_since.max(suspension.ready_at);
        if is_idle && now >= idle_since + resume.idle {
            suspension.ready_at = now + resume.length;
        }
        suspension.ready_at
    }

    fn suspension(&self) -> MutexGuard<'_, Suspension> {
        self.suspension.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn release(&self, name: &str) {
        let mut claims = self.claims();
        match claims.get_mut(name) {
            Some(Claims::Shared(holders)) if *holders > 1 => *holders -= 1,
            _ => {
                claims.remove(name);
            }
        }
    }
}

impl Secretive for Null {}

impl Database for Null {
    type Session = NullSession;

    fn dialect(&self) -> &'static str {
        "null"
    }

    fn capabilities(&self) -> &Capabilities {
        if self.options.prepares { &PREPARES } else { &PREPARES_NOT }
    }

    fn target(&self) -> String {
        let params: Vec<_> = self.options.text.iter().map(|(n, v)| format!("{n}={v}")).collect();
        match params.is_empty() {
            true => "null:".to_owned(),
            false => format!("null:?{}", params.join("&")),
        }
    }

    async fn connect(&self, _role: Role, _slot: u32) -> Result<NullSession, DbError> {
        if !self.options.connect.is_zero() {
            tokio::time::sleep(self.options.connect).await;
        }
        if let Some(resume) = self.options.resume {
            tokio::time::sleep_until(self.shared.resumed_at(resume)).await;
        }
        self.shared.admit(self.options.refuse)?;
        let number = self.shared.opened.fetch_add(1, Ordering::Relaxed);
        Ok(NullSession {
            instant: self.options.is_instant(),
            lost_at: self.options.disconnect.map(|after| Instant::now() + after),
            options: Arc::clone(&self.options),
            shared: Arc::clone(&self.shared),
            answers: Vec::new(),
            rng: Rng::of(self.options.seed, &[number]),
            cancel: Arc::new(Notify::new()),
            waiter: Waiter::default(),
            advisory_lock: None,
            closed: false,
        })
    }

    async fn create_database(&self) -> Result<bool, DbError> {
        Ok(false)
    }
}

/// A session of the null database.
pub struct NullSession {
    options: Arc<UrlOptions>,
    /// Whether every call answers at once, so that none reads the clock.
    instant: bool,
    lost_at: Option<Instant>,
    shared: Arc<Shared>,
    answers: Vec<Answer>,
    rng: Rng,
    cancel: Arc<Notify>,
    waiter: Waiter,
    advisory_lock: Option<String>,
    closed: bool,
}

/// How a session waits; decided at its first wait, because a timer belongs to the runtime in which
/// it is used.
#[derive(Default)]
struct Waiter {
    /// `None` before the first wait; then the kernel timer, if there is one.
    #[cfg(target_os = "linux")]
    timer: Option<Option<Timer>>,
}

impl Waiter {
    #[cfg(target_os = "linux")]
    async fn until(&mut self, at: Instant, shared: &Shared) {
        let timer = self.timer.get_or_insert_with(|| shared.timer());
        if let Some(timer) = timer
            && timer.sleep(at.saturating_duration_since(Instant::now())).await.is_ok()
        {
            return;
        }
        tokio::time::sleep_until(at).await;
    }

    #[cfg(not(target_os = "linux"))]
    async fn until(&mut self, at: Instant, _shared: &Shared) {
        tokio::time::sleep_until(at).await;
    }
}

impl NullSession {
    /// Waits for the time that a statement takes, if any.
    #[inline]
    async fn round_trip(&mut self) -> Result<(), DbError> {
        if self.closed {
            return Err(DbError::new(ErrorClass::Disconnected, "the session was already lost"));
        }
        if self.instant { Ok(()) } else { self.wait().await }
    }

    async fn wait(&mut self) -> Result<(), DbError> {
        let service = self.options.service.draw(&mut self.rng);
        self.wait_for(service).await
    }

    /// Waits for the network, and for a service time of this length.
    async fn wait_for(&mut self, service: Duration) -> Result<(), DbError> {
        let now = Instant::now();
        if self.lost_at.is_some_and(|lost_at| now >= lost_at) {
            self.closed = true;
            return Err(DbError::new(ErrorClass::Disconnected, "the session was lost"));
        }
        let served_at = match self.options.workers {
            Some(_) => self.shared.served_at(now, service),
            None => now + service,
        };
        let mut answered_at = served_at + self.options.network;
        if let Some(stall) = self.options.stall {
            let zero = self.shared.zero;
            answered_at = zero + stall.postpone(answered_at.saturating_duration_since(zero));
        }
        if answered_at <= now {
            return Ok(());
        }
        tokio::select! {
            biased;
            () = self.cancel.notified() => {
                Err(DbError::new(ErrorClass::Cancelled, "the statement was cancelled"))
            }
            () = self.waiter.until(answered_at, &self.shared) => Ok(()),
        }
    }

    /// Ends a transaction, which may fail as the target specifies.
    #[inline]
    async fn end_transaction(&mut self) -> Result<(), DbError> {
        self.round_trip().await.map_err(DbError::after_commit_sent)?;
        if self.options.fail.is_empty() { Ok(()) } else { self.draw_failure() }
    }

    fn draw_failure(&mut self) -> Result<(), DbError> {
        let drawn = self.rng.unit();
        match self.options.fail.iter().find(|(_, below)| drawn < *below) {
            None => Ok(()),
            Some((class, _)) => {
                self.closed = class.loses_session();
                let error =
                    DbError::new(*class, format!("{class}, simulated as the target specifies"));
                Err(error.with_code("NULL1").failed_commit())
            }
        }
    }

    #[inline]
    fn answer(&self, id: StatementId) -> &Answer {
        &self.answers[id.index()]
    }
}

impl Session for NullSession {
    async fn script(&mut self, _sql: &str) -> Result<(), DbError> {
        self.round_trip().await
    }

    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        self.round_trip().await?;
        self.answers.push(Answer::of(statement)?);
        Ok(StatementId(u32::try_from(self.answers.len() - 1).expect("fewer than 2^32 statements")))
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        self.round_trip().await?;
        self.answer(id).touched(args)
    }

    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.round_trip().await?;
        self.answer(id).write(args, rows)
    }

    async fn call(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.end_transaction().await?;
        self.answer(id).write(args, rows)
    }

    async fn execute_autocommit(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
    ) -> Result<u64, DbError> {
        self.end_transaction().await?;
        self.answer(id).touched(args)
    }

    async fn stream(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        batch: &mut Rows,
        each: &mut dyn FnMut(&Rows),
    ) -> Result<(), DbError> {
        self.round_trip().await?;
        self.answer(id).stream(args, BATCH_BYTES, batch, each)
    }

    async fn begin(&mut self, _access: Access) -> Result<(), DbError> {
        self.round_trip().await
    }

    async fn commit(&mut self) -> Result<(), DbError> {
        self.end_transaction().await
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        self.round_trip().await
    }

    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        let mut rows = Rows::new();
        let mut count = 0;
        loop {
            rows.reset(table.columns.len());
            let more = source.fill(&mut rows);
            count += rows.len() as u64;
            if !more {
                break;
            }
        }
        self.round_trip().await?;
        Ok(count)
    }

    fn is_closed(&self) -> bool {
        self.closed
    }

    fn ended_idle(&mut self) -> Option<DbError> {
        let is_lost = self.closed || self.lost_at.is_some_and(|lost_at| Instant::now() >= lost_at);
        is_lost.then(|| DbError::new(ErrorClass::Disconnected, "the session was lost"))
    }

    fn canceller(&self) -> Box<dyn Canceller> {
        Box::new(NullCanceller(Arc::clone(&self.cancel)))
    }

    /// Waits for the network's time only, if the target specifies one.
    async fn ping(&mut self) -> Result<bool, DbError> {
        if self.options.network.is_zero() {
            return Ok(false);
        }
        self.wait_for(Duration::ZERO).await?;
        Ok(true)
    }

    async fn close(self) {}
}

impl Admin for NullSession {
    async fn server(&mut self) -> Result<ServerInfo, DbError> {
        self.round_trip().await?;
        Ok(ServerInfo {
            product: "null".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            transport: "in process".to_owned(),
            cipher: None,
            same_host: Some(true),
        })
    }

    async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError> {
        self.round_trip().await?;
        let mut settings = self.options.text.clone();
        for (name, value) in [
            ("connect", format_duration(self.options.connect)),
            ("seed", self.options.seed.to_string()),
            ("service", "0s".to_owned()),
        ] {
            if !settings.iter().any(|(known, _)| known == name) {
                settings.push((name.to_owned(), value));
            }
        }
        settings.sort();
        Ok(settings)
    }

    async fn transaction_count(&mut self) -> Result<Option<u64>, DbError> {
        Ok(None)
    }

    async fn tables(&mut self) -> Result<Vec<String>, DbError> {
        self.round_trip().await?;
        Ok(Vec::new())
    }

    async fn advisory_lock(&mut self, name: &str, mode: LockMode) -> Result<bool, DbError> {
        self.round_trip().await?;
        let mut claims = self.shared.claims();
        let held = match (claims.get(name), mode) {
            (None, LockMode::Shared) => Claims::Shared(1),
            (None, LockMode::Exclusive) => Claims::Exclusive,
            (Some(Claims::Shared(holders)), LockMode::Shared) => Claims::Shared(holders + 1),
            (Some(_), _) => return Ok(false),
        };
        claims.insert(name.to_owned(), held);
        drop(claims);
        if let Some(before) = self.advisory_lock.replace(name.to_owned()) {
            self.shared.release(&before);
        }
        Ok(true)
    }
}

impl Drop for NullSession {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some(Some(_)) = self.waiter.timer.take() {
            self.shared.timers.fetch_sub(1, Ordering::AcqRel);
        }
        if self.options.resume.is_some() {
            self.shared.suspension().idle_since = Instant::now();
        }
        self.shared.open.fetch_sub(1, Ordering::AcqRel);
        if let Some(name) = self.advisory_lock.take() {
            self.shared.release(&name);
        }
    }
}

struct NullCanceller(Arc<Notify>);

impl Canceller for NullCanceller {
    fn cancel(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async { self.0.notify_waiters() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(params: &[(&str, &str)]) -> Result<UrlOptions, SpecError> {
        let owned: Vec<_> = params.iter().map(|(n, v)| ((*n).into(), (*v).into())).collect();
        UrlOptions::parse(&owned)
    }

    fn null(params: &[(&str, &str)]) -> Null {
        Null::of(options(params).unwrap())
    }

    async fn session(null: &Null) -> NullSession {
        null.connect(Role::User, 0).await.unwrap()
    }

    #[test]
    fn parameters_are_read_and_unknown_ones_refused() {
        let read = options(&[("service", "exp(2ms)"), ("fail", "lock_timeout:1%+deadlock:0.5%")]);
        let read = read.unwrap();
        assert_eq!(read.service, Service::Exponential(Duration::from_millis(2)));
        assert_eq!(read.fail.len(), 2);
        for (name, value, message) in [
            ("speed", "1", "unknown parameter `speed` of a null target: expected service"),
            ("service", "fast", "invalid duration `fast`"),
            ("stall", "5s", "such as 500ms/10s"),
            ("stall", "5s/5s", "does not fit"),
            ("fail", "sickness:1%", "unknown error `sickness`: expected one of serialization"),
            ("fail", "deadlock:1", "expected a probability"),
            ("fail", "deadlock:60%+other:60%", "more than 100%"),
            ("workers", "0", "expected a number from 1 to 1024"),
            ("workers", "2..4", "such as 4..16/10s"),
            ("workers", "4..2/1s", "2 workers are not more than 4"),
            ("workers", "2..4/soon", "invalid duration `soon`"),
            ("refuse", "-1", "expected a whole number"),
            ("resume", "3s", "such as 3s/10s, got `3s`"),
            ("resume", "3s/later", "invalid duration `later`"),
        ] {
            let error = options(&[(name, value)]).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_round_trip_takes_the_service_time() {
        let null = null(&[("service", "20ms")]);
        let mut session = session(&null).await;
        let before = Instant::now();
        session.begin(Access::Write).await.unwrap();
        session.commit().await.unwrap();
        let passed = before.elapsed().as_millis();
        assert!((40..=42).contains(&passed), "{passed}");
    }

    /// The best of several measurements: other programs share this host.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_round_trip_of_a_fraction_of_a_millisecond_takes_that() {
        let null = null(&[("service", "200us")]);
        let mut session = session(&null).await;
        let mut least = Duration::MAX;
        for _ in 0..500 {
            let before = Instant::now();
            session.commit().await.unwrap();
            least = least.min(before.elapsed());
        }
        assert!((200..900).contains(&least.as_micros()), "{least:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_database_without_sessions_suspends_and_takes_its_time_to_resume() {
        let null = null(&[("resume", "3s/10s")]);
        let seconds = Duration::from_secs;
        let opened_after = async || {
            let before = Instant::now();
            let opened = session(&null).await;
            (before.elapsed().as_secs(), opened)
        };
        let (after, first) = opened_after().await;
        assert_eq!(after, 0, "it has just been opened");
        tokio::time::advance(seconds(60)).await;
        assert_eq!(opened_after().await.0, 0, "there is a session");
        drop(first);
        tokio::time::advance(seconds(9)).await;
        assert_eq!(opened_after().await.0, 0, "it was idle for 9 s");
        tokio::time::advance(seconds(10)).await;
        let late = async {
            tokio::time::sleep(seconds(1)).await;
            opened_after().await.0
        };
        let (first, second) = tokio::join!(opened_after(), late);
        assert_eq!((first.0, second), (3, 2), "both wait for the same");
    }

    #[tokio::test]
    async fn a_session_that_was_cancelled_while_it_waited_waits_again() {
        let null = null(&[("service", "5ms")]);
        let mut session = session(&null).await;
        for _ in 0..3 {
            let canceller = session.canceller();
            let waits = session.commit();
            let cancels = async {
                tokio::task::yield_now().await;
                canceller.cancel().await;
            };
            let (cancelled, ()) = tokio::join!(waits, cancels);
            assert_eq!(cancelled.unwrap_err().class(), ErrorClass::Cancelled);
            let before = Instant::now();
            session.commit().await.unwrap();
            assert!(before.elapsed() >= Duration::from_millis(5));
        }
    }

    #[test]
    fn what_is_no_parameter_is_refused() {
        let open = |text: &str| {
            let target = TargetUrl::parse(text).unwrap();
            Null::open(&target, &ConnectSettings::default()).map(drop)
        };
        for text in ["null:bogus=1", "null:service=1ms", "null://host", "null:/x?service=1ms"] {
            let error = open(text).unwrap_err().to_string();
            assert!(error.contains("use null: or null:?service=1ms"), "{text}: {error}");
        }
        let error = open("null:?bogus=1").unwrap_err().to_string();
        assert!(
            error.contains("unknown parameter `bogus` of a null target: expected service"),
            "{error}"
        );
        assert_eq!(open("null:"), Ok(()));
        assert_eq!(open("null:?service=1ms"), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn what_no_worker_is_free_for_waits_in_line() {
        let null = null(&[("service", "20ms"), ("workers", "2")]);
        let mut sessions = Vec::new();
        for _ in 0..5 {
            sessions.push(session(&null).await);
        }
        let zero = Instant::now();
        let calls = sessions.iter_mut().map(async |session: &mut NullSession| {
            session.commit().await.unwrap();
            zero.elapsed().as_millis() / 20
        });
        let mut calls: Vec<_> = calls.map(Box::pin).collect();
        let mut rounds = Vec::new();
        for call in &mut calls {
            // Polled once before any of them is awaited, so that all arrive at the same moment.
            assert!(
                std::future::poll_fn(|cx| std::task::Poll::Ready(call.as_mut().poll(cx)))
                    .await
                    .is_pending()
            );
        }
        for call in calls {
            rounds.push(call.await);
        }
        assert_eq!(rounds, [1, 1, 2, 2, 3]);
    }

    #[tokio::test(start_paused = true)]
    async fn workers_are_added_once_statements_have_queued_for_long_enough() {
        let null = null(&[("service", "10ms"), ("workers", "1..4/500ms")]);
        let zero = Instant::now();
        let mut counts = Vec::new();
        let mut sessions = Vec::new();
        for _ in 0..8 {
            sessions.push(session(&null).await);
        }
        for second in 1..=3 {
            let until = zero + Duration::from_secs(second);
            let work = sessions.iter_mut().map(async |session: &mut NullSession| {
                let mut count = 0;
                while Instant::now() < until {
                    session.commit().await.unwrap();
                    count += 1;
                }
                count
            });
            let mut work: Vec<_> = work.map(Box::pin).collect();
            let mut count = 0;
            let mut done = vec![false; work.len()];
            std::future::poll_fn(|cx| {
                for (work, done) in work.iter_mut().zip(&mut done) {
                    if !*done && let std::task::Poll::Ready(more) = work.as_mut().poll(cx) {
                        (*done, count) = (true, count + more);
                    }
                }
                match done.iter().all(|done| *done) {
                    true => std::task::Poll::Ready(()),
                    false => std::task::Poll::Pending,
                }
            })
            .await;
            counts.push(count);
        }
        // A statement on its way at the end of a second counts in it.
        assert!((220..300).contains(&counts[0]), "{counts:?}");
        assert!((380..420).contains(&counts[1]) && (380..420).contains(&counts[2]), "{counts:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_stall_holds_all_sessions_until_its_end() {
        let null = null(&[("stall", "500ms/10s")]);
        let mut sessions = [session(&null).await, session(&null).await];
        let zero = null.shared.zero;
        for (at, expected) in [(100, 100), (9_999, 9_999), (10_000, 10_500), (20_400, 20_500)] {
            tokio::time::sleep_until(zero + Duration::from_millis(at)).await;
            for session in &mut sessions {
                session.commit().await.unwrap();
                let passed = zero.elapsed().as_millis();
                assert!((expected..=expected + 2).contains(&passed), "{at}: {passed}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_is_lost_after_its_time() {
        let null = null(&[("disconnect", "5s")]);
        let mut session = session(&null).await;
        session.begin(Access::Write).await.unwrap();
        tokio::time::sleep(Duration::from_secs(5)).await;
        let error = session.commit().await.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Disconnected);
        assert!(error.is_indeterminate() && session.is_closed());
        assert!(session.rollback().await.is_err());
    }

    #[tokio::test]
    async fn failures_come_as_often_as_asked_and_the_same_each_time() {
        let mut runs = Vec::new();
        for _ in 0..2 {
            let null = null(&[("fail", "deadlock:2%+constraint:1%")]);
            let mut session = session(&null).await;
            let mut seen = Vec::new();
            for _ in 0..10_000 {
                seen.push(session.commit().await.err().map(|error| error.class()));
            }
            runs.push(seen);
        }
        assert_eq!(runs[0], runs[1]);
        let count = |class| runs[0].iter().filter(|seen| **seen == Some(class)).count();
        let (deadlocks, constraints) = (count(ErrorClass::Deadlock), count(ErrorClass::Constraint));
        assert!((150..250).contains(&deadlocks) && (60..140).contains(&constraints));
    }

    #[tokio::test]
    async fn a_full_database_takes_the_next_when_one_leaves() {
        let null = null(&[("refuse", "1")]);
        let first = session(&null).await;
        let error = null.connect(Role::User, 0).await.err().unwrap();
        assert_eq!(error.class(), ErrorClass::Unavailable);
        drop(first);
        session(&null).await;
    }
}

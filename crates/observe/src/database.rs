//! Observes a database on a thread and a session of its own, until it is stopped: samples sessions
//! several times per second, reads counters every second, and the statistics of statements at both
//! ends of the timed window. A lost session is opened again; a query that fails is reported once
//! and not made again, unless somebody only cancelled it.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use tokio::time::{sleep_until, timeout};
use triphammer_core::clock::{Elapsed, thread_cpu_ns};
use triphammer_core::session::{Admin as _, Role, Session, StatementId};
use triphammer_core::sql::BoundStatement;
use triphammer_core::text::one_line;
use triphammer_core::{Clock, DbError, ErrorClass, Rows};
use triphammer_dialects::observe::{ObserveDef, QueryDef};
use triphammer_document::result::{
    ActiveSessions, Blocker, Capture, ObserverGap, ServerTime, TopStatement,
};
use triphammer_drivers::{AnyDatabase, AnySession};
use triphammer_settings::cancel::Cancel;
use triphammer_settings::limited::Limited;
use triphammer_settings::worker_pool::{connect, on_this_thread};

use super::blockers::Blocking;
use super::capture::{Captures, Trigger, edges_of, snapshot_of};
use super::known::KnownSeries;
use super::profile::ProfileQuery;
use super::sessions::{Activity, StatementNames};
use super::sink::Measured;
use super::sink::{Bounds, OfWindow, Sink};
use super::statements::{StatementReading, own_key};
use super::wait_classes::WaitClasses;

/// Maximum time for a query; after that its session is closed and another one is opened.
const QUERY_LIMIT: Duration = Duration::from_secs(2);
/// Maximum time to open a session.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// Time between two attempts to open one.
const CONNECT_EVERY: Duration = Duration::from_secs(1);
/// Maximum time for what is read and closed after the run.
const END_LIMIT: Duration = Duration::from_secs(1);
/// Number of failures in a row after which a query that was cancelled is not made again.
const FAILURES_MAX: u32 = 5;
/// Maximum number of things that are reported as not read.
const GAPS_MAX: usize = 50;

/// What a database is observed with.
pub struct Setup {
    /// The database.
    pub database: Arc<AnyDatabase>,
    /// What its dialect declares.
    pub def: ObserveDef,
    /// The workload's statements.
    pub names: StatementNames,
    /// Time between two samples of the sessions.
    pub interval: Duration,
    /// Clock of the run.
    pub clock: Clock,
    /// The timed window.
    pub bounds: Arc<Bounds>,
    /// Where values go.
    pub sink: Arc<Sink>,
    /// Ends the observation.
    pub stop: Cancel,
    /// Number of queries answered so far.
    pub answered: Arc<AtomicU64>,
    /// The same, with the transactions of the log probe.
    pub own: Arc<AtomicU64>,
    /// Table of the log probe: its session is not one of the run.
    pub probe: Option<String>,
    /// Moments around which full detail is kept; `None` without `--capture-on`.
    pub triggers: Option<Receiver<Trigger>>,
}

/// What was observed in the timed window, and what it cost in the whole run.
#[derive(Debug, Default)]
pub struct Outcome {
    pub sessions: Option<ActiveSessions>,
    pub blockers: Vec<Blocker>,
    pub statements: Vec<TopStatement>,
    pub captures: Vec<Capture>,
    pub gaps: Vec<ObserverGap>,
    pub cpu_ns: u64,
    pub query_s: f64,
    pub lost: u64,
}

/// What is read this long after the end of a second, in nanoseconds, is of the second in which it was read: over a slow
/// network, the users may have left meanwhile.
const LATE_NS: u64 = 250_000_000;

/// What was seen in a second.
#[derive(Debug, Default)]
struct SessionsOfSecond {
    activity: Activity,
    blocking: Blocking,
}

/// The session with its prepared queries; those that the server does not have are missing.
struct PreparedQueries {
    session: Limited<AnySession>,
    sessions: Option<StatementId>,
    blockers: Option<StatementId>,
    statements: Option<StatementId>,
    detail: Option<StatementId>,
    engine_status: Option<StatementId>,
    profile: Vec<Option<StatementId>>,
}

/// Which query failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Which {
    Sessions,
    Blockers,
    Statements,
    Detail,
    EngineStatus,
    Profile(usize),
}

/// How often queries failed in a row.
#[derive(Debug, Default)]
struct Failures(BTreeMap<Which, u32>);

impl Failures {
    /// Counts a failure; returns whether the query is to be made again. A query that somebody
    /// cancelled, or that met a lock, may succeed the next time.
    fn allow_another(&mut self, which: Which, class: ErrorClass) -> bool {
        let failures = self.0.entry(which).or_default();
        *failures += 1;
        let passes = matches!(class, ErrorClass::Cancelled | ErrorClass::LockTimeout);
        let is_allowed = passes && *failures < FAILURES_MAX;
        if !is_allowed {
            self.forget(which);
        }
        is_allowed
    }

    fn forget(&mut self, which: Which) {
        self.0.remove(&which);
    }
}

struct DatabaseObserver {
    setup: Setup,
    profile: Vec<ProfileQuery>,
    prepared: Option<PreparedQueries>,
    connect_at: Elapsed,
    failures: Failures,
    rows: Rows,
    classes: WaitClasses,
    now: Activity,
    known: KnownSeries,
    known_blockers: KnownSeries,
    window: OfWindow<SessionsOfSecond>,
    total: SessionsOfSecond,
    readings: [Option<StatementReading>; 2],
    captures: Captures,
    /// Text of the query of full detail, once it is known.
    detail_sql: Option<String>,
    gaps: BTreeMap<String, ObserverGap>,
    outcome: Outcome,
}

/// Observes until it is stopped; for a thread of its own.
pub fn observe(setup: Setup) -> Outcome {
    let done = on_this_thread(async {
        let mut observer = DatabaseObserver::new(setup);
        observer.until_stopped().await;
        Ok::<_, DbError>(observer.end().await)
    });
    let mut outcome = done.unwrap_or_default();
    outcome.cpu_ns = thread_cpu_ns();
    outcome
}

/// A statement without parameters.
pub fn bound(name: &str, sql: &str) -> BoundStatement {
    let (name, sql) = (format!("observe.{name}"), sql.to_owned());
    BoundStatement { name, sql, params: Vec::new(), order: Vec::new() }
}

impl DatabaseObserver {
    fn new(setup: Setup) -> Self {
        Self {
            window: OfWindow::new(Arc::clone(&setup.bounds)),
            classes: WaitClasses::new(&setup.def.waits),
            setup,
            profile: Vec::new(),
            prepared: None,
            connect_at: Elapsed::default(),
            failures: Failures::default(),
            rows: Rows::new(),
            now: Activity::default(),
            known: KnownSeries::default(),
            known_blockers: KnownSeries::default(),
            total: SessionsOfSecond::default(),
            readings: [None, None],
            captures: Captures::default(),
            detail_sql: None,
            gaps: BTreeMap::new(),
            outcome: Outcome::default(),
        }
    }

    /// Samples at every multiple of the interval, and counts those missed meanwhile. A query in
    /// progress is awaited, so that the session can be used once more at the end.
    async fn until_stopped(&mut self) {
        let (clock, stop) = (self.setup.clock, self.setup.stop.clone());
        let interval = Elapsed::from_duration(self.setup.interval).0.max(1);
        let mut tick = clock.now().0 / interval;
        let mut second = clock.now().second();
        loop {
            tick += 1;
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = sleep_until(clock.instant(Elapsed(tick * interval))) => {}
            }
            if clock.now().second() > second {
                self.finish_second(second).await;
                second = clock.now().second();
            }
            self.read_statements().await;
            self.begin_capture().await;
            self.sample().await;
            let late = (clock.now().0 / interval).saturating_sub(tick);
            self.now.missed += late;
            tick += late;
        }
    }

    async fn sample(&mut self) {
        self.ensure().await;
        if self.ask(Which::Sessions).await {
            let probe = self.setup.probe.as_deref();
            self.now.sample(&self.rows, &mut self.classes, &mut self.setup.names, probe);
        }
    }

    /// Reads what is read once per second, and passes on what is known of the second.
    async fn finish_second(&mut self, second: u64) {
        let activity = std::mem::take(&mut self.now);
        let mut values = self.measured(&activity);
        let mut blocking = Blocking::default();
        if self.ask(Which::Blockers).await {
            blocking = Blocking::of(&self.rows);
            values.extend(self.known_blockers.complete(blocking.measured()));
        } else {
            self.rows.reset(0);
        }
        if self.setup.triggers.is_some() {
            self.keep_detail(second).await;
        }
        self.put(second, SessionsOfSecond { activity, blocking });
        for index in 0..self.profile.len() {
            if self.profile[index].is_due(second) && self.ask(Which::Profile(index)).await {
                let at = self.setup.clock.now();
                let read = self.profile[index].take(&self.rows, at);
                match at.since(Elapsed::at_second(second + 1)) > LATE_NS {
                    false => values.extend(read),
                    true => self.setup.sink.put(at.second(), read),
                }
            }
        }
        self.setup.sink.put(second, values);
    }

    /// Begins a capture if a condition has become true.
    async fn begin_capture(&mut self) {
        let trigger = self.setup.triggers.as_ref().and_then(|triggers| triggers.try_recv().ok());
        let Some(trigger) = trigger.filter(|_| self.captures.is_ready()) else { return };
        let is_read = self.ask(Which::EngineStatus).await;
        let row = self.rows.iter().next().filter(|_| is_read);
        let status = row.as_ref().and_then(|row| row.text(row.len().checked_sub(1)?).ok());
        self.captures.begin(trigger, status);
    }

    /// Keeps what a capture needs of this second; the rows are those of the blockers.
    async fn keep_detail(&mut self, second: u64) {
        let edges = edges_of(&self.rows);
        if self.ask(Which::Detail).await {
            self.captures.put(snapshot_of(second, &self.rows, edges, &mut self.classes));
        }
        if self.captures.wants_statements(second) && self.ask(Which::Statements).await {
            self.captures.put_statements(second, StatementReading::of(&self.rows));
        }
        if self.captures.is_complete(second) {
            self.captures.finish(&self.own_statements());
        }
    }

    /// The values of a second; none without a sample.
    fn measured(&mut self, activity: &Activity) -> Measured {
        match activity.samples {
            0 => Vec::new(),
            _ => self.known.complete(activity.measured()),
        }
    }

    fn put(&mut self, second: u64, seen: SessionsOfSecond) {
        let total = &mut self.total;
        self.window.put(second, seen, |seen| total.add(seen));
    }

    /// Reads the statistics of statements when the window begins and when it ends.
    async fn read_statements(&mut self) {
        let bounds = [self.setup.bounds.has_begun(), self.setup.bounds.has_ended()];
        for (index, is_time) in bounds.into_iter().enumerate() {
            if is_time && self.readings[index].is_none() && self.ask(Which::Statements).await {
                self.readings[index] = Some(StatementReading::of(&self.rows));
            }
        }
    }

    /// Makes a prepared query; returns whether its rows are there.
    async fn ask(&mut self, which: Which) -> bool {
        let Some(prepared) = &mut self.prepared else { return false };
        let id = match which {
            Which::Sessions => prepared.sessions,
            Which::Blockers => prepared.blockers,
            Which::Statements => prepared.statements,
            Which::Detail => prepared.detail,
            Which::EngineStatus => prepared.engine_status,
            Which::Profile(index) => prepared.profile.get(index).copied().flatten(),
        };
        let Some(id) = id else { return false };
        let began = self.setup.clock.now();
        let query = prepared.session.query(id, &[], &mut self.rows);
        let answer = timeout(QUERY_LIMIT, query).await;
        let passed = Duration::from_nanos(self.setup.clock.now().since(began));
        self.outcome.query_s += passed.as_secs_f64();
        match answer {
            Ok(Ok(())) => {
                self.setup.answered.fetch_add(1, Ordering::Relaxed);
                self.setup.own.fetch_add(1, Ordering::Relaxed);
                self.failures.forget(which);
                true
            }
            Ok(Err(error)) if !error.class().loses_session() => {
                if !self.failures.allow_another(which, error.class()) {
                    let name = self.name(which);
                    self.disable(which);
                    self.not_read(&name, error.message());
                }
                false
            }
            _ => {
                self.lose();
                false
            }
        }
    }

    fn name(&self, which: Which) -> String {
        match which {
            Which::Sessions => "sessions".to_owned(),
            Which::Blockers => "blockers".to_owned(),
            Which::Statements => "statements".to_owned(),
            Which::Detail => "detail".to_owned(),
            Which::EngineStatus => "engine_status".to_owned(),
            Which::Profile(index) => self.profile[index].def.name.clone(),
        }
    }

    fn disable(&mut self, which: Which) {
        let Some(prepared) = &mut self.prepared else { return };
        match which {
            Which::Sessions => prepared.sessions = None,
            Which::Blockers => prepared.blockers = None,
            Which::Statements => prepared.statements = None,
            Which::Detail => prepared.detail = None,
            Which::EngineStatus => prepared.engine_status = None,
            Which::Profile(index) => prepared.profile[index] = None,
        }
    }

    fn lose(&mut self) {
        self.prepared = None;
        self.outcome.lost += 1;
        let now = self.setup.clock.now().duration();
        self.connect_at = Elapsed::from_duration(now + CONNECT_EVERY);
    }

    fn not_read(&mut self, name: &str, reason: &str) {
        let gap = ObserverGap {
            name: name.to_owned(),
            hides: format!("not read: {}", one_line(reason)),
            change: String::new(),
            part: None,
        };
        self.gap(gap);
    }

    fn gap(&mut self, gap: ObserverGap) {
        if self.gaps.len() < GAPS_MAX {
            self.gaps.entry(gap.name.clone()).or_insert(gap);
        }
    }

    /// Opens the session if there is none and it is time for another attempt.
    async fn ensure(&mut self) {
        if self.prepared.is_some() || self.setup.clock.now() < self.connect_at {
            return;
        }
        let stop = self.setup.stop.clone();
        let opened = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            opened = timeout(CONNECT_LIMIT, self.open()) => opened,
        };
        match opened {
            Ok(Ok(prepared)) => {
                self.gaps.remove(SESSION);
                self.prepared = Some(prepared);
            }
            Ok(Err(error)) => {
                self.not_read(SESSION, error.message());
                self.lose();
            }
            Err(_) => {
                let reason = format!("no answer within {} s", CONNECT_LIMIT.as_secs());
                self.not_read(SESSION, &reason);
                self.lose();
            }
        }
    }

    async fn open(&mut self) -> Result<PreparedQueries, DbError> {
        let mut session = connect(&self.setup.database, Role::Monitor, CONNECT_LIMIT).await?;
        let version = session.server().await?.version;
        if self.profile.is_empty() {
            self.find_gaps(&mut session, &version).await?;
            if !self.is_shown(&mut session).await? {
                self.setup.def.forget_queries();
            }
            self.profile = self.find_profile(&mut session, &version).await?;
        }
        let def = self.setup.def.clone();
        let sessions = self.first(&mut session, &def.sessions, &version).await?;
        let blockers = self.first(&mut session, &def.blockers, &version).await?;
        let statements = self.first(&mut session, &def.statements, &version).await?;
        let (mut detail, mut engine_status) = (None, None);
        if let Some((_, sessions)) = sessions.as_ref().filter(|_| self.setup.triggers.is_some()) {
            let of_detail = def.detail.iter().map(|query| query.with_sessions(sessions));
            let of_detail: Vec<_> = of_detail.collect();
            detail = self.first(&mut session, &of_detail, &version).await?;
            engine_status = self.first(&mut session, &def.engine_status, &version).await?;
        }
        self.detail_sql = detail.as_ref().map(|(_, sql)| sql.clone());
        let id = |of: Option<(StatementId, String)>| of.map(|(id, _)| id);
        let mut profile = Vec::new();
        for index in 0..self.profile.len() {
            let def = &self.profile[index].def;
            let (name, statement) = (def.name.clone(), bound(&def.name, &def.sql));
            profile.push(self.prepare(&mut session, &name, &statement).await?);
        }
        Ok(PreparedQueries {
            session,
            sessions: id(sessions),
            blockers: id(blockers),
            statements: id(statements),
            detail: id(detail),
            engine_status: id(engine_status),
            profile,
        })
    }

    /// The queries of counters and states that the server has.
    async fn find_profile(
        &self,
        session: &mut impl Session,
        version: &str,
    ) -> Result<Vec<ProfileQuery>, DbError> {
        let mut found = Vec::new();
        for query in self.setup.def.query.iter().filter(|query| query.is_for(version)) {
            let Some(when) = &query.when else {
                found.push(ProfileQuery::new(query.clone()));
                continue;
            };
            match has_row(session, &query.name, when).await {
                Err(error) if error.class().loses_session() => return Err(error),
                Ok(Some(name)) => found.push(ProfileQuery::new(query.with_found(&name))),
                _ => {}
            }
        }
        Ok(found)
    }

    /// Prepares the first query that the server has and can answer now; returns its text, too.
    async fn first(
        &mut self,
        session: &mut impl Session,
        queries: &[QueryDef],
        version: &str,
    ) -> Result<Option<(StatementId, String)>, DbError> {
        for query in queries.iter().filter(|query| query.is_for(version)) {
            let sql = match &query.when {
                None => query.sql.clone(),
                Some(when) => match has_row(session, &query.name, when).await {
                    Ok(Some(found)) => query.with_found(&found),
                    _ => continue,
                },
            };
            let statement = bound(&query.name, &sql);
            if let Some(id) = self.prepare(session, &query.name, &statement).await? {
                return Ok(Some((id, sql)));
            }
        }
        Ok(None)
    }

    async fn prepare(
        &mut self,
        session: &mut impl Session,
        name: &str,
        statement: &BoundStatement,
    ) -> Result<Option<StatementId>, DbError> {
        match session.prepare(statement).await {
            Ok(id) => Ok(Some(id)),
            Err(error) if error.class().loses_session() => Err(error),
            Err(error) => {
                self.not_read(name, error.message());
                Ok(None)
            }
        }
    }

    /// Whether the server shows anything.
    async fn is_shown(&mut self, session: &mut impl Session) -> Result<bool, DbError> {
        let Some(needs) = self.setup.def.needs.clone() else { return Ok(true) };
        match has_row(session, "needs", &needs).await {
            Ok(found) => Ok(found.is_some()),
            Err(error) if error.class().loses_session() => Err(error),
            Err(error) => {
                self.not_read("needs", error.message());
                Ok(false)
            }
        }
    }

    async fn find_gaps(
        &mut self,
        session: &mut impl Session,
        version: &str,
    ) -> Result<(), DbError> {
        let gaps = self.setup.def.gap.clone();
        for gap in gaps.into_iter().filter(|gap| gap.is_for(version)) {
            let missing = match has_row(session, &gap.name, &gap.sql).await {
                Err(error) if error.class().loses_session() => return Err(error),
                // What cannot be seen is not counted for this user either.
                Err(_) if gap.part.is_some() => Some(String::new()),
                Err(error) => {
                    self.not_read(&gap.name, error.message());
                    None
                }
                Ok(missing) => missing,
            };
            let Some(user) = missing else { continue };
            // Without the privilege this fails.
            if let Some(shown) = &gap.shown
                && matches!(has_row(session, &gap.name, shown).await, Ok(Some(_)))
            {
                continue;
            }
            self.gap(ObserverGap {
                name: gap.name,
                hides: gap.hides,
                change: gap.change.replace("{user}", &user),
                part: gap.part.as_deref().and_then(ServerTime::named),
            });
        }
        Ok(())
    }

    /// The observers' own statements, as their texts are compared.
    fn own_statements(&self) -> HashSet<String> {
        let ObserveDef { sessions, blockers, statements, query, gap, engine_status, .. } =
            &self.setup.def;
        let lists = [sessions, blockers, statements, engine_status];
        let all = lists.into_iter().flatten().map(|query| &query.sql).chain(&self.detail_sql);
        let all = all.chain(query.iter().map(|query| &query.sql));
        all.chain(gap.iter().map(|gap| &gap.sql)).map(|sql| own_key(sql.trim())).collect()
    }

    /// Reads what belongs to the end, closes the session, and returns everything.
    async fn end(mut self) -> Outcome {
        let last = timeout(END_LIMIT, async {
            if self.readings[1].is_none() && self.ask(Which::Statements).await {
                self.readings[1] = Some(StatementReading::of(&self.rows));
            }
            if let Some(prepared) = self.prepared.take() {
                prepared.session.close().await;
            }
        });
        // Without an answer in time the statements are missing.
        let _ = last.await;
        let second = self.setup.clock.now().second();
        let activity = std::mem::take(&mut self.now);
        let values = self.measured(&activity);
        self.setup.sink.put(second, values);
        self.put(second, SessionsOfSecond { activity, blocking: Blocking::default() });
        let total = &mut self.total;
        self.window.finish(|seen| total.add(seen));
        let own = self.own_statements();
        self.captures.finish(&own);
        let statements = match &self.readings {
            [Some(before), Some(after)] => after.since(before, &own),
            _ => Vec::new(),
        };
        Outcome {
            sessions: self.total.activity.figures(&self.setup.names),
            blockers: self.total.blocking.figures(),
            statements,
            captures: self.captures.into_done(),
            gaps: self.gaps.into_values().collect(),
            ..self.outcome
        }
    }
}

/// Name of the gap of a session that could not be opened.
const SESSION: &str = "session";

impl SessionsOfSecond {
    fn add(&mut self, other: Self) {
        self.activity.add(other.activity);
        self.blocking.add(other.blocking);
    }
}

/// The first field of a query's first row, as text; `None` without a row.
async fn has_row(
    session: &mut impl Session,
    name: &str,
    sql: &str,
) -> Result<Option<String>, DbError> {
    let id = session.prepare(&bound(name, sql)).await?;
    let mut rows = Rows::new();
    session.query(id, &[], &mut rows).await?;
    Ok(rows.iter().next().map(|row| row.text(0).unwrap_or_default().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_query_is_made_again_unless_it_fails_several_times_in_a_row() {
        let mut failures = Failures::default();
        let mut allow = |which, class| failures.allow_another(which, class);
        assert!(!allow(Which::Sessions, ErrorClass::Other), "a missing table stays missing");
        for _ in 1..FAILURES_MAX {
            assert!(allow(Which::Sessions, ErrorClass::Cancelled));
            assert!(allow(Which::Profile(1), ErrorClass::LockTimeout));
        }
        assert!(!allow(Which::Sessions, ErrorClass::Cancelled));
        failures.forget(Which::Profile(1));
        assert!(failures.allow_another(Which::Profile(1), ErrorClass::LockTimeout), "was answered");
        assert!(failures.allow_another(Which::Sessions, ErrorClass::Cancelled), "a new session");
    }
}

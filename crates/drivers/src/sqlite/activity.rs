//! What the sessions of this process do at a SQLite file: SQLite has no views of its own activity,
//! so the driver notes it, in a few relaxed atomic stores per statement. A monitor session shows it
//! by the SQL functions [`SESSIONS`] and [`COUNTERS`], which read no page of the file and take no
//! lock on it. Sessions of other processes are not seen.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use rusqlite::functions::FunctionFlags;
use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, Result};
use serde_json::{Map, Value, json};
use triphammer_core::{Clock, Elapsed};

/// SQL function: the sessions that are in a call or in a transaction, as a JSON array of objects.
const SESSIONS: &str = "triphammer_sessions";
/// SQL function: the counters, as a JSON object.
const COUNTERS: &str = "triphammer_counters";

/// Pages in the WAL from which a commit makes a checkpoint: SQLite's default.
pub(super) const AUTO_CHECKPOINT_PAGES: c_int = 1000;

/// Pauses of SQLite's own busy handler (`sqliteDefaultBusyCallback`), in milliseconds; the last one
/// is repeated.
const PAUSES_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

/// What a session does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Doing {
    /// Not in a call.
    Nothing,
    /// Executes a statement.
    Statement,
    /// Waits for a lock on the file.
    Busy,
    /// Commits: writes and syncs the WAL or the journal.
    Commit,
    /// Copies pages from the WAL to the file.
    Checkpoint,
}

impl Doing {
    const ALL: [Self; 5] =
        [Self::Nothing, Self::Statement, Self::Busy, Self::Commit, Self::Checkpoint];

    /// Name of the wait, whose class is in `observe.toml`; empty while it works.
    const fn wait(self) -> &'static str {
        match self {
            Self::Nothing => "between statements",
            Self::Statement => "",
            Self::Busy => "file lock",
            Self::Commit => "commit",
            Self::Checkpoint => "checkpoint",
        }
    }
}

/// The activity of all sessions at one file.
#[derive(Debug)]
pub(super) struct Activity {
    clock: Clock,
    sessions: Mutex<Vec<Weak<SessionActivity>>>,
    texts: Mutex<Texts>,
    last_id: AtomicU32,
    counters: Counters,
}

/// What the sessions have done since the file was opened.
#[derive(Debug, Default)]
struct Counters {
    busy_waits: AtomicU64,
    busy_ns: AtomicU64,
    commits: AtomicU64,
    commit_ns: AtomicU64,
    checkpoints: AtomicU64,
    checkpoint_ns: AtomicU64,
    checkpoint_pages: AtomicU64,
    /// Pages of the current WAL that are already in the file; not shown.
    copied_pages: AtomicU64,
    wal_pages: AtomicU64,
}

/// Texts of prepared statements, each once.
#[derive(Debug, Default)]
struct Texts {
    all: Vec<Arc<str>>,
    places: HashMap<Arc<str>, u32>,
}

/// What one session does.
#[derive(Debug)]
pub(super) struct SessionActivity {
    of: Arc<Activity>,
    id: u32,
    doing: AtomicU32,
    /// Place of the statement's text, plus one; 0 for none.
    statement: AtomicU32,
    is_in_transaction: AtomicBool,
}

impl Default for Activity {
    fn default() -> Self {
        Self {
            clock: Clock::start(),
            sessions: Mutex::default(),
            texts: Mutex::default(),
            last_id: AtomicU32::default(),
            counters: Counters::default(),
        }
    }
}

impl Activity {
    fn nanoseconds_since(&self, begin: Elapsed) -> u64 {
        self.clock.now().since(begin)
    }

    /// Creates the notes of a session, which nobody sees.
    pub fn unseen(self: &Arc<Self>) -> Arc<SessionActivity> {
        Arc::new(SessionActivity {
            of: Arc::clone(self),
            id: self.last_id.fetch_add(1, Relaxed) + 1,
            doing: AtomicU32::new(Doing::Nothing as u32),
            statement: AtomicU32::new(0),
            is_in_transaction: AtomicBool::new(false),
        })
    }

    /// Creates the notes of a session, which monitors see until the result is dropped.
    pub fn session(self: &Arc<Self>) -> Arc<SessionActivity> {
        let session = self.unseen();
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|known| known.strong_count() > 0);
        sessions.push(Arc::downgrade(&session));
        session
    }

    /// Adds the SQL functions to a connection.
    pub fn add_functions(self: &Arc<Self>, connection: &Connection) -> Result<()> {
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
        let of = Arc::clone(self);
        connection.create_scalar_function(SESSIONS, 0, flags, move |_| Ok(of.sessions()))?;
        let of = Arc::clone(self);
        connection.create_scalar_function(COUNTERS, 0, flags, move |_| Ok(of.counters()))
    }

    fn sessions(&self) -> String {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let all = sessions.iter().filter_map(Weak::upgrade).filter_map(|session| session.json());
        Value::Array(all.collect()).to_string()
    }

    fn counters(&self) -> String {
        let counters = &self.counters;
        let mut all = Map::new();
        for (name, value) in [
            ("busy_waits", &counters.busy_waits),
            ("busy_ns", &counters.busy_ns),
            ("commits", &counters.commits),
            ("commit_ns", &counters.commit_ns),
            ("checkpoints", &counters.checkpoints),
            ("checkpoint_ns", &counters.checkpoint_ns),
            ("checkpoint_pages", &counters.checkpoint_pages),
            ("wal_pages", &counters.wal_pages),
        ] {
            all.insert(name.to_owned(), value.load(Relaxed).into());
        }
        Value::Object(all).to_string()
    }

    /// Place of a statement's text.
    pub fn text(&self, sql: &str) -> u32 {
        let mut texts = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = texts.places.get(sql) {
            return *place;
        }
        let place = u32::try_from(texts.all.len()).expect("fewer than 2^32 statements");
        let text: Arc<str> = sql.into();
        texts.all.push(Arc::clone(&text));
        texts.places.insert(text, place);
        place
    }
}

impl SessionActivity {
    /// Place of a statement's text, for [`Self::executes`].
    pub fn text(&self, sql: &str) -> u32 {
        self.of.text(sql)
    }

    /// Notes that a statement is executed, or nothing any more.
    #[inline]
    pub fn executes(&self, text: Option<u32>) {
        self.statement.store(text.map_or(0, |place| place + 1), Relaxed);
        self.does(text.map_or(Doing::Nothing, |_| Doing::Statement));
    }

    /// Notes that a transaction is committed by the statement with this text.
    #[inline]
    pub fn commits(&self, text: u32) {
        self.statement.store(text + 1, Relaxed);
        self.does(Doing::Commit);
    }

    #[inline]
    fn does(&self, doing: Doing) {
        self.doing.store(doing as u32, Relaxed);
    }

    /// Notes that a transaction has begun or ended.
    #[inline]
    pub fn in_transaction(&self, is_in: bool) {
        self.is_in_transaction.store(is_in, Relaxed);
    }

    /// The time, for [`Self::committed`].
    #[inline]
    pub fn now(&self) -> Elapsed {
        self.of.clock.now()
    }

    /// Counts a commit that began at `begin`.
    #[inline]
    pub fn committed(&self, begin: Elapsed) {
        self.of.counters.commits.fetch_add(1, Relaxed);
        self.of.counters.commit_ns.fetch_add(self.of.nanoseconds_since(begin), Relaxed);
    }

    /// Waits for locks and makes checkpoints as SQLite would, and notes both.
    pub fn watch(self: &Arc<Self>, connection: &mut Connection, limit: Duration) -> Result<()> {
        let session = Arc::clone(self);
        connection.busy_handler(Some(move |before| session.wait(before, limit)))?;
        let session = Arc::clone(self);
        connection.wal_hook(Some(move |wal: &mut Wal, pages| {
            session.committed_to_wal(wal, pages);
            Ok(())
        }))
    }

    /// Pauses after `before` pauses for the same lock; returns whether to try again.
    fn wait(&self, before: i32, limit: Duration) -> bool {
        let before = usize::try_from(before).unwrap_or_default();
        let pause = |index: usize| PAUSES_MS[index.min(PAUSES_MS.len() - 1)];
        let all_pauses: u64 = PAUSES_MS.iter().sum();
        let waited = match before.checked_sub(PAUSES_MS.len()) {
            None => PAUSES_MS[..before].iter().sum(),
            Some(more) => all_pauses + pause(usize::MAX) * more as u64,
        };
        let left = limit.saturating_sub(Duration::from_millis(waited));
        if left.is_zero() {
            return false;
        }
        if before == 0 {
            self.of.counters.busy_waits.fetch_add(1, Relaxed);
        }
        let done = self.doing.swap(Doing::Busy as u32, Relaxed);
        let begin = self.now();
        std::thread::sleep(left.min(Duration::from_millis(pause(before))));
        self.of.counters.busy_ns.fetch_add(self.of.nanoseconds_since(begin), Relaxed);
        self.doing.store(done, Relaxed);
        true
    }

    /// Makes a checkpoint if the WAL has grown enough. Failures are ignored, as SQLite's own hook
    /// does: a later commit tries again.
    fn committed_to_wal(&self, wal: &mut Wal, pages: c_int) {
        self.of.counters.wal_pages.store(u64::try_from(pages).unwrap_or_default(), Relaxed);
        if pages < AUTO_CHECKPOINT_PAGES {
            return;
        }
        let done = self.doing.swap(Doing::Checkpoint as u32, Relaxed);
        let begin = self.now();
        if let Ok((_, copied)) = wal.checkpoint_v2(CheckpointMode::PASSIVE) {
            let copied = u64::try_from(copied).unwrap_or_default();
            let before = self.of.counters.copied_pages.swap(copied, Relaxed);
            // A smaller number is of a new WAL.
            let more = copied.checked_sub(before).unwrap_or(copied);
            self.of.counters.checkpoint_pages.fetch_add(more, Relaxed);
        }
        self.of.counters.checkpoints.fetch_add(1, Relaxed);
        self.of.counters.checkpoint_ns.fetch_add(self.of.nanoseconds_since(begin), Relaxed);
        self.doing.store(done, Relaxed);
    }

    /// The session for [`SESSIONS`]; `None` if it does nothing and is in no transaction.
    fn json(&self) -> Option<Value> {
        let doing = Doing::ALL[self.doing.load(Relaxed) as usize];
        let is_active = doing != Doing::Nothing;
        if !is_active && !self.is_in_transaction.load(Relaxed) {
            return None;
        }
        let place = self.statement.load(Relaxed).checked_sub(1);
        let texts = self.of.texts.lock().unwrap_or_else(PoisonError::into_inner);
        let text = place.and_then(|place| texts.all.get(place as usize));
        Some(json!({
            "id": self.id.to_string(),
            "state": if is_active { "active" } else { "idle_in_transaction" },
            "wait": doing.wait(),
            "statement": text.map_or("", |text| text),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_awaited_for_the_limit_and_no_longer() {
        let activity = Arc::new(Activity::default());
        let session = activity.session();
        let limit = Duration::from_millis(4);
        let begin = session.now();
        let pauses = (0..).take_while(|before| session.wait(*before, limit)).count();
        assert_eq!(pauses, 3, "1, 2 and the last one of 5 ms cut to 1");
        assert!(activity.nanoseconds_since(begin) >= 4_000_000);
        assert!(!session.wait(0, Duration::ZERO));
        assert_eq!(activity.counters.busy_waits.load(Relaxed), 1);
        let far = i32::try_from(PAUSES_MS.len()).unwrap() + 40;
        assert!(!session.wait(far, Duration::from_secs(4)), "328 ms and 40 times 100 ms");
    }
}

//! Real servers whose messages are corrupted on the way, by seeds: whatever arrives, no call
//! panics, none ignores a time limit, and memory is bounded. `make fuzz` runs this for longer.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::clock::Clock;
use triphammer_core::session::{
    Access, Admin, Database as _, LockMode, Pipelining, Role, Session as _,
};
use triphammer_core::workload::{TableDef, column, table};
use triphammer_core::{ColumnType, Rows, Value};
use triphammer_drivers::target::ConnectSettings;
use triphammer_drivers::{AnyDatabase, AnySession};
use triphammer_testbed::{
    Framing, MariadbServer, Meddler, Meddling, PostgresServer, fuzz_settings,
};

use crate::session::{on_worker, statement};

/// Default number of seconds for each server.
const SECONDS: u64 = 12;
/// Maximum wait for an answer: some servers never answer.
const PATIENCE: Duration = Duration::from_millis(250);
/// Maximum duration of a session: waiting longer shows nothing more.
const SESSION: Duration = Duration::from_millis(700);
/// Number of concurrent sessions per seed.
const SESSIONS: u32 = 8;
/// Peak memory that a test process may use.
const MEMORY_KIB_MAX: u64 = 1024 * 1024;

static TABLE: LazyLock<TableDef> = LazyLock::new(|| {
    table("fuzzed", [column("id", ColumnType::Int), column("words", ColumnType::Text)])
});

/// Awaits an operation that may fail in any way except by a panic or by never ending.
async fn tried<T, E>(asked: impl Future<Output = Result<T, E>>) -> Option<T> {
    timeout(PATIENCE, asked).await.ok()?.ok()
}

/// Calls everything that a session can do.
async fn exercise(session: &mut AnySession, placeholder: &str) {
    let mut rows = Rows::new();
    tried(session.server()).await;
    tried(session.settings()).await;
    tried(session.tables()).await;
    tried(session.transaction_count()).await;
    tried(session.ping()).await;
    let one = format!("SELECT id, words FROM fuzzed WHERE id < {placeholder} ORDER BY id");
    let many = "SELECT id, words FROM fuzzed";
    for _ in 0..4 {
        tried(session.begin(Access::Write)).await;
        if let Some(id) = tried(session.prepare(&statement(&one, &[ColumnType::Int]))).await {
            for n in 0..4 {
                if tried(session.query(id, &[Value::Int(n * 7)], &mut rows)).await.is_some() {
                    for row in rows.iter() {
                        let _ = (row.int(0), row.text(1));
                    }
                }
            }
            tried(session.call(id, &[Value::Int(3)], &mut rows)).await;
            tried(session.execute(id, &[Value::Int(3)])).await;
            tried(session.execute_and_commit(id, &[Value::Int(3)], Some(&mut rows))).await;
            tried(session.begin(Access::Write)).await;
        }
        if let Some(id) = tried(session.prepare(&statement(many, &[]))).await {
            tried(session.stream(id, &[], &mut rows, &mut |_| {})).await;
        }
        tried(session.script("UPDATE fuzzed SET words = 'x' WHERE id = 1; SELECT 1")).await;
        let mut left = 3;
        let mut source = |rows: &mut Rows| {
            left -= 1;
            rows.int(1_000_000 + i64::from(left));
            rows.text("words");
            left > 0
        };
        tried(session.load(&TABLE, &mut source)).await;
        tried(session.commit()).await;
        tried(session.rollback()).await;
    }
    tried(session.advisory_lock("fuzzed", LockMode::Shared)).await;
}

/// Tests one seed: a proxy that corrupts messages, and some sessions through it.
fn round(framing: Framing, upstream: u16, url: impl Fn(u16) -> String, seed: u64) -> u64 {
    let every = [4, 12, 40, 150][usize::try_from(seed % 4).unwrap()];
    let meddler = Meddler::start(upstream, framing, Meddling::Random { seed, every });
    let pipelining = match framing {
        Framing::Postgres if seed.is_multiple_of(3) => Pipelining::On,
        _ => Pipelining::Off,
    };
    let settings = ConnectSettings { connect_limit: PATIENCE, pipelining, ..Default::default() };
    let database = Rc::new(AnyDatabase::open(&url(meddler.port()), &settings).unwrap());
    let placeholder = if framing == Framing::Postgres { "$1" } else { "?" };
    on_worker(async {
        let mut sessions = tokio::task::JoinSet::new();
        for _ in 0..SESSIONS {
            let database = Rc::clone(&database);
            sessions.spawn_local(async move {
                tried(database.identify()).await;
                let Some(mut session) = tried(database.connect(Role::User, 0)).await else {
                    return;
                };
                let canceller = session.canceller();
                let _ = timeout(SESSION, exercise(&mut session, placeholder)).await;
                let _ = timeout(PATIENCE, canceller.is_at_work()).await;
                let _ = timeout(PATIENCE, canceller.cancel()).await;
                let _ = timeout(PATIENCE, session.close()).await;
            });
        }
        sessions.join_all().await;
    });
    meddler.broken()
}

fn fuzz(what: &str, framing: Framing, upstream: u16, url: impl Fn(u16) -> String) {
    let (first, length) = fuzz_settings(SECONDS);
    let (clock, mut seed, mut broken) = (Clock::start(), first, 0);
    while clock.now().duration() < length {
        let done = catch_unwind(AssertUnwindSafe(|| round(framing, upstream, &url, seed)));
        broken += done.unwrap_or_else(|_| {
            panic!("{what}: seed {seed} (again by TRIPHAMMER_FUZZ_SEED={seed})")
        });
        seed += 1;
    }
    eprintln!("{what}: seeds {first} to {}, {broken} messages broken", seed - 1);
    assert!(broken > 0, "nothing was tried");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak: Option<u64> = peak.and_then(|kib| kib.trim().strip_suffix("kB")?.trim().parse().ok());
    assert!(peak.is_none_or(|kib| kib < MEMORY_KIB_MAX), "{what}: {peak:?} KiB at the peak");
}

const CREATE: &str = "CREATE TABLE fuzzed (id integer NOT NULL, words varchar(40)); \
                      INSERT INTO fuzzed VALUES (1, 'one'), (2, 'two'), (3, NULL)";

#[test]
fn broken_messages_of_postgres_end_in_errors() {
    let server = PostgresServer::shared();
    let fresh = server.fresh_database("fuzzed").unwrap();
    let name = fresh.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    server.run(&name, CREATE).unwrap();
    let (user, password) = (server.user(), server.password());
    fuzz("PostgreSQL", Framing::Postgres, server.port(), |port| {
        format!("postgres://{user}:{password}@127.0.0.1:{port}/{name}?sslmode=disable")
    });
}

#[test]
fn broken_messages_of_mysql_end_in_errors() {
    let server = MariadbServer::shared();
    let fresh = server.fresh_database("fuzzed").unwrap();
    let name = fresh.rsplit('/').next().unwrap().split('?').next().unwrap().to_owned();
    server.run(&name, CREATE).unwrap();
    let (user, password) = (server.user(), server.password());
    fuzz("MySQL", Framing::Mysql, server.port(), |port| {
        format!("mysql://{user}:{password}@127.0.0.1:{port}/{name}?ssl-mode=DISABLED")
    });
}

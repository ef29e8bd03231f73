//! Tests of SQLite's own behaviour: files, journals, and killed processes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use triphammer_core::rows::Rows;
use triphammer_core::session::{Access, Admin, LockMode, Session};
use triphammer_core::value::ColumnType;
use triphammer_core::workload::{TableDef, column, table};

use super::*;

/// Names the file for [`a_loader_to_be_killed`].
const FILE_VARIABLE: &str = "TRIPHAMMER_TEST_SQLITE_FILE";

static TABLE: LazyLock<TableDef> = LazyLock::new(|| {
    table("t", [column("id", ColumnType::Int), column("words", ColumnType::Text)])
});

fn parse(name: &str, value: &str) -> Result<UrlOptions, SpecError> {
    UrlOptions::parse(&[(name.to_owned(), value.to_owned())], Some(Duration::from_secs(1)))
}

fn open(path: &Path, params: &str) -> Sqlite {
    let url = TargetUrl::parse(&format!("sqlite:{}{params}", path.display())).unwrap();
    Sqlite::open(&url, &ConnectSettings::default()).unwrap()
}

async fn setting(session: &mut SqliteSession, name: &str) -> String {
    let settings = session.settings().await.unwrap();
    settings.into_iter().find(|(known, _)| known == name).unwrap().1
}

fn part(rows_max: i64) -> impl FnMut(&mut Rows) -> bool {
    let mut next = 0;
    move |rows| {
        next += 1;
        rows.int(next);
        rows.text("words that fill some pages of the file, so that the cache spills");
        next < rows_max
    }
}

#[test]
fn parameters_are_read_and_unknown_ones_refused() {
    assert_eq!(parse("busy_timeout", "2s").unwrap().busy_timeout, Duration::from_secs(2));
    assert_eq!(parse("cache_size", "-64000").unwrap().busy_timeout, Duration::from_secs(1));
    assert_eq!(parse("synchronous", "NORMAL").unwrap().synchronous, "normal");
    for (name, value, message) in [
        ("page", "1", "unknown parameter `page` of a sqlite target: expected synchronous"),
        ("synchronous", "sometimes", "expected one of full, normal"),
        ("journal_mode", "memory", "expected one of wal, delete"),
        ("cache_size", "big", "expected a whole number, got `big`"),
        ("busy_timeout", "5", "invalid duration `5`"),
    ] {
        let error = parse(name, value).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[tokio::test]
async fn files_that_cannot_be_opened_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "no database at all, ".repeat(200)).unwrap();
    for (path, role, message) in [
        (folder.path().join("none/a.db"), Role::Loader, "its folder does not exist"),
        (folder.path().join("a.db"), Role::User, "no such file"),
        (folder.path().join("a.db"), Role::Monitor, "no such file"),
        (folder.path().to_owned(), Role::User, "is a folder"),
        (text, Role::Loader, "file is not a database"),
    ] {
        let error = open(&path, "").connect(role, 0).await.err().unwrap();
        assert_eq!(error.class(), ErrorClass::Refused, "{error:?}");
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was made");
}

#[tokio::test]
async fn loaders_use_a_rollback_journal_and_users_wal() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("a.db"), "");
    let mut loader = database.connect(Role::Loader, 0).await.unwrap();
    loader.script("CREATE TABLE t (id integer, words text)").await.unwrap();
    assert_eq!(setting(&mut loader, "journal_mode").await, "delete");
    let mut monitor = database.connect(Role::Monitor, 0).await.unwrap();
    assert_eq!(setting(&mut monitor, "journal_mode").await, "delete");
    let mut user = database.connect(Role::User, 0).await.unwrap();
    for session in [&mut user, &mut monitor, &mut loader] {
        assert_eq!(setting(session, "journal_mode").await, "wal");
        assert_eq!(setting(session, "synchronous").await, "2", "full");
    }
    // A loader cannot leave WAL mode while others are connected, but still works.
    let mut beside = database.connect(Role::Loader, 0).await.unwrap();
    assert_eq!(setting(&mut beside, "journal_mode").await, "wal");
    drop((user, loader, beside));
    // A lock holds no connection, so it does not block the loader.
    assert!(monitor.advisory_lock("build", LockMode::Exclusive).await.unwrap());
    assert!(monitor.settings().await.is_err());
    let mut loader = database.connect(Role::Loader, 0).await.unwrap();
    assert_eq!(setting(&mut loader, "journal_mode").await, "delete");
    drop((loader, monitor));
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "only the database is left: {left:?}");
}

#[test]
fn users_that_connect_at_once_all_find_wal() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("a.db"), "");
    database.connection(Role::Loader).unwrap().execute_batch("CREATE TABLE t (id)").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let connection = database.connection(Role::User).unwrap();
                assert_eq!(journal_mode(&connection).unwrap(), "wal");
            });
        }
    });
}

#[tokio::test]
async fn parameters_reach_the_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let params = "?synchronous=normal&journal_mode=truncate&busy_timeout=2s&cache_size=-4000";
    let database = open(&folder.path().join("a.db"), params);
    database.create_database().await.unwrap();
    let mut user = database.connect(Role::User, 0).await.unwrap();
    for (name, value) in [
        ("synchronous", "1"),
        ("journal_mode", "truncate"),
        ("busy_timeout", "2000"),
        ("cache_size", "-4000"),
    ] {
        assert_eq!(setting(&mut user, name).await, value, "{name}");
    }
}

#[tokio::test]
async fn a_reader_that_turns_to_writing_too_late_may_try_again() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("a.db"), "");
    database.create_database().await.unwrap();
    let mut reader = database.connect(Role::User, 0).await.unwrap();
    let mut writer = database.connect(Role::User, 0).await.unwrap();
    writer.script("CREATE TABLE t (id)").await.unwrap();
    reader.begin(Access::Snapshot).await.unwrap();
    writer.script("INSERT INTO t VALUES (1)").await.unwrap();
    let error = reader.script("INSERT INTO t VALUES (2)").await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Serialization, "{error:?}");
    reader.rollback().await.unwrap();
    reader.script("INSERT INTO t VALUES (2)").await.unwrap();
}

/// The process that the test below kills: it commits one chunk and never finishes the second.
#[tokio::test]
#[ignore = "run by the test below"]
async fn a_loader_to_be_killed() {
    let Some(path) = std::env::var_os(FILE_VARIABLE).map(PathBuf::from) else { return };
    let database = open(&path, "?cache_size=20");
    let mut loader = database.connect(Role::Loader, 0).await.unwrap();
    loader.script("CREATE TABLE t (id integer, words text)").await.unwrap();
    loader.begin(Access::Write).await.unwrap();
    loader.load(&TABLE, &mut part(10_000)).await.unwrap();
    loader.commit().await.unwrap();
    loader.begin(Access::Write).await.unwrap();
    loader.script("UPDATE t SET words = 'changed'").await.unwrap();
    let mut endless = part(i64::MAX);
    let mut source = |rows: &mut Rows| {
        let more = endless(rows);
        if rows.row(0).int(0).unwrap() == 20_000 {
            std::fs::write(path.with_extension("ready"), "").unwrap();
        }
        more
    };
    loader.load(&TABLE, &mut source).await.unwrap();
}

#[tokio::test]
async fn a_killed_loader_leaves_what_it_had_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sqlite::tests::a_loader_to_be_killed", "--ignored"])
        .env(FILE_VARIABLE, &path)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..600 {
        if path.with_extension("ready").exists() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(folder.path().join("a.db-journal").exists(), "it was killed at work");
    for role in [Role::Monitor, Role::Loader, Role::User] {
        let connection = open(&path, "").connection(role).unwrap();
        let ask = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
        assert_eq!(ask("SELECT CAST(count(*) AS text) FROM t WHERE words <> 'changed'"), "10000");
        assert_eq!(ask("PRAGMA integrity_check"), "ok");
    }
}

#[tokio::test]
async fn sql_of_somebody_else_opens_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let other = folder.path().join("other.db");
    open(&path, "")
        .connect(Role::Loader, 0)
        .await
        .unwrap()
        .script("CREATE TABLE t (id)")
        .await
        .unwrap();
    let url = TargetUrl::parse(&format!("sqlite:{}", path.display())).unwrap();
    for fence in [Fence::Files, Fence::Sql] {
        let settings = ConnectSettings { fence, ..ConnectSettings::default() };
        let database = Sqlite::open(&url, &settings).unwrap();
        for role in [Role::Loader, Role::User, Role::Monitor] {
            let mut session = database.connect(role, 0).await.unwrap();
            for sql in [
                format!("ATTACH DATABASE '{}' AS x", other.display()),
                format!("ATTACH DATABASE '{}' || '' AS x", other.display()),
                format!("VACUUM INTO '{}'", other.display()),
                format!("PRAGMA temp_store_directory = '{}'", folder.path().display()),
                "PRAGMA Hard_Heap_Limit = 1000000000".to_owned(),
                "SELECT * FROM pragma_soft_heap_limit".to_owned(),
                "PRAGMA writable_schema = on".to_owned(),
                "DETACH DATABASE main".to_owned(),
            ] {
                let error = session.script(&sql).await.unwrap_err();
                let is_refused = error.code() == Some("SQLITE_AUTH")
                    || error.message().contains("not authorized");
                assert!(is_refused, "{sql}: {error:?}");
            }
            session.script("PRAGMA user_version = 3; INSERT INTO t VALUES (1)").await.unwrap();
            session.settings().await.unwrap();
            session.tables().await.unwrap();
        }
        database.connect(Role::Loader, 0).await.unwrap().script("VACUUM").await.unwrap();
    }
    assert!(!other.exists());
}

#[tokio::test]
async fn the_settings_of_users_do_not_change_by_a_load() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("a.db"), "");
    let mut loader = database.connect(Role::Loader, 0).await.unwrap();
    loader.script("CREATE TABLE t (id integer, words text)").await.unwrap();
    drop(loader);
    let mut user = database.connect(Role::User, 0).await.unwrap();
    let before = user.settings().await.unwrap();
    user.load(&TABLE, &mut part(1000)).await.unwrap();
    let mut loader = database.connect(Role::Loader, 0).await.unwrap();
    loader.load(&TABLE, &mut part(1000)).await.unwrap();
    assert_eq!(user.settings().await.unwrap(), before);
    drop(loader);
    assert_eq!(user.settings().await.unwrap(), before);
}

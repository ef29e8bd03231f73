//! Tests of DuckDB's own behaviour: files, locks, parameters and conflicts.

use std::path::Path;

use triphammer_core::rows::Rows;
use triphammer_core::session::{Access, Admin, Session};
use triphammer_core::value::ColumnType;
use triphammer_core::workload::{column, table};

use super::*;

fn open(path: &Path, params: &str) -> Duckdb {
    let url = TargetUrl::parse(&format!("duckdb:{}{params}", path.display())).unwrap();
    Duckdb::open(&url, &ConnectSettings::default()).unwrap()
}

fn parse(name: &str, value: &str) -> Result<UrlOptions, SpecError> {
    UrlOptions::parse(&[(name.to_owned(), value.to_owned())])
}

#[test]
fn parameters_are_read_and_unknown_ones_refused() {
    assert_eq!(parse("threads", "2").unwrap().threads, Some(2));
    for size in ["2GB", "512MiB", "100 mb"] {
        assert_eq!(parse("memory_limit", size).unwrap().memory_limit.unwrap(), size);
    }
    for (name, value, message) in [
        ("threads", "0", "expected a number from 1, got `0`"),
        ("memory_limit", "2", "expected a size such as 2GB"),
        ("memory_limit", "2GB'; DROP", "expected a size such as 2GB"),
        ("memory_limit", "50%", "expected a size such as 2GB"),
        ("access_mode", "x", "unknown parameter `access_mode`"),
    ] {
        let error = parse(name, value).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[tokio::test]
async fn parameters_reach_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("a.duckdb"), "?threads=3&memory_limit=300MiB");
    let mut session = database.connect(Role::Loader, 0).await.unwrap();
    let settings = session.settings().await.unwrap();
    let setting = |wanted: &str| {
        settings.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    };
    assert_eq!(setting("threads"), Some("3"), "{settings:?}");
    assert_eq!(setting("memory_limit"), Some("300.0 MiB"), "{settings:?}");
}

#[tokio::test]
async fn files_that_cannot_be_opened_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "no database at all, ".repeat(500)).unwrap();
    for (path, role, message) in [
        (folder.path().join("none/a.db"), Role::Loader, "its folder does not exist"),
        (folder.path().join("a.db"), Role::User, "no such file"),
        (folder.path().to_owned(), Role::User, "is a folder"),
        (text, Role::Loader, "not a valid DuckDB database file"),
    ] {
        let error = open(&path, "").connect(role, 0).await.err().unwrap();
        assert_eq!(error.class(), ErrorClass::Refused, "{error:?}");
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing was made");
}

#[tokio::test]
async fn a_file_that_was_replaced_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.duckdb");
    let mut session = open(&path, "").connect(Role::Loader, 0).await.unwrap();
    session.server().await.unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(session.server().await.unwrap_err().class(), ErrorClass::Disconnected);
}

#[tokio::test]
async fn of_two_writers_of_a_row_the_second_may_try_again() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(&folder.path().join("a.duckdb"), "");
    let mut first = database.connect(Role::Loader, 0).await.unwrap();
    let mut second = database.connect(Role::User, 0).await.unwrap();
    first
        .script("CREATE TABLE t (id integer, n integer); INSERT INTO t VALUES (1, 0)")
        .await
        .unwrap();
    first.begin(Access::Write).await.unwrap();
    second.begin(Access::Write).await.unwrap();
    let update = "UPDATE t SET n = n + 1";
    first.script(update).await.unwrap();
    let error = second.script(update).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Serialization, "{error:?}");
    second.rollback().await.unwrap();
    second.rollback().await.unwrap();
    first.commit().await.unwrap();
    second.begin(Access::Write).await.unwrap();
    second.script(update).await.unwrap();
    second.commit().await.unwrap();
}

async fn value(session: &mut DuckdbSession, setting: &str) -> String {
    let settings = session.settings().await.unwrap();
    settings.into_iter().find(|(name, _)| name == setting).unwrap().1
}

fn some_rows() -> impl FnMut(&mut Rows) -> bool {
    let mut next = 0;
    move |rows| {
        next += 1;
        rows.int(next);
        next < 100
    }
}

#[tokio::test]
async fn a_load_changes_the_settings_of_the_database_only_while_it_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let table = table("t", [column("id", ColumnType::Int)]);
    for params in ["", "?threads=3"] {
        let database = open(&folder.path().join(format!("{}.duckdb", params.len())), params);
        let mut first = database.connect(Role::Loader, 0).await.unwrap();
        first.script("CREATE TABLE t (id integer)").await.unwrap();
        drop(first);
        let mut user = database.connect(Role::User, 0).await.unwrap();
        let before = user.settings().await.unwrap();
        // A refresh function loads in a session of a user.
        user.load(&table, &mut some_rows()).await.unwrap();
        assert_eq!(user.settings().await.unwrap(), before);
        let mut loaders = Vec::new();
        for slot in 0..2 {
            loaders.push(database.connect(Role::Loader, slot).await.unwrap());
        }
        loaders[0].load(&table, &mut some_rows()).await.unwrap();
        assert_eq!(value(&mut user, "threads").await, "1");
        assert_eq!(value(&mut user, "write_buffer_row_group_count").await, "1");
        loaders.pop();
        assert_eq!(value(&mut user, "threads").await, "1");
        // A loader that failed gives back what it has taken, too.
        let last = loaders.last_mut().unwrap();
        last.begin(Access::Write).await.unwrap();
        last.script("SELECT * FROM nothing").await.unwrap_err();
        loaders.pop();
        assert_eq!(user.settings().await.unwrap(), before);
    }
}

#[tokio::test]
async fn sql_of_somebody_else_opens_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.duckdb");
    let other = folder.path().join("other.csv");
    open(&path, "").connect(Role::Loader, 0).await.unwrap();
    let url = format!("duckdb:{}?threads=2&memory_limit=300MiB", path.display());
    let url = TargetUrl::parse(&url).unwrap();
    for fence in [Fence::Files, Fence::Sql] {
        let settings = ConnectSettings { fence, ..ConnectSettings::default() };
        let database = Duckdb::open(&url, &settings).unwrap();
        for role in [Role::Loader, Role::User, Role::Monitor] {
            let mut session = database.connect(role, 0).await.unwrap();
            for sql in [
                format!("COPY (SELECT 1) TO '{}'", other.display()),
                format!("ATTACH '{}' AS x", other.display()),
                format!("EXPORT DATABASE '{}'", folder.path().join("x").display()),
                "SELECT content FROM read_text('/etc/hostname')".to_owned(),
                "LOAD tpch".to_owned(),
                "SET enable_external_access = true".to_owned(),
            ] {
                let error = session.script(&sql).await.unwrap_err().to_string();
                let words = ["disabled", "locked", "cannot enable"];
                let refused = words.iter().any(|word| error.to_lowercase().contains(word));
                assert!(refused, "{sql}: {error}");
            }
            let error = session.script("SET threads = 1").await.err();
            assert_eq!(error.is_some(), fence == Fence::Sql, "{error:?}");
            let error = session.script("CALL enable_logging('QueryLog')").await.err();
            assert_eq!(error.is_some(), fence == Fence::Sql, "{error:?}");
        }
        let mut loader = database.connect(Role::Loader, 0).await.unwrap();
        loader.script("CREATE OR REPLACE TABLE t (id integer)").await.unwrap();
        let table = table("t", [column("id", ColumnType::Int)]);
        loader.load(&table, &mut some_rows()).await.unwrap();
        drop(loader);
        let mut user = database.connect(Role::User, 0).await.unwrap();
        assert_eq!(value(&mut user, "threads").await, "2", "{fence:?}");
        assert_eq!(value(&mut user, "memory_limit").await, "300.0 MiB", "{fence:?}");
    }
    assert!(!other.exists());
}

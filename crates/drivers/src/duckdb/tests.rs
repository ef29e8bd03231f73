//! Tests of DuckDB's own behaviour: files, locks, parameters and conflicts.

use std::path::Path;

use triphammer_core::session::{Access, Admin, Session};

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

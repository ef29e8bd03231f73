//! Cases that need no database.

use triphammer_core::session::Database;

use crate::target::{DataFolder, Fence, Reach};
use crate::{AnyDatabase, ConnectSettings, TargetUrl};

#[test]
fn a_target_is_shown_without_its_secrets() {
    for (target, shown) in [
        ("odbc:DSN=bench;UID=u;PWD=hunter2", "odbc:DSN=bench;UID=u"),
        (
            "ODBC:Driver={My Driver};Server=h;Password={hunter2;};Database=d",
            "odbc:Driver={My Driver};Server=h;Database=d",
        ),
        ("odbc:DSN=a;Pqopt={password=hunter2}", "odbc:DSN=a"),
    ] {
        let url = TargetUrl::parse(target).unwrap();
        assert!(url.has_password(), "{target}");
        assert!(!format!("{url:?}").contains("hunter2"));
        assert_eq!(url.redacted(), shown);
        let database = AnyDatabase::open(target, &ConnectSettings::default()).unwrap();
        assert_eq!(database.target(), shown);
        assert!(!format!("{database:?}").contains("hunter2"));
    }
    assert!(!TargetUrl::parse("odbc:DSN=a;UID=b").unwrap().has_password());
}

#[test]
fn a_connection_string_of_somebody_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::new(folder.path().into(), folder.path().join("jobs")).unwrap();
    let theirs = ConnectSettings { reach: Reach::Folder(data), ..Default::default() };
    let error = AnyDatabase::open("odbc:Driver=/tmp/x.so;PWD=hunter2", &theirs);
    let error = error.expect_err("a refusal").to_string();
    assert!(error.contains("--targets") && !error.contains("hunter2"), "{error}");
}

#[test]
fn sql_of_somebody_else_is_refused() {
    let theirs = ConnectSettings { fence: Fence::Sql, ..Default::default() };
    let error = AnyDatabase::open("odbc:DSN=bench", &theirs).expect_err("a refusal").to_string();
    assert!(error.contains("no SQL of clients") && error.contains("command line"), "{error}");
    let own = ConnectSettings { fence: Fence::Files, ..Default::default() };
    AnyDatabase::open("odbc:DSN=bench", &own).unwrap();
}

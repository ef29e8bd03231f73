//! Helpers of the tests for any driver's session.

use std::future::Future;
use std::io::{Read, Write};
use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::session::Session;
use triphammer_core::sql::{BoundStatement, param};
use triphammer_core::{ColumnType, DbError, ErrorClass, Rows};

/// Longer than anything here takes; whatever hangs fails.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a test as a worker thread of the engine runs users.
pub fn on_worker<T>(work: impl Future<Output = T>) -> T {
    triphammer_testbed::block_on(async { timeout(PATIENCE, work).await.expect("it hangs") })
}

pub fn no_environment(_: &str) -> Option<String> {
    None
}

pub fn statement(sql: &str, types: &[ColumnType]) -> BoundStatement {
    BoundStatement {
        name: "test".into(),
        sql: sql.into(),
        params: types.iter().map(|ty| param("p", *ty)).collect(),
        order: (0..types.len()).collect(),
    }
}

/// Prepares and runs a statement without parameters.
pub async fn rows_of(session: &mut impl Session, sql: &str) -> Result<Rows, DbError> {
    let id = session.prepare(&statement(sql, &[])).await?;
    let mut rows = Rows::new();
    session.query(id, &[], &mut rows).await?;
    Ok(rows)
}

/// The text in the first field.
pub async fn text_of(session: &mut impl Session, sql: &str) -> String {
    rows_of(session, sql).await.unwrap().row(0).text(0).unwrap().to_owned()
}

/// The number in the first field.
pub async fn number_of(session: &mut impl Session, sql: &str) -> i64 {
    rows_of(session, sql).await.unwrap().row(0).int(0).unwrap()
}

/// Compares the result of connecting (whether there is TLS, or why there is no session) with what
/// is expected: the error's message must contain the given words.
pub fn hold(found: Result<bool, DbError>, wanted: Result<bool, &str>, what: &str) {
    match (found, wanted) {
        (Ok(found), Ok(wanted)) => assert_eq!(found, wanted, "{what}"),
        (Err(error), Err(message)) => {
            assert_eq!(error.class(), ErrorClass::Refused, "{what}: {error}");
            assert!(error.message().contains(message), "{what}: {error}");
        }
        (found, wanted) => panic!("{what}: {found:?}, not {wanted:?}"),
    }
}

/// Compares the error of a server on this host with its code and words; the password `wrong` must
/// not be shown.
pub fn hold_refusal(error: &DbError, port: u16, code: Option<&str>, words: &str) {
    assert_eq!((error.class(), error.code()), (ErrorClass::Refused, code), "{error}");
    assert!(error.message().contains(words), "{error}");
    assert!(error.message().starts_with(&format!("127.0.0.1:{port}: ")), "{error}");
    assert!(!error.message().contains("wrong"), "{error}");
}

/// Returns the port of a server for one session, which sends one of `answers` whenever it receives something, and then
/// closes the connection.
pub fn answering(answers: Vec<Vec<u8>>) -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = [0; 4096];
        for answer in answers {
            if stream.read(&mut heard).unwrap_or(0) == 0 {
                return;
            }
            let _ = stream.write_all(&answer);
        }
    });
    port
}

/// Returns the port of a peer that is not a database; it sends `says` to whoever connects first.
pub fn no_database(says: impl AsRef<[u8]> + Send + 'static) -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(says.as_ref()).unwrap();
        // Waits until the other side closes.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    port
}

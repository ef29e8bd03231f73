//! Transactions whose BEGIN is sent with the first statement, and COMMIT with the last one: the messages and their
//! order, and what becomes of errors, cancels and lost connections on the way.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use triphammer_core::session::{
    Access, Database as _, Isolation, Pipelining, Protocol, Role, Session as _, StatementId,
};
use triphammer_core::{ColumnType, ErrorClass, Rows, Value};
use triphammer_drivers::postgres::{Postgres, PostgresSession};
use triphammer_drivers::target::{ConnectSettings, TargetUrl};
use triphammer_testbed::PostgresServer;

use crate::session::{no_environment, number_of, on_worker, rows_of, statement};

const INSERT: &str = "INSERT INTO t VALUES ($1)";
const COUNT: &str = "SELECT count(*) FROM t";

async fn session_by(url: &str, protocol: Protocol) -> PostgresSession {
    let settings = ConnectSettings {
        pipelining: Pipelining::On,
        protocol: Some(protocol),
        ..Default::default()
    };
    let url = TargetUrl::parse(url).unwrap();
    let database = Postgres::open_in(&url, &settings, &no_environment).unwrap();
    database.connect(Role::User, 0).await.unwrap()
}

async fn session(url: &str) -> PostgresSession {
    session_by(url, Protocol::Prepared).await
}

/// A database with a table of unique numbers, two sessions, and a statement of the first one.
async fn with_table(name: &str) -> (PostgresSession, PostgresSession, StatementId) {
    let url = PostgresServer::shared().fresh_database(name).unwrap();
    let (mut one, other) = (session(&url).await, session(&url).await);
    one.script("CREATE TABLE t (a int PRIMARY KEY)").await.unwrap();
    let insert = one.prepare(&statement(INSERT, &[ColumnType::Int])).await.unwrap();
    (one, other, insert)
}

mod messages {
    use super::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[tag][..], &length.to_be_bytes(), body].concat()
    }

    fn done(tag: &str) -> Vec<u8> {
        message(b'C', format!("{tag}\0").as_bytes())
    }

    fn ready(status: u8) -> Vec<u8> {
        message(b'Z', &[status])
    }

    fn error(severity: &str, code: &str) -> Vec<u8> {
        message(b'E', format!("S{severity}\0V{severity}\0C{code}\0Mno\0\0").as_bytes())
    }

    fn welcome() -> Vec<u8> {
        [message(b'R', &[0; 4]), message(b'K', &[0, 0, 0, 1, 0, 0, 0, 2]), ready(b'I')].concat()
    }

    /// The answer to the preparation of a statement without rows.
    fn prepared() -> Vec<u8> {
        let params = b"\0\x01\0\0\0\x17";
        [message(b'1', b""), message(b't', params), message(b'n', b""), ready(b'I')].concat()
    }

    /// The answer to a statement of transaction control among others, up to its end.
    fn control(tag: &str) -> Vec<u8> {
        [message(b'1', b""), message(b'2', b""), done(tag)].concat()
    }

    fn insert() -> Vec<u8> {
        [message(b'2', b""), done("INSERT 0 1")].concat()
    }

    /// A server for one session, which sends one of `answers` whenever it receives something, and
    /// then closes the connection. Returns its URL, and what it received each time.
    fn server(answers: Vec<Vec<u8>>) -> (String, Receiver<Vec<u8>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut heard = [0; 4096];
            for answer in answers {
                let count = stream.read(&mut heard).unwrap_or(0);
                if count == 0 {
                    return;
                }
                let _ = sender.send(heard[..count].to_vec());
                let _ = stream.write_all(&answer);
            }
        });
        (format!("postgres://u:p@127.0.0.1:{port}/d?sslmode=disable"), receiver)
    }

    /// The messages of a write: their types, and the texts of those that are parsed.
    fn written(bytes: &[u8]) -> String {
        let (mut out, mut rest) = (String::new(), bytes);
        while let [tag, a, b, c, d, ..] = *rest {
            let length = u32::from_be_bytes([a, b, c, d]) as usize;
            let body = &rest[5..=length];
            out.push(char::from(tag));
            if tag == b'P' {
                let mut texts = body.split(|byte| *byte == 0);
                let sql = String::from_utf8_lossy(texts.nth(1).unwrap()).into_owned();
                out.push_str(&format!("({sql})"));
            }
            rest = &rest[length + 1..];
        }
        out
    }

    /// A session whose server sends these answers after the preparation of a statement, the statement, and what the
    /// server receives from then on.
    async fn prepared_session(
        answers: &[Vec<u8>],
    ) -> (PostgresSession, StatementId, Receiver<Vec<u8>>) {
        let start = [welcome(), prepared()];
        let (url, heard) = server([&start[..], answers].concat());
        let mut session = session(&url).await;
        let id = session.prepare(&statement(INSERT, &[ColumnType::Int])).await.unwrap();
        assert_eq!(heard.recv().map(|_| heard.recv().map(|_| ())), Ok(Ok(())), "log-in, Parse");
        (session, id, heard)
    }

    #[test]
    fn begin_and_commit_share_the_writes_of_the_statements_around() {
        let answers = [
            [control("BEGIN"), insert(), ready(b'T')].concat(),
            [insert(), control("COMMIT"), ready(b'I')].concat(),
            [control("BEGIN"), insert(), control("COMMIT"), ready(b'I')].concat(),
            [control("BEGIN"), control("COMMIT"), ready(b'I')].concat(),
            [control("BEGIN"), ready(b'T')].concat(),
            [done("SELECT 0"), ready(b'T')].concat(),
            [done("COMMIT"), ready(b'I')].concat(),
        ];
        on_worker(async {
            let (mut session, id, heard) = prepared_session(&answers).await;
            let args = [Value::Int(7)];
            session.begin(Access::Write).await.unwrap();
            assert_eq!(session.execute(id, &args).await.unwrap(), 1);
            assert_eq!(session.execute_and_commit(id, &args, None).await.unwrap(), 1);
            session.begin_isolated(Access::Read, Isolation::Serializable).await.unwrap();
            assert_eq!(session.execute_and_commit(id, &args, None).await.unwrap(), 1);
            // Without a statement.
            session.begin(Access::Write).await.unwrap();
            session.commit().await.unwrap();
            // One that was rolled back before anything was sent.
            session.begin(Access::Write).await.unwrap();
            session.rollback().await.unwrap();
            // A text cannot be part of a pipeline.
            session.begin(Access::Write).await.unwrap();
            session.script("SELECT").await.unwrap();
            session.commit().await.unwrap();
            let writes: Vec<_> =
                (0..answers.len()).map(|_| written(&heard.recv().unwrap())).collect();
            assert_eq!(
                writes,
                [
                    "P(BEGIN)BEBES",
                    "BEP(COMMIT)BES",
                    "P(BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY)BEBEP(COMMIT)BES",
                    "P(BEGIN)BEP(COMMIT)BES",
                    "P(BEGIN)BES",
                    "Q",
                    "Q",
                ]
            );
        });
    }

    #[test]
    fn a_begin_that_fails_is_the_error_of_the_statement_which_does_not_run() {
        let refused = [error("ERROR", "25006"), ready(b'I')].concat();
        let answers = [refused, [control("BEGIN"), insert(), ready(b'T')].concat()];
        on_worker(async {
            let (mut session, id, heard) = prepared_session(&answers).await;
            session.begin(Access::Write).await.unwrap();
            let failed = session.execute(id, &[Value::Int(7)]).await.unwrap_err();
            assert_eq!(failed.class(), ErrorClass::ReadOnly);
            assert!(!failed.is_indeterminate());
            // There is nothing to roll back, and the next transaction has its own BEGIN.
            session.rollback().await.unwrap();
            session.begin(Access::Write).await.unwrap();
            session.execute(id, &[Value::Int(7)]).await.unwrap();
            for _ in 0..2 {
                assert_eq!(written(&heard.recv().unwrap()), "P(BEGIN)BEBES");
            }
        });
    }

    #[test]
    fn a_connection_lost_on_the_way_is_in_doubt_only_with_a_commit() {
        let begun = control("BEGIN");
        for (answer, class) in [
            (Vec::new(), ErrorClass::Disconnected),
            (begun.clone(), ErrorClass::Disconnected),
            ([begun.clone(), insert()].concat(), ErrorClass::Disconnected),
            // COMMIT was acknowledged, but not the end of the answer.
            ([begun.clone(), insert(), control("COMMIT")].concat(), ErrorClass::Disconnected),
            ([begun, error("FATAL", "57P01")].concat(), ErrorClass::Unavailable),
        ] {
            for commits in [false, true] {
                on_worker(async {
                    let (mut session, id, _heard) =
                        prepared_session(std::slice::from_ref(&answer)).await;
                    session.begin(Access::Write).await.unwrap();
                    let args = [Value::Int(7)];
                    let result = match commits {
                        false => session.execute(id, &args).await,
                        true => session.execute_and_commit(id, &args, None).await,
                    };
                    let failed = result.unwrap_err();
                    assert_eq!(failed.class(), class, "{answer:?}");
                    assert_eq!(failed.is_indeterminate(), commits, "{answer:?}");
                    assert!(session.is_closed());
                });
            }
        }
    }

    #[test]
    fn a_commit_that_is_answered_by_a_rollback_is_an_error() {
        let answers = [[control("BEGIN"), insert(), control("ROLLBACK"), ready(b'I')].concat()];
        on_worker(async {
            let (mut session, id, _heard) = prepared_session(&answers).await;
            session.begin(Access::Write).await.unwrap();
            let failed = session.execute_and_commit(id, &[Value::Int(7)], None).await.unwrap_err();
            assert_eq!((failed.code(), failed.is_indeterminate()), (Some("25P02"), false));
        });
    }

    #[test]
    fn arguments_that_do_not_fit_send_nothing_and_the_transaction_can_go_on() {
        let answers = [[control("BEGIN"), insert(), control("COMMIT"), ready(b'I')].concat()];
        on_worker(async {
            let (mut session, id, heard) = prepared_session(&answers).await;
            session.begin(Access::Write).await.unwrap();
            session.execute(id, &[]).await.unwrap_err();
            session.execute(id, &[Value::Int(i64::MAX)]).await.unwrap_err();
            session.execute_and_commit(id, &[Value::Int(i64::MAX)], None).await.unwrap_err();
            session.execute_and_commit(id, &[Value::Int(7)], None).await.unwrap();
            assert_eq!(written(&heard.recv().unwrap()), "P(BEGIN)BEBEP(COMMIT)BES");
        });
    }
}

mod errors {
    use super::*;

    #[test]
    fn a_first_statement_that_fails_leaves_a_transaction_to_roll_back() {
        on_worker(async {
            let (mut one, mut other, insert) = with_table("first_fails").await;
            one.script("INSERT INTO t VALUES (1)").await.unwrap();
            one.begin(Access::Write).await.unwrap();
            let error = one.execute(insert, &[Value::Int(1)]).await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Constraint);
            let error = one.execute(insert, &[Value::Int(2)]).await.unwrap_err();
            assert_eq!(error.code(), Some("25P02"), "the transaction was begun");
            let error = one.execute_and_commit(insert, &[Value::Int(2)], None).await.unwrap_err();
            assert_eq!(error.code(), Some("25P02"));
            one.rollback().await.unwrap();
            assert_eq!(number_of(&mut other, COUNT).await, 1);
            one.begin(Access::Write).await.unwrap();
            one.execute_and_commit(insert, &[Value::Int(2)], None).await.unwrap();
            assert_eq!(number_of(&mut other, COUNT).await, 2);
        });
    }

    #[test]
    fn a_constraint_that_is_checked_at_the_commit_fails_the_last_statement() {
        on_worker(async {
            let (mut one, mut other, _) = with_table("deferred").await;
            let table = "CREATE TABLE d (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)";
            one.script(table).await.unwrap();
            let sql = statement("INSERT INTO d VALUES ($1)", &[ColumnType::Int]);
            let insert = one.prepare(&sql).await.unwrap();
            one.begin(Access::Write).await.unwrap();
            one.execute(insert, &[Value::Int(1)]).await.unwrap();
            let error = one.execute_and_commit(insert, &[Value::Int(1)], None).await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Constraint);
            assert!(!error.is_indeterminate());
            one.rollback().await.unwrap();
            assert_eq!(number_of(&mut other, "SELECT count(*) FROM d").await, 0);
        });
    }

    #[test]
    fn conflicts_at_the_last_statement_can_be_retried() {
        on_worker(async {
            let (mut one, mut two, _) = with_table("conflicts").await;
            one.script("INSERT INTO t VALUES (1), (2)").await.unwrap();
            let sql = statement("UPDATE t SET a = a WHERE a = $1", &[ColumnType::Int]);
            let (by_one, by_two) =
                (one.prepare(&sql).await.unwrap(), two.prepare(&sql).await.unwrap());
            for session in [&mut one, &mut two] {
                session.script("SET deadlock_timeout = '20ms'").await.unwrap();
                session.begin(Access::Write).await.unwrap();
            }
            one.execute(by_one, &[Value::Int(1)]).await.unwrap();
            two.execute(by_two, &[Value::Int(2)]).await.unwrap();
            let (args_one, args_two) = ([Value::Int(2)], [Value::Int(1)]);
            let (first, second) = tokio::join!(
                one.execute_and_commit(by_one, &args_one, None),
                two.execute_and_commit(by_two, &args_two, None)
            );
            let (loser, id, error) = match (first, second) {
                (Err(error), Ok(1)) => (&mut one, by_one, error),
                (Ok(1), Err(error)) => (&mut two, by_two, error),
                other => panic!("one of the two is ended: {other:?}"),
            };
            assert_eq!(error.class(), ErrorClass::Deadlock, "{error}");
            assert!(error.class().is_retryable() && !error.is_indeterminate());
            loser.rollback().await.unwrap();
            loser.begin(Access::Write).await.unwrap();
            loser.execute_and_commit(id, &[Value::Int(1)], None).await.unwrap();

            let serializable = Isolation::RepeatableRead;
            one.begin_isolated(Access::Write, serializable).await.unwrap();
            rows_of(&mut one, COUNT).await.unwrap();
            two.script("UPDATE t SET a = a WHERE a = 1").await.unwrap();
            let error = one.execute_and_commit(by_one, &[Value::Int(1)], None).await.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Serialization, "{error}");
            assert!(!error.is_indeterminate());
            one.rollback().await.unwrap();
        });
    }

    #[test]
    fn every_protocol_but_texts_can_be_pipelined() {
        let url = PostgresServer::shared().fresh_database("protocols").unwrap();
        on_worker(async {
            let mut one = session_by(&url, Protocol::Extended).await;
            one.script("CREATE TABLE t (a int PRIMARY KEY)").await.unwrap();
            let insert = one.prepare(&statement(INSERT, &[ColumnType::Int])).await.unwrap();
            let all = one.prepare(&statement("SELECT a FROM t", &[])).await.unwrap();
            one.begin(Access::Write).await.unwrap();
            one.execute(insert, &[Value::Int(1)]).await.unwrap();
            let mut rows = Rows::new();
            let count = one.execute_and_commit(all, &[], Some(&mut rows)).await.unwrap();
            assert_eq!((count, rows.row(0).int(0).unwrap()), (1, 1));
            one.begin(Access::Write).await.unwrap();
            one.query(all, &[], &mut rows).await.unwrap();
            assert_eq!(rows.len(), 1);
            one.commit().await.unwrap();
        });
        let settings = ConnectSettings {
            pipelining: Pipelining::Begin,
            protocol: Some(Protocol::Simple),
            ..Default::default()
        };
        let url = TargetUrl::parse(&url).unwrap();
        let error = Postgres::open_in(&url, &settings, &no_environment).err().unwrap();
        assert!(error.to_string().contains("--protocol prepared or extended"), "{error}");
    }
}

mod giving_up {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(50);
    /// One session holds what the other one waits for.
    const HOLD: &str = "SELECT pg_advisory_lock(1)";
    const WAIT: &str = "INSERT INTO t SELECT 1 FROM pg_advisory_xact_lock(1)";
    const RELEASE: &str = "SELECT pg_advisory_unlock(1)";

    #[test]
    fn a_first_statement_given_up_half_way_fails_its_transaction() {
        on_worker(async {
            let (mut one, mut other, insert) = with_table("given_up_first").await;
            other.script(HOLD).await.unwrap();
            let slow = one.prepare(&statement(WAIT, &[])).await.unwrap();
            one.begin(Access::Write).await.unwrap();
            tokio::time::timeout(LIMIT, one.execute(slow, &[])).await.unwrap_err();
            other.script(RELEASE).await.unwrap();
            // The last statement must not commit half of it.
            one.execute_and_commit(insert, &[Value::Int(2)], None).await.unwrap_err();
            assert_eq!(number_of(&mut other, COUNT).await, 0);
            one.rollback().await.unwrap();
            assert_eq!(number_of(&mut one, COUNT).await, 0, "and the session is usable");
        });
    }

    #[test]
    fn a_last_statement_given_up_half_way_may_have_committed() {
        on_worker(async {
            let (mut one, mut other, insert) = with_table("given_up_last").await;
            other.script(HOLD).await.unwrap();
            let slow = one.prepare(&statement(WAIT, &[])).await.unwrap();
            one.begin(Access::Write).await.unwrap();
            let pending = one.execute_and_commit(slow, &[], None);
            tokio::time::timeout(LIMIT, pending).await.unwrap_err();
            other.script(RELEASE).await.unwrap();
            // The next transaction begins after its answer.
            one.begin(Access::Write).await.unwrap();
            one.execute_and_commit(insert, &[Value::Int(2)], None).await.unwrap();
            assert_eq!(number_of(&mut other, COUNT).await, 2);
        });
    }

    #[test]
    fn a_cancelled_last_statement_is_not_committed() {
        on_worker(async {
            let (mut one, mut other, insert) = with_table("cancelled").await;
            other.script("BEGIN; INSERT INTO t VALUES (1)").await.unwrap();
            one.begin(Access::Write).await.unwrap();
            one.execute(insert, &[Value::Int(2)]).await.unwrap();
            let canceller = one.canceller();
            let args = [Value::Int(1)];
            let pending = one.execute_and_commit(insert, &args, None);
            let cancel = async {
                while canceller.is_at_work().await.unwrap() != Some(true) {
                    tokio::task::yield_now().await;
                }
                canceller.cancel().await;
            };
            let (result, ()) = tokio::join!(pending, cancel);
            let error = result.unwrap_err();
            assert_eq!(error.class(), ErrorClass::Cancelled, "{error}");
            assert!(!error.is_indeterminate());
            one.rollback().await.unwrap();
            other.script("ROLLBACK").await.unwrap();
            assert_eq!(number_of(&mut one, COUNT).await, 0);
        });
    }

    #[test]
    fn a_session_ended_by_the_server_with_a_commit_on_the_way_is_in_doubt() {
        on_worker(async {
            let (mut one, mut other, insert) = with_table("terminated").await;
            let process = number_of(&mut one, "SELECT pg_backend_pid()").await;
            other.script("BEGIN; INSERT INTO t VALUES (1)").await.unwrap();
            one.begin(Access::Write).await.unwrap();
            let canceller = one.canceller();
            let args = [Value::Int(1)];
            let pending = one.execute_and_commit(insert, &args, None);
            let terminate = async {
                while canceller.is_at_work().await.unwrap() != Some(true) {
                    tokio::task::yield_now().await;
                }
                let sql = format!("SELECT pg_terminate_backend({process})");
                other.script(&sql).await.unwrap();
            };
            let (result, ()) = tokio::join!(pending, terminate);
            let error = result.unwrap_err();
            assert!(error.class().loses_session() && error.is_indeterminate(), "{error:?}");
        });
    }
}

//! The driver for SQL Server on a real server: Babelfish, where `TRIPHAMMER_BABELFISH` names one.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::Mutex;
use triphammer_core::session::{Access, Admin, Database as _, Isolation, Role, Session as _};
use triphammer_core::workload::{column, table};
use triphammer_core::{ColumnType, DbError, ErrorClass, Rows, Value};
use triphammer_drivers::sqlserver::{SqlServer, SqlServerSession};
use triphammer_drivers::target::{ConnectSettings, TargetUrl};
use triphammer_testbed::BabelfishServer;

use crate::session::{hold, no_environment, number_of, on_worker, rows_of, statement, text_of};

fn open(url: &str) -> SqlServer {
    let settings = ConnectSettings::default();
    SqlServer::open_in(&TargetUrl::parse(url).unwrap(), &settings, &no_environment).unwrap()
}

async fn connect(url: &str) -> Result<SqlServerSession, DbError> {
    open(url).connect(Role::User, 0).await
}

/// A session in a database of its own; `None` without a server.
pub async fn session() -> Option<SqlServerSession> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    static CREATING: Mutex<()> = Mutex::const_new(());
    if !BabelfishServer::is_available() {
        return None;
    }
    let name = format!("own_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let database = open(&BabelfishServer::shared().url(&name));
    // Babelfish creates one database at a time.
    let _turn = CREATING.lock().await;
    assert!(database.create_database().await.unwrap());
    Some(database.connect(Role::User, 0).await.unwrap())
}

#[test]
fn encryption_is_what_the_target_says() {
    if !BabelfishServer::is_available() {
        return;
    }
    let server = BabelfishServer::shared();
    let ca = server.authority().display().to_string();
    let other = server.other_authority().display().to_string();
    let name = server.url("master").replace("127.0.0.1", "localhost");
    for (params, wanted) in [
        ("encrypt=off".to_owned(), Ok(false)),
        ("encrypt=on&trust-server-certificate=on".to_owned(), Ok(true)),
        (format!("encrypt=on&ca={ca}"), Ok(true)),
        (format!("encrypt=on&ca={ca}&host-in-certificate=127.0.0.1"), Ok(true)),
        (format!("encrypt=on&ca={ca}&host-in-certificate=db1"), Err("not valid for name")),
        (format!("encrypt=on&ca={other}"), Err("ca=FILE")),
        (format!("encrypt=on&ca={ca}&packet-size=512"), Ok(true)),
        (format!("encrypt=on&ca={ca}&packet-size=16383"), Ok(true)),
    ] {
        let found = on_worker(async {
            let mut session = connect(&format!("{name}?{params}")).await?;
            assert_eq!(number_of(&mut session, "SELECT 7").await, 7);
            let text = "x".repeat(100_000);
            let id = session.prepare(&statement("SELECT @p1", &[ColumnType::Text])).await?;
            let mut rows = Rows::new();
            session.query(id, &[Value::Text(&text)], &mut rows).await?;
            assert_eq!(rows.row(0).text(0)?, text);
            Ok(session.server().await?.cipher.is_some())
        });
        hold(found, wanted, &params);
    }
}

#[test]
fn the_server_and_its_process_are_known() {
    on_worker(async {
        let Some(mut session) = session().await else { return };
        let server = session.server().await.unwrap();
        assert_eq!(server.product, "Babelfish");
        assert!(server.version.starts_with("4."), "{server:?}");
        let process = session.server_process().await.unwrap().unwrap();
        let name = std::fs::read_to_string(format!("/proc/{}/comm", process.id)).unwrap();
        assert!(process.names.contains(&name.trim()), "{name}");
        assert_eq!(session.transaction_count().await.unwrap(), None, "Babelfish has no such view");
        let at_work = session.canceller().is_at_work().await.unwrap();
        assert_eq!(at_work, Some(false));
    });
}

#[test]
fn procedures_return_their_status_and_outputs() {
    on_worker(async {
        let Some(mut session) = session().await else { return };
        let script = "CREATE PROCEDURE doubles @n int, @twice int OUTPUT, @word varchar(10) OUTPUT AS \
                      BEGIN SET @twice = 2 * @n; SET @word = 'done'; RETURN 3; END\nGO\n\
                      CREATE PROCEDURE fails AS THROW 50001, 'That is wrong', 1;\nGO\n\
                      CREATE PROCEDURE stays AS BEGIN TRANSACTION;";
        session.script(script).await.unwrap();
        let types = [ColumnType::Int, ColumnType::Int, ColumnType::Text];
        let sql = "EXEC @status = doubles @n = @p1, @twice = @p2 OUTPUT, @word = @p3 OUTPUT";
        let id = session.prepare(&statement(sql, &types)).await.unwrap();
        let mut rows = Rows::new();
        session.call(id, &[Value::Int(21), Value::Null, Value::Null], &mut rows).await.unwrap();
        let row = rows.row(0);
        assert_eq!((row.int(0).unwrap(), row.int(1).unwrap()), (3, 42));
        assert_eq!(row.text(2).unwrap(), "done");
        let id = session.prepare(&statement("EXEC fails", &[])).await.unwrap();
        let error = session.call(id, &[], &mut rows).await.unwrap_err();
        assert_eq!((error.code(), error.message()), (Some("50001"), "That is wrong"));
        let id = session.prepare(&statement("EXEC stays", &[])).await.unwrap();
        let error = session.call(id, &[], &mut rows).await.unwrap_err();
        assert!(error.message().contains("left its transaction open"), "{error}");
        assert_eq!(number_of(&mut session, "SELECT @@TRANCOUNT").await, 0);
    });
}

#[test]
fn statements_are_prepared_again_for_wider_values() {
    on_worker(async {
        let Some(mut session) = session().await else { return };
        session
            .script("CREATE TABLE t (words nvarchar(max), amount decimal(38, 2))")
            .await
            .unwrap();
        let types = [ColumnType::Text, ColumnType::Decimal(2)];
        let insert = "INSERT INTO t VALUES (@p1, @p2)";
        let id = session.prepare(&statement(insert, &types)).await.unwrap();
        let long = "ü".repeat(10_000);
        let large = 10i128.pow(30);
        for words in ["short", &long, "short"] {
            for units in [1, large] {
                let amount = Value::Decimal128 { units: &units, scale: 2 };
                let args = [Value::Text(words), amount];
                assert_eq!(session.execute(id, &args).await.unwrap(), 1);
            }
        }
        let sql = "SELECT count(*) FROM t WHERE len(words) = 10000 AND amount > 1000";
        assert_eq!(number_of(&mut session, sql).await, 1);
        // The types of such parameters depend on their values.
        let id = session.prepare(&statement("SELECT @p1", &[ColumnType::Any])).await.unwrap();
        let mut rows = Rows::new();
        for (value, shown) in
            [(Value::Int(7), "7"), (Value::Text("x"), "`x`"), (Value::Int(8), "8")]
        {
            session.query(id, &[value], &mut rows).await.unwrap();
            assert_eq!(rows.row(0).show(0), shown);
        }
    });
}

#[test]
fn transactions_have_the_level_they_ask_for_and_the_next_one_its_own() {
    on_worker(async {
        let Some(mut session) = session().await else { return };
        let level = "SELECT transaction_isolation_level FROM sys.dm_exec_sessions \
                     WHERE session_id = @@SPID";
        for (wanted, number) in [
            (Some(Isolation::Snapshot), 5),
            (None, 2),
            (Some(Isolation::ReadUncommitted), 1),
            (None, 2),
        ] {
            match wanted {
                Some(wanted) => session.begin_isolated(Access::Write, wanted).await.unwrap(),
                None => session.begin(Access::Write).await.unwrap(),
            }
            assert_eq!(number_of(&mut session, level).await, number, "{wanted:?}");
            session.commit().await.unwrap();
        }
    });
}

#[test]
fn a_failed_statement_ends_its_transaction() {
    on_worker(async {
        let Some(mut session) = session().await else { return };
        session.script("CREATE TABLE t (id int PRIMARY KEY)").await.unwrap();
        session.begin(Access::Write).await.unwrap();
        session.script("INSERT INTO t VALUES (1)").await.unwrap();
        let error = session.script("INSERT INTO t VALUES (1)").await.unwrap_err();
        assert_eq!((error.class(), error.code()), (ErrorClass::Constraint, Some("2627")));
        session.rollback().await.unwrap();
        assert_eq!(number_of(&mut session, "SELECT count(*) FROM t").await, 0);
    });
}

#[test]
fn text_of_a_code_page_is_read() {
    on_worker(async {
        let Some(mut session) = session().await else { return };
        session.script("CREATE TABLE t (words varchar(20))").await.unwrap();
        session.script("INSERT INTO t VALUES ('näh €')").await.unwrap();
        assert_eq!(text_of(&mut session, "SELECT words FROM t").await, "näh €");
        let guid = "SELECT CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier), \
                    CAST(12.5 AS money), CAST('2026-01-02 03:04:05.123' AS datetime)";
        let rows = rows_of(&mut session, guid).await.unwrap();
        let row = rows.row(0);
        assert_eq!(row.text(0).unwrap(), "6F9619FF-8B86-D011-B42D-00C04FC964FF");
        assert_eq!(row.decimal(1, 2).unwrap(), 1250);
        assert_eq!(row.timestamp(2).unwrap().to_string(), "2026-01-02 03:04:05.123000");
    });
}

#[test]
fn texts_of_fixed_length_are_loaded_and_read() {
    on_worker(async {
        let Some(mut session) = session().await else { return };
        session
            .script("CREATE TABLE t (a char(25) NOT NULL, b nchar(5), c varchar(9))")
            .await
            .unwrap();
        let table = table("t", ["a", "b", "c"].map(|name| column(name, ColumnType::Text)));
        let mut left = 1;
        let mut source = |rows: &mut Rows| {
            for text in ["ab", "cd", "ef"] {
                rows.text(text);
            }
            left -= 1;
            left > 0
        };
        session.begin(Access::Write).await.unwrap();
        assert_eq!(session.load(&table, &mut source).await.unwrap(), 1);
        session.commit().await.unwrap();
        let rows = rows_of(&mut session, "SELECT a, b, c FROM t WHERE a = 'ab'").await.unwrap();
        let row = rows.row(0);
        let found = [0, 1, 2].map(|column| row.text(column).unwrap());
        assert_eq!(found, [&*format!("{:25}", "ab"), "cd   ", "ef"]);
    });
}

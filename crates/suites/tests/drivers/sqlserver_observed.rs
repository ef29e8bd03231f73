//! What observers ask SQL Server, on tables with the columns of its views: Babelfish has none of these views. It shows
//! that the queries mean what they should, not that SQL Server fills its views as documented.

use triphammer_core::session::{Admin as _, Session as _};
use triphammer_dialects::observe::{ObserveDef, QueryDef, observe};
use triphammer_drivers::sqlserver::SqlServerSession;

use crate::session::{on_worker, rows_of};
use crate::sqlserver::session;

/// The views' columns that the queries use, by Microsoft's documentation, with rows: 51 waits for a row lock of 55,
/// which is another program's; 52 runs a procedure; 53 is idle in its transaction; 54 is idle.
const VIEWS: &str = "
CREATE TABLE dm_exec_sessions (session_id smallint, is_user_process bit, login_name nvarchar(128),
    database_id smallint, program_name nvarchar(128), host_name nvarchar(128), status nvarchar(30),
    open_transaction_count int, last_request_start_time datetime);
CREATE TABLE dm_exec_requests (session_id smallint, status nvarchar(30), wait_type nvarchar(60),
    wait_resource nvarchar(256), sql_handle varbinary(64), start_time datetime);
CREATE TABLE dm_exec_connections (session_id int, most_recent_sql_handle varbinary(64),
    parent_connection_id uniqueidentifier);
CREATE TABLE dm_os_waiting_tasks (session_id smallint, blocking_session_id smallint, resource_address varbinary(8));
CREATE TABLE dm_tran_locks (resource_type nvarchar(60), resource_database_id int, resource_description nvarchar(256),
    resource_associated_entity_id bigint, lock_owner_address varbinary(8));
CREATE TABLE dm_tran_session_transactions (session_id int, transaction_id bigint);
CREATE TABLE dm_tran_active_transactions (transaction_id bigint, transaction_begin_time datetime);
CREATE TABLE dm_os_performance_counters (object_name nchar(128), counter_name nchar(128), instance_name nchar(128),
    cntr_value bigint);
CREATE TABLE dm_os_wait_stats (wait_type nvarchar(60), waiting_tasks_count bigint, wait_time_ms bigint);
CREATE TABLE dm_exec_query_stats (sql_handle varbinary(64), query_hash binary(8), statement_start_offset int,
    statement_end_offset int, execution_count bigint, total_elapsed_time bigint, total_rows bigint,
    total_physical_reads bigint, total_logical_reads bigint);
CREATE TABLE texts (handle varbinary(64), text nvarchar(max), dbid smallint, objectid int);
GO
CREATE FUNCTION dm_exec_sql_text (@handle varbinary(64)) RETURNS TABLE
AS RETURN (SELECT dbid, objectid, text FROM texts WHERE handle = @handle);
GO
CREATE PROCEDURE pay AS SELECT 1;
GO
INSERT INTO texts VALUES (0x01, '(@p1 int,@p2 decimal(12,2))UPDATE stock SET n = @p1', NULL, NULL),
    (0x02, 'CREATE PROCEDURE pay AS SELECT 1', DB_ID(), OBJECT_ID('pay')), (0x03, 'DELETE FROM stock', NULL, NULL);
INSERT INTO dm_exec_sessions VALUES
    (51, 1, ORIGINAL_LOGIN(), DB_ID(), APP_NAME(), 'h', 'running', 1, GETDATE()),
    (52, 1, ORIGINAL_LOGIN(), DB_ID(), APP_NAME(), 'h', 'running', 1, GETDATE()),
    (53, 1, ORIGINAL_LOGIN(), DB_ID(), APP_NAME(), 'h', 'sleeping', 1, GETDATE()),
    (54, 1, ORIGINAL_LOGIN(), DB_ID(), APP_NAME(), 'h', 'sleeping', 0, GETDATE()),
    (55, 1, 'other', DB_ID(), 'editor', 'h', 'sleeping', 1, GETDATE()),
    (9, 0, 'sa', 1, NULL, NULL, 'sleeping', 0, GETDATE()), (10, 0, 'sa', 1, NULL, NULL, 'background', 0, GETDATE());
INSERT INTO dm_exec_requests VALUES
    (51, 'suspended', 'LCK_M_X', 'KEY: 5:72057594043170816 (8194443284a0)', 0x01, GETDATE()),
    (52, 'running', NULL, '', 0x02, GETDATE()), (9, 'background', 'LAZYWRITER_SLEEP', '', NULL, GETDATE()),
    (10, 'suspended', 'WRITELOG', '', NULL, GETDATE());
INSERT INTO dm_exec_connections VALUES (53, 0x03, NULL), (55, 0x03, NULL);
INSERT INTO dm_os_waiting_tasks VALUES (51, 55, 0xAA), (9, NULL, 0xBB);
INSERT INTO dm_tran_locks VALUES ('OBJECT', DB_ID(), '', OBJECT_ID('texts'), 0xAA);
INSERT INTO dm_tran_session_transactions VALUES (51, 7);
INSERT INTO dm_tran_active_transactions VALUES (7, DATEADD(second, -30, GETDATE()));
INSERT INTO dm_os_performance_counters VALUES
    ('SQLServer:SQL Statistics', 'Batch Requests/sec', '', 1000), ('SQLServer:Locks', 'Lock Waits/sec', '_Total', 7),
    ('SQLServer:Locks', 'Lock Waits/sec', 'Key', 6), ('SQLServer:Databases', 'Log Flushes/sec', DB_NAME(), 5),
    ('SQLServer:Databases', 'Log Flushes/sec', '_Total', 50);
INSERT INTO dm_os_wait_stats VALUES ('WRITELOG', 10, 20), ('LAZYWRITER_SLEEP', 5, 5000), ('LCK_M_X', 1, 100),
    ('PAGELATCH_EX', 0, 0);
INSERT INTO dm_exec_query_stats VALUES (0x01, 0x0102030405060708, 54, -1, 4, 8000, 4, 1, 9),
    (0x01, 0x0102030405060708, 54, -1, 2, 2000, 2, 3, 1);
";

/// What 51 waits for.
const KEY: &str = "KEY: 5:72057594043170816 (8194443284a0)";

/// The rows of a query as text, read from the tables instead of the views.
async fn read(session: &mut SqlServerSession, sql: &str) -> Vec<Vec<String>> {
    let rows = rows_of(session, &sql.replace("sys.dm_", "dbo.dm_")).await.unwrap();
    let text = |row: &triphammer_core::rows::Row<'_>, column: usize| match row.text(column) {
        Ok(text) => text.trim_end().to_owned(),
        Err(_) => row.show(column),
    };
    rows.iter().map(|row| (0..row.len()).map(|column| text(&row, column)).collect()).collect()
}

fn one(of: &[QueryDef]) -> &str {
    &of[0].sql
}

#[test]
fn queries_of_observers_show_sessions_waits_blockers_counters_and_statements() {
    on_worker(async {
        let Some(mut session) = session().await else { return };
        session.script(VIEWS).await.unwrap();
        let def: ObserveDef = observe("sqlserver").unwrap();
        let sessions = read(&mut session, one(&def.sessions)).await;
        let expected = [
            ["51", "ours", "active", "LCK_M_X", KEY, "UPDATE stock SET n = @p1"],
            ["52", "ours", "active", "", "", "EXEC pay"],
            ["53", "ours", "idle_in_transaction", "", "", "DELETE FROM stock"],
            ["55", "other", "idle_in_transaction", "", "", "DELETE FROM stock"],
            ["10", "background", "active", "WRITELOG", "", ""],
        ];
        let mut sorted = sessions.clone();
        sorted.sort_by_key(|row| expected.iter().position(|one| one[0] == row[0]));
        assert_eq!(sorted, expected);
        let blockers = read(&mut session, one(&def.blockers)).await;
        let by =
            ["51", "ours", "55", "other", "other, editor, sleeping", "DELETE FROM stock", "texts"];
        assert_eq!(blockers, [by]);
        let detail = def.detail[0].with_sessions(one(&def.sessions)).sql;
        let waits = read(&mut session, &detail).await.into_iter().find(|row| row[0] == "51");
        let waits = waits.unwrap();
        let age: f64 = waits[8].parse().unwrap();
        assert!((30.0..300.0).contains(&age) && waits[7] == "triphammer", "{waits:?}");
        let counters = read(&mut session, &def.query[0].sql).await;
        let mut values: Vec<_> =
            counters.iter().map(|row| (row[0].as_str(), row[1].as_str())).collect();
        values.sort_unstable();
        assert_eq!(
            values,
            [("batch requests/sec", "1000"), ("lock waits/sec", "7"), ("log flushes/sec", "5")]
        );
        for (name, _) in values {
            assert!(def.query[0].metrics.iter().any(|metric| metric.row.as_deref() == Some(name)));
        }
        let waits = read(&mut session, &def.query[1].sql).await;
        assert_eq!(waits, [["LCK_M_X", "1", "100"], ["WRITELOG", "10", "20"]]);
        let statements = read(&mut session, one(&def.statements)).await;
        assert_eq!(statements.len(), 1);
        assert_eq!(statements[0][1..], ["UPDATE stock SET n = @p1", "6", "10", "6", "4", "8"]);
    });
}

#[test]
fn babelfish_is_a_server_that_shows_nothing() {
    on_worker(async {
        let Some(mut session) = session().await else { return };
        let def = observe("sqlserver").unwrap();
        let needs = rows_of(&mut session, &def.needs.unwrap()).await.unwrap();
        assert!(needs.is_empty());
        let mut gaps = Vec::new();
        for gap in &def.gap {
            if !rows_of(&mut session, &gap.sql).await.unwrap().is_empty() {
                gaps.push(gap.name.as_str());
            }
        }
        assert_eq!(gaps, ["sql_server"]);
        assert_eq!(session.transaction_count().await.unwrap(), None);
    });
}

//! What the doctor asks SQL Server, on tables with the columns of its views, of which Babelfish has few. It shows that
//! the queries mean what they should, not that SQL Server fills its views as documented.

use triphammer_core::session::Session as _;
use triphammer_dialects::doctor::doctor;
use triphammer_drivers::sqlserver::SqlServerSession;

use crate::session::{on_worker, rows_of};
use crate::sqlserver::session;

/// The views' columns that the checks use, by Microsoft's documentation, of a server as it is after its installation.
const VIEWS: &str = "
CREATE TABLE databases (name nvarchar(128), delayed_durability_desc nvarchar(60), recovery_model_desc nvarchar(60),
    page_verify_option_desc nvarchar(60), is_read_only bit, is_read_committed_snapshot_on bit,
    snapshot_isolation_state_desc nvarchar(60), is_auto_close_on bit, is_auto_shrink_on bit,
    target_recovery_time_in_seconds int, is_auto_create_stats_on bit, is_auto_update_stats_on bit);
CREATE TABLE availability_replicas (group_id int, replica_server_name nvarchar(256), availability_mode_desc nvarchar(60));
CREATE TABLE availability_databases_cluster (group_id int, database_name nvarchar(128));
CREATE TABLE configurations (name nvarchar(35), value_in_use sql_variant);
CREATE TABLE database_scoped_configurations (name nvarchar(60), value sql_variant);
CREATE TABLE dm_os_sys_info (cpu_count int, physical_memory_kb bigint, sql_memory_model_desc nvarchar(60));
CREATE TABLE dm_os_host_info (host_platform nvarchar(256));
CREATE TABLE dm_server_services (servicename nvarchar(256), instant_file_initialization_enabled nvarchar(1));
CREATE TABLE tempdb_database_files (type tinyint, size int);
CREATE TABLE tables (object_id int, schema_id int, name nvarchar(128));
CREATE TABLE partitions (object_id int, index_id int, rows bigint);
CREATE TABLE stats (object_id int, stats_id int);
CREATE TABLE dm_exec_requests (session_id smallint);
CREATE TABLE dm_exec_sessions (session_id smallint, is_user_process bit);
CREATE TABLE objects (schema_id int, name nvarchar(128));
GO
CREATE FUNCTION stats_date_of (@object int, @stats int) RETURNS datetime AS
BEGIN RETURN CASE @object WHEN 1 THEN '2026-01-01' END END;
GO
INSERT INTO databases VALUES (DB_NAME(), 'DISABLED', 'SIMPLE', 'CHECKSUM', 0, 0, 'OFF', 0, 0, 60, 1, 1),
    ('another', 'FORCED', 'FULL', 'NONE', 1, 1, 'ON', 1, 1, 0, 0, 0);
INSERT INTO availability_databases_cluster VALUES (1, DB_NAME()), (2, 'another');
INSERT INTO availability_replicas VALUES (1, @@SERVERNAME, 'SYNCHRONOUS_COMMIT'), (2, 'other', 'SYNCHRONOUS_COMMIT');
INSERT INTO configurations VALUES ('max server memory (MB)', CAST(2147483647 AS int)),
    ('max degree of parallelism', CAST(0 AS int)), ('cost threshold for parallelism', CAST(5 AS int));
INSERT INTO database_scoped_configurations VALUES ('MAXDOP', CAST(0 AS int)), ('LEGACY_CARDINALITY_ESTIMATION', CAST(0 AS int));
INSERT INTO dm_os_sys_info VALUES (4, 16777216, 'CONVENTIONAL');
INSERT INTO dm_os_host_info VALUES ('Windows');
INSERT INTO dm_server_services VALUES ('SQL Server (MSSQLSERVER)', 'N'), ('SQL Server Agent (MSSQLSERVER)', 'N');
INSERT INTO tempdb_database_files VALUES (0, 1024), (1, 1024);
INSERT INTO tables VALUES (1, SCHEMA_ID(), 'known'), (2, SCHEMA_ID(), 'unknown'), (3, SCHEMA_ID(), 'triphammer_build');
INSERT INTO partitions VALUES (1, 1, 10), (2, 0, 10), (2, 5, 10), (3, 1, 1);
INSERT INTO stats VALUES (1, 1), (2, 1);
INSERT INTO dm_exec_requests VALUES (@@SPID), (77), (9);
INSERT INTO dm_exec_sessions VALUES (@@SPID, 1), (77, 1), (9, 0);
INSERT INTO objects VALUES (SCHEMA_ID(), 'triphammer_doctor_1'), (SCHEMA_ID(), 'triphammerXdoctorX1');
";
/// What makes the rest of them good, or worse.
const CHANGES: &str = "
UPDATE databases SET delayed_durability_desc = 'ALLOWED', recovery_model_desc = 'FULL', page_verify_option_desc = 'NONE',
    is_read_only = 1, is_read_committed_snapshot_on = 1, snapshot_isolation_state_desc = 'ON', is_auto_shrink_on = 1,
    target_recovery_time_in_seconds = 0, is_auto_update_stats_on = 0 WHERE name = DB_NAME();
INSERT INTO availability_replicas VALUES (1, 'other', 'SYNCHRONOUS_COMMIT'), (1, 'third', 'ASYNCHRONOUS_COMMIT');
UPDATE configurations SET value_in_use = CAST(8192 AS int) WHERE name = 'max server memory (MB)';
UPDATE configurations SET value_in_use = CAST(50 AS int) WHERE name = 'cost threshold for parallelism';
UPDATE database_scoped_configurations SET value = CAST(8 AS int) WHERE name = 'MAXDOP';
UPDATE dm_os_sys_info SET sql_memory_model_desc = 'LOCK_PAGES';
UPDATE dm_server_services SET instant_file_initialization_enabled = 'Y';
INSERT INTO tempdb_database_files VALUES (0, 1024), (0, 1024), (0, 1024);
DELETE FROM tables WHERE object_id = 2;
DELETE FROM dm_exec_requests WHERE session_id = 77;
DELETE FROM objects;
";

/// Value and verdict of each check, read from the tables instead of the views.
async fn read(session: &mut SqlServerSession) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for check in doctor("sqlserver").unwrap().checks {
        let sql = check.sql.replace("{memory}", "NULL").replace("tempdb.sys.", "dbo.tempdb_");
        let sql = sql.replace("sys.", "dbo.").replace("STATS_DATE(", "dbo.stats_date_of(");
        let sql = sql.replace("SERVERPROPERTY('Babelfish')", "NULL");
        // Babelfish's super-user has no rights of this kind.
        let sql = sql.replace("HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE')", "1");
        let rows = rows_of(session, &sql).await;
        let rows = rows.unwrap_or_else(|error| panic!("{}: {error}", check.name));
        if let Some(row) = rows.iter().next() {
            let text = |column| row.text(column).unwrap().to_owned();
            found.push((check.name, text(0), text(1)));
        }
    }
    found
}

#[test]
fn checks_of_the_doctor_judge_what_the_views_show() {
    on_worker(async {
        let Some(mut session) = session().await else { return };
        session.script(VIEWS).await.unwrap();
        let first = [
            ("delayed_durability", "disabled", "fine"),
            ("recovery_model", "simple", "look"),
            ("page_verify", "checksum", "fine"),
            ("synchronous_replicas", "none", "fine"),
            ("read_only", "off", "fine"),
            ("read_committed_snapshot", "off", "look"),
            ("snapshot_isolation", "off", "look"),
            ("auto_close_and_shrink", "off", "fine"),
            ("target_recovery_time", "60 s", "fine"),
            ("max_server_memory", "no limit of 16384 MB", "look"),
            ("lock_pages_in_memory", "conventional", "look"),
            ("instant_file_initialization", "N", "look"),
            ("max_degree_of_parallelism", "0", "look"),
            ("cost_threshold", "5", "look"),
            ("tempdb_files", "1 for 4 processors", "look"),
            ("auto_statistics", "on", "fine"),
            ("statistics", "1 of 2 tables without statistics", "look"),
            ("active_sessions", "1 other", "look"),
            ("left_by_doctor", "triphammer_doctor_1", "look"),
        ];
        let changed = [
            ("delayed_durability", "allowed", "look"),
            ("recovery_model", "full", "fine"),
            ("page_verify", "none", "look"),
            ("synchronous_replicas", "1", "look"),
            ("read_only", "on", "wrong"),
            ("read_committed_snapshot", "on", "fine"),
            ("snapshot_isolation", "on", "fine"),
            ("auto_close_and_shrink", "shrink", "look"),
            ("target_recovery_time", "0 s", "look"),
            ("max_server_memory", "8192 MB of 16384 MB", "fine"),
            ("lock_pages_in_memory", "lock_pages", "fine"),
            ("instant_file_initialization", "Y", "fine"),
            ("max_degree_of_parallelism", "8", "fine"),
            ("cost_threshold", "50", "fine"),
            ("tempdb_files", "4 for 4 processors", "fine"),
            ("auto_statistics", "off", "look"),
            ("statistics", "0 of 1 tables without statistics", "fine"),
            ("active_sessions", "0 other", "fine"),
        ];
        for (script, expected) in [("SELECT 1", &first[..]), (CHANGES, &changed)] {
            session.script(script).await.unwrap();
            let found = read(&mut session).await;
            let found: Vec<_> =
                found.iter().map(|(a, b, c)| (a.as_str(), b.as_str(), c.as_str())).collect();
            assert_eq!(found, expected);
        }
    });
}

-- Sessions of a load, which a fault can terminate, and whether a server accepts writes, for the workloads of commands.

-- name: session.id
SELECT @@SPID, CHECKSUM(@@SERVERNAME);

-- name: session.is_own
SELECT COUNT(*)
FROM sys.dm_exec_sessions
WHERE session_id = :id AND login_name = SUSER_SNAME() AND database_id = DB_ID();

-- KILL takes no parameter.
-- name: session.terminate
DECLARE @sql nvarchar(20) = concat(N'KILL ', :id); EXEC (@sql);

-- name: server.is_writable
SELECT CASE WHEN CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS varchar(20)) = 'READ_ONLY' THEN 0 ELSE 1 END;

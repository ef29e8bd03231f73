-- Sessions of the drill, which a fault can terminate, and whether a replica was promoted.

-- name: session.id
SELECT @@SPID;

-- KILL takes no parameter.
-- name: session.terminate
DECLARE @sql nvarchar(20) = concat(N'KILL ', :id); EXEC (@sql);

-- name: server.is_writable
SELECT CASE WHEN CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS varchar(20)) = 'READ_ONLY' THEN 0 ELSE 1 END;

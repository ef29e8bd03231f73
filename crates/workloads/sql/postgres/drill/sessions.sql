-- Sessions of the drill, which a fault can terminate, and whether a replica was promoted.

-- name: session.id
SELECT pg_backend_pid();

-- Only a session of this user in this database: the number may have been given to another process.
-- name: session.terminate
SELECT pg_terminate_backend(pid)
FROM pg_stat_activity
WHERE pid = :id AND usename = current_user AND datname = current_database();

-- name: server.is_writable
SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE 1 END;

-- Sessions of a load, which a fault can terminate, and whether a server accepts writes, for the workloads of commands.

-- Other servers, and this one after a restart, give the same numbers to sessions of others.
-- name: session.id
SELECT pg_backend_pid(), (extract(epoch FROM pg_postmaster_start_time()) * 1e6)::int8;

-- name: session.is_own
SELECT count(*)
FROM pg_stat_activity
WHERE pid = :id AND usename = current_user AND datname = current_database();

-- name: session.terminate
SELECT pg_terminate_backend(CAST(:id AS int));

-- name: server.is_writable
SELECT CASE WHEN pg_is_in_recovery() THEN 0 ELSE 1 END;

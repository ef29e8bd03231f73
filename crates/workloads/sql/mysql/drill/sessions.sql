-- Sessions of the drill, which a fault can terminate, and whether a replica was promoted.

-- name: session.id
SELECT connection_id();

-- name: session.terminate
KILL :id;

-- name: server.is_writable
SELECT CASE WHEN @@global.read_only THEN 0 ELSE 1 END;

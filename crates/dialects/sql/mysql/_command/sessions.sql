-- Sessions of a load, which a fault can terminate, and whether a server accepts writes, for the workloads of commands.

-- Other servers give the same numbers to sessions of others.
-- name: session.id
SELECT connection_id(), CRC32(CONCAT_WS(':', @@hostname, @@port, @@datadir));

-- name: session.is_own
SELECT COUNT(*)
FROM information_schema.processlist
WHERE id = :id AND db = DATABASE() AND LEFT(USER(), CHAR_LENGTH(user) + 1) = CONCAT(user, '@');

-- name: session.terminate
KILL :id;

-- name: server.is_writable
SELECT CASE WHEN @@global.read_only THEN 0 ELSE 1 END;

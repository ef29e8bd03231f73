-- The operations, what a run queries before it starts, and its audit.

-- name: row.read
SELECT version, payload FROM kv_store WHERE id = :id;

-- name: row.update
UPDATE kv_store SET version = version + 1, checksum = :checksum, payload = :payload WHERE id = :id;

-- name: row.insert
INSERT INTO kv_store (id, version, checksum, payload) VALUES (:id, 1, :checksum, :payload);

-- name: row.delete
DELETE FROM kv_store WHERE id = :id;

-- The row of a read-modify-write, and that of a delete where DELETE returns nothing.
-- name: row.lock
SELECT version, payload FROM kv_store WHERE id = :id {for_update};

-- name: row.scan
SELECT id, version, payload FROM kv_store WHERE id >= :id ORDER BY id {limit}:rows{of_limit};

-- name: key.last
SELECT coalesce(max(id), 0) FROM kv_store;

-- name: audit.version
SELECT coalesce(sum(version), 0) FROM kv_store;

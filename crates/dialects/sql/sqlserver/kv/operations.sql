-- name: row.lock
UPDATE kv_store SET version = version WHERE id = :id;
SELECT version, payload FROM kv_store WHERE id = :id;

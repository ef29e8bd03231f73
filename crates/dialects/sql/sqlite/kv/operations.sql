-- DELETE returns what the audit needs: one statement instead of a transaction.

-- name: row.take
DELETE FROM kv_store WHERE id = :id RETURNING version;

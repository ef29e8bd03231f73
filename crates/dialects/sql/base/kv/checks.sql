-- The conditions that `check` verifies, over the loaded keys in thousands, from :first to :last. No
-- row when the condition holds, else the number of violations and the first one's key; but the
-- client judges the rows of check.payload and check.payload_beyond.

-- name: check.rows
SELECT (:last - :first + 1) * 1000 - count(*), concat('rows=', count(*))
FROM kv_store
WHERE id BETWEEN (:first - 1) * 1000 + 1 AND :last * 1000
HAVING count(*) <> (:last - :first + 1) * 1000;

-- name: check.beyond
SELECT count(*) OVER (), concat('id=', id)
FROM kv_store
WHERE id NOT BETWEEN (:first - 1) * 1000 + 1 AND :last * 1000
ORDER BY id
{limit}1{of_limit};

-- name: check.new
SELECT count(*) OVER (), concat('id=', id)
FROM kv_store
WHERE id BETWEEN (:first - 1) * 1000 + 1 AND :last * 1000 AND version <> 1
ORDER BY id
{limit}1{of_limit};

-- name: check.version
SELECT count(*) OVER (), concat('id=', id)
FROM kv_store
WHERE (version < 1 OR id < 1) AND :first <= :last
ORDER BY id
{limit}1{of_limit};

-- name: check.payload
SELECT id, checksum, payload
FROM kv_store
WHERE id BETWEEN (:first - 1) * 1000 + 1 AND :last * 1000
ORDER BY id;

-- name: check.payload_beyond
SELECT id, checksum, payload
FROM kv_store
WHERE id NOT BETWEEN (:first - 1) * 1000 + 1 AND :last * 1000
ORDER BY id;

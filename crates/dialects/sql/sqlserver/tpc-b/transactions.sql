-- A sum of integers is an integer, which may be too small for it.
-- name: audit.abalance
SELECT sum(CAST(abalance AS bigint)) FROM pgbench_accounts;

-- name: audit.history
SELECT coalesce(sum(CAST(delta AS bigint)), 0) FROM pgbench_history;

-- name: audit.tbalance
SELECT sum(CAST(tbalance AS bigint)) FROM pgbench_tellers;

-- name: audit.bbalance
SELECT sum(CAST(bbalance AS bigint)) FROM pgbench_branches;

-- A char loses its trailing spaces when it is read.
-- name: check.p.accounts
SELECT count(*) OVER (), concat('aid=', aid)
FROM pgbench_accounts
WHERE aid BETWEEN (:first - 1) * 100000 + 1 AND :last * 100000
    AND (abalance IS NULL OR abalance <> 0 OR filler IS NULL OR filler <> '')
    AND NOT EXISTS (SELECT 1 FROM pgbench_history)
ORDER BY aid
LIMIT 1;

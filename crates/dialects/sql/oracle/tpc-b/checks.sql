-- Not run against Oracle.
-- An empty text is NULL.
-- name: check.p.accounts
SELECT count(*) OVER (), concat('aid=', aid)
FROM pgbench_accounts
WHERE aid BETWEEN (:first - 1) * 100000 + 1 AND :last * 100000
    AND (abalance IS NULL OR abalance <> 0 OR filler IS NULL OR lengthb(filler) <> 84
         OR trim(filler) IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM pgbench_history)
ORDER BY aid
{limit}1{of_limit};

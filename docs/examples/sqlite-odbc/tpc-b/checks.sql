-- Debian's SQLite has no octet_length().

-- name: check.p.accounts
SELECT count(*) OVER (), concat('aid=', aid)
FROM pgbench_accounts
WHERE aid BETWEEN (:first - 1) * 100000 + 1 AND :last * 100000
    AND (abalance IS NULL OR abalance <> 0 OR filler IS NULL OR length(CAST(filler AS blob)) <> 84
         OR trim(filler) <> '')
    AND NOT EXISTS (SELECT 1 FROM pgbench_history)
ORDER BY aid
LIMIT 1;

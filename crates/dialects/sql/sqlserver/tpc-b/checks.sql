-- A char pads with blanks, which datalength counts.
-- name: check.p.accounts
SELECT count(*) OVER (), concat('aid=', aid)
FROM pgbench_accounts
WHERE aid BETWEEN (:first - 1) * 100000 + 1 AND :last * 100000
    AND (abalance IS NULL OR abalance <> 0 OR filler IS NULL OR datalength(filler) <> 84
         OR rtrim(filler) <> '')
    AND NOT EXISTS (SELECT 1 FROM pgbench_history)
ORDER BY aid
OFFSET 0 ROWS FETCH NEXT 1 ROWS ONLY;

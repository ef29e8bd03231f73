-- octet_length is for bits and blobs; strlen is the length of a text in bytes.

-- name: check.p.accounts
SELECT count(*) OVER (), concat('aid=', aid)
FROM pgbench_accounts
WHERE aid BETWEEN (:first - 1) * 100000 + 1 AND :last * 100000
    AND (abalance IS NULL OR abalance <> 0 OR filler IS NULL OR strlen(filler) <> 84
         OR trim(filler) <> '')
    AND NOT EXISTS (SELECT 1 FROM pgbench_history)
ORDER BY aid
LIMIT 1;

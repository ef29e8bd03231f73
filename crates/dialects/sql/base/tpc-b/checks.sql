-- The conditions that `check` verifies, over the branches from :first to :last. No row when the
-- condition holds, else the number of violations and the first one's key.

-- name: check.branches
SELECT :last - :first + 1 - count(*), concat('branches=', count(*))
FROM pgbench_branches
WHERE bid BETWEEN :first AND :last
HAVING count(*) <> :last - :first + 1;

-- A branch that has lost all of them has a row of its own on the other side of the union.
-- name: check.tellers
SELECT count(*) OVER (), concat('bid=', bid, ' tellers=', count(tid))
FROM (
    SELECT bid, tid FROM pgbench_tellers WHERE tid BETWEEN (:first - 1) * 10 + 1 AND :last * 10
    UNION ALL
    SELECT bid, NULL FROM pgbench_branches WHERE bid BETWEEN :first AND :last
) sides
GROUP BY bid
HAVING count(tid) <> 10 OR min(tid) <> (bid - 1) * 10 + 1 OR max(tid) <> bid * 10
ORDER BY bid
{limit}1{of_limit};

-- name: check.accounts
SELECT count(*) OVER (), concat('bid=', bid, ' accounts=', count(aid))
FROM (
    SELECT bid, aid
    FROM pgbench_accounts
    WHERE aid BETWEEN (:first - 1) * 100000 + 1 AND :last * 100000
    UNION ALL
    SELECT bid, NULL FROM pgbench_branches WHERE bid BETWEEN :first AND :last
) sides
GROUP BY bid
HAVING count(aid) <> 100000 OR min(aid) <> (bid - 1) * 100000 + 1 OR max(aid) <> bid * 100000
ORDER BY bid
{limit}1{of_limit};

-- name: check.beyond
SELECT count(*) OVER (), beyond
FROM (
    SELECT concat('bid=', bid) AS beyond
    FROM pgbench_branches
    WHERE bid NOT BETWEEN :first AND :last
    UNION ALL
    SELECT concat('tid=', tid)
    FROM pgbench_tellers
    WHERE tid NOT BETWEEN (:first - 1) * 10 + 1 AND :last * 10
    UNION ALL
    SELECT concat('aid=', aid)
    FROM pgbench_accounts
    WHERE aid NOT BETWEEN (:first - 1) * 100000 + 1 AND :last * 100000
) sides
ORDER BY beyond
{limit}1{of_limit};

-- name: check.balances
SELECT 1, concat('tellers=', tellers, ' branches=', branches)
FROM (
    SELECT (SELECT sum(tbalance) FROM pgbench_tellers) AS tellers,
           (SELECT sum(bbalance) FROM pgbench_branches) AS branches{dual}
) sums
WHERE tellers <> branches AND :first <= :last;

-- The population: where there is history, pgbench has run, and balances are what they are.
-- name: check.p.branches
SELECT count(*) OVER (), concat('bid=', bid)
FROM pgbench_branches
WHERE bid BETWEEN :first AND :last AND (bbalance IS NULL OR bbalance <> 0)
    AND NOT EXISTS (SELECT 1 FROM pgbench_history)
ORDER BY bid
{limit}1{of_limit};

-- name: check.p.tellers
SELECT count(*) OVER (), concat('tid=', tid)
FROM pgbench_tellers
WHERE tid BETWEEN (:first - 1) * 10 + 1 AND :last * 10 AND (tbalance IS NULL OR tbalance <> 0)
    AND NOT EXISTS (SELECT 1 FROM pgbench_history)
ORDER BY tid
{limit}1{of_limit};

-- name: check.p.accounts
SELECT count(*) OVER (), concat('aid=', aid)
FROM pgbench_accounts
WHERE aid BETWEEN (:first - 1) * 100000 + 1 AND :last * 100000
    AND (abalance IS NULL OR abalance <> 0 OR filler IS NULL OR octet_length(filler) <> 84
         OR trim(filler) <> '')
    AND NOT EXISTS (SELECT 1 FROM pgbench_history)
ORDER BY aid
{limit}1{of_limit};

-- pgbench's built-in scripts tpcb-like, simple-update and select-only by their statements, as its
-- manual has them; what counts a run from beside; and how tables of `pgbench -i` are recognised.

-- name: account.update
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;

-- name: account.balance
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;

-- name: teller.update
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;

-- name: branch.update
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;

-- name: history.insert
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, :mtime);

-- Grows by one with each tpcb-like and each simple-update.
-- name: count.history
SELECT count(*) FROM pgbench_history;

-- pgbench itself reads the scale from here.
-- name: foreign.scale
SELECT count(bid) FROM pgbench_branches;

-- name: audit.abalance
SELECT sum(abalance) FROM pgbench_accounts;

-- name: audit.history
SELECT coalesce(sum(delta), 0) FROM pgbench_history;

-- name: audit.tbalance
SELECT sum(tbalance) FROM pgbench_tellers;

-- name: audit.bbalance
SELECT sum(bbalance) FROM pgbench_branches;

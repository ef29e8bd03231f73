-- SQLite cannot add a primary key to a table; a unique index over columns that are not null is one.

-- name: key.pgbench_branches
CREATE UNIQUE INDEX pgbench_branches_pkey ON pgbench_branches (bid);

-- name: key.pgbench_tellers
CREATE UNIQUE INDEX pgbench_tellers_pkey ON pgbench_tellers (tid);

-- name: key.pgbench_accounts
CREATE UNIQUE INDEX pgbench_accounts_pkey ON pgbench_accounts (aid);

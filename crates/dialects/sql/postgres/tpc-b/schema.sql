-- `pgbench -i` states its fill factor even where it is the default.

-- name: create.pgbench_branches
CREATE TABLE pgbench_branches (
    bid      integer NOT NULL,
    bbalance integer,
    filler   char(88)
) WITH (fillfactor = 100);

-- name: create.pgbench_tellers
CREATE TABLE pgbench_tellers (
    tid      integer NOT NULL,
    bid      integer,
    tbalance integer,
    filler   char(84)
) WITH (fillfactor = 100);

-- name: create.pgbench_accounts
CREATE TABLE pgbench_accounts (
    aid      integer NOT NULL,
    bid      integer,
    abalance integer,
    filler   char(84)
) WITH (fillfactor = 100);

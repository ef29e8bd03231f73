-- The tables of `pgbench -i`, whose accounts are filled before they get their keys.

-- name: create.pgbench_branches
CREATE TABLE pgbench_branches (
    bid      integer NOT NULL,
    bbalance integer,
    filler   char(88)
){table_options};

-- name: create.pgbench_tellers
CREATE TABLE pgbench_tellers (
    tid      integer NOT NULL,
    bid      integer,
    tbalance integer,
    filler   char(84)
){table_options};

-- name: create.pgbench_accounts
CREATE TABLE pgbench_accounts (
    aid      integer NOT NULL,
    bid      integer,
    abalance integer,
    filler   char(84)
){table_options}{accounts_partitions};

-- name: create.pgbench_history
CREATE TABLE pgbench_history (
    tid    integer,
    bid    integer,
    aid    integer,
    delta  integer,
    mtime  {timestamp},
    filler char(22)
){table_options};

-- name: key.pgbench_branches
ALTER TABLE pgbench_branches ADD PRIMARY KEY (bid);

-- name: key.pgbench_tellers
ALTER TABLE pgbench_tellers ADD PRIMARY KEY (tid);

-- name: key.pgbench_accounts
ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid);

-- name: analyze.pgbench_branches
{analyze} pgbench_branches{of_analyze};

-- name: analyze.pgbench_tellers
{analyze} pgbench_tellers{of_analyze};

-- name: analyze.pgbench_accounts
{analyze} pgbench_accounts{of_analyze};

-- name: analyze.pgbench_history
{analyze} pgbench_history{of_analyze};

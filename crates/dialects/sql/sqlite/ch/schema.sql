-- SQLite cannot add a primary key to a table; a unique index over columns that are not null is one.

-- name: key.region
CREATE UNIQUE INDEX region_key ON region (r_regionkey);

-- name: key.nation
CREATE UNIQUE INDEX nation_key ON nation (n_nationkey);

-- name: key.supplier
CREATE UNIQUE INDEX supplier_key ON supplier (su_suppkey);

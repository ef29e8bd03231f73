-- SQLite cannot add a primary key to a table; a unique index over columns that are not null is one.

-- name: key.region
CREATE UNIQUE INDEX region_key ON region (r_regionkey);

-- name: key.nation
CREATE UNIQUE INDEX nation_key ON nation (n_nationkey);

-- name: key.supplier
CREATE UNIQUE INDEX supplier_key ON supplier (s_suppkey);

-- name: key.part
CREATE UNIQUE INDEX part_key ON part (p_partkey);

-- name: key.partsupp
CREATE UNIQUE INDEX partsupp_key ON partsupp (ps_partkey, ps_suppkey);

-- name: key.customer
CREATE UNIQUE INDEX customer_key ON customer (c_custkey);

-- name: key.orders
CREATE UNIQUE INDEX orders_key ON orders (o_orderkey);

-- name: key.lineitem
CREATE UNIQUE INDEX lineitem_key ON lineitem (l_orderkey, l_linenumber);

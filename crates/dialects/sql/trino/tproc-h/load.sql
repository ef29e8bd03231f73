-- Copies the tables of the connector tpch, of a catalog of that name, within Trino (--load-from tpch). Columns are
-- taken by their position: their names depend on the catalog, and so do the types of prices.

-- name: load_tpch.region
INSERT INTO region (
    r_regionkey, r_name, r_comment
)
SELECT
    CAST(r_regionkey AS integer), r_name, r_comment
FROM tpch."sf{scale}".region AS source (
    r_regionkey, r_name, r_comment
);

-- name: load_tpch.nation
INSERT INTO nation (
    n_nationkey, n_name, n_regionkey, n_comment
)
SELECT
    CAST(n_nationkey AS integer), n_name, CAST(n_regionkey AS integer), n_comment
FROM tpch."sf{scale}".nation AS source (
    n_nationkey, n_name, n_regionkey, n_comment
);

-- name: load_tpch.supplier
INSERT INTO supplier (
    s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
)
SELECT
    CAST(s_suppkey AS integer), s_name, s_address, CAST(s_nationkey AS integer), s_phone,
    CAST(s_acctbal AS decimal(15, 2)), s_comment
FROM tpch."sf{scale}".supplier AS source (
    s_suppkey, s_name, s_address, s_nationkey, s_phone, s_acctbal, s_comment
);

-- name: load_tpch.part
INSERT INTO part (
    p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
)
SELECT
    CAST(p_partkey AS integer), p_name, p_mfgr, p_brand, p_type, CAST(p_size AS integer), p_container,
    CAST(p_retailprice AS decimal(15, 2)), p_comment
FROM tpch."sf{scale}".part AS source (
    p_partkey, p_name, p_mfgr, p_brand, p_type, p_size, p_container, p_retailprice, p_comment
);

-- name: load_tpch.partsupp
INSERT INTO partsupp (
    ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment
)
SELECT
    CAST(ps_partkey AS integer), CAST(ps_suppkey AS integer), CAST(ps_availqty AS integer),
    CAST(ps_supplycost AS decimal(15, 2)), ps_comment
FROM tpch."sf{scale}".partsupp AS source (
    ps_partkey, ps_suppkey, ps_availqty, ps_supplycost, ps_comment
);

-- name: load_tpch.customer
INSERT INTO customer (
    c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
)
SELECT
    CAST(c_custkey AS integer), c_name, c_address, CAST(c_nationkey AS integer), c_phone,
    CAST(c_acctbal AS decimal(15, 2)), c_mktsegment, c_comment
FROM tpch."sf{scale}".customer AS source (
    c_custkey, c_name, c_address, c_nationkey, c_phone, c_acctbal, c_mktsegment, c_comment
);

-- name: load_tpch.orders
INSERT INTO orders (
    o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority,
    o_comment
)
SELECT
    o_orderkey, CAST(o_custkey AS integer), o_orderstatus, CAST(o_totalprice AS decimal(15, 2)), o_orderdate,
    o_orderpriority, o_clerk, CAST(o_shippriority AS integer), o_comment
FROM tpch."sf{scale}".orders AS source (
    o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority,
    o_comment
);

-- name: load_tpch.lineitem
INSERT INTO lineitem (
    l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax,
    l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
)
SELECT
    l_orderkey, CAST(l_partkey AS integer), CAST(l_suppkey AS integer), CAST(l_linenumber AS integer),
    CAST(l_quantity AS decimal(15, 2)), CAST(l_extendedprice AS decimal(15, 2)),
    CAST(l_discount AS decimal(15, 2)), CAST(l_tax AS decimal(15, 2)), l_returnflag, l_linestatus, l_shipdate,
    l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
FROM tpch."sf{scale}".lineitem AS source (
    l_orderkey, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax,
    l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
);

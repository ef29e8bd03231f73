-- No keys and no NOT NULL, which most connectors do not have, and no char, which Iceberg does not have.
-- Connectors that keep statistics gather them as rows come in.

-- name: create.region
CREATE TABLE region (
    r_regionkey integer,
    r_name      varchar(25),
    r_comment   varchar(152)
);

-- name: create.nation
CREATE TABLE nation (
    n_nationkey integer,
    n_name      varchar(25),
    n_regionkey integer,
    n_comment   varchar(152)
);

-- name: create.supplier
CREATE TABLE supplier (
    s_suppkey   integer,
    s_name      varchar(25),
    s_address   varchar(40),
    s_nationkey integer,
    s_phone     varchar(15),
    s_acctbal   decimal(15, 2),
    s_comment   varchar(101)
);

-- name: create.part
CREATE TABLE part (
    p_partkey     integer,
    p_name        varchar(55),
    p_mfgr        varchar(25),
    p_brand       varchar(10),
    p_type        varchar(25),
    p_size        integer,
    p_container   varchar(10),
    p_retailprice decimal(15, 2),
    p_comment     varchar(23)
);

-- name: create.partsupp
CREATE TABLE partsupp (
    ps_partkey    integer,
    ps_suppkey    integer,
    ps_availqty   integer,
    ps_supplycost decimal(15, 2),
    ps_comment    varchar(199)
);

-- name: create.customer
CREATE TABLE customer (
    c_custkey    integer,
    c_name       varchar(25),
    c_address    varchar(40),
    c_nationkey  integer,
    c_phone      varchar(15),
    c_acctbal    decimal(15, 2),
    c_mktsegment varchar(10),
    c_comment    varchar(117)
);

-- name: create.orders
CREATE TABLE orders (
    o_orderkey      bigint,
    o_custkey       integer,
    o_orderstatus   varchar(1),
    o_totalprice    decimal(15, 2),
    o_orderdate     date,
    o_orderpriority varchar(15),
    o_clerk         varchar(15),
    o_shippriority  integer,
    o_comment       varchar(79)
);

-- name: create.lineitem
CREATE TABLE lineitem (
    l_orderkey      bigint,
    l_partkey       integer,
    l_suppkey       integer,
    l_linenumber    integer,
    l_quantity      decimal(15, 2),
    l_extendedprice decimal(15, 2),
    l_discount      decimal(15, 2),
    l_tax           decimal(15, 2),
    l_returnflag    varchar(1),
    l_linestatus    varchar(1),
    l_shipdate      date,
    l_commitdate    date,
    l_receiptdate   date,
    l_shipinstruct  varchar(25),
    l_shipmode      varchar(10),
    l_comment       varchar(44)
);

-- name: key.region

-- name: key.nation

-- name: key.supplier

-- name: key.part

-- name: key.partsupp

-- name: key.customer

-- name: key.orders

-- name: key.lineitem

-- name: index.nation_region

-- name: index.supplier_nation

-- name: index.partsupp_supplier

-- name: index.customer_nation

-- name: index.orders_customer

-- name: index.lineitem_partsupp

-- name: index.lineitem_supplier

-- name: analyze.region

-- name: analyze.nation

-- name: analyze.supplier

-- name: analyze.part

-- name: analyze.partsupp

-- name: analyze.customer

-- name: analyze.orders

-- name: analyze.lineitem

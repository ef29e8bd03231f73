-- The eight tables of clause 1.4. Keys, indexes and foreign keys are added after the load; `foreign_key.` only
-- when the option foreign-keys is on. The indexes are those over columns that refer to other tables.

-- name: create.region
CREATE TABLE region (
    r_regionkey integer NOT NULL,
    r_name      char(25) {byte_order} NOT NULL,
    r_comment   varchar(152) NOT NULL{table_elements}
){table_options};

-- name: create.nation
CREATE TABLE nation (
    n_nationkey integer NOT NULL,
    n_name      char(25) {byte_order} NOT NULL,
    n_regionkey integer NOT NULL,
    n_comment   varchar(152) NOT NULL{table_elements}
){table_options};

-- name: create.supplier
CREATE TABLE supplier (
    s_suppkey   integer NOT NULL,
    s_name      char(25) {byte_order} NOT NULL,
    s_address   varchar(40) NOT NULL,
    s_nationkey integer NOT NULL,
    s_phone     char(15) NOT NULL,
    s_acctbal   decimal(15, 2) NOT NULL,
    s_comment   varchar(101) NOT NULL{table_elements}
){table_options};

-- name: create.part
CREATE TABLE part (
    p_partkey     integer NOT NULL,
    p_name        varchar(55) NOT NULL,
    p_mfgr        char(25) NOT NULL,
    p_brand       char(10) {byte_order} NOT NULL,
    p_type        varchar(25) {byte_order} NOT NULL,
    p_size        integer NOT NULL,
    p_container   char(10) NOT NULL,
    p_retailprice decimal(15, 2) NOT NULL,
    p_comment     varchar(23) NOT NULL{table_elements}
){table_options};

-- name: create.partsupp
CREATE TABLE partsupp (
    ps_partkey    integer NOT NULL,
    ps_suppkey    integer NOT NULL,
    ps_availqty   integer NOT NULL,
    ps_supplycost decimal(15, 2) NOT NULL,
    ps_comment    varchar(199) NOT NULL{table_elements}
){table_options};

-- name: create.customer
CREATE TABLE customer (
    c_custkey    integer NOT NULL,
    c_name       varchar(25) NOT NULL,
    c_address    varchar(40) NOT NULL,
    c_nationkey  integer NOT NULL,
    c_phone      char(15) {byte_order} NOT NULL,
    c_acctbal    decimal(15, 2) NOT NULL,
    c_mktsegment char(10) NOT NULL,
    c_comment    varchar(117) NOT NULL{table_elements}
){table_options};

-- name: create.orders
CREATE TABLE orders (
    o_orderkey      {bigint} NOT NULL,
    o_custkey       integer NOT NULL,
    o_orderstatus   char(1) NOT NULL,
    o_totalprice    decimal(15, 2) NOT NULL,
    o_orderdate     date NOT NULL,
    o_orderpriority char(15) {byte_order} NOT NULL,
    o_clerk         char(15) NOT NULL,
    o_shippriority  integer NOT NULL,
    o_comment       varchar(79) NOT NULL{table_elements}
){table_options}{orders_partitions};

-- name: create.lineitem
CREATE TABLE lineitem (
    l_orderkey      {bigint} NOT NULL,
    l_partkey       integer NOT NULL,
    l_suppkey       integer NOT NULL,
    l_linenumber    integer NOT NULL,
    l_quantity      decimal(15, 2) NOT NULL,
    l_extendedprice decimal(15, 2) NOT NULL,
    l_discount      decimal(15, 2) NOT NULL,
    l_tax           decimal(15, 2) NOT NULL,
    l_returnflag    char(1) {byte_order} NOT NULL,
    l_linestatus    char(1) {byte_order} NOT NULL,
    l_shipdate      date NOT NULL,
    l_commitdate    date NOT NULL,
    l_receiptdate   date NOT NULL,
    l_shipinstruct  char(25) NOT NULL,
    l_shipmode      char(10) {byte_order} NOT NULL,
    l_comment       varchar(44) NOT NULL{table_elements}
){table_options}{lineitem_partitions};

-- name: key.region
ALTER TABLE region ADD PRIMARY KEY (r_regionkey);

-- name: key.nation
ALTER TABLE nation ADD PRIMARY KEY (n_nationkey);

-- name: key.supplier
ALTER TABLE supplier ADD PRIMARY KEY (s_suppkey);

-- name: key.part
ALTER TABLE part ADD PRIMARY KEY (p_partkey);

-- name: key.partsupp
ALTER TABLE partsupp ADD PRIMARY KEY (ps_partkey, ps_suppkey);

-- name: key.customer
ALTER TABLE customer ADD PRIMARY KEY (c_custkey);

-- name: key.orders
ALTER TABLE orders ADD PRIMARY KEY (o_orderkey{orders_month});

-- name: key.lineitem
ALTER TABLE lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber{lineitem_month});

-- name: index.nation_region
CREATE INDEX nation_region ON nation (n_regionkey);

-- name: index.supplier_nation
CREATE INDEX supplier_nation ON supplier (s_nationkey);

-- name: index.partsupp_supplier
CREATE INDEX partsupp_supplier ON partsupp (ps_suppkey);

-- name: index.customer_nation
CREATE INDEX customer_nation ON customer (c_nationkey);

-- name: index.orders_customer
CREATE INDEX orders_customer ON orders (o_custkey);

-- name: index.lineitem_partsupp
CREATE INDEX lineitem_partsupp ON lineitem (l_partkey, l_suppkey);

-- name: index.lineitem_supplier
CREATE INDEX lineitem_supplier ON lineitem (l_suppkey);

-- name: foreign_key.nation
ALTER TABLE nation ADD CONSTRAINT nation_fk FOREIGN KEY (n_regionkey) REFERENCES region (r_regionkey);

-- name: foreign_key.supplier
ALTER TABLE supplier ADD CONSTRAINT supplier_fk FOREIGN KEY (s_nationkey) REFERENCES nation (n_nationkey);

-- name: foreign_key.partsupp_part
ALTER TABLE partsupp ADD CONSTRAINT partsupp_part_fk FOREIGN KEY (ps_partkey) REFERENCES part (p_partkey);

-- name: foreign_key.partsupp_supplier
ALTER TABLE partsupp ADD CONSTRAINT partsupp_supplier_fk FOREIGN KEY (ps_suppkey) REFERENCES supplier (s_suppkey);

-- name: foreign_key.customer
ALTER TABLE customer ADD CONSTRAINT customer_fk FOREIGN KEY (c_nationkey) REFERENCES nation (n_nationkey);

-- name: foreign_key.orders
ALTER TABLE orders ADD CONSTRAINT orders_fk FOREIGN KEY (o_custkey) REFERENCES customer (c_custkey);

-- name: foreign_key.lineitem_orders
ALTER TABLE lineitem ADD CONSTRAINT lineitem_orders_fk FOREIGN KEY (l_orderkey) REFERENCES orders (o_orderkey);

-- name: foreign_key.lineitem_partsupp
ALTER TABLE lineitem ADD CONSTRAINT lineitem_partsupp_fk FOREIGN KEY (l_partkey, l_suppkey) REFERENCES partsupp (ps_partkey, ps_suppkey);

-- name: analyze.region
{analyze} region{of_analyze};

-- name: analyze.nation
{analyze} nation{of_analyze};

-- name: analyze.supplier
{analyze} supplier{of_analyze};

-- name: analyze.part
{analyze} part{of_analyze};

-- name: analyze.partsupp
{analyze} partsupp{of_analyze};

-- name: analyze.customer
{analyze} customer{of_analyze};

-- name: analyze.orders
{analyze} orders{of_analyze};

-- name: analyze.lineitem
{analyze} lineitem{of_analyze};

-- The tables that can be hash clusters, and what has another syntax.

-- name: create.warehouse
{warehouse_cluster}CREATE TABLE warehouse (
    w_id       integer NOT NULL,
    w_name     varchar(10) NOT NULL,
    w_street_1 varchar(20) NOT NULL,
    w_street_2 varchar(20) NOT NULL,
    w_city     varchar(20) NOT NULL,
    w_state    char(2) NOT NULL,
    w_zip      char(9) NOT NULL,
    w_tax      decimal(4, 4) NOT NULL,
    w_ytd      decimal(16, 2) NOT NULL
){table_options}{in_warehouse_cluster};

-- name: create.district
{district_cluster}CREATE TABLE district (
    d_id        integer NOT NULL,
    d_w_id      integer NOT NULL,
    d_name      varchar(10) NOT NULL,
    d_street_1  varchar(20) NOT NULL,
    d_street_2  varchar(20) NOT NULL,
    d_city      varchar(20) NOT NULL,
    d_state     char(2) NOT NULL,
    d_zip       char(9) NOT NULL,
    d_tax       decimal(4, 4) NOT NULL,
    d_ytd       decimal(16, 2) NOT NULL,
    d_next_o_id integer NOT NULL
){table_options}{in_district_cluster};

-- name: create.item
{item_cluster}CREATE TABLE item (
    i_id    integer NOT NULL,
    i_im_id integer NOT NULL,
    i_name  varchar(24) NOT NULL,
    i_price decimal(5, 2) NOT NULL,
    i_data  varchar(50) NOT NULL
){table_options}{in_item_cluster};

-- name: create.stock
{stock_cluster}CREATE TABLE stock (
    s_i_id       integer NOT NULL,
    s_w_id       integer NOT NULL,
    s_quantity   integer NOT NULL,
    s_dist_01    char(24) NOT NULL,
    s_dist_02    char(24) NOT NULL,
    s_dist_03    char(24) NOT NULL,
    s_dist_04    char(24) NOT NULL,
    s_dist_05    char(24) NOT NULL,
    s_dist_06    char(24) NOT NULL,
    s_dist_07    char(24) NOT NULL,
    s_dist_08    char(24) NOT NULL,
    s_dist_09    char(24) NOT NULL,
    s_dist_10    char(24) NOT NULL,
    s_ytd        {bigint} NOT NULL,
    s_order_cnt  integer NOT NULL,
    s_remote_cnt integer NOT NULL,
    s_data       varchar(50) NOT NULL
){table_options}{in_stock_cluster};

-- name: history_key.history
ALTER TABLE history ADD (h_id {bigint} GENERATED ALWAYS AS IDENTITY);
ALTER TABLE history ADD PRIMARY KEY (h_id);

-- The nine tables of clause 1.3. Keys, indexes and foreign keys are added after the load.
-- `history_key.` is run after `key.` when the option history-key is on, `foreign_key.` when
-- foreign-keys is.

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
    w_ytd      decimal(16, 2) NOT NULL{warehouse_elements}
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
    d_next_o_id integer NOT NULL{district_elements}
){table_options}{in_district_cluster};

-- name: create.customer
CREATE TABLE customer (
    c_id           integer NOT NULL,
    c_d_id         integer NOT NULL,
    c_w_id         integer NOT NULL,
    c_first        varchar(16) {byte_order} NOT NULL,
    c_middle       char(2) NOT NULL,
    c_last         varchar(16) {byte_order} NOT NULL,
    c_street_1     varchar(20) NOT NULL,
    c_street_2     varchar(20) NOT NULL,
    c_city         varchar(20) NOT NULL,
    c_state        char(2) NOT NULL,
    c_zip          char(9) NOT NULL,
    c_phone        char(16) NOT NULL,
    c_since        {timestamp} NOT NULL,
    c_credit       char(2) NOT NULL,
    c_credit_lim   decimal(12, 2) NOT NULL,
    c_discount     decimal(4, 4) NOT NULL,
    c_balance      decimal(14, 2) NOT NULL,
    c_ytd_payment  decimal(14, 2) NOT NULL,
    c_payment_cnt  integer NOT NULL,
    c_delivery_cnt integer NOT NULL,
    c_data         varchar(500) NOT NULL{customer_elements}
){table_options};

-- name: create.history
CREATE TABLE history (
    h_c_id   integer NOT NULL,
    h_c_d_id integer NOT NULL,
    h_c_w_id integer NOT NULL,
    h_d_id   integer NOT NULL,
    h_w_id   integer NOT NULL,
    h_date   {timestamp} NOT NULL,
    h_amount decimal(6, 2) NOT NULL,
    h_data   varchar(24) NOT NULL{history_elements}
){table_options};

-- name: create.item
{item_cluster}CREATE TABLE item (
    i_id    integer NOT NULL,
    i_im_id integer NOT NULL,
    i_name  varchar(24) NOT NULL,
    i_price decimal(5, 2) NOT NULL,
    i_data  varchar(50) NOT NULL{item_elements}
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
    s_data       varchar(50) NOT NULL{stock_elements}
){table_options}{in_stock_cluster};

-- name: create.orders
CREATE TABLE orders (
    o_id         integer NOT NULL,
    o_d_id       integer NOT NULL,
    o_w_id       integer NOT NULL,
    o_c_id       integer NOT NULL,
    o_entry_d    {timestamp} NOT NULL,
    o_carrier_id integer,
    o_ol_cnt     integer NOT NULL,
    o_all_local  integer NOT NULL{orders_elements}
){table_options};

-- name: create.order_line
CREATE TABLE order_line (
    ol_o_id        integer NOT NULL,
    ol_d_id        integer NOT NULL,
    ol_w_id        integer NOT NULL,
    ol_number      integer NOT NULL,
    ol_i_id        integer NOT NULL,
    ol_supply_w_id integer NOT NULL,
    ol_delivery_d  {timestamp},
    ol_quantity    integer NOT NULL,
    ol_amount      decimal(6, 2) NOT NULL,
    ol_dist_info   char(24) NOT NULL{order_line_elements}
){table_options}{order_line_partitions};

-- name: create.new_order
CREATE TABLE new_order (
    no_o_id integer NOT NULL,
    no_d_id integer NOT NULL,
    no_w_id integer NOT NULL{new_order_elements}
){table_options};

-- name: key.warehouse
ALTER TABLE warehouse ADD PRIMARY KEY (w_id);

-- name: key.district
ALTER TABLE district ADD PRIMARY KEY (d_w_id, d_id);

-- name: key.customer
ALTER TABLE customer ADD PRIMARY KEY (c_w_id, c_d_id, c_id);

-- name: key.item
ALTER TABLE item ADD PRIMARY KEY (i_id);

-- name: key.stock
ALTER TABLE stock ADD PRIMARY KEY (s_w_id, s_i_id);

-- name: key.orders
ALTER TABLE orders ADD PRIMARY KEY (o_w_id, o_d_id, o_id);

-- name: key.order_line
ALTER TABLE order_line ADD PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number);

-- name: key.new_order
ALTER TABLE new_order ADD PRIMARY KEY (no_w_id, no_d_id, no_o_id);

-- The rest of the specification's history has no key; some databases need one to replicate.
-- name: history_key.history
ALTER TABLE history ADD COLUMN h_id {bigint} GENERATED ALWAYS AS IDENTITY PRIMARY KEY;

-- name: index.customer_name
CREATE INDEX customer_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id);

-- name: index.orders_customer
CREATE INDEX orders_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);

-- name: foreign_key.district
ALTER TABLE district ADD CONSTRAINT district_fk FOREIGN KEY (d_w_id) REFERENCES warehouse (w_id);

-- name: foreign_key.customer
ALTER TABLE customer ADD CONSTRAINT customer_fk FOREIGN KEY (c_w_id, c_d_id) REFERENCES district (d_w_id, d_id);

-- name: foreign_key.history_customer
ALTER TABLE history ADD CONSTRAINT history_customer_fk FOREIGN KEY (h_c_w_id, h_c_d_id, h_c_id) REFERENCES customer (c_w_id, c_d_id, c_id);

-- name: foreign_key.history_district
ALTER TABLE history ADD CONSTRAINT history_district_fk FOREIGN KEY (h_w_id, h_d_id) REFERENCES district (d_w_id, d_id);

-- name: foreign_key.stock_warehouse
ALTER TABLE stock ADD CONSTRAINT stock_warehouse_fk FOREIGN KEY (s_w_id) REFERENCES warehouse (w_id);

-- name: foreign_key.stock_item
ALTER TABLE stock ADD CONSTRAINT stock_item_fk FOREIGN KEY (s_i_id) REFERENCES item (i_id);

-- name: foreign_key.orders
ALTER TABLE orders ADD CONSTRAINT orders_fk FOREIGN KEY (o_w_id, o_d_id, o_c_id) REFERENCES customer (c_w_id, c_d_id, c_id);

-- name: foreign_key.order_line_orders
ALTER TABLE order_line ADD CONSTRAINT order_line_orders_fk FOREIGN KEY (ol_w_id, ol_d_id, ol_o_id) REFERENCES orders (o_w_id, o_d_id, o_id);

-- name: foreign_key.order_line_stock
ALTER TABLE order_line ADD CONSTRAINT order_line_stock_fk FOREIGN KEY (ol_supply_w_id, ol_i_id) REFERENCES stock (s_w_id, s_i_id);

-- name: foreign_key.new_order
ALTER TABLE new_order ADD CONSTRAINT new_order_fk FOREIGN KEY (no_w_id, no_d_id, no_o_id) REFERENCES orders (o_w_id, o_d_id, o_id);

-- name: analyze.warehouse
{analyze} warehouse{of_analyze};

-- name: analyze.district
{analyze} district{of_analyze};

-- name: analyze.customer
{analyze} customer{of_analyze};

-- name: analyze.history
{analyze} history{of_analyze};

-- name: analyze.item
{analyze} item{of_analyze};

-- name: analyze.stock
{analyze} stock{of_analyze};

-- name: analyze.orders
{analyze} orders{of_analyze};

-- name: analyze.order_line
{analyze} order_line{of_analyze};

-- name: analyze.new_order
{analyze} new_order{of_analyze};

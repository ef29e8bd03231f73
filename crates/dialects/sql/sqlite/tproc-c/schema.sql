-- SQLite cannot add a primary key to a table; a unique index over columns that are not null is one.

-- name: key.warehouse
CREATE UNIQUE INDEX warehouse_key ON warehouse (w_id);

-- name: key.district
CREATE UNIQUE INDEX district_key ON district (d_w_id, d_id);

-- name: key.customer
CREATE UNIQUE INDEX customer_key ON customer (c_w_id, c_d_id, c_id);

-- name: key.item
CREATE UNIQUE INDEX item_key ON item (i_id);

-- name: key.stock
CREATE UNIQUE INDEX stock_key ON stock (s_w_id, s_i_id);

-- name: key.orders
CREATE UNIQUE INDEX orders_key ON orders (o_w_id, o_d_id, o_id);

-- name: key.order_line
CREATE UNIQUE INDEX order_line_key ON order_line (ol_w_id, ol_d_id, ol_o_id, ol_number);

-- name: key.new_order
CREATE UNIQUE INDEX new_order_key ON new_order (no_w_id, no_d_id, no_o_id);

-- Every row has a rowid already.
-- name: history_key.history

-- The five transactions in client SQL, and the database's count of New-Orders. Row locks are taken
-- in the order that the head of tproc_c/mod.rs gives: an override must keep it.
-- round() does nothing where decimals are exact, and keeps cents whole where they are not.

-- The sum grows by one with each New-Order that commits.
-- name: count.new_orders
SELECT sum(d_next_o_id) FROM district;

-- In cents. The sum grows by the amount of each Payment that commits.
-- name: audit.w_ytd
SELECT round(sum(w_ytd) * 100, 0) FROM warehouse;

-- One row more by each New-Order that commits, one less by each district that Delivery does not skip.
-- name: audit.new_order
SELECT count(*) FROM new_order;

-- c_id of all customers of that name, in byte order of their first names.
-- name: customer.by_last_name
SELECT c_id
FROM customer
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_last = :c_last
ORDER BY c_first, c_id;

-- w_tax, c_discount, c_last, c_credit
-- name: new_order.customer
SELECT w_tax, c_discount, c_last, c_credit
FROM warehouse, customer
WHERE w_id = :w_id AND c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;

-- d_next_o_id, d_tax
-- name: new_order.district
SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = :w_id AND d_id = :d_id {for_update};

-- name: new_order.advance_district
UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = :w_id AND d_id = :d_id;

-- name: new_order.insert_order
INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
VALUES (:o_id, :d_id, :w_id, :c_id, :entry_d, NULL, :ol_cnt, :all_local);

-- name: new_order.insert_new_order
INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (:o_id, :d_id, :w_id);

-- i_price, i_name, i_data; no row for the unused item
-- name: new_order.item
SELECT i_price, i_name, i_data FROM item WHERE i_id = :i_id;

-- s_quantity, s_data, the district's s_dist
-- name: new_order.stock
SELECT s_quantity, s_data,
       CASE :d_id
           WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
           WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
           WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
           ELSE s_dist_10
       END
FROM stock
WHERE s_w_id = :w_id AND s_i_id = :i_id {for_update};

-- name: new_order.update_stock
UPDATE stock
SET s_quantity = :s_quantity,
    s_ytd = s_ytd + :ordered,
    s_order_cnt = s_order_cnt + 1,
    s_remote_cnt = s_remote_cnt + :remote
WHERE s_w_id = :w_id AND s_i_id = :i_id;

-- name: new_order.insert_line
INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
                        ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
VALUES (:o_id, :d_id, :w_id, :number, :i_id, :supply_w_id, NULL, :quantity, :amount, :dist_info);

-- The updates precede the reads, so that they take the locks.
-- name: payment.update_warehouse
UPDATE warehouse SET w_ytd = round(w_ytd + :amount, 2) WHERE w_id = :w_id;

-- w_name and the address
-- name: payment.warehouse
SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = :w_id;

-- name: payment.update_district
UPDATE district SET d_ytd = round(d_ytd + :amount, 2) WHERE d_w_id = :w_id AND d_id = :d_id;

-- d_name and the address
-- name: payment.district
SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip
FROM district
WHERE d_w_id = :w_id AND d_id = :d_id;

-- The customer before the payment; c_data only if needed.
-- name: payment.customer
SELECT c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
       c_since, c_credit, c_credit_lim, c_discount, c_balance,
       CASE WHEN c_credit = 'BC' THEN c_data ELSE '' END
FROM customer
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id {for_update};

-- name: payment.update_customer
UPDATE customer
SET c_balance = round(c_balance - :amount, 2),
    c_ytd_payment = round(c_ytd_payment + :amount, 2),
    c_payment_cnt = c_payment_cnt + 1
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;

-- name: payment.update_customer_data
UPDATE customer
SET c_balance = round(c_balance - :amount, 2),
    c_ytd_payment = round(c_ytd_payment + :amount, 2),
    c_payment_cnt = c_payment_cnt + 1,
    c_data = :data
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;

-- name: payment.insert_history
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
VALUES (:c_id, :c_d_id, :c_w_id, :d_id, :w_id, :h_date, :amount, :data);

-- c_first, c_middle, c_last, c_balance
-- name: order_status.customer
SELECT c_first, c_middle, c_last, c_balance
FROM customer
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;

-- o_id, o_entry_d, o_carrier_id of the newest order
-- name: order_status.order
SELECT o_id, o_entry_d, o_carrier_id
FROM orders
WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_c_id = :c_id
ORDER BY o_id DESC
{limit}1{of_limit};

-- name: order_status.lines
SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
FROM order_line
WHERE ol_w_id = :w_id AND ol_d_id = :d_id AND ol_o_id = :o_id
ORDER BY ol_number;

-- Locked by its order, not by a min() sub-select: when another Delivery has just taken the oldest,
-- that would find nothing where there are many.
-- name: delivery.oldest
SELECT no_o_id
FROM new_order
WHERE no_w_id = :w_id AND no_d_id = :d_id
ORDER BY no_o_id
{limit}1{of_limit} {for_update};

-- name: delivery.delete_new_order
DELETE FROM new_order WHERE no_w_id = :w_id AND no_d_id = :d_id AND no_o_id = :o_id;

-- o_c_id
-- name: delivery.order
SELECT o_c_id FROM orders WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = :o_id;

-- name: delivery.update_order
UPDATE orders SET o_carrier_id = :carrier_id WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = :o_id;

-- name: delivery.update_lines
UPDATE order_line SET ol_delivery_d = :delivery_d
WHERE ol_w_id = :w_id AND ol_d_id = :d_id AND ol_o_id = :o_id;

-- name: delivery.amount
SELECT round(sum(ol_amount), 2)
FROM order_line
WHERE ol_w_id = :w_id AND ol_d_id = :d_id AND ol_o_id = :o_id;

-- name: delivery.update_customer
UPDATE customer
SET c_balance = round(c_balance + :amount, 2),
    c_delivery_cnt = c_delivery_cnt + 1
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;

-- d_next_o_id
-- name: stock_level.district
SELECT d_next_o_id FROM district WHERE d_w_id = :w_id AND d_id = :d_id;

-- name: stock_level.count
SELECT count(DISTINCT s_i_id)
FROM order_line, stock
WHERE ol_w_id = :w_id AND ol_d_id = :d_id AND ol_o_id >= :first_o_id AND ol_o_id < :next_o_id
  AND s_w_id = :w_id AND s_i_id = ol_i_id AND s_quantity < :threshold;

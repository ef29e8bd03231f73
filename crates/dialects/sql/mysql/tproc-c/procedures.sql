-- The five transactions as procedures: one CALL, one round trip, one row. The first column is a status,
-- 0 for success. Inputs, including the time, come from the client; lists are passed as JSON both ways.
-- A result is sent as soon as its SELECT ends. So results are kept in variables and selected after
-- COMMIT: a client that received them before would wake up twice per transaction.
-- The order of locks is described at the head of tproc_c/mod.rs. At REPEATABLE READ range
-- scans lock the gaps before their rows too; nothing here scans a range that others insert into while
-- they hold the next lock that this one needs.
-- An error leaves the transaction open, for the client to roll back.

-- All lines are processed as a set. The join goes straight from the sorted list to stock, so that the row
-- locks are taken in the order that prevents deadlocks between New-Orders; the LIMIT
-- keeps the sort from being optimized away. One list is a table and the others are indexed,
-- because joining three costs MySQL ten times as much.
-- The unused item has no row in item, so one line is missing at the end: the order is then rolled
-- back, after all its other work.
-- name: procedure.new_order
DROP PROCEDURE IF EXISTS triphammer_new_order;
CREATE PROCEDURE triphammer_new_order(
    in_w_id integer, in_d_id integer, in_c_id integer, in_entry_d {timestamp},
    in_i_id json, in_supply_w_id json, in_quantity json
)
SQL SECURITY INVOKER
BEGIN
    DECLARE the_ol_cnt integer DEFAULT JSON_LENGTH(in_i_id);
    DECLARE the_lines integer;
    DECLARE the_sum decimal(12, 2);
    DECLARE out_o_id integer;
    DECLARE out_w_tax, out_d_tax, out_c_discount decimal(4, 4);
    DECLARE out_c_last, out_c_credit varchar(16) {byte_order};
    DECLARE out_i_name, out_s_quantity, out_i_price, out_ol_amount, out_brand_generic text {byte_order};
    START TRANSACTION;
    UPDATE district SET d_next_o_id = LAST_INSERT_ID(d_next_o_id) + 1
    WHERE d_w_id = in_w_id AND d_id = in_d_id;
    SET out_o_id = LAST_INSERT_ID();

    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (out_o_id, in_d_id, in_w_id, in_c_id, in_entry_d, NULL, the_ol_cnt,
            CAST(in_supply_w_id AS char) REGEXP concat('^.', in_w_id, '(, *', in_w_id, ')*.$'));
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (out_o_id, in_d_id, in_w_id);

    UPDATE (
        SELECT i_id,
               CAST(JSON_EXTRACT(in_supply_w_id, concat('$[', number - 1, ']')) AS signed) AS w_id,
               CAST(JSON_EXTRACT(in_quantity, concat('$[', number - 1, ']')) AS signed) AS quantity
        FROM JSON_TABLE(in_i_id, '$[*]' COLUMNS (number FOR ORDINALITY, i_id integer PATH '$')) listed
        ORDER BY w_id, i_id
        LIMIT 15
    ) line
    STRAIGHT_JOIN stock ON s_w_id = w_id AND s_i_id = i_id
    SET s_quantity = s_quantity - quantity
            + CASE WHEN s_quantity >= quantity + 10 THEN 0 ELSE 91 END,
        s_ytd = s_ytd + quantity,
        s_order_cnt = s_order_cnt + 1,
        s_remote_cnt = s_remote_cnt + (w_id <> in_w_id);

    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
                            ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
    SELECT out_o_id, in_d_id, in_w_id, number, s_i_id, s_w_id, NULL, quantity, quantity * i_price,
           CASE in_d_id
               WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
               WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
               WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
               ELSE s_dist_10
           END
    FROM (
        SELECT number, i_id AS line_i_id,
               CAST(JSON_EXTRACT(in_supply_w_id, concat('$[', number - 1, ']')) AS signed) AS w_id,
               CAST(JSON_EXTRACT(in_quantity, concat('$[', number - 1, ']')) AS signed) AS quantity
        FROM JSON_TABLE(in_i_id, '$[*]' COLUMNS (number FOR ORDINALITY, i_id integer PATH '$')) listed
        LIMIT 15
    ) line
    STRAIGHT_JOIN item ON i_id = line_i_id
    STRAIGHT_JOIN stock ON s_w_id = w_id AND s_i_id = line_i_id;

    SET the_lines = ROW_COUNT();
    SELECT w_tax, d_tax, c_last, c_credit, c_discount
    INTO out_w_tax, out_d_tax, out_c_last, out_c_credit, out_c_discount
    FROM warehouse, district, customer
    WHERE w_id = in_w_id AND d_w_id = in_w_id AND d_id = in_d_id
      AND c_w_id = in_w_id AND c_d_id = in_d_id AND c_id = in_c_id;
    IF the_lines = the_ol_cnt THEN
        SELECT sum(ol_amount),
               concat('[', group_concat(JSON_QUOTE(i_name) ORDER BY ol_number), ']'),
               concat('[', group_concat(s_quantity ORDER BY ol_number), ']'),
               concat('[', group_concat(i_price ORDER BY ol_number), ']'),
               concat('[', group_concat(ol_amount ORDER BY ol_number), ']'),
               concat('[', group_concat(
                   CASE WHEN instr(i_data, 'ORIGINAL') > 0 AND instr(s_data, 'ORIGINAL') > 0
                       THEN '"B"' ELSE '"G"' END
                   ORDER BY ol_number), ']')
        INTO the_sum, out_i_name, out_s_quantity, out_i_price, out_ol_amount, out_brand_generic
        FROM order_line
        STRAIGHT_JOIN item ON i_id = ol_i_id
        STRAIGHT_JOIN stock ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id
        WHERE ol_w_id = in_w_id AND ol_d_id = in_d_id AND ol_o_id = out_o_id;
        COMMIT;
    ELSE
        ROLLBACK;
    END IF;
    SELECT the_lines <> the_ol_cnt, out_o_id, out_w_tax, out_d_tax, out_c_last, out_c_credit, out_c_discount,
           round(the_sum * (1 - out_c_discount) * (1 + out_w_tax + out_d_tax), 2),
           out_i_name, out_s_quantity, out_i_price, out_ol_amount, out_brand_generic;
END;

-- name: procedure.payment
DROP PROCEDURE IF EXISTS triphammer_payment;
CREATE PROCEDURE triphammer_payment(
    in_w_id integer, in_d_id integer, in_c_w_id integer, in_c_d_id integer,
    in_c_id integer, in_c_last varchar(16) {byte_order}, in_amount decimal(6, 2), in_h_date {timestamp}
)
SQL SECURITY INVOKER
BEGIN
    DECLARE the_place integer;
    DECLARE the_w_name, the_d_name varchar(10) {byte_order};
    DECLARE out_w_street_1, out_w_street_2, out_w_city, out_d_street_1, out_d_street_2, out_d_city,
        out_c_street_1, out_c_street_2, out_c_city varchar(20) {byte_order};
    DECLARE out_w_state, out_w_zip, out_d_state, out_d_zip, out_c_state, out_c_zip varchar(9) {byte_order};
    DECLARE out_c_id integer DEFAULT in_c_id;
    DECLARE out_c_first, out_c_middle, out_c_last, out_c_phone, out_c_credit varchar(16) {byte_order};
    DECLARE out_c_since {timestamp};
    DECLARE out_c_credit_lim, out_c_balance decimal(14, 2);
    DECLARE out_c_discount decimal(4, 4);
    DECLARE out_c_data varchar(200) {byte_order};
    START TRANSACTION;
    UPDATE warehouse SET w_ytd = w_ytd + in_amount WHERE w_id = in_w_id;
    UPDATE district SET d_ytd = d_ytd + in_amount WHERE d_w_id = in_w_id AND d_id = in_d_id;

    IF in_c_last IS NOT NULL THEN
        SELECT (count(*) + 1) DIV 2 - 1 INTO the_place
        FROM customer
        WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_last = in_c_last;
        SELECT c_id INTO out_c_id
        FROM customer
        WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_last = in_c_last
        ORDER BY c_first, c_id
        LIMIT the_place, 1;
    END IF;

    UPDATE customer
    SET c_balance = c_balance - in_amount,
        c_ytd_payment = c_ytd_payment + in_amount,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC'
            THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, in_d_id, in_w_id, in_amount, c_data), 500)
            ELSE c_data END
    WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_id = out_c_id;

    SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip,
           d_name, d_street_1, d_street_2, d_city, d_state, d_zip,
           c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
           c_since, c_credit, c_credit_lim, c_discount, c_balance,
           CASE WHEN c_credit = 'BC' THEN left(c_data, 200) ELSE '' END
    INTO the_w_name, out_w_street_1, out_w_street_2, out_w_city, out_w_state, out_w_zip,
         the_d_name, out_d_street_1, out_d_street_2, out_d_city, out_d_state, out_d_zip,
         out_c_first, out_c_middle, out_c_last, out_c_street_1, out_c_street_2, out_c_city,
         out_c_state, out_c_zip, out_c_phone, out_c_since, out_c_credit, out_c_credit_lim,
         out_c_discount, out_c_balance, out_c_data
    FROM warehouse, district, customer
    WHERE w_id = in_w_id AND d_w_id = in_w_id AND d_id = in_d_id
      AND c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_id = out_c_id;

    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (out_c_id, in_c_d_id, in_c_w_id, in_d_id, in_w_id, in_h_date, in_amount,
            concat(the_w_name, '    ', the_d_name));
    COMMIT;
    SELECT 0, out_w_street_1, out_w_street_2, out_w_city, out_w_state, out_w_zip,
           out_d_street_1, out_d_street_2, out_d_city, out_d_state, out_d_zip,
           out_c_id, out_c_first, out_c_middle, out_c_last, out_c_street_1, out_c_street_2, out_c_city,
           out_c_state, out_c_zip, out_c_phone, out_c_since, out_c_credit, out_c_credit_lim,
           out_c_discount, out_c_balance, out_c_data;
END;

-- Order and lines are of one query, so that they are of one instant at any isolation level.
-- name: procedure.order_status
DROP PROCEDURE IF EXISTS triphammer_order_status;
CREATE PROCEDURE triphammer_order_status(
    in_w_id integer, in_d_id integer, in_c_id integer, in_c_last varchar(16) {byte_order}
)
SQL SECURITY INVOKER
BEGIN
    DECLARE the_place integer;
    DECLARE out_c_id integer DEFAULT in_c_id;
    DECLARE out_c_first, out_c_middle, out_c_last varchar(16) {byte_order};
    DECLARE out_c_balance decimal(14, 2);
    DECLARE out_o_id, out_o_carrier_id integer;
    DECLARE out_o_entry_d {timestamp};
    DECLARE out_i_id, out_supply_w_id, out_quantity, out_amount, out_delivery_d text {byte_order};
    START TRANSACTION READ ONLY;
    IF in_c_last IS NOT NULL THEN
        SELECT (count(*) + 1) DIV 2 - 1 INTO the_place
        FROM customer
        WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_last = in_c_last;
        SELECT c_id INTO out_c_id
        FROM customer
        WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_last = in_c_last
        ORDER BY c_first, c_id
        LIMIT the_place, 1;
    END IF;
    SELECT c_first, c_middle, c_last, c_balance, o_id, o_entry_d, o_carrier_id,
           concat('[', group_concat(ol_i_id ORDER BY ol_number), ']'),
           concat('[', group_concat(ol_supply_w_id ORDER BY ol_number), ']'),
           concat('[', group_concat(ol_quantity ORDER BY ol_number), ']'),
           concat('[', group_concat(ol_amount ORDER BY ol_number), ']'),
           concat('[', group_concat(coalesce(concat('"', ol_delivery_d, '"'), 'null') ORDER BY ol_number), ']')
    INTO out_c_first, out_c_middle, out_c_last, out_c_balance, out_o_id, out_o_entry_d, out_o_carrier_id,
         out_i_id, out_supply_w_id, out_quantity, out_amount, out_delivery_d
    FROM customer, orders, order_line
    WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_id = out_c_id
      AND o_w_id = in_w_id AND o_d_id = in_d_id
      AND o_id = (
          SELECT max(o_id) FROM orders
          WHERE o_w_id = in_w_id AND o_d_id = in_d_id AND o_c_id = out_c_id)
      AND ol_w_id = in_w_id AND ol_d_id = in_d_id AND ol_o_id = o_id
    GROUP BY c_id, o_id;
    COMMIT;
    SELECT 0, out_c_id, out_c_first, out_c_middle, out_c_last, out_c_balance, out_o_id, out_o_entry_d,
           out_o_carrier_id, out_i_id, out_supply_w_id, out_quantity, out_amount, out_delivery_d;
END;

-- The oldest new order of each district, in the order of the districts, is locked first; a district
-- that has none stays null. Then each table is one statement over what was locked.
-- name: procedure.delivery
DROP PROCEDURE IF EXISTS triphammer_delivery;
CREATE PROCEDURE triphammer_delivery(
    in_w_id integer, in_carrier_id integer, in_delivery_d {timestamp}
)
SQL SECURITY INVOKER
BEGIN
    DECLARE the_d_id integer DEFAULT 1;
    DECLARE the_o_id integer;
    DECLARE the_orders json DEFAULT JSON_ARRAY();
    START TRANSACTION;
    WHILE the_d_id <= 10 DO
        SET the_o_id = (
            SELECT no_o_id FROM new_order
            WHERE no_w_id = in_w_id AND no_d_id = the_d_id
            ORDER BY no_o_id
            LIMIT 1 FOR UPDATE);
        SET the_orders = JSON_ARRAY_APPEND(the_orders, '$', the_o_id), the_d_id = the_d_id + 1;
    END WHILE;

    DELETE new_order
    FROM JSON_TABLE(the_orders, '$[*]' COLUMNS (d_id FOR ORDINALITY, oldest integer PATH '$')) taken
    STRAIGHT_JOIN new_order ON no_w_id = in_w_id AND no_d_id = d_id AND no_o_id = oldest;

    UPDATE JSON_TABLE(the_orders, '$[*]' COLUMNS (d_id FOR ORDINALITY, oldest integer PATH '$')) taken
    STRAIGHT_JOIN orders ON o_w_id = in_w_id AND o_d_id = d_id AND o_id = oldest
    SET o_carrier_id = in_carrier_id;

    UPDATE JSON_TABLE(the_orders, '$[*]' COLUMNS (d_id FOR ORDINALITY, oldest integer PATH '$')) taken
    STRAIGHT_JOIN order_line ON ol_w_id = in_w_id AND ol_d_id = d_id AND ol_o_id = oldest
    SET ol_delivery_d = in_delivery_d;

    UPDATE (
        SELECT o_d_id, o_c_id, sum(ol_amount) AS amount
        FROM JSON_TABLE(the_orders, '$[*]' COLUMNS (d_id FOR ORDINALITY, oldest integer PATH '$')) taken
        STRAIGHT_JOIN orders ON o_w_id = in_w_id AND o_d_id = d_id AND o_id = oldest
        STRAIGHT_JOIN order_line ON ol_w_id = in_w_id AND ol_d_id = d_id AND ol_o_id = oldest
        GROUP BY o_d_id, o_c_id
    ) owed
    STRAIGHT_JOIN customer ON c_w_id = in_w_id AND c_d_id = o_d_id AND c_id = o_c_id
    SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1;
    COMMIT;
    SELECT 0, the_orders;
END;

-- name: procedure.stock_level
DROP PROCEDURE IF EXISTS triphammer_stock_level;
CREATE PROCEDURE triphammer_stock_level(in_w_id integer, in_d_id integer, in_threshold integer)
SQL SECURITY INVOKER
BEGIN
    DECLARE the_next_o_id, out_low_stock integer;
    START TRANSACTION READ ONLY;
    SELECT d_next_o_id INTO the_next_o_id FROM district WHERE d_w_id = in_w_id AND d_id = in_d_id;
    SELECT count(DISTINCT s_i_id) INTO out_low_stock
    FROM order_line STRAIGHT_JOIN stock ON s_w_id = in_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = in_w_id AND ol_d_id = in_d_id
      AND ol_o_id >= the_next_o_id - 20 AND ol_o_id < the_next_o_id
      AND s_quantity < in_threshold;
    COMMIT;
    SELECT 0, out_low_stock;
END;

-- name: drop_procedure.all
DROP PROCEDURE IF EXISTS triphammer_new_order;
DROP PROCEDURE IF EXISTS triphammer_payment;
DROP PROCEDURE IF EXISTS triphammer_order_status;
DROP PROCEDURE IF EXISTS triphammer_delivery;
DROP PROCEDURE IF EXISTS triphammer_stock_level;

-- name: new_order.call
CALL triphammer_new_order(:w_id, :d_id, :c_id, :entry_d, :i_id, :supply_w_id, :quantity);

-- name: payment.call
CALL triphammer_payment(:w_id, :d_id, :c_w_id, :c_d_id, :c_id, :c_last, :amount, :h_date);

-- name: order_status.call
CALL triphammer_order_status(:w_id, :d_id, :c_id, :c_last);

-- name: delivery.call
CALL triphammer_delivery(:w_id, :carrier_id, :delivery_d);

-- name: stock_level.call
CALL triphammer_stock_level(:w_id, :d_id, :threshold);

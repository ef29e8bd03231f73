-- Not run against Db2.
-- The five transactions as procedures of SQL PL: one call, one round trip, one row, which comes by a cursor that the
-- commit leaves open. The first column is a status, 0 for success. Inputs, including the time, come from the client;
-- lists are passed as JSON both ways.
-- The order of locks is described at the head of tproc_c/mod.rs.
-- Errors are not swallowed: the client rolls back.

-- The n-th number of a list.
-- name: procedure.nth
CREATE OR REPLACE FUNCTION triphammer_nth(in_list varchar(4000), in_place integer)
RETURNS integer
LANGUAGE SQL DETERMINISTIC NO EXTERNAL ACTION
BEGIN
    RETURN CAST(regexp_substr(in_list, '[0-9]+', 1, in_place) AS integer);
END

-- The lines are processed in the order of their locks. The unused item has no row in item: the order is then rolled
-- back, after the work up to there.
-- name: procedure.new_order
CREATE OR REPLACE PROCEDURE triphammer_new_order(
    IN in_w_id integer, IN in_d_id integer, IN in_c_id integer, IN in_entry_d timestamp,
    IN in_i_id varchar(4000), IN in_supply_w_id varchar(4000), IN in_quantity varchar(4000)
)
LANGUAGE SQL
DYNAMIC RESULT SETS 1
BEGIN
    DECLARE the_ol_cnt integer;
    DECLARE the_place integer DEFAULT 1;
    DECLARE the_missing integer DEFAULT 0;
    DECLARE the_all_local integer DEFAULT 1;
    DECLARE the_lines integer;
    DECLARE the_o_id integer;
    DECLARE the_w_tax decimal(4, 4);
    DECLARE the_d_tax decimal(4, 4);
    DECLARE the_c_discount decimal(4, 4);
    DECLARE the_c_last varchar(16);
    DECLARE the_c_credit char(2);
    DECLARE the_sum decimal(12, 2);
    DECLARE the_names varchar(4000);
    DECLARE the_quantities varchar(4000);
    DECLARE the_prices varchar(4000);
    DECLARE the_amounts varchar(4000);
    DECLARE the_brands varchar(4000);
    DECLARE answer CURSOR WITH HOLD WITH RETURN TO CLIENT FOR
        SELECT the_missing, the_o_id, the_w_tax, the_d_tax, the_c_last, the_c_credit, the_c_discount,
               CAST(round(the_sum * (1 - the_c_discount) * (1 + the_w_tax + the_d_tax), 2) AS decimal(14, 2)),
               '[' || the_names || ']', '[' || the_quantities || ']', '[' || the_prices || ']',
               '[' || the_amounts || ']', '[' || the_brands || ']'
        FROM sysibm.sysdummy1;

    SET the_ol_cnt = regexp_count(in_i_id, '[0-9]+');
    WHILE the_place <= the_ol_cnt DO
        IF triphammer_nth(in_supply_w_id, the_place) <> in_w_id THEN
            SET the_all_local = 0;
        END IF;
        SET the_place = the_place + 1;
    END WHILE;
    SELECT w_tax, c_discount, c_last, c_credit INTO the_w_tax, the_c_discount, the_c_last, the_c_credit
    FROM warehouse, customer
    WHERE w_id = in_w_id AND c_w_id = in_w_id AND c_d_id = in_d_id AND c_id = in_c_id;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = in_w_id AND d_id = in_d_id;
    SELECT d_next_o_id - 1, d_tax INTO the_o_id, the_d_tax
    FROM district
    WHERE d_w_id = in_w_id AND d_id = in_d_id;
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (the_o_id, in_d_id, in_w_id, in_c_id, in_entry_d, NULL, the_ol_cnt, the_all_local);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (the_o_id, in_d_id, in_w_id);
    FOR line AS
        WITH numbers (nth) AS (
            SELECT 1 FROM sysibm.sysdummy1
            UNION ALL
            SELECT nth + 1 FROM numbers WHERE nth < the_ol_cnt
        )
        SELECT nth, triphammer_nth(in_i_id, nth) AS line_i_id, triphammer_nth(in_supply_w_id, nth) AS line_w_id,
               triphammer_nth(in_quantity, nth) AS quantity
        FROM numbers
        ORDER BY 3, 2
    DO
        UPDATE stock
        SET s_quantity = s_quantity - quantity + CASE WHEN s_quantity >= quantity + 10 THEN 0 ELSE 91 END,
            s_ytd = s_ytd + quantity,
            s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + CASE WHEN line_w_id = in_w_id THEN 0 ELSE 1 END
        WHERE s_w_id = line_w_id AND s_i_id = line_i_id;
        INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
                                ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
        SELECT the_o_id, in_d_id, in_w_id, nth, line_i_id, line_w_id, NULL, quantity, quantity * i_price,
               CASE in_d_id
                   WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                   WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
                   WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
                   ELSE s_dist_10
               END
        FROM item, stock
        WHERE i_id = line_i_id AND s_w_id = line_w_id AND s_i_id = line_i_id;
        GET DIAGNOSTICS the_lines = ROW_COUNT;
        IF the_lines = 0 THEN
            SET the_missing = 1;
        END IF;
    END FOR;
    IF the_missing = 1 THEN
        ROLLBACK;
    ELSE
        SELECT sum(ol_amount),
               listagg('"' || replace(replace(i_name, '\', '\\'), '"', '\"') || '"', ',')
                   WITHIN GROUP (ORDER BY ol_number),
               listagg(CAST(s_quantity AS varchar(11)), ',') WITHIN GROUP (ORDER BY ol_number),
               listagg(CAST(i_price AS varchar(11)), ',') WITHIN GROUP (ORDER BY ol_number),
               listagg(CAST(ol_amount AS varchar(11)), ',') WITHIN GROUP (ORDER BY ol_number),
               listagg(CASE WHEN locate('ORIGINAL', i_data) > 0 AND locate('ORIGINAL', s_data) > 0
                   THEN '"B"' ELSE '"G"' END, ',') WITHIN GROUP (ORDER BY ol_number)
        INTO the_sum, the_names, the_quantities, the_prices, the_amounts, the_brands
        FROM order_line, item, stock
        WHERE ol_w_id = in_w_id AND ol_d_id = in_d_id AND ol_o_id = the_o_id
          AND i_id = ol_i_id AND s_w_id = ol_supply_w_id AND s_i_id = ol_i_id;
        COMMIT;
    END IF;
    OPEN answer;
END

-- name: procedure.payment
CREATE OR REPLACE PROCEDURE triphammer_payment(
    IN in_w_id integer, IN in_d_id integer, IN in_c_w_id integer, IN in_c_d_id integer, IN in_c_id integer,
    IN in_c_last varchar(16), IN in_amount decimal(6, 2), IN in_h_date timestamp
)
LANGUAGE SQL
DYNAMIC RESULT SETS 1
BEGIN
    DECLARE the_c_id integer;
    DECLARE answer CURSOR WITH HOLD WITH RETURN TO CLIENT FOR
        SELECT 0, w_street_1, w_street_2, w_city, w_state, w_zip,
               d_street_1, d_street_2, d_city, d_state, d_zip,
               c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
               c_since, c_credit, c_credit_lim, c_discount, c_balance,
               CASE WHEN c_credit = 'BC' THEN substr(c_data, 1, least(length(c_data), 200)) ELSE '' END
        FROM warehouse, district, customer
        WHERE w_id = in_w_id AND d_w_id = in_w_id AND d_id = in_d_id
          AND c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_id = the_c_id;

    SET the_c_id = in_c_id;
    UPDATE warehouse SET w_ytd = w_ytd + in_amount WHERE w_id = in_w_id;
    UPDATE district SET d_ytd = d_ytd + in_amount WHERE d_w_id = in_w_id AND d_id = in_d_id;
    IF in_c_last IS NOT NULL THEN
        SELECT c_id INTO the_c_id
        FROM (
            SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS customers
            FROM customer
            WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_last = in_c_last
        ) named
        WHERE place = (customers + 1) / 2;
    END IF;
    UPDATE customer
    SET c_balance = c_balance - in_amount,
        c_ytd_payment = c_ytd_payment + in_amount,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC'
            THEN left(CAST(c_id AS varchar(11)) || ' ' || CAST(c_d_id AS varchar(11)) || ' '
                || CAST(c_w_id AS varchar(11)) || ' ' || CAST(in_d_id AS varchar(11)) || ' '
                || CAST(in_w_id AS varchar(11)) || ' ' || CAST(in_amount AS varchar(11)) || ' ' || c_data, 500)
            ELSE c_data END
    WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_id = the_c_id;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    SELECT the_c_id, in_c_d_id, in_c_w_id, in_d_id, in_w_id, in_h_date, in_amount, w_name || '    ' || d_name
    FROM warehouse, district
    WHERE w_id = in_w_id AND d_w_id = in_w_id AND d_id = in_d_id;
    OPEN answer;
    COMMIT;
END

-- Order and lines are of one query, so that they are of one instant where readers do not lock.
-- name: procedure.order_status
CREATE OR REPLACE PROCEDURE triphammer_order_status(
    IN in_w_id integer, IN in_d_id integer, IN in_c_id integer, IN in_c_last varchar(16)
)
LANGUAGE SQL
DYNAMIC RESULT SETS 1
BEGIN
    DECLARE the_c_id integer;
    DECLARE answer CURSOR WITH HOLD WITH RETURN TO CLIENT FOR
        SELECT 0, c_id, c_first, c_middle, c_last, c_balance, o_id, o_entry_d, o_carrier_id,
               '[' || listagg(CAST(ol_i_id AS varchar(11)), ',') WITHIN GROUP (ORDER BY ol_number) || ']',
               '[' || listagg(CAST(ol_supply_w_id AS varchar(11)), ',') WITHIN GROUP (ORDER BY ol_number) || ']',
               '[' || listagg(CAST(ol_quantity AS varchar(11)), ',') WITHIN GROUP (ORDER BY ol_number) || ']',
               '[' || listagg(CAST(ol_amount AS varchar(11)), ',') WITHIN GROUP (ORDER BY ol_number) || ']',
               '[' || listagg(coalesce('"' || to_char(ol_delivery_d, 'YYYY-MM-DD HH24:MI:SS') || '"', 'null'), ',')
                   WITHIN GROUP (ORDER BY ol_number) || ']'
        FROM customer, orders, order_line
        WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_id = the_c_id
          AND o_w_id = in_w_id AND o_d_id = in_d_id
          AND o_id = (
              SELECT max(o_id) FROM orders
              WHERE o_w_id = in_w_id AND o_d_id = in_d_id AND o_c_id = the_c_id
          )
          AND ol_w_id = in_w_id AND ol_d_id = in_d_id AND ol_o_id = o_id
        GROUP BY c_id, c_first, c_middle, c_last, c_balance, o_id, o_entry_d, o_carrier_id;

    SET the_c_id = in_c_id;
    IF in_c_last IS NOT NULL THEN
        SELECT c_id INTO the_c_id
        FROM (
            SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS customers
            FROM customer
            WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_last = in_c_last
        ) named
        WHERE place = (customers + 1) / 2;
    END IF;
    OPEN answer;
END

-- The oldest new order of each district, in the order of the districts, is locked first; a district that has none
-- stays null. Another Delivery may take it between the two statements: then there is a next one.
-- name: procedure.delivery
CREATE OR REPLACE PROCEDURE triphammer_delivery(
    IN in_w_id integer, IN in_carrier_id integer, IN in_delivery_d timestamp
)
LANGUAGE SQL
DYNAMIC RESULT SETS 1
BEGIN
    DECLARE the_d_id integer DEFAULT 1;
    DECLARE the_o_id integer;
    DECLARE the_c_id integer;
    DECLARE the_deleted integer;
    DECLARE the_amount decimal(12, 2);
    DECLARE the_orders varchar(4000) DEFAULT '';
    DECLARE answer CURSOR WITH HOLD WITH RETURN TO CLIENT FOR
        SELECT 0, '[' || the_orders || ']' FROM sysibm.sysdummy1;

    WHILE the_d_id <= 10 DO
        SET the_deleted = 0;
        REPEAT
            SELECT min(no_o_id) INTO the_o_id FROM new_order WHERE no_w_id = in_w_id AND no_d_id = the_d_id;
            IF the_o_id IS NOT NULL THEN
                DELETE FROM new_order WHERE no_w_id = in_w_id AND no_d_id = the_d_id AND no_o_id = the_o_id;
                GET DIAGNOSTICS the_deleted = ROW_COUNT;
            END IF;
        UNTIL the_o_id IS NULL OR the_deleted = 1
        END REPEAT;
        SET the_orders = the_orders || CASE WHEN the_d_id > 1 THEN ',' ELSE '' END
            || coalesce(CAST(the_o_id AS varchar(11)), 'null');
        SET the_d_id = the_d_id + 1;
    END WHILE;
    SET the_d_id = 1;
    WHILE the_d_id <= 10 DO
        SET the_o_id = CAST(nullif(regexp_substr(the_orders, '[0-9]+|null', 1, the_d_id), 'null') AS integer);
        IF the_o_id IS NOT NULL THEN
            UPDATE orders SET o_carrier_id = in_carrier_id
            WHERE o_w_id = in_w_id AND o_d_id = the_d_id AND o_id = the_o_id;
            SELECT o_c_id INTO the_c_id FROM orders WHERE o_w_id = in_w_id AND o_d_id = the_d_id AND o_id = the_o_id;
            UPDATE order_line SET ol_delivery_d = in_delivery_d
            WHERE ol_w_id = in_w_id AND ol_d_id = the_d_id AND ol_o_id = the_o_id;
            SELECT sum(ol_amount) INTO the_amount
            FROM order_line
            WHERE ol_w_id = in_w_id AND ol_d_id = the_d_id AND ol_o_id = the_o_id;
            UPDATE customer
            SET c_balance = c_balance + the_amount, c_delivery_cnt = c_delivery_cnt + 1
            WHERE c_w_id = in_w_id AND c_d_id = the_d_id AND c_id = the_c_id;
        END IF;
        SET the_d_id = the_d_id + 1;
    END WHILE;
    COMMIT;
    OPEN answer;
END

-- name: procedure.stock_level
CREATE OR REPLACE PROCEDURE triphammer_stock_level(
    IN in_w_id integer, IN in_d_id integer, IN in_threshold integer
)
LANGUAGE SQL
DYNAMIC RESULT SETS 1
BEGIN
    DECLARE the_next_o_id integer;
    DECLARE answer CURSOR WITH HOLD WITH RETURN TO CLIENT FOR
        SELECT 0, count(DISTINCT s_i_id)
        FROM order_line, stock
        WHERE ol_w_id = in_w_id AND ol_d_id = in_d_id
          AND ol_o_id >= the_next_o_id - 20 AND ol_o_id < the_next_o_id
          AND s_w_id = in_w_id AND s_i_id = ol_i_id AND s_quantity < in_threshold;

    SELECT d_next_o_id INTO the_next_o_id FROM district WHERE d_w_id = in_w_id AND d_id = in_d_id;
    OPEN answer;
END

-- name: drop_procedure.all
BEGIN
    DECLARE CONTINUE HANDLER FOR SQLSTATE '42704' BEGIN END;
    EXECUTE IMMEDIATE 'DROP PROCEDURE triphammer_new_order';
    EXECUTE IMMEDIATE 'DROP PROCEDURE triphammer_payment';
    EXECUTE IMMEDIATE 'DROP PROCEDURE triphammer_order_status';
    EXECUTE IMMEDIATE 'DROP PROCEDURE triphammer_delivery';
    EXECUTE IMMEDIATE 'DROP PROCEDURE triphammer_stock_level';
    EXECUTE IMMEDIATE 'DROP FUNCTION triphammer_nth';
END

-- name: new_order.call
{call triphammer_new_order(:w_id, :d_id, :c_id, :entry_d, :i_id, :supply_w_id, :quantity)}

-- name: payment.call
{call triphammer_payment(:w_id, :d_id, :c_w_id, :c_d_id, :c_id, :c_last, :amount, :h_date)}

-- name: order_status.call
{call triphammer_order_status(:w_id, :d_id, :c_id, :c_last)}

-- name: delivery.call
{call triphammer_delivery(:w_id, :carrier_id, :delivery_d)}

-- name: stock_level.call
{call triphammer_stock_level(:w_id, :d_id, :threshold)}

-- Not run against Oracle.
-- The five transactions as a package: one call, one round trip, one row. The first column is a status, 0 for success.
-- Inputs, including the time, come from the client; lists are passed as JSON both ways. The row comes by a reference
-- cursor, which the driver returns as a result; it is the last parameter, and calls leave it out.
-- The order of locks is described at the head of tproc_c/mod.rs.
-- Errors are not swallowed: the database undoes what the failed call has done.

-- The lines are processed in the order of their locks. The unused item has no row in item: the order is then rolled
-- back, after the work up to there. A district that has no new order stays null in a Delivery.
-- name: procedure.all
CREATE OR REPLACE PACKAGE triphammer AUTHID CURRENT_USER AS
    PROCEDURE new_order(
        in_w_id IN number, in_d_id IN number, in_c_id IN number, in_entry_d IN timestamp,
        in_i_id IN varchar2, in_supply_w_id IN varchar2, in_quantity IN varchar2, answer OUT sys_refcursor
    );
    PROCEDURE payment(
        in_w_id IN number, in_d_id IN number, in_c_w_id IN number, in_c_d_id IN number, in_c_id IN number,
        in_c_last IN varchar2, in_amount IN number, in_h_date IN timestamp, answer OUT sys_refcursor
    );
    PROCEDURE order_status(
        in_w_id IN number, in_d_id IN number, in_c_id IN number, in_c_last IN varchar2, answer OUT sys_refcursor
    );
    PROCEDURE delivery(
        in_w_id IN number, in_carrier_id IN number, in_delivery_d IN timestamp, answer OUT sys_refcursor
    );
    PROCEDURE stock_level(in_w_id IN number, in_d_id IN number, in_threshold IN number, answer OUT sys_refcursor);
END triphammer;
/
CREATE OR REPLACE PACKAGE BODY triphammer AS
    -- The customer in the middle of those of that name, by first name.
    FUNCTION named(in_w_id IN number, in_d_id IN number, in_c_last IN varchar2) RETURN number IS
        the_c_id number;
    BEGIN
        SELECT c_id INTO the_c_id
        FROM (
            SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS customers
            FROM customer
            WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_last = in_c_last
        )
        WHERE place = trunc((customers + 1) / 2);
        RETURN the_c_id;
    END named;

    PROCEDURE new_order(
        in_w_id IN number, in_d_id IN number, in_c_id IN number, in_entry_d IN timestamp,
        in_i_id IN varchar2, in_supply_w_id IN varchar2, in_quantity IN varchar2, answer OUT sys_refcursor
    ) IS
        the_ol_cnt number := regexp_count(in_i_id, '[0-9]+');
        the_missing number := 0;
        the_all_local number := 1;
        the_o_id number;
        the_w_tax number;
        the_d_tax number;
        the_c_discount number;
        the_c_last varchar2(16);
        the_c_credit varchar2(2);
        the_sum number;
        the_names varchar2(4000);
        the_quantities varchar2(4000);
        the_prices varchar2(4000);
        the_amounts varchar2(4000);
        the_brands varchar2(4000);
    BEGIN
        FOR place IN 1 .. the_ol_cnt LOOP
            IF to_number(regexp_substr(in_supply_w_id, '[0-9]+', 1, place)) <> in_w_id THEN
                the_all_local := 0;
            END IF;
        END LOOP;
        SELECT w_tax, c_discount, c_last, c_credit INTO the_w_tax, the_c_discount, the_c_last, the_c_credit
        FROM warehouse, customer
        WHERE w_id = in_w_id AND c_w_id = in_w_id AND c_d_id = in_d_id AND c_id = in_c_id;
        UPDATE district SET d_next_o_id = d_next_o_id + 1
        WHERE d_w_id = in_w_id AND d_id = in_d_id
        RETURNING d_next_o_id - 1, d_tax INTO the_o_id, the_d_tax;
        INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
        VALUES (the_o_id, in_d_id, in_w_id, in_c_id, in_entry_d, NULL, the_ol_cnt, the_all_local);
        INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (the_o_id, in_d_id, in_w_id);
        FOR line IN (
            SELECT level AS nth,
                   to_number(regexp_substr(in_i_id, '[0-9]+', 1, level)) AS i_id,
                   to_number(regexp_substr(in_supply_w_id, '[0-9]+', 1, level)) AS w_id,
                   to_number(regexp_substr(in_quantity, '[0-9]+', 1, level)) AS quantity
            FROM dual
            CONNECT BY level <= the_ol_cnt
            ORDER BY 3, 2
        ) LOOP
            UPDATE stock
            SET s_quantity = s_quantity - line.quantity
                    + CASE WHEN s_quantity >= line.quantity + 10 THEN 0 ELSE 91 END,
                s_ytd = s_ytd + line.quantity,
                s_order_cnt = s_order_cnt + 1,
                s_remote_cnt = s_remote_cnt + CASE WHEN line.w_id = in_w_id THEN 0 ELSE 1 END
            WHERE s_w_id = line.w_id AND s_i_id = line.i_id;
            INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
                                    ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
            SELECT the_o_id, in_d_id, in_w_id, line.nth, line.i_id, line.w_id, NULL, line.quantity,
                   line.quantity * item.i_price,
                   CASE in_d_id
                       WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                       WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
                       WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
                       ELSE s_dist_10
                   END
            FROM item, stock
            WHERE item.i_id = line.i_id AND s_w_id = line.w_id AND s_i_id = line.i_id;
            IF SQL%ROWCOUNT = 0 THEN
                the_missing := 1;
                EXIT;
            END IF;
        END LOOP;
        IF the_missing = 1 THEN
            ROLLBACK;
        ELSE
            SELECT sum(ol_amount),
                   listagg('"' || replace(replace(i_name, '\', '\\'), '"', '\"') || '"', ',')
                       WITHIN GROUP (ORDER BY ol_number),
                   listagg(s_quantity, ',') WITHIN GROUP (ORDER BY ol_number),
                   listagg(to_char(i_price, 'FM99990.00'), ',') WITHIN GROUP (ORDER BY ol_number),
                   listagg(to_char(ol_amount, 'FM99990.00'), ',') WITHIN GROUP (ORDER BY ol_number),
                   listagg(CASE WHEN instr(i_data, 'ORIGINAL') > 0 AND instr(s_data, 'ORIGINAL') > 0
                       THEN '"B"' ELSE '"G"' END, ',') WITHIN GROUP (ORDER BY ol_number)
            INTO the_sum, the_names, the_quantities, the_prices, the_amounts, the_brands
            FROM order_line, item, stock
            WHERE ol_w_id = in_w_id AND ol_d_id = in_d_id AND ol_o_id = the_o_id
              AND i_id = ol_i_id AND s_w_id = ol_supply_w_id AND s_i_id = ol_i_id;
            COMMIT;
        END IF;
        OPEN answer FOR
            SELECT the_missing, the_o_id, the_w_tax, the_d_tax, the_c_last, the_c_credit, the_c_discount,
                   round(the_sum * (1 - the_c_discount) * (1 + the_w_tax + the_d_tax), 2),
                   '[' || the_names || ']', '[' || the_quantities || ']', '[' || the_prices || ']',
                   '[' || the_amounts || ']', '[' || the_brands || ']'
            FROM dual;
    END new_order;

    PROCEDURE payment(
        in_w_id IN number, in_d_id IN number, in_c_w_id IN number, in_c_d_id IN number, in_c_id IN number,
        in_c_last IN varchar2, in_amount IN number, in_h_date IN timestamp, answer OUT sys_refcursor
    ) IS
        the_c_id number := in_c_id;
    BEGIN
        UPDATE warehouse SET w_ytd = w_ytd + in_amount WHERE w_id = in_w_id;
        UPDATE district SET d_ytd = d_ytd + in_amount WHERE d_w_id = in_w_id AND d_id = in_d_id;
        IF in_c_last IS NOT NULL THEN
            the_c_id := named(in_c_w_id, in_c_d_id, in_c_last);
        END IF;
        UPDATE customer
        SET c_balance = c_balance - in_amount,
            c_ytd_payment = c_ytd_payment + in_amount,
            c_payment_cnt = c_payment_cnt + 1,
            c_data = CASE WHEN c_credit = 'BC'
                THEN substr(c_id || ' ' || c_d_id || ' ' || c_w_id || ' ' || in_d_id || ' ' || in_w_id || ' '
                    || to_char(in_amount, 'FM99990.00') || ' ' || c_data, 1, 500)
                ELSE c_data END
        WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_id = the_c_id;
        INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
        SELECT the_c_id, in_c_d_id, in_c_w_id, in_d_id, in_w_id, in_h_date, in_amount,
               w_name || '    ' || d_name
        FROM warehouse, district
        WHERE w_id = in_w_id AND d_w_id = in_w_id AND d_id = in_d_id;
        OPEN answer FOR
            SELECT 0, w_street_1, w_street_2, w_city, w_state, w_zip,
                   d_street_1, d_street_2, d_city, d_state, d_zip,
                   c_id, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
                   c_since, c_credit, c_credit_lim, c_discount, c_balance,
                   CASE WHEN c_credit = 'BC' THEN substr(c_data, 1, 200) ELSE ' ' END
            FROM warehouse, district, customer
            WHERE w_id = in_w_id AND d_w_id = in_w_id AND d_id = in_d_id
              AND c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_id = the_c_id;
        COMMIT;
    END payment;

    -- Order and lines are of one query, so that they are of one instant.
    PROCEDURE order_status(
        in_w_id IN number, in_d_id IN number, in_c_id IN number, in_c_last IN varchar2, answer OUT sys_refcursor
    ) IS
        the_c_id number := in_c_id;
    BEGIN
        IF in_c_last IS NOT NULL THEN
            the_c_id := named(in_w_id, in_d_id, in_c_last);
        END IF;
        OPEN answer FOR
            SELECT 0, min(c_id), min(c_first), min(c_middle), min(c_last), min(c_balance),
                   min(o_id), min(o_entry_d), min(o_carrier_id),
                   '[' || listagg(ol_i_id, ',') WITHIN GROUP (ORDER BY ol_number) || ']',
                   '[' || listagg(ol_supply_w_id, ',') WITHIN GROUP (ORDER BY ol_number) || ']',
                   '[' || listagg(ol_quantity, ',') WITHIN GROUP (ORDER BY ol_number) || ']',
                   '[' || listagg(to_char(ol_amount, 'FM99990.00'), ',') WITHIN GROUP (ORDER BY ol_number) || ']',
                   '[' || listagg(CASE WHEN ol_delivery_d IS NULL THEN 'null'
                       ELSE '"' || to_char(ol_delivery_d, 'YYYY-MM-DD HH24:MI:SS') || '"' END, ',')
                       WITHIN GROUP (ORDER BY ol_number) || ']'
            FROM customer, orders, order_line
            WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_id = the_c_id
              AND o_w_id = in_w_id AND o_d_id = in_d_id
              AND o_id = (
                  SELECT max(o_id) FROM orders
                  WHERE o_w_id = in_w_id AND o_d_id = in_d_id AND o_c_id = the_c_id
              )
              AND ol_w_id = in_w_id AND ol_d_id = in_d_id AND ol_o_id = o_id
            HAVING count(*) > 0;
    END order_status;

    -- Another Delivery may take the oldest between the two statements: then there is a next one.
    PROCEDURE delivery(
        in_w_id IN number, in_carrier_id IN number, in_delivery_d IN timestamp, answer OUT sys_refcursor
    ) IS
        TYPE numbers IS TABLE OF number INDEX BY pls_integer;
        the_oldest numbers;
        the_o_id number;
        the_c_id number;
        the_amount number;
        the_orders varchar2(4000);
    BEGIN
        FOR district IN 1 .. 10 LOOP
            LOOP
                SELECT min(no_o_id) INTO the_o_id
                FROM new_order
                WHERE no_w_id = in_w_id AND no_d_id = district;
                EXIT WHEN the_o_id IS NULL;
                DELETE FROM new_order
                WHERE no_w_id = in_w_id AND no_d_id = district AND no_o_id = the_o_id;
                EXIT WHEN SQL%ROWCOUNT = 1;
            END LOOP;
            the_oldest(district) := the_o_id;
            the_orders := the_orders || CASE WHEN district > 1 THEN ',' END || nvl(to_char(the_o_id), 'null');
        END LOOP;
        FOR district IN 1 .. 10 LOOP
            the_o_id := the_oldest(district);
            IF the_o_id IS NOT NULL THEN
                UPDATE orders SET o_carrier_id = in_carrier_id
                WHERE o_w_id = in_w_id AND o_d_id = district AND o_id = the_o_id
                RETURNING o_c_id INTO the_c_id;
                UPDATE order_line SET ol_delivery_d = in_delivery_d
                WHERE ol_w_id = in_w_id AND ol_d_id = district AND ol_o_id = the_o_id;
                SELECT sum(ol_amount) INTO the_amount
                FROM order_line
                WHERE ol_w_id = in_w_id AND ol_d_id = district AND ol_o_id = the_o_id;
                UPDATE customer
                SET c_balance = c_balance + the_amount, c_delivery_cnt = c_delivery_cnt + 1
                WHERE c_w_id = in_w_id AND c_d_id = district AND c_id = the_c_id;
            END IF;
        END LOOP;
        COMMIT;
        OPEN answer FOR SELECT 0, '[' || the_orders || ']' FROM dual;
    END delivery;

    PROCEDURE stock_level(in_w_id IN number, in_d_id IN number, in_threshold IN number, answer OUT sys_refcursor) IS
        the_next_o_id number;
    BEGIN
        SELECT d_next_o_id INTO the_next_o_id FROM district WHERE d_w_id = in_w_id AND d_id = in_d_id;
        OPEN answer FOR
            SELECT 0, count(DISTINCT s_i_id)
            FROM order_line, stock
            WHERE ol_w_id = in_w_id AND ol_d_id = in_d_id
              AND ol_o_id >= the_next_o_id - 20 AND ol_o_id < the_next_o_id
              AND s_w_id = in_w_id AND s_i_id = ol_i_id AND s_quantity < in_threshold;
    END stock_level;
END triphammer;

-- name: drop_procedure.all
BEGIN
    EXECUTE IMMEDIATE 'DROP PACKAGE triphammer';
EXCEPTION
    WHEN OTHERS THEN IF SQLCODE <> -4043 THEN RAISE; END IF;
END;

-- name: new_order.call
{call triphammer.new_order(:w_id, :d_id, :c_id, :entry_d, :i_id, :supply_w_id, :quantity)}

-- name: payment.call
{call triphammer.payment(:w_id, :d_id, :c_w_id, :c_d_id, :c_id, :c_last, :amount, :h_date)}

-- name: order_status.call
{call triphammer.order_status(:w_id, :d_id, :c_id, :c_last)}

-- name: delivery.call
{call triphammer.delivery(:w_id, :carrier_id, :delivery_d)}

-- name: stock_level.call
{call triphammer.stock_level(:w_id, :d_id, :threshold)}

-- The five transactions as procedures: one CALL, one round trip, one row. The first column is a
-- status, 0 for success. Inputs, including the time, come from the client. No procedure has an
-- EXCEPTION block: each would take a second transaction id.
-- The order of locks is described at the head of tproc_c/mod.rs.

-- All lines are processed as a set. The row locks on stock are taken first, in the order that
-- prevents deadlocks between New-Orders; because this is a separate statement, the
-- update has nothing to wait for and nothing to check again. The unused item has no row in item, so one
-- line is missing at the end: the order is then rolled back, after all its other work.
-- name: procedure.new_order
CREATE OR REPLACE PROCEDURE triphammer_new_order(
    in_w_id integer, in_d_id integer, in_c_id integer, in_entry_d timestamp,
    in_i_id integer[], in_supply_w_id integer[], in_quantity integer[],
    OUT out_status integer, OUT out_o_id integer, OUT out_w_tax numeric, OUT out_d_tax numeric,
    OUT out_c_last text, OUT out_c_credit text, OUT out_c_discount numeric, OUT out_total numeric,
    OUT out_i_name text[], OUT out_s_quantity integer[], OUT out_i_price numeric[],
    OUT out_ol_amount numeric[], OUT out_brand_generic text[]
)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT w_tax, c_discount, c_last, c_credit
    INTO out_w_tax, out_c_discount, out_c_last, out_c_credit
    FROM warehouse, customer
    WHERE w_id = in_w_id AND c_w_id = in_w_id AND c_d_id = in_d_id AND c_id = in_c_id;

    UPDATE district SET d_next_o_id = d_next_o_id + 1
    WHERE d_w_id = in_w_id AND d_id = in_d_id
    RETURNING d_next_o_id - 1, d_tax INTO out_o_id, out_d_tax;

    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (out_o_id, in_d_id, in_w_id, in_c_id, in_entry_d, NULL, cardinality(in_i_id),
            (in_w_id = ALL (in_supply_w_id))::integer);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (out_o_id, in_d_id, in_w_id);

    PERFORM 1
    FROM unnest(in_i_id, in_supply_w_id) AS line (i_id, supply_w_id)
    JOIN stock ON s_w_id = supply_w_id AND s_i_id = line.i_id
    ORDER BY s_w_id, s_i_id
    FOR NO KEY UPDATE OF stock;

    WITH changed AS (
        UPDATE stock
        SET s_quantity = s_quantity - quantity
                + CASE WHEN s_quantity >= quantity + 10 THEN 0 ELSE 91 END,
            s_ytd = s_ytd + quantity,
            s_order_cnt = s_order_cnt + 1,
            s_remote_cnt = s_remote_cnt + (s_w_id <> in_w_id)::integer
        FROM unnest(in_i_id, in_supply_w_id, in_quantity) WITH ORDINALITY
                AS line (i_id, supply_w_id, quantity, number)
            JOIN item ON item.i_id = line.i_id
        WHERE s_w_id = supply_w_id AND s_i_id = line.i_id
        RETURNING number, line.i_id, supply_w_id, quantity, s_quantity, i_name, i_price,
            quantity * i_price AS amount,
            CASE WHEN strpos(i_data, 'ORIGINAL') > 0 AND strpos(s_data, 'ORIGINAL') > 0
                THEN 'B' ELSE 'G' END AS brand_generic,
            CASE in_d_id
                WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
                WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06
                WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09
                ELSE s_dist_10
            END AS dist_info
    ), inserted AS (
        INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
                                ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
        SELECT out_o_id, in_d_id, in_w_id, number, i_id, supply_w_id, NULL, quantity, amount, dist_info
        FROM changed
    )
    SELECT array_agg(i_name), array_agg(s_quantity), array_agg(i_price), array_agg(amount),
           array_agg(brand_generic),
           round(sum(amount) * (1 - out_c_discount) * (1 + out_w_tax + out_d_tax), 2)
    INTO out_i_name, out_s_quantity, out_i_price, out_ol_amount, out_brand_generic, out_total
    FROM (SELECT * FROM changed ORDER BY number) lines;

    out_status := 0;
    IF cardinality(out_i_name) IS DISTINCT FROM cardinality(in_i_id) THEN
        out_status := 1;
        ROLLBACK;
    END IF;
END
$$;

-- name: procedure.payment
CREATE OR REPLACE PROCEDURE triphammer_payment(
    in_w_id integer, in_d_id integer, in_c_w_id integer, in_c_d_id integer,
    in_c_id integer, in_c_last text, in_amount numeric, in_h_date timestamp,
    OUT out_status integer,
    OUT out_w_street_1 text, OUT out_w_street_2 text, OUT out_w_city text, OUT out_w_state text,
    OUT out_w_zip text,
    OUT out_d_street_1 text, OUT out_d_street_2 text, OUT out_d_city text, OUT out_d_state text,
    OUT out_d_zip text,
    OUT out_c_id integer, OUT out_c_first text, OUT out_c_middle text, OUT out_c_last text,
    OUT out_c_street_1 text, OUT out_c_street_2 text, OUT out_c_city text, OUT out_c_state text,
    OUT out_c_zip text, OUT out_c_phone text, OUT out_c_since timestamp, OUT out_c_credit text,
    OUT out_c_credit_lim numeric, OUT out_c_discount numeric, OUT out_c_balance numeric,
    OUT out_c_data text
)
LANGUAGE plpgsql AS $$
DECLARE
    the_w_name text;
    the_d_name text;
    the_ids integer[];
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + in_amount
    WHERE w_id = in_w_id
    RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip
    INTO the_w_name, out_w_street_1, out_w_street_2, out_w_city, out_w_state, out_w_zip;

    UPDATE district SET d_ytd = d_ytd + in_amount
    WHERE d_w_id = in_w_id AND d_id = in_d_id
    RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip
    INTO the_d_name, out_d_street_1, out_d_street_2, out_d_city, out_d_state, out_d_zip;

    IF in_c_last IS NULL THEN
        out_c_id := in_c_id;
    ELSE
        the_ids := ARRAY(
            SELECT c_id FROM customer
            WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_last = in_c_last
            ORDER BY c_first, c_id);
        out_c_id := the_ids[(cardinality(the_ids) + 1) / 2];
    END IF;

    UPDATE customer
    SET c_balance = c_balance - in_amount,
        c_ytd_payment = c_ytd_payment + in_amount,
        c_payment_cnt = c_payment_cnt + 1,
        c_data = CASE WHEN c_credit = 'BC'
            THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, in_d_id, in_w_id,
                                in_amount::numeric(6, 2), c_data), 500)
            ELSE c_data END
    WHERE c_w_id = in_c_w_id AND c_d_id = in_c_d_id AND c_id = out_c_id
    RETURNING c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
        c_since, c_credit, c_credit_lim, c_discount, c_balance,
        CASE WHEN c_credit = 'BC' THEN left(c_data, 200) ELSE '' END
    INTO out_c_first, out_c_middle, out_c_last, out_c_street_1, out_c_street_2, out_c_city,
        out_c_state, out_c_zip, out_c_phone, out_c_since, out_c_credit, out_c_credit_lim,
        out_c_discount, out_c_balance, out_c_data;

    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (out_c_id, in_c_d_id, in_c_w_id, in_d_id, in_w_id, in_h_date, in_amount,
            the_w_name || '    ' || the_d_name);
    out_status := 0;
END
$$;

-- One query, so that all it reads is of one instant.
-- name: procedure.order_status
CREATE OR REPLACE PROCEDURE triphammer_order_status(
    in_w_id integer, in_d_id integer, in_c_id integer, in_c_last text,
    OUT out_status integer, OUT out_c_id integer, OUT out_c_first text, OUT out_c_middle text,
    OUT out_c_last text, OUT out_c_balance numeric,
    OUT out_o_id integer, OUT out_o_entry_d timestamp, OUT out_o_carrier_id integer,
    OUT out_i_id integer[], OUT out_supply_w_id integer[], OUT out_quantity integer[],
    OUT out_amount numeric[], OUT out_delivery_d timestamp[]
)
LANGUAGE plpgsql AS $$
BEGIN
    -- Materialized, because it is used twice.
    WITH of_that_name AS MATERIALIZED (
        SELECT ARRAY(
            SELECT c_id FROM customer
            WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_last = in_c_last
            ORDER BY c_first, c_id) AS ids
    )
    SELECT 0, c_id, c_first, c_middle, c_last, c_balance, o_id, o_entry_d, o_carrier_id,
           i_id, supply_w_id, quantity, amount, delivery_d
    INTO out_status, out_c_id, out_c_first, out_c_middle, out_c_last, out_c_balance,
         out_o_id, out_o_entry_d, out_o_carrier_id,
         out_i_id, out_supply_w_id, out_quantity, out_amount, out_delivery_d
    FROM customer
    CROSS JOIN LATERAL (
        SELECT o_id, o_entry_d, o_carrier_id
        FROM orders
        WHERE o_w_id = in_w_id AND o_d_id = in_d_id AND o_c_id = c_id
        ORDER BY o_id DESC
        LIMIT 1
    ) newest
    CROSS JOIN LATERAL (
        SELECT array_agg(ol_i_id) AS i_id, array_agg(ol_supply_w_id) AS supply_w_id,
               array_agg(ol_quantity) AS quantity, array_agg(ol_amount) AS amount,
               array_agg(ol_delivery_d) AS delivery_d
        FROM (
            SELECT * FROM order_line
            WHERE ol_w_id = in_w_id AND ol_d_id = in_d_id AND ol_o_id = newest.o_id
            ORDER BY ol_number
        ) ordered
    ) lines
    WHERE c_w_id = in_w_id AND c_d_id = in_d_id AND c_id = CASE
        WHEN in_c_last IS NULL THEN in_c_id
        ELSE (SELECT ids[(cardinality(ids) + 1) / 2] FROM of_that_name)
    END;
END
$$;

-- The oldest new order of each district, in the order of the districts, is locked first; a district
-- that has none stays null. Then each table is one update over what was locked.
-- name: procedure.delivery
CREATE OR REPLACE PROCEDURE triphammer_delivery(
    in_w_id integer, in_carrier_id integer, in_delivery_d timestamp,
    OUT out_status integer, OUT out_o_id integer[]
)
LANGUAGE plpgsql AS $$
BEGIN
    out_o_id := ARRAY(
        SELECT (
            SELECT no_o_id FROM new_order
            WHERE no_w_id = in_w_id AND no_d_id = d.d_id
            ORDER BY no_o_id
            LIMIT 1 FOR UPDATE
        )
        FROM generate_series(1, 10) d (d_id)
    );
    WITH oldest AS (
        SELECT d_id::integer, o_id FROM unnest(out_o_id) WITH ORDINALITY AS o (o_id, d_id)
        WHERE o_id IS NOT NULL
    ), taken AS (
        DELETE FROM new_order USING oldest
        WHERE no_w_id = in_w_id AND no_d_id = d_id AND no_o_id = o_id
    ), carried AS (
        UPDATE orders SET o_carrier_id = in_carrier_id FROM oldest
        WHERE o_w_id = in_w_id AND o_d_id = oldest.d_id AND orders.o_id = oldest.o_id
        RETURNING o_d_id, o_c_id
    ), delivered AS (
        UPDATE order_line SET ol_delivery_d = in_delivery_d FROM oldest
        WHERE ol_w_id = in_w_id AND ol_d_id = d_id AND ol_o_id = o_id
        RETURNING ol_d_id, ol_amount
    ), owed AS (
        SELECT o_d_id, o_c_id, sum(ol_amount) AS amount
        FROM carried JOIN delivered ON ol_d_id = o_d_id
        GROUP BY o_d_id, o_c_id
    )
    UPDATE customer
    SET c_balance = c_balance + amount, c_delivery_cnt = c_delivery_cnt + 1
    FROM owed
    WHERE c_w_id = in_w_id AND c_d_id = o_d_id AND c_id = o_c_id;
    out_status := 0;
END
$$;

-- name: procedure.stock_level
CREATE OR REPLACE PROCEDURE triphammer_stock_level(
    in_w_id integer, in_d_id integer, in_threshold integer,
    OUT out_status integer, OUT out_low_stock integer
)
LANGUAGE plpgsql AS $$
DECLARE
    the_next_o_id integer;
BEGIN
    SELECT d_next_o_id INTO the_next_o_id FROM district WHERE d_w_id = in_w_id AND d_id = in_d_id;
    SELECT 0, count(DISTINCT s_i_id)
    INTO out_status, out_low_stock
    FROM order_line JOIN stock ON s_w_id = in_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = in_w_id AND ol_d_id = in_d_id
      AND ol_o_id >= the_next_o_id - 20 AND ol_o_id < the_next_o_id
      AND s_quantity < in_threshold;
END
$$;

-- name: drop_procedure.all
DROP PROCEDURE IF EXISTS triphammer_new_order, triphammer_payment, triphammer_order_status,
    triphammer_delivery, triphammer_stock_level;

-- name: new_order.call
CALL triphammer_new_order(:w_id, :d_id, :c_id, :entry_d, :i_id, :supply_w_id, :quantity,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

-- name: payment.call
CALL triphammer_payment(:w_id, :d_id, :c_w_id, :c_d_id, :c_id, :c_last, :amount, :h_date,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

-- name: order_status.call
CALL triphammer_order_status(:w_id, :d_id, :c_id, :c_last,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

-- name: delivery.call
CALL triphammer_delivery(:w_id, :carrier_id, :delivery_d, NULL, NULL);

-- name: stock_level.call
CALL triphammer_stock_level(:w_id, :d_id, :threshold, NULL, NULL);

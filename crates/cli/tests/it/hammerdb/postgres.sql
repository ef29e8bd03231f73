-- Makes tables that we built look as HammerDB makes them, and routines of our own that work on them; the
-- routines with HammerDB's names and parameters are in the files beside, and call these.
DROP TABLE triphammer_build;
ALTER INDEX warehouse_pkey RENAME TO warehouse_i1;
ALTER INDEX district_pkey RENAME TO district_i1;
ALTER INDEX customer_pkey RENAME TO customer_i1;
ALTER INDEX customer_name RENAME TO customer_i2;
ALTER INDEX item_pkey RENAME TO item_i1;
ALTER INDEX stock_pkey RENAME TO stock_i1;
ALTER INDEX orders_pkey RENAME TO orders_i1;
ALTER INDEX orders_customer RENAME TO orders_i2;
ALTER INDEX order_line_pkey RENAME TO order_line_i1;
ALTER INDEX new_order_pkey RENAME TO new_order_i1;
ALTER TABLE district ALTER d_id TYPE smallint;
ALTER TABLE orders ALTER o_ol_cnt TYPE smallint, ALTER o_all_local TYPE smallint;
ALTER TABLE order_line ALTER ol_number TYPE smallint, ALTER ol_quantity TYPE smallint,
    ALTER ol_amount TYPE numeric(6, 2), ALTER ol_delivery_d TYPE timestamptz;

CREATE FUNCTION work_new_order(w integer, d integer, number integer, c integer, lines integer,
                               at timestamp, OUT total numeric)
LANGUAGE plpgsql AS $$
DECLARE
    place integer;
    item_id integer;
    amount numeric;
BEGIN
    total := 0;
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (number, d, w, c, at, lines, 1);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (number, d, w);
    FOR place IN 1..lines LOOP
        -- Ascending, so that nobody waits for each other.
        item_id := place * 6000 + floor(random() * 6000)::integer;
        UPDATE stock SET s_quantity = CASE WHEN s_quantity > 20 THEN s_quantity - 2 ELSE 91 END
        WHERE s_w_id = w AND s_i_id = item_id;
        INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id,
                                ol_quantity, ol_amount, ol_dist_info)
        SELECT number, d, w, place, item_id, w, 2, 2 * i_price, 'somewhere'
        FROM item WHERE i_id = item_id
        RETURNING ol_amount INTO amount;
        total := total + amount;
    END LOOP;
END $$;

CREATE FUNCTION work_customer(w integer, d integer, c integer, by_name integer, last varchar)
RETURNS integer LANGUAGE sql AS $$
    SELECT CASE by_name WHEN 0 THEN c ELSE (
        SELECT max(c_id) FROM customer WHERE c_w_id = w AND c_d_id = d AND c_last = last
    ) END
$$;

CREATE FUNCTION work_payment(w integer, d integer, c_w integer, c_d integer, c integer,
                             by_name integer, amount numeric, last varchar, at timestamp)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    payer integer;
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = w;
    UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = w AND d_id = d;
    payer := work_customer(c_w, c_d, c, by_name, last);
    UPDATE customer SET c_balance = c_balance - amount
    WHERE c_w_id = c_w AND c_d_id = c_d AND c_id = payer;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (payer, c_d, c_w, d, w, at, amount, 'paid');
    RETURN payer;
END $$;

CREATE FUNCTION work_delivery(w integer, carrier integer, at timestamp)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    d integer;
    number integer;
BEGIN
    FOR d IN 1..10 LOOP
        SELECT no_o_id INTO number FROM new_order WHERE no_w_id = w AND no_d_id = d
        ORDER BY no_o_id LIMIT 1 FOR UPDATE;
        CONTINUE WHEN number IS NULL;
        DELETE FROM new_order WHERE no_w_id = w AND no_d_id = d AND no_o_id = number;
        UPDATE orders SET o_carrier_id = carrier WHERE o_w_id = w AND o_d_id = d AND o_id = number;
        UPDATE order_line SET ol_delivery_d = at
        WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = number;
        UPDATE customer SET c_balance = c_balance + (
            SELECT sum(ol_amount) FROM order_line
            WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = number
        )
        FROM orders
        WHERE c_w_id = w AND c_d_id = d AND c_id = o_c_id
            AND o_w_id = w AND o_d_id = d AND o_id = number;
    END LOOP;
    RETURN 1;
END $$;

CREATE FUNCTION work_status(w integer, d integer, payer integer, OUT first varchar, OUT middle varchar,
                            OUT balance numeric, OUT number integer, OUT entered timestamp,
                            OUT carrier integer)
LANGUAGE sql AS $$
    SELECT c_first, c_middle::varchar, c_balance, o_id, o_entry_d::timestamp, o_carrier_id::integer
    FROM customer JOIN orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
    WHERE c_w_id = w AND c_d_id = d AND c_id = payer
    ORDER BY o_id DESC LIMIT 1
$$;

CREATE FUNCTION work_stock_level(w integer, d integer, threshold integer)
RETURNS integer LANGUAGE sql AS $$
    SELECT count(DISTINCT s_i_id)::integer
    FROM district, order_line, stock
    WHERE d_w_id = w AND d_id = d AND ol_w_id = w AND ol_d_id = d
        AND ol_o_id BETWEEN d_next_o_id - 20 AND d_next_o_id - 1
        AND s_w_id = w AND s_i_id = ol_i_id AND s_quantity < threshold
$$;

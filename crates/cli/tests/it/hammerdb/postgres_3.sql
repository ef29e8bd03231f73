-- What HammerDB 3.3 makes otherwise than later ones, on top of the functions: all numbers are numeric,
-- PAYMENT takes the customer so, and an order gets the number that d_next_o_id has after it was raised.
DO $$
DECLARE
    place record;
BEGIN
    -- All columns of a table at once: each change rewrites it.
    FOR place IN
        SELECT table_name, string_agg(format('ALTER %I TYPE numeric', column_name), ', ') AS changes
        FROM information_schema.columns
        WHERE table_schema = 'public' AND data_type IN ('integer', 'smallint')
        GROUP BY table_name
    LOOP
        EXECUTE format('ALTER TABLE %I %s', place.table_name, place.changes);
    END LOOP;
END $$;
ALTER TABLE order_line ALTER ol_amount TYPE numeric, ALTER ol_delivery_d TYPE timestamp;

DROP FUNCTION payment, ostat;
CREATE FUNCTION payment(integer, integer, integer, integer, numeric, integer, numeric, varchar, varchar,
                        numeric) RETURNS integer
LANGUAGE sql AS $$
    SELECT work_payment($1, $2, $3, $4, $5::integer, $6, $7, $8, localtimestamp)
$$;

CREATE OR REPLACE FUNCTION neword(integer, integer, integer, integer, integer, integer) RETURNS numeric
LANGUAGE plpgsql AS $$
DECLARE
    number integer;
    tax numeric;
BEGIN
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $3
    RETURNING d_next_o_id, d_tax INTO number, tax;
    RETURN work_new_order($1, $3, number, $4, $5, localtimestamp);
END $$;

CREATE FUNCTION ostat(integer, integer, integer, integer, varchar) RETURNS SETOF record
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d, c_id::integer, c_last, c_first,
           c_middle::varchar, c_balance, o_id::integer, o_entry_d, o_carrier_id::integer
    FROM customer
    JOIN orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
    JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
    WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = work_customer($1, $2, $3, $4, $5)
    ORDER BY o_id DESC LIMIT 15;
END $$;

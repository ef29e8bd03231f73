-- The interface of the functions of HammerDB 4.1 to 6.0 (`pg_storedprocs` false), which have no names for
-- their parameters.
CREATE FUNCTION neword(integer, integer, integer, integer, integer, integer) RETURNS numeric
LANGUAGE plpgsql AS $$
DECLARE
    number integer;
BEGIN
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = $1 AND d_id = $3
    RETURNING d_next_o_id - 1 INTO number;
    RETURN work_new_order($1, $3, number, $4, $5, localtimestamp);
END $$;

CREATE FUNCTION payment(integer, integer, integer, integer, integer, integer, numeric, varchar, varchar,
                        numeric) RETURNS integer
LANGUAGE sql AS $$
    SELECT work_payment($1, $2, $3, $4, $5, $6, $7, $8, localtimestamp)
$$;

CREATE FUNCTION delivery(integer, integer) RETURNS integer
LANGUAGE sql AS $$ SELECT work_delivery($1, $2, localtimestamp) $$;

CREATE FUNCTION ostat(integer, integer, integer, integer, varchar) RETURNS SETOF record
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d, c_id, c_last, c_first,
           c_middle::varchar, c_balance, o_id, o_entry_d, o_carrier_id
    FROM customer
    JOIN orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
    JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
    WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = work_customer($1, $2, $3, $4, $5)
    ORDER BY o_id DESC LIMIT 15;
END $$;

CREATE FUNCTION slev(integer, integer, integer) RETURNS integer
LANGUAGE sql AS $$ SELECT work_stock_level($1, $2, $3) $$;

-- The interface of HammerDB's own procedures of PostgreSQL (`pg_storedprocs` true), 4.1 to 6.0. They leave
-- the commit to the call.
CREATE PROCEDURE neword(
    w integer, max_w integer, d integer, c integer, lines integer, INOUT discount numeric,
    INOUT last varchar, INOUT credit varchar, INOUT d_tax_out numeric, INOUT w_tax_out numeric,
    INOUT next_o_id integer, at timestamp
) LANGUAGE plpgsql AS $$
DECLARE
    number integer;
BEGIN
    SELECT c_discount, c_last, c_credit INTO discount, last, credit
    FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = w AND d_id = d
    RETURNING d_next_o_id - 1 INTO number;
    next_o_id := number;
    PERFORM work_new_order(w, d, number, c, lines, at);
END $$;

CREATE PROCEDURE payment(
    w integer, d integer, c_w integer, c_d integer, by_name integer, amount numeric,
    INOUT credit char(2), INOUT last varchar(16), INOUT c integer,
    INOUT w1 varchar(20), INOUT w2 varchar(20), INOUT w3 varchar(20), INOUT w4 char(2), INOUT w5 char(9),
    INOUT d1 varchar(20), INOUT d2 varchar(20), INOUT d3 varchar(20), INOUT d4 char(2), INOUT d5 char(9),
    INOUT first varchar(16), INOUT middle char(2),
    INOUT c1 varchar(20), INOUT c2 varchar(20), INOUT c3 varchar(20), INOUT c4 char(2), INOUT c5 char(9),
    INOUT phone char(16), INOUT since timestamp, INOUT credit_lim numeric(12, 2),
    INOUT discount numeric(4, 4), INOUT balance numeric(12, 2), INOUT data varchar(500), at timestamp
) LANGUAGE plpgsql AS $$
BEGIN
    IF balance IS NULL OR credit IS NULL THEN
        RAISE 'what goes both ways is told';
    END IF;
    c := work_payment(w, d, c_w, c_d, c, by_name, amount, last, at);
    SELECT c_since, c_balance INTO since, balance
    FROM customer WHERE c_w_id = c_w AND c_d_id = c_d AND c_id = c;
END $$;

CREATE PROCEDURE delivery(w integer, carrier integer, at timestamp) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM work_delivery(w, carrier, at);
END $$;

CREATE PROCEDURE ostat(
    w integer, d integer, INOUT c integer, by_name integer, INOUT last varchar, INOUT first varchar,
    INOUT middle varchar, INOUT balance numeric, INOUT number integer, INOUT entdate timestamp,
    INOUT carrier integer, INOUT lines text DEFAULT ''
) LANGUAGE plpgsql AS $$
BEGIN
    c := work_customer(w, d, c, by_name, last);
    SELECT * INTO first, middle, balance, number, entdate, carrier FROM work_status(w, d, c);
    SELECT lines || string_agg(ol_i_id::text, ',') INTO STRICT lines
    FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = number;
END $$;

CREATE PROCEDURE slev(w integer, d integer, threshold integer, INOUT stock_count integer)
LANGUAGE plpgsql AS $$
BEGIN
    stock_count := work_stock_level(w, d, threshold);
END $$;

-- The interface of HammerDB's procedures in its Oracle-compatible form. As there, New-Order finds out that
-- an item is not there, one time in ten here, and rolls back without a word.
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
    IF random() < 0.1 THEN
        ROLLBACK;
    END IF;
    COMMIT;
END $$;

CREATE PROCEDURE payment(
    w integer, d integer, c_w integer, c_d integer, INOUT c integer, by_name integer,
    amount numeric, INOUT last varchar,
    INOUT w1 varchar, INOUT w2 varchar, INOUT w3 varchar, INOUT w4 varchar, INOUT w5 varchar,
    INOUT d1 varchar, INOUT d2 varchar, INOUT d3 varchar, INOUT d4 varchar, INOUT d5 varchar,
    INOUT first varchar, INOUT middle varchar,
    INOUT c1 varchar, INOUT c2 varchar, INOUT c3 varchar, INOUT c4 varchar, INOUT c5 varchar,
    INOUT phone varchar, INOUT since timestamp, INOUT credit varchar, INOUT credit_lim numeric,
    INOUT discount numeric, INOUT balance numeric, INOUT data varchar, at timestamp
) LANGUAGE plpgsql AS $$
BEGIN
    c := work_payment(w, d, c_w, c_d, c, by_name, amount, last, at);
    SELECT c_since, c_balance INTO since, balance
    FROM customer WHERE c_w_id = c_w AND c_d_id = c_d AND c_id = c;
    COMMIT;
END $$;

CREATE PROCEDURE delivery(w integer, carrier integer, at timestamp) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM work_delivery(w, carrier, at);
    COMMIT;
END $$;

CREATE PROCEDURE ostat(
    w integer, d integer, INOUT c integer, by_name integer, INOUT last varchar, INOUT first varchar,
    INOUT middle varchar, INOUT balance numeric, INOUT number integer, INOUT entdate timestamp,
    INOUT carrier integer
) LANGUAGE plpgsql AS $$
BEGIN
    c := work_customer(w, d, c, by_name, last);
    SELECT c_first, c_middle, c_balance, o_id, o_entry_d, o_carrier_id
    INTO first, middle, balance, number, entdate, carrier
    FROM customer JOIN orders ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
    WHERE c_w_id = w AND c_d_id = d AND c_id = c
    ORDER BY o_id DESC LIMIT 1;
END $$;

CREATE PROCEDURE slev(w integer, d integer, threshold integer, INOUT stock_count integer)
LANGUAGE plpgsql AS $$
BEGIN
    stock_count := work_stock_level(w, d, threshold);
END $$;

-- What HammerDB's procedures in their Oracle-compatible form have otherwise, on top of its own: each commits by
-- itself, PAYMENT takes the customer first, ORDER-STATUS gives no lines. As there, New-Order finds out that an
-- item is not there, one time in ten here, and rolls back without a word.
DO $make$
DECLARE
    routine text;
    at_end text;
BEGIN
    FOR routine, at_end IN
        VALUES ('neword', 'IF random() < 0.1 THEN ROLLBACK; END IF; COMMIT;'), ('delivery', 'COMMIT;')
    LOOP
        EXECUTE replace(pg_get_functiondef(routine::regproc),
                        'END $procedure$', at_end || ' END $procedure$');
    END LOOP;
END $make$;

DROP PROCEDURE payment;
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

DROP PROCEDURE ostat;
CREATE PROCEDURE ostat(
    w integer, d integer, INOUT c integer, by_name integer, INOUT last varchar, INOUT first varchar,
    INOUT middle varchar, INOUT balance numeric, INOUT number integer, INOUT entdate timestamp,
    INOUT carrier integer
) LANGUAGE plpgsql AS $$
BEGIN
    c := work_customer(w, d, c, by_name, last);
    SELECT * INTO first, middle, balance, number, entdate, carrier FROM work_status(w, d, c);
END $$;

-- Calls of the routines of a schema that HammerDB built: functions; its native procedures; and those of its
-- Oracle-compatible form, whose parameters are Oracle's. They are distinguished from each other, and from
-- other routines of the same names, by their parameters. HammerDB's own literals are used where its client
-- writes them; quoted, they take the type of the parameter.

-- The number of warehouses; no row if no object exists that only HammerDB names like this.
-- name: foreign.scale
SELECT max(w_id)
FROM warehouse
HAVING EXISTS (
        SELECT 1
        FROM pg_proc
        WHERE pronamespace = current_schema()::regnamespace AND prokind IN ('f', 'p')
            AND proname IN ('neword', 'ostat', 'slev')
    )
    OR EXISTS (
        SELECT 1
        FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('i', 'I')
            AND relname IN (
                'customer_i1', 'customer_i2', 'district_i1', 'item_i1', 'new_order_i1', 'order_line_i1',
                'orders_i1', 'orders_i2', 'stock_i1', 'warehouse_i1'
            )
    );

-- Every routine of HammerDB's names: name, kind, types of its parameters, and a remark on its version.
-- `numeric`: the tables' numbers are numeric, as up to 4.0. `late`: the order gets the number that
-- d_next_o_id has after being increased, as up to 4.10. `rolls back`: a non-existent item rolls the
-- order back, as after 6.0.
-- name: hammerdb.routines
SELECT proname, CASE prokind WHEN 'p' THEN 'procedure' ELSE 'function' END,
       array_to_string(ARRAY(
           SELECT format_type(type, NULL)
           FROM unnest(coalesce(proallargtypes, proargtypes::oid[])) WITH ORDINALITY AS taken (type, place)
           ORDER BY place
       ), ', '),
       CASE
           WHEN proname = 'ostat' THEN (
               SELECT 'numeric'
               FROM pg_attribute
               WHERE attrelid = to_regclass('order_line') AND attname = 'ol_i_id'
                   AND atttypid = 'numeric'::regtype
           )
           WHEN proname = 'neword' AND prosrc ~* 'raise\s+no_data_found' THEN 'rolls back'
           WHEN proname = 'neword' AND prosrc ~* 'returning\s+d_next_o_id\s*,' THEN 'late'
       END
FROM pg_proc
WHERE pronamespace = current_schema()::regnamespace AND prokind IN ('f', 'p')
    AND proname IN ('neword', 'payment', 'ostat', 'delivery', 'slev')
ORDER BY oid;

-- Milliseconds after which the server looks for deadlocks; 0 where transactions fail for other reasons too.
-- name: hammerdb.patience
SELECT CASE current_setting('transaction_isolation')
           WHEN 'read committed' THEN setting::bigint ELSE 0 END
FROM pg_settings
WHERE name = 'deadlock_timeout';

-- name: hammerdb.new_order.function
SELECT neword(:w_id, :warehouses, :d_id, :c_id, :ol_cnt, 0);

-- name: hammerdb.payment.function
SELECT payment(:w_id, :d_id, :c_w_id, :c_d_id, :c_id, :by_name, :amount, :c_last, '0', 0);

-- The columns are those that the function's rows have: those of the tables.
-- name: hammerdb.order_status.function
SELECT *
FROM ostat(:w_id, :d_id, :c_id, :by_name, :c_last) AS (
    ol_i_id integer, ol_supply_w_id integer, ol_quantity smallint, ol_amount numeric,
    ol_delivery_d timestamp with time zone, c_id integer, c_last varchar, c_first varchar,
    c_middle varchar, c_balance numeric, o_id integer, o_entry_d timestamp, o_carrier_id integer
);

-- name: hammerdb.order_status.function_numeric
SELECT *
FROM ostat(:w_id, :d_id, :c_id, :by_name, :c_last) AS (
    ol_i_id numeric, ol_supply_w_id numeric, ol_quantity numeric, ol_amount numeric,
    ol_delivery_d timestamp, c_id integer, c_last varchar, c_first varchar,
    c_middle varchar, c_balance numeric, o_id integer, o_entry_d timestamp, o_carrier_id integer
);

-- name: hammerdb.delivery.function
SELECT delivery(:w_id, :carrier_id);

-- name: hammerdb.stock_level.function
SELECT slev(:w_id, :d_id, :threshold);

-- name: hammerdb.new_order.native
CALL neword(:w_id, :warehouses, :d_id, :c_id, :ol_cnt, '0', '', '', '0', '0', '0', :time);

-- After :c_id: ten fields of addresses, two of the name, five of the address, phone; since, limit, discount,
-- balance, data.
-- name: hammerdb.payment.native
CALL payment(:w_id, :d_id, :c_w_id, :c_d_id, :by_name, :amount, '0', :c_last, :c_id,
             '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '',
             NULL, '0', '0', '0', '', :time);

-- The lines are appended to the last one.
-- name: hammerdb.order_status.native
CALL ostat(:w_id, :d_id, :c_id, :by_name, :c_last, '', '', '0', '0', NULL, '0', '');

-- name: hammerdb.delivery.native
CALL delivery(:w_id, :carrier_id, :time);

-- name: hammerdb.stock_level.native
CALL slev(:w_id, :d_id, :threshold, '0');

-- name: hammerdb.new_order.procedure
CALL neword(:w_id, :warehouses, :d_id, :c_id, :ol_cnt, '0', '', '', '0', '0', '0', :time);

-- Whether an order was not rolled back. Its number is then the next one's, so an order of that number
-- counts only if it is of the same customer and as many lines.
-- name: hammerdb.new_order.numbered
SELECT count(*)
FROM orders
WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = :o_id AND o_c_id = :c_id AND o_ol_cnt = :ol_cnt;

-- From :c_last on: ten fields of addresses, two of the name, five of the address, phone, since, credit,
-- limit, discount, balance, data.
-- name: hammerdb.payment.procedure
CALL payment(:w_id, :d_id, :c_w_id, :c_d_id, :c_id, :by_name, :amount, :c_last,
             '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '',
             NULL, '0', '0', '0', '0', '', :time);

-- name: hammerdb.order_status.procedure
CALL ostat(:w_id, :d_id, :c_id, :by_name, :c_last, '', '', '0', '0', NULL, NULL);

-- name: hammerdb.delivery.procedure
CALL delivery(:w_id, :carrier_id, :time);

-- name: hammerdb.stock_level.procedure
CALL slev(:w_id, :d_id, :threshold, '0');

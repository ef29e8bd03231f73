-- Calls of the routines of a schema that HammerDB built: functions, or procedures. They are told apart,
-- and from anything else of their names, by how many parameters they have. HammerDB's own literals stand
-- where its client writes them; quoted, they are of whatever type the parameter has.

-- The number of warehouses; null when the five routines are not there, or some of each kind.
-- name: foreign.scale
SELECT (SELECT max(w_id) FROM warehouse)
FROM (
    SELECT prokind AS kind, proname AS name,
           coalesce(array_length(proallargtypes, 1), pronargs) AS parameters
    FROM pg_proc
    WHERE pronamespace = current_schema()::regnamespace
) routine
WHERE (kind = 'f' AND (name, parameters)
        IN (('neword', 6), ('payment', 10), ('delivery', 2), ('ostat', 5), ('slev', 3)))
   OR (kind = 'p' AND (name, parameters)
        IN (('neword', 12), ('payment', 33), ('delivery', 3), ('ostat', 11), ('slev', 4)))
GROUP BY kind
HAVING count(DISTINCT name) = 5;

-- name: hammerdb.kind
SELECT CASE prokind WHEN 'p' THEN 'procedure' ELSE 'function' END
FROM pg_proc
WHERE pronamespace = current_schema()::regnamespace AND proname = 'neword' AND prokind IN ('f', 'p');

-- name: hammerdb.new_order.function
SELECT neword(:w_id, :warehouses, :d_id, :c_id, :ol_cnt, 0);

-- name: hammerdb.payment.function
SELECT payment(:w_id, :d_id, :c_w_id, :c_d_id, :c_id, :by_name, :amount, :c_last, '0', 0);

-- The columns are those that the function's rows have.
-- name: hammerdb.order_status.function
SELECT *
FROM ostat(:w_id, :d_id, :c_id, :by_name, :c_last) AS (
    ol_i_id integer, ol_supply_w_id integer, ol_quantity smallint, ol_amount numeric,
    ol_delivery_d timestamp with time zone, c_id integer, c_last varchar, c_first varchar,
    c_middle varchar, c_balance numeric, o_id integer, o_entry_d timestamp, o_carrier_id integer
);

-- name: hammerdb.delivery.function
SELECT delivery(:w_id, :carrier_id);

-- name: hammerdb.stock_level.function
SELECT slev(:w_id, :d_id, :threshold);

-- name: hammerdb.new_order.procedure
CALL neword(:w_id, :warehouses, :d_id, :c_id, :ol_cnt, '0', '', '', '0', '0', '0', :time);

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
